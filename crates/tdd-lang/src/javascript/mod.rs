//! Support for JavaScript and TypeScript: projects tested by node's runner, vitest or jest.

mod alias;
mod alter;
pub mod argv;
mod asks;
mod assertion;
mod call;
pub mod change;
mod expectation;
mod ids;
mod intrusions;
pub mod items;
mod manifest;
mod mark;
mod merge;
mod modules;
mod needs;
mod pieces;
mod places;
mod plain;
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
mod uses;
mod value;
mod workspace;

use std::collections::BTreeMap;

use tdd_core::change::Sort;
use tdd_core::test_id::TestId;

use crate::alter::{Instrumented, Request};
use crate::item::Items;
use crate::language::{Demand, Language, Project, Settings, Sources, Tool, answered_by_modules, has_ending, join};
use crate::plain::{Copies, PlainProgram};
use crate::twin::ScratchNeeds;

/// JavaScript or TypeScript: the runners are the same, the scaffolds differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JavaScript {
    /// JavaScript.
    #[default]
    Plain,
    /// TypeScript.
    Typed,
}

impl Language for JavaScript {
    answered_by_modules!();

    fn instrument(&self, request: &Request<'_>) -> Option<Instrumented> {
        alter::instrument(request)
    }

    fn has_runner(&self, project: &Project, sources: &dyn Sources) -> bool {
        runner::is_set_up(project, sources)
    }

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

    fn is_dialect_of(&self, project: &Project, sources: &dyn Sources) -> bool {
        *self == Self::Typed && project::is_typed(&project.root, sources)
    }

    fn scaffold(&self, name: &str) -> BTreeMap<String, String> {
        scaffold::scaffold(name, *self)
    }

    fn demand(&self, tool: &Tool, project: &Project, settings: &Settings, sources: &dyn Sources) -> Demand {
        needs::demand(tool, project, settings, sources)
    }

    fn formatter(&self, files: Vec<&str>) -> Option<Vec<String>> {
        argv::formatter(&files)
    }

    fn tests_in(&self, project: &Project, path: &str, sources: &dyn Sources) -> Vec<TestId> {
        let ids = ids::Ids::of(project, sources);
        ids.in_file(path).iter().map(|test| test.item.id(path)).collect()
    }

    fn is_test_file(&self, path: &str) -> bool {
        items::is_test_file(path)
    }

    fn renamed(&self, path: &str, source: String, names: &BTreeMap<String, String>) -> String {
        let tree = if self.owns(path) { syntax::Tree::parse(path, &source) } else { None };
        tree.map(|tree| crate::syntax::renamed(&tree, names)).unwrap_or(source)
    }

    fn items(&self, path: &str, source: &str) -> Items {
        items::items(path, source)
    }

    fn sort(&self, _: &Project, path: &str, _: &dyn Sources) -> Sort {
        sort::sort(path)
    }

    fn plainly(&self, copies: &Copies<'_>) -> Option<PlainProgram> {
        plain::plainly(copies)
    }

    /// Nothing is built; installed packages are linked into the scratch copy.
    fn scratch(&self, project: &Project, _: &str) -> ScratchNeeds {
        let links = vec![join(&project.root, "node_modules")];
        let beside = vec![(join(&project.root, "package.json"), "node_modules".to_owned())];
        // Vitest and jest search every folder except `node_modules`.
        ScratchNeeds { links, beside, runner_finds_copy: true, ..ScratchNeeds::default() }
    }
}

/// File endings of source files.
const ENDINGS: [&str; 8] = ["js", "ts", "mjs", "cjs", "jsx", "tsx", "mts", "cts"];

/// Whether a file is JavaScript or TypeScript source.
fn owns(path: &str) -> bool {
    has_ending(path, &ENDINGS)
}
