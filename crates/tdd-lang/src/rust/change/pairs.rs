//! Matches the tests of a cargo project before and after a change.

use std::rc::Rc;

use tdd_core::change::{TestChange, TestFacts};
use tdd_core::digest::Digest;
use tdd_core::test_id::TestId;

use crate::analysis::pairs::TestSide;
use crate::item::TestItem;

use super::asks::DependencyFinder;
use super::file::File;
use super::shadowing::NewNames;

/// A test's identity independent of its place: its tokens without its name, its conditions, why it is skipped, and
/// whether it is run.
type Substance = (Digest, Vec<String>, Option<String>, bool);

/// A test in one tree.
#[derive(Clone)]
pub(super) struct Test<'f> {
    pub id: TestId,
    pub file: &'f File,
    pub item: &'f TestItem,
    pub finder: Rc<DependencyFinder<'f>>,
    pub conditions: Vec<String>,
    /// Whether a target reaches it, so that it is run.
    pub reached: bool,
}

impl TestSide for Test<'_> {
    type Substance = Substance;

    fn id(&self) -> TestId {
        self.id.clone()
    }

    fn facts(&self) -> TestFacts {
        TestFacts {
            id: self.id.clone(),
            path: self.file.path.clone(),
            line: self.item.line,
            digest: self.item.digest,
            body: self.item.body,
            assertions: self.finder.assertions(self.item),
            skipped: self.item.ignored.clone(),
            conditions: self.conditions.clone(),
            should_panic: self.item.should_panic,
            returns_result: self.item.returns_result,
            asks_production: self.finder.asks_production(self.item),
        }
    }

    /// What stays the same if a test is only moved or renamed. A test that is run never equals one that is not.
    fn substance(&self) -> Substance {
        (self.item.body, self.conditions.clone(), self.item.skipped(), self.reached)
    }

    /// How the test changed, if it did.
    fn became(&self, after: &Self) -> Option<TestChange> {
        if self.substance() == after.substance() {
            let stayed = self.item.digest == after.item.digest && self.file.path == after.file.path;
            if stayed && NewNames::of(self.file, after.file).shadows(after.file, after.item) {
                let (before, after) = (self.facts(), after.facts());
                return Some(TestChange::Changed { before, after, only_added: false });
            }
            return (!stayed || self.id != after.id)
                .then(|| TestChange::Moved { before: self.facts(), after: after.facts() });
        }
        let only_added = self.file.is_kept(self.item, (after.file, after.item));
        Some(TestChange::Changed { before: self.facts(), after: after.facts(), only_added })
    }
}
