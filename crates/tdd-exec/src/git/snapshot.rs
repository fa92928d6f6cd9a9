//! Writes the working tree as a git tree, using a private index that caches file times between calls.
//!
//! The id is what `git add -A && git write-tree` would give, except that filter programs do not run, submodules keep
//! the commit in the user's index, and nested repositories and our state in `.tdd/` are left out.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::Path;
use std::time::SystemTime;

use git2::{Delta, Diff, DiffDelta, DiffOptions, FileMode, Index, Oid, Repository, RepositoryOpenFlags};
use tdd_core::digest::TreeId;

use super::error::{Doing, DoingIo};
use super::look::{FileTimes, Look};
use super::path::as_path;
use super::private::{PrivateLock, RACY_MARGIN, modified, portable, without_times, written};
use super::rules::{Rules, is_ignored};
use super::tracked::{Tracked, copy, find, sorted};
use super::{GitError, GitPath, Repo, Result};

/// Git's mode for a submodule.
pub(super) const GITLINK: u32 = 0o160_000;

impl Repo {
    /// The tree id of the working tree: tracked and untracked files, without ignored ones.
    ///
    /// All its content is in the object database afterwards, and safe from `git gc` until the next call.
    pub fn tree_id(&self) -> Result<TreeId> {
        let ours = self.lock_private()?;
        // Taken out, so that an error leaves no outdated look behind.
        let last = self.last_look.take();
        let Some(look) = last.map(|last| last.refresh(self)).transpose()?.flatten() else {
            return Ok(Snapshot::take_with(self, ours)?.tree);
        };
        let tree = look.tree.clone();
        self.last_look.replace(Some(look));
        Ok(tree)
    }

    /// Deletes the ref to the last tree, so that no ref leads to files the user did not commit. The next call reads
    /// every file again.
    pub fn forget_tree(&self) -> Result<()> {
        let _lock = self.lock_private()?;
        match self.git.find_reference(&self.tree_ref()) {
            Ok(mut anchor) => anchor.delete().doing("let go of the tree"),
            Err(_) => Ok(()),
        }
    }

    /// The tree of the last call, if its ref still exists: only then are the objects of our index safe.
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
            // We hold our own lock, so a killed process left this ref lock.
            Err(error) if error.code() == git2::ErrorCode::Locked => {
                drop(fs::remove_file(self.git.commondir().join(format!("{name}.lock"))));
                anchor()
            }
            anchored => anchored,
        };
        anchored.doing("anchor the tree").map(drop)
    }

    /// The ref of the last tree; each worktree of a repository has its own.
    pub(super) fn tree_ref(&self) -> String {
        let name = self.git.path().file_name().filter(|_| self.git.is_worktree());
        match name {
            Some(name) => format!("refs/tdd/trees/worktrees/{}", name.to_string_lossy()),
            None => "refs/tdd/trees/main".to_owned(),
        }
    }
}

/// The private index after an update from the working tree.
pub(super) struct Snapshot {
    pub(super) tree: TreeId,
    pub(super) index: Index,
    /// Paths that are not in the user's index.
    pub(super) untracked: BTreeSet<Vec<u8>>,
    _lock: PrivateLock,
}

impl Snapshot {
    /// Compares every file's times with our index, and reads the files that may have changed.
    pub(super) fn take(repo: &Repo) -> Result<Self> {
        let lock = repo.lock_private()?;
        Self::take_with(repo, lock)
    }

    fn take_with(repo: &Repo, lock: PrivateLock) -> Result<Self> {
        let git = repo.fresh()?;
        let mut index = repo.private_index()?;
        if repo.kept_tree().is_none() {
            index.clear().doing("empty our index")?;
        }
        git.set_index(&mut index).doing("use our index")?;
        let before = written(&index);
        let mut work = Work { repo, git, index, untracked: BTreeSet::new(), sparse: BTreeSet::new(), touched: false };
        let user_index_written = modified(&repo.git.path().join("index"));
        let tracked = Tracked::read(repo)?;
        work.adopt(&tracked, user_index_written)?;
        // List before comparing: the next look then notices changes made in between.
        let listed = FileTimes::take(repo, &work.git, &work.index)?;
        work.refresh()?;
        let tree = TreeId(work.write(before)?.to_string());
        let listed = listed.filter(|_| work.sparse.is_empty() && is_plain(&work.git));
        repo.last_look.replace(listed.map(|listed| Look::new(&tree, &tracked, &work.git, listed)).transpose()?);
        Ok(Self { tree, index: work.index, untracked: work.untracked, _lock: lock })
    }
}

/// Whether names, modes and links on disk are exactly those of the tree.
fn is_plain(git: &Repository) -> bool {
    let set = |name: &str| git.config().and_then(|config| config.get_bool(name)).ok();
    set("core.ignorecase") != Some(true) && set("core.filemode") != Some(false) && set("core.symlinks") != Some(false)
}

fn exists(repo: &Repo, path: &[u8]) -> bool {
    repo.root.join(as_path(path)).symlink_metadata().is_ok()
}

/// The private index during an update.
struct Work<'repo> {
    repo: &'repo Repo,
    git: Repository,
    index: Index,
    untracked: BTreeSet<Vec<u8>>,
    sparse: BTreeSet<Vec<u8>>,
    touched: bool,
}

impl Work<'_> {
    /// Adds to our index the user's entries that it lacks; entries that only ours has are untracked.
    fn adopt(&mut self, tracked: &Tracked, written: Option<SystemTime>) -> Result<()> {
        let ours = sorted(&self.index);
        let ours_only = ours.iter().filter(|entry| find(&tracked.entries, &entry.path).is_none());
        self.untracked.extend(ours_only.map(|entry| entry.path.clone()));
        for entry in &tracked.entries {
            let missing = match find(&ours, &entry.path) {
                None => true,
                Some(known) => entry.mode == GITLINK && (known.mode, known.id) != (entry.mode, entry.id),
            };
            if missing {
                self.touched = true;
                self.index.add(&portable(copy(entry), written)).doing_at("take over", &entry.path)?;
            }
        }
        self.sparse = tracked.skipped.iter().filter(|path| !exists(self.repo, path)).cloned().collect();
        Ok(())
    }

    fn refresh(&mut self) -> Result<()> {
        let (before, now) = (Rules::remembered(self.repo), self.rules()?);
        if before.as_ref().is_none_or(|before| before.ignoring != now.ignoring) {
            self.drop_ignored()?;
        }
        let conversion_changed = before.is_some_and(|before| before.converting != now.converting);
        let attributes_changed = self.apply_changes()?;
        if conversion_changed || attributes_changed {
            self.forget_times()?;
            self.apply_changes()?;
        }
        Ok(())
    }

    /// Removes untracked paths that are ignored by the current rules.
    fn drop_ignored(&mut self) -> Result<()> {
        let mut ignored = Vec::new();
        for path in &self.untracked {
            if is_ignored(&self.git, as_path(path))? {
                ignored.push(path.clone());
            }
        }
        for path in ignored {
            self.remove(&path)?;
        }
        Ok(())
    }

    /// Adds everything that differs on disk to our index; returns whether an attributes file differed.
    fn apply_changes(&mut self) -> Result<bool> {
        let changes = Changes::of(&self.changed()?)?;
        let mut attributes = false;
        for path in changes.gone {
            attributes |= is_attributes(&path);
            if !self.sparse.contains(&path) {
                self.remove(&path)?;
            }
        }
        for path in changes.nested {
            self.check_nested(&path)?;
        }
        for path in changes.present {
            attributes |= is_attributes(&path);
            self.add(&path)?;
        }
        for path in changes.untracked {
            attributes |= is_attributes(&path);
            self.add(&path)?;
            self.untracked.insert(path);
        }
        Ok(attributes)
    }

    fn changed(&self) -> Result<Diff<'_>> {
        let mut options = DiffOptions::new();
        options
            .include_untracked(true)
            .recurse_untracked_dirs(true)
            .include_unreadable(true)
            .include_typechange(true)
            .ignore_submodules(true)
            .skip_binary_check(true)
            .update_index(true);
        self.git.diff_index_to_workdir(Some(&self.index), Some(&mut options)).doing("look at the working tree")
    }

    fn add(&mut self, path: &[u8]) -> Result<()> {
        self.touched = true;
        match self.index.add_path(as_path(path)) {
            Ok(()) => Ok(()),
            // The file vanished in the meantime: treat it as deleted.
            Err(_) if !exists(self.repo, path) => self.remove(path),
            Err(_) if File::open(self.repo.root.join(as_path(path))).is_err() => {
                Err(GitError::Unreadable { path: GitPath::from_git(path) })
            }
            Err(error) => Err(error).doing_at("take over", path),
        }
    }

    fn remove(&mut self, path: &[u8]) -> Result<()> {
        self.touched = true;
        self.untracked.remove(path);
        self.index.remove(as_path(path), 0).doing_at("leave out", path)
    }

    /// Skips a nested repository; rejects a `.git` that is not one, because git would hide the files beside it.
    fn check_nested(&self, path: &[u8]) -> Result<()> {
        let no_ceiling: [&Path; 0] = [];
        let dir = self.repo.root.join(as_path(path));
        match Repository::open_ext(dir, RepositoryOpenFlags::NO_SEARCH, no_ceiling) {
            Err(error) if error.code() != git2::ErrorCode::Owner => {
                let path = path.strip_suffix(b"/").unwrap_or(path);
                Err(GitError::BrokenNested { path: GitPath::from_git(path) })
            }
            Ok(_) | Err(_) => Ok(()),
        }
    }

    fn forget_times(&mut self) -> Result<()> {
        self.touched = true;
        let entries: Vec<_> = self.index.iter().collect();
        for entry in entries {
            let path = entry.path.clone();
            self.index.add(&without_times(entry)).doing_at("look again at", &path)?;
        }
        Ok(())
    }

    /// Anchors the tree before writing the index, because the index relies on the tree's objects.
    fn write(&mut self, before: Option<SystemTime>) -> Result<Oid> {
        let tree = self.index.write_tree().doing("write the tree")?;
        self.repo.keep_tree(tree)?;
        if self.touched {
            self.index.write().doing("write our index")?;
        }
        if let Some(now) = written(&self.index).filter(|now| Some(*now) != before) {
            look_older(&self.index, now)?;
        }
        self.rules()?.remember(self.repo)?;
        Ok(tree)
    }

    fn rules(&self) -> Result<Rules> {
        Rules::of(self.repo, &self.git, &self.untracked)
    }
}

/// Backdates the index file by the racy margin, so that it is not newer than the comparison it records.
fn look_older(index: &Index, looked: SystemTime) -> Result<()> {
    let Some(path) = index.path() else { return Ok(()) };
    let older = looked.checked_sub(RACY_MARGIN).unwrap_or(SystemTime::UNIX_EPOCH);
    let file = File::options().append(true).open(path).doing_io("open", path)?;
    file.set_modified(older).doing_io("set the time of", path)
}

/// The differences between disk and private index, by how they are handled.
#[derive(Default)]
struct Changes {
    gone: Vec<Vec<u8>>,
    present: Vec<Vec<u8>>,
    untracked: Vec<Vec<u8>>,
    nested: Vec<Vec<u8>>,
}

impl Changes {
    fn of(diff: &Diff<'_>) -> Result<Self> {
        let mut changes = Self::default();
        for delta in diff.deltas() {
            changes.sort_in(&delta)?;
        }
        Ok(changes)
    }

    fn sort_in(&mut self, delta: &DiffDelta<'_>) -> Result<()> {
        let path = delta.new_file().path_bytes().or_else(|| delta.old_file().path_bytes()).unwrap_or_default();
        let is_repository = matches!(delta.new_file().mode(), FileMode::Commit | FileMode::Tree);
        match delta.status() {
            Delta::Untracked if is_repository => self.nested.push(path.to_owned()),
            Delta::Untracked => self.untracked.push(path.to_owned()),
            Delta::Deleted => self.gone.push(path.to_owned()),
            Delta::Typechange if is_repository => self.gone.push(path.to_owned()),
            Delta::Modified if is_repository => {}
            Delta::Added | Delta::Modified | Delta::Typechange | Delta::Conflicted => {
                self.present.push(path.to_owned());
            }
            Delta::Unreadable => return Err(GitError::Unreadable { path: GitPath::from_git(path) }),
            Delta::Unmodified | Delta::Ignored | Delta::Renamed | Delta::Copied => {}
        }
        Ok(())
    }
}

fn is_attributes(path: &[u8]) -> bool {
    path == b".gitattributes" || path.ends_with(b"/.gitattributes")
}
