//! Moves a ref atomically, and removes the ref's lock only if a killed move of ours left it.
//!
//! Before a ref moves, a note in our folder names the ref, its new commit and our process. A ref lock is ours if the
//! noted process is dead and the lock holds the noted commit, or is still empty and was made right after the note.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use git2::{ErrorCode, Oid};

use super::error::{Doing, DoingIo};
use super::worktree::is_alive;
use super::{GitError, Repo, Result};

/// Longest time between note and lock: one call apart, but some file systems count whole seconds.
const MAX_LOCK_DELAY: Duration = Duration::from_secs(2);

/// A ref move to perform.
#[derive(Clone, Copy, Debug)]
pub(super) struct Move<'a> {
    /// The ref's full name.
    pub name: &'a str,
    /// The commit the ref must be at; `None` if it must not exist.
    pub from: Option<Oid>,
    /// The commit it moves to.
    pub to: Oid,
    /// The reflog message.
    pub log: &'a str,
}

impl Repo {
    /// Moves a ref; `false` if it is not at `from`. The caller must hold our private lock.
    pub(super) fn move_ref(&self, to_move: &Move<'_>) -> Result<bool> {
        self.settle_move()?;
        let note = self.private("moving");
        let Move { name, from, to, log } = *to_move;
        fs::write(&note, format!("{} {to} {name}\n", std::process::id())).doing_io("write", &note)?;
        let moved = match from {
            Some(from) => self.git.reference_matching(name, to, /* force */ true, from, log),
            None => self.git.reference(name, to, /* force */ false, log),
        };
        // The next move overwrites a note that cannot be emptied. Emptying is faster than deleting.
        let _emptied = fs::write(&note, "");
        match moved {
            Ok(_) => Ok(true),
            Err(error) => match error.code() {
                ErrorCode::Modified | ErrorCode::Exists | ErrorCode::NotFound => Ok(false),
                ErrorCode::Locked => Err(GitError::RefLocked { path: self.lock_of(name) }),
                _ => Err(error).doing("move the branch"),
            },
        }
    }

    /// Cleans up after a ref move that a kill interrupted.
    pub(super) fn heal_move(&self) -> Result<()> {
        if !fs::metadata(self.private("moving")).is_ok_and(|meta| meta.len() > 0) {
            return Ok(());
        }
        let _ours = self.lock_private()?;
        self.settle_move()
    }

    fn settle_move(&self) -> Result<()> {
        let note = self.private("moving");
        let Some(text) = fs::read_to_string(&note).ok().filter(|text| !text.is_empty()) else { return Ok(()) };
        if let Some((pid, to, name)) = read(&text) {
            if pid != std::process::id() && is_alive(pid) {
                return Ok(());
            }
            let lock = self.lock_of(name);
            if self.is_ours(&lock, to) {
                fs::remove_file(&lock).doing_io("remove", &lock)?;
            }
        }
        fs::write(&note, "").doing_io("write", &note)
    }

    fn is_ours(&self, lock: &std::path::Path, to: &str) -> bool {
        let Ok(held) = fs::read_to_string(lock) else { return false };
        let made = |path: &std::path::Path| fs::metadata(path).and_then(|meta| meta.modified());
        let delay = || {
            let (noted, locked) = (made(&self.private("moving")).ok()?, made(lock).ok()?);
            locked.duration_since(noted).ok()
        };
        held.trim() == to || held.is_empty() && delay().is_some_and(|after| after < MAX_LOCK_DELAY)
    }

    /// The file with which git locks a ref; HEAD's is in this worktree's own git folder.
    fn lock_of(&self, name: &str) -> PathBuf {
        let folder = if name == "HEAD" { self.git.path() } else { self.git.commondir() };
        folder.join(format!("{name}.lock"))
    }
}

/// The note's process id, new commit and ref name.
fn read(note: &str) -> Option<(u32, &str, &str)> {
    let mut words = note.trim_end().splitn(3, ' ');
    Some((words.next()?.parse().ok()?, words.next()?, words.next()?))
}
