//! Exit codes and hints for errors of programs.

use tdd_core::program::MEMORY;
use tdd_exec::program::ProgramError;
use tdd_exec::remote::RemoteError;

use crate::error::{CliError, Code};
use crate::person::PersonError;
use crate::work_error;

/// The exit code.
pub fn code(error: &ProgramError) -> Code {
    match error {
        ProgramError::Name(_)
        | ProgramError::Unknown(_)
        | ProgramError::Exists(_)
        | ProgramError::File(_)
        | ProgramError::Definition { .. }
        | ProgramError::NotReady { .. }
        | ProgramError::BranchBehind { .. }
        | ProgramError::NoBranch
        | ProgramError::RefactorMode
        | ProgramError::Modified { .. }
        | ProgramError::Untracked { .. }
        | ProgramError::Other(_)
        | ProgramError::Baseline(_) => Code::Usage,
        ProgramError::Stopped { .. }
        | ProgramError::MachinePaused { .. }
        | ProgramError::Diverged { .. }
        | ProgramError::PersonsCommit(_) => Code::Person,
        ProgramError::Remote(RemoteError::Interrupted) => Code::Interrupted,
        ProgramError::Work(error) => work_error::code(error),
        ProgramError::State(_)
        | ProgramError::Busy
        | ProgramError::Checks(_)
        | ProgramError::Leftover { .. }
        | ProgramError::Script(_)
        | ProgramError::Remote(_) => Code::Environment,
    }
}

/// What the user can do.
pub fn hint(error: &ProgramError) -> Option<String> {
    Some(match error {
        ProgramError::Name(_) => "use letters, digits, `-` and `_`".to_owned(),
        ProgramError::Unknown(name) => {
            format!("`tdd-cli program list` lists all programs; `tdd-cli program new {name}` creates this one")
        }
        ProgramError::Exists(name) => format!("choose another name; `tdd-cli program check {name}` checks this one"),
        ProgramError::File(_) => "make the program's file readable UTF-8 text".to_owned(),
        ProgramError::Definition { source, .. } => {
            source.hint.clone().unwrap_or_else(|| "fix its front matter".to_owned())
        }
        ProgramError::NotReady { program, first, .. } => {
            format!("{}; `tdd-cli program check {program}` lists all problems", first.fix)
        }
        ProgramError::Stopped { program, word: "done", .. } => {
            format!("set another `target-metric` in its front matter, then run `tdd-cli program resume {program}`")
        }
        ProgramError::Stopped { program, .. } => format!("run `tdd-cli program resume {program}` when it may go on"),
        ProgramError::MachinePaused { next, .. } => next.clone(),
        ProgramError::RefactorMode => PersonError::RefactorModeOn { reason: None }.hint(),
        ProgramError::Modified { path, more } => {
            return CliError::Modified { path: path.clone(), more: *more }.hint();
        }
        ProgramError::Untracked { path, more } => {
            return CliError::Untracked { path: path.clone(), more: *more }.hint();
        }
        ProgramError::State(_) => format!("look at `git log {MEMORY}`; you may need a newer tdd-cli"),
        ProgramError::Busy => "try again in a moment".to_owned(),
        ProgramError::Diverged { remote, .. } => {
            format!("join the two by hand: `git switch {MEMORY} && git pull --rebase {remote} {MEMORY}`")
        }
        ProgramError::BranchBehind { branch, remote } => {
            format!("run `git pull --rebase {remote} {branch}`, then run the command again")
        }
        ProgramError::NoBranch => "switch to a branch that has a commit: `git switch BRANCH`".to_owned(),
        ProgramError::Other(name) => format!("finish that iteration first: `tdd-cli program run {name}`"),
        ProgramError::Baseline(_) => "run the evaluation by hand in a fresh clone, and fix it".to_owned(),
        ProgramError::Checks(_) => "`ci` in the front matter must print `success`, `failure` or `pending`".to_owned(),
        ProgramError::Script(_) => "install bash: evaluations are scripts for it".to_owned(),
        ProgramError::PersonsCommit(_) => {
            "move that commit to another branch with `git rebase`, then run the command again: it discards the \
             iteration"
                .to_owned()
        }
        ProgramError::Remote(_) => "check the remote by hand: `git fetch`, `git push`".to_owned(),
        ProgramError::Leftover { .. } => "check the permissions of `.tdd/` and the disk's free space".to_owned(),
        ProgramError::Work(error) => return work_error::hint(error),
    })
}
