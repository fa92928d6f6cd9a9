//! Tests of every gate rule: what it accepts and what it refuses.

use super::*;
use crate::change::{ItemChange, ItemFate, TestChange, TestFacts};

fn upsert(path: &str, content: &str) -> Edit {
    Edit { path: path.to_owned(), action: Action::Upsert { content: content.to_owned() } }
}

fn check(edits: &[Edit], expected: Option<Rule>) {
    let rule = match check_edits(edits, "docs/kata.md") {
        Ok(()) => None,
        Err(refusal) => {
            assert!(!refusal.reason.is_empty() && !refusal.next.is_empty());
            Some(refusal.rule)
        }
    };
    assert_eq!(rule, expected, "{edits:?}");
}

#[test]
fn edits_of_the_projects_files_are_permitted() {
    let rename = Edit { path: "src/a.rs".into(), action: Action::Rename { to: "src/b.rs".into() } };
    check(&[upsert("src/lib.rs", "x"), rename, Edit { path: "c".into(), action: Action::Delete }], None);
}

#[test]
fn one_bad_edit_refuses_them_all() {
    check(&[upsert("src/lib.rs", "x"), upsert("../x", "x")], Some(Rule::PathConfined));
}

#[test]
fn protected_paths_are_refused_as_source_and_as_target() {
    check(&[upsert(".git/config", "x")], Some(Rule::ProtectedPath));
    check(&[upsert("tdd.yaml", "x")], Some(Rule::ProtectedPath));
    check(&[upsert(".autoloop/programs/port/program.md", "x")], Some(Rule::ProtectedPath));
    check(&[upsert("docs/Kata.md", "x")], Some(Rule::ProtectedPath));
    let rename = Edit { path: "src/a.rs".into(), action: Action::Rename { to: ".tdd/x".into() } };
    check(&[rename], Some(Rule::ProtectedPath));
}

#[test]
fn binary_and_huge_content_is_refused() {
    check(&[upsert("a", "x\0y")], Some(Rule::PlainText));
    check(&[upsert("a", &"x".repeat(MAX_FILE))], None);
    check(&[upsert("a", &"x".repeat(MAX_FILE + 1))], Some(Rule::SizeLimit));
    let many: Vec<_> = (0..9).map(|n| upsert(&format!("f{n}"), &"x".repeat(MAX_FILE))).collect();
    check(&many, Some(Rule::SizeLimit));
    check(&many[..8], None);
}

#[test]
fn a_file_named_twice_is_refused_whatever_its_case() {
    check(&[upsert("src/lib.rs", "x"), upsert("src/Lib.rs", "y")], Some(Rule::OneEditPerPath));
    let rename = Edit { path: "a".into(), action: Action::Rename { to: "b".into() } };
    check(&[rename, upsert("b", "x")], Some(Rule::OneEditPerPath));
}

#[test]
fn a_replacement_of_nothing_is_refused() {
    let edit = Edit { path: "a".into(), action: Action::Replace { find: String::new(), content: "x".to_owned() } };
    check(&[edit], Some(Rule::EditApplies));
}

#[test]
fn init_may_add_the_configuration_but_not_reach_git_or_the_ledger() {
    assert!(matches!(permit_scaffold([("tdd.yaml", "x"), ("kata.md", "y")]), Decision::Permit(_)));
    assert!(matches!(permit_scaffold([(".git/config", "x")]), Decision::Refuse(_)));
    assert!(matches!(permit_scaffold([(".tdd/events.jsonl", "x")]), Decision::Refuse(_)));
}

mod law {
    use super::*;
    use crate::change::{ItemChange, ItemFate, SteeringChange, TestChange, TestFacts};
    use crate::cycle::Role;
    use crate::digest::{Digest, TreeId};
    use crate::event::{
        EditApplied, EditClaim, Event, LlmCall, Override, Paused, RefactorBegin, RefactorEnd, Reverted, StepStart,
        TestRun,
    };
    use crate::report::Cause;
    use crate::test_id::IdSource;

    fn adds() -> TestId {
        TestId::native("tests/a.rs", "adds")
    }

    fn tree() -> TreeId {
        TreeId("t".into())
    }

    fn ran(cause: Option<Cause>) -> Event {
        Event::TestRun(TestRun {
            test_id: adds(),
            test_id_source: IdSource::Native,
            status: if cause.is_none() { Status::Pass } else { Status::Fail },
            command: "cargo test".into(),
            duration_ms: 1,
            tree: tree(),
            test_digest: Some(Digest::of("adds")),
            cause,
            message: None,
        })
    }

    fn step(phase: Phase) -> Event {
        let (role, targets) = match phase {
            Phase::Red => (Role::Tester, Vec::new()),
            Phase::RethinkTest => (Role::Tester, vec![adds()]),
            Phase::Green => (Role::Implementor, vec![adds()]),
            Phase::Refactor => (Role::Refactorer, Vec::new()),
        };
        Event::StepStart(StepStart { step: 1, role, phase, head: None, base: tree(), targets, mark: None })
    }

    fn claim() -> Event {
        Event::EditClaim(EditClaim { test_id: adds(), edit_target: "src/lib.rs".into() })
    }

    fn failed(attempt: u32) -> Event {
        Event::Reverted(Reverted {
            step: 1,
            attempt,
            spent: true,
            in_tests: false,
            others: Vec::new(),
            rule: None,
            cause: None,
            reason: "no".into(),
            signature: Digest::zero(),
            kept_as: None,
        })
    }

    fn item(path: &str, fate: ItemFate) -> ItemChange {
        ItemChange { path: path.into(), item: "fn `add`".into(), line: 1, fate }
    }

    fn production() -> Change {
        Change { production: vec![item("src/lib.rs", ItemFate::Added)], ..Change::default() }
    }

    fn facts(name: &str) -> TestFacts {
        TestFacts { assertions: vec![Digest::of("assertion")], ..TestFacts::plain("tests/a.rs", name) }
    }

    fn tests(changes: Vec<TestChange>) -> Change {
        Change { tests: changes, ..Change::default() }
    }

    const NOW: u64 = 1000;

    fn limits() -> Limits<'static> {
        Limits {
            now_ms: NOW,
            max_attempts: 2,
            max_new_tests: 1,
            max_tokens: Some(100),
            max_micro_usd: Some(50),
            ..Limits::of_kata("kata.md")
        }
    }

    fn rule(events: &[Event], change: &Change) -> Option<Rule> {
        rule_beside(events, change, &[])
    }

    /// The same, with untracked files of a person.
    fn rule_beside(events: &[Event], change: &Change, untracked: &[String]) -> Option<Rule> {
        let mut session = Session::default();
        for event in events {
            session.apply(event);
        }
        let edits = [upsert("src/lib.rs", "x")];
        let obstructed = Obstructed { untracked: untracked.to_vec(), ..Obstructed::default() };
        let request = Request { obstructed: &obstructed, ..Request::of_model(&edits, change) };
        match judge(&session, &request, &limits()) {
            Decision::Permit(_) => None,
            Decision::Refuse(refusal) => {
                assert!(!refusal.reason.is_empty() && !refusal.next.is_empty(), "{refusal:?}");
                Some(refusal.rule)
            }
        }
    }

    #[test]
    fn a_program_stays_inside_of_its_target_whatever_it_calls_the_file() {
        let fence = Fence::read(&["- `src/**`"]);
        let verdict = |edits: &[Edit]| {
            let change = tests(vec![TestChange::Added(facts("new"))]);
            let request = Request::of_model(edits, &change);
            match judge(&Session::default(), &request, &Limits { fence: Some(&fence), ..limits() }) {
                Decision::Permit(_) => None,
                Decision::Refuse(refusal) => Some(refusal.rule),
            }
        };
        assert_eq!(verdict(&[upsert("src/lib.rs", "x")]), None);
        assert_eq!(verdict(&[upsert("src/lib.rs", "x"), upsert("tests/a.rs", "x")]), Some(Rule::TargetFence));
        let rename = Edit { path: "src/a.rs".into(), action: Action::Rename { to: "lib/a.rs".into() } };
        assert_eq!(verdict(&[rename]), Some(Rule::TargetFence));
    }

    #[test]
    fn production_is_changed_for_a_claimed_red_test_only() {
        let red = || ran(Some(Cause::Assertion));
        assert_eq!(rule(&[red(), step(Phase::Green), claim()], &production()), None);
        assert_eq!(rule(&[step(Phase::Green), claim()], &production()), Some(Rule::RedFirst));
        assert_eq!(rule(&[ran(None), step(Phase::Green), claim()], &production()), Some(Rule::RedFirst));
        assert_eq!(rule(&[red(), step(Phase::Green)], &production()), Some(Rule::ClaimAfterRed));
        assert_eq!(rule(&[step(Phase::Green), claim(), red()], &production()), Some(Rule::ClaimAfterRed));
        assert_eq!(
            rule(&[ran(Some(Cause::Timeout)), step(Phase::Green), claim()], &production()),
            Some(Rule::RedFirst)
        );
    }

    #[test]
    fn outside_of_a_step_the_same_holds() {
        assert_eq!(rule(&[], &production()), Some(Rule::RedFirst));
        assert_eq!(rule(&[ran(Some(Cause::MissingSymbol))], &production()), Some(Rule::ClaimAfterRed));
        assert_eq!(rule(&[ran(Some(Cause::MissingSymbol)), claim()], &production()), None);
        assert_eq!(rule(&[], &tests(vec![TestChange::Added(facts("new"))])), None);
    }

    #[test]
    fn a_claim_is_used_up_by_an_attempt() {
        let events = [ran(Some(Cause::Assertion)), step(Phase::Green), claim(), failed(1)];
        assert_eq!(rule(&events, &production()), Some(Rule::ClaimAfterRed));
    }

    #[test]
    fn a_red_changes_tests_and_brings_one_behaviour() {
        let new = |name: &str| TestChange::Added(facts(name));
        assert_eq!(rule(&[step(Phase::Red)], &tests(vec![new("a")])), None);
        assert_eq!(rule(&[step(Phase::Red)], &tests(vec![new("a"), new("b")])), Some(Rule::OneBehaviour));
        assert_eq!(rule(&[step(Phase::Red)], &production()), Some(Rule::PhaseScope));
        let gone = tests(vec![TestChange::Removed(facts("a"))]);
        assert_eq!(rule(&[step(Phase::Red)], &gone), Some(Rule::TestsFrozen));
    }

    #[test]
    fn a_green_and_a_refactor_leave_tests_alone() {
        let changed = tests(vec![TestChange::Changed { before: facts("a"), after: facts("a"), only_added: true }]);
        let green = [ran(Some(Cause::Assertion)), step(Phase::Green), claim()];
        assert_eq!(rule(&green, &changed), Some(Rule::TestsFrozen));
        assert_eq!(rule(&[step(Phase::Refactor)], &changed), Some(Rule::TestsFrozen));
        let moved = TestChange::Moved { before: facts("a"), after: facts("b") };
        let support = vec![item("tests/common.rs", ItemFate::Added)];
        let both = Change { tests: vec![moved], support, ..production() };
        assert_eq!(rule(&[step(Phase::Refactor)], &both), Some(Rule::PhaseScope));
    }

    #[test]
    fn a_persons_own_file_is_never_written_over() {
        let mine = ["src/lib.rs".to_owned()];
        let events = [step(Phase::Refactor)];
        assert_eq!(rule_beside(&events, &production(), &mine), Some(Rule::ProtectedPath));
        assert_eq!(rule_beside(&events, &production(), &[]), None);
    }

    #[test]
    fn a_rethink_changes_the_doubted_test_alone() {
        let doubted = |name: &str| TestChange::Changed { before: facts(name), after: facts(name), only_added: false };
        let red = || ran(Some(Cause::Assertion));
        assert_eq!(rule(&[red(), step(Phase::RethinkTest)], &tests(vec![doubted("adds")])), None);
        assert_eq!(rule(&[red(), step(Phase::RethinkTest)], &tests(vec![doubted("other")])), Some(Rule::TestsFrozen));
        let withdrawn = tests(vec![TestChange::Removed(facts("adds"))]);
        assert_eq!(rule(&[red(), step(Phase::RethinkTest)], &withdrawn), None);
        let import = |path, fate| Change { support: vec![item(path, fate)], ..withdrawn.clone() };
        let goes = |path, fate| rule(&[red(), step(Phase::RethinkTest)], &import(path, fate));
        assert_eq!(goes("tests/a.rs", ItemFate::Removed), None, "its import goes with it");
        assert_eq!(goes("tests/a.rs", ItemFate::Changed), Some(Rule::TestsFrozen));
        assert_eq!(goes("tests/common.rs", ItemFate::Removed), Some(Rule::TestsFrozen));
        let was_green = [ran(None), red(), step(Phase::RethinkTest)];
        assert_eq!(rule(&was_green, &withdrawn), Some(Rule::TestsFrozen));
    }

    #[test]
    fn steering_is_frozen_in_every_phase_and_free_in_refactor_mode() {
        let manifest = SteeringChange { path: "Cargo.toml".into(), what: "`lib.name`".into(), free: false };
        let change = Change { steering: vec![manifest], ..Change::default() };
        for phase in Phase::ALL {
            assert_eq!(rule(&[step(phase)], &change), Some(Rule::SteeringFrozen));
        }
        let mode = Event::RefactorBegin(RefactorBegin { base: tree(), head: None, reason: None, mark: None });
        assert_eq!(rule(std::slice::from_ref(&mode), &change), None);
        assert_eq!(rule(std::slice::from_ref(&mode), &production()), None);
        let gone = tests(vec![TestChange::Removed(facts("a"))]);
        assert_eq!(rule(std::slice::from_ref(&mode), &gone), None, "a person may do to tests what they like");
        assert_eq!(rule(&[mode, step(Phase::Red)], &Change::default()), Some(Rule::RefactorMode));
    }

    #[test]
    fn a_plans_task_is_free_in_the_refactor_mode_that_was_begun_for_it_but_loosens_no_test() {
        let mark = |task: &str| Some(format!("[phase-05/plan-01/{task}]"));
        let mode = |mark| Event::RefactorBegin(RefactorBegin { base: tree(), head: None, reason: None, mark });
        let step = |mark| match step(Phase::Refactor) {
            Event::StepStart(start) => Event::StepStart(StepStart { mark, ..start }),
            other => other,
        };
        let manifest = SteeringChange { path: "Cargo.toml".into(), what: "`lib.name`".into(), free: false };
        let added = vec![TestChange::Added(facts("a")), TestChange::Added(facts("b"))];
        let all = Change { steering: vec![manifest], tests: added, ..production() };
        let task = || [mode(mark("task-01")), step(mark("task-01"))];
        assert_eq!(rule(&task(), &all), None);
        let gone = tests(vec![TestChange::Removed(facts("a"))]);
        assert_eq!(rule(&task(), &gone), Some(Rule::TestsFrozen));
        assert_eq!(rule(&[mode(mark("task-01")), step(mark("task-02"))], &all), Some(Rule::RefactorMode));
        assert_eq!(rule(&[mode(None), step(None)], &production()), Some(Rule::RefactorMode));
        let ended = RefactorEnd { kept: false, tree: tree(), verified_by: None, kept_as: None };
        let [begun, started] = task();
        assert_eq!(rule(&[begun, started, Event::RefactorEnd(ended)], &all), Some(Rule::RefactorMode));
    }

    #[test]
    fn nothing_is_edited_when_paused_or_spent() {
        let paused = Event::Paused(Paused { reason: "td-stuck: x".into(), next: "`tdd-cli resume`".into() });
        assert_eq!(rule(&[step(Phase::Refactor), paused], &production()), Some(Rule::Budget));
        assert_eq!(rule(&[step(Phase::Refactor), failed(1)], &production()), None);
        assert_eq!(rule(&[step(Phase::Refactor), failed(1), failed(2)], &production()), Some(Rule::Budget));
    }

    #[test]
    fn an_exception_holds_until_it_expires() {
        let made = |expires| Event::Override(Override { rule: Rule::RedFirst, reason: "legacy".into(), expires });
        let claimed = |made| [made, step(Phase::Green), claim()];
        assert_eq!(rule(&claimed(made(NOW + 1)), &production()), None);
        assert_eq!(rule(&claimed(made(NOW)), &production()), Some(Rule::RedFirst));
    }

    #[test]
    fn nobody_makes_an_exception_from_what_guards_the_disk_whatever_the_ledger_says() {
        let made = |rule| Event::Override(Override { rule, reason: "why not".into(), expires: NOW + 1 });
        let mut session = Session::default();
        for rule in Rule::ALL {
            session.apply(&made(rule));
        }
        let excepted = session.machine_state().exceptions(NOW);
        assert!(excepted.iter().all(|rule| rule.has_exceptions()), "{excepted:?}");
        assert!(excepted.contains(&Rule::RedFirst));
    }

    #[test]
    fn a_claim_is_refused_with_what_is_known_of_the_test() {
        let reason = |events: &[Event]| {
            let mut session = Session::default();
            for event in events {
                session.apply(event);
            }
            judge_claim(&session, &adds()).map_err(|refusal| refusal.reason)
        };
        let red = || ran(Some(Cause::Assertion));
        let changed = |event| match event {
            Event::TestRun(run) => Event::TestRun(TestRun { test_digest: Some(Digest::of("other")), ..run }),
            other => other,
        };
        assert_eq!(reason(&[red()]), Ok(()));
        let passes = "`tests/a.rs::adds` passes, so there is nothing to implement for it";
        assert_eq!(reason(&[red(), ran(None)]), Err(passes.to_owned()));
        let never = "the machine has not seen `tests/a.rs::adds` fail for a valid cause";
        assert_eq!(reason(&[red(), ran(Some(Cause::Timeout))]), Err(never.to_owned()));
        assert_eq!(reason(&[]), Err(never.to_owned()));
        let other = "`tests/a.rs::adds` has changed since it was seen to fail";
        assert_eq!(reason(&[red(), changed(ran(Some(Cause::Timeout)))]), Err(other.to_owned()));
    }

    #[test]
    fn what_git_ignores_is_not_edited() {
        let (edits, change) = ([upsert("target/x", "x")], Change::default());
        let obstructed = Obstructed { ignored: vec!["target/x".to_owned()], ..Obstructed::default() };
        let request = Request { obstructed: &obstructed, ..Request::of_model(&edits, &change) };
        let Decision::Refuse(refusal) = judge(&Session::default(), &request, &limits()) else { panic!("permitted") };
        assert_eq!(refusal.rule, Rule::IgnoredPath);
    }

    #[test]
    fn where_a_folder_stands_no_file_is_written() {
        let (edits, change) = ([upsert("src", "x")], Change::default());
        let at = |folders: &[&str], below_files: &[&str]| {
            let names = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect();
            let obstructed =
                Obstructed { folders: names(folders), below_files: names(below_files), ..Obstructed::default() };
            let request = Request { obstructed: &obstructed, ..Request::of_model(&edits, &change) };
            let Decision::Refuse(refusal) = judge(&Session::default(), &request, &limits()) else {
                panic!("permitted")
            };
            (refusal.rule, refusal.reason)
        };
        assert_eq!(at(&["src"], &[]), (Rule::EditApplies, "`src` is a folder".to_owned()));
        assert_eq!(at(&[], &["a/b"]).0, Rule::EditApplies);
    }

    #[test]
    fn all_that_may_be_spent_is_all() {
        let call = |prompt_tokens, micro_usd| {
            Event::LlmCall(LlmCall {
                step: 1,
                role: Role::Tester,
                model: "m".into(),
                purpose: "edit".into(),
                prompt_tokens,
                cached_tokens: 0,
                completion_tokens: 0,
                micro_usd,
                duration_ms: 1,
            })
        };
        assert_eq!(rule(&[call(99, 49)], &Change::default()), None);
        assert_eq!(rule(&[call(100, 0)], &Change::default()), Some(Rule::Budget));
        assert_eq!(rule(&[call(0, 50)], &Change::default()), Some(Rule::Budget));
    }

    #[test]
    fn an_exception_from_the_red_is_none_from_the_claim() {
        let made = Event::Override(Override { rule: Rule::RedFirst, reason: "legacy".into(), expires: NOW + 1 });
        assert_eq!(rule(&[made, step(Phase::Green)], &production()), Some(Rule::ClaimAfterRed));
    }

    #[test]
    fn a_red_of_long_ago_is_none() {
        let (red, timeout) = (ran(Some(Cause::Assertion)), ran(Some(Cause::Timeout)));
        let events = [red, ran(None), timeout, step(Phase::Green), claim()];
        assert_eq!(rule(&events, &production()), Some(Rule::RedFirst));
    }

    #[test]
    fn a_rethink_of_nothing_loosens_no_test() {
        let start = StepStart {
            step: 1,
            role: Role::Tester,
            phase: Phase::RethinkTest,
            head: None,
            base: tree(),
            targets: Vec::new(),
            mark: None,
        };
        let gone = tests(vec![TestChange::Removed(facts("adds"))]);
        assert_eq!(rule(&[Event::StepStart(start)], &gone), Some(Rule::TestsFrozen));
    }

    #[test]
    fn an_attempt_that_wrote_several_times_is_undone_as_a_whole() {
        let mut session = Session::default();
        let applied = || Event::EditApplied(EditApplied { step: 1, attempt: 1, paths: vec![] });
        let red = ran(Some(Cause::Assertion));
        for event in [red, step(Phase::Green), applied(), ran(None), applied(), ran(None), failed(1)] {
            session.apply(&event);
        }
        assert_eq!(session.red().collect::<Vec<_>>(), [&adds()]);
        assert!(!session.tests()[&adds()].was_green);
    }

    #[test]
    fn an_undone_attempt_leaves_no_result_behind() {
        let mut session = Session::default();
        let applied = Event::EditApplied(EditApplied { step: 1, attempt: 1, paths: vec![] });
        for event in [ran(Some(Cause::Assertion)), step(Phase::Green), applied, ran(None), failed(1)] {
            session.apply(&event);
        }
        assert_eq!(session.red().collect::<Vec<_>>(), [&adds()]);
        assert!(!session.tests()[&adds()].was_green);
    }
}

#[test]
fn a_persons_word_about_one_test_opens_the_door_for_that_test_alone() {
    let id = |name: &str| TestId::native("tests/a.rs", name);
    let item = ItemChange { path: "a".into(), item: "fn `a`".into(), line: 1, fate: ItemFate::Changed };
    let gone = |names: &[&str]| Change {
        tests: names.iter().map(|name| TestChange::Removed(TestFacts::plain("tests/a.rs", name))).collect(),
        ..Change::default()
    };
    let rule = |path: &str, change: &Change| match permit_person(&upsert(path, "x"), change, &id("a"), "kata.md") {
        Decision::Permit(_) => None,
        Decision::Refuse(refusal) => Some(refusal.rule),
    };
    assert_eq!(rule("tests/a.rs", &gone(&["a"])), None);
    assert_eq!(rule("tests/a.rs", &gone(&["a", "b"])), Some(Rule::TestsFrozen));
    assert_eq!(rule(".git/config", &gone(&["a"])), Some(Rule::ProtectedPath));
    let production = Change { production: vec![item.clone()], ..gone(&["a"]) };
    assert_eq!(rule("tests/a.rs", &production), Some(Rule::PhaseScope));
    let support = Change { support: vec![item], ..gone(&["a"]) };
    assert_eq!(rule("tests/a.rs", &support), Some(Rule::TestsFrozen));
}
