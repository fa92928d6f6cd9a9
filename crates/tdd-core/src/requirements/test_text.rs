//! Cuts the source of each passing test out of its file, by the tests' names and without knowing the language.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::significant::Significant;
use super::{head, literals};
use crate::report::{Outcome, Report};
use crate::test_id::TestId;

/// A passing test, and what its name and source hold.
#[derive(Clone, Debug)]
pub struct TestText {
    /// Its id.
    pub id: TestId,
    /// The literals and words of its name and source, and how often it has them.
    pub(super) tokens: HashMap<String, usize>,
    /// The significant words of its name.
    pub(super) name: Significant,
}

/// Most tests that are looked at.
const MAX_TESTS: usize = 500;
/// Most bytes of a file that are looked at.
const MAX_FILE: usize = 200_000;
/// Most bytes of one test.
const MAX_TEST: usize = 10_000;

/// The passing tests of a report with their sources. `read` gives the text of a file, if there is one.
pub fn test_texts<E>(
    report: &Report,
    mut read: impl FnMut(&str) -> Result<Option<String>, E>,
) -> Result<Vec<TestText>, E> {
    let mut by_file: BTreeMap<&str, Vec<&TestId>> = BTreeMap::new();
    for result in report.results().take(MAX_TESTS) {
        by_file.entry(result.id.path().unwrap_or_default()).or_default().push(&result.id);
    }
    let mut texts = Vec::new();
    for (path, ids) in by_file {
        let file = if path.is_empty() { None } else { read(path)? };
        let file = head(file.as_deref().unwrap_or_default(), MAX_FILE);
        let begins: Vec<Option<usize>> = ids.iter().map(|id| begin(file, written_name(id))).collect();
        let sorted: BTreeSet<usize> = begins.iter().flatten().copied().collect();
        let passes = |id: &TestId| report.get(id).is_some_and(|result| result.outcome == Outcome::Pass);
        for (id, begin) in ids.into_iter().zip(begins).filter(|(id, _)| passes(id)) {
            let source = begin.map_or("", |begin| {
                let next = sorted.range(begin + 1..).next().copied().unwrap_or(file.len());
                head(&file[begin..next], MAX_TEST)
            });
            let tokens = literals::tokens(&format!("{}\n{source}", id.short_name()));
            texts.push(TestText { id: id.clone(), tokens, name: Significant::of(id.short_name()) });
        }
    }
    Ok(texts)
}

/// A test's name as it is written in its file: without the parameters of a case.
fn written_name(id: &TestId) -> &str {
    let name = id.short_name();
    if name.contains(' ') { name } else { name.split(['[', '/', '(']).next().unwrap_or(name) }
}

/// Where a test begins: at the line of its name, or of the attributes directly above it.
fn begin(file: &str, name: &str) -> Option<usize> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut places = file.match_indices(name).filter(|(at, _)| {
        !name.is_empty() && !file[..*at].ends_with(is_word) && !file[at + name.len()..].starts_with(is_word)
    });
    let (at, _) = places.next()?;
    let mut begin = line_start(file, at);
    let mut above = begin;
    while above > 0 {
        above = line_start(file, above - 1);
        let line = file[above..].lines().next().unwrap_or_default();
        let is_attribute = line.trim_start().starts_with(['@', '#']);
        // The lines of a long decorator are indented, or close its brackets.
        let continues = line.starts_with(char::is_whitespace) || line.starts_with([']', ')']);
        if is_attribute {
            begin = above;
        } else if line.trim().is_empty() || !continues || begin - above > MAX_TEST {
            break;
        }
    }
    Some(begin)
}

/// Where the line with this byte begins.
fn line_start(file: &str, at: usize) -> usize {
    file[..at].rfind('\n').map_or(0, |end| end + 1)
}
