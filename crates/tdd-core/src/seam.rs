//! The seams between deciding and acting: what the hands and the agents must be able to do.

use std::future::Future;
use std::sync::Arc;

use crate::command::Exit;
use crate::cycle::Role;
use crate::digest::{CommitId, TreeId};
use crate::event::{Event, Record};
use crate::gate::Permit;
use crate::report::Report;
use crate::session::Session;
use crate::test_id::TestId;

/// What an agent is told before it acts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepContext {
    /// Who acts.
    pub role: Role,
    /// In which step, counted from 1.
    pub step_index: u32,
    /// The kata's text.
    pub kata_description: String,
    /// The message of HEAD.
    pub git_last_commit_msg: String,
    /// What HEAD changed, as a unified diff, bounded.
    pub git_last_diff: String,
    /// The files of the repository.
    pub repo_snapshot_paths: Arc<Vec<String>>,
}

/// What an agent's edit came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepResult {
    /// The files it changed, relative to the repository's root.
    pub files_changed: Vec<String>,
    /// The commit message it proposes; the machine takes the summary and the rationale from it.
    pub commit_message: String,
    /// Anything for the log.
    pub notes: String,
}

/// One of the three roles at work.
pub trait Agent {
    /// Why it could not answer.
    type Error: std::error::Error + Send + Sync + 'static;
    /// Which role.
    fn role(&self) -> Role;
    /// What it means to change, and why, in plain text.
    fn plan(&self, context: &StepContext) -> impl Future<Output = Result<String, Self::Error>> + Send;
    /// The edits themselves, as requests to the gate.
    fn edit(&self, context: &StepContext) -> impl Future<Output = Result<StepResult, Self::Error>> + Send;
}

/// Drives the agents round the cycle.
pub trait Orchestrator {
    /// Why it could not go on.
    type Error: std::error::Error + Send + Sync + 'static;
    /// Who is on turn.
    fn current_role(&self) -> Role;
    /// Runs one step: brief, plan, edit, verify, commit or undo, rotate.
    fn next(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send;
}

/// What the repository looks like to an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepoState {
    /// The message of HEAD; empty before the first commit.
    pub last_commit_message: String,
    /// What HEAD changed, as a unified diff, bounded.
    pub last_diff: String,
    /// The files of HEAD.
    pub files: Arc<Vec<String>>,
}

/// What became of a formatter's or a checker's run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunnerOutcome {
    /// It ended with status 0.
    pub ok: bool,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
    /// How it ended, where `ok` cannot say enough.
    pub exit: Exit,
}

/// Runs the project's own tools.
pub trait Runner {
    /// Why a tool could not be run at all.
    type Error: std::error::Error + Send + Sync + 'static;
    /// Formats these files.
    fn fmt(&self, files: &[String]) -> Result<RunnerOutcome, Self::Error>;
    /// Compiles and lints.
    fn check(&self) -> Result<RunnerOutcome, Self::Error>;
    /// Runs these tests, or all of them if none is named.
    fn test(&self, only: &[TestId]) -> Result<Report, Self::Error>;
}

/// The version control that keeps the steps.
pub trait Vcs {
    /// What went wrong.
    type Error: std::error::Error + Send + Sync + 'static;
    /// A path as it is kept there.
    type Path;
    /// Where a commit goes on top of.
    type Head;
    /// What an agent is told of the repository; the diff is cut at `max_diff` bytes.
    fn read_state(&self, max_diff: usize) -> Result<RepoState, Self::Error>;
    /// Names the content of the working tree as it is now.
    fn tree_id(&self) -> Result<TreeId, Self::Error>;
    /// Commits exactly these paths as they are in `tree`, and nothing else, unless somebody else has
    /// committed since `onto` was read.
    fn commit(
        &self,
        onto: &Self::Head,
        tree: &TreeId,
        paths: &[Self::Path],
        message: &str,
    ) -> Result<CommitId, Self::Error>;
    /// Puts exactly these paths of the working tree back to what they are in `tree`.
    fn restore(&self, tree: &TreeId, paths: &[Self::Path]) -> Result<(), Self::Error>;
}

/// The project's files; the only way to change one is to hold a permit.
pub trait Workspace {
    /// What went wrong while writing.
    type Error: std::error::Error + Send + Sync + 'static;
    /// What was written, or why an edit does not apply.
    type Written;
    /// Makes the permitted changes, all of them or none.
    fn write(&self, permit: Permit) -> Result<Self::Written, Self::Error>;
}

/// The append-only record of all that was seen.
pub trait Ledger {
    /// What went wrong while appending.
    type Error: std::error::Error + Send + Sync + 'static;
    /// All that the events so far add up to.
    fn session(&self) -> &Session;
    /// Appends events, and does not return before all events are on the disk, unless these
    /// [allow nothing](Event::allows_nothing).
    fn append(&mut self, events: &[Event]) -> Result<Vec<Record>, Self::Error>;
}

/// Tells the time.
pub trait Clock {
    /// Milliseconds since 1970.
    fn now_ms(&self) -> u64;
}
