//! The moves of an honest agent.

use tdd_core::cycle::Turn;

use crate::answer::Move;
use crate::project::{Ask, Code, FEATURES, Project, id};

/// The moves that the role should make; `None` if the kata is done.
pub fn moves(head: &Project, turn: &Turn) -> Option<Vec<Move>> {
    match turn {
        Turn::Red { .. } => {
            let tested = |it: u8| head.tests.values().any(|test| test.asks.contains(&Ask::Feature(it)));
            let lacks = |it: &u8| head.production.get(it) != Some(&Code::Real) && !tested(*it);
            let feature = (0..FEATURES).find(lacks)?;
            let taken = |name: u8| (0..2).any(|file| head.tests.contains_key(&(file, name)));
            let name = (0..=u8::MAX).find(|name| !taken(*name))?;
            Some(vec![Move::AddTest(feature % 2, name, Ask::Feature(feature))])
        }
        Turn::Green { tests, .. } => {
            let is_target = |key: &(u8, u8)| tests.iter().any(|test| test.id() == &id(*key));
            let targets = head.tests.iter().filter(|(key, _)| is_target(key));
            let moves = targets.flat_map(|(_, test)| test.asks.iter().map(|ask| (test.panics, *ask)));
            let moves = moves.filter_map(|(panics, ask)| match ask {
                Ask::Feature(it) if panics => Some(Move::Write(it, Code::Stub)),
                Ask::Feature(it) => Some(Move::Write(it, Code::Real)),
                Ask::Never(it) => Some(Move::Write(it, Code::Stub)),
                Ask::Own | Ask::Absurd | Ask::Hang => None,
            });
            Some(moves.chain([Move::Mend]).collect())
        }
        Turn::Rethink { .. } => Some(Vec::new()),
        Turn::Refactor { .. } if head.lint => Some(vec![Move::Mend]),
        Turn::Refactor { .. } | Turn::Task { .. } => Some(Vec::new()),
    }
}
