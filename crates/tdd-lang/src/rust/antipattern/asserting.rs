//! Decides whether a test asserts anything, itself or through test helpers.

use std::ops::Range;

use crate::item::TestItem;
use crate::rust::change::file::File;
use crate::rust::word::COMPUTING_MACROS;

use super::code::{Code, Word, is_name, words};
use super::scan::{before, past_group};

/// Prefixes of macros that assert.
const MACROS: [&str; 6] = ["assert", "debug_assert", "prop_assert", "expect", "verify", "check"];

/// First words of names of functions that check.
const CHECKING: [&str; 7] = ["assert", "debug_assert", "check", "verify", "should", "expect", "must"];

/// Methods that panic on an unexpected result.
const UNWRAPPING: [&str; 4] = ["unwrap", "expect", "unwrap_err", "expect_err"];

/// Functions and methods of other crates that run something that asserts.
const RUNNING: [&str; 6] = ["quickcheck", "compile_fail", "tests", "model", "bolero", "glob"];

/// Macros, besides those of the standard library, that only compute, print or log.
const HARMLESS: [&str; 25] = [
    "include_str",
    "include_bytes",
    "module_path",
    "todo",
    "unimplemented",
    "trace",
    "debug",
    "info",
    "warn",
    "error",
    "log",
    "span",
    "event",
    "json",
    "toml",
    "quote",
    "hashmap",
    "btreemap",
    "smallvec",
    "lazy_static",
    "pin",
    "select",
    "join",
    "addr_of",
    "bitflags",
];

/// Whether a test contains anything that can make it fail.
pub(super) fn asserts(code: &Code, file: &File, test: &TestItem) -> bool {
    let asserted = test.assertions.iter().any(|assertion| !is_hollow(file, file.inside(&assertion.span)));
    if asserted || test.should_panic || test.returns_result {
        return true;
    }
    let body = file.inside(&test.span);
    let decides = body.clone().any(|at| matches!(file.text(at), "if" | "match" | "else"));
    asserts_here(code, file, body.clone(), decides)
        || unwraps(code, file, body.clone())
        || bounds(file, body.clone())
        || by_helpers(code, file, body)
}

/// Whether an assertion compares only literals: `assert!(true)`, `assert_eq!(1, 1)`.
fn is_hollow(file: &File, assertion: Range<usize>) -> bool {
    let name = assertion.clone().find(|at| file.text(at + 1) == "!").map_or("", |at| file.text(at));
    let mut arguments = assertion.skip_while(|at| file.text(*at) != "!");
    let only_literals =
        arguments.all(|at| !is_name(file, at) && !matches!(file.kind(at), "false" | "$" | "metavariable"));
    matches!(name, "assert" | "assert_eq" | "debug_assert" | "debug_assert_eq") && only_literals
}

/// Whether a statement only unwraps what production code returned: `parse("1").unwrap();`.
fn unwraps(code: &Code, file: &File, body: Range<usize>) -> bool {
    let is_unwrapping = |at: &usize| UNWRAPPING.contains(&file.text(*at)) && before(file, *at) == ".";
    body.clone().filter(is_unwrapping).any(|at| {
        let past = past_group(file, at + 1, body.end);
        let start = (body.start..at).rev().find(|at| matches!(file.text(*at), ";" | "{" | "}")).map_or(at, |at| at + 1);
        let is_kept = file.text(start) == "let" && !file.text(start + 1).starts_with('_');
        let asks = || {
            let named = words(file, start..at);
            let meanings = named.iter().flat_map(|word| code.meanings(word, None));
            meanings.into_iter().any(|node| !code.nodes[*node].for_tests)
        };
        matches!(file.text(past), ";" | "}") && !is_kept && (asks() || file.text(at).ends_with("_err"))
    })
}

/// Whether the test asserts at compile time: it calls an empty local function that only has a type bound.
fn bounds(file: &File, body: Range<usize>) -> bool {
    let is_bound = |at: usize| file.text(at) == ":" || file.text(at) == "where" || file.text(at) == "impl";
    let inner = body.clone().skip(1).filter(|at| file.text(*at) == "fn");
    inner.into_iter().any(|at| {
        let open = (at..body.end).find(|at| file.text(*at) == "{").unwrap_or(body.end);
        let name = file.text(at + 1);
        let is_called = body.clone().any(|other| other != at + 1 && file.text(other) == name);
        file.text(open + 1) == "}" && file.text(at + 2) == "<" && (at..open).any(is_bound) && is_called
    })
}

/// Whether a test helper asserts, wherever it is defined. Assertions in production code do not count, unless the
/// function's name says that it checks.
fn by_helpers(code: &Code, file: &File, body: Range<usize>) -> bool {
    let passes = |word: &Word| begins(&word.name, &CHECKING);
    let own = words(file, body);
    let checkers = own.iter().filter(|word| passes(word)).flat_map(|word| code.meanings(word, None));
    let checkers: Vec<usize> = checkers.copied().collect();
    let helpers = code.reach(&own, |node| node.for_tests);
    helpers.into_iter().chain(checkers).any(|node| {
        let node = &code.nodes[node];
        asserts_here(code, &code.files[node.file], node.tokens.clone(), true)
    })
}

fn asserts_here(code: &Code, file: &File, tokens: Range<usize>, panics_count: bool) -> bool {
    tokens.clone().filter(|at| is_name(file, *at)).any(|at| {
        let (name, after) = (file.text(at), file.text(at + 1));
        match after {
            "!" if is_open(file.text(at + 2)) => {
                let past = past_group(file, at + 2, tokens.end);
                asserting_macro(code, name, panics_count) && !is_hollow(file, at..past)
            }
            "(" | "::" => before(file, at) != "fn" && checking_call(code, file, at),
            _ => false,
        }
    })
}

fn asserting_macro(code: &Code, name: &str, panics_count: bool) -> bool {
    let is_ours = !code.meanings(&Word::plain(name.to_owned()), None).is_empty();
    match name {
        "panic" | "unreachable" => panics_count,
        _ if begins(name, &MACROS) => true,
        // We cannot see what a macro of another crate does, so assume that it asserts.
        _ => !is_ours && !COMPUTING_MACROS.contains(&name) && !HARMLESS.contains(&name),
    }
}

/// Whether this calls a function of another crate whose name says that it checks, or one of ours with a bounded type
/// parameter: `assert_send::<T>()`.
fn checking_call(code: &Code, file: &File, at: usize) -> bool {
    let name = file.text(at);
    let is_method = before(file, at) == ".";
    if is_method && matches!(name, "expect" | "expect_err") {
        return false;
    }
    let meanings = code.meanings(&Word::plain(name.to_owned()), None);
    if meanings.is_empty() {
        return begins(name, &CHECKING) || RUNNING.contains(&name);
    }
    let bounded = |node: &usize| {
        let node = &code.nodes[*node];
        let file = &code.files[node.file];
        let mut tokens = node.tokens.clone();
        let is_name = |at: usize| file.text(at) == node.name && file.text(at + 1) == "<";
        tokens.any(|at| is_name(at) && (at + 2..at + 9).any(|at| file.text(at) == ":"))
    };
    file.text(at + 1) == "::" && meanings.iter().any(bounded)
}

/// Whether a name is one of these words, or continues one with another word.
fn begins(name: &str, starts: &[&str]) -> bool {
    let goes_on = |rest: &str| rest.is_empty() || rest.starts_with(|c: char| !c.is_lowercase());
    starts.iter().any(|start| name.strip_prefix(start).is_some_and(goes_on))
}

fn is_open(token: &str) -> bool {
    matches!(token, "(" | "[" | "{")
}
