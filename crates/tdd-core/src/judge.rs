//! The judge after the effect: what a change did and what its tests showed, held against the law.
//!
//! Pure: facts in, a [`Ruling`] out. Whoever made the change, and by whatever way, it is judged the same.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::change::{Change, ItemChange, ItemFate, TestChange, TestFacts};
use crate::digest::TreeId;
use crate::report::{Cause, Fault, Obstacle, Outcome, Report};
use crate::test_id::TestId;

/// The rules of the judge, by the names that a refusal prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Law {
    /// Evidence is of the tree that is judged: a run that changed it is void.
    SameTree,
    /// What steers building and running is not changed by a step.
    SteeringFrozen,
    /// A red changes tests only, a green production only, a refactor one of the two.
    PhaseScope,
    /// No test is deleted, skipped, loosened, or has what it uses changed under it.
    TestsFrozen,
    /// A red brings one behaviour.
    OneBehaviour,
    /// The target was not passing before, and fails now, for a valid cause.
    RedFirst,
    /// A test can fail, and asks something of production.
    TestAsserts,
    /// The target passes.
    TargetPasses,
    /// Every other test is as it was before.
    OthersKept,
    /// The check command passes.
    CheckPasses,
    /// The test fails when its expectation is changed, and passes under another name.
    CounterProof,
}

impl Law {
    /// Every rule, in the order in which they are asked.
    pub const ALL: [Self; 11] = [
        Self::SameTree,
        Self::SteeringFrozen,
        Self::PhaseScope,
        Self::TestsFrozen,
        Self::OneBehaviour,
        Self::RedFirst,
        Self::TestAsserts,
        Self::TargetPasses,
        Self::OthersKept,
        Self::CheckPasses,
        Self::CounterProof,
    ];

    /// The rule's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::SameTree => "same-tree",
            Self::SteeringFrozen => "steering-frozen",
            Self::PhaseScope => "phase-scope",
            Self::TestsFrozen => "tests-frozen",
            Self::OneBehaviour => "one-behaviour",
            Self::RedFirst => "red-first",
            Self::TestAsserts => "test-asserts",
            Self::TargetPasses => "target-passes",
            Self::OthersKept => "others-kept",
            Self::CheckPasses => "check-passes",
            Self::CounterProof => "counter-proof",
        }
    }
}

/// What the judge says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Ruling {
    /// The change keeps the law.
    Holds(Holding),
    /// It does not, or it could not be found out.
    Refused(Breach),
}

/// Why a change keeps the law.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holding {
    /// The test that it is about, if it is about one.
    pub test: Option<TestId>,
    /// For a red: why the test fails.
    pub cause: Option<Cause>,
    /// In words.
    pub reason: String,
}

/// How a change breaks the law.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// Which rule.
    pub rule: Law,
    /// The cause of the contract, where it has one.
    pub cause: Option<Cause>,
    /// The test that it is about, if it is about one.
    pub test: Option<TestId>,
    /// Why, for this change.
    pub reason: String,
    /// The next legal action.
    pub next: String,
}

impl Breach {
    pub(crate) fn new(rule: Law, reason: impl Into<String>, next: &str) -> Self {
        Self { rule, cause: None, test: None, reason: reason.into(), next: next.to_owned() }
    }

    pub(crate) fn because(mut self, cause: Cause) -> Self {
        self.cause = Some(cause);
        self
    }

    pub(crate) fn about(mut self, test: &TestId) -> Self {
        self.test = Some(test.clone());
        self
    }

    /// Whose fault it is: only what could not be found out is the environment's.
    pub fn fault(&self) -> Fault {
        self.cause.map_or(Fault::Change, Cause::fault)
    }
}

/// What was seen of a change.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// What it did.
    pub change: &'a Change,
    /// The run of all tests on it.
    pub report: &'a Report,
    /// The tree before that run, and after it.
    pub trees: (&'a TreeId, &'a TreeId),
    /// What every test said before the change; `None` if nobody looked. Needed only where a test other
    /// than the target does not pass.
    pub baseline: Option<&'a Baseline>,
    /// How many tests a red may bring.
    pub max_new_tests: u32,
}

/// What every test said before the change: passed, or why not.
pub type Baseline = BTreeMap<TestId, Option<Cause>>;

/// What every test said in a run, those included that a broken target takes down.
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

/// Judges a red: a test that asks for more than before and fails for want of it. `targets` are all tests
/// that the red is about, this one among them.
pub fn judge_red(seen: &Seen<'_>, target: &TestId, targets: &[&TestId]) -> Ruling {
    let judged = same_tree(seen)
        .and_then(|()| steering_frozen(seen.change))
        .and_then(|()| red_changes_tests_only(seen.change))
        .and_then(|()| tests_frozen(seen.change))
        .and_then(|()| one_behaviour(seen))
        .and_then(|()| fails_validly(seen, target))
        .and_then(|cause| asserts(seen.change, target).map(|()| cause))
        .and_then(|cause| others_kept(seen, targets).map(|()| cause));
    match judged {
        Ok(cause) => Ruling::Holds(Holding {
            test: Some(target.clone()),
            cause: Some(cause),
            reason: format!("`{target}` fails: {cause}"),
        }),
        Err(breach) => Ruling::Refused(if breach.test.is_none() { breach.about(target) } else { breach }),
    }
}

/// Judges the tests' part of a change that brings tests and production at once: nothing may be loosened,
/// and what is new must be able to fail.
pub fn judge_new_tests(change: &Change) -> Option<Breach> {
    let judged = steering_frozen(change)
        .and_then(|()| readable(change))
        .and_then(|()| tests_frozen(change))
        .and_then(|()| change.new_demands().try_for_each(|test| asserts(change, &test.id)));
    judged.err()
}

/// Judges the check command's run.
pub fn judge_check(passed: bool, command: &str, said: &str) -> Option<Breach> {
    let first = said.lines().map(str::trim).find(|line| line.starts_with("error"));
    let said = first.map(|line| format!(": {line}")).unwrap_or_default();
    (!passed).then(|| Breach::new(Law::CheckPasses, format!("`{command}` fails{said}"), "mend what it complains about"))
}

/// Judges a green: production changed, and tests that were red pass with all others.
pub fn judge_green(seen: &Seen<'_>, targets: &[&TestId], was_red: &Baseline) -> Ruling {
    let judged = same_tree(seen)
        .and_then(|()| steering_frozen(seen.change))
        .and_then(|()| green_changes_production_only(seen.change))
        .and_then(|()| targets.iter().try_for_each(|target| was_red_before(target, was_red)))
        .and_then(|()| targets.iter().try_for_each(|target| passes(seen.report, target)))
        .and_then(|()| others_kept(seen, &[]));
    match judged {
        Ok(()) => Ruling::Holds(Holding {
            test: targets.first().map(|&target| target.clone()),
            cause: None,
            reason: format!("{} and the whole suite with it", passing(targets)),
        }),
        Err(breach) => Ruling::Refused(breach),
    }
}

/// Judges a refactor: every test kept and passing, production or tests changed, not both.
pub fn judge_refactor(seen: &Seen<'_>) -> Ruling {
    let judged = same_tree(seen)
        .and_then(|()| steering_frozen(seen.change))
        .and_then(|()| tests_kept(seen.change))
        .and_then(|()| one_side_only(seen.change))
        .and_then(|()| support_kept(seen.change))
        .and_then(|()| others_kept(seen, &[]));
    match judged {
        Ok(()) => {
            let counts = seen.report.counts();
            let reason = format!("every test is kept and the suite passes ({} tests)", counts.passed);
            Ruling::Holds(Holding { test: None, cause: None, reason })
        }
        Err(breach) => Ruling::Refused(breach),
    }
}

fn passing(targets: &[&TestId]) -> String {
    match targets {
        [only] => format!("`{only}` passes"),
        several => format!("{} targets pass", several.len()),
    }
}

fn same_tree(seen: &Seen<'_>) -> Result<(), Breach> {
    let (before, after) = seen.trees;
    if before == after {
        return Ok(());
    }
    let reason = "the files changed while the tests ran, so the run says nothing about them";
    Err(Breach::new(Law::SameTree, reason, "make the tests leave the project's files alone, then run it again"))
}

fn steering_frozen(change: &Change) -> Result<(), Breach> {
    match change.steering.iter().find(|change| !change.free) {
        None => Ok(()),
        Some(bad) => Err(Breach::new(
            Law::SteeringFrozen,
            format!("`{}` steers how tests are built and run, and this changed in it: {}", bad.path, bad.what),
            "put it back; a person changes it, or do it in refactor mode",
        )),
    }
}

fn red_changes_tests_only(change: &Change) -> Result<(), Breach> {
    readable(change)?;
    match change.production.first() {
        None => Ok(()),
        Some(item) => Err(Breach::new(
            Law::PhaseScope,
            format!("{} is production code, and a red changes tests only", place(item)),
            "put it back; write it when the test is red",
        )),
    }
}

fn green_changes_production_only(change: &Change) -> Result<(), Breach> {
    readable(change)?;
    if let Some(changed) = change.tests.first() {
        let (what, facts) = match changed {
            TestChange::Added(facts) => ("is new", facts),
            TestChange::Removed(facts) => ("is gone", facts),
            TestChange::Moved { after, .. } => ("was moved", after),
            TestChange::Changed { after, .. } => ("was changed", after),
        };
        let reason = format!("the test `{}` {what}, and a green changes production only", facts.id);
        return Err(Breach::new(Law::TestsFrozen, reason, "put the tests back as they were at red").about(&facts.id));
    }
    match change.support.first() {
        None => Ok(()),
        Some(item) => Err(Breach::new(
            Law::TestsFrozen,
            format!("{} is used by tests, and a green changes production only", place(item)),
            "put it back as it was at red",
        )),
    }
}

fn readable(change: &Change) -> Result<(), Breach> {
    match change.unreadable.first() {
        None => Ok(()),
        Some(path) => Err(Breach::new(
            Law::TestsFrozen,
            format!("`{path}` does not parse, so it cannot be said which tests are in it"),
            "mend its syntax",
        )
        .because(Cause::SyntaxError)),
    }
}

/// No test lost anything, and what tests use was only added to.
fn tests_frozen(change: &Change) -> Result<(), Breach> {
    for test in &change.tests {
        if let Some(why) = loosened(test) {
            let facts = facts(test);
            let reason = format!("the test `{}` {why}", facts.id);
            let next = "put it back as it was; a test that is wrong goes through a rethink";
            return Err(Breach::new(Law::TestsFrozen, reason, next).about(&facts.id));
        }
    }
    if let Some(item) = change.support.iter().find(|item| item.fate != ItemFate::Added) {
        return Err(Breach::new(
            Law::TestsFrozen,
            format!("{} is used by tests that are there already, and was not only added to", place(item)),
            "put it back, and add what the new test needs beside it",
        ));
    }
    match change.support.iter().find(|item| shadows_an_assertion(item)) {
        None => Ok(()),
        Some(item) => Err(Breach::new(
            Law::TestsFrozen,
            format!("{} takes the place of what tests assert with", place(item)),
            "give it another name",
        )),
    }
}

/// A macro of its own in the place of one that tests rely on.
fn shadows_an_assertion(item: &ItemChange) -> bool {
    let name = item.item.strip_prefix("macro `").and_then(|rest| rest.strip_suffix('`'));
    name.is_some_and(|name| {
        name.starts_with("assert") || name.starts_with("debug_assert") || matches!(name, "panic" | "test" | "matches")
    })
}

/// What a test lost, if it lost anything.
fn loosened(change: &TestChange) -> Option<&'static str> {
    match change {
        TestChange::Added(_) => None,
        TestChange::Removed(_) => Some("is gone"),
        TestChange::Moved { before, after } if newly_skipped(before, after) => Some("is skipped now"),
        TestChange::Moved { .. } => None,
        TestChange::Changed { before, after, .. } if newly_skipped(before, after) => Some("is skipped now"),
        TestChange::Changed { before, after, .. } if !before.should_panic && after.should_panic => {
            Some("is meant to panic now")
        }
        TestChange::Changed { before, after, .. } if before.conditions != after.conditions => {
            Some("exists under other conditions now")
        }
        TestChange::Changed { before, after, .. } if lost_assertion(before, after) => {
            Some("lost an assertion, or one of its expectations was changed")
        }
        TestChange::Changed { only_added: false, .. } => Some("was changed, not only added to"),
        TestChange::Changed { only_added: true, .. } => None,
    }
}

fn newly_skipped(before: &TestFacts, after: &TestFacts) -> bool {
    before.skipped.is_none() && after.skipped.is_some()
}

fn lost_assertion(before: &TestFacts, after: &TestFacts) -> bool {
    let mut left = after.assertions.clone();
    before.assertions.iter().any(|wanted| match left.iter().position(|there| there == wanted) {
        Some(at) => {
            left.swap_remove(at);
            false
        }
        None => true,
    })
}

fn facts(change: &TestChange) -> &TestFacts {
    match change {
        TestChange::Added(facts) | TestChange::Removed(facts) => facts,
        TestChange::Moved { after, .. } | TestChange::Changed { after, .. } => after,
    }
}

fn one_behaviour(seen: &Seen<'_>) -> Result<(), Breach> {
    let demands = seen.change.new_demands().count();
    match u32::try_from(demands) {
        Ok(demands) if demands <= seen.max_new_tests => Ok(()),
        _ => Err(Breach::new(
            Law::OneBehaviour,
            format!("{demands} tests ask for something new, and a red brings {}", seen.max_new_tests),
            "keep the simplest of them, and bring the others one by one",
        )),
    }
}

/// The target is new or has gained assertions, was run or tried, and failed for a valid cause.
fn fails_validly(seen: &Seen<'_>, target: &TestId) -> Result<Cause, Breach> {
    let (cause, message) = fate(seen.report, target)?;
    if let Some(cause) = cause.filter(|cause| !cause.is_valid_red()) {
        return Err(invalid(cause, target, &message));
    }
    if !seen.change.new_demands().any(|test| &test.id == target) {
        let reason = format!("`{target}` is neither new nor has it gained an assertion since the base");
        let next = "write a new test, or add an assertion to this one; `--base REV` names another base";
        return Err(Breach::new(Law::RedFirst, reason, next).because(Cause::TargetNotFound).about(target));
    }
    cause.ok_or_else(|| {
        let reason = format!("`{target}` passes already");
        let next = "keep it if it documents something, and write a test for what is not there yet";
        Breach::new(Law::RedFirst, reason, next).because(Cause::UnexpectedGreen).about(target)
    })
}

/// What became of a test: passed (`None`), or why not. An error if nobody can say.
fn fate(report: &Report, target: &TestId) -> Result<(Option<Cause>, String), Breach> {
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

/// A red for a cause that is not valid, with what to do about it.
fn invalid(cause: Cause, target: &TestId, message: &str) -> Breach {
    let (reason, next) = match cause {
        Cause::RunnerMissing => ("could not be run: the runner is missing", "`tdd-cli doctor` says what to install"),
        Cause::Timeout => ("did not end in time", "make the test end by itself, or raise `ci.timeout_secs`"),
        Cause::Crash => ("ended its process before its report was complete", "let it fail by an assertion"),
        Cause::UnknownOutput => {
            ("ran, but its report cannot be believed", "`tdd-cli auto-test -v` shows what was said")
        }
        Cause::TargetNotFound => ("is not among the tests that were found", "check its name: `tdd-cli auto-test`"),
        Cause::ZeroTests => ("was not found: there is not a single test", "write it, and make the runner find it"),
        Cause::Skipped => ("is skipped", "take the marker away"),
        Cause::SyntaxError => ("does not parse", "mend the syntax"),
        Cause::UnrelatedCompileError => {
            ("does not compile, and not for want of production code", "mend the error in the test")
        }
        Cause::LoadFailure => ("could not be loaded", "mend what keeps it from being loaded"),
        Cause::BaselineNotGreen => ("cannot be judged: other tests failed before", "make them pass first"),
        Cause::UnrelatedFailure => ("failed for another reason", "let it fail for want of production code"),
        Cause::Flaky => ("passes and fails on the same files", "make it repeatable"),
        Cause::VacuousTest => ("cannot fail", "assert something about what production does"),
        Cause::UnexpectedGreen => ("passes already", "write a test for what is not there yet"),
        Cause::Assertion | Cause::MissingSymbol => ("fails", "make it pass"),
    };
    let said = message.lines().find(|line| !line.trim().is_empty()).map(|line| format!(": {}", line.trim()));
    let reason = format!("`{target}` {reason}{}", said.unwrap_or_default());
    Breach::new(Law::RedFirst, reason, next).because(cause).about(target)
}

fn asserts(change: &Change, target: &TestId) -> Result<(), Breach> {
    let Some(test) = change.new_demands().find(|test| &test.id == target) else { return Ok(()) };
    let reason = match (test.can_fail(), test.asks_production) {
        (true, true) => return Ok(()),
        (false, _) => format!("`{target}` asserts nothing"),
        (true, false) => format!("no assertion of `{target}` depends on production code"),
    };
    Err(Breach::new(Law::TestAsserts, reason, "assert what production does").because(Cause::VacuousTest).about(target))
}

fn was_red_before(target: &TestId, was_red: &Baseline) -> Result<(), Breach> {
    match was_red.get(target) {
        Some(Some(cause)) if cause.is_valid_red() => Ok(()),
        Some(Some(cause)) => Err(invalid(*cause, target, "")),
        Some(None) => {
            let reason = format!("`{target}` passed before the change, so the change did not make it pass");
            let next = "begin with a test that fails";
            Err(Breach::new(Law::RedFirst, reason, next).because(Cause::UnexpectedGreen).about(target))
        }
        None => {
            let reason = format!("nobody saw `{target}` fail before the change");
            let next = "run `tdd-cli validate-red` on it before you implement it";
            Err(Breach::new(Law::RedFirst, reason, next).because(Cause::TargetNotFound).about(target))
        }
    }
}

fn passes(report: &Report, target: &TestId) -> Result<(), Breach> {
    // Where a library does not build, nobody can say which tests would have been there.
    let unbuilt = |breach| match report.obstacles().first() {
        Some(obstacle) => Ok((Some(obstacle.cause), obstacle.message.clone())),
        None => Err(breach),
    };
    let breach = match fate(report, target).or_else(unbuilt) {
        Ok((None, _)) => return Ok(()),
        Ok((Some(cause), message)) => invalid(cause, target, &message),
        Err(breach) => breach,
    };
    Err(Breach { rule: Law::TargetPasses, ..breach })
}

/// Every test but the targets is as it was in the baseline; where nobody looked, it must pass. A test that
/// a missing symbol takes down keeps its result.
fn others_kept(seen: &Seen<'_>, targets: &[&TestId]) -> Result<(), Breach> {
    let red = !targets.is_empty();
    for obstacle in seen.report.obstacles() {
        obstacle_allowed(obstacle, seen, red)?;
    }
    for result in seen.report.results().filter(|result| !targets.contains(&&result.id)) {
        other_kept(&result.id, &result.outcome, seen.baseline)?;
    }
    let Some(baseline) = seen.baseline else { return Ok(()) };
    let gone = baseline.keys().find(|id| !is_there(id, seen));
    gone.map_or(Ok(()), |id| {
        let reason = format!("`{id}` was there before the change and is not found any more");
        Err(Breach::new(Law::OthersKept, reason, "bring it back").because(Cause::TargetNotFound).about(id))
    })
}

fn obstacle_allowed(obstacle: &Obstacle, seen: &Seen<'_>, red: bool) -> Result<(), Breach> {
    let known = |id: &TestId| seen.baseline.and_then(|baseline| baseline.get(id)).is_some();
    let as_before = seen.baseline.is_some_and(|baseline| {
        !obstacle.tests.is_empty() && obstacle.tests.iter().all(|id| baseline.get(id) == Some(&Some(obstacle.cause)))
    });
    if as_before || (red && obstacle.cause == Cause::MissingSymbol) {
        return Ok(());
    }
    let taken_down = obstacle.tests.iter().filter(|id| known(id)).count();
    let reason =
        format!("`{}` could not be run: {} ({taken_down} known tests in it)", obstacle.subject, obstacle.cause);
    Err(Breach::new(Law::OthersKept, reason, "mend it; nothing is known about the tests in it").because(obstacle.cause))
}

fn other_kept(id: &TestId, outcome: &Outcome, baseline: Option<&Baseline>) -> Result<(), Breach> {
    let Some(cause) = outcome.cause() else { return Ok(()) };
    let before = baseline.and_then(|baseline| baseline.get(id));
    let (cause, reason, next) = match (before, cause) {
        (Some(Some(before)), now) if *before == now => return Ok(()),
        (Some(Some(before)), now) => {
            (now, format!("`{id}` failed before with {before}, and now with {now}"), "find out why it changed")
        }
        (Some(None), now) => (now, format!("`{id}` passed before and fails now: {now}"), "make it pass again"),
        (None, now) => (now, format!("`{id}` fails: {now}"), "make it pass first"),
    };
    let cause = if cause == Cause::Assertion { Cause::UnrelatedFailure } else { cause };
    Err(Breach::new(Law::OthersKept, reason, next).because(cause).about(id))
}

fn is_there(id: &TestId, seen: &Seen<'_>) -> bool {
    let moved = |change: &TestChange| matches!(change, TestChange::Moved { before, .. } if &before.id == id);
    seen.report.get(id).is_some()
        || seen.report.obstacles().iter().any(|obstacle| obstacle.tests.contains(id))
        || seen.change.tests.iter().any(moved)
}

/// A refactor changes production or tests, not both.
fn one_side_only(change: &Change) -> Result<(), Breach> {
    readable(change)?;
    // A test that moves along with its file is the same test.
    let moved = |test: &TestChange| matches!(test, TestChange::Moved { .. });
    let tests = !change.tests.iter().all(moved) || !change.support.iter().all(is_wiring);
    match change.production.first() {
        Some(item) if tests => Err(Breach::new(
            Law::PhaseScope,
            format!("{} and tests changed together, and a refactor changes one side only", place(item)),
            "make two refactors of it",
        )),
        Some(_) | None => Ok(()),
    }
}

/// What tests use may move and be brought in at its new place; it stays what it is, and nothing takes its
/// place.
fn support_kept(change: &Change) -> Result<(), Breach> {
    let is_data = |item: &ItemChange| item.item.starts_with("the file ") || item.item.starts_with("an example");
    let kept = |item: &&ItemChange| match item.fate {
        ItemFate::Removed => true,
        ItemFate::Changed => is_wiring(item),
        ItemFate::Added => is_data(item) || is_wiring(item) && !replaces_an_import(item, change),
    };
    match change.support.iter().find(|item| !kept(item)) {
        None => Ok(()),
        Some(item) => Err(Breach::new(
            Law::TestsFrozen,
            format!("{} is used by tests, and is not what it was", place(item)),
            "put it back; rewriting what tests use is a person's work, in refactor mode",
        )),
    }
}

/// What only leads to other items: they are compared themselves.
fn is_wiring(item: &ItemChange) -> bool {
    match item.fate {
        ItemFate::Changed => item.item.starts_with("mod `"),
        ItemFate::Added | ItemFate::Removed => item.item.starts_with("mod `") || item.item.starts_with("use `"),
    }
}

/// An import that gives a name of another one that is gone to something else.
fn replaces_an_import(item: &ItemChange, change: &Change) -> bool {
    let path = |item: &ItemChange| Some(item.item.strip_prefix("use `")?.strip_suffix('`')?.to_owned());
    let name = |path: &str| path.rsplit([':', ' ']).next().unwrap_or_default().to_owned();
    let Some(new) = path(item) else { return false };
    let gone = change.support.iter().filter(|other| other.fate == ItemFate::Removed).filter_map(path);
    gone.into_iter().any(|gone| gone != new && name(&gone) == name(&new))
}

/// Every test is there with the same tokens, under its own or another name.
fn tests_kept(change: &Change) -> Result<(), Breach> {
    for test in &change.tests {
        let why = match test {
            TestChange::Added(_) => "is new",
            TestChange::Removed(_) => "is gone",
            TestChange::Changed { .. } => "was changed",
            TestChange::Moved { before, after } if newly_skipped(before, after) => "is skipped now",
            TestChange::Moved { .. } => continue,
        };
        let facts = facts(test);
        let reason = format!("the test `{}` {why}, and a refactor keeps every test as it is", facts.id);
        let next = "put it back; rewriting tests is a person's work, in refactor mode";
        return Err(Breach::new(Law::TestsFrozen, reason, next).about(&facts.id));
    }
    Ok(())
}

fn place(item: &ItemChange) -> String {
    format!("{} (`{}:{}`)", item.item, item.path, item.line)
}

#[cfg(test)]
#[path = "judge_tests.rs"]
mod tests;
