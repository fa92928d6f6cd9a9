//! Lists and runs test binaries directly.

use std::collections::BTreeSet;

use tdd_core::command::{Exit, Finished};
use tdd_core::report::{Cause, TestResult};
use tdd_core::test_id::TestId;

use super::binary::{Binary, Surroundings};
use super::runs::{Runs, kept_args};
use super::{CargoSuite, Stage, obstacle, of_target, place};
use crate::language::{Job, Selection, Sources};
use crate::rust::ids::{BadAnnotation, Ids};
use crate::rust::libtest::{self, MAX_MESSAGE, shorten};
use crate::rust::modules::ParsedFiles;
use crate::rust::nextest;
use crate::rust::test_command::Runner;

impl CargoSuite {
    pub(super) fn start_lists(&mut self, libraries: String, sources: &dyn Sources) -> Vec<Job> {
        let surroundings = Surroundings::new(&self.build, &self.places, sources, libraries);
        let wanted = self.build.artifacts.iter().filter(|artifact| self.command.wants(&artifact.target));
        self.binaries = wanted.filter_map(|artifact| Binary::new(artifact, &self.places, &surroundings)).collect();
        // Cargo reports them in the order in which they were built.
        self.binaries.sort_by(|one, other| one.root.cmp(&other.root));
        if self.binaries.is_empty() {
            return self.start_doctests(sources);
        }
        if let Runner::Nextest { choose, .. } = &self.command.runner {
            let argv = nextest::list_argv(&self.command, choose);
            self.stage = Stage::ListingForNextest;
            return vec![self.job_with_tests(argv, "listing tests", self.settings.build_timeout, sources)];
        }
        self.stage = Stage::Listing;
        let filters = self.filters();
        self.binaries.iter().map(|binary| binary.list(&filters, self.settings.timeout)).collect()
    }

    /// The configured command's arguments that choose tests; a selection replaces them.
    pub(super) fn filters(&self) -> Vec<String> {
        match self.selection {
            Selection::All => self.command.binary_args.iter().chain(&self.command.filters).cloned().collect(),
            Selection::Only(_) => Vec::new(),
        }
    }

    pub(super) fn read_lists(&mut self, finished: &[Finished], sources: &dyn Sources) -> Vec<Job> {
        let mut files = ParsedFiles::new(sources);
        for (binary, listed) in self.binaries.iter_mut().zip(finished) {
            match read_one_list(listed) {
                Ok(names) => binary.listed = names,
                Err((cause, message)) => {
                    let unlisted = obstacle(&binary.root, cause, message);
                    self.obstacles.push(of_target(unlisted, &mut files));
                }
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

    /// Stops the run: tests with ambiguous ids cannot be run.
    pub(super) fn refuse(&mut self, bad: &BadAnnotation) -> Vec<Job> {
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
                runs.some(index, &names, &self.args_of_some());
            }
        }
    }

    /// The binaries' arguments that do not choose tests by name. A selected test must run even if `--ignored` is
    /// configured.
    fn args_of_some(&self) -> Vec<String> {
        let kept = kept_args(&self.command.binary_args).into_iter();
        kept.map(|word| if word == "--ignored" { "--include-ignored".to_owned() } else { word }).collect()
    }

    pub(super) fn read_runs(&mut self, mut runs: Runs, finished: &[Finished], sources: &dyn Sources) -> Vec<Job> {
        runs.read(finished);
        self.continue_runs(runs, sources)
    }

    fn continue_runs(&mut self, mut runs: Runs, sources: &dyn Sources) -> Vec<Job> {
        let jobs = runs.jobs(&self.binaries);
        if jobs.is_empty() {
            let (outcomes, troubles) = runs.end();
            for ((index, name), ended) in outcomes {
                let id = self.id(&self.binaries[index].root, &name);
                self.add(TestResult::new(id, ended.outcome, ended.duration_ms));
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

/// The tests that one binary lists, or why it lists none.
fn read_one_list(listed: &Finished) -> Result<Vec<String>, (Cause, String)> {
    let stderr = || shorten(listed.stderr.text().trim(), MAX_MESSAGE);
    match &listed.exit {
        Exit::Passed => libtest::read_list(&listed.stdout.text()).ok_or_else(|| {
            let message = "it does not list its tests; a target with `harness = false` cannot be read test by test";
            (Cause::UnknownOutput, message.to_owned())
        }),
        Exit::TimedOut => Err((Cause::Timeout, "it did not list its tests in time".to_owned())),
        Exit::Failed(_) | Exit::Signalled(_) => {
            Err((Cause::Crash, format!("{} while its tests were listed\n{}", listed.exit, stderr())))
        }
        Exit::NotStarted(_) | Exit::Interrupted => Err((Cause::UnknownOutput, listed.exit.to_string())),
    }
}
