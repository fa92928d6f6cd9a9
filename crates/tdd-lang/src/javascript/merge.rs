//! Describes the items and imports of a JavaScript or TypeScript file for a merge.

use tdd_core::merge::{MergeError, Merged};

use super::syntax::Tree;
use crate::merge::{Import, Part, Shape, merge};
use crate::syntax::FlatTree;

const SHAPE: Shape = Shape { part, import, gap: ("\n", "\n") };

/// The file with a model's answer merged into it; `None` if it cannot be parsed.
pub(super) fn merged(path: &str, file: &str, answer: &str) -> Option<Result<Merged, MergeError>> {
    let (file, answer) = (Tree::parse(path, file)?, Tree::parse(path, answer)?);
    Some(merge(&SHAPE, &file, &answer))
}

/// Prefix that marks a module imported with `require`.
const REQUIRED: &str = "require ";

fn part(tree: &FlatTree<'_>, node: usize) -> Part {
    let name = |node: usize| tree.child(node, "name").map_or("", |name| tree.text(name));
    let item = |word: &str| Part::Item { key: format!("{word} `{}`", name(node)), body: None };
    match tree.kind(node) {
        "comment" => Part::Comment,
        "decorator" => Part::Attribute,
        "hash_bang_line" => Part::Header,
        "import_statement" => Part::Import(imported(tree, node)),
        "export_statement" => tree.child(node, "declaration").map_or(Part::Code, |inner| part(tree, inner)),
        "function_declaration" | "generator_function_declaration" | "function_signature" => item("function"),
        "class_declaration" | "abstract_class_declaration" => {
            Part::Item { key: format!("class `{}`", name(node)), body: tree.child(node, "body") }
        }
        "interface_declaration" | "type_alias_declaration" | "enum_declaration" => item("type"),
        "method_definition" => method(tree, node),
        "field_definition" | "public_field_definition" => {
            let named = tree.child(node, "property").or_else(|| tree.child(node, "name"));
            Part::Item { key: format!("field `{}`", named.map_or("", |named| tree.text(named))), body: None }
        }
        "lexical_declaration" | "variable_declaration" => declared(tree, node),
        "expression_statement" => tree.children(node).next().map_or(Part::Code, |inner| expression(tree, inner)),
        "{" | "}" | ";" | "," => Part::Nothing,
        _ => Part::Code,
    }
}

/// A method, keyed by everything up to its name: a getter, a setter and a static method may share a name.
fn method(tree: &FlatTree<'_>, node: usize) -> Part {
    let named = tree.child(node, "name");
    let start = tree.range(node).start;
    let end = named.map_or(start, |named| tree.range(named).end);
    let head = tree.source().get(start..end).unwrap_or_default();
    Part::Item { key: format!("method `{}`", head.replace("async ", "")), body: None }
}

fn declared(tree: &FlatTree<'_>, node: usize) -> Part {
    let declarators: Vec<usize> = tree.children(node).filter(|at| tree.kind(*at) == "variable_declarator").collect();
    if let [only] = declarators.as_slice()
        && let Some(import) = required(tree, *only)
    {
        return Part::Import(import);
    }
    let names = declarators.iter().filter_map(|at| tree.child(*at, "name")).map(|name| tree.text(name));
    Part::Item { key: format!("`{}`", names.collect::<Vec<_>>().join(", ")), body: None }
}

/// The import in `const { a, b } = require('m')` or `const m = require('m')`.
fn required(tree: &FlatTree<'_>, declarator: usize) -> Option<Import> {
    let (name, value) = (tree.child(declarator, "name")?, tree.child(declarator, "value")?);
    let function = tree.child(value, "function").filter(|function| tree.text(*function) == "require")?;
    let module = tree.text(tree.child(tree.parent(function), "arguments")?).trim_matches(['(', ')']).to_owned();
    if tree.kind(name) != "object_pattern" {
        return Some(Import::Whole);
    }
    let names: Vec<usize> = tree.children(name).filter(|at| !matches!(tree.kind(*at), "{" | "}" | ",")).collect();
    if !names.iter().all(|at| tree.kind(*at) == "shorthand_property_identifier_pattern") {
        return Some(Import::Whole);
    }
    let names = names.into_iter().map(|at| tree.text(at).to_owned()).collect();
    Some(Import::Names { module: format!("{REQUIRED}{module}"), names })
}

/// The names in `import { a, b as c } from 'm'`.
fn imported(tree: &FlatTree<'_>, node: usize) -> Import {
    let Some(source) = tree.child(node, "source") else { return Import::Whole };
    let clause = tree.children(node).find(|at| tree.kind(*at) == "import_clause");
    let Some(clause) = clause else { return Import::Whole };
    let is_type = tree.children(node).any(|at| tree.kind(at) == "type");
    let parts: Vec<usize> = tree.children(clause).collect();
    let [list] = parts.as_slice() else { return Import::Whole };
    if is_type || tree.kind(*list) != "named_imports" {
        return Import::Whole;
    }
    let names = tree.children(*list).filter(|at| tree.kind(*at) == "import_specifier");
    let names = names.map(|at| tree.text(at).to_owned()).collect();
    Import::Names { module: tree.text(source).to_owned(), names }
}

fn import(module: &str, names: &[String]) -> String {
    match module.strip_prefix(REQUIRED) {
        Some(module) => format!("const {{ {} }} = require({module});", names.join(", ")),
        None => format!("import {{ {} }} from {module};", names.join(", ")),
    }
}

/// A test or a group is identified by its title, an assignment by its target.
fn expression(tree: &FlatTree<'_>, node: usize) -> Part {
    match tree.kind(node) {
        "call_expression" => call(tree, node),
        "assignment_expression" => tree
            .child(node, "left")
            .map_or(Part::Code, |left| Part::Item { key: format!("`{}`", tree.text(left)), body: None }),
        _ => Part::Code,
    }
}

fn call(tree: &FlatTree<'_>, node: usize) -> Part {
    let (Some(function), Some(list)) = (tree.child(node, "function"), tree.child(node, "arguments")) else {
        return Part::Code;
    };
    let arguments: Vec<usize> =
        tree.children(list).filter(|at| !matches!(tree.kind(*at), "(" | ")" | "," | "comment")).collect();
    let word = tree.text(function).split('.').next().unwrap_or_default();
    let is_title = |at: &usize| matches!(tree.kind(*at), "string" | "template_string");
    let Some(title) = arguments.first().filter(|at| is_title(at)) else { return Part::Code };
    let title = tree.text(*title).trim_matches(['\'', '"', '`']);
    match word {
        "test" | "it" => Part::Item { key: format!("test `{title}`"), body: None },
        "describe" | "suite" => {
            let body = arguments.last().and_then(|last| tree.child(*last, "body"));
            let body = body.filter(|body| tree.kind(*body) == "statement_block");
            Part::Item { key: format!("group `{title}`"), body }
        }
        _ => Part::Code,
    }
}

#[cfg(test)]
mod tests {
    use super::merged;

    #[test]
    fn an_empty_class_gets_its_first_method() {
        let text = merged("a.ts", "class A {}\n", "class A {\n  b() {}\n}\n").unwrap().unwrap().text;
        assert_eq!(text, "class A {\n  b() {}\n}\n");
    }
}
