//! Every event that is declared is written by a command that a user can run.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::Write;

use tdd_core::event::Event;
use tdd_fixtures::Sandbox;

/// Declared with the law; their writers are the run and a person's commands, which come next.
const AWAITED: [&str; 23] = [
    "run_start",
    "run_end",
    "step_start",
    "step_end",
    "plan_submitted",
    "edit_claim",
    "edit_applied",
    "edit_refused",
    "reverted",
    "repair",
    "stuck",
    "test_revised",
    "test_renamed",
    "green_on_arrival",
    "blocked",
    "paused",
    "resumed",
    "resynced",
    "llm_call",
    "override",
    "refactor_begin",
    "refactor_end",
    "retired",
];

fn machine(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let output = sandbox.command(env!("CARGO_BIN_EXE_tdd-cli")).args(arguments).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {stderr}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_declared_event_has_a_writer() {
    let sandbox = Sandbox::with_project("calc");
    sandbox.git(&["init", "-q"]);
    machine(&sandbox, &["init"]);
    machine(&sandbox, &["auto-test"]);
    let ledger = sandbox.project().join(".tdd/events.jsonl");
    OpenOptions::new().append(true).open(ledger).unwrap().write_all(b"{\"v\":1,\"se").unwrap();
    machine(&sandbox, &["auto-test"]);

    let log = machine(&sandbox, &["log", "--format", "json"]);
    let lines = log.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let written: BTreeSet<String> = lines.map(|line| line["type"].as_str().unwrap().to_owned()).collect();
    let declared = Event::TYPES.iter().filter(|name| !AWAITED.contains(name));
    let declared: BTreeSet<String> = declared.map(|name| (*name).to_owned()).collect();
    assert_eq!(written, declared);
}
