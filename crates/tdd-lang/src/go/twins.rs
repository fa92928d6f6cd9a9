//! Writes the copies of a test for the counter-proof at the end of the test's own file.

use std::ops::Range;

use tdd_core::proof::Twin;
use tdd_core::test_id::TestId;

use super::expectation::{Opposite, fails_if_true, false_assertions, opposite};
use super::items::{assertions, function};
use super::syntax::Tree;
use crate::item::TestItem;
use crate::syntax::splice;
use crate::twin::{AlterationMode, FreshNames, Twins, edited_part, one_false_assertion_each, without_repeats};

/// Byte ranges to replace, with their new text.
type Edits = Vec<(Range<usize>, String)>;

/// The file with the copies in it; `None` if the test cannot be copied.
pub(super) fn twins(path: &str, source: &str, test: &TestItem, seed: u64, mode: AlterationMode) -> Option<Twins> {
    let tree = Tree::parse(source).filter(|tree| tree.parses())?;
    let function = function(&tree, &test.span)?;
    // A test that asks for its own name may compare with data that is stored under that name.
    if tree.subtree(function).any(|node| tree.kind(node) == "call_expression" && tree.text(node) == "t.Name()") {
        return None;
    }
    let mut writer = Writer { path, tree: &tree, source, function, names: FreshNames::new(seed), text: String::new() };
    let (printing, testing) = (writer.names.next("fmt"), writer.names.next("testing"));
    let copy = writer.copy(Vec::new())?;
    let passing_control = writer.control(&testing, "");
    let failing_control = writer.control(&testing, "t.FailNow()");
    let false_assertions = writer.false_assertions(test, &testing);
    let twins = writer.altered(test, mode, &printing)?;
    let copies = std::mem::take(&mut writer.text);
    let clause = tree.children(0).find(|node| tree.kind(*node) == "package_clause")?;
    let imports = format!("; import ({printing} \"fmt\"; {testing} \"testing\")");
    let last = format!("\n\nvar _, _ = {printing}.Sprint, {testing}.Short\n");
    let (head, end) = (tree.range(clause).end, source.len());
    let source = splice(source, vec![(head..head, imports), (end..end, copies + &last)]);
    Some(Twins { source, copy: copy.1, passing_control, failing_control, false_assertions, twins })
}

/// Writes copies one after the other.
struct Writer<'a, 's> {
    path: &'a str,
    tree: &'a Tree<'s>,
    source: &'a str,
    function: usize,
    names: FreshNames,
    text: String,
}

impl Writer<'_, '_> {
    /// A copy of the test under another name, with these edits.
    fn copy(&mut self, edits: Edits) -> Option<(String, TestId)> {
        let own = self.tree.named(self.function, "name");
        let prefix = ["Test", "Fuzz", "Example"].into_iter().find(|prefix| own.starts_with(prefix))?;
        let name = self.names.next(prefix);
        self.write(self.function, &name, edits)?;
        Some((name.clone(), TestId::native(self.path, &name)))
    }

    /// Copies a function under another name, with these edits.
    fn write(&mut self, function: usize, name: &str, mut edits: Edits) -> Option<()> {
        let span = self.tree.range(function);
        edits.push((self.tree.range(self.tree.child(function, "name")?), name.to_owned()));
        let text = edited_part(self.source, span, edits)?;
        self.text += &format!("\n\n{text}");
        Some(())
    }

    /// Adds a test of our own with this body.
    fn control(&mut self, testing: &str, body: &str) -> TestId {
        let name = self.names.next("Test");
        self.text += &format!("\n\nfunc {name}(t *{testing}.T) {{\n\t{body}\n}}");
        TestId::native(self.path, &name)
    }

    /// Adds a test with a false assertion for each kind of assertion in the test.
    fn false_assertions(&mut self, test: &TestItem, testing: &str) -> Vec<(String, TestId)> {
        let assertions =
            one_false_assertion_each(self.nodes(test).into_iter().flat_map(|node| false_assertions(self.tree, node)));
        assertions.into_iter().map(|(name, text)| (name, self.control(testing, &text))).collect()
    }

    fn altered(&mut self, test: &TestItem, mode: AlterationMode, printing: &str) -> Option<Vec<Twin>> {
        let nodes = self.nodes(test);
        let is_fuzz = self.tree.named(self.function, "name").starts_with("Fuzz");
        let (maybe, always): (Vec<usize>, Vec<usize>) =
            nodes.iter().partition(|node| is_fuzz || is_conditional(self.tree, self.function, **node));
        let mut twins = Vec::new();
        for node in always {
            let altered = mode.each().iter().filter_map(|mode| opposite(self.tree, self.function, node, *mode));
            for Opposite { edits, what, probe } in without_repeats(altered) {
                let (name, id) = self.copy(edits)?;
                let print = |edits: Edits| -> Edits {
                    let named = |text: String| text.replace("{}", &format!("{printing}.Sprintf"));
                    edits.into_iter().map(|(range, text)| (range, named(text))).collect()
                };
                let probe = probe.and_then(|probe| self.copy(print(probe))).map(|(_, id)| id);
                twins.push(Twin { name, id, line: self.tree.line(node), what, probe });
            }
        }
        if let Some(first) = maybe.first() {
            twins.extend(self.everywhere(&nodes, self.tree.line(*first))?);
        }
        if let Some(output) = test.assertions.iter().find(|assertion| assertion.kind == "Output") {
            twins.push(self.output(&output.span)?);
        }
        twins.extend(self.through()?);
        Some(twins)
    }

    /// One copy for assertions that need not all be reached, with all of them negated.
    fn everywhere(&mut self, nodes: &[usize], line: usize) -> Option<Vec<Twin>> {
        let edits = negations(self.tree, self.function, nodes);
        if edits.is_empty() {
            return Some(Vec::new());
        }
        let (name, id) = self.copy(edits)?;
        Some(vec![Twin { name, id, line, what: "asserts the opposite everywhere".to_owned(), probe: None }])
    }

    /// A copy of an example that expects another output.
    fn output(&mut self, span: &Range<usize>) -> Option<Twin> {
        let at = span.start + self.source.get(span.clone())?.find("utput:")? + "utput:".len();
        let line = self.source.get(..span.start)?.matches('\n').count() + 1;
        let (name, id) = self.copy(vec![(at..at, " ~".to_owned())])?;
        Some(Twin { name, id, line, what: "expects another output".to_owned(), probe: None })
    }

    /// A copy of the test that calls copies of its helpers in this file, in which the assertions are negated.
    fn through(&mut self) -> Option<Vec<Twin>> {
        let tree = self.tree;
        let helpers = self.helpers();
        let others: Vec<(usize, String)> = helpers.iter().map(|helper| (*helper, self.names.next("helper"))).collect();
        let renamed = |function: usize| -> Edits {
            let calls = tree.subtree(function).filter(|node| tree.kind(*node) == "call_expression");
            let names = calls.filter_map(|call| tree.child(call, "function"));
            let other = |name: usize| {
                let (_, other) = others.iter().find(|(helper, _)| tree.named(*helper, "name") == tree.text(name))?;
                Some((tree.range(name), other.clone()))
            };
            names.filter_map(other).collect()
        };
        let mut negated = Vec::new();
        for (helper, other) in &others {
            let inner = tree.child(*helper, "body").map(|body| assertions(tree, body)).unwrap_or_default();
            let find = |span: &Range<usize>| tree.subtree(*helper).find(|node| tree.range(*node) == *span);
            let nodes: Vec<usize> = inner.iter().filter_map(|assertion| find(&assertion.span)).collect();
            let mut edits = negations(tree, *helper, &nodes);
            if !edits.is_empty() {
                negated.push(format!("`{}`", tree.named(*helper, "name")));
            }
            let is_free = |range: &Range<usize>, edits: &Edits| {
                edits.iter().all(|(known, _)| known.end <= range.start || range.end <= known.start)
            };
            for (range, text) in renamed(*helper) {
                if is_free(&range, &edits) {
                    edits.push((range, text));
                }
            }
            self.write(*helper, other, edits)?;
        }
        if negated.is_empty() {
            return Some(Vec::new());
        }
        let (name, id) = self.copy(renamed(self.function))?;
        let what = format!("asserts the opposite in {}", negated.join(", "));
        Some(vec![Twin { name, id, line: tree.line(self.function), what, probe: None }])
    }

    /// The functions of this file that the test reaches by their plain names; empty if none of them asserts.
    fn helpers(&self) -> Vec<usize> {
        let tree = self.tree;
        let functions: Vec<usize> =
            tree.children(0).filter(|node| tree.kind(*node) == "function_declaration").collect();
        let mut reached = vec![self.function];
        let mut at = 0;
        while let Some(from) = reached.get(at).copied() {
            at += 1;
            for call in tree.subtree(from).filter(|node| tree.kind(*node) == "call_expression") {
                let name = tree.named(call, "function");
                let found = functions.iter().find(|function| tree.named(**function, "name") == name);
                let new = found.copied().filter(|function| !reached.contains(function));
                reached.extend(new);
            }
        }
        let asserts =
            |function: &usize| tree.child(*function, "body").is_some_and(|body| !assertions(tree, body).is_empty());
        reached.remove(0);
        if reached.iter().any(asserts) { reached } else { Vec::new() }
    }

    fn nodes(&self, test: &TestItem) -> Vec<usize> {
        let asserts = |node: &usize| matches!(self.tree.kind(*node), "if_statement" | "call_expression");
        let find = |span: &Range<usize>| {
            self.tree.subtree(self.function).find(|node| asserts(node) && self.tree.range(*node) == *span)
        };
        test.assertions.iter().filter_map(|assertion| find(&assertion.span)).collect()
    }
}

/// Whether an assertion is in a branch that a passing test need not take.
fn is_conditional(tree: &Tree<'_>, function: usize, node: usize) -> bool {
    let mut inner = node;
    for outer in tree.ancestors(node).take_while(|outer| *outer > function) {
        let is_branch = match tree.kind(outer) {
            // The `else` branch of a failing `if` is taken when the test passes.
            "if_statement" => {
                let in_branch = matches!(tree.field(inner), Some("consequence" | "alternative"));
                in_branch && !(tree.field(inner) == Some("alternative") && fails_if_true(tree, outer))
            }
            kind => kind.ends_with("_case"),
        };
        if is_branch {
            return true;
        }
        inner = outer;
    }
    false
}

/// The negations of these assertions, without overlapping edits.
fn negations(tree: &Tree<'_>, function: usize, nodes: &[usize]) -> Edits {
    let mut edits: Edits = Vec::new();
    for Opposite { edits: more, .. } in
        nodes.iter().filter_map(|node| opposite(tree, function, *node, AlterationMode::NegateOnly))
    {
        for (range, text) in more {
            if edits.iter().all(|(known, _)| known.end <= range.start || range.end <= known.start) {
                edits.push((range, text));
            }
        }
    }
    edits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::assert_copies_stand;
    use crate::go::items::items;

    fn of(body: &str) -> Twins {
        let source = format!(
            "package a\n\nimport \"testing\"\n\nfunc check(t *testing.T, a, b int) {{\n\tif a != b {{\n\t\tt.Error()\n\t}}\n}}\n\nfunc TestA(t *testing.T) {{\n\t{body}\n}}\n"
        );
        let test = items("a_test.go", &source).tests.remove(0);
        let twins = twins("a_test.go", &source, &test, 7, AlterationMode::ChangeValues).unwrap();
        assert_copies_stand("a_test.go", &twins, &items("a_test.go", &twins.source));
        twins
    }

    #[test]
    fn an_expected_value_changes_or_the_condition_is_negated() {
        let what = |body: &str| of(body).twins.into_iter().map(|twin| twin.what).collect::<Vec<_>>().join("; ");
        for (body, expected) in [
            ("if Add(1, 2) != 3 { t.Error() }", "expects `4` instead of `3`; expects `63` instead of `3`"),
            (
                "if !strings.Contains(F(), \"x\") { t.Error() }",
                "asserts the opposite; expects `\"x~\"` instead of `\"x\"`",
            ),
            ("if math.Abs(F()-0.5) > 1e-9 { t.Error() }", "asserts the opposite; expects `60.5` instead of `0.5`"),
            ("if math.Abs(F()-0.5) > 90 { t.Error() }", "asserts the opposite"),
        ] {
            assert_eq!(what(body), expected, "{body}");
        }
        let far = |what: &String| what.contains("`6") || what.contains("`\"y\"`");
        let near = |body: &str| {
            let twins = of(body).twins.into_iter().map(|twin| twin.what);
            twins.filter(|what| !far(what)).collect::<Vec<_>>().join("; ")
        };
        for (body, expected) in [
            ("if Add(1, 2) != 3 { t.Error() }", "expects `4` instead of `3`"),
            ("if got := Add(1, 2); got != 3 { t.Error() }", "expects `4` instead of `3`"),
            ("want := \"x\"\n\tif F() != want { t.Error(want) }", "expects `\"x~\"` instead of `\"x\"`"),
            ("n := 1\n\tif F(n) != n { t.Error() }", "asserts the opposite"),
            ("if err != nil { t.Fatal(err) }", "asserts the opposite"),
            ("if F() == 3 { t.Error() }", "asserts the opposite"),
            ("if !reflect.DeepEqual(F(), []int{1}) { t.Error() }", "expects `2` instead of `1`"),
            ("if !F().Equal(Money{4}) { t.Error() }", "expects `5` instead of `4`"),
            (
                "for _, tt := range []struct{ in, want int }{{1, 2}} {\n\t\tif F(tt.in) != tt.want { t.Error() }\n\t}",
                "expects `3` instead of `2`",
            ),
            ("assert.Equal(t, 3, F())", "expects `4` instead of `3`"),
            ("assert.True(t, F())", "asserts the opposite"),
            ("check(t, F(), 3)", "asserts the opposite in `check`"),
            ("if a { if F() != 3 { t.Error() } }", "asserts the opposite everywhere"),
            (
                "if err != nil { t.Fatal() } else if F() != 3 { t.Error() }",
                "asserts the opposite; expects `4` instead of `3`",
            ),
            ("n := 3\n\tfor range n { if F() != n { t.Error() } }", "asserts the opposite"),
            ("switch F() {\n\tcase 1:\n\t\tt.Error()\n\t}", ""),
        ] {
            assert_eq!(near(body), expected, "{body}");
        }
        assert!(of("if !F().Equal(Money{5}) { t.Error() }").twins[0].probe.is_some());
    }

    #[test]
    fn an_example_is_copied_with_another_output() {
        let source = "package a\n\nfunc ExampleF() {\n\tF()\n\t// Output: 1\n}\n";
        let test = items("a_test.go", source).tests.remove(0);
        let twins = twins("a_test.go", source, &test, 7, AlterationMode::ChangeValues).unwrap();
        assert!(twins.source.contains("// Output: ~ 1"), "{}", twins.source);
        assert!(items("a_test.go", &twins.source).parses);
    }
}
