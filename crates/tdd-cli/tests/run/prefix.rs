//! Tests that within a step each call starts with the previous one, byte for byte, so that prefix caches hit.

use serde_json::json;
use tdd_fixtures::server::{Cast, Request};

use crate::happy::three_cycles;
use crate::kata::{CODE_FILE, TEST_FILE, code, code_with, tests};
use crate::stage::Stage;

/// Groups requests by conversation. A request of at most four messages, with no answer of the model yet, begins one.
fn conversations(requests: Vec<Request>) -> Vec<Vec<Request>> {
    let mut all: Vec<Vec<Request>> = Vec::new();
    for request in requests {
        let open = all.iter().rposition(|calls| calls[0].part() == request.part());
        match open.filter(|_| request.messages() > 4) {
            Some(at) => all[at].push(request),
            None => all.push(vec![request]),
        }
    }
    all
}

/// The share of the earlier call that the later one starts with, in percent.
fn repeated(earlier: &Request, later: &Request) -> f64 {
    let bytes = |request: &Request| {
        let messages = request.body["messages"].as_array().unwrap().iter().map(ToString::to_string);
        messages.collect::<Vec<_>>().join(",").into_bytes()
    };
    let (before, after) = (bytes(earlier), bytes(later));
    let same = before.iter().zip(&after).take_while(|(a, b)| a == b).count();
    f64::from(u32::try_from(same * 1000 / before.len()).unwrap()) / 10.0
}

#[track_caller]
fn check(stage: &Stage, calls: &[usize]) {
    let conversations = conversations(stage.server.requests());
    let lengths: Vec<usize> = conversations.iter().map(Vec::len).collect();
    assert_eq!(lengths, calls);
    for pair in conversations.iter().flat_map(|calls| calls.windows(2)) {
        let [earlier, later] = pair else { panic!("half a pair") };
        let repeated = repeated(earlier, later);
        assert!(repeated >= 95.0, "only {repeated} % of a {} call is there again", earlier.part());
        assert_eq!(earlier.body["model"], later.body["model"]);
    }
}

#[test]
fn in_nine_steps_that_go_well() {
    let stage = Stage::new(three_cycles());
    assert_eq!(stage.run(&["run", "--cycles", "3"]).code, Some(0));
    check(&stage, &[2; 9]);
}

#[test]
fn in_a_step_with_three_failed_attempts() {
    let cast = Cast::new().writes("tester", TEST_FILE, &tests(1));
    let cast = (1..=3).fold(cast, |cast, n| cast.writes("implementor", CODE_FILE, &code_with(&n.to_string())));
    let cast = cast.edits("rethink", &[], &json!({"reason": "it is right"})).writes("implementor", CODE_FILE, &code(1));
    let stage = Stage::new(cast);
    assert_eq!(stage.run(&["run", "--steps", "2"]).code, Some(0));
    // During the tester's rethink the implementor's conversation is kept, and continues afterwards.
    check(&stage, &[2, 5, 2]);
}
