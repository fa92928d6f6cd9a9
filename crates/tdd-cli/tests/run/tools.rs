//! Tests the tools protocol over HTTP: requests, results and refusals.

use serde_json::{Value, json};
use tdd_fixtures::server::{Cast, Reply, Request};

use crate::kata::{CODE_FILE, TEST_FILE, code, code_with, id, tests};
use crate::stage::Stage;

fn edit(path: &str, content: &str) -> (&'static str, Value) {
    ("edit_file", json!({"path": path, "action": "upsert", "content": content}))
}

fn finish() -> (&'static str, Value) {
    ("finish", json!({"summary": "do it", "rationale": "because"}))
}

fn claim() -> (&'static str, Value) {
    ("edit_claim", json!({"test_id": id(1), "edit_target": CODE_FILE}))
}

fn run_tests(ids: &[&str]) -> (&'static str, Value) {
    ("run_tests", json!({"test_ids": ids}))
}

/// A stage whose roles all use tools.
fn by_tools(cast: Cast) -> Stage {
    by_tools_with(cast, "")
}

fn by_tools_with(cast: Cast, settings: &str) -> Stage {
    let stage = Stage::with(cast, settings);
    let config = stage.sandbox.read("tdd.yaml").replace("temperature:", "protocol: tools, temperature:");
    stage.sandbox.write("tdd.yaml", config);
    stage.commit("chore: let them use tools");
    stage
}

/// The tool results in the n-th request to a part, oldest first.
fn told(stage: &Stage, part: &str, nth: usize) -> Vec<String> {
    let requests = stage.server.requests();
    let asked: Vec<&Request> = requests.iter().filter(|request| request.part() == part).collect();
    results(asked[nth])
}

fn log(stage: &Stage, name: &str) -> Value {
    serde_json::from_str(&stage.sandbox.read(&format!(".tdd/logs/{name}.json"))).unwrap()
}

/// The tool results in a request, oldest first.
fn results(request: &Request) -> Vec<String> {
    let messages = request.body["messages"].as_array().unwrap();
    let results = messages.iter().filter(|message| message["role"] == "tool");
    results.map(|message| message["content"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn three_steps_by_tools_over_http() {
    let cast = Cast::new()
        .calls("tester", vec![("list_files", json!({})), ("submit_plan", json!({"text": "begin"}))])
        .calls("tester", vec![edit(TEST_FILE, &tests(1)), finish()])
        .calls("implementor", vec![("read_file", json!({"path": TEST_FILE})), claim()])
        .calls("implementor", vec![edit(CODE_FILE, &code(1)), finish()]);
    let stage = by_tools(cast);
    stage.check(
        &["run", "--cycles", "1"],
        "
        [first cycle]
        end: 3 steps done
        exit 0
    ",
    );
    let requests = stage.server.requests();
    assert_eq!(requests.len(), 5);
    assert!(requests.iter().all(Request::is_tools));
    let told = results(&requests[1]);
    assert!(told[0].contains(CODE_FILE) && told[1] == "noted", "{told:?}");
    // Every result belongs to a call of the same conversation.
    let messages = requests[1].body["messages"].as_array().unwrap();
    let called: Vec<&Value> =
        messages.iter().filter_map(|message| message["tool_calls"].as_array()).flatten().collect();
    let answered = messages.iter().filter(|message| message["role"] == "tool").map(|message| &message["tool_call_id"]);
    assert_eq!(called.iter().map(|call| &call["id"]).collect::<Vec<_>>(), answered.collect::<Vec<_>>());
    assert_eq!(stage.sandbox.read(".tdd/plan/step-1-tester.md"), "begin");
}

#[test]
fn a_refusal_comes_back_as_the_result_of_the_call() {
    let cast = Cast::new()
        .calls("tester", vec![edit(CODE_FILE, &code(1))])
        .calls("tester", vec![edit(TEST_FILE, &tests(1)), finish()]);
    let stage = by_tools(cast);
    stage.check(
        &["step"],
        "
        resynced at 0
        1 red
          refused phase-scope
          test: do it
        end: 1 step done
        exit 0
    ",
    );
    let told = results(&stage.server.requests()[1]);
    assert!(told[0].starts_with("refused\nRule: phase-scope\nReason: "), "{told:?}");
    assert!(told[0].contains("\nNext: restore it; write it after the test is red"), "{told:?}");
}

/// A test that does not exist.
const NOWHERE: &str = "tests/add.rs::nowhere";

#[test]
fn run_tests_answers_with_what_the_tests_say_of_the_edits_so_far() {
    let cast = Cast::new()
        .calls("tester", vec![run_tests(&[])])
        .calls("tester", vec![edit(TEST_FILE, &tests(1)), run_tests(&[&id(1)])])
        .calls("tester", vec![finish()])
        .calls("implementor", vec![claim(), edit(CODE_FILE, &code_with("77")), run_tests(&[])])
        .calls("implementor", vec![run_tests(&[&id(1), NOWHERE]), edit(CODE_FILE, &code(1)), run_tests(&[])])
        .calls("implementor", vec![finish()]);
    let stage = by_tools(cast);
    stage.check(
        &["run", "--steps", "2"],
        "
        [first test]
        2 green
          feat: do it
        end: 2 steps done
        exit 0
    ",
    );
    let of_tester = told(&stage, "tester", 2);
    assert_eq!(of_tester[0], "0 passed, 0 failed, 0 skipped");
    assert!(of_tester[2].contains(&format!("fail {} (missing-symbol)", id(1))), "{of_tester:?}");
    assert!(of_tester[2].contains("no `add` in the root"), "{of_tester:?}");
    let of_implementor = told(&stage, "implementor", 2);
    assert!(of_implementor[2].starts_with(&format!("fail {} (assertion)\n", id(1))), "{of_implementor:?}");
    assert!(of_implementor[2].contains("left: 77"), "{of_implementor:?}");
    assert!(of_implementor[2].ends_with("0 passed, 1 failed, 0 skipped"), "{of_implementor:?}");
    // One run after the message answers both calls, so the edit between them counts for the first as well.
    let passed = format!("pass {}\n1 passed,", id(1));
    assert_eq!(of_implementor[3], format!("fail {NOWHERE} (target-not-found)\n{passed} 1 failed, 0 skipped"));
    assert_eq!(of_implementor[5], format!("{passed} 0 failed, 0 skipped"));
    let attempt = &log(&stage, "step-2-implementor")["attempts"][0];
    assert_eq!(attempt["trials"].as_array().unwrap().len(), 2, "{attempt}");
}

#[test]
fn without_auto_test_run_tests_shows_no_results() {
    let cast =
        Cast::new().calls("tester", vec![edit(TEST_FILE, &tests(1)), run_tests(&[])]).calls("tester", vec![finish()]);
    let stage = by_tools_with(cast, "gate: { auto_test: false }");
    assert_eq!(stage.run(&["step"]).code, Some(0));
    let said = told(&stage, "tester", 1);
    assert!(said[1].contains("`gate.auto_test` is off") && !said[1].contains("fail"), "{said:?}");
}

#[test]
fn a_plan_has_steps_that_may_name_their_tests() {
    let steps = json!([
        {"text": "Write the test", "test_id": id(1), "test_file_path": TEST_FILE},
        {"text": "Finish"},
    ]);
    let cast = Cast::new()
        .calls("tester", vec![("submit_plan", json!({})), ("submit_plan", json!({"steps": [{"test_id": "x y"}]}))])
        .calls("tester", vec![("submit_plan", json!({"text": "Begin at nothing.", "steps": steps}))])
        .calls("tester", vec![edit(TEST_FILE, &tests(1)), finish()]);
    let stage = by_tools(cast);
    assert_eq!(stage.run(&["step"]).code, Some(0));
    let said = told(&stage, "tester", 2);
    assert_eq!(said[0], "error: `submit_plan` needs `steps`; call it again with it");
    assert!(said[1].starts_with("error: "), "{said:?}");
    assert_eq!(said[2], "noted");
    let expected = format!("Begin at nothing.\n\n1. Write the test (`{}` in `{TEST_FILE}`)\n2. Finish\n", id(1));
    assert_eq!(stage.sandbox.read(".tdd/plan/step-1-tester.md"), expected);
    let submitted: Vec<Value> = stage.events().into_iter().filter(|event| event["type"] == "plan_submitted").collect();
    assert_eq!(submitted.len(), 1, "{submitted:?}");
    let first = json!({"text": "Write the test", "test_id": id(1), "test_file_path": TEST_FILE});
    assert_eq!(submitted[0]["steps"], json!([first, {"text": "Finish"}]));
}

#[test]
fn a_step_without_a_plan_gets_one_from_what_was_said_first() {
    let words = "I begin with the empty text.".to_owned();
    let cast = Cast::new()
        .acts("tester", Reply::SaysAndCalls(words.clone(), vec![("list_files", json!({}))]))
        .acts("tester", Reply::SaysAndCalls("Now I write.".to_owned(), vec![edit(TEST_FILE, &tests(1)), finish()]))
        .calls("implementor", vec![claim(), edit(CODE_FILE, &code(1)), finish()]);
    let stage = by_tools(cast);
    assert_eq!(stage.run(&["run", "--cycles", "1"]).code, Some(0));
    assert_eq!(stage.sandbox.read(".tdd/plan/step-1-tester.md"), words);
    assert_eq!(stage.sandbox.read(".tdd/plan/step-2-implementor.md"), "do it\n\nbecause");
    assert_eq!(stage.sandbox.read(".tdd/plan/step-3-refactorer.md"), "nothing worth it");
}

#[test]
fn the_steps_of_a_submitted_plan_have_dots_in_the_status() {
    let steps =
        json!([{"text": "Adds nothing", "test_id": id(1)}, {"text": "Adds one", "test_id": id(2)}, {"text": "Rest"}]);
    let refused = Reply::Status { code: 402, headers: String::new(), body: "no credit is left".to_owned() };
    let cast = Cast::new()
        .calls("tester", vec![edit(TEST_FILE, &tests(1)), finish()])
        .calls("implementor", vec![("submit_plan", json!({"steps": steps}))])
        .acts("implementor", refused);
    let stage = by_tools(cast);
    assert_eq!(stage.run(&["run", "--cycles", "1"]).code, Some(3));
    let status = stage.run(&["status"]).stdout;
    assert!(status.contains(&format!("● red      1. Adds nothing ({})\n", id(1))), "{status}");
    assert!(status.contains(&format!("○ not yet  2. Adds one ({})\n", id(2))), "{status}");
    assert!(!status.contains("Rest"), "{status}");
    let status: Value = serde_json::from_str(&stage.run(&["status", "--format", "json"]).stdout).unwrap();
    let first = json!({"plan": "step 2", "step": 1, "title": "Adds nothing", "test_id": id(1), "state": "red"});
    assert_eq!(status["plan_steps"][0], first);
}
