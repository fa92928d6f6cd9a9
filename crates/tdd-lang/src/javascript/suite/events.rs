//! What our runner tells about a run of tests.

use std::collections::BTreeMap;

use serde::Deserialize;

/// All that was told.
#[derive(Debug, Deserialize)]
pub(super) struct RunnerReport {
    pub complete: bool,
    /// Why there is no runner.
    pub missing: Option<String>,
    /// Somebody else wrote into the report.
    pub forged: bool,
    pub tests: Vec<Test>,
    /// What is to be known of the files that were loaded.
    pub files: BTreeMap<String, File>,
    /// Errors that belong to no test.
    pub errors: Vec<Stray>,
    /// The runner itself ended before it began.
    pub broken: Option<Broken>,
}

/// What became of a test, a part of one, or a group.
#[derive(Debug, Deserialize)]
pub(super) struct Test {
    pub file: String,
    /// The titles of the groups around it, then its own.
    pub name: Vec<String>,
    pub kind: Kind,
    pub outcome: Outcome,
    pub why: String,
    pub ms: f64,
    pub error: Option<Error>,
    /// The error came before or after the test itself.
    pub around: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    Test,
    Suite,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Outcome {
    Pass,
    Fail,
    Skip,
    /// Its process ended before it did.
    Lost,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct File {
    /// How its process ended before a test of it had begun.
    pub how: Option<String>,
    /// Why it could not be loaded.
    pub error: Option<Error>,
    #[serde(default)]
    pub said: String,
}

/// An error that belongs to a file, or to nobody.
#[derive(Debug, Deserialize)]
pub(super) struct Stray {
    pub file: Option<String>,
    #[serde(flatten)]
    pub error: Error,
}

#[derive(Debug, Deserialize)]
pub(super) struct Broken {
    pub how: String,
    pub said: String,
}

/// An error.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Error {
    pub name: String,
    pub code: Option<String>,
    pub message: String,
    /// The files of the project that it came through, innermost first, with lines.
    pub frames: Vec<(String, usize)>,
    /// The file whose text is at fault.
    pub from: Option<String>,
    /// Where in that file.
    #[serde(rename = "line")]
    pub from_line: Option<usize>,
    pub text: String,
}

impl Error {
    /// It in one line.
    pub fn line(&self) -> String {
        format!("{}: {}", self.name, self.message.lines().find(|line| !line.trim().is_empty()).unwrap_or_default())
    }

    /// Where it came from: a file of the project and a line of it.
    pub fn place(&self) -> Option<(&str, usize)> {
        let parsed = self.from.as_deref().zip(self.from_line);
        parsed.or_else(|| self.frames.first().map(|(path, line)| (path.as_str(), *line)))
    }

    /// Whether an assertion says so.
    pub fn is_assertion(&self) -> bool {
        let is_snapshot = self.message.starts_with("Snapshot `") && self.message.contains("` mismatched");
        self.name.contains("AssertionError") || self.code.as_deref() == Some("ERR_ASSERTION") || is_snapshot
    }

    /// Whether the test's own clock ran out, or nothing was left that could end it.
    pub fn is_timeout(&self) -> bool {
        let said =
            ["Test timed out in", "Exceeded timeout of", "Promise resolution is still pending", "test timed out"];
        let hook = ["Hook timed out in"];
        said.iter().chain(&hook).any(|words| self.message.contains(words))
    }
}
