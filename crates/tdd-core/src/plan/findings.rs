//! Problems of a plan, and notes about how it runs.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Kind, Plan, Step};
use crate::path::{ConfinedPath, RepoPath};
use crate::test_id::TestId;

/// A problem or a note.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Finding {
    /// The line, from 1.
    pub line: usize,
    /// Whether it stops the plan.
    pub severity: Severity,
    /// What the problem is.
    pub problem: String,
    /// What to write.
    pub fix: String,
}

/// Whether a finding stops the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The plan does not run.
    Stop,
    /// The plan runs, but perhaps not as its author expects.
    Note,
}

pub(super) fn of(plan: &Plan) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(kind(plan));
    findings.extend(truths(plan));
    findings.extend(plan.artifacts.iter().filter_map(|path| artifact(plan, path)));
    findings.extend(plan.steps.iter().flat_map(|step| of_step(plan, step)));
    findings.extend(doubles(&plan.steps));
    if plan.steps.is_empty() {
        let fix = "write a numbered list, headings `## Step 1: …`, or `<task>` blocks";
        findings.push(stop(1, "the plan has no steps".to_owned(), fix));
    }
    findings.sort();
    findings
}

fn stop(line: usize, problem: String, fix: impl Into<String>) -> Finding {
    Finding { line, severity: Severity::Stop, problem, fix: fix.into() }
}

fn note(line: usize, problem: String, fix: impl Into<String>) -> Finding {
    Finding { line, severity: Severity::Note, problem, fix: fix.into() }
}

fn kind(plan: &Plan) -> Option<Finding> {
    let word = plan.kind.as_ref().filter(|_| plan.kind().is_none())?;
    let near = |known: &&str| strsim::jaro_winkler(word, known);
    let nearest = ["tdd", "execute"].into_iter().max_by(|a, b| near(a).total_cmp(&near(b))).unwrap_or_default();
    let line = plan.front_line(|line| line.starts_with("type:"));
    Some(stop(
        line,
        format!("`{word}` is not a plan type"),
        format!("did you mean `type: {nearest}`? known: tdd, execute"),
    ))
}

fn truths(plan: &Plan) -> impl Iterator<Item = Finding> {
    let unproven = plan.truths.iter().filter(|truth| truth.test.is_none());
    unproven.map(|truth| {
        let line = plan.front_line(|line| line.contains(&truth.text));
        let problem = format!("\"{}\" names no test, so it will be reported as unproven", truth.text);
        note(line, problem, "name one in it: \"… (tests/login.rs::accepts_a_password)\"")
    })
}

fn artifact(plan: &Plan, path: &str) -> Option<Finding> {
    let error = ConfinedPath::new(path).err()?;
    let line = plan.front_line(|line| line.contains(path));
    Some(stop(line, format!("the artifact {error}"), "name a file inside the project"))
}

fn of_step(plan: &Plan, step: &Step) -> Vec<Finding> {
    let mut findings = Vec::new();
    match (&step.test_id, &step.test_file_path) {
        (Some(id), None) => {
            let known = TestId::parse(&id.text).ok();
            let path = known.as_ref().and_then(TestId::path).unwrap_or("tests/login.rs");
            let problem = format!("the step names the test `{}` but no file for it", id.text);
            findings.push(stop(id.line, problem, format!("add `test_file_path: {path}`")));
        }
        (None, _) if plan.kind() == Some(Kind::Tdd) => {
            let problem = format!("\"{}\" names no test, so it runs only in refactor mode", step.title);
            findings.push(note(
                step.line,
                problem,
                "add `test_id:` and `test_file_path:`, or leave it to refactor mode",
            ));
        }
        (None, _) | (Some(_), Some(_)) => {}
    }
    findings.extend(test_id(step));
    findings.extend(test_file(step));
    findings
}

fn test_id(step: &Step) -> Option<Finding> {
    let id = step.test_id.as_ref()?;
    let error = TestId::parse(&id.text).err()?;
    Some(stop(id.line, error.to_string(), "write `test_id: tests/login.rs::accepts_a_password`"))
}

fn test_file(step: &Step) -> Option<Finding> {
    let file = step.test_file_path.as_ref()?;
    if let Err(error) = RepoPath::new(&file.text) {
        return Some(stop(file.line, format!("the test file {error}"), "name a file inside the project"));
    }
    let id = step.test_id.as_ref().and_then(|id| TestId::parse(&id.text).ok())?;
    let path = id.path().filter(|path| *path != file.text)?;
    let problem = format!("the test `{id}` is in `{path}`, but the step says `{}`", file.text);
    Some(stop(file.line, problem, format!("write `test_file_path: {path}`, or another `test_id`")))
}

fn doubles(steps: &[Step]) -> Vec<Finding> {
    let mut seen = BTreeMap::new();
    let mut findings = Vec::new();
    for id in steps.iter().filter_map(|step| step.test_id.as_ref()) {
        match seen.get(&id.text) {
            None => drop(seen.insert(&id.text, id.line)),
            Some(first) => {
                let problem = format!("`{}` is already the test of the step on line {first}", id.text);
                findings.push(stop(id.line, problem, "give each step a test of its own"));
            }
        }
    }
    findings
}

impl Plan {
    /// The first line of the front matter for which `is_meant` holds, or else line 1 of the file.
    fn front_line(&self, is_meant: impl Fn(&str) -> bool) -> usize {
        self.front.iter().position(|line| is_meant(line)).map_or(1, |at| at + 2)
    }
}
