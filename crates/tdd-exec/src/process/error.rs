//! Why a command's result is unknown.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

/// The environment failed, not the command.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// The folder to run in does not exist.
    #[error("cannot run `{command}` in `{}`", folder.display())]
    Folder {
        /// The command, as one line.
        command: String,
        /// The folder.
        folder: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The supervisor could not be started.
    #[error("cannot start the supervisor `{}`", program.display())]
    Supervisor {
        /// The supervisor's program.
        program: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The supervisor died before it reported the command's result.
    #[error("the supervisor of `{command}` died before the command's end was known ({status})")]
    SupervisorDied {
        /// The command, as one line.
        command: String,
        /// How the supervisor ended.
        status: ExitStatus,
    },
    /// A pipe, a socket or `poll` failed.
    #[error("cannot watch `{command}`")]
    Watch {
        /// The command, as one line.
        command: String,
        /// The system's error.
        source: io::Error,
    },
    /// The temporary folders of a run could not be created.
    #[error("cannot make the temporary folder `{}`", folder.display())]
    Scratch {
        /// The folder.
        folder: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}
