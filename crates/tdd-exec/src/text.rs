//! Reads text files safely, whether missing, huge or binary.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Why a file cannot be read as text.
#[derive(Debug, thiserror::Error)]
pub enum TextError {
    /// The file does not exist.
    #[error("there is no file `{}`", .0.display())]
    Missing(PathBuf),
    /// The path is a folder or a device.
    #[error("`{}` is not a file", .0.display())]
    NotAFile(PathBuf),
    /// The file is too large.
    #[error("`{}` has {size} bytes, the limit is {limit}", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The file's size.
        size: u64,
        /// The largest size allowed.
        limit: u64,
    },
    /// The file is not UTF-8.
    #[error("`{}` is not UTF-8 text: byte {offset} {problem}", path.display())]
    NotText {
        /// The file.
        path: PathBuf,
        /// The first byte that is not UTF-8.
        offset: usize,
        /// What is wrong at that byte.
        problem: &'static str,
    },
    /// The file could not be read.
    #[error("cannot read `{}`", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

/// The text of a file, which may have at most `limit` bytes.
pub fn read(path: &Path, limit: u64) -> Result<String, TextError> {
    let io = |source: io::Error| match source.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => TextError::Missing(path.to_owned()),
        _ => TextError::Io { path: path.to_owned(), source },
    };
    // Check before opening: opening a pipe would block until its other end opens.
    if !std::fs::metadata(path).map_err(io)?.is_file() {
        return Err(TextError::NotAFile(path.to_owned()));
    }
    let file = File::open(path).map_err(io)?;
    let size = file.metadata().map_err(io)?.len();
    if size > limit {
        return Err(TextError::TooLarge { path: path.to_owned(), size, limit });
    }
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes).map_err(io)?;
    String::from_utf8(bytes).map_err(|error| not_text(path, &error.utf8_error()))
}

fn not_text(path: &Path, error: &std::str::Utf8Error) -> TextError {
    let problem = match error.error_len() {
        Some(_) => "does not begin a character",
        None => "begins a character that is cut off by the end of the file",
    };
    TextError::NotText { path: path.to_owned(), offset: error.valid_up_to(), problem }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(content: &[u8], expected: &str) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kata.md");
        std::fs::write(&path, content).unwrap();
        let answer = match read(&path, 100) {
            Ok(text) => text,
            Err(error) => error.to_string().replace(&folder.path().display().to_string(), ""),
        };
        assert_eq!(answer, expected);
    }

    #[test]
    fn text_is_read_and_anything_else_is_named() {
        check("é".as_bytes(), "é");
        check(b"", "");
        check(b"ab\xffc", "`/kata.md` is not UTF-8 text: byte 2 does not begin a character");
        check(
            b"ab\xc3",
            "`/kata.md` is not UTF-8 text: byte 2 begins a character that is cut off by the end of the file",
        );
        check(&[b'x'; 101], "`/kata.md` has 101 bytes, the limit is 100");
    }

    #[test]
    fn what_is_not_a_file_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(read(folder.path(), 100), Err(TextError::NotAFile(_))));
        assert!(matches!(read(&folder.path().join("x"), 100), Err(TextError::Missing(_))));
        assert!(matches!(read(Path::new("/dev/zero"), 100), Err(TextError::NotAFile(_))));
    }
}
