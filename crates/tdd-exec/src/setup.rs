//! Adds missing files to a project and commits exactly those; the next set-up completes one that was interrupted.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tdd_core::commit::{self, CommitType};
use tdd_core::config::Author;
use tdd_core::digest::CommitId;
use tdd_core::event::{Committed, Event};
use tdd_core::gate::{self, Decision};
use tdd_core::seam::{Clock, Head, Ledger, NewCommit, Vcs, Workspace as _};

use crate::clock::WallClock;
use crate::error::WorkError;
use crate::git::{GitPath, Repo};
use crate::ledger::LedgerFile;
use crate::state::{StateDir, StateError};
use crate::text;
use crate::workspace::{Workspace, Written};

/// Largest note we read, in bytes; a kata is the largest text in it.
const MAX_NOTE: u64 = 8 << 20;

/// What to add.
#[derive(Debug)]
pub struct SetUp {
    /// Files by path, with their texts; existing files stay as they are.
    pub files: BTreeMap<String, String>,
    /// An existing file to include in the commit.
    pub besides: Option<String>,
    /// The commit's author; `None` to commit nothing.
    pub author: Option<Author>,
}

/// The result of [`set_up`].
#[derive(Debug)]
pub enum Outcome {
    /// The files are there.
    Done(Added),
    /// Something is in the way.
    Refused(String),
    /// A person changed these while we were writing, so nothing was written.
    PersonChanged(Vec<String>),
}

/// What [`set_up`] added.
#[derive(Debug)]
pub struct Added {
    /// Files that were created.
    pub created: Vec<String>,
    /// Files that already existed.
    pub kept: Vec<String>,
    /// The commit, if one was made.
    pub commit: Option<CommitId>,
    /// Files that are left to commit.
    pub uncommitted: Vec<String>,
}

/// Adds the missing files. A repository made for this is kept only on success.
pub fn set_up(mut new: SetUp, repo: &Repo, fresh: Option<Fresh>) -> Result<Outcome, WorkError> {
    let onto = repo.head()?;
    if new.author.is_some() && new.files.keys().any(|path| is_missing(repo.root(), path)) {
        repo.check_ready_to_commit()?;
    }
    let dir = StateDir::ensure(repo.root())?;
    let mut ledger = LedgerFile::open(&dir, WallClock)?;
    let begun = Begun::begin(&dir, repo.root(), &mut new.files)?;
    let permit = match gate::permit_scaffold(&new.files) {
        Decision::Permit(permit) => permit,
        Decision::Refuse(refusal) => return Ok(Outcome::Refused(refusal.reason)),
    };
    match Workspace::open(repo.root())?.write(permit)? {
        Written::Done(_) => {}
        Written::PersonChanged { paths } => {
            return Ok(Outcome::PersonChanged(paths.iter().map(ToString::to_string).collect()));
        }
        Written::Refused(refusal) => return Ok(Outcome::Refused(refusal.reason)),
    }
    if let Some(fresh) = fresh {
        fresh.keep();
    }
    let created = begun.created(repo.root());
    let kept = new.files.into_keys().filter(|path| !created.contains(path)).collect();
    let mut uncommitted = to_commit(repo, &onto, created.iter().chain(&new.besides))?;
    let mut commit = None;
    if let Some(author) = new.author.filter(|_| !uncommitted.is_empty()) {
        let committed = commit_files(repo, &onto, std::mem::take(&mut uncommitted), &author)?;
        commit = Some(committed.commit.clone());
        ledger.append(&[Event::Committed(committed)])?;
    }
    begun.end()?;
    Ok(Outcome::Done(Added { created, kept, commit, uncommitted }))
}

/// The files that are neither committed nor ignored.
fn to_commit<'f>(repo: &Repo, onto: &Head, files: impl Iterator<Item = &'f String>) -> Result<Vec<String>, WorkError> {
    let mut paths = Vec::new();
    for file in files {
        let path = GitPath::new(file)?;
        let committed = repo.blob(&onto.tree, &path)?.is_some();
        if !committed && !repo.is_ignored(&path)? {
            paths.push(path.to_string());
        }
    }
    Ok(paths)
}

fn commit_files(repo: &Repo, onto: &Head, files: Vec<String>, author: &Author) -> Result<Committed, WorkError> {
    let message = commit::header(CommitType::Chore, None, "set up the project for test-driven development");
    let tree = repo.tree_id()?;
    let now_ms = WallClock.now_ms();
    let new = NewCommit { onto, tree: &tree, paths: &files, message: &message, author, now_ms };
    let commit = Vcs::commit(repo, &new)?;
    Ok(Committed { commit, tree: repo.head()?.tree, subject: message.trim_end().to_owned(), files })
}

/// A repository that was just made. Unless it is kept, it is removed again, so that a refusal leaves the folder as it
/// was.
#[derive(Debug)]
pub struct Fresh(Vec<PathBuf>);

impl Fresh {
    /// Makes a repository.
    pub fn make(folder: &Path) -> Result<(Repo, Self), WorkError> {
        let missing = [".git", ".tdd"].into_iter().filter(|name| is_missing(folder, name));
        let made = missing.map(|name| folder.join(name)).collect();
        Ok((Repo::init(folder)?, Self(made)))
    }

    fn keep(mut self) {
        self.0.clear();
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        for folder in &self.0 {
            // What cannot be removed is harmless: the next set-up uses it.
            let _left = fs::remove_dir_all(folder);
        }
    }
}

/// The files of this set-up, noted on disk until they are committed.
#[derive(Debug)]
struct Begun {
    note: PathBuf,
    files: BTreeMap<String, String>,
}

impl Begun {
    /// Notes the missing `files`, and adds to `files` those that an interrupted set-up left.
    fn begin(dir: &StateDir, root: &Path, files: &mut BTreeMap<String, String>) -> Result<Self, StateError> {
        let note = dir.path().join("init.json");
        let mut ours = left_undone(&note);
        for (path, text) in &ours {
            files.entry(path.clone()).or_insert_with(|| text.clone());
        }
        let missing = files.iter().filter(|(path, _)| is_missing(root, path));
        ours.extend(missing.map(|(path, text)| (path.clone(), text.clone())));
        let begun = Self { note, files: ours };
        if !begun.files.is_empty() {
            begun.write().map_err(|source| begun.failed("write", source))?;
        }
        Ok(begun)
    }

    /// The noted files that exist with the noted text.
    fn created(&self, root: &Path) -> Vec<String> {
        let is_ours = |path: &str, text: &str| text::read(&root.join(path), MAX_NOTE).is_ok_and(|there| there == text);
        self.files.iter().filter(|(path, text)| is_ours(path, text)).map(|(path, _)| path.clone()).collect()
    }

    /// Removes the note after everything is committed.
    fn end(self) -> Result<(), StateError> {
        match fs::remove_file(&self.note) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => Err(self.failed("remove", source)),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Writes the note atomically, and syncs it before the first file is written.
    fn write(&self) -> io::Result<()> {
        let unfinished = self.note.with_extension("tmp");
        if unfinished.symlink_metadata().is_ok() {
            fs::remove_file(&unfinished)?;
        }
        let mut file = File::create_new(&unfinished)?;
        file.write_all(&serde_json::to_vec(&self.files)?)?;
        file.sync_all()?;
        fs::rename(&unfinished, &self.note)
    }

    fn failed(&self, action: &'static str, source: io::Error) -> StateError {
        StateError::Io { action, path: self.note.clone(), source }
    }
}

/// Whether nothing is at this path, not even a dangling link.
pub fn is_missing(root: &Path, path: &str) -> bool {
    root.join(path).symlink_metadata().is_err()
}

/// The files in the note of an interrupted set-up; an unreadable note counts as empty, and its files as a person's.
fn left_undone(note: &Path) -> BTreeMap<String, String> {
    text::read(note, MAX_NOTE).ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}
