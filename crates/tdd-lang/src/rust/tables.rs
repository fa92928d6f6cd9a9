//! Finds the tables of a test, so that a row counts like an assertion and a table may grow.
//!
//! A list is a table if a loop over it only asserts: then each row is a claim of its own, and more rows cannot weaken
//! the test. It may be outside the test, in a constant used for nothing else.

use std::collections::BTreeSet;
use std::ops::Range;

use tdd_core::digest::Digest;

use super::syntax::Tree;

/// A list that a test loops over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Table {
    /// The bytes of the list, with its brackets.
    pub list: Range<usize>,
    pub rows: Vec<Digest>,
    /// The bytes of its item, if that is outside the test.
    pub apart: Option<Range<usize>>,
    /// The bytes of the length in its type, which grows with the list.
    pub length: Option<Range<usize>>,
}

/// The tables of a function, inside or outside it.
pub(super) fn tables(tree: &Tree<'_>, function: Range<usize>) -> Vec<Table> {
    let loops = function.clone().filter(|node| tree.kind(*node) == "for_expression");
    let loops = loops.filter(|node| tree.child(*node, "body").is_some_and(|body| only_asserts(tree, body)));
    let over = loops.filter_map(|node| tree.child(node, "value")).map(|value| bare(tree, value));
    let mut found: Vec<Table> = over.filter_map(|over| table(tree, &function, over)).collect();
    found.sort_by_key(|table| table.list.start);
    found.dedup();
    found
}

/// The tables of the function in these bytes.
pub(super) fn tables_in(tree: &Tree<'_>, span: &Range<usize>) -> Vec<Table> {
    tables(tree, tree.first_from(span.start)..tree.first_from(span.end))
}

/// The conditions that the test function in these bytes asserts in statements of its own, as tables: `assert!(a && b)`
/// claims what `assert!(a)` and `assert!(b)` claim, so that more claims cannot weaken the test.
pub(super) fn conditions_in(tree: &Tree<'_>, span: &Range<usize>) -> Vec<Table> {
    let nodes = tree.first_from(span.start)..tree.first_from(span.end);
    let function = nodes.into_iter().find(|node| tree.kind(*node) == "function_item");
    let Some(body) = function.and_then(|function| tree.child(function, "body")) else { return Vec::new() };
    let plain = |node: usize| if tree.kind(node) == "expression_statement" { node + 1 } else { node };
    let is_assertion = |node: &usize| {
        let name = tree.child(*node, "macro").map_or("", |name| tree.text(name));
        tree.kind(*node) == "macro_invocation" && matches!(name, "assert" | "debug_assert")
    };
    let condition = |call: usize| {
        let list = tree.children(call).find(|child| tree.kind(*child) == "token_tree")?;
        Some(Table { list: tree.range(list), rows: claims(tree, call, list)?, apart: None, length: None })
    };
    tree.children(body).map(plain).filter(is_assertion).filter_map(condition).collect()
}

/// The digests of what an assertion claims. `None` if its condition is more than an `and` of plain expressions.
fn claims(tree: &Tree<'_>, call: usize, arguments: usize) -> Option<Vec<Digest>> {
    let leaves = |leaf: usize| matches!(tree.text(leaf), "return" | "break" | "continue" | "?" | "{");
    if tree.tokens(tree.subtree(arguments)).any(leaves) {
        return None;
    }
    let inside = |group: usize| {
        let all: Vec<usize> = tree.children(group).filter(|child| !tree.is_comment(*child)).collect();
        all.get(1..all.len().saturating_sub(1)).map(<[usize]>::to_vec)
    };
    let condition = inside(arguments)?;
    let condition = condition.split(|token| tree.kind(*token) == ",").next()?.to_vec();
    let (first, last) = (*condition.first()?, *condition.last()?);
    let whole = first..tree.subtree_end(last);
    let mut waiting = vec![condition];
    let mut found = Vec::new();
    while let Some(tokens) = waiting.pop() {
        let is = |wanted: &[&str]| tokens.iter().any(|token| wanted.contains(&tree.text(*token)));
        if is(&["=", ",", ";"]) {
            return None;
        }
        if let [only] = tokens[..]
            && tree.text(only).starts_with('(')
            && let Some(inner) = inside(only).filter(|inner| inner.iter().all(|token| tree.kind(*token) != ","))
        {
            waiting.push(inner);
        } else if is(&["&&"]) && !is(&["||", "|", "..", "..=", "if", "match", "let", "move"]) {
            waiting.extend(tokens.split(|token| tree.text(*token) == "&&").rev().map(<[usize]>::to_vec));
        } else {
            // `&&a` borrows twice.
            let (first, last) = (*tokens.first()?, *tokens.last()?);
            if !ends_value(tree, last) {
                return None;
            }
            let beside = [whole.start..first, tree.subtree_end(last)..whole.end];
            found.push(tree.digest_without(tree.subtree(call), &beside));
        }
    }
    Some(found)
}

/// Whether a token may be the last of an expression.
fn ends_value(tree: &Tree<'_>, token: usize) -> bool {
    let kind = tree.kind(token);
    kind == "token_tree" || kind.ends_with("identifier") || kind.ends_with("literal") || kind == "self"
}

/// Whether a block only asserts, without effects that outlast it.
fn only_asserts(tree: &Tree<'_>, block: usize) -> bool {
    let leaves = |node: usize| {
        matches!(
            tree.kind(node),
            "return" | "break" | "continue" | "return_expression" | "break_expression" | "try_expression" | "?"
        )
    };
    let claims = |node: usize| {
        let call = if tree.kind(node) == "expression_statement" { node + 1 } else { node };
        if tree.kind(call) == "for_expression" {
            return tree.child(call, "body").is_some_and(|body| only_asserts(tree, body));
        }
        let name = tree.child(call, "macro").map_or("", |name| tree.text(name));
        tree.kind(call) == "macro_invocation" && (name.starts_with("assert") || name.starts_with("debug_assert"))
    };
    let statements = || {
        let all = tree.children(block).filter(|child| !tree.is_comment(*child));
        all.filter(|child| !matches!(tree.kind(*child), "{" | "}" | ";"))
    };
    statements().all(|node| tree.kind(node) == "let_declaration" || claims(node))
        && statements().any(claims)
        && !tree.subtree(block).any(leaves)
}

/// The list behind `&rows` or `rows.iter()`.
fn bare(tree: &Tree<'_>, mut node: usize) -> usize {
    loop {
        let inner = match tree.kind(node) {
            "reference_expression" => tree.child(node, "value"),
            "parenthesized_expression" => tree.children(node).nth(1),
            "call_expression" => tree.child(node, "function").filter(|function| {
                let method = tree.child(*function, "field").map_or("", |field| tree.text(field));
                let is_bare = tree.child(node, "arguments").is_some_and(|arguments| tree.text(arguments) == "()");
                is_bare && matches!(method, "iter" | "into_iter" | "copied" | "cloned")
            }),
            "field_expression" if tree.kind(tree.parent(node)) == "call_expression" => tree.child(node, "value"),
            _ => None,
        };
        match inner {
            Some(inner) => node = inner,
            None => return node,
        }
    }
}

/// The table that is looped over: a literal list, or the only definition of a name used for nothing else.
fn table(tree: &Tree<'_>, function: &Range<usize>, over: usize) -> Option<Table> {
    if tree.kind(over) != "identifier" {
        let (list, rows) = list(tree, over)?;
        return Some(Table { list: tree.range(list), rows, apart: None, length: None });
    }
    // A local variable needs to be unique only within its function.
    let name = tree.other_place(over, function, |node| tree.kind(node) == "identifier")?;
    let item = tree.parent(name);
    let is_made = match tree.kind(item) {
        "let_declaration" => tree.field(name) == Some("pattern"),
        "const_item" | "static_item" => tree.field(name) == Some("name") && is_plain(tree, item),
        _ => false,
    };
    let value = tree.child(item, "value").filter(|_| is_made).map(|value| bare(tree, value))?;
    let (list, rows) = list(tree, value)?;
    let length = tree.child(item, "type").and_then(|kind| {
        let array = tree.subtree(kind).find(|node| tree.kind(*node) == "array_type")?;
        tree.child(array, "length")
    });
    let is_apart = !function.contains(&item);
    Some(Table {
        list: tree.range(list),
        rows,
        apart: is_apart.then(|| tree.range(item)),
        length: length.map(|length| tree.range(length)),
    })
}

/// Whether a constant is private and has no attribute.
fn is_plain(tree: &Tree<'_>, item: usize) -> bool {
    let is_seen = tree.children(item).any(|child| tree.kind(child) == "visibility_modifier");
    let siblings = tree.children(tree.parent(item)).take_while(|node| *node < item);
    !is_seen && siblings.last().is_none_or(|before| tree.kind(before) != "attribute_item")
}

/// A literal list and the digests of its rows. It may be the content of a collection; a key that a map would have twice
/// replaces a row, so the keys of a map are distinct literals.
fn list(tree: &Tree<'_>, node: usize) -> Option<(usize, Vec<Digest>)> {
    let collection = collection(tree, node);
    let (list, rows) = literal_list(tree, collection.map_or(node, |(inner, _)| bare(tree, inner)))?;
    if collection.is_some_and(|(_, kind)| kind == Collection::PerhapsMap) {
        let mut keys = BTreeSet::new();
        rows.iter().all(|row| key(tree, row).is_some_and(|key| keys.insert(key))).then_some(())?;
    }
    Some((list, rows.into_iter().map(|row| tree.digest(row)).collect()))
}

/// What a collection does with equal elements.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Collection {
    /// Keeps all of them, or one of those that are equal.
    List,
    /// May keep the last of those with the same key.
    PerhapsMap,
}

/// The content of `BTreeMap::from(rows)`, `rows.into_iter().collect()` and `rows.to_vec()`.
fn collection(tree: &Tree<'_>, node: usize) -> Option<(usize, Collection)> {
    let function = tree.child(node, "function").filter(|_| tree.kind(node) == "call_expression")?;
    let mut arguments = tree
        .children(tree.child(node, "arguments")?)
        .filter(|child| !tree.is_comment(*child) && !matches!(tree.kind(*child), "(" | ")" | ","));
    let (first, second) = (arguments.next(), arguments.next());
    if let (Some(inner), None) = (first, second) {
        let path = tree.child(function, "path").map(|path| tree.text(path).split('<').next().unwrap_or_default())?;
        let kind = match path.trim_end_matches("::").rsplit("::").next() {
            Some("HashMap" | "BTreeMap" | "IndexMap") => Collection::PerhapsMap,
            Some("Vec" | "VecDeque" | "HashSet" | "BTreeSet") => Collection::List,
            _ => return None,
        };
        return tree.child(function, "name").filter(|name| tree.text(*name) == "from").map(|_| (inner, kind));
    }
    // `collect::<Kind>()` has its method inside.
    let method = tree.child(function, "function").unwrap_or(function);
    let (value, name) = (tree.child(method, "value")?, tree.child(method, "field")?);
    match tree.text(name) {
        "collect" | "into" => Some((value, Collection::PerhapsMap)),
        "to_vec" => Some((value, Collection::List)),
        _ => None,
    }
}

/// The key of a row of a map, if it is a literal that is written in one way only.
fn key(tree: &Tree<'_>, row: &Range<usize>) -> Option<String> {
    let is_whole = tree.subtree_end(row.start) == row.end;
    let is_pair = is_whole && matches!(tree.kind(row.start), "tuple_expression" | "token_tree");
    let mut inside = tree.children(row.start).filter(|child| is_pair && !tree.is_comment(*child));
    let (open, mut key, comma) = (inside.next()?, inside.next()?, inside.next()?);
    if tree.kind(open) != "(" || tree.kind(comma) != "," {
        return None;
    }
    let owned = tree.child(key, "function").filter(|function| {
        let method = tree.child(*function, "field").map_or("", |method| tree.text(method));
        matches!(method, "to_string" | "to_owned" | "into")
    });
    key = owned.and_then(|function| tree.child(function, "value")).unwrap_or(key);
    let text = tree.text(key);
    match tree.kind(key) {
        "string_literal" | "char_literal" => (!text.contains('\\')).then(|| text.to_owned()),
        "integer_literal" => text.parse::<u128>().ok().map(|number| number.to_string()),
        _ => None,
    }
}

/// A list that is written out, and its rows.
fn literal_list(tree: &Tree<'_>, node: usize) -> Option<(usize, Vec<Range<usize>>)> {
    let list = match tree.kind(node) {
        "array_expression" => node,
        "macro_invocation" if tree.child(node, "macro").is_some_and(|name| tree.text(name) == "vec") => {
            tree.children(node).find(|child| tree.kind(*child) == "token_tree")?
        }
        _ => return None,
    };
    let mut rows: Vec<Range<usize>> = Vec::new();
    let mut is_new = true;
    for part in tree.children(list).filter(|part| !tree.is_comment(*part)) {
        match tree.kind(part) {
            "[" | "]" | "(" | ")" | "{" | "}" => {}
            "," => is_new = true,
            // `[x; n]` repeats one value.
            ";" => return None,
            _ => match rows.last_mut() {
                Some(row) if !is_new => row.end = tree.subtree_end(part),
                _ => {
                    rows.push(tree.subtree(part));
                    is_new = false;
                }
            },
        }
    }
    (!rows.is_empty()).then_some((list, rows))
}
