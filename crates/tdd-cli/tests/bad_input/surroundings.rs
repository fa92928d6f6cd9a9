//! Tests missing or broken programs, variables, folders and streams.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::machine::{Machine, document, finish};

/// A folder for `PATH` with links to only these programs.
fn only(machine: &Machine, programs: &[&str]) -> PathBuf {
    let folder = machine.sandbox.outside().join("bin");
    fs::create_dir_all(&folder).expect("mkdir");
    let path = std::env::var("PATH").expect("PATH");
    for program in programs {
        let found = path.split(':').map(|entry| Path::new(entry).join(program)).find(|file| file.exists());
        std::os::unix::fs::symlink(found.expect(program), folder.join(program)).expect("link");
    }
    folder
}

fn finding(document: &Value, subject: &str) -> String {
    let findings = document["findings"].as_array().expect("findings");
    let found = findings.iter().find(|finding| finding["subject"] == subject).expect(subject);
    format!("{}: {}\n    fix: {}\n", found["state"], found["detail"], found["fix"])
}

/// The program succeeds in changed surroundings.
fn assert_works(machine: &Machine, args: &[&str], change: impl Fn(&mut Command) -> &mut Command) {
    let mut command = machine.command(args);
    change(&mut command);
    let output = finish(command);
    assert!(output.status.success(), "{}", machine.told(args, &output));
}

#[test]
fn without_a_git_program_everything_works() {
    let machine = Machine::calc();
    let path = only(&machine, &["cargo", "rustc", "rustdoc", "cc", "ld", "as"]);
    fs::remove_file(machine.path("kata.md")).expect("remove");
    for args in [["init"], ["status"], ["log"], ["auto-test"]] {
        assert_works(&machine, &args, |command| command.env("PATH", &path));
    }
}

#[test]
fn without_cargo_tests_cannot_be_run_and_the_doctor_says_why() {
    let machine = Machine::calc();
    let before = machine.state();
    let path = only(&machine, &["git"]);
    let run = |args: &[&str]| {
        let mut command = machine.command(args);
        command.env("PATH", &path);
        finish(command)
    };
    let people = run(&["auto-test"]);
    let programs = run(&["auto-test", "--format", "json"]);
    assert_eq!(document(&programs)["obstacles"][0]["cause"], "runner-missing");
    let doctor = run(&["doctor", "--format", "json"]);
    let cargo = finding(&document(&doctor), "cargo");
    fs::remove_dir_all(path).expect("remove");
    machine.assert_unchanged(&before);
    insta::assert_snapshot!(format!(
        "{}json: exit {:?}\ndoctor: exit {:?}, {cargo}",
        machine.told(&["auto-test"], &people),
        programs.status.code(),
        doctor.status.code()
    ));
}

#[test]
fn an_empty_path_is_survived() {
    let machine = Machine::calc();
    let before = machine.state();
    let mut said = String::new();
    for args in [["status"], ["auto-test"]] {
        let mut command = machine.command(&args);
        command.env("PATH", "");
        said += &machine.told(&args, &finish(command));
    }
    machine.assert_unchanged(&before);
    insta::assert_snapshot!(said);
}

#[test]
fn an_unset_home_is_survived() {
    let machine = Machine::new();
    for args in [["init"], ["status"], ["log"]] {
        assert_works(&machine, &args, |command| command.env_remove("HOME"));
    }
}

#[test]
fn a_missing_temporary_folder_is_named() {
    let machine = Machine::calc();
    let before = machine.state();
    let mut said = String::new();
    for args in [&["auto-test"][..], &["auto-test", "--format", "json"]] {
        let mut command = machine.command(args);
        command.env("TMPDIR", "/missing/folder");
        said += &machine.told(args, &finish(command));
    }
    machine.assert_unchanged(&before);
    // The folder's name ends with ids of the user and the system.
    let lines: Vec<&str> = said.lines().filter(|line| !line.starts_with("stdout")).collect();
    let lines = lines.iter().map(|line| line.split("/tdd-runs-").next().unwrap_or(line));
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"));
}

#[test]
fn a_reader_that_goes_away_ends_it_without_a_word_and_without_success() {
    let machine = Machine::ready();
    let line = machine.sandbox.read(".tdd/events.jsonl");
    assert_eq!(line.lines().count(), 1);
    for args in [&["log"][..], &["--help"], &["man"], &["status", "--format", "json"], &["completions", "bash"]] {
        let mut command = machine.command(args);
        let (reader, writer) = std::io::pipe().expect("pipe");
        drop(reader);
        let mut child = command.stdout(writer).stderr(Stdio::piped()).spawn().expect("start");
        drop(command);
        let status = child.wait().expect("wait");
        let stderr = std::io::read_to_string(child.stderr.take().expect("stderr")).expect("read");
        assert_eq!((status.code(), stderr.as_str()), (Some(3), ""), "{args:?}");
    }
}

#[test]
fn a_full_disk_behind_standard_output_is_an_error() {
    let machine = Machine::ready();
    let mut said = String::new();
    for args in [&["log"][..], &["status"], &["status", "--format", "json"], &["--help"], &["--version"], &["man"]] {
        let full = File::options().write(true).open("/dev/full").expect("/dev/full");
        let mut command = machine.command(args);
        command.stdout(full).stderr(Stdio::piped());
        let output = command.spawn().and_then(std::process::Child::wait_with_output).expect("run");
        said += &machine.told(args, &output);
    }
    insta::assert_snapshot!(said);
}

#[test]
fn closed_streams_are_survived() {
    let machine = Machine::ready();
    for script in ["exec \"$@\" >&-", "exec \"$@\" 2>&-", "exec \"$@\" <&- >&- 2>&-"] {
        let mut command = machine.sandbox.command("sh");
        command.args(["-c", script, "sh", env!("CARGO_BIN_EXE_tdd-cli"), "status"]);
        let code = finish(command).status.code();
        assert!(matches!(code, Some(0 | 3)), "{script}: {code:?}");
    }
}

#[test]
fn a_deep_folder_is_part_of_its_project() {
    let machine = Machine::ready();
    let deep = machine.path(&"deep/".repeat(300));
    fs::create_dir_all(&deep).expect("mkdir");
    let here = machine.output(&["status"]);
    let mut command = machine.command(&["status"]);
    command.current_dir(&deep);
    assert_eq!(finish(command).stdout, here.stdout);
}

#[test]
fn a_folder_that_is_none_is_refused() {
    let machine = Machine::ready();
    let mut said = String::new();
    for args in
        [["status", "-C", "missing"], ["init", "-C", "missing"], ["status", "-C", "kata.md"], ["init", "-C", "kata.md"]]
    {
        said += &machine.refused(&args);
    }
    insta::assert_snapshot!(said);
}

#[test]
fn a_folder_that_is_deleted_below_us_is_refused() {
    let machine = Machine::ready();
    let mut said = String::new();
    for args in [&["status"][..], &["init"], &["doctor"], &["init", "--format", "json"]] {
        let mut command = Command::new("sh");
        let script = "mkdir gone && cd gone && rmdir ../gone && exec \"$@\"";
        command.current_dir(machine.sandbox.outside());
        command.args(["-c", script, "sh", env!("CARGO_BIN_EXE_tdd-cli")]).args(args);
        said += &machine.told(args, &finish(command));
    }
    insta::assert_snapshot!(said);
}
