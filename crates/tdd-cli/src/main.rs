//! The command line of the TDD machine.

mod args;
mod commands;
mod context;
mod dots;
mod error;
mod gates;
mod kata;
mod machine;
mod output;
mod page;
mod person;
mod program_error;
mod progress;
mod servers;
mod tally;
mod tell;
mod verdict;
mod voice;
mod which;
mod work_error;

use std::process::ExitCode;

fn main() -> ExitCode {
    // A supervisor is this same program, started again to watch over one command.
    tdd_exec::process::supervise_if_asked().unwrap_or_else(commands::run)
}
