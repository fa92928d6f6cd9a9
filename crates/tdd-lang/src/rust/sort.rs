//! Sorts a repository's files into production, tests, runner configuration and documents.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use tdd_core::change::Sort;

use crate::language::{Project, Sources};

use super::include::{Include, includes};
use super::items::{are_for_tests, in_test_folder};
use super::modules::{ModuleTree, ParsedFiles};
use super::owns;
use super::targets::{TargetKind, targets};

/// Runner configuration files, in any folder.
const STEERING_NAMES: [&str; 22] = [
    "Cargo.toml",
    "Cargo.lock",
    "rust-toolchain",
    "rust-toolchain.toml",
    "rustfmt.toml",
    ".rustfmt.toml",
    "clippy.toml",
    ".clippy.toml",
    "deny.toml",
    "insta.yaml",
    ".insta.yaml",
    "proptest.toml",
    "tarpaulin.toml",
    "Makefile",
    "makefile",
    "GNUmakefile",
    "Makefile.toml",
    "justfile",
    ".justfile",
    ".gitignore",
    ".gitattributes",
    "tdd.yaml",
];

/// Folders that contain only runner configuration.
const STEERING_FOLDERS: [&str; 6] = [".cargo", ".ci", ".circleci", ".config", ".github", ".gitlab"];

/// Folders for test data, unless the sources use their files otherwise.
const TEST_FOLDERS: [&str; 5] = ["tests", "testdata", "fixtures", "snapshots", "proptest-regressions"];

/// A file's place in a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mounted {
    pub kind: TargetKind,
    /// Whether the tests in it are run.
    pub tested: bool,
    /// Whether it is reached only through test modules, or its target is for tests.
    pub for_tests: bool,
    pub module: String,
    pub cfg: Arc<[String]>,
}

/// Where each Rust file is in a project's targets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Layout {
    mounts: BTreeMap<String, Vec<Mounted>>,
}

impl Layout {
    /// Follows the modules of all targets.
    pub fn of(project: &Project, files: &mut ParsedFiles<'_>) -> Self {
        let mut layout = Self::default();
        for target in targets(project, files.sources()) {
            let tests = matches!(target.kind, TargetKind::Test | TargetKind::Bench) || in_test_folder(&target.root);
            for mount in ModuleTree::build(&target.root, files).mounts() {
                let mounted = Mounted {
                    kind: target.kind,
                    tested: target.tested,
                    for_tests: tests || mount.test_only,
                    module: mount.module.clone(),
                    cfg: Arc::clone(&mount.cfg),
                };
                let known = layout.mounts.entry(mount.path.clone()).or_default();
                if !known.contains(&mounted) {
                    known.push(mounted);
                }
            }
        }
        layout
    }

    /// Where a file is in the targets; empty if no target reaches it.
    pub fn mounts(&self, path: &str) -> &[Mounted] {
        self.mounts.get(path).map_or(&[], Vec::as_slice)
    }

    /// The files whose place differs in the other layout.
    pub fn differing<'l>(&'l self, other: &'l Self) -> impl Iterator<Item = &'l str> {
        let ours = self.mounts.iter().filter(|(path, mounts)| other.mounts(path) != mounts.as_slice());
        let theirs = other.mounts.keys().filter(|path| !self.mounts.contains_key(*path));
        ours.map(|(path, _)| path).chain(theirs).map(String::as_str)
    }

    /// A file's sort by the targets that reach it.
    fn sort(&self, path: &str) -> Option<Sort> {
        let mounts = self.mounts(path);
        let is_runner_configuration = |mount: &Mounted| matches!(mount.kind, TargetKind::Script | TargetKind::Macros);
        if mounts.iter().any(|mount| is_runner_configuration(mount) && !mount.for_tests) {
            Some(Sort::Steering)
        } else if mounts.iter().any(|mount| !mount.for_tests) {
            Some(Sort::Production)
        } else {
            (!mounts.is_empty()).then_some(Sort::Test)
        }
    }
}

/// Sorts the files of one tree.
pub(super) struct Sorter<'s> {
    pub layout: Layout,
    sources: &'s dyn Sources,
    includes: OnceCell<Vec<Include>>,
}

impl<'s> Sorter<'s> {
    /// For a tree with this layout.
    pub fn new(layout: Layout, sources: &'s dyn Sources) -> Self {
        Self { layout, sources, includes: OnceCell::new() }
    }

    /// The sort of a path, whether or not the file exists.
    ///
    /// The name decides first, then the targets that reach the file, then the code that includes it, then its folder:
    /// what production uses is production, wherever it is.
    pub fn sort(&self, path: &str) -> Sort {
        self.sort_in(&Folders::of(split(path).0), path)
    }

    fn sort_in(&self, known: &Folders, path: &str) -> Sort {
        let (folders, name) = split(path);
        if known.steer(folders, name) {
            return Sort::Steering;
        }
        if let Some(sort) = self.layout.sort(path) {
            return sort;
        }
        let users = || self.includes().iter().filter(|include| !include.documents && include.names(path));
        if users().any(|include| include.sort == Sort::Production) {
            Sort::Production
        } else if users().next().is_some() || known.are_for_tests(name) {
            Sort::Test
        } else if owns(path) {
            Sort::Production
        } else {
            Sort::Document
        }
    }

    /// Whether a file is included as documentation, so that its examples are run.
    pub fn documents(&self, path: &str) -> bool {
        self.includes().iter().any(|include| include.documents && include.names(path))
    }

    fn includes(&self) -> &[Include] {
        let without_includes = |path: &str| {
            let by_folder = if is_for_tests(path) { Sort::Test } else { Sort::Production };
            self.layout.sort(path).unwrap_or(by_folder)
        };
        self.includes.get_or_init(|| includes(self.sources, without_includes))
    }
}

/// The sort of a path in this tree.
pub fn sort(project: &Project, path: &str, sources: &dyn Sources) -> Sort {
    if is_runner_configuration(path) {
        return Sort::Steering;
    }
    let layout = Layout::of(project, &mut ParsedFiles::for_modules(sources));
    Sorter::new(layout, sources).sort(path)
}

/// The sorts of many paths in this tree.
pub fn sorts(project: &Project, paths: &[String], sources: &dyn Sources) -> Vec<Sort> {
    let sorter = Sorter::new(Layout::of(project, &mut ParsedFiles::for_modules(sources)), sources);
    let (mut last, mut folders) = ("", Folders::of(""));
    let each = paths.iter().map(|path| {
        let now = split(path).0;
        if now != last {
            (last, folders) = (now, Folders::of(now));
        }
        sorter.sort_in(&folders, path)
    });
    each.collect()
}

/// What a path's folders say about the files in them.
struct Folders {
    /// Everything in them is runner configuration.
    steer: bool,
    /// They are inside a package's test folder.
    are_tests: bool,
    /// They contain test data.
    hold_data: bool,
}

impl Folders {
    fn of(folders: &str) -> Self {
        let any = |known: &[&str]| folders.split('/').any(|folder| known.contains(&folder));
        Self { steer: any(&STEERING_FOLDERS), are_tests: are_for_tests(folders), hold_data: any(&TEST_FOLDERS) }
    }

    /// Whether a file in these folders is runner configuration by its name alone.
    fn steer(&self, folders: &str, name: &str) -> bool {
        let is_script = || name == "build.rs" && !self.are_tests && !folders.split('/').any(|folder| folder == "src");
        self.steer || STEERING_NAMES.contains(&name) || is_script()
    }

    /// Whether a file that no target reaches is test code by its folder or ending.
    fn are_for_tests(&self, name: &str) -> bool {
        let is_snapshot = || name.contains(".snap") && name.split('.').skip(1).any(|ending| ending == "snap");
        self.are_tests || (self.hold_data && !owns(name)) || is_snapshot()
    }
}

/// A path's folders and its file name.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

fn is_runner_configuration(path: &str) -> bool {
    let (folders, name) = split(path);
    Folders::of(folders).steer(folders, name)
}

fn is_for_tests(path: &str) -> bool {
    let (folders, name) = split(path);
    Folders::of(folders).are_for_tests(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::memory;

    fn check(files: &[(&str, &str)], expected: &[(Sort, &[&str])]) {
        let project = Project { root: String::new(), description: String::new() };
        let paths = expected.iter().flat_map(|(sorted, paths)| paths.iter().map(move |path| (*sorted, path)));
        for (sorted, path) in paths {
            assert_eq!(sort(&project, path, &memory(files)), sorted, "{path}");
        }
    }

    const PACKAGE: (&str, &str) = ("Cargo.toml", "[package]\nname = \"a\"\n");

    #[test]
    fn some_names_steer_wherever_they_stand() {
        let elsewhere = [
            "crates/a/Cargo.toml",
            ".cargo/config.toml",
            "a/.cargo/config",
            "build.rs",
            "crates/a/build.rs",
            ".config/nextest.toml",
            ".github/workflows/ci.yml",
            "src/.gitignore",
        ];
        for path in STEERING_NAMES.iter().chain(&elsewhere) {
            check(&[PACKAGE], &[(Sort::Steering, &[path])]);
        }
    }

    #[test]
    fn a_path_is_sorted_by_its_folder_if_nothing_leads_to_it() {
        let expected = [
            (Sort::Production, &["src/lib.rs", "src/new.rs", "src/build.rs", "examples/e.rs", "src/tests/x.rs"][..]),
            (
                Sort::Test,
                &[
                    "tests/a.rs",
                    "tests/common/mod.rs",
                    "tests/build.rs",
                    "tests/data/a.json",
                    "benches/b.rs",
                    "crates/a/tests/a.rs",
                    "src/snapshots/a.snap",
                    "src/a.snap.new",
                    "testdata/a.txt",
                ][..],
            ),
            (Sort::Document, &["README.md", "LICENSE", "kata.md", "data/a.json"][..]),
        ];
        check(&[PACKAGE, ("src/lib.rs", "")], &expected);
    }

    #[test]
    fn a_file_is_what_leads_to_it() {
        let files = [
            PACKAGE,
            (
                "src/lib.rs",
                "#[cfg(test)] mod checks; mod a; #[cfg(test)] mod both;\n#[path = \"../tests/sly.rs\"] mod sly;",
            ),
            ("src/a.rs", ""),
            ("src/both.rs", ""),
            ("src/checks.rs", "mod deep;"),
            ("src/checks/deep.rs", ""),
            ("src/main.rs", "mod both;"),
            ("tests/sly.rs", ""),
            ("tests/t.rs", "#[path = \"../support/x.rs\"] mod x;"),
            ("support/x.rs", ""),
        ];
        let expected = [
            (Sort::Production, &["src/a.rs", "src/both.rs", "tests/sly.rs"][..]),
            (Sort::Test, &["src/checks.rs", "src/checks/deep.rs", "support/x.rs"][..]),
        ];
        check(&files, &expected);
    }

    #[test]
    fn build_scripts_and_procedural_macros_steer() {
        let files = [
            ("Cargo.toml", "[package]\nname = \"a\"\nbuild = \"make/it.rs\"\n[lib]\nproc-macro = true"),
            ("make/it.rs", "mod part;"),
            ("make/part.rs", ""),
            ("src/lib.rs", "mod a; #[cfg(test)] mod tests;"),
            ("src/a.rs", ""),
            ("src/tests.rs", ""),
            ("tests/t.rs", ""),
        ];
        let expected = [
            (Sort::Steering, &["make/it.rs", "make/part.rs", "src/lib.rs", "src/a.rs"][..]),
            (Sort::Test, &["src/tests.rs", "tests/t.rs"][..]),
        ];
        check(&files, &expected);
    }

    #[test]
    fn data_is_what_includes_it() {
        let files = [
            PACKAGE,
            (
                "src/lib.rs",
                "#![doc = include_str!(\"../README.md\")]\nconst A: &str = include_str!(\"../data/a.txt\");\n\
                 include!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/gen/c.in\"));\n\
                 #[cfg(test)] mod tests { const B: &[u8] = include_bytes!(\"b.bin\"); const A: &str = \
                 include_str!(\"../data/a.txt\"); }",
            ),
            ("tests/t.rs", "const D: &str = include_str!(\"../data/d.txt\");"),
        ];
        let expected = [
            (Sort::Document, &["README.md", "data/e.txt"][..]),
            (Sort::Production, &["data/a.txt", "gen/c.in"][..]),
            (Sort::Test, &["src/b.bin", "data/d.txt"][..]),
        ];
        check(&files, &expected);
    }
}
