//! Reads a Rust test binary's list of tests and its stream of JSON events.
//!
//! Ignores text around an event, because tests print to the same stream. A report that breaks off tells which tests
//! were running. A report that contradicts itself, its list or its exit status is an error.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::Value;
use tdd_core::command::{Captured, Exit};
use tdd_core::report::{Cause, Counts, Outcome};

/// Longest failure message we keep, in bytes.
pub(crate) const MAX_MESSAGE: usize = 4096;

/// Arguments that make a test binary print JSON events; they need `RUSTC_BOOTSTRAP=1`.
pub const JSON_ARGS: [&str; 5] = ["-Z", "unstable-options", "--format", "json", "--report-time"];

/// The result of reading one run of a test binary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The tests that ended, by libtest's name.
    pub ended: BTreeMap<String, Ended>,
    /// Tests that were running when the report broke off.
    pub in_flight: Vec<String>,
    /// Expected tests that had not started when the report broke off.
    pub never_started: Vec<String>,
    /// Whether the closing event was there; if so, `in_flight` and `never_started` are empty.
    pub complete: bool,
}

/// How one test ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Passed, or why not.
    pub outcome: Outcome,
    /// How long the test took, in milliseconds.
    pub duration_ms: u64,
}

/// Why a report is not trusted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the test binary's report contradicts itself: {0}")]
pub struct Contradiction(pub String);

/// The names printed by `--list`; `None` if this is not a list of libtest's, which always ends with its length.
pub fn read_list(stdout: &str) -> Option<Vec<String>> {
    let mut names = Vec::new();
    let mut benches = 0_usize;
    let mut closing = None;
    for line in stdout.lines().filter(|line| !line.is_empty()) {
        if closing.is_some() {
            return None;
        } else if let Some(name) = line.strip_suffix(": test") {
            names.push(name.to_owned());
        } else if line.ends_with(": benchmark") {
            benches += 1;
        } else {
            closing = Some(list_counts(line)?);
        }
    }
    (closing? == (names.len(), benches)).then_some(names)
}

/// `2 tests, 0 benchmarks`.
pub(crate) fn list_counts(line: &str) -> Option<(usize, usize)> {
    let (tests, benches) = line.split_once(", ")?;
    let count = |text: &str, noun: &str| -> Option<usize> {
        let (number, word) = text.split_once(' ')?;
        (word.trim_end_matches('s') == noun).then(|| number.parse().ok())?
    };
    Some((count(tests, "test")?, count(benches, "benchmark")?))
}

/// Reads the events of a run that was to run exactly the tests `expected`.
pub fn read(stdout: &Captured, exit: &Exit, expected: &[String]) -> Result<Reading, Contradiction> {
    let read = || {
        let mut report = Events::new(expected);
        for event in events(&stdout.text()) {
            report.take(&event)?;
        }
        report.close(exit)
    };
    // If only test output was dropped, every event is still there.
    read().map_err(|contradiction| match stdout.dropped {
        0 => contradiction,
        lost => Contradiction(format!("{lost} bytes of it are lost, and {}", contradiction.0)),
    })
}

/// Every JSON event in the text, even in the middle of a line.
pub(crate) fn events(text: &str) -> Vec<Value> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find('{') {
        rest = &rest[start..];
        let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        match stream.next() {
            Some(Ok(value)) if is_event(&value) => {
                rest = &rest[stream.byte_offset()..];
                found.push(value);
            }
            _ => rest = &rest[1..],
        }
    }
    found
}

fn is_event(value: &Value) -> bool {
    matches!(text_of(value, "type"), Some("suite" | "test" | "bench")) && text_of(value, "event").is_some()
}

pub(crate) fn text_of<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str)
}

/// The state of a report while events are read.
struct Events<'a> {
    expected: BTreeSet<&'a str>,
    begun: bool,
    started: BTreeSet<String>,
    ended: BTreeMap<String, Ended>,
    closing: Option<(String, Counts)>,
}

impl<'a> Events<'a> {
    fn new(expected: &'a [String]) -> Self {
        Self {
            expected: expected.iter().map(String::as_str).collect(),
            begun: false,
            started: BTreeSet::new(),
            ended: BTreeMap::new(),
            closing: None,
        }
    }

    fn take(&mut self, event: &Value) -> Result<(), Contradiction> {
        if self.closing.is_some() {
            return Err(Contradiction("it goes on after its end".to_owned()));
        }
        let kind = text_of(event, "event").unwrap_or_default();
        match (text_of(event, "type").unwrap_or_default(), kind) {
            ("suite", "started") => self.begin(event),
            ("suite", _) => {
                self.closing = Some((kind.to_owned(), counts_of(event)));
                Ok(())
            }
            (_, "started") => self.start(name_of(event)?),
            // libtest's warning that a test has run for over a minute; it is still running.
            (_, "timeout") => Ok(()),
            (_, _) => self.end(name_of(event)?, kind, event),
        }
    }

    fn begin(&mut self, event: &Value) -> Result<(), Contradiction> {
        let count = event.get("test_count").and_then(Value::as_u64).unwrap_or_default();
        if self.begun {
            return Err(Contradiction("it begins twice".to_owned()));
        }
        if usize::try_from(count) != Ok(self.expected.len()) {
            let listed = self.expected.len();
            return Err(Contradiction(format!("it announces {count} tests where {listed} were listed")));
        }
        self.begun = true;
        Ok(())
    }

    fn start(&mut self, name: &str) -> Result<(), Contradiction> {
        if !self.expected.contains(name) {
            return Err(Contradiction(format!("`{name}` started, and was not listed")));
        }
        if !self.started.insert(name.to_owned()) {
            return Err(Contradiction(format!("`{name}` started twice")));
        }
        Ok(())
    }

    fn end(&mut self, name: &str, kind: &str, event: &Value) -> Result<(), Contradiction> {
        if !self.started.contains(name) {
            return Err(Contradiction(format!("`{name}` ended, and never started")));
        }
        let ended = Ended { outcome: outcome_of(kind, event)?, duration_ms: duration_of(event) };
        if self.ended.insert(name.to_owned(), ended).is_some() {
            return Err(Contradiction(format!("`{name}` ended twice")));
        }
        Ok(())
    }

    fn close(self, exit: &Exit) -> Result<Reading, Contradiction> {
        let open = |name: &&str| !self.ended.contains_key(*name);
        let (in_flight, never_started): (Vec<&str>, Vec<&str>) =
            self.expected.iter().copied().filter(open).partition(|name| self.started.contains(*name));
        if let Some((kind, tally)) = &self.closing {
            self.agree(kind, *tally, exit)?;
            if let Some(name) = in_flight.iter().chain(&never_started).next() {
                return Err(Contradiction(format!("it is closed, and says nothing about `{name}`")));
            }
        }
        Ok(Reading {
            in_flight: in_flight.into_iter().map(str::to_owned).collect(),
            never_started: never_started.into_iter().map(str::to_owned).collect(),
            complete: self.closing.is_some(),
            ended: self.ended,
        })
    }

    fn agree(&self, kind: &str, closing: Counts, exit: &Exit) -> Result<(), Contradiction> {
        let seen = Counts::of(self.ended.values().map(|ended| &ended.outcome));
        if !self.begun || closing != seen {
            return Err(Contradiction(format!("its end counts {closing:?}, its events {seen:?}")));
        }
        let agrees = match exit {
            Exit::Passed => kind == "ok" && seen.failed == 0,
            Exit::Failed(101) => kind == "failed" && seen.failed > 0,
            Exit::Failed(_) | Exit::Signalled(_) | Exit::TimedOut | Exit::Interrupted | Exit::NotStarted(_) => false,
        };
        if agrees {
            return Ok(());
        }
        Err(Contradiction(format!("it ends with `{kind}` and {} failed tests, its process with {exit}", seen.failed)))
    }
}

fn name_of(event: &Value) -> Result<&str, Contradiction> {
    text_of(event, "name").ok_or_else(|| Contradiction("an event names no test".to_owned()))
}

fn counts_of(event: &Value) -> Counts {
    let number = |key| event.get(key).and_then(Value::as_u64).and_then(|number| u32::try_from(number).ok());
    let count = |key| number(key).unwrap_or(u32::MAX);
    Counts { passed: count("passed"), failed: count("failed"), skipped: count("ignored") }
}

fn outcome_of(kind: &str, event: &Value) -> Result<Outcome, Contradiction> {
    match kind {
        "ok" => Ok(Outcome::Pass),
        "failed" => Ok(Outcome::Fail { cause: Cause::Assertion, message: failure_message(event) }),
        "ignored" => {
            let reason = text_of(event, "message").unwrap_or("ignored").to_owned();
            Ok(Outcome::Fail { cause: Cause::Skipped, message: reason })
        }
        other => Err(Contradiction(format!("`{other}` is not a known result of a test"))),
    }
}

pub(crate) fn duration_of(event: &Value) -> u64 {
    let seconds = event.get("exec_time").and_then(Value::as_f64).unwrap_or_default();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to what fits")]
    let millis = (seconds * 1000.0).clamp(0.0, 1e15) as u64;
    millis
}

fn failure_message(event: &Value) -> String {
    let mut message = panic_text(text_of(event, "stdout").unwrap_or_default());
    if let Some(reason) = text_of(event, "message") {
        let gap = if message.is_empty() { "" } else { "\n" };
        let _ = write!(message, "{gap}{reason}");
    }
    shorten(&message, MAX_MESSAGE)
}

/// The part of a test's output that says why it failed: from its first panic on, if there is one. Leaves out thread
/// numbers and the hint about backtraces.
pub(crate) fn panic_text(stdout: &str) -> String {
    let lines: Vec<&str> =
        stdout.lines().filter(|line| !(line.starts_with("note: run with `RUST_BACKTRACE"))).collect();
    let first = lines.iter().position(|line| is_panic_line(line)).unwrap_or(0);
    let kept: Vec<String> = lines[first..].iter().map(|line| without_thread_number(line)).collect();
    kept.join("\n").trim().to_owned()
}

fn is_panic_line(line: &str) -> bool {
    line.starts_with("thread '") && line.contains(" panicked at ")
}

/// `thread 'a' (408) panicked at …` without the number, which differs in every run.
pub(crate) fn without_thread_number(line: &str) -> String {
    let parts = line.split_once("' (").filter(|_| line.starts_with("thread '"));
    let numbered = parts.and_then(|(name, rest)| Some((name, rest.split_once(") ")?)));
    match numbered {
        Some((name, (number, rest))) if number.bytes().all(|byte| byte.is_ascii_digit()) => format!("{name}' {rest}"),
        _ => line.to_owned(),
    }
}

/// The first `limit` bytes of a text, with a mark if it was cut.
pub(crate) fn shorten(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let cut = text.floor_char_boundary(limit);
    format!("{}…", &text[..cut])
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGUN: &str = r#"{ "type": "suite", "event": "started", "test_count": 2 }"#;
    const CLOSED: &str = r#"{ "type": "suite", "event": "ok", "passed": 2, "failed": 0, "ignored": 0, "measured": 0, "filtered_out": 0, "exec_time": 0.1 }"#;

    fn event(name: &str, event: &str) -> String {
        format!(r#"{{ "type": "test", "event": "{event}", "name": "{name}", "exec_time": 0.0021 }}"#)
    }

    fn both_pass() -> Vec<String> {
        let mut lines = vec![BEGUN.to_owned()];
        for name in ["a", "b"] {
            lines.extend([event(name, "started"), event(name, "ok")]);
        }
        lines.push(CLOSED.to_owned());
        lines
    }

    fn read_lines(lines: &[String], exit: &Exit) -> Result<Reading, Contradiction> {
        read(&Captured::whole(lines.join("\n")), exit, &["a".to_owned(), "b".to_owned()])
    }

    fn refused(lines: &[String], exit: &Exit) -> String {
        read_lines(lines, exit).expect_err("it should not be believed").0
    }

    /// The standard output and the exit of a captured run.
    fn captured(name: &str) -> (Captured, Exit) {
        let (stdout, code) = crate::rust::captured::output(&format!("cargo-libtestjson__{name}"));
        let exit = if code == 0 { Exit::Passed } else { Exit::Failed(code) };
        (Captured::whole(stdout), exit)
    }

    fn read_captured(name: &str, expected: &[&str]) -> Reading {
        let (stdout, exit) = captured(name);
        let expected: Vec<String> = expected.iter().map(|&name| name.to_owned()).collect();
        read(&stdout, &exit, &expected).unwrap()
    }

    #[test]
    fn a_list_is_believed_only_with_its_own_count() {
        assert_eq!(read_list("a: test\nb::c: test\n\n2 tests, 0 benchmarks\n"), Some(vec!["a".into(), "b::c".into()]));
        assert_eq!(read_list("a: test\nx: benchmark\n\n1 test, 1 benchmark\n"), Some(vec!["a".into()]));
        assert_eq!(read_list("0 tests, 0 benchmarks\n"), Some(vec![]));
        for text in ["", "custom\n", "a: test\n", "a: test\n\n2 tests, 0 benchmarks\n", "0 tests, 0 benchmarks\nx\n"] {
            assert_eq!(read_list(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_whole_report_gives_every_test_its_end_and_its_time() {
        let reading = read_lines(&both_pass(), &Exit::Passed).unwrap();
        assert!(reading.complete);
        let expected = Ended { outcome: Outcome::Pass, duration_ms: 2 };
        assert_eq!(reading.ended.values().collect::<Vec<_>>(), [&expected, &expected]);
    }

    #[test]
    fn what_tests_print_around_events_does_not_matter() {
        let noisy: Vec<String> =
            both_pass().iter().map(|line| format!("{{\"x\": {{\n}} noise{line}\n{{ \"type\": 3 }}")).collect();
        assert_eq!(read_lines(&noisy, &Exit::Passed), read_lines(&both_pass(), &Exit::Passed));
    }

    #[test]
    fn a_report_that_breaks_off_says_who_was_running_and_who_never_was() {
        let lines = [BEGUN.to_owned(), event("b", "started")];
        let reading = read_lines(&lines, &Exit::Passed).unwrap();
        assert!(!reading.complete);
        assert_eq!((reading.in_flight, reading.never_started), (vec!["b".to_owned()], vec!["a".to_owned()]));
    }

    #[test]
    fn a_contradiction_is_not_believed() {
        let with = |at: usize, line: String| {
            let mut lines = both_pass();
            lines.insert(at, line);
            lines
        };
        let without = |at: usize| {
            let mut lines = both_pass();
            lines.remove(at);
            lines
        };
        assert!(refused(&with(3, event("a", "ok")), &Exit::Passed).contains("ended twice"));
        assert!(refused(&with(3, event("c", "started")), &Exit::Passed).contains("not listed"));
        assert!(refused(&with(2, event("b", "ok")), &Exit::Passed).contains("never started"));
        assert!(refused(&with(6, event("b", "ok")), &Exit::Passed).contains("after its end"));
        assert!(refused(&with(1, BEGUN.to_owned()), &Exit::Passed).contains("begins twice"));
        assert!(refused(&without(2), &Exit::Passed).contains("counts"));
        assert!(refused(&both_pass(), &Exit::Failed(101)).contains("exit 101"));
        assert!(refused(&both_pass(), &Exit::Signalled(11)).contains("signal 11"));
    }

    #[test]
    fn an_output_with_a_hole_is_not_believed() {
        let cut = Captured { bytes: both_pass().join("\n").into_bytes(), cut_at: 3, dropped: 9 };
        let refused = read(&cut, &Exit::Passed, &["a".to_owned(), "b".to_owned()]).unwrap_err();
        assert!(refused.to_string().contains("9 bytes of it are lost"), "{refused}");
    }

    #[test]
    fn a_hole_in_what_a_test_printed_hides_no_event() {
        let mut lines = both_pass();
        lines.insert(2, "x".repeat(100));
        let cut_at = lines[..2].join("\n").len() + 50;
        let cut = Captured { bytes: lines.join("\n").into_bytes(), cut_at, dropped: 1_000_000 };
        assert!(read(&cut, &Exit::Passed, &["a".to_owned(), "b".to_owned()]).unwrap().complete);
    }

    #[test]
    fn a_failure_keeps_its_panic_and_nothing_that_varies() {
        let stdout = "noise\nthread 'a' (4711) panicked at src/lib.rs:3:5:\nassertion failed\n  left: 1\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n";
        assert_eq!(panic_text(stdout), "thread 'a' panicked at src/lib.rs:3:5:\nassertion failed\n  left: 1");
        assert_eq!(panic_text("Error: \"no\"\n"), "Error: \"no\"");
    }

    #[test]
    fn ignored_tests_are_skipped_and_failed_ones_are_assertions_in_captured_output() {
        let ignored = read_captured("ignored", &["m", "m2"]);
        assert!(ignored.ended.values().all(|ended| ended.outcome.cause() == Some(Cause::Skipped)));
        for (name, test) in [("assertion_fail", "adds"), ("result_err", "m"), ("should_panic_wrong", "m")] {
            let reading = read_captured(name, &[test]);
            assert_eq!(reading.ended[test].outcome.cause(), Some(Cause::Assertion), "{name}");
        }
    }

    #[test]
    fn a_process_that_ended_early_leaves_its_test_in_flight_in_captured_output() {
        for name in ["abort", "exit0", "segfault", "stack_overflow"] {
            let (stdout, exit) = captured(name);
            let names: Vec<String> = events(&stdout.text())
                .iter()
                .filter(|event| text_of(event, "event") == Some("started"))
                .filter_map(|event| text_of(event, "name").map(str::to_owned))
                .collect();
            let reading = read(&stdout, &exit, &names).unwrap();
            assert!(!reading.complete && !reading.in_flight.is_empty(), "{name}: {reading:?}");
        }
    }
}
