//! Recognises the calls that define a test or a group of tests, by any local name.

use std::collections::BTreeMap;

use super::syntax::Tree;

/// Modules that define tests.
pub(super) const TEST_MODULES: [&str; 4] = ["node:test", "vitest", "@jest/globals", "bun:test"];

/// What the functions of those modules define, by their original names.
const KNOWN: [(&str, Kind, Option<&str>); 14] = [
    ("test", Kind::Test, None),
    ("it", Kind::Test, None),
    ("specify", Kind::Test, None),
    ("describe", Kind::Group, None),
    ("suite", Kind::Group, None),
    ("context", Kind::Group, None),
    ("xit", Kind::Test, Some("skip")),
    ("xtest", Kind::Test, Some("skip")),
    ("xdescribe", Kind::Group, Some("skip")),
    ("fit", Kind::Test, Some("only")),
    ("ftest", Kind::Test, Some("only")),
    ("fdescribe", Kind::Group, Some("only")),
    ("benchmark", Kind::Group, Some("skip")),
    ("bench", Kind::Group, Some("skip")),
];

/// What a call defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Test,
    Group,
}

/// A call that defines a test or a group of tests.
#[derive(Clone, Debug)]
pub(super) struct TestCall {
    pub kind: Kind,
    /// The outermost call.
    pub call: usize,
    /// The function called, without modifiers: `test`, or `nt.test`.
    pub base: usize,
    /// `skip`, `only`, `each` and the like, in order.
    pub modifiers: Vec<String>,
    pub title: usize,
    /// The function passed as the body.
    pub body: Option<usize>,
}

impl TestCall {
    /// Whether it has this modifier.
    pub fn is(&self, modifier: &str) -> bool {
        self.modifiers.iter().any(|known| known == modifier)
    }
}

/// A file's local names for the functions that define tests.
#[derive(Debug, Default)]
pub(super) struct TestFunctions<'s> {
    own: BTreeMap<&'s str, (Kind, Option<&'static str>)>,
    spaces: Vec<&'s str>,
    /// Functions extended with fixtures.
    extended: Vec<&'s str>,
}

impl<'s> TestFunctions<'s> {
    /// For this file.
    pub fn of(tree: &Tree<'s>) -> Self {
        let mut test_functions = Self::default();
        for node in 0..tree.len() {
            match tree.kind(node) {
                "import_statement" => test_functions.import(tree, node),
                "variable_declarator" => test_functions.declared(tree, node),
                _ => {}
            }
        }
        test_functions
    }

    fn import(&mut self, tree: &Tree<'s>, statement: usize) {
        let module = tree.child(statement, "source").map(|source| unquoted(tree.text(source)));
        if !module.is_some_and(|module| TEST_MODULES.contains(&module)) {
            return;
        }
        for node in tree.subtree(statement) {
            match tree.kind(node) {
                "import_specifier" => {
                    let name = tree.child(node, "name").map_or("", |name| tree.text(name));
                    let local = tree.child(node, "alias").map_or(name, |alias| tree.text(alias));
                    self.learn(local, name);
                }
                "namespace_import" => self.spaces.extend(tree.names(node)),
                "identifier" if tree.kind(tree.parent(node)) == "import_clause" => self.learn(tree.text(node), "test"),
                _ => {}
            }
        }
    }

    /// `const test = require('node:test')`, `const { test } = …`, `const mine = test.extend({ … })`.
    fn declared(&mut self, tree: &Tree<'s>, declarator: usize) {
        let (Some(name), Some(value)) = (tree.child(declarator, "name"), tree.child(declarator, "value")) else {
            return;
        };
        if required(tree, value).is_some_and(|module| TEST_MODULES.contains(&module)) {
            if let Some(property) = tree.child(value, "property") {
                self.learn(tree.text(name), tree.text(property));
            } else if tree.kind(name) == "identifier" {
                self.learn(tree.text(name), "test");
                self.spaces.push(tree.text(name));
            }
            for part in tree.parts(name) {
                match tree.kind(part) {
                    "shorthand_property_identifier_pattern" => self.learn(tree.text(part), tree.text(part)),
                    "pair_pattern" => {
                        let text = |field| tree.child(part, field).map_or("", |node| tree.text(node));
                        self.learn(text("value"), text("key"));
                    }
                    _ => {}
                }
            }
        } else if tree.kind(value) == "call_expression"
            && let Some(function) = tree.child(value, "function")
            && let (Some(object), Some(property)) = (tree.child(function, "object"), tree.child(function, "property"))
            && tree.text(property) == "extend"
            && let Some((Kind::Test, _)) = self.known(tree.text(object))
        {
            self.learn(tree.text(name), "test");
            self.extended.push(tree.text(name));
        }
    }

    /// Whether a test function passes the project's own fixtures to its tests.
    pub fn is_extended(&self, name: &str) -> bool {
        self.extended.contains(&name)
    }

    fn learn(&mut self, local: &'s str, name: &str) {
        if let Some((_, kind, modifier)) = KNOWN.iter().find(|(known, _, _)| *known == name) {
            self.own.insert(local, (*kind, *modifier));
        }
    }

    /// Looks up a name. Runners can make their functions global, so the original names are always known.
    fn known(&self, name: &str) -> Option<(Kind, Option<&'static str>)> {
        let global = || KNOWN.iter().find(|(known, _, _)| *known == name).map(|(_, kind, mark)| (*kind, *mark));
        self.own.get(name).copied().or_else(global)
    }

    /// What a node defines, if it is such a call.
    pub fn test_call(&self, tree: &Tree<'s>, call: usize) -> Option<TestCall> {
        if tree.kind(call) != "call_expression" || is_called(tree, call) {
            return None;
        }
        let mut modifiers = Vec::new();
        let mut at = tree.child(call, "function")?;
        let (base, kind) = loop {
            match tree.kind(at) {
                "identifier" => {
                    let (kind, mark) = self.known(tree.text(at))?;
                    modifiers.extend(mark.map(str::to_owned));
                    break (at, kind);
                }
                "member_expression" => {
                    let (object, property) = (tree.child(at, "object")?, tree.text(tree.child(at, "property")?));
                    let is_space = tree.kind(object) == "identifier" && self.spaces.contains(&tree.text(object));
                    let known = KNOWN.iter().find(|(known, _, _)| *known == property).filter(|_| is_space);
                    if let Some((_, kind, mark)) = known {
                        modifiers.extend(mark.map(str::to_owned));
                        break (at, *kind);
                    }
                    modifiers.push(property.to_owned());
                    at = object;
                }
                "call_expression" => at = tree.child(at, "function")?,
                _ => return None,
            }
        };
        modifiers.reverse();
        let arguments = tree.arguments(call);
        let title = *arguments.first()?;
        let body = arguments.iter().rev().copied().find(|argument| tree.is_function(*argument));
        // `test.extend({ … })` and hooks define no test.
        let is_title = tree.kind(title) != "object" && tree.kind(title) != "array";
        let is_other = modifiers.iter().any(|modifier| matches!(modifier.as_str(), "extend" | "before" | "after"));
        let is_hook = modifiers.iter().any(|modifier| modifier.ends_with("Each") || modifier.ends_with("All"));
        let needs_body = kind == Kind::Group || tree.is_function(title);
        (is_title && !is_other && !is_hook && (body.is_some() || !needs_body)).then_some(TestCall {
            kind,
            call,
            base,
            modifiers,
            title,
            body,
        })
    }
}

/// Whether a call is itself called: `test.each(rows)` in `test.each(rows)('…')`.
fn is_called(tree: &Tree<'_>, call: usize) -> bool {
    let mut at = call;
    while tree.field(at) == Some("object") && tree.kind(tree.parent(at)) == "member_expression" {
        at = tree.parent(at);
    }
    tree.field(at) == Some("function") && tree.kind(tree.parent(at)) == "call_expression"
}

/// The module that an expression requires.
pub(super) fn required<'s>(tree: &Tree<'s>, node: usize) -> Option<&'s str> {
    let call = tree.subtree(node).find(|inner| tree.kind(*inner) == "call_expression")?;
    let function = tree.child(call, "function")?;
    let is_import = matches!(tree.text(function), "require" | "import");
    let module = tree.arguments(call).into_iter().next().filter(|argument| tree.kind(*argument) == "string")?;
    is_import.then(|| unquoted(tree.text(module)))
}

/// A text without its quotes.
pub(super) fn unquoted(text: &str) -> &str {
    text.get(1..text.len().saturating_sub(1)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test_calls(source: &str) -> Vec<String> {
        let tree = Tree::parse("a.test.js", source).unwrap();
        let test_functions = TestFunctions::of(&tree);
        let found = (0..tree.len()).filter_map(|node| test_functions.test_call(&tree, node));
        found.map(|it| format!("{:?} {} {}", it.kind, tree.text(it.title), it.modifiers.join(","))).collect()
    }

    #[test]
    fn a_test_is_known_by_whatever_name_the_file_gives_it() {
        for source in [
            "test('a', () => {})",
            "import check from 'node:test'\ncheck('a', () => {})",
            "import { it as check } from 'vitest'\ncheck('a', () => {})",
            "import * as nt from 'node:test'\nnt.test('a', () => {})",
            "const test = require('node:test')\ntest('a', () => {})",
            "const { it } = require('node:test')\nit('a', function () {})",
            "const nt = require('node:test')\nnt.it('a', () => {})",
            "import { test as base } from 'vitest'\nconst test = base.extend({ x: 1 })\ntest('a', ({ x }) => {})",
        ] {
            assert_eq!(test_calls(source), ["Test 'a' "], "{source}");
        }
        assert!(test_calls("/a/.test('a'); test.extend({}); regex.test('a', () => {})").is_empty());
    }

    #[test]
    fn modifiers_and_tables_belong_to_their_test() {
        assert_eq!(test_calls("test.skip('a', () => {})"), ["Test 'a' skip"]);
        assert_eq!(test_calls("test.each([[1]])('a %i', (a) => {})"), ["Test 'a %i' each"]);
        assert_eq!(test_calls("test.each`a\n${1}`('a', ({ a }) => {})"), ["Test 'a' each"]);
        assert_eq!(test_calls("test.skipIf(x).concurrent('a', () => {})"), ["Test 'a' skipIf,concurrent"]);
        assert_eq!(test_calls("xit('a', () => {})\nfdescribe('b', () => {})"), ["Test 'a' skip", "Group 'b' only"]);
        assert_eq!(test_calls("it.todo('a')"), ["Test 'a' todo"]);
    }
}
