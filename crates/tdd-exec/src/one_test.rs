//! Carries out a person's decision about one test: verifies it in a scratch copy, writes it through the gate and
//! commits it alone.

use std::collections::BTreeMap;

use tdd_core::change::Change;
use tdd_core::commit::{self, Trailers};
use tdd_core::config::Gate;
use tdd_core::digest::Digest;
use tdd_core::event::{Committed, Event, PersonEdit, PersonFate, Reverted};
use tdd_core::gate::{self, Action, Edit, Files, Permit};
use tdd_core::judge::{self, RunFacts, Verdict};
use tdd_core::law::{Kind, RuleRunner, Subject};
use tdd_core::report::{Cause, Report};
use tdd_core::rule::Refusal;
use tdd_core::seam::{Clock, Head, Ledger, NewCommit, StepWorkshop, Vcs, Workshop, Workspace as _};
use tdd_core::test_id::TestId;
use tdd_lang::item::TestItem;
use tdd_lang::language::{Skip, Sources};

use crate::clock::WallClock;
use crate::error::WorkError;
use crate::git::GitPath;
use crate::sources::{ChangedSources, StoredSources};
use crate::text;
use crate::workshop::ProjectWorkshop;
use crate::workspace::{Workspace, Written};

/// Largest test file, in bytes.
const MAX_FILE: u64 = 4 << 20;

/// The test to change, in a file without uncommitted changes.
pub struct OneTest {
    /// The project.
    pub workshop: ProjectWorkshop,
    head: Head,
    /// The test's id.
    pub id: TestId,
    /// The path of the test's file.
    pub path: String,
    /// The file's text.
    pub source: String,
    /// The test's location and content in the file.
    pub item: TestItem,
}

/// What happens to the test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestFate {
    /// It is deleted.
    Gone,
    /// It is skipped.
    Skipped(Skip),
    /// It is no longer skipped.
    Free,
}

/// The person's decision, for the commit message.
pub struct EditReason<'w> {
    /// What is done, such as `retire adds`.
    pub summary: &'w str,
    /// Why.
    pub reason: &'w str,
    /// What happens to the test.
    pub fate: PersonFate,
}

/// The result of [`OneTest::apply`].
pub enum Outcome {
    /// The change is committed.
    Done(Committed),
    /// The change was refused, with the test report behind the refusal.
    Refused(Box<Refusal>, Report),
}

/// Finds the source of a test in the working tree.
pub fn find(workshop: &ProjectWorkshop, id: &TestId) -> Result<Option<(String, TestItem)>, WorkError> {
    Ok(workshop.site.language.find_test(id, &StoredSources::new(&workshop.site.repo, &workshop.span.tree)?))
}

/// The text of a file in the working tree.
pub fn source(workshop: &ProjectWorkshop, path: &str) -> Result<Option<String>, WorkError> {
    Ok(StoredSources::new(&workshop.site.repo, &workshop.span.tree)?.read(path))
}

impl OneTest {
    /// Finds the test; fails if it does not exist or its file has uncommitted changes.
    pub fn new(mut workshop: ProjectWorkshop, id: &TestId) -> Result<Self, WorkError> {
        let (path, item) = find(&workshop, id)?.ok_or_else(|| WorkError::NoSuchTest(id.clone()))?;
        let dirty = workshop.site.repo.dirty()?;
        let changed = dirty.modified_tracked.iter().chain(&dirty.untracked).any(|file| file.as_str() == Some(&path));
        if changed {
            return Err(WorkError::Uncommitted(path));
        }
        let head = workshop.site.repo.head()?;
        (workshop.span.base, workshop.span.tree) = (head.tree.clone(), head.tree.clone());
        let source = StoredSources::new(&workshop.site.repo, &head.tree)?.read(&path);
        let source = source.ok_or_else(|| WorkError::NoSuchTest(id.clone()))?;
        Ok(Self { workshop, head, id: id.clone(), path, source, item })
    }

    /// Whether the test builds: no missing symbol keeps it from running.
    pub fn is_built(&self) -> Result<bool, WorkError> {
        let report = self.workshop.base_report()?;
        Ok(!report.obstacles().iter().any(|obstacle| obstacle.tests.contains(&self.id)))
    }

    /// Writes and commits the file's new content, if all other tests keep their results.
    pub fn apply(&mut self, content: String, fate: TestFate, why: &EditReason<'_>) -> Result<Outcome, WorkError> {
        let changed = BTreeMap::from([(self.path.clone(), Some(content.clone()))]);
        let change = self.change(&changed)?;
        let permit = match self.permit(content, &change) {
            Ok(permit) => permit,
            Err(refusal) => return Ok(Outcome::Refused(Box::new(refusal), Report::new([], Vec::new()))),
        };
        let report = self.workshop.run_in_scratch(&self.head.tree, &changed)?.report;
        match self.judge(&report, fate)? {
            Verdict::Refused(refusal) => Ok(Outcome::Refused(Box::new(refusal), report)),
            Verdict::Holds(_) => Ok(Outcome::Done(self.commit(permit, &changed, why)?)),
        }
    }

    fn change(&self, changed: &BTreeMap<String, Option<String>>) -> Result<Change, WorkError> {
        let before = StoredSources::new(&self.workshop.site.repo, &self.head.tree)?;
        let after = ChangedSources::new(&before, changed);
        let paths = [self.path.clone()];
        Ok(self.workshop.site.language.change(&self.workshop.site.project, &before, &after, &paths))
    }

    fn permit(&self, content: String, change: &Change) -> Result<Permit, Refusal> {
        let edit = Edit { path: self.path.clone(), action: Action::Upsert { content } };
        let kata = self.workshop.site.config.kata_description.as_str();
        match gate::permit_person(&edit, change, &self.id, kata) {
            gate::Decision::Permit(permit) => Ok(permit),
            gate::Decision::Refuse(refusal) => Err(refusal),
        }
    }

    fn judge(&self, report: &Report, fate: TestFate) -> Result<Verdict, WorkError> {
        let mut baseline = self.workshop.baseline()?;
        match fate {
            TestFate::Gone => drop(baseline.remove(&self.id)),
            // Some runners report a test that is excluded from the build; others omit it.
            TestFate::Skipped(Skip::FromBuilding) if report.get(&self.id).is_none() => drop(baseline.remove(&self.id)),
            TestFate::Skipped(Skip::FromRunning | Skip::FromBuilding) => {
                baseline.insert(self.id.clone(), Some(Cause::Skipped));
            }
            TestFate::Free => {}
        }
        let tree = &self.head.tree;
        // The gate made sure that only this test changed.
        let but_for_the_test = Change::default();
        let seen =
            RunFacts { change: &but_for_the_test, report, trees: (tree, tree), baseline: Some(&baseline), absent: &[] };
        let kind = match fate {
            TestFate::Gone | TestFate::Skipped(_) => Kind::OneTest,
            TestFate::Free => Kind::Unblock,
        };
        let gate: &Gate = &self.workshop.site.config.gate;
        let subject = Subject { kind, target: Some(&self.id), targets: &[], was_green: false, gate };
        let exceptions = |rule| self.workshop.exception(rule);
        Ok(judge::judge(&mut RuleRunner::new(&exceptions), &subject, &seen))
    }

    /// Records the edit before touching the file, so that the next start can settle it after a kill.
    fn commit(&mut self, permit: Permit, files: &Files, why: &EditReason<'_>) -> Result<Committed, WorkError> {
        self.workshop.site.repo.check_ready_to_commit()?;
        let content = Digest::of(files.get(&self.path).cloned().flatten().unwrap_or_default());
        let edit = PersonEdit {
            test_id: self.id.clone(),
            fate: why.fate,
            reason: why.reason.to_owned(),
            path: self.path.clone(),
            content,
            head: self.head.commit.clone(),
        };
        self.workshop.recording.append(&[Event::PersonEdit(edit.clone())])?;
        let committed = self.write(permit, why);
        match &committed {
            Ok(committed) => {
                self.workshop.recording.append(&[edit.done(), Event::Committed(committed.clone())])?;
            }
            Err(_) => drop(self.workshop.settle()?),
        }
        committed
    }

    fn write(&self, permit: Permit, why: &EditReason<'_>) -> Result<Committed, WorkError> {
        let repo = &self.workshop.site.repo;
        match Workspace::open(repo.root())?.write(permit)? {
            Written::Done(_) => {}
            Written::PersonChanged { .. } => return Err(WorkError::Uncommitted(self.path.clone())),
            Written::Refused(refusal) => return Err(WorkError::InTheWay(refusal.reason)),
        }
        let message = commit::word_about_test(why.summary, why.reason, why.fate.trailer(), &self.id);
        let machine = self.workshop.site.config.commit.clone();
        let author = match why.fate {
            // Skips are committed by the machine, not by a person.
            PersonFate::Skipped => machine,
            PersonFate::Retired | PersonFate::Unblocked => repo.person().unwrap_or(machine),
        };
        let commit = Vcs::commit(
            repo,
            &NewCommit {
                onto: &self.head,
                tree: &repo.stage_all()?,
                paths: std::slice::from_ref(&self.path),
                message: &message,
                author: &author,
                now_ms: WallClock.now_ms(),
            },
        )?;
        let subject = message.lines().next().unwrap_or_default().to_owned();
        Ok(Committed { commit, tree: repo.head()?.tree, subject, files: vec![self.path.clone()] })
    }
}

impl ProjectWorkshop {
    /// Recovers from a kill during a person's edit of a test: records a commit that was made, or restores a file that
    /// holds exactly the edit. Returns whether an edit was open.
    pub fn settle(&mut self) -> Result<bool, WorkError> {
        let Some(edit) = self.session().machine_state().person_edit().cloned() else { return Ok(false) };
        let head = self.site.repo.head()?;
        if let Some(commit) = head.commit.clone().filter(|_| head.commit != edit.head)
            && self.site.repo.first_parent(&commit)? == edit.head
            && let Some(message) = self.site.repo.last_message()?
            && Trailers::parse(&message).get(edit.fate.trailer()) == Some(edit.test_id.as_str())
        {
            let subject = message.lines().next().unwrap_or_default().to_owned();
            let committed = Committed { commit, tree: head.tree, subject, files: vec![edit.path.clone()] };
            self.recording.append(&[edit.done(), Event::Committed(committed)])?;
            return Ok(true);
        }
        let full = self.site.repo.root().join(&edit.path);
        let is_ours = text::read(&full, MAX_FILE).is_ok_and(|text| Digest::of(text) == edit.content);
        let mut kept_as = None;
        if is_ours && head.commit == edit.head {
            self.span.base = head.tree;
            kept_as = self.keep_attempt((0, 0), std::slice::from_ref(&edit.path), "it was cut short")?;
            self.site.repo.restore(&[GitPath::new(&edit.path)?], &self.span.base)?;
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
