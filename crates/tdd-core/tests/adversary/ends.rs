//! How attempts, steps and pauses end, and what each leaves in the ledger.

use tdd_core::cycle::{Role, Turn};
use tdd_core::digest::Digest;
use tdd_core::event::{
    Blocked, EditRefused, Event, GreenOnArrival, Paused, Repair, Resumed, Reverted, StepEnd, StepOutcome, Stuck,
};
use tdd_core::report::Cause;
use tdd_core::rule::Refusal;
use tdd_core::signature::signature;

use crate::answer::Attempt;
use crate::machine::{MAX_ARRIVALS, Machine, Stand};
use crate::project::id;
use crate::promises;

impl Machine {
    pub fn without_edits(&mut self, stand: &Stand, turn: &Turn) {
        match turn {
            Turn::Refactor { .. } | Turn::Task { .. } => self.end_step(stand, StepOutcome::Nothing),
            Turn::Rethink { test, .. } => {
                let digest = self.session.tests().get(test.id()).and_then(|known| known.digest);
                self.revised(test.id(), digest);
            }
            Turn::Red { .. } | Turn::Green { .. } => self.failed(stand, turn, None),
        }
    }

    pub fn says_done(&mut self, stand: &Stand, turn: &Turn) {
        let all_pass = stand.report.obstacles().is_empty()
            && stand.report.results().all(|it| matches!(it.outcome.cause(), None | Some(Cause::Skipped)));
        if matches!(turn, Turn::Red { .. }) && all_pass {
            self.done = true;
            self.end_step(stand, StepOutcome::Done);
        } else {
            self.failed(stand, turn, None);
        }
    }

    pub fn refused(&mut self, stand: &Stand, turn: &Turn, attempt: &Attempt, refusal: &Refusal) {
        self.append(&Event::EditRefused(EditRefused {
            step: stand.step,
            attempt: turn.attempt(),
            rule: refusal.rule,
            reason: refusal.reason.clone(),
            paths: attempt.edits.iter().map(|edit| edit.path.clone()).collect(),
        }));
        self.failed(stand, turn, Some(refusal));
    }

    pub fn arrived(&mut self, stand: &Stand, turn: &Turn, refusal: &Refusal) {
        self.revert(stand, turn, Some(refusal), false);
        let test_id = refusal.test.clone().unwrap();
        self.append(&Event::GreenOnArrival(GreenOnArrival { test_id }));
        if self.session.standing().arrivals() >= MAX_ARRIVALS {
            self.pause("six new tests in a row passed at once");
            self.end_step(stand, StepOutcome::Stopped);
        }
    }

    pub fn failed(&mut self, stand: &Stand, turn: &Turn, refusal: Option<&Refusal>) {
        let rethinks = matches!(turn, Turn::Rethink { .. });
        let subject = self.session.standing().step().unwrap().subject();
        let signature = self.revert(stand, turn, refusal, !rethinks);
        if let Turn::Green { tests, attempt: 2 } = turn {
            self.append(&Event::Repair(Repair { test_id: tests[0].id().clone(), attempts: 2 }));
        }
        let times = self.session.standing().times_failed(&subject, signature);
        if times > 2 {
            self.append(&Event::Stuck(Stuck { subject, signature, times }));
        }
        if let Turn::Rethink { test, .. } = turn {
            self.failed_rethinks += 1;
            if self.failed_rethinks.is_multiple_of(2) {
                let digest = self.session.tests().get(test.id()).and_then(|known| known.digest);
                self.revised(test.id(), digest);
            }
        }
    }

    pub fn revert(&mut self, stand: &Stand, turn: &Turn, refusal: Option<&Refusal>, spent: bool) -> Digest {
        let reason = refusal.map_or_else(|| "it could not be read".to_owned(), ToString::to_string);
        let signature = signature([], &reason);
        self.append(&Event::Reverted(Reverted {
            step: stand.step,
            attempt: turn.attempt(),
            spent,
            in_tests: false,
            others: Vec::new(),
            rule: refusal.map(|it| it.rule),
            cause: refusal.and_then(|it| it.cause),
            reason,
            signature,
            kept_as: None,
        }));
        promises::check_nothing_left(self);
        signature
    }

    pub fn end_step(&mut self, stand: &Stand, outcome: StepOutcome) {
        let under_way = self.session.standing().step();
        let (step, role) = under_way.map_or((stand.step, stand.role), |step| (step.step, step.role));
        let head = self.commit_id();
        self.append(&Event::StepEnd(StepEnd { step, role, outcome, head }));
    }

    pub fn stop(&mut self, stand: &Stand) {
        if let Some(test) = stand.reds.first().filter(|_| stand.role == Role::Implementor) {
            let test_id = test.id().clone();
            self.append(&Event::Blocked(Blocked { test_id, reason: "all attempts failed".into() }));
        }
        self.pause("td-stuck");
        self.end_step(stand, StepOutcome::Stopped);
    }

    pub fn pause(&mut self, reason: &str) {
        self.append(&Event::Paused(Paused { reason: reason.into(), next: "`tdd-cli resume`".into() }));
    }

    pub fn resume(&mut self, skip: bool) {
        let blocked = self.session.standing().blocked().keys().next().cloned().filter(|_| skip);
        if let Some(test) = &blocked {
            let mut after = self.head.clone();
            let marked = after.tests.iter_mut().find(|(key, _)| &id(**key) == test);
            if let Some((_, test)) = marked {
                test.skipped = true;
            }
            self.commit(after);
        }
        self.append(&Event::Resumed(Resumed { skipped: blocked, unblocked: None }));
    }
}
