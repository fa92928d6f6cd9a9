//! Decides whether a test's assertions depend on anything but the test's own code and the standard library.
//!
//! It only follows names, and says yes where it cannot be sure: a no gets the test refused, while a wrong yes is found
//! out when the test runs.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use tdd_core::digest::Digest;

use crate::analysis::asks::{settle, shown};
use crate::item::TestItem;

use super::items::{assertions, called, definition, name};
use super::modules::Modules;
use super::statements::claims;
use super::syntax::Tree;
use super::tables::{rows, tables};

/// Prefixes of the names of asserting functions in other files.
const CHECKING: [&str; 5] = ["assert", "check", "expect", "verify", "should"];

/// Modules through which the process shows what production did to it.
const GLOBAL: [&str; 5] = ["os", "environ", "sys", "logging", "warnings"];

/// Fixtures of pytest that show what production did.
const HANDED: [&str; 12] = [
    "capsys",
    "capfd",
    "caplog",
    "tmp_path",
    "tmpdir",
    "recwarn",
    "monkeypatch",
    "mocker",
    "request",
    "subtests",
    "capsysbinary",
    "tmp_path_factory",
];

/// Names that are known everywhere.
const BUILTINS: &str = " abs all any bool bytes callable chr complex dict dir divmod enumerate eval filter float format \
    frozenset getattr hasattr hash hex id int isinstance issubclass iter len list map max min next object oct open ord pow \
    print range repr reversed round set setattr slice sorted str sum super tuple type vars zip Exception ValueError \
    TypeError KeyError IndexError AttributeError RuntimeError AssertionError NotImplementedError ZeroDivisionError \
    StopIteration OSError self cls ";

/// Finds which names of a test file lead to production.
pub(super) struct DependencyFinder<'t, 's> {
    tree: &'t Tree<'s>,
    /// The file's functions, by name.
    functions: BTreeMap<&'s str, Vec<usize>>,
    leading: BTreeSet<&'s str>,
    bound: BTreeSet<&'s str>,
    /// Whether a `*` import brings in all names of a production module.
    star: bool,
}

impl<'t, 's> DependencyFinder<'t, 's> {
    /// Reads the imports and definitions of this file.
    pub fn new(tree: &'t Tree<'s>, modules: &Modules) -> Self {
        let mut functions: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for node in (0..tree.len()).filter(|node| tree.kind(*node) == "function_definition") {
            functions.entry(name(tree, node)).or_default().push(node);
        }
        let mut finder = Self { tree, functions, leading: BTreeSet::new(), bound: BTreeSet::new(), star: false };
        let at_top = |node: usize| {
            let mut around = tree.ancestors(node);
            !around.any(|outer| matches!(tree.kind(outer), "function_definition" | "class_definition"))
        };
        for statement in tree.children(0) {
            finder.bound.extend(binds(tree, statement));
        }
        let imports: Vec<usize> = (0..tree.len()).filter(|node| is_import(tree, *node) && at_top(*node)).collect();
        for import in imports {
            let (names, star) = imported(tree, import, modules);
            finder.star |= star;
            // A definition in the file replaces an import of the same name.
            finder.leading.extend(names.into_iter().filter(|name| !finder.bound.contains(name)));
        }
        finder.settle();
        finder
    }

    /// Follows the top-level statements until no new name leads to production.
    fn settle(&mut self) {
        loop {
            let mut new = Vec::new();
            for statement in self.tree.children(0) {
                if self.leads(statement, &self.leading) {
                    new.extend(binds(self.tree, statement).into_iter().filter(|name| !self.leading.contains(name)));
                }
            }
            if new.is_empty() {
                return;
            }
            self.leading.extend(new);
        }
    }

    /// Whether a `*` import brings in all names of a production module.
    pub fn has_star(&self) -> bool {
        self.star
    }

    /// Whether the statement on this line depends on production.
    pub fn line_asks(&self, line: usize) -> bool {
        let tree = self.tree;
        let Some(node) =
            (1..tree.len()).rev().find(|node| tree.line(*node) <= line && tree.subtree_end(*node) == node + 1)
        else {
            return false;
        };
        let statement = tree.statement(node);
        let mut around = std::iter::once(statement).chain(tree.ancestors(statement));
        match around.find(|outer| tree.kind(*outer) == "function_definition") {
            Some(function) if function != statement => self.leads(statement, &self.inside(function)),
            _ => self.leads(statement, &self.leading),
        }
    }

    /// Digests of a test's assertions: its own, those in helpers of this file, and each row of its tables.
    pub fn assertions(&self, test: &TestItem) -> Vec<Digest> {
        let own = test.assertions.iter().map(|assertion| assertion.digest);
        let Some(function) = self.function(test) else { return own.collect() };
        let node = |span: &Range<usize>| {
            let is_it = |node: &usize| matches!(self.tree.kind(*node), "assert_statement" | "call");
            self.tree.subtree(function).find(|node| is_it(node) && self.tree.range(*node) == *span)
        };
        let own = test.assertions.iter().flat_map(|assertion| match node(&assertion.span) {
            Some(node) => claims(self.tree, node),
            None => vec![assertion.digest],
        });
        let through = self.helpers(function).into_iter().map(|call| self.tree.digest(self.tree.subtree(call)));
        let found: Vec<Digest> = own.chain(through).collect();
        let around = self.tree.parent(function);
        let whole = if self.tree.kind(around) == "decorated_definition" { around } else { function };
        let rows = tables(self.tree, whole).into_iter().flat_map(|table| rows(self.tree, table));
        rows.filter(|_| !found.is_empty()).chain(found.iter().copied()).collect()
    }

    /// Whether a test asserts something about production.
    pub fn asserts(&self, test: &TestItem) -> bool {
        !self.assertions(test).is_empty() && self.asks_production(test)
    }

    /// Whether an assertion of a test depends on production.
    pub fn asks_production(&self, test: &TestItem) -> bool {
        let Some(function) = self.function(test) else { return true };
        let leading = self.inside(function);
        let own = test.assertions.iter().filter_map(|assertion| {
            let asserts = |node: &usize| matches!(self.tree.kind(*node), "assert_statement" | "call");
            self.tree.subtree(function).find(|node| asserts(node) && self.tree.range(*node) == assertion.span)
        });
        let asks = |node: usize| self.about(node, function).into_iter().any(|part| self.leads(part, &leading));
        own.into_iter().any(asks) || self.helpers(function).into_iter().any(|call| self.leads(call, &leading))
    }

    /// The parts of an assertion that decide its outcome.
    fn about(&self, node: usize, function: usize) -> Vec<usize> {
        let tree = self.tree;
        if tree.kind(node) == "assert_statement" {
            return vec![node];
        }
        match called(tree, node) {
            "fail" => vec![function],
            "raises" | "warns" | "deprecated_call" => vec![tree.statement(node)],
            name if name.starts_with("assertRaises") || name.starts_with("assertWarns") || name == "assertLogs" => {
                vec![tree.statement(node)]
            }
            _ => {
                let object = tree.child(node, "function").and_then(|called| tree.child(called, "object"));
                // Of a `unittest` assertion on `self`, only the arguments count.
                let is_own = |object: &usize| tree.text(*object) != "self" || called(tree, node).starts_with("assert_");
                let object = object.filter(is_own);
                tree.child(node, "arguments").into_iter().chain(object).collect()
            }
        }
    }

    /// The calls in a function that assert through a helper.
    fn helpers(&self, function: usize) -> Vec<usize> {
        let tree = self.tree;
        let asserts = |wanted: &str| {
            let mut own = self.functions.get(wanted).into_iter().flatten().filter(|node| **node != function);
            own.any(|node| !assertions(tree, tree.subtree(*node)).is_empty())
        };
        let is_helper = |node: &usize| {
            let name = if tree.kind(*node) == "call" { called(tree, *node) } else { "" };
            let elsewhere = !self.bound.contains(name) && CHECKING.iter().any(|start| name.starts_with(start));
            !name.is_empty() && !name.starts_with("assert") && (elsewhere || asserts(name))
        };
        tree.subtree(function).filter(is_helper).collect()
    }

    fn function(&self, test: &TestItem) -> Option<usize> {
        let tree = self.tree;
        tree.nodes_at(&test.span).map(|node| definition(tree, node)).find(|node| !name(tree, *node).is_empty())
    }

    /// The names in a function that lead to production.
    fn inside(&self, function: usize) -> BTreeSet<&'s str> {
        let tree = self.tree;
        let mut leading = self.leading.clone();
        leading.extend(self.handed_in(function));
        for import in tree.subtree(function).filter(|node| is_import(tree, *node)) {
            leading.extend(imported(tree, import, &Modules::default()).0);
        }
        settle(&mut leading, &tree.subtree(function), |node, leading| self.follow(node, leading));
        leading.extend(shown(&leading, &tree.names(function).collect(), HANDED.into_iter().chain(GLOBAL)));
        leading
    }

    /// Adds the names that receive a value which leads to production.
    fn follow(&self, node: usize, leading: &mut BTreeSet<&'s str>) {
        let tree = self.tree;
        let (from, to) = match tree.kind(node) {
            "assignment" | "augmented_assignment" | "for_statement" | "for_in_clause" => {
                (tree.child(node, "right"), tree.child(node, "left"))
            }
            "named_expression" => (tree.child(node, "value"), tree.child(node, "name")),
            "as_pattern" => (tree.children(node).next(), tree.child(node, "alias")),
            "call" => (tree.child(node, "function"), tree.child(node, "arguments")),
            "argument_list" => (Some(node), self.filled(node)),
            "function_definition" => (tree.child(node, "body"), tree.child(node, "name")),
            _ => return,
        };
        if let (Some(from), Some(to)) = (from, to)
            && self.leads(from, leading)
        {
            let names: Vec<&str> = tree.names(to).filter(|name| !is_builtin(name) || *name == "self").collect();
            leading.extend(names);
        }
    }

    /// The object that stores the arguments of a call: `found` of `found.append(line)`.
    fn filled(&self, arguments: usize) -> Option<usize> {
        const FILLING: [&str; 5] = ["append", "add", "extend", "insert", "update"];
        let function = self.tree.child(self.tree.parent(arguments), "function")?;
        let name = self.tree.child(function, "attribute").map(|name| self.tree.text(name));
        self.tree.child(function, "object").filter(|_| name.is_some_and(|name| FILLING.contains(&name)))
    }

    /// The parameters of a function that may lead to production: fixtures, and `self` if its class leads there.
    fn handed_in(&self, function: usize) -> Vec<&'s str> {
        let tree = self.tree;
        let Some(parameters) = tree.child(function, "parameters") else { return Vec::new() };
        let decorators = match tree.kind(tree.parent(function)) {
            "decorated_definition" => tree.text(tree.parent(function)).split("def ").next().unwrap_or_default(),
            _ => "",
        };
        let names: Vec<&str> = tree.names(parameters).collect();
        let may_lead = |name: &&str| match *name {
            "self" | "cls" => self.class_leads(function),
            name if HANDED.contains(&name) => false,
            name if self.bound.contains(name) => self.leading.contains(name),
            name => !decorators.contains(name),
        };
        names.into_iter().filter(may_lead).collect()
    }

    /// Whether a base or another member of the class around a function leads to production.
    fn class_leads(&self, function: usize) -> bool {
        let tree = self.tree;
        let Some(class) = tree.ancestors(function).find(|outer| tree.kind(*outer) == "class_definition") else {
            return false;
        };
        let Some(body) = tree.child(class, "body") else { return false };
        if tree.child(class, "superclasses").is_some_and(|bases| self.leads(bases, &self.leading)) {
            return true;
        }
        let others =
            tree.children(body).filter(|statement| !name(tree, definition(tree, *statement)).starts_with("test"));
        others.into_iter().any(|statement| self.leads(statement, &self.leading))
    }

    fn leads(&self, node: usize, leading: &BTreeSet<&str>) -> bool {
        let unknown = |name: &str| self.star && !self.bound.contains(name) && !is_builtin(name) && name != "pytest";
        self.tree.names(node).any(|name| leading.contains(name) || unknown(name))
    }
}

fn is_builtin(name: &str) -> bool {
    BUILTINS.contains(&format!(" {name} "))
}

fn is_import(tree: &Tree<'_>, node: usize) -> bool {
    matches!(tree.kind(node), "import_statement" | "import_from_statement")
}

/// The names that an import brings in and that may be production's, and whether it is a `*` import.
fn imported<'s>(tree: &Tree<'s>, import: usize, modules: &Modules) -> (Vec<&'s str>, bool) {
    let from = tree.child(import, "module_name");
    if from.is_some_and(|module| !modules.may_be_production(tree.text(module).trim_start_matches('.'))) {
        return (Vec::new(), false);
    }
    let star = tree.children(import).any(|child| tree.kind(child) == "wildcard_import");
    let mut names = Vec::new();
    for part in tree.parts(import).filter(|part| Some(*part) != from) {
        let (module, alias) = match tree.kind(part) {
            "aliased_import" => (tree.child(part, "name"), tree.child(part, "alias")),
            "dotted_name" => (Some(part), None),
            _ => continue,
        };
        let module = module.map_or("", |module| tree.text(module));
        if from.is_some() || modules.may_be_production(module) {
            let first = module.split('.').next().unwrap_or(module);
            names.push(alias.map_or(first, |alias| tree.text(alias)));
        }
    }
    (names, star)
}

/// The names that a top-level statement binds.
fn binds<'s>(tree: &Tree<'s>, statement: usize) -> Vec<&'s str> {
    let item = definition(tree, statement);
    match name(tree, item) {
        "" => {
            let assigned = tree.subtree(statement).filter(|node| tree.kind(*node) == "assignment");
            let left = assigned.filter_map(|node| tree.child(node, "left"));
            left.flat_map(|left| tree.names(left).collect::<Vec<_>>()).collect()
        }
        name => vec![name],
    }
}

#[cfg(test)]
mod tests {
    use super::super::items::items;
    use super::super::names::Names;
    use super::*;
    use crate::fixture::memory;
    use crate::language::Project;

    fn asks(around: &str, test: &str) -> bool {
        let source = format!("import pytest\n{around}\n{test}\n");
        let sources = memory(&[("calc.py", ""), ("tests/test_a.py", &source)]);
        let modules = Modules::of(&Project { root: String::new(), description: String::new() }, &sources);
        let tree = Tree::parse(&source).unwrap();
        let test = items("tests/test_a.py", &source, &Names::default()).tests.pop().unwrap();
        DependencyFinder::new(&tree, &modules).asks_production(&test)
    }

    #[test]
    fn an_assertion_that_production_decides_asks_for_it() {
        for (around, test) in [
            ("from calc import add", "def test_a():\n    assert add(1, 2) == 3"),
            ("import calc", "def test_a():\n    total = calc.add(1, 2)\n    assert total == 3"),
            ("from calc import *", "def test_a():\n    assert add(1, 2) == 3"),
            ("from calc import fill", "def test_a():\n    seen = []\n    fill(seen)\n    assert seen == [1]"),
            ("from calc import main", "def test_a(capsys):\n    main()\n    assert capsys.readouterr().out == 'x'"),
            ("import calc", "def test_a():\n    with pytest.raises(ValueError):\n        calc.parse('x')"),
            ("", "def test_a(calculator):\n    assert calculator.add(1, 2) == 3"),
            (
                "from calc import C\nclass TestX:\n    def setup_method(self):\n        self.c = C()",
                "    def test_a(self):\n        assert self.c.n == 1",
            ),
            (
                "from calc import C\n@pytest.fixture\ndef made():\n    return C()",
                "def test_a(made):\n    assert made.n == 1",
            ),
            (
                "from calc import add\ndef is_sum(a, b):\n    assert add(a, b) == a + b",
                "def test_a():\n    is_sum(1, 2)",
            ),
            ("", "def test_a():\n    from calc import add\n    assert add(1, 2) == 3"),
            (
                "from calc import lines",
                "def test_a():\n    seen = []\n    for line in lines():\n        seen.append(line)\n    assert seen == [1]",
            ),
            (
                "from support import Case\nclass TestX(Case):",
                "    def test_a(self):\n        self.stack.push(1)\n        self.assert_size(1)",
            ),
        ] {
            assert!(asks(around, test), "{around}\n{test}");
        }
    }

    #[test]
    fn an_assertion_about_the_tests_own_things_does_not() {
        for (around, test) in [
            ("from calc import add", "def test_a():\n    assert True"),
            ("from calc import add", "def test_a():\n    add(1, 2)\n    assert 1 + 1 == 2"),
            ("import os", "def test_a():\n    assert os.getcwd() != ''"),
            ("from calc import add\ndef add(a, b):\n    return 3", "def test_a():\n    assert add(1, 2) == 3"),
            ("import calc", "@pytest.mark.parametrize('a', [1])\ndef test_a(a):\n    assert a == 1"),
            (
                "import calc\nfrom unittest import TestCase\nclass A(TestCase):",
                "    def test_a(self):\n        self.assertEqual(1, 1)",
            ),
            (
                "import calc\nfrom unittest import TestCase\nclass A(TestCase):",
                "    def test_a(self):\n        self.assert_size(1)",
            ),
        ] {
            assert!(!asks(around, test), "{around}\n{test}");
        }
    }
}
