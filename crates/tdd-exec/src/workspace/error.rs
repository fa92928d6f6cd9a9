//! Errors from making a permitted change.

use std::io;
use std::path::PathBuf;

use tdd_core::path::ConfinedPath;

/// The disk or the system failed.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The project's root cannot be opened.
    #[error("cannot open the project `{}`", root.display())]
    Open {
        /// The root.
        root: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A file to change cannot be read.
    #[error("cannot read `{path}`; no file was changed")]
    Read {
        /// The file.
        path: ConfinedPath,
        /// The system's error.
        source: io::Error,
    },
    /// The folder for temporary files cannot be used.
    #[error("cannot use `.tdd/tmp`; no file was changed")]
    Staging {
        /// The system's error.
        source: io::Error,
    },
    /// A file cannot be written; those written before were restored.
    #[error("cannot write `{path}`; every file is as it was")]
    Write {
        /// The file.
        path: ConfinedPath,
        /// The system's error.
        source: io::Error,
    },
    /// A file cannot be written, and another could not be restored.
    #[error("cannot write `{path}` ({source}), and cannot restore `{undone}`{}", rescued_at(rescued.as_ref()))]
    Undo {
        /// The file that could not be written.
        path: ConfinedPath,
        /// The system's error.
        source: io::Error,
        /// The file that could not be restored.
        undone: ConfinedPath,
        /// Where its old content is, relative to the root, if it had any.
        rescued: Option<PathBuf>,
    },
}

fn rescued_at(place: Option<&PathBuf>) -> String {
    place.map_or_else(String::new, |place| format!("; its old content is in `{}`", place.display()))
}
