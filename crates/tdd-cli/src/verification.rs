//! The command of a project's own that must pass at the end of refactor mode.

use std::time::Duration;

use tdd_core::command::{CommandSpec, Exit};
use tdd_core::judge;
use tdd_core::rule::{Refusal, Rule};
use tdd_core::seam::RunnerOutcome;
use tdd_exec::process;
use tdd_exec::runner::RunError;

use crate::error::CliError;
use crate::trial::{Overrides, Trial};

/// Runs it on the tree that is judged; a refusal if it does not pass, or touches files.
pub fn by_command(trial: &Trial<'_>, argv: Vec<String>) -> Result<(Option<Refusal>, RunnerOutcome), CliError> {
    let deadline = Duration::from_secs(trial.loaded.config.ci.build_timeout_secs.get());
    let command = CommandSpec::new(argv, deadline);
    let root = if trial.in_place {
        trial.repo.root().to_owned()
    } else {
        trial.elsewhere(&trial.tree, &Overrides::new(), |_| Ok(()))?;
        trial.scratch_tree()?
    };
    let finished = process::run(&trial.spawner(root), &command).map_err(RunError::from)?;
    if finished.exit == Exit::Interrupted {
        return Err(CliError::Interrupted);
    }
    let (stdout, stderr) = (finished.stdout.text(), finished.stderr.text());
    let refusal = judge::judge_verification(&finished.exit, &command.line(), &format!("{stderr}\n{stdout}"));
    let refusal = refusal.or(same_tree(trial)?);
    let ok = finished.exit == Exit::Passed;
    Ok((refusal, RunnerOutcome { ok, stdout, stderr, exit: finished.exit.clone() }))
}

fn same_tree(trial: &Trial<'_>) -> Result<Option<Refusal>, CliError> {
    let changed = trial.in_place && trial.repo.tree_id()? != trial.tree;
    Ok(changed.then(|| {
        let reason = "the files changed while they were verified, so nothing was verified";
        Rule::SameTree.refuse(reason, "make `ci.verify_cmd` leave the project's files alone")
    }))
}
