//! Finds the packages of a workspace from `package.json` or `pnpm-workspace.yaml`.

use serde_json::Value;

use crate::language::{Project, Sources, join};
use crate::pattern::matches;

/// The folders of a workspace's packages, relative to the repository's root; a package inside another belongs to it.
pub(super) fn packages(project: &Project, sources: &dyn Sources) -> Vec<String> {
    let patterns = patterns(project, sources);
    let (without, with): (Vec<&String>, Vec<&String>) = patterns.iter().partition(|pattern| pattern.starts_with('!'));
    let is_named = |below: &str| {
        with.iter().any(|pattern| matches(pattern, below))
            && !without.iter().any(|pattern| matches(pattern.trim_start_matches('!'), below))
    };
    let mut found: Vec<String> = Vec::new();
    let folders = sources.files().iter().filter_map(|path| path.strip_suffix("/package.json"));
    let mut folders: Vec<&str> =
        folders.filter(|folder| !folder.split('/').any(|part| part == "node_modules")).collect();
    folders.sort_unstable();
    for folder in folders {
        let is_inner = found.iter().any(|outer| folder.starts_with(&format!("{outer}/")));
        if !is_inner && project.relative_path(folder).is_some_and(is_named) {
            found.push(folder.to_owned());
        }
    }
    found
}

fn patterns(project: &Project, sources: &dyn Sources) -> Vec<String> {
    let text = sources.read(&join(&project.root, "package.json")).unwrap_or_default();
    let manifest: Value = serde_json::from_str(&text).unwrap_or_default();
    let workspaces = &manifest["workspaces"];
    let listed = workspaces.as_array().or_else(|| workspaces["packages"].as_array());
    let named = listed.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
    let pnpm = sources.read(&join(&project.root, "pnpm-workspace.yaml")).unwrap_or_default();
    named.chain(listed_in_yaml(&pnpm)).collect()
}

/// The entries of the YAML list `packages`, one per line or all in brackets.
fn listed_in_yaml(text: &str) -> Vec<String> {
    let plain = |entry: &str| entry.split(" #").next().unwrap_or(entry).trim().trim_matches(['\'', '"']).to_owned();
    let mut lines = text.lines().skip_while(|line| !line.starts_with("packages:"));
    let first = lines.next().and_then(|line| line.strip_prefix("packages:")).unwrap_or_default().trim();
    if let Some(entries) = first.strip_prefix('[').and_then(|rest| rest.split(']').next()) {
        return entries.split(',').map(plain).filter(|entry| !entry.is_empty()).collect();
    }
    let is_part = |line: &&str| line.trim().is_empty() || line.starts_with([' ', '-', '#', '\t']);
    lines.take_while(is_part).filter_map(|line| line.trim().strip_prefix("- ")).map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::memory;

    #[test]
    fn the_packages_of_a_workspace_are_those_that_it_names() {
        let package = |folder: &str| (format!("{folder}/package.json"), "{}".to_owned());
        let folders = ["apps/web", "packages/a", "packages/a/inner", "packages/b", "node_modules/packages/c", "other"];
        let check = |project: &str, file: &str, text: &str, expected: &[&str]| {
            let mut files: Vec<_> = folders.iter().map(|folder| package(&join(project, folder))).collect();
            files.push((join(project, file), text.to_owned()));
            let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
            let root = Project { root: project.to_owned(), description: String::new() };
            let expected: Vec<_> = expected.iter().map(|folder| join(project, folder)).collect();
            assert_eq!(packages(&root, &memory(&files)), expected, "{text}");
        };
        let all = ["apps/web", "packages/a", "packages/b"];
        check("", "package.json", "{\"workspaces\": [\"packages/*\", \"./apps/*\"]}", &all);
        check("js", "package.json", "{\"workspaces\": {\"packages\": [\"packages/**\", \"!packages/b\"]}}", &all[1..2]);
        let yaml = "# ours\npackages:\n  - 'packages/*'\n\n  - \"apps/**\" # all\ncatalog:\n  - other\n";
        check("", "pnpm-workspace.yaml", yaml, &all);
        check("", "pnpm-workspace.yaml", "packages: ['packages/*', apps/web]\n", &all);
        check("", "package.json", "{}", &[]);
    }
}
