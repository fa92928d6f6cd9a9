//! Runs one command through [`Spawner`] and prints how it ended; our tests start this binary, and kill it.

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

use tdd_core::command::CommandSpec;
use tdd_exec::process::{self, Spawner};

fn main() -> ExitCode {
    if let Some(code) = process::supervise_if_asked() {
        return code;
    }
    let spec = CommandSpec::new(std::env::args().skip(1), Duration::from_mins(10));
    let spawner = Spawner::new(".", std::env::vars_os());
    let line = match process::run(&spawner, &spec) {
        Ok(finished) => format!("{}\n{}", finished.exit, finished.stdout.text()),
        Err(error) => error.to_string(),
    };
    match writeln!(io::stdout(), "{line}") {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
