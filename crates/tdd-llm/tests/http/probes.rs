//! Tests the probe of a server's features.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tdd_llm::client::{Ask, Form, FormUsed};
use tdd_llm::http::HttpClient;
use tdd_llm::probe::{Capabilities, Contact, Finding, probe, probe_within};
use tdd_llm::stop::Stop;

use crate::server::{
    Act, Request, Server, answer, chat, completion, delta, done, end, pause, run, status, stream_head, text,
};

fn probed(server: &Server) -> Capabilities {
    run(probe(&server.client()))
}

fn asks(request: &Request) -> (bool, Option<&str>, bool, bool) {
    let form = request.body.pointer("/response_format/type").and_then(Value::as_str);
    let stream = request.body["stream"] == json!(true);
    (request.head.starts_with("GET /v1/models "), form, request.body["tools"].is_array(), stream)
}

fn able(_: usize, request: &Request) -> Vec<Act> {
    match asks(request) {
        (true, ..) => {
            status(200, r#"{"object":"list","data":[{"id":"m","max_model_len":4096},{"id":"n","created":1.5}]}"#)
        }
        (_, Some(_), ..) if request.body.to_string().contains("double") => {
            answer(r#"{"path":"calc.py","content":"def double(n):\n    return 2 * n\n"}"#)
        }
        (_, Some(_), ..) => answer(r#"{"greeting":"hi"}"#),
        (_, None, ..) if request.body.to_string().contains("double") => {
            answer("calc.py\n```python\ndef double(n):\n    return 2 * n\n```\n")
        }
        (_, _, true, _) => {
            let call = json!({ "id": "c", "function": { "name": "weather", "arguments": "{}" } });
            completion(&json!({ "choices": [{ "message": { "tool_calls": [call] } }] }))
        }
        (.., true) => vec![stream_head(), delta("hello"), end(), done()],
        _ => answer("hello"),
    }
}

/// Accepts every request and ignores most of its fields, like a small local server.
fn careless(_: usize, request: &Request) -> Vec<Act> {
    match asks(request) {
        (true, ..) => status(404, r#"{"detail":"Not Found"}"#),
        _ => completion(&json!({ "choices": [{ "message": { "content": "```json\n{}\n```" } }] })),
    }
}

#[test]
fn an_able_server_is_found_able() {
    let expected = Capabilities {
        contact: Contact::Answers,
        models: Some(vec!["m".into(), "n".into()]),
        json_schema: Finding::Yes,
        json_object: Finding::Yes,
        tools: Finding::Yes,
        streaming: Finding::Yes,
        usage: Finding::Yes,
        fenced_code: Finding::Yes,
        json_code: Finding::Yes,
        tokens_per_second: None,
        context_tokens: Some(4096),
    };
    let found = probed(&Server::by(able));
    assert!(found.tokens_per_second.is_some(), "{found:?}");
    assert_eq!(Capabilities { tokens_per_second: None, ..found }, expected);
}

#[test]
fn a_server_that_takes_everything_and_honours_nothing_is_found_out() {
    let expected = Capabilities {
        contact: Contact::Answers,
        models: None,
        json_schema: Finding::No("the answer does not fit the schema that was sent".into()),
        json_object: Finding::No("the answer is not a JSON object".into()),
        tools: Finding::No("the answer calls no tool, though one was offered".into()),
        streaming: Finding::No("the answer comes in one piece".into()),
        usage: Finding::No("the answer has no token counts".into()),
        fenced_code: Finding::No("the answer has no fenced block with the code".into()),
        json_code: Finding::No("the answer has no usable code in its JSON".into()),
        tokens_per_second: None,
        context_tokens: None,
    };
    assert_eq!(probed(&Server::by(careless)), expected);
}

#[test]
fn a_refusal_is_a_finding_in_the_servers_words() {
    let server = Server::by(|number, request| match asks(request) {
        (_, Some(_), ..) => status(400, r#"{"error":"what is response_format?"}"#),
        (_, _, true, _) => status(500, "tools?"),
        _ => able(number, request),
    });
    let found = probed(&server);
    let reason = format!("`{}` refused the call (400): what is response_format?", server.url);
    assert_eq!(found.json_schema, Finding::No(reason));
    assert!(matches!(&found.tools, Finding::No(reason) if reason.ends_with("tools?")), "{:?}", found.tools);
    assert!(found.streaming.is_yes());
}

#[test]
fn a_server_that_refuses_the_key_is_asked_no_further() {
    for code in [401, 403] {
        let server = Server::script(vec![status(code, r#"{"error":"who are you?"}"#)]);
        let found = probed(&server);
        assert!(matches!(&found.contact, Contact::Denied(words) if words.ends_with("who are you?")), "{found:?}");
        assert!(matches!(&found.tools, Finding::Unknown(reason) if reason.ends_with("who are you?")), "{found:?}");
        assert_eq!(server.requests().len(), 2);
    }
}

#[test]
fn a_server_that_has_other_models_says_which() {
    let server = Server::by(|number, request| match asks(request) {
        (true, ..) => able(number, request),
        _ => status(404, r#"{"error":{"message":"model 'm' not found"}}"#),
    });
    let found = probed(&server);
    assert!(matches!(&found.contact, Contact::UnknownModel(words) if words.contains("not found")), "{found:?}");
    assert_eq!(found.models, Some(vec!["m".into(), "n".into()]));
}

#[test]
fn a_server_that_takes_no_connection_is_tried_once() {
    // A listener that accepts nothing and whose queue is full makes connections hang.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let connect = || std::net::TcpStream::connect_timeout(&address, Duration::from_millis(50));
    let filling: Vec<_> = std::iter::from_fn(|| connect().ok()).take(5000).collect();
    let mut endpoint = Server::script(vec![answer("")]).endpoint();
    endpoint.route.server.base_url = format!("http://{address}/v1");
    endpoint.timeouts.connect = Duration::from_secs(1);
    let begun = Instant::now();
    let found = run(probe(&HttpClient::new(endpoint, Stop::new()).unwrap()));
    assert!(matches!(&found.contact, Contact::Unreachable(_)), "{found:?}");
    assert!(begun.elapsed() < Duration::from_millis(1900), "{:?}", begun.elapsed());
    drop(filling);
}

#[test]
fn a_busy_server_has_not_said_no() {
    let server = Server::by(|number, request| match asks(request) {
        (_, _, true, _) => status(429, "later"),
        _ => able(number, request),
    });
    assert!(matches!(probed(&server).tools, Finding::Unknown(_)));
}

#[test]
fn a_server_that_says_nothing_takes_no_longer_than_it_may() {
    let server = Server::script(vec![vec![pause(4000)]]);
    let begun = Instant::now();
    let found = run(probe_within(&server.client(), Duration::from_millis(200)));
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
    assert_eq!(found.contact, Contact::Silent("the server took too long".into()));
    assert_eq!((found.models, found.usage), (None, Finding::Unknown("the server took too long".into())));
}

#[test]
fn a_request_to_stop_ends_a_probe() {
    let server = Server::by(able);
    let stop = Stop::new();
    stop.stop();
    let client = HttpClient::new(server.endpoint(), stop).unwrap();
    assert_eq!(run(probe(&client)).contact, Contact::Silent("the call was cancelled".into()));
}

#[test]
fn what_a_probe_sees_changes_no_later_call() {
    // A probe sends six requests.
    let server = Server::by(|number, request| match asks(request) {
        (_, Some(_), ..) | (_, _, true, _) if number < 6 => status(400, ""),
        _ => able(number, request),
    });
    let client = server.client();
    assert!(!run(probe(&client)).json_schema.is_yes());
    let form = Form::Schema { name: "x".into(), schema: json!({}) };
    assert_eq!(chat(&client, &Ask { form, ..text() }).unwrap().form, FormUsed::Schema);
}
