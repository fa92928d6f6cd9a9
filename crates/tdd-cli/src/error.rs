//! Errors of commands: message, hint and exit code.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;
use tdd_agents::agent::AgentError;
use tdd_agents::models::ModelsError;
use tdd_agents::prompts::PromptError;
use tdd_core::change::Unreadable;
use tdd_core::machine::MachineError;
use tdd_eval::error::EvalError;
use tdd_exec::error::WorkError;
use tdd_exec::git::GitError;
use tdd_exec::ledger::LedgerError;
use tdd_exec::program::ProgramError;
use tdd_exec::runner::RunError;
use tdd_exec::state::StateError;
use tdd_exec::text::TextError;
use tdd_exec::workspace::WriteError;
use tdd_llm::error::LlmError;

use crate::commands::eval;
use crate::kata::KataError;
use crate::person::PersonError;
use crate::{program_error, work_error};

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    #[error("`{}` is a non-empty folder inside the repository `{}`", folder.display(), root.display())]
    NotTheRoot { folder: PathBuf, root: PathBuf },
    #[error("`{0}` belongs to a language that this version does not support")]
    OtherLanguage(String),
    #[error("`kata_description` in `tdd.yaml` is `{configured}`, not `{requested}`")]
    OtherKata { configured: String, requested: String },
    #[error("`{0}` exists already and has other content")]
    KataExists(String),
    #[error("cannot set up the project: {0}")]
    InTheWay(String),
    #[error("`{0}` changed while this command ran, so nothing was written")]
    PersonChanged(String),
    #[error("`{0}` exists, but git ignores it or it is not a readable file")]
    UnusableManifest(&'static str),
    #[error("`{word}` is not an event type")]
    UnknownType { word: String, nearest: Option<&'static str> },
    #[error("`{0}` is not a source file of this project")]
    NoSuchFile(String),
    #[error("{0}; so it cannot be judged")]
    Unparsed(Unreadable),
    #[error(transparent)]
    Models(#[from] ModelsError),
    #[error(transparent)]
    Eval(#[from] EvalError),
    #[error("the model gave no answer")]
    Model(#[from] LlmError),
    #[error("cannot write the cassette `{}`", path.display())]
    Cassette { path: PathBuf, source: io::Error },
    #[error("cannot read the cassette")]
    CassetteFile(#[source] TextError),
    #[error("a custom prompt of this project is invalid")]
    Prompts(#[source] PromptError),
    #[error("cannot read a custom prompt of this project")]
    PromptFile(#[source] TextError),
    #[error("`{path}` has uncommitted changes{}", others(*more))]
    Modified { path: String, more: usize },
    #[error("`{path}` is not tracked by git{}", others(*more))]
    Untracked { path: String, more: usize },
    #[error("the tests cannot be run: {what}: {why}")]
    CannotTest { what: String, why: String },
    #[error("cannot write `{}`", path.display())]
    View { path: PathBuf, source: io::Error },
    #[error("`{}` is not empty", .0.display())]
    NotEmpty(PathBuf),
    #[error("this kata is not recorded in `{language}`")]
    NotRecorded { language: String, katas: String },
    #[error("cannot create a folder in `{}`", path.display())]
    NoTemporary { path: PathBuf, source: io::Error },
    #[error("`{name}` cannot be used: {detail}")]
    NoTool { name: String, detail: String, fix: Option<String> },
    #[error("`--format markdown` works only with `prove`")]
    NoMarkdown,
    #[error("there is no command `{0}`")]
    UnknownCommand(String),
    #[error(transparent)]
    Work(#[from] WorkError),
    #[error(transparent)]
    Kata(#[from] KataError),
    #[error(transparent)]
    Person(#[from] PersonError),
    #[error(transparent)]
    Program(#[from] ProgramError),
    #[error("cannot write the result")]
    Output(#[source] Arc<io::Error>),
    #[error("cannot listen for Ctrl-C")]
    Signals(#[source] ctrlc::Error),
    #[error("interrupted")]
    Interrupted,
}

/// Similarity from which a known word is suggested for an unknown one.
pub const MEANT: f64 = 0.8;

/// The exit codes of errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    Usage = 2,
    Environment = 3,
    /// The run stopped for a person.
    Person = 4,
    Interrupted = 130,
}

/// The JSON document of an error.
#[derive(Debug, Serialize)]
pub struct ErrorDocument {
    error: String,
    causes: Vec<String>,
    hint: Option<String>,
    exit_code: u8,
}

impl ErrorDocument {
    /// An error in the command line.
    pub fn of_usage(error: &clap::Error) -> Self {
        let text = error.render().to_string();
        let first = text.lines().next().unwrap_or_default();
        Self {
            error: first.strip_prefix("error: ").unwrap_or(first).to_owned(),
            causes: Vec::new(),
            hint: Some("`tdd-cli --help` lists commands and options".to_owned()),
            exit_code: Code::Usage as u8,
        }
    }
}

impl CliError {
    /// An unknown event type, with the most similar known one.
    pub fn unknown_type(word: &str) -> Self {
        let near = |known: &&str| strsim::jaro_winkler(word, known);
        let nearest = tdd_core::event::Event::TYPES.into_iter().max_by(|a, b| near(a).total_cmp(&near(b)));
        Self::UnknownType { word: word.to_owned(), nearest: nearest.filter(|known| near(known) > MEANT) }
    }

    /// The user changed these files during a step.
    pub fn person_changed(paths: &[impl ToString]) -> Self {
        Self::PersonChanged(paths.iter().map(ToString::to_string).collect::<Vec<_>>().join("`, `"))
    }

    /// The exit code.
    pub fn code(&self) -> Code {
        match self {
            Self::NotTheRoot { .. }
            | Self::OtherLanguage(_)
            | Self::OtherKata { .. }
            | Self::KataExists(_)
            | Self::InTheWay(_)
            | Self::UnusableManifest(_)
            | Self::UnknownType { .. }
            | Self::UnknownCommand(_)
            | Self::NoMarkdown
            | Self::NotEmpty(_)
            | Self::NotRecorded { .. }
            | Self::NoSuchFile(_)
            | Self::Unparsed(_)
            | Self::Kata(_)
            | Self::Prompts(_)
            | Self::PromptFile(_)
            | Self::Modified { .. }
            | Self::Untracked { .. }
            | Self::Cassette { .. }
            | Self::CassetteFile(_)
            | Self::Person(_) => Code::Usage,
            Self::Work(error) => work_error::code(error),
            Self::Eval(error) => eval::code(error),
            Self::Models(error) => match error {
                ModelsError::NoModel(_) | ModelsError::NoServer { .. } => Code::Usage,
                ModelsError::Runtime(_) | ModelsError::Model(_) => Code::Environment,
            },
            Self::Model(_)
            | Self::CannotTest { .. }
            | Self::NoTemporary { .. }
            | Self::NoTool { .. }
            | Self::View { .. }
            | Self::Output(_)
            | Self::Signals(_) => Code::Environment,
            Self::Program(error) => program_error::code(error),
            Self::PersonChanged(_) => Code::Person,
            Self::Interrupted => Code::Interrupted,
        }
    }

    /// Whether a write failed because the disk is full.
    fn is_full_disk(&self) -> bool {
        let is_full = |text: &String| text.contains("No space left on device");
        !matches!(self, Self::Output(_)) && self.code() == Code::Environment && self.causes().iter().any(is_full)
    }

    /// Whether the reader of our output closed the pipe.
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// What the user can do.
    pub fn hint(&self) -> Option<String> {
        if self.is_full_disk() {
            return Some(work_error::FULL_DISK.to_owned());
        }
        let text = match self {
            Self::NotTheRoot { root, .. } => {
                format!("run `init` in the repository's root: `tdd-cli -C {} init`", root.display())
            }
            Self::OtherLanguage(_) => "write a `tdd.yaml` with `language` and, under `ci`, `test_cmd` and `junit` (where that command writes its \
                 JUnit report); to begin a Rust project beside it, pass `--language rust`"
                    .to_owned(),
            Self::OtherKata { .. } => "change `kata_description` in `tdd.yaml`, or leave `--kata` out".to_owned(),
            Self::KataExists(path) => format!("move `{path}` away, or leave `--kata` out to use it"),
            Self::PersonChanged(_) => "save your work, then run the command again".to_owned(),
            Self::InTheWay(_) => "move it away, then run `tdd-cli init` again".to_owned(),
            Self::UnusableManifest(name) => {
                format!("replace it with a regular file that git does not ignore, or move `{name}` away")
            }
            Self::UnknownType { nearest, .. } => {
                let meant = nearest.map(|nearest| format!("did you mean `{nearest}`? ")).unwrap_or_default();
                format!("{meant}known: {}", tdd_core::event::Event::TYPES.join(", "))
            }
            Self::NoSuchFile(_) => "name a file that git does not ignore, from the repository's root".to_owned(),
            Self::Unparsed(_) => {
                format!("fix its syntax; code nested deeper than {} levels is not parsed", tdd_lang::MAX_DEPTH)
            }
            Self::NoMarkdown => "use `--format human` or `--format json`".to_owned(),
            Self::UnknownCommand(_) => "`tdd-cli --help` lists the commands".to_owned(),
            Self::Models(error) => return error.hint(),
            Self::Eval(error) => return error.hint(),
            Self::Model(error) => return error.hint().map(str::to_owned),
            Self::Cassette { .. } => "name a file that can be written".to_owned(),
            Self::CassetteFile(_) => "name a cassette that `tdd-cli run --record FILE` wrote".to_owned(),
            Self::Prompts(_) | Self::PromptFile(_) => {
                "fix it in `.tdd/prompts/`, or delete it to use the built-in prompt".to_owned()
            }
            Self::Modified { .. } => {
                "commit it or stash it with `git stash`; the machine never touches uncommitted work".to_owned()
            }
            Self::Untracked { .. } => {
                "commit it, add it to `.gitignore`, or pass `--allow-untracked` to leave it alone".to_owned()
            }
            Self::NotRecorded { katas, .. } => format!("katas recorded in this language: `{katas}`"),
            Self::NotEmpty(_) => "name an empty folder, or leave `-C` out".to_owned(),
            Self::NoTemporary { .. } => {
                "set `TMPDIR` to a folder that can be written, or name one with `-C`".to_owned()
            }
            Self::NoTool { fix, .. } => return fix.clone(),
            Self::CannotTest { .. } => "`tdd-cli doctor` shows what is missing".to_owned(),
            Self::View { .. } => "check the permissions of `.tdd/` and the disk's free space".to_owned(),
            Self::Kata(error) => error.hint(),
            Self::Person(error) => error.hint(),
            Self::Program(error) => return program_error::hint(error),
            Self::Work(error) => return work_error::hint(error),
            Self::Interrupted => "nothing was lost; run the command again".to_owned(),
            Self::Output(_) => "redirect standard output to a disk that has free space".to_owned(),
            Self::Signals(_) => return None,
        };
        Some(text)
    }

    /// The JSON document of this error.
    pub fn document(&self) -> ErrorDocument {
        ErrorDocument {
            error: self.to_string(),
            causes: self.causes(),
            hint: self.hint(),
            exit_code: self.code() as u8,
        }
    }

    /// The chain of causes, outermost first.
    pub fn causes(&self) -> Vec<String> {
        let first = std::error::Error::source(self);
        std::iter::successors(first, |error| error.source()).map(ToString::to_string).collect()
    }
}

fn others(more: usize) -> String {
    match more {
        0 => String::new(),
        1 => " (and one more file)".to_owned(),
        more => format!(" (and {more} more files)"),
    }
}

tdd_exec::from_work_errors!(CliError: GitError, StateError, LedgerError, WriteError, RunError);

impl From<MachineError<WorkError, AgentError>> for CliError {
    fn from(error: MachineError<WorkError, AgentError>) -> Self {
        match error {
            MachineError::Work(error) => Self::Work(error),
            MachineError::Agent(AgentError::Model(LlmError::Cancelled)) => Self::Interrupted,
            MachineError::Agent(AgentError::Model(error)) => Self::Model(error),
            MachineError::Agent(AgentError::HostFailed(_)) => Self::Interrupted,
            MachineError::CannotTest { what, why } => Self::CannotTest { what, why },
            MachineError::Modified { path, more } => Self::Modified { path, more },
            MachineError::Untracked { path, more } => Self::Untracked { path, more },
            MachineError::RefactorMode { reason } => PersonError::RefactorModeOn { reason }.into(),
            MachineError::NoAgent(role) => ModelsError::NoModel(role).into(),
            MachineError::View(source) => Self::View { path: PathBuf::from(".tdd"), source },
        }
    }
}
