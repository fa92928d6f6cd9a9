//! Sees the signs of anti-patterns in JavaScript code: in its syntax, and in what its names lead to.

use std::collections::BTreeMap;

use tdd_core::change::Sort;
use tdd_core::signs::{Answer, Place, Sample, Signs, TestSigns};

use super::asks::Asker;
use super::items::items;
use super::modules::Modules;
use super::owns;
use super::pieces::pieces;
use super::sense::sensing;
use super::sort::sort;
use super::syntax::Tree;
use super::uses::{IMPLICIT, SPEECH, meanings, role};
use super::value::literals;
use crate::analysis::signs::{self, nodes_within, sample};
use crate::code::{Added, Code};
use crate::item::TestItem;
use crate::language::{Project, Sources};

/// What makes something stand for something else in a test.
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

/// What is seen in these files, among all of the repository's.
pub(super) fn signs(project: &Project, sources: &dyn Sources, paths: &[String]) -> Signs {
    let modules = Modules::of(project, sources);
    let code = read(project, sources, &modules);
    let mut signs = Signs::default();
    for path in paths.iter().filter(|path| owns(path)) {
        let Some(source) = sources.read(path) else { continue };
        let Some(tree) = Tree::parse(path, &source) else { continue };
        if !tree.parses() {
            signs.unreadable.push(path.clone());
        }
        match sort(path) {
            Sort::Test => {
                let asker = Asker::new(path, &tree, &modules);
                let found = items(path, &source).tests;
                signs.tests.extend(found.iter().filter_map(|test| test_signs(&code, &asker, &tree, path, test)));
            }
            Sort::Production => production(&tree, path, &source, &mut signs),
            Sort::Steering | Sort::Document => {}
        }
    }
    signs.unreferenced = code.unreferenced(paths, |name| IMPLICIT.contains(&name));
    signs
}

/// All that the project holds in this language.
pub(super) fn read(project: &Project, sources: &dyn Sources, modules: &Modules) -> Code {
    let mut code = Code::default();
    for path in sources.files().iter().filter(|path| owns(path) && project.below(path).is_some()) {
        let Some(source) = sources.read(path) else { continue };
        let Some(tree) = Tree::parse(path, &source) else { continue };
        let (found, for_tests) = (items(path, &source), sort(path) != Sort::Production);
        let names = meanings(&tree, path, modules);
        let tests = found.tests.iter().filter_map(|test| {
            Some((Place::new(path, test.line), test.span.clone(), vec![tree.inside(node_of(&tree, test)?)]))
        });
        let added = Added {
            path,
            tree: &tree,
            pieces: pieces(&tree, &found, for_tests),
            tests: tests.collect(),
            for_tests,
            names: names.clone(),
            speech: SPEECH,
        };
        code.add(added, |piece, nodes| role(&tree, &names, piece, nodes));
    }
    code
}

/// The node of a test.
fn node_of(tree: &Tree<'_>, test: &TestItem) -> Option<usize> {
    (1..tree.len()).find(|node| tree.range(*node) == test.span)
}

fn test_signs(code: &Code, asker: &Asker<'_, '_>, tree: &Tree<'_>, path: &str, test: &TestItem) -> Option<TestSigns> {
    let node = node_of(tree, test)?;
    let calls: Vec<usize> = tree.inside(node).filter(|inner| tree.kind(*inner) == "call_expression").collect();
    let mocks = calls.iter().filter(|call| is_mock(tree, **call)).map(|call| tree.text(*call).to_owned());
    let made = tree.inside(node).filter(|inner| tree.kind(*inner) == "new_expression");
    let asks = calls.iter().copied().chain(made).map(|call| called(tree, call));
    Some(TestSigns {
        at: Place::new(path, test.line),
        name: test.name.clone(),
        asserts: !asker.assertions(test).is_empty() && asker.asks_production(test),
        assertions: test.assertions.len(),
        mocks: mocks.collect(),
        subjects: subjects(code, tree, node, test),
        samples: samples(tree, node, test),
        reaches: code.reached(&Place::new(path, test.line), |_, _| false),
        asks: code.asked(asks),
    })
}

fn is_mock(tree: &Tree<'_>, call: usize) -> bool {
    tree.child(call, "function").is_some_and(|function| MOCKS.contains(&tree.text(function)))
}

/// The last part of the name of what is called, or made.
fn called<'a>(tree: &Tree<'a>, call: usize) -> &'a str {
    let Some(function) = tree.child(call, "function").or_else(|| tree.child(call, "constructor")) else { return "" };
    match tree.kind(function) {
        "identifier" => tree.text(function),
        "member_expression" => tree.child(function, "property").map_or("", |name| tree.text(name)),
        _ => "",
    }
}

/// What the assertions call of production: one name for each, that of the type for its methods.
fn subjects(code: &Code, tree: &Tree<'_>, node: usize, test: &TestItem) -> Vec<String> {
    let mut made: BTreeMap<&str, String> = BTreeMap::new();
    for declarator in tree.inside(node).filter(|inner| tree.kind(*inner) == "variable_declarator") {
        let (Some(name), Some(value)) = (tree.child(declarator, "name"), tree.child(declarator, "value")) else {
            continue;
        };
        let is_call = |inner: &usize| matches!(tree.kind(*inner), "call_expression" | "new_expression");
        let call = tree.inside(value).find(|inner| is_call(inner) && code.has(called(tree, *inner)));
        if let Some(call) = call {
            made.insert(tree.text(name), called(tree, call).to_owned());
        }
    }
    code.subjects(tree, node, test, &made)
}

/// The literals of each assertion: those that go in, and those that are to come out.
fn samples(tree: &Tree<'_>, node: usize, test: &TestItem) -> Vec<Sample> {
    let mut found = Vec::new();
    for assertion in &test.assertions {
        let Some(at) = tree.inside(node).find(|inner| tree.range(*inner) == assertion.span) else { continue };
        let lists = tree.inside(at).filter(|inner| tree.kind(*inner) == "arguments");
        let outer = lists.filter(|list| {
            let call = tree.parent(*list);
            call == at || tree.child(call, "function").is_some_and(|function| tree.text(function) == "expect")
        });
        let sides: Vec<usize> = outer.flat_map(|list| tree.parts(list).collect::<Vec<_>>()).collect();
        let has_call =
            |side: &usize| tree.inside(*side).any(|at| matches!(tree.kind(at), "call_expression" | "new_expression"));
        let (asked, expected): (Vec<usize>, Vec<usize>) = sides.into_iter().partition(has_call);
        found.extend(sample(asked, expected, |side| literals(tree, side)));
    }
    found
}

fn production(tree: &Tree<'_>, path: &str, source: &str, signs: &mut Signs) {
    for piece in pieces(tree, &items(path, source), /* for_tests */ false) {
        let item = Place::new(path, piece.line);
        if piece.label.starts_with("class ") {
            continue;
        }
        let nodes: Vec<usize> = nodes_within(tree, 1, &piece.span).collect();
        signs.sensing.extend(sensing(tree, &nodes, &item));
        signs.answers.extend(nodes.into_iter().filter_map(|node| answer(tree, node, &item)));
    }
    signs.sensing.dedup();
}

/// A comparison with literals that answers with literals: `if (x === 1) return 2`.
fn answer(tree: &Tree<'_>, node: usize, item: &Place) -> Option<Answer> {
    let (condition, body) = match tree.kind(node) {
        "if_statement" | "ternary_expression" => (tree.child(node, "condition")?, tree.child(node, "consequence")?),
        "switch_case" => (tree.child(node, "value")?, tree.child(node, "body")?),
        _ => return None,
    };
    let first = match tree.kind(body) {
        "statement_block" => tree.parts(body).next()?,
        _ => body,
    };
    let is_answer = tree.kind(node) == "ternary_expression" || tree.kind(first) == "return_statement";
    let returned = is_answer.then(|| literals(tree, first));
    signs::answer(item, tree.line(node), literals(tree, condition), returned.into_iter().flatten())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::fixture::memory;

    fn of(production: &str, tests: &str) -> Signs {
        let sources = memory(&[("calc.js", production), ("a.test.js", tests)]);
        let project = Project { root: String::new(), description: String::new() };
        signs(&project, &sources, &["calc.js".to_owned(), "a.test.js".to_owned()])
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
    }

    #[test]
    fn mocks_subjects_samples_and_answers_are_told() {
        let production = "export function add(a) {\n  if (a === 1) return 2;\n  return 0;\n}\nexport function unused() {}\nexport class Cart {}\n";
        let test = "import { add, Cart } from './calc.js'\ntest('a', () => {\n  const m = vi.fn();\n  const cart = new Cart();\n  \
                    expect(add(1)).toBe(2);\n  expect(cart.a).toBe(1);\n  assert.equal(cart.b, 2);\n})\n";
        let signs = of(production, test);
        let test = &signs.tests[0];
        assert_eq!((test.mocks.len(), test.assertions), (1, 3));
        assert_eq!(test.subjects, ["Cart", "add"]);
        assert_eq!(test.samples[0].inputs, BTreeSet::from(["1".to_owned()]));
        assert_eq!(signs.answers[0].returned, BTreeSet::from(["2".to_owned()]));
        assert_eq!(signs.unreferenced, BTreeSet::from([Place::new("calc.js", 5)]));
        assert_eq!(test.asks.len(), 2);
    }
}
