//! The agent's host during a turn: answers each request at once, and sends edits and claims through the gate.

use super::starting_point::StartingPoint;
use super::{Machine, MachineError};
use crate::cycle::Turn;
use crate::digest::Digest;
use crate::event::{EditClaim, EditRefused, Event, PlanSubmitted, PlannedStep};
use crate::gate::{self, Decision, Files, Source};
use crate::merge::{MergeError, Merged};
use crate::program;
use crate::rule::Refusal;
use crate::seam::{Agent, AgentHost, Call, File, GateAnswer, HostFailed, KataCut, Reporter, StepWorkshop, Trial};
use crate::test_id::TestId;

/// The [`AgentHost`] of one turn.
pub(super) struct TurnHost<'m, B: StepWorkshop, A: Agent, R: Reporter> {
    machine: &'m mut Machine<B, A, R>,
    start: &'m StartingPoint,
    turn: &'m Turn,
    /// The error behind a failed request; the agent sees only [`HostFailed`].
    pub failure: Option<MachineError<B::Error, A::Error>>,
}

impl<'m, B: StepWorkshop, A: Agent, R: Reporter> TurnHost<'m, B, A, R> {
    pub fn new(machine: &'m mut Machine<B, A, R>, start: &'m StartingPoint, turn: &'m Turn) -> Self {
        Self { machine, start, turn, failure: None }
    }

    fn open<T>(&mut self, result: Result<T, MachineError<B::Error, A::Error>>) -> Result<T, HostFailed> {
        result.map_err(|error| {
            self.failure = Some(error);
            HostFailed
        })
    }
}

impl<B: StepWorkshop, A: Agent, R: Reporter> AgentHost for TurnHost<'_, B, A, R> {
    fn read(&mut self, path: &str) -> Result<Option<String>, HostFailed> {
        if program::is_ours(path) {
            return Ok(None);
        }
        let text = self.machine.workshop.read(path).map_err(MachineError::Work);
        self.open(text)
    }

    fn files(&mut self) -> Result<Vec<String>, HostFailed> {
        let files = self.machine.workshop.files().map_err(MachineError::Work);
        let files = self.open(files)?;
        Ok(files.into_iter().filter(|path| !program::is_ours(path)).collect())
    }

    fn merge(&mut self, path: &str, file: &str, answer: &str) -> Option<Result<Merged, MergeError>> {
        self.machine.workshop.merge(path, file, answer)
    }

    fn one_by_one(&mut self, files: &Files) -> Result<Vec<Files>, HostFailed> {
        let split = self.machine.workshop.one_by_one(files).map_err(MachineError::Work);
        self.open(split)
    }

    fn shown(&mut self) -> Result<Vec<File>, HostFailed> {
        let files = self.machine.workshop.shown().map_err(MachineError::Work);
        self.open(files)
    }

    fn language(&mut self) -> Result<(String, Option<String>), HostFailed> {
        let language = self.machine.workshop.language().map_err(MachineError::Work);
        self.open(language)
    }

    fn judge(&mut self, files: &Files, paths: &[String]) -> Result<GateAnswer, HostFailed> {
        let verdict = self.machine.judge_files(self.turn, files, Source::Proven, /* finished */ false);
        let refusal = match self.open(verdict)? {
            Decision::Permit(_) => return Ok(GateAnswer::Yes),
            Decision::Refuse(refusal) => refusal,
        };
        self.refused(&refusal, paths)?;
        Ok(GateAnswer::No(refusal))
    }

    fn refused(&mut self, refusal: &Refusal, paths: &[String]) -> Result<(), HostFailed> {
        let recorded = self.machine.record(&[Event::EditRefused(EditRefused {
            step: self.start.step,
            attempt: self.turn.attempt(),
            rule: refusal.rule,
            reason: refusal.reason.clone(),
            paths: paths.to_vec(),
        })]);
        self.open(recorded)
    }

    fn claim(&mut self, test: &TestId, target: &str) -> Result<GateAnswer, HostFailed> {
        if let Err(refusal) = gate::judge_claim(self.machine.session(), test) {
            return Ok(GateAnswer::No(refusal));
        }
        let claim = EditClaim { test_id: test.clone(), edit_target: target.to_owned() };
        let recorded = self.machine.record(&[Event::EditClaim(claim)]);
        self.open(recorded)?;
        Ok(GateAnswer::Yes)
    }

    fn planned(&mut self, plan: &str, steps: &[PlannedStep]) -> Result<(), HostFailed> {
        let noted = self.machine.note_plan(self.start, self.turn, plan);
        self.open(noted)?;
        let (step, role, digest) = (self.start.step, self.turn.role(), Digest::of(plan));
        let steps = steps.to_vec();
        let recorded = self.machine.record(&[Event::PlanSubmitted(PlanSubmitted { step, role, digest, steps })]);
        self.open(recorded)
    }

    fn run_tests(&mut self, files: &Files, only: &[TestId]) -> Result<Trial, HostFailed> {
        let change = self.machine.workshop.change_to(files, self.machine.kind(self.turn)).map_err(MachineError::Work);
        let change = self.open(change)?;
        if !self.machine.workshop.gate(&change, 0).auto_test {
            return Ok(Trial::Withheld);
        }
        if !files.is_empty() {
            let verdict = self.machine.judge_files(self.turn, files, Source::Proven, /* finished */ false);
            if let Decision::Refuse(refusal) = self.open(verdict)? {
                return Ok(Trial::Refused(refusal));
            }
        }
        let what = format!("step {}: {} runs tests", self.start.step, self.turn.role());
        self.machine.reporter.working(&what);
        let report = self.machine.workshop.try_tests(files, only).map_err(MachineError::Work);
        self.machine.reporter.rested();
        let report = self.open(report)?;
        self.machine.note_trial(&report);
        Ok(Trial::Ran(report))
    }

    fn waiting(&mut self, purpose: &str) {
        let what = format!("step {}: {} thinks ({purpose})", self.start.step, self.turn.role());
        self.machine.reporter.working(&what);
    }

    /// Remarks on it once per run, because later prompts are cut as well.
    fn kata_cut(&mut self, cut: KataCut) {
        if !std::mem::replace(&mut self.machine.kata_cut, true) {
            let KataCut { shown, of } = cut;
            self.machine.reporter.remark(&format!(
                "the kata is too long for `llm.context_bytes`: models see {shown} of its {of} bytes; raise \
                 `llm.context_bytes` if their context allows it, or say less in the kata"
            ));
        }
    }

    fn called(&mut self, call: Call) -> Result<(), HostFailed> {
        self.machine.reporter.rested();
        self.machine.note_call(&call);
        let recorded = self.machine.record(&[Event::LlmCall(call.event)]);
        self.open(recorded)
    }
}
