//! How a run ends: each way with its own words and its exit code.

use serde::Serialize;

/// Why a run is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "end", rename_all = "kebab-case")]
pub enum End {
    /// As many steps as were asked for.
    Steps {
        /// How many.
        steps: u32,
    },
    /// The time is over.
    Time {
        /// How many steps were made.
        steps: u32,
    },
    /// The tester finds the kata finished, and the machine has seen the proof.
    Done {
        /// How many requirements, each with a passing test.
        requirements: usize,
    },
    /// All tasks are done, and what they were to bring is there.
    Fulfilled {
        /// How many.
        tasks: usize,
    },
    /// All tasks are done, and not all that they were to bring is there.
    Lacking {
        /// How many.
        tasks: usize,
        /// What is not there, or not proven.
        lacking: Vec<String>,
    },
    /// A person must look.
    Stopped {
        /// Why.
        reason: String,
        /// What they can do.
        next: String,
    },
    /// All that may be spent is spent.
    Spent {
        /// What of.
        what: &'static str,
        /// What to do about it.
        next: String,
    },
    /// An answer cannot be had before the time is over.
    OutOfTime {
        /// Why not.
        reason: String,
        /// What a person can do.
        next: String,
    },
    /// By Ctrl-C.
    Interrupted,
}

impl End {
    /// The exit code of the contract.
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

    /// In words.
    pub fn reason(&self) -> String {
        match self {
            Self::Steps { steps: 1 } => "1 step done".to_owned(),
            Self::Steps { steps } => format!("{steps} steps done"),
            Self::Time { steps } => format!("the time is over, {}", Self::Steps { steps: *steps }.reason()),
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

    /// What a person can do about it, if there is anything to be done.
    pub fn next(&self) -> Option<&str> {
        match self {
            Self::Stopped { next, .. } | Self::Spent { next, .. } | Self::OutOfTime { next, .. } => Some(next),
            Self::Lacking { .. } => {
                Some("name a test that passes in each truth, or add a step that brings what is lacking")
            }
            Self::Time { .. } | Self::Interrupted => Some("start it again: it goes on where it was"),
            Self::Steps { .. } | Self::Done { .. } | Self::Fulfilled { .. } => None,
        }
    }
}
