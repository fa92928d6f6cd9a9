//! The machine's own list of the kata's requirements, and which of them seem to have a test.

use super::starting_point::StartingPoint;
use super::{Fallible, Machine, MachineError, done};
use crate::cycle::Turn;
use crate::requirements::{Progress, Requirements, TestText, test_texts};
use crate::rule::Refusal;
use crate::seam::{Agent, Done, Reporter, StepResult, StepWorkshop};

impl<B: StepWorkshop, A: Agent, R: Reporter> Machine<B, A, R> {
    /// Which requirements seem to have a test, for a tester who chooses the next one.
    pub(super) fn progress(&self, start: &StartingPoint, turn: &Turn) -> Fallible<Option<Progress>, B, A> {
        let chooses = matches!(turn, Turn::Red { .. }) && self.mandate.target.is_none();
        // A mandate's brief may list other things than requirements.
        if !chooses || self.mandate.brief.is_some() || self.requirements.is_empty() {
            return Ok(None);
        }
        Ok(Some(self.requirements.progress(&self.test_texts(start)?, &self.named_before(start))))
    }

    /// Judges a tester's claim that the kata is done. What the claim names is remembered for the next one.
    pub(super) fn judge_done(&mut self, start: &StartingPoint, result: &StepResult) -> Fallible<Claim, B, A> {
        let none = Requirements::default();
        // A mandate's brief may list other things than requirements.
        let requirements = if self.mandate.brief.is_none() { &self.requirements } else { &none };
        let (tests, mut named) = (self.test_texts(start)?, self.named_before(start));
        let verdict = done::judge(result, &start.report, done::Known { requirements, tests: &tests, named: &named });
        let open = |named: &[Done]| requirements.progress(&tests, named).open().count();
        let before = open(&named);
        named.extend(result.done.iter().filter(|done| done::passes(&start.report, &done.test_id)).cloned());
        let claim = match verdict {
            Ok(requirements) => Claim::Holds { requirements },
            Err(refusal) => Claim::Refused { refusal, is_progress: open(&named) < before },
        };
        self.named = named;
        Ok(claim)
    }

    /// What testers named before, with tests that pass now.
    fn named_before(&self, start: &StartingPoint) -> Vec<Done> {
        self.named.iter().filter(|done| done::passes(&start.report, &done.test_id)).cloned().collect()
    }

    fn test_texts(&self, start: &StartingPoint) -> Fallible<Vec<TestText>, B, A> {
        test_texts(&start.report, |path| self.workshop.read(path)).map_err(MachineError::Work)
    }
}

/// The verdict on a tester's claim that the kata is done.
pub(super) enum Claim {
    /// Every requirement has a passing test; how many there are.
    Holds { requirements: usize },
    /// Something is open. A claim that names a test for an open requirement is progress, even if others stay open.
    Refused { refusal: Refusal, is_progress: bool },
}
