//! Tests that a model is told where its syntax error is, what the parser says, and the text there.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use serde_json::json;
use tdd_fixtures::Sandbox;
use tdd_fixtures::server::{Cast, Server, edit_plan};

/// The message that the tester gets after an answer with this file.
fn heard(language: &str, path: &str, text: &str) -> String {
    let answer = edit_plan(&[(path, Some(text))], &json!({"summary": "do it"}));
    let server = Server::playing(Cast::new().says("tester", &answer));
    let sandbox = Sandbox::new();
    sandbox.git(&["init", "-q"]);
    let machine = |arguments: &[&str]| sandbox.command(env!("CARGO_BIN_EXE_tdd-cli")).args(arguments).output().unwrap();
    machine(&["init", "--language", language, "--name", "calc"]);
    let roles = ["tester", "implementor", "refactorer"].map(|role| format!("  {role}: {{ model: m }}\n")).concat();
    let config = format!(
        "language: {language}\nmax_attempts_per_agent: 2\nllm: {{ base_url: \"{}\" }}\nroles:\n{roles}",
        server.url()
    );
    sandbox.write("tdd.yaml", config);
    sandbox.write("kata.md", "# Adder\n\nAdd two numbers.\n");
    sandbox.git(&["add", "-A"]);
    sandbox.commit("chore: say what to build");
    let output = machine(&["step"]);
    let requests = server.requests();
    let edits: Vec<_> = requests.iter().filter(|request| request.is_edit()).collect();
    assert!(edits.len() > 1, "{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    edits[1].last()
}

/// Asserts that the tester's message contains these words.
#[track_caller]
fn check(language: &str, path: &str, text: &str, expected: &[&str]) {
    let heard = heard(language, path, text);
    assert!(heard.contains("parse"), "{heard}");
    for words in expected {
        assert!(heard.contains(words), "`{words}` is not in what the tester hears:\n{heard}");
    }
}

fn rust(body: &str) -> String {
    format!("use calc::add;\n\n#[test]\nfn adds() {{\n    {body}\n}}\n")
}

fn python(body: &str) -> String {
    format!("from calc import add\n\n\ndef test_adds():\n    {body}\n")
}

fn javascript(body: &str) -> String {
    let imports =
        "import test from 'node:test';\nimport assert from 'node:assert';\nimport { add } from '../src/calc.js';\n";
    format!("{imports}test('adds', () => {{\n  {body}\n}});\n")
}

fn go(body: &str) -> String {
    format!("package calc\n\nimport \"testing\"\nfunc TestAdds(t *testing.T) {{\n\t{body}\n}}\n")
}

#[test]
fn in_rust_the_line_and_the_message_are_told() {
    let path = "tests/calc.rs";
    let never_run = ["line 5, `let sum = = add(1, 2);`: the parser cannot read `=`"];
    check("rust", path, &rust("let sum = = add(1, 2);"), &never_run);
    let by_rustc = ["tests/calc.rs:5", "assert_eq!(add(1 2), 3);", "expected one of", "found `2`"];
    check("rust", path, &rust("assert_eq!(add(1 2), 3);"), &by_rustc);
}

#[test]
fn in_python_the_line_and_the_message_are_told() {
    if !Sandbox::new().has_pytest() {
        return println!("skipped: there is no pytest");
    }
    let path = "tests/test_calc.py";
    let never_run = ["line 5, `assert add(1, 2 == 3`: `(` is never closed"];
    check("python", path, &python("assert add(1, 2 == 3"), &never_run);
    let by_python = ["tests/test_calc.py:6", "assert add(1, 2) == 3", "unexpected indent"];
    check("python", path, &python("x = 1\n      assert add(1, 2) == 3"), &by_python);
}

#[test]
fn in_javascript_the_line_and_the_message_are_told() {
    if !Sandbox::new().has_node() {
        return println!("skipped: there is no node");
    }
    let path = "test/calc.test.js";
    let never_run = ["line 5, `assert.equal(add(1, 2, 3);`: `(` is not closed before the `}` of line 6"];
    check("javascript", path, &javascript("assert.equal(add(1, 2, 3);"), &never_run);
    let by_node = ["test/calc.test.js:6", "const sum = 2;", "'sum' has already been declared"];
    check("javascript", path, &javascript("const sum = 1;\n  const sum = 2;\n  assert.equal(add(1, 2), 3);"), &by_node);
}

#[test]
fn in_go_the_line_and_the_message_are_told() {
    if !Sandbox::new().has_go() {
        return println!("skipped: there is no Go");
    }
    let path = "calc_test.go";
    let never_run = ["line 5, `if Add(1, 2 != 3 {`: `(` is not closed before the `}` of line 8"];
    check("go", path, &go("if Add(1, 2 != 3 {\n\t\tt.Error()\n\t}"), &never_run);
    let by_go = ["calc_test.go:5", "if Add(1, 2) != 3", "unexpected newline", "(syntax-error)"];
    check("go", path, &go("if Add(1, 2) != 3\n\t{\n\t\tt.Error()\n\t}"), &by_go);
}
