//! The model of a run: a server, a recorded server, or a replay.

use crate::client::{Answer, Ask, LlmClient};
use crate::error::LlmError;
use crate::http::HttpClient;
use crate::recorder::{Recorder, Tape};
use crate::replay::Replay;

/// A model chosen at run time.
pub enum Model {
    /// At a server.
    Server(HttpClient),
    /// At a server, with every exchange recorded.
    Recorded(Recorder<HttpClient>),
    /// From a cassette.
    Replay(Replay),
}

impl Model {
    /// The model at a server, recorded if there is a tape.
    pub fn at(client: HttpClient, tape: Option<Tape>) -> Self {
        match tape {
            Some(tape) => Self::Recorded(Recorder::new(client, tape)),
            None => Self::Server(client),
        }
    }
}

impl LlmClient for Model {
    type Error = LlmError;

    async fn chat(&self, ask: &Ask) -> Result<Answer, LlmError> {
        match self {
            Self::Server(client) => client.chat(ask).await,
            Self::Recorded(client) => client.chat(ask).await,
            Self::Replay(client) => client.chat(ask).await,
        }
    }
}
