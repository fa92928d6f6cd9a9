//! Caches the folded session of a long ledger. A checkpoint may be deleted at any time, and is used only if the ledger
//! file still matches it.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tdd_core::digest::Digest;
use tdd_core::event::LedgerRepaired;
use tdd_core::session::Session;

use super::scan::{Lines, Step, Tail};
use super::{End, LedgerError};

/// Bump the number whenever folding changes: checkpoints with another value are ignored.
const FOLD: &str = concat!(env!("CARGO_PKG_VERSION"), "/12");
/// Below this many events, folding is faster than reading a checkpoint.
const MIN_EVENTS: u64 = 1000;
/// Size of the pieces in which the ledger is hashed; large pieces hash faster.
const PIECE: u64 = 8 << 20;

/// A session and the state of the ledger that it was folded from.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Checkpoint {
    fold: String,
    seq: u64,
    len: u64,
    digest: Digest,
    stamp: Stamp,
    /// Digests of the ledger's bytes, piece by piece.
    pieces: Vec<Digest>,
    /// Digest of the session's JSON, to detect a half-written checkpoint.
    seal: Digest,
    session: String,
}

/// File metadata that change whenever the file is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Stamp {
    inode: u64,
    len: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

/// A ledger after reading.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) end: End,
    pub(super) session: Session,
    pub(super) torn: Option<LedgerRepaired>,
    /// Digests of its whole pieces, as far as they are known.
    pub(super) pieces: Vec<Digest>,
    /// No checkpoint matches this ledger exactly.
    pub(super) stale: bool,
}

/// Reads and verifies a ledger. If the file's metadata differ from the checkpoint's, compares the checkpointed bytes;
/// if those differ too, verifies the whole chain.
pub(super) fn load(file: &File, path: &Path) -> Result<Loaded, LedgerError> {
    let stamp = Stamp::of(file, path)?;
    let Some((checkpoint, session)) = Checkpoint::find(path) else {
        return fold(file, path, End::empty(), Session::default(), Vec::new());
    };
    let end = checkpoint.end();
    if checkpoint.stamp == stamp {
        let pieces = whole(checkpoint.pieces, end.len);
        return Ok(Loaded { end, session, torn: None, pieces, stale: false });
    }
    let reading = |source| LedgerError::Io { action: "read", path: path.to_owned(), source };
    if stamp.len >= end.len && pieces(file, end.len, Vec::new()).map_err(reading)? == checkpoint.pieces {
        let pieces = whole(checkpoint.pieces, end.len);
        return fold(file, path, end, session, pieces);
    }
    fold(file, path, End::empty(), Session::default(), Vec::new())
}

/// The session of a ledger that another process may be writing; reads from the checkpoint on, without the lock.
pub(super) fn peek(file: &File, path: &Path) -> Result<Session, LedgerError> {
    let stamp = Stamp::of(file, path)?;
    let trusted = Checkpoint::find(path)
        .filter(|(checkpoint, _)| checkpoint.stamp.inode == stamp.inode && checkpoint.len <= stamp.len);
    if let Some((checkpoint, session)) = trusted
        && let Ok(loaded) = fold(file, path, checkpoint.end(), session, Vec::new())
    {
        return Ok(loaded.session);
    }
    fold(file, path, End::empty(), Session::default(), Vec::new()).map(|loaded| loaded.session)
}

/// Verifies the chain from `from` on and folds its events into the session.
fn fold(
    mut file: &File,
    path: &Path,
    from: End,
    mut session: Session,
    pieces: Vec<Digest>,
) -> Result<Loaded, LedgerError> {
    file.seek(SeekFrom::Start(from.len)).map_err(|source| LedgerError::Io {
        action: "read",
        path: path.to_owned(),
        source,
    })?;
    let mut lines = Lines::resume(file, path, from);
    let tail = loop {
        match lines.step()? {
            Step::Line => session.apply(&lines.record()?.event),
            Step::End(tail) => break tail,
        }
    };
    let torn = match tail {
        Tail::Whole => None,
        Tail::Torn(bytes) => Some(describe(&bytes)),
    };
    Ok(Loaded { end: lines.end().clone(), session, torn, pieces, stale: true })
}

/// Digests of the first `len` bytes, piece by piece; whole pieces that are `known` are not read again.
fn pieces(mut file: &File, len: u64, known: Vec<Digest>) -> io::Result<Vec<Digest>> {
    let mut known = whole(known, len);
    let mut at = known.len() as u64 * PIECE;
    file.seek(SeekFrom::Start(at))?;
    let mut piece = Vec::new();
    while at < len {
        piece.clear();
        file.take(PIECE.min(len - at)).read_to_end(&mut piece)?;
        if piece.is_empty() {
            break;
        }
        at += piece.len() as u64;
        known.push(Digest::of(&piece));
    }
    Ok(known)
}

/// Keeps the digests of the whole pieces within the first `len` bytes.
fn whole(mut pieces: Vec<Digest>, len: u64) -> Vec<Digest> {
    pieces.truncate(usize::try_from(len / PIECE).unwrap_or(usize::MAX));
    pieces
}

fn describe(torn: &[u8]) -> LedgerRepaired {
    let shown = &torn[..torn.len().min(200)];
    LedgerRepaired { dropped_bytes: torn.len() as u64, dropped: String::from_utf8_lossy(shown).into_owned() }
}

impl Checkpoint {
    /// Saves a checkpoint for this ledger and returns the digests of its whole pieces. Ignores errors: without a
    /// checkpoint, the next start is only slower.
    pub(super) fn save(file: &File, path: &Path, end: &End, session: &Session, known: Vec<Digest>) -> Vec<Digest> {
        if end.seq < MIN_EVENTS {
            return known;
        }
        let Ok(stamp) = Stamp::of(file, path) else { return known };
        let Ok(session) = serde_json::to_string(session) else { return known };
        let Ok(pieces) = pieces(file, end.len, known) else { return Vec::new() };
        let checkpoint = Self {
            fold: FOLD.to_owned(),
            seq: end.seq,
            len: end.len,
            digest: end.digest,
            stamp,
            pieces,
            seal: Digest::of(&session),
            session,
        };
        let target = Self::path(path);
        let temporary = target.with_extension("tmp");
        // Delete first, so that we never write through a link or into a pipe.
        let _left_over = fs::remove_file(&temporary);
        let write = |json: Vec<u8>| File::create_new(&temporary)?.write_all(&json);
        let written = serde_json::to_vec(&checkpoint).map_err(Into::into).and_then(write);
        if written.and_then(|()| fs::rename(&temporary, &target)).is_err() {
            let _left_over = fs::remove_file(&temporary);
        }
        whole(checkpoint.pieces, end.len)
    }

    /// The checkpoint beside a ledger, if it is complete and this version wrote it.
    fn find(path: &Path) -> Option<(Self, Session)> {
        let path = Self::path(path);
        if !fs::symlink_metadata(&path).ok()?.is_file() {
            return None;
        }
        let json = fs::read(path).ok()?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_that_are_known_give_the_same_digests_as_pieces_that_are_read() {
        let mut file = tempfile::tempfile().unwrap();
        let mut known = Vec::new();
        let mut len = 0;
        for size in [PIECE / 2, PIECE, PIECE / 2, 1, 3 * PIECE] {
            let byte = u8::try_from(len % 251).unwrap();
            file.seek(SeekFrom::End(0)).unwrap();
            file.write_all(&vec![byte; usize::try_from(size).unwrap()]).unwrap();
            len += size;
            let read = pieces(&file, len, Vec::new()).unwrap();
            assert_eq!(pieces(&file, len, known).unwrap(), read, "{len} bytes");
            assert_eq!(read.len() as u64, len.div_ceil(PIECE));
            known = whole(read, len);
        }
    }

    #[test]
    fn a_file_that_is_too_short_has_other_pieces() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"abc").unwrap();
        let short = pieces(&file, 5, Vec::new()).unwrap();
        file.write_all(b"de").unwrap();
        assert_ne!(pieces(&file, 5, Vec::new()).unwrap(), short);
    }
}
