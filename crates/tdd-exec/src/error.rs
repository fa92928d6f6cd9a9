//! Why something could not be found out or done to a project.

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

/// Why a project cannot be worked on.
#[derive(Debug, thiserror::Error)]
pub enum WorkError {
    /// The folder is not there.
    #[error("there is no folder `{}`", .0.display())]
    NoFolder(PathBuf),
    /// No repository is around it.
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
    /// The value is not quoted: it might be a secret in a wrong place.
    #[error("this version does not know the `language` in the configuration")]
    UnknownLanguage,
    /// There is nothing to test.
    #[error("there is no project of a known language in `{}`", .0.display())]
    NoProject(PathBuf),
    /// There is nothing that we know how to test, and a Makefile that knows.
    #[error("there is no project of a known language in `{}`, and the target `test` of `{makefile}` cannot be read", root.display())]
    OnlyMakefile {
        /// Where.
        root: PathBuf,
        /// The Makefile.
        makefile: String,
    },
    /// More projects than are looked for.
    #[error("{0} projects were found in this repository; auto-discovery is limited to {most}", most = tdd_lang::discover::MOST)]
    TooManyProjects(usize),
    /// A revision that is not there.
    #[error("there is no commit `{0}`")]
    NoSuchCommit(String),
    /// The branch is unborn.
    #[error("there is no commit yet in this repository")]
    NoCommitYet,
    /// A file that is no source.
    #[error("`{0}` is no UTF-8 text, or too large to be a source")]
    NotText(String),
    /// A test whose source is not there.
    #[error("there is no test `{0}` whose source can be found")]
    NoSuchTest(TestId),
    /// A test's file is being edited by somebody.
    #[error("`{0}` has uncommitted changes")]
    Uncommitted(String),
    /// Something is in the way of a file.
    #[error("cannot write the file: {0}")]
    InTheWay(String),
    /// No copy of the project can be made.
    #[error("cannot lay out a copy of the project")]
    Scratch(#[from] ScratchError),
    /// No copy of the project can be made.
    #[error("cannot lay out a copy of the project")]
    LayOut(#[from] LayOutError),
    /// The probes could not be made.
    #[error("cannot make a counter-proof")]
    Proof(#[source] ProofError),
    /// Git.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The machine's own folder.
    #[error(transparent)]
    State(#[from] StateError),
    /// The ledger.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The project's files.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The project's tools.
    #[error(transparent)]
    Run(RunError),
    /// Somebody asked us to stop.
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
