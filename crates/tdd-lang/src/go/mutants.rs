//! Mutates new production code: other return values, other constants.

use std::ops::Range;

use super::syntax::Tree;
use super::value::changed;
use crate::syntax::splice;
use crate::twin::{AlterationMode, Mutant};

/// An error that production code does not return.
const ERROR: &str = "\n\ntype otherError struct{}\n\nfunc (otherError) Error() string { return \"t_other\" }\n";

/// What every function returns instead.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    /// The zero value of each type.
    Zero,
    /// Another value, where the type is known.
    Other,
}

/// Mutations of the items on these lines, in the order in which to try them.
pub(super) fn value_mutants(_: &str, source: &str, lines: &[Range<usize>]) -> Vec<Mutant> {
    let Some(tree) = Tree::parse(source).filter(|tree| tree.parses()) else { return Vec::new() };
    let begins = |node: usize| lines.iter().any(|range| range.contains(&tree.line(node)));
    let is_item = |node: &usize| {
        let at_top = !tree.ancestors(*node).any(|outer| tree.kind(outer) == "block");
        let kinds = ["function_declaration", "method_declaration", "const_spec", "var_spec"];
        kinds.contains(&tree.kind(*node)) && at_top && begins(*node)
    };
    let new: Vec<usize> = (1..tree.len()).filter(is_item).collect();
    let made = [Answer::Zero, Answer::Other].into_iter().filter_map(|answer| mutant(&tree, source, &new, answer));
    let mut made: Vec<Mutant> = made.collect();
    made.dedup_by(|one, other| one.source == other.source);
    made
}

fn mutant(tree: &Tree<'_>, source: &str, new: &[usize], answer: Answer) -> Option<Mutant> {
    let mut edits = Vec::new();
    let mut said = Vec::new();
    for (range, text, what) in new.iter().filter_map(|node| edit(tree, *node, answer)) {
        edits.push((range, text));
        said.push(what);
    }
    if edits.iter().any(|(_, text)| text.contains("otherError{}")) {
        edits.push((source.len()..source.len(), ERROR.to_owned()));
    }
    (!said.is_empty()).then(|| Mutant { source: splice(source, edits), what: said.join(", ") })
}

fn edit(tree: &Tree<'_>, node: usize, answer: Answer) -> Option<(Range<usize>, String, String)> {
    let name = tree.named(node, "name");
    if matches!(tree.kind(node), "const_spec" | "var_spec") {
        let values = tree.child(node, "value")?;
        let (range, other) = tree.parts(values).find_map(|value| changed(tree, value, AlterationMode::ChangeValues))?;
        return Some((range, other.clone(), format!("`{name}` has `{other}`")));
    }
    let body = tree.child(node, "body")?;
    let values: Vec<String> = results(tree, node).into_iter().map(|kind| value(kind, answer)).collect();
    // The code after it is still compiled, so that nothing becomes unused.
    let at = tree.range(body).start + 1;
    let line = format!(" if true {{ return {} }};", values.join(", "));
    let what = if values.is_empty() { "does nothing".to_owned() } else { format!("returns `{}`", values.join(", ")) };
    Some((at..at, line, format!("`{name}` {what}")))
}

/// The types that a function returns, one for each value.
fn results<'a>(tree: &Tree<'a>, function: usize) -> Vec<&'a str> {
    let Some(result) = tree.child(function, "result") else { return Vec::new() };
    if tree.kind(result) != "parameter_list" {
        return vec![tree.text(result)];
    }
    let declared = tree.parts(result).filter(|node| tree.kind(*node) == "parameter_declaration");
    let each = |node: usize| {
        let names = tree.children(node).filter(|inner| tree.field(*inner) == Some("name")).count();
        std::iter::repeat_n(tree.named(node, "type"), names.max(1))
    };
    declared.flat_map(each).collect()
}

fn value(kind: &str, answer: Answer) -> String {
    let zero = || format!("*new({kind})");
    if answer == Answer::Zero {
        return zero();
    }
    match kind {
        "int" | "int8" | "int16" | "int32" | "int64" | "uint" | "uint8" | "uint16" | "uint32" | "uint64"
        | "float32" | "float64" | "byte" | "rune" | "any" | "interface{}" => "1".to_owned(),
        "string" => "\"t_other\"".to_owned(),
        "bool" => "true".to_owned(),
        "error" => "otherError{}".to_owned(),
        _ if kind.starts_with("[]") => format!("make({kind}, 1)"),
        _ => kind.strip_prefix('*').map_or_else(zero, |inner| format!("new({inner})")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_and_constants_answer_otherwise() {
        let source = "package a\n\nconst X = 1\n\nfunc F(a int) (n int, err error) {\n\treturn a, nil\n}\n\nfunc (t *T) M() {}\n\nfunc G() *T { return nil }\n";
        let made = value_mutants("a.go", source, std::slice::from_ref(&(3..12)));
        let said: Vec<&str> = made.iter().map(|mutant| mutant.what.as_str()).collect();
        assert_eq!(
            said,
            [
                "`X` has `2`, `F` returns `*new(int), *new(error)`, `M` does nothing, `G` returns `*new(*T)`",
                "`X` has `2`, `F` returns `1, otherError{}`, `M` does nothing, `G` returns `new(T)`",
            ]
        );
        assert!(made.iter().all(|mutant| Tree::parse(&mutant.source).unwrap().parses()));
        assert!(value_mutants("a.go", source, std::slice::from_ref(&(20..21))).is_empty());
    }
}
