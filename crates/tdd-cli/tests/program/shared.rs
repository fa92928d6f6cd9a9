//! Tests two machines that run the same program and push at the same time: both results count and none is lost.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use tdd_fixtures::server::Cast;

use crate::stage::{Source, Stage, implementor, soon, tester};

const RUN: [&str; 5] = ["program", "run", "port", "--remote", "origin"];

fn remote_state(stage: &Stage, url: &str) -> Value {
    serde_json::from_str(&stage.sandbox.git(&["-C", url, "show", "memory/autoloop:port.json"])).unwrap()
}

/// Starts an iteration on both machines with these answers; pauses `there` until `here` has finished.
fn race(here: &Stage, there: &Stage, cast: Cast) {
    here.recast(cast);
    let before = there.events().len();
    let mut second = there.begin(&RUN);
    let pid = Pid::from_raw(i32::try_from(second.id()).unwrap());
    assert!(soon(|| there.events()[before..].iter().any(|event| event["type"] == "iteration_start")));
    kill(pid, Signal::SIGSTOP).unwrap();
    here.ok(&RUN);
    kill(pid, Signal::SIGCONT).unwrap();
    assert!(second.wait().unwrap().success());
    for stage in [here, there] {
        assert_eq!(stage.sandbox.git(&["status", "--porcelain"]), "");
    }
}

/// The outcome and metric of each iteration on the remote, oldest first.
fn outcomes(stage: &Stage, url: &str) -> Vec<(String, Value)> {
    let known = remote_state(stage, url);
    let entries = known["history"]["entries"].as_array().unwrap().iter().rev();
    entries.map(|past| (past["outcome"].as_str().unwrap().to_owned(), past["metric"].clone())).collect()
}

#[test]
fn a_push_that_comes_second_is_replayed_on_top_of_the_first_and_accepted_only_if_it_is_better() {
    let here = Stage::port();
    let url = here.share();
    let there = here.clone_of(&url);
    let (source, head) = (Source::of(&here).with(1), here.sandbox.git(&["rev-parse", "HEAD"]));
    let cast = (0..2).fold(Cast::new(), |cast, _| implementor(tester(cast, 1, &source), 1, &source.code));
    race(&here, &there, cast);
    let known = remote_state(&here, &url);
    assert_eq!((&known["iterations"], &known["metric"]["best"]), (&2.into(), &1.0.into()));
    assert_eq!(outcomes(&here, &url), [("accepted".to_owned(), json!(1.0)), ("discarded".to_owned(), json!(1.0))]);
    let entries = known["history"]["entries"].as_array().unwrap();
    assert_ne!(entries[0]["id"], entries[1]["id"]);
    let why = entries[0]["summary"].as_str().unwrap();
    assert!(
        why.starts_with("another machine came first: the best metric is 1 now, and this iteration reached 1"),
        "{why}"
    );
    assert_eq!(known["harness"]["entries"].as_array().unwrap().len(), 1, "the first one's test is still pinned");
    assert_ne!(here.sandbox.git(&["rev-parse", "HEAD"]), head);
    assert_eq!(there.sandbox.git(&["rev-parse", "HEAD"]), head, "what is discarded leaves the branch");
    let kept = there.sandbox.git(&["for-each-ref", "--format=%(refname)", "refs/tdd/discarded/port"]);
    assert_eq!(kept.lines().count(), 1, "{kept}");
    let tip = there.sandbox.git(&["rev-parse", "memory/autoloop"]);
    assert_eq!(there.sandbox.git(&["-C", &url, "rev-parse", "memory/autoloop"]), tip);
    assert_eq!(there.sandbox.git(&["rev-list", "--merges", "memory/autoloop"]), "");
}

/// The default strategy: fewer lines are better.
const SHORTER: &str = "# shorter\n\n## Goal\n\nBe short.\n\n## Target\n\n- `src/lib.rs`\n\n## Evaluation\n\n```bash\n\
                       echo \"{\\\"metric\\\": $(wc -l < src/lib.rs)}\"\n```\n\nLower is better.\n";

/// A library with `add` in this many lines.
fn lines(n: usize) -> String {
    let comments = "/// It adds.\n".repeat(n - 4);
    format!("//! Adds.\n{comments}pub fn add(a: i64, b: i64) -> i64 {{\n    a + b\n}}\n")
}

#[test]
fn an_equal_metric_of_two_machines_is_an_improvement_only_once_and_a_better_one_is_accepted() {
    let here = Stage::bare();
    here.sandbox.write(".autoloop/programs/port/program.md", SHORTER);
    here.sandbox.write("src/lib.rs", lines(9));
    here.sandbox.write("tests/add.rs", "#[test]\nfn adds() {\n    assert_eq!(kata::add(1, 2), 3);\n}\n");
    here.commit("feat: add");
    let url = here.share();
    let there = here.clone_of(&url);
    let proposes = |cast: Cast, n: usize| cast.writes("refactorer", "src/lib.rs", &lines(n));
    race(&here, &there, proposes(proposes(Cast::new(), 7), 7));
    assert_eq!(outcomes(&here, &url), [("accepted".to_owned(), json!(7.0)), ("discarded".to_owned(), json!(7.0))]);
    assert_eq!((here.sandbox.read("src/lib.rs"), there.sandbox.read("src/lib.rs")), (lines(7), lines(9)));
    race(&here, &there, proposes(proposes(Cast::new(), 6), 5));
    let later: Vec<(String, Value)> = outcomes(&here, &url).split_off(2);
    assert_eq!(later, [("accepted".to_owned(), json!(6.0)), ("accepted".to_owned(), json!(5.0))]);
    assert_eq!(remote_state(&here, &url)["metric"]["best"], 5.0);
    assert_eq!((here.sandbox.read("src/lib.rs"), there.sandbox.read("src/lib.rs")), (lines(6), lines(5)));
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
    assert!(told.stderr.contains("does not rewrite the person's commit"), "{}", told.stderr);
    assert_eq!(here.sandbox.git(&["rev-parse", "memory/autoloop"]).trim(), ours.trim());
}
