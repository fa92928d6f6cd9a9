//! The judge after the effect: what a change did and what its tests showed, held against the law.
//!
//! Pure: facts in, a [`Ruling`] out. Whoever made the change, and by whatever way, it is judged the same.

mod others;
mod target;

use std::collections::BTreeMap;

use self::others::{none_removed, others_kept};
use self::target::{any_target, asserts, asserts_something, fails_validly, passes, red_again, was_red_before};
use crate::change::{Change, ItemFate, TestChange, TestFacts};
use crate::check;
use crate::command::Exit;
use crate::config::Gate;
use crate::digest::TreeId;
use crate::report::{Cause, Report};
use crate::rule::{Refusal, Rule};
use crate::scope::{
    green_changes_production_only, mends_one_test, one_behaviour, one_side_only, readable, red_changes_tests_only,
    rethink_changes_one_test, steering_frozen, support_kept, tests_frozen, tests_frozen_at_red, tests_kept,
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
        .and_then(|()| seen.ask(tests_frozen_at_red(seen.change)))
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
        .and_then(|()| seen.ask(tests_frozen_at_red(seen.change)));
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
            let reason = format!("every test is kept and the suite passes ({})", tests(counts.passed));
            Ruling::Holds(Holding { test: None, cause: None, reason })
        }
        Err(breach) => Ruling::Refused(breach),
    }
}

fn tests(count: u32) -> String {
    if count == 1 { "1 test".to_owned() } else { format!("{count} tests") }
}

/// Judges what a person did in refactor mode: every test is there, moved or not, and says what it said before.
pub fn judge_refactor_mode(seen: &Seen<'_>) -> Ruling {
    let judged = seen
        .ask(same_tree(seen))
        .and_then(|()| seen.ask(others_kept(seen, &[])))
        .and_then(|()| seen.ask(none_removed(seen.change)));
    match judged {
        Ok(()) => {
            let reason = format!("no test is lost and the suite passes ({})", tests(seen.report.counts().passed));
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

#[cfg(test)]
mod tests;
