//! The events of a program's iterations.

use serde::{Deserialize, Serialize};

use crate::digest::CommitId;
use crate::program::iteration::{Iteration, Outcome};
use crate::program::metric::Ratchet;

/// An iteration begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IterationStart {
    /// The program.
    pub program: String,
    /// The unique id of the iteration.
    pub id: String,
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
    /// HEAD, to which a discarded iteration is reset.
    pub head: CommitId,
    /// Earlier errors force a rethink of what is tested.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rethink: bool,
}

/// The decision about an iteration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IterationJudged {
    /// The program.
    pub program: String,
    /// HEAD when it began.
    pub base: CommitId,
    /// HEAD when it ended.
    pub head: CommitId,
    /// Its result.
    pub iteration: Box<Iteration>,
    /// The best metric at the time of the decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<Ratchet>,
    /// Why the program pauses, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause: Option<String>,
    /// Why the program is complete, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed: Option<String>,
}

/// An iteration is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IterationEnd {
    /// The program.
    pub program: String,
    /// The id of the iteration.
    pub id: String,
    /// Its result.
    pub outcome: Outcome,
}
