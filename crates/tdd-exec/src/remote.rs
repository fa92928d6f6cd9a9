//! Fetches one branch from a remote and pushes it, using the git program. Runs no hooks and never forces a push.

use std::time::Duration;

use tdd_core::command::{CommandSpec, Exit, Finished};
use tdd_core::digest::CommitId;

use crate::git::{GitError, Repo};
use crate::process::{self, ProcessError, Spawner};

/// A remote of the repository.
#[derive(Debug)]
pub struct Remote<'a> {
    /// The repository.
    pub repo: &'a Repo,
    /// Starts the git program.
    pub spawner: &'a Spawner,
    /// The remote's name.
    pub name: &'a str,
}

/// The result of a push.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Pushed {
    /// The remote took the commit.
    Done,
    /// The remote has commits that we lack.
    Rejected,
}

/// Why a fetch or a push failed.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    /// The name is not valid.
    #[error("`{0}` is not the name of a remote")]
    Name(String),
    /// The git program failed.
    #[error("cannot {what} `{remote}`: {message}")]
    Refused {
        /// The operation that failed.
        what: &'static str,
        /// The remote's name.
        remote: String,
        /// Git's message.
        message: String,
    },
    /// A stop was requested.
    #[error("interrupted")]
    Interrupted,
    /// The git program could not be run.
    #[error(transparent)]
    Process(#[from] ProcessError),
    /// The fetched ref could not be read.
    #[error(transparent)]
    Git(#[from] GitError),
}

/// Time limit for a fetch or a push.
const DEADLINE: Duration = Duration::from_mins(2);

impl Remote<'_> {
    /// Fetches a branch; returns the remote's commit, or `None` if the remote lacks the branch.
    pub fn fetch(&self, branch: &str) -> Result<Option<CommitId>, RemoteError> {
        let ours = format!("refs/tdd/remote/{}/{branch}", self.name);
        let listed = self.git(&["ls-remote", "--refs", self.name, &format!("refs/heads/{branch}")])?;
        let listed = self.passed("look at", &listed)?;
        if listed.trim().is_empty() {
            return Ok(None);
        }
        let from = format!("+refs/heads/{branch}:{ours}");
        let fetched = self.git(&["fetch", "--quiet", "--no-tags", "--no-recurse-submodules", self.name, &from])?;
        self.passed("fetch from", &fetched)?;
        Ok(self.repo.resolve(&ours)?)
    }

    /// Pushes a commit to a branch, if it fast-forwards.
    pub fn push(&self, commit: &CommitId, branch: &str) -> Result<Pushed, RemoteError> {
        let to = format!("{}:refs/heads/{branch}", commit.0);
        let pushed = self.git(&["push", "--porcelain", "--no-verify", self.name, &to])?;
        if pushed.stdout.text().lines().any(|line| line.starts_with('!')) {
            return Ok(Pushed::Rejected);
        }
        self.passed("push to", &pushed).map(|_| Pushed::Done)
    }

    fn git(&self, arguments: &[&str]) -> Result<Finished, RemoteError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
        if self.name.is_empty() || self.name.starts_with('-') || !self.name.chars().all(plain) {
            return Err(RemoteError::Name(self.name.to_owned()));
        }
        let quiet = ["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "protocol.ext.allow=never"];
        let argv = ["git"].iter().chain(&quiet).chain(arguments).copied();
        let spec = CommandSpec::new(argv, DEADLINE)
            .with_env("GIT_TERMINAL_PROMPT", "0")
            .with_env("GIT_SSH_COMMAND", "ssh -o BatchMode=yes");
        Ok(process::run(self.spawner, &spec)?)
    }

    fn passed(&self, what: &'static str, finished: &Finished) -> Result<String, RemoteError> {
        match &finished.exit {
            Exit::Passed => Ok(finished.stdout.text()),
            Exit::Interrupted => Err(RemoteError::Interrupted),
            Exit::Failed(_) | Exit::Signalled(_) | Exit::TimedOut | Exit::NotStarted(_) => {
                let text = finished.stderr.text();
                let last_line = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
                let message =
                    if last_line.is_empty() { finished.exit.to_string() } else { last_line.trim().to_owned() };
                Err(RemoteError::Refused { what, remote: self.name.to_owned(), message })
            }
        }
    }
}
