//! Paths that cannot leave the project, checked before they may name a file.

use serde::{Deserialize, Deserializer, Serialize};

/// A relative path inside the project, with `/` between its parts; no part is empty, `.` or `..`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct ConfinedPath(String);

/// A path that a model's edit may name: confined and not protected.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct RepoPath(ConfinedPath);

/// Why a path is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// It is empty.
    #[error("the path is empty")]
    Empty,
    /// It starts at a root or a drive.
    #[error("`{0}` is absolute; name files relative to the project's root")]
    Absolute(String),
    /// It has a `..`.
    #[error("`{0}` contains `..`; a path must stay inside the project")]
    Parent(String),
    /// It has an empty or `.` part.
    #[error("`{0}` has an empty or `.` part")]
    EmptyPart(String),
    /// It has a control character (such as NUL) or a backslash.
    #[error("`{0}` has a character that no project path may hold (control character or backslash)")]
    Character(String),
    /// It or one of its parts is longer than file systems allow.
    #[error("the path is too long ({0} bytes)")]
    TooLong(usize),
    /// Only `tdd-cli` or a person may change it.
    #[error("`{0}` is protected; only a person changes it")]
    Protected(String),
}

/// Longest path and longest part, in bytes.
const MAX_PATH: usize = 4096;
const MAX_PART: usize = 255;

impl ConfinedPath {
    /// Checks a path. Nothing is normalised, so that equal files have equal paths.
    pub fn new(text: &str) -> Result<Self, PathError> {
        let shown = || text.escape_debug().to_string();
        if text.is_empty() {
            return Err(PathError::Empty);
        }
        if text.len() > MAX_PATH || text.split('/').any(|part| part.len() > MAX_PART) {
            return Err(PathError::TooLong(text.len()));
        }
        if text.chars().any(|c| c.is_control() || c == '\\' || is_line_break(c)) {
            return Err(PathError::Character(shown()));
        }
        if text.starts_with('/') || has_drive(text) {
            return Err(PathError::Absolute(shown()));
        }
        for part in text.split('/') {
            match part {
                ".." => return Err(PathError::Parent(shown())),
                "" | "." => return Err(PathError::EmptyPart(shown())),
                _ => {}
            }
        }
        Ok(Self(text.to_owned()))
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl RepoPath {
    /// Checks that a path is confined and not protected.
    pub fn new(text: &str) -> Result<Self, PathError> {
        let path = ConfinedPath::new(text)?;
        if is_protected(path.as_str()) {
            return Err(PathError::Protected(text.to_owned()));
        }
        Ok(Self(path))
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The same path, as one that may be protected.
    pub fn confined(&self) -> &ConfinedPath {
        &self.0
    }
}

impl std::fmt::Display for ConfinedPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::fmt::Display for RepoPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl<'de> Deserialize<'de> for ConfinedPath {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let text = String::deserialize(input)?;
        Self::new(&text).map_err(serde::de::Error::custom)
    }
}

impl<'de> Deserialize<'de> for RepoPath {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let text = String::deserialize(input)?;
        Self::new(&text).map_err(serde::de::Error::custom)
    }
}

/// Whether no model's edit may touch a confined path: git's folder at any depth, and our state, programs and config at
/// the root. The comparison ignores case, because some file systems do.
fn is_protected(path: &str) -> bool {
    let lower = path.to_lowercase();
    let mut parts = lower.split('/').map(|part| part.trim_end_matches(['.', ' ']));
    let first = parts.clone().next().unwrap_or_default();
    first == ".tdd"
        || crate::program::is_ours(&lower)
        || lower == "tdd.yaml"
        || parts.any(|part| part == ".git" || part == "git~1")
}

/// Whether a path starts with a drive, such as `C:`.
fn has_drive(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic()) && chars.next() == Some(':')
}

/// Characters that some programs take for a line end.
fn is_line_break(c: char) -> bool {
    matches!(c, '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn refused(text: &str) -> PathError {
        RepoPath::new(text).expect_err(text)
    }

    #[test]
    fn ordinary_paths_are_accepted_as_they_are() {
        for text in ["src/lib.rs", "a", "tests/ünï codé.rs", ".github/x.yml", "..a/b..", "docs/tdd.yaml", "a/.tdd/b"]
        {
            assert_eq!(RepoPath::new(text).expect(text).as_str(), text);
        }
    }

    #[test]
    fn paths_that_leave_the_project_are_refused() {
        assert_eq!(refused(""), PathError::Empty);
        assert!(matches!(refused("/etc/passwd"), PathError::Absolute(_)));
        assert!(matches!(refused("C:/x"), PathError::Absolute(_)));
        assert!(matches!(refused("../x"), PathError::Parent(_)));
        assert!(matches!(refused("a/../../x"), PathError::Parent(_)));
        assert!(matches!(refused("a/.."), PathError::Parent(_)));
    }

    #[test]
    fn paths_with_odd_parts_or_characters_are_refused() {
        for text in ["a//b", "a/", "./a", "a/./b"] {
            assert!(matches!(refused(text), PathError::EmptyPart(_)), "{text}");
        }
        for text in ["a\0b", "a\nTDD-Phase: green", "a\\b", "a\u{2028}b", "a\u{85}b"] {
            assert!(matches!(refused(text), PathError::Character(_)), "{text:?}");
        }
        assert!(matches!(refused(&"x".repeat(256)), PathError::TooLong(256)));
        assert!(matches!(refused(&"x/".repeat(3000)), PathError::TooLong(6000)));
    }

    #[test]
    fn protected_paths_are_refused_however_they_are_spelled() {
        for text in [
            ".git",
            ".git/config",
            ".GIT/hooks/pre-commit",
            "sub/.git",
            "a/.Git/x",
            "git~1/config",
            ".git./config",
            ".tdd/events.jsonl",
            ".TDD/x",
            "tdd.yaml",
            "TDD.yaml",
        ] {
            assert!(matches!(refused(text), PathError::Protected(_)), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_accepted_path_resolves_outside_the_root(text in "(\\.|/|\\.\\.|[a-z]|\\\\|:|\0|é){0,12}") {
            if let Ok(path) = RepoPath::new(&text) {
                let mut depth = 0_i32;
                for part in std::path::Path::new(path.as_str()).components() {
                    match part {
                        std::path::Component::Normal(_) => depth += 1,
                        other => prop_assert!(false, "{other:?} in {path}"),
                    }
                }
                prop_assert!(depth > 0);
                prop_assert!(!path.as_str().contains('\0'));
            }
        }
    }
}
