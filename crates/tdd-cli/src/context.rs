//! What a command is given: its global options, a way to print, and a flag that says stop.

use std::path::Path;

use tdd_exec::process::Cancel;

use crate::args::Global;
use crate::error::{CliError, Code};
use crate::output::Output;

/// The surroundings of one command.
pub struct Context {
    /// What every command takes.
    pub global: Global,
    /// Where results go.
    pub output: Output,
    /// Set by Ctrl-C.
    pub cancel: Cancel,
}

impl Context {
    /// Sets the surroundings up; from here on Ctrl-C asks us to stop instead of killing us. A second one
    /// does not ask: we may be waiting for something that never comes.
    pub fn new(global: Global) -> Result<Self, CliError> {
        let output = Output::new(&global);
        let cancel = Cancel::new();
        let flag = cancel.clone();
        let stop = move || {
            if flag.is_cancelled() {
                std::process::exit(i32::from(Code::Interrupted as u8));
            }
            flag.cancel();
        };
        ctrlc::set_handler(stop).map_err(CliError::Signals)?;
        Ok(Self { global, output, cancel })
    }

    /// The same surroundings for a project of our own making, with no configuration but its own.
    pub fn inside(&self, folder: &Path) -> Self {
        let global = Global { dir: Some(folder.to_owned()), config: None, ..self.global.clone() };
        Self { global, output: self.output, cancel: self.cancel.clone() }
    }
}
