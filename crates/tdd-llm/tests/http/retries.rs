//! Tests which failures are retried, and how often.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;
use tdd_llm::client::{Answer, Finish, FormUsed, Usage};
use tdd_llm::error::LlmError;
use tdd_llm::http::Endpoint;
use tdd_llm::route::{Route, Server as Address};

use crate::server::{Act, Server, answer, chat, client, completion, response, status, text};

/// Asserts that the client answers after one such failure.
fn survives(failure: Vec<Act>) {
    let server = Server::script(vec![failure, answer("hello")]);
    let got = server.ask().unwrap();
    assert_eq!((got.content.as_str(), got.retries), ("hello", 1));
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn an_answer_has_all_that_the_server_said() {
    let server = Server::script(vec![answer("hello")]);
    let got = server.ask().unwrap();
    let expected = Answer {
        content: "hello".into(),
        tool_calls: vec![],
        finish: Finish::Stop,
        usage: Usage { prompt: 10, cached: 4, completion: 2 },
        model: "m-1".into(),
        form: FormUsed::Text,
        duration_ms: got.duration_ms,
        retries: 0,
    };
    assert_eq!(got, expected);
}

#[test]
fn a_request_has_what_the_protocol_wants_and_nothing_else() {
    let server = Server::script(vec![answer("hello")]);
    server.ask().unwrap();
    let request = &server.requests()[0];
    assert!(request.head.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{}", request.head);
    assert!(request.head.contains("authorization: Bearer sk-secret-1234\r\n"), "{}", request.head);
    let messages = json!([{ "role": "system", "content": "be kind" }, { "role": "user", "content": "hello" }]);
    assert_eq!(request.body, json!({ "model": "m", "messages": messages, "temperature": 0.2, "stream": false }));
}

#[test]
fn a_busy_server_is_asked_again() {
    survives(status(429, r#"{"error":{"message":"slow down"}}"#));
}

#[test]
fn a_server_error_is_asked_again() {
    survives(status(500, "oops"));
    survives(status(503, ""));
}

#[test]
fn a_dropped_connection_is_asked_again() {
    survives(vec![]);
}

#[test]
fn a_body_that_breaks_off_is_asked_again() {
    survives(vec![Act::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{\"choices\":[{\"mess".to_vec())]);
}

#[test]
fn a_200_that_is_no_completion_is_asked_again() {
    survives(status(200, "<html>please log in</html>"));
    survives(status(200, ""));
    survives(status(200, r#"{"error":{"message":"overloaded"}}"#));
    survives(completion(&json!({ "choices": [] })));
    survives(status(200, r#"{"choices":[{"message":{"content":"half"#));
}

#[test]
fn what_is_no_http_at_all_is_asked_again() {
    survives(vec![Act::Send(vec![0, 159, 146, 150])]);
}

#[test]
fn retries_come_to_an_end_and_the_servers_words_are_shown() {
    let server = Server::script(vec![status(429, r#"{"error":{"message":"slow down"}}"#)]);
    let error = server.ask().unwrap_err();
    let expected = format!("`{}` is unavailable (429, asked 4 times): slow down", server.url);
    assert_eq!(error.to_string(), expected);
    assert_eq!(server.requests().len(), 4);
}

#[test]
fn a_200_that_stays_no_completion_is_an_error_with_its_beginning() {
    let server = Server::script(vec![status(200, "<html>please log in</html>")]);
    let error = server.ask().unwrap_err();
    assert!(matches!(&error, LlmError::NoCompletion { words, .. } if words == "<html>please log in</html>"), "{error}");
}

#[test]
fn nobody_there_is_said_so() {
    let server = Server::script(vec![answer("")]);
    let mut endpoint = server.endpoint();
    // Nothing listens on port 1.
    endpoint.route.server.base_url = "http://127.0.0.1:1/v1".to_owned();
    let error = chat(&client(endpoint), &text()).unwrap_err();
    assert!(matches!(&error, LlmError::Unreachable { .. }), "{error}");
    assert!(error.to_string().starts_with("cannot reach `http://127.0.0.1:1/v1`: "), "{error}");
}

#[test]
fn the_server_says_how_long_to_wait() {
    let server = Server::script(vec![response(429, "Retry-After: 1\r\n", ""), answer("hello")]);
    let begun = Instant::now();
    server.ask().unwrap();
    assert!(begun.elapsed() >= Duration::from_secs(1), "{:?}", begun.elapsed());
}

#[test]
fn the_server_says_when_to_come_back() {
    let headers = "Date: Sun, 15 Nov 2026 12:00:00 GMT\r\nRetry-After: Sun, 15 Nov 2026 12:00:01 GMT\r\n";
    let server = Server::script(vec![response(503, headers, ""), answer("hello")]);
    let begun = Instant::now();
    server.ask().unwrap();
    assert!(begun.elapsed() >= Duration::from_secs(1), "{:?}", begun.elapsed());
}

#[test]
fn the_servers_wait_is_kept_even_where_it_is_longer_than_an_answer_may_take() {
    let server = Server::script(vec![response(429, "Retry-After: 1\r\n", ""), answer("hello")]);
    let mut endpoint = server.endpoint();
    endpoint.timeouts.whole = Duration::from_millis(300);
    let begun = Instant::now();
    chat(&client(endpoint), &text()).unwrap();
    assert!(begun.elapsed() >= Duration::from_secs(1), "{:?}", begun.elapsed());
}

#[test]
fn a_wait_that_ends_after_the_run_is_not_begun() {
    for headers in ["Retry-After: 3600\r\n", "Retry-After: 1e300\r\n"] {
        let server = Server::script(vec![response(429, headers, r#"{"error":"slow down"}"#), answer("hello")]);
        let until = Some(Instant::now() + Duration::from_mins(1));
        let begun = Instant::now();
        let error = chat(&client(Endpoint { until, ..server.endpoint() }), &text()).unwrap_err();
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
        assert_eq!(server.requests().len(), 1);
        let LlmError::NoTime { wait, left, words, .. } = &error else { panic!("{error}") };
        assert!(*wait >= Duration::from_hours(1) && *left <= Duration::from_mins(1), "{error}");
        assert_eq!(words, "slow down");
    }
}

#[test]
fn a_wait_that_ends_before_the_run_is_kept() {
    let server = Server::script(vec![response(429, "Retry-After: 1\r\n", ""), answer("hello")]);
    let until = Some(Instant::now() + Duration::from_mins(1));
    assert_eq!(chat(&client(Endpoint { until, ..server.endpoint() }), &text()).unwrap().retries, 1);
}

#[test]
fn whoever_waits_for_the_server_is_told_how_long() {
    let told: Arc<Mutex<Vec<String>>> = Arc::default();
    let server = Server::script(vec![response(429, "Retry-After: 1\r\n", "slow down"), answer("hello")]);
    let tell = {
        let told = Arc::clone(&told);
        move |text: &str| told.lock().unwrap().push(text.to_owned())
    };
    chat(&server.client().with_wait_listener(tell), &text()).unwrap();
    let expected = format!("`{}` asks us to wait 1 s (429): slow down", server.url);
    assert_eq!(*told.lock().unwrap(), [expected]);
}

#[test]
fn a_server_that_was_never_there_is_given_up_within_three_seconds() {
    let unreachable = ["http://127.0.0.1:1/v1", "http://no-such-host.invalid/v1"];
    for base_url in unreachable {
        let server = Address { base_url: base_url.to_owned(), api_key_env: None };
        let endpoint = Endpoint::new(Route { server, model: "m".to_owned() });
        let begun = Instant::now();
        let error = chat(&client(endpoint), &text()).unwrap_err();
        assert!(matches!(&error, LlmError::Unreachable { .. }), "{error}");
        assert!(begun.elapsed() < Duration::from_secs(3), "{base_url}: {:?}", begun.elapsed());
    }
}

#[test]
fn without_retries_the_first_failure_is_the_last() {
    let server = Server::script(vec![status(500, ""), answer("hello")]);
    let endpoint = Endpoint { max_retries: 0, ..server.endpoint() };
    assert!(chat(&client(endpoint), &text()).is_err());
    assert_eq!(server.requests().len(), 1);
}
