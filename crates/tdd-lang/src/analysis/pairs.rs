//! Matches what was there before a change with what is there after it.

use std::collections::BTreeMap;

use tdd_core::change::{ItemChange, ItemFate, TestChange, TestFacts};
use tdd_core::digest::Digest;
use tdd_core::test_id::TestId;

/// A test of one of the two trees.
pub(crate) trait TestSide {
    /// What stays the same when a test is only moved or renamed.
    type Substance: Ord;

    /// The test's id.
    fn id(&self) -> TestId;
    /// What stays the same when the test is only moved or renamed.
    fn substance(&self) -> Self::Substance;
    /// What the law wants to know of the test.
    fn facts(&self) -> TestFacts;
    /// How the test of the same id changed, if it did.
    fn became(&self, after: &Self) -> Option<TestChange>;
}

/// How the tests changed: paired first by id, then by substance, in their order.
pub(crate) fn test_changes<T: TestSide>(before: Vec<T>, after: Vec<T>) -> Vec<TestChange> {
    let (same, gone, new) = pair(before, after, T::id);
    let mut found: Vec<_> = same.iter().filter_map(|(before, after)| before.became(after)).collect();
    let (moved, gone, new) = pair(gone, new, T::substance);
    found.extend(moved.iter().map(|(was, is)| TestChange::Moved { before: was.facts(), after: is.facts() }));
    found.extend(gone.iter().map(|test| TestChange::Removed(test.facts())));
    found.extend(new.iter().map(|test| TestChange::Added(test.facts())));
    found
}

/// An item that is not a test, in one of the two trees. `S` is the file and the scope in which it stands.
pub(crate) struct ItemSide<'a, S> {
    scope: S,
    path: &'a str,
    /// What it is, for people.
    label: &'a str,
    line: usize,
    /// The digest of its own tokens.
    digest: Digest,
    /// It is the table of a test: what became of it is told with that test.
    of_test: bool,
}

impl<'a, S> ItemSide<'a, S> {
    /// The item with this label at this place.
    pub fn new(scope: S, path: &'a str, label: &'a str, line: usize, digest: Digest, of_test: bool) -> Self {
        Self { scope, path, label, line, digest, of_test }
    }
}

/// Whether an item that is the same in another place counts as removed and added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moves {
    /// It counts as removed here and added there.
    Count,
    /// Nobody needs to know.
    AreNothing,
}

/// How the items changed: paired first by scope and label, then, where moves are nothing, by label and digest.
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
    let told = changed.chain(gone).chain(new).map(|(item, fate)| ItemChange {
        path: item.path.to_owned(),
        item: item.label.to_owned(),
        line: item.line,
        fate,
    });
    let mut found: Vec<_> = told.collect();
    found.sort_by(|one, other| (&one.path, one.line, &one.item).cmp(&(&other.path, other.line, &other.item)));
    found
}

/// The pairs with the same key in both lists, one for one and in order, and what is left of each list.
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
