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
    use super::Merged;

    fn merged(file: &str, answer: &str) -> Merged {
        super::merged("a.py", file, answer).unwrap().unwrap()
    }

    #[test]
    fn a_new_test_is_added_and_the_older_ones_stay() {
        let file = "import pytest\nfrom calc import add\n\n\ndef test_adds():\n    assert add(1) == 1\n";
        let answer = "from calc import add, sub\nimport math\n\ndef test_subs():\n    assert sub(1) == 1\n";
        let merged = merged(file, answer);
        assert_eq!(
            merged.text,
            "import pytest\nfrom calc import add, sub\nimport math\n\n\ndef test_adds():\n    assert add(1) == 1\n\n\n\
             def test_subs():\n    assert sub(1) == 1\n"
        );
        assert_eq!((merged.added.len(), merged.kept.len(), merged.replaced.len()), (1, 1, 0));
    }

    #[test]
    fn a_method_is_added_to_its_class_and_another_replaced() {
        let file = "\"\"\"Carts.\"\"\"\n\n\nclass Cart:\n    \"\"\"A cart.\"\"\"\n\n    def a(self):\n        return 1\n\n    def b(self):\n        return 2\n\n\nLIMIT = 3\n";
        let answer = "class Cart:\n    def b(self):\n        return 4\n\n    @property\n    def c(self):\n        return 5\n\n\nLIMIT = 6\n";
        let merged = merged(file, answer);
        assert_eq!(
            merged.text,
            "\"\"\"Carts.\"\"\"\n\n\nclass Cart:\n    \"\"\"A cart.\"\"\"\n\n    def a(self):\n        return 1\n\n    \
             def b(self):\n        return 4\n\n    @property\n    def c(self):\n        return 5\n\n\nLIMIT = 6\n"
        );
        assert_eq!(merged.replaced, ["def `b` in class `Cart`", "`LIMIT`"]);
    }

    #[test]
    fn the_same_file_again_changes_nothing() {
        let file = "from a import b\n\n# One.\nX = 1\n\n\nif X:\n    print(b)\n\n\ndef f():  # two\n    return X\n";
        let merged = merged(file, file);
        assert_eq!((merged.text.as_str(), merged.added.len(), merged.replaced.len()), (file, 0, 0));
    }
}
