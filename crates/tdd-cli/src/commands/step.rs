//! `step`: runs one step.

use std::process::ExitCode;

use clap::Args;

use crate::commands::run::{self, Options};
use crate::context::Context;
use crate::error::CliError;
use tdd_core::machine::Order;
use tdd_exec::project;

/// Run one step of the role whose turn it is
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  tdd-cli step\n  tdd-cli step --format json | jq -r .type    what happened")]
pub struct Step {
    #[command(flatten)]
    options: Options,
}

pub fn run(args: &Step, context: &Context) -> Result<ExitCode, CliError> {
    let repo = project::repository(&context.user_paths)?;
    let config = project::configuration(&context.user_paths, repo.root())?.config;
    let allow_untracked = args.options.allow_untracked;
    let order = Order { steps: Some(1), until_done: false, max_time: None, allow_untracked, cycle: false };
    run::work(order, &args.options, &config, context)
}
