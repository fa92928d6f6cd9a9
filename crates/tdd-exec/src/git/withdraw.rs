//! Takes an attempt's edits out of the working tree and keeps what a person changed in the meantime.
//!
//! A path that holds exactly what we wrote is restored. Any other content is a person's: we save their version under
//! `refs/tdd/kept/` first, then remove our edit from it by a three-way merge or, if that is impossible, restore the
//! file.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::thread;
use std::time::Duration;

use git2::{ErrorCode, IndexEntry, MergeFileOptions, Repository};
use tdd_core::digest::TreeId;

use super::commit::{entry, mode_of};
use super::error::{Doing, DoingIo};
use super::head::oid;
use super::restore::Replaced;
use super::tracked::Staged;
use super::{FileKind, GitError, GitPath, Repo, Result, Signature};

/// The edits to take out of the working tree.
#[derive(Clone, Copy, Debug)]
pub struct Withdrawal<'a> {
    /// The tree with our edits: see [`Repo::tree_with_files`].
    pub written: &'a TreeId,
    /// The tree to restore: the attempt's base, or HEAD's tree if a person moved HEAD in the meantime.
    pub to: &'a TreeId,
    /// The paths that we wrote.
    pub paths: &'a [GitPath],
    /// The author of the commit that keeps a person's version.
    pub author: &'a Signature,
}

/// A file that a person changed after we wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonsFile {
    /// The file's path.
    pub path: GitPath,
    /// The ref of a commit with the person's version; `None` if the person deleted the file.
    pub kept_as: Option<String>,
    /// The file's content after the withdrawal.
    pub now: PersonsFileNow,
}

/// The content of a person's file after a withdrawal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PersonsFileNow {
    /// The person's version without our edit.
    Merged,
    /// The tree's version: the person's lines overlap ours, and only the ref has them.
    PutBack,
    /// Nothing: the person deleted the file.
    Deleted,
}

/// How often to retry a file that is being saved. The pause grows with each try.
const MAX_TRIES: u32 = 20;
const BETWEEN_TRIES: Duration = Duration::from_millis(5);

impl Repo {
    /// The tree `base` with these files written over it (`None` deletes a file): what an attempt puts on disk. Keeps
    /// the modes of `base`.
    pub fn tree_with_files(&self, base: &TreeId, files: &BTreeMap<String, Option<String>>) -> Result<TreeId> {
        let mut entries: Vec<Staged> = Vec::new();
        for (path, text) in files {
            let path = GitPath::new(path)?;
            let before = self.blob_entry(base, &path)?;
            let new = match text {
                Some(text) => {
                    let id = self.git.blob(text.as_bytes()).doing_at("keep", path.as_bytes())?;
                    Some(entry(&path, id, before.as_ref().map_or(0o100_644, |before| before.mode)))
                }
                None => None,
            };
            if new.is_some() || before.is_some() {
                entries.push((path, new));
            }
        }
        Ok(TreeId(self.tree_with(base, &entries)?.to_string()))
    }

    /// Records the edits before they are written, so that after a kill they can be told from a person's work.
    pub fn announce(&self, written: &TreeId) -> Result<()> {
        let _ours = self.lock_private()?;
        let name = self.announced_ref();
        self.git.reference(&name, oid(&written.0)?, /* force */ true, "about to be written").doing("note the edit")?;
        Ok(())
    }

    /// The tree announced last, if any.
    pub fn announced(&self) -> Option<TreeId> {
        self.git.refname_to_id(&self.announced_ref()).ok().map(|id| TreeId(id.to_string()))
    }

    /// The ref of the announced tree; each worktree of a repository has its own.
    fn announced_ref(&self) -> String {
        self.tree_ref().replacen("refs/tdd/trees", "refs/tdd/written", 1)
    }

    /// The paths whose file differs from the tree, as git sees it. A path that the tree lacks counts as changed if
    /// anything is there.
    pub fn changed_from(&self, tree: &TreeId, paths: &[GitPath]) -> Result<Vec<GitPath>> {
        let git = self.fresh()?;
        let mut changed = Vec::new();
        for path in paths {
            let on_disk = self.on_disk(&git, path)?;
            if !on_disk.is(self.blob_entry(tree, path)?.as_ref()) {
                changed.push(path.clone());
            }
        }
        Ok(changed)
    }

    /// Whether a file's bytes (`None`: no file) are what the tree has at a path; for `Workspace::write_over`.
    pub fn is_base(&self, tree: &TreeId, path: &str, bytes: Option<&[u8]>) -> Result<bool> {
        let path = GitPath::new(path)?;
        let Some(stored) = self.blob(tree, &path)? else { return Ok(bytes.is_none()) };
        // Line ends may differ between disk and tree; only git can say whether that is a change.
        Ok(bytes.is_some_and(|bytes| bytes == stored)
            || bytes.is_some() && self.changed_from(tree, std::slice::from_ref(&path))?.is_empty())
    }

    /// Takes our edits out of the working tree; returns the files that a person changed in the meantime.
    ///
    /// Leaves a file alone that already matches `to`, because a person checked it out or committed our edit.
    pub fn withdraw(&self, what: &Withdrawal<'_>) -> Result<Vec<PersonsFile>> {
        let mut persons = Vec::new();
        for path in what.paths {
            persons.extend(self.withdraw_one(what, path)?);
        }
        Ok(persons)
    }

    fn withdraw_one(&self, what: &Withdrawal<'_>, path: &GitPath) -> Result<Option<PersonsFile>> {
        let (ours, target) = (self.blob_entry(what.written, path)?, self.blob_entry(what.to, path)?);
        for tried in 0..MAX_TRIES {
            thread::sleep(BETWEEN_TRIES * tried);
            let git = self.fresh()?;
            let now = self.on_disk(&git, path)?;
            if now.is(target.as_ref()) {
                return Ok(None);
            }
            if now.is(ours.as_ref()) {
                match self.replace(path, what.to, &now)? {
                    Replaced::Done => return Ok(None),
                    Replaced::ChangedMeanwhile => continue,
                }
            }
            let mine = match &now {
                OnDisk::File { entry, .. } => entry,
                OnDisk::Nothing => {
                    return Ok(Some(PersonsFile { path: path.clone(), kept_as: None, now: PersonsFileNow::Deleted }));
                }
                OnDisk::Other => return Err(GitError::InTheWay { path: path.clone() }),
            };
            let kept_as = Some(self.keep_persons(what, path, mine)?);
            let merged = ours.as_ref().zip(target.as_ref()).map(|(ours, target)| self.merged(ours, mine, target));
            let merged = merged.transpose()?.flatten();
            let (tree, now_is) = match merged {
                Some(merged) => (self.tree_with(what.to, &[(path.clone(), Some(merged))])?, PersonsFileNow::Merged),
                None => (oid(&what.to.0)?, PersonsFileNow::PutBack),
            };
            match self.replace(path, &TreeId(tree.to_string()), &now)? {
                Replaced::Done => return Ok(Some(PersonsFile { path: path.clone(), kept_as, now: now_is })),
                Replaced::ChangedMeanwhile => {}
            }
        }
        Err(GitError::StillChanging { path: path.clone() })
    }

    /// The person's version with our edit merged out; `None` if the two overlap.
    fn merged(&self, ours: &IndexEntry, mine: &IndexEntry, target: &IndexEntry) -> Result<Option<IndexEntry>> {
        if [ours, mine, target].iter().any(|entry| entry.mode & 0o170_000 != 0o100_000) {
            return Ok(None);
        }
        let mut options = MergeFileOptions::new();
        let merged = self.git.merge_file_from_index(ours, mine, target, Some(&mut options));
        let merged = merged.doing_at("take our edit out of", &mine.path)?;
        if !merged.is_automergeable() {
            return Ok(None);
        }
        let id = self.git.blob(merged.content()).doing_at("keep", &mine.path)?;
        Ok(Some(entry(&GitPath::from_git(&mine.path), id, mine.mode)))
    }

    /// Commits a person's version under a ref of its own; returns the ref.
    fn keep_persons(&self, what: &Withdrawal<'_>, path: &GitPath, mine: &IndexEntry) -> Result<String> {
        let mine = super::tracked::copy(mine);
        let tree = self.tree_with(what.to, &[(path.clone(), Some(mine))])?;
        let message = format!("a person's version of {path}, changed while an attempt was under way\n");
        let commit = self.write_commit(tree, self.head_id()?, &message, what.author)?;
        for n in 1_u32.. {
            let name = format!("refs/tdd/kept/{}-{n}", what.author.time);
            match self.git.reference(&name, commit, /* force */ false, "a person's version") {
                Ok(_) => return Ok(name),
                Err(error) if matches!(error.code(), ErrorCode::Exists | ErrorCode::Locked) => {}
                Err(error) => return Err(error).doing("keep a person's version"),
            }
        }
        Err(GitError::StillChanging { path: path.clone() })
    }

    /// What is on disk at a path, as git would store it.
    fn on_disk(&self, git: &Repository, path: &GitPath) -> Result<OnDisk> {
        let full = self.root.join(path.as_path());
        for tried in 0..MAX_TRIES {
            thread::sleep(BETWEEN_TRIES * tried);
            let raw = match Raw::read(&full).doing_io("read", &full)? {
                PathContent::File(raw) => raw,
                PathContent::Nothing => return Ok(OnDisk::Nothing),
                PathContent::Other => return Ok(OnDisk::Other),
            };
            let id = match raw.kind {
                FileKind::Symlink => git.blob(&raw.bytes),
                FileKind::File | FileKind::Executable | FileKind::Submodule => git.blob_path(&full),
            };
            // Git reads the file again, so its id names these bytes only if the file did not change in between.
            if let (Ok(id), Ok(PathContent::File(again))) = (id, Raw::read(&full))
                && again == raw
            {
                let entry = entry(path, id, mode_of(raw.kind));
                return Ok(OnDisk::File { entry, raw });
            }
        }
        Err(GitError::StillChanging { path: path.clone() })
    }
}

/// What is on disk at a path.
pub(super) enum OnDisk {
    Nothing,
    File {
        entry: IndexEntry,
        raw: Raw,
    },
    /// A folder, or something that git does not store.
    Other,
}

impl OnDisk {
    /// Whether the disk matches the tree's entry.
    fn is(&self, other: Option<&IndexEntry>) -> bool {
        match (self, other) {
            (Self::Nothing, None) => true,
            (Self::File { entry, .. }, Some(other)) => (entry.id, entry.mode) == (other.id, other.mode),
            (Self::Nothing | Self::Other, _) | (Self::File { .. }, None) => false,
        }
    }
}

/// A file's bytes, or a link's target, as they are on disk.
#[derive(PartialEq, Eq)]
pub(super) struct Raw {
    bytes: Vec<u8>,
    kind: FileKind,
}

/// The result of reading a path.
pub(super) enum PathContent {
    Nothing,
    File(Raw),
    Other,
}

impl Raw {
    pub(super) fn read(path: &Path) -> io::Result<PathContent> {
        let missing = |error: &io::Error| matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory);
        let meta = match fs::symlink_metadata(path) {
            Ok(meta) => meta,
            Err(error) if missing(&error) => return Ok(PathContent::Nothing),
            Err(error) => return Err(error),
        };
        let kind = if meta.is_symlink() {
            FileKind::Symlink
        } else if !meta.is_file() {
            return Ok(PathContent::Other);
        } else if meta.permissions().mode() & 0o100 == 0 {
            FileKind::File
        } else {
            FileKind::Executable
        };
        let bytes = match kind {
            FileKind::Symlink => fs::read_link(path).map(|target| target.as_os_str().as_bytes().to_vec()),
            FileKind::File | FileKind::Executable | FileKind::Submodule => fs::read(path),
        };
        match bytes {
            Ok(bytes) => Ok(PathContent::File(Self { bytes, kind })),
            Err(error) if missing(&error) => Ok(PathContent::Nothing),
            Err(error) => Err(error),
        }
    }
}
