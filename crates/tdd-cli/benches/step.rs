//! Benchmarks the machine's own share of a replayed step, in a small project and beside 20,000 other files, and its
//! peak memory: `cargo bench -p tdd-cli --bench step`.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints its figures")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;
use tdd_fixtures::Sandbox;

const KATA: &str = include_str!("../katas/string-calculator/kata.md");
const CASSETTE: &str = include_str!("../katas/string-calculator/cassette.jsonl");
const MANY: usize = 20_000;
const PER_FOLDER: usize = 100;

fn main() {
    measure("a small project", 0, 15.0);
    measure("20,000 files more", MANY, 150.0);
}

/// Prints the figures of a run; `bound` limits a step's own time in milliseconds.
fn measure(name: &str, files: usize, bound: f64) {
    let sandbox = project(files);
    let peak = run(&sandbox);
    println!("{name}: peak memory {} kB; a raw build and check {:?}", peak, raw(&sandbox));
    let steps = steps(&sandbox);
    // Steps that ran no command are left out, because they would improve the median.
    let whole: Vec<&Step> = steps.values().flatten().filter(|step| step.commands > 0.0).collect();
    for (role, steps) in &steps {
        println!("  {role}, {}", middle(steps.iter().collect()).1);
    }
    let (own, text) = middle(whole);
    println!("  a step that ran something, {text}: {} {bound} ms", if own <= bound { "within" } else { "over" });
}

/// The step with the median own time: that time, and a summary.
fn middle(mut steps: Vec<&Step>) -> (f64, String) {
    steps.sort_by(|one, other| one.own.total_cmp(&other.own));
    let (count, Step { own, commands }) = (steps.len(), steps[steps.len() / 2]);
    (*own, format!("median of {count}: own {own:.1} ms, beside commands of {commands:.1} ms"))
}

/// A project with the kata and this many unrelated files.
fn project(files: usize) -> Sandbox {
    let sandbox = Sandbox::new();
    let made = sandbox.command(env!("CARGO_BIN_EXE_tdd-cli")).args(["init", "--name", "string-calculator"]).output();
    assert!(made.unwrap().status.success());
    sandbox.write("kata.md", KATA);
    for number in 0..files {
        sandbox.write(&format!("data/{}/{number}.txt", number / PER_FOLDER), format!("{number}\n"));
    }
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "chore: what to build"]);
    fs::write(sandbox.outside().join("cassette.jsonl"), CASSETTE).unwrap();
    sandbox
}

/// Runs the whole kata and returns our process's peak memory in kB.
fn run(sandbox: &Sandbox) -> u64 {
    let cassette = sandbox.outside().join("cassette.jsonl");
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_tdd-cli"));
    command.args(["run", "--until-done", "--replay"]).arg(cassette).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut peak = 0;
    let status = loop {
        peak = peak.max(high_water(&child).unwrap_or_default());
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        // Reading `/proc` blocks the process for a moment, so poll rarely.
        sleep(Duration::from_millis(50));
    };
    assert!(status.success(), "the run failed: {status}");
    peak
}

/// The kernel's peak memory count; only available while the process runs.
fn high_water(child: &Child) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

/// Time of the plain commands on the same project when nothing is left to build.
fn raw(sandbox: &Sandbox) -> Duration {
    let both = || {
        sandbox.command("cargo").args(["test", "--no-run", "--all"]).output().unwrap();
        sandbox.command("cargo").args(["clippy", "--all", "--all-targets"]).output().unwrap();
    };
    both();
    let begun = Instant::now();
    both();
    begun.elapsed()
}

/// How a step's time is divided, in milliseconds.
struct Step {
    own: f64,
    commands: f64,
}

/// The steps by role, from their logs.
fn steps(sandbox: &Sandbox) -> BTreeMap<String, Vec<Step>> {
    let mut steps: BTreeMap<String, Vec<Step>> = BTreeMap::new();
    for entry in fs::read_dir(sandbox.project().join(".tdd/logs")).unwrap() {
        let log = read(&entry.unwrap().path());
        let took = |name: &str| log["took"][name].as_f64().unwrap();
        let step = Step { own: took("own"), commands: took("commands") };
        steps.entry(log["role"].as_str().unwrap().to_owned()).or_default().push(step);
    }
    steps
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}
