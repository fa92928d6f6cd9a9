//! The names in all of a repository, and the items of production that they lead to.

use std::collections::{BTreeMap, BTreeSet};

use tdd_core::signs::Place;

use crate::compare::Piece;
use crate::item::TestItem;
use crate::syntax::FlatTree;

/// The items of production, what tests have for themselves, and the names in all of it.
#[derive(Debug, Default)]
pub(crate) struct Code {
    items: Vec<Item>,
    /// Fixtures, helpers, hooks.
    support: Vec<Item>,
    /// How often each name stands somewhere.
    counts: BTreeMap<String, usize>,
}

/// Something with names in it, and mostly a name of its own.
#[derive(Debug)]
pub(crate) struct Item {
    at: Place,
    /// What it is, for people.
    pub label: String,
    /// The name by which it is used; empty if it has none.
    pub name: String,
    /// The names in it.
    pub words: BTreeSet<String>,
}

impl Code {
    /// Adds a file with these items.
    pub fn add(&mut self, path: &str, tree: &FlatTree<'_>, pieces: Vec<Piece>) {
        for word in tree.words(0) {
            *self.counts.entry(word.to_owned()).or_default() += 1;
        }
        for piece in pieces.into_iter().filter(|piece| !piece.label.starts_with("use ")) {
            let inside = (0..tree.len()).filter(|node| piece.span.contains(&tree.range(*node).start));
            let words = inside.filter(|node| tree.is_word(*node)).map(|node| tree.text(node).to_owned());
            let (at, words) = (Place::new(path, piece.line), words.collect());
            let items = if piece.for_tests { &mut self.support } else { &mut self.items };
            items.push(Item { at, label: piece.label, name: piece.name, words });
        }
    }

    /// Whether an item of production has this name.
    pub fn has(&self, name: &str) -> bool {
        self.named(name).next().is_some()
    }

    /// The items of production of these names, each with its own.
    pub fn asked<'n>(&self, names: impl Iterator<Item = &'n str>) -> BTreeMap<Place, String> {
        names.flat_map(|name| self.named(name)).map(|item| (item.at.clone(), item.name.clone())).collect()
    }

    /// The names in what is run before the tests of a file, whatever they say.
    pub fn set_up(&self, path: &str, is_run: impl Fn(&Item) -> bool) -> impl Iterator<Item = &str> {
        let here = self.support.iter().filter(move |item| item.at.path == path && is_run(item));
        here.flat_map(|item| &item.words).map(String::as_str)
    }

    /// The items of production that these words may lead to, however far, by what tests have for themselves as well;
    /// and by names of which `leads` says that they bring an item along.
    pub fn reached<'w>(
        &'w self,
        words: impl Iterator<Item = &'w str>,
        leads: impl Fn(&str, &Item) -> bool,
    ) -> BTreeSet<Place> {
        let mut known: BTreeSet<&str> = words.collect();
        let (mut open, mut found) = (known.iter().copied().collect::<Vec<_>>(), BTreeSet::new());
        while let Some(word) = open.pop() {
            let support = self.support.iter().filter(|item| item.name == word);
            let items = self.items.iter().filter(|item| item.name == word || leads(word, item));
            let new = items.filter(|item| found.insert(item.at.clone())).collect::<Vec<_>>();
            let words = support.chain(new).flat_map(|item| &item.words).map(String::as_str);
            open.extend(words.filter(|word| known.insert(word)));
        }
        found
    }

    /// What the assertions of a test are about: one name for each, that of the maker for what the test made.
    pub fn subjects(
        &self,
        tree: &FlatTree<'_>,
        node: usize,
        test: &TestItem,
        made: &BTreeMap<&str, String>,
    ) -> Vec<String> {
        let mut subjects = BTreeSet::new();
        for assertion in &test.assertions {
            let inside = tree.inside(node).filter(|inner| {
                let range = tree.range(*inner);
                assertion.span.start <= range.start && range.end <= assertion.span.end && tree.is_word(*inner)
            });
            let names: Vec<&str> = inside.map(|inner| tree.text(inner)).collect();
            let subject = names.iter().find_map(|name| made.get(name).cloned());
            let direct = || names.iter().find(|name| self.has(name)).map(|name| (*name).to_owned());
            subjects.extend(subject.or_else(direct));
        }
        subjects.into_iter().collect()
    }

    /// The items of production in these files whose names stand nowhere else, but for those that are used without
    /// being named.
    pub fn unreferenced(&self, paths: &[String], is_used: impl Fn(&str) -> bool) -> BTreeSet<Place> {
        let is_plain = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        let alone =
            |item: &&Item| is_plain(&item.name) && !is_used(&item.name) && self.counts.get(&item.name) == Some(&1);
        let here = |item: &&Item| paths.contains(&item.at.path);
        self.items.iter().filter(alone).filter(here).map(|item| item.at.clone()).collect()
    }

    fn named(&self, name: &str) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(move |item| !item.name.is_empty() && item.name == name)
    }
}
