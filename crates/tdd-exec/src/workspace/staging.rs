//! Holds new content, complete and synced, until a rename puts it in place.

use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::path::PathBuf;

use super::apply::changed;
use super::folder::{Content, Entry, Folder};

/// The staging folder; always the same, so that the next start finds what a kill left.
const PARTS: [&str; 2] = [".tdd", "tmp"];
const PREFIX: &str = ".tdd-tmp-";

/// Opens the staging folder, creating it if needed.
pub(super) fn open(root: &Folder) -> io::Result<Folder> {
    root.make(PARTS[0])?;
    let state = root.enter(PARTS[0])?;
    state.make(PARTS[1])?;
    state.enter(PARTS[1])
}

/// Removes leftovers from the staging folder.
pub(super) fn sweep(root: &Folder) -> io::Result<()> {
    if !matches!(root.find(PARTS[0])?, Entry::Folder) {
        return Ok(());
    }
    let state = root.enter(PARTS[0])?;
    if !matches!(state.find(PARTS[1])?, Entry::Folder) {
        return Ok(());
    }
    let folder = state.enter(PARTS[1])?;
    folder.names()?.iter().filter(|name| name.starts_with(PREFIX)).try_for_each(|name| folder.remove(name))
}

/// A temporary file, removed unless it is renamed into place.
#[derive(Debug)]
pub(super) struct Staged<'a> {
    folder: &'a Folder,
    name: String,
    file: File,
    content: &'a Content,
    named: bool,
}

impl<'a> Staged<'a> {
    /// Writes the content to a new temporary file.
    pub(super) fn new(folder: &'a Folder, content: &'a Content) -> io::Result<Self> {
        let name = temporary();
        let file = folder.create(&name, content.mode)?;
        // From here on, a failure removes the file.
        let mut staged = Self { folder, name, file, content, named: false };
        staged.file.write_all(&content.bytes)?;
        Ok(staged)
    }

    /// Syncs the file, so that a crash cannot leave its name without its content.
    pub(super) fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    pub(super) fn content(&self) -> &'a Content {
        self.content
    }

    /// Replaces a file that holds `before`. Swaps the two first and compares afterwards, so that nothing saved in
    /// between is lost; if the content differs, swaps them back.
    pub(super) fn replace(&mut self, to: &Folder, name: &str, before: &Content) -> io::Result<()> {
        if !self.folder.exchange(&self.name, to, name)? {
            return self.rename_into_place(to, name);
        }
        let mut last_put = self.content.bytes.clone();
        if is_same(self.folder, &self.name, &before.bytes) {
            return Ok(());
        }
        // Somebody may save again while we swap back; the newest version wins.
        loop {
            let put = self.folder.read(&self.name)?.map(|content| content.bytes).unwrap_or_default();
            self.folder.exchange(&self.name, to, name)?;
            if is_same(self.folder, &self.name, &last_put) {
                return Err(changed());
            }
            last_put = put;
        }
    }

    /// Moves the file to a name that must be free.
    pub(super) fn rename_if_free(&mut self, to: &Folder, name: &str) -> io::Result<()> {
        match self.folder.rename_to_free(&self.name, to, name) {
            Ok(true) => {
                self.named = true;
                Ok(())
            }
            Ok(false) => self.rename_into_place(to, name),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(changed()),
            Err(error) => Err(error),
        }
    }

    /// Renames the file into place atomically. In a folder on another disk, writes a second copy there first.
    fn rename_into_place(&mut self, to: &Folder, name: &str) -> io::Result<()> {
        match self.folder.rename(&self.name, to, name) {
            Ok(()) => self.named = true,
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                let mut near = Staged::new(to, self.content)?;
                near.sync()?;
                to.rename(&near.name, to, name)?;
                near.named = true;
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Renames the file so that no sweep removes it; returns its path relative to the root.
    pub(super) fn rescue(&mut self) -> io::Result<PathBuf> {
        let name = self.name.replacen(PREFIX, "rescued-", 1);
        self.folder.rename(&self.name, self.folder, &name)?;
        self.named = true;
        Ok(PARTS.iter().copied().chain([name.as_str()]).collect())
    }
}

/// Removes a file that holds `before`. Moves it away first and compares afterwards.
pub(super) fn remove_if_unchanged(staging: &Folder, from: &Folder, name: &str, before: &Content) -> io::Result<()> {
    let aside = temporary();
    match from.rename(name, staging, &aside) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => return from.remove(name),
        Err(error) => return Err(error),
    }
    if is_same(staging, &aside, &before.bytes) {
        return staging.remove(&aside);
    }
    match staging.rename_to_free(&aside, from, name) {
        Ok(true) => Err(changed()),
        // This file system cannot check that a name is free; we just freed it ourselves.
        Ok(false) => staging.rename(&aside, from, name).and_then(|()| Err(changed())),
        // Somebody saved a newer version, which stays.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(changed()),
        Err(error) => Err(error),
    }
}

fn is_same(folder: &Folder, name: &str, bytes: &[u8]) -> bool {
    matches!(folder.find(name), Ok(Entry::File))
        && folder.read(name).is_ok_and(|found| found.is_some_and(|found| found.bytes == bytes))
}

fn temporary() -> String {
    format!("{PREFIX}{:016x}", RandomState::new().hash_one(0))
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        if !self.named {
            // The next start sweeps what cannot be removed.
            let _ = self.folder.remove(&self.name);
        }
    }
}
