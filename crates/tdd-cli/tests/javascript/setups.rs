//! Tests common project setups: TypeScript, compiler and aliases, package managers, tools.

use tdd_fixtures::Sandbox;

use super::{JEST, NOT_INSTALLED, SKIPPED, VITEST, check, project, run, with_runner};

#[test]
fn a_compiler_that_checks_types_before_jest_runs_a_test_tells_what_production_lacks() {
    let manifest = JEST.replace("\"scripts\"", "\"jest\": {\"preset\": \"ts-jest\"}, \"scripts\"");
    let Some(sandbox) = with_runner(&manifest) else { return println!("{NOT_INSTALLED}") };
    let options =
        "\"module\": \"commonjs\", \"target\": \"es2022\", \"strict\": true, \"esModuleInterop\": true, \"types\": []";
    sandbox.write("tsconfig.json", format!("{{\"compilerOptions\": {{{options}}}}}\n"));
    sandbox.write("src/calc.ts", "export function add(a: number, b: number): number {\n  return a + b;\n}\n");
    let test = |name: &str, import: &str, body: &str| {
        let head = "import { expect, test } from '@jest/globals';\n";
        sandbox.write(&format!("src/{name}.test.ts"), format!("{head}{import}\ntest('a', () => {{ {body} }});\n"));
    };
    let add = "import { add } from './calc';";
    test("arity", add, "expect(add(1, 2, 3)).toBe(6);");
    test("export", "import { sub } from './calc';", "expect(sub(2, 1)).toBe(1);");
    test(
        "module",
        "import { area } from './geometry';",
        "const all = [1].map((n) => area(n)); expect(all).toEqual([1]);",
    );
    test("types", add, "expect(add('1', 2)).toBe(3);");
    test("mistaken", add, "const one: number = 'one';\n  expect(add(1, 2)).toBe(3);");
    test("name", add, "expect(add(1, nobody)).toBe(3);");
    test("fails", add, "expect(add(1, 2)).toBe(4);");
    check(
        &sandbox,
        &[
            "src/fails.test.ts::a assertion",
            "src/arity.test.ts missing-symbol",
            "src/export.test.ts missing-symbol",
            "src/mistaken.test.ts unrelated-compile-error",
            "src/module.test.ts missing-symbol",
            "src/name.test.ts unrelated-compile-error",
            "src/types.test.ts missing-symbol",
        ],
    );
}

#[test]
fn a_name_of_the_compilers_configuration_leads_to_production() {
    let Some(sandbox) = with_runner(VITEST) else { return println!("{NOT_INSTALLED}") };
    sandbox.write(
        "tsconfig.json",
        "{\"compilerOptions\": {\"paths\": {\"#calc/*\": [\"./src/*\"], \"@calc/*\": [\"./src/*\"],}}}\n",
    );
    sandbox.write("src/calc.ts", "export const add = (a: number, b: number) => a + b;\n");
    let head = "import { expect, test } from 'vitest';\n";
    let test =
        |module: &str| format!("{head}import {{ area }} from '{module}';\ntest('a', () => expect(area(1)).toBe(1));\n");
    sandbox.write("src/a.test.ts", test("@calc/geometry"));
    sandbox.write("src/b.test.ts", test("@other/geometry"));
    check(&sandbox, &["src/a.test.ts missing-symbol", "src/b.test.ts load-failure"]);
}

#[test]
fn typescript_is_run_by_a_node_that_knows_it_or_by_tsx_and_else_the_environment_is_at_fault() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    let test =
        "import test from 'node:test';\nimport assert from 'node:assert';\ntest('a', (): void => assert.ok(1));\n";
    sandbox.write("test/a.test.ts", test);
    let version = sandbox.command("node").arg("--version").output().unwrap().stdout;
    let version = String::from_utf8(version).unwrap();
    let major: u32 = version.trim_start_matches('v').split('.').next().unwrap().parse().unwrap();
    let (code, said) = run(&sandbox, &["auto-test"]);
    match major {
        ..22 => {
            let said = said.to_string();
            assert!(
                code == 3 && said.contains("runner-missing") && said.contains("npm install --save-dev tsx"),
                "{said}"
            );
        }
        22 => {}
        23.. => assert_eq!((code, said["tests"][0]["test_id"].as_str()), (0, Some("test/a.test.ts::a")), "{said}"),
    }
    if !sandbox.link_node_modules() {
        return println!("{NOT_INSTALLED}");
    }
    check(&sandbox, &["test/a.test.ts::a pass"]);
}

#[test]
fn what_yarn_keeps_in_archives_is_refused_with_a_way_out() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    sandbox.write("package.json", VITEST);
    sandbox.write(".pnp.cjs", "");
    let (code, said) = run(&sandbox, &["auto-test"]);
    assert_eq!(code, 3, "{said}");
    assert!(said.to_string().contains("nodeLinker: node-modules"), "{said}");
    let (code, said) = run(&sandbox, &["doctor", "--offline"]);
    assert_eq!(code, 3, "{said}");
    assert!(said.to_string().contains("nodeLinker: node-modules"), "{said}");
}

#[test]
fn doctor_asks_for_what_a_project_uses_and_is_quiet_about_the_rest() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    let told = |sandbox: &Sandbox| {
        let (code, said) = run(sandbox, &["doctor", "--offline"]);
        let findings = said["findings"].as_array().unwrap().clone();
        let of = |finding: &serde_json::Value| {
            [&finding["subject"], &finding["state"]].map(|it| it.as_str().unwrap().to_owned()).join(" ")
        };
        (code, findings.iter().map(of).collect::<Vec<_>>())
    };
    let (code, said) = told(&sandbox);
    assert_eq!(code, 0, "{said:?}");
    assert!(said.contains(&"not needed ok".to_owned()), "{said:?}");
    let tools = ["vitest", "jest", "prettier", "eslint", "typescript", "types in node"];
    assert!(!said.iter().any(|line| tools.iter().any(|tool| line.starts_with(tool))), "{said:?}");
    sandbox.write("package.json", JEST);
    sandbox.write(".prettierrc", "{}\n");
    let (code, said) = told(&sandbox);
    assert_eq!(code, 3, "{said:?}");
    assert!(said.contains(&"jest environment".to_owned()) && said.contains(&"prettier warn".to_owned()), "{said:?}");
    if !sandbox.link_node_modules() {
        return println!("{NOT_INSTALLED}");
    }
    sandbox.write("tsconfig.json", "{}\n");
    let (code, said) = told(&sandbox);
    assert_eq!(code, 0, "{said:?}");
    assert!(said.contains(&"jest ok".to_owned()) && said.contains(&"typescript ok".to_owned()), "{said:?}");
}

#[test]
fn vitest_and_jest_find_what_is_there_by_names_that_are_patterns_to_them_and_nothing_else() {
    for (manifest, head) in [(VITEST, "import { expect, test } from 'vitest';\n"), (JEST, "")] {
        let Some(sandbox) = with_runner(manifest) else { return println!("{NOT_INSTALLED}") };
        sandbox.write("empty.test.js", "// nothing yet\n");
        let (code, said) = run(&sandbox, &["auto-test"]);
        assert_eq!((code, &said["tests"]), (0, &serde_json::json!([])), "{said}");
        let (import, code) = match head {
            "" => ("const { add } = require('./calc');", "exports.add = (a, b) => a + b;\n"),
            _ => ("import { add } from './calc.js';", "export const add = (a, b) => a + b;\n"),
        };
        let test = |name: &str, sum: u32| format!("test('{name}', () => {{\n  expect(add(1, 2)).toBe({sum});\n}});\n");
        sandbox.write("calc.js", code);
        sandbox.write("calc.test.js", format!("{head}{import}\n{}", test("a.*|b (c) [d] $e ^f", 3)));
        sandbox.git(&["add", "-A"]);
        sandbox.git(&["commit", "-q", "-m", "feat: add"]);
        let both = [test("a.*|b (c) [d] $e ^f", 3), test("a of them", 4)].concat();
        sandbox.write("calc.test.js", format!("{head}{import}\n{both}"));
        let (code, said) = run(&sandbox, &["validate-red", "calc.test.js::a of them"]);
        assert_eq!((code, said["cause"].as_str()), (0, Some("assertion")), "{said}");
        for id in ["calc.test.js::a", "calc.test.js::of", "none.test.js::a"] {
            let (code, said) = run(&sandbox, &["validate-red", id]);
            assert!(code == 1 || code == 2, "{id}: {said}");
        }
    }
}
