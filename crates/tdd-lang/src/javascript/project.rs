//! Recognises a JavaScript or TypeScript project, and one that has code but no tests.

use serde_json::Value;

use crate::language::{Project, Sources, has_untested_production};

use super::items::{is_test_name, items};
use super::owns;
use super::runner::depended_on;
use crate::language::join;

/// The manifest of a new project.
pub const MANIFEST: &str = "package.json";

/// Lock files and their package managers.
const LOCKS: [(&str, &str); 5] = [
    ("pnpm-lock.yaml", "pnpm"),
    ("yarn.lock", "yarn"),
    ("bun.lock", "bun"),
    ("package-lock.json", "npm"),
    ("npm-shrinkwrap.json", "npm"),
];

/// The project in the topmost folder with a manifest, the root first. Without a manifest, the root if there are tests.
pub fn detect(sources: &dyn Sources) -> Option<Project> {
    let manifests = sources.files().iter().filter(|file| file.rsplit('/').next() == Some("package.json"));
    let mut folders: Vec<&str> = manifests.map(|file| file.rsplit_once('/').map_or("", |(folder, _)| folder)).collect();
    folders.retain(|folder| !folder.split('/').any(|part| part == "node_modules"));
    folders.sort_by_key(|folder| (if folder.is_empty() { 0 } else { 1 + folder.matches('/').count() }, *folder));
    if let Some(folder) = folders.first() {
        return Some(project(folder, sources));
    }
    let is_test = |file: &&String| owns(file) && is_test_name(file.rsplit('/').next().unwrap_or(file));
    let description = "JavaScript project without a manifest".to_owned();
    sources.files().iter().find(is_test).map(|_| Project { root: String::new(), description })
}

fn project(root: &str, sources: &dyn Sources) -> Project {
    let text = sources.read(&join(root, "package.json")).unwrap_or_default();
    let manifest: Value = serde_json::from_str(&text).unwrap_or_default();
    let there = |name: &str| sources.files().iter().any(|file| *file == join(root, name));
    let manager = LOCKS.iter().find(|(lock, _)| there(lock)).map_or("npm", |(_, manager)| *manager);
    let language = if is_typed(root, sources) { "TypeScript" } else { "JavaScript" };
    let is_workspace = !manifest["workspaces"].is_null() || there("pnpm-workspace.yaml");
    let what = if is_workspace { "workspace" } else { "package" };
    let runner = depended_on(&text).name();
    Project {
        root: root.to_owned(),
        description: format!("{language} {what} managed by {manager}, tested with {runner}"),
    }
}

/// Whether a project has a `tsconfig.json`.
pub fn is_typed(root: &str, sources: &dyn Sources) -> bool {
    let configuration = join(root, "tsconfig.json");
    sources.files().contains(&configuration)
}

/// Whether the project has functions but no test at all.
pub fn production_without_tests(sources: &dyn Sources, project: &Project) -> bool {
    has_untested_production(project, sources, owns, items, |path| !super::sort::is_runner_configuration(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::memory;

    fn check(files: &[(&str, &str)], expected: Option<(&str, &str)>) {
        let found = detect(&memory(files)).map(|project| (project.root, project.description));
        assert_eq!(found.as_ref().map(|(root, what)| (root.as_str(), what.as_str())), expected, "{files:?}");
    }

    #[test]
    fn a_project_is_known_by_its_manifest_its_lock_file_and_its_runner() {
        let vitest = "{\"devDependencies\": {\"vitest\": \"4\"}}";
        check(&[("package.json", "{}")], Some(("", "JavaScript package managed by npm, tested with node")));
        let files = [("package.json", vitest), ("pnpm-lock.yaml", ""), ("tsconfig.json", "{}")];
        check(&files, Some(("", "TypeScript package managed by pnpm, tested with vitest")));
        let workspace = "{\"workspaces\": [\"packages/*\"]}";
        let files = [("package.json", workspace), ("packages/a/package.json", "{}"), ("yarn.lock", "")];
        check(&files, Some(("", "JavaScript workspace managed by yarn, tested with node")));
        check(
            &[("web/package.json", "{}"), ("a/b/package.json", "{}")],
            Some(("web", "JavaScript package managed by npm, tested with node")),
        );
        check(&[("a.test.js", "")], Some(("", "JavaScript project without a manifest")));
        check(&[("README.md", ""), ("tools/gen.js", "")], None);
    }

    #[test]
    fn functions_without_a_single_test_are_untested() {
        let untested = |files: &[(&str, &str)]| {
            let files = [files, &[("package.json", "{}")]].concat();
            let sources = memory(&files);
            production_without_tests(&sources, &detect(&sources).unwrap())
        };
        assert!(untested(&[("calc.js", "export const add = () => 1\n")]));
        assert!(!untested(&[("calc.js", "export const X = 1\n")]));
        assert!(!untested(&[("calc.js", "export function f() {}\n"), ("a.test.js", "test('a', () => {})\n")]));
        assert!(!untested(&[("vitest.config.js", "export default () => {}\n")]));
    }
}
