//! Tests surprising behaviour of pytest and related packages.

use super::{SKIPPED, check, project, run};

#[test]
fn what_nothing_awaits_or_is_meant_to_fail_is_no_red() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    sandbox.write("calc.py", "def add(a, b):\n    return a + b\n");
    sandbox.write(
        "tests/test_odd.py",
        "import unittest\n\nimport pytest\n\nimport calc\nfrom calc import add\n\n\n\
         async def test_nobody_awaits(): assert add(1, 2) == 4\n\
         @pytest.mark.xfail(strict=True)\ndef test_strict(): assert add(1, 2) == 3\n\
         class Unit(unittest.TestCase):\n    \
             @unittest.expectedFailure\n    def test_expected(self): self.assertEqual(add(1, 2), 3)\n    \
             def test_skips(self): self.skipTest('no')\n\
         class SetUp(unittest.TestCase):\n    def setUp(self): int('a')\n    def test_own(self): self.assertEqual(add(1, 2), 3)\n\
         class Wants(unittest.TestCase):\n    def setUp(self): self.basket = calc.Basket()\n    def test_it(self): self.assertEqual(self.basket, 3)\n",
    );
    sandbox.write(
        "tests/test_foreign.py",
        "import pytest\n\npytest.importorskip('nowhere')\n\n\ndef test_f(): assert True\n",
    );
    check(
        &sandbox,
        &[
            "tests/test_foreign.py::test_f skipped",
            "tests/test_odd.py::SetUp::test_own unrelated-failure",
            "tests/test_odd.py::Unit::test_expected skipped",
            "tests/test_odd.py::Unit::test_skips skipped",
            "tests/test_odd.py::Wants::test_it missing-symbol",
            "tests/test_odd.py::test_nobody_awaits load-failure",
            "tests/test_odd.py::test_strict skipped",
        ],
    );
}

#[test]
fn examples_in_documentation_are_tests_where_pytest_is_told_so() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    sandbox.write("pytest.ini", "[pytest]\naddopts = --doctest-modules\n");
    let with =
        |call: &str| format!("def add(a, b):\n    \"\"\"Sum.\n\n    >>> {call}\n    3\n    \"\"\"\n    return a + b\n");
    sandbox.write("calc.py", with("add(1, 2)"));
    sandbox.write("wrong.py", with("add(1, 1)"));
    check(&sandbox, &["calc.py::calc.add pass", "wrong.py::wrong.add assertion"]);
}

#[test]
fn two_files_of_one_name_are_told_apart_only_by_packages() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    for folder in ["a", "b"] {
        sandbox.write(&format!("tests/{folder}/test_same.py"), "def test_a():\n    assert True\n");
    }
    let (_, report) = run(&sandbox, &["auto-test"]);
    assert!(report["obstacles"][0]["message"].as_str().unwrap().contains("`__init__.py`"), "{report}");
    for folder in ["a", "b"] {
        sandbox.write(&format!("tests/{folder}/__init__.py"), "");
    }
    check(&sandbox, &["tests/a/test_same.py::test_a pass", "tests/b/test_same.py::test_a pass"]);
}

#[test]
fn options_that_would_end_a_run_early_do_not_matter() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    sandbox.write("pytest.ini", "[pytest]\naddopts = --maxfail=1 -x -q --stepwise --lf --nf\n");
    sandbox.write("tests/test_a.py", "def test_a(): assert False\ndef test_b(): assert True\n");
    assert_eq!(
        sandbox.results(env!("CARGO_BIN_EXE_tdd-cli")),
        ["tests/test_a.py::test_a assertion", "tests/test_a.py::test_b pass"]
    );
}

#[test]
fn hypothesis_tries_the_same_in_every_run_and_keeps_nothing() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    // A stand-in, because hypothesis may not be installed.
    sandbox.write(
        "tests/test_chance.py",
        "import os\nimport sys\nimport types\n\ncore = types.ModuleType('core')\ncore.global_force_seed = None\n\
         sys.modules['hypothesis.core'] = core\n\n\ndef test_seed():\n    assert core.global_force_seed == 0\n\n\n\
         def test_place():\n    assert not os.environ['HYPOTHESIS_STORAGE_DIRECTORY'].startswith(os.getcwd())\n",
    );
    check(&sandbox, &["tests/test_chance.py::test_place pass", "tests/test_chance.py::test_seed pass"]);
}

#[test]
fn tests_under_other_names_go_round_and_are_guarded() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    sandbox.write(
        "pytest.ini",
        "[pytest]\npythonpath = .\npython_files = check_*.py\npython_functions = check_*\npython_classes = *Spec\n",
    );
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "chore: other names"]);
    let test = "from calc import add\n\n\nclass AddSpec:\n    def check_adds(self):\n        assert add(1, 2) == 3\n";
    sandbox.write("checks/check_calc.py", test);
    let (code, said) = run(&sandbox, &["validate-red", "checks/check_calc.py"]);
    assert_eq!((code, &said["cause"]), (0, &"missing-symbol".into()), "{said}");
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "test: add"]);
    sandbox.write("calc.py", "def add(a, b):\n    return a + b\n");
    let (code, said) = run(&sandbox, &["validate-green", "checks/check_calc.py::AddSpec::check_adds"]);
    assert_eq!(code, 0, "{said}");
    sandbox.write("checks/check_calc.py", test.replace("== 3", "is not None"));
    let (code, said) = run(&sandbox, &["validate-green", "checks/check_calc.py::AddSpec::check_adds"]);
    assert_eq!((code, &said["rule"]), (1, &"tests-frozen".into()), "{said}");
}

#[test]
fn a_failing_row_is_named_and_stands_for_its_test() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    let test = |rows: &str| {
        format!(
            "import pytest\n\nfrom calc import double\n\n\n@pytest.mark.parametrize(\"n, expected\", [{rows}])\n\
             def test_doubles(n, expected):\n    assert double(n) == expected\n"
        )
    };
    sandbox.write("calc.py", "def double(n):\n    return 2\n");
    sandbox.write("tests/test_calc.py", test("(1, 2)"));
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "feat: double"]);
    sandbox.write("tests/test_calc.py", test("(1, 2), (3, 6)"));
    let (_, report) = run(&sandbox, &["auto-test"]);
    assert!(report["tests"][0]["message"].as_str().unwrap().starts_with("[3-6] "), "{report}");
    let (code, said) = run(&sandbox, &["validate-red", "tests/test_calc.py::test_doubles[3-6]"]);
    assert_eq!((code, &said["test_id"]), (0, &"tests/test_calc.py::test_doubles".into()), "{said}");
}

#[test]
fn a_test_that_aborts_takes_no_other_with_it() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    sandbox.write(
        "tests/test_a.py",
        "import os\n\n\ndef test_a(): os.abort()\ndef test_b(): assert True\ndef test_c(): os.kill(os.getpid(), 11)\n",
    );
    check(
        &sandbox,
        &["tests/test_a.py::test_a crash", "tests/test_a.py::test_b pass", "tests/test_a.py::test_c crash"],
    );
}

#[test]
fn one_unknown_id_costs_no_result_and_no_test_is_not_green() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    sandbox.write("tests/test_a.py", "import calc\n\n\ndef test_a():\n    assert calc.one() == 1\n");
    let (code, said) = run(&sandbox, &["validate-red", "tests/test_a.py::test_a", "tests/test_a.py::test_b"]);
    let causes: Vec<_> = said["verdicts"].as_array().unwrap().iter().map(|it| it["cause"].as_str()).collect();
    assert_eq!((code, causes), (1, vec![Some("missing-symbol"), Some("target-not-found")]), "{said}");
    sandbox.write("pytest.ini", "[pytest]\naddopts = -k nothing_is_called_so\n");
    let (code, said) = run(&sandbox, &["auto-test"]);
    assert_eq!(said["counts"]["passed"], 0, "{code} {said}");
    assert_eq!(said["obstacles"][0]["subject"], "tests/test_a.py", "{said}");
}

#[test]
fn rows_that_become_tests_of_their_own_are_still_one_test() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    // A stand-in, because parameterized may not be installed.
    sandbox.write(
        "tests/parameterized.py",
        "import sys\n\n\ndef expand(rows):\n    def wrap(test):\n        names = sys._getframe(1).f_locals\n        \
         for at, row in enumerate(rows):\n            names[f'{test.__name__}_{at}'] = lambda self, row=row: test(self, *row)\n    \
         return wrap\n",
    );
    let test = |rows: &str| {
        format!(
            "import unittest\n\nimport parameterized\n\nfrom calc import double\n\n\nclass Doubles(unittest.TestCase):\n    \
             @parameterized.expand([{rows}])\n    def test_it(self, n, expected):\n        self.assertEqual(double(n), expected)\n"
        )
    };
    sandbox.write("calc.py", "def double(n):\n    return 2\n");
    sandbox.write("tests/test_calc.py", test("(1, 2)"));
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "feat: double"]);
    check(&sandbox, &["tests/test_calc.py::Doubles::test_it pass"]);
    sandbox.write("tests/test_calc.py", test("(1, 2), (3, 6)"));
    let (code, said) = run(&sandbox, &["validate-red", "tests/test_calc.py"]);
    assert_eq!((code, &said["cause"]), (0, &"assertion".into()), "{said}");
    sandbox.git(&["commit", "-q", "-a", "-m", "test: more"]);
    sandbox.write("calc.py", "def double(n):\n    return n * 2\n");
    let (code, said) = run(&sandbox, &["validate-green", "tests/test_calc.py"]);
    assert_eq!(code, 0, "{said}");
}
