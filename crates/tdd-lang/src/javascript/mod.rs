//! JavaScript and TypeScript: projects that node's own runner, vitest or jest can test, and what those say.

mod alias;
pub mod argv;
mod asks;
mod assertion;
mod call;
pub mod change;
mod expectation;
mod ids;
pub mod items;
mod manifest;
mod mark;
mod modules;
mod mutants;
mod needs;
mod pieces;
mod places;
pub mod project;
mod runner;
pub mod scaffold;
mod sense;
mod signs;
pub mod sort;
mod statements;
pub mod suite;
mod syntax;
mod tables;
pub mod test_command;
mod title;
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
use crate::language::{
    Demand, Language, Measured, Project, Selection, Settings, Skip, Sources, Suite, Tool, UnknownCommand, join,
};
use crate::twin::{Boldness, Mutant, ScratchNeeds, Twins};

/// JavaScript and TypeScript: one family of runners, two ways to begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JavaScript {
    /// JavaScript.
    #[default]
    Plain,
    /// TypeScript.
    Typed,
}

impl Language for JavaScript {
    fn name(&self) -> &'static str {
        match self {
            Self::Plain => "javascript",
            Self::Typed => "typescript",
        }
    }

    fn dialects(&self) -> Vec<Box<dyn Language>> {
        match self {
            Self::Plain => vec![Box::new(Self::Typed)],
            Self::Typed => Vec::new(),
        }
    }

    fn is_spoken(&self, project: &Project, sources: &dyn Sources) -> bool {
        *self == Self::Typed && project::is_typed(&project.root, sources)
    }

    fn detect(&self, sources: &dyn Sources) -> Option<Project> {
        project::detect(sources)
    }

    fn scaffold(&self, name: &str) -> BTreeMap<String, String> {
        scaffold::scaffold(name, *self)
    }

    fn manifest(&self) -> &'static str {
        "package.json"
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

    fn demand(&self, tool: &Tool, project: &Project, settings: &Settings, sources: &dyn Sources) -> Demand {
        needs::demand(tool, project, settings, sources)
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

    /// Tests import by a path that depends on where they stand.
    fn imports(&self, _: &Project, _: &dyn Sources) -> Option<String> {
        None
    }

    fn tests_in(&self, project: &Project, path: &str, sources: &dyn Sources) -> Vec<TestId> {
        let ids = ids::Ids::of(project, sources);
        ids.in_file(path).iter().map(|test| test.item.id(path)).collect()
    }

    /// A file is for tests as a whole, or not at all.
    fn compose(&self, path: &str, _: Option<&str>, after: Option<&str>) -> Option<String> {
        items::is_test_file(path).then(|| after.unwrap_or_default().to_owned())
    }

    fn renamed(&self, path: &str, source: String, names: &BTreeMap<String, String>) -> String {
        let tree = if self.owns(path) { syntax::Tree::parse(path, &source) } else { None };
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

    fn value_mutants(&self, path: &str, source: &str, lines: &[Range<usize>]) -> Vec<Mutant> {
        mutants::value_mutants(path, source, lines)
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

    /// Nothing is built. What is installed is linked, wherever the copy lies.
    fn scratch(&self, project: &Project, _: &str) -> ScratchNeeds {
        let links = vec![join(&project.root, "node_modules")];
        let beside = vec![(join(&project.root, "package.json"), "node_modules".to_owned())];
        // Vitest and jest look into every folder but one.
        ScratchNeeds { links, beside, is_found: true, ..ScratchNeeds::default() }
    }
}

/// Endings of source files.
const ENDINGS: [&str; 8] = ["js", "ts", "mjs", "cjs", "jsx", "tsx", "mts", "cts"];

/// Whether a file is source of ours.
fn owns(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').is_some_and(|(stem, ending)| !stem.is_empty() && ENDINGS.contains(&ending))
}
