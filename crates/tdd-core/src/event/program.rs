//! What the iterations of programs leave in the ledger.

use serde::{Deserialize, Serialize};

use crate::digest::CommitId;
use crate::program::iteration::{Iteration, Outcome};
use crate::program::metric::Ratchet;

/// An iteration begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IterationStart {
    /// Of which program.
    pub program: String,
    /// What tells it from all others.
    pub id: String,
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
    /// HEAD, which it goes back to if it is discarded.
    pub head: CommitId,
    /// The errors before it force another look at what is tested.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rethink: bool,
}

/// It is known what becomes of an iteration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IterationJudged {
    /// Of which program.
    pub program: String,
    /// Where it began.
    pub base: CommitId,
    /// Where it ended.
    pub head: CommitId,
    /// What came of it.
    pub iteration: Box<Iteration>,
    /// The best metric when it was decided about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<Ratchet>,
    /// The program pauses for this reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause: Option<String>,
    /// The program is done for this reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed: Option<String>,
}

/// An iteration is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IterationEnd {
    /// Of which program.
    pub program: String,
    /// Which.
    pub id: String,
    /// What came of it.
    pub outcome: Outcome,
}
