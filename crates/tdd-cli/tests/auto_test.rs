//! Tests `auto-test` on real projects with real cargo: every test gets a true result.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tdd_fixtures::Sandbox;

/// The sample project under git.
fn project(name: &str) -> Sandbox {
    let sandbox = Sandbox::with_project(name);
    put_under_git(&sandbox);
    sandbox
}

fn put_under_git(sandbox: &Sandbox) {
    sandbox.git(&["init", "--quiet", "--initial-branch=main"]);
    sandbox.git(&["add", "--all"]);
    sandbox.git(&["commit", "--quiet", "--message=state"]);
}

/// The sample project with a ledger that records runs.
fn recording(name: &str) -> Sandbox {
    let sandbox = project(name);
    let init = machine(&sandbox).arg("init").output().unwrap();
    assert!(init.status.success(), "{}", String::from_utf8_lossy(&init.stderr));
    sandbox
}

fn machine(sandbox: &Sandbox) -> Command {
    sandbox.command(env!("CARGO_BIN_EXE_tdd-cli"))
}

/// Runs `auto-test` and returns its result as lines.
fn auto_test(sandbox: &Sandbox) -> String {
    answer(machine(sandbox).args(["auto-test", "--format", "json"]))
}

/// Runs `auto-test` with this test command.
fn auto_test_with(sandbox: &Sandbox, test_cmd: &str) -> String {
    let words: Vec<&str> = test_cmd.split(' ').collect();
    sandbox.write("tdd.yaml", format!("ci:\n  test_cmd: {words:?}\n"));
    format!("$ {test_cmd}\n{}", auto_test(sandbox))
}

fn answer(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let mut text = format!("exit {}\n{}", output.status.code().unwrap(), String::from_utf8_lossy(&output.stderr));
    for test in list(&document, "tests") {
        let _ = writeln!(text, "{}", line(test, &[&test["status"], &test["cause"], &test["test_id"]]));
    }
    for obstacle in list(&document, "obstacles") {
        let words = [&Value::from("!"), &obstacle["subject"], &obstacle["cause"], &obstacle["place"]];
        let _ = writeln!(text, "{}", line(obstacle, &words));
    }
    let _ = writeln!(text, "counts {}, recorded {}", document["counts"], document["recorded"]);
    text
}

fn list<'a>(document: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    document[key].as_array().into_iter().flatten()
}

/// A test's result and the first line of its message.
fn line(of: &Value, words: &[&Value]) -> String {
    let words: Vec<&str> = words.iter().filter_map(|word| word.as_str()).collect();
    let why = of["message"].as_str().and_then(|message| message.lines().next());
    words.join(" ") + &why.map_or_else(String::new, |why| format!(" | {why}"))
}

#[test]
fn every_shape_of_test_has_its_id_and_its_answer() {
    insta::assert_snapshot!(auto_test(&project("shapes")));
}

#[test]
fn people_read_the_same_on_a_page() {
    let sandbox = project("calc");
    let output = machine(&sandbox).args(["auto-test", "--color", "never"]).output().unwrap();
    let page = String::from_utf8_lossy(&output.stdout);
    insta::with_settings!({ filters => [(r"in \d+\.\d\d s", "in [time]")] }, { insta::assert_snapshot!(page) });
}

#[test]
fn a_slug_that_two_tests_have_is_refused() {
    let sandbox = project("calc");
    sandbox.write("tests/other.rs", "// @tdd-test-id: negative-numbers\n#[test]\nfn other() {}\n");
    insta::assert_snapshot!(auto_test(&sandbox));
}

#[test]
fn tests_that_misbehave_take_nobody_down_and_deceive_nobody() {
    let sandbox = project("unruly");
    insta::assert_snapshot!(auto_test(&sandbox));
    let daemon = Path::new("/proc").join(sandbox.read("target/daemon").trim());
    assert!(!daemon.exists(), "a test's daemon outlives the run");
}

#[test]
fn a_run_that_changes_sources_is_not_recorded() {
    let sandbox = recording("calc");
    let meddler = "#[test]\nfn meddles() {\n    std::fs::write(\"src/extra.rs\", \"// new\").unwrap();\n}\n";
    sandbox.write("tests/meddler.rs", meddler);
    insta::assert_snapshot!(auto_test(&sandbox));
    fs::remove_file(sandbox.project().join("tests/meddler.rs")).unwrap();
    assert!(auto_test(&sandbox).contains("recorded true"));
}

#[test]
fn a_target_that_does_not_compile_leaves_the_others_running() {
    let sandbox = project("broken");
    let all = auto_test(&sandbox);
    let library = auto_test_with(&sandbox, "cargo test --lib");
    insta::assert_snapshot!(format!("{all}\n{library}"));
}

#[test]
fn what_is_known_of_a_target_outlives_its_compile_error() {
    let sandbox = recording("calc");
    auto_test(&sandbox);
    let before = status(&sandbox);
    sandbox.write("tests/calc.rs", sandbox.read("tests/calc.rs") + "#[test]\nfn new() { calc::sub(2, 1); }\n");
    let ran = auto_test(&sandbox);
    insta::assert_snapshot!(format!("{before}\n{ran}{}", status(&sandbox)));
}

fn status(sandbox: &Sandbox) -> String {
    let output = machine(sandbox).args(["status", "--format", "json"]).output().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let [green, red, current] = ["green", "red", "tests_current"].map(|key| &document[key]);
    format!("green {green}, red {red}, current {current}")
}

#[test]
fn what_keeps_everything_from_being_built_is_named() {
    let sandbox = project("broken");
    for target in ["asks", "stutters", "confuses", "imports"] {
        fs::remove_file(sandbox.project().join(format!("tests/{target}.rs"))).unwrap();
    }
    let mut text = String::new();
    for (what, path, added) in [
        ("a type error in production", "src/lib.rs", "pub fn wrong() -> i32 { \"a\" }\n"),
        ("a name that is not there in production", "src/lib.rs", "pub fn wrong() -> i32 { nothing() }\n"),
        ("a syntax error in production", "src/lib.rs", "pub fn wrong() -> i32 {\n"),
        ("a crate that cannot be fetched", "Cargo.toml", "[dependencies]\nno-such-crate-at-all = \"1\"\n"),
        ("a dependency on a folder that is not there", "Cargo.toml", "[dependencies]\ngone = { path = \"gone\" }\n"),
        ("a broken manifest", "Cargo.toml", "[[\n"),
    ] {
        let before = sandbox.read(path);
        sandbox.write(path, format!("{before}{added}"));
        let _ = writeln!(text, "{what}\n{}", auto_test(&sandbox));
        sandbox.write(path, before);
    }
    let root = sandbox.project().canonicalize().unwrap().display().to_string();
    insta::assert_snapshot!(text.replace(&root, "[root]"));
}

/// Environment variables that would change test results, and secrets.
const OUTSIDE: [(&str, &str); 9] = [
    ("RUSTFLAGS", "--cfg from_outside"),
    ("RUSTDOCFLAGS", "--cfg from_outside"),
    ("RUSTC_WRAPPER", "/nowhere/wrapper"),
    ("CARGO_BUILD_TARGET", "wasm32-unknown-unknown"),
    ("CARGO_TARGET_DIR", "/nowhere/target"),
    ("LLM_API_KEY", "hunter2"),
    ("GITHUB_TOKEN", "hunter2"),
    ("DATABASE_URL", "postgres://me:hunter2@host/db"),
    ("XDG_CONFIG_HOME", "/home/hunter2"),
];

#[test]
fn a_workspace_runs_as_under_cargo_whatever_the_user_has_set() {
    let sandbox = project("town");
    let first = auto_test(&sandbox);
    let second = answer(machine(&sandbox).args(["auto-test", "--format", "json"]).envs(OUTSIDE));
    assert_eq!(first, second);
    insta::assert_snapshot!(first);
}

#[test]
fn a_project_may_lie_in_a_subfolder_with_an_odd_name_and_odd_line_ends() {
    let source = Sandbox::with_project("town");
    let sandbox = Sandbox::new();
    fs::rename(source.project(), sandbox.project().join("größte Stadt")).unwrap();
    end_lines_with_crlf(&sandbox.project());
    put_under_git(&sandbox);
    insta::assert_snapshot!(auto_test(&sandbox));
}

fn end_lines_with_crlf(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            end_lines_with_crlf(&path);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            fs::write(&path, fs::read_to_string(&path).unwrap().replace('\n', "\r\n")).unwrap();
        }
    }
}

#[test]
fn the_configured_command_chooses_what_is_run() {
    let sandbox = project("town");
    let commands = [
        "cargo test --all --features extra",
        "cargo test -p alpha-house",
        "cargo test --lib",
        "cargo test --workspace --exclude beta -- --test-threads=1",
        "cargo test rooms",
        "cargo test -p beta -- --skip rooms --skip sees",
        "cargo test -p beta -- --exact has_five_rooms",
        "cargo test --test tool",
        "cargo test --doc",
        "cargo test -p macros no_such_name",
        "cargo test --bin no-such-bin",
        "cargo test -p no-such-package",
        "cargo test --no-such-flag",
        "make test",
    ];
    let answers: Vec<String> = commands.iter().map(|command| auto_test_with(&sandbox, command)).collect();
    insta::assert_snapshot!(answers.join("\n"));
}

#[test]
fn another_toolchain_and_nextest_run_the_tests_where_they_are_installed() {
    let sandbox = project("town");
    if is_there(&sandbox, &["nextest", "--version"]) {
        insta::assert_snapshot!("nextest", auto_test_with(&sandbox, "cargo nextest run"));
    } else {
        eprintln!("skipped: cargo-nextest is not installed");
    }
    if is_there(&sandbox, &["+stable", "--version"]) {
        insta::assert_snapshot!("stable", auto_test_with(&sandbox, "cargo +stable test -p macros"));
    } else {
        eprintln!("skipped: there is no toolchain `stable`");
    }
}

fn is_there(sandbox: &Sandbox, arguments: &[&str]) -> bool {
    sandbox.command("cargo").args(arguments).output().is_ok_and(|output| output.status.success())
}

#[test]
fn targets_that_cargo_leaves_out_or_that_cannot_be_read_are_told() {
    let sandbox = project("calc");
    let manifest = sandbox.read("Cargo.toml");
    let mut text = String::new();
    sandbox.write("tests/own.rs", "fn main() {\n    println!(\"all is well\");\n}\n");
    sandbox.write("examples/shown.rs", "fn main() {}\n\n#[test]\nfn shows() {}\n");
    let untested = "autotests = false\n[lib]\ntest = false\ndoctest = false\n";
    for (what, added) in [
        ("a harness of its own", "[[test]]\nname = \"own\"\nharness = false\n".to_owned()),
        ("an example with tests", format!("{untested}[[example]]\nname = \"shown\"\ntest = true\n")),
        ("nothing is tested", untested.to_owned()),
    ] {
        sandbox.write("Cargo.toml", format!("{manifest}{added}"));
        let _ = writeln!(text, "{what}\n{}", auto_test(&sandbox));
    }
    insta::assert_snapshot!(text);
}

/// Cargo's arguments during `auto-test`, logged by a wrapper script before the real cargo on `PATH`.
fn calls_of_cargo(sandbox: &Sandbox) -> String {
    let folder = sandbox.outside().join("bin");
    let log = sandbox.outside().join("calls");
    let script = format!("#!/bin/sh\necho \"$*\" >> '{}'\nPATH=${{PATH#*:}} exec cargo \"$@\"\n", log.display());
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("cargo"), script).unwrap();
    fs::set_permissions(folder.join("cargo"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let output = machine(sandbox).args(["auto-test", "--format", "json"]).env("PATH", path).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let calls = fs::read_to_string(&log).unwrap();
    fs::remove_file(log).unwrap();
    calls.replace(&sandbox.project().canonicalize().unwrap().display().to_string(), "[root]")
}

#[test]
fn cargo_is_called_no_more_often_than_needed() {
    let sandbox = project("calc");
    let with_doctests = calls_of_cargo(&sandbox);
    sandbox.write("src/lib.rs", sandbox.read("src/lib.rs").replace("```", "~~"));
    let without_doctests = calls_of_cargo(&sandbox);
    fs::remove_dir_all(sandbox.project().join("tests")).unwrap();
    sandbox.write("src/lib.rs", "//! Nothing yet.\n");
    let without_tests = calls_of_cargo(&sandbox);
    insta::assert_snapshot!(format!("{with_doctests}\n{without_doctests}\n{without_tests}"));
}
