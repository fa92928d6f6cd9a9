//! A test run of a cargo project: build once, list every test binary, run each directly, then the
//! doctests; every test that was listed ends with exactly one result.
//!
//! The build is `cargo build --tests --keep-going` rather than `cargo test --no-run`, which gives up
//! all targets when one does not compile. Test binaries are started directly, so that no `runner` of
//! a cargo configuration stands in between.

mod binary;
mod runs;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use tdd_core::command::{CommandSpec, Exit, Finished};
use tdd_core::report::{Cause, Obstacle, Outcome, Report, TestResult};
use tdd_core::test_id::TestId;

pub(crate) use self::binary::Binary;
use self::binary::Surroundings;
use self::runs::Runs;
use super::compile::{self, Build};
use super::diagnose;
use super::doctest::{self, Doctests};
use super::ids::{BadAnnotation, Ids, Place};
use super::items::items;
use super::libtest::{self, MAX_MESSAGE, shorten};
use super::modules::{ModuleTree, ParsedFiles};
use super::nextest;
use super::owns;
use super::places::{Places, folder, join};
use super::test_command::{DEFAULT, Runner, TestCommand};
use crate::language::{Job, Next, Project, Selection, Settings, Sources, Suite, UnknownCommand};

/// Begins a test run.
pub fn begin(project: &Project, settings: &Settings, selection: Selection) -> Result<Box<dyn Suite>, UnknownCommand> {
    let argv = settings.test_cmd.clone().unwrap_or_else(|| DEFAULT.map(str::to_owned).to_vec());
    Ok(Box::new(CargoSuite {
        command: TestCommand::parse(&argv)?,
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
    }))
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

/// What is being waited for.
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
    Over,
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
                Stage::RunningDoctests(listed) => self.read_doctest_run(&listed, &finished),
                Stage::Over => return Next::Done(self.report(sources)),
            };
        }
        Next::Run(jobs)
    }

    fn feed(&mut self, finished: Vec<Finished>) {
        self.finished = finished;
    }
}

/// Building.
impl CargoSuite {
    fn start_build(&mut self) -> Vec<Job> {
        self.stage = Stage::Building;
        let mut locate = self.cargo(["locate-project", "--message-format", "plain"]);
        if let Some(manifest) = &self.command.manifest {
            locate.extend(["--manifest-path".to_owned(), manifest.clone()]);
        }
        let mut build = self.cargo(["build", "--tests", "--keep-going", "--message-format", "json"]);
        if !self.command.build.iter().any(|flag| matches!(flag.as_str(), "--release" | "-r" | "--profile")) {
            build.extend(["--profile".to_owned(), "test".to_owned()]);
        }
        build.extend(self.command.packages.iter().chain(&self.command.build).cloned());
        vec![self.tool(locate, "finding the project"), self.tool(build, "building tests")]
    }

    fn read_build(&mut self, finished: &[Finished], sources: &dyn Sources) -> Vec<Job> {
        let [located, cargo] = finished else {
            return self.stop("cargo", Cause::UnknownOutput, "the build was not run".to_owned());
        };
        if let Some((cause, message)) = could_not_run(cargo) {
            return self.stop("cargo", cause, message);
        }
        let relative = join(&self.project.root, self.command.manifest.as_deref().unwrap_or("Cargo.toml"));
        let places = Places::from_manifest(located.stdout.text().trim(), &relative, &self.project.root);
        let build = compile::read(&cargo.stdout);
        match (build, places) {
            (Err(bad), _) => self.stop("cargo", Cause::UnknownOutput, bad.to_string()),
            (Ok(Build { success: None, .. }), _) => {
                let (cause, message) = why_nothing_was_built(cargo);
                self.stop("Cargo.toml", cause, message)
            }
            (Ok(_), None) => {
                let message = format!("`{}` is not where cargo looks: {}", relative, located.stdout.text().trim());
                self.stop("Cargo.toml", Cause::UnknownOutput, message)
            }
            (Ok(build), Some(places)) => {
                self.places = places;
                self.build = build;
                self.note_failed_targets(cargo, sources);
                self.find_libraries(sources)
            }
        }
    }

    fn note_failed_targets(&mut self, built: &Finished, sources: &dyn Sources) {
        let mut obstacles = diagnose::obstacles(&self.build, &self.places, sources);
        let said = || shorten(built.stderr.text().trim(), MAX_MESSAGE);
        let failed = self.build.success == Some(false);
        if failed && obstacles.is_empty() {
            obstacles.push(obstacle("cargo build", Cause::UnrelatedCompileError, said()));
        }
        if failed == (built.exit == Exit::Passed) {
            obstacles.push(obstacle("cargo build", Cause::UnknownOutput, format!("{}: {}", built.exit, said())));
        }
        let known: BTreeSet<&str> = self.build.artifacts.iter().map(|artifact| artifact.target.name.as_str()).collect();
        let refused: BTreeSet<&str> = self.build.errors.iter().map(|error| error.target.name.as_str()).collect();
        for name in self.command.named_tests().filter(|name| !known.contains(name) && !refused.contains(name)) {
            let message = format!("there is no test target `{name}`");
            obstacles.push(obstacle(name, Cause::TargetNotFound, message));
        }
        self.obstacles.extend(obstacles);
    }

    /// Test binaries of macro crates load the compiler's own libraries.
    fn find_libraries(&mut self, sources: &dyn Sources) -> Vec<Job> {
        let needed =
            self.build.artifacts.iter().any(|artifact| {
                artifact.profile.test && (artifact.target.is("proc-macro") || artifact.target.is("dylib"))
            });
        if !needed || self.command.runner != Runner::Libtest {
            return self.start_lists(String::new(), sources);
        }
        self.stage = Stage::FindingLibraries;
        let mut argv = vec!["rustc".to_owned()];
        argv.extend(self.command.cargo.iter().skip(1).cloned());
        argv.extend(["--print".to_owned(), "target-libdir".to_owned()]);
        vec![self.tool(argv, "finding the compiler's libraries")]
    }

    fn read_libraries(&mut self, finished: &[Finished], sources: &dyn Sources) -> Vec<Job> {
        let folder = finished.first().filter(|rustc| rustc.exit == Exit::Passed).map(|rustc| rustc.stdout.text());
        self.start_lists(folder.unwrap_or_default().trim().to_owned(), sources)
    }
}

/// Listing and running test binaries.
impl CargoSuite {
    fn start_lists(&mut self, libraries: String, sources: &dyn Sources) -> Vec<Job> {
        let surroundings = Surroundings::new(&self.build, &self.places, sources, libraries);
        let wanted = self.build.artifacts.iter().filter(|artifact| self.command.wants(&artifact.target));
        self.binaries = wanted.filter_map(|artifact| Binary::new(artifact, &self.places, &surroundings)).collect();
        if self.binaries.is_empty() {
            return self.start_doctests(sources);
        }
        if let Runner::Nextest { choose, .. } = &self.command.runner {
            let argv = nextest::list_argv(&self.command, choose);
            self.stage = Stage::ListingForNextest;
            return vec![self.tool(argv, "listing tests")];
        }
        self.stage = Stage::Listing;
        let filters = self.filters();
        self.binaries.iter().map(|binary| binary.list(&filters, self.settings.timeout)).collect()
    }

    /// What the configured command hands to the binaries to choose tests; a selection overrides it.
    fn filters(&self) -> Vec<String> {
        match self.selection {
            Selection::All => self.command.binary_args.iter().chain(&self.command.filters).cloned().collect(),
            Selection::Only(_) => Vec::new(),
        }
    }

    fn read_lists(&mut self, finished: &[Finished], sources: &dyn Sources) -> Vec<Job> {
        for (binary, listed) in self.binaries.iter_mut().zip(finished) {
            match read_one_list(listed) {
                Ok(names) => binary.listed = names,
                Err((cause, message)) => self.obstacles.push(obstacle(&binary.root, cause, message)),
            }
        }
        let listed = self.binaries.iter().flat_map(|binary| binary.listed.iter().map(|name| place(&binary.root, name)));
        match Ids::new(listed, sources) {
            Ok(ids) => self.ids = ids,
            Err(bad) => return self.refuse(&bad),
        }
        let mut runs = Runs::new(self.settings.timeout);
        for index in 0..self.binaries.len() {
            self.plan_runs(index, &mut runs);
        }
        self.continue_runs(runs, sources)
    }

    /// Tests that cannot be told apart cannot be run.
    fn refuse(&mut self, bad: &BadAnnotation) -> Vec<Job> {
        self.obstacles.push(bad.obstacle());
        Vec::new()
    }

    fn plan_runs(&self, index: usize, runs: &mut Runs) {
        let binary = &self.binaries[index];
        match &self.selection {
            Selection::All if binary.listed.is_empty() => {}
            Selection::All => runs.all(index, &binary.listed, self.filters()),
            Selection::Only(ids) => {
                let wanted: BTreeSet<&TestId> = ids.iter().collect();
                let chosen = |name: &&String| wanted.contains(&self.id(&binary.root, name));
                let names: Vec<String> = binary.listed.iter().filter(chosen).cloned().collect();
                runs.some(index, &names, &self.threads());
            }
        }
    }

    /// The part of the binaries' arguments that does not choose tests.
    fn threads(&self) -> Vec<String> {
        let args = &self.command.binary_args;
        let at = args.iter().position(|arg| arg == "--test-threads");
        at.map_or_else(Vec::new, |at| args[at..(at + 2).min(args.len())].to_vec())
    }

    fn read_runs(&mut self, mut runs: Runs, finished: &[Finished], sources: &dyn Sources) -> Vec<Job> {
        runs.read(finished);
        self.continue_runs(runs, sources)
    }

    fn continue_runs(&mut self, mut runs: Runs, sources: &dyn Sources) -> Vec<Job> {
        let jobs = runs.jobs(&self.binaries);
        if jobs.is_empty() {
            let (outcomes, troubles) = runs.end();
            for ((index, name), ended) in outcomes {
                let id = self.id(&self.binaries[index].root, &name);
                self.add(TestResult { id, outcome: ended.outcome, duration_ms: ended.duration_ms });
            }
            for (index, cause, message) in troubles {
                self.obstacles.push(obstacle(&self.binaries[index].root, cause, message));
            }
            return self.start_doctests(sources);
        }
        self.stage = Stage::Running(runs);
        jobs
    }
}

/// Listing and running with nextest.
impl CargoSuite {
    fn read_nextest_list(&mut self, finished: &[Finished], sources: &dyn Sources) -> Vec<Job> {
        let Some(listed) = finished.first() else {
            return self.stop("cargo nextest", Cause::UnknownOutput, "it was not run".to_owned());
        };
        if let Some((cause, message)) = could_not_run(listed) {
            return self.stop("cargo nextest", cause, message);
        }
        match nextest::read_list(listed, &self.binaries) {
            Err(missing) if missing.is_tool_missing() => {
                self.stop("cargo nextest", Cause::RunnerMissing, missing.to_string())
            }
            Err(bad) => self.stop("cargo nextest", Cause::UnknownOutput, bad.to_string()),
            Ok(listing) => self.run_nextest(listing, sources),
        }
    }

    fn run_nextest(&mut self, mut listing: nextest::Listing, sources: &dyn Sources) -> Vec<Job> {
        match Ids::new(listing.tests().map(|(root, name)| place(root, name)), sources) {
            Ok(ids) => self.ids = ids,
            Err(bad) => return self.refuse(&bad),
        }
        if let Selection::Only(ids) = &self.selection {
            let wanted: BTreeSet<&TestId> = ids.iter().collect();
            listing.keep(|root, name| wanted.contains(&self.id(root, name)));
        }
        if listing.is_empty() {
            return Vec::new();
        }
        let Runner::Nextest { choose, run } = &self.command.runner else {
            return Vec::new();
        };
        let exactly = matches!(self.selection, Selection::Only(_));
        let argv = nextest::run_argv(&self.command, &listing, choose, run, exactly);
        let command = CommandSpec::new(argv, self.settings.timeout)
            .in_dir(self.project.root.clone())
            .with_env("NEXTEST_EXPERIMENTAL_LIBTEST_JSON", "1")
            .with_env("RUST_BACKTRACE", "0");
        self.stage = Stage::RunningNextest(listing);
        vec![Job { command, isolated: false, label: "running tests with nextest".to_owned() }]
    }

    fn read_nextest_run(&mut self, listing: &nextest::Listing, finished: &[Finished]) -> Vec<Job> {
        let Some(run) = finished.first() else {
            return self.stop("cargo nextest", Cause::UnknownOutput, "it was not run".to_owned());
        };
        let (ended, trouble) = nextest::read_run(run, listing);
        for ((root, name), ended) in ended {
            let id = self.id(&root, &name);
            self.add(TestResult { id, outcome: ended.outcome, duration_ms: ended.duration_ms });
        }
        self.obstacles.extend(trouble.map(|(cause, message)| obstacle("cargo nextest", cause, message)));
        Vec::new()
    }
}

/// Doctests.
impl CargoSuite {
    fn start_doctests(&mut self, sources: &dyn Sources) -> Vec<Job> {
        let selected = match &self.selection {
            Selection::All => true,
            Selection::Only(ids) => ids.iter().any(|id| doctest::item_of(id).is_some()),
        };
        if !selected || !self.command.wants_doctests() || self.documented_packages(sources).is_empty() {
            return Vec::new();
        }
        self.stage = Stage::ListingDoctests;
        let mut argv = self.doctest_argv(sources);
        argv.push("--list".to_owned());
        vec![self.tool(argv, "listing doctests")]
    }

    /// Packages whose library compiles and may hold a doctest.
    fn documented_packages(&self, sources: &dyn Sources) -> BTreeSet<&str> {
        let tested = self.build.artifacts.iter().filter(|artifact| artifact.profile.test);
        let built = tested.map(|artifact| (artifact.package_id.as_str(), &artifact.target));
        // A library whose unit tests ask for something missing is itself in order.
        let missing = self.build.errors.iter().map(|error| (error.package_id.as_str(), &error.target));
        let missing = missing.filter(|(_, target)| {
            let root = self.places.relative(&target.src_path);
            let own = |obstacle: &&Obstacle| Some(&obstacle.subject) == root.as_ref();
            self.obstacles.iter().find(own).is_some_and(|obstacle| obstacle.cause == Cause::MissingSymbol)
        });
        let libraries = built.chain(missing).filter(|(_, target)| target.doctest && target.is_production());
        let documented = libraries.filter(|(_, target)| {
            let root = self.places.relative(&target.src_path);
            root.is_some_and(|root| may_hold_doctests(sources, folder(&root)))
        });
        documented.map(|(id, _)| id).collect()
    }

    fn doctest_argv(&self, sources: &dyn Sources) -> Vec<String> {
        let mut argv = self.cargo(["test", "--doc", "--no-fail-fast"]);
        argv.extend(self.command.build.iter().cloned());
        for package in self.documented_packages(sources) {
            argv.extend(["--package".to_owned(), package.to_owned()]);
        }
        argv.push("--".to_owned());
        argv.extend(self.doctest_filters());
        argv
    }

    /// rustdoc takes no name with a space in it, so that a selection is narrowed by item only.
    fn doctest_filters(&self) -> Vec<String> {
        let Selection::Only(ids) = &self.selection else {
            return self.filters();
        };
        let items: Vec<&str> = ids.iter().filter_map(doctest::item_of).collect();
        if items.iter().any(|item| item.is_empty() || item.contains(char::is_whitespace)) {
            return Vec::new();
        }
        items.into_iter().map(str::to_owned).collect()
    }

    fn read_doctest_list(&mut self, finished: &[Finished], sources: &dyn Sources) -> Vec<Job> {
        let Some(listed) = finished.first() else {
            return Vec::new();
        };
        let doctests = match doctest::read_list(listed, &self.places) {
            Ok(doctests) => doctests,
            Err(bad) => {
                let said = shorten(listed.stderr.text().trim(), MAX_MESSAGE);
                let (cause, message) =
                    could_not_run(listed).unwrap_or((Cause::UnknownOutput, format!("{bad}\n{said}")));
                return self.stop("doctests", cause, message);
            }
        };
        if doctests.is_empty() {
            return Vec::new();
        }
        // What was compiled for the list is compiled again for the run.
        let deadline = self.settings.timeout + listed.duration * 2;
        let argv = self.doctest_argv(sources);
        self.stage = Stage::RunningDoctests(doctests);
        vec![self.job(argv, "running doctests", deadline)]
    }

    fn read_doctest_run(&mut self, listed: &Doctests, finished: &[Finished]) -> Vec<Job> {
        let Some(run) = finished.first() else {
            return Vec::new();
        };
        let crates = diagnose::crate_names(&self.build, &self.places);
        let results = doctest::read(run, listed, &crates).unwrap_or_else(|bad| {
            let (cause, message) = could_not_run(run).unwrap_or((Cause::UnknownOutput, bad.to_string()));
            self.obstacles.push(obstacle("doctests", cause, message.clone()));
            let fail = |id: &TestId| result(id.clone(), cause, message.clone());
            listed.values().map(fail).collect()
        });
        let wanted = |id: &TestId| match &self.selection {
            Selection::All => true,
            Selection::Only(ids) => ids.contains(id),
        };
        let results: Vec<TestResult> = results.into_iter().filter(|result| wanted(&result.id)).collect();
        for result in results {
            self.add(result);
        }
        Vec::new()
    }
}

/// The report.
impl CargoSuite {
    fn id(&self, root: &str, name: &str) -> TestId {
        self.ids.id(root, name).cloned().unwrap_or_else(|| TestId::native(root, name))
    }

    /// A test that two targets share has passed if it passed in both.
    fn add(&mut self, result: TestResult) {
        match self.results.get(&result.id) {
            Some(known) if known.outcome != Outcome::Pass => {}
            _ => {
                self.results.insert(result.id.clone(), result);
            }
        }
    }

    fn report(&mut self, sources: &dyn Sources) -> Report {
        if let Selection::Only(ids) = &self.selection {
            let missing: Vec<TestId> = ids.iter().filter(|id| !self.results.contains_key(id)).cloned().collect();
            for id in missing {
                let (cause, message) = self.why_not_found(&id, sources);
                self.add(result(id, cause, message));
            }
        }
        Report::new(std::mem::take(&mut self.results).into_values(), std::mem::take(&mut self.obstacles))
    }

    /// A test of a target that does not compile is not listed: it shares the target's fate.
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
        Job { command, isolated: false, label: label.to_owned() }
    }
}

fn obstacle(subject: &str, cause: Cause, message: String) -> Obstacle {
    Obstacle { subject: subject.to_owned(), cause, message, place: None }
}

fn result(id: TestId, cause: Cause, message: String) -> TestResult {
    TestResult { id, outcome: Outcome::Fail { cause, message }, duration_ms: 0 }
}

fn place(root: &str, name: &str) -> Place {
    Place { root: root.to_owned(), name: name.to_owned() }
}

/// Whether the sources of the target with this root file hold the test.
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

/// Why a tool gave no answer at all.
fn could_not_run(finished: &Finished) -> Option<(Cause, String)> {
    match &finished.exit {
        Exit::Passed | Exit::Failed(_) => None,
        Exit::NotStarted(why) => Some((Cause::RunnerMissing, why.clone())),
        Exit::TimedOut => Some((Cause::Timeout, format!("it did not end within {:?}", finished.duration))),
        Exit::Signalled(_) | Exit::Interrupted => Some((Cause::UnknownOutput, finished.exit.to_string())),
    }
}

/// Cargo said nothing on its message stream: the manifest cannot be read, or the registry cannot be
/// reached. What cannot be told apart is the environment's.
fn why_nothing_was_built(built: &Finished) -> (Cause, String) {
    let said = shorten(built.stderr.text().trim(), MAX_MESSAGE);
    let network = [
        "failed to download",
        "failed to get ",
        "failed to query",
        "Unable to update",
        "Could not resolve host",
        "--offline",
    ];
    let no_toolchain = ["is not installed", "no override and no default toolchain"];
    if no_toolchain.iter().any(|words| said.contains(words)) {
        (Cause::RunnerMissing, said)
    } else if network.iter().any(|words| said.contains(words)) || built.exit == Exit::Passed {
        (Cause::UnknownOutput, said)
    } else {
        (Cause::LoadFailure, said)
    }
}

/// The names that one binary listed, or why there are none.
fn read_one_list(listed: &Finished) -> Result<Vec<String>, (Cause, String)> {
    let said = || shorten(listed.stderr.text().trim(), MAX_MESSAGE);
    match &listed.exit {
        Exit::Passed => libtest::read_list(&listed.stdout.text()).ok_or_else(|| {
            let message = "it does not list its tests; a target with `harness = false` cannot be read test by test";
            (Cause::UnknownOutput, message.to_owned())
        }),
        Exit::TimedOut => Err((Cause::Timeout, "it does not even list its tests in time".to_owned())),
        Exit::Failed(_) | Exit::Signalled(_) => {
            Err((Cause::Crash, format!("{} while its tests were listed\n{}", listed.exit, said())))
        }
        Exit::NotStarted(_) | Exit::Interrupted => Err((Cause::UnknownOutput, listed.exit.to_string())),
    }
}

/// Whether some source file in this folder has an example in its documentation.
fn may_hold_doctests(sources: &dyn Sources, folder: &str) -> bool {
    let inside = |path: &&String| owns(path) && (folder.is_empty() || path.starts_with(&format!("{folder}/")));
    sources
        .files()
        .iter()
        .filter(inside)
        .any(|path| sources.read(path).is_some_and(|text| items(path, &text).doc_tests_possible))
}

#[cfg(test)]
mod tests;
