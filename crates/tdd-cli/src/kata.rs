//! Reads the kata file, which says what to build.

use std::path::{Path, PathBuf};

use tdd_exec::text::{self, TextError};

/// Largest kata, in bytes; every prompt includes it.
pub const MAX_KATA: u64 = 1 << 20;

/// The kata that `init` writes if none is given. `doctor` reports it.
pub const PLACEHOLDER: &str = "# Kata\n\n\
    Say here what to build: one paragraph on the goal, then the rules, one a line, the simplest first.\n\n\
    <!-- Replace this text; the machine builds what stands here. -->\n";

/// Why the kata cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KataError {
    /// The file cannot be read.
    #[error("cannot read the kata")]
    Unreadable(#[source] TextError),
    /// The file still holds the placeholder.
    #[error("the kata `{}` still contains its placeholder", .0.display())]
    Placeholder(PathBuf),
    /// The file is empty.
    #[error("the kata `{}` is empty", .0.display())]
    Empty(PathBuf),
}

impl KataError {
    /// What the user can do.
    pub fn hint(&self) -> String {
        match self {
            Self::Unreadable(TextError::Missing(_)) => "write one, or name another with `--kata FILE`".to_owned(),
            Self::Unreadable(TextError::TooLarge { .. }) => "shorten it to what is to be built".to_owned(),
            Self::Unreadable(TextError::NotText { .. }) => "save it as UTF-8 text".to_owned(),
            Self::Unreadable(TextError::NotAFile(_) | TextError::Io { .. }) => {
                "name a readable Markdown file".to_owned()
            }
            Self::Placeholder(_) => "say in it what to build, and commit it".to_owned(),
            Self::Empty(_) => "say in it what to build".to_owned(),
        }
    }
}

/// Reads a kata.
pub fn read(path: &Path) -> Result<String, KataError> {
    let text = text::read(path, MAX_KATA).map_err(KataError::Unreadable)?;
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        return Err(KataError::Empty(path.to_owned()));
    }
    Ok(text)
}
