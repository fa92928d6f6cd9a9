//! An index of names and packages: which are production's, which are the tests' own, and which are third-party.

use std::collections::{BTreeMap, BTreeSet};

use crate::language::{Project, Sources};
use crate::lookup::Origin;

use super::items::{assertions, is_test, is_test_file};
use super::owns;
use super::sort::is_runner_configuration;
use super::syntax::Tree;
use super::workspace::modules;

/// Standard packages through which a test can reach production without importing it.
const REACHING: [&str; 2] = ["os/exec", "plugin"];

/// Names that Go predefines.
pub(super) const BUILTINS: &str = " append any bool byte cap clear close comparable complex complex64 complex128 copy delete \
    error false float32 float64 imag int int8 int16 int32 int64 iota len make max min new nil panic print println real \
    recover rune string true uint uint8 uint16 uint32 uint64 uintptr _ init main ";

/// A declaration in a test file that is not a test.
#[derive(Clone, Debug, Default)]
pub(super) struct Declared {
    /// The names in the declaration.
    pub words: BTreeSet<String>,
    /// Whether it can fail a test that is passed to it.
    pub asserts: bool,
}

/// The declarations of a repository, by folder.
#[derive(Clone, Debug, Default)]
pub(super) struct PackageIndex {
    /// The import paths of the module and of the other modules in its workspace.
    modules: Vec<String>,
    /// Names that production defines: functions, types, methods, fields, variables, constants.
    production: BTreeMap<String, BTreeSet<String>>,
    /// What test files declare besides tests.
    tests: BTreeMap<String, BTreeMap<String, Declared>>,
    /// The names of production packages, by folder.
    packages: BTreeMap<String, String>,
    /// The folder of the project's module.
    root: String,
}

impl PackageIndex {
    /// Reads all sources of a project.
    pub fn of(project: &Project, sources: &dyn Sources) -> Self {
        let mut known = Self { modules: modules(project, sources), root: project.root.clone(), ..Self::default() };
        let ours =
            |path: &&String| owns(path) && !is_runner_configuration(path) && project.relative_path(path).is_some();
        for path in sources.files().iter().filter(ours) {
            let Some(source) = sources.read(path) else { continue };
            let Some(tree) = Tree::parse(&source) else { continue };
            if is_test_file(path) {
                known.tests.entry(folder(path).to_owned()).or_default().extend(declared(&tree));
            } else {
                known.packages.insert(folder(path).to_owned(), tree.package().to_owned());
                known.production.entry(folder(path).to_owned()).or_default().extend(defined(&tree));
            }
        }
        known
    }

    /// Whether an import path belongs to the module or its workspace, even if there is no such package.
    pub fn is_ours(&self, import: &str) -> bool {
        let is_below =
            |module: &String| import.strip_prefix(module).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        self.modules.iter().any(is_below)
    }

    /// Whether an import of this path may lead to production code.
    pub fn may_be_production(&self, import: &str) -> bool {
        self.is_ours(import) || REACHING.contains(&import)
    }

    /// What the test files of this folder declare under this name.
    pub fn declared(&self, folder: &str, name: &str) -> Option<&Declared> {
        self.tests.get(folder)?.get(name)
    }

    /// Whether production in this folder defines this name, and tests do not.
    pub fn is_defined(&self, folder: &str, name: &str) -> bool {
        self.production.get(folder).is_some_and(|names| names.contains(name)) && self.declared(folder, name).is_none()
    }

    /// Whether a production package has this name.
    pub fn is_package(&self, name: &str) -> bool {
        self.packages.values().any(|package| package == name)
    }

    /// The folder of a package in the project's own module.
    pub fn folder_of(&self, import: &str) -> Option<String> {
        let rest = import.strip_prefix(self.modules.first()?)?;
        let below = rest.strip_prefix('/').or_else(|| rest.is_empty().then_some(""))?;
        let folder = if self.root.is_empty() || below.is_empty() {
            format!("{}{below}", self.root)
        } else {
            format!("{}/{below}", self.root)
        };
        self.packages.contains_key(&folder).then_some(folder)
    }

    /// The name of the package at this origin.
    pub fn package_in(&self, origin: &Origin) -> Option<&str> {
        match origin {
            Origin::Files(folders) => self.packages.get(folders.first()?).map(String::as_str),
            Origin::Foreign | Origin::Starter | Origin::Unknown => None,
        }
    }
}

pub(super) fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Whether Go predefines a name.
pub(super) fn is_builtin(name: &str) -> bool {
    BUILTINS.contains(&format!(" {name} "))
}

/// The packages that a file imports: local name and path.
pub(super) fn imports<'s>(tree: &Tree<'s>) -> Vec<(&'s str, &'s str)> {
    let specs = (0..tree.len()).filter(|node| tree.kind(*node) == "import_spec");
    let read = |spec: usize| {
        let path = tree.named(spec, "path").trim_matches(['"', '`']);
        let name = tree.named(spec, "name");
        let is_version = |part: &&str| {
            part.strip_prefix('v').is_some_and(|rest| !rest.is_empty() && rest.chars().all(|c| c.is_ascii_digit()))
        };
        let last = path.rsplit('/').find(|part| !is_version(part)).unwrap_or(path);
        (if name.is_empty() { last } else { name }, path)
    };
    specs.map(read).collect()
}

/// The names that a production file defines, members included.
fn defined(tree: &Tree<'_>) -> Vec<String> {
    let is_defined = |node: &usize| {
        let of = tree.kind(tree.parent(*node));
        let defines = matches!(
            of,
            "function_declaration"
                | "method_declaration"
                | "type_spec"
                | "type_alias"
                | "field_declaration"
                | "method_elem"
        );
        let at_top =
            matches!(of, "const_spec" | "var_spec") && !tree.ancestors(*node).any(|outer| tree.kind(outer) == "block");
        tree.field(*node) == Some("name") && (defines || at_top)
    };
    (0..tree.len()).filter(is_defined).map(|node| tree.text(node).to_owned()).collect()
}

/// The top-level declarations of a test file, without tests.
fn declared(tree: &Tree<'_>) -> Vec<(String, Declared)> {
    let mut found = Vec::new();
    for node in tree.children(0) {
        let of =
            |words: usize, asserts: bool| Declared { words: tree.names(words).map(str::to_owned).collect(), asserts };
        match tree.kind(node) {
            "function_declaration" if is_test(tree, node) => {}
            "function_declaration" | "method_declaration" => {
                let asserts = tree.child(node, "body").is_some_and(|body| !assertions(tree, body).is_empty());
                found.push((tree.named(node, "name").to_owned(), of(node, asserts)));
            }
            "type_declaration" | "const_declaration" | "var_declaration" => {
                let names = tree.subtree(node).filter(|inner| {
                    let parent = tree.parent(*inner);
                    let is_spec = matches!(tree.kind(parent), "type_spec" | "type_alias" | "const_spec" | "var_spec");
                    tree.field(*inner) == Some("name") && is_spec
                });
                found.extend(names.map(|name| (tree.text(name).to_owned(), of(node, /* asserts */ false))));
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::memory;

    #[test]
    fn names_and_packages_have_their_owners() {
        let sources = memory(&[
            ("go.mod", "module example.com/calc\n"),
            (
                "calc.go",
                "package calc\nconst Max = 1\ntype Money struct{ Cents int }\nfunc (m Money) Add() {}\nfunc F() { var x = 1 }\n",
            ),
            (
                "calc_test.go",
                "package calc\nfunc check(t *testing.T) { if F() != 1 { t.Error() } }\ntype fake struct{}\nfunc TestA(t *testing.T) {}\n",
            ),
        ]);
        let known = PackageIndex::of(&Project { root: String::new(), description: String::new() }, &sources);
        for name in ["Max", "Money", "Cents", "Add", "F"] {
            assert!(known.is_defined("", name), "{name}");
        }
        assert!(!known.is_defined("", "x") && !known.is_defined("", "fake"));
        assert!(known.declared("", "check").is_some_and(|it| it.asserts && it.words.contains("F")));
        assert!(known.is_ours("example.com/calc/geometry") && !known.is_ours("example.com/calculus"));
    }
}
