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
    /// By Ctrl-C.
    Interrupted,
}

impl End {
    /// The exit code of the contract.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Steps { .. } | Self::Time { .. } | Self::Done { .. } => 0,
            Self::Stopped { .. } | Self::Spent { .. } => 4,
            Self::Interrupted => 130,
        }
    }

    /// In words.
    pub fn reason(&self) -> String {
        match self {
            Self::Steps { steps } => format!("{steps} steps done"),
            Self::Time { steps } => format!("the time is over, {steps} steps done"),
            Self::Done { requirements } => {
                format!("the kata is done: {requirements} requirements, each with a test that passes")
            }
            Self::Stopped { reason, .. } => reason.clone(),
            Self::Spent { what, .. } => format!("all {what} are spent"),
            Self::Interrupted => "interrupted; everything is saved".to_owned(),
        }
    }

    /// What a person can do about it, if there is anything to be done.
    pub fn next(&self) -> Option<&str> {
        match self {
            Self::Stopped { next, .. } | Self::Spent { next, .. } => Some(next),
            Self::Interrupted => Some("start it again: it goes on where it was"),
            Self::Steps { .. } | Self::Time { .. } | Self::Done { .. } => None,
        }
    }
}
