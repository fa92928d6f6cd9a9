//! Builds the red state: the base's production code with the change's tests.

use std::collections::BTreeMap;
use std::time::Instant;

use tdd_core::change::Sort;
use tdd_core::judge;
use tdd_core::report::{Cause, Fault};
use tdd_core::seam::RedState;
use tdd_core::test_id::TestId;
use tdd_lang::language::Sources;
use tdd_lang::provenance;

use super::{Overrides, ProjectWorkshop};
use crate::counterproof::millis;
use crate::error::WorkError;
use crate::sources::ChangedSources;

/// A file's content in the red state.
enum AtRed {
    /// The same as in the base.
    AsBefore,
    /// This text; `None` if the file does not exist.
    Other(Option<String>),
}

impl ProjectWorkshop {
    /// Puts the change's tests over its base and runs them.
    pub(super) fn state_at_red(&self, targets: &[TestId]) -> Result<RedState, WorkError> {
        let (tests, new) = self.tests_over_base()?;
        let started = Instant::now();
        let report = self.run_in_scratch(&self.span.base, &tests)?.report;
        let ms = millis(started);
        let mut baseline = judge::baseline_of(&report);
        let in_new_file = |target: &&TestId| target.path().is_some_and(|path| new.iter().any(|file| file == path));
        for target in targets.iter().filter(in_new_file) {
            // A new file is not part of any target yet, because the code that would declare it is production code.
            baseline.entry(target.clone()).or_insert(Some(Cause::MissingSymbol));
        }
        let outside = |cause: &Cause| cause.fault() == Fault::Environment;
        if let Some(cause) = report.obstacles().iter().map(|obstacle| obstacle.cause).find(outside) {
            for target in targets {
                // Whether the test was red is unknown, which is not the change's fault.
                baseline.entry(target.clone()).or_insert(Some(cause));
            }
        }
        let (base, after) = self.stored()?;
        let change = self.change_between(&ChangedSources::new(&base, &tests), &after)?;
        Ok(RedState { baseline, change, ms })
    }

    /// The test files whose content in the red state differs from the base, and which of the test files are new.
    fn tests_over_base(&self) -> Result<(Overrides, Vec<String>), WorkError> {
        let (base, subject) = self.stored()?;
        let (mut files, mut new) = (BTreeMap::new(), Vec::new());
        for path in self.changed_paths()? {
            let before = base.read(&path);
            let AtRed::Other(at_red) = self.at_red(&path, &base, &subject) else { continue };
            if before.is_none() {
                new.push(path.clone());
            }
            if before != at_red {
                files.insert(path, at_red);
            }
        }
        Ok((files, new))
    }

    /// A file's content in the red state: the base's production code with the judged tree's tests.
    fn at_red(&self, path: &str, base: &dyn Sources, subject: &dyn Sources) -> AtRed {
        let (before, after) = (base.read(path), subject.read(path));
        let sources = if after.is_some() { subject } else { base };
        match provenance::sort(self.site.language.as_ref(), &self.site.project, path, sources) {
            Sort::Test => AtRed::Other(after),
            Sort::Production => self
                .site
                .language
                .compose(path, before.as_deref(), after.as_deref())
                .map_or(AtRed::AsBefore, |text| AtRed::Other(Some(text))),
            // Whatever a document says, it cannot make the test pass: no code reads it.
            Sort::Document => AtRed::Other(after),
            Sort::Steering => AtRed::AsBefore,
        }
    }
}
