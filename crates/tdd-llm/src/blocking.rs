//! Calls models from code that is not async.

use std::io;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use tokio::runtime::{Builder, Runtime};

use crate::client::{Answer, Ask};
use crate::continuation::chat_whole;
use crate::error::LlmError;
use crate::http::HttpClient;
use crate::model::Model;
use crate::probe::{self, Capabilities};

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
        self.runtime.block_on(timed(model, ask))
    }

    /// Answers several requests at the same time, in their order.
    pub fn ask_all(&self, model: &Model, asks: &[Ask]) -> Vec<Result<(Answer, Duration), LlmError>> {
        self.runtime.block_on(join_all(asks.iter().map(|ask| timed(model, ask))))
    }

    /// Probes a model's server.
    pub fn probe(&self, client: &HttpClient) -> Capabilities {
        self.runtime.block_on(probe::probe(client))
    }
}

async fn timed(model: &Model, ask: &Ask) -> Result<(Answer, Duration), LlmError> {
    let asked = Instant::now();
    Ok((chat_whole(model, ask, MAX_CONTINUATIONS).await?, asked.elapsed()))
}
