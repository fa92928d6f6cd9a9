//! Any other language: finds tests by the words that test frameworks use, and reads results from a JUnit report.
//!
//! There is no syntax tree, so a change is judged by lines, and unclear lines count as part of a test. Tests cannot be
//! copied here, so there is no counter-proof.

mod change;
mod items;
mod sort;

use std::collections::{BTreeMap, BTreeSet};

use tdd_core::change::{Change, Sort};
use tdd_core::signs::{Place, Signs, TestSigns};
use tdd_core::test_id::TestId;

use crate::item::{Items, TestItem};
use crate::language::{Language, Project, Selection, Settings, Skip, Sources, Suite, Tool, UnknownCommand};
use crate::twin::{AlterationMode, Twins};

/// A project of which only the commands are known.
#[derive(Clone, Copy, Debug)]
pub struct Other;

impl Language for Other {
    fn name(&self) -> &'static str {
        "other"
    }

    /// Manifests are unknown, so the project is the innermost folder around all files: the repository's root, or the
    /// configured folder.
    fn detect(&self, sources: &dyn Sources) -> Option<Project> {
        let mut folders = sources.files().iter().map(|file| file.rsplit_once('/').map_or("", |(folder, _)| folder));
        let first = folders.next()?;
        let root = folders.fold(first, |root, folder| common(root, folder));
        Some(Project { root: root.to_owned(), description: "project with a JUnit report".to_owned() })
    }

    fn is_untested(&self, project: &Project, sources: &dyn Sources) -> bool {
        let sorted = |sort: Sort| {
            sources.files().iter().any(|path| project.relative_path(path).is_some() && sort::sort(path) == sort)
        };
        sorted(Sort::Production) && !sorted(Sort::Test)
    }

    fn tools(&self) -> Vec<Tool> {
        Vec::new()
    }

    fn suite(&self, _: &Project, settings: &Settings, _: Selection) -> Result<Box<dyn Suite>, UnknownCommand> {
        let command = self.test_command(settings).join(" ");
        Err(UnknownCommand { command, reason: "it needs `ci.junit`, the report that it writes".into() })
    }

    fn default_test_command(&self) -> &'static [&'static str] {
        &["make", "test"]
    }

    fn find_test(&self, id: &TestId, sources: &dyn Sources) -> Option<(String, TestItem)> {
        let is_test = |path: &&String| sort::sort(path) == Sort::Test;
        let paths: Vec<&String> = match id.path() {
            Some(path) => sources.files().iter().filter(|known| *known == path).collect(),
            None => sources.files().iter().filter(is_test).collect(),
        };
        paths.into_iter().find_map(|path| {
            let tests = items::items(&sources.read(path)?).tests;
            let test = tests.into_iter().find(|test| test_id(path, test) == *id)?;
            Some((path.clone(), test))
        })
    }

    fn tests_in(&self, _: &Project, path: &str, sources: &dyn Sources) -> Vec<TestId> {
        if !sort::is_test_source(path) {
            return Vec::new();
        }
        let tests = sources.read(path).map(|source| items::items(&source).tests).unwrap_or_default();
        tests.iter().map(|test| test_id(path, test)).collect()
    }

    fn is_test_file(&self, path: &str) -> bool {
        sort::is_test_source(path)
    }

    /// Production files are compared as a whole.
    fn owns(&self, path: &str) -> bool {
        sort::is_test_source(path)
    }

    fn items(&self, path: &str, source: &str) -> Items {
        if sort::is_test_source(path) { items::items(source) } else { Items { parses: true, ..Items::default() } }
    }

    fn sort(&self, _: &Project, path: &str, _: &dyn Sources) -> Sort {
        sort::sort(path)
    }

    fn change(&self, _: &Project, before: &dyn Sources, after: &dyn Sources, paths: &[String]) -> Change {
        change::change(before, after, paths)
    }

    fn twins(&self, _: &str, _: &str, _: &TestItem, _: u64, _: AlterationMode) -> Option<Twins> {
        None
    }

    fn signs(&self, _: &Project, sources: &dyn Sources, paths: &[String]) -> Signs {
        let mut signs = Signs::default();
        for path in paths.iter().filter(|path| sort::is_test_source(path)) {
            let tests = sources.read(path).map(|source| items::items(&source).tests).unwrap_or_default();
            signs.tests.extend(tests.iter().map(|test| test_signs(path, test)));
        }
        signs
    }

    fn without_test(&self, _: &str, source: &str, test: &TestItem) -> Option<String> {
        items::without(source, test)
    }

    fn skip(&self, _: &str, _: &str, _: &TestItem, _: &str, _: Skip) -> Option<String> {
        None
    }

    fn unskip(&self, _: &str, _: &str, _: &TestItem) -> Option<String> {
        None
    }
}

/// The innermost folder around both.
fn common<'a>(one: &'a str, other: &str) -> &'a str {
    let is_in = |folder: &str| other == folder || other.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
    let folders = std::iter::successors(Some(one), |folder| folder.rsplit_once('/').map(|(outer, _)| outer));
    folders.take_while(|folder| !folder.is_empty()).find(|folder| is_in(folder)).unwrap_or("")
}

fn test_id(path: &str, test: &TestItem) -> TestId {
    let annotated = test.annotation.as_deref().and_then(|slug| TestId::annotation(slug).ok());
    annotated.unwrap_or_else(|| TestId::native(path, &test.name))
}

fn test_signs(path: &str, test: &TestItem) -> TestSigns {
    TestSigns {
        at: Place::new(path, test.line),
        name: test.name.clone(),
        asserts: !test.assertions.is_empty(),
        assertions: test.assertions.len(),
        mocks: Vec::new(),
        subjects: Vec::new(),
        samples: Vec::new(),
        reaches: BTreeSet::new(),
        asks: BTreeMap::new(),
    }
}
