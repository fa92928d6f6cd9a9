//! Changes the literal values in an expression to others of the same type.

use std::ops::Range;

use super::syntax::{MAX_NESTING, Tree};
use crate::syntax::FlatTree;
use crate::twin::AlterationMode;

/// Changes an expression's value: the bytes to replace, and their replacement. `None` if it contains no literal, or is
/// computed.
pub(super) fn changed(tree: &Tree<'_>, node: usize, mode: AlterationMode) -> Option<(Range<usize>, String)> {
    if tree.ancestors(node).count() > MAX_NESTING {
        return None;
    }
    let text = tree.text(node);
    let whole = |other: String| Some((tree.range(node), other));
    let mut parts = tree.parts(node);
    match tree.kind(node) {
        "number" => match text.parse::<u64>() {
            Ok(number) => whole(mode.number(number).to_string()),
            Err(_) if text.ends_with('n') => whole(format!("({text} + 1n)")),
            Err(_) => whole(format!("({text} + 1)")),
        },
        "true" => whole("false".to_owned()),
        "false" => whole("true".to_owned()),
        "null" | "undefined" => whole("\"t_other\"".to_owned()),
        "string" | "template_string" => whole(mode.same_length(text).unwrap_or_else(|| format!("({text} + \"~\")"))),
        "array" if parts.next().is_none() => whole("[null]".to_owned()),
        "object" if parts.next().is_none() => whole("{ t_other: 1 }".to_owned()),
        "object" => {
            let values = tree.parts(node).filter_map(|pair| tree.child(pair, "value"));
            mode.one_of(values.filter_map(|value| changed(tree, value, mode)))
        }
        "array" | "parenthesized_expression" | "unary_expression" | "as_expression" | "satisfies_expression" => {
            mode.one_of(tree.parts(node).filter_map(|part| changed(tree, part, mode)))
        }
        "new_expression" => {
            mode.one_of(tree.arguments(node).into_iter().filter_map(|argument| changed(tree, argument, mode)))
        }
        // After the number comes its precision.
        "call_expression" if tree.text(node).starts_with("expect.closeTo") => {
            changed(tree, tree.arguments(node).into_iter().next()?, mode)
        }
        "call_expression" if makes_a_value(tree, node) => {
            mode.one_of(tree.arguments(node).into_iter().filter_map(|argument| changed(tree, argument, mode)))
        }
        _ => None,
    }
}

/// Whether a call's arguments are its value: `BigInt(1)`, `expect.objectContaining({ … })`.
fn makes_a_value(tree: &Tree<'_>, call: usize) -> bool {
    let function = tree.child(call, "function").map_or("", |function| tree.text(function));
    matches!(function, "BigInt" | "Number" | "String" | "Symbol.for" | "Object.freeze")
        || function == "expect.objectContaining"
}

/// A literal's value; `None` if the node is not a literal.
pub(super) fn literal(tree: &FlatTree<'_>, node: usize) -> Option<String> {
    match tree.kind(node) {
        "string" => Some(tree.text(node).replace('\'', "\"")),
        "number" | "true" | "false" | "null" => Some(tree.text(node).to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::splice;

    fn check(expression: &str, expected: Option<&str>) {
        let source = format!("x = {expression}");
        let tree = Tree::parse("a.ts", &source).unwrap();
        let value = (0..tree.len()).find(|node| tree.field(*node) == Some("right")).unwrap();
        let made =
            changed(&tree, value, AlterationMode::ChangeValues).map(|edit| splice(&source, vec![edit])[4..].to_owned());
        assert_eq!(made.as_deref(), expected, "{expression}");
    }

    #[test]
    fn what_is_spelled_out_changes() {
        check("3", Some("4"));
        check("-0.5", Some("-(0.5 + 1)"));
        check("10n", Some("(10n + 1n)"));
        check("'a'", Some("('a' + \"~\")"));
        check("`a${b}`", Some("(`a${b}` + \"~\")"));
        check("[1, 2]", Some("[2, 2]"));
        check("{ a: 1 }", Some("{ a: 2 }"));
        check("[]", Some("[null]"));
        check("{}", Some("{ t_other: 1 }"));
        check("new Money(5, 'EUR')", Some("new Money(6, 'EUR')"));
        check("undefined", Some("\"t_other\""));
        check("true as boolean", Some("false as boolean"));
    }

    #[test]
    fn what_somebody_else_answers_does_not() {
        for expression in ["f(1)", "a", "a + 1", "NaN"] {
            check(expression, None);
        }
    }
}
