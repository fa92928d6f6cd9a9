//! Tests how single changes are described.

use tdd_core::change::TestChange;

use super::*;
use crate::fixture::memory;

const MANIFEST: &str = "[package]\nname = \"calc\"\n";
const LIB: &str = "//! Calc.\n\nmod a;\npub fn add(x: u32, y: u32) -> u32 { x + y }\n\
                   #[cfg(test)]\nmod tests {\n    use super::*;\n    const TWO: u32 = 2;\n    fn three() -> u32 { 3 }\n\
                   \x20   #[test]\n    fn adds() { assert_eq!(add(1, TWO), three()); }\n}\n";
const A: &str = "pub struct Calc;\nimpl Calc { pub fn get(&self) -> u32 { 1 } }\n\
                 #[cfg(test)] mod tests { #[test] fn gets() { assert_eq!(super::Calc.get(), 1); } }\n";
const CALC: &str = "use calc::add;\n\n#[test]\nfn sums() { assert_eq!(add(1, 2), 3); }\n";

/// A small project with these files replaced or added; an empty text removes a file.
fn tree<'t>(with: &[(&'t str, &'t str)]) -> Vec<(&'t str, &'t str)> {
    let own = [("Cargo.toml", MANIFEST), ("src/a.rs", A), ("src/lib.rs", LIB), ("tests/calc.rs", CALC)];
    let kept = own.into_iter().filter(|(path, _)| with.iter().all(|(other, _)| path != other));
    kept.chain(with.iter().copied().filter(|(_, text)| !text.is_empty())).collect()
}

fn between(before: &[(&str, &str)], after: &[(&str, &str)]) -> Change {
    let (before, after) = (tree(before), tree(after));
    let differs = |path: &&str| {
        let text =
            |files: &[(&str, &str)]| files.iter().find(|(known, _)| known == path).map(|(_, text)| (*text).to_owned());
        text(&before) != text(&after)
    };
    let all: BTreeSet<&str> = before.iter().chain(&after).map(|(path, _)| *path).collect();
    let paths: Vec<String> = all.into_iter().filter(differs).map(str::to_owned).collect();
    let project = Project { root: String::new(), description: String::new() };
    change(&project, &memory(&before), &memory(&after), &paths)
}

/// One line for each effect of a change.
fn lines(change: &Change) -> Vec<String> {
    let test = |change: &TestChange| match change {
        TestChange::Added(after) => format!("test {} added", after.id),
        TestChange::Removed(before) => format!("test {} removed", before.id),
        TestChange::Moved { before, after } => format!("test {} moved to {}", before.id, after.id),
        TestChange::Changed { after, only_added: true, .. } => format!("test {} grew", after.id),
        TestChange::Changed { after, only_added: false, .. } => format!("test {} changed", after.id),
    };
    let item = |what: &'static str| {
        move |change: &ItemChange| {
            format!("{what} {} {} {}", change.path, change.item, format!("{:?}", change.fate).to_lowercase())
        }
    };
    let steering = |change: &SteeringChange| {
        format!("steering {} {}{}", change.path, change.what, if change.free { " free" } else { "" })
    };
    let mut lines: Vec<String> = change.tests.iter().map(test).collect();
    lines.extend(change.support.iter().map(item("support")));
    lines.extend(change.production.iter().map(item("production")));
    lines.extend(change.steering.iter().map(steering));
    lines.extend(change.documents.iter().map(|path| format!("document {path}")));
    lines.extend(change.unreadable.iter().map(|it| format!("unreadable {}", it.place.path)));
    lines
}

fn check(before: &[(&str, &str)], after: &[(&str, &str)], expected: &[&str]) {
    assert_eq!(lines(&between(before, after)), expected, "{after:?}");
}

/// Checks the change from replacing a text in one file of the small project.
fn edit(path: &str, from: &str, to: &str, expected: &[&str]) {
    let text = tree(&[]).into_iter().find(|(known, _)| *known == path).unwrap().1;
    assert!(text.contains(from), "{from}");
    check(&[], &[(path, &text.replace(from, to))], expected);
}

#[test]
fn layout_comments_and_line_ends_are_nothing() {
    edit("src/lib.rs", "pub fn", "// Why.\npub  fn", &[]);
    edit("src/lib.rs", "x + y", "\n        x + y // sum\n", &[]);
    edit("src/lib.rs", "//! Calc.", "//! A calculator.", &[]);
    edit("src/lib.rs", "\n", "\r\n", &[]);
    edit("tests/calc.rs", "#[test]", "/// Sums.\n#[test]\n", &[]);
    check(
        &[("tests/calc.rs", "#[test] fn t() { a(\"x\ny\") }")],
        &[("tests/calc.rs", "#[test] fn t() { a(\"x\r\ny\") }")],
        &[],
    );
}

#[test]
fn a_test_is_followed_through_its_assertions() {
    let sums = "tests/calc.rs::sums";
    edit("tests/calc.rs", "3); }", "3); assert_eq!(add(0, 0), 0); }", &[&format!("test {sums} grew")]);
    edit("tests/calc.rs", "assert_eq!(add(1, 2), 3);", "", &[&format!("test {sums} changed")]);
    edit("tests/calc.rs", "3); }", "4); }", &[&format!("test {sums} changed")]);
    edit("tests/calc.rs", "assert_eq!(add(1, 2), 3)", "assert!(add(1, 2) > 0)", &[&format!("test {sums} changed")]);
    edit("tests/calc.rs", "#[test]", "#[test]\n#[ignore]", &[&format!("test {sums} grew")]);
    edit("tests/calc.rs", "#[test]", "#[test]\n#[should_panic]", &[&format!("test {sums} grew")]);
    edit("src/lib.rs", "three()); }", "three()); assert!(true); }", &["test src/lib.rs::tests::adds grew"]);
    edit("src/a.rs", ".get(), 1)", ".get(), 2)", &["test src/a.rs::a::tests::gets changed"]);
}

#[test]
fn the_facts_of_a_test_are_told() {
    let skipped =
        between(&[], &[("tests/calc.rs", &CALC.replace("#[test]", "#[ignore = \"x\"] #[should_panic] #[test]"))]);
    let [TestChange::Changed { before, after, only_added: true }] = skipped.tests.as_slice() else {
        panic!("{skipped:?}")
    };
    let mark = tdd_core::change::Mark::always("#[ignore = \"x\"]");
    assert_eq!((&before.skipped, &after.skipped), (&None, &Some(mark)));
    assert_eq!((before.should_panic, after.should_panic, after.line), (false, true, 4));
    assert_eq!((before.assertions.len(), after.asks_production, after.path.as_str()), (1, true, "tests/calc.rs"));
    let added = between(&[], &[("tests/b.rs", "#[test] fn x() { assert!(true) }")]);
    assert!(added.new_demands().all(|test| !test.asks_production && test.can_fail()), "{added:?}");
}

#[test]
fn a_condition_on_a_module_changes_its_tests() {
    for (path, from, to) in [
        ("src/lib.rs", "#[cfg(test)]\nmod", "#[cfg(all(test, feature = \"x\"))]\nmod"),
        ("src/lib.rs", "use super::*;", "#![cfg(feature = \"x\")] use super::*;"),
    ] {
        let text = tree(&[]).into_iter().find(|(known, _)| *known == path).unwrap().1;
        let found = between(&[], &[(path, &text.replace(from, to))]);
        let [TestChange::Changed { before, after, .. }] = found.tests.as_slice() else { panic!("{found:?}") };
        assert_ne!(before.conditions, after.conditions);
    }
    let found = between(&[], &[("src/lib.rs", &LIB.replace("mod a;", "#[cfg(unix)] mod a;"))]);
    let [TestChange::Changed { before, after, .. }] = found.tests.as_slice() else { panic!("{found:?}") };
    assert_eq!(
        (before.id.as_str(), after.conditions.as_slice()),
        ("src/a.rs::a::tests::gets", &["unix".to_owned()][..])
    );
    assert_eq!(lines(&found)[1..], ["production src/lib.rs mod `a` changed"]);
}

#[test]
fn a_test_that_is_renamed_or_moved_is_the_same_test() {
    edit("tests/calc.rs", "fn sums", "fn adds_up", &["test tests/calc.rs::sums moved to tests/calc.rs::adds_up"]);
    edit("tests/calc.rs", "#[test]", "// @tdd-test-id: sum\n#[test]", &["test tests/calc.rs::sums moved to sum"]);
    check(
        &[],
        &[("tests/calc.rs", ""), ("tests/sums.rs", CALC)],
        &["test tests/calc.rs::sums moved to tests/sums.rs::sums"],
    );
    let slug = "// @tdd-test-id: s\n#[test] fn x() { assert!(a::b()); }";
    check(&[("tests/calc.rs", slug)], &[("tests/calc.rs", &slug.replace("fn x", "fn y"))], &["test s moved to s"]);
}

#[test]
fn inline_tests_can_move_to_a_folder_for_tests() {
    let test = "#[test] fn gets() { assert_eq!(super::Calc.get(), 1); }";
    let without = A.replace(test, "");
    let expected = ["test src/a.rs::a::tests::gets moved to tests/gets.rs::gets"];
    check(&[], &[("src/a.rs", &without), ("tests/gets.rs", test)], &expected);
}

#[test]
fn a_file_that_is_split_moves_its_tests() {
    let lib = LIB.replace("mod a;", "mod b;");
    let expected = [
        "test src/a.rs::a::tests::gets moved to src/b.rs::b::tests::gets",
        "production src/a.rs struct `Calc` removed",
        "production src/a.rs fn `Calc::get` removed",
        "production src/a.rs impl `Calc` removed",
        "production src/b.rs struct `Calc` added",
        "production src/b.rs fn `Calc::get` added",
        "production src/b.rs impl `Calc` added",
        "production src/lib.rs mod `a` removed",
        "production src/lib.rs mod `b` added",
    ];
    check(&[], &[("src/lib.rs", &lib), ("src/a.rs", ""), ("src/b.rs", A)], &expected);
}

#[test]
fn a_test_that_no_target_leads_to_any_more_is_gone() {
    let gets = "test src/a.rs::a::tests::gets removed";
    edit("src/lib.rs", "mod a;\n", "", &[gets, "production src/lib.rs mod `a` removed"]);
    edit(
        "Cargo.toml",
        "\"calc\"",
        "\"calc\"\nautotests = false",
        &["test tests/calc.rs::sums removed", "steering Cargo.toml `package.autotests`"],
    );
    let harness = format!("{MANIFEST}[[test]]\nname = \"calc\"\nharness = false");
    let named = format!("{MANIFEST}[[test]]\nname = \"calc\"");
    check(
        &[("Cargo.toml", &named)],
        &[("Cargo.toml", &harness)],
        &["test tests/calc.rs::sums removed", "steering Cargo.toml `test[0].harness`"],
    );
    // Moved to a place where it is not run: removed here, and added where nobody runs it.
    check(
        &[],
        &[("tests/calc.rs", ""), ("examples/calc.rs", CALC)],
        &[
            "test tests/calc.rs::sums removed",
            "test examples/calc.rs::sums added",
            "support tests/calc.rs use `calc::add` removed",
            "production examples/calc.rs use `calc::add` added",
        ],
    );
}

#[test]
fn what_tests_use_is_told_item_by_item() {
    edit("src/lib.rs", "{ 3 }", "{ 4 }", &["support src/lib.rs fn `three` changed"]);
    edit("src/lib.rs", "u32 { 3 }", "u32 { loop {} }", &["support src/lib.rs fn `three` changed"]);
    edit("src/lib.rs", "TWO: u32 = 2", "TWO: u32 = 3", &["support src/lib.rs const `TWO` changed"]);
    edit(
        "tests/calc.rs",
        "use calc::add;",
        "fn add(_: u32, _: u32) -> u32 { 3 }",
        &["support tests/calc.rs fn `add` added", "support tests/calc.rs use `calc::add` removed"],
    );
    edit("tests/calc.rs", "calc::add;", "calc::{add, sub};", &["support tests/calc.rs use `calc::sub` added"]);
    edit("tests/calc.rs", "use calc", "mod common;\nuse calc", &["support tests/calc.rs mod `common` added"]);
}

#[test]
fn a_macro_that_hides_an_assertion_is_told_where_it_stands() {
    let hiding = "macro_rules! assert_eq { ($($x:tt)*) => {} }\n";
    let expected = ["production src/lib.rs macro `assert_eq` added"];
    edit("src/lib.rs", "#[cfg(test)]", &format!("{hiding}#[cfg(test)]"), &expected);
    let expected = ["support src/lib.rs macro `assert_eq` added"];
    edit("src/lib.rs", "    use super", &format!("{hiding}use super"), &expected);
    let expected = ["support tests/calc.rs macro `assert_eq` added"];
    edit("tests/calc.rs", "use calc", &format!("{hiding}use calc"), &expected);
}

#[test]
fn fixtures_and_snapshots_are_what_tests_use() {
    check(
        &[("tests/snapshots/a.snap", "1"), ("tests/data/in.json", "1")],
        &[("tests/snapshots/a.snap", "2"), ("tests/data/new.json", "1")],
        &[
            "support tests/data/in.json the file `in.json` removed",
            "support tests/data/new.json the file `new.json` added",
            "support tests/snapshots/a.snap the file `a.snap` changed",
        ],
    );
}

#[test]
fn a_helper_may_move_to_another_file_of_tests() {
    let helper = "fn three() -> u32 { 3 }";
    check(
        &[("tests/calc.rs", &format!("{CALC}{helper}"))],
        &[("tests/calc.rs", CALC), ("tests/common/mod.rs", helper)],
        &[],
    );
}

#[test]
fn production_is_told_item_by_item() {
    edit("src/lib.rs", "x + y", "x - y", &["production src/lib.rs fn `add` changed"]);
    edit("src/lib.rs", "mod a;", "mod a;\nconst N: u8 = 1;", &["production src/lib.rs const `N` added"]);
    edit("src/lib.rs", "mod a;", "#![allow(x)]\nmod a;", &["production src/lib.rs attribute `allow` added"]);
    edit("src/a.rs", "impl Calc {", "impl Calc { fn new() {}", &["production src/a.rs fn `Calc::new` added"]);
    edit("src/a.rs", "{ 1 }", "{ 2 }", &["production src/a.rs fn `Calc::get` changed"]);
    edit(
        "src/a.rs",
        "impl Calc",
        "impl Default for Calc { fn default() -> Self { Calc } }\nimpl Calc",
        &["production src/a.rs fn `Calc::default` added", "production src/a.rs impl `Default for Calc` added"],
    );
    edit("src/a.rs", "pub struct", "#[derive(Debug)] pub struct", &["production src/a.rs struct `Calc` changed"]);
    check(&[], &[("src/new.rs", "fn x() {}")], &["production src/new.rs fn `x` added"]);
}

#[test]
fn what_leaves_the_tests_becomes_production() {
    edit(
        "src/lib.rs",
        "#[cfg(test)]\nmod tests {",
        "mod tests {",
        &[
            "support src/lib.rs mod `tests` removed",
            "support src/lib.rs use `super::*` removed",
            "support src/lib.rs const `TWO` removed",
            "support src/lib.rs fn `three` removed",
            "production src/lib.rs mod `tests` added",
            "production src/lib.rs use `super::*` added",
            "production src/lib.rs const `TWO` added",
            "production src/lib.rs fn `three` added",
        ],
    );
    let checks = "pub fn helper() {}\n#[test] fn x() { assert!(super::y()); }";
    check(
        &[("src/lib.rs", "#[cfg(test)] mod checks;"), ("src/checks.rs", checks)],
        &[("src/lib.rs", "mod checks;"), ("src/checks.rs", checks)],
        &[
            "support src/checks.rs fn `helper` removed",
            "support src/lib.rs mod `checks` removed",
            "production src/checks.rs fn `helper` added",
            "production src/lib.rs mod `checks` added",
        ],
    );
}

#[test]
fn examples_in_documentation_are_what_tests_use() {
    let with = |code: &str| LIB.replace("pub fn", &format!("/// Adds.\n///\n/// ```\n/// {code}\n/// ```\npub fn"));
    let (one, other) = (with("assert_eq!(calc::add(1, 1), 2);"), with("assert!(true);"));
    let told = |fate: &str| format!("support src/lib.rs an example of fn `add` {fate}");
    check(&[], &[("src/lib.rs", &one)], &[&told("added")]);
    check(&[("src/lib.rs", &one)], &[("src/lib.rs", &other)], &[&told("changed")]);
    check(&[("src/lib.rs", &one)], &[("src/lib.rs", LIB)], &[&told("removed")]);
    check(&[("src/lib.rs", &one)], &[("src/lib.rs", &one.replace("Adds", "Sums"))], &[]);
    let lib = format!("#![doc = include_str!(\"../README.md\")]\n{LIB}");
    check(
        &[("src/lib.rs", &lib), ("README.md", "# Calc\n```\na();\n```")],
        &[("src/lib.rs", &lib), ("README.md", "# Calc!\n")],
        &["support README.md an example changed", "document README.md"],
    );
}

#[test]
fn steering_is_told_by_file_and_by_key() {
    let config = ".cargo/config.toml";
    check(&[], &[("build.rs", "fn main() {}")], &["steering build.rs a new file"]);
    check(&[("build.rs", "fn main() {}")], &[("build.rs", "// c\nfn main( ) {}")], &[]);
    check(&[], &[(config, "[build]")], &["steering .cargo/config.toml a new file"]);
    check(&[(config, "[build]")], &[(config, "[build]\njobs = 1")], &["steering .cargo/config.toml its text"]);
    check(&[(config, "[build]")], &[(config, "# c\n[build]")], &[]);
    edit("Cargo.toml", "\"calc\"", "\"calc\"\n[lib]\nname = \"other\"", &["steering Cargo.toml `lib.name`"]);
    edit("Cargo.toml", "\"calc\"", "\"calc\"\n[features]\nx = []", &["steering Cargo.toml `features.x`"]);
    let with = "\"calc\"\n[dependencies]\nrand = ";
    edit("Cargo.toml", "\"calc\"", &format!("{with}\"1\""), &["steering Cargo.toml `dependencies.rand` free"]);
    edit("Cargo.toml", "\"calc\"", &format!("{with}{{ path = \"x\" }}"), &["steering Cargo.toml `dependencies.rand`"]);
}

#[test]
fn a_lock_file_goes_with_its_manifest() {
    check(
        &[("Cargo.lock", "version = 4")],
        &[("Cargo.lock", "version = 5")],
        &["steering Cargo.lock a lock file without its manifest"],
    );
    let manifest = format!("{MANIFEST}[dependencies]\nrand = \"1\"");
    check(
        &[("Cargo.lock", "version = 4")],
        &[("Cargo.lock", "version = 5"), ("Cargo.toml", &manifest)],
        &["steering Cargo.toml `dependencies.rand` free"],
    );
}

#[test]
fn documents_are_named() {
    check(&[("README.md", "a"), ("x.csv", "1")], &[("README.md", "b")], &["document README.md", "document x.csv"]);
}

#[test]
fn a_file_that_does_not_parse_any_more_says_nothing() {
    edit("tests/calc.rs", "fn sums() {", "fn sums( {", &["unreadable tests/calc.rs"]);
    check(&[], &[("src/x.rs", "fn (")], &["unreadable src/x.rs"]);
    check(
        &[("src/x.rs", "fn ("), ("tests/y.rs", "fn (")],
        &[("src/x.rs", "fn )"), ("tests/y.rs", "fn )")],
        &["support tests/y.rs the file `y.rs` changed", "production src/x.rs the file `x.rs` changed"],
    );
}

#[test]
fn tests_in_the_arguments_of_a_macro_are_no_production() {
    let lib = |test: &str| format!("proptest! {{ #![config(1)] {test} }}");
    let test = "#[test] fn t(x in 0..9) { prop_assert!(crate::a(x)); }";
    let (none, one) = (lib(""), lib(test));
    check(&[("src/lib.rs", &one)], &[("src/lib.rs", &one.replace("0..9", "0..8"))], &["test src/lib.rs::t changed"]);
    check(&[("tests/calc.rs", &none)], &[("tests/calc.rs", &one)], &["test tests/calc.rs::t added"]);
}

#[test]
fn tests_that_share_a_name_or_a_slug_are_all_looked_at() {
    let two = "#[cfg(unix)] #[test] fn x() { assert!(a::b(1)); }\n#[cfg(windows)] #[test] fn x() { assert!(a::b(2)); }";
    check(
        &[("tests/calc.rs", two)],
        &[("tests/calc.rs", &two.replace("b(2)", "b(3)"))],
        &["test tests/calc.rs::x changed"],
    );
    let slug = "// @tdd-test-id: s\n#[test] fn x() { assert!(a::b(1)); }";
    check(
        &[("tests/b.rs", slug), ("tests/c.rs", slug)],
        &[("tests/b.rs", slug), ("tests/c.rs", &slug.replace("b(1)", "b(2)"))],
        &["test s changed"],
    );
}

#[test]
fn deep_nesting_is_no_matter() {
    let (open, close) = ("mod a {".repeat(500), "}".repeat(500));
    let lib = |value: u8| format!("{open} const A: u8 = {value}; {close}");
    check(&[("src/lib.rs", &lib(1))], &[("src/lib.rs", &lib(2))], &["production src/lib.rs const `A` changed"]);
}

#[test]
fn a_large_change_is_told_in_good_time() {
    let texts: Vec<(String, String)> =
        (0..200).map(|n| (format!("tests/t{n}.rs"), CALC.replace("sums", &format!("s{n}")))).collect();
    let before: Vec<_> = texts.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let grown: Vec<(String, String)> =
        texts.iter().map(|(path, text)| (path.clone(), text.replace("3); }", "3); assert!(true); }"))).collect();
    let after: Vec<_> = grown.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    assert_eq!(between(&before, &after).tests.len(), 200);
}

#[test]
fn a_case_more_asks_for_more_but_not_of_a_test_that_asserts_nothing() {
    let test =
        |cases: &str, body: &str| format!("use calc::add;\n#[rstest]\n{cases}\nfn sums(#[case] x: u32) {{ {body} }}\n");
    for (body, asks) in [("assert_eq!(add(x, 0), x);", true), ("add(x, 0);", false)] {
        let (before, after) = (test("#[case(1)]", body), test("#[case(1)]\n#[case::two(2)]", body));
        let change = between(&[("tests/calc.rs", &before)], &[("tests/calc.rs", &after)]);
        assert_eq!(change.new_demands().count(), usize::from(asks), "{body}");
        let change = between(&[("tests/calc.rs", &after)], &[("tests/calc.rs", &before)]);
        assert_eq!(change.new_demands().count(), 0, "{body}");
    }
}

#[test]
fn an_item_that_takes_the_name_of_what_an_old_test_calls_changes_that_test() {
    let test = "#[test]\nfn sums() { assert_eq!(add(1, 2).len(), Two::new()); }\n";
    let old = format!("use calc::*;\n{test}");
    for (item, shadows) in [
        ("fn add(a: u32, b: u32) -> u32 { a + b }", true),
        ("struct Two;", true),
        ("mod other { pub fn add() {} }\nuse other::add;", true),
        ("use calc::add;", false),
        ("fn len() {}", false),
        ("trait Quick { fn len(self) -> u32; }\nimpl Quick for Two { fn len(self) -> u32 { 2 } }", true),
        ("impl calc::Count for Fake { fn len(&self) -> u32 { 2 } }", false),
        ("trait Quick { fn quick(self) -> u32; }", false),
        ("fn sums_up() {}", false),
        ("mod b { fn add() {} }", false),
    ] {
        let new = format!("{old}{item}\n");
        let told = lines(&between(&[("tests/calc.rs", &old)], &[("tests/calc.rs", &new)]));
        let changed = told.contains(&"test tests/calc.rs::sums changed".to_owned());
        assert_eq!(changed, shadows, "{item}: {told:?}");
    }
}

#[test]
fn a_table_beside_its_test_belongs_to_it() {
    let with = |rows: &str, rest: &str| {
        let table = format!("const CASES: [(u32, u32); {}] = [{rows}];\n", rows.matches('(').count());
        format!(
            "use calc::add;\n\n{table}\n#[test]\nfn sums() {{\n    for (x, y) in CASES {{ assert_eq!(add(x, x), y); }}\n}}\n{rest}"
        )
    };
    let told = |rows: &str, rest: &str, after: &str| {
        lines(&between(&[("tests/calc.rs", &with(rows, rest))], &[("tests/calc.rs", after)]))
    };
    assert_eq!(told("(1, 2)", "", &with("(1, 2), (2, 4)", "")), ["test tests/calc.rs::sums grew"]);
    assert_eq!(told("(1, 2)", "", &with("(1, 3), (2, 4)", "")), ["test tests/calc.rs::sums changed"]);
    assert_eq!(told("(1, 2), (2, 4)", "", &with("(2, 4)", "")), ["test tests/calc.rs::sums changed"]);
    let grown = between(&[("tests/calc.rs", &with("(1, 2)", ""))], &[("tests/calc.rs", &with("(1, 2), (2, 4)", ""))]);
    assert_eq!(grown.new_demands().count(), 1);
    let bare = "use calc::add;\n\nconst CASES: [(u32, u32); 1] = [(1, 2)];\n";
    assert_eq!(told("(1, 2)", "", bare), ["test tests/calc.rs::sums removed"]);
    // A table is added and removed with its test.
    assert_eq!(told("(1, 2)", "", "use calc::add;\n"), ["test tests/calc.rs::sums removed"]);
    let before = [("tests/calc.rs", "use calc::add;\n")];
    assert_eq!(lines(&between(&before, &[("tests/calc.rs", &with("(1, 2)", ""))])), ["test tests/calc.rs::sums added"]);
    let used = "fn other() { let _ = CASES.len(); }\n";
    let changed = ["support tests/calc.rs const `CASES` changed"];
    assert_eq!(told("(1, 2)", used, &with("(1, 2), (2, 4)", used)), changed);
    let seen = |rows: &str| with(rows, "").replace("const", "pub const");
    assert_eq!(
        lines(&between(&[("tests/calc.rs", &seen("(1, 2)"))], &[("tests/calc.rs", &seen("(1, 2), (2, 4)"))])),
        changed
    );
}
