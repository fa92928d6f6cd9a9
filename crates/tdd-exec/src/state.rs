//! The folder `.tdd/`: the machine's state, kept out of the project's commits.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::scratch::CachedFile;

/// The `.tdd/` folder of a project.
#[derive(Clone, Debug)]
pub struct StateDir {
    path: PathBuf,
    /// Stamps of the files in the scratch copy, cached for the life of this process.
    known: Arc<Mutex<Vec<CachedFile>>>,
}

/// Why the state folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// The path is a link or a file. Writing through a link would end up elsewhere.
    #[error("`{0}` is not a real folder")]
    NotAFolder(PathBuf),
    /// The folder could not be read or created.
    #[error("cannot {action} `{path}`")]
    Io {
        /// `create`, `inspect`, …
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

/// Ignores everything in the folder except the prompts that a person puts there.
const IGNORE: &str = "*\n!prompts\n!prompts/**\n";

impl StateDir {
    /// The state folder of the project at `root`, if it exists.
    pub fn find(root: &Path) -> Result<Option<Self>, StateError> {
        let path = root.join(".tdd");
        match fs::symlink_metadata(&path) {
            Ok(meta) if meta.is_dir() => Ok(Some(Self::at(path))),
            Ok(_) => Err(StateError::NotAFolder(path)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(StateError::Io { action: "inspect", path, source }),
        }
    }

    /// The state folder of the project at `root`, created if needed.
    pub fn ensure(root: &Path) -> Result<Self, StateError> {
        let dir = if let Some(dir) = Self::find(root)? {
            dir
        } else {
            let path = root.join(".tdd");
            fs::create_dir(&path).map_err(|source| StateError::Io { action: "create", path: path.clone(), source })?;
            Self::at(path)
        };
        dir.keep_out_of_commits()?;
        Ok(dir)
    }

    /// The folder's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn at(path: PathBuf) -> Self {
        Self { path, known: Arc::default() }
    }

    pub(crate) fn known(&self) -> Arc<Mutex<Vec<CachedFile>>> {
        Arc::clone(&self.known)
    }

    fn keep_out_of_commits(&self) -> Result<(), StateError> {
        let path = self.path.join(".gitignore");
        if fs::symlink_metadata(&path).is_ok() {
            return Ok(());
        }
        fs::write(&path, IGNORE).map_err(|source| StateError::Io { action: "write", path, source })
    }
}
