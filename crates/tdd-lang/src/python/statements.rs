//! Tells whether a test that grew still does all that it did.

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
    old.head == new.head && old.statements.iter().all(|(digest, _)| is_next(digest))
}

/// A test in parts: what stands before its body, and each statement of that with whether it only asserts.
struct Parts {
    head: Digest,
    statements: Vec<(Digest, bool)>,
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
    Some(Parts { head: tree.digest(statement..body), statements })
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
