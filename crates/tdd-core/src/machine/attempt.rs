//! One attempt: the agent's edits pass the gate, are written and judged, and then committed or undone.

use std::collections::BTreeMap;

use super::arrival::{ASK_WHETHER_DONE, is_arrival};
use super::log::Fate;
use super::progress::Claim;
use super::starting_point::StartingPoint;
use super::turn_host::TurnHost;
use super::{End, Fallible, Machine, MachineError};
use crate::cycle::{RedTest, Turn};
use crate::digest::Digest;
use crate::event::{
    EditApplied, EditClaim, EditRefused, Event, Repair, Resynced, Reverted, StepOutcome, Stuck, TestUpheld,
};
use crate::gate::{self, Action, Decision, Edit, Files, Permit, Request, Source, Speaker};
use crate::machine_state::Step;
use crate::pipeline::{self, Judged};
use crate::program;
use crate::refactor_hints;
use crate::report::{Cause, Outcome as TestOutcome, Report};
use crate::requirements::Progress;
use crate::rule::{Refusal, Rule};
use crate::seam::{
    Agent, Feedback, OutOfTime, Reply, RepoState, Reporter, Setback, StepContext, StepResult, StepWorkshop, Target,
    Vcs, Written,
};
use crate::signature::signature;
use crate::test_id::TestId;

/// The result of an attempt.
#[derive(Debug)]
pub(super) enum Outcome {
    /// The run goes on.
    Continue,
    /// The run is over.
    End(End),
}

/// Repeats of the same failure before the conversation starts over.
const STUCK_AFTER: u32 = 2;
/// Consecutive invalid reds before the tester is asked for another target.
const MAX_INVALID_REDS: u32 = 3;

/// Most bytes of the last commit's diff in a prompt.
const MAX_DIFF: usize = 20_000;

/// The result of asking a role.
enum Asked {
    Replied(Reply),
    OutOfTime(OutOfTime),
}

/// The gate's answer to a result.
enum Passed {
    /// These files may be written.
    Permit(Files, Permit),
    /// The edits change nothing.
    Nothing,
    /// The gate refused.
    Refused(Refusal),
}

/// Why an attempt failed, for the ledger and the agent.
pub(super) struct Failed {
    refusal: Option<Refusal>,
    reason: String,
    signature: Digest,
    spent: bool,
    in_tests: bool,
    /// Tests that passed before and fail now.
    others: Vec<TestId>,
    /// `None` if the agent may not see it.
    report: Option<Report>,
    output: Option<(String, String)>,
    file: Option<(String, String)>,
}

impl Failed {
    pub(super) fn refused(refusal: Refusal) -> Self {
        Self {
            reason: format!("{}: {}", refusal.rule, refusal.reason),
            signature: signature([], &refusal.to_string()),
            refusal: Some(refusal),
            ..Self::unreadable("")
        }
    }

    fn unreadable(why: &str) -> Self {
        let reason = format!("the answer could not be used: {why}");
        Self {
            signature: signature([], &reason),
            refusal: None,
            reason,
            spent: true,
            in_tests: false,
            others: Vec::new(),
            report: None,
            output: None,
            file: None,
        }
    }

    /// Without `gate.auto_test` the agent sees the verdict but not the test results.
    fn judged(refusal: Refusal, judged: &Judged, before: &Report, auto_test: bool) -> Self {
        let failed_check = judged.check.as_ref().filter(|check| !check.outcome.ok);
        let output = failed_check
            .map(|check| (check.command.clone(), format!("{}{}", check.outcome.stdout, check.outcome.stderr)));
        let details = output.as_ref().map_or_else(|| messages(&judged.report, &refusal), |(_, text)| text.clone());
        let failing: Vec<&TestId> = failing(&judged.report);
        let passed = |id: &&&TestId| before.get(id).is_some_and(|result| result.outcome == TestOutcome::Pass);
        let others = failing.iter().filter(passed).map(|id| (*id).clone()).collect();
        Self {
            reason: format!("{}: {}", refusal.rule, refusal.reason),
            signature: signature(failing, &format!("{}\n{details}", refusal.rule)),
            refusal: Some(refusal),
            others,
            report: auto_test.then(|| judged.report.clone()),
            output,
            ..Self::unreadable("")
        }
    }

    /// The same, but the attempt does not count.
    pub(super) fn unspent(self) -> Self {
        Self { spent: false, ..self }
    }

    pub(super) fn setback(&self) -> Setback<'_> {
        Setback {
            refusal: self.refusal.as_ref(),
            report: self.report.as_ref(),
            output: self.output.as_ref().map(|(command, text)| (command.as_str(), text.as_str())),
            file: self.file.as_ref().map(|(path, text)| (path.as_str(), text.as_str())),
        }
    }
}

impl<B: StepWorkshop, A: Agent, R: Reporter> Machine<B, A, R> {
    /// Makes one attempt at a turn.
    pub(super) fn attempt(&mut self, start: &StartingPoint, turn: &Turn) -> Fallible<Outcome, B, A> {
        let result = match self.ask(start, turn)? {
            Asked::Replied(Reply::Result(result)) => result,
            Asked::Replied(Reply::Unreadable(why)) => return self.failed(start, turn, Failed::unreadable(&why)),
            Asked::OutOfTime(OutOfTime { reason, next }) => {
                return Ok(Outcome::End(End::OutOfTime { reason, next }));
            }
        };
        self.note_answer(&result);
        if self.head_moved(start)? {
            return self.take_up_moved_head(start, turn);
        }
        if result.edits.is_empty() {
            return self.without_edits(start, turn, &result);
        }
        let (files, permit) = match self.pass_gate(turn, &result)? {
            Passed::Permit(files, permit) => (files, permit),
            Passed::Nothing => return self.without_edits(start, turn, &result),
            Passed::Refused(refusal) => return self.refused(start, turn, &result, refusal),
        };
        let applied = EditApplied { step: start.step, attempt: turn.attempt(), paths: files.keys().cloned().collect() };
        let paths = applied.paths.clone();
        self.record(&[Event::EditApplied(applied)])?;
        match self.workshop.write(permit, &files).map_err(MachineError::Work)? {
            Written::Done => {}
            Written::Refused(refusal) => return self.failed(start, turn, Failed::refused(refusal)),
            Written::Interfered(theirs) => return self.interfered(start, turn, &theirs),
        }
        self.workshop.take(&paths).map_err(MachineError::Work)?;
        let judged = self.judge(turn)?;
        self.note_judged(&judged);
        if self.head_moved(start)? {
            return self.take_up_moved_head(start, turn);
        }
        match judged.refusal().cloned() {
            None => {
                self.keep(start, turn, &result, &judged, self.kind(turn))?;
                Ok(Outcome::Continue)
            }
            Some(refusal) if is_arrival(turn, &refusal) => self.arrived(start, turn, &result, &refusal),
            Some(refusal) if refusal.cause == Some(Cause::RunnerMissing) => {
                let why = refusal.reason.clone();
                self.undo(start, turn, &Failed::refused(refusal).unspent())?;
                Err(MachineError::CannotTest { what: self.workshop.test_command(), why })
            }
            Some(refusal) => {
                let tell = self.workshop.gate(&judged.change, 0).auto_test;
                let failed = Failed::judged(refusal.clone(), &judged, &start.report, tell);
                if let Some(complaint) = self.complaint_about_tests(turn, &refusal, &judged)? {
                    self.complaint = Some(complaint);
                    let failed = Failed { spent: false, in_tests: true, ..failed };
                    self.undo(start, turn, &failed)?;
                    self.tell(turn, &Feedback::Failed(failed.setback()));
                    return Ok(Outcome::Continue);
                }
                self.failed(start, turn, failed)
            }
        }
    }

    /// Whether HEAD moved since the attempt began (commit, amend, switch or reset): then the attempt is about another
    /// tree.
    fn head_moved(&self, start: &StartingPoint) -> Fallible<bool, B, A> {
        Ok(self.workshop.vcs().head().map_err(super::workshop_error)? != start.head)
    }

    /// Undoes the attempt and ends the run; the next run starts from the new HEAD.
    fn take_up_moved_head(&mut self, start: &StartingPoint, turn: &Turn) -> Fallible<Outcome, B, A> {
        let reason = "HEAD moved during the attempt, so nothing of it is kept";
        let failed = Failed { spent: false, reason: reason.to_owned(), ..Failed::unreadable("") };
        self.undo(start, turn, &failed)?;
        self.end_mode()?;
        let head = self.workshop.vcs().head().map_err(super::workshop_error)?;
        let step = self.position(&head)?.step;
        let resynced = Resynced { head: head.commit, step, reason: reason.to_owned() };
        self.record(&[Event::Resynced(resynced)])?;
        let next = "run the command again: it continues from the new HEAD";
        Ok(Outcome::End(End::Stopped { reason: reason.to_owned(), next: next.to_owned() }))
    }

    /// Asks the role to plan and to edit.
    fn ask(&mut self, start: &StartingPoint, turn: &Turn) -> Fallible<Asked, B, A> {
        self.open_log(start, turn);
        let context = self.context(start, turn)?;
        let Some(mut agent) = self.agents.remove(&turn.role()) else {
            return Err(MachineError::NoAgent(turn.role()));
        };
        let mut host = TurnHost::new(self, start, turn);
        let answer = agent.plan(&context, &mut host).and_then(|()| agent.edit(&context, &mut host));
        let failure = host.failure.take();
        self.agents.insert(turn.role(), agent);
        match (answer, failure) {
            (_, Some(failure)) => Err(failure),
            (Ok(reply), None) => Ok(Asked::Replied(reply)),
            (Err(error), None) => match A::out_of_time(&error) {
                Some(out_of_time) => Ok(Asked::OutOfTime(out_of_time)),
                None => Err(MachineError::Agent(error)),
            },
        }
    }

    /// Collects what the role needs to know for its turn.
    fn context(&self, start: &StartingPoint, turn: &Turn) -> Fallible<StepContext, B, A> {
        let RepoState { last_commit_message, last_diff, mut files } =
            self.workshop.vcs().read_state(MAX_DIFF).map_err(super::workshop_error)?;
        if files.iter().any(|path| program::is_ours(path)) {
            std::sync::Arc::make_mut(&mut files).retain(|path| !program::is_ours(path));
        }
        let arrivals = self.session().machine_state().arrivals();
        let any_test = start.report.results().next().is_some();
        let target = turn.targets().first().map(|id| self.with_complaint(target(id, turn, &start.report), turn));
        let progress = self.progress(start, turn)?;
        let is_complete = progress.as_ref().is_some_and(Progress::is_complete);
        Ok(StepContext {
            role: turn.role(),
            step_index: start.step,
            kata_description: self.framed_brief(turn.role()),
            git_last_commit_msg: last_commit_message,
            git_last_diff: last_diff,
            repo_snapshot_paths: files,
            turn: turn.clone(),
            target,
            wanted: self.fixed(turn).map(|fixed| fixed.test.clone()),
            may_be_done: any_test
                && self.mandate.target.is_none()
                && (self.order.until_done || arrivals >= ASK_WHETHER_DONE || is_complete),
            refactor_hints: match turn {
                Turn::Refactor { .. } => self.refactor_hints()?,
                Turn::Red { .. } | Turn::Green { .. } | Turn::Rethink { .. } | Turn::Task { .. } => Vec::new(),
            },
            progress,
        })
    }

    /// What the last commit left behind that may be worth a refactoring.
    pub(super) fn refactor_hints(&self) -> Fallible<Vec<String>, B, A> {
        let last = self.workshop.vcs().read_state(MAX_DIFF).map_err(super::workshop_error)?;
        let files = self.workshop.shown().map_err(MachineError::Work)?;
        Ok(refactor_hints::hints(&last.last_diff, &files))
    }

    /// Mend and vacuous rethinks see the complaint; other rethinks also see the last failure, because code that does
    /// what the kata says shows a wrong expectation.
    fn with_complaint(&self, target: Target, turn: &Turn) -> Target {
        match turn {
            Turn::Rethink { mend: true, .. } => {
                let complaint = self.complaint.clone().or_else(|| self.last_failure());
                Target { output: complaint.unwrap_or_default(), ..target }
            }
            Turn::Rethink { mend: false, test } if self.session().machine_state().is_vacuous(test.id()) => {
                // The failure from before there was any code does not explain why the test is vacuous.
                Target { output: self.last_failure().unwrap_or_default(), ..target }
            }
            Turn::Rethink { mend: false, .. } => {
                let met = self.last_failure().map(|met| format!("\n\nWith the last attempt to make it pass:\n{met}"));
                Target { output: target.output.trim_end().to_owned() + &met.unwrap_or_default(), ..target }
            }
            Turn::Red { .. } | Turn::Green { .. } | Turn::Refactor { .. } | Turn::Task { .. } => target,
        }
    }

    /// Judges the written tree with the pipeline that all commands share.
    fn judge(&mut self, turn: &Turn) -> Fallible<Judged, B, A> {
        let kind = self.kind(turn);
        let targets = match turn {
            Turn::Red { .. } => {
                let change = self.workshop.change(kind).map_err(MachineError::Work)?;
                change.new_demands().map(|test| test.id.clone()).collect()
            }
            Turn::Green { .. } | Turn::Rethink { .. } | Turn::Refactor { .. } | Turn::Task { .. } => turn.targets(),
        };
        pipeline::judge(&mut self.workshop, kind, &targets, 0).map_err(MachineError::Work)
    }

    /// Sends a result through the gate, and once more if formatting changed the files.
    fn pass_gate(&mut self, turn: &Turn, result: &StepResult) -> Fallible<Passed, B, A> {
        if let Some(refusal) = self.claim(turn, result)? {
            return Ok(Passed::Refused(refusal));
        }
        // Paths are checked before any file is read by them.
        if let Err(refusal) = gate::check_edits(&result.edits, self.limits().kata) {
            return Ok(Passed::Refused(refusal));
        }
        let files = match self.preview(&result.edits)? {
            Ok(files) if files.is_empty() => return Ok(Passed::Nothing),
            Ok(files) => files,
            Err(refusal) => return Ok(Passed::Refused(refusal)),
        };
        let permit = match self.judge_files(turn, &files, Source::Proven, /* finished */ true)? {
            Decision::Permit(permit) => permit,
            Decision::Refuse(refusal) => return Ok(Passed::Refused(refusal)),
        };
        let formatted = self.workshop.formatted(&files).map_err(MachineError::Work)?;
        if formatted.is_empty() {
            return Ok(Passed::Nothing);
        }
        // Only a rethink that changes something must cite its source.
        let source = self.source(turn, result)?;
        if formatted == files && source == Source::Proven {
            return Ok(Passed::Permit(files, permit));
        }
        Ok(match self.judge_files(turn, &formatted, source, /* finished */ true)? {
            Decision::Permit(permit) => Passed::Permit(formatted, permit),
            Decision::Refuse(refusal) => Passed::Refused(refusal),
        })
    }

    /// The files after these edits, or a refusal if an edit does not apply.
    pub(super) fn preview(&self, edits: &[Edit]) -> Fallible<Result<Files, Refusal>, B, A> {
        let mut texts = BTreeMap::new();
        for edit in edits {
            texts.insert(edit.path.clone(), self.workshop.read(&edit.path).map_err(MachineError::Work)?);
            if let Action::Rename { to } = &edit.action {
                texts.insert(to.clone(), self.workshop.read(to).map_err(MachineError::Work)?);
            }
        }
        Ok(gate::preview(edits, |path| texts.get(path).cloned().flatten()))
    }

    /// Asks the gate whether these files may be written.
    pub(super) fn judge_files(
        &self,
        turn: &Turn,
        files: &Files,
        source: Source,
        finished: bool,
    ) -> Fallible<Decision, B, A> {
        let change = self.workshop.change_to(files, self.kind(turn)).map_err(MachineError::Work)?;
        let obstructed = self.workshop.obstructed(files).map_err(MachineError::Work)?;
        let edits = edits_of(files);
        let request = Request {
            speaker: Speaker::Model,
            finished,
            source,
            edits: &edits,
            change: &change,
            obstructed: &obstructed,
        };
        Ok(gate::judge(self.session(), &request, &self.limits()))
    }

    /// Records which red tests a green is for: those that the result names, or else all of the step's.
    fn claim(&mut self, turn: &Turn, result: &StepResult) -> Fallible<Option<Refusal>, B, A> {
        let Turn::Green { tests, .. } = turn else { return Ok(None) };
        let targets: Vec<TestId> = tests.iter().map(RedTest::id).cloned().collect();
        let claims = if result.claims.is_empty() { targets } else { result.claims.clone() };
        for test in &claims {
            if let Err(refusal) = gate::judge_claim(self.session(), test) {
                return Ok(Some(refusal));
            }
        }
        let target = result.edits.first().map_or_else(String::new, |edit| edit.path.clone());
        let claim = |test_id: TestId| Event::EditClaim(EditClaim { test_id, edit_target: target.clone() });
        let events: Vec<Event> = claims.into_iter().map(claim).collect();
        self.record(&events)?;
        Ok(None)
    }

    /// Handles an answer without edits. It ends a refactor, and a task that never failed; it upholds a test in a
    /// rethink; a tester can declare the kata done. Anything else is a failed attempt.
    fn without_edits(&mut self, start: &StartingPoint, turn: &Turn, result: &StepResult) -> Fallible<Outcome, B, A> {
        match turn {
            Turn::Task { .. } if self.task_has_failed() => {
                self.failed(start, turn, Failed::refused(changes_nothing(turn, result)))
            }
            Turn::Refactor { .. } | Turn::Task { .. } => {
                self.end_step(start, StepOutcome::Nothing)?;
                Ok(Outcome::Continue)
            }
            Turn::Rethink { test, .. } => {
                let reason = if result.reason.is_empty() { "it stays as it is" } else { &result.reason };
                self.leave_test(turn, test, reason, &result.spec_source)
            }
            Turn::Red { .. } if !result.done.is_empty() && self.mandate.target.is_none() => {
                self.done(start, turn, result)
            }
            Turn::Red { .. } | Turn::Green { .. } => {
                self.failed(start, turn, Failed::refused(changes_nothing(turn, result)))
            }
        }
    }

    /// Whether an attempt at the current task has failed, so that there is something to do.
    fn task_has_failed(&self) -> bool {
        self.task_mark().is_some_and(|mark| self.session().machine_state().has_failed(mark))
    }

    /// Records that a doubted test stays as it is.
    fn leave_test(&mut self, turn: &Turn, test: &RedTest, reason: &str, source: &str) -> Fallible<Outcome, B, A> {
        self.note_fate(Fate::Stays, reason);
        let (reason, spec_source) = (reason.to_owned(), source.to_owned());
        self.record(&[Event::TestUpheld(TestUpheld { test_id: test.id().clone(), reason, spec_source })])?;
        self.tell(turn, &Feedback::TurnOver);
        Ok(Outcome::Continue)
    }

    /// Checks the tester's claim that the kata is done.
    fn done(&mut self, start: &StartingPoint, turn: &Turn, result: &StepResult) -> Fallible<Outcome, B, A> {
        match self.judge_done(start, result)? {
            // Progress costs no attempt, so that a tester can name a long list bit by bit.
            Claim::Refused { refusal, is_progress } => {
                self.failed(start, turn, Failed { spent: !is_progress, ..Failed::refused(refusal) })
            }
            Claim::Holds { requirements } => {
                self.end_step(start, StepOutcome::Done)?;
                Ok(Outcome::End(End::Done { requirements }))
            }
        }
    }

    /// Handles a refusal by the gate: nothing was written, but the attempt counts.
    fn refused(
        &mut self,
        start: &StartingPoint,
        turn: &Turn,
        result: &StepResult,
        refusal: Refusal,
    ) -> Fallible<Outcome, B, A> {
        self.record(&[Event::EditRefused(EditRefused {
            step: start.step,
            attempt: turn.attempt(),
            rule: refusal.rule,
            reason: refusal.reason.clone(),
            paths: result.files_changed(),
        })])?;
        let file =
            if refusal.cause == Some(Cause::SyntaxError) { self.first_unparsable_file(turn, result)? } else { None };
        self.failed(start, turn, Failed { file, ..Failed::refused(refusal) })
    }

    /// The first file that would not parse after the edits, with its text.
    fn first_unparsable_file(&self, turn: &Turn, result: &StepResult) -> Fallible<Option<(String, String)>, B, A> {
        let Ok(mut files) = self.preview(&result.edits)? else { return Ok(None) };
        let change = self.workshop.change_to(&files, self.kind(turn)).map_err(MachineError::Work)?;
        let first = change.unreadable.into_iter().next().map(|unreadable| unreadable.place.path);
        Ok(first.and_then(|path| files.remove(&path).flatten().map(|text| (path, text))))
    }

    /// Ends the run because a person edited a file that the attempt was to change. Their edit stays; the attempt does
    /// not count.
    fn interfered(&mut self, start: &StartingPoint, turn: &Turn, theirs: &[String]) -> Fallible<Outcome, B, A> {
        let names: Vec<String> = theirs.iter().map(|path| format!("`{path}`")).collect();
        let reason = format!("a person is working on {}", names.join(", "));
        let next = "commit it or stash it (`git stash`), then run the command again";
        let refusal = Rule::ProtectedPath.refuse(reason.clone(), next);
        self.reverted(start, turn, &Failed::refused(refusal).unspent(), None)?;
        Ok(Outcome::End(End::Stopped { reason, next: next.to_owned() }))
    }

    /// Undoes a failed attempt, and tells the agent what was wrong.
    fn failed(&mut self, start: &StartingPoint, turn: &Turn, failed: Failed) -> Fallible<Outcome, B, A> {
        let subject = self.session().machine_state().step().map(Step::subject).unwrap_or_default();
        let is_free = matches!(turn, Turn::Rethink { .. }) || self.is_the_testers_fault(turn, &failed);
        let failed = if is_free { Failed { spent: false, ..failed } } else { failed };
        self.undo(start, turn, &failed)?;
        if let Turn::Green { tests, attempt: 2 } = turn
            && let Some(test) = tests.first()
        {
            self.record(&[Event::Repair(Repair { test_id: test.id().clone(), attempts: 2 })])?;
        }
        let times = self.session().machine_state().times_failed(&subject, failed.signature);
        let stuck = times > STUCK_AFTER;
        if stuck {
            self.record(&[Event::Stuck(Stuck { subject, signature: failed.signature, times })])?;
        }
        if let Turn::Rethink { test, .. } = turn {
            self.tell(turn, &Feedback::Failed(failed.setback()));
            return self.give_up_rethink(turn, test, times);
        }
        let lost = matches!(turn, Turn::Red { .. })
            && self.session().machine_state().invalid_reds().is_multiple_of(MAX_INVALID_REDS)
            && failed.refusal.as_ref().is_some_and(|refusal| refusal.cause.is_some());
        let setback = failed.setback();
        self.tell(turn, &if stuck || lost { Feedback::StartOver(setback) } else { Feedback::Failed(setback) });
        Ok(Outcome::Continue)
    }

    pub(super) fn tell(&mut self, turn: &Turn, news: &Feedback<'_>) {
        if let Some(agent) = self.agents.get_mut(&turn.role()) {
            agent.hear(turn, news);
        }
    }

    /// Whether the target cannot fail and was not rethought yet: then the tester gets it back, and the implementor's
    /// attempt does not count.
    fn is_the_testers_fault(&self, turn: &Turn, failed: &Failed) -> bool {
        let vacuous = failed.refusal.as_ref().is_some_and(|refusal| refusal.cause == Some(Cause::VacuousTest));
        let is_rethought = |test: &RedTest| self.session().machine_state().is_rethought(test.id());
        matches!(turn, Turn::Green { tests, .. } if vacuous && !tests.first().is_some_and(is_rethought))
    }

    /// Leaves the test as it is after two failed rethinks.
    fn give_up_rethink(&mut self, turn: &Turn, test: &RedTest, times: u32) -> Fallible<Outcome, B, A> {
        let state = self.session().machine_state();
        let tries = state.step().map_or(0, |step| state.tries(&step.subject()));
        if tries < 2 && times < 2 {
            return Ok(Outcome::Continue);
        }
        self.leave_test(turn, test, "no revision was accepted, so the test stays as it is", "")
    }

    /// Saves what the attempt wrote under a ref, and puts the files back.
    pub(super) fn undo(&mut self, start: &StartingPoint, turn: &Turn, failed: &Failed) -> Fallible<(), B, A> {
        let (step, attempt) = (start.step, turn.attempt());
        let open = self.session().machine_state().step().and_then(|step| step.open.clone());
        let mut kept_as = None;
        if let Some(open) = open {
            let mut paths = self.workshop.taken();
            paths.extend(open.paths.iter().filter(|path| !paths.contains(path)).cloned().collect::<Vec<_>>());
            kept_as =
                self.workshop.keep_attempt((step, attempt), &paths, &failed.reason).map_err(MachineError::Work)?;
            let rescued = self.workshop.put_back(&paths).map_err(MachineError::Work)?;
            self.reporter.rescued(&rescued);
        }
        self.reverted(start, turn, failed, kept_as)
    }

    /// Records that nothing of the attempt remains.
    fn reverted(
        &mut self,
        start: &StartingPoint,
        turn: &Turn,
        failed: &Failed,
        kept_as: Option<String>,
    ) -> Fallible<(), B, A> {
        let fate = if kept_as.is_some() { Fate::Undone } else { Fate::Refused };
        self.note_fate(fate, &failed.reason);
        self.note_refusal(failed.refusal.as_ref());
        self.record(&[Event::Reverted(Reverted {
            step: start.step,
            attempt: turn.attempt(),
            spent: failed.spent,
            in_tests: failed.in_tests,
            others: failed.others.clone(),
            rule: failed.refusal.as_ref().map(|refusal| refusal.rule),
            cause: failed.refusal.as_ref().and_then(|refusal| refusal.cause),
            reason: failed.reason.clone(),
            signature: failed.signature,
            kept_as,
        })])
    }

    /// The output of the check or the compiler after a green, if all of it is about tests, which an implementor may not
    /// edit. The tester gets one chance to mend them.
    fn complaint_about_tests(&self, turn: &Turn, refusal: &Refusal, judged: &Judged) -> Fallible<Option<String>, B, A> {
        let Turn::Green { tests, .. } = turn else { return Ok(None) };
        let state = self.session().machine_state();
        if tests.first().is_none_or(|test| state.had_its_mend(test.id())) {
            return Ok(None);
        }
        let complaint = match &judged.check {
            Some(check) if refusal.rule == Rule::CheckPasses => {
                format!("{}\n{}", check.outcome.stdout, check.outcome.stderr)
            }
            Some(_) | None if refusal.cause == Some(Cause::UnrelatedCompileError) => {
                judged.report.obstacles().iter().map(|it| it.message.as_str()).collect::<Vec<_>>().join("\n")
            }
            Some(_) | None => return Ok(None),
        };
        Ok(self.workshop.lies_in_tests(&complaint).map_err(MachineError::Work)?.then_some(complaint))
    }
}

/// Edits that produce these files.
pub(super) fn edits_of(files: &Files) -> Vec<Edit> {
    let action = |text: &Option<String>| match text {
        Some(content) => Action::Upsert { content: content.clone() },
        None => Action::Delete,
    };
    files.iter().map(|(path, text)| Edit { path: path.clone(), action: action(text) }).collect()
}

/// The target of a turn, with its cause and output.
fn target(id: &TestId, turn: &Turn, report: &Report) -> Target {
    let cause = match turn {
        Turn::Green { tests, .. } => tests.iter().find(|test| test.id() == id).map(RedTest::cause),
        Turn::Rethink { test, .. } => Some(test.cause()),
        Turn::Red { .. } | Turn::Refactor { .. } | Turn::Task { .. } => None,
    };
    let message = report.get(id).and_then(|result| match &result.outcome {
        TestOutcome::Fail { message, .. } => Some(message.clone()),
        TestOutcome::Pass => None,
    });
    let obstacle = report.obstacles().iter().find(|obstacle| obstacle.tests.contains(id));
    Target {
        id: id.clone(),
        path: id.path().unwrap_or_default().to_owned(),
        cause: cause.unwrap_or(Cause::Assertion),
        output: message.or_else(|| obstacle.map(|obstacle| obstacle.message.clone())).unwrap_or_default(),
    }
}

fn changes_nothing(turn: &Turn, plan: &StepResult) -> Refusal {
    let next = match turn {
        Turn::Red { .. } => "send the whole test file: all its tests as they are, and one new test",
        Turn::Green { .. } => {
            "leave the tests as they are, and send a production file with the code that makes the test pass"
        }
        Turn::Task { .. } => "send edits that do the task: an earlier attempt failed, so the task is not done yet",
        Turn::Rethink { .. } | Turn::Refactor { .. } => "send edits that change something, or no edits at all",
    };
    let paths: Vec<String> = plan.edits.iter().map(|edit| format!("`{}`", edit.path)).collect();
    let reason = match paths.as_slice() {
        [] => "the answer changes no file".to_owned(),
        _ => format!("the answer changes no file: {} would be the same as before", paths.join(", ")),
    };
    Rule::EditApplies.refuse(reason, next)
}

fn failing(report: &Report) -> Vec<&TestId> {
    let failed = report.results().filter(|result| result.outcome.cause().is_some_and(|cause| cause != Cause::Skipped));
    failed.map(|result| &result.id).collect()
}

/// The failure message of the refused test, or else those of the obstacles.
fn messages(report: &Report, refusal: &Refusal) -> String {
    let about = refusal.test.as_ref().and_then(|test| report.get(test));
    match about.map(|result| &result.outcome) {
        Some(TestOutcome::Fail { message, .. }) => message.clone(),
        Some(TestOutcome::Pass) | None => {
            report.obstacles().iter().map(|obstacle| obstacle.message.as_str()).collect::<Vec<_>>().join("\n")
        }
    }
}
