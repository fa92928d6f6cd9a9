//! A branch for the machine's own files: read and committed without a checkout, and moved only from the commit it was
//! last seen at.

use git2::{BranchType, ErrorCode, Index, ObjectType};
use tdd_core::digest::CommitId;

use super::commit::entry;
use super::error::Doing;
use super::head::{commit_id, oid};
use super::moving::Move;
use super::{GitError, GitPath, Repo, Result, Signature};

/// How one commit relates to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lineage {
    /// They are the same commit.
    Same,
    /// The first is an ancestor of the second.
    Behind,
    /// The second is an ancestor of the first.
    Ahead,
    /// Neither is an ancestor of the other.
    Diverged {
        /// The commits that only the first has, oldest first.
        ours: Vec<CommitId>,
    },
}

impl Repo {
    /// A branch's commit; `None` if the branch does not exist.
    pub fn branch(&self, name: &str) -> Result<Option<CommitId>> {
        match self.git.find_branch(name, BranchType::Local) {
            Ok(found) => Ok(found.get().target().map(commit_id)),
            Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
            Err(error) => Err(error).doing("read a branch"),
        }
    }

    /// A text file in a commit; `None` if it does not exist.
    pub fn text_of(&self, commit: &CommitId, path: &str) -> Result<Option<String>> {
        let tree = self.commit_tree(Some(commit))?;
        let found = self.blob(&tree, &GitPath::new(path)?)?;
        Ok(found.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// Makes a commit that adds these files to its parent's. Moves no branch and touches no index or file.
    pub fn commit_aside(
        &self,
        parent: Option<&CommitId>,
        files: &[(String, String)],
        message: &str,
        author: &Signature,
    ) -> Result<CommitId> {
        let parent = parent.map(|id| oid(&id.0)).transpose()?;
        let mut index = Index::new().doing("make an index")?;
        index.read_tree(&self.tree_of(parent)?).doing("read the branch's tree")?;
        for (path, text) in files {
            let path = GitPath::new(path)?;
            let blob = self.git.blob(text.as_bytes()).doing("write a file of the branch")?;
            index.add(&entry(&path, blob, 0o100_644)).doing_at("add", path.as_bytes())?;
        }
        let tree = index.write_tree_to(&self.git).doing("write the branch's tree")?;
        self.write_commit(tree, parent, message, author).map(commit_id)
    }

    /// Moves a branch from `from` to `to`; `false` if the branch is not at `from`.
    pub fn move_branch(&self, name: &str, from: Option<&CommitId>, to: &CommitId) -> Result<bool> {
        let head = self.head()?;
        if head.branch.as_deref() == Some(name) {
            return Err(GitError::CheckedOut { branch: name.to_owned() });
        }
        let full = format!("refs/heads/{name}");
        let (from, to) = (from.map(|id| oid(&id.0)).transpose()?, oid(&to.0)?);
        let _ours = self.lock_private()?;
        self.move_ref(&Move { name: &full, from, to, log: "program" })
    }

    /// Whether this repository has the commit.
    pub fn has_commit(&self, commit: &CommitId) -> bool {
        let found = oid(&commit.0).ok().and_then(|id| self.git.find_object(id, Some(ObjectType::Commit)).ok());
        found.is_some()
    }

    /// Whether `older` is `newer` or one of its ancestors.
    pub fn leads_to(&self, older: &CommitId, newer: &CommitId) -> Result<bool> {
        let (older, newer) = (oid(&older.0)?, oid(&newer.0)?);
        Ok(older == newer || self.git.graph_descendant_of(newer, older).doing("compare two commits")?)
    }

    /// How `one` relates to `other`.
    pub fn lineage(&self, one: &CommitId, other: &CommitId) -> Result<Lineage> {
        if one == other {
            Ok(Lineage::Same)
        } else if self.leads_to(one, other)? {
            Ok(Lineage::Behind)
        } else if self.leads_to(other, one)? {
            Ok(Lineage::Ahead)
        } else {
            Ok(Lineage::Diverged { ours: self.lacking(one, other)? })
        }
    }

    /// The commits that `one` has and `other` lacks, oldest first.
    pub fn lacking(&self, one: &CommitId, other: &CommitId) -> Result<Vec<CommitId>> {
        let mut walk = self.git.revwalk().doing("walk the history")?;
        walk.set_sorting(git2::Sort::TOPOLOGICAL | git2::Sort::REVERSE).doing("walk the history")?;
        walk.push(oid(&one.0)?).doing("walk the history")?;
        walk.hide(oid(&other.0)?).doing("walk the history")?;
        walk.map(|id| id.map(commit_id).doing("walk the history")).collect()
    }
}
