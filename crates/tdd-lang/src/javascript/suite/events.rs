//! The report of our runner script.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The whole report.
#[derive(Debug, Deserialize)]
pub(super) struct RunnerReport {
    pub complete: bool,
    /// Why there is no runner.
    pub missing: Option<String>,
    /// Something other than our runner wrote into the report.
    pub forged: bool,
    pub tests: Vec<Test>,
    /// Facts about the loaded files.
    pub files: BTreeMap<String, File>,
    /// Errors that belong to no test.
    pub errors: Vec<Stray>,
    /// The runner ended before it began.
    pub broken: Option<Broken>,
}

/// The result of a test, a subtest or a group.
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
    /// The error occurred before or after the test itself.
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
    /// Its process ended before the test did.
    Lost,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct File {
    /// How its process ended, if before the first test began.
    pub how: Option<String>,
    /// Why it could not be loaded.
    pub error: Option<Error>,
    #[serde(default)]
    pub said: String,
}

/// An error that belongs to a file, or to no file.
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

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Error {
    pub name: String,
    pub code: Option<String>,
    pub message: String,
    /// The project files in the stack, innermost first, with lines.
    pub frames: Vec<(String, usize)>,
    /// The file that could not be parsed or loaded.
    pub from: Option<String>,
    /// The line in that file.
    #[serde(rename = "line")]
    pub from_line: Option<usize>,
    pub text: String,
}

impl Error {
    /// The error in one line.
    pub fn line(&self) -> String {
        format!("{}: {}", self.name, self.message.lines().find(|line| !line.trim().is_empty()).unwrap_or_default())
    }

    /// The project file and line that it came from.
    pub fn place(&self) -> Option<(&str, usize)> {
        let parsed = self.from.as_deref().zip(self.from_line);
        parsed.or_else(|| self.frames.first().map(|(path, line)| (path.as_str(), *line)))
    }

    /// Whether an assertion raised it.
    pub fn is_assertion(&self) -> bool {
        let is_snapshot = self.message.starts_with("Snapshot `") && self.message.contains("` mismatched");
        self.name.contains("AssertionError") || self.code.as_deref() == Some("ERR_ASSERTION") || is_snapshot
    }

    /// Whether the test timed out, or nothing was left that could end it.
    pub fn is_timeout(&self) -> bool {
        let said =
            ["Test timed out in", "Exceeded timeout of", "Promise resolution is still pending", "test timed out"];
        let hook = ["Hook timed out in"];
        said.iter().chain(&hook).any(|words| self.message.contains(words))
    }
}
