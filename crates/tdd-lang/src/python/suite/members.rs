//! A test run of a uv workspace, member by member: test modules of several members may have the same name, and each
//! member may configure pytest itself. Any other project is one member.

use super::PytestSuite;
use crate::language::{Project, Selection, Settings, Sources, Suite, UnknownCommand};
use crate::parts;
use crate::python::names::Names;
use crate::python::workspace::members;

/// Begins a test run.
pub fn begin(project: &Project, settings: &Settings, selection: Selection) -> Result<Box<dyn Suite>, UnknownCommand> {
    let whole = PytestSuite::new(project, settings, selection)?;
    let settings = settings.clone();
    Ok(parts::suite(move |sources| of_members(whole, &settings, sources)))
}

/// The runs of the members, preceded by that of the files outside of all members.
fn of_members(mut whole: PytestSuite, settings: &Settings, sources: &dyn Sources) -> Vec<Box<dyn Suite>> {
    // A command that names the tests' folders means one run.
    let roots = if whole.command.places.is_empty() { members(&whole.project, sources) } else { Vec::new() };
    let tested = |root: &Project| {
        let names = Names::of(root, sources);
        let is_own = |path: &String| root.relative_path(path).is_some() && !is_inner(path, root, &roots);
        sources.files().iter().any(|path| names.is_test_file(path) && is_own(path))
    };
    if roots.is_empty() {
        return vec![Box::new(whole)];
    }
    let mut suites: Vec<Box<dyn Suite>> = Vec::new();
    let selection = whole.selection.clone();
    for root in &roots {
        let member = parts::at(root);
        let share =
            parts::share(&selection, |path| member.relative_path(path).is_some() && !is_inner(path, &member, &roots));
        if share != Selection::Only(Vec::new())
            && tested(&member)
            && let Ok(mut suite) = PytestSuite::new(&member, settings, share)
        {
            suite.leave_out(&roots);
            suites.push(Box::new(suite));
        }
    }
    whole.selection = parts::share(&selection, |path| !is_inner(path, &whole.project, &roots));
    if whole.selection != Selection::Only(Vec::new()) && (tested(&whole.project) || suites.is_empty()) {
        whole.leave_out(&roots);
        suites.insert(0, Box::new(whole));
    }
    suites
}

/// Whether a path is in a member below a project.
fn is_inner(path: &str, project: &Project, roots: &[String]) -> bool {
    let inner = roots.iter().filter(|root| project.relative_path(root).is_some());
    inner.into_iter().any(|root| parts::at(root).relative_path(path).is_some())
}

impl PytestSuite {
    /// Ignores the members below its own folder.
    fn leave_out(&mut self, roots: &[String]) {
        let below = roots.iter().filter_map(|root| self.project.relative_path(root));
        self.command.flags.extend(below.map(|folder| format!("--ignore={folder}")));
    }
}
