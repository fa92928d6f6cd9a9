//! Finds the files that runner configuration calls: scripts that a test command of a Makefile or a `package.json` runs,
//! and set-up files that the configuration of a test runner names. They decide how tests run, as the configuration does.

use std::collections::BTreeSet;

use tdd_core::change::Sort;

use crate::language::{Language, Project, Sources, has_ending, join};
use crate::makefile;

/// Settings of JavaScript test runners that name files.
const SETTINGS: [&str; 15] = [
    "setupFiles",
    "setupFilesAfterEnv",
    "globalSetup",
    "globalTeardown",
    "reporters",
    "environment",
    "testEnvironment",
    "testRunner",
    "runner",
    "transform",
    "preset",
    "resolver",
    "snapshotSerializers",
    "testResultsProcessor",
    "testSequencer",
];

/// Sections of a `package.json` that configure a test runner.
const SECTIONS: [&str; 5] = ["jest", "vitest", "mocha", "ava", "nyc"];

/// How many scripts may call each other.
const MAX_CALLS: usize = 8;

/// The files of this tree that runner configuration calls, without files that hold tests.
pub fn called(language: &dyn Language, project: &Project, sources: &dyn Sources) -> BTreeSet<String> {
    let mut texts = vec![makefile::recipes(&project.root, &["test", "tests", "check"], sources)];
    texts.extend(sources.read(&join(&project.root, "package.json")).map(|text| of_package(&text)));
    texts.extend(
        ["tox.ini", "setup.cfg"].iter().filter_map(|name| Some(of_tox(&sources.read(&join(&project.root, name))?))),
    );
    texts.extend(of_runners(project, sources));
    let mut found = BTreeSet::new();
    for _ in 0..MAX_CALLS {
        let words = texts.iter().flat_map(|text| words(text));
        let named: BTreeSet<String> = words.filter_map(|word| named(word, project, sources)).collect();
        let is_new = |path: &String| !found.contains(path) && is_script(language, project, path, sources);
        let new: Vec<String> = named.into_iter().filter(is_new).collect();
        if new.is_empty() {
            break;
        }
        // A script may call another one.
        let is_shell = |path: &&String| !language.owns(path);
        texts = new.iter().filter(is_shell).filter_map(|path| sources.read(path)).collect();
        found.extend(new);
    }
    found
}

/// Whether a file that is called is part of the runner: not a file with tests, and not code that other code imports.
fn is_script(language: &dyn Language, project: &Project, path: &str, sources: &dyn Sources) -> bool {
    if !language.owns(path) {
        return true;
    }
    let has_tests = || sources.read(path).is_some_and(|text| !language.items(path, &text).tests.is_empty());
    !has_tests() && !is_imported(language, project, path, sources)
}

/// Whether a line of another source file imports this one by its name.
fn is_imported(language: &dyn Language, project: &Project, path: &str, sources: &dyn Sources) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.split('.').next().unwrap_or(name);
    let is_word =
        |line: &str| line.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-')).any(|word| word == stem);
    let imports = |line: &str| ["import", "require", "from ", "use ", "mod "].iter().any(|word| line.contains(word));
    let is_code = |other: &&String| language.owns(other) && language.sort(project, other, sources) != Sort::Steering;
    let others = sources.files().iter().filter(|other| *other != path).filter(is_code);
    others.filter_map(|other| sources.read(other)).any(|text| text.lines().any(|line| imports(line) && is_word(line)))
}

/// The words of a command or a configuration that may be paths.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || "\"'`;&|()[]{},=<>".contains(c)).filter(|word| !word.is_empty())
}

/// The file that a word names, from the project's folder.
fn named(word: &str, project: &Project, sources: &dyn Sources) -> Option<String> {
    // What remains of `<rootDir>/x.js` begins with a slash.
    let word = word.trim_start_matches("./").trim_start_matches('/');
    let path = join(&project.root, word);
    let is_file = |path: &String| sources.files().binary_search(path).is_ok();
    // `python -m tools.check` and `-p plugins.quiet` name modules.
    let module =
        || Some(join(&project.root, &format!("{}.py", word.replace('.', "/")))).filter(|_| !word.contains('/'));
    Some(path).filter(is_file).or_else(|| module().filter(is_file))
}

/// The scripts of a `package.json` that run tests, and its sections that configure a runner.
fn of_package(text: &str) -> String {
    let Ok(package) = serde_json::from_str::<serde_json::Value>(text) else { return String::new() };
    let script = |name: &str| package["scripts"][name].as_str().map(str::to_owned);
    let all = package["scripts"].as_object().map(|scripts| scripts.keys().cloned().collect()).unwrap_or_default();
    let all: Vec<String> = all;
    let is_test =
        |name: &&String| name.split(':').next().is_some_and(|first| matches!(first, "test" | "pretest" | "posttest"));
    let mut wanted: Vec<String> = all.iter().filter(is_test).cloned().collect();
    let mut texts = Vec::new();
    let mut at = 0;
    while let Some(text) = wanted.get(at).cloned().map(|name| script(&name)) {
        let text = text.unwrap_or_default();
        wanted.extend(
            all.iter()
                .filter(|name| words(&text).any(|word| word == *name))
                .filter(|name| !wanted.contains(name))
                .cloned()
                .collect::<Vec<_>>(),
        );
        texts.push(text);
        at += 1;
    }
    let sections = SECTIONS.iter().filter_map(|name| package.get(name)).map(ToString::to_string);
    texts.extend(sections.map(|section| settings(&section)));
    texts.join("\n")
}

/// The commands of a `tox.ini` and the plug-ins of pytest.
fn of_tox(text: &str) -> String {
    let mut found = String::new();
    let mut goes_on = false;
    for line in text.lines() {
        let begins = ["commands", "addopts"].iter().any(|key| line.starts_with(key));
        goes_on = begins || goes_on && line.starts_with([' ', '\t']);
        if goes_on {
            found += line;
            found.push('\n');
        }
    }
    found
}

/// What the configuration files of JavaScript test runners name: their settings and their imports.
fn of_runners(project: &Project, sources: &dyn Sources) -> Vec<String> {
    let is_runner = |path: &&String| {
        let name = project.relative_path(path).unwrap_or("/");
        ["vitest.", "vite.", "jest.", ".mocharc"].iter().any(|start| name.starts_with(start))
            && has_ending(name, &["js", "mjs", "cjs", "ts", "mts", "cts", "json"])
    };
    let texts = sources.files().iter().filter(is_runner).filter_map(|path| sources.read(path));
    texts.map(|text| settings(&text)).collect()
}

/// The values of the settings that name files, and the imported modules.
fn settings(text: &str) -> String {
    let mut found = String::new();
    for key in SETTINGS {
        for (at, _) in text.match_indices(key) {
            let after = &text[at + key.len()..];
            let end = if after.trim_start_matches(['"', '\'', ':', ' ']).starts_with('[') { ']' } else { ',' };
            found += after.split(end).next().unwrap_or_default();
            found.push('\n');
        }
    }
    let imports = text.lines().filter(|line| line.contains("import ") || line.contains("require("));
    found + &imports.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::memory;

    #[track_caller]
    fn check(language: &str, files: &[(&str, &str)], expected: &[&str]) {
        let project = Project { root: String::new(), description: String::new() };
        let found = called(crate::named(language).unwrap().as_ref(), &project, &memory(files));
        assert_eq!(found.into_iter().collect::<Vec<_>>(), expected, "{files:?}");
    }

    #[test]
    fn what_a_test_command_runs_is_part_of_the_runner() {
        let script = ("tools/run.sh", "sh tools/report.sh");
        let report = ("tools/report.sh", "echo");
        check(
            "go",
            &[("Makefile", "test: build\n\tsh tools/run.sh\n"), report, script],
            &["tools/report.sh", "tools/run.sh"],
        );
        check(
            "go",
            &[("Makefile", "test: deep\n\ndeep:\n\t./tools/run.sh\n"), ("tools/run.sh", "")],
            &["tools/run.sh"],
        );
        check("go", &[("Makefile", "deploy:\n\tsh tools/run.sh\n"), ("tools/run.sh", "")], &[]);
        let package = |script: &str| {
            format!("{{\"scripts\": {{\"test\": \"{script}\", \"all\": \"node run.js\", \"start\": \"node run.js\"}}}}")
        };
        for (command, expected) in [
            ("node run.js", &["run.js"][..]),
            ("npm run all", &["run.js"]),
            ("node --test a.test.js", &[]),
            ("node --test", &[]),
            ("node cli.js", &[]),
        ] {
            let files = [
                ("a.test.js", "import { test } from 'node:test'\nimport './cli.js'\ntest('a', () => {})\n"),
                ("cli.js", ""),
                ("package.json", &package(command)),
                ("run.js", ""),
            ];
            check("javascript", &files, expected);
        }
        check(
            "python",
            &[("plugins/quiet.py", ""), ("setup.cfg", "[tool:pytest]\naddopts = -p plugins.quiet\n")],
            &["plugins/quiet.py"],
        );
        check(
            "python",
            &[("run_all.py", ""), ("tox.ini", "[testenv]\ncommands =\n    python run_all.py\n")],
            &["run_all.py"],
        );
    }

    #[test]
    fn what_the_configuration_of_a_runner_names_is_part_of_it() {
        let config = "import plugin from './plugin.js'\nexport default { test: { setupFiles: ['./test/setup.js'] }, build: { lib: { entry: 'src/index.js' } } }\n";
        let files = [("plugin.js", ""), ("src/index.js", ""), ("test/setup.js", ""), ("vitest.config.js", config)];
        check("javascript", &files, &["plugin.js", "test/setup.js"]);
        let package = "{\"jest\": {\"setupFilesAfterEnv\": [\"<rootDir>/test/env.js\"]}}";
        check("javascript", &[("package.json", package), ("test/env.js", "")], &["test/env.js"]);
    }
}
