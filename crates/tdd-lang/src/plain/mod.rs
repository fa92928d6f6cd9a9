//! Runs copies of a test in a program without a test runner, so that production cannot tell that it is under test.
//!
//! A language writes the program: the test's own file, built like any other, and a `main` that reads the name of a copy
//! from its standard input, runs that copy, and writes what became of it to file descriptor 3. Each copy has a process
//! of its own.

use tdd_core::command::{CommandSpec, Exit, Finished};
use tdd_core::report::{Cause, Outcome, Report, TestResult};
use tdd_core::test_id::TestId;

use crate::language::{Job, Next, Project, Settings, Sources, Starts, Suite, join};
use crate::run::{failed, failure, last_words, shorten};
use crate::twin::Twins;

/// Builds the program, prints its path, and removes the test sources.
const BUILD: &str = include_str!("build.sh");
/// Runs one copy.
const RUN: &str = include_str!("run.sh");

/// More files than this are not copied for each run.
pub(crate) const MAX_FILES: usize = 2000;

/// The copies of a test, and the tree that they belong to.
#[derive(Clone, Copy)]
pub struct Copies<'c> {
    /// The project.
    pub project: &'c Project,
    /// The configured commands and limits.
    pub settings: &'c Settings,
    /// The tree.
    pub sources: &'c dyn Sources,
    /// The test's file.
    pub path: &'c str,
    /// The copies.
    pub twins: &'c Twins,
    /// Where the tree is laid out.
    pub root: &'c str,
    /// A folder for what is built.
    pub products: &'c str,
}

/// A file of a plain program, relative to the repository's root; without a text it is absent.
pub type File = (String, Option<String>);

/// A program that runs copies of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlainProgram {
    /// The files that differ from the tree.
    pub files: Vec<File>,
    /// The files among them that are gone when the program runs.
    pub sources: Vec<String>,
    /// The command that builds the program.
    pub build: CommandSpec,
    /// Where the build puts the program; `None` if it prints that in its last line.
    pub executable: Option<String>,
    /// The copies, each with its name in the program.
    pub tests: Vec<(TestId, String)>,
    /// The unaltered copy.
    pub copy: TestId,
    /// What else is run in the same process.
    pub again: Again,
    /// How the program is started.
    pub start: Start,
}

/// What is run besides a copy in its process, so that state which production keeps comes to light.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    /// The unaltered copy runs again and again, for a moment, and must pass each time.
    Repeated,
    /// The unaltered copy runs twice in fresh processes and must pass both times, and before each altered one. For
    /// languages in which honest modules often keep state.
    First,
    /// The unaltered copy runs twice in fresh processes, and each copy by itself.
    Never,
}

/// How a plain program is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// Its working folder, relative to the repository's root.
    pub folder: String,
    /// A file that lists what the program finds in a working folder elsewhere; `None` if it needs the repository.
    pub listed: Option<String>,
    /// A script that the program runs, relative to the repository's root.
    pub script: Option<String>,
    /// Variables to set; without a repository these and a few of the system are all.
    pub env: Vec<(String, String)>,
    /// The limit for one copy.
    pub timeout: std::time::Duration,
}

/// The text of a file that lists everything but the sources, for [`Start::listed`].
pub(crate) fn without_sources(sources: &dyn Sources, is_source: impl Fn(&str) -> bool) -> Option<String> {
    let is_test_data = |path: &str| path.split('/').any(|folder| folder == "testdata");
    let kept = sources.files().iter().filter(|path| is_test_data(path) || !is_source(path));
    let kept: Vec<String> = kept.cloned().collect();
    (kept.len() <= MAX_FILES).then(|| listing(kept))
}

/// The text of a file that lists these files, for [`Start::listed`].
pub(crate) fn listing(files: impl IntoIterator<Item = String>) -> String {
    let one_line = files.into_iter().filter(|file| !file.contains('\n'));
    one_line.map(|file| format!("./{file}\n")).collect::<Vec<_>>().concat()
}

/// The folder of a test in its program, below the project's: a folder that has one of these names is called `name`
/// there. Also the folder's other files.
pub(crate) fn moved_folder(copies: &Copies<'_>, below: &str, name: &str, for_tests: &[&str]) -> (String, Vec<File>) {
    let (folder, _) = below.rsplit_once('/').unwrap_or(("", below));
    let (top, rest) = folder.split_once('/').unwrap_or((folder, ""));
    if !for_tests.contains(&top) {
        return (folder.to_owned(), Vec::new());
    }
    let (from, to) = (join(&copies.project.root, top) + "/", join(&copies.project.root, name) + "/");
    let inside = copies.sources.files().iter().filter(|file| file.starts_with(&from) && *file != copies.path);
    let moved = |file: &String| {
        let text = copies.sources.read(file)?;
        Some((file.replacen(&from, &to, 1), Some(text)))
    };
    (join(name, rest).trim_end_matches('/').to_owned(), inside.filter_map(moved).collect())
}

/// A run of a [`PlainProgram`].
#[derive(Debug)]
pub struct PlainSuite {
    program: PlainProgram,
    stage: Stage,
    finished: Vec<Finished>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Begin,
    Building,
    Running,
}

impl PlainSuite {
    /// Begins a run. The files of the program must be in place.
    pub fn new(program: PlainProgram) -> Self {
        Self { program, stage: Stage::Begin, finished: Vec::new() }
    }

    fn build(&self) -> Job {
        let mut command = self.program.build.clone();
        let script = ["sh", "-c", BUILD, "sh"].map(str::to_owned);
        let sources = self.program.sources.join("\n");
        let ours = [root_of(&command.cwd), sources];
        command.argv = script.into_iter().chain(ours).chain(command.argv).collect();
        Job { command, starts: Starts::Tool, label: "building the test as a plain program".to_owned() }
    }

    fn runs(&self, program: &str) -> Vec<Job> {
        self.program.tests.iter().map(|(id, name)| self.run(program, id, name)).collect()
    }

    fn run(&self, program: &str, id: &TestId, name: &str) -> Job {
        let start = &self.program.start;
        let is_copy = *id == self.program.copy;
        let copy = self.program.tests.iter().find(|(id, _)| *id == self.program.copy).map(|(_, name)| name.as_str());
        let how = match self.program.again {
            Again::Repeated if is_copy => "2",
            Again::First if !is_copy => copy.unwrap_or_default(),
            Again::Repeated | Again::First | Again::Never => "1",
        };
        let times = if is_copy && self.program.again != Again::Repeated { "2" } else { "1" };
        let mut argv = ["sh", "-c", RUN, "sh", program, name, how, times, &start.folder].map(str::to_owned).to_vec();
        argv.extend([&start.listed, &start.script].map(|file| file.clone().unwrap_or_default()));
        argv.extend(start.env.iter().map(|(name, value)| format!("{name}={value}")));
        let command = CommandSpec::new(argv, start.timeout);
        Job { command, starts: Starts::Tests, label: "running the test as a plain program".to_owned() }
    }

    fn unbuilt(&self, built: &Finished) -> Report {
        let message = shorten(last_words(built));
        let results = self.program.tests.iter();
        let results = results.map(|(id, _)| failed(id.clone(), Cause::UnrelatedCompileError, message.clone(), 0));
        Report::new(results.collect::<Vec<_>>(), Vec::new())
    }

    fn report(&self, finished: &[Finished]) -> Report {
        let ended = self.program.tests.iter().zip(finished);
        let results = ended.map(|((id, name), finished)| {
            let outcome = match outcome(name, finished) {
                // An error that is no failed assertion may come from what takes the runner's place.
                Outcome::Fail { cause: Cause::UnrelatedFailure, message } if *id == self.program.copy => {
                    failure(Cause::LoadFailure, message)
                }
                outcome => outcome,
            };
            TestResult::new(id.clone(), outcome, 0)
        });
        Report::new(results.collect::<Vec<_>>(), Vec::new())
    }
}

impl Suite for PlainSuite {
    fn next(&mut self, _: &dyn Sources) -> Next {
        let finished = std::mem::take(&mut self.finished);
        match (self.stage, finished.first()) {
            (Stage::Begin, _) => {
                self.stage = Stage::Building;
                Next::Run(vec![self.build()])
            }
            (Stage::Building, Some(built)) if built.exit == Exit::Passed => {
                let printed = || built.stdout.text().lines().last().map(str::to_owned);
                match self.program.executable.clone().or_else(|| printed().filter(|path| path.starts_with('/'))) {
                    Some(path) => {
                        self.stage = Stage::Running;
                        Next::Run(self.runs(&path))
                    }
                    None => Next::Done(self.unbuilt(built)),
                }
            }
            (Stage::Building, Some(built)) => Next::Done(self.unbuilt(built)),
            (Stage::Building | Stage::Running, _) => Next::Done(self.report(&finished)),
        }
    }

    fn feed(&mut self, finished: Vec<Finished>) {
        self.finished = finished;
    }
}

/// The way from a folder of the repository back to its root.
fn root_of(folder: &str) -> String {
    let parts = folder.split('/').filter(|part| !part.is_empty());
    std::iter::once(".").chain(parts.map(|_| "..")).collect::<Vec<_>>().join("/")
}

/// What became of a copy: the program writes its name, and a word for each time that it ran.
fn outcome(name: &str, finished: &Finished) -> Outcome {
    let message = || last_words(finished);
    let text = finished.stdout.text();
    // The last of several processes counts: it is not started if one before it fails.
    let verdict = text.lines().rev().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    match (&finished.exit, verdict) {
        (Exit::TimedOut, _) => failure(Cause::Timeout, "it did not end in time"),
        (Exit::Passed, Some("pass" | "pass pass")) => Outcome::Pass,
        (_, Some("pass fail")) => {
            failure(Cause::Assertion, format!("it passes once, and fails when it is run again\n{}", message()))
        }
        (_, Some("fail")) => failure(Cause::Assertion, message()),
        (_, Some("rigged")) => failure(Cause::Disarmed, message()),
        (_, Some("error")) => failure(Cause::UnrelatedFailure, message()),
        (_, Some("skip")) => failure(Cause::Skipped, message()),
        (exit, _) => failure(Cause::Crash, format!("its process ended with {exit}\n{}", message())),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tdd_core::command::Captured;

    use super::*;
    use crate::fixture::memory;
    use crate::language::NoSources;

    fn finished(exit: Exit, stdout: &str) -> Finished {
        let (stdout, stderr) = (Captured::whole(stdout), Captured::whole("said"));
        Finished { exit, stdout, stderr, duration: Duration::ZERO, folder: "/tree".to_owned() }
    }

    #[test]
    fn a_copy_passes_only_if_the_program_says_so_and_ends_well() {
        let check = |exit: Exit, said: &str, cause: Option<Cause>| {
            assert_eq!(outcome("t_1", &finished(exit, said)).cause(), cause, "{said}");
        };
        check(Exit::Passed, "t_1 pass\n", None);
        check(Exit::Passed, "t_1 pass pass\n", None);
        check(Exit::Failed(1), "t_1 pass fail\n", Some(Cause::Assertion));
        check(Exit::Failed(1), "t_1 fail\n", Some(Cause::Assertion));
        check(Exit::Failed(1), "t_1 rigged\n", Some(Cause::Disarmed));
        check(Exit::Failed(1), "t_1 pass\n", Some(Cause::Crash));
        check(Exit::Passed, "t_2 pass\n", Some(Cause::Crash));
        check(Exit::Passed, "", Some(Cause::Crash));
        check(Exit::TimedOut, "t_1 pass\n", Some(Cause::Timeout));
    }

    fn program(copy: &TestId) -> PlainProgram {
        let start = Start {
            folder: "sub".to_owned(),
            listed: None,
            script: None,
            env: Vec::new(),
            timeout: Duration::from_secs(1),
        };
        PlainProgram {
            files: Vec::new(),
            sources: vec!["sub/a_test.go".to_owned()],
            build: CommandSpec::new(["go", "build"], Duration::from_secs(1)).in_dir("sub"),
            executable: None,
            tests: vec![(copy.clone(), "t_1".to_owned())],
            copy: copy.clone(),
            again: Again::Repeated,
            start,
        }
    }

    #[test]
    fn a_program_that_cannot_be_built_proves_nothing() {
        let id = TestId::native("a", "t_1");
        let mut suite = PlainSuite::new(program(&id));
        let Next::Run(jobs) = suite.next(&NoSources) else { panic!("nothing to build") };
        assert_eq!(jobs[0].command.argv[4..], ["./..", "sub/a_test.go", "go", "build"]);
        suite.feed(vec![finished(Exit::Passed, "no path\n")]);
        let Next::Done(report) = suite.next(&NoSources) else { panic!("there is nothing to run") };
        assert_eq!(report.get(&id).unwrap().outcome.cause(), Some(Cause::UnrelatedCompileError));
    }

    #[test]
    fn a_copy_that_runs_first_has_two_fresh_processes() {
        let (copy, other) = (TestId::native("a", "t_1"), TestId::native("a", "t_2"));
        let mut program = program(&copy);
        program.again = Again::First;
        program.tests.push((other, "t_2".to_owned()));
        let suite = PlainSuite { program, stage: Stage::Running, finished: Vec::new() };
        let told = suite.runs("node").into_iter().map(|job| job.command.argv[5..8].join(" "));
        assert_eq!(told.collect::<Vec<_>>(), ["t_1 1 2", "t_2 t_1 1"]);
        let fails_later = outcome("t_1", &finished(Exit::Failed(1), "t_1 pass\nt_1 fail\n"));
        assert_eq!(fails_later.cause(), Some(Cause::Assertion));
    }

    #[test]
    fn a_program_finds_everything_but_sources_outside_of_test_data() {
        let sources = memory(&[("a.go", ""), ("b.txt", ""), ("x/testdata/c.go", "")]);
        assert_eq!(without_sources(&sources, |file| file.contains(".go")).unwrap(), "./b.txt\n./x/testdata/c.go\n");
    }
}
