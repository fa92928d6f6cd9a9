//! Finds the tests of a Go file, their assertions, and what skips them.

use std::ops::Range;

use tdd_core::change::Mark;
use tdd_core::digest::Digest;

use crate::item::{Assertion, Items, TestItem};

use super::suites::methods;
use super::syntax::Tree;
use super::tables::tables_outside;

/// Methods of a test that mark it as failed.
const FAILING: [&str; 6] = ["Error", "Errorf", "Fatal", "Fatalf", "Fail", "FailNow"];

/// Methods that skip a test.
const SKIPPING: [&str; 3] = ["Skip", "Skipf", "SkipNow"];

/// Packages whose functions assert; their first argument is the test.
const ASSERTING: [&str; 5] = ["assert", "require", "is", "qt", "must"];

/// The tests and other items of one source file.
pub fn items(path: &str, source: &str) -> Items {
    let Some(tree) = Tree::parse(source) else { return Items::default() };
    let mut items = Items { parses: tree.parses(), ..Items::default() };
    let functions = || tree.children(0).filter(|node| tree.kind(*node) == "function_declaration");
    if is_test_file(path) {
        let conditions = constraints(&tree);
        let tests = functions().filter(|node| is_test(&tree, *node));
        items.tests = tests.filter_map(|node| test(&tree, source, node, &conditions)).collect();
        items.test_ranges.push(0..source.len());
    } else {
        let methods = tree.children(0).filter(|node| tree.kind(*node) == "method_declaration").count();
        items.functions = functions().count() + methods;
    }
    items
}

/// Whether a file is a test file.
pub(super) fn is_test_file(path: &str) -> bool {
    path.ends_with("_test.go")
}

/// Whether `go test` runs a function: a test, a fuzz target with its seeds, or an example with an output.
pub(super) fn is_test(tree: &Tree<'_>, function: usize) -> bool {
    let name = tree.named(function, "name");
    let takes = |kind: &str| {
        let parameters = tree.named(function, "parameters");
        parameters.trim_end_matches([')', ' ', ',', '\n', '\t']).ends_with(&format!(".{kind}"))
            || parameters.trim_end_matches([')', ' ']).ends_with(&format!("*{kind}"))
    };
    is_called(name, "Test") && takes("T")
        || is_called(name, "Fuzz") && takes("F")
        || is_called(name, "Example") && tree.output(function).is_some()
}

/// Whether a name is this word, alone or followed by anything but a lower-case letter.
fn is_called(name: &str, word: &str) -> bool {
    name.strip_prefix(word).is_some_and(|rest| !rest.starts_with(char::is_lowercase))
}

fn test(tree: &Tree<'_>, source: &str, function: usize, conditions: &[String]) -> Option<TestItem> {
    let name = tree.child(function, "name")?;
    let body = tree.child(function, "body")?;
    Some(TestItem {
        name: tree.text(name).to_owned(),
        annotation: annotation(source, tree.range(function).start),
        span: tree.range(function),
        line: tree.line(name),
        digest: with_apart(tree, function, tree.digest(tree.subtree(function))),
        body: with_apart(tree, function, tree.digest_without(tree.subtree(function), tree.subtree(name))),
        assertions: assertions(tree, body),
        ignored: skipping(tree, body),
        cfg: conditions.to_vec(),
        should_panic: false,
        expected_panic: None,
        returns_result: false,
        cases: Vec::new(),
    })
}

/// The digest of a test, with the suite methods that it runs and the tables that it has elsewhere.
fn with_apart(tree: &Tree<'_>, function: usize, own: Digest) -> Digest {
    let tables = tables_outside(tree, function).into_iter().map(|(spec, _)| spec);
    let parts = methods(tree, function).into_iter().chain(tables).map(|part| tree.digest(tree.subtree(part)));
    let parts: Vec<Digest> = parts.collect();
    if parts.is_empty() { own } else { Digest::of([own].iter().chain(&parts).map(Digest::as_str).collect::<String>()) }
}

/// The build constraints of a file, as written.
pub(super) fn constraints(tree: &Tree<'_>) -> Vec<String> {
    let above = tree.children(0).take_while(|node| tree.kind(*node) == "comment").map(|node| tree.text(node));
    let lines = above.filter(|text| text.starts_with("//go:build") || text.starts_with("// +build"));
    lines.map(str::to_owned).collect()
}

/// The assertions inside a node: conditions that fail the test, calls of an assertion library, failures without a
/// condition of their own, and the output of an example.
pub(super) fn assertions(tree: &Tree<'_>, body: usize) -> Vec<Assertion> {
    let mut found: Vec<Assertion> = Vec::new();
    for node in tree.subtree(body) {
        let (at, kind) = match tree.kind(node) {
            "if_statement" if fails_directly(tree, node) => (node, "if".to_owned()),
            "call_expression" if is_library(tree, node) => (node, called(tree, node).to_owned()),
            "call_expression" if is_failure(tree, node) && !has_condition(tree, node) => {
                (node, format!("t.{}", called(tree, node)))
            }
            _ => continue,
        };
        let mut around = tree.ancestors(at).take_while(|outer| *outer > body);
        let in_closure = around.any(|outer| tree.kind(outer) == "func_literal" && !is_handed_on(tree, outer));
        found.push(Assertion { kind, span: tree.range(at), digest: digest_of(tree, at), in_closure });
    }
    let output = tree.output(tree.parent(body)).map(|from| (from, tree.range(from).start..tree.range(body).end - 1));
    found.extend(output.map(|(from, span)| Assertion {
        kind: "Output".to_owned(),
        span,
        digest: tree.digest(from..tree.subtree_end(body)),
        in_closure: false,
    }));
    found
}

/// The digest of an assertion; an `if` counts without its `else` branch.
fn digest_of(tree: &Tree<'_>, node: usize) -> Digest {
    match tree.child(node, "consequence") {
        Some(block) => tree.digest(node..tree.subtree_end(block)),
        None => tree.digest(tree.subtree(node)),
    }
}

/// Whether an `if` fails the test directly in one of its branches.
fn fails_directly(tree: &Tree<'_>, node: usize) -> bool {
    let branches = ["consequence", "alternative"].into_iter().filter_map(|branch| tree.child(node, branch));
    let mut blocks = branches.filter(|branch| tree.kind(*branch) == "block");
    blocks.any(|block| tree.statements(block).into_iter().any(|statement| is_failing_statement(tree, statement)))
}

fn is_failing_statement(tree: &Tree<'_>, statement: usize) -> bool {
    tree.kind(statement) == "expression_statement" && is_failure(tree, statement + 1)
}

/// Whether a failing call is directly in a branch of an `if`.
fn has_condition(tree: &Tree<'_>, call: usize) -> bool {
    let statement = tree.statement(call);
    let block = tree.parent(tree.parent(statement));
    tree.kind(block) == "block" && tree.kind(tree.parent(block)) == "if_statement"
}

/// Whether a call marks a test as failed.
pub(super) fn is_failure(tree: &Tree<'_>, call: usize) -> bool {
    tree.kind(call) == "call_expression" && FAILING.contains(&called(tree, call)) && is_on_test(tree, call)
}

/// Whether a method is called on a test, by its usual names or by its parameter's type.
fn is_on_test(tree: &Tree<'_>, call: usize) -> bool {
    let object = tree.child(call, "function").map_or("", |function| tree.named(function, "operand"));
    let is_parameter = || {
        tree.ancestors(call).any(|outer| {
            let parameters = tree.child(outer, "parameters");
            parameters.is_some_and(|list| testing_parameters(tree, list).any(|name| name == object))
        })
    };
    matches!(object, "t" | "tb" | "f") && tree.kind(call) == "call_expression" || is_parameter()
}

/// The names of the parameters that are tests.
pub(super) fn testing_parameters<'a>(tree: &Tree<'a>, list: usize) -> impl Iterator<Item = &'a str> {
    let declared = tree.children(list).filter(|node| tree.kind(*node) == "parameter_declaration");
    let tests = declared.filter(|node| {
        let kind = tree.named(*node, "type").trim_start_matches('*');
        matches!(kind, "testing.T" | "testing.TB" | "testing.F" | "testing.B") || kind.rsplit('.').next() == Some("T")
    });
    tests.map(|node| tree.named(node, "name")).collect::<Vec<_>>().into_iter()
}

/// Whether a call belongs to an assertion library: `assert.Equal(t, …)`.
pub(super) fn is_library(tree: &Tree<'_>, call: usize) -> bool {
    let package = tree.child(call, "function").map_or("", |function| tree.named(function, "operand"));
    tree.kind(call) == "call_expression" && ASSERTING.contains(&package)
}

/// Whether a function literal is called on the spot, run as a subtest or fuzz target, or registered as cleanup.
fn is_handed_on(tree: &Tree<'_>, literal: usize) -> bool {
    let parent = tree.parent(literal);
    match tree.kind(parent) {
        "argument_list" => matches!(called(tree, tree.parent(parent)), "Run" | "Cleanup" | "Fuzz"),
        "call_expression" => true,
        _ => false,
    }
}

/// The last part of the called function's name.
pub(super) fn called<'a>(tree: &Tree<'a>, call: usize) -> &'a str {
    let Some(function) = tree.child(call, "function") else { return "" };
    match tree.kind(function) {
        "identifier" => tree.text(function),
        "selector_expression" => tree.named(function, "field"),
        _ => "",
    }
}

/// The mark of a call that skips the test itself; a call inside a subtest skips only that.
fn skipping(tree: &Tree<'_>, body: usize) -> Option<Mark> {
    let skips = |node: &usize| {
        let in_subtest = || {
            let mut around = tree.ancestors(*node).take_while(|outer| *outer > body);
            around.any(|outer| tree.kind(outer) == "func_literal")
        };
        tree.kind(*node) == "call_expression"
            && SKIPPING.contains(&called(tree, *node))
            && is_on_test(tree, *node)
            && !in_subtest()
    };
    let statements = tree.statements(body);
    let mark = |node: usize| Mark { text: tree.text(node).to_owned(), always: statements.contains(&tree.parent(node)) };
    Mark::strongest(tree.subtree(body).filter(skips).map(mark))
}

/// The text after `@tdd-test-id:` in a comment at most three lines above a position.
fn annotation(source: &str, start: usize) -> Option<String> {
    let above = source.get(..start)?.lines().rev().take(3);
    let comments = above.take_while(|line| line.trim().is_empty() || line.starts_with("//"));
    let mut slugs = comments.filter_map(|line| line.strip_prefix("//")?.split_once("@tdd-test-id:"));
    slugs.next().map(|(_, slug)| slug.trim().to_owned())
}

/// The node of the test with this byte range.
pub(super) fn function(tree: &Tree<'_>, span: &Range<usize>) -> Option<usize> {
    tree.nodes_at(span).find(|node| tree.kind(*node) == "function_declaration")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(source: &str) -> Vec<TestItem> {
        items("a_test.go", &format!("package a\n\n{source}")).tests
    }

    #[test]
    fn tests_are_what_go_would_run() {
        let source = "func TestA(t *testing.T) {}\nfunc Test(t *testing.T) {}\nfunc Test_b(t *testing.T) {}\n\
                      func Testing(t *testing.T) {}\nfunc TestMain(m *testing.M) {}\nfunc TestHelper(a int) {}\n\
                      func FuzzX(f *testing.F) {}\nfunc BenchmarkY(b *testing.B) {}\nfunc ExampleZ() {\n\tf()\n\t// Output: 1\n}\n\
                      func ExampleNot() { f() }\nfunc helper(t *testing.T) {}\nfunc (s *Suite) TestM(t *testing.T) {}\n";
        let names: Vec<String> = of(source).into_iter().map(|test| test.name).collect();
        assert_eq!(names, ["TestA", "Test", "Test_b", "FuzzX", "ExampleZ"]);
        assert!(items("a.go", "package a\nfunc TestA(t *testing.T) {}\n").tests.is_empty());
    }

    #[test]
    fn every_kind_of_assertion_is_found() {
        let source = "func TestA(t *testing.T) {\n\tif f() != 1 {\n\t\tt.Log(1)\n\t\tt.Errorf(\"x\")\n\t}\n\tif a {\n\t\tb()\n\t} else {\n\t\tt.Fatal()\n\t}\n\t\
                      assert.Equal(t, 1, f())\n\tswitch g() {\n\tcase 1:\n\t\tt.Fail()\n\t}\n\tt.Run(\"x\", func(t *testing.T) {\n\t\tif g() {\n\t\t\tt.Error()\n\t\t}\n\t})\n\t\
                      go func() { if h() { t.Error() } }()\n\tx := func() { if h() { t.Error() } }\n}\n";
        let found: Vec<_> = of(source)[0].assertions.iter().map(|it| (it.kind.clone(), it.in_closure)).collect();
        let expected =
            [("if", false), ("if", false), ("Equal", false), ("t.Fail", false), ("if", false), ("if", false)];
        let mut expected: Vec<_> = expected.map(|(kind, inner)| (kind.to_owned(), inner)).to_vec();
        expected.push(("if".to_owned(), true));
        assert_eq!(found, expected);
        let example = &of("func ExampleZ() {\n\tf()\n\t// Output: 1\n}\n")[0];
        assert_eq!(example.assertions[0].kind, "Output");
    }

    #[test]
    fn whatever_keeps_a_test_from_running_is_seen() {
        let always = |source: &str| of(source)[0].ignored.as_ref().map(|mark| mark.always);
        assert_eq!(always("func TestA(t *testing.T) {\n\tt.Skip(\"no\")\n}\n"), Some(true));
        assert_eq!(always("func TestA(x *testing.T) {\n\tif a {\n\t\tx.SkipNow()\n\t}\n}\n"), Some(false));
        assert_eq!(
            of("func TestA(t *testing.T) {\n\tt.Run(\"a\", func(t *testing.T) { t.Skip() })\n}\n")[0].ignored,
            None
        );
        let constrained = items("a_test.go", "//go:build ignore\n\npackage a\n\nfunc TestA(t *testing.T) {}\n");
        assert_eq!(constrained.tests[0].cfg, ["//go:build ignore"]);
    }

    #[test]
    fn an_annotation_stands_within_three_lines_above() {
        let slug = |source: &str| of(source)[0].annotation.clone();
        assert_eq!(slug("// @tdd-test-id: adds\n// More.\nfunc TestA(t *testing.T) {}\n").as_deref(), Some("adds"));
        assert_eq!(slug("// @tdd-test-id: adds\nvar a = 1\nfunc TestA(t *testing.T) {}\n"), None);
    }
}
