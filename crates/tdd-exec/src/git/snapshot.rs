//! The working tree as a git tree, through a private index that remembers file times between calls.
//!
//! The id is what `git add -A && git write-tree` would give, with these differences: filter programs do not run,
//! submodules keep the commit that the user's index names, other repositories inside this one are left out, and so
//! is our own state in `.tdd/`.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;
use std::time::SystemTime;

use git2::{Delta, Diff, DiffDelta, DiffOptions, FileMode, Index, Oid, Repository, RepositoryOpenFlags};
use tdd_core::digest::TreeId;

use super::error::{Doing, DoingIo};
use super::held::{Begun, Held};
use super::path::as_path;
use super::private::{PrivateLock, RACY_MARGIN, portable, without_times, written};
use super::rules::Rules;
use super::tracked::{Tracked, copy, find, sorted};
use super::witness::is_ignored;
use super::{GitError, GitPath, Repo, Result};
use crate::walk::Look;

/// Git's mode of a submodule.
pub(super) const GITLINK: u32 = 0o160_000;

impl Repo {
    /// The id of the working tree as it is: tracked and untracked files, without the ignored ones.
    ///
    /// All its content is in the object database afterwards, and safe from `git gc` until the next call.
    pub fn tree_id(&self) -> Result<TreeId> {
        Ok(Snapshot::take(self)?.tree)
    }

    /// Begins to look at the working tree, while something else is done that does not write to it.
    pub fn begin_look(&self) -> Option<Look> {
        self.held.borrow().as_ref()?.witness.as_ref()?.begin(&self.root)
    }

    /// The id of the working tree as that look saw it, with these paths as they are now; without a look, as it is.
    pub fn tree_id_since(&self, look: Option<Look>, written: &[GitPath]) -> Result<TreeId> {
        Ok(Snapshot::since(self, Begun { look, written })?.tree)
    }

    /// Lets go of the last tree, so that no ref leads to files that are nobody's business; the next call reads
    /// every file anew.
    pub fn forget_tree(&self) -> Result<()> {
        let _lock = self.lock_private()?;
        match self.git.find_reference(&self.tree_ref()) {
            Ok(mut anchor) => anchor.delete().doing("let go of the tree"),
            Err(_) => Ok(()),
        }
    }
}

/// The private index, brought up to date with the working tree.
pub(super) struct Snapshot {
    pub(super) tree: TreeId,
    pub(super) index: Index,
    /// Paths that the user's index does not have.
    pub(super) untracked: BTreeSet<Vec<u8>>,
    _lock: PrivateLock,
}

impl Snapshot {
    /// Looks at every file's times, reads those that may have changed.
    pub(super) fn take(repo: &Repo) -> Result<Self> {
        Self::since(repo, Begun::default())
    }

    fn since(repo: &Repo, begun: Begun<'_>) -> Result<Self> {
        let lock = repo.lock_private()?;
        // What goes wrong on the way leaves nothing to rely on.
        let last = repo.held.take();
        let held = match last.map(|held| held.again(repo, begun)).transpose()?.flatten() {
            Some(held) => held,
            None => Held::anew(repo)?,
        };
        let index = held.git.index().doing("use our index")?;
        let tree = TreeId(held.tree.to_string());
        let untracked = held.untracked.clone();
        repo.held.replace(Some(held).filter(|held| held.witness.is_some()));
        Ok(Self { tree, index, untracked, _lock: lock })
    }
}

fn exists(repo: &Repo, path: &[u8]) -> bool {
    repo.root.join(as_path(path)).symlink_metadata().is_ok()
}

/// The private index while it is being brought up to date.
pub(super) struct Work<'repo> {
    pub(super) repo: &'repo Repo,
    pub(super) git: Repository,
    pub(super) index: Index,
    pub(super) untracked: BTreeSet<Vec<u8>>,
    pub(super) sparse: BTreeSet<Vec<u8>>,
    pub(super) touched: bool,
}

impl Work<'_> {
    /// Puts into our index what it lacks of the user's; what only ours has is untracked.
    pub(super) fn adopt(&mut self, tracked: &Tracked) -> Result<()> {
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
                self.index.add(&portable(copy(entry), tracked.written)).doing_at("take over", &entry.path)?;
            }
        }
        self.sparse = tracked.skipped.iter().filter(|path| !exists(self.repo, path)).cloned().collect();
        Ok(())
    }

    pub(super) fn refresh(&mut self) -> Result<()> {
        let (before, now) = (Rules::remembered(self.repo), self.rules()?);
        if before.as_ref().is_none_or(|before| before.ignoring != now.ignoring) {
            self.drop_ignored()?;
        }
        let conversion_changed = before.is_some_and(|before| before.converting != now.converting);
        let attributes_changed = self.apply_changes(None)?;
        if conversion_changed || attributes_changed {
            self.forget_times()?;
            self.apply_changes(None)?;
        }
        Ok(())
    }

    /// A path that we took while it was not ignored may be so by now.
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

    /// Takes over all that differs on disk, or of these paths alone; says whether an attributes file was among it.
    pub(super) fn apply_changes(&mut self, only: Option<&[Vec<u8>]>) -> Result<bool> {
        let changes = Changes::of(&self.changed(only)?)?;
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

    /// The same for a few paths, each by itself: a comparison goes through the whole index, however few are asked for.
    pub(super) fn apply(&mut self, paths: &[Vec<u8>]) -> Result<()> {
        let states = paths.iter().map(|path| self.state(path)).collect::<Option<Vec<_>>>();
        let Some(states) = states.filter(|_| !self.folds_case()) else { return self.compare(paths) };
        for (path, (is_known, is_there)) in paths.iter().zip(states) {
            match (is_known, is_there) {
                (true, true) => self.add(path)?,
                (true, false) => self.remove(path)?,
                (false, true) if !is_ignored(&self.git, as_path(path))? => {
                    self.add(path)?;
                    self.untracked.insert(path.clone());
                }
                (false, true | false) => {}
            }
        }
        Ok(())
    }

    /// Reads these files, whatever their times say.
    fn compare(&mut self, paths: &[Vec<u8>]) -> Result<()> {
        for path in paths {
            if let Some(entry) = self.index.get_path(as_path(path), 0) {
                self.index.add(&without_times(entry)).doing_at("look again at", path)?;
            }
        }
        self.apply_changes(Some(paths)).map(drop)
    }

    /// Whether our index has a path, and the disk has a file or a link there; `None` if it is neither so nor nothing.
    fn state(&self, path: &[u8]) -> Option<(bool, bool)> {
        let known = self.index.get_path(as_path(path), 0);
        if known.as_ref().is_some_and(|known| known.mode == GITLINK) {
            return None;
        }
        match self.repo.root.join(as_path(path)).symlink_metadata() {
            Ok(found) => (found.is_file() || found.is_symlink()).then_some((known.is_some(), true)),
            Err(error) if error.kind() == ErrorKind::NotFound => Some((known.is_some(), false)),
            Err(_) => None,
        }
    }

    /// Whether two names may be one file's.
    fn folds_case(&self) -> bool {
        self.git.config().and_then(|config| config.get_bool("core.ignorecase")).unwrap_or(false)
    }

    fn changed(&self, only: Option<&[Vec<u8>]>) -> Result<Diff<'_>> {
        let mut options = DiffOptions::new();
        for path in only.into_iter().flatten() {
            options.pathspec(path.as_slice()).disable_pathspec_match(true);
        }
        options
            .include_untracked(true)
            .recurse_untracked_dirs(true)
            .include_unreadable(true)
            .include_typechange(true)
            .ignore_submodules(true)
            .skip_binary_check(true)
            .update_index(only.is_none());
        self.git.diff_index_to_workdir(Some(&self.index), Some(&mut options)).doing("look at the working tree")
    }

    fn add(&mut self, path: &[u8]) -> Result<()> {
        self.touched = true;
        match self.index.add_path(as_path(path)) {
            Ok(()) => Ok(()),
            // It was there a moment ago: a file that comes and goes is as if it had gone.
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

    /// Another repository is not ours to look into; a `.git` that is none would only hide files.
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

    /// The tree is anchored before the index that relies on its objects is written.
    pub(super) fn write(&mut self, before: Option<SystemTime>) -> Result<Oid> {
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

/// An index is to be as old as the look that it tells of.
pub(super) fn look_older(index: &Index, looked: SystemTime) -> Result<()> {
    let Some(path) = index.path() else { return Ok(()) };
    let older = looked.checked_sub(RACY_MARGIN).unwrap_or(SystemTime::UNIX_EPOCH);
    let file = File::options().append(true).open(path).doing_io("open", path)?;
    file.set_modified(older).doing_io("set the time of", path)
}

/// What differs on disk from the private index, by what is to be done about it.
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
