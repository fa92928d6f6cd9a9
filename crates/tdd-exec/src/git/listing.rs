//! Lists the files of a tree, with a small cache because the same few trees are listed again and again.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use git2::{DiffOptions, ObjectType, Oid};
use tdd_core::digest::TreeId;
use tdd_core::recent::Recent;

use super::diff::mode_kind;
use super::error::Doing;
use super::{FileKind, GitPath, Repo, Result};

/// Trees in the cache: base, judged tree, and those in between.
const REMEMBERED: usize = 4;

/// The files of a tree. Listings with the same paths share the path list.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    paths: Arc<Paths>,
    /// The entry for each path, in the order of `paths.all`.
    stored: Vec<Stored>,
}

#[derive(Debug, Default)]
struct Paths {
    /// Every path, sorted.
    all: Vec<GitPath>,
    /// The UTF-8 paths, without submodules.
    names: Arc<Vec<String>>,
    /// Cache: for each suffix asked for, the indices of the names with that suffix.
    endings: Mutex<BTreeMap<String, Arc<[usize]>>>,
}

impl Paths {
    fn ending(&self, end: &str) -> Arc<[usize]> {
        let mut known = self.endings.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.get(end) {
            return Arc::clone(known);
        }
        let found = (0..self.names.len()).filter(|at| self.names[*at].ends_with(end)).collect();
        Arc::clone(known.entry(end.to_owned()).or_insert(found))
    }
}

/// A file as git stores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    pub(crate) id: Oid,
    /// The file's kind.
    pub kind: FileKind,
}

impl Stored {
    /// The entry for these bytes, with the id that git would give them.
    pub(crate) fn of(bytes: &[u8], kind: FileKind) -> Self {
        let id = Oid::hash_object(ObjectType::Blob, bytes).unwrap_or(Oid::ZERO_SHA1);
        Self { id, kind }
    }
}

impl Listing {
    fn new(files: BTreeMap<GitPath, Stored>) -> Self {
        let real = files.iter().filter(|(_, stored)| stored.kind != FileKind::Submodule);
        let names = real.filter_map(|(path, _)| path.as_str().map(str::to_owned)).collect();
        let (all, stored) = files.into_iter().unzip();
        Self { paths: Arc::new(Paths { all, names: Arc::new(names), endings: Mutex::default() }), stored }
    }

    /// Every path and its entry, sorted by path.
    pub fn iter(&self) -> impl Iterator<Item = (&GitPath, &Stored)> {
        self.paths.all.iter().zip(&self.stored)
    }

    /// The entry at this path.
    pub fn get(&self, path: &[u8]) -> Option<&Stored> {
        self.stored.get(self.find(path)?)
    }

    /// The UTF-8 paths, sorted, without submodules.
    pub fn names(&self) -> &Arc<Vec<String>> {
        &self.paths.names
    }

    /// The names with this suffix.
    pub(crate) fn ending(&self, end: &str) -> Vec<&String> {
        self.paths.ending(end).iter().map(|at| &self.paths.names[*at]).collect()
    }

    /// This listing with some entries changed, added or (`None`) removed.
    fn with(&self, changes: &[(GitPath, Option<Stored>)]) -> Self {
        let submodule = |stored: &Stored| stored.kind == FileKind::Submodule;
        let mut stored = self.stored.clone();
        for (path, change) in changes {
            let known = self.find(path.as_bytes()).and_then(|at| stored.get_mut(at));
            match (known, change) {
                (Some(known), Some(change)) if submodule(known) == submodule(change) => *known = *change,
                (Some(_) | None, _) => return self.with_other_paths(changes),
            }
        }
        Self { paths: Arc::clone(&self.paths), stored }
    }

    fn with_other_paths(&self, changes: &[(GitPath, Option<Stored>)]) -> Self {
        let mut files: BTreeMap<GitPath, Stored> = self.iter().map(|(path, stored)| (path.clone(), *stored)).collect();
        for (path, change) in changes {
            match change {
                Some(change) => files.insert(path.clone(), *change),
                None => files.remove(path),
            };
        }
        Self::new(files)
    }

    fn find(&self, path: &[u8]) -> Option<usize> {
        self.paths.all.binary_search_by(|known| known.as_bytes().cmp(path)).ok()
    }
}

/// Cache of file contents by git object id.
pub(super) type Contents = Recent<Oid, Box<[u8]>>;

/// Capacity of the content cache, in bytes.
pub(super) const KEPT_BYTES: usize = 500_000;
/// Approximate overhead of a cache entry, in bytes.
const ENTRY: usize = 150;

impl Repo {
    /// The listing of a tree, from the cache if possible.
    pub fn tree_files(&self, tree: &TreeId) -> Result<Arc<Listing>> {
        let mut known = self.listings.borrow_mut();
        if let Some(at) = known.iter().position(|(id, _)| id == tree) {
            let found = known.remove(at);
            known.push(found);
        } else {
            let listing = self.listed(known.last(), tree)?;
            if known.len() == REMEMBERED {
                known.remove(0);
            }
            known.push((tree.clone(), Arc::new(listing)));
        }
        Ok(known.last().map(|(_, listing)| Arc::clone(listing)).unwrap_or_default())
    }

    /// Derives the listing from a known one by a diff, because two trees mostly share almost everything.
    fn listed(&self, known: Option<&(TreeId, Arc<Listing>)>, tree: &TreeId) -> Result<Listing> {
        let new = self.tree(tree)?;
        let old = known.map(|(id, _)| self.tree(id)).transpose()?;
        let mut options = DiffOptions::new();
        options.include_typechange(true).skip_binary_check(true);
        let diff = match &old {
            Some(old) => self.compare(old, &new, &mut options)?,
            None => self.git.diff_tree_to_tree(None, Some(&new), Some(&mut options)).doing("list the tree")?,
        };
        let mut changes: BTreeMap<GitPath, Option<Stored>> = BTreeMap::new();
        for delta in diff.deltas() {
            if let Some(path) = delta.old_file().path_bytes() {
                changes.entry(GitPath::from_git(path)).or_default();
            }
            let file = delta.new_file();
            if let (Some(path), Some(kind), true) = (file.path_bytes(), mode_kind(file.mode()), file.exists()) {
                changes.insert(GitPath::from_git(path), Some(Stored { id: file.id(), kind }));
            }
        }
        let changes: Vec<_> = changes.into_iter().collect();
        Ok(known.map_or_else(Listing::default, |(_, listing)| Listing::clone(listing)).with(&changes))
    }

    /// The content of a file, or the target of a symbolic link.
    pub fn stored(&self, stored: &Stored) -> Result<Vec<u8>> {
        if let Some(known) = self.contents.borrow().get(&stored.id) {
            return Ok(known.to_vec());
        }
        let content = self.git.find_blob(stored.id).doing("read a file of a tree")?.content().to_owned();
        self.contents.borrow_mut().keep(stored.id, content.as_slice().into(), content.len() + ENTRY);
        Ok(content)
    }
}
