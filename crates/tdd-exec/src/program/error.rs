//! Errors from setting up, reading or running a program.

use std::io;
use std::path::PathBuf;

use tdd_core::config::ConfigError;
use tdd_core::program::MEMORY;
use tdd_core::program::definition::Problem;
use tdd_core::program::state::StateError;

use crate::error::WorkError;
use crate::git::GitError;
use crate::ledger::LedgerError;
use crate::remote::RemoteError;
use crate::runner::RunError;
use crate::state;
use crate::text::TextError;

/// Why an operation on a program failed.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// The name is not valid.
    #[error("`{0}` cannot be the name of a program")]
    Name(String),
    /// No program has this name.
    #[error("there is no program `{0}`")]
    Unknown(String),
    /// A program with this name exists.
    #[error("the program `{0}` exists already")]
    Exists(String),
    /// The program's file cannot be read.
    #[error("cannot read the program")]
    File(#[source] TextError),
    /// The front matter is not valid.
    #[error("`{file}` is not a valid program")]
    Definition {
        /// The file.
        file: String,
        /// What is wrong with it.
        source: ConfigError,
    },
    /// The program's files have problems.
    #[error("the program `{program}` cannot run: {}:{}: {}{}", first.file, first.line, first.problem, others(*more))]
    NotReady {
        /// The program.
        program: String,
        /// The first problem.
        first: Box<Problem>,
        /// The number of further problems.
        more: usize,
    },
    /// The program is stopped until a person resumes it.
    #[error("the program `{program}` is {word}: {reason}")]
    Stopped {
        /// The program.
        program: String,
        /// The program's state: `paused`, `blocked` or `done`.
        word: &'static str,
        /// Why.
        reason: String,
    },
    /// The machine is paused for another reason.
    #[error("the machine is paused: {reason}")]
    MachinePaused {
        /// Why.
        reason: String,
        /// What the user can do about it.
        next: String,
    },
    /// A person has switched refactor mode on.
    #[error("refactor mode is on")]
    RefactorMode,
    /// A tracked file has uncommitted changes.
    #[error("`{path}` has uncommitted changes{}", others(*more))]
    Modified {
        /// The first such file.
        path: String,
        /// The number of further files.
        more: usize,
    },
    /// There is an untracked file.
    #[error("`{path}` is not tracked by git{}", others(*more))]
    Untracked {
        /// The first such file.
        path: String,
        /// The number of further files.
        more: usize,
    },
    /// The program's state on the memory branch cannot be parsed.
    #[error("cannot use the program's state on the branch `{MEMORY}`")]
    State(#[from] StateError),
    /// Every attempt to move the memory branch lost a race.
    #[error("cannot update the branch `{MEMORY}`: another process moved it at every attempt")]
    Busy,
    /// The local and remote memory branches diverged and cannot be joined.
    #[error(
        "the local branch `{MEMORY}` and the one on `{remote}` have diverged, and the machine does not rewrite the \
         person's commit `{commit}`"
    )]
    Diverged {
        /// The remote.
        remote: String,
        /// The person's commit, abbreviated.
        commit: String,
    },
    /// The remote rejected a push.
    #[error("`{branch}` on `{remote}` has commits that the local branch lacks")]
    BranchBehind {
        /// The branch.
        branch: String,
        /// The remote.
        remote: String,
    },
    /// HEAD is detached, or the branch has no commit.
    #[error("a program needs a branch with at least one commit, but HEAD is not on one")]
    NoBranch,
    /// Another program has an iteration under way.
    #[error("the program `{0}` has an unfinished iteration")]
    Other(String),
    /// The first measurement failed.
    #[error("the evaluation fails on the commit that the program starts from: {0}")]
    Baseline(String),
    /// The `ci` command failed or gave an unknown answer.
    #[error("cannot find out whether the checks of the commit passed: {0}")]
    Checks(String),
    /// The shell for the program's scripts could not be started.
    #[error("cannot start the program's script: {0}")]
    Script(String),
    /// The iteration to be discarded contains a person's commit.
    #[error("the iteration must be discarded, but a person's commit lies among its commits: {0}")]
    PersonsCommit(String),
    /// A fetch or a push failed.
    #[error(transparent)]
    Remote(#[from] RemoteError),
    /// The leftovers of an earlier evaluation cannot be removed.
    #[error("cannot write `{}`", path.display())]
    Leftover {
        /// The folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The project cannot be worked on.
    #[error(transparent)]
    Work(#[from] WorkError),
}

crate::from_work_errors!(ProgramError: GitError, state::StateError, LedgerError, RunError);

impl ProgramError {
    /// Why the program does not run, without the program's name.
    pub fn why(&self) -> String {
        match self {
            Self::NotReady { first, more, .. } => {
                format!("{}:{}: {}{}", first.file, first.line, first.problem, others(*more))
            }
            Self::Stopped { reason, .. } => reason.clone(),
            other => other.to_string(),
        }
    }
}

fn others(more: usize) -> String {
    match more {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    }
}
