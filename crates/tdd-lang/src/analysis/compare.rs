//! Compares two trees test by test, item by item and key by key, for languages in which a whole file either is for
//! tests or is not.
//!
//! A production item that moves to another file counts as removed here and added there. Test helpers may move freely,
//! as long as their names and tokens stay the same.

use std::collections::BTreeSet;
use std::ops::Range;

use tdd_core::change::{Change, ItemChange, ItemFate, Sort, SteeringChange, TestChange, TestFacts, Unreadable};
use tdd_core::digest::Digest;
use tdd_core::test_id::TestId;

use super::intrusions::{ActsOn, Intrusion};
use super::pairs::{ItemSide, Moves, TestSide, item_changes, test_changes};
use crate::item::{Items, TestItem};
use crate::language::Sources;
use crate::syntax::{FlatTree, SyntaxError};

/// What a language provides for comparing two trees. `K` is its index of a whole tree.
pub(crate) struct TreeComparer<'d, K> {
    /// Builds the index of a tree.
    pub know: &'d dyn Fn(&dyn Sources) -> K,
    /// The sort of a path, whether or not the file exists.
    pub sort: &'d dyn Fn(&str) -> Sort,
    /// Whether a file is source code of this language.
    pub owns: &'d dyn Fn(&str) -> bool,
    /// Reads a source file.
    pub read: &'d dyn Fn(&K, &str, &str) -> FileFacts,
    /// What changed in a runner configuration file.
    pub steering: &'d CompareSteering,
    /// Whether a changed test still does everything that it did.
    pub is_kept: &'d IsKept,
}

/// Compares two texts of a runner configuration file: its path, both texts, and all paths that differ.
pub(crate) type CompareSteering = dyn Fn(&str, &str, &str, &BTreeSet<&str>) -> Vec<SteeringChange>;

/// Decides whether a test of this file still does everything that it did.
pub(crate) type IsKept = dyn Fn(&str, InSource<'_>, InSource<'_>) -> bool;

/// A test and the source of its file.
pub(crate) type InSource<'s> = (&'s str, &'s TestItem);

/// The contents of a source file.
#[derive(Default)]
pub(crate) struct FileFacts {
    /// Whether the file parses.
    pub parses: bool,
    /// The syntax error if it does not.
    pub syntax_error: Option<SyntaxError>,
    /// The file's tests.
    pub tests: Vec<(TestFacts, TestItem)>,
    /// The file's other items.
    pub pieces: Vec<Piece>,
    /// The file's test code that acts on tests which do not name it.
    pub intrusions: Vec<Intrusion>,
}

/// An item that is not a test, or only its own part: of a class, what precedes the body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Whether it is test-only code.
    pub for_tests: bool,
    /// Whether it holds a table of one test, and belongs to that test.
    pub of_test: bool,
    /// Description for people: "def `add`".
    pub label: String,
    /// The name by which it is used; empty if it has none.
    pub name: String,
    pub line: usize,
    pub digest: Digest,
    pub span: Range<usize>,
}

impl Piece {
    /// The item at a node, neither test-only nor the table of a test.
    pub fn at(tree: &FlatTree<'_>, node: usize, label: String, name: &str, digest: Digest) -> Self {
        let (line, span) = (tree.line(node), tree.range(node));
        Self { for_tests: false, of_test: false, label, name: name.to_owned(), line, digest, span }
    }
}

impl FileFacts {
    /// The facts of a parsed file. `ask` returns the digests of a test's assertions, and whether the test asks
    /// production anything.
    pub fn new(
        path: &str,
        found: Items,
        ask: impl Fn(&TestItem) -> (Vec<Digest>, bool),
        pieces: Vec<Piece>,
        syntax_error: Option<SyntaxError>,
    ) -> Self {
        let tests = found.tests.into_iter().map(|item| {
            let (assertions, asks_production) = ask(&item);
            (facts(path, &item, assertions, asks_production), item)
        });
        Self { parses: syntax_error.is_none(), syntax_error, tests: tests.collect(), pieces, intrusions: Vec::new() }
    }
}

fn facts(path: &str, item: &TestItem, assertions: Vec<Digest>, asks_production: bool) -> TestFacts {
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

/// The change between two trees that differ in these paths.
pub(crate) fn change<K>(
    comparer: &TreeComparer<'_, K>,
    before: &dyn Sources,
    after: &dyn Sources,
    paths: &[String],
) -> Change {
    let paths: BTreeSet<&str> = paths.iter().map(String::as_str).collect();
    let (mut old, mut new) = (Side::new(comparer, before), Side::new(comparer, after));
    let mut change = Change::default();
    for path in &paths {
        let texts = (before.read(path), after.read(path));
        let there = (old.has(path), new.has(path));
        if (comparer.sort)(path) == Sort::Steering {
            change.steering.extend(steering(comparer, path, there, &texts, &paths));
        } else if (comparer.owns)(path) && there.1 && texts.1.is_none() {
            change.unreadable.push(Unreadable::not_text(path));
        } else if (comparer.owns)(path) {
            source(path, &texts, &mut old, &mut new, &mut change);
        } else {
            data(comparer, path, there, &texts, &mut change);
        }
    }
    change.intrusions = intrusions(&old, &new);
    change.tests = test_changes(old.tests, new.tests);
    change.production.extend(item_changes(pieces(&old.pieces, false), pieces(&new.pieces, false), Moves::Count));
    change.support.extend(item_changes(pieces(&old.pieces, true), pieces(&new.pieces, true), Moves::AreNothing));
    change
}

/// The new intrusions that act on tests which were there before.
fn intrusions<K>(old: &Side<'_, K>, new: &Side<'_, K>) -> Vec<ItemChange> {
    let is_new = |intrusion: &Intrusion| old.intrusions.iter().all(|(_, known)| known.digest != intrusion.digest);
    let acts = |path: &str, intrusion: &Intrusion| match &intrusion.acts_on {
        ActsOn::Everything => true,
        ActsOn::Tests(names) => old.tests.iter().any(|test| test.facts.path == path && names.contains(&test.item.name)),
    };
    let new = new.intrusions.iter().filter(|(path, intrusion)| is_new(intrusion) && acts(path, intrusion));
    new.map(|(path, intrusion)| ItemChange {
        path: path.clone(),
        item: intrusion.label.clone(),
        line: intrusion.line,
        fate: ItemFate::Added,
    })
    .collect()
}

/// The test-only items, or all others.
fn pieces(all: &[(String, Piece)], for_tests: bool) -> Vec<ItemSide<'_, &str>> {
    let wanted = all.iter().filter(|(_, piece)| piece.for_tests == for_tests);
    wanted
        .map(|(path, piece)| ItemSide::new(path.as_str(), path, &piece.label, piece.line, piece.digest, piece.of_test))
        .collect()
}

/// One of the two trees.
struct Side<'s, K> {
    comparer: &'s TreeComparer<'s, K>,
    sources: &'s dyn Sources,
    known: K,
    tests: Vec<Test<'s>>,
    pieces: Vec<(String, Piece)>,
    intrusions: Vec<(String, Intrusion)>,
}

/// A test of one tree.
struct Test<'s> {
    facts: TestFacts,
    item: TestItem,
    source: String,
    is_kept: &'s IsKept,
}

impl<'s, K> Side<'s, K> {
    fn new(comparer: &'s TreeComparer<'s, K>, sources: &'s dyn Sources) -> Self {
        Self {
            comparer,
            sources,
            known: (comparer.know)(sources),
            tests: Vec::new(),
            pieces: Vec::new(),
            intrusions: Vec::new(),
        }
    }

    fn has(&self, path: &str) -> bool {
        self.sources.files().binary_search_by(|known| known.as_str().cmp(path)).is_ok()
    }

    fn read(&self, path: &str, source: Option<&String>) -> Option<FileFacts> {
        source.map(|source| (self.comparer.read)(&self.known, path, source))
    }

    fn add(&mut self, path: &str, source: &str, file: FileFacts) {
        self.intrusions.extend(file.intrusions.into_iter().map(|intrusion| (path.to_owned(), intrusion)));
        self.pieces.extend(file.pieces.into_iter().map(|piece| (path.to_owned(), piece)));
        let is_kept = self.comparer.is_kept;
        let tests = file.tests.into_iter();
        self.tests.extend(tests.map(|(facts, item)| Test { facts, item, source: source.to_owned(), is_kept }));
    }
}

fn steering<K>(
    comparer: &TreeComparer<'_, K>,
    path: &str,
    there: (bool, bool),
    texts: &(Option<String>, Option<String>),
    paths: &BTreeSet<&str>,
) -> Vec<SteeringChange> {
    let what = match there {
        (false, false) => return Vec::new(),
        (true, true) => match texts {
            (Some(before), Some(after)) => return (comparer.steering)(path, before, after, paths),
            _ => "its content",
        },
        (false, true) => "a new file",
        (true, false) => "a removed file",
    };
    vec![SteeringChange { path: path.to_owned(), what: what.to_owned(), free: false }]
}

/// Compares a source file. One that no longer parses is reported as unreadable; one that never parsed is compared as a
/// whole.
fn source<K>(
    path: &str,
    texts: &(Option<String>, Option<String>),
    old: &mut Side<'_, K>,
    new: &mut Side<'_, K>,
    change: &mut Change,
) {
    let (before, after) = (old.read(path, texts.0.as_ref()), new.read(path, texts.1.as_ref()));
    let parses = |file: &Option<FileFacts>| file.as_ref().map(|file| file.parses);
    match (parses(&before), parses(&after)) {
        (Some(false), Some(false)) => data(old.comparer, path, (true, true), texts, change),
        (_, Some(false)) => {
            change.unreadable.push(SyntaxError::into_unreadable(after.and_then(|file| file.syntax_error), path));
        }
        (_, _) => {
            texts.0.iter().zip(before).for_each(|(text, file)| old.add(path, text, file));
            texts.1.iter().zip(after).for_each(|(text, file)| new.add(path, text, file));
        }
    }
}

/// Compares a file as a whole.
fn data<K>(
    comparer: &TreeComparer<'_, K>,
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
    match (comparer.sort)(path) {
        Sort::Production => change.production.push(item),
        Sort::Test => change.support.push(item),
        Sort::Document | Sort::Steering => change.documents.push(path.to_owned()),
    }
}

impl TestSide for Test<'_> {
    type Substance = (Digest, Option<String>);

    fn id(&self) -> TestId {
        self.facts.id.clone()
    }

    fn substance(&self) -> Self::Substance {
        (self.item.body, self.item.skipped())
    }

    fn facts(&self) -> TestFacts {
        self.facts.clone()
    }

    fn became(&self, after: &Self) -> Option<TestChange> {
        if self.substance() == after.substance() {
            let stayed = self.item.digest == after.item.digest && self.facts.path == after.facts.path;
            let same = stayed && self.facts.id == after.facts.id;
            return (!same).then(|| TestChange::Moved { before: self.facts(), after: after.facts() });
        }
        let only_added = (self.is_kept)(&after.facts.path, (&self.source, &self.item), (&after.source, &after.item));
        Some(TestChange::Changed { before: self.facts(), after: after.facts(), only_added })
    }
}
