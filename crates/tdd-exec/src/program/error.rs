//! Why a program cannot be set up, read or run: one error for all of it.

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

/// Why something about a program could not be done.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// The name cannot be one.
    #[error("`{0}` cannot be the name of a program")]
    Name(String),
    /// There is none of that name.
    #[error("there is no program `{0}`")]
    Unknown(String),
    /// The name is taken.
    #[error("there is a program `{0}` already")]
    Exists(String),
    /// Its file cannot be read.
    #[error("cannot read the program")]
    File(#[source] TextError),
    /// Its front matter is not valid.
    #[error("`{file}` is no program")]
    Definition {
        /// The file.
        file: String,
        /// What is wrong with it.
        source: ConfigError,
    },
    /// Something keeps it from running.
    #[error("the program `{program}` does not run: {}:{}: {}{}", first.file, first.line, first.problem, others(*more))]
    NotReady {
        /// The program.
        program: String,
        /// The first problem.
        first: Box<Problem>,
        /// How many problems there are besides.
        more: usize,
    },
    /// It stands still until a person lets it go on.
    #[error("the program `{program}` is {word}: {reason}")]
    Stopped {
        /// The program.
        program: String,
        /// How it stands: `paused`, `blocked` or `done`.
        word: &'static str,
        /// Why.
        reason: String,
    },
    /// The machine is paused about something else.
    #[error("the machine is paused: {reason}")]
    MachinePaused {
        /// Why.
        reason: String,
        /// What a person can do about it.
        next: String,
    },
    /// A person works in refactor mode.
    #[error("refactor mode is on")]
    RefactorMode,
    /// A tracked file has changes that are not committed.
    #[error("`{path}` has changes that are not committed{}", others(*more))]
    Modified {
        /// The first such file.
        path: String,
        /// How many there are besides.
        more: usize,
    },
    /// There is a file that git does not know.
    #[error("`{path}` is not known to git{}", others(*more))]
    Untracked {
        /// The first such file.
        path: String,
        /// How many there are besides.
        more: usize,
    },
    /// What it remembers cannot be read.
    #[error("the branch `{MEMORY}` cannot be used")]
    State(#[from] StateError),
    /// Every try to move the memory branch lost against somebody else.
    #[error("the branch `{MEMORY}` is moved by somebody else all the time")]
    Busy,
    /// The memory branches cannot be brought together.
    #[error("here and on `{remote}` the branch `{MEMORY}` has gone two ways, and `{commit}` is a person's commit")]
    Diverged {
        /// The remote.
        remote: String,
        /// The commit of a person, abbreviated.
        commit: String,
    },
    /// The remote refused a push.
    #[error("`{branch}` on `{remote}` has commits that are not here")]
    BranchBehind {
        /// The branch.
        branch: String,
        /// The remote.
        remote: String,
    },
    /// HEAD is on no branch, or the branch has no commit.
    #[error("a program works on a branch with at least one commit, and HEAD is on none")]
    NoBranch,
    /// Another program has an iteration under way.
    #[error("an iteration of the program `{0}` is under way")]
    Other(String),
    /// The first measurement failed.
    #[error("the evaluation does not work on the commit that the program starts from: {0}")]
    Baseline(String),
    /// The `ci` command gave no answer that counts.
    #[error("it cannot be found out how the checks of the commit stand: {0}")]
    Checks(String),
    /// The shell of the scripts could not be started.
    #[error("the script of the program cannot be started: {0}")]
    Script(String),
    /// An iteration that is to be discarded holds a commit of a person.
    #[error("a commit of a person's lies among those of the iteration, which is to be discarded: {0}")]
    PersonsCommit(String),
    /// A fetch or a push failed.
    #[error(transparent)]
    Remote(#[from] RemoteError),
    /// What an earlier evaluation left behind cannot be removed.
    #[error("cannot write `{}`", path.display())]
    Leftover {
        /// The folder.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The project cannot be worked on.
    #[error(transparent)]
    Work(#[from] WorkError),
}

crate::from_work_errors!(ProgramError: GitError, state::StateError, LedgerError, RunError);

impl ProgramError {
    /// Why the program does not run, without its name.
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
