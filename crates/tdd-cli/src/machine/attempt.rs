//! One attempt: what the model wants goes through the gate, is written, verified, and kept or undone.

use tdd_agents::failure::Failure;
use tdd_agents::plan::EditPlan;
use tdd_agents::reply::ReplyError;
use tdd_core::cycle::{Phase, RedTest, Turn};
use tdd_core::digest::Digest;
use tdd_core::event::{
    EditApplied, EditClaim, EditRefused, Event, GreenOnArrival, Repair, Reverted, StepOutcome, Stuck, TestRevised,
};
use tdd_core::gate::{self, Files, Permit, Request, Verdict};
use tdd_core::judge::Ruling;
use tdd_core::report::{Cause, Outcome as TestOutcome, Report};
use tdd_core::rule::{Refusal, Rule};
use tdd_core::signature::signature;
use tdd_core::standing::Step;
use tdd_core::test_id::TestId;
use tdd_exec::git::Look;
use tdd_exec::sources::StoredSources;
use tdd_lang::language::Sources as _;

use super::ask::ASK_WHETHER_DONE;
use super::stand::Stand;
use super::verify::Verified;
use super::{End, Machine, done, hands};
use crate::error::CliError;

/// What an attempt came to.
#[derive(Debug)]
pub enum Outcome {
    /// The run goes on.
    Goes,
    /// The run is over.
    Ends(End),
}

/// So often in a row may a new test pass at once before a person must look.
const MAX_ARRIVALS: u32 = 6;
/// The same, where the test is not the tester's to choose.
const MAX_FIXED_ARRIVALS: u32 = 3;
/// The same failure so often means that nothing is learned.
const STUCK_AFTER: u32 = 2;
/// Reds in a row that were none, after which another target is asked for.
const MAX_INVALID_REDS: u32 = 3;

/// What may be written, and a look at the working tree that was begun before.
type Passed = (Files, Permit, Option<Look>);

/// Why an attempt failed, as the ledger and the model are told.
struct Failed {
    failure: Failure,
    refusal: Option<Refusal>,
    reason: String,
    signature: Digest,
    spent: bool,
    in_tests: bool,
    /// Other tests that passed before.
    others: Vec<TestId>,
}

impl Failed {
    fn refused(refusal: Refusal) -> Self {
        Self {
            failure: Failure::from(&refusal),
            reason: format!("{}: {}", refusal.rule, refusal.reason),
            signature: signature([], &refusal.to_string()),
            refusal: Some(refusal),
            spent: true,
            in_tests: false,
            others: Vec::new(),
        }
    }

    fn unreadable(error: ReplyError) -> Self {
        let reason = format!("the answer could not be used: {error}");
        Self {
            signature: signature([], &reason),
            failure: Failure::from(error),
            refusal: None,
            reason,
            spent: true,
            in_tests: false,
            others: Vec::new(),
        }
    }

    /// Without `gate.auto_test` the model is told the verdict, and not what the tests said.
    fn judged(refusal: Refusal, verified: &Verified, check: &str, before: &Report, auto_test: bool) -> Self {
        let mut failure = Failure::judged(&refusal, auto_test.then_some(&verified.report));
        let mut said = messages(&verified.report, &refusal);
        if let Some(outcome) = verified.check.as_ref().filter(|outcome| !outcome.ok) {
            let output = format!("{}{}", outcome.stdout, outcome.stderr);
            failure = failure.with_output(check, &output);
            said = output;
        }
        let failing: Vec<&TestId> = failing(&verified.report);
        let passed = |id: &&&TestId| before.get(id).is_some_and(|result| result.outcome == TestOutcome::Pass);
        let others = failing.iter().filter(passed).map(|id| (*id).clone()).collect();
        Self {
            failure,
            reason: format!("{}: {}", refusal.rule, refusal.reason),
            signature: signature(failing, &format!("{}\n{said}", refusal.rule)),
            refusal: Some(refusal),
            spent: true,
            in_tests: false,
            others,
        }
    }
}

impl Machine<'_> {
    /// Makes one attempt at a turn.
    pub fn attempt(&mut self, stand: &Stand, turn: &Turn) -> Result<Outcome, CliError> {
        let plan = match self.ask(stand, turn)? {
            Ok(plan) => plan,
            Err(error) => return self.failed(stand, turn, &[], Failed::unreadable(error)),
        };
        if plan.edits.is_empty() {
            return self.without_edits(stand, turn, &plan);
        }
        let (files, permit, look) = match self.pass_gate(turn, &plan)? {
            Ok(Some(passed)) => passed,
            Ok(None) => return self.without_edits(stand, turn, &plan),
            Err(refusal) => return self.refused(stand, turn, &plan, refusal),
        };
        let mut paths: Vec<String> = files.keys().cloned().collect();
        let (step, attempt) = (stand.step, turn.attempt());
        self.record(&[Event::EditApplied(EditApplied { step, attempt, paths: paths.clone() })])?;
        if let Some(refusal) = self.write(permit)? {
            return self.failed(stand, turn, &paths, Failed::refused(refusal));
        }
        let verified = self.verify(stand, turn, look, &mut paths)?;
        self.note_verified(&verified);
        match &verified.ruling {
            Ruling::Holds(_) => {
                self.keep(stand, turn, &plan, &verified, &paths)?;
                Ok(Outcome::Goes)
            }
            Ruling::Refused(refusal) if is_arrival(turn, refusal) => self.arrived(stand, turn, &paths, refusal),
            Ruling::Refused(refusal) if refusal.cause == Some(Cause::RunnerMissing) => {
                let why = refusal.reason.clone();
                let failed = Failed { spent: false, ..Failed::refused(refusal.clone()) };
                self.undo(stand, turn, &paths, &failed)?;
                Err(CliError::CannotTest { what: self.trial.command(), why })
            }
            Ruling::Refused(refusal) => {
                let (check, tell) = (self.checked_by(turn), self.trial.gate(&verified.change, 0).auto_test);
                let failed = Failed::judged(refusal.clone(), &verified, &check, &stand.report, tell);
                if let Some(complaint) = self.complaint_about_tests(turn, refusal, &verified)? {
                    self.complaint = Some(complaint);
                    let failed = Failed { spent: false, in_tests: true, ..failed };
                    self.undo(stand, turn, &paths, &failed)?;
                    self.hear_failure(turn, &failed.failure, /* fresh */ false);
                    return Ok(Outcome::Goes);
                }
                self.failed(stand, turn, &paths, failed)
            }
        }
    }

    /// The gate's answer to the plan, with the files as they are to be written; `None` if they are so already.
    fn pass_gate(&mut self, turn: &Turn, plan: &EditPlan) -> Result<Result<Option<Passed>, Refusal>, CliError> {
        if let Err(refusal) = self.claim(turn, plan)? {
            return Ok(Err(refusal));
        }
        // Paths are checked before anything is read or laid out by them.
        if let Verdict::Refuse(refusal) = gate::judge_edits(&plan.edits, self.limits().kata) {
            return Ok(Err(refusal));
        }
        let files = {
            let base = StoredSources::new(&self.trial.repo, &self.trial.base)?;
            match gate::preview(&plan.edits, |path| base.read(path)) {
                Ok(files) if files.is_empty() => return Ok(Ok(None)),
                Ok(files) => files,
                Err(refusal) => return Ok(Err(refusal)),
            }
        };
        let permit = match self.judge_files(&files)? {
            Verdict::Permit(permit) => permit,
            Verdict::Refuse(refusal) => return Ok(Err(refusal)),
        };
        if let Err(refusal) = self.judge_mandate(turn, &files)? {
            return Ok(Err(refusal));
        }
        let (formatted, look) = self.trial.formatted(&files)?;
        if formatted.is_empty() {
            return Ok(Ok(None));
        }
        if let Err(refusal) = self.judge_source(turn, plan)? {
            return Ok(Err(refusal));
        }
        if formatted == files {
            return Ok(Ok(Some((files, permit, look))));
        }
        Ok(match self.judge_files(&formatted)? {
            Verdict::Permit(permit) => Ok(Some((formatted, permit, look))),
            Verdict::Refuse(refusal) => Err(refusal),
        })
    }

    pub fn judge_files(&self, files: &Files) -> Result<Verdict, CliError> {
        let refactors = self.trial.session().standing().step().is_some_and(|step| step.phase == Phase::Refactor);
        let change = self.trial.change_to(files, refactors)?;
        let ignored = hands::ignored(&self.trial, files)?;
        let untracked = hands::untracked(&self.trial, files)?;
        let edits = hands::edits_of(files);
        let request = Request { edits: &edits, change: &change, ignored: &ignored, untracked: &untracked };
        Ok(gate::judge(self.trial.session(), &request, &self.limits()))
    }

    /// A green says which red tests it is for: those that the plan names, or all of the step's.
    fn claim(&mut self, turn: &Turn, plan: &EditPlan) -> Result<Result<(), Refusal>, CliError> {
        let Turn::Green { tests, .. } = turn else { return Ok(Ok(())) };
        let targets: Vec<TestId> = tests.iter().map(RedTest::id).cloned().collect();
        let claims = if plan.claims.is_empty() { targets } else { plan.claims.clone() };
        for test in &claims {
            if let Err(refusal) = gate::judge_claim(self.trial.session(), test) {
                return Ok(Err(refusal));
            }
        }
        let target = plan.edits.first().map_or_else(String::new, |edit| edit.path.clone());
        let claim = |test_id: TestId| Event::EditClaim(EditClaim { test_id, edit_target: target.clone() });
        let events: Vec<Event> = claims.into_iter().map(claim).collect();
        self.record(&events)?;
        Ok(Ok(()))
    }

    /// An answer without edits: good from a refactorer, a verdict from a tester who thinks a test over, a
    /// proof from one who finds the kata finished; from an implementor it is none.
    fn without_edits(&mut self, stand: &Stand, turn: &Turn, plan: &EditPlan) -> Result<Outcome, CliError> {
        match turn {
            Turn::Refactor { .. } | Turn::Task { .. } => {
                self.end_step(stand, StepOutcome::Nothing)?;
                Ok(Outcome::Goes)
            }
            Turn::Rethink { test, .. } => {
                let digest = self.trial.session().tests().get(test.id()).and_then(|known| known.digest);
                let reason = if plan.reason.is_empty() { "it stays as it is".to_owned() } else { plan.reason.clone() };
                self.record(&[Event::TestRevised(TestRevised {
                    test_id: test.id().clone(),
                    before: digest,
                    after: digest,
                    reason,
                    spec_source: plan.spec_source.clone(),
                })])?;
                self.end_talk(turn);
                Ok(Outcome::Goes)
            }
            Turn::Red { .. } if !plan.done.is_empty() && self.mandate.target.is_none() => self.done(stand, turn, plan),
            Turn::Red { .. } | Turn::Green { .. } => {
                self.failed(stand, turn, &[], Failed::refused(changes_nothing(turn, plan)))
            }
        }
    }

    /// The tester finds the kata finished.
    fn done(&mut self, stand: &Stand, turn: &Turn, plan: &EditPlan) -> Result<Outcome, CliError> {
        // What a program is told numbers other things as well.
        let kata = if self.mandate.brief.is_none() { self.brief() } else { "" };
        if let Err(refusal) = done::judge(plan, &stand.report, kata) {
            return self.failed(stand, turn, &[], Failed::refused(refusal));
        }
        self.end_step(stand, StepOutcome::Done)?;
        Ok(Outcome::Ends(End::Done { requirements: plan.done.len() }))
    }

    /// The gate said no: nothing was written, but the attempt counts.
    fn refused(&mut self, stand: &Stand, turn: &Turn, plan: &EditPlan, refusal: Refusal) -> Result<Outcome, CliError> {
        self.record(&[Event::EditRefused(EditRefused {
            step: stand.step,
            attempt: turn.attempt(),
            rule: refusal.rule,
            reason: refusal.reason.clone(),
            paths: plan.edits.iter().map(|edit| edit.path.clone()).collect(),
        })])?;
        let garbled = if refusal.cause == Some(Cause::SyntaxError) { self.garbled(plan)? } else { None };
        let mut failed = Failed::refused(refusal);
        if let Some((path, text)) = garbled {
            failed.failure = failed.failure.with_file(&path, &text);
        }
        self.failed(stand, turn, &[], failed)
    }

    /// The first file that does not parse with the edits of a plan, as it would be.
    fn garbled(&self, plan: &EditPlan) -> Result<Option<(String, String)>, CliError> {
        let base = StoredSources::new(&self.trial.repo, &self.trial.base)?;
        let Ok(mut files) = gate::preview(&plan.edits, |path| base.read(path)) else { return Ok(None) };
        let change = self.trial.change_to(&files, /* refactors */ false)?;
        let first = change.unreadable.into_iter().next();
        Ok(first.and_then(|path| files.remove(&path).flatten().map(|text| (path, text))))
    }

    /// A new test that passes at once leads to another target, and costs no attempt.
    fn arrived(
        &mut self,
        stand: &Stand,
        turn: &Turn,
        paths: &[String],
        refusal: &Refusal,
    ) -> Result<Outcome, CliError> {
        let test_id = refusal.test.clone().unwrap_or_else(|| TestId::native("", "unknown"));
        self.undo(stand, turn, paths, &Failed { spent: false, ..Failed::refused(refusal.clone()) })?;
        self.record(&[Event::GreenOnArrival(GreenOnArrival { test_id })])?;
        let arrivals = self.trial.session().standing().arrivals();
        if let Some(fixed) = self.fixed(turn).filter(|_| arrivals >= MAX_FIXED_ARRIVALS) {
            let reason = format!("`{}` passed at once {arrivals} times: is it there already?", fixed.test);
            let next = "write it yourself and commit it, or take the step out of the plan; then `tdd-cli resume`";
            return self.pause(stand, reason, next.to_owned()).map(Outcome::Ends);
        }
        if arrivals >= MAX_ARRIVALS {
            let reason = format!("{arrivals} new tests in a row passed at once: is the kata done?");
            let next = "tests for what is there already can be added in refactor mode (`tdd-cli refactor begin`); \
                        `tdd-cli resume` goes on";
            return self.pause(stand, reason, next.to_owned()).map(Outcome::Ends);
        }
        if arrivals == ASK_WHETHER_DONE && self.mandate.target.is_none() {
            self.ask_whether_done(turn, arrivals, refusal);
        } else {
            let next = "take something that the kata asks for and the code does not do yet, and write a test for that";
            let refusal = Refusal { next: next.to_owned(), ..refusal.clone() };
            self.hear_failure(turn, &Failure::from(&refusal), /* fresh */ false);
        }
        Ok(Outcome::Goes)
    }

    /// Nothing is learned from one more test that passes.
    fn ask_whether_done(&mut self, turn: &Turn, arrivals: u32, refusal: &Refusal) {
        let next = format!(
            "{arrivals} new tests in a row passed at once: if every requirement of the kata has its test, send no edits \
             and name them in `done`; otherwise write a test that fails for a requirement that has none"
        );
        self.hear_failure(turn, &Failure::from(&Refusal { next, ..refusal.clone() }), true);
        self.offer_done(turn);
    }

    /// The attempt failed: everything goes back, and what was wrong goes to the model.
    fn failed(&mut self, stand: &Stand, turn: &Turn, paths: &[String], failed: Failed) -> Result<Outcome, CliError> {
        let subject = self.trial.session().standing().step().map(Step::subject).unwrap_or_default();
        let is_free = matches!(turn, Turn::Rethink { .. }) || self.is_the_testers_fault(turn, &failed);
        let failed = if is_free { Failed { spent: false, ..failed } } else { failed };
        self.undo(stand, turn, paths, &failed)?;
        if let Turn::Green { tests, attempt: 2 } = turn
            && let Some(test) = tests.first()
        {
            self.record(&[Event::Repair(Repair { test_id: test.id().clone(), attempts: 2 })])?;
        }
        let times = self.trial.session().standing().times_failed(&subject, failed.signature);
        let stuck = times > STUCK_AFTER;
        if stuck {
            self.record(&[Event::Stuck(Stuck { subject, signature: failed.signature, times })])?;
        }
        if let Turn::Rethink { test, .. } = turn {
            self.hear_failure(turn, &failed.failure, /* fresh */ false);
            return self.give_up_rethink(turn, test, times);
        }
        let lost = matches!(turn, Turn::Red { .. })
            && self.trial.session().standing().invalid_reds().is_multiple_of(MAX_INVALID_REDS)
            && failed.refusal.as_ref().is_some_and(|refusal| refusal.cause.is_some());
        self.hear_failure(turn, &failed.failure, stuck || lost);
        Ok(Outcome::Goes)
    }

    /// A test that cannot fail goes back to the tester once, and the implementor has lost nothing.
    fn is_the_testers_fault(&self, turn: &Turn, failed: &Failed) -> bool {
        let vacuous = failed.refusal.as_ref().is_some_and(|refusal| refusal.cause == Some(Cause::VacuousTest));
        let is_rethought = |test: &RedTest| self.trial.session().standing().is_rethought(test.id());
        matches!(turn, Turn::Green { tests, .. } if vacuous && !tests.first().is_some_and(is_rethought))
    }

    /// A rethink that fails twice leaves the test as it is.
    fn give_up_rethink(&mut self, turn: &Turn, test: &RedTest, times: u32) -> Result<Outcome, CliError> {
        let standing = self.trial.session().standing();
        let tries = standing.step().map_or(0, |step| standing.tries(&step.subject()));
        if tries < 2 && times < 2 {
            return Ok(Outcome::Goes);
        }
        let digest = self.trial.session().tests().get(test.id()).and_then(|known| known.digest);
        self.record(&[Event::TestRevised(TestRevised {
            test_id: test.id().clone(),
            before: digest,
            after: digest,
            reason: "no revision held, so it stays as it is".to_owned(),
            spec_source: String::new(),
        })])?;
        self.end_talk(turn);
        Ok(Outcome::Goes)
    }

    fn undo(&mut self, stand: &Stand, turn: &Turn, paths: &[String], failed: &Failed) -> Result<(), CliError> {
        let (step, attempt) = (stand.step, turn.attempt());
        let kept_as = if paths.is_empty() {
            None
        } else {
            let kept_as = self.trial.keep_attempt((step, attempt), paths, &failed.reason)?;
            self.trial.put_back(paths)?;
            kept_as
        };
        self.note_failed(&failed.reason);
        self.record(&[Event::Reverted(Reverted {
            step,
            attempt,
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

    pub fn last_failure(&self) -> Option<String> {
        self.trial.session().standing().last_failure().map(str::to_owned)
    }
}

fn is_arrival(turn: &Turn, refusal: &Refusal) -> bool {
    matches!(turn, Turn::Red { .. }) && refusal.cause == Some(Cause::UnexpectedGreen)
}

fn changes_nothing(turn: &Turn, plan: &EditPlan) -> Refusal {
    let next = match turn {
        Turn::Red { .. } => "send the test file with all that is in it and one new test besides",
        Turn::Green { .. } => "leave the tests as they are, and send a production file with what makes the test pass",
        Turn::Rethink { .. } | Turn::Refactor { .. } | Turn::Task { .. } => {
            "send what is to be other than it is, or no edits at all"
        }
    };
    let paths: Vec<String> = plan.edits.iter().map(|edit| format!("`{}`", edit.path)).collect();
    let reason = match paths.as_slice() {
        [] => "the answer changes no file".to_owned(),
        _ => format!("the answer changes no file: it leaves {} as it is", paths.join(", ")),
    };
    Rule::EditApplies.refuse(reason, next)
}

fn failing(report: &Report) -> Vec<&TestId> {
    let failed = report.results().filter(|result| result.outcome.cause().is_some_and(|cause| cause != Cause::Skipped));
    failed.map(|result| &result.id).collect()
}

/// What was said about the test that a refusal is about, or about what kept tests from being run.
fn messages(report: &Report, refusal: &Refusal) -> String {
    let about = refusal.test.as_ref().and_then(|test| report.get(test));
    match about.map(|result| &result.outcome) {
        Some(TestOutcome::Fail { message, .. }) => message.clone(),
        Some(TestOutcome::Pass) | None => {
            report.obstacles().iter().map(|obstacle| obstacle.message.as_str()).collect::<Vec<_>>().join("\n")
        }
    }
}
