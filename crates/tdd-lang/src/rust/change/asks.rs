//! Decides whether a test's assertions depend on production code.
//!
//! Looks only at tokens, and says yes when unsure: a no refuses the test, while running the test reveals a wrong yes.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;

use tdd_core::digest::Digest;

use crate::item::TestItem;
use crate::rust::word::COMPUTING_MACROS;

use super::file::File;

/// Prefixes of macros and functions that assert.
const ASSERTING: [&str; 4] = ["assert", "debug_assert", "prop_assert", "expect_"];

/// Prefixes of asserting functions in other files, whose bodies are not examined.
const CHECKING: [&str; 5] = ["assert", "check", "expect", "verify", "should"];

/// Macros of the standard library that panic.
const MACROS: [&str; 4] = ["panic", "todo", "unimplemented", "unreachable"];

/// Names in the prelude, and common names of the standard library.
const NAMES: [&str; 58] = [
    "std",
    "core",
    "alloc",
    "Some",
    "None",
    "Ok",
    "Err",
    "Option",
    "Result",
    "String",
    "Vec",
    "Box",
    "Rc",
    "Arc",
    "Cell",
    "RefCell",
    "Mutex",
    "Default",
    "Clone",
    "Copy",
    "Debug",
    "Display",
    "PartialEq",
    "Eq",
    "PartialOrd",
    "Ord",
    "Hash",
    "Iterator",
    "IntoIterator",
    "FromIterator",
    "From",
    "Into",
    "TryFrom",
    "TryInto",
    "AsRef",
    "Fn",
    "FnMut",
    "FnOnce",
    "Send",
    "Sync",
    "Sized",
    "Drop",
    "ToString",
    "ToOwned",
    "drop",
    "bool",
    "char",
    "str",
    "u8",
    "u16",
    "u32",
    "u64",
    "usize",
    "i32",
    "i64",
    "isize",
    "f32",
    "f64",
];

/// Methods of the standard library that tests call on their own values.
const METHODS: [&str; 62] = [
    "abs",
    "all",
    "any",
    "as_bytes",
    "as_deref",
    "as_mut",
    "as_ref",
    "as_slice",
    "as_str",
    "borrow",
    "bytes",
    "chars",
    "clone",
    "cloned",
    "cmp",
    "collect",
    "concat",
    "contains",
    "contains_key",
    "copied",
    "count",
    "ends_with",
    "enumerate",
    "eq",
    "err",
    "expect",
    "extend",
    "filter",
    "find",
    "first",
    "fold",
    "get",
    "insert",
    "into",
    "into_iter",
    "is_empty",
    "is_err",
    "is_none",
    "is_ok",
    "is_some",
    "iter",
    "join",
    "keys",
    "last",
    "len",
    "lines",
    "map",
    "max",
    "min",
    "ok",
    "parse",
    "push",
    "rev",
    "split",
    "starts_with",
    "sum",
    "to_owned",
    "to_string",
    "to_vec",
    "trim",
    "unwrap",
    "values",
];

/// Types whose content can change behind a shared reference.
const SHARED: [&str; 7] = ["Cell", "RefCell", "Mutex", "RwLock", "OnceCell", "channel", "Rc"];

/// Answers questions about the tests of a file.
pub(super) struct DependencyFinder<'f> {
    file: &'f File,
    /// The tokens of the file's test items, by name.
    own: Tokens<'f>,
    /// The tokens of the methods among them, by name.
    methods: Tokens<'f>,
    /// The imported names, and whether each comes from the standard library.
    imports: BTreeMap<&'f str, bool>,
}

/// Token ranges by name.
type Tokens<'f> = BTreeMap<&'f str, Vec<Range<usize>>>;

impl<'f> DependencyFinder<'f> {
    pub fn new(file: &'f File) -> Self {
        let (mut own, mut methods): (Tokens<'f>, Tokens<'f>) = (BTreeMap::new(), BTreeMap::new());
        let mut imports = BTreeMap::new();
        // Test imports come last, so that they hide production imports of the same name.
        let mut pieces: Vec<_> = file.pieces.iter().filter(|piece| !piece.name.is_empty()).collect();
        pieces.sort_by_key(|piece| piece.for_tests);
        for piece in pieces {
            match piece.label.strip_prefix("use `") {
                Some(path) => drop(imports.insert(piece.name.as_str(), is_standard(path))),
                None if piece.for_tests && !piece.label.starts_with("mod ") => {
                    let tokens = file.inside(&piece.span);
                    if let Some((_, method)) = piece.label.rsplit_once("::").filter(|_| piece.label.starts_with("fn "))
                    {
                        methods.entry(method.trim_end_matches('`')).or_default().push(tokens.clone());
                    }
                    own.entry(piece.name.as_str()).or_default().push(tokens);
                }
                None => {}
            }
        }
        Self { file, own, methods, imports }
    }

    /// What a test asserts: its own assertions, each call of something that asserts, and the cases for which it does
    /// so.
    pub fn assertions(&self, test: &TestItem) -> Vec<Digest> {
        let calls = self.calls(&self.body(test)).into_iter().map(|call| self.digest(call));
        let own = test.assertions.iter().flat_map(|assertion| match self.file.claims(test, &assertion.span) {
            Some(claims) => claims.to_vec(),
            None => vec![assertion.digest],
        });
        let mut all: Vec<Digest> = own.chain(calls).collect();
        // Cases alone assert nothing.
        if !all.is_empty() {
            all.extend(&test.cases);
        }
        all
    }

    /// Whether an assertion depends on something outside the test's own code.
    pub fn asks_production(&self, test: &TestItem) -> bool {
        let body = self.body(test);
        let decides = |at: usize| matches!(self.file.text(at), "if" | "match" | "else" | "while");
        let by_kind = |kind: &str| matches!(kind, "panic!" | "test_case");
        let whole = test.should_panic
            || test.returns_result
            || test.assertions.iter().any(|assertion| by_kind(&assertion.kind))
            || body.clone().any(decides);
        let locals = self.locals(body.clone());
        if whole {
            return self.mention(body, &locals);
        }
        let spans = test.assertions.iter().map(|assertion| self.file.inside(&assertion.span));
        spans.chain(self.calls(&body)).any(|tokens| self.mention(tokens, &locals))
    }

    /// The tokens from a test function's parameters to its end.
    fn body(&self, test: &TestItem) -> Range<usize> {
        let all = self.file.inside(&test.span);
        let name = test.name.rsplit("::").next().unwrap_or_default();
        let is_name = |at: &usize| self.text(at + 1).trim_start_matches("r#") == name.trim_start_matches("r#");
        let start = all.clone().find(|at| self.text(*at) == "fn" && is_name(at)).map_or(all.start, |at| at + 2);
        start..all.end
    }

    /// The calls of functions and macros that assert.
    fn calls(&self, body: &Range<usize>) -> Vec<Range<usize>> {
        let is_call = |at: &usize| {
            let (name, before) = (self.text(*at), self.before(*at));
            let is_function = self.text(at + 1) == "(" && before != "fn";
            let is_macro = self.text(at + 1) == "!" && is_open(self.text(at + 2)) && !begins(name, &ASSERTING);
            match (before, self.own.contains_key(name)) {
                ("." | "::", _) if self.methods.contains_key(name) => is_function && self.asserts(&self.methods, name),
                (".", _) => false,
                (_, true) => (is_function || is_macro) && self.asserts(&self.own, name),
                (_, false) => is_function && begins(name, &CHECKING),
            }
        };
        let calls = body.clone().filter(|at| self.file.kind(*at).ends_with("identifier")).filter(is_call);
        calls.map(|at| self.start_of_path(at)..self.end_of_group(at, body.end)).collect()
    }

    /// Where the path of a function from another file begins; the file's own functions are identified by name alone.
    fn start_of_path(&self, mut at: usize) -> usize {
        let name = self.text(at);
        while !self.own.contains_key(name) && !self.methods.contains_key(name) && at > 1 && self.before(at) == "::" {
            at -= 2;
        }
        at
    }

    /// Whether a test item asserts, or uses one that does.
    fn asserts(&self, items: &Tokens<'f>, name: &'f str) -> bool {
        let mut seen = BTreeSet::from([name]);
        let mut waiting: Vec<Range<usize>> = items.get(name).into_iter().flatten().cloned().collect();
        while let Some(tokens) = waiting.pop() {
            for at in tokens {
                let text = self.text(at);
                if self.text(at + 1) == "!" && (begins(text, &ASSERTING) || text == "panic") {
                    return true;
                }
                let found = [&self.own, &self.methods].into_iter().filter_map(|items| items.get(text));
                let found: Vec<_> = found.flatten().cloned().collect();
                if !found.is_empty() && seen.insert(text) {
                    waiting.extend(found);
                }
            }
        }
        false
    }

    /// Whether anything in these tokens is, or derives from, code outside the test's own.
    fn mention(&self, tokens: Range<usize>, locals: &Rc<Tokens<'f>>) -> bool {
        let mut seen = BTreeSet::new();
        let mut items = BTreeSet::new();
        let mut waiting = vec![(tokens, Rc::clone(locals))];
        while let Some((tokens, locals)) = waiting.pop() {
            for at in tokens {
                match self.meaning(at, &locals) {
                    Meaning::Nothing => {}
                    Meaning::Foreign => return true,
                    Meaning::Local(values) => {
                        let new = values.iter().filter(|value| seen.insert((value.start, value.end)));
                        waiting.extend(new.map(|value| (value.clone(), Rc::clone(&locals))));
                    }
                    Meaning::Own(name) if items.insert(name) => {
                        let bodies = self.own.get(name).into_iter().flatten();
                        waiting.extend(bodies.map(|body| (body.clone(), self.locals(body.clone()))));
                    }
                    Meaning::Own(_) => {}
                }
            }
        }
        false
    }

    fn meaning<'l>(&'l self, at: usize, locals: &'l Tokens<'f>) -> Meaning<'f, 'l> {
        let (name, before, after) = (self.text(at), self.before(at), self.text(at + 1));
        match self.file.kind(at) {
            "super" | "crate" => return Meaning::Foreign,
            "identifier" | "type_identifier" => {}
            "field_identifier" if before == "." => {}
            _ => return Meaning::Nothing,
        }
        if before == "." {
            let is_call = matches!(after, "(" | "::");
            return if is_call && !METHODS.contains(&name) { Meaning::Foreign } else { Meaning::Nothing };
        }
        let is_macro = after == "!" && is_open(self.text(at + 2));
        if matches!(before, "::" | "fn" | "'" | "struct" | "enum") || after == ":" {
            Meaning::Nothing
        } else if let Some(values) = locals.get(name) {
            Meaning::Local(values)
        } else if self.own.contains_key(name) {
            Meaning::Own(name)
        } else if let Some(is_standard) = self.imports.get(name) {
            if *is_standard { Meaning::Nothing } else { Meaning::Foreign }
        } else if (is_macro && (COMPUTING_MACROS.contains(&name) || MACROS.contains(&name)))
            || NAMES.contains(&name)
            || self.leads_to_assertion(at)
        {
            Meaning::Nothing
        } else {
            Meaning::Foreign
        }
    }

    /// Whether `assert!`, or a path such as `insta::assert_snapshot!`, begins here.
    fn leads_to_assertion(&self, mut at: usize) -> bool {
        while self.text(at + 1) == "::" {
            at += 2;
        }
        self.text(at + 1) == "!" && begins(self.text(at), &ASSERTING)
    }

    /// The values bound to local names. The value of a mutable variable may come from anywhere.
    fn locals(&self, body: Range<usize>) -> Rc<Tokens<'f>> {
        let mut locals = Tokens::new();
        let mut at = body.start;
        if let Some(open) = body.clone().take(40).find(|at| self.text(*at) == "(") {
            let generic = (body.start..open).filter(|at| self.file.kind(*at) == "type_identifier");
            locals.extend(generic.map(|at| (self.text(at), Vec::new())));
            self.parameters(open, self.end_of_group(open, body.end), &mut locals);
        }
        while at < body.end {
            match self.text(at) {
                "let" => self.binding(at, &body, &mut locals),
                "for" if self.text(at + 1) != "<" => {
                    let past = self.until(at, body.end, &["{"]);
                    let middle = self.until(at, past, &["in"]);
                    self.bind(at + 1..middle, middle..past, &body, &mut locals);
                }
                "|" if is_before_closure(self.before(at)) => {
                    let past = (at + 1..body.end).find(|at| self.text(*at) == "|").unwrap_or(body.end);
                    self.bind(at + 1..past, past..past, &body, &mut locals);
                    at = past;
                }
                _ => {}
            }
            at += 1;
        }
        Rc::new(locals)
    }

    /// Binds `name: Type` and `name in strategy`.
    fn parameters(&self, open: usize, past: usize, locals: &mut Tokens<'f>) {
        let mut at = open + 1;
        while at < past {
            let end = self.until(at, past.saturating_sub(1), &[","]);
            let middle = (at..end).find(|at| matches!(self.text(*at), ":" | "in")).unwrap_or(end);
            for name in (at..middle).filter(|at| self.file.kind(*at) == "identifier") {
                locals.entry(self.text(name)).or_default().push(middle..end);
            }
            at = end + 1;
        }
    }

    fn binding(&self, at: usize, body: &Range<usize>, locals: &mut Tokens<'f>) {
        let is_condition = matches!(self.before(at), "if" | "while" | "&&" | "(");
        let past = self.until(at, body.end, if is_condition { &["{"] } else { &[";"] });
        let equals = self.until(at, past, &["="]);
        let pattern_end = self.until(at, equals, &[":"]);
        self.bind(at + 1..pattern_end, pattern_end..past, body, locals);
    }

    fn bind(&self, pattern: Range<usize>, value: Range<usize>, body: &Range<usize>, locals: &mut Tokens<'f>) {
        let changes = pattern.clone().any(|at| self.text(at) == "mut")
            || value.clone().any(|at| SHARED.contains(&self.text(at)) || self.text(at).starts_with("Atomic"));
        let value = if changes { body.clone() } else { value };
        let is_name = |at: &usize| matches!(self.file.kind(*at), "identifier" | "shorthand_field_identifier");
        let is_variable = |at: &usize| self.text(*at).starts_with(|c: char| c.is_lowercase() || c == '_');
        for at in pattern.filter(is_name).filter(is_variable) {
            locals.entry(self.text(at)).or_default().push(value.clone());
        }
    }

    /// The next of these tokens after `at` that is not inside a nested group.
    fn until(&self, at: usize, past: usize, ends: &[&str]) -> usize {
        let mut depth = 0_usize;
        for at in at + 1..past {
            let text = self.text(at);
            if depth == 0 && ends.contains(&text) {
                return at;
            }
            match text {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        past
    }

    /// The token after the first group that opens at or after this token.
    fn end_of_group(&self, at: usize, past: usize) -> usize {
        let Some(open) = (at..past).find(|at| is_open(self.text(*at))) else { return past };
        let mut depth = 0_usize;
        for at in open..past {
            match self.text(at) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return at + 1;
            }
        }
        past
    }

    fn digest(&self, tokens: Range<usize>) -> Digest {
        Digest::of(tokens.map(|at| self.text(at)).collect::<Vec<_>>().join("\n"))
    }

    fn text(&self, at: usize) -> &'f str {
        self.file.text(at)
    }

    fn before(&self, at: usize) -> &'f str {
        at.checked_sub(1).map_or("", |before| self.file.text(before))
    }
}

/// Where a token's value comes from.
enum Meaning<'f, 'l> {
    Nothing,
    Foreign,
    Local(&'l [Range<usize>]),
    Own(&'f str),
}

fn begins(name: &str, starts: &[&str]) -> bool {
    starts.iter().any(|start| name.starts_with(start))
}

fn is_open(token: &str) -> bool {
    matches!(token, "(" | "[" | "{")
}

fn is_before_closure(token: &str) -> bool {
    matches!(token, "(" | "[" | "{" | "," | "=" | "=>" | ";" | "move" | "return" | "&" | "async")
}

fn is_standard(path: &str) -> bool {
    let first = path.trim_start_matches("::").split("::").next().unwrap_or_default();
    matches!(first.trim_end_matches('`'), "std" | "core" | "alloc")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(source: &str) -> (bool, usize) {
        let file = File::new("tests/a.rs", source.to_owned(), true);
        let finder = DependencyFinder::new(&file);
        let test = file.tests.last().unwrap();
        (finder.asks_production(test), finder.assertions(test).len())
    }

    #[test]
    fn what_a_test_asserts_of_itself_asks_nothing() {
        for source in [
            "#[test] fn t() { assert!(true); }",
            "#[test] fn t() { assert_eq!(1, 1); }",
            "#[test] fn t() { let x = 3; assert_eq!(x, x); }",
            "#[test] fn t() { let x = 3; let y = x + 1; assert_eq!(y, 4, \"{y}\"); }",
            "use calc::add; #[test] fn t() { let r = add(1, 2); assert!(true); }",
            "use std::collections::HashMap; #[test] fn t() { let m: HashMap<u8, u8> = HashMap::new(); assert!(m.is_empty()); }",
            "#[test] fn t() { assert_eq!(\"a\".to_string().len(), 1); }",
            "#[test] fn t() { assert_eq!(vec![1, 2].iter().map(|x| x + 1).sum::<i32>(), 5); }",
            "const N: u32 = 3; #[test] fn t() { assert_eq!(N, 3); }",
            "fn add(a: u32, b: u32) -> u32 { let sum = a + b; sum } #[test] fn t() { assert_eq!(add(1, 2), 3); }",
            "fn same<T: PartialEq>(a: T, b: T) -> bool { let x: T = a; x == b } #[test] fn t() { assert!(same(1, 1)); }",
            "struct Fake; impl Fake { fn get(&self) -> u8 { 1 } } #[test] fn t() { assert_eq!(Fake.len(), 1); }",
            "#[test] fn t() { assert!(std::env::args().count() > 0); }",
            "#[test] #[should_panic] fn t() { panic!(\"x\"); }",
            "#[test] fn t() -> Result<(), String> { Ok(()) }",
            "mod own { pub fn check(a: u8) { assert!(a > 0) } } #[test] fn t() { own::check(1); }",
            "#[test] fn t() { for x in [1, 2] { assert!(x > 0); } }",
        ] {
            assert!(!of(source).0, "{source}");
        }
    }

    #[test]
    fn what_a_test_asserts_of_something_else_asks_for_it() {
        for source in [
            "use calc::add; #[test] fn t() { assert_eq!(add(1, 2), 3); }",
            "use calc::*; #[test] fn t() { assert_eq!(add(1, 2), 3); }",
            "mod tests { use super::*; #[test] fn t() { assert_eq!(add(1, 2), 3); } }",
            "#[test] fn t() { assert_eq!(calc::add(1, 2), 3); }",
            "#[test] fn t() { assert_eq!(crate::add(1, 2), 3); }",
            "#[test] fn t() { let sum = calc::add(1, 2); let twice = sum * 2; assert_eq!(twice, 6); }",
            "use calc::fill; #[test] fn t() { let mut v = Vec::new(); fill(&mut v); assert_eq!(v.len(), 1); }",
            "use calc::run; #[test] fn t() { let log = std::cell::RefCell::new(0); run(&log); assert_eq!(*log.borrow(), 1); }",
            "use calc::add; fn sum() -> u32 { add(1, 2) } #[test] fn t() { assert_eq!(sum(), 3); }",
            "use calc::Shout; #[test] fn t() { assert_eq!(\"a\".shout(), \"A\"); }",
            "use calc::add; #[test] fn t() { if add(1, 2) != 3 { panic!() } }",
            "use calc::add; #[test] #[should_panic] fn t() { add(1, 2); }",
            "use calc::add; #[test] fn t() -> Result<(), String> { add(1, 2)?; Ok(()) }",
            "mod common; #[test] fn t() { assert_eq!(common::value(), 3); }",
            "mod common; #[test] fn t() { common::check_sum(1, 2); }",
            "use calc::Calc; #[rstest] fn t(calc: Calc) { assert_eq!(calc.len(), 3); }",
            "proptest! { #[test] fn t(x in 0..9) { prop_assert!(calc::add(x, 1) > x); } }",
            "use calc::f; #[test] fn t() { assert_eq!(f(1), 2); }",
            "mod tests { use super::*; #[test] fn t() { assert_eq!(f(1), N); } }",
            "#[test] fn t() { insta::assert_snapshot!(calc::show()); }",
            "use calc::add; fn check(a: u32, b: u32) { assert_eq!(add(a, 1), b); } #[test] fn t() { check(1, 2); }",
        ] {
            assert!(of(source).0, "{source}");
        }
    }

    #[test]
    fn a_call_of_something_that_asserts_is_an_assertion() {
        for (source, expected) in [
            ("fn check(a: u8) { assert!(a > 0) } #[test] fn t() { check(1); check(2); }", 2),
            ("fn deep(a: u8) { assert!(a > 0) } fn check(a: u8) { deep(a) } #[test] fn t() { check(1); }", 1),
            ("macro_rules! same { ($a:expr) => { assert!($a) } } #[test] fn t() { same!(a); }", 1),
            ("struct S; impl S { fn is(&self, a: u8) { assert!(a > 0) } } #[test] fn t() { S.is(1).is(2); }", 2),
            ("struct S; impl S { fn is(&self, a: u8) {} } #[test] fn t() { S.is(1); S.check(); }", 0),
            ("#[test] fn t() { common::check_sum(1); }", 1),
            ("fn helper(a: u8) -> u8 { a } #[test] fn t() { helper(1); }", 0),
            ("#[test] fn t() { add(1); }", 0),
        ] {
            assert_eq!(of(source).1, expected, "{source}");
        }
    }
}
