//! Remembers the working tree's file times within this process, so that the next tree id reads only changed files.
//!
//! This works only if the set of files is the same. If a file or folder appears or disappears, a rule changes or
//! another path is tracked, the full comparison of [`super::snapshot`] runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use git2::{Index, Oid, Repository};
use tdd_core::digest::{Digest, TreeId};

use super::commit::{entry, mode_of};
use super::private::RACY_MARGIN;
use super::rules::{Rules, folders, is_ignored};
use super::tracked::{Checksum, Staged, Tracked, checksum};
use super::{FileKind, GitError, GitPath, Repo, Result, is_state};
use crate::walk::{self, Listed, Stamp};

/// With more changed files than this, the full comparison is just as fast.
const MANY: usize = 200;

/// Every folder that is not ignored, with its files' times.
pub(super) struct FileTimes {
    moment: SystemTime,
    listed: Listed,
}

/// What the last look at the working tree saw.
pub(super) struct Look {
    pub(super) tree: TreeId,
    file_times: FileTimes,
    /// The git rules stored outside the working tree.
    rules: Rules,
    user_index: Option<Checksum>,
    tracked: Digest,
}

impl FileTimes {
    /// Lists the working tree; `None` if it contains another repository, which we do not enter.
    ///
    /// A folder that cannot be listed is an error: git would see it as empty and its files as deleted.
    pub(super) fn take(repo: &Repo, git: &Repository, index: &Index) -> Result<Option<Self>> {
        let moment = SystemTime::now();
        let paths: Vec<_> = index.iter().map(|entry| entry.path).collect();
        let known = folders(paths.iter().map(Vec::as_slice));
        let (mut nested, mut failed) = (false, None);
        let listed = walk::list(&repo.root, |folder| {
            if folder == Path::new(".git") || is_state_folder(folder) {
                return false;
            }
            let is_repository = repo.root.join(folder).join(".git").symlink_metadata().is_ok();
            nested |= is_repository;
            let is_known = known.contains(walk::bytes(folder));
            is_known
                || !is_repository
                    && !is_ignored(git, folder).unwrap_or_else(|error| {
                        failed = Some(error);
                        true
                    })
        });
        if let Some(error) = failed {
            return Err(error);
        }
        let listed = listed.map_err(|error| unreadable(&error.folder))?;
        Ok((!nested).then(|| Self::new(moment, listed)))
    }

    fn new(moment: SystemTime, mut listed: Listed) -> Self {
        listed.files.retain(|(path, _)| !is_state(walk::bytes(path)));
        Self { moment, listed }
    }

    /// Lists the same folders again; `None` if the set of folders changed.
    fn refresh(&self, root: &Path) -> Result<Option<Self>> {
        let (moment, mut is_same) = (SystemTime::now(), true);
        let has =
            |folders: &[PathBuf], folder: &Path| folders.binary_search_by(|known| known.as_path().cmp(folder)).is_ok();
        let listed = walk::list(root, |folder| {
            if is_state_folder(folder) {
                return false;
            }
            let is_entered = has(&self.listed.entered, folder);
            is_same &= is_entered || has(&self.listed.skipped, folder);
            is_entered
        });
        let listed = listed.map_err(|error| unreadable(&error.folder))?;
        is_same &= listed.entered.len() == self.listed.entered.len();
        Ok(is_same.then(|| Self::new(moment, listed)))
    }

    /// The files whose content may have changed; `None` if files were added or deleted.
    fn changed_since<'a>(&'a self, before: &Self) -> Option<Vec<&'a (PathBuf, Stamp)>> {
        let (now, then) = (&self.listed.files, &before.listed.files);
        let is_same_list = now.len() == then.len() && now.iter().zip(then).all(|((one, _), (other, _))| one == other);
        let is_settled = |stamp: &Stamp| stamp.is_older(RACY_MARGIN, before.moment);
        let pairs = now.iter().zip(then).filter(|((_, now), (_, then))| now != then || !is_settled(then));
        is_same_list.then(|| pairs.map(|(now, _)| now).collect())
    }
}

impl Look {
    pub(super) fn new(tree: &TreeId, tracked: &Tracked, git: &Repository, file_times: FileTimes) -> Result<Self> {
        let rules = Rules::outside(git)?;
        Ok(Self { tree: tree.clone(), file_times, rules, user_index: tracked.checksum, tracked: tracked.paths() })
    }

    /// Looks again; `None` if the full comparison is needed.
    pub(super) fn refresh(mut self, repo: &Repo) -> Result<Option<Self>> {
        let git = repo.fresh()?;
        let is_kept = repo.kept_tree().is_some_and(|kept| kept.to_string() == self.tree.0);
        if !is_kept || Rules::outside(&git)? != self.rules || !self.tracks_the_same(repo)? {
            return Ok(None);
        }
        let Some(file_times) = self.file_times.refresh(&repo.root)? else { return Ok(None) };
        let changed = file_times.changed_since(&self.file_times).filter(|changed| changed.len() <= MANY);
        let Some(changed) = changed.filter(|changed| changed.iter().all(|(path, _)| !is_rule(path))) else {
            return Ok(None);
        };
        let mut entries = Vec::new();
        for (path, stamp) in changed {
            match self.entry(repo, &git, path, *stamp)? {
                Entry::Same => {}
                Entry::Other(staged) => entries.push(staged),
                Entry::Unknown => return Ok(None),
            }
        }
        if !entries.is_empty() {
            let tree = repo.tree_with(&self.tree, &entries)?;
            repo.keep_tree(tree)?;
            self.tree = TreeId(tree.to_string());
        }
        self.file_times = file_times;
        Ok(Some(self))
    }

    fn tracks_the_same(&mut self, repo: &Repo) -> Result<bool> {
        let now = checksum(&repo.git.path().join("index"));
        if now.is_some() && now == self.user_index {
            return Ok(true);
        }
        let tracked = Tracked::read(repo)?;
        self.user_index = tracked.checksum;
        Ok(tracked.skipped.is_empty() && tracked.paths() == self.tracked)
    }

    /// Compares a file with the last tree.
    fn entry(&self, repo: &Repo, git: &Repository, path: &Path, stamp: Stamp) -> Result<Entry> {
        let path = GitPath::from_git(walk::bytes(path));
        // A file that is not in the tree is ignored, and stays ignored until a rule changes.
        let Some(before) = repo.blob_entry(&self.tree, &path)? else { return Ok(Entry::Same) };
        let Some(kind) = stamp.kind() else { return Ok(Entry::Unknown) };
        let mode = mode_of(kind);
        // If the file cannot be read, the full comparison reports a better error.
        let Some(id) = written(git, &repo.root.join(path.as_path()), kind) else { return Ok(Entry::Unknown) };
        if (id, mode) == (before.id, before.mode) {
            return Ok(Entry::Same);
        }
        let new = entry(&path, id, mode);
        Ok(Entry::Other((path, Some(new))))
    }
}

/// Writes a file's content to the object database with git's conversions; returns its id.
fn written(git: &Repository, path: &Path, kind: FileKind) -> Option<Oid> {
    match kind {
        FileKind::Symlink => git.blob(walk::bytes(&fs::read_link(path).ok()?)).ok(),
        FileKind::File | FileKind::Executable => git.blob_path(path).ok(),
        FileKind::Submodule => None,
    }
}

/// How a file compares with the last tree.
enum Entry {
    Same,
    Other(Staged),
    Unknown,
}

/// Whether a folder holds our state, which changes without changing the tree.
fn is_state_folder(folder: &Path) -> bool {
    folder.starts_with(".tdd") && folder != Path::new(".tdd") && !folder.starts_with(".tdd/prompts")
}

/// Whether a file decides how git treats other files.
fn is_rule(path: &Path) -> bool {
    let rules = [".git", ".gitignore", ".gitattributes"];
    path.file_name().is_some_and(|name| rules.iter().any(|rule| name.eq_ignore_ascii_case(rule)))
}

fn unreadable(folder: &Path) -> GitError {
    GitError::Unreadable { path: GitPath::from_git(walk::bytes(folder)) }
}
