//! Sends one request to a server and reads the response within its timeouts. Never shows the key.

use std::error::Error;
use std::net::{IpAddr, ToSocketAddrs};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, DATE, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::{Client, Response, Url, redirect};
use secrecy::{ExposeSecret, SecretString};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

use crate::error::{LlmError, Wait};
use crate::http::{Endpoint, Timeouts};
use crate::reader::{LONGEST, Progress, Reader, Unread};
use crate::refusal::{self, Refusal};
use crate::reply::Reply;
use crate::retry::CallFailure;

/// Most bytes of a refusal that are read.
const REFUSAL: usize = 64 << 10;

/// Longest timeout; a longer one could overflow `Instant`.
const FOREVER: Duration = Duration::from_hours(24 * 365);

/// The connection settings of one server.
#[derive(Clone, Debug)]
pub(crate) struct Transport {
    /// The server's address, without secrets.
    pub server: String,
    client: Client,
    base: Url,
    key: Option<Arc<SecretString>>,
    timeouts: Timeouts,
}

impl Transport {
    pub fn new(endpoint: &Endpoint) -> Result<Self, LlmError> {
        let base_url = &endpoint.route.server.base_url;
        let setup = |server: &str, reason: String| LlmError::Setup { server: server.to_owned(), reason };
        let base = Url::parse(base_url).map_err(|error| setup("base_url", error.to_string()))?;
        let server = shown(&base);
        if !matches!(base.scheme(), "http" | "https") {
            return Err(setup(&server, "the address must begin with http:// or https://".to_owned()));
        }
        let key = endpoint.key.as_ref().filter(|key| !key.expose_secret().trim().is_empty());
        let headers = headers(key).map_err(|reason| setup(&server, reason))?;
        let client =
            client(&base, headers, endpoint.timeouts.connect).map_err(|error| setup(&server, chain(&error)))?;
        Ok(Self { server, client, base, key: key.cloned().map(Arc::new), timeouts: endpoint.timeouts })
    }

    /// Posts a request and reads its response.
    pub async fn post(&self, body: Vec<u8>, stream: bool) -> Result<Reply, CallFailure> {
        let deadlines = Deadlines::new(&self.timeouts, stream);
        let request = self.client.post(self.url(&["chat", "completions"])).header(CONTENT_TYPE, "application/json");
        let sent = request.body(body).send();
        let response = timeout_at(deadlines.next(), sent)
            .await
            .map_err(|_| self.late(&deadlines))?
            .map_err(|error| self.network(error))?;
        if response.status().is_success() {
            self.read(response, deadlines).await
        } else {
            Err(self.refusal(response, &deadlines).await)
        }
    }

    /// Fetches JSON from a path below the base URL.
    pub async fn get(&self, path: &str) -> Result<serde_json::Value, CallFailure> {
        let deadlines = Deadlines::new(&self.timeouts, false);
        let response = timeout_at(deadlines.next(), self.client.get(self.url(&[path])).send())
            .await
            .map_err(|_| self.late(&deadlines))?
            .map_err(|error| self.network(error))?;
        if !response.status().is_success() {
            return Err(self.refusal(response, &deadlines).await);
        }
        let body = self.beginning_of(response, LONGEST, &deadlines).await;
        serde_json::from_slice(&body)
            .map_err(|_| CallFailure::Passing(self.unread(Unread::Other(refusal::beginning(&body)))))
    }

    fn url(&self, path: &[&str]) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        url
    }

    async fn read(&self, mut response: Response, mut deadlines: Deadlines) -> Result<Reply, CallFailure> {
        let mut reader = Reader::new();
        loop {
            let chunk = timeout_at(deadlines.next(), response.chunk()).await.map_err(|_| self.late(&deadlines))?;
            let progress = match chunk {
                Ok(Some(bytes)) => reader.push(&bytes).map_err(|unread| self.failure(unread))?,
                Ok(None) => break,
                // If the connection breaks after the end of the answer, the answer is complete.
                Err(error) => return reader.finish().map_err(|_| self.network(error)),
            };
            match progress {
                Progress::Waiting => {}
                Progress::Coming => deadlines.token(),
                Progress::Done => break,
            }
        }
        reader.finish().map_err(|unread| self.failure(unread))
    }

    async fn refusal(&self, response: Response, deadlines: &Deadlines) -> CallFailure {
        let header = |name| response.headers().get(name).and_then(|value: &HeaderValue| value.to_str().ok());
        let wait = header(RETRY_AFTER).and_then(|text| refusal::wait(text, header(DATE), jiff::Timestamp::now()));
        let status = response.status().as_u16();
        let body = self.beginning_of(response, REFUSAL, deadlines).await;
        let mut refusal = Refusal::read(status, &body, wait);
        refusal.words = self.redacted(&refusal.words);
        CallFailure::Refused(refusal)
    }

    /// Reads as much of a body as arrives in time; it may be incomplete.
    async fn beginning_of(&self, mut response: Response, limit: usize, deadlines: &Deadlines) -> Vec<u8> {
        let mut body = Vec::new();
        while let Ok(Ok(Some(bytes))) = timeout_at(deadlines.next(), response.chunk()).await {
            body.extend_from_slice(&bytes);
            if body.len() >= limit {
                body.truncate(limit);
                break;
            }
        }
        body
    }

    fn late(&self, deadlines: &Deadlines) -> CallFailure {
        let (wait, after) = deadlines.missed();
        CallFailure::Passing(LlmError::TimedOut { server: self.server.clone(), wait, after })
    }

    fn failure(&self, unread: Unread) -> CallFailure {
        match unread {
            Unread::TooLarge => CallFailure::Lasting(self.unread(unread)),
            Unread::Broken(_) | Unread::Other(_) => CallFailure::Passing(self.unread(unread)),
        }
    }

    fn unread(&self, unread: Unread) -> LlmError {
        let server = self.server.clone();
        match unread {
            Unread::TooLarge => LlmError::TooLarge { server, limit: LONGEST },
            Unread::Broken(reason) => LlmError::Broken { server, reason: self.redacted(&reason) },
            Unread::Other(words) => LlmError::NoCompletion { server, words: self.redacted(&words) },
        }
    }

    fn network(&self, error: reqwest::Error) -> CallFailure {
        let server = self.server.clone();
        // The URL may hold a password.
        let error = error.without_url();
        CallFailure::Passing(if error.is_connect() && error.is_timeout() {
            LlmError::TimedOut { server, wait: Wait::Connect, after: self.timeouts.connect }
        } else if error.is_connect() {
            LlmError::Unreachable { server, reason: chain(&error) }
        } else {
            LlmError::Broken { server, reason: chain(&error) }
        })
    }

    /// Removes our key, which some servers repeat in their message.
    fn redacted(&self, words: &str) -> String {
        match &self.key {
            Some(key) => refusal::short(&words.replace(key.expose_secret().trim(), "[key]")),
            None => refusal::short(words),
        }
    }
}

/// The timeouts of one request.
struct Deadlines {
    begun: Instant,
    whole: Duration,
    /// Only for streams: a server that sends whole answers shows no sign of life before the end.
    silence: Option<Duration>,
    last_token: Instant,
}

impl Deadlines {
    fn new(timeouts: &Timeouts, stream: bool) -> Self {
        let begun = Instant::now();
        let silence = stream.then_some(timeouts.first_token.min(FOREVER));
        Self { begun, whole: timeouts.whole.min(FOREVER), silence, last_token: begun }
    }

    fn next(&self) -> Instant {
        let end = self.begun + self.whole;
        self.silence.map_or(end, |silence| end.min(self.last_token + silence))
    }

    fn token(&mut self) {
        self.last_token = Instant::now();
    }

    fn missed(&self) -> (Wait, Duration) {
        match self.silence {
            Some(silence) if self.last_token + silence < self.begun + self.whole => (Wait::Token, silence),
            Some(_) | None => (Wait::Answer, self.whole),
        }
    }
}

fn headers(key: Option<&SecretString>) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    if let Some(key) = key {
        let mut bearer = HeaderValue::from_str(&format!("Bearer {}", key.expose_secret().trim()))
            .map_err(|_| "the key contains characters that are not allowed in an HTTP header".to_owned())?;
        bearer.set_sensitive(true);
        headers.insert(AUTHORIZATION, bearer);
    }
    Ok(headers)
}

fn client(base: &Url, headers: HeaderMap, connect: Duration) -> reqwest::Result<Client> {
    // Fails only if the process already has a provider, which will do.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = Client::builder()
        .dns_resolver(Lookup)
        .user_agent(concat!("tdd-machine/", env!("CARGO_PKG_VERSION")))
        .default_headers(headers)
        .connect_timeout(connect)
        // A redirect could send the key to another server, and turns a POST into a GET.
        .redirect(redirect::Policy::none())
        // Calls are minutes apart, so a kept connection would be stale.
        .pool_max_idle_per_host(0);
    if base.scheme() == "http" {
        // Plain HTTP checks no certificates, so none need to be installed.
        builder = builder.tls_certs_only([]);
    }
    if is_loopback(base) {
        builder = builder.no_proxy();
    }
    builder.build()
}

/// Resolves names on a thread of its own. A lookup can hang for half a minute, and a runtime that shuts down waits for
/// its own threads.
#[derive(Debug)]
struct Lookup;

impl Resolve for Lookup {
    fn resolve(&self, name: Name) -> Resolving {
        let (tell, found) = oneshot::channel();
        thread::spawn(move || {
            let addresses = (name.as_str(), 0).to_socket_addrs();
            // The receiver may be gone.
            let _told = tell.send(addresses);
        });
        Box::pin(async move {
            let addresses: Addrs = Box::new(found.await??);
            Ok(addresses)
        })
    }
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.ends_with(".localhost") || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// The URL without user, password and query.
fn shown(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    // Fails only for URLs without a host, which hold no password.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.as_str().trim_end_matches('/').to_owned()
}

/// An error and its causes on one line.
fn chain(error: &dyn Error) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        if !words.contains(&text) {
            words = format!("{words}: {text}");
        }
        cause = error.source();
    }
    words
}
