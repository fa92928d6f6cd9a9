//! Property tests with an adversary: whatever an agent answers, in whatever order, the promises hold.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod actor;
mod answer;
mod honest;
mod project;
mod promises;
mod run;
mod world;

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use tdd_core::cycle::Phase;
use tdd_core::rule::{Rule, Severity};
use tdd_core::session::Session;

use answer::{Act, acts};
use run::Game;

/// How many turns an honest agent may need from any state until the end or a pause.
const WAY_OUT: usize = 80;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(sequences()) })]

    #[test]
    fn whatever_an_agent_answers_the_promises_hold_and_there_is_a_way_on(acts in acts()) {
        let mut game = Game::new();
        for act in &acts {
            game.act(act);
        }
        check_replay(&game);
        check_way_out(&mut game);
        check_replay(&game);
    }
}

#[test]
fn the_adversary_gets_through_every_phase_and_meets_every_rule() {
    let mut runner = TestRunner::deterministic();
    let (mut kept, mut met) = (BTreeSet::new(), BTreeSet::new());
    for _ in 0..300 {
        let mut game = Game::new();
        for act in acts().new_tree(&mut runner).unwrap().current() {
            game.act(&act);
        }
        let (phases, rules) = run::met(game.records());
        kept.extend(phases);
        met.extend(rules);
        met.extend(game.refused_outside.take());
    }
    assert_eq!(kept, BTreeSet::from(Phase::ALL));
    // This adversary does not vary the content of edits, does not begin refactor mode, and has no real code for a
    // language to look at.
    let edits = [Rule::PlainText, Rule::SizeLimit, Rule::OneEditPerPath, Rule::EditApplies];
    let elsewhere = [&edits[..], &[Rule::TargetFence, Rule::Budget, Rule::RefactorMode, Rule::TestSensing]].concat();
    let is_elsewhere = |rule: &Rule| {
        let shadowed = [Rule::TestTampering, Rule::EmptyTest].contains(rule);
        elsewhere.contains(rule) || shadowed || rule.severity() == Severity::Warn
    };
    let unmet: Vec<_> = Rule::ALL.into_iter().filter(|rule| !met.contains(rule) && !is_elsewhere(rule)).collect();
    assert_eq!(unmet, []);
}

/// Replaying the ledger gives the same session, and so does resuming from a checkpoint.
fn check_replay(game: &Game) {
    assert_eq!(&Session::replay(game.records()), game.session());
    let (first, rest) = game.records().split_at(game.records().len() / 2);
    let checkpoint = serde_json::to_vec(&Session::replay(first)).unwrap();
    let mut session: Session = serde_json::from_slice(&checkpoint).unwrap();
    for record in rest {
        session.apply(&record.event);
    }
    assert_eq!(&session, game.session());
}

/// Honest work alone ends with the kata done, or with a pause that says why.
fn check_way_out(game: &mut Game) {
    game.act(&Act::Resume { skip: false });
    game.done = false;
    for _ in 0..WAY_OUT {
        if game.done || game.is_paused() {
            return;
        }
        game.act(&Act::Honest(Vec::new()));
    }
    panic!("{WAY_OUT} turns lead nowhere: {:?}", game.session().machine_state());
}

/// How many sequences are run: few by default, as many as the contract demands in a full run.
#[expect(clippy::disallowed_methods, reason = "how long a test may take is for whoever runs it to say")]
fn sequences() -> u32 {
    std::env::var("TDD_SEQUENCES").ok().and_then(|number| number.parse().ok()).unwrap_or(1_000)
}
