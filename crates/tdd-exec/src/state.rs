//! The folder `.tdd/`: the machine's own state, beside the project and out of its commits.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::scratch::CachedFile;

/// The `.tdd/` folder of a project.
#[derive(Clone, Debug)]
pub struct StateDir {
    path: PathBuf,
    /// What is known of the copy in it, for as long as this process lives.
    known: Arc<Mutex<Vec<CachedFile>>>,
}

/// Why the folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// It is a link: what we write there would land elsewhere.
    #[error("`{0}` is not a real folder")]
    NotAFolder(PathBuf),
    /// It could not be read or made.
    #[error("cannot {action} `{path}`")]
    Io {
        /// `create`, `inspect`, …
        action: &'static str,
        /// What.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Everything in the folder stays out of commits but the prompts that a person puts there.
const IGNORE: &str = "*\n!prompts\n!prompts/**\n";

impl StateDir {
    /// The folder of the project at `root`, if it is there.
    pub fn find(root: &Path) -> Result<Option<Self>, StateError> {
        let path = root.join(".tdd");
        match fs::symlink_metadata(&path) {
            Ok(meta) if meta.is_dir() => Ok(Some(Self::at(path))),
            Ok(_) => Err(StateError::NotAFolder(path)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(StateError::Io { action: "inspect", path, source }),
        }
    }

    /// The folder of the project at `root`, made if it is not there.
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

    /// Where it is.
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
