//! The orchestrator: rotates three roles through the cycle and sends each attempt through the gate and the pipeline.
//!
//! It is generic over its seams: the command line runs it with a real project and real models, the property tests with
//! an in-memory project and an adversary. Read a step in this order: `Machine::work` here, `starting_point.rs`,
//! `attempt.rs` (ask, gate, write), the [pipeline](crate::pipeline) (judge), `keep.rs` (commit).

mod agenda;
mod arrival;
mod attempt;
mod done;
mod end;
mod keep;
mod log;
mod mandate;
mod progress;
mod start;
mod starting_point;
mod turn_host;

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use crate::config::When;
use crate::cycle::{NextMove, Role, Turn};
use crate::digest::TreeId;
use crate::event::{Blocked, Event, Paused, StepOutcome};
use crate::gate::Limits;
use crate::requirements::Requirements;
use crate::seam::{Agent, Budget, Done, EventContext, Ledger as _, Orchestrator, Reporter, StepWorkshop};
use crate::session::Session;

pub use agenda::Agenda;
pub use end::End;
pub use log::StepLog;
pub use mandate::{AssignedTest, Mandate};
pub use start::Start;

use attempt::Outcome;
use starting_point::StartingPoint;

/// Prefix of the pause reason when all attempts at a test are used up.
pub const STUCK: &str = "td-stuck";

/// Attempts of the refactorer in a cycle: after that the code stays as it is.
const MAX_REFACTOR_ATTEMPTS: u32 = 2;

/// When a run stops, and whether it tolerates untracked files.
#[derive(Clone, Copy, Debug, Default)]
pub struct Order {
    /// Stop after this many steps.
    pub steps: Option<u32>,
    /// Run until the tester declares the kata done, regardless of the configured step count.
    pub until_done: bool,
    /// Begin no attempt after this time.
    pub max_time: Option<Duration>,
    /// Leave untracked files alone instead of refusing to start.
    pub allow_untracked: bool,
    /// Stop at the end of the cycle.
    pub cycle: bool,
}

/// Why a run failed.
#[derive(Debug, thiserror::Error)]
pub enum MachineError<W, A> {
    /// The project could not be read, run or written.
    #[error(transparent)]
    Work(W),
    /// An agent could not answer.
    #[error(transparent)]
    Agent(A),
    /// The tests cannot be run at all.
    #[error("the tests cannot be run: {what}: {why}")]
    CannotTest {
        /// The test command, or what the obstacle is about.
        what: String,
        /// The error message.
        why: String,
    },
    /// Tracked files have uncommitted changes.
    #[error("`{path}` has uncommitted changes")]
    Modified {
        /// The first changed file.
        path: String,
        /// How many other files have changed.
        more: usize,
    },
    /// There are untracked files.
    #[error("`{path}` is not tracked by git")]
    Untracked {
        /// The first untracked file.
        path: String,
        /// How many other untracked files there are.
        more: usize,
    },
    /// A person is in refactor mode.
    #[error("refactor mode is on")]
    RefactorMode {
        /// The person's reason for it.
        reason: Option<String>,
    },
    /// There is no agent for a role.
    #[error("there is no agent for the {0}")]
    NoAgent(Role),
    /// The plan or the step log could not be written.
    #[error("cannot write the plan or the log of a step")]
    View(#[source] io::Error),
}

/// The result type of the machine's functions.
pub type Fallible<T, B, A> = Result<T, MachineError<<B as crate::seam::Workshop>::Error, <A as Agent>::Error>>;

/// A run in progress.
pub struct Machine<B: StepWorkshop, A: Agent, R: Reporter> {
    /// The workshop of the project.
    pub workshop: B,
    agents: BTreeMap<Role, A>,
    reporter: R,
    /// The kata's text; empty if the mandate has its own brief.
    kata: String,
    /// What the kata asks for.
    requirements: Requirements,
    /// What testers named in this run, with tests that passed.
    named: Vec<Done>,
    mandate: Mandate,
    agenda: Option<Agenda>,
    order: Order,
    begun: Duration,
    steps_done: u32,
    cycle_over: bool,
    log: Option<StepLog>,
    /// The tree of HEAD, if the check command failed on it and the commit is not ours.
    check_fails: Option<TreeId>,
    /// The last check or compiler output that complained about test code only.
    complaint: Option<String>,
    /// Whether the user was told that prompts show only part of the kata.
    kata_cut: bool,
}

impl<B: StepWorkshop, A: Agent, R: Reporter> Machine<B, A, R> {
    /// Runs steps until there is a reason to stop.
    pub fn run(mut self) -> Fallible<End, B, A> {
        let end = match self.work() {
            Err(_) if self.workshop.is_cancelled() => End::Interrupted,
            Err(error) => {
                // A failed cleanup is ignored: the next start repeats it, and the first error is the one to report.
                let _tidied = self.tidy();
                return Err(error);
            }
            Ok(end) => end,
        };
        self.finish(&end)?;
        Ok(end)
    }

    fn work(&mut self) -> Fallible<End, B, A> {
        loop {
            if let Some(end) = self.attempt_next()? {
                return Ok(end);
            }
        }
    }

    /// Makes the next attempt; returns the end if the run must stop.
    fn attempt_next(&mut self) -> Fallible<Option<End>, B, A> {
        if let Some(end) = self.limit() {
            return Ok(Some(end));
        }
        let mut start = match self.find_starting_point()? {
            StartOrEnd::Start(start) => start,
            StartOrEnd::End(end) => return Ok(Some(end)),
        };
        if let Some(end) = self.take_up(&mut start)? {
            return Ok(Some(end));
        }
        self.next_move(&start)
    }

    /// Makes the attempt that is due, skips a refactor, or stops the run when all attempts are used up.
    fn next_move(&mut self, start: &StartingPoint) -> Fallible<Option<End>, B, A> {
        let max = self.workshop.config().max_attempts_per_agent.get();
        let state = self.session().machine_state();
        let next_move = if let Some(mark) = self.task_mark() {
            Turn::next_task_move(state.spent(mark), max)
        } else {
            let tried = state.tried(start.role, &start.reds);
            let is_in_cycle = start.role == Role::Refactorer && self.is_cycle();
            let max = if is_in_cycle { max.min(MAX_REFACTOR_ATTEMPTS) } else { max };
            Turn::next_move(start.role, start.reds.clone(), tried, max)
        };
        match next_move {
            NextMove::Turn(turn @ Turn::Refactor { .. }) if self.may_rest() && self.refactor_hints()?.is_empty() => {
                self.begin_step(start, &turn)?;
                self.end_step(start, StepOutcome::Nothing)?;
                Ok(None)
            }
            NextMove::Turn(turn) => {
                self.begin_step(start, &turn)?;
                let outcome = self.attempt(start, &turn);
                let saved = self.save_log();
                match outcome? {
                    Outcome::Continue => saved.map(|()| None),
                    Outcome::End(end) => saved.map(|()| Some(end)),
                }
            }
            NextMove::Skip => {
                self.end_step(start, StepOutcome::Skipped)?;
                Ok(None)
            }
            NextMove::Stop => self.stop(start).map(Some),
        }
    }

    /// Whether the roles take turns. A program has one role, whose refactoring is all its work.
    fn is_cycle(&self) -> bool {
        self.mandate.brief.is_none()
    }

    /// Whether the refactorer takes its turn only if there is something to do (`roles.refactorer.when: needed`).
    fn may_rest(&self) -> bool {
        self.is_cycle()
            && self.workshop.config().roles.refactorer.as_ref().is_some_and(|role| role.when == When::Needed)
    }

    /// Pauses the run because all attempts are used up; the target of an implementor is blocked.
    fn stop(&mut self, start: &StartingPoint) -> Fallible<End, B, A> {
        let why = self.last_failure().unwrap_or_else(|| "all attempts failed".to_owned());
        let Some(test) = start.reds.first().filter(|_| start.role == Role::Implementor) else {
            let (who, next) = match self.task_mark() {
                Some(mark) => (
                    mark.to_owned(),
                    "say more in the plan, or do the task yourself and put its mark into the body of the commit",
                ),
                None => (format!("the {}", start.role), "say more in the kata, or try another model"),
            };
            let next = format!("{next}, then `tdd-cli resume`");
            return self.pause(start, format!("{who} used up its attempts: {why}"), next);
        };
        let state = self.session().machine_state();
        let clashes = state.clashes(test.id()) > 0;
        let reason = if clashes { format!("older tests contradict it: {why}") } else { why };
        let older: Vec<String> = state.clashed_with(test.id()).map(|test| format!("`{test}`")).collect();
        self.record(&[Event::Blocked(Blocked { test_id: test.id().clone(), reason })])?;
        let next = "`tdd-cli resume` tries again, `tdd-cli resume --skip` skips the test; `tdd-cli log --type \
                    reverted` shows what was tried";
        let next = if older.is_empty() {
            next.to_owned()
        } else {
            let retire = "`tdd-cli retire TEST --reason …` removes a test that no longer applies";
            format!("it contradicts {}: say in the kata which is right; {retire}; {next}", older.join(", "))
        };
        let reason = format!("{STUCK}: {}", test.id());
        self.pause(start, reason, next)
    }

    /// Ends the step and stops the run. Records a pause, unless the mandate continues by itself and no test is stuck.
    fn pause(&mut self, start: &StartingPoint, reason: String, next: String) -> Fallible<End, B, A> {
        if !self.mandate.caller_continues || reason.starts_with(STUCK) {
            self.record(&[Event::Paused(Paused { reason: reason.clone(), next: next.clone() })])?;
        }
        self.end_step(start, StepOutcome::Stopped)?;
        Ok(End::Stopped { reason, next })
    }

    /// The reason not to begin another attempt, if there is one.
    fn limit(&self) -> Option<End> {
        let state = self.session().machine_state();
        if self.workshop.is_cancelled() {
            return Some(End::Interrupted);
        }
        if let Some(pause) = state.pause() {
            return Some(End::Stopped { reason: pause.reason.clone(), next: pause.next.clone() });
        }
        if self.order.steps.is_some_and(|most| self.steps_done >= most) {
            return Some(End::Steps { steps: self.steps_done });
        }
        if self.order.cycle && self.cycle_over {
            return Some(End::Steps { steps: self.steps_done });
        }
        if self.order.max_time.is_some_and(|most| self.workshop.elapsed().saturating_sub(self.begun) >= most) {
            return Some(End::Time { steps: self.steps_done });
        }
        let (budget, usage) = (self.budget(), state.usage());
        if budget.tokens.is_some_and(|most| usage.tokens() >= most) {
            return Some(End::Spent { what: "tokens", next: "raise `llm.budget.tokens` in tdd.yaml".to_owned() });
        }
        if budget.micro_usd.is_some_and(|most| usage.micro_usd >= most) {
            return Some(End::Spent { what: "dollars", next: "raise `llm.budget.usd` in tdd.yaml".to_owned() });
        }
        None
    }

    fn budget(&self) -> Budget {
        self.agents.values().next().map(Agent::budget).unwrap_or_default()
    }

    fn limits(&self) -> Limits<'_> {
        let (config, budget) = (self.workshop.config(), self.budget());
        let wanted = self.session().machine_state().step().is_some_and(|step| step.role == Role::Tester);
        Limits {
            kata: config.kata_description.as_str(),
            now_ms: self.workshop.now_ms(),
            max_attempts: config.max_attempts_per_agent.get(),
            max_new_tests: config.most_new_tests(),
            max_tokens: budget.tokens,
            max_micro_usd: budget.micro_usd,
            fence: self.mandate.fence.as_ref(),
            protected: &self.mandate.protected,
            wanted: self.mandate.target.as_ref().filter(|_| wanted).map(|fixed| (&fixed.test, fixed.file.as_str())),
        }
    }

    fn session(&self) -> &Session {
        self.workshop.session()
    }

    fn last_failure(&self) -> Option<String> {
        self.session().machine_state().last_failure().map(str::to_owned)
    }

    /// Appends events to the ledger and shows them to the reporter.
    fn record(&mut self, events: &[Event]) -> Fallible<(), B, A> {
        self.workshop.ledger().append(events).map_err(|error| MachineError::Work(error.into()))?;
        for event in events {
            let context = EventContext {
                session: self.workshop.session(),
                plan: self.log.as_ref().map_or("", StepLog::last_plan),
                answer: self.log.as_ref().and_then(StepLog::last_answer),
                message: self.log.as_ref().map_or("", StepLog::message),
            };
            self.reporter.event(event, &context);
        }
        Ok(())
    }
}

/// The starting point, or the end of the run.
enum StartOrEnd {
    Start(StartingPoint),
    End(End),
}

impl<B: StepWorkshop, A: Agent, R: Reporter> Orchestrator for Machine<B, A, R> {
    type Error = MachineError<B::Error, A::Error>;

    fn current_role(&mut self) -> Fallible<Role, B, A> {
        match self.find_starting_point()? {
            StartOrEnd::Start(start) => Ok(start.role),
            StartOrEnd::End(_) => Ok(Role::Tester),
        }
    }

    fn next(&mut self) -> Fallible<Option<End>, B, A> {
        self.attempt_next()
    }
}

fn workshop_error<W, A>(error: impl Into<W>) -> MachineError<W, A> {
    MachineError::Work(error.into())
}
