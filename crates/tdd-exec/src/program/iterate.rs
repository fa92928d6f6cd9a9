//! Runs one iteration of a program, stage by stage. The stage follows from the ledger and HEAD, so a kill
//! loses nothing.

use std::time::Duration;

use tdd_core::commit::validate_step;
use tdd_core::digest::CommitId;
use tdd_core::event::{Event, IterationEnd, IterationJudged, IterationStart};
use tdd_core::machine::{Mandate, Order};
use tdd_core::program::decision::Checks;
use tdd_core::program::definition::Strategy;
use tdd_core::program::iteration::{Outcome, Overview};
use tdd_core::program::state::{Happened, State, Who};
use tdd_core::seam::{Clock, Ledger};

use super::ProgramContext;
use super::brief;
use super::error::ProgramError;
use super::evaluate::Evaluator;
use super::found::ProgramFiles;
use super::look::Look;
use super::memory::Memory;
use crate::clock::WallClock;
use crate::recording::Recording;
use crate::state::StateDir;

/// Runs a program's iterations.
pub struct Worker<'a> {
    /// The repository and its configuration.
    pub context: &'a ProgramContext,
    /// The program.
    pub found: &'a ProgramFiles,
    /// The program's strategy.
    pub strategy: Strategy,
    /// The program's memory.
    pub memory: Memory<'a>,
    /// Accept untracked files instead of refusing to begin.
    pub allow_untracked: bool,
    /// Begin no attempt after this time.
    pub max_time: Option<Duration>,
    /// Called with the ledger each time it is opened.
    pub opened: &'a dyn Fn(&mut Recording),
}

/// How far an iteration got.
#[must_use]
pub enum Progress {
    /// It ended; the overview is what the state recorded.
    Over(Box<Overview>),
    /// The machine must work on this mandate; then the iteration continues.
    Work(Order, Box<Mandate>),
}

enum Stage {
    Idle,
    Working { rethink: bool },
    Ended,
    Judged(Box<IterationJudged>),
}

impl Worker<'_> {
    /// The program's state, and what keeps it from running.
    pub fn look(&self) -> Result<Look, ProgramError> {
        self.context.look(self.found, &self.memory, self.allow_untracked)
    }

    /// Advances an iteration, new or under way, to its end or to the point where the machine must work.
    pub fn iterate(&self) -> Result<Progress, ProgramError> {
        loop {
            let mut recording = self.ledger()?;
            match self.stage(&mut recording)? {
                Stage::Idle => {
                    let (name, session) = (&self.found.name, recording.session());
                    if let Some(refusal) = self.context.obstacle(name, session, self.allow_untracked)? {
                        return Err(refusal);
                    }
                    self.begin(&mut recording)?;
                }
                Stage::Working { rethink } => return self.work(rethink),
                Stage::Ended => self.judge(&mut recording)?,
                Stage::Judged(judged) => {
                    let overview = self.perform(&judged)?;
                    let (id, outcome) = (overview.id.clone(), overview.outcome);
                    let program = judged.program;
                    recording.append(&[Event::IterationEnd(IterationEnd { program, id, outcome })])?;
                    return Ok(Progress::Over(Box::new(overview)));
                }
            }
        }
    }

    fn ledger(&self) -> Result<Recording, ProgramError> {
        let state = StateDir::ensure(self.context.repo.root())?;
        let mut recording = Recording::exclusive(&state)?;
        (self.opened)(&mut recording);
        Ok(recording)
    }

    fn stage(&self, recording: &mut Recording) -> Result<Stage, ProgramError> {
        let Some(iterating) = recording.session().machine_state().iteration().cloned() else { return Ok(Stage::Idle) };
        let IterationStart { program, id, head: base, rethink, .. } = iterating.start;
        if program != self.found.name {
            return Err(ProgramError::Other(program));
        }
        if let Some(judged) = iterating.judged {
            return Ok(Stage::Judged(Box::new(judged)));
        }
        let head = self.context.repo.head()?.commit;
        let goes_on = match &head {
            Some(head) if self.context.repo.has_commit(&base) => self.context.repo.leads_to(&base, head)?,
            Some(_) | None => false,
        };
        if !goes_on {
            // HEAD is on another branch, which lacks the iteration's base.
            let outcome = Outcome::Error;
            recording.append(&[Event::IterationEnd(IterationEnd { program, id, outcome })])?;
            return Ok(Stage::Idle);
        }
        let paused = recording.session().machine_state().pause().is_some();
        Ok(if iterating.ended.is_some() || paused { Stage::Ended } else { Stage::Working { rethink } })
    }

    /// Takes the first measurement if there is none, and records the iteration's start.
    fn begin(&self, recording: &mut Recording) -> Result<(), ProgramError> {
        let head = self.context.repo.head()?;
        let Some(head) = head.commit else { return Err(ProgramError::NoBranch) };
        let state = self.memory.load()?;
        if state.metric().best().is_none() {
            self.measure_base(&head)?;
        }
        let at_ms = WallClock.now_ms();
        let program = self.found.name.clone();
        // The process id is needed because two machines may begin in the same millisecond on the same commit.
        let id = format!("{at_ms}-{}-{}", head.short(), std::process::id());
        let rethink = state.must_rethink();
        recording.append(&[Event::IterationStart(IterationStart { program, id, at_ms, head, rethink })])?;
        Ok(())
    }

    fn measure_base(&self, head: &CommitId) -> Result<(), ProgramError> {
        match (self.evaluator().measure(head)?, self.strategy) {
            (Ok(measured), _) if measured.failing == 0 => {
                let happened = Happened::Measured { at_ms: WallClock.now_ms(), metric: measured.metric };
                self.memory.record(&[happened])?;
                Ok(())
            }
            // In a test-driven program there may be nothing to measure yet.
            (Ok(_) | Err(_), Strategy::TestDriven) => Ok(()),
            (Ok(measured), Strategy::Default) => {
                Err(ProgramError::Baseline(format!("{} tests are failing", measured.failing)))
            }
            (Err(why), Strategy::Default) => Err(ProgramError::Baseline(why)),
        }
    }

    /// The order and mandate for the machine.
    fn work(&self, rethink: bool) -> Result<Progress, ProgramError> {
        let state = self.memory.load()?;
        let mandate = brief::mandate(self.found, self.strategy, &state, rethink);
        let order = Order {
            steps: None,
            until_done: self.strategy == Strategy::TestDriven,
            max_time: self.max_time,
            allow_untracked: self.allow_untracked,
            cycle: true,
        };
        Ok(Progress::Work(order, Box::new(mandate)))
    }

    /// Carries out the decision and returns the overview that the state recorded. Safe to repeat.
    fn perform(&self, judged: &IterationJudged) -> Result<Overview, ProgramError> {
        let IterationJudged { iteration, against, pause, completed, .. } = judged;
        let decided = &iteration.overview;
        if decided.outcome == Outcome::Discarded {
            self.discard_commits(judged)?;
        }
        let at_ms = WallClock.now_ms();
        let mut happened = vec![Happened::Iterated { iteration: iteration.clone(), against: *against }];
        if let Some(reason) = completed {
            happened.push(Happened::Completed { at_ms, reason: reason.clone() });
        }
        if let Some(reason) = pause {
            happened.push(Happened::Paused { at_ms, by: Who::Machine, reason: reason.clone() });
        }
        let state = if self.memory.load()?.knows(&decided.id) {
            self.memory.push()?;
            self.memory.load()?
        } else {
            self.memory.record(&happened)?
        };
        let known = state.past(&decided.id).unwrap_or(decided).clone();
        // Another machine was faster, and the state discarded what we accepted.
        if known.outcome == Outcome::Discarded && decided.outcome != Outcome::Discarded {
            self.discard_commits(judged)?;
        }
        Ok(known)
    }

    /// Takes an iteration's commits off the branch.
    fn discard_commits(&self, judged: &IterationJudged) -> Result<(), ProgramError> {
        let IterationJudged { program, base, head, iteration, .. } = judged;
        for commit in self.context.repo.lacking(head, base)? {
            if validate_step(&self.context.repo.message(&commit)?).is_err() {
                return Err(ProgramError::PersonsCommit(commit.short().to_owned()));
            }
        }
        self.context.repo.take_back(head, base, &format!("{program}/{}", iteration.overview.id))?;
        Ok(())
    }

    /// Checks whether the CI checks of a pending commit have concluded; `false` if not.
    pub fn settle(&self, state: &State) -> Result<bool, ProgramError> {
        let Some(pending) = state.pending() else { return Ok(true) };
        let at_ms = WallClock.now_ms();
        let passed = match self.evaluator().checks(&pending.commit)? {
            Checks::Pending => return Ok(false),
            Checks::None | Checks::Passed => true,
            Checks::Failed => false,
        };
        let mut happened = vec![Happened::Settled { at_ms, id: pending.id.clone(), passed }];
        if passed && let Some(reason) = pending.metric.and_then(|metric| self.reached(metric)) {
            happened.push(Happened::Completed { at_ms, reason });
        }
        if !passed {
            let reason = format!("ci-failed: {}", pending.commit.short());
            happened.push(Happened::Paused { at_ms, by: Who::Machine, reason });
        }
        self.memory.record(&happened)?;
        Ok(true)
    }

    pub(super) fn evaluator(&self) -> Evaluator<'_> {
        Evaluator { context: self.context, definition: &self.found.definition, strategy: self.strategy }
    }
}
