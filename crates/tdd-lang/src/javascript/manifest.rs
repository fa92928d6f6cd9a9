//! Compares runner configuration files of a JavaScript project, as data if they can be parsed.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tdd_core::change::SteeringChange;

use super::owns;
use super::syntax::Tree;
use crate::analysis::steering::{frozen, is_same_text, of_keys, of_lock_file, of_source};

/// Lock files, which change with their manifest.
const LOCKS: [&str; 6] =
    ["package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock", "bun.lockb"];

/// Manifest keys that affect no run.
const HARMLESS: [&str; 9] =
    ["description", "keywords", "author", "contributors", "license", "homepage", "bugs", "repository", "funding"];

/// Manifest keys that list packages.
const REQUIREMENTS: [&str; 4] = ["dependencies", "devDependencies", "peerDependencies", "optionalDependencies"];

/// The differences between two versions of a runner configuration file.
pub(super) fn compare(path: &str, before: &str, after: &str, paths: &BTreeSet<&str>) -> Vec<SteeringChange> {
    let name = path.rsplit('/').next().unwrap_or(path);
    if is_same_text(before, after) {
        return Vec::new();
    }
    if LOCKS.contains(&name) {
        return of_lock_file(path, paths, &["package.json"]);
    }
    if owns(path) {
        let digest = |text: &str| Tree::parse(path, text).map(|tree| tree.digest(0..tree.len()));
        return of_source(path, digest(before), digest(after));
    }
    match (serde_json::from_str::<Value>(before), serde_json::from_str::<Value>(after)) {
        (Ok(before), Ok(after)) => of_keys(path, &flat(&before), &flat(&after), |key, old, new| {
            name == "package.json" && is_free(key, old, new)
        }),
        _ => frozen(path, "its text"),
    }
}

/// The packages that a manifest requires.
pub(super) fn requirements(text: &str) -> BTreeSet<String> {
    let manifest: Value = serde_json::from_str(text).unwrap_or_default();
    let tables = REQUIREMENTS.iter().filter_map(|key| manifest[*key].as_object());
    tables.flat_map(|table| table.keys().cloned()).collect()
}

/// The values of a manifest by dotted key.
fn flat(manifest: &Value) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    flatten("", manifest, &mut found);
    found
}

fn flatten(outer: &str, value: &Value, found: &mut BTreeMap<String, Value>) {
    match value {
        Value::Object(inner) if !inner.is_empty() || outer.is_empty() => {
            for (key, value) in inner {
                let key = if outer.is_empty() { key.clone() } else { format!("{outer}.{key}") };
                flatten(&key, value, found);
            }
        }
        // An empty table means nothing.
        Value::Object(_) => {}
        _ => drop(found.insert(outer.to_owned(), value.clone())),
    }
}

/// Whether a change is free: harmless metadata, or a new package from the registry that is not a runner.
fn is_free(key: &str, before: Option<&Value>, after: Option<&Value>) -> bool {
    let (table, package) = key.split_once('.').unwrap_or((key, ""));
    if HARMLESS.contains(&table) {
        return true;
    }
    let from_registry = |value: &Value| value.as_str().is_some_and(|version| !version.contains([':', '/']));
    let is_runner = matches!(package, "vitest" | "jest" | "vite") || package.contains("jest");
    REQUIREMENTS.contains(&table) && before.is_none() && after.is_some_and(from_registry) && !is_runner
}
