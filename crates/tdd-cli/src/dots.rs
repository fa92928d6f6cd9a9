//! Lists the plan steps that name a test, each with a dot for its test's state.

use std::path::{Path, PathBuf};

use tdd_core::plan::{Dot, Dotted, TestStep};
use tdd_core::session::Session;

use crate::commands::plan;
use crate::output::{BAD, DIM, GOOD, paint};

/// Folders that may hold plans.
pub const FOLDERS: [&str; 2] = ["plans", ".tdd/plans"];

/// The steps of the last `plan run`, or else of all plans in the project, and those planned by the current step's
/// model.
pub fn of_project(root: &Path, session: &Session) -> Vec<Dotted> {
    let state = session.machine_state();
    let mut paths: Vec<PathBuf> = state.plans().iter().map(|name| root.join(name)).collect();
    if paths.is_empty() {
        paths = FOLDERS.iter().flat_map(|folder| plan::files(&root.join(folder))).collect();
    }
    let mut steps: Vec<TestStep> = Vec::new();
    for path in paths {
        // The file may be a note, or deleted.
        let Ok(plan) = plan::read(&path) else { continue };
        steps.extend(TestStep::of_plan(&path.strip_prefix(root).unwrap_or(&path).display().to_string(), &plan));
    }
    let at_work = state.step().map(|step| format!("step {}", step.step)).unwrap_or_default();
    steps.extend(TestStep::of_planned(&at_work, state.planned()));
    steps.iter().map(|step| step.dotted(session)).collect()
}

/// One line with the coloured dot and the state in words.
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
