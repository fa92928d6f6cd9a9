//! The ledger's vocabulary: every kind of event, and the line that carries one.
//!
//! A line is `{"v":1,"seq":N,"ts":ms,"prev":"…","type":"…",…}` with its keys in just this order, so
//! that a chain can be followed without parsing the events in it.

use serde::{Deserialize, Serialize};

use crate::digest::{CommitId, Digest, TreeId};
use crate::report::{Cause, Counts};
use crate::test_id::{IdSource, TestId};

/// The version of the line format that this program writes, and the newest that it reads.
pub const VERSION: u32 = 1;

/// Something that happened. Closed: whatever is not in here did not happen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// A test was run by the machine. Written where the result differs from the one known before.
    TestRun(TestRun),
    /// All tests were run; every result that was known before and is not vanished still holds on `tree`.
    SuiteRun(SuiteRun),
    /// The machine made a commit.
    Committed(Committed),
    /// The last line of the ledger was torn and has been cut off.
    LedgerRepaired(LedgerRepaired),
}

/// Whether a test passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It ran and passed.
    Pass,
    /// Anything else; the cause says what.
    Fail,
}

/// One test's result on one tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestRun {
    /// Which test.
    pub test_id: TestId,
    /// Where its id comes from.
    pub test_id_source: IdSource,
    /// Whether it passed.
    pub status: Status,
    /// What was run.
    pub command: String,
    /// How long the test took.
    pub duration_ms: u64,
    /// The content that it ran on.
    pub tree: TreeId,
    /// Digest of the test itself; none where its source was not found (a test made by a macro).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_digest: Option<Digest>,
    /// Why it did not pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// The beginning of what was said when it did not pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// One run of all tests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuiteRun {
    /// What was run.
    pub command: String,
    /// The content that it ran on, the same before and after.
    pub tree: TreeId,
    /// How long everything took, building included.
    pub duration_ms: u64,
    /// How many passed, failed and were skipped.
    pub counts: Counts,
    /// Tests that were there before and are not any more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub vanished: Vec<TestId>,
    /// What could not be run at all, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub obstacles: Vec<InTheWay>,
}

/// What could not be run, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InTheWay {
    /// A test target, a file, a program.
    pub subject: String,
    /// Why.
    pub cause: Cause,
    /// The beginning of what was said.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// Where, as `path:line`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// The tests that could not be run for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<TestId>,
}

/// A commit of the machine's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Committed {
    /// The commit.
    pub commit: CommitId,
    /// Its tree.
    pub tree: TreeId,
    /// The first line of its message.
    pub subject: String,
    /// The files that it changed.
    pub files: Vec<String>,
}

/// A torn last line: its writer was killed, or the disk was full.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerRepaired {
    /// How many bytes were cut off.
    pub dropped_bytes: u64,
    /// The beginning of what was cut off.
    pub dropped: String,
}

impl Event {
    /// The names of all events, as they stand in `type`.
    pub const TYPES: [&'static str; 4] = ["test_run", "suite_run", "committed", "ledger_repaired"];

    /// The name of this event, as it stands in `type`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::TestRun(_) => "test_run",
            Self::SuiteRun(_) => "suite_run",
            Self::Committed(_) => "committed",
            Self::LedgerRepaired(_) => "ledger_repaired",
        }
    }

    /// The test that this event is about, if it is about one.
    pub fn test_id(&self) -> Option<&TestId> {
        match self {
            Self::TestRun(run) => Some(&run.test_id),
            Self::SuiteRun(_) | Self::Committed(_) | Self::LedgerRepaired(_) => None,
        }
    }
}

/// What every line begins with.
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
    /// Its beginning.
    pub head: Head,
    /// What happened.
    pub event: Event,
}

/// Why a line is not a line of a ledger.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    /// A later program wrote it.
    #[error("it has version {0}, this program reads up to {VERSION}")]
    Newer(u64),
    /// It does not begin as every line does.
    #[error("it is not a ledger line")]
    Malformed,
    /// Its event is unknown or lacks something.
    #[error("its event cannot be read: {0}")]
    Event(String),
}

impl Record {
    /// The line, without its line end.
    pub fn line(head: &Head, event: &Event) -> String {
        // Events hold strings, numbers and lists: there is none that is not JSON.
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
    /// Reads the beginning of a line and gives the rest, from `"type"` on.
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

/// The version of a line that a later program may have laid out in another way.
fn newer_version(line: &[u8]) -> Option<u64> {
    #[derive(Deserialize)]
    struct Versioned {
        v: u64,
    }
    let Versioned { v } = serde_json::from_slice(line).ok()?;
    (v > u64::from(VERSION)).then_some(v)
}

#[cfg(test)]
pub(crate) mod samples {
    use super::*;

    /// One of each, for snapshots.
    pub(crate) fn one_of_each() -> Vec<Event> {
        let tree = TreeId("4b825dc642cb6eb9a060e54bf8d69288fbee4904".into());
        vec![
            Event::TestRun(TestRun {
                test_id: TestId::native("tests/calc.rs", "adds"),
                test_id_source: IdSource::Native,
                status: Status::Fail,
                command: "cargo test --all".into(),
                duration_ms: 12,
                tree: tree.clone(),
                test_digest: Some(Digest::zero()),
                cause: Some(Cause::MissingSymbol),
                message: Some("cannot find function `adds` in crate `calc`".into()),
            }),
            Event::SuiteRun(SuiteRun {
                command: "cargo test --all".into(),
                tree: tree.clone(),
                duration_ms: 345,
                counts: Counts { passed: 3, failed: 1, skipped: 0 },
                vanished: vec![TestId::native("tests/calc.rs", "old")],
                obstacles: vec![InTheWay {
                    subject: "tests/calc.rs".into(),
                    cause: Cause::MissingSymbol,
                    message: "cannot find function `adds` in crate `calc`".into(),
                    place: Some("tests/calc.rs:5".into()),
                    tests: vec![TestId::native("tests/calc.rs", "adds")],
                }],
            }),
            Event::Committed(Committed {
                commit: CommitId("89e6c98d92887913cadf06b2adb97f26cde4849b".into()),
                tree,
                subject: "chore: set up the project".into(),
                files: vec!["Cargo.toml".into(), "src/lib.rs".into()],
            }),
            Event::LedgerRepaired(LedgerRepaired { dropped_bytes: 17, dropped: "{\"v\":1,\"seq\":9,\"t".into() }),
        ]
    }
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
