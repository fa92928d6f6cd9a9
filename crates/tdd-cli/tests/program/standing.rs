//! Tests that `program status`, `program list` and `program run` agree on whether a program can run.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use tdd_fixtures::server::Cast;

use crate::stage::{PROGRAM, Stage, cycle, soon};

fn json(stage: &Stage, args: &[&str]) -> Value {
    serde_json::from_str(&stage.ok(&[args, &["--format", "json"]].concat())).unwrap()
}

/// Asserts that `status` and `list` give the reason with which `run` refuses.
#[track_caller]
fn assert_refused(stage: &Stage, word: &str, why: &str, code: i32) {
    let status = json(stage, &["program", "status", "port"]);
    let listed = json(stage, &["program", "list"]);
    assert_eq!((&status["standing"], &listed[0]["standing"]), (&Value::from(word), &Value::from(word)));
    let reason = status["reason"].as_str().unwrap();
    assert!(reason.contains(why), "{reason}");
    assert_eq!(listed[0]["why"], reason);
    assert!(status["next"].as_str().is_some_and(|next| !next.is_empty()), "{status}");
    let page = stage.ok(&["program", "status", "port"]);
    assert!(page.starts_with(&format!("port: {word}: {reason}\n")), "{page}");
    let told = stage.run(&["program", "run", "port"]);
    assert_eq!(told.code, Some(code), "{}\n{}", told.stdout, told.stderr);
    assert!(told.stderr.contains(reason), "{reason}\n{}", told.stderr);
    assert_eq!(stage.events().iter().filter(|event| event["type"] == "iteration_start").count(), 0);
}

#[track_caller]
fn assert_due(stage: &Stage) {
    assert_eq!(json(stage, &["program", "status", "port"])["standing"], "due");
    assert!(stage.ok(&["program", "list"]).starts_with("due port"));
}

#[test]
fn a_program_that_is_not_filled_in_is_not_ready() {
    let stage = Stage::port();
    assert_due(&stage);
    let playbook = ".autoloop/programs/port/strategy/test-driven.md";
    stage.sandbox.write(playbook, "# Ours\n\n<CUSTOMIZE: the unit of work>\n");
    stage.commit("chore: a marker");
    assert_refused(&stage, "not-ready", "test-driven.md:3: a marker is left: the unit of work", 2);
    stage.sandbox.git(&["rm", "-q", playbook]);
    stage.commit("chore: lose the playbook");
    assert_refused(&stage, "not-ready", "`strategy/test-driven.md` is missing", 2);
    stage.sandbox.write(".autoloop/programs/port/program.md", PROGRAM.replace("test-driven.md", "openevolve.md"));
    stage.commit("chore: another strategy");
    assert_refused(&stage, "not-ready", "`openevolve`, which is not known here", 2);
}

#[test]
fn a_program_in_a_repository_that_it_must_not_touch_is_not_ready() {
    let stage = Stage::port();
    let lib = stage.sandbox.read("src/lib.rs");
    stage.sandbox.write("src/lib.rs", "//! Mine.\n");
    assert_refused(&stage, "not-ready", "`src/lib.rs` has uncommitted changes", 2);
    stage.sandbox.write("src/lib.rs", &lib);
    stage.sandbox.write("notes.txt", "x\n");
    assert_refused(&stage, "not-ready", "`notes.txt` is not tracked by git", 2);
    std::fs::remove_file(stage.sandbox.project().join("notes.txt")).unwrap();
    let branch = stage.sandbox.git(&["branch", "--show-current"]);
    stage.sandbox.git(&["switch", "-q", "--detach"]);
    assert_refused(&stage, "not-ready", "HEAD is not on one", 2);
    stage.sandbox.git(&["switch", "-q", branch.trim()]);
    stage.ok(&["refactor", "begin"]);
    assert_refused(&stage, "not-ready", "refactor mode is on", 2);
    stage.ok(&["refactor", "end"]);
    assert_due(&stage);
}

#[test]
fn a_pause_is_a_pause_whoever_made_it() {
    let stage = Stage::port();
    stage.ok(&["program", "pause", "port", "--reason", "we are on holiday"]);
    assert_refused(&stage, "paused", "we are on holiday", 4);
    stage.ok(&["program", "resume", "port"]);
    assert_due(&stage);
    stage.sandbox.write("kata.md", "# Kata\n\nAdd.\n");
    stage.commit("docs: a kata");
    stage.recast(Cast::new());
    assert_eq!(stage.run(&["run", "--steps", "1"]).code, Some(4));
    assert_refused(&stage, "not-ready", "the machine is paused: the tester used up its attempts", 4);
    stage.ok(&["resume"]);
    assert_due(&stage);
}

#[test]
fn a_program_waits_for_the_run_and_for_the_program_that_are_at_work() {
    let stage = Stage::port();
    stage.ok(&["program", "new", "other", "--strategy", "default"]);
    let other =
        "## Goal\n\nBe short.\n\n## Target\n\n- `src/**`\n\n## Evaluation\n\n```bash\necho '{\"metric\": 1}'\n```\n";
    stage.sandbox.write(".autoloop/programs/other/program.md", other);
    stage.commit("chore: another program");
    stage.recast(cycle(&stage, 1));
    let mut run = stage.begin(&["program", "run", "other"]);
    let begun = || stage.events().iter().any(|event| event["type"] == "step_start");
    assert!(soon(begun));
    let pid = Pid::from_raw(i32::try_from(run.id()).unwrap());
    kill(pid, Signal::SIGSTOP).unwrap();
    let status = json(&stage, &["program", "status", "port"]);
    assert_eq!(status["standing"], "not-ready");
    assert_eq!(status["reason"], format!("another tdd-cli is running in this project (pid {})", run.id()));
    assert_eq!(stage.run(&["program", "run", "port"]).code, Some(3));
    run.kill().unwrap();
    run.wait().unwrap();
    let status = json(&stage, &["program", "status", "port"]);
    assert_eq!(status["reason"], "the program `other` has an unfinished iteration");
    let told = stage.run(&["program", "run", "port"]);
    assert_eq!(told.code, Some(2), "{}", told.stderr);
    assert!(told.stderr.contains("the program `other` has an unfinished iteration"), "{}", told.stderr);
}
