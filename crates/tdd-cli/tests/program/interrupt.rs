//! Tests that an interrupted program stops at once, in its work or evaluation, and continues with the next run.

use std::fs;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tdd_fixtures::processes::processes_in;

use crate::stage::{PROGRAM, Stage, cycle, soon};

/// A program whose evaluation signals its start and waits until it may continue.
fn waiting() -> Stage {
    let stage = Stage::bare();
    let outside = stage.sandbox.outside().display();
    let wait = format!("```bash\ntouch {outside}/started\ntest -e {outside}/go || sleep 600\n");
    stage.add_program(&PROGRAM.replacen("```bash\n", &wait, 1));
    stage
}

/// Sends a signal to a run once `is_now` holds, and asserts that the run ends cleanly.
fn stop(stage: &Stage, args: &[&str], signal: Signal, is_now: impl Fn() -> bool) {
    let mut child = stage.command(args);
    let child = child.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    assert!(soon(is_now), "it never came to that");
    kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), signal).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("run the command again"), "{said}");
    assert_eq!(stage.sandbox.git(&["status", "--porcelain"]), "");
    assert_eq!(stage.sandbox.git(&["worktree", "list"]).lines().count(), 1);
    let nobody = || processes_in(stage.sandbox.outside()).is_empty();
    assert!(soon(nobody), "somebody is left");
    stage.ok(&["log"]);
}

#[test]
fn a_program_that_is_interrupted_goes_on_where_it_was() {
    let stage = waiting();
    let started = stage.sandbox.outside().join("started");
    stop(&stage, &["program", "run", "--due"], Signal::SIGTERM, || started.exists());
    fs::write(stage.sandbox.outside().join("go"), "").unwrap();
    stage.recast(cycle(&stage, 1));
    let at_work = || stage.events().iter().any(|event| event["type"] == "edit_applied");
    stop(&stage, &["program", "run", "port"], Signal::SIGINT, at_work);
    stage.recast(cycle(&stage, 1));
    stage.ok(&["program", "run", "port"]);
    assert_eq!(stage.last(), "accepted green 1.0");
    assert_eq!(stage.state()["history"]["entries"].as_array().unwrap().len(), 1);
}
