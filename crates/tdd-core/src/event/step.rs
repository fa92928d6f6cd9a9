//! The events of a run's steps.

use serde::{Deserialize, Serialize};

use crate::cycle::{Phase, Role};
use crate::digest::{CommitId, Digest, TreeId};
use crate::report::Cause;
use crate::rule::Rule;
use crate::test_id::TestId;

/// A commit that `tdd-cli` made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Committed {
    /// The commit.
    pub commit: CommitId,
    /// Its tree.
    pub tree: TreeId,
    /// The first line of its message.
    pub subject: String,
    /// The files that it changed.
    pub files: Vec<String>,
}

/// A run begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunStart {
    /// The version of `tdd-cli`.
    pub version: String,
    /// Digest of the kata.
    pub kata: Digest,
    /// The last step that had ended.
    pub step: u32,
    /// The plan files that it carries out, as paths in the project.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plans: Vec<String>,
}

/// A run ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunEnd {
    /// The reason.
    pub reason: String,
    /// The exit code.
    pub exit: u8,
}

/// A role begins its turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepStart {
    /// Which step, counted from 1.
    pub step: u32,
    /// The role whose step it is.
    pub role: Role,
    /// The phase of its commit.
    pub phase: Phase,
    /// HEAD, the parent of the step's commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<CommitId>,
    /// The tree that every failed attempt is reset to.
    pub base: TreeId,
    /// The red tests that it is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<TestId>,
    /// The mark of the plan task that it is for, such as `[phase-05/plan-01/task-01]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<String>,
}

/// How a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepOutcome {
    /// Committed.
    Kept,
    /// There was nothing to do.
    Nothing,
    /// The refactorer used up its attempts and was skipped.
    Skipped,
    /// The tester declared the kata done.
    Done,
    /// A person must decide.
    Stopped,
}

impl StepOutcome {
    /// Whether the next role's turn follows.
    pub fn rotates(self) -> bool {
        match self {
            Self::Kept | Self::Nothing | Self::Skipped => true,
            Self::Done | Self::Stopped => false,
        }
    }
}

/// A role ends its turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepEnd {
    /// The number of the step.
    pub step: u32,
    /// The role whose step it is.
    pub role: Role,
    /// How it ended.
    pub outcome: StepOutcome,
    /// HEAD now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<CommitId>,
}

/// A model submitted its plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanSubmitted {
    /// The number of the step.
    pub step: u32,
    /// The role that planned.
    pub role: Role,
    /// Digest of the plan; its text is in `.tdd/plan/`.
    pub digest: Digest,
    /// Its steps, if the model listed them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<PlannedStep>,
}

/// A step of a plan that a model submitted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedStep {
    /// What is to be done.
    pub text: String,
    /// The test that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_id: Option<TestId>,
    /// The file the test belongs in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_file_path: Option<String>,
}

/// A production change claims its red test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditClaim {
    /// The test.
    pub test_id: TestId,
    /// The file that changes for it.
    pub edit_target: String,
}

/// Edits passed the gate and are about to be written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditApplied {
    /// The number of the step.
    pub step: u32,
    /// The number of the attempt.
    pub attempt: u32,
    /// The files.
    pub paths: Vec<String>,
}

/// The gate refused edits; nothing was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditRefused {
    /// The number of the step.
    pub step: u32,
    /// The number of the attempt.
    pub attempt: u32,
    /// The rule that refused.
    pub rule: Rule,
    /// The reason.
    pub reason: String,
    /// The files.
    pub paths: Vec<String>,
}

/// An attempt failed; the files are those of the step's base again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reverted {
    /// The number of the step.
    pub step: u32,
    /// The number of the attempt.
    pub attempt: u32,
    /// Whether the attempt counts.
    pub spent: bool,
    /// The complaint is about test code only, so the tester must mend it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_tests: bool,
    /// The rule that it broke; `None` if the answer could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<Rule>,
    /// The cause, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// The reason.
    pub reason: String,
    /// Other tests that passed before and fail now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<TestId>,
    /// Digest of the failing tests and the normalised message.
    pub signature: Digest,
    /// The ref that holds the undone work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_as: Option<String>,
}

/// The second attempt at a green failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repair {
    /// The test.
    pub test_id: TestId,
    /// How many attempts have failed.
    pub attempts: u32,
}

/// The same failure occurred more than twice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stuck {
    /// The subject of the step: a task, a target or a role.
    pub subject: String,
    /// Digest of the failure.
    pub signature: Digest,
    /// How often.
    pub times: u32,
}

/// A doubted test was revised, or withdrawn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestRevised {
    /// The test.
    pub test_id: TestId,
    /// Its digest before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Digest>,
    /// Its digest now; `None` if it was withdrawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Digest>,
    /// The reason.
    pub reason: String,
    /// Where the kata says so.
    pub spec_source: String,
}

/// A doubted test was rethought and stays as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestUpheld {
    /// The test.
    pub test_id: TestId,
    /// The reason.
    pub reason: String,
    /// Where the kata says so.
    pub spec_source: String,
}

/// A test has a new id and the same tokens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestRenamed {
    /// The old id.
    pub from: TestId,
    /// The new id.
    pub test_id: TestId,
}

/// A new test passed at once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GreenOnArrival {
    /// The test.
    pub test_id: TestId,
}

/// All attempts at a test are used up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blocked {
    /// The test.
    pub test_id: TestId,
    /// The reason.
    pub reason: String,
}

/// The run is paused until a person resumes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paused {
    /// Why, such as `td-stuck: <target>`.
    pub reason: String,
    /// What a person can do.
    pub next: String,
}

/// The commits and the ledger disagreed; the commits win.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resynced {
    /// HEAD.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<CommitId>,
    /// The last step that ended, by the commits.
    pub step: u32,
    /// What disagreed.
    pub reason: String,
}

/// A model answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LlmCall {
    /// The number of the step.
    pub step: u32,
    /// The role that called.
    pub role: Role,
    /// Which model.
    pub model: String,
    /// What the call asked for, such as `plan`, `edit` or `files`.
    pub purpose: String,
    /// Tokens of the prompt.
    pub prompt_tokens: u64,
    /// Prompt tokens that the server had cached.
    pub cached_tokens: u64,
    /// Tokens of the answer.
    pub completion_tokens: u64,
    /// Millionths of a US dollar, if the price is known.
    pub micro_usd: u64,
    /// How long it took, including retries.
    pub duration_ms: u64,
}

impl LlmCall {
    /// The purpose of a call that asks for an edit plan.
    pub const EDIT: &'static str = "edit";
    /// The purpose of a call that asks for fenced files.
    pub const FILES: &'static str = "files";
}
