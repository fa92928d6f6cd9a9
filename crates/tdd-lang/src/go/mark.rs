//! Removes one test from its file, marks it as skipped, or removes that mark; changes nothing else.

use std::ops::Range;

use super::items::{function, items, testing_parameters};
use super::known::imports;
use super::syntax::Tree;
use super::tables::tables_outside;
use crate::item::TestItem;
use crate::language::Skip;
use crate::mark::{escaped, only_lacks, only_runs, only_skips, without_tables};
use crate::syntax::splice;

/// How our mark continues after the parameter's name; a person's own mark is left alone.
const OURS: &str = ".Skip(\"TODO: ";

/// The file without the test, the comments directly above it, and the imports that nothing else needs.
pub(super) fn without_test(path: &str, source: &str, test: &TestItem) -> Option<String> {
    let tree = Tree::parse(source)?;
    let tables = tables_outside(&tree, function(&tree, &test.span)?).into_iter().map(|(spec, _)| {
        let declaration = tree.parent(spec);
        tree.range(if tree.kind(declaration) == "var_declaration" { declaration } else { spec })
    });
    let (lighter, own) = without_tables(source, tables.collect(), test, |source| items(path, source))?;
    let lines = with_comments(&lighter, &own.span)?;
    let above = lighter.get(..lines.start)?.trim_end_matches(['\n', ' ', '\t']);
    let after = lighter.get(lines.end..)?.trim_start_matches(['\n', '\r']);
    let parted = if after.is_empty() { "\n" } else { "\n\n" };
    let without = format!("{above}{parted}{after}");
    let changed = without_unused(source, &without)?;
    only_lacks(test, &items(path, source), &items(path, &changed)).then_some(changed)
}

/// The file with a line in the test that skips it and says why.
pub(super) fn skipped(path: &str, source: &str, test: &TestItem, reason: &str, skip: Skip) -> Option<String> {
    let tree = Tree::parse(source)?;
    let function = function(&tree, &test.span)?;
    let body = tree.range(tree.child(function, "body")?);
    let parameter = tree.child(function, "parameters").and_then(|list| testing_parameters(&tree, list).next())?;
    let mark = format!("\n\t{parameter}{OURS}{}\")", escaped(reason));
    let inner = source.get(body.start + 1..body.end - 1)?;
    let changed = match skip {
        _ if parameter == "_" || parameter.is_empty() => return None,
        Skip::FromRunning => splice(source, vec![(body.start + 1..body.start + 1, mark)]),
        Skip::FromBuilding if inner.contains("*/") => return None,
        Skip::FromBuilding => {
            let hidden = format!("{mark}\n{}{inner}*/\n", opening(&test.name));
            let hidden = splice(source, vec![(body.start + 1..body.end - 1, hidden)]);
            imports_aside(source, &hidden, &test.name)?
        }
    };
    only_skips(test, &items(path, source), &items(path, &changed)).then_some(changed)
}

/// The file without our mark; `None` if there is none.
pub(super) fn unskipped(path: &str, source: &str, test: &TestItem) -> Option<String> {
    let tree = Tree::parse(source)?;
    let body = tree.range(tree.child(function(&tree, &test.span)?, "body")?);
    let inner = source.get(body.start + 1..body.end - 1)?;
    let marker =
        inner.strip_prefix("\n\t").filter(|rest| rest.split(OURS).next().is_some_and(|name| !name.contains('\n')))?;
    let end = marker.find(OURS)? + marker.get(marker.find(OURS)?..)?.find("\")\n")? + "\")".len();
    let rest = marker.get(end..)?;
    let hidden = rest.strip_prefix(&format!("\n{}", opening(&test.name)));
    let rest = hidden.and_then(|rest| rest.strip_suffix("*/\n")).unwrap_or(rest);
    let kept = splice(source, vec![(body.start + 1..body.end - 1, rest.to_owned())]);
    let changed = kept.replace(&aside(&test.name), "");
    only_runs(test, &items(path, source), &items(path, &changed)).then_some(changed)
}

/// The text before the body of a test that is not built.
fn opening(name: &str) -> String {
    format!("\t/* skipped with {name}:")
}

/// The comment before an import that only a skipped test needs.
fn aside(name: &str) -> String {
    format!("// skipped with {name}: ")
}

/// The imports that `before` uses and `after` does not, as byte ranges of `after`.
fn unused(before: &str, after: &str) -> Option<Vec<Range<usize>>> {
    let (old, new) = (Tree::parse(before)?, Tree::parse(after)?);
    let uses = |tree: &Tree<'_>, name: &str| {
        let is_use = |node: usize| {
            let in_import = tree.kind(tree.parent(node)) == "import_spec";
            tree.is_name(node) && tree.text(node) == name && !in_import
        };
        (0..tree.len()).any(is_use)
    };
    let gone: Vec<(&str, &str)> = imports(&old)
        .into_iter()
        .filter(|(name, _)| !matches!(*name, "." | "_") && uses(&old, name) && !uses(&new, name))
        .collect();
    let specs = (0..new.len()).filter(|node| new.kind(*node) == "import_spec");
    let is_gone = |spec: &usize| {
        let path = new.named(*spec, "path").trim_matches(['"', '`']);
        gone.iter().any(|(_, gone)| *gone == path)
    };
    // A declaration with a single import counts as a whole.
    let whole = |spec: usize| {
        let around = new.parent(spec);
        new.range(if new.kind(around) == "import_declaration" { around } else { spec })
    };
    Some(specs.filter(is_gone).map(whole).collect())
}

fn without_unused(before: &str, after: &str) -> Option<String> {
    let lines = unused(before, after)?.into_iter().map(|range| (whole_line(after, &range), String::new()));
    let made = splice(after, lines.collect());
    Some(made.replace("import ()\n", "").replace("import (\n)\n", "").replace("\n\n\n", "\n\n"))
}

fn imports_aside(before: &str, after: &str, name: &str) -> Option<String> {
    let marks = unused(before, after)?.into_iter().map(|range| (range.start..range.start, aside(name)));
    Some(splice(after, marks.collect()))
}

fn whole_line(source: &str, range: &Range<usize>) -> Range<usize> {
    let start = source[..range.start].rfind('\n').map_or(0, |at| at + 1);
    let end = source[range.end..].find('\n').map_or(source.len(), |at| range.end + at + 1);
    start..end
}

/// The lines of a test and of the comments directly above it.
fn with_comments(source: &str, span: &Range<usize>) -> Option<Range<usize>> {
    let lines = whole_line(source, span);
    let mut start = lines.start;
    while let Some(above) = source.get(..start)?.strip_suffix('\n') {
        let line = above.rsplit('\n').next().unwrap_or_default();
        if !line.starts_with("//") || line.starts_with("//go:build") {
            break;
        }
        start -= line.len() + 1;
    }
    Some(start..lines.end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::assert_skip_is_undone;
    use crate::go::Go;

    const FILE: &str = "a_test.go";
    const SOURCE: &str = "package a\n\nimport (\n\t\"strings\"\n\t\"testing\"\n)\n\n// TestA is first.\nfunc TestA(t *testing.T) {\n\tif f() {\n\t\tt.Error()\n\t}\n}\n\nfunc TestB(t *testing.T) {\n\tif strings.ToUpper(\"a\") != \"A\" {\n\t\tt.Error()\n\t}\n}\n";

    fn test(source: &str, name: &str) -> TestItem {
        items(FILE, source).tests.into_iter().find(|test| test.name == name).unwrap()
    }

    #[test]
    fn a_test_goes_with_its_comments_and_imports() {
        let without = |name| without_test(FILE, SOURCE, &test(SOURCE, name)).unwrap();
        assert_eq!(
            without("TestA"),
            SOURCE.replace("// TestA is first.\nfunc TestA(t *testing.T) {\n\tif f() {\n\t\tt.Error()\n\t}\n}\n\n", "")
        );
        assert!(!without("TestB").contains("strings") && without("TestB").contains("\"testing\""));
        let alone = "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {\n}\n";
        assert_eq!(without_test(FILE, alone, &test(alone, "TestA")).as_deref(), Some("package a\n\n"));
    }

    #[test]
    fn a_test_goes_with_its_table() {
        let a = "func TestA(t *testing.T) {\n\tfor _, n := range cases {\n\t\tif f(n) != n {\n\t\t\tt.Error()\n\t\t}\n\t}\n}\n";
        let b = "func TestB(t *testing.T) {\n\tif f(0) != 0 {\n\t\tt.Error()\n\t}\n}\n";
        let head = "package a\n\nimport \"testing\"\n\n";
        let alone = format!("{head}// The cases.\nvar cases = []int{{\n\t1,\n}}\n\n{a}\n{b}");
        assert_eq!(without_test(FILE, &alone, &test(&alone, "TestA")), Some(format!("{head}{b}")));
        let grouped = format!("{head}var (\n\tcases = []int{{1}}\n\tother = 2\n)\n\n{a}\n{b}");
        let left = format!("{head}var (\n\tother = 2\n)\n\n{b}");
        assert_eq!(without_test(FILE, &grouped, &test(&grouped, "TestA")), Some(left));
    }

    #[test]
    fn a_test_is_skipped_and_runs_again_as_it_was() {
        assert_skip_is_undone(&Go, FILE, test, &[(SOURCE, "TestA"), (SOURCE, "TestB")], "say \"\\no\"\nlater");
    }

    #[test]
    fn what_only_the_skipped_test_imports_is_left_aside() {
        let marked = skipped(FILE, SOURCE, &test(SOURCE, "TestB"), "no", Skip::FromBuilding).unwrap();
        assert!(marked.contains("\t// skipped with TestB: \"strings\"\n"), "{marked}");
    }

    #[test]
    fn a_marker_that_is_not_ours_stays() {
        for body in ["", "\n\tt.Skip(\"slow\")\n"] {
            let source = format!("package a\n\nfunc TestA(t *testing.T) {{{body}}}\n");
            assert_eq!(unskipped(FILE, &source, &test(&source, "TestA")), None);
        }
    }
}
