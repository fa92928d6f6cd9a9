//! Commits exactly the bytes that were tested, and keeps undone attempts as commits under `refs/tdd/attempts/`.

use git2::build::TreeUpdateBuilder;
use git2::{ErrorCode, FileMode, Index, IndexEntry, IndexTime, Oid, RepositoryState, Time, Tree};
use tdd_core::digest::{CommitId, TreeId};

use super::diff::file_kind;
use super::error::Doing;
use super::head::{commit_id, oid};
use super::moving::Move;
use super::snapshot::GITLINK;
use super::tracked::Staged;
use super::{FileKind, GitError, GitPath, Head, Repo, Result};

/// A commit's author, with the time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The author's name.
    pub name: String,
    /// The author's email address.
    pub email: String,
    /// Seconds since 1970, in UTC.
    pub time: i64,
}

/// The commit that [`Repo::commit_paths`] makes.
#[derive(Clone, Copy, Debug)]
pub struct NewCommit<'a> {
    /// HEAD when the step began; if HEAD moved since, nothing is committed.
    pub onto: &'a Head,
    /// The verified tree to take the content from.
    pub from: &'a TreeId,
    /// The paths to take; a path that `from` lacks is deleted.
    pub paths: &'a [GitPath],
    /// The whole message.
    pub message: &'a str,
    /// Author and committer.
    pub author: &'a Signature,
}

impl Repo {
    /// Commits HEAD's tree with the given paths taken from a verified tree, and moves the branch.
    ///
    /// These paths are updated in the user's index; everything else staged there stays staged. No hook runs and nothing
    /// is signed. Commit and index change together or not at all; if the process is killed in between, the next
    /// [`Repo::discover`] repairs it.
    pub fn commit_paths(&self, new: &NewCommit<'_>) -> Result<CommitId> {
        self.refuse_while_unfinished()?;
        let _ours = self.lock_private()?;
        let locked = self.lock_user_index()?;
        let expected = self.expect_head(new.onto)?;
        let entries = self.entries(new.from, new.paths)?;
        let tree = self.tree_with(&new.onto.tree, &entries)?;
        if tree == oid(&new.onto.tree.0)? {
            return Err(GitError::NothingToCommit);
        }
        locked.prepare(&entries)?;
        let commit = self.write_commit(tree, expected, new.message, new.author)?;
        locked.note(commit)?;
        self.move_head(new.onto, expected, commit, new.message)?;
        locked.publish()?;
        Ok(commit_id(commit))
    }

    /// The tree `base`, with only the given paths taken from `from`.
    pub fn composed(&self, base: &TreeId, from: &TreeId, paths: &[GitPath]) -> Result<TreeId> {
        let mut entries = Vec::new();
        for path in paths {
            let (before, after) = (self.blob_entry(base, path)?, self.blob_entry(from, path)?);
            if before.is_some() || after.is_some() {
                entries.push((path.clone(), after));
            }
        }
        Ok(TreeId(self.tree_with(base, &entries)?.to_string()))
    }

    /// Reports what would stop [`Repo::commit_paths`], before anything is written.
    pub fn check_ready_to_commit(&self) -> Result<()> {
        self.refuse_while_unfinished()?;
        let path = self.git.path().join("index.lock");
        if path.symlink_metadata().is_ok() { Err(GitError::IndexLocked { path }) } else { Ok(()) }
    }

    /// Keeps an undone tree as a commit under `refs/tdd/attempts/`; returns the ref's name. No branch, index or file
    /// changes.
    pub fn keep_attempt(
        &self,
        (step, attempt): (u32, u32),
        tree: &TreeId,
        parent: Option<&CommitId>,
        message: &str,
        author: &Signature,
    ) -> Result<String> {
        let parent = parent.map(|id| oid(&id.0)).transpose()?;
        let commit = self.write_commit(oid(&tree.0)?, parent, message, author)?;
        for n in 1_u32.. {
            let name = format!("refs/tdd/attempts/{step}/{attempt}-{n}");
            match self.git.reference(&name, commit, /* force */ false, "an undone attempt") {
                Ok(_) => return Ok(name),
                // A killed process may have left a lock on this name; try the next one.
                Err(error) if matches!(error.code(), ErrorCode::Exists | ErrorCode::Locked) => {}
                Err(error) => return Err(error).doing("keep the attempt"),
            }
        }
        Err(GitError::NotInside(format!("refs/tdd/attempts/{step}/{attempt}")))
    }

    fn refuse_while_unfinished(&self) -> Result<()> {
        let under_way = match self.git.state() {
            RepositoryState::Clean => return Ok(()),
            RepositoryState::Merge => "merge",
            RepositoryState::Revert | RepositoryState::RevertSequence => "revert",
            RepositoryState::CherryPick | RepositoryState::CherryPickSequence => "cherry-pick",
            RepositoryState::Bisect => "bisect",
            RepositoryState::Rebase | RepositoryState::RebaseInteractive | RepositoryState::RebaseMerge => "rebase",
            RepositoryState::ApplyMailbox | RepositoryState::ApplyMailboxOrRebase => "patch series",
        };
        Err(GitError::Unfinished(under_way))
    }

    fn expect_head(&self, onto: &Head) -> Result<Option<Oid>> {
        let found = self.head()?;
        if found != *onto {
            return Err(head_moved(onto, &found));
        }
        onto.commit.as_ref().map(|id| oid(&id.0)).transpose()
    }

    /// What each path is in the verified tree, with its file's times if the file has that very content: without them
    /// `git diff-index` calls the file changed until somebody refreshes the index.
    pub(super) fn entries(&self, from: &TreeId, paths: &[GitPath]) -> Result<Vec<Staged>> {
        let git = self.fresh()?;
        let mut on_disk = Index::new().doing("make an index")?;
        git.set_index(&mut on_disk).doing("use an index in memory")?;
        let mut entries = Vec::new();
        for path in paths {
            let path = GitPath::new(path.as_bytes())?;
            // A file that is gone or cannot be read has no times to give.
            let known = on_disk.add_path(path.as_path()).ok().and_then(|()| on_disk.get_path(path.as_path(), 0));
            let entry = self.blob_entry(from, &path)?.map(|entry| match known {
                Some(known) if (known.id, known.mode) == (entry.id, entry.mode) => known,
                Some(_) | None => entry,
            });
            entries.push((path, entry));
        }
        Ok(entries)
    }

    pub(super) fn blob_entry(&self, tree: &TreeId, path: &GitPath) -> Result<Option<IndexEntry>> {
        let Some(found) = self.entry(tree, path)? else { return Ok(None) };
        match file_kind(found.filemode()) {
            Some(FileKind::Submodule) => Err(GitError::Submodule { path: path.clone() }),
            Some(kind) => Ok(Some(entry(path, found.id(), mode_of(kind)))),
            None => Ok(None),
        }
    }

    pub(super) fn tree_with(&self, base: &TreeId, entries: &[Staged]) -> Result<Oid> {
        let base = self.tree(base)?;
        self.updated(&base, entries).map_or_else(|| self.rebuilt(&base, entries), Ok)
    }

    /// Applies the entries, reading and writing only the folders above them. `None` if a file and a folder swap places;
    /// the caller then rebuilds the tree.
    fn updated(&self, base: &Tree<'_>, entries: &[Staged]) -> Option<Oid> {
        let mut update = TreeUpdateBuilder::new();
        for (path, entry) in entries {
            match entry {
                Some(entry) => update.upsert(path.as_bytes(), entry.id, file_mode(entry.mode)?),
                None if base.get_path(path.as_path()).is_ok() => update.remove(path.as_bytes()),
                None => &mut update,
            };
        }
        update.create_updated(&self.git, base).ok()
    }

    fn rebuilt(&self, base: &Tree<'_>, entries: &[Staged]) -> Result<Oid> {
        let mut index = Index::new().doing("make an index")?;
        index.read_tree(base).doing("read HEAD's tree")?;
        for (path, entry) in entries {
            match entry {
                Some(entry) => index.add(entry).doing_at("add", path.as_bytes())?,
                None => index.remove_path(path.as_path()).doing_at("remove", path.as_bytes())?,
            }
        }
        index.write_tree_to(&self.git).doing("write the commit's tree")
    }

    pub(super) fn write_commit(
        &self,
        tree: Oid,
        parent: Option<Oid>,
        message: &str,
        author: &Signature,
    ) -> Result<Oid> {
        let tree = self.git.find_tree(tree).doing("read the commit's tree")?;
        let parent = parent.map(|id| self.git.find_commit(id)).transpose().doing("read the parent commit")?;
        let parents: Vec<_> = parent.iter().collect();
        let utc = Time::new(author.time, /* offset in minutes */ 0);
        let who = git2::Signature::new(&author.name, &author.email, &utc).doing("name the author")?;
        self.git.commit(/* update no ref */ None, &who, &who, message, &tree, &parents).doing("write the commit")
    }

    /// Moves the branch, or a detached HEAD, to the commit. Git's ref lock makes the move atomic.
    pub(super) fn move_head(&self, onto: &Head, from: Option<Oid>, to: Oid, message: &str) -> Result<()> {
        let name = onto.branch.as_ref().map_or("HEAD".to_owned(), |branch| format!("refs/heads/{branch}"));
        let log = format!("commit: {}", message.lines().next().unwrap_or_default());
        let moved = self.move_ref(&Move { name: &name, from, to, log: &log })?;
        if moved { Ok(()) } else { Err(head_moved(onto, &self.head()?)) }
    }
}

fn file_mode(mode: u32) -> Option<FileMode> {
    match mode {
        0o100_644 => Some(FileMode::Blob),
        0o100_755 => Some(FileMode::BlobExecutable),
        0o120_000 => Some(FileMode::Link),
        _ => None,
    }
}

/// Git's mode bits for a kind of file.
pub(super) fn mode_of(kind: FileKind) -> u32 {
    match kind {
        FileKind::File => 0o100_644,
        FileKind::Executable => 0o100_755,
        FileKind::Symlink => 0o120_000,
        FileKind::Submodule => GITLINK,
    }
}

pub(super) fn entry(path: &GitPath, id: Oid, mode: u32) -> IndexEntry {
    let never = IndexTime::new(0, 0);
    IndexEntry {
        ctime: never,
        mtime: never,
        dev: 0,
        ino: 0,
        mode,
        uid: 0,
        gid: 0,
        file_size: 0,
        id,
        flags: 0,
        flags_extended: 0,
        path: path.as_bytes().to_owned(),
    }
}

fn head_moved(expected: &Head, found: &Head) -> GitError {
    GitError::HeadMoved { expected: show(expected), found: show(found) }
}

fn show(head: &Head) -> String {
    let branch = head.branch.as_deref().unwrap_or("a detached HEAD");
    let commit = head.commit.as_ref().map_or("no commit yet", CommitId::short);
    format!("{commit} on {branch}")
}
