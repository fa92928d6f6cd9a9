//! Runs what an attempt must pass, in the order that costs least, and has it judged.

use tdd_core::change::Change;
use tdd_core::cycle::{RedTest, Turn};
use tdd_core::judge::{self, Baseline, Ruling, Seen};
use tdd_core::report::{Cause, Report};
use tdd_core::rule::Rule;
use tdd_core::seam::RunnerOutcome;
use tdd_core::test_id::TestId;
use tdd_exec::git::Look;

use super::stand::Stand;
use super::{Machine, hands};
use crate::error::CliError;
use crate::{project, verification};

/// What was seen of an attempt.
#[derive(Debug)]
pub struct Verified {
    /// What the judge says.
    pub ruling: Ruling,
    /// What it did.
    pub change: Change,
    /// What all tests said.
    pub report: Report,
    /// What the check said, if it came to that.
    pub check: Option<RunnerOutcome>,
}

impl Machine<'_> {
    /// Verifies what is on the disk. `paths` are the step's files; a lock file may join them. The look was begun
    /// before they were written.
    pub fn verify(
        &mut self,
        stand: &Stand,
        turn: &Turn,
        look: Option<Look>,
        paths: &mut Vec<String>,
    ) -> Result<Verified, CliError> {
        self.trial.take_tree_since(look, paths)?;
        // What is left to do if it holds.
        self.trial.repo.write_ahead(&self.trial.tree, &hands::git_paths(paths)?);
        let run = self.trial.run_recorded(paths)?;
        let change = self.trial.change()?;
        let change = if matches!(turn, Turn::Refactor { .. }) { self.trial.refactored(change)? } else { change };
        let baseline = judge::baseline_of(&stand.report);
        let suspects = suspects(&run.report, &baseline);
        let report = self.trial.run_again(&run.report, &suspects)?;
        let excepted = self.trial.session().standing().exceptions(hands::now_ms());
        let seen = Seen {
            change: &change,
            report: &report,
            trees: (&self.trial.tree, &run.tree_after),
            baseline: Some(&baseline),
            gate: &self.trial.gate(&change, 0),
            excepted: &excepted,
        };
        let ruling = self.trial.complete(self.judge(turn, &seen))?;
        let (ruling, check) = self.checked(turn, ruling, &excepted)?;
        let ruling = self.counter_proven(turn, ruling, &change)?;
        let ruling = self.trial.unsensing(ruling, &change)?;
        Ok(Verified { ruling, change, report, check })
    }

    fn judge(&self, turn: &Turn, seen: &Seen<'_>) -> Ruling {
        match turn {
            Turn::Red { .. } => {
                let targets: Vec<&TestId> = seen.change.new_demands().map(|test| &test.id).collect();
                let refused = |ruling: &Ruling| matches!(ruling, Ruling::Refused(_));
                let mut rulings = targets.iter().map(|target| judge::judge_red(seen, target, &targets));
                match rulings.next() {
                    Some(first) if !refused(&first) => rulings.find(refused).unwrap_or(first),
                    Some(first) => first,
                    None => judge::no_new_test(seen),
                }
            }
            Turn::Green { tests, .. } => {
                let (targets, was_red) = claimed(tests);
                judge::judge_green(seen, &targets, &was_red)
            }
            Turn::Rethink { test, mend: true } => judge::judge_mend(seen, test.id()),
            Turn::Rethink { test, mend: false } => {
                let known = self.trial.session().tests().get(test.id());
                judge::judge_rethink(seen, test.id(), known.is_some_and(|known| known.was_green))
            }
            Turn::Refactor { .. } => judge::judge_refactor(seen),
            Turn::Task { .. } => judge::judge_task(seen),
        }
    }

    /// The check must pass on what an implementor or a refactorer leaves.
    fn checked(
        &self,
        turn: &Turn,
        ruling: Ruling,
        excepted: &[Rule],
    ) -> Result<(Ruling, Option<RunnerOutcome>), CliError> {
        let due = match turn {
            Turn::Green { .. } | Turn::Refactor { .. } | Turn::Task { .. } => matches!(ruling, Ruling::Holds(_)),
            Turn::Red { .. } | Turn::Rethink { .. } => false,
        };
        if !due || excepted.contains(&Rule::CheckPasses) {
            return Ok((ruling, None));
        }
        if let Some(argv) = self.verify_command(turn) {
            let (refusal, outcome) = verification::by_command(&self.trial, argv)?;
            return Ok((refusal.map_or(ruling, Ruling::Refused), Some(outcome)));
        }
        if matches!(turn, Turn::Green { .. }) {
            // What the counter-proof will ask for.
            self.trial.look_ahead();
        }
        let outcome = self.trial.check()?;
        let refusal = judge::judge_check(outcome.ok, &self.trial.check_command(), &outcome.stderr);
        Ok((refusal.map_or(ruling, Ruling::Refused), Some(outcome)))
    }

    /// What a task in refactor mode must pass in the place of the check.
    fn verify_command(&self, turn: &Turn) -> Option<Vec<String>> {
        self.trial.loaded.config.ci.verify_cmd.clone().filter(|_| matches!(turn, Turn::Task { .. }))
    }

    /// What a turn is checked by, as one line.
    pub fn checked_by(&self, turn: &Turn) -> String {
        self.verify_command(turn).map_or_else(|| self.trial.check_command(), project::command_line)
    }

    fn counter_proven(&self, turn: &Turn, ruling: Ruling, change: &Change) -> Result<Ruling, CliError> {
        let Turn::Green { tests, .. } = turn else { return Ok(ruling) };
        let (targets, was_red) = claimed(tests);
        self.trial.counter_proven(ruling, &targets, change, &was_red)
    }
}

/// The tests that a green is for, and why each was red.
fn claimed(tests: &[RedTest]) -> (Vec<&TestId>, Baseline) {
    let was_red = tests.iter().map(|test| (test.id().clone(), Some(test.cause())));
    (tests.iter().map(RedTest::id).collect(), was_red.collect())
}

/// Tests that the attempt is not about, that passed before, and that ran and failed now.
fn suspects(report: &Report, baseline: &Baseline) -> Vec<TestId> {
    let failed = report.results().filter(|result| result.outcome.cause() == Some(Cause::Assertion));
    let passed_before = failed.filter(|result| baseline.get(&result.id) == Some(&None));
    passed_before.map(|result| result.id.clone()).collect()
}
