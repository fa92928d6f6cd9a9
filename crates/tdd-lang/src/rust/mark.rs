//! Removes one test from its file, or marks it as skipped and removes the mark again; nothing else changes.

use std::ops::Range;

use super::items::items;
use super::mark_imports::{disable_imports, enable_imports};
use super::syntax::Tree;
use super::tables::tables_in;
use crate::item::TestItem;
use crate::language::Skip;
use crate::mark::{escaped, indent, only_lacks, only_runs, only_skips, start_with_annotation, without_tables};

/// The file without the test, its annotation, its own tables and one adjacent blank line.
pub(super) fn without_test(path: &str, source: &str, test: &TestItem) -> Option<String> {
    let tables = tables_in(&Tree::parse(source)?, &test.span).into_iter().filter_map(|table| table.apart);
    let (lighter, own) = without_tables(source, tables.collect(), test, |source| items(path, source))?;
    let lines = whole_lines(&lighter, &own.span);
    let start = start_with_annotation(&lighter, lines.start, &own, "//");
    let gap = blank_line(&lighter, &(start..lines.end));
    let changed = [lighter.get(..gap.start)?, lighter.get(gap.end..)?].concat();
    only_lacks(test, &items(path, source), &items(path, &changed)).then_some(changed)
}

/// The file with a marker above the test that says why it is skipped.
pub(super) fn skipped(path: &str, source: &str, test: &TestItem, reason: &str, skip: Skip) -> Option<String> {
    let indent = indent(source, test.span.start)?;
    let ignore = format!("{OURS}{}\"]\n{indent}", escaped(reason));
    let mark = match skip {
        Skip::FromRunning => ignore,
        Skip::FromBuilding => format!("{NOT_BUILT}\n{indent}{ignore}"),
    };
    let marked = [source.get(..test.span.start)?, &mark, source.get(test.span.start..)?].concat();
    let changed = match skip {
        Skip::FromRunning => marked,
        Skip::FromBuilding => {
            let marked_test = items(path, &marked).tests.into_iter().find(|other| other.name == test.name)?;
            disable_imports(&marked, &marked_test)?
        }
    };
    only_skips(test, &items(path, source), &items(path, &changed)).then_some(changed)
}

/// The file without our marker; `None` if there is none.
pub(super) fn unskipped(path: &str, source: &str, test: &TestItem) -> Option<String> {
    let own = source.get(test.span.clone())?;
    let mark = test.span.start + own.find(OURS)?;
    let end = mark + source.get(mark..)?.find("\"]\n")? + "\"]\n".len();
    let lines = whole_lines(source, &(mark..end - 1));
    let above = source.get(..lines.start)?;
    let not_built = above.trim_end_matches('\n').rsplit('\n').next().filter(|line| line.trim() == NOT_BUILT);
    let start = lines.start - not_built.map_or(0, |line| line.len() + 1);
    let changed = enable_imports(&[source.get(..start)?, source.get(lines.end..)?].concat(), test);
    only_runs(test, &items(path, source), &items(path, &changed)).then_some(changed)
}

/// The beginning of our marker; a person's own `#[ignore]` is left alone.
const OURS: &str = "#[ignore = \"TODO: ";
/// A condition that is never true.
const NOT_BUILT: &str = "#[cfg(any())]";

/// The complete lines of a span, if nothing else is on them.
fn whole_lines(source: &str, span: &Range<usize>) -> Range<usize> {
    let start = indent(source, span.start).map_or(span.start, |indent| span.start - indent.len());
    let rest = source.get(span.end..).unwrap_or_default();
    let (line, newline) = rest.split_once('\n').map_or((rest, 0), |(line, _)| (line, 1));
    let end = if line.trim().is_empty() { span.end + line.len() + newline } else { span.end };
    start..end
}

/// The lines plus one adjacent blank line, after or else before them.
fn blank_line(source: &str, lines: &Range<usize>) -> Range<usize> {
    let (before, after) = (source.get(..lines.start).unwrap_or_default(), source.get(lines.end..).unwrap_or_default());
    let is_blank = |line: &str| line.trim().is_empty();
    if let Some((line, _)) = after.split_once('\n').filter(|(line, _)| is_blank(line)) {
        return lines.start..lines.end + line.len() + 1;
    }
    let above = before.strip_suffix('\n').and_then(|before| before.rsplit_once('\n'));
    match above {
        Some((_, line)) if is_blank(line) => lines.start - line.len() - 1..lines.end,
        Some(_) | None => lines.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::assert_skip_is_undone;
    use crate::rust::Rust;

    const FILE: &str = "tests/a.rs";
    const SOURCE: &str = "use a::b;\n\n/// One.\n#[test]\nfn one() {\n    assert!(b());\n}\n\n#[test]\nfn two() {}\n";

    fn test(source: &str, name: &str) -> TestItem {
        items(FILE, source).tests.into_iter().find(|test| test.name == name).unwrap()
    }

    fn removed(source: &str, name: &str) -> String {
        without_test(FILE, source, &test(source, name)).unwrap()
    }

    #[test]
    fn a_test_goes_with_its_attributes_and_one_blank_line() {
        assert_eq!(removed(SOURCE, "one"), "use a::b;\n\n#[test]\nfn two() {}\n");
        let one = "use a::b;\n\n/// One.\n#[test]\nfn one() {\n    assert!(b());\n}\n";
        assert_eq!(removed(SOURCE, "two"), one);
        assert_eq!(removed(one, "one"), "use a::b;\n");
        assert_eq!(removed("#[test] fn a() {} fn b() {}", "a"), " fn b() {}");
        assert_eq!(removed("#[test]\nfn a() {}", "a"), "");
    }

    #[test]
    fn a_test_goes_with_its_table() {
        let two = "#[test]\nfn two() {}\n";
        let one = "#[test]\nfn one() {\n    for x in ROWS {\n        assert!(b(x));\n    }\n}\n";
        let source = format!("use a::b;\n\n/// Rows.\nconst ROWS: [u8; 2] = [\n    1,\n    2,\n];\n\n{one}\n{two}");
        assert_eq!(removed(&source, "one"), format!("use a::b;\n\n{two}"));
    }

    #[test]
    fn a_module_that_is_left_empty_stays_and_an_annotation_goes() {
        let source = "#[cfg(test)]\nmod tests {\n    // @tdd-test-id: x\n    #[test]\n    fn a() {}\n}\n";
        assert_eq!(removed(source, "tests::a"), "#[cfg(test)]\nmod tests {\n}\n");
        let source = "// Why.\n#[test]\nfn a() {}\n";
        assert_eq!(removed(source, "a"), "// Why.\n");
    }

    #[test]
    fn a_test_is_skipped_and_runs_again_as_it_was() {
        let inline = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn one() {}\n}\n";
        let tests = [(SOURCE, "one"), (SOURCE, "two"), (inline, "tests::one")];
        assert_skip_is_undone(&Rust, FILE, test, &tests, "say \"\\no\"\nlater");
    }

    #[test]
    fn the_marker_stands_above_the_test_with_its_reason() {
        let skipped = skipped(FILE, SOURCE, &test(SOURCE, "two"), "too \"hard\"", Skip::FromRunning).unwrap();
        assert!(skipped.ends_with("\n\n#[ignore = \"TODO: too \\\"hard\\\"\"]\n#[test]\nfn two() {}\n"), "{skipped}");
    }

    #[test]
    fn a_marker_that_is_not_ours_stays() {
        for source in
            ["#[test]\nfn a() {}\n", "#[ignore = \"slow\"]\n#[test]\nfn a() {}\n", "#[test]\n#[ignore]\nfn a() {}\n"]
        {
            assert_eq!(unskipped(FILE, source, &test(source, "a")), None, "{source}");
        }
    }
}
