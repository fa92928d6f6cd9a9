//! Rules that need only the change: they are asked before and after it is written.

use crate::change::{Change, ItemChange, ItemFate, TestChange, TestFacts};
use crate::report::Cause;
use crate::rule::{Refusal, Rule};
use crate::test_id::TestId;

/// Runner configuration does not change, except for new dependencies.
pub fn steering_frozen(change: &Change) -> Result<(), Refusal> {
    match change.steering.iter().find(|change| !change.free) {
        None => Ok(()),
        Some(bad) => Err(Rule::SteeringFrozen.refuse(
            format!(
                "`{}` is runner configuration (it decides how tests are built and run); changed: {}",
                bad.path, bad.what
            ),
            "restore it; a person may commit it separately or in refactor mode (`tdd-cli refactor begin`)",
        )),
    }
}

/// A red changes only tests and what they use.
pub fn red_changes_tests_only(change: &Change) -> Result<(), Refusal> {
    readable(change)?;
    match change.production.first() {
        None => Ok(()),
        Some(item) => Err(Rule::PhaseScope.refuse(
            format!("{} is production code, but a red may change tests only", place(item)),
            "restore it; write it after the test is red",
        )),
    }
}

/// A green leaves all tests and their support as they are.
pub fn green_changes_production_only(change: &Change) -> Result<(), Refusal> {
    readable(change)?;
    if let Some(changed) = change.tests.first() {
        let (what, facts) = match changed {
            TestChange::Added(facts) => ("is new", facts),
            TestChange::Removed(facts) => ("is gone", facts),
            TestChange::Moved { after, .. } => ("was moved", after),
            TestChange::Changed { after, .. } => ("was changed", after),
        };
        let reason = format!("the test `{}` {what}, but a green may change production only", facts.id);
        let next = if change.production.is_empty() {
            let path = &facts.path;
            format!("leave `{path}` as it was at red, and write the production code that its tests use")
        } else {
            "restore the tests as they were at red".to_owned()
        };
        return Err(Rule::TestsFrozen.refuse(reason, next).about(&facts.id));
    }
    match change.support.first() {
        None => Ok(()),
        Some(item) => Err(Rule::TestsFrozen.refuse(
            format!("{} is used by tests or is one, but a green may change production only", place(item)),
            "restore it as it was at red; an example in a comment is a test and needs a red of its own",
        )),
    }
}

/// Every file parses: otherwise it is unknown which tests it holds.
pub fn readable(change: &Change) -> Result<(), Refusal> {
    match change.unreadable.first() {
        None => Ok(()),
        Some(unreadable) => Err(Rule::TestsFrozen
            .refuse(
                format!("{unreadable}; the machine cannot tell which tests it holds"),
                "fix its syntax; a replacement replaces only the item that it names, and everything around it stays",
            )
            .because(Cause::SyntaxError)
            .at(&unreadable.place)),
    }
}

/// [`tests_frozen`] with another next move: a tester often overwrites an old test with the new one.
pub fn tests_frozen_at_red(change: &Change) -> Result<(), Refusal> {
    tests_frozen(change).map_err(|refusal| {
        let lost = change.tests.iter().find(|test| loosened(test).is_some());
        match lost.filter(|test| !matches!(test, TestChange::Removed(_)) || adds_a_test(change)) {
            Some(test) => Refusal { next: beside(&facts(test).path), ..refusal },
            None => refusal,
        }
    })
}

/// Tells how to write a new test without touching those of a file.
fn beside(path: &str) -> String {
    let whole = format!("send all of `{path}`: every test in it unchanged, and the new one");
    match another_file(path) {
        Some(another) => format!(
            "leave `{path}` out of the edits, and write the new test into a new file such as `{another}`; or {whole}"
        ),
        None => whole,
    }
}

/// No test is weakened, and test support is only added to.
pub fn tests_frozen(change: &Change) -> Result<(), Refusal> {
    for test in &change.tests {
        if let Some(why) = loosened(test) {
            let facts = facts(test);
            let reason = format!("the test `{}` {why}", facts.id);
            let next = "restore it; a wrong test goes through a rethink, \
                        or a person changes it in refactor mode";
            return Err(Rule::TestsFrozen.refuse(reason, next).about(&facts.id));
        }
    }
    if let Some(item) = change.support.iter().find(|item| item.fate != ItemFate::Added) {
        return Err(Rule::TestsFrozen.refuse(
            format!("{} is used by existing tests, and was changed, not only added to", place(item)),
            "restore it, and add what the new test needs beside it",
        ));
    }
    match change.support.iter().find(|item| shadows_an_assertion(item)) {
        None => Ok(()),
        Some(item) => Err(Rule::TestsFrozen
            .refuse(format!("{} replaces something that tests assert with", place(item)), "give it another name")),
    }
}

/// New test code acts only on the tests that name it: nothing puts a fake before production for tests that exist.
pub fn nothing_intrudes(change: &Change) -> Result<(), Refusal> {
    match change.intrusions.first() {
        None => Ok(()),
        Some(item) => Err(Rule::TestsFrozen.refuse(
            format!(
                "{} changes what existing tests see: it replaces something without being named by them",
                place(item)
            ),
            "replace it only inside the new test, or in a fixture that only the new test names",
        )),
    }
}

fn adds_a_test(change: &Change) -> bool {
    change.tests.iter().any(|test| matches!(test, TestChange::Added(_)))
}

/// A name for one more test file, if the path is a test file. Small models need a concrete name.
fn another_file(path: &str) -> Option<String> {
    let (folder, name) = path.rfind('/').map_or(("", path), |at| path.split_at(at + 1));
    let (stem, ending) = name.find('.').map_or((name, ""), |at| name.split_at(at));
    match stem.strip_suffix("_test") {
        Some(stem) => Some(format!("{folder}{}_test{ending}", numbered(stem))),
        None if path.contains("test") => Some(format!("{folder}{}{ending}", numbered(stem))),
        None => None,
    }
}

/// The stem with the next free number.
fn numbered(stem: &str) -> String {
    let number = stem.rsplit_once('_').and_then(|(stem, number)| Some((stem, number.parse::<u32>().ok()?)));
    let (stem, number) = number.unwrap_or((stem, 1));
    format!("{stem}_{}", number.saturating_add(1))
}

/// Whether an item is a macro that shadows one that tests assert with.
pub(crate) fn shadows_an_assertion(item: &ItemChange) -> bool {
    let name = item.item.strip_prefix("macro `").and_then(|rest| rest.strip_suffix('`'));
    name.is_some_and(|name| {
        name.starts_with("assert") || name.starts_with("debug_assert") || matches!(name, "panic" | "test" | "matches")
    })
}

/// How a test was weakened, if it was.
pub(crate) fn loosened(change: &TestChange) -> Option<&'static str> {
    match change {
        TestChange::Added(_) => None,
        TestChange::Removed(_) => Some("is gone"),
        TestChange::Moved { before, after } => weaker(before, after),
        TestChange::Changed { before, after, only_added } => {
            weaker(before, after).or_else(|| (!only_added).then_some("was changed, not only added to"))
        }
    }
}

/// What a test lost between two versions.
fn weaker(before: &TestFacts, after: &TestFacts) -> Option<&'static str> {
    if before.skipped.is_none() && after.skipped.is_some() {
        Some("is skipped now")
    } else if !before.should_panic && after.should_panic {
        Some("is meant to panic now")
    } else if before.conditions != after.conditions {
        Some("exists under other conditions now")
    } else if lost_assertion(before, after) {
        Some("lost an assertion, or one of its expectations was changed")
    } else {
        None
    }
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

pub(crate) fn facts(change: &TestChange) -> &TestFacts {
    match change {
        TestChange::Added(facts) | TestChange::Removed(facts) => facts,
        TestChange::Moved { after, .. } | TestChange::Changed { after, .. } => after,
    }
}

/// A red has at most this many tests that demand something new.
pub fn one_behaviour(change: &Change, max_new_tests: u32) -> Result<(), Refusal> {
    let demands = change.new_demands().count();
    match u32::try_from(demands) {
        Ok(demands) if demands <= max_new_tests => Ok(()),
        _ => Err(Rule::OneBehaviour.refuse(
            format!("{demands} tests ask for something new, but one red may add only {max_new_tests}"),
            "keep the simplest one, and add the others one by one",
        )),
    }
}

/// A red that has an assigned test brings exactly that test, in the assigned file.
pub fn asked_for(change: &Change, target: &TestId, file: &str) -> Result<(), Refusal> {
    let place = format!("`{target}` in `{file}`");
    let next = format!("write {place}, and no other");
    let other = change.new_demands().find(|test| &test.id != target || test.path != file);
    match other {
        Some(test) => {
            let reason = format!("this step is about {place}, but the change adds `{}` in `{}`", test.id, test.path);
            Err(Rule::OneBehaviour.refuse(reason, next))
        }
        None if change.new_demands().next().is_none() => {
            Err(Rule::OneBehaviour.refuse(format!("this step is about {place}, but the change does not add it"), next))
        }
        None => Ok(()),
    }
}

/// A rethink changes only the doubted test, and may add what it needs. A test that was green before may not be
/// withdrawn.
pub fn rethink_changes_one_test(change: &Change, target: &TestId, was_green: bool) -> Result<(), Refusal> {
    red_changes_tests_only(change)?;
    for test in &change.tests {
        let id = &facts(test).id;
        let why = match test {
            TestChange::Added(_) if id == target => "exists twice",
            TestChange::Added(_) => "is new",
            TestChange::Moved { .. } => "was moved",
            TestChange::Changed { after, .. } if id == target && after.skipped.is_none() => continue,
            TestChange::Changed { .. } if id == target => "is skipped now",
            TestChange::Changed { .. } => "was changed",
            TestChange::Removed(_) if id == target && !was_green => continue,
            TestChange::Removed(_) if id == target => "was green before, and is gone",
            TestChange::Removed(_) => "is gone",
        };
        let reason = format!("the test `{id}` {why}, but this rethink may change only `{target}`");
        let next = format!("change `{target}` alone, or leave it as it is");
        return Err(Rule::TestsFrozen.refuse(reason, next).about(id));
    }
    // Support that only a withdrawn test used may go with it; if other tests need it, their run fails.
    let withdrawn = change.tests.iter().any(|test| matches!(test, TestChange::Removed(_)));
    let goes_along =
        |item: &ItemChange| withdrawn && item.fate == ItemFate::Removed && target.path() == Some(item.path.as_str());
    let bad = |item: &&ItemChange| (item.fate != ItemFate::Added && !goes_along(item)) || shadows_an_assertion(item);
    match change.support.iter().find(bad) {
        None => Ok(()),
        Some(item) => Err(Rule::TestsFrozen.refuse(
            format!("{} is used by tests, and was changed, not only added to", place(item)),
            "restore it, and add what the revised test needs beside it",
        )),
    }
}

/// A mend keeps all assertions of the test: only the code around them and imports may change.
pub fn mends_one_test(change: &Change, target: &TestId) -> Result<(), Refusal> {
    red_changes_tests_only(change)?;
    let next = format!("change only `{target}` and its imports, and keep every assertion as it is");
    for test in &change.tests {
        let facts = facts(test);
        let why = match test {
            TestChange::Added(_) => "is new",
            TestChange::Removed(_) => "is gone",
            TestChange::Moved { .. } => "was moved",
            TestChange::Changed { .. } if facts.id != *target => "was changed",
            TestChange::Changed { before, after, .. } => match weaker(before, after) {
                Some(why) => why,
                None if before.assertions.len() != after.assertions.len() => "has another assertion",
                None => continue,
            },
        };
        let reason =
            format!("the test `{}` {why}, but this step may only fix the complaint about `{target}`", facts.id);
        return Err(Rule::TestsFrozen.refuse(reason, next).about(&facts.id));
    }
    let is_import = |item: &ItemChange| item.item.starts_with("use `") && !replaces_an_import(item, change);
    match change.support.iter().find(|item| !is_import(item)) {
        None => Ok(()),
        Some(item) => Err(Rule::TestsFrozen.refuse(format!("{} is not an import", place(item)), next)),
    }
}

/// A person's change to one test touches only that test and imports.
pub fn one_test_only(change: &Change, target: &TestId) -> Result<(), Refusal> {
    steering_frozen(change)?;
    red_changes_tests_only(change)?;
    let next = "change nothing but the test itself";
    if let Some(other) = change.tests.iter().map(facts).find(|test| &test.id != target) {
        let reason = format!("the test `{}` would change, but only `{target}` may change", other.id);
        return Err(Rule::TestsFrozen.refuse(reason, next).about(&other.id));
    }
    match change.support.iter().find(|item| !item.item.starts_with("use `")) {
        None => Ok(()),
        Some(item) => {
            Err(Rule::TestsFrozen.refuse(format!("{} would change, but it is not a test", place(item)), next))
        }
    }
}

/// Every test is there with the same tokens, perhaps under another id.
pub fn tests_kept(change: &Change) -> Result<(), Refusal> {
    for test in &change.tests {
        let why = match test {
            TestChange::Added(_) => "is new",
            TestChange::Removed(_) => "is gone",
            TestChange::Changed { .. } => "was changed",
            TestChange::Moved { before, after } => match weaker(before, after) {
                Some(why) => why,
                None => continue,
            },
        };
        let facts = facts(test);
        let reason = format!("the test `{}` {why}, but a refactor keeps every test as it is", facts.id);
        let next = match test {
            TestChange::Added(_) => "remove it; a new test begins a new cycle",
            TestChange::Removed(_) | TestChange::Changed { .. } | TestChange::Moved { .. } => {
                "restore it; only a person may rewrite tests, in refactor mode (`tdd-cli refactor begin`)"
            }
        };
        return Err(Rule::TestsFrozen.refuse(reason, next).about(&facts.id));
    }
    Ok(())
}

/// A refactor changes production or tests, not both.
pub fn one_side_only(change: &Change) -> Result<(), Refusal> {
    readable(change)?;
    // A test that moves with its file is the same test.
    let moved = |test: &TestChange| matches!(test, TestChange::Moved { .. });
    let tests = !change.tests.iter().all(moved) || !change.support.iter().all(is_wiring);
    match change.production.first() {
        Some(item) if tests => Err(Rule::PhaseScope.refuse(
            format!("{} and tests changed together, but a refactor may change only one of them", place(item)),
            "split it into two refactors",
        )),
        Some(_) | None => Ok(()),
    }
}

/// The data that production reads stays as it is at a refactor: what it says is behaviour, and no probe alters it.
pub fn data_kept(change: &Change) -> Result<(), Refusal> {
    let is_changed = |item: &&ItemChange| item.fate == ItemFate::Changed && item.item.starts_with("the data file ");
    match change.production.iter().find(is_changed) {
        None => Ok(()),
        Some(item) => Err(Rule::PhaseScope.refuse(
            format!("production reads {}, and its content decides behaviour; a refactor keeps it", place(item)),
            "restore it, and change it with a test that fails first",
        )),
    }
}

/// Test support may move and be imported from its new place, but it may not change, and nothing may replace it.
pub fn support_kept(change: &Change) -> Result<(), Refusal> {
    let is_data = |item: &ItemChange| item.item.starts_with("the file ") || item.item.starts_with("an example");
    let kept = |item: &&ItemChange| match item.fate {
        ItemFate::Removed => true,
        ItemFate::Changed => is_wiring(item),
        ItemFate::Added => is_data(item) || is_wiring(item) && !replaces_an_import(item, change),
    };
    match change.support.iter().find(|item| !kept(item)) {
        None => Ok(()),
        Some(item) => Err(Rule::TestsFrozen.refuse(
            format!("{} is used by tests, and was changed", place(item)),
            "restore it; only a person may rewrite test helpers, in refactor mode (`tdd-cli refactor begin`)",
        )),
    }
}

/// Whether an item only leads to other items, which are compared themselves.
fn is_wiring(item: &ItemChange) -> bool {
    match item.fate {
        ItemFate::Changed => item.item.starts_with("mod `"),
        ItemFate::Added | ItemFate::Removed => item.item.starts_with("mod `") || item.item.starts_with("use `"),
    }
}

/// Whether an import brings something else under the name of a removed import.
pub(crate) fn replaces_an_import(item: &ItemChange, change: &Change) -> bool {
    let path = |item: &ItemChange| Some(item.item.strip_prefix("use `")?.strip_suffix('`')?.to_owned());
    let Some(new) = path(item) else { return false };
    let gone = change.support.iter().filter(|other| other.fate == ItemFate::Removed).filter_map(path);
    gone.into_iter().any(|gone| gone != new && imported_name(&gone) == imported_name(&new))
}

/// The name that an import binds: of `a::b as c` in Rust, `a.b` in Python, ``a as b` of `./c.js`` in JavaScript,
/// `c a/b` in Go.
fn imported_name(import: &str) -> &str {
    let what = import.split_once("` of `").map_or(import, |(what, _)| what);
    match (what.rsplit_once(" as "), what.split_once(' ')) {
        (Some((_, alias)), _) | (None, Some((alias, _))) => alias,
        (None, None) => what.rsplit([':', '.', '/']).next().unwrap_or(what),
    }
}

pub(crate) fn place(item: &ItemChange) -> String {
    format!("{} (`{}:{}`)", item.item, item.path, item.line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::Mark;
    use crate::digest::Digest;

    fn test(name: &str) -> TestFacts {
        TestFacts::plain("tests/a.rs", name)
    }

    fn item(item: &str, fate: ItemFate) -> ItemChange {
        ItemChange { path: "tests/a.rs".into(), item: item.into(), line: 7, fate }
    }

    fn changed(before: &str, after: TestFacts) -> TestChange {
        TestChange::Changed { before: test(before), after, only_added: true }
    }

    fn tests(tests: Vec<TestChange>) -> Change {
        Change { tests, ..Change::default() }
    }

    fn support(items: &[(&str, ItemFate)]) -> Change {
        Change { support: items.iter().map(|(name, fate)| item(name, *fate)).collect(), ..Change::default() }
    }

    #[test]
    fn a_test_that_was_named_beforehand_comes_in_its_file_and_alone() {
        let asked = |change: &Change, file: &str| said(asked_for(change, &test("adds").id, file));
        let added = |names: &[&str]| tests(names.iter().map(|name| TestChange::Added(test(name))).collect());
        assert_eq!(asked(&added(&["adds"]), "tests/a.rs"), "yes");
        assert!(asked(&added(&["adds"]), "tests/b.rs").starts_with("this step is about"));
        assert!(asked(&added(&["adds", "divides"]), "tests/a.rs").starts_with("this step is about"));
        assert!(asked(&added(&[]), "tests/a.rs").starts_with("this step is about"));
    }

    #[test]
    fn a_test_that_a_new_one_took_the_place_of_may_stand_beside_it_or_in_another_file() {
        let next = |tests_of: Vec<TestChange>| tests_frozen_at_red(&tests(tests_of)).unwrap_err().next;
        let (gone, new) = (TestChange::Removed(test("old")), TestChange::Added(test("new")));
        assert!(next(vec![gone.clone()]).contains("rethink"));
        let beside = "leave `tests/a.rs` out of the edits, and write the new test into a new file such as \
                      `tests/a_2.rs`; or send all of `tests/a.rs`: every test in it unchanged, and the new one";
        assert_eq!(next(vec![gone.clone(), new]), beside);
        let asserting = TestFacts { assertions: vec![Digest::of("x")], ..test("old") };
        let changed = TestChange::Changed { before: asserting, after: test("old"), only_added: false };
        assert_eq!(next(vec![changed]), beside);
        assert!(tests_frozen(&tests(vec![gone])).unwrap_err().next.contains("rethink"));
        let another = |path| another_file(path).unwrap_or_default();
        assert_eq!(another("calc/add_test.go"), "calc/add_2_test.go");
        assert_eq!(another("web/add.test.ts"), "web/add_2.test.ts");
        assert_eq!(another("tests/add_2.rs"), "tests/add_3.rs");
        assert_eq!(another("tests/v_next.rs"), "tests/v_next_2.rs");
        assert_eq!(another_file("src/lib.rs"), None);
    }

    #[test]
    fn a_green_without_any_production_is_told_where_its_work_is() {
        let frozen = Change { tests: vec![changed("adds", test("adds"))], ..Change::default() };
        let next = |change: &Change| green_changes_production_only(change).unwrap_err().next;
        let elsewhere = "leave `tests/a.rs` as it was at red, and write the production code that its tests use";
        assert_eq!(next(&frozen), elsewhere);
        let both = Change { production: vec![item("`fn add`", ItemFate::Added)], ..frozen };
        assert_eq!(next(&both), "restore the tests as they were at red");
    }

    #[test]
    fn what_is_mended_asserts_what_it_did() {
        let asserting = |count: usize| TestFacts { assertions: vec![Digest::of("x"); count], ..test("adds") };
        let mended = |after| tests(vec![TestChange::Changed { before: asserting(1), after, only_added: false }]);
        let asked = |change: &Change| said(mends_one_test(change, &test("adds").id));
        assert_eq!(asked(&mended(asserting(1))), "yes");
        assert_eq!(asked(&support(&[("use `kata::sub`", ItemFate::Removed)])), "yes");
        assert!(asked(&mended(asserting(0))).contains("lost an assertion"));
        assert!(asked(&mended(asserting(2))).contains("another assertion"));
        assert!(asked(&mended(TestFacts { skipped: Some(Mark::always("x")), ..asserting(1) })).contains("skipped"));
        assert!(asked(&tests(vec![changed("other", test("other"))])).contains("was changed"));
        assert!(asked(&support(&[("fn `helper`", ItemFate::Changed)])).contains("is not an import"));
    }

    /// The refusal's reason up to the first comma, or `yes`.
    fn said(answer: Result<(), Refusal>) -> String {
        answer.map_or_else(|refusal| refusal.reason.split(',').next().unwrap_or_default().to_owned(), |()| "yes".into())
    }

    #[test]
    fn a_new_test_in_a_refactor_is_sent_to_a_cycle_of_its_own() {
        let next = |test| tests_kept(&tests(vec![test])).unwrap_err().next;
        assert!(next(TestChange::Added(test("new"))).contains("begins a new cycle"));
        assert!(next(TestChange::Removed(test("old"))).contains("refactor mode"));
    }

    #[test]
    fn a_rethink_says_what_else_was_touched() {
        let doubted = TestId::native("tests/a.rs", "new");
        let rethink = |test, was_green| said(rethink_changes_one_test(&tests(vec![test]), &doubted, was_green));
        let skipped = |name| TestFacts { skipped: Some(Mark::always("later")), ..test(name) };
        assert_eq!(rethink(changed("new", test("new")), false), "yes");
        assert_eq!(rethink(changed("new", skipped("new")), false), "the test `tests/a.rs::new` is skipped now");
        assert_eq!(rethink(changed("old", test("old")), false), "the test `tests/a.rs::old` was changed");
        assert_eq!(rethink(changed("old", skipped("old")), false), "the test `tests/a.rs::old` was changed");
        assert_eq!(rethink(TestChange::Added(test("new")), false), "the test `tests/a.rs::new` exists twice");
        assert_eq!(rethink(TestChange::Added(test("other")), false), "the test `tests/a.rs::other` is new");
        assert_eq!(rethink(TestChange::Removed(test("new")), false), "yes");
        let green = "the test `tests/a.rs::new` was green before";
        assert_eq!(rethink(TestChange::Removed(test("new")), true), green);
        assert_eq!(rethink(TestChange::Removed(test("old")), false), "the test `tests/a.rs::old` is gone");
        assert_eq!(rethink(TestChange::Removed(test("old")), true), "the test `tests/a.rs::old` is gone");
    }

    #[test]
    fn a_rethink_adds_to_what_tests_use_and_changes_nothing_of_it() {
        let doubted = TestId::native("tests/a.rs", "new");
        let rethink = |name, fate| said(rethink_changes_one_test(&support(&[(name, fate)]), &doubted, false));
        assert_eq!(rethink("fn `check`", ItemFate::Added), "yes");
        assert_eq!(rethink("fn `check`", ItemFate::Changed), "fn `check` (`tests/a.rs:7`) is used by tests");
        assert_eq!(
            rethink("macro `assert_eq`", ItemFate::Added),
            "macro `assert_eq` (`tests/a.rs:7`) is used by tests"
        );
    }

    #[test]
    fn a_refactor_changes_one_side_whatever_it_is_on_the_other() {
        let production = || vec![item("fn `add`", ItemFate::Changed)];
        let with = |change: Change| said(one_side_only(&Change { production: production(), ..change }));
        assert_eq!(with(Change::default()), "yes");
        let both = "fn `add` (`tests/a.rs:7`) and tests changed together";
        assert_eq!(with(tests(vec![changed("new", test("new"))])), both);
        assert_eq!(with(support(&[("fn `check`", ItemFate::Removed)])), both);
        assert_eq!(with(support(&[("use `kata::add`", ItemFate::Removed)])), "yes");
        assert_eq!(said(one_side_only(&tests(vec![changed("new", test("new"))]))), "yes");
    }

    #[test]
    fn an_import_replaces_another_only_if_both_bind_the_same_name() {
        for (gone, new, replaces) in [
            ("kata::add", "fake::add", true),
            ("kata::add", "kata::sub", false),
            ("kata::add as a", "kata::sub as a", true),
            ("calc.add", "fakes.add", true),
            ("add` of `./calc.js", "sub` of `./calc.js", false),
            ("add` of `./calc.js", "add` of `./fake.mjs", true),
            ("add as a` of `./calc.js", "sub as a` of `./calc.js", true),
            ("net/http", "fake/http", true),
            ("net/http", "fake net/http", false),
            ("a net/http", "a fake/web", true),
        ] {
            let [gone, new] = [gone, new].map(|path| format!("use `{path}`"));
            let change = support(&[(gone.as_str(), ItemFate::Removed), (new.as_str(), ItemFate::Added)]);
            assert_eq!(replaces_an_import(&change.support[1], &change), replaces, "{gone} {new}");
        }
    }

    #[test]
    fn what_tests_use_may_move_but_nothing_takes_its_place() {
        use ItemFate::{Added, Removed};
        let kept = |items: &[(&str, ItemFate)]| support_kept(&support(items)).is_ok();
        assert!(kept(&[("the file `a.snap`", Added)]));
        assert!(kept(&[("an example of `add`", Added)]));
        assert!(!kept(&[("fn `check`", Added)]));
        assert!(kept(&[("use `kata::add`", Removed), ("use `kata::add`", Added)]));
        assert!(kept(&[("use `kata::add`", Removed), ("use `kata::sub`", Added)]));
        assert!(!kept(&[("use `kata::add`", Removed), ("use `fake::add`", Added)]));
        assert!(kept(&[("use `kata::add`", Added), ("use `other::add`", Added)]));
    }
}
