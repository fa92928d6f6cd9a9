//! Calls a server over HTTP: retries temporary failures, falls back to features the server supports, and respects
//! timeouts.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use secrecy::SecretString;
use tokio::time::Instant;

use crate::client::{Answer, Ask, Finish, Form, LlmClient};
use crate::error::{self, LlmError};
use crate::learned::{self, Learned};
use crate::refusal::Refusal;
use crate::reply::{End, Reply};
use crate::request::{self, Sent};
use crate::retry::{self, Next, Tally, Trouble};
use crate::route::Route;
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

    /// The same endpoint for a run that ends after this time.
    #[must_use]
    pub fn ending_after(self, time: Option<Duration>) -> Self {
        Self { until: time.and_then(|time| std::time::Instant::now().checked_add(time)), ..self }
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
    learned: Arc<Mutex<Learned>>,
    stop: Stop,
    tell: Tell,
}

/// Receives one line for the user.
type Listener = dyn Fn(&str) + Send + Sync;

/// Receives a line when a server demands a wait.
#[derive(Clone, Default)]
struct Tell(Option<Arc<Listener>>);

impl fmt::Debug for Tell {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("Tell").field(&self.0.is_some()).finish()
    }
}

impl HttpClient {
    /// A client whose calls end when `stop` is requested.
    pub fn new(endpoint: Endpoint, stop: Stop) -> Result<Self, LlmError> {
        let transport = Transport::new(&endpoint)?;
        Ok(Self { endpoint: Arc::new(endpoint), transport, learned: Arc::default(), stop, tell: Tell::default() })
    }

    /// Calls `tell` with one line whenever the server demands a wait.
    #[must_use]
    pub fn telling(self, tell: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self { tell: Tell(Some(Arc::new(tell))), ..self }
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
    pub(crate) async fn get(&self, path: &str) -> Result<serde_json::Value, Trouble> {
        self.transport.get(path).await
    }

    /// Sends a request once, without retries.
    pub(crate) async fn once(&self, ask: &Ask, sent: &Sent) -> Result<Reply, Trouble> {
        let body = request::body(self.model(), ask, sent);
        self.transport.post(body, sent.stream).await
    }

    fn learned(&self) -> MutexGuard<'_, Learned> {
        self.learned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn ask(&self, ask: &Ask) -> Result<Answer, LlmError> {
        let begun = Instant::now();
        let mut call = self.begin(ask)?;
        loop {
            let trouble = match self.once(ask, &call.sent).await {
                Ok(reply) => return Ok(self.answer(ask, &call, reply, begun)),
                Err(trouble) => trouble,
            };
            self.note(&mut call, &trouble);
            match retry::next(&trouble, &call.sent, &call.tally) {
                Next::Again(wait) => {
                    self.pause(wait, &trouble, call.tally.retries).await?;
                    call.tally.retries += 1;
                }
                Next::Simpler => match learned::simpler(call.sent.form) {
                    Some(form) => call.step_down(form),
                    None => return Err(self.no_tools(trouble)),
                },
                Next::Without(extra) => {
                    let mut learned = self.learned();
                    learned.without(extra);
                    let form = call.sent.form;
                    call.sent = Sent { form, ..self.to_send(ask, &learned) };
                }
                Next::End => return Err(self.error(trouble, call.tally.retries)),
            }
        }
    }

    /// Waits before a retry: as long as the server demands, and at least our own backoff. Fails at once if the wait
    /// would outlast the run.
    async fn pause(&self, asked: Option<Duration>, trouble: &Trouble, retries: u32) -> Result<(), LlmError> {
        if let (Some(wait), Trouble::Refused(refusal)) = (asked, trouble) {
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
        if let Some(tell) = self.tell.0.as_ref().filter(|_| !wait.is_zero()) {
            tell(&format!("`{server}` asks us to wait {} ({status}): {words}", error::seconds(wait)));
        }
        Ok(())
    }

    /// Records what a failed try shows about the server.
    fn note(&self, call: &mut Call, trouble: &Trouble) {
        if let Trouble::Refused(refusal) = trouble {
            self.learned().reached = true;
            call.tally.faults += u32::from(refusal.status == 500);
        }
        call.tally.reached = self.learned().reached;
    }

    fn begin(&self, ask: &Ask) -> Result<Call, LlmError> {
        let learned = self.learned();
        if let (Form::Tools(_), Some(words)) = (&ask.form, &learned.no_tools) {
            return Err(LlmError::NoTools { server: self.server().to_owned(), words: words.clone() });
        }
        let max_retries = self.endpoint.max_retries;
        let tally = Tally { max_retries, tools_proven: learned.tools_proven, ..Tally::default() };
        Ok(Call { sent: self.to_send(ask, &learned), tally, stepped_down: false })
    }

    fn to_send(&self, ask: &Ask, learned: &Learned) -> Sent {
        let temperature = self.endpoint.temperature.map(|set| warmer(set, ask.repeated));
        learned.to_send(&ask.form, temperature, self.endpoint.stream)
    }

    fn answer(&self, ask: &Ask, call: &Call, reply: Reply, begun: Instant) -> Answer {
        let mut learned = self.learned();
        learned.reached = true;
        learned.worked(&call.sent, &ask.form, call.stepped_down);
        learned.tools_proven |= !reply.tool_calls.is_empty();
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

    fn no_tools(&self, trouble: Trouble) -> LlmError {
        let words = match trouble {
            Trouble::Refused(refusal) => refusal.words,
            Trouble::Passing(error) | Trouble::Lasting(error) => error.to_string(),
        };
        self.learned().no_tools = Some(words.clone());
        LlmError::NoTools { server: self.server().to_owned(), words }
    }

    /// The error for the user after the last try.
    pub(crate) fn error(&self, trouble: Trouble, retries: u32) -> LlmError {
        let refusal = match trouble {
            Trouble::Refused(refusal) => refusal,
            Trouble::Passing(error) | Trouble::Lasting(error) => return error,
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
fn warmer(set: f64, repeated: u32) -> f64 {
    (set + 0.3 * f64::from(repeated)).min(set.max(1.0))
}

impl LlmClient for HttpClient {
    type Error = LlmError;

    async fn chat(&self, ask: &Ask) -> Result<Answer, LlmError> {
        self.stop.unless(self.ask(ask)).await
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
