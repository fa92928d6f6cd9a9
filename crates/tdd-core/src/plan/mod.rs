//! A plan: a Markdown file whose front matter says what must be true at its end, and whose steps may name tests.

mod brief;
mod dots;
mod findings;
mod goal;
mod progress;
mod steps;
mod truth;

use serde::{Deserialize, Serialize};

use crate::config::{ConfigError, describe};
use crate::test_id::TestId;

pub use dots::{Dot, Dotted, TestStep};
pub use findings::{Finding, Severity};
pub use progress::{PlanFacts, Task, due, lacking};
pub use steps::{Field, Step};
pub use truth::Truth;

/// A parsed plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The phase it belongs to: `5` or `05-auth`.
    pub phase: String,
    /// The number of the plan in its phase.
    pub number: String,
    /// The text of `type`; [`Plan::kind`] interprets it.
    pub kind: Option<String>,
    /// Its wave: plans run in ascending order of waves.
    pub wave: u32,
    /// What must be true at the end.
    pub truths: Vec<Truth>,
    /// The files that must exist at the end.
    pub artifacts: Vec<String>,
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// The text after the front matter.
    pub body: String,
    /// The lines of the front matter, for the line numbers of findings.
    front: Vec<String>,
}

/// How a plan runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// By the rules of the cycle.
    Tdd,
    /// In refactor mode.
    Execute,
}

/// Largest plan that is read, in bytes.
pub const MAX_PLAN: usize = 1 << 20;

impl Plan {
    /// Reads the text of a plan.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if text.len() > MAX_PLAN {
            return Err(unreadable(
                1,
                format!("the plan has {} bytes, the limit is {MAX_PLAN}", text.len()),
                "split it",
            ));
        }
        let (front, body) = split(text)?;
        let read: Front = serde_saphyr::from_str(&front.join("\n")).map_err(|error| {
            let error = describe(&error);
            // The fence is the first line of the file.
            ConfigError { line: error.line + 1, ..error }
        })?;
        let steps = steps::read(&body, front.len() + 3);
        let truths = read.must_haves.truths.into_iter().map(|truth| truth.resolve(&steps)).collect();
        let artifacts = read.must_haves.artifacts.into_iter().map(Artifact::path).collect();
        let front = front.into_iter().map(str::to_owned).collect();
        let Front { phase, plan: number, kind, wave, .. } = read;
        Ok(Self { phase, number, kind, wave, truths, artifacts, steps, body: body.join("\n"), front })
    }

    /// How it runs; `None` if its `type` is unknown.
    pub fn kind(&self) -> Option<Kind> {
        match self.kind.as_deref() {
            None | Some("execute") => Some(Kind::Execute),
            Some("tdd") => Some(Kind::Tdd),
            Some(_) => None,
        }
    }

    /// The mark of the commits for a step (from 0): `[phase-05/plan-01/task-01]`.
    pub fn mark(&self, step: usize) -> String {
        format!("[phase-{}/plan-{}/task-{:02}]", word(&self.phase), word(&self.number), step + 1)
    }

    /// All problems and notes, in line order.
    pub fn findings(&self) -> Vec<Finding> {
        findings::of(self)
    }
}

/// A number with two digits, or a name without characters that would break a mark.
fn word(text: &str) -> String {
    match text.parse::<u32>() {
        Ok(number) => format!("{number:02}"),
        Err(_) => text.chars().map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' }).collect(),
    }
}

/// Splits a file into front matter and body. The front matter begins on line 2, and the body after the closing fence.
pub(crate) fn split(text: &str) -> Result<(Vec<&str>, Vec<&str>), ConfigError> {
    let mut lines = text.lines();
    if lines.next().is_none_or(|line| line.trim_end() != "---") {
        let hint = "begin the file with `---`, then `phase:`, `plan:` and `type: tdd`, then `---`";
        return Err(unreadable(1, "there is no front matter".to_owned(), hint));
    }
    let rest: Vec<&str> = lines.collect();
    let Some(end) = rest.iter().position(|line| line.trim_end() == "---") else {
        return Err(unreadable(
            1,
            "the front matter has no end".to_owned(),
            "write `---` on a line of its own after it",
        ));
    };
    let (front, body) = rest.split_at(end);
    if front.iter().all(|line| line.trim().is_empty()) {
        return Err(unreadable(2, "the front matter is empty".to_owned(), "add `phase:` and `plan:`"));
    }
    Ok((front.to_vec(), body.get(1..).unwrap_or_default().to_vec()))
}

fn unreadable(line: u64, problem: String, hint: &str) -> ConfigError {
    ConfigError { line, column: 1, problem, hint: Some(hint.to_owned()) }
}

/// The front matter. Unknown keys are ignored, because other tools keep their own keys there.
#[derive(Deserialize)]
struct Front {
    phase: String,
    plan: String,
    #[serde(rename = "type", default)]
    kind: Option<String>,
    #[serde(default = "first_wave")]
    wave: u32,
    #[serde(default)]
    must_haves: MustHaves,
}

fn first_wave() -> u32 {
    1
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct MustHaves {
    truths: Vec<RawTruth>,
    artifacts: Vec<Artifact>,
}

/// A sentence, or a sentence with a separate test id.
#[derive(Deserialize)]
#[serde(untagged)]
enum RawTruth {
    Text(String),
    Proven { truth: String, test_id: String },
}

impl RawTruth {
    fn resolve(self, steps: &[Step]) -> Truth {
        match self {
            Self::Proven { truth, test_id } => Truth { test: TestId::parse(&test_id).ok(), text: truth },
            Self::Text(text) => Truth::read(text, steps),
        }
    }
}

/// A path, or a path with remarks.
#[derive(Deserialize)]
#[serde(untagged)]
enum Artifact {
    Path(String),
    Described { path: String },
}

impl Artifact {
    fn path(self) -> String {
        match self {
            Self::Path(path) | Self::Described { path } => path,
        }
    }
}

#[cfg(test)]
mod tests;
