//! The orchestrator: rotates three roles through the cycle and sends each attempt through the gate and the pipeline.
//!
//! It is generic over its seams: the command line runs it with a real project and real models, the property tests with
//! an in-memory project and an adversary. Read a step in this order: `Machine::work` here, `stand.rs` (starting point),
//! `attempt.rs` (ask, gate, write), the [pipeline](crate::pipeline) (judge), `keep.rs` (commit).

mod agenda;
mod attempt;
mod desk;
mod done;
mod end;
mod keep;
mod log;
mod mandate;
mod stand;
mod start;

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use crate::cycle::{NextMove, Role, Turn};
use crate::digest::TreeId;
use crate::event::{Blocked, Event, Paused, StepOutcome};
use crate::gate::Limits;
use crate::seam::{Agent, Budget, EventContext, Ledger as _, Orchestrator, Reporter, StepWorkshop};
use crate::session::Session;

pub use agenda::Agenda;
pub use end::End;
pub use log::StepLog;
pub use mandate::{Fixed, Mandate};
pub use start::Start;

use attempt::Outcome;
use stand::StartingPoint;

/// Prefix of the pause reason when all attempts at a test are used up.
pub const STUCK: &str = "td-stuck";

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
    #[error("`{path}` has changes that are not committed")]
    Modified {
        /// The first changed file.
        path: String,
        /// How many other files have changed.
        more: usize,
    },
    /// There are untracked files.
    #[error("`{path}` is not known to git")]
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
    pub bench: B,
    agents: BTreeMap<Role, A>,
    reporter: R,
    /// The kata's text; empty if the mandate has its own brief.
    kata: String,
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
            Err(_) if self.bench.is_cancelled() => End::Interrupted,
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
        let mut stand = match self.stand()? {
            StartOrEnd::Start(stand) => stand,
            StartOrEnd::End(end) => return Ok(Some(end)),
        };
        if let Some(end) = self.take_up(&mut stand)? {
            return Ok(Some(end));
        }
        self.rung(&stand)
    }

    /// Makes the attempt that is due, skips a refactor, or stops the run when all attempts are used up.
    fn rung(&mut self, stand: &StartingPoint) -> Fallible<Option<End>, B, A> {
        let max = self.bench.config().max_attempts_per_agent.get();
        let standing = self.session().standing();
        let rung = if let Some(mark) = self.task_mark() {
            Turn::task_rung(standing.spent(mark), max)
        } else {
            let tried = standing.tried(stand.role, &stand.reds);
            Turn::rung(stand.role, stand.reds.clone(), tried, max)
        };
        match rung {
            NextMove::Turn(turn) => {
                self.begin_step(stand, &turn)?;
                let outcome = self.attempt(stand, &turn);
                let saved = self.save_log();
                match outcome? {
                    Outcome::Goes => saved.map(|()| None),
                    Outcome::Ends(end) => saved.map(|()| Some(end)),
                }
            }
            NextMove::Skip => {
                self.end_step(stand, StepOutcome::Skipped)?;
                Ok(None)
            }
            NextMove::Stop => self.stop(stand).map(Some),
        }
    }

    /// Pauses the run because all attempts are used up; the target of an implementor is blocked.
    fn stop(&mut self, stand: &StartingPoint) -> Fallible<End, B, A> {
        let why = self.last_failure().unwrap_or_else(|| "all attempts failed".to_owned());
        let Some(test) = stand.reds.first().filter(|_| stand.role == Role::Implementor) else {
            let (who, next) = match self.task_mark() {
                Some(mark) => {
                    (mark.to_owned(), "say more in the plan, or do it yourself and put its mark into the commit's body")
                }
                None => (format!("the {}", stand.role), "say more in the kata, or try another model"),
            };
            let next = format!("{next}, then `tdd-cli resume`");
            return self.pause(stand, format!("{who} used up its attempts: {why}"), next);
        };
        let standing = self.session().standing();
        let clashes = standing.clashes(test.id()) > 0;
        let reason = if clashes { format!("older tests contradict it: {why}") } else { why };
        let older: Vec<String> = standing.clashed_with(test.id()).map(|test| format!("`{test}`")).collect();
        self.record(&[Event::Blocked(Blocked { test_id: test.id().clone(), reason })])?;
        let next = "`tdd-cli resume` tries again, `tdd-cli resume --skip` leaves it aside; \
                    `tdd-cli log --type reverted` shows what was tried";
        let next = if older.is_empty() {
            next.to_owned()
        } else {
            let retire = "`tdd-cli retire TEST --reason …` removes what holds no more";
            format!("it contradicts {}: say in the kata what holds; {retire}; {next}", older.join(", "))
        };
        let reason = format!("{STUCK}: {}", test.id());
        self.pause(stand, reason, next)
    }

    /// Ends the step and stops the run. Records a pause, unless the mandate continues by itself and no test is stuck.
    fn pause(&mut self, stand: &StartingPoint, reason: String, next: String) -> Fallible<End, B, A> {
        if !self.mandate.goes_on || reason.starts_with(STUCK) {
            self.record(&[Event::Paused(Paused { reason: reason.clone(), next: next.clone() })])?;
        }
        self.end_step(stand, StepOutcome::Stopped)?;
        Ok(End::Stopped { reason, next })
    }

    /// The reason not to begin another attempt, if there is one.
    fn limit(&self) -> Option<End> {
        let standing = self.session().standing();
        if self.bench.is_cancelled() {
            return Some(End::Interrupted);
        }
        if let Some(pause) = standing.pause() {
            return Some(End::Stopped { reason: pause.reason.clone(), next: pause.next.clone() });
        }
        if self.order.steps.is_some_and(|most| self.steps_done >= most) {
            return Some(End::Steps { steps: self.steps_done });
        }
        if self.order.cycle && self.cycle_over {
            return Some(End::Steps { steps: self.steps_done });
        }
        if self.order.max_time.is_some_and(|most| self.bench.elapsed().saturating_sub(self.begun) >= most) {
            return Some(End::Time { steps: self.steps_done });
        }
        let (budget, usage) = (self.budget(), standing.usage());
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
        let (config, budget) = (self.bench.config(), self.budget());
        let wanted = self.session().standing().step().is_some_and(|step| step.role == Role::Tester);
        Limits {
            kata: config.kata_description.as_str(),
            now_ms: self.bench.now_ms(),
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
        self.bench.session()
    }

    fn last_failure(&self) -> Option<String> {
        self.session().standing().last_failure().map(str::to_owned)
    }

    /// Appends events to the ledger and shows them to the reporter.
    fn record(&mut self, events: &[Event]) -> Fallible<(), B, A> {
        self.bench.ledger().append(events).map_err(|error| MachineError::Work(error.into()))?;
        for event in events {
            let told = EventContext {
                session: self.bench.session(),
                plan: self.log.as_ref().map_or("", StepLog::last_plan),
                said: self.log.as_ref().and_then(StepLog::said),
                message: self.log.as_ref().map_or("", StepLog::message),
            };
            self.reporter.event(event, &told);
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
        match self.stand()? {
            StartOrEnd::Start(stand) => Ok(stand.role),
            StartOrEnd::End(_) => Ok(Role::Tester),
        }
    }

    fn next(&mut self) -> Fallible<Option<End>, B, A> {
        self.attempt_next()
    }
}

fn work<W, A>(error: impl Into<W>) -> MachineError<W, A> {
    MachineError::Work(error.into())
}
