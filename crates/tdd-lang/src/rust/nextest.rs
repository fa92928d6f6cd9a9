//! Reads the output of `cargo nextest`: its list of tests and its events in libtest's format.
//!
//! nextest runs every test in its own process and reports each once. Its counts per binary are not reliable if the
//! tests of one binary end in two groups, so we count test by test.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tdd_core::command::{Exit, Finished};
use tdd_core::report::{Cause, Outcome};

use super::libtest::{Ended, MAX_MESSAGE, duration_of, events, panic_text, shorten, text_of};
use super::suite::Binary;
use super::test_command::TestCommand;

/// The tests that nextest is to run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    tests: Vec<Listed>,
}

/// A test in nextest's list.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Listed {
    /// The target's root file.
    root: String,
    /// The test's name in its binary.
    name: String,
    /// nextest's id of the binary, for a filter.
    binary_id: String,
    /// Package and binary as events write them, `pkg::binary`.
    prefix: String,
    /// The kind of target as events write it.
    kind: String,
    ignored: bool,
}

/// A test: its target's root file and its name.
pub(crate) type Key = (String, String);

/// Why nextest's list cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadList {
    /// nextest is not installed.
    #[error("cargo has no `nextest`: install cargo-nextest or configure `cargo test`")]
    Missing,
    /// The command failed.
    #[error("`cargo nextest list` ended with {0}: {1}")]
    Failed(Exit, String),
    /// The output is not the expected JSON.
    #[error("`cargo nextest list` printed no list")]
    Unreadable,
    /// The list names a binary that the build did not make.
    #[error("`cargo nextest list` names `{0}`, which was not built")]
    Unknown(String),
}

impl BadList {
    /// Whether nextest is not installed.
    pub fn is_tool_missing(&self) -> bool {
        *self == Self::Missing
    }
}

impl Listing {
    /// Keeps the tests that `wanted` accepts, by root file and name.
    pub(crate) fn keep(&mut self, mut wanted: impl FnMut(&str, &str) -> bool) {
        self.tests.retain(|test| wanted(&test.root, &test.name));
    }

    /// Every test: its target's root file and its name.
    pub(crate) fn tests(&self) -> impl Iterator<Item = (&str, &str)> {
        self.tests.iter().map(|test| (test.root.as_str(), test.name.as_str()))
    }

    /// Whether there is nothing to run.
    pub fn is_empty(&self) -> bool {
        self.tests.is_empty()
    }
}

/// The command that lists the tests.
pub(crate) fn list_argv(command: &TestCommand, choose: &[String]) -> Vec<String> {
    let mut argv = command.cargo.clone();
    argv.extend(["nextest", "list", "--message-format", "json"].map(str::to_owned));
    argv.extend(shared_args(command));
    argv.extend(choose.iter().cloned());
    argv.extend(command.filters.iter().cloned());
    argv
}

/// The command that runs the tests: those that the configured command chooses, or exactly the listed ones.
pub(crate) fn run_argv(
    command: &TestCommand,
    listing: &Listing,
    choose: &[String],
    run: &[String],
    exactly: bool,
) -> Vec<String> {
    let fixed = [
        "nextest",
        "run",
        "--message-format",
        "libtest-json-plus",
        "--no-fail-fast",
        "--retries",
        "0",
        "--no-tests",
        "pass",
    ];
    let mut argv = command.cargo.clone();
    argv.extend(fixed.map(str::to_owned));
    argv.extend(shared_args(command));
    argv.extend(run.iter().cloned());
    if exactly {
        argv.extend(without_expressions(choose));
        for test in &listing.tests {
            argv.extend(["-E".to_owned(), format!("binary_id(={}) & test(={})", test.binary_id, test.name)]);
        }
    } else {
        argv.extend(choose.iter().chain(&command.filters).cloned());
    }
    argv
}

/// The build arguments; cargo's `--profile` is nextest's `--cargo-profile`.
fn shared_args(command: &TestCommand) -> impl Iterator<Item = String> {
    let words = command.packages.iter().chain(&command.build);
    words.map(|word| if word == "--profile" { "--cargo-profile".to_owned() } else { word.clone() })
}

fn without_expressions(choose: &[String]) -> Vec<String> {
    let pairs = choose.chunks(2).filter(|pair| !matches!(pair[0].as_str(), "-E" | "--filter-expr" | "--filterset"));
    pairs.flatten().cloned().collect()
}

/// Reads the list; binaries are identified by their executable.
pub(crate) fn read_list(finished: &Finished, binaries: &[Binary]) -> Result<Listing, BadList> {
    let stderr = finished.stderr.text();
    if finished.exit != Exit::Passed && stderr.contains("no such command: `nextest`") {
        return Err(BadList::Missing);
    }
    if finished.exit != Exit::Passed {
        return Err(BadList::Failed(finished.exit.clone(), shorten(stderr.trim(), MAX_MESSAGE)));
    }
    let value: Value = serde_json::from_str(finished.stdout.text().trim()).map_err(|_| BadList::Unreadable)?;
    let suites = value.get("rust-suites").and_then(Value::as_object).ok_or(BadList::Unreadable)?;
    let mut listing = Listing::default();
    for suite in suites.values() {
        let path = text_of(suite, "binary-path").ok_or(BadList::Unreadable)?;
        let kind = text_of(suite, "kind").unwrap_or_default();
        match binaries.iter().find(|binary| binary.executable == path) {
            Some(binary) => listing.tests.extend(tests_of(suite, &binary.root).ok_or(BadList::Unreadable)?),
            // Examples and benchmarks are not run.
            None if matches!(kind, "example" | "bench") => {}
            None => return Err(BadList::Unknown(path.to_owned())),
        }
    }
    Ok(listing)
}

fn tests_of(suite: &Value, root: &str) -> Option<Vec<Listed>> {
    let prefix = format!("{}::{}", text_of(suite, "package-name")?, text_of(suite, "binary-name")?);
    let mut tests = Vec::new();
    for (name, test) in suite.get("testcases")?.as_object()? {
        let ignored = test.get("ignored").and_then(Value::as_bool).unwrap_or_default();
        let reason = test.get("filter-match").and_then(|matched| text_of(matched, "reason"));
        if matches!(reason, None | Some("ignored")) {
            tests.push(Listed {
                root: root.to_owned(),
                name: name.clone(),
                binary_id: text_of(suite, "binary-id")?.to_owned(),
                prefix: prefix.clone(),
                kind: text_of(suite, "kind")?.to_owned(),
                ignored: ignored && reason.is_some(),
            });
        }
    }
    Some(tests)
}

/// Every listed test with its result, and what is wrong with the report as a whole.
pub(crate) fn read_run(finished: &Finished, listing: &Listing) -> (BTreeMap<Key, Ended>, Option<(Cause, String)>) {
    let events = NextestEvents::read(&events(&finished.stdout.text()));
    let mut all = BTreeMap::new();
    for test in &listing.tests {
        let ended = events.of(test).unwrap_or_else(|| silence(test, finished));
        all.insert((test.root.clone(), test.name.clone()), ended);
    }
    (all, trouble(finished, &events))
}

/// The results by test, from the events.
#[derive(Default)]
struct NextestEvents {
    ended: BTreeMap<(String, String), Vec<Ended>>,
    /// The kinds of target open under each prefix; two open at once cannot be told apart.
    open: BTreeMap<String, BTreeSet<String>>,
}

impl NextestEvents {
    fn read(events: &[Value]) -> Self {
        let mut results = Self::default();
        for event in events {
            // An incomplete event is ignored, and its test counts as unreported.
            let _ = match text_of(event, "type") {
                Some("suite") => results.suite(event),
                _ => results.test(event),
            };
        }
        results
    }

    fn suite(&mut self, event: &Value) -> Option<()> {
        let about = event.get("nextest")?;
        let prefix = format!("{}::{}", text_of(about, "crate")?, text_of(about, "test_binary")?);
        let kind = text_of(about, "kind")?.to_owned();
        let kinds = self.open.entry(prefix).or_default();
        if text_of(event, "event") == Some("started") {
            kinds.insert(kind);
        } else {
            kinds.remove(&kind);
        }
        Some(())
    }

    fn test(&mut self, event: &Value) -> Option<()> {
        let name = text_of(event, "name")?;
        let outcome = outcome_of(event)?;
        let prefix = name.split('$').next()?;
        let kinds = self.open.get(prefix)?;
        let kind = if kinds.len() == 1 { kinds.first()?.clone() } else { String::new() };
        let ended = Ended { outcome, duration_ms: duration_of(event) };
        self.ended.entry((name.to_owned(), kind)).or_default().push(ended);
        Some(())
    }

    fn of(&self, test: &Listed) -> Option<Ended> {
        let name = format!("{}${}", test.prefix, test.name);
        let clear = self.ended.get(&(name.clone(), test.kind.clone()));
        match (clear.map(Vec::as_slice), self.ended.contains_key(&(name, String::new()))) {
            (None, false) => None,
            (Some([ended]), false) => Some(ended.clone()),
            _ => Some(fail(Cause::UnknownOutput, "nextest reports it twice".to_owned())),
        }
    }

    fn any_failed(&self) -> bool {
        let all = self.ended.values().flatten();
        all.into_iter().any(|ended| !matches!(ended.outcome.cause(), None | Some(Cause::Skipped)))
    }
}

/// How a test ended; `None` if it only started.
fn outcome_of(event: &Value) -> Option<Outcome> {
    let stdout = text_of(event, "stdout").unwrap_or_default();
    match text_of(event, "event")? {
        "ok" => Some(Outcome::Pass),
        "ignored" => Some(Outcome::Fail { cause: Cause::Skipped, message: "ignored".to_owned() }),
        "failed" => Some(Outcome::Fail {
            cause: failure_cause(event, stdout),
            message: shorten(&panic_text(stdout), MAX_MESSAGE),
        }),
        _ => None,
    }
}

/// nextest does not say how a test's process ended. A test that neither panicked nor returned an error crashed.
fn failure_cause(event: &Value, stdout: &str) -> Cause {
    let marks = [" panicked at ", "test did not panic as expected", "test result: FAILED"];
    if text_of(event, "reason") == Some("time limit exceeded") {
        Cause::Timeout
    } else if marks.iter().any(|mark| stdout.contains(mark)) || stdout.starts_with("Error: ") {
        Cause::Assertion
    } else {
        Cause::Crash
    }
}

/// The result of a listed test without an event.
fn silence(test: &Listed, finished: &Finished) -> Ended {
    match &finished.exit {
        _ if test.ignored => fail(Cause::Skipped, "ignored".to_owned()),
        Exit::TimedOut => fail(Cause::Timeout, format!("the run did not end within {} s", finished.duration.as_secs())),
        Exit::Passed | Exit::Failed(_) | Exit::Signalled(_) | Exit::Interrupted | Exit::NotStarted(_) => {
            fail(Cause::UnknownOutput, format!("nextest says nothing about it; {}", finished.exit))
        }
    }
}

fn fail(cause: Cause, message: String) -> Ended {
    Ended { outcome: Outcome::Fail { cause, message }, duration_ms: 0 }
}

fn trouble(finished: &Finished, events: &NextestEvents) -> Option<(Cause, String)> {
    let stderr = || shorten(finished.stderr.text().trim(), MAX_MESSAGE);
    let agrees = match &finished.exit {
        Exit::Passed => !events.any_failed(),
        Exit::Failed(100) => events.any_failed(),
        // The tests already have their results.
        Exit::TimedOut => true,
        Exit::Failed(_) | Exit::Signalled(_) | Exit::Interrupted | Exit::NotStarted(_) => false,
    };
    (!agrees).then(|| (Cause::UnknownOutput, format!("{}\n{}", finished.exit, stderr())))
}

#[cfg(test)]
#[path = "nextest_tests.rs"]
mod tests;
