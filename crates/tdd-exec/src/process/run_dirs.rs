//! Private home and temporary folders for one run; the next run sees nothing that was left there.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use nix::errno::Errno;
use nix::sys::signal::kill;
use nix::unistd::{Pid, getuid};

use super::error::ProcessError;

/// Folders that a run left unchanged: the next run reuses them instead of making new ones.
#[derive(Debug, Default)]
pub(super) struct Untouched(Mutex<Vec<RunDirs>>);

impl Untouched {
    /// Empty folders inside `temp`.
    pub(super) fn take(&self, temp: &Path) -> Result<RunDirs, ProcessError> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match kept.iter().position(|dirs| dirs.folder.starts_with(temp)) {
            Some(n) => Ok(kept.swap_remove(n)),
            None => RunDirs::make(temp),
        }
    }

    /// Keeps the folders if the run left nothing in them; otherwise removes them.
    pub(super) fn give_back(&self, dirs: RunDirs) {
        if dirs.are_as_new() {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(dirs);
        }
    }
}

/// The folders of one run; dropping them removes them.
#[derive(Debug)]
pub(super) struct RunDirs {
    folder: PathBuf,
}

impl RunDirs {
    /// Makes the folders inside `temp`, and removes those that dead processes left there.
    pub(super) fn make(temp: &Path) -> Result<Self, ProcessError> {
        let base = temp.join(base_name());
        let scratch = |folder: &Path| {
            let folder = folder.to_owned();
            |source| ProcessError::Scratch { folder, source }
        };
        make_base(&base).map_err(scratch(&base))?;
        sweep(&base);
        let dirs = Self { folder: make_unique(&base).map_err(scratch(&base))? };
        for folder in [dirs.home(), dirs.tmp()] {
            make_private(&folder).map_err(scratch(&folder))?;
        }
        Ok(dirs)
    }

    /// Whether the folders look newly made.
    fn are_as_new(&self) -> bool {
        let entries = |folder: &Path| fs::read_dir(folder).map(Iterator::count).ok();
        let is_as_made = |folder: &Path, count| is_private(folder).unwrap_or(false) && entries(folder) == Some(count);
        is_as_made(&self.folder, 2) && is_as_made(&self.home(), 0) && is_as_made(&self.tmp(), 0)
    }

    pub(super) fn home(&self) -> PathBuf {
        self.folder.join("home")
    }

    /// The run's folder for temporary files.
    pub(super) fn tmp(&self) -> PathBuf {
        self.folder.join("tmp")
    }
}

impl Drop for RunDirs {
    fn drop(&mut self) {
        remove(&self.folder);
    }
}

/// One folder per user and process id namespace: containers can share `/tmp` without sharing process ids, so a process
/// that is dead here may be alive there.
fn base_name() -> String {
    let space = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let digits: String = space.to_string_lossy().chars().filter(char::is_ascii_digit).collect();
    format!("tdd-runs-{}-{digits}", getuid())
}

/// Makes the base folder. An existing one must be private: in a shared `/tmp`, another user may have made it first in
/// order to read our files.
fn make_base(base: &Path) -> io::Result<()> {
    match make_private(base) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        made => return made,
    }
    if is_private(base)? {
        Ok(())
    } else {
        Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "it exists already and is not a private folder of this user",
        ))
    }
}

/// Whether this is a real folder, not a link, that only we can access.
fn is_private(folder: &Path) -> io::Result<bool> {
    let found = fs::symlink_metadata(folder)?;
    Ok(found.is_dir() && found.uid() == getuid().as_raw() && found.mode() & 0o7777 == 0o700)
}

fn make_private(folder: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(folder)
}

fn make_unique(base: &Path) -> io::Result<PathBuf> {
    static RUNS: AtomicU64 = AtomicU64::new(0);
    loop {
        let run = RUNS.fetch_add(1, Ordering::Relaxed);
        let folder = base.join(format!("{}-{run}", std::process::id()));
        match make_private(&folder) {
            Ok(()) => return Ok(folder),
            // A dead process with our process id left this folder.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

/// Removes the folders of dead processes; what cannot be removed is left for the next time.
fn sweep(base: &Path) {
    let Ok(entries) = fs::read_dir(base) else { return };
    for entry in entries.flatten() {
        if owner(&entry.file_name().to_string_lossy()).is_some_and(is_dead) {
            remove(&entry.path());
        }
    }
}

/// The process that made a folder of this name.
fn owner(name: &str) -> Option<Pid> {
    let (pid, _) = name.split_once('-')?;
    pid.parse().ok().filter(|pid| *pid > 0).map(Pid::from_raw)
}

fn is_dead(pid: Pid) -> bool {
    kill(pid, None) == Err(Errno::ESRCH)
}

/// Removes a folder, making it writable if needed: some programs leave read-only folders, such as Go's module cache.
fn remove(folder: &Path) {
    if fs::remove_dir_all(folder).is_err() {
        open_up(folder);
        let _ = fs::remove_dir_all(folder);
    }
}

fn open_up(folder: &Path) {
    let _ = fs::set_permissions(folder, Permissions::from_mode(0o700));
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        // The entry's own type: links are not followed.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folders_are_private_and_gone_afterwards() {
        let parent = tempfile::tempdir().expect("temp");
        let dirs = RunDirs::make(parent.path()).expect("dirs");
        let (home, tmp) = (dirs.home(), dirs.tmp());
        assert_eq!(fs::metadata(&home).expect("home").mode() & 0o777, 0o700);
        fs::write(tmp.join("left"), "x").expect("write");
        fs::create_dir(home.join("locked")).expect("mkdir");
        fs::set_permissions(home.join("locked"), Permissions::from_mode(0o500)).expect("chmod");
        drop(dirs);
        assert!(!home.exists() && !tmp.exists());
    }

    fn check_reuse(touch: impl Fn(&RunDirs), reused: bool) {
        let parent = tempfile::tempdir().expect("temp");
        let untouched = Untouched::default();
        let dirs = untouched.take(parent.path()).expect("dirs");
        touch(&dirs);
        let folder = dirs.folder.clone();
        untouched.give_back(dirs);
        assert_eq!(folder.exists(), reused);
        let again = untouched.take(parent.path()).expect("dirs");
        assert_eq!(again.folder == folder, reused);
        assert!(again.are_as_new());
    }

    #[test]
    fn folders_in_which_a_run_left_nothing_serve_the_next_one() {
        check_reuse(|_| {}, true);
        let passing = |dirs: &RunDirs| {
            fs::write(dirs.tmp().join("x"), "x").expect("write");
            fs::remove_file(dirs.tmp().join("x")).expect("remove");
        };
        check_reuse(passing, true);
    }

    #[test]
    fn folders_that_a_run_left_otherwise_serve_nobody_again() {
        check_reuse(|dirs| fs::write(dirs.tmp().join("x"), "x").expect("write"), false);
        check_reuse(|dirs| fs::write(dirs.folder.join("x"), "x").expect("write"), false);
        check_reuse(|dirs| fs::remove_dir(dirs.home()).expect("rmdir"), false);
        let open = |dirs: &RunDirs| fs::set_permissions(dirs.home(), Permissions::from_mode(0o755)).expect("chmod");
        check_reuse(open, false);
        let elsewhere = |dirs: &RunDirs| {
            fs::remove_dir(dirs.home()).expect("rmdir");
            std::os::unix::fs::symlink(dirs.tmp(), dirs.home()).expect("link");
        };
        check_reuse(elsewhere, false);
    }

    #[test]
    fn two_runs_at_once_have_folders_of_their_own() {
        let parent = tempfile::tempdir().expect("temp");
        let untouched = Untouched::default();
        let (one, other) = (untouched.take(parent.path()), untouched.take(parent.path()));
        assert_ne!(one.expect("dirs").folder, other.expect("dirs").folder);
    }

    #[test]
    fn leftovers_of_the_dead_are_removed_and_those_of_the_living_kept() {
        let parent = tempfile::tempdir().expect("temp");
        let base = parent.path().join(base_name());
        make_base(&base).expect("base");
        // No process id is as large as the first; process 1 always lives.
        for name in ["2147483000-0", "1-0", "other"] {
            fs::create_dir_all(base.join(name).join("tmp")).expect("mkdir");
        }
        let dirs = RunDirs::make(parent.path()).expect("dirs");
        let there = |name: &str| base.join(name).exists();
        assert_eq!([there("2147483000-0"), there("1-0"), there("other")], [false, true, true]);
        assert!(dirs.home().exists());
    }

    #[test]
    fn a_folder_that_others_can_read_is_not_trusted() {
        let parent = tempfile::tempdir().expect("temp");
        let base = parent.path().join(base_name());
        fs::create_dir(&base).expect("mkdir");
        fs::set_permissions(&base, Permissions::from_mode(0o755)).expect("chmod");
        assert!(matches!(RunDirs::make(parent.path()), Err(ProcessError::Scratch { .. })));
    }
}
