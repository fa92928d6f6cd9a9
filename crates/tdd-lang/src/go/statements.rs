//! Decides whether a changed test still does everything that it did.

use tdd_core::digest::Digest;

use super::items::{called, function, is_failure, is_library};
use super::suites::methods;
use super::syntax::Tree;
use super::tables::{elements, tables, tables_outside};
use crate::item::TestItem;
use crate::kept::{Part, Parts};

/// Whether a test still does everything that it did; this includes each suite method that it runs.
pub(super) fn is_kept(before: (&str, &TestItem), after: (&str, &TestItem)) -> bool {
    let (Some(old), Some(new)) = (parts(before), parts(after)) else { return false };
    let is_method_kept = |(name, method): &(String, Parts)| {
        new.methods.iter().any(|(other, found)| other == name && method.are_kept_in(found))
    };
    old.test.are_kept_in(&new.test) && old.methods.iter().all(is_method_kept)
}

/// A test split into parts, with the suite methods that it runs, by name.
struct Suite {
    test: Parts,
    methods: Vec<(String, Parts)>,
}

fn parts((source, test): (&str, &TestItem)) -> Option<Suite> {
    let tree = Tree::parse(source)?;
    let function = function(&tree, &test.span)?;
    let method = |method: usize| Some((tree.named(method, "name").to_owned(), parts_of(&tree, method)?));
    let methods = methods(&tree, function).into_iter().filter_map(method).collect();
    let apart = tables_outside(&tree, function).into_iter().map(|(spec, table)| part_of(&tree, spec, Some(table)));
    let test = Parts { apart: apart.collect(), ..parts_of(&tree, function)? };
    Some(Suite { test, methods })
}

fn parts_of(tree: &Tree<'_>, function: usize) -> Option<Parts> {
    let body = tree.child(function, "body")?;
    let tables = tables(tree, function);
    let table_in = |node: usize| tables.iter().copied().find(|table| tree.subtree(node).contains(table));
    let statement = |node: usize| part_of(tree, node, table_in(node));
    let plain = |words: Digest| Part { words, rows: Vec::new(), asserts: false };
    let output = tree.output(function).map(|from| plain(tree.digest(from..tree.subtree_end(body))));
    let statements = tree.statements(body).into_iter().map(statement).chain(output).collect();
    Some(Parts { head: vec![plain(tree.digest(function..body))], statements, apart: Vec::new() })
}

fn part_of(tree: &Tree<'_>, node: usize, table: Option<usize>) -> Part {
    let rows = table.map(|table| elements(tree, table)).unwrap_or_default();
    let left_out = table.and_then(|table| tree.child(table, "body")).map_or(node..node, |body| tree.subtree(body));
    Part {
        words: tree.digest_without(tree.subtree(node), left_out),
        rows: rows.into_iter().map(|row| tree.digest(tree.subtree(row))).collect(),
        asserts: asserts(tree, node),
    }
}

/// Whether a statement only asserts.
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
