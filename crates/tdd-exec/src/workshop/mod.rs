//! One change of a real project: its base, its tree, and everything that can be run to find out about it.

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
use tdd_lang::rename;

use crate::clock::WallClock;
use crate::error::WorkError;
use crate::git::Repo;
use crate::project::{self, Place, Surroundings};
use crate::recording::Recording;
use crate::sources::StoredSources;
use crate::state::StateDir;

pub use targets::Targets;

/// Which change is judged.
#[derive(Clone, Debug, Default)]
pub struct Which {
    /// This commit, in a clean copy, instead of the working tree.
    pub at: Option<String>,
    /// Compared with this revision; by default HEAD if the tree is dirty, else its parent.
    pub base: Option<String>,
}

/// What a project is, whatever changes in it.
pub struct Site {
    /// Its repository.
    pub repo: Repo,
    /// Where the person stands who asks.
    pub place: Place,
    /// Its configuration.
    pub config: Config,
    /// What reads its files.
    pub language: Box<dyn Language>,
    /// Where in the repository it is.
    pub project: Project,
    /// Its commands.
    pub settings: Settings,
    /// How to stop, and how to show what is done.
    pub surroundings: Surroundings,
}

/// From where to where a change goes.
#[derive(Clone, Debug)]
pub struct Span {
    /// The tree that it starts from.
    pub base: TreeId,
    /// The commit that has this tree; none before the first one.
    pub base_commit: Option<CommitId>,
    /// The tree that it leads to.
    pub tree: TreeId,
    /// The tree is that of the working folder, so tests can be run there.
    pub in_place: bool,
}

/// What all tests said on trees, shared by all who look at the same history.
pub type ReportCache = Arc<Mutex<BTreeMap<TreeId, Report>>>;

/// Files that are to be other than in a tree: new content, or none for a file that is not to be there.
pub type Overrides = BTreeMap<String, Option<String>>;

/// A change of a real project before the judge.
pub struct ProjectWorkshop {
    /// The project.
    pub site: Site,
    /// The change.
    pub span: Span,
    /// The machine's own folder.
    pub state: StateDir,
    /// The ledger.
    pub recording: Recording,
    /// Exceptions that a commit itself names; those of the ledger are looked up when they are needed.
    pub granted: BTreeMap<Rule, String>,
    /// The files that a step has written: what a run leaves beside them is put back.
    step_files: Option<Vec<String>>,
    /// What was seen of whole trees in copies beside the project.
    seen: ReportCache,
}

impl Site {
    /// The project that a change is about: it must be there after it. `None` if there is none.
    pub fn of_change(
        repo: Repo,
        place: Place,
        surroundings: Surroundings,
        (before, after): (&TreeId, &TreeId),
    ) -> Result<Option<Self>, WorkError> {
        let config = project::configuration(&place, repo.root())?.config;
        let (language, project, settings) = {
            let (before, sources) = (StoredSources::new(&repo, before)?, StoredSources::new(&repo, after)?);
            let language = project::language_of(&config, &before, &sources)?;
            let Some(project) = language.detect(&sources) else { return Ok(None) };
            let settings = project::settings(&config, language.as_ref(), &project, &sources);
            (language, project, settings)
        };
        Ok(Some(Self { repo, place, config, language, project, settings, surroundings }))
    }

    /// What a change of these paths did. What a configured command names steers, whatever it is called, and so does
    /// what would have other projects found.
    pub fn changed(&self, before: &dyn Sources, after: &dyn Sources, paths: &[String]) -> Change {
        let mut change = self.language.change(&self.project, before, after, paths);
        if self.language.runs_skipped(&self.settings) {
            let tests = change.tests.iter_mut().filter_map(TestChange::after_mut);
            tests.filter_map(|test| test.skipped.as_mut()).for_each(|mark| mark.always = false);
        }
        let named = self.config.named_in_commands();
        for path in paths.iter().filter(|path| named.contains(path.as_str())) {
            let known = change.steering.iter().any(|steering| steering.path == *path);
            if !known && before.read(path) != after.read(path) {
                let what = "what a command of the configuration runs".to_owned();
                change.steering.push(SteeringChange { path: path.clone(), what, free: false });
            }
        }
        for path in project::deciding(&self.config, before, after, paths) {
            let what = "it decides which projects there are".to_owned();
            change.steering.push(SteeringChange { path: path.to_owned(), what, free: false });
        }
        change
    }

    /// The paths that differ between two trees; a renamed file is there under both names.
    pub fn changed_paths(&self, before: &TreeId, after: &TreeId) -> Result<Vec<String>, WorkError> {
        Ok(self.repo.changed(before, after)?)
    }

    /// The files that the project's tools bring up to date by themselves.
    pub fn lock_files(&self) -> Vec<String> {
        self.language.scratch(&self.project, "").files
    }

    /// What the ledger says was run.
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
    /// The change that is meant: `--at`, `--base`, else HEAD if the working tree is dirty, else HEAD's parent.
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
    /// Finds out what is to be judged. From here on nobody else can write to the ledger.
    pub fn open(place: &Place, surroundings: &Surroundings, which: &Which) -> Result<Self, WorkError> {
        let repo = project::repository(place)?;
        project::configuration(place, repo.root())?;
        let span = Span::find(&repo, which)?;
        let none = project::no_project(repo.root(), &StoredSources::new(&repo, &span.tree)?);
        let site = Site::of_change(repo, place.clone(), surroundings.clone(), (&span.base, &span.tree))?;
        let site = site.ok_or(none)?;
        // Its lock keeps others out of the scratch copy.
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

    /// The same for a gate: there must be something to compare with.
    pub fn before_a_gate(place: &Place, surroundings: &Surroundings, which: &Which) -> Result<Self, WorkError> {
        let workshop = Self::open(place, surroundings, which)?;
        let judged = which.at.as_deref().unwrap_or("HEAD");
        if workshop.span.base_commit.is_none()
            && let Some(commit) = workshop.site.repo.resolve(judged)?
        {
            workshop.site.repo.base_of(&commit)?;
        }
        Ok(workshop)
    }

    /// A change between two commits, with a folder of its own to work in. Nothing is recorded. `None` if there is
    /// no project in it.
    pub fn of_history(
        place: &Place,
        surroundings: &Surroundings,
        (base_commit, commit): (Option<CommitId>, &CommitId),
        state: StateDir,
        seen: ReportCache,
    ) -> Result<Option<Self>, WorkError> {
        let repo = project::repository(place)?;
        let (base, tree) = (repo.commit_tree(base_commit.as_ref())?, repo.commit_tree(Some(commit))?);
        let site = Site::of_change(repo, place.clone(), surroundings.clone(), (&base, &tree))?;
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

    /// The language of the project, and the project.
    pub fn language_and_project(&self) -> (&dyn Language, &Project) {
        (self.site.language.as_ref(), &self.site.project)
    }

    /// Base and subject, as a language reads them.
    pub fn stored(&self) -> Result<(StoredSources<'_>, StoredSources<'_>), WorkError> {
        Ok((StoredSources::new(&self.site.repo, &self.span.base)?, self.subject()?))
    }

    /// The tree that is judged, as a language reads it.
    pub fn subject(&self) -> Result<StoredSources<'_>, WorkError> {
        Ok(StoredSources::new(&self.site.repo, &self.span.tree)?)
    }

    /// The tree that the change starts from, as a language reads it.
    pub fn base_sources(&self) -> Result<StoredSources<'_>, WorkError> {
        Ok(StoredSources::new(&self.site.repo, &self.span.base)?)
    }

    /// The paths that differ between base and subject.
    pub fn changed_paths(&self) -> Result<Vec<String>, WorkError> {
        self.site.changed_paths(&self.span.base, &self.span.tree)
    }

    /// What was done from one state of the files to another, of those that differ between base and subject.
    fn change_between(&self, before: &dyn Sources, after: &dyn Sources) -> Result<Change, WorkError> {
        let paths = self.changed_paths()?;
        let differ = |path: &String| before.read(path) != after.read(path) || after.read(path).is_none();
        let paths: Vec<String> = paths.into_iter().filter(differ).collect();
        Ok(self.site.changed(before, after, &paths))
    }

    /// What the change did, as it stands there.
    pub fn plain_change(&self) -> Result<Change, WorkError> {
        let (base, subject) = self.stored()?;
        self.change_between(&base, &subject)
    }

    /// The same where a consistent rename is no change of the tests that name what is renamed.
    fn refactored(&self, change: Change) -> Result<Change, WorkError> {
        let (base, subject) = self.stored()?;
        let paths = self.changed_paths()?;
        Ok(rename::put_back(self.site.language.as_ref(), &self.site.project, (&base, &subject), &paths, change))
    }

    /// How strict this change is judged. So many tests were named: they may all be new.
    fn strictness(&self, change: &Change, named: usize) -> Gate {
        let tests = change.new_demands().map(|test| test.path.as_str());
        let items = change.production.iter().map(|item| item.path.as_str());
        let gate = self.site.config.gate_for(tests.chain(items));
        let named = u32::try_from(named).ok().and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MIN);
        Gate { max_new_tests: gate.max_new_tests.max(named), ..gate }
    }

    /// Why a person made an exception from a rule: by the commit that is judged, or by the ledger at this moment.
    fn exception_now(&self, rule: Rule) -> Option<String> {
        let granted = self.granted.get(&rule).cloned().filter(|_| rule.has_exceptions());
        granted.or_else(|| self.recording.session().standing().exception(rule, WallClock.now_ms()))
    }

    /// The digest of a test as a run would give it, in the tree that is judged.
    pub fn test_digest(&self, id: &TestId) -> Option<Digest> {
        self.digest_in(&self.span.tree, id)
    }

    /// The same in another tree.
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
