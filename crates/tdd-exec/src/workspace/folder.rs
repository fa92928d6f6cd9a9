//! An open folder. Operations on it cannot leave it, because links are never followed.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, openat, renameat};
#[cfg(all(target_os = "linux", target_env = "gnu"))]
use nix::fcntl::{RenameFlags, renameat2};
use nix::sys::stat::{Mode, SFlag, fstatat, mkdirat};
use nix::unistd::{UnlinkatFlags, fsync, unlinkat};

/// Largest existing file that we read in order to change it, in bytes.
pub(super) const MAX_EXISTING: u64 = 64 << 20;

/// An open folder. All names passed to it are single path components.
#[derive(Debug)]
pub(super) struct Folder(OwnedFd);

/// What a name refers to.
#[derive(Debug)]
pub(super) enum Entry {
    Nothing,
    Folder,
    /// A symbolic link, whatever it points to.
    Link,
    /// A device, a socket or a pipe.
    Special,
    /// A regular file.
    File,
}

/// A file's content and permissions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Content {
    pub(super) bytes: Vec<u8>,
    /// The permission bits of an existing file; `None` for the default of a new file.
    pub(super) mode: Option<u32>,
}

impl Folder {
    /// Opens a folder at a path that the user gave. Only here are links followed.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let folder = File::open(path)?;
        if folder.metadata()?.is_dir() { Ok(Self(folder.into())) } else { Err(io::ErrorKind::NotADirectory.into()) }
    }

    /// Another handle to the same folder.
    pub(super) fn again(&self) -> io::Result<Self> {
        self.enter(".")
    }

    /// Opens a folder inside this one; fails on a link.
    pub(super) fn enter(&self, name: &str) -> io::Result<Self> {
        let flags = OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        Ok(Self(openat(&self.0, name, flags, Mode::empty())?))
    }

    /// Creates a folder; returns whether it was missing.
    pub(super) fn make(&self, name: &str) -> io::Result<bool> {
        match mkdirat(&self.0, name, Mode::from_bits_truncate(0o777)) {
            Ok(()) => Ok(true),
            Err(Errno::EEXIST) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// What is under a name.
    pub(super) fn find(&self, name: &str) -> io::Result<Entry> {
        let found = match fstatat(&self.0, name, AtFlags::AT_SYMLINK_NOFOLLOW) {
            Ok(found) => found,
            Err(Errno::ENOENT) => return Ok(Entry::Nothing),
            Err(error) => return Err(error.into()),
        };
        Ok(match SFlag::from_bits_truncate(found.st_mode) & SFlag::S_IFMT {
            SFlag::S_IFDIR => Entry::Folder,
            SFlag::S_IFLNK => Entry::Link,
            SFlag::S_IFREG => Entry::File,
            _ => Entry::Special,
        })
    }

    /// Reads a regular file; `None` if it is larger than [`MAX_EXISTING`].
    pub(super) fn read(&self, name: &str) -> io::Result<Option<Content>> {
        // Without `O_NONBLOCK`, opening a pipe that took the file's place would block.
        let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
        let file = File::from(openat(&self.0, name, flags, Mode::empty())?);
        let found = file.metadata()?;
        if !found.is_file() {
            return Err(io::Error::other("it is not a regular file any more"));
        }
        let mut bytes = Vec::new();
        file.take(MAX_EXISTING + 1).read_to_end(&mut bytes)?;
        let whole = bytes.len() as u64 <= MAX_EXISTING;
        Ok(whole.then_some(Content { bytes, mode: Some(found.mode() & 0o777) }))
    }

    /// Creates a new, empty file with these permissions.
    pub(super) fn create(&self, name: &str, mode: Option<u32>) -> io::Result<File> {
        let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let file = File::from(openat(&self.0, name, flags, Mode::from_bits_truncate(0o644))?);
        if let Some(mode) = mode {
            file.set_permissions(std::fs::Permissions::from_mode(mode))?;
        }
        Ok(file)
    }

    /// Moves a file, atomically replacing an existing one.
    pub(super) fn rename(&self, name: &str, to: &Self, new_name: &str) -> io::Result<()> {
        Ok(renameat(&self.0, name, &to.0, new_name)?)
    }

    /// Atomically swaps two files; `false` if the file system cannot.
    pub(super) fn exchange(&self, name: &str, to: &Self, other: &str) -> io::Result<bool> {
        #[cfg(all(target_os = "linux", target_env = "gnu"))]
        return supported(renameat2(&self.0, name, &to.0, other, RenameFlags::RENAME_EXCHANGE));
        #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
        return supported(Err((name, &to.0, other)).map_err(|_| Errno::ENOSYS));
    }

    /// Moves a file to a name that must be free; `false` if the file system cannot check that.
    pub(super) fn rename_to_free(&self, name: &str, to: &Self, new_name: &str) -> io::Result<bool> {
        #[cfg(all(target_os = "linux", target_env = "gnu"))]
        return supported(renameat2(&self.0, name, &to.0, new_name, RenameFlags::RENAME_NOREPLACE));
        #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
        return supported(Err((name, &to.0, new_name)).map_err(|_| Errno::ENOSYS));
    }

    pub(super) fn remove(&self, name: &str) -> io::Result<()> {
        Ok(unlinkat(&self.0, name, UnlinkatFlags::NoRemoveDir)?)
    }

    /// Removes an empty folder.
    pub(super) fn remove_folder(&self, name: &str) -> io::Result<()> {
        Ok(unlinkat(&self.0, name, UnlinkatFlags::RemoveDir)?)
    }

    /// The names in the folder that are UTF-8.
    pub(super) fn names(&self) -> io::Result<Vec<String>> {
        let mut dir = Dir::from_fd(self.again()?.0)?;
        let names = dir.iter().filter_map(|entry| Some(entry.ok()?.file_name().to_str().ok()?.to_owned()));
        Ok(names.filter(|name| name != "." && name != "..").collect())
    }

    /// Syncs the folder's entries to disk.
    pub(super) fn sync(&self) -> io::Result<()> {
        Ok(fsync(&self.0)?)
    }
}

fn supported(done: nix::Result<()>) -> io::Result<bool> {
    match done {
        Ok(()) => Ok(true),
        Err(Errno::EINVAL | Errno::ENOSYS | Errno::EXDEV) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// The folder of a path (empty for the root) and the file name.
pub(super) fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}
