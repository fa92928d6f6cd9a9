//! Tests `detect-antipattern` with real cargo and git.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::process::Output;

use serde_json::Value;
use tdd_core::rule::{Rule, Severity};
use tdd_fixtures::{Sandbox, corpus};

const TEST: &str = "use squares::square;\n\n#[test]\nfn four() {\n    assert_eq!(square(4), 16);\n}\n";
const CODE: &str = "//! Squares.\n\n/// The square.\npub fn square(n: u32) -> u32 {\n    n * n\n}\n";

/// A project with these files, committed.
fn project(files: &[(&str, &str)]) -> Sandbox {
    let sandbox = Sandbox::new();
    run(&sandbox, &["init", "--name", "squares"]);
    change(&sandbox, files);
    if !files.is_empty() {
        sandbox.commit("feat: begin");
    }
    sandbox
}

fn change(sandbox: &Sandbox, files: &[(&str, &str)]) {
    for (path, text) in files {
        sandbox.write(path, text);
    }
}

fn run(sandbox: &Sandbox, arguments: &[&str]) -> Output {
    sandbox.command(env!("CARGO_BIN_EXE_tdd-cli")).args(arguments).output().unwrap()
}

/// The exit code, and each finding as `rule file:line`.
fn detect(sandbox: &Sandbox, arguments: &[&str]) -> (i32, Vec<String>) {
    let output = run(sandbox, &[&["detect-antipattern", "--format", "json"], arguments].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{arguments:?}: {said}"));
    let findings = document["findings"].as_array().unwrap_or_else(|| panic!("{arguments:?}: {said}"));
    let blocks = findings.iter().filter(|finding| finding["severity"] == "block").count();
    assert_eq!(document["blocking"], blocks);
    let show = |finding: &Value| {
        let text = |key: &str| finding[key].as_str().unwrap().to_owned();
        assert!(!text("why").is_empty() && !text("what_to_do").is_empty());
        format!("{} {}:{}", text("rule"), text("file"), finding["line"])
    };
    (output.status.code().unwrap(), findings.iter().map(show).collect())
}

fn check(sandbox: &Sandbox, arguments: &[&str], expected: &[&str]) {
    let (code, found) = detect(sandbox, arguments);
    assert_eq!(found, expected);
    let blocks = Rule::ALL.iter().filter(|rule| rule.severity() == Severity::Block);
    let blocks = blocks.map(|rule| rule.name()).any(|rule| found.iter().any(|it| it.starts_with(rule)));
    assert_eq!(code, i32::from(blocks));
}

#[test]
fn production_without_a_test_blocks() {
    let sandbox = project(&[]);
    change(&sandbox, &[("src/lib.rs", CODE)]);
    check(&sandbox, &[], &["pre-test-code src/lib.rs:4", "yagni src/lib.rs:4"]);
}

#[test]
fn production_that_comes_with_its_test_is_claimed_by_it() {
    let sandbox = project(&[]);
    change(&sandbox, &[("src/lib.rs", CODE), ("tests/a.rs", TEST)]);
    check(&sandbox, &[], &[]);
    sandbox.commit("feat: squares");
    check(&sandbox, &[], &[]);
    check(&sandbox, &["--at", "HEAD"], &[]);
}

#[test]
fn a_red_that_is_committed_claims_the_code_after_it_even_if_the_ledger_never_saw_it() {
    let sandbox = project(&[("tests/a.rs", TEST)]);
    change(&sandbox, &[("src/lib.rs", CODE)]);
    check(&sandbox, &[], &[]);
    let wrong = CODE.replace("n * n", "n + n");
    let sandbox = project(&[("tests/a.rs", TEST), ("src/lib.rs", &wrong)]);
    change(&sandbox, &[("src/lib.rs", CODE)]);
    check(&sandbox, &[], &[]);
}

#[test]
fn a_refactor_needs_no_red_where_a_test_leads_to_it_and_more_code_does() {
    let sandbox = project(&[("tests/a.rs", TEST), ("src/lib.rs", CODE)]);
    change(&sandbox, &[("src/lib.rs", &CODE.replace("n * n", "n.pow(2)"))]);
    check(&sandbox, &[], &[]);
    sandbox.commit("refactor: pow");
    check(&sandbox, &[], &[]);
    change(&sandbox, &[("src/lib.rs", &format!("{CODE}\n/// The cube.\npub fn cube(n: u32) -> u32 {{\n    n\n}}\n"))]);
    sandbox.commit("refactor: more");
    check(&sandbox, &[], &["pre-test-code src/lib.rs:9", "yagni src/lib.rs:9"]);
}

#[test]
fn a_test_that_lost_something_blocks() {
    for (after, expected) in [
        (TEST.replace("16", "17"), &["test-tampering tests/a.rs:4"][..]),
        (TEST.replace("#[test]", "#[test]\n#[ignore]"), &["test-tampering tests/a.rs:5"]),
        (
            TEST.replace("assert_eq!(square(4), 16);", "square(4);"),
            &["test-tampering tests/a.rs:4", "empty-test tests/a.rs:4"],
        ),
        (String::new(), &["test-tampering tests/a.rs:4"]),
        (TEST.replace("16);", "16);\n    assert_eq!(square(0), 0);"), &[]),
        (format!("// A comment.\n{TEST}"), &[]),
    ] {
        let sandbox = project(&[("tests/a.rs", TEST), ("src/lib.rs", CODE)]);
        change(&sandbox, &[("tests/a.rs", &after)]);
        check(&sandbox, &[], expected);
    }
}

#[test]
fn a_test_after_the_fact_is_told_from_a_red() {
    let sandbox = project(&[("tests/a.rs", TEST), ("src/lib.rs", CODE)]);
    let more = |expected: &str| format!("{TEST}\n#[test]\nfn three() {{\n    assert_eq!(square(3), {expected});\n}}\n");
    change(&sandbox, &[("tests/a.rs", &more("9"))]);
    check(&sandbox, &[], &["test-after-the-fact tests/a.rs:9"]);
    change(&sandbox, &[("tests/a.rs", &more("10"))]);
    check(&sandbox, &[], &[]);
    // The changed assertion makes it a different test, which has never been seen to fail.
    change(&sandbox, &[("tests/a.rs", &more("9"))]);
    check(&sandbox, &[], &["test-after-the-fact tests/a.rs:9"]);
    change(&sandbox, &[("src/lib.rs", &CODE.replace("n * n", "n"))]);
    run(&sandbox, &["auto-test"]);
    change(&sandbox, &[("src/lib.rs", CODE)]);
    check(&sandbox, &[], &[]);
}

#[test]
fn an_answer_made_for_the_test_is_told() {
    let sandbox = project(&[("tests/a.rs", TEST)]);
    let fake = CODE.replace("n * n", "match n {\n        4 => 16,\n        _ => n,\n    }");
    change(&sandbox, &[("src/lib.rs", &fake)]);
    let (code, found) = detect(&sandbox, &[]);
    // Where coverage is available, the uncovered branch is reported too.
    let found: Vec<String> = found.into_iter().filter(|it| it != "yagni src/lib.rs:7").collect();
    assert_eq!((code, found), (0, vec!["hard-coded-value src/lib.rs:6".to_owned()]));
}

#[test]
fn production_that_asks_whether_it_is_under_test_blocks_in_a_change_and_in_a_file() {
    let sensing = CODE.replace("n * n", "if cfg!(test) { 16 } else { n * n }");
    let sandbox = project(&[("tests/a.rs", TEST)]);
    change(&sandbox, &[("src/lib.rs", &sensing)]);
    check(&sandbox, &[], &["test-sensing src/lib.rs:5"]);
    check(&sandbox, &["src/lib.rs"], &["test-sensing src/lib.rs:5"]);
    check(&sandbox, &["tests/a.rs"], &[]);
}

const SMELLY: &str = "use squares::{cube, root, square};\n\nstruct MockA;\nstruct FakeB;\n\
impl MockA {\n    fn new() -> Self {\n        MockA\n    }\n}\n\n\
#[test]\nfn empty() {\n    let _ = square(2);\n}\n\n\
#[test]\nfn mocks() {\n    let made = (MockA::new(), MockA::new(), FakeB, &FakeB);\n    assert_eq!(square(2), 4);\n    drop(made);\n}\n\n\
#[test]\nfn broad() {\n    assert_eq!(square(2), 4);\n    assert_eq!(cube(2), 8);\n    assert_eq!(root(4), 2);\n}\n";

#[test]
fn files_are_looked_at_as_they_are() {
    let more = format!("{CODE}pub fn cube(n: u32) -> u32 {{\n    n\n}}\npub fn root(n: u32) -> u32 {{\n    n\n}}\n");
    let sandbox = project(&[("src/lib.rs", &more), ("tests/smelly.rs", SMELLY)]);
    let human = run(&sandbox, &["detect-antipattern", "tests/smelly.rs"]);
    let json = run(&sandbox, &["detect-antipattern", "tests/smelly.rs", "--format", "json"]);
    assert_eq!((human.status.code(), json.status.code()), (Some(1), Some(1)));
    let text = |output: Output| String::from_utf8(output.stdout).unwrap();
    insta::assert_snapshot!([text(human), text(json)].join("\n----\n"));
    let unlooked = "not checked, because these rules need a change: pre-test-code, test-tampering, yagni, \
                    test-after-the-fact, hard-coded-value (name no file to check the current change)";
    let said = text(run(&sandbox, &["detect-antipattern", "src/lib.rs"]));
    assert_eq!(said, format!("✓ no anti-pattern found\n{unlooked}\n"));
    let of_change = text(run(&sandbox, &["detect-antipattern", "--format", "json"]));
    assert!(of_change.contains("\"not_looked_at\": []"), "{of_change}");
    check(
        &sandbox,
        &["-C", "tests", "smelly.rs"],
        &["empty-test tests/smelly.rs:12", "over-mocking tests/smelly.rs:17", "broad-assertions tests/smelly.rs:24"],
    );
}

#[test]
fn what_cannot_be_looked_at_is_refused() {
    let sandbox = project(&[("src/lib.rs", CODE), ("src/broken.rs", "fn {")]);
    for (arguments, said) in [
        (&["missing.rs"][..], "`missing.rs` is not a source file of this project"),
        (&["Cargo.toml"], "`Cargo.toml` is not a source file of this project"),
        (&["src/broken.rs"], "`src/broken.rs` does not parse"),
        (&["--at", "nonsense"], "there is no commit `nonsense`"),
        (&["src/lib.rs", "--at", "HEAD"], "cannot be used with"),
    ] {
        let output = run(&sandbox, &[&["detect-antipattern"], arguments].concat());
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
        assert!(stderr.contains(said), "{stderr}");
    }
}

#[test]
fn no_honest_work_of_the_corpus_is_blocked() {
    let mut blocked = Vec::new();
    for name in corpus::names("honest") {
        let case = format!("honest/{name}");
        let sandbox = Sandbox::new();
        sandbox.lay_base(&case);
        sandbox.git(&["init", "-q"]);
        sandbox.commit("feat: begin");
        sandbox.lay_attempt(&case);
        if corpus::expected(&case)["gate"] == "refactor" {
            sandbox.commit("refactor: change");
        }
        let (code, found) = detect(&sandbox, &[]);
        if code != 0 {
            blocked.push(format!("{name}: {found:?}"));
        }
    }
    assert_eq!(blocked, [""; 0]);
}
