//! Lists the items of a Go file that are not tests, each with a digest of its own tokens.

use std::collections::BTreeSet;
use std::ops::Range;

use super::items::{constraints, function};
use super::suites::methods;
use super::syntax::Tree;
use super::tables::tables_outside;
use crate::analysis::compare::Piece;
use crate::item::Items;

/// The label of a package clause.
pub(super) const PACKAGE: &str = "the package's name";

/// The items of a file; with `for_tests` all of them are test-only.
pub(super) fn pieces(tree: &Tree<'_>, items: &Items, for_tests: bool) -> Vec<Piece> {
    let tests: BTreeSet<usize> = items.tests.iter().filter_map(|test| function(tree, &test.span)).collect();
    let parts: BTreeSet<usize> = tests.iter().flat_map(|test| methods(tree, *test)).collect();
    let tables = tests.iter().flat_map(|test| tables_outside(tree, *test)).map(|(spec, _)| spec).collect();
    let mut taker = Taker { tree, for_tests, tables, found: Vec::new() };
    let constraints = constraints(tree);
    for node in tree.children(0) {
        if parts.contains(&node) || tests.contains(&node) {
            continue;
        }
        match tree.kind(node) {
            "package_clause" => taker.add(tree.subtree(node), node, PACKAGE.to_owned(), ""),
            "comment" if constraints.iter().any(|line| line == tree.text(node)) => {
                taker.add(tree.subtree(node), node, "a build constraint".to_owned(), "");
            }
            "comment" if tree.means_something(node) => {
                taker.add(tree.subtree(node), node, format!("directive `{}`", tree.text(node)), "");
            }
            "comment" => {}
            "import_declaration" => taker.imports(node),
            "function_declaration" => taker.function(node),
            "method_declaration" => taker.method(node),
            "type_declaration" => taker.specs(node, "type"),
            "const_declaration" => taker.consts(node),
            "var_declaration" => taker.specs(node, "var"),
            _ => {}
        }
    }
    taker.found
}

/// The contents of a declaration. Whether it is alone or grouped in brackets is layout and does not count.
fn within(tree: &Tree<'_>, spec: usize) -> Range<usize> {
    spec + 1..tree.subtree_end(spec)
}

/// The type that a method belongs to.
pub(super) fn receiver<'a>(tree: &Tree<'a>, method: usize) -> &'a str {
    let list = tree.child(method, "receiver");
    let name = list.and_then(|list| tree.subtree(list).find(|node| tree.kind(*node) == "type_identifier"));
    name.map_or("", |name| tree.text(name))
}

struct Taker<'t, 's> {
    tree: &'t Tree<'s>,
    for_tests: bool,
    /// Tables that belong to a test.
    tables: Vec<usize>,
    found: Vec<Piece>,
}

impl Taker<'_, '_> {
    fn function(&mut self, node: usize) {
        let name = self.tree.named(node, "name").to_owned();
        self.add(self.tree.subtree(node), node, format!("func `{name}`"), &name);
    }

    fn method(&mut self, node: usize) {
        let name = self.tree.named(node, "name").to_owned();
        let label = format!("func `{}.{name}`", receiver(self.tree, node));
        self.add(self.tree.subtree(node), node, label, &name);
    }

    /// Each imported package is an item.
    fn imports(&mut self, node: usize) {
        let tree = self.tree;
        for spec in tree.subtree(node).filter(|inner| tree.kind(*inner) == "import_spec") {
            let text = tree.text(spec).replace('"', "").split_whitespace().collect::<Vec<_>>().join(" ");
            self.add(within(tree, spec), spec, format!("use `{text}`"), "");
        }
    }

    /// Each type or variable of a declaration is an item.
    fn specs(&mut self, node: usize, word: &str) {
        let tree = self.tree;
        let is_spec = |inner: &usize| matches!(tree.kind(*inner), "type_spec" | "type_alias" | "var_spec");
        for spec in tree.subtree(node).filter(is_spec) {
            // A variable inside a function that initializes another one is not an item.
            let outermost =
                tree.ancestors(spec).take_while(|outer| *outer > node).all(|outer| tree.kind(outer) == "var_spec_list");
            if outermost {
                let name = tree.named(spec, "name").to_owned();
                self.add(within(tree, spec), spec, format!("{word} `{name}`"), &name);
            }
        }
    }

    /// Each constant is an item; with `iota` it depends on those before it.
    fn consts(&mut self, node: usize) {
        let tree = self.tree;
        let counts = tree.subtree(node).any(|inner| tree.kind(inner) == "iota");
        let specs: Vec<usize> = tree.subtree(node).filter(|inner| tree.kind(*inner) == "const_spec").collect();
        for spec in specs {
            let name = tree.named(spec, "name").to_owned();
            let nodes = if counts { node..tree.subtree_end(spec) } else { within(tree, spec) };
            self.add(nodes, spec, format!("const `{name}`"), &name);
        }
    }

    fn add(&mut self, nodes: Range<usize>, at: usize, label: String, name: &str) {
        let tree = self.tree;
        let (for_tests, of_test) = (self.for_tests, self.tables.contains(&at));
        self.found.push(Piece { for_tests, of_test, ..Piece::at(tree, at, label, name, tree.digest(nodes)) });
    }
}
