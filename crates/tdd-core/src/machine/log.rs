//! The step log for people: plans, attempts, test runs and the outcome. No code reads it back.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::Serialize;

use super::starting_point::StartingPoint;
use super::{Fallible, Machine, MachineError};
use crate::cycle::{Phase, Role, Turn};
use crate::digest::{CommitId, Digest};
use crate::event::StepOutcome;
use crate::judge::Verdict;
use crate::pipeline::Judged;
use crate::report::{Counts, Outcome, Report};
use crate::rule::Refusal;
use crate::seam::{Agent, Call as Made, Reporter, StepResult, StepWorkshop};
use crate::test_id::TestId;

/// The log of one step, including a rethink within a green.
#[derive(Debug, Serialize)]
pub struct StepLog {
    step: u32,
    role: Role,
    phase: Phase,
    targets: Vec<TestId>,
    /// The last plan of the role whose step it is.
    plan: String,
    attempts: Vec<Attempt>,
    outcome: Option<StepOutcome>,
    commit: Option<CommitId>,
    took: Took,
    #[serde(skip)]
    begun: Begun,
    #[serde(skip)]
    last_plan: String,
    #[serde(skip)]
    last_answer: Option<StepResult>,
    #[serde(skip)]
    message: String,
}

/// The outcome of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Fate {
    /// Committed.
    Kept,
    /// Written, judged and undone.
    Undone,
    /// Refused before anything was written.
    Refused,
    /// A doubted test stays as it is.
    Stays,
    /// There was nothing to do.
    Nothing,
    /// The tester declared the kata done.
    Done,
}

/// Where a step's time went, in milliseconds.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Took {
    all: f64,
    /// Waiting for models.
    models: f64,
    /// The project's own commands.
    commands: f64,
    /// The rest: this program itself.
    own: f64,
}

/// When a step began, and how long commands had taken by then.
#[derive(Clone, Copy, Debug)]
struct Begun {
    at: Duration,
    commands: Duration,
}

impl Begun {
    fn now(workshop: &impl StepWorkshop) -> Self {
        Self { at: workshop.elapsed(), commands: workshop.spent_on_commands() }
    }

    fn took(self, workshop: &impl StepWorkshop, models: Duration) -> Took {
        let ms = |time: Duration| time.as_secs_f64() * 1000.0;
        let all = workshop.elapsed().saturating_sub(self.at);
        let commands = workshop.spent_on_commands().saturating_sub(self.commands);
        let own = all.saturating_sub(commands).saturating_sub(models);
        Took { all: ms(all), models: ms(models), commands: ms(commands), own: ms(own) }
    }
}

/// One attempt.
#[derive(Debug, Serialize)]
struct Attempt {
    number: u32,
    role: Role,
    phase: Phase,
    plan: Option<String>,
    calls: Vec<Call>,
    answer: String,
    /// Notes by the agent, or by the code that read its answer.
    #[serde(skip_serializing_if = "String::is_empty")]
    notes: String,
    /// Test runs that the agent requested before it finished.
    trials: Vec<Tests>,
    tests: Option<Tests>,
    check: Option<String>,
    verdict: Option<String>,
    /// `None` if the attempt was cut short.
    outcome: Option<Fate>,
    reason: Option<String>,
    refusal: Option<Refusal>,
}

impl Attempt {
    fn at(turn: &Turn) -> Self {
        Self {
            number: turn.attempt(),
            role: turn.role(),
            phase: turn.phase(),
            plan: None,
            calls: Vec::new(),
            answer: String::new(),
            notes: String::new(),
            trials: Vec::new(),
            tests: None,
            check: None,
            verdict: None,
            outcome: None,
            reason: None,
            refusal: None,
        }
    }
}

/// One call to a model.
#[derive(Debug, Serialize)]
struct Call {
    key: String,
    prompt_digest: Digest,
    model: String,
    prompt_tokens: u64,
    cached_tokens: u64,
    completion_tokens: u64,
    duration_ms: u64,
    retries: u32,
    #[serde(skip)]
    waited: Duration,
}

/// The summary of a test report.
#[derive(Debug, Serialize)]
struct Tests {
    counts: Counts,
    failing: Vec<(TestId, String)>,
    obstacles: Vec<String>,
}

impl Tests {
    fn of(report: &Report) -> Self {
        let failing = report.results().filter_map(|result| match &result.outcome {
            Outcome::Pass => None,
            Outcome::Fail { cause, message } => Some((result.id.clone(), format!("{cause}: {message}"))),
        });
        let obstacles = report.obstacles().iter();
        let obstacles = obstacles.map(|it| format!("{} {}: {}", it.subject, it.cause, it.message));
        Self { counts: report.counts(), failing: failing.collect(), obstacles: obstacles.collect() }
    }
}

impl StepLog {
    /// The number of the step.
    pub fn step(&self) -> u32 {
        self.step
    }

    /// The roles that made an attempt.
    pub fn roles(&self) -> BTreeSet<Role> {
        self.attempts.iter().map(|attempt| attempt.role).collect()
    }

    /// The last plan of any role.
    pub fn last_plan(&self) -> &str {
        &self.last_plan
    }

    /// The last answer of an agent.
    pub fn last_answer(&self) -> Option<&StepResult> {
        self.last_answer.as_ref()
    }

    /// The message of the step's commit.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl<B: StepWorkshop, A: Agent, R: Reporter> Machine<B, A, R> {
    /// Opens the log of a step if it is not open, and adds an attempt. A rethink belongs to the step that it happens
    /// in.
    pub(super) fn open_log(&mut self, start: &StartingPoint, turn: &Turn) {
        let (step, role, phase) = (start.step, turn.role(), turn.phase());
        if self.log.as_ref().is_none_or(|log| log.step != step) {
            self.log = Some(StepLog {
                step,
                role,
                phase,
                targets: turn.targets(),
                plan: String::new(),
                attempts: Vec::new(),
                outcome: None,
                commit: None,
                took: Took::default(),
                begun: Begun::now(&self.workshop),
                last_plan: String::new(),
                last_answer: None,
                message: String::new(),
            });
        }
        if let Some(log) = &mut self.log {
            log.attempts.push(Attempt::at(turn));
        }
    }

    pub(super) fn note_plan(&mut self, start: &StartingPoint, turn: &Turn, plan: &str) -> Fallible<(), B, A> {
        if let Some(log) = &mut self.log {
            plan.clone_into(&mut log.last_plan);
            if log.role == turn.role() {
                plan.clone_into(&mut log.plan);
            }
        }
        if let Some(attempt) = self.attempt_log() {
            attempt.plan = Some(plan.to_owned());
        }
        self.reporter.plan(start.step, turn.role(), plan).map_err(MachineError::View)
    }

    pub(super) fn note_call(&mut self, made: &Made) {
        let Some(attempt) = self.attempt_log() else { return };
        made.answer.clone_into(&mut attempt.answer);
        attempt.calls.push(Call {
            key: made.key.clone(),
            prompt_digest: made.prompt_digest,
            model: made.event.model.clone(),
            prompt_tokens: made.event.prompt_tokens,
            cached_tokens: made.event.cached_tokens,
            completion_tokens: made.event.completion_tokens,
            duration_ms: made.event.duration_ms,
            retries: made.retries,
            waited: made.waited,
        });
    }

    pub(super) fn note_answer(&mut self, answer: &StepResult) {
        if let Some(log) = &mut self.log {
            log.last_answer = Some(answer.clone());
        }
        if let Some(attempt) = self.attempt_log() {
            answer.notes.clone_into(&mut attempt.notes);
        }
    }

    pub(super) fn note_trial(&mut self, report: &Report) {
        if let Some(attempt) = self.attempt_log() {
            attempt.trials.push(Tests::of(report));
        }
    }

    pub(super) fn note_judged(&mut self, judged: &Judged) {
        let Some(attempt) = self.attempt_log() else { return };
        attempt.tests = Some(Tests::of(&judged.report));
        let output = |check: &crate::seam::Checked| format!("{}{}", check.outcome.stdout, check.outcome.stderr);
        attempt.check = judged.check.as_ref().map(output);
        attempt.verdict = judged.worst().map(|verdict| match verdict {
            Verdict::Holds(holding) => format!("holds: {}", holding.reason),
            Verdict::Refused(refusal) => format!("refused: {refusal}"),
        });
    }

    pub(super) fn note_fate(&mut self, fate: Fate, reason: &str) {
        if let Some(attempt) = self.attempt_log() {
            attempt.outcome = Some(fate);
            attempt.reason = Some(reason.to_owned());
        }
    }

    pub(super) fn note_refusal(&mut self, refusal: Option<&Refusal>) {
        if let Some(attempt) = self.attempt_log() {
            attempt.refusal = refusal.cloned();
        }
    }

    pub(super) fn note_commit(&mut self, commit: &CommitId, message: &str) {
        if let Some(log) = &mut self.log {
            log.commit = Some(commit.clone());
            message.clone_into(&mut log.message);
        }
        let subject = message.lines().next().unwrap_or_default();
        self.note_fate(Fate::Kept, subject);
    }

    /// Saves and closes the log of a step that has ended.
    pub(super) fn close_log(&mut self, outcome: StepOutcome) -> Fallible<(), B, A> {
        let fate = match outcome {
            StepOutcome::Nothing => Some(Fate::Nothing),
            StepOutcome::Done => Some(Fate::Done),
            StepOutcome::Kept | StepOutcome::Skipped | StepOutcome::Stopped => None,
        };
        if let (Some(fate), Some(attempt)) = (fate, self.attempt_log()) {
            attempt.outcome.get_or_insert(fate);
        }
        if let Some(log) = &mut self.log {
            log.outcome = Some(outcome);
        }
        self.save_log()?;
        self.log = None;
        Ok(())
    }

    /// Saves the log so far, so that it has all attempts even if the run stops.
    pub(super) fn save_log(&mut self) -> Fallible<(), B, A> {
        let Some(log) = &mut self.log else { return Ok(()) };
        let waited = log.attempts.iter().flat_map(|attempt| &attempt.calls).map(|call| call.waited).sum();
        log.took = log.begun.took(&self.workshop, waited);
        self.reporter.log(log).map_err(MachineError::View)
    }

    fn attempt_log(&mut self) -> Option<&mut Attempt> {
        self.log.as_mut()?.attempts.last_mut()
    }
}
