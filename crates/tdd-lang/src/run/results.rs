//! Collects the results of a run, one for each test, and the obstacles that kept tests from running.

use std::collections::BTreeMap;

use tdd_core::report::{Cause, Obstacle, Outcome, Report, TestResult};
use tdd_core::test_id::TestId;

use super::failed;

/// The results of a run so far.
#[derive(Debug, Default)]
pub(crate) struct Results {
    by_id: BTreeMap<TestId, TestResult>,
    obstacles: Vec<Obstacle>,
}

impl Results {
    /// Begins with these obstacles and no results.
    pub fn new(obstacles: Vec<Obstacle>) -> Self {
        Self { by_id: BTreeMap::new(), obstacles }
    }

    pub fn has(&self, id: &TestId) -> bool {
        self.by_id.contains_key(id)
    }

    pub fn get(&self, id: &TestId) -> Option<&TestResult> {
        self.by_id.get(id)
    }

    /// The obstacles that kept tests from running.
    pub fn obstacles(&self) -> &[Obstacle] {
        &self.obstacles
    }

    /// Whether there is neither a result nor an obstacle.
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty() && self.obstacles.is_empty()
    }

    pub fn set(&mut self, result: TestResult) {
        self.by_id.insert(result.id.clone(), result);
    }

    /// Adds the result of one case of a test: the test passes if all of its cases pass, and counts as skipped only if
    /// none of them ran.
    pub fn add_case(&mut self, result: TestResult) {
        let Some(known) = self.by_id.get_mut(&result.id) else { return self.set(result) };
        let weight = |outcome: &Outcome| match outcome.cause() {
            Some(Cause::Skipped) => 0,
            None => 1,
            Some(_) => 2,
        };
        let millis = known.duration_ms + result.duration_ms;
        if weight(&result.outcome) > weight(&known.outcome) {
            *known = result;
        }
        known.duration_ms = millis;
    }

    pub fn add_obstacle(&mut self, obstacle: Obstacle) {
        self.obstacles.push(obstacle);
    }

    pub fn retain(&mut self, keep: impl Fn(&TestResult) -> bool) {
        self.by_id.retain(|_, result| keep(result));
    }

    /// Fails each selected test without a result: because of the obstacle that blocks it, or because the runner does
    /// not find it.
    pub fn fail_missing(&mut self, selected: &[TestId], runner: &str, holds: impl Fn(&Obstacle, &TestId) -> bool) {
        for id in selected {
            if self.has(id) {
                continue;
            }
            let (cause, message) = match self.obstacles.iter().find(|obstacle| holds(obstacle, id)) {
                Some(obstacle) => (obstacle.cause, obstacle.message.clone()),
                None => (Cause::TargetNotFound, format!("{runner} finds no `{id}`")),
            };
            self.set(failed(id.clone(), cause, message, 0));
        }
    }

    pub fn report(self) -> Report {
        Report::new(self.by_id.into_values(), self.obstacles)
    }
}

/// Whether an obstacle blocks a test: it names the test or its file, or it is the runner's own.
pub(crate) fn blocks(obstacle: &Obstacle, id: &TestId, runner: &str) -> bool {
    obstacle.tests.contains(id) || obstacle.subject == runner || id.path() == Some(&obstacle.subject)
}

/// The obstacle of a run that found no test although there are some.
pub(crate) fn no_tests_found(subject: &str, runner: &str) -> Obstacle {
    Obstacle::new(subject, Cause::ZeroTests, format!("{runner} found no test, although the project has some"))
}
