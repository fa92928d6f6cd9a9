//! Sorts paths by their names, for the names that mean the same in all languages.

use tdd_core::change::Sort;

/// Files that are runner configuration in every language.
const STEERING_NAMES: [&str; 8] =
    ["Makefile", "makefile", "GNUmakefile", "justfile", ".justfile", ".gitignore", ".gitattributes", "tdd.yaml"];

/// Folders whose files are all runner configuration, in every language.
const STEERING_FOLDERS: [&str; 5] = [".ci", ".circleci", ".config", ".github", ".gitlab"];

/// Whether a path is runner configuration by its name or by a folder around it: those of every language, and these.
pub(crate) fn is_runner_configuration(path: &str, names: &[&str], folders: &[&str]) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_steering_folder = |folder: &str| STEERING_FOLDERS.contains(&folder) || folders.contains(&folder);
    STEERING_NAMES.contains(&name) || names.contains(&name) || path.split('/').rev().skip(1).any(is_steering_folder)
}

/// The sort of a path. Runner configuration has precedence, even if the file is also a test or production code.
pub(crate) fn sorted(is_runner_configuration: bool, is_test: bool, is_production: bool) -> Sort {
    match (is_runner_configuration, is_test, is_production) {
        (true, _, _) => Sort::Steering,
        (false, true, _) => Sort::Test,
        (false, false, true) => Sort::Production,
        (false, false, false) => Sort::Document,
    }
}
