//! One iteration of a program, stage by stage; where it stands is found out anew, so that a kill costs nothing.

use tdd_core::commit::validate_step;
use tdd_core::digest::CommitId;
use tdd_core::event::{Event, IterationEnd, IterationJudged, IterationStart, StepOutcome};
use tdd_core::program::decision::{Checks, Decision, Seen, decide};
use tdd_core::program::definition::Strategy;
use tdd_core::program::facts::{self, Facts};
use tdd_core::program::iteration::{Iteration, Outcome};
use tdd_core::program::state::{ERRORS_TO_RETHINK, Happened, State, Who};
use tdd_core::seam::Clock;
use tdd_core::standing::Iterating;
use tdd_exec::clock::WallClock;
use tdd_exec::remote::{Pushed, Remote};
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

/// What is known of an iteration when its work is over.
struct Judgement {
    outcome: Outcome,
    metric: Option<f64>,
    /// Why, where it is not simply what was done.
    why: Option<String>,
    pause: Option<String>,
    completed: Option<String>,
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

    fn judge(&self, recording: &mut Recording) -> Result<(), CliError> {
        let session = recording.session();
        let Some(iterating) = session.standing().iteration() else { return Ok(()) };
        let base = iterating.start.head.clone();
        let head = self.desk.repo.head()?.commit.unwrap_or_else(|| base.clone());
        let commits = self.desk.repo.lacking(&head, &base)?;
        let messages = commits.iter().map(|commit| self.desk.repo.message(commit)).collect::<Result<Vec<_>, _>>()?;
        let facts = facts::gather(&messages, iterating, session);
        let state = self.memory.load()?;
        let judgement = match iterating.ended {
            Some(StepOutcome::Stopped) | None => stopped(iterating, &facts, &state, session.standing().last_failure()),
            Some(StepOutcome::Done) => self.done(&state),
            Some(StepOutcome::Kept | StepOutcome::Nothing | StepOutcome::Skipped) if head == base => {
                nothing(self.strategy, &state)
            }
            Some(StepOutcome::Kept | StepOutcome::Nothing | StepOutcome::Skipped) => {
                self.evaluated(&base, &head, &state)?
            }
        };
        let paused = session.standing().pause().map(|pause| pause.reason.clone());
        let judged = self.judged(iterating, facts, judgement, paused, (base, head));
        recording.append(&[Event::IterationJudged(judged)])?;
        Ok(())
    }

    fn judged(
        &self,
        iterating: &Iterating,
        facts: Facts,
        judgement: Judgement,
        paused: Option<String>,
        (base, head): (CommitId, CommitId),
    ) -> IterationJudged {
        let discarded = judgement.outcome == Outcome::Discarded;
        let new_tests = u32::try_from(facts.new.len()).unwrap_or(u32::MAX);
        let said = |text: String| judgement.why.iter().cloned().chain([text]).filter(|text| !text.is_empty());
        let mut gone = facts.gone;
        let mut tests = facts.tests;
        if discarded {
            tests.retain(|seen| !facts.new.contains(&seen.test));
            gone.extend(facts.new);
        }
        let iteration = Iteration {
            id: iterating.start.id.clone(),
            at_ms: iterating.start.at_ms,
            outcome: judgement.outcome,
            phase: if iterating.start.rethink && new_tests == 0 {
                tdd_core::cycle::Phase::RethinkTest
            } else {
                facts.phase
            },
            target: facts.target,
            new_tests,
            existing_tests_status: facts.existing,
            metric: judgement.metric,
            commit: (head != base).then(|| head.clone()),
            summary: said(facts.summary).collect::<Vec<_>>().join("; "),
            tests,
            gone,
            lessons: facts.lessons,
        };
        IterationJudged {
            program: self.found.name.clone(),
            base,
            head,
            iteration: Box::new(iteration),
            pause: judgement.pause.or(paused),
            completed: judgement.completed,
        }
    }

    /// What the evaluation makes of the commits, and, where it is content, what their checks say.
    fn evaluated(&self, base: &CommitId, head: &CommitId, state: &State) -> Result<Judgement, CliError> {
        let seen = Seen { outside: self.outside(base, head)?, ..self.evaluator().look(head, state.metric())? };
        let decision = match decide(self.strategy, state.metric(), &seen) {
            Decision::Accept { .. } if self.found.definition.ci.is_some() => {
                self.push_branch(head)?;
                let checks = self.evaluator().checks(head)?;
                decide(self.strategy, state.metric(), &Seen { checks, ..seen })
            }
            other => other,
        };
        Ok(match decision {
            Decision::Accept { metric } => {
                let metric = metric.value();
                let completed = self.reached(metric);
                Judgement { completed, ..Judgement::of(Outcome::Accepted, Some(metric), None) }
            }
            Decision::Pending { metric } => Judgement::of(Outcome::Pending, Some(metric.value()), None),
            Decision::Discard { metric, reason } => Judgement::of(Outcome::Discarded, metric, Some(reason)),
            Decision::Stop { metric } => {
                let pause = Some(format!("ci-failed: {}", head.short()));
                let why = Some("the checks of its commit failed".to_owned());
                Judgement { pause, ..Judgement::of(Outcome::Error, Some(metric.value()), why) }
            }
        })
    }

    /// A file that was changed outside of the fence; lock files are the machine's.
    fn outside(&self, base: &CommitId, head: &CommitId) -> Result<Option<String>, CliError> {
        let repo = &self.desk.repo;
        let bench = crate::project::Workbench::open(&self.desk.context.global)?;
        let locks = bench.language.scratch(&bench.project, "").files;
        let changes = repo.diff_trees(&repo.commit_tree(Some(base))?, &repo.commit_tree(Some(head))?)?;
        let mut paths = changes.into_iter().map(|change| change.path.to_string());
        Ok(paths.find(|path| !self.found.definition.fence.holds(path) && !locks.contains(path)))
    }

    fn reached(&self, metric: f64) -> Option<String> {
        let target = self.found.definition.target_metric?;
        let reached = self.found.definition.direction.reaches(metric, target);
        reached.then(|| format!("the target {target} is reached with {metric}"))
    }

    /// The tester finds the goal reached. A program with a target metric believes the metric.
    fn done(&self, state: &State) -> Judgement {
        let done = Judgement::of(Outcome::Accepted, None, Some("the tester finds the goal reached".to_owned()));
        match (self.found.definition.target_metric, state.metric().best()) {
            (Some(target), best) if best.and_then(|best| self.reached(best)).is_none() => {
                let best = best.map_or_else(|| "not known".to_owned(), |best| best.to_string());
                let pause =
                    format!("td-done: the tester finds nothing left to do, and the metric is {best}, not {target}");
                Judgement { pause: Some(pause), ..done }
            }
            (Some(_) | None, _) => {
                Judgement { completed: Some("the goal is reached, requirement by requirement".to_owned()), ..done }
            }
        }
    }

    fn push_branch(&self, head: &CommitId) -> Result<(), CliError> {
        let Some(name) = self.memory.remote.clone() else { return Ok(()) };
        let Some(branch) = self.desk.repo.head()?.branch else { return Err(ProgramError::NoBranch.into()) };
        let spawner = self.desk.spawner();
        let remote = Remote { repo: &self.desk.repo, spawner: &spawner, name: &name };
        match remote.push(head, &branch).map_err(ProgramError::from)? {
            Pushed::Done => Ok(()),
            Pushed::Rejected => Err(ProgramError::BranchBehind { branch, remote: name }.into()),
        }
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
            self.desk.repo.take_back(head, base, &format!("{program}/{}", iteration.id), &self.desk.signature())?;
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

    fn evaluator(&self) -> Evaluator<'_> {
        Evaluator { desk: self.desk, definition: &self.found.definition, strategy: self.strategy }
    }
}

impl Judgement {
    fn of(outcome: Outcome, metric: Option<f64>, why: Option<String>) -> Self {
        Self { outcome, metric, why, pause: None, completed: None }
    }
}

/// The work stopped: a test is blocked, or nothing came of it.
fn stopped(iterating: &Iterating, facts: &Facts, state: &State, failure: Option<&str>) -> Judgement {
    let why = failure.map(str::to_owned);
    if let Some(test) = iterating.blocked.keys().next() {
        let pause = Some(format!("td-stuck: {test}"));
        return Judgement { pause, ..Judgement::of(Outcome::Blocked, None, why) };
    }
    let error = Judgement::of(Outcome::Error, None, why);
    if facts.new.is_empty() { Judgement { pause: after_rethink(state), ..error } } else { error }
}

/// Nothing was committed: where tests come first that is an answer, elsewhere it is none.
fn nothing(strategy: Strategy, state: &State) -> Judgement {
    match strategy {
        Strategy::TestDriven => Judgement::of(Outcome::Accepted, None, None),
        Strategy::Default => {
            let why = Some("no change was proposed that held".to_owned());
            Judgement { pause: after_rethink(state), ..Judgement::of(Outcome::Error, None, why) }
        }
    }
}

/// An error although a rethink was forced: going on would only cost money.
fn after_rethink(state: &State) -> Option<String> {
    let errors = state.consecutive_errors() + 1;
    (errors > ERRORS_TO_RETHINK).then(|| format!("td-error: {errors} iterations in a row came to nothing"))
}
