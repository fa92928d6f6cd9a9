//! Gives each test its id, and finds the test of an id or of a name that a runner printed.

use std::collections::BTreeMap;
use std::ops::Range;

use tdd_core::digest::Digest;
use tdd_core::report::Obstacle;
use tdd_core::test_id::TestId;

use crate::item::{Slugs, TestItem};
use crate::language::{Project, Sources};

use super::call::TestCall;
use super::items::{is_test_file, located};
use super::syntax::Tree;
use super::title::{JOINT, matches, pattern};

/// A test in its source.
#[derive(Clone, Debug)]
pub(super) struct Located {
    pub item: TestItem,
    /// Its name in the form used in ids.
    printed: TestId,
    /// Whether a table produces several tests from its title.
    pub has_table: bool,
}

impl Located {
    /// The patterns that its titles must match, including those of its groups.
    pub fn patterns(&self) -> Vec<String> {
        self.item.name.split(JOINT).map(|title| pattern(title, self.has_table)).collect()
    }
}

/// The tests of a project, by file, in source order.
#[derive(Clone, Debug, Default)]
pub(super) struct Ids {
    files: BTreeMap<String, Vec<Located>>,
    /// Test files that do not parse.
    pub broken: Vec<String>,
    /// Problems with annotations.
    pub obstacles: Vec<Obstacle>,
}

impl Ids {
    /// Reads all files that may contain tests.
    pub fn of(project: &Project, sources: &dyn Sources) -> Self {
        let mut ids = Self::default();
        let mut slugs = Slugs::default();
        for (path, source) in project.texts(sources, is_test_file) {
            let Some(tree) = Tree::parse(path, &source) else { continue };
            if !tree.parses() {
                ids.broken.push(path.clone());
            }
            let tests = in_tree(&tree);
            ids.obstacles.extend(tests.iter().filter_map(|test| slugs.add(path, &test.item)));
            ids.files.insert(path.clone(), tests);
        }
        ids
    }

    /// Every test in a file.
    pub fn in_file(&self, path: &str) -> &[Located] {
        self.files.get(path).map_or(&[], Vec::as_slice)
    }

    /// The files that may contain tests, with their tests.
    pub fn files(&self) -> impl Iterator<Item = (&String, &Vec<Located>)> {
        self.files.iter()
    }

    /// The test in a file that best matches a printed name: the one whose literal text covers most of it.
    pub fn printed(&self, path: &str, name: &str) -> Option<&Located> {
        best(self.in_file(path), name)
    }

    /// The digest of all tests in a file with this test's name.
    pub fn digest(&self, path: &str, test: &Located) -> Digest {
        let same: Vec<&Located> = self.in_file(path).iter().filter(|it| it.item.name == test.item.name).collect();
        match same[..] {
            [only] => only.item.digest,
            _ => Digest::of(same.iter().map(|it| it.item.digest.as_str()).collect::<Vec<_>>().join(" ")),
        }
    }

    /// The tests with an id, each with its file.
    pub fn wanted(&self, id: &TestId) -> Vec<(&str, &Located)> {
        let Some(path) = id.path() else {
            let all = self.files.iter().flat_map(|(path, tests)| tests.iter().map(move |test| (path.as_str(), test)));
            return all.filter(|(_, test)| test.item.annotation.as_deref() == Some(id.as_str())).collect();
        };
        let Some((path, _)) = self.files.get_key_value(path) else { return Vec::new() };
        self.printed(path, id.name().unwrap_or_default()).map(|test| (path.as_str(), test)).into_iter().collect()
    }

    pub fn is_empty(&self) -> bool {
        self.files.values().all(Vec::is_empty)
    }
}

fn in_tree(tree: &Tree<'_>) -> Vec<Located> {
    let has_table = |modifiers: &[String]| modifiers.iter().any(|it| it == "each" || it == "for");
    // If a group around a test has a table, the test has one too.
    let is_of_table = |call: &usize| {
        let function = tree.child(*call, "function").map_or("", |function| tree.text(function));
        function.contains(".each") || function.contains(".for(")
    };
    let calls = (0..tree.len()).filter(|node| tree.kind(*node) == "call_expression");
    let tables: Vec<Range<usize>> = calls.filter(is_of_table).map(|call| tree.range(call)).collect();
    let in_table = |span: &Range<usize>| tables.iter().any(|table| table.start < span.start && span.end < table.end);
    let read = |(item, test_call): (TestItem, TestCall)| Located {
        printed: one_line(&item.name),
        has_table: has_table(&test_call.modifiers) || in_table(&item.span),
        item,
    };
    located(tree).into_iter().map(read).collect()
}

fn best<'l>(tests: &'l [Located], name: &str) -> Option<&'l Located> {
    let printed = one_line(name);
    let exact = tests.iter().find(|test| test.printed == printed);
    exact.or_else(|| {
        let fits = tests.iter().filter_map(|test| Some((matches(&test.item.name, test.has_table, name)?, test)));
        fits.max_by_key(|(known, _)| *known).map(|(_, test)| test)
    })
}

/// A name in the form used in ids.
fn one_line(name: &str) -> TestId {
    TestId::native("", name)
}

/// A test's file and source.
pub(super) fn find(id: &TestId, sources: &dyn Sources) -> Option<(String, TestItem)> {
    let tests = |path: &str| {
        let source = sources.read(path)?;
        Some(in_tree(&Tree::parse(path, &source)?))
    };
    if let Some(path) = id.path().filter(|path| is_test_file(path)) {
        let found = best(&tests(path)?, id.name().unwrap_or_default())?.item.clone();
        return Some((path.to_owned(), found));
    }
    sources.files().iter().filter(|path| is_test_file(path)).find_map(|path| {
        let found = tests(path)?.into_iter().find(|test| test.item.annotation.as_deref() == Some(id.as_str()))?;
        Some((path.clone(), found.item))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::memory;

    const SOURCE: &str = "describe('a', () => {\n  test('b', () => {})\n  // @tdd-test-id: slug\n  test.each([1])('c %i', () => {})\n})\n\
                          for (const n of [1]) test(`d ${n}`, () => {})\n";

    #[test]
    fn a_test_is_found_by_its_name_its_case_or_its_slug() {
        let sources = memory(&[("a.test.js", SOURCE)]);
        for (id, name) in [
            ("a.test.js::a > b", "a > b"),
            ("a.test.js::a > c 1", "a > c %i"),
            ("a.test.js::a > c %i", "a > c %i"),
            ("a.test.js::d 7", "d ${n}"),
            ("slug", "a > c %i"),
        ] {
            let found = find(&TestId::parse(id).unwrap(), &sources).unwrap();
            assert_eq!((found.0.as_str(), found.1.name.as_str()), ("a.test.js", name));
        }
        assert_eq!(find(&TestId::parse("a.test.js::b").unwrap(), &sources), None);
    }

    #[test]
    fn a_slug_takes_the_place_of_the_name_and_is_given_once() {
        let again = "// @tdd-test-id: slug\ntest('e', () => {})\n";
        let sources = memory(&[("a.test.js", SOURCE), ("b.test.js", again)]);
        let ids = Ids::of(&Project { root: String::new(), description: String::new() }, &sources);
        let found: Vec<String> =
            ids.in_file("a.test.js").iter().map(|it| it.item.id("a.test.js").to_string()).collect();
        assert_eq!(found, ["a.test.js::a > b", "slug", "a.test.js::d ${n}"]);
        assert!(ids.obstacles[0].message.contains("is given twice"));
    }
}
