//! A new test that passes at once: it is undone, or kept if it can fail.

use super::attempt::{Failed, Outcome};
use super::starting_point::StartingPoint;
use super::{Fallible, Machine, MachineError};
use crate::cycle::Turn;
use crate::event::{Event, GreenOnArrival};
use crate::law::Kind;
use crate::pipeline;
use crate::report::Cause;
use crate::rule::Refusal;
use crate::seam::{Agent, Feedback, Reporter, StepResult, StepWorkshop};
use crate::test_id::TestId;

/// Consecutive already-passing tests before the run pauses.
const MAX_CONSECUTIVE_PASSING_TESTS: u32 = 6;
/// The same limit if the last of them was kept as a characterization test.
const MAX_CONSECUTIVE_KEPT_TESTS: u32 = 18;
/// The same limit for a test that a plan chose.
const MAX_ASSIGNED_PASSING_TESTS: u32 = 3;
/// Consecutive already-passing tests before the tester is asked whether the kata is done.
pub(super) const ASK_WHETHER_DONE: u32 = 3;

/// What happened to a test that passed at once.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Arrival {
    Kept,
    Undone,
}

/// Whether the attempt brought a test that passes at once.
pub(super) fn is_arrival(turn: &Turn, refusal: &Refusal) -> bool {
    matches!(turn, Turn::Red { .. }) && refusal.cause == Some(Cause::UnexpectedGreen)
}

impl<B: StepWorkshop, A: Agent, R: Reporter> Machine<B, A, R> {
    /// Keeps a new test that passes at once, or undoes it: then the attempt does not count, and the tester chooses another
    /// target.
    pub(super) fn arrived(
        &mut self,
        start: &StartingPoint,
        turn: &Turn,
        result: &StepResult,
        refusal: &Refusal,
    ) -> Fallible<Outcome, B, A> {
        if self.characterize(start, turn, result, refusal)? {
            return self.after_arrival(start, turn, refusal, Arrival::Kept);
        }
        let test_id = refusal.test.clone().unwrap_or_else(|| TestId::native("", "unknown"));
        self.undo(start, turn, &Failed::refused(refusal.clone()).unspent())?;
        self.record(&[Event::GreenOnArrival(GreenOnArrival { test_id })])?;
        self.after_arrival(start, turn, refusal, Arrival::Undone)
    }

    /// With `until_done`, keeps the second and every further consecutive test that passes at once, and each test of a
    /// list, if its altered copies fail. So a run whose model implemented everything at once still comes to a proven end.
    fn characterize(
        &mut self,
        start: &StartingPoint,
        turn: &Turn,
        result: &StepResult,
        refusal: &Refusal,
    ) -> Fallible<bool, B, A> {
        let is_listed = result.is_listed || !result.later.is_empty();
        let is_expected = is_listed || self.session().machine_state().arrivals() > 0;
        let may_keep = self.order.until_done && self.mandate.target.is_none() && is_expected;
        let Some(test_id) = refusal.test.clone().filter(|_| may_keep) else { return Ok(false) };
        let targets = [test_id.clone()];
        let judged =
            pipeline::judge(&mut self.workshop, Kind::Characterization, &targets, 0).map_err(MachineError::Work)?;
        if judged.refusal().is_some() {
            return Ok(false);
        }
        self.note_judged(&judged);
        self.record(&[Event::GreenOnArrival(GreenOnArrival { test_id })])?;
        self.keep(start, turn, result, &judged, Kind::Characterization)?;
        Ok(true)
    }

    /// Pauses after too many consecutive tests that passed at once; otherwise tells the tester how to go on.
    fn after_arrival(
        &mut self,
        start: &StartingPoint,
        turn: &Turn,
        refusal: &Refusal,
        arrival: Arrival,
    ) -> Fallible<Outcome, B, A> {
        let arrivals = self.session().machine_state().arrivals();
        if let Some(fixed) = self.fixed(turn).filter(|_| arrivals >= MAX_ASSIGNED_PASSING_TESTS) {
            let reason =
                format!("`{}` passed at once {arrivals} times: is its behaviour implemented already?", fixed.test);
            let next = "write the test yourself and commit it, or remove the step from the plan; then `tdd-cli resume`";
            return self.pause(start, reason, next.to_owned()).map(Outcome::End);
        }
        let limit = match arrival {
            Arrival::Kept => MAX_CONSECUTIVE_KEPT_TESTS,
            Arrival::Undone => MAX_CONSECUTIVE_PASSING_TESTS,
        };
        if arrivals >= limit {
            let reason = format!("{arrivals} new tests in a row passed at once: is the kata done?");
            let next = "`tdd-cli resume` goes on; in refactor mode (`tdd-cli refactor begin`) you can add tests for \
                        existing behaviour";
            return self.pause(start, reason, next.to_owned()).map(Outcome::End);
        }
        if arrival == Arrival::Kept {
            return Ok(Outcome::Continue);
        }
        if arrivals == ASK_WHETHER_DONE && self.mandate.target.is_none() {
            self.ask_whether_done(turn, arrivals, refusal);
        } else {
            let next = "choose something that the kata asks for and the code does not do yet, and write a test for it";
            let failed = Failed::refused(Refusal { next: next.to_owned(), ..refusal.clone() });
            self.tell(turn, &Feedback::Failed(failed.setback()));
        }
        Ok(Outcome::Continue)
    }

    /// Tells the tester to declare the kata done, or to test a requirement that has no test.
    fn ask_whether_done(&mut self, turn: &Turn, arrivals: u32, refusal: &Refusal) {
        let next = format!(
            "{arrivals} new tests in a row passed at once: if every requirement of the kata has its test, send no edits \
             and name them in `done`; otherwise write a test that fails for a requirement that has none"
        );
        let failed = Failed::refused(Refusal { next, ..refusal.clone() });
        self.tell(turn, &Feedback::StartOver(failed.setback()));
        self.tell(turn, &Feedback::MayBeDone);
    }
}
