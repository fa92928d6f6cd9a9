//! Reads which paths the user's index tracks.

use std::time::SystemTime;

use git2::{Index, IndexEntry};
use tdd_core::digest::Digest;

use super::error::Doing;
use super::private::written;
use super::snapshot::GITLINK;
use super::{GitPath, Repo, Result, is_state};
use crate::walk::Stamp;

/// A path's entry in an index; `None` removes the path.
pub(super) type Staged = (GitPath, Option<IndexEntry>);

/// The tracked paths in the user's index.
pub(super) struct Tracked {
    /// The entries, sorted by path, one per path.
    pub(super) entries: Vec<IndexEntry>,
    /// The paths that a sparse checkout leaves out.
    pub(super) skipped: Vec<Vec<u8>>,
    /// When the index was last written.
    pub(super) written: Option<SystemTime>,
    /// The index file's stamp when it was read.
    pub(super) stamp: Option<Stamp>,
}

impl Tracked {
    pub(super) fn read(repo: &Repo) -> Result<Self> {
        const SKIP_WORKTREE: u16 = 1 << 14;
        let path = repo.git.path().join("index");
        let stamp = Stamp::at(&path);
        let index = Index::open(&path).doing("read the user's index")?;
        let mut entries = sorted(&index);
        entries.retain(|entry| !is_state(&entry.path));
        let skipped = entries.iter().filter(|entry| entry.flags_extended & SKIP_WORKTREE != 0);
        let skipped = skipped.map(|entry| entry.path.clone()).collect();
        Ok(Self { entries, skipped, written: written(&index), stamp })
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

/// An index's entries sorted by path, one per path.
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
