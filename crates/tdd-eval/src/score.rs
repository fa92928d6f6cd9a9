//! Runs the hidden tests on a solution, in a folder of its own.

use std::path::Path;
use std::time::Duration;

use tdd_core::change::Sort;
use tdd_core::config::{Ci, Config};
use tdd_core::report::{Outcome, Report};
use tdd_core::seam::Runner as _;
use tdd_core::test_id::TestId;
use tdd_exec::process::{Cancel, Spawner};
use tdd_exec::project;
use tdd_exec::runner::ProjectRunner;
use tdd_exec::sources::TreeSources;
use tempfile::TempDir;

use crate::error::TrialError;
use crate::exercise::Exercise;
use crate::folder::{self, Files};

/// Largest output of failing tests that a model sees, in bytes.
const MAX_OUTPUT: usize = 6_000;
/// Largest message of one failing test, in bytes.
const MAX_MESSAGE: usize = 800;
/// Longest run of the hidden tests.
const TIMEOUT: Duration = Duration::from_mins(2);

/// What the hidden tests say of a solution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Score {
    /// Tests that passed.
    pub passed: usize,
    /// All hidden tests.
    pub tests: usize,
    /// The failing tests with their messages, shortened.
    pub output: String,
}

impl Score {
    /// Whether every hidden test passed.
    pub fn is_solved(&self) -> bool {
        self.tests > 0 && self.passed == self.tests
    }
}

/// Judges a solution: its production files in the exercise's own project, with the hidden tests. Tests and runner
/// configuration of the solution do not count.
pub fn score(exercise: &Exercise, solution: &Files, cancel: &Cancel) -> Result<Score, TrialError> {
    let mut files = exercise.files();
    let counts = |path: &str| matches!(exercise.sort(path, solution), Sort::Production | Sort::Document);
    files.extend(solution.iter().filter(|(path, _)| counts(path)).map(|(path, text)| (path.clone(), text.clone())));
    files.extend(exercise.hidden.clone());
    let folder = temporary()?;
    folder::write(folder.path(), &files)?;
    let spawner = Spawner::new(folder.path(), std::env::vars_os()).with_cancel(cancel.clone());
    let (expected, report) = run(exercise, folder.path(), files, &spawner)?;
    if cancel.is_cancelled() {
        return Err(TrialError::Interrupted);
    }
    if let Some(failure) = report.environment_failure() {
        return Err(TrialError::CannotTest(format!("{}: {}", failure.subject, failure.message)));
    }
    Ok(judged(&expected, &report))
}

/// A folder that is removed when it is dropped.
pub fn temporary() -> Result<TempDir, TrialError> {
    let made = tempfile::Builder::new().prefix("tdd-eval-").tempdir();
    made.map_err(|source| TrialError::Write { path: std::env::temp_dir(), source })
}

fn run(
    exercise: &Exercise,
    folder: &Path,
    files: Files,
    spawner: &Spawner,
) -> Result<(Vec<TestId>, Report), TrialError> {
    let language = exercise.speaks();
    let sources = TreeSources::new(folder, files.into_keys().collect());
    let project = language.detect(&sources).ok_or_else(|| project::no_project(folder, &sources))?;
    let ci = Ci { timeout_secs: seconds(TIMEOUT), ..Ci::default() };
    let config = Config { language: Some(exercise.language.to_owned()), ci, ..Config::default() };
    let settings = project::settings(&config, language.as_ref(), &project, &sources);
    let expected: Vec<TestId> =
        exercise.hidden.keys().flat_map(|path| language.tests_in(&project, path, &sources)).collect();
    if expected.is_empty() {
        return Err(TrialError::CannotTest("the hidden files hold no test".to_owned()));
    }
    let runner = ProjectRunner {
        language: language.as_ref(),
        project: &project,
        settings: &settings,
        sources: &sources,
        spawner,
        progress: &|_| {},
    };
    let report = runner.test(&expected)?;
    Ok((expected, report))
}

fn seconds(time: Duration) -> std::num::NonZeroU64 {
    std::num::NonZeroU64::new(time.as_secs()).unwrap_or(std::num::NonZeroU64::MIN)
}

/// Counts the expected tests that passed. A test with several cases passes if all of its cases do.
fn judged(expected: &[TestId], report: &Report) -> Score {
    let is_case_of = |id: &TestId, test: &TestId| {
        let rest = id.as_str().strip_prefix(test.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('['))
    };
    let holds = |test: &TestId| {
        let mut cases = report.results().filter(|result| is_case_of(&result.id, test)).peekable();
        cases.peek().is_some() && cases.all(|result| result.outcome == Outcome::Pass)
    };
    let passed = expected.iter().filter(|test| holds(test)).count();
    Score { passed, tests: expected.len(), output: output(report) }
}

/// Names and messages of the failing tests.
fn output(report: &Report) -> String {
    let mut output = String::new();
    let failing = report.results().filter_map(|result| match &result.outcome {
        Outcome::Pass => None,
        Outcome::Fail { message, .. } => Some((result.id.short_name(), message.as_str())),
    });
    let obstacles = report.obstacles().iter().map(|obstacle| (obstacle.subject.as_str(), obstacle.message.as_str()));
    for (subject, message) in obstacles.chain(failing) {
        let entry = format!("{subject}: {}\n\n", shortened(message.trim(), MAX_MESSAGE));
        if output.len() + entry.len() > MAX_OUTPUT {
            output += "[… more tests fail …]\n";
            break;
        }
        output += &entry;
    }
    output
}

fn shortened(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    format!("{} […]", &text[..end])
}

#[cfg(test)]
mod tests {
    use tdd_core::report::{Cause, Obstacle, TestResult};

    use super::*;

    fn id(name: &str) -> TestId {
        TestId::native("tests/test_a.py", name)
    }

    fn failed(message: &str) -> Outcome {
        Outcome::Fail { cause: Cause::Assertion, message: message.to_owned() }
    }

    #[test]
    fn only_what_ran_and_passed_counts() {
        let results = [
            TestResult::new(id("test_a"), Outcome::Pass, 0),
            TestResult::new(id("test_b[1]"), Outcome::Pass, 0),
            TestResult::new(id("test_b[2]"), failed("2 is not 3"), 0),
            TestResult::new(id("test_c[1]"), Outcome::Pass, 0),
        ];
        let report = Report::new(results, Vec::new());
        let score = judged(&["test_a", "test_b", "test_c", "test_missing"].map(id), &report);
        assert_eq!((score.passed, score.tests, score.is_solved()), (2, 4, false));
        assert_eq!(score.output, "test_b[2]: 2 is not 3\n\n");
    }

    #[test]
    fn a_solution_that_does_not_build_is_not_solved() {
        let report = Report::new([], vec![Obstacle::new("lib", Cause::SyntaxError, "expected `}`")]);
        let score = judged(&[id("test_a")], &report);
        assert_eq!((score.is_solved(), score.output.as_str()), (false, "lib: expected `}`\n\n"));
    }

    #[test]
    fn the_output_for_the_model_is_bounded() {
        let results = (0..50).map(|n| TestResult::new(id(&format!("test_{n}")), failed(&"é".repeat(900)), 0));
        let output = output(&Report::new(results, Vec::new()));
        assert!(output.len() < MAX_OUTPUT + 100, "{}", output.len());
        assert!(output.ends_with("[… more tests fail …]\n"), "{output}");
    }
}
