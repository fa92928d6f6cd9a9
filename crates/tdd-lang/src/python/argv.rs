//! The commands that format and check a Python project, and the programs that it needs.

use crate::language::Tool;

use super::suite::FIND;

/// Uses ruff or black, whichever the project's environment has.
const TOOL: &str = include_str!("tool.py");

/// The command that formats these files; `None` without files.
pub fn formatter(files: &[&str]) -> Option<Vec<String>> {
    (!files.is_empty()).then(|| tool("ruff or black", &[&["format"], files].concat()))
}

/// The command that lints everything. Without a linter it at least parses all files, so that no syntax error passes.
pub fn checker() -> Vec<String> {
    tool("ruff, or the syntax alone", &["check"])
}

/// The programs that a Python project needs or can use.
pub fn tools() -> Vec<Tool> {
    let pytest = ["python3", "-c", FIND, FIND, "anywhere", "version"];
    let install = "python3 -m venv .venv && .venv/bin/pip install";
    let optional =
        |name: &str, fix: &str| Tool::optional(name, tool(&format!("version of {name}"), &["version", name]), fix);
    vec![
        Tool::required(
            "python",
            ["python3", "--version"],
            "install Python 3.9 or later: https://www.python.org/downloads/",
        ),
        Tool::required("pytest", pytest, &format!("{install} pytest")),
        optional("ruff", &format!("{install} ruff")),
        optional("black", "only needed where ruff is not used to format"),
    ]
}

/// Our script for a task; `called` is the name that people see.
fn tool(called: &str, task: &[&str]) -> Vec<String> {
    let script = format!("# {called}\n{TOOL}");
    ["python3", "-c", &script].into_iter().chain(task.iter().copied()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_is_told_which_files_to_format() {
        assert_eq!(formatter(&["a.py"]).unwrap()[3..], ["format", "a.py"]);
        assert_eq!(formatter(&[]), None);
    }

    #[test]
    fn a_linter_can_be_missing_and_pytest_cannot() {
        let required: Vec<String> = tools().into_iter().filter(|tool| tool.required).map(|tool| tool.name).collect();
        assert_eq!(required, ["python", "pytest"]);
    }
}
