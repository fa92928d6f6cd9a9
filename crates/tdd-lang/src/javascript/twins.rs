//! Writes the copies of a test for the counter-proof into the test's file, right after the test.

use std::ops::Range;

use tdd_core::proof::Twin;
use tdd_core::test_id::TestId;

use super::assertion::{Asserting, assertions};
use super::call::TestCall;
use super::expectation::{false_assertion, opposites};
use super::items::located;
use super::suite::is_typed;
use super::syntax::Tree;
use super::title::JOINT;
use crate::item::TestItem;
use crate::syntax::splice;
use crate::twin::{
    AlterationMode, FreshNames, Opposite, Twins, edited_part, one_false_assertion_each, without_repeats,
};

/// Turns type checks off: an altered copy may have wrong types, because it is meant to fail.
const UNCHECKED: &str = "// @ts-nocheck\n";

/// The file with the copies; `None` if the test cannot be copied.
pub(super) fn twins(path: &str, source: &str, test: &TestItem, seed: u64, mode: AlterationMode) -> Option<Twins> {
    let tree = Tree::parse(path, source).filter(|tree| tree.parses())?;
    let (_, test_call) = located(&tree).into_iter().find(|(known, _)| known.span == test.span)?;
    let span = tree.range(test_call.call);
    // Snapshots are stored under the test's name, which a copy does not have.
    if source.get(span.clone())?.replace("InlineSnapshot(", "").contains("Snapshot(") {
        return None;
    }
    let asserting = Asserting::of(&tree);
    let mut writer =
        Writer { path, tree: &tree, asserting, test, test_call, names: FreshNames::new(seed), copies: Vec::new() };
    let print = writer.names.next("print");
    let copy = writer.copy(None)?;
    let passing_control = writer.control("");
    let failing_control = writer.control("throw new Error(\"broken\");");
    let false_assertions = writer.false_assertions();
    let twins = writer.altered(mode, &print)?;
    let is_statement = test.span != span || tree.kind(tree.parent(writer.test_call.call)) == "expression_statement";
    let (start, end) = if is_statement { (String::new(), test.span.end) } else { ("(".to_owned(), span.end) };
    let joined = if is_statement {
        format!("\n;{};\n", writer.copies.join(";\n"))
    } else {
        format!(", {})", writer.copies.join(", "))
    };
    let printing = format!(
        "\nfunction {print}(value) {{\n  try {{\n    return typeof value + (JSON.stringify(value) ?? String(value));\n  \
         }} catch {{\n    return typeof value + String(value);\n  }}\n}}\n"
    );
    let mut edits = vec![(span.start..span.start, start), (end..end, joined), (source.len()..source.len(), printing)];
    if is_typed(path) {
        let top = first_line(source);
        edits.insert(0, (top..top, UNCHECKED.to_owned()));
    }
    Some(Twins {
        source: splice(source, edits),
        copy: copy.1,
        passing_control,
        failing_control,
        false_assertions,
        twins,
    })
}

/// Where a comment about the whole file can go: after a block comment at the top, which configures jest and must stay
/// first.
fn first_line(source: &str) -> usize {
    let block = source.trim_start().starts_with("/*").then(|| source.find("*/")).flatten();
    block.map_or(0, |end| source[end..].find('\n').map_or(source.len(), |line| end + line + 1))
}

/// Writes the copies one by one.
struct Writer<'a, 's> {
    path: &'a str,
    tree: &'a Tree<'s>,
    asserting: Asserting<'s>,
    test: &'a TestItem,
    test_call: TestCall,
    names: FreshNames,
    copies: Vec<String>,
}

impl Writer<'_, '_> {
    /// The test under another name, with some bytes changed.
    fn copy(&mut self, edit: Option<(Range<usize>, String)>) -> Option<(String, TestId)> {
        let name = self.names.next("t");
        let span = self.tree.range(self.test_call.call);
        let mut edits = vec![(self.tree.range(self.test_call.title), format!("\"{name}\""))];
        edits.extend(edit);
        let copy = edited_part(self.tree.source(), span, edits)?;
        Some(self.write(&name, copy))
    }

    /// A test of our own beside it.
    fn control(&mut self, body: &str) -> TestId {
        let name = self.names.next("t");
        let base = self.tree.text(self.test_call.base).to_owned();
        self.write(&name, format!("{base}(\"{name}\", () => {{ {body} }})")).1
    }

    fn write(&mut self, name: &str, call: String) -> (String, TestId) {
        self.copies.push(call);
        let full = match self.test.name.rsplit_once(JOINT) {
            Some((groups, _)) => format!("{groups}{JOINT}{name}"),
            None => name.to_owned(),
        };
        let id = TestId::native(self.path, &full);
        (full, id)
    }

    /// One failing control test for each assertion function that the test uses.
    fn false_assertions(&mut self) -> Vec<(String, TestId)> {
        let told = self.assertions().into_iter().filter_map(|node| false_assertion(self.tree, &self.asserting, node));
        let told = one_false_assertion_each(told);
        told.into_iter().map(|(name, text)| (name, self.control(&format!("{text};")))).collect()
    }

    fn altered(&mut self, mode: AlterationMode, print: &str) -> Option<Vec<Twin>> {
        let mut twins = Vec::new();
        for node in self.assertions() {
            let altered = mode.each().iter().flat_map(|mode| opposites(self.tree, &self.asserting, node, *mode, print));
            for Opposite { edit, what, probe } in without_repeats(altered) {
                let (name, id) = self.copy(Some(edit))?;
                let probe = probe.and_then(|probe| self.copy(Some(probe))).map(|(_, id)| id);
                twins.push(Twin { name, id, line: self.tree.line(node), what, probe });
            }
        }
        Some(twins)
    }

    fn assertions(&self) -> Vec<usize> {
        let body = self.test_call.body.map_or(0..0, |body| self.tree.subtree(body));
        assertions(self.tree, &self.asserting, body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::assert_copies_stand;
    use crate::javascript::items::items;

    fn of(source: &str) -> Twins {
        let test = items("a.test.js", source).tests.remove(0);
        twins("a.test.js", source, &test, 7, AlterationMode::ChangeValues).unwrap()
    }

    #[test]
    fn a_snapshot_in_the_test_is_an_expected_value_and_one_that_is_stored_elsewhere_cannot_be_copied() {
        let source = of("test('a', () => { expect(add(1)).toMatchInlineSnapshot(`2`); });\n").source;
        assert!(source.contains("toMatchInlineSnapshot((`2` + \"~\"))"), "{source}");
        let stored = "test('a', () => { expect(add(1)).toMatchSnapshot(); });\n";
        let item = items("a.test.js", stored).tests.remove(0);
        assert_eq!(twins("a.test.js", stored, &item, 1, AlterationMode::ChangeValues), None);
    }

    #[test]
    fn copies_in_typescript_need_not_have_the_right_types() {
        let test = "test('a', () => expect(add(1)).toBe(2));\n";
        let written = |path: &str, source: &str| {
            let item = items(path, source).tests.remove(0);
            twins(path, source, &item, 1, AlterationMode::ChangeValues).unwrap().source
        };
        assert!(written("a.test.ts", test).starts_with("// @ts-nocheck\ntest("));
        let block = "/** @jest-environment jsdom */\n";
        let source = written("a.test.tsx", &format!("{block}{test}"));
        assert!(source.starts_with(&format!("{block}// @ts-nocheck\n")), "{source}");
        assert!(!written("a.test.js", test).contains("ts-nocheck"));
    }

    #[test]
    fn the_copies_stand_behind_the_test_and_parse() {
        for (source, count) in [
            ("test('a', () => {\n  assert.equal(add(1, 2), 3)\n})\n", 2),
            ("test('a', () => assert.equal(add(1, 2), 3))\n", 2),
            (
                "describe('x', () => {\n  it('a', async () => {\n    expect(f()).toBe(1);\n    await expect(g()).rejects.toThrow('x');\n  });\n\n  it('b', () => {});\n});\n",
                4,
            ),
            ("test.each([[1]])('a %i', (n) => { expect(f(n)).toEqual({ n: 1 }) })\n", 2),
            ("[1].forEach((n) => test(`a ${n}`, () => assert.ok(f(n))))\n", 1),
            ("test('a', () => { assert.throws(() => f()); expect(f).not.toBe(1); expect(f()).to.be.true })\n", 3),
        ] {
            let twins = of(source);
            assert_copies_stand("a.test.js", &twins, &items("a.test.js", &twins.source));
            assert_eq!(twins.twins.len(), count, "{source}");
        }
    }

    #[test]
    fn an_expected_value_changes_and_a_condition_is_negated() {
        let what = |body: &str| of(&format!("test('a', () => {{ {body} }})\n")).twins.remove(0).what;
        for (body, expected) in [
            ("assert.equal(add(1, 2), 3)", "expects `4` instead of `3`"),
            ("assert.equal(3, add(1, 2))", "expects `4` instead of `3`"),
            ("assert.equal(add(1, 2), three)", "asserts the opposite"),
            ("expect(f()).toBe(true)", "expects `false` instead of `true`"),
            ("expect(f()).not.toBe(1)", "asserts the opposite"),
            ("expect(f()).toContain(1)", "asserts the opposite"),
        ] {
            assert_eq!(what(body), expected, "{body}");
        }
        let last = |body: &str| of(&format!("test('a', () => {{ {body} }})\n")).twins.pop().unwrap().what;
        for (body, expected) in [
            ("assert.equal(add(1, 2), 3)", "expects `63` instead of `3`"),
            ("expect(f()).toEqual(['a', 'bc'])", "expects `'bd'` instead of `'bc'`"),
            ("expect(f()).toContain('a')", "expects `('a' + \"~\")` instead of `'a'`"),
            ("assert.ok(f().includes('a'))", "expects `('a' + \"~\")` instead of `'a'`"),
            ("assert.ok(!f().includes('a'))", "asserts the opposite"),
        ] {
            assert_eq!(last(body), expected, "{body}");
        }
    }
}
