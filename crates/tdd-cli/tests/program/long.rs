//! Tests a program over thirty iterations with a scripted model, through every kind of outcome.

use serde_json::{Value, json};
use tdd_fixtures::server::Cast;

use crate::stage::{Source, Stage, cycle, implementor, soon, tester};

const ACCEPTED: &str = "accepted green";

/// When to kill a run: after an event that matches.
type Moment = Box<dyn Fn(&Value) -> bool>;

#[test]
fn a_program_comes_through_thirty_iterations_with_everything_that_can_happen() {
    let stage = Stage::port();
    for k in 1..=4 {
        assert_eq!(stage.iterate(cycle(&stage, k)), format!("{ACCEPTED} {k}.0 exit 0"));
    }
    what_is_not_good_enough_is_discarded(&stage);
    what_is_against_the_rules_is_refused(&stage);
    three_errors_force_a_rethink(&stage);
    a_blocked_test_pauses_the_program(&stage);
    a_person_pauses_it_on_the_page(&stage);
    a_kill_in_any_phase_costs_nothing(&stage);
    the_rest_runs_by_itself(&stage);
    assert_eq!(stage.state()["iterations"], 30);
    assert_never_backwards(&stage);
    insta::with_settings!({filters => [
        (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "<time>"),
        (r"\b[0-9a-f]{40}\b", "<commit>"),
    ]}, { insta::assert_snapshot!("the_page_after_thirty_iterations", stage.page()) });
}

/// Iterations 5 to 8: a worse metric and a failing held-out check are discarded; a correct change follows each.
fn what_is_not_good_enough_is_discarded(stage: &Stage) {
    for (k, bad) in [(5, "// slow\n"), (6, "// cheat\n")] {
        let source = Source::of(stage).with(k);
        let (head, code) = (stage.sandbox.git(&["rev-parse", "HEAD"]), source.code.clone() + bad);
        let told = stage.iterate(implementor(tester(Cast::new(), k, &source), k, &code));
        assert!(told.starts_with("discarded green"), "{told}");
        assert_eq!(stage.sandbox.git(&["rev-parse", "HEAD"]), head, "the branch is where it was");
        let kept = stage.sandbox.git(&["for-each-ref", "--format=%(refname)", "refs/tdd/discarded/port"]);
        assert_eq!(kept.lines().count(), usize::try_from(k - 4).unwrap(), "{kept}");
        assert_eq!(stage.iterate(cycle(stage, k)), format!("{ACCEPTED} {k}.0 exit 0"));
    }
    let why = |at: usize| stage.state()["history"]["entries"][at]["summary"].as_str().unwrap().to_owned();
    assert!(why(3).starts_with("the metric went backwards, from 4 to 0"), "{}", why(3));
    assert!(why(1).starts_with("held-out check 1 fails, while the metric went from 5 to 6"), "{}", why(1));
}

/// Iterations 9 and 10: edits outside of the target files, and changes of older tests.
fn what_is_against_the_rules_is_refused(stage: &Stage) {
    let source = Source::of(stage).with(7);
    let outside = Cast::new().edits("tester", &[("notes/plan.md", Some("x"))], &json!({}));
    let into_the_folder =
        outside.edits("tester", &[(".autoloop/programs/port/held-out/honest.sh", Some(""))], &json!({}));
    assert_eq!(
        stage.iterate(implementor(tester(into_the_folder, 7, &source), 7, &source.code)),
        format!("{ACCEPTED} 7.0 exit 0")
    );
    let refused: Vec<Value> = stage.events().into_iter().filter(|event| event["type"] == "edit_refused").collect();
    let rules: Vec<&str> = refused.iter().filter_map(|event| event["rule"].as_str()).collect();
    assert_eq!(rules, ["target-fence", "protected-path"]);
    let source = Source::of(stage).with(8);
    let broken = source.code.replace("x + 1\n", "x + 9\n");
    let cast = implementor(tester(Cast::new(), 8, &source), 8, &broken);
    assert_eq!(stage.iterate(implementor(cast, 8, &source.code)), format!("{ACCEPTED} 8.0 exit 0"));
    let status = &stage.state()["history"]["entries"][0]["existing_tests_status"];
    assert_eq!(status, "regression-introduced-and-fixed");
}

/// Iterations 11 to 14: the tester fails three times; the fourth time its prompt asks for a rethink.
fn three_errors_force_a_rethink(stage: &Stage) {
    for _ in 0..3 {
        assert_eq!(stage.iterate(Cast::new()), "error red null exit 0");
    }
    let asked = stage.server.requests().len();
    assert_eq!(stage.iterate(cycle(stage, 9)), format!("{ACCEPTED} 9.0 exit 0"));
    let told = |at: usize| stage.server.requests()[at].body.to_string().contains("## Think again");
    assert!(told(asked) && !told(asked - 1));
}

/// Iteration 15: five failed attempts with a rethink before the fourth, then a pause. 16: continues without that test.
fn a_blocked_test_pauses_the_program(stage: &Stage) {
    let source = Source::of(stage).with(10);
    let wrong = source.code.replace("x + 10\n", "x - 10\n");
    let mut cast = tester(Cast::new(), 10, &source);
    for _ in 0..5 {
        cast = implementor(cast, 10, &wrong);
    }
    let stays = json!({"reason": "the reference says so", "spec_source": "reference/f10.py"});
    assert_eq!(stage.iterate(cast.edits("rethink", &[], &stays)), "blocked green null exit 4");
    let known = stage.state();
    assert_eq!(known["pause"]["reason"], "td-stuck: tests/ported.rs::t10");
    assert_eq!(known["harness"]["entries"][0]["status"], "blocked");
    assert_stands_still(stage);
    assert!(stage.ok(&["program", "list"]).starts_with("blocked port: 15 iterations, best 9: td-stuck"));
    stage.ok(&["resume", "--skip"]);
    assert_stands_still(stage);
    stage.ok(&["program", "resume", "port"]);
    assert_eq!(stage.iterate(cycle(stage, 11)), format!("{ACCEPTED} 11.0 exit 0"));
}

/// A person pauses and resumes the program by editing its page.
fn a_person_pauses_it_on_the_page(stage: &Stage) {
    let page = stage.page();
    edit_page(stage, &page.replace("| Paused | false |", "| Paused | true |"));
    assert_stands_still(stage);
    assert_eq!(stage.run(&["program", "run", "--due"]).code, Some(1));
    let steered = page.replace("*None.*", "Small numbers first.");
    edit_page(stage, &steered);
    assert_eq!(stage.iterate(cycle(stage, 12)), format!("{ACCEPTED} 12.0 exit 0"));
    assert!(stage.page().contains("Small numbers first."));
    assert!(stage.server.requests().last().unwrap().body.to_string().contains("Small numbers first."));
}

/// Iterations 18 to 24: each is killed once, at a different event, and still succeeds.
fn a_kill_in_any_phase_costs_nothing(stage: &Stage) {
    let begun = |phase: &'static str| move |event: &Value| event["type"] == "step_start" && event["phase"] == phase;
    let of = |kind: &'static str| move |event: &Value| event["type"] == kind;
    let measured = |event: &Value| event["type"] == "step_end" && event["role"] == "refactorer";
    let moments: [Moment; 7] = [
        Box::new(of("iteration_start")),
        Box::new(begun("red")),
        Box::new(begun("green")),
        Box::new(of("edit_applied")),
        Box::new(begun("refactor")),
        Box::new(measured),
        Box::new(of("iteration_judged")),
    ];
    for (k, moment) in (13..).zip(moments) {
        let source = Source::of(stage).with(k);
        let mut cast = Cast::new();
        for _ in 0..3 {
            cast = implementor(tester(cast, k, &source), k, &source.code);
        }
        stage.recast(cast.clone());
        let before = stage.events().len();
        let mut child = stage.begin(&["program", "run", "port"]);
        assert!(soon(|| stage.events()[before..].iter().any(&moment)));
        child.kill().unwrap();
        child.wait().unwrap();
        // A kill at the last event may come too late.
        let over = stage.events()[before..].iter().any(|event| event["type"] == "iteration_end");
        let told = if over { stage.last() } else { stage.iterate(cast) };
        assert!(told.starts_with(&format!("{ACCEPTED} {k}.0")), "{told}");
        assert_eq!(stage.state()["iterations"], k + 5);
    }
}

/// Iterations 25 to 30, in one run.
fn the_rest_runs_by_itself(stage: &Stage) {
    let mut source = Source::of(stage);
    let mut cast = Cast::new();
    for k in 20..=25 {
        source = source.with(k);
        cast = implementor(tester(cast, k, &source), k, &source.code);
    }
    stage.recast(cast);
    let told = stage.ok(&["program", "run", "port", "--iterations", "6"]);
    assert_eq!(told.matches("port: accepted").count(), 6, "{told}");
}

/// Asserts that a run changes nothing and exits with 4.
#[track_caller]
fn assert_stands_still(stage: &Stage) {
    let (head, count) = (stage.sandbox.git(&["rev-parse", "HEAD"]), stage.state()["iterations"].clone());
    assert_eq!(stage.run(&["program", "run", "port"]).code, Some(4));
    assert_eq!((stage.sandbox.git(&["rev-parse", "HEAD"]), &stage.state()["iterations"]), (head, &count));
}

/// Asserts that the best metric never gets worse in the history of the memory branch.
fn assert_never_backwards(stage: &Stage) {
    let commits = stage.sandbox.git(&["rev-list", "--reverse", "memory/autoloop"]);
    let mut best = f64::MIN;
    for commit in commits.lines() {
        let json = stage.sandbox.git(&["show", &format!("{commit}:port.json")]);
        let known: Value = serde_json::from_str(&json).unwrap();
        let now = known["metric"]["best"].as_f64().unwrap_or(f64::MIN);
        assert!(now >= best, "{commit}: from {best} to {now}");
        best = now;
    }
}

/// Commits a person's change of the page, from a separate worktree.
fn edit_page(stage: &Stage, page: &str) {
    let folder = stage.sandbox.outside().join("memory");
    let folder = folder.to_str().unwrap();
    stage.sandbox.git(&["worktree", "add", "-q", folder, "memory/autoloop"]);
    std::fs::write(format!("{folder}/port.md"), page).unwrap();
    stage.sandbox.git(&["-C", folder, "commit", "-qam", "a person's word"]);
    stage.sandbox.git(&["worktree", "remove", "--force", folder]);
}
