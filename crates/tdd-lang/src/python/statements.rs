//! Decides whether a changed test still does everything that it did.

use std::ops::Range;

use tdd_core::digest::Digest;

use super::items::{called, definition};
use super::syntax::Tree;
use super::tables::{outside, rows, tables};
use crate::item::TestItem;
use crate::kept::{Part, Parts};

/// Whether a test still does everything that it did.
pub(super) fn is_kept(before: (&str, &TestItem), after: (&str, &TestItem)) -> bool {
    let (Some(old), Some(new)) = (parts(before), parts(after)) else { return false };
    old.are_kept_in(&new)
}

fn part_of(tree: &Tree<'_>, nodes: Range<usize>, tables: &[usize]) -> Part {
    let own: Vec<usize> = tables.iter().copied().filter(|table| nodes.contains(table)).collect();
    let condition = condition(tree, assertion(tree, nodes.start));
    let left_out: Vec<Range<usize>> = own
        .iter()
        .map(|table| tree.subtree(*table))
        .chain(names_of_rows(tree, nodes.clone(), &own))
        .chain(condition.map(|condition| tree.subtree(condition)))
        .collect();
    let asserts = asserts(tree, nodes.start);
    let claims = condition.into_iter().flat_map(|_| claims(tree, assertion(tree, nodes.start)));
    let rows = own.into_iter().flat_map(|table| rows(tree, table)).chain(claims).collect();
    Part { words: tree.digest_without(nodes, &left_out), rows, asserts }
}

/// The literal `ids` that a `parametrize` gives to its rows: they grow with the rows and have no effect.
fn names_of_rows(tree: &Tree<'_>, nodes: Range<usize>, tables: &[usize]) -> Option<Range<usize>> {
    let is_ids = |node: &usize| tree.child(*node, "name").is_some_and(|name| tree.text(name) == "ids");
    let is_decorator = !tables.is_empty() && tree.kind(nodes.start) == "decorator";
    let ids = nodes
        .into_iter()
        .filter(|_| is_decorator)
        .find(|node| tree.kind(*node) == "keyword_argument" && is_ids(node))?;
    let list = tree.child(ids, "value").filter(|list| matches!(tree.kind(*list), "list" | "tuple"))?;
    let is_text = tree.parts(list).all(|name| tree.kind(name) == "string");
    is_text.then(|| tree.subtree(list))
}

fn parts((source, test): (&str, &TestItem)) -> Option<Parts> {
    let tree = Tree::parse(source)?;
    let is_it = |node: &usize| {
        let kind = tree.kind(definition(&tree, *node));
        tree.range(*node) == test.span && kind == "function_definition"
    };
    let statement = (0..tree.len()).find(is_it)?;
    let function = definition(&tree, statement);
    let body = tree.child(function, "body")?;
    let tables = tables(&tree, statement);
    let part = |nodes: Range<usize>| part_of(&tree, nodes, &tables);
    let nothing = Digest::of([]);
    let statements = tree.children(body).filter(|node| tree.digest(tree.subtree(*node)) != nothing);
    let decorators = tree.children(statement).filter(|child| tree.kind(*child) == "decorator");
    let head = decorators.map(|decorator| part(tree.subtree(decorator))).chain([part(function..body)]);
    Some(Parts {
        head: head.collect(),
        statements: statements.map(|node| part(tree.subtree(node))).collect(),
        apart: outside(&tree, statement).into_iter().map(|node| part(tree.subtree(node))).collect(),
    })
}

/// The assertion in a statement: the statement itself, or its call.
fn assertion(tree: &Tree<'_>, statement: usize) -> usize {
    if tree.kind(statement) == "expression_statement" { statement + 1 } else { statement }
}

/// The condition that an assertion holds to be true.
fn condition(tree: &Tree<'_>, assertion: usize) -> Option<usize> {
    match tree.kind(assertion) {
        // The first part is the keyword.
        "assert_statement" => tree.parts(assertion).nth(1),
        "call" if called(tree, assertion) == "assertTrue" => {
            tree.child(assertion, "arguments").and_then(|arguments| tree.parts(arguments).next())
        }
        _ => None,
    }
}

/// The digests of what an assertion claims: `assert a and b` claims what `assert a` and `assert b` claim.
pub(super) fn claims(tree: &Tree<'_>, assertion: usize) -> Vec<Digest> {
    let nodes = tree.subtree(assertion);
    let Some(condition) = condition(tree, assertion) else { return vec![tree.digest(nodes)] };
    let conjuncts = tree.conjuncts(condition, "boolean_operator", "and");
    conjuncts.into_iter().map(|node| tree.digest_without(nodes.clone(), &tree.beside(condition, node))).collect()
}

/// Whether a statement only asserts.
pub(super) fn asserts(tree: &Tree<'_>, statement: usize) -> bool {
    let call = statement + 1;
    let is_call = || {
        tree.kind(statement) == "expression_statement"
            && tree.kind(call) == "call"
            && called(tree, call).starts_with("assert")
    };
    tree.kind(statement) == "assert_statement" || is_call()
}
