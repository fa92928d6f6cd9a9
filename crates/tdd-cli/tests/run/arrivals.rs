//! Tests new tests that pass at once, because the code already satisfies them.

use serde_json::json;
use tdd_fixtures::server::Cast;

use crate::kata::{CODE_FILE, TEST_FILE, all_by, arrivals, code, id, tests};
use crate::stage::Stage;

/// The implementor writes the whole kata for the first test.
fn all_at_once() -> Cast {
    let cast = Cast::new().writes("tester", TEST_FILE, &tests(1)).writes("implementor", CODE_FILE, &code(4));
    let cast = cast.writes("tester", TEST_FILE, &tests(2));
    (2..=4).fold(cast, |cast, cycle| cast.writes("tester", TEST_FILE, &tests(cycle)))
}

#[test]
fn a_kata_that_was_implemented_at_once_comes_to_a_proven_end() {
    let done: Vec<_> = (1..=4).map(|n| json!({"requirement": format!("{n}"), "test_id": id(n)})).collect();
    let cast = all_at_once().edits("tester", &[], &json!({"done": done}));
    let stage = Stage::new(cast);
    let second = format!("  arrived {}\n  test: do it\n", id(2));
    let others = arrivals(3..=4, |_| "test: do it".to_owned());
    let story = format!("[first cycle]\n[second test passes at once]\n{second}{others}7 red\n[kata is done]\n");
    stage.check(&["run", "--until-done"], &story);
    assert_eq!(stage.sandbox.read(TEST_FILE), tests(4));
    let message = stage.sandbox.git(&["log", "-1", "--format=%B"]);
    for line in ["TDD-Phase: green", "TDD-Mode: characterization", "TDD-Test: tests/add.rs::or_by_line_breaks"] {
        assert!(message.lines().any(|own| own == line), "{message}");
    }
    let audit = stage.run(&["audit"]);
    assert_eq!(audit.code, Some(0), "{}", audit.stdout);
    assert!(audit.stdout.contains("5 hold, 0 broken"), "{}", audit.stdout);
}

#[test]
fn a_test_that_passes_at_once_and_is_kept_is_not_shown_as_undone() {
    let stage = Stage::new(all_at_once());
    let shown = stage.run(&["run", "--until-done"]).stdout;
    let lines: Vec<&str> = shown.lines().map(str::trim).collect();
    let count = |label: &str| lines.iter().filter(|line| line.starts_with(label)).count();
    assert_eq!((count("kept"), count("undone")), (5, 1), "{shown}");
}

#[test]
fn a_test_that_passes_at_once_and_cannot_fail_is_not_kept() {
    let vacuous = tests(1) + "\n#[test]\nfn is_not_five() {\n    assert_ne!(add(\"1\"), 5);\n}\n";
    let cast = Cast::new()
        .writes("tester", TEST_FILE, &tests(1))
        .writes("implementor", CODE_FILE, &code(4))
        .writes("tester", TEST_FILE, &tests(2))
        .writes("tester", TEST_FILE, &vacuous)
        .writes("tester", TEST_FILE, &tests(2))
        .edits("tester", &[], &json!({"done": all_by(&id(2))}));
    let stage = Stage::new(cast);
    stage.check(
        &["run", "--until-done"],
        "
        [first cycle]
        [second test passes at once]
          undone red-first unexpected-green (free)
          arrived tests/add.rs::is_not_five
          arrived tests/add.rs::one_number_is_itself
          test: do it
        5 red
        [kata is done]
    ",
    );
    assert_eq!(stage.sandbox.read(TEST_FILE), tests(2));
}
