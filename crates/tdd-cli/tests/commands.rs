//! Tests the commands on valid input; `bad_input` tests the rest.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::process::{Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tdd_fixtures::machine::VOLATILE;
use tdd_fixtures::server::{Reply, Server};
use tdd_fixtures::{Sandbox, bowling};

fn run(sandbox: &Sandbox, arguments: &[&str]) -> Output {
    sandbox.command(env!("CARGO_BIN_EXE_tdd-cli")).args(arguments).output().unwrap()
}

/// Standard output of a command that must succeed.
fn machine(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let output = run(sandbox, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn json(sandbox: &Sandbox, arguments: &[&str]) -> Value {
    let text = machine(sandbox, &[arguments, &["--format", "json"]].concat());
    serde_json::from_str(&text).unwrap()
}

/// Snapshot with commit ids, times and durations replaced.
macro_rules! assert_story {
    ($($text:expr),+ $(,)?) => {
        insta::with_settings!({ filters => VOLATILE }, {
            insta::assert_snapshot!([$($text.to_string()),+].join("\n----\n"));
        });
    };
}

#[test]
fn init_makes_a_project_from_an_empty_folder() {
    let sandbox = Sandbox::new();
    let said = machine(&sandbox, &["init"]);
    let log = sandbox.git(&["log", "--format=%an <%ae>%n%B", "--stat"]);
    let status = sandbox.git(&["status", "--porcelain", "--ignored"]);
    assert_story!(said, log, status, sandbox.read("tdd.yaml"), sandbox.read("Cargo.toml"), sandbox.read("src/lib.rs"));
}

#[test]
fn the_scaffold_passes_its_own_checks_and_leaves_the_tree_clean() {
    let sandbox = Sandbox::new();
    machine(&sandbox, &["init", "--name", "string-calculator"]);
    for arguments in [
        &["fmt", "--check"][..],
        &["clippy", "--all-targets", "--", "-D", "warnings"],
        &["test"],
        &["metadata", "--locked", "--offline", "--format-version", "1"],
    ] {
        let output = sandbox.command("cargo").args(arguments).output().unwrap();
        assert!(output.status.success(), "cargo {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    assert_eq!(machine(&sandbox, &["auto-test"]), "no tests yet\n");
}

#[test]
fn init_a_second_time_changes_nothing() {
    let sandbox = Sandbox::new();
    machine(&sandbox, &["init"]);
    let head = sandbox.git(&["rev-parse", "HEAD"]);
    let outcome = json(&sandbox, &["init"]);
    assert_eq!((&outcome["commit"], &outcome["created"]), (&Value::Null, &Value::Array(vec![])));
    assert_eq!(sandbox.git(&["rev-parse", "HEAD"]), head);
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
}

#[test]
fn init_in_a_project_adds_only_what_is_missing_and_leaves_the_users_work_alone() {
    let sandbox = Sandbox::with_project("calc");
    sandbox.git(&["init", "-q", "-b", "trunk"]);
    sandbox.git(&["add", "."]);
    sandbox.git(&["commit", "-q", "-m", "a person's commit"]);
    sandbox.write("src/lib.rs", format!("{}\n// staged\n", sandbox.read("src/lib.rs")));
    sandbox.git(&["add", "src/lib.rs"]);
    sandbox.write("src/text.rs", format!("{}\n// not staged\n", sandbox.read("src/text.rs")));
    sandbox.write("secrets.env", "KEY=1");
    sandbox.write("kata.md", "# My kata\n");
    let said = machine(&sandbox, &["init"]);
    let log = sandbox.git(&["log", "--format=%s", "--name-status"]);
    let status = sandbox.git(&["status", "--porcelain"]);
    assert_story!(said, log, status);
    assert_eq!(sandbox.read("kata.md"), "# My kata\n");
}

#[test]
fn init_takes_a_kata_from_elsewhere_or_from_the_project() {
    let sandbox = Sandbox::new();
    let kata = sandbox.outside().join("bowling.md");
    std::fs::write(&kata, "# Bowling\n").unwrap();
    let said = machine(&sandbox, &["init", "--kata", kata.to_str().unwrap()]);
    assert!(said.ends_with("next: `tdd-cli doctor`, then `tdd-cli run`\n"), "{said}");
    assert_eq!(sandbox.read("kata.md"), "# Bowling\n");

    let sandbox = Sandbox::new();
    sandbox.write("docs/roman.md", "# Roman numerals\n");
    let outcome = json(&sandbox, &["init", "--kata", "docs/roman.md"]);
    assert_eq!(outcome["kata"], "docs/roman.md");
    assert!(sandbox.read("tdd.yaml").contains("kata_description: \"docs/roman.md\""));
    assert!(!sandbox.project().join("kata.md").exists());
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
}

#[test]
fn an_empty_folder_inside_a_repository_gets_one_of_its_own() {
    let sandbox = Sandbox::with_project("calc");
    sandbox.git(&["init", "-q"]);
    std::fs::create_dir(sandbox.project().join("inner")).unwrap();
    machine(&sandbox, &["-C", "inner", "init"]);
    assert!(sandbox.project().join("inner/.git").is_dir());
    let refused = run(&sandbox, &["-C", "src", "init"]);
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn a_red_turns_green_and_the_ledger_remembers_both() {
    let sandbox = bowling::project(env!("CARGO_BIN_EXE_tdd-cli"));
    sandbox.write(bowling::TEST_FILE, bowling::TEST);
    let missing = machine(&sandbox, &["auto-test"]);
    let blocked = machine(&sandbox, &["status"]);
    sandbox.write("src/lib.rs", "//! Bowling.\n\npub fn score(_: &[u32]) -> u32 {\n    1\n}\n");
    let red = machine(&sandbox, &["auto-test"]);
    let while_red = json(&sandbox, &["status"]);
    assert_eq!(while_red["red"], serde_json::json!(["tests/game.rs::a_gutter_game_scores_zero"]));
    sandbox.write("src/lib.rs", "//! Bowling.\n\npub fn score(_: &[u32]) -> u32 {\n    0\n}\n");
    let stale = machine(&sandbox, &["status"]);
    let green = machine(&sandbox, &["auto-test"]);
    let status = machine(&sandbox, &["status"]);
    let log = machine(&sandbox, &["log"]);
    assert_story!(missing, blocked, red, stale, green, status, log);
    let of_the_test = machine(&sandbox, &["log", "--test", "tests/game.rs::a_gutter_game_scores_zero"]);
    assert_eq!(of_the_test.lines().count(), 2);
    assert_eq!(machine(&sandbox, &["log", "--type", "suite_run"]).lines().count(), 3);
}

#[test]
fn status_reads_the_position_from_the_newest_commit_with_our_trailers() {
    let sandbox = Sandbox::new();
    machine(&sandbox, &["init"]);
    sandbox.git(&["commit", "-q", "--allow-empty", "-m", "feat: x\n\nbody\n\nTDD-Step: 5\nTDD-Phase: green\n"]);
    sandbox.git(&["commit", "-q", "--allow-empty", "-m", "docs: a person's commit"]);
    let status = json(&sandbox, &["status"]);
    assert_eq!(
        (&status["step"], &status["phase"], &status["next_role"]),
        (&5.into(), &"green".into(), &"refactorer".into())
    );
    assert_eq!(status["last_commit"], sandbox.git(&["rev-parse", "HEAD"]).trim());
    for key in ["step", "next_role", "phase", "last_commit", "red", "green", "paused", "usage"] {
        assert!(status.get(key).is_some(), "{key}");
    }
}

#[test]
fn log_follows_what_is_appended_until_it_is_interrupted() {
    let sandbox = Sandbox::new();
    machine(&sandbox, &["init"]);
    let mut follower = sandbox
        .command(env!("CARGO_BIN_EXE_tdd-cli"))
        .args(["log", "--follow", "--format", "json"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let stdout = follower.stdout.take().unwrap();
    let reader = thread::spawn(move || {
        let lines = std::io::BufRead::lines(std::io::BufReader::new(stdout));
        lines.map(Result::unwrap).take(2).collect::<Vec<_>>()
    });
    machine(&sandbox, &["auto-test"]);
    let lines = reader.join().unwrap();
    let types: Vec<Value> =
        lines.iter().map(|line| serde_json::from_str::<Value>(line).unwrap()["type"].clone()).collect();
    assert_eq!(types, ["committed", "suite_run"]);
    sandbox.command("kill").args(["-INT", &follower.id().to_string()]).status().unwrap();
    let deadline = Instant::now() + Duration::from_secs(10);
    let status = loop {
        match follower.try_wait().unwrap() {
            Some(status) => break status,
            None => assert!(Instant::now() < deadline, "it does not stop"),
        }
        thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(status.code(), Some(130));
}

#[test]
fn doctor_finds_a_fresh_project_healthy() {
    let sandbox = Sandbox::new();
    machine(&sandbox, &["init"]);
    let document = json(&sandbox, &["doctor"]);
    assert_eq!(document["healthy"], true);
    let subjects: Vec<&str> =
        document["findings"].as_array().unwrap().iter().map(|finding| finding["subject"].as_str().unwrap()).collect();
    for subject in ["configuration", "git", "cargo", "rustfmt", "clippy", "ledger", "project", "kata", "tester"] {
        assert!(subjects.contains(&subject), "{subject} is not in {subjects:?}");
    }
}

#[test]
fn completions_and_manual_pages_are_there_for_every_shell_and_command() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(machine(&sandbox, &["completions", shell]).contains("auto-test"), "{shell}");
    }
    assert!(machine(&sandbox, &["man"]).starts_with(".ie"));
    for command in [
        "init",
        "run",
        "step",
        "status",
        "doctor",
        "eval",
        "auto-test",
        "detect-antipattern",
        "audit",
        "refactor",
        "plan",
        "program",
        "resume",
        "retire",
        "override",
        "log",
        "export",
        "completions",
        "man",
    ] {
        assert!(machine(&sandbox, &["man", command]).contains(&format!("tdd\\-cli\\-{}", command.replace('-', "\\-"))));
        assert!(machine(&sandbox, &[command, "--help"]).contains("Example"), "{command}");
    }
}

#[test]
fn doctor_asks_the_model_servers_unless_it_is_told_not_to() {
    let server = Server::by(|_| Reply::Says("yes".to_owned()));
    let sandbox = Sandbox::new();
    sandbox.git(&["init", "-q"]);
    machine(&sandbox, &["init"]);
    let seats = ["tester", "implementor", "refactorer"].map(|role| format!("  {role}: {{ model: small }}\n"));
    let config = format!("llm: {{ base_url: \"{}\" }}\nroles:\n{}", server.url(), seats.concat());
    sandbox.write("tdd.yaml", config);
    assert!(machine(&sandbox, &["doctor"]).contains("answers; json_schema"));
    let asked = server.requests().len();
    assert!(asked > 0);
    assert!(!machine(&sandbox, &["doctor", "--offline"]).contains("answers; json_schema"));
    assert_eq!(server.requests().len(), asked);
}
