//! Finds the tables of a test, so that a row counts like an assertion and a table may grow.
//!
//! A list is a table if each row is a claim of its own, so that more rows cannot weaken the test: the list of
//! `test.each`, of a loop around the test, or of a loop in the test that only asserts. It may be outside the test,
//! under a name used for nothing else.

use std::collections::BTreeSet;
use std::ops::Range;

use tdd_core::digest::Digest;

use super::assertion::{Asserting, assertions};
use super::call::TestCall;
use super::items::whole;
use super::statements::plain;
use super::syntax::Tree;

/// The tables of a test.
#[derive(Debug, Default)]
pub(super) struct Tables {
    /// The lists, inside or outside the test.
    pub lists: Vec<usize>,
    /// The nodes outside the test that hold them: declarations, and the loop around the test.
    pub apart: Vec<usize>,
}

pub(super) fn tables(tree: &Tree<'_>, asserting: &Asserting<'_>, test_call: &TestCall) -> Tables {
    let body = test_call.body.map_or(0..0, |body| tree.subtree(body));
    let loops = body.filter_map(|node| iterated(tree, node).filter(|(_, body)| only_asserts(tree, asserting, *body)));
    let own = tree.subtree(whole(tree, test_call.call));
    let mut tables = Tables::default();
    for over in each(tree, test_call).into_iter().chain(loops.map(|(over, _)| over)) {
        tables.add(tree, &own, over);
    }
    if let Some((outer, over)) = enclosing_loop(tree, test_call)
        && tables.add(tree, &own, over)
    {
        tables.apart.push(outer);
    }
    tables
}

impl Tables {
    /// Adds the list behind `over`, if it is a table.
    fn add(&mut self, tree: &Tree<'_>, own: &Range<usize>, over: usize) -> bool {
        let Some((list, declarator)) = table(tree, own, over) else { return false };
        if !self.lists.contains(&list) {
            self.lists.push(list);
            self.apart.extend(declarator.filter(|declarator| !own.contains(declarator)));
        }
        true
    }
}

pub(super) fn rows(tree: &Tree<'_>, list: usize) -> Vec<Digest> {
    tree.parts(list).map(|row| tree.digest(tree.subtree(row))).collect()
}

/// The argument of `test.each(rows)`.
fn each(tree: &Tree<'_>, test_call: &TestCall) -> Option<usize> {
    let call = tree.child(test_call.call, "function").filter(|function| tree.kind(*function) == "call_expression")?;
    let property = tree.child(tree.child(call, "function")?, "property")?;
    let is_each = matches!(tree.text(property), "each" | "for");
    tree.arguments(call).into_iter().next().filter(|_| is_each)
}

/// The loop that contains only this test, and what it loops over.
fn enclosing_loop(tree: &Tree<'_>, test_call: &TestCall) -> Option<(usize, usize)> {
    let whole = whole(tree, test_call.call);
    let block = tree.parent(whole);
    let body = if tree.kind(block) == "statement_block" { block } else { whole };
    let is_alone = body == whole || statements(tree, body).eq([whole]);
    let outer = tree.parent(body);
    let outer = if tree.is_function(outer) { tree.parent(tree.parent(outer)) } else { outer };
    let (over, made) = iterated(tree, outer)?;
    let is_call = tree.kind(tree.parent(outer)) == "expression_statement";
    (is_alone && made == body).then(|| (if is_call { tree.parent(outer) } else { outer }, over))
}

/// What a loop goes over, and its body.
fn iterated(tree: &Tree<'_>, node: usize) -> Option<(usize, usize)> {
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

/// Whether a block only asserts, without effects that outlast it.
fn only_asserts(tree: &Tree<'_>, asserting: &Asserting<'_>, body: usize) -> bool {
    let claims = |node: usize| {
        let plain = plain(tree, node);
        assertions(tree, asserting, tree.subtree(plain)).first() == Some(&plain)
    };
    if tree.kind(body) != "statement_block" {
        return claims(body);
    }
    let is_loop =
        |node: usize| iterated(tree, plain(tree, node)).is_some_and(|(_, body)| only_asserts(tree, asserting, body));
    let claims = |node: usize| claims(node) || is_loop(node);
    let is_local = |node: usize| matches!(tree.kind(node), "lexical_declaration" | "variable_declaration");
    statements(tree, body).all(|node| is_local(node) || claims(node)) && statements(tree, body).any(claims)
}

fn statements(tree: &Tree<'_>, block: usize) -> impl Iterator<Item = usize> {
    let statements = tree.children(block).filter(|child| tree.is_statement(*child));
    statements.filter(|child| tree.kind(*child) != "comment")
}

/// The table that is looped over, with its declaration: a literal list, or the only definition of a name used for
/// nothing else.
fn table(tree: &Tree<'_>, own: &Range<usize>, over: usize) -> Option<(usize, Option<usize>)> {
    let over = bare(tree, over);
    if tree.kind(over) != "identifier" {
        return is_written_out(tree, over).then_some((over, None));
    }
    // A local variable needs to be unique only within its test.
    let name = tree.other_place(over, own, |node| tree.is_name(node))?;
    let declarator = tree.parent(name);
    let is_exported = tree.ancestors(declarator).any(|outer| tree.kind(outer) == "export_statement");
    let is_declared = tree.kind(declarator) == "variable_declarator" && tree.field(name) == Some("name");
    let list = bare(tree, tree.child(declarator, "value").filter(|_| is_declared && !is_exported)?);
    is_written_out(tree, list).then_some((list, Some(declarator)))
}

/// Whether a list is a literal without spread elements. A key that an object or a map would have twice replaces a row.
fn is_written_out(tree: &Tree<'_>, list: usize) -> bool {
    let mut keys = BTreeSet::new();
    let mut is_new = |key: Option<usize>| key.and_then(|key| literal(tree, key)).is_some_and(|key| keys.insert(key));
    match tree.kind(list) {
        "array" if is_map(tree, list) => {
            tree.parts(list).all(|row| is_new(tree.parts(row).next().filter(|_| tree.kind(row) == "array")))
        }
        "array" => tree.parts(list).all(|row| tree.kind(row) != "spread_element"),
        "object" => tree.parts(list).all(|row| is_new(tree.child(row, "key").filter(|_| tree.kind(row) == "pair"))),
        _ => false,
    }
}

/// Whether a list is the content of a map.
fn is_map(tree: &Tree<'_>, list: usize) -> bool {
    let made = tree.ancestors(list).find(|outer| tree.kind(*outer) == "new_expression");
    made.is_some_and(|made| bare(tree, made) == list)
}

/// The text of a literal that is written in one way only, apart from its quotes.
fn literal(tree: &Tree<'_>, key: usize) -> Option<String> {
    let text = tree.text(key);
    match tree.kind(key) {
        "string" => text.get(1..text.len() - 1).filter(|inner| !inner.contains('\\')).map(str::to_owned),
        "property_identifier" => (text != "__proto__").then(|| text.to_owned()),
        "number" => text.parse::<u32>().ok().map(|number| number.to_string()),
        _ => None,
    }
}

/// An expression without type annotations and parentheses, and the rows of a map or an object.
fn bare(tree: &Tree<'_>, mut node: usize) -> usize {
    loop {
        let inner = match tree.kind(node) {
            "parenthesized_expression" | "as_expression" | "satisfies_expression" => tree.parts(node).next(),
            "new_expression" if tree.child(node, "constructor").is_some_and(|name| tree.text(name) == "Map") => {
                tree.arguments(node).into_iter().next()
            }
            "call_expression" => {
                let function = tree.child(node, "function").map_or("", |function| tree.text(function));
                tree.arguments(node).into_iter().next().filter(|_| function == "Object.entries")
            }
            _ => None,
        };
        match inner {
            Some(inner) => node = inner,
            None => return node,
        }
    }
}
