//! Checks the dependency rules between the crates against their manifests and sources.

#![expect(clippy::unwrap_used, reason = "a workspace that cannot be read has failed the test")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The crates of ours that each crate may depend on.
const DIRECTION: [(&str, &[&str]); 8] = [
    ("tdd-core", &[]),
    ("tdd-llm", &[]),
    ("tdd-fixtures", &[]),
    ("tdd-lang", &["tdd-core"]),
    ("tdd-exec", &["tdd-core", "tdd-lang"]),
    ("tdd-agents", &["tdd-core", "tdd-llm"]),
    ("tdd-eval", &["tdd-agents", "tdd-core", "tdd-exec", "tdd-lang", "tdd-llm"]),
    ("tdd-cli", &["tdd-agents", "tdd-core", "tdd-eval", "tdd-exec", "tdd-lang", "tdd-llm"]),
];

/// Crates that must do no I/O, because they only decide or describe.
const PURE: [&str; 3] = ["tdd-core", "tdd-lang", "tdd-agents"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn manifest(name: &str) -> toml::Table {
    let path = root().join("crates").join(name).join("Cargo.toml");
    fs::read_to_string(path).unwrap().parse().unwrap()
}

fn keys(manifest: &toml::Table, table: &str) -> BTreeSet<String> {
    manifest.get(table).and_then(toml::Value::as_table).into_iter().flat_map(|table| table.keys().cloned()).collect()
}

fn crates() -> BTreeSet<String> {
    let entries = fs::read_dir(root().join("crates")).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Every source file below a folder, relative to the workspace, with its text.
fn sources(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let name = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
            found.insert(name, fs::read_to_string(&path).unwrap());
        }
    }
    found
}

fn all_sources() -> BTreeMap<String, String> {
    crates().iter().flat_map(|name| sources(&root().join("crates").join(name).join("src"))).collect()
}

#[test]
fn there_are_the_eight_crates_and_no_other() {
    let expected: BTreeSet<String> = DIRECTION.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(crates(), expected);
}

#[test]
fn crates_depend_on_each_other_in_one_direction_only() {
    for (name, allowed) in DIRECTION {
        let manifest = manifest(name);
        let ours = |table| keys(&manifest, table).into_iter().filter(|dependency| dependency.starts_with("tdd-"));
        for dependency in ours("dependencies") {
            assert!(allowed.contains(&dependency.as_str()), "{name} must not depend on {dependency}");
        }
        for dependency in ours("dev-dependencies") {
            assert!(dependency == "tdd-fixtures", "the tests of {name} must not depend on {dependency}");
        }
    }
}

#[test]
fn every_crate_keeps_the_workspace_lints_and_versions() {
    for name in crates() {
        let manifest = manifest(&name);
        assert_eq!(manifest["lints"]["workspace"].as_bool(), Some(true), "{name}");
        for table in ["dependencies", "dev-dependencies"] {
            for (dependency, value) in manifest.get(table).and_then(toml::Value::as_table).into_iter().flatten() {
                let inherited = value.get("workspace").and_then(toml::Value::as_bool);
                assert_eq!(inherited, Some(true), "{name}: the version of {dependency} belongs in the workspace");
            }
        }
    }
}

#[test]
fn pure_crates_have_a_fence_against_the_world() {
    for name in PURE {
        let fence = fs::read_to_string(root().join("crates").join(name).join("clippy.toml")).unwrap();
        for forbidden in
            ["std::process::Command", "std::fs::File", "std::fs::read", "std::env::var", "std::time::SystemTime"]
        {
            assert!(fence.contains(&format!("\"{forbidden}\"")), "{name}/clippy.toml lets {forbidden} through");
        }
        for dependency in keys(&manifest(name), "dependencies") {
            let worldly = ["git2", "nix", "tokio", "reqwest", "tempfile", "which", "ctrlc"];
            assert!(!worldly.contains(&dependency.as_str()), "{name} must not depend on {dependency}");
        }
    }
}

#[test]
fn one_module_starts_processes() {
    for (path, text) in all_sources() {
        let may = path.starts_with("crates/tdd-exec/src/process/") || path.starts_with("crates/tdd-fixtures/");
        assert!(may || !text.contains("Command::new("), "{path} starts a process of its own");
    }
}

#[test]
fn every_file_begins_with_its_promise() {
    for (path, text) in all_sources() {
        assert!(text.starts_with("//! "), "{path} does not begin with its promise");
    }
}

#[test]
fn the_architecture_can_be_read_at_once() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    assert!(text.len() <= 10 << 10, "ARCHITECTURE.md has {} bytes", text.len());
}

#[test]
fn the_command_line_holds_no_rules() {
    let lines = |text: &str| text.split("#[cfg(test)]").next().unwrap_or_default().lines().count();
    let cli = sources(&root().join("crates/tdd-cli/src"));
    let production: usize = cli.values().map(|text| lines(text)).sum();
    assert!(production <= 7_000, "tdd-cli has {production} lines of production code");
}
