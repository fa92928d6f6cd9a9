//! The progress of a plan: which task is due, and what is missing at the end.

use crate::commit::{Trailers, is_marked};
use crate::cycle::{Phase, Role};
use crate::machine_state::MachineState;
use crate::report::{Outcome, Report};
use crate::test_id::TestId;

use super::Truth;

/// What tells whether a task is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// The mark of its commits.
    pub mark: String,
    /// The test it is about; `None` if it is done in refactor mode.
    pub test: Option<TestId>,
}

/// What tells how far a plan is.
#[derive(Clone, Copy, Debug)]
pub struct PlanFacts<'a> {
    /// The messages of HEAD's first-parent history, newest first.
    pub history: &'a [String],
    /// The results of all tests on HEAD's tree.
    pub report: &'a Report,
    /// The role whose turn it is in the cycle.
    pub role: Role,
    /// The state of the ledger.
    pub state: &'a MachineState,
}

/// The index of the task that is due; `None` if all are done.
///
/// A cycle that was begun is finished first. Progress has no record of its own: it follows from the commits, the test
/// results and, for a task with nothing to do, the ledger.
pub fn due(tasks: &[Task], seen: &PlanFacts<'_>) -> Option<usize> {
    under_way(tasks, seen).or_else(|| tasks.iter().position(|task| !is_done(task, seen)))
}

fn under_way(tasks: &[Task], seen: &PlanFacts<'_>) -> Option<usize> {
    let last = seen.history.iter().find(|message| Trailers::parse(message).get("TDD-Step").is_some())?;
    let of_last = |task: &Task| task.test.is_some() && is_marked(last, &task.mark);
    tasks.iter().position(of_last).filter(|_| seen.role != Role::Tester)
}

fn is_done(task: &Task, seen: &PlanFacts<'_>) -> bool {
    let mut marked = seen.history.iter().filter(|message| is_marked(message, &task.mark));
    match &task.test {
        // A blocked test is a person's decision, so the task counts as done.
        Some(test) => {
            passes(seen.report, test)
                || seen.state.blocked().contains_key(test)
                || marked.any(|message| is_green_of(message, test))
        }
        None => marked.next().is_some() || seen.state.is_idle(&task.mark),
    }
}

/// The commit counts even if a later refactor renamed the test.
fn is_green_of(message: &str, test: &TestId) -> bool {
    let trailers = Trailers::parse(message);
    trailers.get("TDD-Phase").and_then(Phase::parse) == Some(Phase::Green)
        && trailers.get("TDD-Test") == Some(test.as_str())
}

fn passes(report: &Report, test: &TestId) -> bool {
    report.get(test).is_some_and(|result| result.outcome == Outcome::Pass)
}

/// What a plan promised but did not deliver: missing artifacts, and truths without a passing test.
pub fn lacking(truths: &[Truth], artifacts: &[String], files: &[String], report: &Report) -> Vec<String> {
    let there = |path: &str| {
        let inside = format!("{}/", path.trim_end_matches('/'));
        files.iter().any(|file| file == path || file.starts_with(&inside))
    };
    let missing = artifacts.iter().filter(|path| !there(path)).map(|path| format!("`{path}` is missing"));
    let unproven = truths.iter().filter_map(|truth| match &truth.test {
        None => Some(format!("\"{}\" is unproven: it names no test", truth.text)),
        Some(test) if passes(report, test) => None,
        Some(test) => Some(format!("\"{}\" is unproven: `{test}` does not pass", truth.text)),
    });
    missing.chain(unproven).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::TestResult;

    fn id(name: &str) -> TestId {
        TestId::native("tests/a.rs", name)
    }

    fn tasks() -> Vec<Task> {
        let task = |number: u32, test: Option<&str>| Task { mark: format!("[task-{number}]"), test: test.map(id) };
        vec![task(1, Some("one")), task(2, None), task(3, Some("three"))]
    }

    fn message(mark: u32, phase: &str, test: &str) -> String {
        format!("x: y\n\n[task-{mark}]\n\nTDD-Step: 1\nTDD-Phase: {phase}\nTDD-Test: tests/a.rs::{test}\n")
    }

    fn report(passing: &[&str]) -> Report {
        let pass = |name: &&str| TestResult::new(id(name), Outcome::Pass, 0);
        Report::new(passing.iter().map(pass), Vec::new())
    }

    /// Asserts the number of the task that is due.
    fn check(history: &[String], passing: &[&str], role: Role, expected: Option<usize>) {
        let (report, state) = (report(passing), MachineState::default());
        let seen = PlanFacts { history, report: &report, role, state: &state };
        assert_eq!(due(&tasks(), &seen).map(|at| at + 1), expected, "{history:?} {passing:?} {role}");
    }

    #[test]
    fn tasks_are_due_in_their_order_and_a_cycle_is_ended_first() {
        check(&[], &[], Role::Tester, Some(1));
        let red = message(1, "red", "one");
        check(std::slice::from_ref(&red), &[], Role::Implementor, Some(1));
        let green = [message(1, "green", "one"), red];
        check(&green, &["one"], Role::Refactorer, Some(1));
        check(&green, &["one"], Role::Tester, Some(2));
        // The refactorer renamed the test.
        check(&green, &["uno"], Role::Tester, Some(2));
    }

    #[test]
    fn a_task_in_refactor_mode_is_done_by_any_commit_with_its_mark() {
        let persons = "docs: by hand\n\n[task-2]\n".to_owned();
        check(std::slice::from_ref(&persons), &["one"], Role::Tester, Some(3));
        check(&[persons], &["one", "three"], Role::Tester, None);
        check(&[message(2, "refactor", "x")], &["one"], Role::Tester, Some(3));
        check(&["docs: [task-2]\n\n- [task-2]\n".to_owned()], &["one"], Role::Tester, Some(2));
    }

    #[test]
    fn what_is_lacking_is_named() {
        let truth = |text: &str, test: Option<&str>| Truth { text: text.into(), test: test.map(id) };
        let truths = [truth("it adds", Some("adds")), truth("it divides", Some("divides")), truth("it shines", None)];
        let artifacts = ["src/a.rs".to_owned(), "src/b.rs".to_owned(), "docs/".to_owned()];
        let files = ["src/a.rs".to_owned(), "docs/x.md".to_owned()];
        assert_eq!(
            lacking(&truths, &artifacts, &files, &report(&["adds"])),
            [
                "`src/b.rs` is missing",
                "\"it divides\" is unproven: `tests/a.rs::divides` does not pass",
                "\"it shines\" is unproven: it names no test"
            ]
        );
    }
}
