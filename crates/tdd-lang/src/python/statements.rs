//! Tells whether a test that grew still does all that it did.

use std::ops::Range;

use tdd_core::digest::Digest;

use super::items::{called, definition};
use super::syntax::Tree;
use crate::item::TestItem;

/// Whether a test still does all that it did: its statements stand in another one in the same order, with
/// nothing but assertions before the last of them, so that nothing keeps them from being run.
pub(super) fn is_kept(before: (&str, &TestItem), after: (&str, &TestItem)) -> bool {
    let (Some(old), Some(new)) = (parts(before), parts(after)) else { return false };
    let mut left = new.statements.iter();
    let mut is_next = |wanted: &Digest| {
        left.find(|(digest, asserts)| digest == wanted || !asserts).is_some_and(|(digest, _)| digest == wanted)
    };
    is_head_kept(&old.head, &new.head) && old.statements.iter().all(|(digest, _)| is_next(digest))
}

/// The rows of a test's tables.
pub(super) fn rows(tree: &Tree<'_>, function: usize) -> Vec<Digest> {
    let around = tree.parent(function);
    let decorated = if tree.kind(around) == "decorated_definition" { around } else { function };
    let decorators = tree.children(decorated).filter(|child| tree.kind(*child) == "decorator");
    decorators.flat_map(|decorator| mark(tree, tree.inside(decorator)).rows).collect()
}

/// Whether what stands before a body says the same; only its tables may have gained rows.
fn is_head_kept(old: &[Mark], new: &[Mark]) -> bool {
    let same = |(old, new): (&Mark, &Mark)| old.words == new.words && new.rows.starts_with(&old.rows);
    old.len() == new.len() && old.iter().zip(new).all(same)
}

/// A test in parts: what stands before its body, and each statement of that with whether it only asserts.
struct Parts {
    head: Vec<Mark>,
    statements: Vec<(Digest, bool)>,
}

/// A decorator, or the line that defines the test: its words, and apart from them the rows of its table.
struct Mark {
    words: Digest,
    rows: Vec<Digest>,
}

fn mark(tree: &Tree<'_>, nodes: Range<usize>) -> Mark {
    let table = table(tree, nodes.clone()).unwrap_or(nodes.end);
    let rows =
        if table < nodes.end { tree.parts(table).map(|row| tree.digest(tree.inside(row))).collect() } else { vec![] };
    let left_out = if rows.is_empty() { nodes.end..nodes.end } else { tree.inside(table) };
    Mark { words: tree.digest_without(nodes, left_out), rows }
}

/// The list of a `parametrize`: its second argument, where that is written out.
fn table(tree: &Tree<'_>, nodes: Range<usize>) -> Option<usize> {
    let is_it = |node: &usize| tree.kind(*node) == "call" && called(tree, *node) == "parametrize";
    let call = nodes.clone().find(is_it).filter(|_| tree.kind(nodes.start) == "decorator")?;
    let second = tree.parts(tree.child(call, "arguments")?).nth(1)?;
    let is_plain = tree.parts(second).all(|row| tree.kind(row) != "list_splat");
    (matches!(tree.kind(second), "list" | "tuple") && is_plain).then_some(second)
}

fn parts((source, test): (&str, &TestItem)) -> Option<Parts> {
    let tree = Tree::parse(source)?;
    let is_it = |node: &usize| {
        let kind = tree.kind(definition(&tree, *node));
        tree.range(*node) == test.span && kind == "function_definition"
    };
    let statement = (0..tree.len()).find(is_it)?;
    let body = tree.child(definition(&tree, statement), "body")?;
    let statements = tree.children(body).map(|node| (tree.digest(tree.inside(node)), asserts(&tree, node)));
    let nothing = Digest::of([]);
    let statements = statements.filter(|(digest, _)| *digest != nothing).collect();
    let decorators = tree.children(statement).filter(|child| tree.kind(*child) == "decorator");
    let mut head: Vec<Mark> = decorators.map(|decorator| mark(&tree, tree.inside(decorator))).collect();
    head.push(mark(&tree, definition(&tree, statement)..body));
    Some(Parts { head, statements })
}

/// Whether a statement asserts and does nothing else.
fn asserts(tree: &Tree<'_>, statement: usize) -> bool {
    let call = statement + 1;
    let is_call = || {
        tree.kind(statement) == "expression_statement"
            && tree.kind(call) == "call"
            && called(tree, call).starts_with("assert")
    };
    tree.kind(statement) == "assert_statement" || is_call()
}
