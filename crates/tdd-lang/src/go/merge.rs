//! Classifies the items and imports of a Go file for a merge.

use tdd_core::merge::{MergeError, Merged};

use super::syntax::Tree;
use crate::merge::{Import, Part, Shape, merge};
use crate::syntax::FlatTree;

const SHAPE: Shape = Shape { part, import, gap: ("\n", "\n") };

/// The file with an answer merged into it; `None` if there is no parser.
pub(super) fn merged(_: &str, file: &str, answer: &str) -> Option<Result<Merged, MergeError>> {
    let (file, answer) = (Tree::parse(file)?, Tree::parse(answer)?);
    Some(merge(&SHAPE, &file, &answer))
}

/// Go imports packages, not names from a module: all imports of a file count as one module.
const IMPORTS: &str = "";

fn part(tree: &FlatTree<'_>, node: usize) -> Part {
    let name = |node: usize| tree.child(node, "name").map_or("", |name| tree.text(name));
    let item = |key: String| Part::Item { key, body: None };
    match tree.kind(node) {
        "comment" => Part::Comment,
        "package_clause" => Part::Header,
        "import_declaration" => Part::Import(imported(tree, node)),
        "function_declaration" if !matches!(name(node), "init" | "_") => item(format!("func `{}`", name(node))),
        "method_declaration" => {
            let receiver = tree.child(node, "receiver");
            let of = receiver.and_then(|list| tree.subtree(list).find(|at| tree.kind(*at) == "type_identifier"));
            item(format!("method `{}.{}`", of.map_or("", |of| tree.text(of)), name(node)))
        }
        "type_declaration" | "var_declaration" | "const_declaration" => declared(tree, node),
        "\n" | ";" => Part::Nothing,
        _ => Part::Code,
    }
}

/// A declaration, keyed by the names that it declares.
fn declared(tree: &FlatTree<'_>, node: usize) -> Part {
    let is_spec = |at: &usize| matches!(tree.kind(*at), "type_spec" | "type_alias" | "var_spec" | "const_spec");
    let names = tree.subtree(node).filter(is_spec).filter_map(|spec| tree.child(spec, "name"));
    let names: Vec<&str> = names.map(|name| tree.text(name)).collect();
    if names.is_empty() || names.contains(&"_") {
        return Part::Code;
    }
    Part::Item { key: format!("`{}`", names.join(", ")), body: None }
}

fn imported(tree: &FlatTree<'_>, node: usize) -> Import {
    let specs = tree.subtree(node).filter(|at| tree.kind(*at) == "import_spec");
    let names: Vec<String> = specs.map(|spec| tree.text(spec).to_owned()).collect();
    if names.iter().any(|name| name.ends_with("\"C\"")) {
        return Import::Whole;
    }
    Import::Names { module: IMPORTS.to_owned(), names }
}

fn import(_: &str, names: &[String]) -> String {
    match names {
        [only] => format!("import {only}"),
        names => {
            format!("import (\n{}\n)", names.iter().map(|name| format!("\t{name}")).collect::<Vec<_>>().join("\n"))
        }
    }
}
