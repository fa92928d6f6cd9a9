//! What a path is to the law by its name, as far as all languages agree.

use tdd_core::change::Sort;

/// Files that steer building, running or checking in a project of any language.
const STEERING_NAMES: [&str; 8] =
    ["Makefile", "makefile", "GNUmakefile", "justfile", ".justfile", ".gitignore", ".gitattributes", "tdd.yaml"];

/// Folders all of whose files steer, in a project of any language.
const STEERING_FOLDERS: [&str; 5] = [".ci", ".circleci", ".config", ".github", ".gitlab"];

/// Whether a path steers by its name or by a folder that it is in: those that steer in all languages, and these.
pub(crate) fn steers(path: &str, names: &[&str], folders: &[&str]) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_steering_folder = |folder: &str| STEERING_FOLDERS.contains(&folder) || folders.contains(&folder);
    STEERING_NAMES.contains(&name) || names.contains(&name) || path.split('/').rev().skip(1).any(is_steering_folder)
}

/// The sort of a path for which these hold: what steers, steers even if it is a test or production as well.
pub(crate) fn sorted(steers: bool, is_test: bool, is_production: bool) -> Sort {
    match (steers, is_test, is_production) {
        (true, _, _) => Sort::Steering,
        (false, true, _) => Sort::Test,
        (false, false, true) => Sort::Production,
        (false, false, false) => Sort::Document,
    }
}
