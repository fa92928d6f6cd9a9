//! Calls models from code that is not async.

use std::io;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};

use crate::client::{Answer, Ask};
use crate::error::LlmError;
use crate::http::HttpClient;
use crate::model::Model;
use crate::probe::{self, Capabilities};
use crate::whole::chat_whole;

/// How often a text answer that was cut off is continued.
const MAX_CONTINUATIONS: u32 = 3;

/// Waits for each call.
#[derive(Debug)]
pub struct Caller {
    runtime: Runtime,
}

impl Caller {
    /// Starts a runtime on the current thread.
    pub fn new() -> io::Result<Self> {
        Ok(Self { runtime: Builder::new_current_thread().enable_all().build()? })
    }

    /// Returns the model's whole answer and the wall time of the call, retries included.
    pub fn ask(&self, model: &Model, ask: &Ask) -> Result<(Answer, Duration), LlmError> {
        let asked = Instant::now();
        let answer = self.runtime.block_on(chat_whole(model, ask, MAX_CONTINUATIONS))?;
        Ok((answer, asked.elapsed()))
    }

    /// Probes a model's server.
    pub fn probe(&self, client: &HttpClient) -> Capabilities {
        self.runtime.block_on(probe::probe(client))
    }
}
