//! The working tree as a git tree, through a private index that remembers file times between calls.
//!
//! The id is what `git add -A && git write-tree` would give, with these differences: filter programs do not run,
//! submodules keep the commit that the user's index names, other repositories inside this one are left out, and so
//! is our own state in `.tdd/`.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use git2::{Delta, Diff, DiffDelta, DiffOptions, FileMode, Index, IndexEntry, Oid, Repository, RepositoryOpenFlags};
use tdd_core::digest::{Digest, TreeId};

use super::error::{Doing, DoingIo};
use super::path::as_path;
use super::private::{PrivateLock, RACY_MARGIN, portable, without_times, written};
use super::unreadable::{self, folders};
use super::{GitError, GitPath, Repo, Result, is_state};

/// Git's mode of a submodule.
pub(super) const GITLINK: u32 = 0o160_000;

impl Repo {
    /// The id of the working tree as it is: tracked and untracked files, without the ignored ones.
    ///
    /// All its content is in the object database afterwards, and safe from `git gc` until the next call.
    pub fn tree_id(&self) -> Result<TreeId> {
        Ok(Snapshot::take(self)?.tree)
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
        let lock = repo.lock_private()?;
        let git = repo.fresh()?;
        let mut index = repo.private_index()?;
        if repo.kept_tree().is_none() {
            index.clear().doing("empty our index")?;
        }
        git.set_index(&mut index).doing("use our index")?;
        let before = written(&index);
        let tracked = Tracked::read(repo)?;
        let mut work = Work { repo, git, index, untracked: BTreeSet::new(), sparse: BTreeSet::new(), touched: false };
        work.adopt(&tracked)?;
        unreadable::check(&repo.root, &work.git, &work.index)?;
        work.refresh()?;
        let tree = work.write(before)?;
        Ok(Self { tree, index: work.index, untracked: work.untracked, _lock: lock })
    }
}

/// What the user's index says is tracked.
pub(super) struct Tracked {
    entries: Vec<IndexEntry>,
    skipped: Vec<Vec<u8>>,
    written: Option<SystemTime>,
    stamp: Option<Stamp>,
}

/// Which writing of a file this is.
type Stamp = (u64, u64, i64, i64, i64, i64);

impl Tracked {
    /// The index as it is now; what was read before will do if the file is the same, and was old enough by then for
    /// a new one to look different.
    fn read(repo: &Repo) -> Result<Arc<Self>> {
        let path = repo.git.path().join("index");
        let now = stamp(&path);
        if let Some(known) = repo.tracked.borrow().as_ref().filter(|known| now.is_some() && known.stamp == now) {
            return Ok(Arc::clone(known));
        }
        let mut index = Self::parse(&path)?;
        let age = index.written.and_then(|written| SystemTime::now().duration_since(written).ok());
        index.stamp = now.filter(|_| age.is_some_and(|age| age > RACY_MARGIN));
        let index = Arc::new(index);
        repo.tracked.replace(Some(Arc::clone(&index)));
        Ok(index)
    }

    fn parse(path: &Path) -> Result<Self> {
        const SKIP_WORKTREE: u16 = 1 << 14;
        let index = Index::open(path).doing("read the user's index")?;
        let mut entries = sorted(&index);
        entries.retain(|entry| !is_state(&entry.path));
        let skipped = entries.iter().filter(|entry| entry.flags_extended & SKIP_WORKTREE != 0);
        let skipped = skipped.map(|entry| entry.path.clone()).collect();
        Ok(Self { entries, skipped, written: written(&index), stamp: None })
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let meta = fs::metadata(path).ok()?;
    Some((meta.ino(), meta.size(), meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec()))
}

fn copy(entry: &IndexEntry) -> IndexEntry {
    IndexEntry { path: entry.path.clone(), ..*entry }
}

/// An index's entries by path, one for each, whatever order the index itself keeps.
fn sorted(index: &Index) -> Vec<IndexEntry> {
    let mut entries: Vec<_> = index.iter().collect();
    entries.sort_by(|one, other| one.path.cmp(&other.path));
    entries.dedup_by(|one, other| one.path == other.path);
    entries
}

fn find<'a>(entries: &'a [IndexEntry], path: &[u8]) -> Option<&'a IndexEntry> {
    let at = entries.binary_search_by(|entry| entry.path.as_slice().cmp(path)).ok()?;
    entries.get(at)
}

fn exists(repo: &Repo, path: &[u8]) -> bool {
    repo.root.join(as_path(path)).symlink_metadata().is_ok()
}

/// The private index while it is being brought up to date.
struct Work<'repo> {
    repo: &'repo Repo,
    git: Repository,
    index: Index,
    untracked: BTreeSet<Vec<u8>>,
    sparse: BTreeSet<Vec<u8>>,
    touched: bool,
}

impl Work<'_> {
    /// Puts into our index what it lacks of the user's; what only ours has is untracked.
    fn adopt(&mut self, tracked: &Tracked) -> Result<()> {
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

    fn refresh(&mut self) -> Result<()> {
        let (before, now) = (Rules::remembered(self.repo), Rules::of(self)?);
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

    /// A path that we took while it was not ignored may be so by now.
    fn drop_ignored(&mut self) -> Result<()> {
        let mut ignored = Vec::new();
        for path in &self.untracked {
            if self.git.is_path_ignored(as_path(path)).doing_at("check the ignore rules for", path)? {
                ignored.push(path.clone());
            }
        }
        for path in ignored {
            self.remove(&path)?;
        }
        Ok(())
    }

    /// Takes over all that differs on disk; says whether an attributes file was among it.
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
    fn write(&mut self, before: Option<SystemTime>) -> Result<TreeId> {
        let tree = self.index.write_tree().doing("write the tree")?;
        self.repo.keep_tree(tree)?;
        if self.touched {
            self.index.write().doing("write our index")?;
        }
        if written(&self.index) != before {
            look_older(&self.index)?;
        }
        Rules::of(self)?.remember(self.repo)?;
        Ok(TreeId(tree.to_string()))
    }
}

fn look_older(index: &Index) -> Result<()> {
    let (Some(path), Some(written)) = (index.path(), written(index)) else { return Ok(()) };
    let older = written.checked_sub(RACY_MARGIN).unwrap_or(SystemTime::UNIX_EPOCH);
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

/// Digests of all that decides what a file's times cannot tell: whether it is ignored, and how it is converted.
#[derive(PartialEq, Eq)]
struct Rules {
    ignoring: Digest,
    converting: Digest,
}

impl Rules {
    fn of(work: &Work<'_>) -> Result<Self> {
        Ok(Self { ignoring: ignoring(work)?, converting: converting(&work.git)? })
    }

    /// Those of the last call, if there was one.
    fn remembered(repo: &Repo) -> Option<Self> {
        let text = fs::read(repo.private("rules")).ok()?;
        let (ignoring, converting): (Digest, Digest) = serde_json::from_slice(&text).ok()?;
        Some(Self { ignoring, converting })
    }

    fn remember(&self, repo: &Repo) -> Result<()> {
        if Self::remembered(repo).as_ref() == Some(self) {
            return Ok(());
        }
        let path = repo.private("rules");
        let text = format!("[\"{}\",\"{}\"]\n", self.ignoring, self.converting);
        fs::write(&path, text).doing_io("write", &path)
    }
}

/// The ignore files that bear on the untracked paths, and those paths.
fn ignoring(work: &Work<'_>) -> Result<Digest> {
    let mut bytes = setting(&work.git, "core.ignorecase")?;
    bytes.extend(content_of(&work.git.commondir().join("info/exclude")));
    bytes.extend(file_setting(&work.git, "core.excludesfile")?);
    for folder in folders(work.untracked.iter().map(Vec::as_slice)) {
        bytes.extend(content_of(&work.repo.root.join(as_path(folder)).join(".gitignore")));
    }
    for path in &work.untracked {
        bytes.extend(path);
        bytes.push(0);
    }
    Ok(Digest::of(bytes))
}

/// The settings for line ends, and the attributes files that are not in the tree.
fn converting(git: &Repository) -> Result<Digest> {
    let mut bytes = Vec::new();
    for name in ["core.autocrlf", "core.eol", "core.filemode", "core.symlinks"] {
        bytes.extend(setting(git, name)?);
    }
    bytes.extend(content_of(&git.commondir().join("info/attributes")));
    bytes.extend(file_setting(git, "core.attributesfile")?);
    Ok(Digest::of(bytes))
}

fn setting(git: &Repository, name: &str) -> Result<Vec<u8>> {
    let config = git.config().doing("read the configuration")?;
    let value = config.get_string(name).unwrap_or_default();
    Ok(format!("{name}={value}\0").into_bytes())
}

fn file_setting(git: &Repository, name: &str) -> Result<Vec<u8>> {
    let config = git.config().doing("read the configuration")?;
    Ok(config.get_path(name).map(|path| content_of(&path)).unwrap_or_default())
}

/// A file's bytes behind their number; a missing file is one of its own kind.
fn content_of(path: &Path) -> Vec<u8> {
    let Ok(content) = fs::read(path) else { return b"-\0".to_vec() };
    let mut bytes = format!("{}\0", content.len()).into_bytes();
    bytes.extend(content);
    bytes
}

impl Repo {
    /// The tree of the last call, if nobody removed its anchor: only then are the objects of our index safe.
    fn kept_tree(&self) -> Option<Oid> {
        self.git.refname_to_id(&self.tree_ref()).ok()
    }

    fn keep_tree(&self, tree: Oid) -> Result<()> {
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
