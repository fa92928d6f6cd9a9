//! Exit codes and hints for errors of a project.

use std::path::Path;

use tdd_core::shortage::Shortage;
use tdd_exec::error::WorkError;
use tdd_exec::ledger::LedgerError;
use tdd_exec::process::ProcessError;
use tdd_exec::runner::RunError;
use tdd_exec::state::StateError;
use tdd_exec::text::TextError;

use crate::error::Code;

/// What to do about a full disk.
pub const FULL_DISK: &str = "the disk is full: free some space in the project, your home or the temporary folder, \
                             then run the command again; no attempt was used up";

/// The exit code.
pub fn code(error: &WorkError) -> Code {
    match error {
        WorkError::NoFolder(_)
        | WorkError::NoRepository(_)
        | WorkError::ConfigFile(_)
        | WorkError::Config { .. }
        | WorkError::UnknownLanguage
        | WorkError::NoProject(_)
        | WorkError::OnlyMakefile { .. }
        | WorkError::TooManyProjects(_)
        | WorkError::NoSuchCommit(_)
        | WorkError::NoCommitYet
        | WorkError::NotText(_)
        | WorkError::NoSuchTest(_)
        | WorkError::Uncommitted(_)
        | WorkError::InTheWay(_)
        | WorkError::Run(RunError::UnknownCommand(_)) => Code::Usage,
        WorkError::Scratch(_)
        | WorkError::LayOut(_)
        | WorkError::Proof(_)
        | WorkError::Git(_)
        | WorkError::State(_)
        | WorkError::Ledger(_)
        | WorkError::Write(_)
        | WorkError::Run(RunError::Process(_) | RunError::Exhausted { .. }) => Code::Environment,
        WorkError::Interrupted | WorkError::Run(RunError::Interrupted) => Code::Interrupted,
    }
}

/// What the user can do.
pub fn hint(error: &WorkError) -> Option<String> {
    Some(match error {
        WorkError::NoFolder(path) if path.exists() => "it is a file; name a folder with `-C DIR`".to_owned(),
        WorkError::NoFolder(path) if path == Path::new(".") => {
            "it was deleted; go to another folder, or name one with `-C DIR`".to_owned()
        }
        WorkError::NoFolder(path) => format!("create it: `mkdir -p {}`", path.display()),
        WorkError::NoRepository(_) => "run `tdd-cli init` there first".to_owned(),
        WorkError::ConfigFile(error) => config_file_hint(error),
        WorkError::Config { source, .. } => {
            source.hint.clone().unwrap_or_else(|| "correct it there; `tdd-cli doctor` checks the file".to_owned())
        }
        WorkError::UnknownLanguage => known_languages(),
        WorkError::NoProject(_) => "run `tdd-cli init` to create one, or name its folder with `-C DIR`".to_owned(),
        WorkError::OnlyMakefile { .. } => report_lines("make test"),
        WorkError::TooManyProjects(_) => "list the projects that you need under `projects` in `tdd.yaml`".to_owned(),
        WorkError::NoSuchCommit(_) => "name a branch, a tag or a commit: `git log --oneline` lists them".to_owned(),
        WorkError::NoCommitYet => {
            "commit your files: `git add -A && git commit`; in an empty folder, `tdd-cli init` makes the first commit"
                .to_owned()
        }
        WorkError::NotText(_) => "save it as UTF-8 text, and split it if it is large".to_owned(),
        WorkError::NoSuchTest(_) => {
            "`tdd-cli auto-test` lists the tests; a test that a macro generates must be edited by hand".to_owned()
        }
        WorkError::Uncommitted(path) => format!("commit or stash `{path}` first"),
        WorkError::InTheWay(_) => "move it away, then run the command again".to_owned(),
        WorkError::Scratch(_) | WorkError::LayOut(_) | WorkError::Proof(_) => {
            "check the permissions of `.tdd/` and the disk's free space".to_owned()
        }
        WorkError::Git(error) => return error.hint(),
        WorkError::State(StateError::NotAFolder(path)) => format!("move `{}` away", path.display()),
        WorkError::State(StateError::Io { .. }) => {
            "check the folder's permissions and the disk's free space".to_owned()
        }
        WorkError::Ledger(error) => ledger_hint(error),
        WorkError::Write(_) => "check the permissions of the file and the disk's free space".to_owned(),
        WorkError::Run(RunError::UnknownCommand(unknown)) => report_lines(&unknown.command),
        WorkError::Run(RunError::Exhausted { what: Shortage::Memory, .. }) => {
            "free some memory or run fewer processes at a time, then run the command again; no attempt was used up"
                .to_owned()
        }
        WorkError::Run(RunError::Exhausted { what: Shortage::Disk, .. }) => FULL_DISK.to_owned(),
        WorkError::Run(RunError::Process(ProcessError::Scratch { .. })) => {
            "set `TMPDIR` to a folder of your own that has free space".to_owned()
        }
        WorkError::Run(RunError::Process(_)) => "`tdd-cli doctor` shows what is missing".to_owned(),
        WorkError::Interrupted | WorkError::Run(RunError::Interrupted) => {
            "nothing was lost; run the command again".to_owned()
        }
    })
}

/// A hint to let a test command write a JUnit report.
fn report_lines(command: &str) -> String {
    let words: Vec<String> = command.split(' ').map(|word| format!("\"{word}\"")).collect();
    format!(
        "use another command, or make this one write a JUnit report and name that file in `tdd.yaml`:\n    ci:\n      \
         test_cmd: [{}]\n      junit: \"report.xml\"",
        words.join(", ")
    )
}

fn config_file_hint(error: &TextError) -> String {
    match error {
        TextError::Missing(_) => "name a file that exists, or leave `--config` out".to_owned(),
        TextError::NotAFile(path) => format!("move `{}` away; `tdd-cli init` writes one with defaults", path.display()),
        TextError::TooLarge { .. } => "keep only known keys; `tdd-cli doctor` names the others".to_owned(),
        TextError::NotText { .. } => "save it as UTF-8 text".to_owned(),
        TextError::Io { path, .. } => format!("make `{}` readable", path.display()),
    }
}

fn ledger_hint(error: &LedgerError) -> String {
    match error {
        LedgerError::Locked { pid: Some(pid) } => format!("wait for it to end, or stop it: `kill {pid}`"),
        LedgerError::Locked { pid: None } => "wait for it to end".to_owned(),
        LedgerError::Damaged { path, .. } => format!(
            "restore `{0}` from a backup, or begin a new ledger: `mv {0} {0}.damaged` (the machine finds its \
             position in the commits)",
            path.display()
        ),
        LedgerError::NotAFile { path } => format!("move `{}` away", path.display()),
        LedgerError::Newer { .. } => "install that version of tdd-cli or a later one".to_owned(),
        LedgerError::Append { .. } => "free some disk space, then run the command again".to_owned(),
        LedgerError::Gone { .. } => {
            "restore `.tdd/`, or run `tdd-cli status` to see the position that the commits show; then run the \
             command again"
                .to_owned()
        }
        LedgerError::Io { .. } => "check the permissions of `.tdd/`".to_owned(),
    }
}

/// The language names that a config may use.
fn known_languages() -> String {
    let names = tdd_lang::names().into_iter().map(|name| format!("`{name}`"));
    format!("known: {}", names.collect::<Vec<_>>().join(", "))
}
