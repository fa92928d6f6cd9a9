//! The machine's own list of the kata's requirements, and which of them seem to have a test.

use super::starting_point::StartingPoint;
use super::{Fallible, Machine, MachineError, done};
use crate::cycle::Turn;
use crate::requirements::{Progress, TestText, test_texts};
use crate::rule::Refusal;
use crate::seam::{Agent, Reporter, StepResult, StepWorkshop};

impl<B: StepWorkshop, A: Agent, R: Reporter> Machine<B, A, R> {
    /// Which requirements seem to have a test, for a tester who chooses the next one.
    pub(super) fn progress(&self, start: &StartingPoint, turn: &Turn) -> Fallible<Option<Progress>, B, A> {
        let chooses = matches!(turn, Turn::Red { .. }) && self.mandate.target.is_none();
        // A mandate's brief may list other things than requirements.
        if !chooses || self.mandate.brief.is_some() || self.requirements.is_empty() {
            return Ok(None);
        }
        Ok(Some(self.requirements.progress(&self.test_texts(start)?, &self.named)))
    }

    /// Judges a tester's claim that the kata is done; returns how many requirements have a test. What the claim names
    /// is remembered for the next one.
    pub(super) fn judge_done(
        &mut self,
        start: &StartingPoint,
        result: &StepResult,
    ) -> Fallible<Result<usize, Refusal>, B, A> {
        let none = crate::requirements::Requirements::default();
        let requirements = if self.mandate.brief.is_none() { &self.requirements } else { &none };
        let tests = self.test_texts(start)?;
        let verdict =
            done::judge(result, &start.report, done::Known { requirements, tests: &tests, named: &self.named });
        let passing = result.done.iter().filter(|done| done::passes(&start.report, &done.test_id));
        self.named.extend(passing.cloned());
        Ok(verdict)
    }

    fn test_texts(&self, start: &StartingPoint) -> Fallible<Vec<TestText>, B, A> {
        test_texts(&start.report, |path| self.workshop.read(path)).map_err(MachineError::Work)
    }
}
