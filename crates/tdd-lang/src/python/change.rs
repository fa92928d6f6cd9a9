//! Tells what a change did to a Python project, test by test, item by item and key by key.
//!
//! Layout, comments and documentation without examples are nothing. An item of production that moves to
//! another file is gone here and new there; what tests use may move freely, as long as its name and tokens
//! stay the same.

use std::collections::{BTreeMap, BTreeSet};

use tdd_core::change::{Change, ItemChange, ItemFate, Sort, SteeringChange, TestChange, TestFacts};
use tdd_core::digest::Digest;
use tdd_core::test_id::TestId;

use super::asks::Asker;
use super::items::items;
use super::manifest;
use super::modules::Modules;
use super::owns;
use super::pieces::{Piece, pieces};
use super::sort::sort;
use super::statements::is_kept;
use super::syntax::Tree;
use crate::item::TestItem;
use crate::language::{Project, Sources};

/// What changed between two trees that differ in these paths.
pub fn change(project: &Project, before: &dyn Sources, after: &dyn Sources, paths: &[String]) -> Change {
    let paths: BTreeSet<&str> = paths.iter().map(String::as_str).collect();
    let (mut old, mut new) = (Side::new(project, before), Side::new(project, after));
    let mut change = Change::default();
    for path in &paths {
        let texts = (before.read(path), after.read(path));
        let there = (old.has(path), new.has(path));
        if sort(path) == Sort::Steering {
            change.steering.extend(steering(path, there, &texts, &paths));
        } else if owns(path) {
            source(path, &texts, &mut old, &mut new, &mut change);
        } else {
            data(path, there, &texts, &mut change);
        }
    }
    change.tests = tests(old.tests, new.tests);
    let (production, support) = (changed(&old.pieces, &new.pieces, false), changed(&old.pieces, &new.pieces, true));
    change.production.extend(production);
    change.support.extend(support);
    change
}

/// One of the two trees.
struct Side<'s> {
    sources: &'s dyn Sources,
    modules: Modules,
    tests: Vec<Test>,
    pieces: Vec<(String, Piece)>,
}

/// A test of one tree.
struct Test {
    facts: TestFacts,
    item: TestItem,
    source: String,
}

impl<'s> Side<'s> {
    fn new(project: &Project, sources: &'s dyn Sources) -> Self {
        Self { sources, modules: Modules::of(project, sources), tests: Vec::new(), pieces: Vec::new() }
    }

    fn has(&self, path: &str) -> bool {
        self.sources.files().binary_search_by(|known| known.as_str().cmp(path)).is_ok()
    }

    fn read(&mut self, path: &str, source: &str) {
        let Some(tree) = Tree::parse(source) else { return };
        let found = items(path, source);
        let asker = Asker::new(&tree, &self.modules);
        self.pieces
            .extend(pieces(&tree, &found, sort(path) == Sort::Test).into_iter().map(|piece| (path.to_owned(), piece)));
        for item in found.tests {
            let native = || TestId::native(path, &item.name);
            let id = item.annotation.as_deref().and_then(|slug| TestId::annotation(slug).ok()).unwrap_or_else(native);
            let facts = TestFacts {
                id,
                path: path.to_owned(),
                line: item.line,
                digest: item.digest,
                body: item.body,
                assertions: asker.assertions(&item),
                skipped: item.ignored.clone(),
                conditions: Vec::new(),
                should_panic: false,
                returns_result: false,
                asks_production: asker.asks_production(&item),
            };
            self.tests.push(Test { facts, item, source: source.to_owned() });
        }
    }
}

fn steering(
    path: &str,
    there: (bool, bool),
    texts: &(Option<String>, Option<String>),
    paths: &BTreeSet<&str>,
) -> Vec<SteeringChange> {
    let what = match there {
        (false, false) => return Vec::new(),
        (true, true) => match texts {
            (Some(before), Some(after)) => return manifest::compare(path, before, after, paths),
            _ => "its content",
        },
        (false, true) => "a new file",
        (true, false) => "a removed file",
    };
    vec![SteeringChange { path: path.to_owned(), what: what.to_owned(), free: false }]
}

/// A file that does not parse any more says nothing; one that never did is compared as a whole.
fn source(
    path: &str,
    texts: &(Option<String>, Option<String>),
    old: &mut Side<'_>,
    new: &mut Side<'_>,
    change: &mut Change,
) {
    let parses = |text: &Option<String>| text.as_ref().map(|text| Tree::parse(text).is_some_and(|tree| tree.parses()));
    match (parses(&texts.0), parses(&texts.1)) {
        (Some(false), Some(false)) => data(path, (true, true), texts, change),
        (_, Some(false)) => change.unreadable.push(path.to_owned()),
        (_, _) => {
            texts.0.iter().for_each(|text| old.read(path, text));
            texts.1.iter().for_each(|text| new.read(path, text));
        }
    }
}

/// A file that is compared as a whole.
fn data(path: &str, there: (bool, bool), texts: &(Option<String>, Option<String>), change: &mut Change) {
    let fate = match there {
        (false, false) => return,
        (true, true) if texts.0.is_some() && texts.0 == texts.1 => return,
        (true, true) => ItemFate::Changed,
        (false, true) => ItemFate::Added,
        (true, false) => ItemFate::Removed,
    };
    let name = path.rsplit('/').next().unwrap_or(path);
    let item = ItemChange { path: path.to_owned(), item: format!("the file `{name}`"), line: 1, fate };
    match sort(path) {
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
    fn became(self, after: Self) -> Option<TestChange> {
        if self.substance() == after.substance() {
            let stayed = self.item.digest == after.item.digest && self.facts.path == after.facts.path;
            let same = stayed && self.facts.id == after.facts.id;
            return (!same).then_some(TestChange::Moved { before: self.facts, after: after.facts });
        }
        let only_added = is_kept((&self.source, &self.item), (&after.source, &after.item));
        Some(TestChange::Changed { before: self.facts, after: after.facts, only_added })
    }
}

/// What became of the tests: first by id, then by substance, in their order.
fn tests(before: Vec<Test>, after: Vec<Test>) -> Vec<TestChange> {
    let (same, gone, new) = pair(before, after, |test| test.facts.id.clone());
    let mut found: Vec<_> = same.into_iter().filter_map(|(before, after)| before.became(after)).collect();
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
    let changed = changed.into_iter().map(|(_, after)| tell(after, ItemFate::Changed));
    let gone = gone.into_iter().map(|item| tell(item, ItemFate::Removed));
    let mut found: Vec<_> =
        changed.chain(gone).chain(new.into_iter().map(|item| tell(item, ItemFate::Added))).collect();
    found.sort_by(|one, other| (&one.path, one.line, &one.item).cmp(&(&other.path, other.line, &other.item)));
    found
}

/// What has the same key in both lists, one for one and in order, and what is left of each.
fn pair<T, K: Ord>(before: Vec<T>, after: Vec<T>, key: impl Fn(&T) -> K) -> (Vec<(T, T)>, Vec<T>, Vec<T>) {
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

#[cfg(test)]
mod tests {
    use super::super::fixture::memory;
    use super::*;

    const TEST: &str = "from calc import add\n\n\ndef test_a():\n    assert add(1, 2) == 3\n";

    fn of(before: &[(&str, &str)], after: &[(&str, &str)]) -> Change {
        let project = Project { root: String::new(), description: String::new() };
        let paths: BTreeSet<String> = before.iter().chain(after).map(|(path, _)| (*path).to_owned()).collect();
        let (before, after) = (memory(before), memory(after));
        let differ = |path: &String| before.read(path) != after.read(path);
        let paths: Vec<String> = paths.into_iter().filter(differ).collect();
        change(&project, &before, &after, &paths)
    }

    fn said(change: &Change) -> Vec<String> {
        let test = |test: &TestChange| match test {
            TestChange::Added(facts) => format!("+{}", facts.id),
            TestChange::Removed(facts) => format!("-{}", facts.id),
            TestChange::Moved { before, after } => format!("{} -> {}", before.id, after.id),
            TestChange::Changed { after, only_added, .. } => format!("~{} {only_added}", after.id),
        };
        let item = |kind: &'static str| move |item: &ItemChange| format!("{kind} {} {:?}", item.item, item.fate);
        let steering =
            change.steering.iter().map(|it| format!("steering {}{}", it.what, if it.free { " free" } else { "" }));
        let found = change.tests.iter().map(test).chain(change.support.iter().map(item("support")));
        let found = found.chain(change.production.iter().map(item("production"))).chain(steering);
        found.chain(change.unreadable.iter().map(|path| format!("unreadable {path}"))).collect()
    }

    fn check(before: &[(&str, &str)], after: &[(&str, &str)], expected: &[&str]) {
        assert_eq!(said(&of(before, after)), expected, "{after:?}");
    }

    #[test]
    fn a_new_test_is_told_with_what_it_uses() {
        check(&[], &[("tests/test_a.py", TEST)], &["+tests/test_a.py::test_a", "support use `calc.add` Added"]);
        let facts = of(&[], &[("tests/test_a.py", TEST)]);
        assert!(facts.new_demands().all(|test| test.asks_production && test.can_fail()));
    }

    #[test]
    fn a_test_may_gain_assertions_and_lose_nothing() {
        let with = |body: &str| format!("def test_a():\n{body}");
        let old = with("    x = f()\n    assert x == 1\n");
        for (body, expected) in [
            ("    x = f()\n    assert x == 1\n    assert x != 2\n", "~t_test.py::test_a true"),
            ("    x = f()\n    assert x == 2\n", "~t_test.py::test_a false"),
            ("    x = f()\n    return\n    assert x == 1\n", "~t_test.py::test_a false"),
            ("    x = f()\n    if x:\n        assert x == 1\n", "~t_test.py::test_a false"),
            ("    x = f()\n", "~t_test.py::test_a false"),
        ] {
            check(&[("t_test.py", &old)], &[("t_test.py", &with(body))], &[expected]);
        }
        check(&[("t_test.py", &old)], &[("t_test.py", &format!("# x\n{old}"))], &[]);
    }

    #[test]
    fn a_renamed_or_moved_test_is_the_same_test() {
        let renamed = TEST.replace("test_a", "test_b");
        check(&[("test_a.py", TEST)], &[("test_a.py", &renamed)], &["test_a.py::test_a -> test_a.py::test_b"]);
        check(&[("test_a.py", TEST)], &[("test_b.py", TEST)], &["test_a.py::test_a -> test_b.py::test_a"]);
        check(&[("test_a.py", TEST)], &[("test_a.py", "")], &["-test_a.py::test_a", "support use `calc.add` Removed"]);
    }

    #[test]
    fn production_is_told_item_by_item() {
        let old = "X = 1\ndef f():\n    return 1\nclass C:\n    def m(self):\n        return 1\n";
        let new = "X = 2\ndef f():\n    return 1\nclass C:\n    def m(self):\n        return 2\n    def n(self):\n        pass\n";
        check(
            &[("calc.py", old)],
            &[("calc.py", new)],
            &["production `X` Changed", "production def `C.m` Changed", "production def `C.n` Added"],
        );
        check(&[("calc.py", old)], &[("calc.py", &format!("\"\"\"Doc.\"\"\"\n{old}"))], &[]);
    }

    #[test]
    fn steering_is_frozen_but_for_a_new_dependency() {
        check(&[], &[("conftest.py", "")], &["steering a new file"]);
        let old = "[project]\ndependencies = [\"a\"]\n";
        let with =
            |text: &str, expected: &[&str]| check(&[("pyproject.toml", old)], &[("pyproject.toml", text)], expected);
        with("[project]\ndependencies = [\"a\", \"b>=2\"]\n", &["steering `project.dependencies` free"]);
        with("[project]\ndependencies = [\"a\", \"b @ file:///x\"]\n", &["steering `project.dependencies`"]);
        with("[project]\ndependencies = []\n", &["steering `project.dependencies`"]);
        with("# x\n[project]\ndependencies = ['a']\n", &[]);
        with(
            &format!("{old}[tool.pytest.ini_options]\naddopts = \"-k nothing\"\n"),
            &["steering `tool.pytest.ini_options.addopts`"],
        );
        check(
            &[("requirements.txt", "a\n")],
            &[("requirements.txt", "a\nb==1\n")],
            &["steering a new requirement free"],
        );
        check(&[("requirements.txt", "a\n")], &[("requirements.txt", "b==1\n")], &["steering its text"]);
    }

    #[test]
    fn a_file_that_does_not_parse_any_more_is_unreadable() {
        check(&[("test_a.py", TEST)], &[("test_a.py", "def test_a(:\n")], &["unreadable test_a.py"]);
    }
}
