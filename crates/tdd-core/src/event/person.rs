//! What a person's own commands leave in the ledger.

use serde::{Deserialize, Serialize};

use crate::digest::{CommitId, Digest, TreeId};
use crate::event::Event;
use crate::rule::Rule;
use crate::test_id::TestId;

/// A person makes an exception from a rule, until it expires.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Override {
    /// From which rule.
    pub rule: Rule,
    /// Why.
    pub reason: String,
    /// Until when, in milliseconds since 1970.
    pub expires: u64,
}

/// Refactor mode is on: edits without a red are allowed.
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
    /// The task of a plan that it was begun for, by the machine and not by a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<String>,
}

/// Refactor mode is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefactorEnd {
    /// Whether what was done is kept: it was verified. Otherwise the tree is the one it started from.
    pub kept: bool,
    /// The tree now.
    pub tree: TreeId,
    /// What verified it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified_by: Option<String>,
    /// Where the work is that was not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_as: Option<String>,
}

/// A person's word about one test is about to be carried out: written, then committed alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersonEdit {
    /// Which test.
    pub test_id: TestId,
    /// What becomes of it.
    pub fate: PersonFate,
    /// Why.
    pub reason: String,
    /// Its file.
    pub path: String,
    /// What the file is to hold.
    pub content: Digest,
    /// HEAD at that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<CommitId>,
}

/// What a person can make of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PersonFate {
    /// It is removed with its feature.
    Retired,
    /// It is left aside.
    Skipped,
    /// It counts again.
    Unblocked,
}

impl PersonFate {
    /// The trailer of the commit that names the test.
    pub fn trailer(self) -> &'static str {
        match self {
            Self::Retired => "TDD-Retired",
            Self::Skipped => "TDD-Skipped",
            Self::Unblocked => "TDD-Unblocked",
        }
    }
}

impl PersonEdit {
    /// What it comes to when it is committed.
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
    /// Which test.
    pub test_id: TestId,
    /// Why.
    pub reason: String,
}

/// A person lets the machine go on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resumed {
    /// The blocked test is left aside, marked as skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<TestId>,
    /// This test is an obligation again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unblocked: Option<TestId>,
}
