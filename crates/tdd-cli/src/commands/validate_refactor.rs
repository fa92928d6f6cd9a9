//! `validate-refactor`: checks that every test is kept and has the same result.

use std::process::ExitCode;

use clap::Args;
use tdd_core::law::Kind;

use crate::context::Context;
use crate::error::CliError;
use crate::gates;
use crate::verdict;
use crate::which::Which;

/// Check that a refactor keeps every test and its outcome
///
/// Exit code 0 if it holds, 1 if the change is at fault, 3 if there is no verdict.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  tdd-cli validate-refactor\n  tdd-cli validate-refactor --at HEAD --format json")]
pub struct ValidateRefactor {
    #[command(flatten)]
    which: Which,
}

pub fn run(args: &ValidateRefactor, context: &Context) -> Result<ExitCode, CliError> {
    let mut workshop = context.gate_workshop(&args.which.change())?;
    let judged = gates::judge(&mut workshop, Kind::Refactor, &[])?;
    Ok(verdict::show(&workshop, &judged, context))
}
