//! `program`: autonomous work in iterations, under the same gates.

mod check;
mod list;
mod new;
mod resume;
mod run;
mod status;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use tdd_core::program::page;
use tdd_core::program::schedule::RunState;
use tdd_exec::program::{Look, ProgramContext};

use crate::context::Context;
use crate::error::CliError;
use crate::program_error;

/// Set up, check, run and steer programs
///
/// A program is a folder `.autoloop/programs/<name>/` that says what to do, which files may be changed and how the
/// result is measured. Its state is on the branch `memory/autoloop`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  tdd-cli program new port --strategy test-driven\n  tdd-cli program run port --iterations 3\n  tdd-cli program run --due"
)]
pub struct Program {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    New(new::New),
    Check(check::Check),
    List(list::List),
    Status(status::Status),
    Run(run::Run),
    Pause(resume::Pause),
    Resume(resume::Resume),
}

pub fn run(args: &Program, context: &Context) -> Result<ExitCode, CliError> {
    match &args.what {
        What::New(args) => new::run(args, context),
        What::Check(args) => check::run(args, context),
        What::List(list::List {}) => list::run(context),
        What::Status(args) => status::run(args, context),
        What::Run(args) => run::run(args, context),
        What::Pause(args) => resume::pause(args, context),
        What::Resume(args) => resume::resume(args, context),
    }
}

/// Opens the repository for work on its programs.
fn program_context(context: &Context) -> Result<ProgramContext, CliError> {
    Ok(ProgramContext::open(context.user_paths.clone(), context.run_control())?)
}

/// Explains a program's run state.
fn why(look: &Look) -> Option<String> {
    match &look.standing {
        RunState::Due => None,
        RunState::Waiting { until_ms } => Some(format!("until {}", page::time(*until_ms))),
        RunState::Pending => look.state.pending().map(|pending| format!("the checks of {}", pending.commit.short())),
        RunState::Paused { reason }
        | RunState::Blocked { reason }
        | RunState::Done { reason }
        | RunState::NotReady { reason } => Some(reason.clone()),
    }
}

/// One line with the program's run state, and one with the next action, if any.
fn line(name: &str, look: &Look) -> String {
    let why = why(look).map_or_else(String::new, |why| format!(": {why}"));
    let next = next(look).map_or_else(String::new, |next| format!("next: {next}\n"));
    format!("{name}: {}{why}\n{next}", look.standing.word())
}

/// What the user can do if a run would refuse to start.
fn next(look: &Look) -> Option<String> {
    look.refusal.as_ref().and_then(program_error::hint)
}
