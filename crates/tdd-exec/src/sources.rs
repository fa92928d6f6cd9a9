//! The repository's files as a language sees them, on disk or in a tree; contents are read on demand.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use tdd_core::digest::TreeId;
use tdd_lang::language::Sources;

use crate::git::{GitPath, Listing, Repo, Result};
use crate::text;

/// Largest source file we read, in bytes.
const MAX_SOURCE: u64 = 4 << 20;

/// The files of the working tree.
#[derive(Clone, Debug)]
pub struct TreeSources {
    root: PathBuf,
    files: Arc<Vec<String>>,
}

impl TreeSources {
    /// The given files below `root`.
    pub fn new(root: impl Into<PathBuf>, mut files: Vec<String>) -> Self {
        files.sort_unstable();
        Self::sorted(root, Arc::new(files))
    }

    /// The given files, which must be sorted.
    pub fn sorted(root: impl Into<PathBuf>, files: Arc<Vec<String>>) -> Self {
        Self { root: root.into(), files }
    }
}

impl Sources for TreeSources {
    fn files(&self) -> &[String] {
        &self.files
    }

    /// Reads only listed files: a source that names `/etc/passwd` or an ignored file gets nothing.
    fn read(&self, path: &str) -> Option<String> {
        self.files.binary_search_by(|file| file.as_str().cmp(path)).ok()?;
        let full = self.root.join(path);
        let real = full.canonicalize().ok()?;
        let inside = real.starts_with(self.root.canonicalize().ok()?);
        inside.then(|| text::read(&real, MAX_SOURCE).ok()).flatten()
    }
}

/// The files of a tree in git.
#[derive(Clone, Debug)]
pub struct StoredSources<'a> {
    repo: &'a Repo,
    listing: Arc<Listing>,
}

impl<'a> StoredSources<'a> {
    /// The files of this tree.
    pub fn new(repo: &'a Repo, tree: &TreeId) -> Result<Self> {
        Ok(Self { repo, listing: repo.tree_files(tree)? })
    }
}

impl Sources for StoredSources<'_> {
    fn files(&self) -> &[String] {
        self.listing.names()
    }

    fn ending(&self, end: &str) -> Vec<&String> {
        self.listing.ending(end)
    }

    fn read(&self, path: &str) -> Option<String> {
        let stored = self.listing.get(GitPath::new(path).ok()?.as_bytes())?;
        let content = self.repo.stored(stored).ok()?;
        let small = content.len() as u64 <= MAX_SOURCE;
        small.then(|| String::from_utf8(content).ok()).flatten()
    }
}

/// Sources with some files changed.
pub struct ChangedSources<'a> {
    inner: &'a dyn Sources,
    changed: &'a BTreeMap<String, Option<String>>,
    files: Cow<'a, [String]>,
}

impl<'a> ChangedSources<'a> {
    /// `inner`, with the files in `changed` replaced or (`None`) removed.
    pub fn new(inner: &'a dyn Sources, changed: &'a BTreeMap<String, Option<String>>) -> Self {
        let is_there = |path: &String| inner.files().binary_search(path).is_ok();
        if changed.iter().all(|(path, content)| content.is_some() == is_there(path)) {
            return Self { inner, changed, files: Cow::Borrowed(inner.files()) };
        }
        let kept = inner.files().iter().filter(|path| !changed.contains_key(*path));
        let there = changed.iter().filter(|(_, content)| content.is_some()).map(|(path, _)| path);
        let mut files: Vec<String> = kept.chain(there).cloned().collect();
        files.sort_unstable();
        Self { inner, changed, files: Cow::Owned(files) }
    }
}

impl Sources for ChangedSources<'_> {
    fn files(&self) -> &[String] {
        &self.files
    }

    fn ending(&self, end: &str) -> Vec<&String> {
        match &self.files {
            Cow::Borrowed(_) => self.inner.ending(end),
            Cow::Owned(files) => files.iter().filter(|path| path.ends_with(end)).collect(),
        }
    }

    fn read(&self, path: &str) -> Option<String> {
        self.changed.get(path).map_or_else(|| self.inner.read(path), Clone::clone)
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

    #[test]
    fn files_are_found_by_their_ending_whatever_was_changed() {
        let folder = tempfile::tempdir().unwrap();
        let repo = Repo::init(folder.path()).unwrap();
        for name in ["a.rs", "b.txt", "c/d.rs"] {
            fs::create_dir_all(folder.path().join("c")).unwrap();
            fs::write(folder.path().join(name), name).unwrap();
        }
        let stored = StoredSources::new(&repo, &repo.tree_id().unwrap()).unwrap();
        assert_eq!(stored.ending(".rs"), ["a.rs", "c/d.rs"]);
        let same = BTreeMap::from([("a.rs".to_owned(), Some(String::new()))]);
        assert_eq!(ChangedSources::new(&stored, &same).ending(".rs"), ["a.rs", "c/d.rs"]);
        let other = BTreeMap::from([("a.rs".to_owned(), None), ("e.rs".to_owned(), Some(String::new()))]);
        assert_eq!(ChangedSources::new(&stored, &other).ending(".rs"), ["c/d.rs", "e.rs"]);
    }

    #[test]
    fn changed_files_hide_those_below_them() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.rs", "b.rs", "c.rs"] {
            fs::write(folder.path().join(name), name).unwrap();
        }
        let inner = TreeSources::new(folder.path(), ["a.rs", "b.rs", "c.rs"].map(str::to_owned).into());
        let changed = [("b.rs", Some("B")), ("c.rs", None), ("d.rs", Some("D"))];
        let changed = changed.map(|(path, text)| (path.to_owned(), text.map(str::to_owned))).into();
        let sources = ChangedSources::new(&inner, &changed);
        assert_eq!(sources.files(), ["a.rs", "b.rs", "d.rs"]);
        let texts: Vec<_> = ["a.rs", "b.rs", "c.rs", "d.rs"].map(|path| sources.read(path)).into();
        assert_eq!(texts, [Some("a.rs".to_owned()), Some("B".to_owned()), None, Some("D".to_owned())]);
    }
}
