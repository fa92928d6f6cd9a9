//! Diffs two trees and looks up what a tree holds at a path.

use std::collections::{BTreeMap, BTreeSet};

use git2::{
    Delta, Diff, DiffDelta, DiffFindOptions, DiffHunk, DiffLine, DiffOptions, ErrorCode, FileMode, ObjectType, Oid,
    Repository, Tree, TreeEntry,
};
use tdd_core::digest::TreeId;

use super::error::Doing;
use super::{GitPath, Repo, Result};

/// One path that differs between two trees.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TreeChange {
    /// The path; for a rename the new one, for a deletion the old one.
    pub path: GitPath,
    /// How it differs.
    pub kind: ChangeKind,
    /// The file's kind before; `None` if it was added.
    pub before: Option<FileKind>,
    /// The file's kind after; `None` if it was deleted.
    pub after: Option<FileKind>,
}

/// How a path differs between two trees.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    /// The path is new.
    Added,
    /// The content, the executable bit or the file's kind changed.
    Modified,
    /// The path was deleted.
    Deleted,
    /// The file was renamed; at least half of its content is unchanged.
    Renamed {
        /// The old path.
        from: GitPath,
    },
}

/// The kind of file that a tree has at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileKind {
    /// A regular file.
    File,
    /// An executable file.
    Executable,
    /// A symbolic link; its content is the link's target.
    Symlink,
    /// A submodule: a commit of another repository.
    Submodule,
}

impl Repo {
    /// Every path that differs from `before` to `after`, sorted by path.
    pub fn diff_trees(&self, before: &TreeId, after: &TreeId) -> Result<Vec<TreeChange>> {
        let (old, new) = (self.tree(before)?, self.tree(after)?);
        let mut options = DiffOptions::new();
        options.include_typechange(true).skip_binary_check(true);
        let mut diff = self.compare(&old, &new, &mut options)?;
        diff.find_similar(Some(DiffFindOptions::new().renames(true))).doing("look for renamed files")?;
        let mut changes: Vec<_> = diff.deltas().filter_map(|delta| change(&delta)).collect();
        changes.sort();
        Ok(changes)
    }

    /// Diffs two trees. Passes libgit2 the differing paths, because it would otherwise read every file of both.
    pub(super) fn compare(&self, old: &Tree<'_>, new: &Tree<'_>, options: &mut DiffOptions) -> Result<Diff<'_>> {
        let mut differing = Differing { git: &self.git, paths: Vec::new() };
        if differing.find(old, new, &mut Vec::new()).doing("compare the trees")? {
            options.disable_pathspec_match(true);
            // An empty pathspec would match every path, so add one that no tree can contain.
            for path in differing.paths.iter().map(Vec::as_slice).chain([&b".git"[..]]) {
                options.pathspec(path);
            }
        }
        self.git.diff_tree_to_tree(Some(old), Some(new), Some(options)).doing("compare the trees")
    }

    /// The line numbers (from 1) that `after` adds to `before`, by path. A renamed file contributes only its differing
    /// lines. Paths that are not UTF-8 are left out.
    pub fn added_lines(&self, before: &TreeId, after: &TreeId) -> Result<BTreeMap<String, BTreeSet<usize>>> {
        let (old, new) = (self.tree(before)?, self.tree(after)?);
        let mut options = DiffOptions::new();
        options.context_lines(0);
        let mut diff = self.compare(&old, &new, &mut options)?;
        diff.find_similar(Some(DiffFindOptions::new().renames(true))).doing("look for renamed files")?;
        let mut added: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
        let mut see = |delta: DiffDelta<'_>, _: Option<DiffHunk<'_>>, line: DiffLine<'_>| {
            let path = delta.new_file().path().and_then(|path| path.to_str());
            if let ('+', Some(path), Some(line)) = (line.origin(), path, line.new_lineno()) {
                added.entry(path.to_owned()).or_default().insert(usize::try_from(line).unwrap_or(usize::MAX));
            }
            true
        };
        let seen = diff.foreach(&mut |_, _| true, None, None, Some(&mut see));
        seen.doing("compare the files")?;
        Ok(added)
    }

    /// The content of a file, or the target of a symbolic link; `None` if the tree has neither at this path.
    pub fn blob(&self, tree: &TreeId, path: &GitPath) -> Result<Option<Vec<u8>>> {
        let Some(entry) = self.entry(tree, path)? else { return Ok(None) };
        if file_kind(entry.filemode()).is_none_or(|kind| kind == FileKind::Submodule) {
            return Ok(None);
        }
        let blob = self.git.find_blob(entry.id()).doing_at("read", path.as_bytes())?;
        Ok(Some(blob.content().to_owned()))
    }

    pub(super) fn entry(&self, tree: &TreeId, path: &GitPath) -> Result<Option<TreeEntry<'static>>> {
        match self.tree(tree)?.get_path(path.as_path()) {
            Ok(entry) => Ok(Some(entry)),
            Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
            Err(error) => Err(error).doing_at("look up", path.as_bytes()),
        }
    }
}

/// With more differing paths than this, a pathspec saves nothing.
const MAX_PATHSPECS: usize = 1_000;

/// Longer paths, in bytes, are left to libgit2, which does not recurse on the stack.
const MAX_PATH_BYTES: usize = 1_000;

/// Finds the paths at which two trees differ, skipping folders that are the same.
struct Differing<'a> {
    git: &'a Repository,
    paths: Vec<Vec<u8>>,
}

impl Differing<'_> {
    /// Collects the differing paths below a folder. `false` if there are too many, a path is too long, or a name occurs
    /// twice.
    fn find(&mut self, old: &Tree<'_>, new: &Tree<'_>, folder: &mut Vec<u8>) -> std::result::Result<bool, git2::Error> {
        let (Some(before), Some(after)) = (entries(old), entries(new)) else { return Ok(false) };
        let names: BTreeSet<&Vec<u8>> = before.keys().chain(after.keys()).collect();
        for name in names {
            let (one, other) = (before.get(name), after.get(name));
            if one == other {
                continue;
            }
            let end = folder.len();
            folder.extend_from_slice(name);
            let few = if let (Some((true, _, one)), Some((true, _, other))) = (one, other) {
                folder.push(b'/');
                let (one, other) = (self.git.find_tree(*one)?, self.git.find_tree(*other)?);
                folder.len() <= MAX_PATH_BYTES && self.find(&one, &other, folder)?
            } else {
                self.paths.push(folder.clone());
                self.paths.len() <= MAX_PATHSPECS
            };
            folder.truncate(end);
            if !few {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// A folder's entries by name (is it a folder, mode, id); `None` if a name occurs twice.
fn entries(tree: &Tree<'_>) -> Option<BTreeMap<Vec<u8>, (bool, i32, Oid)>> {
    let what = |entry: &TreeEntry<'_>| (entry.kind() == Some(ObjectType::Tree), entry.filemode(), entry.id());
    let entries: BTreeMap<_, _> = tree.iter().map(|entry| (entry.name_bytes().to_owned(), what(&entry))).collect();
    (entries.len() == tree.len()).then_some(entries)
}

fn change(delta: &DiffDelta<'_>) -> Option<TreeChange> {
    let old = GitPath::from_git(delta.old_file().path_bytes()?);
    let new = GitPath::from_git(delta.new_file().path_bytes()?);
    let (path, kind) = match delta.status() {
        Delta::Added | Delta::Copied => (new, ChangeKind::Added),
        Delta::Deleted => (old, ChangeKind::Deleted),
        Delta::Modified | Delta::Typechange => (new, ChangeKind::Modified),
        Delta::Renamed => (new, ChangeKind::Renamed { from: old }),
        Delta::Unmodified | Delta::Ignored | Delta::Untracked | Delta::Unreadable | Delta::Conflicted => return None,
    };
    let (before, after) = (mode_kind(delta.old_file().mode()), mode_kind(delta.new_file().mode()));
    Some(TreeChange { path, kind, before, after })
}

pub(super) fn mode_kind(mode: FileMode) -> Option<FileKind> {
    match mode {
        FileMode::Blob | FileMode::BlobGroupWritable => Some(FileKind::File),
        FileMode::BlobExecutable => Some(FileKind::Executable),
        FileMode::Link => Some(FileKind::Symlink),
        FileMode::Commit => Some(FileKind::Submodule),
        FileMode::Unreadable | FileMode::Tree => None,
    }
}

/// The kind of file that git's mode bits mean; `None` for a folder.
pub(super) fn file_kind(mode: i32) -> Option<FileKind> {
    match mode {
        0o100_644 | 0o100_664 => Some(FileKind::File),
        0o100_755 => Some(FileKind::Executable),
        0o120_000 => Some(FileKind::Symlink),
        0o160_000 => Some(FileKind::Submodule),
        _ => None,
    }
}
