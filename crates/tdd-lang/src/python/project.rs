//! Detects a Python project, and whether it has code but no tests.

use crate::language::{Project, Sources, has_untested_production, join};

use super::items::items;
use super::names::Names;
use super::owns;

/// The manifest of a new project.
pub const MANIFEST: &str = "pyproject.toml";

/// Files that make a folder a project, the most specific first, each with its description.
const MANIFESTS: [(&str, &str); 9] = [
    ("uv.lock", "managed by uv"),
    ("poetry.lock", "managed by poetry"),
    ("Pipfile", "managed by pipenv"),
    ("pdm.lock", "managed by pdm"),
    ("pyproject.toml", "with `pyproject.toml`"),
    ("setup.py", "with `setup.py`"),
    ("setup.cfg", "with `setup.cfg`"),
    ("requirements.txt", "with `requirements.txt`"),
    ("pytest.ini", "with `pytest.ini`"),
];

/// The project in the repository's root if that has a manifest, else in the topmost folder that has one. Without any
/// manifest, the root if it has Python files or there are test files.
pub fn detect(sources: &dyn Sources) -> Option<Project> {
    let in_folder = |folder: &str| {
        let there = |name: &str| sources.files().iter().any(|file| *file == join(folder, name));
        MANIFESTS.iter().find(|(name, _)| there(name)).map(|(_, what)| *what)
    };
    if let Some(what) = in_folder("") {
        return Some(project("", what));
    }
    let mut folders: Vec<&str> = sources.files().iter().filter_map(|file| manifest_folder(file)).collect();
    folders.sort_by_key(|folder| (folder.matches('/').count(), *folder));
    let is_test_file = |file: &str| Names::default().is_test_file(file);
    let is_plain = || sources.files().iter().any(|file| owns(file) && (!file.contains('/') || is_test_file(file)));
    match folders.first() {
        Some(folder) => Some(project(folder, in_folder(folder).unwrap_or_default())),
        None => is_plain().then(|| project("", "without a manifest")),
    }
}

/// How to install pytest, by what manages the project.
pub(super) fn install(project: &Project, sources: &dyn Sources) -> &'static str {
    let there = |name: &str| sources.files().binary_search(&join(&project.root, name)).is_ok();
    match () {
        () if there("uv.lock") => "`uv add --dev pytest && uv sync`",
        () if there("poetry.lock") => "`poetry add --group dev pytest && poetry install`",
        () if there("Pipfile") => "`pipenv install --dev pytest`",
        () if there("pdm.lock") => "`pdm add --dev pytest`",
        () if there("hatch.toml") => {
            "name it among the dependencies of hatch's environment, and say `ci.test_cmd: [\"hatch\", \"run\", \"pytest\"]`"
        }
        () => "`python3 -m venv .venv && .venv/bin/pip install pytest`",
    }
}

fn project(root: &str, what: &str) -> Project {
    Project { root: root.to_owned(), description: format!("Python project {what}") }
}

fn manifest_folder(file: &str) -> Option<&str> {
    let (folder, name) = file.rsplit_once('/')?;
    is_manifest(name).then_some(folder)
}

/// Whether a file of this name makes its folder a project.
pub fn is_manifest(name: &str) -> bool {
    MANIFESTS.iter().any(|(manifest, _)| *manifest == name)
}

/// Whether there are functions and not a single test.
pub fn production_without_tests(sources: &dyn Sources, project: &Project) -> bool {
    let names = Names::of(project, sources);
    let items = |path: &str, source: &str| items(path, source, &names);
    has_untested_production(project, sources, owns, items, |path| !super::sort::is_runner_configuration(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::memory;

    fn check(files: &[&str], expected: Option<(&str, &str)>) {
        let files: Vec<(&str, &str)> = files.iter().map(|path| (*path, "")).collect();
        let found = detect(&memory(&files)).map(|project| (project.root, project.description));
        assert_eq!(found.as_ref().map(|(root, what)| (root.as_str(), what.as_str())), expected, "{files:?}");
    }

    #[test]
    fn a_project_is_known_by_its_lock_file_its_manifest_or_its_modules() {
        check(&["pyproject.toml", "uv.lock"], Some(("", "Python project managed by uv")));
        check(&["pyproject.toml", "poetry.lock"], Some(("", "Python project managed by poetry")));
        check(&["requirements.txt"], Some(("", "Python project with `requirements.txt`")));
        check(&["calc.py"], Some(("", "Python project without a manifest")));
        check(&["b/pyproject.toml", "a/x/setup.py"], Some(("b", "Python project with `pyproject.toml`")));
        check(&["README.md", "tools/gen.py"], None);
        check(&[], None);
    }

    #[test]
    fn functions_without_a_single_test_are_untested() {
        let untested = |files: &[(&str, &str)]| {
            let sources = memory(files);
            production_without_tests(&sources, &detect(&sources).unwrap())
        };
        assert!(untested(&[("calc.py", "def add(): pass\n")]));
        assert!(!untested(&[("calc.py", "X = 1\n")]));
        assert!(!untested(&[("calc.py", "def add(): pass\n"), ("tests/test_a.py", "def test_a(): pass\n")]));
        assert!(!untested(&[("setup.py", "def version(): pass\n")]));
    }
}
