//! Removes one test from its file, or marks it as skipped and removes the mark again; nothing else changes.

use std::ops::Range;

use super::assertion::Asserting;
use super::call::TEST_MODULES;
use super::items::{items, located};
use super::syntax::Tree;
use super::tables::tables;
use crate::item::TestItem;
use crate::language::Skip;
use crate::mark::{on_one_line, only_lacks, only_runs, only_skips, without_comment, without_tables};
use crate::syntax::splice;

/// The beginning of our marker; a person's own is left alone.
const OURS: &str = "/* TODO: ";

/// The file without the test, its annotation and the blank lines before it. Also removes a group that becomes empty,
/// because runners reject empty groups.
pub(super) fn without_test(path: &str, source: &str, test: &TestItem) -> Option<String> {
    let (lighter, own) = without_tables(source, declarations(path, source, test)?, test, |source| items(path, source))?;
    let tree = Tree::parse(path, &lighter)?;
    let statement = (1..tree.len()).find(|node| tree.range(*node) == own.span)?;
    if tree.kind(statement) != "expression_statement" {
        return None;
    }
    let whole = alone_in(&tree, statement);
    let lines = whole_lines(&lighter, &tree.range(whole))?;
    let start = if whole == statement { start_with_annotation(&lighter, lines.start, &own) } else { lines.start };
    let (above, after) = (lighter.get(..start)?, lighter.get(lines.end..)?);
    let is_last = after.trim_start().is_empty() || after.trim_start().starts_with('}');
    let above = match above.trim_end() {
        "" => "",
        kept if is_last => above.get(..=kept.len()).unwrap_or(above),
        _ => above,
    };
    let after = if after.trim().is_empty() { "" } else { after.trim_start_matches('\n') };
    let changed = [above, after].concat();
    only_lacks(test, &items(path, source), &items(path, &changed)).then_some(changed)
}

/// The declarations that hold only a table of this test; `None` if one holds more.
fn declarations(path: &str, source: &str, test: &TestItem) -> Option<Vec<Range<usize>>> {
    let tree = Tree::parse(path, source)?;
    let (_, test_call) = located(&tree).into_iter().find(|(known, _)| known.span == test.span)?;
    let apart = tables(&tree, &Asserting::of(&tree), &test_call).apart.into_iter();
    let declarators = apart.filter(|apart| tree.kind(*apart) == "variable_declarator");
    declarators
        .map(|declarator| {
            let statement = tree.parent(declarator);
            let is_alone = tree.children(statement).filter(|it| tree.kind(*it) == "variable_declarator").count() == 1;
            is_alone.then(|| tree.range(statement))
        })
        .collect()
}

/// The outermost statement that contains only groups and loops around this one.
fn alone_in(tree: &Tree<'_>, statement: usize) -> usize {
    let mut at = statement;
    loop {
        let block = tree.parent(at);
        let others = tree.children(block).filter(|child| tree.is_statement(*child) && tree.kind(*child) != "comment");
        if tree.kind(block) != "statement_block" || others.count() != 1 {
            return at;
        }
        let is_around = |outer: &usize| matches!(tree.kind(*outer), "expression_statement" | "for_in_statement");
        match tree.ancestors(block).find(is_around) {
            Some(outer) => at = outer,
            None => return at,
        }
    }
}

/// The file with a marker on the test that says why it is skipped.
pub(super) fn skipped(path: &str, source: &str, test: &TestItem, reason: &str, skip: Skip) -> Option<String> {
    let tree = Tree::parse(path, source)?;
    let (_, test_call) = located(&tree).into_iter().find(|(known, _)| known.span == test.span)?;
    let base = tree.range(test_call.base).end;
    let title = tree.range(test_call.title).start;
    let mut edits = vec![(base..base, ".skip".to_owned()), (title..title, format!("{OURS}{} */ ", plain(reason)))];
    if skip == Skip::FromBuilding {
        edits.extend(imports_aside(&tree, test));
    }
    let changed = splice(source, edits);
    only_skips(test, &items(path, source), &items(path, &changed)).then_some(changed)
}

/// The file without our marker; `None` if there is none.
pub(super) fn unskipped(path: &str, source: &str, test: &TestItem) -> Option<String> {
    let tree = Tree::parse(path, source)?;
    let (_, test_call) = located(&tree).into_iter().find(|(known, _)| known.span == test.span)?;
    let (base, title) = (tree.range(test_call.base).end, tree.range(test_call.title).start);
    let head = source.get(base..title)?;
    let at = base + head.find(OURS)?;
    let end = at + source.get(at..title)?.find("*/")? + 2;
    let end = end + source.get(end..title)?.len() - source.get(end..title)?.trim_start().len();
    let is_ours = head.starts_with(".skip");
    let kept = splice(source, vec![(base..base + ".skip".len(), String::new()), (at..end, String::new())]);
    let changed = without_comment(&kept, &comment(&test.name));
    let only_runs = only_runs(test, &items(path, source), &items(path, &changed));
    (is_ours && only_runs).then_some(changed)
}

/// Disables the names that only this test imports, so that the file loads. Never disables the function that defines the
/// test, because the skipped test still needs it.
fn imports_aside(tree: &Tree<'_>, test: &TestItem) -> Vec<(Range<usize>, String)> {
    let elsewhere = |wanted: &str| {
        (0..tree.len()).any(|node| {
            let imports = tree.ancestors(node).any(|outer| tree.kind(outer) == "import_statement");
            tree.is_name(node) && tree.text(node) == wanted && !test.span.contains(&tree.range(node).start) && !imports
        })
    };
    let used = |wanted: &str| {
        (0..tree.len())
            .any(|node| tree.is_name(node) && tree.text(node) == wanted && test.span.contains(&tree.range(node).start))
    };
    let mut edits = Vec::new();
    let source_of = |statement: usize| tree.child(statement, "source").map_or("", |source| tree.text(source));
    let is_maker = |statement: usize| TEST_MODULES.contains(&source_of(statement).trim_matches(['\'', '"']));
    let imports = tree.children(0).filter(|node| tree.kind(*node) == "import_statement" && !is_maker(*node));
    for statement in imports {
        let written = tree.text(statement);
        let specifiers: Vec<usize> =
            tree.subtree(statement).filter(|node| tree.kind(*node) == "import_specifier").collect();
        let local =
            |node: usize| tree.child(node, "alias").or_else(|| tree.child(node, "name")).map_or("", |it| tree.text(it));
        let aside = |node: &usize| used(local(*node)) && !elsewhere(local(*node));
        let kept: Vec<&str> = specifiers.iter().filter(|node| !aside(node)).map(|node| tree.text(*node)).collect();
        if kept.len() == specifiers.len() || written.contains('\n') || written.contains(", {") {
            continue;
        }
        let other = if kept.is_empty() {
            String::new()
        } else {
            format!("import {{ {} }} from {}; ", kept.join(", "), source_of(statement))
        };
        edits.push((tree.range(statement), format!("{other}{}{written}", comment(&test.name))));
    }
    edits
}

/// The comment before an import that only a skipped test needs.
fn comment(name: &str) -> String {
    format!("// skipped with {}: ", plain(name))
}

/// The complete lines of a span, if nothing else is on them.
fn whole_lines(source: &str, span: &Range<usize>) -> Option<Range<usize>> {
    let line = source.get(..span.start)?.rsplit('\n').next().unwrap_or_default();
    let rest = source.get(span.end..)?;
    let (tail, newline) = rest.split_once('\n').map_or((rest, 0), |(tail, _)| (tail, 1));
    let tail_is_free = tail.trim().trim_start_matches(';').is_empty() || tail.trim_start().starts_with("//");
    (line.trim().is_empty() && tail_is_free).then(|| span.start - line.len()..span.end + tail.len() + newline)
}

/// Where a test's annotation begins, if it is on the line above.
fn start_with_annotation(source: &str, start: usize, test: &TestItem) -> usize {
    let above = source.get(..start).unwrap_or_default();
    let line = above.strip_suffix('\n').and_then(|above| above.rsplit('\n').next()).unwrap_or_default();
    let annotates = test.annotation.is_some() && line.contains("@tdd-test-id:");
    if annotates { start - line.len() - 1 } else { start }
}

/// A text for use in a comment, on one line.
fn plain(text: &str) -> String {
    on_one_line(text).replace("*/", "* /")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::assert_skip_is_undone;
    use crate::javascript::JavaScript;

    const FILE: &str = "a.test.js";
    const SOURCE: &str = "import { add, sub } from './calc.js';\nimport { mul } from './calc.js';\n\ntest('a', () => {\n  assert.equal(add(1), sub(1));\n});\n\n\
                          // @tdd-test-id: b\ntest('b', () => {\n  assert.equal(add(1), mul(2));\n});\n";

    fn test(source: &str, name: &str) -> TestItem {
        items(FILE, source).tests.into_iter().find(|test| test.name == name).unwrap()
    }

    #[test]
    fn a_test_goes_with_its_table() {
        let b = "test('b', () => {\n  assert.equal(add(1), 2);\n});\n";
        let a = "test('a', () => {\n  for (const [n, m] of cases) {\n    assert.equal(add(n), m);\n  }\n});\n";
        let named = format!("// The cases.\nconst cases = [\n  [1, 2],\n];\n\n{a}\n{b}");
        let around = format!(
            "for (const n of [1, 2]) {{\n  test('a', () => {{\n    assert.equal(add(n), n);\n  }});\n}}\n\n{b}"
        );
        for source in [&named, &around] {
            assert_eq!(without_test(FILE, source, &test(source, "a")).as_deref(), Some(b), "{source}");
        }
        let shared = named.replace("];\n\n", "], other = 1;\n\n");
        assert_eq!(without_test(FILE, &shared, &test(&shared, "a")), None);
    }

    #[test]
    fn a_test_goes_with_its_annotation_and_blank_lines() {
        let without = |name| without_test(FILE, SOURCE, &test(SOURCE, name)).unwrap();
        let head = "import { add, sub } from './calc.js';\nimport { mul } from './calc.js';\n";
        assert_eq!(without("b"), format!("{head}\ntest('a', () => {{\n  assert.equal(add(1), sub(1));\n}});\n"));
        assert_eq!(
            without("a"),
            format!("{head}\n// @tdd-test-id: b\ntest('b', () => {{\n  assert.equal(add(1), mul(2));\n}});\n")
        );
    }

    #[test]
    fn a_group_goes_with_its_only_test() {
        let source = "describe('x', () => {\n  it('a', () => {});\n});\ntest('b', () => {});\n";
        assert_eq!(without_test(FILE, source, &test(source, "x > a")).as_deref(), Some("test('b', () => {});\n"));
        let two = "describe('x', () => {\n  it('a', () => {});\n\n  it('b', () => {});\n});\n";
        let left = "describe('x', () => {\n  it('a', () => {});\n});\n";
        assert_eq!(without_test(FILE, two, &test(two, "x > b")).as_deref(), Some(left));
    }

    #[test]
    fn a_test_is_skipped_and_runs_again_as_it_was() {
        let table = "test.each([1])('a %i', (n) => { expect(f(n)).toBe(1) })\n";
        let tests = [(SOURCE, "a"), (SOURCE, "b"), (table, "a %i")];
        assert_skip_is_undone(&JavaScript::Plain, FILE, test, &tests, "say \"*/\"\nlater");
    }

    #[test]
    fn what_only_the_skipped_test_imports_is_left_aside() {
        let marked = |name| skipped(FILE, SOURCE, &test(SOURCE, name), "no", Skip::FromBuilding).unwrap();
        let aside = "import { add, sub } from './calc.js';\n// skipped with b: import { mul } from './calc.js';\n";
        assert!(marked("b").starts_with(aside), "{}", marked("b"));
        let aside = "import { add } from './calc.js'; // skipped with a: import { add, sub } from './calc.js';\n";
        assert!(marked("a").starts_with(aside), "{}", marked("a"));
    }

    #[test]
    fn what_makes_the_skipped_test_is_not_left_aside() {
        let source = "import { test } from 'node:test';\nimport { add } from './calc.js';\n\ntest('a', () => {\n  add(1);\n});\n";
        let marked = skipped(FILE, source, &test(source, "a"), "no", Skip::FromBuilding).unwrap();
        let head = "import { test } from 'node:test';\n// skipped with a: import { add } from './calc.js';\n";
        assert!(marked.starts_with(head), "{marked}");
    }

    #[test]
    fn a_marker_that_is_not_ours_stays() {
        for source in ["test('a', () => {})\n", "test.skip('a', () => {})\n"] {
            assert_eq!(unskipped(FILE, source, &test(source, "a")), None);
        }
    }
}
