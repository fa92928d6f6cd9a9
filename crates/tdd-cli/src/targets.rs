//! Says which tests are meant where a gate is given files or test ids.

use std::path::Path;

use tdd_core::change::Change;
use tdd_core::digest::CommitId;
use tdd_core::test_id::TestId;
use tdd_exec::git::ChangeKind;
use tdd_exec::sources::StoredSources;
use tdd_lang::language::Sources;

use crate::error::CliError;
use crate::person;
use crate::project;
use crate::trial::Trial;

impl Trial<'_> {
    /// The tests that are to be red: ids as they are, a file as the tests in it that ask for more, or, if there are
    /// none, all that it holds.
    pub fn red_targets(&self, asked: &[String], change: &Change) -> Result<Vec<TestId>, CliError> {
        self.targets(asked, |file, sources| {
            let new = demands_in(file, change);
            if new.is_empty() { self.all_in(file, sources) } else { Ok(new) }
        })
    }

    /// The tests that were red and are to be green. Where the red is a commit already, a file stands for the tests in
    /// it that came with the last commit that brought any, or for all; those that passed before are the suite's, and no
    /// targets.
    pub fn green_targets(&self, asked: &[String], change: &Change) -> Result<Vec<TestId>, CliError> {
        self.targets(asked, |file, sources| {
            let new = demands_in(file, change);
            if !new.is_empty() {
                return Ok(new);
            }
            let all = self.all_in(file, sources)?;
            let brought = self.last_brought(file)?;
            let came: Vec<TestId> = all.iter().filter(|id| brought.contains(id)).cloned().collect();
            let asked = if came.is_empty() { all } else { came };
            let before = self.baseline()?;
            let red: Vec<TestId> = asked.iter().filter(|id| before.get(id) != Some(&None)).cloned().collect();
            Ok(if red.is_empty() { asked } else { red })
        })
    }

    fn targets(
        &self,
        asked: &[String],
        in_file: impl Fn(&str, &dyn Sources) -> Result<Vec<TestId>, CliError>,
    ) -> Result<Vec<TestId>, CliError> {
        let sources = StoredSources::new(&self.repo, &self.tree)?;
        let mut targets = Vec::new();
        for text in asked {
            let is_there = |path: &str| sources.files().iter().any(|file| file == path);
            let text = &project::seen_from_root(&self.context.global, self.repo.root(), text, is_there);
            if sources.files().iter().any(|file| file == text) {
                targets.extend(in_file(text, &sources)?);
            } else {
                let id = self.named(text, &sources)?;
                targets.push(self.whole(id, &sources));
            }
        }
        targets.dedup();
        Ok(targets)
    }

    /// The test that a case or a part of it belongs to, as runners name those: `test_x[1-2]`, `TestX/sub`.
    fn whole(&self, id: TestId, sources: &dyn Sources) -> TestId {
        let Some((path, test)) = id.path().and_then(|_| self.language.find_test(&id, sources)) else { return id };
        let own = TestId::native(&path, &test.name);
        let is_part = id.as_str().strip_prefix(own.as_str()).is_some_and(|rest| rest.starts_with(['[', '/']));
        let slug = || test.annotation.as_deref().and_then(|slug| TestId::annotation(slug).ok());
        if is_part { slug().unwrap_or(own) } else { id }
    }

    /// The test of this id. A word that is no id of any test may be the name of one, or of a file that is not there.
    fn named(&self, text: &str, sources: &dyn Sources) -> Result<TestId, CliError> {
        let unknown = |meant| CliError::NoSuchTarget { asked: text.to_owned(), meant };
        let id = TestId::parse(text).map_err(|_| unknown(None))?;
        if text.contains("::") || self.language.find_test(&id, sources).is_some() {
            return Ok(id);
        }
        if text.contains('/') || Path::new(text).extension().is_some() {
            return Err(unknown(None));
        }
        let all = sources.files().iter().flat_map(|file| self.language.tests_in(&self.project, file, sources));
        let mut called = all.filter(|test| person::short_name(test) == text);
        match called.next() {
            Some(meant) => Err(unknown(Some(meant))),
            None => Ok(id),
        }
    }

    fn all_in(&self, file: &str, sources: &dyn Sources) -> Result<Vec<TestId>, CliError> {
        let all = self.language.tests_in(&self.project, file, sources);
        match sources.read(file) {
            None => Err(CliError::NotText(file.to_owned())),
            Some(_) if all.is_empty() => Err(CliError::NoTestsIn(file.to_owned())),
            Some(_) => Ok(all),
        }
    }

    /// The tests of a file that came with the last commit, up to the base, that brought any. What does not compile takes
    /// all tests of its file down, so that what they say on the base does not tell which of them are meant.
    fn last_brought(&self, file: &str) -> Result<Vec<TestId>, CliError> {
        let mut next = self.base_commit.clone();
        for _ in 0..LOOK_BACK {
            let Some(commit) = next else { break };
            next = self.repo.first_parent(&commit)?;
            let brought = demands_in(file, &self.change_of(&commit, next.as_ref(), file)?);
            if !brought.is_empty() {
                return Ok(brought);
            }
        }
        Ok(Vec::new())
    }

    /// What a commit did; nothing, if it left this file alone.
    fn change_of(&self, commit: &CommitId, parent: Option<&CommitId>, file: &str) -> Result<Change, CliError> {
        let (before, after) = (self.repo.commit_tree(parent)?, self.repo.commit_tree(Some(commit))?);
        let mut paths = Vec::new();
        for change in self.repo.diff_trees(&before, &after)? {
            match &change.kind {
                ChangeKind::Renamed { from } => paths.push(from.to_string()),
                ChangeKind::Added | ChangeKind::Modified | ChangeKind::Deleted => {}
            }
            paths.push(change.path.to_string());
        }
        if !paths.iter().any(|path| path == file) {
            return Ok(Change::default());
        }
        let (before, after) = (StoredSources::new(&self.repo, &before)?, StoredSources::new(&self.repo, &after)?);
        Ok(self.changed(&before, &after, &paths))
    }
}

/// So many commits back the one is looked for that brought a test.
const LOOK_BACK: usize = 50;

/// The tests of a file that ask for something new.
fn demands_in(file: &str, change: &Change) -> Vec<TestId> {
    change.new_demands().filter(|test| test.path == file).map(|test| test.id.clone()).collect()
}
