//! What an attempt wrote is taken out of the working tree again, and what a person typed meanwhile is kept.
//!
//! A path that holds exactly what we wrote is put back. A path that holds something else is a person's: their version is
//! saved under `refs/tdd/kept/` first; then our edit is taken out of it by a three-way merge, or, where that is not
//! possible, the file is put back.

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

/// What is to be taken out of the working tree.
#[derive(Clone, Copy, Debug)]
pub struct Withdrawal<'a> {
    /// The tree with what we wrote: see [`Repo::tree_with_files`].
    pub written: &'a TreeId,
    /// The tree to go back to: the attempt's base, or HEAD's tree if a person moved HEAD meanwhile.
    pub to: &'a TreeId,
    /// The paths that we wrote.
    pub paths: &'a [GitPath],
    /// Who keeps a person's version.
    pub author: &'a Signature,
}

/// A path that did not hold what we wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonsFile {
    /// Where it is.
    pub path: GitPath,
    /// The ref of a commit with the person's version, whole; `None` if the person deleted the file.
    pub kept_as: Option<String>,
    /// What the file holds now.
    pub now: PersonsFileNow,
}

/// What a file that a person changed holds after a withdrawal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PersonsFileNow {
    /// The person's version without our edit.
    Merged,
    /// What the tree has: the person's lines overlap ours, and are in the ref only.
    PutBack,
    /// What the person left there: nothing.
    Deleted,
}

/// A file that is being saved is looked at again so often, and so much later each time.
const MAX_TRIES: u32 = 20;
const BETWEEN_TRIES: Duration = Duration::from_millis(5);

impl Repo {
    /// A tree with these files written over it, `None` deleting one: what an attempt has on the disk. Modes stay as they
    /// are in `base`.
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

    /// Notes what is about to be written, so that it can be told from a person's work after a kill as well.
    pub fn announce(&self, written: &TreeId) -> Result<()> {
        let _ours = self.lock_private()?;
        let name = self.announced_ref();
        self.git.reference(&name, oid(&written.0)?, /* force */ true, "about to be written").doing("note the edit")?;
        Ok(())
    }

    /// What was announced last; `None` if nothing was.
    pub fn announced(&self) -> Option<TreeId> {
        self.git.refname_to_id(&self.announced_ref()).ok().map(|id| TreeId(id.to_string()))
    }

    /// Each working tree of a repository has its own.
    fn announced_ref(&self) -> String {
        self.tree_ref().replacen("refs/tdd/trees", "refs/tdd/written", 1)
    }

    /// Those of the paths whose file is not what a tree has, as git sees it; a path that the tree lacks must be free.
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

    /// Whether these bytes of a file, or nothing, are what a tree has at a path: for `Workspace::write_over`.
    pub fn is_base(&self, tree: &TreeId, path: &str, bytes: Option<&[u8]>) -> Result<bool> {
        let path = GitPath::new(path)?;
        let Some(stored) = self.blob(tree, &path)? else { return Ok(bytes.is_none()) };
        // Line ends may be others on the disk than in the tree: git itself says whether that is a change.
        Ok(bytes.is_some_and(|bytes| bytes == stored)
            || bytes.is_some() && self.changed_from(tree, std::slice::from_ref(&path))?.is_empty())
    }

    /// Takes what we wrote out of the working tree; answers with the files that a person changed meanwhile.
    ///
    /// A file that already is what `to` has, because a person checked it out or committed our edit, is left alone.
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

    /// The person's version without what lies between ours and the target; `None` if they overlap.
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

    /// Keeps a person's version in a commit of its own; answers with the ref.
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

    /// What is at a path, as git would take it.
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
            // Git reads the file once more: only if it is still the same does the id name these bytes.
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

/// What is at a path.
pub(super) enum OnDisk {
    Nothing,
    File {
        entry: IndexEntry,
        raw: Raw,
    },
    /// A folder, or nothing that git knows.
    Other,
}

impl OnDisk {
    /// Whether it is what a tree has.
    fn is(&self, other: Option<&IndexEntry>) -> bool {
        match (self, other) {
            (Self::Nothing, None) => true,
            (Self::File { entry, .. }, Some(other)) => (entry.id, entry.mode) == (other.id, other.mode),
            (Self::Nothing | Self::Other, _) | (Self::File { .. }, None) => false,
        }
    }
}

/// A file or link as the disk has it.
#[derive(PartialEq, Eq)]
pub(super) struct Raw {
    bytes: Vec<u8>,
    kind: FileKind,
}

/// What a look at a path found.
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
