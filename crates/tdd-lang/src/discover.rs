//! Finds the projects of a repository by their manifests: the topmost one on each path.

use std::collections::BTreeSet;

use crate::language::{Language, Project, Sources, has_ending};
use crate::project_set::View;
use crate::{languages, named};

/// A project that was discovered, not configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiscoveredProject {
    /// The project's folder, relative to the repository's root; empty for the root itself.
    pub root: String,
    /// The name of the project's language.
    pub language: &'static str,
}

/// Maximum number of auto-discovered projects.
pub const MAX_PROJECTS: usize = 64;

/// Maximum number of folders between the root and a manifest.
const MAX_DEPTH: usize = 6;

/// Folders with third-party code, build products or samples.
const FOREIGN: [&str; 14] = [
    "node_modules",
    "vendor",
    "third_party",
    "target",
    "venv",
    "env",
    "site-packages",
    "testdata",
    "fixtures",
    "__fixtures__",
    "templates",
    "docs",
    "doc",
    "dist",
];

/// Folders that may be a project themselves, while the folders below them are samples.
const OF_SAMPLES: [&str; 5] = ["tests", "test", "__tests__", "examples", "example"];

/// The projects of a repository, in the order of their folders. A project includes everything below its folder, so one
/// in the root is the only one. Of two languages in the same folder, the first of [`languages`] that has code wins.
pub fn projects(sources: &dyn Sources) -> Vec<DiscoveredProject> {
    let mut found: Vec<DiscoveredProject> = Vec::new();
    for (folder, language) in manifests(sources) {
        if !found.iter().any(|outer| holds(&outer.root, folder)) && has_code(language.as_ref(), folder, sources) {
            found.push(DiscoveredProject { root: folder.to_owned(), language: language.name() });
        }
    }
    found
}

/// The projects before a change and those that it adds elsewhere, so that adding or removing a manifest cannot hide a
/// project. Other projects may take the place of one that is gone.
pub fn projects_before_and_after(before: &dyn Sources, after: &dyn Sources) -> Vec<DiscoveredProject> {
    let mut all = projects(before);
    let is_there = |project: &&DiscoveredProject| is_in(project, after);
    let known: Vec<String> = all.iter().filter(is_there).map(|project| project.root.clone()).collect();
    let is_elsewhere = |root: &str| !known.iter().any(|other| holds(other, root) || holds(root, other));
    let new = projects(after).into_iter().filter(|project| is_elsewhere(&project.root));
    let new: Vec<DiscoveredProject> =
        new.filter(|project| all.iter().all(|other| other.root != project.root)).collect();
    all.extend(new);
    all
}

/// Whether a project's manifest is in a tree.
pub fn is_in(project: &DiscoveredProject, sources: &dyn Sources) -> bool {
    let is_it =
        |(folder, language): (&str, Box<dyn Language>)| project.root == folder && project.language == language.name();
    manifests(sources).into_iter().any(is_it)
}

/// The changed paths that change which projects are discovered.
///
/// These are the manifests that were added or removed. If a known project is lost without one, they are all added or
/// removed files.
pub fn paths_deciding_projects<'p>(before: &dyn Sources, after: &dyn Sources, paths: &'p [String]) -> Vec<&'p str> {
    let (was, is) = (projects(before), projects(after));
    if was.is_empty() || was == is {
        return Vec::new();
    }
    let is_in = |sources: &dyn Sources, path: &str| sources.files().iter().any(|file| file == path);
    let comes_or_goes = |path: &&str| is_in(before, path) != is_in(after, path);
    let moved: Vec<&str> = paths.iter().map(String::as_str).filter(comes_or_goes).collect();
    let manifests: Vec<&str> = moved.iter().copied().filter(|path| is_manifest(path)).collect();
    let is_lost = was.iter().any(|project| !is.contains(project));
    if manifests.is_empty() && is_lost { moved } else { manifests }
}

/// Projects with tests that no known project runs.
pub fn unrun_projects(known: &[DiscoveredProject], sources: &dyn Sources) -> Vec<DiscoveredProject> {
    let mut unrun: Vec<DiscoveredProject> = Vec::new();
    for (folder, language) in manifests(sources) {
        let around = known.iter().filter(|project| holds(&project.root, folder)).max_by_key(|it| it.root.len());
        let is_run = around.is_some_and(|project| {
            let outer = Project { root: project.root.clone(), description: String::new() };
            let reaches = || language.reaches(&outer, folder, sources);
            project.root == folder || project.language == language.name() && reaches()
        });
        let is_inner = unrun.iter().any(|outer| holds(&outer.root, folder));
        if !is_run && !is_inner && has_tests(language.as_ref(), folder, sources) {
            unrun.push(DiscoveredProject { root: folder.to_owned(), language: language.name() });
        }
    }
    if !unrun.iter().chain(known).any(|project| project.root.is_empty()) {
        let taken: Vec<&DiscoveredProject> = unrun.iter().chain(known).collect();
        let outside = outside(&taken, sources);
        unrun.extend(outside);
    }
    unrun
}

/// The tests that are in no project, as a project in the root, if their language needs no manifest.
fn outside(projects: &[&DiscoveredProject], sources: &dyn Sources) -> Option<DiscoveredProject> {
    let is_outside = |path: &&String| {
        let is_inside = projects.iter().any(|project| holds(&project.root, path));
        !is_inside && may_hold(split(path).0)
    };
    let files: Vec<String> = sources.files().iter().filter(is_outside).cloned().collect();
    let left = View { sources, files };
    let is_tested = |language: &dyn Language| {
        language.detect(&left).is_some_and(|project| project.root.is_empty()) && has_tests(language, "", &left)
    };
    let language = languages().into_iter().find(|language| is_tested(language.as_ref()))?;
    Some(DiscoveredProject { root: String::new(), language: language.name() })
}

/// Endings of files that belong to no language: documents, data, settings, pictures.
const NOT_CODE: [&str; 20] = [
    "adoc", "cfg", "csv", "css", "gif", "html", "ini", "jpg", "json", "lock", "md", "pdf", "png", "rst", "svg", "toml",
    "txt", "webp", "yaml", "yml",
];

/// The first file that is code of another language than this one.
pub fn foreign_code<'s>(language: &dyn Language, sources: &'s dyn Sources) -> Option<&'s str> {
    let is_foreign = |path: &&String| {
        let (_, name) = split(path);
        let is_hidden = path.split('/').any(|part| part.starts_with('.'));
        let is_code = name == "Gemfile" || name.contains('.') && !has_ending(name, &NOT_CODE);
        is_code && !is_hidden && !language.owns(path)
    };
    sources.files().iter().find(is_foreign).map(String::as_str)
}

/// The folders with a manifest, outer ones first, each with its language; a folder appears once for each of its
/// languages.
fn manifests(sources: &dyn Sources) -> Vec<(&str, Box<dyn Language>)> {
    let languages = languages();
    let mut found: BTreeSet<(&str, usize)> = BTreeSet::new();
    for path in sources.files() {
        let (folder, name) = split(path);
        let ranks = languages.iter().enumerate().filter(|(_, language)| language.is_manifest(name));
        found.extend(ranks.filter(|_| may_hold(folder)).map(|(rank, _)| (folder, rank)));
    }
    found.into_iter().filter_map(|(folder, rank)| Some((folder, named(languages[rank].name())?))).collect()
}

fn is_manifest(path: &str) -> bool {
    let (folder, name) = split(path);
    may_hold(folder) && languages().iter().any(|language| language.is_manifest(name))
}

fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// Whether a folder may be a project of its own.
fn may_hold(folder: &str) -> bool {
    let parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    let above = parts.len().saturating_sub(1);
    parts.len() <= MAX_DEPTH
        && !parts.iter().any(|part| part.starts_with(['.', '_']) || FOREIGN.contains(part))
        && !parts[..above].iter().any(|part| OF_SAMPLES.contains(part))
}

/// Whether a path is this folder or below it.
pub fn holds(folder: &str, path: &str) -> bool {
    folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether a folder has code of this language; a manifest alone may belong to some tool.
fn has_code(language: &dyn Language, folder: &str, sources: &dyn Sources) -> bool {
    sources.files().iter().any(|path| language.owns(path) && holds(folder, split(path).0))
}

fn has_tests(language: &dyn Language, folder: &str, sources: &dyn Sources) -> bool {
    let mut own = sources.files().iter().filter(|path| language.owns(path) && holds(folder, split(path).0));
    own.any(|path| sources.read(path).is_some_and(|source| !language.items(path, &source).tests.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Memory, memory};

    fn repository(paths: &[&str]) -> Memory {
        memory(&paths.iter().map(|path| (*path, text(path))).collect::<Vec<_>>())
    }

    /// The text of a source file, with one test.
    fn text(path: &str) -> &'static str {
        match path.rsplit('.').next() {
            Some("rs") => "#[test]\nfn a() {}\n",
            Some("py") => "def test_a():\n    assert 1\n",
            Some("js") => "import { test } from 'node:test'\ntest('a', () => {})\n",
            Some("go") => "package a\nimport \"testing\"\nfunc TestA(t *testing.T) {}\n",
            Some("json") => "{}",
            _ => "[package]\nname = \"a\"\n",
        }
    }

    fn told(found: Vec<DiscoveredProject>) -> Vec<(String, &'static str)> {
        found.into_iter().map(|project| (project.root, project.language)).collect()
    }

    fn check(paths: &[&str], expected: &[(&str, &'static str)]) {
        let expected: Vec<_> = expected.iter().map(|(root, language)| ((*root).to_owned(), *language)).collect();
        assert_eq!(told(projects(&repository(paths))), expected, "{paths:?}");
    }

    #[test]
    fn every_topmost_manifest_with_code_below_it_is_a_project() {
        let four = ["web/package.json", "web/a.test.js", "api/Cargo.toml", "api/src/lib.rs", "svc/go.mod", "svc/a.go"];
        let python = ["tools/gen/setup.cfg", "tools/gen/a.py"];
        check(
            &[&four[..], &python].concat(),
            &[("api", "rust"), ("svc", "go"), ("tools/gen", "python"), ("web", "javascript")],
        );
        let inner = ["api/crates/b/Cargo.toml", "api/web/package.json", "api/web/a.js", "api-2/go.mod", "api-2/a.go"];
        check(&[&four[2..4], &inner].concat(), &[("api", "rust"), ("api-2", "go")]);
        check(&[&four[..], &["Cargo.toml"]].concat(), &[("", "rust")]);
        check(&["a/package.json", "a/pyproject.toml", "a/x.js", "a/x.py"], &[("a", "python")]);
        check(&["a/package.json", "a/x.py", "README.md"], &[]);
    }

    #[test]
    fn what_others_wrote_and_what_is_a_sample_is_no_project() {
        for folder in ["node_modules/a", "x/vendor/y", "a/target", "venv", ".hidden/a", "tests/data/a", "x/fixtures/a"]
        {
            check(&[&format!("{folder}/Cargo.toml"), &format!("{folder}/src/lib.rs")], &[]);
        }
        check(&["tests/pyproject.toml", "tests/test_a.py"], &[("tests", "python")]);
        check(&["a/b/c/d/e/f/go.mod", "a/b/c/d/e/f/a.go"], &[("a/b/c/d/e/f", "go")]);
        check(&["a/b/c/d/e/f/g/go.mod", "a/b/c/d/e/f/g/a.go"], &[]);
    }

    #[test]
    fn no_change_takes_a_project_out_of_sight() {
        let base =
            ["api/go.mod", "api/a.go", "web/package.json", "web/a.js", "x/package.json", "x/go/go.mod", "x/go/a.go"];
        let before = repository(&base);
        for (without, with, blamed, all) in [
            ("api/go.mod", "api/b.go", vec!["api/go.mod"], 3),
            ("-", "package.json", vec!["package.json"], 3),
            ("-", "web/pyproject.toml", vec![], 3),
            ("-", "sub/package.json", vec![], 3),
            ("-", "x/a.js", vec!["x/a.js"], 3),
            ("web/a.js", "web/b.js", vec![], 3),
        ] {
            let kept = base.iter().copied().filter(|path| *path != without);
            let after = repository(&kept.chain([with]).collect::<Vec<_>>());
            let paths: Vec<String> = [without, with].map(str::to_owned).into();
            assert_eq!(
                (paths_deciding_projects(&before, &after, &paths), projects_before_and_after(&before, &after).len()),
                (blamed, all),
                "{with}"
            );
        }
        let after =
            repository(&[&base[..], &["sub/package.json", "sub/a.js", "web/pyproject.toml", "web/a.py"]].concat());
        let paths = ["sub/a.js", "sub/package.json", "web/a.py", "web/pyproject.toml"].map(str::to_owned);
        assert_eq!(paths_deciding_projects(&before, &after, &paths), ["sub/package.json", "web/pyproject.toml"]);
        let told = told(projects_before_and_after(&before, &after));
        assert!(told.contains(&("web".to_owned(), "javascript")) && told.contains(&("sub".to_owned(), "javascript")));
        assert_eq!(paths_deciding_projects(&repository(&[]), &after, &paths), Vec::<&str>::new());
        let moved = projects_before_and_after(
            &repository(&["Cargo.toml", "src/lib.rs"]),
            &repository(&["api/Cargo.toml", "api/src/lib.rs"]),
        );
        assert_eq!(super::tests::told(moved), [(String::new(), "rust"), ("api".to_owned(), "rust")]);
    }

    #[test]
    fn an_unrun_project_has_tests_that_no_known_project_runs() {
        let unrun = |files: &[(&str, &str)], language| {
            told(unrun_projects(&[DiscoveredProject { root: String::new(), language }], &memory(files)))
        };
        let workspace = "[workspace]\nmembers = [\"crates/*\"]\n";
        let package = "[package]\nname = \"a\"\n";
        let (rust, js, go) = (text("a.rs"), text("a.js"), text("a.go"));
        let files = [
            ("Cargo.toml", workspace),
            ("crates/a/Cargo.toml", package),
            ("crates/a/src/lib.rs", rust),
            ("docs/package.json", "{}"),
            ("docs/a.test.js", js),
            ("fuzz/Cargo.toml", package),
            ("fuzz/fuzz_targets/a.rs", "fn main() {}"),
            ("other/Cargo.toml", package),
            ("other/src/lib.rs", rust),
            ("tests/data/x/package.json", "{}"),
            ("tests/data/x/a.test.js", js),
            ("web/app/package.json", "{}"),
            ("web/app/a.test.js", js),
            ("web/package.json", "{}"),
        ];
        assert_eq!(unrun(&files, "rust"), [("other".to_owned(), "rust"), ("web".to_owned(), "javascript")]);
        let known = [DiscoveredProject { root: "api".to_owned(), language: "rust" }];
        let files = [("api/Cargo.toml", package), ("api/src/lib.rs", rust), ("tests/test_a.py", text("a.py"))];
        assert_eq!(told(super::unrun_projects(&known, &memory(&files))), [(String::new(), "python")]);
        assert_eq!(told(super::unrun_projects(&known, &memory(&files[..2]))), []);
        let files = [("package.json", "{}"), ("packages/a/package.json", "{}"), ("packages/a/a.test.js", js)];
        assert_eq!(unrun(&files, "javascript"), []);
        let files = [("go.mod", "module a\n"), ("tools/go.mod", "module b\n"), ("tools/a_test.go", go)];
        assert_eq!(unrun(&files, "go"), [("tools".to_owned(), "go")]);
    }
}
