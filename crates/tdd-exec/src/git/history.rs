//! Finds commits by what people call them.

use git2::ErrorCode;
use tdd_core::digest::{CommitId, TreeId};

use super::error::Doing;
use super::head::{commit_id, oid};
use super::{GitError, Repo, Result};

impl Repo {
    /// The commit that a person calls `rev`: a branch, a tag, an id, `HEAD^`; `None` if there is none.
    pub fn resolve(&self, rev: &str) -> Result<Option<CommitId>> {
        match self.git.revparse_single(rev).and_then(|found| found.peel_to_commit()) {
            Ok(commit) => Ok(Some(commit_id(commit.id()))),
            Err(error) if is_unknown(error.code()) => Ok(None),
            Err(source) => Err(GitError::Git { operation: "look the revision up", source }),
        }
    }

    /// A commit's first parent; `None` for a first commit.
    pub fn first_parent(&self, commit: &CommitId) -> Result<Option<CommitId>> {
        let found = self.git.find_commit(oid(&commit.0)?).doing("read a commit")?;
        Ok(found.parent_id(0).ok().map(commit_id))
    }

    /// The tree of a commit; that of no commit is empty.
    pub fn commit_tree(&self, commit: Option<&CommitId>) -> Result<TreeId> {
        let id = commit.map(|commit| oid(&commit.0)).transpose()?;
        Ok(TreeId(self.tree_of(id)?.id().to_string()))
    }
}

fn is_unknown(code: ErrorCode) -> bool {
    matches!(code, ErrorCode::NotFound | ErrorCode::InvalidSpec | ErrorCode::Ambiguous | ErrorCode::Peel)
}
