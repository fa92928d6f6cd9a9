//! What a person's own commands leave in the ledger.

use serde::{Deserialize, Serialize};

use crate::digest::{CommitId, TreeId};
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
