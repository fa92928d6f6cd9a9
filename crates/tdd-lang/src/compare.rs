//! Tells what a change did to a project, test by test, item by item and key by key: what languages share whose
//! files are for tests as a whole, or not at all.
//!
//! An item of production that moves to another file is gone here and new there; what tests use may move freely,
//! as long as its name and tokens stay the same.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use tdd_core::change::{Change, ItemChange, ItemFate, Sort, SteeringChange, TestChange, TestFacts};
use tdd_core::digest::Digest;

use crate::item::TestItem;
use crate::language::Sources;

/// What a language knows that can be compared by this.
pub(crate) trait Dialect {
    /// What it knows of one of the two trees as a whole.
    type Known;

    /// Looks at a tree as a whole.
    fn know(&self, sources: &dyn Sources) -> Self::Known;
    /// What a path is, whether or not there is a file.
    fn sort(&self, path: &str) -> Sort;
    /// Whether a file is source of this language.
    fn owns(&self, path: &str) -> bool;
    /// Whether a source parses.
    fn parses(&self, path: &str, source: &str) -> bool;
    /// The tests of a source that parses, and its other items.
    fn read(&self, known: &Self::Known, path: &str, source: &str) -> (Vec<(TestFacts, TestItem)>, Vec<Piece>);
    /// What changed in a file that steers, with all paths that differ.
    fn steering(&self, path: &str, before: &str, after: &str, paths: &BTreeSet<&str>) -> Vec<SteeringChange>;
    /// Whether a test that grew still does all that it did; each with the source that holds it.
    fn is_kept(&self, path: &str, before: (&str, &TestItem), after: (&str, &TestItem)) -> bool;
}

/// An item that is not a test, or the part of it that is its own: of a class what stands before its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// It exists only for tests.
    pub for_tests: bool,
    /// It holds a table of one test, and belongs to it.
    pub of_test: bool,
    /// What it is, for people: "def `add`".
    pub label: String,
    /// The name by which it is used; empty if it has none.
    pub name: String,
    pub line: usize,
    pub digest: Digest,
    pub span: Range<usize>,
}

/// What a test of this file is, with what its language knows of its assertions.
pub(crate) fn facts(path: &str, item: &TestItem, assertions: Vec<Digest>, asks_production: bool) -> TestFacts {
    TestFacts {
        id: item.id(path),
        path: path.to_owned(),
        line: item.line,
        digest: item.digest,
        body: item.body,
        assertions,
        skipped: item.ignored.clone(),
        conditions: item.cfg.clone(),
        should_panic: false,
        returns_result: false,
        asks_production,
    }
}

/// What changed between two trees that differ in these paths.
pub(crate) fn change<D: Dialect>(dialect: &D, before: &dyn Sources, after: &dyn Sources, paths: &[String]) -> Change {
    let paths: BTreeSet<&str> = paths.iter().map(String::as_str).collect();
    let (mut old, mut new) = (Side::new(dialect, before), Side::new(dialect, after));
    let mut change = Change::default();
    for path in &paths {
        let texts = (before.read(path), after.read(path));
        let there = (old.has(path), new.has(path));
        if dialect.sort(path) == Sort::Steering {
            change.steering.extend(steering(dialect, path, there, &texts, &paths));
        } else if dialect.owns(path) {
            source(path, &texts, &mut old, &mut new, &mut change);
        } else {
            data(dialect, path, there, &texts, &mut change);
        }
    }
    change.tests = tests(dialect, old.tests, new.tests);
    let (production, support) = (changed(&old.pieces, &new.pieces, false), changed(&old.pieces, &new.pieces, true));
    change.production.extend(production);
    change.support.extend(support);
    change
}

/// One of the two trees.
struct Side<'s, D: Dialect> {
    dialect: &'s D,
    sources: &'s dyn Sources,
    known: D::Known,
    tests: Vec<Test>,
    pieces: Vec<(String, Piece)>,
}

/// A test of one tree.
struct Test {
    facts: TestFacts,
    item: TestItem,
    source: String,
}

impl<'s, D: Dialect> Side<'s, D> {
    fn new(dialect: &'s D, sources: &'s dyn Sources) -> Self {
        Self { dialect, sources, known: dialect.know(sources), tests: Vec::new(), pieces: Vec::new() }
    }

    fn has(&self, path: &str) -> bool {
        self.sources.files().binary_search_by(|known| known.as_str().cmp(path)).is_ok()
    }

    fn read(&mut self, path: &str, source: &str) {
        let (tests, pieces) = self.dialect.read(&self.known, path, source);
        self.pieces.extend(pieces.into_iter().map(|piece| (path.to_owned(), piece)));
        let tests = tests.into_iter().map(|(facts, item)| Test { facts, item, source: source.to_owned() });
        self.tests.extend(tests);
    }
}

fn steering<D: Dialect>(
    dialect: &D,
    path: &str,
    there: (bool, bool),
    texts: &(Option<String>, Option<String>),
    paths: &BTreeSet<&str>,
) -> Vec<SteeringChange> {
    let what = match there {
        (false, false) => return Vec::new(),
        (true, true) => match texts {
            (Some(before), Some(after)) => return dialect.steering(path, before, after, paths),
            _ => "its content",
        },
        (false, true) => "a new file",
        (true, false) => "a removed file",
    };
    vec![SteeringChange { path: path.to_owned(), what: what.to_owned(), free: false }]
}

/// A file that does not parse any more says nothing; one that never did is compared as a whole.
fn source<D: Dialect>(
    path: &str,
    texts: &(Option<String>, Option<String>),
    old: &mut Side<'_, D>,
    new: &mut Side<'_, D>,
    change: &mut Change,
) {
    let dialect = old.dialect;
    let parses = |text: &Option<String>| text.as_ref().map(|text| dialect.parses(path, text));
    match (parses(&texts.0), parses(&texts.1)) {
        (Some(false), Some(false)) => data(dialect, path, (true, true), texts, change),
        (_, Some(false)) => change.unreadable.push(path.to_owned()),
        (_, _) => {
            texts.0.iter().for_each(|text| old.read(path, text));
            texts.1.iter().for_each(|text| new.read(path, text));
        }
    }
}

/// A file that is compared as a whole.
fn data<D: Dialect>(
    dialect: &D,
    path: &str,
    there: (bool, bool),
    texts: &(Option<String>, Option<String>),
    change: &mut Change,
) {
    let fate = match there {
        (false, false) => return,
        (true, true) if texts.0.is_some() && texts.0 == texts.1 => return,
        (true, true) => ItemFate::Changed,
        (false, true) => ItemFate::Added,
        (true, false) => ItemFate::Removed,
    };
    let name = path.rsplit('/').next().unwrap_or(path);
    let item = ItemChange { path: path.to_owned(), item: format!("the file `{name}`"), line: 1, fate };
    match dialect.sort(path) {
        Sort::Production => change.production.push(item),
        Sort::Test => change.support.push(item),
        Sort::Document | Sort::Steering => change.documents.push(path.to_owned()),
    }
}

impl Test {
    /// What stays the same when it is only moved or renamed.
    fn substance(&self) -> (Digest, Option<String>) {
        (self.item.body, self.item.ignored.clone())
    }

    /// What became of it, if anything did.
    fn became<D: Dialect>(self, dialect: &D, after: Self) -> Option<TestChange> {
        if self.substance() == after.substance() {
            let stayed = self.item.digest == after.item.digest && self.facts.path == after.facts.path;
            let same = stayed && self.facts.id == after.facts.id;
            return (!same).then_some(TestChange::Moved { before: self.facts, after: after.facts });
        }
        let only_added = dialect.is_kept(&after.facts.path, (&self.source, &self.item), (&after.source, &after.item));
        Some(TestChange::Changed { before: self.facts, after: after.facts, only_added })
    }
}

/// What became of the tests: first by id, then by substance, in their order.
fn tests<D: Dialect>(dialect: &D, before: Vec<Test>, after: Vec<Test>) -> Vec<TestChange> {
    let (same, gone, new) = pair(before, after, |test| test.facts.id.clone());
    let mut found: Vec<_> = same.into_iter().filter_map(|(before, after)| before.became(dialect, after)).collect();
    let (moved, gone, new) = pair(gone, new, Test::substance);
    let moved = moved.into_iter().map(|(was, is)| TestChange::Moved { before: was.facts, after: is.facts });
    found.extend(moved);
    found.extend(gone.into_iter().map(|test| TestChange::Removed(test.facts)));
    found.extend(new.into_iter().map(|test| TestChange::Added(test.facts)));
    found
}

/// What became of other items: first those of one file and name, then, for what tests use, those that are the
/// same in another place.
fn changed(before: &[(String, Piece)], after: &[(String, Piece)], for_tests: bool) -> Vec<ItemChange> {
    let of = |side: &[(String, Piece)]| -> Vec<(String, Piece)> {
        side.iter().filter(|(_, piece)| piece.for_tests == for_tests).cloned().collect()
    };
    let place = |(path, piece): &(String, Piece)| (path.clone(), piece.label.clone());
    let (_, gone, new) = pair(of(before), of(after), |item| (place(item), item.1.digest));
    let (changed, gone, new) = pair(gone, new, place);
    let (gone, new) = if for_tests {
        let (_, gone, new) = pair(gone, new, |(_, piece)| (piece.label.clone(), piece.digest));
        (gone, new)
    } else {
        (gone, new)
    };
    let tell = |(path, piece): (String, Piece), fate| ItemChange { path, item: piece.label, line: piece.line, fate };
    // What became of a table is told with its test.
    let is_own = |(_, piece): &(String, Piece)| !piece.of_test;
    let changed = changed.into_iter().filter(|(before, after)| is_own(before) || is_own(after));
    let changed = changed.map(|(_, after)| tell(after, ItemFate::Changed));
    let gone = gone.into_iter().filter(is_own).map(|item| tell(item, ItemFate::Removed));
    let new = new.into_iter().filter(is_own).map(|item| tell(item, ItemFate::Added));
    let mut found: Vec<_> = changed.chain(gone).chain(new).collect();
    found.sort_by(|one, other| (&one.path, one.line, &one.item).cmp(&(&other.path, other.line, &other.item)));
    found
}

/// What has the same key in both lists, one for one and in order, and what is left of each.
pub(crate) fn pair<T, K: Ord>(before: Vec<T>, after: Vec<T>, key: impl Fn(&T) -> K) -> (Vec<(T, T)>, Vec<T>, Vec<T>) {
    let mut by_key: BTreeMap<K, Vec<usize>> = BTreeMap::new();
    for (at, item) in after.iter().enumerate().rev() {
        by_key.entry(key(item)).or_default().push(at);
    }
    let mut after: Vec<Option<T>> = after.into_iter().map(Some).collect();
    let (mut pairs, mut gone) = (Vec::new(), Vec::new());
    for item in before {
        match by_key.get_mut(&key(&item)).and_then(Vec::pop).and_then(|at| after[at].take()) {
            Some(other) => pairs.push((item, other)),
            None => gone.push(item),
        }
    }
    (pairs, gone, after.into_iter().flatten().collect())
}
