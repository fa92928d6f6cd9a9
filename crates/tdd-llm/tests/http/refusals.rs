//! Tests that a permanent refusal ends the call at once, with the server's message and without our key.

use std::process::Command;

use secrecy::SecretString;
use tdd_llm::error::LlmError;
use tdd_llm::http::{Endpoint, HttpClient};
use tdd_llm::stop::Stop;

use crate::server::{KEY, Server, answer, chat, client, response, status, text};

fn refused(code: u16, body: &str) -> LlmError {
    let server = Server::script(vec![status(code, body)]);
    let error = server.ask().unwrap_err();
    assert_eq!(server.requests().len(), 1, "{error}");
    error
}

#[test]
fn a_client_error_is_final() {
    for (body, words) in [
        (r#"{"error":{"message":"no credit"}}"#, "no credit"),
        (r#"{"error":"no credit"}"#, "no credit"),
        (r#"{"detail":"no credit"}"#, "no credit"),
        ("Payment required", "Payment required"),
    ] {
        let error = refused(402, body);
        assert!(error.to_string().ends_with(&format!("refused the call (402): {words}")), "{error}");
    }
}

#[test]
fn a_wrong_key_is_its_own_error_and_is_not_repeated() {
    let error = refused(401, &format!(r#"{{"error":{{"message":"Incorrect API key: {KEY}"}}}}"#));
    assert!(
        matches!(&error, LlmError::Denied { status: 401, words, .. } if words == "Incorrect API key: [key]"),
        "{error}"
    );
    assert!(error.hint().unwrap().contains("api_key_env"));
    assert!(matches!(refused(403, ""), LlmError::Denied { status: 403, .. }));
}

#[test]
fn a_key_at_the_edge_of_what_is_shown_does_not_show() {
    let error = refused(401, &format!("{}{KEY}", "x".repeat(395)));
    assert!(!format!("{error} {error:?}").contains("sk-"), "{error}");
}

#[test]
fn the_client_does_not_show_its_key() {
    let server = Server::script(vec![answer("")]);
    assert!(!format!("{:?}", server.client()).contains("sk-"));
}

#[test]
fn a_key_that_fits_no_header_is_refused_without_showing_it() {
    let server = Server::script(vec![answer("")]);
    let key = Some(SecretString::from("sk-a\nb"));
    let error = HttpClient::new(Endpoint { key, ..server.endpoint() }, Stop::new()).unwrap_err();
    assert!(
        error.to_string().ends_with("the key contains characters that are not allowed in an HTTP header"),
        "{error}"
    );
}

#[test]
fn a_line_end_behind_the_key_is_not_part_of_it_and_no_key_sends_none() {
    let server = Server::script(vec![answer("")]);
    let key = Some(SecretString::from("sk-a\n"));
    chat(&client(Endpoint { key, ..server.endpoint() }), &text()).unwrap();
    chat(&client(Endpoint { key: None, ..server.endpoint() }), &text()).unwrap();
    let requests = server.requests();
    assert!(requests[0].head.contains("authorization: Bearer sk-a\r\n"));
    assert!(!requests[1].head.contains("authorization"));
}

#[test]
fn a_password_in_the_address_does_not_show() {
    let mut endpoint = Server::script(vec![answer("")]).endpoint();
    endpoint.route.server.base_url = "http://me:hidden@127.0.0.1:1/v1?key=hidden".to_owned();
    let client = client(Endpoint { max_retries: 0, ..endpoint });
    let error = chat(&client, &text()).unwrap_err();
    assert!(!format!("{error} {error:?}").contains("hidden"), "{error}");
}

#[test]
fn an_unknown_model_is_its_own_error() {
    let error = refused(404, r#"{"error":{"message":"model 'm' not found, try pulling it first"}}"#);
    assert!(matches!(&error, LlmError::ModelUnknown { model, .. } if model == "m"), "{error}");
    let error = refused(404, r#"{"detail":"Not Found"}"#);
    assert!(matches!(&error, LlmError::Refused { status: 404, .. }), "{error}");
}

#[test]
fn a_conversation_that_is_too_long_is_its_own_error() {
    let llama =
        r#"{"error":{"code":400,"message":"request (9000 tokens) exceeds","type":"exceed_context_size_error"}}"#;
    assert!(matches!(refused(400, llama), LlmError::ContextTooLong { .. }));
    let openai = r#"{"error":{"message":"too many","code":"context_length_exceeded"}}"#;
    assert!(matches!(refused(400, openai), LlmError::ContextTooLong { .. }));
}

#[test]
fn a_key_is_not_carried_to_where_a_server_points() {
    let other = Server::script(vec![answer("stolen")]);
    let server = Server::script(vec![response(307, &format!("Location: {}\r\n", other.url), "moved")]);
    assert!(matches!(server.ask().unwrap_err(), LlmError::Refused { status: 307, .. }));
    assert!(other.requests().is_empty());
}

#[test]
fn an_address_that_is_none_is_refused_before_any_call() {
    for address in ["localhost:11434/v1", "", "ftp://x/v1"] {
        let mut endpoint = Server::script(vec![answer("")]).endpoint();
        endpoint.route.server.base_url = address.to_owned();
        let error = HttpClient::new(endpoint, Stop::new()).unwrap_err();
        assert!(matches!(error, LlmError::Setup { .. }), "{address}: {error}");
    }
}

#[test]
fn a_proxy_is_not_asked_for_what_is_on_this_machine() {
    let asked = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "refusals::loopback_answers", "--ignored"])
        .envs(["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"].map(|name| (name, "http://127.0.0.1:1")))
        .output()
        .unwrap();
    assert!(asked.status.success(), "{}", String::from_utf8_lossy(&asked.stdout));
    assert!(String::from_utf8_lossy(&asked.stdout).contains("1 passed"));
}

#[test]
#[ignore = "the test above runs it, with a proxy in its environment"]
fn loopback_answers() {
    assert_eq!(Server::script(vec![answer("here")]).ask().unwrap().content, "here");
}
