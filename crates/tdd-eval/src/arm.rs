//! The ways in which a model can be asked to solve an exercise.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// One way of asking a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arm {
    /// One request.
    OneShot,
    /// One request, and a second one with the output of the hidden tests that failed.
    OneShotRetry,
    /// The machine: `run --until-done`.
    Machine,
}

impl Arm {
    /// Every arm; the table shows them in this order.
    pub const ALL: [Self; 3] = [Self::OneShot, Self::OneShotRetry, Self::Machine];

    /// The name in options and results.
    pub fn name(self) -> &'static str {
        match self {
            Self::OneShot => "one-shot",
            Self::OneShotRetry => "one-shot-retry",
            Self::Machine => "machine",
        }
    }
}

impl FromStr for Arm {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|arm| arm.name() == text);
        known.ok_or_else(|| format!("write one of {}", Self::ALL.map(Self::name).join(", ")))
    }
}
