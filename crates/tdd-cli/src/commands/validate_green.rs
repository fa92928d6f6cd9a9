//! `validate-green`: does production now pass a test that was red, with every other test kept?

use std::process::ExitCode;

use clap::Args;
use tdd_core::judge::{self, Seen};

use crate::context::Context;
use crate::error::CliError;
use crate::red_state::RedState;
use crate::trial::{Trial, Which};
use crate::verdict::Verdicts;

/// Check that tests which were red are green, and all others with them
///
/// The red is proven: where the ledger does not know it, the tests are run on the base's production code.
/// Exit code 0 if it holds, 1 if the change is at fault, 3 if it could not be found out.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  tdd-cli validate-green tests/game.rs::a_strike_counts_double\n  tdd-cli validate-green tests/game.rs --base main\n  tdd-cli validate-green --at HEAD tests/game.rs    a commit, in a clean copy"
)]
pub struct ValidateGreen {
    /// Test files or test ids
    #[arg(required = true, value_name = "TEST")]
    targets: Vec<String>,
    #[command(flatten)]
    which: Which,
}

pub fn run(args: &ValidateGreen, context: &Context) -> Result<ExitCode, CliError> {
    let mut trial = Trial::open(context, &args.which)?;
    let whole = trial.change()?;
    let targets = trial.targets(&args.targets, &whole)?;
    let targets: Vec<_> = targets.iter().collect();
    let red = RedState::find(&trial, &whole, &targets)?;
    let run = trial.run()?;
    let change = red.change_to_green(&trial)?;
    let seen = Seen {
        change: &change,
        report: &run.report,
        trees: (&trial.tree, &run.tree_after),
        baseline: Some(&red.baseline),
        max_new_tests: u32::MAX,
        excepted: &trial.excepted,
    };
    let ruling = red.ruling().unwrap_or_else(|| judge::judge_green(&seen, &targets, &red.baseline));
    let ruling = trial.checked(ruling)?;
    let ruling = trial.counter_proven(ruling, &targets, &change, &red.baseline)?;
    let verdicts = Verdicts::new(vec![trial.verdict(ruling, &run.report)]);
    context.output.result(&verdicts, || verdicts.text())?;
    Ok(verdicts.exit_code())
}
