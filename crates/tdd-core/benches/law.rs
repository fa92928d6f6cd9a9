//! Measures the cost of a gate verdict, a judge verdict, a signature and folding an event: `cargo bench -p tdd-core
//! --bench law`.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![expect(clippy::disallowed_types, reason = "a benchmark looks at the clock")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use tdd_core::change::{Change, ItemChange, ItemFate, TestChange, TestFacts};
use tdd_core::config::Gate;
use tdd_core::cycle::{Phase, Role};
use tdd_core::digest::{CommitId, Digest, TreeId};
use tdd_core::event::{
    Committed, EditApplied, EditClaim, Event, Override, Reverted, Status, StepEnd, StepOutcome, StepStart, TestRun,
};
use tdd_core::gate::{self, Action, Decision, Edit, Limits, Request};
use tdd_core::judge::{self, RunFacts, Verdict};
use tdd_core::law::{Kind, NO_EXCEPTIONS, RuleRunner, Subject};
use tdd_core::report::{Cause, Outcome, Report, TestResult};
use tdd_core::rule::Rule;
use tdd_core::session::Session;
use tdd_core::signature::signature;
use tdd_core::test_id::TestId;

const EVENTS: usize = 100_000;
const TESTS: usize = 2_000;
const FILES: usize = 200;

fn main() {
    gate();
    judge();
    signatures();
}

fn id(nth: usize) -> TestId {
    TestId::native(&format!("tests/file_{}.rs", nth % FILES), &format!("module::does_what_the_kata_says_{nth}"))
}

/// One event of a long history: cycles of a red, a failed attempt and a green, with all their events.
fn event(nth: usize) -> Event {
    let (step, tree) = (u32::try_from(nth / 10).unwrap_or(u32::MAX), TreeId(format!("{nth:040x}")));
    let test_run = |status, cause| {
        Event::TestRun(TestRun {
            test_id: id(nth / 10 % TESTS),
            test_id_source: id(0).source(),
            status,
            command: "cargo test --all".into(),
            duration_ms: 3,
            tree: tree.clone(),
            test_digest: Some(Digest::of((nth / 10).to_le_bytes())),
            cause,
            message: cause.map(|_| "assertion `left == right` failed\n  left: 1\n right: 2".to_owned()),
        })
    };
    let applied = || Event::EditApplied(EditApplied { step, attempt: 1, paths: vec!["src/lib.rs".into()] });
    let claim = || Event::EditClaim(EditClaim { test_id: id(nth / 10 % TESTS), edit_target: "src/lib.rs".into() });
    match nth % 10 {
        0 => test_run(Status::Fail, Some(Cause::Assertion)),
        1 => start(step, id(nth / 10 % TESTS)),
        2 if nth % 1000 == 2 => {
            Event::Override(Override { rule: Rule::CheckPasses, reason: "lint".into(), expires: 1 })
        }
        2 | 5 => claim(),
        3 | 6 => applied(),
        4 => Event::Reverted(Reverted {
            step,
            attempt: 1,
            spent: true,
            in_tests: false,
            others: Vec::new(),
            rule: Some(Rule::TargetPasses),
            cause: Some(Cause::Assertion),
            reason: "it fails".into(),
            signature: Digest::of(nth.to_le_bytes()),
            kept_as: None,
        }),
        7 => test_run(Status::Pass, None),
        8 => Event::Committed(Committed {
            commit: CommitId(tree.0.clone()),
            tree,
            subject: "feat: it does".into(),
            files: vec!["src/lib.rs".into()],
        }),
        _ => Event::StepEnd(StepEnd { step, role: Role::Implementor, outcome: StepOutcome::Kept, head: None }),
    }
}

fn start(step: u32, target: TestId) -> Event {
    let (role, phase, base) = (Role::Implementor, Phase::Green, TreeId("t".into()));
    Event::StepStart(StepStart { step, role, phase, head: None, base, targets: vec![target], mark: None })
}

fn gate() {
    let events: Vec<Event> = (0..EVENTS - 3).map(event).collect();
    let begun = Instant::now();
    let mut session = Session::default();
    for event in &events {
        session.apply(event);
    }
    println!("one event folded in: {:?} (mean of {EVENTS})", begun.elapsed() / u32::try_from(EVENTS).unwrap_or(1));
    for event in [event(0), start(1, id(0)), event(5)] {
        session.apply(&event);
    }
    let production = |nth| item(nth, "src", ItemFate::Changed);
    let small = Change { production: vec![production(0)], ..Change::default() };
    let large = Change { production: (0..FILES).map(production).collect(), ..Change::default() };
    let events = session.events();
    for (what, change) in [("1 file", &small), ("200 files", &large)] {
        let edits: Vec<Edit> = change.production.iter().map(edit).collect();
        let time = median(1_000, || {
            let request = Request::of_model(&edits, change);
            matches!(gate::judge(black_box(&session), &request, &limits()), Decision::Permit(_))
        });
        println!("a verdict of the gate, {events} events, {what}: {time:?}");
    }
}

fn edit(item: &ItemChange) -> Edit {
    Edit { path: item.path.clone(), action: Action::Upsert { content: "fn x() {}\n".repeat(20) } }
}

fn limits() -> Limits<'static> {
    Limits {
        now_ms: 1_000,
        max_attempts: 5,
        max_new_tests: 1,
        max_tokens: Some(u64::MAX),
        ..Limits::of_kata("kata.md")
    }
}

fn item(nth: usize, folder: &str, fate: ItemFate) -> ItemChange {
    ItemChange { path: format!("{folder}/file_{nth}.rs"), item: format!("fn `item_{nth}`"), line: 1, fate }
}

fn facts(nth: usize, path: &str) -> TestFacts {
    TestFacts {
        id: TestId::native(path, &format!("module::does_what_the_kata_says_{nth}")),
        path: path.to_owned(),
        line: 1,
        digest: Digest::of(nth.to_le_bytes()),
        body: Digest::of(nth.to_le_bytes()),
        assertions: (0..5_u8).map(|it| Digest::of([it])).collect(),
        skipped: None,
        conditions: Vec::new(),
        should_panic: false,
        returns_result: false,
        asks_production: true,
    }
}

/// A change of 200 files in a project of 2,000 tests: changed production code and moved tests.
fn judge() {
    let production = (0..FILES).map(|nth| item(nth, "src", ItemFate::Changed)).collect();
    let green = Change { production, ..Change::default() };
    let moved = |nth| TestChange::Moved {
        before: facts(nth, &format!("tests/file_{}.rs", nth % FILES)),
        after: facts(nth, &format!("tests/moved_{}.rs", nth % FILES)),
    };
    let refactor = Change { tests: (0..TESTS).map(moved).collect(), ..Change::default() };
    let passed = |id| TestResult::new(id, Outcome::Pass, 1);
    let at_place = Report::new((0..TESTS).map(|nth| passed(id(nth))), Vec::new());
    let after = refactor.tests.iter().filter_map(TestChange::after).map(|facts| passed(facts.id.clone()));
    let at_new_place = Report::new(after, Vec::new());
    let baseline = judge::baseline_of(&at_place);
    let mut was_red = baseline.clone();
    was_red.insert(id(0), Some(Cause::Assertion));
    let (tree, gate, targets) = (TreeId("t".into()), Gate::default(), [id(0)]);
    let judged = |kind, change, report, baseline| {
        let seen = RunFacts { change, report, trees: (&tree, &tree), baseline: Some(baseline), absent: &[] };
        let subject = Subject { kind, target: targets.first(), targets: &targets, was_green: false, gate: &gate };
        matches!(judge::judge(&mut RuleRunner::new(NO_EXCEPTIONS), &subject, &seen), Verdict::Holds(_))
    };
    let green_time = median(200, || judged(Kind::Green, black_box(&green), &at_place, &was_red));
    println!("a judge's call on a green of {FILES} files, {TESTS} tests: {green_time:?}");
    let time = median(50, || judged(Kind::Refactor, black_box(&refactor), &at_new_place, &baseline));
    println!("a judge's call on a refactor that moves {TESTS} tests of {FILES} files: {time:?}");
}

fn signatures() {
    let failing: Vec<TestId> = (0..20).map(id).collect();
    let message = "thread 'adds' panicked at src/lib.rs:4:5:\nassertion failed\n  left: 1\n right: 2\n".repeat(8);
    let time = median(1_000, || signature(black_box(&failing), &message) != Digest::zero());
    println!("the signature of a failure, 20 tests, {} bytes: {time:?}", message.len());
}

/// The median time of a call that must return true each time.
fn median(rounds: usize, holds: impl Fn() -> bool) -> Duration {
    let mut times: Vec<Duration> = (0..rounds)
        .map(|_| {
            let begun = Instant::now();
            assert!(black_box(holds()), "what is measured is not what was meant");
            begun.elapsed()
        })
        .collect();
    times.sort();
    times[times.len() / 2]
}
