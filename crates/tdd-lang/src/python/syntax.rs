//! The syntax tree of a Python file: its names, statements and digests.

use std::ops::Range;
use std::sync::LazyLock;

use tdd_core::digest::Digest;

use super::Python;
use crate::syntax::{Grammar, Nodes, ParseCache, SEPARATOR};

static GRAMMAR: Grammar =
    Grammar { language: LazyLock::new(|| tree_sitter_python::LANGUAGE.into()), is_atom, known: ParseCache::new() };

/// Mark the start of a statement, and both ends of a block, in a digest: the tree has no tokens for line ends and
/// indents.
const STATEMENT: u8 = 0xfe;
const BLOCK: u8 = 0xfd;

/// The syntax tree of a Python file.
pub(super) type Tree<'a> = crate::syntax::Tree<'a, Python>;

impl<'a> Tree<'a> {
    /// Parses a text; broken text has a tree too. `None` if there is no parser.
    pub fn parse(source: &'a str) -> Option<Self> {
        Self::with(&GRAMMAR, source)
    }

    /// The digest of the tokens of these nodes, without comments and documentation.
    pub fn digest(&self, nodes: Range<usize>) -> Digest {
        self.digest_without(nodes, &[])
    }

    /// `digest`, but without some of the nodes.
    pub fn digest_without(&self, nodes: Range<usize>, left_out: &[Range<usize>]) -> Digest {
        let mut bytes = Vec::new();
        let mut blocks = Vec::new();
        let mut node = nodes.start;
        while node < nodes.end {
            while blocks.last().is_some_and(|past| *past <= node) {
                blocks.pop();
                bytes.push(BLOCK);
            }
            if left_out.iter().any(|range| range.contains(&node)) || self.says_nothing(node) {
                node = self.subtree_end(node);
                continue;
            }
            if self.is_statement(node) {
                bytes.push(STATEMENT);
            }
            if self.kind(node) == "block" {
                bytes.push(BLOCK);
                blocks.push(self.subtree_end(node));
            } else if self.is_leaf(node) {
                bytes.extend_from_slice(self.token(node).as_bytes());
                bytes.push(SEPARATOR);
            }
            node += 1;
        }
        Digest::of(bytes)
    }

    /// A token as any formatter would leave it: a string has double quotes if both kinds mean the same.
    fn token(&self, node: usize) -> String {
        let text = self.text(node).replace("\r\n", "\n");
        let (prefix, quoted) = text.split_at(text.find(['\'', '"']).unwrap_or(0));
        let inner = quoted.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
        match inner.filter(|inner| self.kind(node) == "string" && !inner.contains(['\'', '"'])) {
            Some(inner) => format!("{prefix}\"{inner}\""),
            None => text,
        }
    }

    /// Whether a node is a comment, or a string on its own without examples that could run.
    fn says_nothing(&self, node: usize) -> bool {
        let is_text = || {
            self.kind(node) == "expression_statement"
                && !self.is_leaf(node)
                && self.kind(node + 1) == "string"
                && self.subtree_end(node + 1) == self.subtree_end(node)
        };
        self.kind(node) == "comment" || is_text() && !self.text(node).contains(">>>")
    }
}

impl Nodes for Python {
    fn is_part(tree: &Tree<'_>, node: usize) -> bool {
        let kind = tree.kind(node);
        kind != "comment" && kind.starts_with(|c: char| c.is_ascii_lowercase())
    }

    fn is_name(tree: &Tree<'_>, node: usize) -> bool {
        let is_part = match tree.kind(tree.parent(node)) {
            "attribute" => tree.field(node) == Some("attribute"),
            "keyword_argument" => tree.field(node) == Some("name"),
            _ => false,
        };
        tree.kind(node) == "identifier" && !is_part
    }

    fn is_statement(tree: &Tree<'_>, node: usize) -> bool {
        node > 0 && matches!(tree.kind(tree.parent(node)), "module" | "block")
    }
}

/// Whether a node becomes a leaf, because white space matters inside of it. A string with interpolated expressions does
/// not, because the expressions matter.
fn is_atom(node: &tree_sitter::Node<'_>) -> bool {
    let has_expressions = || {
        let mut inner = node.walk();
        node.children(&mut inner).any(|child| child.kind() == "interpolation")
    };
    node.kind() == "string_content" || node.kind() == "string" && !has_expressions()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(source: &str) -> Digest {
        let tree = Tree::parse(source).unwrap();
        tree.digest(0..tree.len())
    }

    #[test]
    fn layout_comments_and_documentation_are_nothing() {
        assert_eq!(digest("a = f(1,\n  2) # x\n"), digest("a=f(1, 2)\r\n"));
        assert_eq!(digest("a = ['x', b'\\n', '']\n"), digest("a = [\"x\", b\"\\n\", \"\"]\n"));
        assert_eq!(digest("def f():\n    \"\"\"Doc.\"\"\"\n    g()\n"), digest("def f():\n  g()\n"));
    }

    #[test]
    fn lines_and_indents_count() {
        assert_ne!(digest("if a:\n    b()\n    c()\n"), digest("if a:\n    b()\nc()\n"));
        assert_ne!(digest("a = b\n-c\n"), digest("a = b -c\n"));
        assert_ne!(digest("a = 'x  y'\n"), digest("a = 'x y'\n"));
        assert_ne!(digest("a = 'x'\n"), digest("a = b'x'\n"));
        assert_ne!(digest("a = '\"'\n"), digest("a = \"\"\n"));
        assert_ne!(digest("def f():\n    '''>>> f()\n    1'''\n"), digest("def f():\n    '''>>> f()\n    2'''\n"));
    }

    #[test]
    fn broken_text_is_known() {
        assert!(Tree::parse("def f(:\n").is_some_and(|tree| !tree.parses()));
        assert!(Tree::parse("def f():\n    pass\n").is_some_and(|tree| tree.parses()));
    }

    #[test]
    fn nesting_without_end_cannot_be_read() {
        for (open, close) in [("(", ")"), ("(", ""), ("[", "]"), ("{", "}"), ("{", ""), ("f(", ")")] {
            let source = format!("x = {}1{}\n", open.repeat(100_000), close.repeat(100_000));
            assert!(!Tree::parse(&source).unwrap().parses(), "{open}{close}");
        }
    }
}
