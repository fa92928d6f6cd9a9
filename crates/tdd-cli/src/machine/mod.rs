//! The machine: three roles round the cycle, each attempt through the same gates, from the history as it stands.

mod agenda;
mod ask;
mod attempt;
mod complaint;
mod done;
mod end;
mod hands;
mod keep;
mod log;
mod mandate;
mod stand;
mod start;
mod tell;
mod tools;
mod verify;
mod voice;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use tdd_agents::prompts::Prompts;
use tdd_core::cycle::{Role, Rung, Turn};
use tdd_core::digest::TreeId;
use tdd_core::event::{Blocked, Event, Paused, StepOutcome};
use tdd_core::gate::Limits;
use tdd_exec::runner::RunError;

pub use agenda::Agenda;
pub use end::End;
pub use mandate::{Fixed, Mandate};
pub use voice::{Voice, endpoint};

use crate::context::Context;
use crate::error::CliError;
use crate::trial::Trial;
use ask::Conversation;
use attempt::Outcome;
use log::StepLog;
use stand::Stand;

/// What the reason of a pause begins with when all attempts at a test are spent.
const STUCK: &str = "td-stuck";

/// What a run is asked to do.
#[derive(Clone, Copy, Debug)]
pub struct Order {
    /// Stop after so many steps.
    pub steps: Option<u32>,
    /// Stop when the tester finds the kata finished, whatever the configuration says about steps.
    pub until_done: bool,
    /// Begin no attempt after this long.
    pub max_time: Option<Duration>,
    /// Leave untracked files alone instead of refusing to start.
    pub allow_untracked: bool,
    /// Stop with the end of the cycle.
    pub cycle: bool,
}

/// A run under way.
pub struct Machine<'a> {
    context: &'a Context,
    trial: Trial<'a>,
    voice: Voice,
    prompts: Prompts,
    /// The kata's text; empty where the mandate has a brief of its own.
    kata: String,
    mandate: Mandate,
    agenda: Option<Agenda>,
    order: Order,
    begun: Instant,
    steps_done: u32,
    /// Those of the step under way: a role that is asked again goes on where it was.
    conversations: Vec<Conversation>,
    cycle_over: bool,
    log: Option<StepLog>,
    /// The tree of a commit of somebody else's whose check was seen to fail.
    check_fails: Option<TreeId>,
    /// Roles whose server takes no tools, whatever is configured.
    without_tools: BTreeSet<Role>,
    /// What was last complained of in the tests alone, as it was said.
    complaint: Option<String>,
}

/// Runs steps until there is a reason to stop.
pub fn run(context: &Context, order: Order, mandate: Mandate, voice: Voice) -> Result<End, CliError> {
    Machine::start(context, order, mandate, voice)?.run()
}

/// Carries out one mandate after the other, from wherever the history stands.
pub fn carry_out(context: &Context, order: Order, agenda: Agenda, voice: Voice) -> Result<End, CliError> {
    let first = agenda.tasks.first().cloned().unwrap_or_default();
    let mut machine = Machine::start(context, order, first, voice)?;
    machine.agenda = Some(agenda);
    machine.run()
}

impl Machine<'_> {
    fn run(mut self) -> Result<End, CliError> {
        let end = match self.work() {
            Err(CliError::Interrupted | CliError::Run(RunError::Interrupted)) => End::Interrupted,
            Err(error) => {
                // If this cannot be done now, the next start does it; what went wrong first is what matters.
                let _tidied = self.tidy();
                return Err(error);
            }
            Ok(end) => end,
        };
        self.finish(&end)?;
        Ok(end)
    }

    fn work(&mut self) -> Result<End, CliError> {
        loop {
            if let Some(end) = self.limit() {
                return Ok(end);
            }
            let mut stand = match self.stand()? {
                Ok(stand) => stand,
                Err(end) => return Ok(end),
            };
            if let Some(end) = self.take_up(&mut stand)? {
                return Ok(end);
            }
            if let Some(end) = self.rung(&stand)? {
                return Ok(end);
            }
        }
    }

    /// Climbs one rung of the ladder: an attempt, or the end of the step.
    fn rung(&mut self, stand: &Stand) -> Result<Option<End>, CliError> {
        let max = self.trial.loaded.config.max_attempts_per_agent.get();
        let standing = self.trial.session().standing();
        let rung = if let Some(mark) = self.task_mark() {
            Turn::task_rung(standing.spent(mark), max)
        } else {
            let tried = standing.tried(stand.role, &stand.reds);
            Turn::rung(stand.role, stand.reds.clone(), tried, max)
        };
        match rung {
            Rung::Turn(turn) => {
                self.begin_step(stand, &turn)?;
                match self.attempt(stand, &turn)? {
                    Outcome::Goes => Ok(None),
                    Outcome::Ends(end) => Ok(Some(end)),
                }
            }
            Rung::Skip => {
                self.end_step(stand, StepOutcome::Skipped)?;
                Ok(None)
            }
            Rung::Stop => self.stop(stand).map(Some),
        }
    }

    /// All attempts are spent: a person must look.
    fn stop(&mut self, stand: &Stand) -> Result<End, CliError> {
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
        let clashes = self.trial.session().standing().clashes(test.id()) > 0;
        let reason = if clashes { format!("older tests contradict it: {why}") } else { why };
        let older: Vec<String> =
            self.trial.session().standing().clashed_with(test.id()).map(|test| format!("`{test}`")).collect();
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

    /// Stops for a person, on the record; unless somebody else goes on, and nothing is blocked.
    fn pause(&mut self, stand: &Stand, reason: String, next: String) -> Result<End, CliError> {
        if !self.mandate.goes_on || reason.starts_with(STUCK) {
            self.record(&[Event::Paused(Paused { reason: reason.clone(), next: next.clone() })])?;
        }
        self.end_step(stand, StepOutcome::Stopped)?;
        Ok(End::Stopped { reason, next })
    }

    /// What keeps another attempt from being begun.
    fn limit(&self) -> Option<End> {
        let standing = self.trial.session().standing();
        if self.context.cancel.is_cancelled() {
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
        if self.order.max_time.is_some_and(|most| self.begun.elapsed() >= most) {
            return Some(End::Time { steps: self.steps_done });
        }
        self.voice.spent(&standing.usage())
    }

    fn limits(&self) -> Limits<'_> {
        let config = &self.trial.loaded.config;
        let budget = self.voice.budget();
        Limits {
            kata: config.kata_description.as_str(),
            now_ms: hands::now_ms(),
            max_attempts: config.max_attempts_per_agent.get(),
            max_new_tests: config.most_new_tests(),
            max_tokens: budget.tokens,
            max_micro_usd: budget.micro_usd,
            fence: self.mandate.fence.as_ref(),
        }
    }
}
