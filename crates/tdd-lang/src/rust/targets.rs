//! Finds the targets of a project's packages: their root files, and whether their tests are run.

use toml::Value;

use crate::language::{Project, Sources};

use super::items::in_test_folder;
use super::manifest::Manifest;
use super::places::join;

/// The kind of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TargetKind {
    Library,
    /// A library of procedural macros, which takes part in building other targets.
    Macros,
    Program,
    Test,
    Bench,
    Example,
    /// `build.rs`.
    Script,
}

/// A target of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub root: String,
    pub kind: TargetKind,
    /// Whether `cargo test` runs its tests.
    pub tested: bool,
}

/// The kinds of target of which a package may have several: manifest key, key that turns discovery off, folder, and
/// whether tests are run by default.
const SEVERAL: [(TargetKind, &str, &str, &str, bool); 4] = [
    (TargetKind::Program, "bin", "autobins", "src/bin", true),
    (TargetKind::Test, "test", "autotests", "tests", true),
    (TargetKind::Bench, "bench", "autobenches", "benches", false),
    (TargetKind::Example, "example", "autoexamples", "examples", false),
];

/// The targets of all packages of the project. Targets of packages outside the workspace are not tested; packages in a
/// test folder are fixtures and have none.
pub(super) fn targets(project: &Project, sources: &dyn Sources) -> Vec<Target> {
    let mut manifests = Manifest::all(sources);
    manifests.retain(|manifest| manifest.folder == project.root || project.relative_path(&manifest.folder).is_some());
    let members = members(project, &manifests);
    let packages = manifests.iter().filter(|manifest| manifest.package().is_some());
    let mut found = Vec::new();
    for package in packages {
        let is_member = members.contains(&package.folder);
        if is_member || !in_test_folder(&join(&package.folder, "Cargo.toml")) {
            let of_package = Package { manifest: package, sources }.targets();
            found.extend(of_package.into_iter().map(|target| Target { tested: target.tested && is_member, ..target }));
        }
    }
    found
}

/// Whether the package in this folder is tested together with the project.
pub(super) fn is_member(project: &Project, folder: &str, sources: &dyn Sources) -> bool {
    members(project, &Manifest::all(sources)).iter().any(|member| member == folder)
}

/// The folders of the packages that are tested together.
fn members(project: &Project, manifests: &[Manifest]) -> Vec<String> {
    let mut members = vec![project.root.clone()];
    let Some(root) = manifests.iter().find(|manifest| manifest.folder == project.root) else { return members };
    if !root.is_workspace() {
        return members;
    }
    members.extend(manifests.iter().filter(|other| root.has_member(other)).map(|member| member.folder.clone()));
    // Path dependencies of a member are members too.
    let mut visited = 0;
    while let Some(folder) = members.get(visited) {
        let named = manifests.iter().find(|manifest| manifest.folder == *folder).map(Manifest::path_dependencies);
        let new: Vec<String> = named.into_iter().flatten().filter(|folder| !members.contains(folder)).collect();
        members.extend(new);
        visited += 1;
    }
    members
}

struct Package<'a> {
    manifest: &'a Manifest,
    sources: &'a dyn Sources,
}

impl Package<'_> {
    fn targets(&self) -> Vec<Target> {
        let several = SEVERAL.into_iter().flat_map(|(kind, key, auto, folder, tested)| {
            let (explicit, named) = self.named(kind, key, folder, tested);
            let found = if self.manifest.get(&["package", auto]) == Some(&Value::Boolean(false)) {
                Vec::new()
            } else {
                self.discovered(kind, folder)
            };
            let found = found.into_iter().filter(|root| !explicit.contains(root)).collect::<Vec<_>>();
            named.into_iter().chain(found.into_iter().map(move |root| Target { root, kind, tested }))
        });
        self.library().into_iter().chain(several).chain(self.script()).collect()
    }

    fn library(&self) -> Option<Target> {
        let table = self.manifest.get(&["lib"]);
        let is_macros = ["proc-macro", "proc_macro"].iter().any(|key| flag(table, key, false));
        let root = self.path_of(table).or_else(|| self.existing("src/lib.rs"))?;
        let kind = if is_macros { TargetKind::Macros } else { TargetKind::Library };
        Some(Target { root, kind, tested: is_tested(table, true) })
    }

    fn script(&self) -> Option<Target> {
        let root = match self.manifest.get(&["package", "build"]) {
            Some(Value::String(path)) => Some(join(&self.manifest.folder, path)),
            Some(Value::Boolean(false)) => None,
            _ => self.existing("build.rs"),
        };
        root.map(|root| Target { root, kind: TargetKind::Script, tested: false })
    }

    /// The targets named in the manifest, with the roots that discovery must skip.
    fn named(&self, kind: TargetKind, key: &str, folder: &str, tested: bool) -> (Vec<String>, Vec<Target>) {
        let tables = self.manifest.get(&[key]).and_then(Value::as_array);
        let target = |table: &Value| {
            let name = table.get("name").and_then(Value::as_str).unwrap_or_default();
            let root = self.path_of(Some(table)).or_else(|| {
                let usual = [format!("{folder}/{name}.rs"), format!("{folder}/{name}/main.rs")];
                let program = (kind == TargetKind::Program).then(|| "src/main.rs".to_owned());
                usual.into_iter().chain(program).find_map(|path| self.existing(&path))
            })?;
            Some(Target { root, kind, tested: is_tested(Some(table), tested) })
        };
        let targets: Vec<Target> = tables.into_iter().flatten().filter_map(target).collect();
        (targets.iter().map(|target| target.root.clone()).collect(), targets)
    }

    /// The roots `folder/*.rs` and `folder/*/main.rs`.
    fn discovered(&self, kind: TargetKind, folder: &str) -> Vec<String> {
        let below = format!("{}/", join(&self.manifest.folder, folder));
        let files = self.sources.files();
        let first = files.partition_point(|path| *path < below);
        let inside = files[first..].iter().take_while(|path| path.starts_with(&below));
        let is_root = |path: &&String| match path[below.len()..].split_once('/') {
            None => super::owns(path),
            Some((_, rest)) => rest == "main.rs",
        };
        let main = (kind == TargetKind::Program).then(|| self.existing("src/main.rs")).flatten();
        main.into_iter().chain(inside.filter(is_root).cloned()).collect()
    }

    fn path_of(&self, table: Option<&Value>) -> Option<String> {
        super::modules::normal(&join(&self.manifest.folder, table?.get("path")?.as_str()?))
    }

    fn existing(&self, path: &str) -> Option<String> {
        let path = join(&self.manifest.folder, path);
        self.sources.files().binary_search(&path).is_ok().then_some(path)
    }
}

fn is_tested(table: Option<&Value>, otherwise: bool) -> bool {
    flag(table, "test", otherwise) && flag(table, "harness", true)
}

fn flag(table: Option<&Value>, key: &str, otherwise: bool) -> bool {
    table.and_then(|table| table.get(key)?.as_bool()).unwrap_or(otherwise)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::memory;

    /// Checks every target's root and kind; `-` means that its tests are not run.
    fn check(files: &[(&str, &str)], expected: &[&str]) {
        let project = Project { root: String::new(), description: String::new() };
        let show =
            |target: Target| format!("{} {:?}{}", target.root, target.kind, if target.tested { "" } else { " -" });
        let mut found: Vec<_> = targets(&project, &memory(files)).into_iter().map(show).collect();
        found.sort();
        assert_eq!(found, expected);
    }

    const PACKAGE: &str = "[package]\nname = \"a\"\n";

    #[test]
    fn targets_are_where_cargo_looks_for_them() {
        let files = [
            ("Cargo.toml", PACKAGE),
            ("benches/b.rs", ""),
            ("build.rs", ""),
            ("examples/e.rs", ""),
            ("src/bin/p.rs", ""),
            ("src/bin/q/main.rs", ""),
            ("src/bin/q/part.rs", ""),
            ("src/lib.rs", ""),
            ("src/main.rs", ""),
            ("tests/common/mod.rs", ""),
            ("tests/s/main.rs", ""),
            ("tests/t.rs", ""),
        ];
        let expected = [
            "benches/b.rs Bench -",
            "build.rs Script -",
            "examples/e.rs Example -",
            "src/bin/p.rs Program",
            "src/bin/q/main.rs Program",
            "src/lib.rs Library",
            "src/main.rs Program",
            "tests/s/main.rs Test",
            "tests/t.rs Test",
        ];
        check(&files, &expected);
    }

    #[test]
    fn a_manifest_can_say_otherwise() {
        let manifest = "[package]\nname = \"a\"\nautotests = false\nbuild = \"make.rs\"\n\
                        [lib]\npath = \"lib/x.rs\"\nproc-macro = true\n[[test]]\nname = \"t\"\nharness = false\n\
                        [[test]]\nname = \"u\"\npath = \"other/u.rs\"\n[[example]]\nname = \"e\"\ntest = true";
        let files = [
            ("Cargo.toml", manifest),
            ("build.rs", ""),
            ("examples/e.rs", ""),
            ("src/lib.rs", ""),
            ("tests/t.rs", ""),
            ("tests/v.rs", ""),
        ];
        let expected =
            ["examples/e.rs Example", "lib/x.rs Macros", "make.rs Script -", "other/u.rs Test", "tests/t.rs Test -"];
        check(&files, &expected);
    }

    #[test]
    fn only_members_of_the_workspace_are_tested_and_fixtures_are_no_packages() {
        let files = [
            ("Cargo.toml", "[workspace]\nmembers = [\"a\"]"),
            ("a/Cargo.toml", "[package]\nname = \"a\"\n[dependencies]\nb = { path = \"../b\" }"),
            ("a/src/lib.rs", ""),
            ("a/tests/fixture/Cargo.toml", PACKAGE),
            ("a/tests/fixture/src/lib.rs", ""),
            ("b/Cargo.toml", PACKAGE),
            ("b/src/lib.rs", ""),
            ("c/Cargo.toml", PACKAGE),
            ("c/src/lib.rs", ""),
        ];
        check(&files, &["a/src/lib.rs Library", "b/src/lib.rs Library", "c/src/lib.rs Library -"]);
    }
}
