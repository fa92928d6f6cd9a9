//! A conversation with a model, whoever serves it.

use std::future::Future;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Who said something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Speaker {
    /// The instructions.
    System,
    /// Us.
    User,
    /// The model.
    Assistant,
    /// What a tool answered to the model.
    Tool,
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who said it.
    pub role: Speaker,
    /// What was said.
    #[serde(default)]
    pub content: String,
    /// The tools that the model called in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// The call that a tool's message answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
}

impl Message {
    /// Instructions.
    pub fn system(text: impl Into<String>) -> Self {
        Self::said(Speaker::System, text)
    }

    /// Our words.
    pub fn user(text: impl Into<String>) -> Self {
        Self::said(Speaker::User, text)
    }

    /// The model's words.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::said(Speaker::Assistant, text)
    }

    /// What the tool answered to the call of this id.
    pub fn tool(id: impl Into<String>, text: impl Into<String>) -> Self {
        Self { tool_call_id: Some(id.into()), ..Self::said(Speaker::Tool, text) }
    }

    fn said(role: Speaker, text: impl Into<String>) -> Self {
        Self { role, content: text.into(), tool_calls: Vec::new(), tool_call_id: None }
    }
}

/// A tool that the model wants to be called.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// What its answer refers to.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The JSON text, as the model gave it: it may be anything.
    pub arguments: String,
}

/// A tool that the model may call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// What the model calls it.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The JSON schema of its arguments.
    pub parameters: Value,
}

/// What kind of answer is asked for.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// Prose.
    Text,
    /// JSON that fits a schema; how strictly depends on the server, see [`Answer::form`].
    Schema {
        /// The schema's name.
        name: String,
        /// The schema.
        schema: Value,
    },
    /// Calls of these tools, or prose.
    Tools(Vec<ToolSpec>),
}

/// A conversation that waits for its next message.
#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    /// Names this call in a cassette; servers never see it.
    pub key: String,
    /// What was said so far.
    pub messages: Vec<Message>,
    /// What kind of answer is asked for.
    pub form: Form,
    /// How often the model came back with what had failed before: the more, the more variety is asked of it.
    pub repeated: u32,
}

/// What a model answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// Its words.
    #[serde(default)]
    pub content: String,
    /// The tools that it calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// Why it ends here.
    #[serde(default)]
    pub finish: Finish,
    /// What it cost.
    #[serde(default)]
    pub usage: Usage,
    /// Who answered, by the server's word.
    #[serde(default)]
    pub model: String,
    /// What the server really took.
    #[serde(default)]
    pub form: FormUsed,
    /// How long it took, with all retries.
    #[serde(default)]
    pub duration_ms: u64,
    /// How often it was asked again.
    #[serde(default)]
    pub retries: u32,
}

impl Answer {
    /// The answer as the next message of its conversation.
    pub fn message(&self) -> Message {
        Message { tool_calls: self.tool_calls.clone(), ..Message::assistant(self.content.clone()) }
    }
}

/// Why an answer ends where it does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// The model had no more to say.
    #[default]
    Stop,
    /// It was cut off: too many tokens.
    Length,
    /// It waits for its tools.
    ToolCalls,
    /// The server held the rest back.
    ContentFilter,
    /// Another word of the server's.
    Other(String),
}

/// The form of answer that a server was asked for in the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FormUsed {
    /// No form at all.
    #[default]
    Text,
    /// Some JSON object.
    JsonObject,
    /// JSON that fits the schema.
    Schema,
    /// Tool calls.
    Tools,
}

/// Tokens of one call, as far as the server counted them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Of the conversation, cached ones included.
    pub prompt: u64,
    /// Those of the prompt that the server had cached.
    pub cached: u64,
    /// Of the answer.
    pub completion: u64,
}

impl Usage {
    /// Both together, as if it had been one call.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            prompt: self.prompt.saturating_add(other.prompt),
            cached: self.cached.saturating_add(other.cached),
            completion: self.completion.saturating_add(other.completion),
        }
    }
}

/// Something that answers a conversation.
pub trait LlmClient {
    /// Why there is no answer.
    type Error: std::error::Error + Send + Sync + 'static;
    /// The model's answer to this conversation. It may be cut off: see [`Answer::finish`].
    fn chat(&self, ask: &Ask) -> impl Future<Output = Result<Answer, Self::Error>> + Send;
}

impl<C: LlmClient + Send + Sync> LlmClient for Arc<C> {
    type Error = C::Error;

    fn chat(&self, ask: &Ask) -> impl Future<Output = Result<Answer, Self::Error>> + Send {
        self.as_ref().chat(ask)
    }
}
