//! Collects what an iteration did, from its commit messages and the ledger, without a model.

use super::harness::{Harness, Sighting, Status};
use super::iteration::ExistingTests;
use crate::commit::{Trailers, bullets};
use crate::cycle::Phase;
use crate::event::{self, StepOutcome};
use crate::machine_state::Iterating;
use crate::session::Session;
use crate::test_id::TestId;

/// The facts of an iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The phase that it ended with.
    pub phase: Phase,
    /// The test that it was about, or else the changed files.
    pub target: String,
    /// Tests that it added and that still exist.
    pub new: Vec<TestId>,
    /// Tests that it was about and that are gone.
    pub gone: Vec<TestId>,
    /// The tests it saw.
    pub tests: Vec<Sighting>,
    /// What happened to the tests that existed before.
    pub existing: ExistingTests,
    /// Its lessons.
    pub lessons: Vec<String>,
    /// What it did, in one sentence.
    pub summary: String,
}

/// Collects the facts of an iteration. `messages` are those of its commits, oldest first; `harness` is the program's
/// harness before it.
pub fn gather(messages: &[String], iterating: &Iterating, session: &Session, harness: &Harness) -> Facts {
    let steps: Vec<Step<'_>> = messages.iter().filter_map(|message| Step::read(message)).collect();
    let mut tests: Vec<Sighting> = Vec::new();
    for step in &steps {
        step.tell(&mut tests);
    }
    for test in iterating.blocked.keys() {
        if !tests.iter().any(|sighting| &sighting.test == test) {
            tests.push(Sighting::failing(test.clone()));
        }
    }
    let is_there = |test: &TestId| session.tests().contains_key(test);
    let brought = |test: &TestId| steps.iter().any(|step| step.phase == Phase::Red && step.test.as_ref() == Some(test));
    let (mut there, gone): (Vec<_>, Vec<_>) = tests.into_iter().partition(|sighting| is_there(&sighting.test));
    for sighting in &mut there {
        settle(sighting, iterating, session);
    }
    let first = there.iter().chain(&gone).map(|sighting| sighting.test.to_string()).next();
    let files = || steps.first().map(|step| step.files.join(", "));
    let new = there.iter().map(|sighting| sighting.test.clone()).filter(brought).collect();
    reconcile(&mut there, harness, session);
    let regressed =
        if iterating.regressed { ExistingTests::RegressionIntroducedAndFixed } else { ExistingTests::AllGreen };
    Facts {
        phase: phase(&steps, iterating),
        target: first.or_else(files).unwrap_or_default(),
        new,
        gone: gone.into_iter().map(|sighting| sighting.test).collect(),
        tests: there,
        existing: regressed,
        lessons: steps.iter().flat_map(|step| step.labelled("Lesson:")).collect(),
        summary: summary(&steps, iterating),
    }
}

/// The phase that the work ended with. A refactor without a commit leaves the phase of the last commit.
fn phase(steps: &[Step<'_>], iterating: &Iterating) -> Phase {
    match iterating.ended {
        Some(StepOutcome::Nothing | StepOutcome::Skipped) => steps.last().map_or(iterating.phase, |step| step.phase),
        Some(StepOutcome::Kept | StepOutcome::Done | StepOutcome::Stopped) | None => iterating.phase,
    }
}

/// Aligns the harness with the existing tests: entries that another tool named without a file are matched by name, and
/// an outdated status is updated.
fn reconcile(seen: &mut Vec<Sighting>, harness: &Harness, session: &Session) {
    for entry in &harness.entries {
        let Some((test, status)) = entry.matching(session.tests().iter().map(|(id, known)| (id, known.status))) else {
            continue;
        };
        let known_as = (entry.test != *test).then(|| entry.test.clone());
        let status = match (status, entry.status) {
            (event::Status::Pass, _) => Status::Passing,
            (event::Status::Fail, Status::Blocked) => Status::Blocked,
            (event::Status::Fail, Status::Passing | Status::Failing) => Status::Failing,
        };
        match seen.iter_mut().find(|sighting| sighting.test == *test) {
            Some(sighting) => sighting.known_as = known_as,
            None if status == entry.status && known_as.is_none() => {}
            None => {
                let blocked_reason = entry.blocked_reason.clone().filter(|_| status == Status::Blocked);
                seen.push(Sighting { status, blocked_reason, known_as, ..Sighting::failing(test.clone()) });
            }
        }
    }
}

/// A commit of the iteration.
struct Step<'a> {
    phase: Phase,
    test: Option<TestId>,
    /// The header without type and scope.
    words: &'a str,
    rationale: Vec<&'a str>,
    files: Vec<String>,
}

impl<'a> Step<'a> {
    fn read(message: &'a str) -> Option<Self> {
        let trailers = Trailers::parse(message);
        let phase = Phase::ALL.into_iter().find(|phase| trailers.get("TDD-Phase") == Some(phase.name()))?;
        let header = message.lines().next().unwrap_or_default();
        let files = bullets(message, "Diff summary");
        Some(Self {
            phase,
            test: trailers.get("TDD-Test").and_then(|id| TestId::parse(id).ok()),
            words: header.split_once(": ").map_or(header, |(_, words)| words),
            rationale: bullets(message, "Rationale"),
            files: files.iter().filter_map(|line| line.split_once(": ")).map(|(path, _)| path.to_owned()).collect(),
        })
    }

    /// The texts after a label in the rationale.
    fn labelled(&self, label: &str) -> Vec<String> {
        let behind = |line: &&str| {
            let (start, rest) = line.split_at_checked(label.len())?;
            start.eq_ignore_ascii_case(label).then(|| rest.trim().to_owned())
        };
        self.rationale.iter().filter_map(behind).filter(|text| !text.is_empty()).collect()
    }

    fn tell(&self, tests: &mut Vec<Sighting>) {
        let Some(test) = self.test.as_ref().filter(|_| self.phase != Phase::Refactor) else { return };
        let at = tests.iter().position(|sighting| &sighting.test == test).unwrap_or_else(|| {
            tests.push(Sighting::failing(test.clone()));
            tests.len() - 1
        });
        let Some(sighting) = tests.get_mut(at) else { return };
        match self.phase {
            Phase::Red => {
                sighting.spec_source = self.labelled("Spec source:").join("; ");
                let target = self.labelled("Target:").join("; ");
                sighting.notes = if target.is_empty() { self.words.to_owned() } else { target };
            }
            Phase::Green => sighting.target = self.files.join(", "),
            Phase::RethinkTest => sighting.notes = format!("{} (test-revised: {})", sighting.notes, self.words),
            Phase::Refactor => {}
        }
    }
}

/// Sets the status of a test by the ledger, whatever the commits say.
fn settle(sighting: &mut Sighting, iterating: &Iterating, session: &Session) {
    let passes = session.tests().get(&sighting.test).is_some_and(|known| known.status == event::Status::Pass);
    sighting.blocked_reason = iterating.blocked.get(&sighting.test).filter(|_| !passes).cloned();
    sighting.status = match (passes, &sighting.blocked_reason) {
        (true, _) => Status::Passing,
        (false, Some(_)) => Status::Blocked,
        (false, None) => Status::Failing,
    };
}

fn summary(steps: &[Step<'_>], iterating: &Iterating) -> String {
    let mut words: Vec<String> = steps.iter().map(|step| format!("{}: {}", step.phase, step.words)).collect();
    match (iterating.phase, iterating.ended) {
        (Phase::Refactor, Some(StepOutcome::Nothing)) => words.push("refactor: nothing worth it".to_owned()),
        (Phase::Refactor, Some(StepOutcome::Skipped)) => words.push("refactor: undone".to_owned()),
        _ => {}
    }
    words.join("; ")
}

#[cfg(test)]
mod tests {
    use super::super::harness::bare;
    use super::*;
    use crate::commit::{CommitType, StepMessage};
    use crate::cycle::Role;
    use crate::digest::{CommitId, TreeId};
    use crate::event::{Blocked, Event, IterationStart, Reverted, StepEnd, StepStart, TestRun};
    use crate::rule::Rule;
    use crate::test_id::IdSource;

    fn adds() -> TestId {
        TestId::native("tests/a.rs", "adds")
    }

    fn message(phase: Phase, rationale: &str) -> String {
        let test = adds();
        let files = ["src/lib.rs: adds fn `add`".to_owned()];
        StepMessage {
            mode: None,
            overridden: &[],
            kind: CommitType::of(phase, None),
            scope: Some("add"),
            summary: "adds two numbers",
            rationale,
            role: Role::Tester,
            step: 1,
            goal: "x",
            diff_summary: &files,
            verification: &[],
            phase,
            test: Some(&test),
            mark: None,
        }
        .build()
    }

    fn session(events: &[Event]) -> Session {
        let mut session = Session::default();
        let head = CommitId("a".into());
        let (program, id) = ("port".to_owned(), "1".to_owned());
        session.apply(&Event::IterationStart(IterationStart { program, id, at_ms: 0, head, rethink: false }));
        for event in events {
            session.apply(event);
        }
        session
    }

    fn ran(status: event::Status) -> Event {
        Event::TestRun(run(status))
    }

    fn run(status: event::Status) -> TestRun {
        TestRun {
            test_id: adds(),
            test_id_source: IdSource::Native,
            status,
            command: String::new(),
            duration_ms: 0,
            tree: TreeId("t".into()),
            test_digest: None,
            cause: None,
            message: None,
        }
    }

    fn begins(phase: Phase) -> Event {
        let (role, base) = (Role::Refactorer, TreeId("t".into()));
        Event::StepStart(StepStart { step: 3, role, phase, head: None, base, targets: Vec::new(), mark: None })
    }

    fn facts(messages: &[String], events: &[Event]) -> Facts {
        let session = session(events);
        gather(messages, session.machine_state().iteration().unwrap(), &session, &Harness::default())
    }

    #[test]
    fn a_cycle_is_told_by_its_commits_and_its_tests_by_the_ledger() {
        let red = message(Phase::Red, "Target: it adds\nSpec source: reference/add.py\nlesson: Zero is neutral.");
        let messages = [red, message(Phase::Green, "It must.")];
        let end = StepEnd { step: 3, role: Role::Refactorer, outcome: StepOutcome::Nothing, head: None };
        let events = [ran(event::Status::Pass), begins(Phase::Refactor), Event::StepEnd(end)];
        let facts = facts(&messages, &events);
        assert_eq!((facts.phase, facts.target.as_str()), (Phase::Green, "tests/a.rs::adds"));
        assert_eq!((facts.new, facts.gone, facts.existing), (vec![adds()], vec![], ExistingTests::AllGreen));
        assert_eq!(facts.lessons, ["Zero is neutral."]);
        let [seen] = &facts.tests[..] else { panic!("{:?}", facts.tests) };
        assert_eq!((seen.status, seen.target.as_str()), (Status::Passing, "src/lib.rs"));
        assert_eq!((seen.spec_source.as_str(), seen.notes.as_str()), ("reference/add.py", "it adds"));
        assert_eq!(facts.summary, "red: adds two numbers; green: adds two numbers; refactor: nothing worth it");
    }

    #[test]
    fn the_phase_is_the_one_that_the_work_ended_with() {
        let phase = |messages: &[Phase], outcome: StepOutcome| {
            let messages: Vec<String> = messages.iter().map(|phase| message(*phase, "")).collect();
            let end = StepEnd { step: 3, role: Role::Refactorer, outcome, head: None };
            facts(&messages, &[begins(Phase::Refactor), Event::StepEnd(end)]).phase
        };
        let cycle = [Phase::Red, Phase::Green];
        assert_eq!(phase(&[Phase::Red, Phase::Green, Phase::Refactor], StepOutcome::Kept), Phase::Refactor);
        assert_eq!(phase(&cycle, StepOutcome::Nothing), Phase::Green);
        assert_eq!(phase(&cycle, StepOutcome::Skipped), Phase::Green);
        assert_eq!(phase(&[], StepOutcome::Nothing), Phase::Refactor);
        assert_eq!(facts(&[], &[begins(Phase::Red)]).phase, Phase::Red);
    }

    /// What is reported for a harness entry with this name, if its test has this result.
    fn reconciled(name: &str, was: Status, says: event::Status) -> Vec<(String, Status, Option<String>)> {
        let mut harness = Harness::default();
        harness.see(&Sighting { test: bare(name), ..Sighting::sample("x", was) }, 1);
        let other = TestId::native("tests/b.rs", "subtracts");
        let mut session = session(&[ran(says)]);
        session.apply(&Event::TestRun(TestRun { test_id: other, ..run(event::Status::Pass) }));
        let told = gather(&[], session.machine_state().iteration().unwrap(), &session, &harness).tests;
        let shown = |seen: Sighting| (seen.test.to_string(), seen.status, seen.known_as.map(|id| id.to_string()));
        told.into_iter().map(shown).collect()
    }

    #[test]
    fn entries_are_matched_by_their_bare_names_and_brought_in_line_with_what_the_tests_say() {
        let told =
            |status, known_as: Option<&str>| vec![("tests/a.rs::adds".to_owned(), status, known_as.map(str::to_owned))];
        let (pass, fail) = (event::Status::Pass, event::Status::Fail);
        assert_eq!(reconciled("adds", Status::Failing, pass), told(Status::Passing, Some("adds")));
        assert_eq!(reconciled("adds", Status::Passing, fail), told(Status::Failing, Some("adds")));
        assert_eq!(reconciled("adds", Status::Blocked, fail), told(Status::Blocked, Some("adds")));
        assert_eq!(reconciled("tests/a.rs::adds", Status::Failing, pass), told(Status::Passing, None));
        assert_eq!(reconciled("tests/a.rs::adds", Status::Passing, pass), vec![]);
        assert_eq!(reconciled("adds two", Status::Passing, pass), vec![]);
    }

    #[test]
    fn a_blocked_test_has_its_reason_and_a_regression_is_remembered() {
        let reverted = Event::Reverted(Reverted {
            in_tests: false,
            others: Vec::new(),
            step: 2,
            attempt: 1,
            spent: true,
            rule: Some(Rule::OthersKept),
            cause: None,
            reason: String::new(),
            signature: crate::digest::Digest::zero(),
            kept_as: None,
        });
        let blocked = Event::Blocked(Blocked { test_id: adds(), reason: "five attempts".to_owned() });
        let events = [ran(event::Status::Fail), begins(Phase::Green), reverted, blocked];
        let facts = facts(&[message(Phase::Red, "")], &events);
        assert_eq!(facts.existing, ExistingTests::RegressionIntroducedAndFixed);
        assert_eq!(facts.tests[0].status, Status::Blocked);
        assert_eq!(facts.tests[0].blocked_reason.as_deref(), Some("five attempts"));
    }

    #[test]
    fn a_test_that_was_withdrawn_is_gone() {
        let facts = facts(&[message(Phase::Red, ""), message(Phase::RethinkTest, "")], &[]);
        assert_eq!((facts.new, facts.gone, facts.tests), (vec![], vec![adds()], vec![]));
    }
}
