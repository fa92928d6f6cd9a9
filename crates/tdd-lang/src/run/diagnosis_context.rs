//! What a language needs to find the cause of a failure: the project, and the names that its sources define.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use crate::language::{Project, Sources};

/// A project with its modules, as a language knows them.
pub(crate) struct DiagnosisContext<'d, M> {
    pub project: &'d Project,
    pub sources: &'d dyn Sources,
    pub modules: M,
    definitions: OnceCell<BTreeSet<String>>,
}

impl<'d, M> DiagnosisContext<'d, M> {
    /// Reads the modules of this tree.
    pub fn new(project: &'d Project, sources: &'d dyn Sources, modules: fn(&Project, &dyn Sources) -> M) -> Self {
        Self { project, sources, modules: modules(project, sources), definitions: OnceCell::new() }
    }

    /// The names that production code defines; read once, on first use.
    pub fn defined(&self, read: fn(&Project, &dyn Sources) -> BTreeSet<String>) -> &BTreeSet<String> {
        self.definitions.get_or_init(|| read(self.project, self.sources))
    }
}
