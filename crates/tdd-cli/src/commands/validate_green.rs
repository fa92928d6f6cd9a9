//! `validate-green`: checks that a red test passes and that no other test is lost or broken.

use std::process::ExitCode;

use clap::Args;
use tdd_core::law::Kind;

use crate::context::Context;
use crate::error::CliError;
use crate::gates;
use crate::verdict;
use crate::which::Which;

/// Check that tests which were red now pass, and that no other test broke
///
/// The red is proven: if the ledger does not know it, the tests are run on the base's production code. A file stands
/// for its tests that are new or were red before.
/// Exit code 0 if it holds, 1 if the change is at fault, 3 if there is no verdict.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  tdd-cli validate-green tests/game.rs::a_strike_counts_double\n  tdd-cli validate-green tests/game.rs --base main\n  tdd-cli validate-green --at HEAD tests/game.rs    a commit, in a clean copy"
)]
pub struct ValidateGreen {
    /// Tests: ids, files or unique names; by default those that the change is for
    #[arg(value_name = "TEST")]
    targets: Vec<String>,
    #[command(flatten)]
    which: Which,
}

pub fn run(args: &ValidateGreen, context: &Context) -> Result<ExitCode, CliError> {
    let mut workshop = context.gate_workshop(&args.which.change())?;
    let judged = gates::judge(&mut workshop, Kind::Green, &args.targets)?;
    Ok(verdict::show(&workshop, &judged, context))
}
