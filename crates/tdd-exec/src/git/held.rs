//! What a process knows of the working tree since its last look, so that the next look need not begin anew.

use std::cell::RefMut;
use std::collections::BTreeSet;
use std::fs;
use std::time::SystemTime;

use git2::{Index, Oid, Repository};
use tdd_core::digest::TreeId;

use super::error::Doing;
use super::path::as_path;
use super::private::written;
use super::rules::Rules;
use super::snapshot::{Work, look_older};
use super::tracked::{Staged, Tracked};
use super::witness::{Since, Witness};
use super::{GitPath, Repo, Result};
use crate::walk::{Look, Stamp};

/// What this process knows of the working tree since its last look. The index is written to the disk when it is let go:
/// it only saves time.
pub(super) struct Held {
    /// A handle whose index is ours.
    pub(super) git: Repository,
    pub(super) tree: Oid,
    pub(super) untracked: BTreeSet<Vec<u8>>,
    /// `None` if the next look must be at everything.
    pub(super) witness: Option<Witness>,
    /// The user's index by then.
    tracked: Option<Stamp>,
    /// The rules outside of the working tree by then.
    rules: Rules,
    looked: SystemTime,
    unsaved: bool,
}

/// A look that was begun before, and what was written since.
#[derive(Default)]
pub(super) struct Begun<'a> {
    pub(super) look: Option<Look>,
    pub(super) written: &'a [GitPath],
}

impl Held {
    /// Looks at everything.
    pub(super) fn anew(repo: &Repo) -> Result<Self> {
        let git = repo.fresh()?;
        let mut index = repo.private_index()?;
        if repo.kept_tree().is_none() {
            index.clear().doing("empty our index")?;
        }
        git.set_index(&mut index).doing("use our index")?;
        let (before, looked, rules) = (written(&index), SystemTime::now(), Rules::outside(&git)?);
        let tracked = Tracked::read(repo)?;
        let mut work = Work { repo, git, index, untracked: BTreeSet::new(), sparse: BTreeSet::new(), touched: false };
        work.adopt(&tracked)?;
        let witness = Witness::look(&repo.root, &work.git, &work.index)?;
        work.refresh()?;
        let tree = work.write(before)?;
        let witness = witness.filter(|_| work.sparse.is_empty() && tracked.stamp.is_some());
        let Work { git, untracked, .. } = work;
        Ok(Self { git, tree, untracked, witness, tracked: tracked.stamp, rules, looked, unsaved: false })
    }

    /// Looks at the times of everything, and into what may have changed. `None` if that will not do.
    pub(super) fn again(mut self, repo: &Repo, begun: Begun<'_>) -> Result<Option<Self>> {
        let fresh = repo.fresh()?;
        let looked = begun.look.as_ref().map_or_else(SystemTime::now, Look::moment);
        let same = repo.kept_tree() == Some(self.tree)
            && Stamp::at(&repo.git.path().join("index")) == self.tracked
            && Rules::outside(&fresh)? == self.rules;
        let since = match self.witness.as_mut().filter(|_| same) {
            Some(witness) => witness.look_again(&repo.root, &fresh, begun.look, begun.written)?,
            None => Since::Much,
        };
        let Since::Files(changed) = since else {
            self.save(repo)?;
            return Ok(None);
        };
        self.looked = looked;
        if changed.is_empty() {
            return Ok(Some(self));
        }
        let entries = self.take_over(repo, fresh, &changed)?;
        self.tree = repo.tree_with(&TreeId(self.tree.to_string()), &entries)?;
        self.unsaved = true;
        repo.keep_tree(self.tree)?;
        Ok(Some(self))
    }

    /// Reads these files, whatever their times say; answers with what they are in our index afterwards.
    fn take_over(&mut self, repo: &Repo, git: Repository, changed: &[Vec<u8>]) -> Result<Vec<Staged>> {
        let mut index = self.git.index().doing("use our index")?;
        git.set_index(&mut index).doing("use our index")?;
        let untracked = std::mem::take(&mut self.untracked);
        let mut work = Work { repo, git, index, untracked, sparse: BTreeSet::new(), touched: false };
        work.apply(changed)?;
        let entry = |path: &Vec<u8>| (GitPath::from_git(path), work.index.get_path(as_path(path), 0));
        let entries = changed.iter().map(entry).collect();
        // The index must have one owner that stays.
        self.git = work.git;
        self.untracked = work.untracked;
        Ok(entries)
    }

    /// Writes our index to the disk for the next process, unless another one has been there since.
    fn save(&mut self, repo: &Repo) -> Result<()> {
        if !self.unsaved || repo.kept_tree() != Some(self.tree) {
            return Ok(());
        }
        self.unsaved = false;
        let mut index = self.git.index().doing("use our index")?;
        index.write().doing("write our index")?;
        look_older(&index, self.looked)?;
        // What is ignored may have changed since that look.
        self.rules.forgetting_ignored().remember(repo)
    }
}

impl Repo {
    /// What our index knows of a file, and when it was last looked at; from the disk if this process has not looked yet.
    pub(super) fn seen(&self) -> Result<(Index, Option<SystemTime>)> {
        let held = self.held.borrow();
        if let Some(held) = held.as_ref() {
            return Ok((held.git.index().doing("use our index")?, Some(held.looked)));
        }
        let index = self.private_index()?;
        let time = written(&index);
        Ok((index, time))
    }

    /// Notes that these paths of the user's index were committed by us; it is another file since.
    pub(super) fn note_committed(&self, paths: &[Staged], before: Option<Stamp>, after: Option<Stamp>) {
        self.note_tracked(paths, before, after);
        let held = RefMut::filter_map(self.held.borrow_mut(), Option::as_mut);
        if let Ok(mut held) = held
            && before.is_some()
            && held.tracked == before
        {
            held.tracked = after;
            for (path, _) in paths {
                held.untracked.remove(path.as_bytes());
            }
        }
    }

    /// Leaves what this process knows of the working tree for the next one.
    pub(super) fn let_go(&self) -> Result<()> {
        match self.held.take().filter(|held| held.unsaved) {
            Some(mut held) => {
                let _lock = self.lock_private()?;
                held.save(self)
            }
            None => Ok(()),
        }
    }

    /// The tree of the last call, if nobody removed its anchor: only then are the objects of our index safe.
    pub(super) fn kept_tree(&self) -> Option<Oid> {
        self.git.refname_to_id(&self.tree_ref()).ok()
    }

    pub(super) fn keep_tree(&self, tree: Oid) -> Result<()> {
        if self.kept_tree() == Some(tree) {
            return Ok(());
        }
        let name = self.tree_ref();
        let anchor = || self.git.reference(&name, tree, /* force */ true, "the working tree as it was last seen");
        let anchored = match anchor() {
            // We hold our own lock, so nobody else of ours is at work here: a kill left this one behind.
            Err(error) if error.code() == git2::ErrorCode::Locked => {
                drop(fs::remove_file(self.git.commondir().join(format!("{name}.lock"))));
                anchor()
            }
            anchored => anchored,
        };
        anchored.doing("anchor the tree").map(drop)
    }

    /// Each working tree of a repository has its own.
    pub(super) fn tree_ref(&self) -> String {
        let name = self.git.path().file_name().filter(|_| self.git.is_worktree());
        match name {
            Some(name) => format!("refs/tdd/trees/worktrees/{}", name.to_string_lossy()),
            None => "refs/tdd/trees/main".to_owned(),
        }
    }
}
