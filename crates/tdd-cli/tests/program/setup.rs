//! Tests creating and checking a program, and that an incomplete one is refused.

use crate::stage::{PROGRAM, Stage, filled};

fn said(stage: &Stage, args: &[&str]) -> String {
    let told = stage.run(args);
    format!("$ tdd-cli {}\n{}{}exit {}\n\n", args.join(" "), told.stdout, told.stderr, told.code.unwrap_or(-1))
}

#[test]
fn a_new_program_lists_all_that_is_to_be_filled_in_and_runs_only_then() {
    let stage = Stage::bare();
    let mut told = said(&stage, &["program", "list"]);
    told += &said(&stage, &["program", "new", "port"]);
    told += &said(&stage, &["program", "new", "port"]);
    told += &said(&stage, &["program", "new", "a/b"]);
    told += &said(&stage, &["program", "new", "faster", "--strategy", "default"]);
    stage.commit("chore: programs");
    told += &said(&stage, &["program", "check", "faster"]);
    told += &said(&stage, &["program", "run", "port"]);
    told += &said(&stage, &["program", "run", "nobody"]);
    told += &said(&stage, &["program", "list"]);
    told += &said(&stage, &["program", "run", "--due"]);
    insta::assert_snapshot!(told);
}

#[test]
fn a_strategy_of_the_projects_own_is_copied_and_one_that_is_missing_fails_closed() {
    let stage = Stage::bare();
    let own = "# Ours\n\nA blocked test is skipped with a TODO comment that points at its entry.\n";
    stage.sandbox.write(".autoloop/strategies/test-driven/strategy.md", own);
    stage.add_program(PROGRAM);
    assert_eq!(stage.sandbox.read(".autoloop/programs/port/strategy/test-driven.md"), own);
    assert!(stage.ok(&["program", "check", "port"]).contains("ready to run"));
    stage.sandbox.git(&["rm", "-q", ".autoloop/programs/port/strategy/prompts/refactor.md"]);
    stage.commit("chore: lose a prompt");
    let told = stage.run(&["program", "run", "port"]);
    assert_eq!(told.code, Some(2));
    assert!(told.stderr.contains("`strategy/prompts/refactor.md` is missing"), "{}", told.stderr);
    stage.sandbox.write(".autoloop/programs/port/program.md", PROGRAM.replace("test-driven.md", "openevolve.md"));
    stage.commit("chore: another strategy");
    let told = stage.run(&["program", "run", "port"]);
    assert_eq!(told.code, Some(2));
    assert!(told.stderr.contains("`openevolve`, which is not known here"), "{}", told.stderr);
    assert_eq!(stage.events().iter().filter(|event| event["type"] == "iteration_start").count(), 0);
}

#[test]
fn what_we_ship_is_whole_once_it_is_filled_in() {
    let stage = Stage::bare();
    for (name, strategy) in [("one", "test-driven"), ("two", "default")] {
        stage.ok(&["program", "new", name, "--strategy", strategy]);
        let path = format!(".autoloop/programs/{name}/program.md");
        let text = stage.sandbox.read(&path).replace("<CUSTOMIZE: a file or pattern", "src/**<CUSTOMIZE:");
        stage.sandbox.write(&path, filled(&text));
    }
    for file in ["test-driven.md", "prompts/write-test.md", "prompts/make-green.md", "prompts/refactor.md"] {
        let path = format!(".autoloop/programs/one/strategy/{file}");
        stage.sandbox.write(&path, filled(&stage.sandbox.read(&path)));
    }
    for name in ["one", "two"] {
        assert!(stage.ok(&["program", "check", name]).contains("ready to run"));
    }
}

#[test]
fn a_persons_uncommitted_work_is_not_touched() {
    let stage = Stage::port();
    stage.sandbox.write("src/lib.rs", "//! Mine.\n");
    let told = stage.run(&["program", "run", "port"]);
    assert_eq!(told.code, Some(2), "{}", told.stderr);
    assert_eq!(stage.sandbox.read("src/lib.rs"), "//! Mine.\n");
    assert_eq!(stage.events().iter().filter(|event| event["type"] == "iteration_start").count(), 0);
}
