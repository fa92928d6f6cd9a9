//! Tests when a run stops by itself: the kata is done, or a limit is reached.

use std::time::Duration;

use serde_json::json;
use tdd_fixtures::server::{Cast, Reply, edit_plan};

use crate::kata::{CODE_FILE, TEST_FILE, all_by, code, id, tests};
use crate::stage::Stage;

#[test]
fn a_kata_is_done_when_every_test_that_is_named_passes() {
    let done = |test: String| json!({"done": all_by(&test)});
    let cast = Cast::new()
        .writes("tester", TEST_FILE, &tests(1))
        .writes("implementor", CODE_FILE, &code(1))
        .edits("tester", &[], &done(id(2)))
        .edits("tester", &[], &done(id(1)));
    let stage = Stage::new(cast);
    stage.check(
        &["run", "--until-done"],
        "
        [first cycle]
        4 red
          undone target-passes
        [kata is done]
    ",
    );
}

#[test]
fn a_budget_of_tokens_ends_the_run_for_a_person() {
    let cast = Cast::new().writes("tester", TEST_FILE, &tests(1));
    let stage = Stage::with(cast, "llm.budget: { tokens: 200 }");
    stage.check(
        &["run", "--steps", "3"],
        "
        resynced at 0
        1 red
          refused budget
        end: all tokens are spent
        exit 4
    ",
    );
    stage.check(
        &["run", "--steps", "3"],
        "
        end: all tokens are spent
        exit 4
    ",
    );
}

#[test]
fn when_the_time_is_over_no_attempt_is_begun_and_the_next_run_goes_on() {
    let answer = edit_plan(&[(TEST_FILE, Some(&tests(1)))], &json!({"summary": "do it"}));
    // About thirty words, so that the answer takes several seconds.
    let slow = Reply::Drips { text: answer, pause: Duration::from_millis(200), whole: true };
    let stage = Stage::new(Cast::new().replies("tester", slow).writes("implementor", CODE_FILE, &code(1)));
    stage.check(
        &["run", "--steps", "2", "--max-minutes", "0.03"],
        "
        [first test]
        end: the time is up, 1 step done
        exit 4
    ",
    );
    stage.check(
        &["run", "--steps", "1", "--max-minutes", "10"],
        "
        2 green
          feat: do it
        end: 1 step done
        exit 0
    ",
    );
    for none in ["0", "-1", "soon", "1e300"] {
        assert_eq!(stage.run(&["run", &format!("--max-minutes={none}")]).code, Some(2), "{none}");
    }
    for none in ["--steps=0", "--cycles=two"] {
        let refused = stage.run(&["run", none]);
        assert_eq!(refused.code, Some(2), "{none}");
        assert!(refused.stderr.contains("write a whole number, at least `1`"), "{}", refused.stderr);
    }
}

#[test]
fn what_a_run_of_the_tests_leaves_behind_is_removed_and_kept_aside() {
    let littering =
        tests(1).replace("    assert", "    std::fs::write(\"left.txt\", \"behind\").unwrap();\n    assert");
    let cast = Cast::new().writes("tester", TEST_FILE, &littering).writes("implementor", CODE_FILE, &code(1));
    let stage = Stage::new(cast);
    let told = stage.run(&["run", "--steps", "2"]);
    assert_eq!(told.code, Some(0), "{}{}", told.stdout, told.stderr);
    assert!(!stage.path("left.txt").exists());
    let kept = stage.sandbox.git(&["for-each-ref", "refs/tdd/attempts/0", "--format=%(refname)"]);
    assert_eq!(kept.trim(), "refs/tdd/attempts/0/0-1");
    assert_eq!(stage.sandbox.git(&["show", "refs/tdd/attempts/0/0-1:left.txt"]), "behind");
    let committed = stage.sandbox.git(&["ls-tree", "-r", "--name-only", "HEAD"]);
    assert!(!committed.contains("left.txt"), "{committed}");
}

#[test]
fn a_kata_of_many_bytes_a_character_is_cut_between_characters() {
    let stage = Stage::with(Cast::new(), "llm.context_bytes: 20000\nmax_attempts_per_agent: 1");
    for shift in 0..4 {
        let text = format!("# Kata\n\n{}{}\n", "a".repeat(shift), "日本é🦀".repeat(6000));
        stage.sandbox.write("kata.md", text);
        stage.commit("docs: a long kata");
        std::fs::remove_dir_all(stage.path(".tdd")).unwrap_or_default();
        let told = stage.run(&["step"]);
        assert_eq!(told.code, Some(4), "{}{}", told.stdout, told.stderr);
        assert_eq!(told.stderr.matches("the kata is too long for `llm.context_bytes`").count(), 1, "{}", told.stderr);
    }
    let longest = stage.server.requests().iter().map(|request| request.body["messages"].to_string().len()).max();
    assert!(longest.unwrap() < 30_000, "{longest:?}");
}

#[test]
fn without_auto_test_a_model_hears_the_verdict_and_not_what_the_tests_said() {
    for (setting, is_told) in [("gate: { auto_test: true }", true), ("gate: { auto_test: false }", false)] {
        let cast = Cast::new()
            .writes("tester", TEST_FILE, &tests(1))
            .writes("implementor", CODE_FILE, &code(1).replace('0', "77"))
            .writes("implementor", CODE_FILE, &code(1));
        let stage = Stage::with(cast, setting);
        let told = stage.run(&["run", "--steps", "2"]);
        assert_eq!(told.code, Some(0), "{}", told.stderr);
        let heard: String = stage.server.requests().into_iter().map(|request| request.body.to_string()).collect();
        assert!(heard.contains("target-passes"), "{setting}");
        assert_eq!(heard.contains("fails (assertion)"), is_told, "{setting}");
    }
}
