//! Folding events never fails, whatever they are and in whatever order, and a checkpoint changes nothing.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use proptest::option;
use proptest::prelude::*;
use tdd_core::cycle::{Phase, Role};
use tdd_core::digest::{CommitId, Digest, TreeId};
use tdd_core::event::{
    Blocked, Committed, EditApplied, EditClaim, EditRefused, Event, GreenOnArrival, Head, InTheWay, LedgerRepaired,
    LlmCall, Override, Paused, PersonEdit, PersonFate, PlanSubmitted, Record, RefactorBegin, RefactorEnd, Repair,
    Resumed, Resynced, Retired, Reverted, RunEnd, RunStart, Status, StepEnd, StepOutcome, StepStart, Stuck, SuiteRun,
    TestRenamed, TestRevised, TestRun, TestUpheld,
};
use tdd_core::report::{Cause, Counts};
use tdd_core::rule::Rule;
use tdd_core::session::Session;
use tdd_core::test_id::TestId;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    #[test]
    fn any_events_fold_and_a_checkpoint_anywhere_changes_nothing(
        events in prop::collection::vec(event(), 0..40),
        at in any::<prop::sample::Index>(),
        now in any::<u64>(),
    ) {
        let mut folded = Session::default();
        let mut saved = Session::default();
        let checkpoint = at.index(events.len() + 1);
        for (nth, event) in events.iter().enumerate() {
            if nth == checkpoint {
                saved = serde_json::from_slice(&serde_json::to_vec(&saved).unwrap()).unwrap();
            }
            folded.apply(event);
            saved.apply(event);
            look_at(&folded, now);
        }
        prop_assert_eq!(&folded, &saved);
        prop_assert_eq!(folded.events(), events.len() as u64);
        prop_assert_eq!(&Session::replay(&written(&events)), &folded);
    }
}

/// The events, written as lines and read back.
fn written(events: &[Event]) -> Vec<Record> {
    let line = |(seq, event)| Record::line(&Head { seq, ts: 0, prev: Digest::zero() }, event);
    (1..).zip(events).map(line).map(|line| Record::parse(line.as_bytes()).unwrap()).collect()
}

/// Calls every query of a session.
fn look_at(session: &Session, now: u64) {
    let state = session.machine_state();
    let subject = state.step().map(tdd_core::machine_state::Step::subject).unwrap_or_default();
    let _ = (state.spent(&subject), state.times_failed(&subject, Digest::zero()), state.usage().tokens());
    assert!(state.exceptions(now).iter().all(|rule| rule.has_exceptions()));
    assert!(session.red().count() + session.green() <= session.tests().len());
    if let Some(suite) = session.suite() {
        assert!(session.report_on(&suite.tree, &suite.command).is_some());
    }
}

fn id() -> impl Strategy<Value = TestId> {
    (0..3_u8).prop_map(|name| TestId::native("tests/a.rs", &format!("t{name}")))
}

fn tree() -> impl Strategy<Value = TreeId> {
    (0..3_u8).prop_map(|tree| TreeId(tree.to_string()))
}

fn commit() -> impl Strategy<Value = CommitId> {
    (0..3_u8).prop_map(|commit| CommitId(commit.to_string()))
}

fn digest() -> impl Strategy<Value = Digest> {
    (0..3_u8).prop_map(|content| Digest::of([content]))
}

fn role() -> impl Strategy<Value = Role> {
    prop::sample::select(&Role::ALL[..])
}

fn cause() -> impl Strategy<Value = Option<Cause>> {
    option::of(prop::sample::select(&Cause::ALL[..]))
}

fn rule() -> impl Strategy<Value = Rule> {
    prop::sample::select(&Rule::ALL[..])
}

fn outcome() -> impl Strategy<Value = StepOutcome> {
    use StepOutcome::{Done, Kept, Nothing, Skipped, Stopped};
    prop::sample::select(vec![Kept, Nothing, Skipped, Done, Stopped])
}

fn text() -> impl Strategy<Value = String> {
    any::<String>()
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![results(), steps(), attempts(), pauses(), persons()]
}

fn results() -> impl Strategy<Value = Event> {
    let status = prop_oneof![Just(Status::Pass), Just(Status::Fail)];
    let test_run = (id(), status, tree(), option::of(digest()), cause(), option::of(text()), any::<u64>());
    let test_run = test_run.prop_map(|(test_id, status, tree, test_digest, cause, message, duration_ms)| {
        let (test_id_source, command) = (test_id.source(), "cargo test".to_owned());
        Event::TestRun(TestRun {
            test_id,
            test_id_source,
            status,
            command,
            duration_ms,
            tree,
            test_digest,
            cause,
            message,
        })
    });
    let obstacle = (text(), prop::sample::select(&Cause::ALL[..]), prop::collection::vec(id(), 0..2))
        .prop_map(|(subject, cause, tests)| InTheWay { subject, cause, message: String::new(), place: None, tests });
    let suite_run = (tree(), prop::collection::vec(id(), 0..3), prop::collection::vec(obstacle, 0..2));
    let suite_run = suite_run.prop_map(|(tree, vanished, obstacles)| {
        let (command, counts) = ("cargo test".to_owned(), Counts::default());
        Event::SuiteRun(SuiteRun { command, tree, duration_ms: 1, counts, vanished, obstacles })
    });
    prop_oneof![4 => test_run, 2 => suite_run]
}

fn steps() -> impl Strategy<Value = Event> {
    let start = (any::<u32>(), role(), prop::sample::select(&Phase::ALL[..]), option::of(commit()), tree());
    let start = (start, prop::collection::vec(id(), 0..3)).prop_map(|((step, role, phase, head, base), targets)| {
        Event::StepStart(StepStart { step, role, phase, head, base, targets, mark: None })
    });
    let end = (any::<u32>(), role(), outcome(), option::of(commit()))
        .prop_map(|(step, role, outcome, head)| Event::StepEnd(StepEnd { step, role, outcome, head }));
    let run_start = (text(), digest(), any::<u32>()).prop_map(|(version, kata, step)| RunStart {
        version,
        kata,
        step,
        plans: Vec::new(),
    });
    let run_end = (text(), any::<u8>()).prop_map(|(reason, exit)| Event::RunEnd(RunEnd { reason, exit }));
    let plan = (any::<u32>(), role(), digest())
        .prop_map(|(step, role, digest)| Event::PlanSubmitted(PlanSubmitted { step, role, digest, steps: Vec::new() }));
    let resynced = (option::of(commit()), any::<u32>(), text())
        .prop_map(|(head, step, reason)| Event::Resynced(Resynced { head, step, reason }));
    let call = (role(), text(), any::<[u64; 5]>()).prop_map(|(role, model, numbers)| {
        let [prompt_tokens, cached_tokens, completion_tokens, micro_usd, duration_ms] = numbers;
        let (step, purpose) = (1, "edit".to_owned());
        let tokens = (prompt_tokens, cached_tokens, completion_tokens);
        let (prompt_tokens, cached_tokens, completion_tokens) = tokens;
        Event::LlmCall(LlmCall {
            step,
            role,
            model,
            purpose,
            prompt_tokens,
            cached_tokens,
            completion_tokens,
            micro_usd,
            duration_ms,
        })
    });
    prop_oneof![4 => start, 3 => end, 1 => run_start.prop_map(Event::RunStart), 1 => run_end, 1 => plan, 1 => resynced, 1 => call]
}

fn attempts() -> impl Strategy<Value = Event> {
    let claim = (id(), text()).prop_map(|(test_id, edit_target)| EditClaim { test_id, edit_target });
    let applied = (any::<u32>(), any::<u32>(), prop::collection::vec(text(), 0..2))
        .prop_map(|(step, attempt, paths)| Event::EditApplied(EditApplied { step, attempt, paths }));
    let refused = (any::<u32>(), any::<u32>(), rule(), text()).prop_map(|(step, attempt, rule, reason)| {
        Event::EditRefused(EditRefused { step, attempt, rule, reason, paths: Vec::new() })
    });
    let reverted = (any::<[u32; 2]>(), any::<bool>(), option::of(rule()), cause(), text(), digest());
    let reverted = reverted.prop_map(|([step, attempt], spent, rule, cause, reason, signature)| {
        Event::Reverted(Reverted {
            step,
            attempt,
            spent,
            in_tests: false,
            others: Vec::new(),
            rule,
            cause,
            reason,
            signature,
            kept_as: None,
        })
    });
    let repair = (id(), any::<u32>()).prop_map(|(test_id, attempts)| Event::Repair(Repair { test_id, attempts }));
    let stuck = (text(), digest(), any::<u32>())
        .prop_map(|(subject, signature, times)| Event::Stuck(Stuck { subject, signature, times }));
    let revised = (id(), option::of(digest()), option::of(digest())).prop_map(|(test_id, before, after)| {
        Event::TestRevised(TestRevised { test_id, before, after, reason: String::new(), spec_source: String::new() })
    });
    let upheld = id().prop_map(|test_id| {
        Event::TestUpheld(TestUpheld { test_id, reason: String::new(), spec_source: String::new() })
    });
    let renamed = (id(), id()).prop_map(|(from, test_id)| Event::TestRenamed(TestRenamed { from, test_id }));
    let arrival = id().prop_map(|test_id| Event::GreenOnArrival(GreenOnArrival { test_id }));
    let committed = (commit(), tree(), text())
        .prop_map(|(commit, tree, subject)| Event::Committed(Committed { commit, tree, subject, files: Vec::new() }));
    prop_oneof![
        claim.prop_map(Event::EditClaim),
        applied,
        refused,
        reverted,
        repair,
        stuck,
        revised,
        upheld,
        renamed,
        arrival,
        committed
    ]
}

fn pauses() -> impl Strategy<Value = Event> {
    let blocked = (id(), text()).prop_map(|(test_id, reason)| Event::Blocked(Blocked { test_id, reason }));
    let paused = (text(), text()).prop_map(|(reason, next)| Event::Paused(Paused { reason, next }));
    let resumed = (option::of(id()), option::of(id()))
        .prop_map(|(skipped, unblocked)| Event::Resumed(Resumed { skipped, unblocked }));
    let repaired = (any::<u64>(), text())
        .prop_map(|(dropped_bytes, dropped)| Event::LedgerRepaired(LedgerRepaired { dropped_bytes, dropped }));
    prop_oneof![blocked, paused, resumed, repaired]
}

fn persons() -> impl Strategy<Value = Event> {
    let made = (rule(), text(), any::<u64>())
        .prop_map(|(rule, reason, expires)| Event::Override(Override { rule, reason, expires }));
    let begin = (tree(), option::of(commit()), option::of(text()))
        .prop_map(|(base, head, reason)| Event::RefactorBegin(RefactorBegin { base, head, reason, mark: None }));
    let end = (any::<bool>(), tree())
        .prop_map(|(kept, tree)| Event::RefactorEnd(RefactorEnd { kept, tree, verified_by: None, kept_as: None }));
    let retired = (id(), text()).prop_map(|(test_id, reason)| Event::Retired(Retired { test_id, reason }));
    let fate = prop_oneof![Just(PersonFate::Retired), Just(PersonFate::Skipped), Just(PersonFate::Unblocked)];
    let edit = (id(), fate, text(), option::of(commit())).prop_map(|(test_id, fate, reason, head)| {
        let (path, content) = ("tests/a.rs".to_owned(), Digest::of(&reason));
        Event::PersonEdit(PersonEdit { test_id, fate, reason, path, content, head })
    });
    prop_oneof![made, begin, end, retired, edit]
}
