//! The files after a set of edits, before anything is written.

use std::collections::BTreeMap;

use super::{Action, Edit};
use crate::rule::{Refusal, Rule};

/// New content by path; `None` for a deleted file.
pub type Files = BTreeMap<String, Option<String>>;

/// Limits of the search for the nearest line: bytes per line, and lines per file.
const MAX_LINE: usize = 300;
const MAX_LINES: usize = 2_000;

/// The files that these edits would change, with their new content. `read` returns the current content.
pub fn preview(edits: &[Edit], read: impl Fn(&str) -> Option<String>) -> Result<Files, Refusal> {
    let mut files = Files::new();
    for Edit { path, action } in edits {
        let existing = || read(path).ok_or_else(|| missing(path));
        match action {
            Action::Upsert { content } | Action::Create { content } => {
                files.insert(path.clone(), Some(content.clone()));
            }
            Action::Delete => {
                existing()?;
                files.insert(path.clone(), None);
            }
            Action::Rename { to } => {
                files.insert(to.clone(), Some(existing()?));
                files.insert(path.clone(), None);
            }
            Action::Replace { find, content } => {
                files.insert(path.clone(), Some(replace_once(path, &existing()?, find, content)?));
            }
        }
    }
    files.retain(|path, content| *content != read(path));
    Ok(files)
}

/// A text with the only occurrence of `find` replaced.
pub fn replace_once(path: &str, text: &str, find: &str, content: &str) -> Result<String, Refusal> {
    // Searching from both ends counts overlapping occurrences as two.
    match (text.find(find), text.rfind(find)) {
        (Some(first), Some(last)) if first == last => {
            Ok(format!("{}{content}{}", &text[..first], &text[first + find.len()..]))
        }
        (Some(_), _) => {
            let reason = format!("the text to find occurs more than once in `{path}`");
            Err(Rule::EditApplies
                .refuse(reason, "include more of the lines around it in `find`, or upsert the whole file"))
        }
        (None, _) => {
            let reason = format!("the text to find is not in `{path}`");
            let near =
                nearest(text, find).map(|line| format!("; the most similar line is `{line}`")).unwrap_or_default();
            let next = format!("copy `find` from the file letter for letter, or upsert the whole file{near}");
            Err(Rule::EditApplies.refuse(reason, next))
        }
    }
}

/// The line that is most like the first line of a text that was not found: a formatter may have changed it.
fn nearest<'a>(text: &'a str, find: &str) -> Option<&'a str> {
    let sought = find.lines().map(str::trim).find(|line| !line.is_empty())?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && line.len() <= MAX_LINE).take(MAX_LINES);
    let likeness =
        |line: &str| if sought.len() <= MAX_LINE { strsim::normalized_levenshtein(sought, line) } else { 0.0 };
    let (likeness, line) = lines.map(|line| (likeness(line), line)).max_by(|one, other| one.0.total_cmp(&other.0))?;
    (likeness > 0.6).then_some(line)
}

fn missing(path: &str) -> Refusal {
    let reason = format!("there is no file `{path}`");
    Rule::EditApplies.refuse(reason, "name a file that exists, or upsert it with its whole content")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &str) -> Option<String> {
        (path == "a.rs").then(|| "one two two".to_owned())
    }

    fn edit(path: &str, action: Action) -> Edit {
        Edit { path: path.to_owned(), action }
    }

    fn shown(edits: &[Edit]) -> String {
        match preview(edits, read) {
            Ok(files) => {
                let shown = files.iter().map(|(path, text)| format!("{path}={}", text.as_deref().unwrap_or("-")));
                shown.collect::<Vec<_>>().concat()
            }
            Err(refusal) => refusal.reason,
        }
    }

    fn replace(find: &str) -> Action {
        Action::Replace { find: find.to_owned(), content: "1".to_owned() }
    }

    #[test]
    fn edits_come_to_whole_contents() {
        assert_eq!(shown(&[edit("b.rs", Action::Upsert { content: "x".into() })]), "b.rs=x");
        assert_eq!(shown(&[edit("a.rs", Action::Delete)]), "a.rs=-");
        assert_eq!(shown(&[edit("a.rs", Action::Rename { to: "c.rs".into() })]), "a.rs=-c.rs=one two two");
        assert_eq!(shown(&[edit("a.rs", replace("one"))]), "a.rs=1 two two");
    }

    #[test]
    fn what_stays_the_same_is_no_change() {
        assert_eq!(shown(&[edit("a.rs", Action::Upsert { content: "one two two".into() })]), "");
    }

    #[test]
    fn who_did_not_copy_exactly_is_shown_the_line_that_was_meant() {
        let text = "def test():\n    assert add(\"\") == 0\n";
        let next = |find: &str| replace_once("a.py", text, find, "").unwrap_err().next;
        let near = "copy `find` from the file letter for letter, or upsert the whole file; the most similar line is \
                    `assert add(\"\") == 0`";
        assert_eq!(next("\n  assert add('') == 0\n"), near);
        assert_eq!(next("return 7"), "copy `find` from the file letter for letter, or upsert the whole file");
        assert_eq!(next(&"x".repeat(100_000)), next("return 7"));
        let long = replace_once("a.py", &"a".repeat(400), &format!("{}b", "a".repeat(299)), "").unwrap_err().next;
        assert_eq!(long, next("return 7"));
    }

    #[test]
    fn an_edit_that_does_not_fit_is_refused() {
        assert_eq!(shown(&[edit("a.rs", replace("two"))]), "the text to find occurs more than once in `a.rs`");
        assert_eq!(shown(&[edit("a.rs", replace("three"))]), "the text to find is not in `a.rs`");
        assert_eq!(shown(&[edit("b.rs", replace("one"))]), "there is no file `b.rs`");
        assert_eq!(shown(&[edit("b.rs", Action::Delete)]), "there is no file `b.rs`");
    }
}
