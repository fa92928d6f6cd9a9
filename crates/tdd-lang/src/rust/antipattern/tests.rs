//! Tests which Rust code is a sign of an anti-pattern and which only looks like one.

use tdd_core::signs::{Signs, TestSigns};

use crate::fixture::memory;
use crate::rust::project;

const MANIFEST: &str = "[package]\nname = \"calc\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";

/// The signs in a library and its test file.
fn of(library: &str, tests: &str) -> Signs {
    let sources = memory(&[("Cargo.toml", MANIFEST), ("src/lib.rs", library), ("tests/a.rs", tests)]);
    let project = project::detect(&sources).unwrap();
    super::signs(&project, &sources, &["src/lib.rs".to_owned(), "tests/a.rs".to_owned()])
}

/// The signs of a test with this body; `around` is the code beside it.
fn test(library: &str, around: &str, body: &str) -> TestSigns {
    let mut signs = of(library, &format!("{around}\n#[test]\nfn t() {{ {body} }}\n"));
    assert_eq!(signs.tests.len(), 1, "{body}");
    signs.tests.remove(0)
}

fn senses(library: &str) -> Vec<String> {
    of(library, "").sensing.into_iter().map(|seen| seen.what).collect()
}

const ADD: &str =
    "pub fn add(a: u8, b: u8) -> u8 { a + b }\npub fn parse(text: &str) -> Option<u8> { text.parse().ok() }\n";

#[test]
fn a_test_without_an_assertion_is_empty() {
    for body in [
        "",
        "let _ = add(1, 2);",
        "add(1, 2);",
        "println!(\"{}\", add(1, 2));",
        "let sum = add(1, 2); dbg!(sum);",
        "panic!();",
        "assert!(true);",
        "let _ = add(1, 2); assert_eq!(1, 1);",
        "let one = parse(\"1\").unwrap(); let _ = add(one, 2);",
        "Some(1).unwrap();",
        "helper(add(1, 2));",
        "checked(1);",
    ] {
        let around = "use calc::*;\nfn helper(sum: u8) { println!(\"{sum}\"); }\nfn checked(_: u8) {}\n";
        assert!(!test(ADD, around, body).asserts, "{body}");
    }
    assert!(!test("pub fn check(a: u8) -> bool { a > 1 }", "use calc::check;", "let _ = check(1);").asserts);
}

#[test]
fn whatever_can_fail_by_intention_asserts() {
    for (around, body) in [
        ("", "assert_eq!(add(1, 2), 3);"),
        ("fn deep(a: u8) { assert!(a > 1) } fn helper(a: u8) { deep(a) }", "helper(add(1, 2));"),
        ("macro_rules! same { ($a:expr) => { assert!($a) } }", "same!(add(1, 2) == 3);"),
        ("struct S; impl S { fn is(&self, a: u8) { assert!(a > 1) } }", "S.is(add(1, 2));"),
        ("", "insta::assert_snapshot!(add(1, 2));"),
        ("", "quickcheck(prop as fn(u8) -> bool);"),
        ("", "program(\"x\").assert().success();"),
        ("", "if add(1, 2) != 3 { panic!(\"no\") }"),
        ("", "if add(1, 2) != 3 { assert!(false, \"no\") }"),
        ("", "match add(1, 2) { 3 => {} _ => unreachable!() }"),
        ("", "parse(\"1\").unwrap();"),
        ("", "let _ = parse(\"1\").expect(\"a number\");"),
        ("", "let _one = parse(\"1\").unwrap();"),
        ("", "fn is_send<T: Send>(_: T) {} is_send(add(1, 2));"),
        ("fn assert_send<T: Send>() {}", "assert_send::<u8>();"),
        ("", "let t = trybuild::TestCases::new(); t.compile_fail(\"x.rs\");"),
    ] {
        assert!(test(ADD, &format!("use calc::*;\n{around}"), body).asserts, "{body}");
    }
    for whole in [
        "#[test]\n#[should_panic]\nfn t() { calc::add(255, 1); }",
        "#[test]\nfn t() -> Result<(), String> { calc::add(1, 2); Ok(()) }",
        "quickcheck! { fn t(a: u8) -> bool { calc::add(a, 0) == a } }",
    ] {
        assert!(of(ADD, whole).tests[0].asserts, "{whole}");
    }
}

#[test]
fn a_helper_in_another_file_is_followed() {
    let sources = memory(&[
        ("Cargo.toml", MANIFEST),
        ("src/lib.rs", ADD),
        ("tests/a.rs", "mod common;\n#[test]\nfn t() { common::sums(1, 2, 3); }\n"),
        ("tests/common/mod.rs", "pub fn sums(a: u8, b: u8, c: u8) { assert_eq!(calc::add(a, b), c); }\n"),
    ]);
    let project = project::detect(&sources).unwrap();
    let signs = super::signs(&project, &sources, &["tests/a.rs".to_owned()]);
    assert!(signs.tests[0].asserts);
    assert_eq!(signs.tests[0].reaches.iter().map(|place| place.line).collect::<Vec<_>>(), [1]);
}

#[test]
fn each_mock_that_is_made_counts() {
    for (body, expected) in [
        ("let a = MockClock::new(); let b = MockStore::default(); let c = FakeMail { sent: 0 };", 3),
        ("let a = MockClock::new(); let b = MockClock::new();", 2),
        ("let mut a = MockClock::new(); a.expect_now().return_const(1); a.expect_tick().times(1);", 1),
        ("let mut a = clock(); a.expect_now().return_const(1);", 1),
        ("serve(FakeMail, &StubStore); let a: Vec<FakeMail> = Vec::new();", 2),
        ("let a = mock_clock(); let b = stub_store();", 2),
        ("Mock::given(method(\"GET\")).mount(&server);", 1),
        ("let a: MockClock = made(); fn f(_: &FakeMail) {}", 0),
        ("let a = Mockery::new(); let b = Stubborn { x: 1 }; mocking(1); a.expect(\"x\");", 0),
    ] {
        assert_eq!(test(ADD, "", body).mocks.len(), expected, "{body}");
    }
}

#[test]
fn assertions_about_one_thing_hang_together() {
    let library = "pub struct Stack; impl Stack { pub fn new() -> Self { Stack } pub fn len(&self) -> usize { 0 } \
                   pub fn is_empty(&self) -> bool { true } }\npub fn add() -> u8 { 1 }\npub fn sub() -> u8 { 1 }\npub fn mul() -> u8 { 1 }\n";
    for (body, expected) in [
        ("assert_eq!(add(), 1); assert_eq!(sub(), 1); assert_eq!(mul(), 1);", vec!["add", "sub", "mul"]),
        ("assert_eq!(add(), sub()); assert_eq!(sub(), mul());", vec!["add"]),
        (
            "let s = Stack::new(); assert!(s.is_empty()); assert_eq!(s.len(), 0); assert_eq!(add(), 1);",
            vec!["Stack", "add"],
        ),
        ("let a = add(); assert_eq!(a, 1); assert!(a > 0);", vec!["add"]),
        ("assert_eq!(1 + 1, 2); assert!(true);", vec![]),
    ] {
        let mut found = test(library, "use calc::*;", body).subjects;
        found.sort_unstable();
        let mut expected: Vec<String> = expected.into_iter().map(str::to_owned).collect();
        expected.sort_unstable();
        assert_eq!(found, expected, "{body}");
    }
}

#[test]
fn production_that_asks_whether_it_is_under_test_is_seen() {
    for (library, expected) in [
        ("fn f() -> u8 { if cfg!(test) { 1 } else { 2 } }", "`cfg!(test)`"),
        ("fn f() -> u8 { if cfg!(not(test)) { 1 } else { 2 } }", "`cfg!(not(test))`"),
        ("fn f() -> u8 { if cfg!(debug_assertions) { 1 } else { 2 } }", "`cfg!(debug_assertions)`"),
        ("fn f() -> u8 { #[cfg(test)] return 1; 2 }", "`#[cfg(test)]`"),
        ("#[cfg(not(test))]\nfn f() -> u8 { 1 }", "`#[cfg(not(test))]`"),
        ("fn f() -> bool { std::thread::current().name() != Some(\"main\") }", "the name of its thread"),
        (
            "use std::thread;\nfn f() -> bool { let t = thread::current(); t.name().is_some() }",
            "the name of its thread",
        ),
        (
            "#[track_caller] fn f() -> bool { Location::caller().file().contains(\"tests\") }",
            "the file that it is called from",
        ),
        ("fn f() -> bool { std::env::var(\"RUST_TEST_THREADS\").is_ok() }", "the variable `RUST_TEST_THREADS`"),
        ("fn f() -> bool { env::var_os(\"NEXTEST\").is_some() }", "the variable `NEXTEST`"),
        ("fn f() -> bool { std::env::args().any(|a| a == \"--exact\") }", "the program's arguments"),
        (
            "fn f() -> bool { std::env::current_exe().unwrap().to_string_lossy().contains(\"/deps/\") }",
            "the program's own path",
        ),
        ("fn f() -> bool { Backtrace::force_capture().to_string().contains(\"test\") }", "the backtrace"),
        ("fn f() -> String { read(\"/proc/self/cmdline\") }", "`/proc/self/cmdline`"),
    ] {
        assert_eq!(senses(library), [expected], "{library}");
    }
}

#[test]
fn production_that_only_mentions_tests_is_not() {
    for library in [
        "#[cfg(test)]\nmod tests { fn f() -> bool { cfg!(test) } }",
        "#[cfg(test)]\nfn helper() {}",
        "#[cfg(test)]\nuse std::fmt;",
        "#[cfg(any(test, feature = \"x\"))]\npub fn helper() {}",
        "#[cfg_attr(test, derive(Debug))]\npub struct S;",
        "#![cfg_attr(not(test), no_std)]",
        "#[cfg(not(test))]\n#[panic_handler]\nfn panic() -> ! { loop {} }",
        "#[cfg(feature = \"test\")]\nfn f() {}",
        "fn f() { if cfg!(debug_assertions) { assert!(true); } }",
        "fn f() { if cfg!(debug_assertions) { unreachable!() } else { unsafe { stop() } } }",
        "fn f() -> bool { cfg!(windows) }",
        "fn f() { log(std::thread::current().name()); }",
        "fn f() -> &'static str { Location::caller().file() }",
        "fn f() -> String { std::env::var(\"CARGO_HOME\").unwrap() }",
        "fn f() -> Vec<String> { std::env::args().skip(1).collect() }",
        "fn f() { spawn(std::env::current_exe().unwrap()); }",
        "fn f() -> String { read(\"/proc/self/statm\") }",
        "// cfg!(test)\nfn f() { say(\"cfg!(test)\"); }",
    ] {
        assert_eq!(senses(library), [""; 0], "{library}");
    }
}

#[test]
fn an_answer_is_a_literal_for_a_literal() {
    let answers = |library: &str| {
        let shown = of(library, "").answers.into_iter();
        let joined = |values: std::collections::BTreeSet<String>| values.into_iter().collect::<Vec<_>>().join(",");
        shown.map(|it| format!("{} => {}", joined(it.compared), joined(it.returned))).collect::<Vec<_>>()
    };
    for (library, expected) in [
        ("fn f(n: u8) -> u8 { if n == 4_u8 { return 16; } n }", vec!["4 => 16"]),
        ("fn f(a: u8, b: u8) -> u8 { if a == 2 && b == 3 { 5 } else { 0 } }", vec!["2,3 => 5"]),
        ("fn f(s: &str) -> String { match s { \"a\" => \"b\".to_string(), _ => s.into() } }", vec!["\"a => \"b"]),
        ("fn f(n: u8) -> Option<u8> { match n { 1 | 2 => Some(3), 4 => { None } _ => None } }", vec!["1,2 => 3"]),
        ("fn f(n: u8) -> &'static str { if n % 3 == 0 { \"Fizz\" } else { \"\" } }", vec![]),
        ("fn f(n: u8) -> &'static str { match n % 3 { 0 => \"Fizz\", _ => \"\" } }", vec![]),
        ("fn f(n: u8) -> u8 { if n == 1 { n + 1 } else { n } }", vec![]),
        ("fn f(n: u8) -> u8 { match n { 0..=3 => 1, n => n } }", vec![]),
    ] {
        assert_eq!(answers(library), expected, "{library}");
    }
}

#[test]
fn a_sample_is_what_goes_in_and_what_is_to_come_out() {
    let library = "pub fn f(n: u8) -> u8 { n }\npub fn is(n: u8) -> bool { n > 1 }\n";
    for (body, inputs, expected) in [
        ("assert_eq!(f(4), 16);", "4", "16"),
        ("assert_eq!(16, f(4));", "4", "16"),
        ("let n = 4; let got = f(n); assert_eq!(got, 16, \"why {}\", 7);", "4", "16"),
        ("assert!(f(4) == 16);", "4", "16"),
        ("assert!(is(4));", "4", "true"),
        ("assert!(!is(4));", "4", "false"),
    ] {
        let sample = test(library, "use calc::*;", body).samples.remove(0);
        let only = |values: std::collections::BTreeSet<String>| values.into_iter().collect::<Vec<_>>().join(",");
        assert_eq!((only(sample.inputs).as_str(), only(sample.expected).as_str()), (inputs, expected), "{body}");
    }
}

#[test]
fn an_item_is_idle_only_if_nobody_names_it() {
    let idle =
        |library: &str, tests: &str| of(library, tests).unreferenced.into_iter().map(|it| it.line).collect::<Vec<_>>();
    assert_eq!(idle("pub fn a() {}\npub fn b() { a() }\n", ""), [2]);
    assert_eq!(idle("pub fn a() {}\n", "#[test]\nfn t() { calc::a(); }"), [0; 0]);
    assert_eq!(idle("/// ```\n/// calc::a();\n/// ```\npub fn a() {}\n", ""), [0; 0]);
    assert_eq!(
        idle("pub struct S;\nimpl Drop for S {\n    fn drop(&mut self) {}\n}\npub use self::S as T;\n", ""),
        [1]
    );
    assert_eq!(idle("pub struct S;\nimpl S {\n    pub fn new() -> Self { S }\n}\n", ""), [1, 3]);
    assert_eq!(idle("mod m {\n    pub fn a() {}\n}\npub use m::a;\n", ""), [2]);
    assert_eq!(idle("#[unsafe(no_mangle)]\npub fn a() {}\n#[cfg(test)]\nfn b() {}\n", ""), [0; 0]);
}

#[test]
fn a_test_reaches_what_its_names_lead_to() {
    let library = "pub struct S;\nimpl S {\n    pub fn new() -> Self { start() }\n    pub fn idle() {}\n}\nfn start() -> S { S }\n\
                   impl Drop for S {\n    fn drop(&mut self) { end() }\n}\nfn end() {}\npub struct Other;\nimpl Other {\n    \
                   pub fn new() {}\n}\n";
    let lines: Vec<_> = test(library, "", "calc::S::new();").reaches.into_iter().map(|it| it.line).collect();
    assert_eq!(lines, [1, 2, 3, 6, 7, 8, 10]);
    let library = "pub trait Squared {\n    fn squared(self) -> Self;\n}\nimpl Squared for i32 {\n    \
                   fn squared(self) -> Self { self }\n}\n";
    let lines: Vec<_> =
        test(library, "use calc::Squared;", "3.squared();").reaches.into_iter().map(|it| it.line).collect();
    assert_eq!(lines, [1, 2, 4, 5]);
    let program = "fn main() { run() }\nfn run() {}\n";
    let test = test(program, "", "let x = env!(\"CARGO_BIN_EXE_calc\");");
    assert_eq!(test.reaches.len(), 2);
}

/// The lines of a library with items that a test with this body does not reach.
fn left(library: &str, around: &str, body: &str) -> Vec<usize> {
    let reached: Vec<usize> = test(library, around, body).reaches.into_iter().map(|place| place.line).collect();
    let is_item = |line: &&(usize, &str)| line.1.starts_with(|c: char| !c.is_whitespace() && c != '}' && c != '#');
    let lines: Vec<(usize, &str)> = library.lines().enumerate().map(|(at, line)| (at + 1, line)).collect();
    lines.iter().filter(is_item).map(|(at, _)| *at).filter(|at| !reached.contains(at)).collect()
}

#[test]
fn what_no_test_names_is_left() {
    for (library, body, expected) in [
        ("pub fn add() {}\npub fn sub() {}\n", "calc::add()", vec![2]),
        ("pub fn add() {}\npub struct A;\npub const B: u8 = 1;\npub trait C {}\n", "calc::add()", vec![2, 3, 4]),
        ("pub struct A;\nimpl A {\npub fn b(&self) {}\npub fn c(&self) {}\n}\n", "calc::A.b()", vec![4]),
        (
            "pub fn count(v: &[u8]) -> usize { v.len() }\npub struct A;\nimpl A { pub fn len(&self) {} }\n",
            "calc::count(&[])",
            vec![2, 3],
        ),
        ("pub fn add() { let total = 1; f(total) }\npub fn total() {}\n", "let total = calc::add();", vec![2]),
        ("pub fn add() {}\nfn main() {}\n", "calc::add()", vec![2]),
    ] {
        assert_eq!(left(library, "", body), expected, "{library}");
    }
}

#[test]
fn macros_lead_to_what_they_make() {
    for (library, body, expected) in [
        ("make!(add, sub);\nmacro_rules! make { () => {} }\n", "calc::add()", vec![]),
        ("thread_local! { static COUNT: u8 = 0; }\npub fn next() { COUNT.with(f) }\n", "calc::next()", vec![]),
        ("impl_area!(A, B);\npub struct A;\npub struct B;\n", "calc::A", vec![]),
        ("make!(other);\npub fn add() -> Vec<u8> {}\n", "calc::add()", vec![1]),
    ] {
        assert_eq!(left(library, "", body), expected, "{library}");
    }
}

#[test]
fn handlers_are_reached_by_their_routes() {
    let library = "pub fn app() { new().route(\"/hello\", get(hello)).route(\"/users/{id}\", delete(wipe)) }\nfn hello() {}\nfn wipe() {}\n";
    assert_eq!(left(library, "", "call(calc::app(), \"/hello\")"), [3]);
    assert_eq!(left(library, "", "call(calc::app(), \"/hello\", \"/users/1\")"), [0; 0]);
    assert_eq!(
        left(library, "fn url(id: u8) -> String { format!(\"/users/{id}\") }", "call(calc::app(), \"/hello\", url(1))"),
        [0; 0]
    );
}

#[test]
fn paths_and_imports_tell_items_of_one_name_apart() {
    let reached = |tests: &str| {
        let sources = memory(&[
            ("Cargo.toml", MANIFEST),
            ("src/lib.rs", "pub mod plain;\npub mod other;\npub mod deep;\npub use other::add as plus;\n"),
            ("src/plain.rs", "pub fn add() {}\n"),
            ("src/other.rs", "pub fn add() {}\n"),
            ("src/deep/mod.rs", "pub use super::plain::*;\n"),
            ("tests/a.rs", tests),
        ]);
        let project = project::detect(&sources).unwrap();
        let signs = super::signs(&project, &sources, &["tests/a.rs".to_owned()]);
        let places = signs.tests.into_iter().flat_map(|test| test.reaches);
        places.map(|place| place.path).filter(|path| path != "src/lib.rs").collect::<Vec<_>>()
    };
    for (tests, expected) in [
        ("use calc::plain::add;\n#[test]\nfn t() { assert!(add()); }\n", vec!["src/plain.rs"]),
        ("use calc::plain;\n#[test]\nfn t() { assert!(plain::add()); }\n", vec!["src/plain.rs"]),
        ("use calc::other as o;\n#[test]\nfn t() { assert!(o::add()); }\n", vec!["src/other.rs"]),
        ("#[test]\nfn t() { assert!(calc::plain::add()); }\n", vec!["src/plain.rs"]),
        ("use calc::plus;\n#[test]\nfn t() { assert!(plus()); }\n", vec!["src/other.rs"]),
        // A module may re-export an item from anywhere.
        ("use calc::deep::add;\n#[test]\nfn t() { assert!(add()); }\n", vec!["src/other.rs", "src/plain.rs"]),
        ("use calc::deep::*;\n#[test]\nfn t() { assert!(add()); }\n", vec!["src/other.rs", "src/plain.rs"]),
    ] {
        assert_eq!(reached(tests), expected, "{tests}");
    }
}

#[test]
fn what_traits_and_operators_call_comes_with_the_type() {
    for (library, body) in [
        ("pub struct A;\nimpl Display for A { fn fmt(&self) {} }\n", "calc::A.to_string()"),
        ("pub struct A;\nimpl Add for A { fn add(self) { sum() } }\nfn sum() {}\n", "calc::A + calc::A"),
        (
            "pub trait Area { fn area(&self) {} }\nimpl<T: Area> Describe for T { fn describe(&self) { label() } }\npub trait Describe { fn describe(&self); }\nfn label() {}\npub struct A;\nimpl Area for A {}\n",
            "calc::A.describe()",
        ),
        (
            "pub trait Unit {\ntype Base;\nconst FACTOR: u8;\n}\npub struct Km;\nimpl Unit for Km {\ntype Base = u8;\nconst FACTOR: u8 = 1;\n}\n",
            "calc::Km",
        ),
        ("pub fn r#match() -> u8 { KEY }\nconst KEY: u8 = 1;\n", "calc::r#match()"),
        ("pub fn a() -> String { format!(\"{PREFIX}-{}\", 1) }\nconst PREFIX: u8 = 1;\n", "calc::a()"),
        ("#[serde(default = \"port\")]\npub struct A;\nfn port() -> u8 { 1 }\n", "calc::A"),
        ("pub fn a() { f(B { b: 1, c: x.map(c) }) }\nfn c() {}\npub struct B;\n", "calc::a()"),
        ("pub type Op = fn();\npub const OPS: &[Op] = &[inc];\nfn inc() {}\n", "calc::OPS[0]()"),
    ] {
        assert_eq!(left(library, "", body), [0; 0], "{library}");
    }
}
