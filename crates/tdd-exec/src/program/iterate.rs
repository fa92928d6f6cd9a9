//! One iteration of a program, stage by stage; where it stands is found out anew, so that a kill costs nothing.

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

/// A program at work.
pub struct Worker<'a> {
    /// Where it works.
    pub desk: &'a ProgramContext,
    /// The program.
    pub found: &'a ProgramFiles,
    /// How it goes about its work.
    pub strategy: Strategy,
    /// What it remembers.
    pub memory: Memory<'a>,
    /// Leave untracked files alone instead of refusing to begin.
    pub allow_untracked: bool,
    /// Begin no attempt after this long.
    pub max_time: Option<Duration>,
    /// Called with the ledger each time it was opened.
    pub opened: &'a dyn Fn(&mut Recording),
}

/// How far an iteration went.
#[must_use]
pub enum Went {
    /// It is over, and the state knows this of it.
    Over(Box<Overview>),
    /// The machine is to work by this mandate; after that the iteration goes on.
    Work(Order, Box<Mandate>),
}

/// Where an iteration stands.
enum Stage {
    Idle,
    Working { rethink: bool },
    Ended,
    Judged(Box<IterationJudged>),
}

impl Worker<'_> {
    /// Where the program stands, and what is in its way.
    pub fn look(&self) -> Result<Look, ProgramError> {
        self.desk.look(self.found, &self.memory, self.allow_untracked)
    }

    /// Takes one iteration, a new one or the one under way, to its end or to where the machine has to work.
    pub fn iterate(&self) -> Result<Went, ProgramError> {
        loop {
            let mut recording = self.ledger()?;
            match self.stage(&mut recording)? {
                Stage::Idle => {
                    let (name, session) = (&self.found.name, recording.session());
                    if let Some(refusal) = self.desk.obstacle(name, session, self.allow_untracked)? {
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
                    return Ok(Went::Over(Box::new(overview)));
                }
            }
        }
    }

    fn ledger(&self) -> Result<Recording, ProgramError> {
        let state = StateDir::ensure(self.desk.repo.root())?;
        let mut recording = Recording::exclusive(&state)?;
        (self.opened)(&mut recording);
        Ok(recording)
    }

    fn stage(&self, recording: &mut Recording) -> Result<Stage, ProgramError> {
        let Some(iterating) = recording.session().standing().iteration().cloned() else { return Ok(Stage::Idle) };
        let IterationStart { program, id, head: base, rethink, .. } = iterating.start;
        if program != self.found.name {
            return Err(ProgramError::Other(program));
        }
        if let Some(judged) = iterating.judged {
            return Ok(Stage::Judged(Box::new(judged)));
        }
        let head = self.desk.repo.head()?.commit;
        let goes_on = match &head {
            Some(head) if self.desk.repo.has_commit(&base) => self.desk.repo.leads_to(&base, head)?,
            Some(_) | None => false,
        };
        if !goes_on {
            // Somebody is on another branch by now: what was begun here is not there.
            let outcome = Outcome::Error;
            recording.append(&[Event::IterationEnd(IterationEnd { program, id, outcome })])?;
            return Ok(Stage::Idle);
        }
        let paused = recording.session().standing().pause().is_some();
        Ok(if iterating.ended.is_some() || paused { Stage::Ended } else { Stage::Working { rethink } })
    }

    /// Measures what there is, if nobody has yet, and puts the beginning on the record.
    fn begin(&self, recording: &mut Recording) -> Result<(), ProgramError> {
        let head = self.desk.repo.head()?;
        let Some(head) = head.commit else { return Err(ProgramError::NoBranch) };
        let state = self.memory.load()?;
        if state.metric().best().is_none() {
            self.measure_base(&head)?;
        }
        let at_ms = WallClock.now_ms();
        let program = self.found.name.clone();
        // Two machines may begin in the same millisecond, on the same commit.
        let id = format!("{at_ms}-{}-{}", head.short(), std::process::id());
        let rethink = state.must_rethink();
        recording.append(&[Event::IterationStart(IterationStart { program, id, at_ms, head, rethink })])?;
        Ok(())
    }

    fn measure_base(&self, head: &CommitId) -> Result<(), ProgramError> {
        match (self.evaluator().measure(head)?, self.strategy) {
            (Ok(measured), _) if measured.failing == 0 => {
                let happened = Happened::Measured { at_ms: WallClock.now_ms(), metric: measured.metric };
                self.memory.tell(&[happened])?;
                Ok(())
            }
            // Where tests come first, there may be nothing to measure yet.
            (Ok(_) | Err(_), Strategy::TestDriven) => Ok(()),
            (Ok(measured), Strategy::Default) => {
                Err(ProgramError::Baseline(format!("{} tests are failing", measured.failing)))
            }
            (Err(why), Strategy::Default) => Err(ProgramError::Baseline(why)),
        }
    }

    /// What the machine is to do.
    fn work(&self, rethink: bool) -> Result<Went, ProgramError> {
        let state = self.memory.load()?;
        let mandate = brief::mandate(self.found, self.strategy, &state, rethink);
        let order = Order {
            steps: None,
            until_done: self.strategy == Strategy::TestDriven,
            max_time: self.max_time,
            allow_untracked: self.allow_untracked,
            cycle: true,
        };
        Ok(Went::Work(order, Box::new(mandate)))
    }

    /// Does what was decided, and gives what the state knows of it then; done twice it comes to the same.
    fn perform(&self, judged: &IterationJudged) -> Result<Overview, ProgramError> {
        let IterationJudged { iteration, against, pause, completed, .. } = judged;
        let decided = &iteration.overview;
        if decided.outcome == Outcome::Discarded {
            self.put_away(judged)?;
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
            self.memory.tell(&happened)?
        };
        let known = state.past(&decided.id).unwrap_or(decided).clone();
        // Another machine was faster: what was accepted here is not accepted there.
        if known.outcome == Outcome::Discarded && decided.outcome != Outcome::Discarded {
            self.put_away(judged)?;
        }
        Ok(known)
    }

    /// Takes the commits of an iteration from the branch.
    fn put_away(&self, judged: &IterationJudged) -> Result<(), ProgramError> {
        let IterationJudged { program, base, head, iteration, .. } = judged;
        for commit in self.desk.repo.lacking(head, base)? {
            if validate_step(&self.desk.repo.message(&commit)?).is_err() {
                return Err(ProgramError::PersonsCommit(commit.short().to_owned()));
            }
        }
        self.desk.repo.take_back(head, base, &format!("{program}/{}", iteration.overview.id))?;
        Ok(())
    }

    /// Looks whether the checks of a pending commit have concluded; `false` if they have not.
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
        self.memory.tell(&happened)?;
        Ok(true)
    }

    /// Measures commits for this program.
    pub(super) fn evaluator(&self) -> Evaluator<'_> {
        Evaluator { desk: self.desk, definition: &self.found.definition, strategy: self.strategy }
    }
}
