//! Turns a runner's report into one result per test, and obstacles for tests that were not run.

use std::collections::{BTreeMap, BTreeSet};

use tdd_core::change::Mark;
use tdd_core::report::{Cause, Obstacle, Outcome, Report, TestResult};
use tdd_core::test_id::TestId;

use crate::javascript::ids::Ids;
use crate::javascript::modules::Modules;
use crate::javascript::test_command::Run;
use crate::javascript::title::JOINT;
use crate::language::{Project, Selection, Sources, join};
use crate::run::{Moment, Results, blocks, failed, no_tests_found, shorten};

use super::cause::Diagnosis;
use super::events::{Error, File, Kind, Outcome as Fate, Stray, Test};

/// A run that is being turned into a report.
pub(super) struct Reading<'r> {
    project: &'r Project,
    ids: Ids,
    diagnosis: Diagnosis<'r>,
    /// The ids that were asked for, which may be single cases.
    asked: Vec<TestId>,
    results: Results,
    is_whole: bool,
}

impl<'r> Reading<'r> {
    /// No results yet.
    pub fn new(project: &'r Project, sources: &'r dyn Sources, selection: &Selection) -> Self {
        let ids = Ids::of(project, sources);
        Self {
            project,
            results: Results::new(ids.obstacles.clone()),
            ids,
            diagnosis: Diagnosis::new(project, sources, Modules::of),
            asked: selection.ids().to_vec(),
            is_whole: *selection == Selection::All,
        }
    }

    /// Adds the results of tests and groups.
    pub fn tests(&mut self, tests: Vec<Test>) {
        let (groups, tests): (Vec<Test>, Vec<Test>) = tests.into_iter().partition(|test| test.kind == Kind::Suite);
        let names: BTreeSet<(&str, &[String])> =
            tests.iter().map(|test| (test.file.as_str(), test.name.as_slice())).collect();
        let (parts, tests): (Vec<&Test>, Vec<&Test>) = tests.iter().partition(|test| is_part(test, &names));
        for test in tests {
            let is_failed = |part: &&&Test| {
                part.file == test.file
                    && part.name.starts_with(&test.name)
                    && part.outcome == Fate::Fail
                    && part.why != "subtestsFailed"
            };
            let failed = if test.why == "subtestsFailed" { parts.iter().find(is_failed) } else { None };
            self.test(test, failed.copied(), &groups);
        }
        for group in &groups {
            self.group(group);
        }
    }

    /// Adds a test's result, with the subtest that made it fail.
    fn test(&mut self, test: &Test, part: Option<&Test>, groups: &[Test]) {
        let path = join(&self.project.root, &test.file);
        let name = test.name.join(JOINT);
        let own = TestId::native(&path, &name);
        let located = self.ids.printed(&path, &name);
        let is_case = located.is_some_and(|located| TestId::native(&path, &located.item.name) != own);
        let digest = located.map(|located| self.ids.digest(&path, located));
        let id = match located {
            Some(located) if !self.asked.contains(&own) => located.item.id(&path),
            _ => own,
        };
        let case = if is_case { format!("[{name}] ") } else { String::new() };
        let mut result = self.result(id, part.unwrap_or(test), groups, &case);
        result.digest = digest;
        self.results.add_case(result);
    }

    fn result(&self, id: TestId, test: &Test, groups: &[Test], case: &str) -> TestResult {
        let millis = std::time::Duration::try_from_secs_f64(test.ms.max(0.0) / 1000.0).unwrap_or_default().as_millis();
        let millis = u64::try_from(millis).unwrap_or(u64::MAX);
        let say = |text: &str| shorten(format!("{case}{text}"));
        match test.outcome {
            Fate::Pass => TestResult::new(id, Outcome::Pass, millis),
            Fate::Skip => failed(id, Cause::Skipped, say(&test.why), millis),
            Fate::Lost if test.why == "timeout" => {
                failed(id, Cause::Timeout, say("it did not finish before its timeout"), millis)
            }
            Fate::Lost => failed(id, Cause::Crash, say(&format!("its process ended with {}", test.why)), millis),
            Fate::Fail => {
                // If a group's hook fails, the group's tests do not run.
                let hook = groups.iter().find(|group| {
                    let holds = test.file == group.file && test.name.starts_with(&group.name);
                    holds && test.why == "cancelledByParent" && is_own_failure(group)
                });
                let error = hook.unwrap_or(test).error.clone().unwrap_or_default();
                let moment = if test.around || hook.is_some() { Moment::Around } else { Moment::Running };
                let path = join(&self.project.root, &test.file);
                failed(id, self.diagnosis.cause(&path, &error, moment), say(&message(&error)), millis)
            }
        }
    }

    /// A group that failed to set up is an obstacle for its tests that were not run.
    fn group(&mut self, group: &Test) {
        let path = join(&self.project.root, &group.file);
        let name = group.name.join(JOINT);
        if !is_own_failure(group) {
            return;
        }
        let inside = format!("{name}{JOINT}");
        let lost = self.ids.in_file(&path).iter().filter(|test| test.item.name.starts_with(&inside));
        let lost: Vec<TestId> = lost.map(|test| test.item.id(&path)).filter(|id| !self.results.has(id)).collect();
        let failed = self.ids.in_file(&path).iter().filter(|test| test.item.name.starts_with(&inside));
        let mut failed = failed.filter_map(|test| self.results.get(&test.item.id(&path)));
        // The group's tests already report the error.
        if lost.is_empty() && failed.any(|result| result.outcome.cause().is_some()) {
            return;
        }
        let error = group.error.clone().unwrap_or_default();
        let cause = self.diagnosis.cause(&path, &error, Moment::Loading);
        let message = message(&error);
        self.results.add_obstacle(Obstacle { subject: path, cause, message, place: None, tests: lost });
    }

    /// Adds the results of loading the files.
    pub fn files(&mut self, files: &BTreeMap<String, File>, run: &Run) {
        for (below, file) in files {
            let path = join(&self.project.root, below);
            let tests: Vec<TestId> = self.ids.in_file(&path).iter().map(|test| test.item.id(&path)).collect();
            let lost: Vec<TestId> = tests.into_iter().filter(|id| !self.results.has(id)).collect();
            let is_loaded = file.how.is_none() && file.error.is_none();
            let lost = self.marked(&path, lost, |mark| mark.always || is_loaded);
            let (cause, message, place) = match (&file.how, &file.error) {
                (None, None) => {
                    self.loaded(lost, run);
                    continue;
                }
                (Some(how), _) if how == "timeout" => {
                    (Cause::Timeout, "it did not finish before its timeout".to_owned(), None)
                }
                (Some(how), _) => (Cause::Crash, shorten(format!("its process ended with {how}\n{}", file.said)), None),
                (None, Some(error)) if is_empty_file(error) && lost.is_empty() => continue,
                (None, Some(error)) => {
                    let place = error.place().map(|(path, line)| format!("{}:{line}", join(&self.project.root, path)));
                    (self.diagnosis.cause(&path, error, Moment::Loading), message(error), place)
                }
            };
            self.results.add_obstacle(Obstacle { subject: path, cause, message, place, tests: lost });
        }
    }

    /// Records the tests with a counting skip mark as skipped, whatever happened to their file; returns the others.
    fn marked(&mut self, path: &str, tests: Vec<TestId>, counts: impl Fn(&Mark) -> bool) -> Vec<TestId> {
        // Of several tests with the same id, the first decides.
        let mut marks: BTreeMap<TestId, Option<&Mark>> = BTreeMap::new();
        for test in self.ids.in_file(path) {
            marks.entry(test.item.id(path)).or_insert(test.item.ignored.as_ref().filter(|mark| counts(mark)));
        }
        let mut others = Vec::new();
        for id in tests {
            match marks.get(&id).copied().flatten() {
                Some(mark) => self.results.add_case(failed(id, Cause::Skipped, mark.text.clone(), 0)),
                None => others.push(id),
            }
        }
        others
    }

    /// A test that is in its file but did not run was removed while the file was loaded.
    fn loaded(&mut self, lost: Vec<TestId>, run: &Run) {
        if !self.is_whole || run.leaves_out() {
            return;
        }
        for lost in lost {
            let message = "it is in its file, but it does not exist once the file is loaded".to_owned();
            self.results.add_case(failed(lost, Cause::TargetNotFound, message, 0));
        }
    }

    /// Adds errors that belong to no test as obstacles, so that the run fails.
    pub fn errors(&mut self, runner: &str, errors: &[Stray]) {
        for Stray { file, error } in errors {
            let subject = file.as_ref().map_or_else(|| runner.to_owned(), |file| join(&self.project.root, file));
            let moment = if file.is_some() { Moment::Loading } else { Moment::Running };
            let cause = match self.diagnosis.cause(&subject, error, moment) {
                // The culprit is unknown, so the error must not prove a red.
                Cause::Assertion | Cause::MissingSymbol => Cause::UnrelatedFailure,
                cause => cause,
            };
            self.results.add_obstacle(Obstacle::new(subject, cause, message(error)));
        }
    }

    /// The finished report.
    pub fn report(mut self, runner: &str, selection: &Selection) -> Report {
        if let Selection::Only(asked) = selection {
            self.results.fail_missing(asked, runner, |obstacle, id| blocks(obstacle, id, runner));
            self.results.retain(|result| asked.contains(&result.id));
        } else if self.results.is_empty() && !self.ids.is_empty() {
            self.results.add_obstacle(no_tests_found(runner, runner));
        }
        self.results.report()
    }
}

/// Whether a test is a subtest of one of these, given by file and name.
fn is_part(test: &Test, names: &BTreeSet<(&str, &[String])>) -> bool {
    (0..test.name.len()).any(|length| names.contains(&(test.file.as_str(), &test.name[..length])))
}

/// Whether a group itself failed, not only a test in it.
fn is_own_failure(group: &Test) -> bool {
    group.outcome == Fate::Fail && !matches!(group.why.as_str(), "subtestsFailed" | "cancelledByParent")
}

/// Whether a runner complains about a file without tests.
fn is_empty_file(error: &Error) -> bool {
    error.message.contains("No test suite found") || error.message.contains("must contain at least one test")
}

/// The message: the error first, because only one line may be shown, then where it came from.
fn message(error: &Error) -> String {
    let text = error.text.trim();
    let shown = if text.contains(error.message.trim()) { String::new() } else { format!("{}\n", error.message.trim()) };
    shorten(format!("{}\n{shown}{text}", error.line()).trim())
}
