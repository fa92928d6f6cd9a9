//! Tests wrapping on a narrow terminal, and the progress line of long commands.

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::process::Stdio;

use nix::pty::{Winsize, openpty};
use tdd_fixtures::Sandbox;

use super::{SKIPPED, TEST, command, project, red_project, said};

const NARROW: u16 = 40;

/// Lines that are wider than the terminal although they have a space to break at.
fn too_long(text: &str) -> Vec<&str> {
    let is_too_long = |line: &&str| {
        let breakable = line.trim().split_once(' ').is_some_and(|(_, rest)| !rest.trim().is_empty());
        line.chars().count() > usize::from(NARROW) && breakable
    };
    text.lines().filter(is_too_long).collect()
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().filter(|word| !word.ends_with('s') || !word.contains('.')).collect()
}

/// Compares a command's output at width 40 with its unlimited output.
fn assert_readable(sandbox: &Sandbox, arguments: &[&str]) {
    let wide = said(&command(sandbox, arguments).output().unwrap());
    let narrow = said(&command(sandbox, arguments).env("COLUMNS", NARROW.to_string()).output().unwrap());
    assert_eq!(too_long(&narrow), [""; 0], "{arguments:?}: {narrow}");
    let is_time = |word: &&str| word.parse::<f64>().is_ok();
    let (wide, narrow_words) = (words(&wide), words(&narrow));
    let kept = |words: Vec<&str>| words.into_iter().filter(|word| !is_time(word)).collect::<Vec<_>>().join(" ");
    assert_eq!(kept(narrow_words), kept(wide), "{arguments:?} loses something");
}

#[test]
fn a_narrow_terminal_shows_everything_wrapped() {
    let Some(sandbox) = red_project() else { return println!("{SKIPPED}") };
    for arguments in [
        &["auto-test"][..],
        &["check"],
        &["status"],
        &["log"],
        &["doctor", "--offline"],
        &["detect-antipattern"],
        &["audit"],
        &["status", "-C", "a/folder/that/is/not/there"],
        &["refactor", "end"],
    ] {
        assert_readable(&sandbox, arguments);
    }
}

#[test]
fn a_text_goes_on_below_its_own_beginning() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    sandbox.write("test/calc.test.js", TEST.replace("3)", "-1)"));
    let output = command(&sandbox, &["check"]).env("COLUMNS", "40").output().unwrap();
    insta::assert_snapshot!(said(&output));
}

/// A pseudo-terminal of this width that collects the output.
struct Terminal {
    ours: File,
    theirs: OwnedFd,
}

impl Terminal {
    fn new(columns: u16) -> Self {
        let size = Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        let pty = openpty(&size, None).unwrap();
        Self { ours: pty.master.into(), theirs: pty.slave }
    }

    fn stdio(&self) -> Stdio {
        self.theirs.as_fd().try_clone_to_owned().unwrap().into()
    }

    fn shown(self) -> String {
        drop(self.theirs);
        let mut bytes = Vec::new();
        // Reading a terminal that all writers have closed gives an error instead of an end.
        let mut ours = self.ours;
        let _end = ours.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

#[test]
fn the_terminals_own_width_counts_where_nothing_else_is_said() {
    let Some(sandbox) = red_project() else { return println!("{SKIPPED}") };
    let terminal = Terminal::new(NARROW);
    let mut command = command(&sandbox, &["check", "--color", "never"]);
    let status = command.stdout(terminal.stdio()).stderr(Stdio::null()).status().unwrap();
    drop(command);
    let shown = terminal.shown().replace('\r', "");
    assert_eq!(status.code(), Some(0), "{shown}");
    assert!(shown.contains("holds") && shown.lines().count() == 3, "{shown}");
    assert_eq!(too_long(&shown), [""; 0], "{shown}");
}

/// A project with a test that takes longer than a second.
fn slow_project() -> Option<Sandbox> {
    let sandbox = project()?;
    let slow = TEST.replace("() => {\n", "async () => {\n  await new Promise((done) => setTimeout(done, 1700));\n");
    sandbox.write("test/calc.test.js", slow);
    sandbox.commit("test: pin addition");
    Some(sandbox)
}

#[test]
fn what_takes_long_is_shown_on_a_terminal_and_only_there() {
    for arguments in [&["auto-test"][..], &["check"], &["validate-red"], &["audit", "--infer"]] {
        let Some(sandbox) = slow_project() else { return println!("{SKIPPED}") };
        let terminal = Terminal::new(80);
        let mut on_terminal = command(&sandbox, arguments);
        on_terminal.env("TERM", "xterm").stdout(Stdio::null()).stderr(terminal.stdio()).status().unwrap();
        drop(on_terminal);
        let shown = terminal.shown();
        assert!(shown.contains('…'), "{arguments:?} shows nothing: {shown:?}");
        let output = command(&sandbox, arguments).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments:?}");
        let terminal = Terminal::new(80);
        let mut quiet = command(&sandbox, &[arguments, &["-q"]].concat());
        quiet.env("TERM", "xterm").stdout(Stdio::null()).stderr(terminal.stdio()).status().unwrap();
        drop(quiet);
        assert_eq!(terminal.shown(), "", "{arguments:?} -q");
    }
}
