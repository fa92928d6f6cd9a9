//! Where the project stands: who is on turn, on top of which commit, with which tests red.

use tdd_core::cycle::{Phase, Position, RedTest, Role, Turn};
use tdd_core::event::{Event, Paused, RefactorBegin, RefactorEnd, Status, StepEnd, StepOutcome, StepStart};
use tdd_core::gate;
use tdd_core::report::{Cause, Report};
use tdd_core::test_id::TestId;
use tdd_exec::git::Head;

use super::{End, Machine};
use crate::error::CliError;
use crate::project;

/// Where the project stands before an attempt.
#[derive(Clone, Debug)]
pub struct Stand {
    /// The step that is due.
    pub step: u32,
    /// Whose it is.
    pub role: Role,
    /// HEAD, which its commit goes on top of.
    pub head: Head,
    /// What all tests say on HEAD's tree.
    pub report: Report,
    /// The tests that are to be made green.
    pub reds: Vec<RedTest>,
}

impl Machine<'_> {
    /// Finds out where the project stands, or why nothing can be done.
    pub fn stand(&mut self) -> Result<Result<Stand, End>, CliError> {
        let head = self.trial.repo.head()?;
        self.trial.base = head.tree.clone();
        let position = self.position(&head)?;
        let known = self.trial.session().report_on(&head.tree, &self.trial.command());
        let report = match known {
            Some(report) => report,
            None => self.baseline()?,
        };
        if let Some(obstacle) = report.environment_failure() {
            return Err(CliError::CannotTest { what: obstacle.subject.clone(), why: obstacle.message.clone() });
        }
        if let Some(end) = self.broken_baseline(&report)? {
            return Ok(Err(end));
        }
        let reds = self.trial.session().obligations(&report, position.test.as_ref());
        self.prove_unrun(&reds, &report)?;
        let role = if self.check_fails.as_ref() == Some(&head.tree) && reds.is_empty() {
            Role::Refactorer
        } else {
            self.on_turn(position.role_on_turn(!reds.is_empty()), &reds)
        };
        Ok(Ok(Stand { step: position.step + 1, role, head, report, reds }))
    }

    /// Who is on turn under the mandate: one role alone while nothing is red; and an iteration of a program begins with
    /// a test, whatever the one before it left to refactor.
    fn on_turn(&self, role: Role, reds: &[RedTest]) -> Role {
        let begins = self.trial.session().standing().iteration().is_some_and(|iteration| !iteration.greened);
        match (self.mandate.only, role) {
            (Some(only), _) if reds.is_empty() => only,
            (None, Role::Refactorer) if begins => Role::Tester,
            (Some(_) | None, role) => role,
        }
    }

    /// The position by HEAD's history, and by a step that ended there without a commit.
    pub fn position(&self, head: &Head) -> Result<Position, CliError> {
        project::position(&self.trial.repo, self.trial.session(), head)
    }

    /// Runs all tests on HEAD's tree. Results that changed although nothing else did are looked at twice.
    fn baseline(&mut self) -> Result<Report, CliError> {
        let untouched = self.trial.session().last_commit().is_some_and(|commit| commit.tree == self.trial.base);
        let passed =
            |id: &TestId| self.trial.session().tests().get(id).is_some_and(|known| known.status == Status::Pass);
        let passed: Vec<TestId> = self.trial.session().tests().keys().filter(|id| passed(id)).cloned().collect();
        self.trial.take_tree(&[])?;
        let run = self.trial.run_recorded(&mut Vec::new())?;
        let failed = |id: &&TestId| run.report.get(id).is_some_and(|result| result.outcome.cause().is_some());
        let suspects: Vec<TestId> = passed.iter().filter(failed).cloned().collect();
        if untouched { self.trial.run_again(&run.report, &suspects) } else { Ok(run.report) }
    }

    /// A baseline that no step can start from: a test that flakes, or one that fails for no valid cause.
    fn broken_baseline(&mut self, report: &Report) -> Result<Option<End>, CliError> {
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
        let next = "mend it and commit, then `tdd-cli resume`".to_owned();
        self.record(&[Event::Paused(Paused { reason: reason.clone(), next: next.clone() })])?;
        Ok(Some(End::Stopped { reason, next }))
    }

    /// A red that a missing symbol keeps from being run is in no test run, so a clone, or a project of a
    /// person's, has no record of it yet.
    fn prove_unrun(&mut self, reds: &[RedTest], report: &Report) -> Result<(), CliError> {
        let unrun = reds.iter().filter(|red| report.get(red.id()).is_none());
        let unknown = unrun.filter(|red| gate::judge_claim(self.trial.session(), red.id()).is_err());
        let unknown: Vec<TestId> = unknown.map(|red| red.id().clone()).collect();
        if unknown.is_empty() {
            return Ok(());
        }
        self.trial.take_tree(&[])?;
        let proven = |id: &TestId| {
            let digest = self.trial.test_digest(id)?;
            Some(Event::TestRun(self.missing_symbol(report, id, digest)))
        };
        let events: Vec<Event> = unknown.iter().filter_map(proven).collect();
        self.record(&events)
    }

    /// Puts the beginning of a step on the record, unless it is under way.
    pub fn begin_step(&mut self, stand: &Stand, turn: &Turn) -> Result<(), CliError> {
        let start = StepStart {
            step: stand.step,
            role: turn.role(),
            phase: turn.phase(),
            head: stand.head.commit.clone(),
            base: stand.head.tree.clone(),
            targets: turn.targets(),
            mark: self.mandate.mark.clone(),
        };
        let standing = self.trial.session().standing();
        let same = standing.step().is_some_and(|step| {
            (step.step, step.phase, &step.head, &step.targets, &step.mark)
                == (start.step, start.phase, &start.head, &start.targets, &start.mark)
        });
        let is_task = matches!(turn, Turn::Task { .. });
        if same && is_task == standing.refactor().is_some() {
            return Ok(());
        }
        if is_task {
            let (base, head, mark) = (start.base.clone(), start.head.clone(), start.mark.clone());
            self.record(&[Event::RefactorBegin(RefactorBegin { base, head, reason: None, mark })])?;
        }
        self.record(&[Event::StepStart(start)])
    }

    /// Ends the refactor mode that was begun for a task which is not kept.
    pub fn end_mode(&mut self) -> Result<(), CliError> {
        let mode = self.trial.session().standing().refactor().filter(|mode| mode.mark.is_some());
        let Some(tree) = mode.map(|mode| mode.base.clone()) else { return Ok(()) };
        self.record(&[Event::RefactorEnd(RefactorEnd { kept: false, tree, verified_by: None, kept_as: None })])
    }

    /// Puts the end of a step on the record.
    pub fn end_step(&mut self, stand: &Stand, outcome: StepOutcome) -> Result<(), CliError> {
        let under_way = self.trial.session().standing().step();
        let role = under_way.map_or(stand.role, |step| step.role);
        let step = under_way.map_or(stand.step, |step| step.step);
        let rethink = under_way.is_some_and(|step| step.phase == Phase::RethinkTest);
        let head = self.trial.repo.head()?.commit;
        self.end_mode()?;
        self.record(&[Event::StepEnd(StepEnd { step, role, outcome, head })])?;
        self.conversations.clear();
        if outcome.rotates() && !rethink {
            self.steps_done += 1;
            self.cycle_over |= role == Role::Refactorer;
        }
        self.close_log(outcome)
    }
}
