//! A test run of a cargo project: build once, list every test binary, run each directly, then run the doctests. Every
//! listed test gets exactly one result.
//!
//! Builds with `cargo build --tests --keep-going` rather than `cargo test --no-run`, which abandons all targets if one
//! does not compile. Starts test binaries directly, so that no `runner` in a cargo configuration intervenes.

mod binary;
mod build;
mod by_nextest;
mod coverage;
mod direct;
mod doctests;
mod runs;

use std::collections::BTreeMap;
use std::time::Duration;

use tdd_core::command::{CommandSpec, Finished};
use tdd_core::report::{Cause, Obstacle, Outcome, Report, TestResult};
use tdd_core::test_id::TestId;

pub(crate) use self::binary::Binary;
pub use self::coverage::coverage;
use self::runs::Runs;
use super::Rust;
use super::cargo_config;
use super::compile::Build;
use super::doctest::Doctests;
use super::ids::{Ids, Place};
use super::libtest::{MAX_MESSAGE, shorten};
use super::modules::{ModuleTree, ParsedFiles};
use super::nextest;
use super::places::Places;
use super::project;
use super::test_command::TestCommand;
use crate::language::{Job, Language, Next, Project, Selection, Settings, Sources, Starts, Suite, UnknownCommand};
use crate::run::failed;

/// Begins a test run.
pub fn begin(project: &Project, settings: &Settings, selection: Selection) -> Result<Box<dyn Suite>, UnknownCommand> {
    Ok(Box::new(CargoSuite::new(project, settings, selection)?))
}

/// A test run under way.
struct CargoSuite {
    command: TestCommand,
    project: Project,
    settings: Settings,
    selection: Selection,
    ids: Ids,
    stage: Stage,
    finished: Vec<Finished>,
    places: Places,
    build: Build,
    binaries: Vec<Binary>,
    results: BTreeMap<TestId, TestResult>,
    obstacles: Vec<Obstacle>,
}

/// What the run is waiting for.
enum Stage {
    Begin,
    Building,
    FindingLibraries,
    Listing,
    Running(Runs),
    ListingForNextest,
    RunningNextest(nextest::Listing),
    ListingDoctests,
    RunningDoctests(Doctests),
    /// Run one by one, so that each message belongs to one doctest.
    RunningDoctestsAlone(Doctests),
    Over,
}

impl CargoSuite {
    fn new(project: &Project, settings: &Settings, selection: Selection) -> Result<Self, UnknownCommand> {
        Ok(Self {
            command: TestCommand::parse(&Rust.test_command(settings))?,
            project: project.clone(),
            settings: settings.clone(),
            selection,
            ids: Ids::default(),
            stage: Stage::Begin,
            finished: Vec::new(),
            places: Places::default(),
            build: Build::default(),
            binaries: Vec::new(),
            results: BTreeMap::new(),
            obstacles: Vec::new(),
        })
    }
}

impl Suite for CargoSuite {
    fn next(&mut self, sources: &dyn Sources) -> Next {
        let mut jobs = Vec::new();
        while jobs.is_empty() {
            let finished = std::mem::take(&mut self.finished);
            jobs = match std::mem::replace(&mut self.stage, Stage::Over) {
                Stage::Begin => self.start_build(),
                Stage::Building => self.read_build(&finished, sources),
                Stage::FindingLibraries => self.read_libraries(&finished, sources),
                Stage::Listing => self.read_lists(&finished, sources),
                Stage::Running(runs) => self.read_runs(runs, &finished, sources),
                Stage::ListingForNextest => self.read_nextest_list(&finished, sources),
                Stage::RunningNextest(listing) => self.read_nextest_run(&listing, &finished),
                Stage::ListingDoctests => self.read_doctest_list(&finished, sources),
                Stage::RunningDoctests(listed) => self.read_doctest_run(listed, &finished, sources),
                Stage::RunningDoctestsAlone(listed) => self.keep_doctests(&listed, &finished),
                Stage::Over => return Next::Done(self.report(sources)),
            };
        }
        Next::Run(jobs)
    }

    fn feed(&mut self, finished: Vec<Finished>) {
        self.finished = finished;
    }
}

impl CargoSuite {
    fn id(&self, root: &str, name: &str) -> TestId {
        self.ids.id(root, name).cloned().unwrap_or_else(|| TestId::native(root, name))
    }

    /// Adds a result. A test shared by two targets passes only if it passes in both.
    fn add(&mut self, mut result: TestResult) {
        let item = self.ids.located(&result.id).and_then(|located| located.item.as_ref());
        result.digest = item.map(|item| item.digest);
        match self.results.get(&result.id) {
            Some(known) if known.outcome != Outcome::Pass => {}
            _ => {
                self.results.insert(result.id.clone(), result);
            }
        }
    }

    fn report(&mut self, sources: &dyn Sources) -> Report {
        match &self.selection {
            Selection::All => self.obstacles.extend(self.why_nothing_ran(sources)),
            Selection::Only(ids) => {
                let missing: Vec<TestId> = ids.iter().filter(|id| !self.results.contains_key(id)).cloned().collect();
                for id in missing {
                    let (cause, message) = self.why_not_found(&id, sources);
                    self.add(failed(id, cause, message, 0));
                }
            }
        }
        Report::new(std::mem::take(&mut self.results).into_values(), std::mem::take(&mut self.obstacles))
    }

    /// An obstacle if the project has tests but none was run; a project without tests is fine.
    fn why_nothing_ran(&self, sources: &dyn Sources) -> Option<Obstacle> {
        if !self.results.is_empty() || !self.obstacles.is_empty() {
            return None;
        }
        let packages: Vec<&str> = self.command.named_packages().collect();
        let test = project::first_test(sources, &self.project, &packages)?;
        let command = Rust.test_command(&self.settings).join(" ");
        let message = format!(
            "no test was run, although there is `{test}`: look for filters in the command, and for `test = false` \
             or `autotests = false` in `Cargo.toml`"
        );
        Some(obstacle(&command, Cause::ZeroTests, message))
    }

    /// Why a test has no result: if its target does not compile, the target's cause.
    fn why_not_found(&self, id: &TestId, sources: &dyn Sources) -> (Cause, String) {
        let held = self.obstacles.iter().find(|obstacle| target_holds(&obstacle.subject, id, sources));
        let environment = self.obstacles.iter().find(|obstacle| obstacle.subject.to_lowercase().starts_with("cargo"));
        match held.or(environment) {
            Some(obstacle) => (obstacle.cause, obstacle.message.clone()),
            None => (Cause::TargetNotFound, format!("no test binary lists `{id}`")),
        }
    }

    fn stop(&mut self, subject: &str, cause: Cause, message: String) -> Vec<Job> {
        self.obstacles.push(obstacle(subject, cause, message));
        self.stage = Stage::Over;
        Vec::new()
    }

    fn cargo<const N: usize>(&self, words: [&str; N]) -> Vec<String> {
        self.command.cargo.iter().cloned().chain(words.map(str::to_owned)).collect()
    }

    fn tool(&self, argv: Vec<String>, label: &str) -> Job {
        self.job(argv, label, self.settings.build_timeout)
    }

    fn job(&self, argv: Vec<String>, label: &str, deadline: Duration) -> Job {
        let command =
            CommandSpec::new(argv, deadline).in_dir(self.project.root.clone()).with_env("RUST_BACKTRACE", "0");
        Job { command, starts: Starts::Tool, label: label.to_owned() }
    }

    /// A cargo command that runs test code: without the user's home, and without the `runner` of the project's
    /// configuration, which could succeed without starting any test.
    fn job_with_tests(&self, argv: Vec<String>, label: &str, deadline: Duration, sources: &dyn Sources) -> Job {
        let mut job = self.job(argv, label, deadline);
        job.starts = Starts::Tests;
        // Only if a runner is configured: with any runner, doctests share a process.
        if cargo_config::has_runner(&self.places, sources) {
            let plain = |triple: String| (runner_variable(&triple), PLAIN_RUNNER.to_owned());
            job.command.env.extend(self.command.triples().map(plain));
        }
        job
    }
}

/// A program that only starts another one; cargo does not allow unsetting a runner.
const PLAIN_RUNNER: &str = "nice -n 0";

/// The environment variable that overrides a target triple's runner.
fn runner_variable(triple: &str) -> String {
    format!("CARGO_TARGET_{}_RUNNER", triple.to_uppercase().replace(['-', '.'], "_"))
}

fn obstacle(subject: &str, cause: Cause, message: String) -> Obstacle {
    Obstacle::new(subject, cause, message)
}

fn place(root: &str, name: &str) -> Place {
    Place { root: root.to_owned(), name: name.to_owned() }
}

/// The obstacle with all tests of the target with this root file.
fn of_target(obstacle: Obstacle, files: &mut ParsedFiles<'_>) -> Obstacle {
    let tests = ModuleTree::build(&obstacle.subject, files).ids();
    Obstacle { tests, ..obstacle }
}

/// Whether the target with this root file contains the test.
fn target_holds(root: &str, id: &TestId, sources: &dyn Sources) -> bool {
    let mut files = ParsedFiles::new(sources);
    let tree = ModuleTree::build(root, &mut files);
    let mut paths = tree.files();
    match id.path() {
        Some(path) => path == root || paths.any(|file| file == path),
        None => paths.any(|file| {
            let items = files.items(file);
            let slugs = items.iter().flat_map(|items| &items.tests).filter_map(|test| test.annotation.as_deref());
            slugs.into_iter().any(|slug| slug == id.as_str())
        }),
    }
}

/// Cargo's messages without its remarks about waiting for another cargo, which depend on what else is running.
fn words_of(finished: &Finished) -> String {
    let text = finished.stderr.text();
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("Blocking waiting for file lock"));
    shorten(lines.collect::<Vec<_>>().join("\n").trim(), MAX_MESSAGE)
}

#[cfg(test)]
mod tests;
