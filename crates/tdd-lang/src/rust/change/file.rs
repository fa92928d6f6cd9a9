//! One Rust file of one tree, taken apart: its tokens, its tests, and every other item.

use std::ops::Range;

use crate::item::TestItem;
use crate::rust::syntax::{Tree, unix};
use crate::rust::walk::Walk;

use super::piece::{Piece, pieces};

/// A Rust file.
#[derive(Debug)]
pub(super) struct File {
    pub path: String,
    source: String,
    tokens: Vec<Token>,
    pub tests: Vec<TestItem>,
    pub pieces: Vec<Piece>,
    pub parses: bool,
}

#[derive(Clone, Debug)]
struct Token {
    range: Range<usize>,
    kind: &'static str,
}

impl File {
    /// Takes a file apart. With `for_tests`, all of it is for tests, whatever is written in it.
    pub fn new(path: &str, source: String, for_tests: bool) -> Self {
        let mut file = Self {
            path: path.to_owned(),
            source: String::new(),
            tokens: Vec::new(),
            tests: Vec::new(),
            pieces: Vec::new(),
            parses: false,
        };
        if let Some(tree) = Tree::parse(&source) {
            let token = |node| Token { range: tree.range(node), kind: tree.kind(node) };
            file.tokens = tree.tokens(0..tree.len()).map(token).filter(|token| !token.range.is_empty()).collect();
            let items = Walk::new(&tree).run();
            file.pieces = pieces(&tree, &items, for_tests);
            file.parses = tree.parses();
            file.tests = items.tests;
        }
        file.source = source;
        file
    }

    /// Which of its tokens stand in these bytes.
    pub fn inside(&self, span: &Range<usize>) -> Range<usize> {
        let first = self.tokens.partition_point(|token| token.range.start < span.start);
        let past = self.tokens.partition_point(|token| token.range.start < span.end);
        first..past.max(first)
    }

    /// A token's text; empty if there is none.
    pub fn text(&self, token: usize) -> &str {
        self.tokens.get(token).and_then(|token| self.source.get(token.range.clone())).unwrap_or_default()
    }

    /// What the parser takes a token for.
    pub fn kind(&self, token: usize) -> &'static str {
        self.tokens.get(token).map_or("", |token| token.kind)
    }

    /// Whether all tokens of a test stand in the same order in another one.
    pub fn is_kept(&self, test: &TestItem, other: (&Self, &TestItem)) -> bool {
        let (file, grown) = other;
        let mut left = file.inside(&grown.span);
        self.inside(&test.span).all(|token| left.any(|at| unix(file.text(at)) == unix(self.text(token))))
    }
}
