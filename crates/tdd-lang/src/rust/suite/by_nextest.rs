//! Lists and runs tests with nextest, if the configured command uses it.

use std::collections::BTreeSet;

use tdd_core::command::Finished;
use tdd_core::report::{Cause, TestResult};
use tdd_core::test_id::TestId;

use super::{CargoSuite, Stage, obstacle, place};
use crate::language::{Job, Selection, Sources};
use crate::run::could_not_run;
use crate::rust::ids::Ids;
use crate::rust::nextest;
use crate::rust::test_command::Runner;

impl CargoSuite {
    pub(super) fn read_nextest_list(&mut self, finished: &[Finished], sources: &dyn Sources) -> Vec<Job> {
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
        let mut job = self.job_with_tests(argv, "running tests with nextest", self.settings.timeout, sources);
        job.command = job.command.with_env("NEXTEST_EXPERIMENTAL_LIBTEST_JSON", "1");
        self.stage = Stage::RunningNextest(listing);
        vec![job]
    }

    pub(super) fn read_nextest_run(&mut self, listing: &nextest::Listing, finished: &[Finished]) -> Vec<Job> {
        let Some(run) = finished.first() else {
            return self.stop("cargo nextest", Cause::UnknownOutput, "it was not run".to_owned());
        };
        let (ended, trouble) = nextest::read_run(run, listing);
        for ((root, name), ended) in ended {
            let id = self.id(&root, &name);
            self.add(TestResult::new(id, ended.outcome, ended.duration_ms));
        }
        self.obstacles.extend(trouble.map(|(cause, message)| obstacle("cargo nextest", cause, message)));
        Vec::new()
    }
}
