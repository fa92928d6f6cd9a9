//! Which files a tree holds, remembered for the last trees, because the same few are asked for again and again.

use std::collections::BTreeMap;
use std::sync::Arc;

use git2::{DiffOptions, ObjectType, Oid};
use tdd_core::digest::TreeId;

use super::diff::mode_kind;
use super::error::Doing;
use super::{FileKind, GitPath, Repo, Result};

/// So many trees are remembered: base, subject, and what lies between.
const REMEMBERED: usize = 4;

/// The files of a tree.
#[derive(Debug, Default)]
pub struct Listing {
    files: BTreeMap<GitPath, Stored>,
    names: Vec<String>,
}

/// A file as git keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    pub(crate) id: Oid,
    /// What it is.
    pub kind: FileKind,
}

impl Stored {
    /// The name that git would give these bytes.
    pub(crate) fn of(bytes: &[u8], kind: FileKind) -> Self {
        let id = Oid::hash_object(ObjectType::Blob, bytes).unwrap_or(Oid::ZERO_SHA1);
        Self { id, kind }
    }
}

impl Listing {
    fn new(files: BTreeMap<GitPath, Stored>) -> Self {
        let real = files.iter().filter(|(_, stored)| stored.kind != FileKind::Submodule);
        let names = real.filter_map(|(path, _)| path.as_str().map(str::to_owned)).collect();
        Self { files, names }
    }

    /// Every path, sorted.
    pub fn files(&self) -> &BTreeMap<GitPath, Stored> {
        &self.files
    }

    /// The names that are UTF-8, sorted, without submodules.
    pub fn names(&self) -> &[String] {
        &self.names
    }
}

impl Repo {
    /// Every file of a tree.
    pub fn tree_files(&self, tree: &TreeId) -> Result<Arc<Listing>> {
        let mut known = self.listings.borrow_mut();
        if let Some(at) = known.iter().position(|(id, _)| id == tree) {
            let found = known.remove(at);
            known.push(found);
        } else {
            let files = self.listed(known.last(), tree)?;
            if known.len() == REMEMBERED {
                known.remove(0);
            }
            known.push((tree.clone(), Arc::new(Listing::new(files))));
        }
        Ok(known.last().map(|(_, listing)| Arc::clone(listing)).unwrap_or_default())
    }

    /// Two trees mostly have most in common, and what they have in common is not even looked at.
    fn listed(&self, known: Option<&(TreeId, Arc<Listing>)>, tree: &TreeId) -> Result<BTreeMap<GitPath, Stored>> {
        let new = self.tree(tree)?;
        let old = known.map(|(id, _)| self.tree(id)).transpose()?;
        let mut options = DiffOptions::new();
        options.include_typechange(true).skip_binary_check(true);
        let diff = self.git.diff_tree_to_tree(old.as_ref(), Some(&new), Some(&mut options)).doing("list the tree")?;
        let mut files = known.map(|(_, listing)| listing.files.clone()).unwrap_or_default();
        for delta in diff.deltas() {
            if let Some(path) = delta.old_file().path_bytes() {
                files.remove(&GitPath::from_git(path));
            }
            let file = delta.new_file();
            if let (Some(path), Some(kind), true) = (file.path_bytes(), mode_kind(file.mode()), file.exists()) {
                files.insert(GitPath::from_git(path), Stored { id: file.id(), kind });
            }
        }
        Ok(files)
    }

    /// The content of a file, or the target of a link.
    pub fn stored(&self, stored: &Stored) -> Result<Vec<u8>> {
        Ok(self.git.find_blob(stored.id).doing("read a file of a tree")?.content().to_owned())
    }
}
