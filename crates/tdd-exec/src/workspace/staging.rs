//! Where content waits, whole and synced, until one rename gives it its name.

use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::path::PathBuf;

use super::folder::{Content, Folder, Found};

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
    if !matches!(root.find(PARTS[0])?, Found::Folder) {
        return Ok(());
    }
    let state = root.enter(PARTS[0])?;
    if !matches!(state.find(PARTS[1])?, Found::Folder) {
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
        let name = format!("{PREFIX}{:016x}", RandomState::new().hash_one(0));
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

    /// Gives it its name in one instant. In a folder on another disk it is written there a second time.
    pub(super) fn name(&mut self, to: &Folder, name: &str) -> io::Result<()> {
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

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        if !self.named {
            // What stays is swept at the next start.
            let _ = self.folder.remove(&self.name);
        }
    }
}
