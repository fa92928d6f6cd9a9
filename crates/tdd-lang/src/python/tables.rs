//! Finds the tables of a test: each row counts like an assertion, and a table may grow.
//!
//! A list is a table if each of its rows is an assertion of its own, so that more rows cannot weaken the test: in a
//! `parametrize`, or in a loop that only asserts. The table may be outside of the test, under a name that nothing else
//! uses.

use std::collections::BTreeSet;

use tdd_core::digest::Digest;

use super::items::called;
use super::statements::asserts;
use super::syntax::Tree;

/// Calls that make a `with` an assertion.
const RAISING: [&str; 6] = ["raises", "warns", "deprecated_call", "assertRaises", "assertRaisesRegex", "assertWarns"];

/// The lists that a test loops over, inside or outside of it.
pub(super) fn tables(tree: &Tree<'_>, test: usize) -> Vec<usize> {
    let over = tree.subtree(test).filter_map(|node| iterated(tree, node));
    let found: BTreeSet<usize> = over.filter_map(|over| table(tree, over)).collect();
    found.into_iter().collect()
}

/// Digests of a table's rows.
pub(super) fn rows(tree: &Tree<'_>, table: usize) -> Vec<Digest> {
    tree.parts(table).map(|row| tree.digest(tree.subtree(row))).collect()
}

/// The statements outside of a test that hold one of its tables.
pub(super) fn outside(tree: &Tree<'_>, test: usize) -> Vec<usize> {
    let apart = tables(tree, test).into_iter().filter(|table| !tree.subtree(test).contains(table));
    apart.map(|table| tree.statement(table)).collect()
}

/// What a node loops over: the values of a `parametrize` or `parameterized.expand`, or the iterable of a loop that only
/// asserts.
fn iterated(tree: &Tree<'_>, node: usize) -> Option<usize> {
    match tree.kind(node) {
        "call" if tree.kind(tree.parent(node)) == "decorator" && called(tree, node) == "parametrize" => {
            let arguments = tree.child(node, "arguments")?;
            let is_named = |part: &usize| tree.child(*part, "name").is_some_and(|name| tree.text(name) == "argvalues");
            let named = tree.parts(arguments).find(is_named).and_then(|part| tree.child(part, "value"));
            named.or_else(|| tree.parts(arguments).nth(1)).map(|values| bare(tree, values))
        }
        "call" if tree.kind(tree.parent(node)) == "decorator" && called(tree, node) == "expand" => {
            tree.parts(tree.child(node, "arguments")?).next().map(|values| bare(tree, values))
        }
        "for_statement" if is_asserting_loop(tree, node) => tree.child(node, "right").map(|over| bare(tree, over)),
        _ => None,
    }
}

/// Whether a loop only asserts, for everything that it goes over.
fn is_asserting_loop(tree: &Tree<'_>, node: usize) -> bool {
    let body = tree.child(node, "body").filter(|_| tree.child(node, "alternative").is_none());
    body.is_some_and(|body| only_asserts(tree, body))
}

/// An iterable without a wrapper around it: `enumerate(rows)`, `rows.items()`.
fn bare(tree: &Tree<'_>, over: usize) -> usize {
    let function = if tree.kind(over) == "call" { tree.child(over, "function") } else { None };
    let arguments = tree.child(over, "arguments");
    let inner = match (called(tree, over), function, arguments) {
        ("enumerate" | "sorted" | "list", Some(function), Some(arguments)) if tree.kind(function) == "identifier" => {
            tree.parts(arguments).next()
        }
        ("items", Some(function), Some(arguments)) if tree.parts(arguments).next().is_none() => {
            tree.child(function, "object")
        }
        _ => None,
    };
    inner.map_or(over, |inner| bare(tree, inner))
}

/// Whether a block only asserts, with no effect beyond the block.
fn only_asserts(tree: &Tree<'_>, block: usize) -> bool {
    let mut has_claim = false;
    for statement in tree.children(block).filter(|statement| tree.kind(*statement) != "comment") {
        let first = statement + 1;
        let is_local = || {
            let left = tree.child(first, "left").map(|left| tree.kind(left));
            tree.kind(first) == "assignment" && matches!(left, Some("identifier" | "pattern_list" | "tuple_pattern"))
        };
        match tree.kind(statement) {
            "expression_statement" if is_local() => continue,
            "with_statement" if raises(tree, statement) && !leaves(tree, statement) => {}
            "with_statement" if tree.child(statement, "body").is_some_and(|body| only_asserts(tree, body)) => {}
            "for_statement" if is_asserting_loop(tree, statement) => {}
            _ if asserts(tree, statement) => {}
            _ => return false,
        }
        has_claim = true;
    }
    has_claim
}

fn raises(tree: &Tree<'_>, with: usize) -> bool {
    let end = tree.child(with, "body").unwrap_or(with);
    (with..end).any(|node| tree.kind(node) == "call" && RAISING.contains(&called(tree, node)))
}

fn leaves(tree: &Tree<'_>, node: usize) -> bool {
    let leaves = |node: usize| matches!(tree.kind(node), "return_statement" | "break_statement" | "continue_statement");
    tree.subtree(node).any(leaves)
}

/// The list that an expression refers to: itself, or the only list assigned to the name.
fn table(tree: &Tree<'_>, over: usize) -> Option<usize> {
    let is_own = |node: usize| matches!(tree.text(node), "self" | "cls");
    let name = match tree.kind(over) {
        "identifier" => tree.text(over),
        "attribute" if tree.child(over, "object").is_some_and(is_own) => {
            tree.child(over, "attribute").map(|name| tree.text(name))?
        }
        _ => return is_plain(tree, over).then_some(over),
    };
    let is_it = |node: &usize| tree.kind(*node) == "identifier" && tree.text(*node) == name;
    let is_assigned = |node: &usize| {
        let assignment = tree.parent(*node);
        tree.kind(assignment) == "assignment" && tree.field(*node) == Some("left")
    };
    let functions = tree.ancestors(over).find(|outer| tree.kind(*outer) == "function_definition");
    let own = functions.filter(|function| tree.subtree(*function).any(|node| is_it(&node) && is_assigned(&node)));
    let scope = own.unwrap_or(0);
    let (made, used): (Vec<usize>, Vec<usize>) = tree.subtree(scope).filter(is_it).partition(is_assigned);
    let [made] = made[..] else { return None };
    let through: BTreeSet<usize> = tree.subtree(scope).filter_map(|node| iterated(tree, node)).collect();
    let is_part = |node: usize| tree.kind(tree.parent(node)) == "attribute" && tree.field(node) == Some("attribute");
    let whole = |node: usize| if is_part(node) { tree.parent(node) } else { node };
    let list = tree.child(tree.parent(made), "right").filter(|list| is_plain(tree, *list))?;
    used.into_iter().all(|node| through.contains(&whole(node))).then_some(list)
}

/// Whether a list is a literal with one element per row. A duplicate key would replace the first one.
fn is_plain(tree: &Tree<'_>, list: usize) -> bool {
    let mut rows = tree.parts(list).peekable();
    let has_rows = rows.peek().is_some();
    match tree.kind(list) {
        "list" | "tuple" => has_rows && rows.all(|row| tree.kind(row) != "list_splat"),
        "dictionary" => {
            let mut keys = BTreeSet::new();
            has_rows && rows.all(|row| key(tree, row).is_some_and(|key| keys.insert(key)))
        }
        _ => false,
    }
}

/// The key of a pair, if it is a plain literal.
fn key(tree: &Tree<'_>, pair: usize) -> Option<String> {
    literal(tree, tree.child(pair, "key")?)
}

/// A plain literal, written in one way only: equal values have equal texts.
fn literal(tree: &Tree<'_>, key: usize) -> Option<String> {
    let text = tree.text(key);
    let quoted = ['"', '\''].into_iter().find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote));
    match tree.kind(key) {
        "string" => quoted.filter(|inner| !inner.contains(['\\', '"', '\''])).map(|inner| format!("'{inner}")),
        "integer" => text.parse::<u64>().ok().map(|number| number.to_string()),
        "tuple" => {
            let parts: Option<Vec<String>> = tree.parts(key).map(|part| literal(tree, part)).collect();
            Some(format!("({:?})", parts?))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(source: &str) -> usize {
        let tree = Tree::parse(source).unwrap();
        let is_test = |node: &usize| {
            let kind = tree.kind(*node);
            let decorated = tree.kind(tree.parent(*node)) == "decorated_definition";
            kind == "decorated_definition" || kind == "function_definition" && !decorated
        };
        let test = (0..tree.len()).rfind(is_test).unwrap();
        tables(&tree, test).into_iter().map(|table| rows(&tree, table).len()).sum()
    }

    #[test]
    fn a_table_stands_in_its_test_or_apart() {
        let loops = |over: &str| format!("def test_a():\n    for a, b in {over}:\n        assert f(a) == b\n");
        let marked = |values: &str| {
            format!("@pytest.mark.parametrize('a, b', {values})\ndef test_a(a, b):\n    assert f(a) == b\n")
        };
        for source in [
            loops("[(1, 2), (3, 4)]"),
            loops("enumerate(('a', 'b'))"),
            loops("{'a': 1, 'b': 2}.items()"),
            format!("CASES = [(1, 2), (3, 4)]\n{}", loops("CASES")),
            format!("CASES: dict = {{'a': 1, \"b\": 2}}\n{}", loops("CASES.items()")),
            marked("[(1, 2), (3, 4)]"),
            "class A(TestCase):\n    @parameterized.expand([(1,), (2,)])\n    def test_a(self, a):\n        self.assertTrue(f(a))\n".to_owned(),
            format!("CASES = ((1, 2), (3, 4))\n{}", marked("CASES")),
            format!("CASES = ((1, 2), (3, 4))\n{}", marked("argvalues=CASES")),
            "def test_a():\n    cases = [1, 2]\n    for case in cases:\n        with subtests.test():\n            got = f(case)\n            assert got\n".to_owned(),
            "def test_a():\n    for bad in ['x', 'y']:\n        with pytest.raises(ValueError):\n            parse(bad)\n".to_owned(),
            "def test_a():\n    cases = {'a': [1], 'b': [2, 3]}\n    for b, numbers in cases.items():\n        for a in numbers:\n            assert f(a) == b\n".to_owned(),
            "def test_a():\n    cases = {(1, 2): 3, (2, 1): 3}\n    for (a, b), c in sorted(cases.items()):\n        assert f(a, b) == c\n".to_owned(),
            "class A(TestCase):\n    CASES = [1, 2]\n    def test_a(self):\n        for case in self.CASES:\n            self.assertTrue(f(case))\n".to_owned(),
        ] {
            assert_eq!(count(&source), 2, "{source}");
        }
    }

    #[test]
    fn a_list_whose_rows_are_no_claims_is_none() {
        let loops = |body: &str| format!("WANT = [1, 2]\ndef test_a():\n    for a in WANT:\n{body}");
        for source in [
            loops("        if f() == a:\n            break\n    else:\n        fail()\n"),
            loops("        assert f(a)\n        break\n"),
            loops("        seen.append(a)\n        assert f(a)\n    assert f() in seen\n"),
            loops("        assert f(a)\n    assert f() in WANT\n"),
            loops("        total += a\n        assert f(a)\n"),
            loops("        try:\n            assert f(a)\n        except AssertionError:\n            pass\n"),
            format!("{}WANT.pop()\n", loops("        assert f(a)\n")),
            format!("{}WANT = []\n", loops("        assert f(a)\n")),
            "WANT = [1, 2][:1]\ndef test_a():\n    for a in WANT:\n        assert f(a)\n".to_owned(),
            "WANT = {'a': 1, 'a': 2}\ndef test_a():\n    for a, b in WANT.items():\n        assert f(a) == b\n"
                .to_owned(),
            "def test_a():\n    assert all(f(a) for a in [1, 2])\n".to_owned(),
            "WANT = {'a': [1], 'b': [2]}\ndef test_a():\n    for b, all in WANT.items():\n        for a in all:\n            assert f(a) == b\n            break\n".to_owned(),
            "WANT = {(1, 2): 3, (1, 2): 4}\ndef test_a():\n    for (a, b), c in WANT.items():\n        assert f(a, b) == c\n".to_owned(),
        ] {
            assert_eq!(count(&source), 0, "{source}");
        }
    }
}
