//! Our own folder inside the git folder: one process at a time, nothing in it that cannot be made anew.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use git2::{Index, IndexEntry, IndexTime};

use super::error::DoingIo;
use super::{Repo, Result};

/// How much older than its writing an index file is made to look. A file edited twice within one tick of the clock
/// has the same time and perhaps the same size; entries not older than their index are read again, and this margin
/// covers file systems that count whole seconds.
pub(super) const RACY_MARGIN: Duration = Duration::from_secs(2);

/// Holds off other processes of ours until it is dropped.
pub(super) struct PrivateLock {
    _file: File,
}

impl PrivateLock {
    /// Waits for our own folder; it is made if it is missing, and a lock that a killed process left is removed.
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

    /// A file of our own in the git folder of this working tree.
    pub(super) fn private(&self, name: &str) -> PathBuf {
        self.private_folder().join(name)
    }

    /// Waits for our own folder.
    pub(super) fn lock_private(&self) -> Result<PrivateLock> {
        PrivateLock::take(&self.private_folder())
    }

    /// Our index of the working tree; a damaged one is the same as none, since it is only a cache.
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

/// When an index file was written, as its racy check sees it.
pub(super) fn written(index: &Index) -> Option<SystemTime> {
    modified(index.path()?)
}

/// When a file was last written.
pub(super) fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|meta| meta.modified()).ok()
}

/// An entry whose file times still mean something in another index, or one that says "read the file again".
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

/// The same content, to be compared with the file again.
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
