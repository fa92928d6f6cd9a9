//! Finds the tables of a test, so that a row counts like an assertion and a table may grow.
//!
//! A list is a table where each of its rows is a claim of its own, so that more of them cannot make a test milder: that
//! of `test.each`, of a loop around the test, or of a loop in it that does nothing but assert. It may stand apart under
//! a name that is used for nothing else.

use std::ops::Range;

use tdd_core::digest::Digest;

use super::assertion::{Asserting, assertions};
use super::call::Making;
use super::items::whole;
use super::statements::plain;
use super::syntax::Tree;

/// A list that a test goes through row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Table {
    /// The list.
    pub list: usize,
    /// What holds it, where that is not the test itself: its declaration, or the list in the head of a loop.
    pub apart: Option<usize>,
}

/// The tables of a test, wherever they stand.
pub(super) fn tables(tree: &Tree<'_>, asserting: &Asserting<'_>, making: &Making) -> Vec<Table> {
    let body = making.body.map_or(0..0, |body| tree.inside(body));
    let loops =
        body.filter_map(|node| gone_through(tree, node).filter(|(_, body)| only_asserts(tree, asserting, *body)));
    let over = each(tree, making).into_iter().chain(around(tree, making)).chain(loops.map(|(over, _)| over));
    let mut found: Vec<Table> = over.filter_map(|over| table(tree, making, over)).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// The rows of a table.
pub(super) fn rows(tree: &Tree<'_>, list: usize) -> Vec<Digest> {
    tree.parts(list).map(|row| tree.digest(tree.inside(row))).collect()
}

/// What `test.each(rows)` is given.
fn each(tree: &Tree<'_>, making: &Making) -> Option<usize> {
    let call = tree.child(making.call, "function").filter(|function| tree.kind(*function) == "call_expression")?;
    let property = tree.child(tree.child(call, "function")?, "property")?;
    let is_each = matches!(tree.text(property), "each" | "for");
    tree.arguments(call).into_iter().next().filter(|_| is_each)
}

/// What the loop goes through that makes this test again and again, and nothing else.
fn around(tree: &Tree<'_>, making: &Making) -> Option<usize> {
    let whole = whole(tree, making.call);
    let block = tree.parent(whole);
    let body = if tree.kind(block) == "statement_block" { block } else { whole };
    let is_alone = body == whole || statements(tree, body).eq([whole]);
    let outer = tree.parent(body);
    let outer = if tree.is_function(outer) { tree.parent(tree.parent(outer)) } else { outer };
    let (over, made) = gone_through(tree, outer)?;
    (is_alone && made == body).then_some(over)
}

/// What a node goes through row by row, and what it does with each.
fn gone_through(tree: &Tree<'_>, node: usize) -> Option<(usize, usize)> {
    match tree.kind(node) {
        "for_in_statement" if tree.child(node, "operator").is_some_and(|word| tree.text(word) == "of") => {
            Some((tree.child(node, "right")?, tree.child(node, "body")?))
        }
        "call_expression" => {
            let function = tree.child(node, "function")?;
            let is_for_each = tree.child(function, "property").is_some_and(|name| tree.text(name) == "forEach");
            let handed = tree.arguments(node).into_iter().next().filter(|it| is_for_each && tree.is_function(*it))?;
            Some((tree.child(function, "object")?, tree.child(handed, "body")?))
        }
        _ => None,
    }
}

/// Whether a block asserts and does nothing that could outlast it.
fn only_asserts(tree: &Tree<'_>, asserting: &Asserting<'_>, body: usize) -> bool {
    let claims = |node: usize| {
        let plain = plain(tree, node);
        assertions(tree, asserting, tree.inside(plain)).first() == Some(&plain)
    };
    if tree.kind(body) != "statement_block" {
        return claims(body);
    }
    let is_local = |node: usize| matches!(tree.kind(node), "lexical_declaration" | "variable_declaration");
    statements(tree, body).all(|node| is_local(node) || claims(node)) && statements(tree, body).any(claims)
}

fn statements(tree: &Tree<'_>, block: usize) -> impl Iterator<Item = usize> {
    let statements = tree.children(block).filter(|child| tree.is_statement(*child));
    statements.filter(|child| tree.kind(*child) != "comment")
}

/// The list that is meant: itself, or the only one of a name that is used for nothing else.
fn table(tree: &Tree<'_>, making: &Making, over: usize) -> Option<Table> {
    let own = tree.inside(whole(tree, making.call));
    let over = bare(tree, over);
    if tree.kind(over) != "identifier" {
        let apart = (!own.contains(&over)).then_some(over);
        return is_written_out(tree, over).then_some(Table { list: over, apart });
    }
    let is_it = |node: &usize| tree.is_name(*node) && tree.text(*node) == tree.text(over);
    let others = |nodes: Range<usize>| nodes.filter(is_it).filter(|node| *node != over).take(2).collect::<Vec<_>>();
    // What a test makes itself is of no interest to others.
    let [name] = (match others(own.clone()) {
        none if none.is_empty() => others(0..tree.len()),
        inside => inside,
    })[..] else {
        return None;
    };
    let declarator = tree.parent(name);
    let is_exported = tree.around(declarator).any(|outer| tree.kind(outer) == "export_statement");
    let is_declared = tree.kind(declarator) == "variable_declarator" && tree.field(name) == Some("name");
    let list = bare(tree, tree.child(declarator, "value").filter(|_| is_declared && !is_exported)?);
    let apart = (!own.contains(&declarator)).then_some(declarator);
    is_written_out(tree, list).then_some(Table { list, apart })
}

/// Whether a list is written out row by row.
fn is_written_out(tree: &Tree<'_>, list: usize) -> bool {
    tree.kind(list) == "array" && tree.parts(list).all(|row| tree.kind(row) != "spread_element")
}

/// An expression without what TypeScript says of its type, and without brackets.
fn bare(tree: &Tree<'_>, mut node: usize) -> usize {
    while matches!(tree.kind(node), "parenthesized_expression" | "as_expression" | "satisfies_expression") {
        let Some(inner) = tree.parts(node).next() else { break };
        node = inner;
    }
    node
}
