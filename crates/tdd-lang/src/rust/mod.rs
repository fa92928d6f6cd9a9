//! Support for Rust: cargo projects, their tests and cargo's output.

mod alter;
mod alter_types;
mod antipattern;
pub mod argv;
mod assertion;
mod attribute;
#[cfg(test)]
pub(crate) mod captured;
mod cargo_config;
pub mod change;
mod comment;
pub mod compile;
pub mod compose;
pub mod diagnose;
pub mod doctest;
mod expectation;
pub mod ids;
mod include;
pub mod items;
pub mod libtest;
mod manifest;
mod mark;
mod mark_imports;
mod merge;
pub mod modules;
pub mod nextest;
pub mod places;
mod plain;
mod production;
pub mod project;
pub mod scaffold;
pub mod sort;
pub mod suite;
mod syntax;
mod tables;
mod targets;
pub mod test_command;
mod twins;
mod value;
mod walk;
mod word;

use std::collections::{BTreeMap, BTreeSet};

use tdd_core::change::Sort;
use tdd_core::change::TestChange;
use tdd_core::command::CommandSpec;
use tdd_core::test_id::TestId;

use self::antipattern as signs;
use crate::alter::{Instrumented, Request};
use crate::item::Items;
use crate::language::{Language, NoSources, Project, Settings, Sources, answered_by_modules, has_ending};
use crate::plain::{Copies, PlainProgram};
use crate::test_words;
use crate::twin::ScratchNeeds;

/// The Rust language, through cargo.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rust;

impl Language for Rust {
    answered_by_modules!();

    fn instrument(&self, request: &Request<'_>) -> Option<Instrumented> {
        alter::instrument(request)
    }

    fn name(&self) -> &'static str {
        "rust"
    }

    /// Whether the command has `--ignored`, `--include-ignored` or `--run-ignored`.
    fn runs_skipped(&self, settings: &Settings) -> bool {
        test_words(self, settings).iter().any(|word| word.starts_with('-') && word.contains("-ignored"))
    }

    /// Cargo tests only the packages of one workspace together.
    fn reaches(&self, project: &Project, folder: &str, sources: &dyn Sources) -> bool {
        targets::is_member(project, folder, sources)
    }

    fn scaffold(&self, name: &str) -> BTreeMap<String, String> {
        scaffold::scaffold(name)
    }

    fn fmt(&self, project: &Project, settings: &Settings, files: &[String], sources: &dyn Sources) -> Vec<CommandSpec> {
        argv::fmt(project, settings, files, sources).into_iter().collect()
    }

    fn imports(&self, project: &Project, sources: &dyn Sources) -> Option<String> {
        let manifest = manifest::Manifest::read(&project.root, sources)?;
        let library = manifest.get(&["lib", "name"]).and_then(|name| name.as_str());
        let name = library.or_else(|| manifest.package())?;
        Some(format!("use {}::…;", name.replace('-', "_")))
    }

    fn tests_in(&self, project: &Project, path: &str, sources: &dyn Sources) -> Vec<TestId> {
        let all_new = change::change(project, &NoSources, sources, &[path.to_owned()]);
        let here = all_new.tests.iter().filter_map(TestChange::after).filter(|test| test.path == path);
        here.map(|test| test.id.clone()).collect()
    }

    fn compose(&self, path: &str, before: Option<&str>, after: Option<&str>) -> Option<String> {
        compose::compose(path, before, after)
    }

    fn renamed(&self, path: &str, source: String, names: &BTreeMap<String, String>) -> String {
        let tree = if self.owns(path) { syntax::Tree::parse(&source) } else { None };
        tree.map(|tree| crate::syntax::renamed(&tree, names)).unwrap_or(source)
    }

    fn items(&self, path: &str, source: &str) -> Items {
        items::items(path, source)
    }

    fn sort(&self, project: &Project, path: &str, sources: &dyn Sources) -> Sort {
        sort::sort(project, path, sources)
    }

    fn absent(&self, sources: &dyn Sources, paths: &[String]) -> Vec<(String, String)> {
        include::absent(sources, paths)
    }

    fn sorts(&self, project: &Project, paths: &[String], sources: &dyn Sources) -> Vec<Sort> {
        sort::sorts(project, paths, sources)
    }

    fn is_test_line(&self, _: &Project, path: &str, line: usize, sources: &dyn Sources) -> bool {
        let Some(text) = sources.read(path) else { return false };
        let before: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
        let indent = text.get(before..).map_or(0, |rest| rest.len() - rest.trim_start().len());
        !production::Production::of(sources, BTreeSet::new()).holds(path, before + indent)
    }

    fn plainly(&self, copies: &Copies<'_>) -> Option<PlainProgram> {
        plain::plainly(copies)
    }

    fn scratch(&self, project: &Project, products: &str) -> ScratchNeeds {
        ScratchNeeds {
            env: vec![("CARGO_TARGET_DIR".to_owned(), products.to_owned())],
            files: vec![places::join(&project.root, "Cargo.lock")],
            ..ScratchNeeds::default()
        }
    }
}

/// Whether a file is Rust source.
fn owns(path: &str) -> bool {
    has_ending(path, &["rs"])
}
