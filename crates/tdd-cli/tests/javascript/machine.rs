//! Runs of the machine, from scripts: ways round the law, a blocked test, a whole kata.

use std::fs;

use serde_json::json;
use tdd_fixtures::Sandbox;
use tdd_fixtures::script::Script;

use super::{NOT_INSTALLED, SKIPPED, check, project, run};

const RED: &str = "import test from 'node:test';\nimport assert from 'node:assert';\nimport { add } from '../src/calc.js';\n\n\
                   test('nothing is zero', () => {\n  assert.equal(add(''), 0);\n});\n";
const GREEN: &str = "export function add(text) {\n  return text.length;\n}\n";

/// Runs steps of a script; exit code and what was told.
fn machine(sandbox: &Sandbox, how: &[&str], script: &Script) -> (Option<i32>, String) {
    fs::write(sandbox.outside().join("script.jsonl"), script.cassette()).unwrap();
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_tdd-cli"));
    let output = command.arg("run").args(how).args(["--replay", "../script.jsonl"]).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (output.status.code(), told)
}

#[test]
fn a_cycle_goes_round_and_ways_round_it_do_not() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    let said = json!({"summary": "answer zero"});
    let exits = "export function add(text) {\n  process.exit(0);\n}\n";
    let script = Script::new()
        .writes("1-tester", "test/add.test.js", RED)
        .plans("2-implementor")
        .edits("2-implementor", 1, &[("vitest.config.js", Some("")), ("src/calc.js", Some(GREEN))], &said)
        .edits("2-implementor", 2, &[("src/calc.js", Some(exits))], &said)
        .edits("2-implementor", 3, &[("src/calc.js", Some(GREEN))], &said)
        .writes("3-refactorer", "src/calc.js", "export const add = (text) => text.length;\n");
    let (code, told) = machine(&sandbox, &["--steps", "3"], &script);
    assert_eq!(code, Some(0), "{told}");
    let subjects = sandbox.git(&["log", "--format=%s"]);
    let subjects: Vec<&str> = subjects.lines().take(3).collect();
    assert_eq!(subjects, ["refactor: do it", "feat: answer zero", "test: do it"], "{told}");
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    let (code, said) = run(&sandbox, &["audit"]);
    assert_eq!(code, 0, "{said}");
}

#[test]
fn a_blocked_test_is_skipped_by_the_machine_and_counts_again_when_a_person_unblocks_it() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    let config = sandbox.read("tdd.yaml").replace("max_attempts_per_agent: 5", "max_attempts_per_agent: 2");
    sandbox.write("tdd.yaml", config);
    sandbox.git(&["commit", "-q", "-a", "-m", "chore: fewer attempts"]);
    let said = json!({"summary": "answer one"});
    let wrong = [("src/calc.js", Some("export function add(text) {\n  return 1;\n}\n"))];
    let script = Script::new()
        .writes("1-tester", "test/add.test.js", RED)
        .plans("2-implementor")
        .edits("2-implementor", 1, &wrong, &said)
        .edits("2-implementor", 2, &wrong, &said);
    let (code, told) = machine(&sandbox, &["--steps", "2"], &script);
    assert_eq!(code, Some(4), "{told}");
    let (code, said) = run(&sandbox, &["resume", "--skip"]);
    assert_eq!(code, 0, "{said}");
    check(&sandbox, &["test/add.test.js::nothing is zero skipped"]);
    let (code, said) = run(&sandbox, &["resume", "--unblock", "test/add.test.js::nothing is zero"]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(sandbox.read("test/add.test.js"), RED);
}

#[test]
fn what_a_model_writes_is_formatted_by_prettier_where_it_is() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    if !sandbox.link_node_modules() {
        return println!("{NOT_INSTALLED}");
    }
    let script = Script::new().writes("1-tester", "test/add.test.js", &RED.replace("  assert", "assert"));
    let (code, told) = machine(&sandbox, &["--steps", "1"], &script);
    assert_eq!(code, Some(0), "{told}");
    assert_eq!(sandbox.read("test/add.test.js"), RED.replace('\'', "\""));
}
