//! What the machine does to the project beside judging it: writes, formats, runs, records.

use std::collections::BTreeMap;
use std::fs;

use tdd_core::change::Change;
use tdd_core::event::Event;
use tdd_core::gate::{Action, Edit, Files, Permit};
use tdd_core::report::Report;
use tdd_core::rule::Refusal;
use tdd_core::seam::{Clock, Runner, Workspace as _};
use tdd_core::session::SuiteFacts;
use tdd_exec::clock::WallClock;
use tdd_exec::git::{ChangeKind, GitPath, Look, Signature};
use tdd_exec::layout::Content;
use tdd_exec::sources::{ChangedSources, StoredSources};
use tdd_exec::workspace::{Workspace, Written};
use tdd_lang::language::Sources as _;
use tdd_lang::rename;

use super::Machine;
use crate::error::CliError;
use crate::trial::{Run, Trial};

/// Milliseconds since 1970.
pub fn now_ms() -> u64 {
    WallClock.now_ms()
}

impl Trial<'_> {
    /// What these files would change, were they written over the base; in a refactor a consistent rename is no change
    /// of the tests that name what is renamed.
    pub fn change_to(&self, files: &Files, refactors: bool) -> Result<Change, CliError> {
        let base = StoredSources::new(&self.repo, &self.base)?;
        let after = ChangedSources::new(&base, files);
        let paths: Vec<String> = files.keys().cloned().collect();
        let change = self.changed(&base, &after, &paths);
        if !refactors {
            return Ok(change);
        }
        Ok(rename::put_back(self.language.as_ref(), &self.project, (&base, &after), &paths, change))
    }

    /// The files as the project's formatter would have them. It runs in a copy: what it does to other files
    /// stays there. One that fails leaves them as they are: the check will say why. Meanwhile the working tree is
    /// looked at.
    pub fn formatted(&self, files: &Files) -> Result<(Files, Option<Look>), CliError> {
        let base = StoredSources::new(&self.repo, &self.base)?;
        let paths: Vec<String> =
            files.iter().filter(|(_, text)| text.is_some()).map(|(path, _)| path.clone()).collect();
        let after = ChangedSources::new(&base, files);
        if self.language.fmt(&self.project, &self.settings, &paths, &after).is_empty() {
            return Ok((files.clone(), None));
        }
        let look = self.repo.begin_look();
        let done = self.roughly_elsewhere(&self.base, files, |runner| Ok(runner.fmt(&paths)?))?;
        if !done.ok {
            return Ok((files.clone(), look));
        }
        let root = self.scratch_tree()?;
        let mut formatted = files.clone();
        for path in paths {
            if let Some(Content::Given { bytes, .. }) = Content::read(&root.join(&path))?
                && let Ok(text) = String::from_utf8(bytes)
            {
                formatted.insert(path, Some(text));
            }
        }
        formatted.retain(|path, text| *text != base.read(path));
        Ok((formatted, look))
    }

    /// The files that the project's tools bring up to date by themselves.
    pub fn lock_files(&self) -> Vec<String> {
        self.language.scratch(&self.project, "").files
    }

    /// Takes the tree to judge: the base with these paths as they are in the working tree.
    pub fn take_tree(&mut self, paths: &[String]) -> Result<(), CliError> {
        self.take_tree_since(None, paths)
    }

    /// The same, where a look was begun before these paths were written.
    pub fn take_tree_since(&mut self, look: Option<Look>, paths: &[String]) -> Result<(), CliError> {
        let paths = git_paths(paths)?;
        let working = self.repo.tree_id_since(look, &paths)?;
        self.tree = self.repo.composed(&self.base, &working, &paths)?;
        self.in_place = self.tree == working;
        Ok(())
    }

    /// What all tests say on the tree that is judged, recorded wherever they ran. A lock file that the run
    /// brought up to date goes with the step; what else it left behind is removed.
    pub fn run_recorded(&mut self, paths: &mut Vec<String>) -> Result<Run, CliError> {
        let run = self.run()?;
        if !self.in_place {
            return self.record_elsewhere(run);
        }
        if run.tree_after == self.tree {
            return Ok(run);
        }
        let locks = self.lock_files();
        let (lock, rest): (Vec<_>, Vec<_>) = self
            .repo
            .diff_trees(&self.tree, &run.tree_after)?
            .into_iter()
            .partition(|change| change.path.as_str().is_some_and(|path| locks.iter().any(|lock| lock == path)));
        if rest.iter().any(|change| change.kind != ChangeKind::Added) {
            return Ok(run);
        }
        let by_products: Vec<GitPath> = rest.into_iter().map(|change| change.path).collect();
        // One of them may be a file that a person made meanwhile.
        let names: Vec<String> = by_products.iter().filter_map(GitPath::as_str).map(str::to_owned).collect();
        self.keep_attempt((0, 0), &names, "left behind by a run of the tests")?;
        self.repo.restore(&by_products, &self.tree)?;
        for path in lock.iter().filter_map(|change| change.path.as_str()) {
            if !paths.iter().any(|known| known == path) {
                paths.push(path.to_owned());
            }
        }
        let updated = !lock.is_empty();
        self.take_tree(paths)?;
        if updated {
            return self.run();
        }
        self.record_suite(&run.report, 0)?;
        Ok(Run { tree_after: self.tree.clone(), ..run })
    }

    fn record_elsewhere(&mut self, run: Run) -> Result<Run, CliError> {
        if self.session().report_on(&self.tree, &self.command()).is_none() {
            self.record_suite(&run.report, 0)?;
        }
        Ok(run)
    }

    fn record_suite(&mut self, report: &Report, duration_ms: u64) -> Result<(), CliError> {
        let (tree, command) = (self.tree.clone(), self.command());
        self.recording.suite(&SuiteFacts { report, command: &command, tree: &tree, duration_ms })?;
        Ok(())
    }

    /// Runs these tests again on the tree that is judged, as often as is configured, and names those that do
    /// not say the same as before.
    pub fn run_again(&self, report: &Report, suspects: &[tdd_core::test_id::TestId]) -> Result<Report, CliError> {
        let mut report = report.clone();
        for _ in 0..self.loaded.config.gate.flaky_reruns {
            if suspects.is_empty() {
                break;
            }
            let again = if self.in_place {
                self.here(|runner| Ok(runner.test(suspects)?))?
            } else {
                self.elsewhere(&self.tree, &BTreeMap::new(), |runner| Ok(runner.test(suspects)?))?
            };
            report = report.with_rerun(&again);
        }
        Ok(report)
    }

    /// Puts these paths of the working tree back to what they are in the base.
    pub fn put_back(&self, paths: &[String]) -> Result<(), CliError> {
        let working = self.repo.tree_id()?;
        let differ = self.repo.diff_trees(&self.base, &working)?;
        let mut ours = Vec::new();
        for change in differ {
            let from = match change.kind {
                ChangeKind::Renamed { from } => Some(from),
                ChangeKind::Added | ChangeKind::Modified | ChangeKind::Deleted => None,
            };
            let is_ours = |path: &GitPath| path.as_str().is_some_and(|path| paths.iter().any(|our| our == path));
            ours.extend(from.into_iter().chain([change.path]).filter(is_ours));
        }
        Ok(self.repo.restore(&ours, &self.base)?)
    }

    /// Keeps what an attempt wrote, under a name of its own; `None` if it wrote nothing.
    pub fn keep_attempt(
        &self,
        (step, attempt): (u32, u32),
        paths: &[String],
        why: &str,
    ) -> Result<Option<String>, CliError> {
        let working = self.repo.tree_id()?;
        let tree = self.repo.composed(&self.base, &working, &git_paths(paths)?)?;
        if tree == self.base {
            return Ok(None);
        }
        let head = self.repo.head()?;
        let message = format!("attempt {attempt} of step {step}, undone\n\n{why}\n");
        Ok(Some(self.repo.keep_attempt((step, attempt), &tree, head.commit.as_ref(), &message, &self.signature())?))
    }

    pub fn signature(&self) -> Signature {
        let author = &self.loaded.config.commit;
        Signature {
            name: author.author_name.clone(),
            email: author.author_email.clone(),
            time: i64::try_from(now_ms() / 1000).unwrap_or(0),
        }
    }
}

impl Machine<'_> {
    /// Puts events on the record, and shows them.
    pub fn record(&mut self, events: &[Event]) -> Result<(), CliError> {
        self.trial.recording.append(events)?;
        events.iter().try_for_each(|event| self.tell(event))
    }

    /// Writes what is permitted; a refusal if it does not fit the files as they are.
    pub fn write(&self, permit: Permit) -> Result<Option<Refusal>, CliError> {
        let workspace = Workspace::open(self.trial.repo.root())?;
        let written = workspace.write(permit)?;
        match written {
            Written::Done(_) => Ok(None),
            Written::Refused(refusal) => Ok(Some(refusal)),
        }
    }
}

/// The edits that make these files.
pub fn edits_of(files: &Files) -> Vec<Edit> {
    let action = |text: &Option<String>| match text {
        Some(content) => Action::Upsert { content: content.clone() },
        None => Action::Delete,
    };
    files.iter().map(|(path, text)| Edit { path: path.clone(), action: action(text) }).collect()
}

pub fn git_paths(paths: &[String]) -> Result<Vec<GitPath>, CliError> {
    Ok(paths.iter().map(GitPath::new).collect::<Result<_, _>>()?)
}

/// Those of the paths that no tree would hold.
pub fn ignored(trial: &Trial<'_>, files: &Files) -> Result<Vec<String>, CliError> {
    let mut ignored = Vec::new();
    for path in files.keys() {
        if trial.repo.is_ignored(&GitPath::new(path)?)? {
            ignored.push(path.clone());
        }
    }
    Ok(ignored)
}

/// Those of the paths where something is that the step's base does not have: at such a time, a person's own.
/// A file of theirs may also stand where a folder would have to be.
pub fn untracked(trial: &Trial<'_>, files: &Files) -> Result<Vec<String>, CliError> {
    let base = StoredSources::new(&trial.repo, &trial.base)?;
    let theirs = |path: &str| {
        let found = fs::symlink_metadata(trial.repo.root().join(path)).ok();
        found.is_some_and(|found| !found.is_dir())
            && base.files().binary_search_by(|known| known.as_str().cmp(path)).is_err()
    };
    let in_the_way = |path: &&String| {
        let folders = path.match_indices('/').map(|(at, _)| &path[..at]);
        folders.chain([path.as_str()]).any(theirs)
    };
    Ok(files.keys().filter(in_the_way).cloned().collect())
}
