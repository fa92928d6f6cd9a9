//! Disables the imports that only one test needs while that test is not built, and enables them again.
//!
//! A test for code that does not exist yet usually imports it at the top of the file, where the import breaks every
//! other test of the file.

use std::collections::BTreeSet;
use std::ops::Range;

use super::change::uses;
use super::syntax::Tree;
use crate::item::TestItem;
use crate::syntax::splice;

/// The file without the imports that only this test needs: the declaration is disabled, and a copy beside it imports
/// the rest.
pub(super) fn disable_imports(source: &str, test: &TestItem) -> Option<String> {
    let tree = Tree::parse(source)?;
    let (own, others) = mentioned(&tree, test);
    let is_lonely = |leaf: &String| own.contains(uses::name(leaf)) && !others.contains(uses::name(leaf));
    let mut edits = Vec::new();
    for node in (0..tree.len()).filter(|node| tree.kind(*node) == "use_declaration") {
        let leaves = leaves(&tree, node);
        let Some(indent) = indent(source, tree.range(node).start).filter(|_| leaves.iter().any(is_lonely)) else {
            continue;
        };
        let mark = mark(test);
        let range = tree.range(node);
        edits.push((range.start..range.start, format!("{NOT_BUILT}{mark}\n{indent}")));
        let rest = leaves.iter().filter(|leaf| !is_lonely(leaf));
        let rest: Vec<String> = rest.map(|leaf| format!("\n{indent}use {leaf};{mark}")).collect();
        edits.push((range.end..range.end, rest.concat()));
    }
    Some(splice(source, edits))
}

/// The file with this test's imports enabled again.
pub(super) fn enable_imports(source: &str, test: &TestItem) -> String {
    let mark = mark(test);
    let is_ours = |line: &str| {
        let line = line.trim();
        line.ends_with(&mark) && (line.starts_with(NOT_BUILT) || line.starts_with("use "))
    };
    source.split_inclusive('\n').filter(|line| !is_ours(line)).collect()
}

const NOT_BUILT: &str = "#[cfg(any())]";

fn mark(test: &TestItem) -> String {
    format!(" // TODO: with `{}`", test.name)
}

/// The names that the test mentions, and those that the rest mentions, without imports.
fn mentioned<'a>(tree: &Tree<'a>, test: &TestItem) -> (BTreeSet<&'a str>, BTreeSet<&'a str>) {
    let imports = (0..tree.len()).filter(|node| tree.kind(*node) == "use_declaration").map(|node| tree.range(node));
    let imports: Vec<Range<usize>> = imports.collect();
    let (mut own, mut others) = (BTreeSet::new(), BTreeSet::new());
    for token in tree.tokens(0..tree.len()) {
        let range = tree.range(token);
        if imports.iter().any(|import| import.contains(&range.start)) {
            continue;
        }
        let names = if test.span.contains(&range.start) { &mut own } else { &mut others };
        names.insert(tree.text(token));
    }
    (own, others)
}

/// The paths of a private `use` declaration; none for a public one, which others could use.
fn leaves(tree: &Tree<'_>, node: usize) -> Vec<String> {
    let mut tokens = tree.tokens(node..tree.subtree_end(node)).map(|token| tree.text(token));
    if tokens.next() == Some("use") { uses::leaves(tokens) } else { Vec::new() }
}

fn indent(source: &str, at: usize) -> Option<&str> {
    let line = source.get(..at)?.rsplit('\n').next().unwrap_or_default();
    line.trim().is_empty().then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rust::items::items;

    fn check(imports: &str, expected: &str) {
        let rest = "\n#[test]\nfn old() {\n    assert_eq!(score(), 1);\n}\n\n#[test]\nfn new() {\n    assert!(strike().is_some());\n}\n";
        let source = format!("{imports}{rest}");
        let test = items("tests/a.rs", &source).tests.into_iter().find(|test| test.name == "new").unwrap();
        let aside = disable_imports(&source, &test).unwrap();
        assert_eq!(aside, format!("{expected}{rest}"));
        assert_eq!(enable_imports(&aside, &test), source);
    }

    #[test]
    fn an_import_for_one_test_goes_and_comes_with_it() {
        check("use a::strike;\nuse a::score;\n", "#[cfg(any())] // TODO: with `new`\nuse a::strike;\nuse a::score;\n");
    }

    #[test]
    fn what_others_need_of_a_list_stays() {
        check(
            "use a::{score, strike};\n",
            "#[cfg(any())] // TODO: with `new`\nuse a::{score, strike};\nuse a::score; // TODO: with `new`\n",
        );
    }

    #[test]
    fn what_is_not_named_by_the_test_alone_is_left_alone() {
        for imports in ["use a::*;\n", "use a::Trait;\n", "use a::{score};\n", "pub use a::strike;\n"] {
            check(imports, imports);
        }
    }
}
