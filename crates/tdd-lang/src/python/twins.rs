//! Writes the copies of a test for the counter-proof into the test's own file, directly after it.

use tdd_core::proof::Twin;
use tdd_core::test_id::TestId;

use super::expectation::{false_assertion, opposites};
use super::items::definition;
use super::syntax::Tree;
use crate::item::TestItem;
use crate::syntax::splice;
use crate::twin::{
    AlterationMode, FreshNames, Opposite, Twins, edited_part, one_false_assertion_each, without_repeats,
};

/// The file with the copies in it; `None` if the test cannot be copied.
pub(super) fn twins(path: &str, source: &str, test: &TestItem, seed: u64, mode: AlterationMode) -> Option<Twins> {
    let tree = Tree::parse(source).filter(|tree| tree.parses())?;
    let is_it =
        |node: &usize| tree.range(*node) == test.span && tree.kind(definition(&tree, *node)) == "function_definition";
    let statement = (0..tree.len()).find(is_it)?;
    // These fixtures keep what a test with this name said, or may be called only once.
    let parameters = tree.child(definition(&tree, statement), "parameters");
    if parameters.is_some_and(|list| tree.names(list).any(|name| matches!(name, "snapshot" | "benchmark"))) {
        return None;
    }
    let mut writer =
        Writer { path, tree: &tree, source, test, statement, names: FreshNames::new(seed), text: String::new() };
    let never = writer.names.next("Never");
    let copy = writer.copy(None)?;
    let passing_control = writer.control("pass");
    let failing_control = writer.control("raise AssertionError(\"broken\")");
    let false_assertions = writer.false_assertions();
    let twins = writer.altered(mode, &never)?;
    let copies = std::mem::take(&mut writer.text);
    let never = format!(
        "\n\nclass {never}:\n    def __enter__(self):\n        return self\n\n    def __exit__(self, kind, value, trace):\n        \
         if kind is not None:\n            raise AssertionError(\"something was raised\")\n"
    );
    let end = source.len()..source.len();
    let source = splice(source, vec![(test.span.end..test.span.end, copies), (end, never)]);
    Some(Twins { source, copy: copy.1, passing_control, failing_control, false_assertions, twins })
}

/// Writes copies one after the other.
struct Writer<'a, 's> {
    path: &'a str,
    tree: &'a Tree<'s>,
    source: &'a str,
    test: &'a TestItem,
    statement: usize,
    names: FreshNames,
    text: String,
}

impl Writer<'_, '_> {
    /// A copy of the test under another name, with this edit.
    fn copy(&mut self, edit: Option<(std::ops::Range<usize>, String)>) -> Option<(String, TestId)> {
        let name = self.test_name();
        let own = self.tree.child(definition(self.tree, self.statement), "name")?;
        let mut edits = vec![(self.tree.range(own), name.clone())];
        edits.extend(edit);
        let function = edited_part(self.source, self.test.span.clone(), edits)?;
        Some(self.write(&name, &function))
    }

    /// Adds a test of our own with this body.
    fn control(&mut self, body: &str) -> TestId {
        let name = self.test_name();
        let function = definition(self.tree, self.statement);
        let parameters = self.tree.child(function, "parameters").map_or("", |list| self.tree.text(list));
        let own = if parameters.trim_start_matches(['(', ' ']).starts_with("self") { "self" } else { "" };
        let inner = format!("{}    ", self.indent());
        let body = body.replace("{}", &inner);
        self.write(&name, &format!("def {name}({own}):\n{inner}{body}")).1
    }

    fn write(&mut self, name: &str, function: &str) -> (String, TestId) {
        let indent = self.indent().to_owned();
        self.text += &format!("\n\n{indent}{function}");
        let full = match self.test.name.rsplit_once("::") {
            Some((classes, _)) => format!("{classes}::{name}"),
            None => name.to_owned(),
        };
        let id = TestId::native(self.path, &full);
        (full, id)
    }

    /// Adds a test with a false assertion for each kind of assertion in the test.
    fn false_assertions(&mut self) -> Vec<(String, TestId)> {
        let assertions =
            one_false_assertion_each(self.assertions().into_iter().filter_map(|node| false_assertion(self.tree, node)));
        assertions.into_iter().map(|(name, text)| (name, self.control(&text))).collect()
    }

    fn altered(&mut self, mode: AlterationMode, never: &str) -> Option<Vec<Twin>> {
        let mut twins = Vec::new();
        for node in self.assertions() {
            let altered = mode.each().iter().flat_map(|mode| opposites(self.tree, node, *mode, never));
            for Opposite { edit, what, probe } in without_repeats(altered) {
                let (name, id) = self.copy(Some(edit))?;
                let probe = probe.and_then(|probe| self.copy(Some(probe))).map(|(_, id)| id);
                twins.push(Twin { name, id, line: self.tree.line(node), what, probe });
            }
        }
        Some(twins)
    }

    fn assertions(&self) -> Vec<usize> {
        let asserts = |node: &usize| matches!(self.tree.kind(*node), "assert_statement" | "call");
        let find = |span: &std::ops::Range<usize>| {
            self.tree.subtree(self.statement).find(|node| asserts(node) && self.tree.range(*node) == *span)
        };
        self.test.assertions.iter().filter_map(|assertion| find(&assertion.span)).collect()
    }

    /// A name that pytest accepts for a test: if names are configured, it begins and ends like that of this test.
    fn test_name(&mut self) -> String {
        let own = self.test.name.rsplit("::").next().unwrap_or_default().to_owned();
        if own.starts_with("test") { self.names.next("test") } else { format!("{}_{own}", self.names.next(&own)) }
    }

    fn indent(&self) -> &str {
        let before = self.source.get(..self.test.span.start).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        if line.trim().is_empty() { line } else { "" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::assert_copies_stand;
    use crate::python::items::items;
    use crate::python::names::Names;

    fn of(source: &str) -> Twins {
        let test = items("tests/test_a.py", source, &Names::default()).tests.remove(0);
        twins("tests/test_a.py", source, &test, 7, AlterationMode::ChangeValues).unwrap()
    }

    #[test]
    fn the_copies_stand_behind_the_test_and_parse() {
        for (source, count) in [
            ("def test_a():\n    assert add(1, 2) == 3\n", 2),
            (
                "@pytest.mark.parametrize('a', [1])\ndef test_a(a):\n    assert f(a) == a\n    assert not g(), 'why'\n",
                2,
            ),
            (
                "class TestX(TestCase):\n    def test_a(self):\n        self.assertEqual(f(), 1)\n        self.assertTrue(g())\n\n    def test_b(self):\n        pass\n",
                3,
            ),
            ("def test_a():\n    with pytest.raises(E, match='x'):\n        f()\n", 2),
            ("def test_a():\n    for a, b in [(1, 2)]:\n        assert f(a) == b\n", 1),
        ] {
            let twins = of(source);
            let found = items("tests/test_a.py", &twins.source, &Names::default());
            assert_copies_stand("tests/test_a.py", &twins, &found);
            assert_eq!(twins.twins.len(), count, "{source}");
        }
    }

    #[test]
    fn an_expected_value_changes_and_a_condition_is_negated() {
        let what = |body: &str| of(&format!("def test_a(self):\n    {body}\n")).twins.remove(0).what;
        for (body, expected) in [
            ("assert add(1, 2) == 3", "expects `4` instead of `3`"),
            ("assert 3 == add(1, 2)", "expects `4` instead of `3`"),
            ("assert add(1, 2) == three", "asserts the opposite"),
            ("assert 'a' in f()", "asserts the opposite"),
            ("self.assertEqual(f(1), [2])", "expects `3` instead of `2`"),
            ("self.assertEqual(f(1), two)", "asserts the opposite"),
            ("m.assert_called_once_with(1)", "expects `2` instead of `1`"),
        ] {
            assert_eq!(what(body), expected, "{body}");
        }
        let last = |body: &str| of(&format!("def test_a(self):\n    {body}\n")).twins.pop().unwrap().what;
        for (body, expected) in [
            ("assert add(1, 2) == 3", "expects `63` instead of `3`"),
            ("assert f() == ['a', 'bc']", "expects `'bd'` instead of `'bc'`"),
            ("assert 'a' in f()", "expects `'a' \"~\"` instead of `'a'`"),
            ("assert 'a' not in f()", "asserts the opposite"),
            ("assert abs(f() - 0.5) < 1e-9", "expects `60.5` instead of `0.5`"),
            ("assert math.isclose(f(), 2)", "expects `62` instead of `2`"),
            ("assert f().startswith('a')", "expects `'a' \"~\"` instead of `'a'`"),
        ] {
            assert_eq!(last(body), expected, "{body}");
        }
    }
}
