//! Tests `audit` on any history: each commit's claim and the finding.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::process::Command;

use serde_json::Value;
use tdd_fixtures::Sandbox;

const TEST: &str = "#[test]\nfn adds() {\n    assert_eq!(kata::add(1, 2), 3);\n}\n";
const CODE: &str = "//! Adds.\n\n/// Adds.\npub fn add(a: i64, b: i64) -> i64 {\n    a + b\n}\n";

fn project() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.git(&["init", "-q"]);
    let output = sandbox.command(env!("CARGO_BIN_EXE_tdd-cli")).args(["init", "--name", "kata"]).output().unwrap();
    assert!(output.status.success());
    sandbox
}

fn commit(sandbox: &Sandbox, files: &[(&str, &str)], message: &str) {
    for (path, text) in files {
        sandbox.write(path, text);
    }
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-qm", message]);
}

fn said(phase: &str, test: &str) -> String {
    format!("test: {phase}\n\nTDD-Phase: {phase}\nTDD-Test: {test}\n")
}

/// The exit code, and each commit's claim and finding.
fn audit(sandbox: &Sandbox, arguments: &[&str]) -> (Option<i32>, Vec<String>) {
    audit_by(sandbox.command(env!("CARGO_BIN_EXE_tdd-cli")), arguments)
}

fn audit_by(mut command: Command, arguments: &[&str]) -> (Option<i32>, Vec<String>) {
    let output = command.args(["audit", "--format", "json"]).args(arguments).output().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let shown = |commit: &Value| {
        let text = |key: &str| commit[key].as_str().unwrap_or("-").to_owned();
        format!("{} {} {}", text("claimed"), text("finding"), text("rule"))
    };
    (output.status.code(), document["commits"].as_array().unwrap().iter().map(shown).collect())
}

const ADDS: &str = "tests/add.rs::adds";

/// A project with the commits of one honest cycle.
fn one_cycle() -> Sandbox {
    let sandbox = project();
    commit(&sandbox, &[("tests/add.rs", TEST)], &said("red", ADDS));
    commit(&sandbox, &[("src/lib.rs", CODE)], &said("green", ADDS));
    commit(&sandbox, &[("src/lib.rs", &CODE.replace("a + b", "b + a"))], &said("refactor", ADDS));
    sandbox
}

#[test]
fn an_honest_cycle_holds_and_a_lie_in_it_is_found() {
    let sandbox = one_cycle();
    let honest = ["- nothing -", "red holds -", "green holds -", "refactor holds -"];
    assert_eq!(audit(&sandbox, &[]), (Some(0), honest.map(str::to_owned).to_vec()));

    commit(&sandbox, &[("src/lib.rs", &CODE.replace("a + b", "a - b"))], &said("refactor", ADDS));
    commit(&sandbox, &[("src/lib.rs", CODE)], "fix: GSD\n\nGSD-Phase: green\n");
    commit(&sandbox, &[("tests/add.rs", &TEST.replace("assert_eq!(kata::add(1, 2), 3);", ""))], "chore: tidy");
    let (code, found) = audit(&sandbox, &["HEAD~3.."]);
    assert_eq!(code, Some(1));
    assert_eq!(found, ["refactor broken others-kept", "green holds -", "- broken test-tampering"]);
}

#[test]
fn without_the_tools_of_the_project_nothing_is_called_broken() {
    let sandbox = one_cycle();
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_tdd-cli"));
    command.env("PATH", "/nowhere");
    let (code, found) = audit_by(command, &[]);
    assert_eq!(code, Some(3));
    assert_eq!(found, ["- nothing -", "red unknown -", "green unknown -", "refactor unknown -"]);
}

#[test]
fn a_red_that_is_none_and_a_green_whose_test_never_failed_are_found() {
    let sandbox = project();
    commit(&sandbox, &[("src/lib.rs", CODE)], "feat: code first");
    commit(&sandbox, &[("tests/add.rs", TEST)], &said("red", ADDS));
    commit(&sandbox, &[("src/lib.rs", &CODE.replace("a + b", "b + a"))], &said("green", ADDS));
    let (code, found) = audit(&sandbox, &["HEAD~2..HEAD", "--jobs", "1"]);
    assert_eq!(code, Some(1));
    assert_eq!(found, ["red broken red-first", "green broken red-first"]);
}

#[test]
fn an_unknown_range_is_refused() {
    let sandbox = project();
    let output = sandbox.command(env!("CARGO_BIN_EXE_tdd-cli")).args(["audit", "nowhere..HEAD"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("there is no commit `nowhere`"));
}

const HELPER: &str = "use kata::add;\n\nfn check(sum: i32) {\n    assert_eq!(add(1, 2), sum);\n}\n\n#[test]\nfn adds() {\n    check(3);\n}\n";

#[test]
fn a_commit_that_empties_an_assertion_helper_is_broken_in_every_door() {
    let sandbox = project();
    commit(&sandbox, &[("tests/add.rs", HELPER), ("src/lib.rs", CODE)], "feat: add");
    let emptied = HELPER.replace("    assert_eq!(add(1, 2), sum);\n", "    let _ = (add(1, 2), sum);\n");
    commit(&sandbox, &[("tests/add.rs", &emptied)], "chore: tidy up");
    assert_eq!(audit(&sandbox, &["HEAD~1.."]), (Some(1), vec!["- broken test-tampering".to_owned()]));
    for arguments in [&["detect-antipattern", "--at", "HEAD"][..], &["check", "--at", "HEAD"], &["prove", "HEAD~1.."]] {
        let output = sandbox.command(env!("CARGO_BIN_EXE_tdd-cli")).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {}", String::from_utf8_lossy(&output.stdout));
    }
}

#[test]
fn commits_without_a_phase_are_unclaimed_until_somebody_infers_it() {
    let sandbox = project();
    commit(&sandbox, &[("tests/add.rs", TEST), ("src/lib.rs", CODE)], "feat: add");
    let sub = "\n/// Less.\npub fn sub(a: i32, b: i32) -> i32 {\n    a - b\n}\n";
    commit(&sandbox, &[("src/lib.rs", &format!("{CODE}{sub}"))], "feat: code that nobody asked for");
    commit(&sandbox, &[("README.md", "Adds.\n")], "docs: what it does");
    let unclaimed = ["- unclaimed -", "- unclaimed -", "- nothing -"].map(str::to_owned).to_vec();
    assert_eq!(audit(&sandbox, &["HEAD~3.."]), (Some(0), unclaimed));
    let output = sandbox.command(env!("CARGO_BIN_EXE_tdd-cli")).arg("audit").output().unwrap();
    let summary = String::from_utf8(output.stdout).unwrap();
    assert_eq!(summary.lines().last(), Some("4 commits: 0 hold, 0 broken, 2 unclaimed, 2 without code or tests"));
    let inferred = ["- holds -", "- broken pre-test-code", "- nothing -"].map(str::to_owned).to_vec();
    assert_eq!(audit(&sandbox, &["HEAD~3..", "--infer"]), (Some(1), inferred));
}
