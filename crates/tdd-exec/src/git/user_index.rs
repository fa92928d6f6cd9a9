//! The user's index, changed at a few paths together with HEAD: both, or, after a kill, put right by the next start.
//!
//! `index.lock` is taken first, as git itself does, with our name in it. The new index is written aside, its commit is
//! noted in the lock, then the branch moves, then the new index takes its place. A kill in between leaves the lock:
//! [`Repo::heal`] finishes if HEAD is at the commit in it, and otherwise drops what was prepared.

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

/// What `index.lock` begins with when it is ours.
const MARK: &str = "tdd-machine";

/// Where the user's index is, and what we need besides to change it.
struct Places {
    root: PathBuf,
    index: PathBuf,
    lock: PathBuf,
    next: PathBuf,
    mark: PathBuf,
}

/// The user's index, held against everyone else; dropped without [`LockedIndex::publish`] it is as before.
pub(super) struct LockedIndex(Places);

impl Repo {
    /// Takes the user's index, or says who holds it.
    pub(super) fn lock_user_index(&self) -> Result<LockedIndex> {
        let places = self.places();
        match places.take() {
            Ok(()) => Ok(LockedIndex(places)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(GitError::IndexLocked { path: places.lock }),
            Err(error) => Err(error).doing_io("make", &places.lock),
        }
    }

    /// Finishes or drops a commit that a kill cut short.
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

/// Whether a lock is ours and its process is no more.
fn is_left_behind(lock: &str) -> bool {
    let pid = lock.lines().next().and_then(|line| line.strip_prefix(MARK)?.trim().parse().ok());
    pid.is_some_and(|pid| pid != std::process::id() && !super::worktree::is_alive(pid))
}

impl Places {
    /// Makes the lock with our name in it at once, so that a kill leaves none that nobody knows. The file that gets
    /// its name is kept for the next time.
    fn take(&self) -> std::io::Result<()> {
        let mark = format!("{MARK} {}\n", std::process::id());
        if fs::symlink_metadata(&self.mark).is_ok_and(|meta| meta.nlink() > 1) {
            // It is a lock still, which is not ours to write.
            fs::remove_file(&self.mark)?;
        }
        fs::write(&self.mark, &mark)?;
        match fs::hard_link(&self.mark, &self.lock) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                // A file system without hard links.
                File::create_new(&self.lock)?.write_all(mark.as_bytes())
            }
            done => done,
        }
    }

    /// Writes the new index aside: these paths as given, everything else as the user has it.
    ///
    /// Its time stays that of the old one, so that a file that git had to look at again is still looked at again.
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

    /// Copies the user's index aside; answers with its time.
    fn copy(&self) -> Result<SystemTime> {
        // A kill may have left either.
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
    /// Has the new index aside: these paths as given, everything else as the user has it.
    pub(super) fn prepare(&self, staged: &[Staged]) -> Result<()> {
        self.0.prepare(staged)
    }

    /// Notes the commit that the prepared index belongs to.
    pub(super) fn note(&self, commit: Oid) -> Result<()> {
        let mut lock = File::options().append(true).open(&self.0.lock).doing_io("open", &self.0.lock)?;
        lock.write_all(format!("{commit}\n").as_bytes()).doing_io("write", &self.0.lock)
    }

    /// Puts the prepared index in its place and lets go.
    pub(super) fn publish(self) -> Result<()> {
        fs::rename(&self.0.next, &self.0.index).doing_io("replace", &self.0.index)
    }
}

impl Drop for LockedIndex {
    fn drop(&mut self) {
        for path in [&self.0.next, &self.0.lock] {
            // What cannot be removed now is removed by the next start.
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
