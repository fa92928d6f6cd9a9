//! Implements the [`Vcs`] trait for [`Repo`].

use std::path::Path;

use tdd_core::config::Author;
use tdd_core::digest::{CommitId, TreeId};
use tdd_core::seam::{Head, NewCommit, RepoState, Unclean, Vcs};

use crate::git::{self, ChangeKind, GitError, GitPath, Repo, Signature};

/// How many commits we search for the machine's own.
const HISTORY: usize = 1000;

impl Vcs for Repo {
    type Error = GitError;

    fn init_if_needed(folder: &Path) -> Result<Self, GitError> {
        match Self::discover(folder)? {
            Some(repo) => Ok(repo),
            None => Self::init(folder),
        }
    }

    fn read_state(&self, max_diff: usize) -> Result<RepoState, GitError> {
        Ok(RepoState {
            last_commit_message: self.last_message()?.unwrap_or_default(),
            last_diff: self.last_diff(max_diff)?,
            files: self.tree_files(&self.head()?.tree)?.names().clone(),
        })
    }

    fn head(&self) -> Result<Head, GitError> {
        Self::head(self)
    }

    fn messages(&self) -> Result<Vec<String>, GitError> {
        let messages = self.first_parent_messages(HISTORY)?;
        messages.map(|found| found.map(|(_, message)| message)).collect()
    }

    fn parent(&self, commit: &CommitId) -> Result<Option<CommitId>, GitError> {
        self.first_parent(commit)
    }

    fn stage_all(&self) -> Result<TreeId, GitError> {
        self.tree_id()
    }

    fn changed(&self, before: &TreeId, after: &TreeId) -> Result<Vec<String>, GitError> {
        let mut paths = Vec::new();
        for change in self.diff_trees(before, after)? {
            match &change.kind {
                ChangeKind::Renamed { from } => paths.push(from.to_string()),
                ChangeKind::Added | ChangeKind::Modified | ChangeKind::Deleted => {}
            }
            paths.push(change.path.to_string());
        }
        Ok(paths)
    }

    fn unclean(&self) -> Result<Unclean, GitError> {
        let dirty = self.dirty()?;
        let names = |paths: &[GitPath]| paths.iter().map(ToString::to_string).collect();
        Ok(Unclean { modified: names(&dirty.modified_tracked), untracked: names(&dirty.untracked) })
    }

    fn commit(&self, new: &NewCommit<'_>) -> Result<CommitId, GitError> {
        let paths = git_paths(new.paths)?;
        let author = signature(new.author, new.now_ms);
        let NewCommit { onto, tree, message, .. } = *new;
        self.commit_paths(&git::NewCommit { onto, from: tree, paths: &paths, message, author: &author })
    }
}

/// The author's signature at this time.
pub fn signature(author: &Author, now_ms: u64) -> Signature {
    Signature {
        name: author.author_name.clone(),
        email: author.author_email.clone(),
        time: i64::try_from(now_ms / 1000).unwrap_or(0),
    }
}

/// Converts paths to [`GitPath`]s.
pub fn git_paths(paths: &[String]) -> Result<Vec<GitPath>, GitError> {
    paths.iter().map(GitPath::new).collect()
}

impl Repo {
    /// The user from their git configuration; `None` if it does not name one.
    pub fn person(&self) -> Option<Author> {
        let (name, email) = self.identity()?;
        Some(Author { author_name: name, author_email: email })
    }
}
