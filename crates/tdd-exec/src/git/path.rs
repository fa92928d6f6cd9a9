//! A path as git stores it: bytes from the root of the working tree, whatever their encoding.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use tdd_core::path::ConfinedPath;

use super::{GitError, Result};

/// A file's path from the root of the working tree, with `/` between its parts; not always UTF-8.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GitPath(Vec<u8>);

impl GitPath {
    /// Checks the bytes: a relative path whose parts are not empty, `.`, `..` or `.git`.
    pub fn new(bytes: impl AsRef<[u8]>) -> Result<Self> {
        let bytes = bytes.as_ref();
        let path = Self::from_git(bytes);
        if bytes.contains(&0) || path.parts().any(is_unsafe) {
            return Err(GitError::NotInside(path.to_string()));
        }
        Ok(path)
    }

    /// For paths that come from git; they are checked again before anything is written there.
    pub(super) fn from_git(bytes: &[u8]) -> Self {
        Self(bytes.to_owned())
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The path as text, if it is UTF-8.
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }

    /// The path as a relative [`Path`].
    pub fn as_path(&self) -> &Path {
        as_path(&self.0)
    }

    /// The path's parts: folders first, then the file name.
    pub(super) fn parts(&self) -> impl Iterator<Item = &[u8]> {
        self.0.split(|byte| *byte == b'/')
    }
}

/// Git's bytes as a relative [`Path`].
pub(super) fn as_path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

fn is_unsafe(part: &[u8]) -> bool {
    part.is_empty() || part == b"." || part == b".." || part.eq_ignore_ascii_case(b".git")
}

impl TryFrom<&ConfinedPath> for GitPath {
    type Error = GitError;

    fn try_from(path: &ConfinedPath) -> Result<Self> {
        Self::new(path.as_str())
    }
}

impl std::fmt::Display for GitPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.0))
    }
}

impl std::fmt::Debug for GitPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Debug::fmt(&String::from_utf8_lossy(&self.0), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_names_are_paths_all_the_same() {
        for bytes in ["a b/ü.rs".as_bytes(), b"caf\xe9.txt", b"back\\slash", b"new\nline"] {
            assert_eq!(GitPath::new(bytes).expect("a path").as_bytes(), bytes);
        }
    }

    #[test]
    fn what_leaves_the_tree_or_enters_git_is_no_path() {
        for bytes in ["", "/etc/passwd", "../x", "a/../x", "a//b", "a/", "./a", ".git/config", "sub/.GIT", "a\0b"] {
            assert!(GitPath::new(bytes).is_err(), "{bytes}");
        }
    }
}
