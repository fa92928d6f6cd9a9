//! Mutates new production code: other return values, other constants.

use std::ops::Range;

use super::syntax::Tree;
use super::value::changed;
use crate::twin::{AlterationMode, Mutant};

/// What every function returns instead, the plainest value first.
const ANSWERS: [&str; 3] = ["None", "1", "\"t_other\""];

/// Mutations of the items on these lines, in the order in which to try them.
///
/// A function counts if it, or the class around it, begins on one of the lines.
pub(super) fn value_mutants(_: &str, source: &str, lines: &[Range<usize>]) -> Vec<Mutant> {
    let Some(tree) = Tree::parse(source).filter(|tree| tree.parses()) else { return Vec::new() };
    let begins = |node: usize| lines.iter().any(|range| range.contains(&tree.line(node)));
    let is_new = |node: usize| begins(node) || tree.ancestors(node).any(|outer| is_item(&tree, outer) && begins(outer));
    let new: Vec<usize> = (1..tree.len()).filter(|node| is_item(&tree, *node) && is_new(*node)).collect();
    let mutant = |answer| Mutant::of(source, new.iter().filter_map(|node| edit(&tree, *node, answer)));
    let made = ANSWERS.into_iter().filter_map(mutant);
    made.filter(|mutant| mutant.source != source).collect()
}

fn is_item(tree: &Tree<'_>, node: usize) -> bool {
    match tree.kind(node) {
        "function_definition" | "class_definition" | "decorated_definition" => true,
        "assignment" => !tree.ancestors(node).any(|outer| tree.kind(outer) == "function_definition"),
        _ => false,
    }
}

fn edit(tree: &Tree<'_>, node: usize, answer: &str) -> Option<(Range<usize>, String, String)> {
    if tree.kind(node) == "assignment" {
        let (name, value) = (tree.text(tree.child(node, "left")?), tree.child(node, "right")?);
        let (range, other) = changed(tree, value, AlterationMode::ChangeValues)?;
        return Some((range, other.clone(), format!("`{name}` has `{other}`")));
    }
    if tree.kind(node) != "function_definition" {
        return None;
    }
    let (name, body) = (tree.text(tree.child(node, "name")?), tree.child(node, "body")?);
    // Constructors stay as they are: without them there is no object.
    if name == "__init__" || name == "__new__" || name == "__post_init__" {
        return None;
    }
    let yields = tree.subtree(body).any(|inner| tree.kind(inner) == "yield");
    let text = if yields { "yield from ()".to_owned() } else { format!("return {answer}") };
    let what = if yields { format!("`{name}` yields nothing") } else { format!("`{name}` returns `{answer}`") };
    Some((tree.range(body), text, what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_functions_and_constants_answer_otherwise() {
        let source = "X = 1\ndef f(a):\n    b = a\n    return b\ndef old():\n    return 1\nclass C:\n    def m(self):\n        return 1\n";
        let made = value_mutants("a.py", source, &[1..3, 7..8]);
        assert_eq!(made.len(), 3);
        assert_eq!(
            made[0].source,
            "X = 2\ndef f(a):\n    return None\ndef old():\n    return 1\nclass C:\n    def m(self):\n        return None\n"
        );
        assert_eq!(made[0].what, "`X` has `2`, `f` returns `None`, `m` returns `None`");
    }

    #[test]
    fn what_answers_nothing_is_left_alone() {
        let first = 1..2;
        assert!(value_mutants("a.py", "class C:\n    def __init__(self):\n        self.a = b\n", &[first]).is_empty());
    }
}
