//! The context of a command: global options, output, and cancellation.

use std::path::Path;
use std::sync::Arc;

use tdd_exec::git::Repo;
use tdd_exec::ledger::LedgerError;
use tdd_exec::process::Cancel;
use tdd_exec::project::{ProgressLine, RunControl, UserPaths};
use tdd_exec::recording::Recording;
use tdd_exec::state::StateDir;
use tdd_exec::workshop::{ProjectWorkshop, Which};

use crate::args::Global;
use crate::error::{CliError, Code};
use crate::output::Output;
use crate::progress::Progress;

/// The context of one command.
pub struct Context {
    /// The global options.
    pub global: Global,
    /// Where results are printed.
    pub output: Output,
    /// The folder and the config file to use.
    pub user_paths: UserPaths,
    /// Set by Ctrl-C.
    pub cancel: Cancel,
}

impl Context {
    /// Creates the context and handles Ctrl-C: the first one cancels, the second one exits at once, in case the process
    /// hangs.
    pub fn new(global: Global) -> Result<Self, CliError> {
        let output = Output::new(&global);
        output.show_progress();
        let cancel = Cancel::new();
        let flag = cancel.clone();
        let stop = move || {
            if flag.is_cancelled() {
                std::process::exit(i32::from(Code::Interrupted as u8));
            }
            flag.cancel();
        };
        ctrlc::set_handler(stop).map_err(CliError::Signals)?;
        Ok(Self { user_paths: user_paths(&global), global, output, cancel })
    }

    /// Cancellation and progress display for `tdd-exec`.
    pub fn run_control(&self) -> RunControl {
        let progress = || {
            let line = Progress::begin();
            Box::new(move |what: &str| line.say(what)) as ProgressLine
        };
        RunControl { cancel: self.cancel.clone(), progress: Arc::new(progress) }
    }

    /// The same without progress display, for parallel work.
    pub fn silent_run_control(&self) -> RunControl {
        RunControl { cancel: self.cancel.clone(), progress: Arc::new(|| Box::new(|_: &str| {})) }
    }

    /// Opens a project's ledger. Fails if another process has locked it.
    pub fn recording(&self, state: &StateDir) -> Result<Recording, CliError> {
        let recording = Recording::exclusive(state)?;
        self.mention_repair(&recording);
        Ok(recording)
    }

    /// Opens the ledger of a project that has one. If another process has locked it, prints a note and records nothing.
    pub fn recording_if_free(&self, repo: &Repo) -> Result<Option<Recording>, CliError> {
        let Some(state) = StateDir::find(repo.root())? else { return Ok(None) };
        match Recording::exclusive(&state) {
            Ok(recording) => {
                self.mention_repair(&recording);
                Ok(Some(recording))
            }
            Err(error @ LedgerError::Locked { .. }) => {
                self.output.note(format_args!("note: {error}, so nothing is recorded"));
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Prints a note if a torn last line of the ledger was cut off.
    pub fn mention_repair(&self, recording: &Recording) {
        if let Some(bytes) = recording.dropped_bytes() {
            self.output
                .note(format_args!("note: the ledger's last line was incomplete; its {bytes} bytes were removed"));
        }
    }

    /// Opens the change to judge.
    pub fn workshop(&self, which: &Which) -> Result<ProjectWorkshop, CliError> {
        let workshop = ProjectWorkshop::open(&self.user_paths, &self.run_control(), which)?;
        self.mention_repair(&workshop.recording);
        Ok(workshop)
    }

    /// Opens the change to judge for a gate. Fails if a shallow clone lacks the base commit.
    pub fn gate_workshop(&self, which: &Which) -> Result<ProjectWorkshop, CliError> {
        let workshop = ProjectWorkshop::before_a_gate(&self.user_paths, &self.run_control(), which)?;
        self.mention_repair(&workshop.recording);
        Ok(workshop)
    }

    /// A context for a project that we created, with only that project's config.
    pub fn inside(&self, folder: &Path) -> Self {
        let global = Global { dir: Some(folder.to_owned()), config: None, ..self.global.clone() };
        Self { user_paths: user_paths(&global), global, output: self.output, cancel: self.cancel.clone() }
    }
}

fn user_paths(global: &Global) -> UserPaths {
    UserPaths { dir: global.dir.clone(), config: global.config.clone() }
}
