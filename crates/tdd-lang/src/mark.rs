//! Tells whether nothing but one test or its mark changed in a file, and spells the words of such a mark.

use crate::item::{Items, TestItem};

/// Whether a file is as it was but for a test that is gone.
pub(crate) fn only_lacks(test: &TestItem, before: &Items, after: &Items) -> bool {
    let kept = before.tests.iter().filter(|other| other.span != test.span);
    let same =
        kept.map(|other| (&other.name, other.digest)).eq(after.tests.iter().map(|test| (&test.name, test.digest)));
    same && after.parses == before.parses
}

/// Whether a file is as it was but for a test that is skipped now.
pub(crate) fn only_skips(test: &TestItem, before: &Items, after: &Items) -> bool {
    let is_marked = after.tests.iter().any(|other| other.name == test.name && other.ignored.is_some());
    is_marked && same_but_for(before, after, test)
}

/// Whether a file is as it was but for a test that runs now.
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

/// The file with each line as it was before this comment left it aside.
pub(crate) fn without_comment(source: &str, comment: &str) -> String {
    let back = |line: &str| line.split_once(comment).map_or_else(|| line.to_owned(), |(_, rest)| rest.to_owned());
    source.split('\n').map(back).collect::<Vec<_>>().join("\n")
}

/// Words inside of a text in double quotes, on one line.
pub(crate) fn escaped(text: &str) -> String {
    on_one_line(text).replace('\\', "\\\\").replace('"', "\\\"")
}

/// Words on one line.
pub(crate) fn on_one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
