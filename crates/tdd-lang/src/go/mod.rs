//! Go: modules whose tests `go test` runs, and what it says about them.

pub mod argv;
mod asks;
pub mod change;
mod expectation;
mod ids;
pub mod items;
mod known;
mod manifest;
mod mark;
mod mutants;
mod pieces;
pub mod project;
pub mod scaffold;
mod signs;
pub mod sort;
mod statements;
pub mod suite;
mod suites;
mod syntax;
mod tables;
pub mod test_command;
mod twins;
mod value;
mod workspace;

use std::collections::BTreeMap;
use std::ops::Range;

use tdd_core::change::{Change, Sort};
use tdd_core::command::CommandSpec;
use tdd_core::signs::Signs;
use tdd_core::test_id::TestId;

use crate::item::{Items, TestItem};
use crate::language::{Language, Measured, Project, Selection, Settings, Skip, Sources, Suite, Tool, UnknownCommand};
use crate::twin::{Boldness, Mutant, ScratchNeeds, Twins};

/// The Go language, through `go test`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Go;

impl Language for Go {
    fn name(&self) -> &'static str {
        "go"
    }

    /// `./...` ends where another module begins.
    fn reaches(&self, _: &Project, _: &str, _: &dyn Sources) -> bool {
        false
    }

    fn detect(&self, sources: &dyn Sources) -> Option<Project> {
        project::detect(sources)
    }

    fn scaffold(&self, name: &str) -> BTreeMap<String, String> {
        scaffold::scaffold(name)
    }

    fn manifest(&self) -> &'static str {
        "go.mod"
    }

    fn configured_commands(&self) -> &'static str {
        scaffold::COMMANDS
    }

    fn package_name(&self, folder: &str) -> String {
        scaffold::package_name(folder)
    }

    fn is_untested(&self, project: &Project, sources: &dyn Sources) -> bool {
        project::production_without_tests(sources, project)
    }

    fn tools(&self) -> Vec<Tool> {
        argv::tools()
    }

    fn fmt(&self, project: &Project, settings: &Settings, files: &[String], _: &dyn Sources) -> Vec<CommandSpec> {
        argv::fmt(project, settings, files).into_iter().collect()
    }

    fn check(&self, project: &Project, settings: &Settings) -> Vec<CommandSpec> {
        vec![argv::check(project, settings)]
    }

    fn suite(
        &self,
        project: &Project,
        settings: &Settings,
        selection: Selection,
    ) -> Result<Box<dyn Suite>, UnknownCommand> {
        suite::begin(project, settings, selection)
    }

    fn coverage(&self, project: &Project, settings: &Settings, paths: &[String]) -> Option<Box<dyn Suite<Measured>>> {
        suite::coverage(project, settings, paths)
    }

    fn test_command(&self, settings: &Settings) -> Vec<String> {
        suite::test_command(settings)
    }

    fn find_test(&self, id: &TestId, sources: &dyn Sources) -> Option<(String, TestItem)> {
        ids::find(id, sources)
    }

    /// Tests stand in the package that they test.
    fn imports(&self, _: &Project, _: &dyn Sources) -> Option<String> {
        None
    }

    fn tests_in(&self, project: &Project, path: &str, sources: &dyn Sources) -> Vec<TestId> {
        ids::Ids::of(project, sources).in_file(path).map(ids::Located::id).collect()
    }

    /// A file is for tests as a whole, or not at all.
    fn compose(&self, path: &str, _: Option<&str>, after: Option<&str>) -> Option<String> {
        items::is_test_file(path).then(|| after.unwrap_or_default().to_owned())
    }

    fn renamed(&self, path: &str, source: String, names: &BTreeMap<String, String>) -> String {
        let tree = if self.owns(path) { syntax::Tree::parse(&source) } else { None };
        tree.map(|tree| crate::syntax::renamed(&tree, names)).unwrap_or(source)
    }

    fn owns(&self, path: &str) -> bool {
        owns(path)
    }

    fn items(&self, path: &str, source: &str) -> Items {
        items::items(path, source)
    }

    fn sort(&self, _: &Project, path: &str, _: &dyn Sources) -> Sort {
        sort::sort(path)
    }

    fn change(&self, project: &Project, before: &dyn Sources, after: &dyn Sources, paths: &[String]) -> Change {
        change::change(project, before, after, paths)
    }

    fn twins(&self, path: &str, source: &str, test: &TestItem, seed: u64, boldness: Boldness) -> Option<Twins> {
        twins::twins(path, source, test, seed, boldness)
    }

    fn value_mutants(&self, _: &str, source: &str, lines: &[Range<usize>]) -> Vec<Mutant> {
        mutants::value_mutants(source, lines)
    }

    fn signs(&self, project: &Project, sources: &dyn Sources, paths: &[String]) -> Signs {
        signs::signs(project, sources, paths)
    }

    fn without_test(&self, path: &str, source: &str, test: &TestItem) -> Option<String> {
        mark::without_test(path, source, test)
    }

    fn skip(&self, path: &str, source: &str, test: &TestItem, reason: &str, skip: Skip) -> Option<String> {
        mark::skipped(path, source, test, reason, skip)
    }

    fn unskip(&self, path: &str, source: &str, test: &TestItem) -> Option<String> {
        mark::unskipped(path, source, test)
    }

    /// What is built lies in Go's own cache, by content.
    fn scratch(&self, _: &Project, _: &str) -> ScratchNeeds {
        ScratchNeeds::default()
    }
}

/// Whether a file is Go source.
fn owns(path: &str) -> bool {
    path.strip_suffix(".go").is_some_and(|name| !name.is_empty() && !name.ends_with('/'))
}
