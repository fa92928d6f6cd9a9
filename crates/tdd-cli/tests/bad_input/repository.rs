//! Tests unusual or incomplete repositories.

use crate::machine::Machine;

/// A repository without files or commits.
fn empty() -> Machine {
    let machine = Machine::new();
    machine.sandbox.git(&["init", "-q", "-b", "main"]);
    machine
}

#[test]
fn where_there_is_no_commit_the_way_out_is_to_make_one() {
    let machine = empty();
    let mut said = String::new();
    for args in [&["audit"][..], &["audit", "HEAD~3.."], &["validate-refactor", "--at", "HEAD"]] {
        said += &machine.refused(args);
    }
    insta::assert_snapshot!(said);
}

#[test]
fn refactor_mode_does_not_begin_where_nothing_could_end_it() {
    let machine = empty();
    machine.sandbox.write("readme.md", "No project.\n");
    insta::assert_snapshot!(machine.refused(&["refactor", "begin"]));
}

#[test]
fn refactor_mode_shows_the_way_back_when_the_project_is_gone() {
    let machine = Machine::ready();
    assert!(machine.output(&["refactor", "begin"]).status.success());
    let manifest = machine.sandbox.read("Cargo.toml");
    std::fs::remove_file(machine.path("Cargo.toml")).expect("remove");
    let said = machine.refused(&["refactor", "end"]);
    assert!(machine.output(&["refactor", "end", "--discard"]).status.success());
    assert_eq!(machine.sandbox.read("Cargo.toml"), manifest);
    insta::assert_snapshot!(said);
}

#[test]
fn in_a_shallow_clone_what_was_left_out_is_not_taken_for_nothing() {
    let machine = Machine::calc();
    let origin = format!("file://{}", machine.root().display());
    machine.sandbox.git(&["clone", "-q", "--depth", "1", &origin, "../shallow"]);
    let mut said = String::new();
    for args in [&["validate-refactor"][..], &["validate-red", "--at", "HEAD", "tests/calc.rs"], &["audit"]] {
        said += &machine.says(&[&["-C", "../shallow"], args].concat());
    }
    insta::assert_snapshot!(said);
}

#[test]
fn a_target_that_is_none_is_refused_with_what_may_have_been_meant() {
    let machine = Machine::calc();
    machine.sandbox.write("target/built.rs", "#[test]\nfn built() {}\n");
    machine.sandbox.write("tests/latin.rs", b"// caf\xe9\n#[test]\nfn sits() {}\n");
    let mut said = String::new();
    for target in ["adds", "tests/nope.rs", "target/built.rs", "tests", "nope.rs", "tests/latin.rs"] {
        said += &machine.says(&["validate-red", target]);
    }
    insta::assert_snapshot!(said);
}
