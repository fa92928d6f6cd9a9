//! One trial: an exercise, an arm and the number of the run.

use std::collections::BTreeMap;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use tdd_core::cycle::Role;
use tdd_exec::text;

use crate::arm::Arm;
use crate::error::TrialError;
use crate::evaluation::{Cassettes, Order};
use crate::exercise::Exercise;
use crate::machine;
use crate::one_shot::{self, Shot};
use crate::results::TrialResult;
use crate::score::Score;
use tdd_agents::models::RoleModels;

/// Largest cassette, in bytes.
const MAX_CASSETTE: u64 = 64 << 20;

/// A trial to make.
#[derive(Clone, Copy, Debug)]
pub struct Trial<'e> {
    pub exercise: &'e Exercise,
    pub arm: Arm,
    pub run: u32,
}

/// What a trial used up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// Tokens of all prompts.
    pub prompt_tokens: u64,
    /// Tokens of all answers.
    pub completion_tokens: u64,
    /// Calls of the model.
    pub calls: u64,
    /// Attempts, kept or not.
    pub attempts: u64,
    /// Refusals by rule.
    pub refusals: BTreeMap<String, u64>,
    /// Refusals of attempts to get round the tests.
    pub cheats_refused: u64,
}

/// The last answer of a model, and what the trial used up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    pub shot: Shot,
    pub spent: Spent,
}

impl Trial<'_> {
    /// The name of its cassette.
    pub fn cassette(&self) -> String {
        format!("{}.{}.{}.jsonl", self.exercise.name, self.arm.name(), self.run)
    }

    /// Makes the trial.
    pub fn make(&self, order: &Order<'_>) -> Result<TrialResult, TrialError> {
        let begun = Instant::now();
        let (score, spent, end) = match self.arm {
            Arm::OneShot => self.ask(order, /* retry */ false)?,
            Arm::OneShotRetry => self.ask(order, /* retry */ true)?,
            Arm::Machine => machine::solve(self.exercise, &self.cassette(), order)?,
        };
        Ok(TrialResult {
            exercise: self.exercise.name.clone(),
            digest: self.exercise.digest(),
            language: self.exercise.language.to_owned(),
            arm: self.arm,
            run: self.run,
            seed: order.seed,
            model: order.model(),
            solved: score.is_solved(),
            tests_passed: score.passed,
            tests: score.tests,
            spent,
            duration_ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
            end,
        })
    }

    fn ask(&self, order: &Order<'_>, retry: bool) -> Result<(Score, Spent, String), TrialError> {
        let model = models(order, &self.cassette())?.of(Role::Implementor)?;
        let Tried { shot, spent } = one_shot::solve(self.exercise, &model, retry, &order.cancel)?;
        Ok(match shot {
            Shot::Scored(score) => (score, spent, "answered".to_owned()),
            Shot::Unreadable(reason) => {
                let none = Score { passed: 0, tests: 0, output: String::new() };
                (none, spent, format!("unreadable answer: {reason}"))
            }
        })
    }
}

/// The models of a trial: at their servers, recorded or replayed.
fn models(order: &Order<'_>, cassette: &str) -> Result<RoleModels, TrialError> {
    match &order.cassettes {
        Cassettes::Replay(folder) => {
            let text = text::read(&folder.join(cassette), MAX_CASSETTE).map_err(TrialError::Cassette)?;
            Ok(RoleModels::replayed(&text, order.config)?)
        }
        Cassettes::Record(folder) => {
            let path = folder.join(cassette);
            let file = std::fs::File::create(&path).map_err(|source| TrialError::Write { path, source })?;
            Ok(RoleModels::configured(order.config, &order.outside(), Some(file))?)
        }
        Cassettes::None => Ok(RoleModels::configured(order.config, &order.outside(), None::<std::fs::File>)?),
    }
}
