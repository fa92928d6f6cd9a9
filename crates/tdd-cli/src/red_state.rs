//! The moment between red and green: the base's production code with the change's tests.

use std::collections::BTreeMap;

use tdd_core::change::Change;
use tdd_core::judge::{self, Baseline, Ruling};
use tdd_core::report::{Cause, Fault};
use tdd_core::test_id::TestId;
use tdd_exec::sources::ChangedSources;
use tdd_lang::language::Sources;

use crate::error::CliError;
use crate::trial::{AtRed, Trial};

/// What all tests said when the targets should have been red.
pub struct RedState {
    /// What every test said then.
    pub baseline: Baseline,
    /// What is other than in the base: the change's tests.
    tests: BTreeMap<String, Option<String>>,
    /// How the tests themselves break the law, if they do.
    breach: Option<Ruling>,
}

impl RedState {
    /// Lays the change's tests over its base and runs them.
    pub fn find(trial: &Trial<'_>, change: &Change, targets: &[&TestId]) -> Result<Self, CliError> {
        let breach = judge::judge_new_tests(change).map(Ruling::Refused);
        if breach.is_some() {
            return Ok(Self { baseline: Baseline::new(), tests: BTreeMap::new(), breach });
        }
        let (tests, new) = composed(trial)?;
        let run = trial.run_elsewhere(&trial.base, &tests)?;
        let mut baseline = judge::baseline_of(&run.report);
        for target in
            targets.iter().filter(|target| target.path().is_some_and(|path| new.iter().any(|file| file == path)))
        {
            // Its file is not part of any target yet: what would declare it is production code.
            baseline.entry((*target).clone()).or_insert(Some(Cause::MissingSymbol));
        }
        let outside = |cause: &Cause| cause.fault() == Fault::Environment;
        if let Some(cause) = run.report.obstacles().iter().map(|obstacle| obstacle.cause).find(outside) {
            for target in targets {
                // Whether it was red is not known; that is not the change's fault.
                baseline.entry((*target).clone()).or_insert(Some(cause));
            }
        }
        Ok(Self { baseline, tests, breach: None })
    }

    /// How the tests themselves break the law, if they do.
    pub fn ruling(&self) -> Option<Ruling> {
        self.breach.clone()
    }

    /// What the change did after the tests were there.
    pub fn change_to_green(&self, trial: &Trial<'_>) -> Result<Change, CliError> {
        let (base, after) = trial.stored()?;
        trial.change_between(&ChangedSources::new(&base, &self.tests), &after)
    }
}

type Composed = (BTreeMap<String, Option<String>>, Vec<String>);

/// The files that hold tests, as they are to be at red where that is not as in the base; and those of them
/// that are new.
fn composed(trial: &Trial<'_>) -> Result<Composed, CliError> {
    let (base, subject) = trial.stored()?;
    let (mut files, mut new) = (BTreeMap::new(), Vec::new());
    for path in trial.changed_paths()? {
        let before = base.read(&path);
        let AtRed::Other(at_red) = trial.at_red(&path, &base, &subject) else { continue };
        if before.is_none() {
            new.push(path.clone());
        }
        if before != at_red {
            files.insert(path, at_red);
        }
    }
    Ok((files, new))
}
