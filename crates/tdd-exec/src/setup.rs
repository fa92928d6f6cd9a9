//! Adds files to a project that lacks them, and commits exactly those; one that is cut short is taken up by the next.

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

/// Largest note that is read; a kata is the largest thing in it.
const MAX_NOTE: u64 = 8 << 20;

/// What is to be added.
#[derive(Debug)]
pub struct SetUp {
    /// Files by path, with their texts; those that are there already stay as they are.
    pub files: BTreeMap<String, String>,
    /// A file that is there already and goes into the commit.
    pub besides: Option<String>,
    /// Who commits; `None` if nobody does.
    pub author: Option<Author>,
}

/// What came of it.
#[derive(Debug)]
pub enum Outcome {
    /// The files are there.
    Done(Added),
    /// Something is in the way.
    Refused(String),
    /// These changed while they were written, so nothing was.
    PersonChanged(Vec<String>),
}

/// What was added.
#[derive(Debug)]
pub struct Added {
    /// Files that were not there.
    pub created: Vec<String>,
    /// Files that were there and stay as they are.
    pub kept: Vec<String>,
    /// The commit, if one was made.
    pub commit: Option<CommitId>,
    /// What is left to commit.
    pub uncommitted: Vec<String>,
}

/// Adds what is missing. A repository that was made for it is kept only if that works.
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

/// Those of the files that are not committed yet; one that the project ignores stays out.
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

/// A repository that was made just now. Unless it is kept it goes again: whoever is refused finds the folder
/// as it was.
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
            // What cannot be removed does no harm: the next set-up uses it.
            let _left = fs::remove_dir_all(folder);
        }
    }
}

/// The files that are the set-up's own, noted until they are committed.
#[derive(Debug)]
struct Begun {
    note: PathBuf,
    files: BTreeMap<String, String>,
}

impl Begun {
    /// Notes those of `files` that are missing, and adds to `files` what an earlier set-up left undone.
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

    /// The files that are there as they were noted.
    fn created(&self, root: &Path) -> Vec<String> {
        let is_ours = |path: &str, text: &str| text::read(&root.join(path), MAX_NOTE).is_ok_and(|there| there == text);
        self.files.iter().filter(|(path, text)| is_ours(path, text)).map(|(path, _)| path.clone()).collect()
    }

    /// Everything is committed: the note has served.
    fn end(self) -> Result<(), StateError> {
        match fs::remove_file(&self.note) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => Err(self.failed("remove", source)),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Whole or not at all, and on the disk before the first file is.
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

/// Whether there is nothing at this path, not even a link to nothing.
pub fn is_missing(root: &Path, path: &str) -> bool {
    root.join(path).symlink_metadata().is_err()
}

/// A note that cannot be read notes nothing: its files then count as a person's.
fn left_undone(note: &Path) -> BTreeMap<String, String> {
    text::read(note, MAX_NOTE).ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}
