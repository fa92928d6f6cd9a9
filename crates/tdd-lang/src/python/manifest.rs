//! Compares the runner configuration of a Python project: as data if it can be parsed, else as text.

use std::collections::{BTreeMap, BTreeSet};

use tdd_core::change::SteeringChange;
use toml::Value;

use super::owns;
use super::sort::is_requirements;
use super::syntax::Tree;
use crate::analysis::steering::{changed, frozen, is_same_text, of_keys, of_lock_file, of_source};

/// Keys that hold requirements.
const REQUIREMENTS: [&str; 4] =
    ["project.dependencies", "project.optional-dependencies.", "dependency-groups.", "tool.uv.dev-dependencies"];

/// Lock files, which may change together with their manifest.
const LOCKS: [&str; 4] = ["uv.lock", "poetry.lock", "Pipfile.lock", "pdm.lock"];

/// What changed between two texts of a runner configuration file.
pub(super) fn compare(path: &str, before: &str, after: &str, paths: &BTreeSet<&str>) -> Vec<SteeringChange> {
    let name = path.rsplit('/').next().unwrap_or(path);
    if is_same_text(before, after) {
        return Vec::new();
    }
    if LOCKS.contains(&name) {
        return of_lock_file(path, paths, &["pyproject.toml", "Pipfile"]);
    }
    if is_requirements(name) {
        let free = only_new(&lines(before), &lines(after));
        return vec![changed(path, if free { "a new requirement" } else { "its text" }, free)];
    }
    if owns(path) {
        let digest = |text: &str| Tree::parse(text).map(|tree| tree.digest(0..tree.len()));
        return of_source(path, digest(before), digest(after));
    }
    match (before.parse::<toml::Table>(), after.parse::<toml::Table>()) {
        (Ok(before), Ok(after)) if is_toml(name) => of_keys(path, &flat(&before), &flat(&after), is_free),
        _ => frozen(path, "its text"),
    }
}

/// The requirements in a manifest, as text, without the project's own name.
pub(super) fn requirements(name: &str, text: &str) -> String {
    if !is_toml(name) {
        return text.to_owned();
    }
    let found = flat(&text.parse::<toml::Table>().unwrap_or_default());
    let wanted =
        found.into_iter().filter(|(key, _)| key.contains("dependencies") || key.starts_with("dependency-groups"));
    let lines = wanted.map(|(key, value)| format!("{} {value:?}", key.rsplit('.').next().unwrap_or_default()));
    lines.collect::<Vec<_>>().join("\n")
}

fn is_toml(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, ending)| ending == "toml")
}

fn lines(text: &str) -> Vec<String> {
    let plain = text.lines().map(|line| line.split(" #").next().unwrap_or(line).trim());
    plain.filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned).collect()
}

/// Whether all old requirements are still there, and new ones come from the registry.
fn only_new(before: &[String], after: &[String]) -> bool {
    let new = after.iter().filter(|line| !before.contains(line));
    let plain = |line: &str| !line.contains(['@', '/', ':']) && !line.starts_with('-');
    before.iter().all(|line| after.contains(line))
        && new.into_iter().all(|line| plain(line.split(';').next().unwrap_or(line)))
}

/// The values of a table and its nested tables, by dotted key.
fn flat(table: &toml::Table) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    flatten("", table, &mut found);
    found
}

fn flatten(outer: &str, table: &toml::Table, found: &mut BTreeMap<String, Value>) {
    for (key, value) in table {
        let key = if outer.is_empty() { key.clone() } else { format!("{outer}.{key}") };
        match value {
            Value::Table(inner) if !inner.is_empty() => flatten(&key, inner, found),
            _ => drop(found.insert(key, value.clone())),
        }
    }
}

fn is_free(key: &str, before: Option<&Value>, after: Option<&Value>) -> bool {
    let texts = |value: Option<&Value>| -> Option<Vec<String>> {
        let Some(value) = value else { return Some(Vec::new()) };
        value.as_array()?.iter().map(|it| it.as_str().map(str::to_owned)).collect()
    };
    if REQUIREMENTS.iter().any(|known| key == *known || known.ends_with('.') && key.starts_with(known)) {
        return matches!((texts(before), texts(after)), (Some(before), Some(after)) if only_new(&before, &after));
    }
    // Poetry takes a version, or a table that may point anywhere; only a version is free.
    let is_poetry = key.starts_with("tool.poetry.") && key.contains("dependencies.");
    is_poetry && before.is_none() && after.is_some_and(Value::is_str)
}
