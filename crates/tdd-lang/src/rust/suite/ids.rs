//! Which test a name that a binary lists stands for.

use tdd_core::test_id::TestId;

use crate::language::Sources;

/// Turns the names of a test binary into ids.
pub(super) trait Naming {
    /// The id of the test that the binary with this root file calls `name`.
    fn id(&mut self, sources: &dyn Sources, root: &str, name: &str) -> TestId;
}

/// Every test belongs to the root file of its target.
pub(super) struct RootFile;

impl Naming for RootFile {
    fn id(&mut self, _sources: &dyn Sources, root: &str, name: &str) -> TestId {
        TestId::native(root, name)
    }
}
