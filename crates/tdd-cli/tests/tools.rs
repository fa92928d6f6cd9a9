//! Tests the tools protocol: every call gets a result, each edit meets the gate, and the turn is judged at its end.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::fs;

use serde_json::json;
use tdd_fixtures::Sandbox;
use tdd_fixtures::script::Script;

const TEST: &str = "use kata::add;\n\n#[test]\nfn nothing_is_zero() {\n    assert_eq!(add(\"\"), 0);\n}\n";
const CODE: &str = "//! Adds.\n\n/// Adds the numbers in a text.\npub fn add(_text: &str) -> i64 {\n    0\n}\n";
const CONFIG: &str = "roles:\n  tester: { model: m, protocol: tools }\n  implementor: { model: m, protocol: tools }\n  refactorer: { model: m, protocol: tools }\n";

fn machine(sandbox: &Sandbox, arguments: &[&str]) -> (Option<i32>, String) {
    let output = sandbox.command(env!("CARGO_BIN_EXE_tdd-cli")).args(arguments).output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs three scripted steps with tools; returns the exit code and the output.
fn run(script: &Script) -> (Sandbox, Option<i32>, String) {
    let sandbox = Sandbox::new();
    sandbox.git(&["init", "-q"]);
    fs::write(sandbox.outside().join("script.jsonl"), script.cassette()).unwrap();
    fs::write(sandbox.outside().join("tools.yaml"), CONFIG).unwrap();
    machine(&sandbox, &["init", "--name", "kata"]);
    let arguments = ["run", "--steps", "3", "--replay", "../script.jsonl", "--config", "../tools.yaml"];
    let (code, told) = machine(&sandbox, &arguments);
    (sandbox, code, told)
}

fn edit(path: &str, content: &str) -> (&'static str, serde_json::Value) {
    ("edit_file", json!({"path": path, "action": "upsert", "content": content}))
}

fn finish(summary: &str) -> (&'static str, serde_json::Value) {
    ("finish", json!({"summary": summary, "rationale": "because"}))
}

#[test]
fn a_cycle_by_tools_ends_like_one_by_edit_plans() {
    let claim = ("edit_claim", json!({"test_id": "tests/add.rs::nothing_is_zero", "edit_target": "src/lib.rs"}));
    let script = Script::new()
        .calls("step-1-tester-tools-1", &[("list_files", json!({})), ("submit_plan", json!({"text": "begin"}))])
        .calls("step-1-tester-tools-1", &[edit("tests/add.rs", TEST), finish("nothing is zero")])
        .calls("step-2-implementor-tools-1", &[("read_file", json!({"path": "tests/add.rs"})), claim])
        .calls("step-2-implementor-tools-1", &[edit("src/lib.rs", CODE), finish("answer zero")])
        .calls("step-3-refactorer-tools-1", &[finish("nothing worth it")]);
    let (sandbox, code, told) = run(&script);
    assert_eq!(code, Some(0), "{told}");
    let subjects = sandbox.git(&["log", "--format=%s"]);
    assert_eq!(subjects.lines().take(2).collect::<Vec<_>>(), ["feat: answer zero", "test: nothing is zero"]);
}

#[test]
fn a_refusal_is_the_tools_result_and_costs_no_attempt() {
    let claim = || ("edit_claim", json!({"test_id": "tests/add.rs::nothing_is_zero", "edit_target": "src/lib.rs"}));
    let unclaimed = [edit("src/lib.rs", CODE), ("delete_file", json!({"path": "tests/add.rs"}))];
    let script = Script::new()
        .calls("step-1-tester-tools-1", &[edit("src/lib.rs", CODE), edit("../x", "x"), edit(".git/config", "x")])
        .calls("step-1-tester-tools-1", &[edit("tests/add.rs", TEST), finish("nothing is zero")])
        .calls("step-2-implementor-tools-1", &unclaimed)
        .calls("step-2-implementor-tools-1", &[claim(), edit("src/lib.rs", CODE), finish("answer zero")])
        .calls("step-3-refactorer-tools-1", &[finish("nothing worth it")]);
    let (sandbox, code, told) = run(&script);
    assert_eq!(code, Some(0), "{told}");
    let refused = machine(&sandbox, &["log", "--type", "edit_refused", "--format", "json"]).1;
    let rules: Vec<String> = refused
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["rule"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(rules, ["phase-scope", "path-confined", "protected-path", "claim-after-red", "tests-frozen"]);
    assert_eq!(machine(&sandbox, &["log", "--type", "reverted", "--format", "json"]).1, "");
}

#[test]
fn a_step_that_ended_without_a_commit_counts() {
    let claim = ("edit_claim", json!({"test_id": "tests/add.rs::nothing_is_zero", "edit_target": "src/lib.rs"}));
    let script = Script::new()
        .calls("step-1-tester-tools-1", &[edit("tests/add.rs", TEST), finish("nothing is zero")])
        .calls("step-2-implementor-tools-1", &[claim, edit("src/lib.rs", CODE), finish("answer zero")])
        .calls("step-3-refactorer-tools-1", &[finish("nothing worth it")]);
    let (sandbox, code, told) = run(&script);
    assert_eq!(code, Some(0), "{told}");
    let status: serde_json::Value =
        serde_json::from_str(&machine(&sandbox, &["status", "--format", "json"]).1).unwrap();
    assert_eq!(
        (&status["step"], &status["next_role"], &status["phase"]),
        (&json!(3), &json!("tester"), &json!("green"))
    );
}
