//! Finds the plan steps of a project that name a test, and shows each with its dot.

use std::path::{Path, PathBuf};

use tdd_core::plan::{Dot, Dotted, TestStep};
use tdd_core::session::Session;

use crate::commands::plan;
use crate::output::{BAD, DIM, GOOD, paint};

/// Where plans are looked for.
pub const FOLDERS: [&str; 2] = ["plans", ".tdd/plans"];

/// What there is to be done: the plans of the last `plan run`, or those in their folders; and what the model planned
/// that is at work.
pub fn of_project(root: &Path, session: &Session) -> Vec<Dotted> {
    let standing = session.standing();
    let mut paths: Vec<PathBuf> = standing.plans().iter().map(|name| root.join(name)).collect();
    if paths.is_empty() {
        paths = FOLDERS.iter().flat_map(|folder| plan::files(&root.join(folder))).collect();
    }
    let mut steps: Vec<TestStep> = Vec::new();
    for path in paths {
        // Notes may lie there, too; and a plan may be gone by now.
        let Ok(plan) = plan::read(&path) else { continue };
        steps.extend(TestStep::of_plan(&path.strip_prefix(root).unwrap_or(&path).display().to_string(), &plan));
    }
    let at_work = standing.step().map(|step| format!("step {}", step.step)).unwrap_or_default();
    steps.extend(TestStep::of_planned(&at_work, standing.planned()));
    steps.iter().map(|step| step.dotted(session)).collect()
}

/// One line, with the dot in its colour and in words.
pub fn text(Dotted { step, state }: &Dotted) -> String {
    let style = match state {
        Dot::Red => BAD,
        Dot::Green => GOOD,
        Dot::NotYet => DIM,
    };
    let title: String = step.title.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let gap = " ".repeat(11 - state.text().chars().count());
    let test = paint(DIM, format_args!("({})", step.test_id));
    format!("  {}{gap}{}. {title} {test}\n", paint(style, state.text()), step.step)
}
