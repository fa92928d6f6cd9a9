//! The anti-patterns: rules about the signs that a language finds in tests and production code.
//!
//! Pure: signs in, findings out. [`Signs`] holds what a language finds; [`CodeContext`] adds facts from the ledger and
//! from test runs.

use std::collections::{BTreeMap, BTreeSet};

use crate::change::{Change, ItemChange, ItemFate, TestChange, TestFacts};
use crate::commit::Trailers;
use crate::coverage::Measurement;
use crate::cycle::Phase;
use crate::law::{self, Ask, Kind};
use crate::rule::{Refusal, Rule};
use crate::scope::{facts, loosened, place, replaces_an_import, shadows_an_assertion};
use crate::signs::{Answer, Place, Sample, Sensing, Signs, TestSigns};
use crate::test_id::TestId;

/// Most mocks in one test.
const MOST_MOCKS: usize = 3;
/// Most assertions in one test.
const MOST_ASSERTIONS: usize = 5;
/// Most unrelated things that one test may assert on.
const MOST_SUBJECTS: usize = 2;

/// A change, and the facts about it.
#[derive(Clone, Copy, Debug)]
pub struct CodeContext<'a> {
    /// What the change did.
    pub change: &'a Change,
    /// The signs in its files, after the change.
    pub signs: &'a Signs,
    /// The signs of tests that were red before the change.
    pub reds: &'a [TestSigns],
    /// The kind of change.
    pub kind: Kind,
    /// The test it is about.
    pub target: Option<&'a TestId>,
    /// New tests that pass and were never seen to fail.
    pub never_red: &'a BTreeSet<TestId>,
    /// The commits that introduced production items, where known.
    pub since: &'a BTreeMap<Place, String>,
    /// The coverage of the change, if it was measured.
    pub measurement: Option<&'a Measurement>,
}

/// The kind that a commit claims, and the test it is about: from its trailers, or a refactor from its type.
pub fn declared(message: &str) -> Option<(Kind, Option<TestId>)> {
    let trailers = Trailers::parse(message);
    let phase = trailers.get("TDD-Phase").or_else(|| trailers.get("GSD-Phase")).and_then(Phase::parse);
    let kind = message.split([':', '(', '!', '\n']).next().unwrap_or_default();
    let by_type = (kind == "refactor").then_some(Phase::Refactor);
    let kind = match phase.or(by_type)? {
        Phase::Red => Kind::Red,
        Phase::Green => Kind::Green,
        Phase::Refactor => Kind::Refactor,
        Phase::RethinkTest => Kind::Rethink,
    };
    Some((kind, trailers.get("TDD-Test").and_then(|id| TestId::parse(id).ok())))
}

/// The rules that need no change, only files.
const OF_FILES: [Rule; 4] = [Rule::TestSensing, Rule::EmptyTest, Rule::OverMocking, Rule::BroadAssertions];

/// The anti-pattern rules that need a change, in table order.
pub fn of_changes() -> impl Iterator<Item = Rule> {
    let of_code = law::TABLE.iter().filter(|row| matches!(row.ask, Ask::Code(_)));
    of_code.map(|row| row.rule).filter(|rule| !OF_FILES.contains(rule))
}

/// The anti-patterns in files, without the rules that need a [change](of_changes).
pub fn in_files(signs: &Signs) -> Vec<Refusal> {
    let sensing = signs.sensing.iter().map(sensed);
    sorted(sensing.chain(signs.tests.iter().flat_map(in_test)).collect())
}

/// New tests that call production items but reach no new code: whether they were ever red must be found out.
pub fn late_tests<'a>(case: &CodeContext<'a>) -> Vec<&'a TestFacts> {
    let is_late = |test: &&TestFacts| {
        let Some(signs) = case.signs_of(test) else { return false };
        let new = |item: &Place| case.new_code().any(|changed| at(changed) == *item);
        !signs.asks.is_empty() && !signs.reaches.iter().any(new)
    };
    added(case.change).filter(is_late).collect()
}

/// Sorts findings by rule and place.
pub fn sorted(mut findings: Vec<Refusal>) -> Vec<Refusal> {
    findings.sort_by(|one, other| (one.rule, &one.place).cmp(&(other.rule, &other.place)));
    findings
}

/// A finding of an anti-pattern at a place.
pub(crate) fn found(rule: Rule, at: &Place, why: String, what_to_do: &str) -> Refusal {
    rule.refuse(why, what_to_do).at(at)
}

fn added(change: &Change) -> impl Iterator<Item = &TestFacts> {
    change.tests.iter().filter_map(|test| match test {
        TestChange::Added(facts) => Some(facts),
        TestChange::Removed(_) | TestChange::Moved { .. } | TestChange::Changed { .. } => None,
    })
}

pub(crate) fn at(item: &ItemChange) -> Place {
    Place::new(&item.path, item.line)
}

impl<'a> CodeContext<'a> {
    /// Production items that are new or different. Imports, modules and the like do not count, nor do items that were
    /// only moved.
    pub(crate) fn new_code(&self) -> impl Iterator<Item = &'a ItemChange> {
        let all = &self.change.production;
        let gone = |item: &ItemChange| {
            let same = |other: &&ItemChange| other.item == item.item && other.path != item.path;
            all.iter().filter(same).any(|other| other.fate == ItemFate::Removed)
        };
        all.iter().filter(move |item| match item.fate {
            ItemFate::Removed => false,
            ItemFate::Changed => is_code(item),
            ItemFate::Added => is_code(item) && !gone(item),
        })
    }

    /// The tests that the change added or touched.
    fn touched_tests(&self) -> impl Iterator<Item = &'a TestSigns> {
        let touched: BTreeSet<Place> = self
            .change
            .tests
            .iter()
            .filter_map(TestChange::after)
            .map(|test| Place::new(&test.path, test.line))
            .collect();
        self.signs.tests.iter().filter(move |test| touched.contains(&test.at))
    }

    fn signs_of(&self, test: &TestFacts) -> Option<&'a TestSigns> {
        self.signs.tests.iter().find(|signs| signs.at.path == test.path && signs.at.line == test.line)
    }

    /// The tests that a change can be for: those that demand something new, and those that were red.
    fn claims(&self) -> impl Iterator<Item = &'a TestSigns> {
        let demands: Vec<_> = self.change.new_demands().filter_map(|test| self.signs_of(test)).collect();
        demands.into_iter().chain(self.reds)
    }

    /// The items reached from files whose documentation got a new example.
    fn new_examples(&self) -> impl Iterator<Item = &'a BTreeSet<Place>> {
        let new = |item: &&ItemChange| item.fate != ItemFate::Removed && item.item.starts_with("an example");
        let paths: BTreeSet<&str> = self.change.support.iter().filter(new).map(|item| item.path.as_str()).collect();
        self.signs.documented.iter().filter(move |(path, _)| paths.contains(path.as_str())).map(|(_, reached)| reached)
    }
}

/// Whether an item is code, rather than an import, a module or the like.
pub(crate) fn is_code(item: &ItemChange) -> bool {
    const OTHER: [&str; 7] =
        ["use ", "mod ", "attribute ", "extern crate ", "the file ", "the data file ", "the package's name"];
    !OTHER.iter().any(|start| item.item.starts_with(start))
}

pub(crate) fn pre_test_code(case: &CodeContext<'_>) -> Vec<Refusal> {
    let by_tests = case.claims().map(|test| &test.reaches);
    let mut claimed: BTreeSet<&Place> = by_tests.chain(case.new_examples()).flatten().collect();
    // A refactor may change code that is already tested; code that no test reaches still counts as new.
    if case.kind == Kind::Refactor {
        claimed.extend(case.signs.tests.iter().flat_map(|test| &test.reaches));
        claimed.extend(case.signs.documented.values().flatten());
    }
    // No test can call a program's entry; it comes with the code that it starts.
    let starts_claimed = case.new_code().any(|item| claimed.contains(&at(item)));
    let is_entry = |item: &ItemChange| matches!(item.item.as_str(), "fn `main`" | "func `main`") && starts_claimed;
    let left = case.new_code().filter(|item| !claimed.contains(&at(item)) && !is_entry(item));
    let tell = |item: &ItemChange| {
        let word = if item.fate == ItemFate::Added { "is new" } else { "was changed" };
        let (which, what_to_do) = if case.kind == Kind::Refactor {
            ("no test", "remove it, or write a test that leads to it first")
        } else {
            let remove = "remove it, write a test that fails without it, then add it again; if it changes no \
                          behaviour, run `tdd-cli validate-refactor`";
            ("no test that failed first", remove)
        };
        let why = format!("{} {word}, but {which} leads to it", item.item);
        found(Rule::PreTestCode, &at(item), why, what_to_do)
    };
    left.map(tell).collect()
}

/// The files with new or changed production code, whose coverage is worth measuring.
pub fn new_code_in(case: &CodeContext<'_>) -> BTreeSet<String> {
    case.new_code().map(|item| item.path.clone()).collect()
}

/// Whether some production code has no red test yet, so that more reds must be looked for.
pub fn lacks_claims(case: &CodeContext<'_>) -> bool {
    !pre_test_code(case).is_empty()
}

pub(crate) fn tampering(case: &CodeContext<'_>) -> Vec<Refusal> {
    let is_revised =
        |test: &TestFacts| matches!(case.kind, Kind::Rethink | Kind::Mend) && case.target == Some(&test.id);
    let tests = case.change.tests.iter().filter_map(|test| {
        let (why, facts) = (loosened(test)?, facts(test));
        let next = "restore it; a wrong test goes through a rethink, or a person changes it in refactor mode";
        let finding = || {
            found(
                Rule::TestTampering,
                &Place::new(&facts.path, facts.line),
                format!("the test `{}` {why}", facts.id),
                next,
            )
        };
        (!is_revised(facts)).then(finding)
    });
    let tell = |item: &ItemChange, why: &str, next: &str| {
        found(Rule::TestTampering, &at(item), format!("{} {why}", place(item)), next)
    };
    let support = case.change.support.iter().filter_map(|item| match item.fate {
        _ if shadows_an_assertion(item) => {
            Some(tell(item, "replaces something that tests assert with", "give it another name"))
        }
        ItemFate::Added if item.item.starts_with("use ") && replaces_an_import(item, case.change) => {
            Some(tell(item, "changes what a name in the tests refers to", "restore the import"))
        }
        ItemFate::Removed | ItemFate::Changed if item.item.starts_with("an example") => {
            Some(tell(item, "was a test, and was changed", "restore it"))
        }
        ItemFate::Changed if is_code(item) || item.item.starts_with("the file ") => {
            let next = "restore it, and add what a new test needs beside it";
            Some(tell(item, "is used by existing tests, and was changed, not only added to", next))
        }
        ItemFate::Added | ItemFate::Changed | ItemFate::Removed => None,
    });
    let unreadable = case.change.unreadable.iter().map(|unreadable| {
        let why = format!("{unreadable}; the machine cannot tell which tests it holds");
        found(Rule::TestTampering, &unreadable.place, why, "fix its syntax")
    });
    tests.chain(support).chain(unreadable).collect()
}

/// Changed production code that checks whether it is under test.
pub(crate) fn sensing(case: &CodeContext<'_>) -> Vec<Refusal> {
    // An import counts as well: it may be the only sign of the check.
    let new = || case.change.production.iter().filter(|item| item.fate != ItemFate::Removed);
    let changed = |item: &Place| new().any(|changed| at(changed) == *item);
    case.signs.sensing.iter().filter(|seen| changed(&seen.item)).map(sensed).collect()
}

/// Touched tests that assert nothing, or nothing about production.
pub(crate) fn empty_tests(case: &CodeContext<'_>) -> Vec<Refusal> {
    let empty = case.touched_tests().flat_map(in_test).filter(|found| found.rule == Rule::EmptyTest);
    empty.chain(asking_nothing(case)).collect()
}

/// Touched tests with too many mocks or assertions.
pub(crate) fn overdone_tests(case: &CodeContext<'_>, rule: Rule) -> Vec<Refusal> {
    case.touched_tests().flat_map(in_test).filter(|found| found.rule == rule).collect()
}

fn sensed(seen: &Sensing) -> Refusal {
    let why = format!("production code asks whether it is under test: {}", seen.what);
    let what_to_do = "remove the test check; inject the dependency that has to differ";
    found(Rule::TestSensing, &Place::new(&seen.item.path, seen.line), why, what_to_do)
}

/// The anti-patterns of one test by itself.
fn in_test(test: &TestSigns) -> Vec<Refusal> {
    let mut findings = Vec::new();
    let mut find = |rule, why: String, what_to_do| findings.push(found(rule, &test.at, why, what_to_do));
    if !test.asserts {
        let why = format!("`{}` asserts nothing, and neither does a helper that it calls", test.name);
        find(Rule::EmptyTest, why, "assert what production does");
    }
    if test.mocks.len() > MOST_MOCKS {
        let why = format!("`{}` makes {} mocks: {}", test.name, test.mocks.len(), listed(&test.mocks));
        find(Rule::OverMocking, why, "use the real objects, or give the code under test fewer dependencies");
    }
    if test.assertions > MOST_ASSERTIONS {
        let why = format!("`{}` has {} assertions", test.name, test.assertions);
        find(Rule::BroadAssertions, why, "write one test for each behaviour");
    } else if test.subjects.len() > MOST_SUBJECTS {
        let subjects = listed(&test.subjects);
        let why = format!("`{}` asserts on {} unrelated things: {subjects}", test.name, test.subjects.len());
        find(Rule::BroadAssertions, why, "write one test for each of them");
    }
    findings
}

/// Tests whose assertions do not depend on production, such as `assert!(true)`.
fn asking_nothing(case: &CodeContext<'_>) -> Vec<Refusal> {
    let asserts = |test: &&TestFacts| case.signs_of(test).is_some_and(|signs| signs.asserts);
    let idle = case.change.tests.iter().filter(|test| !matches!(test, TestChange::Moved { .. }));
    let idle = idle.filter_map(TestChange::after).filter(|test| test.can_fail() && !test.asks_production);
    let tell = |test: &TestFacts| {
        let why = format!("no assertion of `{}` depends on production code", test.id);
        found(Rule::EmptyTest, &Place::new(&test.path, test.line), why, "assert what production does")
    };
    idle.filter(asserts).map(tell).collect()
}

fn listed(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

pub(crate) fn after_the_fact(case: &CodeContext<'_>) -> Vec<Refusal> {
    let late = late_tests(case).into_iter().filter(|test| case.never_red.contains(&test.id));
    let tell = |test: &TestFacts| {
        let asks = case.signs_of(test).into_iter().flat_map(|signs| &signs.asks);
        let known = asks.into_iter().find_map(|(item, name)| Some((name, case.since.get(item)?)));
        let since = known.map_or_else(String::new, |(name, commit)| format!(" (`{name}` exists since {commit})"));
        let why = format!("`{}` was written after the code that it tests{since}, and was never seen to fail", test.id);
        let what_to_do = "break the code that it tests, and see the test fail once; next time write the test first";
        found(Rule::TestAfterTheFact, &Place::new(&test.path, test.line), why, what_to_do)
    };
    late.map(tell).collect()
}

pub(crate) fn hard_coded(case: &CodeContext<'_>) -> Vec<Refusal> {
    let changed: BTreeSet<Place> = case.new_code().map(at).collect();
    let answers = case.signs.answers.iter().filter(|answer| changed.contains(&answer.item));
    let tell = |answer: &Answer| {
        let knows = |test: &&TestSigns| {
            let both = |sample: &Sample| {
                !sample.inputs.is_disjoint(&answer.compared) && !sample.expected.is_disjoint(&answer.returned)
            };
            test.reaches.contains(&answer.item) && test.samples.iter().any(both)
        };
        let test = case.claims().find(knows)?;
        let why =
            format!("this code compares with an input of `{}` and returns the value that the test expects", test.name);
        let what_to_do = "compute the value; a second test with other values would force that";
        Some(found(Rule::HardCodedValue, &Place::new(&answer.item.path, answer.line), why, what_to_do))
    };
    answers.filter_map(tell).collect()
}

#[cfg(test)]
#[path = "antipattern_tests.rs"]
mod tests;
