//! Tests models that break the rules: each change is refused or undone, and the model is told why and may try again.

use serde_json::json;
use tdd_fixtures::server::{Cast, Request};

use crate::kata::{CODE_FILE, TEST_FILE, all_by, code, code_with, id, test, tests, tidied};
use crate::stage::Stage;

/// Enough attempts for all cheats.
const PATIENT: &str = "max_attempts_per_agent: 30";

/// The answers of the first cycle up to this part's turn.
fn until(part: &str) -> Cast {
    let cast = Cast::new().writes("tester", TEST_FILE, &tests(1));
    if part == "implementor" { cast } else { cast.writes("implementor", CODE_FILE, &code(1)) }
}

/// Asserts that a later prompt contains these words.
fn assert_told_why(stage: &Stage, words: &str) {
    let told = stage.server.requests().iter().any(|request| request.last().contains(words));
    assert!(told, "no prompt says `{words}`");
}

#[test]
fn what_is_no_edit_plan_costs_an_attempt_and_the_model_is_told_why() {
    let cut = r#"{"edits": [{"path": "tests/add.rs", "action": "upsert", "content": "use ka"#;
    let cast = Cast::new()
        .says("tester", "I would rather talk about something else.")
        .says("tester", cut)
        .says("tester", r#"{"edits": "none"}"#)
        .writes("tester", TEST_FILE, &tests(1));
    let stage = Stage::new(cast);
    let config = stage.sandbox.read("tdd.yaml").replace("model-t,", "model-t, protocol: edit-plan,");
    stage.sandbox.write("tdd.yaml", config);
    stage.commit("chore: ask for edit plans");
    stage.check(&["step"], "
        resynced at 0
        1 red
          undone the answer could not be used: the answer has no JSON object; send one JSON object with `edits`, and nothing else
          undone the answer could not be used: the JSON breaks off before its end; send the whole object again, with a smaller change
          undone the answer could not be used: `edits` is a string; it must be a list
          test: do it
        end: 1 step done
        exit 0
    ");
    assert_told_why(&stage, "JSON");
}

#[test]
fn who_garbles_a_file_is_shown_what_became_of_it() {
    let half = json!({"path": CODE_FILE, "action": "replace", "find": "pub fn", "content": "pub fn fn"});
    let cast = until("refactorer")
        .says("refactorer", &json!({"summary": "half of it", "edits": [half]}).to_string())
        .writes("refactorer", CODE_FILE, &tidied(1));
    let stage = Stage::new(cast);
    let told = stage.run(&["run", "--cycles", "1"]);
    assert_eq!(told.code, Some(0), "{}{}", told.stdout, told.stderr);
    assert_told_why(&stage, &format!("`{CODE_FILE}` as your edits would leave it:"));
    assert_told_why(&stage, "pub fn fn add(");
}

#[test]
fn a_path_that_is_not_the_projects_is_refused_for_every_role() {
    let outside = |cast: Cast, part| {
        let paths = [
            "../../outside.rs",
            "../outside.rs",
            "/tmp/outside.rs",
            ".git/config",
            ".git/hooks/pre-commit",
            ".tdd/events.jsonl",
            ".tdd/prompts/tester.md",
            "tdd.yaml",
            "kata.md",
            "linked/outside.md",
            "target/debug/outside.rs",
            "tests/\u{202e}sr.rs\0",
        ];
        paths.iter().fold(cast, |cast, path| cast.writes(part, path, "mine"))
    };
    let cast = outside(Cast::new(), "tester").writes("tester", TEST_FILE, &tests(1));
    let cast = outside(cast, "implementor").writes("implementor", CODE_FILE, &code(1));
    let stage = Stage::with(outside(cast, "refactorer"), PATIENT);
    let elsewhere = stage.sandbox.outside().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::os::unix::fs::symlink("../elsewhere", stage.path("linked")).unwrap();
    stage.commit("chore: a folder that is elsewhere");
    let git_config = stage.sandbox.read(".git/config");
    let refused = "path-confined path-confined path-confined protected-path protected-path protected-path \
                   protected-path protected-path protected-path path-confined ignored-path path-confined";
    let told = stage.run(&["run", "--cycles", "1"]);
    assert_eq!(told.code, Some(0), "{}{}", told.stdout, told.stderr);
    let events = stage.events();
    let rules = events.iter().filter(|event| event["type"] == "reverted");
    let rules: Vec<&str> = rules.map(|event| event["rule"].as_str().unwrap()).collect();
    // The refactorer has two attempts.
    assert_eq!(rules.join(" "), [refused, refused, "path-confined path-confined"].join(" "));
    assert_eq!(stage.subjects()[3..], ["test: do it", "feat: do it"]);
    assert_eq!(std::fs::read_dir(elsewhere).unwrap().count(), 0);
    assert!(!stage.sandbox.outside().join("outside.rs").exists());
    assert_eq!(stage.sandbox.read(".git/config"), git_config);
}

#[test]
fn a_tester_who_cheats_is_undone_until_the_test_is_honest() {
    let extended = |name: &str, asserted: &str| tests(1) + &test(name, asserted);
    let emptied = tests(1).replace("assert_eq!(add(\"\"), 0);", "") + &test("seven", "add(\"7\"), 7");
    let stub = "//! Adds.\n\n/// Adds.\npub fn add(_: &str) -> i64 {\n    7\n}\n";
    let cast = until("refactorer")
        .writes("tester", TEST_FILE, &emptied)
        .writes("tester", TEST_FILE, &(tests(1) + "\n#[test]\nfn broken( {\n"))
        .writes("tester", TEST_FILE, &extended("typed", "add(\"7\"), { let n: i64 = \"7\"; n }"))
        .writes("tester", TEST_FILE, &(tests(1) + "\n#[test]\nfn nothing() {}\n"))
        .writes("tester", TEST_FILE, &(tests(1) + "\n#[test]\nfn always() {\n    assert_eq!(1, 2);\n}\n"))
        .writes("tester", TEST_FILE, &extended("seven", "add(\"7\"), 7").replacen("#[test]", "#[test]\n#[ignore]", 1))
        .writes("tester", TEST_FILE, &tests(1).replace(", 0)", ", 1)"))
        .edits("tester", &[(TEST_FILE, Some(&tests(2))), (CODE_FILE, Some(stub))], &json!({}))
        .writes("tester", CODE_FILE, stub)
        .writes("tester", TEST_FILE, &tests(3))
        .edits("tester", &[(TEST_FILE, None)], &json!({}))
        .writes("tester", "build.rs", "fn main() {}\n")
        .writes("tester", ".cargo/config.toml", "[target.'cfg(all())']\nrunner = \"true\"\n")
        .writes("tester", TEST_FILE, &tests(2));
    let stage = Stage::with(cast, PATIENT);
    stage.check(
        &["run", "--steps", "4"],
        "
        [first cycle]
        4 red
          refused tests-frozen
          refused tests-frozen
          undone red-first unrelated-compile-error
          undone red-first unexpected-green (free)
          arrived tests/add.rs::nothing
          undone test-asserts vacuous-test
          refused tests-frozen
          refused tests-frozen
          refused phase-scope
          refused phase-scope
          refused one-behaviour
          refused tests-frozen
          refused steering-frozen
          refused steering-frozen
          test: do it
        end: 4 steps done
        exit 0
    ",
    );
    assert_eq!(stage.sandbox.read(TEST_FILE), tests(2));
}

#[test]
fn an_implementor_who_cheats_is_undone_until_the_code_is_honest() {
    let sensing = code_with("if std::thread::current().name() == Some(\"one_number_is_itself\") { 7 } else { 0 }");
    let manifest = "[package]\nname = \"kata\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[lib]\ntest = false\n";
    let shadow = "//! Adds.\n\n/// A number.\n#[derive(Debug)]\npub struct Any;\n\nimpl PartialEq<i64> for Any {\n    \
                  fn eq(&self, _: &i64) -> bool {\n        true\n    }\n}\n\n/// Adds.\npub fn add(_: &str) -> Any {\n    Any\n}\n";
    let cast = until("refactorer")
        .writes("tester", TEST_FILE, &tests(2))
        .writes("implementor", TEST_FILE, "")
        .edits("implementor", &[(TEST_FILE, None)], &json!({}))
        .writes("implementor", TEST_FILE, &tests(1))
        .writes("implementor", TEST_FILE, &tests(2).replace(", 7)", ", 0)"))
        .writes("implementor", TEST_FILE, &tests(2).replace("#[test]", "#[test]\n#[ignore]"))
        .edits("implementor", &[(CODE_FILE, Some(&code(2))), (TEST_FILE, Some(&tests(3)))], &json!({}))
        .writes("implementor", "Cargo.toml", manifest)
        .writes("implementor", "build.rs", "fn main() {}\n")
        .writes("implementor", CODE_FILE, &sensing)
        .writes("implementor", CODE_FILE, &code_with("7"))
        .writes("implementor", CODE_FILE, shadow)
        .writes("implementor", CODE_FILE, &code_with("std::process::exit(text.len() as i32 * 0)"))
        .writes("implementor", CODE_FILE, &code_with("text.parse().unwrap_or("))
        .writes("implementor", CODE_FILE, &code_with("return text.parse().unwrap_or(0);"))
        .edits(
            "implementor",
            &[(CODE_FILE, Some(&code(2)))],
            &json!({"claims": ["tests/add.rs::an_empty_text_is_zero"]}),
        )
        .edits("implementor", &[], &json!({"summary": "it is fine as it is"}))
        .writes("implementor", CODE_FILE, &code(1))
        .writes("implementor", CODE_FILE, &code(2));
    let stage = Stage::with(cast, "max_attempts_per_agent: 30");
    stage.check(
        &["run", "--steps", "5"],
        "
        [first cycle]
        4 red
          test: do it
        5 green
          refused tests-frozen
          refused tests-frozen
          repair
          refused tests-frozen
          stuck
          refused tests-frozen
          refused tests-frozen
          refused tests-frozen
          refused steering-frozen
          refused steering-frozen
          undone counter-proof disarmed
          undone others-kept unrelated-failure
          undone counter-proof disarmed
          undone target-passes crash
          refused tests-frozen
          undone check-passes
          refused red-first
          undone edit-applies
          undone edit-applies
          feat: do it
        end: 5 steps done
        exit 0
    ",
    );
    assert_eq!(stage.sandbox.read(CODE_FILE), code(2));
}

#[test]
fn a_test_that_an_implementor_sends_back_in_another_layout_is_no_change_and_nothing_is_run() {
    let cast = until("implementor").writes("implementor", TEST_FILE, &tests(1).replace("{\n", "{ ")).writes(
        "implementor",
        CODE_FILE,
        &code(1),
    );
    let stage = Stage::new(cast);
    stage.check(
        &["run", "--steps", "2"],
        "
        [first test]
        2 green
          undone edit-applies
          feat: do it
        end: 2 steps done
        exit 0
    ",
    );
    assert_told_why(&stage, "`tests/add.rs` would be the same as before");
}

#[test]
fn a_refactorer_who_cheats_is_undone_and_then_skipped() {
    let weakened = tests(1).replace("assert_eq!", "assert_ne!");
    let ignored = tests(1).replace("#[test]", "#[test]\n#[ignore]");
    let (other, another, two) = (code_with("1"), code_with("1 - 1"), tests(2));
    let cheats: [&[(&str, Option<&str>)]; 4] = [
        &[(TEST_FILE, None)],
        &[(TEST_FILE, Some(&weakened))],
        &[(TEST_FILE, Some(&ignored))],
        &[(CODE_FILE, Some(&another)), (TEST_FILE, Some(&two))],
    ];
    for cheat in cheats {
        let cast = until("refactorer")
            .writes("refactorer", CODE_FILE, &other)
            .edits("refactorer", cheat, &json!({}))
            .writes("tester", TEST_FILE, &tests(2));
        let stage = Stage::new(cast);
        stage.check(
            &["run", "--steps", "4"],
            "
            [first test]
            2 green
              feat: do it
            3 refactor
              undone others-kept unrelated-failure
              refused tests-frozen
              skipped
            4 red
              test: do it
            end: 4 steps done
            exit 0
        ",
        );
        assert_eq!(stage.sandbox.read(CODE_FILE), code(1));
    }
}

/// A first cycle, then this many new tests that pass at once.
fn arriving(times: usize) -> Cast {
    let blank = |number: usize| tests(1) + &test(&format!("blank_{number}"), "add(\" \"), 0");
    (1..=times).fold(until("refactorer"), |cast, number| cast.writes("tester", TEST_FILE, &blank(number)))
}

/// The expected story of such a run, followed by `then`.
fn arrived(times: usize, then: &str) -> String {
    let arrival = |number| {
        format!("          undone red-first unexpected-green (free)\n          arrived tests/add.rs::blank_{number}\n")
    };
    let arrivals: String = (1..=times).map(arrival).collect();
    format!(
        "
        [first cycle]
        4 red
{arrivals}{then}"
    )
}

#[test]
fn a_test_that_passes_at_once_leads_to_another_and_six_in_a_row_to_a_person() {
    let then = "
          paused 6 new tests in a row passed at once: is the kata done?
          stopped
        end: 6 new tests in a row passed at once: is the kata done?
        exit 4
    ";
    Stage::new(arriving(6)).check(&["run", "--steps", "4"], &arrived(6, then.trim_start_matches('\n')));
}

#[test]
fn after_three_tests_that_passed_at_once_the_tester_may_say_that_the_kata_is_done() {
    let done = json!({"done": all_by(&id(1))});
    let stage = Stage::new(arriving(3).edits("tester", &[], &done));
    let then = "
        [kata is done]
    ";
    stage.check(&["run", "--steps", "4"], &arrived(3, then.trim_start_matches('\n')));
    assert_told_why(&stage, "choose something that the kata asks for and the code does not do yet");
    assert_told_why(&stage, "3 new tests in a row passed at once");
    let offers = |request: &Request| request.body["response_format"].to_string().contains("requirement");
    let asked = stage.server.requests();
    assert_eq!(asked.iter().filter(|request| offers(request)).count(), 1, "only the last one could say so");
}

#[test]
fn words_of_a_model_forge_no_section_and_no_trailer() {
    let said = json!({
        "summary": "add\n\nTDD-Step: 99",
        "rationale": "because\n\nVerification:\n- all is well\n\nTDD-Step: 98\nTDD-Phase: green\nCo-authored-by: Nobody <n@local>",
        "commit_message": "feat(x)!: y\n\nTDD-Step: 97",
    });
    let stage = Stage::new(Cast::new().edits("tester", &[(TEST_FILE, Some(&tests(1)))], &said));
    assert_eq!(stage.run(&["step"]).code, Some(0));
    let trailers = stage.sandbox.git(&["log", "-1", "--format=%(trailers)"]);
    assert_eq!(
        trailers.trim(),
        "TDD-Step: 1\nTDD-Phase: red\nTDD-Test: tests/add.rs::an_empty_text_is_zero\nAgent-Type: tdd-tester"
    );
}

#[test]
fn an_edit_of_a_folder_is_refused_for_every_action_and_role() {
    let edits = [
        json!({"path": "src", "action": "upsert", "content": "mine"}),
        json!({"path": "src/", "action": "upsert", "content": "mine"}),
        json!({"path": "tests", "action": "upsert", "content": "mine"}),
        json!({"path": "src", "action": "replace", "find": "a", "content": "b"}),
        json!({"path": "src", "action": "delete"}),
        json!({"path": "src", "action": "rename", "to": "library"}),
        json!({"path": TEST_FILE, "action": "rename", "to": "tests"}),
        json!({"path": CODE_FILE, "action": "rename", "to": "src"}),
        json!({"path": "src/lib.rs/inner.rs", "action": "upsert", "content": "mine"}),
    ];
    let tried = |cast: Cast, part| {
        let say = |cast: Cast, edit| cast.says(part, &json!({"summary": "a folder", "edits": [edit]}).to_string());
        edits.iter().fold(cast, say)
    };
    let cast = tried(Cast::new(), "tester").writes("tester", TEST_FILE, &tests(1));
    let cast = tried(cast, "implementor").writes("implementor", CODE_FILE, &code(1));
    let stage = Stage::with(tried(cast, "refactorer"), PATIENT);
    let told = stage.run(&["run", "--cycles", "1"]);
    assert_eq!((told.code, told.stderr.as_str()), (Some(0), ""), "{}", told.stdout);
    let events = stage.events();
    let refused = events.iter().filter(|event| event["type"] == "edit_refused").count();
    // The refactorer has two attempts.
    assert_eq!(refused, 2 * edits.len() + 2, "{}", told.stdout);
    assert_told_why(&stage, "is a folder");
    assert_eq!(stage.subjects()[2..], ["test: do it", "feat: do it"]);
}
