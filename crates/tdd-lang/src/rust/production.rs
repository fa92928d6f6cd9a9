//! Knows which code of a repository is production, which names it declares, and whether an expression in a test
//! involves them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use tree_sitter::{Node, Parser, Tree};

use super::items::items;
use super::owns;
use super::places::{folder, join};
use crate::item::ModuleItem;
use crate::language::Sources;

/// How many `let` bindings to follow from a use to its value's origin.
const MAX_HOPS: usize = 6;

/// The production code of a repository.
#[derive(Debug, Default)]
pub(crate) struct Production {
    /// The import names of its crates.
    crates: BTreeSet<String>,
    /// The names of its items: free functions, types, traits, constants, modules, macros.
    names: BTreeSet<String>,
    /// The test-only byte ranges of each file.
    test_ranges: BTreeMap<String, Vec<Range<usize>>>,
    /// Test-only files and folders.
    test_paths: BTreeSet<String>,
}

impl Production {
    /// Reads all Rust files.
    pub(crate) fn of(sources: &dyn Sources, crates: BTreeSet<String>) -> Self {
        let mut production = Self { crates, ..Self::default() };
        let rust = |path: &&String| owns(path) && !is_test_folder(path);
        let mut declared: Vec<(String, Vec<String>)> = Vec::new();
        for path in sources.ending(".rs").into_iter().filter(rust) {
            let text = sources.read(path).unwrap_or_default();
            if let Some(tree) = parse(&text) {
                let found = items(path, &text);
                let for_tests = found.modules.iter().filter(|module| module.test_only);
                production.test_paths.extend(for_tests.flat_map(|module| module_paths(path, module)));
                let mut names = Vec::new();
                collect(tree.root_node(), &text, &found.test_ranges, &mut names);
                production.test_ranges.insert(path.clone(), found.test_ranges);
                declared.push((path.clone(), names));
            }
        }
        let kept = declared.into_iter().filter(|(path, _)| !production.is_test_path(path)).collect::<Vec<_>>();
        production.names.extend(kept.into_iter().flat_map(|(_, names)| names));
        production
    }

    /// Whether this byte of this file is production code.
    pub(crate) fn holds(&self, path: &str, byte: usize) -> bool {
        let in_test = self.test_ranges.get(path).is_some_and(|ranges| ranges.iter().any(|range| range.contains(&byte)));
        !in_test && !is_test_folder(path) && !self.is_test_path(path)
    }

    /// Whether this is the import name of one of the repository's crates.
    pub(crate) fn is_crate(&self, name: &str) -> bool {
        self.crates.contains(name)
    }

    /// Whether production declares an item with this name.
    pub(crate) fn declares(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    fn is_test_path(&self, path: &str) -> bool {
        let inside = |test: &String| path.strip_prefix(test.as_str()).is_some_and(|rest| rest.starts_with('/'));
        self.test_paths.iter().any(|test| path == test || inside(test))
    }
}

/// The names of one module's items outside test code. Functions in `impl` blocks are methods and have no path of their
/// own.
fn collect(parent: Node, text: &str, for_tests: &[Range<usize>], names: &mut Vec<String>) {
    let outside = |node: &Node| !for_tests.iter().any(|range| range.contains(&node.start_byte()));
    for node in children(parent).into_iter().filter(|node| is_item(node.kind())).filter(outside) {
        names.extend(node.child_by_field_name("name").map(|name| slice(text, name.byte_range()).to_owned()));
        if let Some(body) = node.child_by_field_name("body").filter(|_| node.kind() == "mod_item") {
            collect(body, text, for_tests, names);
        }
    }
}

/// Whether a path is in `tests/…`, `benches/…` or `examples/…` outside `src`, or is a build script.
fn is_test_folder(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    let (folders, file) = parts.split_at(parts.len().saturating_sub(1));
    let before_src = folders.iter().take_while(|part| **part != "src");
    before_src.into_iter().any(|part| matches!(*part, "tests" | "benches" | "examples"))
        || (file == ["build.rs"] && !folders.contains(&"src"))
}

fn is_item(kind: &str) -> bool {
    matches!(
        kind,
        "function_item"
            | "struct_item"
            | "enum_item"
            | "union_item"
            | "trait_item"
            | "type_item"
            | "const_item"
            | "static_item"
            | "mod_item"
            | "macro_definition"
    )
}

/// The files or folders that may contain a module of the file `path`.
fn module_paths(path: &str, module: &ModuleItem) -> Vec<String> {
    let file = path.rsplit('/').next().unwrap_or(path);
    let stem = file.trim_end_matches(".rs");
    let base = if matches!(stem, "lib" | "main" | "mod") { folder(path).to_owned() } else { join(folder(path), stem) };
    let name = module.name.rsplit("::").next().unwrap_or_default();
    if let Some(written) = &module.path {
        return vec![join(folder(path), written)];
    }
    let own = join(&base, &format!("{}{name}", module.folder));
    vec![format!("{own}.rs"), own]
}

/// A test's file, for questions about its expressions.
pub(crate) struct TestFile<'a> {
    production: &'a Production,
    /// Whether `crate`, `self` and `super` refer to production: true for unit tests.
    inside: bool,
    text: String,
    tree: Tree,
    /// The names that the file itself declares, which are not production's.
    own: BTreeSet<String>,
    /// The names that it imports from production.
    imported: BTreeSet<String>,
}

impl<'a> TestFile<'a> {
    /// Parses a file. Macro calls are parsed as function calls, so that their arguments are visible.
    pub(crate) fn new(production: &'a Production, inside: bool, source: &str) -> Option<Self> {
        let text = without_bangs(source);
        let tree = parse(&text)?;
        let mut file = Self { production, inside, text, tree, own: BTreeSet::new(), imported: BTreeSet::new() };
        if !inside {
            file.own = file.declared();
        }
        file.imported = file.imports();
        Some(file)
    }

    /// Whether this name, as the first segment of a path, refers to production.
    pub(crate) fn leads_to_production(&self, name: &str) -> bool {
        match name {
            "crate" | "self" | "super" | "Self" => self.inside,
            _ if self.own.contains(name) => false,
            _ => self.production.is_crate(name) || self.production.declares(name) || self.imported.contains(name),
        }
    }

    /// The first segment of the path at this range, and whether it is a path at all.
    pub(crate) fn path_at(&self, range: &Range<usize>) -> (String, bool) {
        let mut node = self.node(range);
        while let Some(parent) = node.and_then(|node| node.parent()).filter(|parent| is_path(parent.kind())) {
            node = Some(parent);
        }
        let text = node.map_or("", |node| slice(&self.text, node.byte_range()));
        let first = text.split("::").next().unwrap_or_default().trim();
        (first.to_owned(), text.contains("::"))
    }

    /// Whether production could bring a plain name into scope here: the place is in production's own module, or has a
    /// glob import from something other than the standard library.
    pub(crate) fn could_bring_a_name(&self, range: &Range<usize>) -> bool {
        let mut node = self.node(range);
        while let Some(here) = node {
            let is_scope = matches!(here.kind(), "block" | "declaration_list" | "source_file");
            if is_scope && self.takes_all_of_something(here) {
                return true;
            }
            match here.kind() {
                "source_file" => return self.inside,
                "declaration_list" if here.parent().is_some_and(|parent| parent.kind() == "mod_item") => return false,
                _ => node = here.parent(),
            }
        }
        false
    }

    fn takes_all_of_something(&self, scope: Node) -> bool {
        let mut cursor = scope.walk();
        let mut items = scope.children(&mut cursor);
        items.any(|item| {
            let text = slice(&self.text, item.byte_range());
            let first = text.trim_start_matches("pub ").trim_start_matches("use ").trim_start();
            let std = ["std::", "core::", "alloc::"].iter().any(|std| first.starts_with(std));
            item.kind() == "use_declaration" && text.contains('*') && !std
        })
    }

    /// Whether the statement or expression around this place involves production.
    pub(crate) fn unit_touches(&self, range: &Range<usize>) -> bool {
        self.node(range).is_some_and(|node| self.touches(self.unit(node), MAX_HOPS))
    }

    /// Whether the expression at exactly this place involves production.
    pub(crate) fn place_touches(&self, range: &Range<usize>) -> bool {
        self.node(range).is_some_and(|node| self.touches(node, MAX_HOPS))
    }

    /// Whether the receiver of the method or field at this place involves production.
    pub(crate) fn receiver_touches(&self, range: &Range<usize>) -> bool {
        let parent = self.node(range).and_then(|node| node.parent());
        let receiver = parent.filter(|node| node.kind() == "field_expression");
        receiver.and_then(|node| node.child_by_field_name("value")).is_some_and(|node| self.touches(node, MAX_HOPS))
    }

    fn node(&self, range: &Range<usize>) -> Option<Node<'_>> {
        self.tree.root_node().descendant_for_byte_range(range.start, range.end)
    }

    /// The smallest statement, macro call, comparison or match around a node.
    fn unit<'t>(&self, start: Node<'t>) -> Node<'t> {
        let mut node = start;
        loop {
            if self.is_unit(node) {
                return node;
            }
            match node.parent() {
                Some(parent) if parent.kind() == "match_expression" => {
                    return parent.child_by_field_name("value").unwrap_or(node);
                }
                Some(parent) if !matches!(parent.kind(), "block" | "source_file") => node = parent,
                _ => return node,
            }
        }
    }

    fn is_unit(&self, node: Node) -> bool {
        let kinds = ["let_declaration", "expression_statement", "binary_expression", "struct_expression"];
        let macro_call = node.kind() == "call_expression"
            && node
                .child_by_field_name("function")
                .is_some_and(|name| slice(&self.text, name.byte_range()).ends_with('_'));
        macro_call || kinds.contains(&node.kind())
    }

    fn touches(&self, node: Node, hops: usize) -> bool {
        leaves(node).into_iter().any(|leaf| self.leaf_touches(leaf, hops))
    }

    fn leaf_touches(&self, leaf: Node, hops: usize) -> bool {
        if !matches!(leaf.kind(), "identifier" | "type_identifier" | "crate" | "super") {
            return false;
        }
        let name = slice(&self.text, leaf.byte_range());
        let before = self.text[..leaf.start_byte()].trim_end();
        if before.ends_with("::") {
            return false;
        }
        let value = self.binding(leaf, name);
        match value {
            Some(value) if hops > 0 => self.touches(value, hops - 1),
            Some(_) => false,
            None => self.leads_to_production(name),
        }
    }

    /// The value last bound to a local variable before this use, in the same function.
    fn binding<'t>(&self, leaf: Node<'t>, name: &str) -> Option<Node<'t>> {
        let function = ancestor(leaf, "function_item")?;
        let mut found = None;
        for node in descendants(function) {
            let parts = node.child_by_field_name("pattern").zip(node.child_by_field_name("value"));
            let Some((pattern, value)) = parts.filter(|_| node.kind() != "match_arm") else { continue };
            let binds = leaves(pattern).iter().any(|part| slice(&self.text, part.byte_range()) == name);
            if binds && value.end_byte() <= leaf.start_byte() {
                found = Some(value);
            }
        }
        found
    }

    fn declared(&self) -> BTreeSet<String> {
        let items = descendants(self.tree.root_node()).into_iter().filter(|node| is_item(node.kind()));
        let names = items.filter_map(|node| node.child_by_field_name("name"));
        names.map(|name| slice(&self.text, name.byte_range()).to_owned()).collect()
    }

    fn imports(&self) -> BTreeSet<String> {
        let all = descendants(self.tree.root_node()).into_iter();
        let found = all.filter(|node| node.kind() == "use_declaration");
        let ours = found.filter(|node| {
            let path = node.child_by_field_name("argument").map_or("", |path| slice(&self.text, path.byte_range()));
            let first = path.split("::").next().unwrap_or_default();
            self.production.is_crate(first) || (self.inside && matches!(first, "crate" | "super"))
        });
        ours.flat_map(|node| leaves(node))
            .filter(|leaf| matches!(leaf.kind(), "identifier" | "type_identifier"))
            .map(|leaf| slice(&self.text, leaf.byte_range()).to_owned())
            .collect()
    }
}

fn is_path(kind: &str) -> bool {
    matches!(kind, "scoped_identifier" | "scoped_type_identifier" | "generic_type" | "scoped_use_list")
}

/// The text with `name!(` and `name![` written as `name_(` and `name_[`, so that byte offsets stay the same.
fn without_bangs(source: &str) -> String {
    let mut bytes = source.as_bytes().to_vec();
    for at in 1..bytes.len().saturating_sub(1) {
        let after_name = bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_';
        if bytes[at] == b'!' && after_name && matches!(bytes[at + 1], b'(' | b'[') {
            bytes[at] = b'_';
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| source.to_owned())
}

/// Whether tree-sitter finds a syntax error.
pub(crate) fn has_syntax_error(source: &str) -> bool {
    parse(source).is_none_or(|tree| tree.root_node().has_error())
}

fn parse(text: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_rust::LANGUAGE.into()).ok()?;
    parser.parse(text, None)
}

fn slice(text: &str, range: Range<usize>) -> &str {
    text.get(range).unwrap_or_default()
}

fn children(node: Node) -> Vec<Node> {
    let mut cursor = node.walk();
    node.children(&mut cursor).collect()
}

fn descendants(node: Node) -> Vec<Node> {
    let mut open = vec![node];
    let mut all = Vec::new();
    while let Some(node) = open.pop() {
        all.push(node);
        let mut below = children(node);
        below.reverse();
        open.append(&mut below);
    }
    all
}

fn leaves(node: Node) -> Vec<Node> {
    descendants(node).into_iter().filter(|node| node.child_count() == 0).collect()
}

fn ancestor<'t>(node: Node<'t>, kind: &str) -> Option<Node<'t>> {
    let mut current = node.parent();
    while let Some(node) = current.filter(|node| node.kind() != kind) {
        current = node.parent();
    }
    current
}
