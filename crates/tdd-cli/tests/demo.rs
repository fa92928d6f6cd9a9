//! Tests that every kata of the demo completes offline and leaves a history that passes the audit.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use tdd_core::commit::{self, Trailers};
use tdd_fixtures::{Sandbox, story};

const PROGRAM: &str = env!("CARGO_BIN_EXE_tdd-cli");

/// A demo with its temporary folder in the sandbox. A missing `TDD_CONFIG` file must not matter.
fn demo(sandbox: &Sandbox, arguments: &[&str]) -> Command {
    let folder = sandbox.outside().join("tmp");
    fs::create_dir_all(&folder).unwrap();
    let mut command = sandbox.command(PROGRAM);
    command.arg("demo").args(arguments).env("TMPDIR", folder).env("TDD_CONFIG", "/nowhere/tdd.yaml");
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The project folders that demos left, without the machine's own run folder.
fn left_behind(sandbox: &Sandbox) -> Vec<PathBuf> {
    let entries = fs::read_dir(sandbox.outside().join("tmp")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let names = names.filter(|name| !name.starts_with("tdd-runs-"));
    names.map(|name| sandbox.outside().join("tmp").join(name).canonicalize().unwrap()).collect()
}

/// Runs a kata, checks the project it left, and returns its output.
fn story_of(kata: &str, tests: &[&str]) -> String {
    let sandbox = Sandbox::new();
    let output = demo(&sandbox, &[kata]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}{}", text(&output.stdout), text(&output.stderr));
    assert_eq!(text(&output.stderr), "");
    let left = left_behind(&sandbox);
    let [folder] = left.as_slice() else { panic!("one project, and not {left:?}") };
    keeps_the_law(&sandbox, folder, tests);
    text(&output.stdout).replace(folder.to_str().unwrap(), "[folder]").replace(PROGRAM, "tdd-cli")
}

fn keeps_the_law(sandbox: &Sandbox, folder: &Path, tests: &[&str]) {
    let git = |arguments: &[&str]| sandbox.git(&[&["-C", folder.to_str().unwrap()], arguments].concat());
    assert_eq!(git(&["status", "--porcelain"]), "");
    let log = git(&["log", "--reverse", "--format=%B%x00"]);
    let messages: Vec<&str> = log.split('\0').map(str::trim).filter(|message| !message.is_empty()).collect();
    let (first, steps) = messages.split_first().unwrap();
    assert!(first.starts_with("chore: "), "{first}");
    let mut last = 0;
    for message in steps {
        commit::validate_step(message).unwrap();
        let trailers = Trailers::parse(message);
        let step: u32 = trailers.get("TDD-Step").unwrap().parse().unwrap();
        assert!(step > last, "step {step} comes after step {last}");
        last = step;
        let phase = ["refactor", "red", "green"][(step % 3) as usize];
        assert_eq!(trailers.get("TDD-Phase"), Some(phase), "{message}");
    }
    assert!(last >= 9, "{last} steps are no whole run");
    let passed = sandbox.command(tests[0]).args(&tests[1..]).current_dir(folder).output().unwrap();
    assert!(passed.status.success(), "{}", text(&passed.stdout));
    // Audits every commit, except in Rust, where it takes too long.
    if tests[0] != "cargo" {
        let audit = sandbox.command(PROGRAM).args(["-C", folder.to_str().unwrap(), "audit"]).output().unwrap();
        assert!(audit.status.success(), "{}{}", text(&audit.stdout), text(&audit.stderr));
    }
}

/// Snapshot with commit ids replaced.
macro_rules! assert_story {
    ($kata:expr) => {
        assert_story!($kata, &["cargo", "test"])
    };
    ($kata:expr, $tests:expr) => {
        let mut settings = insta::Settings::clone_current();
        settings.add_filter(r"\b[0-9a-f]{10}\b", "[commit]");
        settings.bind(|| insta::assert_snapshot!(story_of($kata, $tests)));
    };
}

#[test]
fn the_string_calculator_is_built() {
    assert_story!("string-calculator");
}

#[test]
fn models_that_cheat_get_nowhere_until_they_work() {
    assert_story!("bowling");
}

#[test]
fn roman_numerals_are_built() {
    assert_story!("roman-numerals");
}

#[test]
fn fizz_buzz_is_built_in_python() {
    if !Sandbox::new().has_pytest() {
        return println!("skipped: there is no pytest; install it into a virtual environment and set VIRTUAL_ENV");
    }
    let python = format!("{}/bin/python3", std::env::var("VIRTUAL_ENV").unwrap_or_else(|_| "/usr".to_owned()));
    assert_story!("fizz-buzz", &[&python, "-m", "pytest", "-q"]);
}

#[test]
fn a_reverse_polish_calculator_is_built_in_javascript() {
    if !Sandbox::new().has_node() {
        return println!("skipped: there is no node");
    }
    assert_story!("reverse-polish", &["node", "--test"]);
}

#[test]
fn leap_years_are_told_in_go() {
    if !Sandbox::new().has_go() {
        return println!("skipped: there is no Go; put one on the path");
    }
    assert_story!("leap-years", &["go", "test", "./..."]);
}

#[test]
fn a_language_chooses_the_kata_and_one_that_is_not_recorded_in_it_is_refused() {
    refused(
        &demo(&Sandbox::new(), &["bowling", "--language", "python"]).output().unwrap(),
        2,
        "katas recorded in this language: `fizz-buzz`",
    );
    refused(
        &demo(&Sandbox::new(), &["bowling", "--language", "typescript"]).output().unwrap(),
        2,
        "katas recorded in this language: `reverse-polish`",
    );
    let sandbox = Sandbox::new();
    let output = demo(&sandbox, &["--language", "python"])
        .env("PATH", sandbox.outside())
        .env_remove("VIRTUAL_ENV")
        .output()
        .unwrap();
    refused(&output, 3, "https://www.python.org");
}

#[test]
fn programs_get_events_and_nothing_else_up_to_ctrl_c() {
    let sandbox = Sandbox::new();
    let mut command = demo(&sandbox, &["--format", "json"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut last = Value::Null;
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        last = serde_json::from_str(&line.unwrap()).unwrap();
        if last["type"] == "committed" {
            kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), Signal::SIGINT).unwrap();
        }
    }
    assert_eq!((&last["type"], &last["exit"]), (&Value::from("run_end"), &Value::from(130)));
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let folder = left_behind(&sandbox).remove(0);
    assert_eq!(text(&output.stderr), format!("the project is in {}\n", folder.display()));
}

#[test]
fn people_are_told_how_to_begin_anew_after_ctrl_c() {
    let sandbox = Sandbox::new();
    let child = demo(&sandbox, &[]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let until = std::time::Instant::now() + std::time::Duration::from_mins(2);
    let begun = || left_behind(&sandbox).first().is_some_and(|folder| folder.join("tests/calculator.rs").exists());
    while !begun() && std::time::Instant::now() < until {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), Signal::SIGTERM).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(130), "{said}");
    let next = "interrupted; everything is saved\nnext: `tdd-cli demo string-calculator` begins again\n";
    assert!(said.contains(next), "{said}");
    assert!(said.contains("The folder stays until you delete it"), "{said}");
}

fn refused(output: &Output, code: i32, said: &str) {
    assert_eq!(output.status.code(), Some(code), "{}", text(&output.stdout));
    let stderr = text(&output.stderr);
    assert!(stderr.contains(said), "{stderr}");
}

#[test]
fn without_cargo_it_says_what_to_install_and_leaves_nothing_behind() {
    let sandbox = Sandbox::new();
    let output = demo(&sandbox, &[]).env("PATH", sandbox.outside()).output().unwrap();
    refused(&output, 3, "https://rustup.rs");
    assert_eq!(left_behind(&sandbox), Vec::<PathBuf>::new());
}

#[test]
fn a_folder_of_the_users_is_taken_only_if_it_is_empty() {
    let sandbox = Sandbox::new();
    sandbox.write("mine.txt", "mine");
    refused(&demo(&sandbox, &["-C", "."]).output().unwrap(), 2, "is not empty");
    assert_eq!(fs::read_dir(sandbox.project()).unwrap().count(), 1);
}

#[test]
fn an_unknown_kata_is_refused_with_the_known_ones() {
    refused(
        &demo(&Sandbox::new(), &["tetris"]).output().unwrap(),
        2,
        "string-calculator, bowling, roman-numerals, fizz-buzz",
    );
}

/// `UPDATE_CASSETTES=1 cargo test -p tdd-cli --test demo` updates the cassettes.
#[test]
fn the_cassettes_are_what_the_stories_say() {
    for name in ["string-calculator", "bowling", "roman-numerals", "fizz-buzz", "reverse-polish", "leap-years"] {
        let kata = Path::new(env!("CARGO_MANIFEST_DIR")).join("katas").join(name);
        let story = fs::read_to_string(kata.join("story.md")).unwrap();
        let cassette = story::script(&story).cassette();
        if std::env::var_os("UPDATE_CASSETTES").is_some() {
            fs::write(kata.join("cassette.jsonl"), &cassette).unwrap();
        }
        let there = fs::read_to_string(kata.join("cassette.jsonl")).unwrap();
        assert!(there == cassette, "the cassette of {name} is not what its story says");
    }
}
