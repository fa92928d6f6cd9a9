//! A Rust file's syntax tree, with its tokens and digests.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use tdd_core::digest::Digest;

use super::Rust;
use super::change::uses;
use crate::syntax::{Grammar, ParseCache, SEPARATOR, SyntaxError};

static GRAMMAR: Grammar = Grammar {
    language: LazyLock::new(|| tree_sitter_rust::LANGUAGE.into()),
    is_atom: |node| ATOMS.contains(&node.kind()),
    known: ParseCache::new(),
};

/// Nodes kept whole, because white space inside them counts.
const ATOMS: [&str; 5] = ["string_literal", "raw_string_literal", "char_literal", "line_comment", "block_comment"];

/// Marks the start of a match arm in a digest: whether a comma ends it is layout.
const ARM: u8 = 0xfe;

/// Lists in which a trailing comma has no meaning.
const LISTS: [&str; 13] = [
    "arguments",
    "array_expression",
    "closure_parameters",
    "enum_variant_list",
    "field_declaration_list",
    "field_initializer_list",
    "ordered_field_declaration_list",
    "parameters",
    "slice_pattern",
    "struct_pattern",
    "tuple_struct_pattern",
    "type_arguments",
    "type_parameters",
];

/// Statements without a value of their own, beside items and declarations.
const STATEMENTS: [&str; 2] = ["empty_statement", "macro_definition"];

/// Macros of the standard library whose arguments are expressions, so that rustfmt formats them.
const EXPRESSION_MACROS: [&str; 21] = [
    "assert",
    "assert_eq",
    "assert_ne",
    "dbg",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "eprint",
    "eprintln",
    "format",
    "format_args",
    "matches",
    "panic",
    "print",
    "println",
    "todo",
    "unimplemented",
    "unreachable",
    "vec",
    "write",
    "writeln",
];

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
        self.digest_without(nodes, &[])
    }

    /// The digest without some of the nodes. Line ends inside literals are normalized as the compiler does, and what
    /// rustfmt adds and removes does not count.
    pub fn digest_without(&self, nodes: Range<usize>, left_out: &[Range<usize>]) -> Digest {
        let mut bytes = Vec::new();
        let mut end = nodes.clone().next().map_or(0, |first| self.range(first).start);
        let mut node = nodes.start;
        while node < nodes.end {
            let imports = self.imports(node, nodes.end);
            if let Some(last) = imports.last() {
                for import in self.sorted_imports(&imports) {
                    bytes.extend_from_slice(import.as_bytes());
                    bytes.push(SEPARATOR);
                }
                (node, end) = (self.subtree_end(*last), self.range(*last).end);
                continue;
            }
            if self.kind(node) == "match_arm" {
                bytes.push(ARM);
            }
            if self.is_leaf(node) {
                let range = self.range(node);
                let skipped = self.source().get(end..range.start).unwrap_or_default().trim();
                let is_left_out = left_out.iter().any(|range| range.contains(&node));
                let is_out = self.is_comment(node) || is_left_out || self.is_style(node);
                let text = if is_out { "" } else { self.text(node) };
                for token in [skipped, text].into_iter().filter(|token| !token.is_empty()) {
                    bytes.extend_from_slice(unix(token).as_bytes());
                    bytes.push(SEPARATOR);
                }
                end = end.max(range.end);
            }
            node += 1;
        }
        Digest::of(bytes)
    }

    /// The `use` declarations from this node on, if it is one: rustfmt sorts them. An attribute belongs to the first of
    /// them alone.
    fn imports(&self, node: usize, end: usize) -> Vec<usize> {
        if self.kind(node) != "use_declaration" || self.subtree(node).any(|inner| self.is_broken(inner)) {
            return Vec::new();
        }
        let outer = self.parent(node);
        let before = self.children(outer).take_while(|child| *child < node).filter(|child| !self.is_comment(*child));
        let has_attribute = before.last().is_some_and(|before| self.kind(before) == "attribute_item");
        let past = end.min(self.subtree_end(outer).max(self.subtree_end(node)));
        let following = self.siblings(node, past).filter(|sibling| !self.is_comment(*sibling));
        let run = following.take_while(|sibling| self.kind(*sibling) == "use_declaration");
        run.take(if has_attribute { 1 } else { usize::MAX }).collect()
    }

    /// Every name that these declarations import, in an order of its own.
    fn sorted_imports(&self, declarations: &[usize]) -> Vec<String> {
        let mut found = Vec::new();
        for declaration in declarations {
            let tokens: Vec<&str> = self.tokens(self.subtree(*declaration)).map(|node| self.text(node)).collect();
            let at = tokens.iter().position(|token| *token == "use").unwrap_or(0);
            let visibility = tokens[..at].concat();
            let leaves = uses::leaves(tokens[at + 1..].iter().copied());
            found.extend(leaves.into_iter().map(|leaf| format!("{visibility} use {leaf}")));
        }
        found.sort();
        found
    }

    /// Whether a token is rustfmt's: a trailing comma, the comma after a match arm, braces around the only expression
    /// of an arm or a closure, parentheses around parentheses, or the semicolon after a last `return`.
    pub fn is_style(&self, node: usize) -> bool {
        let outer = self.parent(node);
        match (self.kind(node), self.kind(outer)) {
            (",", "match_arm") => true,
            (",", "token_tree") => self.is_trailing_comma_of_tokens(node, outer),
            (",", _) => self.is_trailing_comma(node, outer),
            ("{" | "}", "block") => self.is_plain_block(outer),
            ("(" | ")", "parenthesized_expression") => self.kind(self.parent(outer)) == "parenthesized_expression",
            (";", "expression_statement") => {
                let jumps = ["return_expression", "break_expression", "continue_expression"];
                jumps.contains(&self.kind(outer + 1)) && self.next(outer).is_some_and(|next| self.kind(next) == "}")
            }
            _ => false,
        }
    }

    /// The next sibling that is not a comment.
    fn next(&self, node: usize) -> Option<usize> {
        let past = self.subtree_end(self.parent(node));
        self.siblings(self.subtree_end(node), past).find(|sibling| !self.is_comment(*sibling))
    }

    /// Whether a comma is the last of its list; the comma of `(a,)` makes a tuple.
    fn is_trailing_comma(&self, comma: usize, outer: usize) -> bool {
        let next = self.next(comma).map(|next| self.kind(next));
        let commas = || self.children(outer).filter(|child| self.kind(*child) == ",").count();
        match self.kind(outer) {
            "where_clause" => next.is_none(),
            "tuple_expression" | "tuple_pattern" | "tuple_type" => next == Some(")") && commas() > 1,
            kind => matches!(next, Some(")" | "]" | "}" | ">" | "|")) && LISTS.contains(&kind),
        }
    }

    /// The same among the arguments of a macro, if it is one that takes expressions. rustfmt keeps the comma after the
    /// last argument of the macro itself, but for square brackets.
    fn is_trailing_comma_of_tokens(&self, comma: usize, list: usize) -> bool {
        let is_tokens = |node: &usize| self.kind(*node) == "token_tree";
        let is_known = |tokens: usize| self.macro_of(tokens).is_none_or(|name| EXPRESSION_MACROS.contains(&name));
        let is_last = matches!(self.next(comma).map(|next| self.kind(next)), Some(")" | "]" | "}"));
        let is_of_macro = || {
            let outermost = self.ancestors(list).find(|outer| !is_tokens(outer));
            outermost.is_some_and(|outer| self.kind(outer) == "macro_invocation")
        };
        let mut inside = std::iter::once(list).chain(self.ancestors(list)).take_while(is_tokens);
        if !is_last || !is_of_macro() || !inside.all(is_known) {
            return false;
        }
        let commas = self.children(list).filter(|child| self.kind(*child) == ",").count();
        match self.text(list).chars().next() {
            Some('[') => true,
            Some('(') if self.macro_of(list).is_none() => commas > 1 || self.is_call(list),
            Some('{') => self.macro_of(list).is_none(),
            _ => false,
        }
    }

    /// The name of the macro whose arguments these tokens are.
    fn macro_of(&self, tokens: usize) -> Option<&'a str> {
        let before = self.before(tokens)?;
        let name = self.before(before).filter(|_| self.kind(before) == "!")?;
        self.is_word_before(name).then(|| self.text(name))
    }

    /// Whether these tokens in parentheses are the arguments of a call.
    fn is_call(&self, tokens: usize) -> bool {
        self.before(tokens).is_some_and(|before| self.is_word_before(before))
    }

    fn is_word_before(&self, node: usize) -> bool {
        let is_keyword = super::word::is_reserved(self.text(node));
        !is_keyword && matches!(self.kind(node), "identifier" | "scoped_identifier")
    }

    /// The previous sibling that is not a comment.
    fn before(&self, node: usize) -> Option<usize> {
        let siblings = self.children(self.parent(node)).take_while(|sibling| *sibling < node);
        siblings.filter(|sibling| !self.is_comment(*sibling)).last()
    }

    /// Whether a block is the whole value of a match arm or a closure and holds one expression: it would be the same
    /// without its braces.
    fn is_plain_block(&self, block: usize) -> bool {
        let outer = self.parent(block);
        let is_value = match self.kind(outer) {
            "match_arm" => self.field(block) == Some("value"),
            "closure_expression" => self.field(block) == Some("body") && self.child(outer, "return_type").is_none(),
            _ => false,
        };
        let mut inside = self.children(block).filter(|child| is_value && !self.is_comment(*child));
        let (Some(open), Some(only), Some(close), None) = (inside.next(), inside.next(), inside.next(), inside.next())
        else {
            return false;
        };
        let kind = self.kind(only);
        let is_expression = match kind {
            "expression_statement" => self.children(only).all(|child| self.kind(child) != ";"),
            _ => !kind.ends_with("_item") && !kind.ends_with("_declaration") && !STATEMENTS.contains(&kind),
        };
        self.kind(open) == "{" && self.kind(close) == "}" && is_expression
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
            tree.digest_without(1..tree.len(), &[tree.subtree(name)])
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
    fn what_rustfmt_does_is_nothing() {
        let body = |code: &str| digest(&format!("fn a() {{ {code} }}"));
        for (before, after) in [
            ("match x { 2 => { \"two\" } _ => { other() } }", "match x { 2 => \"two\", _ => other(), }"),
            ("match x { 2 => if a { b } else { c } _ => {} }", "match x { 2 => { if a { b } else { c } } _ => {} }"),
            ("f(a, b)", "f(\n    a,\n    b,\n)"),
            ("let x = [1, 2];", "let x = [\n    1,\n    2, // two\n];"),
            ("let x = S { a, b: 1 };", "let x = S {\n    a,\n    b: 1,\n};"),
            ("let (a, b) = (1, 2,);", "let (a, b,) = (1, 2);"),
            ("x.map(|a| { f(a) })", "x.map(|a| f(a))"),
            ("assert_eq!(f(a, b), vec![1, 2]);", "assert_eq!(f(a, b,), vec![1, 2,]);"),
            ("use b::{d, c}; use a; f()", "use a; use b::{c, d}; f()"),
            ("if a { return }", "if a { return; }"),
            ("f(((a + b)) * c)", "f((a + b) * c)"),
        ] {
            assert_eq!(body(before), body(after), "{before} {after}");
        }
        assert_eq!(digest("fn a<T>() where T: B {}"), digest("fn a<T,>()\nwhere\n    T: B,\n{\n}"));
    }

    #[test]
    fn commas_braces_and_parentheses_that_mean_something_count() {
        let body = |code: &str| digest(&format!("fn a() {{ {code} }}"));
        for (before, after) in [
            ("f((a,))", "f((a))"),
            ("let (a,) = b;", "let (a) = b;"),
            ("assert_eq!(a, (b,));", "assert_eq!(a, (b));"),
            ("check!(a,);", "check!(a);"),
            ("assert!(check!((a, b,)));", "assert!(check!((a, b)));"),
            ("x.map(|a| { f(a); })", "x.map(|a| f(a))"),
            ("x.map(|a| { let b = a; })", "x.map(|a| let b = a)"),
            ("match x { 1 => { f(); } _ => g() }", "match x { 1 => f(), _ => g() }"),
            ("match x { 1 => { f(); g() } _ => g() }", "match x { 1 => f(), _ => g() }"),
            ("return; assert!(a);", "return assert!(a);"),
            ("(a + b) * c", "a + b * c"),
            ("#[cfg(x)] use a; use b; f()", "#[cfg(x)] use b; use a; f()"),
            ("use a::b; f()", "use c::b; f()"),
            ("if a { b }", "if a { { b } }"),
        ] {
            assert_ne!(body(before), body(after), "{before} {after}");
        }
        let rules = |arm: &str| digest(&format!("macro_rules! m {{ ({arm}) => {{}} }}"));
        assert_ne!(rules("$a:expr,"), rules("$a:expr"));
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
