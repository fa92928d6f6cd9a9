//! Removes one test from its file, marks it as skipped, or removes that mark; changes nothing else.

use std::ops::Range;

use super::items::items;
use super::names::Names;
use super::syntax::Tree;
use super::tables::outside;
use crate::item::{Items, TestItem};
use crate::language::Skip;
use crate::mark::{
    escaped, indent, only_lacks, only_runs, only_skips, start_with_annotation, without_comment, without_tables,
};

/// How our mark continues after the module's name; a person's own mark is left alone.
const OURS: &str = ".mark.skip(reason=\"TODO: ";

/// The file without the test, its tables, the annotation above it, and the blank lines beside it.
pub(super) fn without_test(path: &str, source: &str, test: &TestItem) -> Option<String> {
    let tree = Tree::parse(source)?;
    let whole = (0..tree.len()).find(|node| tree.range(*node) == test.span)?;
    let tables = outside(&tree, whole).into_iter().map(|table| tree.range(table)).collect();
    let (lighter, own) = without_tables(source, tables, test, |source| like(path, source, test))?;
    if is_alone(&lighter, &own)? {
        return Some([lighter.get(..own.span.start)?, "pass", lighter.get(own.span.end..)?].concat());
    }
    let lines = whole_lines(&lighter, &own.span)?;
    let start = start_with_annotation(&lighter, lines.start, &own, "#");
    let above = lighter.get(..start)?;
    let after = lighter.get(lines.end..)?;
    let above = match above.trim_end_matches(['\n', ' ']) {
        "" => "",
        kept if after.trim().is_empty() => above.get(..=kept.len()).unwrap_or(above),
        _ => above,
    };
    let after = if after.trim().is_empty() { "" } else { after.trim_start_matches('\n') };
    let changed = [above, after].concat();
    only_lacks(test, &like(path, source, test), &like(path, &changed, test)).then_some(changed)
}

/// The file with a decorator on the test that skips it and says why.
pub(super) fn skipped(path: &str, source: &str, test: &TestItem, reason: &str, skip: Skip) -> Option<String> {
    let indent = indent(source, test.span.start)?;
    let pytest =
        if source.lines().any(|line| line.trim() == "import pytest") { "pytest" } else { "__import__(\"pytest\")" };
    let mark = format!("@{pytest}{OURS}{}\")\n{indent}", escaped(reason));
    let marked = [source.get(..test.span.start)?, &mark, source.get(test.span.start..)?].concat();
    let changed = match skip {
        Skip::FromRunning => marked,
        Skip::FromBuilding => imports_aside(&marked, test, path)?,
    };
    only_skips(test, &like(path, source, test), &like(path, &changed, test)).then_some(changed)
}

/// The file without our mark; `None` if there is none.
pub(super) fn unskipped(path: &str, source: &str, test: &TestItem) -> Option<String> {
    let own = source.get(test.span.clone())?;
    let at = own.find(OURS)?;
    let start = own.get(..at)?.rfind('\n').map_or(0, |end| end + 1);
    let end = at + own.get(at..)?.find("\")\n")? + "\")\n".len();
    // Our mark is the first decorator, so the text before it on its line is the test's own indentation.
    let next = own.get(end..)?;
    let rest = if start == 0 { next.trim_start() } else { next };
    let kept = [source.get(..test.span.start)?, own.get(..start)?, rest, source.get(test.span.end..)?].concat();
    let changed = without_comment(&kept, &aside(&test.name));
    only_runs(test, &like(path, source, test), &like(path, &changed, test)).then_some(changed)
}

/// The items of a file, with name patterns by which `test` counts as a test.
fn like(path: &str, source: &str, test: &TestItem) -> Items {
    items(path, source, &Names::like(path, test))
}

/// Comments out the names that only this test imports, so that the file loads without them.
fn imports_aside(source: &str, test: &TestItem, path: &str) -> Option<String> {
    let name = &test.name;
    let test = like(path, source, test).tests.into_iter().find(|test| test.name == *name)?;
    let tree = Tree::parse(source)?;
    let elsewhere = |wanted: &str| {
        (0..tree.len()).any(|node| {
            let at = tree.range(node).start;
            let imports = tree.ancestors(node).any(|outer| tree.kind(outer).starts_with("import"));
            tree.kind(node) == "identifier" && tree.text(node) == wanted && !test.span.contains(&at) && !imports
        })
    };
    let (mut made, aside) = (source.to_owned(), aside(name));
    for statement in
        tree.children(0).filter(|node| tree.kind(*node).starts_with("import")).collect::<Vec<_>>().into_iter().rev()
    {
        let written = tree.text(statement);
        let from = tree.child(statement, "module_name");
        let parts: Vec<usize> = tree.parts(statement).filter(|part| Some(*part) != from).collect();
        let parts: Vec<&str> = parts
            .into_iter()
            .filter(|part| matches!(tree.kind(*part), "dotted_name" | "aliased_import"))
            .map(|part| tree.text(part))
            .collect();
        let known = |part: &str| part.rsplit(' ').next().unwrap_or(part).split('.').next().unwrap_or(part).to_owned();
        let kept: Vec<&str> =
            parts.iter().copied().filter(|part| elsewhere(&known(part)) || known(part) == "pytest").collect();
        if kept.len() == parts.len() || parts.is_empty() || written.contains('\n') {
            continue;
        }
        let head = from.map_or("import ".to_owned(), |from| format!("from {} import ", tree.text(from)));
        let other = if kept.is_empty() { String::new() } else { format!("{head}{}  ", kept.join(", ")) };
        made.replace_range(tree.range(statement), &format!("{other}{aside}{written}"));
    }
    Some(made)
}

/// The comment before an import that only a skipped test needs.
fn aside(name: &str) -> String {
    format!("# skipped with {name}: ")
}

/// Whether a class has nothing but this test: a class cannot be empty.
fn is_alone(source: &str, test: &TestItem) -> Option<bool> {
    let tree = Tree::parse(source)?;
    let statement = (0..tree.len()).find(|node| tree.range(*node) == test.span && tree.kind(*node) != "block")?;
    let block = tree.parent(statement);
    Some(tree.kind(block) == "block" && tree.parts(block).count() == 1)
}

/// The lines of a span; `None` if other code is on them.
fn whole_lines(source: &str, span: &Range<usize>) -> Option<Range<usize>> {
    let start = span.start - indent(source, span.start)?.len();
    let rest = source.get(span.end..)?;
    let (line, newline) = rest.split_once('\n').map_or((rest, 0), |(line, _)| (line, 1));
    let is_free = line.trim().is_empty() || line.trim_start().starts_with('#');
    is_free.then(|| start..span.end + line.len() + newline)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::assert_skip_is_undone;
    use crate::python::Python;

    const FILE: &str = "tests/test_a.py";
    const SOURCE: &str = "from calc import add, sub\nfrom calc import mul\n\n\ndef test_a():\n    assert add(1) == sub(1)\n\n\n@x\ndef test_b():\n    assert add(1) == mul(2)\n";

    fn test(source: &str, name: &str) -> TestItem {
        items(FILE, source, &Names::default()).tests.into_iter().find(|test| test.name == name).unwrap()
    }

    #[test]
    fn a_test_goes_with_its_decorators_and_blank_lines() {
        let without = |name| without_test(FILE, SOURCE, &test(SOURCE, name)).unwrap();
        let head = "from calc import add, sub\nfrom calc import mul\n";
        assert_eq!(without("test_b"), format!("{head}\n\ndef test_a():\n    assert add(1) == sub(1)\n"));
        assert_eq!(without("test_a"), format!("{head}\n\n@x\ndef test_b():\n    assert add(1) == mul(2)\n"));
    }

    #[test]
    fn a_test_goes_with_its_table() {
        let test_b = "def test_b():\n    assert f()\n";
        let source = format!(
            "import pytest\n\n# The cases.\nCASES = [\n    (1, 2),\n]\n\n\ndef test_a():\n    for a, b in CASES:\n        assert f(a) == b\n\n\n{test_b}"
        );
        let without = without_test(FILE, &source, &test(&source, "test_a")).unwrap();
        assert_eq!(without, format!("import pytest\n\n{test_b}"));
    }

    #[test]
    fn a_class_without_its_only_test_is_still_a_class() {
        let source = "class TestA:\n    def test_a(self):\n        assert f()\n";
        let without = without_test(FILE, source, &test(source, "TestA::test_a"));
        assert_eq!(without.as_deref(), Some("class TestA:\n    pass\n"));
    }

    #[test]
    fn a_test_is_skipped_and_runs_again_as_it_was() {
        let method = "import pytest\nclass TestA:\n    @x\n    def test_a(self):\n        assert f()\n";
        let tests = [(SOURCE, "test_a"), (SOURCE, "test_b"), (method, "TestA::test_a")];
        assert_skip_is_undone(&Python, FILE, test, &tests, "say \"\\no\"\nlater");
    }

    #[test]
    fn what_only_the_skipped_test_imports_is_left_aside() {
        let marked = skipped(FILE, SOURCE, &test(SOURCE, "test_b"), "no", Skip::FromBuilding).unwrap();
        assert!(
            marked.starts_with("from calc import add, sub\n# skipped with test_b: from calc import mul\n"),
            "{marked}"
        );
        let marked = skipped(FILE, SOURCE, &test(SOURCE, "test_a"), "no", Skip::FromBuilding).unwrap();
        assert!(
            marked.starts_with("from calc import add  # skipped with test_a: from calc import add, sub\n"),
            "{marked}"
        );
    }

    #[test]
    fn a_marker_that_is_not_ours_stays() {
        for source in ["def test_a(): pass\n", "@pytest.mark.skip(reason=\"slow\")\ndef test_a(): pass\n"] {
            assert_eq!(unskipped(FILE, source, &test(source, "test_a")), None);
        }
    }
}
