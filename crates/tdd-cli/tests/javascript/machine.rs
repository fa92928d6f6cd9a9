//! Tests scripted runs: cheats, a blocked test, a whole kata.

use serde_json::json;
use tdd_fixtures::script::Script;

use super::{NOT_INSTALLED, SKIPPED, machine, project, run};

const RED: &str = "import test from 'node:test';\nimport assert from 'node:assert';\nimport { add } from '../src/calc.js';\n\n\
                   test('nothing is zero', () => {\n  assert.equal(add(''), 0);\n});\n";
const GREEN: &str = "export function add(text) {\n  return text.length;\n}\n";

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
    machine(&sandbox).assert_cycle(&script);
}

#[test]
fn a_truth_of_a_plan_names_a_test_whose_name_has_spaces() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    let id = "test/add.test.js::adds > two (or more) numbers";
    let red = "import { describe, it } from 'node:test';\nimport assert from 'node:assert';\n\
               import { add } from '../src/calc.js';\n\ndescribe('adds', () => {\n  \
               it('two (or more) numbers', () => {\n    assert.equal(add(1, 2), 3);\n  });\n});\n";
    let plan = format!(
        "---\nphase: 1\nplan: 1\ntype: tdd\nmust_haves:\n  truths:\n    - \"It adds ({id}).\"\n    - \"It adds: `{id}`, \
         at least\"\n    - \"It adds: {id}.\"\n    - {{ truth: it adds, test_id: \"{id}\" }}\n---\n\
         1. Add\n   - test_id: {id}\n   - test_file_path: test/add.test.js\n"
    );
    sandbox.write("plans/01-01.md", &plan);
    sandbox.commit("docs: a plan");
    let (_, checked) = run(&sandbox, &["plan", "check", "plans/01-01.md"]);
    let named: Vec<&str> =
        checked["truths"].as_array().unwrap().iter().map(|it| it["test_id"].as_str().unwrap()).collect();
    assert_eq!(named, [id; 4]);
    let script = Script::new()
        .writes("1-tester", "test/add.test.js", red)
        .writes("2-implementor", "src/calc.js", "export function add(a, b) {\n  return a + b;\n}\n")
        .rests("3-refactorer");
    std::fs::write(sandbox.outside().join("script.jsonl"), script.cassette()).unwrap();
    let (code, told) = run(&sandbox, &["plan", "run", "plans/01-01.md", "--replay", "../script.jsonl"]);
    assert_eq!(code, 0, "{told}");
}

#[test]
fn what_a_model_writes_is_formatted_by_prettier_where_it_is() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    if !sandbox.link_node_modules() {
        return println!("{NOT_INSTALLED}");
    }
    let script = Script::new().writes("1-tester", "test/add.test.js", &RED.replace("  assert", "assert"));
    let (code, told) = machine(&sandbox).replay(&["--steps", "1"], &script);
    assert_eq!(code, Some(0), "{told}");
    assert_eq!(sandbox.read("test/add.test.js"), RED.replace('\'', "\""));
}
