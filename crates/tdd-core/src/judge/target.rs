//! Rules about the target of a red or a green.

use super::{Baseline, RunFacts, revised};
use crate::change::{Change, TestFacts};
use crate::law::{Kind, RuleResult, Subject};
use crate::report::{Cause, Outcome, Report};
use crate::rule::{Refusal, Rule};
use crate::test_id::TestId;

/// A rethought or mended test is red again, unless it was withdrawn.
pub(crate) fn fails_again(subject: &Subject<'_>, seen: &RunFacts<'_>) -> RuleResult {
    let Some(target) = subject.target else { return Ok(()) };
    if subject.kind == Kind::Rethink && revised(seen.change, target).is_none() {
        return Ok(());
    }
    match fate(seen.report, target)? {
        (Some(cause), _) if subject.gate.takes_for_red(cause) => Ok(()),
        (Some(cause), message) => Err(invalid(cause, target, &message)),
        (None, _) => {
            let reason = format!("`{target}` passes now, so nothing is left to implement");
            let next = "revise it so that it asks for what the kata asks, or leave it as it is";
            Err(Rule::RedFirst.refuse(reason, next).because(Cause::UnexpectedGreen).about(target))
        }
    }
}

/// The target is new or has gained assertions, and failed for a valid cause.
pub(crate) fn fails_validly(subject: &Subject<'_>, seen: &RunFacts<'_>) -> RuleResult {
    let Some(target) = subject.target else { return Ok(()) };
    let (cause, message) = unmarked(fate(seen.report, target)?, seen.change, target);
    if let Some(cause) = cause.filter(|cause| !subject.gate.takes_for_red(*cause)) {
        return Err(invalid(cause, target, &message));
    }
    if !seen.change.new_demands().any(|test| &test.id == target) {
        let reason = format!("`{target}` is not new, and it gained no assertion since the base");
        let next = "write a new test, or add an assertion to this one; `--base REV` names another base";
        return Err(Rule::RedFirst.refuse(reason, next).because(Cause::TargetNotFound).about(target));
    }
    if cause.is_some() {
        return Ok(());
    }
    let reason = format!("`{target}` passes already");
    let next = "write a test for behaviour that is missing";
    Err(Rule::RedFirst.refuse(reason, next).because(Cause::UnexpectedGreen).about(target))
}

/// Why a test failed, if that is known.
pub(crate) fn cause_of(report: &Report, target: &TestId) -> Option<Cause> {
    fate(report, target).ok().and_then(|(cause, _)| cause)
}

/// The result of a test: `None` if it passed, or the cause and message. An error if there is no result.
fn fate(report: &Report, target: &TestId) -> Result<(Option<Cause>, String), Refusal> {
    if let Some(result) = report.get(target) {
        return Ok(match &result.outcome {
            Outcome::Pass => (None, String::new()),
            Outcome::Fail { cause, message } => (Some(*cause), message.clone()),
        });
    }
    let holding = report.obstacles().iter().find(|obstacle| obstacle.tests.contains(target));
    if let Some(obstacle) = holding.or_else(|| report.environment_failure()) {
        return Ok((Some(obstacle.cause), obstacle.message.clone()));
    }
    let none_ran = report.results().next().is_none() && report.obstacles().is_empty();
    let cause = if none_ran { Cause::ZeroTests } else { Cause::TargetNotFound };
    Err(invalid(cause, target, ""))
}

/// Applies a test's skip marker: a skipped test counts as skipped even if something else keeps its file from building.
fn unmarked((cause, message): (Option<Cause>, String), change: &Change, target: &TestId) -> (Option<Cause>, String) {
    let unbuilt = matches!(cause, Some(Cause::MissingSymbol | Cause::UnrelatedCompileError | Cause::LoadFailure));
    let mark = change.new_demands().find(|test| &test.id == target).and_then(|test| test.skipped.as_ref());
    match mark.filter(|mark| mark.always && unbuilt) {
        Some(mark) => (Some(Cause::Skipped), mark.text.clone()),
        None => (cause, message),
    }
}

/// The refusal of an invalid red, with what to do about it.
pub(super) fn invalid(cause: Cause, target: &TestId, message: &str) -> Refusal {
    let (reason, next) = match cause {
        Cause::RunnerMissing => {
            ("could not be run, because the test runner is missing", "`tdd-cli doctor` says what to install")
        }
        Cause::Timeout => {
            ("did not finish before its timeout", "make the test end by itself, or raise `ci.timeout_secs`")
        }
        Cause::Crash => ("crashed or exited before the test report was complete", "make it fail with an assertion"),
        Cause::UnknownOutput => ("ran, but its report contradicts itself", "`tdd-cli auto-test -v` shows the output"),
        Cause::TargetNotFound => (
            "was not found among the tests",
            "check its name: `tdd-cli auto-test` lists the tests; if the test needs a feature or a setting, add it \
             to `ci.test_cmd`",
        ),
        Cause::ZeroTests => ("was not found: the project has no tests", "write it, and make the runner find it"),
        Cause::Skipped => ("is skipped", "remove the skip marker"),
        Cause::SyntaxError => ("does not parse", "fix the syntax"),
        Cause::UnrelatedCompileError => {
            ("does not compile, and the cause is not missing production code", "fix the test; it may lack an import")
        }
        Cause::LoadFailure => ("could not be loaded", "fix the error that keeps its file from loading"),
        Cause::BaselineNotGreen => ("cannot be judged: other tests failed before", "make them pass first"),
        Cause::UnrelatedFailure => ("failed for another reason", "make it fail because production code is missing"),
        Cause::Flaky => ("passes and fails on the same files", "make its result repeatable"),
        Cause::VacuousTest => ("cannot fail", "assert something about what production does"),
        Cause::Disarmed => ("is rigged by production code", "remove what rigs comparison, assertion or reporting"),
        Cause::Circumstantial => ("passes only under its runner", "remove what asks for the runner from production"),
        Cause::Weakened => ("notices less than before", "undo what hides production's values from it"),
        Cause::UnexpectedGreen => ("passes already", "write a test for behaviour that is missing"),
        Cause::MissingSymbol => (
            "does not compile because production code is missing, and `gate.red_compile: never` accepts only a test \
             that ran",
            "begin with a test that compiles, or let a person add what it names: `tdd-cli refactor begin`",
        ),
        Cause::Assertion => ("fails", "make it pass with the simplest code; leave out what no test asks for yet"),
    };
    Rule::RedFirst.refuse(format!("`{target}` {reason}{}", headline_suffix(message)), next).because(cause).about(target)
}

/// `: ` and the headline, if there is one.
fn headline_suffix(message: &str) -> String {
    let text = headline(message);
    if text.is_empty() { text } else { format!(": {text}") }
}

/// The first line of a message; a line that ends in a colon is joined with the next ones.
pub(super) fn headline(message: &str) -> String {
    let mut lines = message.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    if !first.ends_with(':') {
        return first.to_owned();
    }
    let rest: Vec<&str> = lines.take_while(|line| !line.starts_with("note:")).take(3).collect();
    format!("{first} {}", rest.join(", ")).trim_end().to_owned()
}

/// The target of a red can fail, and depends on production.
pub(crate) fn asserts_more(subject: &Subject<'_>, seen: &RunFacts<'_>) -> RuleResult {
    subject.target.map_or(Ok(()), |target| asserts(seen.change, target))
}

/// A revised test can fail, and depends on production.
pub(crate) fn still_asserts(subject: &Subject<'_>, seen: &RunFacts<'_>) -> RuleResult {
    let test = subject.target.and_then(|target| revised(seen.change, target));
    test.map_or(Ok(()), asserts_something)
}

pub(crate) fn asserts(change: &Change, target: &TestId) -> RuleResult {
    change.new_demands().find(|test| &test.id == target).map_or(Ok(()), asserts_something)
}

fn asserts_something(test: &TestFacts) -> RuleResult {
    let target = &test.id;
    let reason = match (test.can_fail(), test.asks_production) {
        (true, true) => return Ok(()),
        (false, _) => format!("`{target}` asserts nothing"),
        (true, false) => format!("no assertion of `{target}` depends on production code"),
    };
    Err(Rule::TestAsserts.refuse(reason, "assert what production does").because(Cause::VacuousTest).about(target))
}

/// Every target of a green was red before it.
pub(crate) fn were_red(subject: &Subject<'_>, seen: &RunFacts<'_>) -> RuleResult {
    if subject.targets.is_empty() {
        let next = "write a test that fails, and run `tdd-cli validate-red` so that the machine sees it fail";
        return Err(Rule::RedFirst.refuse("a green needs a red test, and none is named", next));
    }
    subject.targets.iter().try_for_each(|target| was_red_before(subject, target, seen.baseline))
}

fn was_red_before(subject: &Subject<'_>, target: &TestId, before: Option<&Baseline>) -> RuleResult {
    match before.and_then(|before| before.get(target)) {
        Some(Some(cause)) if subject.gate.takes_for_red(*cause) => Ok(()),
        Some(Some(cause)) => Err(invalid(*cause, target, "")),
        Some(None) => {
            let reason = format!("`{target}` passed before the change, so the change did not make it pass");
            let next = "begin with a test that fails";
            Err(Rule::RedFirst.refuse(reason, next).because(Cause::UnexpectedGreen).about(target))
        }
        None => {
            let reason = format!("the machine has not seen `{target}` fail before the change");
            let next = "run `tdd-cli validate-red` on it before you implement it";
            Err(Rule::RedFirst.refuse(reason, next).because(Cause::TargetNotFound).about(target))
        }
    }
}

/// Every target of a green passes.
pub(crate) fn all_pass(subject: &Subject<'_>, seen: &RunFacts<'_>) -> RuleResult {
    subject.targets.iter().try_for_each(|target| passes(seen.report, target))
}

pub(crate) fn passes(report: &Report, target: &TestId) -> RuleResult {
    // If a library does not build, it is unknown which tests would have run.
    let unbuilt = |breach| match report.obstacles().first() {
        Some(obstacle) => Ok((Some(obstacle.cause), obstacle.message.clone())),
        None => Err(breach),
    };
    let breach = match fate(report, target).or_else(unbuilt) {
        Ok((None, _)) => return Ok(()),
        Ok((Some(cause @ (Cause::MissingSymbol | Cause::UnrelatedCompileError | Cause::SyntaxError)), message)) => {
            let (reason, next) = unbuilt_green(cause);
            Rule::TargetPasses
                .refuse(format!("`{target}` {reason}{}", headline_suffix(&message)), next)
                .because(cause)
                .about(target)
        }
        Ok((Some(cause), message)) => invalid(cause, target, &message),
        Err(breach) => breach,
    };
    Err(Refusal { rule: Rule::TargetPasses, ..breach })
}

/// Why a green's target cannot be built, and what to do. The test is not at fault.
fn unbuilt_green(cause: Cause) -> (&'static str, &'static str) {
    match cause {
        Cause::MissingSymbol => {
            ("does not compile yet", "define what it names in the production code, and leave the test as it is")
        }
        _ => ("cannot be built any more", "fix the production code, and leave the test as it is"),
    }
}
