//! Sorts the files of a repository: production, tests with what they use, steering, documents.

use tdd_core::change::Sort;

use super::items::is_test_file;
use super::owns;

/// Files that steer building, running or checking wherever they stand.
const STEERING_NAMES: [&str; 14] = [
    "go.mod",
    "go.sum",
    "go.work",
    "go.work.sum",
    "go.env",
    "Makefile",
    "Taskfile.yml",
    "magefile.go",
    "justfile",
    ".justfile",
    ".gitignore",
    ".gitattributes",
    "tdd.yaml",
    ".pre-commit-config.yaml",
];

/// Folders all of whose files steer.
const STEERING_FOLDERS: [&str; 6] = [".ci", ".circleci", ".config", ".github", ".gitlab", "vendor"];

/// What a path is, whether or not there is a file yet.
pub fn sort(path: &str) -> Sort {
    let mut folders = path.split('/').rev().skip(1);
    let is_code = [".s", ".S", ".c", ".h", ".cc", ".cpp", ".m"].iter().any(|ending| path.ends_with(ending));
    if steers(path) {
        Sort::Steering
    } else if is_test_file(path) || folders.any(|folder| folder == "testdata") {
        Sort::Test
    } else if owns(path) || is_code {
        Sort::Production
    } else {
        Sort::Document
    }
}

/// Whether a path steers by its name alone.
pub(super) fn steers(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let mut folders = path.split('/').rev().skip(1);
    let is_linked = [".syso", ".a", ".o", ".so"].iter().any(|ending| name.ends_with(ending));
    STEERING_NAMES.contains(&name)
        || is_linked
        || name.starts_with(".golangci.")
        || folders.any(|folder| STEERING_FOLDERS.contains(&folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_has_its_place() {
        let check = |sort_of: Sort, paths: &[&str]| {
            for path in paths {
                assert_eq!(sort(path), sort_of, "{path}");
            }
        };
        check(Sort::Production, &["calc.go", "cmd/x/main.go", "test.go", "a_amd64.s"]);
        check(Sort::Test, &["calc_test.go", "a/b_test.go", "testdata/x.json", "a/testdata/b/c.go"]);
        check(Sort::Document, &["README.md", "data.json"]);
        check(Sort::Steering, &["go.mod", "a/go.sum", "go.work", "vendor/x/y.go", ".golangci.yml", "a.syso"]);
    }
}
