//! Lists the items of a Python file that are not tests, each with a digest of its own tokens.

use std::collections::BTreeSet;
use std::ops::Range;

use tdd_core::digest::Digest;

use super::items::{definition, name};
use super::syntax::Tree;
use super::tables::outside;
use crate::analysis::compare::Piece;
use crate::item::Items;

/// The items of a file; with `for_tests` all of them are test-only.
pub(super) fn pieces(tree: &Tree<'_>, items: &Items, for_tests: bool) -> Vec<Piece> {
    let tests: BTreeSet<usize> = items.tests.iter().flat_map(|test| tree.nodes_at(&test.span)).collect();
    let definitions = tests.iter().copied().filter(|node| is_definition(tree, *node));
    let tables = definitions.flat_map(|test| outside(tree, test)).collect();
    let mut taker = Taker { tree, tests, for_tests, tables, found: Vec::new() };
    taker.scope(0, "");
    taker.found
}

fn is_definition(tree: &Tree<'_>, node: usize) -> bool {
    matches!(tree.kind(node), "decorated_definition" | "function_definition")
}

struct Taker<'t, 's> {
    tree: &'t Tree<'s>,
    /// The nodes of tests.
    tests: BTreeSet<usize>,
    for_tests: bool,
    /// Statements outside of the tests that hold their tables.
    tables: BTreeSet<usize>,
    found: Vec<Piece>,
}

impl Taker<'_, '_> {
    fn scope(&mut self, node: usize, outer: &str) {
        let tree = self.tree;
        for statement in tree.children(node) {
            let item = definition(tree, statement);
            if self.tests.contains(&statement) {
                continue;
            }
            let own = name(tree, item);
            let full = if outer.is_empty() { own.to_owned() } else { format!("{outer}.{own}") };
            match (tree.kind(item), tree.child(item, "body")) {
                ("class_definition", Some(body)) => {
                    self.add(statement..body, statement, format!("class `{full}`"), own);
                    self.scope(body, &full);
                }
                ("function_definition", _) => {
                    self.add(tree.subtree(statement), statement, format!("def `{full}`"), own);
                }
                ("import_statement" | "import_from_statement" | "future_import_statement", _) => self.import(statement),
                ("comment" | "pass_statement", _) => {}
                _ => self.other(statement, outer),
            }
        }
    }

    /// Each name that an import brings in is an item.
    fn import(&mut self, statement: usize) {
        let tree = self.tree;
        let from = tree.child(statement, "module_name");
        let module = from.map(|from| format!("{}.", tree.text(from))).unwrap_or_default();
        for part in tree.parts(statement).filter(|part| Some(*part) != from) {
            if matches!(tree.kind(part), "dotted_name" | "aliased_import" | "wildcard_import") {
                let text = tree.text(part);
                let known = text.rsplit(' ').next().unwrap_or(text).to_owned();
                self.add(part..part, statement, format!("use `{module}{text}`"), &known);
            }
        }
    }

    fn other(&mut self, statement: usize, outer: &str) {
        let tree = self.tree;
        let nodes = tree.subtree(statement);
        // A string on its own is documentation, unless it holds examples.
        if tree.digest(nodes.clone()) == Digest::of([]) {
            return;
        }
        let assigned = nodes.clone().find(|node| tree.kind(*node) == "assignment" && tree.parent(*node) == statement);
        let target = assigned.and_then(|node| tree.child(node, "left")).map(|left| tree.text(left));
        let scope = if outer.is_empty() { String::new() } else { format!("{outer}.") };
        match target {
            Some(target) => self.add(nodes, statement, format!("`{scope}{target}`"), target),
            None => self.add(nodes, statement, "code".to_owned(), ""),
        }
    }

    fn add(&mut self, nodes: Range<usize>, at: usize, label: String, name: &str) {
        let tree = self.tree;
        let (for_tests, of_test) = (self.for_tests, self.tables.contains(&at));
        self.found.push(Piece { for_tests, of_test, ..Piece::at(tree, at, label, name, tree.digest(nodes)) });
    }
}
