//! One iteration of a program: what it was about and what came of it, and the history that they add up to.

use serde::{Deserialize, Serialize};

use super::harness::Sighting;
use super::sections::Kept;
use crate::cycle::Phase;
use crate::digest::CommitId;
use crate::test_id::TestId;

/// What came of an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Its commits stay, and its checks, if there are any, have passed.
    Accepted,
    /// Its commits are gone from the branch.
    Discarded,
    /// Nothing came of it: no valid red, or no change that could be judged.
    Error,
    /// All attempts at a test are spent.
    Blocked,
    /// Its commits wait for their checks.
    Pending,
}

impl Outcome {
    /// As it is shown.
    pub fn shown(self) -> &'static str {
        match self {
            Self::Accepted => "✅ accepted",
            Self::Discarded => "❌ discarded",
            Self::Error => "⚠️ error",
            Self::Blocked => "🚧 blocked",
            Self::Pending => "⏳ pending",
        }
    }

    /// One word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Discarded => "discarded",
            Self::Error => "error",
            Self::Blocked => "blocked",
            Self::Pending => "pending",
        }
    }
}

/// How the tests that were there before came through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExistingTests {
    /// They passed all the time.
    #[default]
    AllGreen,
    /// An attempt broke some, and was undone.
    RegressionIntroducedAndFixed,
}

impl ExistingTests {
    /// As it is written.
    pub fn word(self) -> &'static str {
        match self {
            Self::AllGreen => "all-green",
            Self::RegressionIntroducedAndFixed => "regression-introduced-and-fixed",
        }
    }
}

/// What the history keeps of an iteration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Overview {
    /// What tells it from all others, wherever it ran.
    pub id: String,
    /// When it began, in milliseconds since 1970.
    pub at_ms: u64,
    /// What came of it.
    pub outcome: Outcome,
    /// The phase that it ended with.
    pub phase: Phase,
    /// What it was about.
    pub target: String,
    /// How many tests it brought.
    pub new_tests: u32,
    /// How the others came through.
    pub existing_tests_status: ExistingTests,
    /// What was measured, if it came to that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<f64>,
    /// The last commit that it made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<CommitId>,
    /// What happened, in one sentence.
    pub summary: String,
}

/// One iteration. Its number is given by the state that takes it in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Iteration {
    /// What the history keeps of it.
    #[serde(flatten)]
    pub overview: Overview,
    /// What it saw of tests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<Sighting>,
    /// Tests that are gone with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<TestId>,
    /// What it taught.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lessons: Vec<String>,
}

/// Metrics are finite, so every one is the same as itself.
impl Eq for Iteration {}

/// An iteration as the history keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Past {
    /// Counted from 1.
    pub number: u32,
    /// What is kept of it.
    #[serde(flatten)]
    pub overview: Overview,
}

/// Iterations that are no longer shown one by one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Range {
    /// The first.
    pub first: u32,
    /// The last.
    pub last: u32,
    /// How many of them were accepted.
    pub accepted: u32,
    /// How many tests they brought.
    pub new_tests: u32,
}

/// All iterations, newest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct History {
    /// Newest first.
    pub entries: Vec<Past>,
    /// Newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folded: Vec<Range>,
    /// What others wrote that is no iteration, such as ranges that they folded; it stays as it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<Kept>,
}

/// So many iterations go into one range.
const RANGE: u32 = 50;

impl History {
    /// Shows at most so many iterations: the oldest go into ranges.
    pub fn fold(&mut self, cap: usize) {
        while self.entries.len() > cap.max(1) {
            let Some(past) = self.entries.pop() else { return };
            let full = |range: &Range| range.last - range.first + 1 >= RANGE;
            if self.folded.first().is_none_or(full) {
                self.folded.insert(0, Range { first: past.number, ..Range::default() });
            }
            if let Some(range) = self.folded.first_mut() {
                range.last = past.number;
                range.accepted += u32::from(past.overview.outcome == Outcome::Accepted);
                range.new_tests += past.overview.new_tests;
            }
        }
    }
}

#[cfg(test)]
impl Overview {
    /// One of no account, for tests.
    pub(crate) fn sample(id: &str, outcome: Outcome) -> Self {
        Self {
            id: id.to_owned(),
            at_ms: 0,
            outcome,
            phase: Phase::Green,
            target: "tests/a.rs::adds".to_owned(),
            new_tests: 1,
            existing_tests_status: ExistingTests::AllGreen,
            metric: None,
            commit: None,
            summary: "it adds".to_owned(),
        }
    }
}

#[cfg(test)]
impl From<Overview> for Iteration {
    fn from(overview: Overview) -> Self {
        Self { overview, tests: Vec::new(), gone: Vec::new(), lessons: Vec::new() }
    }
}

#[cfg(test)]
impl Iteration {
    /// One of no account, for tests.
    pub(crate) fn sample(id: &str, outcome: Outcome) -> Self {
        Overview::sample(id, outcome).into()
    }
}
