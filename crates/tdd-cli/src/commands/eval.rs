//! `eval`: compares the machine with one-shot answers of the same model, on exercises with hidden tests.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use tdd_eval::evaluation::{Cassettes, Ending, Evaluation, Order, Progress as TrialProgress};
use tdd_eval::results::TrialResult;
use tdd_eval::summary::Summary;
use tdd_eval::{Arm, error::EvalError};
use tdd_exec::git::Repo;
use tdd_exec::project;
use tdd_exec::state::StateDir;

use crate::commands::run::{count, minutes};
use crate::context::Context;
use crate::error::{CliError, Code};
use crate::progress::Progress;
use crate::voice;

/// Measure a model: the machine against one-shot, on exercises with hidden tests
///
/// An exercise is a folder with `instructions.md`, `stub/` and `hidden/`, or one from an Exercism track. The models are
/// those of `tdd.yaml`; one-shot asks the implementor's. Each finished trial is kept, and a second start goes on from
/// there. Exit code 2 if a folder is no exercise, 3 if a trial has no result.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  tdd-cli eval exercises\n  tdd-cli eval exercises --arms one-shot,machine --runs 5 --jobs 2\n  tdd-cli eval exercises --only leap --max-minutes 10 --record tapes\n  tdd-cli eval exercises --only leap --replay tapes --out replayed.jsonl --format json"
)]
pub struct Eval {
    /// A folder of exercises, or one exercise
    #[arg(value_name = "DIR")]
    exercises: PathBuf,
    /// The arms to compare: one-shot, one-shot-retry, machine. Default: all
    #[arg(long, value_name = "ARMS", value_delimiter = ',')]
    arms: Vec<Arm>,
    /// Runs of each exercise in each arm
    #[arg(long, value_name = "N", default_value = "1", value_parser = count::<NonZeroU32>)]
    runs: NonZeroU32,
    /// Decides the order of the trials, and is kept with the results
    #[arg(long, value_name = "N", default_value_t)]
    seed: u64,
    /// Only this exercise; may be repeated
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Trials at the same time, as many as the server takes
    #[arg(long, value_name = "N", default_value = "1", value_parser = count::<NonZeroUsize>)]
    jobs: NonZeroUsize,
    /// Append the results to this file. Default: `.tdd/eval/results.jsonl`, or `tdd-eval.jsonl` outside of a project
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The machine begins no attempt at an exercise after this many minutes
    #[arg(long, value_name = "M", default_value = "30", value_parser = minutes)]
    max_minutes: Duration,
    /// Record all answers of the models in this folder, one cassette per trial
    #[arg(long, value_name = "DIR", conflicts_with = "replay")]
    record: Option<PathBuf>,
    /// Replay the models' answers from this folder instead of asking them
    #[arg(long, value_name = "DIR")]
    replay: Option<PathBuf>,
}

pub fn run(args: &Eval, context: &Context) -> Result<ExitCode, CliError> {
    let folder = project::folder(&context.user_paths)?;
    let root = Repo::discover(&folder)?.map_or_else(|| folder.clone(), |repo| repo.root().to_owned());
    let config = project::configuration(&context.user_paths, &root)?.config;
    let out = match (&args.out, StateDir::find(&root)?) {
        (Some(out), _) => folder.join(out),
        (None, Some(state)) => state.path().join("eval/results.jsonl"),
        (None, None) => folder.join("tdd-eval.jsonl"),
    };
    let output = context.output;
    let order = Order {
        config: &config,
        vars: &voice::variable,
        cancel: context.cancel.clone(),
        tell: Arc::new(move |text: &str| output.note(text)),
        arms: if args.arms.is_empty() { Arm::ALL.to_vec() } else { args.arms.clone() },
        runs: args.runs.get(),
        seed: args.seed,
        jobs: args.jobs.get(),
        max_time: args.max_minutes,
        cassettes: match (&args.record, &args.replay) {
            (Some(record), _) => Cassettes::Record(folder.join(record)),
            (None, Some(replay)) => Cassettes::Replay(folder.join(replay)),
            (None, None) => Cassettes::None,
        },
    };
    let line = Progress::begin();
    let tell = |progress: TrialProgress<'_>| match progress {
        TrialProgress::Begun { exercise, arm, ended, trials } => {
            line.say(&format!("{} of {trials}: {exercise}, {}", ended + 1, arm.name()));
        }
        TrialProgress::Ended(result) => output.note(ended(result)),
        TrialProgress::Failed(failed) => {
            let (arm, run) = (failed.arm.name(), failed.run);
            output.note(format_args!("{}, {arm}, run {run}: no result: {}", failed.exercise, failed.reason));
        }
    };
    let evaluation = Evaluation::run(&folder.join(&args.exercises), &args.only, &out, &order, &tell)?;
    drop(line);
    if let Some(bytes) = evaluation.repaired {
        output.note(format_args!("note: the last line of the results was torn; {bytes} bytes were cut off"));
    }
    let summary = Summary::of(evaluation);
    let report = || format!("{}\nresults: {}\n", summary.text(), out.display());
    output.result_or(&summary, report, || summary.line());
    Ok(match summary.outcome.ending() {
        Ending::Interrupted => {
            output.note("interrupted; the same command goes on from here");
            ExitCode::from(Code::Interrupted as u8)
        }
        Ending::SomeFailed => ExitCode::from(Code::Environment as u8),
        Ending::SomeBroken => ExitCode::from(Code::Usage as u8),
        Ending::Complete => ExitCode::SUCCESS,
    })
}

fn ended(result: &TrialResult) -> String {
    let TrialResult { exercise, run, tests_passed, tests, spent, end, .. } = result;
    let what = match (result.solved, tests) {
        (true, _) => "solved".to_owned(),
        (false, 0) => "not solved".to_owned(),
        (false, _) => format!("not solved, {tests_passed} of {tests} tests pass"),
    };
    format!(
        "{exercise}, {}, run {run}: {what}; {} tokens, {} calls; {end}",
        result.arm.name(),
        result.tokens(),
        spent.calls
    )
}

/// The exit code of an evaluation that could not begin.
pub fn code(error: &EvalError) -> Code {
    if error.is_usage() { Code::Usage } else { Code::Environment }
}
