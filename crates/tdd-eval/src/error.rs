//! Errors of an evaluation and of single trials, with hints.

use std::io;
use std::path::PathBuf;

use tdd_agents::models::ModelsError;
use tdd_exec::error::WorkError;
use tdd_exec::git::GitError;
use tdd_exec::ledger::LedgerError;
use tdd_exec::process::ProcessError;
use tdd_exec::runner::RunError;
use tdd_exec::state::StateError;
use tdd_exec::text::TextError;
use tdd_llm::error::LlmError;

/// Why there is no evaluation.
#[derive(Debug, thiserror::Error)]
pub enum EvalError {
    /// The folder does not exist or cannot be read.
    #[error("the folder of exercises `{}` cannot be read", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// No folder in it is an exercise.
    #[error("there is no exercise in `{}`{}", path.display(), because(broken))]
    NoExercises {
        /// The folder.
        path: PathBuf,
        /// Why its folders are no exercises.
        broken: Vec<Broken>,
    },
    /// `--only` names an exercise that is not there.
    #[error("there is no exercise `{name}`")]
    NoSuchExercise {
        /// The name.
        name: String,
        /// The exercises that are there.
        known: Vec<String>,
    },
    /// The models cannot be used.
    #[error(transparent)]
    Models(#[from] ModelsError),
    /// The results file cannot be opened, read or written.
    #[error("cannot {action} the results `{}`", path.display())]
    Results {
        /// `open`, `read`, `write`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A line of the results file is not a result.
    #[error("line {line} of `{}` is not a result of `eval`: {reason}", path.display())]
    NotAResult {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// Another evaluation writes to the results file.
    #[error("another `eval` is writing to `{}`", .0.display())]
    Busy(PathBuf),
}

/// A folder that is no usable exercise.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Broken {
    /// The folder's name.
    pub exercise: String,
    /// What is wrong with it.
    pub reason: String,
}

fn because(broken: &[Broken]) -> String {
    match broken.first() {
        Some(first) => format!(": `{}` {}", first.exercise, first.reason),
        None => String::new(),
    }
}

impl EvalError {
    /// What the user can do.
    pub fn hint(&self) -> Option<String> {
        let text = match self {
            Self::Folder { .. } => "name a folder whose folders are exercises".to_owned(),
            Self::NoExercises { .. } => {
                "an exercise is a folder with `instructions.md`, `stub/` and `hidden/`, or one \
                                         from an Exercism track"
                    .to_owned()
            }
            Self::NoSuchExercise { known, .. } => format!("there are: {}", known.join(", ")),
            Self::Models(error) => return error.hint(),
            Self::Results { .. } => "name a file that can be written with `--out FILE`".to_owned(),
            Self::NotAResult { .. } => "move the file away, or name another one with `--out FILE`".to_owned(),
            Self::Busy(_) => "wait for it, or name another file with `--out FILE`".to_owned(),
        };
        Some(text)
    }

    /// Whether the user's input is at fault, and not the environment.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Folder { .. }
            | Self::NoExercises { .. }
            | Self::NoSuchExercise { .. }
            | Self::NotAResult { .. }
            | Self::Models(ModelsError::NoModel(_) | ModelsError::NoServer { .. }) => true,
            Self::Models(ModelsError::Runtime(_) | ModelsError::Model(_)) | Self::Results { .. } | Self::Busy(_) => {
                false
            }
        }
    }
}

/// Why a trial has no result.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// The user interrupted it.
    #[error("interrupted")]
    Interrupted,
    /// The models cannot be used.
    #[error(transparent)]
    Models(#[from] ModelsError),
    /// The model gave no answer.
    #[error("the model gave no answer: {0}")]
    Model(#[from] LlmError),
    /// The cassette cannot be read.
    #[error("cannot read the cassette: {0}")]
    Cassette(#[source] TextError),
    /// The project could not be set up, or its tests could not be run.
    #[error("{}", with_causes(.0))]
    Work(#[from] WorkError),
    /// The project could not be set up.
    #[error("the project cannot be set up: {0}")]
    SetUp(String),
    /// The hidden tests could not be run.
    #[error("the hidden tests cannot be run: {0}")]
    CannotTest(String),
    /// The machine stopped with an error.
    #[error("`run` ended with {exit}: {output}")]
    Machine {
        /// How it ended.
        exit: String,
        /// The last lines of its output.
        output: String,
    },
    /// A file could not be written.
    #[error("cannot write `{}`: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

tdd_exec::from_work_errors!(TrialError: GitError, LedgerError, ProcessError, RunError, StateError);

fn with_causes(error: &WorkError) -> String {
    let first: &dyn std::error::Error = error;
    let chain = std::iter::successors(Some(first), |error| error.source());
    chain.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
