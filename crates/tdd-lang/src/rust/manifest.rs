//! Reads `Cargo.toml` files: package name, edition and workspace members.

use crate::language::Sources;
use crate::pattern::matches;

use super::modules::normal;
use super::places::join;

/// The file name of a manifest.
const NAME: &str = "Cargo.toml";

/// Cargo's edition for a package without one.
const OLDEST: &str = "2015";

/// The edition to assume if no manifest can be read.
const NEWEST: &str = "2024";

/// A `Cargo.toml`.
#[derive(Clone, Debug)]
pub(super) struct Manifest {
    /// The manifest's folder, relative to the repository's root; empty for the root itself.
    pub folder: String,
    /// `None` if it does not parse.
    table: Option<toml::Table>,
}

impl Manifest {
    /// The manifest in a folder; `None` if there is none.
    pub fn read(folder: &str, sources: &dyn Sources) -> Option<Self> {
        let path = if folder.is_empty() { NAME.to_owned() } else { format!("{folder}/{NAME}") };
        let table = sources.read(&path)?.parse().ok();
        Some(Self { folder: folder.to_owned(), table })
    }

    /// Every manifest of the repository, outer ones first.
    pub fn all(sources: &dyn Sources) -> Vec<Self> {
        let folders = sources.ending(NAME).into_iter().filter_map(|path| match path.as_str() {
            NAME => Some(""),
            path => path.strip_suffix(NAME)?.strip_suffix('/'),
        });
        let mut found: Vec<_> = folders.filter_map(|folder| Self::read(folder, sources)).collect();
        found.sort_by_key(|manifest| (manifest.depth(), manifest.folder.clone()));
        found
    }

    /// The number of folders between it and the repository's root.
    pub fn depth(&self) -> usize {
        self.folder.split('/').filter(|part| !part.is_empty()).count()
    }

    /// Whether it is valid TOML.
    pub fn parses(&self) -> bool {
        self.table.is_some()
    }

    /// The package's name, if it has a package.
    pub fn package(&self) -> Option<&str> {
        self.table.as_ref()?.get("package")?.get("name")?.as_str()
    }

    /// Whether it is the root of a workspace.
    pub fn is_workspace(&self) -> bool {
        self.workspace().is_some()
    }

    /// Whether another manifest's package is a member of this workspace.
    pub fn has_member(&self, other: &Self) -> bool {
        let Some(below) = other.folder_below(&self.folder) else { return false };
        let excluded = self.listed("exclude").any(|folder| below == folder || below.starts_with(&format!("{folder}/")));
        !excluded && self.listed("members").any(|pattern| matches(pattern, below))
    }

    /// The value at a path of keys.
    pub fn get(&self, keys: &[&str]) -> Option<&toml::Value> {
        let (first, rest) = keys.split_first()?;
        rest.iter().try_fold(self.table.as_ref()?.get(*first)?, |value, key| value.get(*key))
    }

    /// The folders of its path dependencies, relative to the repository's root.
    pub fn path_dependencies(&self) -> Vec<String> {
        let tables = [
            vec!["workspace", "dependencies"],
            vec!["dependencies"],
            vec!["dev-dependencies"],
            vec!["build-dependencies"],
        ];
        let tables = tables.iter().filter_map(|keys| self.get(keys)?.as_table());
        let paths = tables.flat_map(toml::Table::values).filter_map(|dependency| dependency.get("path")?.as_str());
        paths.filter_map(|path| normal(&join(&self.folder, path))).collect()
    }

    fn folder_below(&self, outer: &str) -> Option<&str> {
        if outer.is_empty() { Some(&self.folder) } else { self.folder.strip_prefix(outer)?.strip_prefix('/') }
    }

    fn listed(&self, key: &str) -> impl Iterator<Item = &str> {
        let list = self.workspace().and_then(|workspace| workspace.get(key)?.as_array());
        list.into_iter().flatten().filter_map(toml::Value::as_str)
    }

    fn workspace(&self) -> Option<&toml::Value> {
        self.table.as_ref()?.get("workspace")
    }

    /// The edition that it states itself, and whether it inherits the workspace's.
    fn own_edition(&self) -> (Option<&str>, bool) {
        let edition = self.table.as_ref().and_then(|table| table.get("package")?.get("edition"));
        let inherited = edition.and_then(|edition| edition.get("workspace")?.as_bool());
        (edition.and_then(toml::Value::as_str), inherited.unwrap_or(false))
    }

    fn workspace_edition(&self) -> Option<&str> {
        self.workspace()?.get("package")?.get("edition")?.as_str()
    }
}

/// The edition of a file's package: that of the nearest manifest with a package.
pub(super) fn edition(file: &str, sources: &dyn Sources) -> String {
    let folders =
        std::iter::successors(Some(folder_of(file)), |folder| (!folder.is_empty()).then(|| folder_of(folder)));
    let around: Vec<_> = folders.filter_map(|folder| Manifest::read(folder, sources)).collect();
    let Some(at) = around.iter().position(|manifest| manifest.package().is_some()) else { return NEWEST.to_owned() };
    let edition = match around[at].own_edition() {
        (Some(edition), _) => edition,
        (None, true) => around[at..].iter().find_map(Manifest::workspace_edition).unwrap_or(NEWEST),
        (None, false) => OLDEST,
    };
    edition.to_owned()
}

fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::memory;

    #[test]
    fn the_edition_is_that_of_the_nearest_package() {
        let sources = memory(&[
            ("Cargo.toml", "[workspace]\nmembers = [\"a\"]\n[workspace.package]\nedition = \"2021\""),
            ("a/Cargo.toml", "[package]\nname = \"a\"\nedition.workspace = true"),
            ("b/Cargo.toml", "[package]\nname = \"b\"\nedition = \"2018\""),
            ("c/Cargo.toml", "[package]\nname = \"c\""),
            ("d/Cargo.toml", "broken ="),
        ]);
        for (file, expected) in [
            ("a/src/lib.rs", "2021"),
            ("b/src/deep/x.rs", "2018"),
            ("c/src/lib.rs", "2015"),
            ("d/src/lib.rs", "2024"),
            ("x.rs", "2024"),
        ] {
            assert_eq!(edition(file, &sources), expected, "{file}");
        }
    }

    #[test]
    fn members_are_named_by_patterns() {
        for (pattern, folder, expected) in [
            ("crates/*", "crates/a", true),
            ("crates/*", "crates/a/b", false),
            ("crates/**", "crates/a/b", true),
            ("./a", "a", true),
            ("a/", "a", true),
            ("lib-?", "lib-x", true),
            ("lib-*-x", "lib-a-b-x", true),
            ("a", "b", false),
            ("", "a", false),
        ] {
            assert_eq!(matches(pattern, folder), expected, "{pattern} {folder}");
        }
    }
}
