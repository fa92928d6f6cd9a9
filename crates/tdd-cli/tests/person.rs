//! Tests the commands by which a person steers the machine, with real cargo and git.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::thread;
use std::time::Duration;

use serde_json::Value;
use tdd_core::cycle::Role;
use tdd_core::digest::{CommitId, Digest};
use tdd_core::event::{Blocked, Event, Head, LlmCall, Paused, PersonEdit, PersonFate, Record};
use tdd_core::test_id::TestId;
use tdd_fixtures::Sandbox;
use tdd_fixtures::bowling::{self, RIGHT, TARGET, TEST};
use tdd_fixtures::machine::{Machine, VOLATILE};

fn project() -> Sandbox {
    bowling::project(env!("CARGO_BIN_EXE_tdd-cli"))
}

fn tested_project() -> Sandbox {
    bowling::tested_project(env!("CARGO_BIN_EXE_tdd-cli"))
}

/// The exit code and all output.
fn says(sandbox: &Sandbox, arguments: &[&str]) -> (i32, String) {
    let output = sandbox.command(env!("CARGO_BIN_EXE_tdd-cli")).args(arguments).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8(said).unwrap())
}

/// The exit code and the JSON document.
fn json(sandbox: &Sandbox, arguments: &[&str]) -> (i32, Value) {
    Machine::new(sandbox, env!("CARGO_BIN_EXE_tdd-cli")).document(arguments)
}

/// The exit code, verdict and rule of a gate on one line.
fn answer(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let (code, verdict) = json(sandbox, arguments);
    let word = |key: &str| verdict[key].as_str().unwrap_or("-").to_owned();
    format!("{code} {} {}", word("verdict"), word("rule"))
}

/// The exit code and output as one text.
fn told((code, said): (i32, String)) -> String {
    format!("exit {code}\n{said}")
}

/// Snapshot with commit ids and times replaced.
macro_rules! assert_story {
    ($($text:expr),+ $(,)?) => {
        insta::with_settings!({ filters => VOLATILE }, { insta::assert_snapshot!([$($text),+].join("----\n")) });
    };
}

/// A committed red test, and code that makes it pass and that the linter complains of.
fn linted() -> Sandbox {
    let sandbox = project();
    sandbox.write("tests/game.rs", TEST);
    sandbox.commit("test: a gutter game");
    sandbox.write("src/lib.rs", RIGHT.replace("rolls.iter()", "let unused = 1;\n    rolls.iter()"));
    sandbox
}

#[test]
fn an_exception_lets_a_green_pass_until_it_expires() {
    let sandbox = linted();
    let green = ["validate-green", TARGET];
    assert_eq!(answer(&sandbox, &green), "1 refused check-passes");

    let asked = ["override", "--rule", "check-passes", "--reason", " a new\nlint ", "--ttl", "1h"];
    let (code, made) = json(&sandbox, &asked);
    assert_eq!((code, &made["rule"], &made["reason"]), (0, &"check-passes".into(), &"a new lint".into()));
    assert!(made["expires"].as_u64().unwrap() > 0);
    assert_eq!(made.as_object().unwrap().len(), 3);
    assert_eq!(answer(&sandbox, &green), "0 holds -");
}

#[test]
fn an_exception_that_expired_is_none() {
    let sandbox = linted();
    let asked = ["override", "--rule", "check-passes", "--reason", "a new lint", "--ttl", "50ms"];
    assert_eq!(json(&sandbox, &asked).0, 0);
    thread::sleep(Duration::from_millis(60));
    assert_eq!(answer(&sandbox, &["validate-green", TARGET]), "1 refused check-passes");
}

#[test]
fn an_exception_that_cannot_be_made_is_refused_with_what_can_be_done() {
    let sandbox = project();
    let refused = |rule: &str, reason: &str, ttl: &str| {
        let said = says(&sandbox, &["override", "--rule", rule, "--reason", reason, "--ttl", ttl]);
        assert_eq!(said.0, 2, "{said:?}");
        told(said)
    };
    assert_story!(
        refused("check-pases", "why", "1h"),
        refused("nope", "why", "1h"),
        refused("path-confined", "why", "1h"),
        refused("same-tree", "why", "1h"),
        refused("check-passes", " \n", "1h"),
        refused("check-passes", "why", "9d"),
    );
    let said = says(&sandbox, &["log", "--type", "override"]).1;
    assert_eq!(said, "no such event is recorded: `tdd-cli log` shows all events\n");
}

#[test]
fn refactor_mode_lets_a_person_change_everything_and_keeps_what_passes() {
    let sandbox = tested_project();
    sandbox.write("notes.md", "uncommitted before\n");
    let begun = told(says(&sandbox, &["refactor", "begin", "--reason", "another name"]));
    let twice = told(says(&sandbox, &["refactor", "begin"]));
    sandbox.write("src/lib.rs", RIGHT.replace("fn score", "fn total"));
    sandbox.write("tests/game.rs", TEST.replace("score(", "total(").replace("::score", "::total"));
    sandbox.write("tests/more.rs", TEST.replace("score(", "total(").replace("::score", "::total"));
    let kept = told(says(&sandbox, &["refactor", "end"]));
    let over = told(says(&sandbox, &["refactor", "end"]));
    assert_eq!(sandbox.git(&["status", "--porcelain"]).lines().count(), 4);
    let log = says(&sandbox, &["log", "--type", "refactor_end", "--format", "json"]).1;
    let ended: Value = serde_json::from_str(&log).unwrap();
    assert_eq!((&ended["kept"], &ended["verified_by"]), (&true.into(), &"cargo test --all".into()));
    assert_story!(begun, twice, kept, over);
}

#[test]
fn a_test_that_was_moved_in_refactor_mode_is_known_under_its_new_name() {
    let sandbox = tested_project();
    says(&sandbox, &["refactor", "begin"]);
    sandbox.write("tests/score.rs", TEST);
    std::fs::remove_file(sandbox.project().join("tests/game.rs")).unwrap();
    let (code, said) = says(&sandbox, &["refactor", "end"]);
    assert_eq!(code, 0, "{said}");
    let renamed = says(&sandbox, &["log", "--type", "test_renamed"]).1;
    let moved = format!("{TARGET} is now tests/score.rs::a_gutter_game_scores_zero");
    assert!(renamed.contains(&moved), "{renamed}");
}

#[test]
fn refactor_mode_stays_on_where_a_test_is_lost_and_goes_back_without_losing_the_work() {
    let sandbox = tested_project();
    sandbox.write("src/lib.rs", format!("{RIGHT}\n// a person's uncommitted work\n"));
    let before = sandbox.read("src/lib.rs");
    assert_eq!(says(&sandbox, &["refactor", "begin"]).0, 0);
    sandbox.write("tests/game.rs", "// nothing left\n");
    sandbox.write("src/lib.rs", RIGHT.replace("rolls", "pins"));
    sandbox.write("src/new.rs", "// new\n");
    let lost = told(says(&sandbox, &["refactor", "end"]));
    assert_eq!(answer(&sandbox, &["refactor", "end"]), "1 refused others-kept");
    assert_eq!(sandbox.read("tests/game.rs"), "// nothing left\n");

    let (code, ended) = json(&sandbox, &["refactor", "end", "--discard"]);
    assert_eq!((code, &ended["kept"]), (0, &false.into()));
    assert_eq!((sandbox.read("src/lib.rs"), sandbox.read("tests/game.rs")), (before, TEST.to_owned()));
    assert!(!sandbox.project().join("src/new.rs").exists());
    let kept_as = ended["kept_as"].as_str().unwrap();
    assert_eq!(sandbox.git(&["show", &format!("{kept_as}:src/new.rs")]), "// new\n");
    assert_eq!(says(&sandbox, &["refactor", "end", "--discard"]).0, 2);
    assert_story!(lost);
}

#[test]
fn refactor_mode_does_not_go_back_behind_a_commit_that_was_made_meanwhile() {
    let sandbox = tested_project();
    assert_eq!(says(&sandbox, &["refactor", "begin"]).0, 0);
    let began_at = sandbox.git(&["rev-parse", "HEAD"]).trim().to_owned();
    sandbox.write("src/new.rs", "// new\n");
    sandbox.commit("feat: a person's commit");
    let refused = told(says(&sandbox, &["refactor", "end", "--discard"]));
    assert_eq!(sandbox.read("src/new.rs"), "// new\n");
    // The hint's advice works.
    sandbox.git(&["branch", "kept"]);
    sandbox.git(&["reset", "-q", "--keep", &began_at]);
    assert_eq!(says(&sandbox, &["refactor", "end", "--discard"]).0, 0);
    assert_story!(refused);
}

#[test]
fn the_end_of_refactor_mode_is_what_the_verify_command_says() {
    let sandbox = tested_project();
    let config = sandbox.read("tdd.yaml").replace("ci:", "ci:\n  verify_cmd: [\"sh\", \"verify.sh\"]");
    sandbox.write("tdd.yaml", config);
    sandbox.write("verify.sh", "echo 'error: not yet'; exit 1\n");
    assert_eq!(says(&sandbox, &["refactor", "begin"]).0, 0);
    sandbox.write("tests/game.rs", "// merged elsewhere\n");
    let failing = told(says(&sandbox, &["refactor", "end"]));
    sandbox.write("verify.sh", "touch left-over\n");
    assert_eq!(answer(&sandbox, &["refactor", "end"]), "1 refused same-tree");
    sandbox.write("verify.sh", "true\n");
    let passing = told(says(&sandbox, &["refactor", "end"]));
    assert_story!(failing, passing);
}

const SECOND: &str = "\n#[test]\nfn a_strike_counts_double() {\n    assert_eq!(score(&[10, 1]), 12);\n}\n";
const STRIKE: &str = "tests/game.rs::a_strike_counts_double";

#[test]
fn a_retired_test_goes_in_a_commit_of_its_own_and_the_users_work_stays() {
    let sandbox = tested_project();
    let third = SECOND.replace("a_strike_counts_double", "a_spare").replace("12", "11");
    sandbox.write("tests/game.rs", format!("{TEST}{third}"));
    sandbox.commit("test: one more");
    sandbox.write("src/lib.rs", format!("{RIGHT}\n// a person's uncommitted work\n"));
    sandbox.git(&["add", "src/lib.rs"]);
    let done = told(says(&sandbox, &["retire", "tests/game.rs::a_spare", "--reason", "no\nspares any more"]));
    let log = sandbox.git(&["log", "-1", "--format=%an%n%B", "--name-status"]);
    let status = sandbox.git(&["status", "--porcelain"]);
    assert_eq!(sandbox.read("tests/game.rs"), TEST);
    let events = says(&sandbox, &["log"]).1;
    let events: Vec<_> = events.lines().rev().take(2).map(|line| &line[28..]).collect();
    assert_story!(done, log, status, events.join("\n"));
}

/// The event for a person's edit of the second test, as recorded before the file is changed.
fn word_about_the_second(sandbox: &Sandbox, content: &str) -> Event {
    Event::PersonEdit(PersonEdit {
        test_id: TestId::parse(STRIKE).unwrap(),
        fate: PersonFate::Retired,
        reason: "no strikes any more".to_owned(),
        path: "tests/game.rs".to_owned(),
        content: Digest::of(content),
        head: Some(CommitId(sandbox.git(&["rev-parse", "HEAD"]).trim().to_owned())),
    })
}

/// A project in which a person retired the second test, and the machine was stopped before its commit.
fn cut_short() -> Sandbox {
    let sandbox = tested_project();
    sandbox.write("tests/game.rs", format!("{TEST}{SECOND}"));
    sandbox.commit("test: a strike");
    append(&sandbox, &[word_about_the_second(&sandbox, TEST)]);
    sandbox.write("tests/game.rs", TEST);
    sandbox
}

#[test]
fn a_word_that_was_cut_short_before_its_commit_is_put_back_by_the_next_start() {
    let sandbox = cut_short();
    says(&sandbox, &["validate-refactor"]);
    assert_eq!(sandbox.read("tests/game.rs"), format!("{TEST}{SECOND}"));
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    // A later change by the person is their own, even if it is identical.
    sandbox.write("tests/game.rs", TEST);
    says(&sandbox, &["validate-refactor"]);
    assert_eq!(sandbox.read("tests/game.rs"), TEST);
}

#[test]
fn a_persons_own_change_is_not_taken_for_a_word_that_was_cut_short() {
    let sandbox = tested_project();
    append(&sandbox, &[word_about_the_second(&sandbox, TEST)]);
    let theirs = format!("{TEST}\n// mine\n");
    sandbox.write("tests/game.rs", &theirs);
    says(&sandbox, &["validate-refactor"]);
    assert_eq!(sandbox.read("tests/game.rs"), theirs);
}

#[test]
fn a_word_that_was_cut_short_after_its_commit_is_put_on_the_record() {
    let sandbox = cut_short();
    sandbox.commit(&format!("test: retire\n\nTDD-Retired: {STRIKE}"));
    says(&sandbox, &["validate-refactor"]);
    let retired = says(&sandbox, &["log", "--type", "retired"]).1;
    assert!(retired.contains("no strikes any more"), "{retired}");
    assert_eq!(sandbox.read("tests/game.rs"), TEST);
}

/// The command is killed right after its event is recorded.
#[test]
fn a_killed_word_is_carried_out_once_when_it_is_given_again() {
    for arguments in [&["retire", STRIKE, "--reason", "why"][..], &["resume", "--skip"]] {
        let sandbox = tested_project();
        sandbox.write("tests/game.rs", format!("{TEST}{SECOND}"));
        sandbox.commit("test: a strike");
        block(&sandbox, STRIKE);
        let mut child = sandbox.command(env!("CARGO_BIN_EXE_tdd-cli")).args(arguments).spawn().unwrap();
        while !sandbox.read(".tdd/events.jsonl").contains("person_edit") {
            assert_eq!(child.try_wait().unwrap(), None, "it ended too soon");
            thread::sleep(Duration::from_micros(50));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        says(&sandbox, &["validate-refactor"]);
        assert_eq!(sandbox.git(&["status", "--porcelain"]), "", "{arguments:?}");
        says(&sandbox, arguments);
        let words = sandbox.git(&["log", "--format=%s", "--grep", "^TDD-\\(Retired\\|Skipped\\):"]);
        assert_eq!(words.lines().count(), 1, "{arguments:?}: {words}");
        assert_eq!(sandbox.git(&["status", "--porcelain"]), "", "{arguments:?}");
    }
}

#[test]
fn a_test_that_cannot_be_retired_stays() {
    let sandbox = tested_project();
    let missing = told(says(&sandbox, &["retire", "tests/game.rs::nonsense", "--reason", "why"]));
    let no_reason = told(says(&sandbox, &["retire", TARGET, "--reason", ""]));
    let no_id = told(says(&sandbox, &["retire", "what ever", "--reason", "why"]));
    // Another test calls this one.
    let caller = format!("{TEST}\n#[test]\nfn calls() {{\n    a_gutter_game_scores_zero();\n}}\n");
    sandbox.write("tests/game.rs", &caller);
    let uncommitted = told(says(&sandbox, &["retire", TARGET, "--reason", "why"]));
    sandbox.commit("test: calls");
    let head = sandbox.git(&["rev-parse", "HEAD"]);
    let needed = told(says(&sandbox, &["retire", TARGET, "--reason", "why"]));
    assert_eq!((sandbox.read("tests/game.rs"), sandbox.git(&["rev-parse", "HEAD"])), (caller, head));
    assert_story!(missing, no_reason, no_id, uncommitted, needed);
}

/// Appends events to the ledger as a run would. Writes the file directly, because a lock taken here may be inherited
/// for a moment by a program that another test starts.
fn append(sandbox: &Sandbox, events: &[Event]) {
    let mut ledger = sandbox.read(".tdd/events.jsonl");
    for event in events {
        let last = ledger.lines().last().unwrap();
        let (before, _) = Head::split(last.as_bytes()).unwrap();
        let head = Head { seq: before.seq + 1, ts: before.ts, prev: Digest::of(last) };
        ledger += &format!("{}\n", Record::line(&head, event));
    }
    sandbox.write(".tdd/events.jsonl", ledger);
}

/// Records that a run used up its attempts at a test.
fn block(sandbox: &Sandbox, test: &str) {
    let test_id = TestId::parse(test).unwrap();
    let reason = "all 5 attempts are spent".to_owned();
    let paused = Paused { reason: format!("td-stuck: {test}"), next: "`tdd-cli resume`".to_owned() };
    append(sandbox, &[Event::Blocked(Blocked { test_id, reason }), Event::Paused(paused)]);
}

#[test]
fn a_pause_is_over_when_a_person_says_so() {
    let sandbox = tested_project();
    let nothing = told(says(&sandbox, &["resume"]));
    assert_eq!(json(&sandbox, &["resume", "--skip"]).1["resumed"], false);
    block(&sandbox, TARGET);
    assert_eq!(json(&sandbox, &["resume"]).1["was_paused"], format!("td-stuck: {TARGET}"));
    assert_story!(nothing, told(says(&sandbox, &["resume"])));
}

#[test]
fn a_blocked_test_is_skipped_by_the_machine_and_counts_again_when_a_person_unblocks_it() {
    let sandbox = tested_project();
    let red = format!("{TEST}{SECOND}");
    sandbox.write("tests/game.rs", &red);
    sandbox.commit("test: a strike");
    block(&sandbox, STRIKE);
    let skipped = told(says(&sandbox, &["resume", "--skip"]));
    let marked = sandbox.read("tests/game.rs");
    let log = sandbox.git(&["log", "-1", "--format=%B", "--name-status"]);
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    let tests = told(says(&sandbox, &["auto-test", "--quiet"]));
    assert!(tests.contains("1 passed, 0 failed, 1 skipped"), "{tests}");
    let status = json(&sandbox, &["status"]).1;
    assert_eq!(status["paused"], Value::Null);

    let unblocked = told(says(&sandbox, &["resume", "--unblock", STRIKE]));
    assert_eq!(sandbox.read("tests/game.rs"), red);
    assert_eq!(
        sandbox.git(&["log", "-1", "--format=%s%n%(trailers)"]).trim(),
        format!("test: unblock a_strike_counts_double\nTDD-Unblocked: {STRIKE}")
    );
    let again = told(says(&sandbox, &["resume", "--unblock", STRIKE]));
    assert_story!(skipped, marked, log, unblocked, again);
}

#[test]
fn a_blocked_test_that_does_not_compile_is_not_built() {
    let sandbox = tested_project();
    let red = TEST.replace("bowling::score", "bowling::{score, strike}") + &SECOND.replace("score(", "strike(");
    sandbox.write("tests/game.rs", &red);
    sandbox.commit("test: a strike");
    block(&sandbox, STRIKE);
    let skipped = told(says(&sandbox, &["resume", "--skip"]));
    let marked = sandbox.read("tests/game.rs");
    assert_eq!(says(&sandbox, &["resume", "--unblock", STRIKE]).0, 0);
    assert_eq!(sandbox.read("tests/game.rs"), red);
    assert_story!(skipped, marked);
}

#[test]
fn status_shows_what_a_person_has_said_or_must_say() {
    let sandbox = tested_project();
    block(&sandbox, STRIKE);
    append(
        &sandbox,
        &[Event::LlmCall(LlmCall {
            step: 2,
            role: Role::Implementor,
            model: "m".to_owned(),
            purpose: "edit".to_owned(),
            prompt_tokens: 1000,
            cached_tokens: 800,
            completion_tokens: 200,
            micro_usd: 1_250_000,
            duration_ms: 5,
        })],
    );
    assert_eq!(says(&sandbox, &["refactor", "begin", "--reason", "another name"]).0, 0);
    assert_eq!(says(&sandbox, &["override", "--rule", "budget", "--reason", "one more try"]).0, 0);
    let text = told(says(&sandbox, &["status"]));
    let (_, status) = json(&sandbox, &["status"]);
    assert_eq!(status["paused"], format!("td-stuck: {STRIKE}"));
    assert_eq!(status["next"], "`tdd-cli resume`");
    assert_eq!(status["refactor_mode"]["reason"], "another name");
    assert_eq!(status["exceptions"][0]["rule"], "budget");
    assert_eq!(status["blocked"][STRIKE], "all 5 attempts are spent");
    assert_eq!((&status["usage"]["calls"], &status["usage"]["usd"]), (&1.into(), &1.25.into()));
    assert_story!(text);
}

#[test]
fn a_plan_is_checked_before_it_runs() {
    let sandbox = project();
    let good = "---\nphase: 5\nplan: 1\ntype: tdd\n---\n\n1. Log in\n   - test_id: tests/login.rs::logs_in\n   - test_file_path: tests/login.rs\n";
    sandbox.write("plans/good.md", good);
    sandbox.write("plans/bad.md", good.replace("   - test_file_path: tests/login.rs\n", "2. Log out\n"));
    sandbox.write("plans/notes.md", "# Only notes\n");
    sandbox.write("plans/broken.md", "---\nphase: 5\n---\n");
    let root = sandbox.project().canonicalize().unwrap();
    let check =
        |file: &str| told(says(&sandbox, &["plan", "check", file])).replace(root.to_str().unwrap(), "[project]");
    let (code, document) = json(&sandbox, &["plan", "check", "plans/bad.md"]);
    assert_eq!((code, &document["runs"], &document["type"]), (1, &false.into(), &"tdd".into()));
    assert_eq!(document["steps"][0]["test_id"]["text"], "tests/login.rs::logs_in");
    let (_, doctor) = json(&sandbox, &["doctor"]);
    let of_plans = doctor["findings"].as_array().unwrap().iter().filter(|finding| finding["subject"] == "plan");
    let of_plans: Vec<_> = of_plans.map(|it| format!("{} {} {}\n", it["state"], it["detail"], it["fix"])).collect();
    assert_eq!(doctor["healthy"], true);
    assert_story!(
        check("plans/good.md"),
        check("plans/bad.md"),
        check("plans/notes.md"),
        check("plans/broken.md"),
        check("plans/missing.md"),
        of_plans.concat(),
    );
}

#[test]
fn doctor_proposes_refactor_mode_for_code_without_tests() {
    let sandbox = project();
    let tests = |sandbox: &Sandbox| {
        let (_, doctor) = json(sandbox, &["doctor"]);
        doctor["findings"].as_array().unwrap().iter().find(|finding| finding["subject"] == "tests").cloned()
    };
    assert_eq!(tests(&sandbox), None);
    sandbox.write("src/lib.rs", RIGHT);
    let fix = tests(&sandbox).unwrap()["fix"].as_str().unwrap().to_owned();
    assert!(fix.contains("`tdd-cli refactor begin`"), "{fix}");
}

#[test]
fn triples_of_red_edit_and_green_come_from_the_commits_and_their_causes_from_the_ledger() {
    let sandbox = project();
    sandbox.write("tests/game.rs", TEST);
    assert_eq!(says(&sandbox, &["auto-test"]).0, 0);
    sandbox.commit(&format!("test: a gutter game\n\nBody.\n\nTDD-Step: 1\nTDD-Phase: red\nTDD-Test: {TARGET}"));
    sandbox.write("src/lib.rs", RIGHT);
    sandbox.commit(&format!("feat: score\n\nBody.\n\nTDD-Step: 2\nTDD-Phase: green\nTDD-Test: {TARGET}"));
    let file = sandbox.outside().join("triples.jsonl");
    let (code, said) = says(&sandbox, &["export", "triples", "--output", file.to_str().unwrap()]);
    assert_eq!((code, said.as_str()), (0, "1 triples\n"));
    let (_, line) = json(&sandbox, &["export", "triples"]);
    let written: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(written, line);
    let id = |rev: &str| Value::from(sandbox.git(&["rev-parse", rev]).trim());
    assert_eq!((&line["red"]["commit"], &line["green"]["commit"]), (&id("HEAD^"), &id("HEAD")));
    assert_eq!((&line["red"]["tree"], &line["green"]["tree"]), (&id("HEAD^^{tree}"), &id("HEAD^{tree}")));
    assert_eq!((&line["test_id"], &line["red"]["cause"]), (&TARGET.into(), &"missing-symbol".into()));
    assert_eq!(line["edit"]["diff"], sandbox.git(&["diff", "--no-ext-diff", "--abbrev=7", "HEAD^", "HEAD"]));
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"\b[0-9a-f]{40}\b", "[id]");
    settings.add_filter(r"\b[0-9a-f]{7}\b", "[id]");
    settings.bind(|| insta::assert_json_snapshot!(line));
}

#[test]
fn a_file_that_cannot_be_exported_to_is_named() {
    let sandbox = project();
    let (code, said) = says(&sandbox, &["export", "triples", "--output", "no/such/folder.jsonl"]);
    assert_eq!(code, 2);
    assert!(said.contains("no/such/folder.jsonl`"), "{said}");
}

#[test]
fn the_very_first_test_can_be_skipped_too() {
    let sandbox = project();
    sandbox.write("tests/game.rs", TEST);
    sandbox.commit("test: a gutter game");
    block(&sandbox, TARGET);
    let (code, said) = says(&sandbox, &["resume", "--skip"]);
    assert_eq!(code, 0, "{said}");
    let output = sandbox.command("cargo").args(["test", "--all"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let (code, said) = says(&sandbox, &["resume", "--unblock", TARGET]);
    assert_eq!((code, sandbox.read("tests/game.rs").as_str()), (0, TEST), "{said}");
}

#[test]
fn a_test_inside_of_a_source_file_is_skipped_and_retired_like_any_other() {
    let inline = "\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn adds() {\n        assert_eq!(score(&[1, 2]), 3);\n    }\n\n    #[test]\n    fn doubles() {\n        assert_eq!(score(&[10, 2]), 14);\n    }\n}\n";
    let sandbox = project();
    let source = format!("{RIGHT}{inline}");
    sandbox.write("src/lib.rs", &source);
    sandbox.commit("test: doubles");
    let test = "src/lib.rs::tests::doubles";
    block(&sandbox, test);
    assert_eq!(json(&sandbox, &["resume", "--skip"]).1["skipped"], test);
    assert_eq!(json(&sandbox, &["resume", "--unblock", test]).1["unblocked"], test);
    assert_eq!(sandbox.read("src/lib.rs"), source);
    assert_eq!(says(&sandbox, &["retire", test, "--reason", "never mind"]).0, 0);
    let left = source.split("\n    #[test]\n    fn doubles").next().unwrap().to_owned() + "}\n";
    assert_eq!(sandbox.read("src/lib.rs"), left);
}

#[test]
fn a_test_is_named_from_where_the_person_stands_and_one_that_came_back_is_run_again() {
    let sandbox = tested_project();
    assert_eq!(says(&sandbox, &["auto-test"]).0, 0);
    let in_tests = |arguments: &[&str]| {
        let mut command = sandbox.command(env!("CARGO_BIN_EXE_tdd-cli"));
        let output = command.current_dir(sandbox.project().join("tests")).args(arguments).output().unwrap();
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    let named = "game.rs::a_gutter_game_scores_zero";
    let said = in_tests(&["log", "--test", named]);
    assert!(said.ends_with(&format!("pass {TARGET}\n")), "{said}");
    let said = in_tests(&["log", "--test", "game.rs::nope"]);
    assert_eq!(said, "no such event is recorded: `tdd-cli log` shows all events\n");
    let said = in_tests(&["retire", named, "--reason", "the game is over"]);
    assert!(said.starts_with(&format!("retired {TARGET}\n")), "{said}");
    let status = || json(&sandbox, &["status"]).1;
    assert_eq!((&status()["green"], &status()["tests_current"]), (&Value::from(0), &Value::from(false)));
    sandbox.git(&["revert", "--no-edit", "HEAD"]);
    assert_eq!((&status()["green"], &status()["tests_current"]), (&Value::from(0), &Value::from(false)));
}
