//! Tests existing projects: with red tests, with a failing check, without a ledger.

use serde_json::json;
use tdd_fixtures::server::Cast;

use crate::kata::{CODE_FILE, TEST_FILE, code, code_with, id, tests};
use crate::stage::Stage;

/// A project with tests and code that a person committed.
fn project(cast: Cast, tests: &str, code: &str) -> Stage {
    let stage = Stage::new(cast);
    stage.sandbox.write(TEST_FILE, tests);
    stage.sandbox.write(CODE_FILE, code);
    stage.commit("feat: what there was");
    stage
}

/// The story of a run that begins with a green step.
const GREEN_FIRST: &str = "
    resynced at 0
    1 green
      feat: do it
    2 refactor
      nothing
    3 red
      test: do it
    end: 3 steps done
    exit 0
";

#[test]
fn an_inherited_red_is_made_green_before_any_new_test() {
    let cast = Cast::new().writes("implementor", CODE_FILE, &code(2)).writes("tester", TEST_FILE, &tests(3));
    let stage = project(cast, &tests(2), &code(1));
    stage.check(&["run", "--steps", "3"], GREEN_FIRST);
}

#[test]
fn one_green_may_claim_all_inherited_reds() {
    let claims = json!({"summary": "do it", "claims": [id(2), id(3)]});
    let cast = Cast::new().writes("implementor", CODE_FILE, &code(2)).edits(
        "implementor",
        &[(CODE_FILE, Some(&code(3)))],
        &claims,
    );
    let stage = project(cast, &tests(3), &code(1));
    stage.check(
        &["run", "--steps", "2"],
        "
        resynced at 0
        1 green
          undone target-passes assertion
          feat: do it
        2 refactor
          nothing
        end: 2 steps done
        exit 0
    ",
    );
}

#[test]
fn inherited_reds_that_miss_a_symbol_are_made_green_too() {
    let cast = Cast::new().writes("implementor", CODE_FILE, &code(3));
    let stage = project(cast, &tests(3), "//! Nothing yet.\n");
    stage.check(
        &["step"],
        "
        resynced at 0
        1 green
          feat: do it
        end: 1 step done
        exit 0
    ",
    );
}

#[test]
fn a_check_that_fails_at_head_gives_the_refactorer_the_first_step() {
    let cast = Cast::new().writes("refactorer", CODE_FILE, &code(1)).writes("tester", TEST_FILE, &tests(2)).writes(
        "implementor",
        CODE_FILE,
        &code(2),
    );
    let stage = project(cast, &tests(1), &code_with("return 0;"));
    stage.check(
        &["run", "--steps", "3"],
        "
        resynced at 0
        1 refactor
          refactor: do it
        2 red
          test: do it
        3 green
          feat: do it
        end: 3 steps done
        exit 0
    ",
    );
}

#[test]
fn a_test_that_cannot_be_compiled_at_head_stops_for_a_person() {
    let stage = project(Cast::new(), "#[test]\nfn broken( {\n", &code(1));
    stage.check(&["step"], "
        resynced at 0
          paused baseline-not-green: tests/add.rs: error: this file contains an unclosed delimiter (syntax-error), and no step has changed anything yet
        end: baseline-not-green: tests/add.rs: error: this file contains an unclosed delimiter (syntax-error), and no step has changed anything yet
        exit 4
    ");
    assert_eq!(stage.server.requests().len(), 0);
}

#[test]
fn a_clone_goes_on_where_the_original_was() {
    let cast = Cast::new().writes("tester", TEST_FILE, &tests(1)).writes("implementor", CODE_FILE, &code(1));
    let stage = Stage::new(cast);
    assert_eq!(stage.run(&["step"]).code, Some(0));
    let clone = stage.sandbox.outside().join("clone");
    stage.sandbox.git(&["clone", "-q", ".", clone.to_str().unwrap()]);
    let output = stage.command(&["run", "--steps", "2", "--format", "json"]).current_dir(&clone).output().unwrap();
    let events: Vec<serde_json::Value> =
        String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    crate::stage::assert_told(
        &crate::stage::story(&events),
        "
        resynced at 1
        2 green
          feat: do it
        3 refactor
          nothing
        end: 2 steps done
    ",
    );
}

#[test]
fn tests_whose_code_a_person_took_away_are_made_green_again_before_anything_else() {
    let cast = Cast::new().writes("implementor", CODE_FILE, &code(2)).writes("tester", TEST_FILE, &tests(3));
    let stage = project(cast, &tests(2), &code(2));
    assert_eq!(stage.run(&["auto-test"]).code, Some(0));
    stage.sandbox.write(CODE_FILE, "//! Nothing.\n");
    stage.commit("chore: a person takes the code away");
    stage.check(&["run", "--steps", "3"], GREEN_FIRST);
}
