//! The state of a program: a fold of what happened, also if it happened on several machines.

use serde::{Deserialize, Serialize};

use super::harness::Harness;
use super::iteration::{History, Iteration, Outcome, Overview, Past};
use super::metric::{Direction, Proven, Ratchet};
use super::sections::Kept;
use crate::digest::CommitId;

/// The state of a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// The version of this format.
    v: u32,
    program: String,
    iterations: u32,
    #[serde(default)]
    last_run_ms: Option<u64>,
    metric: Ratchet,
    #[serde(default)]
    pause: Option<Pause>,
    #[serde(default)]
    completed: Option<String>,
    consecutive_errors: u32,
    #[serde(default)]
    pending: Option<Pending>,
    #[serde(default)]
    priorities: String,
    harness: Harness,
    history: History,
    lessons: Vec<String>,
    /// Sections of another tool's page that do not fit into the other fields.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    kept: Vec<Kept>,
}

/// A pause and its reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pause {
    /// Since when, in milliseconds since 1970.
    pub since_ms: u64,
    /// Who paused it.
    pub by: Who,
    /// The reason.
    pub reason: String,
}

/// Who did something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Who {
    /// `tdd-cli` itself.
    Machine,
    /// A person.
    Person,
}

/// A commit whose checks have not finished.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pending {
    /// The id of the iteration.
    pub id: String,
    /// The commit.
    pub commit: CommitId,
    /// The metric measured on it.
    pub metric: Option<f64>,
    /// The best metric at the time of the decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<Ratchet>,
}

/// Something that happened to a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum Happened {
    /// Another tool's page was imported as the first state.
    Imported {
        /// The imported state.
        state: Box<State>,
    },
    /// The start commit was measured.
    Measured {
        /// When, in milliseconds since 1970.
        at_ms: u64,
        /// The value.
        metric: f64,
    },
    /// An iteration ended.
    Iterated {
        /// The iteration.
        iteration: Box<Iteration>,
        /// The best metric at the time of the decision. The iteration does not count if another machine was faster.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        against: Option<Ratchet>,
    },
    /// The checks of a pending commit have finished.
    Settled {
        /// When, in milliseconds since 1970.
        at_ms: u64,
        /// The id of the iteration.
        id: String,
        /// Whether they passed.
        passed: bool,
    },
    /// The program was paused.
    Paused {
        /// When, in milliseconds since 1970.
        at_ms: u64,
        /// Who paused it.
        by: Who,
        /// The reason.
        reason: String,
    },
    /// The program was resumed, perhaps after it was complete.
    Resumed {
        /// When, in milliseconds since 1970.
        at_ms: u64,
        /// Who resumed it.
        by: Who,
    },
    /// The program reached its target.
    Completed {
        /// When, in milliseconds since 1970.
        at_ms: u64,
        /// The reason in words.
        reason: String,
    },
    /// A person set the priorities.
    Prioritised {
        /// The person's words.
        text: String,
    },
}

/// The version of the state's format; a newer one is refused.
pub const VERSION: u32 = 1;
/// How many outcomes the page shows in one line.
const RECENT: usize = 10;
/// Consecutive errors that force a rethink.
pub const ERRORS_TO_RETHINK: u32 = 3;
/// How many lessons are kept; the oldest are dropped first.
const LESSONS: usize = 200;

/// Why a stored state cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// It does not have our format.
    #[error("the state of the program cannot be read: {0}")]
    Unreadable(String),
    /// A newer version of `tdd-cli` wrote it.
    #[error("the state of the program has format {0}, but this version reads format {VERSION}")]
    Newer(u32),
}

impl State {
    /// The state of a program that has never run.
    pub fn new(program: &str) -> Self {
        Self {
            v: VERSION,
            program: program.to_owned(),
            iterations: 0,
            last_run_ms: None,
            metric: Ratchet::default(),
            pause: None,
            completed: None,
            consecutive_errors: 0,
            pending: None,
            priorities: String::new(),
            harness: Harness::default(),
            history: History::default(),
            lessons: Vec::new(),
            kept: Vec::new(),
        }
    }

    /// Reads a stored state.
    pub fn parse(text: &str) -> Result<Self, StateError> {
        let version = |value: &serde_json::Value| value.get("v").and_then(serde_json::Value::as_u64);
        let value: serde_json::Value =
            serde_json::from_str(text).map_err(|error| StateError::Unreadable(error.to_string()))?;
        match version(&value).and_then(|v| u32::try_from(v).ok()) {
            Some(v) if v > VERSION => Err(StateError::Newer(v)),
            _ => serde_json::from_value(value).map_err(|error| StateError::Unreadable(error.to_string())),
        }
    }

    /// The state as it is stored.
    pub fn to_json(&self) -> String {
        // A state holds only strings and finite numbers, so serialization cannot fail.
        let text = serde_json::to_string_pretty(self).unwrap_or_default();
        text + "\n"
    }

    /// Applies what happened. A known iteration is ignored, so it may be reported twice.
    pub fn apply(&mut self, happened: &Happened) {
        match happened {
            Happened::Imported { state } => {
                if self.iterations == 0 && self.history.entries.is_empty() {
                    *self = (**state).clone();
                }
            }
            Happened::Measured { metric, .. } => self.take_metric(Some(*metric)),
            Happened::Iterated { iteration, against } => self.take(iteration, *against),
            Happened::Settled { id, passed, .. } => self.settle(id, *passed),
            Happened::Paused { at_ms, by, reason } => {
                self.pause = Some(Pause { since_ms: *at_ms, by: *by, reason: reason.clone() });
            }
            Happened::Resumed { .. } => {
                self.pause = None;
                self.completed = None;
                self.consecutive_errors = 0;
            }
            Happened::Completed { reason, .. } => self.completed = Some(reason.clone()),
            Happened::Prioritised { text } => self.priorities.clone_from(text),
        }
    }

    fn take(&mut self, iteration: &Iteration, against: Option<Ratchet>) {
        if self.knows(&iteration.overview.id) {
            return;
        }
        self.iterations += 1;
        let number = self.iterations;
        let mut overview = iteration.overview.clone();
        self.last_run_ms = self.last_run_ms.max(Some(overview.at_ms));
        let counts = matches!(overview.outcome, Outcome::Accepted | Outcome::Pending);
        if counts && let Some(why) = self.overtaken(overview.metric, against) {
            // Its test results are about commits that will be removed, so they are not recorded.
            discard(&mut overview, &why);
        } else {
            self.harness.forget(&iteration.gone);
            for sighting in &iteration.tests {
                self.harness.see(sighting, number);
            }
        }
        self.learn(&iteration.lessons);
        match overview.outcome {
            Outcome::Accepted => {
                self.consecutive_errors = 0;
                self.take_metric(overview.metric);
            }
            Outcome::Pending => {
                self.consecutive_errors = 0;
                let pending = self.pending.take().or_else(|| Pending::of(&overview, against));
                self.pending = pending;
            }
            Outcome::Error => self.consecutive_errors += 1,
            Outcome::Discarded | Outcome::Blocked => self.consecutive_errors = 0,
        }
        self.history.entries.insert(0, Past { number, overview });
    }

    fn learn(&mut self, lessons: &[String]) {
        for lesson in lessons.iter().filter(|lesson| !lesson.is_empty()) {
            if !self.lessons.contains(lesson) {
                self.lessons.push(lesson.clone());
            }
        }
        let over = self.lessons.len().saturating_sub(LESSONS);
        self.lessons.drain(..over);
    }

    /// Why a metric that was better at the time of the decision is not an improvement any more, if so.
    fn overtaken(&self, metric: Option<f64>, against: Option<Ratchet>) -> Option<String> {
        let (metric, _, best) = (metric?, against?, self.metric.best()?);
        (!self.metric.is_improved_by(metric)).then(|| {
            format!("another machine came first: the best metric is {best} now, and this iteration reached {metric}")
        })
    }

    fn settle(&mut self, id: &str, passed: bool) {
        let is_meant = |past: &Past| past.overview.id == id && past.overview.outcome == Outcome::Pending;
        let Some(at) = self.history.entries.iter().position(is_meant) else { return };
        let against = match self.pending.take_if(|pending| pending.id == id) {
            Some(pending) => pending.against,
            // It waited behind another pending commit, which may have moved the metric.
            None => Some(Ratchet::new(self.metric.direction())),
        };
        let Some(overview) = self.history.entries.get(at).map(|past| past.overview.clone()) else { return };
        let late = self.overtaken(overview.metric, against).filter(|_| passed);
        if passed && late.is_none() {
            self.take_metric(overview.metric);
        }
        if let Some(Past { overview, .. }) = self.history.entries.get_mut(at) {
            overview.outcome = if passed { Outcome::Accepted } else { Outcome::Error };
            if let Some(why) = late {
                discard(overview, &why);
            }
        }
        let waits = |past: &&Past| past.overview.outcome == Outcome::Pending;
        if self.pending.is_none()
            && let Some(next) = self.history.entries.iter().rfind(waits)
        {
            self.pending = Pending::of(&next.overview, Some(Ratchet::new(self.metric.direction())));
        }
    }

    /// Takes a metric that was proven before it was recorded.
    fn take_metric(&mut self, value: Option<f64>) {
        if let Some(value) = value {
            self.metric.take(Proven::of(self.metric.direction(), value, value));
        }
    }

    /// Adopts the metric direction of the program definition.
    pub fn face(&mut self, direction: Direction) {
        self.metric = self.metric.towards(direction);
    }

    /// Lists at most `cap` tests and iterations one by one, and folds the rest into ranges.
    pub fn fold(&mut self, cap: usize) {
        self.harness.fold(cap);
        self.history.fold(cap);
    }

    /// Whether an iteration is already recorded.
    pub fn knows(&self, id: &str) -> bool {
        self.past(id).is_some()
    }

    /// The overview of an iteration, if it is recorded.
    pub fn past(&self, id: &str) -> Option<&Overview> {
        self.history.entries.iter().map(|past| &past.overview).find(|overview| overview.id == id)
    }

    /// Whether a rethink is forced: the last iterations were all errors.
    pub fn must_rethink(&self) -> bool {
        self.consecutive_errors >= ERRORS_TO_RETHINK
    }

    /// The name of the program.
    pub fn program(&self) -> &str {
        &self.program
    }

    /// How many iterations there were.
    pub fn iterations(&self) -> u32 {
        self.iterations
    }

    /// When the last iteration began, in milliseconds since 1970.
    pub fn last_run_ms(&self) -> Option<u64> {
        self.last_run_ms
    }

    /// The best metric so far.
    pub fn metric(&self) -> Ratchet {
        self.metric
    }

    /// The pause, if the program is paused.
    pub fn pause(&self) -> Option<&Pause> {
        self.pause.as_ref()
    }

    /// Why the program is complete, if it is.
    pub fn completed(&self) -> Option<&str> {
        self.completed.as_deref()
    }

    /// How many of the last iterations were consecutive errors.
    pub fn consecutive_errors(&self) -> u32 {
        self.consecutive_errors
    }

    /// The commit whose checks have not finished.
    pub fn pending(&self) -> Option<&Pending> {
        self.pending.as_ref()
    }

    /// The priorities that a person set.
    pub fn priorities(&self) -> &str {
        &self.priorities
    }

    /// The pinned behaviours.
    pub fn harness(&self) -> &Harness {
        &self.harness
    }

    /// The past iterations.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// The lessons, oldest first.
    pub fn lessons(&self) -> &[String] {
        &self.lessons
    }

    /// Sections of another tool's page, kept verbatim.
    pub fn kept(&self) -> &[Kept] {
        &self.kept
    }

    /// The outcomes of the last iterations, oldest first.
    pub fn recent(&self) -> Vec<&'static str> {
        let mut words: Vec<_> =
            self.history.entries.iter().take(RECENT).map(|past| past.overview.outcome.word()).collect();
        words.reverse();
        words
    }
}

impl Pending {
    fn of(overview: &Overview, against: Option<Ratchet>) -> Option<Self> {
        let (id, metric) = (overview.id.clone(), overview.metric);
        overview.commit.clone().map(|commit| Self { id, commit, metric, against })
    }
}

fn discard(overview: &mut Overview, why: &str) {
    overview.outcome = Outcome::Discarded;
    overview.summary = format!("{why}; {}", overview.summary);
}

/// What could be read from another tool's page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Remembered {
    /// How many iterations there were.
    pub iterations: u32,
    /// When the last one was, in milliseconds since 1970.
    pub last_run_ms: Option<u64>,
    /// The best metric.
    pub best: Option<f64>,
    /// Which direction is better.
    pub direction: Direction,
    /// The pause, if the program is paused.
    pub pause: Option<Pause>,
    /// Why it is complete, if it is.
    pub completed: Option<String>,
    /// Consecutive errors.
    pub consecutive_errors: u32,
    /// The priorities that a person set.
    pub priorities: String,
    /// The pinned behaviours.
    pub harness: Harness,
    /// The past iterations.
    pub history: History,
    /// The lessons.
    pub lessons: Vec<String>,
    /// All other sections.
    pub kept: Vec<Kept>,
}

impl Remembered {
    /// Converts it into a state.
    pub fn into_state(self, program: &str) -> State {
        let mut metric = Ratchet::new(self.direction);
        if let Some(best) = self.best {
            metric.take(Proven::of(self.direction, best, best));
        }
        State {
            iterations: self.iterations,
            last_run_ms: self.last_run_ms,
            metric,
            pause: self.pause,
            completed: self.completed,
            consecutive_errors: self.consecutive_errors,
            priorities: self.priorities,
            harness: self.harness,
            history: self.history,
            lessons: self.lessons,
            kept: self.kept,
            ..State::new(program)
        }
    }
}

#[cfg(test)]
#[path = "state_tests.rs"]
mod tests;
