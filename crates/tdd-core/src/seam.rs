//! The traits between deciding and acting: what a workshop, a repository, a ledger and an agent must be able to do.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::change::{Change, Sort};
use crate::command::Exit;
use crate::config::{Author, Config, Gate};
use crate::coverage::Measurement;
use crate::cycle::{Role, Turn};
use crate::digest::{CommitId, Digest, TreeId};
use crate::event::{Event, LlmCall, PlannedStep, Record};
use crate::gate::{Edit, Files, Permit};
use crate::judge::Baseline;
use crate::law::Kind;
use crate::machine::{End, StepLog};
use crate::merge::{MergeError, Merged};
use crate::proof::Proof;
use crate::report::{Cause, Report};
use crate::requirements::Progress;
use crate::rule::{Refusal, Rule};
use crate::session::Session;
use crate::signs::{Place, Signs, TestSigns};
use crate::strength::Answers;
use crate::test_id::TestId;

/// What an agent is told before its turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepContext {
    /// The role that acts.
    pub role: Role,
    /// The number of the step, from 1.
    pub step_index: u32,
    /// What to build: the kata's text, or the task that replaces it.
    pub kata_description: String,
    /// The message of HEAD.
    pub git_last_commit_msg: String,
    /// The diff of HEAD, shortened.
    pub git_last_diff: String,
    /// The files of the repository.
    pub repo_snapshot_paths: Arc<Vec<String>>,
    /// Whose turn it is, with its evidence.
    pub turn: Turn,
    /// The test that the turn is about.
    pub target: Option<Target>,
    /// The only test that a tester may write.
    pub wanted: Option<TestId>,
    /// The tester may declare the kata done.
    pub may_be_done: bool,
    /// What a refactorer may find worth it, by measure.
    pub refactor_hints: Vec<String>,
    /// For a tester who chooses what to test: which requirements seem to have a test.
    pub progress: Option<Progress>,
}

/// The test that a turn is about, with its failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Its id.
    pub id: TestId,
    /// The file it is in.
    pub path: String,
    /// Why it fails.
    pub cause: Cause,
    /// The message of the runner or the compiler.
    pub output: String,
}

/// A file of the project, for a brief.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its path.
    pub path: String,
    /// Its content.
    pub text: String,
    /// Its category.
    pub sort: Sort,
    /// Whether the last commit changed it.
    pub changed: bool,
}

/// An agent's answer: the edits it wants, and its explanations. Nothing of it has passed the gate yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepResult {
    /// The edits.
    pub edits: Vec<Edit>,
    /// One line for the commit's header.
    pub summary: String,
    /// The reasons, line by line.
    pub rationale: String,
    /// A whole commit message, used where `summary` or `rationale` lacks something.
    pub commit_message: String,
    /// The tests that the edits are for; empty means the step's target.
    pub claims: Vec<TestId>,
    /// Notes for the log.
    pub notes: String,
    /// Files the agent must see before it can answer.
    pub need: Vec<String>,
    /// In a rethink: why the test changes or stays.
    pub reason: String,
    /// In a rethink: the sentence of the kata that says so.
    pub spec_source: String,
    /// From a tester who declares the kata done: each requirement with its test.
    pub done: Vec<Done>,
    /// From a tester who sent several tests: the edits of each further test, for the next turns.
    pub later: Vec<Vec<Edit>>,
    /// From a tester: the test comes from a list that was sent before.
    pub is_listed: bool,
}

/// A requirement of the kata, and the test that proves it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// In the kata's words.
    pub requirement: String,
    /// The test.
    pub test_id: TestId,
}

impl StepResult {
    /// The files that the edits change.
    pub fn files_changed(&self) -> Vec<String> {
        self.edits.iter().map(|edit| edit.path.clone()).collect()
    }

    /// Whether it asks for files instead of editing. If there are edits, `need` is ignored.
    pub fn only_asks(&self) -> bool {
        self.edits.is_empty() && !self.need.is_empty()
    }
}

/// An agent's answer to one attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The answer can be judged.
    Result(Box<StepResult>),
    /// The answer cannot be read, for this reason.
    Unreadable(String),
}

/// Why an attempt led to no commit, with what was run and seen.
#[derive(Clone, Copy, Debug)]
pub struct Setback<'a> {
    /// The rule that refused; `None` if the answer could not be read.
    pub refusal: Option<&'a Refusal>,
    /// The test results, if the agent may see them.
    pub report: Option<&'a Report>,
    /// A command and its output.
    pub output: Option<(&'a str, &'a str)>,
    /// A file as it would be after the edits: path and text.
    pub file: Option<(&'a str, &'a str)>,
}

/// What an agent hears about its turn.
#[derive(Clone, Copy, Debug)]
pub enum Feedback<'a> {
    /// The attempt failed.
    Failed(Setback<'a>),
    /// The attempt failed, and the conversation starts over.
    StartOver(Setback<'a>),
    /// The agent may declare the kata done from here on.
    MayBeDone,
    /// The turn is over; the role may get another turn in the same step.
    TurnOver,
    /// The step is over.
    StepOver,
}

/// One of the three roles. It acts only through its [`AgentHost`].
pub trait Agent {
    /// Why the agent could not answer.
    type Error: std::error::Error + Send + Sync + 'static + From<HostFailed>;
    /// The agent's role.
    fn role(&self) -> Role;
    /// Submits the agent's plan, once per step.
    fn plan(&mut self, context: &StepContext, host: &mut dyn AgentHost) -> Result<(), Self::Error>;
    /// Asks the agent for its edits.
    fn edit(&mut self, context: &StepContext, host: &mut dyn AgentHost) -> Result<Reply, Self::Error>;
    /// Tells the agent what happened to its turn.
    fn hear(&mut self, turn: &Turn, news: &Feedback<'_>);
    /// The limits of all its calls together.
    fn budget(&self) -> Budget;
    /// The reason and the next move, if the error means that no answer can arrive before the run's time is over. The
    /// run then ends as usual.
    fn out_of_time(error: &Self::Error) -> Option<OutOfTime>;
}

/// No answer can arrive before the run's time is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutOfTime {
    /// The reason.
    pub reason: String,
    /// What a person can do.
    pub next: String,
}

/// The limits on the cost of models; `None` means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// Tokens of prompts and answers together.
    pub tokens: Option<u64>,
    /// Millionths of a US dollar.
    pub micro_usd: Option<u64>,
}

/// A request failed: the turn is over, and the host holds the error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the machine could not carry out the request")]
pub struct HostFailed;

/// One call to a model, for the ledger and the log.
#[derive(Clone, Debug)]
pub struct Call {
    /// The ledger event.
    pub event: LlmCall,
    /// Its key in a recording.
    pub key: String,
    /// Digest of the whole prompt.
    pub prompt_digest: Digest,
    /// How many retries there were.
    pub retries: u32,
    /// How long the caller waited.
    pub waited: Duration,
    /// The answer.
    pub answer: String,
}

/// The gate's answer to a request of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum GateAnswer {
    /// The request passes.
    Yes,
    /// The request is refused.
    No(Refusal),
}

/// How much of the kata fits into a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KataCut {
    /// Bytes shown.
    pub shown: usize,
    /// Bytes in all.
    pub of: usize,
}

/// The result of a trial run of the tests.
#[derive(Clone, Debug)]
#[must_use]
pub enum Trial {
    /// The tests were run.
    Ran(Report),
    /// The gate refuses to run these files.
    Refused(Refusal),
    /// The config does not let models see test results.
    Withheld,
}

/// What an agent may ask for during its turn.
pub trait AgentHost {
    /// Reads a file of the tree that the step starts from.
    fn read(&mut self, path: &str) -> Result<Option<String>, HostFailed>;
    /// The paths of all files in that tree.
    fn files(&mut self) -> Result<Vec<String>, HostFailed>;
    /// Merges the items of an answer into a file; `None` if the language does not support it.
    fn merge(&mut self, path: &str, file: &str, answer: &str) -> Option<Result<Merged, MergeError>>;
    /// The same change once for each of its new tests, without the others.
    fn one_by_one(&mut self, files: &Files) -> Result<Vec<Files>, HostFailed>;
    /// The files that a brief may show, with their content.
    fn shown(&mut self) -> Result<Vec<File>, HostFailed>;
    /// The project's language, and how its tests import production code, if known.
    fn language(&mut self) -> Result<(String, Option<String>), HostFailed>;
    /// Asks the gate whether these files may be written.
    fn judge(&mut self, files: &Files, paths: &[String]) -> Result<GateAnswer, HostFailed>;
    /// Records a refusal of edits that do not even apply.
    fn refused(&mut self, refusal: &Refusal, paths: &[String]) -> Result<(), HostFailed>;
    /// Claims the red test that a change is for.
    fn claim(&mut self, test: &TestId, target: &str) -> Result<GateAnswer, HostFailed>;
    /// Submits the plan; `steps` is empty if the agent did not list them.
    fn planned(&mut self, plan: &str, steps: &[PlannedStep]) -> Result<(), HostFailed>;
    /// Runs these tests (all if none is named) on the files as they would be. Nothing is written.
    fn run_tests(&mut self, files: &Files, only: &[TestId]) -> Result<Trial, HostFailed>;
    /// Reports that the agent waits for a model.
    fn waiting(&mut self, purpose: &str);
    /// Reports that a prompt shows only part of the kata.
    fn kata_cut(&mut self, cut: KataCut);
    /// Records a call to a model.
    fn called(&mut self, call: Call) -> Result<(), HostFailed>;
}

/// Drives the agents through the cycle.
pub trait Orchestrator {
    /// Why it could not continue.
    type Error: std::error::Error + 'static;
    /// The role whose turn it is.
    fn current_role(&mut self) -> Result<Role, Self::Error>;
    /// Makes the next attempt of the due step: brief, plan, edit, verify, commit or undo, rotate. Returns the end of
    /// the run if there is a reason to stop.
    fn next(&mut self) -> Result<Option<End>, Self::Error>;
}

/// The repository as an agent sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepoState {
    /// The message of HEAD; empty before the first commit.
    pub last_commit_message: String,
    /// The diff of HEAD, shortened.
    pub last_diff: String,
    /// The files of HEAD.
    pub files: Arc<Vec<String>>,
}

/// The result of a formatter or a check command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunnerOutcome {
    /// Whether it ended with status 0.
    pub ok: bool,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
    /// How it ended, in detail.
    pub exit: Exit,
}

impl RunnerOutcome {
    /// Its whole output.
    pub fn said(&self) -> String {
        format!("{}\n{}", self.stderr, self.stdout)
    }
}

/// Runs the project's own tools.
pub trait Runner {
    /// Why a tool could not be run.
    type Error: std::error::Error + Send + Sync + 'static;
    /// Formats these files.
    fn fmt(&self, files: &[String]) -> Result<RunnerOutcome, Self::Error>;
    /// Compiles and lints the project.
    fn check(&self) -> Result<RunnerOutcome, Self::Error>;
    /// Runs these tests, or all of them if none is named.
    fn test(&self, only: &[TestId]) -> Result<Report, Self::Error>;
}

/// One run of all tests on one tree.
#[derive(Clone, Debug)]
pub struct Run {
    /// The test results.
    pub report: Report,
    /// The tree after the run; it differs if the run changed files.
    pub tree_after: TreeId,
}

/// The red state: the base's production code with the change's tests.
#[derive(Clone, Debug)]
pub struct RedState {
    /// What each test said in this state.
    pub baseline: Baseline,
    /// The change from this state on.
    pub change: Change,
    /// How long it took to find out.
    pub ms: u64,
}

/// The result of the check command, or of the command that verifies refactor mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The command, as one line.
    pub command: String,
    /// How it ended, and its output.
    pub outcome: RunnerOutcome,
    /// Whether it changed project files.
    pub changed_files: bool,
}

/// One change of one project, and all facts about it. It decides nothing.
pub trait Workshop {
    /// Why something could not be found out.
    type Error: std::error::Error + Send + Sync + 'static;
    /// The state of the ledger.
    fn session(&self) -> &Session;
    /// The reason for a person's exception from a rule, if one is in force.
    fn exception(&self, rule: Rule) -> Option<String>;
    /// The gate config for this change. A person named `named` tests, which may all be new.
    fn gate(&self, change: &Change, named: usize) -> Gate;
    /// The tree that is judged.
    fn tree(&self) -> &TreeId;
    /// What the change did. For a refactor, a consistent rename does not count as a change of tests.
    fn change(&self, kind: Kind) -> Result<Change, Self::Error>;
    /// Runs the change's tests on its base.
    fn red_state(&self, targets: &[TestId]) -> Result<RedState, Self::Error>;
    /// What each test said before the change.
    fn baseline(&self) -> Result<Baseline, Self::Error>;
    /// Runs all tests on the judged tree.
    fn run(&mut self) -> Result<Run, Self::Error>;
    /// The report after a rerun of these tests, as often as configured.
    fn rerun(&self, report: Report, suspects: &[TestId]) -> Result<Report, Self::Error>;
    /// Files that a changed file includes but the tree lacks, as (changed file, included file).
    fn absent(&self) -> Result<Vec<(String, String)>, Self::Error>;
    /// Whether a configured command verifies changes of this kind.
    fn verifies_by_command(&self, kind: Kind) -> bool;
    /// Runs the check command on the judged tree.
    fn check(&self, kind: Kind) -> Result<Checked, Self::Error>;
    /// The output of the check command before the change; `None` if it passed or could not be run.
    fn check_before(&self) -> Result<Option<String>, Self::Error>;
    /// Whether a model made the change: then what nobody can prove is refused.
    fn is_of_model(&self) -> bool;
    /// The tests that the change may have disarmed: those that reach what it changed, the closest first, and only as
    /// many as can be probed together.
    fn affected(&self, change: &Change) -> Result<Vec<TestId>, Self::Error>;
    /// Runs the probes of the targets, each with the cause of its red, and of other tests.
    fn probe(
        &self,
        targets: &[(TestId, Option<Cause>)],
        others: &[TestId],
        change: &Change,
    ) -> Result<BTreeMap<TestId, Proof>, Self::Error>;
    /// Runs the probes of a test on the code before the change.
    fn probe_before(&self, test: &TestId) -> Result<Proof, Self::Error>;
    /// Alters what production answers to these tests, before the change and after it.
    fn answers(&self, tests: &[TestId]) -> Result<Answers, Self::Error>;
    /// The signs in the changed files, or in all files.
    fn signs(&self, everywhere: bool) -> Result<Signs, Self::Error>;
    /// The signs in these tests.
    fn signs_of(&self, tests: &BTreeSet<TestId>) -> Result<Vec<TestSigns>, Self::Error>;
    /// The results of all tests on the base.
    fn base_report(&self) -> Result<Report, Self::Error>;
    /// The commit that introduced each production item that these tests call.
    fn since(&self, signs: &Signs) -> Result<BTreeMap<Place, String>, Self::Error>;
    /// Which lines of these files the tests execute, and which lines the change added.
    fn measure(&self, paths: &BTreeSet<String>) -> Result<Measured, Self::Error>;
}

/// Line coverage, or why it is unknown.
#[derive(Clone, Debug)]
pub enum Measured {
    /// The coverage.
    Lines(Measurement),
    /// Why it could not be measured.
    Unknown(String),
}

/// The current HEAD.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The commit; `None` while the branch is unborn.
    pub commit: Option<CommitId>,
    /// The branch, without `refs/heads/`; `None` if HEAD is detached.
    pub branch: Option<String>,
    /// The commit's tree; the empty tree while the branch is unborn.
    pub tree: TreeId,
}

/// A commit to be made.
#[derive(Clone, Copy, Debug)]
pub struct NewCommit<'a> {
    /// The parent of the commit; nobody may have committed since it was read.
    pub onto: &'a Head,
    /// The tree to commit from.
    pub tree: &'a TreeId,
    /// The only paths that are taken from the tree.
    pub paths: &'a [String],
    /// The message.
    pub message: &'a str,
    /// Author and committer.
    pub author: &'a Author,
    /// The time, in milliseconds since 1970.
    pub now_ms: u64,
}

/// A person's uncommitted work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unclean {
    /// Tracked files that differ from HEAD.
    pub modified: Vec<String>,
    /// Files that are neither tracked nor ignored.
    pub untracked: Vec<String>,
}

/// The version control system.
pub trait Vcs: Sized {
    /// Why an operation failed.
    type Error: std::error::Error + Send + Sync + 'static;
    /// Opens the repository at a folder, or creates one.
    fn init_if_needed(folder: &Path) -> Result<Self, Self::Error>;
    /// The repository as an agent sees it; the diff is cut at `max_diff` bytes.
    fn read_state(&self, max_diff: usize) -> Result<RepoState, Self::Error>;
    /// Reads HEAD.
    fn head(&self) -> Result<Head, Self::Error>;
    /// The messages of HEAD's first-parent history, newest first, up to a fixed depth.
    fn messages(&self) -> Result<Vec<String>, Self::Error>;
    /// The first parent of a commit.
    fn parent(&self, commit: &CommitId) -> Result<Option<CommitId>, Self::Error>;
    /// Stores the whole working tree as it is, and returns its tree id.
    fn stage_all(&self) -> Result<TreeId, Self::Error>;
    /// The paths that differ between two trees.
    fn changed(&self, before: &TreeId, after: &TreeId) -> Result<Vec<String>, Self::Error>;
    /// A person's uncommitted work.
    fn unclean(&self) -> Result<Unclean, Self::Error>;
    /// Commits exactly the given paths of a tree.
    fn commit(&self, commit: &NewCommit<'_>) -> Result<CommitId, Self::Error>;
}

/// The result of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Written {
    /// Everything is written.
    Done,
    /// An edit does not apply to its file; nothing was written.
    Refused(Refusal),
    /// A person changed these files meanwhile; nothing was written.
    Interfered(Vec<String>),
}

/// Paths that an edit must not touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Obstructed {
    /// Paths that git ignores.
    pub ignored: Vec<String>,
    /// A person's untracked files.
    pub untracked: Vec<String>,
    /// Paths at which there is a folder.
    pub folders: Vec<String>,
    /// Paths that would need a folder where there is a file.
    pub below_files: Vec<String>,
}

/// A person's text that was saved before a file was put back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rescued {
    /// The file.
    pub path: String,
    /// The ref that holds the person's version.
    pub kept_as: String,
    /// Whether the person's lines are still in the file.
    pub on_disk: bool,
}

/// The working folder of a step: what the orchestrator does with it apart from judging.
pub trait StepWorkshop: Workshop + Clock {
    /// The version control.
    type Vcs: Vcs<Error: Into<Self::Error>>;
    /// The ledger.
    type Ledger: Ledger<Error: Into<Self::Error>>;
    /// The repository.
    fn vcs(&self) -> &Self::Vcs;
    /// The ledger.
    fn ledger(&mut self) -> &mut Self::Ledger;
    /// The project's configuration.
    fn config(&self) -> &Config;
    /// The test command, as written in the ledger.
    fn test_command(&self) -> String;
    /// The command that checks changes of this kind, as one line.
    fn check_command(&self, kind: Kind) -> String;
    /// Removes leftovers, and checks that commits can be made.
    fn prepare(&self) -> Result<(), Self::Error>;
    /// Deletes the ref that holds a snapshot of a person's untracked files.
    fn forget(&self) -> Result<(), Self::Error>;
    /// Sets the base of the step.
    fn start_from(&mut self, base: &TreeId);
    /// Reads a file of the base.
    fn read(&self, path: &str) -> Result<Option<String>, Self::Error>;
    /// The files of the base.
    fn files(&self) -> Result<Vec<String>, Self::Error>;
    /// Merges the items of an answer into a file; `None` if the language does not support it.
    fn merge(&self, path: &str, file: &str, answer: &str) -> Option<Result<Merged, MergeError>>;
    /// The same change once for each of its new tests, without the others.
    fn one_by_one(&self, files: &Files) -> Result<Vec<Files>, Self::Error>;
    /// The files that a brief may show, with their content.
    fn shown(&self) -> Result<Vec<File>, Self::Error>;
    /// The project's language, and how its tests import production code, if known.
    fn language(&self) -> Result<(String, Option<String>), Self::Error>;
    /// What would change if these files were written.
    fn change_to(&self, files: &Files, kind: Kind) -> Result<Change, Self::Error>;
    /// Those of the files that an edit must not touch.
    fn obstructed(&self, files: &Files) -> Result<Obstructed, Self::Error>;
    /// Runs these tests (all if none is named) on the files, in a scratch copy. Nothing is recorded, because a trial
    /// proves nothing.
    fn try_tests(&self, files: &Files, only: &[TestId]) -> Result<Report, Self::Error>;
    /// The files after the project's formatter.
    fn formatted(&self, files: &Files) -> Result<Files, Self::Error>;
    /// Makes the permitted changes, all or none.
    fn write(&mut self, permit: Permit, files: &Files) -> Result<Written, Self::Error>;
    /// Sets the tree to judge: the base with these paths as they are in the working tree. Lock files may be added.
    fn take(&mut self, paths: &[String]) -> Result<(), Self::Error>;
    /// The paths that were taken from the working tree.
    fn taken(&self) -> Vec<String>;
    /// Lock files that the project's tools update by themselves.
    fn lock_files(&self) -> Vec<String>;
    /// Saves what an attempt wrote at these paths under a ref; `None` if it wrote nothing.
    fn keep_attempt(&self, attempt: (u32, u32), paths: &[String], why: &str) -> Result<Option<String>, Self::Error>;
    /// Resets these paths to HEAD. If a path holds something that we did not write, a person edited it meanwhile, and
    /// their text is saved first.
    fn put_back(&self, paths: &[String]) -> Result<Vec<Rescued>, Self::Error>;
    /// Digest of a test in the judged tree, as a run would give it.
    fn test_digest(&self, test: &TestId) -> Option<Digest>;
    /// The same, in the base.
    fn digest_before(&self, test: &TestId) -> Option<Digest>;
    /// Whether all places that a tool complains about are in tests.
    fn lies_in_tests(&self, output: &str) -> Result<bool, Self::Error>;
    /// The time that the project's commands have taken so far.
    fn spent_on_commands(&self) -> Duration;
}

/// The project's files. Only a permit allows a change.
pub trait Workspace {
    /// Why a write failed.
    type Error: std::error::Error + Send + Sync + 'static;
    /// The result of a write, or why an edit does not apply.
    type Written;
    /// Makes the permitted changes, all or none.
    fn write(&self, permit: Permit) -> Result<Self::Written, Self::Error>;
}

/// Shows a run in progress, and writes its plans and logs for people. No code reads them back.
pub trait Reporter {
    /// An event was recorded.
    fn event(&mut self, event: &Event, context: &EventContext<'_>);
    /// Something takes a while.
    fn working(&mut self, what: &str);
    /// The wait is over.
    fn rested(&mut self);
    /// Something that a person should know, without effect on the run.
    fn remark(&mut self, text: &str);
    /// A person's text was saved.
    fn rescued(&mut self, rescued: &[Rescued]);
    /// An agent submitted its plan.
    fn plan(&mut self, step: u32, role: Role, plan: &str) -> io::Result<()>;
    /// An attempt or a step is over; `log` is the whole step so far.
    fn log(&mut self, log: &StepLog) -> io::Result<()>;
}

/// The context in which an event is shown.
#[derive(Clone, Copy, Debug)]
pub struct EventContext<'a> {
    /// The state after the event.
    pub session: &'a Session,
    /// The agent's last plan.
    pub plan: &'a str,
    /// The agent's last answer.
    pub answer: Option<&'a StepResult>,
    /// The message of the last commit.
    pub message: &'a str,
}

/// The append-only record of events.
pub trait Ledger {
    /// Why events could not be appended.
    type Error: std::error::Error + Send + Sync + 'static;
    /// The state that all events so far add up to.
    fn session(&self) -> &Session;
    /// Appends events. Returns only after all events are on disk, unless these [allow nothing](Event::allows_nothing).
    fn append(&mut self, events: &[Event]) -> Result<Vec<Record>, Self::Error>;
}

/// Tells the time, and whether the user wants to stop.
pub trait Clock {
    /// Milliseconds since 1970.
    fn now_ms(&self) -> u64;
    /// Monotonic time.
    fn elapsed(&self) -> Duration {
        Duration::from_millis(self.now_ms())
    }
    /// Whether the user wants to stop.
    fn is_cancelled(&self) -> bool {
        false
    }
}
