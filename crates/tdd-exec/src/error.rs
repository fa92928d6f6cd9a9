//! Errors from reading, testing or changing a project.

use std::path::PathBuf;

use tdd_core::config::ConfigError;
use tdd_core::test_id::TestId;

use crate::counterproof::ProofError;
use crate::git::GitError;
use crate::layout::{LayOutError, ScratchError};
use crate::ledger::LedgerError;
use crate::process::ProcessError;
use crate::runner::RunError;
use crate::state::StateError;
use crate::text::TextError;
use crate::workspace::WriteError;

/// Why the project cannot be worked on.
#[derive(Debug, thiserror::Error)]
pub enum WorkError {
    /// The folder does not exist.
    #[error("there is no folder `{}`", .0.display())]
    NoFolder(PathBuf),
    /// The folder is not inside a git repository.
    #[error("`{}` is not in a git repository", .0.display())]
    NoRepository(PathBuf),
    /// The configuration cannot be read.
    #[error("cannot read the configuration")]
    ConfigFile(#[source] TextError),
    /// The configuration is not valid.
    #[error("invalid configuration in `{}`", path.display())]
    Config {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: ConfigError,
    },
    /// The `language` is unknown. The message does not quote the value: it might be a misplaced secret.
    #[error("this version does not support the `language` in the configuration")]
    UnknownLanguage,
    /// No project of a known language was found.
    #[error("found no project of a supported language in `{}`", .0.display())]
    NoProject(PathBuf),
    /// No project of a known language was found, but a Makefile whose `test` target cannot be read.
    #[error("found no project of a supported language in `{}`, and the target `test` of `{makefile}` cannot be \
             read", root.display())]
    OnlyMakefile {
        /// The folder that was searched.
        root: PathBuf,
        /// The Makefile.
        makefile: String,
    },
    /// The repository has more projects than auto-discovery allows.
    #[error("{0} projects were found in this repository; auto-discovery is limited to {most}", most = tdd_lang::discover::MAX_PROJECTS)]
    TooManyProjects(usize),
    /// The revision does not exist.
    #[error("there is no commit `{0}`")]
    NoSuchCommit(String),
    /// The branch has no commit.
    #[error("this repository has no commit yet")]
    NoCommitYet,
    /// The file is not UTF-8 text, or is too large.
    #[error("`{0}` is not UTF-8 text, or it is too large for a source file")]
    NotText(String),
    /// The test's source cannot be found.
    #[error("cannot find the source of the test `{0}`")]
    NoSuchTest(TestId),
    /// The test's file has uncommitted changes.
    #[error("`{0}` has uncommitted changes")]
    Uncommitted(String),
    /// The file cannot be written; the text says why.
    #[error("cannot write the file: {0}")]
    InTheWay(String),
    /// The scratch copy cannot be written.
    #[error("cannot make a scratch copy of the project")]
    Scratch(#[from] ScratchError),
    /// The scratch copy's content cannot be determined.
    #[error("cannot make a scratch copy of the project")]
    LayOut(#[from] LayOutError),
    /// The counter-proof could not be run.
    #[error("cannot run the counter-proof")]
    Proof(#[source] ProofError),
    /// A git operation failed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The state folder `.tdd/` cannot be used.
    #[error(transparent)]
    State(#[from] StateError),
    /// The ledger cannot be read or written.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// A project file cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The project's tools could not be run.
    #[error(transparent)]
    Run(RunError),
    /// The user interrupted us.
    #[error("interrupted")]
    Interrupted,
}

/// Turns these errors into one that has a variant `Work`, by way of [`WorkError`].
#[macro_export]
macro_rules! from_work_errors {
    ($target:ty: $($error:ty),+) => {
        $(
            impl From<$error> for $target {
                fn from(error: $error) -> Self {
                    Self::Work(error.into())
                }
            }
        )+
    };
}

impl From<RunError> for WorkError {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Interrupted => Self::Interrupted,
            other => Self::Run(other),
        }
    }
}

impl From<ProofError> for WorkError {
    fn from(error: ProofError) -> Self {
        match error {
            ProofError::Run(error) => error.into(),
            other => Self::Proof(other),
        }
    }
}

impl From<ProcessError> for WorkError {
    fn from(error: ProcessError) -> Self {
        Self::Run(RunError::Process(error))
    }
}
