//! Compares two trees of an unknown language, line by line.

use tdd_core::change::{Change, TestFacts};

use super::{items, sort, test_id};
use crate::analysis::compare::{self, FileFacts, TreeComparer};
use crate::analysis::steering::frozen;
use crate::item::TestItem;
use crate::language::Sources;

/// The change between two trees that differ in these paths.
pub(super) fn change(before: &dyn Sources, after: &dyn Sources, paths: &[String]) -> Change {
    let comparer = TreeComparer {
        know: &|_| (),
        sort: &sort::sort,
        owns: &sort::is_test_source,
        read: &|(), path, source| read(path, source),
        steering: &|path, before, after, _| if before == after { Vec::new() } else { frozen(path, "its content") },
        is_kept: &|_, before, after| items::is_kept(before, after),
    };
    compare::change(&comparer, before, after, paths)
}

/// Reads a test file. There is no syntax tree, so every text counts as parsed.
fn read(path: &str, source: &str) -> FileFacts {
    let tests = items::items(source).tests;
    let pieces = items::head(source, tests.first()).into_iter().collect();
    let tests = tests.into_iter().map(|test| (facts(path, &test), test)).collect();
    FileFacts { parses: true, tests, pieces, ..FileFacts::default() }
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
        // Without knowing the language this is unclear, so assume yes.
        asks_production: true,
    }
}
