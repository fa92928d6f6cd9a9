//! Go: modules whose tests run with `go test`.

mod alter;
pub mod argv;
mod asks;
pub mod change;
mod expectation;
mod ids;
mod intrusions;
pub mod items;
mod known;
mod manifest;
mod mark;
mod merge;
mod pieces;
mod plain;
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
mod uses;
mod value;
mod workspace;

use std::collections::BTreeMap;

use tdd_core::change::Sort;
use tdd_core::test_id::TestId;

use crate::alter::{Instrumented, Request};
use crate::item::Items;
use crate::language::{Language, Project, Sources, answered_by_modules, has_ending};
use crate::plain::{Copies, PlainProgram};

/// The Go language, through `go test`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Go;

impl Language for Go {
    answered_by_modules!();

    fn instrument(&self, request: &Request<'_>) -> Option<Instrumented> {
        alter::instrument(request)
    }

    fn name(&self) -> &'static str {
        "go"
    }

    /// `./...` stops where another module begins.
    fn reaches(&self, _: &Project, _: &str, _: &dyn Sources) -> bool {
        false
    }

    fn scaffold(&self, name: &str) -> BTreeMap<String, String> {
        scaffold::scaffold(name)
    }

    fn formatter(&self, files: Vec<&str>) -> Option<Vec<String>> {
        argv::formatter(&files)
    }

    fn tests_in(&self, project: &Project, path: &str, sources: &dyn Sources) -> Vec<TestId> {
        ids::Ids::of(project, sources).in_file(path).map(ids::Located::id).collect()
    }

    fn is_test_file(&self, path: &str) -> bool {
        items::is_test_file(path)
    }

    fn renamed(&self, path: &str, source: String, names: &BTreeMap<String, String>) -> String {
        let tree = if self.owns(path) { syntax::Tree::parse(&source) } else { None };
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
}

/// Whether a file is Go source.
fn owns(path: &str) -> bool {
    has_ending(path, &["go"])
}
