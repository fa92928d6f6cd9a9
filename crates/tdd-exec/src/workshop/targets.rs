//! Resolves files, test ids and bare names to tests, or finds the change's own tests if nothing is named.

use std::collections::BTreeSet;

use tdd_core::change::{Change, ItemFate};
use tdd_core::digest::CommitId;
use tdd_core::judge;
use tdd_core::law::Kind;
use tdd_core::pipeline;
use tdd_core::report::Cause;
use tdd_core::rule::{Refusal, Rule};
use tdd_core::seam::Workshop;
use tdd_core::signs::Place;
use tdd_core::test_id::TestId;
use tdd_lang::MAX_DEPTH;
use tdd_lang::language::Sources;

use super::ProjectWorkshop;
use crate::error::WorkError;
use crate::project;
use crate::sources::StoredSources;

/// The tests to judge, or why there are none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Targets {
    /// These tests.
    Tests(Vec<TestId>),
    /// The named files and names contain no test that could be judged.
    Refused(Refusal),
}

/// How many commits to search for the one that introduced a test.
const LOOK_BACK: usize = 50;
/// How many tests of the same name a message lists.
const MAX_LISTED: usize = 5;

impl ProjectWorkshop {
    /// The tests that a change of this kind is for: the named ones, else those it adds or makes pass.
    pub fn targets(&mut self, kind: Kind, names: &[String], change: &Change) -> Result<Targets, WorkError> {
        if !names.is_empty() {
            return self.named_targets(kind, names, change);
        }
        let new: Vec<TestId> = change.new_demands().map(|test| test.id.clone()).collect();
        if kind == Kind::Green && new.is_empty() {
            Ok(Targets::Tests(self.turned_green(change)?))
        } else {
            Ok(Targets::Tests(new))
        }
    }

    /// The kind of a change without a claim, and its targets.
    pub fn inferred(&mut self, change: &Change) -> Result<(Kind, Vec<TestId>), WorkError> {
        let mut was_red = BTreeSet::new();
        if !change.production.is_empty() && change.new_demands().next().is_none() {
            was_red = pipeline::failing(&self.base_report()?);
        }
        let (kind, targets) = pipeline::infer(change, &was_red);
        let turned = if kind == Kind::Green && !was_red.is_empty() { self.turned_green(change)? } else { Vec::new() };
        Ok((kind, if turned.is_empty() { targets } else { turned }))
    }

    /// The tests that were red before the change, reach the changed code, and pass after it; failing that, those that
    /// pass; failing that, all that were red.
    fn turned_green(&mut self, change: &Change) -> Result<Vec<TestId>, WorkError> {
        let before = pipeline::failing(&self.base_report()?);
        if before.is_empty() {
            return Ok(Vec::new());
        }
        let after = judge::baseline_of(&self.run()?.report);
        let passing: BTreeSet<TestId> = before.iter().filter(|id| after.get(id) == Some(&None)).cloned().collect();
        let leading = self.leading_to(&passing, change)?;
        Ok(match (leading.is_empty(), passing.is_empty()) {
            (false, _) => leading,
            (true, false) => passing.into_iter().collect(),
            (true, true) => before.into_iter().collect(),
        })
    }

    /// The tests that reach changed production code. A compile error turns all tests of its target red, so not every
    /// red test is a target of the change.
    fn leading_to(&self, tests: &BTreeSet<TestId>, change: &Change) -> Result<Vec<TestId>, WorkError> {
        let changed = change.production.iter().filter(|item| item.fate != ItemFate::Removed);
        let changed: BTreeSet<Place> = changed.map(|item| Place::new(&item.path, item.line)).collect();
        let signs = self.signs_of(tests)?;
        let sources = self.subject()?;
        let leads = |id: &&TestId| {
            let Some((path, item)) = self.site.language.find_test(id, &sources) else { return false };
            let at = Place::new(&path, item.line);
            signs.iter().any(|signs| signs.at == at && !signs.reaches.is_disjoint(&changed))
        };
        Ok(tests.iter().filter(leads).cloned().collect())
    }

    fn named_targets(&self, kind: Kind, names: &[String], change: &Change) -> Result<Targets, WorkError> {
        let sources = self.subject()?;
        let mut targets = Vec::new();
        for text in names {
            let is_there = |path: &str| sources.files().iter().any(|file| file == path);
            let text = &project::relative_to_root(&self.site.user_paths, self.site.repo.root(), text, is_there);
            let found = if is_there(text) {
                self.in_file(kind, text, change, &sources)?
            } else {
                self.by_name(kind, text, &sources)
            };
            match found {
                Targets::Tests(tests) => targets.extend(tests),
                Targets::Refused(refusal) => return Ok(Targets::Refused(refusal)),
            }
        }
        targets.dedup();
        Ok(Targets::Tests(targets))
    }

    /// A file stands for its tests with new demands. At green, when the red is already committed, it stands for the
    /// tests introduced by the last commit that introduced any; tests that passed before are not targets.
    fn in_file(
        &self,
        kind: Kind,
        file: &str,
        change: &Change,
        sources: &StoredSources<'_>,
    ) -> Result<Targets, WorkError> {
        let new = demands_in(file, change);
        if !new.is_empty() {
            return Ok(Targets::Tests(new));
        }
        let all = self.site.language.tests_in(&self.site.project, file, sources);
        if all.is_empty() {
            let owns = self.site.language.owns(file);
            let broken = owns && sources.read(file).is_some_and(|text| !self.site.language.items(file, &text).parses);
            let flaw = change.unreadable.iter().find(|unreadable| unreadable.place.path == *file);
            return Ok(Targets::Refused(if broken {
                let reason = flaw.map_or_else(|| format!("`{file}` does not parse"), ToString::to_string);
                let next = format!("fix its syntax; code nested deeper than {MAX_DEPTH} levels is not parsed");
                refuse(kind, Cause::SyntaxError, reason, &next)
            } else {
                let next = "name a file with tests in it, or a test id; a symbolic link is not followed";
                refuse(kind, Cause::ZeroTests, format!("there is no test in `{file}`"), next)
            }));
        }
        if kind != Kind::Green {
            return Ok(Targets::Tests(all));
        }
        let brought = self.last_brought(file)?;
        let came: Vec<TestId> = all.iter().filter(|id| brought.contains(id)).cloned().collect();
        let candidates = if came.is_empty() { all } else { came };
        let before = self.baseline()?;
        let red: Vec<TestId> = candidates.iter().filter(|id| before.get(id) != Some(&None)).cloned().collect();
        Ok(Targets::Tests(if red.is_empty() { candidates } else { red }))
    }

    /// The test with this id, or the only test with this name.
    fn by_name(&self, kind: Kind, text: &str, sources: &StoredSources<'_>) -> Targets {
        let id = TestId::parse(text).ok();
        // Some tests are found only by a runner, but never in a file that does not exist.
        let in_file = |id: &TestId| id.path().is_some_and(|path| sources.files().iter().any(|file| file == path));
        // A test that the change deleted is left to the rules.
        let base = self.base_sources().ok();
        let was_there =
            |id: &TestId| base.as_ref().is_some_and(|base| self.site.language.find_test(id, base).is_some());
        let is_one = |id: &TestId| in_file(id) || self.site.language.find_test(id, sources).is_some() || was_there(id);
        if let Some(id) = id.filter(is_one) {
            return Targets::Tests(vec![self.whole(id, sources)]);
        }
        let all = sources.files().iter();
        let all = all.flat_map(|file| self.site.language.tests_in(&self.site.project, file, sources));
        let called: Vec<TestId> = all.filter(|test| test.is_called(text)).collect();
        match called.as_slice() {
            [only] => Targets::Tests(vec![only.clone()]),
            [] => {
                let reason = format!("`{text}` is neither a file of the project nor a test");
                let next = "`tdd-cli auto-test` lists the tests; a file must not be ignored by git";
                Targets::Refused(refuse(kind, Cause::TargetNotFound, reason, next))
            }
            several => {
                let names = several.iter().take(MAX_LISTED).map(|id| format!("`{id}`")).collect::<Vec<_>>().join(", ");
                let reason = format!("{} tests are called `{text}`", several.len());
                Targets::Refused(refuse(kind, Cause::TargetNotFound, reason, &format!("name one of them: {names}")))
            }
        }
    }

    /// The test that a case or subtest belongs to, as runners name them: `test_x[1-2]`, `TestX/sub`.
    fn whole(&self, id: TestId, sources: &dyn Sources) -> TestId {
        let found = id.path().and_then(|_| self.site.language.find_test(&id, sources));
        let Some((path, test)) = found else { return id };
        let own = TestId::native(&path, &test.name);
        let is_part = id.as_str().strip_prefix(own.as_str()).is_some_and(|rest| rest.starts_with(['[', '/']));
        let slug = || test.annotation.as_deref().and_then(|slug| TestId::annotation(slug).ok());
        if is_part { slug().unwrap_or(own) } else { id }
    }

    /// The tests of a file introduced by the last commit, up to the base, that introduced any. The results on the base
    /// cannot tell, because a compile error fails all tests of the file.
    fn last_brought(&self, file: &str) -> Result<Vec<TestId>, WorkError> {
        let mut next = self.span.base_commit.clone();
        for _ in 0..LOOK_BACK {
            let Some(commit) = next else { break };
            next = self.site.repo.first_parent(&commit)?;
            let brought = demands_in(file, &self.change_of(&commit, next.as_ref(), file)?);
            if !brought.is_empty() {
                return Ok(brought);
            }
        }
        Ok(Vec::new())
    }

    /// A commit's change; empty if it did not touch this file.
    fn change_of(&self, commit: &CommitId, parent: Option<&CommitId>, file: &str) -> Result<Change, WorkError> {
        let repo = &self.site.repo;
        let (before, after) = (repo.commit_tree(parent)?, repo.commit_tree(Some(commit))?);
        let paths = self.site.changed_paths(&before, &after)?;
        if !paths.iter().any(|path| path == file) {
            return Ok(Change::default());
        }
        let (before, after) = (StoredSources::new(repo, &before)?, StoredSources::new(repo, &after)?);
        Ok(self.site.changed(&before, &after, &paths))
    }
}

fn refuse(kind: Kind, cause: Cause, reason: String, next: &str) -> Refusal {
    let rule = if kind == Kind::Green { Rule::TargetPasses } else { Rule::RedFirst };
    rule.refuse(reason, next).because(cause)
}

/// The tests of a file that demand something new.
fn demands_in(file: &str, change: &Change) -> Vec<TestId> {
    change.new_demands().filter(|test| test.path == file).map(|test| test.id.clone()).collect()
}
