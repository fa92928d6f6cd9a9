//! Compares runner configuration files: what changed, and whether that change is free.

use std::collections::{BTreeMap, BTreeSet};

use tdd_core::change::SteeringChange;
use tdd_core::digest::Digest;

/// A change of a runner configuration file.
pub(crate) fn changed(path: &str, what: impl Into<String>, free: bool) -> SteeringChange {
    SteeringChange { path: path.to_owned(), what: what.into(), free }
}

/// A change of a runner configuration file that is not free.
pub(crate) fn frozen(path: &str, what: impl Into<String>) -> Vec<SteeringChange> {
    vec![changed(path, what, /* free */ false)]
}

/// Whether two texts differ at most in their line endings.
pub(crate) fn is_same_text(before: &str, after: &str) -> bool {
    before.replace("\r\n", "\n") == after.replace("\r\n", "\n")
}

/// The change of a lock file: none if its manifest changed as well.
pub(crate) fn of_lock_file(path: &str, paths: &BTreeSet<&str>, manifests: &[&str]) -> Vec<SteeringChange> {
    let is_manifest = |path: &&str| manifests.iter().any(|manifest| path.ends_with(manifest));
    if paths.iter().any(is_manifest) { Vec::new() } else { frozen(path, "a lock file without its manifest") }
}

/// The change of a source file that is runner configuration: none if its tokens are the same.
pub(crate) fn of_source(path: &str, before: Option<Digest>, after: Option<Digest>) -> Vec<SteeringChange> {
    if before == after { Vec::new() } else { frozen(path, "its text") }
}

/// One change for each key whose values differ.
pub(crate) fn of_keys<V: PartialEq>(
    path: &str,
    before: &BTreeMap<String, V>,
    after: &BTreeMap<String, V>,
    is_free: impl Fn(&str, Option<&V>, Option<&V>) -> bool,
) -> Vec<SteeringChange> {
    let keys: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let differ = keys.into_iter().map(|key| (key, before.get(key), after.get(key))).filter(|(_, old, new)| old != new);
    differ.map(|(key, old, new)| changed(path, format!("`{key}`"), is_free(key, old, new))).collect()
}
