//! Detects a Go module, and whether it has code but no tests.

use crate::language::{Project, Sources, has_untested_production, join};

use super::items::items;
use super::owns;
use super::sort::is_runner_configuration;

/// The manifest of a new project.
pub const MANIFEST: &str = "go.mod";

/// The module in the repository's root, or else the topmost one.
pub fn detect(sources: &dyn Sources) -> Option<Project> {
    let mut folders: Vec<&str> = sources.files().iter().filter_map(|file| module_folder(file)).collect();
    folders.sort_by_key(|folder| (depth(folder), *folder));
    let root = (*folders.first()?).to_owned();
    let name = sources.read(&join(&root, "go.mod")).and_then(|text| module_path(&text).map(str::to_owned));
    let description = format!("Go module `{}`", name.unwrap_or_default());
    Some(Project { root, description })
}

/// The import path of a module, from its `go.mod`.
pub(super) fn module_path(manifest: &str) -> Option<&str> {
    let line = manifest.lines().find_map(|line| line.trim().strip_prefix("module"))?;
    let line = line.split("//").next().unwrap_or(line);
    Some(line.trim().trim_matches(['"', '`', '(', ')'])).filter(|path| !path.is_empty())
}

fn module_folder(file: &str) -> Option<&str> {
    let (folder, name) = file.rsplit_once('/').unwrap_or(("", file));
    let hidden = folder.split('/').any(|part| matches!(part, "vendor" | "testdata") || part.starts_with(['.', '_']));
    (name == "go.mod" && (folder.is_empty() || !hidden)).then_some(folder)
}

fn depth(folder: &str) -> usize {
    if folder.is_empty() { 0 } else { 1 + folder.matches('/').count() }
}

/// Whether there are functions and not a single test.
pub fn production_without_tests(sources: &dyn Sources, project: &Project) -> bool {
    let is_source = |path: &str| owns(path) && !is_runner_configuration(path);
    has_untested_production(project, sources, is_source, items, |_| true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::memory;

    #[test]
    fn the_topmost_module_is_the_project() {
        let found = |files: &[(&str, &str)]| detect(&memory(files)).map(|project| (project.root, project.description));
        let named = |root: &str, name: &str| Some((root.to_owned(), format!("Go module `{name}`")));
        assert_eq!(
            found(&[("go.mod", "module example.com/a // x\n"), ("b/go.mod", "module b\n")]),
            named("", "example.com/a")
        );
        assert_eq!(found(&[("svc/b/go.mod", "module b\n"), ("svc/go.mod", "module \"c\"\n")]), named("svc", "c"));
        assert_eq!(found(&[("vendor/x/go.mod", "module b\n"), ("a.go", "package a\n")]), None);
    }

    #[test]
    fn code_without_a_single_test_is_untested() {
        let untested = |files: &[(&str, &str)]| {
            production_without_tests(&memory(files), &Project { root: String::new(), description: String::new() })
        };
        let code = ("a.go", "package a\nfunc F() {}\n");
        assert!(untested(&[code]));
        assert!(!untested(&[code, ("a_test.go", "package a\nfunc TestF(t *testing.T) {}\n")]));
        assert!(!untested(&[("a.go", "package a\n")]));
    }
}
