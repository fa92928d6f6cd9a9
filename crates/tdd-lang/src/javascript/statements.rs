//! Decides whether a test that grew still does everything it did.

use std::ops::Range;

use tdd_core::digest::Digest;

use super::assertion::{Asserting, assertions};
use super::items::{located, whole};
use super::syntax::Tree;
use super::tables::{rows, tables};
use crate::item::TestItem;
use crate::kept::{Part, Parts};

/// Whether a test still does everything it did.
pub(super) fn is_kept(path: &str, before: (&str, &TestItem), after: (&str, &TestItem)) -> bool {
    let (Some(old), Some(new)) = (parts(path, before), parts(path, after)) else { return false };
    old.are_kept_in(&new)
}

fn parts(path: &str, (source, test): (&str, &TestItem)) -> Option<Parts> {
    let tree = Tree::parse(path, source)?;
    let (_, test_call) = located(&tree).into_iter().find(|(known, _)| known.span == test.span)?;
    let body = tree.child(test_call.body?, "body")?;
    let asserting = Asserting::of(&tree);
    let tables = tables(&tree, &asserting, &test_call);
    let whole = tree.subtree(whole(&tree, test_call.call));
    let part = |nodes: Range<usize>| {
        let own: Vec<usize> = tables.lists.iter().copied().filter(|list| nodes.contains(list)).collect();
        let mut left_out: Vec<Range<usize>> = own.iter().map(|list| tree.subtree(*list)).collect();
        // A loop around the test is compared without the test.
        left_out.extend((nodes.start < whole.start).then(|| whole.clone()));
        let condition = condition(&tree, nodes.start);
        left_out.extend(condition.map(|condition| tree.subtree(condition)));
        let claims = condition.into_iter().flat_map(|_| claims(&tree, nodes.start));
        Part {
            asserts: assertions(&tree, &asserting, nodes.clone()).first() == Some(&nodes.start),
            rows: own.into_iter().flat_map(|list| rows(&tree, list)).chain(claims).collect(),
            words: tree.digest_without(nodes, &left_out),
        }
    };
    let statements: Vec<usize> = match tree.kind(body) {
        "statement_block" => tree.children(body).filter(|child| tree.is_statement(*child)).collect(),
        _ => vec![body],
    };
    let statements = statements.into_iter().filter(|node| tree.kind(*node) != "comment");
    Some(Parts {
        statements: statements.map(|node| part(tree.subtree(plain(&tree, node)))).collect(),
        head: vec![part(test_call.call..body)],
        apart: tables.apart.iter().map(|apart| part(tree.subtree(*apart))).collect(),
    })
}

/// The condition that a call of `assert` or `assert.ok` holds to be true.
fn condition(tree: &Tree<'_>, call: usize) -> Option<usize> {
    let function = tree.child(call, "function").filter(|_| tree.kind(call) == "call_expression")?;
    let is_assert = matches!(tree.text(function), "assert" | "assert.ok" | "t.assert.ok");
    tree.arguments(call).into_iter().next().filter(|_| is_assert)
}

/// The digests of what an assertion claims: `assert(a && b)` claims what `assert(a)` and `assert(b)` claim.
pub(super) fn claims(tree: &Tree<'_>, call: usize) -> Vec<Digest> {
    let nodes = tree.subtree(call);
    let Some(condition) = condition(tree, call) else { return vec![tree.digest(nodes)] };
    let conjuncts = tree.conjuncts(condition, "binary_expression", "&&");
    conjuncts.into_iter().map(|node| tree.digest_without(nodes.clone(), &tree.beside(condition, node))).collect()
}

/// A statement's expression, without the statement and `await` around it.
pub(super) fn plain(tree: &Tree<'_>, mut node: usize) -> usize {
    while matches!(tree.kind(node), "expression_statement" | "await_expression") {
        let Some(inner) = tree.parts(node).next() else { break };
        node = inner;
    }
    node
}
