//! The commands that format and check a JavaScript project, and the programs it needs.

use crate::language::Tool;

/// A script that finds and runs the project's prettier, eslint and tsc.
const TOOL: &str = include_str!("tool.mjs");

/// The name of the check that node can run TypeScript: by itself, or with tsx.
pub const TYPES_IN_NODE: &str = "types in node";

/// The command that formats these files; `None` if there are none.
pub fn formatter(files: &[&str]) -> Option<Vec<String>> {
    (!files.is_empty()).then(|| tool("prettier", &[&["format"], files].concat()))
}

/// The command that lints and type-checks everything, or at least parses it, so that no syntax error passes.
pub fn checker() -> Vec<String> {
    tool("eslint and tsc, or the syntax alone", &["check"])
}

/// The programs that a JavaScript project needs or can use.
pub fn tools() -> Vec<Tool> {
    let optional = |name: &str, fix: &str| Tool::optional(name, tool("version", &["version", name]), fix);
    vec![
        Tool::required("node", ["node", "--version"], "install Node.js 20 or later: https://nodejs.org/"),
        Tool::optional(
            TYPES_IN_NODE,
            tool("types in node", &["types-in-node"]),
            "use node 22.18 or later, or `npm install --save-dev tsx`",
        ),
        optional("vitest", "`npm install`, or `npm install --save-dev vitest` where the package does not ask for it"),
        optional("jest", "`npm install`, or `npm install --save-dev jest` where the package does not ask for it"),
        optional("prettier", "`npm install --save-dev prettier`; without it nothing is formatted"),
        optional(
            "eslint",
            "`npm install --save-dev eslint` and a configuration; without it only the syntax is checked",
        ),
        optional("typescript", "`npm install --save-dev typescript`; without it no types are checked"),
    ]
}

/// The script for a task; `called` is the name that people see.
fn tool(called: &str, task: &[&str]) -> Vec<String> {
    let script = format!("// {called}\n{TOOL}");
    ["node", "--input-type=module", "-e", &script, "--"]
        .into_iter()
        .chain(task.iter().copied())
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_is_told_which_files_to_format() {
        assert_eq!(formatter(&["a.ts"]).unwrap()[5..], ["format", "a.ts"]);
        assert_eq!(formatter(&[]), None);
    }

    #[test]
    fn only_node_cannot_be_missing() {
        let required: Vec<String> = tools().into_iter().filter(|tool| tool.required).map(|tool| tool.name).collect();
        assert_eq!(required, ["node"]);
    }
}
