//! Python: projects whose tests run with pytest.

mod alter;
pub mod argv;
mod asks;
pub mod change;
mod expectation;
mod ids;
mod intrusions;
pub mod items;
mod manifest;
mod mark;
mod merge;
mod modules;
mod names;
mod pieces;
mod plain;
pub mod project;
pub mod scaffold;
mod signs;
pub mod sort;
mod statements;
pub mod suite;
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
use crate::language::{Language, Project, Sources, answered_by_modules, has_ending, join};
use crate::plain::{Copies, PlainProgram};
use crate::twin::ScratchNeeds;

/// The Python language, through pytest.
#[derive(Clone, Copy, Debug, Default)]
pub struct Python;

impl Language for Python {
    answered_by_modules!();

    fn instrument(&self, request: &Request<'_>) -> Option<Instrumented> {
        alter::instrument(request)
    }

    fn has_runner(&self, project: &Project, sources: &dyn Sources) -> bool {
        names::names_pytest(project, sources)
    }

    fn name(&self) -> &'static str {
        "python"
    }

    fn is_manifest(&self, name: &str) -> bool {
        project::is_manifest(name)
    }

    fn scaffold(&self, name: &str) -> BTreeMap<String, String> {
        scaffold::scaffold(name)
    }

    fn formatter(&self, files: Vec<&str>) -> Option<Vec<String>> {
        argv::formatter(&files)
    }

    fn tests_in(&self, project: &Project, path: &str, sources: &dyn Sources) -> Vec<TestId> {
        let ids = ids::Ids::of(project, sources);
        ids.in_file(path).map(|(node, _)| ids.id(node)).collect()
    }

    fn is_test_file(&self, path: &str) -> bool {
        names::Names::default().is_test_file(path)
    }

    fn renamed(&self, path: &str, source: String, names: &BTreeMap<String, String>) -> String {
        let tree = if self.owns(path) { syntax::Tree::parse(&source) } else { None };
        tree.map(|tree| crate::syntax::renamed(&tree, names)).unwrap_or(source)
    }

    fn items(&self, path: &str, source: &str) -> Items {
        items::items(path, source, &names::Names::default())
    }

    fn sort(&self, project: &Project, path: &str, sources: &dyn Sources) -> Sort {
        sort::sort(path, &names::Names::of(project, sources))
    }

    fn sorts(&self, project: &Project, paths: &[String], sources: &dyn Sources) -> Vec<Sort> {
        let names = names::Names::of(project, sources);
        paths.iter().map(|path| sort::sort(path, &names)).collect()
    }

    fn plainly(&self, copies: &Copies<'_>) -> Option<PlainProgram> {
        plain::plainly(copies)
    }

    fn can_hide_runner(&self, _: &str) -> bool {
        true
    }

    /// Nothing is built, but environment managers read and update their lock files.
    fn scratch(&self, project: &Project, _: &str) -> ScratchNeeds {
        let files =
            ["uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock"].map(|lock| join(&project.root, lock)).to_vec();
        ScratchNeeds { files, ..ScratchNeeds::default() }
    }
}

/// Whether a file is Python source.
fn owns(path: &str) -> bool {
    has_ending(path, &["py"])
}
