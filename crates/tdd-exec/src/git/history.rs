//! Finds commits by revision, ancestry or content.

use std::fs;

use git2::ErrorCode;
use tdd_core::digest::{CommitId, TreeId};

use super::error::{Doing, DoingIo};
use super::head::{commit_id, oid};
use super::{GitError, GitPath, Repo, Result};

impl Repo {
    /// The user's name and email, as git finds them: environment first, then configuration.
    pub(crate) fn identity(&self) -> Option<(String, String)> {
        let config = self.git.config().and_then(|mut config| config.snapshot()).ok()?;
        let find = |variable: &str, key: &str| {
            let value = std::env::var(variable).ok().or_else(|| config.get_string(key).ok());
            value.map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
        };
        Some((find("GIT_AUTHOR_NAME", "user.name")?, find("GIT_AUTHOR_EMAIL", "user.email")?))
    }

    /// The merge base of two commits; `None` if they have no common ancestor.
    pub fn merge_base(&self, one: &CommitId, other: &CommitId) -> Result<Option<CommitId>> {
        match self.git.merge_base(oid(&one.0)?, oid(&other.0)?) {
            Ok(base) => Ok(Some(commit_id(base))),
            Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
            Err(error) => Err(error).doing("find where two histories part"),
        }
    }

    /// The commit that `rev` names (a branch, a tag, an id, `HEAD^`); `None` if there is none.
    pub fn resolve(&self, rev: &str) -> Result<Option<CommitId>> {
        match self.git.revparse_single(rev).and_then(|found| found.peel_to_commit()) {
            Ok(commit) => Ok(Some(commit_id(commit.id()))),
            Err(error) if is_unknown(error.code()) => Ok(None),
            Err(source) => Err(GitError::Git { operation: "look the revision up", source }),
        }
    }

    /// A commit's first parent; `None` for a root commit.
    pub fn first_parent(&self, commit: &CommitId) -> Result<Option<CommitId>> {
        let found = self.git.find_commit(oid(&commit.0)?).doing("read a commit")?;
        Ok(found.parent_id(0).ok().map(commit_id))
    }

    /// The commit that `commit` is compared with: its first parent, if any. An error if a shallow clone left the parent
    /// out.
    pub fn base_of(&self, commit: &CommitId) -> Result<Option<CommitId>> {
        if self.is_cut_off(commit)? {
            return Err(GitError::CutOff { commit: commit.short().to_owned() });
        }
        self.first_parent(commit)
    }

    /// Whether a commit has parents that a shallow clone left out.
    pub fn is_cut_off(&self, commit: &CommitId) -> Result<bool> {
        if !self.git.is_shallow() {
            return Ok(false);
        }
        let path = self.git.commondir().join("shallow");
        let cut = fs::read_to_string(&path).doing_io("read", &path)?;
        Ok(cut.lines().any(|line| line.trim() == commit.0))
    }

    /// A commit's message.
    pub fn message(&self, commit: &CommitId) -> Result<String> {
        let found = self.git.find_commit(oid(&commit.0)?).doing("read a commit")?;
        Ok(String::from_utf8_lossy(found.message_bytes()).into_owned())
    }

    /// The commit that introduced something into a file: the oldest in an unbroken line of first parents, back from
    /// `commit` and at most `limit` long, in which `holds` accepts the file.
    pub fn came_with(
        &self,
        commit: &CommitId,
        path: &GitPath,
        limit: usize,
        holds: impl Fn(&str) -> bool,
    ) -> Result<Option<CommitId>> {
        let mut found = None;
        let mut next = Some(commit.clone());
        let mut last: Option<(Vec<u8>, bool)> = None;
        for _ in 0..limit {
            let Some(commit) = next.take() else { break };
            let Some(content) = self.blob(&self.commit_tree(Some(&commit))?, path)? else { break };
            let holds = match last.take() {
                Some((same, held)) if same == content => held,
                _ => holds(&String::from_utf8_lossy(&content)),
            };
            if !holds {
                break;
            }
            last = Some((content, holds));
            next = self.first_parent(&commit)?;
            found = Some(commit);
        }
        Ok(found)
    }

    /// A commit's tree; the empty tree for `None`.
    pub fn commit_tree(&self, commit: Option<&CommitId>) -> Result<TreeId> {
        let id = commit.map(|commit| oid(&commit.0)).transpose()?;
        Ok(TreeId(self.tree_of(id)?.id().to_string()))
    }
}

fn is_unknown(code: ErrorCode) -> bool {
    matches!(code, ErrorCode::NotFound | ErrorCode::InvalidSpec | ErrorCode::Ambiguous | ErrorCode::Peel)
}
