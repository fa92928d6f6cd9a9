//! What a commit message says of a change and of its evidence: facts that the machine saw.

use std::collections::BTreeMap;

use crate::change::{Change, ItemChange, ItemFate, TestChange};
use crate::judge::Ruling;
use crate::report::Report;

/// The kata's goal in one sentence: the first of its text that is no heading.
pub fn goal(kata: &str) -> &str {
    let plain = |line: &&str| !line.is_empty() && !line.starts_with(['#', '<', '`', '|', '-', '=', '!']);
    let line = kata.lines().map(str::trim).find(plain);
    let line =
        line.or_else(|| kata.lines().map(|line| line.trim_start_matches(['#', ' '])).find(|line| !line.is_empty()));
    let line = line.unwrap_or_default();
    line.find(". ").map_or(line, |end| &line[..=end])
}

/// What was done to each file, one line each.
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
        files.entry(&item.path).or_default().push(told(item));
    }
    for steering in &change.steering {
        files.entry(&steering.path).or_default().push(format!("changes {}", steering.what));
    }
    for path in change.documents.iter().chain(change.unreadable.iter().map(|unreadable| &unreadable.place.path)) {
        files.entry(path).or_default().push("changed".to_owned());
    }
    files.into_iter().map(|(path, what)| format!("{path}: {}", what.join(", "))).collect()
}

fn told(item: &ItemChange) -> String {
    let verb = match item.fate {
        ItemFate::Added => "adds",
        ItemFate::Removed => "removes",
        ItemFate::Changed => "changes",
    };
    format!("{verb} {}", item.item)
}

/// The part of an id that tells tests of one file apart.
fn name(id: &str) -> &str {
    id.split_once("::").map_or(id, |(_, name)| name)
}

/// What was run and seen.
pub fn verification(command: &str, report: &Report, ruling: &Ruling, check: Option<&str>) -> Vec<String> {
    let counts = report.counts();
    let mut seen = format!("`{command}`: {} passed, {} failed", counts.passed, counts.failed);
    if counts.skipped > 0 {
        seen += &format!(", {} skipped", counts.skipped);
    }
    for obstacle in report.obstacles() {
        seen += &format!("; `{}` could not be built ({})", obstacle.subject, obstacle.cause);
    }
    let mut lines = vec![seen];
    if let Ruling::Holds(holding) = ruling {
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
        let held = Ruling::Holds(Holding { test: None, cause: None, reason: "it holds".into() });
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
