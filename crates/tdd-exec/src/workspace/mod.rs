//! The only module that writes project files: exactly what a [`Permit`] allows, all or nothing, inside the root.

mod apply;
mod error;
mod folder;
mod plan;
mod staging;

use std::path::PathBuf;

use tdd_core::digest::Digest;
use tdd_core::gate::Permit;
use tdd_core::path::ConfinedPath;
use tdd_core::rule::Refusal;
use tdd_core::seam;

pub use error::WriteError;

use folder::Folder;
use plan::{Halt, Step};

/// A project's files. Symbolic links below its root are never followed.
#[derive(Debug)]
pub struct Workspace {
    root: Folder,
}

/// The result of carrying out a permit.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub enum Written {
    /// Everything was written; these files changed.
    Done(Vec<FileChange>),
    /// An edit does not fit the files; nothing was written.
    Refused(Refusal),
    /// A person changed these files since the step's base; nothing was written.
    PersonChanged {
        /// The files, in the order of the edits.
        paths: Vec<ConfinedPath>,
    },
}

/// A file that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// The file.
    pub path: ConfinedPath,
    /// Digest of the old content; `None` if the file did not exist.
    pub before: Option<Digest>,
    /// Digest of the new content; `None` if the file was deleted.
    pub after: Option<Digest>,
}

impl Workspace {
    /// Opens the project at `root`; it stays the same folder even if it is moved.
    pub fn open(root: impl Into<PathBuf>) -> Result<Self, WriteError> {
        let root = root.into();
        match Folder::open(&root) {
            Ok(root) => Ok(Self { root }),
            Err(source) => Err(WriteError::Open { root, source }),
        }
    }

    /// Removes the temporary files of killed processes. The caller must hold the project's lock: otherwise the files
    /// may be in use.
    pub fn sweep(&self) -> Result<(), WriteError> {
        staging::sweep(&self.root).map_err(|source| WriteError::Staging { source })
    }
}

impl Workspace {
    /// Makes the permitted changes over a base. Compares every file with the base before writing the first, and each
    /// again at the moment it is replaced. If a person changed one, nothing is written.
    ///
    /// `is_base` says whether these bytes (`None`: no file) are the base's content at a path.
    pub fn write_over<E: From<WriteError>>(
        &self,
        permit: Permit,
        mut is_base: impl FnMut(&ConfinedPath, Option<&[u8]>) -> Result<bool, E>,
    ) -> Result<Written, E> {
        let edits = permit.into_edits();
        let named: Vec<ConfinedPath> = edits.iter().flat_map(plan::paths).cloned().collect();
        let steps = match plan::plan(&self.root, edits) {
            Ok(steps) => steps,
            Err(Halt::Failed(error)) => return Err(error.into()),
            Err(Halt::Refused(refusal)) => {
                let mut paths = Vec::new();
                for path in named {
                    let is_base = match plan::found(&self.root, &path) {
                        Ok(found) => is_base(&path, found.as_deref())?,
                        // A link in the base is not a person's change; the refusal already names it.
                        Err(_) => true,
                    };
                    paths.extend((!is_base).then_some(path));
                }
                // If the file differs from the base, a person's change is why the edit does not fit.
                return Ok(if paths.is_empty() { Written::Refused(refusal) } else { Written::PersonChanged { paths } });
            }
        };
        let mut paths = Vec::new();
        for step in &steps {
            if !is_base(&step.path, step.before.as_ref().map(|before| before.bytes.as_slice()))? {
                paths.push(step.path.clone());
            }
        }
        if !paths.is_empty() {
            return Ok(Written::PersonChanged { paths });
        }
        Ok(self.apply(steps)?)
    }

    fn apply(&self, steps: Vec<Step>) -> Result<Written, WriteError> {
        match apply::apply(&self.root, &steps) {
            Ok(()) => Ok(Written::Done(steps.into_iter().map(Step::change).collect())),
            Err(WriteError::Write { path, source }) if apply::is_changed(&source) => {
                Ok(Written::PersonChanged { paths: vec![path] })
            }
            Err(error) => Err(error),
        }
    }
}

impl seam::Workspace for Workspace {
    type Error = WriteError;
    type Written = Written;

    /// Makes the permitted changes. Checks all of them before the first, and undoes those made if one fails. Does not
    /// touch a file that already has the wanted content.
    fn write(&self, permit: Permit) -> Result<Written, WriteError> {
        let steps = match plan::plan(&self.root, permit.into_edits()) {
            Ok(steps) => steps,
            Err(Halt::Refused(refusal)) => return Ok(Written::Refused(refusal)),
            Err(Halt::Failed(error)) => return Err(error),
        };
        self.apply(steps)
    }
}
