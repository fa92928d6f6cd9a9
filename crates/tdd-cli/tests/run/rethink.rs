//! Tests a failing implementor: retries, the tester's rethink, and the pause for a person.

use serde_json::json;
use tdd_fixtures::server::Cast;

use crate::kata::{CODE_FILE, TEST_FILE, code, code_with, test, tests};
use crate::stage::Stage;

/// A test that no honest code can pass.
fn wrong() -> String {
    tests(1).replace("add(\"\"), 0", "add(\"\"), add(\"\") + 1")
}

/// A tester with this test, and this many failed attempts; `N` in the body is the attempt's number.
fn in_vain(test: &str, times: usize, body: &str) -> Cast {
    let cast = Cast::new().writes("tester", TEST_FILE, test);
    let tried = |n: usize| code_with(&body.replace('N', &n.to_string()));
    (1..=times).fold(cast, |cast, n| cast.writes("implementor", CODE_FILE, &tried(n)))
}

const REASON: &str = "the test contradicts the kata";

#[test]
fn an_implementor_who_never_succeeds_ends_with_a_person() {
    let cast = in_vain(&tests(1), 5, "N").edits("rethink", &[], &json!({"reason": "it is right"}));
    let stage = Stage::new(cast);
    stage.check(&["run", "--steps", "3"], "
        [first test in doubt]
          stays as it is
        2 green
          undone target-passes assertion
          undone target-passes assertion
          blocked tests/add.rs::an_empty_text_is_zero: target-passes: `tests/add.rs::an_empty_text_is_zero` fails: thread 'an_empty_text_is_zero' panicked at tests/add.rs:5:5: assertion `left == right` failed, left: 5, right: 0
          paused td-stuck: tests/add.rs::an_empty_text_is_zero
          stopped
        end: td-stuck: tests/add.rs::an_empty_text_is_zero
        exit 4
    ");
    let kept = stage.sandbox.git(&["for-each-ref", "refs/tdd/attempts", "--format=%(refname)"]);
    assert_eq!(kept.lines().count(), 5, "{kept}");
    let requests = stage.server.requests();
    let rethink = requests.iter().find(|request| request.message(0).contains("perhaps the test is wrong")).unwrap();
    let brief = rethink.message(1);
    let met = brief.split_once("With the last attempt to make it pass:").expect("what the last attempt met").1;
    assert!(met.contains("left: 3, right: 0"), "{met}");
    assert_eq!(stage.subjects().last().unwrap(), "test: do it");
    stage.check(
        &["run", "--steps", "3"],
        "
        end: td-stuck: tests/add.rs::an_empty_text_is_zero
        exit 4
    ",
    );
}

#[test]
fn who_sends_back_what_is_there_has_decided_to_leave_it() {
    let cast = in_vain(&tests(1), 3, "N")
        .edits("rethink", &[(TEST_FILE, Some(&tests(1).replace("{\n", "{ ")))], &json!({"reason": "it is right"}))
        .writes("implementor", CODE_FILE, &code(1))
        .writes("refactorer", CODE_FILE, &code(1));
    Stage::new(cast).check(
        &["run", "--steps", "3"],
        "
        [first test in doubt]
          stays as it is
        [green and refactored]
    ",
    );
}

#[test]
fn a_revised_test_is_red_again_and_then_made_green() {
    let said = json!({"summary": "do it", "reason": REASON, "spec_source": "An empty text is 0."});
    let wrong = tests(2).replace("add(\"7\"), 7", "add(\"7\"), 8 + add(\"7\")");
    let cast = in_vain(&wrong, 3, "N * text.len() as i64")
        .edits("rethink", &[(TEST_FILE, Some(&tests(2)))], &said)
        .writes("implementor", CODE_FILE, &code(2));
    let stage = Stage::new(cast);
    stage.commit_first_cycle();
    stage.check(
        &["run", "--steps", "3"],
        "
        [first test in doubt]
        [revised, then green and refactored]
    ",
    );
}

/// A test that asserts nothing useful, and code that passes it.
fn of_nothing() -> Cast {
    let nothing = "use kata::add;\n\n#[test]\nfn empty_is_zero() {\n    assert!(add(\"\") != 77);\n}\n";
    Cast::new().writes("tester", TEST_FILE, nothing).writes("implementor", CODE_FILE, &code(1))
}

#[test]
fn a_test_that_cannot_fail_goes_back_to_its_tester_at_once() {
    let said = json!({"summary": "do it", "reason": REASON, "spec_source": "An empty text is 0."});
    let mended = "use kata::add;\n\n#[test]\nfn empty_is_zero() {\n    assert_eq!(add(\"\"), 0);\n}\n";
    let cast =
        of_nothing().edits("rethink", &[(TEST_FILE, Some(mended))], &said).writes("implementor", CODE_FILE, &code(1));
    let stage = Stage::new(cast);
    stage.check(
        &["run", "--steps", "3"],
        "
        [first test cannot fail]
        [revised, then green and refactored]
    ",
    );
    let asked = stage.server.requests();
    let rethink = asked.iter().find(|request| request.part() == "rethink").unwrap();
    let told = |words: &str| (0..rethink.messages()).any(|at| rethink.message(at).contains(words));
    assert!(told("passes whatever value production returns"));
}

#[test]
fn a_test_that_cannot_fail_even_then_is_for_a_person() {
    let stays = json!({"summary": "it is right", "reason": REASON, "spec_source": "An empty text is 0."});
    let cast = of_nothing().edits("rethink", &[], &stays).writes("implementor", CODE_FILE, &code(1));
    let stage = Stage::new(cast);
    stage.check(
        &["run", "--steps", "3"],
        "
        [first test cannot fail]
          stays as it is
        2 green
          undone counter-proof vacuous-test
          blocked tests/add.rs::empty_is_zero: counter-proof: `tests/add.rs::empty_is_zero`: the test passes whatever value production returns: `add`
          paused td-stuck: tests/add.rs::empty_is_zero
          stopped
        end: td-stuck: tests/add.rs::empty_is_zero
        exit 4
    ",
    );
}

#[test]
fn a_withdrawn_test_leads_to_another_one() {
    let said = json!({"summary": "do it", "reason": REASON, "spec_source": "An empty text is 0."});
    let cast = in_vain(&wrong(), 3, "N")
        .edits("rethink", &[(TEST_FILE, None)], &said)
        .writes("tester", TEST_FILE, &tests(1))
        .writes("implementor", CODE_FILE, &code(1));
    let stage = Stage::new(cast);
    stage.check(
        &["run", "--steps", "3"],
        "
        [first test in doubt]
          withdrawn
          test: do it
        3 red
          test: do it
        4 green
          feat: do it
        end: 3 steps done
        exit 0
    ",
    );
}

#[test]
fn a_test_is_not_withdrawn_for_what_the_kata_does_not_say() {
    let claims = |source: &str| json!({"summary": "do it", "reason": REASON, "spec_source": source});
    let gone = [(TEST_FILE, None)];
    let cast = in_vain(&tests(1), 3, "N")
        .edits("rethink", &gone, &claims("the kata does not specify what to do with an empty text"))
        .edits("rethink", &gone, &claims("kata.md"))
        .writes("implementor", CODE_FILE, &code(1));
    let stage = Stage::new(cast);
    stage.check(
        &["run", "--steps", "2"],
        "
        [first test in doubt]
          refused tests-frozen
          refused tests-frozen
          stays as it is
        2 green
          feat: do it
        end: 2 steps done
        exit 0
    ",
    );
    let asked = stage.server.requests();
    let told = asked.iter().any(|request| {
        (0..request.messages()).any(|at| request.message(at).contains("the text of `spec_source` is not in the kata"))
    });
    let last = asked.iter().rfind(|request| request.part() == "rethink").unwrap();
    assert!(told, "{}", last.message(last.messages() - 1));
}

#[test]
fn older_tests_that_contradict_the_new_one_are_named_to_a_person() {
    let contradicts = tests(1) + &test("an_empty_text_is_one", "add(\"\"), 1");
    let cast = Cast::new().writes("tester", TEST_FILE, &tests(1)).writes("implementor", CODE_FILE, &code(1));
    let cast = cast.writes("tester", TEST_FILE, &contradicts);
    let cast = (1..=4).fold(cast, |cast, n| cast.writes("implementor", CODE_FILE, &code_with(&format!("{n} / {n}"))));
    let stage = Stage::new(cast.edits("rethink", &[], &json!({"reason": "the kata says so"})));
    stage.check(&["run", "--steps", "6"], "
        [first cycle]
        4 red
          test: do it
        5 green
          undone others-kept unrelated-failure
          undone others-kept unrelated-failure
          repair
        5 rethink-test
          stays as it is
        5 green
          undone others-kept unrelated-failure
          stuck
          blocked tests/add.rs::an_empty_text_is_one: older tests contradict it: others-kept: `tests/add.rs::an_empty_text_is_zero` passed before and fails now: assertion
          paused td-stuck: tests/add.rs::an_empty_text_is_one
          stopped
        end: td-stuck: tests/add.rs::an_empty_text_is_one
        exit 4
    ");
    let told = stage.run(&["run"]);
    assert!(told.stdout.contains(NAMED), "{}", told.stdout);
    let status = stage.run(&["status", "--format", "json"]);
    let status: serde_json::Value = serde_json::from_str(&status.stdout).unwrap();
    assert_eq!(status["paused"], "td-stuck: tests/add.rs::an_empty_text_is_one");
    assert!(status["next"].as_str().unwrap().starts_with(NAMED), "{status}");
}

const NAMED: &str = "it contradicts `tests/add.rs::an_empty_text_is_zero`: say in the kata which is right";
