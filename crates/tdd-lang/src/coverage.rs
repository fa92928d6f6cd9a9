//! A test run that also measures coverage, which it reads from the output of the run's last commands.

use tdd_core::command::Finished;
use tdd_core::coverage::Coverage;
use tdd_core::report::{Cause, Report};

use crate::language::{Measured, Next, Sources, Suite};

/// Reads the coverage from the output of a run's last commands.
type Read<'l> = Box<dyn Fn(&[Finished], &dyn Sources) -> Measured + 'l>;

/// A test run whose commands measure coverage; `read` reads it from the output of the last commands.
pub(crate) fn measuring<'l>(
    suite: Box<dyn Suite + 'l>,
    read: impl Fn(&[Finished], &dyn Sources) -> Measured + 'l,
) -> Box<dyn Suite<Measured> + 'l> {
    Box::new(Measuring { suite, runs: Vec::new(), read: Box::new(read) })
}

struct Measuring<'l> {
    suite: Box<dyn Suite + 'l>,
    runs: Vec<Finished>,
    read: Read<'l>,
}

impl Suite<Measured> for Measuring<'_> {
    fn next(&mut self, sources: &dyn Sources) -> Next<Measured> {
        match self.suite.next(sources) {
            Next::Run(jobs) => Next::Run(jobs),
            Next::Done(report) => Next::Done(match failure(&report) {
                Some(why) => Err(why),
                None => (self.read)(&self.runs, sources),
            }),
        }
    }

    fn feed(&mut self, finished: Vec<Finished>) {
        self.runs.clone_from(&finished);
        self.suite.feed(finished);
    }
}

/// Why a report is not enough for coverage. A failing test stops early, so lines would wrongly seem unexecuted.
fn failure(report: &Report) -> Option<String> {
    if let Some(obstacle) = report.obstacles().first() {
        return Some(format!("{}: {}", obstacle.subject, obstacle.cause));
    }
    let stops = |cause: Cause| cause != Cause::Skipped;
    let failed = report.results().find(|result| result.outcome.cause().is_some_and(stops));
    failed.map(|result| format!("`{}` does not pass", result.id))
}

/// Adds the lines of a text to the coverage: lines with code that are not idle were executed.
pub(crate) fn of_text(coverage: &mut Coverage, path: &str, text: &str, is_idle: impl Fn(usize) -> bool) {
    coverage.measured(path);
    for (at, line) in text.lines().enumerate() {
        if holds_code(line) {
            coverage.saw(path, at + 1, !is_idle(at + 1));
        }
    }
}

/// Whether a line, in a language with braces, holds more than brackets and a comment.
pub(crate) fn holds_code(line: &str) -> bool {
    let line = line.trim();
    let is_comment = ["//", "/*", "*"].iter().any(|start| line.starts_with(start));
    !is_comment && line.chars().any(|c| !"{}()[];,".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_and_comments_are_no_code() {
        for line in ["", "  }", "});", "// a", "  /* a", " * a", "],"] {
            assert!(!holds_code(line), "{line}");
        }
        for line in ["} else {", "return 1", "x++; // a"] {
            assert!(holds_code(line), "{line}");
        }
    }
}
