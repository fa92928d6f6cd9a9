//! Tests several candidate answers per attempt.

use tdd_fixtures::server::{Cast, Request};

use crate::kata::{CODE_FILE, TEST_FILE, code, tests};
use crate::stage::Stage;

/// A project in which each role may draw three candidates.
fn three_samples(cast: Cast) -> Stage {
    let stage = Stage::new(cast);
    let config = stage.sandbox.read("tdd.yaml").replace("temperature:", "samples: 3, temperature:");
    stage.sandbox.write("tdd.yaml", config);
    stage.commit("chore: draw three candidates");
    stage
}

/// A cast whose implementor sends these files, one after the other, for the first test.
fn implementor(answers: &[&str]) -> Cast {
    let cast = Cast::new().writes("tester", TEST_FILE, &tests(1));
    answers.iter().fold(cast, |cast, code| cast.writes("implementor", CODE_FILE, code))
}

/// The implementor's requests for edits.
fn asked(stage: &Stage) -> Vec<Request> {
    let requests = stage.server.requests().into_iter();
    requests.filter(|request| request.part() == "implementor" && request.is_edit()).collect()
}

const WRONG: &str = "pub fn add(numbers: &str) -> i64 {\n    numbers.len() as i64 + 7\n}\n";
const OTHERWISE_WRONG: &str = "pub fn add(numbers: &str) -> i64 {\n    numbers.len() as i64 + 8\n}\n";

#[test]
fn the_first_candidate_that_holds_is_kept_and_costs_one_attempt() {
    let stage = three_samples(implementor(&[WRONG, OTHERWISE_WRONG, &code(1)]));
    stage.check(&["run", "--cycles", "1"], ONE_CYCLE);
    assert_eq!(stage.sandbox.read(CODE_FILE), code(1));
    let temperatures: Vec<f64> =
        asked(&stage).iter().map(|request| request.body["temperature"].as_f64().unwrap()).collect();
    assert_eq!(temperatures.len(), 3);
    assert!(temperatures[1..].iter().all(|warmer| *warmer > temperatures[0]), "{temperatures:?}");
}

const ONE_CYCLE: &str = "
    resynced at 0
    1 red
      test: do it
    2 green
      feat: do it
    3 refactor
      nothing
    end: 3 steps done
    exit 0
";

#[test]
fn an_answer_that_does_not_build_is_sent_back_with_its_error_in_the_same_attempt() {
    let misspelt = "pub fn add(numbers: &str) -> i64 {\n    numbers.lenght() as i64\n}\n";
    let stage = three_samples(implementor(&[misspelt, &code(1)]));
    stage.check(&["run", "--cycles", "1"], ONE_CYCLE);
    let asked = asked(&stage);
    assert_eq!(asked.len(), 2);
    let repair = asked[1].body["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned();
    assert!(repair.contains("Your answer does not run") && repair.contains("lenght"), "{repair}");
}

#[test]
fn a_wrong_result_is_drawn_again_without_the_failed_answer() {
    let stage = three_samples(implementor(&[WRONG, WRONG, WRONG, &code(1)]));
    assert_eq!(stage.run(&["run", "--cycles", "1"]).code, Some(0));
    let asked = asked(&stage);
    assert_eq!(asked.len(), 4);
    let messages = |request: &Request| request.body["messages"].clone();
    assert_eq!(messages(&asked[3]), messages(&asked[0]), "the failed answers are forgotten");
}

#[test]
fn a_refactorer_rests_without_a_call_if_it_is_only_needed_for_a_finding() {
    let stage = Stage::new(implementor(&[&code(1)]));
    let config = stage.sandbox.read("tdd.yaml").replace("refactorer: {", "refactorer: { when: needed,");
    stage.sandbox.write("tdd.yaml", config);
    stage.commit("chore: refactor only if there is a finding");
    stage.check(&["run", "--cycles", "1"], ONE_CYCLE);
    let asked = stage.server.requests().iter().filter(|request| request.part() == "refactorer").count();
    assert_eq!(asked, 0);
}
