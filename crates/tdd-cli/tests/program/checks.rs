//! Tests that nothing is accepted before the checks of its commit conclude, and that no model sees held-out files.

use std::fs;

use serde_json::json;
use tdd_fixtures::server::Cast;

use crate::stage::{PROGRAM, Source, Stage, cycle, implementor, tester};

#[test]
fn pending_is_a_state_until_the_checks_have_concluded() {
    let stage = Stage::bare();
    stage.add_program(&PROGRAM.replace("schedule: every 6h", "ci: \"cat ../checks\""));
    let say = |word: &str| fs::write(stage.sandbox.outside().join("checks"), word).unwrap();
    say("pending\n");
    assert_eq!(stage.iterate(cycle(&stage, 1)), "pending green 1.0 exit 0");
    assert_eq!(stage.state()["metric"]["best"], json!(null));
    assert!(stage.ok(&["program", "list"]).starts_with("pending port"));
    assert_eq!(stage.iterate(Cast::new()), "pending green 1.0 exit 0");
    assert_eq!(stage.state()["iterations"], 1);
    say("success\n");
    assert_eq!(stage.iterate(cycle(&stage, 2)), "accepted green 2.0 exit 0");
    assert_eq!(stage.state()["history"]["entries"][1]["outcome"], "accepted");
    say("pending\n");
    stage.iterate(cycle(&stage, 3));
    say("failure\n");
    assert_eq!(stage.run(&["program", "run", "port"]).code, Some(4));
    let known = stage.state();
    assert_eq!((&known["metric"]["best"], &known["history"]["entries"][0]["outcome"]), (&json!(2.0), &json!("error")));
    assert!(known["pause"]["reason"].as_str().unwrap().starts_with("ci-failed: "));
    say("who knows\n");
    stage.ok(&["program", "resume", "port"]);
    stage.recast(cycle(&stage, 4));
    assert_eq!(stage.run(&["program", "run", "port"]).code, Some(3), "what cannot be found out is no yes");
}

#[test]
fn no_model_sees_what_is_held_out_however_it_asks() {
    let stage = Stage::port();
    let secret = ".autoloop/programs/port/held-out/honest.sh";
    let source = Source::of(&stage).with(1);
    let asks = json!({"edits": [], "need": [secret, "src/lib.rs"]});
    let cast = implementor(tester(Cast::new().says("tester", &asks.to_string()), 1, &source), 1, &source.code);
    assert_eq!(stage.iterate(cast), "accepted green 1.0 exit 0");
    for request in stage.server.requests() {
        let text = request.body.to_string();
        assert!(!text.contains("grep -q cheat") && !text.contains("held_out"), "{text}");
        assert!(text.contains("Port the functions of the reference"));
        let prompt = match request.part() {
            "implementor" => "# Making it pass",
            "refactorer" => "# Refactoring, or not",
            _ => "# Writing the test",
        };
        assert!(text.contains(prompt), "{text}");
    }
}

#[test]
fn a_program_is_done_when_its_target_is_reached() {
    let stage = Stage::bare();
    stage.add_program(&PROGRAM.replace("schedule: every 6h", "target-metric: 1"));
    assert_eq!(stage.iterate(cycle(&stage, 1)), "accepted green 1.0 exit 0");
    assert_eq!(stage.state()["completed"], "the target 1 is reached with 1");
    assert!(stage.ok(&["program", "list"]).starts_with("done port"));
    assert_eq!(stage.run(&["program", "run", "--due"]).code, Some(1));
}

#[test]
fn a_rethink_that_comes_to_nothing_pauses_the_program() {
    let stage = Stage::port();
    for _ in 0..3 {
        assert_eq!(stage.iterate(Cast::new()), "error red null exit 0");
    }
    assert_eq!(stage.iterate(Cast::new()), "error rethink-test null exit 4");
    assert_eq!(stage.state()["pause"]["reason"], "td-error: 4 iterations in a row failed");
    assert_eq!(stage.run(&["program", "run", "port"]).code, Some(4));
    stage.ok(&["program", "resume", "port"]);
    assert_eq!(stage.iterate(cycle(&stage, 1)), "accepted green 1.0 exit 0");
}

#[test]
fn a_goal_that_the_tester_can_show_to_be_reached_ends_the_program() {
    let stage = Stage::port();
    stage.iterate(cycle(&stage, 1));
    let done = json!({"done": [{"requirement": "f1 adds 1", "test_id": "tests/ported.rs::t1"}]});
    let told = stage.iterate(Cast::new().edits("tester", &[], &done));
    assert_eq!(told, "accepted red null exit 0");
    assert_eq!(stage.state()["completed"], "the goal is reached: every requirement has a passing test");
    let lines = stage.ok(&["program", "run", "port", "--format", "json"]);
    assert_eq!(lines, "", "nothing is left to do");
}

#[test]
fn programs_read_a_run_as_json_lines() {
    let stage = Stage::port();
    stage.recast(cycle(&stage, 1));
    let lines = stage.ok(&["program", "run", "port", "--format", "json"]);
    let lines: Vec<serde_json::Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let last = lines.last().unwrap();
    assert_eq!(
        (&last["program"], &last["outcome"], &last["metric"]),
        (&json!("port"), &json!("accepted"), &json!(1.0))
    );
    assert!(lines.iter().any(|line| line["type"] == "iteration_judged"));
}

#[test]
fn the_history_says_which_phase_an_iteration_ended_with() {
    let stage = Stage::port();
    let code = Source::of(&stage).with(1).code;
    let tidied = code.replace("Adds 1.", "Adds one.");
    let refactored = cycle(&stage, 1).writes("refactorer", "src/lib.rs", &tidied);
    assert_eq!(stage.iterate(refactored), "accepted refactor 1.0 exit 0");
    assert_eq!(stage.sandbox.read("src/lib.rs"), tidied);
    assert_eq!(stage.iterate(cycle(&stage, 2)), "accepted green 2.0 exit 0");
    let wrong = Source::of(&stage).with(3).code.replace("x + 1", "x + 9");
    let undone = (1..=5).fold(cycle(&stage, 3), |cast, _| cast.writes("refactorer", "src/lib.rs", &wrong));
    assert_eq!(stage.iterate(undone), "accepted green 3.0 exit 0");
    let skipped = stage.state()["history"]["entries"][0]["summary"].as_str().unwrap().to_owned();
    assert!(skipped.ends_with("refactor: undone"), "{skipped}");
    assert_eq!(stage.iterate(Cast::new()), "error red null exit 0");
    assert!(stage.page().contains("- **phase**: green\n"), "{}", stage.page());
}

/// A program with this evaluation script.
fn measured_by(script: &str) -> String {
    let (before, rest) = PROGRAM.split_once("```bash\n").unwrap();
    let (_, after) = rest.split_once("```").unwrap();
    format!("{before}```bash\n{script}\n```{after}")
}

#[test]
fn a_claim_that_cannot_be_reproduced_is_not_accepted() {
    let stage = Stage::bare();
    let script = "count=$(git rev-parse --path-format=absolute --git-common-dir)/count\n\
                  echo x >> \"$count\"\n\
                  case $(wc -l < \"$count\") in 1) n=1;; 2) n=9;; *) n=0;; esac\n\
                  echo \"{\\\"metric\\\": $n, \\\"failing\\\": 0}\"";
    stage.add_program(&measured_by(script));
    let head = stage.sandbox.git(&["rev-parse", "HEAD"]);
    assert_eq!(stage.iterate(cycle(&stage, 1)), "discarded green 0.0 exit 0");
    let why = stage.state()["history"]["entries"][0]["summary"].as_str().unwrap().to_owned();
    assert!(why.starts_with("not reproduced: the metric went backwards, from 1 to 0"), "{why}");
    assert_eq!(stage.sandbox.git(&["rev-parse", "HEAD"]), head);
}

#[test]
fn what_a_script_says_counts_only_if_it_is_whole_and_clean() {
    for (script, expected) in [
        ("echo '{\"metric\": 5}'", "it does not say how many tests are `failing`"),
        ("echo '{\"metric\": 5, \"failing\": 2}'", "2 tests are failing"),
        ("echo '{\"metric\": 5, \"failing\": 0}'; exit 3", "it ended with exit 3"),
        ("test -e .tdd && exit 1; test -z \"$(git status --porcelain)\" && echo clean", "it printed no JSON object"),
    ] {
        let stage = Stage::bare();
        stage.add_program(&measured_by(script));
        let told = stage.iterate(cycle(&stage, 1));
        assert!(told.starts_with("discarded"), "{script}: {told}");
        let why = stage.state()["history"]["entries"][0]["summary"].as_str().unwrap().to_owned();
        assert!(why.contains(expected), "{script}: {why}");
    }
}
