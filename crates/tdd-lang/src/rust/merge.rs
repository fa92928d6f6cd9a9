//! Describes the items and imports of a Rust file for a merge.

use tdd_core::merge::{MergeError, Merged};

use super::syntax::Tree;
use crate::merge::{Import, Part, Shape, merge};
use crate::syntax::FlatTree;

const SHAPE: Shape = Shape { part, import, gap: ("\n", "\n") };

/// The file with a model's answer merged into it; `None` if it cannot be parsed.
pub(super) fn merged(_: &str, file: &str, answer: &str) -> Option<Result<Merged, MergeError>> {
    let (file, answer) = (Tree::parse(file)?, Tree::parse(answer)?);
    Some(merge(&SHAPE, &file, &answer))
}

fn part(tree: &FlatTree<'_>, node: usize) -> Part {
    let name = || tree.child(node, "name").map_or("", |name| tree.text(name));
    let item = |word: &str| Part::Item { key: format!("{word} `{}`", name()), body: None };
    let holder = |key: String| Part::Item { key, body: tree.child(node, "body") };
    match tree.kind(node) {
        "line_comment" | "block_comment" if tree.text(node).starts_with("//!") => Part::Header,
        "line_comment" | "block_comment" => Part::Comment,
        "attribute_item" => Part::Attribute,
        "inner_attribute_item" => Part::Header,
        "use_declaration" => Part::Import(imported(tree, node)),
        "function_item" | "function_signature_item" => item("fn"),
        "struct_item" | "enum_item" | "union_item" | "type_item" | "associated_type" => item("type"),
        "const_item" | "static_item" => item("const"),
        "macro_definition" => item("macro"),
        "mod_item" => holder(format!("mod `{}`", name())),
        "trait_item" => holder(format!("trait `{}`", name())),
        "impl_item" => holder(head(tree, node)),
        "{" | "}" | ";" => Part::Nothing,
        _ => Part::Code,
    }
}

/// The text of an impl before its body, which identifies it.
fn head(tree: &FlatTree<'_>, node: usize) -> String {
    let end = tree.child(node, "body").map_or(tree.range(node).end, |body| tree.range(body).start);
    let head = tree.source().get(tree.range(node).start..end).unwrap_or_default();
    format!("`{}`", head.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The names that `use a::b;` or `use a::{b, c as d};` imports; a declaration with visibility is not split.
fn imported(tree: &FlatTree<'_>, node: usize) -> Import {
    let has_visibility = tree.children(node).any(|child| tree.kind(child) == "visibility_modifier");
    let Some(argument) = tree.child(node, "argument").filter(|_| !has_visibility) else { return Import::Whole };
    let text = |node: Option<usize>| node.map_or("", |node| tree.text(node)).to_owned();
    match tree.kind(argument) {
        "scoped_identifier" => {
            let (path, name) = (tree.child(argument, "path"), tree.child(argument, "name"));
            Import::Names { module: text(path), names: vec![text(name)] }
        }
        "scoped_use_list" => {
            let list = tree.child(argument, "list");
            let names: Vec<usize> = list.map(|list| tree.children(list).collect()).unwrap_or_default();
            let names: Vec<usize> =
                names.into_iter().filter(|node| !matches!(tree.kind(*node), "{" | "}" | ",")).collect();
            let is_plain = |node: &usize| matches!(tree.kind(*node), "identifier" | "use_as_clause" | "self");
            if !names.iter().all(is_plain) {
                return Import::Whole;
            }
            let names = names.into_iter().map(|node| tree.text(node).to_owned()).collect();
            Import::Names { module: text(tree.child(argument, "path")), names }
        }
        _ => Import::Whole,
    }
}

fn import(module: &str, names: &[String]) -> String {
    match names {
        [only] if only != "self" => format!("use {module}::{only};"),
        names => format!("use {module}::{{{}}};", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::{MergeError, Merged};

    fn merged(file: &str, answer: &str) -> Result<Merged, MergeError> {
        super::merged("a.rs", file, answer).unwrap()
    }

    #[test]
    fn tests_in_a_module_of_the_file_are_merged_there() {
        let file = "fn a() -> u8 { 1 }\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn one() {\n        assert_eq!(a(), 1);\n    }\n}\n";
        let answer = "#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn two() {\n        assert_eq!(a(), 2);\n    }\n}\n";
        let text = merged(file, answer).unwrap().text;
        assert!(
            text.contains("fn one()") && text.contains("fn two()") && text.matches("mod tests").count() == 1,
            "{text}"
        );
        assert!(text.ends_with("        assert_eq!(a(), 2);\n    }\n}\n"), "{text}");
    }

    #[test]
    fn what_is_there_twice_or_broken_is_not_merged() {
        let twice = "impl A { fn a() {} }\nimpl A { fn b() {} }\n";
        assert_eq!(merged(twice, "impl A { fn c() {} }\n"), Err(MergeError::Ambiguous("`impl A`".to_owned())));
        assert_eq!(merged("fn a() {}", "fn b( {"), Err(MergeError::Broken { which: "the answer", line: 1 }));
        assert_eq!(merged("fn a( {", "fn b() {}"), Err(MergeError::Broken { which: "the file", line: 1 }));
    }

    #[test]
    fn an_empty_file_takes_the_answer() {
        assert_eq!(merged("", "use a::b;\n\nfn c() {}\n").unwrap().text, "use a::b;\n\nfn c() {}\n");
        assert_eq!(merged("//! A.\n", "use a::b;\n\nfn c() {}\n").unwrap().text, "//! A.\n\nuse a::b;\n\nfn c() {}\n");
    }
}
