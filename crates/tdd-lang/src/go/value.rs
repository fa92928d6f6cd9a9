//! Changes the literal values in an expression to others of the same type.

use std::ops::Range;

use super::items::called;
use super::known::is_builtin;
use super::syntax::Tree;
use super::tables::{declared_name, elements, tables};
use crate::syntax::FlatTree;
use crate::twin::AlterationMode;

/// An edit that changes the value of an expression: the byte range and its new text. `None` if the expression has no
/// literal value, or calls a function.
pub(super) fn changed(tree: &Tree<'_>, node: usize, mode: AlterationMode) -> Option<(Range<usize>, String)> {
    let text = tree.text(node);
    let whole = |other: String| Some((tree.range(node), other));
    match tree.kind(node) {
        "int_literal" => whole(
            text.parse::<u64>().map_or_else(|_| format!("({text} + 1)"), |number| mode.number(number).to_string()),
        ),
        "float_literal" => whole(format!("({text} + 1.0)")),
        "true" => whole("false".to_owned()),
        "false" => whole("true".to_owned()),
        "rune_literal" => whole(if text == "'~'" { "'a'".to_owned() } else { "'~'".to_owned() }),
        "interpreted_string_literal" | "raw_string_literal" => {
            let end = text.len().checked_sub(1)?;
            whole(mode.same_length(text).unwrap_or_else(|| format!("{}~{}", &text[..end], &text[end..])))
        }
        "composite_literal" => {
            let inner = mode
                .one_of(elements(tree, node).into_iter().filter_map(|element| changed_element(tree, element, mode)));
            inner.or_else(|| {
                let kind = tree.child(node, "type")?;
                let is_empty = elements(tree, node).is_empty() && tree.kind(kind) == "slice_type";
                is_empty.then(|| (tree.range(node), format!("make({}, 1)", tree.text(kind))))
            })
        }
        "literal_value" => {
            let inner = tree.children(node).filter(|it| matches!(tree.kind(*it), "literal_element" | "keyed_element"));
            mode.one_of(inner.filter_map(|element| changed_element(tree, element, mode)))
        }
        "parenthesized_expression" => tree.parts(node).find_map(|part| changed(tree, part, mode)),
        "unary_expression" if text.starts_with(['-', '+', '&']) => changed(tree, tree.child(node, "operand")?, mode),
        "type_conversion_expression" => changed(tree, tree.child(node, "operand")?, mode),
        "call_expression" if is_builtin(called(tree, node)) => {
            let arguments = tree.child(node, "arguments")?;
            mode.one_of(tree.parts(arguments).filter_map(|argument| changed(tree, argument, mode)))
        }
        _ => None,
    }
}

fn changed_element(tree: &Tree<'_>, element: usize, mode: AlterationMode) -> Option<(Range<usize>, String)> {
    let value = tree.child(element, "value").unwrap_or(element);
    tree.parts(value).find_map(|part| changed(tree, part, mode))
}

/// The same for a name that stands for such a value in a function: a variable that is assigned one and is no argument
/// of a call, or a field in the rows of a table.
pub(super) fn changed_or_named(
    tree: &Tree<'_>,
    function: usize,
    node: usize,
    mode: AlterationMode,
) -> Option<(Range<usize>, String)> {
    changed(tree, node, mode).or_else(|| match tree.kind(node) {
        "identifier" if !goes_in(tree, function, tree.text(node)) => variable(tree, function, tree.text(node), mode),
        "selector_expression" if !goes_in(tree, function, tree.text(node)) => {
            field(tree, function, (tree.named(node, "operand"), tree.named(node, "field")), mode)
        }
        _ => None,
    })
}

/// Whether a value is used for more than being expected: it is an input, or decides what the test does.
fn goes_in(tree: &Tree<'_>, function: usize, text: &str) -> bool {
    let tells = |call: usize| {
        let name = called(tree, call);
        let fails = ["Error", "Fatal", "Log"].iter().any(|start| name.starts_with(start));
        fails || name.ends_with("Equal") || matches!(name, "Diff" | "Is")
    };
    let is_expected = |node: usize| {
        let parent = tree.parent(node);
        let compares = tree.kind(parent) == "binary_expression"
            && matches!(tree.named(parent, "operator"), "==" | "!=")
            && tree.ancestors(parent).take(3).any(|outer| tree.kind(outer) == "if_statement");
        let is_given = tree.field(parent) == Some("left") || tree.field(node) == Some("name");
        compares || is_given || tree.kind(parent) == "argument_list" && tells(tree.parent(parent))
    };
    tree.subtree(function).any(|node| {
        let is_it = matches!(tree.kind(node), "identifier" | "selector_expression") && tree.text(node) == text;
        is_it && !is_expected(node)
    })
}

/// An edit of the value that a variable is assigned, if that happens only once.
fn variable(tree: &Tree<'_>, function: usize, name: &str, mode: AlterationMode) -> Option<(Range<usize>, String)> {
    let gives = |node: &usize| {
        let left = tree.child(*node, "left").or_else(|| tree.child(*node, "name"));
        let is_one =
            matches!(tree.kind(*node), "short_var_declaration" | "var_spec" | "assignment_statement" | "range_clause");
        is_one && left.is_some_and(|left| tree.names(left).any(|found| found == name))
    };
    let mut places = tree.subtree(function).filter(gives);
    let (first, None) = (places.next()?, places.next()) else { return None };
    let value = tree.child(first, "right").or_else(|| tree.child(first, "value"))?;
    let mut values = tree.parts(value);
    let (value, None) = (values.next()?, values.next()) else { return None };
    changed(tree, value, mode).filter(|_| tree.kind(first) != "range_clause")
}

/// An edit of the first value that a field has in the rows of the table that a variable loops over.
fn field(
    tree: &Tree<'_>,
    function: usize,
    (row, field): (&str, &str),
    mode: AlterationMode,
) -> Option<(Range<usize>, String)> {
    let clause = tree.subtree(function).find(|node| {
        let left = tree.child(*node, "left");
        tree.kind(*node) == "range_clause" && left.is_some_and(|left| tree.names(left).last() == Some(row))
    })?;
    let over = tree.child(clause, "right")?;
    let is_it =
        |table: &usize| tree.range(*table) == tree.range(over) || declared_name(tree, *table) == Some(tree.text(over));
    let table = tables(tree, function).into_iter().find(is_it)?;
    let kind = tree.child(table, "type")?;
    let names: Vec<&str> = tree
        .subtree(kind)
        .filter(|node| tree.kind(*node) == "field_identifier" && tree.field(*node) == Some("name"))
        .map(|node| tree.text(node))
        .collect();
    let position = names.iter().position(|name| *name == field);
    mode.one_of(elements(tree, table).into_iter().filter_map(|row| {
        let body = tree.subtree(row).find(|node| tree.kind(*node) == "literal_value")?;
        let is_element = |it: &usize| matches!(tree.kind(*it), "literal_element" | "keyed_element");
        let inner: Vec<usize> = tree.children(body).filter(is_element).collect();
        let by_name = inner.iter().copied().find(|element| tree.named(*element, "key") == field);
        let by_place = || inner.get(position?).copied().filter(|it| tree.kind(*it) == "literal_element");
        let element = by_name.or_else(by_place)?;
        changed_element(tree, element, mode)
    }))
}

/// The value of a literal; `None` for any other node.
pub(super) fn literal(tree: &FlatTree<'_>, node: usize) -> Option<String> {
    match tree.kind(node) {
        "int_literal"
        | "float_literal"
        | "interpreted_string_literal"
        | "raw_string_literal"
        | "rune_literal"
        | "true"
        | "false"
        | "nil" => Some(tree.text(node).replace('`', "\"")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: &str, expected: Option<&str>) {
        let source = format!("package a\n\nvar x = {value}\n");
        let tree = Tree::parse(&source).unwrap();
        let list = (0..tree.len()).find(|node| tree.field(*node) == Some("value")).unwrap();
        let found =
            changed(&tree, tree.parts(list).next().unwrap(), AlterationMode::ChangeValues).map(|(range, other)| {
                let mut text = source.clone();
                text.replace_range(range, &other);
                text["package a\n\nvar x = ".len()..].trim_end().to_owned()
            });
        assert_eq!(found.as_deref(), expected, "{value}");
    }

    #[test]
    fn a_value_changes_within_its_type() {
        check("3", Some("4"));
        check("-1.5", Some("-(1.5 + 1.0)"));
        check("\"a\"", Some("\"a~\""));
        check("true", Some("false"));
        check("'a'", Some("'~'"));
        check("[]int{1, 2}", Some("[]int{2, 2}"));
        check("[]int{}", Some("make([]int, 1)"));
        check("&Money{Cents: 5}", Some("&Money{Cents: 6}"));
        check("map[string]int{\"a\": 1}", Some("map[string]int{\"a\": 2}"));
        check("int64(3)", Some("int64(4)"));
        check("f(3)", None);
        check("nil", None);
    }
}
