//! The repository's files as a language sees them: names now, texts on demand.

use std::path::PathBuf;

use tdd_lang::language::Sources;

use crate::text;

/// Largest source file that is looked into, in bytes.
const MAX_SOURCE: u64 = 4 << 20;

/// The files of a working tree.
#[derive(Clone, Debug)]
pub struct TreeSources {
    root: PathBuf,
    files: Vec<String>,
}

impl TreeSources {
    /// These files below `root`.
    pub fn new(root: impl Into<PathBuf>, mut files: Vec<String>) -> Self {
        files.sort_unstable();
        Self { root: root.into(), files }
    }
}

impl Sources for TreeSources {
    fn files(&self) -> &[String] {
        &self.files
    }

    /// Only files of the list are read: a source that names `/etc/passwd` or an ignored file gets nothing.
    fn read(&self, path: &str) -> Option<String> {
        self.files.binary_search_by(|file| file.as_str().cmp(path)).ok()?;
        let full = self.root.join(path);
        let real = full.canonicalize().ok()?;
        let inside = real.starts_with(self.root.canonicalize().ok()?);
        inside.then(|| text::read(&real, MAX_SOURCE).ok()).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn only_listed_files_inside_the_project_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("project");
        fs::create_dir(&root).unwrap();
        fs::write(root.join("a.rs"), "a").unwrap();
        fs::write(root.join("ignored.rs"), "i").unwrap();
        fs::write(folder.path().join("outside.rs"), "o").unwrap();
        std::os::unix::fs::symlink(folder.path().join("outside.rs"), root.join("link.rs")).unwrap();
        let sources = TreeSources::new(&root, vec!["link.rs".into(), "a.rs".into()]);
        let texts: Vec<_> = ["a.rs", "ignored.rs", "link.rs", "../outside.rs"].map(|path| sources.read(path)).into();
        assert_eq!(texts, [Some("a".to_owned()), None, None, None]);
    }
}
