//! Finds the literal that a condition is about although it is no equality: a text that must be contained, a number
//! that must be close.

use std::ops::Range;

use crate::syntax::FlatTree;

/// Functions and methods that hold only if their last argument is in the text or collection that they are asked of.
const CONTAINING: [&str; 13] = [
    "contains",
    "Contains",
    "contains_key",
    "includes",
    "has",
    "startsWith",
    "endsWith",
    "startswith",
    "endswith",
    "starts_with",
    "ends_with",
    "HasPrefix",
    "HasSuffix",
];

/// Functions that hold only if two numbers are close.
const CLOSE: [&str; 2] = ["isclose", "allclose"];

/// Functions that make a distance of a difference.
const DISTANCE: [&str; 3] = ["abs", "Abs", "fabs"];

/// A tolerance from which on a number further away may be close, too.
const WIDE: f64 = 30.0;

/// How far away an altered number is.
const FAR: f64 = 60.0;

/// A literal that decides a condition: with another one, the condition must be false.
pub(crate) enum Claim {
    /// A text; any longer one will do.
    Text(usize),
    /// A number, and the edit that moves it out of any tolerance.
    Number(usize, (Range<usize>, String)),
}

/// The claim of a condition that holds if its literal is right.
pub(crate) fn claim(tree: &FlatTree<'_>, condition: usize, is_text: fn(&str) -> bool) -> Option<Claim> {
    let condition = within_brackets(tree, condition);
    if let Some(call) = Call::of(tree, condition) {
        return call.claim(tree, is_text);
    }
    let children: Vec<usize> = tree.children(condition).collect();
    let [left, operator, right] = children[..] else { return None };
    match tree.text(operator) {
        "in" if is_text(tree.kind(left)) => Some(Claim::Text(left)),
        "<" | "<=" => distance(tree, left, right),
        ">" | ">=" => distance(tree, right, left),
        _ => None,
    }
}

/// The claim of a condition that holds only if its literal is wrong: `!strings.Contains(got, "x")`.
pub(crate) fn counter_claim(tree: &FlatTree<'_>, condition: usize, is_text: fn(&str) -> bool) -> Option<Claim> {
    let condition = within_brackets(tree, condition);
    let children: Vec<usize> = tree.children(condition).collect();
    match children[..] {
        [not, inner] if tree.text(not) == "!" => claim(tree, inner, is_text),
        [left, operator, right] if matches!(tree.text(operator), ">" | ">=") => distance(tree, left, right),
        _ => None,
    }
}

/// A call, with the last word of its function.
struct Call<'a> {
    name: &'a str,
    arguments: Vec<usize>,
}

impl<'a> Call<'a> {
    fn of(tree: &FlatTree<'a>, node: usize) -> Option<Self> {
        let (function, list) = (tree.child(node, "function")?, tree.child(node, "arguments")?);
        let is_argument = |part: &usize| tree.text(*part).starts_with(|c: char| !matches!(c, '(' | ')' | ','));
        let arguments = tree.children(list).filter(is_argument).collect();
        Some(Self { name: tree.words(function).last().unwrap_or_default(), arguments })
    }

    fn claim(&self, tree: &FlatTree<'_>, is_text: fn(&str) -> bool) -> Option<Claim> {
        let last = self.arguments.last().copied()?;
        if CONTAINING.contains(&self.name) && is_text(tree.kind(last)) {
            return Some(Claim::Text(last));
        }
        let compared = self.arguments.iter().take(2).filter(|_| CLOSE.contains(&self.name));
        compared.copied().find_map(|side| moved(tree, side))
    }
}

/// The claim that a distance is below a tolerance.
fn distance(tree: &FlatTree<'_>, of: usize, tolerance: usize) -> Option<Claim> {
    let is_narrow = tree.text(tolerance).parse::<f64>().is_ok_and(|tolerance| tolerance < WIDE);
    let calls = |node: &usize| Call::of(tree, *node).is_some_and(|call| DISTANCE.contains(&call.name));
    let call = tree.subtree(of).find(calls).filter(|_| is_narrow)?;
    let difference = tree.subtree(call).find_map(|node| {
        let children: Vec<usize> = tree.children(node).collect();
        let [left, operator, right] = children[..] else { return None };
        (tree.text(operator) == "-").then_some([right, left])
    })?;
    difference.into_iter().find_map(|side| moved(tree, side))
}

/// A number out of any tolerance, in the place of a literal one.
fn moved(tree: &FlatTree<'_>, node: usize) -> Option<Claim> {
    let text = tree.text(node);
    let other = match text.parse::<u64>() {
        Ok(number) => number.checked_add(60)?.to_string(),
        Err(_) => format!("{:?}", text.parse::<f64>().ok().filter(|number| number.is_finite())? + FAR),
    };
    Some(Claim::Number(node, (tree.range(node), other)))
}

fn within_brackets(tree: &FlatTree<'_>, mut node: usize) -> usize {
    while tree.kind(node) == "parenthesized_expression" {
        let Some(inner) = tree.children(node).find(|child| !matches!(tree.text(*child), "(" | ")")) else { break };
        node = inner;
    }
    node
}
