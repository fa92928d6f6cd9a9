//! Verifies that an edit changed only one test or its skip mark, and formats the text of such a mark.

use std::ops::Range;

use crate::item::{Items, TestItem};

/// Whether the only difference is that the test is gone.
pub(crate) fn only_lacks(test: &TestItem, before: &Items, after: &Items) -> bool {
    let kept = before.tests.iter().filter(|other| other.span != test.span);
    let same =
        kept.map(|other| (&other.name, other.digest)).eq(after.tests.iter().map(|test| (&test.name, test.digest)));
    same && after.parses == before.parses
}

/// A file without the tables that a test has outside of its body, and the test as it is in that file.
pub(crate) fn without_tables(
    source: &str,
    tables: Vec<Range<usize>>,
    test: &TestItem,
    items: impl Fn(&str) -> Items,
) -> Option<(String, TestItem)> {
    if tables.is_empty() {
        return Some((source.to_owned(), test.clone()));
    }
    let lighter = without_lines(source, tables);
    let own = items(&lighter).tests.into_iter().find(|other| other.name == test.name)?;
    Some((lighter, own))
}

/// A text without the lines of these ranges, the comments directly above them, and the blank lines below.
fn without_lines(source: &str, mut parts: Vec<Range<usize>>) -> String {
    parts.sort_by_key(|part| std::cmp::Reverse(part.start));
    let mut text = source.to_owned();
    for part in parts {
        let mut start = text[..part.start].rfind('\n').map_or(0, |at| at + 1);
        let is_comment = |line: &str| line.trim_start().starts_with("//") || line.trim_start().starts_with("# ");
        while let Some(above) = text[..start].strip_suffix('\n') {
            let line = above.rsplit('\n').next().unwrap_or_default();
            if !is_comment(line) {
                break;
            }
            start -= line.len() + 1;
        }
        let end = text[part.end..].find('\n').map_or(text.len(), |at| part.end + at + 1);
        let below = text[end..].trim_start_matches(['\n', '\r']);
        let past = if text[..start].trim_end_matches(' ').ends_with("\n\n") || start == 0 {
            text.len() - below.len()
        } else {
            end
        };
        text.replace_range(start..past, "");
    }
    text
}

/// Whether the only difference is that the test is skipped.
pub(crate) fn only_skips(test: &TestItem, before: &Items, after: &Items) -> bool {
    let is_marked = after.tests.iter().any(|other| other.name == test.name && other.ignored.is_some());
    is_marked && same_but_for(before, after, test)
}

/// Whether the only difference is that the test is not skipped.
pub(crate) fn only_runs(test: &TestItem, before: &Items, after: &Items) -> bool {
    let is_free = after.tests.iter().any(|other| other.name == test.name && other.ignored.is_none());
    is_free && same_but_for(before, after, test)
}

fn same_but_for(before: &Items, after: &Items, test: &TestItem) -> bool {
    let others = |items: &Items| -> Vec<_> {
        let others = items.tests.iter().filter(|other| other.name != test.name);
        others.map(|other| (other.name.clone(), other.digest)).collect()
    };
    before.parses == after.parses && before.tests.len() == after.tests.len() && others(before) == others(after)
}

/// Restores each line that this comment disabled.
pub(crate) fn without_comment(source: &str, comment: &str) -> String {
    let back = |line: &str| line.split_once(comment).map_or_else(|| line.to_owned(), |(_, rest)| rest.to_owned());
    source.split('\n').map(back).collect::<Vec<_>>().join("\n")
}

/// Escapes a text for a double-quoted string on one line.
pub(crate) fn escaped(text: &str) -> String {
    on_one_line(text).replace('\\', "\\\\").replace('"', "\\\"")
}

/// A text on one line: control characters become spaces.
pub(crate) fn on_one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// The indentation before a position; `None` if other text precedes it on its line.
pub(crate) fn indent(source: &str, at: usize) -> Option<&str> {
    let line = source.get(..at)?.rsplit('\n').next().unwrap_or_default();
    line.trim().is_empty().then_some(line)
}

/// Where the lines of a test begin: at its annotation if that is the comment directly above, else at `start`.
pub(crate) fn start_with_annotation(source: &str, start: usize, test: &TestItem, comment: &str) -> usize {
    let above = source.get(..start).unwrap_or_default();
    let line = above.strip_suffix('\n').and_then(|above| above.rsplit('\n').next()).unwrap_or_default();
    let annotates = test.annotation.is_some() && line.trim().starts_with(comment) && line.contains("@tdd-test-id:");
    if annotates { start - line.len() - 1 } else { start }
}
