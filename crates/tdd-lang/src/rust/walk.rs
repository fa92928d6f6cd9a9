//! Walks over a Rust file and collects its items.

use std::ops::Range;

use tdd_core::change::Mark;
use tdd_core::digest::Digest;

use crate::item::{Items, ModuleItem, TestItem};

use super::assertion::{assertions, of_attribute};
use super::attribute::{Attribute, Truth};
use super::comment;
use super::syntax::Tree;
use super::tables::tables;
use super::word;

/// The most lines between an annotation and its test.
const REACH: usize = 3;

/// A walk over the places where items can be, in text order.
pub(super) struct Walk<'t, 's> {
    tree: &'t Tree<'s>,
    scopes: Vec<Scope>,
    lead: Lead,
    /// The lines and slugs of annotations not yet assigned to a test.
    annotations: Vec<(usize, String)>,
    items: Items,
}

/// Something that contains items: the file, a module, a macro's arguments.
#[derive(Clone, Debug, Default)]
struct Scope {
    nodes: Range<usize>,
    /// The module's name, and its `#[path]`.
    module: Option<(String, Option<String>)>,
    bound: Bound,
    content: Content,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Content {
    /// Parsed items.
    #[default]
    Items,
    /// Tokens in a macro's arguments.
    Tokens { every_function_is_a_test: bool },
}

/// The conditions under which something is compiled.
#[derive(Clone, Debug, Default)]
struct Bound {
    /// Conditions that may not hold in a test build.
    cfg: Vec<String>,
    /// A condition that never holds.
    never: Option<String>,
    test_only: bool,
}

/// The attributes and doc comments before an item.
#[derive(Default)]
struct Lead {
    first: Option<usize>,
    attributes: Vec<(Range<usize>, Attribute)>,
}

/// A function in the file.
struct Function {
    /// From `fn`, or the node that contains it, to its body.
    nodes: Range<usize>,
    name: usize,
    returns: bool,
}

impl<'t, 's> Walk<'t, 's> {
    /// Starts at the beginning of the file.
    pub fn new(tree: &'t Tree<'s>) -> Self {
        let file = Scope { nodes: 0..tree.len(), ..Scope::default() };
        Self { tree, scopes: vec![file], lead: Lead::default(), annotations: Vec::new(), items: Items::default() }
    }

    /// Collects all items.
    pub fn run(mut self) -> Items {
        let mut node = 1;
        while node < self.tree.len() {
            while self.scope().nodes.end <= node && self.scopes.len() > 1 {
                self.scopes.pop();
            }
            node = match self.scope().content {
                Content::Items => self.visit(node),
                Content::Tokens { .. } => self.visit_token(node),
            };
        }
        self.items
    }

    /// Visits a node; returns the next node to visit.
    fn visit(&mut self, node: usize) -> usize {
        match self.tree.kind(node) {
            "line_comment" | "block_comment" => self.comment(node),
            "attribute_item" => self.attribute(node..self.tree.subtree_end(node)),
            "inner_attribute_item" => self.inner_attribute(node),
            "mod_item" => return self.module_item(node),
            "impl_item" | "trait_item" => return self.body(node),
            "function_item" => self.function_item(node),
            "macro_invocation" => return self.macro_invocation(node),
            "expression_statement" | "ERROR" => return node + 1,
            _ => self.other(node),
        }
        self.tree.subtree_end(node)
    }

    fn visit_token(&mut self, node: usize) -> usize {
        let mut following = self.tree.siblings(self.tree.subtree_end(node), self.scope().nodes.end);
        let (next, after) = (following.next(), following.next());
        drop(following);
        let kind = |node: Option<usize>| node.map_or("", |node| self.tree.kind(node));
        match (self.tree.kind(node), kind(next), kind(after)) {
            ("line_comment" | "block_comment", ..) => self.comment(node),
            ("#", "token_tree", _) => return self.token_attribute(node, next.unwrap_or(node)),
            ("fn", "identifier", _) => return self.token_function(node, next.unwrap_or(node)),
            ("mod", "identifier", ";" | "token_tree") => {
                return self.token_module(node, next.unwrap_or(node), after.unwrap_or(node));
            }
            ("token_tree", ..) if self.is_block(node) => return self.enter(node, None),
            (";", ..) => drop(self.lead.take()),
            _ => {}
        }
        self.tree.subtree_end(node)
    }

    fn comment(&mut self, node: usize) {
        let text = self.tree.text(node);
        if comment::is_outer_doc(text) {
            self.lead.first.get_or_insert(node);
        }
        let line = self.tree.line(node);
        self.annotations.extend(comment::annotations(text).map(|(below, slug)| (line + below, slug)));
    }

    /// Records `#[…]`. The text between the brackets begins with the fourth node, inside and outside macro arguments.
    fn attribute(&mut self, nodes: Range<usize>) {
        self.lead.first.get_or_insert(nodes.start);
        let inner = nodes.start + 3..nodes.end - 1;
        let read = read(self.tree, inner).into_iter().map(|attribute| (nodes.clone(), attribute));
        self.lead.attributes.extend(read);
    }

    /// `#![cfg(…)]` applies to the enclosing scope.
    fn inner_attribute(&mut self, node: usize) {
        let attributes = read(self.tree, node + 4..self.tree.subtree_end(node) - 1);
        let bound = Bound::of(&attributes);
        let was_test_only = self.scope().bound.test_only;
        if bound.test_only && !was_test_only {
            let range = self.tree.range(self.scope().nodes.start);
            self.items.test_ranges.push(range);
        }
        if let Some(scope) = self.scopes.last_mut() {
            scope.bound = std::mem::take(&mut scope.bound).and(bound);
        }
    }

    fn module_item(&mut self, node: usize) -> usize {
        let Some(name) = self.tree.child(node, "name").map(|name| self.tree.text(name)) else { return node + 1 };
        let Some(body) = self.tree.child(node, "body") else {
            self.declare(node..self.tree.subtree_end(node), name);
            return self.tree.subtree_end(node);
        };
        self.open(node, body, Some(name))
    }

    /// Enters the body of an `impl` or a `trait`.
    fn body(&mut self, node: usize) -> usize {
        match self.tree.child(node, "body") {
            Some(body) => self.open(node, body, None),
            None => self.tree.subtree_end(node),
        }
    }

    fn macro_invocation(&mut self, node: usize) -> usize {
        let Some(arguments) = self.tree.children(node).find(|child| self.tree.kind(*child) == "token_tree") else {
            return self.tree.subtree_end(node);
        };
        let name = self.tree.child(node, "macro").map_or("", |name| self.tree.text(name));
        let every_function_is_a_test = name.rsplit("::").next() == Some("quickcheck");
        let next = self.open(node, arguments, None);
        if let Some(scope) = self.scopes.last_mut() {
            scope.content = Content::Tokens { every_function_is_a_test };
        }
        next
    }

    fn other(&mut self, node: usize) {
        let lead = self.lead.take();
        self.mark(&lead, node..self.tree.subtree_end(node));
    }

    fn function_item(&mut self, node: usize) {
        let Some(name) = self.tree.child(node, "name") else { return self.other(node) };
        let returned = self.tree.child(node, "return_type").map_or("()", |returned| self.tree.text(returned));
        let returns = !matches!(returned, "()" | "!");
        self.function(Function { nodes: node..self.tree.subtree_end(node), name, returns });
    }

    fn token_attribute(&mut self, node: usize, brackets: usize) -> usize {
        let past = self.tree.subtree_end(brackets);
        if self.tree.text(brackets).starts_with('[') {
            self.attribute(node..past);
        }
        past
    }

    fn token_function(&mut self, node: usize, name: usize) -> usize {
        let rest: Vec<usize> = self
            .tree
            .siblings(self.tree.subtree_end(name), self.scope().nodes.end)
            .take_while(|node| self.tree.kind(*node) != ";")
            .collect();
        let Some(body) = rest.iter().position(|node| self.is_block(*node)) else {
            self.lead.take();
            return self.tree.subtree_end(name);
        };
        let returned = rest[..body].iter().skip_while(|node| self.tree.kind(**node) != "->").nth(1);
        let returns = returned.is_some_and(|node| !matches!(self.tree.text(*node), "()" | "!"));
        let past = self.tree.subtree_end(rest[body]);
        self.function(Function { nodes: node..past, name, returns });
        past
    }

    fn token_module(&mut self, node: usize, name: usize, body: usize) -> usize {
        let text = self.tree.text(name);
        if self.is_block(body) {
            return self.enter(body, Some(text));
        }
        let past = self.tree.subtree_end(body);
        self.declare(node..past, text);
        past
    }

    /// Enters a block of tokens.
    fn enter(&mut self, block: usize, name: Option<&str>) -> usize {
        let content = self.scope().content;
        let next = self.open(block, block, name);
        if let Some(scope) = self.scopes.last_mut() {
            scope.content = content;
        }
        next
    }

    /// Enters the body of an item.
    fn open(&mut self, item: usize, body: usize, name: Option<&str>) -> usize {
        let lead = self.lead.take();
        self.mark(&lead, item..self.tree.subtree_end(item));
        let module = name.map(|name| (name.to_owned(), lead.files().next().flatten()));
        let bound = Bound { test_only: self.scope().bound.test_only, ..Bound::default() }.and(lead.bound());
        self.scopes.push(Scope { nodes: body..self.tree.subtree_end(body), module, bound, content: Content::Items });
        body + 1
    }

    /// Records a module in another file. If its `#[path]` depends on a condition, records every file that it may be in.
    fn declare(&mut self, nodes: Range<usize>, name: &str) {
        let lead = self.lead.take();
        self.mark(&lead, nodes);
        let (folder, folder_from_path) = self.folder();
        let test_only = self.scope().bound.test_only || lead.bound().test_only;
        let name = self.full_name(name);
        let (cfg, _) = self.conditions(&lead.bound());
        self.items.modules.extend(lead.files().map(|path| ModuleItem {
            name: name.clone(),
            path,
            folder: folder.clone(),
            folder_from_path,
            test_only,
            cfg: cfg.clone(),
        }));
    }

    fn function(&mut self, function: Function) {
        let lead = self.lead.take();
        let is_test = lead.attributes.iter().any(|(_, attribute)| attribute.is_test());
        let by_macro = Content::Tokens { every_function_is_a_test: true };
        if is_test || self.scope().content == by_macro {
            let test = self.test(&lead, &function);
            if !self.scope().bound.test_only {
                self.items.test_ranges.push(test.span.clone());
            }
            self.items.tests.push(test);
        } else if !self.mark(&lead, function.nodes) {
            self.items.functions += 1;
        }
    }

    /// The digests of a test's case attributes; an attribute that a condition expands twice counts once.
    fn cases(&self, lead: &Lead) -> Vec<Digest> {
        let mut found: Vec<_> = lead.attributes.iter().filter(|(_, attribute)| attribute.is_case()).collect();
        found.dedup_by_key(|(nodes, _)| nodes.start);
        found.into_iter().map(|(nodes, _)| self.tree.digest(nodes.clone())).collect()
    }

    fn test(&mut self, lead: &Lead, function: &Function) -> TestItem {
        let first = lead.first.unwrap_or(function.nodes.start);
        let (cfg, never) = self.conditions(&lead.bound());
        let find = |wanted: fn(&Attribute) -> bool| lead.attributes.iter().map(|(_, found)| found).find(|a| wanted(a));
        let mut found: Vec<_> = lead.attributes.iter().filter(|(_, attribute)| attribute.expects()).collect();
        found.dedup_by_key(|(nodes, _)| nodes.start);
        let mut asserted: Vec<_> = found.into_iter().map(|(nodes, _)| of_attribute(self.tree, nodes.clone())).collect();
        asserted.extend(assertions(self.tree, function.nodes.clone()));
        let tables = tables(self.tree, function.nodes.clone());
        let whole = |own: Digest| {
            let apart = tables.iter().filter_map(|table| table.apart.as_ref());
            let digest = |span: &Range<usize>| {
                self.tree.digest(self.tree.first_from(span.start)..self.tree.first_from(span.end))
            };
            let apart: String = apart.map(|span| digest(span).to_string()).collect();
            if apart.is_empty() { own } else { Digest::of(format!("{own}{apart}")) }
        };
        let nodes = first..function.nodes.end;
        let ignores = lead.attributes.iter().map(|(_, attribute)| attribute).filter(|attribute| attribute.is_ignore());
        let ignores =
            ignores.map(|attribute| Mark { text: attribute.text.clone(), always: !attribute.is_conditional() });
        TestItem {
            name: self.full_name(self.tree.text(function.name)),
            annotation: self.annotation(self.tree.line(first)),
            span: self.span(first..function.nodes.end),
            line: self.tree.line(function.name),
            digest: whole(self.tree.digest(nodes.clone())),
            body: whole(self.tree.digest_without(nodes, &[self.tree.subtree(function.name)])),
            assertions: asserted,
            cases: self.cases(lead).into_iter().chain(tables.iter().flat_map(|table| table.rows.clone())).collect(),
            ignored: Mark::strongest(ignores.chain(never.map(Mark::always))),
            cfg,
            should_panic: find(Attribute::is_should_panic).is_some(),
            expected_panic: find(Attribute::is_should_panic).and_then(Attribute::expected),
            returns_result: function.returns,
        }
    }

    /// The last annotation not assigned to another test, if it is near enough.
    fn annotation(&mut self, first_line: usize) -> Option<String> {
        let (line, slug) = std::mem::take(&mut self.annotations).pop()?;
        (line + REACH >= first_line).then_some(slug)
    }

    /// Records an item that exists only for tests; returns whether it does.
    fn mark(&mut self, lead: &Lead, nodes: Range<usize>) -> bool {
        if self.scope().bound.test_only {
            return true;
        }
        let test_only = lead.bound().test_only;
        if test_only {
            let span = self.span(lead.first.unwrap_or(nodes.start)..nodes.end);
            self.items.test_ranges.push(span);
        }
        test_only
    }

    fn conditions(&self, own: &Bound) -> (Vec<String>, Option<String>) {
        let bounds = || self.scopes.iter().map(|scope| &scope.bound).chain([own]);
        let cfg = bounds().flat_map(|bound| bound.cfg.iter().cloned()).collect();
        (cfg, bounds().find_map(|bound| bound.never.clone()))
    }

    fn full_name(&self, name: &str) -> String {
        let modules = self.scopes.iter().filter_map(|scope| scope.module.as_ref().map(|(name, _)| name.as_str()));
        modules.chain([name]).map(word::printed).collect::<Vec<_>>().join("::")
    }

    fn folder(&self) -> (String, bool) {
        let modules: Vec<_> = self.scopes.iter().filter_map(|scope| scope.module.as_ref()).collect();
        let from_path = modules.first().is_some_and(|(_, path)| path.is_some());
        let folder = |(name, path): &&(String, Option<String>)| match path {
            Some(path) => format!("{path}/"),
            None => format!("{}/", word::bare(name)),
        };
        (modules.iter().map(folder).collect(), from_path)
    }

    fn span(&self, nodes: Range<usize>) -> Range<usize> {
        self.tree.range(nodes.start).start..self.tree.range(nodes.end - 1).end
    }

    fn is_block(&self, node: usize) -> bool {
        self.tree.kind(node) == "token_tree" && self.tree.text(node).starts_with('{')
    }

    fn scope(&self) -> &Scope {
        &self.scopes[self.scopes.len() - 1]
    }
}

impl Lead {
    fn take(&mut self) -> Self {
        std::mem::take(self)
    }

    fn bound(&self) -> Bound {
        let attributes: Vec<_> = self.attributes.iter().map(|(_, attribute)| attribute.clone()).collect();
        Bound::of(&attributes)
    }

    /// The `#[path]` values; `None` among them if the default path may apply.
    fn files(&self) -> impl Iterator<Item = Option<String>> {
        let named = self.attributes.iter().filter(|(_, attribute)| attribute.file().is_some());
        let (maybe, surely): (Vec<_>, Vec<_>) = named.partition(|(_, attribute)| attribute.is_conditional());
        let usual = if surely.is_empty() { Some(None) } else { None };
        let files: Vec<_> = surely.iter().chain(&maybe).map(|(_, attribute)| attribute.file()).collect();
        files.into_iter().chain(usual)
    }
}

impl Bound {
    fn of(attributes: &[Attribute]) -> Self {
        let mut bound = Self::default();
        for attribute in attributes {
            let (with, without) = (attribute.holds(true), attribute.holds(false));
            if with != Truth::Yes {
                bound.cfg.extend(attribute.condition());
            }
            if with == Truth::No {
                bound.never.get_or_insert_with(|| attribute.text.clone());
            }
            bound.test_only |= without == Truth::No && with != Truth::No;
        }
        bound
    }

    fn and(mut self, other: Self) -> Self {
        self.cfg.extend(other.cfg);
        Self { cfg: self.cfg, never: self.never.or(other.never), test_only: self.test_only || other.test_only }
    }
}

/// The attributes in these nodes, which are between the brackets.
pub(super) fn read(tree: &Tree<'_>, nodes: Range<usize>) -> Vec<Attribute> {
    let tokens: Vec<&str> = tree.tokens(nodes).map(|node| tree.text(node)).collect();
    Attribute::read(&tokens)
}
