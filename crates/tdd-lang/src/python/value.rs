//! Changes the literal values in an expression to others of the same type.

use std::ops::Range;

use super::items::called;
use super::syntax::Tree;
use crate::syntax::FlatTree;
use crate::twin::AlterationMode;

/// Functions whose arguments determine the value that they create.
const MAKERS: [&str; 16] = [
    "approx",
    "set",
    "frozenset",
    "tuple",
    "list",
    "dict",
    "date",
    "datetime",
    "timedelta",
    "time",
    "call",
    "bytes",
    "array",
    "namedtuple",
    "float",
    "int",
];

/// An edit that changes the value of an expression: the byte range and its new text. `None` if the expression has no
/// literal value, or calls another function.
pub(super) fn changed(tree: &Tree<'_>, node: usize, mode: AlterationMode) -> Option<(Range<usize>, String)> {
    let text = tree.text(node);
    let whole = |other: String| Some((tree.range(node), other));
    match tree.kind(node) {
        "integer" => whole(
            text.parse::<u64>().map_or_else(|_| format!("({text} + 1)"), |number| mode.number(number).to_string()),
        ),
        "float" => whole(format!("({text} + 1.0)")),
        "true" => whole("False".to_owned()),
        "false" => whole("True".to_owned()),
        "none" => whole("\"t_other\"".to_owned()),
        "string" => mode.same_length(text).or_else(|| other_text(text)).and_then(whole),
        "list" if tree.parts(node).next().is_none() => whole("[None]".to_owned()),
        "tuple" if tree.parts(node).next().is_none() => whole("(None,)".to_owned()),
        "dictionary" if tree.parts(node).next().is_none() => whole("{None: None}".to_owned()),
        "dictionary" => {
            let values = tree.parts(node).filter_map(|pair| tree.child(pair, "value"));
            mode.one_of(values.filter_map(|value| changed(tree, value, mode)))
        }
        "list" | "tuple" | "set" | "parenthesized_expression" | "unary_operator" | "concatenated_string" => {
            mode.one_of(tree.parts(node).filter_map(|part| changed(tree, part, mode)))
        }
        "call" if makes_a_value(called(tree, node)) => {
            let arguments = tree.child(node, "arguments")?;
            // The others are tolerances.
            if called(tree, node) == "approx" {
                return changed_far(tree, tree.parts(arguments).next()?, mode);
            }
            mode.one_of(tree.parts(arguments).filter_map(|argument| match tree.kind(argument) {
                "keyword_argument" => changed(tree, tree.child(argument, "value")?, mode),
                _ => changed(tree, argument, mode),
            }))
        }
        _ => None,
    }
}

/// Another value that no reasonable tolerance takes for the same.
pub(super) fn changed_far(tree: &Tree<'_>, node: usize, mode: AlterationMode) -> Option<(Range<usize>, String)> {
    match tree.kind(node) {
        "integer" | "float" => Some((tree.range(node), format!("({} * 2 + 60)", tree.text(node)))),
        "list" | "tuple" | "parenthesized_expression" | "unary_operator" => {
            mode.one_of(tree.parts(node).filter_map(|part| changed_far(tree, part, mode)))
        }
        _ => changed(tree, node, mode),
    }
}

/// Whether a function creates a value from its arguments; types begin with a capital letter.
fn makes_a_value(name: &str) -> bool {
    name.starts_with(|c: char| c.is_uppercase()) || MAKERS.contains(&name)
}

/// Another string: Python concatenates adjacent literals.
fn other_text(text: &str) -> Option<String> {
    let prefix: String = text.chars().take_while(|c| c.is_alphabetic()).collect::<String>().to_lowercase();
    match prefix.as_str() {
        "" | "r" | "u" => Some(format!("{text} \"~\"")),
        "b" | "br" | "rb" => Some(format!("{text} b\"~\"")),
        _ => None,
    }
}

/// The value of a literal; `None` for any other node.
pub(super) fn literal(tree: &FlatTree<'_>, node: usize) -> Option<String> {
    match tree.kind(node) {
        "string" => Some(tree.text(node).replace('\'', "\"")),
        "integer" | "float" | "true" | "false" | "none" => Some(tree.text(node).to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::splice;

    fn check(expression: &str, expected: Option<&str>) {
        let tree = Tree::parse(expression).unwrap();
        // Node 0 is the file, 1 the statement, 2 the expression.
        let made = changed(&tree, 2, AlterationMode::ChangeValues).map(|edit| splice(expression, vec![edit]));
        assert_eq!(made.as_deref(), expected, "{expression}");
    }

    #[test]
    fn what_is_spelled_out_changes() {
        check("3", Some("4"));
        check("-0.5", Some("-(0.5 + 1.0)"));
        check("'a'", Some("'a' \"~\""));
        check("b'a'", Some("b'a' b\"~\""));
        check("[1, 2]", Some("[2, 2]"));
        check("{'a': 1}", Some("{'a': 2}"));
        check("[]", Some("[None]"));
        check("Money(5, currency='EUR')", Some("Money(6, currency='EUR')"));
        check("pytest.approx(0.3)", Some("pytest.approx((0.3 * 2 + 60))"));
        check("True", Some("False"));
    }

    #[test]
    fn a_tolerance_stays_as_it_is() {
        let source = "pytest.approx(0.3, abs=0.01)";
        let tree = Tree::parse(source).unwrap();
        let edit = changed(&tree, 2, AlterationMode::ChangeFar).unwrap();
        assert_eq!(splice(source, vec![edit]), "pytest.approx((0.3 * 2 + 60), abs=0.01)");
    }

    #[test]
    fn what_somebody_else_answers_does_not() {
        for expression in ["add(1, 2)", "expected", "f'{x}'", "x[0]", "a.b(1)"] {
            check(expression, None);
        }
    }
}
