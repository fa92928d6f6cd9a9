//! Turns an assertion into its opposite: another expected value, or the negated condition.

use std::ops::Range;

use tdd_core::proof::OPPOSITE;

use super::assertion::{Asserting, Expectation, expectation};
use super::syntax::Tree;
use super::value::changed;
use crate::analysis::claims::{Claim, claim};
use crate::twin::{AlterationMode, Opposite, denied};

/// Functions of `assert` that compare their first two arguments.
const EQUALITIES: [&str; 5] = ["equal", "strictEqual", "deepEqual", "deepStrictEqual", "partialDeepStrictEqual"];

/// Matchers whose only argument is the exact expected value.
const MATCHERS: [&str; 16] = [
    "toBe",
    "toEqual",
    "toStrictEqual",
    "toMatchObject",
    "toHaveLength",
    "toHaveBeenCalledTimes",
    "toBeCalledTimes",
    "toBeCloseTo",
    "toMatchInlineSnapshot",
    "toThrowErrorMatchingInlineSnapshot",
    "equal",
    "equals",
    "eq",
    "eql",
    "eqls",
    "lengthOf",
];

/// Matchers for thrown errors.
const THROWING: [&str; 4] = ["toThrow", "toThrowError", "throw", "throws"];

/// The opposites of an assertion; `print` names a function that prints any value.
pub(super) fn opposites(
    tree: &Tree<'_>,
    asserting: &Asserting<'_>,
    node: usize,
    mode: AlterationMode,
    print: &str,
) -> Vec<Opposite> {
    let arguments = tree.arguments(node);
    if let Some(function) = asserting.function(tree, node) {
        let sides = match (function, &arguments[..]) {
            (function, [left, right, ..]) if EQUALITIES.contains(&function) => Some((*left, *right)),
            ("ok", [condition, ..]) => sides_of(tree, *condition),
            _ => None,
        };
        return match sides
            .filter(|_| mode.changes_values())
            .and_then(|sides| other_value(tree, node, sides, mode, print))
        {
            Some(opposite) => vec![opposite],
            None if function == "fail" => Vec::new(),
            None => {
                let condition = arguments.first().copied().filter(|_| function == "ok");
                vec![denial(tree, condition, mode).unwrap_or_else(|| negated(tree, node))]
            }
        };
    }
    let Some(expected) = expectation(tree, node) else { return Vec::new() };
    opposites_of_expectation(tree, node, &expected, mode, print)
}

/// Both sides of a plain equality.
fn sides_of(tree: &Tree<'_>, condition: usize) -> Option<(usize, usize)> {
    let operator = tree.child(condition, "operator").map_or("", |operator| tree.text(operator));
    let is_equality = tree.kind(condition) == "binary_expression" && matches!(operator, "==" | "===");
    let sides = (tree.child(condition, "left")?, tree.child(condition, "right")?);
    is_equality.then_some(sides)
}

fn opposites_of_expectation(
    tree: &Tree<'_>,
    node: usize,
    expected: &Expectation,
    mode: AlterationMode,
    print: &str,
) -> Vec<Opposite> {
    let matcher = tree.text(expected.matcher);
    let is_turned = expected.words.iter().any(|word| matches!(word.as_str(), "not" | "resolves" | "rejects"));
    let subject = tree.arguments(expected.expect).into_iter().next();
    let wanted = expected.call.and_then(|call| tree.arguments(call).into_iter().next());
    if let (Some(subject), Some(wanted)) = (subject, wanted)
        && MATCHERS.contains(&matcher)
        && !is_turned
        && mode.changes_values()
        && let Some((range, other)) = changed(tree, wanted, mode)
    {
        let what = format!("expects `{other}` instead of `{}`", text(tree, &range, node));
        let compares = matches!(matcher, "toBe" | "toEqual" | "toStrictEqual" | "equal" | "eql");
        let probe = compares.then(|| printed(tree, node, (subject, wanted), &(range.clone(), other.clone()), print));
        return vec![Opposite { edit: (range, other), what, probe: probe.flatten() }];
    }
    let mut found = vec![negated(tree, node)];
    if let Some(wanted) = wanted.filter(|wanted| tree.kind(*wanted) == "string")
        && matches!(matcher, "toContain" | "include" | "contain")
        && !is_turned
        && mode == AlterationMode::ChangeFar
        && let Some((edit, what)) =
            denied(tree, Claim::Text(wanted), |node| changed(tree, node, AlterationMode::ChangeValues))
    {
        found.push(Opposite { edit, what, probe: None });
    }
    if THROWING.contains(&matcher)
        && !expected.words.iter().any(|word| word == "not")
        && let Some(words) = wanted.filter(|wanted| tree.kind(*wanted) == "string")
    {
        let edit = (tree.range(words), "\"t_other_words\"".to_owned());
        found.push(Opposite { edit, what: "expects another message".to_owned(), probe: None });
    }
    found
}

/// The opposite of a condition that asks for a text or a close number.
fn denial(tree: &Tree<'_>, condition: Option<usize>, mode: AlterationMode) -> Option<Opposite> {
    let claim = claim(tree, condition.filter(|_| mode == AlterationMode::ChangeFar)?, |kind| kind == "string")?;
    let (edit, what) = denied(tree, claim, |node| changed(tree, node, AlterationMode::ChangeValues))?;
    Some(Opposite { edit, what, probe: None })
}

/// Another value on the side with a literal, the expected side first.
fn other_value(
    tree: &Tree<'_>,
    node: usize,
    sides: (usize, usize),
    mode: AlterationMode,
    print: &str,
) -> Option<Opposite> {
    let (range, other) = changed(tree, sides.1, mode).or_else(|| changed(tree, sides.0, mode))?;
    let what = format!("expects `{other}` instead of `{}`", text(tree, &range, node));
    let probe = printed(tree, node, sides, &(range.clone(), other.clone()), print);
    Some(Opposite { edit: (range, other), what, probe })
}

/// A replacement for an assertion that prints both sides, with the changed value in place.
fn printed(
    tree: &Tree<'_>,
    node: usize,
    sides: (usize, usize),
    (range, other): &(Range<usize>, String),
    print: &str,
) -> Option<(Range<usize>, String)> {
    if tree.subtree(node).any(|inner| tree.kind(inner) == "await_expression") {
        return None;
    }
    let written = |side: usize| {
        let (whole, written) = (tree.range(side), tree.text(side));
        if whole.start <= range.start && range.end <= whole.end {
            let (start, end) = (range.start - whole.start, range.end - whole.start);
            format!("{}{other}{}", &written[..start], &written[end..])
        } else {
            written.to_owned()
        }
    };
    let both = format!("{print}({}) !== {print}({})", written(sides.0), written(sides.1));
    Some((tree.range(node), format!("(() => {{ if ({both}) throw new Error(\"they print differently\"); }})()")))
}

/// A replacement for an assertion that passes only if the original fails.
fn negated(tree: &Tree<'_>, node: usize) -> Opposite {
    let text = tree.text(node);
    let is_awaited = tree.kind(tree.parent(node)) == "await_expression";
    let waits = is_awaited || tree.subtree(node).any(|inner| tree.kind(inner) == "await_expression");
    let throws = "throw new Error(\"it holds\");";
    let other = if waits {
        let start = if is_awaited { "" } else { "await " };
        format!("{start}(async () => {{ try {{ await {text}; }} catch {{ return; }} {throws} }})()")
    } else {
        format!("(() => {{ try {{ {text}; }} catch {{ return; }} {throws} }})()")
    };
    Opposite { edit: (tree.range(node), other), what: OPPOSITE.to_owned(), probe: None }
}

/// The same assertion function with arguments for which it must fail.
pub(super) fn false_assertion(tree: &Tree<'_>, asserting: &Asserting<'_>, node: usize) -> Option<(String, String)> {
    if let Some(function) = asserting.function(tree, node) {
        let words = tree.text(tree.child(node, "function")?);
        // An object passed to a test does not exist in another test.
        let is_handed = words.contains(".assert.");
        let told = match function {
            "ok" => "(false)",
            "equal" | "strictEqual" | "deepEqual" | "deepStrictEqual" => "(1, 2)",
            "notEqual" | "notStrictEqual" | "notDeepEqual" | "notDeepStrictEqual" => "(1, 1)",
            "throws" => "(() => {})",
            "match" => "(\"a\", /b/)",
            "doesNotMatch" => "(\"a\", /a/)",
            "ifError" => "(new Error(\"untrue\"))",
            _ => return None,
        };
        return (!is_handed).then(|| (words.to_owned(), format!("{words}{told}")));
    }
    let expected = expectation(tree, node)?;
    let expect = tree.text(tree.child(expected.expect, "function")?);
    let (name, told) = match tree.text(expected.matcher) {
        matcher @ ("toBe" | "toEqual" | "toStrictEqual") => (matcher, format!("(1).{matcher}(2)")),
        "toBeTruthy" => ("toBeTruthy", "(0).toBeTruthy()".to_owned()),
        "toBeFalsy" => ("toBeFalsy", "(1).toBeFalsy()".to_owned()),
        "toBeNull" => ("toBeNull", "(1).toBeNull()".to_owned()),
        "toBeUndefined" => ("toBeUndefined", "(1).toBeUndefined()".to_owned()),
        "toContain" => ("toContain", "([]).toContain(1)".to_owned()),
        "toHaveLength" => ("toHaveLength", "([]).toHaveLength(1)".to_owned()),
        "toThrow" | "toThrowError" => ("toThrow", "(() => {}).toThrow()".to_owned()),
        _ if expected.words.first().is_some_and(|word| word == "to") => ("to.equal", "(1).to.equal(2)".to_owned()),
        matcher if matcher.starts_with("to") => ("toBe", "(1).toBe(2)".to_owned()),
        _ => return None,
    };
    Some((format!("{expect}().{name}"), format!("{expect}{told}")))
}

fn text<'a>(tree: &Tree<'a>, range: &Range<usize>, node: usize) -> &'a str {
    tree.subtree(node).find(|inner| tree.range(*inner) == *range).map_or("", |inner| tree.text(inner))
}
