//! A scripted test server: it can answer late, in pieces, with invalid data, or incompletely.

use std::future::Future;
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use secrecy::SecretString;
use serde_json::{Value, json};
pub use tdd_fixtures::server::Request;
use tdd_llm::client::{Answer, Ask, Form, LlmClient, Message};
use tdd_llm::error::LlmError;
use tdd_llm::http::{Endpoint, HttpClient, Timeouts};
use tdd_llm::route::{Route, Server as Address};
use tdd_llm::stop::Stop;

pub const KEY: &str = "sk-secret-1234";

/// One action on a connection, which closes after the last action.
#[derive(Clone)]
pub enum Act {
    Send(Vec<u8>),
    Pause(Duration),
}

#[derive(Clone)]
pub struct Server {
    pub url: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    /// Computes each answer from the request and its number, counted from 0.
    pub fn by(answer: impl Fn(usize, &Request) -> Vec<Act> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let requests: Arc<Mutex<Vec<Request>>> = Arc::default();
        let (answer, seen) = (Arc::new(answer), Arc::clone(&requests));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (answer, seen) = (Arc::clone(&answer), Arc::clone(&seen));
                thread::spawn(move || {
                    let mut stream = stream.unwrap();
                    let Some(request) = Request::read(&mut stream) else { return };
                    let number = {
                        let mut seen = seen.lock().unwrap();
                        seen.push(request.clone());
                        seen.len() - 1
                    };
                    perform(&mut stream, answer(number, &request));
                });
            }
        });
        Self { url, requests }
    }

    /// Sends the answers in order, then repeats the last one.
    pub fn script(answers: Vec<Vec<Act>>) -> Self {
        Self::by(move |number, _| answers[number.min(answers.len() - 1)].clone())
    }

    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    /// One field of each request's body.
    pub fn sent(&self, pointer: &str) -> Vec<Value> {
        let field = |request: Request| request.body.pointer(pointer).cloned().unwrap_or_default();
        self.requests().into_iter().map(field).collect()
    }

    pub fn endpoint(&self) -> Endpoint {
        let server = Address { base_url: self.url.clone(), api_key_env: None };
        let timeouts = Timeouts {
            connect: Duration::from_secs(2),
            first_token: Duration::from_secs(5),
            whole: Duration::from_secs(5),
            retry_base: Duration::from_millis(1),
        };
        Endpoint {
            key: Some(SecretString::from(KEY)),
            temperature: Some(0.2),
            timeouts,
            max_retries: 3,
            stream: false,
            ..Endpoint::new(Route { server, model: "m".to_owned() })
        }
    }

    pub fn client(&self) -> HttpClient {
        client(self.endpoint())
    }

    pub fn streaming(&self) -> HttpClient {
        client(Endpoint { stream: true, ..self.endpoint() })
    }

    /// The result of one plain call.
    pub fn ask(&self) -> Result<Answer, LlmError> {
        chat(&self.client(), &text())
    }

    pub fn ask_streaming(&self) -> Result<Answer, LlmError> {
        chat(&self.streaming(), &text())
    }
}

pub fn client(endpoint: Endpoint) -> HttpClient {
    HttpClient::new(endpoint, Stop::new()).unwrap()
}

pub fn chat(client: &HttpClient, ask: &Ask) -> Result<Answer, LlmError> {
    run(client.chat(ask))
}

pub fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

pub fn text() -> Ask {
    let messages = vec![Message::system("be kind"), Message::user("hello")];
    Ask { key: String::new(), messages, form: Form::Text, repeated: 0, max_tokens: None }
}

/// A whole response.
pub fn response(status: u16, headers: &str, body: &str) -> Vec<Act> {
    let length = body.len();
    let text = format!("HTTP/1.1 {status} X\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}");
    vec![Act::Send(text.into_bytes())]
}

pub fn status(status: u16, body: &str) -> Vec<Act> {
    response(status, "", body)
}

/// A complete completion.
pub fn answer(content: &str) -> Vec<Act> {
    finished(content, "stop")
}

pub fn finished(content: &str, reason: &str) -> Vec<Act> {
    let message = json!({ "role": "assistant", "content": content });
    let usage = json!({ "prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": { "cached_tokens": 4 } });
    let choice = json!({ "index": 0, "message": message, "finish_reason": reason });
    completion(&json!({ "id": "x", "model": "m-1", "choices": [choice], "usage": usage }))
}

pub fn completion(value: &Value) -> Vec<Act> {
    response(200, "Content-Type: application/json\r\n", &value.to_string())
}

/// The head of a stream that ends when its connection closes.
pub fn stream_head() -> Act {
    Act::Send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n".to_vec())
}

pub fn event(value: &Value) -> Act {
    Act::Send(format!("data: {value}\n\n").into_bytes())
}

pub fn delta(content: &str) -> Act {
    event(&json!({ "choices": [{ "delta": { "content": content }, "finish_reason": null }] }))
}

pub fn end() -> Act {
    event(&json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }] }))
}

pub fn done() -> Act {
    Act::Send(b"data: [DONE]\n\n".to_vec())
}

pub fn pause(milliseconds: u64) -> Act {
    Act::Pause(Duration::from_millis(milliseconds))
}

/// The client may be gone by now, which is no fault of the server's.
fn perform(stream: &mut TcpStream, acts: Vec<Act>) {
    for act in acts {
        match act {
            Act::Send(bytes) => {
                if stream.write_all(&bytes).and_then(|()| stream.flush()).is_err() {
                    return;
                }
            }
            Act::Pause(duration) => thread::sleep(duration),
        }
    }
}
