//! One iteration of a program, and the history of all iterations.

use serde::{Deserialize, Serialize};

use super::harness::Sighting;
use super::sections::Kept;
use crate::cycle::Phase;
use crate::digest::CommitId;
use crate::test_id::TestId;

/// The outcome of an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Its commits stay, and their checks, if any, have passed.
    Accepted,
    /// Its commits were removed from the branch.
    Discarded,
    /// It led to nothing: no valid red, or no change that could be judged.
    Error,
    /// All attempts at a test are used up.
    Blocked,
    /// Its commits wait for their checks.
    Pending,
}

impl Outcome {
    /// The outcome for a page.
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

/// What happened to the tests that existed before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExistingTests {
    /// They always passed.
    #[default]
    AllGreen,
    /// An attempt broke some, and was undone.
    RegressionIntroducedAndFixed,
}

impl ExistingTests {
    /// The word in JSON and pages.
    pub fn word(self) -> &'static str {
        match self {
            Self::AllGreen => "all-green",
            Self::RegressionIntroducedAndFixed => "regression-introduced-and-fixed",
        }
    }
}

/// The part of an iteration that the history keeps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Overview {
    /// Its id, unique across machines.
    pub id: String,
    /// When it began, in milliseconds since 1970.
    pub at_ms: u64,
    /// Its outcome.
    pub outcome: Outcome,
    /// The phase that it ended with.
    pub phase: Phase,
    /// The test or the files that it was about.
    pub target: String,
    /// How many tests it added.
    pub new_tests: u32,
    /// What happened to the other tests.
    pub existing_tests_status: ExistingTests,
    /// The measured metric, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<f64>,
    /// The last commit that it made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<CommitId>,
    /// What happened, in one sentence.
    pub summary: String,
}

/// One iteration. The state that records it gives it a number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Iteration {
    /// The part that the history keeps.
    #[serde(flatten)]
    pub overview: Overview,
    /// The tests it saw.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<Sighting>,
    /// Tests that it removed again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<TestId>,
    /// Its lessons.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lessons: Vec<String>,
}

/// `Eq` holds, because metrics are finite (never NaN).
impl Eq for Iteration {}

/// An iteration in the history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Past {
    /// Its number, from 1.
    pub number: u32,
    /// The part that the history keeps.
    #[serde(flatten)]
    pub overview: Overview,
}

/// Iterations that are summarized as a range.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Range {
    /// The number of the first.
    pub first: u32,
    /// The number of the last.
    pub last: u32,
    /// How many of them were accepted.
    pub accepted: u32,
    /// How many tests they added.
    pub new_tests: u32,
}

/// All iterations, newest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct History {
    /// The iterations that are listed one by one, newest first.
    pub entries: Vec<Past>,
    /// The ranges of older iterations, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folded: Vec<Range>,
    /// Text of another tool that is not an iteration, such as its own ranges; kept verbatim.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<Kept>,
}

/// Iterations per range.
const RANGE: u32 = 50;

impl History {
    /// Keeps the newest `cap` iterations, and folds the older ones into ranges.
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
    /// A sample for tests.
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
    /// A sample for tests.
    pub(crate) fn sample(id: &str, outcome: Outcome) -> Self {
        Overview::sample(id, outcome).into()
    }
}
