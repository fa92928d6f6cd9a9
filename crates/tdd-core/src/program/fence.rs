//! The fence: the files that a program may touch, from its Target section.

use crate::rule::{Refusal, Rule};

/// The patterns of files that may and may not be touched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fence {
    may: Vec<String>,
    may_not: Vec<String>,
}

impl Fence {
    /// Parses the lines of a Target section: each list item names files or patterns, in backticks if it has any. Items
    /// below a line that says "not" are excluded.
    pub fn read(lines: &[&str]) -> Self {
        let mut fence = Self::default();
        let mut forbids = false;
        for line in lines {
            match item(line) {
                Some(text) => {
                    let list = if forbids { &mut fence.may_not } else { &mut fence.may };
                    list.extend(patterns(text));
                }
                None if line.trim().is_empty() => {}
                None => forbids = denies(line),
            }
        }
        fence
    }

    /// Whether no file may be touched.
    pub fn is_empty(&self) -> bool {
        self.may.is_empty()
    }

    /// The patterns of the files that may be touched.
    pub fn patterns(&self) -> &[String] {
        &self.may
    }

    /// Whether a path may be touched.
    pub fn holds(&self, path: &str) -> bool {
        let fits = |pattern: &String| matches(pattern, path);
        self.may.iter().any(fits) && !self.may_not.iter().any(fits)
    }

    /// Refuses the first of these paths that may not be touched.
    pub fn check<'a>(&self, paths: impl IntoIterator<Item = &'a str>) -> Result<(), Refusal> {
        match paths.into_iter().find(|path| !self.holds(path)) {
            None => Ok(()),
            Some(path) => {
                let may: Vec<String> = self.may.iter().map(|pattern| format!("`{pattern}`")).collect();
                let reason = format!("`{path}` is not in the program's target");
                Err(Rule::TargetFence.refuse(reason, format!("edit only {}", may.join(", "))))
            }
        }
    }
}

fn item(line: &str) -> Option<&str> {
    let line = line.trim_start();
    ["- ", "* ", "+ "].into_iter().find_map(|mark| line.strip_prefix(mark))
}

/// Whether a line above a list excludes the items of the list.
fn denies(line: &str) -> bool {
    let lower = line.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric() && c != '\'');
    words.any(|word| matches!(word, "not" | "never" | "don't" | "except" | "excluding"))
}

/// The patterns of an item: everything in backticks before the explanation, or else its first word.
fn patterns(item: &str) -> Vec<String> {
    let explains = |words: &str| [" — ", " -- ", " – ", ": "].iter().any(|mark| words.contains(mark));
    let mut quoted = Vec::new();
    // Every second piece is between backticks.
    for pair in item.split('`').collect::<Vec<_>>().chunks(2) {
        let [outside, inside] = pair else { break };
        if explains(outside) {
            break;
        }
        quoted.push(*inside);
    }
    let bare = || item.split_whitespace().next().filter(|word| word.contains(['/', '.', '*'])).into_iter().collect();
    let words = if item.contains('`') { quoted } else { bare() };
    words.into_iter().map(clean).filter(|word| !word.is_empty()).collect()
}

fn clean(word: &str) -> String {
    let word = word.trim().trim_start_matches("./");
    if word.ends_with('/') { format!("{word}**") } else { word.to_owned() }
}

/// Whether a path matches a pattern: `*` and `?` match within one part, `**` matches any number of parts. A pattern
/// that names a folder matches everything in it.
fn matches(pattern: &str, path: &str) -> bool {
    let (pattern, path): (Vec<&str>, Vec<&str>) = (pattern.split('/').collect(), path.split('/').collect());
    parts_match(&pattern, &path)
}

fn parts_match(pattern: &[&str], path: &[&str]) -> bool {
    match (pattern.split_first(), path.split_first()) {
        (None, _) => true,
        (Some((&"**", rest)), _) => (0..=path.len()).any(|skip| parts_match_whole(rest, &path[skip..])),
        (Some(_), None) => false,
        (Some((part, rest)), Some((name, below))) => part_matches(part, name) && parts_match(rest, below),
    }
}

/// `**` at the end must match at least one part.
fn parts_match_whole(pattern: &[&str], path: &[&str]) -> bool {
    if pattern.is_empty() { !path.is_empty() } else { parts_match(pattern, path) }
}

fn part_matches(pattern: &str, name: &str) -> bool {
    let mut rest = pattern.chars();
    match (rest.next(), name.chars().next()) {
        (None, first) => first.is_none(),
        (Some('*'), first) => {
            part_matches(rest.as_str(), name)
                || first.is_some_and(|first| part_matches(pattern, &name[first.len_utf8()..]))
        }
        (Some('?'), Some(first)) => part_matches(rest.as_str(), &name[first.len_utf8()..]),
        (Some(wanted), Some(first)) => wanted == first && part_matches(rest.as_str(), &name[first.len_utf8()..]),
        (Some(_), None) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fence(text: &str) -> Fence {
        Fence::read(&text.lines().collect::<Vec<_>>())
    }

    #[track_caller]
    fn check(fence: &Fence, inside: &[&str], outside: &[&str]) {
        for path in inside {
            assert!(fence.holds(path), "{path} is outside");
        }
        for path in outside {
            assert!(!fence.holds(path), "{path} is inside");
        }
    }

    #[test]
    fn files_folders_and_patterns_are_read_from_lists() {
        let fence = fence(
            "Only modify these files:\n- `src/core/series.ts` — the body\n- `tests/**/*.py`, `docs/`: not `x.md`\n- lib.rs: `y`\n- lib.rs",
        );
        check(&fence, &["src/core/series.ts", "tests/a.py", "tests/x/y/a.py", "docs/a/b.md", "lib.rs"], &[]);
        check(&fence, &[], &["src/core/other.ts", "tests/a.rs", "docs", "src/lib.rs", "lib.rs2"]);
    }

    #[test]
    fn what_must_stay_as_it_is_stays_outside_even_where_it_would_fit() {
        let fence = fence("May change:\n- `src/**`\n\nDo NOT modify:\n- `src/main.rs`: the entry\n- anything else\n");
        check(&fence, &["src/lib.rs", "src/a/b.rs"], &["src/main.rs", "tests/a.rs"]);
    }

    #[test]
    fn a_star_stays_inside_of_one_part() {
        let fence = fence("- `src/*/Test?.cs`");
        check(&fence, &["src/a/Test1.cs"], &["src/a/b/Test1.cs", "src/a/Test.cs", "src/Test1.cs"]);
    }

    #[test]
    fn a_name_of_a_folder_holds_what_is_in_it() {
        check(&fence("- `src`"), &["src/a.rs", "src/a/b.rs"], &["srcs/a.rs", "a/src"]);
    }

    #[test]
    fn prose_opens_nothing() {
        assert!(fence("Everything that is needed, such as src/lib.rs.\n- whatever it takes\n").is_empty());
    }

    #[test]
    fn a_refusal_says_where_to_stay() {
        let refusal = fence("- `src/**`").check(["src/a.rs", "tests/a.rs"]).unwrap_err();
        assert_eq!(
            refusal.to_string(),
            "target-fence: `tests/a.rs` is not in the program's target; edit only `src/**`"
        );
    }
}
