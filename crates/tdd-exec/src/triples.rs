//! Writes the lines of `export triples`: a red test, the edit that made it pass, and the green.

use serde::Serialize;
use tdd_core::digest::{CommitId, Digest, TreeId};
use tdd_core::report::Cause;
use tdd_core::test_id::TestId;
use tdd_core::triples::{Reds, Triple};
use tdd_lang::language::Language;

use crate::error::WorkError;
use crate::git::{ChangeKind, GitPath, Repo};
use crate::ledger;
use crate::sources::StoredSources;
use crate::state::StateDir;

/// Longest diff of one edit, in bytes.
const MAX_DIFF: usize = 1 << 20;

/// One line of the export.
#[derive(Debug, Serialize)]
pub struct Line {
    test_id: TestId,
    red: RedLine,
    edit: EditLine,
    green: GreenLine,
}

#[derive(Debug, Serialize)]
struct RedLine {
    commit: CommitId,
    tree: TreeId,
    test_digest: Option<Digest>,
    cause: Option<Cause>,
}

#[derive(Debug, Serialize)]
struct EditLine {
    commit: CommitId,
    /// The commit's diff against its parent, as a unified diff.
    diff: String,
    files: Vec<FileLine>,
}

/// A file in an edit, with digests of its content.
#[derive(Debug, Serialize)]
struct FileLine {
    path: String,
    before: Option<Digest>,
    after: Option<Digest>,
}

#[derive(Debug, Serialize)]
struct GreenLine {
    commit: CommitId,
    tree: TreeId,
}

/// Builds the lines from repository and ledger.
pub struct Exporter {
    repo: Repo,
    language: Box<dyn Language>,
    reds: Reds,
}

impl Exporter {
    /// For a repository's history and ledger.
    pub fn new(repo: Repo, language: Box<dyn Language>) -> Result<Self, WorkError> {
        Ok(Self { reds: reds(&repo)?, repo, language })
    }

    /// The line of one triple.
    pub fn line(&self, triple: &Triple) -> Result<Line, WorkError> {
        let red = self.repo.commit_tree(Some(&triple.red))?;
        let before = self.repo.commit_tree(self.repo.first_parent(&triple.green)?.as_ref())?;
        let green = self.repo.commit_tree(Some(&triple.green))?;
        let seen = self.reds.get(&triple.test, &red);
        let found = self.language.find_test(&triple.test, &StoredSources::new(&self.repo, &red)?);
        let test_digest = found.map(|(_, test)| test.digest).or(seen.and_then(|seen| seen.digest));
        Ok(Line {
            test_id: triple.test.clone(),
            red: RedLine { commit: triple.red.clone(), tree: red, test_digest, cause: seen.map(|seen| seen.cause) },
            edit: EditLine {
                commit: triple.green.clone(),
                diff: self.repo.diff(&before, &green, MAX_DIFF)?,
                files: self.files(&before, &green)?,
            },
            green: GreenLine { commit: triple.green.clone(), tree: green },
        })
    }

    fn files(&self, before: &TreeId, after: &TreeId) -> Result<Vec<FileLine>, WorkError> {
        let digest = |tree: &TreeId, path: &GitPath| -> Result<Option<Digest>, WorkError> {
            Ok(self.repo.blob(tree, path)?.map(Digest::of))
        };
        let mut files = Vec::new();
        for change in self.repo.diff_trees(before, after)? {
            let paths = match change.kind {
                ChangeKind::Renamed { from } => vec![from, change.path],
                ChangeKind::Added | ChangeKind::Modified | ChangeKind::Deleted => vec![change.path],
            };
            for path in paths {
                let (before, after) = (digest(before, &path)?, digest(after, &path)?);
                files.push(FileLine { path: path.to_string(), before, after });
            }
        }
        Ok(files)
    }
}

/// The reds in the ledger, if there is one.
fn reds(repo: &Repo) -> Result<Reds, WorkError> {
    let mut reds = Reds::default();
    let Some(dir) = StateDir::find(repo.root())? else { return Ok(reds) };
    for record in ledger::records(&dir)?.into_iter().flatten() {
        reds.apply(&record?.event);
    }
    Ok(reds)
}
