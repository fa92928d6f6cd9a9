//! Tests that a run killed repeatedly, at every kind of moment, ends like an undisturbed one: nothing lost, duplicated
//! or left behind. `TDD_KILLS` sets the number of kills.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::json;
use tdd_core::commit::{Trailers, validate_step};
use tdd_exec::ledger;
use tdd_exec::state::StateDir;
use tdd_fixtures::Sandbox;
use tdd_fixtures::script::Script;

/// The kata's tests and the code that makes each pass, cycle by cycle.
const CYCLES: [(&str, &str, &str); 4] = [
    ("an_empty_text_is_zero", r#"add(""), 0"#, "0"),
    ("one_number_is_itself", r#"add("7"), 7"#, "text.parse().unwrap_or(0)"),
    ("commas", r#"add("1,2"), 3"#, "text.split(',').map(|part| part.parse().unwrap_or(0)).sum()"),
    ("lines", r#"add("1\n2"), 3"#, "text.split([',', '\\n']).map(|part| part.parse().unwrap_or(0)).sum()"),
];

/// A user's untracked file that must stay untouched.
const MINE: (&str, &str) = ("mine.txt", "untouched\n");

fn tests(cycles: usize) -> String {
    let one = |(name, asserted, _): &(&str, &str, &str)| {
        format!("\n#[test]\nfn {name}() {{\n    assert_eq!({asserted});\n}}\n")
    };
    CYCLES[..cycles].iter().map(one).fold("use kata::add;\n".to_owned(), |text, test| text + &test)
}

fn code(cycle: usize, doc: &str) -> String {
    let body = CYCLES[cycle - 1].2;
    let name = if body.contains("text") { "text" } else { "_text" };
    format!("//! Adds.\n\n/// {doc}\npub fn add({name}: &str) -> i64 {{\n    {body}\n}}\n")
}

/// Twelve steps, with attempts that are refused or undone and refactors with and without a change.
fn script() -> Script {
    let mut script = Script::new();
    for cycle in 1..=4 {
        let step = |at: usize, role: &str| format!("{}-{role}", 3 * (cycle - 1) + at);
        let (tester, implementor, refactorer) = (step(1, "tester"), step(2, "implementor"), step(3, "refactorer"));
        script = script.writes(&tester, "tests/add.rs", &tests(cycle));
        let right = code(cycle, "The sum.");
        script = if cycle == 2 {
            let wrong = code(1, "The sum, or not.");
            script
                .plans(&implementor)
                .edits(&implementor, 1, &[("tests/add.rs", None)], &json!({}))
                .edits(&implementor, 2, &[("src/lib.rs", Some(&wrong))], &json!({}))
                .edits(&implementor, 3, &[("src/lib.rs", Some(&right))], &json!({"summary": "do it"}))
        } else {
            script.writes(&implementor, "src/lib.rs", &right)
        };
        script = if cycle % 2 == 1 {
            script.writes(&refactorer, "src/lib.rs", &code(cycle, &format!("The sum, said {cycle} times.")))
        } else {
            script.rests(&refactorer)
        };
    }
    script
}

/// A project and the cassette for its models.
fn project() -> Sandbox {
    let sandbox = Sandbox::new();
    let output = sandbox.command(env!("CARGO_BIN_EXE_tdd-cli")).args(["init", "--name", "kata"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    sandbox.write(MINE.0, MINE.1);
    fs::write(sandbox.outside().join("script.jsonl"), script().cassette()).unwrap();
    sandbox
}

/// Starts a run for the remaining steps.
fn begin(sandbox: &Sandbox) -> Child {
    let left = (12 - steps_ended(sandbox)).to_string();
    let args = ["run", "--steps", &left, "--allow-untracked", "--replay", "../script.jsonl"];
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_tdd-cli"));
    command.args(args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

fn lines(sandbox: &Sandbox) -> Vec<serde_json::Value> {
    let text = fs::read_to_string(sandbox.project().join(".tdd/events.jsonl")).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// The number of the last completed step, by the commits or the ledger.
fn steps_ended(sandbox: &Sandbox) -> u64 {
    let messages = sandbox.git(&["log", "--format=%(trailers:key=TDD-Step,valueonly)"]);
    let committed = messages.lines().find_map(|line| line.trim().parse().ok()).unwrap_or(0);
    let ended = lines(sandbox).into_iter().filter(|line| line["type"] == "step_end");
    ended.filter_map(|line| line["step"].as_u64()).max().unwrap_or(0).max(committed)
}

/// When to kill.
#[derive(Clone, Copy, Debug)]
enum Moment {
    /// After this many more events.
    Events(usize),
    /// After this time.
    Time(Duration),
}

/// Kills a run at a moment; returns whether it was still running.
fn kill_at(sandbox: &Sandbox, moment: Moment) -> bool {
    let before = lines(sandbox).len();
    let mut child = begin(sandbox);
    let start = Instant::now();
    let is_now = || match moment {
        Moment::Events(more) => lines(sandbox).len() >= before + more,
        Moment::Time(time) => start.elapsed() >= time,
    };
    while !is_now() && child.try_wait().unwrap().is_none() && start.elapsed() < Duration::from_mins(2) {
        sleep(Duration::from_millis(1));
    }
    let killed = child.try_wait().unwrap().is_none();
    child.kill().unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(killed || output.status.success(), "{moment:?}: {}", String::from_utf8_lossy(&output.stderr));
    assert_nobody_left(sandbox.outside());
    assert_eq!(sandbox.read(MINE.0), MINE.1);
    killed
}

fn assert_nobody_left(folder: &Path) {
    let folder = folder.canonicalize().unwrap();
    let there = || {
        let entries = fs::read_dir("/proc").unwrap().flatten();
        let inside =
            entries.filter(|entry| fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(&folder)));
        inside.map(|entry| fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default()).collect::<Vec<_>>()
    };
    let until = Instant::now() + Duration::from_secs(5);
    while !there().is_empty() && Instant::now() < until {
        sleep(Duration::from_millis(5));
    }
    assert_eq!(there(), Vec::<String>::new());
}

/// Subjects, steps and phases of all commits, oldest first.
fn history(sandbox: &Sandbox) -> Vec<String> {
    let log = sandbox.git(&["log", "--reverse", "--format=%B%x00"]);
    let messages = log.split('\0').map(str::trim).filter(|message| !message.is_empty());
    let told = |message: &str| {
        let trailers = Trailers::parse(message);
        if let Some(step) = trailers.get("TDD-Step") {
            validate_step(message).unwrap();
            let phase = trailers.get("TDD-Phase").unwrap_or_default();
            return format!("{step} {phase} {}", message.lines().next().unwrap_or_default());
        }
        message.lines().next().unwrap_or_default().to_owned()
    };
    messages.map(told).collect()
}

/// A completed step: number, role, outcome.
type Ended = (u64, String, String);

/// The completed steps, in order.
fn ended(sandbox: &Sandbox) -> Vec<Ended> {
    let ends = lines(sandbox).into_iter().filter(|line| line["type"] == "step_end");
    let text = |line: &serde_json::Value, key: &str| line[key].as_str().unwrap().to_owned();
    ends.map(|line| (line["step"].as_u64().unwrap(), text(&line, "role"), text(&line, "outcome"))).collect()
}

fn assert_sound(sandbox: &Sandbox) {
    let dir = StateDir::find(&sandbox.project()).unwrap().unwrap();
    for record in ledger::records(&dir).unwrap().unwrap() {
        record.unwrap();
    }
    assert_eq!(sandbox.git(&["status", "--porcelain"]), format!("?? {}\n", MINE.0));
    assert_eq!(sandbox.read(MINE.0), MINE.1);
    let objects = sandbox.git(&["rev-list", "--objects", "--all"]);
    assert!(!objects.contains(MINE.0), "a ref leads to a file of a person's");
}

/// The result of a run that is not killed.
fn undisturbed() -> (Vec<String>, Vec<Ended>, String, usize) {
    let sandbox = project();
    let output = begin(&sandbox).wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_sound(&sandbox);
    (history(&sandbox), ended(&sandbox), sandbox.git(&["rev-parse", "HEAD^{tree}"]), lines(&sandbox).len())
}

/// A pseudo-random sequence with a fixed seed, so that failures can be reproduced.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

#[test]
fn a_run_that_is_killed_at_any_moment_comes_to_the_same_end() {
    let kills: usize = std::env::var("TDD_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(20);
    let (history_without, ended_without, tree_without, events) = undisturbed();
    let mut chance = Chance(20_261_116);
    let mut done = 0;
    while done < kills {
        let sandbox = project();
        while steps_ended(&sandbox) < 12 {
            if done >= kills {
                let output = begin(&sandbox).wait_with_output().unwrap();
                assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
                continue;
            }
            // Two of three kills are at an event boundary, which moves on each time so that all are covered.
            let moment = match done % 3 {
                0 => Moment::Time(Duration::from_millis(chance.below(1500))),
                _ => Moment::Events(1 + done / 3 % (events / 8)),
            };
            done += usize::from(kill_at(&sandbox, moment));
        }
        // The run may have been killed between its last step and its end; the next start repairs that.
        let args = ["step", "--allow-untracked", "--replay", "../script.jsonl"];
        let output = sandbox.command(env!("CARGO_BIN_EXE_tdd-cli")).args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "the script has no thirteenth step");
        assert_eq!(history(&sandbox), history_without);
        assert_eq!(ended(&sandbox), ended_without);
        assert_eq!(sandbox.git(&["rev-parse", "HEAD^{tree}"]), tree_without);
        assert_sound(&sandbox);
    }
}
