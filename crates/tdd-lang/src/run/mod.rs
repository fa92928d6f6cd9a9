//! Shared by the test runs of all languages: why a command gave no result, messages of bounded length, and collecting
//! results for a report.

mod diagnosis_context;
mod marked;
mod quote;
mod results;

pub(crate) use self::diagnosis_context::DiagnosisContext;
pub(crate) use self::marked::Marked;
pub(crate) use self::quote::Quoting;
pub(crate) use self::results::{Results, blocks, no_tests_found};

use tdd_core::command::{Exit, Finished};
use tdd_core::report::{Cause, Obstacle, Outcome, Report, TestResult};
use tdd_core::test_id::TestId;

use crate::language::Selection;

/// When an error occurred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// While the test's file was loaded.
    Loading,
    /// Before or after the test itself: in its fixtures or hooks.
    Around,
    /// In the test.
    Running,
}

/// Maximum length of a result's message, in characters.
const MAX_MESSAGE: usize = 4000;

/// How many of the last lines of an output explain why a tool failed.
const LAST_LINES: usize = 12;

/// Why a command gave no result; `None` if it ran to its end, with any exit code.
pub(crate) fn could_not_run(finished: &Finished) -> Option<(Cause, String)> {
    match &finished.exit {
        Exit::Passed | Exit::Failed(_) => None,
        Exit::NotStarted(why) => Some((Cause::RunnerMissing, why.clone())),
        Exit::TimedOut => Some((Cause::Timeout, format!("it did not end within {} s", finished.duration.as_secs()))),
        Exit::Signalled(_) | Exit::Interrupted => Some((Cause::UnknownOutput, finished.exit.to_string())),
    }
}

/// [`could_not_run`] as an obstacle of this tool.
pub(crate) fn tool_obstacle(tool: &str, finished: &Finished) -> Option<Obstacle> {
    could_not_run(finished).map(|(cause, message)| Obstacle::new(tool, cause, message))
}

/// The last lines of a command's standard error, or its exit status if there are none.
pub(crate) fn last_words(finished: &Finished) -> String {
    last_lines(&finished.stderr.text(), &finished.exit)
}

/// The last non-blank lines of an output, or the exit status if there are none.
pub(crate) fn last_lines(output: &str, exit: &Exit) -> String {
    let lines: Vec<&str> = output.lines().filter(|line| !line.trim().is_empty()).collect();
    let first = lines.len().saturating_sub(LAST_LINES);
    if lines.is_empty() { exit.to_string() } else { shorten(lines[first..].join("\n")) }
}

/// Cuts a text that is too long for a message, and marks the cut.
pub(crate) fn shorten(text: impl Into<String>) -> String {
    let text = text.into();
    match text.char_indices().nth(MAX_MESSAGE) {
        None => text,
        Some((at, _)) => format!("{} …", &text[..at]),
    }
}

/// The outcome of a test that fails.
pub(crate) fn failure(cause: Cause, message: impl Into<String>) -> Outcome {
    Outcome::Fail { cause, message: message.into() }
}

/// The result of a test that fails.
pub(crate) fn failed(id: TestId, cause: Cause, message: impl Into<String>, millis: u64) -> TestResult {
    TestResult::new(id, failure(cause, message), millis)
}

/// The report of a run that an obstacle kept from starting: every selected test fails because of it.
pub(crate) fn report_without_run(selection: &Selection, obstacle: Obstacle) -> Report {
    let failed = selection.ids().iter().map(|id| failed(id.clone(), obstacle.cause, obstacle.message.clone(), 0));
    Report::new(failed.collect::<Vec<_>>(), vec![obstacle])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(shorten("ä".repeat(MAX_MESSAGE)), "ä".repeat(MAX_MESSAGE));
        assert_eq!(shorten("ä".repeat(MAX_MESSAGE + 1)), format!("{} …", "ä".repeat(MAX_MESSAGE)));
    }

    #[test]
    fn the_last_lines_leave_blank_ones_out() {
        assert_eq!(last_lines("a\n\n b\n", &Exit::Failed(1)), "a\n b");
        assert_eq!(last_lines("\n \n", &Exit::Failed(1)), Exit::Failed(1).to_string());
        let many: Vec<String> = (0..20).map(|line| line.to_string()).collect();
        assert_eq!(last_lines(&many.join("\n"), &Exit::Passed), many[8..].join("\n"));
    }
}
