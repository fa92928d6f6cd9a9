//! The facts about a change and its evidence, for the commit message.

use std::collections::BTreeMap;

use crate::change::{Change, ItemChange, ItemFate, TestChange};
use crate::judge::Verdict;
use crate::report::Report;

/// The goal of a text in one sentence: the first sentence of its prose, or else its title.
pub fn goal(text: &str) -> String {
    let lines = prose(text);
    let start = lines.iter().position(|line| is_plain(line));
    let title = || lines.iter().find_map(|line| line.strip_prefix('#')).map(|line| line.trim_start_matches(['#', ' ']));
    let Some(start) = start else { return title().unwrap_or_default().to_owned() };
    let goes_on = |line: &&&str| is_plain(line) && !is_labelled(line);
    let rest = lines[start + 1..].iter().take_while(goes_on);
    let paragraph: Vec<&str> = lines[start..].iter().take(1).chain(rest).copied().collect();
    let text = paragraph.join(" ");
    let end = [". ", "! ", "? "].into_iter().filter_map(|end| text.find(end)).min();
    end.map_or(text.as_str(), |end| &text[..=end]).to_owned()
}

/// The lines of a text without front matter and fenced blocks.
fn prose(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.trim_start().lines().map(str::trim).collect();
    if lines.first() == Some(&"---")
        && let Some(end) = lines.iter().skip(1).position(|line| *line == "---")
    {
        lines.drain(..end + 2);
    }
    let mut in_block = false;
    lines.retain(|line| {
        let is_fence = line.starts_with("```") || line.starts_with("~~~");
        in_block ^= is_fence;
        !in_block && !is_fence
    });
    lines
}

/// Whether a line is prose: not a heading, list, table, tag, image, quotation, rule, or file reference (`@docs/a.md`).
fn is_plain(line: &str) -> bool {
    let behind_digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = behind_digits.len() < line.len() && behind_digits.starts_with(['.', ')']);
    !line.is_empty() && !is_numbered && !line.starts_with(['#', '<', '|', '-', '*', '+', '=', '!', '>', '@'])
}

/// Whether a line begins with a label, such as `Purpose: …`.
fn is_labelled(line: &str) -> bool {
    line.split_once(": ").is_some_and(|(label, _)| label.chars().all(char::is_alphanumeric))
}

/// What changed in each file, one line per file.
pub fn diff_summary(change: &Change) -> Vec<String> {
    let mut files: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for test in &change.tests {
        let (path, what) = match test {
            TestChange::Added(test) => (&test.path, format!("adds the test `{}`", name(test.id.as_str()))),
            TestChange::Removed(test) => (&test.path, format!("removes the test `{}`", name(test.id.as_str()))),
            TestChange::Moved { before, after } => {
                (&after.path, format!("`{}` becomes `{}`", name(before.id.as_str()), name(after.id.as_str())))
            }
            TestChange::Changed { after, .. } => {
                (&after.path, format!("changes the test `{}`", name(after.id.as_str())))
            }
        };
        files.entry(path).or_default().push(what);
    }
    for item in change.production.iter().chain(&change.support) {
        files.entry(&item.path).or_default().push(description(item));
    }
    for steering in &change.steering {
        files.entry(&steering.path).or_default().push(format!("changes {}", steering.what));
    }
    for path in change.documents.iter().chain(change.unreadable.iter().map(|unreadable| &unreadable.place.path)) {
        files.entry(path).or_default().push("changed".to_owned());
    }
    files.into_iter().map(|(path, what)| format!("{path}: {}", what.join(", "))).collect()
}

fn description(item: &ItemChange) -> String {
    let verb = match item.fate {
        ItemFate::Added => "adds",
        ItemFate::Removed => "removes",
        ItemFate::Changed => "changes",
    };
    format!("{verb} {}", item.item)
}

/// The name within the file.
fn name(id: &str) -> &str {
    id.split_once("::").map_or(id, |(_, name)| name)
}

/// What was run, with its results.
pub fn verification(command: &str, report: &Report, verdict: &Verdict, check: Option<&str>) -> Vec<String> {
    let counts = report.counts();
    let mut seen = format!("`{command}`: {} passed, {} failed", counts.passed, counts.failed);
    if counts.skipped > 0 {
        seen += &format!(", {} skipped", counts.skipped);
    }
    for obstacle in report.obstacles() {
        seen += &format!("; `{}` could not be built ({})", obstacle.subject, obstacle.cause);
    }
    let mut lines = vec![seen];
    if let Verdict::Holds(holding) = verdict {
        lines.push(holding.reason.clone());
    }
    lines.extend(check.map(|command| format!("`{command}`: passed")));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::SteeringChange;
    use crate::judge::Holding;
    use crate::report::{Cause, Obstacle, Outcome, TestResult};
    use crate::test_id::TestId;

    #[test]
    fn the_goal_is_the_first_sentence_that_is_no_heading() {
        assert_eq!(goal("# Kata\n\nAdd numbers. Then more.\n"), "Add numbers.");
        assert_eq!(goal("---\ntitle: x\n---\n```\nlet x;\n```\n`add` adds\nall numbers.\n"), "`add` adds all numbers.");
        assert_eq!(goal("# Kata\n\n@docs/a.md\n1. One\n- two\n<a>\nWhy not? Because.\n"), "Why not?");
        assert_eq!(goal("Add numbers\nPurpose: none.\n"), "Add numbers");
        assert_eq!(goal("# Only a title"), "Only a title");
        assert_eq!(goal(""), "");
    }

    #[test]
    fn each_file_is_told_once() {
        let item = |item: &str, fate| ItemChange { path: "src/lib.rs".into(), item: item.into(), line: 1, fate };
        let change = Change {
            production: vec![item("fn `add`", ItemFate::Added), item("fn `sub`", ItemFate::Changed)],
            steering: vec![SteeringChange { path: "Cargo.toml".into(), what: "`dependencies.x`".into(), free: true }],
            ..Change::default()
        };
        assert_eq!(
            diff_summary(&change),
            ["Cargo.toml: changes `dependencies.x`", "src/lib.rs: adds fn `add`, changes fn `sub`"]
        );
    }

    #[test]
    fn what_was_seen_is_counted() {
        let result = TestResult::new(TestId::native("tests/a.rs", "adds"), Outcome::Pass, 1);
        let report = Report::new([result], vec![Obstacle::new("tests/b.rs", Cause::MissingSymbol, "")]);
        let held = Verdict::Holds(Holding { test: None, cause: None, reason: "it holds".into() });
        assert_eq!(
            verification("cargo test", &report, &held, Some("cargo clippy")),
            [
                "`cargo test`: 1 passed, 0 failed; `tests/b.rs` could not be built (missing-symbol)",
                "it holds",
                "`cargo clippy`: passed"
            ]
        );
    }
}
