//! Reads and writes small folders of text files.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use tdd_exec::text;
use tdd_lang::language::Sources;

use crate::error::TrialError;

/// Most files of an exercise.
const MAX_FILES: usize = 200;
/// Largest file of an exercise, in bytes.
pub const MAX_FILE: u64 = 256 << 10;
/// Folders that tools leave behind.
const LEFT_BEHIND: [&str; 4] = ["target", "node_modules", "__pycache__", ".pytest_cache"];

/// Text files by path.
pub type Files = BTreeMap<String, String>;

/// Every text file below a folder. Binary files and folders that tools leave behind are left out.
pub fn read(folder: &Path) -> Result<Files, String> {
    let mut files = Files::new();
    collect(folder, "", &mut files)?;
    Ok(files)
}

fn collect(folder: &Path, prefix: &str, files: &mut Files) -> Result<(), String> {
    let unreadable = |error: io::Error| format!("cannot be read: `{}`: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let kind = entry.file_type().map_err(unreadable)?;
        let path = format!("{prefix}{name}");
        if kind.is_dir() && !LEFT_BEHIND.contains(&name.as_str()) {
            collect(&entry.path(), &format!("{path}/"), files)?;
        } else if kind.is_file()
            && let Ok(text) = text::read(&entry.path(), MAX_FILE)
        {
            files.insert(path, text);
        }
        if files.len() > MAX_FILES {
            return Err(format!("has more than {MAX_FILES} files"));
        }
    }
    Ok(())
}

/// The ending of a file's name, without its dot.
pub fn ending(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or_default()
}

/// Writes files below a folder.
pub fn write(folder: &Path, files: &Files) -> Result<(), TrialError> {
    for (path, text) in files {
        let path = folder.join(path);
        let made = path.parent().map_or(Ok(()), fs::create_dir_all);
        made.and_then(|()| fs::write(&path, text)).map_err(|source| TrialError::Write { path, source })?;
    }
    Ok(())
}

/// Files in memory as a language reads them.
pub struct InMemory<'f> {
    paths: Vec<String>,
    files: &'f Files,
}

impl<'f> InMemory<'f> {
    /// Reads from these files.
    pub fn new(files: &'f Files) -> Self {
        Self { paths: files.keys().cloned().collect(), files }
    }
}

impl Sources for InMemory<'_> {
    fn files(&self) -> &[String] {
        &self.paths
    }

    fn read(&self, path: &str) -> Option<String> {
        self.files.get(path).cloned()
    }
}
