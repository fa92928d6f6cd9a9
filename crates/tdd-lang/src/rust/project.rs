//! Recognises a cargo project, and one that has code but no tests.

use crate::language::{Project, Sources, has_untested_production};

use super::items::items;
use super::manifest::Manifest;
use super::owns;

/// The manifest of a new project.
pub const MANIFEST: &str = "Cargo.toml";

/// The project of the `Cargo.toml` in the repository's root, else of the topmost one. Of several at the same depth, the
/// first by name, which the description mentions.
pub fn detect(sources: &dyn Sources) -> Option<Project> {
    let manifests = Manifest::all(sources);
    let top = manifests.first()?;
    let beside = manifests.iter().filter(|manifest| manifest.depth() == top.depth()).count();
    let mut description = describe(top, &manifests);
    if beside > 1 {
        description = format!("{description}, the first of {beside} in this repository");
    }
    Some(Project { root: top.folder.clone(), description })
}

/// Whether the project has functions in `src` but no test at all. A project without functions does not count: there is
/// nothing to test yet.
pub fn production_without_tests(sources: &dyn Sources, project: &Project) -> bool {
    let is_in_src = |path: &str| path.split('/').any(|folder| folder == "src");
    has_untested_production(project, sources, owns, items, is_in_src)
}

/// The first test in `src` or `tests` of the project, or of these packages, as `path::name`. Tests that are marked
/// never to run do not count.
pub(crate) fn first_test(sources: &dyn Sources, project: &Project, packages: &[&str]) -> Option<String> {
    let manifests = Manifest::all(sources);
    let chosen = manifests.iter().filter(|manifest| manifest.package().is_some_and(|name| packages.contains(&name)));
    let folders: Vec<&str> = if packages.is_empty() {
        vec![&project.root]
    } else {
        chosen.map(|manifest| manifest.folder.as_str()).collect()
    };
    let in_place = |path: &&String| {
        let mut below = folders.iter().filter_map(|folder| is_below(path, folder));
        owns(path) && below.any(|path| path.split('/').any(|part| part == "src" || part == "tests"))
    };
    sources.files().iter().filter(in_place).find_map(|path| {
        let found = items(path, &sources.read(path)?);
        found.tests.iter().find(|test| !test.never_runs()).map(|test| format!("{path}::{}", test.name))
    })
}

fn is_below<'p>(path: &'p str, folder: &str) -> Option<&'p str> {
    if folder.is_empty() { Some(path) } else { path.strip_prefix(folder)?.strip_prefix('/') }
}

fn describe(top: &Manifest, manifests: &[Manifest]) -> String {
    if !top.parses() {
        return "cargo project whose `Cargo.toml` does not parse".to_owned();
    }
    if top.is_workspace() {
        let members = manifests.iter().filter(|other| other.package().is_some() && top.has_member(other)).count();
        let own = usize::from(top.package().is_some());
        return match members + own {
            1 => "cargo workspace with 1 package".to_owned(),
            count => format!("cargo workspace with {count} packages"),
        };
    }
    match top.package() {
        Some(name) => format!("cargo package `{name}`"),
        None => "cargo project whose `Cargo.toml` names no package".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::memory;

    const PACKAGE: &str = "[package]\nname = \"calc\"\n";

    fn check(files: &[(&str, &str)], root: &str, description: &str) {
        let expected = Project { root: root.to_owned(), description: description.to_owned() };
        assert_eq!(detect(&memory(files)), Some(expected));
    }

    #[test]
    fn a_repository_without_a_manifest_is_no_project() {
        assert_eq!(detect(&memory(&[("src/lib.rs", ""), ("MyCargo.toml", PACKAGE)])), None);
    }

    #[test]
    fn a_package_is_known_by_its_name() {
        check(&[("Cargo.toml", PACKAGE), ("sub/Cargo.toml", PACKAGE)], "", "cargo package `calc`");
        check(&[("Cargo.toml", "")], "", "cargo project whose `Cargo.toml` names no package");
    }

    #[test]
    fn a_workspace_counts_its_packages() {
        let members = "[workspace]\nmembers = [\"crates/*\", \"x\"]\nexclude = [\"crates/c\"]\n";
        let files = [
            ("Cargo.toml", members),
            ("crates/a/Cargo.toml", PACKAGE),
            ("crates/b/Cargo.toml", PACKAGE),
            ("crates/c/Cargo.toml", PACKAGE),
            ("y/Cargo.toml", PACKAGE),
        ];
        check(&files, "", "cargo workspace with 2 packages");
        let with_package = format!("{PACKAGE}{members}");
        check(&[("Cargo.toml", &with_package)], "", "cargo workspace with 1 package");
    }

    #[test]
    fn a_manifest_that_does_not_parse_still_makes_a_project() {
        check(&[("Cargo.toml", "[package")], "", "cargo project whose `Cargo.toml` does not parse");
    }

    #[test]
    fn without_a_manifest_in_the_root_the_topmost_one_counts() {
        check(&[("a/b/Cargo.toml", PACKAGE), ("z/Cargo.toml", PACKAGE)], "z", "cargo package `calc`");
        let two = [("a/Cargo.toml", PACKAGE), ("b/Cargo.toml", PACKAGE)];
        check(&two, "a", "cargo package `calc`, the first of 2 in this repository");
    }

    #[test]
    fn code_without_any_test_is_noticed() {
        for (files, expected) in [
            (vec![("src/lib.rs", "//! Empty.")], false),
            (vec![("src/lib.rs", "pub fn a() {}")], true),
            (vec![("src/lib.rs", "pub fn a() {}"), ("tests/a.rs", "#[test] fn b() {}")], false),
            (vec![("src/lib.rs", "pub fn a() {} #[cfg(test)] mod t { #[test] fn b() {} }")], false),
            (vec![("src/lib.rs", ""), ("build.rs", "fn main() {}")], false),
            (vec![("src/lib.rs", "impl A { fn b() {} }"), ("tests/a.rs", "fn helper() {}")], true),
        ] {
            let root = Project { root: String::new(), description: String::new() };
            assert_eq!(production_without_tests(&memory(&files), &root), expected, "{files:?}");
        }
        let sources = memory(&[("a/src/lib.rs", "fn a() {}"), ("b/tests/x.rs", "#[test] fn x() {}")]);
        let below = Project { root: "a".to_owned(), description: String::new() };
        assert!(production_without_tests(&sources, &below));
    }
}
