//! The interface that every language implements.

use std::collections::BTreeMap;
use std::time::Duration;

use tdd_core::change::{Change, Sort};
use tdd_core::command::{CommandSpec, Finished};
use tdd_core::coverage::Coverage;
use tdd_core::merge::{MergeError, Merged};
use tdd_core::report::Report;
use tdd_core::signs::Signs;
use tdd_core::test_id::TestId;

use crate::alter::{Instrumented, Request};
use crate::item::{Items, TestItem};
use crate::plain::{Copies, PlainProgram};
use crate::twin::{AlterationMode, ScratchNeeds, Twins};

/// The files of a repository in one state.
pub trait Sources {
    /// Every file, relative to the repository's root, sorted, without ignored files.
    fn files(&self) -> &[String];
    /// The files whose paths end with `end`. Implementations may index this: languages look up a few of many thousand
    /// files, again and again.
    fn ending(&self, end: &str) -> Vec<&String> {
        self.files().iter().filter(|path| path.ends_with(end)).collect()
    }
    /// The text of one file; `None` if it is missing, too large or not text.
    fn read(&self, path: &str) -> Option<String>;
}

/// A repository without files.
#[derive(Clone, Copy, Debug)]
pub struct NoSources;

impl Sources for NoSources {
    fn files(&self) -> &[String] {
        &[]
    }

    fn read(&self, _: &str) -> Option<String> {
        None
    }
}

/// A project of some language inside the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// The project's folder, relative to the repository's root; empty for the root itself.
    pub root: String,
    /// Description for people: "cargo workspace with 3 packages".
    pub description: String,
}

impl Project {
    /// Makes a repository-relative path relative to the project's folder; `None` if the file is outside of it.
    pub fn relative_path<'p>(&self, path: &'p str) -> Option<&'p str> {
        if self.root.is_empty() { Some(path) } else { path.strip_prefix(&self.root)?.strip_prefix('/') }
    }

    /// Makes a path relative to the project's folder, as the project's tools print it, repository-relative.
    pub fn repository_path(&self, path: &str) -> String {
        if self.root.is_empty() { path.to_owned() } else { format!("{}/{path}", self.root) }
    }

    /// The project's files that satisfy `is_wanted`, with their texts; files that are not text are left out.
    pub(crate) fn texts<'s>(
        &'s self,
        sources: &'s dyn Sources,
        is_wanted: impl Fn(&str) -> bool + 's,
    ) -> impl Iterator<Item = (&'s String, String)> {
        let wanted = sources.files().iter().filter(move |path| is_wanted(path) && self.relative_path(path).is_some());
        wanted.filter_map(|path| Some((path, sources.read(path)?)))
    }

    /// A command in the project's folder, with the build timeout.
    pub(crate) fn command(&self, argv: Vec<String>, settings: &Settings) -> CommandSpec {
        CommandSpec::new(argv, settings.build_timeout).in_dir(self.root.clone())
    }
}

/// Joins a repository-relative folder and a path; an empty folder is the root itself.
pub(crate) fn join(folder: &str, path: &str) -> String {
    if folder.is_empty() { path.to_owned() } else { format!("{folder}/{path}") }
}

/// Commands and limits that the configuration sets; `None` means the language's own default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Command that runs the tests.
    pub test_cmd: Option<Vec<String>>,
    /// Command that compiles and lints.
    pub check_cmd: Option<Vec<String>>,
    /// Command that formats.
    pub fmt_cmd: Option<Vec<String>>,
    /// Where the test command writes a JUnit report, relative to the project's folder.
    pub junit: Option<String>,
    /// Commands for some of the tests: the first whose pattern matches a test runs it.
    pub test_command_for: Vec<CommandFor>,
    /// Timeout of one test run, without building.
    pub timeout: Duration,
    /// Timeout of one build.
    pub build_timeout: Duration,
    /// The runner hides itself from production while a test runs: see [`Language::can_hide_runner`].
    pub plain: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            test_cmd: None,
            check_cmd: None,
            fmt_cmd: None,
            junit: None,
            test_command_for: Vec::new(),
            timeout: Duration::from_mins(2),
            build_timeout: Duration::from_mins(15),
            plain: false,
        }
    }
}

/// A command that runs some of the tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandFor {
    /// A glob for the tests' files, or a prefix of their ids; relative to the repository's root or the project's
    /// folder.
    pub pattern: String,
    /// The command; the ids replace its word `{test_ids}`.
    pub command: Vec<String>,
}

/// Which tests to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// All tests.
    All,
    /// Only these, in one call if the runner supports that.
    Only(Vec<TestId>),
}

impl Selection {
    /// The selected tests; empty if all are to run.
    pub(crate) fn ids(&self) -> &[TestId] {
        match self {
            Self::All => &[],
            Self::Only(ids) => ids,
        }
    }
}

/// A program that a language needs or can use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    /// Name shown in reports: `clippy`.
    pub name: String,
    /// Command that prints its version.
    pub version: CommandSpec,
    /// Whether nothing works without it.
    pub required: bool,
    /// How to install it.
    pub fix: String,
}

/// Timeout for asking a program for its version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(20);

impl Tool {
    /// A tool without which nothing works.
    pub(crate) fn required<S: Into<String>>(name: &str, version: impl IntoIterator<Item = S>, fix: &str) -> Self {
        let version = CommandSpec::new(version, VERSION_TIMEOUT);
        Self { name: name.to_owned(), version, required: true, fix: fix.to_owned() }
    }

    /// A tool that is used if it is installed.
    pub(crate) fn optional<S: Into<String>>(name: &str, version: impl IntoIterator<Item = S>, fix: &str) -> Self {
        Self { required: false, ..Self::required(name, version, fix) }
    }
}

/// How much a project needs a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Demand {
    /// Nothing in the project refers to it.
    Idle,
    /// It is used if it is installed.
    Useful,
    /// Without it nothing works.
    Required,
}

/// What a test run needs next.
#[derive(Debug)]
pub enum Next<T = Report> {
    /// Run these one after the other, then pass all of their results to [`Suite::feed`].
    Run(Vec<Job>),
    /// Nothing is left to run; this is the result.
    Done(T),
}

/// What kind of code a command starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Starts {
    /// A tool, which needs the user's own caches.
    Tool,
    /// Code of the project's tests, which gets a fresh home and temporary folder.
    Tests,
    /// Both, in one command that the user configured.
    ToolAndTests,
}

/// One command of a test run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// The command to run.
    pub command: CommandSpec,
    /// What kind of code the command starts.
    pub starts: Starts,
    /// What the command does, for a progress line: "building tests".
    pub label: String,
}

/// A test run in progress: a state machine that asks for commands and reads their output until it has a result.
pub trait Suite<T = Report> {
    /// The next commands, or the result. Call it again after each [`Suite::feed`].
    fn next(&mut self, sources: &dyn Sources) -> Next<T>;
    /// Takes the results of the commands of the last [`Next::Run`], in the same order.
    fn feed(&mut self, finished: Vec<Finished>);
}

/// The coverage of the tests, or why it could not be measured.
pub type Measured = Result<Coverage, String>;

/// A configured command that this language cannot use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{command}` is not a test command that this machine can read: {reason}")]
pub struct UnknownCommand {
    /// The command.
    pub command: String,
    /// Why the language cannot use it, and what would work.
    pub reason: String,
}

/// How a test is skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skip {
    /// The test is built but not run.
    FromRunning,
    /// The test is not even built, because it uses something that does not exist.
    FromBuilding,
}

/// Everything that depends on a project's language.
pub trait Language {
    /// The language's name in `tdd.yaml`: `rust`.
    fn name(&self) -> &'static str;
    /// Languages with the same projects and runners but another setup: TypeScript for JavaScript.
    fn dialects(&self) -> Vec<Box<dyn Language>> {
        Vec::new()
    }
    /// Whether a project of the parent language is written in this dialect.
    fn is_dialect_of(&self, _: &Project, _: &dyn Sources) -> bool {
        false
    }
    /// Whether a file of this name makes its folder a project.
    fn is_manifest(&self, name: &str) -> bool {
        name == self.manifest()
    }
    /// Whether the project's test run includes the tests of a folder below it that has a manifest of its own.
    fn reaches(&self, _project: &Project, _folder: &str, _sources: &dyn Sources) -> bool {
        true
    }
    /// Finds the project in the repository's root, or the topmost one below it.
    fn detect(&self, sources: &dyn Sources) -> Option<Project>;
    /// The files of a new project with this name, by path.
    fn scaffold(&self, _name: &str) -> BTreeMap<String, String> {
        BTreeMap::new()
    }
    /// The name of a new project's manifest.
    fn manifest(&self) -> &'static str {
        "tdd.yaml"
    }
    /// The commands that a new configuration spells out, as YAML lines below `ci:`.
    fn configured_commands(&self) -> &'static str {
        ""
    }
    /// A legal package name made from a folder's name.
    fn package_name(&self, folder: &str) -> String {
        folder.to_owned()
    }
    /// Whether the project has production code and not a single test.
    fn is_untested(&self, project: &Project, sources: &dyn Sources) -> bool;
    /// The programs that the language needs or can use.
    fn tools(&self) -> Vec<Tool>;
    /// How much a project needs one of these programs.
    fn demand(&self, tool: &Tool, _: &Project, _: &Settings, _: &dyn Sources) -> Demand {
        if tool.required { Demand::Required } else { Demand::Useful }
    }
    /// The commands that format these (repository-relative) files, and nothing else if the tool allows that. Empty if
    /// there is nothing to format.
    fn fmt(&self, project: &Project, settings: &Settings, files: &[String], _: &dyn Sources) -> Vec<CommandSpec> {
        let own =
            || files.iter().filter(|file| self.owns(file)).filter_map(|file| project.relative_path(file)).collect();
        let argv = settings.fmt_cmd.clone().or_else(|| self.formatter(own()));
        argv.map(|argv| project.command(argv, settings)).into_iter().collect()
    }
    /// The default command that formats these files, which are relative to the project's folder. `None` without files
    /// or without a formatter.
    fn formatter(&self, _files: Vec<&str>) -> Option<Vec<String>> {
        None
    }
    /// The commands that compile and lint everything; all must pass.
    fn check(&self, project: &Project, settings: &Settings) -> Vec<CommandSpec> {
        let argv = settings.check_cmd.clone().or_else(|| self.checker());
        argv.map(|argv| project.command(argv, settings)).into_iter().collect()
    }
    /// The default command that compiles and lints everything.
    fn checker(&self) -> Option<Vec<String>> {
        None
    }
    /// Begins a test run.
    fn suite(
        &self,
        project: &Project,
        settings: &Settings,
        selection: Selection,
    ) -> Result<Box<dyn Suite + '_>, UnknownCommand>;
    /// Begins a run of all tests that measures which lines of these (repository-relative) files they execute. `None` if
    /// the language cannot measure that.
    fn coverage<'l>(
        &'l self,
        _project: &Project,
        _settings: &Settings,
        _paths: &[String],
    ) -> Option<Box<dyn Suite<Measured> + 'l>> {
        None
    }
    /// The command that runs the tests, configured or default, as the ledger records it.
    fn test_command(&self, settings: &Settings) -> Vec<String> {
        let default = || self.default_test_command().iter().map(|word| (*word).to_owned()).collect();
        settings.test_cmd.clone().unwrap_or_else(default)
    }
    /// Whether the configured command also runs tests that are marked as skipped.
    fn runs_skipped(&self, _: &Settings) -> bool {
        false
    }
    /// Whether the project itself configures its test runner, or the language has only one.
    fn has_runner(&self, _: &Project, _: &dyn Sources) -> bool {
        true
    }
    /// The command that runs the tests if none is configured.
    fn default_test_command(&self) -> &'static [&'static str];
    /// Finds a test by its id: its file and its item.
    fn find_test(&self, id: &TestId, sources: &dyn Sources) -> Option<(String, TestItem)>;
    /// How tests outside of the production files import production code, as prompts show it: `use calc::…;`. `None` if
    /// there is no single way.
    fn imports(&self, _: &Project, _: &dyn Sources) -> Option<String> {
        None
    }
    /// The ids of the tests in this file.
    fn tests_in(&self, project: &Project, path: &str, sources: &dyn Sources) -> Vec<TestId>;
    /// The red state of a file: the production code of `before` with the tests of `after`. `None` if neither has tests;
    /// then the red state is `before`.
    fn compose(&self, path: &str, _before: Option<&str>, after: Option<&str>) -> Option<String> {
        self.is_test_file(path).then(|| after.unwrap_or_default().to_owned())
    }
    /// The file with the items of a model's answer merged into it. `None` if this language cannot merge.
    fn merge(&self, _path: &str, _file: &str, _answer: &str) -> Option<Result<Merged, MergeError>> {
        None
    }
    /// Whether a whole file is for tests. In most languages a file holds either only tests or none.
    fn is_test_file(&self, _path: &str) -> bool {
        false
    }
    /// The source of a file with names replaced: identifiers only, never string literals.
    fn renamed(&self, _path: &str, source: String, _names: &BTreeMap<String, String>) -> String {
        source
    }
    /// Whether this file may contain items of this language.
    fn owns(&self, path: &str) -> bool;
    /// The tests and other items of one source file.
    fn items(&self, path: &str, source: &str) -> Items;
    /// The sort of a path in this tree, whether or not the file exists. A production file may still hold tests.
    fn sort(&self, project: &Project, path: &str, sources: &dyn Sources) -> Sort;
    /// [`Language::sort`] for many paths; implementations can read the project once for all of them.
    fn sorts(&self, project: &Project, paths: &[String], sources: &dyn Sources) -> Vec<Sort> {
        paths.iter().map(|path| self.sort(project, path, sources)).collect()
    }
    /// Whether a line of a file (from 1) is test-only code.
    fn is_test_line(&self, project: &Project, path: &str, _line: usize, sources: &dyn Sources) -> bool {
        self.sort(project, path, sources) == Sort::Test
    }
    /// Files that `paths` include but the tree lacks, each as (including file, missing file). Empty if only a run can
    /// tell.
    fn absent(&self, _sources: &dyn Sources, _paths: &[String]) -> Vec<(String, String)> {
        Vec::new()
    }
    /// What changed between two trees; `paths` are all files that differ, a renamed one under both of its names.
    fn change(&self, project: &Project, before: &dyn Sources, after: &dyn Sources, paths: &[String]) -> Change;
    /// The test's file with copies of the test: one unchanged, and one for each assertion with that assertion altered.
    /// `None` if this test cannot be copied.
    fn twins(&self, path: &str, source: &str, test: &TestItem, seed: u64, mode: AlterationMode) -> Option<Twins>;
    /// A program that runs the copies of a test without their runner; `None` if only the runner can run them.
    fn plainly(&self, _: &Copies<'_>) -> Option<PlainProgram> {
        None
    }
    /// Whether the runner can hide itself from production: see [`Settings::plain`].
    fn can_hide_runner(&self, _path: &str) -> bool {
        false
    }
    /// The files of a repository in which the answers of some functions can be altered while it runs. `None` if there
    /// is nothing to alter, or this language cannot do it.
    fn instrument(&self, _: &Request<'_>) -> Option<Instrumented> {
        None
    }
    /// The signs of anti-patterns in these files. Names are resolved across the whole repository.
    fn signs(&self, project: &Project, sources: &dyn Sources, paths: &[String]) -> Signs;
    /// The file without this test; `None` if anything else would change.
    fn without_test(&self, path: &str, source: &str, test: &TestItem) -> Option<String>;
    /// The file with this test marked as skipped for `reason`; `None` if it cannot be marked.
    fn skip(&self, path: &str, source: &str, test: &TestItem, reason: &str, skip: Skip) -> Option<String>;
    /// The file without the mark that [`Language::skip`] added; `None` if there is none.
    fn unskip(&self, path: &str, source: &str, test: &TestItem) -> Option<String>;
    /// What a build in a scratch copy of the repository needs to put its products into this folder.
    fn scratch(&self, _: &Project, _products: &str) -> ScratchNeeds {
        ScratchNeeds::default()
    }
}

/// Implements the methods of [`Language`] that a language delegates to the modules of its folder: `detect` to
/// `project::detect`, `skip` to `mark::skipped`.
macro_rules! answered_by_modules {
    () => {
        fn detect(&self, sources: &dyn $crate::language::Sources) -> Option<$crate::language::Project> {
            project::detect(sources)
        }

        fn manifest(&self) -> &'static str {
            project::MANIFEST
        }

        fn configured_commands(&self) -> &'static str {
            scaffold::COMMANDS
        }

        fn package_name(&self, folder: &str) -> String {
            scaffold::package_name(folder)
        }

        fn is_untested(&self, project: &$crate::language::Project, sources: &dyn $crate::language::Sources) -> bool {
            project::production_without_tests(sources, project)
        }

        fn tools(&self) -> Vec<$crate::language::Tool> {
            argv::tools()
        }

        fn checker(&self) -> Option<Vec<String>> {
            Some(argv::checker())
        }

        fn default_test_command(&self) -> &'static [&'static str] {
            &test_command::DEFAULT
        }

        fn suite(
            &self,
            project: &$crate::language::Project,
            settings: &$crate::language::Settings,
            selection: $crate::language::Selection,
        ) -> Result<Box<dyn $crate::language::Suite>, $crate::language::UnknownCommand> {
            suite::begin(project, settings, selection)
        }

        fn coverage(
            &self,
            project: &$crate::language::Project,
            settings: &$crate::language::Settings,
            paths: &[String],
        ) -> Option<Box<dyn $crate::language::Suite<$crate::language::Measured>>> {
            suite::coverage(project, settings, paths)
        }

        fn find_test(
            &self,
            id: &tdd_core::test_id::TestId,
            sources: &dyn $crate::language::Sources,
        ) -> Option<(String, $crate::item::TestItem)> {
            ids::find(id, sources)
        }

        fn owns(&self, path: &str) -> bool {
            owns(path)
        }

        fn change(
            &self,
            project: &$crate::language::Project,
            before: &dyn $crate::language::Sources,
            after: &dyn $crate::language::Sources,
            paths: &[String],
        ) -> tdd_core::change::Change {
            change::change(project, before, after, paths)
        }

        fn merge(
            &self,
            path: &str,
            file: &str,
            answer: &str,
        ) -> Option<Result<tdd_core::merge::Merged, tdd_core::merge::MergeError>> {
            if $crate::language::Language::owns(self, path) { merge::merged(path, file, answer) } else { None }
        }

        fn twins(
            &self,
            path: &str,
            source: &str,
            test: &$crate::item::TestItem,
            seed: u64,
            mode: $crate::twin::AlterationMode,
        ) -> Option<$crate::twin::Twins> {
            twins::twins(path, source, test, seed, mode)
        }

        fn signs(
            &self,
            project: &$crate::language::Project,
            sources: &dyn $crate::language::Sources,
            paths: &[String],
        ) -> tdd_core::signs::Signs {
            signs::signs(project, sources, paths)
        }

        fn without_test(&self, path: &str, source: &str, test: &$crate::item::TestItem) -> Option<String> {
            mark::without_test(path, source, test)
        }

        fn skip(
            &self,
            path: &str,
            source: &str,
            test: &$crate::item::TestItem,
            reason: &str,
            skip: $crate::language::Skip,
        ) -> Option<String> {
            mark::skipped(path, source, test, reason, skip)
        }

        fn unskip(&self, path: &str, source: &str, test: &$crate::item::TestItem) -> Option<String> {
            mark::unskipped(path, source, test)
        }
    };
}
pub(crate) use answered_by_modules;

/// Whether a path has one of these file extensions.
pub(crate) fn has_ending(path: &str, endings: &[&str]) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').is_some_and(|(stem, ending)| !stem.is_empty() && endings.contains(&ending))
}

/// Whether a project has a source file with production code and none with a test.
pub(crate) fn has_untested_production(
    project: &Project,
    sources: &dyn Sources,
    is_source: impl Fn(&str) -> bool,
    items: impl Fn(&str, &str) -> Items,
    is_production: impl Fn(&str) -> bool,
) -> bool {
    let mut has_production = false;
    for (path, source) in project.texts(sources, is_source) {
        let found = items(path, &source);
        if !found.tests.is_empty() {
            return false;
        }
        has_production |= found.functions > 0 && is_production(path);
    }
    has_production
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{laid, memory};
    use crate::{detect, languages, named, names};

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_source_file_is_known_by_its_ending() {
        assert!(has_ending("src/lib.rs", &["rs"]));
        for path in ["Cargo.toml", "a.rs.txt", ".rs", "src/.rs", "rs"] {
            assert!(!has_ending(path, &["rs"]), "{path}");
        }
    }

    #[test]
    fn a_new_project_is_recognised_and_has_nothing_to_test() {
        for name in names() {
            let language = named(name).unwrap();
            let files = language.scaffold("bowling");
            assert!(files.contains_key(language.manifest()), "{name}");
            let sources = laid(&files);
            let project = language.detect(&sources).unwrap();
            assert_eq!((project.root.as_str(), language.is_untested(&project, &sources)), ("", false), "{name}");
            assert_eq!(detect(&sources).unwrap().name(), name);
        }
    }

    #[test]
    fn only_changed_files_of_the_language_and_the_project_are_formatted() {
        let project = Project { root: "sub".to_owned(), description: String::new() };
        for language in languages() {
            let own = ["a.rs", "a.py", "a.go", "a.js"].into_iter().find(|file| language.owns(file)).unwrap();
            let files = [&format!("sub/{own}"), "sub/README.md", own].map(str::to_owned);
            let formatted = |files: &[String]| language.fmt(&project, &Settings::default(), files, &memory(&[]));
            let commands = formatted(&files);
            assert_eq!(commands.len(), 1, "{own}");
            assert_eq!((commands[0].cwd.as_str(), commands[0].argv.last().unwrap().as_str()), ("sub", own));
            assert!(!commands[0].argv.contains(&"README.md".to_owned()), "{own}");
            assert_eq!(commands[0].argv.iter().filter(|word| *word == own).count(), 1, "{own}");
            assert!(formatted(&files[1..]).is_empty(), "{own}");
        }
    }

    #[test]
    fn a_configured_command_is_used_as_it_is() {
        let project = Project { root: "sub".to_owned(), description: String::new() };
        let configured = Settings {
            test_cmd: Some(words("make test")),
            check_cmd: Some(words("make lint")),
            fmt_cmd: Some(words("make fmt")),
            ..Settings::default()
        };
        for language in languages() {
            let check = language.check(&project, &configured);
            assert_eq!(check.iter().map(CommandSpec::line).collect::<Vec<_>>(), ["make lint"]);
            assert_eq!((check[0].cwd.as_str(), check[0].deadline), ("sub", configured.build_timeout));
            let format = language.fmt(&project, &configured, &[], &memory(&[]));
            assert_eq!(format.iter().map(CommandSpec::line).collect::<Vec<_>>(), ["make fmt"]);
            assert_eq!(language.test_command(&configured), words("make test"));
        }
    }

    #[test]
    fn every_language_has_a_default_command_for_tests_and_checks() {
        let project = Project { root: String::new(), description: String::new() };
        let settings = Settings::default();
        let line = |argv: &[String]| argv.join(" ");
        let tests: Vec<String> = languages().iter().map(|language| line(&language.test_command(&settings))).collect();
        assert_eq!(tests, ["cargo test --workspace", "pytest", "go test ./...", "npm test"]);
        let checks: Vec<String> =
            languages().iter().map(|language| line(&language.check(&project, &settings)[0].argv)).collect();
        assert_eq!(checks[0], "cargo clippy --all-targets --workspace -- -D warnings");
        assert_eq!(checks[2], "go vet ./...");
        assert!(checks[1].starts_with("python3 ") && checks[3].starts_with("node "), "{checks:?}");
    }
}
