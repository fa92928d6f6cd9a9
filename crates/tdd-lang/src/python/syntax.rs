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

/// Expressions that bind more tightly than any operator.
const TIGHT: [&str; 13] = [
    "identifier",
    "attribute",
    "call",
    "subscript",
    "string",
    "integer",
    "float",
    "list",
    "dictionary",
    "set",
    "true",
    "false",
    "none",
];

/// Nodes that keep their expressions apart by brackets, commas or keywords.
const DELIMITING: [&str; 13] = [
    "argument_list",
    "assert_statement",
    "default_parameter",
    "expression_list",
    "expression_statement",
    "keyword_argument",
    "list",
    "pair",
    "parenthesized_expression",
    "raise_statement",
    "return_statement",
    "set",
    "tuple",
];

/// Lists in which a trailing comma has no meaning.
const LISTS: [&str; 7] =
    ["argument_list", "dictionary", "import_from_statement", "list", "parameters", "set", "with_clause"];

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
            if left_out.iter().any(|range| range.contains(&node)) || self.says_nothing(node) || self.is_style(node) {
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

    /// A token as any formatter would leave it.
    fn token(&self, node: usize) -> String {
        let text = self.text(node).replace("\r\n", "\n");
        match self.kind(node) {
            "string" => with_double_quotes(&text).unwrap_or(text),
            // The quotes of a string with interpolated expressions, if there are no others inside of it.
            "string_start" | "string_end" if self.text(self.parent(node)).matches(['\'', '"']).count() == 2 => {
                text.replace('\'', "\"")
            }
            "integer" | "float" => text.to_lowercase(),
            _ => text,
        }
    }

    /// Whether a token is formatter style: parentheses that change nothing, a trailing comma, or a semicolon that ends
    /// a statement.
    fn is_style(&self, node: usize) -> bool {
        let outer = self.parent(node);
        match (self.kind(node), self.kind(outer)) {
            ("(" | ")", "parenthesized_expression") => self.is_redundant(outer),
            ("(" | ")", "tuple" | "tuple_pattern") => self.is_bare_tuple(outer),
            ("(" | ")", "import_from_statement" | "with_clause") => true,
            (",", _) => self.is_trailing_comma(node, outer),
            (";", "module" | "block") => true,
            _ => false,
        }
    }

    /// Whether an expression means the same without its parentheses: nothing beside it could bind more tightly.
    fn is_redundant(&self, parentheses: usize) -> bool {
        // `f"{(a)=}"` shows the parentheses.
        let is_shown = self.ancestors(parentheses).any(|outer| self.kind(outer) == "interpolation");
        let Some(inner) = self.parts(parentheses).next().filter(|_| !is_shown) else { return false };
        if TIGHT.contains(&self.kind(inner)) && self.field(parentheses) != Some("left") {
            return true;
        }
        match self.kind(self.parent(parentheses)) {
            "assignment" | "augmented_assignment" | "for_statement" => self.field(parentheses) == Some("right"),
            "if_statement" | "elif_clause" | "while_statement" => self.field(parentheses) == Some("condition"),
            outer => DELIMITING.contains(&outer),
        }
    }

    /// Whether a tuple would be the same without its parentheses, because of where it is.
    fn is_bare_tuple(&self, tuple: usize) -> bool {
        let wanted = if self.kind(tuple) == "tuple" { "right" } else { "left" };
        let has_elements = self.parts(tuple).next().is_some();
        has_elements
            && match self.kind(self.parent(tuple)) {
                "return_statement" => true,
                "assignment" => wanted == "right" && self.field(tuple) == Some("right"),
                "for_statement" => self.field(tuple) == Some(wanted),
                _ => false,
            }
    }

    /// Whether a comma only precedes a closing bracket; the comma of `(a,)` and of `a[b,]` makes a tuple.
    fn is_trailing_comma(&self, comma: usize, outer: usize) -> bool {
        let after = self.siblings(self.subtree_end(comma), self.subtree_end(outer));
        let next = after.map(|node| self.kind(node)).find(|kind| *kind != "comment");
        matches!(next, Some(")" | "]" | "}"))
            && match self.kind(outer) {
                "tuple" | "tuple_pattern" => self.parts(outer).nth(1).is_some(),
                outer => LISTS.contains(&outer),
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

/// A string in double quotes, whichever it had: of the escapes, those of quotes are taken out.
fn with_double_quotes(text: &str) -> Option<String> {
    let (prefix, quoted) = text.split_at(text.find(['\'', '"'])?);
    let inner = |quotes: &str| quoted.strip_prefix(quotes)?.strip_suffix(quotes);
    let inner = ["\"\"\"", "'''", "\"", "'"].into_iter().find_map(inner)?;
    let prefix = prefix.to_lowercase().replace('u', "");
    if prefix.contains('r') {
        return Some(format!("{prefix}\"{inner}\""));
    }
    let mut plain = String::new();
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        match (character, if character == '\\' { characters.next() } else { None }) {
            ('\\', Some(quote @ ('\'' | '"'))) => plain.push(quote),
            (character, escaped) => plain.extend([character].into_iter().chain(escaped)),
        }
    }
    Some(format!("{prefix}\"{plain}\""))
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
    fn what_a_formatter_does_is_nothing() {
        for (before, after) in [
            ("x = a().b(1).c()\n", "x = (\n    a()\n    .b(1)\n    .c()\n)\n"),
            ("assert a == b, 'no'\n", "assert (\n    a == b\n), \"no\"\n"),
            ("f(a, b)\n", "f(\n    a,\n    b,\n)\n"),
            ("f(x=a if b else c)\n", "f(x=(a if b else c))\n"),
            ("x = [1, 2]\n", "x = [\n    1,\n    2,  # two\n]\n"),
            ("if (a and b): c(); d()\n", "if a and b:\n    c()\n    d()\n"),
            ("return a, b\n", "return (a, b)\n"),
            ("for (a, b) in c:\n    d()\n", "for a, b in c:\n    d()\n"),
            ("from a import b, c\n", "from a import (\n    b,\n    c,\n)\n"),
            ("a = 'it\\'s'\n", "a = \"it's\"\n"),
            ("a = '''b'''\n", "a = \"\"\"b\"\"\"\n"),
            ("a = f'{b}!'\n", "a = f\"{b}!\"\n"),
            ("a = 0XFF + 1E5\n", "a = 0xff + 1e5\n"),
        ] {
            assert_eq!(digest(before), digest(after), "{before}{after}");
        }
    }

    #[test]
    fn parentheses_commas_and_quotes_that_mean_something_count() {
        for (before, after) in [
            ("x = (a + b) * c\n", "x = a + b * c\n"),
            ("assert (a or b) and c\n", "assert a or b and c\n"),
            ("assert a, 'no'\n", "assert (a, 'no')\n"),
            ("assert a == (b, )\n", "assert a == (b)\n"),
            ("assert (a == b) == c\n", "assert a == b == c\n"),
            ("assert not (a == b)\n", "assert (not a) == b\n"),
            ("f((a, b))\n", "f(a, b)\n"),
            ("x = a[b,]\n", "x = a[b]\n"),
            ("x = ()\n", "x = f()\n"),
            ("x = (a for a in b)\n", "x = [a for a in b]\n"),
            ("x = ['a', 'b']\n", "x = ['a' 'b']\n"),
            ("x = f'{(a)=}'\n", "x = f'{a=}'\n"),
            ("x = '\\\\'\n", "x = '\\''\n"),
            ("x = r'\\''\n", "x = '\\''\n"),
            ("x = 'a\\nb'\n", "x = '''a\nb'''\n"),
            ("x = lambda: (a, b)\n", "x = lambda: a, b\n"),
        ] {
            assert_ne!(digest(before), digest(after), "{before}{after}");
        }
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
