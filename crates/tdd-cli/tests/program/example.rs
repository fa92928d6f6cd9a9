//! Tests that the program in `examples/` does what its pages say.

use std::fs;
use std::path::{Path, PathBuf};

use tdd_fixtures::{Sandbox, story};

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/port-text")
}

fn machine(sandbox: &Sandbox, args: &[&str]) -> String {
    let output = sandbox.command(env!("CARGO_BIN_EXE_tdd-cli")).args(args).output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{args:?}\n{stdout}\n{}", String::from_utf8_lossy(&output.stderr));
    stdout
}

/// Replaces times and commit ids.
fn timeless(text: &str) -> String {
    let mut out = String::new();
    let is_part = |c: char| c.is_ascii_hexdigit() || matches!(c, '-' | ':' | 'T' | 'Z');
    let is_new = |word: &str| {
        word.len() >= 13 && word.starts_with(|c: char| c.is_ascii_hexdigit()) && word.contains(char::is_numeric)
    };
    for line in text.split_inclusive('\n') {
        for word in line.split_inclusive(|c: char| !is_part(c)) {
            let core = word.trim_end_matches(|c: char| !is_part(c));
            out += &if is_new(core) { word.replace(core, "…") } else { word.to_owned() };
        }
    }
    out
}

/// `UPDATE_EXAMPLE=1 cargo test -p tdd-cli --test program example` updates the state.
#[test]
fn the_worked_program_comes_to_the_state_that_is_shown() {
    let sandbox = Sandbox::new();
    sandbox.lay("../../examples/port-text/project");
    sandbox.git(&["init", "-q"]);
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-qm", "chore: begin"]);
    let told = fs::read_to_string(example().join("story.md")).unwrap();
    fs::write(sandbox.outside().join("script.jsonl"), story::script(&told).cassette()).unwrap();
    assert!(machine(&sandbox, &["program", "check", "port-text"]).contains("ready to run"));
    let run = ["program", "run", "port-text", "--iterations", "5", "--replay", "../script.jsonl"];
    let outcomes: Vec<String> = machine(&sandbox, &run)
        .lines()
        .filter_map(|line| line.strip_prefix("port-text: "))
        .map(|line| line.split([' ', ':']).next().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(outcomes, ["accepted", "accepted", "accepted"]);
    for name in ["port-text.json", "port-text.md"] {
        let now = sandbox.git(&["show", &format!("memory/autoloop:{name}")]);
        let path = example().join("memory").join(name);
        if std::env::var_os("UPDATE_EXAMPLE").is_some() {
            fs::write(&path, &now).unwrap();
        }
        let shown = fs::read_to_string(&path).unwrap();
        assert_eq!(timeless(&now), timeless(&shown), "{name}");
    }
}
