//! Lists the items of a Rust file that are not tests, each with a digest of its own tokens.

use std::collections::BTreeSet;
use std::ops::Range;

use tdd_core::digest::Digest;

use crate::item::Items;
use crate::rust::comment;
use crate::rust::syntax::{Tree, unix};

use super::{example, uses};

/// An item that is not a test. Of a module, an `impl` or a trait, only the part before its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::rust) struct Piece {
    /// It exists only for tests.
    pub for_tests: bool,
    /// It holds a table of one test, and belongs to that test.
    pub of_test: bool,
    /// Identifies the inline modules and the `impl` or trait around it.
    pub scope: Digest,
    /// A description for people: "fn `add`".
    pub label: String,
    /// The name by which it is used; for a member of an `impl`, the type's name.
    pub name: String,
    /// It is in a trait's `impl`; the trait may call it without naming it.
    pub of_trait: bool,
    pub line: usize,
    pub digest: Digest,
    pub span: Range<usize>,
}

/// The items of a file. `tables` are the items that belong to a test; with `for_tests`, every item is test code.
pub(super) fn pieces(tree: &Tree<'_>, items: &Items, tables: Vec<Range<usize>>, for_tests: bool) -> Vec<Piece> {
    let tests = items.tests.iter().map(|test| test.span.start).collect();
    let file = Scope { past: tree.len(), place: Digest::zero(), owner: None, of_trait: false };
    let mut taker = Taker { tree, items, for_tests, tests, tables, scopes: vec![file], lead: None, found: Vec::new() };
    taker.run();
    taker.found
}

struct Scope {
    past: usize,
    /// Identifies this scope and those around it, as a digest of fixed length.
    place: Digest,
    /// The type of the `impl`, or the trait.
    owner: Option<String>,
    of_trait: bool,
}

struct Taker<'t, 's> {
    tree: &'t Tree<'s>,
    items: &'t Items,
    for_tests: bool,
    /// The start of each test.
    tests: BTreeSet<usize>,
    /// Items that belong to a test.
    tables: Vec<Range<usize>>,
    scopes: Vec<Scope>,
    /// The first attribute or doc comment before the next item.
    lead: Option<usize>,
    found: Vec<Piece>,
}

impl Taker<'_, '_> {
    fn run(&mut self) {
        let mut node = 1;
        while node < self.tree.len() {
            while self.scope().past <= node && self.scopes.len() > 1 {
                self.scopes.pop();
            }
            node = self.visit(node);
        }
    }

    fn visit(&mut self, node: usize) -> usize {
        let past = self.tree.subtree_end(node);
        match self.tree.kind(node) {
            "line_comment" | "block_comment" => self.comment(node),
            "attribute_item" => drop(self.lead.get_or_insert(node)),
            "inner_attribute_item" => self.inner_attribute(node),
            "{" | "}" | ";" | "empty_statement" | "visibility_modifier" => {}
            "expression_statement" => return node + 1,
            "mod_item" | "impl_item" | "trait_item" => {
                if let Some(body) = self.tree.child(node, "body") {
                    return self.open(node, body);
                }
                self.item(node);
            }
            "use_declaration" => self.import(node),
            _ => self.item(node),
        }
        past
    }

    /// An outer doc comment belongs to the next item; an inner one is searched for examples at once.
    fn comment(&mut self, node: usize) {
        let text = self.tree.text(node);
        if comment::is_outer_doc(text) {
            self.lead.get_or_insert(node);
        } else if text.starts_with("//!") || text.starts_with("/*!") {
            let before = self.tree.text(node.saturating_sub(1));
            if !before.starts_with("//!") {
                self.inner_documentation(node);
            }
        }
    }

    fn inner_documentation(&mut self, first: usize) {
        let comments = self.tree.siblings(first, self.scope().past).take_while(|node| {
            let text = self.tree.text(*node);
            text.starts_with("//!") || text.starts_with("/*!")
        });
        let comments: Vec<usize> = comments.collect();
        self.examples(first, &comments, "the module");
    }

    fn inner_attribute(&mut self, node: usize) {
        let path = self.tree.tokens(node..self.tree.subtree_end(node)).nth(3);
        let name = path.map_or("", |path| self.tree.text(path)).to_owned();
        self.add(node..self.tree.subtree_end(node), node, format!("attribute `{name}`"), String::new());
    }

    /// Adds the part before the body as an item, and enters the body.
    fn open(&mut self, node: usize, body: usize) -> usize {
        let first = self.lead.take().unwrap_or(node);
        let (label, name) = self.naming(node);
        self.documentation(first, node..node, &label);
        self.add(first..body, node, label, name.clone());
        let place = Digest::of(format!("{} {}", self.scope().place, self.header(node, body)));
        let owner = (self.tree.kind(node) != "mod_item").then_some(name);
        let of_trait = self.tree.child(node, "trait").is_some();
        self.scopes.push(Scope { past: self.tree.subtree_end(body), place, owner, of_trait });
        body + 1
    }

    fn item(&mut self, node: usize) {
        let first = self.lead.take().unwrap_or(node);
        if self.tests.contains(&self.tree.range(first).start) {
            return;
        }
        let nodes = first..self.tree.subtree_end(node);
        let (label, name) = self.naming(node);
        self.documentation(first, node..nodes.end, &label);
        if self.tree.kind(node) == "macro_invocation" {
            self.macro_call(nodes, node, label, name);
        } else {
            self.add(nodes, node, label, name);
        }
    }

    /// Adds a macro call. If its arguments contain tests, it is test code, and the tests are not part of it.
    fn macro_call(&mut self, nodes: Range<usize>, node: usize, label: String, name: String) {
        let span = self.span(&nodes);
        let tests = &self.items.tests;
        let first = tests.partition_point(|test| test.span.start < span.start);
        let past = tests.partition_point(|test| test.span.start < span.end).max(first);
        let outside = |node: &usize| {
            let at = self.tree.range(*node).start;
            let before = tests[first..past].partition_point(|test| test.span.start <= at);
            before == 0 || !tests[first + before - 1].span.contains(&at)
        };
        let tokens = self.tree.tokens(nodes.clone()).filter(outside);
        let digest = Digest::of(tokens.map(|node| unix(self.tree.text(node))).collect::<Vec<_>>().join("\n"));
        let holds_tests = first < past;
        self.add(nodes, node, label, name);
        if let Some(piece) = self.found.last_mut() {
            piece.digest = digest;
            piece.for_tests |= holds_tests;
        }
    }

    /// Adds an item for every name that a `use` imports.
    fn import(&mut self, node: usize) {
        let first = self.lead.take().unwrap_or(node);
        let nodes = first..self.tree.subtree_end(node);
        let tokens: Vec<&str> = self.tree.tokens(nodes.clone()).map(|node| self.tree.text(node)).collect();
        let at = tokens.iter().position(|token| *token == "use").unwrap_or(0);
        let digest = Digest::of(tokens[..at].join("\n"));
        for leaf in uses::leaves(tokens[at + 1..].iter().copied()) {
            self.add(nodes.clone(), node, format!("use `{leaf}`"), uses::name(&leaf).to_owned());
            if let Some(piece) = self.found.last_mut() {
                piece.digest = digest;
            }
        }
    }

    fn add(&mut self, nodes: Range<usize>, node: usize, label: String, name: String) {
        let span = self.span(&nodes);
        let name = self.scope().owner.clone().unwrap_or(name);
        let for_tests = self.is_for_tests(span.start);
        // Test items may change their visibility when they move, so it is not part of the digest.
        let is_visibility = for_tests && node + 1 < nodes.end && self.tree.kind(node + 1) == "visibility_modifier";
        let left_out = if is_visibility { node + 1..self.tree.subtree_end(node + 1) } else { nodes.end..nodes.end };
        self.found.push(Piece {
            for_tests,
            of_test: self.tables.contains(&self.tree.range(node)),
            scope: self.scope().place,
            label,
            name,
            of_trait: self.scope().of_trait,
            line: self.tree.line(node),
            digest: self.tree.digest_without(nodes, &[left_out]),
            span,
        });
    }

    /// Adds the examples in an item's documentation as test support, because rustdoc runs them.
    fn documentation(&mut self, first: usize, inside: Range<usize>, label: &str) {
        let is_doc = |node: &usize| self.tree.is_comment(*node) && comment::is_outer_doc(self.tree.text(*node));
        let comments: Vec<usize> = (first..inside.end.max(inside.start)).filter(is_doc).collect();
        self.examples(first, &comments, label);
    }

    fn examples(&mut self, first: usize, comments: &[usize], label: &str) {
        let span = self.tree.range(first);
        if comments.is_empty() || self.is_for_tests(span.start) {
            return;
        }
        let lines = comments.iter().flat_map(|node| example::lines(self.tree.text(*node)));
        for example in example::examples(lines) {
            self.found.push(Piece {
                for_tests: true,
                of_test: false,
                scope: self.scope().place,
                label: format!("an example of {label}"),
                name: String::new(),
                of_trait: false,
                line: self.tree.line(first),
                digest: Digest::of(example),
                span: span.start..span.start,
            });
        }
    }

    fn is_for_tests(&self, at: usize) -> bool {
        let ranges = &self.items.test_ranges;
        let before = ranges.partition_point(|range| range.start <= at);
        self.for_tests || (before > 0 && ranges[before - 1].contains(&at))
    }

    /// An item's description for people, and the name by which it is used.
    fn naming(&self, node: usize) -> (String, String) {
        let tree = self.tree;
        let named = |field| tree.child(node, field).map_or("", |name| tree.text(name)).to_owned();
        let (word, name) = match tree.kind(node) {
            "function_item" | "function_signature_item" => ("fn", named("name")),
            "struct_item" => ("struct", named("name")),
            "enum_item" => ("enum", named("name")),
            "union_item" => ("union", named("name")),
            "trait_item" => ("trait", named("name")),
            "type_item" | "associated_type" => ("type", named("name")),
            "const_item" => ("const", named("name")),
            "static_item" => ("static", named("name")),
            "mod_item" => ("mod", named("name")),
            "macro_definition" => ("macro", named("name")),
            "extern_crate_declaration" => ("extern crate", named("name")),
            "foreign_mod_item" => ("extern block", String::new()),
            "macro_invocation" => ("call of macro", named("macro")),
            "impl_item" => return self.naming_of_impl(node),
            _ => ("code", String::new()),
        };
        let owner = self.scope().owner.as_ref().map(|owner| format!("{owner}::")).unwrap_or_default();
        let label = if name.is_empty() { word.to_owned() } else { format!("{word} `{owner}{name}`") };
        (label, name)
    }

    fn naming_of_impl(&self, node: usize) -> (String, String) {
        let part = |field| self.tree.child(node, field);
        let tokens = |node: usize| {
            let tokens = self.tree.tokens(node..self.tree.subtree_end(node));
            tokens.map(|node| self.tree.text(node)).collect::<String>()
        };
        let written = part("type").map(tokens).unwrap_or_default();
        let name = written.split('<').next().unwrap_or_default().rsplit("::").next().unwrap_or_default().to_owned();
        match part("trait").map(tokens) {
            Some(implemented) => (format!("impl `{implemented} for {written}`"), name),
            None => (format!("impl `{written}`"), name),
        }
    }

    /// The tokens before the body, which identify the block.
    fn header(&self, node: usize, body: usize) -> String {
        if self.tree.kind(node) == "mod_item" {
            return self.naming(node).0;
        }
        let tokens = self.tree.tokens(node..body).filter(|node| !self.tree.is_style(*node));
        tokens.map(|node| self.tree.text(node)).collect::<Vec<_>>().join(" ")
    }

    fn span(&self, nodes: &Range<usize>) -> Range<usize> {
        let start = self.tree.range(nodes.start).start;
        start..self.tree.tokens(nodes.clone()).last().map_or(start, |last| self.tree.range(last).end)
    }

    fn scope(&self) -> &Scope {
        &self.scopes[self.scopes.len() - 1]
    }
}
