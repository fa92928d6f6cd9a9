//! The command line of the TDD machine.

mod args;
mod begun;
mod commands;
mod context;
mod error;
mod gates;
mod inquiry;
mod kata;
mod machine;
mod one_test;
mod output;
mod person;
mod project;
mod recording;
mod red_state;
mod servers;
mod tally;
mod targets;
mod trial;
mod verdict;
mod verification;

use std::process::ExitCode;

fn main() -> ExitCode {
    // A supervisor is this same program, started again to watch over one command.
    tdd_exec::process::supervise_if_asked().unwrap_or_else(commands::run)
}
