//! The page of a program: its state as Markdown for people. A model's text cannot forge a line of it.

use jiff::Timestamp;

use super::harness::{Entry, Harness, Range};
use super::iteration::{Past, Range as PastRange};
use super::sections::Kept;
use super::state::State;

const NONE: &str = "—";

/// Writes the page of a state. `target` is the metric at which the program is done.
pub fn write(state: &State, target: Option<f64>) -> String {
    let name = state.program();
    let mut text = format!("# Autoloop: {name}\n\n");
    text += &format!(
        "*Written from `{name}.json` after every iteration. You may edit `Paused` in the table and the text under \
         Current Priorities. Everything else is overwritten.*\n"
    );
    text += &machine_state(state, target);
    text += &format!("\n## 🎯 Current Priorities\n\n{}\n", or(state.priorities().trim(), "*None.*"));
    text += &harness(state);
    text += &lessons(state);
    text += &history(state);
    for kept in state.kept() {
        text += &format!("\n## {}\n\n{}\n", line(&kept.title), kept.text);
    }
    text
}

fn machine_state(state: &State, target: Option<f64>) -> String {
    let number = |value: Option<f64>| value.map_or_else(|| NONE.to_owned(), |value| value.to_string());
    let rows = [
        ("Last Run", state.last_run_ms().map_or_else(|| NONE.to_owned(), time)),
        ("Iteration Count", state.iterations().to_string()),
        ("Best Metric", number(state.metric().best())),
        ("Metric Direction", state.metric().direction().word().to_owned()),
        ("Target Metric", number(target)),
        ("Paused", state.pause().is_some().to_string()),
        ("Pause Reason", state.pause().map_or(NONE, |pause| &pause.reason).to_owned()),
        ("Completed", state.completed().is_some().to_string()),
        ("Completed Reason", state.completed().unwrap_or(NONE).to_owned()),
        ("Pending Commit", state.pending().map_or(NONE, |pending| pending.commit.0.as_str()).to_owned()),
        ("Consecutive Errors", state.consecutive_errors().to_string()),
        ("Recent Statuses", or(&state.recent().join(", "), NONE).to_owned()),
    ];
    let mut text = "\n## ⚙️ Machine State\n\n| Field | Value |\n| --- | --- |\n".to_owned();
    for (field, value) in rows {
        text += &format!("| {field} | {} |\n", line(&value).replace('|', "\\|"));
    }
    text
}

fn harness(state: &State) -> String {
    let mut text = "\n## ✅ Test Harness\n\n".to_owned();
    let Harness { entries, folded, kept } = state.harness();
    if entries.is_empty() && folded.is_empty() && kept.is_empty() {
        return text + "*No behaviour is pinned yet.*\n";
    }
    text += "> One entry for each pinned behaviour, newest first.\n";
    text += &entries.iter().map(entry).collect::<String>();
    text += &folded.iter().map(range).collect::<String>();
    text + &kept.iter().map(kept_block).collect::<String>()
}

/// Another tool's text below a `###` heading.
fn kept_block(kept: &Kept) -> String {
    let Kept { title, text } = kept;
    let text = if text.is_empty() { String::new() } else { format!("\n{text}\n") };
    format!("\n### {}\n{text}", line(title))
}

fn entry(entry: &Entry) -> String {
    let mut text = format!("\n### {}  ·  gen {}\n\n", line(entry.name()), entry.added);
    text += &format!("- **Status**: {}\n", entry.status.shown());
    text += &format!("- **Target**: {}\n", or(&line(&entry.target), NONE));
    text += &format!("- **Spec source**: {}\n", or(&line(&entry.spec_source), NONE));
    text += &format!("- **Added iteration**: {}\n", entry.added);
    if let Some(iteration) = entry.made_green {
        text += &format!("- **Made green iteration**: {iteration}\n");
    }
    if let Some(reason) = &entry.blocked_reason {
        text += &format!("- **Blocked reason**: {}\n", line(reason));
    }
    text + &format!("- **Notes**: {}\n", or(&line(&entry.notes), NONE))
}

fn range(range: &Range) -> String {
    let Range { first, last, tests, targets } = range;
    let targets: Vec<String> = targets.iter().map(|target| line(target)).collect();
    format!("\n### Tests of iterations {first}–{last} — ✅ passing ({tests} tests): {}\n", targets.join(", "))
}

fn lessons(state: &State) -> String {
    let mut text = "\n## 📚 Lessons Learned\n\n".to_owned();
    for lesson in state.lessons().iter().rev() {
        text += &format!("- {}\n", line(lesson));
    }
    if state.lessons().is_empty() { text + "*None yet.*\n" } else { text }
}

fn history(state: &State) -> String {
    let mut text = "\n## 📊 Iteration History\n".to_owned();
    text += &state.history().entries.iter().map(past).collect::<String>();
    text += &state.history().folded.iter().map(past_range).collect::<String>();
    text += &state.history().kept.iter().map(kept_block).collect::<String>();
    if state.iterations() == 0 { text + "\n*None yet.*\n" } else { text }
}

fn past(past: &Past) -> String {
    let Past { number, overview } = past;
    let mut text = format!("\n### Iteration {number} — {}\n\n", time(overview.at_ms));
    text += &format!("- **Status**: {}\n", overview.outcome.shown());
    text += &format!("- **phase**: {}\n", overview.phase);
    text += &format!("- **target**: {}\n", or(&line(&overview.target), NONE));
    text += &format!("- **new_tests**: {}\n", overview.new_tests);
    text += &format!("- **existing_tests_status**: {}\n", overview.existing_tests_status.word());
    if let Some(metric) = overview.metric {
        text += &format!("- **Metric**: {metric}\n");
    }
    if let Some(commit) = &overview.commit {
        text += &format!("- **Commit**: {}\n", line(&commit.0));
    }
    text + &format!("- **Notes**: {}\n", or(&line(&overview.summary), NONE))
}

fn past_range(range: &PastRange) -> String {
    let PastRange { first, last, accepted, new_tests } = range;
    format!("\n### Iterations {first}–{last} — {accepted} accepted, {new_tests} new tests\n")
}

/// A time in UTC, readable for people and scripts.
pub fn time(ms: u64) -> String {
    let stamp = i64::try_from(ms / 1000).ok().and_then(|seconds| Timestamp::from_second(seconds).ok());
    stamp.map_or_else(|| NONE.to_owned(), |stamp| stamp.to_string())
}

/// A text as one line, so that a model's text cannot begin a heading, a row or an item.
fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn or<'a>(text: &'a str, other: &'a str) -> &'a str {
    if text.is_empty() { other } else { text }
}

#[cfg(test)]
mod tests {
    use super::super::harness::{Sighting, Status};
    use super::super::iteration::{Iteration, Outcome, Overview};
    use super::super::state::{Happened, Who};
    use super::*;
    use crate::digest::CommitId;

    /// A state with a value in every part.
    fn full() -> State {
        let mut state = State::new("port");
        let mut tell = |happened: Happened| state.apply(&happened);
        tell(Happened::Measured { at_ms: 0, metric: 0.0 });
        tell(Happened::Prioritised { text: "Tens first.\n- then hundreds".to_owned() });
        for n in 1..=4_u32 {
            let outcome = if n == 4 { Outcome::Blocked } else { Outcome::Accepted };
            let status = if n == 4 { Status::Blocked } else { Status::Passing };
            let overview = Overview {
                at_ms: 1_700_000_000_000 + u64::from(n) * 3_600_000,
                metric: (n < 4).then(|| f64::from(n)),
                commit: Some(CommitId(format!("abc{n}"))),
                ..Overview::sample(&n.to_string(), outcome)
            };
            let spec_source = "reference/roman.py".to_owned();
            let notes = "It pins\n## ⚙️ Machine State\n| Paused | false |".to_owned();
            let iteration = Iteration {
                tests: vec![Sighting { spec_source, notes, ..Sighting::sample(&format!("t{n}"), status) }],
                lessons: vec![format!("Lesson {n}.")],
                ..Iteration::from(overview)
            };
            tell(Happened::Iterated { iteration: Box::new(iteration), against: None });
        }
        tell(Happened::Paused { at_ms: 0, by: Who::Machine, reason: "td-stuck: a|b".to_owned() });
        state.fold(3);
        state
    }

    #[test]
    fn a_page_stands_on_its_own() {
        insta::assert_snapshot!(write(&full(), Some(10.0)));
    }

    #[test]
    fn a_page_of_a_program_that_has_never_run_says_so() {
        insta::assert_snapshot!(write(&State::new("port"), None));
    }

    #[test]
    fn what_a_model_wrote_forges_no_line() {
        let page = write(&full(), None);
        assert_eq!(page.matches("\n## ").count(), 5, "{page}");
        assert_eq!(page.lines().filter(|line| line.starts_with("| Paused |")).count(), 1);
    }
}
