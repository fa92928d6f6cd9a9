//! Reads HEAD, the commit messages behind it, and diffs as text.

use git2::{DiffFormat, DiffOptions, ErrorCode, Oid, Tree};
use tdd_core::digest::{CommitId, TreeId};
use tdd_core::program;

use super::error::Doing;
use super::{GitError, Repo, Result};

pub use tdd_core::seam::Head;

impl Repo {
    /// HEAD's commit, branch and tree at the moment.
    pub fn head(&self) -> Result<Head> {
        let reference = self.git.find_reference("HEAD").doing("read HEAD")?;
        let branch = reference.symbolic_target_bytes().map(branch_name);
        let commit = self.head_id()?;
        let tree = self.tree_of(commit)?.id();
        Ok(Head { commit: commit.map(commit_id), branch, tree: TreeId(tree.to_string()) })
    }

    /// The message of HEAD's commit; `None` if the branch has no commit.
    pub fn last_message(&self) -> Result<Option<String>> {
        self.first_parent_messages(1)?.next().map(|found| found.map(|(_, message)| message)).transpose()
    }

    /// Commits and their messages from HEAD along the first parents, newest first, at most `limit`.
    pub fn first_parent_messages(&self, limit: usize) -> Result<FirstParents<'_>> {
        Ok(FirstParents { repo: self, next: self.head_id()?, left: limit })
    }

    /// HEAD's commit against its first parent, as a unified diff of at most about `max_bytes`.
    ///
    /// Binary files are only named. If anything was cut, the last line says how much. Files in `.autoloop/`, which
    /// models must not see, are left out.
    pub fn last_diff(&self, max_bytes: usize) -> Result<String> {
        let Some(head) = self.head_id()? else { return Ok(String::new()) };
        let commit = self.git.find_commit(head).doing("read HEAD's commit")?;
        let old = self.tree_of(commit.parent_id(0).ok())?;
        let new = commit.tree().doing("read HEAD's tree")?;
        self.unified(&old, &new, max_bytes, |path| !program::is_ours(path))
    }

    /// The unified diff of two trees, cut at about `max_bytes` like [`Repo::last_diff`].
    pub fn diff(&self, before: &TreeId, after: &TreeId, max_bytes: usize) -> Result<String> {
        self.unified(&self.tree(before)?, &self.tree(after)?, max_bytes, |_| true)
    }

    fn unified(
        &self,
        old: &Tree<'_>,
        new: &Tree<'_>,
        max_bytes: usize,
        is_shown: impl Fn(&str) -> bool,
    ) -> Result<String> {
        let mut options = DiffOptions::new();
        let diff = self.compare(old, new, &mut options)?;
        let mut text = Capped { bytes: Vec::new(), max: max_bytes, total: 0 };
        diff.print(DiffFormat::Patch, |delta, _, line| {
            let files = [delta.old_file().path(), delta.new_file().path()];
            if files.into_iter().flatten().any(|path| !is_shown(&path.to_string_lossy())) {
                return true;
            }
            if matches!(line.origin(), '+' | '-' | ' ') {
                text.push(&[line.origin() as u8]);
            }
            text.push(line.content());
            true
        })
        .doing("write the diff")?;
        Ok(text.finish())
    }

    pub(super) fn head_id(&self) -> Result<Option<Oid>> {
        match self.git.refname_to_id("HEAD") {
            Ok(id) => Ok(Some(id)),
            Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
            Err(error) => Err(error).doing("read HEAD"),
        }
    }

    /// A commit's tree; the empty tree for `None`.
    pub(super) fn tree_of(&self, commit: Option<Oid>) -> Result<Tree<'_>> {
        let Some(commit) = commit else {
            let empty = self.git.treebuilder(None).and_then(|builder| builder.write()).doing("write the empty tree")?;
            return self.git.find_tree(empty).doing("read the empty tree");
        };
        self.git.find_commit(commit).and_then(|commit| commit.tree()).doing("read a commit's tree")
    }

    pub(super) fn tree(&self, id: &TreeId) -> Result<Tree<'_>> {
        self.git.find_tree(oid(&id.0)?).doing("read a tree")
    }
}

pub(super) fn oid(hex: &str) -> Result<Oid> {
    Oid::from_str(hex).map_err(|_| GitError::NotAnId(hex.to_owned()))
}

pub(super) fn commit_id(id: Oid) -> CommitId {
    CommitId(id.to_string())
}

fn branch_name(target: &[u8]) -> String {
    String::from_utf8_lossy(target.strip_prefix(b"refs/heads/").unwrap_or(target)).into_owned()
}

/// Iterates over the commits from HEAD along the first parents.
pub struct FirstParents<'repo> {
    repo: &'repo Repo,
    next: Option<Oid>,
    left: usize,
}

impl Iterator for FirstParents<'_> {
    type Item = Result<(CommitId, String)>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let id = self.next.take()?;
        match self.repo.git.find_commit(id) {
            Ok(commit) => {
                self.next = commit.parent_id(0).ok();
                Some(Ok((commit_id(id), String::from_utf8_lossy(commit.message_bytes()).into_owned())))
            }
            Err(error) => Some(Err(error).doing("read the history")),
        }
    }
}

/// Collects bytes up to a limit and counts all of them.
struct Capped {
    bytes: Vec<u8>,
    max: usize,
    total: usize,
}

impl Capped {
    fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len();
        let room = self.max.saturating_sub(self.bytes.len());
        self.bytes.extend(bytes.iter().take(room));
    }

    fn finish(self) -> String {
        let cut = self.total > self.bytes.len();
        let kept = if cut { whole_chars(&self.bytes) } else { &self.bytes };
        let text = String::from_utf8_lossy(kept).into_owned();
        if !cut {
            return text;
        }
        let newline = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        format!("{text}{newline}[{} of {} bytes left out]\n", self.total - kept.len(), self.total)
    }
}

/// Drops a trailing character that the cut split.
fn whole_chars(bytes: &[u8]) -> &[u8] {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => &bytes[..error.valid_up_to()],
        Ok(_) | Err(_) => bytes,
    }
}
