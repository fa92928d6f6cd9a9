//! Keeps an attempt: commits it, and records the evidence for it in the ledger.

use super::starting_point::StartingPoint;
use super::{Fallible, Machine, workshop_error};
use crate::account;
use crate::change::{TestChange, TestFacts};
use crate::commit::{Mode, StepMessage};
use crate::cycle::Turn;
use crate::digest::Digest;
use crate::event::{Committed, Event, RefactorEnd, Status, StepOutcome, TestRevised, TestRun, TestUpheld};
use crate::judge::Verdict;
use crate::law::Kind;
use crate::pipeline::Judged;
use crate::report::{Cause, Report};
use crate::seam::{Agent, NewCommit, Reporter, StepResult, StepWorkshop, Vcs};
use crate::test_id::TestId;
use crate::words::{self, Words};

impl<B: StepWorkshop, A: Agent, R: Reporter> Machine<B, A, R> {
    /// Commits exactly the tree that was verified.
    pub(super) fn keep(
        &mut self,
        start: &StartingPoint,
        turn: &Turn,
        result: &StepResult,
        judged: &Judged,
        kind: Kind,
    ) -> Fallible<(), B, A> {
        let about = about(turn, judged);
        let message = self.message(start, turn, result, judged, kind, about.as_ref());
        let evidence = self.evidence(turn, result, judged);
        self.record(&evidence)?;
        let (tree, paths) = (self.workshop.tree().clone(), self.workshop.taken());
        let commit = NewCommit {
            onto: &start.head,
            tree: &tree,
            paths: &paths,
            message: &message,
            author: &self.workshop.config().commit,
            now_ms: self.workshop.now_ms(),
        };
        let commit = self.workshop.vcs().commit(&commit).map_err(workshop_error)?;
        self.note_commit(&commit, &message);
        let subject = message.lines().next().unwrap_or_default().to_owned();
        self.record(&[Event::Committed(Committed { commit, tree, subject, files: paths })])?;
        self.end_step(start, StepOutcome::Kept)
    }

    fn message(
        &self,
        start: &StartingPoint,
        turn: &Turn,
        result: &StepResult,
        judged: &Judged,
        kind: Kind,
        about: Option<&TestId>,
    ) -> String {
        let Words { kind: commit_type, scope, summary, rationale } = words::words(turn.phase(), result, about);
        let check = judged.check.as_ref().map(|check| check.command.as_str());
        let held = judged.worst().cloned().unwrap_or_else(|| Verdict::Refused(crate::judge::no_new_test()));
        StepMessage {
            kind: commit_type,
            scope: scope.as_deref(),
            summary: &summary,
            rationale: &rationale,
            role: turn.role(),
            step: start.step,
            goal: &self.goal(),
            diff_summary: &account::diff_summary(&judged.change),
            verification: &account::verification(&self.workshop.test_command(), &judged.report, &held, check),
            phase: kind.phase().unwrap_or_else(|| turn.phase()),
            test: about,
            mark: self.mandate.mark.as_deref(),
            mode: mode(kind),
            overridden: &judged.overridden,
        }
        .build()
    }

    fn goal(&self) -> String {
        self.mandate.goal.clone().unwrap_or_else(|| account::goal(self.brief()))
    }

    /// The events to record before the commit: renamed tests, a revised or upheld test, the end of refactor mode, and
    /// reds that could not be run.
    fn evidence(&self, turn: &Turn, result: &StepResult, judged: &Judged) -> Vec<Event> {
        let mut events = Vec::new();
        events.extend(judged.change.renames().map(Event::TestRenamed));
        if let Turn::Rethink { test, mend } = turn {
            let mended = "the complaint of the check is fixed";
            let (test_id, spec_source) = (test.id().clone(), result.spec_source.clone());
            let reason = if *mend { mended.to_owned() } else { result.reason.clone() };
            // The session already holds the revised test, so the digest before the change comes from the base.
            let (before, after) = (self.workshop.digest_before(&test_id), self.workshop.test_digest(&test_id));
            // A mend may have changed only code beside the test.
            events.push(if before == after {
                Event::TestUpheld(TestUpheld { test_id, reason, spec_source })
            } else {
                Event::TestRevised(TestRevised { test_id, before, after, reason, spec_source })
            });
        }
        if matches!(turn, Turn::Task { .. }) {
            let verified_by = Some(self.workshop.check_command(self.kind(turn)));
            let tree = self.workshop.tree().clone();
            events.push(Event::RefactorEnd(RefactorEnd { kept: true, tree, verified_by, kept_as: None }));
        }
        if matches!(turn, Turn::Red { .. } | Turn::Rethink { .. }) {
            let reds = judged.change.tests.iter().filter_map(TestChange::after);
            let unrun = reds.filter(|test| judged.report.get(&test.id).is_none());
            let digest = |test: &TestFacts| self.workshop.test_digest(&test.id).unwrap_or(test.digest);
            let run = |test: &TestFacts| self.missing_symbol(&judged.report, &test.id, digest(test));
            events.extend(unrun.map(run).map(Event::TestRun));
        }
        events
    }

    /// The test run of a red that a missing symbol kept from running, on the judged tree.
    pub(super) fn missing_symbol(&self, report: &Report, test: &TestId, digest: Digest) -> TestRun {
        let obstacle = report.obstacles().iter().find(|obstacle| obstacle.tests.contains(test));
        TestRun {
            test_id: test.clone(),
            test_id_source: test.source(),
            status: Status::Fail,
            command: self.workshop.test_command(),
            duration_ms: 0,
            tree: self.workshop.tree().clone(),
            test_digest: Some(digest),
            cause: Some(Cause::MissingSymbol),
            message: obstacle.map(|obstacle| obstacle.message.chars().take(600).collect()),
        }
    }
}

/// The `TDD-Mode` trailer of a kind that is judged differently from others of its phase.
fn mode(kind: Kind) -> Option<Mode> {
    match kind {
        Kind::Task => Some(Mode::Refactor),
        Kind::Execute => Some(Mode::Execute),
        Kind::Mend => Some(Mode::Mend),
        Kind::Characterization => Some(Mode::Characterization),
        Kind::RefactorMode => Some(Mode::RefactorMode),
        Kind::Red
        | Kind::Green
        | Kind::NewTests
        | Kind::Rethink
        | Kind::Refactor
        | Kind::OneTest
        | Kind::Unblock
        | Kind::Scaffold
        | Kind::Unclaimed => None,
    }
}

/// The test that the commit is about.
fn about(turn: &Turn, judged: &Judged) -> Option<TestId> {
    let held = match judged.worst() {
        Some(Verdict::Holds(holding)) => holding.test.clone(),
        Some(Verdict::Refused(_)) | None => None,
    };
    held.or_else(|| turn.targets().first().cloned())
}
