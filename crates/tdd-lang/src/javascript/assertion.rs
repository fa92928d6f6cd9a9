//! Finds the assertions in a file: calls of `assert` and the like, and expectations.

use std::collections::BTreeMap;
use std::ops::Range;

use super::call::{required, unquoted};
use super::syntax::Tree;

/// Modules whose functions assert.
const ASSERTING: [&str; 5] = ["assert", "node:assert", "assert/strict", "node:assert/strict", "chai"];

/// Functions that begin an expectation.
const EXPECTING: [&str; 4] = ["expect", "expectTypeOf", "assertType", "should"];

/// Functions that exchange what belongs to their first argument.
const PATCHING: [&str; 6] =
    ["Object.assign", "Object.defineProperty", "Object.defineProperties", "Reflect.set", "mock.method", ".spyOn"];

/// The names by which a file asserts.
#[derive(Debug, Default)]
pub(super) struct Asserting<'s> {
    /// Local names of `assert` itself.
    modules: Vec<&'s str>,
    /// Single functions of `assert`: original names by local name.
    functions: BTreeMap<&'s str, &'s str>,
}

impl<'s> Asserting<'s> {
    /// For this file.
    pub fn of(tree: &Tree<'s>) -> Self {
        let mut found = Self { modules: vec!["assert"], functions: BTreeMap::new() };
        for node in 0..tree.len() {
            match tree.kind(node) {
                "import_statement" => {
                    let module = tree.child(node, "source").map_or("", |source| unquoted(tree.text(source)));
                    if ASSERTING.contains(&module) {
                        found.import(tree, node);
                    }
                }
                "variable_declarator" => found.declared(tree, node),
                _ => {}
            }
        }
        found
    }

    /// Whether code in this file exchanges the assertions that it uses.
    pub fn is_patched(&self, tree: &Tree<'_>) -> bool {
        let is_ours = |name: &str| self.modules.contains(&name) || EXPECTING.contains(&name);
        (1..tree.len()).any(|node| match tree.kind(node) {
            "assignment_expression" => {
                let object = tree.child(node, "left").and_then(|left| tree.child(left, "object"));
                object.is_some_and(|object| is_ours(tree.text(object)))
            }
            "call_expression" => {
                let function = tree.child(node, "function").map_or("", |function| tree.text(function));
                let first = tree.child(node, "arguments").and_then(|arguments| tree.parts(arguments).next());
                PATCHING.iter().any(|name| function.ends_with(name))
                    && first.is_some_and(|first| is_ours(tree.text(first)))
            }
            _ => false,
        })
    }

    fn import(&mut self, tree: &Tree<'s>, statement: usize) {
        for node in tree.subtree(statement) {
            match tree.kind(node) {
                "import_specifier" => {
                    let name = tree.child(node, "name").map_or("", |name| tree.text(name));
                    self.learn(tree.child(node, "alias").map_or(name, |alias| tree.text(alias)), name);
                }
                "namespace_import" => self.modules.extend(tree.names(node)),
                "identifier" if tree.kind(tree.parent(node)) == "import_clause" => self.modules.push(tree.text(node)),
                _ => {}
            }
        }
    }

    fn declared(&mut self, tree: &Tree<'s>, declarator: usize) {
        let (Some(name), Some(value)) = (tree.child(declarator, "name"), tree.child(declarator, "value")) else {
            return;
        };
        if !required(tree, value).is_some_and(|module| ASSERTING.contains(&module)) {
            return;
        }
        if tree.kind(name) == "identifier" {
            self.modules.push(tree.text(name));
        }
        for part in tree.parts(name) {
            let text = |field| tree.child(part, field).map_or("", |node| tree.text(node));
            match tree.kind(part) {
                "shorthand_property_identifier_pattern" => self.learn(tree.text(part), tree.text(part)),
                "pair_pattern" => self.learn(text("value"), text("key")),
                _ => {}
            }
        }
    }

    fn learn(&mut self, local: &'s str, name: &'s str) {
        if matches!(name, "strict" | "assert" | "default") {
            self.modules.push(local);
        } else if name != "AssertionError" && !EXPECTING.contains(&name) {
            self.functions.insert(local, name);
        }
    }

    /// The function of `assert` that a call uses: `equal`, or `ok` for `assert` itself.
    pub fn function(&self, tree: &Tree<'s>, call: usize) -> Option<&'s str> {
        let function = tree.child(call, "function").filter(|_| tree.kind(call) == "call_expression")?;
        let text = tree.text(function);
        if let Some(name) = self.functions.get(text) {
            return Some(name);
        }
        if self.modules.contains(&text) {
            return Some("ok");
        }
        let (object, property) = (tree.child(function, "object")?, tree.child(function, "property")?);
        let object = tree.text(object);
        let object = object.strip_suffix(".strict").unwrap_or(object);
        let is_assert = self.modules.contains(&object) || object.ends_with(".assert");
        (is_assert && tree.text(property) != "AssertionError").then(|| tree.text(property))
    }

    /// The asserting function, for people.
    pub fn kind(&self, tree: &Tree<'s>, node: usize) -> String {
        match self.function(tree, node) {
            Some(_) => tree.child(node, "function").map_or("", |function| tree.text(function)).to_owned(),
            None => "expect".to_owned(),
        }
    }

    /// The assertion that begins at this node, if any: for an expectation, the whole chain.
    fn begun(&self, tree: &Tree<'s>, node: usize) -> Option<usize> {
        if tree.kind(node) != "call_expression" {
            return None;
        }
        if self.function(tree, node).is_some() {
            return Some(node);
        }
        let function = tree.child(node, "function")?;
        let text = tree.text(function);
        if matches!(text, "expect.fail" | "expect.unreachable") {
            return Some(node);
        }
        let is_expect = EXPECTING.contains(&text) || matches!(text, "expect.soft" | "expect.poll");
        let chain = std::iter::successors(Some(node), |at| {
            let outer = tree.parent(*at);
            match (tree.kind(outer), tree.field(*at)) {
                ("member_expression", Some("object")) | ("call_expression", Some("function")) => Some(outer),
                _ => None,
            }
        });
        chain.last().filter(|last| is_expect && *last != node)
    }
}

/// The assertions among these nodes, in order.
pub(super) fn assertions(tree: &Tree<'_>, asserting: &Asserting<'_>, nodes: Range<usize>) -> Vec<usize> {
    let mut found: Vec<usize> = nodes.filter_map(|node| asserting.begun(tree, node)).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// The parts of an expectation.
pub(super) struct Expectation {
    /// The call of `expect`.
    pub expect: usize,
    /// `.not`, `.rejects` and the like, in order.
    pub words: Vec<String>,
    /// The node of the matcher's name.
    pub matcher: usize,
    /// The matcher's call, if it is called.
    pub call: Option<usize>,
}

/// Splits an expectation into its parts.
pub(super) fn expectation(tree: &Tree<'_>, node: usize) -> Option<Expectation> {
    let (call, mut at) = match tree.kind(node) {
        "call_expression" => (Some(node), tree.child(node, "function")?),
        _ => (None, node),
    };
    let matcher = tree.child(at, "property")?;
    let mut words = Vec::new();
    loop {
        at = tree.child(at, "object")?;
        match tree.kind(at) {
            "member_expression" => words.push(tree.text(tree.child(at, "property")?).to_owned()),
            "call_expression" => break,
            _ => return None,
        }
    }
    words.reverse();
    let function = tree.text(tree.child(at, "function")?);
    let is_expect = EXPECTING.contains(&function) || function.starts_with("expect.");
    is_expect.then_some(Expectation { expect: at, words, matcher, call })
}
