//! The kata file: a text that says what to build, and nothing else.

use std::path::{Path, PathBuf};

use tdd_exec::text::{self, TextError};

/// Largest kata, in bytes; it goes into every prompt.
pub const MAX_KATA: u64 = 1 << 20;

/// What `init` writes where no kata is given. `doctor` notices that it is still there.
pub const PLACEHOLDER: &str = "# Kata\n\n\
    Say here what to build: one paragraph on the goal, then the rules, one a line, the simplest first.\n\n\
    <!-- Replace this text; the machine builds what stands here. -->\n";

/// Why there is no kata.
#[derive(Debug, thiserror::Error)]
pub enum KataError {
    /// It cannot be read.
    #[error("the kata cannot be used")]
    Unreadable(#[source] TextError),
    /// Nobody has said yet what to build.
    #[error("the kata `{}` still holds its placeholder", .0.display())]
    Placeholder(PathBuf),
    /// There is nothing in it.
    #[error("the kata `{}` is empty", .0.display())]
    Empty(PathBuf),
}

impl KataError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Unreadable(TextError::Missing(_)) => "write one, or name another with `--kata FILE`".to_owned(),
            Self::Unreadable(TextError::TooLarge { .. }) => "keep what is to be built, leave the rest out".to_owned(),
            Self::Unreadable(TextError::NotText { .. }) => "save it as UTF-8 text".to_owned(),
            Self::Unreadable(TextError::NotAFile(_) | TextError::Io { .. }) => {
                "name a readable Markdown file".to_owned()
            }
            Self::Placeholder(_) => "say in it what to build, and commit it".to_owned(),
            Self::Empty(_) => "say in it what to build".to_owned(),
        }
    }
}

/// The text of a kata.
pub fn read(path: &Path) -> Result<String, KataError> {
    let text = text::read(path, MAX_KATA).map_err(KataError::Unreadable)?;
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        return Err(KataError::Empty(path.to_owned()));
    }
    Ok(text)
}
