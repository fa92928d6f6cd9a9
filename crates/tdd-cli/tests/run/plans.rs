//! Tests plans: a cycle for each step with a test, refactor mode for the others, and the final check of truths.

use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use tdd_fixtures::processes::{processes_in, soon};
use tdd_fixtures::script::Script;
use tdd_fixtures::server::{Cast, Reply};

use crate::kata::{CODE_FILE, TEST_FILE, code, id, test, tests};
use crate::stage::{Stage, Told};

const NOTES: &str = "NOTES.md";

/// A plan of this type with these truths and steps.
fn plan(kind: &str, truths: &[&str], steps: &str) -> String {
    let truths = truths.iter().fold(String::new(), |text, truth| text + &format!("    - \"{truth}\"\n"));
    format!(
        "---\nphase: 5\nplan: 1\ntype: {kind}\nmust_haves:\n  truths:\n{truths}  artifacts: [{CODE_FILE}]\n---\n{steps}"
    )
}

/// A plan step for a cycle's test.
fn step(cycle: usize) -> String {
    let id = id(cycle);
    format!("{cycle}. Cycle {cycle}\n   - test_id: {id}\n   - test_file_path: {TEST_FILE}\n")
}

fn two_cycles() -> Cast {
    (1..=2).fold(Cast::new(), |cast, cycle| {
        cast.writes("tester", TEST_FILE, &tests(cycle)).writes("implementor", CODE_FILE, &code(cycle))
    })
}

/// A stage with a committed plan.
fn staged(cast: Cast, settings: &str, plan: &str) -> Stage {
    let stage = Stage::with(cast, settings);
    stage.sandbox.write("plans/05-01.md", plan);
    stage.commit("docs: a plan");
    stage
}

/// The plan marks in all commit bodies, oldest first.
fn marks(stage: &Stage) -> Vec<String> {
    let bodies = stage.sandbox.git(&["log", "--reverse", "--format=%b"]);
    bodies.lines().filter(|line| line.starts_with("[phase-")).map(str::to_owned).collect()
}

const RUN: [&str; 3] = ["plan", "run", "plans/05-01.md"];

#[test]
fn each_step_with_a_test_is_one_cycle_and_its_commits_carry_its_mark() {
    let truth = format!("Numbers are added ({}).", id(2));
    let text = plan("tdd", &[&truth], &(step(1) + &step(2)));
    // The tester first writes another test, and is told which one to write.
    let other = tests(1).replace("an_empty_text_is_zero", "nothing_is_zero");
    let cast = Cast::new().writes("tester", TEST_FILE, &other);
    let cast = (1..=2).fold(cast, |cast, cycle| {
        cast.writes("tester", TEST_FILE, &tests(cycle)).writes("implementor", CODE_FILE, &code(cycle))
    });
    let stage = staged(cast, "", &text);
    stage.check(
        &RUN,
        "
        resynced at 0
        1 red
          refused one-behaviour
          test: do it
        2 green
          feat: do it
        3 refactor
          nothing
        [second cycle]
        end: 2 tasks done, and all that they promised is proven
        exit 0
    ",
    );
    let mark = |task: u32| format!("[phase-05/plan-01/task-{task:02}]");
    assert_eq!(marks(&stage), [mark(1), mark(1), mark(2), mark(2)]);
    let requests = stage.server.requests();
    assert!(requests[0].message(1).contains(&format!("The test of this task is `{}`", id(1))));
    assert!(requests[1].last().contains(&format!("Write the test `{}`", id(1))), "{}", requests[1].last());
    // The plan is done, so no model is asked again.
    let asked = requests.len();
    stage.check(&RUN, "end: 2 tasks done, and all that they promised is proven\nexit 0");
    assert_eq!(stage.server.requests().len(), asked);
    let audit = stage.run(&["audit"]);
    assert_eq!(audit.code, Some(0), "{}", audit.stdout);
}

#[test]
fn truths_without_a_passing_test_and_missing_files_are_named_to_a_person() {
    let text = plan("tdd", &["It shines."], &step(1)).replace(CODE_FILE, "src/login.rs");
    let stage = staged(two_cycles(), "", &text);
    stage.check(
        &RUN,
        "
        [first cycle]
        end: 1 task done, but `src/login.rs` is missing; \"It shines.\" is unproven: it names no test
        exit 4
    ",
    );
}

/// A step without a test.
const FREE: &str = "1. Write notes\n";

#[test]
fn a_step_without_a_test_runs_in_refactor_mode_and_keeps_nothing_that_does_not_pass() {
    let wrong = code(1).replace("    0\n", "    7\n");
    let said = json!({"summary": "do it"});
    let all = [(CODE_FILE, Some(code(2))), (TEST_FILE, Some(tests(2))), (NOTES, Some("It adds.\n".to_owned()))];
    let all: Vec<(&str, Option<&str>)> = all.iter().map(|(path, text)| (*path, text.as_deref())).collect();
    let cast = Cast::new()
        .edits("executor", &[(CODE_FILE, Some(&wrong)), (NOTES, Some("x\n"))], &said)
        .edits("executor", &[("plans/05-01.md", Some("x\n"))], &said)
        .edits("executor", &[(TEST_FILE, None)], &said)
        .edits("executor", &all, &said);
    let stage = staged(cast, "", &plan("tdd", &[&id(2)], FREE));
    stage.commit_first_cycle();
    stage.check(
        &RUN,
        "
        [first task breaks a test]
          refused protected-path
          refused tests-frozen
          refactor: do it
        end: 1 task done, and all that it promised is proven
        exit 0
    ",
    );
    assert_eq!(stage.sandbox.read(NOTES), "It adds.\n");
}

fn typed(stage: &Stage, name: &str) -> Vec<Value> {
    stage.events().into_iter().filter(|event| event["type"] == name).collect()
}

#[test]
fn an_execute_plan_is_on_the_record_as_refactor_mode() {
    let files = [(CODE_FILE, Some(code(2))), (TEST_FILE, Some(tests(2))), (NOTES, Some("It adds.\n".to_owned()))];
    let files: Vec<(&str, Option<&str>)> = files.iter().map(|(path, text)| (*path, text.as_deref())).collect();
    let cast = Cast::new().writes("executor", CODE_FILE, &code(2).replace("i64", "Never")).edits(
        "executor",
        &files,
        &json!({"summary": "do it"}),
    );
    let text = plan("execute", &[&id(2)], "1. Write it all\n2. Rest\n");
    let stage = staged(cast.edits("executor", &[], &json!({"summary": "it is there"})), "", &text);
    stage.check(
        &RUN,
        "
        resynced at 0
        1 refactor
          undone others-kept unrelated-compile-error
          refactor: do it
        2 refactor
          nothing
        end: 2 tasks done, and all that they promised is proven
        exit 0
    ",
    );
    let begun = typed(&stage, "refactor_begin");
    assert_eq!(begun[0]["mark"], "[phase-05/plan-01/task-01]");
    let ended: Vec<bool> = typed(&stage, "refactor_end").iter().map(|end| end["kept"] == true).collect();
    assert_eq!(ended, [true, false]);
    let message = stage.sandbox.git(&["log", "-1", "--format=%B"]);
    assert!(
        message.contains("\n[phase-05/plan-01/task-01]\n") && message.contains("\nTDD-Mode: execute\n"),
        "{message}"
    );
    assert_eq!(stage.run(&["audit"]).code, Some(0));
    // The ledger knows that the task needed no change.
    let asked = stage.server.requests().len();
    stage.check(&RUN, "end: 2 tasks done, and all that they promised is proven\nexit 0");
    assert_eq!(stage.server.requests().len(), asked);
}

#[test]
fn with_the_test_gate_off_failing_tests_are_information_to_a_task_and_an_obligation_to_the_cycle() {
    let wrong = code(1).replace("    0\n", "    7\n");
    let stage = |settings: &str| {
        let cast = Cast::new().writes("executor", CODE_FILE, &wrong).writes("implementor", CODE_FILE, &code(1));
        let text = plan("execute", &[&id(1)], FREE);
        let stage = staged(cast, &format!("max_attempts_per_agent: 1\n{settings}"), &text);
        stage.commit_first_cycle();
        stage
    };
    let strict = stage("").story_of(&RUN);
    assert!(strict.contains("undone others-kept"), "{strict}");
    assert!(strict.contains("paused [phase-05/plan-01/task-01] used up its attempts"), "{strict}");
    assert!(strict.ends_with("exit 4\n"), "{strict}");
    let loose = stage("gate: { test_gate: false }");
    let told = loose.story_of(&RUN);
    assert!(told.contains("refactor: do it"), "{told}");
    assert!(told.ends_with(&format!("is unproven: `{}` does not pass\nexit 4\n", id(1))), "{told}");
    loose.check(
        &["run", "--steps", "1"],
        "
        2 green
          feat: do it
        end: 1 step done
        exit 0
    ",
    );
}

#[test]
fn with_the_test_gate_off_a_tdd_plan_still_keeps_no_failing_test() {
    let wrong = code(1).replace("    0\n", "    7\n");
    let red = [(TEST_FILE, Some(tests(2))), (NOTES, Some("x\n".to_owned()))];
    let red: Vec<(&str, Option<&str>)> = red.iter().map(|(path, text)| (*path, text.as_deref())).collect();
    let cast = Cast::new()
        .writes("executor", CODE_FILE, &wrong)
        .edits("executor", &red, &json!({"summary": "do it"}))
        .writes("executor", NOTES, "It adds.\n")
        .writes("tester", TEST_FILE, &tests(2))
        .writes("implementor", CODE_FILE, &code(2).replace("unwrap_or(0)", "unwrap_or(9)"))
        .writes("implementor", CODE_FILE, &code(2));
    let steps = FREE.to_owned() + &step(2);
    let stage = staged(cast, "gate: { test_gate: false }", &plan("tdd", &[&id(2)], &steps));
    stage.commit_first_cycle();
    stage.check(
        &RUN,
        "
        [first task breaks a test]
          undone others-kept unrelated-failure
          refactor: do it
        2 red
          test: do it
        3 green
          undone others-kept unrelated-failure
          feat: do it
        4 refactor
          nothing
        end: 2 tasks done, and all that they promised is proven
        exit 0
    ",
    );
    assert_eq!(stage.run(&["audit"]).code, Some(0));
}

#[test]
fn a_task_that_failed_is_not_done_because_the_next_answer_has_no_edits() {
    let wrong = code(1).replace("    0\n", "    7\n");
    let nothing = |cast: Cast| cast.edits("executor", &[], &json!({"summary": "it is there"}));
    let cast = nothing(Cast::new().writes("executor", CODE_FILE, &wrong));
    let stage = staged(cast, "max_attempts_per_agent: 2", &plan("execute", &[], FREE));
    stage.commit_first_cycle();
    let told = stage.story_of(&RUN);
    assert!(told.contains("undone others-kept unrelated-failure\n  undone edit-applies\n"), "{told}");
    assert!(told.contains("paused [phase-05/plan-01/task-01] used up its attempts"), "{told}");
    assert!(told.ends_with("exit 4\n"), "{told}");
    assert_eq!(stage.run(&["resume"]).code, Some(0));
    stage.recast(nothing(nothing(Cast::new())));
    let told = stage.story_of(&RUN);
    assert!(told.contains("undone edit-applies\n  undone edit-applies\n") && told.ends_with("exit 4\n"), "{told}");
    assert_eq!(stage.run(&["resume"]).code, Some(0));
    stage.recast(Cast::new().writes("executor", NOTES, "It adds.\n"));
    let told = stage.story_of(&RUN);
    assert!(told.ends_with("end: 1 task done, and all that it promised is proven\nexit 0\n"), "{told}");
}

/// The goals in the commits of a plan.
fn goals(stage: &Stage) -> Vec<String> {
    let bodies = stage.sandbox.git(&["log", "--reverse", "--format=%b"]);
    bodies.lines().filter_map(|line| line.strip_prefix("- Kata goal: ")).map(str::to_owned).collect()
}

#[test]
fn the_commits_of_a_plan_say_in_one_sentence_what_the_plan_is_for() {
    let files = "<context>\n@docs/PROJECT.md\n@src/lib.rs\n</context>\n\n";
    let objective = "# Phase 5, plan 1\n\n<objective>\nA till adds the numbers\nof a text. More comes later.\n\
                     Purpose: to be paid.\n</objective>\n\n";
    let section = "src/lib.rs holds it.\n\n## Goal\n\nA till adds the numbers of a text. More.\n\n## Steps\n\n";
    let title = "# A till adds the numbers of a text.\n\n";
    for head in [files.to_owned() + objective, files.to_owned() + section, files.to_owned() + title] {
        let stage = staged(two_cycles(), "", &plan("tdd", &[], &(head + &step(1))));
        assert_eq!(stage.run(&RUN).code, Some(0));
        assert_eq!(goals(&stage), ["A till adds the numbers of a text."; 2]);
    }
}

#[test]
fn a_plan_that_was_cut_short_goes_on_where_it_was() {
    let text = plan("tdd", &[&id(2)], &(step(1) + "2. Write notes\n" + &step(2).replace("2. ", "3. ")));
    // The first test is never implemented, so the run stops within its cycle.
    let stage = staged(Cast::new().writes("tester", TEST_FILE, &tests(1)), "max_attempts_per_agent: 1", &text);
    let told = stage.story_of(&RUN);
    assert!(told.contains("td-stuck") && told.ends_with("exit 4\n"), "{told}");
    assert_eq!(stage.run(&["resume"]).code, Some(0));
    stage.recast(
        Cast::new()
            .writes("implementor", CODE_FILE, &code(1))
            .writes("executor", NOTES, "It adds.\n")
            .writes("tester", TEST_FILE, &tests(2))
            .writes("implementor", CODE_FILE, &code(2)),
    );
    // Without `.tdd`, like a fresh clone.
    std::fs::remove_dir_all(stage.path(".tdd")).unwrap();
    stage.check(
        &RUN,
        "
        resynced at 1
        2 green
          feat: do it
        3 refactor
          nothing
        4 refactor
          refactor: do it
        5 red
          test: do it
        6 green
          feat: do it
        7 refactor
          nothing
        end: 3 tasks done, and all that they promised is proven
        exit 0
    ",
    );
    let tasks: Vec<String> = marks(&stage).iter().map(|mark| mark[mark.len() - 3..mark.len() - 1].to_owned()).collect();
    assert_eq!(tasks, ["01", "01", "02", "03", "03"]);
}

#[test]
fn the_plans_of_a_folder_run_by_their_waves() {
    let second = plan("tdd", &[], &step(2)).replace("plan: 1\n", "plan: 2\nwave: 2\n").replace("2. C", "1. C");
    let stage = staged(two_cycles(), "", &second);
    stage.sandbox.write("plans/05-02.md", plan("tdd", &[], &step(1)));
    stage.sandbox.write("plans/notes.md", "# Notes\n");
    stage.commit("docs: another plan");
    let told = stage.run(&["plan", "run", "plans"]);
    assert_eq!(told.code, Some(0), "{}{}", told.stdout, told.stderr);
    assert!(marks(&stage)[0].contains("plan-01") && marks(&stage)[2].contains("plan-02"), "{:?}", marks(&stage));
}

#[test]
fn a_plan_that_cannot_run_is_refused_with_a_way_out() {
    let stage = staged(Cast::new(), "", &plan("tdd", &[], "1. One\n   - test_id: tests/a.rs::a\n"));
    let told = stage.run(&RUN);
    assert_eq!(told.code, Some(2), "{}", told.stdout);
    assert!(told.stderr.contains("add `test_file_path: tests/a.rs`"), "{}", told.stderr);
    stage.sandbox.write("plans/05-01.md", plan("tdd", &[], &step(1)));
    let told = stage.command(&RUN).output().unwrap();
    assert_eq!(told.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&told.stderr).contains("plans/05-01.md"));
    stage.commit("docs: mend the plan");
    assert_eq!(stage.run(&["refactor", "begin"]).code, Some(0));
    let told = stage.run(&RUN);
    assert!(told.code == Some(2) && told.stderr.contains("refactor mode is on"), "{}", told.stderr);
    assert!(stage.server.requests().is_empty());
}

#[test]
fn a_test_that_keeps_passing_at_once_is_named_to_a_person() {
    let present = tests(1) + &test("also_zero", "add(\"\"), 0");
    let cast = (1..=3).fold(Cast::new(), |cast, _| cast.writes("tester", TEST_FILE, &present));
    let steps = step(1).replace("an_empty_text_is_zero", "also_zero");
    let stage = staged(cast, "", &plan("tdd", &[], &steps));
    stage.commit_first_cycle();
    let told = stage.story_of(&RUN);
    assert!(told.contains("passed at once 3 times: is its behaviour implemented already?"), "{told}");
    assert!(told.ends_with("exit 4\n"), "{told}");
}

#[test]
fn a_plan_that_is_interrupted_puts_the_task_back_and_goes_on_with_it() {
    let cast = || Cast::new().writes("executor", NOTES, "It adds.\n");
    let wait = "ci.verify_cmd: [sh, -c, \"test -e ../go || sleep 60\"]";
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let stage = staged(cast(), wait, &plan("execute", &[], FREE));
        let run = stage.begin(&RUN);
        let verifies = || processes_in(&stage.sandbox.project()).iter().any(|line| line.starts_with("sleep"));
        assert!(soon(Duration::from_mins(1), verifies), "it never came to that");
        kill(Pid::from_raw(i32::try_from(run.id()).unwrap()), signal).unwrap();
        let told = Told::of(run.wait_with_output().unwrap());
        assert_eq!(told.code, Some(130), "{}{}", told.stdout, told.stderr);
        assert!(
            told.stdout.ends_with("next: run the command again: it continues where it stopped\n"),
            "{}",
            told.stdout
        );
        stage.assert_sound();
        assert!(!stage.path(NOTES).exists());
        std::fs::write(stage.sandbox.outside().join("go"), "").unwrap();
        stage.recast(cast());
        let told = stage.run(&RUN);
        assert_eq!(told.code, Some(0), "{}{}", told.stdout, told.stderr);
    }
}

#[test]
fn a_task_that_was_killed_with_its_edits_on_the_disk_is_undone_and_done_again() {
    let cast = || Cast::new().writes("executor", NOTES, "It adds.\n");
    let wait = "ci.verify_cmd: [sh, -c, \"test -e ../go || sleep 60\"]";
    let stage = staged(cast(), wait, &plan("execute", &[], FREE));
    let mut run = stage.begin(&RUN);
    let verifies = || !processes_in(&stage.sandbox.project()).iter().all(|line| !line.starts_with("sleep"));
    assert!(soon(Duration::from_mins(1), verifies), "it never came to that");
    assert!(stage.path(NOTES).exists());
    run.kill().unwrap();
    run.wait().unwrap();
    assert!(soon(Duration::from_secs(5), || processes_in(stage.sandbox.outside()).is_empty()));
    std::fs::write(stage.sandbox.outside().join("go"), "").unwrap();
    stage.recast(cast());
    stage.check(
        &RUN,
        "
          undone it was cut short (free)
        1 refactor
          refactor: do it
        end: 1 task done, and all that it promised is proven
        exit 0
    ",
    );
    let ended: Vec<bool> = typed(&stage, "refactor_end").iter().map(|end| end["kept"] == true).collect();
    assert_eq!(ended, [false, true]);
    assert_eq!(typed(&stage, "refactor_end")[1]["verified_by"], "sh -c 'test -e ../go || sleep 60'");
}

/// The result of a plan: every commit's subject, mark and trailers, and the resulting trees.
fn left_by(stage: &Stage) -> (String, String) {
    let log = stage.sandbox.git(&["log", "--reverse", "--format=%s %(trailers:separator=%x20)"]);
    (log + &marks(stage).join("\n"), stage.sandbox.git(&["rev-parse", "HEAD:src", "HEAD:tests", "HEAD:NOTES.md"]))
}

#[test]
fn a_plan_that_is_killed_again_and_again_comes_to_the_same_end() {
    let script = Script::new()
        .writes("1-tester", TEST_FILE, &tests(1))
        .writes("2-implementor", CODE_FILE, &code(1))
        .rests("3-refactorer")
        .writes("4-executor", NOTES, "It adds.\n")
        .writes("5-tester", TEST_FILE, &tests(2))
        .writes("6-implementor", CODE_FILE, &code(2))
        .rests("7-refactorer");
    let text = plan("tdd", &[&id(2)], &(step(1) + "2. Write notes\n" + &step(2).replace("2. ", "3. ")));
    let set_up = || {
        let stage = staged(Cast::new(), "", &text);
        std::fs::write(stage.sandbox.outside().join("script.jsonl"), script.cassette()).unwrap();
        stage
    };
    let run = [&RUN[..], &["--replay", "../script.jsonl"]].concat();
    let whole = set_up();
    assert_eq!(whole.run(&run).code, Some(0));
    let stage = set_up();
    for more in (1..=5).cycle().take(15) {
        let before = stage.events_so_far();
        let mut child = stage.begin(&run);
        let is_over = |child: &mut std::process::Child| child.try_wait().unwrap().is_some();
        while stage.events_so_far() < before + more && !is_over(&mut child) {
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(soon(Duration::from_secs(5), || processes_in(stage.sandbox.outside()).is_empty()));
    }
    assert_eq!(stage.run(&run).code, Some(0));
    assert_eq!(left_by(&stage), left_by(&whole));
}

#[test]
fn each_step_with_a_test_has_a_dot_in_plan_run_and_in_status() {
    let text = plan("tdd", &[], &(step(1) + &step(2) + &step(3) + "4. Write it down\n"));
    let refused = Reply::Status { code: 402, headers: String::new(), body: "no credit is left".to_owned() };
    let cast = Cast::new()
        .writes("tester", TEST_FILE, &tests(1))
        .writes("implementor", CODE_FILE, &code(1))
        .writes("tester", TEST_FILE, &tests(2))
        .replies("implementor", refused);
    let stage = staged(cast, "", &text);
    let before: Value = serde_json::from_str(&stage.run(&["status", "--format", "json"]).stdout).unwrap();
    let dots = |status: &Value| -> Vec<String> {
        status["plan_steps"].as_array().unwrap().iter().map(|step| step["state"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(dots(&before), ["not-yet", "not-yet", "not-yet"]);
    let told = stage.run(&RUN);
    assert_eq!(told.code, Some(3), "{}{}", told.stdout, told.stderr);
    let line = |state: &str, cycle: usize| format!("{state:<9}  {cycle}. Cycle {cycle} ({})\n", id(cycle));
    let shown: Vec<String> =
        told.stdout.lines().filter(|line| line.contains(". Cycle")).map(|line| format!("{}\n", line.trim())).collect();
    let expected = [
        line("○ not yet", 1),
        line("○ not yet", 2),
        line("○ not yet", 3),
        line("● red", 1),
        line("● green", 1),
        line("● red", 2),
    ];
    assert_eq!(shown, expected, "{}", told.stdout);
    let status = stage.run(&["status"]).stdout;
    assert!(
        status.contains(
            &[line("● green", 1), line("● red", 2), line("○ not yet", 3)].map(|line| format!("  {line}")).concat()
        ),
        "{status}"
    );
    assert!(!status.contains("Write it down") && !status.contains('\u{1b}'), "{status}");
    assert!(stage.run(&["status", "--color", "always"]).stdout.contains("\u{1b}[32m● green"));
    let status: Value = serde_json::from_str(&stage.run(&["status", "--format", "json"]).stdout).unwrap();
    assert_eq!(dots(&status), ["green", "red", "not-yet"]);
    let first = json!({"plan": "plans/05-01.md", "step": 1, "title": "Cycle 1", "test_id": id(1), "state": "green"});
    assert_eq!(status["plan_steps"][0], first);
}

#[test]
fn programs_read_the_states_of_a_plans_steps_at_its_end() {
    let stage = staged(two_cycles(), "", &plan("tdd", &[], &(step(1) + &step(2))));
    let told = stage.run(&[&RUN[..], &["--format", "json"]].concat());
    assert_eq!(told.code, Some(0), "{}{}", told.stdout, told.stderr);
    let last: Value = serde_json::from_str(told.stdout.lines().last().unwrap()).unwrap();
    let green = |cycle: usize| json!({"plan": "plans/05-01.md", "step": cycle, "title": format!("Cycle {cycle}"), "test_id": id(cycle), "state": "green"});
    assert_eq!(last, json!({"type": "plan_steps", "steps": [green(1), green(2)]}));
}
