//! Implements [`StepWorkshop`]: writes, formats, takes trees and restores them.

use std::fs;
use std::time::Duration;

use tdd_core::change::{Change, Sort};
use tdd_core::config::Config;
use tdd_core::digest::{Digest, TreeId};
use tdd_core::gate::{Files, Permit};
use tdd_core::law::Kind;
use tdd_core::merge::{MergeError, Merged};
use tdd_core::path::ConfinedPath;
use tdd_core::report::Report;
use tdd_core::seam::{Clock, File, Ledger, Obstructed, Rescued, Run, Runner, StepWorkshop, Vcs, Workshop, Written};
use tdd_core::session::SuiteFacts;
use tdd_core::test_id::TestId;
use tdd_lang::complaint;
use tdd_lang::language::Sources;
use tdd_lang::rename;
use tdd_lang::split;

use super::ProjectWorkshop;
use super::facts::ChangesOfRun;
use crate::clock::WallClock;
use crate::error::WorkError;
use crate::git::{GitPath, PersonsFile, PersonsFileNow, Repo, Withdrawal};
use crate::layout::Content;
use crate::process;
use crate::project;
use crate::recording::Recording;
use crate::sources::ChangedSources;
use crate::vcs::{git_paths, signature};
use crate::workspace::{self, Workspace};

/// Documents shown to a model in full, besides those that the last commit changed; of the others it sees the name.
const MAX_DOCUMENTS: usize = 50;

impl Clock for ProjectWorkshop {
    fn now_ms(&self) -> u64 {
        WallClock.now_ms()
    }

    fn elapsed(&self) -> Duration {
        WallClock.elapsed()
    }

    fn is_cancelled(&self) -> bool {
        self.site.control.cancel.is_cancelled()
    }
}

impl StepWorkshop for ProjectWorkshop {
    type Vcs = Repo;
    type Ledger = Recording;

    fn vcs(&self) -> &Repo {
        &self.site.repo
    }

    fn ledger(&mut self) -> &mut Recording {
        &mut self.recording
    }

    fn config(&self) -> &Config {
        &self.site.config
    }

    fn test_command(&self) -> String {
        self.site.test_command()
    }

    fn check_command(&self, kind: Kind) -> String {
        let verify = self.site.config.ci.verify_cmd.clone().filter(|_| self.verifies_by_command(kind));
        verify.map_or_else(|| self.site.check_command(), project::command_line)
    }

    fn prepare(&self) -> Result<(), WorkError> {
        Workspace::open(self.site.repo.root())?.sweep()?;
        Ok(self.site.repo.check_ready_to_commit()?)
    }

    fn forget(&self) -> Result<(), WorkError> {
        Ok(self.site.repo.forget_tree()?)
    }

    fn start_from(&mut self, base: &TreeId) {
        self.span.base = base.clone();
        // The ledger keeps only the last run; the base's results are needed again after the step's own run.
        if let Some(report) = self.recording.session().report_on(base, &self.site.test_command()) {
            self.remember(base, &report);
        }
    }

    fn read(&self, path: &str) -> Result<Option<String>, WorkError> {
        Ok(self.base_sources()?.read(path))
    }

    fn files(&self) -> Result<Vec<String>, WorkError> {
        Ok(self.base_sources()?.files().to_vec())
    }

    fn merge(&self, path: &str, file: &str, answer: &str) -> Option<Result<Merged, MergeError>> {
        self.site.language.merge(path, file, answer)
    }

    fn one_by_one(&self, files: &Files) -> Result<Vec<Files>, WorkError> {
        Ok(split::one_by_one(self.site.language.as_ref(), &self.base_sources()?, files))
    }

    fn shown(&self) -> Result<Vec<File>, WorkError> {
        let base = self.base_sources()?;
        let (changed, locks) = (self.last_changed()?, self.site.lock_files());
        let kata = self.site.config.kata_description.as_str();
        let is_shown = |path: &str| {
            path != kata
                && path != "tdd.yaml"
                && !locks.iter().any(|lock| lock == path)
                && !tdd_core::program::is_ours(path)
        };
        let paths: Vec<String> = base.files().iter().filter(|path| is_shown(path)).cloned().collect();
        let sorts = self.site.language.sorts(&self.site.project, &paths, &base);
        let (mut documents, sources): (Vec<_>, Vec<_>) =
            paths.iter().zip(sorts).partition(|(path, sort)| *sort == Sort::Document && !changed.contains(*path));
        // Documents near the root first: they describe the whole project.
        documents.sort_by_cached_key(|(path, _)| path.bytes().filter(|byte| *byte == b'/').count());
        documents.truncate(MAX_DOCUMENTS);
        let read = |(path, sort): (&String, Sort)| {
            Some(File { path: path.clone(), text: base.read(path)?, sort, changed: changed.contains(path) })
        };
        Ok(sources.into_iter().chain(documents).filter_map(read).collect())
    }

    fn language(&self) -> Result<(String, Option<String>), WorkError> {
        let imports = self.site.language.imports(&self.site.project, &self.base_sources()?);
        Ok((self.site.language.name().to_owned(), imports))
    }

    fn change_to(&self, files: &Files, kind: Kind) -> Result<Change, WorkError> {
        let base = self.base_sources()?;
        let after = ChangedSources::new(&base, files);
        let paths: Vec<String> = files.keys().cloned().collect();
        let change = self.site.changed(&base, &after, &paths);
        if kind != Kind::Refactor {
            return Ok(change);
        }
        Ok(rename::put_back(self.site.language.as_ref(), &self.site.project, (&base, &after), &paths, change))
    }

    fn obstructed(&self, files: &Files) -> Result<Obstructed, WorkError> {
        let mut ignored = Vec::new();
        for path in files.keys() {
            if self.site.repo.is_ignored(&GitPath::new(path)?)? {
                ignored.push(path.clone());
            }
        }
        let root = self.site.repo.root();
        let is_folder = |path: &str| fs::symlink_metadata(root.join(path)).is_ok_and(|found| found.is_dir());
        let is_file = |path: &str| fs::symlink_metadata(root.join(path)).is_ok_and(|found| found.is_file());
        let is_below_file = |path: &&String| path.match_indices('/').any(|(at, _)| is_file(&path[..at]));
        Ok(Obstructed {
            ignored,
            untracked: self.untracked(files)?,
            folders: files.keys().filter(|path| is_folder(path)).cloned().collect(),
            below_files: files.keys().filter(is_below_file).cloned().collect(),
        })
    }

    fn try_tests(&self, files: &Files, only: &[TestId]) -> Result<Report, WorkError> {
        if files.is_empty() {
            return self.base_report();
        }
        self.in_scratch(&self.span.base, files, |runner| Ok(runner.test(only)?))
    }

    /// Runs the formatter in the scratch copy, so that its changes to other files have no effect. If it fails, the
    /// files stay unformatted and the check reports why.
    fn formatted(&self, files: &Files) -> Result<Files, WorkError> {
        let base = self.base_sources()?;
        let paths: Vec<String> =
            files.iter().filter(|(_, text)| text.is_some()).map(|(path, _)| path.clone()).collect();
        let after = ChangedSources::new(&base, files);
        if self.site.language.fmt(&self.site.project, &self.site.settings, &paths, &after).is_empty() {
            return Ok(files.clone());
        }
        let done = self.in_scratch(&self.span.base, files, |runner| Ok(runner.fmt(&paths)?))?;
        if !done.ok {
            return Ok(files.clone());
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
        Ok(formatted)
    }

    fn write(&mut self, permit: Permit, files: &Files) -> Result<Written, WorkError> {
        let (repo, base) = (&self.site.repo, &self.span.base);
        // Lets us tell the edit from a person's work, even after a kill.
        repo.announce(&repo.tree_with_files(base, files)?)?;
        let is_base = |path: &ConfinedPath, bytes: Option<&[u8]>| -> Result<bool, WorkError> {
            Ok(repo.is_base(base, path.as_str(), bytes)?)
        };
        Ok(match Workspace::open(repo.root())?.write_over(permit, is_base)? {
            workspace::Written::Done(_) => Written::Done,
            workspace::Written::Refused(refusal) => Written::Refused(refusal),
            workspace::Written::PersonChanged { paths } => {
                Written::Interfered(paths.iter().map(ToString::to_string).collect())
            }
        })
    }

    /// Takes what we wrote, without what a person typed since: this is tested and committed. Lock files are taken as
    /// the project's tools left them.
    fn take(&mut self, paths: &[String]) -> Result<(), WorkError> {
        let repo = &self.site.repo;
        let working = repo.stage_all()?;
        let written = if paths.is_empty() { None } else { repo.announced() };
        let locks = self.site.lock_files();
        let locks: Vec<String> = paths.iter().filter(|path| locks.contains(path)).cloned().collect();
        self.span.tree = repo.composed(written.as_ref().unwrap_or(&self.span.base), &working, &git_paths(&locks)?)?;
        self.span.in_place = self.span.tree == working;
        self.step_files = Some(paths.to_vec());
        Ok(())
    }

    fn taken(&self) -> Vec<String> {
        self.step_files.clone().unwrap_or_default()
    }

    fn lock_files(&self) -> Vec<String> {
        self.site.lock_files()
    }

    fn keep_attempt(&self, attempt: (u32, u32), paths: &[String], why: &str) -> Result<Option<String>, WorkError> {
        let repo = &self.site.repo;
        let head = repo.head()?;
        let tree = repo.composed(&head.tree, &repo.stage_all()?, &git_paths(paths)?)?;
        if tree == head.tree {
            return Ok(None);
        }
        let message = format!("attempt {} of step {}, undone\n\n{why}\n", attempt.1, attempt.0);
        let author = signature(&self.site.config.commit, self.now_ms());
        Ok(Some(repo.keep_attempt(attempt, &tree, head.commit.as_ref(), &message, &author)?))
    }

    fn put_back(&self, paths: &[String]) -> Result<Vec<Rescued>, WorkError> {
        let repo = &self.site.repo;
        let head = repo.head()?.tree;
        // Lock files that the project's tools updated are not a person's work.
        let locks = self.site.lock_files();
        let (locks, ours): (Vec<String>, Vec<String>) = paths.iter().cloned().partition(|path| locks.contains(path));
        repo.restore(&repo.changed_from(&head, &git_paths(&locks)?)?, &head)?;
        let written = repo.announced().unwrap_or_else(|| head.clone());
        let author = signature(&self.site.config.commit, self.now_ms());
        let paths = git_paths(&ours)?;
        let theirs = repo.withdraw(&Withdrawal { written: &written, to: &head, paths: &paths, author: &author })?;
        let rescued = |file: PersonsFile| {
            let on_disk = file.now == PersonsFileNow::Merged;
            Some(Rescued { path: file.path.to_string(), kept_as: file.kept_as?, on_disk })
        };
        Ok(theirs.into_iter().filter_map(rescued).collect())
    }

    fn test_digest(&self, test: &TestId) -> Option<Digest> {
        self.digest_in(&self.span.tree, test)
    }

    fn digest_before(&self, test: &TestId) -> Option<Digest> {
        self.digest_in(&self.span.base, test)
    }

    fn lies_in_tests(&self, output: &str) -> Result<bool, WorkError> {
        let sources = self.subject()?;
        let (language, project) = self.language_and_project();
        let is_test = |place: complaint::Place<'_>| {
            language.is_test_line(project, &project.repository_path(place.path), place.line, &sources)
        };
        Ok(complaint::only_in_tests(output, is_test))
    }

    fn spent_on_commands(&self) -> Duration {
        process::spent()
    }
}

impl ProjectWorkshop {
    /// Runs all tests for a step. Adds lock files that the run updated to the step, and removes other new files.
    pub(super) fn run_of_step(&mut self, paths: &mut Vec<String>) -> Result<Run, WorkError> {
        let run = self.run_all()?;
        if !self.span.in_place {
            let changes = self.changes_of_run(&run.tree_after)?;
            // By-products stay in the scratch copy.
            let run = if changes.changed.is_empty() { Run { tree_after: self.span.tree.clone(), ..run } } else { run };
            if self.recording.session().report_on(&self.span.tree, &self.site.test_command()).is_none() {
                self.record_suite(&run.report)?;
            }
            return Ok(run);
        }
        if run.tree_after == self.span.tree {
            return Ok(run);
        }
        let ChangesOfRun { locks, added, changed } = self.changes_of_run(&run.tree_after)?;
        if !changed.is_empty() {
            return Ok(run);
        }
        // An added file may be one that a person just made.
        let names: Vec<String> = added.iter().filter_map(GitPath::as_str).map(str::to_owned).collect();
        self.keep_attempt((0, 0), &names, "left behind by a run of the tests")?;
        self.site.repo.restore(&added, &self.span.tree)?;
        for path in locks.iter().filter_map(GitPath::as_str) {
            if !paths.iter().any(|known| known == path) {
                paths.push(path.to_owned());
            }
        }
        let updated = !locks.is_empty();
        self.take(paths)?;
        if updated {
            return self.run_all();
        }
        self.record_suite(&run.report)?;
        Ok(Run { tree_after: self.span.tree.clone(), ..run })
    }

    fn record_suite(&mut self, report: &Report) -> Result<(), WorkError> {
        let (tree, command) = (self.span.tree.clone(), self.site.test_command());
        Ok(self.recording.suite(&SuiteFacts { report, command: &command, tree: &tree, duration_ms: 0 })?)
    }

    /// The paths that are blocked by a file that the base lacks: at this point, a person's file. It may also be where a
    /// folder must go.
    fn untracked(&self, files: &Files) -> Result<Vec<String>, WorkError> {
        let base = self.base_sources()?;
        let theirs = |path: &str| {
            let found = fs::symlink_metadata(self.site.repo.root().join(path)).ok();
            found.is_some_and(|found| !found.is_dir())
                && base.files().binary_search_by(|known| known.as_str().cmp(path)).is_err()
        };
        let in_the_way = |path: &&String| {
            let folders = path.match_indices('/').map(|(at, _)| &path[..at]);
            folders.chain([path.as_str()]).any(theirs)
        };
        Ok(files.keys().filter(in_the_way).cloned().collect())
    }
}
