//! Rewrites the sources of a target: copies of a test become functions that a `main` of ours calls.

use std::ops::Range;

use super::{Place, beside, is_strict};
use crate::plain::{Copies, File};
use crate::rust::syntax::Tree;
use crate::rust::targets::TargetKind;
use crate::syntax::splice;

/// The program's `main`.
const MAIN: &str = include_str!("main.txt");

/// Attributes that mean the same in a plain program.
const KEPT: [&str; 9] =
    ["#[cfg(", "#[allow(", "#[expect(", "#[warn(", "#[deny(", "#[doc", "#[inline", "#[rustfmt", "#[must_use"];

/// The files of the program that differ from the project's.
pub(super) struct Program {
    /// A name that nobody could know, for everything that is added.
    pub name: String,
    /// The root file.
    pub root: String,
    pub files: Vec<File>,
}

impl Program {
    /// `None` if the test needs its runner.
    pub fn write(copies: &Copies<'_>, place: &Place) -> Option<Self> {
        let ids: Vec<String> = copies.twins.ids().iter().map(|id| id.as_str().to_owned()).collect();
        let name = format!("x{}", copies.twins.copy.as_str().strip_prefix("t_")?.get(..8)?);
        let is_strict = is_strict(&place.root, copies);
        let root = beside(&place.root, &name);
        let (with_copies, tests) = with_functions(&copies.twins.source, &ids, &name, is_strict)?;
        let main = main(&name, &tests, is_strict);
        let mut files = Vec::new();
        for path in &place.files {
            let is_copied = path == copies.path;
            let original = if is_copied { with_copies.clone() } else { copies.sources.read(path)? };
            let mut text = with_test_modules(&original)?;
            if *path == place.root {
                if place.kind == TargetKind::Program {
                    text = without_main(&text, &name)?;
                }
                text += &main;
                files.push((root.clone(), Some(text)));
                // What production finds in its place says nothing about its tests.
                files.push((path.clone(), Some(String::new())));
            } else if text != original || is_copied {
                files.push((path.clone(), Some(text)));
            }
        }
        Some(Self { name, root, files })
    }
}

/// A copy: its name, and the message with which it must panic, as a literal.
struct Test {
    name: String,
    panics: Option<String>,
}

/// The file with each copy as an ordinary function, followed by one that calls it under a name that is the same in the
/// whole program.
fn with_functions(source: &str, names: &[String], prefix: &str, is_strict: bool) -> Option<(String, Vec<Test>)> {
    let tree = Tree::parse(source)?;
    let (mut edits, mut tests): (Vec<(Range<usize>, String)>, Vec<Test>) = (Vec::new(), Vec::new());
    for function in (0..tree.len()).filter(|node| tree.kind(*node) == "function_item") {
        let name = tree.child(function, "name").map_or("", |name| tree.text(name));
        if !names.iter().any(|known| known == name) {
            continue;
        }
        let mut panics = None;
        for attribute in attributes(&tree, function) {
            let text: String = tree.text(attribute).split_whitespace().collect();
            if matches!(text.as_str(), "#[test]" | "#[core::prelude::v1::test]" | "#[::core::prelude::v1::test]") {
                edits.push((tree.range(attribute), String::new()));
            } else if text.starts_with("#[should_panic") {
                panics = Some(expected_panic(tree.text(attribute)));
                edits.push((tree.range(attribute), String::new()));
            } else if !KEPT.iter().any(|kept| text.starts_with(kept)) {
                return None;
            }
        }
        let body = tree.child(function, "body")?;
        // Not even its column is the same.
        let inside = tree.children(body).filter(|part| tree.kind(*part) != "{").map(|part| tree.range(part).start);
        edits.extend(inside.map(|start| (start..start, "   ".to_owned())));
        let end = tree.range(function).end;
        let exported = if is_strict { "#[unsafe(no_mangle)]" } else { "#[no_mangle]" };
        let call = format!(
            "\n{exported} #[allow(warnings)] pub fn {prefix}_{}() -> bool {{ ::std::format!(\"{{:?}}\", \
             ::std::process::Termination::report({name}())) == ::std::format!(\"{{:?}}\", \
             ::std::process::ExitCode::SUCCESS) }}\n",
            tests.len()
        );
        edits.push((end..end, call));
        tests.push(Test { name: name.to_owned(), panics });
    }
    (tests.len() == names.len()).then(|| (splice(source, edits), tests))
}

/// The attributes right before an item.
fn attributes(tree: &Tree<'_>, item: usize) -> Vec<usize> {
    let mut found = Vec::new();
    for node in tree.children(tree.parent(item)).take_while(|node| *node < item) {
        match tree.kind(node) {
            "attribute_item" => found.push(node),
            "line_comment" | "block_comment" => {}
            _ => found.clear(),
        }
    }
    found
}

/// The literal of the expected message; empty if any panic will do.
fn expected_panic(attribute: &str) -> String {
    let literal = attribute.split_once('=').map_or("", |(_, literal)| literal.trim());
    let literal = literal.trim_end_matches(']').trim_end().trim_end_matches(')').trim_end().trim_end_matches(',');
    if literal.is_empty() { "\"\"".to_owned() } else { literal.to_owned() }
}

/// The file with its test modules in every build.
fn with_test_modules(source: &str) -> Option<String> {
    if !source.contains("cfg") {
        return Some(source.to_owned());
    }
    let tree = Tree::parse(source)?;
    let is_for_tests = |node: usize| {
        let text: String = tree.text(node).split_whitespace().collect();
        matches!(text.as_str(), "#[cfg(test)]" | "#![cfg(test)]")
    };
    let modules = (0..tree.len()).filter(|node| tree.kind(*node) == "mod_item");
    let of_modules = modules.flat_map(|module| attributes(&tree, module));
    let inner = (0..tree.len()).filter(|node| tree.kind(*node) == "inner_attribute_item");
    let wanted = of_modules.chain(inner).filter(|node| is_for_tests(*node));
    let edits = wanted.map(|node| (tree.range(node), tree.text(node).replacen("test", "all()", 1))).collect();
    Some(splice(source, edits))
}

/// The program with another name for its own `main`.
fn without_main(source: &str, name: &str) -> Option<String> {
    let tree = Tree::parse(source)?;
    let is_main = |node: &usize| matches!(tree.kind(*node), "identifier") && tree.text(*node) == "main";
    let edits = (0..tree.len()).filter(is_main).map(|node| (tree.range(node), format!("main_{name}"))).collect();
    Some(splice(source, edits))
}

fn main(name: &str, tests: &[Test], is_strict: bool) -> String {
    let declared: Vec<String> = (0..tests.len()).map(|at| format!("fn {name}_{at}() -> bool; ")).collect();
    let chosen = tests.iter().enumerate().map(|(at, test)| {
        let panics = test.panics.as_ref().map_or("None".to_owned(), |expected| format!("Some({expected})"));
        format!("\"{}\" => ({name}_{at} as Test, {panics}), ", test.name)
    });
    MAIN.replace("@NAME@", name)
        .replace("@UNSAFE@", if is_strict { "unsafe " } else { "" })
        .replace("@DECLARED@", &declared.concat())
        .replace("@CHOSEN@", &chosen.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(source: &str) -> Option<(String, Option<String>)> {
        let (text, mut tests) = with_functions(source, &["t_1".to_owned()], "x", /* is_strict */ false)?;
        Some((text, tests.remove(0).panics))
    }

    #[test]
    fn a_copy_becomes_a_function_in_another_column() {
        let (text, panics) = rewritten("#[test]\n#[cfg(unix)]\nfn t_1() { f(); }\n").unwrap();
        assert!(text.starts_with("\n#[cfg(unix)]\nfn t_1() {    f();") && text.contains("pub fn x_0()"), "{text}");
        assert_eq!(panics, None);
    }

    #[test]
    fn a_copy_that_must_panic_keeps_its_message() {
        let panics = |attribute: &str| rewritten(&format!("#[test]\n{attribute}\nfn t_1() {{}}\n")).unwrap().1.unwrap();
        assert_eq!(panics("#[should_panic]"), "\"\"");
        assert_eq!(panics("#[should_panic(expected = \"(by zero)\")]"), "\"(by zero)\"");
        assert_eq!(panics("#[should_panic = r\"x\"]"), "r\"x\"");
    }

    #[test]
    fn a_test_of_another_runner_needs_that_runner() {
        for attribute in ["#[tokio::test]", "#[test]\n#[ignore]", "#[rstest]"] {
            assert!(rewritten(&format!("{attribute}\nfn t_1() {{}}\n")).is_none(), "{attribute}");
        }
    }

    #[test]
    fn only_test_modules_are_in_every_build() {
        let source = "#[cfg(test)]\nmod tests {}\n#[cfg(test)]\nfn f() {}\n#[cfg(not(test))]\nmod other {}\n";
        assert_eq!(with_test_modules(source).unwrap(), source.replacen("test", "all()", 1));
    }
}
