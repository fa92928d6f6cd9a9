//! Benchmarks what `validate-red` adds to the commands that it runs, including process start:
//! `cargo bench -p tdd-cli --bench validate_red`.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints its figures")]

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;
use tdd_fixtures::Sandbox;

const ROUNDS: usize = 30;
const TEST: &str =
    "use bowling::score;\n\n#[test]\nfn a_gutter_game_scores_zero() {\n    assert_eq!(score(&[0; 20]), 0);\n}\n";
const WRONG: &str = "//! Bowling.\n\n/// The score.\npub fn score(_: &[u32]) -> u32 {\n    1\n}\n";

/// Alternates both, so that both run under the same load.
fn main() {
    let sandbox = project();
    assert!(ours(&sandbox), "the test is red");
    let binaries = build(&sandbox);
    let (mut with_us, mut without) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        forget(&sandbox);
        let begun = Instant::now();
        assert!(ours(&sandbox));
        with_us.push(begun.elapsed());
        let ledger = sandbox.read(".tdd/events.jsonl");
        assert_eq!(ledger.matches("\"suite_run\"").count(), 1, "the tests were not run: {ledger}");
        let begun = Instant::now();
        theirs(&sandbox, &binaries);
        without.push(begun.elapsed());
    }
    let (with_us, without) = (median(with_us), median(without));
    println!(
        "validate-red: {with_us:?}; the same commands alone: {without:?}; our share: {:?}, ratio {:.2}",
        with_us.saturating_sub(without),
        with_us.as_secs_f64() / without.as_secs_f64()
    );
}

/// Deletes the ledger, which would otherwise answer the second time without running anything.
fn forget(sandbox: &Sandbox) {
    std::fs::remove_dir_all(sandbox.project().join(".tdd")).unwrap();
}

/// A project with a red test.
fn project() -> Sandbox {
    let sandbox = Sandbox::new();
    assert!(tdd(&sandbox).args(["init", "--name", "bowling"]).output().unwrap().status.success());
    sandbox.write("src/lib.rs", WRONG);
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "feat: a score"]);
    sandbox.write("tests/game.rs", TEST);
    sandbox
}

fn tdd(sandbox: &Sandbox) -> Command {
    sandbox.command(env!("CARGO_BIN_EXE_tdd-cli"))
}

fn ours(sandbox: &Sandbox) -> bool {
    tdd(sandbox).args(["validate-red", "tests/game.rs", "-q"]).output().unwrap().status.success()
}

/// The commands that `validate-red` runs: the build, and each test binary twice.
fn theirs(sandbox: &Sandbox, binaries: &[PathBuf]) {
    build(sandbox);
    for arguments in [&["--list"][..], &[]] {
        for binary in binaries {
            sandbox.command(binary).args(arguments).output().unwrap();
        }
    }
}

fn build(sandbox: &Sandbox) -> Vec<PathBuf> {
    let arguments = ["build", "--tests", "--keep-going", "--message-format", "json", "--profile", "test", "--all"];
    let output = sandbox.command("cargo").args(arguments).output().unwrap();
    let messages = output.stdout.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok());
    messages.filter_map(|message: Value| Some(PathBuf::from(message["executable"].as_str()?))).collect()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
