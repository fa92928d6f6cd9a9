//! Tests that neither a refusal nor a write error ends with exit code 0.

use std::fs::File;
use std::process::{Command, Stdio};

use super::{SKIPPED, TEST, command, project, red_project};

/// The exit code and standard error of a command whose output pipe is closed.
fn with_closed_pipe(mut command: Command) -> (Option<i32>, String) {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = command.stdout(writer).stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// The same for output to a full disk.
fn with_full_disk(mut command: Command) -> (Option<i32>, String) {
    let full = File::options().write(true).open("/dev/full").unwrap();
    let output = command.stdout(full).stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_gates_no_stays_a_no_when_nobody_reads_it() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    sandbox.write("test/calc.test.js", TEST.replace("3)", "-1)"));
    let refused = [&["check"][..], &["validate-red", "test/calc.test.js"], &["commit", "-m", "test: x"]];
    for arguments in refused {
        for format in ["human", "json"] {
            let command = || command(&sandbox, &[arguments, &["--format", format]].concat());
            assert_eq!(with_closed_pipe(command()), (Some(1), String::new()), "{arguments:?} {format}");
            let (code, stderr) = with_full_disk(command());
            assert_eq!(code, Some(1), "{arguments:?} {format}: {stderr}");
            assert!(stderr.contains("cannot write the result"), "{arguments:?} {format}: {stderr}");
        }
    }
}

#[test]
fn output_that_could_not_be_written_is_no_success() {
    let Some(sandbox) = red_project() else { return println!("{SKIPPED}") };
    let done = [
        &["check"][..],
        &["auto-test"],
        &["status"],
        &["log"],
        &["doctor", "--offline"],
        &["audit"],
        &["man"],
        &["completions", "bash"],
        &["--help"],
        &["--version"],
    ];
    for arguments in done {
        assert_eq!(with_closed_pipe(command(&sandbox, arguments)), (Some(3), String::new()), "{arguments:?}");
        let (code, stderr) = with_full_disk(command(&sandbox, arguments));
        assert_eq!(code, Some(3), "{arguments:?}: {stderr}");
        assert!(stderr.contains("cannot write the result") && stderr.contains("try: "), "{arguments:?}: {stderr}");
    }
}

#[test]
fn a_run_that_nobody_reads_goes_on_and_says_so_by_its_exit_code() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    sandbox.write("kata.md", "# Add\n\nTwo numbers are added.\n");
    sandbox.commit("docs: the kata");
    let script = tdd_fixtures::script::Script::new().writes("1-tester", "test/calc.test.js", TEST);
    std::fs::write(sandbox.outside().join("script.jsonl"), script.cassette()).unwrap();
    let run = ["run", "--steps", "1", "--replay", "../script.jsonl"];
    assert_eq!(with_closed_pipe(command(&sandbox, &run)), (Some(3), String::new()));
    assert_eq!(sandbox.git(&["log", "-1", "--format=%s"]), "test: do it\n");
}

#[test]
fn log_ends_when_its_reader_does() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    assert_eq!(with_closed_pipe(command(&sandbox, &["log", "--follow"])), (Some(3), String::new()));
}
