//! Tells whether a test that grew still does all that it did.

use tdd_core::digest::Digest;

use super::assertion::{Asserting, assertions};
use super::items::located;
use super::syntax::Tree;
use crate::item::TestItem;

/// Whether a test still does all that it did: its statements stand in another one in the same order, with
/// nothing but assertions before the last of them, so that nothing keeps them from being run.
pub(super) fn is_kept(path: &str, before: (&str, &TestItem), after: (&str, &TestItem)) -> bool {
    let (Some(old), Some(new)) = (parts(path, before), parts(path, after)) else { return false };
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

fn parts(path: &str, (source, test): (&str, &TestItem)) -> Option<Parts> {
    let tree = Tree::parse(path, source)?;
    let (_, making) = located(&tree).into_iter().find(|(known, _)| known.span == test.span)?;
    let body = tree.child(making.body?, "body")?;
    let asserting = Asserting::of(&tree);
    let statements: Vec<usize> = match tree.kind(body) {
        "statement_block" => tree.children(body).filter(|child| tree.is_statement(*child)).collect(),
        _ => vec![body],
    };
    let statements = statements.into_iter().filter(|node| tree.kind(*node) != "comment");
    let statements = statements.map(|node| {
        let plain = plain(&tree, node);
        (tree.digest(tree.inside(plain)), assertions(&tree, &asserting, tree.inside(plain)).first() == Some(&plain))
    });
    Some(Parts { head: tree.digest(making.call..body), statements: statements.collect() })
}

/// What a statement does, without what makes it a statement.
fn plain(tree: &Tree<'_>, mut node: usize) -> usize {
    while matches!(tree.kind(node), "expression_statement" | "await_expression") {
        let Some(inner) = tree.parts(node).next() else { break };
        node = inner;
    }
    node
}
