//! Tests the results per runner: each failing test gets its own cause, independent of the others.

use super::{JEST, NOT_INSTALLED, SKIPPED, VITEST, check, machine, project, run, with_runner};

const CALC: &str = "export function add(a, b) {\n  return a + b;\n}\n\nexport function die() {\n  process.exit(0);\n}\n\n\
                    export function fail() {\n  throw new RangeError('no');\n}\n";

#[test]
fn every_test_of_nodes_own_runner_has_its_cause() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    machine(&sandbox).set_test_timeout(3);
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
    machine(&sandbox).set_test_timeout(3);
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
    machine(&sandbox).set_test_timeout(3);
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

#[test]
fn no_run_writes_a_snapshot_and_one_that_is_not_stored_is_no_red() {
    for (manifest, head) in [(VITEST, "import { expect, test } from 'vitest';\n"), (JEST, "")] {
        let Some(sandbox) = with_runner(manifest) else { return println!("{NOT_INSTALLED}") };
        let tests = "test('new', () => { expect({ a: 1 }).toMatchSnapshot(); });\n\
                     test('inline', () => { expect(1).toMatchInlineSnapshot(); });\n\
                     test('known', () => { expect(1).toMatchInlineSnapshot(`1`); });\n\
                     test('other', () => { expect(1).toMatchInlineSnapshot(`2`); });\n";
        sandbox.write("a.test.js", format!("{head}{tests}"));
        check(
            &sandbox,
            &[
                "a.test.js::inline unrelated-failure",
                "a.test.js::known pass",
                "a.test.js::new unrelated-failure",
                "a.test.js::other assertion",
            ],
        );
        assert_eq!(sandbox.git(&["status", "--porcelain"]), "?? a.test.js\n");
        assert_eq!(sandbox.read("a.test.js"), format!("{head}{tests}"));
    }
}

#[test]
fn an_import_that_node_could_never_follow_is_no_red() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    let head = "import test from 'node:test';\nimport assert from 'node:assert';\n";
    let test = |end: &str| {
        format!("{head}import {{ add }} from '../src/calc{end}';\ntest('a', () => assert.equal(add(1), 1));\n")
    };
    sandbox.write("test/a.test.js", test(""));
    sandbox.write("test/b.test.js", test(".js"));
    sandbox.write(
        "test/c.test.cjs",
        "const test = require('node:test');\nconst { add } = require('../src/calc');\ntest('a', () => add(1));\n",
    );
    check(
        &sandbox,
        &["test/a.test.js load-failure", "test/b.test.js missing-symbol", "test/c.test.cjs missing-symbol"],
    );
    std::fs::remove_file(sandbox.project().join("test/b.test.js")).unwrap();
    std::fs::remove_file(sandbox.project().join("test/c.test.cjs")).unwrap();
    let (_, said) = run(&sandbox, &["validate-red", "test/a.test.js"]);
    assert!(said.to_string().contains("end the path in `.js`"), "{said}");
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
fn what_a_hook_of_a_group_throws_is_the_failure_of_its_tests() {
    for (manifest, head) in [(VITEST, "import { beforeAll, describe, expect, it } from 'vitest';\n"), (JEST, "")] {
        let Some(sandbox) = with_runner(manifest) else { return println!("{NOT_INSTALLED}") };
        let (import, code) = match head {
            "" => ("const { fail } = require('./calc');\n", "exports.fail = () => { throw new Error('no'); };\n"),
            _ => ("import { fail } from './calc.js';\n", "export const fail = () => { throw new Error('no'); };\n"),
        };
        sandbox.write("calc.js", code);
        // Jest does not report that a hook failed.
        let own = if head.is_empty() { "unrelated-failure" } else { "load-failure" };
        let group = |name: &str, hook: &str| {
            format!(
                "describe('{name}', () => {{\n  beforeAll(() => {{ {hook} }});\n  it('a', () => expect(1).toBe(1));\n}});\n"
            )
        };
        let tests = group("production", "fail();") + &group("own", "JSON.parse('{');") + &group("none", "");
        sandbox.write("a.test.js", format!("{head}{import}{tests}"));
        check(
            &sandbox,
            &["a.test.js::none > a pass", &format!("a.test.js::own > a {own}"), "a.test.js::production > a assertion"],
        );
    }
}

#[test]
fn a_hang_in_vitest_costs_no_other_result() {
    let Some(sandbox) = with_runner(VITEST) else { return println!("{NOT_INSTALLED}") };
    machine(&sandbox).set_test_timeout(3);
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
    let told = sandbox.results(env!("CARGO_BIN_EXE_tdd-cli"));
    assert!(told.iter().any(|line| line == "test/a.test.js load-failure"), "{told:?}");
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
fn what_is_not_there_is_not_found_and_a_file_without_tests_is_none() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    sandbox.write(
        "test/a.test.js",
        "import test from 'node:test';\nimport assert from 'node:assert';\ntest('a', () => assert.ok(1));\n",
    );
    sandbox.write("test/empty.test.js", "// nothing yet\n");
    check(&sandbox, &["test/a.test.js::a pass"]);
    for id in ["test/a.test.js::b", "test/empty.test.js", "test/none.test.js::a"] {
        let (code, said) = run(&sandbox, &["validate-red", id]);
        assert!(code == 1 || code == 2, "{id}: {said}");
    }
}
