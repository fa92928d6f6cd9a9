//! Tells whether a test that grew still does all that it did.

use tdd_core::digest::Digest;

use super::items::{called, function, is_failure, is_library};
use super::suites::methods;
use super::syntax::Tree;
use super::tables::{beside, elements, tables};
use crate::item::TestItem;

/// Whether a test still does all that it did: its statements stand in another one in the same order, with nothing
/// but assertions before the last of them, so that nothing keeps them from being run. A table may gain rows.
pub(super) fn is_kept(before: (&str, &TestItem), after: (&str, &TestItem)) -> bool {
    let (Some(old), Some(new)) = (parts(before), parts(after)) else { return false };
    let is_apart_kept = |table: &Statement| new.apart.iter().any(|other| table.is_kept_in(other));
    is_whole_kept(&old, &new)
        && old.apart.iter().all(is_apart_kept)
        && old
            .suite
            .iter()
            .all(|(name, part)| new.suite.iter().any(|(other, found)| other == name && is_whole_kept(part, found)))
}

fn is_whole_kept(old: &Parts, new: &Parts) -> bool {
    let mut left = new.statements.iter();
    let mut is_next = |wanted: &Statement| {
        left.find(|found| wanted.is_kept_in(found) || !found.asserts).is_some_and(|found| wanted.is_kept_in(found))
    };
    old.head == new.head && old.statements.iter().all(&mut is_next)
}

/// A test in parts: what stands before its body, and each statement of that.
struct Parts {
    head: Digest,
    statements: Vec<Statement>,
    /// The methods that it runs as a suite, by name.
    suite: Vec<(String, Parts)>,
    /// What holds tables of it elsewhere.
    apart: Vec<Statement>,
}

struct Statement {
    digest: Digest,
    /// It asserts and does nothing else.
    asserts: bool,
    /// What is left of it without the rows of its table, and those.
    table: Option<(Digest, Vec<Digest>)>,
}

impl Statement {
    fn is_kept_in(&self, other: &Self) -> bool {
        let grew = || match (&self.table, &other.table) {
            (Some((rest, rows)), Some((other_rest, other_rows))) => {
                let mut left = other_rows.iter();
                rest == other_rest && rows.iter().all(|row| left.any(|other| other == row))
            }
            _ => false,
        };
        self.digest == other.digest || grew()
    }
}

fn parts((source, test): (&str, &TestItem)) -> Option<Parts> {
    let tree = Tree::parse(source)?;
    let function = function(&tree, &test.span)?;
    let part = |method: usize| Some((tree.named(method, "name").to_owned(), parts_of(&tree, method)?));
    let suite = methods(&tree, function).into_iter().filter_map(part).collect();
    let apart = beside(&tree, function).into_iter().map(|(spec, table)| Statement {
        digest: tree.digest(tree.inside(spec)),
        asserts: false,
        table: grown(&tree, spec, table),
    });
    parts_of(&tree, function).map(|parts| Parts { suite, apart: apart.collect(), ..parts })
}

fn parts_of(tree: &Tree<'_>, function: usize) -> Option<Parts> {
    let body = tree.child(function, "body")?;
    let tables = tables(tree, function);
    let statement = |node: usize| Statement {
        digest: tree.digest(tree.inside(node)),
        asserts: asserts(tree, node),
        table: tables
            .iter()
            .find(|table| tree.inside(node).contains(*table))
            .and_then(|table| grown(tree, node, *table)),
    };
    let output = tree.output(function).map(|from| Statement {
        digest: tree.digest(from..tree.past(body)),
        asserts: false,
        table: None,
    });
    let statements = tree.statements(body).into_iter().map(statement).chain(output).collect();
    Some(Parts { head: tree.digest(function..body), statements, suite: Vec::new(), apart: Vec::new() })
}

/// What is left of a node without the rows of this table, and those.
fn grown(tree: &Tree<'_>, node: usize, table: usize) -> Option<(Digest, Vec<Digest>)> {
    let rows = tree.child(table, "body")?;
    let digests = elements(tree, table).into_iter().map(|row| tree.digest(tree.inside(row)));
    Some((tree.digest_without(tree.inside(node), tree.inside(rows)), digests.collect()))
}

/// Whether a statement asserts and does nothing else.
fn asserts(tree: &Tree<'_>, statement: usize) -> bool {
    let is_plain = |statement: usize| {
        let call = statement + 1;
        tree.kind(statement) == "expression_statement"
            && (is_failure(tree, call) || matches!(called(tree, call), "Log" | "Logf"))
    };
    match tree.kind(statement) {
        "expression_statement" => is_library(tree, statement + 1),
        "if_statement" => {
            let block = tree.child(statement, "consequence").map(|block| tree.statements(block)).unwrap_or_default();
            let fails = block.iter().any(|inner| is_failure(tree, inner + 1));
            tree.child(statement, "alternative").is_none() && fails && block.into_iter().all(is_plain)
        }
        _ => false,
    }
}
