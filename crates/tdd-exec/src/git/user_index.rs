//! Updates a few paths in the user's index together with HEAD; after a kill, the next start repairs both.
//!
//! We take `index.lock` first, as git does, with our name in it. Then we write the new index to a temporary file, note
//! the commit in the lock, move the branch, and rename the new index into place. A kill in between leaves the lock:
//! [`Repo::heal`] completes the update if HEAD is at the noted commit, and drops it otherwise.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use git2::{Index, Oid, Repository};

use super::error::{Doing, DoingIo};
use super::private::RACY_MARGIN;
use super::tracked::Staged;
use super::{GitError, Repo, Result};

/// The first word of our `index.lock`.
const MARK: &str = "tdd-machine";

/// The paths of the user's index and of the files we need to change it.
struct Places {
    root: PathBuf,
    index: PathBuf,
    lock: PathBuf,
    next: PathBuf,
    mark: PathBuf,
}

/// The user's index while we hold its lock; dropping it without [`LockedIndex::publish`] changes nothing.
pub(super) struct LockedIndex(Places);

impl Repo {
    /// Locks the user's index, or fails if another process holds the lock.
    pub(super) fn lock_user_index(&self) -> Result<LockedIndex> {
        let places = self.places();
        match places.take() {
            Ok(()) => Ok(LockedIndex(places)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(GitError::IndexLocked { path: places.lock }),
            Err(error) => Err(error).doing_io("make", &places.lock),
        }
    }

    /// Completes or drops a commit that a kill interrupted.
    pub(super) fn heal(&self) -> Result<()> {
        let lock = self.git.path().join("index.lock");
        let Some(text) = fs::read_to_string(&lock).ok().filter(|text| is_left_behind(text)) else { return Ok(()) };
        let locked = LockedIndex(self.places());
        let head = self.head_id()?.map(|id| id.to_string());
        let noted = text.lines().nth(1);
        if noted.is_some() && noted == head.as_deref() && locked.0.next.exists() {
            return locked.publish();
        }
        drop(locked);
        Ok(())
    }

    fn places(&self) -> Places {
        Places {
            root: self.root.clone(),
            index: self.git.path().join("index"),
            lock: self.git.path().join("index.lock"),
            next: self.private("next-index"),
            mark: self.private("mark"),
        }
    }
}

/// Whether a lock is ours and its process is dead.
fn is_left_behind(lock: &str) -> bool {
    let pid = lock.lines().next().and_then(|line| line.strip_prefix(MARK)?.trim().parse().ok());
    pid.is_some_and(|pid| pid != std::process::id() && !super::worktree::is_alive(pid))
}

impl Places {
    /// Creates the lock with our name already in it, so that a kill never leaves an anonymous lock. The hard-linked
    /// marker file is kept for the next time.
    fn take(&self) -> std::io::Result<()> {
        let mark = format!("{MARK} {}\n", std::process::id());
        if fs::symlink_metadata(&self.mark).is_ok_and(|meta| meta.nlink() > 1) {
            // The marker file is still linked as a lock, and must not be overwritten.
            fs::remove_file(&self.mark)?;
        }
        fs::write(&self.mark, &mark)?;
        match fs::hard_link(&self.mark, &self.lock) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                // The file system has no hard links.
                File::create_new(&self.lock)?.write_all(mark.as_bytes())
            }
            done => done,
        }
    }

    /// Writes the new index to a temporary file: these paths as given, all others as the user has them.
    ///
    /// Keeps the old index's time, so that git rereads the same files as before.
    fn prepare(&self, staged: &[Staged]) -> Result<()> {
        let time = self.copy()?;
        let mut index = Index::open(&self.next).doing("read the user's index")?;
        let git = Repository::open(&self.root).doing("open the repository again")?;
        git.set_index(&mut index).doing("use the user's index")?;
        for (path, entry) in staged {
            let name = path.as_path();
            match entry {
                Some(entry) => {
                    index.conflict_remove(name).ok();
                    index.add(entry).doing_at("stage", path.as_bytes())?;
                }
                None => index.remove_path(name).doing_at("stage the removal of", path.as_bytes())?,
            }
        }
        index.write().doing("write the new index")?;
        let file = File::options().append(true).open(&self.next).doing_io("open", &self.next)?;
        file.set_modified(time).doing_io("set the time of", &self.next)
    }

    /// Copies the user's index to a temporary file; returns the original's modification time.
    fn copy(&self) -> Result<SystemTime> {
        // A killed process may have left either file.
        remove(&self.next)?;
        remove(&self.next.with_extension("lock"))?;
        let time = fs::metadata(&self.index).and_then(|meta| meta.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
        match fs::copy(&self.index, &self.next) {
            Ok(_) => Ok(time),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let now = fs::metadata(&self.lock).and_then(|meta| meta.modified());
                let now = now.doing_io("read the time of", &self.lock)?;
                Ok(now.checked_sub(RACY_MARGIN).unwrap_or(SystemTime::UNIX_EPOCH))
            }
            Err(error) => Err(error).doing_io("copy", &self.index),
        }
    }
}

impl LockedIndex {
    /// Writes the new index: these paths as given, all others as the user has them.
    pub(super) fn prepare(&self, staged: &[Staged]) -> Result<()> {
        self.0.prepare(staged)
    }

    /// Notes in the lock which commit the new index belongs to.
    pub(super) fn note(&self, commit: Oid) -> Result<()> {
        let mut lock = File::options().append(true).open(&self.0.lock).doing_io("open", &self.0.lock)?;
        lock.write_all(format!("{commit}\n").as_bytes()).doing_io("write", &self.0.lock)
    }

    /// Renames the new index into place and releases the lock.
    pub(super) fn publish(self) -> Result<()> {
        fs::rename(&self.0.next, &self.0.index).doing_io("replace", &self.0.index)
    }
}

impl Drop for LockedIndex {
    fn drop(&mut self) {
        for path in [&self.0.next, &self.0.lock] {
            // The next start removes what cannot be removed here.
            remove(path).ok();
        }
    }
}

fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error).doing_io("remove", path),
        Ok(()) | Err(_) => Ok(()),
    }
}
