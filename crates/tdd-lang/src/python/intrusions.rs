//! Finds Python test code that acts on tests which do not name it.

use std::collections::BTreeSet;

use super::items::{definition, name};
use super::signs::SET_UP;
use super::syntax::Tree;
use crate::analysis::intrusions::{ActsOn, FakeSyntax, Intrusion, tests_in};
use crate::item::Items;

const SYNTAX: FakeSyntax = FakeSyntax {
    assignments: &["assignment", "augmented_assignment"],
    members: &["attribute", "subscript"],
    calls: &["call"],
    shared: &["builtins", "__builtins__", "globals", "sys"],
    fakers: &["setattr", "delattr", "setitem", "delitem"],
    members_of: (&["monkeypatch", "mocker"], &["patch", "spy", "stub"]),
};

/// The intrusions of a test file.
pub(super) fn intrusions(tree: &Tree<'_>, items: &Items) -> Vec<Intrusion> {
    let imports = (0..tree.len()).filter(|node| tree.kind(*node).starts_with("import_"));
    let imported: BTreeSet<&str> = imports.flat_map(|import| tree.words(import).collect::<Vec<_>>()).collect();
    let mut finder = Finder { tree, items, imported, found: Vec::new() };
    finder.scope(0, 0);
    finder.found
}

struct Finder<'t, 's> {
    tree: &'t Tree<'s>,
    items: &'t Items,
    imported: BTreeSet<&'s str>,
    found: Vec<Intrusion>,
}

impl Finder<'_, '_> {
    /// Looks at the statements of a file or of a class.
    fn scope(&mut self, body: usize, around: usize) {
        let tree = self.tree;
        for statement in tree.children(body) {
            let item = definition(tree, statement);
            match (tree.kind(item), tree.child(item, "body")) {
                ("class_definition", Some(inner)) => self.scope(inner, item),
                ("function_definition", _) => self.function(statement, item, around),
                (kind, _) if kind.starts_with("import_") || kind == "comment" => {}
                _ if self.acts_at_once(statement) => {
                    self.found.push(Intrusion::at(tree, statement, "code".to_owned(), ActsOn::Everything));
                }
                _ => {}
            }
        }
    }

    /// Fixtures and set-up functions run before tests that do not name them.
    fn function(&mut self, statement: usize, function: usize, around: usize) {
        let (tree, own) = (self.tree, name(self.tree, function));
        let decorators = tree.text(statement).split("def ").next().unwrap_or_default();
        let runs_unnamed = SET_UP.contains(&own) || decorators.contains("autouse");
        if runs_unnamed && SYNTAX.fakes(tree, function, &self.imported) {
            let acts_on = tests_in(tree, self.items, around);
            self.found.push(Intrusion::at(tree, statement, format!("def `{own}`"), acts_on));
        }
    }

    /// Whether a statement replaces something when the file is imported, itself or through a function of the file.
    fn acts_at_once(&self, statement: usize) -> bool {
        let tree = self.tree;
        let called = tree.subtree(statement).filter(|node| tree.kind(*node) == "call");
        let called: BTreeSet<&str> =
            called.filter_map(|call| tree.child(call, "function")).map(|function| tree.text(function)).collect();
        let functions = tree.children(0).map(|statement| definition(tree, statement));
        let mut own = functions.filter(|function| called.contains(name(tree, *function)));
        SYNTAX.fakes(tree, statement, &self.imported) || own.any(|own| SYNTAX.fakes(tree, own, &self.imported))
    }
}
