//! Describes what a scratch copy of the project holds, file by file.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tdd_core::digest::TreeId;
use tdd_lang::twin::ScratchNeeds;

use crate::git::{FileKind, GitError, Listing, Repo, Stored};
use crate::installed;

/// A file operation on the scratch copy failed.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} `{}`", path.display())]
pub struct ScratchError {
    /// `read`, `write`, …
    pub(crate) action: &'static str,
    pub(crate) path: PathBuf,
    pub(crate) source: io::Error,
}

/// Why the scratch copy's content cannot be determined.
#[derive(Debug, thiserror::Error)]
pub enum LayOutError {
    /// The tree cannot be read.
    #[error(transparent)]
    Git(#[from] GitError),
    /// A file outside the tree cannot be read.
    #[error(transparent)]
    Scratch(#[from] ScratchError),
}

/// A file's content in the scratch copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// A file that git stores.
    Stored(Stored),
    /// Content that git does not store.
    Given {
        /// The bytes; for a symbolic link, its target.
        bytes: Vec<u8>,
        /// The file's kind.
        kind: FileKind,
    },
}

impl Content {
    /// A plain file with this text.
    pub fn text(text: &str) -> Self {
        Self::Given { bytes: text.as_bytes().to_vec(), kind: FileKind::File }
    }

    /// The content's id, as git would compute it.
    pub(crate) fn name(&self) -> Stored {
        match self {
            Self::Stored(stored) => *stored,
            Self::Given { bytes, kind } => Stored::of(bytes, *kind),
        }
    }

    pub(crate) fn bytes(&self, repo: &Repo) -> Result<Cow<'_, [u8]>, GitError> {
        match self {
            Self::Stored(stored) => Ok(Cow::Owned(repo.stored(stored)?)),
            Self::Given { bytes, .. } => Ok(Cow::Borrowed(bytes)),
        }
    }

    /// A symbolic link to the folder's real path; `None` if there is no such folder.
    pub fn link_to(folder: &Path) -> Option<Self> {
        let folder = fs::canonicalize(folder).ok().filter(|folder| folder.is_dir())?;
        Some(Self::Given { bytes: folder.as_os_str().as_bytes().to_vec(), kind: FileKind::Symlink })
    }

    /// Reads a file or link from disk; `None` if there is none.
    pub fn read(path: &Path) -> Result<Option<Self>, ScratchError> {
        let doing = |source| ScratchError { action: "read", path: path.to_owned(), source };
        let meta = match fs::symlink_metadata(path) {
            Ok(meta) => meta,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            Err(error) => return Err(doing(error)),
        };
        if meta.is_symlink() {
            let target = fs::read_link(path).map_err(doing)?;
            return Ok(Some(Self::Given { bytes: target.as_os_str().as_bytes().to_vec(), kind: FileKind::Symlink }));
        }
        if !meta.is_file() {
            return Ok(None);
        }
        let kind = if meta.permissions().mode() & 0o100 == 0 { FileKind::File } else { FileKind::Executable };
        Ok(Some(Self::Given { bytes: fs::read(path).map_err(doing)?, kind }))
    }
}

/// The content of a scratch copy: a tree's files, some replaced. Leaves out submodules and names that are not UTF-8.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    tree: Arc<Listing>,
    /// Replaced, added or (`None`) removed files.
    other: BTreeMap<String, Option<Content>>,
}

impl Layout {
    /// The tree's files, plus files and folders of the working tree that a build needs although the tree lacks them.
    pub fn new(repo: &Repo, tree: &TreeId, needs: &ScratchNeeds) -> Result<Self, LayOutError> {
        let mut layout = Self { tree: repo.tree_files(tree)?, other: BTreeMap::new() };
        for path in needs.links.iter().cloned().chain(layout.beside(needs)) {
            if !layout.holds_some(&path) {
                for (path, link) in installed::links(repo.root(), &path) {
                    layout.set(&path, Some(link));
                }
            }
        }
        for path in &needs.files {
            if layout.get(path).is_none()
                && let Some(content) = Content::read(&repo.root().join(path))?
            {
                layout.set(path, Some(content));
            }
        }
        Ok(layout)
    }

    /// Replaces the file at this path, or removes it.
    pub fn set(&mut self, path: &str, content: Option<Content>) {
        self.other.insert(path.to_owned(), content);
    }

    /// The names of all files, sorted.
    pub fn names(&self) -> Arc<Vec<String>> {
        let in_tree = self.tree.names();
        let is_there = |path: &String| in_tree.binary_search(path).is_ok();
        if self.other.iter().all(|(path, content)| content.is_some() == is_there(path)) {
            return Arc::clone(in_tree);
        }
        let kept = in_tree.iter().filter(|path| !self.other.contains_key(*path));
        let there = self.other.iter().filter(|(_, content)| content.is_some()).map(|(path, _)| path);
        let mut names: Vec<String> = kept.chain(there).cloned().collect();
        names.sort_unstable();
        Arc::new(names)
    }

    /// All files, sorted by path.
    pub(crate) fn files(&self) -> Vec<(&str, Cow<'_, Content>)> {
        let mut files = Vec::with_capacity(self.tree.names().len() + self.other.len());
        for (path, stored) in self.tree.iter().filter(|(_, stored)| stored.kind != FileKind::Submodule) {
            if let Some(path) = path.as_str().filter(|path| !self.other.contains_key(*path)) {
                files.push((path, Cow::Owned(Content::Stored(*stored))));
            }
        }
        let other = self.other.iter().filter_map(|(path, content)| Some((path, content.as_ref()?)));
        files.extend(other.map(|(path, content)| (path.as_str(), Cow::Borrowed(content))));
        files.sort_by_key(|(path, _)| *path);
        files
    }

    pub(crate) fn get(&self, path: &str) -> Option<Cow<'_, Content>> {
        if let Some(other) = self.other.get(path) {
            return other.as_ref().map(Cow::Borrowed);
        }
        let stored = self.tree.get(path.as_bytes()).filter(|stored| stored.kind != FileKind::Submodule)?;
        Some(Cow::Owned(Content::Stored(*stored)))
    }

    /// The folders that the build needs beside each file with a certain name.
    fn beside(&self, needs: &ScratchNeeds) -> Vec<String> {
        let mut found = Vec::new();
        for (topmost, folder) in &needs.beside {
            let (root, name) = place_and_name(topmost);
            for path in self.names().iter() {
                let (place, file) = place_and_name(path);
                if file == name && (root.is_empty() || place == root || place.starts_with(&format!("{root}/"))) {
                    found.push(if place.is_empty() { folder.clone() } else { format!("{place}/{folder}") });
                }
            }
        }
        found
    }

    fn holds_some(&self, folder: &str) -> bool {
        let below = format!("{folder}/");
        let names = self.names();
        let at = names.partition_point(|name| *name < below);
        names.get(at).is_some_and(|name| name.starts_with(&below))
    }
}

fn place_and_name(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}
