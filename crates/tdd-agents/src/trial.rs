//! Formats a trial run of the tests as a tool result of limited length, failures first.

use std::collections::BTreeSet;

use tdd_core::report::{Obstacle, Outcome, Report, TestResult};
use tdd_core::test_id::TestId;

use crate::cut;

/// Most passing tests, and most failing tests, that are listed.
const MAX_NAMED: usize = 50;
/// Most failures that are shown with their message.
const MAX_SHOWN: usize = 10;
/// Most bytes of one message.
const MAX_MESSAGE: usize = 1_500;

/// Formats the results of these tests, or of all if none is named.
pub(crate) fn results(report: &Report, only: &[TestId]) -> String {
    let is_wanted = |id: &TestId| only.is_empty() || only.contains(id);
    let ran = report.results().filter(|result| is_wanted(&result.id));
    let (passed, failed): (Vec<&TestResult>, Vec<&TestResult>) =
        ran.partition(|result| result.outcome == Outcome::Pass);
    let in_the_way: Vec<&Obstacle> = report.obstacles().iter().collect();
    let is_known = |id: &&TestId| report.get(id).is_some() || in_the_way.iter().any(|it| it.tests.contains(id));
    let unknown: Vec<&TestId> = only.iter().filter(|id| !is_known(id)).collect();
    let stopped_tests = in_the_way.iter().flat_map(|obstacle| stopped_tests(obstacle, report, &is_wanted));
    let not_run: BTreeSet<&TestId> = stopped_tests.chain(unknown.iter().copied()).collect();
    let mut lines: Vec<String> = in_the_way.iter().flat_map(|obstacle| stopped(obstacle, report, &is_wanted)).collect();
    lines.extend(unknown.iter().map(|id| format!("fail {id} (target-not-found)")));
    // A message that several tests share is shown once.
    let is_shown = |message: &str| in_the_way.iter().any(|obstacle| obstacle.message == message);
    let failures = failed.iter().take(MAX_NAMED).enumerate();
    lines.extend(failures.map(|(at, result)| failure(result, |message| at < MAX_SHOWN && !is_shown(message))));
    lines.extend(more(failed.len(), "fail"));
    lines.extend(passed.iter().take(MAX_NAMED).map(|result| format!("pass {}", result.id)));
    lines.extend(more(passed.len(), "pass"));
    let counts = Report::new(passed.into_iter().chain(failed).cloned(), Vec::new()).counts();
    let failed = usize::try_from(counts.failed).unwrap_or(usize::MAX).saturating_add(not_run.len());
    lines.push(format!("{} passed, {failed} failed, {} skipped", counts.passed, counts.skipped));
    lines.join("\n")
}

/// The tests that an obstacle stopped and that have no result of their own.
fn stopped_tests<'r>(obstacle: &'r Obstacle, report: &Report, is_wanted: &impl Fn(&TestId) -> bool) -> Vec<&'r TestId> {
    obstacle.tests.iter().filter(|id| is_wanted(id) && report.get(id).is_none()).collect()
}

/// Lists the tests that could not run, and why.
fn stopped(obstacle: &Obstacle, report: &Report, is_wanted: &impl Fn(&TestId) -> bool) -> Vec<String> {
    let tests = stopped_tests(obstacle, report, is_wanted);
    let mut lines: Vec<String> =
        tests.iter().take(MAX_NAMED).map(|id| format!("fail {id} ({})", obstacle.cause)).collect();
    lines.extend(more(tests.len(), "fail"));
    let place = obstacle.place.as_ref().map(|place| format!(" at {place}")).unwrap_or_default();
    lines.push(format!("{} could not be run ({}){place}", obstacle.subject, obstacle.cause));
    lines.extend(indented(&obstacle.message));
    lines
}

fn failure(result: &TestResult, in_full: impl Fn(&str) -> bool) -> String {
    let Outcome::Fail { cause, message } = &result.outcome else { return format!("pass {}", result.id) };
    let head = format!("fail {} ({cause})", result.id);
    std::iter::once(head).chain(indented(message).filter(|_| in_full(message))).collect::<Vec<_>>().join("\n")
}

/// Indents a message, so that none of its lines looks like a result.
fn indented(message: &str) -> Option<String> {
    let message = cut::head_and_tail(message.trim_end(), MAX_MESSAGE);
    let lines: Vec<String> = message.lines().map(|line| format!("    {line}")).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn more(all: usize, what: &str) -> Option<String> {
    (all > MAX_NAMED).then(|| format!("… {} more {what}", all - MAX_NAMED))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tdd_core::report::Cause;

    fn id(name: &str) -> TestId {
        TestId::native("tests/a.rs", name)
    }

    fn result(name: &str, said: Option<&str>) -> TestResult {
        let outcome = match said {
            None => Outcome::Pass,
            Some(message) => Outcome::Fail { cause: Cause::Assertion, message: message.to_owned() },
        };
        TestResult::new(id(name), outcome, 1)
    }

    #[test]
    fn failures_come_first_with_what_was_said() {
        let report = Report::new([result("a", None), result("b", Some("left: 1\npass tests/a.rs::b\n"))], vec![]);
        let expected = "fail tests/a.rs::b (assertion)\n    left: 1\n    pass tests/a.rs::b\npass tests/a.rs::a\n\
                        1 passed, 1 failed, 0 skipped";
        assert_eq!(results(&report, &[]), expected);
        assert_eq!(results(&report, &[id("a")]), "pass tests/a.rs::a\n1 passed, 0 failed, 0 skipped");
        let nowhere = "fail tests/a.rs::c (target-not-found)\n0 passed, 1 failed, 0 skipped";
        assert_eq!(results(&report, &[id("c")]), nowhere);
    }

    #[test]
    fn tests_that_could_not_be_run_are_named_with_what_stands_in_their_way() {
        let tests = vec![id("a"), id("b")];
        let place = Some("tests/a.rs:1".to_owned());
        let obstacle = Obstacle { tests, place, ..Obstacle::new("tests/a.rs", Cause::MissingSymbol, "no `add`") };
        let expected = "fail tests/a.rs::b (missing-symbol)\ntests/a.rs could not be run (missing-symbol) at \
                        tests/a.rs:1\n    no `add`\n0 passed, 1 failed, 0 skipped";
        assert_eq!(results(&Report::new([], vec![obstacle.clone()]), &[id("b")]), expected);
        let failed = |name| {
            let outcome = Outcome::Fail { cause: Cause::MissingSymbol, message: "no `add`".to_owned() };
            TestResult::new(id(name), outcome, 1)
        };
        let expected = "tests/a.rs could not be run (missing-symbol) at tests/a.rs:1\n    no `add`\nfail tests/a.rs::a \
                        (missing-symbol)\nfail tests/a.rs::b (missing-symbol)\n0 passed, 2 failed, 0 skipped";
        assert_eq!(results(&Report::new([failed("a"), failed("b")], vec![obstacle]), &[]), expected);
    }

    #[test]
    fn many_long_failures_are_shortened() {
        let long = "x".repeat(10_000);
        let failed = (0..80).map(|n| result(&format!("f{n:02}"), Some(&long)));
        let passed = (0..300).map(|n| result(&format!("p{n:03}"), None));
        let said = results(&Report::new(failed.chain(passed), vec![]), &[]);
        assert!(said.len() < 25_000, "{}", said.len());
        for words in ["… 30 more fail", "… 250 more pass", "300 passed, 80 failed, 0 skipped"] {
            assert!(said.contains(words), "{words} is not in {said}");
        }
    }
}
