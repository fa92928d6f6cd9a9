//! Restores paths of the working tree from a tree, without ever leaving the project.
//!
//! Every folder on the way is opened by its own name, from the root down, and must not be a symbolic link. New content
//! is written to a temporary file and renamed into place, so a kill leaves either the old file or the new one.

use std::fs::{self, File};
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use git2::build::CheckoutBuilder;
use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, AtFlags, OFlag, openat, renameat};
#[cfg(all(target_os = "linux", target_env = "gnu"))]
use nix::fcntl::{RenameFlags, renameat2};
use nix::sys::stat::{Mode, SFlag, fstatat, mkdirat};
use nix::unistd::{UnlinkatFlags, symlinkat, unlinkat};
use tdd_core::digest::TreeId;

use super::diff::file_kind;
use super::error::{Doing, DoingIo};
use super::path::as_path;
use super::withdraw::{OnDisk, PathContent, Raw};
use super::{FileKind, GitError, GitPath, Repo, Result};

impl Repo {
    /// Restores these paths from the tree, with the current time. Deletes paths that the tree lacks, and folders that
    /// become empty. Touches no other path.
    ///
    /// Checks all paths before writing the first. Converts line ends as a checkout would.
    pub fn restore(&self, paths: &[GitPath], tree: &TreeId) -> Result<()> {
        let _ours = self.lock_private()?;
        let plan = Plan::of(self, paths, tree)?;
        let root = open_root(&self.root)?;
        for path in plan.all() {
            plan.open_folder(&root, path)?;
        }
        for path in &plan.deleted {
            self.delete(&plan, &root, path)?;
        }
        for batch in [&plan.attributes, &plan.written] {
            self.write_back(&root, batch, tree)?;
        }
        Ok(())
    }

    /// Sets one path to its content in the tree, if the file still holds what was `seen`. Otherwise changes nothing.
    ///
    /// Swaps the files first and compares afterwards, so that anything a person saves in between is put back.
    pub(super) fn replace(&self, path: &GitPath, tree: &TreeId, seen: &OnDisk) -> Result<Replaced> {
        let _ours = self.lock_private()?;
        let root = open_root(&self.root)?;
        let full = self.root.join(path.as_path());
        let kind = self.entry(tree, path)?.and_then(|entry| file_kind(entry.filemode()));
        let missing = if kind.is_some() { Missing::Make } else { Missing::Stop };
        let Some((folder, name)) = open_folder(&root, path, missing)? else { return Ok(Replaced::Done) };
        let (checkout, new) = match kind {
            Some(FileKind::Submodule) => return Err(GitError::Submodule { path: path.clone() }),
            Some(kind) => {
                let checkout = self.check_out(&[(path.clone(), kind)], tree)?;
                let new = checkout.dir.join(path.as_path());
                (checkout, Some((new, kind)))
            }
            None => (TempCheckout::new(self.private("restore"))?, None),
        };
        let place = Place { folder: &folder, name: as_path(name), full: &full };
        let replaced = match (&new, seen) {
            (Some((new, kind)), OnDisk::File { raw, .. }) => place.exchange(new, *kind, raw),
            (Some((new, kind)), OnDisk::Nothing) => place.create(new, *kind),
            (None, OnDisk::File { raw, .. }) => place.remove_if_unchanged(&checkout.dir.join("taken"), raw),
            (None, OnDisk::Nothing) => Ok(Replaced::Done),
            (_, OnDisk::Other) => return Err(GitError::InTheWay { path: path.clone() }),
        };
        let replaced = replaced.doing_io("put back", &full)?;
        if new.is_none() && replaced == Replaced::Done {
            remove_empty_folders(&root, path);
        }
        Ok(replaced)
    }

    fn delete(&self, plan: &Plan, root: &OwnedFd, path: &GitPath) -> Result<()> {
        let Some((folder, name)) = plan.open_folder(root, path)? else { return Ok(()) };
        // A folder is not this file; the files in it have paths of their own.
        if is_folder(&folder, name) {
            return Ok(());
        }
        match unlinkat(&folder, as_path(name), UnlinkatFlags::NoRemoveDir) {
            Ok(()) | Err(Errno::ENOENT) => {}
            Err(error) => return Err(io(error)).doing_io("delete", &self.root.join(path.as_path())),
        }
        remove_empty_folders(root, path);
        Ok(())
    }

    fn write_back(&self, root: &OwnedFd, batch: &[(GitPath, FileKind)], tree: &TreeId) -> Result<()> {
        if batch.is_empty() {
            return Ok(());
        }
        let copy = self.check_out(batch, tree)?;
        for (path, kind) in batch {
            self.put(root, path, *kind, &copy)?;
        }
        Ok(())
    }

    /// Checks the paths out into a temporary folder.
    fn check_out(&self, batch: &[(GitPath, FileKind)], tree: &TreeId) -> Result<TempCheckout> {
        let checkout = TempCheckout::new(self.private("restore"))?;
        let git = self.fresh()?;
        let object = git.find_object(super::head::oid(&tree.0)?, None).doing("read the tree")?;
        let mut options = CheckoutBuilder::new();
        options.target_dir(&checkout.dir).force().update_index(false).disable_pathspec_match(true);
        for (path, _) in batch {
            options.path(path.as_bytes());
        }
        git.checkout_tree(&object, Some(&mut options)).doing("read the files from the tree")?;
        Ok(checkout)
    }

    fn put(&self, root: &OwnedFd, path: &GitPath, kind: FileKind, copy: &TempCheckout) -> Result<()> {
        let source = copy.dir.join(path.as_path());
        let Some((folder, name)) = open_folder(root, path, Missing::Make)? else { return Ok(()) };
        if is_folder(&folder, name) {
            // Git does not track empty folders, so a file may replace one.
            unlinkat(&folder, as_path(name), UnlinkatFlags::RemoveDir)
                .map_err(|_| GitError::InTheWay { path: path.clone() })?;
        }
        let moved = match renameat(AT_FDCWD, &source, &folder, as_path(name)) {
            Err(Errno::EXDEV) => copy_across(&source, &folder, as_path(name), kind),
            moved => moved.map_err(io),
        };
        moved.doing_io("write", &self.root.join(path.as_path()))
    }
}

/// Whether a file was replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Replaced {
    Done,
    /// The file changed since it was seen, and was left alone.
    ChangedMeanwhile,
}

/// A file name in an open folder.
struct Place<'a> {
    folder: &'a OwnedFd,
    name: &'a Path,
    full: &'a Path,
}

impl Place<'_> {
    fn exchange(&self, new: &Path, kind: FileKind, seen: &Raw) -> std::io::Result<Replaced> {
        let PathContent::File(ours) = Raw::read(new)? else { return Err(std::io::ErrorKind::NotFound.into()) };
        match exchange(AT_FDCWD, new, self.folder, self.name) {
            Ok(()) if holds(new, seen)? => Ok(Replaced::Done),
            Ok(()) => self.exchange_back(new, ours),
            Err(Errno::ENOENT) => Ok(Replaced::ChangedMeanwhile),
            // The file system cannot swap files, or the git folder is on another one.
            Err(Errno::EINVAL | Errno::ENOSYS | Errno::EXDEV) if !holds(self.full, seen)? => {
                Ok(Replaced::ChangedMeanwhile)
            }
            Err(Errno::EINVAL | Errno::ENOSYS | Errno::EXDEV) => {
                match renameat(AT_FDCWD, new, self.folder, self.name) {
                    Err(Errno::EXDEV) => copy_across(new, self.folder, self.name, kind)?,
                    moved => moved?,
                }
                Ok(Replaced::Done)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Puts a person's file back. If they saved again in between, their newest version wins.
    fn exchange_back(&self, aside: &Path, ours: Raw) -> std::io::Result<Replaced> {
        let mut last_put = ours;
        loop {
            let PathContent::File(put) = Raw::read(aside)? else { return Err(std::io::ErrorKind::NotFound.into()) };
            exchange(AT_FDCWD, aside, self.folder, self.name)?;
            if holds(aside, &last_put)? {
                return Ok(Replaced::ChangedMeanwhile);
            }
            last_put = put;
        }
    }

    fn create(&self, new: &Path, kind: FileKind) -> std::io::Result<Replaced> {
        match rename_to_free(AT_FDCWD, new, self.folder, self.name) {
            Ok(()) => Ok(Replaced::Done),
            Err(Errno::EEXIST) => Ok(Replaced::ChangedMeanwhile),
            Err(Errno::EINVAL | Errno::ENOSYS | Errno::EXDEV) if self.full.symlink_metadata().is_ok() => {
                Ok(Replaced::ChangedMeanwhile)
            }
            Err(Errno::EINVAL | Errno::ENOSYS | Errno::EXDEV) => {
                copy_across(new, self.folder, self.name, kind)?;
                Ok(Replaced::Done)
            }
            Err(error) => Err(error.into()),
        }
    }

    fn remove_if_unchanged(&self, aside: &Path, seen: &Raw) -> std::io::Result<Replaced> {
        match renameat(self.folder, self.name, AT_FDCWD, aside) {
            Ok(()) if holds(aside, seen)? => Ok(Replaced::Done),
            // If the person saved again, their newer version stays.
            Ok(()) => match rename_to_free(AT_FDCWD, aside, self.folder, self.name) {
                Ok(()) | Err(Errno::EEXIST) => Ok(Replaced::ChangedMeanwhile),
                Err(error) => Err(error.into()),
            },
            Err(Errno::ENOENT) => Ok(Replaced::Done),
            Err(Errno::EXDEV) if !holds(self.full, seen)? => Ok(Replaced::ChangedMeanwhile),
            Err(Errno::EXDEV) => {
                unlinkat(self.folder, self.name, UnlinkatFlags::NoRemoveDir)?;
                Ok(Replaced::Done)
            }
            Err(error) => Err(error.into()),
        }
    }
}

fn holds(path: &Path, seen: &Raw) -> std::io::Result<bool> {
    Ok(matches!(Raw::read(path)?, PathContent::File(found) if found == *seen))
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn exchange(from: impl AsFd, name: &Path, to: impl AsFd, new_name: &Path) -> nix::Result<()> {
    renameat2(from, name, to, new_name, RenameFlags::RENAME_EXCHANGE)
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn rename_to_free(from: impl AsFd, name: &Path, to: impl AsFd, new_name: &Path) -> nix::Result<()> {
    renameat2(from, name, to, new_name, RenameFlags::RENAME_NOREPLACE)
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn exchange(_: impl AsFd, _: &Path, _: impl AsFd, _: &Path) -> nix::Result<()> {
    Err(Errno::ENOSYS)
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn rename_to_free(_: impl AsFd, _: &Path, _: impl AsFd, _: &Path) -> nix::Result<()> {
    Err(Errno::ENOSYS)
}

/// The paths to restore, in order: deletions first, then attributes files before the files they apply to.
struct Plan {
    deleted: Vec<GitPath>,
    attributes: Vec<(GitPath, FileKind)>,
    written: Vec<(GitPath, FileKind)>,
}

impl Plan {
    fn of(repo: &Repo, paths: &[GitPath], tree: &TreeId) -> Result<Self> {
        let mut plan = Self { deleted: Vec::new(), attributes: Vec::new(), written: Vec::new() };
        for path in paths {
            let path = GitPath::new(path.as_bytes())?;
            let found = repo.entry(tree, &path)?.and_then(|entry| file_kind(entry.filemode()));
            match found {
                Some(FileKind::Submodule) => return Err(GitError::Submodule { path }),
                Some(kind) if path.as_bytes().ends_with(b".gitattributes") => plan.attributes.push((path, kind)),
                Some(kind) => plan.written.push((path, kind)),
                None => plan.deleted.push(path),
            }
        }
        // Sorted, so that a link is deleted before the paths that appear to lie below it.
        plan.deleted.sort();
        Ok(plan)
    }

    /// Opens the path's folder, if it exists. A link or file on the way is accepted only if it is itself among the
    /// paths.
    fn open_folder<'a>(&self, root: &OwnedFd, path: &'a GitPath) -> Result<Option<(OwnedFd, &'a [u8])>> {
        match open_folder(root, path, Missing::Stop) {
            Err(GitError::ThroughSymlink { through, .. }) if self.all().any(|other| *other == through) => Ok(None),
            other => other,
        }
    }

    fn all(&self) -> impl Iterator<Item = &GitPath> {
        self.deleted.iter().chain(self.attributes.iter().chain(&self.written).map(|(path, _)| path))
    }
}

/// A temporary folder, deleted when dropped.
struct TempCheckout {
    dir: PathBuf,
}

impl TempCheckout {
    fn new(dir: PathBuf) -> Result<Self> {
        match fs::remove_dir_all(&dir) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error).doing_io("remove", &dir),
            Ok(()) | Err(_) => {}
        }
        fs::create_dir_all(&dir).doing_io("make the folder", &dir)?;
        Ok(Self { dir })
    }
}

impl Drop for TempCheckout {
    fn drop(&mut self) {
        // The next use removes what could not be deleted.
        fs::remove_dir_all(&self.dir).ok();
    }
}

/// What to do if a folder is missing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    Stop,
    Make,
}

const FOLDER: OFlag = OFlag::O_DIRECTORY.union(OFlag::O_NOFOLLOW).union(OFlag::O_CLOEXEC).union(OFlag::O_RDONLY);

fn open_root(root: &Path) -> Result<OwnedFd> {
    File::open(root).map(OwnedFd::from).doing_io("open", root)
}

/// Opens a path's folder; returns it with the file name. `None` if the folder is missing and `missing` is `Stop`.
fn open_folder<'a>(root: &OwnedFd, path: &'a GitPath, missing: Missing) -> Result<Option<(OwnedFd, &'a [u8])>> {
    let mut parts: Vec<_> = path.parts().collect();
    let name = parts.pop().unwrap_or_default();
    let mut folder = root.try_clone().doing_io("open", Path::new("."))?;
    for (depth, part) in parts.iter().enumerate() {
        if missing == Missing::Make {
            match mkdirat(&folder, as_path(part), Mode::from_bits_truncate(0o777)) {
                Ok(()) | Err(Errno::EEXIST) => {}
                Err(error) => return Err(io(error)).doing_io("make the folder", as_path(&parts[..=depth].join(&b'/'))),
            }
        }
        folder = match openat(&folder, as_path(part), FOLDER, Mode::empty()) {
            Ok(next) => next,
            Err(Errno::ENOENT) if missing == Missing::Stop => return Ok(None),
            Err(Errno::ELOOP | Errno::ENOTDIR) => {
                let through = GitPath::from_git(&parts[..=depth].join(&b'/'));
                return Err(GitError::ThroughSymlink { path: path.clone(), through });
            }
            Err(error) => return Err(io(error)).doing_io("open", as_path(&parts[..=depth].join(&b'/'))),
        };
    }
    Ok(Some((folder, name)))
}

/// Copies a file when the git folder is on another file system: writes a temporary file, then renames it.
fn copy_across(source: &Path, folder: &OwnedFd, name: &Path, kind: FileKind) -> std::io::Result<()> {
    let aside = format!(".tdd-restore-{}", std::process::id());
    unlinkat(folder, aside.as_str(), UnlinkatFlags::NoRemoveDir).ok();
    if kind == FileKind::Symlink {
        symlinkat(&fs::read_link(source)?, folder, aside.as_str())?;
    } else {
        let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let mode = if kind == FileKind::Executable { 0o777 } else { 0o666 };
        let file = openat(folder, aside.as_str(), flags, Mode::from_bits_truncate(mode))?;
        File::from(file).write_all(&fs::read(source)?)?;
    }
    renameat(folder, aside.as_str(), folder, name).map_err(io)
}

fn is_folder(folder: &OwnedFd, name: &[u8]) -> bool {
    fstatat(folder, as_path(name), AtFlags::AT_SYMLINK_NOFOLLOW)
        .is_ok_and(|stat| SFlag::from_bits_truncate(stat.st_mode) & SFlag::S_IFMT == SFlag::S_IFDIR)
}

/// Removes the folders above a path, innermost first, until one is not empty.
fn remove_empty_folders(root: &OwnedFd, path: &GitPath) {
    let mut rest = path.as_bytes();
    while let Some(end) = rest.iter().rposition(|byte| *byte == b'/') {
        rest = &rest[..end];
        let folder = GitPath::from_git(rest);
        let Ok(Some((parent, name))) = open_folder(root, &folder, Missing::Stop) else { return };
        if unlinkat(&parent, as_path(name), UnlinkatFlags::RemoveDir).is_err() {
            return;
        }
    }
}

fn io(error: Errno) -> std::io::Error {
    error.into()
}
