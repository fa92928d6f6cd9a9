//! The results of a test run, test by test, and the causes of failures.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::test_id::TestId;

/// Why a test did not pass. The first two causes make a valid red; of the others, the first that applies is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// It ran and failed: an assertion, a panic, an exception raised in production code.
    Assertion,
    /// It needs something that production does not have yet.
    MissingSymbol,
    /// The runner is not installed or could not be started.
    RunnerMissing,
    /// It did not finish before its timeout.
    Timeout,
    /// Its process ended before its report was complete.
    Crash,
    /// The runner's output is malformed or contradicts itself.
    UnknownOutput,
    /// The requested test does not exist.
    TargetNotFound,
    /// No test ran.
    ZeroTests,
    /// It is ignored or skipped.
    Skipped,
    /// The file does not parse.
    SyntaxError,
    /// It does not compile, and the cause is not missing production code.
    UnrelatedCompileError,
    /// The file could not be loaded.
    LoadFailure,
    /// Other tests failed before the change.
    BaselineNotGreen,
    /// It failed for a reason that has nothing to do with production code.
    UnrelatedFailure,
    /// It passes and fails on the same tree.
    Flaky,
    /// It passed at once.
    UnexpectedGreen,
    /// It cannot fail.
    VacuousTest,
    /// Production rigs comparison, assertion or reporting.
    Disarmed,
    /// It passes only where production can see that it is tested.
    Circumstantial,
    /// It no longer notices an altered answer that it noticed before the change.
    Weakened,
}

/// Whose fault a cause is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// The change that was tested.
    Change,
    /// The machine it was tested on.
    Environment,
}

impl Cause {
    /// Every cause, in declaration order.
    pub const ALL: [Self; 20] = [
        Self::Assertion,
        Self::MissingSymbol,
        Self::RunnerMissing,
        Self::Timeout,
        Self::Crash,
        Self::UnknownOutput,
        Self::TargetNotFound,
        Self::ZeroTests,
        Self::Skipped,
        Self::SyntaxError,
        Self::UnrelatedCompileError,
        Self::LoadFailure,
        Self::BaselineNotGreen,
        Self::UnrelatedFailure,
        Self::Flaky,
        Self::UnexpectedGreen,
        Self::VacuousTest,
        Self::Disarmed,
        Self::Circumstantial,
        Self::Weakened,
    ];

    /// Whether a test that failed for this cause is red.
    pub fn is_valid_red(self) -> bool {
        matches!(self, Self::Assertion | Self::MissingSymbol)
    }

    /// Whose fault it is.
    pub fn fault(self) -> Fault {
        match self {
            Self::RunnerMissing | Self::UnknownOutput => Fault::Environment,
            Self::Assertion
            | Self::MissingSymbol
            | Self::Timeout
            | Self::Crash
            | Self::TargetNotFound
            | Self::ZeroTests
            | Self::Skipped
            | Self::SyntaxError
            | Self::UnrelatedCompileError
            | Self::LoadFailure
            | Self::BaselineNotGreen
            | Self::UnrelatedFailure
            | Self::Flaky
            | Self::UnexpectedGreen
            | Self::VacuousTest
            | Self::Disarmed
            | Self::Circumstantial
            | Self::Weakened => Fault::Change,
        }
    }

    /// The name in JSON and messages, such as `missing-symbol`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Assertion => "assertion",
            Self::MissingSymbol => "missing-symbol",
            Self::RunnerMissing => "runner-missing",
            Self::Timeout => "timeout",
            Self::Crash => "crash",
            Self::UnknownOutput => "unknown-output",
            Self::TargetNotFound => "target-not-found",
            Self::ZeroTests => "zero-tests",
            Self::Skipped => "skipped",
            Self::SyntaxError => "syntax-error",
            Self::UnrelatedCompileError => "unrelated-compile-error",
            Self::LoadFailure => "load-failure",
            Self::BaselineNotGreen => "baseline-not-green",
            Self::UnrelatedFailure => "unrelated-failure",
            Self::Flaky => "flaky",
            Self::UnexpectedGreen => "unexpected-green",
            Self::VacuousTest => "vacuous-test",
            Self::Disarmed => "disarmed",
            Self::Circumstantial => "circumstantial",
            Self::Weakened => "weakened",
        }
    }
}

impl std::fmt::Display for Cause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// The result of one test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[must_use]
pub struct TestResult {
    /// The test.
    pub id: TestId,
    /// Whether it passed, and if not, why not.
    pub outcome: Outcome,
    /// How long it took, if the runner says so.
    pub duration_ms: u64,
    /// Digest of the test, if its source was found.
    pub digest: Option<Digest>,
}

impl TestResult {
    /// A result without a source digest.
    pub fn new(id: TestId, outcome: Outcome, duration_ms: u64) -> Self {
        Self { id, outcome, duration_ms, digest: None }
    }
}

/// The outcome of a test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[must_use]
pub enum Outcome {
    /// It ran and passed.
    Pass,
    /// It did not pass.
    Fail {
        /// The cause.
        cause: Cause,
        /// The message of the runner or the compiler, shortened.
        message: String,
    },
}

impl Outcome {
    /// The cause, if it did not pass.
    pub fn cause(&self) -> Option<Cause> {
        match self {
            Self::Pass => None,
            Self::Fail { cause, .. } => Some(*cause),
        }
    }
}

/// Something that kept tests from running: a target that does not build, a missing runner, a contradictory report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Obstacle {
    /// What is in the way: a test target, a file, a program.
    pub subject: String,
    /// The cause.
    pub cause: Cause,
    /// The message, shortened.
    pub message: String,
    /// The place as `path:line`, if known.
    pub place: Option<String>,
    /// The tests it kept from running, as far as their sources show.
    pub tests: Vec<TestId>,
}

impl Obstacle {
    /// An obstacle without a place and tests.
    pub fn new(subject: impl Into<String>, cause: Cause, message: impl Into<String>) -> Self {
        Self { subject: subject.into(), cause, message: message.into(), place: None, tests: Vec::new() }
    }
}

/// The results of one test run, sorted by id; each id occurs once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[must_use]
pub struct Report {
    results: BTreeMap<TestId, TestResult>,
    obstacles: Vec<Obstacle>,
}

/// How many tests passed, failed and were skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Passed.
    pub passed: u32,
    /// Failed, for any cause but being skipped.
    pub failed: u32,
    /// Ignored or skipped.
    pub skipped: u32,
}

impl Counts {
    /// How many of these outcomes there are of each kind.
    pub fn of<'o>(outcomes: impl IntoIterator<Item = &'o Outcome>) -> Self {
        let mut counts = Self::default();
        for outcome in outcomes {
            match outcome.cause() {
                None => counts.passed += 1,
                Some(Cause::Skipped) => counts.skipped += 1,
                Some(_) => counts.failed += 1,
            }
        }
        counts
    }
}

impl Report {
    /// A report over these results and obstacles. Two results for one id contradict each other: the
    /// id fails with `unknown-output`.
    pub fn new(results: impl IntoIterator<Item = TestResult>, obstacles: Vec<Obstacle>) -> Self {
        let mut report = Self { results: BTreeMap::new(), obstacles };
        for result in results {
            report.add(result);
        }
        report
    }

    /// The result of every test that was run or found.
    pub fn results(&self) -> impl Iterator<Item = &TestResult> {
        self.results.values()
    }

    /// The result of one test.
    pub fn get(&self, id: &TestId) -> Option<&TestResult> {
        self.results.get(id)
    }

    /// What kept tests from running.
    pub fn obstacles(&self) -> &[Obstacle] {
        &self.obstacles
    }

    /// The report with each obstacle mapped.
    pub fn map_obstacles(self, change: impl FnMut(Obstacle) -> Obstacle) -> Self {
        Self { obstacles: self.obstacles.into_iter().map(change).collect(), ..self }
    }

    /// Counts the results of each kind.
    pub fn counts(&self) -> Counts {
        Counts::of(self.results.values().map(|result| &result.outcome))
    }

    /// Merges a rerun of some tests on the same files: a test with another result is flaky.
    pub fn with_rerun(mut self, again: &Self) -> Self {
        for result in again.results.values() {
            if let Some(first) = self.results.get_mut(&result.id)
                && first.outcome.cause().is_none() != result.outcome.cause().is_none()
            {
                let message = "it passes and fails on the same files".to_owned();
                first.outcome = Outcome::Fail { cause: Cause::Flaky, message };
            }
        }
        self
    }

    /// The first obstacle that is the environment's fault; with one, the test results say nothing about the change.
    pub fn environment_failure(&self) -> Option<&Obstacle> {
        self.obstacles.iter().find(|obstacle| obstacle.cause.fault() == Fault::Environment)
    }

    fn add(&mut self, result: TestResult) {
        let id = result.id.clone();
        if self.results.insert(id.clone(), result).is_some() {
            let message = "the same test was reported twice".to_owned();
            let outcome = Outcome::Fail { cause: Cause::UnknownOutput, message };
            self.results.insert(id.clone(), TestResult::new(id, outcome, 0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(id: &str, cause: Option<Cause>) -> TestResult {
        let outcome = match cause {
            None => Outcome::Pass,
            Some(cause) => Outcome::Fail { cause, message: String::new() },
        };
        TestResult::new(TestId::parse(id).unwrap(), outcome, 1)
    }

    #[test]
    fn names_are_those_of_the_json() {
        for cause in Cause::ALL {
            assert_eq!(serde_json::to_value(cause).unwrap(), cause.name());
        }
    }

    #[test]
    fn only_two_causes_make_a_red_and_only_two_blame_the_machine() {
        let red: Vec<_> = Cause::ALL.into_iter().filter(|cause| cause.is_valid_red()).collect();
        let ours: Vec<_> = Cause::ALL.into_iter().filter(|cause| cause.fault() == Fault::Environment).collect();
        assert_eq!(red, [Cause::Assertion, Cause::MissingSymbol]);
        assert_eq!(ours, [Cause::RunnerMissing, Cause::UnknownOutput]);
    }

    #[test]
    fn a_test_reported_twice_is_not_believed() {
        let report = Report::new([result("a.rs::x", None), result("a.rs::x", None)], Vec::new());
        let outcome = &report.get(&TestId::parse("a.rs::x").unwrap()).unwrap().outcome;
        assert_eq!(outcome.cause(), Some(Cause::UnknownOutput));
    }

    #[test]
    fn a_test_that_says_otherwise_when_run_again_is_flaky() {
        let id = |name: &str| TestId::native("tests/a.rs", name);
        let failed = || Outcome::Fail { cause: Cause::Assertion, message: "no".into() };
        let result = |name: &str, outcome| TestResult::new(id(name), outcome, 1);
        let first = Report::new([result("a", failed()), result("b", failed()), result("c", Outcome::Pass)], vec![]);
        let again = Report::new([result("a", Outcome::Pass), result("b", failed())], vec![]);
        let report = first.with_rerun(&again);
        let causes: Vec<_> = report.results().map(|result| result.outcome.cause()).collect();
        assert_eq!(causes, [Some(Cause::Flaky), Some(Cause::Assertion), None]);
    }

    #[test]
    fn a_skipped_test_counts_neither_as_passed_nor_as_failed() {
        let report = Report::new(
            [result("a.rs::x", None), result("a.rs::y", Some(Cause::Skipped)), result("a.rs::z", Some(Cause::Timeout))],
            Vec::new(),
        );
        assert_eq!(report.counts(), Counts { passed: 1, failed: 1, skipped: 1 });
    }
}
