//! Tests that the client uses the strictest answer format that a server supports, and remembers it.

use serde_json::{Value, json};
use tdd_llm::client::{Ask, Finish, Form, FormUsed, Message, ToolCall, ToolSpec};
use tdd_llm::error::LlmError;
use tdd_llm::http::Endpoint;

use crate::server::{Act, Request, Server, answer, chat, client, completion, status, text};

fn schema() -> Ask {
    Ask { form: Form::Schema { name: "greeting".into(), schema: json!({ "type": "object" }) }, ..text() }
}

fn tools() -> Ask {
    let parameters = json!({ "type": "object" });
    Ask { form: Form::Tools(vec![ToolSpec { name: "read".into(), description: "reads".into(), parameters }]), ..text() }
}

/// A server that refuses these types of `response_format` with this status.
fn picky(refused: &'static [&'static str], code: u16) -> Server {
    Server::by(move |_, request| {
        let form = request.body.pointer("/response_format/type").and_then(Value::as_str).unwrap_or("text");
        if refused.contains(&form) { status(code, r#"{"error":"unsupported"}"#) } else { answer("{}") }
    })
}

fn forms(server: &Server) -> Vec<Value> {
    server.sent("/response_format/type")
}

#[test]
fn a_schema_is_sent_as_such() {
    let server = Server::script(vec![answer("{}")]);
    assert_eq!(chat(&server.client(), &schema()).unwrap().form, FormUsed::Schema);
    let format =
        json!({ "type": "json_schema", "json_schema": { "name": "greeting", "schema": { "type": "object" } } });
    assert_eq!(server.sent("/response_format"), [format]);
}

#[test]
fn a_refused_schema_becomes_an_object_and_is_not_tried_again() {
    for code in [400, 404, 422, 501] {
        let server = picky(&["json_schema"], code);
        let client = server.client();
        for _ in 0..2 {
            let got = chat(&client, &schema()).unwrap();
            assert_eq!((got.form, got.retries), (FormUsed::JsonObject, 0));
        }
        assert_eq!(forms(&server), [json!("json_schema"), json!("json_object"), json!("json_object")], "{code}");
    }
}

#[test]
fn a_server_without_any_form_is_asked_for_text() {
    let server = picky(&["json_schema", "json_object"], 400);
    let client = server.client();
    for _ in 0..2 {
        assert_eq!(chat(&client, &schema()).unwrap().form, FormUsed::Text);
    }
    assert_eq!(forms(&server), [json!("json_schema"), json!("json_object"), Value::Null, Value::Null]);
}

#[test]
fn a_second_500_steps_down() {
    let server = picky(&["json_schema"], 500);
    let got = chat(&server.client(), &schema()).unwrap();
    assert_eq!((got.form, got.retries), (FormUsed::JsonObject, 1));
    assert_eq!(forms(&server), [json!("json_schema"), json!("json_schema"), json!("json_object")]);
}

#[test]
fn stepping_down_changes_nothing_but_the_form() {
    let server = picky(&["json_schema", "json_object"], 400);
    chat(&server.client(), &schema()).unwrap();
    let without_form = |mut request: Request| {
        request.body.as_object_mut().unwrap().remove("response_format");
        request.body
    };
    let bodies: Vec<_> = server.requests().into_iter().map(without_form).collect();
    assert!(bodies.iter().all(|body| *body == bodies[0]));
}

#[test]
fn a_refusal_that_no_form_can_mend_is_shown_and_teaches_nothing() {
    let server = Server::by(|number, _| if number < 3 { status(400, r#"{"error":"no"}"#) } else { answer("{}") });
    let client = server.client();
    assert!(matches!(chat(&client, &schema()).unwrap_err(), LlmError::Refused { status: 400, .. }));
    assert_eq!(chat(&client, &schema()).unwrap().form, FormUsed::Schema);
}

#[test]
fn a_form_that_worked_survives_a_bad_moment() {
    let bad = |number| matches!(number, 1 | 2);
    let server = Server::by(move |number, _| if bad(number) { status(500, "") } else { answer("{}") });
    let client = server.client();
    let used: Vec<_> = (0..3).map(|_| chat(&client, &schema()).unwrap().form).collect();
    assert_eq!(used, [FormUsed::Schema, FormUsed::JsonObject, FormUsed::Schema]);
}

#[test]
fn a_conversation_that_is_too_long_does_not_step_down() {
    let server = Server::script(vec![status(400, r#"{"error":{"type":"exceed_context_size_error","message":"x"}}"#)]);
    assert!(matches!(chat(&server.client(), &schema()).unwrap_err(), LlmError::ContextTooLong { .. }));
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_model_that_has_its_own_temperature_is_given_none() {
    let refusal = status(400, r#"{"error":{"message":"Unsupported value: 'temperature'"}}"#);
    let server = Server::script(vec![refusal, answer("{}")]);
    assert_eq!(chat(&server.client(), &schema()).unwrap().form, FormUsed::Schema);
    assert_eq!(server.sent("/temperature"), [json!(0.2), Value::Null]);
}

#[test]
fn who_repeats_itself_is_asked_for_more_variety_within_bounds() {
    let server = Server::script(vec![answer("{}"), answer("{}"), answer("{}")]);
    let client = server.client();
    for repeated in [0, 1, 9] {
        chat(&client, &Ask { repeated, ..schema() }).unwrap();
    }
    assert_eq!(server.sent("/temperature"), [json!(0.2), json!(0.5), json!(1.0)]);
}

fn calls() -> Vec<Act> {
    let call =
        json!({ "id": "c1", "type": "function", "function": { "name": "read", "arguments": "{\"path\":\"x\"}" } });
    let message = json!({ "role": "assistant", "content": null, "tool_calls": [call] });
    completion(&json!({ "choices": [{ "message": message, "finish_reason": "stop" }] }))
}

#[test]
fn tools_are_offered_called_and_answered() {
    let server = Server::script(vec![calls(), answer("done")]);
    let client = server.client();
    let mut ask = tools();
    let got = chat(&client, &ask).unwrap();
    let call = ToolCall { id: "c1".into(), name: "read".into(), arguments: r#"{"path":"x"}"#.into() };
    assert_eq!((&got.tool_calls, &got.finish, got.form), (&vec![call], &Finish::ToolCalls, FormUsed::Tools));
    ask.messages.extend([got.message(), Message::tool("c1", "the file")]);
    assert_eq!(chat(&client, &ask).unwrap().content, "done");

    let function = json!({ "name": "read", "description": "reads", "parameters": { "type": "object" } });
    assert_eq!(server.sent("/tools")[0], json!([{ "type": "function", "function": function }]));
    let function = json!({ "name": "read", "arguments": "{\"path\":\"x\"}" });
    let asked = json!({ "role": "assistant", "content": null, "tool_calls": [{ "id": "c1", "type": "function", "function": function }] });
    assert_eq!(server.sent("/messages/2")[1], asked);
    assert_eq!(server.sent("/messages/3")[1], json!({ "role": "tool", "content": "the file", "tool_call_id": "c1" }));
}

#[test]
fn a_server_without_tools_is_asked_once_and_no_more() {
    let server = Server::script(vec![status(400, r#"{"error":"m does not support tools"}"#)]);
    let client = server.client();
    for _ in 0..2 {
        let error = chat(&client, &tools()).unwrap_err();
        assert!(matches!(&error, LlmError::NoTools { words, .. } if words == "m does not support tools"), "{error}");
    }
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn tools_that_worked_are_not_blamed_for_a_later_refusal() {
    let server = Server::script(vec![calls(), status(400, r#"{"error":"odd"}"#)]);
    let client = client(Endpoint { max_retries: 0, ..server.endpoint() });
    chat(&client, &tools()).unwrap();
    assert!(matches!(chat(&client, &tools()).unwrap_err(), LlmError::Refused { status: 400, .. }));
}
