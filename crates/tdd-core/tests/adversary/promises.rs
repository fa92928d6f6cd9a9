//! The promises of the contract, checked on commits and the ledger without the code of the rules.

use std::collections::BTreeSet;

use tdd_core::change::{Change, ItemFate, TestChange};
use tdd_core::cycle::Turn;
use tdd_core::event::{Event, Record};
use tdd_core::gate::{Permit, PermittedAction};
use tdd_core::report::Cause;
use tdd_core::rule::Refusal;
use tdd_core::test_id::TestId;

use crate::project::{Project, Test, id};
use crate::run::Game;

/// A committed change, with the state around it.
pub struct Kept<'a> {
    pub turn: &'a Turn,
    pub before: &'a Project,
    pub after: &'a Project,
    pub records: &'a [Record],
    pub ever_green: &'a BTreeSet<TestId>,
    /// It was kept as a characterization test.
    pub is_characterization: bool,
    /// An earlier change was kept by a person's exception, so its damage is still there.
    pub inherits: bool,
}

/// Checks everything that must be true of a kept change.
pub fn check_kept(kept: &Kept<'_>) {
    assert_eq!(kept.before.steering, kept.after.steering, "steering was changed: {:?}", kept.turn);
    assert_eq!(kept.after.garbled, None, "a file that does not parse was kept");
    match kept.turn {
        Turn::Red { .. } => check_red(kept),
        Turn::Green { .. } => check_green(kept),
        Turn::Rethink { test, .. } => check_rethink(kept, test.id()),
        Turn::Refactor { .. } => check_refactor(kept),
        Turn::Task { .. } => unreachable!("nobody has a plan here"),
    }
}

fn check_red(kept: &Kept<'_>) {
    check_production_untouched(kept);
    check_support_only_added(kept);
    check_tests_kept(kept, |before, now| {
        let mut left = now.asks.clone();
        let lost = before.asks.iter().any(|ask| match left.iter().position(|it| it == ask) {
            Some(at) => left.swap_remove(at) != *ask,
            None => true,
        });
        !lost && (before.skipped || !now.skipped) && (before.panics || !now.panics)
    });
    let asks_more = |key: &&(u8, u8)| match kept.before.tests.get(*key) {
        Some(before) => before.asks.len() < kept.after.tests[*key].asks.len(),
        None => !kept.before.tests.values().any(|before| *before == kept.after.tests[*key]),
    };
    let new: Vec<_> = kept.after.tests.keys().filter(asks_more).collect();
    assert!(new.len() <= 1, "a red brought {} behaviours", new.len());
    if kept.is_characterization {
        let is_armed = !honest(kept).disarmed;
        assert!(kept.inherits || is_armed, "a test was kept that passes whatever production does");
        for key in new {
            assert_eq!(kept.after.fate(*key), None, "{key:?} was kept as passing, and fails");
            assert!(kept.after.tests[key].asks_production(), "{key:?} asks for nothing");
        }
        return;
    }
    let fails = kept.after.tests.keys().filter(|key| kept.after.fate(**key).is_some_and(Cause::is_valid_red));
    assert!(fails.count() > 0, "a red without a test that fails");
}

fn check_green(kept: &Kept<'_>) {
    assert_eq!(kept.before.tests, kept.after.tests, "a green changed tests");
    assert_eq!(support(kept.before), support(kept.after), "a green changed what tests use");
    let targets = kept.turn.targets();
    assert!(targets.iter().any(|target| claimed_after_red(kept, target)), "no claim of a red: {targets:?}");
    for key in kept.after.tests.keys().filter(|key| targets.contains(&id(**key))) {
        assert!(kept.before.fate(*key).is_some_and(Cause::is_valid_red), "{key:?} was not red");
        assert_eq!(honest(kept).fate(*key), None, "{key:?} does not pass");
    }
    check_all_pass(kept);
    let asked = |feature: &u8| targets.iter().any(|target| kept.after.reaches(target, *feature));
    let new = kept.after.production.iter().filter(|(it, code)| kept.before.production.get(it) != Some(code));
    for (feature, _) in new {
        assert!(asked(feature) || kept.inherits, "feature {feature} came with no test that asks for it");
    }
}

fn check_rethink(kept: &Kept<'_>, target: &TestId) {
    check_production_untouched(kept);
    check_support_only_added(kept);
    let others = |project: &Project| {
        let tests = project.tests.clone().into_iter();
        tests.filter(|(key, _)| &id(*key) != target).collect::<Vec<_>>()
    };
    assert_eq!(others(kept.before), others(kept.after), "a rethink changed another test");
    match kept.after.tests.keys().find(|key| &id(**key) == target) {
        None => assert!(!kept.ever_green.contains(target), "a test that was green is gone: {target}"),
        Some(key) => {
            assert!(kept.after.fate(*key).is_some_and(Cause::is_valid_red), "{target} is not red again");
            let test = &kept.after.tests[key];
            assert!(!test.skipped && test.asks_production(), "{target} asks for nothing");
            assert_ne!(Some(test), kept.before.tests.get(key), "{target} was left alone");
        }
    }
}

fn check_refactor(kept: &Kept<'_>) {
    let substance = |project: &Project| {
        let mut tests: Vec<Test> = project.tests.values().cloned().collect();
        tests.sort();
        tests
    };
    assert_eq!(substance(kept.before), substance(kept.after), "a refactor changed what tests ask");
    assert_eq!(support(kept.before), support(kept.after), "a refactor changed what tests use");
    check_all_pass(kept);
}

/// After a green or a refactor all tests pass, except for skipped ones.
fn check_all_pass(kept: &Kept<'_>) {
    let new_lint = kept.after.lint && !kept.before.lint;
    assert!(!new_lint && !kept.after.broken, "the check fails");
    for key in kept.after.tests.keys() {
        let aside = kept.after.tests[key].skipped;
        let inherited =
            kept.inherits && kept.before.tests.contains_key(key) && kept.before.fate(*key) == kept.after.fate(*key);
        assert!(aside || inherited || honest(kept).fate(*key).is_none(), "{key:?} fails after {:?}", kept.turn);
    }
}

/// The kept tree, without a disarming by this very change.
fn honest(kept: &Kept<'_>) -> Project {
    Project { disarmed: kept.before.disarmed, ..kept.after.clone() }
}

fn check_production_untouched(kept: &Kept<'_>) {
    let production = |it: &Project| (it.production.clone(), it.disarmed, it.broken, it.lint);
    assert_eq!(production(kept.before), production(kept.after), "production changed without a red: {:?}", kept.turn);
}

fn support(project: &Project) -> (u8, u8, bool) {
    (project.helper, project.helpers, project.shadow)
}

fn check_support_only_added(kept: &Kept<'_>) {
    let frozen = |it: &Project| (it.helper, it.shadow);
    assert_eq!(frozen(kept.before), frozen(kept.after), "what tests use was changed");
}

/// Every test is unchanged, or changed as `may_become` allows, or has another name.
fn check_tests_kept(kept: &Kept<'_>, may_become: impl Fn(&Test, &Test) -> bool) {
    for (key, before) in &kept.before.tests {
        match kept.after.tests.get(key) {
            Some(now) => assert!(now == before || may_become(before, now), "{key:?} was loosened: {before:?} {now:?}"),
            None => assert!(kept.after.tests.values().any(|now| now == before), "{key:?} is gone"),
        }
    }
}

/// Whether the ledger has the target's red, for this version of the test, and a later claim that is not used up.
fn claimed_after_red(kept: &Kept<'_>, target: &TestId) -> bool {
    let Some(key) = kept.before.tests.keys().find(|key| &id(**key) == target) else { return false };
    let digest = Some(kept.before.digest(*key));
    let is_red = |event: &Event| {
        let Event::TestRun(run) = event else { return false };
        let same = run.test_digest == digest || kept.inherits;
        &run.test_id == target && same && run.cause.is_some_and(Cause::is_valid_red)
    };
    let is_claim = |event: &Event| matches!(event, Event::EditClaim(claim) if &claim.test_id == target);
    let ends = |event: &Event| matches!(event, Event::Committed(_) | Event::Reverted(_) | Event::StepEnd(_));
    let last = |is: &dyn Fn(&Event) -> bool| kept.records.iter().rposition(|record| is(&record.event));
    let first_red = kept.records.iter().position(|record| is_red(&record.event));
    first_red.is_some() && last(&is_claim) > first_red && last(&is_claim) > last(&ends)
}

/// Whether the ledger's last result of a test, without undone attempts, is a valid red.
pub fn is_red_now(records: &[Record], test: &TestId) -> bool {
    let (mut red, mut before) = (false, None);
    for record in records {
        match &record.event {
            Event::TestRun(run) if &run.test_id == test => red = run.cause.is_some_and(Cause::is_valid_red),
            Event::SuiteRun(run) if run.vanished.contains(test) => red = false,
            Event::EditApplied(_) => before = Some(red),
            Event::Reverted(_) => red = before.take().unwrap_or(red),
            Event::Committed(_) => before = None,
            Event::Resumed(resumed) if resumed.skipped.as_ref() == Some(test) => red = false,
            _ => {}
        }
    }
    red
}

/// Checks what the gate permits outside a step: tests that demand more, or production for a claimed red.
pub fn check_permitted_outside(records: &[Record], change: &Change) {
    assert!(change.steering.iter().all(|it| it.free), "steering outside of a step");
    let is_claim = |record: &Record| matches!(record.event, Event::EditClaim(_));
    if !change.production.is_empty() {
        assert!(change.tests.is_empty() && change.support.is_empty(), "both sides at once");
        assert!(records.iter().any(is_claim), "production without any claim");
    }
    assert!(!change.tests.iter().any(|it| matches!(it, TestChange::Removed(_))), "a test would be gone");
    assert!(change.support.iter().all(|it| it.fate == ItemFate::Added), "what tests use would change");
}

/// Checks that a refusal names its rule, its reason and the next legal move.
pub fn check_refusal(refusal: &Refusal) {
    assert!(!refusal.rule.name().is_empty() && !refusal.reason.trim().is_empty(), "{refusal:?}");
    assert!(!refusal.next.trim().is_empty(), "{refusal:?} leads nowhere");
}

/// Checks that no permitted edit leads out of the project or to a protected path.
pub fn check_paths(permit: Permit) {
    for edit in permit.into_edits() {
        let to = match &edit.action {
            PermittedAction::Rename(to) => to.as_str().to_owned(),
            _ => String::new(),
        };
        for path in [edit.path.as_str().to_lowercase(), to.to_lowercase()] {
            let parts: Vec<&str> = path.split('/').collect();
            let outside = path.starts_with('/') || parts.contains(&"..");
            let protected = parts.contains(&".git") || parts[0] == ".tdd" || path == "tdd.yaml" || path == "kata.md";
            assert!(!outside && !protected, "permitted: {path}");
        }
    }
}

/// Checks that an undone attempt leaves nothing behind: the session has the test results of HEAD.
pub fn check_nothing_left(game: &Game) {
    for result in game.head().run().results() {
        let known = game.session().tests().get(&result.id).and_then(|known| known.cause);
        assert_eq!(known, result.outcome.cause(), "{} is known otherwise than it is", result.id);
    }
}
