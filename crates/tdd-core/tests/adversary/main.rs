//! An adversary at the gates: whatever an agent answers, in whatever order, the promises hold.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod answer;
mod ends;
mod honest;
mod machine;
mod project;
mod promises;
mod proof;

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use tdd_core::cycle::Phase;
use tdd_core::event::{Event, StepOutcome};
use tdd_core::rule::Rule;
use tdd_core::session::Session;

use answer::{Act, acts};
use machine::Machine;

/// How many turns an honest agent may need, from wherever it is, to an end or to a person.
const WAY_OUT: usize = 80;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(sequences()) })]

    #[test]
    fn whatever_an_agent_answers_the_promises_hold_and_there_is_a_way_on(acts in acts()) {
        let mut machine = Machine::default();
        for act in &acts {
            machine.act(act);
        }
        check_replay(&machine);
        check_way_out(&mut machine);
        check_replay(&machine);
    }
}

#[test]
fn the_adversary_gets_through_every_phase_and_meets_every_rule() {
    let mut runner = TestRunner::deterministic();
    let (mut kept, mut met) = (BTreeSet::new(), BTreeSet::new());
    for _ in 0..300 {
        let mut machine = Machine::default();
        for act in acts().new_tree(&mut runner).unwrap().current() {
            machine.act(&act);
        }
        let mut phase = None;
        for record in &machine.records {
            match &record.event {
                Event::StepStart(start) => phase = Some(start.phase),
                Event::StepEnd(end) if end.outcome == StepOutcome::Kept => kept.extend(phase),
                Event::Reverted(reverted) => met.extend(reverted.rule),
                _ => {}
            }
        }
    }
    assert_eq!(kept, BTreeSet::from(Phase::ALL));
    // What edits carry and whether they agree is not this adversary's matter, nor is a mode that persons begin, nor
    // what a language sees in the code itself.
    let edits = [Rule::PlainText, Rule::SizeLimit, Rule::OneEditPerPath, Rule::EditApplies];
    let elsewhere = [&edits[..], &[Rule::TargetFence, Rule::Budget, Rule::RefactorMode, Rule::TestSensing]].concat();
    let unmet: Vec<_> = Rule::ALL.into_iter().filter(|rule| !met.contains(rule) && !elsewhere.contains(rule)).collect();
    assert_eq!(unmet, []);
}

/// The ledger, read back, gives the same session, and so does one that goes on from a checkpoint.
fn check_replay(machine: &Machine) {
    assert_eq!(Session::replay(&machine.records), machine.session);
    let (first, rest) = machine.records.split_at(machine.records.len() / 2);
    let checkpoint = serde_json::to_vec(&Session::replay(first)).unwrap();
    let mut session: Session = serde_json::from_slice(&checkpoint).unwrap();
    for record in rest {
        session.apply(&record.event);
    }
    assert_eq!(session, machine.session);
}

/// Honest work alone ends with the kata done, or with a person who is told why.
fn check_way_out(machine: &mut Machine) {
    machine.act(&Act::Resume { skip: false });
    machine.done = false;
    for _ in 0..WAY_OUT {
        if machine.done || machine.is_paused() {
            return;
        }
        machine.act(&Act::Honest(Vec::new()));
    }
    panic!("{WAY_OUT} turns lead nowhere: {:?}", machine.session.standing());
}

/// So many sequences: a few in every run of the tests, all that the contract asks for in the full one.
#[expect(clippy::disallowed_methods, reason = "how long a test may take is for whoever runs it to say")]
fn sequences() -> u32 {
    std::env::var("TDD_SEQUENCES").ok().and_then(|number| number.parse().ok()).unwrap_or(1_000)
}
