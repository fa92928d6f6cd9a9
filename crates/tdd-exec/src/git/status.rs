//! Reports uncommitted changes, the files of the working tree, and ignored paths.

use std::collections::BTreeSet;

use git2::{DiffOptions, Index};

use super::error::Doing;
use super::snapshot::{GITLINK, Snapshot};
use super::tracked::Tracked;
use super::{GitPath, Repo, Result, is_state};

/// The working tree's differences from HEAD.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dirty {
    /// Tracked files that are changed, deleted or staged, sorted.
    pub modified_tracked: Vec<GitPath>,
    /// Untracked files that are not ignored, sorted.
    pub untracked: Vec<GitPath>,
}

impl Dirty {
    /// Whether there are no uncommitted changes.
    pub fn is_clean(&self) -> bool {
        self.modified_tracked.is_empty() && self.untracked.is_empty()
    }
}

impl Repo {
    /// The differences of the working tree and of the user's index from HEAD. Submodules are not entered.
    pub fn dirty(&self) -> Result<Dirty> {
        let seen = Snapshot::take(self)?;
        let mut tracked = self.staged()?;
        for change in self.diff_trees(&self.head()?.tree, &seen.tree)? {
            if let super::ChangeKind::Renamed { from } = change.kind {
                tracked.insert(from);
            }
            if !seen.untracked.contains(change.path.as_bytes()) {
                tracked.insert(change.path);
            }
        }
        let untracked = seen.untracked.iter().map(|path| GitPath::from_git(path)).collect();
        let modified = tracked.into_iter().filter(|path| !is_state(path.as_bytes()));
        Ok(Dirty { modified_tracked: modified.collect(), untracked })
    }

    /// The tracked files and the untracked files that are not ignored, sorted.
    ///
    /// Skips names that are not UTF-8: nobody could ask for them. [`Repo::tree_id`] includes them.
    pub fn files(&self) -> Result<Vec<String>> {
        let seen = Snapshot::take(self)?;
        let files = seen.index.iter().filter(|entry| entry.mode != GITLINK);
        let mut names: Vec<_> = files.filter_map(|entry| String::from_utf8(entry.path).ok()).collect();
        names.sort_unstable();
        Ok(names)
    }

    /// Whether no tree would contain this path: it is ignored and untracked, our state, or inside another repository.
    pub fn is_ignored(&self, path: &GitPath) -> Result<bool> {
        if self.is_tracked(path)? {
            return Ok(false);
        }
        let ignored = self.fresh()?.is_path_ignored(path.as_path());
        Ok(ignored.doing_at("check the ignore rules for", path.as_bytes())? || self.is_nested(path))
    }

    fn is_tracked(&self, path: &GitPath) -> Result<bool> {
        Ok(Tracked::read(self)?.holds(path.as_bytes()))
    }

    fn is_nested(&self, path: &GitPath) -> bool {
        let folders = path.as_path().ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
        folders.into_iter().any(|folder| self.root.join(folder).join(".git").symlink_metadata().is_ok())
    }

    /// The paths that the user staged.
    fn staged(&self) -> Result<BTreeSet<GitPath>> {
        let head = self.tree_of(self.head_id()?)?;
        let index = self.user_index()?;
        let mut options = DiffOptions::new();
        options.include_typechange(true).skip_binary_check(true);
        let diff =
            self.git.diff_tree_to_index(Some(&head), Some(&index), Some(&mut options)).doing("read the index")?;
        Ok(diff.deltas().filter_map(|delta| delta.new_file().path_bytes().map(GitPath::from_git)).collect())
    }

    /// Opens the user's index for reading.
    fn user_index(&self) -> Result<Index> {
        Index::open(&self.git.path().join("index")).doing("read the user's index")
    }
}
