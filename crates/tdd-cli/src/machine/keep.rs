//! Keeps what an attempt made: the commit, and all that the ledger must know about it.

use tdd_agents::plan::EditPlan;
use tdd_agents::words::{self, Words};
use tdd_core::account;
use tdd_core::change::{TestChange, TestFacts};
use tdd_core::commit::{Mode, StepMessage};
use tdd_core::cycle::Turn;
use tdd_core::digest::Digest;
use tdd_core::event::{Committed, Event, RefactorEnd, Status, StepOutcome, TestRevised, TestRun};
use tdd_core::judge::Ruling;
use tdd_core::report::{Cause, Report};
use tdd_core::seam::Vcs;
use tdd_core::test_id::TestId;
use tdd_exec::clock::WallClock;
use tdd_exec::vcs::GitVcs;

use super::stand::Stand;
use super::verify::Verified;
use super::{Machine, hands};
use crate::error::CliError;

impl Machine<'_> {
    /// Commits exactly what was verified.
    pub fn keep(
        &mut self,
        stand: &Stand,
        turn: &Turn,
        plan: &EditPlan,
        verified: &Verified,
        paths: &[String],
    ) -> Result<(), CliError> {
        let about = about(turn, verified);
        let message = self.message(stand, turn, plan, verified, about.as_ref());
        let evidence = self.evidence(turn, plan, verified);
        self.record(&evidence)?;
        let vcs = GitVcs { repo: &self.trial.repo, author: &self.trial.loaded.config.commit, clock: WallClock };
        let commit = vcs.commit(&stand.head, &self.trial.tree, &hands::git_paths(paths)?, &message)?;
        self.note_commit(&commit);
        self.record(&[Event::Committed(Committed {
            commit,
            tree: self.trial.tree.clone(),
            subject: message.lines().next().unwrap_or_default().to_owned(),
            files: paths.to_vec(),
        })])?;
        self.end_step(stand, StepOutcome::Kept)
    }

    fn message(
        &self,
        stand: &Stand,
        turn: &Turn,
        plan: &EditPlan,
        verified: &Verified,
        about: Option<&TestId>,
    ) -> String {
        let phase = turn.phase();
        let Words { kind, scope, summary, rationale } = words::words(phase, &plan.finish(), about);
        let check = verified.check.as_ref().map(|_| self.checked_by(turn));
        StepMessage {
            kind,
            scope: scope.as_deref(),
            summary: &summary,
            rationale: &rationale,
            role: turn.role(),
            step: stand.step,
            goal: account::goal(self.brief()),
            diff_summary: &account::diff_summary(&verified.change),
            verification: &account::verification(
                &self.trial.command(),
                &verified.report,
                &verified.ruling,
                check.as_deref(),
            ),
            phase,
            test: about,
            mark: self.mandate.mark.as_deref(),
            mode: mode(turn),
        }
        .build()
    }

    /// What the ledger must know before the commit: a red that could not be run, tests under new names, a
    /// test that was revised, and that refactor mode is over.
    fn evidence(&self, turn: &Turn, plan: &EditPlan, verified: &Verified) -> Vec<Event> {
        let mut events = Vec::new();
        events.extend(verified.change.renames().map(Event::TestRenamed));
        if let Turn::Rethink { test, mend } = turn {
            let mended = "what was complained of is mended";
            events.push(Event::TestRevised(TestRevised {
                test_id: test.id().clone(),
                // The session has seen the revised one by now.
                before: self.trial.digest_in(&self.trial.base, test.id()),
                after: self.trial.test_digest(test.id()),
                reason: if *mend { mended.to_owned() } else { plan.reason.clone() },
                spec_source: plan.spec_source.clone(),
            }));
        }
        if matches!(turn, Turn::Task { .. }) {
            let verified_by = Some(self.checked_by(turn));
            let tree = self.trial.tree.clone();
            events.push(Event::RefactorEnd(RefactorEnd { kept: true, tree, verified_by, kept_as: None }));
        }
        if matches!(turn, Turn::Red { .. } | Turn::Rethink { .. }) {
            let reds = verified.change.tests.iter().filter_map(TestChange::after);
            let unrun = reds.filter(|test| verified.report.get(&test.id).is_none());
            let digest = |test: &TestFacts| self.trial.test_digest(&test.id).unwrap_or(test.digest);
            let run = |test: &TestFacts| self.missing_symbol(&verified.report, &test.id, digest(test));
            events.extend(unrun.map(run).map(Event::TestRun));
        }
        events
    }

    /// The record of a red that a missing symbol kept from being run, on the tree that is judged.
    pub fn missing_symbol(&self, report: &Report, test: &TestId, digest: Digest) -> TestRun {
        let obstacle = report.obstacles().iter().find(|obstacle| obstacle.tests.contains(test));
        TestRun {
            test_id: test.clone(),
            test_id_source: test.source(),
            status: Status::Fail,
            command: self.trial.command(),
            duration_ms: 0,
            tree: self.trial.tree.clone(),
            test_digest: Some(digest),
            cause: Some(Cause::MissingSymbol),
            message: obstacle.map(|obstacle| obstacle.message.chars().take(600).collect()),
        }
    }
}

fn mode(turn: &Turn) -> Option<Mode> {
    match turn {
        Turn::Task { .. } => Some(Mode::Refactor),
        Turn::Rethink { mend: true, .. } => Some(Mode::Mend),
        Turn::Rethink { mend: false, .. } | Turn::Red { .. } | Turn::Green { .. } | Turn::Refactor { .. } => None,
    }
}

/// The test that the step is about.
fn about(turn: &Turn, verified: &Verified) -> Option<TestId> {
    let held = match &verified.ruling {
        Ruling::Holds(holding) => holding.test.clone(),
        Ruling::Refused(_) => None,
    };
    held.or_else(|| turn.targets().first().cloned())
}
