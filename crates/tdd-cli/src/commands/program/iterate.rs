//! One iteration of a program, stage by stage; where it stands is found out anew, so that a kill costs nothing.

use tdd_core::commit::validate_step;
use tdd_core::digest::CommitId;
use tdd_core::event::{Event, IterationEnd, IterationJudged, IterationStart};
use tdd_core::program::decision::Checks;
use tdd_core::program::definition::Strategy;
use tdd_core::program::iteration::{Iteration, Outcome};
use tdd_core::program::state::{Happened, State, Who};
use tdd_core::seam::Clock;
use tdd_exec::clock::WallClock;
use tdd_exec::state::StateDir;

use super::Desk;
use super::brief;
use super::error::ProgramError;
use super::evaluate::Evaluator;
use super::found::Found;
use super::memory::Memory;
use crate::commands::run::{Options, voice};
use crate::error::CliError;
use crate::machine::{self, End, Order};
use crate::recording::Recording;

/// A program at work.
pub struct Worker<'a> {
    pub desk: &'a Desk<'a>,
    pub found: &'a Found,
    pub strategy: Strategy,
    pub memory: Memory<'a>,
    pub options: &'a Options,
    pub max_time: Option<std::time::Duration>,
}

/// How an iteration went.
pub enum Went {
    /// It is over.
    Over(Box<Iteration>),
    /// It is under way still, and the next run goes on with it.
    Left(End),
}

/// Where an iteration stands.
enum Stage {
    Idle,
    Working { rethink: bool },
    Ended,
    Judged(Box<IterationJudged>),
}

impl Worker<'_> {
    /// Brings one iteration to its end, a new one or the one under way.
    pub fn iterate(&self) -> Result<Went, CliError> {
        loop {
            let mut recording = self.ledger()?;
            match self.stage(&mut recording)? {
                Stage::Idle => {
                    if let Some(pause) = recording.session().standing().pause() {
                        let (reason, next) = (pause.reason.clone(), pause.next.clone());
                        return Ok(Went::Left(End::Stopped { reason, next }));
                    }
                    self.begin(&mut recording)?;
                }
                Stage::Working { rethink } => {
                    drop(recording);
                    if let Some(end) = self.work(rethink)? {
                        return Ok(Went::Left(end));
                    }
                }
                Stage::Ended => self.judge(&mut recording)?,
                Stage::Judged(judged) => {
                    self.perform(&judged)?;
                    let IterationJudged { program, iteration, .. } = *judged;
                    let (id, outcome) = (iteration.id.clone(), iteration.outcome);
                    recording.append(&[Event::IterationEnd(IterationEnd { program, id, outcome })])?;
                    return Ok(Went::Over(iteration));
                }
            }
        }
    }

    fn ledger(&self) -> Result<Recording, CliError> {
        let state = StateDir::ensure(self.desk.repo.root())?;
        let mut recording = Recording::exclusive(&state, self.desk.context.output)?;
        recording.echo = self.desk.context.output.is_json();
        Ok(recording)
    }

    fn stage(&self, recording: &mut Recording) -> Result<Stage, CliError> {
        let Some(iterating) = recording.session().standing().iteration().cloned() else { return Ok(Stage::Idle) };
        let IterationStart { program, id, head: base, rethink, .. } = iterating.start;
        if program != self.found.name {
            return Err(ProgramError::Other(program).into());
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
    fn begin(&self, recording: &mut Recording) -> Result<(), CliError> {
        self.refuse_unclean(recording)?;
        let head = self.desk.repo.head()?;
        let (Some(head), Some(_)) = (head.commit, head.branch) else { return Err(ProgramError::NoBranch.into()) };
        let state = self.memory.load()?;
        if state.metric().best().is_none() {
            self.measure_base(&head)?;
        }
        let at_ms = WallClock.now_ms();
        let (program, id) = (self.found.name.clone(), format!("{at_ms}-{}", head.short()));
        let rethink = state.must_rethink();
        recording.append(&[Event::IterationStart(IterationStart { program, id, at_ms, head, rethink })])?;
        Ok(())
    }

    fn measure_base(&self, head: &CommitId) -> Result<(), CliError> {
        match (self.evaluator().measure(head)?, self.strategy) {
            (Ok(measured), _) if measured.failing == 0 => {
                let happened = Happened::Measured { at_ms: WallClock.now_ms(), metric: measured.metric };
                self.memory.tell(&[happened])?;
                Ok(())
            }
            // Where tests come first, there may be nothing to measure yet.
            (Ok(_) | Err(_), Strategy::TestDriven) => Ok(()),
            (Ok(measured), Strategy::Default) => {
                Err(ProgramError::Baseline(format!("{} tests are failing", measured.failing)).into())
            }
            (Err(why), Strategy::Default) => Err(ProgramError::Baseline(why).into()),
        }
    }

    /// A person's uncommitted work is not ours to touch; the machine's own, cut short, it puts right by itself.
    fn refuse_unclean(&self, recording: &Recording) -> Result<(), CliError> {
        if recording.session().standing().step().is_some_and(|step| step.open.is_some()) {
            return Ok(());
        }
        let dirty = self.desk.repo.dirty()?;
        if let Some(path) = dirty.modified_tracked.first() {
            return Err(CliError::Modified { path: path.to_string(), more: dirty.modified_tracked.len() - 1 });
        }
        match dirty.untracked.first() {
            Some(path) if !self.options.allow_untracked => {
                Err(CliError::Untracked { path: path.to_string(), more: dirty.untracked.len() - 1 })
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Lets the machine work; an end if the iteration is not over by it.
    fn work(&self, rethink: bool) -> Result<Option<End>, CliError> {
        let state = self.memory.load()?;
        let mandate = brief::mandate(self.found, self.strategy, &state, rethink);
        let order = Order {
            steps: None,
            until_done: self.strategy == Strategy::TestDriven,
            max_time: self.max_time,
            allow_untracked: self.options.allow_untracked,
            cycle: true,
        };
        let voice = voice(self.options, &self.desk.config, self.desk.context)?;
        let end = machine::run(self.desk.context, order, mandate, voice)?;
        Ok(match end {
            End::Steps { .. } | End::Done { .. } | End::Stopped { .. } => None,
            // Only a plan comes to these.
            End::Fulfilled { .. } | End::Lacking { .. } => None,
            End::Time { .. } | End::Spent { .. } | End::Interrupted => Some(end),
        })
    }

    /// Does what was decided; done twice it comes to the same.
    fn perform(&self, judged: &IterationJudged) -> Result<(), CliError> {
        let IterationJudged { program, base, head, iteration, pause, completed } = judged;
        if iteration.outcome == Outcome::Discarded {
            for commit in self.desk.repo.lacking(head, base)? {
                if validate_step(&self.desk.repo.message(&commit)?).is_err() {
                    return Err(ProgramError::PersonsCommit(commit.short().to_owned()).into());
                }
            }
            self.desk.repo.take_back(head, base, &format!("{program}/{}", iteration.id))?;
        }
        let at_ms = WallClock.now_ms();
        let mut happened = vec![Happened::Iterated { iteration: iteration.clone() }];
        if let Some(reason) = completed {
            happened.push(Happened::Completed { at_ms, reason: reason.clone() });
        }
        if let Some(reason) = pause {
            happened.push(Happened::Paused { at_ms, by: Who::Machine, reason: reason.clone() });
        }
        if self.memory.load()?.knows(&iteration.id) {
            self.memory.push()
        } else {
            self.memory.tell(&happened).map(drop)
        }
    }

    /// Looks whether the checks of a pending commit have concluded; `false` if they have not.
    pub fn settle(&self, state: &State) -> Result<bool, CliError> {
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
    pub fn evaluator(&self) -> Evaluator<'_> {
        Evaluator { desk: self.desk, definition: &self.found.definition, strategy: self.strategy }
    }
}
