//! The user's index, changed at a few paths together with HEAD: both, or, after a kill, put right by the next start.
//!
//! `index.lock` is taken first, as git itself does, with our name in it. The new index is written aside, its commit is
//! noted in the lock, then the branch moves, then the new index takes its place. A kill in between leaves the lock:
//! [`Repo::heal`] finishes if HEAD is at the commit in it, and otherwise drops what was prepared.
//!
//! Writing an index of thousands of files takes longer than all the rest of a commit. [`Repo::write_ahead`] does it while
//! the tests run: the commit then takes what is there, if it is the right one.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};
use std::time::SystemTime;

use git2::{Index, Oid, Repository};
use tdd_core::digest::TreeId;

use super::error::{Doing, DoingIo};
use super::private::{PrivateLock, RACY_MARGIN};
use super::tracked::{Staged, copy};
use super::{GitError, GitPath, Repo, Result};
use crate::walk::Stamp;

/// What `index.lock` begins with when it is ours.
const MARK: &str = "tdd-machine";

/// The user's index, so that the next commit need not read it.
pub(super) struct Published {
    /// A handle whose index it is.
    git: Repository,
    /// The file.
    stamp: Option<Stamp>,
    /// What it has beside that file's content.
    ahead: Option<Ahead>,
}

/// What a commit will have changed.
struct Ahead {
    staged: Vec<Staged>,
    /// The file that holds it.
    written: Option<Stamp>,
}

/// The index that the next commit begins with.
pub(super) enum Next {
    /// It is at hand.
    Known(Published),
    /// It is being written for a commit that is foreseen.
    Written(JoinHandle<Option<Published>>),
}

impl Published {
    /// Whether it is this file's content.
    fn is(&self, file: Option<Stamp>) -> bool {
        file.is_some() && self.stamp == file
    }

    /// Whether it is written at this place with these paths changed, and nothing else.
    fn is_ahead_by(&self, staged: &[Staged], place: &Path) -> bool {
        let content = |(path, entry): &Staged| (path.clone(), entry.as_ref().map(|entry| (entry.id, entry.mode)));
        self.ahead.as_ref().is_some_and(|ahead| {
            let same = ahead.staged.iter().map(content).eq(staged.iter().map(content));
            same && ahead.written.is_some() && Stamp::at(place) == ahead.written
        })
    }
}

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

    /// The index that we published last, which may be the user's no more. Not for the one who holds our own lock:
    /// whoever writes it may be waiting for that.
    pub(super) fn published(&self) -> Option<Published> {
        match self.published.take()? {
            Next::Known(published) => Some(published),
            Next::Written(writing) => writing.join().ok()?,
        }
    }

    /// Keeps the index that was published just now. Without it, the next commit takes longer.
    pub(super) fn keep_published(&self, index: Published, stamp: Option<Stamp>) {
        self.published.replace(Some(Next::Known(Published { stamp, ahead: None, ..index })));
    }

    /// Begins to write the index of a commit that may come: of these paths as they are in that tree. If another comes,
    /// or none, nothing is lost but that work.
    pub fn write_ahead(&self, from: &TreeId, paths: &[GitPath]) {
        let known = self.published();
        // Whatever is wrong, the commit will say.
        let Ok(staged) = self.entries(from, paths) else { return };
        let (places, folder) = (self.places(), self.private_folder());
        let write = move || {
            let _ours = PrivateLock::take(&folder).ok()?;
            // Whoever has the index may need what is prepared.
            let is_free = Stamp::at(&places.lock).is_none();
            is_free.then(|| places.prepare(staged, known).ok()).flatten()
        };
        self.published.replace(thread::Builder::new().spawn(write).ok().map(Next::Written));
    }

    /// Finishes or drops a commit that a kill cut short.
    pub(super) fn heal(&self) -> Result<()> {
        let lock = self.git.path().join("index.lock");
        let Some(text) = fs::read_to_string(&lock).ok().filter(|text| is_left_behind(text)) else { return Ok(()) };
        let locked = LockedIndex(self.places());
        let head = self.head_id()?.map(|id| id.to_string());
        let noted = text.lines().nth(1);
        if noted.is_some() && noted == head.as_deref() && locked.0.next.exists() {
            return locked.publish(|_| ());
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

    /// Writes the new index aside.
    ///
    /// Its time stays that of the old one, so that a file that git had to look at again is still looked at again.
    fn prepare(&self, staged: Vec<Staged>, known: Option<Published>) -> Result<Published> {
        let stamp = Stamp::at(&self.index);
        let (git, time) = match known.filter(|known| known.is(stamp) && known.ahead.is_none()) {
            Some(known) => (known.git, self.time()?),
            None => self.read()?,
        };
        let mut index = git.index().doing("use the user's index")?;
        for (path, entry) in &staged {
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
        file.set_modified(time).doing_io("set the time of", &self.next)?;
        let ahead = Some(Ahead { staged, written: Stamp::at(&self.next) });
        Ok(Published { git, stamp, ahead })
    }

    /// The user's index under the name of the next one.
    fn read(&self) -> Result<(Repository, SystemTime)> {
        let time = self.copy()?;
        let mut index = Index::open(&self.next).doing("read the user's index")?;
        let git = Repository::open(&self.root).doing("open the repository again")?;
        git.set_index(&mut index).doing("use the user's index")?;
        Ok((git, time))
    }

    /// That of the user's index, with nothing in the way of the next one.
    fn time(&self) -> Result<SystemTime> {
        // A kill may have left either.
        remove(&self.next)?;
        remove(&self.next.with_extension("lock"))?;
        Ok(fs::metadata(&self.index).and_then(|meta| meta.modified()).unwrap_or(SystemTime::UNIX_EPOCH))
    }

    fn copy(&self) -> Result<SystemTime> {
        let time = self.time()?;
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
    /// Has the new index aside: these paths as given, everything else as the user has it. `known` is that index as it
    /// was once.
    pub(super) fn prepare(&self, staged: &[Staged], known: Option<Published>) -> Result<Published> {
        match known {
            Some(known) if known.is(self.stamp()) && known.is_ahead_by(staged, &self.0.next) => Ok(known),
            known => self.0.prepare(staged.iter().map(copied).collect(), known),
        }
    }

    /// Notes the commit that the prepared index belongs to.
    pub(super) fn note(&self, commit: Oid) -> Result<()> {
        let mut lock = File::options().append(true).open(&self.0.lock).doing_io("open", &self.0.lock)?;
        lock.write_all(format!("{commit}\n").as_bytes()).doing_io("write", &self.0.lock)
    }

    /// Which writing of the user's index it is that we hold.
    pub(super) fn stamp(&self) -> Option<Stamp> {
        Stamp::at(&self.0.index)
    }

    /// Puts the prepared index in its place, has it looked at while nobody else can write it, and lets go.
    pub(super) fn publish(self, look: impl FnOnce(Option<Stamp>)) -> Result<()> {
        fs::rename(&self.0.next, &self.0.index).doing_io("replace", &self.0.index)?;
        look(self.stamp());
        Ok(())
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

fn copied((path, entry): &Staged) -> Staged {
    (path.clone(), entry.as_ref().map(copy))
}

fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error).doing_io("remove", path),
        Ok(()) | Err(_) => Ok(()),
    }
}
