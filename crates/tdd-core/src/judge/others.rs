//! Rules about all tests but the target: each keeps its result.

use super::{Baseline, RunFacts};
use crate::change::{Change, TestChange};
use crate::law::{Kind, RuleResult, Subject};
use crate::report::{Cause, Obstacle, Outcome};
use crate::rule::Rule;
use crate::test_id::TestId;

/// Every test but the targets has the result of the baseline, or passes if there is no baseline. A test that a missing
/// symbol keeps from running keeps its result, and a moved test is compared under its old id. Only a task of a
/// `type: execute` plan may leave tests failing, if `gate.test_gate` is off.
pub(crate) fn others_kept(subject: &Subject<'_>, seen: &RunFacts<'_>) -> RuleResult {
    if subject.kind == Kind::Execute && !subject.gate.test_gate {
        return Ok(());
    }
    let targets = own_tests(subject);
    let red = !targets.is_empty();
    for obstacle in seen.report.obstacles() {
        obstacle_allowed(obstacle, seen, red)?;
    }
    for result in seen.report.results().filter(|result| !targets.contains(&&result.id)) {
        other_kept(&result.id, &result.outcome, seen)?;
    }
    let Some(baseline) = seen.baseline else { return Ok(()) };
    // Targets have rules of their own; only a rethink may have withdrawn one.
    let gone = baseline.keys().find(|id| !targets.contains(id) && !is_there(id, seen));
    gone.map_or(Ok(()), |id| {
        let reason = format!("`{id}` existed before the change and is gone now");
        Err(Rule::OthersKept.refuse(reason, "restore it").because(Cause::TargetNotFound).about(id))
    })
}

/// The tests with rules of their own: those of a red, and the one of a rethink or an unblocking.
fn own_tests<'a>(subject: &Subject<'a>) -> Vec<&'a TestId> {
    match subject.kind {
        Kind::Red => subject.targets.iter().chain(subject.target).collect(),
        Kind::Rethink | Kind::Mend | Kind::Unblock => subject.target.into_iter().collect(),
        Kind::Green
        | Kind::Characterization
        | Kind::NewTests
        | Kind::Refactor
        | Kind::Task
        | Kind::Execute
        | Kind::RefactorMode
        | Kind::OneTest
        | Kind::Scaffold
        | Kind::Unclaimed => Vec::new(),
    }
}

/// No test is removed from the source. The baseline lacks tests of a base that did not build.
pub(crate) fn none_removed(change: &Change) -> RuleResult {
    let gone = change.tests.iter().find_map(|test| match test {
        TestChange::Removed(facts) => Some(&facts.id),
        TestChange::Added(_) | TestChange::Moved { .. } | TestChange::Changed { .. } => None,
    });
    gone.map_or(Ok(()), |id| Err(Rule::OthersKept.refuse(format!("`{id}` is gone"), "restore it").about(id)))
}

fn obstacle_allowed(obstacle: &Obstacle, seen: &RunFacts<'_>, red: bool) -> RuleResult {
    let known = |id: &TestId| seen.baseline.and_then(|baseline| baseline.get(id)).is_some();
    let as_before = seen.baseline.is_some_and(|baseline| {
        !obstacle.tests.is_empty() && obstacle.tests.iter().all(|id| baseline.get(id) == Some(&Some(obstacle.cause)))
    });
    // A project without tests may stay without tests.
    let still_none = obstacle.cause == Cause::ZeroTests && seen.baseline.is_some_and(Baseline::is_empty);
    if as_before || still_none || (red && obstacle.cause == Cause::MissingSymbol) {
        return Ok(());
    }
    let taken_down = obstacle.tests.iter().filter(|id| known(id)).count();
    let tests = if taken_down == 1 { "1 known test".to_owned() } else { format!("{taken_down} known tests") };
    let reason = format!("`{}` could not be run: {} ({tests} in it)", obstacle.subject, obstacle.cause);
    let next = match obstacle.cause {
        Cause::MissingSymbol => "keep the names that the tests use",
        _ => "fix it; the results of the tests in it are unknown",
    };
    Err(Rule::OthersKept.refuse(reason, next).because(obstacle.cause))
}

fn other_kept(id: &TestId, outcome: &Outcome, seen: &RunFacts<'_>) -> RuleResult {
    let Some(cause) = outcome.cause() else { return Ok(()) };
    let was_called = moves(seen.change).find(|(_, after)| *after == id).map_or(id, |(before, _)| before);
    let before = seen.baseline.and_then(|baseline| baseline.get(was_called));
    let (cause, reason, next) = match (before, cause) {
        (Some(Some(before)), now) if *before == now => return Ok(()),
        (Some(Some(before)), now) => {
            (now, format!("`{id}` failed before with {before}, and now with {now}"), "find out why it changed")
        }
        (Some(None), now) => (now, format!("`{id}` passed before and fails now: {now}"), "make it pass again"),
        (None, now) => (now, format!("`{id}` fails: {now}"), "make it pass first"),
    };
    let cause = if cause == Cause::Assertion { Cause::UnrelatedFailure } else { cause };
    Err(Rule::OthersKept.refuse(reason, next).because(cause).about(id))
}

fn is_there(id: &TestId, seen: &RunFacts<'_>) -> bool {
    let is_called = moves(seen.change).find(|(before, _)| *before == id).map_or(id, |(_, after)| after);
    seen.report.get(is_called).is_some()
        || seen.report.obstacles().iter().any(|obstacle| obstacle.tests.contains(is_called))
}

/// The moved tests, each with its old and its new id.
fn moves(change: &Change) -> impl Iterator<Item = (&TestId, &TestId)> {
    change.tests.iter().filter_map(|test| match test {
        TestChange::Moved { before, after } => Some((&before.id, &after.id)),
        TestChange::Added(_) | TestChange::Removed(_) | TestChange::Changed { .. } => None,
    })
}
