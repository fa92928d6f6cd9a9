//! The session: the state that the ledger's events add up to.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::cycle::{Position, RedTest, Role};
use crate::digest::{Digest, TreeId};
use crate::event::{Committed, Event, InTheWay, Record, Status, SuiteRun, TestRun};
use crate::machine_state::MachineState;
use crate::report::{Cause, Obstacle, Outcome, Report, TestResult};
use crate::test_id::TestId;

/// The state after a number of events. A fold: the same events give the same session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    events: u64,
    tests: BTreeMap<TestId, TestRecord>,
    suite: Option<SuiteRun>,
    last_commit: Option<Committed>,
    state: MachineState,
    /// The state before the current attempt, as far as the attempt changed it.
    before: Before,
}

/// The state to restore when an attempt is undone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Before {
    under_way: bool,
    tests: BTreeMap<TestId, Option<TestRecord>>,
    suite: Option<SuiteRun>,
}

/// How much of a failure's message the ledger keeps, in characters.
const MAX_MESSAGE: usize = 600;

/// The last result of a test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestRecord {
    /// Whether it passed.
    pub status: Status,
    /// Why it did not pass.
    pub cause: Option<Cause>,
    /// The tree that it ran on; a later suite run may have confirmed the result on another tree.
    pub tree: TreeId,
    /// Digest of the test that ran.
    pub digest: Option<Digest>,
    /// The failure message.
    pub message: Option<String>,
    /// The last time that it failed for a valid cause.
    pub red: Option<Red>,
    /// It has passed before.
    pub was_green: bool,
}

/// A red that was seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Red {
    /// Why it failed.
    pub cause: Cause,
    /// The tree that it failed on.
    pub tree: TreeId,
    /// Digest of the test that failed: a changed test voids its red.
    pub digest: Option<Digest>,
    /// The number of the event.
    pub at: u64,
}

impl Session {
    /// The session of a whole ledger.
    pub fn replay<'a>(records: impl IntoIterator<Item = &'a Record>) -> Self {
        let mut session = Self::default();
        for record in records {
            session.apply(&record.event);
        }
        session
    }

    /// Applies the next event.
    pub fn apply(&mut self, event: &Event) {
        self.events += 1;
        self.state.apply(event, self.events);
        match event {
            Event::TestRun(run) => {
                let known = TestRecord::of(run, self.tests.get(&run.test_id), self.events);
                self.know(&run.test_id, Some(known));
            }
            Event::SuiteRun(run) => {
                for id in &run.vanished {
                    self.know(id, None);
                }
                self.suite = Some(run.clone());
            }
            Event::TestRenamed(renamed) => {
                if let Some(known) = self.tests.get(&renamed.from).cloned() {
                    self.know(&renamed.from, None);
                    self.know(&renamed.test_id, Some(known));
                }
            }
            Event::Retired(retired) => {
                self.know(&retired.test_id, None);
                // Without a tree the cached suite result is not used, so a restored test is run again.
                self.suite.iter_mut().for_each(|suite| suite.tree = TreeId(String::new()));
            }
            Event::Resumed(resumed) => {
                resumed.skipped.iter().for_each(|test| self.leave_aside(test));
                resumed.unblocked.iter().for_each(|test| self.take_up(test));
            }
            Event::Committed(commit) => {
                self.last_commit = Some(commit.clone());
                self.before = Before::default();
            }
            // An attempt may write several times; all of it is undone together.
            Event::EditApplied(_) if self.before.under_way => {}
            Event::EditApplied(_) => {
                self.before = Before { under_way: true, tests: BTreeMap::new(), suite: self.suite.clone() };
            }
            Event::StepStart(_) | Event::Resynced(_) => self.before = Before::default(),
            Event::Reverted(_) => self.fall_back(),
            Event::RunStart(_)
            | Event::RunEnd(_)
            | Event::StepEnd(_)
            | Event::PlanSubmitted(_)
            | Event::EditClaim(_)
            | Event::EditRefused(_)
            | Event::Repair(_)
            | Event::Stuck(_)
            | Event::TestRevised(_)
            | Event::TestUpheld(_)
            | Event::GreenOnArrival(_)
            | Event::Blocked(_)
            | Event::Paused(_)
            | Event::LlmCall(_)
            | Event::Override(_)
            | Event::RefactorBegin(_)
            | Event::RefactorEnd(_)
            | Event::PersonEdit(_)
            | Event::IterationStart(_)
            | Event::IterationJudged(_)
            | Event::IterationEnd(_)
            | Event::LedgerRepaired(_) => {}
        }
    }

    /// Replaces the record of a test, and remembers the record from before the current attempt.
    fn know(&mut self, id: &TestId, known: Option<TestRecord>) {
        let before = match known {
            Some(known) => self.tests.insert(id.clone(), known),
            None => self.tests.remove(id),
        };
        if self.before.under_way {
            self.before.tests.entry(id.clone()).or_insert(before);
        }
    }

    /// Notes that a person skipped a test: it needs not be made green, and its missing symbol is no obstacle.
    fn leave_aside(&mut self, test: &TestId) {
        if let Some(known) = self.tests.get(test).cloned() {
            let skipped = TestRecord { status: Status::Fail, cause: Some(Cause::Skipped), message: None, ..known };
            self.know(test, Some(skipped));
        }
        if let Some(suite) = &mut self.suite {
            suite.tree = TreeId(String::new());
            suite.obstacles.iter_mut().for_each(|obstacle| obstacle.tests.retain(|other| other != test));
            suite.obstacles.retain(|obstacle| obstacle.cause != Cause::MissingSymbol || !obstacle.tests.is_empty());
        }
    }

    /// Notes that a person unblocked a test: it is red again.
    fn take_up(&mut self, test: &TestId) {
        let known = self.tests.get(test).filter(|known| known.cause == Some(Cause::Skipped)).cloned();
        if let Some((known, red)) = known.and_then(|known| known.red.clone().map(|red| (known, red))) {
            self.know(test, Some(TestRecord { cause: Some(red.cause), ..known }));
            self.suite.iter_mut().for_each(|suite| suite.tree = TreeId(String::new()));
        }
    }

    /// Restores the state from before an undone attempt.
    fn fall_back(&mut self) {
        let before = std::mem::take(&mut self.before);
        if before.under_way {
            self.suite = before.suite;
        }
        for (id, known) in before.tests {
            match known {
                Some(known) => drop(self.tests.insert(id, known)),
                None => drop(self.tests.remove(&id)),
            }
        }
    }

    /// The state of steps, pauses, modes and exceptions.
    pub fn machine_state(&self) -> &MachineState {
        &self.state
    }

    /// How many events were applied.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// The last result of every test that still exists.
    pub fn tests(&self) -> &BTreeMap<TestId, TestRecord> {
        &self.tests
    }

    /// The last run of all tests.
    pub fn suite(&self) -> Option<&SuiteRun> {
        self.suite.as_ref()
    }

    /// The last commit that `tdd-cli` made.
    pub fn last_commit(&self) -> Option<&Committed> {
        self.last_commit.as_ref()
    }

    /// Tests whose last run failed for a valid cause.
    pub fn red(&self) -> impl Iterator<Item = &TestId> {
        let is_red = |known: &TestRecord| known.status == Status::Fail && known.cause.is_some_and(Cause::is_valid_red);
        self.tests.iter().filter(move |(_, known)| is_red(known)).map(|(id, _)| id)
    }

    /// The tests to be made green, by their results on HEAD's tree: those that failed for a valid cause, and some of
    /// those that a missing symbol keeps from running. Of the latter it is the one that HEAD's commit is about, or else
    /// those that never passed. If all of them passed before, something they need was removed, and all of them count.
    pub fn obligations(&self, report: &Report, about: Option<&TestId>) -> Vec<RedTest> {
        let failed = report.results().filter_map(|result| RedTest::proven(result.id.clone(), result.outcome.cause()?));
        let known_green = |id: &&TestId| self.tests.get(id).is_some_and(|known| known.status == Status::Pass);
        let taken_down = report.obstacles().iter().filter(|obstacle| obstacle.cause == Cause::MissingSymbol);
        let missing = taken_down.flat_map(|obstacle| {
            let unseen: Vec<&TestId> = match about.filter(|test| obstacle.tests.contains(test)) {
                Some(test) => vec![test],
                None => obstacle.tests.iter().filter(|id| !known_green(id)).collect(),
            };
            if unseen.is_empty() { obstacle.tests.iter().collect() } else { unseen }
        });
        failed.chain(missing.filter_map(|id| RedTest::proven(id.clone(), Cause::MissingSymbol))).collect()
    }

    /// How many tests passed when they last ran.
    pub fn green(&self) -> usize {
        self.tests.values().filter(|known| known.status == Status::Pass).count()
    }

    /// The role whose turn it is at a position whose commit has this tree, by the results that the ledger has.
    pub fn role_on_turn(&self, position: &Position, tree: &TreeId) -> Role {
        let about = position.test.as_ref();
        let is_skipped = |test: &TestId| self.tests.get(test).is_some_and(|known| known.cause == Some(Cause::Skipped));
        let suite = self.suite.as_ref().filter(|suite| &suite.tree == tree || about.is_some_and(is_skipped));
        let report = suite.and_then(|suite| self.report_on(&suite.tree, &suite.command));
        match report {
            Some(report) => position.role_on_turn(!self.obligations(&report, about).is_empty()),
            None if self.red().next().is_some() => Role::Implementor,
            None => position.next_role,
        }
    }

    /// The results of all tests on this tree, if the last suite run was on it and by this command.
    pub fn report_on(&self, tree: &TreeId, command: &str) -> Option<Report> {
        let suite = self.suite.as_ref().filter(|suite| &suite.tree == tree && suite.command == command)?;
        let taken_down = |id: &TestId| suite.obstacles.iter().any(|obstacle| obstacle.tests.contains(id));
        let ran = self.tests.iter().filter(|(id, _)| !taken_down(id)).map(|(id, known)| known.result(id));
        Some(Report::new(ran, suite.obstacles.iter().map(Obstacle::from).collect()))
    }

    /// The events of a suite run: one for each test whose result or source differs from the known one, then the run
    /// itself.
    pub fn suite_events(&self, run: &SuiteFacts<'_>) -> Vec<Event> {
        let changed = run.report.results().map(|result| run.test_run(result));
        let mut events: Vec<Event> = changed.filter(|test| !self.knows(test)).map(Event::TestRun).collect();
        events.push(Event::SuiteRun(SuiteRun {
            command: run.command.to_owned(),
            tree: run.tree.clone(),
            duration_ms: run.duration_ms,
            counts: run.report.counts(),
            vanished: self.vanished(run.report),
            obstacles: run.report.obstacles().iter().map(InTheWay::from).collect(),
        }));
        events
    }

    fn knows(&self, run: &TestRun) -> bool {
        self.tests.get(&run.test_id).is_some_and(|known| {
            (known.status, known.cause, known.digest, &known.message)
                == (run.status, run.cause, run.test_digest, &run.message)
        })
    }

    /// The known tests that are not in the report. If there is an obstacle, no test counts as vanished: a target that
    /// does not build does not remove its tests.
    fn vanished(&self, report: &Report) -> Vec<TestId> {
        if !report.obstacles().is_empty() {
            return Vec::new();
        }
        self.tests.keys().filter(|id| report.get(id).is_none()).cloned().collect()
    }
}

impl TestRecord {
    fn of(run: &TestRun, before: Option<&Self>, at: u64) -> Self {
        let now = run.cause.filter(|cause| cause.is_valid_red());
        let now = now.map(|cause| Red { cause, tree: run.tree.clone(), digest: run.test_digest, at });
        Self {
            status: run.status,
            cause: run.cause,
            tree: run.tree.clone(),
            digest: run.test_digest,
            message: run.message.clone(),
            red: now.or_else(|| before.and_then(|known| known.red.clone())),
            was_green: run.status == Status::Pass || before.is_some_and(|known| known.was_green),
        }
    }

    fn result(&self, id: &TestId) -> TestResult {
        let outcome = match (self.status, self.cause) {
            (Status::Pass, _) => Outcome::Pass,
            (Status::Fail, cause) => Outcome::Fail {
                cause: cause.unwrap_or(Cause::UnknownOutput),
                message: self.message.clone().unwrap_or_default(),
            },
        };
        TestResult { digest: self.digest, ..TestResult::new(id.clone(), outcome, 0) }
    }
}

impl From<&InTheWay> for Obstacle {
    fn from(noted: &InTheWay) -> Self {
        Self {
            subject: noted.subject.clone(),
            cause: noted.cause,
            message: noted.message.clone(),
            place: noted.place.clone(),
            tests: noted.tests.clone(),
        }
    }
}

impl From<&Obstacle> for InTheWay {
    fn from(obstacle: &Obstacle) -> Self {
        Self {
            subject: obstacle.subject.clone(),
            cause: obstacle.cause,
            message: shortened(&obstacle.message),
            place: obstacle.place.clone(),
            tests: obstacle.tests.clone(),
        }
    }
}

/// A finished run of all tests.
#[derive(Clone, Copy, Debug)]
pub struct SuiteFacts<'a> {
    /// The results.
    pub report: &'a Report,
    /// The test command.
    pub command: &'a str,
    /// The tree it ran on.
    pub tree: &'a TreeId,
    /// How long it took.
    pub duration_ms: u64,
}

impl SuiteFacts<'_> {
    fn test_run(&self, result: &TestResult) -> TestRun {
        let (status, message) = match &result.outcome {
            Outcome::Pass => (Status::Pass, None),
            Outcome::Fail { message, .. } => (Status::Fail, Some(shortened(message))),
        };
        TestRun {
            test_id: result.id.clone(),
            test_id_source: result.id.source(),
            status,
            command: self.command.to_owned(),
            duration_ms: result.duration_ms,
            tree: self.tree.clone(),
            test_digest: result.digest,
            cause: result.outcome.cause(),
            message,
        }
    }
}

/// A message, shortened for the ledger.
fn shortened(message: &str) -> String {
    let most = MAX_MESSAGE;
    if message.chars().count() <= most {
        return message.to_owned();
    }
    message.chars().take(most).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cycle::Phase;
    use crate::event::{Resumed, Retired};

    fn id(name: &str) -> TestId {
        TestId::native("tests/a.rs", name)
    }

    fn report(results: &[(&str, Option<Cause>)], obstacles: Vec<Obstacle>) -> Report {
        let results = results.iter().map(|(name, cause)| {
            let outcome = match cause {
                None => Outcome::Pass,
                Some(cause) => Outcome::Fail { cause: *cause, message: "why".into() },
            };
            TestResult::new(id(name), outcome, 1)
        });
        Report::new(results, obstacles)
    }

    fn run(session: &mut Session, report: &Report, tree: &str) -> Vec<&'static str> {
        let tree = TreeId(tree.into());
        let facts = SuiteFacts { report, command: "cargo test", tree: &tree, duration_ms: 5 };
        let events = session.suite_events(&facts);
        for event in &events {
            session.apply(event);
        }
        events.iter().map(Event::name).collect()
    }

    #[test]
    fn a_suite_run_records_only_what_is_new() {
        let mut session = Session::default();
        let first = report(&[("x", None), ("y", Some(Cause::Assertion))], vec![]);
        assert_eq!(run(&mut session, &first, "t1"), ["test_run", "test_run", "suite_run"]);
        assert_eq!(run(&mut session, &first, "t2"), ["suite_run"]);
        let second = report(&[("x", None), ("y", None)], vec![]);
        assert_eq!(run(&mut session, &second, "t3"), ["test_run", "suite_run"]);
        assert_eq!((session.green(), session.red().count()), (2, 0));
    }

    #[test]
    fn only_a_valid_cause_makes_a_test_red() {
        let mut session = Session::default();
        let causes = [("a", Some(Cause::Assertion)), ("s", Some(Cause::Skipped)), ("t", Some(Cause::Timeout))];
        run(&mut session, &report(&causes, vec![]), "t1");
        assert_eq!(session.red().collect::<Vec<_>>(), [&id("a")]);
        assert_eq!(session.green(), 0);
    }

    #[test]
    fn a_test_that_is_gone_is_forgotten_but_not_one_whose_target_does_not_build() {
        let mut session = Session::default();
        run(&mut session, &report(&[("x", None), ("y", None)], vec![]), "t1");
        let broken = Obstacle::new("test `a`", Cause::MissingSymbol, "");
        run(&mut session, &report(&[], vec![broken]), "t2");
        assert_eq!(session.green(), 2);
        run(&mut session, &report(&[("x", None)], vec![]), "t3");
        assert_eq!(session.green(), 1);
        assert_eq!(session.suite().unwrap().vanished, [id("y")]);
    }

    #[test]
    fn what_was_seen_of_a_tree_does_not_outlive_the_retirement_of_one_of_its_tests() {
        let mut session = Session::default();
        run(&mut session, &report(&[("x", None), ("y", None)], vec![]), "t1");
        let tree = TreeId("t1".into());
        assert!(session.report_on(&tree, "cargo test").is_some());
        session.apply(&Event::Retired(Retired { test_id: id("y"), reason: "no more".into() }));
        assert_eq!(session.report_on(&tree, "cargo test"), None);
        assert_eq!(session.green(), 1);
    }

    #[test]
    fn a_test_that_a_person_had_skipped_is_no_obligation_until_it_is_taken_up_again() {
        let mut session = Session::default();
        let mut broken = Obstacle::new("tests/a.rs", Cause::MissingSymbol, "no `x`");
        broken.tests = vec![id("x")];
        run(&mut session, &report(&[("y", Some(Cause::Assertion))], vec![broken]), "t1");
        let about = |name: &str| Position {
            step: 1,
            phase: Some(Phase::Red),
            test: Some(id(name)),
            next_role: Role::Implementor,
        };
        let head = TreeId("t2".into());
        let resumed = |skipped, unblocked| Event::Resumed(Resumed { skipped, unblocked });
        session.apply(&resumed(Some(id("x")), None));
        assert!(session.suite().unwrap().obstacles.is_empty());
        session.apply(&resumed(Some(id("y")), None));
        assert_eq!(session.red().count(), 0);
        assert_eq!(session.role_on_turn(&about("y"), &head), Role::Tester);
        session.apply(&resumed(None, Some(id("y"))));
        assert_eq!(session.red().collect::<Vec<_>>(), [&id("y")]);
        assert_eq!(session.role_on_turn(&Position::start(), &head), Role::Implementor);
    }

    #[test]
    fn who_is_on_turn_is_what_the_commits_say_where_nobody_ran_their_tests() {
        let red = Position { step: 1, phase: Some(Phase::Red), test: Some(id("x")), next_role: Role::Implementor };
        let mut session = Session::default();
        let head = TreeId("t1".into());
        assert_eq!(session.role_on_turn(&red, &head), Role::Implementor);
        run(&mut session, &report(&[("x", None)], vec![]), "t1");
        assert_eq!(session.role_on_turn(&red, &head), Role::Tester);
        assert_eq!(session.role_on_turn(&red, &TreeId("t2".into())), Role::Implementor);
    }

    #[test]
    fn what_was_seen_on_a_tree_is_known_without_running_it_again() {
        let mut session = Session::default();
        let mut broken = Obstacle::new("tests/b.rs", Cause::MissingSymbol, "no `x`");
        broken.tests = vec![TestId::native("tests/b.rs", "z")];
        let seen = report(&[("x", None), ("y", Some(Cause::Assertion))], vec![broken]);
        run(&mut session, &seen, "t1");
        let known = session.report_on(&TreeId("t1".into()), "cargo test").unwrap();
        assert_eq!(known.counts(), seen.counts());
        assert_eq!(known.obstacles(), seen.obstacles());
        assert_eq!(session.report_on(&TreeId("t2".into()), "cargo test"), None);
        assert_eq!(session.report_on(&TreeId("t1".into()), "cargo test --all"), None);
    }

    #[test]
    fn what_a_missing_symbol_takes_down_is_owed_by_name_or_by_what_was_seen() {
        let broken = || {
            let mut broken = Obstacle::new("tests/a.rs", Cause::MissingSymbol, "no `x`");
            broken.tests = vec![id("old"), id("new")];
            report(&[("red", Some(Cause::Assertion)), ("slow", Some(Cause::Timeout)), ("fine", None)], vec![broken])
        };
        let owed = |session: &Session, about: Option<&TestId>| -> Vec<String> {
            let owed = session.obligations(&broken(), about);
            owed.iter().filter_map(|red| red.id().name().map(str::to_owned)).collect()
        };
        let mut session = Session::default();
        assert_eq!(owed(&session, Some(&id("new"))), ["red", "new"]);
        assert_eq!(owed(&session, Some(&id("other"))), ["red", "old", "new"]);
        run(&mut session, &report(&[("old", None)], vec![]), "t1");
        assert_eq!(owed(&session, None), ["red", "new"]);
        run(&mut session, &report(&[("old", None), ("new", None)], vec![]), "t2");
        assert_eq!(owed(&session, None), ["red", "old", "new"]);
    }

    #[test]
    fn a_red_is_remembered_after_it_turned_green() {
        let mut session = Session::default();
        run(&mut session, &report(&[("x", Some(Cause::Assertion))], vec![]), "t1");
        run(&mut session, &report(&[("x", None)], vec![]), "t2");
        let red = session.tests()[&id("x")].red.clone().unwrap();
        assert_eq!((red.cause, red.tree.0.as_str()), (Cause::Assertion, "t1"));
    }

    #[test]
    fn a_session_survives_its_checkpoint() {
        let mut session = Session::default();
        for event in crate::event::samples::one_of_each() {
            session.apply(&event);
        }
        let json = serde_json::to_vec(&session).unwrap();
        assert_eq!(serde_json::from_slice::<Session>(&json).unwrap(), session);
        assert_eq!(session.events(), 32);
    }
}
