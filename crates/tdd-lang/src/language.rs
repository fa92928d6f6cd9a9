//! The face that every language shows to the rest of the machine.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use tdd_core::change::{Change, Sort};
use tdd_core::command::{CommandSpec, Finished};
use tdd_core::coverage::Coverage;
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
            timeout: Duration::from_mins(2),
            build_timeout: Duration::from_mins(15),
        }
    }
}

/// Which tests to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// All of them.
    All,
    /// These and no others, in one call where the runner can.
    Only(Vec<TestId>),
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

/// One command of a test run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// What to run.
    pub command: CommandSpec,
    /// Whether it runs code of the project's tests (and so gets a fresh home and temporary folder),
    /// or a tool that needs the user's own caches.
    pub isolated: bool,
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
    fn scaffold(&self, name: &str) -> BTreeMap<String, String>;
    /// The file that a new project is known by.
    fn manifest(&self) -> &'static str;
    /// The commands that a new configuration spells out, as lines of YAML below `ci:`.
    fn configured_commands(&self) -> &'static str;
    /// A legal package name made from a folder's name.
    fn package_name(&self, folder: &str) -> String;
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
    fn fmt(&self, project: &Project, settings: &Settings, files: &[String], sources: &dyn Sources) -> Vec<CommandSpec>;
    /// Compiles and lints everything: commands that must all pass.
    fn check(&self, project: &Project, settings: &Settings) -> Vec<CommandSpec>;
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
    fn test_command(&self, settings: &Settings) -> Vec<String>;
    /// The file and the source of a test, if it is found by its id.
    fn find_test(&self, id: &TestId, sources: &dyn Sources) -> Option<(String, TestItem)>;
    /// How tests beside the production code import it, as a model is told: `use calc::…;`. `None` if that depends.
    fn imports(&self, project: &Project, sources: &dyn Sources) -> Option<String>;
    /// The ids of the tests that stand in this file.
    fn tests_in(&self, project: &Project, path: &str, sources: &dyn Sources) -> Vec<TestId>;
    /// The file with the production code of `before` and the tests of `after`; `None` if there are no
    /// tests in either, so that it is as before.
    fn compose(&self, path: &str, before: Option<&str>, after: Option<&str>) -> Option<String>;
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
    fn scratch(&self, project: &Project, products: &str) -> ScratchNeeds;
}
