//! Reads tokens in nested brackets: where a group ends, its arguments, and what a `let` binds.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::rust::attribute::literal;
use crate::rust::change::file::File;

use super::code::is_name;

/// How many bindings to follow from a name to its value's origin.
const MAX_HOPS: usize = 6;

/// The values bound to each name, one entry per binding.
pub(super) type Bindings<'f> = BTreeMap<&'f str, Vec<Range<usize>>>;

/// The token after the group that opens here; the next token if none opens.
pub(super) fn past_group(file: &File, open: usize, end: usize) -> usize {
    let mut depth = 0_usize;
    for at in open..end {
        depth = nest(file.text(at), depth);
        if depth == 0 {
            return at + 1;
        }
    }
    end
}

/// The first of the `wanted` tokens after `start` that is not inside a nested group.
pub(super) fn until(file: &File, start: usize, end: usize, wanted: &[&str]) -> usize {
    let mut depth = 0_usize;
    for at in start..end {
        let text = file.text(at);
        if depth == 0 && wanted.contains(&text) {
            return at;
        }
        depth = nest(text, depth);
    }
    end
}

fn nest(text: &str, depth: usize) -> usize {
    match text {
        "(" | "[" | "{" => depth + 1,
        ")" | "]" | "}" => depth.saturating_sub(1),
        _ => depth,
    }
}

/// The arguments of the group that opens at this token.
pub(super) fn arguments(file: &File, open: usize, end: usize) -> Vec<Range<usize>> {
    let past = past_group(file, open, end).saturating_sub(1);
    let mut found = Vec::new();
    let mut start = open + 1;
    while start < past {
        let comma = until(file, start, past, &[","]);
        found.push(start..comma);
        start = comma + 1;
    }
    found
}

/// The bindings of `let` and `for` in these tokens.
pub(super) fn bindings(file: &File, tokens: Range<usize>) -> Bindings<'_> {
    let mut found = Bindings::new();
    for at in tokens.clone() {
        let (middle, past) = match file.text(at) {
            "let" => {
                let past = until(file, at + 1, tokens.end, &[";"]);
                (until(file, at + 1, past, &["="]), past)
            }
            "for" => {
                let past = until(file, at + 1, tokens.end, &["{"]);
                (until(file, at + 1, past, &["in"]), past)
            }
            _ => continue,
        };
        let pattern = at + 1..until(file, at + 1, middle, &[":"]);
        let is_variable = |at: &usize| is_name(file, *at) && file.text(*at).starts_with(|c: char| !c.is_uppercase());
        for name in pattern.filter(is_variable) {
            found.entry(file.text(name)).or_default().push(middle..past);
        }
    }
    found
}

/// These tokens, plus those of the values of all names in them, followed recursively.
pub(super) fn with_values(file: &File, tokens: Range<usize>, bindings: &Bindings<'_>) -> Vec<Range<usize>> {
    let mut all = vec![tokens];
    let mut next = 0;
    let mut hops = 0;
    while next < all.len() && hops < MAX_HOPS {
        hops += 1;
        for at in std::mem::replace(&mut next, all.len())..all.len() {
            let names = all[at].clone().filter(|at| is_name(file, *at) && !matches!(before(file, *at), "." | "::"));
            let values: Vec<_> = names.filter_map(|at| bindings.get(file.text(at))).flatten().cloned().collect();
            for value in values {
                if !all.contains(&value) {
                    all.push(value);
                }
            }
        }
    }
    all
}

/// The text of the token before; empty if there is none.
pub(super) fn before(file: &File, at: usize) -> &str {
    at.checked_sub(1).map_or("", |at| file.text(at))
}

/// A literal's value; `None` if the token is not a literal.
pub(super) fn value(file: &File, at: usize) -> Option<String> {
    literal_value(file.kind(at), file.text(at))
}

/// A literal's value, by the token's kind and text. Strings keep a leading quote, so that they differ from numbers.
pub(super) fn literal_value(kind: &str, text: &str) -> Option<String> {
    match kind {
        "integer_literal" | "float_literal" => Some(number(text)),
        "string_literal" | "raw_string_literal" => Some(format!("\"{}", literal(&text)?)),
        "char_literal" => Some(text.to_owned()),
        "true" | "false" => Some(text.to_owned()),
        _ => None,
    }
}

/// A number without type suffix and underscores.
fn number(text: &str) -> String {
    let plain: String = text.chars().filter(|c| *c != '_').collect();
    if plain.starts_with("0x") || plain.starts_with("0b") || plain.starts_with("0o") {
        return plain;
    }
    let length = plain.find(['u', 'i', 'f']).unwrap_or(plain.len());
    plain[..length].to_owned()
}
