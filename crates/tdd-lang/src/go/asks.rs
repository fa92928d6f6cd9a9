//! Decides whether a test's assertions depend on anything but the test's own code and the standard library.

use std::collections::BTreeSet;

use tdd_core::digest::Digest;

use super::items::{assertions, called, function, is_failure, testing_parameters};
use super::known::{PackageIndex, folder, imports, is_builtin};
use super::suites::{claims, methods};
use super::syntax::Tree;
use super::tables::rows;
use crate::analysis::asks::settle;
use crate::item::TestItem;

/// Finds which names of a test file lead to production.
pub(super) struct DependencyFinder<'t, 's> {
    tree: &'t Tree<'s>,
    known: &'t PackageIndex,
    folder: String,
    /// Names of production packages.
    leading: BTreeSet<&'s str>,
    /// Names of other packages.
    foreign: BTreeSet<&'s str>,
    /// Whether an undeclared name may be production's: the file is in a production package, or dot-imports one.
    inside: bool,
}

impl<'t, 's> DependencyFinder<'t, 's> {
    /// Reads the imports of this file.
    pub fn new(tree: &'t Tree<'s>, known: &'t PackageIndex, path: &str) -> Self {
        let imports = imports(tree);
        let (ours, foreign): (Vec<_>, Vec<_>) =
            imports.into_iter().partition(|(_, path)| known.may_be_production(path));
        let inside = !tree.package().ends_with("_test") || ours.iter().any(|(name, _)| *name == ".");
        Self {
            tree,
            known,
            folder: folder(path).to_owned(),
            leading: ours.into_iter().map(|(name, _)| name).collect(),
            foreign: foreign.into_iter().map(|(name, _)| name).collect(),
            inside,
        }
    }

    /// Digests of a test's assertions: its own, those in helpers and suite methods, and each row of its tables.
    pub fn assertions(&self, test: &TestItem) -> Vec<Digest> {
        let own = test.assertions.iter().map(|assertion| assertion.digest);
        let Some(function) = function(self.tree, &test.span) else { return own.collect() };
        let digest = |node: usize| self.tree.digest(self.tree.subtree(node));
        let through = self.helpers(function).into_iter().map(digest);
        let found: Vec<Digest> = own.chain(through).collect();
        let rows = rows(self.tree, function).into_iter().filter(|_| !found.is_empty()).map(digest);
        let parts = methods(self.tree, function).into_iter().filter(|part| !claims(self.tree, *part).is_empty());
        rows.chain(found.iter().copied()).chain(parts.map(digest)).collect()
    }

    /// Whether a test asserts something about production.
    pub fn asserts(&self, test: &TestItem) -> bool {
        !self.assertions(test).is_empty() && self.asks_production(test)
    }

    /// Whether an assertion of a test depends on production.
    pub fn asks_production(&self, test: &TestItem) -> bool {
        let Some(function) = function(self.tree, &test.span) else { return true };
        let leading = self.local(function);
        let own = test.assertions.iter().flat_map(|assertion| self.about(function, &assertion.span));
        own.into_iter().any(|node| self.leads(node, &leading))
            || self.helpers(function).into_iter().any(|call| self.leads(call, &leading))
            || methods(self.tree, function).into_iter().any(|part| self.part_asks(part))
    }

    /// Whether an assertion in a suite method depends on production.
    fn part_asks(&self, method: usize) -> bool {
        let leading = self.local(method);
        let about = claims(self.tree, method).into_iter().flat_map(|span| self.about(method, &span));
        about.into_iter().any(|node| self.leads(node, &leading))
    }

    /// Whether the expression at this place, or else the statement on its line, depends on production.
    pub fn place_asks(&self, line: usize, at: Option<usize>) -> bool {
        let tree = self.tree;
        let starts = |node: &usize| match at {
            Some(at) => tree.range(*node).start == at,
            None => tree.line(*node) == line,
        };
        let Some(node) = (1..tree.len()).find(|node| starts(node) && tree.kind(*node) != "comment") else {
            return false;
        };
        // Without a column, the whole statement counts.
        let node = if at.is_some() { node } else { tree.statement(node) };
        match tree.ancestors(node).find(|outer| tree.kind(*outer) == "function_declaration") {
            Some(function) => self.leads(node, &self.local(function)),
            None => self.leads(node, &BTreeSet::new()),
        }
    }

    /// The parts of an assertion that decide its outcome.
    fn about(&self, function: usize, span: &std::ops::Range<usize>) -> Vec<usize> {
        let tree = self.tree;
        let is_it =
            |node: &usize| tree.range(*node) == *span && matches!(tree.kind(*node), "if_statement" | "call_expression");
        let Some(node) = tree.subtree(function).find(is_it) else { return vec![function] };
        if tree.kind(node) == "if_statement" {
            let parts: Vec<usize> =
                ["initializer", "condition"].into_iter().filter_map(|part| tree.child(node, part)).collect();
            let recovers = parts.iter().any(|part| tree.names(*part).any(|name| name == "recover"));
            return if recovers { vec![function] } else { parts };
        }
        // Whether a failure without a condition of its own is reached depends on the whole function.
        if is_failure(tree, node) { vec![function] } else { tree.child(node, "arguments").into_iter().collect() }
    }

    /// The calls in a test that can fail it through a test helper.
    pub fn helpers(&self, function: usize) -> Vec<usize> {
        let tree = self.tree;
        let local = |name: &str| {
            let is_local = |node: &usize| {
                let names = tree.child(*node, "left").map(|left| tree.names(left).any(|found| found == name));
                tree.kind(*node) == "short_var_declaration"
                    && names.unwrap_or(false)
                    && tree.subtree(*node).any(|inner| {
                        tree.kind(inner) == "func_literal"
                            && tree.child(inner, "body").is_some_and(|body| !assertions(tree, body).is_empty())
                    })
            };
            tree.subtree(function).any(|node| is_local(&node))
        };
        let is_helper = |node: &usize| {
            let name = if tree.kind(*node) == "call_expression" { called(tree, *node) } else { "" };
            !name.is_empty() && (self.known.declared(&self.folder, name).is_some_and(|it| it.asserts) || local(name))
        };
        tree.subtree(function).filter(is_helper).collect()
    }

    /// The names in a function that lead to production.
    fn local(&self, function: usize) -> BTreeSet<&'s str> {
        let tree = self.tree;
        let mut leading = BTreeSet::new();
        let tests: BTreeSet<&str> = tree
            .subtree(function)
            .filter(|node| tree.field(*node) == Some("parameters"))
            .flat_map(|list| testing_parameters(tree, list))
            .collect();
        let may_lead = |name: &&str| !tests.contains(name) && !is_builtin(name) && !self.foreign.contains(name);
        settle(&mut leading, &tree.subtree(function), |node, leading| {
            let new = self.follow(node, leading).into_iter().filter(may_lead).collect::<Vec<_>>();
            leading.extend(new);
        });
        leading
    }

    /// The names that receive a value which leads to production.
    fn follow(&self, node: usize, leading: &BTreeSet<&'s str>) -> Vec<&'s str> {
        let tree = self.tree;
        let (from, to) = match tree.kind(node) {
            "short_var_declaration" | "assignment_statement" | "range_clause" | "receive_statement" => {
                (tree.child(node, "right"), tree.child(node, "left"))
            }
            "var_spec" => {
                let from = tree.child(node, "value").into_iter().chain(tree.child(node, "type"));
                let leads = from.into_iter().any(|from| self.leads(from, leading));
                return if leads {
                    tree.children(node).filter(|it| tree.field(*it) == Some("name")).map(|it| tree.text(it)).collect()
                } else {
                    Vec::new()
                };
            }
            // A call of production may write to its arguments.
            "call_expression" => (Some(node), tree.child(node, "arguments")),
            "send_statement" => (tree.child(node, "value"), tree.child(node, "channel")),
            _ => return Vec::new(),
        };
        match (from, to) {
            (Some(from), Some(to)) if self.leads(from, leading) => tree.names(to).collect(),
            _ => Vec::new(),
        }
    }

    fn leads(&self, node: usize, leading: &BTreeSet<&str>) -> bool {
        let mut known = BTreeSet::new();
        self.tree.names(node).any(|name| leading.contains(name) || self.is_production(name, &mut known))
    }

    /// Whether a name is production's, or that of a test helper whose declaration leads there.
    fn is_production(&self, name: &str, seen: &mut BTreeSet<String>) -> bool {
        if self.leading.contains(name) || self.foreign.contains(name) {
            return self.leading.contains(name);
        }
        if is_builtin(name) || !seen.insert(name.to_owned()) {
            return false;
        }
        match self.known.declared(&self.folder, name) {
            Some(declared) => declared.words.iter().any(|word| word != name && self.is_production(word, seen)),
            None => self.inside && (self.known.is_defined(&self.folder, name) || self.is_wanted(name)),
        }
    }

    /// Whether an undeclared name could be production's: the file uses it, and nothing in the file binds it.
    fn is_wanted(&self, name: &str) -> bool {
        let tree = self.tree;
        let binds = |node: usize| {
            let parent = tree.parent(node);
            let in_left = || {
                let mut around = std::iter::once(node).chain(tree.ancestors(node)).take(3);
                around.any(|at| {
                    tree.field(at) == Some("left")
                        && matches!(
                            tree.kind(tree.parent(at)),
                            "short_var_declaration" | "range_clause" | "receive_statement"
                        )
                })
            };
            let is_declared = matches!(
                tree.kind(parent),
                "parameter_declaration"
                    | "var_spec"
                    | "const_spec"
                    | "type_spec"
                    | "type_parameter_declaration"
                    | "function_declaration"
            ) && tree.field(node) == Some("name");
            is_declared || in_left()
        };
        let used = |node: &usize| tree.is_name(*node) && tree.text(*node) == name;
        (0..tree.len()).any(|node| used(&node)) && !(0..tree.len()).any(|node| used(&node) && binds(node))
    }
}

#[cfg(test)]
mod tests {
    use super::super::items::items;
    use super::*;
    use crate::fixture::memory;
    use crate::language::Project;

    fn asks(head: &str, body: &str) -> bool {
        let source = format!("{head}\nfunc TestA(t *testing.T) {{\n{body}\n}}\n");
        let sources = memory(&[
            ("go.mod", "module calc\n"),
            ("calc.go", "package calc\nfunc Add(a, b int) int { return 0 }\ntype Cart struct{}\n"),
            ("calc_test.go", &source),
            (
                "help_test.go",
                "package calc\nfunc want(t *testing.T, a, b int) { if a != b { t.Error() } }\nfunc made() int { return Add(1, 2) }\n",
            ),
        ]);
        let known = PackageIndex::of(&Project { root: String::new(), description: String::new() }, &sources);
        let tree = Tree::parse(&source).unwrap();
        assert!(tree.parses(), "{source}");
        let test = items("calc_test.go", &source).tests.pop().unwrap();
        DependencyFinder::new(&tree, &known, "calc_test.go").asks_production(&test)
    }

    const INSIDE: &str = "package calc\nimport (\"testing\"; \"bytes\")";
    const OUTSIDE: &str = "package calc_test\nimport (\"testing\"; \"calc\"; \"bytes\")";

    #[test]
    fn an_assertion_that_production_decides_asks_for_it() {
        for body in [
            "if got := Add(1, 2); got != 3 { t.Error(got) }",
            "got := Sub(1, 2)\nif got != 3 { t.Error(got) }",
            "c := Cart{}\nc.n = 1\nif c.n != 1 { t.Error() }",
            "var c Cart\nif c.Size() != 0 { t.Error() }",
            "var b bytes.Buffer\nPrint(&b)\nif b.String() != \"x\" { t.Error() }",
            "for _, tt := range []struct{ in, want int }{{1, 2}} {\nt.Run(\"x\", func(t *testing.T) {\ngot := Add(tt.in, 1)\nif got != tt.want { t.Error() }\n})\n}",
            "defer func() { if recover() == nil { t.Error() } }()\nAdd(1, 2)",
            "want(t, Add(1, 2), 3)",
            "want(t, made(), 3)",
            "check := func(a int) { t.Helper(); if a != 3 { t.Fatal() } }\ncheck(Add(1, 2))",
            "switch Add(1, 2) {\ncase 3:\ndefault:\nt.Error()\n}",
            "assert.Equal(t, 3, Add(1, 2))",
        ] {
            assert!(asks(INSIDE, body), "{body}");
        }
        assert!(asks(OUTSIDE, "if calc.Add(1, 2) != 3 { t.Error() }"));
    }

    #[test]
    fn an_assertion_about_the_tests_own_things_does_not() {
        for body in [
            "if 1 + 1 != 2 { t.Error() }",
            "Add(1, 2)\nif 1 == 2 { t.Error() }",
            "var b bytes.Buffer\nif b.Len() != 0 { t.Error() }",
            "got := 3\nif got != 3 { t.Error() }",
            "want(t, 1, 1)",
            "add := func(a, b int) int { return 3 }\nif add(1, 2) != 3 { t.Error() }",
            "assert.Equal(t, 3, 3)",
        ] {
            assert!(!asks(INSIDE, body), "{body}");
        }
        assert!(!asks(OUTSIDE, "if Add(1, 2) != 3 { t.Error() }"));
    }
}
