//! Tests that a step's log holds every attempt of every role and its outcome.

use serde_json::{Value, json};
use tdd_fixtures::server::{Cast, Reply};

use crate::kata::{CODE_FILE, TEST_FILE, code, code_with, tests};
use crate::stage::Stage;

fn log(stage: &Stage, name: &str) -> Value {
    serde_json::from_str(&stage.sandbox.read(&format!(".tdd/logs/{name}.json"))).unwrap()
}

/// One line per attempt: role, phase, outcome and refusing rule.
fn attempts(log: &Value) -> Vec<String> {
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let line = |attempt: &Value| {
        let line = [&attempt["role"], &attempt["phase"], &attempt["outcome"], &attempt["refusal"]["rule"]].map(word);
        line.join(" ").trim_end().to_owned()
    };
    log["attempts"].as_array().unwrap().iter().map(line).collect()
}

fn count(stage: &Stage, name: &str) -> usize {
    stage.events().iter().filter(|event| event["type"] == name).count()
}

/// A tester with one test, and an implementor whose answers fail.
fn in_vain(answers: std::ops::Range<usize>) -> Cast {
    let cast = Cast::new().writes("tester", TEST_FILE, &tests(1));
    answers.fold(cast, |cast, n| cast.writes("implementor", CODE_FILE, &code_with(&n.to_string())))
}

const UNDONE: &str = "implementor green undone target-passes";

#[test]
fn all_attempts_and_the_rethink_are_in_the_log() {
    let cast = in_vain(1..6).edits("rethink", &[], &json!({"reason": "the kata says so"}));
    let stage = Stage::new(cast);
    assert_eq!(stage.run(&["run", "--steps", "3"]).code, Some(4));
    let rethink = "tester rethink-test stays";
    let expected = [UNDONE, UNDONE, UNDONE, rethink, UNDONE, UNDONE];
    let (implementors, testers) = (log(&stage, "step-2-implementor"), log(&stage, "step-2-tester"));
    assert_eq!(attempts(&implementors), expected);
    assert_eq!(attempts(&testers), expected, "whoever took part has the whole of it");
    assert_eq!((&implementors["role"], &implementors["outcome"]), (&json!("implementor"), &json!("stopped")));
    let tried = implementors["attempts"].as_array().unwrap();
    for (at, attempt) in [(0, 1), (1, 2), (2, 3), (4, 4), (5, 5)] {
        assert_eq!(tried[at]["number"], attempt);
        let left = format!("left: {attempt}");
        assert!(tried[at]["refusal"]["reason"].as_str().unwrap().contains(&left), "{}", tried[at]);
        assert!(tried[at]["refusal"]["next"].is_string() && tried[at]["tests"]["failing"].is_array(), "{}", tried[at]);
    }
    assert_eq!(tried[3]["reason"], "the kata says so");
    assert_eq!(tried[3]["plan"], "The smallest thing that can be done.");
    assert_eq!((count(&stage, "test_upheld"), count(&stage, "test_revised")), (1, 0));
}

#[test]
fn a_rethink_that_revises_the_test_ends_the_log_of_the_attempts_before_it() {
    let wrong = tests(2).replace("add(\"7\"), 7", "add(\"7\"), 8 + add(\"7\")");
    let said = json!({"summary": "do it", "reason": "it is wrong", "spec_source": "One number is itself."});
    let cast = Cast::new().writes("tester", TEST_FILE, &wrong);
    let body = |n: usize| code_with(&format!("{n} * text.len() as i64"));
    let cast = (1..4).fold(cast, |cast, n| cast.writes("implementor", CODE_FILE, &body(n)));
    let cast = cast.edits("rethink", &[(TEST_FILE, Some(&tests(2)))], &said).writes("implementor", CODE_FILE, &code(2));
    let stage = Stage::new(cast);
    stage.commit_first_cycle();
    assert_eq!(stage.run(&["run", "--steps", "2"]).code, Some(0));
    let of_step = log(&stage, "step-2-implementor");
    assert_eq!(attempts(&of_step), [UNDONE, UNDONE, UNDONE, "tester rethink-test kept"]);
    assert!(of_step["commit"].is_string(), "{of_step}");
    assert_eq!(attempts(&log(&stage, "step-3-implementor")), ["implementor green kept"]);
    assert_eq!((count(&stage, "test_upheld"), count(&stage, "test_revised")), (0, 1));
}

#[test]
fn what_the_gate_refuses_and_what_cannot_be_read_is_in_the_log() {
    let cast = Cast::new().says("tester", "I would rather not.").writes("tester", CODE_FILE, &code(1)).writes(
        "tester",
        TEST_FILE,
        &tests(1),
    );
    let stage = Stage::new(cast);
    assert_eq!(stage.run(&["step"]).code, Some(0));
    let expected = ["tester red refused", "tester red refused phase-scope", "tester red kept"];
    assert_eq!(attempts(&log(&stage, "step-1-tester")), expected);
}

#[test]
fn a_run_that_fails_leaves_its_log_and_the_next_one_does_not_write_over_it() {
    let refused = Reply::Status { code: 402, headers: String::new(), body: "no credit is left".to_owned() };
    let cast = in_vain(1..3).replies("implementor", refused);
    let stage = Stage::new(cast);
    assert_eq!(stage.run(&["run", "--steps", "3"]).code, Some(3));
    let before = log(&stage, "step-2-implementor");
    assert_eq!(attempts(&before), [UNDONE, UNDONE, "implementor green"]);
    stage.recast(Cast::new().writes("implementor", CODE_FILE, &code(1)));
    assert_eq!(stage.run(&["step"]).code, Some(0));
    assert_eq!(attempts(&log(&stage, "step-2-implementor")), ["implementor green kept"]);
    assert_eq!(log(&stage, "step-2-implementor.1"), before);
}
