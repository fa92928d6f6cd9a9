//! The events of a person's own commands.

use serde::{Deserialize, Serialize};

use crate::digest::{CommitId, Digest, TreeId};
use crate::event::Event;
use crate::rule::Rule;
use crate::test_id::TestId;

/// A person made an exception from a rule, until it expires.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Override {
    /// The rule.
    pub rule: Rule,
    /// The reason.
    pub reason: String,
    /// When it expires, in milliseconds since 1970.
    pub expires: u64,
}

/// Refactor mode is on: edits need no red test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefactorBegin {
    /// The tree that it starts from.
    pub base: TreeId,
    /// HEAD at that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<CommitId>,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The mark of the plan task that it was begun for; `None` if a person began it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<String>,
}

/// Refactor mode is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefactorEnd {
    /// Whether the work was verified and kept. Otherwise the tree is the one it started from.
    pub kept: bool,
    /// The tree now.
    pub tree: TreeId,
    /// The command that verified it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified_by: Option<String>,
    /// The ref of the work that was not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_as: Option<String>,
}

/// A person's change to one test is about to be written, and then committed alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersonEdit {
    /// The test.
    pub test_id: TestId,
    /// What happens to it.
    pub fate: PersonFate,
    /// The reason.
    pub reason: String,
    /// Its file.
    pub path: String,
    /// Digest of the file's new content.
    pub content: Digest,
    /// HEAD at that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<CommitId>,
}

/// What a person can do with a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PersonFate {
    /// Remove it with its feature.
    Retired,
    /// Skip it.
    Skipped,
    /// Make it count again.
    Unblocked,
}

impl PersonFate {
    /// The commit trailer that names the test.
    pub fn trailer(self) -> &'static str {
        match self {
            Self::Retired => "TDD-Retired",
            Self::Skipped => "TDD-Skipped",
            Self::Unblocked => "TDD-Unblocked",
        }
    }
}

impl PersonEdit {
    /// The event to record after its commit.
    pub fn done(&self) -> Event {
        let test = || Some(self.test_id.clone());
        match self.fate {
            PersonFate::Retired => {
                Event::Retired(Retired { test_id: self.test_id.clone(), reason: self.reason.clone() })
            }
            PersonFate::Skipped => Event::Resumed(Resumed { skipped: test(), unblocked: None }),
            PersonFate::Unblocked => Event::Resumed(Resumed { skipped: None, unblocked: test() }),
        }
    }
}

/// A test is removed with its feature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retired {
    /// The test.
    pub test_id: TestId,
    /// The reason.
    pub reason: String,
}

/// A person resumed the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resumed {
    /// The blocked test that is skipped from here on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<TestId>,
    /// The test that must be made green again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unblocked: Option<TestId>,
}
