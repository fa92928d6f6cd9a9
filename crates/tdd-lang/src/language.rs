//! The face that every language shows to the rest of the machine.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use tdd_core::change::{Change, Sort};
use tdd_core::command::{CommandSpec, Finished};
use tdd_core::coverage::Coverage;
use tdd_core::merge::{MergeError, Merged};
use tdd_core::report::Report;
use tdd_core::signs::Signs;
use tdd_core::test_id::TestId;

use crate::item::{Items, TestItem};
use crate::twin::{Boldness, Mutant, ScratchNeeds, Twins};

/// The files of a repository, as they are now.
pub trait Sources {
    /// Every file, relative to the repository's root, sorted, ignored ones left out.
    fn files(&self) -> &[String];
    /// Those of them whose paths end so: of many thousand files a language looks at a few, again and again.
    fn ending(&self, end: &str) -> Vec<&String> {
        self.files().iter().filter(|path| path.ends_with(end)).collect()
    }
    /// The text of one file; `None` if it is not there, too large, or not text.
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
    /// Its folder relative to the repository's root; empty for the root itself.
    pub root: String,
    /// What it is, for people: "cargo workspace with 3 packages".
    pub description: String,
}

impl Project {
    /// The path of a file of this project from its folder; `None` if it is not below that.
    pub fn below<'p>(&self, path: &'p str) -> Option<&'p str> {
        if self.root.is_empty() { Some(path) } else { path.strip_prefix(&self.root)?.strip_prefix('/') }
    }

    /// The path of a file from the repository's root, as one of its tools names it from its own folder.
    pub fn above(&self, path: &str) -> String {
        if self.root.is_empty() { path.to_owned() } else { format!("{}/{path}", self.root) }
    }

    /// Its files of which this is true, with their texts; those that are no text are left out.
    pub(crate) fn texts<'s>(
        &'s self,
        sources: &'s dyn Sources,
        is_wanted: impl Fn(&str) -> bool + 's,
    ) -> impl Iterator<Item = (&'s String, String)> {
        let wanted = sources.files().iter().filter(move |path| is_wanted(path) && self.below(path).is_some());
        wanted.filter_map(|path| Some((path, sources.read(path)?)))
    }

    /// A command in its folder that may take as long as a build.
    pub(crate) fn command(&self, argv: Vec<String>, settings: &Settings) -> CommandSpec {
        CommandSpec::new(argv, settings.build_timeout).in_dir(self.root.clone())
    }
}

/// A path below a folder from the repository's root; an empty folder is the root itself.
pub(crate) fn join(folder: &str, path: &str) -> String {
    if folder.is_empty() { path.to_owned() } else { format!("{folder}/{path}") }
}

/// Commands and limits that the configuration sets; `None` means the language's own default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Runs the tests.
    pub test_cmd: Option<Vec<String>>,
    /// Compiles and lints.
    pub check_cmd: Option<Vec<String>>,
    /// Formats.
    pub fmt_cmd: Option<Vec<String>>,
    /// Where the test command writes a JUnit report, relative to the project's folder.
    pub junit: Option<String>,
    /// Other commands that run some of the tests: the first whose pattern fits a test runs it.
    pub test_command_for: Vec<CommandFor>,
    /// For one test run, without building.
    pub timeout: Duration,
    /// For one build.
    pub build_timeout: Duration,
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
        }
    }
}

/// A command that runs some of the tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandFor {
    /// A glob for their files, or what their ids begin with; from the repository's root or from the project's folder.
    pub pattern: String,
    /// The command; the word `{test_ids}` stands for their ids.
    pub command: Vec<String>,
}

/// Which tests to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// All of them.
    All,
    /// These and no others, in one call where the runner can.
    Only(Vec<TestId>),
}

impl Selection {
    /// The selected tests; none if all are to run.
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
    /// What it is called in a report: `clippy`.
    pub name: String,
    /// Prints its version.
    pub version: CommandSpec,
    /// Without it nothing works.
    pub required: bool,
    /// How to get it.
    pub fix: String,
}

/// How long asking a program for its version may take.
const VERSION_TIMEOUT: Duration = Duration::from_secs(20);

impl Tool {
    /// A tool without which nothing works.
    pub(crate) fn required<S: Into<String>>(name: &str, version: impl IntoIterator<Item = S>, fix: &str) -> Self {
        let version = CommandSpec::new(version, VERSION_TIMEOUT);
        Self { name: name.to_owned(), version, required: true, fix: fix.to_owned() }
    }

    /// A tool that is used where it is installed.
    pub(crate) fn optional<S: Into<String>>(name: &str, version: impl IntoIterator<Item = S>, fix: &str) -> Self {
        Self { required: false, ..Self::required(name, version, fix) }
    }
}

/// How much a project asks for a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Demand {
    /// Nothing in the project speaks of it.
    Idle,
    /// It would be used if it was there.
    Useful,
    /// Without it nothing works.
    Required,
}

/// What a test run needs next.
#[derive(Debug)]
pub enum Next<T = Report> {
    /// Run these one after the other, then hand all of their results to [`Suite::feed`].
    Run(Vec<Job>),
    /// There is nothing left to run.
    Done(T),
}

/// What kind of code a command starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Starts {
    /// A tool, which needs the user's own caches.
    Tool,
    /// Code of the project's tests, which gets a fresh home and temporary folder.
    Tests,
    /// Both, in one command of the user's own.
    ToolAndTests,
}

/// One command of a test run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// What to run.
    pub command: CommandSpec,
    /// What kind of code that starts.
    pub starts: Starts,
    /// What it does, for a progress line: "building tests".
    pub label: String,
}

/// A test run under way: a machine that asks for commands and reads their output, until it knows what was asked.
pub trait Suite<T = Report> {
    /// The next commands, or the report. Call again after each [`Suite::feed`].
    fn next(&mut self, sources: &dyn Sources) -> Next<T>;
    /// What became of the commands of the last [`Next::Run`], in their order.
    fn feed(&mut self, finished: Vec<Finished>);
}

/// What the tests execute, or why that could not be found out.
pub type Measured = Result<Coverage, String>;

/// A configured command that this language cannot use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{command}` is not a test command that this machine can read: {reason}")]
pub struct UnknownCommand {
    /// The command.
    pub command: String,
    /// Why, and what would do.
    pub reason: String,
}

/// How a test is left aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skip {
    /// It is built and not run.
    FromRunning,
    /// It is not even built: what it asks for is not there.
    FromBuilding,
}

/// All that the machine knows of one language.
pub trait Language {
    /// Its name in `tdd.yaml`: `rust`.
    fn name(&self) -> &'static str;
    /// Languages with the same projects and runners, which are set up otherwise: TypeScript for JavaScript.
    fn dialects(&self) -> Vec<Box<dyn Language>> {
        Vec::new()
    }
    /// Whether a project of the language that it is a dialect of is written in it.
    fn is_spoken(&self, _: &Project, _: &dyn Sources) -> bool {
        false
    }
    /// Whether a file of this name makes its folder a project.
    fn is_manifest(&self, name: &str) -> bool {
        name == self.manifest()
    }
    /// Whether the tests of a folder below a project, one with a manifest of its own, are run with the project's.
    fn reaches(&self, _project: &Project, _folder: &str, _sources: &dyn Sources) -> bool {
        true
    }
    /// Finds the project that holds the repository's root, or the topmost one below it.
    fn detect(&self, sources: &dyn Sources) -> Option<Project>;
    /// The files of a new project of this name, by path.
    fn scaffold(&self, _name: &str) -> BTreeMap<String, String> {
        BTreeMap::new()
    }
    /// The file that a new project is known by.
    fn manifest(&self) -> &'static str {
        "tdd.yaml"
    }
    /// The commands that a new configuration spells out, as lines of YAML below `ci:`.
    fn configured_commands(&self) -> &'static str {
        ""
    }
    /// A legal package name made from a folder's name.
    fn package_name(&self, folder: &str) -> String {
        folder.to_owned()
    }
    /// Whether there is production code and not a single test.
    fn is_untested(&self, project: &Project, sources: &dyn Sources) -> bool;
    /// The programs it needs or can use.
    fn tools(&self) -> Vec<Tool>;
    /// How much a project asks for one of them.
    fn demand(&self, tool: &Tool, _: &Project, _: &Settings, _: &dyn Sources) -> Demand {
        if tool.required { Demand::Required } else { Demand::Useful }
    }
    /// Formats these files (repository-relative); nothing else is touched if the tool allows that.
    /// No command if there is nothing to format.
    fn fmt(&self, project: &Project, settings: &Settings, files: &[String], _: &dyn Sources) -> Vec<CommandSpec> {
        let own = || files.iter().filter(|file| self.owns(file)).filter_map(|file| project.below(file)).collect();
        let argv = settings.fmt_cmd.clone().or_else(|| self.formatter(own()));
        argv.map(|argv| project.command(argv, settings)).into_iter().collect()
    }
    /// The command that formats these files, named from the project's folder, where none is configured. `None` if
    /// there are none, or there is no formatter.
    fn formatter(&self, _files: Vec<&str>) -> Option<Vec<String>> {
        None
    }
    /// Compiles and lints everything: commands that must all pass.
    fn check(&self, project: &Project, settings: &Settings) -> Vec<CommandSpec> {
        let argv = settings.check_cmd.clone().or_else(|| self.checker());
        argv.map(|argv| project.command(argv, settings)).into_iter().collect()
    }
    /// The command that compiles and lints everything where none is configured.
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
    /// Begins a run of all tests that sees which lines of these files (repository-relative) they execute. `None` if
    /// there is no way to tell.
    fn coverage<'l>(
        &'l self,
        _project: &Project,
        _settings: &Settings,
        _paths: &[String],
    ) -> Option<Box<dyn Suite<Measured> + 'l>> {
        None
    }
    /// The command that runs the tests, as it is configured or by default: what the ledger names.
    fn test_command(&self, settings: &Settings) -> Vec<String> {
        let default = || self.default_test_command().iter().map(|word| (*word).to_owned()).collect();
        settings.test_cmd.clone().unwrap_or_else(default)
    }
    /// Whether a command of the settings runs tests even if they are marked as skipped.
    fn runs_skipped(&self, _: &Settings) -> bool {
        false
    }
    /// Whether the project itself says what its tests are run with, or there is no choice.
    fn has_runner(&self, _: &Project, _: &dyn Sources) -> bool {
        true
    }
    /// The command that runs the tests where none is configured.
    fn default_test_command(&self) -> &'static [&'static str];
    /// The file and the source of a test, if it is found by its id.
    fn find_test(&self, id: &TestId, sources: &dyn Sources) -> Option<(String, TestItem)>;
    /// How tests beside the production code import it, as a model is told: `use calc::…;`. `None` if that depends.
    fn imports(&self, _: &Project, _: &dyn Sources) -> Option<String> {
        None
    }
    /// The ids of the tests that stand in this file.
    fn tests_in(&self, project: &Project, path: &str, sources: &dyn Sources) -> Vec<TestId>;
    /// The file with the production code of `before` and the tests of `after`; `None` if there are no
    /// tests in either, so that it is as before.
    fn compose(&self, path: &str, _before: Option<&str>, after: Option<&str>) -> Option<String> {
        self.is_test_file(path).then(|| after.unwrap_or_default().to_owned())
    }
    /// The file with the items of an answer merged into it. `None` if this language has no way to.
    fn merge(&self, _path: &str, _file: &str, _answer: &str) -> Option<Result<Merged, MergeError>> {
        None
    }
    /// Whether a file is for tests as a whole: in most languages a file is either that or holds no tests at all.
    fn is_test_file(&self, _path: &str) -> bool {
        false
    }
    /// The source of a file with some names replaced by others: as names only, never inside of texts.
    fn renamed(&self, _path: &str, source: String, _names: &BTreeMap<String, String>) -> String {
        source
    }
    /// Whether this file may hold items of this language.
    fn owns(&self, path: &str) -> bool;
    /// The tests and other items of one source file.
    fn items(&self, path: &str, source: &str) -> Items;
    /// What a path is to the law in this tree, whether or not there is a file yet. A file of production
    /// may still hold tests.
    fn sort(&self, project: &Project, path: &str, sources: &dyn Sources) -> Sort;
    /// The same for many paths, without looking at the project anew for each.
    fn sorts(&self, project: &Project, paths: &[String], sources: &dyn Sources) -> Vec<Sort> {
        paths.iter().map(|path| self.sort(project, path, sources)).collect()
    }
    /// Whether a line of a file (from 1) exists for tests only.
    fn is_test_line(&self, project: &Project, path: &str, _line: usize, sources: &dyn Sources) -> bool {
        self.sort(project, path, sources) == Sort::Test
    }
    /// Files that these files take in and that the tree does not hold, each behind the one that takes it in.
    /// None where only running can tell.
    fn absent(&self, _sources: &dyn Sources, _paths: &[String]) -> Vec<(String, String)> {
        Vec::new()
    }
    /// What a change did: `paths` are all files that differ between the two trees, a renamed one under
    /// both of its names.
    fn change(&self, project: &Project, before: &dyn Sources, after: &dyn Sources, paths: &[String]) -> Change;
    /// The file of a test with copies of it: one as it is, and one for each assertion with that changed.
    /// `None` if this test cannot be copied.
    fn twins(&self, path: &str, source: &str, test: &TestItem, seed: u64, boldness: Boldness) -> Option<Twins>;
    /// The file with the items that begin on these lines (from 1) answering otherwise, best first.
    fn value_mutants(&self, path: &str, source: &str, lines: &[Range<usize>]) -> Vec<Mutant>;
    /// The signs of anti-patterns in these files. Names are followed through all of the repository.
    fn signs(&self, project: &Project, sources: &dyn Sources, paths: &[String]) -> Signs;
    /// The file without this test; `None` if that would change anything else.
    fn without_test(&self, path: &str, source: &str, test: &TestItem) -> Option<String>;
    /// The file with this test marked as skipped, and why; `None` if it cannot be marked.
    fn skip(&self, path: &str, source: &str, test: &TestItem, reason: &str, skip: Skip) -> Option<String>;
    /// The file without the marker that [`Language::skip`] put there; `None` if there is none.
    fn unskip(&self, path: &str, source: &str, test: &TestItem) -> Option<String>;
    /// What a build in a scratch copy of the repository needs, with its products in this folder.
    fn scratch(&self, _: &Project, _products: &str) -> ScratchNeeds {
        ScratchNeeds::default()
    }
}

/// The methods of [`Language`] that a language answers by the function of the same purpose in a module of its folder:
/// `detect` by `project::detect`, `skip` by `mark::skipped`.
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
            boldness: $crate::twin::Boldness,
        ) -> Option<$crate::twin::Twins> {
            twins::twins(path, source, test, seed, boldness)
        }

        fn value_mutants(
            &self,
            path: &str,
            source: &str,
            lines: &[std::ops::Range<usize>],
        ) -> Vec<$crate::twin::Mutant> {
            mutants::value_mutants(path, source, lines)
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

/// Whether a path names a file with one of these endings.
pub(crate) fn has_ending(path: &str, endings: &[&str]) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').is_some_and(|(stem, ending)| !stem.is_empty() && endings.contains(&ending))
}

/// Whether some source file of a project holds production code and none holds a test.
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
