//! A Python file's syntax tree laid out flat, so that no walk over it needs recursion.

use std::ops::Range;
use std::sync::LazyLock;

use tdd_core::digest::Digest;
use tree_sitter::{Language, Parser, TreeCursor};

/// The grammar, kept so that the names in it live as long as the program.
static LANGUAGE: LazyLock<Language> = LazyLock::new(|| tree_sitter_python::LANGUAGE.into());

/// Between two tokens of a digest; no UTF-8 text holds this byte.
const SEPARATOR: u8 = 0xff;
/// Before each statement of a digest, and around a block: the tree has no tokens for line ends and indents.
const STATEMENT: u8 = 0xfe;
const BLOCK: u8 = 0xfd;

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
    parent: usize,
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

    /// A node's text.
    pub fn text(&self, node: usize) -> &'a str {
        self.source.get(self.range(node)).unwrap_or_default()
    }

    /// A node's bytes.
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

    /// The node around this one; the file itself is around itself.
    pub fn parent(&self, node: usize) -> usize {
        self.nodes[node].parent
    }

    /// This node and all inside of it.
    pub fn inside(&self, node: usize) -> Range<usize> {
        node..self.past(node)
    }

    /// The children of a node.
    pub fn children(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        let past = self.past(node);
        let within = move |node: &usize| *node < past;
        std::iter::successors(Some(node + 1).filter(within), move |node| Some(self.past(*node)).filter(within))
    }

    /// The children that are neither punctuation nor comments.
    pub fn parts(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        self.children(node).filter(|child| {
            let kind = self.kind(*child);
            kind != "comment" && kind.starts_with(|c: char| c.is_ascii_lowercase())
        })
    }

    /// The child that is this to its parent.
    pub fn child(&self, node: usize, field: &str) -> Option<usize> {
        self.children(node).find(|child| self.nodes[*child].field == Some(field))
    }

    /// The nodes around this one, innermost first.
    pub fn around(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(node), |node| (*node > 0).then(|| self.parent(*node))).skip(1)
    }

    /// The statement that a node is part of: the outermost one inside of the nearest block.
    pub fn statement(&self, node: usize) -> usize {
        std::iter::once(node).chain(self.around(node)).find(|at| self.is_statement(*at)).unwrap_or(node)
    }

    /// The names inside of a node: identifiers that stand for themselves, not attributes or keywords of calls.
    pub fn names(&self, node: usize) -> impl Iterator<Item = &'a str> + '_ {
        self.inside(node).filter(|at| self.is_name(*at)).map(|at| self.text(at))
    }

    /// Whether a node is an identifier that stands for itself.
    pub fn is_name(&self, node: usize) -> bool {
        let is_part = match self.kind(self.parent(node)) {
            "attribute" => self.nodes[node].field == Some("attribute"),
            "keyword_argument" => self.nodes[node].field == Some("name"),
            _ => false,
        };
        self.kind(node) == "identifier" && !is_part
    }

    /// The digest of the tokens of these nodes, comments and documentation left out.
    pub fn digest(&self, nodes: Range<usize>) -> Digest {
        let end = nodes.end;
        self.digest_without(nodes, end..end)
    }

    /// The same with some of the nodes left out.
    pub fn digest_without(&self, nodes: Range<usize>, left_out: Range<usize>) -> Digest {
        let mut bytes = Vec::new();
        let mut blocks = Vec::new();
        let mut node = nodes.start;
        while node < nodes.end {
            while blocks.last().is_some_and(|past| *past <= node) {
                blocks.pop();
                bytes.push(BLOCK);
            }
            if left_out.contains(&node) || self.says_nothing(node) {
                node = self.past(node);
                continue;
            }
            if self.is_statement(node) {
                bytes.push(STATEMENT);
            }
            if self.kind(node) == "block" {
                bytes.push(BLOCK);
                blocks.push(self.past(node));
            } else if self.past(node) == node + 1 {
                bytes.extend_from_slice(self.text(node).replace("\r\n", "\n").as_bytes());
                bytes.push(SEPARATOR);
            }
            node += 1;
        }
        Digest::of(bytes)
    }

    /// Whether the text is free of errors.
    pub fn parses(&self) -> bool {
        self.nodes.iter().all(|node| !node.broken)
    }

    fn is_statement(&self, node: usize) -> bool {
        node > 0 && matches!(self.kind(self.parent(node)), "module" | "block")
    }

    /// A comment, or a text that stands by itself and holds no examples that could be run.
    fn says_nothing(&self, node: usize) -> bool {
        let is_text = || {
            self.kind(node) == "expression_statement"
                && self.past(node) > node + 1
                && self.kind(node + 1) == "string"
                && self.past(node + 1) == self.past(node)
        };
        self.kind(node) == "comment" || is_text() && !self.text(node).contains(">>>")
    }
}

fn flatten(mut cursor: TreeCursor<'_>) -> Vec<Node> {
    let mut nodes: Vec<Node> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    loop {
        let parent = open.last().copied().unwrap_or(0);
        open.push(nodes.len());
        let node = read(&cursor, parent);
        let is_atom = is_atom(&cursor, node.kind);
        nodes.push(node);
        if !is_atom && cursor.goto_first_child() {
            continue;
        }
        loop {
            let past = nodes.len();
            if let Some(node) = open.pop() {
                nodes[node].past = past;
            }
            if cursor.goto_next_sibling() {
                break;
            }
            if !cursor.goto_parent() {
                return nodes;
            }
        }
    }
}

/// Kept whole, because white space counts inside of it. A text with expressions in it is not: they count.
fn is_atom(cursor: &TreeCursor<'_>, kind: &str) -> bool {
    let node = cursor.node();
    let has_expressions = || {
        let mut inner = node.walk();
        node.children(&mut inner).any(|child| child.kind() == "interpolation")
    };
    kind == "string_content" || kind == "string" && !has_expressions()
}

fn read(cursor: &TreeCursor<'_>, parent: usize) -> Node {
    let node = cursor.node();
    let kind = LANGUAGE.node_kind_for_id(node.kind_id()).unwrap_or_default();
    Node {
        kind,
        field: cursor.field_id().and_then(|field| LANGUAGE.field_name_for_id(field.get())),
        range: node.byte_range(),
        row: node.start_position().row,
        parent,
        past: 0,
        broken: node.is_error() || node.is_missing() || (kind == "string" && node.has_error()),
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
    fn layout_comments_and_documentation_are_nothing() {
        assert_eq!(digest("a = f(1,\n  2) # x\n"), digest("a=f(1, 2)\r\n"));
        assert_eq!(digest("def f():\n    \"\"\"Doc.\"\"\"\n    g()\n"), digest("def f():\n  g()\n"));
    }

    #[test]
    fn lines_and_indents_count() {
        assert_ne!(digest("if a:\n    b()\n    c()\n"), digest("if a:\n    b()\nc()\n"));
        assert_ne!(digest("a = b\n-c\n"), digest("a = b -c\n"));
        assert_ne!(digest("a = 'x  y'\n"), digest("a = 'x y'\n"));
        assert_ne!(digest("def f():\n    '''>>> f()\n    1'''\n"), digest("def f():\n    '''>>> f()\n    2'''\n"));
    }

    #[test]
    fn broken_text_is_known() {
        assert!(Tree::parse("def f(:\n").is_some_and(|tree| !tree.parses()));
        assert!(Tree::parse("def f():\n    pass\n").is_some_and(|tree| tree.parses()));
    }
}
