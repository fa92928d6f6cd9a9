//! Reads a page: another tool's, to import it as the first state; or our own, to find a person's changes.

use jiff::Timestamp;

use super::harness::{self, Entry, Harness, Status};
use super::iteration::{ExistingTests, History, Outcome, Overview, Past};
use super::metric::Direction;
use super::sections::{self, Kept, Section};
use super::state::{Happened, Pause, Remembered, State, Who};
use crate::cycle::Phase;
use crate::digest::CommitId;

/// The sections that we write ourselves, and one that repeats the program.
const OURS: [&str; 6] =
    ["Machine State", "Program Info", "Current Priorities", "Test Harness", "Lessons Learned", "Iteration History"];

/// Reads another tool's page, for a program whose metric is better in this direction.
pub fn read(page: &str, direction: Direction, now_ms: u64) -> Remembered {
    let sections = sections::sections(page);
    let lines = |title: &str| sections::named(&sections, &[title]).map_or(&[][..], |section| section.lines.as_slice());
    let table = Table(lines("Machine State"));
    let number = |field: &str| table.get(field).and_then(|value| value.parse().ok()).unwrap_or_default();
    Remembered {
        iterations: number("Iteration Count"),
        last_run_ms: table.get("Last Run").and_then(|text| millis(&text)),
        best: table.get("Best Metric").and_then(|text| text.parse().ok()).filter(|best: &f64| best.is_finite()),
        direction,
        pause: table.pause(now_ms),
        completed: table.is("Completed").then(|| table.get("Completed Reason").unwrap_or_default()),
        consecutive_errors: number("Consecutive Errors"),
        priorities: priorities(&sections),
        harness: harness(lines("Test Harness")),
        history: history(lines("Iteration History")),
        lessons: items(lines("Lessons Learned")).rev().collect(),
        kept: kept(&sections),
    }
}

/// What a person changed in our page: the pause and the priorities.
pub fn edits(page: &str, state: &State, now_ms: u64) -> Vec<Happened> {
    let sections = sections::sections(page);
    let Some(section) = sections::named(&sections, &["Machine State"]) else { return Vec::new() };
    let table = Table(&section.lines);
    let mut happened = Vec::new();
    match (table.pause(now_ms), state.pause()) {
        (Some(Pause { reason, .. }), None) => {
            happened.push(Happened::Paused { at_ms: now_ms, by: Who::Person, reason });
        }
        (None, Some(_)) if table.get("Paused").is_some() => {
            happened.push(Happened::Resumed { at_ms: now_ms, by: Who::Person });
        }
        (None, _) | (Some(_), Some(_)) => {}
    }
    let text = priorities(&sections);
    if text != state.priorities().trim() {
        happened.push(Happened::Prioritised { text });
    }
    happened
}

/// A table with the rows `| Field | Value |`.
struct Table<'a>(&'a [&'a str]);

impl Table<'_> {
    fn get(&self, field: &str) -> Option<String> {
        let value = self.0.iter().find_map(|line| {
            let row = line.trim().strip_prefix('|')?.strip_suffix('|')?;
            let (name, value) = row.split_once('|')?;
            (name.trim().trim_matches('*').eq_ignore_ascii_case(field)).then(|| value.trim())
        })?;
        let value = value.trim_matches('`').replace("\\|", "|");
        (!matches!(value.as_str(), "" | "-" | "—")).then_some(value)
    }

    fn is(&self, field: &str) -> bool {
        self.get(field).is_some_and(|value| value.eq_ignore_ascii_case("true"))
    }

    fn pause(&self, now_ms: u64) -> Option<Pause> {
        let reason = || self.get("Pause Reason").unwrap_or_else(|| "paused by a person".to_owned());
        self.is("Paused").then(|| Pause { since_ms: now_ms, by: Who::Person, reason: reason() })
    }
}

/// A person's priorities, without comments and placeholders.
fn priorities(all: &[Section<'_>]) -> String {
    let Some(section) = sections::named(all, &["Current Priorities"]) else { return String::new() };
    let is_content = |line: &&&str| {
        let line = line.trim();
        let nothing = line.starts_with('*') && line.ends_with('*') && !line.starts_with("* ");
        !(line.starts_with("<!--") || line == "---" || nothing)
    };
    section.lines.iter().filter(is_content).copied().collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// The sections that do not fit into our state.
fn kept(all: &[Section<'_>]) -> Vec<Kept> {
    let ours = |section: &&Section<'_>| sections::named(std::slice::from_ref(*section), &OURS).is_none();
    let kept = all.iter().filter(ours).map(|section| Kept::of(section.title, &section.lines));
    kept.filter(|kept| !kept.text.is_empty()).collect()
}

/// The items of a list, one per line.
fn items<'a>(lines: &'a [&'a str]) -> impl DoubleEndedIterator<Item = String> + 'a {
    let item = |line: &'a str| ["- ", "* "].into_iter().find_map(|mark| line.strip_prefix(mark));
    lines.iter().copied().filter_map(item).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// Blocks that begin with `### `, as heading and lines.
fn blocks<'a>(lines: &'a [&'a str]) -> Vec<(&'a str, &'a [&'a str])> {
    let starts: Vec<usize> = (0..lines.len()).filter(|at| lines[*at].starts_with("### ")).collect();
    let ends = starts.iter().skip(1).copied().chain([lines.len()]);
    starts.iter().zip(ends).map(|(start, end)| (lines[*start][4..].trim(), &lines[start + 1..end])).collect()
}

/// The value of `- **Name**: value` in the lines of a block.
fn field(lines: &[&str], name: &str) -> Option<String> {
    let value = lines.iter().find_map(|line| {
        let (found, value) = line.trim().strip_prefix("- **")?.split_once("**:")?;
        found.trim().replace(' ', "_").eq_ignore_ascii_case(&name.replace(' ', "_")).then(|| value.trim())
    })?;
    (!matches!(value, "" | "-" | "—")).then(|| value.to_owned())
}

fn count(lines: &[&str], name: &str) -> Option<u32> {
    let text = field(lines, name)?;
    text.split(|c: char| !c.is_ascii_digit()).find(|digits| !digits.is_empty())?.parse().ok()
}

/// The blocks that can be read, and the others as they are.
fn read_blocks<T>(lines: &[&str], read: fn(&str, &[&str]) -> Option<T>) -> (Vec<T>, Vec<Kept>) {
    let (mut found, mut kept) = (Vec::new(), Vec::new());
    for (title, lines) in blocks(lines) {
        match read(title, lines) {
            Some(block) => found.push(block),
            None => kept.push(Kept::of(title, lines)),
        }
    }
    (found, kept)
}

fn harness(lines: &[&str]) -> Harness {
    let (entries, kept) = read_blocks(lines, entry);
    Harness { entries, folded: Vec::new(), kept }
}

fn entry(title: &str, lines: &[&str]) -> Option<Entry> {
    let (name, generation) = title.split_once('·').unwrap_or((title, ""));
    let generation = generation.trim().trim_start_matches("gen").trim().parse().ok();
    let (name, title_status) = with_status(name.trim());
    let status = field(lines, "Status").and_then(|text| status(&text)).or(title_status)?;
    Some(Entry {
        test: harness::bare(name.trim_matches('`')),
        status,
        target: field(lines, "Target").unwrap_or_default(),
        spec_source: field(lines, "Spec source").unwrap_or_default(),
        added: count(lines, "Added iteration").or(generation).unwrap_or_default(),
        made_green: count(lines, "Made green iteration"),
        blocked_reason: field(lines, "Blocked reason"),
        notes: field(lines, "Notes").unwrap_or_default(),
    })
}

/// Splits a heading that ends with a status: `two_is_ii ❌ failing`. A word that is part of the name stays in it.
fn with_status(heading: &str) -> (&str, Option<Status>) {
    let signs = |c: char| c.is_whitespace() || matches!(c, '✅' | '❌' | '🚧' | '—' | '–' | '-' | ':' | '(' | ')');
    let bare = heading.trim_end_matches(')');
    let word = bare.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    let before = &bare[..bare.len() - word.len()];
    let name = before.trim_end_matches(signs);
    let between = &before[name.len()..];
    let is_apart = between.starts_with(char::is_whitespace) && !between.trim().is_empty();
    match status(word).filter(|status| word.eq_ignore_ascii_case(status.word())) {
        Some(status) if is_apart && !name.is_empty() => (name, Some(status)),
        Some(_) | None => (heading, None),
    }
}

fn status(text: &str) -> Option<Status> {
    let text = text.to_lowercase();
    [Status::Passing, Status::Failing, Status::Blocked].into_iter().find(|status| text.contains(status.word()))
}

fn history(lines: &[&str]) -> History {
    let (entries, kept) = read_blocks(lines, past);
    History { entries, folded: Vec::new(), kept }
}

fn past(title: &str, lines: &[&str]) -> Option<Past> {
    let rest = title.strip_prefix("Iteration ")?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let number = rest[..end].parse().ok()?;
    let phase = field(lines, "phase").and_then(|word| Phase::ALL.into_iter().find(|phase| phase.name() == word));
    let fixed = field(lines, "existing_tests_status").is_some_and(|word| word.starts_with("regression"));
    let summary = ["Notes", "Change", "Result"].into_iter().find_map(|name| field(lines, name));
    let metric = field(lines, "Metric").unwrap_or_default();
    let existing = if fixed { ExistingTests::RegressionIntroducedAndFixed } else { ExistingTests::AllGreen };
    let overview = Overview {
        id: format!("imported-{number}"),
        at_ms: millis(&rest[end..]).unwrap_or_default(),
        outcome: outcome(&field(lines, "Status").unwrap_or_default()),
        phase: phase.unwrap_or(Phase::Green),
        target: field(lines, "target").unwrap_or_default(),
        new_tests: count(lines, "new_tests").unwrap_or_default(),
        existing_tests_status: existing,
        metric: metric.split_whitespace().next().and_then(|word| word.parse().ok()),
        commit: field(lines, "Commit").map(CommitId),
        summary: summary.unwrap_or_default(),
    };
    Some(Past { number, overview })
}

/// Maps another tool's word for an outcome.
fn outcome(text: &str) -> Outcome {
    let text = text.to_lowercase();
    if text.contains("accepted") || text.contains('✅') {
        Outcome::Accepted
    } else if text.contains("pending") {
        Outcome::Pending
    } else if text.contains("blocked") {
        Outcome::Blocked
    } else if text.contains("reject") || text.contains("discard") || text.contains('❌') {
        Outcome::Discarded
    } else {
        Outcome::Error
    }
}

/// The first timestamp in a text: `2025-01-15T12:00:00Z` or `2025-01-15 12:00 UTC`.
fn millis(text: &str) -> Option<u64> {
    let start = text.find("20")?;
    let text: String = text[start..].chars().take_while(|c| c.is_ascii_digit() || "-:TZ. ".contains(*c)).collect();
    let text = text.trim().trim_end_matches('Z').replace('T', " ");
    let (date, clock) = text.split_once(' ').unwrap_or((&text, "00:00"));
    let seconds = if clock.matches(':').count() == 1 { ":00" } else { "" };
    let stamp: Timestamp = format!("{date}T{}{seconds}Z", clock.trim()).parse().ok()?;
    u64::try_from(stamp.as_millisecond()).ok()
}

#[cfg(test)]
#[path = "import_tests.rs"]
mod tests;
