//! Tests that a program killed repeatedly, at any moment, reaches the same state as an undisturbed one.

use std::thread::sleep;
use std::time::Duration;

use tdd_fixtures::server::Cast;

use crate::stage::{Source, Stage, implementor, tester};

/// The iterations: the function's number, and text appended to its code.
const ITERATIONS: [(u32, &str); 4] = [(1, ""), (2, "// slow\n"), (2, ""), (3, "// cheat\n")];

/// `TDD_KILLS` sets the number of kills.
#[test]
fn a_program_that_is_killed_at_any_moment_comes_to_the_same_state() {
    let kills: u64 = std::env::var("TDD_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(8);
    let stage = Stage::port();
    let mut left = kills;
    for (at, (k, note)) in (1_u64..).zip(ITERATIONS) {
        let source = Source::of(&stage).with(k);
        let mut cast = Cast::new();
        for _ in 0..20 {
            cast = implementor(tester(cast, k, &source), k, &(source.code.clone() + note));
        }
        stage.recast(cast);
        let ended = || stage.events().iter().filter(|event| event["type"] == "iteration_end").count() as u64;
        while left > (4 - at) * kills / 4 && ended() < at {
            let mut child = stage.begin(&["program", "run", "port"]);
            // Spread over an iteration, which takes some seconds.
            sleep(Duration::from_millis(100 + (left * 7919 + at * 104_729) % 2_600));
            child.kill().unwrap();
            child.wait().unwrap();
            left -= 1;
        }
        while ended() < at {
            let told = stage.run(&["program", "run", "port"]);
            assert_eq!(told.code, Some(0), "{}\n{}", told.stdout, told.stderr);
        }
        assert_eq!(stage.sandbox.git(&["status", "--porcelain"]), "");
    }
    let known = stage.state();
    let entries = known["history"]["entries"].as_array().unwrap();
    let told: Vec<_> = entries.iter().rev().map(|past| past["outcome"].as_str().unwrap()).collect();
    assert_eq!(told, ["accepted", "discarded", "accepted", "discarded"]);
    assert_eq!(stage.sandbox.read("tests/ported.rs").matches("#[test]").count(), 2);
    assert_eq!(stage.sandbox.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(stage.sandbox.git(&["fsck", "--no-dangling"]), "");
}
