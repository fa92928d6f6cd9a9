//! `man`: prints manual pages, generated from the help texts.

use std::process::ExitCode;

use clap::{Args, CommandFactory};

use crate::args::Cli;
use crate::error::CliError;
use crate::output::{failed, print_raw};

/// Print the manual page
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  tdd-cli man | man -l -\n  tdd-cli man init > tdd-cli-init.1")]
pub struct Man {
    /// Print the page of this command instead of the whole program's
    command: Option<String>,
}

pub fn run(args: &Man) -> Result<ExitCode, CliError> {
    let mut program = Cli::command();
    program.build();
    let page = match &args.command {
        None => program,
        Some(name) => {
            let found = program.get_subcommands().find(|command| command.get_name() == name);
            found.ok_or_else(|| CliError::UnknownCommand(name.clone()))?.clone().display_name(format!("tdd-cli-{name}"))
        }
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(page).render(&mut text).map_err(failed)?;
    print_raw(String::from_utf8_lossy(&text).trim_end())?;
    Ok(ExitCode::SUCCESS)
}
