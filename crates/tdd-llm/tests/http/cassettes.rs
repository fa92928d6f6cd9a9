//! Tests that a cassette replays by key, without a server and without an API key.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use secrecy::SecretString;
use serde_json::json;
use tdd_llm::cassette;
use tdd_llm::client::{Answer, Ask, Finish, Form, LlmClient, Message};
use tdd_llm::error::LlmError;
use tdd_llm::model::Model;
use tdd_llm::recorder::{Recorder, Tape};
use tdd_llm::replay::Replay;

use crate::server::{KEY, Server, answer, run, status, text};

/// An in-memory file whose content a test can read.
#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Vec<u8>>>);

impl Memory {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn keyed(key: &str) -> Ask {
    Ask { key: key.to_owned(), ..text() }
}

fn schema(key: &str) -> Ask {
    Ask { form: Form::Schema { name: "x".into(), schema: json!({}) }, ..keyed(key) }
}

/// Records these calls; returns the cassette and the answers.
fn record(server: &Server, asks: &[Ask]) -> (String, Vec<Result<Answer, LlmError>>) {
    let memory = Memory::default();
    let recorder = Recorder::new(server.client(), Tape::new(memory.clone(), vec![SecretString::from(KEY)]));
    let answers = asks.iter().map(|ask| run(recorder.chat(ask))).collect();
    (memory.text(), answers)
}

fn play(replay: &Replay, ask: &Ask) -> Result<Answer, LlmError> {
    run(replay.chat(ask))
}

#[test]
fn what_was_recorded_plays_back_exactly() {
    let server = Server::script(vec![answer("one"), answer("two")]);
    let asks = [keyed("a"), schema("b")];
    let (tape, recorded) = record(&server, &asks);
    assert_eq!(tape.lines().count(), 2);
    let replay = Replay::of(&tape).unwrap();
    for (ask, recorded) in asks.iter().zip(recorded) {
        assert_eq!(play(&replay, ask).unwrap(), recorded.unwrap());
    }
}

#[test]
fn a_model_is_recorded_where_there_is_a_tape_and_replayed_from_it() {
    let server = Server::script(vec![answer("one")]);
    let memory = Memory::default();
    let models =
        [Model::at(server.client(), None), Model::at(server.client(), Some(Tape::new(memory.clone(), vec![])))];
    assert_eq!(models.map(|model| run(model.chat(&keyed("a"))).unwrap().content), ["one", "one"]);
    assert_eq!(memory.text().lines().count(), 1);
    let replay = Model::Replay(Replay::of(&memory.text()).unwrap());
    assert_eq!(run(replay.chat(&keyed("a"))).unwrap().content, "one");
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn no_key_is_on_the_cassette() {
    let server = Server::script(vec![answer(&format!("your key is {KEY}, is it not?"))]);
    let ask = Ask { messages: vec![Message::user(format!("{KEY}\n"))], ..keyed("a") };
    let (tape, _) = record(&server, &[ask]);
    assert!(!tape.contains("sk-"), "{tape}");
    assert!(tape.contains("your key is [key], is it not?"), "{tape}");
}

#[test]
fn a_call_that_failed_is_on_the_cassette_and_not_played() {
    let server = Server::script(vec![status(402, "no credit"), answer("one")]);
    let (tape, answers) = record(&server, &[keyed("a"), keyed("a")]);
    assert!(answers[0].is_err());
    assert!(tape.lines().next().unwrap().contains("no credit"), "{tape}");
    assert_eq!(play(&Replay::of(&tape).unwrap(), &keyed("a")).unwrap().content, "one");
}

#[test]
fn a_recording_that_cannot_be_written_is_an_error() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::Error::other("full"))
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let server = Server::script(vec![answer("one")]);
    let recorder = Recorder::new(server.client(), Tape::new(Full, vec![]));
    assert!(matches!(run(recorder.chat(&keyed("a"))).unwrap_err(), LlmError::Record(_)));
}

const TAPE: &str = r#"
{"ask":{"key":"a"},"answer":{"content":"a1"}}
{"ask":{"key":"b","form":"schema"},"answer":{"content":"{}"}}

{"ask":{"key":"a"},"answer":{"content":"a2","finish":"length"}}
"#;

#[test]
fn a_key_and_a_content_are_enough_for_a_line() {
    let replay = Replay::of(TAPE).unwrap();
    let got = play(&replay, &keyed("a")).unwrap();
    assert_eq!((got.content.as_str(), got.finish), ("a1", Finish::Stop));
}

#[test]
fn calls_of_one_key_play_in_order_and_keys_in_any() {
    let replay = Replay::of(TAPE).unwrap();
    let contents = [schema("b"), keyed("a"), keyed("a")].map(|ask| play(&replay.clone(), &ask).unwrap().content);
    assert_eq!(contents, ["{}", "a1", "a2"]);
}

#[test]
fn other_prompts_play_as_well() {
    let ask = Ask { messages: vec![Message::user("something else")], ..keyed("a") };
    assert_eq!(play(&Replay::of(TAPE).unwrap(), &ask).unwrap().content, "a1");
}

fn refused(replay: &Replay, ask: &Ask, expected: &str) {
    assert_eq!(play(replay, ask).unwrap_err().to_string(), expected);
}

#[test]
fn what_was_not_recorded_is_named_with_what_was() {
    let replay = Replay::of(TAPE).unwrap();
    let expected = "the cassette has no answer to `c`: no call was recorded with this key; not yet replayed: `a`, `b`";
    refused(&replay, &keyed("c"), expected);
    let expected = "the cassette has no answer to `b`: call 1 was recorded with form Schema, and now asks for Text";
    refused(&replay, &keyed("b"), expected);
    let _ = [keyed("a"), keyed("a")].map(|ask| play(&replay, &ask).unwrap());
    let expected = "the cassette has no answer to `a`: this call was recorded 2 times, and it is asked once more now";
    refused(&replay, &keyed("a"), expected);
}

#[test]
fn a_line_that_cannot_be_read_is_named() {
    let error = Replay::of("{\"ask\":{\"key\":\"a\"},\"answer\":{}}\n\nnonsense").unwrap_err();
    assert!(error.to_string().starts_with("line 3 of the cassette cannot be read: "), "{error}");
    let error = cassette::read("{\"ask\":{\"key\":\"a\"}}").unwrap_err();
    assert_eq!(error.to_string(), "line 1 of the cassette cannot be read: there is neither an answer nor an error");
}
