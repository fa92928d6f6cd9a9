//! The events of test runs.

use serde::{Deserialize, Serialize};

use crate::digest::{Digest, TreeId};
use crate::report::{Cause, Counts};
use crate::test_id::{IdSource, TestId};

/// Whether a test passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It ran and passed.
    Pass,
    /// Anything else; the cause says what.
    Fail,
}

/// One test's result on one tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestRun {
    /// The test.
    pub test_id: TestId,
    /// Where its id comes from.
    pub test_id_source: IdSource,
    /// Whether it passed.
    pub status: Status,
    /// The test command.
    pub command: String,
    /// How long the test took.
    pub duration_ms: u64,
    /// The tree it ran on.
    pub tree: TreeId,
    /// Digest of the test; `None` if its source was not found (a test made by a macro).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_digest: Option<Digest>,
    /// Why it did not pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// The beginning of the failure message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// One run of all tests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuiteRun {
    /// The test command.
    pub command: String,
    /// The tree it ran on, unchanged by the run.
    pub tree: TreeId,
    /// How long it took, including the build.
    pub duration_ms: u64,
    /// How many passed, failed and were skipped.
    pub counts: Counts,
    /// Tests that existed before and are gone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub vanished: Vec<TestId>,
    /// What kept tests from running.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub obstacles: Vec<InTheWay>,
}

/// Something that kept tests from running.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InTheWay {
    /// A test target, a file, a program.
    pub subject: String,
    /// The cause.
    pub cause: Cause,
    /// The beginning of the message.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// The place as `path:line`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// The tests it kept from running.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<TestId>,
}
