//! Records every exchange with a model on a cassette, without API keys.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use secrecy::{ExposeSecret, SecretString};

use crate::cassette::{Asked, Exchange};
use crate::client::{Answer, Ask, LlmClient};
use crate::error::LlmError;

/// A cassette that several clients write to, one whole line at a time.
#[derive(Clone)]
pub struct Tape {
    out: Arc<Mutex<dyn Write + Send>>,
    secrets: Arc<[SecretString]>,
}

impl Tape {
    /// Creates a cassette; the secrets are replaced before anything is written.
    pub fn new(out: impl Write + Send + 'static, secrets: Vec<SecretString>) -> Self {
        let secrets = secrets.into_iter().filter(|secret| !secret.expose_secret().trim().is_empty());
        Self { out: Arc::new(Mutex::new(out)), secrets: secrets.collect() }
    }

    fn write(&self, exchange: &Exchange) -> Result<(), LlmError> {
        let mut line = serde_json::to_string(exchange).map_err(|error| LlmError::Record(error.into()))?;
        for secret in self.secrets.iter() {
            line = line.replace(&in_json(secret), "[key]");
        }
        line.push('\n');
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        out.write_all(line.as_bytes()).and_then(|()| out.flush()).map_err(LlmError::Record)
    }
}

/// A client that records its exchanges.
pub struct Recorder<C> {
    client: C,
    tape: Tape,
}

impl<C> Recorder<C> {
    /// Records the requests and answers of this client.
    pub fn new(client: C, tape: Tape) -> Self {
        Self { client, tape }
    }
}

impl<C> LlmClient for Recorder<C>
where
    C: LlmClient + Sync,
    C::Error: From<LlmError>,
{
    type Error = C::Error;

    /// Fails if the answer cannot be recorded, because a gap in the cassette would only show much later.
    async fn chat(&self, ask: &Ask) -> Result<Answer, C::Error> {
        let result = self.client.chat(ask).await;
        let (answer, error) = match &result {
            Ok(answer) => (Some(answer.clone()), None),
            Err(error) => (None, Some(error.to_string())),
        };
        self.tape.write(&Exchange { ask: Asked::from(ask), answer, error })?;
        result
    }
}

/// A secret as it appears inside of a JSON string.
fn in_json(secret: &SecretString) -> String {
    let quoted = serde_json::Value::from(secret.expose_secret().trim()).to_string();
    quoted.trim_matches('"').to_owned()
}
