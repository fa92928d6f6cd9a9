//! Tells what a change did where nothing is known but lines.

use std::collections::BTreeSet;

use tdd_core::change::{Change, Sort, SteeringChange, TestFacts};

use super::{items, sort, test_id};
use crate::compare::{self, Dialect, Piece};
use crate::item::TestItem;
use crate::language::Sources;

/// What changed between two trees that differ in these paths.
pub(super) fn change(before: &dyn Sources, after: &dyn Sources, paths: &[String]) -> Change {
    compare::change(&Lines, before, after, paths)
}

struct Lines;

impl Dialect for Lines {
    type Known = ();

    fn know(&self, _: &dyn Sources) {}

    fn sort(&self, path: &str) -> Sort {
        sort::sort(path)
    }

    fn owns(&self, path: &str) -> bool {
        sort::is_test_source(path)
    }

    fn parses(&self, _: &str, _: &str) -> bool {
        true
    }

    fn read(&self, (): &(), path: &str, source: &str) -> (Vec<(TestFacts, TestItem)>, Vec<Piece>) {
        let tests = items::items(source).tests;
        let pieces = items::head(source, tests.first()).into_iter().collect();
        (tests.into_iter().map(|test| (facts(path, &test), test)).collect(), pieces)
    }

    fn steering(&self, path: &str, before: &str, after: &str, _: &BTreeSet<&str>) -> Vec<SteeringChange> {
        let change = SteeringChange { path: path.to_owned(), what: "its content".to_owned(), free: false };
        if before == after { Vec::new() } else { vec![change] }
    }

    fn is_kept(&self, _: &str, before: (&str, &TestItem), after: (&str, &TestItem)) -> bool {
        items::is_kept(before, after)
    }
}

fn facts(path: &str, test: &TestItem) -> TestFacts {
    TestFacts {
        id: test_id(path, test),
        path: path.to_owned(),
        line: test.line,
        digest: test.digest,
        body: test.body,
        assertions: test.assertions.iter().map(|assertion| assertion.digest).collect(),
        skipped: test.ignored.clone(),
        conditions: Vec::new(),
        should_panic: false,
        returns_result: false,
        // Nobody can tell without knowing the language.
        asks_production: true,
    }
}
