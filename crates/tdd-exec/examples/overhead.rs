//! Measures the supervisor's overhead: `cargo run -p tdd-exec --example overhead`.

use std::io::{self, Write};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use tdd_core::command::{CommandSpec, Exit};
use tdd_exec::process::{self, Isolation, Spawner};

const ROUNDS: u32 = 200;

fn main() -> ExitCode {
    if let Some(code) = process::supervise_if_asked() {
        return code;
    }
    let shared = Spawner::new("/", std::env::vars_os());
    let fresh = shared.clone().with_isolation(Isolation::Fresh);
    let rows =
        [("directly", mean(directly)), ("shared", mean(|| through(&shared))), ("fresh", mean(|| through(&fresh)))];
    for (name, time) in rows {
        let line = time.map_or_else(|| "failed".to_owned(), |time| format!("{time:?}"));
        if writeln!(io::stdout(), "{name:10}{line}").is_err() {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// The mean time of a round, if all rounds pass.
fn mean(round: impl Fn() -> bool) -> Option<Duration> {
    let started = Instant::now();
    (0..ROUNDS).all(|_| round()).then(|| started.elapsed() / ROUNDS)
}

fn directly() -> bool {
    let output = Command::new("/usr/bin/true").stdin(Stdio::null()).output();
    output.is_ok_and(|output| output.status.success())
}

fn through(spawner: &Spawner) -> bool {
    let spec = CommandSpec::new(["/usr/bin/true"], Duration::from_secs(10));
    process::run(spawner, &spec).is_ok_and(|finished| finished.exit == Exit::Passed)
}
