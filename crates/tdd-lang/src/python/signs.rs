//! Finds the signs of anti-patterns in Python code.

use std::collections::BTreeMap;

use tdd_core::signs::{Place, Sample, Sensing, Signs};

use super::asks::DependencyFinder;
use super::items::{called, definition, items, name};
use super::modules::Modules;
use super::pieces::pieces;
use super::sort::sort;
use super::syntax::Tree;
use super::uses::{ModuleFiles, USE_SYNTAX, file_names, role};
use super::value::literal;
use super::{Python, owns};
use crate::analysis::answers::{Choice, Facts, Part};
use crate::analysis::signs::{self, SignFinder, TestReading, sample_of};
use crate::code::{Code, File, Item};
use crate::item::TestItem;
use crate::language::{Project, Sources};

/// Functions and classes that create mocks.
const MOCKS: [&str; 8] =
    ["Mock", "MagicMock", "AsyncMock", "NonCallableMock", "PropertyMock", "patch", "create_autospec", "mock_open"];

/// Texts by which production code asks whether it is under test, each with its description.
const SENSING: [(&str, &str); 11] = [
    ("PYTEST_CURRENT_TEST", "`PYTEST_CURRENT_TEST`"),
    ("PYTEST_VERSION", "`PYTEST_VERSION`"),
    ("sys._getframe", "the caller's frame"),
    ("currentframe", "the caller's frame"),
    ("inspect.stack", "the call stack"),
    ("extract_stack", "the call stack"),
    ("import pytest", "an import of pytest"),
    ("import unittest", "an import of unittest"),
    ("from unittest", "an import of unittest"),
    ("from pytest", "an import of pytest"),
    ("import _pytest", "an import of pytest"),
];

/// Where production code can find out which modules are loaded, however it spells `sys`.
const LOADED: [&str; 7] = [".modules", "'modules'", "\"modules\"", ".argv", "'argv'", "\"argv\"", "find_spec"];

/// The signs in these files; names are resolved across the whole project.
pub(super) fn signs(project: &Project, sources: &dyn Sources, paths: &[String]) -> Signs {
    with_finder(project, sources, &|finder| signs::signs(finder, project, sources, paths))
}

/// Calls `look` with what Python provides for finding signs in this project.
pub(super) fn with_finder<T>(
    project: &Project,
    sources: &dyn Sources,
    look: &dyn Fn(&SignFinder<'_, Python>) -> T,
) -> T {
    let (modules, files) = (Modules::of(project, sources), ModuleFiles::of(project, sources));
    look(&SignFinder {
        use_syntax: USE_SYNTAX,
        answers: ANSWERS,
        owns: &owns,
        tree: &|_, source| Tree::parse(source),
        sort: &|path| sort(path, modules.names()),
        items: &|path, source| items(path, source, modules.names()),
        pieces: &pieces,
        file_names: &|tree, path| file_names(tree, path, &modules, &files),
        role: &role,
        nodes: &nodes,
        asserting: &|tree, _, tests| {
            let finder = DependencyFinder::new(tree, &modules);
            tests.iter().map(|test| finder.asserts(test)).collect()
        },
        read_test: &read_test,
        runs_before: &runs_before,
        sensing: &sensing,
        is_used: &|name| name.starts_with("__"),
    })
}

/// How to find production code that maps literals to literals.
const ANSWERS: Facts = Facts {
    literal,
    choices: &[
        Choice::condition("if_statement"),
        Choice::condition("elif_clause"),
        Choice {
            kind: "conditional_expression",
            asks: Part::Number(1),
            then: Part::Number(0),
            other: Some(Part::Number(2)),
        },
        Choice::case("case_clause", Part::Kind("case_pattern"), Part::Field("consequence")),
    ],
};

fn nodes(tree: &Tree<'_>, test: &TestItem) -> Vec<usize> {
    let is_definition = |node: &usize| !name(tree, definition(tree, *node)).is_empty();
    tree.nodes_at(&test.span).find(is_definition).into_iter().collect()
}

fn read_test<'s>(code: &Code, tree: &Tree<'s>, node: usize, _: &TestItem) -> TestReading<'s> {
    let calls = tree.subtree(node).filter(|inner| tree.kind(*inner) == "call");
    let mocks = calls.clone().filter(|call| is_mock(tree, *call)).map(|call| tree.text(call).to_owned());
    TestReading {
        mocks: mocks.collect(),
        made: made(code, tree, node),
        samples: samples(tree, node),
        calls: calls.map(|call| called(tree, call)).collect(),
    }
}

fn runs_before(path: &str, file: &File, item: &Item) -> bool {
    let folder = file.path.strip_suffix("conftest.py").filter(|_| file.path.ends_with("conftest.py"));
    let sees = file.path == path || folder.is_some_and(|folder| path.starts_with(folder));
    sees && (SET_UP.contains(&item.name.as_str()) || item.found.words.contains("autouse"))
}

fn sensing(tree: &Tree<'_>, nodes: &[usize], item: &Place) -> Vec<Sensing> {
    let simple = nodes.iter().copied().filter(|node| is_simple(tree, *node));
    let senses =
        |node: usize| sense(tree.text(node)).map(|what| Sensing { item: item.clone(), line: tree.line(node), what });
    simple.filter_map(senses).collect()
}

/// Functions that run before the tests of their file without being named there.
pub(super) const SET_UP: [&str; 8] = [
    "setUp",
    "setUpClass",
    "asyncSetUp",
    "setup_method",
    "setup_class",
    "setup_function",
    "setup_module",
    "setUpModule",
];

fn is_mock(tree: &Tree<'_>, call: usize) -> bool {
    let function = tree.child(call, "function").map_or("", |function| tree.text(function));
    function.split('.').any(|part| MOCKS.contains(&part))
}

/// The test's names for values that production created, each with the name of its maker.
fn made<'s>(code: &Code, tree: &Tree<'s>, node: usize) -> BTreeMap<&'s str, String> {
    let mut made = BTreeMap::new();
    for assignment in tree.subtree(node).filter(|inner| tree.kind(*inner) == "assignment") {
        let (Some(left), Some(right)) = (tree.child(assignment, "left"), tree.child(assignment, "right")) else {
            continue;
        };
        let call = tree.subtree(right).find(|inner| tree.kind(*inner) == "call" && code.has(called(tree, *inner)));
        if let Some(call) = call {
            made.insert(tree.text(left), called(tree, call).to_owned());
        }
    }
    made
}

/// The literals of each comparison: inputs and expected values.
fn samples(tree: &Tree<'_>, node: usize) -> Vec<Sample> {
    let mut found = Vec::new();
    for inner in tree.subtree(node) {
        let sides: Vec<usize> = match tree.kind(inner) {
            "comparison_operator" => tree.parts(inner).collect(),
            "call" if called(tree, inner).starts_with("assertEqual") => {
                tree.child(inner, "arguments").map(|list| tree.parts(list).take(2).collect()).unwrap_or_default()
            }
            _ => continue,
        };
        found.extend(sample_of(tree, sides, &["call"], literal));
    }
    found
}

/// Whether a node is a statement without inner statements, or the condition of a statement.
fn is_simple(tree: &Tree<'_>, node: usize) -> bool {
    let kind = tree.kind(node);
    matches!(kind, "expression_statement" | "return_statement" | "assert_statement" | "raise_statement")
        || kind.starts_with("import")
        || matches!(
            tree.kind(tree.parent(node)),
            "if_statement" | "while_statement" | "elif_clause" | "conditional_expression"
        ) && kind != "block"
            && !kind.ends_with("_clause")
}

fn sense(text: &str) -> Option<String> {
    let known = SENSING.iter().find(|(words, _)| text.contains(words)).map(|(_, what)| (*what).to_owned());
    let loaded = || {
        let names = ["pytest", "unittest", "_pytest"];
        let asks = LOADED.iter().any(|words| text.contains(words));
        (asks && names.iter().any(|name| text.contains(name))).then(|| "whether a test runner is loaded".to_owned())
    };
    known.or_else(loaded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{signs_of, told_signs};

    fn of(production: &str, tests: &str) -> Signs {
        signs_of(&[("calc.py", production), ("tests/test_a.py", tests)], signs)
    }

    #[test]
    fn production_code_that_asks_whether_it_is_under_test_is_seen() {
        for body in [
            "if 'PYTEST_CURRENT_TEST' in os.environ:\n        return 1",
            "return 1 if 'pytest' in sys.modules else 2",
            "return 'pytest' in __import__('sys').modules",
            "return 'pytest' in getattr(sys, 'modules')",
            "import pytest\n    return 1",
            "return inspect.stack()[1]",
            "frame = sys._getframe(1)",
        ] {
            assert_eq!(of(&format!("def f():\n    {body}\n"), "").sensing.len(), 1, "{body}");
        }
        assert!(of("def f(a):\n    return sys.argv[a]\n", "").sensing.is_empty());
    }

    #[test]
    fn a_test_without_an_assertion_about_production_is_empty() {
        let asserts = |body: &str| {
            of("def add(a): ...\n", &format!("from calc import add\ndef test_a():\n    {body}\n")).tests[0].asserts
        };
        assert!(asserts("assert add(1) == 1"));
        assert!(!asserts("add(1)"));
        assert!(!asserts("add(1)\n    assert True"));
    }

    #[test]
    fn helpers_fixtures_and_what_is_set_up_lead_on() {
        let production = "class Cart:\n    def __repr__(self): ...\n";
        for test in [
            "def make():\n    return Cart()\ndef test_a():\n    assert repr(make()) == 'x'\n",
            "@pytest.fixture\ndef cart():\n    return Cart()\ndef test_a(cart):\n    assert repr(cart) == 'x'\n",
            "@pytest.fixture(autouse=True)\ndef x():\n    g.c = Cart()\ndef test_a():\n    assert repr(g.c) == 'x'\n",
            "class TestA:\n    def setup_method(self):\n        self.c = Cart()\n    def test_a(self):\n        assert repr(self.c) == 'x'\n",
        ] {
            let test = format!("from calc import Cart\n{test}");
            assert_eq!(of(production, &test).tests[0].reaches.len(), 2, "{test}");
        }
        let unused = "def make():\n    return Cart()\ndef test_a():\n    assert f() == 1\n";
        assert!(of(production, unused).tests[0].reaches.is_empty());
    }

    #[test]
    fn mocks_subjects_samples_and_answers_are_told() {
        let production =
            "def add(a):\n    if a == 1:\n        return 2\n    return 0\ndef unused(): ...\nclass Cart: ...\n";
        let test = "from calc import add, Cart\ndef test_a():\n    m = Mock()\n    cart = Cart()\n    assert add(1) == 2\n    assert cart.a == 1\n    assert cart.b == 2\n";
        let expected = "1 mocks, 3 assertions on Cart, add; 1 => 2; calc.py:5 is idle; asks 2";
        assert_eq!(told_signs(&of(production, test)), expected);
    }
}
