//! The arguments that every command shares, and the list of commands.

use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};

use crate::commands::{
    audit, auto_test, check, commit, completions, demo, detect_antipattern, doctor, eval, export, init, log, man,
    override_rule, plan, program, prove, refactor, resume, retire, run, status, step, validate_green, validate_red,
    validate_refactor,
};

/// Red, green, refactor as a law that a machine enforces.
///
/// An append-only ledger records every test run; the machine runs the tests itself and trusts no reported result.
#[derive(Debug, Parser)]
#[command(
    name = "tdd-cli",
    version,
    propagate_version = true,
    disable_help_subcommand = true,
    after_help = "Examples:\n  tdd-cli demo                                   see it work, in a minute\n  mkdir bowling && cd bowling && tdd-cli init    start a kata\n  tdd-cli auto-test                              run all tests, one line each\n  tdd-cli status --format json                   where things stand, for a script\n\nExit codes: 0 done, 1 the change is refused, 2 usage or configuration, 3 environment,\n4 stopped for a person, 130 interrupted. Output that could not be written (a closed\npipe, a full disk) turns 0 into 3; any other code stays."
)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

/// What every command takes.
#[derive(Clone, Debug, Args)]
pub struct Global {
    /// Work in this folder instead of the current one
    #[arg(short = 'C', long = "dir", value_name = "DIR", global = true, help_heading = "Global options")]
    pub dir: Option<PathBuf>,
    /// Read this file instead of `tdd.yaml` in the project's root
    #[arg(long, value_name = "FILE", global = true, help_heading = "Global options", env = "TDD_CONFIG")]
    pub config: Option<PathBuf>,
    /// Output format; `json` prints one document, or JSON lines for streams
    #[arg(long, value_enum, default_value_t, global = true, help_heading = "Global options")]
    pub format: Format,
    /// When to use colours
    #[arg(long, value_enum, default_value_t, global = true, help_heading = "Global options")]
    pub color: Color,
    /// Print details: evidence for verdicts, whole messages, every model call
    #[arg(short, long, action = ArgAction::Count, global = true, help_heading = "Global options")]
    pub verbose: u8,
    /// Print one line or the requested data, and errors
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = "Global options")]
    pub quiet: bool,
}

/// The format of results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Human,
    /// For programs.
    Json,
    /// For a comment on a pull request; only `prove` writes it.
    Markdown,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    Demo(demo::Demo),
    Init(init::Init),
    Run(run::Run),
    Step(step::Step),
    Status(status::Status),
    Doctor(doctor::Doctor),
    Eval(eval::Eval),
    Check(check::Check),
    Commit(commit::Commit),
    Prove(prove::Prove),
    AutoTest(auto_test::AutoTest),
    ValidateRed(validate_red::ValidateRed),
    ValidateGreen(validate_green::ValidateGreen),
    ValidateRefactor(validate_refactor::ValidateRefactor),
    DetectAntipattern(detect_antipattern::DetectAntipattern),
    Audit(audit::Audit),
    Refactor(refactor::Refactor),
    Plan(plan::Plan),
    Program(program::Program),
    Resume(resume::Resume),
    Retire(retire::Retire),
    Override(override_rule::OverrideRule),
    Log(log::Log),
    Export(export::Export),
    Completions(completions::Completions),
    Man(man::Man),
}
