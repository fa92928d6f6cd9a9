//! A copy of the project in `.tdd/scratch/`, kept between runs so that builds in it stay incremental.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use tdd_core::digest::TreeId;
use tdd_lang::twin::ScratchNeeds;

use crate::git::{FileKind, GitError, Repo, Stored};
use crate::state::StateDir;
use crate::walk::Stamp;

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
pub enum Content {
    /// What git keeps.
    Stored(Stored),
    /// Something else.
    Given {
        /// Its bytes; of a link, its target.
        bytes: Vec<u8>,
        /// What it is.
        kind: FileKind,
    },
}

impl Content {
    /// A plain file with this text.
    pub fn text(text: &str) -> Self {
        Self::Given { bytes: text.as_bytes().to_vec(), kind: FileKind::File }
    }

    /// Names the content, as git would.
    fn name(&self) -> Stored {
        match self {
            Self::Stored(stored) => *stored,
            Self::Given { bytes, kind } => Stored::of(bytes, *kind),
        }
    }

    /// The bytes.
    fn bytes(&self, repo: &Repo) -> Result<Cow<'_, [u8]>, GitError> {
        match self {
            Self::Stored(stored) => Ok(Cow::Owned(repo.stored(stored)?)),
            Self::Given { bytes, .. } => Ok(Cow::Borrowed(bytes)),
        }
    }

    /// A link to a folder, wherever that is in the end; `None` if there is none.
    pub fn link_to(folder: &Path) -> Option<Self> {
        let folder = fs::canonicalize(folder).ok().filter(|folder| folder.is_dir())?;
        Some(Self::Given { bytes: folder.as_os_str().as_bytes().to_vec(), kind: FileKind::Symlink })
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
            return Ok(Some(Self::Given { bytes: target.as_os_str().as_bytes().to_vec(), kind: FileKind::Symlink }));
        }
        if !meta.is_file() {
            return Ok(None);
        }
        let kind = if meta.permissions().mode() & 0o100 == 0 { FileKind::File } else { FileKind::Executable };
        Ok(Some(Self::Given { bytes: fs::read(path).map_err(doing)?, kind }))
    }
}

/// Every file of a tree, as a copy is to hold it; submodules and names that are not UTF-8 are left out.
pub fn contents(repo: &Repo, tree: &TreeId) -> Result<BTreeMap<String, Content>, GitError> {
    let listing = repo.tree_files(tree)?;
    let files = listing.files().iter().filter(|(_, stored)| stored.kind != FileKind::Submodule);
    Ok(files.filter_map(|(path, stored)| Some((path.as_str()?.to_owned(), Content::Stored(*stored)))).collect())
}

/// What a copy of a tree holds: its files, and those of the working folder that a build needs although no
/// tree has them.
pub fn laid_out(repo: &Repo, tree: &TreeId, needs: &ScratchNeeds) -> Result<BTreeMap<String, Content>, LayOutError> {
    let mut files = contents(repo, tree)?;
    for path in &needs.links {
        if !holds_some(&files, path)
            && let Some(link) = Content::link_to(&repo.root().join(path))
        {
            files.insert(path.clone(), link);
        }
    }
    for path in &needs.files {
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
    held: Arc<Mutex<Held>>,
}

/// What the files of a copy held when they were last looked into, by their times at that moment.
pub(crate) type Held = BTreeMap<String, (Stamp, Stored)>;

/// Younger than this, a file may be written once more without looking any different.
const YOUNG: Duration = Duration::from_millis(100);

impl Scratch {
    /// The copy of the project with this state folder. Only for the one who holds the project's lock.
    pub fn open(state: &StateDir) -> Result<Self, ScratchError> {
        let folder = state.path().join("scratch");
        let doing = |source| ScratchError { action: "make the folder", path: folder.clone(), source };
        fs::create_dir_all(folder.join("tree")).map_err(doing)?;
        let folder = folder.canonicalize().map_err(doing)?;
        Ok(Self { tree: folder.join("tree"), products: folder.join("target"), held: state.held() })
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
    /// build knows that it need not be built again. One that was looked into before, and that nobody wrote
    /// since, is not looked into again.
    pub fn fill(&self, repo: &Repo, files: &BTreeMap<String, Content>) -> Result<(), LayOutError> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = BTreeMap::new();
        remove_others(&self.tree, "", files, &mut found)?;
        let mut now = Held::new();
        for (path, content) in files {
            let name = content.name();
            let stamp = found.get(path.as_str());
            let known = held.get(path).filter(|(then, _)| stamp == Some(then)).map(|(_, held)| *held);
            if let (Some(known), Some(stamp)) = (known, stamp)
                && known == name
            {
                now.insert(path.clone(), (*stamp, known));
                continue;
            }
            let full = self.tree.join(path);
            if Content::read(&full)?.as_ref().map(Content::name) != Some(name) {
                write(&full, &content.bytes(repo)?, name.kind)?;
            } else if let Some(stamp) = stamp.filter(|stamp| stamp.is_older(YOUNG, SystemTime::now())) {
                now.insert(path.clone(), (*stamp, name));
            }
        }
        *held = now;
        Ok(())
    }
}

/// Removes what is not to be there, and notes the times of the rest.
fn remove_others(
    folder: &Path,
    below: &str,
    files: &BTreeMap<String, Content>,
    found: &mut BTreeMap<String, Stamp>,
) -> Result<(), ScratchError> {
    let doing = |path: &Path| {
        let path = path.to_owned();
        |source| ScratchError { action: "tidy up", path, source }
    };
    for entry in fs::read_dir(folder).map_err(doing(folder))? {
        let entry = entry.map_err(doing(folder))?;
        let (path, name) = (entry.path(), format!("{below}{}", entry.file_name().to_string_lossy()));
        let meta = entry.metadata().map_err(doing(&path))?;
        if meta.is_dir() && holds_some(files, &name) {
            remove_others(&path, &format!("{name}/"), files, found)?;
        } else if meta.is_dir() {
            fs::remove_dir_all(&path).map_err(doing(&path))?;
        } else if files.contains_key(&name) {
            found.insert(name, Stamp::of(&meta));
        } else {
            fs::remove_file(&path).map_err(doing(&path))?;
        }
    }
    Ok(())
}

fn holds_some(files: &BTreeMap<String, Content>, folder: &str) -> bool {
    let below = format!("{folder}/");
    files.range(below.clone()..).next().is_some_and(|(path, _)| path.starts_with(&below))
}

fn write(path: &Path, bytes: &[u8], kind: FileKind) -> Result<(), ScratchError> {
    let doing = |source| ScratchError { action: "write", path: path.to_owned(), source };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(doing)?;
    }
    // Whatever is there, a link above all, is not written through.
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(doing(error)),
        Ok(()) | Err(_) => {}
    }
    match kind {
        FileKind::Symlink => symlink(OsStr::from_bytes(bytes), path).map_err(doing),
        FileKind::File => fs::write(path, bytes).map_err(doing),
        FileKind::Executable => {
            fs::write(path, bytes).map_err(doing)?;
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
        let repo = Repo::init(folder.path()).unwrap();
        let scratch = Scratch::open(&StateDir::ensure(folder.path()).unwrap()).unwrap();
        scratch.fill(&repo, &files(&[("a/b.rs", "1"), ("a/c.rs", "1"), ("d/e.rs", "1"), ("f", "1")])).unwrap();
        let time = |path: &str| fs::metadata(scratch.tree().join(path)).unwrap().modified().unwrap();
        let before = time("a/b.rs");
        scratch.fill(&repo, &files(&[("a/b.rs", "1"), ("a/c.rs", "2"), ("d", "1"), ("f/g", "1")])).unwrap();
        assert_eq!(time("a/b.rs"), before);
        assert_eq!(fs::read_to_string(scratch.tree().join("a/c.rs")).unwrap(), "2");
        assert!(scratch.tree().join("d").is_file() && scratch.tree().join("f/g").is_file());
        scratch.fill(&repo, &files(&[])).unwrap();
        assert_eq!(fs::read_dir(scratch.tree()).unwrap().count(), 0);
    }

    #[test]
    fn a_link_is_copied_as_a_link_and_never_written_through() {
        let folder = tempfile::tempdir().unwrap();
        let repo = Repo::init(folder.path()).unwrap();
        fs::write(folder.path().join("outside"), "mine").unwrap();
        let scratch = Scratch::open(&StateDir::ensure(folder.path()).unwrap()).unwrap();
        symlink(folder.path().join("outside"), scratch.tree().join("a")).unwrap();
        let link = Content::read(&scratch.tree().join("a")).unwrap().unwrap();
        assert_eq!(link.name().kind, FileKind::Symlink);
        scratch.fill(&repo, &files(&[("a", "theirs")])).unwrap();
        assert_eq!(fs::read_to_string(folder.path().join("outside")).unwrap(), "mine");
        scratch.fill(&repo, &BTreeMap::from([("b".to_owned(), link)])).unwrap();
        assert!(fs::symlink_metadata(scratch.tree().join("b")).unwrap().is_symlink());
    }

    #[test]
    fn a_file_that_somebody_changed_in_the_copy_is_put_right_however_often_it_was_right_before() {
        let folder = tempfile::tempdir().unwrap();
        let repo = Repo::init(folder.path()).unwrap();
        let scratch = Scratch::open(&StateDir::ensure(folder.path()).unwrap()).unwrap();
        let wanted = files(&[("a", "1"), ("b", "1")]);
        for _ in 0..2 {
            scratch.fill(&repo, &wanted).unwrap();
            std::thread::sleep(2 * YOUNG);
        }
        scratch.fill(&repo, &wanted).unwrap();
        assert_eq!(scratch.held.lock().unwrap().len(), 2, "their times are known by now");
        let times = fs::metadata(scratch.tree().join("a")).unwrap().modified().unwrap();
        fs::write(scratch.tree().join("a"), "2").unwrap();
        fs::File::options().write(true).open(scratch.tree().join("a")).unwrap().set_modified(times).unwrap();
        scratch.fill(&repo, &wanted).unwrap();
        assert_eq!(fs::read_to_string(scratch.tree().join("a")).unwrap(), "1");
    }
}
