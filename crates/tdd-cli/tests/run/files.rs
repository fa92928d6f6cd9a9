//! Tests models that answer in fenced blocks.

use tdd_fixtures::server::Cast;

use crate::kata::{CODE_FILE, TEST_FILE, arrivals, code, tests};
use crate::stage::Stage;

/// An answer with one file in a block.
fn block(path: &str, code: &str) -> String {
    format!("summary: do it\n\n{path}\n```rust\n{code}```\n")
}

/// Only the test of this cycle, without the earlier ones.
fn only_test(cycle: usize) -> String {
    let (all, former) = (tests(cycle), tests(cycle - 1));
    format!("use kata::add;\n{}", all.strip_prefix(&former).unwrap())
}

#[test]
fn a_model_that_breaks_json_twice_is_asked_for_fenced_files_from_then_on() {
    let cast = Cast::new()
        .says("tester", "I would test the empty text first.")
        .says("tester", "{\"edits\": [{\"path\": \"tests/add.rs\", \"content\": 'x'}]}")
        .says("tester", &block(TEST_FILE, &tests(1)))
        .writes("implementor", CODE_FILE, &code(1))
        .says("tester", &block(TEST_FILE, &only_test(2)))
        .writes("implementor", CODE_FILE, &code(2));
    let stage = Stage::new(cast);
    stage.check(&["run", "--cycles", "1"], FIRST_CYCLE);
    // The next run remembers the format.
    assert_eq!(stage.run(&["run", "--cycles", "1"]).code, Some(0));
    assert_eq!(stage.sandbox.read(TEST_FILE), tests(2));
    let requests = stage.server.requests();
    let asked = |part: &str| -> Vec<bool> {
        let edits = requests.iter().filter(|request| request.part() == part && request.is_edit());
        edits.map(tdd_fixtures::server::Request::is_files).collect()
    };
    assert_eq!(asked("tester"), [false, false, true, true]);
    assert_eq!(asked("implementor"), [false, false]);
    let log = stage.sandbox.read(".tdd/logs/step-4-tester.json");
    assert!(log.contains("was taken as an addition; kept: fn `an_empty_text_is_zero`"), "{log}");
}

const FIRST_CYCLE: &str = "
    resynced at 0
    1 red
      undone the answer could not be used: the answer has no JSON object; send one JSON object with `edits`, and nothing else
      test: do it
    [green and refactored]
";

#[test]
fn a_tester_who_sends_the_test_file_anew_without_older_tests_adds_to_them() {
    let cast = Cast::new()
        .writes("tester", TEST_FILE, &tests(1))
        .writes("implementor", CODE_FILE, &code(1))
        .writes("tester", TEST_FILE, &only_test(2))
        .writes("implementor", CODE_FILE, &code(2));
    let stage = Stage::new(cast);
    assert_eq!(stage.run(&["run", "--cycles", "2"]).code, Some(0));
    assert_eq!(stage.sandbox.read(TEST_FILE), tests(2));
}

#[test]
fn a_project_may_ask_for_fenced_files_in_its_configuration() {
    let cast = Cast::new()
        .says("tester", &block(TEST_FILE, &tests(1)))
        .says("implementor", &block(&format!("{CODE_FILE}#add"), &code(1)))
        .says("refactorer", "summary: nothing worth it\n");
    let stage = in_files(cast, "");
    assert_eq!(stage.run(&["run", "--cycles", "1"]).code, Some(0));
    let scaffolded = code(1).replace("Adds.", "The `kata` library.");
    assert_eq!((stage.sandbox.read(TEST_FILE), stage.sandbox.read(CODE_FILE)), (tests(1), scaffolded));
    let forms: Vec<String> = stage.server.requests().iter().map(|request| request.form().to_owned()).collect();
    assert!(forms.iter().all(|form| form == "text"), "{forms:?}");
}

/// A project whose roles answer in fenced files, with more settings of the refactorer.
fn in_files(cast: Cast, refactorer: &str) -> Stage {
    let stage = Stage::new(cast);
    let config = stage.sandbox.read("tdd.yaml").replace(", temperature", ", protocol: files, temperature");
    stage.sandbox.write("tdd.yaml", config.replace("refactorer: {", &format!("refactorer: {{ {refactorer}")));
    stage.commit("chore: ask for files");
    stage
}

/// The parts that were asked, in order.
fn asked(stage: &Stage) -> Vec<&'static str> {
    stage.server.requests().iter().map(tdd_fixtures::server::Request::part).collect()
}

#[test]
fn a_kata_whose_tests_come_in_one_answer_is_done_after_two_calls() {
    let cast = Cast::new()
        .says("tester", &block(TEST_FILE, &tests(4)))
        .says("implementor", &block(&format!("{CODE_FILE}#add"), &code(4)));
    let stage = in_files(cast, "when: needed,");
    let pinned = arrivals(2..=4, |name| format!("test: pin {name}"));
    stage.check(&["run", "--until-done"], &format!("[first cycle]\n{pinned}7 red\n[kata is done]\n"));
    assert_eq!(asked(&stage), ["tester", "implementor"]);
    assert_eq!(stage.sandbox.read(TEST_FILE), tests(4));
    let audit = stage.run(&["audit"]);
    assert!(audit.stdout.contains("5 hold, 0 broken"), "{}", audit.stdout);
}

#[test]
fn a_listed_test_that_fails_with_values_that_the_kata_does_not_give_is_not_used() {
    let wrong = crate::kata::test("three_and_four_are_eight", r#"add("3,4"), 8"#);
    let cast = Cast::new()
        .says("tester", &block(TEST_FILE, &(tests(3) + &wrong)))
        .says("implementor", &block(&format!("{CODE_FILE}#add"), &code(4)))
        .says("tester", &block(TEST_FILE, &only_test(4)));
    let stage = in_files(cast, "when: needed,");
    let told = stage.run(&["run", "--until-done"]);
    assert_eq!((told.code, asked(&stage)), (Some(0), vec!["tester", "implementor", "tester"]), "{}", told.stdout);
    assert_eq!(stage.sandbox.read(TEST_FILE), tests(4));
}

#[test]
fn a_model_that_answers_in_files_is_asked_in_few_words() {
    let cast = Cast::new()
        .says("tester", &block(TEST_FILE, &tests(1)))
        .says("implementor", &block(&format!("{CODE_FILE}#add"), &code(1)));
    let stage = in_files(cast, "when: needed,");
    assert_eq!(stage.run(&["run", "--cycles", "1"]).code, Some(0));
    for request in stage.server.requests() {
        let bytes: usize = request.body["messages"].as_array().unwrap().iter().map(|it| it.to_string().len()).sum();
        assert!(bytes < 2_400, "{bytes} bytes: {}", request.body["messages"]);
        assert_eq!(request.body["messages"].as_array().unwrap().len(), 2);
        let has_example = request.body.to_string().contains("is_leap");
        assert_eq!(has_example, request.part() == "tester", "a small implementor copies an example");
    }
}
