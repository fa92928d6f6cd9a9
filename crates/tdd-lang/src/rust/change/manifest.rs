//! Compares two versions of a `Cargo.toml` as data, key by key.

use std::collections::BTreeSet;

use tdd_core::change::SteeringChange;
use toml::{Table, Value};

use crate::language::Sources;
use crate::rust::manifest::Manifest;

/// The tables in which a new dependency may be free.
const DEPENDENCIES: [&[&str]; 4] =
    [&["dependencies"], &["dev-dependencies"], &["build-dependencies"], &["workspace", "dependencies"]];

/// The keys that a plain registry dependency may have.
const PLAIN_KEYS: [&str; 6] = ["version", "features", "optional", "default-features", "default_features", "workspace"];

/// The differences between two versions of the manifest at `path`; `after` is the tree with the second.
pub(super) fn compare(path: &str, texts: (Option<&str>, Option<&str>), after: &dyn Sources) -> Vec<SteeringChange> {
    let steering = |what: &str, free| SteeringChange { path: path.to_owned(), what: what.to_owned(), free };
    let (old, new) = match texts {
        (None, None) => return Vec::new(),
        (None, Some(_)) => return vec![steering("a new file", false)],
        (Some(_), None) => return vec![steering("a removed file", false)],
        (Some(old), Some(new)) => (old.parse::<Table>(), new.parse::<Table>()),
    };
    let (Ok(old), Ok(new)) = (old, new) else { return vec![steering("a text that does not parse", false)] };
    let mut found = Vec::new();
    differences(&old, &new, &mut found);
    let registry = Registry::new(after);
    found.into_iter().map(|difference| steering(&difference.what(), registry.is_free(&difference))).collect()
}

/// A key whose values differ; a key that only one side has is reported at its innermost table.
struct Difference<'v> {
    keys: Vec<String>,
    old: Option<&'v Value>,
    new: Option<&'v Value>,
}

impl Difference<'_> {
    fn what(&self) -> String {
        let mut text = String::new();
        for key in &self.keys {
            if !text.is_empty() && !key.starts_with('[') {
                text.push('.');
            }
            text.push_str(key);
        }
        format!("`{text}`")
    }

    /// The dependency's name, if the key is a direct child of a dependency table.
    fn dependency(&self) -> Option<&str> {
        let (name, table) = self.keys.split_last()?;
        DEPENDENCIES.iter().any(|known| table == *known).then_some(name)
    }
}

/// Two values to compare, with the keys that lead to them.
type Pair<'v> = (Vec<String>, Option<&'v Value>, Option<&'v Value>);

fn differences<'v>(old: &'v Table, new: &'v Table, found: &mut Vec<Difference<'v>>) {
    let mut waiting = keys_of(&[], Some(old), Some(new));
    while let Some((keys, old, new)) = waiting.pop() {
        if old == new {
            continue;
        }
        let difference = Difference { keys, old, new };
        let keys = &difference.keys;
        let is_dependency = difference.dependency().is_some() && (old.is_none() || new.is_none());
        let below = match (old, new) {
            _ if is_dependency => Vec::new(),
            (Some(Value::Table(old)), Some(Value::Table(new))) => keys_of(keys, Some(old), Some(new)),
            (Some(Value::Table(old)), None) if !old.is_empty() => keys_of(keys, Some(old), None),
            (None, Some(Value::Table(new))) if !new.is_empty() => keys_of(keys, None, Some(new)),
            (Some(Value::Array(old)), Some(Value::Array(new))) if is_of_tables(old) && is_of_tables(new) => {
                elements(keys, old, new)
            }
            (None, Some(Value::Array(new))) if is_of_tables(new) => elements(keys, &[], new),
            _ => Vec::new(),
        };
        if below.is_empty() {
            found.push(difference);
        } else {
            waiting.extend(below);
        }
    }
}

/// The keys of two tables, in reverse order.
fn keys_of<'v>(outer: &[String], old: Option<&'v Table>, new: Option<&'v Table>) -> Vec<Pair<'v>> {
    let keys: BTreeSet<&String> = old.into_iter().chain(new).flat_map(Table::keys).collect();
    let pair = |key: &String| {
        let keys = outer.iter().cloned().chain([key.clone()]).collect();
        (keys, old.and_then(|old| old.get(key)), new.and_then(|new| new.get(key)))
    };
    keys.into_iter().rev().map(pair).collect()
}

fn elements<'v>(outer: &[String], old: &'v [Value], new: &'v [Value]) -> Vec<Pair<'v>> {
    let pair = |at: usize| {
        let keys = outer.iter().cloned().chain([format!("[{at}]")]).collect();
        (keys, old.get(at), new.get(at))
    };
    (0..old.len().max(new.len())).rev().map(pair).collect()
}

fn is_of_tables(array: &[Value]) -> bool {
    array.iter().all(Value::is_table)
}

/// Knows which names are the repository's own packages and which come from the registry.
struct Registry {
    manifests: Vec<Manifest>,
}

impl Registry {
    fn new(sources: &dyn Sources) -> Self {
        Self { manifests: Manifest::all(sources) }
    }

    /// Whether the difference is free: a new dependency with only a version from the registry.
    fn is_free(&self, difference: &Difference<'_>) -> bool {
        match (difference.dependency(), difference.old, difference.new) {
            (Some(name), None, Some(value)) => !self.is_ours(name) && self.is_from_registry(name, value),
            _ => false,
        }
    }

    fn is_ours(&self, name: &str) -> bool {
        let same = |other: &str| other.replace('-', "_") == name.replace('-', "_");
        self.manifests.iter().any(|manifest| {
            let library = manifest.get(&["lib", "name"]).and_then(Value::as_str);
            manifest.package().into_iter().chain(library).any(same)
        })
    }

    fn is_from_registry(&self, name: &str, value: &Value) -> bool {
        match value {
            Value::String(_) => true,
            Value::Table(table) if table.keys().all(|key| PLAIN_KEYS.contains(&key.as_str())) => {
                let inherited = table.get("workspace") == Some(&Value::Boolean(true));
                if inherited { self.is_inherited_from_registry(name) } else { table.contains_key("version") }
            }
            _ => false,
        }
    }

    fn is_inherited_from_registry(&self, name: &str) -> bool {
        let inherited = self.manifests.iter().find_map(|manifest| manifest.get(&["workspace", "dependencies", name]));
        match inherited {
            Some(Value::String(_)) => true,
            Some(Value::Table(table)) => {
                table.contains_key("version") && table.keys().all(|key| PLAIN_KEYS.contains(&key.as_str()))
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::memory;

    const BASE: &str = "[package]\nname = \"calc\"\n[dependencies]\nserde = \"1\"\n[[test]]\nname = \"t\"\n";

    /// Checks the differences; free ones are shown with a `+`.
    fn check(after: &str, expected: &[&str]) {
        let sources = memory(&[("Cargo.toml", after), ("other/Cargo.toml", "[package]\nname = \"other\"")]);
        let show = |change: SteeringChange| format!("{}{}", if change.free { "+" } else { "" }, change.what);
        let found: Vec<_> = compare("Cargo.toml", (Some(BASE), Some(after)), &sources).into_iter().map(show).collect();
        assert_eq!(found, expected, "{after}");
    }

    #[test]
    fn comments_and_order_are_nothing() {
        check(
            "# Hello.\n[[test]]\nname = 't'\n\n[dependencies]\nserde = '1'\n[package]\nname = \"calc\" # here\n",
            &[],
        );
    }

    #[test]
    fn a_new_dependency_from_the_registry_is_free() {
        for (table, dependency, name) in [
            ("dependencies", "rand = \"0.8\"", "rand"),
            ("dev-dependencies", "rand = { version = \"1\", features = [\"a\"], optional = true }", "rand"),
            ("build-dependencies", "cc = { version = \"1\", default-features = false }", "cc"),
            ("workspace.dependencies", "cc = \"1\"", "cc"),
        ] {
            let before = BASE.replace("[dependencies]\nserde = \"1\"\n", "");
            let after = format!("{before}\n[dependencies]\nserde = \"1\"\n[{table}]\n{dependency}");
            let after = after.replace("[dependencies]\nserde = \"1\"\n[dependencies]", "[dependencies]\nserde = \"1\"");
            check(&after, &[&format!("+`{table}.{name}`")]);
        }
    }

    #[test]
    fn any_other_dependency_is_not() {
        for dependency in [
            "x = { path = \"../x\" }",
            "x = { version = \"1\", path = \"../x\" }",
            "x = { git = \"https://example.org/x\" }",
            "x = { version = \"1\", registry = \"mine\" }",
            "x = { version = \"1\", package = \"serde\" }",
            "x = { features = [] }",
            "x = 1",
            "x.workspace = true",
        ] {
            check(&BASE.replace("serde = \"1\"", &format!("serde = \"1\"\n{dependency}")), &["`dependencies.x`"]);
        }
        check(&BASE.replace("serde = \"1\"", "serde = \"1\"\nother = \"1\""), &["`dependencies.other`"]);
        check(&BASE.replace("serde = \"1\"", "serde = \"2\""), &["`dependencies.serde`"]);
        check(&BASE.replace("serde = \"1\"", ""), &["`dependencies.serde`"]);
    }

    #[test]
    fn an_inherited_dependency_is_what_the_workspace_says() {
        let with =
            |root: &str| format!("{BASE}[dev-dependencies]\nx.workspace = true\n[workspace.dependencies]\nx = {root}");
        check(&with("\"1\""), &["+`dev-dependencies.x`", "+`workspace.dependencies.x`"]);
        check(&with("{ path = \"x\" }"), &["`dev-dependencies.x`", "`workspace.dependencies.x`"]);
    }

    #[test]
    fn every_other_key_is_named() {
        for (added, expected) in [
            ("[lib]\nname = \"other\"", "`lib.name`"),
            ("[profile.test]\nopt-level = 3", "`profile.test.opt-level`"),
            ("[features]\nx = []", "`features.x`"),
            ("harness = false", "`test[0].harness`"),
            ("[[test]]\nname = \"u\"", "`test[1].name`"),
            ("[patch.crates-io]\nserde = { path = \"x\" }", "`patch.crates-io.serde.path`"),
            ("[target.'cfg(unix)'.dependencies]\nx = \"1\"", "`target.cfg(unix).dependencies.x`"),
        ] {
            check(&format!("{BASE}{added}"), &[expected]);
        }
        check(&BASE.replace("\"calc\"", "\"calc\"\nautotests = false"), &["`package.autotests`"]);
    }

    #[test]
    fn a_manifest_that_comes_goes_or_does_not_parse_is_not_free() {
        let sources = memory(&[]);
        for (texts, expected) in [
            ((None, Some(BASE)), "a new file"),
            ((Some(BASE), None), "a removed file"),
            ((Some(BASE), Some("[package")), "a text that does not parse"),
        ] {
            let found = compare("Cargo.toml", texts, &sources);
            assert_eq!(found.len(), 1);
            assert_eq!((found[0].what.as_str(), found[0].free), (expected, false));
        }
    }
}
