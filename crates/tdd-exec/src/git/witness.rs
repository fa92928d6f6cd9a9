//! What the last look at the working tree saw of each folder: the next one looks into what has changed since, and into
//! nothing else.
//!
//! Folders that cannot be listed are refused: git takes them for empty, and their files for deleted.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use git2::{Index, Repository};

use super::error::Doing;
use super::private::RACY_MARGIN;
use super::{GitError, GitPath, Result, is_state};
use crate::walk::{self, Item, Kind, Look};

/// Every folder that is not ignored, as it was when it was last listed.
pub(super) struct Witness {
    folders: Arc<Vec<PathBuf>>,
    items: Vec<Vec<Item>>,
}

/// What may have changed since the last look.
pub(super) enum Since {
    /// Files at these paths, or none that are there no more.
    Files(Vec<Vec<u8>>),
    /// Too much, or something that bears on other paths: everything is to be looked at anew.
    Much,
}

/// With more files than this, looking at everything is no slower.
const MANY: usize = 200;

impl Witness {
    /// Lists every folder that is not ignored, once. `None` if there is another repository among them, into which
    /// we do not look.
    pub(super) fn look(root: &Path, git: &Repository, index: &Index) -> Result<Option<Self>> {
        let paths: Vec<_> = index.iter().map(|entry| entry.path).collect();
        let known = folders(paths.iter().map(Vec::as_slice));
        let moment = SystemTime::now();
        let (mut seen, mut all, mut nested) = (Vec::new(), Vec::new(), false);
        let mut level = vec![PathBuf::new()];
        while !level.is_empty() {
            let mut below = Vec::new();
            for (folder, listed) in level.iter().zip(walk::list(root, &level)) {
                let mut items = match listed {
                    Ok(items) => items,
                    Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => continue,
                    Err(_) => return Err(unreadable(folder)),
                };
                nested |= !folder.as_os_str().is_empty() && items.iter().any(|item| item.name == ".git");
                for item in items.iter().filter(|item| item.kind == Kind::Folder && item.name != ".git") {
                    let path = folder.join(&item.name);
                    let is_known = known.contains(path.as_os_str().as_bytes());
                    if !is_known && root.join(&path).join(".git").exists() {
                        nested = true;
                    } else if is_known || !is_ignored(git, &path)? {
                        below.push(path);
                    }
                }
                settle(&mut items, moment);
                all.push(folder.clone());
                seen.push(items);
            }
            level = below;
        }
        Ok((!nested).then(|| Self { folders: Arc::new(all), items: seen }))
    }

    /// Begins to list the same folders again.
    pub(super) fn begin(&self, root: &Path) -> Option<Look> {
        Look::begin(root, &self.folders)
    }

    /// What the same folders hold by now, or did when that look was begun; these paths were written since.
    pub(super) fn look_again(
        &mut self,
        root: &Path,
        git: &Repository,
        look: Option<Look>,
        written: &[GitPath],
    ) -> Result<Since> {
        let ahead = look.and_then(|look| look.finish(&self.folders));
        let (moment, listed) = ahead.unwrap_or_else(|| (SystemTime::now(), walk::list(root, &self.folders)));
        let mut changed = Vec::new();
        for path in written.iter().map(GitPath::as_path) {
            let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return Ok(Since::Much) };
            let news = News { root, git, folder, known: &self.folders };
            if !self.folders.iter().any(|known| known == folder) || !news.note(name, &mut changed) {
                return Ok(Since::Much);
            }
        }
        for ((folder, before), now) in self.folders.iter().zip(&mut self.items).zip(listed) {
            // Whatever it is, the look at everything will say.
            let Ok(mut now) = now else { return Ok(Since::Much) };
            let news = News { root, git, folder, known: &self.folders };
            if !news.between(before, &now, &mut changed)? || changed.len() > MANY {
                return Ok(Since::Much);
            }
            settle(&mut now, moment);
            *before = now;
        }
        changed.sort_unstable();
        changed.dedup();
        Ok(Since::Files(changed))
    }
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

fn unreadable(folder: &Path) -> GitError {
    GitError::Unreadable { path: GitPath::from_git(folder.as_os_str().as_bytes()) }
}

fn is_ignored(git: &Repository, path: &Path) -> Result<bool> {
    git.is_path_ignored(path).doing_at("check the ignore rules for", path.as_os_str().as_bytes())
}

/// The times of a file that was written a moment ago say nothing.
fn settle(items: &mut [Item], moment: SystemTime) {
    for item in items {
        if let Kind::Other(stamp) = &mut item.kind {
            *stamp = stamp.filter(|stamp| stamp.is_older(RACY_MARGIN, moment));
        }
    }
}

/// What is new in one folder.
struct News<'a> {
    root: &'a Path,
    git: &'a Repository,
    folder: &'a Path,
    /// All folders that are looked at.
    known: &'a [PathBuf],
}

impl News<'_> {
    /// Adds the files that may have changed; `false` if that is not all that there is to it.
    fn between(&self, before: &[Item], now: &[Item], changed: &mut Vec<Vec<u8>>) -> Result<bool> {
        let same_names =
            before.len() == now.len() && before.iter().zip(now).all(|(before, now)| before.name == now.name);
        if same_names {
            return Ok(before.iter().zip(now).all(|(before, now)| self.changed(before, now, changed)));
        }
        let mut gone: BTreeMap<&OsStr, &Item> = before.iter().map(|item| (item.name.as_os_str(), item)).collect();
        for item in now {
            let goes_on = match (gone.remove(item.name.as_os_str()), item.kind) {
                (Some(before), _) => self.changed(before, item, changed),
                (None, Kind::Other(_)) => self.note(&item.name, changed),
                (None, Kind::Folder) => self.is_nobodys(&item.name)?,
            };
            if !goes_on {
                return Ok(false);
            }
        }
        Ok(gone.into_values().all(|item| match item.kind {
            Kind::Folder => !self.known.contains(&self.folder.join(&item.name)),
            Kind::Other(_) => self.note(&item.name, changed),
        }))
    }

    fn changed(&self, before: &Item, now: &Item, changed: &mut Vec<Vec<u8>>) -> bool {
        match (before.kind, now.kind) {
            (Kind::Folder, Kind::Folder) => true,
            (Kind::Other(Some(before)), Kind::Other(Some(now))) if before == now => true,
            (Kind::Other(_), Kind::Other(_)) => self.note(&now.name, changed),
            (Kind::Folder, Kind::Other(_)) | (Kind::Other(_), Kind::Folder) => false,
        }
    }

    /// A file that says what other files are is no file like others.
    fn note(&self, name: &OsStr, changed: &mut Vec<Vec<u8>>) -> bool {
        if [".git", ".gitignore", ".gitattributes"].iter().any(|special| name.eq_ignore_ascii_case(special)) {
            return false;
        }
        let path = self.folder.join(name).into_os_string().into_encoded_bytes();
        if !is_state(&path) {
            changed.push(path);
        }
        true
    }

    /// Whether a new folder is one that no tree holds.
    fn is_nobodys(&self, name: &OsStr) -> Result<bool> {
        let path = self.folder.join(name);
        Ok(name != ".git" && !self.root.join(&path).join(".git").exists() && is_ignored(self.git, &path)?)
    }
}
