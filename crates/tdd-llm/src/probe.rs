//! Finds out which features a server supports, with a few tiny requests.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use crate::client::{Ask, Form, FormUsed, Message, ToolSpec};
use crate::error::LlmError;
use crate::http::HttpClient;
use crate::reply::Reply;
use crate::request::Sent;
use crate::retry::Trouble;

/// Longest duration of [`probe`].
const DEADLINE: Duration = Duration::from_secs(30);

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
}

/// Tests each feature once.
pub async fn probe(client: &HttpClient) -> Capabilities {
    probe_within(client, DEADLINE).await
}

/// Tests each feature once. Features not answered within this time stay unknown.
pub async fn probe_within(client: &HttpClient, within: Duration) -> Capabilities {
    let probe = Probe { client, deadline: Instant::now() + within.min(LONGEST) };
    let models = match probe.models().await {
        Ok(models) => models,
        Err(contact) => return Capabilities::without(contact, None),
    };
    let plain = match probe.once(&plain(), FormUsed::Text).await {
        Ok(reply) => reply,
        Err(missed) => return Capabilities::without(missed.contact(client), models),
    };
    let counted = plain.usage.prompt > 0 && plain.usage.completion > 0;
    Capabilities {
        contact: Contact::Answers,
        models,
        json_schema: probe.find(&greeting(), FormUsed::Schema, is_greeting).await,
        json_object: probe.find(&greeting(), FormUsed::JsonObject, is_object).await,
        tools: probe.find(&tool(), FormUsed::Tools, is_call).await,
        streaming: probe.streaming().await,
        usage: if counted { Finding::Yes } else { Finding::No("the answer has no token counts".to_owned()) },
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
        let [json_schema, json_object, tools, streaming, usage] = [(); 5].map(|()| Finding::Unknown(why.to_owned()));
        Self { contact, models, json_schema, json_object, tools, streaming, usage }
    }
}

struct Probe<'a> {
    client: &'a HttpClient,
    deadline: Instant,
}

impl Probe<'_> {
    /// The models that the server lists. An error means that there is no connection and no point in further requests.
    async fn models(&self) -> Result<Option<Vec<String>>, Contact> {
        let list = match self.bounded(self.client.get("models")).await {
            Ok(list) => list,
            Err(missed) if missed.is_unreachable() => return Err(missed.contact(self.client)),
            Err(_) => return Ok(None),
        };
        let names = list.get("data").unwrap_or(&list).as_array();
        Ok(names.map(|names| names.iter().filter_map(|model| model.get("id")?.as_str().map(str::to_owned)).collect()))
    }

    async fn find(&self, ask: &Ask, form: FormUsed, judge: fn(&Reply) -> Result<(), String>) -> Finding {
        match self.once(ask, form).await {
            Ok(reply) => judge(&reply).map_or_else(Finding::No, |()| Finding::Yes),
            Err(missed) => missed.finding(self.client),
        }
    }

    async fn streaming(&self) -> Finding {
        let sent = Sent { form: FormUsed::Text, temperature: None, stream: true, stream_options: false };
        match self.bounded(self.client.once(&plain(), &sent)).await {
            Ok(reply) if reply.streamed => Finding::Yes,
            Ok(_) => Finding::No("the answer comes in one piece".to_owned()),
            Err(missed) => missed.finding(self.client),
        }
    }

    async fn once(&self, ask: &Ask, form: FormUsed) -> Result<Reply, Missed> {
        let sent = Sent { form, temperature: None, stream: false, stream_options: false };
        self.bounded(self.client.once(ask, &sent)).await
    }

    /// Runs one request until the deadline or until stop is requested.
    async fn bounded<T>(&self, work: impl Future<Output = Result<T, Trouble>>) -> Result<T, Missed> {
        let work = async { Ok(timeout_at(self.deadline, work).await) };
        match self.client.stop().unless(work).await {
            Ok(Ok(Ok(value))) => Ok(value),
            Ok(Ok(Err(trouble))) => Err(Missed::Trouble(trouble)),
            Ok(Err(_)) => Err(Missed::Late("the server took too long".to_owned())),
            Err(cancelled) => Err(Missed::Late(cancelled.to_string())),
        }
    }
}

/// Why a request got no answer.
enum Missed {
    Trouble(Trouble),
    Late(String),
}

impl Missed {
    fn is_unreachable(&self) -> bool {
        let Self::Trouble(Trouble::Passing(error) | Trouble::Lasting(error)) = self else { return false };
        error.is_no_connection()
    }

    /// Whether the failure says nothing about the feature, because the server is busy or gone.
    fn is_silence(trouble: &Trouble) -> bool {
        !matches!(trouble, Trouble::Refused(refusal) if !matches!(refusal.status, 408 | 429 | 502..=599))
    }

    fn contact(self, client: &HttpClient) -> Contact {
        let unreachable = self.is_unreachable();
        let trouble = match self {
            Self::Late(why) => return Contact::Silent(why),
            Self::Trouble(trouble) => trouble,
        };
        let silent = Self::is_silence(&trouble);
        let error = client.error(trouble, 0);
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
        let trouble = match self {
            Self::Late(why) => return Finding::Unknown(why),
            Self::Trouble(trouble) => trouble,
        };
        let silent = Self::is_silence(&trouble);
        let reason = client.error(trouble, 0).to_string();
        if silent { Finding::Unknown(reason) } else { Finding::No(reason) }
    }
}

fn asked(text: &str, form: Form) -> Ask {
    Ask { key: "probe".to_owned(), messages: vec![Message::user(text)], form, repeated: 0 }
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
