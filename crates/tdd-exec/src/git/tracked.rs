//! What the user's index says is tracked, read again only where its file is another.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use git2::{Index, IndexEntry};

use super::error::Doing;
use super::private::{RACY_MARGIN, written};
use super::{GitPath, Repo, Result, is_state};
use crate::walk::Stamp;

/// What a path of an index is to be; `None`: not there any more.
pub(super) type Staged = (GitPath, Option<IndexEntry>);

/// What the user's index says is tracked.
pub(super) struct Tracked {
    /// Sorted by path, one for each.
    pub(super) entries: Vec<IndexEntry>,
    /// Those that a sparse checkout leaves out.
    pub(super) skipped: Vec<Vec<u8>>,
    /// When the index was written.
    pub(super) written: Option<SystemTime>,
    /// The index file that was read; `None` if a new one might look the same.
    pub(super) stamp: Option<Stamp>,
}

impl Tracked {
    /// The index as it is now; what was read before will do if the file is the same, and was old enough by then for
    /// a new one to look different.
    pub(super) fn read(repo: &Repo) -> Result<Arc<Self>> {
        let path = repo.git.path().join("index");
        let now = Stamp::at(&path);
        if let Some(known) = repo.tracked.borrow().as_ref().filter(|known| now.is_some() && known.stamp == now) {
            return Ok(Arc::clone(known));
        }
        let mut index = Self::parse(&path)?;
        let age = index.written.and_then(|written| SystemTime::now().duration_since(written).ok());
        index.stamp = now.filter(|_| age.is_some_and(|age| age > RACY_MARGIN));
        let index = Arc::new(index);
        repo.tracked.replace(Some(Arc::clone(&index)));
        Ok(index)
    }

    /// Whether this path is among them; our own state never is.
    pub(super) fn holds(&self, path: &[u8]) -> bool {
        find(&self.entries, path).is_some()
    }

    fn parse(path: &Path) -> Result<Self> {
        const SKIP_WORKTREE: u16 = 1 << 14;
        let index = Index::open(path).doing("read the user's index")?;
        let mut entries = sorted(&index);
        entries.retain(|entry| !is_state(&entry.path));
        let skipped = entries.iter().filter(|entry| entry.flags_extended & SKIP_WORKTREE != 0);
        let skipped = skipped.map(|entry| entry.path.clone()).collect();
        Ok(Self { entries, skipped, written: written(&index), stamp: None })
    }

    fn set(&mut self, path: &[u8], entry: Option<&IndexEntry>) {
        match (self.entries.binary_search_by(|known| known.path.as_slice().cmp(path)), entry) {
            (Ok(at), Some(entry)) => self.entries[at] = copy(entry),
            (Ok(at), None) => drop(self.entries.remove(at)),
            (Err(at), Some(entry)) => self.entries.insert(at, copy(entry)),
            (Err(_), None) => {}
        }
    }
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

impl Repo {
    /// Notes what a commit of ours made of the user's index, so that it need not be read again. Only for the one who
    /// holds its lock: `before` and `after` are the file as it was and as it is.
    pub(super) fn note_tracked(&self, changes: &[Staged], before: Option<Stamp>, after: Option<Stamp>) {
        let Some(mut tracked) = self.tracked.take().and_then(Arc::into_inner) else { return };
        if before.is_none() || tracked.stamp != before || !tracked.skipped.is_empty() {
            return;
        }
        for (path, entry) in changes.iter().filter(|(path, _)| !is_state(path.as_bytes())) {
            tracked.set(path.as_bytes(), entry.as_ref());
        }
        tracked.stamp = after;
        tracked.written = fs::metadata(self.git.path().join("index")).and_then(|meta| meta.modified()).ok();
        self.tracked.replace(Some(Arc::new(tracked)));
    }
}
