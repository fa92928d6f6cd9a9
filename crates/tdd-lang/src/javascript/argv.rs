//! Names the commands that format and check a JavaScript project, and the programs that it needs.

use std::time::Duration;

use tdd_core::command::CommandSpec;

use crate::language::{Project, Settings, Tool};

use super::owns;

/// Looks for prettier, eslint and tsc in the project and uses what is there.
const TOOL: &str = include_str!("tool.mjs");

/// What runs TypeScript where node's own runner does: node itself, or tsx.
pub const TYPES_IN_NODE: &str = "types in node";

/// Asking a program for its version takes no longer than this.
const A_MOMENT: Duration = Duration::from_secs(20);

/// Formats these files (relative to the repository's root); `None` if there is nothing to format.
pub fn fmt(project: &Project, settings: &Settings, files: &[String]) -> Option<CommandSpec> {
    if let Some(configured) = &settings.fmt_cmd {
        return Some(project.command(configured.clone(), settings));
    }
    let ours: Vec<&str> = files.iter().filter(|file| owns(file)).filter_map(|file| project.below(file)).collect();
    (!ours.is_empty()).then(|| project.command(tool("prettier", &[&["format"], ours.as_slice()].concat()), settings))
}

/// Lints everything and checks its types, or at least reads it, so that no file with a broken syntax passes.
pub fn check(project: &Project, settings: &Settings) -> CommandSpec {
    let argv = settings.check_cmd.clone().unwrap_or_else(|| tool("eslint and tsc, or the syntax alone", &["check"]));
    project.command(argv, settings)
}

/// The programs that a JavaScript project needs or can use.
pub fn tools() -> Vec<Tool> {
    let named = |name: &str, argv: Vec<String>, required: bool, fix: &str| Tool {
        name: name.to_owned(),
        version: CommandSpec::new(argv, A_MOMENT),
        required,
        fix: fix.to_owned(),
    };
    let node = ["node", "--version"].map(str::to_owned).to_vec();
    let optional = |name: &str, fix: &str| named(name, tool("version", &["version", name]), false, fix);
    vec![
        named("node", node, true, "install Node.js 20 or later: https://nodejs.org/"),
        named(
            TYPES_IN_NODE,
            tool("types in node", &["types-in-node"]),
            false,
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

/// Our script for a task, with what it is to be called where people read of it.
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

    fn project(root: &str) -> Project {
        Project { root: root.to_owned(), description: String::new() }
    }

    #[test]
    fn only_the_changed_sources_are_formatted() {
        let files = ["sub/a.ts", "sub/README.md", "b.js"].map(str::to_owned);
        let made = fmt(&project("sub"), &Settings::default(), &files).unwrap();
        assert_eq!((made.cwd.as_str(), &made.argv[5..]), ("sub", &["format".to_owned(), "a.ts".to_owned()][..]));
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
    fn only_node_cannot_be_missing() {
        let required: Vec<String> = tools().into_iter().filter(|tool| tool.required).map(|tool| tool.name).collect();
        assert_eq!(required, ["node"]);
    }
}
