//! Runs a program's scripts, each in a clean checkout of a commit, and reads their results.

use std::fs;
use std::time::Duration;

use tdd_core::command::{CommandSpec, Exit, Finished};
use tdd_core::digest::CommitId;
use tdd_core::program::decision::{Checks, IterationFacts, falls_short};
use tdd_core::program::definition::{Definition, Strategy};
use tdd_core::program::evaluation::{self, Measured};
use tdd_core::program::metric::Ratchet;

use super::ProgramContext;
use super::error::ProgramError;
use crate::error::WorkError;
use crate::process;
use crate::project::Workbench;
use crate::runner::RunError;
use crate::state::StateDir;

/// Measures commits for one program. The caller holds the ledger's lock, so that no other process uses our folder.
pub(super) struct Evaluator<'a> {
    pub(super) context: &'a ProgramContext,
    pub(super) definition: &'a Definition,
    pub(super) strategy: Strategy,
}

/// Time limit for the `ci` command.
const CHECKS: Duration = Duration::from_mins(5);

impl Evaluator<'_> {
    /// Gathers the facts for the decision about a commit. Skips the later scripts if the evaluation already falls
    /// short.
    pub(super) fn look(&self, commit: &CommitId, ratchet: Ratchet) -> Result<IterationFacts, ProgramError> {
        let evaluation = self.measure(commit)?;
        let good = matches!(&evaluation, Ok(measured) if falls_short(ratchet, measured).is_none());
        let again = if good { Some(self.measure(commit)?) } else { None };
        let held_out_failed = if good { self.held_out(commit)? } else { Vec::new() };
        Ok(IterationFacts { outside: None, evaluation, again, held_out_failed, checks: Checks::None })
    }

    /// The evaluation's result on a commit, or why it does not count.
    pub(super) fn measure(&self, commit: &CommitId) -> Result<Result<Measured, String>, ProgramError> {
        let finished = self.script(commit, &self.definition.evaluation)?;
        let measured =
            || evaluation::read(&finished.stdout.text(), self.definition.metric_name.as_deref(), self.strategy);
        Ok(match &finished.exit {
            Exit::Passed => measured(),
            Exit::TimedOut => Err(format!("it took longer than {} minutes", self.definition.timeout_minutes)),
            other => Err(format!("it ended with {other}{}", last_line(&finished))),
        })
    }

    fn held_out(&self, commit: &CommitId) -> Result<Vec<usize>, ProgramError> {
        let mut failed = Vec::new();
        for (at, script) in self.definition.held_out.iter().enumerate() {
            if self.script(commit, script)?.exit != Exit::Passed {
                failed.push(at + 1);
            }
        }
        Ok(failed)
    }

    /// The state of a commit's CI checks.
    pub(super) fn checks(&self, commit: &CommitId) -> Result<Checks, ProgramError> {
        let Some(ci) = &self.definition.ci else { return Ok(Checks::None) };
        let spec = CommandSpec::new(["bash", "-c", &ci.replace("{commit}", &commit.0)], CHECKS);
        let finished = ended(process::run(&self.context.spawner(), &spec).map_err(RunError::from)?)?;
        let text = finished.stdout.text();
        let word = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
        match (finished.exit, word) {
            (Exit::Passed, "success") => Ok(Checks::Passed),
            (Exit::Passed, "failure") => Ok(Checks::Failed),
            (Exit::Passed, "pending") => Ok(Checks::Pending),
            (exit, word) => Err(ProgramError::Checks(format!("it ended with {exit} and said `{word}`"))),
        }
    }

    /// Runs a script in a new checkout of the commit. Build products go to a folder beside it, which is kept.
    fn script(&self, commit: &CommitId, script: &str) -> Result<Finished, ProgramError> {
        let repo = &self.context.repo;
        repo.sweep_worktrees()?;
        let folder = StateDir::ensure(repo.root())?.path().join("evaluation");
        let (tree, products) = (folder.join("tree"), folder.join("products"));
        // A killed evaluation may have left its checkout.
        if tree.exists() {
            fs::remove_dir_all(&tree).map_err(|source| ProgramError::Leftover { path: tree.clone(), source })?;
        }
        let bench = Workbench::open(&self.context.user_paths)?;
        let needs = bench.language.scratch(&bench.project, &products.to_string_lossy());
        let worktree = repo.add_worktree(&tree, commit)?;
        let deadline = Duration::from_secs(self.definition.timeout_minutes.saturating_mul(60));
        let spec = CommandSpec::new(["bash", "-c", script], deadline);
        let spawner = self.context.spawner().with_root(worktree.dir()).with_vars(needs.env);
        let progress = (self.context.control.progress)();
        progress("measuring");
        ended(process::run(&spawner, &spec).map_err(RunError::from)?)
    }
}

/// Passes on a script that ended by itself or by timeout.
fn ended(finished: Finished) -> Result<Finished, ProgramError> {
    match &finished.exit {
        Exit::Interrupted => Err(WorkError::Interrupted.into()),
        Exit::NotStarted(why) => Err(ProgramError::Script(why.clone())),
        Exit::Passed | Exit::Failed(_) | Exit::Signalled(_) | Exit::TimedOut => Ok(finished),
    }
}

fn last_line(finished: &Finished) -> String {
    let text = finished.stderr.text();
    let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty());
    line.map_or_else(String::new, |line| format!(": {}", line.chars().take(200).collect::<String>()))
}
