//! Writes a program that runs copies of a test without libtest: their target gets a `main` of ours and is compiled like
//! any other program, without `cfg(test)` and debug assertions.

mod copies;

use crate::language::{Language, join};
use crate::plain::{Again, Copies, PlainProgram, Start, without_sources};

use super::items::items;
use super::manifest::{Manifest, edition};
use super::modules::{ModuleTree, ParsedFiles, folder_of};
use super::targets::{Target, TargetKind, targets};
use super::test_command::TestCommand;
use super::{Rust, owns};

/// What a test names if it needs its sources, its variables or the repository at run time.
const NEEDS_REPOSITORY: [&str; 14] = [
    "CARGO_",
    "cargo_bin",
    "file!(",
    "trybuild",
    "trycmd",
    "insta::",
    "expect_test",
    "current_exe",
    "env::var",
    ".rs\"",
    "Cargo.toml",
    "\".\"",
    "\"..\"",
    "\"src",
];

/// Compiles the workspace's packages in the place of rustc.
const RUSTC: &str = include_str!("rustc.sh");
/// Builds with cargo, and prints where the program is.
const BUILD: &str = include_str!("build.sh");

/// The program; `None` if only libtest can run the test.
pub(super) fn plainly(copies: &Copies<'_>) -> Option<PlainProgram> {
    let Copies { project, settings, sources, path, twins, root, products } = *copies;
    let command = TestCommand::parse(&Rust.test_command(settings)).ok().filter(|command| command.manifest.is_none())?;
    let target = Place::of(copies)?;
    let written = copies::Program::write(copies, &target)?;
    let needs_repository = NEEDS_REPOSITORY.iter().any(|name| target.tests.contains(name));
    let is_source = |file: &str| owns(file) || file.ends_with("Cargo.toml") || file.ends_with("Cargo.lock");
    let list = if needs_repository { None } else { without_sources(sources, is_source) };
    let listed = list.as_ref().map(|_| format!("{}.list", written.name));
    let mut files = written.files;
    let mut gone: Vec<String> = files.iter().map(|(file, _)| file.clone()).collect();
    gone.push(path.to_owned());
    files.extend(listed.clone().map(|file| (file, list)));
    let is_release = !(twins.source.contains("should_panic") && target.has_debug_assertions);
    let (assertions, wrapper) = if is_release { ("off", "rustc") } else { ("on", "rustc-debug") };
    let below = |file: &str| file.strip_prefix(&target.package).unwrap_or(file).trim_start_matches('/').to_owned();
    let rustc = RUSTC.replace("@ROOT@", &below(&target.root)).replace("@SWAPPED@", &below(&written.root));
    let shown = if target.tests.contains("file!(") { below(&target.root) } else { "src/main.rs".to_owned() };
    let rustc = rustc.replace("@SHOWN@", &shown).replace("@ASSERTIONS@", assertions);
    let wrapper = format!("{products}/plain/{wrapper}");
    let mut build =
        ["sh", "-c", BUILD, "sh", &wrapper, &rustc, &format!("{root}/{}", target.root)].map(str::to_owned).to_vec();
    build.extend(command.cargo.iter().cloned());
    build.extend(
        ["test", "--no-run", "--message-format", "json-render-diagnostics", "--manifest-path"].map(str::to_owned),
    );
    build.push(project.relative_path(&join(&target.package, "Cargo.toml"))?.to_owned());
    build.extend(target.flags());
    build.extend(command.build.iter().cloned());
    let env = vec![
        ("CARGO_MANIFEST_DIR".to_owned(), format!("{root}/{}", target.package).trim_end_matches('/').to_owned()),
        ("CARGO_PKG_NAME".to_owned(), target.name.clone()),
    ];
    let env = if needs_repository { env } else { Vec::new() };
    Some(PlainProgram {
        files,
        sources: gone,
        build: project.command(build, settings),
        executable: None,
        tests: twins.ids().into_iter().map(|id| (id.clone(), id.as_str().to_owned())).collect(),
        copy: twins.copy.clone(),
        again: Again::Repeated,
        start: Start { folder: target.package, listed, script: None, env, timeout: settings.timeout },
    })
}

/// Where a test is.
struct Place {
    /// The root file of its target.
    root: String,
    kind: TargetKind,
    /// The package's folder and name.
    package: String,
    name: String,
    /// Whether the manifest names its test targets.
    names_tests: bool,
    /// The files of the target.
    files: Vec<String>,
    /// The text of its tests.
    tests: String,
    /// Whether something asserts in debug builds only.
    has_debug_assertions: bool,
}

impl Place {
    fn of(copies: &Copies<'_>) -> Option<Self> {
        let Copies { project, sources, path, twins, .. } = *copies;
        let mut parsed = ParsedFiles::new(sources);
        let files_of = |target: &Target, parsed: &mut ParsedFiles<'_>| -> Vec<String> {
            ModuleTree::build(&target.root, parsed).files().map(str::to_owned).collect()
        };
        let mut known = targets(project, sources).into_iter().filter(|target| target.tested);
        let (target, files) = known.find_map(|target| {
            let files = files_of(&target, &mut parsed);
            files.iter().any(|file| file == path).then_some((target, files))
        })?;
        if !matches!(target.kind, TargetKind::Library | TargetKind::Program | TargetKind::Test) {
            return None;
        }
        let around = Manifest::all(sources);
        let holds = |manifest: &&Manifest| {
            manifest.package().is_some()
                && (manifest.folder.is_empty() || target.root.starts_with(&format!("{}/", manifest.folder)))
        };
        let manifest = around.iter().filter(holds).max_by_key(|manifest| manifest.folder.len())?;
        let mut tests = String::new();
        for file in &files {
            let text = if file == path { twins.source.clone() } else { sources.read(file)? };
            let ranges = items(file, &text).test_ranges;
            tests.extend(ranges.into_iter().filter_map(|range| text.get(range)));
        }
        let mut ours = sources.files().iter().filter(|file| owns(file));
        Some(Self {
            root: target.root,
            kind: target.kind,
            package: manifest.folder.clone(),
            name: manifest.package()?.to_owned(),
            names_tests: manifest.get(&["test"]).is_some(),
            files,
            tests,
            has_debug_assertions: ours.any(|file| sources.read(file).is_some_and(|text| text.contains("debug_assert"))),
        })
    }

    /// The flags that choose the target.
    fn flags(&self) -> Vec<String> {
        let stem =
            self.root.trim_end_matches("/main.rs").rsplit('/').next().unwrap_or_default().trim_end_matches(".rs");
        let words: &[&str] = match self.kind {
            TargetKind::Library => &["--lib"],
            TargetKind::Program => &["--bins"],
            _ if self.names_tests => &["--tests"],
            _ => &["--test", stem],
        };
        words.iter().map(|word| (*word).to_owned()).collect()
    }
}

/// Whether attributes and blocks need the word `unsafe` in this file's edition.
fn is_strict(path: &str, copies: &Copies<'_>) -> bool {
    edition(path, copies.sources).as_str() >= "2024"
}

/// A file beside another one.
fn beside(path: &str, name: &str) -> String {
    format!("{}{name}", folder_of(path))
}
