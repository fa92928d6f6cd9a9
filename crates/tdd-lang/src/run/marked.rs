//! Reports tests that are marked as skipped as `skipped`, even if a missing symbol keeps the tests beside them from
//! running.

use std::collections::{BTreeMap, BTreeSet};

use tdd_core::command::Finished;
use tdd_core::report::{Cause, Obstacle, Report, TestResult};
use tdd_core::test_id::TestId;

use super::failed;
use crate::item::TestItem;
use crate::language::{Language, Next, Project, Sources, Suite};

/// A test run whose report says `skipped` for every test that is marked so, even if its target does not build because
/// of another test.
pub(crate) struct Marked<'l> {
    /// The wrapped run.
    pub run: Box<dyn Suite + 'l>,
    /// Reads the marks.
    pub language: &'l dyn Language,
    /// The project of the tests.
    pub project: Project,
}

impl Suite for Marked<'_> {
    fn next(&mut self, sources: &dyn Sources) -> Next {
        match self.run.next(sources) {
            Next::Run(jobs) => Next::Run(jobs),
            Next::Done(report) => Next::Done(self.told_apart(report, sources)),
        }
    }

    fn feed(&mut self, finished: Vec<Finished>) {
        self.run.feed(finished);
    }
}

impl Marked<'_> {
    fn told_apart(&self, report: Report, sources: &dyn Sources) -> Report {
        if !report.obstacles().iter().any(|obstacle| obstacle.cause == Cause::MissingSymbol) {
            return report;
        }
        let mut marked: BTreeMap<TestId, TestItem> = BTreeMap::new();
        let paths: BTreeSet<&str> =
            report.obstacles().iter().flat_map(|obstacle| &obstacle.tests).filter_map(TestId::path).collect();
        for path in paths {
            let items = sources.read(path).map(|source| self.language.items(path, &source).tests).unwrap_or_default();
            let ids = self.language.tests_in(&self.project, path, sources);
            marked.extend(ids.into_iter().zip(items).filter(|(_, item)| item.never_runs()));
        }
        let mut results: Vec<TestResult> = report.results().cloned().collect();
        let obstacles = report.obstacles().iter().cloned().map(|obstacle| {
            let (aside, kept): (Vec<TestId>, Vec<TestId>) =
                obstacle.tests.iter().cloned().partition(|id| marked.contains_key(id));
            // If all affected tests are marked, the obstacle is all that can be reported.
            if obstacle.cause != Cause::MissingSymbol || kept.is_empty() {
                return obstacle;
            }
            for id in aside.into_iter().filter(|id| report.get(id).is_none()) {
                let item = &marked[&id];
                let skipped = failed(id, Cause::Skipped, item.skipped().unwrap_or_default(), 0);
                results.push(TestResult { digest: Some(item.digest), ..skipped });
            }
            Obstacle { tests: kept, ..obstacle }
        });
        let obstacles = obstacles.collect::<Vec<_>>();
        Report::new(results, obstacles)
    }
}
