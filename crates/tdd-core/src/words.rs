//! The parts of a commit message that come from the model: type, scope, summary and rationale.
//!
//! Nothing is sanitized here: `tdd_core::commit` turns any text into one header line and bullets.

use crate::commit::{CommitType, Header};
use crate::cycle::Phase;
use crate::test_id::TestId;

use crate::seam::StepResult;

/// The model's part of a commit message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    /// The type of the phase; a green may be a `fix`.
    pub kind: CommitType,
    /// What the change is about.
    pub scope: Option<String>,
    /// One line; never empty.
    pub summary: String,
    /// May be empty.
    pub rationale: String,
}

/// The sections of our own message format, which some models imitate.
const SECTIONS: [&str; 4] = ["context:", "rationale:", "diff summary:", "verification:"];

/// Takes the model's words for a commit of this phase. `commit_message` fills in what summary and rationale lack.
pub fn words(phase: Phase, result: &StepResult, target: Option<&TestId>) -> Words {
    let message = result.commit_message.replace("\r\n", "\n");
    let (of_summary, of_message) = (header(&result.summary), header(&message));
    let kind = of_message.kind.or(of_summary.kind);
    let summary = [of_summary.summary, of_message.summary].into_iter().find(|summary| !summary.is_empty());
    Words {
        kind: CommitType::of(phase, kind.as_deref()),
        scope: of_message.scope.or(of_summary.scope),
        summary: summary.unwrap_or_else(|| plain_summary(phase, target)),
        rationale: rationale(result, &message),
    }
}

/// A parsed header, or a line that is not a header.
#[derive(Default)]
struct Line {
    kind: Option<String>,
    scope: Option<String>,
    summary: String,
}

/// Parses the first non-blank line. Only known types make it a header: `Note: x` is a summary.
fn header(text: &str) -> Line {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let lowered =
        first.split_once(':').map(|(start, rest)| format!("{}: {}", start.trim().to_lowercase(), rest.trim()));
    let known = ["test", "feat", "fix", "refactor", "chore", "docs", "style", "perf"];
    match lowered.as_deref().map(Header::parse) {
        Some(Ok(header)) if known.contains(&header.kind.as_str()) => {
            Line { kind: Some(header.kind), scope: header.scope, summary: header.summary }
        }
        Some(_) | None => Line { summary: first.to_owned(), ..Line::default() },
    }
}

fn rationale(result: &StepResult, message: &str) -> String {
    let own = if result.rationale.trim().is_empty() { body(message) } else { result.rationale.trim().to_owned() };
    let source = result.spec_source.trim();
    let source = if source.is_empty() { String::new() } else { format!("the kata says: {source}") };
    let parts = [result.reason.trim(), source.as_str(), own.as_str()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

/// The body of a message: its rationale section, or else everything except sections and trailers.
fn body(message: &str) -> String {
    let lines: Vec<&str> =
        message.trim_start().lines().skip(1).map(str::trim).filter(|line| !line.is_empty()).collect();
    let is_section = |line: &&&str| SECTIONS.contains(&line.to_lowercase().as_str());
    let of_section = lines.iter().position(|line| line.eq_ignore_ascii_case("rationale:"));
    let kept: Vec<&str> = match of_section {
        Some(at) => lines[at + 1..].iter().take_while(|line| !is_section(line)).copied().collect(),
        None => lines.iter().filter(|line| !is_section(line)).copied().collect(),
    };
    kept.into_iter().filter(|line| !is_trailer(line)).collect::<Vec<_>>().join("\n")
}

/// Whether a line is a trailer such as `Signed-off-by: x`; the commit gets its own trailers.
fn is_trailer(line: &str) -> bool {
    line.split_once(": ").is_some_and(|(key, _)| {
        key.contains('-') && !key.starts_with('-') && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    })
}

fn plain_summary(phase: Phase, target: Option<&TestId>) -> String {
    let test = target.map_or("a test", |id| id.name().unwrap_or(id.as_str()));
    match phase {
        Phase::Red => format!("pin {test}"),
        Phase::Green => format!("make {test} pass"),
        Phase::Refactor => "improve the structure".to_owned(),
        Phase::RethinkTest => format!("revise {test}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(summary: &str, rationale: &str, commit_message: &str) -> StepResult {
        let [summary, rationale, commit_message] = [summary, rationale, commit_message].map(str::to_owned);
        StepResult { summary, rationale, commit_message, ..StepResult::default() }
    }

    fn check(phase: Phase, said: &StepResult, expected: (&str, Option<&str>, &str, &str)) {
        let words = words(phase, said, Some(&TestId::parse("tests/a.rs::adds").unwrap()));
        let found = (words.kind.name(), words.scope.as_deref(), words.summary.as_str(), words.rationale.as_str());
        assert_eq!(found, expected);
    }

    #[test]
    fn summary_and_rationale_come_first_and_the_message_gives_type_and_scope() {
        let said = said("add two numbers", "smallest step", "Fix(Calc): other words\n\nother reasons\n");
        check(Phase::Green, &said, ("fix", Some("calc"), "add two numbers", "smallest step"));
        check(Phase::Red, &said, ("test", Some("calc"), "add two numbers", "smallest step"));
    }

    #[test]
    fn what_they_lack_is_taken_from_the_message() {
        let message = "\r\nfeat: add numbers\r\n\r\nso it is\r\n\r\nSigned-off-by: me\r\nTDD-Step: 9\r\n";
        check(Phase::Green, &said("", "", message), ("feat", None, "add numbers", "so it is"));
        check(Phase::Green, &said("", "", "just words"), ("feat", None, "just words", ""));
        check(Phase::Green, &said("fix: off by one", "", ""), ("fix", None, "off by one", ""));
        check(Phase::Green, &said("Note: x", "", ""), ("feat", None, "Note: x", ""));
    }

    #[test]
    fn of_an_imitated_message_only_the_rationale_counts() {
        let message = "feat: x\n\nContext:\n- Role: King\n\nRationale:\n- because\n\nVerification:\n- all passed\n";
        check(Phase::Green, &said("", "", message), ("feat", None, "x", "- because"));
    }

    #[test]
    fn without_any_words_the_summary_is_ours() {
        check(Phase::Green, &StepResult::default(), ("feat", None, "make adds pass", ""));
        check(Phase::Red, &said(" \n", "", ""), ("test", None, "pin adds", ""));
    }

    #[test]
    fn a_rethink_gives_its_reason_and_its_source() {
        let said = StepResult { reason: "2 + 2 was 5".into(), spec_source: "adds".into(), ..said("s", "r", "") };
        check(Phase::RethinkTest, &said, ("test", None, "s", "2 + 2 was 5\nthe kata says: adds\nr"));
    }
}
