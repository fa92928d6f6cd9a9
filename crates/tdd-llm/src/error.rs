//! Errors of calls to a model: which server, what it said, and what to do.

use std::io;
use std::time::Duration;

/// Why a call to a model failed.
#[derive(Debug, thiserror::Error)]
pub enum LlmError {
    /// The call was cancelled.
    #[error("the call was cancelled")]
    Cancelled,
    /// The address or the key is invalid.
    #[error("cannot talk to `{server}`: {reason}")]
    Setup {
        /// The server's address.
        server: String,
        /// What is invalid.
        reason: String,
    },
    /// No connection to the server.
    #[error("cannot reach `{server}`: {reason}")]
    Unreachable {
        /// The server's address.
        server: String,
        /// The network's error.
        reason: String,
    },
    /// A timeout expired.
    #[error("`{server}` {wait} within {}", seconds(*after))]
    TimedOut {
        /// The server's address.
        server: String,
        /// What the call waited for.
        wait: Wait,
        /// The timeout.
        after: Duration,
    },
    /// The answer broke off.
    #[error("the answer of `{server}` broke off before its end: {reason}")]
    Broken {
        /// The server's address.
        server: String,
        /// How it broke off.
        reason: String,
    },
    /// The server reported success but sent no completion.
    #[error("`{server}` sent no completion: {words}")]
    NoCompletion {
        /// The server's address.
        server: String,
        /// The beginning of what it sent.
        words: String,
    },
    /// The answer exceeds the size limit.
    #[error("the answer of `{server}` is larger than {limit} bytes")]
    TooLarge {
        /// The server's address.
        server: String,
        /// The limit in bytes.
        limit: usize,
    },
    /// The server rejects the key.
    #[error("`{server}` does not accept the key ({status}): {words}")]
    Denied {
        /// The server's address.
        server: String,
        /// 401 or 403.
        status: u16,
        /// The server's message.
        words: String,
    },
    /// The server does not have the model.
    #[error("`{server}` has no model `{model}`: {words}")]
    ModelUnknown {
        /// The server's address.
        server: String,
        /// The requested model.
        model: String,
        /// The server's message.
        words: String,
    },
    /// The conversation exceeds the model's context.
    #[error("the conversation is too long for `{server}`: {words}")]
    ContextTooLong {
        /// The server's address.
        server: String,
        /// The server's message.
        words: String,
    },
    /// The server does not support tools.
    #[error("`{server}` does not support tools: {words}")]
    NoTools {
        /// The server's address.
        server: String,
        /// The server's message.
        words: String,
    },
    /// The server refuses the call for good.
    #[error("`{server}` refused the call ({status}): {words}")]
    Refused {
        /// The server's address.
        server: String,
        /// The HTTP status.
        status: u16,
        /// The server's message.
        words: String,
    },
    /// The server was unavailable on every retry.
    #[error("`{server}` is unavailable ({status}, asked {asked} times): {words}")]
    Unavailable {
        /// The server's address.
        server: String,
        /// The HTTP status of the last response.
        status: u16,
        /// The number of calls.
        asked: u32,
        /// The server's message.
        words: String,
    },
    /// The server demands a wait that ends after the run.
    #[error("`{server}` asks us to wait {} ({status}: {words}), and this run ends before that", seconds(*wait))]
    NoTime {
        /// The server's address.
        server: String,
        /// The HTTP status.
        status: u16,
        /// The wait that the server demands.
        wait: Duration,
        /// Time left in the run.
        left: Duration,
        /// The server's message.
        words: String,
    },
    /// The answer was still cut off after all continuations.
    #[error("the model's answer was cut off after {completion} tokens, and asking again did not help")]
    Cut {
        /// Tokens that the model wrote in all calls.
        completion: u64,
    },
    /// The server's content filter withheld the answer.
    #[error("the server's content filter blocked the model's answer")]
    Filtered,
    /// The cassette has no answer for this call.
    #[error("the cassette has no answer to `{key}`: {reason}")]
    NotRecorded {
        /// The key of the call.
        key: String,
        /// What was expected and what was found.
        reason: String,
    },
    /// The cassette cannot be parsed.
    #[error("line {line} of the cassette cannot be read: {reason}")]
    Cassette {
        /// Line number, counted from 1.
        line: usize,
        /// Why the line cannot be parsed.
        reason: String,
    },
    /// The cassette cannot be written.
    #[error("cannot write to the cassette")]
    Record(#[source] io::Error),
}

impl LlmError {
    /// Whether the connection itself failed.
    pub(crate) fn is_no_connection(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::TimedOut { wait: Wait::Connect, .. })
    }

    /// What the user can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Setup { .. } => Some("check `base_url` and the key"),
            Self::Unreachable { .. } | Self::TimedOut { wait: Wait::Connect, .. } => {
                Some("is the server running, and is `base_url` right?")
            }
            Self::TimedOut { .. } => Some("raise `llm.timeout_secs`, or use a faster model"),
            Self::NoCompletion { .. } => Some("check `base_url`: it must end before `/chat/completions`"),
            Self::Denied { .. } => Some("check the key: `api_key_env` names the variable that holds it"),
            Self::ModelUnknown { .. } => Some("check the model's name; `tdd-cli doctor` lists the server's models"),
            Self::ContextTooLong { .. } => Some("lower `llm.context_bytes`, or use a model with a larger context"),
            Self::NoTools { .. } => Some("set the role's `protocol` to `edit-plan`"),
            Self::Unavailable { .. } => Some("wait a while, or raise `llm.max_retries`"),
            Self::NoTime { .. } => Some(
                "run the command again after the wait, and it continues where it stopped; or allow more time with \
                 `--max-minutes`",
            ),
            Self::Cut { .. } => Some("raise the server's token limit for one answer"),
            Self::NotRecorded { .. } => Some("record it again with a real model"),
            Self::Refused { status: 404, .. } => Some("check `base_url`: it must end before `/chat/completions`"),
            Self::Refused { .. } => Some("fix what the server complains about, under `llm` and `roles` in `tdd.yaml`"),
            Self::Broken { .. } => Some("run the command again; if it fails again, look at the server's log"),
            Self::TooLarge { .. } | Self::Filtered => Some("reword the kata, or use another model"),
            Self::Cancelled | Self::Cassette { .. } | Self::Record(_) => None,
        }
    }
}

/// What a timed-out call waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// A connection.
    Connect,
    /// The first or next token.
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

/// Formats a duration.
pub(crate) fn seconds(duration: Duration) -> String {
    if duration.as_secs() == 0 { format!("{} ms", duration.as_millis()) } else { format!("{} s", duration.as_secs()) }
}
