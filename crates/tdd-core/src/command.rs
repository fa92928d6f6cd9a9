//! A command and its result, as plain values. Nothing here runs a command.

use std::time::Duration;

/// A program to run: an argument vector, never a shell line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandSpec {
    /// The program and its arguments; the program is looked up in `PATH` unless it holds a `/`.
    pub argv: Vec<String>,
    /// Folder to run in, relative to the repository's root; empty means the root itself. An absolute path (a scratch
    /// copy, a worktree) is used as it is.
    pub cwd: String,
    /// Variables to set on top of the scrubbed environment.
    pub env: Vec<(String, String)>,
    /// How long it may take before its whole process tree is killed.
    pub deadline: Duration,
    /// How many bytes of each output stream are kept; the middle of a longer one is dropped.
    pub output_cap: usize,
}

impl CommandSpec {
    /// A command in the repository's root with no extra environment and a cap of 16 MiB per stream.
    pub fn new<S: Into<String>>(argv: impl IntoIterator<Item = S>, deadline: Duration) -> Self {
        Self {
            argv: argv.into_iter().map(Into::into).collect(),
            cwd: String::new(),
            env: Vec::new(),
            deadline,
            output_cap: 16 << 20,
        }
    }

    /// The same command in another folder.
    #[must_use]
    pub fn in_dir(mut self, cwd: impl Into<String>) -> Self {
        self.cwd = cwd.into();
        self
    }

    /// The same command with one more variable.
    #[must_use]
    pub fn with_env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// The command as one line for a log, quoted for a shell. A script that begins with a comment is shown as that
    /// comment.
    pub fn line(&self) -> String {
        if let Some(what) = self.argv.iter().find_map(|word| comment(word)) {
            return what.to_owned();
        }
        let quoted: Vec<String> = self.argv.iter().map(|word| quote(word)).collect();
        quoted.join(" ")
    }
}

/// The comment on the first line of a script.
fn comment(word: &str) -> Option<&str> {
    let (first, rest) = word.split_once('\n')?;
    let what = first.strip_prefix("# ").or_else(|| first.strip_prefix("// "))?;
    (!rest.is_empty()).then_some(what)
}

/// A word, quoted for a shell.
pub fn quote(word: &str) -> String {
    // A script is shortened to its first line.
    if let Some((first, rest)) = word.split_once('\n')
        && !rest.is_empty()
    {
        return quote(&format!("{first} …"));
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// How a command ended. A hang has its own variant, so that it is never taken for a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Exit {
    /// Exit status 0.
    Passed,
    /// Any other exit status.
    Failed(i32),
    /// Killed by a signal that we did not send.
    Signalled(i32),
    /// Killed after its deadline.
    TimedOut,
    /// Killed because the user interrupted us.
    Interrupted,
    /// The program does not exist, or may not be run.
    NotStarted(String),
}

impl std::fmt::Display for Exit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Passed => write!(f, "exit 0"),
            Self::Failed(code) => write!(f, "exit {code}"),
            Self::Signalled(signal) => write!(f, "killed by signal {signal}"),
            Self::TimedOut => write!(f, "timed out"),
            Self::Interrupted => write!(f, "interrupted"),
            Self::NotStarted(why) => write!(f, "not started: {why}"),
        }
    }
}

/// One captured output stream: its head and tail, and how much of the middle was dropped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    /// The bytes kept; if the middle was dropped, head and tail follow each other.
    pub bytes: Vec<u8>,
    /// Where in `bytes` the dropped middle was.
    pub cut_at: usize,
    /// How many bytes were dropped there; 0 if the stream is complete.
    pub dropped: u64,
}

impl Captured {
    /// A complete stream.
    pub fn whole(bytes: impl Into<Vec<u8>>) -> Self {
        Self { bytes: bytes.into(), cut_at: 0, dropped: 0 }
    }

    /// The stream as text: invalid UTF-8 is replaced, and a dropped middle is marked by a line.
    pub fn text(&self) -> String {
        if self.dropped == 0 {
            return String::from_utf8_lossy(&self.bytes).into_owned();
        }
        let (head, tail) = self.bytes.split_at(self.cut_at.min(self.bytes.len()));
        format!(
            "{}\n[… {} bytes left out …]\n{}",
            String::from_utf8_lossy(head),
            self.dropped,
            String::from_utf8_lossy(tail)
        )
    }
}

/// The result of a command: how it ended, and what it printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// How it ended.
    pub exit: Exit,
    /// Its standard output.
    pub stdout: Captured,
    /// Its standard error.
    pub stderr: Captured,
    /// How long it ran.
    pub duration: Duration,
    /// The folder it ran in, absolute and without symlinks; empty if it was not started.
    pub folder: String,
}

impl Finished {
    /// A result without a duration and a folder.
    pub fn new(exit: Exit, stdout: Captured, stderr: Captured) -> Self {
        Self { exit, stdout, stderr, duration: Duration::ZERO, folder: String::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_logged_command_shows_where_each_argument_ends() {
        let spec = CommandSpec::new(["cargo", "test", "it's a name", ""], Duration::ZERO);
        assert_eq!(spec.line(), r"cargo test 'it'\''s a name' ''");
    }

    #[test]
    fn a_script_is_shown_by_what_it_says_it_is_or_by_its_first_line() {
        let line = |script: &str| CommandSpec::new(["python3", "-c", script, "check"], Duration::ZERO).line();
        assert_eq!(line("# ruff, or the syntax alone\nimport sys\n"), "ruff, or the syntax alone");
        assert_eq!(line("// eslint\nimport 'fs';\n"), "eslint");
        assert_eq!(line("import sys\nexit(1)\n"), "python3 -c 'import sys …' check");
    }

    #[test]
    fn text_of_a_cut_stream_says_how_much_is_missing() {
        let cut = Captured { bytes: b"headtail".to_vec(), cut_at: 4, dropped: 92 };
        assert_eq!(cut.text(), "head\n[… 92 bytes left out …]\ntail");
    }

    #[test]
    fn text_survives_invalid_utf8() {
        assert_eq!(Captured::whole(b"a\xffb".to_vec()).text(), "a\u{fffd}b");
    }
}
