//! Two machines work on the same program, and push at the same time: what both did adds up, and nothing is lost.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::stage::{Source, Stage, implementor, soon, tester};

const RUN: [&str; 5] = ["program", "run", "port", "--remote", "origin"];

fn remote_state(stage: &Stage, url: &str) -> Value {
    serde_json::from_str(&stage.sandbox.git(&["-C", url, "show", "memory/autoloop:port.json"])).unwrap()
}

#[test]
fn a_push_that_comes_second_is_replayed_on_top_of_the_first() {
    let here = Stage::port();
    let url = here.share();
    let there = here.clone_of(&url);
    let source = Source::of(&here).with(1);
    let mut cast = tdd_fixtures::server::Cast::new();
    for _ in 0..2 {
        cast = implementor(tester(cast, 1, &source), 1, &source.code);
    }
    here.recast(cast);
    let mut second = there.begin(&RUN);
    let pid = Pid::from_raw(i32::try_from(second.id()).unwrap());
    assert!(soon(|| there.events().iter().any(|event| event["type"] == "iteration_start")));
    kill(pid, Signal::SIGSTOP).unwrap();
    here.ok(&RUN);
    let first = here.sandbox.git(&["-C", &url, "rev-parse", "memory/autoloop"]);
    kill(pid, Signal::SIGCONT).unwrap();
    assert!(second.wait().unwrap().success());
    let known = remote_state(&here, &url);
    assert_eq!((&known["iterations"], &known["metric"]["best"]), (&2.into(), &1.0.into()));
    let entries = known["history"]["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 2);
    assert_ne!(entries[0]["id"], entries[1]["id"]);
    assert_eq!(known["harness"]["entries"].as_array().unwrap().len(), 1);
    let tip = there.sandbox.git(&["rev-parse", "memory/autoloop"]);
    assert_eq!(there.sandbox.git(&["-C", &url, "rev-parse", "memory/autoloop"]), tip);
    let log = there.sandbox.git(&["rev-list", "--first-parent", "memory/autoloop"]);
    assert!(log.lines().any(|commit| commit == first.trim()), "the first one's commit is still there");
    assert_eq!(there.sandbox.git(&["rev-list", "--merges", "memory/autoloop"]), "");
}

#[test]
fn what_was_done_offline_is_brought_together_and_a_persons_commit_is_not_run_over() {
    let here = Stage::port();
    let url = here.share();
    let there = here.clone_of(&url);
    let (one, other) = ("the reference moves", "we are on holiday");
    here.ok(&["program", "pause", "port", "--reason", one, "--remote", "origin"]);
    there.ok(&["program", "pause", "port", "--reason", other]);
    there.ok(&["program", "resume", "port", "--remote", "origin"]);
    assert_eq!(remote_state(&here, &url)["pause"], Value::Null);
    let told = here.sandbox.git(&["-C", &url, "log", "--format=%s", "--reverse", "memory/autoloop"]);
    assert_eq!(told, "chore(port): paused\nchore(port): paused\nchore(port): resumed\n");

    here.ok(&["program", "pause", "port", "--reason", one]);
    let tree = there.sandbox.git(&["rev-parse", "memory/autoloop^{tree}"]);
    let theirs = there.sandbox.git(&["commit-tree", tree.trim(), "-p", "memory/autoloop", "-m", "a person's"]);
    there.sandbox.git(&["push", "-q", "origin", &format!("{}:refs/heads/memory/autoloop", theirs.trim())]);
    let tree = here.sandbox.git(&["rev-parse", "memory/autoloop^{tree}"]);
    let ours = here.sandbox.git(&["commit-tree", tree.trim(), "-p", "memory/autoloop", "-m", "another person's"]);
    here.sandbox.git(&["update-ref", "refs/heads/memory/autoloop", ours.trim()]);
    let told = here.run(&["program", "resume", "port", "--remote", "origin"]);
    assert_eq!(told.code, Some(4), "{}", told.stderr);
    assert!(told.stderr.contains("is a person's commit"), "{}", told.stderr);
    assert_eq!(here.sandbox.git(&["rev-parse", "memory/autoloop"]).trim(), ours.trim());
}
