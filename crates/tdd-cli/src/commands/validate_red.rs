//! `validate-red`: checks that tests are red for a valid cause and that nothing else changed.

use std::process::ExitCode;

use clap::Args;
use tdd_core::law::Kind;

use crate::context::Context;
use crate::error::CliError;
use crate::gates;
use crate::verdict;
use crate::which::Which;

/// Check that tests are red, and that nothing else is touched
///
/// A file stands for the tests in it that ask for something new. Exit code 0 if every one is red, 1 if the
/// change is at fault, 3 if there is no verdict.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  tdd-cli validate-red tests/game.rs\n  tdd-cli validate-red tests/game.rs::a_strike_counts_double --format json\n  tdd-cli validate-red --at HEAD~1 tests/game.rs    a commit, in a clean copy"
)]
pub struct ValidateRed {
    /// Tests: ids, files or unique names; by default those that the change is for
    #[arg(value_name = "TEST")]
    targets: Vec<String>,
    #[command(flatten)]
    which: Which,
}

pub fn run(args: &ValidateRed, context: &Context) -> Result<ExitCode, CliError> {
    let mut workshop = context.gate_workshop(&args.which.change())?;
    let judged = gates::judge(&mut workshop, Kind::Red, &args.targets)?;
    Ok(verdict::show(&workshop, &judged, context))
}
