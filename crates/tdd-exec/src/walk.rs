//! Lists folders with the times of what is in them, by two threads where there is much to look at.

use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime};

/// Which writing of a file this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    inode: u64,
    size: u64,
    mode: u32,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    pub(crate) fn of(meta: &Metadata) -> Self {
        Self {
            inode: meta.ino(),
            size: meta.size(),
            mode: meta.mode(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
        }
    }

    /// That of the file or link at this path, if there is one.
    pub(crate) fn at(path: &Path) -> Option<Self> {
        fs::symlink_metadata(path).ok().map(|meta| Self::of(&meta))
    }

    /// Whether the file was left alone for so long before that moment. One that is younger may be written once more
    /// without looking any different.
    pub(crate) fn is_older(&self, than: Duration, moment: SystemTime) -> bool {
        let is_older = |(seconds, nanoseconds): (i64, i64)| {
            let since = Duration::new(u64::try_from(seconds).unwrap_or(0), u32::try_from(nanoseconds).unwrap_or(0));
            moment.duration_since(SystemTime::UNIX_EPOCH + since).is_ok_and(|age| age > than)
        };
        is_older(self.changed) && is_older(self.modified)
    }
}

/// What is in a folder under one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) name: OsString,
    pub(crate) kind: Kind,
}

/// What it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A folder; it is not looked into.
    Folder,
    /// Anything else; `None` if its times are not known, or say nothing.
    Other(Option<Stamp>),
}

/// With fewer folders than this, a second thread costs more than it saves.
pub(crate) const MANY: usize = 16;

/// A look at the times of all files in some folders that goes on while something else is done.
#[derive(Debug)]
pub struct Look {
    moment: SystemTime,
    of: Arc<Vec<PathBuf>>,
    listing: JoinHandle<Vec<io::Result<Vec<Item>>>>,
}

impl Look {
    /// Begins to list these folders below `root`.
    pub(crate) fn begin(root: &Path, folders: &Arc<Vec<PathBuf>>) -> Option<Self> {
        let (moment, of) = (SystemTime::now(), Arc::clone(folders));
        let (root, folders) = (root.to_owned(), Arc::clone(folders));
        let listing = thread::Builder::new().spawn(move || list(&root, &folders)).ok()?;
        Some(Self { moment, of, listing })
    }

    /// When it was begun.
    pub(crate) fn moment(&self) -> SystemTime {
        self.moment
    }

    /// When it was begun, and what was there; `None` if it was at other folders.
    pub(crate) fn finish(self, folders: &Arc<Vec<PathBuf>>) -> Option<(SystemTime, Vec<io::Result<Vec<Item>>>)> {
        let same = Arc::ptr_eq(&self.of, folders);
        same.then(|| self.listing.join().ok()).flatten().map(|listed| (self.moment, listed))
    }
}

/// Lists each of these folders below `root`, in the order in which the file system has it.
pub(crate) fn list(root: &Path, folders: &[PathBuf]) -> Vec<io::Result<Vec<Item>>> {
    let each = |folders: &[PathBuf]| folders.iter().map(|folder| list_one(&root.join(folder))).collect::<Vec<_>>();
    if folders.len() < MANY {
        return each(folders);
    }
    let (first, second) = folders.split_at(folders.len() / 2);
    thread::scope(|scope| {
        let other = thread::Builder::new().spawn_scoped(scope, || each(second));
        let mut listed = each(first);
        listed.extend(match other.map(thread::ScopedJoinHandle::join) {
            Ok(Ok(rest)) => rest,
            // Without a second thread it takes longer, and that is all.
            Ok(Err(_)) | Err(_) => each(second),
        });
        listed
    })
}

fn list_one(folder: &Path) -> io::Result<Vec<Item>> {
    let mut items = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        // What went away in between has no times, and will be looked for.
        let stamp = || entry.metadata().ok().map(|meta| Stamp::of(&meta));
        let kind = if is_folder { Kind::Folder } else { Kind::Other(stamp()) };
        items.push(Item { name: entry.file_name(), kind });
    }
    Ok(items)
}
