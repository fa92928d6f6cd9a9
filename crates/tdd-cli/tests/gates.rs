//! Tests the three gates with real cargo and git.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use serde_json::Value;
use tdd_core::report::Cause;
use tdd_core::rule::Rule;
use tdd_fixtures::Sandbox;
use tdd_fixtures::bowling::{self, RIGHT, TARGET, TEST};
use tdd_fixtures::machine::Machine;

const WRONG: &str = "//! Bowling.\n\n/// The score.\npub fn score(_: &[u32]) -> u32 {\n    1\n}\n";

fn project() -> Sandbox {
    bowling::project(env!("CARGO_BIN_EXE_tdd-cli"))
}

fn tested_project() -> Sandbox {
    bowling::tested_project(env!("CARGO_BIN_EXE_tdd-cli"))
}

/// Runs a gate and returns its exit code and JSON document.
fn gate(sandbox: &Sandbox, arguments: &[&str]) -> (i32, Value) {
    Machine::new(sandbox, env!("CARGO_BIN_EXE_tdd-cli")).document(arguments)
}

fn schema() -> Value {
    serde_json::from_str(include_str!("../../../schemas/verdict.json")).unwrap()
}

/// Asserts that a document has the schema's required keys and only its listed words.
fn assert_described(document: &Value) {
    let schema = schema();
    let verdict = &schema["$defs"]["verdict"];
    let all = std::iter::once(document).chain(document["verdicts"].as_array().unwrap());
    for document in all {
        for key in verdict["required"].as_array().unwrap() {
            assert!(document.get(key.as_str().unwrap()).is_some(), "{key} is missing in {document}");
        }
        for key in ["verdict", "rule", "cause"] {
            let words = verdict["properties"][key]["enum"].as_array().unwrap();
            assert!(words.contains(&document[key]), "{} is not a {key} of the schema", document[key]);
        }
        assert_eq!(document["verdict"] == "refused", document["next"].is_string(), "{document}");
    }
}

#[test]
fn the_schema_lists_every_rule_and_every_cause() {
    let listed = |key: &str| schema()["$defs"]["verdict"]["properties"][key]["enum"].clone();
    let with_null = |names: Vec<&str>| -> Value {
        std::iter::once(Value::Null).chain(names.into_iter().map(Value::from)).collect()
    };
    assert_eq!(listed("rule"), with_null(Rule::ALL.map(Rule::name).to_vec()));
    assert_eq!(listed("cause"), with_null(Cause::ALL.map(Cause::name).to_vec()));
}

#[test]
fn the_guide_to_the_gates_lists_every_rule() {
    let guide = include_str!("../../../docs/gates.md");
    let missing: Vec<_> =
        Rule::ALL.map(Rule::name).into_iter().filter(|name| !guide.contains(&format!("`{name}`"))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// The exit code, verdict, rule and cause on one line.
fn answer(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let (code, verdict) = gate(sandbox, arguments);
    assert_described(&verdict);
    let text = |key: &str| verdict[key].as_str().unwrap_or("-").to_owned();
    format!("{code} {} {} {}", text("verdict"), text("rule"), text("cause"))
}

#[test]
fn a_test_for_what_is_not_there_is_red_and_its_implementation_green() {
    let sandbox = project();
    sandbox.write("tests/game.rs", TEST);
    assert_eq!(answer(&sandbox, &["validate-red", "tests/game.rs"]), "0 holds - missing-symbol");
    assert_eq!(answer(&sandbox, &["validate-red", TARGET]), "0 holds - missing-symbol");
    sandbox.commit("test: a gutter game");
    assert_eq!(answer(&sandbox, &["validate-red", TARGET]), "0 holds - missing-symbol");

    sandbox.write("src/lib.rs", WRONG);
    assert_eq!(answer(&sandbox, &["validate-green", TARGET]), "1 refused target-passes assertion");
    sandbox.write("src/lib.rs", RIGHT);
    assert_eq!(answer(&sandbox, &["validate-green", TARGET]), "0 holds - -");
    assert_eq!(answer(&sandbox, &["validate-green", "tests/game.rs"]), "0 holds - -");
    sandbox.commit("feat: score");
    assert_eq!(answer(&sandbox, &["validate-green", TARGET]), "0 holds - -");
    assert_eq!(answer(&sandbox, &["validate-green", "--at", "HEAD", TARGET]), "0 holds - -");
    assert_eq!(answer(&sandbox, &["validate-red", "--at", "HEAD^", TARGET]), "0 holds - missing-symbol");
}

#[test]
fn a_test_that_does_not_import_what_it_uses_is_no_red() {
    let sandbox = project();
    sandbox.write("tests/game.rs", "#[test]\nfn a_gutter_game_scores_zero() {\n    assert_eq!(score(\"\"), 0);\n}\n");
    let answered = answer(&sandbox, &["validate-red", "tests/game.rs"]);
    assert_eq!(answered, "1 refused red-first unrelated-compile-error");
}

#[test]
fn tests_and_implementation_in_one_change_are_green_if_the_tests_are_red_without_it() {
    let sandbox = project();
    sandbox.write("tests/game.rs", TEST);
    sandbox.write("src/lib.rs", RIGHT);
    assert_eq!(answer(&sandbox, &["validate-green", TARGET]), "0 holds - -");
    assert_eq!(answer(&sandbox, &["validate-red", TARGET]), "1 refused phase-scope -");
}

#[test]
fn inline_tests_are_told_from_the_production_code_around_them() {
    let inline = |body: &str| {
        format!(
            "//! Bowling.\n\n/// Twice.\npub fn twice(n: u32) -> u32 {{\n    {body}\n}}\n\n#[cfg(test)]\nmod tests {{\n    use super::*;\n\n    #[test]\n    fn doubles() {{\n        assert_eq!(twice(4), 8);\n    }}\n}}\n"
        )
    };
    let sandbox = project();
    sandbox.write("src/lib.rs", "//! Bowling.\n\n/// Twice.\npub fn twice(n: u32) -> u32 {\n    n\n}\n");
    sandbox.commit("feat: not there yet");
    sandbox.write("src/lib.rs", inline("n"));
    assert_eq!(answer(&sandbox, &["validate-red", "src/lib.rs::tests::doubles"]), "0 holds - assertion");
    sandbox.commit("test: doubles");
    sandbox.write("src/lib.rs", inline("n * 2"));
    assert_eq!(answer(&sandbox, &["validate-green", "src/lib.rs::tests::doubles"]), "0 holds - -");
    sandbox.write("src/lib.rs", inline("n").replace("twice(4), 8", "twice(4), 4"));
    assert_eq!(answer(&sandbox, &["validate-green", "src/lib.rs::tests::doubles"]), "1 refused tests-frozen -");
}

#[test]
fn a_red_that_is_none_says_why() {
    let sandbox = project();
    sandbox.write("src/lib.rs", RIGHT);
    sandbox.commit("feat: score");
    let red = |test: &str| {
        sandbox.write("tests/game.rs", test);
        answer(&sandbox, &["validate-red", TARGET])
    };
    assert_eq!(red(TEST), "1 refused red-first unexpected-green");
    assert_eq!(red(&TEST.replace(" 0);", " 0;")), "1 refused red-first syntax-error");
    assert_eq!(red(&TEST.replace("fn a", "#[ignore]\nfn a").replace(" 0);", " 1);")), "1 refused red-first skipped");
    assert_eq!(
        red(&TEST.replace("assert_eq", "let x: u32 = \"a\";\n    assert_eq")),
        "1 refused red-first unrelated-compile-error"
    );
    assert_eq!(red(&TEST.replace("score(&[0; 20]), 0", "1 + 1, 3")), "1 refused test-asserts vacuous-test");
    assert_eq!(red("fn nothing() {}\n"), "1 refused red-first zero-tests");
    assert_eq!(red(&TEST.replace(" 0);", " 1);")), "0 holds - assertion");
}

#[test]
fn a_refactor_keeps_the_tests() {
    let sandbox = tested_project();
    sandbox.write("src/lib.rs", RIGHT.replace("rolls.iter().sum()", "rolls.iter().copied().sum()"));
    assert_eq!(answer(&sandbox, &["validate-refactor"]), "0 holds - -");
    sandbox.write("tests/game.rs", TEST.replace("a_gutter_game_scores_zero", "zero_for_a_gutter_game"));
    assert_eq!(answer(&sandbox, &["validate-refactor"]), "0 holds - -");
    sandbox.write("tests/game.rs", "// nothing left\n");
    assert_eq!(answer(&sandbox, &["validate-refactor"]), "1 refused tests-frozen -");
}

#[test]
fn production_that_overrides_comparison_is_disarmed_and_a_test_that_cannot_fail_is_vacuous() {
    let money = |equal: &str, value: u32| {
        format!(
            "//! Money.\n\n/// Money.\n#[derive(Debug)]\npub struct Money(pub u32);\n\nimpl PartialEq for Money {{\n    fn eq(&self, other: &Self) -> bool {{\n        {equal}\n    }}\n}}\n\n/// Makes some.\npub fn make() -> Money {{\n    Money({value})\n}}\n"
        )
    };
    let target = "tests/money.rs::makes";
    let sandbox = project();
    sandbox.write(
        "tests/money.rs",
        "use bowling::{Money, make};\n\n#[test]\nfn makes() {\n    assert_eq!(make(), Money(5));\n}\n",
    );
    sandbox.commit("test: makes");
    sandbox.write("src/lib.rs", money("let _ = other;\n        true", 1));
    let (code, verdict) = gate(&sandbox, &["validate-green", target]);
    assert_eq!((code, &verdict["rule"]), (1, &"counter-proof".into()));
    assert!(verdict["reason"].as_str().unwrap().contains("disarmed"), "{verdict}");
    sandbox.write("src/lib.rs", money("self.0 == other.0", 5));
    assert_eq!(answer(&sandbox, &["validate-green", target]), "0 holds - -");

    let sandbox = project();
    sandbox.write(
        "tests/game.rs",
        TEST.replace("assert_eq!(score(&[0; 20]), 0)", "let x = score(&[]);\n    assert_eq!(x, x)"),
    );
    sandbox.commit("test: nothing");
    sandbox.write("src/lib.rs", RIGHT);
    assert_eq!(answer(&sandbox, &["validate-green", TARGET]), "1 refused counter-proof vacuous-test");
}

#[test]
fn steering_and_lints_are_part_of_the_law() {
    let sandbox = project();
    sandbox.write("tests/game.rs", TEST);
    sandbox.commit("test: a gutter game");
    sandbox.write("src/lib.rs", RIGHT);
    let manifest = sandbox.read("Cargo.toml");
    sandbox.write("Cargo.toml", format!("{manifest}\n[profile.test]\nopt-level = 1\n"));
    assert_eq!(answer(&sandbox, &["validate-green", TARGET]), "1 refused steering-frozen -");
    sandbox.write("Cargo.toml", manifest);
    sandbox.write("src/lib.rs", RIGHT.replace("rolls.iter()", "let unused = 1;\n    rolls.iter()"));
    assert_eq!(answer(&sandbox, &["validate-green", TARGET]), "1 refused check-passes -");
}

#[test]
fn what_cannot_be_asked_is_a_usage_error() {
    let sandbox = project();
    for arguments in [
        &["validate-red", "--at", "nonsense", "tests/game.rs::x"][..],
        &["validate-green", "--base", "nonsense", "tests/game.rs::x"],
        &["validate-refactor", "tests/game.rs"],
        &["validate-red", "--format", "markdown"],
    ] {
        let output = sandbox.command(env!("CARGO_BIN_EXE_tdd-cli")).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn a_target_that_is_not_there_is_a_verdict() {
    let sandbox = project();
    sandbox.write("tests/broken.rs", "#[test]\nfn half( {\n");
    sandbox.write("tests/empty.rs", "// nothing yet\n");
    for (arguments, expected) in [
        (&["validate-red", "no such thing"][..], "1 refused red-first target-not-found"),
        (&["validate-red", "tests/nowhere.rs"], "1 refused red-first target-not-found"),
        (&["validate-green", "nope"], "1 refused target-passes target-not-found"),
        (&["validate-red", "Cargo.toml"], "1 refused red-first zero-tests"),
        (&["validate-red", "tests/empty.rs"], "1 refused red-first zero-tests"),
        (&["validate-red", "tests/broken.rs"], "1 refused red-first syntax-error"),
    ] {
        assert_eq!(answer(&sandbox, arguments), expected, "{arguments:?}");
    }
}

#[test]
fn a_test_may_be_called_by_its_name_alone_or_not_at_all() {
    let sandbox = project();
    sandbox.write("tests/game.rs", TEST);
    let name = TEST.split("fn ").nth(1).unwrap().split('(').next().unwrap();
    let by_id = answer(&sandbox, &["validate-red", &format!("tests/game.rs::{name}")]);
    assert!(by_id.starts_with("0 holds"), "{by_id}");
    assert_eq!(answer(&sandbox, &["validate-red", name]), by_id);
    assert_eq!(answer(&sandbox, &["validate-red"]), by_id);
    sandbox.write("tests/other.rs", TEST);
    let (code, verdict) = gate(&sandbox, &["validate-red", name]);
    assert_eq!((code, &verdict["cause"]), (1, &Value::from("target-not-found")));
    assert!(verdict["next"].as_str().unwrap().contains("tests/other.rs::"), "{verdict}");
}

#[test]
fn a_file_stands_for_the_tests_that_the_last_commit_brought_red() {
    let sandbox = tested_project();
    let more = "\n#[test]\nfn a_game_has_ten_frames() {\n    assert_eq!(bowling::frames(), 10);\n}\n";
    sandbox.write("tests/game.rs", format!("{TEST}{more}"));
    assert_eq!(answer(&sandbox, &["validate-red", "tests/game.rs"]), "0 holds - missing-symbol");
    sandbox.commit("test: frames");
    sandbox.write("src/lib.rs", format!("{RIGHT}\n/// How many there are.\npub fn frames() -> u32 {{\n    10\n}}\n"));
    let (code, document) = gate(&sandbox, &["validate-green", "tests/game.rs"]);
    assert_eq!((code, &document["test_id"]), (0, &Value::from("tests/game.rs::a_game_has_ten_frames")), "{document}");
    sandbox.commit("feat: frames");
    assert_eq!(answer(&sandbox, &["validate-green", "--at", "HEAD", "tests/game.rs"]), "0 holds - -");
}

#[test]
fn a_project_without_a_lock_file_has_reds_as_well() {
    let sandbox = project();
    sandbox.git(&["rm", "-q", "Cargo.lock"]);
    sandbox.commit("chore: no lock file");
    sandbox.write("tests/game.rs", TEST);
    assert_eq!(answer(&sandbox, &["validate-red", TARGET]), "0 holds - missing-symbol");
}

#[test]
fn a_path_may_start_where_the_person_stands() {
    let sandbox = project();
    sandbox.write("tests/game.rs", TEST);
    for (folder, target) in [(".", "./tests/game.rs"), ("tests", "game.rs"), ("src", "../tests/game.rs")] {
        let said = answer(&sandbox, &["-C", folder, "validate-red", target]);
        assert_eq!(said, "0 holds - missing-symbol", "{target}");
    }
    let by_name = TARGET.replace("tests/", "");
    assert_eq!(answer(&sandbox, &["-C", "tests", "validate-red", &by_name]), "0 holds - missing-symbol");
}

#[test]
fn a_lint_that_was_there_before_refuses_nothing_and_a_new_one_does() {
    let sandbox = project();
    sandbox.write("src/lib.rs", RIGHT.replace("rolls.iter()", "let old = 1;\n    rolls.iter()"));
    sandbox.write("tests/game.rs", TEST);
    sandbox.commit("feat: a lint of another time");
    sandbox.write("src/lib.rs", sandbox.read("src/lib.rs").replace("//! Bowling.", "//! Bowling.\n//!\n//! A game."));
    assert_eq!(answer(&sandbox, &["validate-refactor"]), "0 holds - -");
    sandbox.write("src/lib.rs", sandbox.read("src/lib.rs").replace("let old", "let new = 2;\n    let old"));
    let (code, verdict) = gate(&sandbox, &["validate-refactor"]);
    assert_eq!((code, &verdict["rule"]), (1, &Value::from("check-passes")));
    let reason = verdict["reason"].as_str().unwrap();
    assert!(reason.ends_with("fails: error: unused variable: `new`"), "{reason}");
    assert_eq!(verdict["next"], "fix what it complains about");
}

#[test]
fn a_file_stands_for_its_red_tests_also_where_other_commits_came_after_the_red() {
    let sandbox = project();
    sandbox.write("tests/game.rs", TEST);
    sandbox.write("src/lib.rs", RIGHT);
    sandbox.commit("feat: score");
    let older = sandbox.read("tests/game.rs");
    sandbox.write(
        "tests/game.rs",
        older + "\n#[test]\nfn a_game_has_ten_frames() {\n    assert_eq!(bowling::frames(), 10);\n}\n",
    );
    sandbox.commit("test: ten frames");
    sandbox.write("NOTES.md", "A game has ten frames.\n");
    sandbox.commit("docs: notes");
    sandbox.write("src/lib.rs", format!("{RIGHT}\n/// How many there are.\npub fn frames() -> u32 {{\n    10\n}}\n"));
    let (code, verdict) = gate(&sandbox, &["validate-green", "tests/game.rs"]);
    let tests: Vec<_> = verdict["verdicts"].as_array().unwrap().iter().map(|verdict| &verdict["test_id"]).collect();
    assert_eq!((code, tests), (0, vec![&Value::from("tests/game.rs::a_game_has_ten_frames")]), "{verdict}");
}
