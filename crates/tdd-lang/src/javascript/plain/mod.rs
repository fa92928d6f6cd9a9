//! Writes a program that runs copies of a test without a test runner: the test's file gets our own `test`, `describe` and
//! the like, and the runner's `expect`. Only what node itself can load is run like that.

use std::time::Duration;

use tdd_core::command::CommandSpec;

use super::call::TEST_MODULES;
use super::items::{is_test_file, located};
use super::runner::chosen;
use super::syntax::Tree;
use super::test_command::{Program, TestCommand};
use super::title::JOINT;
use super::{JavaScript, owns};
use crate::language::{Language, join};
use crate::plain::{Again, Copies, File, PlainProgram, Start, listing, moved_folder};
use crate::syntax::splice;

/// What takes the place of the runner.
const RUNNER: &str = include_str!("runner.cjs");
/// The same as a module.
const FACADE: &str = include_str!("facade.mjs");
const MAIN: &str = include_str!("main.mjs");

/// What a test names if it needs its runner, its sources or another program.
const NEEDS_RUNNER: [&str; 16] = [
    ".mock(",
    ".mock.",
    "useFakeTimers",
    "Snapshot(",
    ".setTimeout(",
    "child_process",
    "import.meta",
    "__filename",
    "process.argv",
    "process.env",
    ".test.js",
    ".spec.js",
    "t.after",
    "t.before",
    "'.'",
    "\".\"",
];

/// What a configuration names if tests need more than their file.
const NEEDS_CONFIGURATION: [&str; 7] =
    ["setupFiles", "globalSetup", "environment", "testEnvironment", "\"jest\": {", "alias", "define:"];

/// Names that a runner may make global.
const GLOBALS: &str = "test, it, describe, expect, beforeEach, afterEach, beforeAll, afterAll";

/// The program; `None` if only the test's runner can run it.
pub(super) fn plainly(copies: &Copies<'_>) -> Option<PlainProgram> {
    let Copies { project, settings, sources, path, twins, .. } = *copies;
    let command = TestCommand::parse(&JavaScript::Plain.test_command(settings)).ok()?;
    let run = chosen(&command, project, sources).ok()?;
    let below = project.relative_path(path)?;
    let ending = path.rsplit('.').next().filter(|ending| matches!(*ending, "js" | "mjs" | "cjs"))?;
    let names: Vec<String> = twins.ids().iter().map(|id| id.short_name().to_owned()).collect();
    let name = format!("x{}", twins.copy.short_name().strip_prefix("t_")?.get(..8)?);
    let is_configuration =
        |file: &&String| file.contains("vite.config") || file.contains("vitest.") || file.contains("jest.config");
    let mut configured = sources.files().iter().filter(is_configuration).filter_map(|file| sources.read(file));
    let needs = |text: &str, known: &[&str]| known.iter().any(|name| text.contains(name));
    let manifest = sources.read(&join(&project.root, "package.json"))?;
    if !run.flags.is_empty()
        || needs(&twins.source, &NEEDS_RUNNER)
        || needs(&manifest, &NEEDS_CONFIGURATION)
        || configured.any(|text| needs(&text, &NEEDS_CONFIGURATION))
    {
        return None;
    }
    let (folder, moved) = moved_folder(copies, below, &name, &["test", "tests", "__tests__", "spec"]);
    let test = format!("{name}_t.{ending}");
    let own = |file: &str, text: String| (join(&project.root, &join(&folder, file)), Some(text));
    let main = MAIN
        .replace("@NAME@", &name)
        .replace("@FOLDER@", &if folder.is_empty() { ".".to_owned() } else { format!("./{folder}") })
        .replace("@RUNNER@", run.program.name())
        .replace("@TEST@", &test);
    let script = join(&project.root, &format!("{name}m.mjs"));
    let mut files: Vec<File> = moved;
    files.push(own(&test, rewritten(path, &twins.source, &names, &name, run.program)?));
    files.push(own(&format!("{name}.cjs"), RUNNER.to_owned()));
    files.push(own(&format!("{name}.mjs"), FACADE.replace("@NAME@", &name)));
    files.push((script.clone(), Some(main)));
    let kept = sources.files().iter().filter(|file| !(owns(file) && is_test_file(file)));
    let added = files.iter().map(|(file, _)| file.clone()).chain([join(&project.root, "node_modules")]);
    let list = listing(kept.cloned().chain(added));
    let listed = format!("{name}.list");
    files.push((listed.clone(), Some(list)));
    Some(PlainProgram {
        files,
        sources: Vec::new(),
        build: CommandSpec::new(["true"], Duration::from_mins(1)),
        executable: Some("node".to_owned()),
        tests: twins.ids().into_iter().map(|id| (id.clone(), id.short_name().to_owned())).collect(),
        copy: twins.copy.clone(),
        again: Again::First,
        start: Start {
            folder: project.root.clone(),
            listed: Some(listed),
            script: Some(script),
            env: Vec::new(),
            timeout: settings.timeout,
        },
    })
}

/// The test's file with our own functions in the place of the runner's.
fn rewritten(path: &str, source: &str, names: &[String], name: &str, program: Program) -> Option<String> {
    let tree = Tree::parse(path, source)?;
    let is_module = source.lines().any(|line| line.starts_with("import ") || line.starts_with("export "));
    let ours = if is_module { format!("./{name}.mjs") } else { format!("./{name}.cjs") };
    let mut edits = Vec::new();
    let mut is_imported = false;
    for node in (0..tree.len()).filter(|node| tree.kind(*node) == "string") {
        let text = tree.text(node).trim_matches(['\'', '"']);
        if TEST_MODULES.contains(&text) {
            is_imported = true;
            edits.push((tree.range(node), format!("'{ours}'")));
        }
    }
    for (item, call) in located(&tree) {
        let title = item.name.rsplit(JOINT).next().unwrap_or_default();
        let body = call.body.filter(|_| names.iter().any(|name| name == title));
        // A function without a name is as good as a test to production that looks at its caller.
        if let Some(body) = body.filter(|body| tree.kind(*body).contains("function")) {
            let range = tree.range(body);
            edits.push((range.start..range.start, "({ run: ".to_owned()));
            edits.push((range.end..range.end, " }).run".to_owned()));
        }
    }
    let text = splice(source, edits);
    let mocks = match program {
        Program::Node => "",
        Program::Vitest => ", vi",
        Program::Jest => ", jest",
    };
    Some(match (is_imported, is_module) {
        (true, _) => text,
        (false, true) => format!("import {{ {GLOBALS}{mocks} }} from '{ours}';\n{text}"),
        (false, false) => format!("const {{ {GLOBALS}{mocks} }} = require('{ours}');\n{text}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, program: Program, expected: &str) {
        let names = ["t_1".to_owned()];
        assert_eq!(rewritten("test/a.test.js", source, &names, "x", program).unwrap(), expected);
    }

    #[test]
    fn a_test_gets_our_functions_and_its_body_a_name() {
        check(
            "import { test } from 'node:test';\ntest(\"t_1\", () => f());\n",
            Program::Node,
            "import { test } from './x.mjs';\ntest(\"t_1\", ({ run: () => f() }).run);\n",
        );
        check(
            "test('other', () => f());\n",
            Program::Jest,
            &format!("const {{ {GLOBALS}, jest }} = require('./x.cjs');\ntest('other', () => f());\n"),
        );
    }
}
