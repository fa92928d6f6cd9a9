//! Lists and runs doctests, if a library may have any.

use std::collections::BTreeSet;

use tdd_core::command::Finished;
use tdd_core::report::{Cause, Obstacle, TestResult};
use tdd_core::test_id::TestId;

use super::{CargoSuite, Stage, obstacle, words_of};
use crate::language::{Job, Selection, Sources};
use crate::run::{could_not_run, failed};
use crate::rust::diagnose;
use crate::rust::doctest::{self, Doctests};
use crate::rust::items::items;
use crate::rust::owns;
use crate::rust::places::folder;

impl CargoSuite {
    pub(super) fn start_doctests(&mut self, sources: &dyn Sources) -> Vec<Job> {
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
        vec![self.job_with_tests(argv, "listing doctests", self.settings.build_timeout, sources)]
    }

    /// The packages whose library compiles and may have a doctest.
    fn documented_packages(&self, sources: &dyn Sources) -> BTreeSet<&str> {
        let tested = self.build.artifacts.iter().filter(|artifact| artifact.profile.test);
        let built = tested.map(|artifact| (artifact.package_id.as_str(), &artifact.target));
        // If only a library's unit tests lack a symbol, the library itself compiles.
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

    /// rustdoc accepts no filter with a space, so a selection is narrowed by item only.
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

    pub(super) fn read_doctest_list(&mut self, finished: &[Finished], sources: &dyn Sources) -> Vec<Job> {
        let Some(listed) = finished.first() else {
            return Vec::new();
        };
        let packages = self.documented_packages(sources).len();
        let doctests = match doctest::read_list(listed, packages, &self.places) {
            Ok(doctests) => doctests,
            Err(bad) => {
                let output = words_of(listed);
                let (cause, message) =
                    could_not_run(listed).unwrap_or((Cause::UnknownOutput, format!("{bad}\n{output}")));
                return self.stop("doctests", cause, message);
            }
        };
        if doctests.is_empty() {
            return Vec::new();
        }
        // The run compiles again what the list compiled.
        let deadline = self.settings.timeout + listed.duration * 2;
        let argv = self.doctest_argv(sources);
        self.stage = Stage::RunningDoctests(doctests);
        vec![self.job_with_tests(argv, "running doctests", deadline, sources)]
    }

    /// Reads the doctests' results. Doctests of a crate run in parallel and share standard error. If more than one
    /// failed, their messages cannot be told apart, so they run once more, one by one.
    pub(super) fn read_doctest_run(
        &mut self,
        listed: Doctests,
        finished: &[Finished],
        sources: &dyn Sources,
    ) -> Vec<Job> {
        let crates = diagnose::crate_names(&self.build, &self.places);
        let results = finished.first().and_then(|run| Some((run, doctest::read(run, &listed, &crates).ok()?)));
        let failed = results.as_ref().map_or(0, |(_, results)| {
            results.iter().filter(|result| result.outcome.cause().is_some_and(|cause| cause != Cause::Skipped)).count()
        });
        let Some((run, _)) = results.filter(|_| failed > 1) else { return self.keep_doctests(&listed, finished) };
        let mut argv = self.doctest_argv(sources);
        argv.push("--test-threads=1".to_owned());
        let deadline = self.settings.timeout + run.duration * 4;
        self.stage = Stage::RunningDoctestsAlone(listed);
        vec![self.job_with_tests(argv, "running doctests one by one", deadline, sources)]
    }

    pub(super) fn keep_doctests(&mut self, listed: &Doctests, finished: &[Finished]) -> Vec<Job> {
        let Some(run) = finished.first() else {
            return Vec::new();
        };
        let crates = diagnose::crate_names(&self.build, &self.places);
        let results = doctest::read(run, listed, &crates).unwrap_or_else(|bad| {
            let (cause, message) = could_not_run(run).unwrap_or((Cause::UnknownOutput, bad.to_string()));
            self.obstacles.push(obstacle("doctests", cause, message.clone()));
            let fail = |id: &TestId| failed(id.clone(), cause, message.clone(), 0);
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

/// Whether a source file in this folder has a documentation example.
fn may_hold_doctests(sources: &dyn Sources, folder: &str) -> bool {
    let inside = |path: &&String| owns(path) && (folder.is_empty() || path.starts_with(&format!("{folder}/")));
    sources
        .files()
        .iter()
        .filter(inside)
        .any(|path| sources.read(path).is_some_and(|text| items(path, &text).doc_tests_possible))
}
