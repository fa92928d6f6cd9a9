//! Our private folder inside the git folder: locked by one process at a time, and safe to delete.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use git2::{Index, IndexEntry, IndexTime};

use super::error::DoingIo;
use super::{Repo, Result};

/// How far we backdate an index file. A file edited twice within one clock tick keeps its time and perhaps its size, so
/// git rereads entries that are not older than their index. The margin covers file systems that count whole seconds.
pub(super) const RACY_MARGIN: Duration = Duration::from_secs(2);

/// Keeps our other processes out of the private folder until dropped.
pub(super) struct PrivateLock {
    _file: File,
}

impl PrivateLock {
    /// Waits for the lock, creating the folder if needed, and removes an `index.lock` that a killed process left.
    pub(super) fn take(folder: &Path) -> Result<Self> {
        fs::create_dir_all(folder).doing_io("make the folder", folder)?;
        let path = folder.join("lock");
        let file = File::create(&path).doing_io("open", &path)?;
        file.lock().doing_io("lock", &path)?;
        let stale = folder.join("index.lock");
        match fs::remove_file(&stale) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error).doing_io("remove", &stale),
            Ok(()) | Err(_) => Ok(Self { _file: file }),
        }
    }
}

impl Repo {
    pub(super) fn private_folder(&self) -> PathBuf {
        self.git.path().join("tdd-machine")
    }

    /// A file in our private folder.
    pub(super) fn private(&self, name: &str) -> PathBuf {
        self.private_folder().join(name)
    }

    /// Waits for the lock on our private folder.
    pub(super) fn lock_private(&self) -> Result<PrivateLock> {
        PrivateLock::take(&self.private_folder())
    }

    /// Our index of the working tree. A damaged one is replaced by an empty one: it is only a cache.
    pub(super) fn private_index(&self) -> Result<Index> {
        use super::error::Doing;
        let path = self.private("index");
        if let Ok(index) = Index::open(&path) {
            return Ok(index);
        }
        fs::remove_file(&path).doing_io("remove the damaged", &path)?;
        Index::open(&path).doing("make an index")
    }
}

/// When an index file was last written, for git's racy check.
pub(super) fn written(index: &Index) -> Option<SystemTime> {
    modified(index.path()?)
}

/// When a file was last written.
pub(super) fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|meta| meta.modified()).ok()
}

/// The entry for use in another index; its file times are cleared unless they are safely older than the index.
pub(super) fn portable(mut entry: IndexEntry, written: Option<SystemTime>) -> IndexEntry {
    const NAME_LENGTH: u16 = 0x0fff;
    let stage = entry.flags & 0x3000;
    entry.flags &= NAME_LENGTH;
    entry.flags_extended = 0;
    if stage == 0 && written.is_some_and(|written| is_older(entry.mtime, written)) {
        return entry;
    }
    without_times(entry)
}

/// The entry with its times cleared, so that git reads the file again.
pub(super) fn without_times(mut entry: IndexEntry) -> IndexEntry {
    entry.mtime = IndexTime::new(0, 0);
    entry.ctime = IndexTime::new(0, 0);
    entry.file_size = 0;
    entry
}

fn is_older(time: IndexTime, written: SystemTime) -> bool {
    let Some(limit) = written.checked_sub(RACY_MARGIN) else { return false };
    let seconds = u64::try_from(time.seconds()).unwrap_or(0);
    SystemTime::UNIX_EPOCH + Duration::new(seconds, time.nanoseconds()) < limit
}
