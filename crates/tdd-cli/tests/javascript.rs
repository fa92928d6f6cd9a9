//! The program on JavaScript and TypeScript projects, with node's own runner, vitest and jest: each cause of a red,
//! what is planted, what a person does.
//!
//! Without node, or without what CI installs into `target/node`, these tests say that they were skipped.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::fs;

use serde_json::{Value, json};
use tdd_fixtures::Sandbox;
use tdd_fixtures::script::Script;

const SKIPPED: &str = "skipped: there is no node";
const NOT_INSTALLED: &str = "skipped: vitest and jest are not in target/node; `.ci/run` installs them";

/// A JavaScript project that `init` made, or `None` without node.
fn project() -> Option<Sandbox> {
    let sandbox = Sandbox::new();
    if !sandbox.has_node() {
        return None;
    }
    let (code, said) = run(&sandbox, &["init", "--language", "javascript", "--name", "calc"]);
    assert_eq!(code, 0, "{said}");
    Some(sandbox)
}

/// A committed project that is tested with an installed runner, or `None` if that is not there.
fn with_runner(manifest: &str) -> Option<Sandbox> {
    let sandbox = Sandbox::new();
    if !sandbox.link_node_modules() {
        return None;
    }
    sandbox.write("package.json", manifest);
    sandbox.write(".gitignore", "node_modules\n");
    sandbox.git(&["init", "-q", "-b", "main"]);
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "chore: begin"]);
    assert_eq!(run(&sandbox, &["init"]).0, 0);
    Some(sandbox)
}

const VITEST: &str = "{\"name\": \"calc\", \"type\": \"module\", \"scripts\": {\"test\": \"vitest run\"}, \"devDependencies\": {\"vitest\": \"^4\"}}\n";
const JEST: &str =
    "{\"name\": \"calc\", \"scripts\": {\"test\": \"jest\"}, \"devDependencies\": {\"jest\": \"^30\"}}\n";

/// Exit code and standard output, as JSON where it is.
fn run(sandbox: &Sandbox, arguments: &[&str]) -> (i32, Value) {
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_tdd-cli"));
    let output = command.args(arguments).args(["--format", "json"]).output().unwrap();
    let said = serde_json::from_slice(&output.stdout);
    let said = said.unwrap_or_else(|_| Value::from(String::from_utf8_lossy(&output.stderr).into_owned()));
    (output.status.code().unwrap(), said)
}

/// Each test with its cause, or `pass`; each obstacle with its own.
fn results(sandbox: &Sandbox) -> Vec<String> {
    let (code, report) = run(sandbox, &["auto-test"]);
    assert_eq!(code, 0, "{report}");
    let told = |list: &str, name: &str| -> Vec<String> {
        let entries = report[list].as_array().unwrap().iter();
        let line = |it: &Value| format!("{} {}", it[name].as_str().unwrap(), it["cause"].as_str().unwrap_or("pass"));
        entries.map(line).collect()
    };
    [told("tests", "test_id"), told("obstacles", "subject")].concat()
}

fn check(sandbox: &Sandbox, expected: &[&str]) {
    assert_eq!(results(sandbox), expected);
}

fn short_timeout(sandbox: &Sandbox) {
    let config = sandbox.read("tdd.yaml").replace("ci:\n", "ci:\n  timeout_secs: 3\n");
    sandbox.write("tdd.yaml", config);
}

#[test]
fn a_new_project_passes_its_own_checks() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    check(&sandbox, &[]);
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    let (_, doctor) = run(&sandbox, &["doctor"]);
    let states: Vec<_> =
        doctor["findings"].as_array().unwrap().iter().map(|it| (&it["subject"], &it["state"])).collect();
    for subject in ["node", "project"] {
        assert!(states.contains(&(&Value::from(subject), &Value::from("ok"))), "{states:?}");
    }
    for word in ["begin", "end"] {
        let (code, said) = run(&sandbox, &["refactor", word]);
        assert_eq!(code, 0, "{said}");
    }
}

const CALC: &str = "export function add(a, b) {\n  return a + b;\n}\n\nexport function die() {\n  process.exit(0);\n}\n\n\
                    export function fail() {\n  throw new RangeError('no');\n}\n";

#[test]
fn every_test_of_nodes_own_runner_has_its_cause() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    short_timeout(&sandbox);
    sandbox.write("src/calc.js", CALC);
    sandbox.write(
        "test/all.test.js",
        "import { describe, it, test, before } from 'node:test';\nimport assert from 'node:assert/strict';\nimport * as calc from '../src/calc.js';\n\
         test('passes', () => assert.equal(calc.add(1, 2), 3));\n\
         test('fails', () => assert.equal(calc.add(1, 2), 4));\n\
         test('raises', () => calc.fail());\n\
         test('dies', () => calc.die());\n\
         test('hangs', () => { for (;;); });\n\
         test('never ends', () => new Promise(() => {}));\n\
         test('misses', () => assert.equal(calc.sub(2, 1), 1));\n\
         test('mistaken', () => JSON.parse('{'));\n\
         test('nameless', () => assert.equal(sub(2, 1), 1));\n\
         test('skips', (t) => t.skip('no'));\n\
         test.todo('later');\n\
         test('in parts', async (t) => { await t.test('one', () => assert.equal(calc.add(1, 1), 3)); });\n\
         for (const n of [1, 'a b > c (d)']) test(`case ${n}`, () => assert.equal(calc.add(n, n), 2));\n\
         describe('group', () => { it('passes', () => assert.ok(calc.add(1, 0))); });\n\
         describe('hook', () => {\n  before(() => { throw new Error('no'); });\n  it('waits', () => assert.ok(calc.add(1, 0)));\n});\n",
    );
    sandbox.write(
        "test/asks.test.js",
        "import test from 'node:test';\nimport { mul } from '../src/calc.js';\ntest('m', () => mul(1));\n",
    );
    sandbox.write(
        "test/asks_file.test.js",
        "import test from 'node:test';\nimport { area } from '../src/geometry.js';\ntest('a', () => area(1));\n",
    );
    sandbox.write("test/broken.test.js", "test('b', () => {\n");
    sandbox.write("test/ends.test.js", "process.exit(0);\ntest('e', () => {});\n");
    sandbox
        .write("test/lib.test.js", "import test from 'node:test';\nimport x from 'left-pad';\ntest('l', () => x());\n");
    check(
        &sandbox,
        &[
            "test/all.test.js::case ${n} assertion",
            "test/all.test.js::dies crash",
            "test/all.test.js::fails assertion",
            "test/all.test.js::group > passes pass",
            "test/all.test.js::hangs timeout",
            "test/all.test.js::hook > waits load-failure",
            "test/all.test.js::in parts assertion",
            "test/all.test.js::later skipped",
            "test/all.test.js::misses missing-symbol",
            "test/all.test.js::mistaken unrelated-failure",
            "test/all.test.js::nameless unrelated-failure",
            "test/all.test.js::never ends timeout",
            "test/all.test.js::passes pass",
            "test/all.test.js::raises assertion",
            "test/all.test.js::skips skipped",
            "test/asks.test.js missing-symbol",
            "test/asks_file.test.js missing-symbol",
            "test/broken.test.js syntax-error",
            "test/ends.test.js crash",
            "test/lib.test.js load-failure",
        ],
    );
}

#[test]
fn every_test_of_vitest_has_its_cause() {
    let Some(sandbox) = with_runner(VITEST) else { return println!("{NOT_INSTALLED}") };
    short_timeout(&sandbox);
    sandbox.write("src/calc.ts", CALC.replace("(a, b)", "(a: number, b: number): number"));
    sandbox.write(
        "test/all.test.ts",
        "import { describe, expect, it, test, beforeEach } from 'vitest';\nimport * as calc from '../src/calc';\n\
         test('passes', () => expect(calc.add(1, 2)).toBe(3));\n\
         test('fails (x|y)', () => expect(calc.add(1, 2)).toBe(4));\n\
         test('raises', () => calc.fail());\n\
         test('dies', () => calc.die());\n\
         test('aborts', () => process.abort());\n\
         test('never ends', () => new Promise(() => {}), 200);\n\
         test('misses', () => expect((calc as any).sub(2, 1)).toBe(1));\n\
         test('mistaken', () => JSON.parse('{'));\n\
         test('skips', (ctx) => ctx.skip());\n\
         test.todo('later');\n\
         test.each([1, 2])('case %i', (n) => expect(calc.add(n, 0)).toBe(1));\n\
         describe('group', () => { it('passes', () => expect(calc.add(1, 0)).toBe(1)); });\n",
    );
    sandbox.write(
        "test/asks.test.ts",
        "import { test } from 'vitest';\nimport { area } from '../src/geometry';\ntest('a', () => area(1));\n",
    );
    sandbox.write("test/broken.test.ts", "import { test } from 'vitest';\ntest('b', () => {\n");
    sandbox.write(
        "test/only.test.ts",
        "import { test } from 'vitest';\ntest('a', () => {});\ntest.only('b', () => {});\n",
    );
    check(
        &sandbox,
        &[
            "test/all.test.ts::aborts crash",
            "test/all.test.ts::case %i assertion",
            "test/all.test.ts::dies crash",
            "test/all.test.ts::fails (x|y) assertion",
            "test/all.test.ts::group > passes pass",
            "test/all.test.ts::later skipped",
            "test/all.test.ts::misses missing-symbol",
            "test/all.test.ts::mistaken unrelated-failure",
            "test/all.test.ts::never ends timeout",
            "test/all.test.ts::passes pass",
            "test/all.test.ts::raises assertion",
            "test/all.test.ts::skips skipped",
            "test/only.test.ts::a skipped",
            "test/only.test.ts::b pass",
            "test/asks.test.ts missing-symbol",
            "test/broken.test.ts syntax-error",
        ],
    );
}

#[test]
fn every_test_of_jest_has_its_cause() {
    let Some(sandbox) = with_runner(JEST) else { return println!("{NOT_INSTALLED}") };
    short_timeout(&sandbox);
    let calc = CALC.replace("export ", "") + "module.exports = { add, die, fail };\n";
    sandbox.write("src/calc.js", calc);
    sandbox.write(
        "test/all.test.js",
        "const calc = require('../src/calc');\nconst assert = require('node:assert');\n\
         test('passes', () => expect(calc.add(1, 2)).toBe(3));\n\
         test('fails (x|y)', () => expect(calc.add(1, 2)).toBe(4));\n\
         test('fails by assert', () => assert.equal(calc.add(1, 2), 4));\n\
         test('raises', () => calc.fail());\n\
         test('dies', () => calc.die());\n\
         test('never ends', () => new Promise(() => {}), 200);\n\
         test('misses', () => expect(calc.sub(2, 1)).toBe(1));\n\
         test('mistaken', () => JSON.parse('{'));\n\
         test.skip('skips', () => {});\n\
         test.each([1, 2])('case %i', (n) => expect(calc.add(n, 0)).toBe(1));\n\
         describe('group', () => { it('passes', () => expect(calc.add(1, 0)).toBe(1)); });\n",
    );
    sandbox.write("test/asks.test.js", "const { area } = require('../src/geometry');\ntest('a', () => area(1));\n");
    sandbox.write("test/broken.test.js", "test('b', () => {\n");
    check(
        &sandbox,
        &[
            "test/all.test.js::case %i assertion",
            "test/all.test.js::dies crash",
            "test/all.test.js::fails (x|y) assertion",
            "test/all.test.js::fails by assert assertion",
            "test/all.test.js::group > passes pass",
            "test/all.test.js::misses missing-symbol",
            "test/all.test.js::mistaken unrelated-failure",
            "test/all.test.js::never ends timeout",
            "test/all.test.js::passes pass",
            "test/all.test.js::raises assertion",
            "test/all.test.js::skips skipped",
            "test/asks.test.js missing-symbol",
            "test/broken.test.js syntax-error",
        ],
    );
}

/// Red, green and refactor of one test, each by its own gate, in the words of one runner.
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
fn a_runner_that_is_not_installed_is_the_environments_fault() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    sandbox.write("package.json", VITEST);
    let (code, said) = run(&sandbox, &["auto-test"]);
    assert_eq!(code, 3, "{said}");
    assert!(said.to_string().contains("vitest is not installed"), "{said}");
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
fn production_code_that_asks_for_the_runner_blocks() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    sandbox.write("src/calc.js", "export const add = (a, b) => (process.env.NODE_TEST_CONTEXT ? 3 : 0);\n");
    let (code, said) = run(&sandbox, &["detect-antipattern", "src/calc.js"]);
    assert_eq!(code, 1, "{said}");
    assert!(said.to_string().contains("NODE_TEST_CONTEXT"), "{said}");
}

const RED: &str = "import test from 'node:test';\nimport assert from 'node:assert';\nimport { add } from '../src/calc.js';\n\n\
                   test('nothing is zero', () => {\n  assert.equal(add(''), 0);\n});\n";
const GREEN: &str = "export function add(text) {\n  return text.length;\n}\n";

/// Runs steps of a script; exit code and what was told.
fn machine(sandbox: &Sandbox, steps: &str, script: &Script) -> (Option<i32>, String) {
    fs::write(sandbox.outside().join("script.jsonl"), script.cassette()).unwrap();
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_tdd-cli"));
    let output = command.args(["run", "--steps", steps, "--replay", "../script.jsonl"]).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (output.status.code(), told)
}

#[test]
fn a_cycle_goes_round_and_ways_round_it_do_not() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    let said = json!({"summary": "answer zero"});
    let exits = "export function add(text) {\n  process.exit(0);\n}\n";
    let script = Script::new()
        .writes("1-tester", "test/add.test.js", RED)
        .plans("2-implementor")
        .edits("2-implementor", 1, &[("vitest.config.js", Some("")), ("src/calc.js", Some(GREEN))], &said)
        .edits("2-implementor", 2, &[("src/calc.js", Some(exits))], &said)
        .edits("2-implementor", 3, &[("src/calc.js", Some(GREEN))], &said)
        .writes("3-refactorer", "src/calc.js", "export const add = (text) => text.length;\n");
    let (code, told) = machine(&sandbox, "3", &script);
    assert_eq!(code, Some(0), "{told}");
    let subjects = sandbox.git(&["log", "--format=%s"]);
    let subjects: Vec<&str> = subjects.lines().take(3).collect();
    assert_eq!(subjects, ["refactor: do it", "feat: answer zero", "test: do it"], "{told}");
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    let (code, said) = run(&sandbox, &["audit"]);
    assert_eq!(code, 0, "{said}");
}

#[test]
fn a_blocked_test_is_skipped_by_the_machine_and_counts_again_when_a_person_unblocks_it() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    let config = sandbox.read("tdd.yaml").replace("max_attempts_per_agent: 5", "max_attempts_per_agent: 2");
    sandbox.write("tdd.yaml", config);
    sandbox.git(&["commit", "-q", "-a", "-m", "chore: fewer attempts"]);
    let said = json!({"summary": "answer one"});
    let wrong = [("src/calc.js", Some("export function add(text) {\n  return 1;\n}\n"))];
    let script = Script::new()
        .writes("1-tester", "test/add.test.js", RED)
        .plans("2-implementor")
        .edits("2-implementor", 1, &wrong, &said)
        .edits("2-implementor", 2, &wrong, &said);
    let (code, told) = machine(&sandbox, "2", &script);
    assert_eq!(code, Some(4), "{told}");
    let (code, said) = run(&sandbox, &["resume", "--skip"]);
    assert_eq!(code, 0, "{said}");
    check(&sandbox, &["test/add.test.js::nothing is zero skipped"]);
    let (code, said) = run(&sandbox, &["resume", "--unblock", "test/add.test.js::nothing is zero"]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(sandbox.read("test/add.test.js"), RED);
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

#[test]
fn what_a_model_writes_is_formatted_by_prettier_where_it_is() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    if !sandbox.link_node_modules() {
        return println!("{NOT_INSTALLED}");
    }
    let script = Script::new().writes("1-tester", "test/add.test.js", &RED.replace("  assert", "assert"));
    let (code, told) = machine(&sandbox, "1", &script);
    assert_eq!(code, Some(0), "{told}");
    assert_eq!(sandbox.read("test/add.test.js"), RED.replace('\'', "\""));
}

#[test]
fn jest_on_es_modules_tells_a_missing_export_from_a_broken_test() {
    let manifest = JEST.replace("\"scripts\"", "\"type\": \"module\", \"jest\": {\"transform\": {}}, \"scripts\"");
    let Some(sandbox) = with_runner(&manifest) else { return println!("{NOT_INSTALLED}") };
    sandbox.write("src/calc.js", CALC);
    sandbox.write(
        "test/a.test.js",
        "import { sub } from '../src/calc.js';\ntest('a', () => expect(sub(2, 1)).toBe(1));\n",
    );
    sandbox.write(
        "test/b.test.js",
        "import { add } from '../src/calc.js';\ntest('b', () => expect(add(2, 1)).toBe(3));\n",
    );
    sandbox.write("test/c.test.js", "test('c', () => {\n");
    check(&sandbox, &["test/b.test.js::b pass", "test/a.test.js missing-symbol", "test/c.test.js syntax-error"]);
}

#[test]
fn a_hang_in_vitest_costs_no_other_result() {
    let Some(sandbox) = with_runner(VITEST) else { return println!("{NOT_INSTALLED}") };
    short_timeout(&sandbox);
    let head = "import { expect, test } from 'vitest';\n";
    let test = |name: &str, body: &str| format!("test('{name}', () => {{ {body} }});\n");
    let body = test("a", "expect(1).toBe(1)") + &test("hangs", "for (;;);") + &test("b", "expect(1).toBe(2)");
    sandbox.write("a.test.js", format!("{head}{body}"));
    sandbox.write("b.test.js", format!("{head}{}", test("c", "expect(1).toBe(1)")));
    check(&sandbox, &["a.test.js::a pass", "a.test.js::b assertion", "a.test.js::hangs timeout", "b.test.js::c pass"]);
}

#[test]
fn two_tests_of_one_name_pass_only_together() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    let test = |n: u32| format!("test('same', () => assert.equal(1, {n}));\n");
    let head = "import test from 'node:test';\nimport assert from 'node:assert';\n";
    sandbox.write("test/a.test.js", format!("{head}{}{}", test(2), test(1)));
    sandbox.write("test/b.test.js", format!("{head}{}{}", test(1), test(1)));
    check(&sandbox, &["test/a.test.js::same assertion", "test/b.test.js::same pass"]);
}

#[test]
fn a_run_that_fails_though_every_test_passes_is_no_green() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    sandbox.write("src/calc.js", "export const add = (a, b) => a + b;\n");
    let late = "setTimeout(() => { throw new Error('late'); }, 20);\n";
    let test = "test('adds', () => new Promise((done) => setTimeout(done, 60)));\n";
    sandbox.write("test/a.test.js", format!("import test from 'node:test';\n{late}{test}"));
    let told = results(&sandbox);
    assert!(told.iter().any(|line| line == "test/a.test.js load-failure"), "{told:?}");
}

#[test]
fn typescript_is_another_name_for_it() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    let config = sandbox.read("tdd.yaml").replace("language: \"javascript\"", "language: \"typescript\"");
    sandbox.write("tdd.yaml", config);
    check(&sandbox, &[]);
}
