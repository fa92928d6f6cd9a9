//! Finds the mocks that a test creates.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::rust::change::file::File;

use super::code::{Code, Word, is_name};
use super::scan::{before, bindings};

/// Prefixes of the names of mock types.
const TYPES: [&str; 5] = ["Mock", "Fake", "Stub", "Spy", "Dummy"];
/// Prefixes of the names of functions that create mocks.
const MAKERS: [&str; 4] = ["mock", "fake", "stub", "spy"];

/// The mocks created in these tokens, one entry for each.
pub(super) fn mocks(code: &Code, file: &File, body: Range<usize>) -> Vec<String> {
    let made: Vec<usize> = body.clone().filter(|at| is_made(code, file, *at)).collect();
    let mut found: Vec<String> = made.iter().map(|at| file.text(*at).to_owned()).collect();
    let bindings = bindings(file, body.clone());
    let is_known = |name: &str| {
        let values = bindings.get(name).into_iter().flatten();
        values.into_iter().any(|value| made.iter().any(|at| value.contains(at)))
    };
    let expecting = body.filter(|at| file.text(*at).starts_with("expect_") && file.text(*at) != "expect_err");
    let receivers = expecting.filter(|at| before(file, *at) == "." && is_name(file, at.saturating_sub(2)));
    let receivers: BTreeSet<&str> = receivers.map(|at| file.text(at - 2)).collect();
    found.extend(receivers.into_iter().filter(|name| !is_known(name)).map(str::to_owned));
    found
}

fn is_made(code: &Code, file: &File, at: usize) -> bool {
    if !is_name(file, at) {
        return false;
    }
    let (name, after) = (file.text(at), file.text(at + 1));
    let begins = |starts: &[&str], goes_on: fn(char) -> bool| {
        starts.iter().any(|start| name.strip_prefix(start).is_some_and(|rest| rest.chars().next().is_none_or(goes_on)))
    };
    if begins(&TYPES, |c| !c.is_lowercase()) {
        let by_function = after == "::" && file.text(at + 3) == "(";
        let with_fields = matches!(after, "(" | "{") && !matches!(before(file, at), "struct" | "impl" | "for" | ">");
        let alone = file.kind(at) == "identifier"
            && matches!(after, ")" | "," | ";")
            && matches!(before(file, at), "(" | "," | "=" | "&");
        return by_function || with_fields || alone;
    }
    let is_maker = begins(&MAKERS, |c| c == '_') && after == "(" && !matches!(before(file, at), "fn" | "::");
    // A function of the repository counts only if it is test code.
    let meanings = code.meanings(&Word::plain(name.to_owned()), None);
    is_maker && (meanings.is_empty() || meanings.iter().any(|node| code.nodes[*node].for_tests))
}
