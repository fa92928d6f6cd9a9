//! A syntax tree as a flat list of nodes, so that no walk over it needs recursion; shared by all languages.

mod depth;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::ops::{ControlFlow, Deref, Range};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use tdd_core::change::Unreadable;
use tdd_core::digest::Digest;
use tdd_core::recent::Recent;
use tdd_core::signs::Place;
use tree_sitter::{Language, ParseOptions, ParseState, Parser, TreeCursor};

/// Separates two tokens in a digest; this byte never occurs in UTF-8 text.
pub(crate) const SEPARATOR: u8 = 0xff;

/// How to parse one language.
#[derive(Debug)]
pub(crate) struct Grammar {
    /// Static, so that the names of node kinds are static too.
    pub language: LazyLock<Language>,
    /// Whether a node becomes a leaf, because white space matters inside of it.
    pub is_atom: fn(&tree_sitter::Node<'_>) -> bool,
    /// Cache of recent syntax trees.
    pub known: ParseCache,
}

/// The syntax tree of a file in the language `L`, which defines what its names and statements are.
#[derive(Debug)]
pub(crate) struct Tree<'a, L> {
    flat: FlatTree<'a>,
    language: PhantomData<L>,
}

impl<'a, L> Tree<'a, L> {
    /// Parses a text; broken text has a tree too. `None` if there is no parser.
    pub fn with(grammar: &'static Grammar, source: &'a str) -> Option<Self> {
        FlatTree::parse(grammar, source).map(|flat| Self { flat, language: PhantomData })
    }
}

/// Classifies the nodes of a language's trees.
pub(crate) trait Nodes: Sized {
    /// Whether a node is more than punctuation, a keyword or a comment.
    fn is_part(tree: &Tree<'_, Self>, node: usize) -> bool;
    /// Whether a node is a name used on its own, not that of a field, a method or a key.
    fn is_name(tree: &Tree<'_, Self>, node: usize) -> bool;
    /// Whether a node is in a list of statements.
    fn is_statement(tree: &Tree<'_, Self>, node: usize) -> bool;
}

impl<'a, L: Nodes> Tree<'a, L> {
    /// The children that are more than punctuation, keywords and comments.
    pub fn parts(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        self.children(node).filter(|child| L::is_part(self, *child))
    }

    /// The conditions that this operator (`and` in the language's own word) joins; parentheses around them fall away.
    pub fn conjuncts(&self, condition: usize, kind: &str, and: &str) -> Vec<usize> {
        let is_and = |node: usize| self.child(node, "operator").is_some_and(|word| self.text(word) == and);
        let (mut waiting, mut found) = (vec![condition], Vec::new());
        while let Some(node) = waiting.pop() {
            match self.kind(node) {
                "parenthesized_expression" => waiting.extend(self.parts(node).next()),
                joined if joined == kind && is_and(node) => {
                    waiting.extend(self.child(node, "right").into_iter().chain(self.child(node, "left")));
                }
                _ => found.push(node),
            }
        }
        found
    }

    /// Whether a node is a name used on its own.
    pub fn is_name(&self, node: usize) -> bool {
        L::is_name(self, node)
    }

    /// The names inside a node that are used on their own.
    pub fn names(&self, node: usize) -> impl Iterator<Item = &'a str> + '_ {
        self.subtree(node).filter(|at| self.is_name(*at)).map(|at| self.text(at))
    }

    /// Whether a node is in a list of statements.
    pub fn is_statement(&self, node: usize) -> bool {
        L::is_statement(self, node)
    }

    /// The innermost statement that a node is, or is part of.
    pub fn statement(&self, node: usize) -> usize {
        std::iter::once(node).chain(self.ancestors(node)).find(|at| self.is_statement(*at)).unwrap_or(node)
    }
}

impl<'a, L> Deref for Tree<'a, L> {
    type Target = FlatTree<'a>;

    fn deref(&self) -> &Self::Target {
        &self.flat
    }
}

/// A syntax tree: its nodes in source order, each parent before its children.
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
    /// The first node after this node's subtree.
    subtree_end: usize,
    broken: bool,
    /// The first child with a field name; 0 if there is none.
    first_field: usize,
    /// The next sibling whose field name no sibling before it has; 0 if there is none. A search by field name therefore
    /// takes a few steps, however many children there are.
    next_field: usize,
}

/// A syntax error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    /// Line of the error, from 1.
    pub line: usize,
    /// What is wrong there.
    pub problem: String,
    /// Text of the line.
    pub text: String,
}

impl SyntaxError {
    /// Converts the syntax error of a file; `None` means that there is no parser for the file.
    pub fn into_unreadable(syntax_error: Option<Self>, path: &str) -> Unreadable {
        let unknown = || Self { line: 1, problem: "there is no parser for it".to_owned(), text: String::new() };
        let Self { line, problem, text } = syntax_error.unwrap_or_else(unknown);
        Unreadable { place: Place::new(path, line), problem, text }
    }
}

/// Longest quotation of a source line, in characters.
const MAX_QUOTED: usize = 120;

fn closer(opening: &str) -> &'static str {
    match opening {
        "(" => ")",
        "[" => "]",
        _ => "}",
    }
}

/// Cache of recent syntax trees by digest of the text: a step reads the same few files again and again.
#[derive(Debug)]
pub(crate) struct ParseCache(Mutex<Recent<Digest, Arc<[Node]>>>);

/// Capacity of the cache in nodes; this is at most 150 MB, and much less in most projects. It has room for the largest
/// file that people generate: parsing takes longer than everything that is done with the tree.
const KEPT_NODES: usize = 1_500_000;

/// Maximum nesting depth. A deeper file counts as unreadable: walking outwards from each of its nodes would take
/// minutes. Compilers run out of stack on such files as well.
pub const MAX_DEPTH: usize = 2_000;

/// Maximum number of operators and neighbouring words in one expression. A parser nests most of them, but a parser that
/// has to recover from errors needs minutes for some.
const MAX_CHAIN: usize = 20_000;

/// How many bytes of a text the parser gets at a time.
const CHUNK: usize = 4_096;

/// How often the parser may read each chunk on average. It reads a chunk three times at most, unless it loses its way.
const MAX_READS: usize = 50;

/// Maximum levels of indentation. Python itself allows 100.
const MAX_INDENTATION: usize = 400;

/// The kind of the only node of a file that is nested too deeply.
const TOO_DEEP: &str = "nested too deeply";

impl ParseCache {
    /// An empty cache.
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
    /// Parses a text. Broken text has a tree too; text that is nested too deeply becomes one broken node. `None` if
    /// there is no parser.
    pub fn parse(grammar: &'static Grammar, source: &'a str) -> Option<Self> {
        let text = Digest::of(source);
        if let Some(nodes) = grammar.known.find(&text) {
            return Some(Self { source, nodes });
        }
        // On some texts that are nested too deeply, the parser itself takes minutes or overflows its stack.
        let nodes = match depth::first_too_deep(source) {
            Some(row) => Err(row),
            None => parsed(grammar, source)?,
        };
        let nodes: Arc<[Node]> = nodes.unwrap_or_else(|row| vec![Node::too_deep(source, row)]).into();
        grammar.known.keep(text, &nodes);
        Some(Self { source, nodes })
    }

    /// The text that was parsed.
    pub fn source(&self) -> &'a str {
        self.source
    }

    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// A node's kind in the grammar.
    pub fn kind(&self, node: usize) -> &'static str {
        self.nodes[node].kind
    }

    /// A node's field name in its parent.
    pub fn field(&self, node: usize) -> Option<&'static str> {
        self.nodes[node].field
    }

    pub fn text(&self, node: usize) -> &'a str {
        self.source.get(self.range(node)).unwrap_or_default()
    }

    /// A node's byte range.
    pub fn range(&self, node: usize) -> Range<usize> {
        self.nodes[node].range.clone()
    }

    /// The line on which a node begins, from 1.
    pub fn line(&self, node: usize) -> usize {
        self.nodes[node].row + 1
    }

    /// The first node after a node's subtree.
    pub fn subtree_end(&self, node: usize) -> usize {
        self.nodes[node].subtree_end
    }

    /// Whether a node has no children.
    pub fn is_leaf(&self, node: usize) -> bool {
        self.subtree_end(node) == node + 1
    }

    /// The first node that begins at or after this byte.
    pub fn first_from(&self, byte: usize) -> usize {
        self.nodes.partition_point(|node| node.range.start < byte)
    }

    /// The nodes with exactly these bytes, outermost first.
    pub fn nodes_at(&self, span: &Range<usize>) -> impl Iterator<Item = usize> + '_ {
        let span = span.clone();
        let start = span.start;
        let from_start = (self.first_from(start)..self.len()).take_while(move |node| self.range(*node).start == start);
        from_start.filter(move |node| self.range(*node) == span)
    }

    /// For each node, whether it is in one of these ranges of nodes.
    pub fn are_in(&self, ranges: impl IntoIterator<Item = Range<usize>>) -> Vec<bool> {
        let mut are_in = vec![false; self.len()];
        ranges.into_iter().for_each(|range| are_in[range].fill(true));
        are_in
    }

    /// The only other occurrence of a name: among the nodes `own`, or, if it is in none of them, in the whole file.
    /// `None` if there are several.
    pub fn other_place(&self, name: usize, own: &Range<usize>, is_name: impl Fn(usize) -> bool) -> Option<usize> {
        let is_other = |node: &usize| *node != name && is_name(*node) && self.text(*node) == self.text(name);
        let is_own = own.clone().any(|node| is_other(&node));
        let mut places = if is_own { own.clone() } else { 0..self.len() }.filter(is_other);
        places.next().filter(|_| places.next().is_none())
    }

    /// Whether a node is an identifier of any kind.
    pub fn is_word(&self, node: usize) -> bool {
        self.is_leaf(node) && self.kind(node).ends_with("identifier")
    }

    /// All identifiers inside a node.
    pub fn words(&self, node: usize) -> impl Iterator<Item = &'a str> + '_ {
        self.subtree(node).filter(|inner| self.is_word(*inner)).map(|inner| self.text(inner))
    }

    /// Whether the text has no syntax errors.
    pub fn parses(&self) -> bool {
        self.broken().next().is_none()
    }

    /// The first syntax error.
    pub fn syntax_error(&self) -> Option<SyntaxError> {
        self.syntax_error_of(self.broken())
    }

    fn broken(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.len()).filter(|node| self.is_broken(*node))
    }

    /// The syntax error of these broken nodes. An unmatched bracket is reported first: the parser itself notices it
    /// only much later.
    pub fn syntax_error_of(&self, mut broken: impl Iterator<Item = usize>) -> Option<SyntaxError> {
        let is_innermost = |node: &usize| self.subtree(*node).skip(1).all(|inner| !self.is_broken(inner));
        let first = broken.find(is_innermost)?;
        let is_too_deep = self.kind(first) == TOO_DEEP;
        let unbalanced = if is_too_deep { None } else { self.unbalanced() };
        let (line, problem) = unbalanced.unwrap_or_else(|| (self.line(first), self.complaint(first)));
        let text = self.source.lines().nth(line - 1).unwrap_or_default();
        Some(SyntaxError { line, problem, text: text.trim().chars().take(MAX_QUOTED).collect() })
    }

    /// The first unmatched bracket, with its line.
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
            (_, TOO_DEEP) => format!("the code is nested deeper than {MAX_DEPTH} levels"),
            ("", kind) => format!("`{kind}` is missing"),
            _ => format!("the parser cannot read `{}`", text.trim()),
        }
    }

    /// Whether the parser could not read this node.
    pub fn is_broken(&self, node: usize) -> bool {
        self.nodes[node].broken
    }

    /// The parent of a node; the root is its own parent.
    pub fn parent(&self, node: usize) -> usize {
        self.nodes[node].parent
    }

    /// The ancestors of a node, innermost first.
    pub fn ancestors(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(node), |node| (*node > 0).then(|| self.parent(*node))).skip(1)
    }

    /// All that is in a node beside one of its descendants.
    pub fn beside(&self, whole: usize, part: usize) -> Vec<Range<usize>> {
        let mut inner = part;
        let mut beside = Vec::new();
        while inner > whole {
            let outer = self.parent(inner);
            beside.extend(self.children(outer).filter(|child| *child != inner).map(|child| self.subtree(child)));
            inner = outer;
        }
        beside
    }

    /// A node and all its descendants.
    pub fn subtree(&self, node: usize) -> Range<usize> {
        node..self.subtree_end(node)
    }

    pub fn children(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        self.siblings(node + 1, self.subtree_end(node))
    }

    /// A node and its following siblings, up to the node `end`.
    pub fn siblings(&self, node: usize, end: usize) -> impl Iterator<Item = usize> + '_ {
        let inside = move |node: &usize| *node < end;
        std::iter::successors(Some(node).filter(inside), move |node| Some(self.subtree_end(*node)).filter(inside))
    }

    /// The child with this field name.
    pub fn child(&self, node: usize, field: &str) -> Option<usize> {
        let named =
            std::iter::successors(Some(self.nodes[node].first_field), |child| Some(self.nodes[*child].next_field));
        named.take_while(|child| *child > 0).find(|child| self.field(*child) == Some(field))
    }
}

/// The nodes of a text, or the row at which it is nested deeper than [`MAX_DEPTH`]. `None` if there is no parser.
fn parsed(grammar: &'static Grammar, source: &str) -> Option<Result<Vec<Node>, usize>> {
    let mut parser = Parser::new();
    parser.set_language(&grammar.language).ok()?;
    Some(match read_all(&mut parser, source) {
        Ok(tree) => flatten(grammar, tree.walk()),
        Err(row) => Err(row),
    })
}

/// The tree of a text. The error is the row at which the parser reads the rest of the text again and again: it does so
/// for every beginning of a raw string that has no end.
fn read_all(parser: &mut Parser, source: &str) -> Result<tree_sitter::Tree, usize> {
    let most_reads = MAX_READS * (1 + source.len() / CHUNK);
    let (reads, position) = (Cell::new(0), Cell::new(0));
    let mut read = |from: usize, _| {
        reads.set(reads.get() + 1);
        source.as_bytes().get(from..source.len().min(from + CHUNK)).unwrap_or_default()
    };
    let mut check = |state: &ParseState| {
        position.set(state.current_byte_offset());
        if reads.get() > most_reads { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut check);
    let tree = parser.parse_with_options(&mut read, None, Some(options));
    tree.ok_or_else(|| source.as_bytes().iter().take(position.get()).filter(|byte| **byte == b'\n').count())
}

/// Flattens a tree. The error is the row at which it is nested deeper than [`MAX_DEPTH`].
fn flatten(grammar: &'static Grammar, mut cursor: TreeCursor<'_>) -> Result<Vec<Node>, usize> {
    let mut nodes = Vec::new();
    let mut open = Vec::new();
    loop {
        let parent = open.last().copied().unwrap_or(0);
        open.push(nodes.len());
        if open.len() > MAX_DEPTH {
            return Err(cursor.node().start_position().row);
        }
        let is_atom = (grammar.is_atom)(&cursor.node());
        nodes.push(read(grammar, &cursor, parent, is_atom));
        link_field(&mut nodes, parent);
        if !is_atom && cursor.goto_first_child() {
            continue;
        }
        loop {
            close(&mut nodes, &mut open);
            if cursor.goto_next_sibling() {
                break;
            }
            if !cursor.goto_parent() {
                return Ok(nodes);
            }
        }
    }
}

/// Links the last node to its parent by its field name, unless a sibling before it has the same.
fn link_field(nodes: &mut [Node], parent: usize) {
    let child = nodes.len() - 1;
    let Some(field) = nodes[child].field.filter(|_| child > 0) else { return };
    let mut last = None;
    let mut next = nodes[parent].first_field;
    while next > 0 {
        if nodes[next].field == Some(field) {
            return;
        }
        (last, next) = (Some(next), nodes[next].next_field);
    }
    match last {
        None => nodes[parent].first_field = child,
        Some(last) => nodes[last].next_field = child,
    }
}

impl Node {
    /// The only node of a text that is nested too deeply at this row.
    fn too_deep(source: &str, row: usize) -> Self {
        let range = 0..source.len();
        Self {
            kind: TOO_DEEP,
            field: None,
            range,
            row,
            parent: 0,
            subtree_end: 1,
            broken: true,
            first_field: 0,
            next_field: 0,
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
        subtree_end: 0,
        broken: node.is_error() || node.is_missing() || (is_atom && node.has_error()),
        first_field: 0,
        next_field: 0,
    }
}

fn close(nodes: &mut [Node], open: &mut Vec<usize>) {
    let past = nodes.len();
    if let Some(node) = open.pop() {
        nodes[node].subtree_end = past;
    }
}

/// The text of a tree with identifiers renamed.
pub(crate) fn renamed(tree: &FlatTree<'_>, names: &BTreeMap<String, String>) -> String {
    let edits = (0..tree.len()).filter(|node| tree.is_word(*node));
    let edits = edits.filter_map(|node| names.get(tree.text(node)).map(|name| (tree.range(node), name.clone())));
    splice(tree.source(), edits.collect())
}

/// A text with byte ranges replaced; the ranges do not overlap.
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

    const LIMIT: &str = "the code is nested deeper than 2000 levels";

    /// Checks the line and the problem that are reported for a broken Rust text.
    #[track_caller]
    fn check(source: &str, line: usize, problem: &str) {
        let syntax_error = FlatTree::parse(&GRAMMAR, source).unwrap().syntax_error().unwrap();
        let text: String = source.lines().nth(line - 1).unwrap().trim().chars().take(MAX_QUOTED).collect();
        assert_eq!(
            (syntax_error.line, syntax_error.problem.as_str(), syntax_error.text.as_str()),
            (line, problem, text.as_str())
        );
    }

    #[test]
    fn a_text_that_does_not_parse_says_where_and_why() {
        check("fn a() {\n    f(1, 2;\n    g();\n}\n", 2, "`(` is not closed before the `}` of line 4");
        check("fn a() {\n    f();\n", 1, "`{` is never closed");
        check("fn a() {}\n}\n", 2, "`}` closes nothing");
        check("use a::b\n\nfn c() {}\n", 1, "`;` is missing");
        check("fn a() {\n    let b = = c();\n}\n", 2, "the parser cannot read `=`");
        assert_eq!(FlatTree::parse(&GRAMMAR, "fn a() { f(\"(\", '{'); }").unwrap().syntax_error(), None);
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
            [("(", ")"), ("(", ""), ("[", "]"), ("{", "}"), ("{", ""), ("f(", ")"), ("-", ""), ("a+", ""), ("r#\"", "")]
        {
            let source = format!("fn f() {{ {}1{} }}", open.repeat(100_000), close.repeat(100_000));
            let tree = FlatTree::parse(&GRAMMAR, &source).unwrap();
            assert_eq!((tree.len(), tree.parses(), tree.text(0) == source), (1, false, true), "{open}{close}");
        }
    }

    #[test]
    fn text_that_is_nested_too_deep_says_where_and_what_the_limit_is() {
        let deep = format!("fn f() {{\n    g();\n    {}1{};\n}}\n", "(".repeat(5_000), ")".repeat(5_000));
        check(&deep.replace(&"(".repeat(5_000), &"-".repeat(5_000)).replace(&")".repeat(5_000), ""), 3, LIMIT);
        check(&deep, 3, LIMIT);
    }

    #[test]
    fn text_that_is_nested_as_somebody_nests_it_is_read() {
        for (open, close) in [("(", ")"), ("[", "]"), ("{", "}"), ("f(", ")"), ("a+", "")] {
            let source = format!("fn f() {{ {}1{} }}", open.repeat(500), close.repeat(500));
            assert!(FlatTree::parse(&GRAMMAR, &source).unwrap().parses(), "{open}{close}");
        }
    }
}
