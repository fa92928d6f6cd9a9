//! `program status`: shows one program's run state.

use std::process::ExitCode;

use clap::Args;
use serde::Serialize;
use tdd_core::program::page;
use tdd_core::program::schedule::RunState;
use tdd_core::program::state::State;
use tdd_exec::program::{Look, found};

use super::program_context;
use crate::context::Context;
use crate::error::CliError;

/// Show where a program stands: its page, or its state with `--format json`
///
/// The first line says whether `program run` would begin an iteration now, and if not, why not and what to do.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tdd-cli program status port --format json | jq '.state.history.entries[0]'")]
pub struct Status {
    /// Which program
    #[arg(value_name = "NAME")]
    name: String,
}

/// The JSON document.
#[derive(Debug, Serialize)]
struct Document {
    #[serde(flatten)]
    standing: RunState,
    /// What to do if a run would refuse to start.
    next: Option<String>,
    state: State,
}

pub fn run(args: &Status, context: &Context) -> Result<ExitCode, CliError> {
    let programs = program_context(context)?;
    let found = found::find(&programs.repo, &args.name)?;
    let look = programs.look(&found, &programs.memory(&found, None), /* allow_untracked */ false)?;
    let (line, next) = (super::line(&args.name, &look), super::next(&look));
    let Look { standing, state, .. } = look;
    let document = Document { standing, next, state };
    context.output.result(&document, || {
        let page = page::write(&document.state, found.definition.target_metric);
        format!("{line}\n{page}")
    });
    Ok(ExitCode::SUCCESS)
}
