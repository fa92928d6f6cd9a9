//! A person is there too: with files of their own, with a second run, with Ctrl-C.

use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tdd_fixtures::server::{Cast, Reply};

use crate::happy::three_cycles;
use crate::kata::{CODE_FILE, TEST_FILE, code, tests};
use crate::stage::{Stage, Told, soon};

#[test]
fn uncommitted_work_is_refused_and_left_as_it_is() {
    let stage = Stage::new(three_cycles());
    stage.sandbox.write("secrets.env", "mine");
    let told = stage.run(&["run", "--steps", "1"]);
    assert_eq!(told.code, Some(2), "{}", told.stdout);
    assert!(told.stderr.contains("secrets.env") && told.stderr.contains("--allow-untracked"), "{}", told.stderr);
    std::fs::remove_file(stage.path("secrets.env")).unwrap();

    let mine = "//! Half of a thought";
    stage.sandbox.write(CODE_FILE, mine);
    for args in [&["run", "--steps", "1"][..], &["step"], &["run", "--allow-untracked"]] {
        let output = stage.command(args).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert_eq!(stage.sandbox.read(CODE_FILE), mine);
    }
    assert_eq!(stage.server.requests().len(), 0);
}

#[test]
fn untracked_files_may_stay_and_are_in_no_commit_and_no_ref() {
    let stage = Stage::new(three_cycles());
    stage.sandbox.write("secrets.env", "mine");
    stage.sandbox.write("src/draft.rs", "this is no Rust");
    stage.sandbox.write("tests/draft.rs", "#[test]\nfn mine() { panic!() }\n");
    let told = stage.run(&["run", "--cycles", "1", "--allow-untracked"]);
    assert_eq!(told.code, Some(0), "{}{}", told.stdout, told.stderr);
    assert_eq!(stage.sandbox.read("secrets.env"), "mine");
    assert_eq!(stage.sandbox.read("src/draft.rs"), "this is no Rust");
    let objects = stage.sandbox.git(&["rev-list", "--objects", "--all"]);
    assert!(!objects.contains("secrets.env") && !objects.contains("draft"), "{objects}");
    let untracked = stage.sandbox.git(&["status", "--porcelain"]);
    assert_eq!(untracked, "?? secrets.env\n?? src/draft.rs\n?? tests/draft.rs\n");
}

#[test]
fn an_edit_of_a_persons_untracked_file_is_refused() {
    let cast = Cast::new().writes("tester", TEST_FILE, &tests(1)).writes("tester", "tests/other.rs", &tests(1));
    let stage = Stage::new(cast);
    stage.sandbox.write(TEST_FILE, "// mine\n");
    let told = stage.run(&["step", "--allow-untracked"]);
    assert_eq!(stage.sandbox.read(TEST_FILE), "// mine\n", "{}{}", told.stdout, told.stderr);
    assert_eq!(told.code, Some(0), "{}{}", told.stdout, told.stderr);
    assert!(stage.path("tests/other.rs").exists());
}

#[test]
fn a_second_run_is_refused_and_ctrl_c_saves_the_first() {
    let cast = Cast::new()
        .writes("tester", TEST_FILE, &tests(1))
        .replies("implementor", Reply::Silence(Duration::from_secs(20)))
        .writes("implementor", CODE_FILE, &code(1));
    let stage = Stage::new(cast);
    let first = stage.begin(&["run", "--cycles", "1"]);
    let waits = || stage.server.requests().iter().any(|ask| ask.part() == "implementor" && ask.is_edit());
    assert!(soon(Duration::from_mins(1), waits), "the implementor is not asked");

    let second = Told::of(stage.command(&["run", "--steps", "1"]).output().unwrap());
    assert_eq!(second.code, Some(3), "{}", second.stdout);
    assert!(second.stderr.contains(&first.id().to_string()), "{}", second.stderr);

    kill(Pid::from_raw(i32::try_from(first.id()).unwrap()), Signal::SIGINT).unwrap();
    let first = Told::of(first.wait_with_output().unwrap());
    assert_eq!(first.code, Some(130), "{}{}", first.stdout, first.stderr);
    stage.assert_sound();
    stage.check(
        &["run", "--steps", "2"],
        "
          feat: do it
        3 refactor
          nothing
        end: 2 steps done
        exit 0
    ",
    );
}

#[test]
fn ctrl_c_in_the_middle_of_the_tests_puts_everything_back() {
    let stage = Stage::new(three_cycles());
    let first = stage.begin(&["run", "--cycles", "3"]);
    let applied = || {
        let text = std::fs::read_to_string(stage.path(".tdd/events.jsonl")).unwrap_or_default();
        text.matches("\"edit_applied\"").count() >= 2
    };
    assert!(soon(Duration::from_mins(1), applied), "nothing is applied");
    kill(Pid::from_raw(i32::try_from(first.id()).unwrap()), Signal::SIGINT).unwrap();
    let first = Told::of(first.wait_with_output().unwrap());
    assert_eq!(first.code, Some(130), "{}{}", first.stdout, first.stderr);
    stage.assert_sound();
    let spent = stage.events().iter().filter(|event| event["type"] == "reverted" && event["spent"] == true).count();
    assert_eq!(spent, 0);
}
