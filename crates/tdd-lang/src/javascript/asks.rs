//! Decides whether a test's assertions depend on production code.
//!
//! Follows only names, and says yes when unsure: a no refuses the test, while running the test reveals a wrong yes.

use std::collections::BTreeSet;
use std::ops::Range;

use tdd_core::digest::Digest;

use crate::analysis::asks::{settle, shown};
use crate::item::TestItem;

use super::assertion::{Asserting, assertions};
use super::call::{TestCall, TestFunctions, required, unquoted};
use super::items::located;
use super::modules::Modules;
use super::statements::claims;
use super::syntax::Tree;
use super::tables::{rows, tables};

/// Prefixes of asserting functions in other files.
const CHECKING: [&str; 5] = ["assert", "check", "expect", "verify", "should"];

/// Globals that show the effects of production code, if a test runs any.
const SHOWING: [&str; 9] = ["console", "document", "window", "globalThis", "global", "process", "screen", "vi", "jest"];

/// Modules with which a test looks at the files that production wrote.
const FILES: [&str; 4] = ["fs", "node:fs", "fs/promises", "node:fs/promises"];

/// Knows which names in a test file derive from production.
pub(super) struct DependencyFinder<'t, 's> {
    tree: &'t Tree<'s>,
    asserting: Asserting<'s>,
    test_functions: TestFunctions<'s>,
    tests: Vec<(TestItem, TestCall)>,
    leading: BTreeSet<&'s str>,
    /// Names that the file itself defines.
    bound: BTreeSet<&'s str>,
    modules: &'t Modules,
    path: &'t str,
}

impl<'t, 's> DependencyFinder<'t, 's> {
    /// For this file.
    pub fn new(path: &'t str, tree: &'t Tree<'s>, modules: &'t Modules) -> Self {
        let mut finder = Self {
            tree,
            asserting: Asserting::of(tree),
            test_functions: TestFunctions::of(tree),
            tests: located(tree),
            leading: BTreeSet::new(),
            bound: BTreeSet::new(),
            modules,
            path,
        };
        let are_in_tests = tree.are_in(finder.tests.iter().map(|(_, test_call)| tree.subtree(test_call.call)));
        let outside: Vec<usize> = (0..tree.len()).filter(|node| !are_in_tests[*node]).collect();
        for node in &outside {
            finder.bound.extend(declared(tree, *node));
        }
        let mut leading = BTreeSet::new();
        settle(&mut leading, &outside.iter().copied(), |node, leading| finder.follow(node, leading));
        finder.leading = leading;
        finder
    }

    /// Propagates: a name that receives a value from production derives from production.
    fn follow(&self, node: usize, leading: &mut BTreeSet<&'s str>) {
        let tree = self.tree;
        let child = |field| tree.child(node, field);
        let (from, to) = match tree.kind(node) {
            "import_statement" => {
                let module = child("source").map_or("", |source| unquoted(tree.text(source)));
                if self.modules.may_be_production(self.path, module) {
                    leading.extend(imported(tree, node));
                }
                return;
            }
            "variable_declarator" => {
                let module = child("value").and_then(|value| required(tree, value));
                if module.is_some_and(|module| !self.modules.may_be_production(self.path, module)) {
                    return;
                }
                if let (Some(_), Some(name)) = (module, child("name")) {
                    leading.extend(tree.names(name));
                    return;
                }
                (child("value"), child("name"))
            }
            "assignment_expression" | "augmented_assignment_expression" | "for_in_statement" => {
                (child("right"), child("left"))
            }
            "call_expression" => (child("function"), child("arguments")),
            "new_expression" => (child("constructor"), child("arguments")),
            "arguments" => (Some(node), self.filled(node)),
            "function_declaration" | "class_declaration" | "generator_function_declaration" => {
                (child("body"), child("name"))
            }
            _ => return,
        };
        if let (Some(from), Some(to)) = (from, to)
            && self.leads(from, leading)
        {
            let makes = |name: &&str| !matches!(*name, "test" | "it" | "describe" | "expect" | "assert");
            leading.extend(tree.names(to).filter(makes));
        }
    }

    /// The object that a call adds its arguments to: `found` in `found.push(line)`.
    fn filled(&self, arguments: usize) -> Option<usize> {
        const FILLING: [&str; 6] = ["push", "unshift", "add", "set", "append", "write"];
        let function = self.tree.child(self.tree.parent(arguments), "function")?;
        let name = self.tree.child(function, "property").map(|name| self.tree.text(name));
        self.tree.child(function, "object").filter(|_| name.is_some_and(|name| FILLING.contains(&name)))
    }

    /// Whether the statement on this line involves production.
    pub fn line_asks(&self, line: usize) -> bool {
        let tree = self.tree;
        let at = (1..tree.len()).rev().find(|node| tree.line(*node) <= line && tree.is_leaf(*node));
        let Some(node) = at else { return false };
        let statement = tree.statement(node);
        match self.tests.iter().find(|(_, test_call)| tree.subtree(test_call.call).contains(&node)) {
            Some((_, test_call)) => {
                let top = tree.subtree(test_call.call);
                let part = if top.contains(&statement) { statement } else { test_call.body.unwrap_or(test_call.call) };
                self.leads(part, &self.inside(test_call))
            }
            None => self.leads(statement, &self.leading),
        }
    }

    /// Whether the test on a line reads a file by its name that no production code was asked to make before.
    pub fn reads_own_file(&self, line: usize, name: &str) -> bool {
        let tree = self.tree;
        let holds_line = |test_call: &TestCall| tree.subtree(test_call.call).any(|node| tree.line(node) == line);
        let test = self.tests.iter().map(|(_, test_call)| test_call).find(|test_call| holds_line(test_call));
        let Some(test) = test else { return false };
        let leading: BTreeSet<&str> = self.inside(test).difference(&self.files()).copied().collect();
        let is_name = |node: &usize| {
            let told = unquoted(tree.text(*node));
            tree.kind(*node) == "string" && told.rsplit('/').next() == name.rsplit('/').next()
        };
        let Some(named) = tree.subtree(test.call).find(is_name) else { return false };
        let reading = tree.ancestors(named).find(|outer| tree.kind(*outer) == "call_expression");
        let statement = tree.range(tree.statement(named));
        let is_in_test = |node: usize| self.tests.iter().any(|(_, other)| tree.subtree(other.call).contains(&node));
        let is_before = |node: &usize| tree.range(*node).end <= statement.start;
        let own = tree.subtree(test.call).filter(is_before);
        // Hooks run before the test wherever they are.
        let around = (1..tree.len()).filter(|node| !is_in_test(*node) && tree.kind(*node) == "expression_statement");
        let around = around.filter(|node| !tree.subtree(*node).contains(&test.call));
        let mut acts = own.filter(|node| tree.is_statement(*node)).chain(around);
        reading.is_some_and(|call| !self.leads(call, &leading)) && !acts.any(|node| self.leads(node, &leading))
    }

    /// The digests of a test's assertions: its own, those through helpers, and each row of its tables.
    pub fn assertions(&self, test: &TestItem) -> Vec<Digest> {
        let own = test.assertions.iter().map(|assertion| assertion.digest);
        let Some(test_call) = self.test_call(test) else { return own.collect() };
        let node = |span: &Range<usize>| {
            let mut inside = self.tree.subtree(test_call.call);
            inside.find(|node| self.tree.kind(*node) == "call_expression" && self.tree.range(*node) == *span)
        };
        let own = test.assertions.iter().flat_map(|assertion| match node(&assertion.span) {
            Some(node) => claims(self.tree, node),
            None => vec![assertion.digest],
        });
        let through = self.helpers(test_call).into_iter().map(|call| self.tree.digest(self.tree.subtree(call)));
        let found: Vec<Digest> = own.chain(through).collect();
        let lists = tables(self.tree, &self.asserting, test_call).lists.into_iter().filter(|_| !found.is_empty());
        let rows = lists.flat_map(|list| rows(self.tree, list));
        rows.chain(found.iter().copied()).collect()
    }

    /// Whether a test asserts something about production.
    pub fn asserts(&self, test: &TestItem) -> bool {
        !self.assertions(test).is_empty() && self.asks_production(test)
    }

    /// Whether an assertion of a test depends on production.
    pub fn asks_production(&self, test: &TestItem) -> bool {
        let Some(test_call) = self.test_call(test) else { return true };
        let Some(body) = test_call.body else { return false };
        let leading = self.inside(test_call);
        let own = assertions(self.tree, &self.asserting, self.tree.subtree(body));
        let asks = |node: usize| {
            let function = self.tree.child(node, "function").map_or("", |function| self.tree.text(function));
            let is_failure = function.ends_with("fail") || function.ends_with("unreachable");
            self.leads(if is_failure { body } else { node }, &leading)
        };
        own.into_iter().any(asks) || self.helpers(test_call).into_iter().any(|call| self.leads(call, &leading))
    }

    /// The calls in a test that assert through another function.
    fn helpers(&self, test_call: &TestCall) -> Vec<usize> {
        let tree = self.tree;
        let Some(body) = test_call.body else { return Vec::new() };
        let asserts = |wanted: &str| {
            let is_it = |node: &usize| match tree.kind(*node) {
                "function_declaration" | "variable_declarator" => {
                    tree.child(*node, "name").is_some_and(|name| tree.text(name) == wanted)
                }
                _ => false,
            };
            let own = (0..tree.len()).filter(|node| is_it(node));
            own.into_iter().any(|node| !assertions(tree, &self.asserting, tree.subtree(node)).is_empty())
        };
        let own = assertions(tree, &self.asserting, tree.subtree(body));
        let is_helper = |node: &usize| {
            let function = if tree.kind(*node) == "call_expression" { tree.child(*node, "function") } else { None };
            let name = function.map_or("", |function| tree.text(function));
            let is_plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$');
            let elsewhere = || !self.bound.contains(name) && CHECKING.iter().any(|start| name.starts_with(start));
            let is_ours = || own.iter().any(|assertion| tree.subtree(*assertion).contains(node));
            is_plain && name != "expect" && !is_ours() && (elsewhere() || asserts(name))
        };
        tree.subtree(body).filter(is_helper).collect()
    }

    fn test_call(&self, test: &TestItem) -> Option<&TestCall> {
        self.tests.iter().find(|(known, _)| known.span == test.span).map(|(_, test_call)| test_call)
    }

    /// The names that derive from production inside a test.
    fn inside(&self, test_call: &TestCall) -> BTreeSet<&'s str> {
        let tree = self.tree;
        let nodes: Vec<usize> = tree.subtree(test_call.call).collect();
        let own: BTreeSet<&str> = nodes.iter().flat_map(|node| declared(tree, *node)).collect();
        // The test's own definitions hide the file's.
        let mut leading: BTreeSet<&str> = self.leading.iter().copied().filter(|name| !own.contains(name)).collect();
        if self.test_functions.is_extended(tree.text(test_call.base)) {
            let parameters = test_call.body.and_then(|body| tree.child(body, "parameters"));
            leading.extend(parameters.into_iter().flat_map(|list| tree.names(list).collect::<Vec<_>>()));
        }
        settle(&mut leading, &nodes.iter().copied(), |node, leading| self.follow(node, leading));
        let used = tree.names(test_call.call).collect();
        if leading.iter().any(|name| BTreeSet::contains(&used, name)) {
            leading.extend(shown(&leading, &used, SHOWING.into_iter().chain(self.files())));
            let spies = nodes.iter().copied().filter(|node| is_spied(tree, *node)).collect::<Vec<_>>();
            settle(&mut leading, &spies.into_iter(), |node, leading| self.follow(node, leading));
        }
        leading
    }

    /// The names by which the file reads files.
    fn files(&self) -> BTreeSet<&'s str> {
        let tree = self.tree;
        let names = |node: usize| match tree.kind(node) {
            "import_statement" => {
                let module = tree.child(node, "source").map_or("", |source| unquoted(tree.text(source)));
                if FILES.contains(&module) { imported(tree, node) } else { Vec::new() }
            }
            "variable_declarator" => {
                let module = tree.child(node, "value").and_then(|value| required(tree, value));
                let name = tree.child(node, "name").filter(|_| module.is_some_and(|module| FILES.contains(&module)));
                name.map_or_else(Vec::new, |name| tree.names(name).collect())
            }
            _ => Vec::new(),
        };
        (1..tree.len()).flat_map(names).collect()
    }

    fn leads(&self, node: usize, leading: &BTreeSet<&str>) -> bool {
        let tree = self.tree;
        let reaches = |node: usize| {
            matches!(tree.kind(node), "call_expression")
                && required(tree, node).is_some_and(|module| self.modules.may_be_production(self.path, module))
        };
        tree.names(node).any(|name| leading.contains(name)) || tree.subtree(node).any(reaches)
    }
}

/// Whether a variable holds a spy on a method: `const log = t.mock.method(console, 'log')`.
fn is_spied(tree: &Tree<'_>, node: usize) -> bool {
    let value = tree.child(node, "value").filter(|_| tree.kind(node) == "variable_declarator");
    let function = value.and_then(|value| tree.child(value, "function")).map_or("", |function| tree.text(function));
    function.ends_with("mock.method") || function.ends_with(".spyOn")
}

/// The names that an import brings in.
fn imported<'s>(tree: &Tree<'s>, statement: usize) -> Vec<&'s str> {
    let mut found = Vec::new();
    for node in tree.subtree(statement) {
        match tree.kind(node) {
            "import_specifier" => {
                let local = tree.child(node, "alias").or_else(|| tree.child(node, "name"));
                found.extend(local.map(|local| tree.text(local)));
            }
            "identifier" if matches!(tree.kind(tree.parent(node)), "import_clause" | "namespace_import") => {
                found.push(tree.text(node));
            }
            _ => {}
        }
    }
    found
}

/// The names that a declaration defines.
fn declared<'s>(tree: &Tree<'s>, node: usize) -> Vec<&'s str> {
    match tree.kind(node) {
        "variable_declarator" | "function_declaration" | "class_declaration" => {
            tree.child(node, "name").map(|name| tree.names(name).collect()).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::items::items;
    use super::*;
    use crate::fixture::memory;
    use crate::language::Project;

    fn asks(around: &str, body: &str) -> bool {
        let source = format!("import assert from 'node:assert'\n{around}\ntest('a', async (t) => {{ {body} }})\n");
        let sources = memory(&[("calc.js", ""), ("a.test.js", &source)]);
        let modules = Modules::of(&Project { root: String::new(), description: String::new() }, &sources);
        let tree = Tree::parse("a.test.js", &source).unwrap();
        let test = items("a.test.js", &source).tests.pop().unwrap();
        DependencyFinder::new("a.test.js", &tree, &modules).asks_production(&test)
    }

    #[test]
    fn an_assertion_that_production_decides_asks_for_it() {
        for (around, body) in [
            ("import { add } from './calc.js'", "assert.equal(add(1, 2), 3)"),
            ("import * as calc from './calc.js'", "const sum = calc.add(1, 2); expect(sum).toBe(3)"),
            ("const { add } = require('./calc')", "assert.equal(add(1, 2), 3)"),
            ("import { fill } from './calc.js'", "const seen = []; fill(seen); assert.deepEqual(seen, [1])"),
            (
                "import { Stack } from './calc.js'\nlet s\nbeforeEach(() => { s = new Stack() })",
                "assert.equal(s.size, 0)",
            ),
            ("import { run } from './calc.js'", "const f = vi.fn(); run(f); expect(f).toHaveBeenCalled()"),
            (
                "import { lines } from './calc.js'",
                "const found = []; for await (const a of lines()) found.push(a); assert.deepEqual(found, [1])",
            ),
            (
                "import { greet } from './calc.js'",
                "const log = t.mock.method(console, 'log'); greet(); assert.deepEqual(log.mock.calls[0].arguments, ['x'])",
            ),
            ("import { read } from './calc.js'", "read((error, text) => { assert.equal(text, 'x') })"),
            ("import { main } from './calc.js'", "main(); expect(document.title).toBe('x')"),
            ("import { add } from './calc.js'\nfunction sums(a) { assert.equal(add(a), a) }", "sums(1)"),
            ("", "const { add } = await import('./calc.js'); assert.equal(add(1, 2), 3)"),
            ("import { parse } from './calc.js'", "assert.throws(() => parse('x'))"),
            ("import { parse } from './calc.js'", "try { parse('x'); assert.fail() } catch {}"),
        ] {
            assert!(asks(around, body), "{around}\n{body}");
        }
    }

    #[test]
    fn an_assertion_about_the_tests_own_things_does_not() {
        for (around, body) in [
            ("import { add } from './calc.js'", "assert.ok(true)"),
            ("import { add } from './calc.js'", "add(1, 2); assert.equal(1 + 1, 2)"),
            ("import fs from 'node:fs'", "assert.ok(fs.existsSync('.'))"),
            ("import { add } from './calc.js'", "const add = () => 3; assert.equal(add(1, 2), 3)"),
            ("import { add } from './calc.js'", "const t2 = 1; expect(t2).toBe(1)"),
            ("import { add } from './calc.js'", "const f = vi.fn(() => 3); add(1, 2); expect(f()).toBe(3)"),
        ] {
            assert!(!asks(around, body), "{around}\n{body}");
        }
    }
}
