//! Finds out which features a server supports, with a few tiny requests.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use crate::client::{Ask, Form, FormUsed, Message, ToolSpec};
use crate::error::LlmError;
use crate::http::HttpClient;
use crate::reply::Reply;
use crate::request::Sent;
use crate::retry::CallFailure;

/// Longest duration of [`probe`].
const DEADLINE: Duration = Duration::from_mins(1);

/// Upper limit of the deadline in [`probe_within`].
const LONGEST: Duration = Duration::from_hours(1);

/// Whether a feature works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// It works.
    Yes,
    /// It does not work; the reason.
    No(String),
    /// Unknown; the reason.
    Unknown(String),
}

impl Finding {
    /// Whether the feature is known to work.
    pub fn is_yes(&self) -> bool {
        *self == Self::Yes
    }
}

/// The result of a plain request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contact {
    /// The server answered.
    Answers,
    /// No connection; the reason.
    Unreachable(String),
    /// The server rejected the key; its message.
    Denied(String),
    /// The server does not have the model; its message.
    UnknownModel(String),
    /// The server refused the request for another reason; its message.
    Refused(String),
    /// No answer in time, or the server is busy.
    Silent(String),
}

/// The features of a server and its model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// The result of a plain request.
    pub contact: Contact,
    /// The models that the server lists, if it lists them.
    pub models: Option<Vec<String>>,
    /// JSON that matches a schema.
    pub json_schema: Finding,
    /// Any JSON object.
    pub json_object: Finding,
    /// Real tool calls, not calls written as text.
    pub tools: Finding,
    /// Streamed answers.
    pub streaming: Finding,
    /// Token counts in answers.
    pub usage: Finding,
    /// Code in a fenced block under its path.
    pub fenced_code: Finding,
    /// The same code inside a JSON string.
    pub json_code: Finding,
    /// Speed of an answer with code, prompt included.
    pub tokens_per_second: Option<u64>,
    /// The context of the model, in tokens, if the server tells it.
    pub context_tokens: Option<u64>,
}

/// Tests each feature once.
pub async fn probe(client: &HttpClient) -> Capabilities {
    probe_within(client, DEADLINE).await
}

/// Tests each feature once. Features not answered within this time stay unknown.
pub async fn probe_within(client: &HttpClient, within: Duration) -> Capabilities {
    let probe = Probe { client, deadline: Instant::now() + within.min(LONGEST) };
    let (models, context_tokens) = match probe.models().await {
        Ok(models) => models,
        Err(contact) => return Capabilities::without(contact, None),
    };
    let plain = match probe.once(&plain(), FormUsed::Text).await {
        Ok(reply) => reply,
        Err(failure) => return Capabilities::without(failure.contact(client), models),
    };
    let (fenced_code, tokens_per_second) = probe.fenced_code().await;
    let counted = plain.usage.prompt > 0 && plain.usage.completion > 0;
    Capabilities {
        contact: Contact::Answers,
        models,
        json_schema: probe.find(&greeting(), FormUsed::Schema, is_greeting).await,
        json_object: probe.find(&greeting(), FormUsed::JsonObject, is_object).await,
        tools: probe.find(&tool(), FormUsed::Tools, is_call).await,
        streaming: probe.streaming().await,
        usage: if counted { Finding::Yes } else { Finding::No("the answer has no token counts".to_owned()) },
        fenced_code,
        json_code: probe.find(&code_in_json(), FormUsed::Schema, is_code_in_json).await,
        tokens_per_second,
        context_tokens,
    }
}

impl Capabilities {
    /// All features unknown, because the plain request failed.
    fn without(contact: Contact, models: Option<Vec<String>>) -> Self {
        let why = match &contact {
            Contact::Answers => "not asked",
            Contact::Unreachable(why)
            | Contact::Denied(why)
            | Contact::UnknownModel(why)
            | Contact::Refused(why)
            | Contact::Silent(why) => why,
        };
        let unknown = || Finding::Unknown(why.to_owned());
        Self {
            models,
            json_schema: unknown(),
            json_object: unknown(),
            tools: unknown(),
            streaming: unknown(),
            usage: unknown(),
            fenced_code: unknown(),
            json_code: unknown(),
            tokens_per_second: None,
            context_tokens: None,
            contact,
        }
    }
}

struct Probe<'a> {
    client: &'a HttpClient,
    deadline: Instant,
}

impl Probe<'_> {
    /// The models that the server lists, and the context of ours. An error means that there is no connection and no
    /// point in further requests.
    async fn models(&self) -> Result<(Option<Vec<String>>, Option<u64>), Contact> {
        let list = match self.bounded(self.client.get("models")).await {
            Ok(list) => list,
            Err(missed) if missed.is_unreachable() => return Err(missed.contact(self.client)),
            Err(_) => return Ok((None, None)),
        };
        let Some(models) = list.get("data").unwrap_or(&list).as_array() else { return Ok((None, None)) };
        let name = |model: &Value| model.get("id").and_then(Value::as_str).map(str::to_owned);
        let ours = models.iter().find(|model| name(model).as_deref() == Some(self.client.model()));
        Ok((Some(models.iter().filter_map(name).collect()), ours.and_then(context_of)))
    }

    /// Whether the model writes code into a fenced block, and how fast.
    async fn fenced_code(&self) -> (Finding, Option<u64>) {
        let asked = Instant::now();
        match self.once(&fenced_code(), FormUsed::Text).await {
            Ok(reply) => {
                let tokens = u128::from(reply.usage.completion) * 1_000_000;
                let speed = u64::try_from(tokens / asked.elapsed().as_micros().max(1)).ok();
                (is_fenced_code(&reply).map_or_else(Finding::No, |()| Finding::Yes), speed.filter(|speed| *speed > 0))
            }
            Err(missed) => (missed.finding(self.client), None),
        }
    }

    async fn find(&self, ask: &Ask, form: FormUsed, judge: fn(&Reply) -> Result<(), String>) -> Finding {
        match self.once(ask, form).await {
            Ok(reply) => judge(&reply).map_or_else(Finding::No, |()| Finding::Yes),
            Err(failure) => failure.finding(self.client),
        }
    }

    async fn streaming(&self) -> Finding {
        let sent = Sent { form: FormUsed::Text, temperature: None, stream: true, stream_options: false };
        match self.bounded(self.client.once(&plain(), &sent)).await {
            Ok(reply) if reply.streamed => Finding::Yes,
            Ok(_) => Finding::No("the answer comes in one piece".to_owned()),
            Err(failure) => failure.finding(self.client),
        }
    }

    async fn once(&self, ask: &Ask, form: FormUsed) -> Result<Reply, ProbeFailure> {
        let sent = Sent { form, temperature: None, stream: false, stream_options: false };
        self.bounded(self.client.once(ask, &sent)).await
    }

    /// Runs one request until the deadline or until stop is requested.
    async fn bounded<T>(&self, work: impl Future<Output = Result<T, CallFailure>>) -> Result<T, ProbeFailure> {
        let work = async { Ok(timeout_at(self.deadline, work).await) };
        match self.client.stop().run_until_stopped(work).await {
            Ok(Ok(Ok(value))) => Ok(value),
            Ok(Ok(Err(failure))) => Err(ProbeFailure::Call(failure)),
            Ok(Err(_)) => Err(ProbeFailure::Late("the server took too long".to_owned())),
            Err(cancelled) => Err(ProbeFailure::Late(cancelled.to_string())),
        }
    }
}

/// Why a request got no answer.
enum ProbeFailure {
    Call(CallFailure),
    Late(String),
}

impl ProbeFailure {
    fn is_unreachable(&self) -> bool {
        let Self::Call(CallFailure::Passing(error) | CallFailure::Lasting(error)) = self else { return false };
        error.is_no_connection()
    }

    /// Whether the failure says nothing about the feature, because the server is busy or gone.
    fn is_silence(failure: &CallFailure) -> bool {
        !matches!(failure, CallFailure::Refused(refusal) if !matches!(refusal.status, 408 | 429 | 502..=599))
    }

    fn contact(self, client: &HttpClient) -> Contact {
        let unreachable = self.is_unreachable();
        let failure = match self {
            Self::Late(why) => return Contact::Silent(why),
            Self::Call(failure) => failure,
        };
        let silent = Self::is_silence(&failure);
        let error = client.error(failure, 0);
        let words = error.to_string();
        match error {
            _ if unreachable => Contact::Unreachable(words),
            _ if silent => Contact::Silent(words),
            LlmError::Denied { .. } => Contact::Denied(words),
            LlmError::ModelUnknown { .. } => Contact::UnknownModel(words),
            _ => Contact::Refused(words),
        }
    }

    fn finding(self, client: &HttpClient) -> Finding {
        let failure = match self {
            Self::Late(why) => return Finding::Unknown(why),
            Self::Call(failure) => failure,
        };
        let silent = Self::is_silence(&failure);
        let reason = client.error(failure, 0).to_string();
        if silent { Finding::Unknown(reason) } else { Finding::No(reason) }
    }
}

fn asked(text: &str, form: Form) -> Ask {
    Ask { key: "probe".to_owned(), messages: vec![Message::user(text)], form, repeated: 0, max_tokens: None }
}

fn plain() -> Ask {
    asked("Answer with one word: hello", Form::Text)
}

/// Servers require the word JSON in the messages of such a request.
fn greeting() -> Ask {
    let greeting = json!({ "greeting": { "type": "string" } });
    let schema =
        json!({ "type": "object", "properties": greeting, "required": ["greeting"], "additionalProperties": false });
    asked("Greet me with one word, in JSON.", Form::Schema { name: "greeting".to_owned(), schema })
}

fn tool() -> Ask {
    let city = json!({ "city": { "type": "string" } });
    let parameters = json!({ "type": "object", "properties": city, "required": ["city"] });
    let description = "Looks up the weather in a city".to_owned();
    let tool = ToolSpec { name: "weather".to_owned(), description, parameters };
    asked("Use the tool to look up the weather in Paris.", Form::Tools(vec![tool]))
}

/// A function that is short enough for a slow server, and long enough to need line ends.
const FUNCTION: &str = "Write a Python function `double(n)` that returns twice its argument.";

fn fenced_code() -> Ask {
    let form = "Answer with the path `calc.py` alone on a line, then the code in a fenced block, and nothing else.";
    asked(&format!("{FUNCTION} {form}"), Form::Text)
}

fn code_in_json() -> Ask {
    let text = || json!({ "type": "string" });
    let properties = json!({ "path": text(), "content": text() });
    let schema = json!({
        "type": "object", "properties": properties, "required": ["path", "content"], "additionalProperties": false
    });
    let form = "Answer in JSON: `path` is `calc.py`, `content` is the whole file.";
    asked(&format!("{FUNCTION} {form}"), Form::Schema { name: "file".to_owned(), schema })
}

/// The context of a listed model, by the names that servers give it.
fn context_of(model: &Value) -> Option<u64> {
    let places = ["/max_model_len", "/context_length", "/max_context_length", "/context_window", "/meta/n_ctx_train"];
    places.iter().find_map(|place| model.pointer(place)?.as_u64())
}

fn is_fenced_code(reply: &Reply) -> Result<(), String> {
    let block = reply.content.split("```").nth(1).filter(|block| is_function(block));
    if block.is_some() { Ok(()) } else { Err("the answer has no fenced block with the code".to_owned()) }
}

fn is_code_in_json(reply: &Reply) -> Result<(), String> {
    let file = object(reply);
    let content = file.as_ref().and_then(|file| file.get("content")?.as_str());
    if content.is_some_and(is_function) { Ok(()) } else { Err("the answer has no usable code in its JSON".to_owned()) }
}

/// Whether a text holds the function, with a body on a line of its own or behind the colon.
fn is_function(text: &str) -> bool {
    let body = text.split_once("def double(").and_then(|(_, rest)| rest.split_once("return"));
    body.is_some_and(|(head, body)| head.contains(':') && !head.contains("\\n") && !body.trim().is_empty())
}

fn is_greeting(reply: &Reply) -> Result<(), String> {
    let fits = object(reply).is_some_and(|value| value.get("greeting").is_some_and(Value::is_string));
    if fits { Ok(()) } else { Err("the answer does not fit the schema that was sent".to_owned()) }
}

fn is_object(reply: &Reply) -> Result<(), String> {
    if object(reply).is_some() { Ok(()) } else { Err("the answer is not a JSON object".to_owned()) }
}

fn is_call(reply: &Reply) -> Result<(), String> {
    let called = reply.tool_calls.iter().any(|call| call.name == "weather");
    if called { Ok(()) } else { Err("the answer calls no tool, though one was offered".to_owned()) }
}

fn object(reply: &Reply) -> Option<Value> {
    serde_json::from_str(&reply.content).ok().filter(Value::is_object)
}
