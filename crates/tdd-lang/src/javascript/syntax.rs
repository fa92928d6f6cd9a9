//! The syntax tree of a JavaScript or TypeScript file, with its names, statements and digests.

use std::ops::Range;
use std::sync::LazyLock;

use tdd_core::digest::Digest;

use super::JavaScript;
use crate::syntax::{Grammar, Nodes, ParseCache, SEPARATOR};

static JAVASCRIPT: Grammar =
    Grammar { language: LazyLock::new(|| tree_sitter_javascript::LANGUAGE.into()), is_atom, known: ParseCache::new() };
static TYPESCRIPT: Grammar = Grammar {
    language: LazyLock::new(|| tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into()),
    is_atom,
    known: ParseCache::new(),
};
static TSX: Grammar = Grammar {
    language: LazyLock::new(|| tree_sitter_typescript::LANGUAGE_TSX.into()),
    is_atom,
    known: ParseCache::new(),
};

/// Marks the start of each statement in a digest, because the tree may have no token for its end.
const STATEMENT: u8 = 0xfe;

/// Limit for nesting; nobody writes deeper code, and it is not examined.
pub(super) const MAX_NESTING: usize = 400;

/// Keywords that are also values.
const VALUES: [&str; 6] = ["this", "super", "null", "true", "false", "undefined"];

/// The syntax tree of one file.
pub(super) type Tree<'a> = crate::syntax::Tree<'a, JavaScript>;

impl<'a> Tree<'a> {
    /// Parses the text of this file, even if it is broken. `None` if there is no parser.
    pub fn parse(path: &str, source: &'a str) -> Option<Self> {
        let grammar = match path.rsplit_once('.').map_or("", |(_, ending)| ending) {
            "ts" | "mts" | "cts" => &TYPESCRIPT,
            "tsx" => &TSX,
            _ => &JAVASCRIPT,
        };
        Self::with(grammar, source)
    }

    /// Whether a node is any kind of function.
    pub fn is_function(&self, node: usize) -> bool {
        matches!(
            self.kind(node),
            "arrow_function"
                | "function_expression"
                | "function_declaration"
                | "generator_function"
                | "generator_function_declaration"
                | "method_definition"
        )
    }

    pub fn arguments(&self, call: usize) -> Vec<usize> {
        self.child(call, "arguments").map(|list| self.parts(list).collect()).unwrap_or_default()
    }

    /// The digest of these nodes' tokens, without comments.
    pub fn digest(&self, nodes: Range<usize>) -> Digest {
        self.digest_without(nodes, &[])
    }

    /// The digest without some of the nodes.
    pub fn digest_without(&self, nodes: Range<usize>, left_out: &[Range<usize>]) -> Digest {
        let mut bytes = Vec::new();
        let mut node = nodes.start;
        while node < nodes.end {
            if left_out.iter().any(|range| range.contains(&node)) || self.says_nothing(node) {
                node = self.subtree_end(node);
                continue;
            }
            if self.is_statement(node) {
                bytes.push(STATEMENT);
            }
            if self.is_leaf(node) {
                // A single arrow parameter may or may not be in parentheses.
                let is_bare = self.field(node) == Some("parameter") && self.kind(self.parent(node)) == "arrow_function";
                let (open, close) = if is_bare { (Some("("), Some(")")) } else { (None, None) };
                for token in open.into_iter().chain([self.token(node).as_str()]).chain(close) {
                    bytes.extend_from_slice(token.as_bytes());
                    bytes.push(SEPARATOR);
                }
            }
            node += 1;
        }
        Digest::of(bytes)
    }

    /// Whether a node is a comment or formatter style: a semicolon, a trailing comma, or parentheses that change nothing.
    fn says_nothing(&self, node: usize) -> bool {
        match self.kind(node) {
            "comment" => true,
            "(" | ")" => self.is_redundant(self.parent(node)),
            ";" | "empty_statement" => !self.ancestors(node).take(2).any(|outer| self.kind(outer) == "for_statement"),
            "," => {
                let next = self.subtree_end(node);
                let ends = next < self.len() && matches!(self.kind(next), ")" | "]" | "}");
                let is_hole = node > 0 && matches!(self.kind(node - 1), "," | "[");
                ends && self.parent(next) == self.parent(node) && !is_hole
            }
            _ => false,
        }
    }

    /// Whether parentheses stand around the whole of a value. Those around a sequence make one value of it.
    fn is_redundant(&self, parentheses: usize) -> bool {
        let is_sequence = self.parts(parentheses).any(|inner| self.kind(inner) == "sequence_expression");
        self.kind(parentheses) == "parenthesized_expression"
            && !is_sequence
            && match self.kind(self.parent(parentheses)) {
                "return_statement" | "arguments" | "array" | "parenthesized_expression" => true,
                "variable_declarator" | "pair" => self.field(parentheses) == Some("value"),
                "assignment_expression" => self.field(parentheses) == Some("right"),
                _ => false,
            }
    }

    /// A token's text; for a string, independent of its quotes.
    fn token(&self, node: usize) -> String {
        let text = self.text(node).replace("\r\n", "\n");
        let inner = (self.kind(node) == "string").then(|| text.get(1..text.len().saturating_sub(1))).flatten();
        let is_key = self.field(node) == Some("key");
        let is_plain = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_alphabetic() || c == '_' || c == '$');
        match inner {
            // Formatters add and remove unnecessary quotes around keys.
            Some(inner) if is_key && is_plain(inner) => inner.to_owned(),
            Some(inner) if !inner.contains(['\'', '"', '\\']) => format!("\"{inner}\""),
            _ => text,
        }
    }
}

impl Nodes for JavaScript {
    fn is_part(tree: &Tree<'_>, node: usize) -> bool {
        let kind = tree.kind(node);
        let is_word = tree.is_leaf(node) && kind == tree.text(node) && !VALUES.contains(&kind);
        kind != "comment" && !is_word
    }

    fn is_name(tree: &Tree<'_>, node: usize) -> bool {
        matches!(
            tree.kind(node),
            "identifier" | "shorthand_property_identifier" | "shorthand_property_identifier_pattern"
        )
    }

    /// Members of a class count as statements.
    fn is_statement(tree: &Tree<'_>, node: usize) -> bool {
        let holds = |kind: &str| matches!(kind, "program" | "statement_block" | "class_body" | "switch_case");
        node > 0 && holds(tree.kind(tree.parent(node))) && !tree.is_leaf(node)
    }
}

/// Nodes kept whole, because white space inside them counts.
fn is_atom(node: &tree_sitter::Node<'_>) -> bool {
    matches!(node.kind(), "string" | "regex" | "jsx_text" | "comment")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(source: &str) -> Digest {
        let tree = Tree::parse("a.js", source).unwrap();
        tree.digest(0..tree.len())
    }

    #[test]
    fn layout_comments_and_the_taste_of_formatters_are_nothing() {
        assert_eq!(digest("a = f(1,\n  'x',\n) // y\n"), digest("a=f(1, \"x\");\r\n"));
        assert_eq!(digest("f(n => n, { 'a': 1 })\n"), digest("f((n) => n, { a: 1 })\n"));
        assert_eq!(digest("const a = b + c\n"), digest("const a = (\n  b + c\n)\n"));
        assert_eq!(digest("f(a ? b : c)\n"), digest("f((a ? b : c))\n"));
        assert_eq!(digest("function f() { g(); h() }\n"), digest("function f() {\n  g()\n  h();\n}\n"));
    }

    #[test]
    fn what_counts_is_not_nothing() {
        assert_ne!(digest("a\nb()\n"), digest("a(b())\n"));
        assert_ne!(digest("f(`a  b`)\n"), digest("f(`a b`)\n"));
        assert_ne!(digest("f([1,,])\n"), digest("f([1])\n"));
        assert_ne!(digest("f((a, b))\n"), digest("f(a, b)\n"));
        assert_ne!(digest("x = (a + b) * c\n"), digest("x = a + b * c\n"));
        assert_ne!(digest("f(() => ({}))\n"), digest("f(() => {})\n"));
        assert_ne!(digest("for (;a;) {}\n"), digest("for (a;;) {}\n"));
        assert_ne!(digest("f('a b')\n"), digest("f('a  b')\n"));
        assert_ne!(digest("f({ 'a-b': 1 })\n"), digest("f({ ab: 1 })\n"));
    }

    #[test]
    fn broken_text_is_known_in_every_dialect() {
        let parses = |path: &str, text: &str| Tree::parse(path, text).is_some_and(|tree| tree.parses());
        assert!(!parses("a.js", "test('a', () => {\n"));
        assert!(parses("a.jsx", "const a = <b c={1}>d</b>;\n"));
        assert!(parses("a.ts", "const a: number = <number>b;\n"));
        assert!(parses("a.tsx", "const a: number = <B />;\n"));
        assert!(!parses("a.js", "const a: number = 1;\n"));
    }

    #[test]
    fn nesting_without_end_cannot_be_read() {
        for (open, close) in [("(", ")"), ("(", ""), ("[", "]"), ("{", "}"), ("{", ""), ("f(", ")")] {
            let source = format!("function f() {{ {}1{} }}\n", open.repeat(100_000), close.repeat(100_000));
            assert!(!Tree::parse("a.js", &source).unwrap().parses(), "{open}{close}");
        }
    }
}
