//! Tests that every wait has a timeout and that a stop request ends it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use tdd_llm::error::{LlmError, Wait};
use tdd_llm::http::{Endpoint, HttpClient};
use tdd_llm::stop::Stop;

use crate::server::{Act, Server, answer, chat, client, delta, done, end, event, pause, response, stream_head, text};

fn quick(server: &Server, stream: bool) -> Endpoint {
    let mut endpoint = Endpoint { stream, max_retries: 0, ..server.endpoint() };
    endpoint.timeouts.first_token = Duration::from_millis(300);
    endpoint.timeouts.whole = Duration::from_secs(1);
    endpoint
}

fn misses(server: &Server, stream: bool, expected: Wait) {
    let begun = Instant::now();
    let error = chat(&client(quick(server, stream)), &text()).unwrap_err();
    assert!(matches!(&error, LlmError::TimedOut { wait, .. } if *wait == expected), "{error}");
    assert!(begun.elapsed() < Duration::from_millis(2500), "{:?}", begun.elapsed());
}

#[test]
fn a_server_that_says_nothing_misses_the_deadline() {
    misses(&Server::script(vec![vec![pause(3000)]]), false, Wait::Answer);
}

#[test]
fn a_server_that_says_nothing_misses_the_first_token_of_a_stream() {
    misses(&Server::script(vec![vec![pause(3000)]]), true, Wait::Token);
}

#[test]
fn signs_of_life_are_no_tokens() {
    let mut acts = vec![stream_head()];
    acts.extend((0..60).flat_map(|_| [Act::Send(b": ping\n\n".to_vec()), pause(50)]));
    misses(&Server::script(vec![acts]), true, Wait::Token);
}

#[test]
fn a_stream_that_stalls_is_not_waited_for() {
    misses(&Server::script(vec![vec![stream_head(), delta("a"), pause(3000)]]), true, Wait::Token);
}

#[test]
fn a_stream_that_never_ends_misses_the_deadline() {
    let mut acts = vec![stream_head()];
    acts.extend((0..60).flat_map(|_| [delta("a"), pause(50)]));
    misses(&Server::script(vec![acts]), true, Wait::Answer);
}

#[test]
fn a_slow_stream_that_keeps_coming_is_waited_for() {
    let mut acts = vec![stream_head()];
    acts.extend((0..4).flat_map(|_| [delta("a"), pause(60)]));
    acts.extend([end(), done()]);
    let server = Server::script(vec![acts]);
    assert_eq!(chat(&client(quick(&server, true)), &text()).unwrap().content, "aaaa");
}

#[test]
fn a_connection_is_not_waited_for_without_end() {
    // A listener that accepts nothing and whose queue is full makes connections hang.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let connect = || std::net::TcpStream::connect_timeout(&address, Duration::from_millis(50));
    let filling: Vec<_> = std::iter::from_fn(|| connect().ok()).take(5000).collect();
    let mut endpoint = quick(&Server::script(vec![answer("")]), false);
    endpoint.route.server.base_url = format!("http://{address}/v1");
    endpoint.timeouts.connect = Duration::from_millis(100);
    let error = chat(&client(endpoint), &text()).unwrap_err();
    assert!(matches!(&error, LlmError::TimedOut { wait: Wait::Connect, .. }), "{error}");
    drop(filling);
}

#[test]
fn an_endless_deadline_is_no_trouble() {
    let server = Server::script(vec![answer("hello")]);
    for stream in [false, true] {
        let mut endpoint = Endpoint { stream, ..server.endpoint() };
        (endpoint.timeouts.whole, endpoint.timeouts.first_token) = (Duration::MAX, Duration::MAX);
        assert_eq!(chat(&client(endpoint), &text()).unwrap().content, "hello");
    }
}

#[test]
fn a_model_that_thinks_is_waited_for_as_long_as_it_does() {
    let thought = event(&json!({ "choices": [{ "delta": { "reasoning_content": "hm" } }] }));
    let mut acts = vec![stream_head()];
    acts.extend((0..4).flat_map(|_| [thought.clone(), pause(60)]));
    let server = Server::script(vec![[acts.clone(), vec![delta("a"), end(), done()]].concat()]);
    assert_eq!(chat(&client(quick(&server, true)), &text()).unwrap().content, "a");
    acts.extend((0..60).flat_map(|_| [Act::Send(b": ping\n\n".to_vec()), pause(20)]));
    misses(&Server::script(vec![acts]), true, Wait::Token);
}

#[test]
fn a_timeout_is_asked_again() {
    let server = Server::script(vec![vec![pause(3000)], answer("hello")]);
    let endpoint = Endpoint { max_retries: 1, ..quick(&server, false) };
    assert_eq!(chat(&client(endpoint), &text()).unwrap().retries, 1);
}

fn stops(acts: Vec<Act>, stop: Stop, ask_to_stop: impl FnOnce() + Send + 'static) {
    let server = Server::script(vec![acts]);
    let client = HttpClient::new(server.endpoint(), stop).unwrap();
    let asked = thread::spawn(move || {
        thread::sleep(Duration::from_millis(200));
        ask_to_stop();
        Instant::now()
    });
    let error = chat(&client, &text()).unwrap_err();
    let ended = Instant::now();
    assert!(matches!(error, LlmError::Cancelled), "{error}");
    let late = ended.duration_since(asked.join().unwrap());
    assert!(late < Duration::from_millis(100), "{late:?}");
}

#[test]
fn a_request_to_stop_ends_a_pending_call() {
    let stop = Stop::new();
    let handle = stop.clone();
    stops(vec![pause(3000)], stop, move || handle.stop());
}

#[test]
fn a_request_to_stop_ends_a_wait_for_a_retry() {
    let stop = Stop::new();
    let handle = stop.clone();
    stops(response(429, "Retry-After: 4\r\n", ""), stop, move || handle.stop());
}

#[test]
fn somebody_elses_flag_stops_a_call_too() {
    let flag = Arc::new(AtomicBool::new(false));
    let (watched, set) = (Arc::clone(&flag), flag);
    let stop = Stop::watching(move || watched.load(Ordering::SeqCst));
    stops(vec![pause(3000)], stop, move || set.store(true, Ordering::SeqCst));
}

#[test]
fn after_a_request_to_stop_no_call_is_made() {
    let server = Server::script(vec![answer("hello")]);
    let stop = Stop::new();
    stop.stop();
    let client = HttpClient::new(server.endpoint(), stop).unwrap();
    assert!(matches!(chat(&client, &text()).unwrap_err(), LlmError::Cancelled));
    assert!(server.requests().is_empty());
}
