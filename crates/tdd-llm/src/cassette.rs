//! The cassette: exchanges with a model as JSON lines, each found again by its key.

use serde::{Deserialize, Serialize};

use crate::client::{Answer, Ask, Form, Message};
use crate::error::LlmError;

/// One line of a cassette. Only the key and the answer's content must be there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exchange {
    /// What was asked.
    pub ask: Asked,
    /// What came back; none if the call failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
    /// Why nothing came back. A replay passes over such a line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// An ask as a cassette keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// By which it is found.
    pub key: String,
    /// The kind of answer.
    #[serde(default)]
    pub form: FormAsked,
    /// The conversation, for people: a replay does not compare it, so that prompts may change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<Message>,
}

/// The kind of answer that was asked for; `any` in a line that was written by hand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FormAsked {
    /// Whatever is asked for.
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

/// Reads a cassette. Empty lines are passed over; one that cannot be read is an error that names it.
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
