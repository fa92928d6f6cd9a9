//! Finds Go test code that acts on tests which do not name it: initialisers of package variables.

use std::collections::BTreeSet;

use super::syntax::Tree;
use crate::analysis::intrusions::{ActsOn, Intrusion, root};

/// The intrusions of a test file.
pub(super) fn intrusions(tree: &Tree<'_>) -> Vec<Intrusion> {
    let declarations = tree.children(0).filter(|node| tree.kind(*node) == "var_declaration");
    let acting = declarations.filter(|declaration| acts(tree, *declaration));
    acting
        .map(|node| Intrusion::at(tree, node, "the initialiser of a variable".to_owned(), ActsOn::Everything))
        .collect()
}

/// Whether an initialiser assigns to something that it did not declare, itself or through a function of its file.
fn acts(tree: &Tree<'_>, declaration: usize) -> bool {
    let calls = tree.subtree(declaration).filter(|node| tree.kind(*node) == "call_expression");
    let called: Vec<usize> = calls.filter_map(|call| tree.child(call, "function")).collect();
    let names: BTreeSet<&str> = called.iter().map(|function| tree.text(*function)).collect();
    let is_called =
        |node: &usize| tree.kind(*node) == "function_declaration" && names.contains(tree.named(*node, "name"));
    let literals = called.iter().copied().filter(|function| tree.text(*function).starts_with("func"));
    literals.chain(tree.children(0).filter(is_called)).any(|function| assigns_elsewhere(tree, function))
}

fn assigns_elsewhere(tree: &Tree<'_>, function: usize) -> bool {
    let inside = || tree.subtree(function);
    let declared = inside().filter(|node| {
        matches!(tree.kind(*node), "short_var_declaration" | "var_spec" | "parameter_declaration" | "range_clause")
    });
    let own: BTreeSet<&str> = declared
        .flat_map(|node| ["left", "name"].into_iter().filter_map(move |field| tree.child(node, field)))
        .flat_map(|names| tree.words(names).collect::<Vec<_>>())
        .collect();
    let assigned = inside().filter(|node| matches!(tree.kind(*node), "assignment_statement" | "inc_statement"));
    let mut targets = assigned.filter_map(|node| tree.child(node, "left").or_else(|| tree.children(node).next()));
    targets.any(|target| !own.contains(root(tree.text(target).trim_start_matches('*'))) && tree.text(target) != "_")
}
