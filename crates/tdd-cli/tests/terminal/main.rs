//! Tests the output for people: escaped, wrapped, quiet on demand, and with write errors reported.
//!
//! The projects are JavaScript, because its tests may have any name and need no build. Tests print that they are
//! skipped without node.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod hostile;
mod narrow;
mod pipes;
mod quiet;

use std::process::{Command, Output};

use tdd_fixtures::Sandbox;

const SKIPPED: &str = "skipped: there is no node";

/// Wrong code, so that `TEST` is red.
const WRONG: &str = "export const add = (a, b) => a - b;\n";
/// Correct code, so that `TEST` is green.
const RIGHT: &str = "export const add = (a, b) => a + b;\n";
const TEST: &str = "import test from 'node:test';\nimport assert from 'node:assert';\nimport { add } from '../src/calc.js';\n\n\
                    test('adds two numbers', () => {\n  assert.equal(add(1, 2), 3);\n});\n";

/// A project with wrong code and no test yet, or `None` without node.
fn project() -> Option<Sandbox> {
    let sandbox = Sandbox::new();
    if !sandbox.has_node() {
        return None;
    }
    assert_eq!(run(&sandbox, &["init", "--language", "javascript", "--name", "calc"]).status.code(), Some(0));
    sandbox.write("src/calc.js", WRONG);
    sandbox.commit("feat: code without a test");
    Some(sandbox)
}

/// A project with an uncommitted red test.
fn red_project() -> Option<Sandbox> {
    let sandbox = project()?;
    sandbox.write("test/calc.test.js", TEST);
    Some(sandbox)
}

fn command(sandbox: &Sandbox, arguments: &[&str]) -> Command {
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_tdd-cli"));
    command.args(arguments);
    command
}

fn run(sandbox: &Sandbox, arguments: &[&str]) -> Output {
    command(sandbox, arguments).output().unwrap()
}

/// The output of a command on both streams.
fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}
