//! `validate-refactor`: is every test kept, and does everything still pass?

use std::process::ExitCode;

use clap::Args;
use tdd_core::judge::{self, Seen};

use crate::context::Context;
use crate::error::CliError;
use crate::trial::{Trial, Which};
use crate::verdict::Verdicts;

/// Check that a refactor keeps every test and its outcome
///
/// Exit code 0 if it holds, 1 if the change is at fault, 3 if it could not be found out.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  tdd-cli validate-refactor\n  tdd-cli validate-refactor --at HEAD --format json")]
pub struct ValidateRefactor {
    #[command(flatten)]
    which: Which,
}

pub fn run(args: &ValidateRefactor, context: &Context) -> Result<ExitCode, CliError> {
    let mut trial = Trial::open(context, &args.which)?;
    let change = trial.change()?;
    let baseline = trial.baseline()?;
    let run = trial.run()?;
    let seen = Seen {
        change: &change,
        report: &run.report,
        trees: (&trial.tree, &run.tree_after),
        baseline: Some(&baseline),
        max_new_tests: 0,
        excepted: &trial.excepted,
    };
    let ruling = trial.checked(judge::judge_refactor(&seen))?;
    let verdicts = Verdicts::new(vec![trial.verdict(ruling, &run.report)]);
    context.output.result(&verdicts, || verdicts.text())?;
    Ok(verdicts.exit_code())
}
