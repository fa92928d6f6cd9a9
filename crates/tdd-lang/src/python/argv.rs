//! Names the commands that format and check a Python project, and the programs that it needs.

use std::time::Duration;

use tdd_core::command::CommandSpec;

use crate::language::{Project, Settings, Tool};

use super::owns;
use super::suite::FIND;

/// Looks for ruff and black in the project's environment and uses what is there.
const TOOL: &str = include_str!("tool.py");

/// Asking a program for its version takes no longer than this.
const A_MOMENT: Duration = Duration::from_secs(20);

/// Formats these files (relative to the repository's root); `None` if there is nothing to format.
pub fn fmt(project: &Project, settings: &Settings, files: &[String]) -> Option<CommandSpec> {
    if let Some(configured) = &settings.fmt_cmd {
        return Some(project.command(configured.clone(), settings));
    }
    let ours: Vec<&str> = files.iter().filter(|file| owns(file)).filter_map(|file| project.below(file)).collect();
    (!ours.is_empty())
        .then(|| project.command(tool("ruff or black", &[&["format"], ours.as_slice()].concat()), settings))
}

/// Lints everything, or at least reads it, so that no file with a broken syntax passes.
pub fn check(project: &Project, settings: &Settings) -> CommandSpec {
    let argv = settings.check_cmd.clone().unwrap_or_else(|| tool("ruff, or the syntax alone", &["check"]));
    project.command(argv, settings)
}

/// The programs that a Python project needs or can use.
pub fn tools() -> Vec<Tool> {
    let pytest = ["python3", "-c", FIND, FIND, "anywhere", "version"].map(str::to_owned).to_vec();
    let named = |name: &str, argv: Vec<String>, required: bool, fix: &str| Tool {
        name: name.to_owned(),
        version: CommandSpec::new(argv, A_MOMENT),
        required,
        fix: fix.to_owned(),
    };
    let python = ["python3", "--version"].map(str::to_owned).to_vec();
    let install = "python3 -m venv .venv && .venv/bin/pip install";
    vec![
        named("python", python, true, "install Python 3.9 or later: https://www.python.org/downloads/"),
        named("pytest", pytest, true, &format!("{install} pytest")),
        named("ruff", tool("version of ruff", &["version", "ruff"]), false, &format!("{install} ruff")),
        named(
            "black",
            tool("version of black", &["version", "black"]),
            false,
            "only needed where ruff is not used to format",
        ),
    ]
}

/// Our script for a task, with what it is to be called where people read of it.
fn tool(called: &str, task: &[&str]) -> Vec<String> {
    let script = format!("# {called}\n{TOOL}");
    ["python3", "-c", &script].into_iter().chain(task.iter().copied()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(root: &str) -> Project {
        Project { root: root.to_owned(), description: String::new() }
    }

    #[test]
    fn only_the_changed_python_files_are_formatted() {
        let files = ["sub/a.py", "sub/README.md", "b.py"].map(str::to_owned);
        let made = fmt(&project("sub"), &Settings::default(), &files).unwrap();
        assert_eq!((made.cwd.as_str(), &made.argv[3..]), ("sub", &["format".to_owned(), "a.py".to_owned()][..]));
        assert_eq!(fmt(&project(""), &Settings::default(), &files[1..2]), None);
    }

    #[test]
    fn a_configured_command_is_used_as_it_is() {
        let words = |text: &str| Some(text.split(' ').map(str::to_owned).collect::<Vec<_>>());
        let settings = Settings { check_cmd: words("make lint"), fmt_cmd: words("make fmt"), ..Settings::default() };
        assert_eq!(check(&project(""), &settings).line(), "make lint");
        assert_eq!(fmt(&project(""), &settings, &[]).unwrap().line(), "make fmt");
    }

    #[test]
    fn a_linter_can_be_missing_and_pytest_cannot() {
        let required: Vec<String> = tools().into_iter().filter(|tool| tool.required).map(|tool| tool.name).collect();
        assert_eq!(required, ["python", "pytest"]);
    }
}
