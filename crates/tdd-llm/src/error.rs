//! Why there is no answer: which server, its own words, and what to do about it.

use std::io;
use std::time::Duration;

/// What went wrong between us and a model.
#[derive(Debug, thiserror::Error)]
pub enum LlmError {
    /// Somebody asked us to stop.
    #[error("the call was cancelled")]
    Cancelled,
    /// The address or the key cannot be used at all.
    #[error("cannot talk to `{server}`: {reason}")]
    Setup {
        /// Its address.
        server: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Nobody is there.
    #[error("cannot reach `{server}`: {reason}")]
    Unreachable {
        /// Its address.
        server: String,
        /// What the network said.
        reason: String,
    },
    /// It took too long.
    #[error("`{server}` {wait} within {}", seconds(*after))]
    TimedOut {
        /// Its address.
        server: String,
        /// What we waited for.
        wait: Wait,
        /// For how long.
        after: Duration,
    },
    /// The answer broke off.
    #[error("the answer of `{server}` broke off: {reason}")]
    Broken {
        /// Its address.
        server: String,
        /// What was seen.
        reason: String,
    },
    /// The server was content, but what it sent is no answer of a model.
    #[error("`{server}` sent no completion: {words}")]
    NoCompletion {
        /// Its address.
        server: String,
        /// What it sent instead.
        words: String,
    },
    /// Nobody reads an answer of that size.
    #[error("the answer of `{server}` is larger than {limit} bytes")]
    TooLarge {
        /// Its address.
        server: String,
        /// The largest one that we take.
        limit: usize,
    },
    /// The server does not know us.
    #[error("`{server}` does not let us in ({status}): {words}")]
    Denied {
        /// Its address.
        server: String,
        /// 401 or 403.
        status: u16,
        /// The server's own.
        words: String,
    },
    /// The server does not know the model.
    #[error("`{server}` has no model `{model}`: {words}")]
    ModelUnknown {
        /// Its address.
        server: String,
        /// The name that we asked for.
        model: String,
        /// The server's own.
        words: String,
    },
    /// The conversation has outgrown the model.
    #[error("the conversation is too long for `{server}`: {words}")]
    ContextTooLong {
        /// Its address.
        server: String,
        /// The server's own.
        words: String,
    },
    /// The server takes no tools.
    #[error("`{server}` takes no tools: {words}")]
    NoTools {
        /// Its address.
        server: String,
        /// The server's own.
        words: String,
    },
    /// The server says no, and would say it again.
    #[error("`{server}` refused the call ({status}): {words}")]
    Refused {
        /// Its address.
        server: String,
        /// The status of its answer.
        status: u16,
        /// The server's own.
        words: String,
    },
    /// The server cannot now, however often it was asked.
    #[error("`{server}` is not able to answer ({status}, asked {asked} times): {words}")]
    Unavailable {
        /// Its address.
        server: String,
        /// The status of its last answer.
        status: u16,
        /// How often.
        asked: u32,
        /// The server's own.
        words: String,
    },
    /// The server asks for a wait that would outlast the run.
    #[error("`{server}` asks us to wait {} ({status}: {words}), and this run ends before that", seconds(*wait))]
    NoTime {
        /// Its address.
        server: String,
        /// The status of its answer.
        status: u16,
        /// How long it asks us to wait.
        wait: Duration,
        /// How long the run still has.
        left: Duration,
        /// The server's own.
        words: String,
    },
    /// The answer was cut off each time.
    #[error("the model's answer was cut off after {completion} tokens, and asking again did not help")]
    Cut {
        /// All that it wrote.
        completion: u64,
    },
    /// The server held back a part of the answer.
    #[error("the server's content filter held back the model's answer")]
    Filtered,
    /// The cassette has no such exchange.
    #[error("the cassette has no answer to `{key}`: {reason}")]
    NotRecorded {
        /// The call's.
        key: String,
        /// What was expected and what was found.
        reason: String,
    },
    /// The cassette is none.
    #[error("line {line} of the cassette cannot be read: {reason}")]
    Cassette {
        /// Counted from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// The exchange could not be recorded.
    #[error("cannot write to the cassette")]
    Record(#[source] io::Error),
}

impl LlmError {
    /// Whether there was not even a connection.
    pub(crate) fn is_no_connection(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::TimedOut { wait: Wait::Connect, .. })
    }

    /// What a person can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Setup { .. } => Some("check `base_url` and the key"),
            Self::Unreachable { .. } | Self::TimedOut { wait: Wait::Connect, .. } => {
                Some("is the server running, and is `base_url` right?")
            }
            Self::TimedOut { .. } => Some("set `llm.timeout_secs` higher, or take a faster model"),
            Self::NoCompletion { .. } => Some("does `base_url` end where `/chat/completions` begins?"),
            Self::Denied { .. } => Some("check the key: `api_key_env` names the variable that holds it"),
            Self::ModelUnknown { .. } => Some("check the model's name; `doctor` lists what the server has"),
            Self::ContextTooLong { .. } => Some("set `llm.context_bytes` lower, or take a model with a larger context"),
            Self::NoTools { .. } => Some("set the role's `protocol` to `edit-plan`"),
            Self::Unavailable { .. } => Some("wait a while, or set `llm.max_retries` higher"),
            Self::NoTime { .. } => {
                Some("start it again after the wait, it goes on where it was; or give it more time (`--max-minutes`)")
            }
            Self::Cut { .. } => Some("raise the server's limit of tokens for one answer"),
            Self::NotRecorded { .. } => Some("record it anew with a real model"),
            Self::Refused { status: 404, .. } => Some("does `base_url` end where `/chat/completions` begins?"),
            Self::Refused { .. } => Some("mend what the server complains about: `llm` and `roles` in `tdd.yaml`"),
            Self::Broken { .. } => Some("start it again; if it stays so, look at the server's own log"),
            Self::TooLarge { .. } | Self::Filtered => Some("say the same in other words, or take another model"),
            Self::Cancelled | Self::Cassette { .. } | Self::Record(_) => None,
        }
    }
}

/// What we waited for in vain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// A connection.
    Connect,
    /// The first token, or the next one.
    Token,
    /// The end of the answer.
    Answer,
}

impl std::fmt::Display for Wait {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            Self::Connect => "took no connection",
            Self::Token => "sent no token",
            Self::Answer => "did not finish its answer",
        })
    }
}

/// A time in words.
pub(crate) fn seconds(duration: Duration) -> String {
    if duration.as_secs() == 0 { format!("{} ms", duration.as_millis()) } else { format!("{} s", duration.as_secs()) }
}
