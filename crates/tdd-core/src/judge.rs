//! The judge after the effect: what a change did and what its tests showed, held against the law.
//!
//! Pure: facts in, a [`Ruling`] out. Whoever made the change, and by whatever way, it is judged the same.

use std::collections::BTreeMap;

use crate::change::{Change, ItemFate, TestChange, TestFacts};
use crate::check;
use crate::command::Exit;
use crate::config::Gate;
use crate::digest::TreeId;
use crate::report::{Cause, Obstacle, Outcome, Report};
use crate::rule::{Refusal, Rule};
use crate::scope::{
    green_changes_production_only, mends_one_test, one_behaviour, one_side_only, readable, red_changes_tests_only,
    rethink_changes_one_test, steering_frozen, support_kept, tests_frozen, tests_kept,
};
use crate::signs::{Sensing, Signs};
use crate::test_id::TestId;

/// What the judge says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Ruling {
    /// The change keeps the law.
    Holds(Holding),
    /// It does not, or it could not be found out.
    Refused(Refusal),
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
    /// How strict a red is judged.
    pub gate: &'a Gate,
    /// The rules that a person has made an exception from.
    pub excepted: &'a [Rule],
}

impl Seen<'_> {
    /// What a rule says, unless an exception was made from it.
    fn ask<T: Default>(&self, answer: Result<T, Refusal>) -> Result<T, Refusal> {
        answer.or_else(|refusal| if self.excepted.contains(&refusal.rule) { Ok(T::default()) } else { Err(refusal) })
    }
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
    let judged = seen
        .ask(same_tree(seen))
        .and_then(|()| seen.ask(steering_frozen(seen.change)))
        .and_then(|()| seen.ask(red_changes_tests_only(seen.change)))
        .and_then(|()| seen.ask(tests_frozen(seen.change)))
        .and_then(|()| seen.ask(one_behaviour(seen.change, seen.gate.max_new_tests.get())))
        .and_then(|()| seen.ask(fails_validly(seen, target).map(Some)))
        .and_then(|cause| seen.ask(asserts(seen.change, target)).map(|()| cause))
        .and_then(|cause| seen.ask(others_kept(seen, targets)).map(|()| cause));
    match judged {
        Ok(cause) => Ruling::Holds(Holding {
            test: Some(target.clone()),
            cause,
            reason: match cause {
                Some(cause) => format!("`{target}` fails: {cause}"),
                None => format!("a person made an exception for `{target}`"),
            },
        }),
        Err(refusal) => Ruling::Refused(if refusal.test.is_none() { refusal.about(target) } else { refusal }),
    }
}

/// A red without a test that asks for something new is none; what else is wrong comes first.
pub fn no_new_test(seen: &Seen<'_>) -> Ruling {
    let judged = seen
        .ask(same_tree(seen))
        .and_then(|()| seen.ask(steering_frozen(seen.change)))
        .and_then(|()| seen.ask(red_changes_tests_only(seen.change)))
        .and_then(|()| seen.ask(tests_frozen(seen.change)));
    Ruling::Refused(judged.err().unwrap_or_else(|| {
        let next = "write a new test, or add an assertion to one that is there";
        Rule::RedFirst.refuse("no test asks for anything new", next).because(Cause::TargetNotFound)
    }))
}

/// Judges a rethink: only the doubted test changed, and it is red again, or it was withdrawn.
pub fn judge_rethink(seen: &Seen<'_>, target: &TestId, was_green: bool) -> Ruling {
    let judged = seen
        .ask(same_tree(seen))
        .and_then(|()| seen.ask(steering_frozen(seen.change)))
        .and_then(|()| seen.ask(rethink_changes_one_test(seen.change, target, was_green)))
        .and_then(|()| seen.ask(thought_over(seen.change, target)))
        .and_then(|()| match revised(seen.change, target) {
            None => Ok(None),
            Some(test) => seen
                .ask(red_again(seen, target).map(Some))
                .and_then(|cause| seen.ask(asserts_something(test)).map(|()| cause)),
        })
        .and_then(|cause| seen.ask(others_kept(seen, &[target])).map(|()| cause));
    match judged {
        Ok(cause) => Ruling::Holds(Holding {
            test: Some(target.clone()),
            cause,
            reason: match cause {
                Some(cause) => format!("`{target}` was revised and fails again: {cause}"),
                None => format!("`{target}` was withdrawn"),
            },
        }),
        Err(refusal) => Ruling::Refused(if refusal.test.is_none() { refusal.about(target) } else { refusal }),
    }
}

/// Judges what was mended in a test: it asserts what it did, and is as red as it was.
pub fn judge_mend(seen: &Seen<'_>, target: &TestId) -> Ruling {
    let judged = seen
        .ask(same_tree(seen))
        .and_then(|()| seen.ask(steering_frozen(seen.change)))
        .and_then(|()| seen.ask(mends_one_test(seen.change, target)))
        .and_then(|()| seen.ask(red_again(seen, target).map(Some)))
        .and_then(|cause| seen.ask(others_kept(seen, &[target])).map(|()| cause));
    match judged {
        Ok(cause) => Ruling::Holds(Holding {
            test: Some(target.clone()),
            cause,
            reason: format!("`{target}` was mended, asserts what it did and fails still"),
        }),
        Err(refusal) => Ruling::Refused(if refusal.test.is_none() { refusal.about(target) } else { refusal }),
    }
}

/// Judges the tests' part of a change that brings tests and production at once: nothing may be loosened,
/// and what is new must be able to fail.
pub fn judge_new_tests(change: &Change) -> Option<Refusal> {
    let judged = steering_frozen(change)
        .and_then(|()| readable(change))
        .and_then(|()| tests_frozen(change))
        .and_then(|()| change.new_demands().try_for_each(|test| asserts(change, &test.id)));
    judged.err()
}

/// Judges the check command's run.
pub fn judge_check(passed: bool, command: &str, said: &str) -> Option<Refusal> {
    (!passed).then(|| check::refuse(command, said, None))
}

/// Judges what changed production code asks of its surroundings: it must not look whether it is under test.
pub fn judge_sensing(change: &Change, signs: &Signs) -> Option<Refusal> {
    let changed = |seen: &&Sensing| {
        let mut new = change.production.iter().filter(|item| item.fate != ItemFate::Removed);
        new.any(|item| (item.path.as_str(), item.line) == (seen.item.path.as_str(), seen.item.line))
    };
    let seen = signs.sensing.iter().find(changed)?;
    let place = format!("`{}:{}`", seen.item.path, seen.line);
    let reason = format!("production code asks whether it is under test: {} ({place})", seen.what);
    Some(Rule::TestSensing.refuse(reason, "let it do the same in a test as outside of one; hand in what has to differ"))
}

/// Judges a green: production changed, and tests that were red pass with all others.
pub fn judge_green(seen: &Seen<'_>, targets: &[&TestId], was_red: &Baseline) -> Ruling {
    let judged = seen
        .ask(same_tree(seen))
        .and_then(|()| seen.ask(steering_frozen(seen.change)))
        .and_then(|()| seen.ask(green_changes_production_only(seen.change)))
        .and_then(|()| seen.ask(any_target(targets)))
        .and_then(|()| seen.ask(targets.iter().try_for_each(|target| was_red_before(seen, target, was_red))))
        .and_then(|()| seen.ask(targets.iter().try_for_each(|target| passes(seen.report, target))))
        .and_then(|()| seen.ask(others_kept(seen, &[])));
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
    let judged = seen
        .ask(same_tree(seen))
        .and_then(|()| seen.ask(steering_frozen(seen.change)))
        .and_then(|()| seen.ask(tests_kept(seen.change)))
        .and_then(|()| seen.ask(one_side_only(seen.change)))
        .and_then(|()| seen.ask(support_kept(seen.change)))
        .and_then(|()| seen.ask(others_kept(seen, &[])));
    match judged {
        Ok(()) => {
            let counts = seen.report.counts();
            let reason = format!("every test is kept and the suite passes ({} tests)", counts.passed);
            Ruling::Holds(Holding { test: None, cause: None, reason })
        }
        Err(breach) => Ruling::Refused(breach),
    }
}

/// Judges what a person did in refactor mode: every test is there, moved or not, and says what it said before.
pub fn judge_refactor_mode(seen: &Seen<'_>) -> Ruling {
    let judged = seen
        .ask(same_tree(seen))
        .and_then(|()| seen.ask(others_kept(seen, &[])))
        .and_then(|()| seen.ask(none_removed(seen.change)));
    match judged {
        Ok(()) => {
            let reason = format!("no test is lost and the suite passes ({} tests)", seen.report.counts().passed);
            Ruling::Holds(Holding { test: None, cause: None, reason })
        }
        Err(breach) => Ruling::Refused(breach),
    }
}

/// Judges what a model did in refactor mode, for a task of a plan: production, tests and what steers them may change
/// together, but no test is lost or loosened. Where `gate.test_gate` is off, what the others say is information.
pub fn judge_task(seen: &Seen<'_>) -> Ruling {
    let kept = || if seen.gate.test_gate { seen.ask(others_kept(seen, &[])) } else { Ok(()) };
    let judged = seen
        .ask(same_tree(seen))
        .and_then(|()| seen.ask(readable(seen.change)))
        .and_then(|()| seen.ask(tests_frozen(seen.change)))
        .and_then(|()| kept())
        .and_then(|()| seen.ask(none_removed(seen.change)));
    match judged {
        Ok(()) => {
            let counts = seen.report.counts();
            let reason = format!("no test is lost or loosened ({} pass, {} fail)", counts.passed, counts.failed);
            Ruling::Holds(Holding { test: None, cause: None, reason })
        }
        Err(breach) => Ruling::Refused(breach),
    }
}

/// Judges a person's word about one test: whatever became of that, every other test says what it said before.
pub fn judge_others(seen: &Seen<'_>, test: &TestId) -> Ruling {
    match seen.ask(same_tree(seen)).and_then(|()| seen.ask(others_kept(seen, &[test]))) {
        Ok(()) => {
            let reason = "every other test says what it said before".to_owned();
            Ruling::Holds(Holding { test: Some(test.clone()), cause: None, reason })
        }
        Err(breach) => Ruling::Refused(breach),
    }
}

/// Judges a run of the command that must pass at the end of refactor mode.
pub fn judge_verification(exit: &Exit, command: &str, said: &str) -> Option<Refusal> {
    let refuse = |how: &str, next: &str| Rule::CheckPasses.refuse(format!("`{command}` {how}"), next);
    match exit {
        Exit::Passed => None,
        Exit::Failed(_) => judge_check(/* passed */ false, command, said),
        Exit::Signalled(signal) => {
            Some(refuse(&format!("was killed by signal {signal}"), "mend it").because(Cause::Crash))
        }
        Exit::TimedOut => Some(refuse("did not end in time", "raise `ci.build_timeout_secs`").because(Cause::Timeout)),
        Exit::Interrupted => Some(refuse("was interrupted", "run it again")),
        Exit::NotStarted(why) => {
            let next = "install it, or change `ci.verify_cmd`";
            Some(refuse(&format!("could not be started: {why}"), next).because(Cause::RunnerMissing))
        }
    }
}

fn passing(targets: &[&TestId]) -> String {
    match targets {
        [only] => format!("`{only}` passes"),
        several => format!("{} targets pass", several.len()),
    }
}

fn same_tree(seen: &Seen<'_>) -> Result<(), Refusal> {
    let (before, after) = seen.trees;
    if before == after {
        return Ok(());
    }
    let reason = "the files changed while the tests ran, so the run says nothing about them";
    Err(Rule::SameTree.refuse(reason, "make the tests leave the project's files alone, then run it again"))
}

/// Something became of the doubted test: what leaves it alone is no rethink.
fn thought_over(change: &Change, target: &TestId) -> Result<(), Refusal> {
    let about = |test: &TestChange| matches!(test, TestChange::Removed(gone) if &gone.id == target);
    if change.tests.iter().any(about) || revised(change, target).is_some() {
        return Ok(());
    }
    let reason = format!("`{target}` is as it was, and a rethink is about nothing else");
    Err(Rule::TestsFrozen.refuse(reason, format!("revise `{target}`, or leave everything as it is")).about(target))
}

/// The doubted test as it is now, unless it was withdrawn.
fn revised<'a>(change: &'a Change, target: &TestId) -> Option<&'a TestFacts> {
    change.tests.iter().filter_map(TestChange::after).find(|test| &test.id == target)
}

fn red_again(seen: &Seen<'_>, target: &TestId) -> Result<Cause, Refusal> {
    match fate(seen.report, target)? {
        (Some(cause), _) if seen.gate.takes_for_red(cause) => Ok(cause),
        (Some(cause), message) => Err(invalid(cause, target, &message)),
        (None, _) => {
            let reason = format!("`{target}` passes now, so nothing is left to implement");
            let next = "revise it so that it asks for what the kata asks, or leave it as it is";
            Err(Rule::RedFirst.refuse(reason, next).because(Cause::UnexpectedGreen).about(target))
        }
    }
}

/// The target is new or has gained assertions, was run or tried, and failed for a valid cause.
fn fails_validly(seen: &Seen<'_>, target: &TestId) -> Result<Cause, Refusal> {
    let (cause, message) = fate(seen.report, target)?;
    if let Some(cause) = cause.filter(|cause| !seen.gate.takes_for_red(*cause)) {
        return Err(invalid(cause, target, &message));
    }
    if !seen.change.new_demands().any(|test| &test.id == target) {
        let reason = format!("`{target}` is neither new nor has it gained an assertion since the base");
        let next = "write a new test, or add an assertion to this one; `--base REV` names another base";
        return Err(Rule::RedFirst.refuse(reason, next).because(Cause::TargetNotFound).about(target));
    }
    cause.ok_or_else(|| {
        let reason = format!("`{target}` passes already");
        let next = "keep it if it documents something, and write a test for what is not there yet";
        Rule::RedFirst.refuse(reason, next).because(Cause::UnexpectedGreen).about(target)
    })
}

/// What became of a test: passed (`None`), or why not. An error if nobody can say.
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

/// A red for a cause that is not valid, with what to do about it.
fn invalid(cause: Cause, target: &TestId, message: &str) -> Refusal {
    let (reason, next) = match cause {
        Cause::RunnerMissing => ("could not be run: the runner is missing", "`tdd-cli doctor` says what to install"),
        Cause::Timeout => ("did not end in time", "make the test end by itself, or raise `ci.timeout_secs`"),
        Cause::Crash => ("ended its process before its report was complete", "let it fail by an assertion"),
        Cause::UnknownOutput => {
            ("ran, but its report cannot be believed", "`tdd-cli auto-test -v` shows what was said")
        }
        Cause::TargetNotFound => (
            "is not among the tests that were found",
            "check its name: `tdd-cli auto-test` lists the tests; one that a feature or a setting leaves out needs it in `ci.test_cmd`",
        ),
        Cause::ZeroTests => ("was not found: there is not a single test", "write it, and make the runner find it"),
        Cause::Skipped => ("is skipped", "take the marker away"),
        Cause::SyntaxError => ("does not parse", "mend the syntax"),
        Cause::UnrelatedCompileError => {
            ("does not compile, and not for want of production code", "mend the test; what it uses it must import")
        }
        Cause::LoadFailure => ("could not be loaded", "mend what keeps it from being loaded"),
        Cause::BaselineNotGreen => ("cannot be judged: other tests failed before", "make them pass first"),
        Cause::UnrelatedFailure => ("failed for another reason", "let it fail for want of production code"),
        Cause::Flaky => ("passes and fails on the same files", "make it repeatable"),
        Cause::VacuousTest => ("cannot fail", "assert something about what production does"),
        Cause::UnexpectedGreen => ("passes already", "write a test for what is not there yet"),
        Cause::MissingSymbol => (
            "does not compile for want of production code, and `gate.red_compile: never` takes only a test that ran",
            "begin with a test that compiles, or let a person add what it names: `tdd-cli refactor begin`",
        ),
        Cause::Assertion => ("fails", "make it pass"),
    };
    Rule::RedFirst.refuse(format!("`{target}` {reason}{}", said(message)), next).because(cause).about(target)
}

/// The headline behind a colon, if there is one.
fn said(message: &str) -> String {
    let said = headline(message);
    if said.is_empty() { said } else { format!(": {said}") }
}

/// The first line of a message; one that ends in a colon only announces the next few.
fn headline(message: &str) -> String {
    let mut lines = message.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    if !first.ends_with(':') {
        return first.to_owned();
    }
    let rest: Vec<&str> = lines.take_while(|line| !line.starts_with("note:")).take(3).collect();
    format!("{first} {}", rest.join(", ")).trim_end().to_owned()
}

fn asserts(change: &Change, target: &TestId) -> Result<(), Refusal> {
    change.new_demands().find(|test| &test.id == target).map_or(Ok(()), asserts_something)
}

fn asserts_something(test: &TestFacts) -> Result<(), Refusal> {
    let target = &test.id;
    let reason = match (test.can_fail(), test.asks_production) {
        (true, true) => return Ok(()),
        (false, _) => format!("`{target}` asserts nothing"),
        (true, false) => format!("no assertion of `{target}` depends on production code"),
    };
    Err(Rule::TestAsserts.refuse(reason, "assert what production does").because(Cause::VacuousTest).about(target))
}

fn any_target(targets: &[&TestId]) -> Result<(), Refusal> {
    if targets.is_empty() {
        let next = "write a test that fails, and let the machine see it: `tdd-cli validate-red`";
        return Err(Rule::RedFirst.refuse("a green is for a red test, and none is named", next));
    }
    Ok(())
}

fn was_red_before(seen: &Seen<'_>, target: &TestId, was_red: &Baseline) -> Result<(), Refusal> {
    match was_red.get(target) {
        Some(Some(cause)) if seen.gate.takes_for_red(*cause) => Ok(()),
        Some(Some(cause)) => Err(invalid(*cause, target, "")),
        Some(None) => {
            let reason = format!("`{target}` passed before the change, so the change did not make it pass");
            let next = "begin with a test that fails";
            Err(Rule::RedFirst.refuse(reason, next).because(Cause::UnexpectedGreen).about(target))
        }
        None => {
            let reason = format!("nobody saw `{target}` fail before the change");
            let next = "run `tdd-cli validate-red` on it before you implement it";
            Err(Rule::RedFirst.refuse(reason, next).because(Cause::TargetNotFound).about(target))
        }
    }
}

fn passes(report: &Report, target: &TestId) -> Result<(), Refusal> {
    // Where a library does not build, nobody can say which tests would have been there.
    let unbuilt = |breach| match report.obstacles().first() {
        Some(obstacle) => Ok((Some(obstacle.cause), obstacle.message.clone())),
        None => Err(breach),
    };
    let breach = match fate(report, target).or_else(unbuilt) {
        Ok((None, _)) => return Ok(()),
        Ok((Some(cause @ (Cause::MissingSymbol | Cause::UnrelatedCompileError | Cause::SyntaxError)), message)) => {
            let (reason, next) = unbuilt_green(cause);
            Rule::TargetPasses
                .refuse(format!("`{target}` {reason}{}", said(&message)), next)
                .because(cause)
                .about(target)
        }
        Ok((Some(cause), message)) => invalid(cause, target, &message),
        Err(breach) => breach,
    };
    Err(Refusal { rule: Rule::TargetPasses, ..breach })
}

/// What keeps a test from being built that could be built but for what is missing: the test is not at fault.
fn unbuilt_green(cause: Cause) -> (&'static str, &'static str) {
    match cause {
        Cause::MissingSymbol => {
            ("does not compile yet", "define what it names in the production code, and leave the test as it is")
        }
        _ => ("cannot be built any more", "mend the production code, and leave the test as it is"),
    }
}

/// Every test but the targets is as it was in the baseline; where nobody looked, it must pass. A test that
/// a missing symbol takes down keeps its result. A test that moved is held to the result that it had.
fn others_kept(seen: &Seen<'_>, targets: &[&TestId]) -> Result<(), Refusal> {
    let red = !targets.is_empty();
    for obstacle in seen.report.obstacles() {
        obstacle_allowed(obstacle, seen, red)?;
    }
    for result in seen.report.results().filter(|result| !targets.contains(&&result.id)) {
        other_kept(&result.id, &result.outcome, seen)?;
    }
    let Some(baseline) = seen.baseline else { return Ok(()) };
    // A target is judged by itself; only a rethink may have withdrawn it.
    let gone = baseline.keys().find(|id| !targets.contains(id) && !is_there(id, seen));
    gone.map_or(Ok(()), |id| {
        let reason = format!("`{id}` was there before the change and is not found any more");
        Err(Rule::OthersKept.refuse(reason, "bring it back").because(Cause::TargetNotFound).about(id))
    })
}

/// No test's source is gone: where the base could not be built, nobody ran what it held.
fn none_removed(change: &Change) -> Result<(), Refusal> {
    let gone = change.tests.iter().find_map(|test| match test {
        TestChange::Removed(facts) => Some(&facts.id),
        TestChange::Added(_) | TestChange::Moved { .. } | TestChange::Changed { .. } => None,
    });
    gone.map_or(Ok(()), |id| Err(Rule::OthersKept.refuse(format!("`{id}` is gone"), "bring it back").about(id)))
}

fn obstacle_allowed(obstacle: &Obstacle, seen: &Seen<'_>, red: bool) -> Result<(), Refusal> {
    let known = |id: &TestId| seen.baseline.and_then(|baseline| baseline.get(id)).is_some();
    let as_before = seen.baseline.is_some_and(|baseline| {
        !obstacle.tests.is_empty() && obstacle.tests.iter().all(|id| baseline.get(id) == Some(&Some(obstacle.cause)))
    });
    // Where there was no test before, there may be none now.
    let still_none = obstacle.cause == Cause::ZeroTests && seen.baseline.is_some_and(Baseline::is_empty);
    if as_before || still_none || (red && obstacle.cause == Cause::MissingSymbol) {
        return Ok(());
    }
    let taken_down = obstacle.tests.iter().filter(|id| known(id)).count();
    let tests = if taken_down == 1 { "1 known test".to_owned() } else { format!("{taken_down} known tests") };
    let reason = format!("`{}` could not be run: {} ({tests} in it)", obstacle.subject, obstacle.cause);
    let next = match obstacle.cause {
        Cause::MissingSymbol => "keep the names that the tests use",
        _ => "mend it; nothing is known about the tests in it",
    };
    Err(Rule::OthersKept.refuse(reason, next).because(obstacle.cause))
}

fn other_kept(id: &TestId, outcome: &Outcome, seen: &Seen<'_>) -> Result<(), Refusal> {
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

fn is_there(id: &TestId, seen: &Seen<'_>) -> bool {
    let is_called = moves(seen.change).find(|(before, _)| *before == id).map_or(id, |(_, after)| after);
    seen.report.get(is_called).is_some()
        || seen.report.obstacles().iter().any(|obstacle| obstacle.tests.contains(is_called))
}

/// The tests that moved: as they were called before, and as they are called now.
fn moves(change: &Change) -> impl Iterator<Item = (&TestId, &TestId)> {
    change.tests.iter().filter_map(|test| match test {
        TestChange::Moved { before, after } => Some((&before.id, &after.id)),
        TestChange::Added(_) | TestChange::Removed(_) | TestChange::Changed { .. } => None,
    })
}

#[cfg(test)]
#[path = "judge_tests.rs"]
mod tests;
