//! `run`: runs steps from the current position until there is a reason to stop.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;
use std::time::Duration;

use clap::Args;
use tdd_agents::models::RoleModels;
use tdd_core::config::Config;
use tdd_exec::git::Repo;
use tdd_exec::text;

use crate::commands::init;
use crate::context::Context;
use crate::error::CliError;
use crate::kata::{self, KataError};
use crate::machine;
use crate::output::{BOLD, GOOD, WARN, paint, print_line};
use crate::voice;
use tdd_core::machine::{End, Mandate, Order};
use tdd_exec::project;

/// Let the three roles work, step by step, until there is a reason to stop
///
/// Continues from the current history. Every step is verified before it is committed, and a failed attempt leaves
/// nothing behind. Exit code 0 if it did what was asked, 3 if model or tools do not work, 4 if a person must look or
/// the time is up.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  tdd-cli run --cycles 3\n  tdd-cli run --until-done --max-minutes 90\n  mkdir bowling && tdd-cli -C bowling run --kata ~/katas/bowling.md --steps 3"
)]
pub struct Run {
    /// Stop after this many steps; one cycle has three. Default: `steps` in tdd.yaml
    #[arg(long, value_name = "N", value_parser = count::<NonZeroU32>)]
    steps: Option<NonZeroU32>,
    /// Stop after this many cycles of tester, implementor and refactorer
    #[arg(long, value_name = "N", value_parser = count::<NonZeroU32>, conflicts_with = "steps")]
    cycles: Option<NonZeroU32>,
    /// Continue until the tester can show that the kata is done
    #[arg(long)]
    until_done: bool,
    /// Begin no attempt after this many minutes, and no wait demanded by a server that would end later
    #[arg(long, value_name = "M", value_parser = minutes)]
    max_minutes: Option<Duration>,
    /// The kata; in an empty folder, the project is set up for it first
    #[arg(long, value_name = "FILE")]
    kata: Option<PathBuf>,
    #[command(flatten)]
    options: Options,
}

/// What `run`, `step` and `plan run` share.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Leave untracked files alone, and verify each step in a clean copy
    #[arg(long)]
    pub allow_untracked: bool,
    /// Record all answers of the models on this cassette
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    pub record: Option<PathBuf>,
    /// Replay the models' answers from this cassette instead of asking them
    #[arg(long, value_name = "FILE")]
    pub replay: Option<PathBuf>,
}

/// Largest cassette, in bytes.
const MAX_CASSETTE: u64 = 64 << 20;

pub fn run(args: &Run, context: &Context) -> Result<ExitCode, CliError> {
    if let Some(kata) = &args.kata {
        set_up(kata, context)?;
    }
    let repo = project::repository(&context.user_paths)?;
    let config = project::configuration(&context.user_paths, repo.root())?.config;
    if let Some(kata) = &args.kata {
        same_kata(kata, &repo, &config)?;
    }
    let cycles = args.cycles.map(|cycles| cycles.get().saturating_mul(3));
    let default = (!args.until_done).then(|| config.steps.get());
    let order = Order {
        steps: args.steps.map(NonZeroU32::get).or(cycles).or(default),
        until_done: args.until_done,
        max_time: args.max_minutes,
        allow_untracked: args.options.allow_untracked,
        cycle: false,
    };
    work(order, &args.options, &config, context)
}

/// Runs the machine with the requested models and prints how it ended.
pub fn work(order: Order, options: &Options, config: &Config, context: &Context) -> Result<ExitCode, CliError> {
    refuse_placeholder(options, config, context)?;
    let voices = voice(options, config, order.max_time, context)?;
    let end = machine::run(context, order, Mandate::default(), voices)?;
    show(&end, context)?;
    Ok(ExitCode::from(end.exit_code()))
}

/// Refuses to pay a model for building the placeholder kata.
fn refuse_placeholder(options: &Options, config: &Config, context: &Context) -> Result<(), CliError> {
    let path = project::repository(&context.user_paths)?.root().join(config.kata_description.as_str());
    let is_nothing = || kata::read(&path).is_ok_and(|text| text == kata::PLACEHOLDER);
    if options.replay.is_none() && is_nothing() { Err(KataError::Placeholder(path).into()) } else { Ok(()) }
}

/// Parses minutes: `90`, `0.5`.
pub fn minutes(text: &str) -> Result<Duration, String> {
    let minutes = text.parse::<f64>().ok().filter(|minutes| *minutes > 0.0);
    let time = minutes.and_then(|minutes| Duration::try_from_secs_f64(minutes * 60.0).ok());
    time.ok_or_else(|| "write a number of minutes, more than nothing: `90`".to_owned())
}

/// Parses a positive number.
pub fn count<N: FromStr>(text: &str) -> Result<N, &'static str> {
    text.parse().map_err(|_| "write a whole number, at least `1`")
}

/// The requested models, for a run of at most this duration.
pub fn voice(
    options: &Options,
    config: &Config,
    max_time: Option<Duration>,
    context: &Context,
) -> Result<RoleModels, CliError> {
    match &options.replay {
        Some(path) => {
            let cassette = text::read(path, MAX_CASSETTE).map_err(CliError::CassetteFile)?;
            Ok(RoleModels::replayed(&cassette, config)?)
        }
        None => voice::configured(config, context, options.record.as_deref(), max_time),
    }
}

/// Prints how a run ended.
pub fn show(end: &End, context: &Context) -> Result<(), CliError> {
    if context.output.is_json() {
        return Ok(());
    }
    let style = if end.exit_code() == 0 { GOOD } else { WARN };
    let gap = if context.output.is_quiet() { "; " } else { "\n" };
    let next = end.next().map_or_else(String::new, |next| format!("{gap}{} {next}", paint(BOLD, "next:")));
    print_line(&format!("{}{next}", paint(style, end.reason())))
}

/// Sets up an empty folder as a project for this kata.
fn set_up(kata: &Path, context: &Context) -> Result<(), CliError> {
    let folder = project::folder(&context.user_paths)?;
    if init::is_empty(&folder) { init::for_run(kata, context) } else { Ok(()) }
}

/// Fails if `--kata` differs from the project's kata.
fn same_kata(requested: &Path, repo: &Repo, config: &Config) -> Result<(), CliError> {
    let configured = repo.root().join(config.kata_description.as_str());
    let text = kata::read(requested)?;
    if kata::read(&configured)? == text {
        return Ok(());
    }
    let configured = config.kata_description.as_str().to_owned();
    Err(CliError::OtherKata { configured, requested: requested.display().to_string() })
}
