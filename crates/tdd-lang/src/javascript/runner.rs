//! Finds a project's test runner from its test command, its scripts or its dependencies.

use serde_json::Value;

use crate::language::{Project, Sources};

use super::manifest::requirements;
use super::test_command::{Program, Run, TestCommand};
use crate::language::join;
use crate::shell::words;

/// Why a workspace cannot be tested.
const NO_PACKAGES: &str = "the root leaves the tests to the packages of the workspace, but none was found";

/// The script that every package of the workspace runs, if testing is left to the packages: the command says so, or the
/// workspace itself has no tests configured.
pub(super) fn left_to_packages(command: &TestCommand, project: &Project, sources: &dyn Sources) -> Option<String> {
    let name = match command {
        TestCommand::Run(_) => return None,
        TestCommand::Each(name) => return Some(name.clone()),
        TestCommand::Script(name, _) => name,
    };
    let text = sources.read(&join(&project.root, "package.json")).unwrap_or_default();
    match script(&text, name).map(|script| TestCommand::parse(&words(&script))) {
        Some(Ok(TestCommand::Each(name))) => Some(name),
        Some(_) => None,
        None => (depended_on(&text) == Program::Node).then(|| name.clone()),
    }
}

/// The runner, or why there is none that we can read.
pub(super) fn chosen(command: &TestCommand, project: &Project, sources: &dyn Sources) -> Result<Run, String> {
    let (name, rest) = match command {
        TestCommand::Run(run) => return Ok(run.clone()),
        TestCommand::Script(name, rest) => (name, rest),
        TestCommand::Each(_) => return Err(NO_PACKAGES.to_owned()),
    };
    let text = sources.read(&join(&project.root, "package.json")).unwrap_or_default();
    let script = script(&text, name);
    let mut run = match script.as_deref().map(|script| TestCommand::parse(&words(script))) {
        Some(Ok(TestCommand::Run(run))) => run,
        Some(Ok(TestCommand::Each(_))) => return Err(NO_PACKAGES.to_owned()),
        Some(Ok(TestCommand::Script(other, _))) => return Err(format!("the script `{name}` only calls `{other}`")),
        // A more complex script still names its runner.
        Some(Err(unknown)) => match script.as_deref().and_then(mentioned) {
            Some(program) => Run::plain(program),
            None => return Err(format!("the script `{name}` cannot be read: {unknown}; set `ci.test_cmd`")),
        },
        None => Run::plain(of_packages(&text, project, sources)),
    };
    let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
    run.options(&rest).map_err(|option| format!("`{option}` cannot be used here"))?;
    Ok(run)
}

/// Whether the project says how it is tested, in its script or by its dependencies.
pub(super) fn is_set_up(project: &Project, sources: &dyn Sources) -> bool {
    let text = sources.read(&join(&project.root, "package.json")).unwrap_or_default();
    script(&text, "test").is_some() || of_packages(&text, project, sources) != Program::Node
}

/// The script with this name, unless it is npm's placeholder.
fn script(manifest: &str, name: &str) -> Option<String> {
    let manifest: Value = serde_json::from_str(manifest).unwrap_or_default();
    let script = manifest["scripts"][name].as_str().filter(|script| !script.contains("no test specified"));
    script.map(str::to_owned)
}

/// The runner that the manifest requires, or else that of a package below it.
fn of_packages(own: &str, project: &Project, sources: &dyn Sources) -> Program {
    let ours =
        |path: &&String| project.relative_path(path).is_some() && path.rsplit('/').next() == Some("package.json");
    let others = sources.files().iter().filter(ours).filter_map(|path| sources.read(path));
    let mut all = std::iter::once(own.to_owned()).chain(others).map(|text| depended_on(&text));
    all.find(|program| *program != Program::Node).unwrap_or(Program::Node)
}

fn mentioned(script: &str) -> Option<Program> {
    let words = words(script);
    let mut found = words.iter().filter_map(|word| match word.rsplit('/').next() {
        Some("vitest") => Some(Program::Vitest),
        Some("jest") => Some(Program::Jest),
        Some("--test") => Some(Program::Node),
        _ => None,
    });
    found.next()
}

/// The runner that a manifest requires; node's own needs no package.
pub(super) fn depended_on(manifest: &str) -> Program {
    let packages = requirements(manifest);
    match () {
        () if packages.contains("vitest") => Program::Vitest,
        () if packages.contains("jest") => Program::Jest,
        () => Program::Node,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::memory;

    fn check(manifest: &str, expected: Result<Program, ()>) {
        let sources = memory(&[("package.json", manifest)]);
        let project = Project { root: String::new(), description: String::new() };
        let found = chosen(&TestCommand::Script("test".to_owned(), Vec::new()), &project, &sources);
        assert_eq!(found.map(|run| run.program).map_err(|_| ()), expected, "{manifest}");
    }

    #[test]
    fn a_package_says_what_it_is_tested_with() {
        check("{\"scripts\": {\"test\": \"node --test\"}}", Ok(Program::Node));
        check("{\"scripts\": {\"test\": \"vitest run --coverage\"}}", Ok(Program::Vitest));
        check("{\"scripts\": {\"test\": \"npm run lint && jest\"}}", Ok(Program::Jest));
        check("{\"devDependencies\": {\"vitest\": \"4\"}}", Ok(Program::Vitest));
        let default = "{\"scripts\": {\"test\": \"echo \\\"Error: no test specified\\\" && exit 1\"}}";
        check(default, Ok(Program::Node));
        check("{}", Ok(Program::Node));
        let sources =
            memory(&[("package.json", "{}"), ("packages/a/package.json", "{\"dependencies\": {\"jest\": \"30\"}}")]);
        let project = Project { root: String::new(), description: String::new() };
        assert_eq!(of_packages("{}", &project, &sources), Program::Jest);
        check("{\"scripts\": {\"test\": \"mocha\"}}", Err(()));
    }
}
