//! Compares two trees of a Python project, test by test, item by item and key by key.
//!
//! Layout, comments and documentation without examples do not count.

use tdd_core::change::{Change, Sort};

use super::asks::DependencyFinder;
use super::intrusions::intrusions;
use super::items::items;
use super::manifest;
use super::modules::Modules;
use super::names::Names;
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
    // Runner configuration is frozen, so both trees have the same name patterns; a new project uses its own.
    let names = if before.files().is_empty() { Names::of(project, after) } else { Names::of(project, before) };
    let comparer = TreeComparer {
        know: &|sources| Modules::of(project, sources),
        sort: &|path| sort(path, &names),
        owns: &owns,
        read: &|modules, path, source| read(modules, &names, path, source),
        steering: &manifest::compare,
        is_kept: &|_, before, after| statements::is_kept(before, after),
    };
    compare::change(&comparer, before, after, paths)
}

/// Reads a source file.
fn read(modules: &Modules, names: &Names, path: &str, source: &str) -> FileFacts {
    let Some(tree) = Tree::parse(source) else { return FileFacts::default() };
    let found = items(path, source, names);
    let finder = DependencyFinder::new(&tree, modules);
    let is_for_tests = sort(path, names) == Sort::Test;
    let pieces = pieces(&tree, &found, is_for_tests);
    let ask = |item: &TestItem| (finder.assertions(item), finder.asks_production(item));
    let intrusions = if is_for_tests { intrusions(&tree, &found) } else { Vec::new() };
    FileFacts { intrusions, ..FileFacts::new(path, found, ask, pieces, tree.syntax_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{change_between, told};

    const TEST: &str = "from calc import add\n\n\ndef test_a():\n    assert add(1, 2) == 3\n";

    fn of(before: &[(&str, &str)], after: &[(&str, &str)]) -> Change {
        change_between(before, after, change)
    }

    fn check(before: &[(&str, &str)], after: &[(&str, &str)], expected: &[&str]) {
        assert_eq!(told(&of(before, after)), expected, "{after:?}");
    }

    /// Checks whether the test `test_a` only gained something between two versions of its file.
    #[track_caller]
    fn check_test(old: &str, new: &str, only_gained: bool) {
        check(&[("t_test.py", old)], &[("t_test.py", new)], &[&format!("~t_test.py::test_a {only_gained}")]);
    }

    #[test]
    fn a_new_test_is_told_with_what_it_uses() {
        check(&[], &[("tests/test_a.py", TEST)], &["+tests/test_a.py::test_a", "support use `calc.add` Added"]);
        let facts = of(&[], &[("tests/test_a.py", TEST)]);
        assert!(facts.new_demands().all(|test| test.asks_production && test.can_fail()));
    }

    #[test]
    fn a_test_may_gain_assertions_and_lose_nothing() {
        let with = |body: &str| format!("def test_a():\n{body}");
        let old = with("    x = f()\n    assert x == 1\n");
        for (body, expected) in [
            ("    x = f()\n    assert x == 1\n    assert x != 2\n", "~t_test.py::test_a true"),
            ("    x = f()\n    assert x == 2\n", "~t_test.py::test_a false"),
            ("    x = f()\n    return\n    assert x == 1\n", "~t_test.py::test_a false"),
            ("    x = f()\n    if x:\n        assert x == 1\n", "~t_test.py::test_a false"),
            ("    x = f()\n", "~t_test.py::test_a false"),
        ] {
            check(&[("t_test.py", &old)], &[("t_test.py", &with(body))], &[expected]);
        }
        check(&[("t_test.py", &old)], &[("t_test.py", &format!("# x\n{old}"))], &[]);
    }

    #[test]
    fn a_table_may_gain_rows_and_lose_none() {
        let with =
            |rows: &str| format!("@pytest.mark.parametrize('a, b', {rows})\ndef test_a(a, b):\n    assert f(a) == b\n");
        for (rows, expected) in [
            ("[(1, 2), (2, 4), (3, 6)]", true),
            ("[\n    (1, 2),\n    (2, 4),\n    pytest.param(3, 6, id='three'),\n]", true),
            ("[(1, 2), (2, 5), (3, 6)]", false),
            ("[(2, 4), (3, 6)]", false),
            ("[(1, 2)]", false),
            ("[(1, 2), (2, 4)][:1]", false),
            ("[(1, 2), (2, 4), *more]", false),
            ("[(1, 2), (3, 6), (2, 4)]", true),
            ("[(1, 2), (2, 4)], ids=['x', 'y']", false),
        ] {
            check_test(&with("[(1, 2), (2, 4)]"), &with(rows), expected);
        }
    }

    #[test]
    fn an_assertion_may_gain_a_claim_and_lose_none() {
        let with = |body: &str| format!("def test_a():\n    {body}\n    assert g()\n");
        let compare = |before: &str, after: &str, expected: bool| {
            let (old, new) = (with(before), with(after));
            check_test(&old, &new, expected);
            let grown = of(&[("t_test.py", &old)], &[("t_test.py", &new)]);
            assert_eq!(grown.new_demands().count(), usize::from(expected), "{before} {after}");
        };
        compare("assert f() > 1", "assert f() > 1 and f() < 9", true);
        compare("assert f() > 1", "assert (f() < 9 and f() > 1)", true);
        compare("assert a or b", "assert (a or b) and c", true);
        compare("assert a, 'no'", "assert a and b, 'no'", true);
        compare("self.assertTrue(a)", "self.assertTrue(a and b)", true);
        compare("assert a and b", "assert a", false);
        compare("assert a", "assert a or b", false);
        compare("assert a", "assert a and b or c", false);
        compare("assert a or b", "assert a or b and c", false);
        compare("assert not a", "assert not (a and b)", false);
        compare("self.assertFalse(a)", "self.assertFalse(a and b)", false);
        let raising = |claim: &str| format!("with raises(AssertionError):\n        assert {claim}");
        compare(&raising("a"), &raising("a and b"), false);
    }

    #[test]
    fn a_skipped_test_without_a_body_is_no_test_that_could_be_changed() {
        let todo = "import pytest\n\n\n@pytest.mark.skip\ndef test_a():\n    ...\n";
        let real = "import pytest\n\n\ndef test_a():\n    assert f() == 1\n";
        check(&[("t_test.py", todo)], &[("t_test.py", real)], &["+t_test.py::test_a"]);
        let later = todo.replace("...", "assert f() == 1");
        check(&[("t_test.py", &later)], &[("t_test.py", &real.replace('1', "2"))], &["~t_test.py::test_a false"]);
    }

    #[test]
    fn a_dict_may_gain_rows_and_lose_none() {
        let with = |rows: &str| {
            format!(
                "def test_a():\n    cases = {{{rows}}}\n    for b, all in cases.items():\n        for a in all:\n            assert f(a) == b\n"
            )
        };
        for (rows, expected) in [
            ("'even': [2, 4], 'odd': [1]", true),
            ("'none': [], 'even': [2, 4]", true),
            ("'even': [2]", false),
            ("'odd': [1]", false),
            ("'even': [2, 4], 'even': []", false),
            ("'even': [2, 4], **more", false),
            ("'even': [2, 4], key(): []", false),
        ] {
            check_test(&with("'even': [2, 4]"), &with(rows), expected);
        }
    }

    #[test]
    fn a_test_that_was_formatted_is_the_same_test() {
        let old = "def test_a():\n    item = Builder().plus(1).build()\n    assert item == f(1, 'x')\n";
        let new = "def test_a():\n    item = (\n        Builder()\n        .plus(1)\n        .build()\n    )\n    assert item == f(\n        1,\n        \"x\",\n    )\n";
        check(&[("t_test.py", old)], &[("t_test.py", new)], &[]);
        let other =
            new.replace("item == f", "(item == f").replace("    )\n\n", "").replace("\"x\",\n    )", "\"x\"), 'no')");
        check(&[("t_test.py", old)], &[("t_test.py", &other)], &["~t_test.py::test_a false"]);
    }

    #[test]
    fn a_table_with_a_name_of_its_own_belongs_to_its_test() {
        let marked = "@pytest.mark.parametrize('a, b', CASES)\ndef test_a(a, b):\n    assert f(a) == b\n";
        let loops = "def test_a():\n    for a, b in CASES:\n        assert f(a) == b\n";
        for test in [marked, loops] {
            let with = |rows: &str| format!("CASES = {rows}\n\n\n{test}");
            let old = with("[(1, 2), (2, 4)]");
            for (rows, expected) in [
                ("[(1, 2), (2, 4), (3, 6)]", &["~t_test.py::test_a true"][..]),
                ("[(0, 0), (1, 2), (2, 4)]", &["~t_test.py::test_a true"]),
                ("[(1, 2), (2, 5)]", &["~t_test.py::test_a false"]),
                ("[(1, 2)]", &["~t_test.py::test_a false"]),
                ("[(1, 2), (2, 4), (3, 6)][:1]", &["~t_test.py::test_a false", "support `CASES` Changed"]),
            ] {
                check(&[("t_test.py", &old)], &[("t_test.py", &with(rows))], expected);
            }
            let grown = of(&[("t_test.py", &old)], &[("t_test.py", &with("[(1, 2), (2, 4), (3, 6)]"))]);
            assert_eq!(grown.new_demands().count(), 1, "{test}");
        }
        let old = format!("CASES = [1, 2]\n\n\n{}", loops.replace("a, b", "a").replace("== b", "== a"));
        check(&[("t_test.py", &old)], &[("t_test.py", "CASES = [1, 2]\n")], &["-t_test.py::test_a"]);
        let named = |rows: &str, ids: &str| marked.replace("CASES", &format!("[{rows}], ids=[{ids}]"));
        let (old, new) = (named("(1, 2)", "'one'"), named("(1, 2), (2, 4)", "'one', 'two'"));
        check(&[("t_test.py", &old)], &[("t_test.py", &new)], &["~t_test.py::test_a true"]);
    }

    #[test]
    fn a_renamed_or_moved_test_is_the_same_test() {
        let renamed = TEST.replace("test_a", "test_b");
        check(&[("test_a.py", TEST)], &[("test_a.py", &renamed)], &["test_a.py::test_a -> test_a.py::test_b"]);
        check(&[("test_a.py", TEST)], &[("test_b.py", TEST)], &["test_a.py::test_a -> test_b.py::test_a"]);
        check(&[("test_a.py", TEST)], &[("test_a.py", "")], &["-test_a.py::test_a", "support use `calc.add` Removed"]);
    }

    #[test]
    fn production_is_told_item_by_item() {
        let old = "X = 1\ndef f():\n    return 1\nclass C:\n    def m(self):\n        return 1\n";
        let new = "X = 2\ndef f():\n    return 1\nclass C:\n    def m(self):\n        return 2\n    def n(self):\n        pass\n";
        check(
            &[("calc.py", old)],
            &[("calc.py", new)],
            &["production `X` Changed", "production def `C.m` Changed", "production def `C.n` Added"],
        );
        check(&[("calc.py", old)], &[("calc.py", &format!("\"\"\"Doc.\"\"\"\n{old}"))], &[]);
    }

    #[test]
    fn steering_is_frozen_but_for_a_new_dependency() {
        check(&[], &[("conftest.py", "")], &["steering a new file"]);
        let old = "[project]\ndependencies = [\"a\"]\n";
        let with =
            |text: &str, expected: &[&str]| check(&[("pyproject.toml", old)], &[("pyproject.toml", text)], expected);
        with("[project]\ndependencies = [\"a\", \"b>=2\"]\n", &["steering `project.dependencies` free"]);
        with("[project]\ndependencies = [\"a\", \"b @ file:///x\"]\n", &["steering `project.dependencies`"]);
        with("[project]\ndependencies = []\n", &["steering `project.dependencies`"]);
        with("# x\n[project]\ndependencies = ['a']\n", &[]);
        with(
            &format!("{old}[tool.pytest.ini_options]\naddopts = \"-k nothing\"\n"),
            &["steering `tool.pytest.ini_options.addopts`"],
        );
        check(
            &[("requirements.txt", "a\n")],
            &[("requirements.txt", "a\nb==1\n")],
            &["steering a new requirement free"],
        );
        check(&[("requirements.txt", "a\n")], &[("requirements.txt", "b==1\n")], &["steering its text"]);
    }

    /// Checks whether code added to a test file intrudes on the test that is there.
    #[track_caller]
    fn check_intrusion(path: &str, added: &str, intrudes: bool) {
        let old = "import calc\n\n\nclass TestOld:\n    def test_old(self):\n        assert calc.add(1, 2) == 3\n";
        let before = [("calc.py", ""), ("tests/test_a.py", old)];
        let text =
            if path == "tests/test_a.py" { format!("{old}\n\n{added}") } else { format!("import calc\n{added}") };
        let others = before.iter().copied().filter(|(known, _)| *known != path);
        let change = of(&before, &others.chain([(path, text.as_str())]).collect::<Vec<_>>());
        assert_eq!(!change.intrusions.is_empty(), intrudes, "{path}: {added}");
    }

    #[test]
    fn new_test_code_does_not_act_on_tests_that_do_not_name_it() {
        let fixture = |mark: &str, body: &str| format!("@pytest.fixture{mark}\ndef quick(monkeypatch):\n    {body}\n");
        let fake = "monkeypatch.setattr(calc, 'add', lambda a, b: 3)";
        for (added, intrudes) in [
            (fixture("(autouse=True)", fake), true),
            (fixture("(scope='module', autouse=True)", "calc.add = None"), true),
            (fixture("", fake), false),
            (fixture("(autouse=True)", "monkeypatch.setenv('A', '1')"), false),
            ("def setup_module():\n    calc.add = lambda a, b: 3\n".to_owned(), true),
            (
                "class TestNew:\n    def setup_method(self):\n        calc.add = None\n    def test_b(self): ...\n"
                    .to_owned(),
                false,
            ),
            ("def test_new(monkeypatch):\n    monkeypatch.setattr(calc, 'add', None)\n".to_owned(), false),
        ] {
            check_intrusion("tests/test_a.py", &added, intrudes);
        }
        for (added, intrudes) in [
            ("calc.add = lambda a, b: 3\n", true),
            ("import builtins\nbuiltins.sum = len\n", true),
            ("setattr(calc, 'add', None)\n", true),
            ("import sys\nsys.modules['calc'] = None\n", true),
            ("from unittest.mock import patch\npatch('calc.add').start()\n", true),
            ("def install():\n    calc.add = None\n\n\ninstall()\n", true),
            ("class Fake:\n    calc.add = None\n", true),
            ("if True:\n    calc.add = None\n", true),
            ("import sys\nsys.path.insert(0, 'src')\n", false),
            ("import os\nos.environ['A'] = '1'\n", false),
            ("client = object()\nclient.name = 'x'\n", false),
            ("def fake():\n    calc.add = None\n", false),
        ] {
            check_intrusion("tests/__init__.py", added, intrudes);
            check_intrusion("tests/test_b.py", added, intrudes);
        }
    }

    #[test]
    fn a_file_that_does_not_parse_any_more_is_unreadable() {
        check(&[("test_a.py", TEST)], &[("test_a.py", "def test_a(:\n")], &["unreadable test_a.py"]);
    }
}
