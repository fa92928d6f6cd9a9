//! The state of a run until it becomes a report: which tests have ended and how, and which are still to be run.

use std::collections::BTreeSet;

use tdd_core::command::{Exit, Finished};
use tdd_core::report::{Cause, Obstacle, Outcome, Report, TestResult};
use tdd_core::test_id::TestId;

use super::GoTestCall;
use super::cause::{Diagnosis, complaints};
use super::environment::{GoEnvironment, Package};
use super::events::{End, PackageRun, Run};
use crate::go::ids::{Ids, Located};
use crate::language::{Project, Selection};
use crate::run::{Results, failure, last_words, no_tests_found, shorten, tool_obstacle};

/// Collects results until they become a report.
pub(super) struct RunState {
    pub environment: GoEnvironment,
    ids: Ids,
    /// The next calls of `go test`.
    pub calls: Vec<GoTestCall>,
    pub rounds: usize,
    results: Results,
    /// The tests that still need a result, by package.
    open: Vec<BTreeSet<String>>,
}

/// The result of a call for one package.
struct Share<'s> {
    at: usize,
    package: &'s PackageRun,
    /// The tests that the call was to run.
    names: Vec<String>,
    /// Whether the call was to run only one test.
    is_alone: bool,
}

impl RunState {
    pub fn new(environment: GoEnvironment, ids: Ids) -> Self {
        let open = vec![BTreeSet::new(); environment.packages.len()];
        let results = Results::new(ids.obstacles.clone());
        Self { environment, ids, calls: Vec::new(), rounds: 0, results, open }
    }

    /// Plans the first calls of `go test`.
    pub fn plan(&mut self, selection: &Selection) {
        match selection {
            Selection::All => {
                for (at, package) in self.environment.packages.iter().enumerate() {
                    let tests = self.ids.in_folder(&package.folder).filter(|test| package.files.contains(&test.path));
                    self.open[at] = tests.map(|test| test.item.name.clone()).collect();
                }
                if !self.environment.packages.is_empty() {
                    self.calls.push(GoTestCall::All);
                }
            }
            Selection::Only(selected) => {
                for id in selected {
                    let Some((test, part)) = self.ids.get(id) else { continue };
                    let of = |package: &Package| package.files.contains(&test.path);
                    let Some(at) = self.environment.packages.iter().position(of) else { continue };
                    match part {
                        None => drop(self.open[at].insert(test.item.name.clone())),
                        Some(part) => self.calls.push(GoTestCall::Part(at, test.item.name.clone(), part)),
                    }
                }
                let open = self.open.iter().enumerate().filter(|(_, names)| !names.is_empty());
                let calls: Vec<GoTestCall> =
                    open.map(|(at, names)| GoTestCall::Tests(at, names.iter().cloned().collect())).collect();
                self.calls.extend(calls);
            }
        }
    }

    /// Reads the output of a call; an obstacle means that no result of the run can be trusted.
    pub fn read(
        &mut self,
        call: &GoTestCall,
        finished: &Finished,
        diagnosis: &Diagnosis<'_>,
        project: &Project,
    ) -> Result<(), Obstacle> {
        if let Some(obstacle) = tool_obstacle("go test", finished) {
            return Err(obstacle);
        }
        if finished.stdout.dropped > 0 {
            let message = "the output is longer than can be kept, so results are missing";
            return Err(Obstacle::new("go test", Cause::UnknownOutput, message));
        }
        let run = Run::read(&finished.stdout.text());
        if run.packages.is_empty() {
            let message = last_words(finished);
            let cause = if finished.exit == Exit::Passed { Cause::UnknownOutput } else { Cause::LoadFailure };
            return Err(Obstacle::new("go test", cause, message));
        }
        let all_is_well = run.packages.values().all(|package| package.end != Some(End::Fail));
        if all_is_well != (finished.exit == Exit::Passed) && finished.exit != Exit::TimedOut {
            let message = format!("`go test` ended with {}, and its report says otherwise", finished.exit);
            return Err(Obstacle::new("go test", Cause::UnknownOutput, message));
        }
        if let GoTestCall::Part(at, name, part) = call {
            self.read_part((*at, name, part), &run, diagnosis, project);
            return Ok(());
        }
        for at in 0..self.environment.packages.len() {
            let (names, is_alone) = match call {
                GoTestCall::Tests(of, _) if *of != at => continue,
                GoTestCall::Tests(_, names) => (names.clone(), names.len() == 1),
                GoTestCall::All | GoTestCall::Part(..) => (self.open[at].iter().cloned().collect(), false),
            };
            if let Some(package) = run.packages.get(&self.environment.packages[at].import) {
                let part = Share { at, package, names, is_alone };
                self.read_package(&part, &run, diagnosis, project);
            }
        }
        Ok(())
    }

    fn read_package(&mut self, share: &Share<'_>, run: &Run, diagnosis: &Diagnosis<'_>, project: &Project) {
        let Share { at, package, .. } = *share;
        if let Some(failed) = &package.failed_build {
            let output = run.builds.get(failed).map(String::as_str).unwrap_or_default();
            self.unbuilt(at, output, diagnosis, project);
            return;
        }
        let in_flight = package.in_flight();
        let has_canary = |name: &String| package.cases.get(name).is_some_and(|case| case.end == Some(End::Pass));
        let is_whole = package.is_complete() && run.canary.as_ref().is_none_or(has_canary);
        if !is_whole && in_flight.is_empty() {
            // Without the canary, the results may be forged.
            self.report_incomplete(at, package, &share.names);
            return;
        }
        for name in share.names.iter().filter(|name| !in_flight.contains(&name.as_str())) {
            if package.cases.get(name).is_some_and(|case| case.end.is_some()) {
                let (outcome, millis) = ended(package, name);
                self.settle(at, name, outcome, millis);
            }
        }
        if is_whole {
            self.completed(share);
        } else {
            self.rerun_after_crash(share, &in_flight, diagnosis);
        }
    }

    /// The tests of a share that have no result yet.
    fn left(&self, share: &Share<'_>) -> Vec<String> {
        share.names.iter().filter(|name| self.open[share.at].contains(*name)).cloned().collect()
    }

    /// Settles a package whose binary ran to its end: tests that it did not report were not found.
    fn completed(&mut self, share: &Share<'_>) {
        let Share { at, package, .. } = *share;
        for name in self.left(share) {
            let message = "it is in its file, but `go test` did not run it".to_owned();
            self.settle(at, &name, failure(Cause::TargetNotFound, message), 0);
        }
        let failed = package.cases.values().any(|case| case.end == Some(End::Fail));
        if package.end == Some(End::Fail) && !failed {
            let output = package.output.trim();
            let message = shorten(format!("its tests passed, but its process failed: {output}"));
            self.results.add_obstacle(Obstacle::new(
                self.environment.packages[at].import.clone(),
                Cause::Crash,
                message,
            ));
        }
    }

    /// Handles a package whose binary ended too early: tests that were running are rerun alone, and the rest without
    /// them.
    fn rerun_after_crash(&mut self, share: &Share<'_>, in_flight: &[&str], diagnosis: &Diagnosis<'_>) {
        let Share { at, package, is_alone, .. } = *share;
        let rest: Vec<String> =
            self.left(share).into_iter().filter(|name| !in_flight.contains(&name.as_str())).collect();
        match in_flight {
            [one] if is_alone || !package.side_by_side => self.settle_crashed(at, package, one, is_alone, diagnosis),
            several => self.calls.extend(several.iter().map(|name| GoTestCall::Tests(at, vec![(*name).to_owned()]))),
        }
        if !rest.is_empty() {
            self.calls.push(GoTestCall::Tests(at, rest));
        }
    }

    /// Handles a test that crashed its process or was running at the timeout.
    fn settle_crashed(
        &mut self,
        at: usize,
        package: &PackageRun,
        name: &str,
        is_alone: bool,
        diagnosis: &Diagnosis<'_>,
    ) {
        let output = package.output_of(name);
        let others: f64 = package.cases.values().map(|case| case.seconds).sum();
        let timed_out = is_timeout(&output);
        if timed_out && !is_alone && others > 1.0 {
            // Other tests may have used up its time.
            self.calls.push(GoTestCall::Tests(at, vec![name.to_owned()]));
            return;
        }
        let cause = cause_of_death(&output, &self.environment.root, diagnosis);
        self.settle(at, name, failure(cause, shorten(output)), 0);
    }

    /// Handles a process that ended before any test, between two tests, or without running our canary.
    fn report_incomplete(&mut self, at: usize, package: &PackageRun, left: &[String]) {
        let tests: Vec<TestId> = left.iter().filter_map(|name| Some(self.located(at, name)?.id())).collect();
        self.open[at].retain(|name| !left.contains(name));
        let output = package.output.trim();
        let message = shorten(format!("its process ended before its report was complete\n{output}"));
        let cause = if output.contains("panic: ") { Cause::LoadFailure } else { Cause::Crash };
        let subject = self.environment.packages[at].import.clone();
        self.results.add_obstacle(Obstacle { tests, ..Obstacle::new(subject, cause, message) });
    }

    fn unbuilt(&mut self, at: usize, output: &str, diagnosis: &Diagnosis<'_>, project: &Project) {
        let complaints = complaints(&project.root, output);
        let (cause, first) = diagnosis.build(&complaints);
        let complaint = complaints.get(first);
        let place = complaint.and_then(|it| Some(format!("{}:{}", it.path.as_ref()?, it.line)));
        let message = complaint.map(|it| it.message.clone()).unwrap_or_default();
        let package = &self.environment.packages[at];
        // A failed build blocks all tests of the package, selected or not.
        let tests = self.ids.in_folder(&package.folder).filter(|test| package.files.contains(&test.path));
        let tests: Vec<TestId> = tests.map(Located::id).collect();
        let subject = complaint.and_then(|it| it.path.clone()).unwrap_or_else(|| package.import.clone());
        self.open[at].clear();
        if self.results.obstacles().iter().all(|known| known.tests != tests) {
            let message = shorten(format!("{message}\n{}", output.trim()).trim().to_owned());
            self.results.add_obstacle(Obstacle { subject, cause, message, place, tests });
        }
    }

    fn read_part(
        &mut self,
        (at, name, part): (usize, &str, &str),
        run: &Run,
        diagnosis: &Diagnosis<'_>,
        project: &Project,
    ) {
        let Some(package) = run.packages.get(&self.environment.packages[at].import) else { return };
        if let Some(failed) = &package.failed_build {
            let output = run.builds.get(failed).map(String::as_str).unwrap_or_default();
            self.unbuilt(at, output, diagnosis, project);
            return;
        }
        let full = format!("{name}/{part}");
        let Some(located) = self.located(at, name) else { return };
        let (id, digest) = (TestId::native(&located.path, &full), located.item.digest);
        let (outcome, millis) = match package.cases.get(&full) {
            None => (failure(Cause::TargetNotFound, format!("`{name}` has no part `{part}`")), 0),
            Some(case) if case.end.is_some() => ended(package, &full),
            Some(_) => {
                let output = package.output_of(name);
                (failure(cause_of_death(&output, &self.environment.root, diagnosis), shorten(output)), 0)
            }
        };
        self.results.set(TestResult { id, outcome, duration_ms: millis, digest: Some(digest) });
    }

    fn located(&self, at: usize, name: &str) -> Option<&Located> {
        let package = &self.environment.packages[at];
        self.ids.named(name).find(|test| test.is_in(&package.folder) && package.files.contains(&test.path))
    }

    fn settle(&mut self, at: usize, name: &str, outcome: Outcome, millis: u64) {
        self.open[at].remove(name);
        let Some(located) = self.located(at, name) else { return };
        let (id, digest) = (located.id(), Some(located.item.digest));
        self.results.set(TestResult { id, outcome, duration_ms: millis, digest });
    }

    pub fn report(mut self, selection: &Selection, picks: bool) -> Report {
        let left: Vec<(usize, String)> = self
            .open
            .iter()
            .enumerate()
            .flat_map(|(at, names)| names.iter().map(move |name| (at, name.clone())))
            .collect();
        for (at, name) in left {
            let message = "its package ended too often before the test ran".to_owned();
            self.settle(at, &name, failure(Cause::Crash, message), 0);
        }
        match selection {
            Selection::All => {
                if picks {
                    self.results.retain(|result| result.outcome.cause() != Some(Cause::TargetNotFound));
                }
                if self.results.is_empty() && !self.ids.is_empty() {
                    self.results.add_obstacle(no_tests_found("go test", "`go test`"));
                }
            }
            Selection::Only(selected) => {
                let ids = &self.ids;
                self.results.fail_missing(selected, "`go test`", |obstacle, id| {
                    let whole = ids.get(id).map(|(test, _)| test.id());
                    obstacle.tests.contains(id) || whole.is_some_and(|whole| obstacle.tests.contains(&whole))
                });
            }
        }
        self.results.report()
    }
}

/// The outcome of a test that ended. It counts as skipped if it was skipped, or if it has subtests and none of them
/// ran.
fn ended(package: &PackageRun, name: &str) -> (Outcome, u64) {
    let millis = std::time::Duration::try_from_secs_f64(package.cases[name].seconds)
        .map_or(0, |time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
    let parts: Vec<Option<End>> =
        package.parts(name).filter(|(part, _)| *part != name).map(|(_, case)| case.end).collect();
    let output = || shorten(package.output_of(name));
    let outcome = match package.cases[name].end {
        Some(End::Pass) if parts.contains(&Some(End::Fail)) || parts.contains(&None) => {
            failure(Cause::UnknownOutput, "it passed, but one of its subtests did not".to_owned())
        }
        Some(End::Pass) if parts.contains(&Some(End::Skip)) && !parts.contains(&Some(End::Pass)) => {
            failure(Cause::Skipped, output())
        }
        Some(End::Pass) => Outcome::Pass,
        Some(End::Skip) => failure(Cause::Skipped, output()),
        Some(End::Fail) => failure(Cause::Assertion, output()),
        None => failure(Cause::Crash, output()),
    };
    (outcome, millis)
}

/// Why a test crashed its process.
fn cause_of_death(output: &str, root: &str, diagnosis: &Diagnosis<'_>) -> Cause {
    let is_panic = output.lines().any(|line| line.starts_with("panic: "));
    match () {
        () if is_timeout(output) => Cause::Timeout,
        () if is_panic && !output.contains("panic: unexpected call to os.Exit") => diagnosis.panic(root, output),
        () => Cause::Crash,
    }
}

fn is_timeout(output: &str) -> bool {
    output.contains("panic: test timed out after")
}
