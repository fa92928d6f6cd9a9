//! Writes a program that runs copies of a test without pytest: the test's file gets a module of ours in its place.

use std::ops::Range;

use super::names::Names;
use super::syntax::Tree;
use super::test_command::TestCommand;
use super::{Python, owns};
use crate::language::{Language, join};
use crate::plain::{Again, Copies, MAX_FILES, PlainProgram, Start, listing, moved_folder};
use crate::syntax::splice;

/// Starts what takes the place of pytest.
const MAIN: &str = include_str!("main.py");
/// What takes the place of pytest.
const RUNNER: &str = include_str!("runner.py");

/// What a test names if it needs pytest, its sources or another process.
const NEEDS_RUNNER: [&str; 12] = [
    "pytest.main",
    "subprocess",
    "multiprocessing",
    "sys.executable",
    "sys.argv",
    "getsource",
    "hypothesis",
    "pytest_",
    "doctest",
    "getcwd",
    "os.environ",
    "__name__",
];
/// What a `conftest.py` names if tests need it even without asking for one of its fixtures.
const CONFIGURES: [&str; 6] = ["autouse", "def pytest_", "environ", "sys.", "setattr", "pytest_plugins"];

/// The program; `None` if only pytest can run the test.
pub(super) fn plainly(copies: &Copies<'_>) -> Option<PlainProgram> {
    let Copies { project, settings, sources, path, twins, .. } = *copies;
    let command = TestCommand::parse(&Python.test_command(settings)).ok()?;
    let below = project.relative_path(path)?;
    let needs = |text: &str, known: &[&str]| known.iter().any(|name| text.contains(name));
    let is_configuration = |file: &&String| file.ends_with("conftest.py");
    let mut configured = sources.files().iter().filter(is_configuration).filter_map(|file| sources.read(file));
    if needs(&twins.source, &NEEDS_RUNNER) || configured.any(|text| needs(&text, &CONFIGURES)) {
        return None;
    }
    // A path from the project's folder would lead nowhere once the folder has another name.
    let top = below.split_inclusive('/').next().filter(|top| top.ends_with('/'));
    if top.is_some_and(|top| twins.source.contains(top)) {
        return None;
    }
    let own = twins.copy.name()?.rsplit("::").next()?;
    let name = format!("x{}", own.split('_').find(|part| part.len() >= 8 && is_hexadecimal(part))?.get(..8)?);
    let (folder, mut files) = moved_folder(copies, below, &name, &["test", "tests"]);
    let module = format!("{name}t");
    let at = |file: &str| join(&project.root, &join(&folder, file));
    files.push((at(&format!("{module}.py")), Some(rewritten(&twins.source, &name)?)));
    let is_package = |folder: &str| {
        let original = join(&project.root, &original(folder, below, &name));
        !folder.is_empty() && sources.read(&join(&original, "__init__.py")).is_some()
    };
    let (path_entry, module) = importable(&folder, &module, is_package);
    let runner = RUNNER
        .replace("@NAME@", &name)
        .replace("@FOLDER@", if folder.is_empty() { "." } else { &folder })
        .replace("@PATH@", if path_entry.is_empty() { "." } else { path_entry })
        .replace("@MODULE@", &module);
    let script = join(&project.root, &format!("{name}m.py"));
    files.push((script.clone(), Some(MAIN.replace("@NAME@", &name))));
    files.push((join(&project.root, &format!("{name}p.py")), Some(runner)));
    let names = Names::of(project, sources);
    let is_test = |file: &str| owns(file) && (names.is_test_file(file) || file.ends_with("conftest.py"));
    files.retain(|(file, _)| !is_test(file));
    let moved = top.filter(|_| folder.starts_with(&name)).map(|top| join(&project.root, top));
    let is_moved = |file: &str| moved.as_ref().is_some_and(|top| file.starts_with(top));
    let is_kept = |file: &&String| !is_test(file) && !is_moved(file);
    let kept: Vec<&String> = sources.files().iter().filter(is_kept).collect();
    if kept.len() > MAX_FILES {
        return None;
    }
    let added = files.iter().map(|(file, _)| file.clone());
    let list = listing(kept.into_iter().cloned().chain(added).collect::<Vec<_>>());
    let listed = format!("{name}.list");
    files.push((listed.clone(), Some(list)));
    let mut find = command.find;
    find.push("path".to_owned());
    Some(PlainProgram {
        files,
        sources: Vec::new(),
        build: project.command(find, settings),
        executable: None,
        tests: twins.ids().into_iter().filter_map(|id| Some((id.clone(), id.name()?.to_owned()))).collect(),
        copy: twins.copy.clone(),
        again: Again::Repeated,
        start: Start {
            folder: project.root.clone(),
            listed: Some(listed),
            script: Some(script),
            env: Vec::new(),
            timeout: settings.timeout,
        },
    })
}

fn is_hexadecimal(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The test's file with our module in the place of pytest.
fn rewritten(source: &str, name: &str) -> Option<String> {
    let tree = Tree::parse(source)?;
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    for node in (0..tree.len()).filter(|node| tree.kind(*node) == "dotted_name" && tree.text(*node) == "pytest") {
        let (parent, range) = (tree.parent(node), tree.range(node));
        match tree.kind(parent) {
            "import_statement" => edits.push((range, format!("{name}p as pytest"))),
            "aliased_import" | "import_from_statement" => edits.push((range, format!("{name}p"))),
            _ => {}
        }
    }
    Some(splice(source, edits))
}

/// The folder before it was moved.
fn original(folder: &str, below: &str, name: &str) -> String {
    let top = below.split('/').next().unwrap_or_default();
    if folder.split('/').next() == Some(name) { folder.replacen(name, top, 1) } else { folder.to_owned() }
}

/// The folder from which pytest would import a module, and the module's name there.
fn importable<'f>(folder: &'f str, module: &str, is_package: impl Fn(&str) -> bool) -> (&'f str, String) {
    let (mut folder, mut module) = (folder, module.to_owned());
    while is_package(folder) {
        let (around, own) = folder.rsplit_once('/').unwrap_or(("", folder));
        module = format!("{own}.{module}");
        folder = around;
    }
    (folder, module)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_test_gets_our_module_in_the_place_of_pytest() {
        let check = |source: &str, expected: &str| assert_eq!(rewritten(source, "x").unwrap(), expected);
        check("import os, pytest\n", "import os, xp as pytest\n");
        check("import pytest as p\n", "import xp as p\n");
        check("from pytest import raises\n", "from xp import raises\n");
        check("pytest = 1\n", "pytest = 1\n");
    }

    #[test]
    fn a_module_of_a_package_is_imported_from_the_folder_around_the_package() {
        let is_package = |folder: &str| matches!(folder, "a/x" | "a/x/y");
        assert_eq!(importable("a/x/y", "t", is_package), ("a", "x.y.t".to_owned()));
        assert_eq!(importable("b", "t", is_package), ("b", "t".to_owned()));
    }

    #[test]
    fn a_moved_folder_is_known_by_its_old_name() {
        assert_eq!(original("x1/sub", "tests/sub/test_a.py", "x1"), "tests/sub");
        assert_eq!(original("sub", "sub/test_a.py", "x1"), "sub");
    }
}
