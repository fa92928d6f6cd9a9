//! Tests complaints of the check or the compiler about a frozen test: the tester mends it, and it costs no attempt.

use serde_json::json;
use tdd_fixtures::server::Cast;

use crate::kata::{CODE_FILE, TEST_FILE, code, tests};
use crate::stage::Stage;

/// The first test with an unused import.
fn linted() -> String {
    format!("use std::fmt::Write;\n\n{}", tests(1))
}

/// A project in which one attempt must do.
fn impatient(cast: Cast) -> Stage {
    Stage::with(cast, "max_attempts_per_agent: 1")
}

#[test]
fn a_lint_inside_a_frozen_test_goes_to_the_tester_and_costs_no_attempt() {
    let cast = Cast::new()
        .writes("tester", TEST_FILE, &linted())
        .writes("implementor", CODE_FILE, &code(1))
        .writes("mend", TEST_FILE, &tests(1).replace("add(\"\"), 0", "add(\"\"), 1"))
        .writes("mend", TEST_FILE, &tests(1))
        .writes("implementor", CODE_FILE, &code(1));
    let stage = impatient(cast);
    stage.check(
        &["run", "--steps", "3"],
        "
        [first test]
        2 green
          undone check-passes (free)
        2 rethink-test
          refused tests-frozen
          stays as it is
          test: do it
        [green and refactored in three steps]
    ",
    );
    // Only the imports changed; the test itself stays.
    let asked = stage.server.requests().into_iter().find(|request| request.part() == "mend").unwrap();
    assert!(asked.message(1).contains("unused import: `std::fmt::Write`"), "{}", asked.message(1));
    let mended = stage.sandbox.git(&["log", "-1", "--format=%B", "HEAD~1"]);
    assert!(mended.contains("TDD-Phase: rethink-test") && mended.contains("TDD-Mode: mend"), "{mended}");
    let audit = stage.run(&["audit"]);
    assert_eq!(audit.code, Some(0), "{}", audit.stdout);
}

#[test]
fn a_compile_error_that_only_shows_when_the_code_is_there_goes_to_the_tester_too() {
    let moved = |way: &str| {
        tests(1).replace(
            "    assert_eq!(add(\"\"), 0);",
            &format!("    let text = String::new();\n    let other = text{way};\n    assert_eq!(add(&text), 0);\n    drop(other);"),
        )
    };
    let cast = Cast::new()
        .writes("tester", TEST_FILE, &moved(""))
        .writes("implementor", CODE_FILE, &code(1))
        .writes("mend", TEST_FILE, &moved(".clone()"))
        .writes("implementor", CODE_FILE, &code(1));
    impatient(cast).check(
        &["run", "--steps", "2"],
        "
        [first test]
        2 green
          undone target-passes unrelated-compile-error (free)
        2 rethink-test
          revised
          test: do it
        3 green
          feat: do it
        end: 2 steps done
        exit 0
    ",
    );
}

#[test]
fn a_tester_who_mends_nothing_has_had_its_chance() {
    let cast = Cast::new()
        .writes("tester", TEST_FILE, &linted())
        .writes("implementor", CODE_FILE, &code(1))
        .edits("mend", &[], &json!({"reason": "it is fine"}))
        .writes("implementor", CODE_FILE, &code(1));
    let stage = impatient(cast);
    let told = stage.story_of(&["run", "--steps", "2"]);
    assert!(told.contains("2 rethink-test\n  stays as it is\n2 green\n  undone check-passes\n"), "{told}");
    assert!(told.ends_with("exit 4\n"), "{told}");
}

#[test]
fn a_lint_in_production_is_the_implementors_own() {
    let sloppy = code(1).replace("//! Adds.\n", "//! Adds.\n\nuse std::fmt::Write;\n");
    let cast = Cast::new().writes("tester", TEST_FILE, &linted()).writes("implementor", CODE_FILE, &sloppy).edits(
        "mend",
        &[],
        &json!({"reason": "nobody asks me"}),
    );
    let stage = impatient(cast);
    let told = stage.story_of(&["run", "--steps", "2"]);
    assert!(told.contains("2 green\n  undone check-passes\n  blocked"), "{told}");
}
