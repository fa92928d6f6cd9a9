//! Finds where production code compares with a literal and answers with one.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::rust::change::file::File;

use super::scan::{before, past_group, until, value};

/// What may stand around a literal that is an answer.
const AROUND: [&str; 29] = [
    "return",
    "Some",
    "Ok",
    "Err",
    "String",
    "str",
    "from",
    "to_string",
    "to_owned",
    "into",
    "vec",
    "Box",
    "new",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ".",
    "::",
    ",",
    "!",
    "&",
    "-",
    ";",
    "Cow",
    "Borrowed",
    "Vec",
];

/// What makes another value of one, so that a comparison is not with an input.
const COMPUTING: [&str; 10] = ["%", "+", "*", "/", "-", "<<", ">>", "^", "&", "|"];

/// A comparison and its answer.
pub(super) struct Found {
    /// The token where it begins.
    pub at: usize,
    pub compared: BTreeSet<String>,
    pub returned: BTreeSet<String>,
}

/// The answers in these tokens.
pub(super) fn answers(file: &File, tokens: Range<usize>) -> Vec<Found> {
    let mut found = Vec::new();
    for at in tokens.clone() {
        match file.text(at) {
            "if" if file.text(at + 1) != "let" => found.extend(of_condition(file, at, tokens.end)),
            "match" => found.extend(of_arms(file, at, tokens.end)),
            _ => {}
        }
    }
    found
}

fn of_condition(file: &File, at: usize, end: usize) -> Option<Found> {
    let open = until(file, at + 1, end, &["{"]);
    let compared: BTreeSet<String> =
        (at + 1..open).filter_map(|middle| compared_at(file, at + 1..open, middle)).collect();
    let returned = answer(file, open..past_group(file, open, end))?;
    (!compared.is_empty()).then_some(Found { at, compared, returned })
}

/// The literal that `==` at this token compares something with that was not computed.
fn compared_at(file: &File, condition: Range<usize>, middle: usize) -> Option<String> {
    if file.text(middle) != "==" {
        return None;
    }
    let ends = |at: usize| matches!(file.text(at), "&&" | "||");
    let start = (condition.start..middle).rev().find(|at| ends(*at)).map_or(condition.start, |at| at + 1);
    let past = (middle..condition.end).find(|at| ends(*at)).unwrap_or(condition.end);
    let is_plain = |side: Range<usize>| !side.clone().skip(1).any(|at| COMPUTING.contains(&file.text(at)));
    let only = |side: Range<usize>| {
        let signs = side.clone().take_while(|at| matches!(file.text(*at), "-" | "&" | "*")).count();
        value(file, side.start + signs).filter(|_| side.len() == signs + 1)
    };
    let (left, right) = (start..middle, middle + 1..past);
    match (only(right.clone()), only(left.clone())) {
        (Some(value), _) if is_plain(left.clone()) => Some(value),
        (_, Some(value)) if is_plain(right) => Some(value),
        _ => None,
    }
}

fn of_arms(file: &File, at: usize, end: usize) -> Vec<Found> {
    let open = until(file, at + 1, end, &["{"]);
    let scrutinee_is_plain = !(at + 2..open).any(|at| COMPUTING.contains(&file.text(at)));
    let past = past_group(file, open, end).saturating_sub(1);
    let mut found = Vec::new();
    let mut start = open + 1;
    while start < past && scrutinee_is_plain {
        let arrow = until(file, start, past, &["=>"]);
        let stop = match file.text(arrow + 1) {
            "{" => past_group(file, arrow + 1, past),
            _ => until(file, arrow + 1, past, &[","]),
        };
        let compared: BTreeSet<String> = (start..arrow).filter_map(|at| value(file, at)).collect();
        let is_range = (start..arrow).any(|at| file.text(at).starts_with(".."));
        if let Some(returned) = answer(file, arrow + 1..stop).filter(|_| !compared.is_empty() && !is_range) {
            found.push(Found { at: start, compared, returned });
        }
        start = if file.text(stop) == "," { stop + 1 } else { stop.max(start + 1) };
    }
    found
}

/// The literals of an expression that is nothing else.
fn answer(file: &File, tokens: Range<usize>) -> Option<BTreeSet<String>> {
    let mut values = BTreeSet::new();
    for at in tokens {
        match value(file, at) {
            Some(value) => drop(values.insert(value)),
            None if AROUND.contains(&file.text(at)) && before(file, at) != "-" => {}
            None => return None,
        }
    }
    (!values.is_empty()).then_some(values)
}
