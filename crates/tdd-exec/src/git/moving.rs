//! Moves a ref; the lock that a killed move of ours left behind is removed, and no other.
//!
//! Before a ref moves, a note in our own folder says which one, where to, and who moves it. A lock of git's is ours if
//! the note's process is no more and the lock holds what the note says, or nothing yet, made right after the note.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use git2::{ErrorCode, Oid};

use super::error::{Doing, DoingIo};
use super::worktree::is_alive;
use super::{GitError, Repo, Result};

/// Between the note and the lock there is no more than one call; a file system may count whole seconds.
const AT_ONCE: Duration = Duration::from_secs(2);

/// A ref that is to move.
#[derive(Clone, Copy, Debug)]
pub(super) struct Move<'a> {
    /// Its whole name.
    pub name: &'a str,
    /// Where it must be; `None` if it must not be there.
    pub from: Option<Oid>,
    /// Where it goes.
    pub to: Oid,
    /// What its log says.
    pub log: &'a str,
}

impl Repo {
    /// Moves a ref from where it was seen; `false` if it is no longer there. Our own folder must be held.
    pub(super) fn move_ref(&self, to_move: &Move<'_>) -> Result<bool> {
        self.settle_move()?;
        let note = self.private("moving");
        let Move { name, from, to, log } = *to_move;
        fs::write(&note, format!("{} {to} {name}\n", std::process::id())).doing_io("write", &note)?;
        let moved = match from {
            Some(from) => self.git.reference_matching(name, to, /* force */ true, from, log),
            None => self.git.reference(name, to, /* force */ false, log),
        };
        // What cannot be emptied is written over by the next move. The file stays: that is faster than another one.
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

    /// What a move that a kill cut short left behind, if there is anything.
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
        let at_once = || {
            let (noted, locked) = (made(&self.private("moving")).ok()?, made(lock).ok()?);
            locked.duration_since(noted).ok()
        };
        held.trim() == to || held.is_empty() && at_once().is_some_and(|after| after < AT_ONCE)
    }

    /// The file by which git holds a ref: HEAD is this working tree's own.
    fn lock_of(&self, name: &str) -> PathBuf {
        let folder = if name == "HEAD" { self.git.path() } else { self.git.commondir() };
        folder.join(format!("{name}.lock"))
    }
}

/// Who moves, where to, and what.
fn read(note: &str) -> Option<(u32, &str, &str)> {
    let mut words = note.trim_end().splitn(3, ' ');
    Some((words.next()?.parse().ok()?, words.next()?, words.next()?))
}
