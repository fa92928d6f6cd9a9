//! Tests that some command writes each declared event type.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::Write;

use serde_json::json;
use tdd_core::event::Event;
use tdd_fixtures::Sandbox;
use tdd_fixtures::script::Script;

fn machine(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let output = sandbox.command(env!("CARGO_BIN_EXE_tdd-cli")).args(arguments).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {stderr}");
    String::from_utf8(output.stdout).unwrap()
}

/// The types of the events in a ledger.
fn written(sandbox: &Sandbox) -> BTreeSet<String> {
    let log = machine(sandbox, &["log", "--format", "json"]);
    let lines = log.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    lines.map(|line| line["type"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn every_declared_event_has_a_writer() {
    let mut written = of_a_torn_ledger();
    written.extend(of_a_run_that_gets_stuck());
    written.extend(of_a_run_that_revises_a_test());
    written.extend(of_a_run_that_goes_well());
    written.extend(of_a_program());
    let declared: BTreeSet<String> = Event::TYPES.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(written, declared);
}

fn of_a_torn_ledger() -> BTreeSet<String> {
    let sandbox = Sandbox::with_project("calc");
    sandbox.git(&["init", "-q"]);
    machine(&sandbox, &["init"]);
    machine(&sandbox, &["auto-test"]);
    let ledger = sandbox.project().join(".tdd/events.jsonl");
    OpenOptions::new().append(true).open(ledger).unwrap().write_all(b"{\"v\":1,\"se").unwrap();
    machine(&sandbox, &["auto-test"]);
    machine(&sandbox, &["override", "--rule", "budget", "--reason", "a test"]);
    machine(&sandbox, &["refactor", "begin"]);
    machine(&sandbox, &["refactor", "end", "--discard"]);
    sandbox.write("tests/left_aside.rs", "#[ignore = \"TODO: x\"]\n#[test]\nfn a() {}\n\n#[test]\nfn b() {}\n");
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "a person's commit"]);
    machine(&sandbox, &["resume", "--unblock", "tests/left_aside.rs::a"]);
    machine(&sandbox, &["retire", "tests/left_aside.rs::b", "--reason", "a test"]);
    written(&sandbox)
}

const TEST: &str = "use kata::add;\n\n#[test]\nfn an_empty_text_is_zero() {\n    assert_eq!(add(\"\"), 0);\n}\n";

fn code(answer: &str) -> String {
    format!("//! Adds.\n\n/// Adds the numbers in a text.\npub fn add(_text: &str) -> i64 {{\n    {answer}\n}}\n")
}

/// Runs a script in a new project and returns the exit code.
fn run(sandbox: &Sandbox, script: &Script) -> Option<i32> {
    sandbox.git(&["init", "-q"]);
    fs::write(sandbox.outside().join("script.jsonl"), script.cassette()).unwrap();
    machine(sandbox, &["init", "--name", "kata"]);
    again(sandbox)
}

fn again(sandbox: &Sandbox) -> Option<i32> {
    let arguments = ["run", "--steps", "4", "--replay", "../script.jsonl"];
    sandbox.command(env!("CARGO_BIN_EXE_tdd-cli")).args(arguments).output().unwrap().status.code()
}

fn of_a_run_that_gets_stuck() -> BTreeSet<String> {
    let sandbox = Sandbox::new();
    let mut script = Script::new().writes("1-tester", "tests/add.rs", TEST).plans("2-implementor");
    for attempt in 1..=5 {
        script = script.edits("2-implementor", attempt, &[("src/lib.rs", Some(&code("-1")))], &json!({}));
    }
    script = script.plans("2-implementor").plans("2-implementor").plans("2-rethink");
    script = script.edits("2-rethink", 1, &[], &json!({"reason": "the kata says so", "spec_source": "rule 1"}));
    assert_eq!(run(&sandbox, &script), Some(4));
    written(&sandbox)
}

fn of_a_run_that_revises_a_test() -> BTreeSet<String> {
    let sandbox = Sandbox::new();
    let wrong = TEST.replace("add(\"\"), 0", "add(\"\"), 7");
    let mut script = Script::new().writes("1-tester", "tests/add.rs", &wrong).plans("2-implementor");
    for attempt in 1..=3 {
        let answer = format!("-{attempt}");
        script = script.edits("2-implementor", attempt, &[("src/lib.rs", Some(&code(&answer)))], &json!({}));
    }
    let why = json!({"reason": "it is wrong", "spec_source": "one paragraph on the goal, then the rules, one a line"});
    script = script.plans("2-rethink").edits("2-rethink", 1, &[("tests/add.rs", Some(TEST))], &why);
    assert_eq!(run(&sandbox, &script), Some(3), "the script has no third step");
    written(&sandbox)
}

const PROGRAM: &str = "## Goal\nLess.\n\n## Target\n- `src/**`\n\n## Evaluation\n```\necho '{\"metric\": 1}'\n```\n";

fn of_a_program() -> BTreeSet<String> {
    let sandbox = Sandbox::new();
    fs::write(sandbox.outside().join("script.jsonl"), Script::new().rests("1-refactorer").cassette()).unwrap();
    machine(&sandbox, &["init", "--name", "kata"]);
    sandbox.write(".autoloop/programs/less.md", PROGRAM);
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-qm", "chore: a program"]);
    machine(&sandbox, &["program", "run", "less", "--replay", "../script.jsonl"]);
    written(&sandbox)
}

fn of_a_run_that_goes_well() -> BTreeSet<String> {
    let sandbox = Sandbox::new();
    let renamed = TEST.replace("an_empty_text_is_zero", "nothing_is_zero");
    let arrived = format!("{renamed}\n#[test]\nfn a_blank_is_zero() {{\n    assert_eq!(add(\" \"), 0);\n}}\n");
    let next = arrived.replace("a_blank_is_zero", "one_is_one").replace("add(\" \"), 0", "add(\"1\"), 1");
    let script = Script::new()
        .writes("1-tester", "tests/add.rs", TEST)
        .plans("2-implementor")
        .edits("2-implementor", 1, &[("tests/add.rs", None)], &json!({}))
        .edits("2-implementor", 2, &[("src/lib.rs", Some(&code("0")))], &json!({}))
        .writes("3-refactorer", "tests/add.rs", &renamed)
        .writes("4-tester", "tests/add.rs", &arrived)
        .edits("4-tester", 2, &[("tests/add.rs", Some(&next))], &json!({}));
    assert_eq!(run(&sandbox, &script), Some(0));
    sandbox.write("notes.md", "mine");
    sandbox.git(&["add", "notes.md"]);
    sandbox.git(&["commit", "-qm", "docs: a note of a person's"]);
    assert_eq!(again(&sandbox), Some(3), "the script has no fifth step");
    written(&sandbox)
}
