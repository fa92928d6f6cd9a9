//! Pairs the tests and items before a change with those after it.

use std::collections::BTreeMap;

use tdd_core::change::{ItemChange, ItemFate, TestChange, TestFacts};
use tdd_core::digest::Digest;
use tdd_core::test_id::TestId;

/// A test in one of the two trees.
pub(crate) trait TestSide {
    /// What stays the same when a test is only moved or renamed.
    type Substance: Ord;

    fn id(&self) -> TestId;
    /// What stays the same when the test is only moved or renamed.
    fn substance(&self) -> Self::Substance;
    /// What the rules need to know about the test.
    fn facts(&self) -> TestFacts;
    /// The change from this test to the one with the same id, if they differ.
    fn became(&self, after: &Self) -> Option<TestChange>;
}

/// The changes of tests: pairs them first by id, then by substance, in order. A placeholder that becomes a test is a new
/// test, and one that goes is nothing.
pub(crate) fn test_changes<T: TestSide>(before: Vec<T>, after: Vec<T>) -> Vec<TestChange> {
    let (same, gone, new) = pair(before, after, T::id);
    let became = |(before, after): &(T, T)| {
        let is_filled = is_placeholder(before) && !is_placeholder(after);
        if is_filled { Some(TestChange::Added(after.facts())) } else { before.became(after) }
    };
    let mut found: Vec<_> = same.iter().filter_map(became).collect();
    let (moved, gone, new) = pair(gone, new, T::substance);
    found.extend(moved.iter().map(|(was, is)| TestChange::Moved { before: was.facts(), after: is.facts() }));
    let lost = gone.iter().filter(|test| !is_placeholder(*test));
    found.extend(lost.map(|test| TestChange::Removed(test.facts())));
    found.extend(new.iter().map(|test| TestChange::Added(test.facts())));
    found
}

/// Whether a test is only an entry of a test list, such as `test.todo('adds')`: it never runs, and claims nothing.
fn is_placeholder(test: &impl TestSide) -> bool {
    let facts = test.facts();
    facts.skipped.as_ref().is_some_and(|mark| mark.always) && !facts.can_fail()
}

/// An item that is not a test, in one of the two trees. `S` is its file and scope.
pub(crate) struct ItemSide<'a, S> {
    scope: S,
    path: &'a str,
    /// Description for people.
    label: &'a str,
    line: usize,
    /// Digest of the item's own tokens.
    digest: Digest,
    /// Whether it is the table of a test: its change is reported with that test.
    of_test: bool,
}

impl<'a, S> ItemSide<'a, S> {
    pub fn new(scope: S, path: &'a str, label: &'a str, line: usize, digest: Digest, of_test: bool) -> Self {
        Self { scope, path, label, line, digest, of_test }
    }
}

/// Whether a moved but unchanged item counts as removed and added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moves {
    /// It counts as removed here and added there.
    Count,
    /// Moves are ignored.
    AreNothing,
}

/// The changes of items: pairs them first by scope and label, then, if moves are ignored, by label and digest.
pub(crate) fn item_changes<'a, S: Ord + Clone>(
    before: Vec<ItemSide<'a, S>>,
    after: Vec<ItemSide<'a, S>>,
    moves: Moves,
) -> Vec<ItemChange> {
    let place = |item: &ItemSide<'a, S>| (item.scope.clone(), item.label);
    let (_, gone, new) = pair(before, after, |item| (place(item), item.digest));
    let (changed, gone, new) = pair(gone, new, place);
    let (gone, new) = match moves {
        Moves::Count => (gone, new),
        Moves::AreNothing => {
            let (_, gone, new) = pair(gone, new, |item| (item.label, item.digest));
            (gone, new)
        }
    };
    let changed = changed.iter().filter(|(before, after)| !before.of_test || !after.of_test);
    let changed = changed.map(|(_, after)| (after, ItemFate::Changed));
    let gone = gone.iter().filter(|item| !item.of_test).map(|item| (item, ItemFate::Removed));
    let new = new.iter().filter(|item| !item.of_test).map(|item| (item, ItemFate::Added));
    let item_changes = changed.chain(gone).chain(new).map(|(item, fate)| ItemChange {
        path: item.path.to_owned(),
        item: item.label.to_owned(),
        line: item.line,
        fate,
    });
    let mut found: Vec<_> = item_changes.collect();
    found.sort_by(|one, other| (&one.path, one.line, &one.item).cmp(&(&other.path, other.line, &other.item)));
    found
}

/// Pairs elements with the same key, one to one and in order. Also returns the unpaired elements of each list.
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
