//! A test run composed of several, one after the other: one for each package of a workspace.

use tdd_core::command::Finished;
use tdd_core::report::Report;
use tdd_core::test_id::TestId;

use crate::language::{Next, Project, Selection, Sources, Suite};
use crate::project_set::merged;

/// Runs the suites that `begin` makes from the tree, at the first call of `next`.
pub(crate) fn suite<'l>(begin: impl FnOnce(&dyn Sources) -> Vec<Box<dyn Suite>> + 'l) -> Box<dyn Suite + 'l> {
    Box::new(Parts { begin: Some(begin), left: Vec::new(), reports: Vec::new() })
}

/// The part of a selection that one package runs. Ids without a path are slugs; any package may have them, so each gets
/// all of them.
pub(crate) fn share(selection: &Selection, is_own: impl Fn(&str) -> bool) -> Selection {
    match selection {
        Selection::All => Selection::All,
        Selection::Only(ids) => {
            let own = |id: &&TestId| id.path().is_none_or(&is_own);
            Selection::Only(ids.iter().filter(own).cloned().collect())
        }
    }
}

/// A project in this folder.
pub(crate) fn at(root: &str) -> Project {
    Project { root: root.to_owned(), description: String::new() }
}

struct Parts<F> {
    begin: Option<F>,
    /// Unfinished suites; the current one is first.
    left: Vec<Box<dyn Suite>>,
    reports: Vec<Report>,
}

impl<F: FnOnce(&dyn Sources) -> Vec<Box<dyn Suite>>> Suite for Parts<F> {
    fn next(&mut self, sources: &dyn Sources) -> Next {
        if let Some(begin) = self.begin.take() {
            self.left = begin(sources);
        }
        while let Some(suite) = self.left.first_mut() {
            match suite.next(sources) {
                Next::Run(jobs) => return Next::Run(jobs),
                Next::Done(report) => {
                    self.reports.push(report);
                    self.left.remove(0);
                }
            }
        }
        Next::Done(merged(&self.reports))
    }

    fn feed(&mut self, finished: Vec<Finished>) {
        if let Some(suite) = self.left.first_mut() {
            suite.feed(finished);
        }
    }
}
