//! `completions`: prints a shell completion script.

use std::process::ExitCode;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::args::Cli;
use crate::error::CliError;
use crate::output::print_raw;

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tdd-cli completions bash > ~/.local/share/bash-completion/completions/tdd-cli")]
pub struct Completions {
    /// Which shell
    shell: Shell,
}

pub fn run(args: &Completions) -> Result<ExitCode, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "tdd-cli", &mut script);
    print_raw(String::from_utf8_lossy(&script).trim_end())?;
    Ok(ExitCode::SUCCESS)
}
