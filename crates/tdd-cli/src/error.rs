//! Everything that can stop a command: what to say, what to do next, and the exit code.

use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use tdd_agents::prompts::PromptError;
use tdd_core::config::ConfigError;
use tdd_core::cycle::Role;
use tdd_core::test_id::TestId;
use tdd_exec::counterproof::ProofError;
use tdd_exec::git::GitError;
use tdd_exec::layout::{LayOutError, ScratchError};
use tdd_exec::ledger::LedgerError;
use tdd_exec::process::ProcessError;
use tdd_exec::runner::RunError;
use tdd_exec::state::StateError;
use tdd_exec::text::TextError;
use tdd_exec::workspace::WriteError;
use tdd_llm::error::LlmError;

use crate::commands::program::error::ProgramError;
use crate::kata::KataError;
use crate::person::PersonError;

/// Why a command could not do what it was asked to do.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    #[error("there is no folder `{}`", .0.display())]
    NoFolder(PathBuf),
    #[error("`{}` is not in a git repository", .0.display())]
    NoRepository(PathBuf),
    #[error("`{}` lies inside the repository `{}`, and is not empty", folder.display(), root.display())]
    NotTheRoot { folder: PathBuf, root: PathBuf },
    #[error("cannot read the configuration")]
    ConfigFile(#[source] TextError),
    #[error("`{}` is not right", path.display())]
    Config { path: PathBuf, source: ConfigError },
    #[error("`{}` sets `{key}`, which this version does not support yet", path.display())]
    Unsupported { path: PathBuf, key: &'static str },
    // The value is not quoted: it might be a secret in a wrong place.
    #[error("the `language` in the configuration is none that this version knows")]
    UnknownLanguage,
    #[error("there is no project of a known language in `{}`", .0.display())]
    NoProject(PathBuf),
    #[error("{0} projects were found in this repository, and no more than {most} are looked after unasked", most = tdd_lang::discover::MOST)]
    TooManyProjects(usize),
    #[error("this looks like a {0} project, which this version does not know")]
    OtherLanguage(&'static str),
    #[error("`kata_description` in `tdd.yaml` is `{configured}`, not `{asked}`")]
    OtherKata { configured: String, asked: String },
    #[error("there is a `{0}` already, with other content")]
    KataExists(String),
    #[error("cannot set the project up: {0}")]
    InTheWay(String),
    #[error("there is a `{0}`, but it is no readable file of this project")]
    UnusableManifest(&'static str),
    #[error("`{word}` is not an event type")]
    UnknownType { word: String, nearest: Option<&'static str> },
    #[error("there is no commit `{0}`")]
    NoSuchCommit(String),
    #[error("there is no commit yet in this repository")]
    NoCommitYet,
    #[error("`{asked}` is neither a file of the project nor a test id")]
    NoSuchTarget { asked: String, meant: Option<TestId> },
    #[error("`{0}` is no UTF-8 text, or too large to be a source")]
    NotText(String),
    #[error("`{0}` is no source file of the project")]
    NoSuchFile(String),
    #[error("`{0}` does not parse, so nothing can be said about it")]
    Unparsed(String),
    #[error("there is no test in `{0}`")]
    NoTestsIn(String),
    #[error("cannot lay out a copy of the project")]
    Scratch(#[from] ScratchError),
    #[error("cannot lay out a copy of the project")]
    LayOut(#[from] LayOutError),
    #[error("cannot make a counter-proof")]
    Proof(#[source] ProofError),
    #[error("no model is configured for the {0}")]
    NoModel(Role),
    #[error("no server is configured for the {role}'s model `{model}`")]
    NoServer { role: Role, model: String },
    #[error("cannot start the runtime")]
    Runtime(#[source] io::Error),
    #[error("the model gave no answer")]
    Model(#[from] LlmError),
    #[error("cannot write the cassette `{}`", path.display())]
    Cassette { path: PathBuf, source: io::Error },
    #[error("cannot read the cassette")]
    CassetteFile(#[source] TextError),
    #[error("a prompt of this project cannot be used")]
    Prompts(#[source] PromptError),
    #[error("a prompt of this project cannot be read")]
    PromptFile(#[source] TextError),
    #[error("`{path}` has changes that are not committed{}", others(*more))]
    Modified { path: String, more: usize },
    #[error("`{path}` is not known to git{}", others(*more))]
    Untracked { path: String, more: usize },
    #[error("the tests cannot be run: {what}: {why}")]
    CannotTest { what: String, why: String },
    #[error("cannot write `{}`", path.display())]
    View { path: PathBuf, source: io::Error },
    #[error("`{}` is not empty", .0.display())]
    NotEmpty(PathBuf),
    #[error("no such kata is recorded in `{language}`")]
    NotRecorded { language: String, katas: String },
    #[error("cannot make a folder in `{}`", path.display())]
    NoTemporary { path: PathBuf, source: io::Error },
    #[error("`{name}` cannot be used: {detail}")]
    NoTool { name: String, detail: String, fix: Option<String> },
    #[error("there is no command `{0}`")]
    UnknownCommand(String),
    #[error(transparent)]
    Kata(#[from] KataError),
    #[error(transparent)]
    Person(#[from] PersonError),
    #[error(transparent)]
    Program(#[from] ProgramError),
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    State(#[from] StateError),
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    #[error(transparent)]
    Write(#[from] WriteError),
    #[error(transparent)]
    Run(RunError),
    #[error("cannot write the result")]
    Output(#[source] io::Error),
    #[error("cannot listen for Ctrl-C")]
    Signals(#[source] ctrlc::Error),
    #[error("interrupted")]
    Interrupted,
}

/// A word at least so much like a known one may have been meant to be that.
pub const MEANT: f64 = 0.8;

/// The exit codes of the contract that an error can lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// The reader of our output went away: that is their right.
    ReaderGone = 0,
    Usage = 2,
    Environment = 3,
    /// Stopped for a person.
    Person = 4,
    Interrupted = 130,
}

/// An error as a program reads it.
#[derive(Debug, Serialize)]
pub struct ErrorDocument {
    error: String,
    causes: Vec<String>,
    hint: Option<String>,
    exit_code: u8,
}

impl ErrorDocument {
    /// A command line that cannot be understood.
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
    /// A word that is none of the event types, with the one that is nearest to it.
    pub fn unknown_type(word: &str) -> Self {
        let near = |known: &&str| strsim::jaro_winkler(word, known);
        let nearest = tdd_core::event::Event::TYPES.into_iter().max_by(|a, b| near(a).total_cmp(&near(b)));
        Self::UnknownType { word: word.to_owned(), nearest: nearest.filter(|known| near(known) > MEANT) }
    }

    /// The exit code.
    pub fn code(&self) -> Code {
        match self {
            Self::NoFolder(_)
            | Self::NoRepository(_)
            | Self::NotTheRoot { .. }
            | Self::ConfigFile(_)
            | Self::Config { .. }
            | Self::Unsupported { .. }
            | Self::UnknownLanguage
            | Self::NoProject(_)
            | Self::TooManyProjects(_)
            | Self::OtherLanguage(_)
            | Self::OtherKata { .. }
            | Self::KataExists(_)
            | Self::InTheWay(_)
            | Self::UnusableManifest(_)
            | Self::UnknownType { .. }
            | Self::UnknownCommand(_)
            | Self::NotEmpty(_)
            | Self::NotRecorded { .. }
            | Self::NoSuchCommit(_)
            | Self::NoCommitYet
            | Self::NoSuchTarget { .. }
            | Self::NotText(_)
            | Self::NoSuchFile(_)
            | Self::Unparsed(_)
            | Self::NoTestsIn(_)
            | Self::Kata(_)
            | Self::NoModel(_)
            | Self::NoServer { .. }
            | Self::Prompts(_)
            | Self::PromptFile(_)
            | Self::Modified { .. }
            | Self::Untracked { .. }
            | Self::Cassette { .. }
            | Self::CassetteFile(_)
            | Self::Person(_)
            | Self::Run(RunError::UnknownCommand(_)) => Code::Usage,
            Self::Git(_)
            | Self::State(_)
            | Self::Ledger(_)
            | Self::Write(_)
            | Self::Scratch(_)
            | Self::LayOut(_)
            | Self::Proof(_)
            | Self::Runtime(_)
            | Self::Model(_)
            | Self::CannotTest { .. }
            | Self::NoTemporary { .. }
            | Self::NoTool { .. }
            | Self::View { .. }
            | Self::Run(RunError::Process(_))
            | Self::Signals(_) => Code::Environment,
            Self::Program(error) => error.code(),
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => Code::ReaderGone,
            Self::Output(_) => Code::Environment,
            Self::Interrupted | Self::Run(RunError::Interrupted) => Code::Interrupted,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        let text = match self {
            Self::NoFolder(path) if path.exists() => "it is a file; name a folder with `-C DIR`".to_owned(),
            Self::NoFolder(path) if path == Path::new(".") => {
                "it was deleted; go to another folder, or name one with `-C DIR`".to_owned()
            }
            Self::NoFolder(path) => format!("make it: `mkdir -p {}`", path.display()),
            Self::NoRepository(_) => "run `tdd-cli init` there first".to_owned(),
            Self::NotTheRoot { root, .. } => {
                format!("run it in the repository's root: `tdd-cli -C {} init`", root.display())
            }
            Self::ConfigFile(error) => config_file_hint(error),
            Self::Config { source, .. } => {
                source.hint.clone().unwrap_or_else(|| "correct it there; `tdd-cli doctor` checks the file".to_owned())
            }
            Self::Unsupported { key, .. } => format!("remove `{key}` from the file"),
            Self::UnknownLanguage => known_languages(),
            Self::NoProject(_) => "run `tdd-cli init` to add one, or go where it is with `-C DIR`".to_owned(),
            Self::TooManyProjects(_) => "name those that matter under `projects` in `tdd.yaml`".to_owned(),
            Self::OtherLanguage(_) => "to add a Rust project beside it, say so: `--language rust`".to_owned(),
            Self::OtherKata { .. } => "change `kata_description` in `tdd.yaml`, or leave `--kata` out".to_owned(),
            Self::KataExists(path) => format!("move `{path}` away, or leave `--kata` out to use it"),
            Self::InTheWay(_) => "move it away, then run `tdd-cli init` again".to_owned(),
            Self::UnusableManifest(name) => {
                format!("put a real file there that git does not ignore, or move `{name}` away")
            }
            Self::UnknownType { nearest, .. } => {
                let meant = nearest.map(|nearest| format!("did you mean `{nearest}`? ")).unwrap_or_default();
                format!("{meant}known: {}", tdd_core::event::Event::TYPES.join(", "))
            }
            Self::NoSuchCommit(_) => "name a branch, a tag or a commit: `git log --oneline` lists them".to_owned(),
            Self::NoCommitYet => {
                "commit what is there: `git add -A && git commit`; in an empty folder `tdd-cli init` makes the first one"
                    .to_owned()
            },
            Self::NoSuchTarget { meant: Some(meant), .. } => format!("did you mean `{meant}`?"),
            Self::NoSuchTarget { meant: None, .. } => {
                "write the path of a file that git does not ignore, or `path::name`; `tdd-cli auto-test` lists the tests"
                    .to_owned()
            }
            Self::NotText(_) => "save it as UTF-8 text, in parts if it is large".to_owned(),
            Self::NoSuchFile(_) => "name a file that git does not ignore, from the repository's root".to_owned(),
            Self::Unparsed(_) => "mend its syntax".to_owned(),
            Self::NoTestsIn(_) => "name a file with tests in it, or a test id; a symbolic link is not followed".to_owned(),
            Self::Scratch(_) | Self::LayOut(_) | Self::Proof(_) => {
                "check the permissions of `.tdd/` and the disk's free space".to_owned()
            }
            Self::UnknownCommand(_) => "`tdd-cli --help` lists the commands".to_owned(),
            Self::NoModel(role) => {
                format!("set `roles.{role}.model` in `tdd.yaml`, or see it all work: `tdd-cli demo`")
            }
            Self::NoServer { .. } => "set `llm.base_url` in `tdd.yaml`, or name a provider before the model".to_owned(),
            Self::Runtime(_) => return None,
            Self::Model(error) => return error.hint().map(str::to_owned),
            Self::Cassette { .. } => "name a file that can be written".to_owned(),
            Self::CassetteFile(_) => "name a cassette that `tdd-cli run --record FILE` wrote".to_owned(),
            Self::Prompts(_) | Self::PromptFile(_) => "mend it in `.tdd/prompts/`, or remove it to get ours".to_owned(),
            Self::Modified { .. } => {
                "commit it or put it away: `git stash`; the machine touches no work of yours".to_owned()
            }
            Self::Untracked { .. } => {
                "commit it, ignore it, or leave it where it is with `--allow-untracked`".to_owned()
            }
            Self::NotRecorded { katas, .. } => format!("recorded in it: `{katas}`"),
            Self::NotEmpty(_) => "name an empty folder, or leave `-C` out".to_owned(),
            Self::NoTemporary { .. } => {
                "set `TMPDIR` to a folder that can be written, or name one with `-C`".to_owned()
            }
            Self::NoTool { fix, .. } => return fix.clone(),
            Self::CannotTest { .. } => "`tdd-cli doctor` shows what is missing".to_owned(),
            Self::View { .. } => "check the permissions of `.tdd/` and the disk's free space".to_owned(),
            Self::Kata(error) => error.hint(),
            Self::Person(error) => error.hint(),
            Self::Program(error) => error.hint(),
            Self::Git(error) => return error.hint(),
            Self::State(StateError::NotAFolder(path)) => format!("move `{}` away", path.display()),
            Self::State(StateError::Io { .. }) => "check the folder's permissions and the disk's free space".to_owned(),
            Self::Ledger(error) => ledger_hint(error),
            Self::Write(_) => "nothing was changed; check permissions and free space".to_owned(),
            Self::Run(RunError::UnknownCommand(_)) => "change `ci.test_cmd` in `tdd.yaml`".to_owned(),
            Self::Run(RunError::Process(ProcessError::Scratch { .. })) => {
                "set `TMPDIR` to a folder of your own that has free space".to_owned()
            }
            Self::Run(RunError::Process(_)) => "`tdd-cli doctor` shows what is missing".to_owned(),
            Self::Run(RunError::Interrupted) | Self::Interrupted => "everything is in order; start it again".to_owned(),
            Self::Output(_) => "send standard output to where there is space".to_owned(),
            Self::Signals(_) => return None,
        };
        Some(text)
    }

    /// The error as a program reads it.
    pub fn document(&self) -> ErrorDocument {
        ErrorDocument {
            error: self.to_string(),
            causes: self.causes(),
            hint: self.hint(),
            exit_code: self.code() as u8,
        }
    }

    /// What led to it, outermost first.
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

fn config_file_hint(error: &TextError) -> String {
    match error {
        TextError::Missing(_) => "leave `--config` out, or name a file that is there".to_owned(),
        TextError::NotAFile(path) => format!("move `{}` away; `tdd-cli init` writes one with defaults", path.display()),
        TextError::TooLarge { .. } => "keep only keys that `tdd-cli doctor` knows".to_owned(),
        TextError::NotText { .. } => "save it as UTF-8 text".to_owned(),
        TextError::Io { path, .. } => format!("make `{}` readable", path.display()),
    }
}

fn ledger_hint(error: &LedgerError) -> String {
    match error {
        LedgerError::Locked { pid: Some(pid) } => format!("wait for it to end, or stop it: `kill {pid}`"),
        LedgerError::Locked { pid: None } => "wait for it to end".to_owned(),
        LedgerError::Damaged { path, .. } => format!(
            "restore `{0}` from a backup, or begin a new ledger: `mv {0} {0}.damaged` (the commits keep the position)",
            path.display()
        ),
        LedgerError::NotAFile { path } => format!("move `{}` away", path.display()),
        LedgerError::Newer { .. } => "install that version of tdd-cli or a later one".to_owned(),
        LedgerError::Append { .. } => "free some disk space and run it again".to_owned(),
        LedgerError::Io { .. } => "check the permissions of `.tdd/`".to_owned(),
    }
}

impl From<ProofError> for CliError {
    fn from(error: ProofError) -> Self {
        match error {
            ProofError::Run(error) => Self::Run(error),
            other => Self::Proof(other),
        }
    }
}

impl From<RunError> for CliError {
    fn from(error: RunError) -> Self {
        Self::Run(error)
    }
}

impl From<io::Error> for CliError {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}
/// The names that a configuration may give to a language.
fn known_languages() -> String {
    let names = tdd_lang::names().into_iter().map(|name| format!("`{name}`"));
    format!("known: {}", names.collect::<Vec<_>>().join(", "))
}
