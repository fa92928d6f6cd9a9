//! Lists the items of a file that are not tests, each with a digest of its own tokens.

use std::ops::Range;

use tdd_core::digest::Digest;

use super::call::{Kind, TEST_MODULES, TestFunctions, required};
use super::items::{tables_apart, whole};
use super::syntax::{MAX_NESTING, Tree};
use super::title::title;
use crate::analysis::compare::Piece;
use crate::item::Items;

/// The items of a file; with `for_tests`, every item is test code.
pub(super) fn pieces(tree: &Tree<'_>, items: &Items, for_tests: bool) -> Vec<Piece> {
    let tests = items.tests.iter().flat_map(|test| tree.nodes_at(&test.span)).filter(|node| *node > 0);
    let apart = if for_tests { tables_apart(tree) } else { Vec::new() };
    let (tables, loops): (Vec<usize>, Vec<usize>) =
        apart.into_iter().partition(|node| tree.kind(*node) == "variable_declarator");
    let tests: Vec<Range<usize>> = tests.chain(loops).map(|node| tree.subtree(node)).collect();
    let are_in_tests = tree.are_in(tests.iter().cloned());
    let test_functions = TestFunctions::of(tree);
    let mut taker = Taker { tree, test_functions, tests, are_in_tests, tables, for_tests, found: Vec::new() };
    taker.scope(0, "");
    taker.found
}

/// The name that a plain part of a pattern binds.
fn taken<'s>(tree: &Tree<'s>, part: usize) -> Option<&'s str> {
    match tree.kind(part) {
        "shorthand_property_identifier_pattern" => Some(tree.text(part)),
        "pair_pattern" => {
            tree.child(part, "value").filter(|value| tree.kind(*value) == "identifier").map(|value| tree.text(value))
        }
        _ => None,
    }
}

struct Taker<'t, 's> {
    tree: &'t Tree<'s>,
    test_functions: TestFunctions<'s>,
    /// The nodes of tests, and of the loops that define them.
    tests: Vec<Range<usize>>,
    /// For each node, whether it is in a test or in a loop that defines tests.
    are_in_tests: Vec<bool>,
    /// Declarations that belong to a test.
    tables: Vec<usize>,
    for_tests: bool,
    found: Vec<Piece>,
}

impl Taker<'_, '_> {
    /// The digest of these nodes without the tests among them.
    fn digest(&self, nodes: Range<usize>) -> Digest {
        let overlaps = |test: &&Range<usize>| test.start < nodes.end && nodes.start < test.end;
        let left_out: Vec<Range<usize>> = self.tests.iter().filter(overlaps).cloned().collect();
        self.tree.digest_without(nodes, &left_out)
    }

    fn scope(&mut self, node: usize, outer: &str) {
        let tree = self.tree;
        if tree.ancestors(node).count() > MAX_NESTING {
            return self.add(tree.subtree(node), node, "code".to_owned(), "");
        }
        for statement in tree.children(node).filter(|child| tree.is_statement(*child)) {
            if self.are_in_tests[statement] {
                continue;
            }
            let item = match tree.kind(statement) {
                "export_statement" => tree.child(statement, "declaration").unwrap_or(statement),
                _ => statement,
            };
            match tree.kind(item) {
                "class_declaration" | "abstract_class_declaration" => self.class(statement, item),
                "function_declaration" | "generator_function_declaration" => {
                    self.named(statement, item, "function");
                }
                "interface_declaration" | "type_alias_declaration" | "enum_declaration" => {
                    self.named(statement, item, "type");
                }
                "lexical_declaration" | "variable_declaration" => self.declaration(statement, item, outer),
                "import_statement" => self.import(statement),
                "comment" | "hash_bang_line" => {}
                _ => self.other(statement, outer),
            }
        }
    }

    fn named(&mut self, statement: usize, item: usize, what: &str) {
        let own = self.tree.child(item, "name").map_or("", |name| self.tree.text(name));
        self.add(self.tree.subtree(statement), statement, format!("{what} `{own}`"), own);
    }

    /// Adds the part before a class's body, then each member.
    fn class(&mut self, statement: usize, class: usize) {
        let tree = self.tree;
        let own = tree.child(class, "name").map_or("", |name| tree.text(name));
        let Some(body) = tree.child(class, "body") else { return };
        self.add(statement..body, statement, format!("class `{own}`"), own);
        for member in tree.children(body).filter(|member| tree.is_statement(*member)) {
            let name = tree.child(member, "name").or_else(|| tree.child(member, "property"));
            let name = name.map_or("", |name| tree.text(name));
            self.add(tree.subtree(member), member, format!("method `{own}.{name}`"), name);
        }
    }

    fn declaration(&mut self, statement: usize, item: usize, outer: &str) {
        let tree = self.tree;
        let declarators: Vec<usize> =
            tree.children(item).filter(|child| tree.kind(*child) == "variable_declarator").collect();
        for declarator in declarators {
            if outer.is_empty() && self.requires(statement, declarator) {
                continue;
            }
            let name = tree.child(declarator, "name").map_or("", |name| tree.text(name));
            let at = if tree.line(declarator) == tree.line(item) { statement } else { declarator };
            // `const` and `export` belong to the whole declaration.
            let head = tree.digest(statement..item + 2);
            let own = self.digest(tree.subtree(declarator));
            let digest = Digest::of([head.as_str().as_bytes(), own.as_str().as_bytes()].concat());
            let scope = if outer.is_empty() { String::new() } else { format!("{outer}.") };
            self.push(at, format!("`{scope}{name}`"), name, digest, tree.range(declarator));
            if let Some(piece) = self.found.last_mut() {
                piece.of_test = self.tables.contains(&declarator);
            }
        }
    }

    /// Adds an item for every name taken from a required module, like an import.
    fn requires(&mut self, statement: usize, declarator: usize) -> bool {
        let tree = self.tree;
        let (Some(pattern), Some(value)) = (tree.child(declarator, "name"), tree.child(declarator, "value")) else {
            return false;
        };
        let is_call = tree.kind(value) == "call_expression"
            && tree.child(value, "function").is_some_and(|function| tree.text(function) == "require");
        let Some(module) = required(tree, value).filter(|_| is_call && tree.kind(pattern) == "object_pattern") else {
            return false;
        };
        let names: Vec<(usize, Option<&str>)> = tree.parts(pattern).map(|part| (part, taken(tree, part))).collect();
        if names.iter().any(|(_, name)| name.is_none()) {
            return false;
        }
        for (part, name) in names {
            let name = name.unwrap_or_default();
            // Test functions are identified by the tests they define.
            let is_maker = self.for_tests && TEST_MODULES.contains(&module) && tree.text(part) == name;
            if !is_maker {
                let text = tree.text(part).replace(": ", " as ");
                self.add(part..part, statement, format!("use `{text}` of `{module}`"), name);
            }
        }
        true
    }

    /// Adds an item for every name that an import brings in.
    fn import(&mut self, statement: usize) {
        let tree = self.tree;
        let module = tree.child(statement, "source").map_or("", |source| tree.text(source)).trim_matches(['\'', '"']);
        let mut brings = false;
        for node in tree.subtree(statement) {
            // Test functions are identified by the tests they define.
            if self.for_tests
                && TEST_MODULES.contains(&module)
                && tree.child(node, "alias").is_none()
                && tree.kind(node) != "namespace_import"
            {
                brings = true;
                continue;
            }
            let is_default = tree.kind(node) == "identifier" && tree.kind(tree.parent(node)) == "import_clause";
            if is_default || matches!(tree.kind(node), "import_specifier" | "namespace_import") {
                brings = true;
                let local = tree.child(node, "alias").or_else(|| tree.child(node, "name"));
                let known = local.map_or_else(|| tree.names(node).last().unwrap_or_default(), |local| tree.text(local));
                let text = if is_default { format!("default as {known}") } else { tree.text(node).to_owned() };
                self.add(node..node, statement, format!("use `{text}` of `{module}`"), known);
            }
        }
        if !brings {
            self.add(statement..statement, statement, format!("use of `{module}`"), "");
        }
    }

    /// Adds a group of tests as its head and its content, and any other statement as code.
    fn other(&mut self, statement: usize, outer: &str) {
        let tree = self.tree;
        let call = tree.subtree(statement).find_map(|node| self.test_functions.test_call(tree, node));
        let group = call.filter(|test_call| test_call.kind == Kind::Group && whole(tree, test_call.call) == statement);
        if let Some(test_call) = group
            && let Some(body) = test_call.body
            && let Some(block) = tree.child(body, "body").filter(|block| tree.kind(*block) == "statement_block")
        {
            let own = title(tree, test_call.title);
            let full = if outer.is_empty() { own } else { format!("{outer} > {own}") };
            // A group with only a name is already part of its tests' names.
            if !test_call.modifiers.is_empty() || tree.arguments(test_call.call).len() != 2 {
                self.add(statement..block, statement, format!("group `{full}`"), "");
            }
            return self.scope(block, &full);
        }
        self.add(tree.subtree(statement), statement, "code".to_owned(), "");
    }

    fn add(&mut self, nodes: Range<usize>, at: usize, label: String, name: &str) {
        let digest = self.digest(nodes);
        let span = self.tree.range(at);
        self.push(at, label, name, digest, span);
    }

    fn push(&mut self, at: usize, label: String, name: &str, digest: Digest, span: Range<usize>) {
        let (for_tests, line, name) = (self.for_tests, self.tree.line(at), name.to_owned());
        self.found.push(Piece { for_tests, of_test: false, label, name, line, digest, span });
    }
}
