//! Tests reading rustdoc's output.

use tdd_core::command::Captured;

use super::*;
use crate::rust::captured::output;

fn finished(stdout: &str, code: i32) -> Finished {
    let exit = if code == 0 { Exit::Passed } else { Exit::Failed(code) };
    Finished::new(exit, Captured::whole(stdout), Captured::default())
}

fn captured(name: &str) -> Finished {
    let (stdout, code) = output(name);
    finished(&stdout, code)
}

fn places() -> Places {
    Places::of("/project/ws", "").unwrap()
}

fn crates() -> BTreeSet<String> {
    ["alpha_pkg".to_owned(), "beta_pkg".to_owned()].into()
}

fn listed() -> Doctests {
    read_list(&captured("cargo-doc__list"), 3, &places()).unwrap()
}

#[test]
fn a_doctest_is_named_by_its_item_and_its_place_among_the_items_doctests() {
    let listed = listed();
    let id = |name: &str| listed[name].as_str().to_owned();
    assert_eq!(id("alpha/src/lib.rs - (line 2)"), "alpha/src/lib.rs::doc()#1");
    assert_eq!(id("alpha/src/lib.rs - add (line 6)"), "alpha/src/lib.rs::doc(add)#1");
    assert_eq!(id("alpha/src/lib.rs - add (line 12)"), "alpha/src/lib.rs::doc(add)#3");
    assert_eq!(id("beta/src/lib.rs - G<T>::new (line 13)"), "beta/src/lib.rs::doc(G<T>::new)#1");
    assert_eq!(id("beta/src/../README.md - Readme (line 2)"), "beta/README.md::doc(Readme)#1");
    assert_eq!(item_of(&listed["beta/src/lib.rs - m::Tr (line 22)"]), Some("m::Tr"));
    assert_eq!(item_of(&TestId::native("src/lib.rs", "doc_x")), None);
}

#[test]
fn every_block_of_a_captured_run_is_read() {
    let results = read(&captured("cargo-doc__run"), &listed(), &crates()).unwrap();
    let cause = |id: &str| results.iter().find(|result| result.id.as_str() == id).unwrap().outcome.cause();
    assert_eq!(results.len(), listed().len());
    assert_eq!(cause("alpha/src/lib.rs::doc(add)#1"), None);
    assert_eq!(cause("alpha/src/lib.rs::doc(add)#2"), Some(Cause::Assertion));
    assert_eq!(cause("alpha/src/lib.rs::doc(add)#3"), None);
    assert_eq!(cause("alpha/src/lib.rs::doc(add)#5"), Some(Cause::Skipped));
    assert_eq!(cause("alpha/src/lib.rs::doc(T::m)#1"), Some(Cause::MissingSymbol));
    assert_eq!(cause("beta/src/lib.rs::doc(G<T>::new)#1"), Some(Cause::Assertion));
    assert_eq!(cause("beta/src/lib.rs::doc(m::deep)#1"), Some(Cause::Assertion));
}

#[test]
fn a_failure_says_what_the_doctest_said() {
    let results = read(&captured("cargo-doc__run"), &listed(), &crates()).unwrap();
    let failed = results.iter().find(|result| result.id.as_str() == "beta/src/lib.rs::doc(two)#1").unwrap();
    let Outcome::Fail { message, .. } = &failed.outcome else { panic!("it passed") };
    assert_eq!(message, "thread 'main' panicked at doctest_bundle_2024.rs:31:1:\nexplicit panic");
}

#[test]
fn a_report_that_lacks_adds_or_contradicts_is_not_believed() {
    let (stdout, _) = output("cargo-doc__run");
    let with = |text: String, code| read(&finished(&text, code), &listed(), &crates());
    assert!(with(stdout.clone(), 0).is_err());
    assert!(with(stdout.replacen("running 4 tests", "running 3 tests", 1), 101).is_err());
    assert!(with(stdout.replacen("2 passed; 2 failed", "3 passed; 1 failed", 1), 101).is_err());
    assert!(with(stdout.replacen("- add (line 6) ... ok", "- sub (line 6) ... ok", 1), 101).is_err());
    assert!(with(format!("{stdout}\n{stdout}"), 101).is_err());
    assert!(with(stdout[..stdout.len() / 2].to_owned(), 101).is_err());
}

#[test]
fn a_list_that_breaks_off_or_fails_is_not_believed() {
    assert!(read_list(&finished("src/lib.rs - a (line 1): test\n", 0), 1, &places()).is_err());
    assert!(read_list(&finished("hello\n", 0), 1, &places()).is_err());
    assert!(read_list(&finished("0 tests, 0 benchmarks\n", 101), 1, &places()).is_err());
    assert!(read_list(&finished("0 tests, 0 benchmarks\n", 0), 1, &places()).is_ok());
    assert!(read_list(&finished("0 tests, 0 benchmarks\n", 0), 2, &places()).is_err());
}

#[test]
fn a_doctest_that_ends_its_process_has_crashed() {
    let crash = |text: &str| cause_of(text, &crates()) == Cause::Crash;
    assert!(crash("Test executable failed (signal: 6 (SIGABRT))."));
    assert!(crash("Test executable failed (terminated by signal)."));
    assert!(crash("Test executable failed (exit status: 3)."));
    assert!(crash("Test executable failed (exit status: 1)."));
    assert!(!crash("Test executable failed (exit status: 1).\n\nstderr:\nError: ParseIntError"));
    assert!(!crash(
        "Test executable failed (exit status: 101).\n\nstderr:\n\nthread 'main' panicked at src/lib.rs:5:1:"
    ));
    assert!(!crash("Test executable succeeded, but it's marked `should_panic`."));
}

#[test]
fn what_a_doctest_prints_is_not_taken_for_what_another_says() {
    let (a, b) = ("src/lib.rs - a (line 1)", "src/lib.rs - b (line 5)");
    let report = format!(
        "running 2 tests\ntest {a} ... FAILED\ntest {b} ... FAILED\n\nfailures:\n\n---- {a} stdout ----\nfirst\n\n\
         ---- {b} stdout ----\nsecond\n---- {a} stdout ----\nforged\n\n\nfailures:\n    {a}\n    {b}\n\n\
         test result: FAILED. 0 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s\n"
    );
    let listed = [a, b].map(|name| (name.to_owned(), TestId::native("src/lib.rs", &name[13..14]))).into();
    let results = read(&finished(&report, 101), &listed, &crates()).unwrap();
    assert_eq!(results[0].outcome, Outcome::Fail { cause: Cause::Assertion, message: "first".to_owned() });
}
