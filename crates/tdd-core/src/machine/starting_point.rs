//! Finds the starting point: whose turn it is, on top of which commit, with which tests red.

use super::{End, Fallible, Machine, MachineError, StartOrEnd, workshop_error};
use crate::cycle::{Phase, Position, RedTest, Role, Turn};
use crate::event::{Event, Paused, RefactorBegin, RefactorEnd, Status, StepEnd, StepOutcome, StepStart};
use crate::gate;
use crate::report::{Cause, Report};
use crate::seam::{Agent, Feedback, Head, Reporter, StepWorkshop, Vcs};
use crate::test_id::TestId;

/// HEAD, turn, test results and red tests before an attempt.
#[derive(Clone, Debug)]
pub struct StartingPoint {
    /// The number of the step that is due.
    pub step: u32,
    /// The role whose turn it is.
    pub role: Role,
    /// HEAD, the parent of the step's commit.
    pub head: Head,
    /// The results of all tests on HEAD's tree.
    pub report: Report,
    /// The tests to be made green.
    pub reds: Vec<RedTest>,
}

impl<B: StepWorkshop, A: Agent, R: Reporter> Machine<B, A, R> {
    /// Finds the starting point, or the reason to end the run.
    pub(super) fn find_starting_point(&mut self) -> Fallible<StartOrEnd, B, A> {
        let head = self.workshop.vcs().head().map_err(workshop_error)?;
        self.workshop.start_from(&head.tree);
        let position = self.position(&head)?;
        let known = self.session().report_on(&head.tree, &self.workshop.test_command());
        let report = match known {
            Some(report) => report,
            None => self.baseline()?,
        };
        if let Some(obstacle) = report.environment_failure() {
            return Err(MachineError::CannotTest { what: obstacle.subject.clone(), why: obstacle.message.clone() });
        }
        if let Some(end) = self.broken_baseline(&report)? {
            return Ok(StartOrEnd::End(end));
        }
        let reds = self.session().obligations(&report, position.test.as_ref());
        self.prove_unrun(&reds, &report)?;
        let role = if self.check_fails.as_ref() == Some(&head.tree) && reds.is_empty() {
            Role::Refactorer
        } else {
            self.on_turn(position.role_on_turn(!reds.is_empty()), &reds)
        };
        Ok(StartOrEnd::Start(StartingPoint { step: position.step + 1, role, head, report, reds }))
    }

    /// Whose turn it is under the mandate: `only` acts while no test is red; and a program's iteration begins with a
    /// test, even if the iteration before it left a refactor due.
    fn on_turn(&self, role: Role, reds: &[RedTest]) -> Role {
        let begins = self.session().machine_state().iteration().is_some_and(|iteration| !iteration.greened);
        match (self.mandate.only, role) {
            (Some(only), _) if reds.is_empty() => only,
            (None, Role::Refactorer) if begins => Role::Tester,
            (Some(_) | None, role) => role,
        }
    }

    /// The position by HEAD's history, or by a later step that ended on HEAD without a commit.
    pub(super) fn position(&self, head: &Head) -> Fallible<Position, B, A> {
        let messages = self.workshop.vcs().messages().map_err(workshop_error)?;
        Ok(Position::of_history(messages).after(self.session().machine_state().ended(), head.commit.as_ref()))
    }

    /// Runs all tests on HEAD's tree. If HEAD is our own commit, tests that passed before and fail now are rerun: they
    /// may be flaky.
    fn baseline(&mut self) -> Fallible<Report, B, A> {
        let tree = self.workshop.vcs().head().map_err(workshop_error)?.tree;
        let untouched = self.session().last_commit().is_some_and(|commit| commit.tree == tree);
        let known = self.session().tests().iter();
        let passed: Vec<TestId> =
            known.filter(|(_, known)| known.status == Status::Pass).map(|(id, _)| id.clone()).collect();
        self.workshop.take(&[]).map_err(MachineError::Work)?;
        let report = self.workshop.run().map_err(MachineError::Work)?.report;
        let failed = |id: &&TestId| report.get(id).is_some_and(|result| result.outcome.cause().is_some());
        let suspects: Vec<TestId> = passed.iter().filter(failed).cloned().collect();
        if !untouched || suspects.is_empty() {
            return Ok(report);
        }
        self.workshop.rerun(report, &suspects).map_err(MachineError::Work)
    }

    /// Pauses if no step can start from this baseline: a test flakes, or fails for a cause that is not a valid red.
    fn broken_baseline(&mut self, report: &Report) -> Fallible<Option<End>, B, A> {
        let bad = |cause: Cause| !cause.is_valid_red() && cause != Cause::Skipped;
        let test = report.results().find_map(|result| {
            let cause = result.outcome.cause().filter(|cause| bad(*cause))?;
            Some((result.id.to_string(), cause))
        });
        let obstacle = || {
            let bad = report.obstacles().iter().find(|obstacle| bad(obstacle.cause))?;
            Some((format!("{}: {}", bad.subject, bad.message.lines().next().unwrap_or_default()), bad.cause))
        };
        let Some((what, cause)) = test.or_else(obstacle) else { return Ok(None) };
        let reason = format!("baseline-not-green: {what} ({cause}), and no step has changed anything yet");
        let next = "fix it and commit, then `tdd-cli resume`".to_owned();
        self.record(&[Event::Paused(Paused { reason: reason.clone(), next: next.clone() })])?;
        Ok(Some(End::Stopped { reason, next }))
    }

    /// Records reds that a missing symbol keeps from running. A test run does not contain them, so a fresh clone or a
    /// person's project has no record of them yet.
    fn prove_unrun(&mut self, reds: &[RedTest], report: &Report) -> Fallible<(), B, A> {
        let unrun = reds.iter().filter(|red| report.get(red.id()).is_none());
        let unknown = unrun.filter(|red| gate::judge_claim(self.session(), red.id()).is_err());
        let unknown: Vec<TestId> = unknown.map(|red| red.id().clone()).collect();
        if unknown.is_empty() {
            return Ok(());
        }
        self.workshop.take(&[]).map_err(MachineError::Work)?;
        let proven = |id: &TestId| {
            let digest = self.workshop.test_digest(id)?;
            Some(Event::TestRun(self.missing_symbol(report, id, digest)))
        };
        let events: Vec<Event> = unknown.iter().filter_map(proven).collect();
        self.record(&events)
    }

    /// Records the start of a step, unless it is already in progress.
    pub(super) fn begin_step(&mut self, start: &StartingPoint, turn: &Turn) -> Fallible<(), B, A> {
        let start = StepStart {
            step: start.step,
            role: turn.role(),
            phase: turn.phase(),
            head: start.head.commit.clone(),
            base: start.head.tree.clone(),
            targets: turn.targets(),
            mark: self.mandate.mark.clone(),
        };
        let state = self.session().machine_state();
        let same = state.step().is_some_and(|step| {
            (step.step, step.phase, &step.head, &step.targets, &step.mark)
                == (start.step, start.phase, &start.head, &start.targets, &start.mark)
        });
        let is_task = matches!(turn, Turn::Task { .. });
        if same && is_task == state.refactor().is_some() {
            return Ok(());
        }
        if is_task {
            let (base, head, mark) = (start.base.clone(), start.head.clone(), start.mark.clone());
            self.record(&[Event::RefactorBegin(RefactorBegin { base, head, reason: None, mark })])?;
        }
        self.record(&[Event::StepStart(start)])
    }

    /// Ends refactor mode that was begun for a task which is not kept.
    pub(super) fn end_mode(&mut self) -> Fallible<(), B, A> {
        let mode = self.session().machine_state().refactor().filter(|mode| mode.mark.is_some());
        let Some(tree) = mode.map(|mode| mode.base.clone()) else { return Ok(()) };
        self.record(&[Event::RefactorEnd(RefactorEnd { kept: false, tree, verified_by: None, kept_as: None })])
    }

    /// Records the end of a step, tells the agents, and closes the step log.
    pub(super) fn end_step(&mut self, start: &StartingPoint, outcome: StepOutcome) -> Fallible<(), B, A> {
        let under_way = self.session().machine_state().step();
        let role = under_way.map_or(start.role, |step| step.role);
        let step = under_way.map_or(start.step, |step| step.step);
        let rethink = under_way.is_some_and(|step| step.phase == Phase::RethinkTest);
        let head = self.workshop.vcs().head().map_err(workshop_error)?.commit;
        self.end_mode()?;
        self.record(&[Event::StepEnd(StepEnd { step, role, outcome, head })])?;
        for agent in self.agents.values_mut() {
            agent.hear(&Turn::Refactor { attempt: 1 }, &Feedback::StepOver);
        }
        if outcome.rotates() && !rethink {
            self.steps_done += 1;
            self.cycle_over |= role == Role::Refactorer;
        }
        self.close_log(outcome)
    }
}
