//! The cassette format: exchanges with a model as JSON lines, looked up by key.

use serde::{Deserialize, Serialize};

use crate::client::{Answer, Ask, Form, Message};
use crate::error::LlmError;

/// One line of a cassette. Only the key and the answer's content are required.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exchange {
    /// The request.
    pub ask: Asked,
    /// The answer; absent if the call failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
    /// Why the call failed. A replay skips such a line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A request as the cassette stores it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// The key for lookup.
    pub key: String,
    /// The requested answer format.
    #[serde(default)]
    pub form: FormAsked,
    /// The conversation, for human readers: a replay does not compare it, so prompts may change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<Message>,
}

/// The requested answer format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FormAsked {
    /// Matches every format; the default for lines written by hand.
    #[default]
    Any,
    /// Prose.
    Text,
    /// JSON.
    Schema,
    /// Tool calls.
    Tools,
}

impl From<&Form> for FormAsked {
    fn from(form: &Form) -> Self {
        match form {
            Form::Text => Self::Text,
            Form::Schema { .. } => Self::Schema,
            Form::Tools(_) => Self::Tools,
        }
    }
}

impl From<&Ask> for Asked {
    fn from(ask: &Ask) -> Self {
        Self { key: ask.key.clone(), form: FormAsked::from(&ask.form), messages: ask.messages.clone() }
    }
}

/// Parses a cassette. Skips empty lines; an error names the line that cannot be parsed.
pub fn read(text: &str) -> Result<Vec<Exchange>, LlmError> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(index, line)| exchange(line).map_err(|reason| LlmError::Cassette { line: index + 1, reason })).collect()
}

fn exchange(line: &str) -> Result<Exchange, String> {
    let exchange: Exchange = serde_json::from_str(line).map_err(|error| error.to_string())?;
    if exchange.answer.is_none() && exchange.error.is_none() {
        return Err("there is neither an answer nor an error".to_owned());
    }
    Ok(exchange)
}
