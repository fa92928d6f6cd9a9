//! Writes the copies of a test for the counter-proof into the test's file, right after the test.
//!
//! Each copy is annotated with its name, so that its id is known wherever cargo puts the file. Tests that macros
//! generate, and snapshot tests, which store a file under their own name, are not copied.

use std::ops::Range;

use tdd_core::proof::Twin;
use tdd_core::test_id::TestId;

use super::expectation::{BREAK, false_assertion, opposite};
use super::syntax::Tree;
use crate::item::{Assertion, TestItem};
use crate::syntax::splice;
use crate::twin::{AlterationMode, FreshNames, Twins, edited_part, without_repeats};

/// Keeps a copy from failing to compile because of the project's lints.
const LENIENT: &str = "#[allow(warnings, unconditional_panic, overflowing_literals, arithmetic_overflow)]";

/// The file with the copies; `None` if the test cannot be copied.
pub(super) fn twins(_: &str, source: &str, test: &TestItem, seed: u64, mode: AlterationMode) -> Option<Twins> {
    let tree = Tree::parse(source).filter(Tree::parses)?;
    if test.assertions.iter().any(|assertion| assertion.kind.contains("snapshot")) {
        return None;
    }
    let original = Original::find(&tree, source, test)?;
    let mut writer = Writer { original, source, mode, names: FreshNames::new(seed), text: String::new() };
    let copy = writer.test(&Alteration::default())?;
    let passing_control = writer.control("")?;
    let failing_control = writer.control(BREAK)?;
    let false_assertions = writer.false_assertions(test)?;
    let twins = if test.should_panic { writer.panicking(test)? } else { writer.asserting(test) };
    let source = splice(source, vec![(test.span.end..test.span.end, writer.text)]);
    Some(Twins {
        source,
        copy: copy.1,
        passing_control: passing_control.1,
        failing_control: failing_control.1,
        false_assertions,
        twins,
    })
}

/// The test to copy.
struct Original {
    /// Its attributes, without comments.
    attributes: Vec<String>,
    /// The bytes from its visibility or `fn` to the end of its body.
    function: Range<usize>,
    /// The bytes of its name.
    name: Range<usize>,
    /// The modules around it, as the runner writes them, each followed by `::`.
    modules: String,
}

impl Original {
    fn find(tree: &Tree<'_>, source: &str, test: &TestItem) -> Option<Self> {
        let is_it = |node: &usize| {
            let range = tree.range(*node);
            tree.kind(*node) == "function_item" && range.end == test.span.end && range.start >= test.span.start
        };
        let function = (0..tree.len()).find(is_it)?;
        let name = tree.child(function, "name")?;
        let own = |node: &usize| {
            let range = tree.range(*node);
            tree.kind(*node) == "attribute_item"
                && range.start >= test.span.start
                && range.end <= tree.range(function).start
        };
        let attributes = (0..function).filter(own).map(|node| tree.text(node).to_owned()).collect();
        let modules = test.name.rsplit_once("::").map_or(String::new(), |(modules, _)| format!("{modules}::"));
        source.get(tree.range(function))?;
        Some(Self { attributes, function: tree.range(function), name: tree.range(name), modules })
    }
}

/// What differs in a copy.
#[derive(Default)]
struct Alteration {
    /// A replacement for some bytes of the file.
    edit: Option<(Range<usize>, String)>,
    /// A replacement for `#[should_panic]`.
    should_panic: Option<String>,
}

/// Writes the copies one by one.
struct Writer<'a> {
    original: Original,
    source: &'a str,
    mode: AlterationMode,
    names: FreshNames,
    text: String,
}

impl Writer<'_> {
    fn test(&mut self, alteration: &Alteration) -> Option<(String, TestId)> {
        let name = self.names.next("t");
        let mut edits = vec![(self.original.name.clone(), name.clone())];
        edits.extend(alteration.edit.clone());
        let function = edited_part(self.source, self.original.function.clone(), edits)?;
        let attributes = self.original.attributes.clone().into_iter().map(|attribute| match &alteration.should_panic {
            Some(other) if attribute.contains("should_panic") => other.clone(),
            _ => attribute,
        });
        let attributes: Vec<String> = attributes.filter(|attribute| !attribute.is_empty()).collect();
        self.write(&name, &attributes.join("\n"), &function)
    }

    /// A test of our own, with the compiler's built-in `#[test]` if its path can be written (not in edition 2015).
    fn control(&mut self, body: &str) -> Option<(String, TestId)> {
        let name = self.names.next("t");
        let attribute = match self.mode {
            AlterationMode::ChangeValues | AlterationMode::ChangeFar => "#[::core::prelude::v1::test]",
            AlterationMode::NegateOnly => "#[test]",
        };
        self.write(&name, attribute, &format!("fn {name}() {{ {body} }}"))
    }

    fn write(&mut self, name: &str, attributes: &str, function: &str) -> Option<(String, TestId)> {
        let lenient = if self.mode == AlterationMode::ChangeValues { format!("{LENIENT}\n") } else { String::new() };
        self.text += &format!("\n// @tdd-test-id: {name}\n{attributes}\n{lenient}{function}\n");
        Some((format!("{}{name}", self.original.modules), TestId::annotation(name).ok()?))
    }

    /// One failing control test for each macro with which the test asserts.
    fn false_assertions(&mut self, test: &TestItem) -> Option<Vec<(String, TestId)>> {
        let texts = test.assertions.iter().filter_map(|assertion| self.source.get(assertion.span.clone()));
        let mut assertions: Vec<(String, String)> = texts.filter_map(false_assertion).collect();
        assertions.sort();
        assertions.dedup();
        assertions.into_iter().map(|(name, text)| Some((name, self.control(&text)?.1))).collect()
    }

    fn asserting(&mut self, test: &TestItem) -> Vec<Twin> {
        test.assertions.iter().flat_map(|assertion| self.asserting_otherwise(assertion)).collect()
    }

    /// Copies with one assertion turned into its opposites.
    fn asserting_otherwise(&mut self, assertion: &Assertion) -> Vec<Twin> {
        let inside = assertion.span.start >= self.original.function.start;
        let text = self.source.get(assertion.span.clone()).filter(|_| inside).unwrap_or_default();
        let altered = self.mode.each().iter().filter_map(|mode| opposite(text, *mode));
        let edited = |text: String| Alteration { edit: Some((assertion.span.clone(), text)), should_panic: None };
        let mut twins = Vec::new();
        for other in without_repeats(altered) {
            let Some((name, id)) = self.test(&edited(other.text)) else { continue };
            let probe = other.probe.and_then(|probe| self.test(&edited(probe))).map(|(_, id)| id);
            twins.push(Twin { name, id, line: self.line(assertion.span.start), what: other.what, probe });
        }
        twins
    }

    /// Copies of a test that must panic: one without `should_panic`, one that expects another message.
    fn panicking(&mut self, test: &TestItem) -> Option<Vec<Twin>> {
        let mut altered = vec![(String::new(), "is not meant to panic")];
        if test.expected_panic.is_some() {
            let other = self.names.next("t");
            altered.push((format!("#[should_panic(expected = \"{other}\")]"), "expects another message of the panic"));
        }
        let mut twins = Vec::new();
        for (attribute, what) in altered {
            let (name, id) = self.test(&Alteration { edit: None, should_panic: Some(attribute) })?;
            twins.push(Twin { name, id, line: test.line, what: what.to_owned(), probe: None });
        }
        Some(twins)
    }

    fn line(&self, byte: usize) -> usize {
        1 + self.source.get(..byte).unwrap_or_default().matches('\n').count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rust::items::items;

    fn of(source: &str) -> Option<Twins> {
        let test = items("src/lib.rs", source).tests.remove(0);
        twins("src/lib.rs", source, &test, 7, AlterationMode::ChangeValues)
    }

    #[test]
    fn the_copies_stand_behind_the_test_in_its_module() {
        let source = "mod tests {\n    use super::*;\n\n    // @tdd-test-id: adds\n    /// Doc.\n    #[test]\n    #[cfg(unix)]\n    \
                      fn adds() {\n        let two = 2;\n        assert_eq!(add(1, 1), 2, \"sum\");\n        assert!(two > 1);\n    }\n\n    #[test]\n    fn other() {}\n}\n";
        let twins = of(source).unwrap();
        let names: Vec<_> = twins.twins.iter().map(|twin| (twin.line, twin.what.as_str())).collect();
        let expected =
            [(10, "expects `3` instead of `2`"), (10, "expects `62` instead of `2`"), (11, "asserts the opposite")];
        assert_eq!(names, expected);
        assert!(twins.twins[0].name.starts_with("tests::t_"));
        insta::assert_snapshot!(twins.source);
    }

    #[test]
    fn a_rewritten_file_parses_and_holds_every_test_that_it_names_besides_all_that_was_there() {
        for body in [
            "assert_eq!(f(), 1)",
            "for (a, b) in [(1, 2), (2, 3)] { assert_eq!(f(a), b, \"{a}\"); }",
            "let check = |n: u8| assert!(n == 1); check(f());",
            "fn helper(n: u8) { assert_ne!(n, 1) }\n helper(f())",
            "match f() { Ok(n) => assert!(n.is_some()), Err(e) => panic!(\"{e}\") }",
            "assert!(matches!(f(), Some(1 | 2)));\nassert!((f() - 0.5).abs() < 1e-9);",
        ] {
            let source = format!("use a::*;\n#[test] fn t() {{ {body} }} // after\n#[test]\nfn u() {{}}\n");
            let twins = of(&source).unwrap();
            let found = items("tests/a.rs", &twins.source);
            let slugs: Vec<_> = found.tests.iter().filter_map(|test| test.annotation.clone()).collect();
            assert!(found.parses, "{}", twins.source);
            assert_eq!(slugs.len(), twins.ids().len(), "{}", twins.source);
            assert!(twins.ids().iter().all(|id| slugs.iter().any(|slug| slug == id.as_str())));
            assert_eq!(found.tests.len(), slugs.len() + 2);
        }
    }

    #[test]
    fn a_test_that_must_panic_has_twins_that_must_not_or_for_another_reason() {
        let said = |source| of(source).unwrap().twins.into_iter().map(|twin| twin.what).collect::<Vec<_>>();
        assert_eq!(said("#[test]\n#[should_panic]\nfn t() { assert!(f()); }"), ["is not meant to panic"]);
        let source = "#[test]\n#[should_panic(expected = \"by zero\")]\nfn t() { div(1, 0); }";
        assert_eq!(said(source), ["is not meant to panic", "expects another message of the panic"]);
        let twins = of(source).unwrap();
        assert_eq!(twins.source.matches("should_panic").count(), 3);
    }

    #[test]
    fn a_test_without_assertions_of_its_own_is_only_copied() {
        let twins = of("#[test] fn t() -> Result<(), E> { f()?; Ok(()) }").unwrap();
        assert_eq!((twins.twins.len(), twins.false_assertions.len()), (0, 0));
    }

    #[test]
    fn what_macros_write_and_what_depends_on_its_own_name_is_left_alone() {
        for source in [
            "proptest! { #[test] fn t(a in 0..9) { prop_assert!(a < 9); } }",
            "#[test] fn t() { insta::assert_snapshot!(f()); }",
            "#[test] fn t() { assert!(f()); }\nfn broken( {",
        ] {
            assert_eq!(of(source), None, "{source}");
        }
    }

    #[test]
    fn names_depend_on_the_seed_alone() {
        let source = "#[test] fn t() { assert!(f()); }";
        let test = items("a.rs", source).tests.remove(0);
        let named = |seed| twins("src/lib.rs", source, &test, seed, AlterationMode::ChangeValues).unwrap().copy;
        assert_eq!(named(1), named(1));
        assert_ne!(named(1), named(2));
    }
}
