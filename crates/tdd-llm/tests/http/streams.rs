//! Tests event streams as real servers send them.

use serde_json::{Value, json};
use tdd_llm::client::{Finish, ToolCall, Usage};
use tdd_llm::error::LlmError;

use crate::server::{Act, Server, answer, delta, done, end, event, status, stream_head};

fn stream(events: Vec<Act>) -> Vec<Act> {
    [vec![stream_head()], events].concat()
}

fn null() -> Act {
    event(&json!({ "model": "m-1", "choices": [{ "delta": { "role": "assistant", "content": null } }] }))
}

fn usage() -> Act {
    event(
        &json!({ "choices": [], "usage": { "prompt_tokens": 7, "completion_tokens": 3, "prompt_cache_hit_tokens": 5 } }),
    )
}

#[test]
fn a_stream_is_asked_for_with_its_usage_and_put_together() {
    let server = Server::script(vec![stream(vec![null(), delta("hel"), delta("lo"), end(), usage(), done()])]);
    let got = server.ask_streaming().unwrap();
    assert_eq!((got.content.as_str(), got.model.as_str(), got.finish), ("hello", "m-1", Finish::Stop));
    assert_eq!(got.usage, Usage { prompt: 7, cached: 5, completion: 3 });
    assert_eq!(server.sent("/stream"), [json!(true)]);
    assert_eq!(server.sent("/stream_options/include_usage"), [json!(true)]);
}

#[test]
fn a_stream_that_nobody_asked_for_is_understood() {
    let server = Server::script(vec![stream(vec![delta("hello"), end(), done()])]);
    assert_eq!(server.ask().unwrap().content, "hello");
}

#[test]
fn a_document_instead_of_a_stream_is_understood() {
    assert_eq!(Server::script(vec![answer("hello")]).ask_streaming().unwrap().content, "hello");
}

#[test]
fn a_stream_that_breaks_off_is_asked_again() {
    for broken in [
        vec![delta("hel")],
        vec![delta("hel"), Act::Send(b"data: {\"choi".to_vec())],
        vec![delta("hel"), event(&json!({ "error": { "message": "out of memory" } }))],
        vec![delta("hel"), Act::Send(b"data: what?\n\n".to_vec())],
        vec![],
    ] {
        let server = Server::script(vec![stream(broken), stream(vec![delta("hello"), end(), done()])]);
        let got = server.ask_streaming().unwrap();
        assert_eq!((got.content.as_str(), got.retries), ("hello", 1));
    }
}

#[test]
fn a_stream_whose_connection_breaks_behind_its_last_word_is_whole() {
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n".to_vec();
    let server = Server::script(vec![vec![Act::Send(head), delta("hello"), end()]]);
    let got = server.ask_streaming().unwrap();
    assert_eq!((got.content.as_str(), got.retries), ("hello", 0));
}

#[test]
fn tool_calls_come_in_pieces() {
    let piece = |call: Value| event(&json!({ "choices": [{ "delta": { "tool_calls": [call] } }] }));
    let server = Server::script(vec![stream(vec![
        null(),
        piece(json!({ "index": 0, "id": "a", "function": { "name": "read", "arguments": "" } })),
        piece(json!({ "index": 0, "function": { "arguments": "{\"path\":" } })),
        piece(json!({ "index": 0, "function": { "arguments": "\"x\"}" } })),
        event(&json!({ "choices": [{ "delta": {}, "finish_reason": "tool_calls" }] })),
        done(),
    ])]);
    let got = server.ask_streaming().unwrap();
    let call = ToolCall { id: "a".into(), name: "read".into(), arguments: r#"{"path":"x"}"#.into() };
    assert_eq!((got.tool_calls, got.finish), (vec![call], Finish::ToolCalls));
}

#[test]
fn an_endless_stream_is_cut_off() {
    let much = delta(&"a".repeat(1 << 20));
    let server = Server::script(vec![stream(vec![much; 12])]);
    assert!(matches!(server.ask_streaming().unwrap_err(), LlmError::TooLarge { .. }));
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_server_that_knows_no_stream_options_gets_none() {
    let refusal = status(400, r#"{"error":"unknown field: stream_options"}"#);
    let server = Server::script(vec![refusal, stream(vec![delta("hello"), end(), done()])]);
    let client = server.streaming();
    for _ in 0..2 {
        assert_eq!(crate::server::chat(&client, &crate::server::text()).unwrap().content, "hello");
    }
    assert_eq!(server.sent("/stream_options"), [json!({ "include_usage": true }), Value::Null, Value::Null]);
}
