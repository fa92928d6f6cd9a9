//! `program run`: runs iterations of one program, or of every program that is due.

use std::num::NonZeroU32;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use serde::Serialize;
use tdd_core::machine::End;
use tdd_core::program::iteration::{Outcome, Overview};
use tdd_core::program::schedule::RunState;
use tdd_exec::program::{ProgramContext, ProgramError, Progress, Worker, found};
use tdd_exec::recording::Recording;

use super::program_context;
use crate::commands::run::{Options, count, minutes, show, voice};
use crate::context::Context;
use crate::error::{CliError, Code};
use crate::machine;
use crate::output::{BAD, GOOD, WARN, paint, print_line, print_raw, remark};

/// Run iterations of a program, or of all that are due
///
/// An iteration goes from the state to a decision: target, red, green, refactor or not, evaluation in a clean copy,
/// then accepted or discarded. Exit code 0 if the iterations were made, whatever their outcome, 1 if nothing was due, 3
/// if model or tools do not work, 4 if a person must look.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  tdd-cli program run port --iterations 5\n  tdd-cli program run --due --remote origin"
)]
pub struct Run {
    /// Which program
    #[arg(value_name = "NAME", required_unless_present = "due")]
    name: Option<String>,
    /// How many iterations
    #[arg(long, value_name = "N", value_parser = count::<NonZeroU32>, default_value = "1")]
    iterations: NonZeroU32,
    /// Run every program that is due; exit code 1 if there is none
    #[arg(long, conflicts_with = "name")]
    due: bool,
    /// Fetch and push the memory branch here; default: `remote` in the front matter
    #[arg(long, value_name = "REMOTE")]
    remote: Option<String>,
    /// Begin no attempt after this many minutes
    #[arg(long, value_name = "M", value_parser = minutes)]
    max_minutes: Option<Duration>,
    #[command(flatten)]
    options: Options,
}

/// The JSON line of one iteration.
#[derive(Debug, Serialize)]
struct Line<'a> {
    program: &'a str,
    outcome: &'static str,
    phase: &'static str,
    target: &'a str,
    metric: Option<f64>,
    summary: &'a str,
}

/// Exit code if no program was due.
const NOTHING_DUE: u8 = 1;
const FOR_A_PERSON: u8 = 4;

pub fn run(args: &Run, context: &Context) -> Result<ExitCode, CliError> {
    let programs = program_context(context)?;
    match &args.name {
        Some(name) => program(args, name, &programs, context).map(ExitCode::from),
        None => all_due(args, &programs, context),
    }
}

fn all_due(args: &Run, programs: &ProgramContext, context: &Context) -> Result<ExitCode, CliError> {
    let mut code = None;
    for name in found::names(&programs.repo)?.into_keys() {
        match if_due(args, &name, programs, context) {
            Ok(Some(ended)) if ended == Code::Interrupted as u8 => return Ok(ExitCode::from(ended)),
            Ok(ended) => code = code.max(ended),
            Err(error) if error.code() == Code::Interrupted => return Err(error),
            // A failing program must not keep the others from running.
            Err(error) => {
                code = code.max(Some(error.code() as u8));
                remark(format_args!("{name}: {error}"));
                remark(error.hint().unwrap_or_default());
            }
        }
    }
    if code.is_none() {
        remark("nothing is due");
    }
    Ok(ExitCode::from(code.unwrap_or(NOTHING_DUE)))
}

/// Runs a program if it is due and returns its exit code.
fn if_due(args: &Run, name: &str, programs: &ProgramContext, context: &Context) -> Result<Option<u8>, CliError> {
    let found = found::find(&programs.repo, name)?;
    let memory = programs.memory(&found, args.remote.as_deref());
    if found.problems.is_empty() {
        memory.fetch()?;
    }
    let look = programs.look(&found, &memory, args.options.allow_untracked)?;
    match (look.standing, look.refusal) {
        (RunState::Due | RunState::Pending, _) => program(args, name, programs, context).map(Some),
        (RunState::NotReady { .. }, Some(ProgramError::NotReady { .. })) => {
            context.output.note(format_args!("note: `{name}` is not ready; `tdd-cli program check {name}`"));
            Ok(None)
        }
        (RunState::NotReady { .. }, Some(refusal)) => Err(refusal.into()),
        (
            RunState::NotReady { .. }
            | RunState::Waiting { .. }
            | RunState::Paused { .. }
            | RunState::Blocked { .. }
            | RunState::Done { .. },
            _,
        ) => Ok(None),
    }
}

/// Runs iterations of one program and returns the exit code.
fn program(args: &Run, name: &str, programs: &ProgramContext, context: &Context) -> Result<u8, CliError> {
    let found = found::find(&programs.repo, name)?;
    if let Some(refusal) = found.not_ready() {
        return Err(refusal.into());
    }
    let strategy = match &found.definition.strategy {
        Ok(strategy) => *strategy,
        Err(why) => return Err(ProgramError::Baseline(why.clone()).into()),
    };
    let memory = programs.memory(&found, args.remote.as_deref());
    memory.fetch()?;
    let opened = |recording: &mut Recording| {
        context.mention_repair(recording);
        if context.output.is_json() {
            recording.echo_to(machine::print_records());
        }
    };
    let worker = Worker {
        context: programs,
        found: &found,
        strategy,
        memory,
        allow_untracked: args.options.allow_untracked,
        max_time: args.max_minutes,
        opened: &opened,
    };
    for _ in 0..args.iterations.get() {
        worker.memory.fetch()?;
        if let Some(code) = stands_still(&worker, name)? {
            return Ok(code);
        }
        if let Some(end) = iterate(&worker, args, name, context)? {
            show(&end, context)?;
            return Ok(end.exit_code());
        }
    }
    let state = worker.memory.load()?;
    Ok(if state.pause().is_some() { FOR_A_PERSON } else { 0 })
}

/// Runs one iteration. Returns the machine's end if the iteration is unfinished; the next run continues it.
fn iterate(worker: &Worker<'_>, args: &Run, name: &str, context: &Context) -> Result<Option<End>, CliError> {
    loop {
        let (order, mandate) = match worker.iterate()? {
            Progress::Over(overview) => return tell(context, name, &overview).map(|()| None),
            Progress::Work(order, mandate) => (order, *mandate),
        };
        let voices = voice(&args.options, &worker.context.config, order.max_time, context)?;
        match machine::run(context, order, mandate, voices)? {
            End::Steps { .. } | End::Done { .. } | End::Stopped { .. } => {}
            // Only plans end like this.
            End::Fulfilled { .. } | End::Lacking { .. } => {}
            end @ (End::Time { .. } | End::Spent { .. } | End::OutOfTime { .. } | End::Interrupted) => {
                return Ok(Some(end));
            }
        }
    }
}

/// The exit code if no iteration may begin.
fn stands_still(worker: &Worker<'_>, name: &str) -> Result<Option<u8>, CliError> {
    let look = worker.look()?;
    if let Some(refusal) = look.refusal {
        return Err(refusal.into());
    }
    match look.standing {
        RunState::Done { reason } => {
            remark(format_args!("{name} is done: {reason}"));
            Ok(Some(0))
        }
        RunState::Pending => {
            if worker.settle(&look.state)? {
                return stands_still(worker, name);
            }
            remark(format_args!("{name} waits for the checks of its last commit"));
            Ok(Some(0))
        }
        // States that stop a run came with a refusal, handled above.
        RunState::Due
        | RunState::Waiting { .. }
        | RunState::Paused { .. }
        | RunState::Blocked { .. }
        | RunState::NotReady { .. } => Ok(None),
    }
}

fn tell(context: &Context, program: &str, overview: &Overview) -> Result<(), CliError> {
    let Overview { outcome, phase, target, metric, summary, .. } = overview;
    if context.output.is_json() {
        let line = Line { program, outcome: outcome.word(), phase: phase.name(), target, metric: *metric, summary };
        return print_raw(&serde_json::to_string(&line).unwrap_or_default());
    }
    let style = match outcome {
        Outcome::Accepted => GOOD,
        Outcome::Discarded | Outcome::Pending => WARN,
        Outcome::Error | Outcome::Blocked => BAD,
    };
    let metric = metric.map_or_else(String::new, |metric| format!(" (metric {metric})"));
    print_line(&format!("{program}: {}{metric}: {summary}", paint(style, outcome.word())))
}
