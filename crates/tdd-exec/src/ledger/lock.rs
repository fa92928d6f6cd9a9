//! Locks the ledger for one writer and stores its process id for the others.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use git2::{Repository, RepositoryOpenFlags};
use nix::fcntl::OFlag;

use super::LedgerError;

/// The exclusive right to append. The operating system releases it when the process ends for any reason.
///
/// There is one lock file in `.tdd/` and one in the worktree's git folder, because `.tdd/` can be deleted and recreated
/// while a machine is still running.
#[derive(Debug)]
pub(super) struct Lock {
    _state: File,
    _git: Option<File>,
}

impl Lock {
    /// Takes the locks of this state folder and of the repository around it, or reports who holds them.
    pub(super) fn take(dir: &Path) -> Result<Self, LedgerError> {
        let git = git_folder(dir).map(|folder| in_folder(&folder.join("tdd-machine"))).transpose()?;
        Ok(Self { _state: take(&dir.join("lock"))?, _git: git })
    }
}

/// Reports who holds a lock, if anybody does. Takes the lock only for the moment of the check.
pub(super) fn check_free(dir: &Path) -> Result<(), LedgerError> {
    let git = git_folder(dir).map(|folder| folder.join("tdd-machine/ledger.lock"));
    for path in git.into_iter().chain([dir.join("lock")]) {
        let io = |source| LedgerError::Io { action: "lock", path: path.clone(), source };
        let mut file = match OpenOptions::new().read(true).custom_flags(OFlag::O_NOFOLLOW.bits()).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(source) => return Err(io(source)),
        };
        match file.try_lock_shared() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(LedgerError::Locked { pid: holder(&mut file) }),
            Err(TryLockError::Error(source)) => return Err(io(source)),
        }
    }
    Ok(())
}

/// The git folder of the worktree whose root contains this state folder, if any.
fn git_folder(dir: &Path) -> Option<PathBuf> {
    let no_ceiling: [&Path; 0] = [];
    let git = Repository::open_ext(dir.parent()?, RepositoryOpenFlags::NO_SEARCH, no_ceiling).ok()?;
    Some(git.path().to_owned())
}

fn in_folder(folder: &Path) -> Result<File, LedgerError> {
    fs::create_dir_all(folder).map_err(|source| LedgerError::Io {
        action: "create",
        path: folder.to_owned(),
        source,
    })?;
    take(&folder.join("ledger.lock"))
}

fn take(path: &Path) -> Result<File, LedgerError> {
    let io = |source| LedgerError::Io { action: "lock", path: path.to_owned(), source };
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .custom_flags(OFlag::O_NOFOLLOW.bits())
        .open(path)
        .map_err(io)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(LedgerError::Locked { pid: holder(&mut file) }),
        Err(TryLockError::Error(source)) => return Err(io(source)),
    }
    file.set_len(0).map_err(io)?;
    file.rewind().map_err(io)?;
    // The process id is only informative; a full disk must not keep us from reading the ledger.
    let _named = write!(file, "{}", std::process::id());
    Ok(file)
}

fn holder(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.take(20).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}
