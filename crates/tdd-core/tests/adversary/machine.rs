//! Hands that obey the law and nothing else: they ask the gate, run, ask the judge, and write down what was.

use std::collections::BTreeSet;

use tdd_core::change::{Change, TestChange};
use tdd_core::config::Gate;
use tdd_core::cycle::{Position, RedTest, Role, Rung, Turn};
use tdd_core::digest::{CommitId, Digest};
use tdd_core::event::{
    Committed, EditApplied, EditClaim, Event, Head, Override, Record, Status, StepOutcome, StepStart, TestRenamed,
    TestRevised, TestRun,
};
use tdd_core::gate::{self, Limits, Request, Verdict};
use tdd_core::judge::{self, Baseline, Ruling, Seen};
use tdd_core::report::{Cause, Obstacle, Report};
use tdd_core::rule::{Refusal, Rule};
use tdd_core::session::{Session, SuiteFacts};
use tdd_core::test_id::TestId;

use crate::answer::{Act, Attempt, Claims, Move, nth_key};
use crate::project::{Project, id};
use crate::promises::{self, Kept};

const COMMAND: &str = "cargo test";
const MAX_ATTEMPTS: u32 = 5;
/// So many new tests in a row may pass at once.
pub const MAX_ARRIVALS: u32 = 6;

/// A run over a simulated project.
#[derive(Default)]
pub struct Machine {
    pub session: Session,
    pub records: Vec<Record>,
    pub head: Project,
    pub done: bool,
    /// Tests that passed in some tree that was kept.
    pub ever_green: BTreeSet<TestId>,
    /// Something was kept by a person's exception.
    excepted: bool,
    prev: Option<Digest>,
    commits: u32,
    message: String,
    now: u64,
    pub failed_rethinks: u32,
}

/// Where the project stands before an attempt.
pub struct Stand {
    pub step: u32,
    pub role: Role,
    pub report: Report,
    pub reds: Vec<RedTest>,
}

impl Machine {
    /// Lets somebody act.
    pub fn act(&mut self, act: &Act) {
        self.now += 1;
        match act {
            Act::Resume { skip } => self.resume(*skip),
            Act::Except(rule) => {
                let expires = self.now + 3;
                self.append(&Event::Override(Override { rule: *rule, reason: "a person says so".into(), expires }));
            }
            Act::Outside(claims, moves) => self.outside(*claims, moves),
            Act::Honest(_) | Act::Wild(..) | Act::SaysDone | Act::Garbage | Act::Killed(_) => self.take_turn(act),
        }
    }

    pub fn is_paused(&self) -> bool {
        self.session.standing().pause().is_some()
    }

    pub fn append(&mut self, event: &Event) {
        let prev = self.prev.unwrap_or_else(Digest::zero);
        let head = Head { seq: self.session.events() + 1, ts: self.now, prev };
        let line = Record::line(&head, event);
        self.prev = Some(Digest::of(&line));
        self.session.apply(event);
        self.records.push(Record::parse(line.as_bytes()).unwrap());
    }

    fn take_turn(&mut self, act: &Act) {
        if self.is_paused() {
            return self.knock_while_paused(act);
        }
        let Some(stand) = self.stand() else { return };
        let reds = stand.reds.clone();
        match Turn::rung(stand.role, reds, self.session.standing().tried(stand.role, &stand.reds), MAX_ATTEMPTS) {
            Rung::Turn(turn) => {
                self.begin_step(&stand, &turn);
                self.attempt(&stand, &turn, act);
            }
            Rung::Skip => self.end_step(&stand, StepOutcome::Skipped),
            Rung::Stop => self.stop(&stand),
        }
    }

    /// Paused means paused, whatever is asked for.
    fn knock_while_paused(&mut self, act: &Act) {
        let (Act::Honest(moves) | Act::Wild(_, moves) | Act::Killed(moves)) = act else { return };
        let attempt = Attempt::new(&self.head, moves);
        let excepted = self.session.standing().exceptions(self.now).contains(&Rule::Budget);
        if let Ok(()) = self.ask_gate(&self.head.change_to(&attempt.after), &attempt) {
            assert!(excepted, "something was permitted in a pause");
        }
    }

    fn stand(&mut self) -> Option<Stand> {
        let tree = self.head.tree();
        if self.session.report_on(&tree, COMMAND).is_none() {
            self.record_suite(&self.head.run(), &self.head.clone());
        }
        let report = self.session.report_on(&tree, COMMAND).unwrap();
        let bad = |cause: Cause| !cause.is_valid_red() && cause != Cause::Skipped;
        let causes = report.results().filter_map(|result| result.outcome.cause());
        if causes.chain(report.obstacles().iter().map(|it| it.cause)).any(bad) {
            self.pause("baseline-not-green");
            return None;
        }
        let position = Position::of_history([self.message.as_str()])
            .after(self.session.standing().ended(), self.commit_id().as_ref());
        let reds = self.session.obligations(&report, position.test.as_ref());
        Some(Stand { step: position.step + 1, role: position.role_on_turn(!reds.is_empty()), report, reds })
    }

    fn begin_step(&mut self, stand: &Stand, turn: &Turn) {
        let start = StepStart {
            step: stand.step,
            role: turn.role(),
            phase: turn.phase(),
            head: self.commit_id(),
            base: self.head.tree(),
            targets: turn.targets(),
            mark: None,
        };
        let same = self.session.standing().step().is_some_and(|step| {
            (step.step, step.phase, &step.head, &step.targets) == (start.step, start.phase, &start.head, &start.targets)
        });
        if !same {
            self.append(&Event::StepStart(start));
        }
    }

    fn attempt(&mut self, stand: &Stand, turn: &Turn, act: &Act) {
        let (claims, moves) = match act {
            Act::Honest(beside) => match self.honest(turn) {
                None => return self.says_done(stand, turn),
                Some(moves) => (Claims::Targets, [moves, beside.clone()].concat()),
            },
            Act::Wild(claims, moves) => (*claims, moves.clone()),
            Act::Killed(moves) => (Claims::Targets, moves.clone()),
            Act::SaysDone => return self.says_done(stand, turn),
            Act::Garbage | Act::Outside(..) | Act::Resume { .. } | Act::Except(_) => {
                return self.failed(stand, turn, None);
            }
        };
        let mut attempt = Attempt::new(&self.head, &moves);
        if matches!(turn, Turn::Refactor { .. }) {
            // Counter-proofs are made of greens; what disarms in a refactor is found at the next green.
            attempt.after.disarmed = self.head.disarmed;
        }
        let change = self.head.change_to(&attempt.after);
        if attempt.edits.is_empty() {
            return self.without_edits(stand, turn);
        }
        let permitted = self.claim(turn, claims).and_then(|()| self.ask_gate(&change, &attempt));
        if let Err(refusal) = permitted {
            return self.refused(stand, turn, &attempt, &refusal);
        }
        let paths = attempt.edits.iter().map(|edit| edit.path.clone()).collect();
        self.append(&Event::EditApplied(EditApplied { step: stand.step, attempt: turn.attempt(), paths }));
        if matches!(act, Act::Killed(_)) {
            self.revert(stand, turn, None, false);
            return;
        }
        self.verify(stand, turn, &attempt, &change);
    }

    fn claim(&mut self, turn: &Turn, claims: Claims) -> Result<(), Refusal> {
        let claimed = match claims {
            Claims::Targets => match turn {
                Turn::Green { .. } => turn.targets(),
                Turn::Red { .. } | Turn::Rethink { .. } | Turn::Refactor { .. } | Turn::Task { .. } => Vec::new(),
            },
            Claims::Nothing => Vec::new(),
            Claims::Some(nth) => nth_key(&self.head, nth).map(id).into_iter().collect(),
            Claims::Unknown => vec![TestId::native("tests/nowhere.rs", "x")],
        };
        for test in &claimed {
            let judged = gate::judge_claim(&self.session, test);
            assert_eq!(judged.is_ok(), promises::is_red_now(&self.records, test), "the claim of {test}");
            judged.inspect_err(promises::check_refusal)?;
        }
        for test_id in claimed {
            self.append(&Event::EditClaim(EditClaim { test_id, edit_target: "src/lib.rs".into() }));
        }
        Ok(())
    }

    fn ask_gate(&self, change: &Change, attempt: &Attempt) -> Result<(), Refusal> {
        let request = Request { edits: &attempt.edits, change, ignored: &attempt.ignored, untracked: &[] };
        let limits = Limits {
            kata: "kata.md",
            now_ms: self.now,
            max_attempts: MAX_ATTEMPTS,
            max_new_tests: 1,
            max_tokens: None,
            max_micro_usd: None,
            fence: None,
        };
        match gate::judge(&self.session, &request, &limits) {
            Verdict::Permit(permit) => {
                assert!(attempt.ignored.is_empty(), "an ignored file was permitted");
                promises::check_paths(permit);
                Ok(())
            }
            Verdict::Refuse(refusal) => {
                promises::check_refusal(&refusal);
                Err(refusal)
            }
        }
    }

    /// A door that knows of no step: only the gate is asked.
    fn outside(&mut self, claims: Claims, moves: &[Move]) {
        if self.session.standing().step().is_some() || self.is_paused() {
            return;
        }
        let attempt = Attempt::new(&self.head, moves);
        let change = self.head.change_to(&attempt.after);
        let red = Turn::Green { tests: Vec::new(), attempt: 1 };
        let permitted = self.claim(&red, claims).and_then(|()| self.ask_gate(&change, &attempt)).is_ok();
        if permitted && self.session.standing().exceptions(self.now).is_empty() {
            promises::check_permitted_outside(&self.records, &change);
        }
    }

    fn verify(&mut self, stand: &Stand, turn: &Turn, attempt: &Attempt, change: &Change) {
        let after = &attempt.after;
        let missing = || Report::new([], vec![Obstacle::new("cargo", Cause::RunnerMissing, "no cargo")]);
        let report = if attempt.no_runner { missing() } else { after.run() };
        if !attempt.no_runner {
            self.record_suite(&report, after);
        }
        let (tree, mut tree_after) = (after.tree(), after.tree());
        if attempt.scribbles {
            tree_after.0.push('x');
        }
        let excepted = self.session.standing().exceptions(self.now);
        let baseline = judge::baseline_of(&stand.report);
        let seen = Seen {
            change,
            report: &report,
            trees: (&tree, &tree_after),
            baseline: Some(&baseline),
            gate: &Gate::default(),
            excepted: &excepted,
        };
        let ruling = self.judge(turn, &seen);
        match self.proven(turn, after, ruling, &excepted) {
            Ruling::Holds(_) => {
                assert!(!attempt.scribbles, "a run that changed the files was believed");
                assert!(!attempt.no_runner || !excepted.is_empty(), "kept without a run");
                self.keep(stand, turn, after, change, excepted.is_empty());
            }
            Ruling::Refused(refusal) => {
                promises::check_refusal(&refusal);
                let arrived = matches!(turn, Turn::Red { .. }) && refusal.cause == Some(Cause::UnexpectedGreen);
                if arrived { self.arrived(stand, turn, &refusal) } else { self.failed(stand, turn, Some(&refusal)) }
            }
        }
    }

    fn judge(&self, turn: &Turn, seen: &Seen<'_>) -> Ruling {
        match turn {
            Turn::Red { .. } => {
                let targets: Vec<&TestId> = seen.change.new_demands().map(|test| &test.id).collect();
                let rulings: Vec<_> = targets.iter().map(|target| judge::judge_red(seen, target, &targets)).collect();
                let refused = rulings.iter().find(|ruling| matches!(ruling, Ruling::Refused(_)));
                let none = || Ruling::Refused(Rule::RedFirst.refuse("no test asks for anything new", "write one"));
                refused.or(rulings.first()).cloned().unwrap_or_else(none)
            }
            Turn::Green { tests, .. } => {
                let targets: Vec<&TestId> = tests.iter().map(RedTest::id).collect();
                let was_red: Baseline = tests.iter().map(|test| (test.id().clone(), Some(test.cause()))).collect();
                judge::judge_green(seen, &targets, &was_red)
            }
            Turn::Rethink { test, .. } => {
                let was_green = self.session.tests().get(test.id()).is_some_and(|known| known.was_green);
                judge::judge_rethink(seen, test.id(), was_green)
            }
            Turn::Refactor { .. } => judge::judge_refactor(seen),
            Turn::Task { .. } => unreachable!("nobody has a plan here"),
        }
    }

    fn keep(&mut self, stand: &Stand, turn: &Turn, after: &Project, change: &Change, plainly: bool) {
        self.append_evidence(turn, after, change);
        if plainly {
            let (before, ever_green) = (&self.head, &self.ever_green);
            let (records, inherits) = (&self.records, self.excepted);
            promises::check_kept(&Kept { turn, before, after, records, ever_green, inherits });
        }
        self.excepted |= !plainly;
        let renames: Vec<_> = change.tests.iter().filter_map(moved).collect();
        for (from, to) in renames {
            if self.ever_green.remove(&from) {
                self.ever_green.insert(to);
            }
        }
        let about = turn.targets().first().cloned().or_else(|| change.new_demands().next().map(|it| it.id.clone()));
        let test = about.map(|test| format!("TDD-Test: {test}\n")).unwrap_or_default();
        self.message = format!("x: y\n\nTDD-Step: {}\nTDD-Phase: {}\n{test}", stand.step, turn.phase());
        self.commit(after.clone());
        self.end_step(stand, StepOutcome::Kept);
    }

    fn append_evidence(&mut self, turn: &Turn, after: &Project, change: &Change) {
        for (from, test_id) in change.tests.iter().filter_map(moved) {
            self.append(&Event::TestRenamed(TestRenamed { from, test_id }));
        }
        if let Turn::Rethink { test, .. } = turn {
            let now = change.tests.iter().filter_map(TestChange::after).find(|it| &it.id == test.id());
            self.revised(test.id(), now.map(|facts| facts.digest));
        }
        if matches!(turn, Turn::Red { .. } | Turn::Rethink { .. }) {
            let report = after.run();
            let unrun = change.tests.iter().filter_map(TestChange::after).filter(|it| report.get(&it.id).is_none());
            for test in unrun {
                self.append(&Event::TestRun(TestRun {
                    test_id: test.id.clone(),
                    test_id_source: test.id.source(),
                    status: Status::Fail,
                    command: COMMAND.into(),
                    duration_ms: 0,
                    tree: after.tree(),
                    test_digest: Some(test.digest),
                    cause: Some(Cause::MissingSymbol),
                    message: None,
                }));
            }
        }
    }

    pub fn revised(&mut self, test: &TestId, after: Option<Digest>) {
        let before = self.session.tests().get(test).and_then(|known| known.digest);
        self.append(&Event::TestRevised(TestRevised {
            test_id: test.clone(),
            before,
            after,
            reason: "the kata says so".into(),
            spec_source: "kata.md".into(),
        }));
    }

    pub fn commit(&mut self, after: Project) {
        self.head = after;
        self.commits += 1;
        let green = self.head.tests.keys().filter(|key| self.head.fate(**key).is_none());
        self.ever_green.extend(green.map(|key| id(*key)));
        self.append(&Event::Committed(Committed {
            commit: CommitId(self.commits.to_string()),
            tree: self.head.tree(),
            subject: "x: y".into(),
            files: vec!["src/lib.rs".into()],
        }));
    }

    pub fn commit_id(&self) -> Option<CommitId> {
        (self.commits > 0).then(|| CommitId(self.commits.to_string()))
    }

    fn record_suite(&mut self, report: &Report, project: &Project) {
        let tree = project.tree();
        let facts = SuiteFacts { report, command: COMMAND, tree: &tree, duration_ms: 1 };
        for event in self.session.suite_events(&facts) {
            self.append(&event);
        }
    }
}

fn moved(test: &TestChange) -> Option<(TestId, TestId)> {
    match test {
        TestChange::Moved { before, after } => Some((before.id.clone(), after.id.clone())),
        TestChange::Added(_) | TestChange::Removed(_) | TestChange::Changed { .. } => None,
    }
}
