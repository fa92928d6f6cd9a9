//! A scripted model server on loopback: it answers each part in order, well or badly, and keeps the requests.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// A received request.
#[derive(Clone, Debug)]
pub struct Request {
    /// The request line and the headers.
    pub head: String,
    /// The JSON body.
    pub body: Value,
}

/// How a call is answered.
#[derive(Clone, Debug)]
pub enum Reply {
    /// A completion, streamed if requested.
    Says(String),
    /// A completion that is never streamed and has this finish reason.
    Ends {
        /// The text.
        text: String,
        /// Its `finish_reason`.
        reason: &'static str,
    },
    /// A completion with tool calls, each a name and arguments.
    Calls(Vec<(&'static str, Value)>),
    /// A completion with text and tool calls.
    SaysAndCalls(String, Vec<(&'static str, Value)>),
    /// A stream of words with a pause after each.
    Drips {
        /// The text.
        text: String,
        /// The pause after each word.
        pause: Duration,
        /// Whether the stream ends properly instead of breaking off.
        whole: bool,
    },
    /// A status with headers (each with its line end) and a body.
    Status {
        /// The HTTP status.
        code: u16,
        /// The headers.
        headers: String,
        /// The body.
        body: String,
    },
    /// Status 200 with this body.
    Body(String),
    /// Closes the connection without a response.
    Drop,
    /// Sends nothing for this long.
    Silence(Duration),
}

/// A server that stops when it is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
    over: Arc<AtomicBool>,
}

/// The answers of each part, in order. Without an answer, plans are made up and the refactorer changes nothing.
#[derive(Clone, Debug, Default)]
pub struct Cast {
    plans: BTreeMap<&'static str, VecDeque<Reply>>,
    edits: BTreeMap<&'static str, VecDeque<Reply>>,
    tools: BTreeMap<&'static str, VecDeque<Reply>>,
}

impl Server {
    /// Answers from a cast.
    pub fn playing(mut cast: Cast) -> Self {
        Self::by(move |request| cast.reply(request))
    }

    /// Computes each answer from the request.
    pub fn by(answer: impl FnMut(&Request) -> Reply + Send + 'static) -> Self {
        let listener = super::must("listen on loopback", TcpListener::bind("127.0.0.1:0"));
        let address = super::must("know where it listens", listener.local_addr());
        let server = Self { address, requests: Arc::default(), over: Arc::default() };
        let (requests, over) = (Arc::clone(&server.requests), Arc::clone(&server.over));
        let answer = Arc::new(Mutex::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming() {
                if over.load(Ordering::SeqCst) {
                    break;
                }
                let (answer, requests) = (Arc::clone(&answer), Arc::clone(&requests));
                thread::spawn(move || {
                    let Ok(mut stream) = stream else { return };
                    let Some(request) = Request::read(&mut stream) else { return };
                    locked(&requests).push(request.clone());
                    let reply = (*locked(&answer))(&request);
                    // Fails if the client is already gone, which does not matter.
                    let _sent = send(&mut stream, &request, reply);
                });
            }
        });
        server
    }

    /// The value for `llm.base_url`.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// All requests so far.
    pub fn requests(&self) -> Vec<Request> {
        locked(&self.requests).clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        // Wakes the listener, which blocks until a connection.
        let _woken = TcpStream::connect(self.address);
    }
}

impl Request {
    /// The call that comes in on a connection; `None` if the client goes away before its end.
    pub fn read(stream: &mut TcpStream) -> Option<Self> {
        let mut reader = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head).ok()? == 0 {
                return None;
            }
        }
        let lower = head.to_lowercase();
        let length = lower.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap_or("0");
        let mut body = vec![0; length.trim().parse().ok()?];
        reader.read_exact(&mut body).ok()?;
        Some(Self { head, body: serde_json::from_slice(&body).unwrap_or_default() })
    }

    /// Who is asked: `tester`, `implementor`, `refactorer`, `rethink`, `mend` or `executor`.
    pub fn part(&self) -> &'static str {
        let system = self.message(0);
        if system.contains("could not be made to pass") {
            return "rethink";
        }
        if system.contains("complains of something in the test itself") {
            return "mend";
        }
        let is = |name: &&&str| system.starts_with(&format!("You are the {name}"));
        ["tester", "implementor", "refactorer", "executor"].iter().find(is).copied().unwrap_or("nobody")
    }

    /// Whether the request is for edits.
    pub fn is_edit(&self) -> bool {
        self.last().contains("edit_plan") || self.is_files()
    }

    /// Whether the request is for edits as fenced files.
    pub fn is_files(&self) -> bool {
        self.last().contains("files_answer")
    }

    /// Whether the request is for tool calls.
    pub fn is_tools(&self) -> bool {
        self.body["tools"].is_array()
    }

    /// The text of a message.
    pub fn message(&self, at: usize) -> String {
        self.body["messages"][at]["content"].as_str().unwrap_or_default().to_owned()
    }

    /// The number of messages.
    pub fn messages(&self) -> usize {
        self.body["messages"].as_array().map_or(0, Vec::len)
    }

    /// The text of the last message.
    pub fn last(&self) -> String {
        self.message(self.messages().saturating_sub(1))
    }

    /// The requested answer format.
    pub fn form(&self) -> &str {
        self.body["response_format"]["type"].as_str().unwrap_or("text")
    }
}

impl Cast {
    /// A cast without answers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a part's answer to a request for an edit plan.
    #[must_use]
    pub fn replies(mut self, part: &'static str, reply: Reply) -> Self {
        self.edits.entry(part).or_default().push_back(reply);
        self
    }

    /// Adds a part's answer to a request for a plan.
    #[must_use]
    pub fn plans(mut self, part: &'static str, reply: Reply) -> Self {
        self.plans.entry(part).or_default().push_back(reply);
        self
    }

    /// Adds tool calls as a part's answer to a request for tool calls.
    #[must_use]
    pub fn calls(self, part: &'static str, calls: Vec<(&'static str, Value)>) -> Self {
        self.acts(part, Reply::Calls(calls))
    }

    /// Adds any answer to a request for tool calls.
    #[must_use]
    pub fn acts(mut self, part: &'static str, reply: Reply) -> Self {
        self.tools.entry(part).or_default().push_back(reply);
        self
    }

    /// Adds a text as the answer to a request for an edit plan.
    #[must_use]
    pub fn says(self, part: &'static str, text: &str) -> Self {
        self.replies(part, Reply::Says(text.to_owned()))
    }

    /// Adds an edit plan: whole files by path (`None` deletes the file), and the other fields.
    #[must_use]
    pub fn edits(self, part: &'static str, files: &[(&str, Option<&str>)], said: &Value) -> Self {
        self.says(part, &edit_plan(files, said))
    }

    /// Adds an edit plan that writes one file.
    #[must_use]
    pub fn writes(self, part: &'static str, path: &str, content: &str) -> Self {
        self.edits(part, &[(path, Some(content))], &json!({"summary": "do it"}))
    }

    /// The next answer.
    pub fn reply(&mut self, request: &Request) -> Reply {
        let part = request.part();
        let queue = match (request.is_tools(), request.is_edit()) {
            (true, _) => &mut self.tools,
            (false, true) => &mut self.edits,
            (false, false) => &mut self.plans,
        };
        if let Some(reply) = queue.get_mut(part).and_then(VecDeque::pop_front) {
            return reply;
        }
        if request.is_tools() {
            return Reply::Calls(vec![("finish", json!({"summary": "nothing worth it"}))]);
        }
        Reply::Says(match (request.is_edit(), part) {
            (false, _) => "The smallest thing that can be done.".to_owned(),
            (true, "refactorer") => edit_plan(&[], &json!({"summary": "nothing worth it"})),
            (true, _) => "I have nothing more to say.".to_owned(),
        })
    }
}

/// An edit plan as a model would write it.
pub fn edit_plan(files: &[(&str, Option<&str>)], said: &Value) -> String {
    let edit = |(path, content): &(&str, Option<&str>)| match content {
        Some(content) => json!({"path": path, "action": "upsert", "content": content}),
        None => json!({"path": path, "action": "delete"}),
    };
    let mut answer = json!({"edits": files.iter().map(edit).collect::<Vec<_>>()});
    if let (Some(answer), Some(said)) = (answer.as_object_mut(), said.as_object()) {
        answer.extend(said.clone());
    }
    answer.to_string()
}

fn send(stream: &mut TcpStream, request: &Request, reply: Reply) -> std::io::Result<()> {
    match reply {
        Reply::Says(text) if request.body["stream"] == true => drip(stream, &text, Duration::ZERO, true),
        Reply::Says(text) => respond(stream, 200, JSON, &completion(&text, "stop")),
        Reply::Calls(calls) => respond(stream, 200, JSON, &with_calls(request.messages(), None, &calls)),
        Reply::SaysAndCalls(text, calls) => {
            respond(stream, 200, JSON, &with_calls(request.messages(), Some(&text), &calls))
        }
        Reply::Ends { text, reason } => respond(stream, 200, JSON, &completion(&text, reason)),
        Reply::Drips { text, pause, whole } => drip(stream, &text, pause, whole),
        Reply::Status { code, headers, body } => respond(stream, code, &headers, &body),
        Reply::Body(body) => respond(stream, 200, "", &body),
        Reply::Drop => Ok(()),
        Reply::Silence(time) => {
            thread::sleep(time);
            Ok(())
        }
    }
}

const JSON: &str = "Content-Type: application/json\r\n";

fn respond(stream: &mut TcpStream, code: u16, headers: &str, body: &str) -> std::io::Result<()> {
    let length = body.len();
    write!(stream, "HTTP/1.1 {code} X\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}")?;
    stream.flush()
}

fn completion(text: &str, reason: &str) -> String {
    let message = json!({"role": "assistant", "content": text});
    let choice = json!({"index": 0, "message": message, "finish_reason": reason});
    json!({"id": "x", "model": "scripted", "choices": [choice], "usage": usage()}).to_string()
}

/// A completion with tool calls, whose ids are unique in the conversation.
fn with_calls(turn: usize, text: Option<&str>, calls: &[(&'static str, Value)]) -> String {
    let call = |(at, (name, arguments)): (usize, &(&str, Value))| {
        let function = json!({"name": name, "arguments": arguments.to_string()});
        json!({"id": format!("call-{turn}-{at}"), "type": "function", "function": function})
    };
    let calls: Vec<Value> = calls.iter().enumerate().map(call).collect();
    let message = json!({"role": "assistant", "content": text, "tool_calls": calls});
    let choice = json!({"index": 0, "message": message, "finish_reason": "tool_calls"});
    json!({"id": "x", "model": "scripted", "choices": [choice], "usage": usage()}).to_string()
}

fn usage() -> Value {
    json!({"prompt_tokens": 100, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 64}})
}

/// Streams a text word by word.
fn drip(stream: &mut TcpStream, text: &str, pause: Duration, whole: bool) -> std::io::Result<()> {
    write!(stream, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")?;
    for word in text.split_inclusive(' ') {
        let piece = json!({"model": "scripted", "choices": [{"delta": {"content": word}, "finish_reason": null}]});
        write!(stream, "data: {piece}\n\n")?;
        stream.flush()?;
        thread::sleep(pause);
    }
    if whole {
        let end = json!({"choices": [{"delta": {}, "finish_reason": "stop"}], "usage": usage()});
        write!(stream, "data: {end}\n\ndata: [DONE]\n\n")?;
    }
    stream.flush()
}

/// Ignores poisoning, so that a failing test does not make others fail.
fn locked<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
