//! Tests that the state adds up in whatever order two machines report.

use super::*;
use crate::program::harness::{Sighting, Status};
use crate::program::iteration::Overview;
use crate::test_id::TestId;

fn iterated(id: &str, outcome: Outcome, metric: Option<f64>) -> Happened {
    let commit = (outcome == Outcome::Pending).then(|| CommitId("c1".to_owned()));
    let overview = Overview { metric, commit, ..Overview::sample(id, outcome) };
    Happened::Iterated { iteration: Box::new(overview.into()), against: None }
}

fn after(all: &[Happened]) -> State {
    let mut state = State::new("x");
    for happened in all {
        state.apply(happened);
    }
    state
}

#[test]
fn an_iteration_that_is_told_twice_counts_once() {
    let one = iterated("a", Outcome::Accepted, Some(3.0));
    let state = after(&[one.clone(), one]);
    assert_eq!((state.iterations(), state.metric().best()), (1, Some(3.0)));
}

#[test]
fn only_what_was_accepted_moves_the_metric_and_only_forwards() {
    let state = after(&[
        iterated("a", Outcome::Accepted, Some(3.0)),
        iterated("b", Outcome::Discarded, Some(9.0)),
        iterated("c", Outcome::Pending, Some(5.0)),
        iterated("d", Outcome::Accepted, Some(2.0)),
    ]);
    assert_eq!(state.metric().best(), Some(3.0));
    assert_eq!(state.recent(), ["accepted", "discarded", "pending", "accepted"]);
}

#[test]
fn a_pending_iteration_is_accepted_when_its_checks_have_passed() {
    let pending = iterated("c", Outcome::Pending, Some(5.0));
    let settled = |id: &str, passed| Happened::Settled { at_ms: 1, id: id.to_owned(), passed };
    let state = after(&[pending.clone(), settled("other", true)]);
    assert!(state.pending().is_some() && state.metric().best().is_none());
    let state = after(&[pending.clone(), settled("c", true)]);
    assert_eq!((state.pending(), state.metric().best(), state.recent()), (None, Some(5.0), vec!["accepted"]));
    let state = after(&[pending, settled("c", false)]);
    assert_eq!((state.pending(), state.metric().best(), state.recent()), (None, None, vec!["error"]));
}

#[test]
fn three_errors_in_a_row_force_a_rethink_and_anything_else_ends_the_row() {
    let error = |id: &str| iterated(id, Outcome::Error, None);
    assert!(!after(&[error("a"), error("b")]).must_rethink());
    assert!(after(&[error("a"), error("b"), error("c")]).must_rethink());
    assert!(!after(&[error("a"), error("b"), iterated("x", Outcome::Discarded, None), error("c")]).must_rethink());
    assert!(
        !after(&[error("a"), error("b"), error("c"), Happened::Resumed { at_ms: 0, by: Who::Person }]).must_rethink()
    );
}

#[test]
fn what_two_machines_did_adds_up_in_either_order() {
    let (a, b) = (iterated("a", Outcome::Accepted, Some(3.0)), iterated("b", Outcome::Accepted, Some(4.0)));
    let (one, other) = (after(&[a.clone(), b.clone()]), after(&[b, a]));
    assert_eq!((one.iterations(), one.metric().best()), (other.iterations(), other.metric().best()));
    assert_eq!(one.metric().best(), Some(4.0));
}

/// An iteration that was decided on when the best metric was `against`.
fn decided(id: &str, outcome: Outcome, metric: f64, against: Option<f64>) -> Happened {
    let mut then = Ratchet::default();
    if let Some(best) = against {
        then.take(Proven::of(Direction::Higher, best, best));
    }
    let tests = vec![Sighting::sample("adds", Status::Passing)];
    let commit = Some(CommitId("c1".to_owned()));
    let overview = Overview { metric: Some(metric), commit, ..Overview::sample(id, outcome) };
    let iteration = Iteration { tests, ..overview.into() };
    Happened::Iterated { iteration: Box::new(iteration), against: Some(then) }
}

fn outcomes(state: &State) -> Vec<(Outcome, Option<f64>)> {
    state.history().entries.iter().rev().map(|past| (past.overview.outcome, past.overview.metric)).collect()
}

#[test]
fn of_two_machines_with_an_equal_metric_only_the_first_one_is_accepted_and_no_iteration_is_lost() {
    let accepted = |id: &str, metric, against| decided(id, Outcome::Accepted, metric, against);
    for against in [None, Some(3.0)] {
        let state = after(&[accepted("a", 4.0, against), accepted("b", 4.0, against)]);
        assert_eq!(outcomes(&state), [(Outcome::Accepted, Some(4.0)), (Outcome::Discarded, Some(4.0))]);
        assert_eq!((state.iterations(), state.metric().best()), (2, Some(4.0)));
        let why = &state.past("b").unwrap().summary;
        assert_eq!(why, "another machine came first: the best metric is 4 now, and this iteration reached 4; it adds");
        assert_eq!(state.harness().entries.len(), 1, "the first one's test is still pinned");
    }
    let better = after(&[accepted("a", 4.0, Some(3.0)), accepted("b", 5.0, Some(3.0))]);
    assert_eq!((outcomes(&better)[1].0, better.metric().best()), (Outcome::Accepted, Some(5.0)));
    let later = after(&[accepted("a", 4.0, Some(3.0)), accepted("b", 4.0, Some(4.0))]);
    assert_eq!(outcomes(&later)[1].0, Outcome::Discarded, "an equal metric is no improvement");
}

#[test]
fn two_pending_iterations_are_settled_one_after_the_other() {
    let pending = |id: &str, metric| decided(id, Outcome::Pending, metric, Some(3.0));
    let settled = |id: &str| Happened::Settled { at_ms: 1, id: id.to_owned(), passed: true };
    let mut state = after(&[pending("a", 4.0), pending("b", 4.0)]);
    assert_eq!(state.pending().map(|pending| pending.id.as_str()), Some("a"));
    state.apply(&settled("a"));
    assert_eq!((state.pending().map(|it| it.id.as_str()), state.metric().best()), (Some("b"), Some(4.0)));
    state.apply(&settled("b"));
    assert_eq!(outcomes(&state), [(Outcome::Accepted, Some(4.0)), (Outcome::Discarded, Some(4.0))]);
    assert_eq!((state.pending(), state.metric().best()), (None, Some(4.0)));
    let other_way = after(&[pending("a", 4.0), pending("b", 5.0), settled("b"), settled("a")]);
    assert_eq!(outcomes(&other_way), [(Outcome::Discarded, Some(4.0)), (Outcome::Accepted, Some(5.0))]);
}

#[test]
fn a_state_is_the_same_after_it_was_stored() {
    let sighting = Sighting::sample("adds", Status::Passing);
    let lessons = vec!["Empty input is zero.".to_owned(), "Empty input is zero.".to_owned()];
    let iteration = Iteration { tests: vec![sighting], lessons, ..Iteration::sample("a", Outcome::Accepted) };
    let mut state = after(&[
        Happened::Iterated { iteration: Box::new(iteration), against: None },
        iterated("c", Outcome::Pending, Some(0.1)),
    ]);
    state.fold(1);
    assert_eq!(State::parse(&state.to_json()).unwrap(), state);
    assert_eq!(state.lessons(), ["Empty input is zero."]);
}

/// Later versions must read the states and ledgers that users have.
#[test]
fn the_json_of_an_iteration_and_of_the_state_that_took_it_in_stays_as_it_is() {
    let sighting = Sighting::sample("adds", Status::Blocked);
    let commit = Some(CommitId("c1".to_owned()));
    let iteration = Iteration {
        overview: Overview { metric: Some(0.5), commit, ..Overview::sample("a", Outcome::Accepted) },
        tests: vec![sighting],
        gone: vec![TestId::native("tests/a.rs", "gone")],
        lessons: vec!["Empty input is zero.".to_owned()],
    };
    let told = [
        Happened::Iterated { iteration: Box::new(iteration), against: None },
        iterated("b", Outcome::Error, None),
        iterated("c", Outcome::Pending, Some(1.0)),
    ];
    let lines: String = told.iter().map(|happened| serde_json::to_string_pretty(happened).unwrap() + "\n").collect();
    insta::assert_snapshot!(lines + &after(&told).to_json());
}

#[test]
fn a_state_that_is_not_ours_is_refused() {
    assert!(matches!(State::parse("{\"v\": 2}"), Err(StateError::Newer(2))));
    assert!(matches!(State::parse("{}"), Err(StateError::Unreadable(_))));
    assert!(matches!(State::parse("x"), Err(StateError::Unreadable(_))));
}

#[test]
fn a_page_of_others_is_taken_in_only_once() {
    let imported = Remembered { iterations: 7, best: Some(2.0), ..Remembered::default() }.into_state("x");
    let import = Happened::Imported { state: Box::new(imported) };
    let state = after(&[import.clone(), iterated("a", Outcome::Accepted, Some(3.0)), import]);
    assert_eq!((state.iterations(), state.metric().best()), (8, Some(3.0)));
}
