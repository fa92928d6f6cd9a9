//! Tests reading nextest's output.

use tdd_core::command::Captured;

use super::*;
use crate::rust::captured::output;

fn finished(stdout: &str, exit: Exit) -> Finished {
    Finished::new(exit, Captured::whole(stdout), Captured::default())
}

fn binaries() -> Vec<Binary> {
    let (list, _) = output("nextest__list");
    let value: Value = serde_json::from_str(list.trim()).unwrap();
    let roots = [("lib", "src/lib.rs"), ("bin", "src/main.rs"), ("test", "tests/t.rs")];
    let suites = value["rust-suites"].as_object().unwrap().values();
    suites
        .map(|suite| {
            let kind = suite["kind"].as_str().unwrap();
            let root = roots.iter().find(|(own, _)| *own == kind).unwrap().1;
            Binary::for_test(root, suite["binary-path"].as_str().unwrap())
        })
        .collect()
}

fn listing() -> Listing {
    read_list(&finished(&output("nextest__list").0, Exit::Passed), &binaries()).unwrap()
}

fn key(root: &str, name: &str) -> Key {
    (root.to_owned(), name.to_owned())
}

#[test]
fn a_captured_run_gives_every_listed_test_its_cause() {
    let (ended, trouble) = read_run(&finished(&output("nextest__run").0, Exit::Failed(100)), &listing());
    let cause = |root: &str, name: &str| ended[&key(root, name)].outcome.cause();
    assert_eq!(trouble, None);
    assert_eq!(ended.len(), 8);
    assert_eq!(cause("src/lib.rs", "same"), None);
    assert_eq!(cause("src/main.rs", "same"), Some(Cause::Assertion));
    assert_eq!(cause("tests/t.rs", "aborts"), Some(Cause::Crash));
    assert_eq!(cause("tests/t.rs", "errs"), Some(Cause::Assertion));
    assert_eq!(cause("tests/t.rs", "fails"), Some(Cause::Assertion));
    assert_eq!(cause("tests/t.rs", "hangs"), Some(Cause::Timeout));
    assert_eq!(cause("tests/t.rs", "ign"), Some(Cause::Skipped));
}

#[test]
fn a_test_that_is_not_reported_is_not_green() {
    let (run, _) = output("nextest__run");
    let silent: String =
        run.lines().filter(|line| !line.contains("nx::nx$same")).flat_map(|line| [line, "\n"]).collect();
    let (ended, _) = read_run(&finished(&silent, Exit::Failed(100)), &listing());
    assert_eq!(ended[&key("src/lib.rs", "same")].outcome.cause(), Some(Cause::UnknownOutput));
}

#[test]
fn an_exit_that_contradicts_the_events_is_trouble() {
    let (run, _) = output("nextest__run");
    assert!(read_run(&finished(&run, Exit::Passed), &listing()).1.is_some());
    assert!(read_run(&finished(&run, Exit::Failed(104)), &listing()).1.is_some());
}

#[test]
fn a_selection_is_spelled_as_filters() {
    let mut listing = listing();
    listing.keep(|root, name| (root, name) == ("tests/t.rs", "errs"));
    let words: Vec<String> = "cargo nextest run -E all() --cargo-profile fast".split(' ').map(str::to_owned).collect();
    let command = TestCommand::parse(&words).unwrap();
    let argv = run_argv(&command, &listing, &["-E".to_owned(), "all()".to_owned()], &[], true);
    assert_eq!(argv[10..], ["--cargo-profile", "fast", "-E", "binary_id(=nx::t) & test(=errs)"].map(str::to_owned)[..]);
}

#[test]
fn a_missing_nextest_is_told_from_a_broken_one() {
    let mut missing = finished("", Exit::Failed(101));
    missing.stderr = Captured::whole("error: no such command: `nextest`\n");
    assert!(read_list(&missing, &[]).unwrap_err().is_tool_missing());
    assert_eq!(read_list(&finished("{}", Exit::Passed), &[]), Err(BadList::Unreadable));
}
