//! Parses the command line, runs the command and shows its error; one file per command.

pub mod audit;
pub mod auto_test;
pub mod check;
pub mod commit;
pub mod completions;
pub mod demo;
pub mod detect_antipattern;
pub mod doctor;
pub mod eval;
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

/// Runs the command of this process.
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
    // A failed command keeps its exit code; a successful one fails if its output could not be written.
    let unwritten = fail(&error, format);
    if code == ExitCode::SUCCESS { unwritten } else { code }
}

/// Prints the requested help, or the error in the command line.
fn explain(error: &clap::Error) -> ExitCode {
    let text = error.render();
    let is_plain = |argument: OsString| !argument.to_string_lossy().contains(visible::is_obeyed);
    // No colours if an argument has control characters: quoted in the text, they could pose as colours of ours.
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

/// Whether a command line that does not parse asks for JSON output.
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
        Command::Eval(args) => eval::run(&args, &context),
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

/// Output errors are reported once, by [`run()`].
fn end_by(error: &CliError, format: Format) -> ExitCode {
    if matches!(error, CliError::Output(_)) { ExitCode::SUCCESS } else { fail(error, format) }
}

/// Prints an error with its hint and returns its exit code.
fn fail(error: &CliError, format: Format) -> ExitCode {
    // Whoever closed the pipe does not read the error.
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

/// Prints one line, because it may end a stream of JSON lines.
fn print_document(document: &ErrorDocument) {
    if let Ok(json) = serde_json::to_string(document) {
        // A write error is reported by the exit code.
        let _written = output::print_raw(&json);
    }
}
