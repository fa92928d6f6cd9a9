//! Describes what a change did to a JavaScript project, test by test, item by item and key by key.
//!
//! Layout, comments and formatter style do not count.

use tdd_core::change::{Change, Sort, SteeringChange};
use tdd_core::digest::Digest;

use super::asks::DependencyFinder;
use super::intrusions::intrusions;
use super::items::items;
use super::manifest;
use super::modules::{Modules, Origin};
use super::owns;
use super::pieces::pieces;
use super::sort::sort;
use super::statements;
use super::syntax::Tree;
use crate::analysis::compare::{self, FileFacts, TreeComparer};
use crate::item::TestItem;
use crate::language::{Project, Sources};

/// The change between two trees that differ in these paths.
pub fn change(project: &Project, before: &dyn Sources, after: &dyn Sources, paths: &[String]) -> Change {
    let comparer = TreeComparer {
        know: &|sources| Modules::of(project, sources),
        sort: &sort,
        owns: &owns,
        read: &read,
        steering: &manifest::compare,
        is_kept: &statements::is_kept,
    };
    let mut change = compare::change(&comparer, before, after, paths);
    for path in paths.iter().filter(|path| owns(path) && sort(path) == Sort::Production) {
        let inner = |sources: &dyn Sources| sources.read(path).map_or_else(Vec::new, |text| in_source(path, &text));
        if inner(before) != inner(after) {
            let what =
                "tests inside of production code (`import.meta.vitest`), which belong into a test file".to_owned();
            change.steering.push(SteeringChange { path: path.clone(), what, free: false });
        }
    }
    change
}

/// The code of a file that runs only under vitest (in-source tests), which cannot be told from the code it tests.
fn in_source(path: &str, source: &str) -> Vec<Digest> {
    if !source.contains("import.meta.vitest") {
        return Vec::new();
    }
    let Some(tree) = Tree::parse(path, source) else { return Vec::new() };
    let asks = |node: usize| {
        let condition = tree.child(node, "condition").map_or("", |condition| tree.text(condition));
        tree.kind(node) == "if_statement" && condition.contains("import.meta.vitest")
    };
    (0..tree.len()).filter(|node| asks(*node)).map(|node| tree.digest(tree.subtree(node))).collect()
}

/// The label of an import with the file that it leads to: a test file that moves imports it by another path.
fn resolved(modules: &Modules, path: &str, label: &str) -> String {
    let import = label.strip_suffix('`').and_then(|label| label.rsplit_once("of `"));
    let Some((names, module)) = import.filter(|_| label.starts_with("use ")) else { return label.to_owned() };
    match modules.origin(path, module) {
        Origin::Inside(file) => format!("{names}of `{file}`"),
        Origin::Own | Origin::Foreign | Origin::Package => label.to_owned(),
    }
}

/// The facts about a source file.
fn read(modules: &Modules, path: &str, source: &str) -> FileFacts {
    let Some(tree) = Tree::parse(path, source) else { return FileFacts::default() };
    let found = items(path, source);
    let finder = DependencyFinder::new(path, &tree, modules);
    let mut pieces = pieces(&tree, &found, sort(path) == Sort::Test);
    for piece in pieces.iter_mut().filter(|piece| piece.for_tests) {
        piece.label = resolved(modules, path, &piece.label);
    }
    let ask = |item: &TestItem| (finder.assertions(item), finder.asks_production(item));
    let intrusions = if sort(path) == Sort::Test { intrusions(&tree, &found) } else { Vec::new() };
    FileFacts { intrusions, ..FileFacts::new(path, found, ask, pieces, tree.syntax_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{change_between, told};

    const HEAD: &str =
        "import { test } from 'node:test';\nimport assert from 'node:assert';\nimport { add } from './calc.js';\n\n";
    const TEST: &str = "test('a', () => {\n  assert.equal(add(1, 2), 3);\n});\n";

    fn said(before: &[(&str, &str)], after: &[(&str, &str)]) -> Vec<String> {
        told(&change_between(before, after, change))
    }

    #[test]
    fn a_test_file_that_moves_imports_the_same_module_by_another_path() {
        let at = |folders: &str| format!("{HEAD}{TEST}").replace("./calc.js", &format!("{folders}src/calc.js"));
        let (production, fake) =
            (("src/calc.js", "export const add = 1;\n"), ("test/src/calc.js", "export const add = 2;\n"));
        let (before, after) = (at("../"), at("../../"));
        let moved = ["test/a.test.js::a -> test/unit/a.test.js::a"];
        let base = [production, fake, ("test/a.test.js", before.as_str())];
        assert_eq!(said(&base, &[production, fake, ("test/unit/a.test.js", &after)]), moved);
        let other = said(&base, &[production, fake, ("test/unit/a.test.js", &before)]);
        assert!(other.contains(&"support use `add` of `test/src/calc.js` Added".to_owned()), "{other:?}");
    }

    #[test]
    fn an_assertion_may_gain_a_claim_and_lose_none() {
        let with = |claim: &str| TEST.replace("assert.equal(add(1, 2), 3)", claim);
        let gains = [
            ("assert.ok(add(1) > 1)", "assert.ok(add(1) > 1 && add(1) < 9)"),
            ("assert(add(1) > 1, 'no')", "assert((add(1) < 9) && (add(1) > 1), 'no')"),
        ];
        let loses = [
            ("assert.ok(add(1) && add(2))", "assert.ok(add(1))"),
            ("assert.ok(add(1))", "assert.ok(add(1) || add(2))"),
            ("assert.ok(!add(1))", "assert.ok(!(add(1) && add(2)))"),
            ("assert.equal(add(1), 1)", "assert.equal(add(1) && add(2), 1)"),
        ];
        for (before, after) in gains {
            check(&with(before), &with(after), &["~a.test.js::a true"]);
        }
        for (before, after) in loses {
            check(&with(before), &with(after), &["~a.test.js::a false"]);
        }
    }

    #[test]
    fn a_placeholder_is_no_test_that_could_be_changed() {
        let todo = format!("{TEST}test.todo('b');\n");
        let real = "test('b', () => {\n  assert.equal(add(2, 2), 4);\n});\n";
        check(&todo, &format!("{TEST}{real}"), &["+a.test.js::b"]);
        check(&todo, TEST, &[]);
        check(&format!("{TEST}{real}"), &todo, &["~a.test.js::b false"]);
        let weaker = TEST.replace("  assert.equal(add(1, 2), 3);\n", "");
        check(&todo, &format!("{weaker}{real}"), &["~a.test.js::a false", "+a.test.js::b"]);
        let skipped = TEST.replace("test(", "test.skip(");
        check(&skipped, "", &["-a.test.js::a"]);
    }

    /// Checks the change between two versions of a test file.
    fn check(before: &str, after: &str, expected: &[&str]) {
        let (before, after) = (format!("{HEAD}{before}"), format!("{HEAD}{after}"));
        assert_eq!(said(&[("a.test.js", &before)], &[("a.test.js", &after)]), expected, "{after}");
    }

    #[test]
    fn tests_are_added_removed_moved_and_changed() {
        check("", TEST, &["+a.test.js::a"]);
        check(TEST, "", &["-a.test.js::a"]);
        check(TEST, &TEST.replace("'a'", "'b'"), &["a.test.js::a -> a.test.js::b"]);
        check(TEST, &TEST.replace('3', "4"), &["~a.test.js::a false"]);
        check(TEST, &TEST.replace("test(", "test.skip("), &["~a.test.js::a false"]);
        check(TEST, &format!("describe('x', () => {{\n{TEST}}});\n"), &["a.test.js::a -> a.test.js::x > a"]);
    }

    #[test]
    fn a_test_that_gains_an_assertion_keeps_what_it_had() {
        let grown = TEST.replace(");\n});", ");\n  assert.equal(add(2, 2), 4);\n});");
        check(TEST, &grown, &["~a.test.js::a true"]);
        check("test('a', () => assert.equal(add(1, 2), 3));\n", &grown, &["~a.test.js::a true"]);
        check(
            TEST,
            &grown.replace("  assert.equal(add(1", "  return;\n  assert.equal(add(1"),
            &["~a.test.js::a false"],
        );
    }

    #[test]
    fn a_name_more_out_of_a_required_module_changes_no_test_that_is_there() {
        let with = |names: &str| {
            format!("const {{ {names} }} = require('./calc');\n{}", &TEST.replace("assert.equal", "check"))
        };
        let said = |before: &str, after: &str| said(&[("a.test.js", &with(before))], &[("a.test.js", &with(after))]);
        assert_eq!(said("add", "add, sub"), ["support use `sub` of `calc.js` Added"]);
        assert_eq!(said("add", "add, sub: minus"), ["support use `sub as minus` of `calc.js` Added"]);
        assert_eq!(said("add", "sub: add").len(), 2);
        assert_eq!(said("add", "add = () => 3").len(), 2);
    }

    #[test]
    fn tests_inside_of_production_code_steer() {
        let code = "export const add = (a, b) => a + b;\n";
        let inner = "if (import.meta.vitest) {\n  import.meta.vitest.it('a', () => {});\n}\n";
        let found = said(&[("calc.js", code)], &[("calc.js", &format!("{code}{inner}"))]);
        assert!(found.iter().any(|line| line.starts_with("steering tests inside of production code")), "{found:?}");
        let (before, after) = (format!("{code}{inner}"), format!("{}{inner}", code.replace("a + b", "b + a")));
        assert_eq!(said(&[("calc.js", &before)], &[("calc.js", &after)]), ["production `add` Changed"]);
    }

    #[test]
    fn layout_and_comments_are_nothing() {
        check(TEST, &TEST.replace('\'', "\"").replace(';', "").replace("(1, 2)", "(1, // x\n 2)"), &[]);
    }

    #[test]
    fn one_that_runs_alone_takes_all_others_away() {
        let other = "test.only('b', () => assert.equal(add(1, 1), 2));\n";
        check(TEST, &format!("{TEST}{other}"), &["~a.test.js::a true", "+a.test.js::b"]);
    }

    #[test]
    fn what_tests_use_is_support() {
        let group = |inner: &str| format!("describe('x', () => {{\n  {inner}\n  {TEST}}});\n");
        check(&group("let n = 1;"), &group("let n = 2;"), &["support `x.n` Changed"]);
        let skipped = group("").replace("describe(", "describe.skip(");
        check(&group(""), &skipped, &["~a.test.js::x > a true", "support group `x` Added"]);
        check(&group("beforeEach(() => f());"), &group(""), &["support code Removed"]);
        let table = |rows: &str| {
            format!("for (const n of [{rows}]) {{\n  test(`a ${{n}}`, () => assert.equal(add(n), n));\n}}\n")
        };
        check(&table("1, 2"), &table("1"), &["~a.test.js::a ${n} false"]);
    }

    #[test]
    fn a_map_may_gain_rows_and_lose_none() {
        let body = "{ for (const n of all) { assert.equal(add(n), m); } }";
        let map = |rows: &str| {
            let rows = rows.replace('{', "['").replace(':', "', ").replace('}', "]");
            format!("test('a', () => {{ const rows = new Map([{rows}]); for (const [m, all] of rows) {body} }});\n")
        };
        let object = |rows: &str| {
            let rows = rows.replace(['{', '}'], "");
            format!("test('a', () => {{ for (const [m, all] of Object.entries({{ {rows} }})) {body} }});\n")
        };
        for (rows, expected) in [
            ("{even:[2, 4]}, {odd:[1]}", true),
            ("{none:[]}, {even:[2, 4]}", true),
            ("{even:[2]}", false),
            ("{odd:[1]}", false),
            ("{even:[2, 4]}, {even:[]}", false),
            ("{even:[2, 4]}, ...more", false),
        ] {
            let expected = format!("~a.test.js::a {expected}");
            check(&map("{even:[2, 4]}"), &map(rows), &[&expected]);
            check(&object("{even:[2, 4]}"), &object(rows), &[&expected]);
        }
    }

    /// Writes a test file with these rows.
    type Writer<'a> = &'a dyn Fn(&str) -> String;

    #[test]
    fn a_table_may_gain_rows_and_lose_none() {
        let each = |rows: &str| format!("test.each({rows})('a %i', (n, m) => {{\n  expect(add(n)).toBe(m);\n}});\n");
        let around = |rows: &str| {
            format!("for (const [n, m] of {rows}) {{\n  // each\n  test('a', () => assert.equal(add(n), m));\n}}\n")
        };
        let handed = |rows: &str| format!("{rows}.forEach(([n, m]) => test('a', () => assert.equal(add(n), m)));\n");
        let inside = |rows: &str| {
            format!(
                "test('a', () => {{\n  for (const [n, m] of {rows}) {{\n    const found = add(n);\n    assert.equal(found, m);\n  }}\n}});\n"
            )
        };
        let local = |rows: &str| inside("rows").replace("  for", &format!("  const rows = {rows};\n  for"));
        let named = |rows: &str| format!("const rows = {rows};\n{}", inside("rows"));
        let named_around = |rows: &str| format!("const rows = {rows};\n{}", around("rows"));
        let grouped = |rows: &str| format!("describe('x', () => {{\n{}}});\n", named(rows));
        let writers: [(Writer<'_>, &str); 8] = [
            (&each, "a %i"),
            (&around, "a"),
            (&handed, "a"),
            (&inside, "a"),
            (&local, "a"),
            (&named, "a"),
            (&named_around, "a"),
            (&grouped, "x > a"),
        ];
        for (write, name) in writers {
            for (rows, kept) in [
                ("[[1, 2], [2, 4], [3, 6]]", true),
                ("[[0, 0], [1, 2], [2, 4]]", true),
                ("[[1, 2], [2, 5]]", false),
                ("[[1, 2]]", false),
            ] {
                check(&write("[[1, 2], [2, 4]]"), &write(rows), &[&format!("~a.test.js::{name} {kept}")]);
            }
        }
    }

    #[test]
    fn what_is_gone_through_for_something_else_is_no_table() {
        let with = |rows: &str, rest: &str| {
            format!(
                "const rows = [{rows}];\ntest('a', () => {{\n  for (const n of rows) {{\n    assert.equal(add(n), n);\n  }}\n{rest}}});\n"
            )
        };
        for rest in ["  rows.length = 0;\n", "  use(rows);\n"] {
            check(&with("1", rest), &with("1, 2", rest), &["support `rows` Changed"]);
        }
        check(&with("1", ""), "const rows = [1];\n", &["-a.test.js::a"]);
        // A table is added and removed with its test.
        check(&with("1", ""), "", &["-a.test.js::a"]);
        check("", &with("1", ""), &["+a.test.js::a"]);
        let counting = |rows: &str| {
            format!(
                "test('a', () => {{\n  for (const n of [{rows}]) {{\n    sum += n;\n  }}\n  assert.equal(add(sum), 3);\n}});\n"
            )
        };
        check(&counting("1, 2"), &counting("1, 2, 3"), &["~a.test.js::a false"]);
        let leaving = |rows: &str| with(rows, "").replace("    assert", "    if (n > 1) break;\n    assert");
        check(&leaving("1"), &leaving("1, 2"), &["support `rows` Changed"]);
        let exported = |rows: &str| format!("export {}", with(rows, ""));
        check(&exported("1"), &exported("1, 2"), &["support `rows` Changed"]);
        let around = |rows: &str| format!("for (const n of {rows}) {{\n  n.x = 1;\n  {TEST}}}\n");
        check(&around("[1]"), &around("[1, 2]"), &["support code Changed"]);
        check(&with("1", ""), &with("1, ...more", ""), &["~a.test.js::a false", "support `rows` Changed"]);
    }

    #[test]
    fn production_is_told_item_by_item() {
        let old = "export const X = 1, Y = 2;\nexport function f() { return 1; }\nclass C {\n  m() { return 1; }\n}\n";
        let new = "export const X = 2, Y = 2;\nexport function f() { return 1 }\nclass C {\n  m() { return 2; }\n  n() {}\n}\n";
        assert_eq!(
            said(&[("calc.js", old)], &[("calc.js", new)]),
            ["production `X` Changed", "production method `C.m` Changed", "production method `C.n` Added"]
        );
        assert_eq!(
            said(&[("calc.js", old)], &[("calc.js", &old.replace("export f", "f"))]),
            ["production function `f` Changed"]
        );
    }

    #[test]
    fn steering_is_frozen_but_for_a_new_dependency() {
        let manifest =
            |text: &str| said(&[("package.json", "{\"scripts\": {\"test\": \"vitest\"}}")], &[("package.json", text)]);
        let with = |rest: &str| manifest(&format!("{{\"scripts\": {{\"test\": \"vitest\"}}{rest}}}"));
        assert_eq!(with(", \"dependencies\": {\"a\": \"^1\"}"), ["steering `dependencies.a` free"]);
        assert_eq!(with(", \"dependencies\": {\"a\": \"file:../a\"}"), ["steering `dependencies.a`"]);
        assert_eq!(with(", \"jest\": {\"testMatch\": []}"), ["steering `jest.testMatch`"]);
        assert_eq!(with(", \"description\": \"x\""), ["steering `description` free"]);
        assert_eq!(manifest("{\"scripts\": {\"test\": \"true\"}}"), ["steering `scripts.test`"]);
        assert_eq!(said(&[], &[("vitest.config.js", "")]), ["steering a new file"]);
    }

    #[test]
    fn new_test_code_does_not_act_on_tests_that_do_not_name_it() {
        let head =
            "import { test, expect, vi, describe, beforeEach } from 'vitest'\nimport * as calc from './calc.js'\n";
        let old =
            format!("{head}describe('old', () => {{\n  test('a', () => {{ expect(calc.add(1, 2)).toBe(3) }})\n}})\n");
        let hook = "beforeEach(() => { vi.spyOn(calc, 'add').mockReturnValue(3) })\n";
        for (added, intrudes) in [
            ("vi.mock('./calc.js', () => ({ add: () => 3 }))\n".to_owned(), true),
            (hook.to_owned(), true),
            ("Math.max = () => 3\n".to_owned(), true),
            ("Object.defineProperty(globalThis, 'add', {})\n".to_owned(), true),
            ("beforeEach(() => { calc.reset() })\n".to_owned(), false),
            (format!("describe('new', () => {{\n  {hook}  test('b', () => {{ expect(1).toBe(1) }})\n}})\n"), false),
            ("test('b', () => { vi.spyOn(calc, 'add'); expect(1).toBe(1) })\n".to_owned(), false),
            ("function fake() { Math.max = () => 3 }\n".to_owned(), false),
        ] {
            let beside = change_between(&[("a.test.js", &old)], &[("a.test.js", &format!("{old}{added}"))], change);
            assert_eq!(!beside.intrusions.is_empty(), intrudes, "{added}");
            let apart = change_between(
                &[("a.test.js", &old)],
                &[("a.test.js", &old), ("b.test.js", &format!("{head}{added}"))],
                change,
            );
            assert!(apart.intrusions.is_empty(), "{added}");
        }
    }

    #[test]
    fn a_file_that_does_not_parse_any_more_is_unreadable() {
        assert_eq!(said(&[("a.test.js", TEST)], &[("a.test.js", "test('a', () => {\n")]), ["unreadable a.test.js"]);
    }
}
