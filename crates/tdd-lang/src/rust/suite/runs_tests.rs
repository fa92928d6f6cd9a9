//! Runs that break off end with one result per test, and never with an unconfirmed pass.

use std::collections::VecDeque;
use std::fmt::Write as _;

use proptest::prelude::*;
use tdd_core::command::Captured;

use super::*;

/// What a simulated test does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Does {
    Pass,
    Fail,
    Crash,
    Hang,
    /// Reports a pass and ends the process.
    Lie,
    /// Reports a pass, and then fails.
    Forge,
}

/// Simulates a test binary with two threads.
fn simulate(tests: &[(String, Does)]) -> Finished {
    let mut out = format!("{{ \"type\": \"suite\", \"event\": \"started\", \"test_count\": {} }}\n", tests.len());
    let mut event = |name: &str, event: &str| {
        let _ = writeln!(out, "{{ \"type\": \"test\", \"event\": \"{event}\", \"name\": \"{name}\" }}");
    };
    let mut waiting: VecDeque<&(String, Does)> = tests.iter().collect();
    let mut running: Vec<&(String, Does)> = Vec::new();
    let (mut passed, mut failed) = (0, 0);
    let exit = loop {
        while running.len() < 2 {
            let Some(test) = waiting.pop_front() else { break };
            event(&test.0, "started");
            running.push(test);
        }
        let Some(at) = running.iter().position(|test| test.1 != Does::Hang) else {
            break if running.is_empty() { None } else { Some(Exit::TimedOut) };
        };
        let (name, does) = running.remove(at);
        match does {
            Does::Pass => passed += 1,
            Does::Fail => failed += 1,
            Does::Forge => {
                failed += 1;
                event(name, "ok");
            }
            Does::Crash => break Some(Exit::Signalled(6)),
            Does::Lie => {}
            Does::Hang => unreachable!("filtered out above"),
        }
        event(name, if matches!(does, Does::Fail | Does::Forge) { "failed" } else { "ok" });
        if *does == Does::Lie {
            break Some(Exit::Passed);
        }
    };
    let exit = exit.unwrap_or_else(|| {
        let kind = if failed == 0 { "ok" } else { "failed" };
        let _ = writeln!(
            out,
            "{{ \"type\": \"suite\", \"event\": \"{kind}\", \"passed\": {passed}, \"failed\": {failed}, \"ignored\": 0 }}"
        );
        if failed == 0 { Exit::Passed } else { Exit::Failed(101) }
    });
    let (stderr, duration) = (Captured::default(), Duration::ZERO);
    Finished { duration, ..Finished::new(exit, Captured::whole(out), stderr) }
}

/// Runs all tests to the end; returns the causes by name, and the number of troubles, calls and timeouts.
fn play(tests: &[Does]) -> (Vec<Option<Cause>>, usize, usize, usize) {
    let binary_tests: Vec<(String, Does)> =
        tests.iter().enumerate().map(|(at, does)| (format!("t{at:02}"), *does)).collect();
    let names: Vec<String> = binary_tests.iter().map(|(name, _)| name.clone()).collect();
    let binaries = [Binary::for_test("tests/t.rs", "/x")];
    let mut runs = Runs::new(Duration::from_secs(1));
    runs.all(0, &names, Vec::new());
    let (mut calls, mut timeouts) = (0, 0);
    loop {
        let jobs = runs.jobs(&binaries);
        if jobs.is_empty() {
            break;
        }
        let finished: Vec<Finished> = jobs
            .iter()
            .map(|job| {
                let chosen = |name: &String| {
                    !job.command.argv.contains(&"--exact".to_owned()) || job.command.argv.contains(name)
                };
                let tests: Vec<_> = binary_tests.iter().filter(|(name, _)| chosen(name)).cloned().collect();
                simulate(&tests)
            })
            .collect();
        calls += finished.len();
        timeouts += finished.iter().filter(|finished| finished.exit == Exit::TimedOut).count();
        runs.read(&finished);
    }
    let (ended, troubles) = runs.end();
    let causes = names.iter().map(|name| ended[&(0, name.clone())].outcome.cause()).collect();
    (causes, troubles.len(), calls, timeouts)
}

fn causes(tests: &[Does]) -> Vec<Option<Cause>> {
    play(tests).0
}

#[test]
fn a_quiet_binary_is_called_once() {
    let (causes, troubles, calls, _) = play(&[Does::Pass, Does::Fail, Does::Pass]);
    assert_eq!((causes, troubles, calls), (vec![None, Some(Cause::Assertion), None], 0, 1));
}

#[test]
fn a_crash_is_laid_at_the_door_of_the_test_that_crashes_alone() {
    let crash = Some(Cause::Crash);
    assert_eq!(
        causes(&[Does::Pass, Does::Crash, Does::Pass, Does::Pass, Does::Crash]),
        [None, crash, None, None, crash]
    );
}

#[test]
fn a_hang_costs_the_others_nothing_but_time() {
    let timeout = Some(Cause::Timeout);
    assert_eq!(causes(&[Does::Hang, Does::Pass, Does::Fail]), [timeout, None, Some(Cause::Assertion)]);
    assert_eq!(causes(&[Does::Hang, Does::Hang, Does::Pass]), [timeout, timeout, None]);
}

#[test]
fn a_liar_alone_is_a_crash() {
    assert_eq!(causes(&[Does::Lie]), [Some(Cause::Crash)]);
    assert_eq!(causes(&[Does::Pass, Does::Lie]), [None, Some(Cause::Crash)]);
}

#[test]
fn a_liar_hides_neither_among_the_innocent_nor_behind_a_crash() {
    let crash = Some(Cause::Crash);
    assert_eq!(causes(&[Does::Lie, Does::Pass, Does::Pass]), [crash, None, None]);
    assert_eq!(causes(&[Does::Lie, Does::Crash]), [crash, crash]);
}

#[test]
fn a_binary_that_dies_at_once_is_called_once() {
    let names = ["a".to_owned(), "b".to_owned()];
    let mut runs = Runs::new(Duration::from_secs(1));
    runs.all(0, &names, Vec::new());
    assert_eq!(runs.jobs(&[Binary::for_test("tests/t.rs", "/x")]).len(), 1);
    let (stdout, stderr) = (Captured::default(), Captured::whole("cannot open shared object"));
    runs.read(&[Finished::new(Exit::Failed(127), stdout, stderr)]);
    assert!(runs.jobs(&[]).is_empty());
    let (ended, _) = runs.end();
    assert!(ended.values().all(|ended| ended.outcome.cause() == Some(Cause::Crash)) && ended.len() == 2);
}

#[test]
fn a_long_selection_is_split_below_the_limit_of_a_command_line() {
    let names: Vec<String> = (0..5000).map(|n| format!("{n:0100}")).collect();
    let mut runs = Runs::new(Duration::ZERO);
    runs.some(0, &names, &[]);
    assert_eq!(runs.open.len(), 6);
    assert_eq!(runs.open.iter().map(|call| call.names.len()).sum::<usize>(), names.len());
}

proptest! {
    #[test]
    fn nothing_bad_passes_and_every_search_ends(
        tests in prop::collection::vec(prop::sample::select(vec![Does::Pass, Does::Fail, Does::Crash, Does::Hang, Does::Lie]), 1..14)
    ) {
        let (causes, _, calls, timeouts) = play(&tests);
        prop_assert!(calls <= 3 * tests.len() + 1, "{calls} calls");
        prop_assert!(timeouts <= MAX_TIMEOUTS + MAX_ALONE_AFTER_TIMEOUT, "{timeouts} timeouts");
        for (does, cause) in tests.iter().zip(&causes) {
            let honest = match does {
                Does::Pass => cause.is_none() || *cause == Some(Cause::Timeout),
                Does::Fail => matches!(cause, Some(Cause::Assertion | Cause::Timeout)),
                Does::Crash => matches!(cause, Some(Cause::Crash | Cause::Timeout)),
                Does::Hang => *cause == Some(Cause::Timeout),
                Does::Lie | Does::Forge => cause.is_some(),
            };
            prop_assert!(honest, "{does:?} became {cause:?} in {tests:?}");
        }
    }

    #[test]
    fn without_hangs_every_test_gets_exactly_its_own_cause(
        tests in prop::collection::vec(prop::sample::select(vec![Does::Pass, Does::Fail, Does::Crash, Does::Lie]), 1..14)
    ) {
        let own = |does: &Does| match does {
            Does::Fail => Some(Cause::Assertion),
            Does::Crash | Does::Lie | Does::Forge => Some(Cause::Crash),
            Does::Pass | Does::Hang => None,
        };
        let (causes, troubles, ..) = play(&tests);
        prop_assert_eq!(causes, tests.iter().map(own).collect::<Vec<_>>());
        prop_assert_eq!(troubles, 0);
    }
    #[test]
    fn who_spoils_a_report_is_found_and_takes_nobody_down(
        tests in prop::collection::vec(prop::sample::select(vec![Does::Pass, Does::Fail, Does::Forge]), 1..14)
    ) {
        let readable = tests.iter().any(|does| *does != Does::Forge);
        let own = |does: &Does| match does {
            Does::Fail => Some(Cause::Assertion),
            Does::Forge if readable => Some(Cause::Crash),
            Does::Forge => Some(Cause::UnknownOutput),
            Does::Pass | Does::Crash | Does::Hang | Does::Lie => None,
        };
        let (causes, troubles, calls, _) = play(&tests);
        prop_assert_eq!(causes, tests.iter().map(own).collect::<Vec<_>>());
        prop_assert_eq!(troubles, usize::from(!readable));
        prop_assert!(calls < 2 * tests.len(), "{calls} calls");
    }
}
