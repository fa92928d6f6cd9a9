//! Tests that a full disk or a tool killed for lack of memory gives exit code 3 and a hint.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use tdd_fixtures::Sandbox;
use tdd_fixtures::mount::{MAY_NOT_MOUNT, Mount};

const TEST: &str = "#[test]\nfn adds() {\n    assert_eq!(kata::add(1, 2), 3);\n}\n";
const CODE: &str = "//! Adds.\n\n/// The sum.\npub fn add(a: i32, b: i32) -> i32 {\n    a - b\n}\n";
const SCRIPT: &str = "import test from 'node:test';\nimport assert from 'node:assert';\nimport { add } from '../src/calc.js';\n\n\
                      test('adds', () => {\n  assert.equal(add(1, 2), 3);\n});\n";
const MODULE: &str = "export const add = (a, b) => a - b;\n";

fn command(sandbox: &Sandbox, arguments: &[&str]) -> Command {
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_tdd-cli"));
    command.args(arguments);
    command
}

/// The exit code and all output.
fn told(mut command: Command) -> (Option<i32>, String) {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (output.status.code(), text)
}

fn says(sandbox: &Sandbox, arguments: &[&str]) -> (Option<i32>, String) {
    told(command(sandbox, arguments))
}

#[track_caller]
fn assert_environment((code, text): (Option<i32>, String), word: &str) {
    assert_eq!(code, Some(3), "{text}");
    assert!(text.contains(word) && text.contains("try: "), "{text}");
}

/// A wrapper that kills itself while a flag file exists, and otherwise runs the real program.
fn killer(sandbox: &Sandbox, name: &str, then: &str) -> (PathBuf, PathBuf) {
    let (program, flag) = (sandbox.outside().join("bin").join(name), sandbox.outside().join(format!("kill-{name}")));
    fs::create_dir_all(program.parent().unwrap()).unwrap();
    let script = format!("#!/bin/sh\nif [ -e '{}' ]; then kill -9 $$; fi\nexec {then} \"$@\"\n", flag.display());
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    (program, flag)
}

/// A Rust project with a red test, whose compiler can be killed.
fn rust() -> (Sandbox, PathBuf) {
    let sandbox = Sandbox::new();
    let (program, flag) = killer(&sandbox, "compiler", "");
    assert_eq!(says(&sandbox, &["init", "--name", "kata"]).0, Some(0));
    sandbox.write(".cargo/config.toml", format!("[build]\nrustc-wrapper = \"{}\"\n", program.display()));
    sandbox.write("src/lib.rs", CODE);
    sandbox.commit("feat: what there is");
    sandbox.write("tests/add.rs", TEST);
    (sandbox, flag)
}

#[test]
fn a_compiler_that_is_killed_is_no_verdict() {
    let (sandbox, flag) = rust();
    fs::write(&flag, "").unwrap();
    for arguments in [&["check"][..], &["validate-red"], &["auto-test"], &["audit", "--infer", "HEAD~1.."]] {
        assert_environment(says(&sandbox, arguments), "memory");
    }
    fs::remove_file(flag).unwrap();
    assert_eq!(says(&sandbox, &["check"]).0, Some(0));
}

#[test]
fn a_check_that_is_killed_is_no_verdict() {
    let (sandbox, _) = rust();
    let (program, flag) = killer(&sandbox, "lint", "true");
    sandbox.write("tdd.yaml", format!("language: rust\nci:\n  check_cmd: [\"{}\"]\n", program.display()));
    sandbox.commit("test: pin addition");
    sandbox.write("src/lib.rs", CODE.replace("a - b", "a + b"));
    fs::write(&flag, "").unwrap();
    assert_environment(says(&sandbox, &["check"]), "memory");
    fs::remove_file(flag).unwrap();
    let (code, text) = says(&sandbox, &["check"]);
    assert_eq!(code, Some(0), "{text}");
}

/// A JavaScript project with a red test, or `None` without node.
fn javascript() -> Option<Sandbox> {
    let sandbox = Sandbox::new();
    if !sandbox.has_node() {
        return None;
    }
    assert_eq!(says(&sandbox, &["init", "--language", "javascript"]).0, Some(0));
    sandbox.write("src/calc.js", MODULE);
    sandbox.commit("feat: what there is");
    sandbox.write("test/calc.test.js", SCRIPT);
    Some(sandbox)
}

#[test]
fn a_runner_that_is_killed_is_no_verdict_and_a_test_that_kills_itself_is_one() {
    let Some(sandbox) = javascript() else { return println!("skipped: there is no node") };
    let node = which("node");
    let (program, flag) = killer(&sandbox, "node", &node.display().to_string());
    let with_it = |arguments: &[&str]| {
        let mut command = command(&sandbox, arguments);
        let path = std::env::var("PATH").unwrap();
        command.env("PATH", format!("{}:{path}", program.parent().unwrap().display()));
        told(command)
    };
    fs::write(&flag, "").unwrap();
    for arguments in [&["check"][..], &["auto-test"]] {
        assert_environment(with_it(arguments), "memory");
    }
    fs::remove_file(flag).unwrap();
    assert_eq!(with_it(&["check"]).0, Some(0));
    sandbox.write("test/calc.test.js", SCRIPT.replace("  assert", "  process.kill(process.pid, 'SIGKILL');\n  assert"));
    let (code, text) = with_it(&["check"]);
    assert!(code == Some(1) && text.contains("crash"), "{text}");
}

fn which(program: &str) -> PathBuf {
    let path = std::env::var("PATH").unwrap();
    path.split(':').map(|folder| Path::new(folder).join(program)).find(|file| file.exists()).unwrap()
}

#[test]
fn a_full_disk_below_a_build_is_no_verdict() {
    let (sandbox, _) = rust();
    let target = sandbox.project().join("target");
    fs::create_dir_all(&target).unwrap();
    let Some(mount) = Mount::tmpfs(&target, "size=64m") else { return println!("{MAY_NOT_MOUNT}") };
    let filler = mount.fill();
    for arguments in [&["check"][..], &["auto-test"]] {
        assert_environment(says(&sandbox, arguments), "disk is full");
    }
    fs::remove_file(filler).unwrap();
    let (code, text) = says(&sandbox, &["check"]);
    assert_eq!(code, Some(0), "{text}");
}

#[test]
fn a_message_about_a_full_disk_is_only_a_message_where_there_is_room() {
    let Some(sandbox) = javascript() else { return println!("skipped: there is no node") };
    let message = "3, 'ENOSPC: no space left on device')";
    sandbox.write("test/calc.test.js", SCRIPT.replace("3)", message));
    let (code, text) = says(&sandbox, &["check"]);
    assert_eq!(code, Some(0), "{text}");
}

#[test]
fn a_full_disk_below_git_and_the_ledger_is_named() {
    let Some(sandbox) = javascript() else { return println!("skipped: there is no node") };
    let copy = Sandbox::new();
    let Some(mount) = Mount::tmpfs(&copy.project(), "size=16m") else { return println!("{MAY_NOT_MOUNT}") };
    let source = sandbox.project().join(".");
    assert!(Command::new("cp").arg("-a").arg(source).arg(copy.project()).status().unwrap().success());
    let head = copy.git(&["rev-parse", "HEAD"]);
    let filler = mount.fill();
    // The last page of the ledger's file may still have room for a line.
    let reason = "a lint ".repeat(2_000);
    let asked = ["override", "--rule", "check-passes", "--reason", &reason];
    for arguments in [&asked[..], &["check"], &["commit", "-m", "test: pin addition"], &["refactor", "begin"]] {
        assert_environment(says(&copy, arguments), "disk is full");
    }
    fs::remove_file(filler).unwrap();
    assert_eq!(copy.git(&["rev-parse", "HEAD"]), head);
    let (code, text) = says(&copy, &["commit", "-m", "test: pin addition"]);
    assert_eq!(code, Some(0), "{text}");
}
