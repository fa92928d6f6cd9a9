//! Makes the trials of an evaluation, several at a time, and keeps each result as soon as it is there.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use serde::Serialize;
use tdd_agents::models::{Outside, RoleModels};
use tdd_agents::roster;
use tdd_core::config::Config;
use tdd_exec::process::Cancel;
use tdd_llm::stop::Stop;

use crate::arm::Arm;
use crate::error::{Broken, EvalError, TrialError};
use crate::exercise::{self, Exercise};
use crate::results::{Key, Results, TrialResult};
use crate::statistics;
use crate::trial::Trial;

/// Failed trials in a row after which the evaluation stops: the server or the tools do not work.
const MAX_FAILURES: u32 = 3;

/// What to evaluate, and with what.
pub struct Order<'o> {
    /// The configuration, whose models and limits are used.
    pub config: &'o Config,
    /// The environment, which holds the API keys.
    pub vars: &'o (dyn Fn(&str) -> Option<String> + Sync),
    /// Set by Ctrl-C.
    pub cancel: Cancel,
    /// Receives a line whenever a server demands a wait.
    pub tell: Arc<dyn Fn(&str) + Send + Sync>,
    /// The arms to compare.
    pub arms: Vec<Arm>,
    /// Runs of each exercise in each arm.
    pub runs: u32,
    /// Decides the order of the trials.
    pub seed: u64,
    /// Trials at the same time.
    pub jobs: usize,
    /// The machine begins no attempt at an exercise after this time.
    pub max_time: Duration,
    /// Whether answers are recorded or replayed.
    pub cassettes: Cassettes,
}

/// Whether the answers of a model are recorded or replayed, one file per trial in a folder.
#[derive(Clone, Debug)]
pub enum Cassettes {
    /// Neither.
    None,
    /// Recorded.
    Record(PathBuf),
    /// Replayed.
    Replay(PathBuf),
}

/// What happens in an evaluation.
#[derive(Clone, Copy, Debug)]
pub enum Progress<'p> {
    /// A trial begins.
    Begun {
        /// The exercise.
        exercise: &'p str,
        /// The arm.
        arm: Arm,
        /// How many trials have ended.
        ended: usize,
        /// How many trials there are to make.
        trials: usize,
    },
    /// A trial has a result.
    Ended(&'p TrialResult),
    /// A trial failed and has no result.
    Failed(&'p Failed),
}

/// A trial without a result; the next evaluation repeats it.
#[derive(Clone, Debug, Serialize)]
pub struct Failed {
    /// The exercise.
    pub exercise: String,
    /// The arm.
    pub arm: Arm,
    /// The number of the run.
    pub run: u32,
    /// Why there is no result.
    pub reason: String,
}

/// What came out.
#[derive(Debug)]
pub struct Evaluation {
    /// The results of the trials that were asked for, earlier and new ones.
    pub results: Vec<TrialResult>,
    /// Bytes of a torn last line of the results file that were cut off.
    pub repaired: Option<u64>,
    /// What else there is to say.
    pub outcome: Outcome,
}

/// Which trials were made, beside their results.
#[derive(Debug, Serialize)]
pub struct Outcome {
    pub(crate) model: String,
    /// Results that were there before.
    pub(crate) earlier: usize,
    pub(crate) interrupted: bool,
    pub(crate) failed: Vec<Failed>,
    /// Trials that were not made because others failed.
    pub(crate) left: usize,
    pub(crate) broken: Vec<Broken>,
}

/// How an evaluation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The user interrupted it.
    Interrupted,
    /// Some trials have no result.
    SomeFailed,
    /// Some folders are no usable exercises.
    SomeBroken,
    /// Every trial has a result.
    Complete,
}

impl Outcome {
    /// How the evaluation ended; the worst comes first.
    pub fn ending(&self) -> Ending {
        if self.interrupted {
            Ending::Interrupted
        } else if !self.failed.is_empty() {
            Ending::SomeFailed
        } else if !self.broken.is_empty() {
            Ending::SomeBroken
        } else {
            Ending::Complete
        }
    }
}

impl Order<'_> {
    /// The model's name; if the roles have several, all of them.
    pub fn model(&self) -> String {
        if matches!(self.cassettes, Cassettes::Replay(_)) {
            return "replay".to_owned();
        }
        let mut names: Vec<String> = roster::roster(self.config).into_iter().map(|seat| seat.model).collect();
        names.dedup();
        names.join(" + ")
    }

    /// What the models of one trial need.
    pub fn outside(&self) -> Outside<'_> {
        let cancel = self.cancel.clone();
        Outside {
            vars: self.vars,
            stop: Stop::watching(move || cancel.is_cancelled()),
            tell: Arc::clone(&self.tell),
            max_time: Some(self.max_time),
        }
    }

    /// Fails if the models cannot be used, before the first trial does.
    fn check(&self) -> Result<(), EvalError> {
        match &self.cassettes {
            Cassettes::Replay(_) => {}
            Cassettes::Record(folder) => {
                let made = fs::create_dir_all(folder);
                made.map_err(|source| EvalError::Folder { path: folder.clone(), source })?;
                drop(RoleModels::configured(self.config, &self.outside(), None::<fs::File>)?);
            }
            Cassettes::None => drop(RoleModels::configured(self.config, &self.outside(), None::<fs::File>)?),
        }
        Ok(())
    }

    fn trials<'e>(&self, exercises: &'e [Exercise]) -> Vec<Trial<'e>> {
        let mut trials = Vec::new();
        for exercise in exercises {
            for arm in Arm::ALL.into_iter().filter(|arm| self.arms.contains(arm)) {
                trials.extend((1..=self.runs).map(|run| Trial { exercise, arm, run }));
            }
        }
        statistics::shuffle(&mut trials, self.seed);
        trials
    }
}

impl Evaluation {
    /// Evaluates the exercises of a folder (`only` those, if any are named) and appends each result to `out`.
    pub fn run(
        folder: &Path,
        only: &[String],
        out: &Path,
        order: &Order<'_>,
        progress: &(dyn Fn(Progress<'_>) + Sync),
    ) -> Result<Self, EvalError> {
        let exercises = exercise::read_all(folder, only)?;
        order.check()?;
        let results = Results::open(out)?;
        let model = order.model();
        let mut trials = order.trials(&exercises.usable);
        let keys: Vec<_> = trials.iter().map(|trial| key(trial, order.seed, &model)).collect();
        let known = results.earlier.iter().filter(|known| keys.contains(&known.key())).cloned();
        let known: Vec<TrialResult> = known.collect();
        trials.retain(|trial| !known.iter().any(|known| known.key() == key(trial, order.seed, &model)));
        let work = Work::new(trials, order, &results, progress);
        thread::scope(|scope| {
            for _ in 0..order.jobs.max(1) {
                scope.spawn(|| work.make_trials());
            }
        });
        let done = work.done.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = done.error {
            return Err(error);
        }
        let outcome = Outcome {
            model,
            earlier: known.len(),
            interrupted: order.cancel.is_cancelled(),
            failed: done.failed,
            left: done.waiting.len(),
            broken: exercises.broken,
        };
        Ok(Self { results: known.into_iter().chain(done.results).collect(), repaired: results.repaired, outcome })
    }
}

/// What makes a trial the same as the one of a result.
fn key<'k>(trial: &Trial<'k>, seed: u64, model: &'k str) -> Key<'k> {
    (&trial.exercise.name, trial.exercise.digest(), trial.arm, trial.run, seed, model)
}

/// What the threads share.
struct Work<'w, 'e> {
    order: &'w Order<'w>,
    results: &'w Results,
    progress: &'w (dyn Fn(Progress<'_>) + Sync),
    trials: usize,
    done: Mutex<Done<'e>>,
}

#[derive(Default)]
struct Done<'e> {
    waiting: VecDeque<Trial<'e>>,
    ended: usize,
    results: Vec<TrialResult>,
    failed: Vec<Failed>,
    /// Failed trials since the last result.
    failures: u32,
    error: Option<EvalError>,
}

impl<'w, 'e> Work<'w, 'e> {
    fn new(
        trials: Vec<Trial<'e>>,
        order: &'w Order<'w>,
        results: &'w Results,
        progress: &'w (dyn Fn(Progress<'_>) + Sync),
    ) -> Self {
        let count = trials.len();
        let done = Mutex::new(Done { waiting: trials.into(), ..Done::default() });
        Self { order, results, progress, trials: count, done }
    }

    fn done(&self) -> MutexGuard<'_, Done<'e>> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn make_trials(&self) {
        while let Some((trial, ended)) = self.next() {
            let (exercise, arm) = (trial.exercise.name.as_str(), trial.arm);
            (self.progress)(Progress::Begun { exercise, arm, ended, trials: self.trials });
            match trial.make(self.order) {
                Ok(result) => self.keep(result),
                Err(TrialError::Interrupted) => return,
                Err(error) => self.fail(&trial, &error),
            }
        }
    }

    /// The next trial, and how many have ended; `None` if there is a reason to stop.
    fn next(&self) -> Option<(Trial<'e>, usize)> {
        let mut done = self.done();
        if self.order.cancel.is_cancelled() || done.error.is_some() || done.failures >= MAX_FAILURES {
            return None;
        }
        Some((done.waiting.pop_front()?, done.ended))
    }

    fn keep(&self, result: TrialResult) {
        let kept = self.results.append(&result);
        (self.progress)(Progress::Ended(&result));
        let mut done = self.done();
        done.ended += 1;
        done.failures = 0;
        done.error = done.error.take().or(kept.err());
        done.results.push(result);
    }

    fn fail(&self, trial: &Trial<'_>, error: &TrialError) {
        let (exercise, reason) = (trial.exercise.name.clone(), error.to_string());
        let failed = Failed { exercise, arm: trial.arm, run: trial.run, reason };
        (self.progress)(Progress::Failed(&failed));
        let mut done = self.done();
        done.ended += 1;
        done.failures += 1;
        done.failed.push(failed);
    }
}
