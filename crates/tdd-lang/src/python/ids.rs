//! Gives each test its id, and finds tests by id.

use std::collections::BTreeMap;

use tdd_core::report::Obstacle;
use tdd_core::test_id::TestId;

use crate::item::{Slugs, TestItem};
use crate::language::{Project, Sources};

use super::items::items;
use super::names::Names;
use super::project::detect;

/// A test function and its file.
#[derive(Clone, Debug)]
pub(super) struct Located {
    pub path: String,
    pub item: TestItem,
}

/// The tests of a project, by pytest's node id without a case.
#[derive(Clone, Debug, Default)]
pub(super) struct Ids {
    tests: BTreeMap<String, Vec<Located>>,
    /// Problems with annotations.
    pub obstacles: Vec<Obstacle>,
}

impl Ids {
    /// Reads all files that may hold tests.
    pub fn of(project: &Project, sources: &dyn Sources) -> Self {
        let mut ids = Self::default();
        let mut slugs = Slugs::default();
        let names = Names::of(project, sources);
        for (path, source) in project.texts(sources, |path| names.is_test_file(path)) {
            for item in items(path, &source, &names).tests {
                ids.obstacles.extend(slugs.add(path, &item));
                let located = Located { path: path.clone(), item };
                ids.tests.entry(format!("{path}::{}", located.item.name)).or_default().push(located);
            }
        }
        ids
    }

    /// Every test of a file, in the order of their names.
    pub fn in_file<'i>(&'i self, path: &'i str) -> impl Iterator<Item = (&'i str, &'i Located)> {
        let all = self.tests.iter().filter_map(|(id, tests)| Some((id.as_str(), tests.last()?)));
        all.filter(move |(_, test)| test.path == path)
    }

    /// The test with this node id, which names no case.
    pub fn get(&self, node: &str) -> Option<&Located> {
        self.tests.get(node).and_then(|tests| tests.last())
    }

    /// How many tests have this node id; once the file is loaded, only the last one exists.
    pub fn count(&self, node: &str) -> usize {
        self.tests.get(node).map_or(0, Vec::len)
    }

    /// The test id for a node id.
    pub fn id(&self, node: &str) -> TestId {
        let slug = self.get(node).and_then(|test| test.item.annotation.as_deref());
        slug.and_then(|slug| TestId::annotation(slug).ok()).unwrap_or_else(|| native(node))
    }

    /// The node id for a test id.
    pub fn node(&self, id: &TestId) -> Option<String> {
        if id.path().is_some() {
            return Some(id.as_str().to_owned());
        }
        let has_slug =
            |tests: &&Vec<Located>| tests.iter().any(|test| test.item.annotation.as_deref() == Some(id.as_str()));
        self.tests.iter().find(|(_, tests)| has_slug(tests)).map(|(node, _)| node.clone())
    }

    pub fn is_empty(&self) -> bool {
        self.tests.is_empty()
    }
}

fn native(node: &str) -> TestId {
    let (path, name) = node.split_once("::").unwrap_or((node, ""));
    TestId::native(path, name)
}

/// A node id without its case: `a.py::test_x[1-2]` becomes `a.py::test_x`.
pub(super) fn without_case(node: &str) -> &str {
    let name = node.find("::").map_or(0, |at| at + 2);
    node[name..].find('[').map_or(node, |at| &node[..name + at])
}

/// Finds a test by its id: its file and its item.
pub(super) fn find(id: &TestId, sources: &dyn Sources) -> Option<(String, TestItem)> {
    let names = detect(sources).map_or_else(Names::default, |project| Names::of(&project, sources));
    let in_file = |path: &str, wanted: &dyn Fn(&TestItem) -> bool| {
        let tests = items(path, &sources.read(path)?, &names).tests;
        Some((path.to_owned(), tests.into_iter().rev().find(|test| wanted(test))?))
    };
    let Some(path) = id.path() else {
        let wanted = |test: &TestItem| test.annotation.as_deref() == Some(id.as_str());
        return sources.files().iter().filter(|path| names.is_test_file(path)).find_map(|path| in_file(path, &wanted));
    };
    let node = without_case(id.as_str());
    let name = node.split_once("::").map_or("", |(_, name)| name);
    in_file(path, &|test| test.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::memory;

    const SOURCE: &str = "def test_a(): pass\n# @tdd-test-id: slug\ndef test_b(x): pass\n";

    #[test]
    fn a_test_is_found_by_its_name_its_case_or_its_slug() {
        let sources = memory(&[("tests/test_a.py", SOURCE)]);
        for (id, name) in
            [("tests/test_a.py::test_a", "test_a"), ("tests/test_a.py::test_b[1-x]", "test_b"), ("slug", "test_b")]
        {
            let found = find(&TestId::parse(id).unwrap(), &sources).unwrap();
            assert_eq!((found.0.as_str(), found.1.name.as_str()), ("tests/test_a.py", name));
        }
        assert_eq!(find(&TestId::parse("tests/test_a.py::test_c").unwrap(), &sources), None);
    }

    #[test]
    fn a_slug_takes_the_place_of_the_name_and_is_given_once() {
        let sources =
            memory(&[("tests/test_a.py", SOURCE), ("tests/test_b.py", "# @tdd-test-id: slug\ndef test_c(): pass\n")]);
        let ids = Ids::of(&Project { root: String::new(), description: String::new() }, &sources);
        assert_eq!(ids.id("tests/test_a.py::test_b").as_str(), "slug");
        assert!(ids.obstacles[0].message.contains("is given twice"));
    }
}
