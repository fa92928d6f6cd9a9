//! Digests the rules that file times do not reveal: which files git ignores and how it converts them.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use git2::Repository;
use tdd_core::digest::Digest;

use super::error::{Doing, DoingIo};
use super::path::as_path;
use super::{Repo, Result};

/// Digests of the ignore rules and of the conversion rules.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Rules {
    pub(super) ignoring: Digest,
    pub(super) converting: Digest,
}

impl Rules {
    pub(super) fn of(repo: &Repo, git: &Repository, untracked: &BTreeSet<Vec<u8>>) -> Result<Self> {
        Ok(Self { ignoring: ignoring(repo, git, untracked)?, converting: converting(git)? })
    }

    /// The rules that are stored outside the working tree.
    pub(super) fn outside(git: &Repository) -> Result<Self> {
        Ok(Self { ignoring: Digest::of(ignoring_outside(git)?), converting: converting(git)? })
    }

    /// The rules saved by the last call, if any.
    pub(super) fn remembered(repo: &Repo) -> Option<Self> {
        let text = fs::read(repo.private("rules")).ok()?;
        let (ignoring, converting): (Digest, Digest) = serde_json::from_slice(&text).ok()?;
        Some(Self { ignoring, converting })
    }

    pub(super) fn remember(&self, repo: &Repo) -> Result<()> {
        if Self::remembered(repo).as_ref() == Some(self) {
            return Ok(());
        }
        let path = repo.private("rules");
        let text = format!("[\"{}\",\"{}\"]\n", self.ignoring, self.converting);
        fs::write(&path, text).doing_io("write", &path)
    }
}

pub(super) fn is_ignored(git: &Repository, path: &Path) -> Result<bool> {
    git.is_path_ignored(path).doing_at("check the ignore rules for", path.as_os_str().as_bytes())
}

/// Digest of the ignore files above the untracked paths, and of those paths.
fn ignoring(repo: &Repo, git: &Repository, untracked: &BTreeSet<Vec<u8>>) -> Result<Digest> {
    let mut bytes = ignoring_outside(git)?;
    for folder in folders(untracked.iter().map(Vec::as_slice)) {
        bytes.extend(content_of(&repo.root.join(as_path(folder)).join(".gitignore")));
    }
    for path in untracked {
        bytes.extend(path);
        bytes.push(0);
    }
    Ok(Digest::of(bytes))
}

fn ignoring_outside(git: &Repository) -> Result<Vec<u8>> {
    let mut bytes = setting(git, "core.ignorecase")?;
    bytes.extend(content_of(&git.commondir().join("info/exclude")));
    bytes.extend(file_setting(git, "core.excludesfile")?);
    bytes.extend(default_excludes().map(|path| content_of(&path)).unwrap_or_default());
    Ok(bytes)
}

/// Every folder above these paths, including the root.
pub(super) fn folders<'a>(paths: impl Iterator<Item = &'a [u8]>) -> BTreeSet<&'a [u8]> {
    let mut folders = BTreeSet::from([&b""[..]]);
    for path in paths {
        let mut rest = path;
        while let Some(end) = rest.iter().rposition(|byte| *byte == b'/') {
            rest = &rest[..end];
            if !folders.insert(rest) {
                break;
            }
        }
    }
    folders
}

/// Git's default location of the user's ignore file.
fn default_excludes() -> Option<PathBuf> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = set("XDG_CONFIG_HOME").or_else(|| set("HOME").map(|home| home.join(".config")))?;
    Some(folder.join("git/ignore"))
}

/// Digest of the settings for line ends, modes and links, and of the attributes files outside the tree.
fn converting(git: &Repository) -> Result<Digest> {
    let mut bytes = Vec::new();
    for name in ["core.autocrlf", "core.eol", "core.filemode", "core.symlinks"] {
        bytes.extend(setting(git, name)?);
    }
    bytes.extend(content_of(&git.commondir().join("info/attributes")));
    bytes.extend(file_setting(git, "core.attributesfile")?);
    Ok(Digest::of(bytes))
}

fn setting(git: &Repository, name: &str) -> Result<Vec<u8>> {
    let config = git.config().doing("read the configuration")?;
    let value = config.get_string(name).unwrap_or_default();
    Ok(format!("{name}={value}\0").into_bytes())
}

fn file_setting(git: &Repository, name: &str) -> Result<Vec<u8>> {
    let config = git.config().doing("read the configuration")?;
    Ok(config.get_path(name).map(|path| content_of(&path)).unwrap_or_default())
}

/// A file's content with its length in front; a missing file has an encoding of its own.
fn content_of(path: &Path) -> Vec<u8> {
    let Ok(content) = fs::read(path) else { return b"-\0".to_vec() };
    let mut bytes = format!("{}\0", content.len()).into_bytes();
    bytes.extend(content);
    bytes
}
