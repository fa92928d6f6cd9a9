//! Finds the tests of a Rust file, and other facts about its items.

use crate::item::Items;

use super::attribute::Attribute;
use super::comment;
use super::syntax::Tree;
use super::walk::{Walk, read};

/// The items of the file at `path`.
///
/// Tests are searched where the compiler searches: in the file and its inline modules, not inside functions. A function
/// with a test attribute in macro arguments (`proptest!`, `cfg_if!`) counts, whatever the macro does with it: if the
/// macro drops it, the run will lack it.
pub fn items(path: &str, source: &str) -> Items {
    let Some(tree) = Tree::parse(source) else { return Items::default() };
    let mut items = Walk::new(&tree).run();
    items.parses = tree.parses();
    items.doc_tests_possible = documents_an_example(&tree);
    if in_test_folder(path) {
        items.test_ranges = std::iter::once(0..source.len()).collect();
        items.functions = 0;
    }
    items
}

/// Whether the file is in the `tests` or `benches` folder of a package. Folders of that name below `src` do not count.
pub(super) fn in_test_folder(path: &str) -> bool {
    are_for_tests(path.rsplit_once('/').map_or("", |(folders, _)| folders))
}

/// Whether these folders contain only test code.
pub(super) fn are_for_tests(folders: &str) -> bool {
    let first = folders.split('/').find(|folder| matches!(*folder, "src" | "tests" | "benches"));
    matches!(first, Some("tests" | "benches"))
}

fn documents_an_example(tree: &Tree<'_>) -> bool {
    (0..tree.len()).any(|node| match tree.kind(node) {
        "line_comment" | "block_comment" => comment::documents_an_example(tree.text(node)),
        "attribute" if tree.text(node).contains("doc") => {
            read(tree, node..tree.subtree_end(node)).iter().any(Attribute::documents_an_example)
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::item::TestItem;

    fn of(source: &str) -> Items {
        items("src/lib.rs", source)
    }

    fn only(source: &str) -> TestItem {
        let mut tests = of(source).tests;
        assert_eq!(tests.len(), 1, "{source}");
        tests.remove(0)
    }

    fn names(source: &str) -> Vec<String> {
        of(source).tests.into_iter().map(|test| test.name).collect()
    }

    #[test]
    fn tests_are_named_by_the_modules_around_them() {
        let source = "#[test] fn a() {}\nmod tests { use super::*; mod deep { #[tokio::test] async fn b() {} }\n\
                      #[rstest] #[case(1)] pub(crate) fn c() {} }\n#[test]\nfn d() {}\nmod r#type { #[test] fn r#e() {} }";
        assert_eq!(names(source), ["a", "tests::deep::b", "tests::c", "d", "r#type::e"]);
    }

    #[test]
    fn what_only_looks_like_a_test_is_none() {
        for source in [
            "// #[test]\n// fn a() {}",
            "/* #[test] fn a() {} */",
            "const A: &str = \"#[test] fn a() {}\";",
            "const A: &str = r#\"#[test] fn a() {}\"#;",
            "/// #[test]\nfn a() {}",
            "#[cfg(test)] fn helper() {}",
            "fn outer() { #[test] fn a() {} }",
            "macro_rules! m { () => { #[test] fn a() {} } }",
            "#[test] const A: u8 = 1; fn a() {}",
            "proptest! { #[derive(Debug)] struct A; fn a() {} }",
            "",
            "\u{feff}",
        ] {
            assert_eq!(names(source), [""; 0], "{source}");
        }
    }

    #[test]
    fn tests_in_the_arguments_of_macros_are_found() {
        for (source, expected) in [
            ("proptest! { #![proptest_config(c())] /// d\n #[test] fn a(x in 0..9) { } fn b(y in 1..) {} }", vec!["a"]),
            ("mod p { proptest! { #[test] fn a(x in 0..9) {} #[test] fn b() {} } }", vec!["p::a", "p::b"]),
            ("quickcheck! { fn a(x: u8) -> bool { true } fn b(x: u8) -> bool { true } }", vec!["a", "b"]),
            (
                "cfg_if! { if #[cfg(unix)] { mod m { #[test] fn a() {} } } else { #[test] fn b() {} } }",
                vec!["m::a", "b"],
            ),
            ("rusty_fork_test!(#[test] fn a() { #[test] fn inner() {} });", vec!["a"]),
        ] {
            assert_eq!(names(source), expected, "{source}");
        }
    }

    #[test]
    fn a_span_goes_from_the_doc_comment_to_the_closing_brace() {
        let source = "use a;\n// free\n/// Doc.\n#[test]\n// why\n#[ignore]\nfn a() {\n}\nfn b() {}";
        let test = only(source);
        assert_eq!(&source[test.span], "/// Doc.\n#[test]\n// why\n#[ignore]\nfn a() {\n}");
        assert_eq!(test.line, 7);
        let source = "proptest! { fn b() {} #[test] fn a(x in 1..2) { x } }";
        assert_eq!(&source[only(source).span], "#[test] fn a(x in 1..2) { x }");
    }

    #[test]
    fn a_digest_covers_attributes_and_body_but_no_comment() {
        let plain = only("#[test] fn a() { b(\"x y\") }").digest;
        assert_eq!(plain, only("/// Doc.\r\n#[test]\r\nfn a() {\r\n // c\r\n b(\"x y\") }").digest);
        for other in ["#[test] #[ignore] fn a() { b(\"x y\") }", "#[test] fn a() { b(\"x  y\") }", "#[test] fn c() {}"]
        {
            assert_ne!(plain, only(other).digest, "{other}");
        }
    }

    #[test]
    fn an_annotation_is_taken_from_three_lines_above_or_nearer() {
        for (source, expected) in [
            ("// @tdd-test-id: x\n#[test] fn a() {}", Some("x")),
            ("// @tdd-test-id: x\n\n\n#[test] fn a() {}", Some("x")),
            ("// @tdd-test-id: x\n\n\n\n#[test] fn a() {}", None),
            ("/* @tdd-test-id: x */\n/// Doc.\n///\n/// More.\n/// And.\n#[test]\nfn a() {}", Some("x")),
            ("#[test]\n// @tdd-test-id: x\nfn a() {}", Some("x")),
            ("/// @tdd-test-id: x\n#[test]\nfn a() {}", Some("x")),
            ("/*\n * @tdd-test-id: x\n */\n#[test]\nfn a() {}", Some("x")),
            ("// @tdd-test-id: y\r\n// @tdd-test-id: x\r\n#[test]\r\nfn a() {}", Some("x")),
            ("proptest! {\n// @tdd-test-id: x\n#[test]\nfn a(x in 1..2) {} }", Some("x")),
            ("// @tdd-test-id:\n#[test] fn a() {}", Some("")),
            ("fn b() { /* @tdd-test-id: x */ }\n#[test] fn a() {}", None),
            ("const A: &str = \"// @tdd-test-id: x\";\n#[test] fn a() {}", None),
            ("#[test] fn a() {\n// @tdd-test-id: x\n}", None),
        ] {
            assert_eq!(only(source).annotation.as_deref(), expected, "{source}");
        }
    }

    #[test]
    fn an_annotation_belongs_to_one_test() {
        let tests = of("// @tdd-test-id: x\n#[test] fn a() {}\n#[test] fn b() {}").tests;
        assert_eq!(tests.iter().map(|test| test.annotation.as_deref()).collect::<Vec<_>>(), [Some("x"), None]);
    }

    #[test]
    fn what_keeps_a_test_from_running_is_on_record() {
        for (source, ignored, cfg) in [
            ("#[test] fn a() {}", None, vec![]),
            ("#[test] #[ignore] fn a() {}", Some("#[ignore]"), vec![]),
            ("#[ignore = \"why\"] #[test] fn a() {}", Some("#[ignore = \"why\"]"), vec![]),
            ("#[test] #[cfg_attr(x, ignore)] fn a() {}", Some("#[cfg_attr(x, ignore)]"), vec![]),
            ("#[test] #[cfg(any())] fn a() {}", Some("#[cfg(any())]"), vec!["any()"]),
            ("#[cfg(not(test))] mod m { #[test] fn a() {} }", Some("#[cfg(not(test))]"), vec!["not(test)"]),
            ("#[cfg(unix)] mod m { #[cfg(feature=\"f\")] #[test] fn a() {} }", None, vec!["unix", "feature = \"f\""]),
            ("#[cfg(test)] mod m { #[test] fn a() {} }", None, vec![]),
            ("#[cfg(all(test, unix))] mod m { #[test] fn a() {} }", None, vec!["all(test, unix)"]),
            ("#![cfg(unix)]\n#[test] fn a() {}", None, vec!["unix"]),
            ("mod m { #![cfg(any())]\n#[test] fn a() {} }", Some("#[cfg(any())]"), vec!["any()"]),
            ("#[cfg_attr(not(miri), test)] fn a() {}", None, vec!["not(miri)"]),
            ("proptest! { #[test] #[ignore] fn a(x in 1..2) {} }", Some("#[ignore]"), vec![]),
            ("#[cfg(unix)] proptest! { #[test] fn a(x in 1..2) {} }", None, vec!["unix"]),
        ] {
            let test = only(source);
            assert_eq!(
                (test.skipped().as_deref(), test.cfg),
                (ignored, cfg.into_iter().map(str::to_owned).collect()),
                "{source}"
            );
        }
    }

    #[test]
    fn a_marker_under_a_condition_does_not_keep_a_test_from_running_everywhere() {
        let never_runs = |source: &str| only(source).never_runs();
        assert!(never_runs("#[test] #[ignore] fn a() {}"));
        assert!(never_runs("#[test] #[cfg(any())] fn a() {}"));
        assert!(never_runs("#[test] #[cfg_attr(windows, ignore)] #[ignore] fn a() {}"));
        assert!(!never_runs("#[test] #[cfg_attr(windows, ignore)] fn a() {}"));
        assert!(!never_runs("#[test] #[cfg(unix)] fn a() {}"));
    }

    #[test]
    fn an_expected_panic_and_a_returned_result_are_on_record() {
        let test = only("#[test] #[should_panic(expected = \"zero\")] fn a() {}");
        assert_eq!(
            (test.should_panic, test.expected_panic.as_deref(), test.returns_result),
            (true, Some("zero"), false)
        );
        for (source, returns) in [
            ("#[test] fn a() {}", false),
            ("#[test] fn a() -> () {}", false),
            ("#[test] fn a() -> anyhow::Result<()> { Err(1)? }", true),
            ("quickcheck! { fn a(x: u8) -> bool { true } }", true),
            ("proptest! { #[test] fn a(x in 1..2) {} }", false),
        ] {
            assert_eq!(only(source).returns_result, returns, "{source}");
        }
    }

    #[test]
    fn assertions_stand_in_the_body_or_in_a_case() {
        let test = only("#[test_case(1 => 2)] #[test_case(2 => 3)] fn a(x: u8) -> u8 { assert!(x > 0); x + 1 }");
        let kinds: Vec<_> = test.assertions.iter().map(|found| found.kind.as_str()).collect();
        assert_eq!(kinds, ["test_case", "test_case", "assert!"]);
        let test = only("proptest! { #[test] fn a(x in 1..2) { prop_assert!(x > 0); let f = || assert!(x); } }");
        let seen: Vec<_> = test.assertions.iter().map(|found| (found.kind.as_str(), found.in_closure)).collect();
        assert_eq!(seen, [("prop_assert!", false), ("assert!", true)]);
    }

    #[test]
    fn ranges_cover_what_exists_only_for_tests() {
        for (source, expected) in [
            (
                "fn a() {}\n#[cfg(test)]\nmod tests { #[cfg(test)] fn b() {} }",
                vec!["#[cfg(test)]\nmod tests { #[cfg(test)] fn b() {} }"],
            ),
            ("#[cfg(all(test, unix))] use a::b;\nfn c() {}", vec!["#[cfg(all(test, unix))] use a::b;"]),
            ("#[cfg(any(test, unix))] fn a() {}", vec![]),
            ("#[cfg(not(test))] fn a() {}", vec![]),
            ("impl A { #[cfg(test)] fn b() {} fn c() {} }", vec!["#[cfg(test)] fn b() {}"]),
            ("#[test] fn a() {}", vec!["#[test] fn a() {}"]),
            ("#[cfg(test)] mod a;\nmod b;", vec!["#[cfg(test)] mod a;"]),
            ("mod a {#![cfg(test)]\nfn b() {} }", vec!["{#![cfg(test)]\nfn b() {} }"]),
            ("#[cfg(test)] proptest! { #[test] fn a() {} }", vec!["#[cfg(test)] proptest! { #[test] fn a() {} }"]),
        ] {
            let ranges: Vec<_> = of(source).test_ranges.into_iter().map(|range| &source[range]).collect();
            assert_eq!(ranges, expected, "{source}");
        }
    }

    #[test]
    fn a_file_below_tests_or_benches_is_for_tests_as_a_whole() {
        for (path, expected) in [
            ("tests/a.rs", true),
            ("benches/a.rs", true),
            ("crates/x/tests/suite/a.rs", true),
            ("tests/src/a.rs", true),
            ("src/tests/a.rs", false),
            ("src/tests.rs", false),
            ("tests.rs", false),
        ] {
            let whole = std::iter::once(0..9).collect::<Vec<_>>();
            let found = items(path, "fn a() {}");
            assert_eq!((found.test_ranges == whole, found.functions == 0), (expected, expected), "{path}");
        }
    }

    #[test]
    fn functions_outside_of_tests_are_counted() {
        for (source, expected) in [
            ("//! Doc.", 0),
            ("fn a() {} impl B { fn c() {} } trait D { fn e(); fn f() {} } mod g { fn h() {} }", 4),
            ("#[cfg(test)] mod tests { fn a() {} impl B { fn c() {} } }", 0),
            ("#[test] fn a() {} #[cfg(test)] fn b() {}", 0),
            ("make! { fn a() {} }", 1),
        ] {
            assert_eq!(of(source).functions, expected, "{source}");
        }
    }

    #[test]
    fn modules_in_other_files_are_declared() {
        let source = "mod a;\n#[cfg(test)] mod b { mod c; #[path = \"x/d.rs\"] pub mod d; }\n#[path = \"p\"] mod e { mod r#fn; }\n\
                      #[cfg_attr(unix, path = \"u.rs\")] mod f;\ncfg_if! { if #[cfg(unix)] { mod g; } }";
        let found = of(source);
        let seen: Vec<_> = found
            .modules
            .iter()
            .map(|m| (m.name.as_str(), m.path.as_deref(), m.folder.as_str(), m.folder_from_path, m.test_only))
            .collect();
        let expected = [
            ("a", None, "", false, false),
            ("b::c", None, "b/", false, true),
            ("b::d", Some("x/d.rs"), "b/", false, true),
            ("e::r#fn", None, "p/", true, false),
            ("f", Some("u.rs"), "", false, false),
            ("f", None, "", false, false),
            ("g", None, "", false, false),
        ];
        assert_eq!(seen, expected);
        assert_eq!(found.test_modules().collect::<Vec<_>>(), ["b::c", "b::d"]);
    }

    #[test]
    fn examples_in_the_documentation_may_be_tests() {
        for (source, expected) in [
            ("/// ```\n/// a();\n/// ```\nfn a() {}", true),
            ("//!     a();\n", true),
            ("struct A { #[doc = \"```\"] b: u8 }", true),
            ("#![doc = include_str!(\"../README.md\")]", true),
            ("#[cfg_attr(doc, doc = include_str!(\"../README.md\"))] fn a() {}", true),
            ("/// Plain.\nfn a() {} // ```", false),
            ("#[doc(hidden)] fn a() { \"/// ```\" }", false),
        ] {
            assert_eq!(of(source).doc_tests_possible, expected, "{source}");
        }
    }

    #[test]
    fn tests_are_found_in_a_file_that_does_not_parse() {
        let found = of("#[test] fn a() {}\nfn ) {\n#[test] fn b() {}");
        assert!(!found.parses);
        assert_eq!(found.tests[0].name, "a");
    }

    #[test]
    fn a_large_file_and_deep_nesting_are_no_matter() {
        let large = "#[test]\nfn adds() { assert_eq!(add(1, 2), 3, \"hello\"); }\n".repeat(18_000);
        assert_eq!(of(&large).tests.len(), 18_000);
        let (open, close) = ("mod a {".repeat(500), "}".repeat(500));
        assert_eq!(of(&format!("{open} #[test] fn x() {{}} {close}")).tests.len(), 1);
        let (open, close) = ("(".repeat(500), ")".repeat(500));
        assert_eq!(only(&format!("#[test] fn x() {{ {open}assert!(a){close} }}")).assertions.len(), 1);
        assert_eq!(only(&format!("proptest! {{ #[test] fn x() {{ {open}assert!(a){close} }} }}")).assertions.len(), 1);
        let (open, close) = ("{".repeat(500), "}".repeat(500));
        assert_eq!(names(&format!("m! {{ {open} #[test] fn x() {{}} {close} }}")), ["x"]);
    }

    /// Random text made of fragments of Rust, so that the walk meets all kinds of incomplete code.
    fn pieces() -> impl Strategy<Value = String> {
        let pieces = [
            "#[test]",
            "#[cfg(test)]",
            "#[cfg_attr(x, ",
            "#![cfg(",
            "fn a",
            "() ",
            "{",
            "}",
            "mod b",
            ";",
            "(",
            ")",
            "]",
            "proptest! {",
            "quickcheck! {",
            "assert!(",
            "|x| ",
            "\"",
            "'",
            "r#",
            "// @tdd-test-id: é\n",
            "/// ```\r\n",
            "/*",
            "*/",
            "é",
            "\u{feff}",
            "#",
            "!",
            "panic!()",
            "if ",
            " else ",
            "impl A",
            "-> ",
            "macro_rules! m",
        ];
        prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..40).prop_map(|pieces| pieces.concat())
    }

    fn check_bounds(source: &str) {
        let found = items("src/lib.rs", source);
        let asserted = found.tests.iter().flat_map(|test| &test.assertions).map(|assertion| &assertion.span);
        let spans = found.tests.iter().map(|test| &test.span).chain(&found.test_ranges).chain(asserted);
        for span in spans {
            assert!(source.get(span.clone()).is_some(), "{span:?} in {source:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_has_items_within_its_bounds(source in any::<String>()) {
            check_bounds(&source);
        }

        #[test]
        fn half_written_code_has_items_within_its_bounds(source in pieces()) {
            check_bounds(&source);
        }
    }
}
