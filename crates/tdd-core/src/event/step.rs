//! What the steps of a run leave in the ledger.

use serde::{Deserialize, Serialize};

use crate::cycle::{Phase, Role};
use crate::digest::{CommitId, Digest, TreeId};
use crate::report::Cause;
use crate::rule::Rule;
use crate::test_id::TestId;

/// A commit of the machine's.
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
    /// The version of the machine.
    pub version: String,
    /// Digest of the kata.
    pub kata: Digest,
    /// The last step that had ended.
    pub step: u32,
    /// The plans that it carries out, by their paths in the project.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plans: Vec<String>,
}

/// A run ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunEnd {
    /// Why.
    pub reason: String,
    /// The exit code that goes with it.
    pub exit: u8,
}

/// A role begins its turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepStart {
    /// Which step, counted from 1.
    pub step: u32,
    /// Whose.
    pub role: Role,
    /// What it is to end in.
    pub phase: Phase,
    /// HEAD, which the step's commit goes on top of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<CommitId>,
    /// The tree that every failed attempt goes back to.
    pub base: TreeId,
    /// The red tests that it is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<TestId>,
    /// The task of a plan that it is for: `[phase-05/plan-01/task-01]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<String>,
}

/// How a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepOutcome {
    /// With a commit.
    Kept,
    /// The refactorer found nothing worth it.
    Nothing,
    /// The refactorer failed, and was skipped.
    Skipped,
    /// The tester finds the kata finished.
    Done,
    /// A person must look.
    Stopped,
}

impl StepOutcome {
    /// Whether the next role is on turn after it.
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
    /// Which step.
    pub step: u32,
    /// Whose.
    pub role: Role,
    /// How.
    pub outcome: StepOutcome,
    /// HEAD now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<CommitId>,
}

/// A model said what it means to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanSubmitted {
    /// In which step.
    pub step: u32,
    /// Whose.
    pub role: Role,
    /// Digest of the plan; its text is in `.tdd/plan/`.
    pub digest: Digest,
    /// Its steps, where the model named them one by one.
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
    /// The file that the test is to stand in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_file_path: Option<String>,
}

/// A change of production says which red test it is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditClaim {
    /// Which test.
    pub test_id: TestId,
    /// The file that changes for it.
    pub edit_target: String,
}

/// Edits passed the gate and are about to be written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditApplied {
    /// In which step.
    pub step: u32,
    /// Which try.
    pub attempt: u32,
    /// The files.
    pub paths: Vec<String>,
}

/// The gate said no, and nothing was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditRefused {
    /// In which step.
    pub step: u32,
    /// Which try.
    pub attempt: u32,
    /// Which rule.
    pub rule: Rule,
    /// Why.
    pub reason: String,
    /// The files.
    pub paths: Vec<String>,
}

/// An attempt failed; the tree is that of the step's base again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reverted {
    /// In which step.
    pub step: u32,
    /// Which try.
    pub attempt: u32,
    /// Whether the attempt counts.
    pub spent: bool,
    /// What was complained of lies in the tests alone, so it is the tester's to mend.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_tests: bool,
    /// The rule that it broke; none if the answer could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<Rule>,
    /// The cause of the contract.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// Why.
    pub reason: String,
    /// Other tests that passed before and did not now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<TestId>,
    /// Failing tests and normalised message in one.
    pub signature: Digest,
    /// Where the work is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_as: Option<String>,
}

/// The second green failed: what follows is repair.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repair {
    /// Which test.
    pub test_id: TestId,
    /// How many attempts have failed.
    pub attempts: u32,
}

/// The same failure came more than twice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stuck {
    /// On which test, or in which role.
    pub subject: String,
    /// Which failure.
    pub signature: Digest,
    /// How often.
    pub times: u32,
}

/// A doubted test was revised, or withdrawn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestRevised {
    /// Which test.
    pub test_id: TestId,
    /// Its digest before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Digest>,
    /// Its digest now; none if it was withdrawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Digest>,
    /// Why.
    pub reason: String,
    /// Where the kata says so.
    pub spec_source: String,
}

/// A doubted test was thought over, and stays as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestUpheld {
    /// Which test.
    pub test_id: TestId,
    /// Why.
    pub reason: String,
    /// Where the kata says so.
    pub spec_source: String,
}

/// A test has another id now, and the same tokens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestRenamed {
    /// As it was.
    pub from: TestId,
    /// As it is.
    pub test_id: TestId,
}

/// A new test passed at once, so it leads to another target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GreenOnArrival {
    /// Which test.
    pub test_id: TestId,
}

/// All attempts at a test are spent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blocked {
    /// Which test.
    pub test_id: TestId,
    /// Why.
    pub reason: String,
}

/// Nothing goes on until a person says so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paused {
    /// Why: `td-stuck: <target>` and the like.
    pub reason: String,
    /// What a person can do.
    pub next: String,
}

/// Commits and ledger disagreed: the commits are right.
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
    /// In which step.
    pub step: u32,
    /// For whom.
    pub role: Role,
    /// Which model.
    pub model: String,
    /// What it was asked for: `plan`, `edit`.
    pub purpose: String,
    /// Tokens of the prompt.
    pub prompt_tokens: u64,
    /// Those of them that the server had cached.
    pub cached_tokens: u64,
    /// Tokens of the answer.
    pub completion_tokens: u64,
    /// Millionths of a US dollar, where the price is known.
    pub micro_usd: u64,
    /// How long it took, with all retries.
    pub duration_ms: u64,
}

impl LlmCall {
    /// The purpose of a call that asks for an edit plan.
    pub const EDIT: &'static str = "edit";
    /// The purpose of a call that asks for fenced files.
    pub const FILES: &'static str = "files";
}
