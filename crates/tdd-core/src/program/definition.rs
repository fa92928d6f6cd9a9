//! A program definition: its goal, target files and evaluation, and the problems that keep it from running.

use serde::{Deserialize, Serialize};

use super::fence::Fence;
use super::metric::Direction;
use super::schedule::Schedule;
use super::sections::{self, Section};
use super::strategy;
use crate::config::{ConfigError, describe};
use crate::plan;

/// How a program works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// Red, green, refactor, evaluate.
    TestDriven,
    /// Propose, evaluate, keep what improves.
    Default,
}

impl Strategy {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::TestDriven => "test-driven",
            Self::Default => "default",
        }
    }
}

/// A parsed program.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// How often it runs; `None` means only on request.
    pub schedule: Option<Schedule>,
    /// The metric at which it is done.
    pub target_metric: Option<f64>,
    /// Which direction of the metric is better.
    pub direction: Direction,
    /// The goal.
    pub goal: String,
    /// The files that it may touch.
    pub fence: Fence,
    /// The shell script that measures the metric.
    pub evaluation: String,
    /// The key of the metric in the evaluation's output, if not `metric`.
    pub metric_name: Option<String>,
    /// Timeout of an evaluation, in minutes.
    pub timeout_minutes: u64,
    /// Scripts that must pass, and that models never see.
    pub held_out: Vec<String>,
    /// A command that prints the state of a commit's checks: `success`, `failure` or `pending`. `{commit}` is the
    /// commit.
    pub ci: Option<String>,
    /// The remote for the memory branch and, if there is `ci`, for the working branch.
    pub remote: Option<String>,
    /// How many tests and iterations are listed one by one.
    pub cap: usize,
    /// How it works, or why that is unknown.
    pub strategy: Result<Strategy, String>,
    problems: Vec<Problem>,
}

/// Something that keeps a program from running.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The file, from the program's folder or from the repository's root.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub problem: String,
    /// What to do.
    pub fix: String,
}

/// Largest program that is read, in bytes.
pub const MAX_PROGRAM: usize = 1 << 20;
const TIMEOUT_MINUTES: u64 = 30;
const CAP: usize = 100;

impl Definition {
    /// Parses a program. `files` are all files of its folder, relative to it.
    pub fn parse(text: &str, files: &[String]) -> Result<Self, ConfigError> {
        let (front, body, offset) = split(text)?;
        let sections = sections::sections(body);
        let section = |titles: &[&str]| sections::named(&sections, titles);
        let lines = |titles: &[&str]| section(titles).map(|section| section.lines.as_slice());
        let evaluation = lines(&["Evaluation"]).unwrap_or_default();
        let pointed = strategy::pointed_at(lines(&["Evolution Strategy", "Strategy"]));
        let mut definition = Self {
            schedule: front.schedule.as_deref().and_then(Schedule::parse),
            target_metric: front.target_metric,
            direction: front.metric_direction.unwrap_or_else(|| said_direction(evaluation)),
            goal: lines(&["Goal"]).unwrap_or_default().join("\n").trim().to_owned(),
            fence: Fence::read(lines(&["Target"]).unwrap_or_default()),
            evaluation: sections::first_block(evaluation).unwrap_or_default().trim().to_owned(),
            metric_name: said_name(evaluation),
            timeout_minutes: front.timeout_minutes.unwrap_or(TIMEOUT_MINUTES).max(1),
            held_out: front.evaluation.held_out.clone(),
            ci: front.ci.clone(),
            remote: front.remote.clone(),
            cap: front.cap.unwrap_or(CAP).max(1),
            strategy: strategy::resolve(pointed.as_deref(), files),
            problems: Vec::new(),
        };
        definition.problems = definition.look(text, &front, &sections, offset);
        Ok(definition)
    }

    /// The problems in its own file.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    fn look(&self, text: &str, front: &Front, sections: &[Section<'_>], offset: usize) -> Vec<Problem> {
        let line = |titles: &[&str]| sections::named(sections, titles).map_or(1, |section| section.line + offset);
        let mut problems = Vec::new();
        if front.schedule.is_some() && self.schedule.is_none() {
            problems.push(stop(
                line_of(text, "schedule:"),
                "the schedule cannot be read",
                "write `every 6h`, `every 30m`, `daily` or `weekly`",
            ));
        }
        if self.goal.is_empty() {
            problems.push(stop(line(&["Goal"]), "there is no goal", "say under `## Goal` what is to be done"));
        }
        if self.fence.is_empty() {
            let fix = "list under `## Target` the files that it may touch: \"- `src/**`\"";
            problems.push(stop(line(&["Target"]), "the target names no file", fix));
        }
        if self.evaluation.is_empty() {
            let fix = "put a command into a fenced block under `## Evaluation`";
            problems.push(stop(line(&["Evaluation"]), "there is no evaluation", fix));
        }
        if let Err(why) = &self.strategy {
            let fix = "`tdd-cli program new` creates a whole strategy; without a strategy the default loop runs";
            problems.push(stop(line(&["Evolution Strategy", "Strategy"]), why, fix));
        }
        problems.extend(unfinished(text));
        problems
    }
}

/// The markers in a program's file that a person has not filled in.
pub fn markers_left(file: &str, text: &str) -> Vec<Problem> {
    let mark = |marker: sections::Marker| Problem {
        line: marker.line,
        file: file.to_owned(),
        problem: format!("a marker is left: {}", marker.asks),
        fix: "write what it asks for in its place".to_owned(),
    };
    sections::markers(text).into_iter().map(mark).collect()
}

/// The markers in the program itself, or else placeholder words of other tools. Only `program.md` is searched for these
/// words, because a playbook may mention `TODO`.
fn unfinished(text: &str) -> Vec<Problem> {
    let mut problems = markers_left("program.md", text);
    if problems.is_empty()
        && let Some(left) = sections::unfinished(text)
    {
        let problem = format!("it is not filled in yet: `{}`", left.asks);
        problems.push(stop(left.line, problem, "fill in the program, and remove that text"));
    }
    problems
}

fn stop(line: usize, problem: impl Into<String>, fix: &str) -> Problem {
    Problem { line, file: "program.md".to_owned(), problem: problem.into(), fix: fix.to_owned() }
}

fn line_of(text: &str, start: &str) -> usize {
    text.lines().position(|line| line.trim_start().starts_with(start)).map_or(1, |at| at + 1)
}

/// The better direction, according to the text about the evaluation.
fn said_direction(lines: &[&str]) -> Direction {
    let lower = |line: &&str| line.to_lowercase().contains("lower is better");
    if lines.iter().any(lower) { Direction::Lower } else { Direction::Higher }
}

/// The name in backticks after "metric is".
fn said_name(lines: &[&str]) -> Option<String> {
    let rest = lines.iter().find_map(|line| line.split_once("metric is `"))?.1;
    rest.split('`').next().filter(|name| !name.is_empty()).map(str::to_owned)
}

/// Front matter, body, and the number of lines before the body. Comments may precede the front matter.
fn split(text: &str) -> Result<(Front, &str, usize), ConfigError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.len() > MAX_PROGRAM {
        let problem = format!("the program has {} bytes, the limit is {MAX_PROGRAM}", text.len());
        return Err(ConfigError { line: 1, column: 1, problem, hint: Some("split it".to_owned()) });
    }
    let start = after_comments(text);
    let above = text[..start].matches('\n').count();
    let rest = &text[start..];
    if rest.lines().next().is_none_or(|line| line.trim_end() != "---") {
        return Ok((Front::default(), rest, above));
    }
    let moved = |error: ConfigError, by: u64| ConfigError { line: error.line + by, ..error };
    let shift = u64::try_from(above).unwrap_or(0);
    let (front, body) = plan::split(rest).map_err(|error| moved(error, shift))?;
    // The fence is the first line.
    let read = serde_saphyr::from_str(&front.join("\n")).map_err(|error| moved(describe(&error), shift + 1))?;
    let lines = front.len() + 2;
    let at = rest.split_inclusive('\n').take(lines).map(str::len).sum::<usize>();
    debug_assert_eq!(rest[at..].lines().count(), body.len());
    Ok((read, &rest[at..], above + lines))
}

fn after_comments(text: &str) -> usize {
    let mut at = 0;
    loop {
        let rest = &text[at..];
        at += rest.len() - rest.trim_start().len();
        match text[at..].strip_prefix("<!--").and_then(|rest| rest.find("-->")) {
            Some(end) => at += "<!--".len() + end + "-->".len(),
            None => return at,
        }
    }
}

/// The front matter. Unknown keys are ignored, because other tools keep their own keys there.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
struct Front {
    schedule: Option<String>,
    #[serde(alias = "target_metric")]
    target_metric: Option<f64>,
    #[serde(alias = "metric_direction")]
    metric_direction: Option<Direction>,
    #[serde(alias = "timeout_minutes")]
    timeout_minutes: Option<u64>,
    evaluation: FrontEvaluation,
    ci: Option<String>,
    remote: Option<String>,
    #[serde(rename = "harness-cap", alias = "harness_cap", alias = "harness_size_cap")]
    cap: Option<usize>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct FrontEvaluation {
    held_out: Vec<String>,
}

#[cfg(test)]
#[path = "definition_tests.rs"]
mod tests;
