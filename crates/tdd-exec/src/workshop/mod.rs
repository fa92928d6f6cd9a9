//! One change of a real project: its base, its tree, and everything that can be run on it.

mod audit;
mod copies;
mod facts;
mod red_state;
mod step;
mod targets;

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};

use tdd_core::change::{Change, SteeringChange, TestChange};
use tdd_core::config::{Config, Gate};
use tdd_core::digest::{CommitId, Digest, TreeId};
use tdd_core::report::Report;
use tdd_core::rule::Rule;
use tdd_core::seam::{Clock, Ledger, Vcs};
use tdd_core::test_id::TestId;
use tdd_lang::language::{Language, Project, Settings, Sources};
use tdd_lang::{called, provenance, rename};

use crate::clock::WallClock;
use crate::error::WorkError;
use crate::git::Repo;
use crate::project::{self, RunControl, UserPaths};
use crate::recording::Recording;
use crate::sources::StoredSources;
use crate::state::StateDir;

pub use targets::Targets;

/// Which change to judge.
#[derive(Clone, Debug, Default)]
pub struct Which {
    /// Judge this commit, in a scratch copy, instead of the working tree.
    pub at: Option<String>,
    /// Compare with this revision; by default HEAD if the tree is dirty, else the commit's parent.
    pub base: Option<String>,
}

/// A project, independent of any change.
pub struct Site {
    /// The repository.
    pub repo: Repo,
    /// The folder and configuration that the user named.
    pub user_paths: UserPaths,
    /// The configuration.
    pub config: Config,
    /// The project's language.
    pub language: Box<dyn Language>,
    /// The project's location in the repository.
    pub project: Project,
    /// The project's commands.
    pub settings: Settings,
    /// How to stop, and how to show progress.
    pub control: RunControl,
}

/// The base and the tree of a change.
#[derive(Clone, Debug)]
pub struct Span {
    /// The tree it starts from.
    pub base: TreeId,
    /// The commit with this tree; `None` before the first commit.
    pub base_commit: Option<CommitId>,
    /// The tree to judge.
    pub tree: TreeId,
    /// The tree is in the working folder, so that tests can run there.
    pub in_place: bool,
}

/// Cache of test results by tree, shared by everything that judges the same history.
pub type ReportCache = Arc<Mutex<BTreeMap<TreeId, Report>>>;

/// Files to replace in a tree: new content, or `None` to remove the file.
pub type Overrides = BTreeMap<String, Option<String>>;

/// One change of a real project, and everything that can be run on it.
pub struct ProjectWorkshop {
    /// The project.
    pub site: Site,
    /// The change.
    pub span: Span,
    /// The state folder.
    pub state: StateDir,
    /// The ledger.
    pub recording: Recording,
    /// Exceptions that the judged commit names; those in the ledger are looked up when needed.
    pub granted: BTreeMap<Rule, String>,
    /// The files that a step has written; other files that a run leaves behind are removed.
    step_files: Option<Vec<String>>,
    /// Results of test runs in the scratch copy, by tree.
    seen: ReportCache,
}

impl Site {
    /// The project of a change, as it is after the change. `None` if there is none.
    pub fn of_change(
        repo: Repo,
        user_paths: UserPaths,
        control: RunControl,
        (before, after): (&TreeId, &TreeId),
    ) -> Result<Option<Self>, WorkError> {
        let config = project::configuration(&user_paths, repo.root())?.config;
        let (language, project, settings) = {
            let (before, sources) = (StoredSources::new(&repo, before)?, StoredSources::new(&repo, after)?);
            let language = project::language_of(&config, &before, &sources)?;
            let Some(project) = language.detect(&sources) else { return Ok(None) };
            let settings = project::settings(&config, language.as_ref(), &project, &sources);
            (language, project, settings)
        };
        Ok(Some(Self { repo, user_paths, config, language, project, settings, control }))
    }

    /// The change at these paths. Files that are not source code are sorted by who reads them. Files that a configured command names count as runner configuration, and so do files
    /// that alter which projects are discovered.
    pub fn changed(&self, before: &dyn Sources, after: &dyn Sources, paths: &[String]) -> Change {
        let mut change = self.language.change(&self.project, before, after, paths);
        provenance::resort(self.language.as_ref(), &self.project, (before, after), &mut change);
        if self.language.runs_skipped(&self.settings) {
            let tests = change.tests.iter_mut().filter_map(TestChange::after_mut);
            tests.filter_map(|test| test.skipped.as_mut()).for_each(|mark| mark.always = false);
        }
        let named = self.config.named_in_commands();
        let called = called::called(self.language.as_ref(), &self.project, before);
        for path in paths.iter().filter(|path| named.contains(path.as_str()) || called.contains(path.as_str())) {
            let known = change.steering.iter().any(|steering| steering.path == *path);
            if !known && before.read(path) != after.read(path) {
                let what = "the configuration names it, and it decides how tests run".to_owned();
                change.steering.push(SteeringChange { path: path.clone(), what, free: false });
            }
        }
        for path in project::paths_deciding_projects(&self.config, before, after, paths) {
            let what = "it decides which projects there are".to_owned();
            change.steering.push(SteeringChange { path: path.to_owned(), what, free: false });
        }
        change
    }

    /// The paths that differ between two trees; a renamed file appears under both names.
    pub fn changed_paths(&self, before: &TreeId, after: &TreeId) -> Result<Vec<String>, WorkError> {
        Ok(self.repo.changed(before, after)?)
    }

    /// The files that the project's tools update by themselves.
    pub fn lock_files(&self) -> Vec<String> {
        self.language.scratch(&self.project, "").files
    }

    /// The test command, as recorded in the ledger.
    pub fn test_command(&self) -> String {
        project::command_line(tdd_lang::test_words(self.language.as_ref(), &self.settings))
    }

    /// The check command, as one line.
    pub fn check_command(&self) -> String {
        let commands = self.language.check(&self.project, &self.settings);
        commands.iter().map(tdd_core::command::CommandSpec::line).collect::<Vec<_>>().join(" && ")
    }
}

impl Span {
    /// The change to judge: `--at` and `--base`, else the working tree against HEAD if it is dirty, else against HEAD's
    /// parent.
    pub fn find(repo: &Repo, which: &Which) -> Result<Self, WorkError> {
        let (tree, default_base) = if let Some(rev) = &which.at {
            let commit = project::commit(repo, rev)?;
            (repo.commit_tree(Some(&commit))?, repo.first_parent(&commit)?)
        } else {
            let (head, tree) = (repo.head()?, repo.tree_id()?);
            let clean = head.tree == tree;
            let parent = || head.commit.as_ref().map_or(Ok(None), |commit| repo.first_parent(commit));
            (tree, if clean { parent()? } else { head.commit.clone() })
        };
        let base_commit = match &which.base {
            Some(rev) => Some(project::commit(repo, rev)?),
            None => default_base,
        };
        let base = repo.commit_tree(base_commit.as_ref())?;
        Ok(Self { base, base_commit, tree, in_place: which.at.is_none() })
    }
}

impl ProjectWorkshop {
    /// Opens the change to judge, and locks the ledger.
    pub fn open(user_paths: &UserPaths, control: &RunControl, which: &Which) -> Result<Self, WorkError> {
        let repo = project::repository(user_paths)?;
        project::configuration(user_paths, repo.root())?;
        let span = Span::find(&repo, which)?;
        let none = project::no_project(repo.root(), &StoredSources::new(&repo, &span.tree)?);
        let site = Site::of_change(repo, user_paths.clone(), control.clone(), (&span.base, &span.tree))?;
        let site = site.ok_or(none)?;
        // Its lock keeps other processes out of the scratch copy.
        let state = StateDir::ensure(site.repo.root())?;
        let recording = Recording::exclusive(&state)?;
        let mut workshop = Self {
            site,
            span,
            state,
            recording,
            granted: BTreeMap::new(),
            step_files: None,
            seen: ReportCache::default(),
        };
        if workshop.settle()? {
            workshop.span = Span::find(&workshop.site.repo, which)?;
        }
        Ok(workshop)
    }

    /// Like [`ProjectWorkshop::open`], but fails if a shallow clone lacks the base.
    pub fn before_a_gate(user_paths: &UserPaths, control: &RunControl, which: &Which) -> Result<Self, WorkError> {
        let workshop = Self::open(user_paths, control, which)?;
        let judged = which.at.as_deref().unwrap_or("HEAD");
        if workshop.span.base_commit.is_none()
            && let Some(commit) = workshop.site.repo.resolve(judged)?
        {
            workshop.site.repo.base_of(&commit)?;
        }
        Ok(workshop)
    }

    /// A change between two commits, with a state folder of its own. Records nothing. `None` if the change has no
    /// project.
    pub fn of_history(
        user_paths: &UserPaths,
        control: &RunControl,
        (base_commit, commit): (Option<CommitId>, &CommitId),
        state: StateDir,
        seen: ReportCache,
    ) -> Result<Option<Self>, WorkError> {
        let repo = project::repository(user_paths)?;
        let (base, tree) = (repo.commit_tree(base_commit.as_ref())?, repo.commit_tree(Some(commit))?);
        let site = Site::of_change(repo, user_paths.clone(), control.clone(), (&base, &tree))?;
        let Some(site) = site else { return Ok(None) };
        Ok(Some(Self {
            site,
            span: Span { base, base_commit, tree, in_place: false },
            state,
            recording: Recording::nothing(),
            granted: BTreeMap::new(),
            step_files: None,
            seen,
        }))
    }

    /// The project's language, and the project.
    pub fn language_and_project(&self) -> (&dyn Language, &Project) {
        (self.site.language.as_ref(), &self.site.project)
    }

    /// The files of base and judged tree.
    pub fn stored(&self) -> Result<(StoredSources<'_>, StoredSources<'_>), WorkError> {
        Ok((StoredSources::new(&self.site.repo, &self.span.base)?, self.subject()?))
    }

    /// The files of the judged tree.
    pub fn subject(&self) -> Result<StoredSources<'_>, WorkError> {
        Ok(StoredSources::new(&self.site.repo, &self.span.tree)?)
    }

    /// The files of the base.
    pub fn base_sources(&self) -> Result<StoredSources<'_>, WorkError> {
        Ok(StoredSources::new(&self.site.repo, &self.span.base)?)
    }

    /// The paths that differ between base and judged tree.
    pub fn changed_paths(&self) -> Result<Vec<String>, WorkError> {
        self.site.changed_paths(&self.span.base, &self.span.tree)
    }

    /// The change between two versions of the files that differ between base and judged tree.
    fn change_between(&self, before: &dyn Sources, after: &dyn Sources) -> Result<Change, WorkError> {
        let paths = self.changed_paths()?;
        let differ = |path: &String| before.read(path) != after.read(path) || after.read(path).is_none();
        let paths: Vec<String> = paths.into_iter().filter(differ).collect();
        Ok(self.site.changed(before, after, &paths))
    }

    /// The change as it is, without undoing renames.
    pub fn plain_change(&self) -> Result<Change, WorkError> {
        let (base, subject) = self.stored()?;
        self.change_between(&base, &subject)
    }

    /// The change without test changes that only follow a consistent rename.
    fn refactored(&self, change: Change) -> Result<Change, WorkError> {
        let (base, subject) = self.stored()?;
        let paths = self.changed_paths()?;
        Ok(rename::put_back(self.site.language.as_ref(), &self.site.project, (&base, &subject), &paths, change))
    }

    /// The gate's limits for this change; `named` tests may all be new.
    fn strictness(&self, change: &Change, named: usize) -> Gate {
        let tests = change.new_demands().map(|test| test.path.as_str());
        let items = change.production.iter().map(|item| item.path.as_str());
        let gate = self.site.config.gate_for(tests.chain(items));
        let named = u32::try_from(named).ok().and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MIN);
        Gate { max_new_tests: gate.max_new_tests.max(named), ..gate }
    }

    /// The reason for a person's exception from a rule, given by the judged commit or by the ledger.
    fn exception_now(&self, rule: Rule) -> Option<String> {
        let granted = self.granted.get(&rule).cloned().filter(|_| rule.has_exceptions());
        granted.or_else(|| self.recording.session().machine_state().exception(rule, WallClock.now_ms()))
    }

    /// A test's digest in the judged tree, as a run would record it.
    pub fn test_digest(&self, id: &TestId) -> Option<Digest> {
        self.digest_in(&self.span.tree, id)
    }

    /// A test's digest in another tree.
    pub fn digest_in(&self, tree: &TreeId, id: &TestId) -> Option<Digest> {
        let sources = StoredSources::new(&self.site.repo, tree).ok()?;
        self.site.language.find_test(id, &sources).map(|(_, test)| test.digest)
    }

    /// The files that the last commit changed.
    pub fn last_changed(&self) -> Result<BTreeSet<String>, WorkError> {
        let repo = &self.site.repo;
        let head = repo.head()?;
        let parent = head.commit.as_ref().map_or(Ok(None), |commit| repo.first_parent(commit))?;
        let before = repo.commit_tree(parent.as_ref())?;
        let changes = repo.diff_trees(&before, &head.tree)?;
        Ok(changes.into_iter().map(|change| change.path.to_string()).collect())
    }
}
