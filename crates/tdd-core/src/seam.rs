//! The seams between deciding and acting: what the hands and the agents must be able to do.

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
use crate::rule::{Refusal, Rule};
use crate::session::Session;
use crate::signs::{Place, Signs, TestSigns};
use crate::test_id::TestId;

/// What an agent is told before it acts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepContext {
    /// Who acts.
    pub role: Role,
    /// In which step, counted from 1.
    pub step_index: u32,
    /// What to build: the kata's text, or the task in its place.
    pub kata_description: String,
    /// The message of HEAD.
    pub git_last_commit_msg: String,
    /// What HEAD changed, as a unified diff, bounded.
    pub git_last_diff: String,
    /// The files of the repository.
    pub repo_snapshot_paths: Arc<Vec<String>>,
    /// Whose turn it is, with its evidence.
    pub turn: Turn,
    /// The test that the turn is about, with what it said.
    pub target: Option<Target>,
    /// The test that a tester must write, and no other.
    pub wanted: Option<TestId>,
    /// A tester may find the kata finished.
    pub may_be_done: bool,
}

/// The test that a turn is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Which.
    pub id: TestId,
    /// The file that it stands in.
    pub path: String,
    /// Why it fails.
    pub cause: Cause,
    /// What the runner or the compiler said.
    pub output: String,
}

/// A file of the project, as a brief may show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Where it is.
    pub path: String,
    /// What is in it.
    pub text: String,
    /// What it is.
    pub sort: Sort,
    /// Whether the last commit changed it.
    pub changed: bool,
}

/// What an agent answers: the edits that it wants, and what it says about them. Nothing in it has met the gate yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepResult {
    /// What to change.
    pub edits: Vec<Edit>,
    /// One line for the commit's header.
    pub summary: String,
    /// Why, line by line.
    pub rationale: String,
    /// A whole commit message, of which the machine takes what the other two lack.
    pub commit_message: String,
    /// The tests that the edits are for; none means the step's target.
    pub claims: Vec<TestId>,
    /// Anything for the log.
    pub notes: String,
    /// Files to be shown before it can answer.
    pub need: Vec<String>,
    /// In a rethink: why the test changes or stays.
    pub reason: String,
    /// In a rethink: where the kata says so.
    pub spec_source: String,
    /// From a tester who finds the kata finished: each requirement with its test.
    pub done: Vec<Done>,
}

/// A requirement of the kata and the test that holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// In the kata's words.
    pub requirement: String,
    /// The test.
    pub test_id: TestId,
}

impl StepResult {
    /// The files that it wants to change.
    pub fn files_changed(&self) -> Vec<String> {
        self.edits.iter().map(|edit| edit.path.clone()).collect()
    }

    /// Whether it asks for files instead of editing. With edits, they count and the question falls away.
    pub fn only_asks(&self) -> bool {
        self.edits.is_empty() && !self.need.is_empty()
    }
}

/// An agent's answer to one attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// It can be judged.
    Result(Box<StepResult>),
    /// It cannot be read, for this reason.
    Unreadable(String),
}

/// Why an attempt did not lead to a commit, with what was run and seen.
#[derive(Clone, Copy, Debug)]
pub struct Setback<'a> {
    /// The rule that said no; none if the answer could not be read.
    pub refusal: Option<&'a Refusal>,
    /// What the tests said, where the agent may know.
    pub report: Option<&'a Report>,
    /// A command, and what it said.
    pub output: Option<(&'a str, &'a str)>,
    /// A file as the edits would leave it.
    pub file: Option<(&'a str, &'a str)>,
}

/// What happens to an agent between its answers.
#[derive(Clone, Copy, Debug)]
pub enum Feedback<'a> {
    /// The attempt failed.
    Failed(Setback<'a>),
    /// The attempt failed as others did before: the conversation begins anew.
    StartOver(Setback<'a>),
    /// From now on it may say that the kata is done.
    MayBeDone,
    /// This turn is over; it may come back in the same step.
    TurnOver,
    /// The step is over.
    StepOver,
}

/// One of the three roles at work. Its only hands are the requests that it makes at its desk.
pub trait Agent {
    /// Why it could not answer.
    type Error: std::error::Error + Send + Sync + 'static + From<HostFailed>;
    /// Which role.
    fn role(&self) -> Role;
    /// Says what it means to change, and why, once in a step.
    fn plan(&mut self, context: &StepContext, desk: &mut dyn AgentHost) -> Result<(), Self::Error>;
    /// The edits themselves, as requests to the gate.
    fn edit(&mut self, context: &StepContext, desk: &mut dyn AgentHost) -> Result<Reply, Self::Error>;
    /// Hears what became of a turn.
    fn hear(&mut self, turn: &Turn, news: &Feedback<'_>);
    /// What all its answers may cost; nothing where there is no limit.
    fn budget(&self) -> Budget;
    /// What to say and what a person can do, where an answer could not be had before the run's time is over. Then the
    /// run ends as any run does whose time is over.
    fn out_of_time(error: &Self::Error) -> Option<OutOfTime>;
}

/// An answer cannot be had before the run's time is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutOfTime {
    /// Why not.
    pub reason: String,
    /// What a person can do.
    pub next: String,
}

/// What models may cost in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// Tokens of prompts and answers.
    pub tokens: Option<u64>,
    /// Millionths of a US dollar.
    pub micro_usd: Option<u64>,
}

/// A request could not be carried out: the turn is over, and the machine knows why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the desk is closed")]
pub struct HostFailed;

/// A call to a model, as the ledger and the log know it.
#[derive(Clone, Debug)]
pub struct Call {
    /// What the ledger knows of it.
    pub event: LlmCall,
    /// What it is called in a recording.
    pub key: String,
    /// Digest of the whole prompt.
    pub prompt_digest: Digest,
    /// How often it was tried again.
    pub retries: u32,
    /// How long it was waited for.
    pub waited: Duration,
    /// What was answered.
    pub answer: String,
}

/// What a gate said to a request at the desk.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum GateAnswer {
    /// Yes.
    Yes,
    /// No, and why.
    No(Refusal),
}

/// How much of a kata a prompt had room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KataCut {
    /// So many bytes are shown.
    pub shown: usize,
    /// Of so many.
    pub of: usize,
}

/// What came of a trial run of the tests.
#[derive(Clone, Debug)]
#[must_use]
pub enum Trial {
    /// They were run.
    Ran(Report),
    /// The gate does not let these files be run.
    Refused(Refusal),
    /// The configuration does not let a model see what tests say.
    Withheld,
}

/// What an agent may ask for during its turn.
pub trait AgentHost {
    /// A file of the tree that the step starts from.
    fn read(&mut self, path: &str) -> Result<Option<String>, HostFailed>;
    /// The names of its files.
    fn files(&mut self) -> Result<Vec<String>, HostFailed>;
    /// A file with the items of an answer merged into it; `None` if its language has no way to.
    fn merge(&mut self, path: &str, file: &str, answer: &str) -> Option<Result<Merged, MergeError>>;
    /// The files that a brief may show.
    fn shown(&mut self) -> Result<Vec<File>, HostFailed>;
    /// The project's language, and how its tests import production code, if that can be said.
    fn language(&mut self) -> Result<(String, Option<String>), HostFailed>;
    /// Whether these files could be written.
    fn judge(&mut self, files: &Files, paths: &[String]) -> Result<GateAnswer, HostFailed>;
    /// An edit does not even fit the files.
    fn refused(&mut self, refusal: &Refusal, paths: &[String]) -> Result<(), HostFailed>;
    /// A change is for the sake of this test.
    fn claim(&mut self, test: &TestId, target: &str) -> Result<GateAnswer, HostFailed>;
    /// It said what it means to do; `steps` are there if it named them one by one.
    fn planned(&mut self, plan: &str, steps: &[PlannedStep]) -> Result<(), HostFailed>;
    /// What these tests, or all if none is named, say of the files as they would be. Nothing is written.
    fn run_tests(&mut self, files: &Files, only: &[TestId]) -> Result<Trial, HostFailed>;
    /// It waits for a model.
    fn waiting(&mut self, purpose: &str);
    /// There was no room in a prompt for all of the kata.
    fn kata_cut(&mut self, cut: KataCut);
    /// A model answered.
    fn called(&mut self, call: Call) -> Result<(), HostFailed>;
}

/// Drives the agents round the cycle.
pub trait Orchestrator {
    /// Why it could not go on.
    type Error: std::error::Error + 'static;
    /// Who is on turn.
    fn current_role(&mut self) -> Result<Role, Self::Error>;
    /// Makes the next attempt of the step that is due: brief, plan, edit, verify, commit or undo, rotate. The end of
    /// the run, if there is a reason to stop.
    fn next(&mut self) -> Result<Option<End>, Self::Error>;
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

impl RunnerOutcome {
    /// All that it said.
    pub fn said(&self) -> String {
        format!("{}\n{}", self.stderr, self.stdout)
    }
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

/// A run of all tests on one tree.
#[derive(Clone, Debug)]
pub struct Run {
    /// What they said.
    pub report: Report,
    /// The tree after the run; another one if the run changed it.
    pub tree_after: TreeId,
}

/// The moment between red and green: the base's production code with the change's tests.
#[derive(Clone, Debug)]
pub struct RedState {
    /// What every test said then.
    pub baseline: Baseline,
    /// What the change did after the tests were there.
    pub change: Change,
}

/// What the check command, or the command that verifies refactor mode, came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The command, as one line.
    pub command: String,
    /// How it ended and what it said.
    pub outcome: RunnerOutcome,
    /// It changed files of the project.
    pub changed_files: bool,
}

/// One change of one project, with all that can be found out about it. Nothing is decided here.
pub trait Workshop {
    /// Why something could not be found out.
    type Error: std::error::Error + Send + Sync + 'static;
    /// All that the ledger knows.
    fn session(&self) -> &Session;
    /// Why a person made an exception from a rule, if one is in force at this moment.
    fn exception(&self, rule: Rule) -> Option<String>;
    /// How strict this change is judged, where so many tests were named by a person.
    fn gate(&self, change: &Change, named: usize) -> Gate;
    /// The tree that is judged.
    fn tree(&self) -> &TreeId;
    /// What the change did. In a refactor a consistent rename is no change of the tests that name what is renamed.
    fn change(&self, kind: Kind) -> Result<Change, Self::Error>;
    /// Lays the change's tests over its base and runs them.
    fn red_state(&self, targets: &[TestId]) -> Result<RedState, Self::Error>;
    /// What every test said before the change.
    fn baseline(&self) -> Result<Baseline, Self::Error>;
    /// What all tests say on the tree that is judged.
    fn run(&mut self) -> Result<Run, Self::Error>;
    /// The same report after these tests were run again, as often as is configured.
    fn rerun(&self, report: Report, suspects: &[TestId]) -> Result<Report, Self::Error>;
    /// Files that changed files take in and that the tree does not hold.
    fn absent(&self) -> Result<Vec<(String, String)>, Self::Error>;
    /// A command of the project's own verifies changes of this kind in the place of the tests.
    fn verifies_by_command(&self, kind: Kind) -> bool;
    /// Runs the check command on the tree that is judged.
    fn check(&self, kind: Kind) -> Result<Checked, Self::Error>;
    /// What the check command complained of before the change; `None` if it passed, or could not be run.
    fn check_before(&self) -> Result<Option<String>, Self::Error>;
    /// Makes the probes of one target, whose red had this cause.
    fn probe(&self, target: &TestId, change: &Change, red: Option<Cause>) -> Result<Proof, Self::Error>;
    /// What the language sees in the changed files, or in all files.
    fn signs(&self, everywhere: bool) -> Result<Signs, Self::Error>;
    /// What the language sees in these tests.
    fn signs_of(&self, tests: &BTreeSet<TestId>) -> Result<Vec<TestSigns>, Self::Error>;
    /// What all tests say on the tree that the change starts from.
    fn base_report(&self) -> Result<Report, Self::Error>;
    /// With which commits the production items came that these tests ask about.
    fn since(&self, signs: &Signs) -> Result<BTreeMap<Place, String>, Self::Error>;
    /// Which lines of these files the tests execute, and which lines the change brought.
    fn measure(&self, paths: &BTreeSet<String>) -> Result<Measured, Self::Error>;
}

/// Which lines tests execute, or why that is not known.
#[derive(Clone, Debug)]
pub enum Measured {
    /// It was measured.
    Lines(Measurement),
    /// It was not, for this reason.
    Unknown(String),
}

/// Where HEAD is.
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
    /// Where it goes on top of; nobody may have committed since that was read.
    pub onto: &'a Head,
    /// The tree that holds what is committed.
    pub tree: &'a TreeId,
    /// Exactly these paths are taken from it.
    pub paths: &'a [String],
    /// The message.
    pub message: &'a str,
    /// Author and committer.
    pub author: &'a Author,
    /// When, in milliseconds since 1970.
    pub now_ms: u64,
}

/// A person's uncommitted work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unclean {
    /// Tracked files that differ from HEAD.
    pub modified: Vec<String>,
    /// Files that git neither knows nor ignores.
    pub untracked: Vec<String>,
}

/// The version control that keeps the steps.
pub trait Vcs: Sized {
    /// What went wrong.
    type Error: std::error::Error + Send + Sync + 'static;
    /// Opens the repository at a folder, and makes one if there is none.
    fn init_if_needed(folder: &Path) -> Result<Self, Self::Error>;
    /// What an agent is told of the repository; the diff is cut at `max_diff` bytes.
    fn read_state(&self, max_diff: usize) -> Result<RepoState, Self::Error>;
    /// Where HEAD is now.
    fn head(&self) -> Result<Head, Self::Error>;
    /// The messages of HEAD's first-parent history, newest first, as far as anybody looks back.
    fn messages(&self) -> Result<Vec<String>, Self::Error>;
    /// The first parent of a commit.
    fn parent(&self, commit: &CommitId) -> Result<Option<CommitId>, Self::Error>;
    /// Takes all of the working tree as it is now into the store, and names it.
    fn stage_all(&self) -> Result<TreeId, Self::Error>;
    /// The paths that differ between two trees.
    fn changed(&self, before: &TreeId, after: &TreeId) -> Result<Vec<String>, Self::Error>;
    /// What a person has not committed.
    fn unclean(&self) -> Result<Unclean, Self::Error>;
    /// Commits exactly these paths as they are in a tree, and nothing else.
    fn commit(&self, commit: &NewCommit<'_>) -> Result<CommitId, Self::Error>;
}

/// What became of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Written {
    /// Everything is written.
    Done,
    /// An edit does not fit the file as it is; nothing was written.
    Refused(Refusal),
    /// A person changed these files meanwhile; nothing was written.
    Interfered(Vec<String>),
}

/// Paths that an edit must leave alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Obstructed {
    /// Git ignores them.
    pub ignored: Vec<String>,
    /// A person has a file there that git does not know.
    pub untracked: Vec<String>,
    /// A folder stands there.
    pub folders: Vec<String>,
    /// A file stands where a folder would have to be.
    pub below_files: Vec<String>,
}

/// A person's text that was saved before one of our files was put back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rescued {
    /// The file.
    pub path: String,
    /// The ref that holds it as the person left it.
    pub kept_as: String,
    /// The person's lines are still in the file.
    pub on_disk: bool,
}

/// The working folder of a step: what the orchestrator does to it beside judging it.
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
    /// The test command, as the ledger names it.
    fn test_command(&self) -> String;
    /// What a turn of this kind is checked by, as one line.
    fn check_command(&self, kind: Kind) -> String;
    /// Everything is as a run needs it: leftovers are swept away, and commits can be made.
    fn prepare(&self) -> Result<(), Self::Error>;
    /// Leaves no trace of files that are a person's.
    fn forget(&self) -> Result<(), Self::Error>;
    /// The step starts from this tree.
    fn start_from(&mut self, base: &TreeId);
    /// A file of the tree that the step starts from.
    fn read(&self, path: &str) -> Result<Option<String>, Self::Error>;
    /// The files of the tree that the step starts from.
    fn files(&self) -> Result<Vec<String>, Self::Error>;
    /// A file with the items of an answer merged into it; `None` if its language has no way to.
    fn merge(&self, path: &str, file: &str, answer: &str) -> Option<Result<Merged, MergeError>>;
    /// The files that a brief may show.
    fn shown(&self) -> Result<Vec<File>, Self::Error>;
    /// The project's language, and how its tests import production code.
    fn language(&self) -> Result<(String, Option<String>), Self::Error>;
    /// What these files would change, were they written.
    fn change_to(&self, files: &Files, kind: Kind) -> Result<Change, Self::Error>;
    /// Those of the files that an edit must leave alone.
    fn obstructed(&self, files: &Files) -> Result<Obstructed, Self::Error>;
    /// What these tests, or all if none is named, say of the files, beside the project. Nothing of it is recorded: a
    /// trial proves nothing.
    fn try_tests(&self, files: &Files, only: &[TestId]) -> Result<Report, Self::Error>;
    /// The files as the project's formatter would have them.
    fn formatted(&self, files: &Files) -> Result<Files, Self::Error>;
    /// Makes the permitted changes, all of them or none.
    fn write(&mut self, permit: Permit, files: &Files) -> Result<Written, Self::Error>;
    /// Takes the tree to judge: the base with these paths as they are in the working tree. A lock file may join them.
    fn take(&mut self, paths: &[String]) -> Result<(), Self::Error>;
    /// The paths of the tree that was taken.
    fn taken(&self) -> Vec<String>;
    /// Files that the project's tools bring up to date by themselves.
    fn lock_files(&self) -> Vec<String>;
    /// Keeps what an attempt wrote at these paths, under a name of its own; `None` if it wrote nothing.
    fn keep_attempt(&self, attempt: (u32, u32), paths: &[String], why: &str) -> Result<Option<String>, Self::Error>;
    /// Puts these paths back to what they are in HEAD. Where one holds something else than what we wrote, a person
    /// typed meanwhile, and their text is saved first.
    fn put_back(&self, paths: &[String]) -> Result<Vec<Rescued>, Self::Error>;
    /// Digest of a test as a run would give it, in the tree that is judged.
    fn test_digest(&self, test: &TestId) -> Option<Digest>;
    /// The same in the base.
    fn digest_before(&self, test: &TestId) -> Option<Digest>;
    /// Whether all places that a tool complains of lie in tests.
    fn lies_in_tests(&self, said: &str) -> Result<bool, Self::Error>;
    /// How long the project's own commands have taken so far.
    fn spent_on_commands(&self) -> Duration;
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

/// Shows a run as it goes, and writes what people read of it. Nothing is ever read back.
pub trait Reporter {
    /// An event was recorded.
    fn event(&mut self, event: &Event, told: &EventContext<'_>);
    /// Something takes a while.
    fn working(&mut self, what: &str);
    /// The wait is over.
    fn rested(&mut self);
    /// Something that a person should know, and that changes nothing.
    fn remark(&mut self, text: &str);
    /// A person's text was saved.
    fn rescued(&mut self, rescued: &[Rescued]);
    /// An agent said what it means to do.
    fn plan(&mut self, step: u32, role: Role, plan: &str) -> io::Result<()>;
    /// A step is over, or an attempt at it: this is all of the step so far.
    fn log(&mut self, log: &StepLog) -> io::Result<()>;
}

/// What an event is told with.
#[derive(Clone, Copy, Debug)]
pub struct EventContext<'a> {
    /// What happened so far.
    pub session: &'a Session,
    /// What the agent means to do.
    pub plan: &'a str,
    /// What the agent answered last.
    pub said: Option<&'a StepResult>,
    /// The message of the last commit.
    pub message: &'a str,
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

/// Tells the time, and when to stop.
pub trait Clock {
    /// Milliseconds since 1970.
    fn now_ms(&self) -> u64;
    /// A time that only goes forward.
    fn elapsed(&self) -> Duration {
        Duration::from_millis(self.now_ms())
    }
    /// Somebody asks us to stop.
    fn is_cancelled(&self) -> bool {
        false
    }
}
