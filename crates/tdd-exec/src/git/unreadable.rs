//! Folders that cannot be listed: git takes them for empty, and their files for deleted; we refuse.

use std::collections::BTreeSet;
use std::fs::{self, DirEntry};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use git2::{Index, Repository};

use super::error::Doing;
use super::path::as_path;
use super::{GitError, GitPath, Result};

/// Lists every folder that is not ignored, once.
pub(super) fn check(root: &Path, git: &Repository, index: &Index) -> Result<()> {
    let paths: Vec<_> = index.iter().map(|entry| entry.path).collect();
    let known = folders(paths.iter().map(Vec::as_slice));
    let walk = Walk { root, git, known: &known };
    known.iter().try_for_each(|folder| walk.check(folder))
}

/// Every folder above these paths, the root among them.
pub(super) fn folders<'a>(paths: impl Iterator<Item = &'a [u8]>) -> BTreeSet<&'a [u8]> {
    let mut folders = BTreeSet::from([&b""[..]]);
    let mut last = &b""[..];
    for path in paths {
        let mut rest = path;
        while let Some(end) = rest.iter().rposition(|byte| *byte == b'/') {
            rest = &rest[..end];
            if rest == last || !folders.insert(rest) {
                break;
            }
        }
        last = parent(path);
    }
    folders
}

fn parent(path: &[u8]) -> &[u8] {
    path.iter().rposition(|byte| *byte == b'/').map_or(b"", |end| &path[..end])
}

struct Walk<'a> {
    root: &'a Path,
    git: &'a Repository,
    known: &'a BTreeSet<&'a [u8]>,
}

impl Walk<'_> {
    fn check(&self, folder: &[u8]) -> Result<()> {
        let unreadable = || GitError::Unreadable { path: GitPath::from_git(folder) };
        let entries = match fs::read_dir(self.root.join(as_path(folder))) {
            Ok(entries) => entries,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(()),
            Err(_) => return Err(unreadable()),
        };
        for entry in entries {
            let entry = entry.map_err(|_| unreadable())?;
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                self.check_new(folder, &entry)?;
            }
        }
        Ok(())
    }

    /// A folder without files of the tree: ignored, empty, new, another repository, or unreadable.
    fn check_new(&self, folder: &[u8], entry: &DirEntry) -> Result<()> {
        let name = entry.file_name();
        let separator: &[u8] = if folder.is_empty() { b"" } else { b"/" };
        let path = [folder, separator, name.as_bytes()].concat();
        let is_ours = name != ".git" && !self.known.contains(path.as_slice()) && !entry.path().join(".git").exists();
        if !is_ours || self.git.is_path_ignored(as_path(&path)).doing_at("check the ignore rules for", &path)? {
            return Ok(());
        }
        self.check(&path)
    }
}
