//! The types of a conversation with a model, independent of its server.

use std::future::Future;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The sender of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Speaker {
    /// The instructions.
    System,
    /// The program.
    User,
    /// The model.
    Assistant,
    /// The result of a tool.
    Tool,
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// The sender.
    pub role: Speaker,
    /// The text.
    #[serde(default)]
    pub content: String,
    /// The tools that the model calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// The tool call that a tool's message answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
}

impl Message {
    /// A system message.
    pub fn system(text: impl Into<String>) -> Self {
        Self::said(Speaker::System, text)
    }

    /// A message from the program.
    pub fn user(text: impl Into<String>) -> Self {
        Self::said(Speaker::User, text)
    }

    /// A message from the model.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::said(Speaker::Assistant, text)
    }

    /// The result of the tool call with this id.
    pub fn tool(id: impl Into<String>, text: impl Into<String>) -> Self {
        Self { tool_call_id: Some(id.into()), ..Self::said(Speaker::Tool, text) }
    }

    fn said(role: Speaker, text: impl Into<String>) -> Self {
        Self { role, content: text.into(), tool_calls: Vec::new(), tool_call_id: None }
    }
}

/// A call of a tool by the model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The id that the tool's result refers to.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments as the model wrote them; not necessarily valid JSON.
    pub arguments: String,
}

/// A tool that the model may call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// The name the model uses to call it.
    pub name: String,
    /// What the tool does.
    pub description: String,
    /// The JSON schema of its arguments.
    pub parameters: Value,
}

/// The requested answer format.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// Plain text.
    Text,
    /// JSON that matches a schema. How strictly it is enforced depends on the server, see [`Answer::form`].
    Schema {
        /// The schema's name.
        name: String,
        /// The schema.
        schema: Value,
    },
    /// Calls of these tools, or plain text.
    Tools(Vec<ToolSpec>),
}

/// A conversation that needs an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    /// Names this call in a cassette; never sent to a server.
    pub key: String,
    /// The messages so far.
    pub messages: Vec<Message>,
    /// The requested answer format.
    pub form: Form,
    /// How often the model repeated a failed answer; each repetition raises the temperature.
    pub repeated: u32,
    /// Most tokens of the answer, if the beginning of a long one is enough. Small models often do not come to an end.
    pub max_tokens: Option<u32>,
}

/// A model's answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The text.
    #[serde(default)]
    pub content: String,
    /// The tools that the model calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// Why the answer ends.
    #[serde(default)]
    pub finish: Finish,
    /// The tokens it used.
    #[serde(default)]
    pub usage: Usage,
    /// The model's name as the server reports it.
    #[serde(default)]
    pub model: String,
    /// The answer format that the server accepted.
    #[serde(default)]
    pub form: FormUsed,
    /// Duration of the call, including all retries.
    #[serde(default)]
    pub duration_ms: u64,
    /// Number of retries.
    #[serde(default)]
    pub retries: u32,
}

impl Answer {
    /// The answer as the next message of its conversation.
    pub fn message(&self) -> Message {
        Message { tool_calls: self.tool_calls.clone(), ..Message::assistant(self.content.clone()) }
    }
}

/// Why an answer ends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// The answer is complete.
    #[default]
    Stop,
    /// The answer was cut off at the token limit.
    Length,
    /// The model waits for tool results.
    ToolCalls,
    /// The server's content filter withheld the rest.
    ContentFilter,
    /// Another reason, as the server names it.
    Other(String),
}

/// The answer format that the server was asked for in the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FormUsed {
    /// Plain text.
    #[default]
    Text,
    /// Any JSON object.
    JsonObject,
    /// JSON that matches the schema.
    Schema,
    /// Tool calls.
    Tools,
}

/// Token counts of one call; 0 where the server does not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the conversation, including cached ones.
    pub prompt: u64,
    /// Prompt tokens that the server had cached.
    pub cached: u64,
    /// Tokens of the answer.
    pub completion: u64,
}

impl Usage {
    /// Adds the counts of two calls.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            prompt: self.prompt.saturating_add(other.prompt),
            cached: self.cached.saturating_add(other.cached),
            completion: self.completion.saturating_add(other.completion),
        }
    }
}

/// Answers conversations.
pub trait LlmClient {
    /// Why a call failed.
    type Error: std::error::Error + Send + Sync + 'static;
    /// Answers a conversation. The answer may be cut off: see [`Answer::finish`].
    fn chat(&self, ask: &Ask) -> impl Future<Output = Result<Answer, Self::Error>> + Send;
}

impl<C: LlmClient + Send + Sync> LlmClient for Arc<C> {
    type Error = C::Error;

    fn chat(&self, ask: &Ask) -> impl Future<Output = Result<Answer, Self::Error>> + Send {
        self.as_ref().chat(ask)
    }
}
