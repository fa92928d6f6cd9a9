//! One Rust file of one tree, taken apart: its tokens, its tests, and every other item.

use std::ops::Range;

use crate::item::TestItem;
use crate::rust::syntax::{Tree, unix};
use crate::rust::walk::Walk;

use super::piece::{Piece, pieces};

/// A Rust file.
#[derive(Debug)]
pub(in crate::rust) struct File {
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

    /// Its text as it is.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The line on which a token begins, from 1.
    pub fn line(&self, token: usize) -> usize {
        let start = self.tokens.get(token).map_or(0, |token| token.range.start);
        1 + self.source.get(..start).map_or(0, |before| before.matches('\n').count())
    }

    /// What the parser takes a token for.
    pub fn kind(&self, token: usize) -> &'static str {
        self.tokens.get(token).map_or("", |token| token.kind)
    }

    /// Whether a test still does all that it did: its statements stand in another one in the same order, with
    /// nothing but assertions before the last of them, so that nothing keeps them from being run.
    pub fn is_kept(&self, test: &TestItem, other: (&Self, &TestItem)) -> bool {
        let (file, grown) = other;
        let (mut old, mut new) = (self.parts(test), file.parts(grown));
        let mut head = new.head.iter();
        let is_head_kept = old.head.iter().all(|token| head.any(|at| at == token));
        // A test that returns a result may go on before it.
        if old.statements.last().is_some_and(|last| last.concat() == "Ok(())")
            && old.statements.last() == new.statements.last()
        {
            old.statements.pop();
            new.statements.pop();
        }
        let mut left = new.statements.iter();
        let is_next = |wanted| left.find(|it| *it == wanted || !is_assertion(it)) == Some(wanted);
        is_head_kept && old.statements.iter().all(is_next)
    }

    /// A test in parts: what stands before its body, and the statements of that.
    fn parts(&self, test: &TestItem) -> Parts {
        let tokens: Vec<String> = self.inside(&test.span).map(|at| unix(self.text(at)).into_owned()).collect();
        let mut depth = 0_usize;
        let mut parts = Parts::default();
        let mut statement = Vec::new();
        let mut in_body = false;
        for (at, token) in tokens.iter().enumerate() {
            if !in_body && depth == 0 && token == "{" {
                in_body = true;
                continue;
            }
            match token.as_str() {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                _ => {}
            }
            if !in_body {
                parts.head.push(token.clone());
                continue;
            }
            // Whether something is changed later does not change what it is now.
            if token != "mut" && !(depth == 0 && token == ";") {
                statement.push(token.clone());
            }
            let next = tokens.get(at + 1).map_or("", String::as_str);
            if depth == 0 && (token == ";" || token == "}" && begins_statement(next)) && !statement.is_empty() {
                parts.statements.push(std::mem::take(&mut statement));
            }
        }
        // The brace that closes the body.
        statement.pop();
        if !statement.is_empty() {
            parts.statements.push(statement);
        }
        parts
    }
}

/// A test in parts, each a list of tokens.
#[derive(Default)]
struct Parts {
    head: Vec<String>,
    statements: Vec<Vec<String>>,
}

/// Whether a token after a block begins another statement, and does not go on with the expression.
fn begins_statement(token: &str) -> bool {
    token != "else" && token != "as" && token.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '#')
}

/// Whether a statement asserts and does nothing else.
fn is_assertion(statement: &[String]) -> bool {
    let is_macro = statement.get(1).is_some_and(|token| token == "!");
    let is_named = statement.first().is_some_and(|name| name.starts_with("assert") || name.starts_with("debug_assert"));
    is_macro && is_named && !statement.iter().any(|token| token == "return")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(before: &str, after: &str, expected: bool) {
        let file = |body: &str| File::new("tests/a.rs", format!("#[test] fn t() {{ {body} }}"), true);
        let (old, new) = (file(before), file(after));
        assert_eq!(old.is_kept(&old.tests[0], (&new, &new.tests[0])), expected, "{before} => {after}");
    }

    #[test]
    fn a_test_may_go_on_after_its_last_statement() {
        check("assert!(a());", "assert!(a()); let x = b(); assert!(x);", true);
        check("assert!(a())", "assert!(a()); assert!(b())", true);
        check(
            "let s = S::new(); assert!(s.a());",
            "let mut s = S::new(); assert!(s.a()); s.b(); assert!(s.c());",
            true,
        );
        check("for x in [1] { assert!(a(x)); }", "for x in [1] { assert!(a(x)); } assert!(b());", true);
        check("assert!(a()?); Ok(())", "assert!(a()?); let b = b()?; assert!(b); Ok(())", true);
    }

    #[test]
    fn only_assertions_may_be_put_before_the_last_statement() {
        check("let a = a(); assert!(a);", "assert!(b()); let a = a(); assert_eq!(a, 1); assert!(a);", true);
        check("assert!(a());", "return; assert!(a());", false);
        check("assert!(a());", "if true { return; } assert!(a());", false);
        check("assert!(a());", "if false { assert!(a()); }", false);
        check("assert!(a());", "let _ = catch_unwind(|| { assert!(a()); });", false);
        check("assert!(a());", "let a = || true; assert!(a());", false);
        check("assert!(a());", "assert!({ return; true }); assert!(a());", false);
        check("for x in [1] { assert!(a(x)); }", "for x in [1].into_iter().skip(1) { assert!(a(x)); }", false);
        check("assert!(a()); assert!(b());", "assert!(b()); assert!(a());", false);
    }
}
