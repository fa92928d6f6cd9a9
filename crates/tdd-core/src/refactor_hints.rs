//! Measures what the last commit left behind that may be worth a refactoring: duplication, functions that grew, names
//! whose function was rewritten.
//!
//! A hint is advice for the refactorer, never a rule. It is read from the text, the same way in every language: a
//! function is a header line with the deeper indented lines below it.

use std::collections::{BTreeMap, BTreeSet};

use crate::change::Sort;
use crate::seam::File;

/// Lines that must repeat to count as duplication.
const REPEATED_LINES: usize = 4;
/// Letters and digits that those lines must have, so that closing brackets do not count.
const REPEATED_LETTERS: usize = 40;
/// A function with more lines than this is long.
const LONG_FUNCTION: usize = 25;
/// Lines by which a long function must have grown in the last commit.
const GROWN_BY: usize = 5;
/// A shorter function is quickly rewritten, and that says nothing about its name.
const REWRITTEN_LINES: usize = 6;
/// Lines that a commit must remove to rewrite a function; the body of a stub has fewer.
const REMOVED_LINES: usize = 3;
/// Most hints.
const MAX_HINTS: usize = 5;

/// What may be worth a refactoring after the commit with this diff; most telling first.
pub fn hints(diff: &str, files: &[File]) -> Vec<String> {
    let added = added_lines(diff);
    let removed = diff.lines().filter(|line| line.starts_with('-') && !line.starts_with("--- ")).count();
    let is_production = |file: &&File| file.sort == Sort::Production && added.contains_key(file.path.as_str());
    let changed: Vec<&File> = files.iter().filter(is_production).collect();
    let production: Vec<&File> = files.iter().filter(|file| file.sort == Sort::Production).collect();
    let mut hints = duplication(&changed, &production, &added);
    for file in changed {
        let Some(added) = added.get(file.path.as_str()) else { continue };
        hints.extend(functions(&file.text).iter().filter_map(|function| hint(function, file, added, removed)));
    }
    hints.truncate(MAX_HINTS);
    hints
}

/// The lines that a unified diff adds, by path; counted from 1.
fn added_lines(diff: &str) -> BTreeMap<&str, BTreeSet<usize>> {
    let mut added: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    let (mut path, mut line) = ("", 0);
    for text in diff.lines() {
        if let Some(new) = text.strip_prefix("+++ ") {
            path = new.strip_prefix("b/").unwrap_or(new).trim_end();
        } else if let Some(range) = text.strip_prefix("@@ ") {
            let start = range.split_once('+').map_or("", |(_, start)| start);
            let digits = start.bytes().take_while(u8::is_ascii_digit).count();
            line = start[..digits].parse().unwrap_or(0);
        } else if text.starts_with('+') {
            added.entry(path).or_default().insert(line);
            line += 1;
        } else if text.starts_with(' ') || text.is_empty() {
            line += 1;
        }
    }
    added
}

/// A function by its lines, counted from 1.
struct Function {
    name: String,
    first: usize,
    last: usize,
}

/// The functions of a text. Inner functions are listed as well.
fn functions(text: &str) -> Vec<Function> {
    let lines: Vec<&str> = text.lines().collect();
    let mut functions = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(name) = function_name(line.trim_start()) else { continue };
        let depth = indent(line);
        let body = lines[at + 1..].iter().take_while(|line| line.trim().is_empty() || indent(line) > depth);
        let body: Vec<&&str> = body.collect();
        let trailing = body.iter().rev().take_while(|line| line.trim().is_empty()).count();
        functions.push(Function { name: name.to_owned(), first: at + 1, last: at + 1 + body.len() - trailing });
    }
    functions
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The name of the function that begins with this line, in any of our languages.
fn function_name(line: &str) -> Option<&str> {
    const WORDS: [&str; 4] = ["fn", "def", "func", "function"];
    const CONTROL: [&str; 9] = ["if", "for", "while", "switch", "catch", "match", "return", "with", "elif"];
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let words = || line.split(|c: char| !is_name(c)).filter(|word| !word.is_empty());
    if words().any(|word| WORDS.contains(&word)) {
        // A Go method names its receiver first.
        let after = WORDS.iter().find_map(|word| line.split_once(&format!("{word} ")).map(|(_, after)| after))?;
        let after =
            if after.starts_with('(') { after.split_once(") ").map_or(after, |(_, after)| after) } else { after };
        return after.split(|c: char| !is_name(c)).next().filter(|name| !name.is_empty());
    }
    // A method of a JavaScript class.
    let (name, _) = line.split_once('(')?;
    let name = name.rsplit(' ').next().unwrap_or_default();
    let is_method = line.trim_end().ends_with('{') && !name.is_empty() && name.chars().all(is_name);
    (is_method && !CONTROL.contains(&name)).then_some(name)
}

fn hint(function: &Function, file: &File, added: &BTreeSet<usize>, removed: usize) -> Option<String> {
    let Function { name, first, last } = function;
    let (lines, new) = (last + 1 - first, added.range(*first..=*last).count());
    let place = format!("`{name}` (`{}:{first}`)", file.path);
    let is_old = !added.contains(first);
    if lines > LONG_FUNCTION && new >= GROWN_BY {
        return Some(format!("{place} has grown to {lines} lines: does it do more than one thing?"));
    }
    if is_old && removed >= REMOVED_LINES && lines >= REWRITTEN_LINES && new * 3 >= lines * 2 {
        return Some(format!("{place} was rewritten for the most part: does its name still fit?"));
    }
    None
}

/// Runs of lines that the last commit added and that stand elsewhere in production as well.
fn duplication(changed: &[&File], production: &[&File], added: &BTreeMap<&str, BTreeSet<usize>>) -> Vec<String> {
    let mut places: BTreeMap<Vec<&str>, Vec<(&str, usize)>> = BTreeMap::new();
    for file in production {
        for (line, window) in windows(&file.text) {
            places.entry(window).or_default().push((&file.path, line));
        }
    }
    let mut hints = Vec::new();
    let mut last_repeat: Option<(&str, usize)> = None;
    for file in changed {
        let Some(added) = added.get(file.path.as_str()) else { continue };
        for (line, window) in windows(&file.text).into_iter().filter(|(line, _)| added.contains(line)) {
            let other = places.get(&window).and_then(|places| {
                places.iter().find(|(path, at)| *path != file.path || at.abs_diff(line) >= REPEATED_LINES)
            });
            let is_continued =
                last_repeat.is_some_and(|(path, last)| path == file.path && line <= last + REPEATED_LINES);
            if let Some((path, at)) = other {
                if !is_continued {
                    hints.push(format!("`{}:{line}` repeats the lines at `{path}:{at}`", file.path));
                }
                last_repeat = Some((&file.path, line));
            }
        }
    }
    hints
}

/// Every run of [`REPEATED_LINES`] lines that are not blank, with the number of its first line.
fn windows(text: &str) -> Vec<(usize, Vec<&str>)> {
    let lines: Vec<(usize, &str)> =
        text.lines().enumerate().map(|(at, line)| (at + 1, line.trim())).filter(|(_, line)| !line.is_empty()).collect();
    let letters = |window: &[(usize, &str)]| -> usize {
        window.iter().map(|(_, line)| line.chars().filter(|c| c.is_alphanumeric()).count()).sum()
    };
    let telling = lines.windows(REPEATED_LINES).filter(|window| letters(window) >= REPEATED_LETTERS);
    telling.map(|window| (window[0].0, window.iter().map(|(_, line)| *line).collect())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> File {
        File { path: path.to_owned(), text: text.to_owned(), sort: Sort::Production, changed: true }
    }

    /// The diff of a commit that adds these lines of a file.
    fn adds(path: &str, text: &str, first: usize, last: usize) -> String {
        let added = text.lines().skip(first - 1).take(last + 1 - first).map(|line| format!("+{line}\n"));
        let count = last + 1 - first;
        format!("--- a/{path}\n+++ b/{path}\n@@ -{first},0 +{first},{count} @@\n{}", added.collect::<String>())
    }

    const TWICE: &str = "def first(text):\n    parts = text.split(',')\n    numbers = [int(part) for part in parts]\n    \
                         total = sum(numbers)\n    return total\n\n\ndef second(text):\n    parts = text.split(',')\n    \
                         numbers = [int(part) for part in parts]\n    total = sum(numbers)\n    return total\n";

    #[test]
    fn new_lines_that_stand_elsewhere_too_are_duplication() {
        let files = [file("a.py", TWICE)];
        let diff = adds("a.py", TWICE, 8, 12);
        assert_eq!(hints(&diff, &files), ["`a.py:9` repeats the lines at `a.py:2`"]);
        assert_eq!(hints("", &files), [""; 0], "old duplication is no news");
        let (short, other) = (&TWICE[..TWICE.find("\n\n\n").unwrap()], file("b.py", TWICE));
        let diff = adds("c.py", short, 1, 5);
        assert_eq!(hints(&diff, &[file("c.py", short), other])[0], "`c.py:1` repeats the lines at `b.py:1`");
    }

    #[test]
    fn a_long_function_that_grew_is_named_in_every_language() {
        let headers = [
            ("    pub fn total(&self) -> i64 {", "    }"),
            ("    def total(self):", ""),
            ("func (c *Calc) total() int {", "}"),
            ("    async total() {", "    }"),
            ("export function total() {", "}"),
        ];
        for (header, end) in headers {
            let body: String = (0..30).fold(String::new(), |body, n| body + &format!("        step_{n};\n"));
            let text = format!("{header}\n{body}{end}\n");
            let said = hints(&adds("a.x", &text, 10, 20), &[file("a.x", &text)]);
            assert_eq!(said, ["`total` (`a.x:1`) has grown to 31 lines: does it do more than one thing?"], "{header}");
            assert_eq!(hints(&adds("a.x", &text, 10, 12), &[file("a.x", &text)]), [""; 0], "{header}");
        }
    }

    #[test]
    fn an_old_function_that_was_rewritten_may_need_another_name() {
        let text = "fn sum(text: &str) -> i64 {\n    a();\n    b();\n    c();\n    d();\n    e();\n}\n";
        let rewrites = |removed: &str| hints(&(adds("a.rs", text, 2, 6) + removed), &[file("a.rs", text)]);
        let said = ["`sum` (`a.rs:1`) was rewritten for the most part: does its name still fit?"];
        assert_eq!(rewrites("-    x();\n-    y();\n-    z();\n"), said);
        assert_eq!(rewrites("-    todo!()\n"), [""; 0], "a stub was filled in");
        assert_eq!(hints(&adds("a.rs", text, 1, 6), &[file("a.rs", text)]), [""; 0], "a new function has a new name");
    }

    #[test]
    fn tests_and_small_changes_give_no_hint() {
        let of_tests = File { sort: Sort::Test, ..file("a.py", TWICE) };
        assert_eq!(hints(&adds("a.py", TWICE, 8, 12), &[of_tests]), [""; 0]);
        assert_eq!(hints(&adds("a.py", TWICE, 2, 2), &[file("a.py", &TWICE[..70])]), [""; 0]);
        assert_eq!(hints("@@ nonsense\n+\n+++ \n@@ -1 +99999999999999999999 @@\n+x\n", &[]), [""; 0]);
    }
}
