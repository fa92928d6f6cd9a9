//! Finds a test's assertions, also inside macro arguments, which the parser does not parse.

use std::ops::Range;

use crate::item::Assertion;

use super::syntax::Tree;

/// A macro asserts if the last part of its path starts with one of these. `matches!` does not, and neither do
/// `unwrap_err()` and the like, whose failure says nothing about the intent of the test.
const ASSERTING: [&str; 4] = ["assert", "debug_assert", "prop_assert", "expect_"];

/// Where a node is inside its test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Place {
    /// In a closure, an async block, an inner function or a macro definition.
    deferred: bool,
    /// In a branch of `if`, `else`, `match` or `let … else`.
    branch: bool,
}

/// The assertions in these nodes of a test; the first node is the function itself.
///
/// A `panic!` counts only in a branch, where it means "this must not happen"; elsewhere it makes a test that never
/// passes.
pub(super) fn assertions(tree: &Tree<'_>, test: Range<usize>) -> Vec<Assertion> {
    let mut places = vec![Place::default(); test.len()];
    let mut found = Vec::new();
    for node in test.clone() {
        let here = places[node - test.start];
        let is_test_itself = node == test.start;
        for (child, place) in places_of_children(tree, node, here, is_test_itself) {
            places[child - test.start] = place;
        }
        found.extend(invocations(tree, node).filter_map(|nodes| {
            let place = places[nodes.start - test.start];
            assertion(tree, nodes, place)
        }));
    }
    found.sort_by_key(|assertion| assertion.span.start);
    found
}

/// The expected value in a test's attribute, as an assertion.
pub(super) fn of_attribute(tree: &Tree<'_>, attribute: Range<usize>) -> Assertion {
    let span = span(tree, &attribute);
    Assertion { kind: "test_case".to_owned(), span, digest: tree.digest(attribute), in_closure: false }
}

fn places_of_children(tree: &Tree<'_>, node: usize, here: Place, is_test_itself: bool) -> Vec<(usize, Place)> {
    if tree.kind(node) == "token_tree" {
        return places_of_tokens(tree, node, here);
    }
    let defers = matches!(tree.kind(node), "closure_expression" | "function_item" | "async_block" | "macro_definition");
    let deferred = here.deferred || (defers && !is_test_itself);
    let place = |child| Place { deferred, branch: here.branch || is_branch(tree, child) };
    tree.children(node).map(|child| (child, place(child))).collect()
}

fn is_branch(tree: &Tree<'_>, node: usize) -> bool {
    matches!(tree.kind(node), "else_clause" | "match_block")
        || matches!(tree.field(node), Some("consequence" | "alternative"))
}

/// The same for macro arguments, judging by the tokens.
fn places_of_tokens(tree: &Tree<'_>, node: usize, here: Place) -> Vec<(usize, Place)> {
    let mut reader = Reader::default();
    let mut previous = "(";
    let mut places = Vec::new();
    for child in tree.children(node) {
        let text = tree.text(child);
        let is_block = tree.kind(child) == "token_tree" && text.starts_with('{');
        places.push((child, reader.place(here, is_block)));
        reader.read(text, previous, is_block);
        previous = text;
    }
    places
}

/// What the preceding tokens say about the next one.
#[derive(Default)]
struct Reader {
    closure: Closure,
    /// The next block is the body of a function or of an async block.
    defers_block: bool,
    /// The next blocks are branches.
    branches: bool,
}

#[derive(Default, PartialEq, Eq)]
enum Closure {
    #[default]
    None,
    /// Between the bars.
    Parameters,
    /// After the bars.
    Body,
}

impl Reader {
    fn place(&self, here: Place, is_block: bool) -> Place {
        Place {
            deferred: here.deferred || self.closure == Closure::Body || (is_block && self.defers_block),
            branch: here.branch || (is_block && self.branches),
        }
    }

    fn read(&mut self, token: &str, previous: &str, is_block: bool) {
        match token {
            "|" if self.closure == Closure::Parameters => self.closure = Closure::Body,
            "|" if begins_expression(previous) => self.closure = Closure::Parameters,
            "||" if begins_expression(previous) => self.closure = Closure::Body,
            ";" => *self = Self::default(),
            "," if self.closure != Closure::Parameters => *self = Self::default(),
            "fn" | "async" => self.defers_block = true,
            "if" | "match" | "else" => self.branches = true,
            _ if is_block => self.defers_block = false,
            _ => {}
        }
    }
}

/// Whether an expression may begin after this token, so that a `|` opens a closure.
fn begins_expression(previous: &str) -> bool {
    matches!(previous, "(" | "[" | "{" | "," | "=" | "=>" | ";" | "move" | "return" | "&" | "async" | ":")
}

/// The macro calls among a node's children, each from its path to its arguments.
fn invocations(tree: &Tree<'_>, node: usize) -> impl Iterator<Item = Range<usize>> {
    let children: Vec<usize> = match tree.kind(node) {
        "macro_invocation" | "token_tree" => tree.children(node).filter(|child| !tree.is_comment(*child)).collect(),
        _ => Vec::new(),
    };
    let calls = |at: &usize| {
        tree.kind(children[*at + 1]) == "!"
            && tree.kind(children[*at + 2]) == "token_tree"
            && matches!(tree.kind(children[*at]), "identifier" | "scoped_identifier")
    };
    let found: Vec<Range<usize>> = (0..children.len().saturating_sub(2))
        .filter(calls)
        .map(|at| children[path_start(tree, &children, at)]..tree.subtree_end(children[at + 2]))
        .collect();
    found.into_iter()
}

fn path_start(tree: &Tree<'_>, children: &[usize], mut at: usize) -> usize {
    while at >= 1 && tree.kind(children[at - 1]) == "::" {
        let has_name = at >= 2 && matches!(tree.kind(children[at - 2]), "identifier" | "crate" | "self" | "super");
        at -= if has_name { 2 } else { 1 };
    }
    at
}

fn assertion(tree: &Tree<'_>, nodes: Range<usize>, place: Place) -> Option<Assertion> {
    let bang = tree.tokens(nodes.clone()).find(|node| tree.kind(*node) == "!")?;
    let name = tree.text(bang - 1);
    let asserts = ASSERTING.iter().any(|start| name.starts_with(start)) || (name == "panic" && place.branch);
    asserts.then(|| Assertion {
        kind: format!("{name}!"),
        span: span(tree, &nodes),
        digest: tree.digest(nodes),
        in_closure: place.deferred,
    })
}

fn span(tree: &Tree<'_>, nodes: &Range<usize>) -> Range<usize> {
    let end = nodes.clone().map(|node| tree.range(node).end).max().unwrap_or_default();
    tree.range(nodes.start).start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the text of each assertion; those in closures are shown in brackets.
    fn check(body: &str, expected: &[&str]) {
        let source = format!("fn t() {{ {body} }}");
        let tree = Tree::parse(&source).unwrap();
        let show = |found: Assertion| {
            let text = source[found.span].to_owned();
            if found.in_closure { format!("[{text}]") } else { text }
        };
        let found: Vec<String> = assertions(&tree, 1..tree.len()).into_iter().map(show).collect();
        assert_eq!(found, expected, "{body}");
    }

    #[test]
    fn assertions_are_known_by_the_last_part_of_their_name() {
        for name in [
            "assert",
            "assert_eq",
            "assert_ne",
            "debug_assert_eq",
            "assert_matches",
            "prop_assert",
            "prop_assert_eq",
            "insta::assert_snapshot",
            "pretty_assertions::assert_eq",
            "::std::assert",
            "crate::support::assert_near",
            "expect_that",
        ] {
            check(&format!("{name}!(a, 1);"), &[&format!("{name}!(a, 1)")]);
            check(&format!("block! {{ x({name}!(a, 1)) }}"), &[&format!("{name}!(a, 1)")]);
        }
    }

    #[test]
    fn the_kind_is_the_name_without_its_path() {
        let tree = Tree::parse("fn t() { insta::assert_snapshot!(a) }").unwrap();
        assert_eq!(assertions(&tree, 1..tree.len())[0].kind, "assert_snapshot!");
    }

    #[test]
    fn what_only_looks_like_an_assertion_is_none() {
        for body in [
            "matches!(a, 1);",
            "a.unwrap_err();",
            "Err(1)?;",
            "\"assert!(a)\";",
            "// assert!(a)",
            "assert_same(a);",
            "x!(assert != (a));",
            "dbg!(\"assert!(a)\");",
        ] {
            check(body, &[]);
        }
        check("assert!(matches!(a, Some(_)));", &["assert!(matches!(a, Some(_)))"]);
    }

    #[test]
    fn a_panic_asserts_only_in_a_branch() {
        check("panic!();", &[]);
        check("prop! { panic!() }", &[]);
        for body in [
            "if a { panic!() }",
            "if a { b } else { panic!() }",
            "match a { 1 => b, _ => panic!() }",
            "let Some(a) = b else { panic!() };",
            "prop! { if let A { b } = c { panic!() } }",
            "prop! { match (a, b) { 1 | 2 => panic!(), _ => {} } }",
            "prop! { let Some(a) = b else { panic!() }; }",
        ] {
            check(body, &["panic!()"]);
        }
    }

    #[test]
    fn an_assertion_that_runs_only_when_called_is_marked() {
        for body in [
            "let f = |a, b| assert!(x);",
            "let f = || { assert!(x) };",
            "fn inner() { assert!(x) }",
            "let f = async { assert!(x) };",
            "macro_rules! m { () => { assert!(x) } }",
            "struct A; impl A { fn a() { assert!(x) } }",
            "prop! { let f = |a, b| assert!(x); }",
            "prop! { let f = move || { assert!(x) }; }",
            "prop! { fn inner(a: u8) -> u8 { assert!(x) } }",
            "prop! { call(1, async move { assert!(x) }) }",
        ] {
            check(body, &["[assert!(x)]"]);
        }
        for body in [
            "if a { for b in c { assert!(x) } }",
            "prop! { f(|a| a, assert!(x)) }",
            "prop! { let f = |a| a; assert!(x) }",
            "prop! { if a || b | c | d { assert!(x) } }",
        ] {
            check(body, &["assert!(x)"]);
        }
    }

    #[test]
    fn assertions_inside_of_assertions_are_found_in_order() {
        check("assert!({ assert_eq!(a, 1); b });", &["assert!({ assert_eq!(a, 1); b })", "assert_eq!(a, 1)"]);
    }
}
