//! Tests the gates, a person's commands, and a project's checks.

use std::fs;

use tdd_fixtures::Sandbox;

use super::{JEST, NOT_INSTALLED, SKIPPED, VITEST, check, project, run, with_runner};

/// Red, green and refactor of one test, each judged by its gate.
fn a_cycle_by_hand(sandbox: &Sandbox, file: (&str, &str), id: &str, code: (&str, &str), better: &str) {
    sandbox.write(file.0, file.1);
    let (exit, said) = run(sandbox, &["validate-red", id]);
    assert_eq!((exit, said["cause"].as_str()), (0, Some("missing-symbol")), "{said}");
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "test: one"]);
    sandbox.write(code.0, code.1);
    let (exit, said) = run(sandbox, &["validate-green", id]);
    assert_eq!(exit, 0, "{said}");
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "feat: one"]);
    sandbox.write(code.0, better);
    let (exit, said) = run(sandbox, &["validate-refactor"]);
    assert_eq!(exit, 0, "{said}");
    sandbox.git(&["commit", "-q", "-a", "-m", "refactor: one"]);
    let (exit, said) = run(sandbox, &["validate-green", id, "--at", "HEAD^"]);
    assert_eq!(exit, 0, "{said}");
}

#[test]
fn the_gates_work_with_vitest_and_typescript() {
    let Some(sandbox) = with_runner(VITEST) else { return println!("{NOT_INSTALLED}") };
    let test = "import { describe, expect, it } from 'vitest';\nimport { add } from './calc';\n\ndescribe('add', () => {\n  it('adds', () => {\n    expect(add(1, 2)).toBe(3);\n  });\n});\n";
    let code = "export function add(a: number, b: number): number {\n  const sum = a + b;\n  return sum;\n}\n";
    let better = "export function add(a: number, b: number): number {\n  return a + b;\n}\n";
    a_cycle_by_hand(
        &sandbox,
        ("src/calc.test.ts", test),
        "src/calc.test.ts::add > adds",
        ("src/calc.ts", code),
        better,
    );
}

#[test]
fn a_typescript_project_that_init_made_passes_its_own_checks() {
    let sandbox = Sandbox::new();
    if !sandbox.link_node_modules() {
        return println!("{NOT_INSTALLED}");
    }
    assert_eq!(run(&sandbox, &["init", "--language", "typescript"]).0, 0);
    assert!(sandbox.read("tdd.yaml").contains("language: \"typescript\""));
    // TypeScript's compiler fails without input files, which must not count as a mistake.
    assert_eq!(run(&sandbox, &["refactor", "begin"]).0, 0);
    let (code, said) = run(&sandbox, &["refactor", "end"]);
    assert_eq!(code, 0, "{said}");
    let test = "import { test } from 'node:test';\nimport assert from 'node:assert/strict';\nimport { add } from '../src/calc.ts';\n\n\
                test('adds', () => {\n  assert.equal(add(1, 2), 3);\n});\n";
    let code = "export function add(a: number, b: number): number {\n  const sum = a + b;\n  return sum;\n}\n";
    let better = "export function add(a: number, b: number): number {\n  return a + b;\n}\n";
    a_cycle_by_hand(&sandbox, ("test/calc.test.ts", test), "test/calc.test.ts::adds", ("src/calc.ts", code), better);
    assert_eq!(run(&sandbox, &["refactor", "begin"]).0, 0);
    sandbox.write("src/calc.ts", better.replace("number {", "string {"));
    let (code, said) = run(&sandbox, &["refactor", "end"]);
    assert!(code == 1 && said.to_string().contains("TS2322"), "{said}");
}

#[test]
fn the_gates_work_with_jest() {
    let Some(sandbox) = with_runner(JEST) else { return println!("{NOT_INSTALLED}") };
    let test = "const { add } = require('../src/calc');\n\ntest('adds', () => {\n  expect(add(1, 2)).toBe(3);\n});\n";
    let code = "exports.add = function (a, b) {\n  const sum = a + b;\n  return sum;\n};\n";
    let better = "exports.add = (a, b) => a + b;\n";
    a_cycle_by_hand(&sandbox, ("test/calc.test.js", test), "test/calc.test.js::adds", ("src/calc.js", code), better);
}

#[test]
fn a_project_in_a_folder_below_is_found_and_its_copies_see_what_is_installed() {
    let sandbox = Sandbox::new();
    if !sandbox.link_node_modules() {
        return println!("{NOT_INSTALLED}");
    }
    sandbox.write("web/package.json", VITEST);
    fs::rename(sandbox.project().join("node_modules"), sandbox.project().join("web/node_modules")).unwrap();
    sandbox.write(".gitignore", "node_modules\n");
    sandbox.git(&["init", "-q", "-b", "main"]);
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "chore: begin"]);
    assert_eq!(run(&sandbox, &["init"]).0, 0);
    let test = "import { expect, test } from 'vitest';\nimport { add } from './calc.js';\n\ntest('adds', () => {\n  expect(add(1, 2)).toBe(3);\n});\n";
    let code = "export function add(a, b) {\n  const sum = a + b;\n  return sum;\n}\n";
    let better = "export function add(a, b) {\n  return a + b;\n}\n";
    a_cycle_by_hand(&sandbox, ("web/calc.test.js", test), "web/calc.test.js::adds", ("web/calc.js", code), better);
}

#[test]
fn a_persons_own_run_does_not_find_our_copies_of_the_tests() {
    for (manifest, script) in [(VITEST, "vitest/vitest.mjs"), (JEST, "jest/bin/jest.js")] {
        let Some(sandbox) = with_runner(manifest) else { return println!("{NOT_INSTALLED}") };
        let head = if manifest == VITEST { "import { expect, test } from 'vitest';\n" } else { "" };
        let (import, code) = match head {
            "" => ("const { add } = require('./calc');", "exports.add = (a, b) => a + b;\n"),
            _ => ("import { add } from './calc.js';", "export const add = (a, b) => a + b;\n"),
        };
        let test = format!("{head}{import}\n\ntest('adds', () => {{\n  expect(add(1, 2)).toBe(3);\n}});\n");
        a_cycle_by_hand(
            &sandbox,
            ("calc.test.js", &test),
            "calc.test.js::adds",
            ("calc.js", code),
            &code.replace("=> a + b", "=> b + a"),
        );
        let words = ["run", "--reporter=json"];
        let words = if head.is_empty() { &["--json"][..] } else { &words };
        let script = format!("node_modules/{script}");
        let output = sandbox.command("node").arg(script).args(words).output().unwrap();
        let said: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((&said["numTotalTests"], &said["success"]), (&1.into(), &true.into()), "{said}");
    }
}

#[test]
fn tests_inside_of_production_code_are_refused_with_their_place() {
    let Some(sandbox) = with_runner(VITEST) else { return println!("{NOT_INSTALLED}") };
    let code = "export const add = (a, b) => a + b;\n";
    sandbox.write("src/calc.js", code);
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "feat: add"]);
    let inner = "if (import.meta.vitest) {\n  const { expect, it } = import.meta.vitest;\n  it('adds', () => expect(add(1, 2)).toBe(3));\n}\n";
    sandbox.write("src/calc.js", format!("{code}\n{inner}"));
    let (code, said) = run(&sandbox, &["validate-refactor"]);
    let said = said.to_string();
    assert!(code == 1 && said.contains("import.meta.vitest") && said.contains("test file"), "{said}");
}

#[test]
fn a_dependency_comes_with_its_lock_file_and_says_so_where_it_is_not_installed() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    let test = "import test from 'node:test';\nimport assert from 'node:assert';\nimport { twice } from '../src/calc.js';\n\n\
                test('doubles', () => {\n  assert.equal(twice(4), 8);\n});\n";
    sandbox.write("test/calc.test.js", test);
    sandbox.write("package-lock.json", "{\"lockfileVersion\": 3}\n");
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "test: twice"]);
    let manifest =
        sandbox.read("package.json").replace("\"engines\"", "\"dependencies\": {\"by-two\": \"^1\"},\n  \"engines\"");
    sandbox.write("package.json", &manifest);
    sandbox.write("src/calc.js", "import byTwo from 'by-two';\n\nexport const twice = (n) => byTwo(n);\n");
    let green = || run(&sandbox, &["validate-green", "test/calc.test.js::doubles"]);
    let (code, said) = green();
    assert!(code == 1 && said.to_string().contains("run `npm install`"), "{said}");
    sandbox.write("node_modules/by-two/package.json", "{\"name\": \"by-two\", \"main\": \"index.js\"}\n");
    sandbox.write("node_modules/by-two/index.js", "module.exports = (n) => n * 2;\n");
    sandbox.write("package-lock.json", "{\"lockfileVersion\": 3, \"packages\": {}}\n");
    let (code, said) = green();
    assert_eq!(code, 0, "{said}");
    sandbox.git(&["checkout", "-q", "--", "package.json"]);
    let (code, said) = green();
    assert!(code == 1 && said.to_string().contains("a lock file without its manifest"), "{said}");
}

#[test]
fn a_person_retires_a_test() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    sandbox.write("src/calc.js", "export const add = (a, b) => a + b;\nexport const sub = (a, b) => a - b;\n");
    let tests = "import test from 'node:test';\nimport assert from 'node:assert';\nimport { add, sub } from '../src/calc.js';\n\n\
                 test('adds', () => {\n  assert.equal(add(1, 2), 3);\n});\n";
    let both = format!("{tests}\ntest('subtracts', () => {{\n  assert.equal(sub(2, 1), 1);\n}});\n");
    sandbox.write("test/calc.test.js", &both);
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "feat: add and sub"]);
    let (code, said) = run(&sandbox, &["retire", "test/calc.test.js::subtracts", "--reason", "nobody needs it"]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(sandbox.read("test/calc.test.js"), tests);
    check(&sandbox, &["test/calc.test.js::adds pass"]);
}

#[test]
fn the_check_is_what_is_installed_and_configured() {
    let Some(sandbox) = with_runner(VITEST) else { return println!("{NOT_INSTALLED}") };
    sandbox
        .write("tsconfig.json", "{\"compilerOptions\": {\"strict\": true, \"types\": []}, \"include\": [\"src\"]}\n");
    sandbox.write("eslint.config.js", "export default [{ rules: { 'no-unused-vars': 'error' } }];\n");
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "chore: check more"]);
    assert_eq!(run(&sandbox, &["refactor", "begin"]).0, 0);
    let ends_with = |path: &str, text: &str| {
        sandbox.write(path, text);
        run(&sandbox, &["refactor", "end"])
    };
    let (code, said) = ends_with("src/calc.ts", "export const one: number = 'one';\n");
    assert!(code == 1 && said.to_string().contains("src/calc.ts:1:14: TS2322"), "{said}");
    sandbox.write("src/calc.ts", "export const one: number = 1;\n");
    let (code, said) = ends_with("src/calc.js", "const two = 2;\n");
    assert!(code == 1 && said.to_string().contains("no-unused-vars"), "{said}");
    let (code, said) = ends_with("src/calc.js", "export const two = 2;\n");
    assert_eq!(code, 0, "{said}");
}

#[test]
fn without_tools_the_check_reads_every_file() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    assert_eq!(run(&sandbox, &["refactor", "begin"]).0, 0);
    sandbox.write("src/calc.js", "export const one = (;\n");
    let (code, said) = run(&sandbox, &["refactor", "end"]);
    assert!(code == 1 && said.to_string().contains("src/calc.js:1: SyntaxError"), "{said}");
}
