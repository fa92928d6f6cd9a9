//! What the last look at the working tree saw of each folder: the next one looks into what has changed since, and into
//! nothing else.
//!
//! Folders that cannot be listed are refused: git takes them for empty, and their files for deleted.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use git2::{Index, Repository};

use super::error::Doing;
use super::private::RACY_MARGIN;
use super::{GitError, GitPath, Result, is_state};
use crate::walk::{self, Kind, Look, News, Seen};

/// Every folder that is not ignored, as it was when it was last listed.
pub(super) struct Witness {
    seen: Seen,
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
        let (mut seen, mut nested) = (Vec::new(), false);
        let mut level = vec![PathBuf::new()];
        while !level.is_empty() {
            let mut below = Vec::new();
            for (folder, listed) in level.iter().zip(walk::list(root, &level)) {
                let listed = match listed {
                    Ok(listed) => listed,
                    Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => continue,
                    Err(_) => return Err(unreadable(folder)),
                };
                nested |= !folder.as_os_str().is_empty() && listed.items.iter().any(|item| item.name == ".git");
                for item in listed.items.iter().filter(|item| item.kind == Kind::Folder && item.name != ".git") {
                    let path = folder.join(&item.name);
                    let is_known = known.contains(path.as_os_str().as_bytes());
                    if !is_known && root.join(&path).join(".git").exists() {
                        nested = true;
                    } else if is_known || !is_ignored(git, &path)? {
                        below.push(path);
                    }
                }
                seen.push((folder.clone(), listed));
            }
            level = below;
        }
        Ok((!nested).then(|| Self { seen: Seen::new(seen, RACY_MARGIN, moment) }))
    }

    /// Begins to list the same folders again.
    pub(super) fn begin(&self, root: &Path) -> Option<Look> {
        self.seen.begin(root)
    }

    /// What the same folders hold by now, or did when that look was begun; these paths were written since.
    pub(super) fn look_again(
        &mut self,
        root: &Path,
        git: &Repository,
        look: Option<Look>,
        written: &[GitPath],
    ) -> Result<Since> {
        // Whatever is in the way of a look, the look at everything will say.
        let Some(all) = self.seen.look_again(root, look) else { return Ok(Since::Much) };
        let reader = Reader { root, git, known: self.seen.paths() };
        let mut changed = Vec::new();
        for path in written.iter().map(GitPath::as_path) {
            let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return Ok(Since::Much) };
            if !reader.known.iter().any(|known| known == folder) || !note(folder, name, &mut changed) {
                return Ok(Since::Much);
            }
        }
        for news in all {
            if !reader.read(&news, &mut changed)? || changed.len() > MANY {
                return Ok(Since::Much);
            }
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

pub(super) fn is_ignored(git: &Repository, path: &Path) -> Result<bool> {
    git.is_path_ignored(path).doing_at("check the ignore rules for", path.as_os_str().as_bytes())
}

/// What is new, for a tree that may hold it.
struct Reader<'a> {
    root: &'a Path,
    git: &'a Repository,
    /// All folders that are looked at.
    known: &'a [PathBuf],
}

impl Reader<'_> {
    /// Adds the files that may have changed; `false` if that is not all that there is to it.
    fn read(&self, news: &News, changed: &mut Vec<Vec<u8>>) -> Result<bool> {
        let folder = &self.known[news.folder];
        Ok(match (news.before, news.now) {
            (None | Some(Kind::Other(_)), None | Some(Kind::Other(_))) => note(folder, &news.name, changed),
            (None, Some(Kind::Folder)) => self.is_nobodys(&folder.join(&news.name))?,
            (Some(Kind::Folder), None) => !self.known.contains(&folder.join(&news.name)),
            (Some(Kind::Folder), Some(_)) | (Some(Kind::Other(_)), Some(Kind::Folder)) => false,
        })
    }

    /// Whether a new folder is one that no tree holds.
    fn is_nobodys(&self, path: &Path) -> Result<bool> {
        Ok(!path.ends_with(".git") && !self.root.join(path).join(".git").exists() && is_ignored(self.git, path)?)
    }
}

/// Adds a file, unless it says what other files are: that is no file like others.
fn note(folder: &Path, name: &OsStr, changed: &mut Vec<Vec<u8>>) -> bool {
    if [".git", ".gitignore", ".gitattributes"].iter().any(|special| name.eq_ignore_ascii_case(special)) {
        return false;
    }
    let path = folder.join(name).into_os_string().into_encoded_bytes();
    if !is_state(&path) {
        changed.push(path);
    }
    true
}
