//! A test run of a workspace that leaves testing to its packages, each with its own runner in its own folder. Any other
//! project is one package.

use super::JavaScriptSuite;
use crate::javascript::items::is_test_file;
use crate::javascript::runner::left_to_packages;
use crate::javascript::test_command::TestCommand;
use crate::javascript::workspace::packages;
use crate::language::{Project, Selection, Settings, Sources, Suite, UnknownCommand};
use crate::parts;

/// Begins a test run.
pub fn begin(project: &Project, settings: &Settings, selection: Selection) -> Result<Box<dyn Suite>, UnknownCommand> {
    let whole = JavaScriptSuite::new(project, settings, selection)?;
    let (project, settings) = (project.clone(), settings.clone());
    Ok(parts::suite(move |sources| {
        let each = of_packages(&whole.command, &project, &settings, &whole.selection, sources);
        each.unwrap_or_else(|| vec![Box::new(whole)])
    }))
}

/// The packages' runs; `None` if the project is tested as a whole, or has no tested packages. Requested tests outside
/// all packages go to the first, which reports them as not found.
fn of_packages(
    command: &TestCommand,
    project: &Project,
    settings: &Settings,
    selection: &Selection,
    sources: &dyn Sources,
) -> Option<Vec<Box<dyn Suite>>> {
    let script = left_to_packages(command, project, sources)?;
    let is_tested = |root: &String| sources.files().iter().any(|path| is_test_file(path) && holds(root, path));
    let roots: Vec<String> = packages(project, sources).into_iter().filter(is_tested).collect();
    let settings = Settings { test_cmd: Some(["npm", "run", &script].map(str::to_owned).to_vec()), ..settings.clone() };
    let mut suites: Vec<Box<dyn Suite>> = Vec::new();
    for (at, root) in roots.iter().enumerate() {
        let is_homeless = |path: &str| !roots.iter().any(|root| holds(root, path));
        let share = parts::share(selection, |path| holds(root, path) || at == 0 && is_homeless(path));
        if share != Selection::Only(Vec::new()) {
            suites.push(Box::new(JavaScriptSuite::new(&parts::at(root), &settings, share).ok()?));
        }
    }
    (!roots.is_empty()).then_some(suites)
}

fn holds(root: &str, path: &str) -> bool {
    parts::at(root).relative_path(path).is_some()
}
