//! A whole run, played with scripted commands.

use super::*;
use crate::fixture::memory;

use tdd_core::command::{Captured, Exit};

fn said(exit: Exit, stdout: &str, stderr: &str) -> Finished {
    let (stdout, stderr) = (Captured::whole(stdout), Captured::whole(stderr));
    Finished { folder: "/r".to_owned(), ..Finished::new(exit, stdout, stderr) }
}

fn begun(command: &str, selection: Selection) -> Box<dyn Suite> {
    let project = Project { root: String::new(), description: String::new() };
    let test_cmd = Some(command.split(' ').map(str::to_owned).collect());
    begin(&project, &Settings { test_cmd, ..Settings::default() }, selection).unwrap()
}

/// Plays a run with these answers, batch by batch; returns all commands and the report.
fn play(command: &str, selection: Selection, answers: Vec<Vec<Finished>>) -> (Vec<String>, Report) {
    let sources =
        memory(&[("Cargo.toml", ""), ("src/lib.rs", ""), ("tests/t.rs", "#[test] fn a() {}\n#[test] fn b() {}")]);
    let mut suite = begun(command, selection);
    let mut answers = answers.into_iter();
    let mut asked = Vec::new();
    loop {
        match suite.next(&sources) {
            Next::Done(report) => return (asked, report),
            Next::Run(jobs) => {
                asked.extend(jobs.iter().map(|job| job.command.line()));
                suite.feed(answers.next().expect("an answer for each batch"));
            }
        }
    }
}

/// The only obstacle after a build with this answer.
fn obstacle_after(answer: Finished) -> (String, Cause) {
    let (_, report) = play("cargo test", Selection::All, vec![vec![answer]]);
    assert_eq!((report.obstacles().len(), report.results().count()), (1, 0));
    (report.obstacles()[0].subject.clone(), report.obstacles()[0].cause)
}

const BUILT: &str = r#"{"reason":"compiler-artifact","package_id":"path+file:///r#demo@0.1.0","manifest_path":"/r/Cargo.toml","target":{"kind":["test"],"crate_types":["bin"],"name":"t","src_path":"/r/tests/t.rs","edition":"2024","doc":false,"doctest":false,"test":true},"profile":{"test":true},"features":[],"filenames":[],"executable":"/r/target/debug/deps/t-1","fresh":false}
{"reason":"build-finished","success":true}
"#;

const LIST: &str = "a: test\nb: test\n\n2 tests, 0 benchmarks\n";

fn passed(names: &[&str]) -> Finished {
    let count = names.len();
    let mut lines = vec![format!(r#"{{ "type": "suite", "event": "started", "test_count": {count} }}"#)];
    for name in names {
        let event = |event: &str| format!(r#"{{ "type": "test", "event": "{event}", "name": "{name}" }}"#);
        lines.extend([event("started"), event("ok")]);
    }
    lines.push(format!(r#"{{ "type": "suite", "event": "ok", "passed": {count}, "failed": 0, "ignored": 0 }}"#));
    said(Exit::Passed, &lines.join("\n"), "")
}

#[test]
fn the_commands_of_a_run_keep_the_configured_flags() {
    let answers =
        vec![vec![said(Exit::Passed, BUILT, "")], vec![said(Exit::Passed, LIST, "")], vec![passed(&["a", "b"])]];
    let (asked, report) = play("cargo test --all --features x -- --test-threads=1", Selection::All, answers);
    let expected = [
        "cargo build --tests --keep-going --message-format json --profile test --all --features x",
        "/r/target/debug/deps/t-1 --list --test-threads 1",
        "/r/target/debug/deps/t-1 -Z unstable-options --format json --report-time --test-threads 1",
    ];
    assert_eq!(asked, expected);
    assert_eq!((report.counts().passed, report.obstacles().len()), (2, 0));
}

#[test]
fn a_selection_runs_its_tests_in_one_call_and_names_what_it_did_not_find() {
    let answers = vec![vec![said(Exit::Passed, BUILT, "")], vec![said(Exit::Passed, LIST, "")], vec![passed(&["b"])]];
    let ids = ["tests/t.rs::b", "tests/t.rs::gone"].map(|id| TestId::parse(id).unwrap());
    let (asked, report) = play("cargo test", Selection::Only(ids.to_vec()), answers);
    assert!(asked.last().unwrap().ends_with("--report-time --exact b"), "{asked:?}");
    assert_eq!(report.get(&ids[0]).unwrap().outcome, Outcome::Pass);
    assert_eq!(report.get(&ids[1]).unwrap().outcome.cause(), Some(Cause::TargetNotFound));
}

#[test]
fn a_build_that_says_nothing_usable_is_an_obstacle_with_its_cause() {
    let failed = |stderr: &str| said(Exit::Failed(101), "", stderr);
    let cargo = |cause| ("cargo".to_owned(), cause);
    let manifest = |cause| ("Cargo.toml".to_owned(), cause);
    assert_eq!(obstacle_after(said(Exit::NotStarted("no such file".to_owned()), "", "")), cargo(Cause::RunnerMissing));
    assert_eq!(obstacle_after(said(Exit::TimedOut, "", "")), cargo(Cause::Timeout));
    assert_eq!(obstacle_after(said(Exit::Passed, "hello\n", "")), cargo(Cause::UnknownOutput));
    assert_eq!(
        obstacle_after(failed("error: failed to parse manifest at `/r/Cargo.toml`")),
        manifest(Cause::LoadFailure)
    );
    assert_eq!(obstacle_after(failed("error: failed to download `x`")), manifest(Cause::UnknownOutput));
    let gone = "error: failed to get `x` as a dependency\nCaused by: failed to read `/r/x/Cargo.toml`\nCaused by: No such file or directory";
    assert_eq!(obstacle_after(failed(gone)), manifest(Cause::LoadFailure));
    assert_eq!(obstacle_after(failed("error: toolchain 'x' is not installed")), manifest(Cause::RunnerMissing));
    let script = said(Exit::Failed(101), "{\"reason\":\"build-finished\",\"success\":false}\n", "build script failed");
    assert_eq!(obstacle_after(script), ("cargo build".to_owned(), Cause::UnrelatedCompileError));
}

#[test]
fn a_binary_that_does_not_list_its_tests_is_an_obstacle() {
    let cases = [
        (said(Exit::Passed, "custom\n", ""), Cause::UnknownOutput),
        (said(Exit::Passed, "", ""), Cause::UnknownOutput),
        (said(Exit::Signalled(11), "", ""), Cause::Crash),
        (said(Exit::TimedOut, "", ""), Cause::Timeout),
    ];
    for (answer, cause) in cases {
        let answers = vec![vec![said(Exit::Passed, BUILT, "")], vec![answer]];
        let (_, report) = play("cargo test", Selection::All, answers);
        let obstacle = &report.obstacles()[0];
        assert_eq!((obstacle.subject.as_str(), obstacle.cause), ("tests/t.rs", cause));
        let tests: Vec<_> = obstacle.tests.iter().map(TestId::as_str).collect();
        assert_eq!(tests, ["tests/t.rs::a", "tests/t.rs::b"]);
    }
}

#[test]
fn a_target_that_does_not_compile_takes_down_the_tests_that_it_shows() {
    let error = r#"{"reason":"compiler-message","package_id":"path+file:///r#demo@0.1.0","manifest_path":"/r/Cargo.toml","target":{"kind":["test"],"crate_types":["bin"],"name":"t","src_path":"/r/tests/t.rs","edition":"2024","doc":false,"doctest":false,"test":true},"message":{"rendered":"error: no","message":"no","code":null,"level":"error","spans":[],"children":[]}}
{"reason":"build-finished","success":false}
"#;
    let answers = vec![vec![said(Exit::Failed(101), error, "")]];
    let (_, report) = play("cargo test", Selection::All, answers);
    let tests: Vec<_> = report.obstacles()[0].tests.iter().map(TestId::as_str).collect();
    assert_eq!((report.obstacles()[0].subject.as_str(), tests), ("tests/t.rs", vec!["tests/t.rs::a", "tests/t.rs::b"]));
}

#[test]
fn a_target_that_is_asked_for_by_name_and_not_there_is_an_obstacle() {
    for command in ["cargo test --test nosuch", "cargo test --bin nosuch"] {
        let (_, report) = play(command, Selection::All, vec![vec![said(Exit::Passed, BUILT, "")]]);
        assert_eq!(
            (report.obstacles()[0].subject.as_str(), report.obstacles()[0].cause),
            ("nosuch", Cause::TargetNotFound)
        );
    }
}

#[test]
fn a_report_that_contradicts_itself_makes_no_test_green() {
    let answers = vec![
        vec![said(Exit::Passed, BUILT, "")],
        vec![said(Exit::Passed, LIST, "")],
        vec![passed(&["a"])],
        vec![passed(&["a", "b"]), passed(&["a", "b"])],
    ];
    let (_, report) = play("cargo test", Selection::All, answers);
    assert_eq!(report.results().count(), 2);
    assert!(report.results().all(|result| result.outcome.cause() == Some(Cause::UnknownOutput)));
    assert!(report.environment_failure().is_some());
}

#[test]
fn an_unknown_command_is_refused_before_anything_runs() {
    let project = Project { root: String::new(), description: String::new() };
    let settings = Settings { test_cmd: Some(vec!["make".to_owned(), "test".to_owned()]), ..Settings::default() };
    assert!(begin(&project, &settings, Selection::All).is_err_and(|refused| refused.reason.contains("ci.junit")));
}

#[test]
fn a_planted_runner_stands_between_cargo_and_no_test() {
    let mut suite = begun("cargo nextest run --target mips-x.y", Selection::All);
    let sources = memory(&[(".cargo/config.toml", "[target.x]\nrunner = 'true'\n")]);
    let Next::Run(_) = suite.next(&sources) else { panic!("no build") };
    suite.feed(vec![said(Exit::Passed, BUILT, "")]);
    let Next::Run(jobs) = suite.next(&sources) else { panic!("no list") };
    let runner = ("CARGO_TARGET_MIPS_X_Y_RUNNER".to_owned(), PLAIN_RUNNER.to_owned());
    assert!(jobs[0].command.env.contains(&runner), "{:?}", jobs[0]);
    assert_eq!(jobs[0].starts, Starts::Tests);
}

#[test]
fn tests_of_which_none_is_run_are_an_obstacle() {
    let nothing = "{\"reason\":\"build-finished\",\"success\":true}\n";
    let (_, report) = play("cargo test", Selection::All, vec![vec![said(Exit::Passed, nothing, "")]]);
    let zero = &report.obstacles()[0];
    assert_eq!((zero.subject.as_str(), zero.cause), ("cargo test", Cause::ZeroTests));
    assert!(zero.message.contains("`tests/t.rs::a`"), "{}", zero.message);
    let other_package = play("cargo test -p other", Selection::All, vec![vec![said(Exit::Passed, nothing, "")]]);
    assert_eq!(other_package.1.obstacles(), []);
}

#[test]
fn that_cargo_waited_for_another_cargo_is_not_part_of_what_it_said() {
    let noise = "    Blocking waiting for file lock on package cache\nerror: failed to parse manifest\n";
    let (_, report) = play("cargo test", Selection::All, vec![vec![said(Exit::Failed(101), "", noise)]]);
    assert_eq!(report.obstacles()[0].message, "error: failed to parse manifest");
}
