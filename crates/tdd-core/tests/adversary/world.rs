//! An in-memory project, repository and ledger for the orchestrator.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use tdd_core::change::Change;
use tdd_core::command::Exit;
use tdd_core::config::{Config, Gate};
use tdd_core::digest::{CommitId, Digest, TreeId};
use tdd_core::event::{Event, Head as LineHead, Record};
use tdd_core::gate::{Files, Permit};
use tdd_core::judge::{self, Baseline};
use tdd_core::law::Kind;
use tdd_core::merge::{MergeError, Merged};
use tdd_core::proof::{CounterProof, Fate, Proof, Survivor, Twin};
use tdd_core::report::{Cause, Obstacle, Report};
use tdd_core::rule::Rule;
use tdd_core::seam::{
    Checked, Clock, File, Head, Ledger, Measured, NewCommit, Obstructed, RedState, RepoState, Rescued, Run,
    RunnerOutcome, StepWorkshop, Unclean, Vcs, Workshop, Written,
};
use tdd_core::session::{Session, SuiteFacts};
use tdd_core::signs::{Place, Signs, TestSigns};
use tdd_core::strength::{Alteration, Answers, Function, Noticed, Probe, Strength};
use tdd_core::test_id::TestId;

use crate::answer::Attempt;
use crate::project::{Code, Project, id};
use crate::promises;

/// The test command in the ledger.
pub const COMMAND: &str = "cargo test";

/// The run was killed.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("killed")]
pub struct Killed;

impl From<Infallible> for Killed {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

/// The repository: commits with their trees.
#[derive(Clone, Default)]
pub struct FakeVcs(Rc<RefCell<Commits>>);

#[derive(Default)]
struct Commits {
    /// Commits, newest last.
    history: Vec<(Project, String)>,
    trees: BTreeMap<TreeId, Project>,
    /// The content of the working folder.
    working: Project,
}

impl FakeVcs {
    /// The project as HEAD has it.
    pub fn project(&self) -> Project {
        self.0.borrow().history.last().map(|(project, _)| project.clone()).unwrap_or_default()
    }

    pub fn commit_id(&self) -> Option<CommitId> {
        let commits = self.0.borrow().history.len();
        (commits > 0).then(|| CommitId(commits.to_string()))
    }

    /// A person's commit.
    pub fn commit_project(&self, project: Project, message: &str) {
        let mut commits = self.0.borrow_mut();
        commits.trees.insert(project.tree(), project.clone());
        commits.working = project.clone();
        commits.history.push((project, message.to_owned()));
    }

    fn write(&self, project: Project) {
        let mut commits = self.0.borrow_mut();
        commits.trees.insert(project.tree(), project.clone());
        commits.working = project;
    }

    fn working(&self) -> Project {
        self.0.borrow().working.clone()
    }

    fn at(&self, tree: &TreeId) -> Project {
        self.0.borrow().trees.get(tree).cloned().unwrap_or_default()
    }
}

impl Vcs for FakeVcs {
    type Error = Infallible;

    fn init_if_needed(_: &Path) -> Result<Self, Infallible> {
        Ok(Self::default())
    }

    fn read_state(&self, _: usize) -> Result<RepoState, Infallible> {
        let message = self.messages()?.into_iter().next().unwrap_or_default();
        Ok(RepoState { last_commit_message: message, last_diff: String::new(), files: Arc::new(Vec::new()) })
    }

    fn head(&self) -> Result<Head, Infallible> {
        Ok(Head { commit: self.commit_id(), branch: Some("main".to_owned()), tree: self.project().tree() })
    }

    fn messages(&self) -> Result<Vec<String>, Infallible> {
        Ok(self.0.borrow().history.iter().rev().map(|(_, message)| message.clone()).collect())
    }

    fn parent(&self, commit: &CommitId) -> Result<Option<CommitId>, Infallible> {
        let nth: usize = commit.0.parse().unwrap_or_default();
        Ok((nth > 1).then(|| CommitId((nth - 1).to_string())))
    }

    fn stage_all(&self) -> Result<TreeId, Infallible> {
        Ok(self.working().tree())
    }

    fn changed(&self, _: &TreeId, _: &TreeId) -> Result<Vec<String>, Infallible> {
        Ok(vec!["src/lib.rs".to_owned()])
    }

    fn unclean(&self) -> Result<Unclean, Infallible> {
        let clean = self.working() == self.project();
        Ok(Unclean { modified: if clean { vec![] } else { vec!["src/lib.rs".to_owned()] }, untracked: vec![] })
    }

    fn commit(&self, commit: &NewCommit<'_>) -> Result<CommitId, Infallible> {
        let project = self.at(commit.tree);
        assert_eq!(commit.onto.commit, self.commit_id(), "a commit on top of another HEAD");
        let mut commits = self.0.borrow_mut();
        commits.history.push((project, commit.message.to_owned()));
        Ok(CommitId(commits.history.len().to_string()))
    }
}

/// The ledger.
#[derive(Default)]
pub struct FakeLedger {
    pub session: Session,
    pub records: Vec<Record>,
    prev: Option<Digest>,
    pub now: u64,
}

impl Ledger for FakeLedger {
    type Error = Infallible;

    fn session(&self) -> &Session {
        &self.session
    }

    fn append(&mut self, events: &[Event]) -> Result<Vec<Record>, Infallible> {
        for event in events {
            let prev = self.prev.unwrap_or_else(Digest::zero);
            let head = LineHead { seq: self.session.events() + 1, ts: self.now, prev };
            let line = Record::line(&head, event);
            self.prev = Some(Digest::of(&line));
            self.session.apply(event);
            self.records.push(Record::parse(line.as_bytes()).unwrap());
        }
        Ok(Vec::new())
    }
}

/// The in-memory workshop, with the attempts of the agents.
pub struct World {
    pub vcs: FakeVcs,
    pub ledger: FakeLedger,
    /// The attempts; the content of an edit holds the index of its attempt.
    pub attempts: Rc<RefCell<Vec<Attempt>>>,
    /// The next test run is killed.
    pub kill: bool,
    config: Config,
    base: Project,
    tree: (Project, TreeId),
    under_test: Option<Attempt>,
    taken: Vec<String>,
}

impl World {
    pub fn new(attempts: Rc<RefCell<Vec<Attempt>>>) -> Self {
        let base = Project::default();
        let tree = (base.clone(), base.tree());
        Self {
            vcs: FakeVcs::default(),
            ledger: FakeLedger::default(),
            attempts,
            kill: false,
            config: Config::default(),
            base,
            tree,
            under_test: None,
            taken: Vec::new(),
        }
    }

    /// The attempt that wrote these files.
    fn attempt(&self, files: &Files) -> Attempt {
        let text = files.values().flatten().next().cloned().unwrap_or_default();
        let nth: usize = text.split(' ').next().and_then(|nth| nth.parse().ok()).unwrap_or_default();
        self.attempts.borrow()[nth].clone()
    }

    fn record_suite(&mut self, report: &Report, project: &Project) {
        let tree = project.tree();
        let facts = SuiteFacts { report, command: COMMAND, tree: &tree, duration_ms: 1 };
        let events = self.ledger.session.suite_events(&facts);
        let Ok(_) = self.ledger.append(&events);
    }
}

impl Clock for World {
    fn now_ms(&self) -> u64 {
        self.ledger.now
    }
}

impl World {
    /// The probes of a test on one of the projects.
    fn proof(after: &Project, target: &TestId, red: Option<Cause>) -> Proof {
        let Some(key) = after.tests.keys().copied().find(|key| &id(*key) == target) else {
            return Proof::Unwritable;
        };
        let twin = Twin { name: "t".into(), id: target.clone(), line: 1, what: "expects another".into(), probe: None };
        let survivors = if after.disarmed { vec![Survivor { twin, prints_differently: true }] } else { vec![] };
        let stubs = after.production.keys().map(|it| (*it, Code::Stub)).collect();
        let stubbed = Project { production: stubs, ..after.clone() };
        let fate = |project: &Project| if project.fate(key).is_none() { Fate::Passed } else { Fate::Failed };
        let strength = (red == Some(Cause::MissingSymbol)).then(|| {
            let noticed = match fate(&stubbed) {
                Fate::Passed => Noticed::Survived([Alteration::More].into()),
                Fate::Failed | Fate::Rigged | Fate::NotRun(_) => Noticed::Killed(Alteration::More),
            };
            let function = Function { path: "src/lib.rs".into(), name: "stub".into(), line: 1, is_constant: false };
            let noticed = [(function, [(target.clone(), noticed)].into())].into();
            Probe::Made(Strength { noticed, ..Strength::default() })
        });
        Proof::Run(CounterProof {
            copy: fate(after),
            plain: Some(Fate::Passed),
            why_not_plain: String::new(),
            passing_control: Fate::Passed,
            failing_control: Fate::Failed,
            false_assertions: vec![("assert!".into(), if after.disarmed { Fate::Passed } else { Fate::Failed })],
            survivors,
            not_run: Vec::new(),
            twins: 1,
            with_other_value: 1,
            strength,
            ms: 0,
        })
    }
}

impl Workshop for World {
    type Error = Killed;

    fn session(&self) -> &Session {
        &self.ledger.session
    }

    fn exception(&self, rule: Rule) -> Option<String> {
        self.ledger.session.machine_state().exception(rule, self.ledger.now)
    }

    fn gate(&self, _: &Change, _: usize) -> Gate {
        Gate::default()
    }

    fn tree(&self) -> &TreeId {
        &self.tree.1
    }

    fn change(&self, _: Kind) -> Result<Change, Killed> {
        Ok(self.base.change_to(&self.tree.0))
    }

    fn red_state(&self, _: &[TestId]) -> Result<RedState, Killed> {
        Ok(RedState { baseline: self.baseline()?, change: self.change(Kind::Green)?, ms: 0 })
    }

    fn baseline(&self) -> Result<Baseline, Killed> {
        Ok(judge::baseline_of(&self.base_report()?))
    }

    fn run(&mut self) -> Result<Run, Killed> {
        if self.kill {
            return Err(Killed);
        }
        let (project, tree) = self.tree.clone();
        let attempt = self.under_test.clone();
        if attempt.as_ref().is_some_and(|attempt| attempt.no_runner) {
            let report = Report::new([], vec![Obstacle::new("cargo", Cause::RunnerMissing, "no cargo")]);
            return Ok(Run { report, tree_after: tree });
        }
        let report = project.run();
        self.record_suite(&report, &project);
        let scribbled = attempt.is_some_and(|attempt| attempt.scribbles);
        Ok(Run { report, tree_after: if scribbled { TreeId(format!("{}x", tree.0)) } else { tree } })
    }

    fn rerun(&self, report: Report, _: &[TestId]) -> Result<Report, Killed> {
        Ok(report)
    }

    fn absent(&self) -> Result<Vec<(String, String)>, Killed> {
        Ok(Vec::new())
    }

    fn verifies_by_command(&self, _: Kind) -> bool {
        false
    }

    fn check(&self, _: Kind) -> Result<Checked, Killed> {
        let ok = !self.tree.0.lint;
        let (exit, stderr) = if ok { (Exit::Passed, "") } else { (Exit::Failed(1), "error: unused") };
        let outcome = RunnerOutcome { ok, stdout: String::new(), stderr: stderr.to_owned(), exit };
        Ok(Checked { command: "cargo clippy".to_owned(), outcome, changed_files: false })
    }

    fn check_before(&self) -> Result<Option<String>, Killed> {
        Ok(self.base.lint.then(|| "error: unused\n".to_owned()))
    }

    fn affected(&self, _: &Change) -> Result<Vec<TestId>, Killed> {
        Ok(self.tree.0.tests.keys().map(|key| id(*key)).collect())
    }

    fn is_of_model(&self) -> bool {
        true
    }

    fn probe(
        &self,
        targets: &[(TestId, Option<Cause>)],
        others: &[TestId],
        _: &Change,
    ) -> Result<BTreeMap<TestId, Proof>, Killed> {
        let after = &self.tree.0;
        let targets = targets.iter().map(|(test, red)| (test.clone(), Self::proof(after, test, *red)));
        let others = others.iter().map(|test| (test.clone(), Self::proof(after, test, None)));
        Ok(targets.chain(others).collect())
    }

    fn answers(&self, _: &[TestId]) -> Result<Answers, Killed> {
        Ok(Answers { before: BTreeSet::new(), now: Probe::Unmade("no answers".into()) })
    }

    fn probe_before(&self, test: &TestId) -> Result<Proof, Killed> {
        Ok(Self::proof(&self.base, test, None))
    }

    fn signs(&self, _: bool) -> Result<Signs, Killed> {
        let tests = self.tree.0.tests.keys().map(|key| self.tree.0.signs(*key)).collect();
        Ok(Signs { tests, ..Signs::default() })
    }

    fn signs_of(&self, tests: &BTreeSet<TestId>) -> Result<Vec<TestSigns>, Killed> {
        let keys = self.tree.0.tests.keys().filter(|key| tests.contains(&id(**key)));
        Ok(keys.map(|key| self.tree.0.signs(*key)).collect())
    }

    fn base_report(&self) -> Result<Report, Killed> {
        Ok(self.base.run())
    }

    fn since(&self, _: &Signs) -> Result<BTreeMap<Place, String>, Killed> {
        Ok(BTreeMap::new())
    }

    fn measure(&self, _: &BTreeSet<String>) -> Result<Measured, Killed> {
        Ok(Measured::Unknown("there are no lines".to_owned()))
    }
}

impl StepWorkshop for World {
    type Vcs = FakeVcs;
    type Ledger = FakeLedger;

    fn vcs(&self) -> &FakeVcs {
        &self.vcs
    }

    fn ledger(&mut self) -> &mut FakeLedger {
        &mut self.ledger
    }

    fn config(&self) -> &Config {
        &self.config
    }

    fn test_command(&self) -> String {
        COMMAND.to_owned()
    }

    fn check_command(&self, _: Kind) -> String {
        "cargo clippy".to_owned()
    }

    fn prepare(&self) -> Result<(), Killed> {
        Ok(())
    }

    fn forget(&self) -> Result<(), Killed> {
        Ok(())
    }

    fn start_from(&mut self, base: &TreeId) {
        self.base = self.vcs.at(base);
    }

    fn read(&self, _: &str) -> Result<Option<String>, Killed> {
        Ok(Some("as it was".to_owned()))
    }

    fn files(&self) -> Result<Vec<String>, Killed> {
        Ok(Vec::new())
    }

    fn merge(&self, _: &str, _: &str, _: &str) -> Option<Result<Merged, MergeError>> {
        None
    }

    fn one_by_one(&self, files: &Files) -> Result<Vec<Files>, Killed> {
        Ok(vec![files.clone()])
    }

    fn shown(&self) -> Result<Vec<File>, Killed> {
        Ok(Vec::new())
    }

    fn language(&self) -> Result<(String, Option<String>), Killed> {
        Ok(("rust".to_owned(), None))
    }

    fn change_to(&self, files: &Files, _: Kind) -> Result<Change, Killed> {
        Ok(self.base.change_to(&self.attempt(files).after))
    }

    fn obstructed(&self, files: &Files) -> Result<Obstructed, Killed> {
        Ok(Obstructed { ignored: self.attempt(files).ignored, ..Obstructed::default() })
    }

    fn try_tests(&self, files: &Files, _: &[TestId]) -> Result<Report, Killed> {
        Ok(self.attempt(files).after.run())
    }

    fn formatted(&self, files: &Files) -> Result<Files, Killed> {
        Ok(files.clone())
    }

    fn write(&mut self, permit: Permit, files: &Files) -> Result<Written, Killed> {
        promises::check_paths(permit);
        let attempt = self.attempt(files);
        assert!(attempt.ignored.is_empty(), "an ignored file was permitted");
        self.vcs.write(attempt.after.clone());
        self.under_test = Some(attempt);
        Ok(Written::Done)
    }

    fn take(&mut self, paths: &[String]) -> Result<(), Killed> {
        let project = if paths.is_empty() { self.base.clone() } else { self.vcs.working() };
        if paths.is_empty() {
            self.under_test = None;
        }
        self.tree = (project.clone(), project.tree());
        self.taken = paths.to_vec();
        Ok(())
    }

    fn taken(&self) -> Vec<String> {
        self.taken.clone()
    }

    fn lock_files(&self) -> Vec<String> {
        Vec::new()
    }

    fn keep_attempt(&self, _: (u32, u32), _: &[String], _: &str) -> Result<Option<String>, Killed> {
        Ok(None)
    }

    fn put_back(&self, _: &[String]) -> Result<Vec<Rescued>, Killed> {
        self.vcs.write(self.vcs.project());
        Ok(Vec::new())
    }

    fn test_digest(&self, test: &TestId) -> Option<Digest> {
        let project = &self.tree.0;
        project.tests.keys().find(|key| &id(**key) == test).map(|key| project.digest(*key))
    }

    fn digest_before(&self, test: &TestId) -> Option<Digest> {
        self.base.tests.keys().find(|key| &id(**key) == test).map(|key| self.base.digest(*key))
    }

    fn lies_in_tests(&self, _: &str) -> Result<bool, Killed> {
        Ok(false)
    }

    fn spent_on_commands(&self) -> Duration {
        Duration::ZERO
    }
}
