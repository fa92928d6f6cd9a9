//! Matches what was there before a change with what is there after it.

use std::rc::Rc;

use tdd_core::change::{ItemChange, ItemFate, TestChange, TestFacts};
use tdd_core::digest::Digest;
use tdd_core::test_id::TestId;

use crate::compare::pair;
use crate::item::TestItem;

use super::asks::Asker;
use super::eclipse::NewNames;
use super::file::File;
use super::piece::Piece;

/// What makes a test the same one wherever it stands: its tokens but for its name, its conditions, why it is
/// skipped, and whether it is run.
type Substance = (Digest, Vec<String>, Option<String>, bool);

/// A test of one tree.
#[derive(Clone)]
pub(super) struct Test<'f> {
    pub id: TestId,
    pub file: &'f File,
    pub item: &'f TestItem,
    pub asker: Rc<Asker<'f>>,
    pub conditions: Vec<String>,
    /// A target leads to it, so that it is run.
    pub reached: bool,
}

impl Test<'_> {
    fn facts(&self) -> TestFacts {
        TestFacts {
            id: self.id.clone(),
            path: self.file.path.clone(),
            line: self.item.line,
            digest: self.item.digest,
            body: self.item.body,
            assertions: self.asker.assertions(self.item),
            skipped: self.item.ignored.clone(),
            conditions: self.conditions.clone(),
            should_panic: self.item.should_panic,
            returns_result: self.item.returns_result,
            asks_production: self.asker.asks_production(self.item),
        }
    }

    /// What stays the same when it is only moved or renamed. A test that is run and one that is not are
    /// never the same.
    fn substance(&self) -> Substance {
        (self.item.body, self.conditions.clone(), self.item.ignored.clone(), self.reached)
    }

    /// What became of it, if anything did.
    fn became(&self, after: &Self) -> Option<TestChange> {
        if self.substance() == after.substance() {
            let stayed = self.item.digest == after.item.digest && self.file.path == after.file.path;
            if stayed && NewNames::of(self.file, after.file).eclipse(after.file, after.item) {
                let (before, after) = (self.facts(), after.facts());
                return Some(TestChange::Changed { before, after, only_added: false });
            }
            return (!stayed || self.id != after.id)
                .then(|| TestChange::Moved { before: self.facts(), after: after.facts() });
        }
        let only_added = self.file.is_kept(self.item, (after.file, after.item));
        Some(TestChange::Changed { before: self.facts(), after: after.facts(), only_added })
    }
}

/// What became of the tests: first by id, then by substance, in their order.
pub(super) fn tests(before: Vec<Test<'_>>, after: Vec<Test<'_>>) -> Vec<TestChange> {
    let (same, gone, new) = pair(before, after, |test| test.id.clone());
    let mut found: Vec<_> = same.iter().filter_map(|(before, after)| before.became(after)).collect();
    let (moved, gone, new) = pair(gone, new, Test::substance);
    let moved = moved.iter().map(|(before, after)| TestChange::Moved { before: before.facts(), after: after.facts() });
    found.extend(moved);
    found.extend(gone.iter().map(|test| TestChange::Removed(test.facts())));
    found.extend(new.iter().map(|test| TestChange::Added(test.facts())));
    found
}

/// An item of one tree, with its file.
pub(super) type Item<'f> = (&'f str, &'f Piece);

/// Whether an item that is the same in another place is gone and new, or not worth telling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moves {
    Count,
    AreNothing,
}

/// What became of other items: first those of one file and name, then, where moves are nothing, those that
/// are the same in another place.
pub(super) fn items(before: Vec<Item<'_>>, after: Vec<Item<'_>>, moves: Moves) -> Vec<ItemChange> {
    let place = |(path, piece): &Item<'_>| (path.to_string(), piece.scope, piece.label.clone());
    let (_, gone, new) = pair(before, after, |item| (place(item), item.1.digest));
    let (changed, gone, new) = pair(gone, new, place);
    let (gone, new) = match moves {
        Moves::Count => (gone, new),
        Moves::AreNothing => {
            let (_, gone, new) = pair(gone, new, |(_, piece)| (piece.label.clone(), piece.digest));
            (gone, new)
        }
    };
    // What became of a table is told with its test.
    let is_own = |(_, piece): &Item<'_>| !piece.of_test;
    let changed = changed.into_iter().filter(|(before, after)| is_own(before) || is_own(after));
    let changed = changed.map(|(_, after)| change(after, ItemFate::Changed));
    let gone = gone.into_iter().filter(is_own).map(|item| change(item, ItemFate::Removed));
    let new = new.into_iter().filter(is_own).map(|item| change(item, ItemFate::Added));
    let mut found: Vec<_> = changed.chain(gone).chain(new).collect();
    found.sort_by(|one, other| (&one.path, one.line, &one.item).cmp(&(&other.path, other.line, &other.item)));
    found
}

fn change((path, piece): Item<'_>, fate: ItemFate) -> ItemChange {
    ItemChange { path: path.to_owned(), item: piece.label.clone(), line: piece.line, fate }
}
