//! Reads the events that our runner reports about a run of pytest, by test.

use std::collections::BTreeMap;

use serde::Deserialize;

/// All events of a run, in order.
#[derive(Debug, Deserialize)]
pub(super) struct RunnerReport {
    pub complete: bool,
    pub events: Vec<Event>,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(super) enum Event {
    /// A file is about to be loaded.
    Collecting { path: Option<String> },
    /// A file or another collector could not be loaded, or skips itself.
    Uncollected { id: String, outcome: Outcome, text: String, error: Option<Error> },
    /// The tests that will run.
    Collected { ids: Vec<String> },
    /// A test begins.
    Start {},
    /// A test has ended.
    Finish {},
    /// One phase of a test is over.
    Report(Phase),
    /// The process died while it ran this test or loaded this file.
    Lost { id: Option<String>, path: Option<String>, how: String },
    /// Code other than the runner wrote into the report.
    Forged {},
    /// Which lines were executed.
    Watched(Watched),
    /// Pytest has ended.
    End { exit: i32 },
}

/// Lines with code by file, and whether they were executed.
#[derive(Debug, Deserialize)]
pub(super) struct Watched {
    pub lines: BTreeMap<String, Vec<(usize, bool)>>,
    /// Why the lines may be incomplete.
    pub doubt: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Outcome {
    Passed,
    Failed,
    Skipped,
}

/// One phase of a test.
#[derive(Debug, Deserialize)]
pub(super) struct Phase {
    pub id: String,
    pub when: String,
    pub outcome: Outcome,
    pub xfail: bool,
    pub seconds: f64,
    pub text: String,
    pub error: Option<Error>,
}

impl Phase {
    /// Whether the phase passed although it is expected to fail.
    fn is_unexpected_success(&self) -> bool {
        let of_unittest = |error: &Error| error.kind == "Failed" && error.message == "Unexpected success";
        self.text.contains("[XPASS(strict)]") || self.error.as_ref().is_some_and(of_unittest)
    }
}

/// An exception.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Error {
    #[serde(rename = "type")]
    pub kind: String,
    pub bases: Vec<String>,
    pub message: String,
    /// The project's files in the traceback, innermost last, with lines.
    pub frames: Vec<(String, usize)>,
    pub name: Option<String>,
    /// The file of the module that lacks something, or the file that does not parse.
    pub from: Option<String>,
    /// The line that does not parse.
    pub line: Option<usize>,
    /// Where the package of a missing module is.
    pub found: Option<String>,
}

impl Error {
    /// Where the exception came from: a file of the project and a line.
    pub fn place(&self) -> Option<(&str, usize)> {
        let parsed = self.from.as_deref().zip(self.line);
        parsed.or_else(|| self.frames.last().map(|(path, line)| (path.as_str(), *line)))
    }

    /// Whether the exception is of this type, or of one derived from it.
    pub fn is(&self, kind: &str) -> bool {
        self.kind == kind || self.bases.iter().any(|base| base == kind)
    }

    /// The exception on one line.
    pub fn line(&self) -> String {
        if self.kind == "ImportPathMismatchError" {
            let way_out = "rename one, or give each of their folders an `__init__.py`";
            return format!("two test files of one name cannot both be loaded; {way_out}");
        }
        format!("{}: {}", self.kind, self.message.lines().next().unwrap_or_default())
    }
}

/// What happened to one case of a test.
#[derive(Debug, Default)]
pub(super) struct Case {
    phases: Vec<Phase>,
    lost: Option<String>,
}

/// The fate of a case, judged by its phases alone.
pub(super) enum Fate<'c> {
    Passed,
    Failed(&'c Phase),
    /// It is skipped or expected to fail, so it decides nothing.
    Skipped(&'c Phase),
    Lost(&'c str),
    /// It was to run, and there is no event about it.
    Silent,
}

impl Case {
    pub fn fate(&self) -> Fate<'_> {
        let find = |wanted: &dyn Fn(&&Phase) -> bool| self.phases.iter().find(wanted);
        if let Some(how) = &self.lost {
            return Fate::Lost(how);
        }
        if let Some(expected) = find(&|phase| phase.xfail || phase.is_unexpected_success()) {
            return Fate::Skipped(expected);
        }
        if let Some(failed) = find(&|phase| phase.outcome == Outcome::Failed) {
            return Fate::Failed(failed);
        }
        let passed = |when: &str| find(&|phase| phase.when == when && phase.outcome == Outcome::Passed).is_some();
        if passed("setup") && passed("call") && passed("teardown") {
            return Fate::Passed;
        }
        find(&|phase| phase.outcome == Outcome::Skipped).map_or(Fate::Silent, Fate::Skipped)
    }

    pub fn millis(&self) -> u64 {
        let seconds: f64 = self.phases.iter().map(|phase| phase.seconds).sum();
        std::time::Duration::try_from_secs_f64(seconds)
            .map_or(0, |time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
    }
}

/// The cases of a run, by node id.
pub(super) type Cases = BTreeMap<String, Case>;

/// A file or a folder that could not be loaded.
#[derive(Debug)]
pub(super) struct Unloaded {
    /// The file, or pytest's name for it.
    pub id: String,
    pub text: String,
    pub why: Why,
}

/// Why something was not loaded.
#[derive(Debug)]
pub(super) enum Why {
    Skipped,
    Failed(Option<Error>),
    Lost(String),
}

/// The collected events of a run.
#[derive(Debug, Default)]
pub(super) struct Run {
    pub cases: Cases,
    pub unloaded: Vec<Unloaded>,
    pub loaded: Vec<String>,
    pub was_collected: bool,
    /// How the run ended too early, while it neither ran a test nor loaded a file.
    pub broken_off: Option<String>,
    /// Why the report cannot be trusted.
    pub doubt: Option<&'static str>,
}

impl Run {
    /// Collects the events of a report.
    pub fn of(report: RunnerReport) -> Self {
        let mut run = Self { doubt: (!report.complete).then_some("the report is not complete"), ..Self::default() };
        let mut last_exit = None;
        for event in report.events {
            match event {
                Event::Collecting { path } => run.loaded.extend(path),
                Event::Uncollected { id, outcome, text, error } => {
                    let (text, why) = match (outcome, error) {
                        (Outcome::Skipped, Some(error)) => (error.message, Why::Skipped),
                        (Outcome::Skipped, None) => (text, Why::Skipped),
                        (Outcome::Passed | Outcome::Failed, error) => (text, Why::Failed(error)),
                    };
                    run.unload(Unloaded { id, text, why });
                }
                Event::Collected { ids } => {
                    run.was_collected = true;
                    for id in ids {
                        run.cases.entry(id).or_default();
                    }
                }
                Event::Start {} | Event::Finish {} | Event::Watched(_) => {}
                Event::Report(phase) => match run.cases.get_mut(&phase.id) {
                    Some(case) => case.phases.push(phase),
                    None => run.doubt = Some("a test is reported that was not collected"),
                },
                Event::Lost { id: Some(id), how, .. } => run.cases.entry(id).or_default().lost = Some(how),
                Event::Lost { path: Some(path), how, .. } => {
                    run.unload(Unloaded { id: path, text: String::new(), why: Why::Lost(how) });
                }
                Event::Lost { how, .. } => run.broken_off = Some(how),
                Event::Forged {} => run.doubt = Some("something other than the runner wrote into the report"),
                Event::End { exit } => last_exit = Some(exit),
            }
        }
        let failed = run.cases.values().any(|case| matches!(case.fate(), Fate::Failed(_)) && case.lost.is_none());
        if last_exit == Some(0) && failed && run.cases.values().all(|case| case.lost.is_none()) {
            run.doubt = Some("pytest reports success, but a test failed");
        }
        run
    }

    /// Records each file only once: files are loaded again after a child process died.
    fn unload(&mut self, unloaded: Unloaded) {
        if self.unloaded.iter().all(|known| known.id != unloaded.id) {
            self.unloaded.push(unloaded);
        }
    }
}
