//! Writes a program that runs copies of a test without a test runner: the test's file gets our own `test`, `describe` and
//! the like, and the assertions of node or of the runner, which production cannot rig.

mod state;

use std::time::Duration;

use tdd_core::command::CommandSpec;

use super::call::TEST_MODULES;
use super::items::{is_test_file, located};
use super::runner::chosen;
use super::suite::is_typed;
use super::syntax::Tree;
use super::test_command::{Program, TestCommand};
use super::title::JOINT;
use super::{JavaScript, owns};
use crate::language::{Language, join};
use crate::plain::{Copies, File, PlainProgram, Start, listing, moved_folder};
use crate::syntax::splice;

/// What takes the place of the runner.
const RUNNER: &str = include_str!("runner.cjs");
/// The same as a module.
const FACADE: &str = include_str!("facade.mjs");
const MAIN: &str = include_str!("main.mjs");
/// Assertions that the language's own functions evaluate, whatever production exchanged.
const GUARD: &str = include_str!("guard.cjs");
/// node's `assert` with those.
const ASSERT: &str = include_str!("assert.mjs");
/// Removes the test's file.
const REMOVE: &str = "require('node:fs').rmSync(require('node:path').join(__dirname, '@TEST@'), { force: true });\n";
/// Loads TypeScript and what bundlers add.
const HOOKS: &str = include_str!("hooks.mjs");

/// What a test names if it needs its runner, its sources or another program.
const NEEDS_RUNNER: [&str; 15] = [
    ".mock(",
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

/// Endings of test files that a plain program can load.
const ENDINGS: [&str; 7] = ["js", "mjs", "cjs", "jsx", "ts", "mts", "tsx"];

/// Names that a runner may make global.
const GLOBALS: &str = "test, it, describe, expect, beforeEach, afterEach, beforeAll, afterAll";

/// The program; `None` if only the test's runner can run it.
pub(super) fn plainly(copies: &Copies<'_>) -> Option<PlainProgram> {
    let Copies { project, settings, sources, path, twins, .. } = *copies;
    let command = TestCommand::parse(&JavaScript::Plain.test_command(settings)).ok()?;
    let run = chosen(&command, project, sources).ok()?;
    let below = project.relative_path(path)?;
    let ending = path.rsplit('.').next().filter(|ending| ENDINGS.contains(ending))?;
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
    let own = |ending: &str, text: &str| {
        (join(&project.root, &join(&folder, &format!("{name}{ending}"))), Some(text.replace("@NAME@", &name)))
    };
    let is_ours = |file: &&String| project.relative_path(file).is_some();
    let main = MAIN
        .replace("@NAME@", &name)
        .replace("@FOLDER@", &if folder.is_empty() { ".".to_owned() } else { format!("./{folder}") })
        .replace("@RUNNER@", run.program.name())
        .replace(
            "@TYPED@",
            if sources.files().iter().filter(is_ours).any(|file| is_typed(file)) { "true" } else { "false" },
        )
        .replace("@TEST@", &test);
    let script = join(&project.root, &format!("{name}m.mjs"));
    let mut files: Vec<File> = with_our_modules_in(moved, &join(&project.root, &name), &folder, &name);
    let written = removing_itself(&rewritten(path, &twins.source, &names, &name, run.program)?, &name);
    files.push((join(&project.root, &join(&folder, &test)), Some(written)));
    files.push(own(".cjs", RUNNER));
    files.push(own(".mjs", FACADE));
    files.push(own("g.cjs", GUARD));
    files.push(own("h.mjs", HOOKS));
    files.push(own("d.cjs", &REMOVE.replace("@TEST@", &test)));
    for (part, kind) in [("a", ""), ("s", ".strict")] {
        files.push(own(&format!("{part}.mjs"), &ASSERT.replace("@KIND@", kind)));
        files.push(own(&format!("{part}.cjs"), &format!("module.exports = require('./@NAME@g.cjs').assert{kind};\n")));
    }
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
        again: state::again(project, sources, path),
        start: Start {
            folder: project.root.clone(),
            listed: Some(listed),
            script: Some(script),
            env: Vec::new(),
            timeout: settings.timeout,
        },
    })
}

/// The files of a moved folder with our modules in the place of the runner's.
fn with_our_modules_in(moved: Vec<File>, top: &str, folder: &str, name: &str) -> Vec<File> {
    let rest = folder.strip_prefix(name).unwrap_or_default().trim_start_matches('/');
    let rewritten = |(file, text): File| {
        let below = file.strip_prefix(top).unwrap_or_default().trim_start_matches('/');
        let text =
            text.map(|text| if owns(&file) { with_our_modules(&file, &text, &way(below, rest), name).0 } else { text });
        (file, text)
    };
    moved.into_iter().map(rewritten).collect()
}

/// The way from a file to a folder, both below the same one.
fn way(file: &str, folder: &str) -> String {
    let up = "../".repeat(file.matches('/').count());
    if folder.is_empty() { format!("./{up}") } else { format!("./{up}{folder}/") }
}

/// A test file with our modules in the place of the runner's and of `assert`, which are in the folder `at`. Also whether
/// it imports the runner.
fn with_our_modules(path: &str, source: &str, at: &str, name: &str) -> (String, bool) {
    let Some(tree) = Tree::parse(path, source) else { return (source.to_owned(), false) };
    let mut edits = Vec::new();
    let mut is_imported = false;
    for node in (0..tree.len()).filter(|node| tree.kind(*node) == "string") {
        let text = tree.text(node).trim_matches(['\'', '"']);
        let part = match text.strip_prefix("node:").unwrap_or(text) {
            _ if TEST_MODULES.contains(&text) => {
                is_imported = true;
                ""
            }
            "assert" if is_imported_module(&tree, node) => "a",
            "assert/strict" if is_imported_module(&tree, node) => "s",
            _ => continue,
        };
        let ending = if is_module(source) { "mjs" } else { "cjs" };
        edits.push((tree.range(node), format!("'{at}{name}{part}.{ending}'")));
    }
    (splice(source, edits), is_imported)
}

/// A test file that is gone before production is run, which could take its answers from it.
fn removing_itself(source: &str, name: &str) -> String {
    let first = source.lines().next().unwrap_or_default().trim_matches(['\'', '"', ';']);
    match (is_module(source), first) {
        (true, _) => format!("import './{name}d.cjs'; {source}"),
        (false, "use strict") => format!("'use strict'; require('./{name}d.cjs'); {source}"),
        (false, _) => format!("require('./{name}d.cjs'); {source}"),
    }
}

/// Whether a string is the module of an import, not a text.
fn is_imported_module(tree: &Tree<'_>, node: usize) -> bool {
    let is_import = |outer: usize| match tree.kind(outer) {
        "import_statement" | "export_statement" => true,
        "call_expression" => {
            let function = tree.child(outer, "function").map_or("", |function| tree.text(function));
            matches!(function, "require" | "import")
        }
        _ => false,
    };
    tree.ancestors(node).take(2).any(is_import)
}

fn is_module(source: &str) -> bool {
    source.lines().any(|line| line.starts_with("import ") || line.starts_with("export "))
}

/// The test's file with our own functions in the place of the runner's.
fn rewritten(path: &str, source: &str, names: &[String], name: &str, program: Program) -> Option<String> {
    let tree = Tree::parse(path, source)?;
    let mut edits = Vec::new();
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
    let (text, is_imported) = with_our_modules(path, &splice(source, edits), "./", name);
    let ours = if is_module(source) { format!("./{name}.mjs") } else { format!("./{name}.cjs") };
    let mocks = match program {
        Program::Node => "",
        Program::Vitest => ", vi",
        Program::Jest => ", jest",
    };
    Some(match (is_imported, is_module(source)) {
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

    #[test]
    fn the_assertions_of_a_test_and_of_its_helpers_are_ours() {
        check(
            "import { test } from 'node:test';\nimport assert from 'node:assert/strict';\ntest(\"a\", () => assert('assert'));\n",
            Program::Node,
            "import { test } from './x.mjs';\nimport assert from './xs.mjs';\ntest(\"a\", () => assert('assert'));\n",
        );
        let helper = |below: &str, folder: &str| {
            with_our_modules("test/a.js", "const assert = require('assert');\n", &way(below, folder), "x").0
        };
        assert_eq!(helper("a.js", ""), "const assert = require('./xa.cjs');\n");
        assert_eq!(helper("support/a.js", "unit/deep"), "const assert = require('./../unit/deep/xa.cjs');\n");
    }
}
