//! A file's syntax tree laid out flat, so that no walk over it needs recursion: what all languages share.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::ops::{Deref, Range};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use tdd_core::change::Unreadable;
use tdd_core::digest::Digest;
use tdd_core::recent::Recent;
use tdd_core::signs::Place;
use tree_sitter::{Language, Parser, TreeCursor};

/// Between two tokens of a digest; no UTF-8 text holds this byte.
pub(crate) const SEPARATOR: u8 = 0xff;

/// How texts of one language are read.
#[derive(Debug)]
pub(crate) struct Grammar {
    /// Kept as long as the program, so that the names in it live as long.
    pub language: LazyLock<Language>,
    /// Whether a node is kept whole, because white space counts inside of it.
    pub is_atom: fn(&tree_sitter::Node<'_>) -> bool,
    /// What was read last.
    pub known: ParseCache,
}

/// The syntax tree of a file in the language `L`, which adds what names, statements and digests are in it.
#[derive(Debug)]
pub(crate) struct Tree<'a, L> {
    flat: FlatTree<'a>,
    language: PhantomData<L>,
}

impl<'a, L> Tree<'a, L> {
    /// The tree of this text; broken text has one as well. `None` if there is no parser.
    pub fn with(grammar: &'static Grammar, source: &'a str) -> Option<Self> {
        FlatTree::parse(grammar, source).map(|flat| Self { flat, language: PhantomData })
    }
}

/// What a language says of the nodes in its trees.
pub(crate) trait Nodes: Sized {
    /// Whether a node is more than punctuation, a word of the language or a comment.
    fn is_part(tree: &Tree<'_, Self>, node: usize) -> bool;
    /// Whether a node is a name that stands for itself, not that of a field, a method or a key.
    fn is_name(tree: &Tree<'_, Self>, node: usize) -> bool;
    /// Whether a node stands in a list of statements.
    fn is_statement(tree: &Tree<'_, Self>, node: usize) -> bool;
}

impl<'a, L: Nodes> Tree<'a, L> {
    /// The children that are more than punctuation, words of the language and comments.
    pub fn parts(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        self.children(node).filter(|child| L::is_part(self, *child))
    }

    /// Whether a node is a name that stands for itself.
    pub fn is_name(&self, node: usize) -> bool {
        L::is_name(self, node)
    }

    /// The names inside of a node that stand for themselves.
    pub fn names(&self, node: usize) -> impl Iterator<Item = &'a str> + '_ {
        self.inside(node).filter(|at| self.is_name(*at)).map(|at| self.text(at))
    }

    /// Whether a node stands in a list of statements.
    pub fn is_statement(&self, node: usize) -> bool {
        L::is_statement(self, node)
    }

    /// The innermost statement that a node is, or is part of.
    pub fn statement(&self, node: usize) -> usize {
        std::iter::once(node).chain(self.around(node)).find(|at| self.is_statement(*at)).unwrap_or(node)
    }
}

impl<'a, L> Deref for Tree<'a, L> {
    type Target = FlatTree<'a>;

    fn deref(&self) -> &Self::Target {
        &self.flat
    }
}

/// A syntax tree: its nodes in the order in which they begin, each parent before its children.
#[derive(Debug)]
pub(crate) struct FlatTree<'a> {
    source: &'a str,
    nodes: Arc<[Node]>,
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

/// Where a parser stumbled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Flaw {
    /// On which line, from 1.
    pub line: usize,
    /// What is wrong there.
    pub problem: String,
    /// What stands on the line.
    pub text: String,
}

impl Flaw {
    /// The flaw of a file; a file without a known one could not be read at all.
    pub fn told(flaw: Option<Self>, path: &str) -> Unreadable {
        let unknown = || Self { line: 1, problem: "there is no parser for it".to_owned(), text: String::new() };
        let Self { line, problem, text } = flaw.unwrap_or_else(unknown);
        Unreadable { place: Place::new(path, line), problem, text }
    }
}

/// So many characters of a line are quoted.
const MAX_QUOTED: usize = 120;

fn closer(opening: &str) -> &'static str {
    match opening {
        "(" => ")",
        "[" => "]",
        _ => "}",
    }
}

/// The trees of the last texts by the digest of each: a step looks at the same few files again and again.
#[derive(Debug)]
pub(crate) struct ParseCache(Mutex<Recent<Digest, Arc<[Node]>>>);

/// How many nodes are kept in memory, a few MB of them.
const KEPT_NODES: usize = 40_000;

/// A file that is nested deeper than this counts as one that cannot be read: a walk outwards from each of its nodes
/// would take minutes. Compilers run out of stack on such files as well.
pub const MAX_DEPTH: usize = 2_000;

impl ParseCache {
    /// None yet.
    pub const fn new() -> Self {
        Self(Mutex::new(Recent::new(KEPT_NODES)))
    }

    fn find(&self, text: &Digest) -> Option<Arc<[Node]>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(text).cloned()
    }

    fn keep(&self, text: Digest, nodes: &Arc<[Node]>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).keep(text, Arc::clone(nodes), nodes.len());
    }
}

impl<'a> FlatTree<'a> {
    /// The tree of this text; broken text has one as well, and text that is nested too deep is one broken node. `None`
    /// if there is no parser.
    pub fn parse(grammar: &'static Grammar, source: &'a str) -> Option<Self> {
        let text = Digest::of(source);
        if let Some(nodes) = grammar.known.find(&text) {
            return Some(Self { source, nodes });
        }
        let mut parser = Parser::new();
        parser.set_language(&grammar.language).ok()?;
        // The parser itself takes minutes for brackets without end, or overflows its stack.
        let is_too_deep = depth_of_brackets(source) > MAX_DEPTH;
        let tree = parser.parse(if is_too_deep { "" } else { source }, None)?;
        let nodes = if is_too_deep { None } else { flatten(grammar, tree.walk()) };
        let unread = || {
            let file = read(grammar, &tree.walk(), /* parent */ 0, /* is_atom */ true);
            vec![Node { range: 0..source.len(), past: 1, broken: true, ..file }]
        };
        let nodes: Arc<[Node]> = nodes.unwrap_or_else(unread).into();
        grammar.known.keep(text, &nodes);
        Some(Self { source, nodes })
    }

    /// The text that was parsed.
    pub fn source(&self) -> &'a str {
        self.source
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

    /// Whether a node has nothing inside of it.
    pub fn is_leaf(&self, node: usize) -> bool {
        self.past(node) == node + 1
    }

    /// The first node that begins at this byte or behind it.
    pub fn behind(&self, byte: usize) -> usize {
        self.nodes.partition_point(|node| node.range.start < byte)
    }

    /// The one other place of a name: among these nodes, or, if it is in none of them, anywhere. `None` if there are
    /// several.
    pub fn other_place(&self, name: usize, own: &Range<usize>, is_name: impl Fn(usize) -> bool) -> Option<usize> {
        let is_other = |node: &usize| *node != name && is_name(*node) && self.text(*node) == self.text(name);
        let is_own = own.clone().any(|node| is_other(&node));
        let mut places = if is_own { own.clone() } else { 0..self.len() }.filter(is_other);
        places.next().filter(|_| places.next().is_none())
    }

    /// Whether a node is a name, whatever it names.
    pub fn is_word(&self, node: usize) -> bool {
        self.is_leaf(node) && self.kind(node).ends_with("identifier")
    }

    /// The names inside of a node, whatever they name.
    pub fn words(&self, node: usize) -> impl Iterator<Item = &'a str> + '_ {
        self.inside(node).filter(|inner| self.is_word(*inner)).map(|inner| self.text(inner))
    }

    /// Whether the parser could read all of the text.
    pub fn parses(&self) -> bool {
        self.broken().next().is_none()
    }

    /// Where the parser stumbled first, if it did.
    pub fn flaw(&self) -> Option<Flaw> {
        self.flaw_of(self.broken())
    }

    fn broken(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.len()).filter(|node| self.is_broken(*node))
    }

    /// What is wrong where these nodes are broken. Brackets that do not match come first: the parser itself notices
    /// them far behind.
    pub fn flaw_of(&self, mut broken: impl Iterator<Item = usize>) -> Option<Flaw> {
        let is_innermost = |node: &usize| self.inside(*node).skip(1).all(|inner| !self.is_broken(inner));
        let first = broken.find(is_innermost)?;
        let (line, problem) = self.unbalanced().unwrap_or_else(|| (self.line(first), self.complaint(first)));
        let text = self.source.lines().nth(line - 1).unwrap_or_default();
        Some(Flaw { line, problem, text: text.trim().chars().take(MAX_QUOTED).collect() })
    }

    /// The first bracket that does not match, with its line.
    fn unbalanced(&self) -> Option<(usize, String)> {
        let mut open: Vec<usize> = Vec::new();
        for leaf in (0..self.len()).filter(|node| self.is_leaf(*node) && self.kind(*node) == self.text(*node)) {
            match self.text(leaf) {
                "(" | "[" | "{" | "${" => open.push(leaf),
                closing @ (")" | "]" | "}") => match open.pop() {
                    None => return Some((self.line(leaf), format!("`{closing}` closes nothing"))),
                    Some(opening) if closer(self.text(opening)) == closing => {}
                    Some(opening) => {
                        let (bracket, behind) = (self.text(opening), self.line(leaf));
                        let problem = format!("`{bracket}` is not closed before the `{closing}` of line {behind}");
                        return Some((self.line(opening), problem));
                    }
                },
                _ => {}
            }
        }
        open.pop().map(|opening| (self.line(opening), format!("`{}` is never closed", self.text(opening))))
    }

    fn complaint(&self, broken: usize) -> String {
        let text: String = self.text(broken).lines().next().unwrap_or_default().chars().take(MAX_QUOTED).collect();
        match (self.text(broken), self.kind(broken)) {
            ("", kind) => format!("`{kind}` is missing"),
            _ => format!("the parser cannot read `{}`", text.trim()),
        }
    }

    /// Whether the parser could not read this node.
    pub fn is_broken(&self, node: usize) -> bool {
        self.nodes[node].broken
    }

    /// The node around this one; the file itself is around itself.
    pub fn parent(&self, node: usize) -> usize {
        self.nodes[node].parent
    }

    /// The nodes around this one, innermost first.
    pub fn around(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(node), |node| (*node > 0).then(|| self.parent(*node))).skip(1)
    }

    /// This node and all inside of it.
    pub fn inside(&self, node: usize) -> Range<usize> {
        node..self.past(node)
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
}

/// How deep the brackets of a text are nested at most; those in its strings and comments count as well.
fn depth_of_brackets(text: &str) -> usize {
    let mut depth = 0_usize;
    let depths = text.bytes().map(|byte| {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth
    });
    depths.max().unwrap_or(0)
}

/// The nodes of a tree. `None` if they are nested deeper than anybody nests them.
fn flatten(grammar: &'static Grammar, mut cursor: TreeCursor<'_>) -> Option<Vec<Node>> {
    let mut nodes = Vec::new();
    let mut open = Vec::new();
    loop {
        let parent = open.last().copied().unwrap_or(0);
        open.push(nodes.len());
        if open.len() > MAX_DEPTH {
            return None;
        }
        let is_atom = (grammar.is_atom)(&cursor.node());
        nodes.push(read(grammar, &cursor, parent, is_atom));
        if !is_atom && cursor.goto_first_child() {
            continue;
        }
        loop {
            close(&mut nodes, &mut open);
            if cursor.goto_next_sibling() {
                break;
            }
            if !cursor.goto_parent() {
                return Some(nodes);
            }
        }
    }
}

fn read(grammar: &'static Grammar, cursor: &TreeCursor<'_>, parent: usize, is_atom: bool) -> Node {
    let node = cursor.node();
    Node {
        kind: grammar.language.node_kind_for_id(node.kind_id()).unwrap_or_default(),
        field: cursor.field_id().and_then(|field| grammar.language.field_name_for_id(field.get())),
        range: node.byte_range(),
        row: node.start_position().row,
        parent,
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

/// The text of a tree with some names replaced by others.
pub(crate) fn renamed(tree: &FlatTree<'_>, names: &BTreeMap<String, String>) -> String {
    let edits = (0..tree.len()).filter(|node| tree.is_word(*node));
    let edits = edits.filter_map(|node| names.get(tree.text(node)).map(|name| (tree.range(node), name.clone())));
    splice(tree.source(), edits.collect())
}

/// A text with some of its bytes replaced; they do not overlap.
pub(crate) fn splice(text: &str, mut edits: Vec<(Range<usize>, String)>) -> String {
    edits.sort_by_key(|(range, _)| (range.start, range.end));
    let mut made = String::with_capacity(text.len());
    let mut from = 0;
    for (range, other) in edits {
        made.push_str(text.get(from..range.start).unwrap_or_default());
        made.push_str(&other);
        from = range.end;
    }
    made.push_str(text.get(from..).unwrap_or_default());
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    static GRAMMAR: Grammar = Grammar {
        language: LazyLock::new(|| tree_sitter_rust::LANGUAGE.into()),
        is_atom: |_| false,
        known: ParseCache::new(),
    };

    /// The line that a Rust text is said to be wrong on, and why.
    fn check(source: &str, line: usize, problem: &str) {
        let flaw = FlatTree::parse(&GRAMMAR, source).unwrap().flaw().unwrap();
        let text = source.lines().nth(line - 1).unwrap().trim();
        assert_eq!((flaw.line, flaw.problem.as_str(), flaw.text.as_str()), (line, problem, text), "{source}");
    }

    #[test]
    fn a_text_that_does_not_parse_says_where_and_why() {
        check("fn a() {\n    f(1, 2;\n    g();\n}\n", 2, "`(` is not closed before the `}` of line 4");
        check("fn a() {\n    f();\n", 1, "`{` is never closed");
        check("fn a() {}\n}\n", 2, "`}` closes nothing");
        check("use a::b\n\nfn c() {}\n", 1, "`;` is missing");
        check("fn a() {\n    let b = = c();\n}\n", 2, "the parser cannot read `=`");
        assert_eq!(FlatTree::parse(&GRAMMAR, "fn a() { f(\"(\", '{'); }").unwrap().flaw(), None);
    }

    #[test]
    fn a_text_that_was_read_is_not_read_again_and_another_one_is() {
        let parse = |source| FlatTree::parse(&GRAMMAR, source).unwrap();
        let (one, again, other) = (parse("fn a() {}"), parse("fn a() {}"), parse("fn b() {}"));
        assert!(Arc::ptr_eq(&one.nodes, &again.nodes));
        assert!(!Arc::ptr_eq(&one.nodes, &other.nodes));
        assert!((0..other.len()).any(|node| other.text(node) == "b"));
    }

    #[test]
    fn text_that_is_nested_too_deep_is_one_broken_node() {
        for (open, close) in
            [("(", ")"), ("(", ""), ("[", "]"), ("{", "}"), ("{", ""), ("f(", ")"), ("-", ""), ("a+", "")]
        {
            let source = format!("fn f() {{ {}1{} }}", open.repeat(100_000), close.repeat(100_000));
            let tree = FlatTree::parse(&GRAMMAR, &source).unwrap();
            assert_eq!((tree.len(), tree.parses(), tree.text(0) == source), (1, false, true), "{open}{close}");
        }
    }

    #[test]
    fn text_that_is_nested_as_somebody_nests_it_is_read() {
        for (open, close) in [("(", ")"), ("[", "]"), ("{", "}"), ("f(", ")"), ("a+", "")] {
            let source = format!("fn f() {{ {}1{} }}", open.repeat(500), close.repeat(500));
            assert!(FlatTree::parse(&GRAMMAR, &source).unwrap().parses(), "{open}{close}");
        }
    }
}
