//! `validate-red`: is this test red, for a valid cause, and is nothing else touched?

use std::process::ExitCode;

use clap::Args;

use crate::context::Context;
use crate::error::CliError;
use crate::gates;
use crate::trial::{Trial, Which};
use crate::verdict;

/// Check that tests are red, and that nothing else is touched
///
/// A file stands for the tests in it that ask for something new. Exit code 0 if every one is red, 1 if the
/// change is at fault, 3 if it could not be found out.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  tdd-cli validate-red tests/game.rs\n  tdd-cli validate-red tests/game.rs::a_strike_counts_double --format json\n  tdd-cli validate-red --at HEAD~1 tests/game.rs    a commit, in a clean copy"
)]
pub struct ValidateRed {
    /// Test files or test ids
    #[arg(required = true, value_name = "TEST")]
    targets: Vec<String>,
    #[command(flatten)]
    which: Which,
}

pub fn run(args: &ValidateRed, context: &Context) -> Result<ExitCode, CliError> {
    let mut trial = Trial::before_a_gate(context, &args.which)?;
    let change = trial.change()?;
    let targets = trial.red_targets(&args.targets, &change)?;
    let judged = gates::red(&mut trial, &change, &targets)?;
    verdict::show(&trial, judged, context)
}
