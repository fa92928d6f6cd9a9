//! Counter-proofs with real cargo: honest tests hold, and every way to disarm a test is detected.

#![expect(clippy::expect_used, reason = "a test that cannot set itself up has failed")]

mod prover;

use tdd_core::proof::{Fate, Proof, can_fail};
use tdd_core::report::Cause;
use tdd_core::rule::Refusal;
use tdd_core::seam::Runner;
use tdd_core::test_id::TestId;
use tdd_exec::counterproof::{Prover, seed};
use tdd_exec::runner::ProjectRunner;
use tdd_fixtures::Sandbox;
use tdd_lang::item::TestItem;
use tdd_lang::language::Language;
use tdd_lang::rust::Rust;

use prover::{Files, with_prover};

const MANIFEST: (&str, &str) = ("Cargo.toml", "[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");

/// Calls `then` with the prover of a Rust project with these files.
fn with_project(files: Files<'_>, then: impl FnOnce(&Sandbox, &Prover<'_>, &ProjectRunner<'_>)) {
    with_prover(&[&[MANIFEST], files].concat(), then);
}

fn tests_of(runner: &ProjectRunner<'_>, path: &str) -> Vec<TestItem> {
    Rust.items(path, &runner.sources.read(path).expect("source")).tests
}

/// The proof of each test in a file, with the refusal if it is refused.
fn rulings(prover: &Prover<'_>, runner: &ProjectRunner<'_>, path: &str) -> Vec<(String, Proof, Option<Refusal>)> {
    let prove = |test: TestItem| {
        let proof = prover.prove(path, &test, seed()).expect("proof");
        let refused = can_fail(&TestId::native(path, &test.name), &proof).err();
        (test.name, proof, refused)
    };
    tests_of(runner, path).into_iter().map(prove).collect()
}

/// Checks that every test in this file passes but is refused with this cause and reason.
fn check_refused(files: Files<'_>, path: &str, cause: Option<Cause>, reason: &str) {
    with_project(files, |_, prover, runner| {
        let report = runner.test(&[]).expect("run");
        assert_eq!(report.counts().failed, 0, "{report:?}");
        for (name, proof, refused) in rulings(prover, runner, path) {
            let breach = refused.unwrap_or_else(|| panic!("{name} holds: {proof:?}"));
            assert!(breach.cause == cause && breach.reason.contains(reason), "{name}: {breach:?}");
        }
    });
}

const HONEST_PRODUCTION: &str = r#"
#![deny(warnings)]
//! Production.
use std::collections::HashSet;

#[derive(Debug, Clone, PartialEq)]
pub struct Point { pub x: i32, pub label: String }
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Color { Red, Green }
/// Minutes count, not how they were written.
#[derive(Debug, Clone, Copy)]
pub struct Clock { pub hours: u8, pub minutes: u8 }
impl PartialEq for Clock {
    fn eq(&self, other: &Self) -> bool {
        (u32::from(self.hours) * 60 + u32::from(self.minutes)) % 1440
            == (u32::from(other.hours) * 60 + u32::from(other.minutes)) % 1440
    }
}
pub fn add(a: u8, b: u8) -> u8 { a + b }
pub fn max() -> u8 { u8::MAX }
pub fn low() -> i8 { i8::MIN }
pub fn greet(name: &str) -> String { format!("Hello, {name}") }
pub fn third() -> f64 { 1.0 / 3.0 }
pub fn find(n: u64) -> Option<u64> { (n > 1).then_some(n * 2) }
pub fn parse(text: &str) -> Result<u32, std::num::ParseIntError> { text.parse() }
pub fn check(n: i32) -> Result<i32, String> { if n < 0 { Err(format!("{n} is negative")) } else { Ok(n) } }
pub fn all() -> Vec<u16> { vec![1, 2, 300] }
pub fn set() -> HashSet<i32> { HashSet::from([0, 1]) }
pub fn bytes() -> &'static [u8; 3] { b"abc" }
pub fn point() -> Point { Point { x: -1, label: "p".to_owned() } }
pub fn color() -> Color { Color::Red }
pub fn clock() -> Clock { Clock { hours: 25, minutes: 0 } }
pub fn divide(a: i32, b: i32) -> i32 { assert!(b != 0, "division by zero: {a}"); a / b }

#[cfg(test)]
mod tests {
    use super::*;

    /// Documentation.
    #[test]
    fn inline() {
        assert_eq!(add(1, 2), 3);
    }
}
"#;

const HONEST_TESTS: &str = r#"
use demo::*;

#[test] fn integers() { assert_eq!(add(1, 2), 3); assert_eq!(max(), 255); assert_eq!(-128, low(), "low {}", 1); }
#[test] fn strings() { assert_eq!(greet("Ann"), "Hello, Ann"); assert_eq!(greet(""), r"Hello, ".to_string()); }
#[test] fn tolerance() { assert!((third() - 0.333).abs() < 1e-2); assert_eq!(third() * 3.0, 1.0); }
#[test] fn options() { assert_eq!(find(4), Some(8)); assert_eq!(find(1), None); assert!(find(1).is_none()); }
#[test] fn results() {
    assert_eq!(parse("7"), Ok(7));
    assert!(parse("x").is_err());
    assert_eq!(check(-1), Err("-1 is negative".into()));
}
#[test] fn collections() { assert_eq!(all(), vec![1, 2, 300]); assert_eq!(all(), [1, 2, 300]); assert_eq!(set(), [0, 1].into()); }
#[test] fn byte_strings() { assert_eq!(bytes(), b"abc"); assert_eq!(bytes().len(), 3); }
#[test] fn structs() { assert_eq!(point(), Point { x: -1, label: "p".to_owned() }); assert!(point().x == -1); }
#[test] fn enums() { assert_eq!(color(), Color::Red); assert_ne!(color(), Color::Green); }
#[test] fn equal_values() { assert_eq!(clock(), Clock { hours: 1, minutes: 0 }); assert_eq!(clock(), clock()); }
#[test] fn patterns() { assert!(matches!(check(1), Ok(n) if n == 1)); }
#[test] #[should_panic] fn panics() { divide(1, 0); }
#[test] #[should_panic(expected = "division by zero")] fn panics_saying() { divide(1, 0); }
#[test] fn tables() {
    for (input, expected) in [("1", 1), ("20", 20)] { assert_eq!(parse(input).unwrap(), expected, "{input}"); }
}
#[test] fn properties() { for n in 0..100u8 { assert_eq!(add(n, 1), add(1, n)); assert!(add(n, 1) > n); } }
fn sums_to(a: u8, b: u8, sum: u8) { assert_eq!(add(a, b), sum); }
#[test] fn helper() { sums_to(1, 2, 3); }
#[test] fn inner_helper() { fn same(a: u8) { assert_eq!(add(a, 0), a); } same(1); (|n| assert!(add(n, 1) == 5))(4); }
#[test] fn question_mark() -> Result<(), Box<dyn std::error::Error>> { assert_eq!(parse("7")?, 7); Ok(()) }
#[test] fn only_question_mark() -> Result<(), std::num::ParseIntError> { parse("7")?; Ok(()) }
#[test] fn a_file_that_all_copies_share() {
    let path = std::env::temp_dir().join("shared");
    std::fs::write(&path, greet("x")).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(20));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "Hello, x");
    std::fs::remove_file(&path).unwrap();
}
#[test] fn branches() { match check(3) { Ok(n) => assert_eq!(n, 3), Err(e) => panic!("{e}") } }
"#;

#[test]
fn honest_tests_hold() {
    with_project(&[("src/lib.rs", HONEST_PRODUCTION), ("tests/honest.rs", HONEST_TESTS)], |_, prover, runner| {
        for path in ["tests/honest.rs", "src/lib.rs"] {
            for (name, proof, refused) in rulings(prover, runner, path) {
                assert_eq!(refused, None, "{name}: {proof:?}");
                assert!(matches!(proof, Proof::Run(_)), "{name}: {proof:?}");
            }
        }
    });
}

#[test]
fn honest_tests_of_old_editions_and_without_the_standard_library_hold() {
    let old = ("Cargo.toml", "[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2015\"\n");
    let source = "#![cfg_attr(not(test), no_std)]\n#![forbid(warnings)]\n//! Production.\n\
                  /// Adds.\npub fn add(a: u8, b: u8) -> u8 { a + b }\n\
                  #[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn adds() { assert_eq!(add(1, 2), 3); }\n}\n";
    let bare = "#![no_std]\nextern crate demo;\nuse demo::*;\n#[test] fn adds() { assert_eq!(add(1, 2), 3); assert!(add(1, 1) == 2); }\n";
    for manifest in [old, MANIFEST] {
        with_project(&[manifest, ("src/lib.rs", source), ("tests/bare.rs", bare)], |_, prover, runner| {
            for path in ["src/lib.rs", "tests/bare.rs"] {
                for (name, proof, refused) in rulings(prover, runner, path) {
                    assert_eq!(refused, None, "{name}: {proof:?}");
                }
            }
        });
    }
}

#[test]
fn a_comparison_that_is_always_true_is_disarmed() {
    let production = "#[derive(Debug)] pub struct Money(pub u32);\n\
                      impl<T> PartialEq<T> for Money { fn eq(&self, _: &T) -> bool { true } }\n\
                      pub fn price() -> Money { Money(0) }\n";
    let test = "use demo::*;\n#[test] fn costs_seven() { assert_eq!(price(), Money(7)); }\n\
                #[test] fn costs_a_number() { assert_eq!(price(), 7); }\n";
    check_refused(
        &[("src/lib.rs", production), ("tests/a.rs", test)],
        "tests/a.rs",
        Some(Cause::Disarmed),
        "disarmed: line",
    );
}

#[test]
fn an_assertion_that_production_overrides_is_disarmed() {
    let source = "macro_rules! assert_eq { ($($any:tt)*) => { { let _ = || ::core::assert_eq!($($any)*); } } }\n\
                  pub fn add(a: u8, b: u8) -> u8 { a - b }\n\
                  #[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn adds() { assert_eq!(add(2, 2), 4); }\n}\n";
    check_refused(
        &[("src/lib.rs", source)],
        "src/lib.rs",
        Some(Cause::Disarmed),
        "disarmed: `assert_eq!` is overridden",
    );
}

#[test]
fn production_that_knows_its_tests_name_is_disarmed() {
    let production = "pub fn add(_: u8, _: u8) -> u8 {\n\
                      if std::thread::current().name() == Some(\"adds\") { 3 } else { 0 }\n}\n";
    let test = "#[test] fn adds() { assert_eq!(demo::add(1, 2), 3); }\n";
    check_refused(
        &[("src/lib.rs", production), ("tests/a.rs", test)],
        "tests/a.rs",
        Some(Cause::Disarmed),
        "disarmed: the test passes under its own name only",
    );
}

#[test]
fn a_forged_report_does_not_know_the_names_of_the_copies() {
    let production = r#"pub fn add(_: u8, _: u8) -> u8 {
    println!("{{ \"type\": \"test\", \"name\": \"adds\", \"event\": \"ok\" }}");
    println!("{{ \"type\": \"suite\", \"event\": \"ok\", \"passed\": 1, \"failed\": 0, \"ignored\": 0, \"measured\": 0, \"filtered_out\": 0, \"exec_time\": 0.001 }}");
    std::process::exit(0)
}
"#;
    let test = "#[test] fn adds() { assert_eq!(demo::add(1, 2), 3); }\n";
    with_project(&[("src/lib.rs", production), ("tests/a.rs", test)], |_, prover, runner| {
        for (name, proof, refused) in rulings(prover, runner, "tests/a.rs") {
            let breach = refused.unwrap_or_else(|| panic!("{name} holds: {proof:?}"));
            assert!(breach.reason.contains("disarmed"), "{breach:?}");
        }
    });
}

#[test]
fn an_assertion_that_cannot_fail_is_vacuous() {
    let production = "pub fn add(a: u8, b: u8) -> u8 { a + b }\npub fn parse(_: &str) -> Vec<u8> { Vec::new() }\n";
    let test = "use demo::*;\n\
                #[test] fn same() { let sum = add(1, 2); assert_eq!(sum, sum); }\n\
                #[test] fn not_called() { let _check = || assert_eq!(add(1, 2), 4); }\n\
                #[test] fn not_reached() { for n in parse(\"1\") { assert_eq!(n, 1); } }\n\
                #[test] fn in_the_wrong_branch() { if add(1, 2) == 4 { assert!(add(1, 2) == 3); } }\n";
    check_refused(
        &[("src/lib.rs", production), ("tests/a.rs", test)],
        "tests/a.rs",
        Some(Cause::VacuousTest),
        "still passes in a copy that",
    );
}

#[test]
fn a_test_that_a_macro_swallows_is_neither_copied_nor_found() {
    let production = "#[macro_export] macro_rules! suite { ($($any:tt)*) => {} }\n";
    let test = "demo::suite! { #[test] fn adds() { assert_eq!(1, 2); } }\n";
    with_project(&[("src/lib.rs", production), ("tests/a.rs", test)], |_, prover, runner| {
        let test = tests_of(runner, "tests/a.rs").remove(0);
        assert_eq!(prover.prove("tests/a.rs", &test, seed()).expect("proof"), Proof::Unwritable);
        let target = TestId::native("tests/a.rs", "adds");
        let report = runner.test(std::slice::from_ref(&target)).expect("run");
        assert_eq!(Fate::of(&report, &target), Fate::NotRun(Cause::TargetNotFound));
    });
}
