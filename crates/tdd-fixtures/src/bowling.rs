//! A bowling game as a small Rust project: a test, the code that makes it pass, and the project in both states.

use crate::Sandbox;

/// The file of the test.
pub const TEST_FILE: &str = "tests/game.rs";
/// The file of the code.
pub const CODE_FILE: &str = "src/lib.rs";
/// The test.
pub const TEST: &str =
    "use bowling::score;\n\n#[test]\nfn a_gutter_game_scores_zero() {\n    assert_eq!(score(&[0; 20]), 0);\n}\n";
/// Its id.
pub const TARGET: &str = "tests/game.rs::a_gutter_game_scores_zero";
/// Code that makes it pass.
pub const RIGHT: &str =
    "//! Bowling.\n\n/// The score.\npub fn score(rolls: &[u32]) -> u32 {\n    rolls.iter().sum()\n}\n";

/// A fresh project that this program set up and committed.
pub fn project(program: &str) -> Sandbox {
    Sandbox::initialized(program, &["--name", "bowling"])
}

/// The same with the test and the code that makes it pass, committed.
pub fn tested_project(program: &str) -> Sandbox {
    let sandbox = project(program);
    sandbox.write(TEST_FILE, TEST);
    sandbox.write(CODE_FILE, RIGHT);
    sandbox.commit("feat: score");
    sandbox
}
