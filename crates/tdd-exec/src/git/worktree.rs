//! Clean checkouts of a commit outside the user's working tree, deleted when dropped.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use git2::{Repository, build::CheckoutBuilder};
use nix::{errno::Errno, sys::signal, unistd::Pid};
use tdd_core::digest::CommitId;

use super::error::{Doing, DoingIo};
use super::head::oid;
use super::{GitError, Repo, Result};

/// Our worktrees are named: this prefix, process id, number.
const PREFIX: &str = "tdd-machine";

/// A clean, detached checkout of a commit. Dropping it removes the folder and the entry in the repository.
#[derive(Debug)]
pub struct Worktree {
    dir: PathBuf,
    admin: PathBuf,
}

impl Worktree {
    /// The worktree's root folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }
}

impl Drop for Worktree {
    fn drop(&mut self) {
        // The next sweep removes what cannot be removed here.
        remove(&self.dir, &self.admin).ok();
    }
}

impl Repo {
    /// Checks out a commit into an empty or missing folder, with a detached HEAD.
    pub fn add_worktree(&self, dir: &Path, commit: &CommitId) -> Result<Worktree> {
        let commit = self.git.find_commit(oid(&commit.0)?).doing("read the commit")?;
        let dir = make_empty(dir)?;
        let admin = self.git.commondir().join("worktrees").join(next_name());
        let worktree = Worktree { dir, admin };
        worktree.write_links(&commit.id().to_string())?;
        let checkout = Repository::open(&worktree.dir).doing("open the worktree")?;
        let object = checkout.find_object(commit.id(), None).doing("read the commit")?;
        let mut options = CheckoutBuilder::new();
        checkout.checkout_tree(&object, Some(options.force())).doing("check the commit out")?;
        Ok(worktree)
    }

    /// Removes the worktrees that our killed processes left behind; returns how many.
    pub fn sweep_worktrees(&self) -> Result<usize> {
        let folder = self.git.commondir().join("worktrees");
        let found = match fs::read_dir(&folder) {
            Ok(found) => found,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(0),
            Err(error) => return Err(error).doing_io("list", &folder),
        };
        let mut swept = 0;
        for admin in found {
            let admin = admin.doing_io("list", &folder)?.path();
            if is_left_behind(&admin) {
                sweep(&admin)?;
                swept += 1;
            }
        }
        Ok(swept)
    }
}

impl Worktree {
    /// Writes the files that `git worktree add --detach` writes.
    fn write_links(&self, head: &str) -> Result<()> {
        fs::create_dir_all(&self.admin).doing_io("make the folder", &self.admin)?;
        write_line(&self.admin.join("gitdir"), self.dir.join(".git").as_os_str())?;
        write_line(&self.admin.join("commondir"), "../..".as_ref())?;
        write_line(&self.admin.join("HEAD"), head.as_ref())?;
        let mut link = std::ffi::OsString::from("gitdir: ");
        link.push(&self.admin);
        write_line(&self.dir.join(".git"), &link)
    }
}

fn write_line(path: &Path, line: &std::ffi::OsStr) -> Result<()> {
    use std::os::unix::ffi::OsStrExt;
    fs::write(path, [line.as_bytes(), b"\n"].concat()).doing_io("write", path)
}

fn make_empty(dir: &Path) -> Result<PathBuf> {
    fs::create_dir_all(dir).doing_io("make the folder", dir)?;
    if fs::read_dir(dir).doing_io("list", dir)?.next().is_some() {
        return Err(GitError::NotEmpty { path: dir.to_owned() });
    }
    fs::canonicalize(dir).doing_io("find", dir)
}

fn next_name() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("{PREFIX}-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

fn is_left_behind(admin: &Path) -> bool {
    owner(admin).is_some_and(|pid| pid != std::process::id() && !is_alive(pid))
}

/// The process that made a worktree, if it was one of ours.
fn owner(admin: &Path) -> Option<u32> {
    let name = admin.file_name()?.to_str()?;
    let (pid, _) = name.strip_prefix(PREFIX)?.strip_prefix('-')?.split_once('-')?;
    pid.parse().ok()
}

/// Whether a process exists, including other users' processes.
pub(super) fn is_alive(pid: u32) -> bool {
    i32::try_from(pid).is_ok_and(|pid| pid > 0 && signal::kill(Pid::from_raw(pid), None) != Err(Errno::ESRCH))
}

/// Removes a leftover worktree; its folder only if that points back to this entry.
fn sweep(admin: &Path) -> Result<()> {
    let link = fs::read_to_string(admin.join("gitdir")).unwrap_or_default();
    let link = Path::new(link.trim_end());
    let back = fs::read_to_string(link).unwrap_or_default();
    let points_back = back.strip_prefix("gitdir: ").is_some_and(|back| Path::new(back.trim_end()) == admin);
    match link.parent().filter(|_| points_back) {
        Some(dir) => remove(dir, admin),
        None => remove_entry(admin),
    }
}

/// Removes the checkout first: while the entry exists, a later sweep finds the rest.
fn remove(dir: &Path, admin: &Path) -> Result<()> {
    remove_folder(dir)?;
    remove_entry(admin)
}

fn remove_entry(admin: &Path) -> Result<()> {
    remove_folder(admin)?;
    if let Some(folder) = admin.parent() {
        // Git does not keep an empty `worktrees` folder either.
        fs::remove_dir(folder).ok();
    }
    Ok(())
}

fn remove_folder(path: &Path) -> Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error).doing_io("remove", path),
        Ok(()) | Err(_) => Ok(()),
    }
}
