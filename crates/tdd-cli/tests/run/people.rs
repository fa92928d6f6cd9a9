//! Tests a person beside the run: own files, a second run, Ctrl-C, edits during a step.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tdd_fixtures::processes::soon;
use tdd_fixtures::server::{Cast, Reply};

use crate::happy::three_cycles;
use crate::kata::{CODE_FILE, TEST_FILE, code, tests};
use crate::stage::{Stage, Told};

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

const MINE: &str = "// a line that a person typed\n";

/// Adds a person's line at the start of a file.
fn types_into(path: &Path) {
    let text = fs::read_to_string(path).unwrap_or_default();
    fs::write(path, format!("{MINE}{text}")).unwrap();
}

/// Runs git in a project as a person.
fn git(root: &Path, args: &[&str]) {
    let mut command = Command::new("git");
    command.current_dir(root).args(["-c", "user.name=P", "-c", "user.email=p@example.org"]).args(args);
    assert!(command.output().unwrap().status.success(), "git {args:?}");
}

/// A project in which a person acts while the implementor is being asked.
fn while_the_implementor_thinks(act: impl Fn(&Path) + Send + 'static) -> Stage {
    let stage = Stage::new(three_cycles());
    let (root, mut done) = (stage.sandbox.project(), false);
    stage.meanwhile(move |request| {
        if request.part() == "implementor" && request.is_edit() && !done {
            done = true;
            act(&root);
        }
    });
    stage
}

#[test]
fn a_line_typed_into_the_models_file_while_it_thinks_survives() {
    let stage = while_the_implementor_thinks(|root| types_into(&root.join(CODE_FILE)));
    let told = stage.run_unchecked(&["run", "--cycles", "1"]);
    assert_eq!(told.code, Some(4), "{}{}", told.stdout, told.stderr);
    assert!(told.stdout.contains(CODE_FILE), "{}", told.stdout);
    assert!(stage.sandbox.read(CODE_FILE).starts_with(MINE));
    assert_eq!(stage.subjects().len(), 3, "the red is kept, and nothing else: {:?}", stage.subjects());
    // The next run must not mistake the person's change for its own.
    let again = stage.run_unchecked(&["run", "--cycles", "1"]);
    assert_eq!(again.code, Some(2), "{}{}", again.stdout, again.stderr);
    assert!(stage.sandbox.read(CODE_FILE).starts_with(MINE));
    git(&stage.sandbox.project(), &["stash"]);
    let told = stage.run(&["run", "--steps", "1"]);
    assert_eq!(told.code, Some(0), "{}{}", told.stdout, told.stderr);
}

#[test]
fn an_untracked_file_that_a_person_makes_where_the_model_writes_survives() {
    let stage = Stage::new(three_cycles());
    let file = stage.path(TEST_FILE);
    stage.meanwhile(move |request| {
        if request.is_edit() && !file.exists() {
            fs::write(&file, MINE).unwrap();
        }
    });
    let told = stage.run_unchecked(&["step"]);
    assert_ne!(told.code, Some(0), "{}{}", told.stdout, told.stderr);
    assert_eq!(stage.sandbox.read(TEST_FILE), MINE);
}

/// A test that waits for the person's action, so that it happens between write and restore.
fn waiting_test(root: &Path) -> String {
    let done = root.join("target/person-is-done");
    format!(
        "use kata::add;\n\n#[test]\nfn waits() {{\n    let done = std::path::Path::new({:?});\n    for _ in 0..600 {{\n        \
         if done.exists() {{\n            break;\n        }}\n        \
         std::thread::sleep(std::time::Duration::from_millis(50));\n    }}\n    assert_eq!(add(\"\"), 0);\n}}\n",
        done.display().to_string()
    )
}

/// Acts while the implementor's tests run; its `add` returns `answer`. Returns the result of the run.
fn while_the_tests_run(answer: &str, act: impl Fn(&Path)) -> (Stage, Told) {
    let stage = Stage::with(Cast::new(), "max_attempts_per_agent: 1");
    let root = stage.sandbox.project();
    let cast = Cast::new().writes("tester", TEST_FILE, &waiting_test(&root)).writes(
        "implementor",
        CODE_FILE,
        &format!("//! Adds.\n\n/// The sum of the numbers in a text.\npub fn add(_by_the_model: &str) -> i64 {{\n    {answer}\n}}\n"),
    );
    stage.recast(cast);
    let done: PathBuf = root.join("target/person-is-done");
    fs::create_dir_all(root.join("target")).unwrap();
    fs::write(&done, "").unwrap();
    let red = stage.run(&["step"]);
    assert_eq!(red.code, Some(0), "{}{}", red.stdout, red.stderr);
    fs::remove_file(&done).unwrap();
    let run = stage.begin(&["step"]);
    assert!(
        soon(Duration::from_mins(1), || stage.sandbox.read(CODE_FILE).contains("by_the_model")),
        "nothing is written"
    );
    act(&root);
    fs::write(&done, "").unwrap();
    let told = Told::of(run.wait_with_output().unwrap());
    (stage, told)
}

#[test]
fn a_line_typed_between_the_write_and_the_restore_survives() {
    let (stage, told) = while_the_tests_run("7", |root| types_into(&root.join(CODE_FILE)));
    assert_ne!(told.code, Some(0), "{}{}", told.stdout, told.stderr);
    assert!(stage.survives(CODE_FILE, MINE.trim_end()), "the line is in no file and no ref");
    assert!(!stage.sandbox.read(CODE_FILE).contains("by_the_model"), "the model's edit is still in the tree");
}

#[test]
fn a_line_typed_into_another_file_stays_as_it_is() {
    let (stage, _) = while_the_tests_run("7", |root| types_into(&root.join("kata.md")));
    assert!(stage.sandbox.read("kata.md").starts_with(MINE));
    assert!(!stage.sandbox.read(CODE_FILE).contains("by_the_model"), "the model's edit is still in the tree");
}

#[test]
fn the_models_edit_leaves_the_tree_when_a_person_moves_head() {
    type Act<'a> = &'a dyn Fn(&Path);
    let moves: [(&str, Act<'_>); 4] = [
        ("commit", &|root| {
            types_into(&root.join("notes.md"));
            git(root, &["add", "notes.md"]);
            git(root, &["commit", "-qm", "docs: notes"]);
        }),
        ("amend", &|root| git(root, &["commit", "-q", "--amend", "-m", "docs: other words"])),
        ("switch", &|root| git(root, &["switch", "-q", "-c", "elsewhere"])),
        ("reset", &|root| git(root, &["reset", "-q", "--soft", "HEAD~1"])),
    ];
    for (what, act) in moves {
        let (stage, told) = while_the_tests_run("0", act);
        assert_ne!(told.code, Some(0), "{what}: {}{}", told.stdout, told.stderr);
        assert!(
            !stage.sandbox.read(CODE_FILE).contains("by_the_model"),
            "{what}: the model's edit is still in the tree"
        );
    }
}
