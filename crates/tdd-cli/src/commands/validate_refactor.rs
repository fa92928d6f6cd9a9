//! `validate-refactor`: is every test kept, and does everything still pass?

use std::process::ExitCode;

use clap::Args;

use crate::context::Context;
use crate::error::CliError;
use crate::gates;
use crate::trial::{Trial, Which};
use crate::verdict;

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
    let mut trial = Trial::before_a_gate(context, &args.which)?;
    let change = trial.change()?;
    let judged = gates::refactor(&mut trial, &change)?;
    verdict::show(&trial, judged, context)
}
