//! One Rust file of one tree: its tokens, its tests, and its other items.

use std::ops::Range;

use tdd_core::digest::Digest;

use crate::item::TestItem;
use crate::kept::{Part, are_kept, are_somewhere};
use crate::rust::syntax::{Tree, unix};
use crate::rust::tables::{Table, conditions_in, tables_in};
use crate::rust::walk::Walk;
use crate::syntax::SyntaxError;

use super::piece::{Piece, pieces};

/// A parsed Rust file.
#[derive(Debug)]
pub(in crate::rust) struct File {
    pub path: String,
    source: String,
    tokens: Vec<Token>,
    pub tests: Vec<TestItem>,
    /// The tables of each test.
    tables: Vec<Vec<Table>>,
    /// The conditions that each test asserts.
    conditions: Vec<Vec<Table>>,
    pub pieces: Vec<Piece>,
    pub parses: bool,
    /// Where it does not parse.
    pub syntax_error: Option<SyntaxError>,
}

#[derive(Clone, Debug)]
struct Token {
    range: Range<usize>,
    kind: &'static str,
    /// Whether it is only the formatter's.
    is_style: bool,
}

impl File {
    /// Parses a file. With `for_tests`, every item counts as test code.
    pub fn new(path: &str, source: String, for_tests: bool) -> Self {
        let mut file = Self {
            path: path.to_owned(),
            source: String::new(),
            tokens: Vec::new(),
            tests: Vec::new(),
            tables: Vec::new(),
            conditions: Vec::new(),
            pieces: Vec::new(),
            parses: false,
            syntax_error: None,
        };
        if let Some(tree) = Tree::parse(&source) {
            let token = |node| Token { range: tree.range(node), kind: tree.kind(node), is_style: tree.is_style(node) };
            file.tokens = tree.tokens(0..tree.len()).map(token).filter(|token| !token.range.is_empty()).collect();
            let items = Walk::new(&tree).run();
            file.tables = items.tests.iter().map(|test| tables_in(&tree, &test.span)).collect();
            // More claims make it easier to panic.
            let conditions = |test: &TestItem| {
                if test.should_panic { Vec::new() } else { conditions_in(&tree, &test.span) }
            };
            file.conditions = items.tests.iter().map(conditions).collect();
            let apart = file.tables.iter().flatten().filter_map(|table| table.apart.clone()).collect();
            file.pieces = pieces(&tree, &items, apart, for_tests);
            file.syntax_error = tree.syntax_error();
            file.parses = file.syntax_error.is_none();
            file.tests = items.tests;
        }
        file.source = source;
        file
    }

    /// The indices of the tokens inside this byte span.
    pub fn inside(&self, span: &Range<usize>) -> Range<usize> {
        let first = self.tokens.partition_point(|token| token.range.start < span.start);
        let past = self.tokens.partition_point(|token| token.range.start < span.end);
        first..past.max(first)
    }

    /// A token's text; empty if there is no such token.
    pub fn text(&self, token: usize) -> &str {
        self.tokens.get(token).and_then(|token| self.source.get(token.range.clone())).unwrap_or_default()
    }

    /// The file's text.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The line on which a token begins, from 1.
    pub fn line(&self, token: usize) -> usize {
        let start = self.tokens.get(token).map_or(0, |token| token.range.start);
        1 + self.source.get(..start).map_or(0, |before| before.matches('\n').count())
    }

    /// The parser's kind for a token.
    pub fn kind(&self, token: usize) -> &'static str {
        self.tokens.get(token).map_or("", |token| token.kind)
    }

    /// The tokens of a test's tables that are outside the test.
    fn apart(&self, test: &TestItem) -> impl Iterator<Item = Range<usize>> {
        self.tables_of(test).iter().filter_map(|table| table.apart.as_ref()).map(|span| self.inside(span))
    }

    fn tables_of(&self, test: &TestItem) -> &[Table] {
        self.of(test, &self.tables)
    }

    /// The claims of an assertion of a test, if it is a statement of its own that asserts a condition.
    pub fn claims(&self, test: &TestItem, assertion: &Range<usize>) -> Option<&[Digest]> {
        let is_it = |table: &&Table| assertion.start < table.list.start && table.list.end == assertion.end;
        self.of(test, &self.conditions).iter().find(is_it).map(|table| table.rows.as_slice())
    }

    fn of<'f>(&self, test: &TestItem, tables: &'f [Vec<Table>]) -> &'f [Table] {
        let at = self.tests.iter().position(|known| known.span == test.span);
        at.and_then(|at| tables.get(at)).map_or(&[], Vec::as_slice)
    }

    /// Whether a test still does everything it did: its statements appear in the other test in the same order, with
    /// only assertions added before the last of them, so that nothing skips them. A table may gain rows.
    pub fn is_kept(&self, test: &TestItem, other: (&Self, &TestItem)) -> bool {
        let (file, grown) = other;
        let (mut old, mut new) = (self.parts(test), file.parts(grown));
        let mut head = new.head.iter();
        let is_head_kept = old.head.iter().all(|token| head.any(|at| at == token));
        // New statements may precede the `Ok(())` of a test that returns a result.
        if old.statements.last().is_some_and(|last| last.words.concat() == "Ok(())")
            && old.statements.last() == new.statements.last()
        {
            old.statements.pop();
            new.statements.pop();
        }
        let parts = |all: Vec<Tokens>| all.into_iter().map(Tokens::part).collect::<Vec<Part>>();
        is_head_kept
            && are_somewhere(&parts(old.apart), &parts(new.apart))
            && are_kept(&parts(old.statements), &parts(new.statements))
    }

    /// A test's parts: the head before its body, the body's statements, and its tables elsewhere.
    fn parts(&self, test: &TestItem) -> Parts {
        let tables = &[self.tables_of(test), self.of(test, &self.conditions)].concat();
        let tokens: Vec<usize> = self.inside(&test.span).filter(|token| !self.tokens[*token].is_style).collect();
        let mut depth = 0_usize;
        let mut parts = Parts::default();
        let mut statement = Tokens::default();
        let mut in_body = false;
        for (at, token) in tokens.iter().enumerate() {
            let word = self.text(*token);
            if !in_body && depth == 0 && word == "{" {
                in_body = true;
                continue;
            }
            match word {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                _ => {}
            }
            if !in_body {
                parts.head.push(unix(word).into_owned());
                continue;
            }
            // Adding `mut` does not change a value.
            if word != "mut" && !(depth == 0 && word == ";") {
                statement.take(self, *token, tables);
            }
            let next = tokens.get(at + 1).map_or("", |next| self.text(*next));
            if depth == 0 && (word == ";" || word == "}" && begins_statement(next)) && !statement.words.is_empty() {
                parts.statements.push(std::mem::take(&mut statement));
            }
        }
        // Drop the brace that closes the body.
        statement.words.pop();
        if !statement.words.is_empty() {
            parts.statements.push(statement);
        }
        parts.apart = self
            .apart(test)
            .map(|tokens| {
                let mut part = Tokens::default();
                tokens.for_each(|token| part.take(self, token, tables));
                part
            })
            .collect();
        parts
    }
}

/// The parts of a test.
#[derive(Default)]
struct Parts {
    head: Vec<String>,
    statements: Vec<Tokens>,
    apart: Vec<Tokens>,
}

/// The tokens of a statement or an item, with the rows of its tables kept separately.
#[derive(Debug, Default, PartialEq, Eq)]
struct Tokens {
    words: Vec<String>,
    rows: Vec<Digest>,
}

impl Tokens {
    fn take(&mut self, file: &File, token: usize, tables: &[Table]) {
        let at = file.tokens.get(token).map_or(0, |token| token.range.start);
        let is_inside = |span: &Range<usize>| span.start < at && at + 1 < span.end;
        let is_length = |table: &Table| table.length.as_ref().is_some_and(|length| length.contains(&at));
        if tables.iter().any(|table| is_inside(&table.list) || is_length(table)) {
            return;
        }
        self.rows.extend(tables.iter().filter(|table| table.list.start == at).flat_map(|table| table.rows.clone()));
        self.words.push(unix(file.text(token)).into_owned());
    }

    fn part(self) -> Part {
        let asserts = is_assertion(&self.words);
        Part { words: Digest::of(self.words.join("\0")), rows: self.rows, asserts }
    }
}

/// Whether a token after a block begins a new statement instead of continuing the expression.
fn begins_statement(token: &str) -> bool {
    token != "else" && token != "as" && token.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '#')
}

/// Whether a statement is only an assertion.
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
    fn a_table_may_gain_rows_and_lose_none() {
        let asserts = "{ let x = f(a); assert_eq!(x, b); }";
        for write in [
            |rows: &str| format!("for (a, b) in [{rows}] {{}}"),
            |rows: &str| format!("for (a, b) in vec![{rows}] {{}}"),
            |rows: &str| format!("for &(a, b) in &[{rows}] {{}}"),
            |rows: &str| format!("let rows = [{rows}]; for (a, b) in rows.iter().copied() {{}}"),
            |rows: &str| format!("const ROWS: [(i32, i32); {}] = [{rows}]; for (a, b) in ROWS {{}}", rows.len()),
        ] {
            let with = |rows: &str| write(rows).replace("{}", asserts);
            check(&with("(1, 2), (2, 4)"), &with("(1, 2), (2, 4), (3, 6)"), true);
            check(&with("(1, 2), (2, 4)"), &with("(0, 0), (1, 2), /* x */ (2, 4),"), true);
            check(&with("(1, 2), (2, 4)"), &with("(1, 2), (2, 5), (3, 6)"), false);
            check(&with("(1, 2), (2, 4)"), &with("(1, 2)"), false);
            check(&with("(1, 2), (2, 4)"), &format!("{} assert!(c());", with("(1, 2), (2, 4), (3, 6)")), true);
        }
    }

    #[test]
    fn an_assertion_may_gain_a_claim_and_lose_none() {
        check("assert!(a() > 2); b();", "assert!(a() > 2 && a() % 2 == 0); b();", true);
        check("assert!(a(), \"no\");", "assert!(b() && a(), \"no\");", true);
        check("assert!(a || b);", "assert!((a || b) && c);", true);
        check("assert!(a && b);", "assert!(a);", false);
        check("assert!(a);", "assert!(a || b);", false);
        check("assert!(a);", "assert!(a && b || c);", false);
        check("assert!(a || b);", "assert!(a || b && c);", false);
        check("assert!(!a);", "assert!(!(a && b));", false);
        check("assert!(a); b();", "assert!(a && { return; }); b();", false);
        check("assert!(a); b();", "assert!(a && b()?); b();", false);
        check("assert!(a == b);", "assert!(a == &&b);", false);
        check("assert!(a, \"no\");", "assert!(a && b, \"yes\");", false);
        check("assert!(catch(|| assert!(a)));", "assert!(catch(|| assert!(a && b)));", false);
        check("let r = catch(|| { assert!(a); });", "let r = catch(|| { assert!(a && b); });", false);
        let panics = |body: &str| File::new("tests/a.rs", format!("#[test] #[should_panic] fn t() {{ {body} }}"), true);
        let (old, new) = (panics("assert!(a);"), panics("assert!(a && b);"));
        assert!(!old.is_kept(&old.tests[0], (&new, &new.tests[0])));
    }

    #[test]
    fn a_map_may_gain_rows_and_lose_none() {
        let asserts = "{ for a in all { assert_eq!(f(a), b); } }";
        for write in [
            |rows: &str| format!("let rows = BTreeMap::from([{rows}]); for (b, all) in rows {{}}"),
            |rows: &str| format!("for (b, all) in &HashMap::from([{rows}]) {{}}"),
            |rows: &str| format!("let rows = HashMap::<_, _>::from([{rows}]); for (b, all) in rows.iter() {{}}"),
            |rows: &str| {
                format!("let rows: HashMap<_, _> = vec![{rows}].into_iter().collect(); for (b, all) in &rows {{}}")
            },
            |rows: &str| {
                format!("let rows = [{rows}].into_iter().collect::<HashMap<_, _>>(); for (b, all) in rows {{}}")
            },
        ] {
            let with = |rows: &str| write(rows).replace("{}", asserts);
            let old = with("(\"even\", [2, 4])");
            check(&old, &with("(\"even\", [2, 4]), (\"odd\", [1, 3])"), true);
            check(&old, &with("(\"none\", []), (\"even\", [2, 4])"), true);
            check(&old, &with("(\"even\", [2])"), false);
            check(&old, &with("(\"odd\", [1, 3])"), false);
            check(&old, &with("(\"even\", [2, 4]), (\"even\", [])"), false);
            check(&old, &with("(\"even\", [2, 4]), (\"ev\\u{65}n\", [])"), false);
            check(&old, &with("(\"even\", [2, 4]), (name(), [])"), false);
        }
    }

    #[test]
    fn a_list_of_its_own_may_be_called_like_that_of_another_test() {
        let test = |name: &str, rows: &str| {
            format!("#[test] fn {name}() {{ let rows = [{rows}]; for a in rows {{ assert!(f(a)); }} }}\n")
        };
        let file = |rows: &str| File::new("tests/a.rs", test("one", rows) + &test("two", "1"), true);
        let (old, new) = (file("1"), file("1, 2"));
        assert!(old.is_kept(&old.tests[0], (&new, &new.tests[0])));
    }

    #[test]
    fn a_loop_that_does_more_than_assert_has_no_table() {
        for body in [
            "{ if a > 1 { break; } assert_eq!(f(a), b); }",
            "{ assert_eq!(f(a)?, b); }",
            "{ sum += a; }",
            "{ let x = match f(a) { Some(x) => x, None => return }; assert_eq!(x, b); }",
        ] {
            let with = |rows: &str| format!("for (a, b) in [{rows}] {body}");
            check(&with("(1, 2)"), &with("(1, 2), (2, 4)"), false);
        }
        let used = |rows: &str| format!("let rows = [{rows}]; for a in rows {{ assert!(a); }} g(rows);");
        check(&used("1"), &used("1, 2"), false);
        let repeated = |rows: &str| format!("for a in [{rows}] {{ assert!(a); }}");
        check(&repeated("1; 2"), &repeated("1; 3"), false);
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
