//! What `init` sets out to add, noted until it is committed: one that is cut short is taken up by the next.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tdd_exec::state::{StateDir, StateError};
use tdd_exec::text;

/// Largest note that is read; a kata is the largest thing in it.
const MAX_NOTE: u64 = 8 << 20;

/// The files that are `init`'s own, by path.
#[derive(Debug)]
pub struct Begun {
    note: PathBuf,
    files: BTreeMap<String, String>,
}

impl Begun {
    /// Notes those of `files` that are missing, and adds to `files` what an earlier `init` left undone.
    pub fn begin(dir: &StateDir, root: &Path, files: &mut BTreeMap<String, String>) -> Result<Self, StateError> {
        let note = dir.path().join("init.json");
        let mut ours = left_undone(&note);
        for (path, text) in &ours {
            files.entry(path.clone()).or_insert_with(|| text.clone());
        }
        let missing = files.iter().filter(|(path, _)| is_missing(root, path));
        ours.extend(missing.map(|(path, text)| (path.clone(), text.clone())));
        let begun = Self { note, files: ours };
        if !begun.files.is_empty() {
            begun.write().map_err(|source| begun.failed("write", source))?;
        }
        Ok(begun)
    }

    /// The files that are there as they were noted.
    pub fn created(&self, root: &Path) -> Vec<String> {
        let is_ours = |path: &str, text: &str| text::read(&root.join(path), MAX_NOTE).is_ok_and(|there| there == text);
        self.files.iter().filter(|(path, text)| is_ours(path, text)).map(|(path, _)| path.clone()).collect()
    }

    /// Everything is committed: the note has served.
    pub fn end(self) -> Result<(), StateError> {
        match fs::remove_file(&self.note) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => Err(self.failed("remove", source)),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Whole or not at all, and on the disk before the first file is.
    fn write(&self) -> io::Result<()> {
        let unfinished = self.note.with_extension("tmp");
        if unfinished.symlink_metadata().is_ok() {
            fs::remove_file(&unfinished)?;
        }
        let mut file = File::create_new(&unfinished)?;
        file.write_all(&serde_json::to_vec(&self.files)?)?;
        file.sync_all()?;
        fs::rename(&unfinished, &self.note)
    }

    fn failed(&self, action: &'static str, source: io::Error) -> StateError {
        StateError::Io { action, path: self.note.clone(), source }
    }
}

/// Whether there is nothing at this path, not even a link to nothing.
pub fn is_missing(root: &Path, path: &str) -> bool {
    root.join(path).symlink_metadata().is_err()
}

/// A note that cannot be read notes nothing: its files then count as a person's.
fn left_undone(note: &Path) -> BTreeMap<String, String> {
    text::read(note, MAX_NOTE).ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}
