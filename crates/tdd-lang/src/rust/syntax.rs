//! A Rust file's syntax tree laid out flat, so that no walk over it needs recursion.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use tdd_core::digest::Digest;
use tree_sitter::{Language, Parser, TreeCursor};

/// The grammar, kept so that the names in it live as long as the program.
static LANGUAGE: LazyLock<Language> = LazyLock::new(|| tree_sitter_rust::LANGUAGE.into());

/// Kept whole, because white space counts inside of them.
const ATOMS: [&str; 5] = ["string_literal", "raw_string_literal", "char_literal", "line_comment", "block_comment"];

/// Between two tokens of a digest; no UTF-8 text holds this byte.
const SEPARATOR: u8 = 0xff;

/// A syntax tree: its nodes in the order in which they begin, each parent before its children.
#[derive(Debug)]
pub(super) struct Tree<'a> {
    source: &'a str,
    nodes: Vec<Node>,
}

#[derive(Debug)]
struct Node {
    kind: &'static str,
    field: Option<&'static str>,
    range: Range<usize>,
    row: usize,
    /// The first node that is no longer inside this one.
    past: usize,
    broken: bool,
}

impl<'a> Tree<'a> {
    /// The tree of this text; broken text has one as well. `None` if there is no parser.
    pub fn parse(source: &'a str) -> Option<Self> {
        let mut parser = Parser::new();
        parser.set_language(&LANGUAGE).ok()?;
        let tree = parser.parse(source, None)?;
        Some(Self { source, nodes: flatten(tree.walk()) })
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// What a node is.
    pub fn kind(&self, node: usize) -> &'static str {
        self.nodes[node].kind
    }

    /// What a node is to its parent.
    pub fn field(&self, node: usize) -> Option<&'static str> {
        self.nodes[node].field
    }

    /// A node's text.
    pub fn text(&self, node: usize) -> &'a str {
        self.source.get(self.range(node)).unwrap_or_default()
    }

    /// A node's bytes; those of a doc comment include its line's end.
    pub fn range(&self, node: usize) -> Range<usize> {
        self.nodes[node].range.clone()
    }

    /// The line on which a node begins, from 1.
    pub fn line(&self, node: usize) -> usize {
        self.nodes[node].row + 1
    }

    /// The first node that is no longer inside this one.
    pub fn past(&self, node: usize) -> usize {
        self.nodes[node].past
    }

    /// The children of a node.
    pub fn children(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        self.siblings(node + 1, self.past(node))
    }

    /// This node and those that follow it under the same parent, up to the node `past`.
    pub fn siblings(&self, node: usize, past: usize) -> impl Iterator<Item = usize> + '_ {
        let inside = move |node: &usize| *node < past;
        std::iter::successors(Some(node).filter(inside), move |node| Some(self.past(*node)).filter(inside))
    }

    /// The child that is this to its parent.
    pub fn child(&self, node: usize, field: &str) -> Option<usize> {
        self.children(node).find(|child| self.field(*child) == Some(field))
    }

    /// Whether a node is a comment.
    pub fn is_comment(&self, node: usize) -> bool {
        matches!(self.kind(node), "line_comment" | "block_comment")
    }

    /// The tokens of these nodes: their leaves, comments left out.
    pub fn tokens(&self, nodes: Range<usize>) -> impl Iterator<Item = usize> + '_ {
        nodes.filter(|node| self.past(*node) == node + 1 && !self.is_comment(*node))
    }

    /// The digest of the tokens of these nodes. Text that the parser could not read is part of it.
    pub fn digest(&self, nodes: Range<usize>) -> Digest {
        let end = nodes.end;
        self.digest_without(nodes, end..end)
    }

    /// The same with some of the nodes left out. Line ends inside of literals are read as the compiler
    /// reads them.
    pub fn digest_without(&self, nodes: Range<usize>, left_out: Range<usize>) -> Digest {
        let mut bytes = Vec::new();
        let mut end = nodes.clone().next().map_or(0, |first| self.range(first).start);
        for leaf in nodes.filter(|node| self.past(*node) == node + 1) {
            let range = self.range(leaf);
            let skipped = self.source.get(end..range.start).unwrap_or_default().trim();
            let is_out = self.is_comment(leaf) || left_out.contains(&leaf);
            let text = if is_out { "" } else { self.text(leaf) };
            for token in [skipped, text].into_iter().filter(|token| !token.is_empty()) {
                bytes.extend_from_slice(unix(token).as_bytes());
                bytes.push(SEPARATOR);
            }
            end = end.max(range.end);
        }
        Digest::of(bytes)
    }

    /// Whether the text is free of errors; the arguments of macros are not looked into.
    pub fn parses(&self) -> bool {
        let mut node = 0;
        while node < self.len() {
            if self.nodes[node].broken {
                return false;
            }
            node = if self.kind(node) == "token_tree" { self.past(node) } else { node + 1 };
        }
        true
    }
}

/// A text with the line ends that the compiler sees.
pub(super) fn unix(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") { text.replace("\r\n", "\n").into() } else { text.into() }
}

fn flatten(mut cursor: TreeCursor<'_>) -> Vec<Node> {
    let mut nodes = Vec::new();
    let mut open = Vec::new();
    loop {
        open.push(nodes.len());
        let node = read(&cursor);
        let is_atom = ATOMS.contains(&node.kind);
        nodes.push(node);
        if !is_atom && cursor.goto_first_child() {
            continue;
        }
        loop {
            close(&mut nodes, &mut open);
            if cursor.goto_next_sibling() {
                break;
            }
            if !cursor.goto_parent() {
                return nodes;
            }
        }
    }
}

fn read(cursor: &TreeCursor<'_>) -> Node {
    let node = cursor.node();
    let kind = LANGUAGE.node_kind_for_id(node.kind_id()).unwrap_or_default();
    let is_atom = ATOMS.contains(&kind);
    Node {
        kind,
        field: cursor.field_id().and_then(|field| LANGUAGE.field_name_for_id(field.get())),
        range: node.byte_range(),
        row: node.start_position().row,
        past: 0,
        broken: node.is_error() || node.is_missing() || (is_atom && node.has_error()),
    }
}

fn close(nodes: &mut [Node], open: &mut Vec<usize>) {
    let past = nodes.len();
    if let Some(node) = open.pop() {
        nodes[node].past = past;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(source: &str) -> Digest {
        let tree = Tree::parse(source).unwrap();
        tree.digest(0..tree.len())
    }

    #[test]
    fn a_digest_does_not_see_layout_and_comments() {
        assert_eq!(digest("fn a() { b(1, \"x\") }"), digest("// c\nfn a( )\n{ b(1, /* d */\r\n \"x\")\n}\n"));
    }

    #[test]
    fn a_digest_does_not_see_which_line_ends_a_literal_has() {
        assert_eq!(digest("fn a() { b(\"x\r\ny\") }\r\n"), digest("fn a() { b(\"x\ny\") }\n"));
    }

    #[test]
    fn a_digest_can_leave_a_name_out() {
        let nameless = |source: &str| {
            let tree = Tree::parse(source).unwrap();
            let name = tree.child(1, "name").unwrap();
            tree.digest_without(1..tree.len(), name..name + 1)
        };
        assert_eq!(nameless("fn a() { 1 }"), nameless("fn b() { 1 }"));
        assert_ne!(nameless("fn a() { 1 }"), nameless("fn a() { 2 }"));
    }

    #[test]
    fn a_digest_sees_every_token_and_the_white_space_in_literals() {
        let variants =
            ["fn a() { b(\"x y\") }", "fn a() { b(\"x  y\") }", "fn a() { b(r\"x y\") }", "fn a() { b(' ') }"];
        for (at, one) in variants.iter().enumerate() {
            for other in &variants[at + 1..] {
                assert_ne!(digest(one), digest(other), "{one} {other}");
            }
        }
        assert_ne!(digest("fn ab() {}"), digest("fn a b() {}"));
    }

    #[test]
    fn only_code_outside_of_macros_must_parse() {
        for (source, expected) in [
            ("", true),
            ("\u{feff}fn a() {}\r\n", true),
            ("fn a() { b!(1 2 fn) }", true),
            ("fn a( {}", false),
            ("fn a() { \"", false),
            ("fn é() {}", true),
            ("mod a {", false),
        ] {
            assert_eq!(Tree::parse(source).unwrap().parses(), expected, "{source}");
        }
    }

    #[test]
    fn nesting_without_end_is_no_matter() {
        for source in ["(".repeat(10_000) + &")".repeat(10_000), "mod a {".repeat(10_000), "a!{".repeat(10_000)] {
            assert!(Tree::parse(&source).unwrap().len() > 10_000);
        }
    }
}
