//! Classifies the items and imports of a Python file for a merge.

use tdd_core::merge::{MergeError, Merged};

use super::syntax::Tree;
use crate::merge::{Import, Part, Shape, merge};
use crate::syntax::FlatTree;

const SHAPE: Shape = Shape { part, import, gap: ("\n\n", "\n") };

/// The file with an answer merged into it; `None` if there is no parser.
pub(super) fn merged(_: &str, file: &str, answer: &str) -> Option<Result<Merged, MergeError>> {
    let (file, answer) = (Tree::parse(file)?, Tree::parse(answer)?);
    Some(merge(&SHAPE, &file, &answer))
}

fn part(tree: &FlatTree<'_>, node: usize) -> Part {
    let inner =
        if tree.kind(node) == "decorated_definition" { tree.child(node, "definition").unwrap_or(node) } else { node };
    let name = || tree.child(inner, "name").map_or("", |name| tree.text(name));
    match tree.kind(inner) {
        "comment" => Part::Comment,
        "function_definition" => Part::Item { key: format!("def `{}`", name()), body: None },
        "class_definition" => Part::Item { key: format!("class `{}`", name()), body: tree.child(inner, "body") },
        "import_from_statement" => Part::Import(imported(tree, node)),
        "import_statement" | "future_import_statement" => Part::Import(Import::Whole),
        "pass_statement" => Part::Nothing,
        "expression_statement" => expression(tree, node),
        _ => Part::Code,
    }
}

fn expression(tree: &FlatTree<'_>, node: usize) -> Part {
    let Some(first) = tree.children(node).next() else { return Part::Code };
    match tree.kind(first) {
        "string" if tree.children(tree.parent(node)).next() == Some(node) => Part::Header,
        "assignment" => tree
            .child(first, "left")
            .map_or(Part::Code, |left| Part::Item { key: format!("`{}`", tree.text(left)), body: None }),
        _ => Part::Code,
    }
}

/// `from a import b, c as d`
fn imported(tree: &FlatTree<'_>, node: usize) -> Import {
    let Some(module) = tree.child(node, "module_name") else { return Import::Whole };
    let names: Vec<usize> = tree.children(node).filter(|child| tree.field(*child) == Some("name")).collect();
    let is_plain = |name: &usize| matches!(tree.kind(*name), "dotted_name" | "aliased_import");
    if names.is_empty() || !names.iter().all(is_plain) {
        return Import::Whole;
    }
    let names = names.into_iter().map(|name| tree.text(name).to_owned()).collect();
    Import::Names { module: tree.text(module).to_owned(), names }
}

fn import(module: &str, names: &[String]) -> String {
    format!("from {module} import {}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::merged;

    #[test]
    fn the_same_file_again_changes_nothing() {
        let file = "from a import b\n\n# One.\nX = 1\n\n\nif X:\n    print(b)\n\n\ndef f():  # two\n    return X\n";
        let merged = merged("a.py", file, file).unwrap().unwrap();
        assert_eq!((merged.text.as_str(), merged.added.len(), merged.replaced.len()), (file, 0, 0));
    }
}
