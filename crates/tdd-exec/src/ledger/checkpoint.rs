//! A checkpoint saves the folding of a long ledger. It is never the truth: it may be deleted at any
//! time, and it is believed only as far as the ledger itself bears it out.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tdd_core::digest::Digest;
use tdd_core::event::LedgerRepaired;
use tdd_core::session::Session;

use super::scan::{Lines, Step, Tail};
use super::{End, LedgerError};

/// Changes whenever folding does: an old checkpoint is then thrown away.
const FOLD: &str = concat!(env!("CARGO_PKG_VERSION"), "/1");
/// Shorter ledgers are folded faster than a checkpoint is read.
const WORTH_IT: u64 = 1000;

/// A session, and the ledger that it was folded from.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Checkpoint {
    fold: String,
    seq: u64,
    len: u64,
    digest: Digest,
    stamp: Stamp,
    /// Digest of the session's JSON: a half-written checkpoint is noticed.
    seal: Digest,
    session: String,
}

/// What a file's metadata say while nobody writes to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Stamp {
    inode: u64,
    len: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

/// A ledger that has been read.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) end: End,
    pub(super) session: Session,
    pub(super) torn: Option<LedgerRepaired>,
    /// There is no checkpoint for exactly this ledger.
    pub(super) stale: bool,
}

/// Reads a ledger in full trustworthiness: unless the file is exactly as the checkpoint left it, the
/// whole chain is followed.
pub(super) fn load(file: &File, path: &Path) -> Result<Loaded, LedgerError> {
    let stamp = Stamp::of(file, path)?;
    let checkpoint = Checkpoint::find(path);
    if let Some((checkpoint, session)) = &checkpoint
        && checkpoint.stamp == stamp
    {
        return Ok(Loaded { end: checkpoint.end(), session: session.clone(), torn: None, stale: false });
    }
    let (end, session, tail) = fold(file, path, End::empty(), Session::default(), checkpoint)?;
    let torn = match tail {
        Tail::Whole => None,
        Tail::Torn(bytes) => Some(describe(&bytes)),
    };
    Ok(Loaded { end, session, torn, stale: true })
}

/// The session of a ledger that somebody may be writing to: from the checkpoint on, without the lock.
pub(super) fn peek(file: &File, path: &Path) -> Result<Session, LedgerError> {
    let stamp = Stamp::of(file, path)?;
    let trusted = Checkpoint::find(path)
        .filter(|(checkpoint, _)| checkpoint.stamp.inode == stamp.inode && checkpoint.len <= stamp.len);
    if let Some((checkpoint, session)) = trusted
        && let Ok((_, session, _)) = fold(file, path, checkpoint.end(), session, None)
    {
        return Ok(session);
    }
    fold(file, path, End::empty(), Session::default(), None).map(|(_, session, _)| session)
}

/// Follows the chain from `from` on. Where it comes past the checkpoint, events up to there need no
/// parsing: the session is taken over.
fn fold(
    mut file: &File,
    path: &Path,
    from: End,
    session: Session,
    checkpoint: Option<(Checkpoint, Session)>,
) -> Result<(End, Session, Tail), LedgerError> {
    file.seek(SeekFrom::Start(from.len)).map_err(|source| LedgerError::Io {
        action: "read",
        path: path.to_owned(),
        source,
    })?;
    let (skip, mut taken_over) = match checkpoint {
        Some((checkpoint, session)) => (Some(checkpoint.end()), Some(session)),
        None => (None, None),
    };
    let skip_to = skip.as_ref().map_or(0, |end| end.seq);
    let mut session = session;
    let mut lines = Lines::resume(file, path, from);
    let tail = loop {
        match lines.step()? {
            Step::Line => {}
            Step::End(tail) => break tail,
        }
        let seq = lines.end().seq;
        if seq > skip_to {
            session.apply(&lines.record()?.event);
        } else if seq == skip_to {
            match taken_over.take() {
                Some(saved) if Some(lines.end()) == skip.as_ref() => session = saved,
                // The checkpoint is of another ledger: fold this one from its beginning.
                _ => return fold(file, path, End::empty(), Session::default(), None),
            }
        }
    };
    if lines.end().seq < skip_to {
        return fold(file, path, End::empty(), Session::default(), None);
    }
    Ok((lines.end().clone(), session, tail))
}

fn describe(torn: &[u8]) -> LedgerRepaired {
    let shown = &torn[..torn.len().min(200)];
    LedgerRepaired { dropped_bytes: torn.len() as u64, dropped: String::from_utf8_lossy(shown).into_owned() }
}

impl Checkpoint {
    /// Leaves a checkpoint for this ledger. Errors are swallowed: without it the next start is slower.
    pub(super) fn save(file: &File, path: &Path, end: &End, session: &Session) {
        if end.seq < WORTH_IT {
            return;
        }
        let Ok(stamp) = Stamp::of(file, path) else { return };
        let Ok(session) = serde_json::to_string(session) else { return };
        let checkpoint = Self {
            fold: FOLD.to_owned(),
            seq: end.seq,
            len: end.len,
            digest: end.digest,
            stamp,
            seal: Digest::of(&session),
            session,
        };
        let target = Self::path(path);
        let temporary = target.with_extension("tmp");
        let written = serde_json::to_vec(&checkpoint).map_err(Into::into).and_then(|json| fs::write(&temporary, json));
        if written.and_then(|()| fs::rename(&temporary, &target)).is_err() {
            let _left_over = fs::remove_file(&temporary);
        }
    }

    /// The checkpoint beside a ledger, if it is whole and of this program's making.
    fn find(path: &Path) -> Option<(Self, Session)> {
        let json = fs::read(Self::path(path)).ok()?;
        let mut checkpoint: Self = serde_json::from_slice(&json).ok()?;
        let session = std::mem::take(&mut checkpoint.session);
        let genuine = checkpoint.fold == FOLD && checkpoint.seal == Digest::of(&session);
        let session = genuine.then(|| serde_json::from_str(&session).ok()).flatten()?;
        Some((checkpoint, session))
    }

    fn path(ledger: &Path) -> PathBuf {
        ledger.with_file_name("checkpoint.json")
    }

    fn end(&self) -> End {
        End { seq: self.seq, digest: self.digest, len: self.len }
    }
}

impl Stamp {
    fn of(file: &File, path: &Path) -> Result<Self, LedgerError> {
        let meta =
            file.metadata().map_err(|source| LedgerError::Io { action: "inspect", path: path.to_owned(), source })?;
        Ok(Self {
            inode: meta.ino(),
            len: meta.len(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
        })
    }
}
