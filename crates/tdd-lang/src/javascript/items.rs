//! Finds the tests of a JavaScript or TypeScript file, their assertions, and why some never run.

use std::ops::Range;

use tdd_core::change::Mark;
use tdd_core::digest::Digest;

use crate::item::{Assertion, Items, TestItem};

use super::assertion::{Asserting, assertions};
use super::call::{Kind, TestCall, TestFunctions};
use super::owns;
use super::syntax::{MAX_NESTING, Tree};
use super::tables::tables;
use super::title::{JOINT, title};

/// Modifiers and options that keep a test's result from counting.
const SKIPPING: [&str; 6] = ["skip", "todo", "skipIf", "runIf", "fails", "failing"];

/// Those that keep a test from running under any condition.
const SKIPPING_ALWAYS: [&str; 2] = ["skip", "todo"];

/// The tests and other items of one source file.
pub fn items(path: &str, source: &str) -> Items {
    let Some(tree) = Tree::parse(path, source) else { return Items::default() };
    let mut items = Items { parses: tree.parses(), ..Items::default() };
    items.functions = (0..tree.len()).filter(|node| tree.is_function(*node)).count();
    if is_test_file(path) {
        items.tests = located(&tree).into_iter().map(|(test, _)| test).collect();
        items.test_ranges.push(0..source.len());
        items.functions = 0;
    }
    items
}

/// The tests of a file, each with the call that defines it.
pub(super) fn located(tree: &Tree<'_>) -> Vec<(TestItem, TestCall)> {
    let mut finder = Finder {
        tree,
        test_functions: TestFunctions::of(tree),
        asserting: Asserting::of(tree),
        only: false,
        found: Vec::new(),
    };
    finder.scope(0..tree.len(), &Outer::default());
    let only = finder.only;
    for (test, _) in finder.found.iter_mut().filter(|(test, _)| only && test.ignored.is_none()) {
        test.ignored = Some(Mark { text: "something in this file is marked `.only`".to_owned(), always: false });
    }
    finder.found
}

/// The nodes outside tests that hold the tests' tables.
pub(super) fn tables_apart(tree: &Tree<'_>) -> Vec<usize> {
    let asserting = Asserting::of(tree);
    located(tree).into_iter().flat_map(|(_, test_call)| tables(tree, &asserting, &test_call).apart).collect()
}

/// Whether a file's name or folder marks it as a test file.
pub(super) fn is_test_file(path: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    owns(path) && (is_test_name(name) || in_test_folder(folders))
}

/// Whether a runner would run a file because of its name.
pub(super) fn is_test_name(name: &str) -> bool {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let ends = [".test", ".spec", "-test", "_test", "-spec", "_spec"].iter().any(|ending| stem.ends_with(ending));
    ends || stem == "test" || stem.starts_with("test-") || stem.starts_with("test_")
}

/// Whether one of these folders is for tests.
pub(super) fn in_test_folder(folders: &str) -> bool {
    let for_tests = [
        "test",
        "tests",
        "__tests__",
        "__test__",
        "spec",
        "specs",
        "__mocks__",
        "__snapshots__",
        "__fixtures__",
        "fixtures",
        "testdata",
        "e2e",
    ];
    folders.split('/').any(|folder| for_tests.contains(&folder))
}

/// The groups around a test.
#[derive(Clone, Default)]
struct Outer {
    name: String,
    mark: Option<Mark>,
}

struct Finder<'t, 's> {
    tree: &'t Tree<'s>,
    test_functions: TestFunctions<'s>,
    asserting: Asserting<'s>,
    /// Whether something in the file is marked `only`.
    only: bool,
    found: Vec<(TestItem, TestCall)>,
}

impl Finder<'_, '_> {
    /// Collects the tests among these nodes. Skips named functions: tests in them are defined when they are called,
    /// under unknown names.
    fn scope(&mut self, nodes: Range<usize>, outer: &Outer) {
        let tree = self.tree;
        let mut node = nodes.start;
        while node < nodes.end {
            if let Some(test_call) = self.test_functions.test_call(tree, node) {
                self.add_call(test_call, outer);
                node = tree.subtree_end(node);
            } else if matches!(tree.kind(node), "function_declaration" | "class_declaration" | "method_definition") {
                node = tree.subtree_end(node);
            } else {
                node += 1;
            }
        }
    }

    fn add_call(&mut self, test_call: TestCall, outer: &Outer) {
        let tree = self.tree;
        let own = title(tree, test_call.title);
        let name = if outer.name.is_empty() { own } else { format!("{}{JOINT}{own}", outer.name) };
        let mark = Mark::strongest(outer.mark.clone().into_iter().chain(mark(tree, &test_call)));
        self.only |= test_call.is("only") || has_option(tree, test_call.call, &["only"]).is_some();
        match (test_call.kind, test_call.body) {
            (Kind::Group, Some(body)) if tree.ancestors(body).count() < MAX_NESTING => {
                self.scope(tree.subtree(body), &Outer { name, mark });
            }
            (Kind::Group, _) => {}
            (Kind::Test, _) => self.test(test_call, name, mark),
        }
    }

    fn test(&mut self, test_call: TestCall, name: String, mark: Option<Mark>) {
        let tree = self.tree;
        let whole = whole(tree, test_call.call);
        let span = tree.range(whole);
        let body = test_call.body.map_or(0..0, |body| tree.subtree(body));
        let apart = tables(tree, &self.asserting, &test_call).apart;
        let with_apart = |own: Digest| with_apart(tree, &apart, whole, own);
        let nothing = test_call.body.is_none().then(|| Mark::always("it has no function"));
        let test = TestItem {
            name,
            annotation: annotation(tree.source(), span.start),
            line: tree.line(test_call.title),
            digest: with_apart(tree.digest(tree.subtree(whole))),
            body: with_apart(tree.digest_without(tree.subtree(whole), &[tree.subtree(test_call.title)])),
            assertions: assertions(tree, &self.asserting, body.clone())
                .into_iter()
                .map(|node| self.assertion(node, body.start))
                .collect(),
            ignored: Mark::strongest(mark.into_iter().chain(skipping_calls(tree, body.clone())).chain(nothing)),
            cfg: Vec::new(),
            should_panic: false,
            expected_panic: None,
            returns_result: false,
            cases: Vec::new(),
            span,
        };
        self.found.push((test, test_call));
    }

    fn assertion(&self, node: usize, top: usize) -> Assertion {
        let tree = self.tree;
        let mut around = tree.ancestors(node).take_while(|outer| *outer > top);
        Assertion {
            kind: self.asserting.kind(tree, node),
            span: tree.range(node),
            digest: tree.digest(tree.subtree(node)),
            in_closure: around.any(|outer| tree.is_function(outer)),
        }
    }
}

/// The digest of a test together with its tables outside it.
fn with_apart(tree: &Tree<'_>, apart: &[usize], whole: usize, own: Digest) -> Digest {
    if apart.is_empty() {
        return own;
    }
    let apart = apart.iter().map(|node| tree.digest_without(tree.subtree(*node), &[tree.subtree(whole)]));
    let all: Vec<Digest> = [own].into_iter().chain(apart).collect();
    Digest::of(all.iter().map(Digest::as_str).collect::<String>())
}

/// The statement that consists only of this call, or the call itself.
pub(super) fn whole(tree: &Tree<'_>, call: usize) -> usize {
    let outer = std::iter::once(call).chain(tree.ancestors(call));
    let plain = outer
        .take_while(|node| *node == call || matches!(tree.kind(*node), "await_expression" | "expression_statement"));
    plain.last().filter(|node| tree.kind(*node) == "expression_statement").unwrap_or(call)
}

/// The skip mark of a test or a group, from its modifiers or options.
fn mark(tree: &Tree<'_>, test_call: &TestCall) -> Option<Mark> {
    let base = tree.text(test_call.base);
    let modifiers =
        test_call.modifiers.iter().filter(|modifier| SKIPPING.contains(&modifier.as_str()) || *modifier == "only");
    let modifiers = modifiers.map(|modifier| Mark {
        text: format!("{base}.{modifier}"),
        always: SKIPPING_ALWAYS.contains(&modifier.as_str()),
    });
    let option = has_option(tree, test_call.call, &["skip", "todo", "only", "fails", "failing"]);
    Mark::strongest(modifiers.chain(option))
}

/// An option among a call's arguments, unless it is `false`.
fn has_option(tree: &Tree<'_>, call: usize, wanted: &[&str]) -> Option<Mark> {
    let objects = tree.arguments(call).into_iter().filter(|argument| tree.kind(*argument) == "object");
    let pairs = objects.flat_map(|object| tree.parts(object).collect::<Vec<_>>());
    let found = pairs.filter_map(|pair| {
        let (key, value) = match tree.kind(pair) {
            "pair" => (tree.child(pair, "key"), tree.child(pair, "value")),
            _ => (Some(pair), None),
        };
        let key = key.map_or("", |key| tree.text(key)).trim_matches(['\'', '"']);
        let is_off = value.is_some_and(|value| tree.text(value) == "false");
        let is_on = value.is_some_and(|value| matches!(tree.kind(value), "true" | "string"));
        let always = is_on && SKIPPING_ALWAYS.contains(&key);
        (wanted.contains(&key) && !is_off).then(|| Mark { text: tree.text(pair).to_owned(), always })
    });
    Mark::strongest(found)
}

/// The marks from `t.skip()`, `ctx.skip()`, `this.skip()` and `t.todo()`; unconditional if they are top-level
/// statements of the test.
fn skipping_calls(tree: &Tree<'_>, body: Range<usize>) -> Vec<Mark> {
    let function = body.start;
    let skips = |node: &usize| {
        let function = if tree.kind(*node) == "call_expression" { tree.child(*node, "function") } else { None };
        function.is_some_and(|function| {
            let object = tree.child(function, "object").map_or("", |object| tree.text(object));
            let property = tree.child(function, "property").map_or("", |property| tree.text(property));
            let handed = matches!(object, "t" | "ctx" | "context" | "this" | "test" | "task" | "vi");
            handed && matches!(property, "skip" | "todo")
        })
    };
    let always = |call: usize| {
        let statement = tree.parent(call);
        tree.kind(statement) == "expression_statement" && tree.parent(tree.parent(statement)) == function
    };
    body.filter(skips).map(|call| Mark { text: tree.text(call).to_owned(), always: always(call) }).collect()
}

/// The slug after `@tdd-test-id:` in a comment within three lines above a place.
fn annotation(source: &str, start: usize) -> Option<String> {
    let above = source.get(..start)?;
    let line_start = above.rfind('\n').map_or(0, |end| end + 1);
    let above = above.get(..line_start)?.lines().rev().take(3);
    let is_comment = |line: &&str| {
        let line = line.trim_start();
        line.is_empty() || ["//", "/*", "*"].iter().any(|start| line.starts_with(start))
    };
    let mut slugs = above.take_while(is_comment).filter_map(|line| line.split_once("@tdd-test-id:"));
    slugs.next().map(|(_, slug)| slug.trim().trim_end_matches("*/").trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(source: &str) -> Vec<TestItem> {
        items("a.test.js", source).tests
    }

    fn names(source: &str) -> Vec<String> {
        of(source).into_iter().map(|test| test.name).collect()
    }

    #[test]
    fn tests_have_the_names_of_their_groups_before_their_own() {
        let source = "describe('a', () => {\n  it('b', () => {})\n  describe('c', function () { it(`d`, () => {}) })\n})\n\
                      for (const n of [1]) { test(`e ${n}`, () => {}) }\n[1].forEach((n) => test('f ' + n, () => {}))\n\
                      test('g', async (t) => { await t.test('h', () => {}) })\nfunction make() { test('i', () => {}) }\n";
        assert_eq!(names(source), ["a > b", "a > c > d", "e ${n}", "${'f ' + n}", "g"]);
    }

    #[test]
    fn a_file_is_known_by_its_name_or_its_folder() {
        for path in ["a.test.js", "src/a.spec.tsx", "test/helper.mjs", "src/__tests__/a.ts", "a-test.cjs", "test.js"] {
            assert!(is_test_file(path), "{path}");
        }
        for path in ["a.js", "latest.js", "src/testing.ts", "test/data.json", "contest/a.js", "a.test.json"] {
            assert!(!is_test_file(path), "{path}");
        }
    }

    #[test]
    fn every_kind_of_assertion_is_found() {
        let source = "import assert, { equal } from 'node:assert'\ntest('a', async (t) => {\n  assert(f())\n  assert.deepEqual(f(), [1])\n  equal(f(), 1)\n  \
                      expect(f()).not.toBe(1)\n  await expect(f()).rejects.toThrow()\n  expect(f()).to.be.true\n  expect(f())\n  t.assert.ok(f())\n  \
                      list.forEach((x) => expect(x).toBe(1))\n  expect.assertions(2)\n})\n";
        let found: Vec<_> =
            of(source)[0].assertions.iter().map(|it| (it.kind.as_str().to_owned(), it.in_closure)).collect();
        let kinds = ["assert", "assert.deepEqual", "equal", "expect", "expect", "expect", "t.assert.ok"];
        let mut expected: Vec<_> = kinds.map(|kind| (kind.to_owned(), false)).to_vec();
        expected.push(("expect".to_owned(), true));
        assert_eq!(found, expected);
    }

    #[test]
    fn whatever_keeps_a_test_from_running_is_seen() {
        for (source, always) in [
            ("test.skip('a', () => {})", true),
            ("test.skipIf(true)('a', () => {})", false),
            ("describe.skip('x', () => { test('a', () => {}) })", true),
            ("xit('a', () => {})", true),
            ("test.todo('a')", true),
            ("test('a')", true),
            ("test('a', { skip: 'why' }, () => {})", true),
            ("test('a', { skip: isWindows }, () => {})", false),
            ("test('a', { todo: true }, () => {})", true),
            ("test('a', (t) => { t.skip() })", true),
            ("test('a', (t) => { if (f()) { t.skip() } })", false),
            ("test.fails('a', () => {})", false),
            ("test.only('a', () => {})", false),
            ("test('a', () => {})\ntest.only('b', () => {})", false),
            ("test('a', () => {})\ndescribe('b', { only: true }, () => {})", false),
        ] {
            assert_eq!(of(source)[0].ignored.as_ref().map(|mark| mark.always), Some(always), "{source}");
        }
        for source in ["test('a', { skip: false, timeout: 5 }, () => {})", "test('a', () => { list.skip() })"] {
            assert_eq!(of(source)[0].ignored, None, "{source}");
        }
    }

    #[test]
    fn groups_that_stand_too_deep_break_nothing() {
        let source = format!("{}it('a', () => {{}}){}", "describe('x', () => {".repeat(3000), "})".repeat(3000));
        assert!(of(&source).is_empty());
    }

    #[test]
    fn an_annotation_stands_within_three_lines_above() {
        let slug = |source: &str| of(source).pop().unwrap().annotation;
        assert_eq!(slug("// @tdd-test-id: adds\n\ntest('a', () => {})\n").as_deref(), Some("adds"));
        assert_eq!(slug("/* @tdd-test-id: adds */\ntest('a', () => {})\n").as_deref(), Some("adds"));
        assert_eq!(slug("// @tdd-test-id: adds\n\n\n\ntest('a', () => {})\n"), None);
        assert_eq!(slug("// @tdd-test-id: adds\ntest('a', () => {})\ntest('b', () => {})\n"), None);
    }
}
