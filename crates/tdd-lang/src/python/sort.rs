//! Sorts the files of a repository: production, tests with their helpers, runner configuration, documents.

use tdd_core::change::Sort;

use super::names::Names;
use super::owns;
use crate::sort::sorted;

/// Files that are runner configuration in any folder.
const STEERING_NAMES: [&str; 30] = [
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "tox.ini",
    "pytest.ini",
    ".pytest.ini",
    "pytest.toml",
    ".pytest.toml",
    "conftest.py",
    "noxfile.py",
    "Pipfile",
    "Pipfile.lock",
    "poetry.lock",
    "poetry.toml",
    "uv.lock",
    "uv.toml",
    "pdm.lock",
    "hatch.toml",
    ".python-version",
    ".coveragerc",
    "ruff.toml",
    ".ruff.toml",
    ".flake8",
    ".pylintrc",
    "mypy.ini",
    ".mypy.ini",
    "pyrightconfig.json",
    ".pre-commit-config.yaml",
    "MANIFEST.in",
    "pyvenv.cfg",
];

/// Modules that would be loaded instead of what runs the tests, or before it.
const STEERING_MODULES: [&str; 16] = [
    "sitecustomize",
    "usercustomize",
    "pytest",
    "_pytest",
    "pluggy",
    "iniconfig",
    "unittest",
    "doctest",
    "builtins",
    "importlib",
    "site",
    "traceback",
    "inspect",
    "ast",
    "linecache",
    "mock",
];

/// Folders whose files are all runner configuration, in addition to those of all languages.
const STEERING_FOLDERS: [&str; 3] = [".venv", "venv", "site-packages"];

/// The sort of a path, whether or not the file exists.
pub(super) fn sort(path: &str, names: &Names) -> Sort {
    let folders = path.rsplit_once('/').map_or("", |(folders, _)| folders);
    sorted(is_runner_configuration(path), names.is_test_file(path) || names.is_test_folder(folders), owns(path))
}

/// Whether a path is runner configuration by its name.
pub(super) fn is_runner_configuration(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.split('.').next().unwrap_or_default();
    let is_compiled = [".pth", ".pyc", ".pyo", ".pyd", ".so"].iter().any(|ending| name.ends_with(ending));
    let is_module = owns(name) && STEERING_MODULES.contains(&stem);
    crate::sort::is_runner_configuration(path, &STEERING_NAMES, &STEERING_FOLDERS)
        || is_compiled
        || is_module
        || is_requirements(name)
        || path.split('/').rev().skip(1).any(|folder| STEERING_MODULES.contains(&folder))
}

/// Whether a file lists requirements.
pub(super) fn is_requirements(name: &str) -> bool {
    let is_text = name.rsplit_once('.').is_some_and(|(_, ending)| matches!(ending, "txt" | "in"));
    is_text
        && (name.starts_with("requirements") || name.starts_with("constraints") || name.ends_with("requirements.txt"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sort_of: Sort, paths: &[&str]) {
        for path in paths {
            assert_eq!(sort(path, &Names::default()), sort_of, "{path}");
        }
    }

    #[test]
    fn every_file_has_its_place() {
        check(Sort::Production, &["calc.py", "src/calc/__init__.py", "setup/x.py", "mocks.py"]);
        check(Sort::Test, &["tests/test_a.py", "tests/helpers.py", "calc_test.py", "tests/data/x.json"]);
        check(Sort::Document, &["README.md", "data.json", "docs/a.rst"]);
    }

    #[test]
    fn what_steers_the_runner_is_steering_wherever_it_stands() {
        check(Sort::Steering, &["conftest.py", "tests/conftest.py", "sitecustomize.py", "pytest.py", "pytest.ini"]);
        check(Sort::Steering, &["unittest/__init__.py", "pyproject.toml", "requirements-dev.txt", "a.pth"]);
        check(Sort::Steering, &["calc.pyc", "__pycache__/calc.cpython-311.pyc", ".venv/bin/python", "uv.lock"]);
    }
}
