//! A copy of the project in `.tdd/scratch/`, kept between runs so that builds in it stay incremental.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use tdd_core::digest::TreeId;

use crate::git::{FileKind, GitError, Repo};
use crate::state::StateDir;

/// Why the copy could not be made.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} `{}`", path.display())]
pub struct ScratchError {
    /// `read`, `write`, …
    action: &'static str,
    /// What.
    path: PathBuf,
    /// Why.
    source: io::Error,
}

/// Why it cannot be said what a copy is to hold.
#[derive(Debug, thiserror::Error)]
pub enum LayOutError {
    /// The tree cannot be read.
    #[error(transparent)]
    Git(#[from] GitError),
    /// A file beside it cannot be read.
    #[error(transparent)]
    Scratch(#[from] ScratchError),
}

/// What a file of the copy is to hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// Its bytes; of a link, its target.
    pub bytes: Vec<u8>,
    /// What it is.
    pub kind: FileKind,
}

impl Content {
    /// A plain file with this text.
    pub fn text(text: &str) -> Self {
        Self { bytes: text.as_bytes().to_vec(), kind: FileKind::File }
    }

    /// What is on the disk; `None` if there is no file or link.
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
            return Ok(Some(Self { bytes: target.as_os_str().as_bytes().to_vec(), kind: FileKind::Symlink }));
        }
        if !meta.is_file() {
            return Ok(None);
        }
        let kind = if meta.permissions().mode() & 0o100 == 0 { FileKind::File } else { FileKind::Executable };
        Ok(Some(Self { bytes: fs::read(path).map_err(doing)?, kind }))
    }
}

/// Every file of a tree, as a copy is to hold it; submodules and names that are not UTF-8 are left out.
pub fn contents(repo: &Repo, tree: &TreeId) -> Result<BTreeMap<String, Content>, GitError> {
    let mut files = BTreeMap::new();
    for (path, kind) in repo.tree_files(tree)? {
        if let (Some(name), Some(bytes)) = (path.as_str(), repo.blob(tree, &path)?) {
            files.insert(name.to_owned(), Content { bytes, kind });
        }
    }
    Ok(files)
}

/// What a copy of a tree holds: its files, and those of the working folder that a build needs although no
/// tree has them.
pub fn laid_out(repo: &Repo, tree: &TreeId, needed: &[String]) -> Result<BTreeMap<String, Content>, LayOutError> {
    let mut files = contents(repo, tree)?;
    for path in needed {
        if !files.contains_key(path)
            && let Some(content) = Content::read(&repo.root().join(path))?
        {
            files.insert(path.clone(), content);
        }
    }
    Ok(files)
}

/// The copy and what is built in it. Its place never changes, so that a build finds what it built before.
#[derive(Clone, Debug)]
pub struct Scratch {
    tree: PathBuf,
    products: PathBuf,
}

impl Scratch {
    /// The copy of the project with this state folder. Only for the one who holds the project's lock.
    pub fn open(state: &StateDir) -> Result<Self, ScratchError> {
        let folder = state.path().join("scratch");
        let doing = |source| ScratchError { action: "make the folder", path: folder.clone(), source };
        fs::create_dir_all(folder.join("tree")).map_err(doing)?;
        let folder = folder.canonicalize().map_err(doing)?;
        Ok(Self { tree: folder.join("tree"), products: folder.join("target") })
    }

    /// Where the copy is.
    pub fn tree(&self) -> &Path {
        &self.tree
    }

    /// Where builds put their products.
    pub fn products(&self) -> &Path {
        &self.products
    }

    /// Makes the copy hold exactly these files. One that is right already is not touched: by its time a
    /// build knows that it need not be built again.
    pub fn fill(&self, files: &BTreeMap<String, Content>) -> Result<(), ScratchError> {
        self.remove_others(&self.tree, files)?;
        for (path, content) in files {
            let full = self.tree.join(path);
            if Content::read(&full)?.as_ref() != Some(content) {
                write(&full, content)?;
            }
        }
        Ok(())
    }

    fn remove_others(&self, folder: &Path, files: &BTreeMap<String, Content>) -> Result<(), ScratchError> {
        let doing = |path: &Path| {
            let path = path.to_owned();
            |source| ScratchError { action: "tidy up", path, source }
        };
        for entry in fs::read_dir(folder).map_err(doing(folder))? {
            let path = entry.map_err(doing(folder))?.path();
            let is_folder = fs::symlink_metadata(&path).map_err(doing(&path))?.is_dir();
            let name = path.strip_prefix(&self.tree).unwrap_or(&path).to_string_lossy().into_owned();
            if is_folder && holds_some(files, &name) {
                self.remove_others(&path, files)?;
            } else if is_folder {
                fs::remove_dir_all(&path).map_err(doing(&path))?;
            } else if !files.contains_key(&name) {
                fs::remove_file(&path).map_err(doing(&path))?;
            }
        }
        Ok(())
    }
}

fn holds_some(files: &BTreeMap<String, Content>, folder: &str) -> bool {
    let below = format!("{folder}/");
    files.range(below.clone()..).next().is_some_and(|(path, _)| path.starts_with(&below))
}

fn write(path: &Path, content: &Content) -> Result<(), ScratchError> {
    let doing = |source| ScratchError { action: "write", path: path.to_owned(), source };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(doing)?;
    }
    // Whatever is there, a link above all, is not written through.
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(doing(error)),
        Ok(()) | Err(_) => {}
    }
    match content.kind {
        FileKind::Symlink => symlink(OsStr::from_bytes(&content.bytes), path).map_err(doing),
        FileKind::File => fs::write(path, &content.bytes).map_err(doing),
        FileKind::Executable => {
            fs::write(path, &content.bytes).map_err(doing)?;
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).map_err(doing)
        }
        FileKind::Submodule => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(files: &[(&str, &str)]) -> BTreeMap<String, Content> {
        files.iter().map(|(path, text)| ((*path).to_owned(), Content::text(text))).collect()
    }

    #[test]
    fn the_copy_holds_exactly_what_it_is_given_and_leaves_what_is_right_alone() {
        let folder = tempfile::tempdir().unwrap();
        let scratch = Scratch::open(&StateDir::ensure(folder.path()).unwrap()).unwrap();
        scratch.fill(&files(&[("a/b.rs", "1"), ("a/c.rs", "1"), ("d/e.rs", "1"), ("f", "1")])).unwrap();
        let time = |path: &str| fs::metadata(scratch.tree().join(path)).unwrap().modified().unwrap();
        let before = time("a/b.rs");
        scratch.fill(&files(&[("a/b.rs", "1"), ("a/c.rs", "2"), ("d", "1"), ("f/g", "1")])).unwrap();
        assert_eq!(time("a/b.rs"), before);
        assert_eq!(fs::read_to_string(scratch.tree().join("a/c.rs")).unwrap(), "2");
        assert!(scratch.tree().join("d").is_file() && scratch.tree().join("f/g").is_file());
        scratch.fill(&files(&[])).unwrap();
        assert_eq!(fs::read_dir(scratch.tree()).unwrap().count(), 0);
    }

    #[test]
    fn a_link_is_copied_as_a_link_and_never_written_through() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("outside"), "mine").unwrap();
        let scratch = Scratch::open(&StateDir::ensure(folder.path()).unwrap()).unwrap();
        symlink(folder.path().join("outside"), scratch.tree().join("a")).unwrap();
        let link = Content::read(&scratch.tree().join("a")).unwrap().unwrap();
        assert_eq!(link.kind, FileKind::Symlink);
        scratch.fill(&files(&[("a", "theirs")])).unwrap();
        assert_eq!(fs::read_to_string(folder.path().join("outside")).unwrap(), "mine");
        scratch.fill(&BTreeMap::from([("b".to_owned(), link)])).unwrap();
        assert!(fs::symlink_metadata(scratch.tree().join("b")).unwrap().is_symlink());
    }
}
