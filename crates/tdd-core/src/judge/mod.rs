//! Judges a change after it was written, by what it did and what its tests showed.
//!
//! Pure: facts in, a [`Verdict`] out. Every change is judged the same, whoever made it.

pub(crate) mod others;
pub(crate) mod target;

use std::collections::BTreeMap;

use crate::change::{Change, TestChange, TestFacts};
use crate::digest::TreeId;
use crate::law::{Kind, RuleResult, RuleRunner, Subject};
use crate::report::{Cause, Report};
use crate::rule::{Refusal, Rule};
use crate::scope;
use crate::test_id::TestId;

/// The answer of the judge.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Verdict {
    /// The change keeps all rules.
    Holds(Holding),
    /// The change breaks a rule, or that could not be found out.
    Refused(Refusal),
}

/// Why a change keeps the rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holding {
    /// The test it is about, if any.
    pub test: Option<TestId>,
    /// For a red: why the test fails.
    pub cause: Option<Cause>,
    /// The reason in words.
    pub reason: String,
}

impl Holding {
    /// A change that is about no test in particular.
    pub fn of_reason(reason: String) -> Self {
        Self { test: None, cause: None, reason }
    }
}

/// A change and the test run on it.
#[derive(Clone, Copy, Debug)]
pub struct RunFacts<'a> {
    /// What the change did.
    pub change: &'a Change,
    /// The results of all tests.
    pub report: &'a Report,
    /// The tree before and after the run.
    pub trees: (&'a TreeId, &'a TreeId),
    /// What each test said before the change; `None` if that was not found out. A green needs it, and so does a change
    /// after which another test than the target does not pass.
    pub baseline: Option<&'a Baseline>,
    /// Files that a changed file includes but the tree lacks, as (changed file, included file).
    pub absent: &'a [(String, String)],
}

/// What each test said before the change: `None` if it passed, or why not.
pub type Baseline = BTreeMap<TestId, Option<Cause>>;

/// The results of all tests in a run, including those that a broken target kept from running.
pub fn baseline_of(report: &Report) -> Baseline {
    let taken_down = report.obstacles().iter();
    let taken_down = taken_down.flat_map(|it| it.tests.iter().map(|id| (id.clone(), Some(it.cause))));
    let ran = report.results().map(|result| (result.id.clone(), result.outcome.cause()));
    taken_down.chain(ran).collect()
}

/// Whether the baseline is needed to judge a change with this target.
pub fn needs_baseline(report: &Report, target: Option<&TestId>) -> bool {
    let taken_down = report.obstacles().iter().any(|obstacle| obstacle.cause != Cause::MissingSymbol);
    let failed = report.results().any(|result| result.outcome.cause().is_some() && Some(&result.id) != target);
    taken_down || failed
}

/// Judges a change by all rules that need only the change and a test run.
pub fn judge(rules: &mut RuleRunner<'_>, subject: &Subject<'_>, seen: &RunFacts<'_>) -> Verdict {
    let judged = rules.ask_change(subject, seen.change).and_then(|()| rules.ask_run(subject, seen));
    match judged {
        Ok(()) => Verdict::Holds(holding(subject, seen.report)),
        Err(refusal) => Verdict::Refused(named(refusal, subject)),
    }
}

/// Adds the target to a refusal that names no test, if the change is about one test.
pub(crate) fn named(refusal: Refusal, subject: &Subject<'_>) -> Refusal {
    match subject.target {
        Some(target) if refusal.test.is_none() && subject.kind != Kind::Green => refusal.about(target),
        Some(_) | None => refusal,
    }
}

/// Why a change keeps the rules, after all of them were asked.
pub(crate) fn holding(subject: &Subject<'_>, report: &Report) -> Holding {
    let cause = |test: &TestId| target::cause_of(report, test);
    let test = subject.target.or(subject.targets.first());
    let counts = report.counts();
    let (cause, reason) = match (subject.kind, test) {
        (Kind::Red, Some(target)) => match cause(target) {
            Some(cause) => (Some(cause), format!("`{target}` fails: {cause}")),
            None => (None, format!("a person made an exception for `{target}`")),
        },
        (Kind::Rethink, Some(target)) => match cause(target) {
            Some(cause) => (Some(cause), format!("`{target}` was revised and fails again: {cause}")),
            None => (None, format!("`{target}` was withdrawn")),
        },
        (Kind::Mend, Some(target)) => {
            (cause(target), format!("`{target}` was fixed, keeps its assertions and still fails"))
        }
        (Kind::Green, _) => (None, format!("{} and the whole suite with it", passing(subject.targets))),
        (Kind::Characterization, _) => {
            (None, format!("{} at once, and altered copies of it fail", passing(subject.targets)))
        }
        (Kind::Unblock, _) => (None, "every other test has the same result as before".to_owned()),
        (Kind::RefactorMode | Kind::OneTest, _) => {
            (None, format!("no test is lost and the suite passes ({})", tests(counts.passed)))
        }
        (Kind::Task | Kind::Execute, _) => {
            (None, format!("no test is lost or loosened ({} pass, {} fail)", counts.passed, counts.failed))
        }
        (Kind::Refactor | Kind::Red | Kind::Rethink | Kind::Mend, _) => {
            (None, format!("every test is kept and the suite passes ({})", tests(counts.passed)))
        }
        (Kind::NewTests | Kind::Scaffold | Kind::Unclaimed, _) => (None, "no test is loosened".to_owned()),
    };
    let about = match subject.kind {
        Kind::Refactor | Kind::Task | Kind::Execute | Kind::RefactorMode | Kind::Unclaimed => None,
        _ => test.cloned(),
    };
    Holding { test: about, cause, reason }
}

/// The refusal of a red that adds no test and no assertion.
pub fn no_new_test() -> Refusal {
    let next = "write a new test, or add an assertion to an existing one";
    Rule::RedFirst.refuse("the change adds no test and no assertion", next).because(Cause::TargetNotFound)
}

fn tests(count: u32) -> String {
    if count == 1 { "1 test".to_owned() } else { format!("{count} tests") }
}

fn passing(targets: &[TestId]) -> String {
    match targets {
        [only] => format!("`{only}` passes"),
        several => format!("{} targets pass", several.len()),
    }
}

/// The run did not change the tree that it ran on.
pub(crate) fn same_tree(seen: &RunFacts<'_>) -> RuleResult {
    let (before, after) = seen.trees;
    if before == after {
        return Ok(());
    }
    let reason = "the test run changed the project's files, so its result does not count";
    Err(Rule::SameTree
        .refuse(reason, "let the tests write outside of the project or to ignored paths, then run the command again"))
}

/// A changed file includes only files of the tree: otherwise the commit would lack what was tested.
pub(crate) fn includes_are_in_the_tree(seen: &RunFacts<'_>) -> RuleResult {
    seen.absent.first().map_or(Ok(()), |(path, file)| {
        let reason = format!("`{path}` includes `{file}`, which is not in the tree that git sees");
        Err(Rule::IgnoredPath.refuse(reason, "move it to a path that git does not ignore, or do without it"))
    })
}

/// Only the doubted test changed.
pub(crate) fn rethinks_one_test(subject: &Subject<'_>, change: &Change) -> RuleResult {
    let Some(target) = subject.target else { return scope::tests_frozen(change) };
    scope::rethink_changes_one_test(change, target, subject.was_green)
}

pub(crate) fn is_thought_over(subject: &Subject<'_>, seen: &RunFacts<'_>) -> RuleResult {
    subject.target.map_or(Ok(()), |target| thought_over(seen.change, target))
}

/// The doubted test was revised or withdrawn: a rethink that leaves it alone is refused.
fn thought_over(change: &Change, target: &TestId) -> RuleResult {
    let about = |test: &TestChange| matches!(test, TestChange::Removed(gone) if &gone.id == target);
    if change.tests.iter().any(about) || revised(change, target).is_some() {
        return Ok(());
    }
    let reason = format!("`{target}` is unchanged, but a rethink may change nothing else");
    Err(Rule::TestsFrozen.refuse(reason, format!("revise `{target}`, or leave everything as it is")).about(target))
}

/// The doubted test after the change, unless it was withdrawn.
pub(crate) fn revised<'a>(change: &'a Change, target: &TestId) -> Option<&'a TestFacts> {
    change.tests.iter().filter_map(TestChange::after).find(|test| &test.id == target)
}

#[cfg(test)]
mod tests;
