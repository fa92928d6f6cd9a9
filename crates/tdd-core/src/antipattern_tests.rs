//! Tests of every anti-pattern rule: what it accepts and what it finds.

use super::*;
use crate::change::Unreadable;
use crate::digest::Digest;
use crate::law::{NO_EXCEPTIONS, RuleRunner};
use crate::rule::Severity;

const LIB: &str = "src/lib.rs";
const TESTS: &str = "tests/a.rs";

/// A test that calls the item on line 1 by name, and reaches it.
fn signs(line: usize) -> TestSigns {
    TestSigns {
        at: Place::new(TESTS, line),
        name: format!("t{line}"),
        asserts: true,
        assertions: 1,
        mocks: Vec::new(),
        subjects: Vec::new(),
        samples: Vec::new(),
        reaches: BTreeSet::from([Place::new(LIB, 1)]),
        asks: BTreeMap::from([(Place::new(LIB, 1), "add".to_owned())]),
    }
}

fn facts(line: usize) -> TestFacts {
    let plain = TestFacts::plain(TESTS, &format!("t{line}"));
    TestFacts {
        line,
        digest: Digest::of("a"),
        body: Digest::of("a"),
        assertions: vec![Digest::of("assertion")],
        ..plain
    }
}

fn item(path: &str, name: &str, line: usize, fate: ItemFate) -> ItemChange {
    ItemChange { path: path.to_owned(), item: name.to_owned(), line, fate }
}

/// A change with its signs. Each test sets only the fields it is about.
struct Set {
    change: Change,
    signs: Signs,
    reds: Vec<TestSigns>,
    kind: Kind,
    target: Option<TestId>,
    never_red: BTreeSet<TestId>,
    since: BTreeMap<Place, String>,
    measurement: Option<Measurement>,
}

impl Default for Set {
    fn default() -> Self {
        Self {
            change: Change::default(),
            signs: Signs::default(),
            reds: Vec::new(),
            kind: Kind::Green,
            target: None,
            never_red: BTreeSet::new(),
            since: BTreeMap::new(),
            measurement: None,
        }
    }
}

fn in_change(case: &CodeContext<'_>) -> Vec<Refusal> {
    let mut rules = RuleRunner::new(NO_EXCEPTIONS);
    let mut findings = rules.ask_code(case, Severity::Block);
    findings.extend(rules.ask_code(case, Severity::Warn));
    sorted(findings)
}

impl Set {
    fn found(&self) -> Vec<&'static str> {
        in_change(&self.case()).iter().map(|finding| finding.rule.name()).collect()
    }

    fn case(&self) -> CodeContext<'_> {
        CodeContext {
            change: &self.change,
            signs: &self.signs,
            reds: &self.reds,
            kind: self.kind,
            target: self.target.as_ref(),
            never_red: &self.never_red,
            since: &self.since,
            measurement: self.measurement.as_ref(),
        }
    }

    fn with_code(fate: ItemFate) -> Self {
        let mut set = Self::default();
        set.change.production.push(item(LIB, "fn `add`", 1, fate));
        set
    }

    fn and_new_test(mut self, signs: TestSigns) -> Self {
        self.change.tests.push(TestChange::Added(facts(signs.at.line)));
        self.signs.tests.push(signs);
        self
    }
}

#[test]
fn production_without_a_claim_is_pre_test_code() {
    assert_eq!(Set::with_code(ItemFate::Added).found(), ["pre-test-code"]);
    assert_eq!(Set::with_code(ItemFate::Changed).found(), ["pre-test-code"]);
    assert_eq!(Set::with_code(ItemFate::Removed).found(), [""; 0]);
    assert!(lacks_claims(&Set::with_code(ItemFate::Added).case()));
}

#[test]
fn a_new_test_or_a_red_that_leads_to_the_code_claims_it() {
    assert_eq!(Set::with_code(ItemFate::Added).and_new_test(signs(3)).found(), [""; 0]);
    let mut red = Set::with_code(ItemFate::Changed);
    red.reds.push(signs(3));
    assert_eq!(red.found(), [""; 0]);
    let elsewhere = TestSigns { reaches: BTreeSet::new(), ..signs(3) };
    assert_eq!(Set::with_code(ItemFate::Added).and_new_test(elsewhere).found(), ["pre-test-code"]);
}

#[test]
fn a_new_example_claims_what_it_shows() {
    let mut set = Set::with_code(ItemFate::Added);
    set.change.support.push(item(LIB, "an example of fn `add`", 1, ItemFate::Added));
    set.signs.documented.insert(LIB.to_owned(), BTreeSet::from([Place::new(LIB, 1)]));
    assert_eq!(set.found(), [""; 0]);
    set.change.support.clear();
    assert_eq!(set.found(), ["pre-test-code"]);
}

#[test]
fn what_only_leads_to_code_or_was_moved_needs_no_claim() {
    let mut set = Set::default();
    for label in ["use `a::b`", "mod `a`", "attribute `warn`", "extern crate `a`", "the file `a.txt`"] {
        set.change.production.push(item(LIB, label, 1, ItemFate::Added));
    }
    set.change.production.push(item(LIB, "fn `add`", 9, ItemFate::Removed));
    set.change.production.push(item("src/sum.rs", "fn `add`", 1, ItemFate::Added));
    assert_eq!(set.found(), [""; 0]);
}

#[test]
fn a_refactor_may_change_what_an_example_leads_to() {
    let mut set = Set { kind: Kind::Refactor, ..Set::with_code(ItemFate::Changed) };
    assert_eq!(set.found(), ["pre-test-code"]);
    set.signs.documented.insert(LIB.to_owned(), BTreeSet::from([Place::new(LIB, 1)]));
    assert_eq!(set.found(), [""; 0]);
}

#[test]
fn a_refactor_may_change_what_a_test_leads_to_and_nothing_else() {
    let mut set = Set { kind: Kind::Refactor, ..Set::with_code(ItemFate::Changed) };
    set.signs.tests.push(signs(3));
    assert_eq!(set.found(), [""; 0]);
    set.change.production.push(item(LIB, "fn `extra`", 5, ItemFate::Added));
    assert_eq!(set.found(), ["pre-test-code"]);
}

#[test]
fn a_test_that_lost_something_was_tampered_with() {
    let changed = |change: &dyn Fn(&mut TestFacts), only_added| {
        let mut after = facts(3);
        change(&mut after);
        TestChange::Changed { before: facts(3), after, only_added }
    };
    for (test, expected) in [
        (TestChange::Removed(facts(3)), 1),
        (changed(&|after| after.assertions.clear(), false), 1),
        (changed(&|after| after.assertions = vec![Digest::of("other")], false), 1),
        (changed(&|after| after.skipped = Some(crate::change::Mark::always("#[ignore]")), true), 1),
        (changed(&|after| after.assertions.push(Digest::of("more")), true), 0),
        (TestChange::Moved { before: facts(3), after: facts(9) }, 0),
    ] {
        let mut set = Set::default();
        set.change.tests.push(test);
        assert_eq!(set.found().len(), expected, "{:?}", set.change.tests);
        assert!(set.found().iter().all(|rule| *rule == "test-tampering"));
    }
}

#[test]
fn a_rethink_may_change_its_own_test() {
    let mut set = Set { kind: Kind::Rethink, target: Some(facts(3).id), ..Set::default() };
    set.change.tests.push(TestChange::Changed { before: facts(3), after: facts(3), only_added: false });
    set.signs.tests.push(signs(3));
    assert_eq!(set.found(), [""; 0]);
    set.target = Some(facts(4).id);
    assert_eq!(set.found(), ["test-tampering"]);
}

#[test]
fn what_tests_use_may_be_added_to_and_not_changed() {
    for (label, fate, expected) in [
        ("fn `helper`", ItemFate::Changed, 1),
        ("the file `expected.txt`", ItemFate::Changed, 1),
        ("macro `assert_eq`", ItemFate::Added, 1),
        ("fn `helper`", ItemFate::Added, 0),
        ("fn `helper`", ItemFate::Removed, 0),
        ("use `a::b`", ItemFate::Changed, 0),
        ("use `a::b`", ItemFate::Added, 0),
        ("an example of fn `add`", ItemFate::Removed, 1),
    ] {
        let mut set = Set::default();
        set.change.support.push(item(TESTS, label, 1, fate));
        assert_eq!(set.found().len(), expected, "{label}");
    }
    let mut set = Set::default();
    set.change.support.push(item(TESTS, "use `a::b`", 1, ItemFate::Removed));
    set.change.support.push(item(TESTS, "use `c::b`", 1, ItemFate::Added));
    assert_eq!(set.found(), ["test-tampering"]);
    let mut set = Set::default();
    let (place, problem) = (Place::new(TESTS, 3), "`(` is never closed".to_owned());
    set.change.unreadable.push(Unreadable { place, problem, text: "add(1".to_owned() });
    assert_eq!(set.found(), ["test-tampering"]);
}

#[test]
fn sensing_counts_where_the_change_touched_it_and_in_files_always() {
    let seen = Sensing { item: Place::new(LIB, 1), line: 2, what: "`cfg!(test)`".to_owned() };
    let mut set = Set::with_code(ItemFate::Added).and_new_test(signs(3));
    set.signs.sensing.push(seen);
    assert_eq!(set.found(), ["test-sensing"]);
    set.change.production.clear();
    assert_eq!(set.found(), [""; 0]);
    assert_eq!(in_files(&set.signs)[0].place.as_ref().unwrap().line, 2);
}

#[test]
fn a_test_is_held_against_its_limits() {
    let names = |number: usize| vec!["x".to_owned(); number];
    for (test, expected) in [
        (TestSigns { asserts: false, ..signs(3) }, "empty-test"),
        (TestSigns { mocks: names(4), ..signs(3) }, "over-mocking"),
        (TestSigns { mocks: names(3), ..signs(3) }, ""),
        (TestSigns { assertions: 6, ..signs(3) }, "broad-assertions"),
        (TestSigns { assertions: 5, ..signs(3) }, ""),
        (TestSigns { subjects: names(3), ..signs(3) }, "broad-assertions"),
        (TestSigns { subjects: names(2), ..signs(3) }, ""),
        (TestSigns { subjects: names(3), assertions: 6, ..signs(3) }, "broad-assertions"),
    ] {
        let signs = Signs { tests: vec![test], ..Signs::default() };
        let found: Vec<_> = in_files(&signs).iter().map(|finding| finding.rule.name()).collect();
        assert_eq!(found.concat(), expected);
    }
}

#[test]
fn a_test_that_the_change_did_not_touch_is_not_its_matter() {
    let mut set = Set::default();
    set.signs.tests.push(TestSigns { asserts: false, ..signs(3) });
    assert_eq!(set.found(), [""; 0]);
}

#[test]
fn a_test_that_asks_nothing_of_production_is_empty() {
    let mut set = Set::default().and_new_test(signs(3));
    assert_eq!(set.found(), [""; 0]);
    set.change.tests = vec![TestChange::Added(TestFacts { asks_production: false, ..facts(3) })];
    assert_eq!(set.found(), ["empty-test"]);
    set.signs.tests[0].asserts = false;
    assert_eq!(set.found(), ["empty-test"]);
}

#[test]
fn a_new_item_that_nothing_refers_to_is_not_needed() {
    let mut set = Set::with_code(ItemFate::Added).and_new_test(signs(3));
    set.signs.unreferenced.insert(Place::new(LIB, 1));
    assert_eq!(set.found(), ["yagni"]);
    set.change.production[0].fate = ItemFate::Changed;
    assert_eq!(set.found(), [""; 0]);
}

/// A change whose file has these lines with code, executed or not; the lines in `added` are new.
fn measured(lines: &[(usize, bool)], added: &[usize]) -> Set {
    let mut set = Set::with_code(ItemFate::Added).and_new_test(signs(3));
    let measurement = set.measurement.insert(Measurement::default());
    for (line, executed) in lines {
        measurement.coverage.saw(LIB, *line, *executed);
    }
    measurement.added.insert(LIB.to_owned(), added.iter().copied().collect());
    set
}

fn idle(set: &Set) -> Vec<(usize, String)> {
    let found = in_change(&set.case()).into_iter().filter(|finding| finding.rule == Rule::Yagni);
    found.map(|finding| (finding.place.unwrap().line, finding.reason)).collect()
}

#[test]
fn new_lines_that_no_test_executes_are_told_as_one() {
    let set = measured(&[(1, true), (2, false), (4, false), (5, true), (6, false)], &[1, 2, 3, 4, 5, 6]);
    let several = "no test executes 2 lines of fn `add`, from here to line 4".to_owned();
    assert_eq!(idle(&set), [(2, several), (6, "no test executes this line of fn `add`".to_owned())]);
    assert_eq!(idle(&measured(&[(1, true), (2, true)], &[1, 2])), []);
    assert_eq!(idle(&measured(&[(1, true), (2, false)], &[1])), []);
}

#[test]
fn lines_of_two_items_are_two_findings_and_those_of_a_moved_item_none() {
    let mut set = measured(&[(1, false), (2, false), (3, false)], &[1, 2, 3]);
    set.change.production.push(item(LIB, "fn `sub`", 3, ItemFate::Changed));
    let lines = |set: &Set| idle(set).into_iter().map(|(line, _)| line).collect::<Vec<_>>();
    assert_eq!(lines(&set), [1, 3]);
    set.change.production.push(item("src/old.rs", "fn `add`", 9, ItemFate::Removed));
    assert_eq!(lines(&set), [3]);
    set.signs.documented.insert(LIB.to_owned(), BTreeSet::from([Place::new(LIB, 3)]));
    assert_eq!(lines(&set), [0; 0]);
}

#[test]
fn that_nothing_refers_to_an_item_counts_where_no_test_was_seen_inside_of_it() {
    let with = |lines: &[(usize, bool)]| {
        let mut set = measured(lines, &[1, 2]);
        set.signs.unreferenced.insert(Place::new(LIB, 1));
        idle(&set).into_iter().map(|(_, why)| why).collect::<Vec<_>>()
    };
    assert_eq!(with(&[]), ["nothing refers to fn `add`"]);
    assert_eq!(with(&[(1, true)]), ["nothing refers to fn `add`"]);
    assert_eq!(with(&[(1, true), (2, true)]), [""; 0]);
    assert_eq!(with(&[(1, true), (2, false)]), ["no test executes this line of fn `add`"]);
}

#[test]
fn a_new_test_of_old_code_that_was_never_red_came_after_the_fact() {
    let mut set = Set::default().and_new_test(signs(3));
    assert_eq!(late_tests(&set.case()).len(), 1);
    assert_eq!(set.found(), [""; 0]);
    set.never_red.insert(facts(3).id);
    set.since.insert(Place::new(LIB, 1), "1a2b3c".to_owned());
    assert_eq!(set.found(), ["test-after-the-fact"]);
    assert!(in_change(&set.case())[0].reason.contains("`add` exists since 1a2b3c"));
    let with_code = Set { never_red: set.never_red, ..Set::with_code(ItemFate::Changed).and_new_test(signs(3)) };
    assert_eq!(with_code.found(), [""; 0]);
}

#[test]
fn an_answer_that_the_new_test_asks_for_is_hard_coded() {
    let values = |value: &str| BTreeSet::from([value.to_owned()]);
    let sample = Sample { inputs: values("4"), expected: values("16") };
    let with = |compared: &str, returned: &str| {
        let test = TestSigns { samples: vec![sample.clone()], ..signs(3) };
        let mut set = Set::with_code(ItemFate::Changed).and_new_test(test);
        let (compared, returned) = (values(compared), values(returned));
        set.signs.answers.push(Answer { item: Place::new(LIB, 1), line: 2, compared, returned });
        set.found()
    };
    assert_eq!(with("4", "16"), ["hard-coded-value"]);
    assert_eq!(with("4", "17"), [""; 0]);
    assert_eq!(with("5", "16"), [""; 0]);
}

#[test]
fn a_commit_says_what_it_is_by_its_trailers_or_its_type() {
    let phase = |message: &str| declared(message).map(|(kind, _)| kind);
    assert_eq!(phase("feat: x\n\nBody.\n\nTDD-Phase: green\nTDD-Test: tests/a.rs::t3"), Some(Kind::Green));
    assert_eq!(declared("feat: x\n\nTDD-Phase: red\nTDD-Test: tests/a.rs::t3"), Some((Kind::Red, Some(facts(3).id))));
    assert_eq!(phase("refactor: x\n\nGSD-Phase: refactor"), Some(Kind::Refactor));
    assert_eq!(phase("refactor(core): x"), Some(Kind::Refactor));
    assert_eq!(phase("refactor everything"), None);
    assert_eq!(phase("feat: refactor"), None);
}
