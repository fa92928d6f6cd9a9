//! Finds the rows of a test's tables; each row counts like an assertion. A table may be outside of its test, under a
//! name that nothing else uses.

use super::syntax::Tree;

/// The rows of the tables that a function loops over: the elements of the literals in its `range` clauses.
pub(super) fn rows(tree: &Tree<'_>, function: usize) -> Vec<usize> {
    let apart = tables_outside(tree, function).into_iter().map(|(_, table)| table);
    tables(tree, function).into_iter().chain(apart).flat_map(|table| elements(tree, table)).collect()
}

/// The declarations that hold a table of this function and of no other code, each with its table.
pub(super) fn tables_outside(tree: &Tree<'_>, function: usize) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> =
        ranged(tree, function).filter_map(|over| declared(tree, function, over)).collect();
    found.sort_unstable();
    found.dedup();
    found
}

fn declared(tree: &Tree<'_>, function: usize, over: usize) -> Option<(usize, usize)> {
    let is_it = |node: &usize| tree.kind(*node) == "identifier" && tree.text(*node) == tree.text(over);
    let is_ranged = |node: usize| ranged(tree, function).any(|over| tree.range(over) == tree.range(node));
    if !tree.subtree(function).filter(is_it).all(is_ranged) {
        return None;
    }
    let others = (0..function).chain(tree.subtree_end(function)..tree.len()).filter(is_it).take(2).collect::<Vec<_>>();
    let [name] = others[..] else { return None };
    let spec = tree.parent(name);
    let outermost = tree
        .ancestors(spec)
        .all(|outer| matches!(tree.kind(outer), "var_spec_list" | "var_declaration" | "source_file"));
    let value = tree.child(spec, "value").filter(|_| outermost && tree.kind(spec) == "var_spec")?;
    let mut values = tree.parts(value);
    let (table, None) = (values.next()?, values.next()) else { return None };
    (tree.kind(table) == "composite_literal").then_some((spec, table))
}

/// What a function loops over with `range`.
fn ranged(tree: &Tree<'_>, function: usize) -> impl Iterator<Item = usize> {
    let clauses = tree.subtree(function).filter(|node| tree.kind(*node) == "range_clause");
    clauses.filter_map(|clause| tree.child(clause, "right"))
}

/// The literals inside a function that it loops over.
pub(super) fn tables(tree: &Tree<'_>, function: usize) -> Vec<usize> {
    let ranged: Vec<usize> = ranged(tree, function).collect();
    let is_ranged = |table: usize| {
        let name = declared_name(tree, table);
        ranged.iter().any(|over| tree.range(*over) == tree.range(table) || name == Some(tree.text(*over)))
    };
    tree.subtree(function).filter(|node| tree.kind(*node) == "composite_literal" && is_ranged(*node)).collect()
}

/// The elements of a literal.
pub(super) fn elements(tree: &Tree<'_>, literal: usize) -> Vec<usize> {
    let Some(body) = tree.child(literal, "body") else { return Vec::new() };
    tree.children(body).filter(|node| matches!(tree.kind(*node), "literal_element" | "keyed_element")).collect()
}

/// The name to which a literal is assigned.
pub(super) fn declared_name<'a>(tree: &Tree<'a>, literal: usize) -> Option<&'a str> {
    let statement = tree
        .ancestors(literal)
        .take(3)
        .find(|outer| matches!(tree.kind(*outer), "short_var_declaration" | "var_spec" | "assignment_statement"))?;
    let left = tree.child(statement, "left").or_else(|| tree.child(statement, "name"))?;
    Some(tree.text(left))
}
