//! Tests `detect-antipattern` with line coverage and the real runners.
//!
//! Tests print that they are skipped if their runner is missing.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use serde_json::Value;
use tdd_fixtures::Sandbox;

fn project(sandbox: &Sandbox, language: &str) {
    let made = sandbox
        .command(env!("CARGO_BIN_EXE_tdd-cli"))
        .args(["init", "--language", language, "--name", "squares"])
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

/// The YAGNI findings as `file:line why`, and why coverage was not measured.
fn detect(sandbox: &Sandbox, arguments: &[&str]) -> (Vec<String>, Option<String>) {
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_tdd-cli"));
    let output = command.args(["detect-antipattern", "--format", "json"]).args(arguments).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{said}"));
    let why_not = document["coverage"]["why_not"].as_str().map(str::to_owned);
    assert_eq!(document["coverage"]["used"], why_not.is_none(), "{document}");
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap().to_owned();
    let yagni = document["findings"].as_array().unwrap().iter().filter(|finding| finding["rule"] == "yagni");
    let show = |it: &Value| format!("{}:{} {}", text(it, "file"), it["line"], text(it, "why"));
    (yagni.map(show).collect(), why_not)
}

fn check(sandbox: &Sandbox, expected: &[&str]) {
    assert_eq!(detect(sandbox, &[]), (expected.iter().map(|line| (*line).to_owned()).collect(), None));
    assert!(!sandbox.git(&["status", "--porcelain", "--ignored"]).contains("cover"));
}

#[test]
fn python_tells_what_its_tests_execute() {
    let sandbox = Sandbox::new();
    if !sandbox.has_pytest() {
        return println!("skipped: there is no pytest");
    }
    project(&sandbox, "python");
    let test = "from squares import square\n\n\ndef test_four():\n    assert square(4) == 16\n";
    sandbox.write("tests/test_squares.py", test);
    sandbox.commit("test: four");
    let code = "\"\"\"Squares.\"\"\"\n\n\ndef square(n):\n    \"\"\"The square.\"\"\"\n    if n < 0:\n        # Never.\n        n = -n\n        n += 0\n    return n * n\n\n\ndef cube(n):\n    return n * square(n)\n";
    sandbox.write("squares.py", code);
    sandbox.write("other.py", "def never():\n    return 1\n");
    let idle = [
        "other.py:1 no test executes 2 lines of def `never`, from here to line 2",
        "squares.py:8 no test executes 2 lines of def `square`, from here to line 9",
        "squares.py:14 no test executes this line of def `cube`",
    ];
    check(&sandbox, &idle);
    sandbox.commit("feat: squares");
    check(&sandbox, &idle);
    assert_eq!(detect(&sandbox, &["squares.py"]).1.unwrap(), "coverage is measured only for a change");
    // Uncovered lines that the change does not touch are not reported.
    sandbox.write("squares.py", code.replace("return n * n\n", "return n**2\n"));
    check(&sandbox, &[]);
    sandbox.write("tests/test_squares.py", test.replace("16", "17"));
    let (_, why_not) = detect(&sandbox, &[]);
    assert_eq!(why_not.unwrap(), "`tests/test_squares.py::test_four` does not pass");
}

#[test]
fn a_test_that_takes_the_place_of_who_watches_python_ends_the_measurement() {
    let sandbox = Sandbox::new();
    if !sandbox.has_pytest() {
        return println!("skipped: there is no pytest");
    }
    project(&sandbox, "python");
    let stop = "import sys\n\nfrom squares import square\n\n\ndef test_four():\n    sys.settrace(None)\n    if hasattr(sys, 'monitoring'):\n        for tool in range(6):\n            sys.monitoring.free_tool_id(tool)\n    assert square(4) == 16\n";
    sandbox.write("tests/test_squares.py", stop);
    sandbox.commit("test: four");
    sandbox.write("squares.py", "def square(n):\n    return n * n\n");
    let (found, why_not) = detect(&sandbox, &[]);
    assert_eq!(why_not.unwrap(), "something else in the tests watches what they execute");
    assert_eq!(found, [""; 0]);
}

#[test]
fn go_tells_what_its_tests_execute() {
    let sandbox = Sandbox::new();
    if !sandbox.has_go() {
        return println!("skipped: there is no Go");
    }
    project(&sandbox, "go");
    sandbox.write(
        "squares_test.go",
        "package squares\n\nimport \"testing\"\n\nfunc TestFour(t *testing.T) {\n\tif Square(4) != 16 {\n\t\tt.Error()\n\t}\n}\n",
    );
    sandbox.commit("test: four");
    sandbox.write(
        "squares.go",
        "package squares\n\nfunc Square(n int) int {\n\tif n < 0 {\n\t\t// Never.\n\t\tn = -n\n\t\treturn n * n\n\t}\n\treturn n * n\n}\n\nfunc Cube(n int) int {\n\treturn n * Square(n)\n}\n",
    );
    sandbox.write("other/other.go", "package other\n\nfunc Never() int {\n\treturn 1\n}\n");
    check(
        &sandbox,
        &[
            "other/other.go:4 no test executes this line of func `Never`",
            "squares.go:6 no test executes 2 lines of func `Square`, from here to line 7",
            "squares.go:13 no test executes this line of func `Cube`",
        ],
    );
}

#[test]
fn node_tells_what_its_tests_execute() {
    let sandbox = Sandbox::new();
    if !sandbox.has_node() {
        return println!("skipped: there is no node");
    }
    project(&sandbox, "javascript");
    sandbox.write(
        "test/squares.test.js",
        "import assert from 'node:assert/strict';\nimport test from 'node:test';\n\nimport { square } from '../src/squares.js';\n\ntest('four', () => {\n  assert.equal(square(4), 16);\n});\n",
    );
    sandbox.commit("test: four");
    sandbox.write(
        "src/squares.js",
        "// é\nexport function square(n) {\n  if (n < 0) {\n    n = -n;\n    n += 0;\n  }\n  return n * n;\n}\n\nexport function cube(n) {\n  return n * square(n);\n}\n",
    );
    sandbox.write("src/other.js", "export const never = () => 1;\n");
    check(
        &sandbox,
        &[
            "src/other.js:1 no test executes this line of `never`",
            "src/squares.js:4 no test executes 2 lines of function `square`, from here to line 5",
            "src/squares.js:11 no test executes this line of function `cube`",
        ],
    );
}

#[test]
fn vitest_and_jest_tell_what_their_tests_execute() {
    let code = "// é\nexport function square(n: number): number {\n  if (n < 0) {\n    n = -n;\n    n += 0;\n  }\n  return n * n;\n}\n\n\
                export const cube = (n: number): number => {\n  return n * square(n);\n};\n";
    let vitest = "\"scripts\": {\"test\": \"vitest run\"}, \"devDependencies\": {\"vitest\": \"4\"}";
    let jest = "\"scripts\": {\"test\": \"jest\"}, \"jest\": {\"preset\": \"ts-jest\"}";
    for (manifest, from) in [(vitest, "vitest"), (jest, "@jest/globals")] {
        let sandbox = Sandbox::new();
        if !sandbox.link_node_modules() {
            return println!("skipped: vitest and jest are not in target/node; `.ci/run` installs them");
        }
        project(&sandbox, "typescript");
        sandbox.write("package.json", format!("{{\"name\": \"squares\", {manifest}}}\n"));
        let options = "\"module\": \"commonjs\", \"target\": \"es2022\", \"esModuleInterop\": true, \"types\": []";
        sandbox.write("tsconfig.json", format!("{{\"compilerOptions\": {{{options}}}}}\n"));
        let test =
            "import { square } from '../src/squares';\n\ntest('four', () => {\n  expect(square(4)).toBe(16);\n});\n";
        sandbox.write("test/squares.test.ts", format!("import {{ expect, test }} from '{from}';\n{test}"));
        sandbox.commit("test: four");
        sandbox.write("src/squares.ts", code);
        sandbox.write("src/other.ts", "export const never = (): number => 1;\n");
        check(
            &sandbox,
            &[
                "src/other.ts:1 no test executes this line of `never`",
                "src/squares.ts:4 no test executes 2 lines of function `square`, from here to line 5",
                "src/squares.ts:11 no test executes this line of `cube`",
            ],
        );
    }
}

#[test]
fn cargo_llvm_cov_tells_what_rust_tests_execute() {
    let sandbox = Sandbox::new();
    let asked = sandbox.command("cargo").args(["llvm-cov", "--version"]).output().unwrap();
    if !asked.status.success() {
        return println!("skipped: there is no cargo-llvm-cov");
    }
    project(&sandbox, "rust");
    let test = "use squares::square;\n\n#[test]\nfn four() {\n    assert_eq!(square(4), 16);\n}\n";
    sandbox.write("tests/a.rs", test);
    sandbox.commit("test: four");
    sandbox.write(
        "src/lib.rs",
        "//! Squares.\n\n/// The square.\npub fn square(n: u32) -> u32 {\n    if n > 100 {\n        // Never.\n        let m = n;\n        return m * n;\n    }\n    n * n\n}\n\n\
         /// The cube.\npub fn cube(n: u32) -> u32 {\n    n * square(n)\n}\n\n\
         /// Shown.\n///\n/// ```\n/// assert_eq!(squares::shown(), 1);\n/// ```\npub fn shown() -> u32 {\n    1\n}\n\n\
         #[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn five() {\n        if square(5) != 25 {\n            panic!(\"no\");\n        }\n    }\n}\n",
    );
    check(
        &sandbox,
        &[
            "src/lib.rs:7 no test executes 2 lines of fn `square`, from here to line 8",
            "src/lib.rs:14 no test executes 2 lines of fn `cube`, from here to line 15",
        ],
    );
    // Counts of the earlier measurement must not be reused.
    sandbox.write("tests/a.rs", format!("{test}\n#[test]\nfn eight() {{\n    assert_eq!(squares::cube(2), 8);\n}}\n"));
    check(&sandbox, &["src/lib.rs:7 no test executes 2 lines of fn `square`, from here to line 8"]);
    sandbox.write("tests/a.rs", test);
    assert_eq!(detect(&sandbox, &[]).0.len(), 2);
}

#[test]
fn each_of_several_projects_tells_of_its_own_lines() {
    let sandbox = Sandbox::new();
    if !sandbox.has_pytest() || !sandbox.has_node() {
        return println!("skipped: there is no pytest, or no node");
    }
    sandbox.git(&["init", "-q"]);
    for (path, text) in [
        ("api/pyproject.toml", "[project]\nname = \"api\"\n\n[tool.pytest.ini_options]\npythonpath = [\".\"]\n"),
        ("api/tests/test_squares.py", "from squares import square\n\n\ndef test_four():\n    assert square(4) == 16\n"),
        ("web/package.json", "{\"name\": \"web\", \"type\": \"module\", \"scripts\": {\"test\": \"node --test\"}}\n"),
        ("web/src/cubes.js", "export const cube = (n) => n * n * n;\n"),
        (
            "web/test/cubes.test.js",
            "import test from 'node:test';\nimport assert from 'node:assert/strict';\nimport { cube } from '../src/cubes.js';\n\n\
             test('eight', () => {\n  assert.equal(cube(2), 8);\n});\n",
        ),
        ("tdd.yaml", "projects:\n  - { path: api, language: python }\n  - { path: web, language: javascript }\n"),
        ("kata.md", "# Squares\n\nSquare and cube.\n"),
    ] {
        sandbox.write(path, text);
    }
    sandbox.commit("chore: begin");
    let idle = "def square(n):\n    if n < 0:\n        n = -n\n    return n * n\n";
    sandbox.write("api/squares.py", idle);
    check(&sandbox, &["api/squares.py:3 no test executes this line of def `square`"]);
    sandbox.write(
        "web/src/cubes.js",
        "export const cube = (n) => {\n  if (n < 0) {\n    n += 0;\n  }\n  return n * n * n;\n};\n",
    );
    check(
        &sandbox,
        &[
            "api/squares.py:3 no test executes this line of def `square`",
            "web/src/cubes.js:3 no test executes this line of `cube`",
        ],
    );
    sandbox.write("web/package.json", sandbox.read("web/package.json").replace("node --test", "vitest run"));
    sandbox.commit("chore: vitest");
    sandbox.write("web/src/cubes.js", "export const cube = (n) => n ** 3;\n\nexport const never = () => 1;\n");
    assert_eq!(detect(&sandbox, &[]).1.unwrap(), "vitest: runner-missing in web");
}

#[test]
fn a_project_that_cannot_be_measured_falls_back_on_names() {
    let sandbox = Sandbox::new();
    if !sandbox.has_node() {
        return println!("skipped: there is no node");
    }
    project(&sandbox, "javascript");
    sandbox.write("package.json", sandbox.read("package.json").replace("node --test", "vitest run"));
    sandbox.commit("chore: vitest");
    sandbox.write("src/squares.js", "export function cube(n) {\n  return n * n * n;\n}\n");
    let (found, why_not) = detect(&sandbox, &[]);
    assert_eq!(why_not.unwrap(), "vitest: runner-missing");
    assert_eq!(found, ["src/squares.js:1 nothing refers to function `cube`"]);
    sandbox.git(&["checkout", "-q", "--", "."]);
    sandbox.git(&["clean", "-fdq"]);
    sandbox.write("kata.md", "# Another\n");
    assert_eq!(detect(&sandbox, &[]).1.unwrap(), "the change adds no production code");
}
