//! `program pause` and `program resume`: record that a person stops a program or lets it continue.

use std::process::ExitCode;

use clap::Args;
use serde::Serialize;
use tdd_core::program::schedule::RunState;
use tdd_core::program::state::{Happened, Who};
use tdd_core::seam::Clock;
use tdd_exec::clock::WallClock;
use tdd_exec::program::found;

use super::program_context;
use crate::context::Context;
use crate::error::CliError;
use crate::person::PersonError;

/// Pause a program until a person resumes it
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tdd-cli program pause port --reason \"the reference is being renamed\"")]
pub struct Pause {
    /// Which program
    #[arg(value_name = "NAME")]
    name: String,
    /// Why
    #[arg(long)]
    reason: String,
    /// Push the memory branch to this remote
    #[arg(long, value_name = "REMOTE")]
    remote: Option<String>,
}

/// Resume a program that is paused, blocked or done
///
/// If the machine itself is paused because of a test, run `tdd-cli resume` or `tdd-cli resume --skip` first.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tdd-cli program resume port")]
pub struct Resume {
    /// Which program
    #[arg(value_name = "NAME")]
    name: String,
    /// Push the memory branch to this remote
    #[arg(long, value_name = "REMOTE")]
    remote: Option<String>,
}

/// The JSON document.
#[derive(Debug, Serialize)]
struct Document {
    program: String,
    #[serde(flatten)]
    standing: RunState,
    /// What to do if a run would refuse to start.
    next: Option<String>,
}

pub fn pause(args: &Pause, context: &Context) -> Result<ExitCode, CliError> {
    let reason = args.reason.trim();
    if reason.is_empty() {
        return Err(PersonError::NoReason.into());
    }
    let happened = Happened::Paused { at_ms: WallClock.now_ms(), by: Who::Person, reason: reason.to_owned() };
    tell(&args.name, args.remote.as_deref(), &happened, context)
}

pub fn resume(args: &Resume, context: &Context) -> Result<ExitCode, CliError> {
    let happened = Happened::Resumed { at_ms: WallClock.now_ms(), by: Who::Person };
    tell(&args.name, args.remote.as_deref(), &happened, context)
}

fn tell(name: &str, remote: Option<&str>, happened: &Happened, context: &Context) -> Result<ExitCode, CliError> {
    let programs = program_context(context)?;
    let found = found::find(&programs.repo, name)?;
    let memory = programs.memory(&found, remote);
    memory.fetch()?;
    memory.record(std::slice::from_ref(happened))?;
    let look = programs.look(&found, &memory, /* allow_untracked */ false)?;
    let (line, next) = (super::line(name, &look), super::next(&look));
    let document = Document { program: name.to_owned(), standing: look.standing, next };
    context.output.result(&document, || line.clone());
    Ok(ExitCode::SUCCESS)
}
