//! Sees the signs of anti-patterns in Python code: in its syntax, and in what its names lead to.

use std::collections::BTreeMap;

use tdd_core::change::Sort;
use tdd_core::signs::{Answer, Place, Sample, Sensing, Signs, TestSigns};

use super::asks::Asker;
use super::items::{called, definition, items, name};
use super::modules::Modules;
use super::names::Names;
use super::owns;
use super::pieces::pieces;
use super::sort::sort;
use super::syntax::Tree;
use super::uses::{ModuleFiles, SPEECH, meanings, role};
use super::value::literals;
use crate::analysis::signs::{self, nodes_within, sample};
use crate::code::{Added, Code, File, Item};
use crate::item::TestItem;
use crate::language::{Project, Sources};

/// What stands for something else in a test.
const MOCKS: [&str; 8] =
    ["Mock", "MagicMock", "AsyncMock", "NonCallableMock", "PropertyMock", "patch", "create_autospec", "mock_open"];

/// Words by which production code asks whether it is under test, and what they mean.
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

/// What is seen in these files, among all of the repository's.
pub(super) fn signs(project: &Project, sources: &dyn Sources, paths: &[String]) -> Signs {
    let modules = Modules::of(project, sources);
    let code = read(project, sources, &modules);
    let mut signs = Signs::default();
    for path in paths.iter().filter(|path| owns(path)) {
        let Some(source) = sources.read(path) else { continue };
        let Some(tree) = Tree::parse(&source) else { continue };
        if !tree.parses() {
            signs.unreadable.push(path.clone());
        }
        match sort(path, modules.names()) {
            Sort::Test => {
                let asker = Asker::new(&tree, &modules);
                let found = items(path, &source, modules.names()).tests;
                signs.tests.extend(found.iter().filter_map(|test| test_signs(&code, &asker, &tree, path, test)));
            }
            Sort::Production => production(&tree, path, &source, &mut signs),
            Sort::Steering | Sort::Document => {}
        }
    }
    signs.unreferenced = code.unreferenced(paths, |name| name.starts_with("__"));
    signs
}

/// What is run before the tests of its file without being named there.
const SET_UP: [&str; 8] = [
    "setUp",
    "setUpClass",
    "asyncSetUp",
    "setup_method",
    "setup_class",
    "setup_function",
    "setup_module",
    "setUpModule",
];

/// All that the project holds in this language.
pub(super) fn read(project: &Project, sources: &dyn Sources, modules: &Modules) -> Code {
    let mut code = Code::default();
    let files = ModuleFiles::of(project, sources);
    for path in sources.files().iter().filter(|path| owns(path) && project.below(path).is_some()) {
        let Some(source) = sources.read(path) else { continue };
        let Some(tree) = Tree::parse(&source) else { continue };
        let found = items(path, &source, modules.names());
        let for_tests = sort(path, modules.names()) != Sort::Production;
        let names = meanings(&tree, path, modules, &files);
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
    (0..tree.len()).find(|node| tree.range(*node) == test.span && !name(tree, definition(tree, *node)).is_empty())
}

fn test_signs(code: &Code, asker: &Asker<'_, '_>, tree: &Tree<'_>, path: &str, test: &TestItem) -> Option<TestSigns> {
    let node = node_of(tree, test)?;
    let calls = tree.inside(node).filter(|inner| tree.kind(*inner) == "call");
    let mocks = calls.clone().filter(|call| is_mock(tree, *call)).map(|call| tree.text(call).to_owned());
    let is_run = |file: &File, item: &Item| {
        let folder = file.path.strip_suffix("conftest.py").filter(|_| file.path.ends_with("conftest.py"));
        let sees = file.path == path || folder.is_some_and(|folder| path.starts_with(folder));
        sees && (SET_UP.contains(&item.name.as_str()) || item.found.words.contains("autouse"))
    };
    Some(TestSigns {
        at: Place::new(path, test.line),
        name: test.name.clone(),
        asserts: !asker.assertions(test).is_empty() && asker.asks_production(test),
        assertions: test.assertions.len(),
        mocks: mocks.collect(),
        subjects: subjects(code, tree, node, test),
        samples: samples(tree, node),
        reaches: code.reached(&Place::new(path, test.line), is_run),
        asks: code.asked(calls.map(|call| called(tree, call))),
    })
}

fn is_mock(tree: &Tree<'_>, call: usize) -> bool {
    let function = tree.child(call, "function").map_or("", |function| tree.text(function));
    function.split('.').any(|part| MOCKS.contains(&part))
}

/// What the assertions call of production: one name for each, that of the type for its methods.
fn subjects(code: &Code, tree: &Tree<'_>, node: usize, test: &TestItem) -> Vec<String> {
    let mut made: BTreeMap<&str, String> = BTreeMap::new();
    for assignment in tree.inside(node).filter(|inner| tree.kind(*inner) == "assignment") {
        let (Some(left), Some(right)) = (tree.child(assignment, "left"), tree.child(assignment, "right")) else {
            continue;
        };
        let call = tree.inside(right).find(|inner| tree.kind(*inner) == "call" && code.has(called(tree, *inner)));
        if let Some(call) = call {
            made.insert(tree.text(left), called(tree, call).to_owned());
        }
    }
    code.subjects(tree, node, test, &made)
}

/// The literals of each comparison: those that go in, and those that are to come out.
fn samples(tree: &Tree<'_>, node: usize) -> Vec<Sample> {
    let mut found = Vec::new();
    for inner in tree.inside(node) {
        let sides: Vec<usize> = match tree.kind(inner) {
            "comparison_operator" => tree.parts(inner).collect(),
            "call" if called(tree, inner).starts_with("assertEqual") => {
                tree.child(inner, "arguments").map(|list| tree.parts(list).take(2).collect()).unwrap_or_default()
            }
            _ => continue,
        };
        let has_call = |side: usize| tree.inside(side).any(|at| tree.kind(at) == "call");
        let (asked, expected): (Vec<usize>, Vec<usize>) = sides.into_iter().partition(|side| has_call(*side));
        found.extend(sample(asked, expected, |side| literals(tree, side)));
    }
    found
}

fn production(tree: &Tree<'_>, path: &str, source: &str, signs: &mut Signs) {
    for piece in pieces(tree, &items(path, source, &Names::default()), /* for_tests */ false) {
        let item = Place::new(path, piece.line);
        let nodes: Vec<usize> = nodes_within(tree, 0, &piece.span).collect();
        let is_class = piece.label.starts_with("class ");
        for node in nodes.iter().copied().filter(|node| is_simple(tree, *node) && !is_class) {
            let senses = sense(tree.text(node));
            signs.sensing.extend(senses.map(|what| Sensing { item: item.clone(), line: tree.line(node), what }));
        }
        if !is_class {
            signs.answers.extend(nodes.into_iter().filter_map(|node| answer(tree, node, &item)));
        }
    }
    signs.sensing.dedup();
}

/// A statement without others inside, or the condition of one.
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
        let asks = text.contains("sys.modules") || text.contains("sys.argv") || text.contains("find_spec");
        (asks && names.iter().any(|name| text.contains(name))).then(|| "whether a test runner is loaded".to_owned())
    };
    known.or_else(loaded)
}

/// A comparison with literals that answers with literals: `if x == 1: return 2`.
fn answer(tree: &Tree<'_>, node: usize, item: &Place) -> Option<Answer> {
    let (condition, body) = match tree.kind(node) {
        "if_statement" | "elif_clause" => (tree.child(node, "condition")?, tree.child(node, "consequence")?),
        "case_clause" => {
            (tree.parts(node).find(|part| tree.kind(*part) == "case_pattern")?, tree.child(node, "consequence")?)
        }
        _ => return None,
    };
    let first = tree.parts(body).next()?;
    let returned = (tree.kind(first) == "return_statement").then(|| literals(tree, first));
    signs::answer(item, tree.line(node), literals(tree, condition), returned.into_iter().flatten())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::fixture::memory;

    fn of(production: &str, tests: &str) -> Signs {
        let sources = memory(&[("calc.py", production), ("tests/test_a.py", tests)]);
        let project = Project { root: String::new(), description: String::new() };
        signs(&project, &sources, &["calc.py".to_owned(), "tests/test_a.py".to_owned()])
    }

    #[test]
    fn production_code_that_asks_whether_it_is_under_test_is_seen() {
        for body in [
            "if 'PYTEST_CURRENT_TEST' in os.environ:\n        return 1",
            "return 1 if 'pytest' in sys.modules else 2",
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
        let signs = of(production, test);
        let test = &signs.tests[0];
        assert_eq!((test.mocks.len(), test.assertions), (1, 3));
        assert_eq!(test.subjects, ["Cart", "add"]);
        assert_eq!(test.samples[0].inputs, BTreeSet::from(["1".to_owned()]));
        assert_eq!(signs.answers[0].returned, BTreeSet::from(["2".to_owned()]));
        assert_eq!(signs.unreferenced, BTreeSet::from([Place::new("calc.py", 5)]));
        assert_eq!(test.asks.len(), 2);
    }
}
