//! The truths of a plan: sentences that must be true at its end, and the tests that prove them.

use super::Step;
use crate::test_id::TestId;

/// A sentence that must be true at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Truth {
    /// The sentence.
    pub text: String,
    /// The test that it names as proof, if any.
    pub test: Option<TestId>,
}

/// The pairs of characters that may enclose an id.
const ENCLOSED: [(char, char); 5] = [('`', '`'), ('"', '"'), ('\'', '\''), ('(', ')'), ('[', ']')];

impl Truth {
    /// Reads a sentence. It names a test by an id in backticks, quotes or brackets, by the test id of a step, or by a
    /// bare id.
    pub(super) fn read(text: String, steps: &[Step]) -> Self {
        let named = enclosed_id(&text).or_else(|| step_id(&text, steps)).or_else(|| bare_id(&text));
        Self { text, test: named }
    }
}

/// The first enclosed id.
fn enclosed_id(text: &str) -> Option<TestId> {
    text.char_indices().find_map(|(at, open)| {
        let (_, close) = ENCLOSED.into_iter().find(|(it, _)| *it == open)?;
        let inside = up_to(&text[at + open.len_utf8()..], open, close)?;
        let is_at_its_start = inside.split_whitespace().next().is_some_and(is_native);
        if is_at_its_start { parse(inside) } else { None }
    })
}

/// The longest test id of a step that occurs in the text as a whole.
fn step_id(text: &str, steps: &[Step]) -> Option<TestId> {
    let ids = steps.iter().filter_map(|step| step.test_id.as_ref()).map(|id| id.text.as_str());
    ids.filter(|id| stands_in(text, id)).max_by_key(|id| id.len()).and_then(|id| TestId::parse(id).ok())
}

fn stands_in(text: &str, id: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '/');
    text.match_indices(id).any(|(at, _)| {
        let (before, behind) = (&text[..at], &text[at + id.len()..]);
        !before.ends_with(is_part) && !behind.starts_with(is_part) && !behind.starts_with(" > ")
    })
}

/// The first id that is not enclosed, up to the end of the text or of the enclosing bracket.
fn bare_id(text: &str) -> Option<TestId> {
    let word = text.split(is_border).find(|word| is_native(word))?;
    let start = text.find(word)?;
    let around = [('(', ')'), ('[', ']')].into_iter().find(|(open, _)| text[..start].contains(*open));
    let rest = &text[start..];
    parse(
        around
            .and_then(|(open, close)| up_to(rest, open, close))
            .unwrap_or(rest)
            .trim_end_matches(['.', ':', ',', ';']),
    )
}

/// Parses an id. In Rust, Python and Go a name is one word; in other languages it is the rest of the text, up to the
/// next id.
fn parse(text: &str) -> Option<TestId> {
    let one_word = text.split(is_border).next().unwrap_or_default().trim_end_matches(['.', ':']);
    let path = one_word.split_once("::").map_or(one_word, |(path, _)| path);
    if [".rs", ".py", ".go"].iter().any(|ending| path.ends_with(ending)) {
        return TestId::parse(one_word).ok();
    }
    let next = text.match_indices(is_border).map(|(at, _)| at + 1).find(|at| {
        let word = text[*at..].split(is_border).next().unwrap_or_default();
        is_native(word)
    });
    let text = next.map_or(text, |next| text[..next].trim_end_matches(|c: char| is_border(c) || "([`\"'".contains(c)));
    TestId::parse(text.strip_suffix(" and").unwrap_or(text).trim_end()).ok()
}

fn is_native(word: &str) -> bool {
    word.split_once("::").is_some_and(|(path, name)| path.contains(['.', '/']) && !name.is_empty())
}

fn is_border(c: char) -> bool {
    c.is_whitespace() || "`()[],;\"'".contains(c)
}

/// The text up to the closing character; nested pairs are skipped.
fn up_to(text: &str, open: char, close: char) -> Option<&str> {
    let mut depth = 1_usize;
    for (at, c) in text.char_indices() {
        if c == close {
            depth -= 1;
        } else if c == open {
            depth += 1;
        }
        if depth == 0 {
            return Some(&text[..at]);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::Field;
    use super::*;

    const SPOKEN: &str = "test/a.test.js::adds > two (or more) numbers";

    /// The test that a sentence names, in a plan with a step for the test `step`.
    fn named(text: &str, step: &str) -> Option<String> {
        let test_id = Some(Field { text: step.to_owned(), line: 1 });
        let steps = [Step { test_id, ..Step::default() }];
        Truth::read(text.to_owned(), &steps).test.map(|id| id.to_string())
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(named(text, "none").as_deref(), Some(expected), "{text}");
    }

    #[test]
    fn a_name_with_spaces_is_not_cut() {
        for text in [
            format!("It adds ({SPOKEN})."),
            format!("It adds (`{SPOKEN}`), always."),
            format!("It adds: `{SPOKEN}` says so."),
            format!("\"{SPOKEN}\" passes"),
            format!("It adds: {SPOKEN}."),
            format!("It adds (see {SPOKEN})."),
            format!("It adds ({SPOKEN}, test/b.test.js::other)"),
            SPOKEN.to_owned(),
        ] {
            check(&text, SPOKEN);
        }
        check("It adds (test/a.test.js::one, two and three)", "test/a.test.js::one, two and three");
    }

    #[test]
    fn a_name_that_is_one_word_ends_with_it() {
        check("tests/a.rs::adds proves it", "tests/a.rs::adds");
        check("It adds (tests/a.rs::m::adds, tests/a.rs::other).", "tests/a.rs::m::adds");
        check("It adds (see `tests/a.py::test_adds[1-2]`).", "tests/a.py::test_adds");
        check("It adds: a_test.go::TestAdds/one.", "a_test.go::TestAdds/one");
    }

    #[test]
    fn the_test_of_a_step_is_known_wherever_it_stands() {
        let spoken = format!("Since {SPOKEN} passes, it adds");
        assert_eq!(named(&spoken, SPOKEN).as_deref(), Some(SPOKEN));
        assert_eq!(named("it is slugged.", "slugged").as_deref(), Some("slugged"));
        assert_eq!(named("it is unslugged-ish", "slugged"), None);
        let longer = named(&format!("({SPOKEN})"), "test/a.test.js::adds");
        assert_eq!(longer.as_deref(), Some(SPOKEN));
        assert_eq!(named("It adds", "none"), None);
        assert_eq!(named("std::mem is used", "none"), None);
    }
}
