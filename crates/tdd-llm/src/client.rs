//! A conversation with a model, whoever serves it.

use std::future::Future;

use serde::{Deserialize, Serialize};

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
}

/// One message of a conversation, as it goes over the wire.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who said it.
    pub role: Speaker,
    /// What was said.
    pub content: String,
}

/// Something that answers a conversation.
pub trait LlmClient {
    /// Why there is no answer.
    type Error: std::error::Error + Send + Sync + 'static;
    /// The model's answer to these messages.
    fn chat(&self, messages: Vec<Message>) -> impl Future<Output = Result<String, Self::Error>> + Send;
}
