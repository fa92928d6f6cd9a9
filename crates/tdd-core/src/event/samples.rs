//! One event of each kind, for tests.

use super::*;
use crate::cycle::{Phase, Role};
use crate::digest::{CommitId, Digest, TreeId};
use crate::program::iteration::{Outcome, Overview};
use crate::report::{Cause, Counts};
use crate::rule::Rule;
use crate::test_id::IdSource;

#[expect(clippy::too_many_lines, reason = "there are many kinds of events")]
pub(crate) fn one_of_each() -> Vec<Event> {
    let tree = TreeId("4b825dc642cb6eb9a060e54bf8d69288fbee4904".into());
    vec![
        Event::TestRun(TestRun {
            test_id: TestId::native("tests/calc.rs", "adds"),
            test_id_source: IdSource::Native,
            status: Status::Fail,
            command: "cargo test --all".into(),
            duration_ms: 12,
            tree: tree.clone(),
            test_digest: Some(Digest::zero()),
            cause: Some(Cause::MissingSymbol),
            message: Some("cannot find function `adds` in crate `calc`".into()),
        }),
        Event::SuiteRun(SuiteRun {
            command: "cargo test --all".into(),
            tree: tree.clone(),
            duration_ms: 345,
            counts: Counts { passed: 3, failed: 1, skipped: 0 },
            vanished: vec![TestId::native("tests/calc.rs", "old")],
            obstacles: vec![InTheWay {
                subject: "tests/calc.rs".into(),
                cause: Cause::MissingSymbol,
                message: "cannot find function `adds` in crate `calc`".into(),
                place: Some("tests/calc.rs:5".into()),
                tests: vec![TestId::native("tests/calc.rs", "adds")],
            }],
        }),
        Event::Committed(Committed {
            commit: commit(),
            tree: tree.clone(),
            subject: "chore: set up the project".into(),
            files: vec!["Cargo.toml".into(), "src/lib.rs".into()],
        }),
        Event::RunStart(RunStart {
            version: "0.1.0".into(),
            kata: Digest::zero(),
            step: 0,
            plans: vec!["plans/05-01.md".into()],
        }),
        Event::RunEnd(RunEnd { reason: "3 steps done".into(), exit: 0 }),
        Event::StepStart(StepStart {
            step: 2,
            role: Role::Implementor,
            phase: Phase::Green,
            head: Some(commit()),
            base: tree.clone(),
            targets: vec![adds()],
            mark: Some("[phase-05/plan-01/task-01]".into()),
        }),
        Event::StepEnd(StepEnd { step: 2, role: Role::Implementor, outcome: StepOutcome::Kept, head: Some(commit()) }),
        Event::PlanSubmitted(PlanSubmitted {
            step: 2,
            role: Role::Implementor,
            digest: Digest::zero(),
            steps: vec![PlannedStep {
                text: "add".into(),
                test_id: Some(adds()),
                test_file_path: Some("tests/calc.rs".into()),
            }],
        }),
        Event::EditClaim(EditClaim { test_id: adds(), edit_target: "src/lib.rs".into() }),
        Event::EditApplied(EditApplied { step: 2, attempt: 1, paths: vec!["src/lib.rs".into()] }),
        Event::EditRefused(EditRefused {
            step: 2,
            attempt: 1,
            rule: Rule::TestsFrozen,
            reason: "the test `tests/calc.rs::adds` is gone".into(),
            paths: vec!["tests/calc.rs".into()],
        }),
        Event::Reverted(Reverted {
            step: 2,
            attempt: 1,
            spent: true,
            in_tests: false,
            others: Vec::new(),
            rule: Some(Rule::TargetPasses),
            cause: Some(Cause::Assertion),
            reason: "`tests/calc.rs::adds` fails".into(),
            signature: Digest::zero(),
            kept_as: Some("refs/tdd/attempts/2-1".into()),
        }),
        Event::Repair(Repair { test_id: adds(), attempts: 2 }),
        Event::Stuck(Stuck { subject: "tests/calc.rs::adds".into(), signature: Digest::zero(), times: 3 }),
        Event::TestRevised(TestRevised {
            test_id: adds(),
            before: Some(Digest::zero()),
            after: None,
            reason: "the kata says otherwise".into(),
            spec_source: "kata.md: an empty string gives 0".into(),
        }),
        Event::TestUpheld(TestUpheld {
            test_id: adds(),
            reason: "the kata says so".into(),
            spec_source: "kata.md: an empty string gives 0".into(),
        }),
        Event::TestRenamed(TestRenamed { from: adds(), test_id: TestId::native("tests/calc.rs", "sums") }),
        Event::GreenOnArrival(GreenOnArrival { test_id: adds() }),
        Event::Blocked(Blocked { test_id: adds(), reason: "5 attempts failed".into() }),
        Event::Paused(Paused { reason: "td-stuck: tests/calc.rs::adds".into(), next: "`tdd-cli resume`".into() }),
        Event::Resumed(Resumed { skipped: Some(adds()), unblocked: None }),
        Event::Resynced(Resynced { head: Some(commit()), step: 4, reason: "HEAD moved".into() }),
        Event::LlmCall(LlmCall {
            step: 2,
            role: Role::Implementor,
            model: "small".into(),
            purpose: "edit".into(),
            prompt_tokens: 900,
            cached_tokens: 768,
            completion_tokens: 120,
            micro_usd: 310,
            duration_ms: 1500,
        }),
        Event::Override(Override {
            rule: Rule::CheckPasses,
            reason: "lint is broken".into(),
            expires: 1_763_000_900_000,
        }),
        Event::RefactorBegin(RefactorBegin {
            base: tree.clone(),
            head: Some(commit()),
            reason: Some("first tests for old code".into()),
            mark: None,
        }),
        Event::RefactorEnd(RefactorEnd { kept: true, tree, verified_by: Some("cargo test".into()), kept_as: None }),
        Event::PersonEdit(PersonEdit {
            test_id: adds(),
            fate: PersonFate::Retired,
            reason: "the feature is gone".into(),
            path: "tests/calc.rs".into(),
            content: Digest::zero(),
            head: Some(commit()),
        }),
        Event::Retired(Retired { test_id: adds(), reason: "the feature is gone".into() }),
        Event::IterationStart(IterationStart {
            program: "port".into(),
            id: "1763000000000-89e6c98".into(),
            at_ms: 1_763_000_000_000,
            head: commit(),
            rethink: false,
        }),
        Event::IterationJudged(IterationJudged {
            program: "port".into(),
            base: commit(),
            head: commit(),
            iteration: Box::new(Overview { metric: Some(2.5), ..Overview::sample("1", Outcome::Accepted) }.into()),
            against: None,
            pause: None,
            completed: Some("the target 2.5 is reached".into()),
        }),
        Event::IterationEnd(IterationEnd { program: "port".into(), id: "1".into(), outcome: Outcome::Accepted }),
        Event::LedgerRepaired(LedgerRepaired { dropped_bytes: 17, dropped: "{\"v\":1,\"seq\":9,\"t".into() }),
    ]
}

fn adds() -> TestId {
    TestId::native("tests/calc.rs", "adds")
}

fn commit() -> CommitId {
    CommitId("89e6c98d92887913cadf06b2adb97f26cde4849b".into())
}
