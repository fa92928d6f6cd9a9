//! Tests of every rule of the judge: what it accepts and what it refuses.

use std::sync::LazyLock;

use super::target::{headline, invalid, passes};
use super::{Baseline, Verdict, baseline_of, needs_baseline};
use crate::antipattern::{self, CodeContext};
use crate::change::{Change, ItemChange, ItemFate, Mark, SteeringChange, TestChange, TestFacts, Unreadable};
use crate::check::{self, CheckSeen};
use crate::command::Exit;
use crate::config::{Gate, RedCompile};
use crate::digest::{Digest, TreeId};
use crate::law::{Kind, NO_EXCEPTIONS, RuleRunner, Subject};
use crate::report::{Cause, Obstacle, Outcome, Report, TestResult};
use crate::rule::{Refusal, Rule};
use crate::signs::{Place, Sensing, Signs};
use crate::test_id::TestId;

/// The setup of a test: a change with its run, the gate config, and the exceptions in force.
#[derive(Clone, Copy)]
struct RunFacts<'a> {
    change: &'a Change,
    report: &'a Report,
    trees: (&'a TreeId, &'a TreeId),
    baseline: Option<&'a Baseline>,
    gate: &'a Gate,
    excepted: &'a [Rule],
}

impl RunFacts<'_> {
    fn judge(&self, kind: Kind, target: Option<&TestId>, targets: &[&TestId], was_green: bool) -> Verdict {
        let exceptions = |rule: Rule| self.excepted.contains(&rule).then(|| "for a test".to_owned());
        let targets: Vec<TestId> = targets.iter().map(|&target| target.clone()).collect();
        let subject = Subject { kind, target, targets: &targets, was_green, gate: self.gate };
        let (change, report, trees, baseline) = (self.change, self.report, self.trees, self.baseline);
        let seen = super::RunFacts { change, report, trees, baseline, absent: &[] };
        super::judge(&mut RuleRunner::new(&exceptions), &subject, &seen)
    }
}

static DEFAULT_GATE: LazyLock<Gate> = LazyLock::new(Gate::default);

/// What was seen of a change on this tree, which its tests left as it was, judged by the usual rules.
fn seen_on<'a>(
    tree: &'a TreeId,
    change: &'a Change,
    report: &'a Report,
    baseline: Option<&'a Baseline>,
) -> RunFacts<'a> {
    RunFacts { change, report, trees: (tree, tree), baseline, gate: &DEFAULT_GATE, excepted: &[] }
}

fn judge_red(seen: &RunFacts<'_>, target: &TestId, targets: &[&TestId]) -> Verdict {
    seen.judge(Kind::Red, Some(target), targets, false)
}

fn judge_green(seen: &RunFacts<'_>, targets: &[&TestId], was_red: &Baseline) -> Verdict {
    let mut before = seen.baseline.cloned().unwrap_or_default();
    before.extend(was_red.clone());
    RunFacts { baseline: Some(&before), ..*seen }.judge(Kind::Green, targets.first().copied(), targets, false)
}

fn judge_rethink(seen: &RunFacts<'_>, target: &TestId, was_green: bool) -> Verdict {
    seen.judge(Kind::Rethink, Some(target), &[target], was_green)
}

fn judge_refactor(seen: &RunFacts<'_>) -> Verdict {
    seen.judge(Kind::Refactor, None, &[], false)
}

fn judge_refactor_mode(seen: &RunFacts<'_>) -> Verdict {
    seen.judge(Kind::RefactorMode, None, &[], false)
}

fn judge_new_tests(change: &Change) -> Option<Refusal> {
    let subject =
        Subject { kind: Kind::NewTests, target: None, targets: &[], was_green: false, gate: &Gate::default() };
    RuleRunner::new(NO_EXCEPTIONS).ask_change(&subject, change).err()
}

fn judge_check(passed: bool, command: &str, said: &str) -> Option<Refusal> {
    let exit = if passed { Exit::Passed } else { Exit::Failed(1) };
    judge_verification(&exit, command, said)
}

fn judge_verification(exit: &Exit, command: &str, said: &str) -> Option<Refusal> {
    check::passes(&CheckSeen { command, exit, said, before: None, changed_files: false }).err()
}

fn judge_sensing(change: &Change, signs: &Signs) -> Option<Refusal> {
    let (never_red, since) = (std::collections::BTreeSet::new(), std::collections::BTreeMap::new());
    let case = CodeContext {
        change,
        signs,
        reds: &[],
        kind: Kind::Green,
        target: None,
        never_red: &never_red,
        since: &since,
        measurement: None,
    };
    antipattern::sensing(&case).into_iter().next()
}

fn id(name: &str) -> TestId {
    TestId::native("tests/a.rs", name)
}

fn test(name: &str, assertions: &[&str]) -> TestFacts {
    TestFacts {
        digest: Digest::of(format!("{name}{assertions:?}")),
        body: Digest::of(format!("{assertions:?}")),
        assertions: assertions.iter().map(Digest::of).collect(),
        ..TestFacts::plain("tests/a.rs", name)
    }
}

fn item(fate: ItemFate) -> ItemChange {
    ItemChange { path: "src/lib.rs".into(), item: "fn `add`".into(), line: 3, fate }
}

fn report(results: &[(&str, Option<Cause>)]) -> Report {
    let results = results.iter().map(|(name, cause)| {
        let outcome = match cause {
            None => Outcome::Pass,
            Some(cause) => Outcome::Fail { cause: *cause, message: "said".into() },
        };
        TestResult::new(id(name), outcome, 1)
    });
    Report::new(results, Vec::new())
}

fn baseline(results: &[(&str, Option<Cause>)]) -> Baseline {
    results.iter().map(|(name, cause)| (id(name), *cause)).collect()
}

fn changed(before: TestFacts, after: TestFacts, only_added: bool) -> Change {
    Change { tests: vec![TestChange::Changed { before, after, only_added }], ..Change::default() }
}

fn added(name: &str) -> Change {
    Change { tests: vec![TestChange::Added(test(name, &["x"]))], ..Change::default() }
}

/// The rule and the cause, or `None` if the verdict holds.
type Answer = Option<(Rule, Option<Cause>)>;

fn answer(verdict: Verdict) -> Answer {
    match verdict {
        Verdict::Holds(_) => None,
        Verdict::Refused(breach) => {
            assert!(!breach.reason.is_empty() && !breach.next.is_empty());
            Some((breach.rule, breach.cause))
        }
    }
}

fn red_with(change: &Change, report: &Report, baseline: Option<&Baseline>) -> Answer {
    let tree = TreeId("t".into());
    let seen = seen_on(&tree, change, report, baseline);
    answer(judge_red(&seen, &id("new"), &[&id("new")]))
}

fn red(change: &Change, results: &[(&str, Option<Cause>)]) -> Answer {
    red_with(change, &report(results), None)
}

#[test]
fn a_test_that_runs_nowhere_is_skipped_where_it_could_not_be_built() {
    let marked = TestFacts { skipped: Some(Mark::always("#[ignore]")), ..test("new", &["x"]) };
    let change = Change { tests: vec![TestChange::Added(marked)], ..Change::default() };
    for cause in [Cause::MissingSymbol, Cause::UnrelatedCompileError, Cause::LoadFailure] {
        assert_eq!(red(&change, &[("new", Some(cause))]), Some((Rule::RedFirst, Some(Cause::Skipped))), "{cause}");
    }
    // A test command that also runs ignored tests has seen it fail.
    assert_eq!(red(&change, &[("new", Some(Cause::Assertion))]), None);
}

fn green(change: &Change, results: &[(&str, Option<Cause>)], was: &[(&str, Option<Cause>)]) -> Answer {
    let tree = TreeId("t".into());
    let report = report(results);
    let before = baseline(was);
    let seen = seen_on(&tree, change, &report, Some(&before));
    answer(judge_green(&seen, &[&id("new")], &before))
}

fn refactor(change: &Change, results: &[(&str, Option<Cause>)], was: &[(&str, Option<Cause>)]) -> Answer {
    let tree = TreeId("t".into());
    let report = report(results);
    let before = baseline(was);
    let seen = seen_on(&tree, change, &report, Some(&before));
    answer(judge_refactor(&seen))
}

const FAILS: Option<Cause> = Some(Cause::Assertion);

#[test]
fn a_new_test_that_fails_for_want_of_production_is_red() {
    assert_eq!(red(&added("new"), &[("new", FAILS), ("old", None)]), None);
}

#[test]
fn a_test_that_gained_an_assertion_and_fails_is_red() {
    let grown = changed(test("new", &["x"]), test("new", &["x", "y"]), true);
    assert_eq!(red(&grown, &[("new", FAILS)]), None);
}

#[test]
fn a_test_that_a_missing_symbol_takes_down_is_red_and_its_neighbours_keep_their_results() {
    let mut obstacle = Obstacle::new("tests/a.rs", Cause::MissingSymbol, "cannot find function");
    obstacle.tests = vec![id("new"), id("old")];
    let report = Report::new([], vec![obstacle]);
    let before = baseline(&[("old", None)]);
    assert_eq!(red_with(&added("new"), &report, Some(&before)), None);
}

#[test]
fn every_invalid_cause_is_its_own_answer() {
    for cause in Cause::ALL.into_iter().filter(|cause| !cause.is_valid_red()) {
        assert_eq!(red(&added("new"), &[("new", Some(cause))]), Some((Rule::RedFirst, Some(cause))), "{cause}");
    }
}

#[test]
fn green_on_arrival_not_found_and_no_tests_at_all_are_told_apart() {
    assert_eq!(red(&added("new"), &[("new", None)]), Some((Rule::RedFirst, Some(Cause::UnexpectedGreen))));
    assert_eq!(red(&added("new"), &[("old", None)]), Some((Rule::RedFirst, Some(Cause::TargetNotFound))));
    assert_eq!(red(&added("new"), &[]), Some((Rule::RedFirst, Some(Cause::ZeroTests))));
}

#[test]
fn a_failing_test_that_asks_for_nothing_new_is_no_red() {
    assert_eq!(red(&Change::default(), &[("new", FAILS)]), Some((Rule::RedFirst, Some(Cause::TargetNotFound))));
}

#[test]
fn a_test_that_cannot_fail_or_asks_nothing_of_production_is_vacuous() {
    let none = Change { tests: vec![TestChange::Added(test("new", &[]))], ..Change::default() };
    assert_eq!(red(&none, &[("new", FAILS)]), Some((Rule::TestAsserts, Some(Cause::VacuousTest))));
    let alone = TestFacts { asks_production: false, ..test("new", &["x"]) };
    let alone = Change { tests: vec![TestChange::Added(alone)], ..Change::default() };
    assert_eq!(red(&alone, &[("new", FAILS)]), Some((Rule::TestAsserts, Some(Cause::VacuousTest))));
}

#[test]
fn a_red_changes_no_production_no_steering_and_brings_one_behaviour() {
    let production = Change { production: vec![item(ItemFate::Added)], ..added("new") };
    assert_eq!(red(&production, &[("new", FAILS)]), Some((Rule::PhaseScope, None)));
    let steering = |free| SteeringChange { path: "Cargo.toml".into(), what: "`lib.name`".into(), free };
    let bad = Change { steering: vec![steering(true), steering(false)], ..added("new") };
    assert_eq!(red(&bad, &[("new", FAILS)]), Some((Rule::SteeringFrozen, None)));
    let dependency = Change { steering: vec![steering(true)], ..added("new") };
    assert_eq!(red(&dependency, &[("new", FAILS)]), None);
    let mut two = added("new");
    two.tests.push(TestChange::Added(test("other", &["x"])));
    assert_eq!(red(&two, &[("new", FAILS), ("other", FAILS)]), Some((Rule::OneBehaviour, None)));
}

#[test]
fn no_test_is_loosened_in_any_way() {
    let old = || test("old", &["x", "y"]);
    let cases = [
        TestChange::Removed(old()),
        TestChange::Changed { before: old(), after: test("old", &["x"]), only_added: false },
        TestChange::Changed { before: old(), after: test("old", &["x", "z"]), only_added: false },
        TestChange::Changed { before: old(), after: old(), only_added: false },
        TestChange::Changed {
            before: old(),
            after: TestFacts { skipped: Some(Mark::always("later")), ..old() },
            only_added: true,
        },
        TestChange::Moved { before: old(), after: TestFacts { skipped: Some(Mark::always("later")), ..old() } },
        TestChange::Changed { before: old(), after: TestFacts { should_panic: true, ..old() }, only_added: true },
        TestChange::Changed {
            before: old(),
            after: TestFacts { conditions: vec!["windows".into()], ..old() },
            only_added: true,
        },
        TestChange::Changed { before: test("old", &["x", "x"]), after: test("old", &["x"]), only_added: true },
    ];
    for case in cases {
        let mut change = added("new");
        change.tests.push(case.clone());
        assert_eq!(red(&change, &[("new", FAILS)]), Some((Rule::TestsFrozen, None)), "{case:?}");
    }
}

#[test]
fn what_tests_use_may_be_added_to_at_red_but_not_changed() {
    let with = |fate| Change { support: vec![item(fate)], ..added("new") };
    assert_eq!(red(&with(ItemFate::Added), &[("new", FAILS)]), None);
    for fate in [ItemFate::Changed, ItemFate::Removed] {
        assert_eq!(red(&with(fate), &[("new", FAILS)]), Some((Rule::TestsFrozen, None)));
    }
}

#[test]
fn nothing_may_take_the_place_of_an_assertion() {
    for name in ["assert_eq", "assert", "debug_assert", "panic"] {
        let shadow = ItemChange { item: format!("macro `{name}`"), ..item(ItemFate::Added) };
        let change = Change { support: vec![shadow], ..added("new") };
        assert_eq!(red(&change, &[("new", FAILS)]), Some((Rule::TestsFrozen, None)), "{name}");
    }
}

#[test]
fn another_test_that_fails_must_have_failed_in_the_same_way_before() {
    let failing = report(&[("new", FAILS), ("old", FAILS)]);
    let unrelated = Some((Rule::OthersKept, Some(Cause::UnrelatedFailure)));
    assert_eq!(red_with(&added("new"), &failing, None), unrelated);
    assert_eq!(red_with(&added("new"), &failing, Some(&baseline(&[("old", None)]))), unrelated);
    assert_eq!(red_with(&added("new"), &failing, Some(&baseline(&[("old", FAILS)]))), None);
    let timeout = baseline(&[("old", Some(Cause::Timeout))]);
    assert_eq!(red_with(&added("new"), &failing, Some(&timeout)), unrelated);
}

#[test]
fn a_file_that_does_not_parse_is_a_syntax_error_whatever_is_said_of_its_tests() {
    let (place, problem) = (Place::new("tests/a.rs", 3), "`(` is never closed".to_owned());
    let unreadable = vec![Unreadable { place, problem, text: "add(1".to_owned() }];
    let change = Change { unreadable, ..added("new") };
    assert_eq!(red(&change, &[("new", FAILS)]), Some((Rule::TestsFrozen, Some(Cause::SyntaxError))));
}

#[test]
fn a_run_that_changed_the_files_is_void() {
    let (before, after) = (TreeId("a".into()), TreeId("b".into()));
    let (change, report) = (added("new"), report(&[("new", FAILS)]));
    let seen = RunFacts {
        change: &change,
        report: &report,
        trees: (&before, &after),
        baseline: None,
        gate: &Gate::default(),
        excepted: &[],
    };
    assert_eq!(answer(judge_red(&seen, &id("new"), &[&id("new")])), Some((Rule::SameTree, None)));
    let nothing = Change::default();
    assert_eq!(answer(judge_refactor(&RunFacts { change: &nothing, ..seen })), Some((Rule::SameTree, None)));
}

#[test]
fn production_that_makes_a_red_test_pass_is_green() {
    let change = Change { production: vec![item(ItemFate::Changed)], ..Change::default() };
    assert_eq!(green(&change, &[("new", None), ("old", None)], &[("new", FAILS), ("old", None)]), None);
}

#[test]
fn a_green_without_a_red_before_it_is_none() {
    let change = Change { production: vec![item(ItemFate::Changed)], ..Change::default() };
    let passes = [("new", None)];
    assert_eq!(green(&change, &passes, &passes), Some((Rule::RedFirst, Some(Cause::UnexpectedGreen))));
    assert_eq!(green(&change, &passes, &[]), Some((Rule::RedFirst, Some(Cause::TargetNotFound))));
    let crashed = [("new", Some(Cause::Crash))];
    assert_eq!(green(&change, &passes, &crashed), Some((Rule::RedFirst, Some(Cause::Crash))));
}

#[test]
fn a_green_touches_no_test_and_nothing_that_tests_use() {
    let was = [("new", FAILS)];
    assert_eq!(green(&added("other"), &[("new", None)], &was), Some((Rule::TestsFrozen, None)));
    let support = Change { support: vec![item(ItemFate::Added)], ..Change::default() };
    assert_eq!(green(&support, &[("new", None)], &was), Some((Rule::TestsFrozen, None)));
    let grown = changed(test("old", &["x"]), test("old", &["x", "y"]), true);
    assert_eq!(green(&grown, &[("new", None)], &was), Some((Rule::TestsFrozen, None)));
}

#[test]
fn a_green_loses_no_other_test_and_its_target_must_pass() {
    let change = Change { production: vec![item(ItemFate::Changed)], ..Change::default() };
    let was = [("new", FAILS), ("old", None)];
    assert_eq!(green(&change, &[("new", FAILS), ("old", None)], &was), Some((Rule::TargetPasses, FAILS)));
    assert_eq!(
        green(&change, &[("new", None), ("old", FAILS)], &was),
        Some((Rule::OthersKept, Some(Cause::UnrelatedFailure)))
    );
    assert_eq!(green(&change, &[("new", None)], &was), Some((Rule::OthersKept, Some(Cause::TargetNotFound))));
    assert_eq!(
        green(&change, &[("new", None), ("old", Some(Cause::Skipped))], &was),
        Some((Rule::OthersKept, Some(Cause::Skipped)))
    );
}

#[test]
fn tests_are_counted_as_people_count() {
    assert_eq!([0, 1, 2].map(super::tests), ["0 tests", "1 test", "2 tests"]);
}

#[test]
fn a_refactor_keeps_every_test_and_changes_one_side() {
    let all = [("old", None)];
    let production = Change { production: vec![item(ItemFate::Changed)], ..Change::default() };
    assert_eq!(refactor(&production, &all, &all), None);
    let moved = TestChange::Moved { before: test("old", &["x"]), after: test("renamed", &["x"]) };
    let tests = Change { tests: vec![moved.clone()], ..Change::default() };
    assert_eq!(refactor(&tests, &[("renamed", None)], &all), None);
    let with_its_file = Change { tests: vec![moved], ..production.clone() };
    assert_eq!(refactor(&with_its_file, &[("renamed", None)], &all), None);
    let both = Change { support: vec![item(ItemFate::Changed)], ..production.clone() };
    assert_eq!(refactor(&both, &all, &all), Some((Rule::PhaseScope, None)));
    assert_eq!(refactor(&added("new"), &all, &all), Some((Rule::TestsFrozen, None)));
    let removed = Change { tests: vec![TestChange::Removed(test("old", &["x"]))], ..Change::default() };
    assert_eq!(refactor(&removed, &[], &all), Some((Rule::TestsFrozen, None)));
    assert_eq!(refactor(&production, &[], &all), Some((Rule::OthersKept, Some(Cause::TargetNotFound))));
}

#[test]
fn a_broken_target_is_forgiven_only_where_it_was_as_broken_before() {
    let mut obstacle = Obstacle::new("tests/b.rs", Cause::UnrelatedCompileError, "mismatched types");
    obstacle.tests = vec![id("old")];
    let report = Report::new([TestResult::new(id("new"), Outcome::Pass, 1)], vec![obstacle]);
    let change = Change { production: vec![item(ItemFate::Changed)], ..Change::default() };
    let tree = TreeId("t".into());
    let verdict = |was: &Baseline| {
        let seen = seen_on(&tree, &change, &report, Some(was));
        answer(judge_green(&seen, &[&id("new")], was))
    };
    let broken = [("new", FAILS), ("old", Some(Cause::UnrelatedCompileError))];
    assert_eq!(verdict(&baseline(&broken)), None);
    let fine = [("new", FAILS), ("old", None)];
    assert_eq!(verdict(&baseline(&fine)), Some((Rule::OthersKept, Some(Cause::UnrelatedCompileError))));
}

#[test]
fn the_baseline_is_asked_for_only_where_something_else_failed() {
    assert!(!needs_baseline(&report(&[("new", FAILS), ("old", None)]), Some(&id("new"))));
    assert!(needs_baseline(&report(&[("new", FAILS), ("old", FAILS)]), Some(&id("new"))));
    assert!(needs_baseline(&report(&[("new", FAILS)]), None));
}

#[test]
fn several_targets_do_not_stand_in_each_others_way() {
    let mut change = added("new");
    change.tests.push(TestChange::Added(test("other", &["x"])));
    let report = report(&[("new", FAILS), ("other", FAILS)]);
    let tree = TreeId("t".into());
    let seen = RunFacts {
        change: &change,
        report: &report,
        trees: (&tree, &tree),
        baseline: None,
        gate: &Gate { max_new_tests: std::num::NonZeroU32::new(2).unwrap(), ..Gate::default() },
        excepted: &[],
    };
    let both = [&id("new"), &id("other")];
    assert_eq!(both.map(|target| answer(judge_red(&seen, target, &both))), [None, None]);
}

#[test]
fn tests_that_come_with_their_production_may_not_loosen_and_must_be_able_to_fail() {
    let rule = |change: &Change| judge_new_tests(change).map(|breach| breach.rule);
    let with_production = Change { production: vec![item(ItemFate::Added)], ..added("new") };
    assert_eq!(rule(&with_production), None);
    let mut loosened = with_production;
    loosened.tests.push(TestChange::Removed(test("old", &["x"])));
    assert_eq!(rule(&loosened), Some(Rule::TestsFrozen));
    let empty = Change { tests: vec![TestChange::Added(test("new", &[]))], ..Change::default() };
    assert_eq!(rule(&empty), Some(Rule::TestAsserts));
}

#[test]
fn a_check_that_fails_is_refused_with_its_first_error() {
    assert_eq!(judge_check(true, "cargo clippy", ""), None);
    let breach = judge_check(false, "cargo clippy", "warning: x\nerror: unused variable\n").unwrap();
    assert_eq!(breach.reason, "`cargo clippy` fails: error: unused variable");
}

fn support(items: &[(&str, ItemFate)]) -> Change {
    let item =
        |&(item, fate): &(&str, ItemFate)| ItemChange { path: "tests/a.rs".into(), item: item.into(), line: 1, fate };
    Change { support: items.iter().map(item).collect(), ..Change::default() }
}

#[test]
fn a_refactor_keeps_what_tests_use() {
    use ItemFate::{Added, Changed, Removed};
    let passes = [("old", None)];
    for items in [
        &[("fn `check`", Changed)][..],
        &[("the file `a.snap`", Changed)],
        &[("use `kata::add`", Removed), ("fn `add`", Added)],
        &[("use `kata::add`", Removed), ("use `kata::fake as add`", Added)],
        &[("use `kata::add`", Removed), ("use `common::add`", Added)],
        &[("macro `assert_eq`", Added)],
    ] {
        let answer = refactor(&support(items), &passes, &passes);
        assert_eq!(answer, Some((Rule::TestsFrozen, None)), "{items:?}");
    }
    for items in [
        &[("mod `common`", Added), ("use `common::four`", Added)][..],
        &[("use `kata::add`", Removed)],
        &[("mod `tests`", Changed)],
        &[("fn `unused`", Removed)],
    ] {
        assert_eq!(refactor(&support(items), &passes, &passes), None, "{items:?}");
    }
}

#[test]
fn a_refactor_may_split_a_file_with_its_module_of_tests() {
    let passes = [("old", None)];
    let mut split = support(&[("mod `tests`", ItemFate::Added), ("use `super::*`", ItemFate::Added)]);
    split.production.push(item(ItemFate::Added));
    assert_eq!(refactor(&split, &passes, &passes), None);
}

#[test]
fn every_new_test_of_a_change_must_be_able_to_fail() {
    let empty = TestFacts { assertions: Vec::new(), ..test("empty", &[]) };
    let change = Change { tests: vec![TestChange::Added(empty)], ..added("new") };
    assert_eq!(judge_new_tests(&change).map(|breach| breach.rule), Some(Rule::TestAsserts));
    assert_eq!(judge_new_tests(&added("new")), None);
}

#[test]
fn a_library_that_does_not_build_is_named_where_its_tests_cannot_be() {
    let obstacle = Obstacle::new("src/lib.rs", Cause::UnrelatedCompileError, "mismatched types");
    let breach = passes(&Report::new([], vec![obstacle]), &id("new")).unwrap_err();
    assert_eq!((breach.rule, breach.cause), (Rule::TargetPasses, Some(Cause::UnrelatedCompileError)));
    let breach = passes(&report(&[("old", None)]), &id("new")).unwrap_err();
    assert_eq!((breach.rule, breach.cause), (Rule::TargetPasses, Some(Cause::TargetNotFound)));
}

#[test]
fn a_green_that_does_not_compile_is_sent_to_the_production_code() {
    let broken = Obstacle::new("src/lib.rs", Cause::UnrelatedCompileError, "unresolved import `calc`");
    let breach = passes(&Report::new([], vec![broken]), &id("new")).unwrap_err();
    assert!(breach.reason.ends_with("cannot be built any more: unresolved import `calc`"), "{}", breach.reason);
    assert_eq!(breach.next, "fix the production code, and leave the test as it is");
}

#[test]
fn a_green_that_lacks_what_the_test_names_is_told_to_write_it() {
    let missing = Obstacle::new("tests/a.rs", Cause::MissingSymbol, "unresolved import `calc::add`");
    let breach = passes(&Report::new([], vec![missing]), &id("new")).unwrap_err();
    assert_eq!((breach.rule, breach.cause), (Rule::TargetPasses, Some(Cause::MissingSymbol)));
    assert!(breach.reason.ends_with("does not compile yet: unresolved import `calc::add`"), "{}", breach.reason);
    assert!(breach.next.starts_with("define what it names in the production code"), "{}", breach.next);
}

fn refactor_mode(change: &Change, results: &[(&str, Option<Cause>)], was: &[(&str, Option<Cause>)]) -> Answer {
    let tree = TreeId("t".into());
    let (report, before) = (report(results), baseline(was));
    let trees = (&tree, &tree);
    let seen =
        RunFacts { change, report: &report, trees, baseline: Some(&before), gate: &Gate::default(), excepted: &[] };
    answer(judge_refactor_mode(&seen))
}

#[test]
fn refactor_mode_loses_no_test_and_may_change_everything_else() {
    let everything = Change {
        production: vec![item(ItemFate::Changed)],
        steering: vec![SteeringChange { path: "build.rs".into(), what: "a new file".into(), free: false }],
        ..changed(test("a", &["x", "y"]), test("a", &["z"]), /* only_added */ false)
    };
    let before = [("a", None), ("red", Some(Cause::Assertion))];
    assert_eq!(refactor_mode(&everything, &[("a", None), ("red", None), ("new", None)], &before), None);
    assert_eq!(refactor_mode(&everything, &before, &before), None);
    let lost = Some((Rule::OthersKept, Some(Cause::TargetNotFound)));
    assert_eq!(refactor_mode(&everything, &[("red", None)], &before), lost);
    let skipped = [("a", Some(Cause::Skipped)), ("red", None)];
    assert_eq!(refactor_mode(&everything, &skipped, &before), Some((Rule::OthersKept, Some(Cause::Skipped))));
    let removed = Change { tests: vec![TestChange::Removed(test("unbuilt", &["x"]))], ..Change::default() };
    assert_eq!(refactor_mode(&removed, &before, &before), Some((Rule::OthersKept, None)));
    let moved = TestChange::Moved { before: test("a", &["x"]), after: test("renamed", &["x"]) };
    let moved = Change { tests: vec![moved], ..Change::default() };
    assert_eq!(refactor_mode(&moved, &[("renamed", None), ("red", None)], &before), None);
}

#[test]
fn a_task_of_a_plan_loosens_no_test_and_with_the_test_gate_off_only_an_execute_plan_may_leave_one_failing() {
    let task = |kind: Kind, change: &Change, results: &[(&str, Option<Cause>)], test_gate: bool| {
        let tree = TreeId("t".into());
        let (report, before) = (report(results), baseline(&[("a", None)]));
        let trees = (&tree, &tree);
        let gate = Gate { test_gate, ..Gate::default() };
        let seen = RunFacts { change, report: &report, trees, baseline: Some(&before), gate: &gate, excepted: &[] };
        answer(seen.judge(kind, None, &[], false))
    };
    let both = Change { production: vec![item(ItemFate::Changed)], ..added("new") };
    let failing = [("a", FAILS), ("new", None)];
    let loosened = changed(test("a", &["x", "y"]), test("a", &["x"]), /* only_added */ false);
    for (kind, test_gate, may_fail) in [
        (Kind::Task, true, false),
        (Kind::Task, false, false),
        (Kind::Execute, true, false),
        (Kind::Execute, false, true),
    ] {
        assert_eq!(task(kind, &both, &[("a", None), ("new", None)], test_gate), None);
        let refused = task(kind, &both, &failing, test_gate).map(|(rule, _)| rule);
        assert_eq!(refused, (!may_fail).then_some(Rule::OthersKept), "{kind:?} {test_gate}");
        assert_eq!(task(kind, &loosened, &[("a", None)], test_gate), Some((Rule::TestsFrozen, None)));
    }
}

#[test]
fn a_verification_that_does_not_pass_is_told_by_the_way_it_ended() {
    let judged = |exit: &Exit| judge_verification(exit, "make", "error: no").map(|it| (it.cause, it.reason));
    assert_eq!(judged(&Exit::Passed), None);
    assert_eq!(judged(&Exit::Failed(1)), Some((None, "`make` fails: error: no".to_owned())));
    assert_eq!(
        judged(&Exit::TimedOut),
        Some((Some(Cause::Timeout), "`make` did not finish before its timeout".to_owned()))
    );
    let missing = judged(&Exit::NotStarted("not found".to_owned()));
    assert_eq!(missing.and_then(|(cause, _)| cause), Some(Cause::RunnerMissing));
}

#[test]
fn where_there_was_no_test_before_there_may_be_none_now() {
    let tree = TreeId("t".into());
    let none = Report::new([], vec![Obstacle::new("cargo test", Cause::ZeroTests, "")]);
    let change = Change { production: vec![item(ItemFate::Changed)], ..Change::default() };
    let judged = |before: &Baseline| {
        let trees = (&tree, &tree);
        let baseline = Some(before);
        answer(judge_refactor_mode(&RunFacts {
            change: &change,
            report: &none,
            trees,
            baseline,
            gate: &Gate::default(),
            excepted: &[],
        }))
    };
    assert_eq!(judged(&Baseline::new()), None);
    assert_eq!(judged(&baseline(&[("a", None)])), Some((Rule::OthersKept, Some(Cause::ZeroTests))));
}

#[test]
fn a_headline_that_only_announces_what_follows_is_told_with_it() {
    let message =
        "\nthread 'a' panicked at src/a.rs:1:2:\nassertion `left == right` failed\n  left: 1\n right: 2\nnote: x\n";
    let told = "thread 'a' panicked at src/a.rs:1:2: assertion `left == right` failed, left: 1, right: 2";
    assert_eq!(headline(message), told);
    assert_eq!(headline("error[E0425]: no `x`\n --> src/a.rs:1:2\n"), "error[E0425]: no `x`");
    assert_eq!((headline("").as_str(), headline("only:").as_str()), ("", "only:"));
}

fn rethink(change: &Change, results: &[(&str, Option<Cause>)], was_green: bool) -> Answer {
    let tree = TreeId("t".into());
    let (report, before) = (report(results), baseline(&[("new", FAILS), ("old", None)]));
    let seen = seen_on(&tree, change, &report, Some(&before));
    answer(judge_rethink(&seen, &id("new"), was_green))
}

#[test]
fn a_doubted_test_is_revised_and_red_again_or_withdrawn_if_it_was_never_green() {
    let (fails, passes) = ([("new", FAILS), ("old", None)], [("new", None), ("old", None)]);
    let revised = changed(test("new", &["x"]), test("new", &["y"]), false);
    assert_eq!(rethink(&revised, &fails, false), None);
    assert_eq!(rethink(&revised, &passes, false), Some((Rule::RedFirst, Some(Cause::UnexpectedGreen))));
    let timeout = Some(Cause::Timeout);
    assert_eq!(rethink(&revised, &[("new", timeout), ("old", None)], false), Some((Rule::RedFirst, timeout)));
    let emptied = changed(test("new", &["x"]), test("new", &[]), false);
    assert_eq!(rethink(&emptied, &fails, false), Some((Rule::TestAsserts, Some(Cause::VacuousTest))));
    let withdrawn = Change { tests: vec![TestChange::Removed(test("new", &["x"]))], ..Change::default() };
    assert_eq!(rethink(&withdrawn, &[("old", None)], false), None);
    assert_eq!(rethink(&withdrawn, &[("old", None)], true), Some((Rule::TestsFrozen, None)));
    assert_eq!(rethink(&withdrawn, &[], false), Some((Rule::OthersKept, Some(Cause::TargetNotFound))));
}

#[test]
fn a_rethink_that_leaves_the_doubted_test_alone_is_none() {
    let fails = [("new", FAILS), ("old", None)];
    assert_eq!(rethink(&Change::default(), &fails, false), Some((Rule::TestsFrozen, None)));
    let beside = Change { support: vec![item(ItemFate::Added)], ..Change::default() };
    assert_eq!(rethink(&beside, &fails, false), Some((Rule::TestsFrozen, None)));
}

#[test]
fn a_green_without_a_target_is_none() {
    let (tree, before) = (TreeId("t".into()), Baseline::new());
    let change = Change { production: vec![item(ItemFate::Changed)], ..Change::default() };
    let report = report(&[("old", None)]);
    let seen = seen_on(&tree, &change, &report, None);
    assert_eq!(answer(judge_green(&seen, &[], &before)), Some((Rule::RedFirst, None)));
}

#[test]
fn a_test_that_moved_is_found_at_its_new_place_with_the_result_that_it_had() {
    let moved = TestChange::Moved { before: test("old", &["x"]), after: test("renamed", &["x"]) };
    let change = Change { tests: vec![moved], ..Change::default() };
    let was = [("old", None), ("other", None)];
    let lost = Some((Rule::OthersKept, Some(Cause::TargetNotFound)));
    assert_eq!(refactor(&change, &[("other", None)], &was), lost);
    let fails = Some((Rule::OthersKept, Some(Cause::UnrelatedFailure)));
    assert_eq!(refactor(&change, &[("renamed", FAILS), ("other", None)], &was), fails);
    let skipped = Some(Cause::Skipped);
    assert_eq!(refactor(&change, &[("renamed", skipped)], &[("old", skipped)]), None);
    assert_eq!(refactor(&change, &[("renamed", skipped)], &[("old", None)]), Some((Rule::OthersKept, skipped)));
}

#[test]
fn a_test_that_moves_loses_nothing_on_the_way() {
    let old = || test("old", &["x", "y"]);
    let cases = [
        TestFacts { skipped: Some(Mark::always("later")), ..test("renamed", &["x", "y"]) },
        TestFacts { should_panic: true, ..test("renamed", &["x", "y"]) },
        TestFacts { conditions: vec!["windows".into()], ..test("renamed", &["x", "y"]) },
        test("renamed", &["x"]),
    ];
    for after in cases {
        let moved = TestChange::Moved { before: old(), after };
        let mut change = added("new");
        change.tests.push(moved.clone());
        assert_eq!(red(&change, &[("new", FAILS)]), Some((Rule::TestsFrozen, None)), "{moved:?}");
        let alone = Change { tests: vec![moved], ..Change::default() };
        assert_eq!(refactor(&alone, &[("renamed", None)], &[("old", None)]), Some((Rule::TestsFrozen, None)));
    }
}

#[test]
fn the_baseline_holds_what_ran_and_what_was_taken_down() {
    let mut obstacle = Obstacle::new("tests/b.rs", Cause::MissingSymbol, "");
    obstacle.tests = vec![id("down")];
    let report = Report::new([TestResult::new(id("ran"), Outcome::Pass, 1)], vec![obstacle]);
    assert_eq!(baseline_of(&report), baseline(&[("ran", None), ("down", Some(Cause::MissingSymbol))]));
}

#[test]
fn a_broken_target_asks_for_the_baseline_unless_a_missing_symbol_broke_it() {
    let with = |cause| Report::new([], vec![Obstacle::new("tests/a.rs", cause, "")]);
    assert!(!needs_baseline(&with(Cause::MissingSymbol), Some(&id("new"))));
    assert!(needs_baseline(&with(Cause::UnrelatedCompileError), Some(&id("new"))));
}

#[test]
fn a_broken_target_of_which_no_test_is_known_is_not_as_before() {
    let change = Change { production: vec![item(ItemFate::Changed)], ..Change::default() };
    let obstacle = Obstacle::new("tests/b.rs", Cause::UnrelatedCompileError, "");
    let report = Report::new([TestResult::new(id("new"), Outcome::Pass, 1)], vec![obstacle]);
    let (tree, was) = (TreeId("t".into()), baseline(&[("new", FAILS)]));
    let seen = seen_on(&tree, &change, &report, Some(&was));
    let broken = Some((Rule::OthersKept, Some(Cause::UnrelatedCompileError)));
    assert_eq!(answer(judge_green(&seen, &[&id("new")], &was)), broken);
}

#[test]
fn rulings_say_what_was_seen() {
    let change = Change { production: vec![item(ItemFate::Changed)], ..Change::default() };
    let (tree, was) = (TreeId("t".into()), baseline(&[("new", FAILS), ("other", FAILS)]));
    let report = report(&[("new", None), ("other", None)]);
    let seen = seen_on(&tree, &change, &report, None);
    let said = |verdict| match verdict {
        Verdict::Holds(holding) => holding.reason,
        Verdict::Refused(refusal) => refusal.reason,
    };
    let one = said(judge_green(&seen, &[&id("new")], &was));
    assert_eq!(one, "`tests/a.rs::new` passes and the whole suite with it");
    let two = said(judge_green(&seen, &[&id("new"), &id("other")], &was));
    assert_eq!(two, "2 targets pass and the whole suite with it");
    let timeout = invalid(Cause::Timeout, &id("new"), "\n  after 5 s\nmore");
    assert_eq!(timeout.reason, "`tests/a.rs::new` did not finish before its timeout: after 5 s");
}

#[test]
fn changed_production_code_that_asks_whether_it_is_under_test_is_refused() {
    use crate::signs::Place;
    let place = |line| Place::new("src/lib.rs", line);
    let sensing = |line| Sensing { item: place(line), line: line + 1, what: "`cfg!(test)`".into() };
    let signs = |line| Signs { sensing: vec![sensing(line)], ..Signs::default() };
    let item = |fate| ItemChange { path: "src/lib.rs".into(), item: "fn `a`".into(), line: 3, fate };
    let change = |fate| Change { production: vec![item(fate)], ..Change::default() };
    let refused = |change: &Change, line| judge_sensing(change, &signs(line)).map(|refusal| refusal.rule);
    assert_eq!(refused(&change(ItemFate::Added), 3), Some(Rule::TestSensing));
    assert_eq!(refused(&change(ItemFate::Changed), 3), Some(Rule::TestSensing));
    assert_eq!(refused(&change(ItemFate::Removed), 3), None);
    assert_eq!(refused(&change(ItemFate::Changed), 9), None);
}

#[test]
fn a_test_that_never_ran_is_red_only_where_the_gate_takes_that() {
    let (change, tree) = (added("new"), TreeId("t".into()));
    let report = report(&[("new", Some(Cause::MissingSymbol))]);
    let was_red = baseline(&[("new", Some(Cause::MissingSymbol))]);
    for (red_compile, holds) in [(RedCompile::MissingSymbol, true), (RedCompile::Never, false)] {
        let gate = Gate { red_compile, ..Gate::default() };
        let trees = (&tree, &tree);
        let seen = RunFacts { change: &change, report: &report, trees, baseline: None, gate: &gate, excepted: &[] };
        let refused = (!holds).then_some((Rule::RedFirst, Some(Cause::MissingSymbol)));
        assert_eq!(answer(judge_red(&seen, &id("new"), &[&id("new")])), refused);
        let change = Change { production: vec![item(ItemFate::Added)], ..Change::default() };
        let report = self::report(&[("new", None)]);
        let seen = RunFacts { change: &change, report: &report, baseline: Some(&was_red), ..seen };
        assert_eq!(answer(judge_green(&seen, &[&id("new")], &was_red)), refused);
    }
}

#[test]
fn a_target_that_does_not_build_is_forgiven_only_at_red_and_only_for_want_of_production_code() {
    let (tree, gate, empty) = (TreeId("t".into()), Gate::default(), Baseline::new());
    let was_red = baseline(&[("new", Some(Cause::Assertion))]);
    let with = |outcome: Option<Cause>, cause: Cause| {
        let ran = self::report(&[("new", outcome)]).results().cloned().collect::<Vec<_>>();
        Report::new(ran, vec![Obstacle::new("tests/b.rs", cause, "")])
    };
    let trees = (&tree, &tree);
    for (cause, at_red) in [(Cause::MissingSymbol, true), (Cause::UnrelatedCompileError, false)] {
        let refused = Some((Rule::OthersKept, Some(cause)));
        let (change, report) = (added("new"), with(Some(Cause::Assertion), cause));
        let seen =
            RunFacts { change: &change, report: &report, trees, baseline: Some(&empty), gate: &gate, excepted: &[] };
        assert_eq!(answer(judge_red(&seen, &id("new"), &[&id("new")])), refused.filter(|_| !at_red));
        let (change, report) =
            (Change { production: vec![item(ItemFate::Added)], ..Change::default() }, with(None, cause));
        let seen = RunFacts { change: &change, report: &report, ..seen };
        assert_eq!(answer(judge_green(&seen, &[&id("new")], &was_red)), refused);
    }
}
