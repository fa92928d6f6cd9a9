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
    // The program may be started a second time as the supervisor of one child process.
    tdd_exec::process::supervise_if_asked().unwrap_or_else(commands::run)
}
