//! The only place that writes project files: what a [`Permit`] allows, whole or not at all, inside the root.

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

/// What became of a permit.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub enum Written {
    /// All of it is on the disk; these files changed.
    Done(Vec<FileChange>),
    /// It does not fit the files as they are; none of it is on the disk.
    Refused(Refusal),
    /// A person changed these files since the step's base; none of it is on the disk.
    PersonChanged {
        /// The files, in the order of the edits.
        paths: Vec<ConfinedPath>,
    },
}

/// One file that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// The file.
    pub path: ConfinedPath,
    /// Its content before, if it was there.
    pub before: Option<Digest>,
    /// Its content now, if it is there.
    pub after: Option<Digest>,
}

impl Workspace {
    /// The project at `root`, which stays the same folder even if it is moved.
    pub fn open(root: impl Into<PathBuf>) -> Result<Self, WriteError> {
        let root = root.into();
        match Folder::open(&root) {
            Ok(root) => Ok(Self { root }),
            Err(source) => Err(WriteError::Open { root, source }),
        }
    }

    /// Removes the temporary files that a killed process left. Only for the one who holds the project's
    /// lock: another's are in use.
    pub fn sweep(&self) -> Result<(), WriteError> {
        staging::sweep(&self.root).map_err(|source| WriteError::Staging { source })
    }
}

impl Workspace {
    /// Makes the permitted changes over a base. Each file is compared with the base before the first one is written, and
    /// once more in the instant in which it is replaced: a file that a person changed stays, and so does every other.
    ///
    /// `is_base` says whether these bytes, or nothing, are what the base has at a path.
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
                        // A link that is in the base is refused for what it is.
                        Err(_) => true,
                    };
                    paths.extend((!is_base).then_some(path));
                }
                // An edit that does not fit is the person's doing where the file is.
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

    /// Makes the permitted changes. All are checked before the first is made, and if one fails those
    /// before it are undone. A file that has the wished content already is not touched.
    fn write(&self, permit: Permit) -> Result<Written, WriteError> {
        let steps = match plan::plan(&self.root, permit.into_edits()) {
            Ok(steps) => steps,
            Err(Halt::Refused(refusal)) => return Ok(Written::Refused(refusal)),
            Err(Halt::Failed(error)) => return Err(error),
        };
        self.apply(steps)
    }
}
