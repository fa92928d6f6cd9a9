//! Why it could not be found out how a command ends.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

/// The machine's environment is at fault, not the command.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// There is no such folder to run in.
    #[error("cannot run `{command}` in `{}`", folder.display())]
    Folder {
        /// The command, as a line.
        command: String,
        /// The folder.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The supervisor could not be started.
    #[error("cannot start the supervisor `{}`", program.display())]
    Supervisor {
        /// The program that should have become the supervisor.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The supervisor ended before it said how the command ended.
    #[error("the supervisor of `{command}` died before the command's end was known ({status})")]
    SupervisorDied {
        /// The command, as a line.
        command: String,
        /// How the supervisor ended.
        status: ExitStatus,
    },
    /// A pipe, a socket or `poll` failed.
    #[error("cannot watch `{command}`")]
    Watch {
        /// The command, as a line.
        command: String,
        /// What the system said.
        source: io::Error,
    },
    /// The temporary folders of a run could not be made.
    #[error("cannot make the temporary folder `{}`", folder.display())]
    Scratch {
        /// The folder.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}
