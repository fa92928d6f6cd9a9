//! The project's repository as the steps use it: an author and a clock beside it.

use tdd_core::config::Author;
use tdd_core::digest::{CommitId, TreeId};
use tdd_core::seam::{Clock, RepoState, Vcs};

use crate::git::{GitError, GitPath, Head, NewCommit, Repo, Signature};

/// A repository, and who commits to it.
#[derive(Clone, Copy, Debug)]
pub struct GitVcs<'a, C> {
    /// The repository.
    pub repo: &'a Repo,
    /// Author and committer.
    pub author: &'a Author,
    /// Tells the time of a commit.
    pub clock: C,
}

impl<C: Clock> Vcs for GitVcs<'_, C> {
    type Error = GitError;
    type Path = GitPath;
    type Head = Head;

    fn read_state(&self, max_diff: usize) -> Result<RepoState, GitError> {
        Ok(RepoState {
            last_commit_message: self.repo.last_message()?.unwrap_or_default(),
            last_diff: self.repo.last_diff(max_diff)?,
            files: self.repo.tree_files(&self.repo.head()?.tree)?.names().clone(),
        })
    }

    fn tree_id(&self) -> Result<TreeId, GitError> {
        self.repo.tree_id()
    }

    fn commit(&self, onto: &Head, tree: &TreeId, paths: &[GitPath], message: &str) -> Result<CommitId, GitError> {
        let author = Signature {
            name: self.author.author_name.clone(),
            email: self.author.author_email.clone(),
            time: i64::try_from(self.clock.now_ms() / 1000).unwrap_or(0),
        };
        self.repo.commit_paths(&NewCommit { onto, from: tree, paths, message, author: &author })
    }

    fn restore(&self, tree: &TreeId, paths: &[GitPath]) -> Result<(), GitError> {
        self.repo.restore(paths, tree)
    }
}
