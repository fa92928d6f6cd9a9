//! Tests projects in unsupported languages through the JUnit report of their tests, with a real shell.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;
use tdd_fixtures::Sandbox;

/// Runs every function `test_…` of `test/*_test.sh` in a shell of its own.
const RUNNER: &str = r#"#!/bin/sh
mkdir -p out
failed=0
cases=""
for file in test/*_test.sh; do
  for name in $(sed -n 's/^\(test_[a-z_]*\)() {$/\1/p' "$file"); do
    if said=$(sh -ec ". ./lib/calc.sh; . ./$file; $name" 2>&1); then
      cases="$cases<testcase file=\"$file\" name=\"$name\"/>"
    else
      failed=1
      cases="$cases<testcase file=\"$file\" name=\"$name\"><failure>$said</failure></testcase>"
    fi
  done
done
echo "<testsuite>$cases</testsuite>" >out/junit.xml
exit $failed
"#;

const CALC: &str = "add() {\n  echo $(($1 + $2))\n}\n";
const TESTS: &str = "test_adds() {\n  [ \"$(add 1 2)\" = 3 ] || { echo 'assertion: 1 + 2'; exit 1; }\n}\n";
const MORE: &str = "\ntest_doubles() {\n  [ \"$(double 4)\" = 8 ] || { echo 'assertion: 2 * 4'; exit 1; }\n}\n";
const DOUBLE: &str = "\ndouble() {\n  add \"$1\" \"$1\"\n}\n";

fn project() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.git(&["init", "-q", "-b", "main"]);
    for (path, text) in [
        ("tdd.yaml", "language: shell\nci: { test_cmd: [./run-tests], junit: out/junit.xml }\n"),
        (".gitignore", "out\n"),
        ("run-tests", RUNNER),
        ("lib/calc.sh", CALC),
        ("test/calc_test.sh", TESTS),
    ] {
        sandbox.write(path, text);
    }
    let runner = sandbox.project().join("run-tests");
    std::fs::set_permissions(runner, std::fs::Permissions::from_mode(0o755)).unwrap();
    sandbox.commit("chore: begin");
    sandbox
}

/// The exit code and the JSON output.
fn run(sandbox: &Sandbox, arguments: &[&str]) -> (i32, Value) {
    sandbox.answer(env!("CARGO_BIN_EXE_tdd-cli"), arguments)
}

fn rule(said: &Value) -> (&str, &str) {
    (said["rule"].as_str().unwrap_or_default(), said["cause"].as_str().unwrap_or_default())
}

#[test]
fn a_red_becomes_green_and_is_tidied_up() {
    let sandbox = project();
    let (code, report) = run(&sandbox, &["auto-test"]);
    assert_eq!((code, &report["tests"][0]["test_id"]), (0, &Value::from("test/calc_test.sh::test_adds")), "{report}");
    sandbox.write("test/calc_test.sh", format!("{TESTS}{MORE}"));
    let (code, said) = run(&sandbox, &["validate-red", "test/calc_test.sh"]);
    assert_eq!((code, rule(&said)), (0, ("", "assertion")), "{said}");
    sandbox.write("lib/calc.sh", format!("{CALC}{DOUBLE}"));
    let (code, said) = run(&sandbox, &["validate-green", "test/calc_test.sh::test_doubles"]);
    assert_eq!(code, 0, "{said}");
    sandbox.git(&["commit", "-qam", "feat: double"]);
    sandbox.write("lib/calc.sh", format!("{CALC}{}", DOUBLE.replace("add \"$1\" \"$1\"", "echo $(($1 * 2))")));
    let (code, said) = run(&sandbox, &["validate-refactor"]);
    assert_eq!(code, 0, "{said}");
}

#[test]
fn without_a_command_the_makefile_is_asked() {
    let sandbox = project();
    if sandbox.command("make").arg("--version").output().is_err() {
        return println!("skipped: there is no make");
    }
    sandbox.write("tdd.yaml", "language: shell\nci: { junit: out/junit.xml }\n");
    sandbox.write("Makefile", ".PHONY: test\ntest:\n\t./run-tests\n");
    let (code, report) = run(&sandbox, &["auto-test"]);
    assert_eq!((code, &report["command"]), (0, &Value::from("make test")), "{report}");
    assert_eq!(report["tests"][0]["status"], "pass", "{report}");
}

#[test]
fn a_command_for_some_tests_is_told_which() {
    let sandbox = project();
    let rule = "test_command_for: [{ match: test/slow, cmd: [./run-slow, \"{test_ids}\"] }]";
    sandbox.write(
        "tdd.yaml",
        format!("language: shell\nci: {{ test_cmd: [./run-tests], junit: out/junit.xml, {rule} }}\n"),
    );
    sandbox.write("test/slow/slow_test.sh", TESTS.replace("test_adds", "test_slowly"));
    let told = sandbox.outside().join("told");
    let case = "<testcase file=\\\"test/slow/slow_test.sh\\\" name=\\\"test_slowly\\\"/>";
    let script = format!(
        "#!/bin/sh\necho \"$@\" >>{}\nmkdir -p out\necho \"<testsuite>{case}</testsuite>\" >out/junit.xml\n",
        told.display()
    );
    sandbox.write("run-slow", script);
    let runner = sandbox.project().join("run-slow");
    std::fs::set_permissions(runner, std::fs::Permissions::from_mode(0o755)).unwrap();
    let results = sandbox.results(env!("CARGO_BIN_EXE_tdd-cli"));
    assert_eq!(results, ["test/calc_test.sh::test_adds pass", "test/slow/slow_test.sh::test_slowly pass"]);
    assert_eq!(std::fs::read_to_string(told).unwrap(), "test/slow/slow_test.sh::test_slowly\n");
}

#[test]
fn a_makefile_that_cannot_be_read_is_answered_with_the_lines_to_write() {
    let sandbox = project();
    let lines = "    ci:\n      test_cmd: [\"make\", \"test\"]\n      junit: \"report.xml\"\n";
    sandbox.git(&["rm", "-q", "tdd.yaml"]);
    sandbox.write("Makefile", ".PHONY: test\ntest:\n\t./run-tests && echo done\n");
    sandbox.commit("chore: a Makefile");
    for command in ["auto-test", "check", "doctor"] {
        let output = sandbox.command(env!("CARGO_BIN_EXE_tdd-cli")).arg(command).output().unwrap();
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert_eq!(output.status.code(), Some(2), "{command}: {said}");
        assert!(said.contains("the target `test` of `Makefile` cannot be read"), "{command}: {said}");
        assert!(said.contains(lines), "{command}: {said}");
    }
    // The lines that the hint suggests must work.
    let written = lines.replace("\n    ", "\n").replace("report.xml", "out/junit.xml");
    sandbox.write("tdd.yaml", written.trim_start());
    if sandbox.command("make").arg("--version").output().is_ok() {
        assert_eq!(sandbox.results(env!("CARGO_BIN_EXE_tdd-cli")), ["test/calc_test.sh::test_adds pass"]);
    }
}

#[test]
fn what_cheats_is_refused() {
    let (both, code) = (format!("{TESTS}{MORE}"), format!("{CALC}{DOUBLE}"));
    for (path, text, expected) in [
        ("test/calc_test.sh", "test_adds() {\n  :\n}\n", "tests-frozen"),
        ("test/calc_test.sh", "", "tests-frozen"),
        ("run-tests", "#!/bin/sh\nexit 0\n", "steering-frozen"),
        ("Makefile", "all:\n", "steering-frozen"),
    ] {
        let sandbox = project();
        sandbox.write(path, text);
        let (exit, said) = run(&sandbox, &["validate-refactor"]);
        assert_eq!((exit, rule(&said).0), (1, expected), "{path}: {said}");
    }
    // A test that is loosened between red and green.
    let sandbox = project();
    sandbox.write("test/calc_test.sh", &both);
    assert_eq!(run(&sandbox, &["validate-red", "test/calc_test.sh"]).0, 0);
    sandbox.write("test/calc_test.sh", both.replace("double 4", "double 1"));
    sandbox.write("lib/calc.sh", code);
    let (exit, said) = run(&sandbox, &["validate-green", "test/calc_test.sh::test_doubles"]);
    assert_eq!(exit, 1, "{said}");
}

#[test]
fn a_report_that_is_old_or_says_otherwise_is_not_believed() {
    for (runner, cause) in [
        ("#!/bin/sh\nexit 0\n", "unknown-output"),
        ("#!/bin/sh\nmkdir -p out; echo '<testsuite tests=\"3\"/>' >out/junit.xml\n", "unknown-output"),
        (
            "#!/bin/sh\nmkdir -p out; echo '<testsuite><testcase name=\"test_adds\"/></testsuite>' >out/junit.xml; exit 1\n",
            "unknown-output",
        ),
        ("#!/bin/sh\nkill -9 $$\n", "crash"),
    ] {
        let sandbox = project();
        assert_eq!(run(&sandbox, &["auto-test"]).0, 0);
        sandbox.write("run-tests", runner);
        let (_, report) = run(&sandbox, &["auto-test"]);
        assert_eq!(report["obstacles"][0]["cause"], cause, "{runner}: {report}");
    }
}

#[test]
fn a_known_language_may_bring_a_command_of_its_own() {
    let sandbox = Sandbox::new();
    if !sandbox.has_pytest() {
        return println!("skipped: there is no pytest; install it into a virtual environment and set VIRTUAL_ENV");
    }
    assert_eq!(run(&sandbox, &["init", "--language", "python", "--name", "calc"]).0, 0);
    let script = "\"${VIRTUAL_ENV:-/usr}/bin/python3\" -m pytest -p no:cacheprovider --junitxml=out/junit.xml";
    sandbox.write("test.sh", format!("export PYTHONDONTWRITEBYTECODE=1\n{script}\n"));
    sandbox.write("tdd.yaml", "language: python\nci: { test_cmd: [sh, test.sh], junit: out/junit.xml }\n");
    sandbox.write("calc.py", "def add(a, b):\n    return a + b\n");
    sandbox.write(
        "tests/test_calc.py",
        "import pytest\n\nimport calc\n\n\nclass TestAdd:\n    def test_adds(self):\n        assert calc.add(1, 2) == 3\n\n\n\
         @pytest.mark.parametrize('n', [1, 2])\ndef test_many(n):\n    assert calc.add(n, 0) == 1\n",
    );
    let (code, report) = run(&sandbox, &["auto-test"]);
    let told: Vec<String> = report["tests"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| format!("{} {}", it["test_id"].as_str().unwrap(), it["cause"].as_str().unwrap_or("pass")))
        .collect();
    let expected = ["tests/test_calc.py::TestAdd::test_adds pass", "tests/test_calc.py::test_many assertion"];
    assert_eq!((code, told.as_slice()), (0, expected.map(str::to_owned).as_slice()), "{report}");
}
