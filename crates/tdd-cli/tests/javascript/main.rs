//! The program on JavaScript and TypeScript projects, with node's own runner, vitest and jest.
//!
//! Without node, or without what CI installs into `target/node`, these tests say that they were skipped.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod gates;
mod machine;
mod runs;
mod setups;

use serde_json::Value;
use tdd_fixtures::Sandbox;

const SKIPPED: &str = "skipped: there is no node";
const NOT_INSTALLED: &str = "skipped: vitest and jest are not in target/node; `.ci/run` installs them";

/// A JavaScript project that `init` made, or `None` without node.
fn project() -> Option<Sandbox> {
    let sandbox = Sandbox::new();
    if !sandbox.has_node() {
        return None;
    }
    let (code, said) = run(&sandbox, &["init", "--language", "javascript", "--name", "calc"]);
    assert_eq!(code, 0, "{said}");
    Some(sandbox)
}

/// A committed project that is tested with an installed runner, or `None` if that is not there.
fn with_runner(manifest: &str) -> Option<Sandbox> {
    let sandbox = Sandbox::new();
    if !sandbox.link_node_modules() {
        return None;
    }
    sandbox.write("package.json", manifest);
    sandbox.write(".gitignore", "node_modules\n");
    sandbox.git(&["init", "-q", "-b", "main"]);
    sandbox.commit("chore: begin");
    assert_eq!(run(&sandbox, &["init"]).0, 0);
    Some(sandbox)
}

const VITEST: &str = "{\"name\": \"calc\", \"type\": \"module\", \"scripts\": {\"test\": \"vitest run\"}, \"devDependencies\": {\"vitest\": \"^4\"}}\n";
const JEST: &str =
    "{\"name\": \"calc\", \"scripts\": {\"test\": \"jest\"}, \"devDependencies\": {\"jest\": \"^30\"}}\n";

/// Exit code and standard output, as JSON where it is.
fn run(sandbox: &Sandbox, arguments: &[&str]) -> (i32, Value) {
    sandbox.answer(env!("CARGO_BIN_EXE_tdd-cli"), arguments)
}

fn check(sandbox: &Sandbox, expected: &[&str]) {
    assert_eq!(sandbox.results(env!("CARGO_BIN_EXE_tdd-cli")), expected);
}

#[test]
fn a_new_project_passes_its_own_checks() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    check(&sandbox, &[]);
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    let (_, doctor) = run(&sandbox, &["doctor"]);
    let states: Vec<_> =
        doctor["findings"].as_array().unwrap().iter().map(|it| (&it["subject"], &it["state"])).collect();
    for subject in ["node", "project"] {
        assert!(states.contains(&(&Value::from(subject), &Value::from("ok"))), "{states:?}");
    }
    for word in ["begin", "end"] {
        let (code, said) = run(&sandbox, &["refactor", word]);
        assert_eq!(code, 0, "{said}");
    }
}

#[test]
fn typescript_is_another_name_for_it() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    let config = sandbox.read("tdd.yaml").replace("language: \"javascript\"", "language: \"typescript\"");
    sandbox.write("tdd.yaml", config);
    check(&sandbox, &[]);
}
