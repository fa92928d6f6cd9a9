//! Tests the program on Python projects with real pytest: causes of a red, cheats, and a person's commands.
//!
//! Tests print that they are skipped without pytest.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod environments;
mod odd;

use serde_json::json;
use tdd_fixtures::script::Script;

tdd_fixtures::language_tests!("python", has_pytest);

const SKIPPED: &str = "skipped: there is no pytest; install it into a virtual environment and set VIRTUAL_ENV";

#[test]
fn every_test_has_its_cause() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    machine(&sandbox).set_test_timeout(2);
    sandbox.write("calc.py", "import os\n\n\ndef add(a, b):\n    return a + b\n\n\ndef die():\n    os._exit(0)\n");
    sandbox.write(
        "tests/test_all.py",
        "import time\nimport unittest\n\nimport pytest\n\nimport calc\n\n\
         def test_passes(): assert calc.add(1, 2) == 3\n\
         def test_fails(): assert calc.add(1, 2) == 4\n\
         def test_dies(): calc.die()\n\
         def test_hangs(): time.sleep(60)\n\
         def test_misses(): assert calc.sub(2, 1) == 1\n\
         def test_mistaken(): int('a')\n\
         def test_wants(fixture): assert fixture\n\
         def test_skips(): pytest.skip('no')\n\
         @pytest.mark.xfail\ndef test_expected(): assert calc.add(1, 1) == 3\n\
         @pytest.mark.parametrize('n', [1, 'a b::c[d]'])\ndef test_cases(n): assert calc.add(n, n) == 2\n\
         class Unit(unittest.TestCase):\n    def test_parts(self):\n        for n in (1, 2):\n            with self.subTest(n):\n                self.assertEqual(calc.add(n, 0), 1)\n",
    );
    sandbox.write("tests/test_asks.py", "from calc import mul\n\n\ndef test_m():\n    assert mul(1, 2) == 2\n");
    sandbox.write("tests/test_broken.py", "def test_b(:\n");
    sandbox.write("tests/test_ends.py", "import os\nos._exit(0)\n\n\ndef test_e():\n    assert True\n");
    check(
        &sandbox,
        &[
            "tests/test_all.py::Unit::test_parts assertion",
            "tests/test_all.py::test_cases assertion",
            "tests/test_all.py::test_dies crash",
            "tests/test_all.py::test_expected skipped",
            "tests/test_all.py::test_fails assertion",
            "tests/test_all.py::test_hangs timeout",
            "tests/test_all.py::test_misses missing-symbol",
            "tests/test_all.py::test_mistaken unrelated-failure",
            "tests/test_all.py::test_passes pass",
            "tests/test_all.py::test_skips skipped",
            "tests/test_all.py::test_wants load-failure",
            "tests/test_asks.py missing-symbol",
            "tests/test_broken.py syntax-error",
            "tests/test_ends.py crash",
        ],
    );
}

#[test]
fn compiled_files_that_lie_about_are_not_believed() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    sandbox.write("calc.py", "def add(a, b):\n    return 0\n");
    sandbox.write("tests/test_add.py", "from calc import add\n\n\ndef test_adds():\n    assert add(1, 2) == 3\n");
    let forge = "import importlib.util, os, py_compile\n\
                 open('right.py', 'w').write('def add(a, b):\\n    return 3\\n')\n\
                 made = importlib.util.cache_from_source('calc.py')\n\
                 os.makedirs(os.path.dirname(made), exist_ok=True)\n\
                 mode = py_compile.PycInvalidationMode.UNCHECKED_HASH\n\
                 py_compile.compile('right.py', made, 'calc.py', invalidation_mode=mode)\n\
                 os.remove('right.py')\n";
    assert!(sandbox.command("python3").args(["-c", forge]).status().unwrap().success());
    check(&sandbox, &["tests/test_add.py::test_adds assertion"]);
}

#[test]
fn a_test_is_gone_when_its_file_takes_it_away() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    sandbox.write("tests/test_a.py", "def test_a(): pass\ndef test_b(): pass\ndel test_a\ndef test_b(): pass\n");
    check(&sandbox, &["tests/test_a.py::test_a target-not-found", "tests/test_a.py::test_b load-failure"]);
}

#[test]
fn a_person_retires_a_test() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    sandbox.write("calc.py", "def add(a, b):\n    return a + b\n\n\ndef sub(a, b):\n    return a - b\n");
    let tests = "from calc import add, sub\n\n\ndef test_adds():\n    assert add(1, 2) == 3\n";
    let both = format!("{tests}\n\ndef test_subtracts():\n    assert sub(2, 1) == 1\n");
    sandbox.write("tests/test_calc.py", &both);
    sandbox.commit("feat: add and sub");
    let (code, said) = run(&sandbox, &["retire", "tests/test_calc.py::test_subtracts", "--reason", "nobody needs it"]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(sandbox.read("tests/test_calc.py"), tests);
    check(&sandbox, &["tests/test_calc.py::test_adds pass"]);
}

const RED: &str = "from calc import add\n\n\ndef test_nothing_is_zero():\n    assert add(\"\") == 0\n";
const GREEN: &str = "def add(text):\n    return 0\n";

#[test]
fn a_cycle_goes_round_and_ways_round_it_do_not() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    let said = json!({"summary": "answer zero"});
    let script = Script::new()
        .writes("1-tester", "tests/test_add.py", RED)
        .plans("2-implementor")
        .edits("2-implementor", 1, &[("conftest.py", Some("")), ("calc.py", Some(GREEN))], &said)
        .edits("2-implementor", 2, &[("calc.py", Some("import os\n\n\ndef add(text):\n    os._exit(0)\n"))], &said)
        .edits("2-implementor", 3, &[("calc.py", Some(GREEN))], &said)
        .writes("3-refactorer", "calc.py", "def add(_text):\n    return 0\n");
    machine(&sandbox).assert_cycle(&script);
}

#[test]
fn what_was_compiled_before_is_not_believed() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    let python =
        std::env::var("VIRTUAL_ENV").map_or_else(|_| "python3".to_owned(), |home| format!("{home}/bin/python3"));
    // Same timestamp and size, so Python considers the old compiled file valid.
    let rewrite = |path: &str, text: &str| {
        let shell = format!("touch -r {path} then && printf '%s' '{text}' > {path} && touch -r then {path} && rm then");
        assert!(sandbox.command("sh").args(["-c", &shell]).status().unwrap().success());
    };
    let test = "import calc\n\n\ndef test_value():\n    assert calc.VALUE == 1\n";
    sandbox.write("calc.py", "VALUE = 1\n");
    sandbox.write("tests/test_value.py", test);
    let pytest = || sandbox.command(&python).args(["-m", "pytest", "-q"]).output().unwrap().status.success();
    assert!(pytest());
    rewrite("calc.py", "VALUE = 2\n");
    assert!(pytest(), "nothing is stale here: {:?}", sandbox.read("calc.py"));
    check(&sandbox, &["tests/test_value.py::test_value assertion"]);
    rewrite("tests/test_value.py", &test.replace("== 1", "== 2"));
    check(&sandbox, &["tests/test_value.py::test_value pass"]);
}

#[test]
fn a_check_that_fails_is_shown_by_the_tools_name() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    sandbox.write("calc.py", "def add(a, b):\n    return a + b\n");
    sandbox.write("tests/test_add.py", "import calc\n\n\ndef test_adds():\n    assert calc.add(1, 2) == 3\n");
    sandbox.commit("feat: add");
    sandbox.write("spare.py", "def old():\n    print \"once upon a time\"\n");
    let (code, verdict) = run(&sandbox, &["validate-refactor"]);
    assert_eq!((code, &verdict["rule"]), (1, &json!("check-passes")), "{verdict}");
    let reason = verdict["reason"].as_str().unwrap();
    assert!(reason.starts_with("`ruff, or the syntax alone` fails: error: spare.py:2"), "{reason}");
}
