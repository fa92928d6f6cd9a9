//! The ledger file: appended, synced, hash-chained, locked, and verified whenever it is read.

mod checkpoint;
mod lock;
mod scan;

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;
use tdd_core::digest::Digest;
use tdd_core::event::{Event, Head, LedgerRepaired, LineError, Record};
use tdd_core::seam::{Clock, Ledger};
use tdd_core::session::Session;

use crate::state::StateDir;
use checkpoint::Checkpoint;
use lock::Lock;
pub use scan::Records;

/// The ledger's file name inside `.tdd/`.
pub const FILE: &str = "events.jsonl";

/// Events between two checkpoints of a long run, in case it is killed.
const SAVE_EVERY: u64 = 10_000;

/// Why a ledger cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// Another process holds the ledger's lock.
    #[error("another tdd-cli is running in this project{}", pid.map(|pid| format!(" (pid {pid})")).unwrap_or_default())]
    Locked {
        /// The other process's id, if known.
        pid: Option<u32>,
    },
    /// A line is malformed or breaks the chain.
    #[error("`{path}` is damaged in line {line} (byte {offset}): {why}", path = path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line's number, from 1.
        line: u64,
        /// The byte at which the line begins.
        offset: u64,
        /// What is wrong.
        why: String,
    },
    /// A newer version of this program wrote the ledger.
    #[error("`{path}` was written by a newer tdd-cli (line {line} has format version {version})", path = path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// The line's number, from 1.
        line: u64,
        /// The line's format version.
        version: u64,
    },
    /// The ledger's path is a folder, a link or a pipe.
    #[error("`{path}` is not a real file", path = path.display())]
    NotAFile {
        /// The ledger's path.
        path: PathBuf,
    },
    /// An append failed; the ledger is unchanged.
    #[error("cannot append to `{path}`; the ledger is unchanged", path = path.display())]
    Append {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The ledger file was deleted or replaced while we had it open.
    #[error("`{path}` was deleted or replaced while this command ran", path = path.display())]
    Gone {
        /// The ledger's path.
        path: PathBuf,
    },
    /// Reading, locking or repairing failed.
    #[error("cannot {action} `{path}`", path = path.display())]
    Io {
        /// The operation that failed.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

/// The ledger, open for appending: this process holds its lock.
#[derive(Debug)]
pub struct LedgerFile<C> {
    file: File,
    path: PathBuf,
    end: End,
    session: Session,
    clock: C,
    repaired: Option<LedgerRepaired>,
    /// Sequence number of the last line that a checkpoint covers.
    saved: u64,
    /// Digests of the file's whole pieces, as far as they are known.
    pieces: Vec<Digest>,
    /// The last events permit nothing and may not be on disk yet.
    unsynced: bool,
    /// Set when a failed append could not be undone: nothing more may be written.
    broken: bool,
    _lock: Lock,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct End {
    /// Sequence number of the last line; 0 if the ledger is empty.
    seq: u64,
    /// Digest of the last line.
    digest: Digest,
    /// Length of all complete lines, in bytes.
    len: u64,
}

impl End {
    fn empty() -> Self {
        Self { seq: 0, digest: Digest::zero(), len: 0 }
    }
}

impl<C: Clock> LedgerFile<C> {
    /// Opens or creates the ledger in `.tdd/`: takes the lock, verifies the chain, cuts off a torn last line and folds
    /// the events.
    pub fn open(dir: &StateDir, clock: C) -> Result<Self, LedgerError> {
        let lock = Lock::take(dir.path())?;
        let path = dir.path().join(FILE);
        let file = open_file(&path)?;
        let loaded = checkpoint::load(&file, &path)?;
        let mut ledger = Self {
            file,
            path,
            saved: if loaded.stale { 0 } else { loaded.end.seq },
            end: loaded.end,
            session: loaded.session,
            clock,
            repaired: None,
            pieces: loaded.pieces,
            unsynced: false,
            broken: false,
            _lock: lock,
        };
        if let Some(torn) = loaded.torn {
            ledger.repair(torn)?;
        }
        Ok(ledger)
    }

    /// What was cut off if the last line was torn when this ledger was opened.
    pub fn repaired(&self) -> Option<&LedgerRepaired> {
        self.repaired.as_ref()
    }

    fn repair(&mut self, torn: LedgerRepaired) -> Result<(), LedgerError> {
        let io = |source| LedgerError::Io { action: "cut the torn last line off", path: self.path.clone(), source };
        self.file.set_len(self.end.len).map_err(io)?;
        self.file.sync_data().map_err(io)?;
        self.append(&[Event::LedgerRepaired(torn.clone())])?;
        self.repaired = Some(torn);
        Ok(())
    }

    /// Appends bytes and syncs the file, unless the sync can wait. Undoes the append if it fails.
    fn write(&mut self, bytes: &[u8], can_wait: bool) -> Result<(), LedgerError> {
        let path = self.path.clone();
        let failed = |source| LedgerError::Append { path, source };
        if self.broken {
            self.check_in_place()?;
            return Err(failed(io::Error::other("an earlier append failed and could not be taken back")));
        }
        self.check_in_place()?;
        let written = self.file.write_all(bytes).and_then(|()| if can_wait { Ok(()) } else { self.file.sync_data() });
        match written {
            Ok(()) => {
                self.unsynced = can_wait;
                // If the file was deleted during the write, the caller must not act on this event.
                self.check_in_place()?;
            }
            Err(error) => {
                self.broken = self.file.set_len(self.end.len).and_then(|()| self.file.sync_data()).is_err();
                return Err(failed(error));
            }
        }
        Ok(())
    }
}

impl<C> LedgerFile<C> {
    /// Checks that our open file is still the one at the ledger's path. If not, nothing more may be written.
    fn check_in_place(&mut self) -> Result<(), LedgerError> {
        let held = self.file.metadata();
        let found = fs::symlink_metadata(&self.path);
        let is_same = |held: &Metadata, found: &Metadata| (held.dev(), held.ino()) == (found.dev(), found.ino());
        if held.is_ok_and(|held| found.is_ok_and(|found| is_same(&held, &found))) {
            return Ok(());
        }
        self.broken = true;
        Err(LedgerError::Gone { path: self.path.clone() })
    }

    fn save(&mut self) {
        let known = std::mem::take(&mut self.pieces);
        self.pieces = Checkpoint::save(&self.file, &self.path, &self.end, &self.session, known);
        self.saved = self.end.seq;
    }
}

impl<C: Clock> Ledger for LedgerFile<C> {
    type Error = LedgerError;

    fn session(&self) -> &Session {
        &self.session
    }

    fn append(&mut self, events: &[Event]) -> Result<Vec<Record>, LedgerError> {
        if events.is_empty() {
            return Ok(Vec::new());
        }
        let ts = self.clock.now_ms();
        let mut end = self.end.clone();
        let mut bytes = Vec::new();
        let mut records = Vec::with_capacity(events.len());
        for event in events {
            let head = Head { seq: end.seq + 1, ts, prev: end.digest };
            let line = Record::line(&head, event);
            end = End { seq: head.seq, digest: Digest::of(&line), len: end.len + line.len() as u64 + 1 };
            bytes.extend_from_slice(line.as_bytes());
            bytes.push(b'\n');
            records.push(Record { head, event: event.clone() });
        }
        self.write(&bytes, events.iter().all(Event::allows_nothing))?;
        self.end = end;
        for event in events {
            self.session.apply(event);
        }
        if self.end.seq - self.saved >= SAVE_EVERY {
            self.save();
        }
        Ok(records)
    }
}

impl<C> Drop for LedgerFile<C> {
    /// Saves a checkpoint.
    fn drop(&mut self) {
        if self.unsynced {
            let _ = self.file.sync_data();
        }
        if self.end.seq != self.saved && !self.broken {
            self.save();
        }
    }
}

/// The session of a ledger that another process may be writing. `None` if there is no ledger.
pub fn read_session(dir: &StateDir) -> Result<Option<Session>, LedgerError> {
    let path = dir.path().join(FILE);
    open_to_read(&path)?.map(|file| checkpoint::peek(&file, &path)).transpose()
}

/// Fails if a process is writing to the ledger; the error says which.
pub fn check_free(dir: &StateDir) -> Result<(), LedgerError> {
    lock::check_free(dir.path())
}

/// Every record of a ledger that another process may be writing, verified one by one.
pub fn records(dir: &StateDir) -> Result<Option<Records>, LedgerError> {
    let path = dir.path().join(FILE);
    Ok(open_to_read(&path)?.map(|file| Records::new(file, &path)))
}

fn open_to_read(path: &Path) -> Result<Option<File>, LedgerError> {
    match fs::symlink_metadata(path) {
        Ok(_) => open_as(path, OpenOptions::new().read(true)).map(Some),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(LedgerError::Io { action: "read", path: path.to_owned(), source }),
    }
}

fn open_file(path: &Path) -> Result<File, LedgerError> {
    let io = |source| LedgerError::Io { action: "open", path: path.to_owned(), source };
    let fresh = !path.exists();
    let file = open_as(path, OpenOptions::new().read(true).append(true).create(true))?;
    if fresh && let Some(folder) = path.parent() {
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(io)?;
    }
    Ok(file)
}

/// Opens only a regular file: a link leads elsewhere, and a pipe would block until its other end opens.
fn open_as(path: &Path, options: &mut OpenOptions) -> Result<File, LedgerError> {
    let io = |source| LedgerError::Io { action: "open", path: path.to_owned(), source };
    if fs::symlink_metadata(path).is_ok_and(|meta| !meta.is_file()) {
        return Err(LedgerError::NotAFile { path: path.to_owned() });
    }
    options.custom_flags((OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits()).open(path).map_err(io)
}

fn damage(path: &Path, line: u64, offset: u64, error: &LineError) -> LedgerError {
    match error {
        LineError::Newer(version) => LedgerError::Newer { path: path.to_owned(), line, version: *version },
        LineError::Malformed | LineError::Event(_) => {
            LedgerError::Damaged { path: path.to_owned(), line, offset, why: error.to_string() }
        }
    }
}

#[cfg(test)]
mod tests {
    use tdd_core::cycle::Role;
    use tdd_core::event::{EditApplied, PlanSubmitted};

    use super::*;
    use crate::clock::WallClock;

    #[test]
    fn what_allows_nothing_waits_for_the_next_event_that_allows_something() {
        let folder = tempfile::tempdir().expect("temp");
        let dir = StateDir::ensure(folder.path()).expect("state");
        let mut ledger = LedgerFile::open(&dir, WallClock).expect("open");
        let told = Event::PlanSubmitted(PlanSubmitted {
            step: 1,
            role: Role::Tester,
            digest: Digest::of("plan"),
            steps: Vec::new(),
        });
        let allows = Event::EditApplied(EditApplied { step: 1, attempt: 1, paths: vec!["src/lib.rs".to_owned()] });
        let mut waits_after = |events: &[Event]| {
            ledger.append(events).expect("append");
            ledger.unsynced
        };
        assert!(waits_after(std::slice::from_ref(&told)));
        assert!(!waits_after(&[told.clone(), allows.clone()]));
        assert!(waits_after(std::slice::from_ref(&told)));
        assert!(!waits_after(&[allows]));
    }
}
