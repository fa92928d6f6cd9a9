//! Compares what steers a Python project: as data where it can be read as data.

use std::collections::{BTreeMap, BTreeSet};

use tdd_core::change::SteeringChange;
use toml::Value;

use super::owns;
use super::sort::is_requirements;
use super::syntax::Tree;

/// Keys under which requirements stand.
const REQUIREMENTS: [&str; 4] =
    ["project.dependencies", "project.optional-dependencies.", "dependency-groups.", "tool.uv.dev-dependencies"];

/// Lock files, which go with their manifest.
const LOCKS: [&str; 4] = ["uv.lock", "poetry.lock", "Pipfile.lock", "pdm.lock"];

/// What differs between two texts of a file that steers.
pub(super) fn compare(path: &str, before: &str, after: &str, paths: &BTreeSet<&str>) -> Vec<SteeringChange> {
    let one = |what: String, free: bool| SteeringChange { path: path.to_owned(), what, free };
    let name = path.rsplit('/').next().unwrap_or(path);
    if before.replace("\r\n", "\n") == after.replace("\r\n", "\n") {
        return Vec::new();
    }
    if LOCKS.contains(&name) {
        let with_manifest = paths.iter().any(|path| path.ends_with("pyproject.toml") || path.ends_with("Pipfile"));
        return if with_manifest {
            Vec::new()
        } else {
            vec![one("a lock file without its manifest".to_owned(), false)]
        };
    }
    if is_requirements(name) {
        let free = only_new(&lines(before), &lines(after));
        return vec![one(if free { "a new requirement" } else { "its text" }.to_owned(), free)];
    }
    if owns(path) {
        let digest = |text: &str| Tree::parse(text).map(|tree| tree.digest(0..tree.len()));
        return if digest(before) == digest(after) { Vec::new() } else { vec![one("its text".to_owned(), false)] };
    }
    match (before.parse::<toml::Table>(), after.parse::<toml::Table>()) {
        (Ok(before), Ok(after)) if is_toml(name) => {
            keys(&before, &after).into_iter().map(|(key, free)| one(format!("`{key}`"), free)).collect()
        }
        _ => vec![one("its text".to_owned(), false)],
    }
}

/// What a manifest says is to be installed, as it says it; the project's own name is not among that.
pub(super) fn requirements(name: &str, text: &str) -> String {
    if !is_toml(name) {
        return text.to_owned();
    }
    let mut found = BTreeMap::new();
    flatten("", &text.parse::<toml::Table>().unwrap_or_default(), &mut found);
    let wanted =
        found.into_iter().filter(|(key, _)| key.contains("dependencies") || key.starts_with("dependency-groups"));
    let said = wanted.map(|(key, value)| format!("{} {value:?}", key.rsplit('.').next().unwrap_or_default()));
    said.collect::<Vec<_>>().join("\n")
}

fn is_toml(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, ending)| ending == "toml")
}

fn lines(text: &str) -> Vec<String> {
    let plain = text.lines().map(|line| line.split(" #").next().unwrap_or(line).trim());
    plain.filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned).collect()
}

/// Whether all that was required still is, and what is new comes from the registry.
fn only_new(before: &[String], after: &[String]) -> bool {
    let new = after.iter().filter(|line| !before.contains(line));
    let plain = |line: &str| !line.contains(['@', '/', ':']) && !line.starts_with('-');
    before.iter().all(|line| after.contains(line))
        && new.into_iter().all(|line| plain(line.split(';').next().unwrap_or(line)))
}

/// The keys whose values differ, and whether that is nobody's harm.
fn keys(before: &toml::Table, after: &toml::Table) -> Vec<(String, bool)> {
    let (mut old, mut new) = (BTreeMap::new(), BTreeMap::new());
    flatten("", before, &mut old);
    flatten("", after, &mut new);
    let all: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let differ = all.into_iter().filter(|key| old.get(*key) != new.get(*key));
    differ.map(|key| (key.clone(), is_free(key, old.get(key), new.get(key)))).collect()
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
    // Poetry names a version, or a table that may lead anywhere.
    let is_poetry = key.starts_with("tool.poetry.") && key.contains("dependencies.");
    is_poetry && before.is_none() && after.is_some_and(Value::is_str)
}
