//! Every kind of event, and the ledger line that carries one.
//!
//! A line is `{"v":1,"seq":N,"ts":ms,"prev":"…","type":"…",…}` with its keys in exactly this order, so that the chain
//! can be checked without parsing the events.

mod person;
mod program;
mod results;
#[cfg(test)]
pub(crate) mod samples;
mod step;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::test_id::TestId;

pub use person::{Override, PersonEdit, PersonFate, RefactorBegin, RefactorEnd, Resumed, Retired};
pub use program::{IterationEnd, IterationJudged, IterationStart};
pub use results::{InTheWay, Status, SuiteRun, TestRun};
pub use step::{
    Blocked, Committed, EditApplied, EditClaim, EditRefused, GreenOnArrival, LlmCall, Paused, PlanSubmitted,
    PlannedStep, Repair, Resynced, Reverted, RunEnd, RunStart, StepEnd, StepOutcome, StepStart, Stuck, TestRenamed,
    TestRevised, TestUpheld,
};

/// The version of the line format that we write, and the newest that we read.
pub const VERSION: u32 = 1;

/// Everything that the ledger can record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// A test was run, and its result differs from the last known one.
    TestRun(TestRun),
    /// All tests were run. Every result known before still holds on `tree`, unless the test vanished.
    SuiteRun(SuiteRun),
    /// `tdd-cli` made a commit.
    Committed(Committed),
    /// A run begins.
    RunStart(RunStart),
    /// A run ends.
    RunEnd(RunEnd),
    /// A role begins its turn.
    StepStart(StepStart),
    /// A role ends its turn.
    StepEnd(StepEnd),
    /// A model submitted its plan.
    PlanSubmitted(PlanSubmitted),
    /// A production change claims its red test.
    EditClaim(EditClaim),
    /// Edits passed the gate and are about to be written.
    EditApplied(EditApplied),
    /// The gate refused edits; nothing was written.
    EditRefused(EditRefused),
    /// An attempt failed and was undone.
    Reverted(Reverted),
    /// The second attempt at a green failed.
    Repair(Repair),
    /// The same failure occurred more than twice.
    Stuck(Stuck),
    /// A doubted test was revised, or withdrawn.
    TestRevised(TestRevised),
    /// A doubted test stays as it is.
    TestUpheld(TestUpheld),
    /// A test has a new id.
    TestRenamed(TestRenamed),
    /// A new test passed at once.
    GreenOnArrival(GreenOnArrival),
    /// All attempts at a test are used up.
    Blocked(Blocked),
    /// The run is paused until a person resumes it.
    Paused(Paused),
    /// A person resumed the run.
    Resumed(Resumed),
    /// The commits and the ledger disagreed.
    Resynced(Resynced),
    /// A model answered.
    LlmCall(LlmCall),
    /// A person made an exception from a rule.
    Override(Override),
    /// Refactor mode is on.
    RefactorBegin(RefactorBegin),
    /// Refactor mode is over.
    RefactorEnd(RefactorEnd),
    /// A person's change to one test is about to be made.
    PersonEdit(PersonEdit),
    /// A test is removed with its feature.
    Retired(Retired),
    /// An iteration of a program begins.
    IterationStart(IterationStart),
    /// An iteration was decided on, and the decision is about to be carried out.
    IterationJudged(IterationJudged),
    /// An iteration of a program is over.
    IterationEnd(IterationEnd),
    /// The last line of the ledger was torn and has been cut off.
    LedgerRepaired(LedgerRepaired),
}

/// A torn last line that was cut off: its writer was killed, or the disk was full.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerRepaired {
    /// How many bytes were cut off.
    pub dropped_bytes: u64,
    /// The beginning of what was cut off.
    pub dropped: String,
}

impl Event {
    /// The names of all events, as used in `type`.
    pub const TYPES: [&'static str; 32] = [
        "test_run",
        "suite_run",
        "committed",
        "run_start",
        "run_end",
        "step_start",
        "step_end",
        "plan_submitted",
        "edit_claim",
        "edit_applied",
        "edit_refused",
        "reverted",
        "repair",
        "stuck",
        "test_revised",
        "test_upheld",
        "test_renamed",
        "green_on_arrival",
        "blocked",
        "paused",
        "resumed",
        "resynced",
        "llm_call",
        "override",
        "refactor_begin",
        "refactor_end",
        "person_edit",
        "retired",
        "iteration_start",
        "iteration_judged",
        "iteration_end",
        "ledger_repaired",
    ];

    /// The name of this event, as used in `type`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::TestRun(_) => "test_run",
            Self::SuiteRun(_) => "suite_run",
            Self::Committed(_) => "committed",
            Self::RunStart(_) => "run_start",
            Self::RunEnd(_) => "run_end",
            Self::StepStart(_) => "step_start",
            Self::StepEnd(_) => "step_end",
            Self::PlanSubmitted(_) => "plan_submitted",
            Self::EditClaim(_) => "edit_claim",
            Self::EditApplied(_) => "edit_applied",
            Self::EditRefused(_) => "edit_refused",
            Self::Reverted(_) => "reverted",
            Self::Repair(_) => "repair",
            Self::Stuck(_) => "stuck",
            Self::TestRevised(_) => "test_revised",
            Self::TestUpheld(_) => "test_upheld",
            Self::TestRenamed(_) => "test_renamed",
            Self::GreenOnArrival(_) => "green_on_arrival",
            Self::Blocked(_) => "blocked",
            Self::Paused(_) => "paused",
            Self::Resumed(_) => "resumed",
            Self::Resynced(_) => "resynced",
            Self::LlmCall(_) => "llm_call",
            Self::Override(_) => "override",
            Self::RefactorBegin(_) => "refactor_begin",
            Self::RefactorEnd(_) => "refactor_end",
            Self::PersonEdit(_) => "person_edit",
            Self::Retired(_) => "retired",
            Self::IterationStart(_) => "iteration_start",
            Self::IterationJudged(_) => "iteration_judged",
            Self::IterationEnd(_) => "iteration_end",
            Self::LedgerRepaired(_) => "ledger_repaired",
        }
    }

    /// Whether no later action depends on this event being on disk. It is synced with the next event on which one
    /// depends.
    pub fn allows_nothing(&self) -> bool {
        matches!(
            self,
            Self::Committed(_) | Self::StepStart(_) | Self::StepEnd(_) | Self::PlanSubmitted(_) | Self::LlmCall(_)
        )
    }

    /// The test that this event is about, if it is about one.
    pub fn test_id(&self) -> Option<&TestId> {
        match self {
            Self::TestRun(it) => Some(&it.test_id),
            Self::EditClaim(it) => Some(&it.test_id),
            Self::Repair(it) => Some(&it.test_id),
            Self::TestRevised(it) => Some(&it.test_id),
            Self::TestUpheld(it) => Some(&it.test_id),
            Self::TestRenamed(it) => Some(&it.test_id),
            Self::GreenOnArrival(it) => Some(&it.test_id),
            Self::Blocked(it) => Some(&it.test_id),
            Self::PersonEdit(it) => Some(&it.test_id),
            Self::Retired(it) => Some(&it.test_id),
            Self::Resumed(it) => it.skipped.as_ref().or(it.unblocked.as_ref()),
            Self::SuiteRun(_)
            | Self::Committed(_)
            | Self::RunStart(_)
            | Self::RunEnd(_)
            | Self::StepStart(_)
            | Self::StepEnd(_)
            | Self::PlanSubmitted(_)
            | Self::EditApplied(_)
            | Self::EditRefused(_)
            | Self::Reverted(_)
            | Self::Stuck(_)
            | Self::Paused(_)
            | Self::Resynced(_)
            | Self::LlmCall(_)
            | Self::Override(_)
            | Self::RefactorBegin(_)
            | Self::RefactorEnd(_)
            | Self::IterationStart(_)
            | Self::IterationJudged(_)
            | Self::IterationEnd(_)
            | Self::LedgerRepaired(_) => None,
        }
    }
}

/// The fields that every line begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// Its place in the ledger, from 1, without gaps.
    pub seq: u64,
    /// When it was written, in milliseconds since 1970.
    pub ts: u64,
    /// Digest of the line before it; zeros for the first.
    pub prev: Digest,
}

/// One line of the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The fields that every line begins with.
    pub head: Head,
    /// What happened.
    pub event: Event,
}

/// Why a line cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    /// A newer version of `tdd-cli` wrote it.
    #[error("it has version {0}, this program reads up to {VERSION}")]
    Newer(u64),
    /// It does not begin with the fields of every line.
    #[error("it is not a ledger line")]
    Malformed,
    /// Its event is unknown or lacks a field.
    #[error("its event cannot be read: {0}")]
    Event(String),
}

impl Record {
    /// The line, without a newline.
    pub fn line(head: &Head, event: &Event) -> String {
        // Events hold only strings, numbers and lists, so serialization cannot fail.
        let body = serde_json::to_string(event).unwrap_or_else(|error| unreachable!("{error}"));
        let rest = body.strip_prefix('{').unwrap_or(&body);
        format!(r#"{{"v":{VERSION},"seq":{},"ts":{},"prev":"{}",{rest}"#, head.seq, head.ts, head.prev)
    }

    /// Reads a line.
    pub fn parse(line: &[u8]) -> Result<Self, LineError> {
        let (head, _) = Head::split(line)?;
        let event = serde_json::from_slice(line).map_err(|error| LineError::Event(error.to_string()))?;
        Ok(Self { head, event })
    }
}

impl Head {
    /// Reads the first fields of a line, and returns the rest, from `"type"` on.
    pub fn split(line: &[u8]) -> Result<(Self, &[u8]), LineError> {
        Self::try_split(line).ok_or_else(|| newer_version(line).map_or(LineError::Malformed, LineError::Newer))
    }

    fn try_split(line: &[u8]) -> Option<(Self, &[u8])> {
        let rest = line.strip_prefix(b"{\"v\":1,\"seq\":")?;
        let (seq, rest) = number(rest)?;
        let (ts, rest) = number(rest.strip_prefix(b",\"ts\":")?)?;
        let (prev, rest) = Digest::split_hex(rest.strip_prefix(b",\"prev\":\"")?)?;
        let rest = rest.strip_prefix(b"\",")?;
        (rest.starts_with(b"\"type\":\"") && line.ends_with(b"}")).then_some((Self { seq, ts, prev }, rest))
    }
}

fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, rest) = bytes.split_at_checked(digits)?;
    Some((std::str::from_utf8(number).ok()?.parse().ok()?, rest))
}

/// The version of a line, if a newer version of `tdd-cli` wrote it. Such a line may have another layout.
fn newer_version(line: &[u8]) -> Option<u64> {
    #[derive(Deserialize)]
    struct Versioned {
        v: u64,
    }
    let Versioned { v } = serde_json::from_slice(line).ok()?;
    (v > u64::from(VERSION)).then_some(v)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(seq: u64) -> Head {
        Head { seq, ts: 1_763_000_000_000, prev: Digest::of("line before") }
    }

    #[test]
    fn the_json_of_every_event_is_pinned() {
        let events = samples::one_of_each();
        let names: Vec<_> = events.iter().map(Event::name).collect();
        assert_eq!(names, Event::TYPES);
        let lines: Vec<_> = events.iter().zip(1..).map(|(event, seq)| Record::line(&head(seq), event)).collect();
        insta::assert_snapshot!(lines.join("\n"));
    }

    #[test]
    fn only_what_tells_of_the_past_allows_nothing() {
        let events = samples::one_of_each();
        let names: Vec<_> = events.iter().filter(|event| event.allows_nothing()).map(Event::name).collect();
        assert_eq!(names, ["committed", "step_start", "step_end", "plan_submitted", "llm_call"]);
    }

    #[test]
    fn what_was_written_is_read_back() {
        for event in samples::one_of_each() {
            let line = Record::line(&head(7), &event);
            assert_eq!(Record::parse(line.as_bytes()), Ok(Record { head: head(7), event: event.clone() }));
            assert!(line.contains(&format!(r#""type":"{}""#, event.name())));
        }
    }

    #[test]
    fn lines_of_a_later_version_are_told_from_garbage() {
        let line = Record::line(&head(1), &samples::one_of_each()[0]);
        let newer = line.replacen(r#""v":1"#, r#""v":2"#, 1);
        assert_eq!(Record::parse(newer.as_bytes()), Err(LineError::Newer(2)));
        for garbage in ["", "x", "{}", "{\"v\":1}", "null", &line[..line.len() - 1], &format!(" {line}")] {
            assert_eq!(Record::parse(garbage.as_bytes()), Err(LineError::Malformed), "{garbage}");
        }
    }

    #[test]
    fn an_unknown_event_is_refused_by_name() {
        let line = Record::line(&head(1), &samples::one_of_each()[0]).replace("\"test_run\"", "\"test_ran\"");
        let Err(LineError::Event(why)) = Record::parse(line.as_bytes()) else { panic!("accepted") };
        assert!(why.contains("test_ran"), "{why}");
    }
}
