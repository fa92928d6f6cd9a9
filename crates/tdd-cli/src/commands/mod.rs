//! One file a command; here they are told apart, and their errors shown.

pub mod audit;
pub mod auto_test;
pub mod check;
pub mod commit;
pub mod completions;
pub mod demo;
pub mod detect_antipattern;
pub mod doctor;
pub mod export;
pub mod init;
pub mod log;
pub mod man;
pub mod override_rule;
pub mod plan;
mod plan_run;
pub mod program;
pub mod prove;
pub mod refactor;
pub mod resume;
pub mod retire;
pub mod run;
pub mod status;
pub mod step;
pub mod validate_green;
pub mod validate_red;
pub mod validate_refactor;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use tdd_core::visible;

use crate::args::{Cli, Command, Format};
use crate::context::Context;
use crate::error::{CliError, Code, ErrorDocument};
use crate::output::{self, BAD, BOLD, paint};
use crate::{page, progress};

/// Runs the command that the process was started with.
pub fn run() -> ExitCode {
    let (code, format) = match Cli::try_parse() {
        Ok(cli) => {
            let format = cli.global.format;
            (dispatch(cli).unwrap_or_else(|error| end_by(&error, format)), format)
        }
        Err(error) => (explain(&error), Format::Human),
    };
    progress::end();
    let Some(error) = output::failure() else { return code };
    // What was decided stays decided, but nothing is done that nobody could be told of.
    let unwritten = fail(&error, format);
    if code == ExitCode::SUCCESS { unwritten } else { code }
}

/// Shows the help that was asked for, or what is wrong with the command line.
fn explain(error: &clap::Error) -> ExitCode {
    let text = error.render();
    let is_plain = |argument: OsString| !argument.to_string_lossy().contains(visible::is_obeyed);
    // An argument that is quoted in it must not pass for a colour of the help.
    let coloured = || page::painted(&text.ansi().to_string());
    let text = if std::env::args_os().all(is_plain) { coloured() } else { text.to_string() };
    if !error.use_stderr() {
        let _written = output::print_line(text.trim_end());
        return ExitCode::SUCCESS;
    }
    output::remark(text.trim_end());
    if asks_for_json(std::env::args_os()) {
        print_document(&ErrorDocument::of_usage(error));
    }
    ExitCode::from(Code::Usage as u8)
}

/// Whether a command line that does not parse says `--format json` all the same.
fn asks_for_json(args: impl Iterator<Item = OsString>) -> bool {
    let args: Vec<OsString> = args.collect();
    args.iter().any(|arg| arg == "--format=json") || args.windows(2).any(|pair| pair == ["--format", "json"])
}

fn dispatch(cli: Cli) -> Result<ExitCode, CliError> {
    if cli.global.format == Format::Markdown && !matches!(cli.command, Command::Prove(_)) {
        return Err(CliError::NoMarkdown);
    }
    let context = Context::new(cli.global)?;
    match cli.command {
        Command::Demo(args) => demo::run(&args, &context),
        Command::Init(args) => init::run(&args, &context),
        Command::Run(args) => run::run(&args, &context),
        Command::Step(args) => step::run(&args, &context),
        Command::Status(args) => status::run(&args, &context),
        Command::Doctor(args) => doctor::run(&args, &context),
        Command::Check(args) => check::run(&args, &context),
        Command::Commit(args) => commit::run(&args, &context),
        Command::Prove(args) => prove::run(&args, &context),
        Command::AutoTest(args) => auto_test::run(&args, &context),
        Command::ValidateRed(args) => validate_red::run(&args, &context),
        Command::ValidateGreen(args) => validate_green::run(&args, &context),
        Command::ValidateRefactor(args) => validate_refactor::run(&args, &context),
        Command::DetectAntipattern(args) => detect_antipattern::run(&args, &context),
        Command::Audit(args) => audit::run(&args, &context),
        Command::Refactor(args) => refactor::run(&args, &context),
        Command::Plan(args) => plan::run(&args, &context),
        Command::Program(args) => program::run(&args, &context),
        Command::Resume(args) => resume::run(&args, &context),
        Command::Retire(args) => retire::run(&args, &context),
        Command::Override(args) => override_rule::run(&args, &context),
        Command::Log(args) => log::run(&args, &context),
        Command::Export(args) => export::run(&args, &context),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
    }
}

/// What could not be written is told once, when all is over.
fn end_by(error: &CliError, format: Format) -> ExitCode {
    if matches!(error, CliError::Output(_)) { ExitCode::SUCCESS } else { fail(error, format) }
}

/// Shows an error, with a way out, and gives its exit code.
fn fail(error: &CliError, format: Format) -> ExitCode {
    // Who closed the pipe does not want to hear of it.
    if !error.is_closed_pipe() {
        output::remark(format_args!("{} {error}", paint(BAD, "error:")));
        for cause in error.causes() {
            output::remark(format_args!("  because: {cause}"));
        }
        if let Some(hint) = error.hint() {
            output::remark(format_args!("  {} {hint}", paint(BOLD, "try:")));
        }
        if format == Format::Json {
            print_document(&error.document());
        }
    }
    ExitCode::from(error.code() as u8)
}

/// On one line: it may be the last of a stream.
fn print_document(document: &ErrorDocument) {
    if let Ok(json) = serde_json::to_string(document) {
        // The exit code says it too, if nobody reads standard output.
        let _written = output::print_raw(&json);
    }
}
