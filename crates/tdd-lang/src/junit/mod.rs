//! Runs a test command of an unknown runner and reads the JUnit report that it writes.

mod read;

use std::collections::{BTreeMap, BTreeSet};

use tdd_core::change::Sort;
use tdd_core::command::{CommandSpec, Exit, Finished};
use tdd_core::digest::Digest;
use tdd_core::report::{Cause, Obstacle, Outcome, Report, TestResult};
use tdd_core::test_id::TestId;

use crate::language::{Job, Language, Next, Project, Selection, Settings, Sources, Starts, Suite};
use read::{Case, Fate};

/// Maximum number of bytes of quoted output.
const MAX_QUOTED: usize = 4000;

/// Begins a run of `command`, which writes its report to this file.
pub(crate) fn suite<'l>(
    language: &'l dyn Language,
    project: &Project,
    settings: &Settings,
    (command, junit): (&[String], &str),
    selection: Selection,
) -> Box<dyn Suite + 'l> {
    let of = |argv: Vec<String>, deadline| CommandSpec::new(argv, deadline).in_dir(project.root.clone());
    let words = |argv: &[&str]| argv.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let job = |command, label: &str| Job { command, starts: Starts::ToolAndTests, label: label.to_owned() };
    // A report of an earlier run must not be taken for one of this run.
    let jobs = vec![
        job(of(words(&["rm", "-f", "--", junit]), settings.timeout), "removing the last report"),
        job(of(command.to_vec(), settings.build_timeout + settings.timeout), "running the tests"),
        job(of(words(&["cat", "--", junit]), settings.timeout), "reading the report"),
    ];
    Box::new(Reading {
        language,
        project: project.clone(),
        command: command.join(" "),
        selection,
        jobs: Some(jobs),
        finished: Vec::new(),
    })
}

struct Reading<'a> {
    language: &'a dyn Language,
    project: Project,
    command: String,
    selection: Selection,
    jobs: Option<Vec<Job>>,
    finished: Vec<Finished>,
}

impl Suite for Reading<'_> {
    fn next(&mut self, sources: &dyn Sources) -> Next {
        match self.jobs.take() {
            Some(jobs) => Next::Run(jobs),
            None => Next::Done(self.report(sources)),
        }
    }

    fn feed(&mut self, finished: Vec<Finished>) {
        self.finished = finished;
    }
}

impl Reading<'_> {
    fn report(&self, sources: &dyn Sources) -> Report {
        let known = KnownTests::of(self.language, &self.project, sources);
        let [_, run, report] = self.finished.as_slice() else {
            return self.nothing(Cause::UnknownOutput, "it was not run to its end".to_owned(), &known);
        };
        let output = || tail(&format!("{}{}", run.stdout.text(), run.stderr.text()));
        let stopped = match &run.exit {
            Exit::Passed | Exit::Failed(_) => None,
            Exit::TimedOut => Some(Cause::Timeout),
            Exit::Signalled(_) => Some(Cause::Crash),
            Exit::NotStarted(_) | Exit::Interrupted => Some(Cause::RunnerMissing),
        };
        if let Some(cause) = stopped {
            return self.nothing(cause, output(), &known);
        }
        let (Exit::Passed, 0) = (&report.exit, report.stdout.dropped) else {
            let message = format!("it wrote no report to `ci.junit`\n{}", output());
            return self.nothing(Cause::UnknownOutput, message, &known);
        };
        match read::cases(&report.stdout.text()) {
            Err(error) => {
                self.nothing(Cause::UnknownOutput, format!("its report cannot be read: {error}\n{}", output()), &known)
            }
            Ok(cases) => self.agreed(&cases, &known, &run.exit),
        }
    }

    /// The results of the report, with an obstacle if the exit status contradicts it.
    fn agreed(&self, cases: &[Case], known: &KnownTests, exit: &Exit) -> Report {
        let failed = cases.iter().any(|case| matches!(case.fate, Fate::Failed(_) | Fate::Broke(_)));
        let mut obstacles = Vec::new();
        if failed == (*exit == Exit::Passed) {
            let message =
                format!("it ended with {exit}, and its report says {}", if failed { "failed" } else { "passed" });
            obstacles.push(Obstacle::new(&self.command, Cause::UnknownOutput, message));
        }
        let results = cases.iter().map(|case| known.result(case));
        let mut report = Report::new(merged(results), obstacles);
        if let Selection::Only(ids) = &self.selection {
            let missing = |id: &TestId| {
                let outcome =
                    Outcome::Fail { cause: Cause::TargetNotFound, message: format!("the report has no `{id}`") };
                TestResult::new(id.clone(), outcome, 0)
            };
            let results = ids.iter().map(|id| report.get(id).cloned().unwrap_or_else(|| missing(id)));
            report = Report::new(results.collect::<Vec<_>>(), report.obstacles().to_vec());
        }
        report
    }

    fn nothing(&self, cause: Cause, message: String, known: &KnownTests) -> Report {
        let tests = known.tests.iter().map(|test| test.id.clone()).collect();
        Report::new([], vec![Obstacle { tests, ..Obstacle::new(&self.command, cause, message) }])
    }
}

/// Merges the cases of a parameterized test into one result: it passes if all of them pass.
fn merged(results: impl Iterator<Item = TestResult>) -> Vec<TestResult> {
    let mut by_id: BTreeMap<TestId, TestResult> = BTreeMap::new();
    for result in results {
        match by_id.get_mut(&result.id) {
            Some(known) if known.outcome == Outcome::Pass => *known = result,
            Some(_) => {}
            None => drop(by_id.insert(result.id.clone(), result)),
        }
    }
    by_id.into_values().collect()
}

fn tail(text: &str) -> String {
    let text = text.trim();
    let from = (text.len().saturating_sub(MAX_QUOTED)..=text.len()).find(|at| text.is_char_boundary(*at));
    text.get(from.unwrap_or_default()..).unwrap_or_default().to_owned()
}

/// The tests in the sources, and the names of the production files.
struct KnownTests {
    tests: Vec<KnownTest>,
    production: BTreeSet<String>,
}

struct KnownTest {
    id: TestId,
    path: String,
    /// The path without its extension, as [`plain`] text for comparison.
    place: String,
    /// The name, as [`plain`] text for comparison.
    name: String,
    digest: Digest,
}

impl KnownTests {
    fn of(language: &dyn Language, project: &Project, sources: &dyn Sources) -> Self {
        let mut known = Self { tests: Vec::new(), production: BTreeSet::new() };
        for path in sources.files().iter().filter(|path| project.relative_path(path).is_some()) {
            if language.sort(project, path, sources) == Sort::Production {
                known.production.insert(path.rsplit('/').next().unwrap_or(path).to_owned());
            }
            let below = project.relative_path(path).unwrap_or(path);
            let stem = below.rsplit_once('.').map_or(below, |(stem, _)| stem);
            if !language.owns(path) {
                continue;
            }
            let source = sources.read(path).unwrap_or_default();
            for (id, item) in
                language.tests_in(project, path, sources).into_iter().zip(language.items(path, &source).tests)
            {
                known.tests.push(KnownTest {
                    id,
                    path: path.clone(),
                    place: plain(stem),
                    name: plain(&item.name),
                    digest: item.digest,
                });
            }
        }
        known
    }

    /// The result of a case, under the id that the test has in the sources; if it is not found there, under the names in
    /// the report.
    fn result(&self, case: &Case) -> TestResult {
        let test = self.test(case);
        let reported = || TestId::native(case.file.as_deref().unwrap_or(&case.class), &case.name);
        let id = test.map_or_else(reported, |test| test.id.clone());
        let digest = test.map(|test| test.digest);
        TestResult { digest, ..TestResult::new(id, self.outcome(case), case.duration_ms) }
    }

    /// The test in the sources that matches a case; `None` if none or several match.
    fn test(&self, case: &Case) -> Option<&KnownTest> {
        let bare = plain(case.name.split(['[', '(', '{']).next().unwrap_or_default());
        let (whole, full) = (plain(&case.name), plain(&case.class) + &bare);
        let in_file = |test: &&KnownTest| match &case.file {
            Some(file) => test.path.ends_with(file.as_str()) || file.ends_with(&test.path),
            None => true,
        };
        let is_called = |test: &&KnownTest| {
            !test.name.is_empty() && [&whole, &bare, &full].iter().any(|name| name.ends_with(&test.name))
        };
        let candidates: Vec<&KnownTest> = self.tests.iter().filter(in_file).filter(is_called).collect();
        // One of them is a suffix of the other: class and name in the report, path and name in the sources.
        let is_there = |test: &&&KnownTest| {
            let own = format!("{}{}", test.place, test.name);
            own.ends_with(&full) || full.ends_with(&own)
        };
        let near: Vec<&&KnownTest> = candidates.iter().filter(is_there).collect();
        match (near.as_slice(), candidates.as_slice()) {
            ([test], _) => Some(test),
            ([], [test]) => Some(test),
            _ => None,
        }
    }

    fn outcome(&self, case: &Case) -> Outcome {
        let failed = |cause, message: &str| Outcome::Fail { cause, message: tail(message) };
        match &case.fate {
            Fate::Passed => Outcome::Pass,
            Fate::Failed(message) => failed(Cause::Assertion, message),
            // An error that names a production file counts like a failed assertion; any other error may be the test's own.
            Fate::Broke(message) if self.names_production(message) => failed(Cause::Assertion, message),
            Fate::Broke(message) => failed(Cause::UnrelatedFailure, message),
            Fate::Skipped(message) => failed(Cause::Skipped, message),
        }
    }

    fn names_production(&self, message: &str) -> bool {
        let word = |c: char| !(c.is_alphanumeric() || "._-".contains(c));
        message.split(word).any(|word| self.production.contains(word))
    }
}

/// The letters and digits of a text, in lower case.
fn plain(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
