//! Judges an iteration after its work: gathers facts, evaluates the commits, decides, and records the decision.

use tdd_core::cycle::Phase;
use tdd_core::digest::CommitId;
use tdd_core::event::{Event, IterationJudged, StepOutcome};
use tdd_core::machine_state::Iterating;
use tdd_core::program::decision::{Decision, IterationFacts, decide};
use tdd_core::program::definition::Strategy;
use tdd_core::program::facts::{self, Facts};
use tdd_core::program::iteration::{Iteration, Outcome, Overview};
use tdd_core::program::metric::Ratchet;
use tdd_core::program::state::{ERRORS_TO_RETHINK, State};
use tdd_core::seam::Ledger;

use super::error::ProgramError;
use super::iterate::Worker;
use crate::project::Workbench;
use crate::recording::Recording;
use crate::remote::{Pushed, Remote};

/// The decision about an iteration.
struct Judgement {
    outcome: Outcome,
    metric: Option<f64>,
    /// A reason to put before the summary of what was done.
    why: Option<String>,
    pause: Option<String>,
    completed: Option<String>,
}

impl Worker<'_> {
    /// Decides about an iteration whose work has ended, and records the decision.
    pub(super) fn judge(&self, recording: &mut Recording) -> Result<(), ProgramError> {
        let session = recording.session();
        let Some(iterating) = session.machine_state().iteration() else { return Ok(()) };
        let base = iterating.start.head.clone();
        let head = self.context.repo.head()?.commit.unwrap_or_else(|| base.clone());
        let commits = self.context.repo.lacking(&head, &base)?;
        let messages = commits.iter().map(|commit| self.context.repo.message(commit)).collect::<Result<Vec<_>, _>>()?;
        let state = self.memory.load()?;
        let facts = facts::gather(&messages, iterating, session, state.harness());
        let paused = session.machine_state().pause().map(|pause| pause.reason.clone());
        let judgement = match iterating.ended {
            Some(StepOutcome::Stopped) | None => {
                // A pause that is not about a test states its own reason.
                let pause_reason = paused.as_deref().filter(|_| iterating.blocked.is_empty());
                stopped(iterating, &facts, &state, pause_reason.or(session.machine_state().last_failure()))
            }
            Some(StepOutcome::Done) => self.done(&state),
            Some(StepOutcome::Kept | StepOutcome::Nothing | StepOutcome::Skipped) if head == base => {
                nothing(self.strategy, &state)
            }
            Some(StepOutcome::Kept | StepOutcome::Nothing | StepOutcome::Skipped) => {
                self.evaluated(&base, &head, &state)?
            }
        };
        let judged = self.judged(iterating, facts, judgement, paused, state.metric(), (base, head));
        recording.append(&[Event::IterationJudged(judged)])?;
        Ok(())
    }

    fn judged(
        &self,
        iterating: &Iterating,
        facts: Facts,
        judgement: Judgement,
        paused: Option<String>,
        against: Ratchet,
        (base, head): (CommitId, CommitId),
    ) -> IterationJudged {
        let discarded = judgement.outcome == Outcome::Discarded;
        let new_tests = u32::try_from(facts.new.len()).unwrap_or(u32::MAX);
        let with_reason = |text: String| judgement.why.iter().cloned().chain([text]).filter(|text| !text.is_empty());
        // The tests that a discarded iteration saw exist only in commits that are taken back.
        let (tests, gone) = if discarded { (Vec::new(), Vec::new()) } else { (facts.tests, facts.gone) };
        let overview = Overview {
            id: iterating.start.id.clone(),
            at_ms: iterating.start.at_ms,
            outcome: judgement.outcome,
            phase: if iterating.start.rethink && new_tests == 0 { Phase::RethinkTest } else { facts.phase },
            target: facts.target,
            new_tests,
            existing_tests_status: facts.existing,
            metric: judgement.metric,
            commit: (head != base).then(|| head.clone()),
            summary: with_reason(facts.summary).collect::<Vec<_>>().join("; "),
        };
        let iteration = Iteration { overview, tests, gone, lessons: facts.lessons };
        IterationJudged {
            program: self.found.name.clone(),
            base,
            head,
            iteration: Box::new(iteration),
            against: Some(against),
            pause: judgement.pause.or(paused),
            completed: judgement.completed,
        }
    }

    /// Evaluates the commits and, if they are acceptable, asks for their CI checks.
    fn evaluated(&self, base: &CommitId, head: &CommitId, state: &State) -> Result<Judgement, ProgramError> {
        let seen =
            IterationFacts { outside: self.outside(base, head)?, ..self.evaluator().look(head, state.metric())? };
        let decision = match decide(state.metric(), &seen) {
            Decision::Accept { .. } if self.found.definition.ci.is_some() => {
                self.push_branch(head)?;
                let checks = self.evaluator().checks(head)?;
                decide(state.metric(), &IterationFacts { checks, ..seen })
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

    /// A changed file outside the fence, if any. Lock files do not count, because the project's tools update them.
    fn outside(&self, base: &CommitId, head: &CommitId) -> Result<Option<String>, ProgramError> {
        let repo = &self.context.repo;
        let bench = Workbench::open(&self.context.user_paths)?;
        let locks = bench.language.scratch(&bench.project, "").files;
        let changes = repo.diff_trees(&repo.commit_tree(Some(base))?, &repo.commit_tree(Some(head))?)?;
        let mut paths = changes.into_iter().map(|change| change.path.to_string());
        Ok(paths.find(|path| !self.found.definition.fence.holds(path) && !locks.contains(path)))
    }

    /// Why the program is done, if this metric reaches its target.
    pub(super) fn reached(&self, metric: f64) -> Option<String> {
        let target = self.found.definition.target_metric?;
        let reached = self.found.definition.direction.reaches(metric, target);
        reached.then(|| format!("the target {target} is reached with {metric}"))
    }

    /// The tester says that the goal is reached. If the program has a target metric, the metric decides.
    fn done(&self, state: &State) -> Judgement {
        let done = Judgement::of(Outcome::Accepted, None, Some("the tester finds the goal reached".to_owned()));
        match (self.found.definition.target_metric, state.metric().best()) {
            (Some(target), best) if best.and_then(|best| self.reached(best)).is_none() => {
                let best = best.map_or_else(|| "not known".to_owned(), |best| best.to_string());
                let pause = format!(
                    "td-done: the tester finds nothing left to do, but the metric is {best} and its target is {target}"
                );
                Judgement { pause: Some(pause), ..done }
            }
            (Some(_) | None, _) => Judgement {
                completed: Some("the goal is reached: every requirement has a passing test".to_owned()),
                ..done
            },
        }
    }

    fn push_branch(&self, head: &CommitId) -> Result<(), ProgramError> {
        let Some(name) = self.memory.remote.clone() else { return Ok(()) };
        let Some(branch) = self.context.repo.head()?.branch else { return Err(ProgramError::NoBranch) };
        let spawner = self.context.git_spawner();
        let remote = Remote { repo: &self.context.repo, spawner: &spawner, name: &name };
        match remote.push(head, &branch)? {
            Pushed::Done => Ok(()),
            Pushed::Rejected => Err(ProgramError::BranchBehind { branch, remote: name }),
        }
    }
}

impl Judgement {
    fn of(outcome: Outcome, metric: Option<f64>, why: Option<String>) -> Self {
        Self { outcome, metric, why, pause: None, completed: None }
    }
}

/// The work stopped: a test is blocked, or nothing was achieved.
fn stopped(iterating: &Iterating, facts: &Facts, state: &State, failure: Option<&str>) -> Judgement {
    let why = failure.map(str::to_owned);
    if let Some(test) = iterating.blocked.keys().next() {
        let pause = Some(format!("td-stuck: {test}"));
        return Judgement { pause, ..Judgement::of(Outcome::Blocked, None, why) };
    }
    let error = Judgement::of(Outcome::Error, None, why);
    if facts.new.is_empty() { Judgement { pause: after_rethink(state), ..error } } else { error }
}

/// Nothing was committed: a test-driven program accepts that, the default strategy counts it as an error.
fn nothing(strategy: Strategy, state: &State) -> Judgement {
    match strategy {
        Strategy::TestDriven => Judgement::of(Outcome::Accepted, None, None),
        Strategy::Default => {
            let why = Some("no proposed change was accepted".to_owned());
            Judgement { pause: after_rethink(state), ..Judgement::of(Outcome::Error, None, why) }
        }
    }
}

/// The reason for a pause if an error follows a forced rethink: going on would only cost money.
fn after_rethink(state: &State) -> Option<String> {
    let errors = state.consecutive_errors() + 1;
    (errors > ERRORS_TO_RETHINK).then(|| format!("td-error: {errors} iterations in a row failed"))
}
