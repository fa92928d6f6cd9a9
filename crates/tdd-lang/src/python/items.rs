//! Finds the tests of a Python file, their assertions, and what skips them.

use std::ops::Range;

use tdd_core::change::Mark;
use tdd_core::digest::Digest;

use crate::item::{Assertion, Items, TestItem};

use super::names::Names;
use super::syntax::Tree;
use super::tables::outside;

/// Marks and calls that skip a test, or make its failure count as expected.
const SKIPPING: [&str; 8] =
    ["skip", "skipif", "skipIf", "skipUnless", "xfail", "expectedFailure", "importorskip", "skipTest"];

/// Those that skip unconditionally.
const SKIPPING_ALWAYS: [&str; 3] = ["skip", "skipTest", "SkipTest"];

/// Calls that assert though their names do not begin with `assert`.
const ASSERTING: [&str; 7] =
    ["raises", "warns", "deprecated_call", "fail", "raises_group", "RaisesGroup", "match_snapshot"];

/// The tests and other items of one source file.
pub(super) fn items(path: &str, source: &str, names: &Names) -> Items {
    let Some(tree) = Tree::parse(source) else { return Items::default() };
    let is_test = names.is_test_file(path);
    let mut items = Items { parses: tree.parses(), ..Items::default() };
    items.functions = (0..tree.len()).filter(|node| tree.kind(*node) == "function_definition").count();
    if is_test {
        let module = module_mark(&tree);
        let mut finder = Finder { tree: &tree, source, names, found: Vec::new() };
        finder.scope(0, "", module.as_ref(), /* of_unittest */ false);
        items.tests = finder.found;
        items.test_ranges.push(0..source.len());
        items.functions = 0;
    }
    items
}

/// The definition in a statement that may be decorated.
pub(super) fn definition(tree: &Tree<'_>, statement: usize) -> usize {
    match tree.kind(statement) {
        "decorated_definition" => tree.child(statement, "definition").unwrap_or(statement),
        _ => statement,
    }
}

/// The name of a function or a class; empty if it is neither.
pub(super) fn name<'a>(tree: &Tree<'a>, definition: usize) -> &'a str {
    match tree.kind(definition) {
        "function_definition" | "class_definition" => tree.child(definition, "name").map_or("", |name| tree.text(name)),
        _ => "",
    }
}

struct Finder<'t, 's> {
    tree: &'t Tree<'s>,
    source: &'s str,
    names: &'t Names,
    found: Vec<TestItem>,
}

impl Finder<'_, '_> {
    /// Finds the tests among the statements of a file or a class.
    fn scope(&mut self, node: usize, outer: &str, mark: Option<&Mark>, of_unittest: bool) {
        let tree = self.tree;
        for statement in tree.children(node) {
            let item = definition(tree, statement);
            let name = name(tree, item);
            let full = if outer.is_empty() { name.to_owned() } else { format!("{outer}::{name}") };
            let own = Mark::strongest(mark.cloned().into_iter().chain(decorator_marks(tree, statement)));
            match tree.kind(item) {
                "function_definition" if self.is_test(name, of_unittest) => self.test(statement, item, full, own),
                "class_definition" if holds_tests(tree, item, self.names) => {
                    if let Some(body) = tree.child(item, "body") {
                        let own = Mark::strongest(own.into_iter().chain(pytestmark(tree, body)));
                        self.scope(body, &full, own.as_ref(), is_of_unittest(tree, item));
                    }
                }
                _ => {}
            }
        }
    }

    /// Whether a function is a test. The names of `unittest` tests cannot be configured.
    fn is_test(&self, name: &str, of_unittest: bool) -> bool {
        if of_unittest { name.starts_with("test") } else { self.names.is_function(name) }
    }

    fn test(&mut self, statement: usize, function: usize, name: String, mark: Option<Mark>) {
        let tree = self.tree;
        let span = tree.range(statement);
        let Some(own_name) = tree.child(function, "name") else { return };
        let body = tree.child(function, "body").map_or(function..function, |body| tree.subtree(body));
        self.found.push(TestItem {
            cases: Vec::new(),
            name,
            annotation: annotation(self.source, span.start),
            line: tree.line(own_name),
            digest: with_apart(tree, statement, tree.digest(tree.subtree(statement))),
            body: with_apart(tree, statement, tree.digest_without(tree.subtree(statement), &[tree.subtree(own_name)])),
            assertions: assertions(tree, body.clone()),
            ignored: Mark::strongest(mark.into_iter().chain(skipping_calls(tree, body))),
            cfg: Vec::new(),
            should_panic: false,
            expected_panic: None,
            returns_result: false,
            span,
        });
    }
}

/// The digest of a test, with the tables that it has elsewhere.
fn with_apart(tree: &Tree<'_>, statement: usize, own: Digest) -> Digest {
    let apart: Vec<Digest> = outside(tree, statement).into_iter().map(|node| tree.digest(tree.subtree(node))).collect();
    if apart.is_empty() { own } else { Digest::of([own].iter().chain(&apart).map(Digest::as_str).collect::<String>()) }
}

/// Whether pytest looks for tests in a class.
pub(super) fn holds_tests(tree: &Tree<'_>, class: usize, names: &Names) -> bool {
    let opted_out = || {
        let body = tree.child(class, "body").map_or("", |body| tree.text(body));
        body.lines().any(|line| line.split_whitespace().collect::<String>().starts_with("__test__=False"))
    };
    (names.is_class(name(tree, class)) || is_of_unittest(tree, class)) && !opted_out()
}

/// Whether a class is derived from a test case of `unittest`.
fn is_of_unittest(tree: &Tree<'_>, class: usize) -> bool {
    let bases = tree.child(class, "superclasses").map_or("", |bases| tree.text(bases));
    let mut above = bases.split(['(', ')', ',', '.', ' ']).filter(|base| !base.is_empty());
    above.any(|base| base.ends_with("TestCase") || base != name(tree, class) && is_test_class(tree, base))
}

/// Whether a class of this file is a test case of `unittest`.
fn is_test_class(tree: &Tree<'_>, wanted: &str) -> bool {
    tree.children(0).any(|statement| {
        let class = definition(tree, statement);
        let bases = tree.child(class, "superclasses").map_or("", |bases| tree.text(bases));
        tree.kind(class) == "class_definition" && name(tree, class) == wanted && bases.contains("TestCase")
    })
}

/// The assertions among these nodes.
pub(super) fn assertions(tree: &Tree<'_>, nodes: Range<usize>) -> Vec<Assertion> {
    let top = nodes.start;
    let mut found = Vec::new();
    for node in nodes {
        let kind = match tree.kind(node) {
            "assert_statement" => "assert",
            "call" => match called(tree, node) {
                name if name.starts_with("assert") || ASSERTING.contains(&name) => name,
                _ => continue,
            },
            _ => continue,
        };
        let mut around = tree.ancestors(node).take_while(|outer| *outer > top);
        let in_closure = around.any(|outer| matches!(tree.kind(outer), "function_definition" | "lambda"));
        let digest = tree.digest(tree.subtree(whole(tree, node)));
        found.push(Assertion { kind: kind.to_owned(), span: tree.range(node), digest, in_closure });
    }
    found
}

/// The node that an assertion covers: for a context manager, its whole `with` statement.
fn whole(tree: &Tree<'_>, node: usize) -> usize {
    if tree.kind(node) == "call"
        && matches!(called(tree, node), "raises" | "warns" | "assertRaises" | "assertRaisesRegex")
    {
        let with = tree.ancestors(node).take_while(|outer| tree.kind(*outer) != "block");
        return with.last().filter(|outer| tree.kind(*outer) == "with_statement").unwrap_or(node);
    }
    node
}

/// The last part of the called function's name.
pub(super) fn called<'a>(tree: &Tree<'a>, call: usize) -> &'a str {
    let Some(function) = tree.child(call, "function") else { return "" };
    match tree.kind(function) {
        "identifier" => tree.text(function),
        "attribute" => tree.child(function, "attribute").map_or("", |name| tree.text(name)),
        _ => "",
    }
}

/// The marks of the decorators that skip a test or a class.
fn decorator_marks(tree: &Tree<'_>, statement: usize) -> Vec<Mark> {
    if tree.kind(statement) != "decorated_definition" {
        return Vec::new();
    }
    let decorators = tree.children(statement).filter(|child| tree.kind(*child) == "decorator");
    decorators.map(|child| tree.text(child)).filter(|text| is_skipping(text)).map(mark).collect()
}

/// A mark with this text. It is unconditional if it skips without a condition, alone or in a list of marks.
fn mark(text: &str) -> Mark {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut words = text.split('(').next().unwrap_or(text).split(|c| !is_word(c));
    let mut marks = text.split("mark.skip").skip(1);
    let always = words.any(|word| SKIPPING_ALWAYS.contains(&word)) || marks.any(|rest| !rest.starts_with(is_word));
    Mark { text: text.to_owned(), always }
}

/// Whether a text names a mark that skips.
fn is_skipping(text: &str) -> bool {
    let head = text.split('(').next().unwrap_or(text);
    head.split(['.', '@', ' ', '=', '[']).any(|word| SKIPPING.contains(&word)) || text.contains(").mark.skip(")
}

fn module_mark(tree: &Tree<'_>) -> Option<Mark> {
    let calls = tree.children(0).filter(|statement| tree.kind(*statement) == "expression_statement");
    let calls = calls.map(|statement| tree.text(statement)).filter(|text| is_skipping(text)).map(mark);
    Mark::strongest(pytestmark(tree, 0).into_iter().chain(calls))
}

fn pytestmark(tree: &Tree<'_>, scope: usize) -> Option<Mark> {
    let texts = tree.children(scope).map(|statement| tree.text(statement));
    let mut marks = texts.filter(|text| text.starts_with("pytestmark"));
    marks.find(|text| SKIPPING.iter().any(|word| text.contains(&format!("mark.{word}")))).map(mark)
}

/// The marks of the calls that skip a test; they are unconditional only as statements of the test itself.
fn skipping_calls(tree: &Tree<'_>, body: Range<usize>) -> Vec<Mark> {
    let block = body.start;
    let skips = |node: &usize| match tree.kind(*node) {
        "call" => SKIPPING.contains(&called(tree, *node)) || called(tree, *node) == "SkipTest",
        "raise_statement" => tree.text(*node).contains("SkipTest"),
        _ => false,
    };
    let mark = |node: usize| {
        let text = tree.text(node);
        Mark { text: text.to_owned(), always: tree.parent(tree.statement(node)) == block && mark(text).always }
    };
    body.filter(skips).map(mark).collect()
}

/// The text after `@tdd-test-id:` in a comment at most three lines above a position.
fn annotation(source: &str, start: usize) -> Option<String> {
    let above = source.get(..start)?;
    let line_start = above.rfind('\n').map_or(0, |end| end + 1);
    let above = above.get(..line_start)?.lines().rev().take(3);
    let comments = above.take_while(|line| line.trim().is_empty() || line.trim_start().starts_with(['#', '@']));
    let mut slugs = comments.filter_map(|line| line.trim_start().strip_prefix('#')?.split_once("@tdd-test-id:"));
    slugs.next().map(|(_, slug)| slug.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(source: &str) -> Vec<TestItem> {
        items("tests/test_a.py", source, &Names::default()).tests
    }

    fn names(source: &str) -> Vec<String> {
        of(source).into_iter().map(|test| test.name).collect()
    }

    #[test]
    fn tests_are_what_pytest_would_collect() {
        let source = "def test_a(): pass\nasync def test_b(): pass\ndef helper():\n    def test_inner(): pass\n\
                      class TestX:\n    def test_c(self): pass\n    class TestY:\n        def test_d(self): pass\n\
                      class Other:\n    def test_e(self): pass\nclass Unit(unittest.TestCase):\n    def test_f(self): pass\n\
                      class Child(Unit):\n    def test_g(self): pass\nclass TestNot:\n    __test__ = False\n    def test_h(self): pass\n";
        assert_eq!(
            names(source),
            ["test_a", "test_b", "TestX::test_c", "TestX::TestY::test_d", "Unit::test_f", "Child::test_g"]
        );
    }

    #[test]
    fn every_kind_of_assertion_is_found() {
        let source = "def test_a(self):\n    assert f() == 1\n    self.assertEqual(f(), 1)\n    with pytest.raises(E):\n        f()\n    \
                      mock.assert_called_once()\n    def inner():\n        assert g()\n";
        let found: Vec<_> = of(source)[0].assertions.iter().map(|it| (it.kind.clone(), it.in_closure)).collect();
        let expected = [("assert", false), ("assertEqual", false), ("raises", false), ("assert_called_once", false)];
        let mut expected: Vec<_> = expected.map(|(kind, inner)| (kind.to_owned(), inner)).to_vec();
        expected.push(("assert".to_owned(), true));
        assert_eq!(found, expected);
    }

    #[test]
    fn whatever_keeps_a_test_from_running_is_seen() {
        for (source, always) in [
            ("@pytest.mark.skip\ndef test_a(): pass\n", true),
            ("@pytest.mark.skipif(f(), reason='skip it')\ndef test_a(): pass\n", false),
            ("@pytest.mark.skipif(f())\n@pytest.mark.skip('no')\ndef test_a(): pass\n", true),
            ("@pytest.mark.xfail\ndef test_a(): pass\n", false),
            ("@unittest.skip('no')\nclass TestA:\n    def test_a(self): pass\n", true),
            ("pytestmark = pytest.mark.skip\ndef test_a(): pass\n", true),
            ("pytestmark = [pytest.mark.skipif(f()), pytest.mark.skip('no')]\ndef test_a(): pass\n", true),
            ("pytest.importorskip('numpy')\ndef test_a(): pass\n", false),
            ("def test_a():\n    pytest.skip('no')\n", true),
            ("def test_a():\n    if f():\n        pytest.skip('no')\n", false),
            ("class A(TestCase):\n    def test_a(self):\n        self.skipTest('no')\n", true),
            ("class A(TestCase):\n    def test_a(self):\n        raise unittest.SkipTest\n", true),
        ] {
            assert_eq!(of(source)[0].ignored.as_ref().map(|mark| mark.always), Some(always), "{source}");
        }
        assert_eq!(of("@pytest.mark.parametrize('skip', [1])\ndef test_a(skip): assert skip\n")[0].ignored, None);
    }

    #[test]
    fn an_annotation_stands_within_three_lines_above() {
        let slug = |source: &str| of(source)[0].annotation.clone();
        assert_eq!(slug("# @tdd-test-id: adds\n@x\n\ndef test_a(): pass\n").as_deref(), Some("adds"));
        assert_eq!(slug("# @tdd-test-id: adds\n\n\n\ndef test_a(): pass\n"), None);
        assert_eq!(slug("# @tdd-test-id: adds\ndef other(): pass\ndef test_a(): pass\n"), None);
    }
}
