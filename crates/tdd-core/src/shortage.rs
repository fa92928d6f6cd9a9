//! Tells a tool that ran out of memory or disk from one that failed by itself: the former says nothing about the code.

use crate::command::{Exit, Finished};

/// What the machine ran out of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shortage {
    /// Memory: a process was killed.
    Memory,
    /// Disk: something could not be written.
    Disk,
}

/// The nature of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nature {
    /// A compiler, linter or formatter: if it is killed, project code did not do it.
    Tool,
    /// It runs the project's tests, which may kill processes and print anything.
    Tests,
}

/// `SIGKILL`, which a system that is out of memory sends.
const KILLED: i32 = 9;
/// With more free bytes than this, a message about a full disk is not believed.
const ROOM: u64 = 1 << 30;
/// With fewer free bytes than this, writing to a mapped file can fail (`SIGBUS`).
const LITTLE: u64 = 64 << 20;
/// With fewer free bytes than this, no tool can work.
const NONE: u64 = 1 << 20;

/// What a command ran out of, if that is why it failed. `free` returns the free bytes where it writes.
pub fn shortage(finished: &Finished, nature: Nature, free: impl FnOnce() -> u64) -> Option<Shortage> {
    if matches!(finished.exit, Exit::Passed | Exit::NotStarted(_)) {
        return None;
    }
    let output = format!("{}\n{}", finished.stderr.text(), finished.stdout.text()).replace("\\n", "\n");
    if is_killed(&finished.exit, &output, nature) {
        return Some(Shortage::Memory);
    }
    let free = free();
    let room_wanted = if says_no_space(&output) {
        ROOM
    } else if ["Bus error", "SIGBUS"].iter().any(|words| output.contains(words)) {
        LITTLE
    } else if nature == Nature::Tool {
        NONE
    } else {
        0
    };
    (free < room_wanted).then_some(Shortage::Disk)
}

/// Whether the command itself was killed.
pub fn is_killed_itself(finished: &Finished) -> bool {
    finished.exit == Exit::Signalled(KILLED)
}

fn says_no_space(output: &str) -> bool {
    let output = output.to_lowercase();
    ["no space left on device", "disk quota exceeded"].iter().any(|words| output.contains(words))
}

/// Whether a tool, or one that it started, was killed: a line of the output ends with that message.
fn is_killed(exit: &Exit, output: &str, nature: Nature) -> bool {
    let mut lines = output.lines().map(str::trim);
    match nature {
        Nature::Tool => *exit == Exit::Signalled(KILLED) || lines.any(tells_of_killed_tool),
        // Go prints the messages of its compiler and of the tests into one stream.
        Nature::Tests => lines.any(|line| line.contains("\"build-output\"") && line.ends_with(": signal: killed")),
    }
}

fn tells_of_killed_tool(line: &str) -> bool {
    let by_cargo = line.contains("process didn't exit successfully") && line.ends_with("(signal: 9, SIGKILL: kill)");
    let by_linker = line.ends_with("terminated with signal 9 [Killed]");
    let by_compiler = line.contains("fatal error: Killed signal terminated program");
    let by_node = line.starts_with("FATAL ERROR:") && line.contains("heap out of memory");
    by_cargo
        || by_linker
        || by_compiler
        || by_node
        || line.ends_with(": signal: killed")
        || line == "LLVM ERROR: out of memory"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::Captured;
    use Nature::{Tests, Tool};

    const FULL: u64 = 0;
    const PLENTY: u64 = 1 << 40;

    fn check(exit: Exit, said: &str, nature: Nature, free: u64, expected: Option<Shortage>) {
        let finished = Finished::new(exit, Captured::default(), Captured::whole(said));
        assert_eq!(shortage(&finished, nature, || free), expected, "{said}");
    }

    #[test]
    fn a_tool_that_is_killed_ran_out_of_memory() {
        let memory = Some(Shortage::Memory);
        check(Exit::Signalled(9), "", Tool, PLENTY, memory);
        for said in [
            "Caused by:\n  process didn't exit successfully: `rustc --test` (signal: 9, SIGKILL: kill)",
            "  = note: collect2: fatal error: ld terminated with signal 9 [Killed]\\n",
            "gcc: fatal error: Killed signal terminated program cc1",
            "example.org/calc: /usr/lib/go/pkg/tool/linux_amd64/compile: signal: killed",
            "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory",
        ] {
            check(Exit::Failed(1), said, Tool, PLENTY, memory);
        }
        let go = r#"{"ImportPath":"x","Action":"build-output","Output":"x: /tool/compile: signal: killed\n"}"#;
        check(Exit::Failed(1), go, Tests, PLENTY, memory);
    }

    #[test]
    fn a_test_that_is_killed_may_have_done_it_itself() {
        check(Exit::Signalled(9), "", Tests, PLENTY, None);
        let said = "process didn't exit successfully: `calc-1` (signal: 9, SIGKILL: kill)\nx: signal: killed";
        check(Exit::Failed(1), said, Tests, PLENTY, None);
        check(Exit::Failed(1), "error: 3 | \"(signal: 9, SIGKILL: kill)\" is no number", Tool, PLENTY, None);
        check(Exit::Signalled(6), "", Tool, PLENTY, None);
    }

    #[test]
    fn a_full_disk_is_believed_only_where_there_is_little_room() {
        let words = "failed to write `a`\n\nCaused by:\n  No space left on device (os error 28)";
        for nature in [Tool, Tests] {
            check(Exit::Failed(1), words, nature, FULL, Some(Shortage::Disk));
            check(Exit::Failed(1), words, nature, PLENTY, None);
            check(Exit::Passed, words, nature, FULL, None);
        }
        check(Exit::Failed(1), "ld terminated with signal 7 [Bus error]", Tool, 8 << 20, Some(Shortage::Disk));
        check(Exit::Failed(1), "error[E0432]: unresolved import", Tool, 8 << 20, None);
        check(Exit::Failed(1), "ENOSPC: no space left on device, write", Tests, 8 << 20, Some(Shortage::Disk));
    }

    #[test]
    fn a_tool_that_fails_without_any_room_says_nothing_about_the_code() {
        check(Exit::Failed(1), "error", Tool, FULL, Some(Shortage::Disk));
        check(Exit::Failed(1), "assertion failed", Tests, FULL, None);
    }
}
