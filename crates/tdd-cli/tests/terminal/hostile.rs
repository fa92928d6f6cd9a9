//! Tests that foreign text which would move the cursor, colour, hide or reorder output is escaped.

use std::fs;

use serde_json::{Value, json};
use tdd_fixtures::Sandbox;
use tdd_fixtures::machine::Machine;
use tdd_fixtures::script::Script;

use super::{RIGHT, SKIPPED, project, run, said};

/// Clears the screen, sets the title, colours, returns to the line's start, reverses and hides.
const HOSTILE: &str = "x\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\r\u{202e}\u{2066}\u{200f}\u{61c}\u{1b}[32mholds";
/// The same as a JavaScript literal.
const LITERAL: &str = r"x\u001b[2J\u001b]0;owned\u0007\u009b31m\r\u202e\u2066\u200f\u061c\u001b[32mholds";
/// A hostile name that is valid for a path and a test: it reorders and colours what follows.
const NAME: &str = "adds \u{202e}\u{2067}\u{200e}sredro";

/// The characters that a terminal would interpret instead of showing.
fn obeyed(text: &str) -> Vec<char> {
    let is_obeyed = |c: &char| match c {
        '\n' | '\t' => false,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{61c}' => true,
        c => c.is_control(),
    };
    text.chars().filter(is_obeyed).collect()
}

/// Asserts that a command's output is escaped and contains these parts.
fn assert_escaped(sandbox: &Sandbox, arguments: &[&str], shown: &[&str]) {
    let text = said(&run(sandbox, arguments));
    assert_eq!(obeyed(&text), [], "{arguments:?}: {text}");
    for part in shown {
        assert!(text.contains(part), "{arguments:?} does not show `{part}`: {text}");
    }
    let coloured = said(&run(sandbox, &[arguments, &["--color", "always"]].concat()));
    let ours = ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[2m", "\u{1b}[31m", "\u{1b}[32m", "\u{1b}[33m"];
    let without_ours = ours.iter().fold(coloured.clone(), |text, colour| text.replace(colour, ""));
    assert_eq!(obeyed(&without_ours), [], "{arguments:?}: {coloured}");
    assert!(!coloured.contains("\u{1b}[32mholds\u{202e}") && !coloured.contains("x\u{1b}["), "{coloured}");
}

/// A project with a red test whose name and message are hostile.
fn hostile_project() -> Option<Sandbox> {
    let sandbox = project()?;
    let test = format!(
        "import test from 'node:test';\nimport assert from 'node:assert';\nimport {{ add }} from '../src/calc.js';\n\n\
         test('{NAME}', () => {{\n  assert.equal(add(1, 2), 3, '{LITERAL}');\n}});\n"
    );
    sandbox.write("test/calc.test.js", test);
    Some(sandbox)
}

#[test]
fn test_names_and_messages_arrive_escaped() {
    let Some(sandbox) = hostile_project() else { return println!("{SKIPPED}") };
    let (name, message) = ("adds \\u{202e}\\u{2067}\\u{200e}sredro", "x\\u{1b}[2J\\u{1b}]0;owned");
    assert_escaped(&sandbox, &["auto-test"], &[name, message, "\\u{9b}31m\\r\\u{202e}\\u{2066}\\u{200f}\\u{61c}"]);
    assert_escaped(&sandbox, &["status"], &[name, message]);
    assert_escaped(&sandbox, &["check"], &[name]);
    assert_escaped(&sandbox, &["validate-red"], &[name]);
    assert_escaped(&sandbox, &["log"], &[name]);
    let (_, document) = sandbox.answer(env!("CARGO_BIN_EXE_tdd-cli"), &["auto-test"]);
    assert_eq!(document["tests"][0]["test_id"], format!("test/calc.test.js::{NAME}"), "JSON stays exact");
    assert!(document["tests"][0]["message"].as_str().unwrap().contains(HOSTILE), "{document}");
}

#[test]
fn commit_subjects_arrive_escaped() {
    let Some(sandbox) = hostile_project() else { return println!("{SKIPPED}") };
    let subject = format!("test: {HOSTILE}");
    assert_eq!(run(&sandbox, &["commit", "-m", &subject]).status.code(), Some(0));
    let shown = "test: x\\u{1b}[2J";
    assert_escaped(&sandbox, &["status"], &[shown]);
    assert_escaped(&sandbox, &["log"], &[shown]);
    assert_escaped(&sandbox, &["audit", "HEAD~1.."], &[shown]);
    assert_escaped(&sandbox, &["prove", "HEAD~1.."], &["adds \\u{202e}"]);
    sandbox.write("src/calc.js", RIGHT);
    let output = run(&sandbox, &["commit", "-m", &subject]);
    assert_eq!((output.status.code(), obeyed(&said(&output))), (Some(0), vec![]));
    assert!(said(&output).contains(shown), "{}", said(&output));
    let document = Machine::new(&sandbox, env!("CARGO_BIN_EXE_tdd-cli")).document(&["status"]).1;
    assert_eq!(document["last_commit_subject"], subject, "JSON stays exact");
}

#[test]
fn a_models_words_arrive_escaped() {
    let Some(sandbox) = hostile_project() else { return println!("{SKIPPED}") };
    let test = sandbox.read("test/calc.test.js");
    fs::remove_file(sandbox.project().join("test/calc.test.js")).unwrap();
    sandbox.write("kata.md", format!("# Add {HOSTILE}\n\nTwo numbers are added.\n"));
    sandbox.commit("docs: the kata");
    let words = json!({"summary": HOSTILE, "rationale": HOSTILE});
    let script = Script::new()
        .says("step-1-tester-plan", HOSTILE)
        .edits("1-tester", 1, &[("test/\u{202e}x.test.js\u{7}", Some("mine"))], &words)
        .edits("1-tester", 2, &[("test/calc.test.js", Some(&test))], &words);
    let (code, told) = Machine::new(&sandbox, env!("CARGO_BIN_EXE_tdd-cli")).replay(&["--steps", "1"], &script);
    assert_eq!((code, obeyed(&told)), (Some(0), vec![]), "{told}");
    for part in ["plan     x\\u{1b}[2J", "tried    x\\u{1b}[2J", "\\u{202e}x.test.js", "because  x"] {
        assert!(told.contains(part), "`{part}` is not in {told}");
    }
}

#[test]
fn paths_configuration_and_arguments_arrive_escaped() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    assert_escaped(&sandbox, &["status", "-C", "a\u{1b}[2J\u{202e}b"], &["a\\u{1b}[2J\\u{202e}b"]);
    assert_escaped(&sandbox, &["detect-antipattern", "src/\u{202e}x.js"], &["\\u{202e}x.js"]);
    assert_escaped(&sandbox, &["status", "--no\u{1b}[2J\u{202e}"], &["\\u{202e}"]);
    sandbox.write("tdd.yaml", "\"st\\x1b[2J\\u202eeps\": 3\n");
    assert_escaped(&sandbox, &["status"], &["\\u{1b}[2J\\u{202e}eps"]);
    assert_escaped(&sandbox, &["doctor", "--offline"], &["\\u{1b}[2J\\u{202e}eps"]);
}

/// A test name with Markdown: heading, link, HTML, mention, and ends of a cell and of a code span.
const MARKUP: &str = "a `` ` | <img src=x> [l](https://e.x) @all #1 **b** &lt; ~~~";

#[test]
fn markdown_cannot_be_forged_by_a_test_name() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    let source = super::TEST.replace("adds two numbers", MARKUP);
    sandbox.write("test/calc.test.js", format!("{source}test('b\\n# heading \u{202e}\\n\\n```\\n', () => {{}});\n"));
    sandbox.commit("test: names");
    let text = said(&run(&sandbox, &["prove", "HEAD~1..", "--format", "markdown"]));
    assert_eq!(obeyed(&text), [], "{text}");
    let headings = text.lines().filter(|line| line.trim_start().starts_with(['#', '<', '~']) || line.contains("```\n"));
    assert_eq!(headings.collect::<Vec<_>>(), ["## Test-driven: refused ❌"], "{text}");
    let id = format!("test/calc.test.js::{}", MARKUP.replace('|', "\\|"));
    assert!(text.contains(&format!("| ``` {id} ``` |")) || text.contains(&format!("| ```{id}``` |")), "{text}");
    assert!(text.lines().filter(|line| line.starts_with("| ")).all(|line| line.ends_with(" |")), "{text}");
    let (_, document) = sandbox.answer(env!("CARGO_BIN_EXE_tdd-cli"), &["prove", "HEAD~1.."]);
    assert_eq!(document["tests"].as_array().map(Vec::len), Some(2), "{document}");
    assert_ne!(document, Value::Null);
}

#[test]
fn a_message_of_several_lines_forges_no_line_of_ours() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    let forged = "'x\\nholds everything\\nrefused nothing'";
    sandbox.write("test/calc.test.js", super::TEST.replace("3)", &format!("3, {forged})")));
    assert_eq!(run(&sandbox, &["commit", "-m", "test: pin addition"]).status.code(), Some(0));
    sandbox.write("src/calc.js", RIGHT.replace(" + ", " * "));
    for arguments in [&["auto-test"][..], &["check"], &["-q", "check"], &["status"], &["log"], &["audit"]] {
        let text = said(&run(&sandbox, arguments));
        let forged = text.lines().filter(|line| line.starts_with("holds e") || line.starts_with("refused n"));
        assert_eq!(forged.collect::<Vec<_>>(), [""; 0], "{arguments:?}: {text}");
    }
}
