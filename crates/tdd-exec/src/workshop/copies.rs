//! Runs tools in the working folder, or in a scratch copy of a tree.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError};
use std::time::{Instant, SystemTime};

use tdd_core::digest::TreeId;
use tdd_core::report::Report;
use tdd_core::seam::{Ledger, Run, Runner};
use tdd_core::session::SuiteFacts;
use tdd_lang::language::Sources;

use super::{Overrides, ProjectWorkshop};
use crate::error::WorkError;
use crate::git::GitPath;
use crate::layout::{Content, Layout};
use crate::process::Spawner;
use crate::runner::ProjectRunner;
use crate::scratch::Scratch;
use crate::sources::TreeSources;

impl ProjectWorkshop {
    /// The results of all tests on the judged tree.
    pub fn run_all(&mut self) -> Result<Run, WorkError> {
        let tree = self.span.tree.clone();
        if !self.span.in_place {
            return self.run_in_scratch(&tree, &Overrides::new());
        }
        let command = self.site.test_command();
        if let Some(report) = self.recording.session().report_on(&tree, &command) {
            return Ok(Run { report, tree_after: tree });
        }
        let start = Instant::now();
        let report = self.in_place(|runner| Ok(runner.test(&[])?))?;
        let tree_after = self.site.repo.tree_id()?;
        if tree == tree_after {
            let duration_ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
            self.recording.suite(&SuiteFacts { report: &report, command: &command, tree: &tree, duration_ms })?;
            self.remember(&tree, &report);
        }
        Ok(Run { report, tree_after })
    }

    /// The results of all tests on another tree, run in the scratch copy.
    pub fn run_in_scratch(&self, tree: &TreeId, overrides: &Overrides) -> Result<Run, WorkError> {
        let known = || {
            let recorded = self.recording.session().report_on(tree, &self.site.test_command());
            recorded.or_else(|| self.seen.lock().unwrap_or_else(PoisonError::into_inner).get(tree).cloned())
        };
        if let Some(report) = overrides.is_empty().then(known).flatten() {
            return Ok(Run { report, tree_after: tree.clone() });
        }
        let start = SystemTime::now();
        let report = self.in_scratch(tree, overrides, |runner| Ok(runner.test(&[])?))?;
        if !overrides.is_empty() {
            return Ok(Run { report, tree_after: tree.clone() });
        }
        let tree_after = self.copy_after(tree, start)?;
        if tree_after == *tree {
            self.remember(tree, &report);
        }
        Ok(Run { report, tree_after })
    }

    /// The tree that a run left in the scratch copy, ignoring lock files that the project's tools updated.
    fn copy_after(&self, tree: &TreeId, start: SystemTime) -> Result<TreeId, WorkError> {
        let scratch = Scratch::open(&self.state)?;
        let needs = self.site.language.scratch(&self.site.project, &scratch.products().to_string_lossy());
        let layout = Layout::new(&self.site.repo, tree, &needs)?;
        let text = |content: Content| match content {
            Content::Given { bytes, .. } => String::from_utf8_lossy(&bytes).into_owned(),
            Content::Stored(_) => String::new(),
        };
        let locks = self.site.lock_files();
        let written = scratch.written_since(&layout, start, |path| !self.is_ignored(path))?.into_iter();
        let written = written.filter(|(path, _)| !locks.contains(path));
        let written: Overrides = written.map(|(path, content)| (path, content.map(text))).collect();
        if written.is_empty() {
            return Ok(tree.clone());
        }
        Ok(self.site.repo.tree_with_files(tree, &written)?)
    }

    /// Whether git ignores a path; a path that cannot be looked up counts as not ignored.
    fn is_ignored(&self, path: &str) -> bool {
        GitPath::new(path).is_ok_and(|path| self.site.repo.is_ignored(&path).unwrap_or(false))
    }

    /// Caches the results of all tests on a tree.
    pub(super) fn remember(&self, tree: &TreeId, report: &Report) {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).insert(tree.clone(), report.clone());
    }

    /// Runs `act` on the judged tree: in place if it is in the working folder, else in the scratch copy.
    pub fn on_subject<T>(&self, act: impl FnOnce(&ProjectRunner<'_>) -> Result<T, WorkError>) -> Result<T, WorkError> {
        if self.span.in_place { self.in_place(act) } else { self.in_scratch(&self.span.tree, &Overrides::new(), act) }
    }

    /// Runs `act` in the working folder, whose tree is the judged one.
    fn in_place<T>(&self, act: impl FnOnce(&ProjectRunner<'_>) -> Result<T, WorkError>) -> Result<T, WorkError> {
        let names = Arc::clone(self.site.repo.tree_files(&self.span.tree)?.names());
        let root = self.site.repo.root();
        self.act(&TreeSources::sorted(root, names), &self.spawner(root.to_owned()), act)
    }

    /// Runs `act` in the scratch copy of a tree with some files changed.
    pub fn in_scratch<T>(
        &self,
        tree: &TreeId,
        overrides: &Overrides,
        act: impl FnOnce(&ProjectRunner<'_>) -> Result<T, WorkError>,
    ) -> Result<T, WorkError> {
        let scratch = Scratch::open(&self.state)?;
        let needs = self.site.language.scratch(&self.site.project, &scratch.products().to_string_lossy());
        scratch.hide_after_use(&needs);
        let mut files = Layout::new(&self.site.repo, tree, &needs)?;
        for (path, text) in overrides {
            files.set(path, text.as_deref().map(Content::text));
        }
        scratch.fill(&self.site.repo, &files)?;
        let sources = TreeSources::sorted(scratch.tree(), files.names());
        let spawner = self.spawner(scratch.tree().to_owned()).with_vars(needs.env);
        self.act(&sources, &spawner, act)
    }

    /// The scratch copy's folder.
    pub fn scratch_tree(&self) -> Result<PathBuf, WorkError> {
        Ok(Scratch::open(&self.state)?.tree().to_owned())
    }

    /// Starts the project's tools in a folder.
    pub fn spawner(&self, root: PathBuf) -> Spawner {
        self.site.control.spawner().with_root(root)
    }

    pub(super) fn act<T>(
        &self,
        sources: &dyn Sources,
        spawner: &Spawner,
        act: impl FnOnce(&ProjectRunner<'_>) -> Result<T, WorkError>,
    ) -> Result<T, WorkError> {
        let progress = (self.site.control.progress)();
        act(&ProjectRunner {
            language: self.site.language.as_ref(),
            project: &self.site.project,
            settings: &self.site.settings,
            sources,
            spawner,
            progress: &*progress,
        })
    }
}
