//! Finds the rows of a test's tables, so that a row counts like an assertion.

use super::syntax::Tree;

/// The rows of the tables that a function goes through: the elements of the literals that it ranges over.
pub(super) fn rows(tree: &Tree<'_>, function: usize) -> Vec<usize> {
    tables(tree, function).into_iter().flat_map(|table| elements(tree, table)).collect()
}

/// The literals that a function goes through row by row.
pub(super) fn tables(tree: &Tree<'_>, function: usize) -> Vec<usize> {
    let ranged: Vec<usize> = tree
        .inside(function)
        .filter(|node| tree.kind(*node) == "range_clause")
        .filter_map(|clause| tree.child(clause, "right"))
        .collect();
    let is_ranged = |table: usize| {
        let name = declared_name(tree, table);
        ranged.iter().any(|over| tree.range(*over) == tree.range(table) || name == Some(tree.text(*over)))
    };
    tree.inside(function).filter(|node| tree.kind(*node) == "composite_literal" && is_ranged(*node)).collect()
}

/// The elements of a literal.
pub(super) fn elements(tree: &Tree<'_>, literal: usize) -> Vec<usize> {
    let Some(body) = tree.child(literal, "body") else { return Vec::new() };
    tree.children(body).filter(|node| matches!(tree.kind(*node), "literal_element" | "keyed_element")).collect()
}

/// The name that a literal is given where it stands.
pub(super) fn declared_name<'a>(tree: &Tree<'a>, literal: usize) -> Option<&'a str> {
    let statement = tree
        .around(literal)
        .take(3)
        .find(|outer| matches!(tree.kind(*outer), "short_var_declaration" | "var_spec" | "assignment_statement"))?;
    let left = tree.child(statement, "left").or_else(|| tree.child(statement, "name"))?;
    Some(tree.text(left))
}
