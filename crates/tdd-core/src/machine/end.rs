//! How a run ends: its reason, next move and exit code.

use serde::Serialize;

/// Why a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "end", rename_all = "kebab-case")]
pub enum End {
    /// The requested steps, or the requested cycle, are done.
    Steps {
        /// How many steps were made.
        steps: u32,
    },
    /// The run's time is over.
    Time {
        /// How many steps were made.
        steps: u32,
    },
    /// The tester declared the kata done, and every requirement it named has a passing test.
    Done {
        /// How many requirements were named.
        requirements: usize,
    },
    /// All tasks are done, and every truth and artifact is there.
    Fulfilled {
        /// How many tasks.
        tasks: usize,
    },
    /// All tasks are done, but truths or artifacts are missing.
    Lacking {
        /// How many tasks.
        tasks: usize,
        /// The missing artifacts and unproven truths.
        lacking: Vec<String>,
    },
    /// The run needs a person.
    Stopped {
        /// Why.
        reason: String,
        /// What the person can do.
        next: String,
    },
    /// The budget is spent.
    Spent {
        /// `tokens` or `dollars`.
        what: &'static str,
        /// What to do about it.
        next: String,
    },
    /// A model cannot answer before the run's time is over.
    OutOfTime {
        /// Why not.
        reason: String,
        /// What a person can do.
        next: String,
    },
    /// The user pressed Ctrl-C.
    Interrupted,
}

impl End {
    /// The exit code of the process.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Steps { .. } | Self::Done { .. } | Self::Fulfilled { .. } => 0,
            Self::Time { .. }
            | Self::Stopped { .. }
            | Self::Spent { .. }
            | Self::Lacking { .. }
            | Self::OutOfTime { .. } => 4,
            Self::Interrupted => 130,
        }
    }

    /// The reason in words.
    pub fn reason(&self) -> String {
        match self {
            Self::Steps { steps: 1 } => "1 step done".to_owned(),
            Self::Steps { steps } => format!("{steps} steps done"),
            Self::Time { steps } => format!("the time is up, {}", Self::Steps { steps: *steps }.reason()),
            Self::Done { requirements: 1 } => "the kata is done: 1 requirement, with a test that passes".to_owned(),
            Self::Done { requirements } => {
                format!("the kata is done: {requirements} requirements, each with a test that passes")
            }
            Self::Fulfilled { tasks: 1 } => "1 task done, and all that it promised is proven".to_owned(),
            Self::Fulfilled { tasks } => format!("{tasks} tasks done, and all that they promised is proven"),
            Self::Lacking { tasks: 1, lacking } => format!("1 task done, but {}", lacking.join("; ")),
            Self::Lacking { tasks, lacking } => format!("{tasks} tasks done, but {}", lacking.join("; ")),
            Self::Stopped { reason, .. } | Self::OutOfTime { reason, .. } => reason.clone(),
            Self::Spent { what, .. } => format!("all {what} are spent"),
            Self::Interrupted => "interrupted; everything is saved".to_owned(),
        }
    }

    /// What a person can do next, if anything.
    pub fn next(&self) -> Option<&str> {
        match self {
            Self::Stopped { next, .. } | Self::Spent { next, .. } | Self::OutOfTime { next, .. } => Some(next),
            Self::Lacking { .. } => {
                Some("name a passing test in each truth, or add a step that builds what is missing")
            }
            Self::Time { .. } | Self::Interrupted => Some("run the command again: it continues where it stopped"),
            Self::Steps { .. } | Self::Done { .. } | Self::Fulfilled { .. } => None,
        }
    }
}
