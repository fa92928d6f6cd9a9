//! Decides which tools a JavaScript project needs, by its dependencies, configuration and test command.

use serde_json::Value;

use crate::language::{Demand, Language, Project, Settings, Sources, Tool, join};

use super::JavaScript;
use super::argv::TYPES_IN_NODE;
use super::items::is_test_file;
use super::manifest::requirements;
use super::project::is_typed;
use super::runner::chosen;
use super::suite::is_typed as is_typed_file;
use super::test_command::{Program, TestCommand};

/// How much a project needs a tool.
pub(super) fn demand(tool: &Tool, project: &Project, settings: &Settings, sources: &dyn Sources) -> Demand {
    if tool.required {
        return Demand::Required;
    }
    let name = tool.name.as_str();
    let runner = runner(project, settings, sources);
    match name {
        "vitest" | "jest" if runner.is_some_and(|runner| runner.name() == name) => Demand::Required,
        TYPES_IN_NODE if runner == Some(Program::Node) && has_typed_tests(project, sources) => Demand::Required,
        "typescript" if is_typed(&project.root, sources) => Demand::Useful,
        "prettier" | "eslint" if is_mentioned(name, project, sources) => Demand::Useful,
        _ => Demand::Idle,
    }
}

fn runner(project: &Project, settings: &Settings, sources: &dyn Sources) -> Option<Program> {
    let command = TestCommand::parse(&JavaScript::Plain.test_command(settings)).ok()?;
    chosen(&command, project, sources).ok().map(|run| run.program)
}

fn has_typed_tests(project: &Project, sources: &dyn Sources) -> bool {
    let ours = |path: &&String| project.relative_path(path).is_some() && is_typed_file(path);
    is_typed(&project.root, sources) || sources.files().iter().filter(ours).any(|path| is_test_file(path))
}

/// Whether a package depends on a tool, or configures it in the manifest or in its own file.
fn is_mentioned(name: &str, project: &Project, sources: &dyn Sources) -> bool {
    let text = sources.read(&join(&project.root, "package.json")).unwrap_or_default();
    let manifest: Value = serde_json::from_str(&text).unwrap_or_default();
    let has_key = manifest.get(name).or_else(|| manifest.get(format!("{name}Config"))).is_some();
    let starts = [format!(".{name}rc"), format!("{name}.config.")];
    let configures = |path: &String| {
        let below = project.relative_path(path).unwrap_or_default();
        starts.iter().any(|start| below.starts_with(start))
    };
    has_key || requirements(&text).contains(name) || sources.files().iter().any(configures)
}

#[cfg(test)]
mod tests {
    use super::super::argv::tools;
    use super::*;
    use crate::fixture::memory;

    fn check(files: &[(&str, &str)], expected: &[(&str, Demand)]) {
        let project = Project { root: String::new(), description: String::new() };
        let sources = memory(files);
        let asked: Vec<(String, Demand)> = tools()
            .into_iter()
            .map(|tool| (tool.name.clone(), demand(&tool, &project, &Settings::default(), &sources)))
            .filter(|(_, demand)| *demand != Demand::Idle)
            .collect();
        let asked: Vec<(&str, Demand)> = asked.iter().map(|(name, demand)| (name.as_str(), *demand)).collect();
        assert_eq!(asked, expected, "{files:?}");
    }

    #[test]
    fn a_project_asks_for_what_it_is_tested_with_and_what_it_configures() {
        use Demand::{Required, Useful};
        let node = ("node", Required);
        check(&[("package.json", "{}"), ("a.test.js", "")], &[node]);
        check(&[("package.json", "{}"), ("a.test.ts", "")], &[node, (TYPES_IN_NODE, Required)]);
        let vitest = "{\"devDependencies\": {\"vitest\": \"4\", \"prettier\": \"3\"}}";
        let files = [("package.json", vitest), ("tsconfig.json", "{}"), ("eslint.config.js", "")];
        let all = [node, ("vitest", Required), ("prettier", Useful), ("eslint", Useful), ("typescript", Useful)];
        check(&files, &all);
        let jest = "{\"scripts\": {\"test\": \"jest\"}, \"eslintConfig\": {}}";
        check(&[("package.json", jest), (".prettierrc.json", "{}")], &[node, ("jest", Required), all[2], all[3]]);
    }
}
