//! Describes what a change did to a cargo project, test by test, item by item and key by key.
//!
//! Layout, comments and documentation without examples do not count. Documentation examples count as test support. A
//! production item that moves to another file is removed here and added there; test support may move freely if its name
//! and tokens stay the same. A test that no target reaches any more is removed.

mod asks;
pub(super) mod example;
pub(super) mod file;
mod manifest;
mod pairs;
pub(super) mod piece;
mod shadowing;
pub(in crate::rust) mod uses;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use tdd_core::change::{Change, ItemChange, ItemFate, Sort, SteeringChange, Unreadable};
use tdd_core::digest::Digest;
use tdd_core::test_id::TestId;

use self::asks::DependencyFinder;
use self::file::File;
use self::pairs::Test;
use super::modules::{ParsedFiles, below, may_declare_modules};
use super::owns;
use super::sort::{Layout, Sorter};
use super::syntax::{Tree, unix};
use crate::analysis::pairs::{ItemSide, Moves, item_changes, test_changes};
use crate::language::{Project, Sources};
use crate::syntax::SyntaxError;

/// The change between two trees that differ in these paths.
pub fn change(project: &Project, before: &dyn Sources, after: &dyn Sources, paths: &[String]) -> Change {
    let paths: BTreeSet<&str> = paths.iter().map(String::as_str).collect();
    let (old, new) = layouts(project, before, after, &paths);
    let elsewhere: BTreeSet<String> = old.differing(&new).map(str::to_owned).collect();
    let examined: BTreeSet<&str> = paths.iter().copied().chain(elsewhere.iter().map(String::as_str)).collect();
    let both = Both { before: Side::new(old, before), after: Side::new(new, after) };
    let mut sorted = Sorted::default();
    for path in examined {
        both.sort(path, &paths, &mut sorted);
    }
    both.conclude(sorted)
}

/// The layouts of both trees. They are the same if no changed file can affect the layout.
fn layouts(project: &Project, before: &dyn Sources, after: &dyn Sources, paths: &BTreeSet<&str>) -> (Layout, Layout) {
    if !paths.iter().any(|path| owns(path) || is_manifest(path)) {
        return (Layout::default(), Layout::default());
    }
    let mut files = ParsedFiles::for_modules(before);
    let old = Layout::of(project, &mut files);
    let declares = |sources: &dyn Sources, path: &str| match sources.read(path) {
        Some(text) => may_declare_modules(&text),
        None => true,
    };
    let rebuilds = |path: &&str| is_manifest(path) || owns(path) && (declares(before, path) || declares(after, path));
    if !paths.iter().any(rebuilds) {
        return (old.clone(), old);
    }
    let new = Layout::of(project, &mut files.in_tree(after, |path| !paths.contains(path)));
    (old, new)
}

fn is_manifest(path: &str) -> bool {
    path == "Cargo.toml" || path.ends_with("/Cargo.toml")
}

struct Both<'s> {
    before: Side<'s>,
    after: Side<'s>,
}

/// One of the two trees.
struct Side<'s> {
    sources: &'s dyn Sources,
    sorter: Sorter<'s>,
}

/// The results so far.
#[derive(Default)]
struct Sorted {
    change: Change,
    /// The Rust files of each tree.
    before: Vec<File>,
    after: Vec<File>,
}

impl<'s> Side<'s> {
    fn new(layout: Layout, sources: &'s dyn Sources) -> Self {
        Self { sources, sorter: Sorter::new(layout, sources) }
    }

    fn has(&self, path: &str) -> bool {
        self.sources.files().binary_search_by(|known| known.as_str().cmp(path)).is_ok()
    }

    fn sort(&self, path: &str) -> Option<Sort> {
        self.has(path).then(|| self.sorter.sort(path))
    }

    fn file(&self, path: &str) -> Option<File> {
        let sort = self.sort(path)?;
        let source = self.sources.read(path)?;
        matches!(sort, Sort::Production | Sort::Test).then(|| File::new(path, source, sort == Sort::Test))
    }

    /// Every test in these files, under each of its ids. A slug that occurs twice counts once.
    fn tests<'f>(&self, files: &'f [File], other: &Self) -> Vec<Test<'f>> {
        let mut tests: Vec<Test<'f>> = Vec::new();
        let mut slugs: BTreeMap<TestId, (&str, usize)> = BTreeMap::new();
        for file in files {
            let finder = Rc::new(DependencyFinder::new(file));
            let places = self.places(&file.path, other);
            for item in &file.tests {
                let here = (file.path.as_str(), item.span.start);
                let slug = item.annotation.as_deref().and_then(|slug| TestId::annotation(slug).ok());
                let slug = slug.filter(|slug| *slugs.entry(slug.clone()).or_insert(here) == here);
                let mut ids = BTreeSet::new();
                for place in &places {
                    let native = || TestId::native(&file.path, &below(place.module, &item.name));
                    let id = slug.clone().unwrap_or_else(native);
                    if ids.insert(id.clone()) {
                        let conditions = place.cfg.iter().chain(&item.cfg).cloned().collect();
                        let finder = Rc::clone(&finder);
                        tests.push(Test { id, file, item, finder, conditions, reached: place.reached });
                    }
                }
            }
        }
        tests
    }

    /// Where a file's tests are in the tested targets. If no target reaches the file in either tree, they still count
    /// as tests, which nobody runs.
    fn places(&self, path: &str, other: &Self) -> Vec<Place<'_>> {
        let tested = |side: &Self| side.sorter.layout.mounts(path).iter().any(|mount| mount.tested);
        if !tested(self) && !tested(other) {
            return vec![Place { module: "", cfg: &[], reached: false }];
        }
        let mounts = self.sorter.layout.mounts(path).iter().filter(|mount| mount.tested);
        mounts.map(|mount| Place { module: &mount.module, cfg: &mount.cfg, reached: true }).collect()
    }
}

/// Where a file's tests are in a target.
struct Place<'l> {
    module: &'l str,
    cfg: &'l [String],
    reached: bool,
}

impl Both<'_> {
    /// Sorts a file that differs between the trees, or whose place in the targets differs.
    fn sort(&self, path: &str, changed: &BTreeSet<&str>, sorted: &mut Sorted) {
        let sorts = (self.before.sort(path), self.after.sort(path));
        if sorts.0 == Some(Sort::Steering) || sorts.1 == Some(Sort::Steering) {
            sorted.change.steering.extend(self.steering(path, sorts, changed));
            if sorts == (Some(Sort::Steering), Some(Sort::Steering)) || !owns(path) {
                return;
            }
        }
        if owns(path) {
            self.rust(path, sorted);
        } else {
            self.data(path, sorts, &mut sorted.change);
        }
    }

    fn steering(
        &self,
        path: &str,
        sorts: (Option<Sort>, Option<Sort>),
        changed: &BTreeSet<&str>,
    ) -> Vec<SteeringChange> {
        let texts = (self.before.sources.read(path), self.after.sources.read(path));
        if is_manifest(path) {
            return manifest::compare(path, (texts.0.as_deref(), texts.1.as_deref()), self.after.sources);
        }
        let what = match sorts {
            (None, _) => "a new file",
            (_, None) => "a removed file",
            (Some(before), Some(after)) if before != after => "its part in the build",
            _ if texts.0.is_some() && is_same(path, &texts) => return Vec::new(),
            _ => "its text",
        };
        let is_lock = path.rsplit('/').next() == Some("Cargo.lock");
        if is_lock && changed.iter().any(|path| is_manifest(path)) {
            return Vec::new();
        }
        let what = if is_lock { "a lock file without its manifest" } else { what };
        vec![SteeringChange { path: path.to_owned(), what: what.to_owned(), free: false }]
    }

    /// Compares a Rust file. One that no longer parses is reported as unreadable; one that never parsed is compared as
    /// a whole.
    fn rust(&self, path: &str, sorted: &mut Sorted) {
        if self.after.has(path) && self.after.sources.read(path).is_none() {
            sorted.change.unreadable.push(Unreadable::not_text(path));
            return;
        }
        let (before, after) = (self.before.file(path), self.after.file(path));
        let parses = |file: &Option<File>| file.as_ref().map(|file| file.parses);
        match (parses(&before), parses(&after)) {
            (Some(false), Some(false)) => {
                let sorts = (self.before.sort(path), self.after.sort(path));
                self.data(path, sorts, &mut sorted.change);
            }
            (_, Some(false)) => sorted
                .change
                .unreadable
                .push(SyntaxError::into_unreadable(after.and_then(|file| file.syntax_error), path)),
            (_, _) => {
                sorted.before.extend(before);
                sorted.after.extend(after);
            }
        }
    }

    /// Compares a file as a whole.
    fn data(&self, path: &str, sorts: (Option<Sort>, Option<Sort>), change: &mut Change) {
        let texts = (self.before.sources.read(path), self.after.sources.read(path));
        let sort = sorts.1.or(sorts.0);
        let fate = match sorts {
            (None, None) => return,
            (None, Some(_)) => ItemFate::Added,
            (Some(_), None) => ItemFate::Removed,
            (Some(before), Some(after)) => {
                let same = texts.0.is_some() && texts.0.as_deref().map(unix) == texts.1.as_deref().map(unix);
                if same && before == after {
                    return;
                }
                ItemFate::Changed
            }
        };
        let name = path.rsplit('/').next().unwrap_or(path);
        let item = ItemChange { path: path.to_owned(), item: format!("the file `{name}`"), line: 1, fate };
        match sort {
            Some(Sort::Production) => change.production.push(item),
            Some(Sort::Test) => change.support.push(item),
            Some(Sort::Document | Sort::Steering) | None => {
                change.documents.push(path.to_owned());
                change.support.extend(self.examples_of_document(path, &texts));
            }
        }
    }

    /// Compares the examples of a document that is included as documentation, because rustdoc runs them.
    fn examples_of_document(&self, path: &str, texts: &(Option<String>, Option<String>)) -> Option<ItemChange> {
        if !self.before.sorter.documents(path) && !self.after.sorter.documents(path) {
            return None;
        }
        let examples = |text: &Option<String>| example::examples(text.as_deref().unwrap_or_default().lines());
        let (before, after) = (examples(&texts.0), examples(&texts.1));
        let fate = match before.iter().all(|example| after.contains(example)) {
            true if before.len() == after.len() => return None,
            true => ItemFate::Added,
            false => ItemFate::Changed,
        };
        Some(ItemChange { path: path.to_owned(), item: "an example".to_owned(), line: 1, fate })
    }

    /// Matches the tests and items of both trees.
    fn conclude(&self, sorted: Sorted) -> Change {
        let Sorted { mut change, before, after } = sorted;
        let (was, is) = (self.before.tests(&before, &self.after), self.after.tests(&after, &self.before));
        change.tests = test_changes(was, is);
        change.production.extend(item_changes(pieces(&before, false), pieces(&after, false), Moves::Count));
        change.support.extend(item_changes(pieces(&before, true), pieces(&after, true), Moves::AreNothing));
        change
    }
}

/// The items of all files that are test code, or that are not.
fn pieces(files: &[File], for_tests: bool) -> Vec<ItemSide<'_, (&str, Digest)>> {
    let all = files.iter().flat_map(|file| file.pieces.iter().map(|piece| (file.path.as_str(), piece)));
    let wanted = all.filter(|(_, piece)| piece.for_tests == for_tests);
    let places = wanted.map(|(path, piece)| ((path, piece.scope), path, piece));
    places.map(|(scope, path, it)| ItemSide::new(scope, path, &it.label, it.line, it.digest, it.of_test)).collect()
}

/// Whether two versions of a runner configuration file mean the same.
fn is_same(path: &str, texts: &(Option<String>, Option<String>)) -> bool {
    let (Some(before), Some(after)) = texts else { return texts.0 == texts.1 };
    if owns(path) {
        let digest = |text: &str| Tree::parse(text).map(|tree| tree.digest(0..tree.len()));
        return digest(before) == digest(after);
    }
    let is_toml = path.rsplit_once('.').is_some_and(|(_, ending)| ending == "toml");
    match (before.parse::<toml::Table>(), after.parse::<toml::Table>()) {
        (Ok(before), Ok(after)) if is_toml => before == after,
        _ => unix(before) == unix(after),
    }
}

#[cfg(test)]
mod tests;
