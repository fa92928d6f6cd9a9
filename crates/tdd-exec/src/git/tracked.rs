//! Reads which paths the user's index tracks.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use git2::{Index, IndexEntry};
use tdd_core::digest::Digest;

use super::error::Doing;
use super::snapshot::GITLINK;
use super::{GitPath, Repo, Result, is_state};

/// The hash of all the rest, with which git ends an index file.
pub(super) type Checksum = [u8; 20];

/// A path's entry in an index; `None` removes the path.
pub(super) type Staged = (GitPath, Option<IndexEntry>);

/// The tracked paths in the user's index.
pub(super) struct Tracked {
    /// The entries, sorted by path, one per path.
    pub(super) entries: Vec<IndexEntry>,
    /// The paths that a sparse checkout leaves out.
    pub(super) skipped: Vec<Vec<u8>>,
    /// The checksum of the index that was read; `None` if it has none, or changed while it was read.
    pub(super) checksum: Option<Checksum>,
}

impl Tracked {
    /// The index as it is now. It is parsed only if it is not the one of the last call: at 20,000 files that takes 20 ms.
    pub(super) fn read(repo: &Repo) -> Result<Arc<Self>> {
        let path = repo.git.path().join("index");
        let checksum = checksum(&path);
        let last = repo.tracked.borrow().clone();
        if let Some(last) = last.filter(|last| checksum.is_some() && last.checksum == checksum) {
            return Ok(last);
        }
        let read = Arc::new(Self::parse(&path, checksum)?);
        repo.tracked.replace(Some(Arc::clone(&read)));
        Ok(read)
    }

    fn parse(path: &Path, before: Option<Checksum>) -> Result<Self> {
        const SKIP_WORKTREE: u16 = 1 << 14;
        let index = Index::open(path).doing("read the user's index")?;
        let mut entries = sorted(&index);
        entries.retain(|entry| !is_state(&entry.path));
        let skipped = entries.iter().filter(|entry| entry.flags_extended & SKIP_WORKTREE != 0);
        let skipped = skipped.map(|entry| entry.path.clone()).collect();
        Ok(Self { entries, skipped, checksum: before.filter(|before| checksum(path) == Some(*before)) })
    }

    /// Digest of the tracked paths and the submodules' commits: everything a tree takes from the user's index.
    pub(super) fn paths(&self) -> Digest {
        let mut bytes = Vec::new();
        for entry in &self.entries {
            bytes.extend_from_slice(&entry.path);
            bytes.push(0);
            if entry.mode == GITLINK {
                bytes.extend_from_slice(entry.id.as_bytes());
            }
        }
        Digest::of(bytes)
    }

    /// Whether this path is tracked; our own state never is.
    pub(super) fn holds(&self, path: &[u8]) -> bool {
        find(&self.entries, path).is_some()
    }
}

/// The checksum at the end of an index file; `None` without a file, or if git was told not to write one (zeros).
pub(super) fn checksum(path: &Path) -> Option<Checksum> {
    let mut file = File::open(path).ok()?;
    let mut checksum = Checksum::default();
    file.seek(SeekFrom::End(-20)).ok()?;
    file.read_exact(&mut checksum).ok()?;
    (checksum != Checksum::default()).then_some(checksum)
}

/// An index's entries by path, one for each, whatever order the index itself keeps.
pub(super) fn sorted(index: &Index) -> Vec<IndexEntry> {
    let mut entries: Vec<_> = index.iter().collect();
    entries.sort_by(|one, other| one.path.cmp(&other.path));
    entries.dedup_by(|one, other| one.path == other.path);
    entries
}

pub(super) fn find<'a>(entries: &'a [IndexEntry], path: &[u8]) -> Option<&'a IndexEntry> {
    let at = entries.binary_search_by(|entry| entry.path.as_slice().cmp(path)).ok()?;
    entries.get(at)
}

pub(super) fn copy(entry: &IndexEntry) -> IndexEntry {
    IndexEntry { path: entry.path.clone(), ..*entry }
}
