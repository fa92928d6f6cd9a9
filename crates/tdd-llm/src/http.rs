//! Calls a server over HTTP: retries temporary failures, falls back to features the server supports, and respects
//! timeouts.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use secrecy::SecretString;
use tokio::time::Instant;

use crate::client::{Answer, Ask, Finish, Form, LlmClient};
use crate::error::{self, LlmError};
use crate::refusal::Refusal;
use crate::reply::{End, Reply};
use crate::request::{self, Sent};
use crate::retry::{self, CallFailure, Next, Tally};
use crate::route::Route;
use crate::server_capabilities::{self, ServerCapabilities};
use crate::stop::Stop;
use crate::transport::Transport;

/// A model at a server, and how to call it.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// The server and the model's name there.
    pub route: Route,
    /// The API key, if the server needs one.
    pub key: Option<SecretString>,
    /// From 0 to 2; the server's default if absent.
    pub temperature: Option<f64>,
    /// Timeouts of one try.
    pub timeouts: Timeouts,
    /// Most retries of a failed call.
    pub max_retries: u32,
    /// Whether to request a streamed answer.
    pub stream: bool,
    /// End of the run: a wait that a server demands must not go beyond it.
    pub until: Option<std::time::Instant>,
}

impl Endpoint {
    /// A server without a key, with default settings.
    pub fn new(route: Route) -> Self {
        let timeouts = Timeouts::default();
        Self { route, key: None, temperature: None, timeouts, max_retries: 5, stream: true, until: None }
    }
}

/// Timeouts of one try. A call takes at most `max_retries + 1` times `whole`, plus the waits between tries, which the
/// server may set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// For the connection.
    pub connect: Duration,
    /// For the first token of a stream, and for each next one.
    pub first_token: Duration,
    /// For one whole answer.
    pub whole: Duration,
    /// Wait before the first retry; it doubles with each retry.
    pub retry_base: Duration,
}

impl Timeouts {
    /// Timeouts for answers that may take this long.
    pub fn within(whole: Duration) -> Self {
        let (connect, retry_base) = (Duration::from_secs(10).min(whole), Duration::from_millis(500));
        Self { connect, first_token: whole / 2, whole, retry_base }
    }
}

impl Default for Timeouts {
    fn default() -> Self {
        Self::within(Duration::from_mins(10))
    }
}

/// Calls one model at one server. Clones share what was learned about the server.
///
/// Needs a tokio runtime with time and network enabled.
#[derive(Clone, Debug)]
pub struct HttpClient {
    endpoint: Arc<Endpoint>,
    transport: Transport,
    capabilities: Arc<Mutex<ServerCapabilities>>,
    stop: Stop,
    wait_listener: WaitListener,
}

/// Receives one line for the user.
type Listener = dyn Fn(&str) + Send + Sync;

/// Receives a line when a server demands a wait.
#[derive(Clone, Default)]
struct WaitListener(Option<Arc<Listener>>);

impl fmt::Debug for WaitListener {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("WaitListener").field(&self.0.is_some()).finish()
    }
}

impl HttpClient {
    /// A client whose calls end when `stop` is requested.
    pub fn new(endpoint: Endpoint, stop: Stop) -> Result<Self, LlmError> {
        let transport = Transport::new(&endpoint)?;
        Ok(Self {
            endpoint: Arc::new(endpoint),
            transport,
            capabilities: Arc::default(),
            stop,
            wait_listener: WaitListener::default(),
        })
    }

    /// Calls `wait_listener` with one line whenever the server demands a wait.
    #[must_use]
    pub fn with_wait_listener(self, tell: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self { wait_listener: WaitListener(Some(Arc::new(tell))), ..self }
    }

    /// The server's address, without secrets.
    pub fn server(&self) -> &str {
        &self.transport.server
    }

    /// The model's name at the server.
    pub fn model(&self) -> &str {
        &self.endpoint.route.model
    }

    pub(crate) fn stop(&self) -> &Stop {
        &self.stop
    }

    /// Fetches JSON from a path below the server's address.
    pub(crate) async fn get(&self, path: &str) -> Result<serde_json::Value, CallFailure> {
        self.transport.get(path).await
    }

    /// Sends a request once, without retries.
    pub(crate) async fn once(&self, ask: &Ask, sent: &Sent) -> Result<Reply, CallFailure> {
        let body = request::body(self.model(), ask, sent);
        self.transport.post(body, sent.stream).await
    }

    fn capabilities(&self) -> MutexGuard<'_, ServerCapabilities> {
        self.capabilities.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn ask(&self, ask: &Ask) -> Result<Answer, LlmError> {
        let begun = Instant::now();
        let mut call = self.begin(ask)?;
        loop {
            let failure = match self.once(ask, &call.sent).await {
                Ok(reply) => return Ok(self.answer(ask, &call, reply, begun)),
                Err(failure) => failure,
            };
            self.note(&mut call, &failure);
            match retry::next(&failure, &call.sent, &call.tally) {
                Next::Again(wait) => {
                    self.pause(wait, &failure, call.tally.retries).await?;
                    call.tally.retries += 1;
                }
                Next::Simpler => match server_capabilities::simpler(call.sent.form) {
                    Some(form) => call.step_down(form),
                    None => return Err(self.no_tools(failure)),
                },
                Next::Without(extra) => {
                    let mut capabilities = self.capabilities();
                    capabilities.without(extra);
                    let form = call.sent.form;
                    call.sent = Sent { form, ..self.to_send(ask, &capabilities) };
                }
                Next::End => return Err(self.error(failure, call.tally.retries)),
            }
        }
    }

    /// Waits before a retry: as long as the server demands, and at least our own backoff. Fails at once if the wait
    /// would outlast the run.
    async fn pause(&self, asked: Option<Duration>, failure: &CallFailure, retries: u32) -> Result<(), LlmError> {
        if let (Some(wait), CallFailure::Refused(refusal)) = (asked, failure) {
            self.announce(wait, refusal)?;
        }
        let own = retry::backoff(self.endpoint.timeouts.retry_base, retries, retry::chance());
        tokio::time::sleep(asked.unwrap_or_default().max(own)).await;
        Ok(())
    }

    fn announce(&self, wait: Duration, refusal: &Refusal) -> Result<(), LlmError> {
        let (server, status, words) = (self.server(), refusal.status, refusal.words.clone());
        let left = self.endpoint.until.map(|until| until.saturating_duration_since(std::time::Instant::now()));
        if let Some(left) = left.filter(|left| wait > *left) {
            return Err(LlmError::NoTime { server: server.to_owned(), status, wait, left, words });
        }
        if let Some(tell) = self.wait_listener.0.as_ref().filter(|_| !wait.is_zero()) {
            tell(&format!("`{server}` asks us to wait {} ({status}): {words}", error::seconds(wait)));
        }
        Ok(())
    }

    /// Records what a failed try shows about the server.
    fn note(&self, call: &mut Call, failure: &CallFailure) {
        if let CallFailure::Refused(refusal) = failure {
            self.capabilities().reached = true;
            call.tally.faults += u32::from(refusal.status == 500);
        }
        call.tally.reached = self.capabilities().reached;
    }

    fn begin(&self, ask: &Ask) -> Result<Call, LlmError> {
        let capabilities = self.capabilities();
        if let (Form::Tools(_), Some(words)) = (&ask.form, &capabilities.no_tools) {
            return Err(LlmError::NoTools { server: self.server().to_owned(), words: words.clone() });
        }
        let max_retries = self.endpoint.max_retries;
        let tally = Tally { max_retries, tools_proven: capabilities.tools_proven, ..Tally::default() };
        Ok(Call { sent: self.to_send(ask, &capabilities), tally, stepped_down: false })
    }

    fn to_send(&self, ask: &Ask, capabilities: &ServerCapabilities) -> Sent {
        let temperature = self.endpoint.temperature.map(|set| raised_temperature(set, ask.repeated));
        capabilities.to_send(&ask.form, temperature, self.endpoint.stream)
    }

    fn answer(&self, ask: &Ask, call: &Call, reply: Reply, begun: Instant) -> Answer {
        let mut capabilities = self.capabilities();
        capabilities.reached = true;
        capabilities.worked(&call.sent, &ask.form, call.stepped_down);
        capabilities.tools_proven |= !reply.tool_calls.is_empty();
        let finish = match reply.end() {
            End::Regular(finish) => finish,
            End::Broken(reason) => Finish::Other(reason),
        };
        Answer {
            content: reply.content,
            tool_calls: reply.tool_calls,
            finish,
            usage: reply.usage,
            model: reply.model.unwrap_or_else(|| self.model().to_owned()),
            form: call.sent.form,
            duration_ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
            retries: call.tally.retries,
        }
    }

    fn no_tools(&self, failure: CallFailure) -> LlmError {
        let words = match failure {
            CallFailure::Refused(refusal) => refusal.words,
            CallFailure::Passing(error) | CallFailure::Lasting(error) => error.to_string(),
        };
        self.capabilities().no_tools = Some(words.clone());
        LlmError::NoTools { server: self.server().to_owned(), words }
    }

    /// The error for the user after the last try.
    pub(crate) fn error(&self, failure: CallFailure, retries: u32) -> LlmError {
        let refusal = match failure {
            CallFailure::Refused(refusal) => refusal,
            CallFailure::Passing(error) | CallFailure::Lasting(error) => return error,
        };
        let (server, status) = (self.server().to_owned(), refusal.status);
        let (too_long, unknown_model) = (refusal.is_too_long(), refusal.may_be_unknown_model());
        let words = refusal.words;
        match status {
            401 | 403 => LlmError::Denied { server, status, words },
            _ if too_long => LlmError::ContextTooLong { server, words },
            _ if unknown_model => LlmError::ModelUnknown { server, model: self.model().to_owned(), words },
            408 | 429 | 500..=599 => LlmError::Unavailable { server, status, asked: retries + 1, words },
            _ => LlmError::Refused { server, status, words },
        }
    }
}

/// Raises the temperature after repeated answers, because small models repeat a mistake when the request is the same.
fn raised_temperature(set: f64, repeated: u32) -> f64 {
    (set + 0.3 * f64::from(repeated)).min(set.max(1.0))
}

impl LlmClient for HttpClient {
    type Error = LlmError;

    async fn chat(&self, ask: &Ask) -> Result<Answer, LlmError> {
        self.stop.run_until_stopped(self.ask(ask)).await
    }
}

/// The state of a call.
struct Call {
    sent: Sent,
    tally: Tally,
    stepped_down: bool,
}

impl Call {
    fn step_down(&mut self, form: crate::client::FormUsed) {
        self.sent.form = form;
        self.stepped_down = true;
        self.tally.faults = 0;
    }
}
