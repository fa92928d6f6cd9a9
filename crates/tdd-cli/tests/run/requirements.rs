//! Tests what the tester is told of the kata's requirements, and when the kata is done.

use serde_json::json;
use tdd_fixtures::server::{Cast, Request};

use crate::kata::{CODE_FILE, TEST_FILE, code, id, tests};
use crate::stage::Stage;

const KATA: &str = "# Adder\n\n1. An empty text is 0.\n2. One number is itself: `add(\"7\")` is 7.\n3. More numbers are \
                    added: `add(\"1,2,3\")` is 6.\n";

fn staged(cast: Cast) -> Stage {
    let stage = Stage::new(cast);
    stage.sandbox.write("kata.md", KATA);
    stage.commit("docs: give examples");
    stage
}

/// The requests for edits to a part.
fn asked(stage: &Stage, part: &str) -> Vec<Request> {
    let requests = stage.server.requests().into_iter();
    requests.filter(|request| request.part() == part && request.is_edit()).collect()
}

fn cycle(cast: Cast, number: usize) -> Cast {
    let cast = cast.writes("tester", TEST_FILE, &tests(number));
    cast.writes("implementor", CODE_FILE, &code(number))
}

#[test]
fn a_premature_done_is_refused_with_the_open_requirements_and_the_next_example() {
    let done = |number: usize| json!({"done": [{"requirement": number.to_string(), "test_id": id(number)}]});
    let cast = cycle(Cast::new(), 1).edits("tester", &[], &done(1));
    let cast = cycle(cycle(cast, 2), 3).edits("tester", &[], &done(3));
    let stage = staged(cast);
    stage.check(
        &["run", "--until-done"],
        "
        [first cycle]
        4 red
          undone target-passes
          test: do it
        5 green
          feat: do it
        6 refactor
          nothing
        7 red
          test: do it
        8 green
          feat: do it
        9 refactor
          nothing
        10 red
          done
        end: the kata is done: 3 requirements, each with a test that passes
        exit 0
    ",
    );
    let asked = asked(&stage, "tester");
    let refused = "of the kata's 3 requirements, 2 seem to have no test yet: 2. \"One number is itself: `add(\"7\")` is 7.\"; \
                   3. \"More numbers are added: `add(\"1,2,3\")` is 6.\"";
    assert!(asked[2].last().contains(refused), "{}", asked[2].last());
    assert!(asked[2].last().contains("next example that no test has yet: `add(\"7\")` is 7"), "{}", asked[2].last());
    let seems_done = "Each requirement of the kata seems to have a test that passes.";
    assert!(asked[4].last().contains(seems_done) && !asked[3].last().contains(seems_done), "{}", asked[4].last());
}

#[test]
fn only_the_tester_sees_which_requirements_are_open() {
    let stage = staged(cycle(cycle(Cast::new(), 1), 2));
    assert_eq!(stage.run(&["run", "--steps", "4"]).code, Some(0));
    let briefs: Vec<String> = asked(&stage, "tester").iter().map(|request| request.message(1)).collect();
    let first = "# Requirements\n\nNo test seems to be about these requirements of the kata yet:\n1. An empty text is \
                 0.\n2. One number is itself: `add(\"7\")` is 7.\n3. More numbers are added: `add(\"1,2,3\")` is \
                 6.\n\nNext example that no test has yet: `add(\"7\")` is 7\n";
    assert!(briefs[0].ends_with(first), "{}", briefs[0]);
    let second = "# Requirements\n\nNo test seems to be about these requirements of the kata yet:\n2. One number is \
                  itself: `add(\"7\")` is 7.\n3. More numbers are added: `add(\"1,2,3\")` is 6.\n1. seems to have a \
                  test: `an_empty_text_is_zero`\n\nNext example that no test has yet: `add(\"7\")` is 7\n";
    assert!(briefs[1].ends_with(second), "{}", briefs[1]);
    for part in ["implementor", "refactorer"] {
        let asked = asked(&stage, part);
        assert!(!asked.is_empty() && asked.iter().all(|request| !request.message(1).contains("# Requirements")));
    }
}

#[test]
fn a_tester_may_name_a_long_list_bit_by_bit() {
    let done = |number: usize| json!({"done": [{"requirement": number.to_string(), "test_id": id(1)}]});
    let cast = cycle(Cast::new(), 1).edits("tester", &[], &done(2)).edits("tester", &[], &done(3));
    staged(cast).check(
        &["run", "--until-done"],
        "
        [first cycle]
        4 red
          undone target-passes (free)
          done
        end: the kata is done: 3 requirements, each with a test that passes
        exit 0
    ",
    );
}

#[test]
fn a_tester_with_nothing_open_may_say_that_the_kata_is_done_in_any_run() {
    let done = json!({"done": [{"requirement": "1", "test_id": id(1)}]});
    let stage = staged(cycle(cycle(cycle(Cast::new(), 1), 2), 3).edits("tester", &[], &done));
    let told = stage.run(&["run", "--steps", "12"]);
    assert_eq!(told.code, Some(0), "{}", told.stderr);
    assert_eq!(
        stage.events().last().unwrap()["reason"],
        "the kata is done: 3 requirements, each with a test that passes"
    );
    let offers = |request: &Request| request.body["response_format"].to_string().contains("requirement");
    let offered: Vec<bool> = asked(&stage, "tester").iter().map(offers).collect();
    assert_eq!(offered, [false, false, false, true]);
}
