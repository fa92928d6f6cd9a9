//! Takes our commits back from the branch: keeps them under a ref and restores files and index.

use tdd_core::digest::CommitId;

use super::head::oid;
use super::moving::Move;
use super::{GitPath, Repo, Result};

impl Repo {
    /// Moves the branch from our commit `commit` back to its ancestor `to`. The discarded commits stay reachable under
    /// `refs/tdd/discarded/`. Safe to repeat, also after a kill.
    ///
    /// Leaves files alone that differ from our commit.
    pub fn take_back(&self, commit: &CommitId, to: &CommitId, name: &str) -> Result<String> {
        let (from_tree, to_tree) = (self.commit_tree(Some(commit))?, self.commit_tree(Some(to))?);
        let kept_as = format!("refs/tdd/discarded/{name}");
        self.keep_discarded(&kept_as, commit)?;
        let mut paths = Vec::new();
        for change in self.diff_trees(&to_tree, &from_tree)? {
            if let super::ChangeKind::Renamed { from } = &change.kind {
                paths.push(from.clone());
            }
            paths.push(change.path);
        }
        let head = self.head()?;
        if head.commit.as_ref() == Some(commit) {
            self.check_ready_to_commit()?;
            let _ours = self.lock_private()?;
            let locked = self.lock_user_index()?;
            locked.prepare(&self.entries(&to_tree, &paths)?)?;
            let target = oid(&to.0)?;
            locked.note(target)?;
            self.move_head(&head, Some(oid(&commit.0)?), target, "a discarded iteration")?;
            locked.publish()?;
        }
        let working = self.tree_id()?;
        let mut ours: Vec<GitPath> = Vec::new();
        for path in paths {
            if self.blob(&working, &path)? == self.blob(&from_tree, &path)? {
                ours.push(path);
            }
        }
        self.restore(&ours, &to_tree)?;
        Ok(kept_as)
    }

    /// Keeps the commit under a ref, unless the ref already exists.
    fn keep_discarded(&self, name: &str, commit: &CommitId) -> Result<()> {
        let _ours = self.lock_private()?;
        self.move_ref(&Move { name, from: None, to: oid(&commit.0)?, log: "a discarded iteration" }).map(drop)
    }
}
