//! Tests that a cut answer is continued or requested again.

use serde_json::json;
use tdd_llm::client::{Answer, Ask, Finish, Form};
use tdd_llm::continuation::chat_whole;
use tdd_llm::error::LlmError;

use crate::server::{Server, answer, chat, finished, run, text};

fn whole(server: &Server, ask: &Ask, continuations: u32) -> Result<Answer, LlmError> {
    run(chat_whole(&server.client(), ask, continuations))
}

fn schema() -> Ask {
    Ask { form: Form::Schema { name: "greeting".into(), schema: json!({ "type": "object" }) }, ..text() }
}

#[test]
fn a_cut_answer_says_so() {
    let server = Server::script(vec![finished("hel", "length")]);
    assert_eq!(chat(&server.client(), &text()).unwrap().finish, Finish::Length);
}

#[test]
fn a_text_is_continued_and_its_parts_joined() {
    let server = Server::script(vec![finished("one ", "length"), finished("two ", "length"), answer("three")]);
    let got = whole(&server, &text(), 2).unwrap();
    assert_eq!((got.content.as_str(), got.finish), ("one two three", Finish::Stop));
    assert_eq!((got.usage.prompt, got.usage.cached, got.usage.completion), (30, 12, 6));
    let roles: Vec<_> = server.sent("/messages").iter().map(|messages| messages.as_array().unwrap().len()).collect();
    assert_eq!(roles, [2, 4, 6]);
    assert_eq!(server.sent("/messages/2")[2], json!({ "role": "assistant", "content": "one " }));
    assert_eq!(server.sent("/messages/3/role")[2], "user");
    assert_eq!(server.sent("/messages/4/content")[2], "two ");
}

#[test]
fn a_text_that_never_ends_is_an_error() {
    let server = Server::script(vec![finished("more ", "length")]);
    let error = whole(&server, &text(), 2).unwrap_err();
    assert!(matches!(error, LlmError::Cut { completion: 6 }), "{error}");
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn cut_json_is_asked_for_anew_by_its_name_and_never_joined() {
    let server = Server::script(vec![finished("{\"a\":", "length"), answer("{}")]);
    let got = whole(&server, &schema(), 5).unwrap();
    assert_eq!((got.content.as_str(), got.usage.completion), ("{}", 4));
    let last = server.sent("/messages/3/content")[1].as_str().unwrap().to_owned();
    assert!(last.contains("shorter `greeting`"), "{last}");
}

#[test]
fn json_that_is_cut_twice_is_an_error() {
    let server = Server::script(vec![finished("{\"a\":", "length")]);
    assert!(matches!(whole(&server, &schema(), 5).unwrap_err(), LlmError::Cut { .. }));
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn an_answer_cut_before_its_first_word_is_followed_by_one_of_each_speaker() {
    let server = Server::script(vec![finished("", "length"), answer("hello")]);
    assert_eq!(whole(&server, &text(), 1).unwrap().content, "hello");
    assert_eq!(server.sent("/messages/2")[1], json!({ "role": "assistant", "content": " […]" }));
}

#[test]
fn what_a_filter_held_back_is_an_error() {
    let server = Server::script(vec![finished("hel", "content_filter")]);
    assert!(matches!(whole(&server, &text(), 2).unwrap_err(), LlmError::Filtered));
}

#[test]
fn every_later_call_only_appends() {
    let server = Server::script(vec![finished("one ", "length"), answer("two")]);
    whole(&server, &text(), 1).unwrap();
    let sent = server.sent("/messages");
    let (first, second) = (sent[0].as_array().unwrap(), sent[1].as_array().unwrap());
    assert!(second.starts_with(first));
}
