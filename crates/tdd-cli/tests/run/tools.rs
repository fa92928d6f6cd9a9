//! The tools protocol with a real server: what is sent, what comes back, and what a refusal looks like there.

use serde_json::{Value, json};
use tdd_fixtures::server::{Cast, Request};

use crate::kata::{CODE_FILE, TEST_FILE, code, id, tests};
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

/// A stage whose roles all work by tools.
fn by_tools(cast: Cast) -> Stage {
    let stage = Stage::new(cast);
    let config = stage.sandbox.read("tdd.yaml").replace("temperature:", "protocol: tools, temperature:");
    stage.sandbox.write("tdd.yaml", config);
    stage.commit("chore: let them use tools");
    stage
}

/// The results of tools in a request, oldest first.
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
    // Every result belongs to a call that the same conversation made.
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
    assert!(told[0].contains("\nNext: put it back; write it when the test is red"), "{told:?}");
}
