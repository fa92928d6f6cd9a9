//! Why a program cannot be set up, read or run: what to say, and what to do next.

use tdd_core::config::ConfigError;
use tdd_core::program::MEMORY;
use tdd_core::program::definition::Problem;
use tdd_core::program::state::StateError;
use tdd_exec::remote::RemoteError;
use tdd_exec::text::TextError;

use crate::error::Code;

/// Why something about a program could not be done.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    #[error("`{0}` cannot be the name of a program")]
    Name(String),
    #[error("there is no program `{0}`")]
    Unknown(String),
    #[error("there is a program `{0}` already")]
    Exists(String),
    #[error("cannot read the program")]
    File(#[source] TextError),
    #[error("`{file}` is no program")]
    Definition { file: String, source: ConfigError },
    #[error("the program `{program}` does not run: {}:{}: {}{}", first.file, first.line, first.problem, others(*more))]
    NotReady { program: String, first: Box<Problem>, more: usize },
    #[error("the program `{program}` is {word}: {reason}")]
    Stopped { program: String, word: &'static str, reason: String },
    #[error("the branch `{MEMORY}` cannot be used")]
    State(#[from] StateError),
    #[error("the branch `{MEMORY}` is moved by somebody else all the time")]
    Busy,
    #[error("here and on `{remote}` the branch `{MEMORY}` has gone two ways, and `{commit}` is a person's commit")]
    Diverged { remote: String, commit: String },
    #[error("`{branch}` on `{remote}` has commits that are not here")]
    BranchBehind { branch: String, remote: String },
    #[error("a program works on a branch with at least one commit, and HEAD is on none")]
    NoBranch,
    #[error("an iteration of the program `{0}` is under way")]
    Other(String),
    #[error("the evaluation does not work on the commit that the program starts from: {0}")]
    Baseline(String),
    #[error("it cannot be found out how the checks of the commit stand: {0}")]
    Checks(String),
    #[error("the script of the program cannot be started: {0}")]
    Script(String),
    #[error("a commit of a person's lies among those of the iteration, which is to be discarded: {0}")]
    PersonsCommit(String),
    #[error(transparent)]
    Remote(#[from] RemoteError),
}

impl ProgramError {
    /// The exit code.
    pub fn code(&self) -> Code {
        match self {
            Self::Name(_)
            | Self::Unknown(_)
            | Self::Exists(_)
            | Self::File(_)
            | Self::Definition { .. }
            | Self::NotReady { .. }
            | Self::BranchBehind { .. }
            | Self::NoBranch
            | Self::Other(_)
            | Self::Baseline(_) => Code::Usage,
            Self::Stopped { .. } | Self::Diverged { .. } | Self::PersonsCommit(_) => Code::Person,
            Self::Remote(RemoteError::Interrupted) => Code::Interrupted,
            Self::State(_) | Self::Busy | Self::Checks(_) | Self::Script(_) | Self::Remote(_) => Code::Environment,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Name(_) => "use letters, digits, `-` and `_`".to_owned(),
            Self::Unknown(name) => format!("`tdd-cli program list` names them; `tdd-cli program new {name}` makes one"),
            Self::Exists(name) => format!("`tdd-cli program check {name}` says how it stands"),
            Self::File(_) => "name a program whose file is a text".to_owned(),
            Self::Definition { source, .. } => {
                source.hint.clone().unwrap_or_else(|| "mend its front matter".to_owned())
            }
            Self::NotReady { program, first, .. } => {
                format!("{}; `tdd-cli program check {program}` lists all of it", first.fix)
            }
            Self::Stopped { program, word: "done", .. } => {
                format!("raise `target-metric` in its front matter, then `tdd-cli program resume {program}`")
            }
            Self::Stopped { program, .. } => format!("`tdd-cli program resume {program}`, when it may go on"),
            Self::State(_) => format!("look at `git log {MEMORY}`; a newer tdd-cli may be needed"),
            Self::Busy => "try again in a moment".to_owned(),
            Self::Diverged { remote, .. } => {
                format!("bring the two together by hand: `git switch {MEMORY} && git pull --rebase {remote} {MEMORY}`")
            }
            Self::BranchBehind { branch, remote } => format!("`git pull --rebase {remote} {branch}`, then start again"),
            Self::NoBranch => "`git switch` to a branch".to_owned(),
            Self::Other(name) => format!("let it end first: `tdd-cli program run {name}`"),
            Self::Baseline(_) => "run it by hand in a fresh clone, and mend it".to_owned(),
            Self::Checks(_) => "`ci` in the front matter must print `success`, `failure` or `pending`".to_owned(),
            Self::Script(_) => "install bash: evaluations are scripts for it".to_owned(),
            Self::PersonsCommit(_) => {
                "move that commit elsewhere: `git rebase`; then start again, and the iteration is put away".to_owned()
            }
            Self::Remote(_) => "check the remote by hand: `git fetch`, `git push`".to_owned(),
        }
    }
}

fn others(more: usize) -> String {
    match more {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    }
}
