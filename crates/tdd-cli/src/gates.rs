//! The three gates and the rethink as one change before them: what is run, in which order, and what is judged.

use tdd_core::change::Change;
use tdd_core::judge::{self, Ruling, Seen};
use tdd_core::report::Report;
use tdd_core::test_id::TestId;

use crate::error::CliError;
use crate::red_state::RedState;
use crate::trial::Trial;

/// Rulings, and what the tests said.
pub struct Judged {
    /// One a target at red, one in all elsewhere.
    pub rulings: Vec<Ruling>,
    pub report: Report,
}

/// Whether these tests are red, and nothing else is touched.
pub fn red(trial: &mut Trial<'_>, change: &Change, targets: &[TestId]) -> Result<Judged, CliError> {
    let run = trial.run_to_judge()?;
    let only = if let [target] = targets { Some(target) } else { None };
    let baseline = judge::needs_baseline(&run.report, only).then(|| trial.baseline()).transpose()?;
    let seen = Seen {
        change,
        report: &run.report,
        trees: (&trial.tree, &run.tree_after),
        baseline: baseline.as_ref(),
        gate: &trial.gate(change, targets.len()),
        excepted: &trial.excepted,
    };
    let targets: Vec<_> = targets.iter().collect();
    let rulings = match targets.as_slice() {
        [] => vec![judge::no_new_test(&seen)],
        targets => targets.iter().map(|target| judge::judge_red(&seen, target, targets)).collect(),
    };
    let rulings = rulings.into_iter().map(|ruling| trial.complete(ruling)).collect::<Result<_, _>>()?;
    Ok(Judged { rulings, report: run.report })
}

/// Whether these tests were red and are green, and all others with them.
pub fn green(trial: &mut Trial<'_>, whole: &Change, targets: &[TestId]) -> Result<Judged, CliError> {
    let targets: Vec<_> = targets.iter().collect();
    let red = RedState::find(trial, whole, &targets)?;
    let run = trial.run_to_judge()?;
    let change = red.change_to_green(trial)?;
    let seen = Seen {
        change: &change,
        report: &run.report,
        trees: (&trial.tree, &run.tree_after),
        baseline: Some(&red.baseline),
        gate: &trial.gate(&change, 0),
        excepted: &trial.excepted,
    };
    let ruling = red.ruling().unwrap_or_else(|| judge::judge_green(&seen, &targets, &red.baseline));
    let ruling = trial.checked(trial.complete(ruling)?)?;
    let ruling = trial.counter_proven(ruling, &targets, &change, &red.baseline)?;
    let ruling = trial.unsensing(ruling, &change)?;
    Ok(Judged { rulings: vec![ruling], report: run.report })
}

/// Whether every test is kept, and everything passes as before.
pub fn refactor(trial: &mut Trial<'_>, change: &Change) -> Result<Judged, CliError> {
    let change = &trial.refactored(change.clone())?;
    let baseline = trial.baseline()?;
    let run = trial.run_to_judge()?;
    let seen = Seen {
        change,
        report: &run.report,
        trees: (&trial.tree, &run.tree_after),
        baseline: Some(&baseline),
        gate: &trial.gate(change, 0),
        excepted: &trial.excepted,
    };
    let ruling = trial.checked(trial.complete(judge::judge_refactor(&seen))?)?;
    let ruling = trial.unsensing(ruling, change)?;
    Ok(Judged { rulings: vec![ruling], report: run.report })
}

/// Whether a task of a plan, done in refactor mode, lost or loosened no test.
pub fn task(trial: &mut Trial<'_>, change: &Change) -> Result<Judged, CliError> {
    let baseline = trial.baseline()?;
    let run = trial.run_to_judge()?;
    let seen = Seen {
        change,
        report: &run.report,
        trees: (&trial.tree, &run.tree_after),
        baseline: Some(&baseline),
        gate: &trial.gate(change, 0),
        excepted: &trial.excepted,
    };
    let ruling = trial.checked(judge::judge_task(&seen))?;
    let ruling = trial.unsensing(ruling, change)?;
    Ok(Judged { rulings: vec![ruling], report: run.report })
}

/// Whether only this test was thought over, and is red again or withdrawn; or mended, and asserts what it did.
pub fn rethink(trial: &mut Trial<'_>, change: &Change, target: &TestId, mend: bool) -> Result<Judged, CliError> {
    let baseline = trial.baseline()?;
    let run = trial.run_to_judge()?;
    let seen = Seen {
        change,
        report: &run.report,
        trees: (&trial.tree, &run.tree_after),
        baseline: Some(&baseline),
        gate: &trial.gate(change, 0),
        excepted: &trial.excepted,
    };
    let was_green = baseline.get(target) == Some(&None);
    let ruling = if mend { judge::judge_mend(&seen, target) } else { judge::judge_rethink(&seen, target, was_green) };
    Ok(Judged { rulings: vec![ruling], report: run.report })
}
