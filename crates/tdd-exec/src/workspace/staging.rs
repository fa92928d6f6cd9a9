//! Where content waits, whole and synced, until one rename gives it its name.

use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::path::PathBuf;

use super::apply::changed;
use super::folder::{Content, Entry, Folder};

/// The one folder for it, so that a start finds what a kill left.
const PARTS: [&str; 2] = [".tdd", "tmp"];
const PREFIX: &str = ".tdd-tmp-";

/// Opens the folder, made where it is missing.
pub(super) fn open(root: &Folder) -> io::Result<Folder> {
    root.make(PARTS[0])?;
    let state = root.enter(PARTS[0])?;
    state.make(PARTS[1])?;
    state.enter(PARTS[1])
}

/// Removes what is left in it, if it is there.
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

/// A file without a lasting name; unless it gets one, it is removed.
#[derive(Debug)]
pub(super) struct Staged<'a> {
    folder: &'a Folder,
    name: String,
    file: File,
    content: &'a Content,
    named: bool,
}

impl<'a> Staged<'a> {
    /// Writes the content.
    pub(super) fn new(folder: &'a Folder, content: &'a Content) -> io::Result<Self> {
        let name = temporary();
        let file = folder.create(&name, content.mode)?;
        // From here on a failure removes it.
        let mut staged = Self { folder, name, file, content, named: false };
        staged.file.write_all(&content.bytes)?;
        Ok(staged)
    }

    /// Waits until it is on the disk, so that no crash can leave its name without its content.
    pub(super) fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    /// What it holds.
    pub(super) fn content(&self) -> &'a Content {
        self.content
    }

    /// Takes the place of a file that holds `before`. The two are exchanged first and compared then, so that what
    /// somebody saves in between is not lost; if it differs, they are exchanged back.
    pub(super) fn replace(&mut self, to: &Folder, name: &str, before: &Content) -> io::Result<()> {
        if !self.folder.exchange(&self.name, to, name)? {
            return self.name(to, name);
        }
        let mut last_put = self.content.bytes.clone();
        if is_same(self.folder, &self.name, &before.bytes) {
            return Ok(());
        }
        // Somebody may save once more while theirs is put back: the newest version stays.
        loop {
            let put = self.folder.read(&self.name)?.map(|content| content.bytes).unwrap_or_default();
            self.folder.exchange(&self.name, to, name)?;
            if is_same(self.folder, &self.name, &last_put) {
                return Err(changed());
            }
            last_put = put;
        }
    }

    /// Takes a name that must be free.
    pub(super) fn name_free(&mut self, to: &Folder, name: &str) -> io::Result<()> {
        match self.folder.rename_to_free(&self.name, to, name) {
            Ok(true) => {
                self.named = true;
                Ok(())
            }
            Ok(false) => self.name(to, name),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(changed()),
            Err(error) => Err(error),
        }
    }

    /// Gives it its name in one instant. In a folder on another disk it is written there a second time.
    fn name(&mut self, to: &Folder, name: &str) -> io::Result<()> {
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

    /// Keeps it where no sweep takes it away; tells where, relative to the root.
    pub(super) fn rescue(&mut self) -> io::Result<PathBuf> {
        let name = self.name.replacen(PREFIX, "rescued-", 1);
        self.folder.rename(&self.name, self.folder, &name)?;
        self.named = true;
        Ok(PARTS.iter().copied().chain([name.as_str()]).collect())
    }
}

/// Removes a file that holds `before`. It is moved away first and compared then.
pub(super) fn take_away(staging: &Folder, from: &Folder, name: &str, before: &Content) -> io::Result<()> {
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
        // Without a rename that respects others, the old name is free as far as we know.
        Ok(false) => staging.rename(&aside, from, name).and_then(|()| Err(changed())),
        // Somebody saved once more: that version stays, and this one is older.
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
            // What stays is swept at the next start.
            let _ = self.folder.remove(&self.name);
        }
    }
}
