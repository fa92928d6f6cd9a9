//! Mutates new production code: other return values, other constants.

use std::ops::Range;

use super::syntax::Tree;
use super::value::changed;
use crate::twin::{AlterationMode, Mutant};

/// The values that functions return instead, simplest first.
const ANSWERS: [&str; 3] = ["undefined", "1", "\"t_other\""];

/// The mutations of the items on these lines, in the order to try them.
///
/// A function counts if it, or the class or declaration around it, begins on one of the lines.
pub(super) fn value_mutants(path: &str, source: &str, lines: &[Range<usize>]) -> Vec<Mutant> {
    let Some(tree) = Tree::parse(path, source).filter(|tree| tree.parses()) else { return Vec::new() };
    let begins = |node: usize| lines.iter().any(|range| range.contains(&tree.line(node)));
    let is_new = |node: usize| {
        begins(node) || tree.ancestors(node).any(|outer| outer > 0 && is_item(&tree, outer) && begins(outer))
    };
    let new: Vec<usize> = (1..tree.len()).filter(|node| is_item(&tree, *node) && is_new(*node)).collect();
    let mutant = |answer| Mutant::of(source, new.iter().filter_map(|node| edit(&tree, *node, answer)));
    let made = ANSWERS.into_iter().filter_map(mutant);
    made.filter(|mutant| mutant.source != source).collect()
}

fn is_item(tree: &Tree<'_>, node: usize) -> bool {
    let in_function = || tree.ancestors(node).any(|outer| tree.is_function(outer));
    match tree.kind(node) {
        "function_declaration" | "generator_function_declaration" | "method_definition" | "class_declaration" => true,
        "arrow_function" | "function_expression" => !in_function(),
        "variable_declarator" | "field_definition" | "public_field_definition" | "export_statement" => !in_function(),
        _ => false,
    }
}

fn edit(tree: &Tree<'_>, node: usize, answer: &str) -> Option<(Range<usize>, String, String)> {
    if !tree.is_function(node) {
        let name = tree.child(node, "name").or_else(|| tree.child(node, "property"))?;
        let (range, other) = changed(tree, tree.child(node, "value")?, AlterationMode::ChangeValues)?;
        return Some((range, other.clone(), format!("`{}` has `{other}`", tree.text(name))));
    }
    let named = std::iter::once(node).chain(tree.ancestors(node).take(1));
    let name = named.into_iter().find_map(|node| tree.child(node, "name")).map_or("default", |name| tree.text(name));
    // A constructor's return value is not a result.
    if name == "constructor" {
        return None;
    }
    let body = tree.child(node, "body")?;
    let yields = tree.kind(node).starts_with("generator") || tree.text(node).starts_with('*');
    let (text, what) = match (yields, tree.kind(body)) {
        (true, _) => ("{}".to_owned(), format!("`{name}` yields nothing")),
        (false, "statement_block") => (format!("{{ return {answer}; }}"), format!("`{name}` returns `{answer}`")),
        (false, _) => (format!("({answer})"), format!("`{name}` returns `{answer}`")),
    };
    Some((tree.range(body), text, what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_functions_and_constants_answer_otherwise() {
        let source = "export const X = 1;\nexport function f(a) {\n  const b = 2;\n  return a;\n}\nfunction old() { return 1; }\n\
                      export const g = (a) => a;\nclass C {\n  constructor() { this.a = 1; }\n  m() { return 1; }\n}\n";
        let made = value_mutants("a.js", source, &[1..3, 7..9]);
        assert_eq!(made.len(), 3);
        assert_eq!(
            made[0].source,
            "export const X = 2;\nexport function f(a) { return undefined; }\nfunction old() { return 1; }\n\
             export const g = (a) => (undefined);\nclass C {\n  constructor() { this.a = 1; }\n  m() { return undefined; }\n}\n"
        );
        assert_eq!(
            made[0].what,
            "`X` has `2`, `f` returns `undefined`, `g` returns `undefined`, `m` returns `undefined`"
        );
    }

    #[test]
    fn what_answers_nothing_is_left_alone() {
        let first = 1..2;
        assert!(value_mutants("a.js", "class C { constructor() { this.a = b; } }\n", &[first]).is_empty());
    }
}
