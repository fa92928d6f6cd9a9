//! Does what a person says about one test: verified in a copy, then written through the gate and committed alone.

use std::collections::BTreeMap;

use tdd_core::change::Change;
use tdd_core::commit::{self, Trailers};
use tdd_core::digest::Digest;
use tdd_core::event::{Committed, Event, PersonEdit, PersonFate, Reverted};
use tdd_core::gate::{self, Action, Edit, Files, Permit};
use tdd_core::judge::{self, Ruling, Seen};
use tdd_core::report::{Cause, Report};
use tdd_core::rule::Refusal;
use tdd_core::seam::{Vcs, Workspace as _};
use tdd_core::test_id::TestId;
use tdd_exec::clock::WallClock;
use tdd_exec::git::{GitPath, Head};
use tdd_exec::sources::{ChangedSources, StoredSources};
use tdd_exec::text;
use tdd_exec::vcs::GitVcs;
use tdd_exec::workspace::{Workspace, Written};
use tdd_lang::item::TestItem;
use tdd_lang::language::{Skip, Sources};

use crate::context::Context;
use crate::error::CliError;
use crate::person::PersonError;
use crate::trial::{Trial, Which};
use crate::verdict::Verdicts;

/// Largest file that a test may stand in, in bytes.
const MAX_FILE: u64 = 4 << 20;

/// A test that a person speaks of, in a file that is as HEAD has it.
pub struct OneTest<'a> {
    pub trial: Trial<'a>,
    head: Head,
    pub id: TestId,
    pub path: String,
    pub source: String,
    pub item: TestItem,
}

/// What is to become of the test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It goes.
    Gone,
    /// It is left aside.
    Skipped(Skip),
    /// It counts again.
    Free,
}

/// The commit that says so.
pub struct Word<'w> {
    /// What is done: `retire adds`.
    pub summary: &'w str,
    /// Why.
    pub reason: &'w str,
    /// What becomes of the test.
    pub fate: PersonFate,
}

/// What came of it.
pub enum Outcome {
    /// It is committed.
    Done(Committed),
    /// It was not done.
    Refused(Box<Verdicts>),
}

/// Finds the source of a test in the working tree.
pub fn find(trial: &Trial<'_>, id: &TestId) -> Result<Option<(String, TestItem)>, CliError> {
    Ok(trial.language.find_test(id, &StoredSources::new(&trial.repo, &trial.tree)?))
}

/// The text of a file in the working tree.
pub fn source(trial: &Trial<'_>, path: &str) -> Result<Option<String>, CliError> {
    Ok(StoredSources::new(&trial.repo, &trial.tree)?.read(path))
}

/// What is to be judged: the working tree, as for every gate.
pub fn open(context: &Context) -> Result<Trial<'_>, CliError> {
    Trial::open(context, &Which::default())
}

impl<'a> OneTest<'a> {
    /// Takes a test at its word: it is there, and its file has no uncommitted changes.
    pub fn new(mut trial: Trial<'a>, id: &TestId) -> Result<Self, CliError> {
        let (path, item) = find(&trial, id)?.ok_or_else(|| PersonError::NoSuchTest(id.clone()))?;
        let dirty = trial.repo.dirty()?;
        let changed = dirty.modified_tracked.iter().chain(&dirty.untracked).any(|file| file.as_str() == Some(&path));
        if changed {
            return Err(PersonError::Uncommitted(path).into());
        }
        let head = trial.repo.head()?;
        (trial.base, trial.tree) = (head.tree.clone(), head.tree.clone());
        let source = StoredSources::new(&trial.repo, &head.tree)?.read(&path);
        let source = source.ok_or_else(|| PersonError::NoSuchTest(id.clone()))?;
        Ok(Self { trial, head, id: id.clone(), path, source, item })
    }

    /// Makes the file what it is to be, if all other tests stay as they are.
    pub fn make(&mut self, content: String, fate: Fate, word: &Word<'_>) -> Result<Outcome, CliError> {
        let changed = BTreeMap::from([(self.path.clone(), Some(content.clone()))]);
        let change = self.change(&changed)?;
        let permit = match self.permit(content, &change) {
            Ok(permit) => permit,
            Err(refusal) => return Ok(self.refused(refusal, &Report::new([], Vec::new()))),
        };
        let report = self.trial.run_elsewhere(&self.head.tree, &changed)?.report;
        match self.judge(&report, fate)? {
            Ruling::Refused(refusal) => Ok(self.refused(refusal, &report)),
            Ruling::Holds(_) => Ok(Outcome::Done(self.commit(permit, &changed, word)?)),
        }
    }

    fn change(&self, changed: &BTreeMap<String, Option<String>>) -> Result<Change, CliError> {
        let before = StoredSources::new(&self.trial.repo, &self.head.tree)?;
        let after = ChangedSources::new(&before, changed);
        let paths = [self.path.clone()];
        Ok(self.trial.language.change(&self.trial.project, &before, &after, &paths))
    }

    fn permit(&self, content: String, change: &Change) -> Result<Permit, Refusal> {
        let edit = Edit { path: self.path.clone(), action: Action::Upsert { content } };
        let kata = self.trial.loaded.config.kata_description.as_str();
        match gate::permit_person(&edit, change, &self.id, kata) {
            gate::Verdict::Permit(permit) => Ok(permit),
            gate::Verdict::Refuse(refusal) => Err(refusal),
        }
    }

    fn judge(&self, report: &Report, fate: Fate) -> Result<Ruling, CliError> {
        let mut baseline = self.trial.baseline()?;
        match fate {
            Fate::Gone => drop(baseline.remove(&self.id)),
            // A runner that builds nothing still tells of it.
            Fate::Skipped(Skip::FromBuilding) if report.get(&self.id).is_none() => drop(baseline.remove(&self.id)),
            Fate::Skipped(Skip::FromRunning | Skip::FromBuilding) => {
                baseline.insert(self.id.clone(), Some(Cause::Skipped));
            }
            Fate::Free => {}
        }
        let tree = &self.head.tree;
        // The gate has seen to it that nothing but this test changed.
        let but_for_the_test = Change::default();
        let seen = Seen {
            change: &but_for_the_test,
            report,
            trees: (tree, tree),
            baseline: Some(&baseline),
            gate: &self.trial.loaded.config.gate,
            excepted: &self.trial.excepted,
        };
        Ok(match fate {
            Fate::Gone | Fate::Skipped(_) => judge::judge_refactor_mode(&seen),
            Fate::Free => judge::judge_others(&seen, &self.id),
        })
    }

    fn refused(&self, refusal: Refusal, report: &Report) -> Outcome {
        let verdict = self.trial.verdict(Ruling::Refused(refusal), report);
        Outcome::Refused(Box::new(Verdicts::new(vec![verdict])))
    }

    /// The word is on the record before the file is touched, so that the next start can settle it after a kill.
    fn commit(&mut self, permit: Permit, files: &Files, word: &Word<'_>) -> Result<Committed, CliError> {
        self.trial.repo.check_ready_to_commit()?;
        let content = Digest::of(files.get(&self.path).cloned().flatten().unwrap_or_default());
        let edit = PersonEdit {
            test_id: self.id.clone(),
            fate: word.fate,
            reason: word.reason.to_owned(),
            path: self.path.clone(),
            content,
            head: self.head.commit.clone(),
        };
        self.trial.recording.append(&[Event::PersonEdit(edit.clone())])?;
        let committed = self.write(permit, word);
        match &committed {
            Ok(committed) => {
                self.trial.recording.append(&[edit.done(), Event::Committed(committed.clone())])?;
            }
            Err(_) => drop(self.trial.settle()?),
        }
        committed
    }

    fn write(&self, permit: Permit, word: &Word<'_>) -> Result<Committed, CliError> {
        let repo = &self.trial.repo;
        match Workspace::open(repo.root())?.write(permit)? {
            Written::Done(_) => {}
            Written::Refused(refusal) => return Err(CliError::InTheWay(refusal.reason)),
        }
        let path = GitPath::new(&self.path)?;
        let message = commit::word_about_test(word.summary, word.reason, word.fate.trailer(), &self.id);
        let vcs = GitVcs { repo, author: &self.trial.loaded.config.commit, clock: WallClock };
        let commit = vcs.commit(&self.head, &repo.tree_id()?, &[path], &message)?;
        let subject = message.lines().next().unwrap_or_default().to_owned();
        Ok(Committed { commit, tree: repo.head()?.tree, subject, files: vec![self.path.clone()] })
    }
}

impl Trial<'_> {
    /// Puts right what was cut short while a person's word about a test was carried out: a commit that was made is
    /// put on the record, a file that holds exactly what was to be committed is put back. Says whether there was any.
    pub fn settle(&mut self) -> Result<bool, CliError> {
        let Some(edit) = self.session().standing().person_edit().cloned() else { return Ok(false) };
        let head = self.repo.head()?;
        if let Some(commit) = head.commit.clone().filter(|_| head.commit != edit.head)
            && self.repo.first_parent(&commit)? == edit.head
            && let Some(message) = self.repo.last_message()?
            && Trailers::parse(&message).get(edit.fate.trailer()) == Some(edit.test_id.as_str())
        {
            let subject = message.lines().next().unwrap_or_default().to_owned();
            let committed = Committed { commit, tree: head.tree, subject, files: vec![edit.path.clone()] };
            self.recording.append(&[edit.done(), Event::Committed(committed)])?;
            return Ok(true);
        }
        let full = self.repo.root().join(&edit.path);
        let is_ours = text::read(&full, MAX_FILE).is_ok_and(|text| Digest::of(text) == edit.content);
        let mut kept_as = None;
        if is_ours && head.commit == edit.head {
            self.base = head.tree;
            kept_as = self.keep_attempt((0, 0), std::slice::from_ref(&edit.path), "it was cut short")?;
            self.put_back(std::slice::from_ref(&edit.path))?;
        }
        self.recording.append(&[Event::Reverted(Reverted {
            step: 0,
            attempt: 0,
            spent: false,
            in_tests: false,
            others: Vec::new(),
            rule: None,
            cause: None,
            reason: "it was cut short".to_owned(),
            signature: Digest::zero(),
            kept_as,
        })])?;
        Ok(true)
    }
}
