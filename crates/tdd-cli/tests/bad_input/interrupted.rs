//! Tests stopping the machine by a signal while a test hangs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use tdd_fixtures::processes::{processes_in, soon};

use crate::machine::{Machine, document};

/// A project with a hanging test that starts a hanging child process.
fn hanging() -> Machine {
    let machine = Machine::calc();
    let started = machine.sandbox.outside().join("started");
    let test = format!(
        "#[test]\nfn hangs() {{\n    let _child = std::process::Command::new(\"sleep\").arg(\"600\").spawn().unwrap();\n    \
         std::fs::write(\"{}\", \"\").unwrap();\n    std::thread::sleep(std::time::Duration::from_secs(600));\n}}\n",
        started.display()
    );
    machine.sandbox.write("tests/hangs.rs", test);
    machine
}

/// Starts the machine and waits until the hanging test runs.
fn at_work(machine: &Machine, args: &[&str], own_group: bool) -> Child {
    let mut command = machine.command(args);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    if own_group {
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
    }
    let child = command.spawn().expect("start");
    let started = machine.sandbox.outside().join("started");
    assert!(soon(Duration::from_mins(2), || started.exists()), "the test has not begun");
    child
}

const AUTO_TEST: [&str; 3] = ["auto-test", "--format", "json"];

fn pid(child: &Child) -> Pid {
    Pid::from_raw(i32::try_from(child.id()).expect("a number of a process"))
}

/// Asserts that the ledger is valid and that a run without the hanging test works.
fn assert_goes_on(machine: &Machine) {
    assert!(machine.output(&["log"]).status.success());
    fs::remove_file(machine.path("tests/hangs.rs")).expect("remove");
    let output = machine.output(&["auto-test", "--format", "json"]);
    assert_eq!(document(&output)["recorded"], true);
}

fn interrupted(own_group: bool, stop: impl Fn(Pid)) {
    let machine = hanging();
    let before = machine.state();
    let child = at_work(&machine, &AUTO_TEST, own_group);
    let start = Instant::now();
    stop(pid(&child));
    let output = child.wait_with_output().expect("wait");
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    assert_eq!(document(&output)["exit_code"], 130);
    assert_eq!(processes_in(machine.sandbox.outside()), BTreeSet::new());
    fs::remove_file(machine.sandbox.outside().join("started")).expect("remove");
    machine.assert_unchanged(&before);
    assert_goes_on(&machine);
}

#[test]
fn an_interrupt_ends_everything_and_the_next_run_works() {
    interrupted(false, |pid| kill(pid, Signal::SIGINT).expect("kill"));
}

#[test]
fn an_interrupt_of_the_whole_group_does_the_same() {
    interrupted(true, |pid| killpg(pid, Signal::SIGINT).expect("kill"));
}

#[test]
fn a_request_to_terminate_does_the_same() {
    interrupted(false, |pid| kill(pid, Signal::SIGTERM).expect("kill"));
}

#[test]
fn a_second_interrupt_ends_even_what_waits_for_something_that_never_comes() {
    let machine = Machine::ready();
    fs::remove_file(machine.path(".gitignore")).expect("remove");
    for name in [".gitignore", ".gitattributes"] {
        assert!(std::process::Command::new("mkfifo").arg(machine.path(name)).status().expect("mkfifo").success());
    }
    let mut child = machine.command(&["doctor"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("start");
    // Enough time to install the signal handler.
    sleep(Duration::from_secs(1));
    let until = Instant::now() + Duration::from_secs(20);
    while child.try_wait().expect("wait").is_none() && Instant::now() < until {
        let _sent = kill(pid(&child), Signal::SIGINT);
        sleep(Duration::from_millis(100));
    }
    let ended = child.try_wait().expect("wait");
    child.kill().expect("kill");
    assert!(ended.is_some(), "it does not listen");
}

#[test]
fn five_seconds_after_a_kill_nothing_is_left_and_the_next_run_works() {
    let machine = hanging();
    let mut child = at_work(&machine, &AUTO_TEST, false);
    child.kill().expect("kill");
    child.wait().expect("wait");
    let is_over = soon(Duration::from_secs(5), || processes_in(machine.sandbox.outside()).is_empty());
    assert!(is_over, "{:?}", processes_in(machine.sandbox.outside()));
    assert_goes_on(&machine);
}

/// The user's files, without `.tdd/`, where copies may be left incomplete.
fn of_the_person(machine: &Machine) -> BTreeMap<String, String> {
    machine.state().into_iter().filter(|(path, _)| !path.starts_with("project/.tdd/") && path != "started").collect()
}

/// Interrupts a command while a test hangs. Asserts that it ends soon, leaves no process and no change, says how to
/// continue, and keeps the ledger valid.
fn check(machine: &Machine, args: &[&str], signal: Signal) {
    let before = of_the_person(machine);
    let child = at_work(machine, args, false);
    let start = Instant::now();
    kill(pid(&child), signal).expect("kill");
    let output = child.wait_with_output().expect("wait");
    let told = machine.told(args, &output);
    assert_eq!(output.status.code(), Some(130), "{told}");
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    assert!(told.contains("try: nothing was lost; run the command again"), "{told}");
    assert_eq!(processes_in(machine.sandbox.outside()), BTreeSet::new());
    assert_eq!(of_the_person(machine), before);
    fs::remove_file(machine.sandbox.outside().join("started")).expect("remove");
    assert!(machine.output(&["log"]).status.success());
}

#[test]
fn a_gate_that_is_interrupted_leaves_everything_as_it_was() {
    let machine = hanging();
    check(&machine, &["validate-red", "tests/hangs.rs"], Signal::SIGINT);
    machine.sandbox.commit("test: hangs");
    machine.sandbox.write("src/lib.rs", format!("{}\n// More.\n", machine.sandbox.read("src/lib.rs")));
    check(&machine, &["validate-refactor"], Signal::SIGTERM);
    assert_goes_on(&machine);
}

#[test]
fn the_end_of_refactor_mode_that_is_interrupted_can_be_asked_for_again() {
    let machine = hanging();
    assert!(machine.output(&["refactor", "begin"]).status.success());
    check(&machine, &["refactor", "end"], Signal::SIGTERM);
    fs::remove_file(machine.path("tests/hangs.rs")).expect("remove");
    assert!(machine.output(&["refactor", "end", "--discard"]).status.success());
}

#[test]
fn an_audit_that_is_interrupted_leaves_everything_as_it_was() {
    let machine = hanging();
    machine.sandbox.git(&["add", "-A"]);
    machine.sandbox.git(&["commit", "-q", "-m", "test: it hangs\n\nTDD-Phase: red"]);
    check(&machine, &["audit", "HEAD^.."], Signal::SIGINT);
    check(&machine, &["validate-red", "--at", "HEAD", "tests/hangs.rs"], Signal::SIGTERM);
    machine.sandbox.git(&["reset", "-q", "--hard", "HEAD^"]);
    let output = machine.output(&["audit"]);
    assert!(matches!(output.status.code(), Some(0 | 1)), "{}", machine.told(&["audit"], &output));
}
