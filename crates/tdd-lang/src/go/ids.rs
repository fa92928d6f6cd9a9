//! Gives each test its id, and finds tests by id.

use std::collections::BTreeMap;

use tdd_core::report::Obstacle;
use tdd_core::test_id::TestId;

use crate::item::{Slugs, TestItem};
use crate::language::{Project, Sources};

use super::items::{is_test_file, items};

/// A test function and its file.
#[derive(Clone, Debug)]
pub(super) struct Located {
    pub path: String,
    pub item: TestItem,
}

impl Located {
    pub fn id(&self) -> TestId {
        self.item.id(&self.path)
    }

    /// Whether its file is in this folder itself.
    pub fn is_in(&self, folder: &str) -> bool {
        self.path.rsplit_once('/').map_or("", |(own, _)| own) == folder
    }
}

/// The tests of a module.
#[derive(Clone, Debug, Default)]
pub(super) struct Ids {
    tests: Vec<Located>,
    by_name: BTreeMap<String, Vec<usize>>,
    /// Problems with annotations.
    pub obstacles: Vec<Obstacle>,
}

impl Ids {
    /// Reads all test files.
    pub fn of(project: &Project, sources: &dyn Sources) -> Self {
        let mut ids = Self::default();
        let mut slugs = Slugs::default();
        for (path, source) in project.texts(sources, is_test_file) {
            for item in items(path, &source).tests {
                ids.obstacles.extend(slugs.add(path, &item));
                ids.by_name.entry(item.name.clone()).or_default().push(ids.tests.len());
                ids.tests.push(Located { path: path.clone(), item });
            }
        }
        ids
    }

    pub fn in_file<'i>(&'i self, path: &'i str) -> impl Iterator<Item = &'i Located> {
        self.tests.iter().filter(move |test| test.path == path)
    }

    /// The tests in the files of a folder.
    pub fn in_folder<'i>(&'i self, folder: &'i str) -> impl Iterator<Item = &'i Located> {
        self.tests.iter().filter(move |test| test.is_in(folder))
    }

    /// The tests with this name.
    pub fn named(&self, name: &str) -> impl Iterator<Item = &Located> {
        self.by_name.get(name).into_iter().flatten().map(|number| &self.tests[*number])
    }

    /// The test with this id, and the subtest if the id names one: `TestX/sub`.
    pub fn get(&self, id: &TestId) -> Option<(&Located, Option<String>)> {
        let Some(path) = id.path() else {
            let wanted = |test: &&Located| test.item.annotation.as_deref() == Some(id.as_str());
            return self.tests.iter().find(wanted).map(|test| (test, None));
        };
        let name = id.as_str().split_once("::").map_or("", |(_, name)| name);
        let (name, part) = name.split_once('/').map_or((name, None), |(name, part)| (name, Some(part.to_owned())));
        let found = self.named(name).find(|test| test.path == path);
        found.map(|test| (test, part))
    }

    pub fn is_empty(&self) -> bool {
        self.tests.is_empty()
    }
}

/// Finds a test by its id: its file and its item.
pub(super) fn find(id: &TestId, sources: &dyn Sources) -> Option<(String, TestItem)> {
    let everywhere = Project { root: String::new(), description: String::new() };
    Ids::of(&everywhere, sources).get(id).map(|(test, _)| (test.path.clone(), test.item.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::memory;

    const SOURCE: &str =
        "package a\n\nfunc TestA(t *testing.T) {}\n\n// @tdd-test-id: slug\nfunc TestB(t *testing.T) {}\n";

    #[test]
    fn a_test_is_found_by_its_name_its_part_or_its_slug() {
        let sources = memory(&[("a/a_test.go", SOURCE)]);
        for (id, name) in [("a/a_test.go::TestA", "TestA"), ("a/a_test.go::TestB/x_y", "TestB"), ("slug", "TestB")] {
            let found = find(&TestId::parse(id).unwrap(), &sources).unwrap();
            assert_eq!((found.0.as_str(), found.1.name.as_str()), ("a/a_test.go", name));
        }
        assert_eq!(find(&TestId::parse("a/a_test.go::TestC").unwrap(), &sources), None);
    }

    #[test]
    fn a_slug_is_given_once() {
        let sources = memory(&[("a_test.go", SOURCE), ("b/b_test.go", SOURCE)]);
        let ids = Ids::of(&Project { root: String::new(), description: String::new() }, &sources);
        assert!(ids.obstacles[0].message.contains("is given twice"));
        assert_eq!(
            ids.in_folder("b").map(|test| test.id().to_string()).collect::<Vec<_>>(),
            ["b/b_test.go::TestA", "slug"]
        );
    }
}
