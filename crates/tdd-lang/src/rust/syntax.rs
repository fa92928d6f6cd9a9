//! A Rust file's syntax tree, with its tokens and digests.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use tdd_core::digest::Digest;

use super::Rust;
use crate::syntax::{Grammar, ParseCache, SEPARATOR, SyntaxError};

static GRAMMAR: Grammar = Grammar {
    language: LazyLock::new(|| tree_sitter_rust::LANGUAGE.into()),
    is_atom: |node| ATOMS.contains(&node.kind()),
    known: ParseCache::new(),
};

/// Nodes kept whole, because white space inside them counts.
const ATOMS: [&str; 5] = ["string_literal", "raw_string_literal", "char_literal", "line_comment", "block_comment"];

/// The syntax tree of one file. The range of a doc comment includes its line end.
pub(super) type Tree<'a> = crate::syntax::Tree<'a, Rust>;

impl<'a> Tree<'a> {
    /// Parses this text, even if it is broken. `None` if there is no parser.
    pub fn parse(source: &'a str) -> Option<Self> {
        Self::with(&GRAMMAR, source)
    }

    /// Whether a node is a comment.
    pub fn is_comment(&self, node: usize) -> bool {
        matches!(self.kind(node), "line_comment" | "block_comment")
    }

    /// The tokens of these nodes: their leaves without comments.
    pub fn tokens(&self, nodes: Range<usize>) -> impl Iterator<Item = usize> + '_ {
        nodes.filter(|node| self.is_leaf(*node) && !self.is_comment(*node))
    }

    /// The digest of these nodes' tokens, including text that the parser could not read.
    pub fn digest(&self, nodes: Range<usize>) -> Digest {
        let end = nodes.end;
        self.digest_without(nodes, end..end)
    }

    /// The digest without some of the nodes. Line ends inside literals are normalized as the compiler does.
    pub fn digest_without(&self, nodes: Range<usize>, left_out: Range<usize>) -> Digest {
        let mut bytes = Vec::new();
        let mut end = nodes.clone().next().map_or(0, |first| self.range(first).start);
        for leaf in nodes.filter(|node| self.is_leaf(*node)) {
            let range = self.range(leaf);
            let skipped = self.source().get(end..range.start).unwrap_or_default().trim();
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

    /// Whether the text has no syntax errors; macro arguments are not checked.
    pub fn parses(&self) -> bool {
        self.broken().next().is_none()
    }

    /// The first syntax error, if any; macro arguments are not checked.
    pub fn syntax_error(&self) -> Option<SyntaxError> {
        self.syntax_error_of(self.broken())
    }

    fn broken(&self) -> impl Iterator<Item = usize> + '_ {
        let is_there = |node: &usize| *node < self.len();
        let next = |node: usize| if self.kind(node) == "token_tree" { self.subtree_end(node) } else { node + 1 };
        let nodes = std::iter::successors(Some(0).filter(is_there), move |node| Some(next(*node)).filter(is_there));
        nodes.filter(|node| self.is_broken(*node))
    }
}

/// The text with the line ends that the compiler sees.
pub(super) fn unix(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") { text.replace("\r\n", "\n").into() } else { text.into() }
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
    fn nesting_without_end_cannot_be_read() {
        for (open, close) in
            [("(", ")"), ("(", ""), ("[", "]"), ("{", "}"), ("{", ""), ("f(", ")"), ("mod a {", "}"), ("a!{", "}")]
        {
            let source = format!("fn f() {{ {}1{} }}\n", open.repeat(100_000), close.repeat(100_000));
            assert!(!Tree::parse(&source).unwrap().parses(), "{open}{close}");
        }
    }
}
