//! Lists the files below a folder with their metadata.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::panic;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use crate::git::FileKind;

/// File metadata that change when a file is written.
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

    /// What git would keep it as; `None` for a device, a socket or a pipe.
    pub(crate) fn kind(&self) -> Option<FileKind> {
        const KIND: u32 = 0o170_000;
        match self.mode & KIND {
            0o100_000 if self.mode & 0o100 == 0 => Some(FileKind::File),
            0o100_000 => Some(FileKind::Executable),
            0o120_000 => Some(FileKind::Symlink),
            _ => None,
        }
    }

    /// Whether the file's last write was more than `than` before `moment`. A younger file may be written again without
    /// its stamp changing.
    pub(crate) fn is_older(&self, than: Duration, moment: SystemTime) -> bool {
        let is_older = |(seconds, nanoseconds): (i64, i64)| {
            let since = Duration::new(u64::try_from(seconds).unwrap_or(0), u32::try_from(nanoseconds).unwrap_or(0));
            moment.duration_since(SystemTime::UNIX_EPOCH + since).is_ok_and(|age| age > than)
        };
        is_older(self.changed) && is_older(self.modified)
    }
}

/// The files and folders below a folder.
#[derive(Debug, Default)]
pub(crate) struct Listed {
    /// Files, links and the like, sorted by the bytes of their paths.
    pub(crate) files: Vec<(PathBuf, Stamp)>,
    /// The folders that were listed; the root is the empty path.
    pub(crate) entered: Vec<PathBuf>,
    /// The folders that were not entered.
    pub(crate) skipped: Vec<PathBuf>,
}

/// A folder that could not be listed.
#[derive(Debug)]
pub(crate) struct Unlisted {
    /// The folder's path below the root.
    pub(crate) folder: PathBuf,
    pub(crate) source: io::Error,
}

/// With fewer folders than this, a second thread costs more than it saves.
const MANY_FOLDERS: usize = 16;

/// Lists everything below `root` without following links. Ignores a folder that is deleted in the meantime.
///
/// Two threads share large listings: one thread needs 40 ms to stat 20,000 files.
pub(crate) fn list(root: &Path, mut enters: impl FnMut(&Path) -> bool) -> Result<Listed, Unlisted> {
    let mut listed = Listed::default();
    let mut level = vec![PathBuf::new()];
    while !level.is_empty() {
        let mut below = Vec::new();
        for (folder, found) in level.iter().zip(list_level(root, &level)) {
            let Folder { files, folders } = match found {
                Ok(found) => found,
                Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                    continue;
                }
                Err(source) => return Err(Unlisted { folder: folder.clone(), source }),
            };
            listed.files.extend(files);
            for path in folders {
                let into = if enters(&path) { &mut below } else { &mut listed.skipped };
                into.push(path);
            }
            listed.entered.push(folder.clone());
        }
        level = below;
    }
    listed.files.sort_unstable_by(|(one, _), (other, _)| bytes(one).cmp(bytes(other)));
    listed.entered.sort_unstable();
    listed.skipped.sort_unstable();
    Ok(listed)
}

/// The entries of one folder, by path below the root.
struct Folder {
    files: Vec<(PathBuf, Stamp)>,
    folders: Vec<PathBuf>,
}

fn list_level(root: &Path, folders: &[PathBuf]) -> Vec<io::Result<Folder>> {
    let list = |folders: &[PathBuf]| folders.iter().map(|folder| list_one(root, folder)).collect::<Vec<_>>();
    if folders.len() < MANY_FOLDERS {
        return list(folders);
    }
    let (first, second) = folders.split_at(folders.len() / 2);
    thread::scope(|scope| {
        let other = scope.spawn(|| list(second));
        let mut all = list(first);
        all.extend(other.join().unwrap_or_else(|panic| panic::resume_unwind(panic)));
        all
    })
}

fn list_one(root: &Path, folder: &Path) -> io::Result<Folder> {
    let mut found = Folder { files: Vec::new(), folders: Vec::new() };
    for entry in fs::read_dir(root.join(folder))? {
        let entry = entry?;
        let path = folder.join(entry.file_name());
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            found.folders.push(path);
        } else if let Ok(meta) = entry.metadata() {
            found.files.push((path, Stamp::of(&meta)));
        }
    }
    Ok(found)
}

/// A path's bytes, by which git sorts.
pub(crate) fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}

/// Looks up ascending keys in a sorted list.
pub(crate) struct Cursor<'a, T> {
    rest: std::slice::Iter<'a, T>,
}

impl<'a, T> Cursor<'a, T> {
    pub(crate) fn new(sorted: &'a [T]) -> Self {
        Self { rest: sorted.iter() }
    }

    /// The item with this key, which must not be smaller than the previous key.
    pub(crate) fn find(&mut self, key: &[u8], key_of: impl Fn(&T) -> &[u8]) -> Option<&'a T> {
        while let Some(item) = self.rest.as_slice().first() {
            match key_of(item).cmp(key) {
                std::cmp::Ordering::Less => drop(self.rest.next()),
                std::cmp::Ordering::Equal => return Some(item),
                std::cmp::Ordering::Greater => return None,
            }
        }
        None
    }
}
