//! Runs test binaries until every test has a result, even if a test takes its process down.
//!
//! A run that times out keeps the results it reported. A run that breaks off by itself keeps its failures; its passes
//! are confirmed in another call, because a test can print its own pass and end the process. Tests that were running
//! are rerun alone, to find the culprit; tests that never started are run in another call. A report that contradicts
//! itself is discarded: its tests are rerun in two halves, until each test that spoils its report is alone. Every call
//! leaves fewer open tests than the one before, and the number of timeouts is limited.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use tdd_core::command::{Exit, Finished};
use tdd_core::report::{Cause, Outcome};

use super::binary::Binary;
use crate::language::Job;
use crate::rust::libtest::{self, Ended, Reading, shorten, without_thread_number};

/// The most bytes of test names passed to one call.
const MAX_ARGV: usize = 100_000;
/// How many tests of a broken-off run are rerun alone if no test was running.
const MAX_SUSPECTS: usize = 32;
/// How many of the tests running at a timeout are rerun alone.
const MAX_ALONE_AFTER_TIMEOUT: usize = 4;
/// How many calls may time out before the rest is given up.
const MAX_TIMEOUTS: usize = 4;

/// A test: the index of its binary, and its name.
type Key = (usize, String);

/// A problem with a whole binary: its index, cause and message.
type Trouble = (usize, Cause, String);

/// Calls of test binaries and their results.
pub(super) struct Runs {
    deadline: Duration,
    open: Vec<Call>,
    waiting: Vec<Call>,
    ended: BTreeMap<Key, Ended>,
    /// Passes reported by runs that broke off, with the arguments to rerun them.
    unconfirmed: BTreeMap<usize, (Vec<String>, Vec<String>)>,
    /// Binaries that broke off without a known culprit, and how.
    unexplained: BTreeMap<usize, (Cause, String)>,
    /// Tests whose report contradicts itself even when run alone, and how.
    contradictory: BTreeMap<Key, String>,
    troubles: Vec<Trouble>,
    timeouts: usize,
}

/// One call of a test binary.
#[derive(Clone, Debug)]
struct Call {
    binary: usize,
    names: Vec<String>,
    args: Vec<String>,
}

impl Runs {
    /// No calls yet; each has the timeout `deadline`.
    pub(super) fn new(deadline: Duration) -> Self {
        Self {
            deadline,
            open: Vec::new(),
            waiting: Vec::new(),
            ended: BTreeMap::new(),
            unconfirmed: BTreeMap::new(),
            unexplained: BTreeMap::new(),
            contradictory: BTreeMap::new(),
            troubles: Vec::new(),
            timeouts: 0,
        }
    }

    /// Plans one call for all tests that a binary lists with these arguments.
    pub(super) fn all(&mut self, binary: usize, names: &[String], args: Vec<String>) {
        self.open.push(Call { binary, names: names.to_vec(), args });
    }

    /// Plans calls for some tests of a binary, as few as the command line's length allows.
    pub(super) fn some(&mut self, binary: usize, names: &[String], args: &[String]) {
        let mut rest = names;
        while !rest.is_empty() {
            let mut bytes = 0;
            let fits = rest.iter().take_while(|name| {
                bytes += name.len() + 1;
                bytes <= MAX_ARGV
            });
            let (now, later) = rest.split_at(fits.count().max(1));
            self.exactly(binary, now.to_vec(), args.to_vec());
            rest = later;
        }
    }

    fn exactly(&mut self, binary: usize, names: Vec<String>, mut args: Vec<String>) {
        args.push("--exact".to_owned());
        args.extend(names.iter().cloned());
        self.open.push(Call { binary, names, args });
    }

    /// The next commands; none when everything is done.
    pub(super) fn jobs(&mut self, binaries: &[Binary]) -> Vec<Job> {
        if self.open.is_empty() || self.timeouts >= MAX_TIMEOUTS {
            for (binary, (names, args)) in std::mem::take(&mut self.unconfirmed) {
                self.some(binary, &names, &args);
            }
        }
        if self.timeouts >= MAX_TIMEOUTS {
            for call in std::mem::take(&mut self.open) {
                self.fail(&call, &call.names, Cause::Timeout, "not run: too many others ran out of time");
            }
        }
        self.waiting = std::mem::take(&mut self.open);
        self.waiting.iter().map(|call| binaries[call.binary].run(&call.args, self.deadline)).collect()
    }

    /// Reads the commands' results.
    pub(super) fn read(&mut self, finished: &[Finished]) {
        let calls = std::mem::take(&mut self.waiting);
        for (at, call) in calls.iter().enumerate() {
            match finished.get(at) {
                Some(finished) => self.read_one(call, finished),
                None => self.fail(call, &call.names, Cause::UnknownOutput, "it was not run"),
            }
        }
    }

    /// Every result, and the problems of whole binaries.
    pub(super) fn end(mut self) -> (BTreeMap<Key, Ended>, Vec<Trouble>) {
        self.assign_causes();
        let mut troubles = self.troubles;
        troubles.extend(self.unexplained.into_iter().map(|(binary, (cause, message))| (binary, cause, message)));
        (self.ended, troubles)
    }

    fn read_one(&mut self, call: &Call, finished: &Finished) {
        match libtest::read(&finished.stdout, &finished.exit, &call.names) {
            Err(contradiction) => self.halve(call, &contradiction.to_string()),
            Ok(reading) if reading.complete => self.keep(call, reading.ended),
            Ok(reading) => self.broke_off(call, reading, finished),
        }
    }

    /// Splits a call in two, to find the test that spoils the report.
    fn halve(&mut self, call: &Call, contradiction: &str) {
        if let [name] = call.names.as_slice() {
            self.contradictory.insert((call.binary, name.clone()), contradiction.to_owned());
            return;
        }
        let (one, other) = call.names.split_at(call.names.len() / 2);
        for half in [one, other] {
            self.some(call.binary, half, &kept_args(&call.args));
        }
    }

    /// Assigns a cause to tests that spoil their report. If other tests of the binary can be read, the test is to
    /// blame; otherwise it may be the harness.
    fn assign_causes(&mut self) {
        let readable: BTreeSet<usize> = self.ended.keys().map(|(binary, _)| *binary).collect();
        for ((binary, name), message) in std::mem::take(&mut self.contradictory) {
            let cause = if readable.contains(&binary) { Cause::Crash } else { Cause::UnknownOutput };
            if cause == Cause::UnknownOutput && !self.troubles.iter().any(|(troubled, ..)| *troubled == binary) {
                self.troubles.push((binary, cause, message.clone()));
            }
            self.ended.insert((binary, name), Ended { outcome: Outcome::Fail { cause, message }, duration_ms: 0 });
        }
    }

    fn broke_off(&mut self, call: &Call, reading: Reading, finished: &Finished) {
        let stderr = shorten(&last_words(&finished.stderr.text()), 1024);
        let (cause, message) = match &finished.exit {
            Exit::TimedOut => (Cause::Timeout, format!("it did not end within {:?}", self.deadline)),
            Exit::NotStarted(_) | Exit::Interrupted => (Cause::UnknownOutput, finished.exit.to_string()),
            Exit::Passed | Exit::Failed(_) | Exit::Signalled(_) => {
                let how = &finished.exit;
                (Cause::Crash, format!("the test process ended ({how}) before its report was complete\n{stderr}"))
            }
        };
        let message = message.trim_end();
        self.timeouts += usize::from(cause == Cause::Timeout);
        let stuck = reading.ended.is_empty() && reading.in_flight.is_empty();
        if call.names.len() == 1 || stuck || cause == Cause::UnknownOutput {
            self.unexplained.remove(&call.binary);
            let reported = reading.ended.keys().filter(|_| call.names.len() > 1).cloned().collect::<Vec<_>>();
            let open: Vec<String> = call.names.iter().filter(|name| !reported.contains(name)).cloned().collect();
            self.keep(call, reading.ended);
            self.fail(call, &open, cause, message);
        } else {
            self.search(call, reading, cause, message);
        }
    }

    /// Plans the calls that find the test that broke off a run.
    fn search(&mut self, call: &Call, reading: Reading, cause: Cause, message: &str) {
        if cause == Cause::Timeout {
            self.rerun_after_timeout(call, reading, message);
            return;
        }
        self.unexplained.insert(call.binary, (cause, message.to_owned()));
        let passed = reading.ended.iter().filter(|(_, ended)| ended.outcome == Outcome::Pass);
        let mut passed: Vec<String> = passed.map(|(name, _)| name.clone()).collect();
        let mut suspects = reading.in_flight;
        if suspects.is_empty() {
            // No test was running, so one of the passed tests broke off the run.
            suspects = passed.split_off(passed.len().saturating_sub(MAX_SUSPECTS));
        }
        self.keep(call, reading.ended);
        for name in suspects {
            self.exactly(call.binary, vec![name], alone_args(&call.args));
        }
        let args = kept_args(&call.args);
        self.some(call.binary, &reading.never_started, &args);
        self.unconfirmed.entry(call.binary).or_insert_with(|| (Vec::new(), args)).0.append(&mut passed);
    }

    /// After a timeout, reported results are true; only the tests that were running are open.
    fn rerun_after_timeout(&mut self, call: &Call, reading: Reading, message: &str) {
        let mut suspects = reading.in_flight;
        if suspects.is_empty() && reading.never_started.is_empty() {
            self.troubles.push((call.binary, Cause::Timeout, message.to_owned()));
        }
        let alone = if suspects.len() == 1 { 0 } else { MAX_ALONE_AFTER_TIMEOUT.min(suspects.len()) };
        let given_up = suspects.split_off(alone);
        self.keep(call, reading.ended);
        self.fail(call, &given_up, Cause::Timeout, message);
        for name in suspects {
            self.exactly(call.binary, vec![name], alone_args(&call.args));
        }
        self.some(call.binary, &reading.never_started, &kept_args(&call.args));
    }

    fn keep(&mut self, call: &Call, ended: BTreeMap<String, Ended>) {
        self.ended.extend(ended.into_iter().map(|(name, ended)| ((call.binary, name), ended)));
    }

    fn fail(&mut self, call: &Call, names: &[String], cause: Cause, message: &str) {
        for name in names {
            let outcome = Outcome::Fail { cause, message: message.to_owned() };
            self.ended.insert((call.binary, name.clone()), Ended { outcome, duration_ms: 0 });
        }
    }
}

/// The arguments that do not choose tests by name.
pub(super) fn kept_args(args: &[String]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = args.iter().peekable();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--test-threads" => kept.extend([word.clone()].into_iter().chain(words.next().cloned())),
            "--ignored" | "--include-ignored" => kept.push(word.clone()),
            _ => {}
        }
    }
    kept
}

fn alone_args(args: &[String]) -> Vec<String> {
    let ignored = kept_args(args).into_iter().filter(|word| word.ends_with("ignored"));
    ignored.chain(["--test-threads".to_owned(), "1".to_owned()]).collect()
}

/// The end of a process's output, without parts that vary between runs.
fn last_words(text: &str) -> String {
    let text = text.trim();
    let start = text.floor_char_boundary(text.len().saturating_sub(1000));
    text[start..].lines().map(without_thread_number).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
#[path = "runs_tests.rs"]
mod tests;
