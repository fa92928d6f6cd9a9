//! Turns one assertion into its opposite: another expected value, or the negated condition.

use std::ops::Range;

use tdd_core::proof::OPPOSITE;

use super::items::{called, is_failure};
use super::syntax::Tree;
use super::value::{changed, changed_or_named};
use crate::analysis::claims::counter_claim;
use crate::syntax::splice;
use crate::twin::{AlterationMode, denied};

/// Assertions of testify and similar libraries, each with its opposite.
const OPPOSITES: [(&str, &str); 17] = [
    ("Equal", "NotEqual"),
    ("EqualValues", "NotEqualValues"),
    ("True", "False"),
    ("Nil", "NotNil"),
    ("NoError", "Error"),
    ("Contains", "NotContains"),
    ("Empty", "NotEmpty"),
    ("Zero", "NotZero"),
    ("Same", "NotSame"),
    ("Panics", "NotPanics"),
    ("ErrorIs", "NotErrorIs"),
    ("Greater", "LessOrEqual"),
    ("Less", "GreaterOrEqual"),
    ("Subset", "NotSubset"),
    ("Regexp", "NotRegexp"),
    ("Implements", "NotImplements"),
    ("ElementsMatch", "NotElementsMatch"),
];

/// Calls that compare two values.
const COMPARING: [&str; 4] = ["DeepEqual", "Equal", "Diff", "EqualFunc"];

/// An assertion altered so that it must fail where the original holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Opposite {
    /// The bytes to replace, and their new text.
    pub edits: Vec<(Range<usize>, String)>,
    pub what: String,
    /// The same for an assertion that both sides print the same; `{}` stands for the function that prints.
    pub probe: Option<Vec<(Range<usize>, String)>>,
}

/// The opposite of an assertion in a function, if it has one.
pub(super) fn opposite(tree: &Tree<'_>, function: usize, node: usize, mode: AlterationMode) -> Option<Opposite> {
    if tree.ancestors(node).take_while(|outer| *outer > function).any(|outer| tree.kind(outer) == "go_statement") {
        return None;
    }
    match tree.kind(node) {
        "if_statement" => opposite_of_condition(tree, function, node, mode),
        "call_expression" if !is_failure(tree, node) => opposite_of_call(tree, function, node, mode),
        _ => None,
    }
}

fn opposite_of_condition(tree: &Tree<'_>, function: usize, node: usize, mode: AlterationMode) -> Option<Opposite> {
    let condition = tree.child(node, "condition")?;
    if mode.changes_values() && fails_if_true(tree, node) {
        let unequal = unequal_sides(tree, condition).and_then(|(left, right)| {
            let found = changed_or_named(tree, function, right, mode)
                .or_else(|| changed_or_named(tree, function, left, mode))?;
            Some(expects(tree, function, found, /* compared */ None))
        });
        let compared = unequal.or_else(|| {
            let (left, right) = compared(tree, node)?;
            let found = changed_or_named(tree, function, right, mode)
                .or_else(|| changed_or_named(tree, function, left, mode))?;
            Some(expects(tree, function, found, Some((condition, left, right))))
        });
        if compared.is_some() {
            return compared;
        }
    }
    if mode == AlterationMode::ChangeFar && fails_if_true(tree, node) {
        let claim = counter_claim(tree, condition, |kind| kind.ends_with("string_literal"));
        let longer = |node| changed(tree, node, AlterationMode::ChangeValues);
        if let Some((edit, what)) = claim.and_then(|claim| denied(tree, claim, longer)) {
            return Some(Opposite { edits: vec![edit], what, probe: None });
        }
    }
    let negated = format!("!({})", tree.text(condition));
    Some(Opposite { edits: vec![(tree.range(condition), negated)], what: OPPOSITE.to_owned(), probe: None })
}

/// Whether an `if` fails the test when its condition holds.
pub(super) fn fails_if_true(tree: &Tree<'_>, node: usize) -> bool {
    let Some(block) = tree.child(node, "consequence") else { return false };
    tree.statements(block).into_iter().any(|statement| is_failure(tree, statement + 1))
}

/// Both sides of a plain `a != b`; `None` if a side is a text that describes a difference.
fn unequal_sides(tree: &Tree<'_>, condition: usize) -> Option<(usize, usize)> {
    if tree.kind(condition) != "binary_expression" || tree.named(condition, "operator") != "!=" {
        return None;
    }
    let (left, right) = (tree.child(condition, "left")?, tree.child(condition, "right")?);
    let is_trivial = |side: usize| matches!(tree.text(side), "nil" | "\"\"" | "true" | "false" | "0");
    let is_plain = tree.text(left) != "diff" && !(is_trivial(right) && tree.text(left).contains("iff"));
    is_plain.then_some((left, right))
}

/// The two values that a condition compares with a call: `!reflect.DeepEqual(a, b)`, `!a.Equal(b)`, `cmp.Diff(a, b) !=
/// ""`.
fn compared(tree: &Tree<'_>, node: usize) -> Option<(usize, usize)> {
    let places = ["initializer", "condition"].into_iter().filter_map(|part| tree.child(node, part));
    let is_comparing = |at: &usize| tree.kind(*at) == "call_expression" && COMPARING.contains(&called(tree, *at));
    let call = places.flat_map(|part| tree.subtree(part)).find(is_comparing)?;
    let condition = tree.child(node, "condition")?;
    let is_negated = tree.text(condition).starts_with('!') || tree.text(condition).contains("!= \"\"");
    let arguments: Vec<usize> = tree.parts(tree.child(call, "arguments")?).collect();
    let sides = match arguments[..] {
        [one] => (tree.child(tree.child(call, "function")?, "operand")?, one),
        [one, two, ..] => (one, two),
        [] => return None,
    };
    is_negated.then_some(sides)
}

/// An altered assertion that expects another value; for a comparison it has a probe that prints both sides.
fn expects(
    tree: &Tree<'_>,
    function: usize,
    (range, other): (Range<usize>, String),
    comparison: Option<(usize, usize, usize)>,
) -> Opposite {
    let was = tree.subtree(function).find(|inner| tree.range(*inner) == range).map_or("", |inner| tree.text(inner));
    let what = format!("expects `{other}` instead of `{was}`");
    let probe = comparison.and_then(|(condition, left, right)| {
        let whole = tree.range(condition);
        let altered = |side: usize| {
            let at = tree.range(side);
            let is_inside = at.start <= range.start && range.end <= at.end;
            let edits = is_inside.then(|| (range.start - at.start..range.end - at.start, other.clone()));
            splice(tree.text(side), edits.into_iter().collect())
        };
        let printed = format!("{{}}(\"%+v\", {}) != {{}}(\"%+v\", {})", altered(left), altered(right));
        let elsewhere = range.end <= whole.start || whole.end <= range.start;
        // The call may precede the condition, with the changed value inside of it.
        let is_free = |side: usize| whole.start <= tree.range(side).start && tree.range(side).end <= whole.end;
        let apart = elsewhere.then(|| (range.clone(), other.clone()));
        (is_free(left) && is_free(right)).then(|| std::iter::once((whole.clone(), printed)).chain(apart).collect())
    });
    Opposite { edits: vec![(range, other)], what, probe }
}

fn opposite_of_call(tree: &Tree<'_>, function: usize, node: usize, mode: AlterationMode) -> Option<Opposite> {
    let (name, arguments) = (called(tree, node), tree.child(node, "arguments")?);
    let arguments: Vec<usize> = tree.parts(arguments).collect();
    let plain = name.strip_suffix('f').filter(|_| name.len() > 2).unwrap_or(name);
    let is_equality = matches!(
        plain,
        "Equal" | "EqualValues" | "Exactly" | "ElementsMatch" | "Len" | "EqualError" | "InDelta" | "JSONEq"
    );
    if mode == AlterationMode::ChangeFar
        && plain == "Contains"
        && let Some(needle) = arguments.get(2).filter(|it| tree.kind(**it).ends_with("string_literal"))
        && let Some(found) = changed(tree, *needle, AlterationMode::ChangeValues)
    {
        return Some(expects(tree, function, found, /* comparison */ None));
    }
    let values = arguments.iter().skip(1).take(2);
    if mode.changes_values() && is_equality {
        let found = values.clone().find_map(|argument| changed(tree, *argument, mode));
        let found = found.or_else(|| values.clone().find_map(|it| changed_or_named(tree, function, *it, mode)));
        if let Some(found) = found {
            return Some(expects(tree, function, found, /* comparison */ None));
        }
    }
    let other = OPPOSITES.iter().find_map(|(one, other)| match plain {
        _ if plain == *one => Some(*other),
        _ if plain == *other => Some(*one),
        _ => None,
    })?;
    let field = tree.child(tree.child(node, "function")?, "field")?;
    let other = format!("{other}{}", name.strip_prefix(plain).unwrap_or_default());
    Some(Opposite { edits: vec![(tree.range(field), other)], what: OPPOSITE.to_owned(), probe: None })
}

/// For each kind of failure or assertion in a node, a false assertion of the same kind; the test is `t`.
pub(super) fn false_assertions(tree: &Tree<'_>, node: usize) -> Vec<(String, String)> {
    if tree.kind(node) != "call_expression" {
        let failures = tree.subtree(node).filter(|inner| is_failure(tree, *inner));
        return failures.map(|call| failing(called(tree, call))).collect();
    }
    if is_failure(tree, node) {
        return vec![failing(called(tree, node))];
    }
    let words = tree.named(node, "function");
    let arguments = match called(tree, node) {
        "Equal" | "EqualValues" | "Exactly" | "Greater" => "(t, 1, 2)",
        "NotEqual" | "Less" => "(t, 1, 1)",
        "True" => "(t, false)",
        "False" => "(t, true)",
        "Nil" => "(t, 1)",
        "NotNil" | "Error" => "(t, nil)",
        "Contains" => "(t, \"a\", \"b\")",
        "NotContains" => "(t, \"a\", \"a\")",
        _ => return Vec::new(),
    };
    vec![(words.to_owned(), format!("{words}{arguments}"))]
}

fn failing(name: &str) -> (String, String) {
    let arguments = match name {
        "Fail" | "FailNow" => "()",
        _ => "(\"untrue\")",
    };
    (format!("t.{name}"), format!("t.{name}{arguments}"))
}
