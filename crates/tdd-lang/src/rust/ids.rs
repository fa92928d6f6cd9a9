//! Gives each test its id, and finds the tests of an id.

use std::collections::BTreeMap;

use tdd_core::report::{Cause, Obstacle};
use tdd_core::test_id::TestId;

use crate::item::TestItem;
use crate::language::Sources;

use super::items::items;
use super::modules::{Located, ModuleTree, ParsedFiles};

/// A test as cargo and libtest name it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The root file of its target, relative to the repository's root.
    pub root: String,
    /// The test's name in libtest.
    pub name: String,
}

/// The ids of a project's tests.
///
/// An id usually has one place. It has several if a file belongs to several targets (`mod common;` in two integration
/// tests, a module of both `lib.rs` and `main.rs`), or if a function has several cases. Then the id passes only if all
/// of its places do.
#[derive(Clone, Debug, Default)]
pub struct Ids {
    /// By the target's root file, then by libtest's name.
    ids: BTreeMap<String, BTreeMap<String, TestId>>,
    tests: BTreeMap<TestId, (Located, Vec<Place>)>,
}

/// An annotation that cannot be a test's id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadAnnotation {
    /// Two tests have the same id.
    #[error("the test id `{slug}` is given twice, at {first} and at {second}; rename one of them")]
    Twice {
        /// The slug.
        slug: String,
        /// One test, as `path:line`.
        first: String,
        /// The other test, as `path:line`.
        second: String,
    },
    /// The text is not a valid slug.
    #[error("`{slug}` at {place} cannot be a test id; use letters, digits, `-`, `_` and `.`")]
    NotASlug {
        /// The annotation's text.
        slug: String,
        /// The test, as `path:line`.
        place: String,
    },
}

impl Ids {
    /// The ids of these tests. A test named twice counts once.
    pub fn new(tests: impl IntoIterator<Item = Place>, sources: &dyn Sources) -> Result<Self, BadAnnotation> {
        let mut files = ParsedFiles::new(sources);
        let mut trees: BTreeMap<String, ModuleTree> = BTreeMap::new();
        let mut ids = Self::default();
        for place in tests {
            let tree = trees.entry(place.root.clone()).or_insert_with(|| ModuleTree::build(&place.root, &mut files));
            let located = tree.locate(&place.name);
            ids.add(place, located)?;
        }
        Ok(ids)
    }

    /// The id of the test `name` in the target with this root file.
    pub fn id(&self, root: &str, name: &str) -> Option<&TestId> {
        self.ids.get(root)?.get(name)
    }

    /// The places of an id; none if it is unknown.
    pub fn places(&self, id: &TestId) -> &[Place] {
        self.tests.get(id).map_or(&[], |(_, places)| places)
    }

    /// Where an id's tests are in the source.
    pub fn located(&self, id: &TestId) -> Option<&Located> {
        self.tests.get(id).map(|(located, _)| located)
    }

    /// Every id with its places, sorted.
    pub fn iter(&self) -> impl Iterator<Item = (&TestId, &[Place])> {
        self.tests.iter().map(|(id, (_, places))| (id, places.as_slice()))
    }

    fn add(&mut self, place: Place, located: Located) -> Result<(), BadAnnotation> {
        let id = id_of(&located)?;
        let names = self.ids.entry(place.root.clone()).or_default();
        if names.insert(place.name.clone(), id.clone()).is_some() {
            return Ok(());
        }
        match self.tests.get_mut(&id) {
            None => drop(self.tests.insert(id, (located, vec![place]))),
            Some((known, places)) if is_same(known, &located) => places.push(place),
            Some((known, _)) => {
                let (first, second) = (position(known), position(&located));
                return Err(BadAnnotation::Twice { slug: id.as_str().to_owned(), first, second });
            }
        }
        Ok(())
    }
}

impl BadAnnotation {
    /// The error as an obstacle in a report. None of the tests can be run, because they cannot be told apart.
    pub fn obstacle(&self) -> Obstacle {
        let (slug, place) = match self {
            Self::Twice { slug, second, .. } => (slug, second),
            Self::NotASlug { slug, place } => (slug, place),
        };
        let (subject, place) = (format!("@tdd-test-id: {slug}"), Some(place.clone()));
        Obstacle { place, ..Obstacle::new(subject, Cause::LoadFailure, self.to_string()) }
    }
}

/// A test's file and source: for a native id, the test in its file whose name is the end of the runner's name; for a
/// slug, the test annotated with it.
pub fn find(id: &TestId, sources: &dyn Sources) -> Option<(String, TestItem)> {
    let in_file = |path: &str, wanted: &dyn Fn(&TestItem) -> bool| {
        let items = items(path, &sources.read(path)?);
        let found = items.tests.into_iter().filter(|test| wanted(test)).max_by_key(|test| test.name.len())?;
        Some((path.to_owned(), found))
    };
    let (Some(path), Some(name)) = (id.path(), id.name()) else {
        let wanted = |test: &TestItem| test.annotation.as_deref() == Some(id.as_str());
        return sources.files().iter().filter(|path| super::owns(path)).find_map(|path| in_file(path, &wanted));
    };
    in_file(path, &|test| name == test.name || name.ends_with(&format!("::{}", test.name)))
}

fn id_of(located: &Located) -> Result<TestId, BadAnnotation> {
    match located.item.as_ref().and_then(|item| item.annotation.as_deref()) {
        None => Ok(TestId::native(&located.path, &located.name)),
        Some(slug) => TestId::annotation(slug)
            .map_err(|_| BadAnnotation::NotASlug { slug: slug.to_owned(), place: position(located) }),
    }
}

/// Whether both are the same function in the same file, or come from macros in the same file.
fn is_same(one: &Located, other: &Located) -> bool {
    let span = |located: &Located| located.item.as_ref().map(|item| item.span.clone());
    one.path == other.path && span(one) == span(other)
}

fn position(located: &Located) -> String {
    match &located.item {
        Some(item) => format!("{}:{}", located.path, item.line),
        None => located.path.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::memory;

    fn ids(files: &[(&str, &str)], tests: &[(&str, &str)]) -> Result<Ids, BadAnnotation> {
        let place = |(root, name): &(&str, &str)| Place { root: (*root).to_owned(), name: (*name).to_owned() };
        Ids::new(tests.iter().map(place), &memory(files))
    }

    /// Checks every id with its places, one per line.
    fn check(files: &[(&str, &str)], tests: &[(&str, &str)], expected: &[&str]) {
        let ids = ids(files, tests).unwrap();
        let show = |(id, places): (&TestId, &[Place])| {
            let places: Vec<_> = places.iter().map(|place| format!("{} {}", place.root, place.name)).collect();
            format!("{id} = {}", places.join(", "))
        };
        assert_eq!(ids.iter().map(show).collect::<Vec<_>>(), expected);
        for (root, name) in tests {
            let id = ids.id(root, name).unwrap();
            assert!(ids.places(id).iter().any(|place| place.root == *root && place.name == *name), "{root} {name}");
        }
    }

    const TEST: &str = "#[test] fn x() {}";

    #[test]
    fn an_id_is_the_file_and_the_name_of_libtest() {
        let files = [("src/lib.rs", "mod a;"), ("src/a.rs", "mod tests { #[test] fn x() {} }"), ("tests/c.rs", TEST)];
        let tests = [("src/lib.rs", "a::tests::x"), ("tests/c.rs", "x")];
        check(&files, &tests, &["src/a.rs::a::tests::x = src/lib.rs a::tests::x", "tests/c.rs::x = tests/c.rs x"]);
    }

    #[test]
    fn an_annotation_is_the_id() {
        let files = [("tests/c.rs", "// @tdd-test-id: adds\n#[test] fn x() {}")];
        check(&files, &[("tests/c.rs", "x")], &["adds = tests/c.rs x"]);
    }

    #[test]
    fn tests_of_one_name_in_two_targets_stay_apart() {
        let files = [("tests/a.rs", TEST), ("tests/b.rs", TEST)];
        let tests = [("tests/a.rs", "x"), ("tests/b.rs", "x")];
        check(&files, &tests, &["tests/a.rs::x = tests/a.rs x", "tests/b.rs::x = tests/b.rs x"]);
    }

    #[test]
    fn a_test_in_a_file_of_two_targets_is_one_id_with_two_places() {
        let common = "// @tdd-test-id: slug\n#[test] fn y() {}\n#[test] fn x() {}";
        let files = [("tests/a.rs", "mod common;"), ("tests/b.rs", "mod common;"), ("tests/common/mod.rs", common)];
        let names = ["common::x", "common::y"];
        let tests: Vec<_> =
            ["tests/a.rs", "tests/b.rs"].iter().flat_map(|root| names.map(|name| (*root, name))).collect();
        check(
            &files,
            &tests,
            &[
                "slug = tests/a.rs common::y, tests/b.rs common::y",
                "tests/common/mod.rs::common::x = tests/a.rs common::x, tests/b.rs common::x",
            ],
        );
    }

    #[test]
    fn the_cases_of_a_function_share_its_slug_but_not_its_name() {
        let files = [("tests/a.rs", "// @tdd-test-id: s\n#[rstest] fn x() {}\n\n\n\n#[rstest] fn y() {}")];
        let tests = [("tests/a.rs", "x::case_1"), ("tests/a.rs", "x::case_2"), ("tests/a.rs", "y::case_1")];
        check(
            &files,
            &tests,
            &["s = tests/a.rs x::case_1, tests/a.rs x::case_2", "tests/a.rs::y = tests/a.rs y::case_1"],
        );
    }

    #[test]
    fn a_test_that_is_named_twice_has_one_place() {
        check(&[("tests/a.rs", TEST)], &[("tests/a.rs", "x"), ("tests/a.rs", "x")], &["tests/a.rs::x = tests/a.rs x"]);
    }

    #[test]
    fn a_slug_that_two_tests_have_is_refused_and_both_are_named() {
        let slug = "// @tdd-test-id: s\n#[test] fn x() {}";
        let refused = ids(&[("tests/a.rs", slug), ("tests/b.rs", slug)], &[("tests/a.rs", "x"), ("tests/b.rs", "x")]);
        let obstacle = refused.unwrap_err().obstacle();
        assert_eq!(
            obstacle.message,
            "the test id `s` is given twice, at tests/a.rs:2 and at tests/b.rs:2; rename one of them"
        );
        assert_eq!((obstacle.subject.as_str(), obstacle.place.as_deref()), ("@tdd-test-id: s", Some("tests/b.rs:2")));
    }

    #[test]
    fn an_annotation_that_is_no_slug_is_refused() {
        let refused = ids(&[("tests/a.rs", "// @tdd-test-id: a::b\n#[test] fn x() {}")], &[("tests/a.rs", "x")]);
        let message = "`a::b` at tests/a.rs:2 cannot be a test id; use letters, digits, `-`, `_` and `.`";
        assert_eq!(refused.unwrap_err().to_string(), message);
    }

    #[test]
    fn thousands_of_tests_are_found_in_one_pass() {
        let source = (0..5_000).map(|n| format!("#[test] fn t{n}() {{}}")).collect::<Vec<_>>().join("\n");
        let places = (0..5_000).map(|n| Place { root: "tests/a.rs".to_owned(), name: format!("t{n}") });
        assert_eq!(Ids::new(places, &memory(&[("tests/a.rs", &source)])).unwrap().iter().count(), 5_000);
    }

    #[test]
    fn an_unknown_test_has_no_id_and_an_unknown_id_no_place() {
        let ids = ids(&[("tests/a.rs", TEST)], &[("tests/a.rs", "x")]).unwrap();
        let unknown = TestId::parse("tests/a.rs::y").unwrap();
        assert_eq!((ids.id("tests/a.rs", "y"), ids.places(&unknown)), (None, &[][..]));
        assert!(ids.located(&unknown).is_none());
    }
}
