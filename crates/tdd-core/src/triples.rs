//! Finds the triples in a history: a red test, the edit that made it pass, and the green that proves it.

use std::collections::BTreeMap;

use crate::commit::Trailers;
use crate::cycle::Phase;
use crate::digest::{CommitId, Digest, TreeId};
use crate::event::Event;
use crate::report::Cause;
use crate::test_id::TestId;

/// A red and the green that followed it, by their commits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Triple {
    /// The test.
    pub test: TestId,
    /// The commit that added the test or last revised it.
    pub red: CommitId,
    /// The commit that made it pass; its diff is the edit.
    pub green: CommitId,
}

/// The triples of a history, oldest first. The input is newest first. A green whose red is not in the history is left
/// out.
pub fn select(newest_first: &[(CommitId, String)]) -> Vec<Triple> {
    let mut reds: BTreeMap<TestId, &CommitId> = BTreeMap::new();
    let mut triples = Vec::new();
    for (commit, message) in newest_first.iter().rev() {
        let Some((phase, test)) = step_of(message) else { continue };
        match phase {
            Phase::Red | Phase::RethinkTest => drop(reds.insert(test, commit)),
            Phase::Green => {
                let red = reds.remove(&test);
                triples.extend(red.map(|red| Triple { test, red: red.clone(), green: commit.clone() }));
            }
            Phase::Refactor => {}
        }
    }
    triples
}

fn step_of(message: &str) -> Option<(Phase, TestId)> {
    let trailers = Trailers::parse(message);
    let phase = trailers.get("TDD-Phase").and_then(Phase::parse)?;
    Some((phase, TestId::parse(trailers.get("TDD-Test")?).ok()?))
}

/// All reds that a ledger recorded, by test and tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reds {
    seen: BTreeMap<(TestId, TreeId), SeenRed>,
}

/// A recorded red.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeenRed {
    /// Why the test failed.
    pub cause: Cause,
    /// Digest of the test; `None` if it could not be built.
    pub digest: Option<Digest>,
}

impl Reds {
    /// Applies the next event.
    pub fn apply(&mut self, event: &Event) {
        if let Event::TestRun(run) = event {
            self.saw(&run.test_id, &run.tree, run.cause, run.test_digest);
        }
        if let Event::SuiteRun(run) = event {
            for obstacle in &run.obstacles {
                for test in &obstacle.tests {
                    self.saw(test, &run.tree, Some(obstacle.cause), None);
                }
            }
        }
    }

    fn saw(&mut self, test: &TestId, tree: &TreeId, cause: Option<Cause>, digest: Option<Digest>) {
        if let Some(cause) = cause.filter(|cause| cause.is_valid_red()) {
            self.seen.insert((test.clone(), tree.clone()), SeenRed { cause, digest });
        }
    }

    /// The red of a test on a tree, if there was one.
    pub fn get(&self, test: &TestId, tree: &TreeId) -> Option<SeenRed> {
        self.seen.get(&(test.clone(), tree.clone())).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commit(name: &str, phase: &str, test: &str) -> (CommitId, String) {
        (CommitId(name.to_owned()), format!("x: y\n\nbody\n\nTDD-Step: 1\nTDD-Phase: {phase}\nTDD-Test: {test}\n"))
    }

    fn pairs(oldest_first: &[(CommitId, String)]) -> Vec<String> {
        let newest_first: Vec<_> = oldest_first.iter().rev().cloned().collect();
        select(&newest_first).into_iter().map(|it| format!("{} {} {}", it.test, it.red, it.green)).collect()
    }

    #[test]
    fn every_green_goes_with_the_last_red_of_its_test() {
        let history = [
            commit("1", "red", "a::a"),
            commit("2", "red", "a::b"),
            (CommitId("3".to_owned()), "docs: a person's commit".to_owned()),
            commit("4", "rethink-test", "a::a"),
            commit("5", "green", "a::a"),
            commit("6", "refactor", "a::a"),
            commit("7", "green", "a::b"),
        ];
        assert_eq!(pairs(&history), ["a::a 4 5", "a::b 2 7"]);
    }

    #[test]
    fn a_green_without_a_red_of_its_own_is_none() {
        assert!(pairs(&[commit("1", "green", "a::a")]).is_empty());
        let twice = [commit("1", "red", "a::a"), commit("2", "green", "a::a"), commit("3", "green", "a::a")];
        assert_eq!(pairs(&twice), ["a::a 1 2"]);
    }

    #[test]
    fn a_red_is_known_by_its_own_run_or_by_what_took_it_down() {
        let mut reds = Reds::default();
        for event in crate::event::samples::one_of_each() {
            reds.apply(&event);
        }
        assert!(!reds.seen.is_empty());
        assert!(reds.seen.values().all(|red| red.cause.is_valid_red()));
        assert_eq!(reds.get(&TestId::native("no", "where"), &TreeId("t".to_owned())), None);
    }
}
