//! Finds the members of a uv workspace, if each runs its own tests.

use toml::{Table, Value};

use crate::language::{Project, Sources, join};
use crate::pattern::matches;

/// Files that configure pytest for everything below them.
const SETTINGS: [&str; 4] = ["pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml"];

/// The folders of a workspace's members, relative to the repository's root. Empty if the workspace itself configures
/// pytest: then pytest runs once for all of them.
pub(super) fn members(project: &Project, sources: &dyn Sources) -> Vec<String> {
    let text = sources.read(&join(&project.root, "pyproject.toml")).unwrap_or_default();
    let manifest: Table = text.parse().unwrap_or_default();
    let Some(tool) = manifest.get("tool") else { return Vec::new() };
    let is_there = |name: &str| sources.files().iter().any(|file| *file == join(&project.root, name));
    if tool.get("pytest").is_some() || SETTINGS.iter().any(|name| is_there(name)) {
        return Vec::new();
    }
    let listed = |key: &str| {
        let list = tool.get("uv").and_then(|uv| uv.get("workspace")?.get(key)?.as_array());
        list.into_iter().flatten().filter_map(Value::as_str).collect::<Vec<_>>()
    };
    let (with, without) = (listed("members"), listed("exclude"));
    let is_named = |below: &str| {
        with.iter().any(|pattern| matches(pattern, below)) && !without.iter().any(|pattern| matches(pattern, below))
    };
    let folders = sources.files().iter().filter_map(|path| path.strip_suffix("/pyproject.toml"));
    let named = folders.filter(|folder| project.relative_path(folder).is_some_and(is_named));
    named.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::memory;

    #[test]
    fn a_workspace_leaves_its_tests_to_its_members_unless_it_says_how_to_run_them() {
        let workspace = "[tool.uv.workspace]\nmembers = [\"packages/*\"]\nexclude = [\"packages/c\"]\n";
        let check = |root: &str, files: &[(&str, &str)], expected: &[&str]| {
            let packages = ["packages/a/pyproject.toml", "packages/c/pyproject.toml", "other/pyproject.toml"];
            let all = packages.into_iter().map(|path| (path, "")).chain(files.iter().copied());
            let all: Vec<_> = all.map(|(path, text)| (join(root, path), text)).collect();
            let all: Vec<_> = all.iter().map(|(path, text)| (path.as_str(), *text)).collect();
            let project = Project { root: root.to_owned(), description: String::new() };
            assert_eq!(members(&project, &memory(&all)), expected);
        };
        check("", &[("pyproject.toml", workspace)], &["packages/a"]);
        check("py", &[("pyproject.toml", workspace)], &["py/packages/a"]);
        check("", &[("pyproject.toml", &format!("{workspace}[tool.pytest.ini_options]\n"))], &[]);
        check("", &[("pyproject.toml", workspace), ("pytest.ini", "")], &[]);
        check("", &[("pyproject.toml", "[project]\nname = \"a\"\n")], &[]);
    }
}
