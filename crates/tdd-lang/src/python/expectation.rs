//! Turns one assertion into its opposite: another expected value, or the negated condition.

use std::ops::Range;

use tdd_core::proof::OPPOSITE;

use super::items::called;
use super::syntax::Tree;
use super::value::{changed, changed_far};
use crate::analysis::claims::claim;
use crate::twin::{AlterationMode, Opposite, denied};

/// Assertions of `unittest` and of mocks, each with its opposite.
const OPPOSITES: [(&str, &str); 13] = [
    ("assertEqual", "assertNotEqual"),
    ("assertTrue", "assertFalse"),
    ("assertIn", "assertNotIn"),
    ("assertIs", "assertIsNot"),
    ("assertIsNone", "assertIsNotNone"),
    ("assertIsInstance", "assertNotIsInstance"),
    ("assertAlmostEqual", "assertNotAlmostEqual"),
    ("assertGreater", "assertLessEqual"),
    ("assertLess", "assertGreaterEqual"),
    ("assertRegex", "assertNotRegex"),
    ("assert_called", "assert_not_called"),
    ("assert_called_once", "assert_not_called"),
    ("assert_any_call", "assert_not_called"),
];

/// Assertions of equality between the first two arguments.
const EQUALITIES: [&str; 9] = [
    "assertEqual",
    "assertEquals",
    "assertListEqual",
    "assertDictEqual",
    "assertTupleEqual",
    "assertSetEqual",
    "assertSequenceEqual",
    "assertCountEqual",
    "assertMultiLineEqual",
];

/// The opposites of an assertion; `never` is a context manager that fails if anything is raised inside it.
pub(super) fn opposites(tree: &Tree<'_>, node: usize, mode: AlterationMode, never: &str) -> Vec<Opposite> {
    match tree.kind(node) {
        "assert_statement" => opposite_of_statement(tree, node, mode).into_iter().collect(),
        "call" => opposite_of_call(tree, node, mode, never),
        _ => Vec::new(),
    }
}

fn opposite_of_statement(tree: &Tree<'_>, node: usize, mode: AlterationMode) -> Option<Opposite> {
    let condition = tree.parts(node).find(|part| tree.kind(*part) != "assert")?;
    let equality = sides(tree, condition).filter(|_| mode.changes_values());
    if let Some((left, right)) = equality
        && let Some((range, other)) = changed(tree, right, mode).or_else(|| changed(tree, left, mode))
    {
        let what = format!("expects `{other}` instead of `{}`", text(tree, &range, node));
        let on_right = tree.range(right).start <= range.start;
        let altered = |side: usize, is_it: bool| {
            let whole = tree.range(side);
            if !is_it {
                return tree.text(side).to_owned();
            }
            let (start, end) = (range.start - whole.start, range.end - whole.start);
            let written = tree.text(side);
            format!("{}{other}{}", &written[..start], &written[end..])
        };
        let probe = format!("repr({}) == repr({})", altered(left, !on_right), altered(right, on_right));
        return Some(Opposite { edit: (range.clone(), other), what, probe: Some((tree.range(condition), probe)) });
    }
    if mode == AlterationMode::ChangeFar
        && let Some(claim) = claim(tree, condition, |kind| kind == "string")
        && let Some((edit, what)) = denied(tree, claim, |node| changed(tree, node, AlterationMode::ChangeValues))
    {
        return Some(Opposite { edit, what, probe: None });
    }
    let negated = format!("not ({})", tree.text(condition));
    Some(Opposite { edit: (tree.range(condition), negated), what: OPPOSITE.to_owned(), probe: None })
}

/// Both sides of a plain equality.
fn sides(tree: &Tree<'_>, condition: usize) -> Option<(usize, usize)> {
    let children: Vec<usize> = tree.children(condition).filter(|child| tree.kind(*child) != "comment").collect();
    match children[..] {
        [left, operator, right] if tree.kind(condition) == "comparison_operator" && tree.text(operator) == "==" => {
            Some((left, right))
        }
        _ => None,
    }
}

fn opposite_of_call(tree: &Tree<'_>, node: usize, mode: AlterationMode, never: &str) -> Vec<Opposite> {
    let name = called(tree, node);
    let arguments: Vec<usize> =
        tree.child(node, "arguments").map(|list| tree.parts(list).collect()).unwrap_or_default();
    if matches!(name, "raises" | "assertRaises" | "assertRaisesRegex") {
        return opposites_of_raises(tree, node, &arguments, never);
    }
    let values = mode.changes_values();
    let is_equality = EQUALITIES.contains(&name) || name == "assertAlmostEqual";
    let changeable = match (is_equality, name.starts_with("assert_") && name.ends_with("_with")) {
        (true, _) => arguments.iter().take(2).rev().copied().collect(),
        (false, true) => arguments.clone(),
        (false, false) => Vec::new(),
    };
    let change = if name == "assertAlmostEqual" { changed_far } else { changed };
    if let Some((range, other)) =
        changeable.into_iter().filter(|_| values).find_map(|argument| change(tree, argument, mode))
    {
        let what = format!("expects `{other}` instead of `{}`", text(tree, &range, node));
        let probe = is_equality.then(|| printed_alike(tree, &arguments, &range, &other)).flatten();
        return vec![Opposite { edit: (range, other), what, probe }];
    }
    let opposite = OPPOSITES.iter().find_map(|(one, other)| match name {
        _ if name == *one => Some(*other),
        _ if name == *other => Some(*one),
        _ => None,
    });
    let opposite = opposite.or_else(|| EQUALITIES.contains(&name).then_some("assertNotEqual"));
    let renamed = opposite.and_then(|other| {
        let function = tree.child(node, "function")?;
        let last = tree.child(function, "attribute").unwrap_or(function);
        Some(Opposite { edit: (tree.range(last), other.to_owned()), what: OPPOSITE.to_owned(), probe: None })
    });
    renamed.into_iter().collect()
}

/// An edit that compares what the first two arguments of an equality print, with this change in one of them.
fn printed_alike(
    tree: &Tree<'_>,
    arguments: &[usize],
    range: &Range<usize>,
    other: &str,
) -> Option<(Range<usize>, String)> {
    let [one, two, ..] = *arguments else { return None };
    let print = |side: usize| {
        let (whole, written) = (tree.range(side), tree.text(side));
        if whole.start <= range.start && range.end <= whole.end {
            let (start, end) = (range.start - whole.start, range.end - whole.start);
            format!("repr({}{other}{})", &written[..start], &written[end..])
        } else {
            format!("repr({written})")
        }
    };
    Some((tree.range(one).start..tree.range(two).end, format!("{}, {}", print(one), print(two))))
}

/// The opposites of an expected exception: nothing is raised, or the message is another one.
fn opposites_of_raises(tree: &Tree<'_>, node: usize, arguments: &[usize], never: &str) -> Vec<Opposite> {
    let is_context = tree
        .ancestors(node)
        .take_while(|outer| tree.kind(*outer) != "block")
        .any(|outer| tree.kind(outer) == "with_item");
    if !is_context {
        return Vec::new();
    }
    let what = "expects nothing to be raised".to_owned();
    let mut found = vec![Opposite { edit: (tree.range(node), format!("{never}()")), what, probe: None }];
    let pattern = arguments.iter().find_map(|argument| match tree.kind(*argument) {
        "keyword_argument" if tree.text(*argument).starts_with("match") => tree.child(*argument, "value"),
        "string" if called(tree, node) == "assertRaisesRegex" => Some(*argument),
        _ => None,
    });
    if let Some(pattern) = pattern {
        let edit = (tree.range(pattern), format!("\"{never}\""));
        found.push(Opposite { edit, what: "expects another message".to_owned(), probe: None });
    }
    found
}

/// A false assertion of the same kind, with that kind; `{}` stands for the indentation.
pub(super) fn false_assertion(tree: &Tree<'_>, node: usize) -> Option<(String, String)> {
    if tree.kind(node) == "assert_statement" {
        return Some(("assert".to_owned(), "assert 1 == 2".to_owned()));
    }
    let name = called(tree, node);
    let words = tree.text(tree.child(node, "function")?);
    let arguments = match name {
        "assertEqual" | "assertIs" | "assertAlmostEqual" | "assertGreater" => "(1, 2)",
        "assertCountEqual" | "assertSequenceEqual" | "assertListEqual" => "([1], [2])",
        "assertDictEqual" => "({1: 1}, {1: 2})",
        "assertTupleEqual" => "((1,), (2,))",
        "assertSetEqual" => "({1}, {2})",
        "assertNotEqual" | "assertIsNot" | "assertLess" => "(1, 1)",
        "assertTrue" | "assertIsNotNone" => "(None)",
        "assertFalse" | "assertIsNone" => "(1)",
        "assertIn" => "(1, [])",
        "assertNotIn" => "(1, [1])",
        "assertIsInstance" => "(1, str)",
        "raises" | "assertRaises" => {
            return Some((name.to_owned(), format!("with {words}(ValueError):\n{{}}    pass")));
        }
        _ => return None,
    };
    Some((name.to_owned(), format!("{words}{arguments}")))
}

fn text<'a>(tree: &Tree<'a>, range: &Range<usize>, node: usize) -> &'a str {
    tree.subtree(node).find(|inner| tree.range(*inner) == *range).map_or("", |inner| tree.text(inner))
}
