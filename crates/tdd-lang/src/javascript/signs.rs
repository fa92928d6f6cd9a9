//! Finds signs of anti-patterns in JavaScript code, in its syntax and in what its names refer to.

use std::collections::BTreeMap;

use tdd_core::signs::{Sample, Signs};

use super::asks::DependencyFinder;
use super::items::items;
use super::modules::Modules;
use super::pieces::pieces;
use super::sense::sensing;
use super::sort::sort;
use super::syntax::Tree;
use super::uses::{IMPLICIT, USE_SYNTAX, file_names, role};
use super::value::literal;
use super::{JavaScript, owns};
use crate::analysis::answers::{Choice, Facts, Part};
use crate::analysis::signs::{self, SignFinder, TestReading, sample_of};
use crate::code::Code;
use crate::item::TestItem;
use crate::language::{Project, Sources};

/// Nodes that call something or create an object.
const CALLS: [&str; 2] = ["call_expression", "new_expression"];

/// Functions that create mocks.
const MOCKS: [&str; 16] = [
    "vi.fn",
    "vi.mock",
    "vi.spyOn",
    "vi.stubGlobal",
    "jest.fn",
    "jest.mock",
    "jest.spyOn",
    "mock.fn",
    "mock.method",
    "mock.module",
    "t.mock.fn",
    "t.mock.method",
    "sinon.stub",
    "sinon.mock",
    "sinon.spy",
    "sinon.fake",
];

/// The signs in these files; names are resolved in the whole repository.
pub(super) fn signs(project: &Project, sources: &dyn Sources, paths: &[String]) -> Signs {
    with_finder(project, sources, &|finder| signs::signs(finder, project, sources, paths))
}

/// Calls `look` with the analysis of a project.
pub(super) fn with_finder<T>(
    project: &Project,
    sources: &dyn Sources,
    look: &dyn Fn(&SignFinder<'_, JavaScript>) -> T,
) -> T {
    let modules = Modules::of(project, sources);
    look(&SignFinder {
        use_syntax: USE_SYNTAX,
        answers: ANSWERS,
        owns: &owns,
        tree: &|path, source| Tree::parse(path, source),
        sort: &sort,
        items: &items,
        pieces: &pieces,
        file_names: &|tree, path| file_names(tree, path, &modules),
        role: &role,
        nodes: &|tree, test| tree.nodes_at(&test.span).find(|node| *node > 0).into_iter().collect(),
        asserting: &|tree, path, tests| {
            let finder = DependencyFinder::new(path, tree, &modules);
            tests.iter().map(|test| finder.asserts(test)).collect()
        },
        read_test: &read_test,
        runs_before: &|_, _, _| false,
        sensing: &sensing,
        is_used: &|name| IMPLICIT.contains(&name),
    })
}

/// The syntax with which production code maps literals to literals.
const ANSWERS: Facts = Facts {
    literal,
    choices: &[
        Choice::condition("if_statement"),
        Choice::condition("ternary_expression"),
        Choice::case("switch_case", Part::Field("value"), Part::Field("body")),
    ],
};

fn read_test<'s>(code: &Code, tree: &Tree<'s>, node: usize, test: &TestItem) -> TestReading<'s> {
    let calls: Vec<usize> = tree.subtree(node).filter(|inner| tree.kind(*inner) == "call_expression").collect();
    let mocks = calls.iter().filter(|call| is_mock(tree, **call)).map(|call| tree.text(*call).to_owned());
    let new = tree.subtree(node).filter(|inner| tree.kind(*inner) == "new_expression");
    TestReading {
        mocks: mocks.collect(),
        made: made(code, tree, node),
        samples: samples(tree, node, test),
        calls: calls.iter().copied().chain(new).map(|call| called(tree, call)).collect(),
    }
}

fn is_mock(tree: &Tree<'_>, call: usize) -> bool {
    tree.child(call, "function").is_some_and(|function| MOCKS.contains(&tree.text(function)))
}

/// The last part of the name of the called function or class.
fn called<'a>(tree: &Tree<'a>, call: usize) -> &'a str {
    let Some(function) = tree.child(call, "function").or_else(|| tree.child(call, "constructor")) else { return "" };
    match tree.kind(function) {
        "identifier" => tree.text(function),
        "member_expression" => tree.child(function, "property").map_or("", |name| tree.text(name)),
        _ => "",
    }
}

/// The test's variables that hold values made by production, each with the name of its maker.
fn made<'s>(code: &Code, tree: &Tree<'s>, node: usize) -> BTreeMap<&'s str, String> {
    let mut made = BTreeMap::new();
    for declarator in tree.subtree(node).filter(|inner| tree.kind(*inner) == "variable_declarator") {
        let (Some(name), Some(value)) = (tree.child(declarator, "name"), tree.child(declarator, "value")) else {
            continue;
        };
        let is_call = |inner: &usize| CALLS.contains(&tree.kind(*inner));
        let call = tree.subtree(value).find(|inner| is_call(inner) && code.has(called(tree, *inner)));
        made.extend(call.map(|call| (tree.text(name), called(tree, call).to_owned())));
    }
    made
}

/// The literal inputs and expected outputs of each assertion.
fn samples(tree: &Tree<'_>, node: usize, test: &TestItem) -> Vec<Sample> {
    let mut found = Vec::new();
    for assertion in &test.assertions {
        let Some(at) = tree.subtree(node).find(|inner| tree.range(*inner) == assertion.span) else { continue };
        let lists = tree.subtree(at).filter(|inner| tree.kind(*inner) == "arguments");
        let outer = lists.filter(|list| {
            let call = tree.parent(*list);
            call == at || tree.child(call, "function").is_some_and(|function| tree.text(function) == "expect")
        });
        let sides: Vec<usize> = outer.flat_map(|list| tree.parts(list).collect::<Vec<_>>()).collect();
        found.extend(sample_of(tree, sides, &CALLS, literal));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{signs_of, told_signs};

    fn of(production: &str, tests: &str) -> Signs {
        signs_of(&[("calc.js", production), ("a.test.js", tests)], signs)
    }

    #[test]
    fn helpers_hooks_and_members_without_a_plain_name_lead_on() {
        let production = "export class Cart {\n  #a = 1;\n  toString() { return `${this.#a}`; }\n  *[Symbol.iterator]() {}\n}\nmodule.exports.sum = 1;\n";
        let head = "import { test, describe, beforeEach } from 'node:test';\nimport { Cart, sum } from './calc.js';\n";
        for (test, expected) in [
            ("function make() { return new Cart(); }\ntest('a', () => { assert.equal(`${make()}`, 'x'); });\n", 4),
            (
                "describe('c', () => {\n  let c;\n  beforeEach(() => { c = new Cart(); });\n  test('a', () => { assert.deepEqual([...c], []); });\n});\n",
                4,
            ),
            ("test('a', () => { assert.equal(sum, 1); });\n", 1),
            ("function make() { return new Cart(); }\ntest('a', () => { assert.equal(f(), 'x'); });\n", 0),
        ] {
            assert_eq!(of(production, &format!("{head}{test}")).tests[0].reaches.len(), expected, "{test}");
        }
    }

    #[test]
    fn production_code_that_asks_whether_it_is_under_test_is_seen() {
        for body in [
            "if (process.env.NODE_TEST_CONTEXT) return 1",
            "return process.env.VITEST ? 1 : 2",
            "return process.env['JEST_WORKER_ID'] ? 1 : 2",
            "if (process.env.NODE_ENV === 'test') return 1",
            "return typeof describe === 'function' ? 1 : 2",
            "return globalThis.vi ? 1 : 2",
            "if (new Error().stack.includes('calc.test.js')) return 1",
            "return import.meta.vitest ? 1 : 2",
            "return process.execArgv.some((x) => x.includes('test'))",
            "return process.argv[1].endsWith('.test.js')",
            "return fs.readFileSync(process.argv[1], 'utf8').match(/8/)",
            "return import.meta.url.includes('/.tdd/') ? 1 : 2",
            "return /\\/\\.tdd\\//.test(process.cwd())",
            "return import.meta.glob('../test/*.js', { query: '?raw' })",
            "return import('./test/helper.js')",
        ] {
            assert_eq!(of(&format!("export function f() {{ {body} }}\n"), "").sensing.len(), 1, "{body}");
        }
        for body in [
            "return fs.readFileSync(process.argv[2])",
            "return process.argv[1] === a",
            "return process.argv[2]",
            "return process.env.HOME",
            "return /a/.test(b)",
            "return it.next()",
            "return 'a.tdd'",
            "return import.meta.glob(['./pages/*.js', '!./pages/*.test.js'])",
            "return import('./contest/helper.js')",
            "return './test/helper.js'",
        ] {
            assert!(of(&format!("export function f(a, b, it) {{ {body} }}\n"), "").sensing.is_empty(), "{body}");
        }
        assert_eq!(of("import { mock } from 'node:test'\n", "").sensing.len(), 1);
    }

    #[test]
    fn a_test_without_an_assertion_about_production_is_empty() {
        let asserts = |body: &str| {
            let test = format!("import {{ add }} from './calc.js'\ntest('a', () => {{ {body} }})\n");
            of("export function add() {}\n", &test).tests[0].asserts
        };
        assert!(asserts("assert.equal(add(1), 1)"));
        assert!(!asserts("add(1)"));
        assert!(!asserts("add(1); assert.ok(true)"));
        assert!(asserts(
            "add('a.txt'); const fs = require('node:fs'); assert.equal(fs.readFileSync('a.txt', 'utf8'), '1')"
        ));
        assert!(!asserts("const fs = require('node:fs'); assert.equal(fs.readFileSync('a.txt', 'utf8'), '1')"));
    }

    #[test]
    fn mocks_subjects_samples_and_answers_are_told() {
        let production = "export function add(a) {\n  if (a === 1) return 2;\n  return 0;\n}\nexport function unused() {}\nexport class Cart {}\n";
        let test = "import { add, Cart } from './calc.js'\ntest('a', () => {\n  const m = vi.fn();\n  const cart = new Cart();\n  \
                    expect(add(1)).toBe(2);\n  expect(cart.a).toBe(1);\n  assert.equal(cart.b, 2);\n})\n";
        let expected = "1 mocks, 3 assertions on Cart, add; 1 => 2; calc.js:5 is idle; asks 2";
        assert_eq!(told_signs(&of(production, test)), expected);
    }
}
