//! `program status`: where one program stands, from its state.

use std::process::ExitCode;

use clap::Args;
use serde::Serialize;
use tdd_core::program::page;
use tdd_core::program::schedule::Standing;
use tdd_core::program::state::State;
use tdd_core::seam::Clock;
use tdd_exec::clock::WallClock;
use tdd_exec::program::found;

use super::desk;
use crate::context::Context;
use crate::error::CliError;

/// Show where a program stands: its page, or its state for programs
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tdd-cli program status port --format json | jq '.state.history.entries[0]'")]
pub struct Status {
    /// Which program
    #[arg(value_name = "NAME")]
    name: String,
}

/// A program's standing and state, for programs.
#[derive(Debug, Serialize)]
struct Document {
    #[serde(flatten)]
    standing: Standing,
    state: State,
}

pub fn run(args: &Status, context: &Context) -> Result<ExitCode, CliError> {
    let desk = desk(context)?;
    let found = found::find(&desk.repo, &args.name)?;
    let state = desk.memory(&found, None).load()?;
    let standing = Standing::of(found.definition.schedule, &state, WallClock.now_ms());
    let document = Document { standing, state };
    context.output.result(&document, || {
        let page = page::write(&document.state, found.definition.target_metric);
        format!("{}: {}\n\n{page}", args.name, document.standing.word())
    });
    Ok(ExitCode::SUCCESS)
}
