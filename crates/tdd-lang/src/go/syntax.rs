//! The syntax tree of a Go file: its names, statements and digests.

use std::ops::Range;
use std::sync::LazyLock;

use tdd_core::digest::Digest;

use super::Go;
use crate::syntax::{Grammar, Nodes, ParseCache, SEPARATOR};

static GRAMMAR: Grammar =
    Grammar { language: LazyLock::new(|| tree_sitter_go::LANGUAGE.into()), is_atom, known: ParseCache::new() };

/// Marks the start of a statement in a digest: the tree has no tokens for line ends.
const STATEMENT: u8 = 0xfe;

/// Nodes whose children are separated by line ends.
const STATEMENTS: [&str; 5] =
    ["source_file", "statement_list", "field_declaration_list", "import_spec_list", "interface_type"];

/// The syntax tree of a Go file.
pub(super) type Tree<'a> = crate::syntax::Tree<'a, Go>;

impl<'a> Tree<'a> {
    /// Parses a text; broken text has a tree too. `None` if there is no parser.
    pub fn parse(source: &'a str) -> Option<Self> {
        Self::with(&GRAMMAR, source)
    }

    /// The statements of a block or a case.
    pub fn statements(&self, block: usize) -> Vec<usize> {
        let of = |node: usize| self.parts(node).collect::<Vec<_>>();
        let list = self.children(block).find(|child| self.kind(*child) == "statement_list");
        list.map(of).unwrap_or_default()
    }

    /// The text of the child with this field name.
    pub fn named(&self, node: usize, field: &str) -> &'a str {
        self.child(node, field).map_or("", |child| self.text(child))
    }

    /// The name of the file's package.
    pub fn package(&self) -> &'a str {
        let clause = self.children(0).find(|child| self.kind(*child) == "package_clause");
        clause.and_then(|clause| self.parts(clause).last()).map_or("", |name| self.text(name))
    }

    /// The digest of the tokens of these nodes, without comments that have no meaning.
    pub fn digest(&self, nodes: Range<usize>) -> Digest {
        let end = nodes.end;
        self.digest_without(nodes, end..end)
    }

    /// `digest`, but without some of the nodes.
    pub fn digest_without(&self, nodes: Range<usize>, left_out: Range<usize>) -> Digest {
        let mut bytes = Vec::new();
        for node in nodes.filter(|node| !left_out.contains(node)) {
            let text = self.text(node);
            let is_comment = self.kind(node) == "comment";
            let is_style = matches!(text.trim(), "" | ";") || self.is_trailing_comma(node);
            if is_comment && !self.means_something(node) || is_style {
                continue;
            }
            if STATEMENTS.contains(&self.kind(self.parent(node))) && node > 0 {
                bytes.push(STATEMENT);
            }
            if self.is_leaf(node) {
                bytes.extend_from_slice(text.replace("\r\n", "\n").as_bytes());
                bytes.push(SEPARATOR);
            }
        }
        Digest::of(bytes)
    }

    /// Whether a comma only precedes a closing bracket.
    fn is_trailing_comma(&self, node: usize) -> bool {
        let after = self.siblings(self.subtree_end(node), self.subtree_end(self.parent(node)));
        let next = || after.map(|sibling| self.kind(sibling)).find(|kind| *kind != "comment");
        self.kind(node) == "," && matches!(next(), Some(")" | "]" | "}"))
    }

    /// Whether a comment is a directive, or part of the expected output of an example.
    pub fn means_something(&self, comment: usize) -> bool {
        let text = self.text(comment);
        let of_example = || {
            let mut around = self.ancestors(comment);
            let function = around.find(|outer| self.kind(*outer) == "function_declaration");
            function.is_some_and(|function| self.output(function).is_some_and(|from| from <= comment))
        };
        text.starts_with("//go:") || text.starts_with("// +build") || of_example()
    }

    /// The comment with which the expected output of an example begins.
    pub fn output(&self, function: usize) -> Option<usize> {
        let says = |text: &str| {
            let text = text.trim_start_matches(['/', '*', ' ', '\t']).to_lowercase();
            text.starts_with("output:") || text.starts_with("unordered output:")
        };
        let is_example = self.named(function, "name").starts_with("Example");
        let mut comments = self.subtree(function).filter(|node| self.kind(*node) == "comment");
        if is_example { comments.find(|node| says(self.text(*node))) } else { None }
    }
}

impl Nodes for Go {
    fn is_part(tree: &Tree<'_>, node: usize) -> bool {
        let kind = tree.kind(node);
        kind != "comment" && kind.len() > 1 && kind.starts_with(|c: char| c.is_ascii_lowercase())
    }

    fn is_name(tree: &Tree<'_>, node: usize) -> bool {
        let is_key = || {
            let element = tree.parent(node);
            tree.kind(element) == "literal_element" && tree.field(element) == Some("key")
        };
        let is_of_package = || tree.kind(tree.parent(node)) == "qualified_type" && tree.field(node) == Some("name");
        matches!(tree.kind(node), "identifier" | "type_identifier" | "package_identifier")
            && !is_key()
            && !is_of_package()
    }

    fn is_statement(tree: &Tree<'_>, node: usize) -> bool {
        matches!(tree.kind(tree.parent(node)), "statement_list" | "source_file")
    }
}

/// Whether a node becomes a leaf, because white space matters inside of it.
fn is_atom(node: &tree_sitter::Node<'_>) -> bool {
    matches!(node.kind(), "interpreted_string_literal" | "raw_string_literal" | "rune_literal" | "comment")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(source: &str) -> Digest {
        let source = format!("package a\n{source}");
        let tree = Tree::parse(&source).unwrap();
        assert!(tree.parses(), "{source}");
        tree.digest(0..tree.len())
    }

    #[test]
    fn layout_and_comments_are_nothing() {
        assert_eq!(digest("func f() { a := 1 /* x */; g(a) }\n"), digest("func f() {\n\ta := 1 // y\n\tg(a)\n\n}\r\n"));
        assert_eq!(digest("var a = f([]int{1, 2})\n"), digest("var a = f(\n\t[]int{\n\t\t1,\n\t\t2, // x\n\t},\n)\n"));
    }

    #[test]
    fn statements_texts_and_directives_count() {
        assert_ne!(digest("func f() { a(b); (c) }\n"), digest("func f() { a(b)(c) }\n"));
        assert_ne!(digest("var a = \"x  y\"\n"), digest("var a = \"x y\"\n"));
        assert_ne!(digest("//go:noinline\nfunc f() {}\n"), digest("//go:nosplit\nfunc f() {}\n"));
    }

    #[test]
    fn what_an_example_prints_counts() {
        let example = |output: &str| digest(&format!("func ExampleF() {{\n\tf() // f\n\t// {output}\n\t// more\n}}\n"));
        assert_ne!(example("Output: 1"), example("Output: 2"));
        assert_eq!(example("prints 1"), example("prints 2"));
    }

    #[test]
    fn broken_text_is_known() {
        assert!(Tree::parse("package a\nfunc f( {\n").is_some_and(|tree| !tree.parses()));
    }

    #[test]
    fn nesting_without_end_cannot_be_read() {
        for (open, close) in [("(", ")"), ("(", ""), ("[", "]"), ("{", "}"), ("{", ""), ("f(", ")")] {
            let source = format!("package a\nfunc f() {{ {}1{} }}\n", open.repeat(100_000), close.repeat(100_000));
            assert!(!Tree::parse(&source).unwrap().parses(), "{open}{close}");
        }
    }
}
