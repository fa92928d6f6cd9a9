//! Tests that `check`, `commit` and `prove` judge a change alike.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use serde_json::{Value, json};
use tdd_fixtures::Sandbox;
use tdd_fixtures::machine::Machine;

const TEST: &str = "#[test]\nfn adds() {\n    assert_eq!(kata::add(1, 2), 3);\n}\n";
const CODE: &str = "//! Adds.\n\n/// The sum.\npub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n";
const UNTESTED: &str = "\n/// Less.\npub fn sub(a: i32, b: i32) -> i32 {\n    a - b\n}\n";

fn project() -> Sandbox {
    Sandbox::initialized(env!("CARGO_BIN_EXE_tdd-cli"), &["--name", "kata"])
}

/// A project whose code does what its test says.
fn tested_project() -> Sandbox {
    let sandbox = project();
    sandbox.write("tests/add.rs", TEST);
    sandbox.write("src/lib.rs", CODE);
    sandbox.commit("feat: add");
    sandbox
}

/// The exit code and the JSON document.
fn run(sandbox: &Sandbox, arguments: &[&str]) -> (i32, Value) {
    Machine::new(sandbox, env!("CARGO_BIN_EXE_tdd-cli")).document(arguments)
}

/// The exit code, phase, rule and cause on one line.
fn answer(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let (code, document) = run(sandbox, arguments);
    let text = |key: &str| document[key].as_str().unwrap_or("-").to_owned();
    format!("{code} {} {} {}", text("phase"), text("rule"), text("cause"))
}

fn trailers(sandbox: &Sandbox) -> String {
    sandbox.git(&["log", "-1", "--format=%(trailers)"]).trim().to_owned()
}

fn audit(sandbox: &Sandbox, range: &str) -> (i32, Vec<String>) {
    let (code, document) = run(sandbox, &["audit", range]);
    let found = document["commits"].as_array().unwrap().iter();
    (code, found.map(|commit| commit["finding"].as_str().unwrap().to_owned()).collect())
}

#[test]
fn check_finds_the_phase_and_commit_writes_what_audit_replays() {
    let sandbox = project();
    let base = sandbox.git(&["rev-parse", "HEAD"]).trim().to_owned();
    sandbox.write("tests/add.rs", TEST);
    assert_eq!(answer(&sandbox, &["check"]), "0 red - missing-symbol");
    assert_eq!(run(&sandbox, &["commit", "-m", "test: pin addition"]).0, 0);
    assert_eq!(trailers(&sandbox), "TDD-Phase: red\nTDD-Test: tests/add.rs::adds");

    sandbox.write("src/lib.rs", CODE);
    assert_eq!(answer(&sandbox, &["check"]), "0 green - -");
    assert_eq!(answer(&sandbox, &["check", "adds"]), "0 green - -");
    assert_eq!(run(&sandbox, &["commit"]).0, 0);
    assert_eq!(trailers(&sandbox), "TDD-Phase: green\nTDD-Test: tests/add.rs::adds");

    sandbox.write("src/lib.rs", CODE.replace("a + b", "b + a"));
    assert_eq!(answer(&sandbox, &["check"]), "0 refactor - -");
    assert_eq!(run(&sandbox, &["commit", "-m", "refactor: turn it round"]).0, 0);
    assert_eq!(trailers(&sandbox), "TDD-Phase: refactor");
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    assert_eq!(answer(&sandbox, &["check"]), "0 refactor - -", "the last commit");
    assert_eq!(audit(&sandbox, &format!("{base}..")), (0, vec!["holds".to_owned(); 3]));
    let (code, proof) = run(&sandbox, &["prove", &format!("{base}..")]);
    assert_eq!((code, &proof["phase"], &proof["commits"]), (0, &"green".into(), &3.into()), "{proof}");
    let test = &proof["tests"][0];
    assert_eq!((&test["test_id"], &test["red"]), (&"tests/add.rs::adds".into(), &"missing-symbol".into()));
    assert_eq!(test["green"], true);
    let probes: Vec<_> =
        test["evidence"].as_array().unwrap().iter().map(|seen| (&seen["probe"], &seen["result"])).collect();
    let holds = ["base", "twin", "circumstance", "strength"].map(|probe| (json!(probe), json!("holds")));
    assert_eq!(probes, holds.iter().map(|(probe, result)| (probe, result)).collect::<Vec<_>>(), "{test}");
}

#[test]
fn code_that_no_test_leads_to_gets_in_by_no_door() {
    let sandbox = project();
    sandbox.write("tests/add.rs", TEST);
    sandbox.commit("test: pin addition");
    sandbox.write("src/lib.rs", format!("{CODE}{UNTESTED}"));
    assert_eq!(answer(&sandbox, &["check"]), "1 green pre-test-code -");
    assert_eq!(answer(&sandbox, &["validate-green", "tests/add.rs"]), "1 - pre-test-code -");
    assert_eq!(run(&sandbox, &["commit", "-m", "feat: add"]).0, 1);
    assert_eq!(sandbox.git(&["status", "--porcelain"]), " M src/lib.rs\n", "nothing is committed");
    sandbox.write("src/lib.rs", CODE);
    sandbox.commit("feat: add");
    sandbox.write("src/lib.rs", format!("{CODE}{UNTESTED}"));
    assert_eq!(answer(&sandbox, &["check"]), "1 refactor pre-test-code -");
    assert_eq!(answer(&sandbox, &["validate-refactor"]), "1 - pre-test-code -");
    sandbox.commit("feat: more\n\nTDD-Phase: refactor\n");
    assert_eq!(audit(&sandbox, "HEAD~1.."), (1, vec!["broken".to_owned()]));
}

#[test]
fn the_legal_ways_out_are_in_the_trailers_and_hold_in_the_audit() {
    let sandbox = tested_project();
    let reason = ["override", "--rule", "pre-test-code", "--reason", "a spike"];
    assert_eq!(run(&sandbox, &reason).0, 0);
    sandbox.write("src/lib.rs", format!("{CODE}{UNTESTED}"));
    let (code, verdict) = run(&sandbox, &["check"]);
    assert_eq!((code, &verdict["overridden"][0]["rule"]), (0, &"pre-test-code".into()), "{verdict}");
    assert_eq!(run(&sandbox, &["commit", "-m", "feat: less"]).0, 0);
    assert_eq!(trailers(&sandbox), "TDD-Phase: refactor\nTDD-Override: pre-test-code: a spike");
    assert_eq!(audit(&sandbox, "HEAD~1.."), (0, vec!["holds".to_owned()]));

    assert_eq!(run(&sandbox, &["refactor", "begin"]).0, 0);
    sandbox.write("tests/add.rs", TEST.replace("3);", "3);\n    assert_eq!(kata::sub(3, 2), 1);"));
    sandbox.write("src/lib.rs", format!("{CODE}{UNTESTED}").replace("a + b", "b + a"));
    assert_eq!(run(&sandbox, &["refactor", "end"]).0, 0);
    assert_eq!(run(&sandbox, &["commit", "-m", "refactor: both sides"]).0, 0);
    assert_eq!(trailers(&sandbox), "TDD-Phase: refactor\nTDD-Mode: refactor-mode");
    assert_eq!(audit(&sandbox, "HEAD~1.."), (0, vec!["holds".to_owned()]));
}

#[test]
fn an_exception_ends_in_the_middle_of_a_run_of_checks() {
    let sandbox = tested_project();
    sandbox.write("src/lib.rs", format!("{CODE}{UNTESTED}"));
    let made = ["override", "--rule", "pre-test-code", "--reason", "just once", "--ttl", "1ms"];
    assert_eq!(run(&sandbox, &made).0, 0);
    assert_eq!(answer(&sandbox, &["check"]), "1 refactor pre-test-code -");
}

#[test]
fn a_pull_request_is_proven_as_one_change_in_markdown_too() {
    let sandbox = project();
    sandbox.git(&["switch", "-q", "-c", "feature"]);
    sandbox.write("tests/add.rs", TEST);
    sandbox.write("src/lib.rs", CODE);
    sandbox.commit("feat: squashed");
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_tdd-cli"));
    let output = command.args(["prove", "main..feature", "--format", "markdown"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.starts_with("## Test-driven: holds"), "{text}");
    assert!(text.contains("| `tests/add.rs::adds` | red (missing-symbol) | green |"), "{text}");
    sandbox.write("tests/add.rs", TEST.replace("3)", "3 + 0)"));
    sandbox.commit("test: looser");
    assert_eq!(run(&sandbox, &["prove", "HEAD~1.."]).0, 1);
}

#[test]
fn what_cannot_be_committed_is_said_and_nothing_is_committed() {
    let sandbox = project();
    let mut clean = sandbox.command(env!("CARGO_BIN_EXE_tdd-cli"));
    assert_eq!(clean.args(["commit", "-m", "feat: nothing"]).output().unwrap().status.code(), Some(2));
    sandbox.write("README.md", "Adds.\n");
    let mut forged = sandbox.command(env!("CARGO_BIN_EXE_tdd-cli"));
    let forged = forged.args(["commit", "-m", "docs: x\n\nTDD-Phase: green"]).output().unwrap();
    assert_eq!(forged.status.code(), Some(2));
    assert_eq!(run(&sandbox, &["commit", "-m", "docs: what it does"]).0, 0);
    assert_eq!(trailers(&sandbox), "");
}
