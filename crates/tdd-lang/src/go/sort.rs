//! Sorts the files of a repository: production, tests with their helpers, runner configuration, documents.

use tdd_core::change::Sort;

use super::items::is_test_file;
use super::owns;
use crate::sort::sorted;

/// Files that are runner configuration in any folder, in addition to those of all languages.
const STEERING_NAMES: [&str; 8] =
    ["go.mod", "go.sum", "go.work", "go.work.sum", "go.env", "Taskfile.yml", "magefile.go", ".pre-commit-config.yaml"];

/// Folders whose files are all runner configuration, in addition to those of all languages.
const STEERING_FOLDERS: [&str; 1] = ["vendor"];

/// The sort of a path, whether or not the file exists.
pub fn sort(path: &str) -> Sort {
    let is_code = [".s", ".S", ".c", ".h", ".cc", ".cpp", ".m"].iter().any(|ending| path.ends_with(ending));
    let is_data = path.split('/').rev().skip(1).any(|folder| folder == "testdata");
    sorted(is_runner_configuration(path), is_test_file(path) || is_data, owns(path) || is_code)
}

/// Whether a path is runner configuration by its name.
pub(super) fn is_runner_configuration(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_linked = [".syso", ".a", ".o", ".so"].iter().any(|ending| name.ends_with(ending));
    crate::sort::is_runner_configuration(path, &STEERING_NAMES, &STEERING_FOLDERS)
        || is_linked
        || name.starts_with(".golangci.")
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
