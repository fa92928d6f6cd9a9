//! An index of the items and names in a repository, used to find the production items that a test reaches.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use tdd_core::signs::Place;

use crate::analysis::compare::Piece;
use crate::item::TestItem;
use crate::lookup::FileNames;
use crate::reach::{Links, Walk};
use crate::syntax::FlatTree;
use crate::uses::{FoundNames, Reader, UseSyntax, segments};

/// The production items, test helpers and tests of a repository, and the names in them.
#[derive(Debug, Default)]
pub(crate) struct Code {
    pub files: Vec<File>,
    /// Production items, test helpers and tests.
    pub items: Vec<Item>,
    /// How often each name occurs.
    counts: BTreeMap<String, usize>,
    /// The production items with a name of their own, by name.
    by_name: BTreeMap<String, Vec<usize>>,
    /// The tests.
    tests: BTreeMap<Place, usize>,
    /// The test helpers.
    helpers: Vec<usize>,
    links: OnceCell<Links>,
}

#[derive(Debug)]
pub(crate) struct File {
    pub path: String,
    pub for_tests: bool,
    pub names: FileNames,
}

/// A declaration or statement with the names that it uses; most have a name of their own.
#[derive(Debug)]
pub(crate) struct Item {
    pub at: Place,
    pub file: usize,
    span: Range<usize>,
    /// Description for people; empty for a test.
    pub label: String,
    /// The name by which it is used; empty if it has none.
    pub name: String,
    /// Whether it is test-only code.
    pub for_tests: bool,
    pub role: Role,
    /// Segments of the HTTP route that it is registered for.
    pub route: Vec<String>,
    pub found: FoundNames,
}

/// What a language knows about an item beyond its name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Role {
    /// All names by which it is used; one declaration may define several.
    pub names: Vec<String>,
    /// The type that it is a member of.
    pub owner: Option<String>,
    pub reached_by: ReachedBy,
    /// Its links are not followed: it only re-exports names, or does not run when a test loads its file.
    pub is_idle: bool,
    /// The HTTP path that it is registered for.
    pub route: Option<String>,
}

/// How an item is reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum ReachedBy {
    /// By its name.
    #[default]
    Name,
    /// Together with the type that it is a member of.
    Owner,
    /// As soon as its file is loaded.
    File,
}

impl Role {
    /// The role of an item with this name; an item without a name is reached with its file.
    pub fn plain(name: &str) -> Self {
        let reached_by = if name.is_empty() { ReachedBy::File } else { ReachedBy::Name };
        Self { names: vec![name.to_owned()], reached_by, ..Self::default() }
    }
}

/// A file to add to [`Code`].
pub(crate) struct Added<'t, 's> {
    pub path: &'t str,
    pub tree: &'t FlatTree<'s>,
    pub pieces: Vec<Piece>,
    /// The tests: place, byte range, and the node ranges that belong to it.
    pub tests: Vec<(Place, Range<usize>, Vec<Range<usize>>)>,
    pub for_tests: bool,
    pub names: FileNames,
    pub use_syntax: UseSyntax,
}

impl Code {
    /// Adds a file; `role` returns the role of each item, given its piece and nodes.
    pub fn add(&mut self, added: Added<'_, '_>, role: impl Fn(&Piece, &Range<usize>) -> Role) {
        let Added { path, tree, pieces, tests, for_tests, names, use_syntax } = added;
        for word in tree.words(0) {
            *self.counts.entry(word.to_owned()).or_default() += 1;
        }
        let reader = Reader::new(tree, use_syntax);
        let file = self.files.len();
        self.files.push(File { path: path.to_owned(), for_tests, names });
        let pieces: Vec<Piece> = pieces.into_iter().filter(|piece| !piece.label.starts_with("use ")).collect();
        let spans = pieces.iter().map(|piece| piece.span.clone()).chain(tests.iter().map(|(_, span, _)| span.clone()));
        let innermost = innermost(tree, &spans.collect::<Vec<_>>());
        for (number, piece) in pieces.into_iter().enumerate() {
            let root = nodes(tree, &piece.span);
            let own = root.clone().filter(|node| innermost[*node] == Some(number));
            let role = role(&piece, &root);
            let route = role.route.as_deref().map_or_else(|| reader.route_of(&root), segments);
            let found = reader.found(&root, own);
            let Piece { for_tests, label, name, line, span, .. } = piece;
            if for_tests {
                self.helpers.push(self.items.len());
            } else if !name.is_empty() {
                self.by_name.entry(name.clone()).or_default().push(self.items.len());
            }
            self.items.push(Item {
                at: Place::new(path, line),
                file,
                span,
                label,
                name,
                for_tests,
                role,
                route,
                found,
            });
        }
        for (at, span, parts) in tests {
            let mut found = FoundNames::default();
            for part in &parts {
                let FoundNames { uses, texts, words } = reader.found(part, part.clone());
                found.uses.extend(uses);
                found.texts.extend(texts);
                found.words.extend(words);
            }
            self.tests.entry(at.clone()).or_insert(self.items.len());
            let (label, name, role, route) = (String::new(), String::new(), Role::default(), Vec::new());
            self.items.push(Item { at, file, span, label, name, for_tests: true, role, route, found });
        }
    }

    /// Whether a production item has this name.
    pub fn has(&self, name: &str) -> bool {
        self.named(name).next().is_some()
    }

    /// The production items with these names, by place.
    pub fn places_of<'n>(&self, names: impl Iterator<Item = &'n str>) -> BTreeMap<Place, String> {
        names.flat_map(|name| self.named(name)).map(|item| (item.at.clone(), item.name.clone())).collect()
    }

    /// The production items that the test at this place may reach, directly or through other items and test helpers.
    /// `is_run` selects the helpers that run before the test without being named.
    pub fn reached(&self, test: &Place, is_run: impl Fn(&File, &Item) -> bool) -> BTreeSet<Place> {
        let links = self.links.get_or_init(|| Links::of(self));
        let Some(&start) = self.tests.get(test) else { return BTreeSet::new() };
        let own = &self.items[start];
        let is_around = |item: &Item| item.span.start <= own.span.start && own.span.end <= item.span.end;
        let comes = |item: &Item| {
            let is_around = item.file == own.file && is_around(item);
            !item.label.is_empty() && (is_around || is_run(&self.files[item.file], item))
        };
        let before = self.helpers.iter().copied().filter(|number| comes(&self.items[*number]));
        let found = Walk::new(self, links).from(before.chain([start]));
        found.filter(|item| !item.for_tests).map(|item| item.at.clone()).collect()
    }

    /// What a test's assertions are about, at most one name per assertion. For a value that the test created, this is
    /// the name of its maker (`made`).
    pub fn subjects(
        &self,
        tree: &FlatTree<'_>,
        node: usize,
        test: &TestItem,
        made: &BTreeMap<&str, String>,
    ) -> Vec<String> {
        let mut subjects = BTreeSet::new();
        for assertion in &test.assertions {
            let inside = tree.subtree(node).filter(|inner| {
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

    /// Production items in these files whose names occur nowhere else. `is_used` exempts names that are used
    /// implicitly.
    pub fn unreferenced(&self, paths: &[String], is_used: impl Fn(&str) -> bool) -> BTreeSet<Place> {
        let is_plain = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        let alone =
            |item: &&Item| is_plain(&item.name) && !is_used(&item.name) && self.counts.get(&item.name) == Some(&1);
        let here = |item: &&Item| paths.contains(&item.at.path);
        self.items
            .iter()
            .filter(|item| !item.for_tests)
            .filter(alone)
            .filter(here)
            .map(|item| item.at.clone())
            .collect()
    }

    fn named(&self, name: &str) -> impl Iterator<Item = &Item> {
        self.by_name.get(name).into_iter().flatten().map(|number| &self.items[*number])
    }
}

/// The nodes that begin within these bytes.
fn nodes(tree: &FlatTree<'_>, span: &Range<usize>) -> Range<usize> {
    tree.first_from(span.start)..tree.first_from(span.end)
}

/// For each node, the index of the smallest span that it begins in.
fn innermost(tree: &FlatTree<'_>, spans: &[Range<usize>]) -> Vec<Option<usize>> {
    let mut order: Vec<usize> = (0..spans.len()).collect();
    order.sort_by_key(|number| std::cmp::Reverse(spans[*number].len()));
    let mut found = vec![None; tree.len()];
    for number in order {
        found[nodes(tree, &spans[number])].fill(Some(number));
    }
    found
}
