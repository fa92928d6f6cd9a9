//! Adds the source line to the message of a syntax error, since not every runner shows it.

use tdd_core::command::Finished;
use tdd_core::report::{Cause, Obstacle, Report};

use crate::language::{Next, Sources, Suite};

/// A test run whose report quotes the lines that do not parse.
pub(crate) struct Quoting<'l>(pub Box<dyn Suite + 'l>);

impl Suite for Quoting<'_> {
    fn next(&mut self, sources: &dyn Sources) -> Next<Report> {
        match self.0.next(sources) {
            Next::Run(jobs) => Next::Run(jobs),
            Next::Done(report) => Next::Done(report.map_obstacles(|obstacle| quoted(obstacle, sources))),
        }
    }

    fn feed(&mut self, finished: Vec<Finished>) {
        self.0.feed(finished);
    }
}

fn quoted(obstacle: Obstacle, sources: &dyn Sources) -> Obstacle {
    let Some(place) = obstacle.place.as_ref().filter(|_| obstacle.cause == Cause::SyntaxError) else { return obstacle };
    let Some(line) = line_at(place, sources).filter(|line| !obstacle.message.contains(line)) else { return obstacle };
    let message = format!("{}\n{place}: {line}", obstacle.message.trim_end());
    Obstacle { message, ..obstacle }
}

/// The line at `path:line`, if it is not blank.
fn line_at(place: &str, sources: &dyn Sources) -> Option<String> {
    let (path, line) = place.rsplit_once(':')?;
    let line: usize = line.parse().ok()?;
    let text = sources.read(path)?;
    let text = text.lines().nth(line.checked_sub(1)?)?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::memory;

    fn check(place: &str, cause: Cause, message: &str, expected: &str) {
        let files = memory(&[("a_test.go", "package a\n\n\tif x\n")]);
        let obstacle = Obstacle { place: Some(place.to_owned()), ..Obstacle::new("a_test.go", cause, message) };
        assert_eq!(quoted(obstacle, &files).message, expected);
    }

    #[test]
    fn a_line_that_does_not_parse_is_shown_once() {
        check("a_test.go:3", Cause::SyntaxError, "unexpected newline\n", "unexpected newline\na_test.go:3: if x");
        check("a_test.go:3", Cause::SyntaxError, "3 | if x\n", "3 | if x\n");
        check("a_test.go:3", Cause::LoadFailure, "gone", "gone");
        for nowhere in ["a_test.go:2", "a_test.go:9", "a_test.go:0", "b_test.go:1", "a_test.go"] {
            check(nowhere, Cause::SyntaxError, "said", "said");
        }
    }
}
