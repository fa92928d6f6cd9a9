//! Brings a change before the judge: finds its base, runs what must be run, and no more.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use clap::Args;
use tdd_core::change::{Change, ItemFate, Sort, SteeringChange};
use tdd_core::check;
use tdd_core::command::CommandSpec;
use tdd_core::config::Gate;
use tdd_core::digest::{CommitId, Digest, TreeId};
use tdd_core::judge::{self, Baseline, Ruling};
use tdd_core::proof::{self, Proof};
use tdd_core::report::{Cause, Report};
use tdd_core::rule::Rule;
use tdd_core::seam::{Clock, Runner, RunnerOutcome};
use tdd_core::session::{Session, SuiteFacts};
use tdd_core::test_id::TestId;
use tdd_exec::clock::WallClock;
use tdd_exec::counterproof::{self, NewCode, Prover};
use tdd_exec::git::{ChangeKind, Repo};
use tdd_exec::layout::{Content, LayOutError, Layout};
use tdd_exec::process::Spawner;
use tdd_exec::runner::ProjectRunner;
use tdd_exec::scratch::Scratch;
use tdd_exec::sources::{StoredSources, TreeSources};
use tdd_exec::state::StateDir;
use tdd_lang::language::{Language, Project, Settings, Sources};
use tdd_lang::rename;

use crate::context::Context;
use crate::error::{CliError, Code};
use crate::output::Progress;
use crate::project::{self, Loaded};
use crate::recording::Recording;
use crate::verdict::{Evidence, Verdict};

/// Which change is judged.
#[derive(Clone, Debug, Default, Args)]
pub struct Which {
    /// Judge this commit, in a clean copy, instead of the working tree
    #[arg(long, value_name = "COMMIT")]
    pub at: Option<String>,
    /// Compare with this revision; by default HEAD if the tree is dirty, else its parent
    #[arg(long, value_name = "REV")]
    pub base: Option<String>,
}

/// A change before the judge.
pub struct Trial<'a> {
    pub context: &'a Context,
    pub repo: Repo,
    pub loaded: Loaded,
    pub language: Box<dyn Language>,
    pub project: Project,
    pub settings: Settings,
    pub state: StateDir,
    pub recording: Recording,
    /// The tree that the change starts from.
    pub base: TreeId,
    /// The commit that has this tree; none before the first one.
    pub base_commit: Option<CommitId>,
    /// The tree that it leads to.
    pub tree: TreeId,
    /// The tree is that of the working folder, so tests can be run there.
    pub in_place: bool,
    /// The rules that a person has made an exception from.
    pub excepted: Vec<Rule>,
    spawner: Spawner,
    /// What is done is not shown: others work at the same time.
    silent: bool,
    /// What was seen of whole trees in copies beside the project.
    seen: Seen,
}

/// What all tests said on trees, shared by all who look at the same history.
pub type Seen = Arc<Mutex<BTreeMap<TreeId, Report>>>;

/// Files that are to be other than in a tree: new content, or none for a file that is not to be there.
pub type Overrides = BTreeMap<String, Option<String>>;

/// What a file is at red.
pub enum AtRed {
    /// What it is in the base.
    AsBefore,
    /// This text; nothing if it is not there.
    Other(Option<String>),
}

/// A run of all tests on one tree.
#[derive(Clone, Debug)]
pub struct Run {
    pub report: Report,
    /// The tree after the run; another one if the run changed it.
    pub tree_after: TreeId,
}

impl<'a> Trial<'a> {
    /// Finds out what is to be judged.
    pub fn open(context: &'a Context, which: &Which) -> Result<Self, CliError> {
        let repo = project::repository(&context.global)?;
        let loaded = project::configuration(&context.global, repo.root())?;
        let (base_commit, base, tree) = trees(&repo, which)?;
        let (language, project) = {
            let (before, sources) = (StoredSources::new(&repo, &base)?, StoredSources::new(&repo, &tree)?);
            let language = project::language_of(&loaded.config, &before, &sources)?;
            let project = language.detect(&sources).ok_or_else(|| CliError::NoProject(repo.root().to_owned()))?;
            (language, project)
        };
        let settings = project::settings(&loaded.config.ci);
        // Its lock keeps others out of the scratch copy.
        let state = StateDir::ensure(repo.root())?;
        let recording = Recording::exclusive(&state, context.output)?;
        let excepted = recording.session().standing().exceptions(WallClock.now_ms());
        let in_place = which.at.is_none();
        let mut trial = Self {
            context,
            repo,
            loaded,
            language,
            project,
            settings,
            state,
            recording,
            base,
            base_commit,
            tree,
            in_place,
            excepted,
            spawner: spawner(context),
            silent: false,
            seen: Seen::default(),
        };
        if trial.settle()? {
            (trial.base_commit, trial.base, trial.tree) = trees(&trial.repo, which)?;
        }
        Ok(trial)
    }

    /// The same for a gate: there must be something to compare with.
    pub fn before_a_gate(context: &'a Context, which: &Which) -> Result<Self, CliError> {
        let trial = Self::open(context, which)?;
        let judged = which.at.as_deref().unwrap_or("HEAD");
        if trial.base_commit.is_none()
            && let Some(commit) = trial.repo.resolve(judged)?
        {
            trial.repo.base_of(&commit)?;
        }
        Ok(trial)
    }

    /// A commit of a history, with a folder of its own to work in. Nothing is recorded. `None` if there is no
    /// project in it.
    pub fn of_commit(
        context: &'a Context,
        commit: &CommitId,
        state: StateDir,
        seen: Seen,
    ) -> Result<Option<Self>, CliError> {
        let repo = project::repository(&context.global)?;
        let loaded = project::configuration(&context.global, repo.root())?;
        let tree = repo.commit_tree(Some(commit))?;
        let base_commit = repo.first_parent(commit)?;
        let base = repo.commit_tree(base_commit.as_ref())?;
        let (language, project) = {
            let (before, sources) = (StoredSources::new(&repo, &base)?, StoredSources::new(&repo, &tree)?);
            let language = project::language_of(&loaded.config, &before, &sources)?;
            let project = language.detect(&sources);
            (language, project)
        };
        let Some(project) = project else { return Ok(None) };
        let settings = project::settings(&loaded.config.ci);
        Ok(Some(Self {
            context,
            repo,
            loaded,
            language,
            project,
            settings,
            state,
            recording: Recording::nothing(),
            base,
            base_commit,
            tree,
            in_place: false,
            excepted: Vec::new(),
            spawner: spawner(context),
            silent: true,
            seen,
        }))
    }

    /// The language of the project, and the project.
    pub fn language(&self) -> (&dyn Language, &Project) {
        (self.language.as_ref(), &self.project)
    }

    /// All that the ledger knows.
    pub fn session(&self) -> &Session {
        self.recording.session()
    }

    /// Base and subject, as a language reads them.
    pub fn stored(&self) -> Result<(StoredSources<'_>, StoredSources<'_>), CliError> {
        Ok((StoredSources::new(&self.repo, &self.base)?, StoredSources::new(&self.repo, &self.tree)?))
    }

    /// The paths that differ between base and subject; a renamed file is there under both names.
    pub fn changed_paths(&self) -> Result<Vec<String>, CliError> {
        let mut paths = Vec::new();
        for change in self.repo.diff_trees(&self.base, &self.tree)? {
            match &change.kind {
                ChangeKind::Renamed { from } => paths.push(from.to_string()),
                ChangeKind::Added | ChangeKind::Modified | ChangeKind::Deleted => {}
            }
            paths.push(change.path.to_string());
        }
        Ok(paths)
    }

    /// What the change did.
    pub fn change(&self) -> Result<Change, CliError> {
        let (base, subject) = self.stored()?;
        self.change_between(&base, &subject)
    }

    /// What was done from one state of the files to another, of those that differ between base and subject.
    pub fn change_between(&self, before: &dyn Sources, after: &dyn Sources) -> Result<Change, CliError> {
        let paths = self.changed_paths()?;
        let differ = |path: &String| before.read(path) != after.read(path) || after.read(path).is_none();
        let paths: Vec<String> = paths.into_iter().filter(differ).collect();
        Ok(self.changed(before, after, &paths))
    }

    /// What a refactor did: a consistent rename is no change of the tests that name what is renamed.
    pub fn refactored(&self, change: Change) -> Result<Change, CliError> {
        let (base, subject) = self.stored()?;
        let paths = self.changed_paths()?;
        Ok(rename::put_back(self.language.as_ref(), &self.project, (&base, &subject), &paths, change))
    }

    /// What a change of these paths did. What a configured command names steers, whatever it is called, and so does
    /// what would have other projects found.
    pub fn changed(&self, before: &dyn Sources, after: &dyn Sources, paths: &[String]) -> Change {
        let mut change = self.language.change(&self.project, before, after, paths);
        let named = self.loaded.config.named_in_commands();
        for path in paths.iter().filter(|path| named.contains(path.as_str())) {
            let known = change.steering.iter().any(|steering| steering.path == *path);
            if !known && before.read(path) != after.read(path) {
                let what = "what a command of the configuration runs".to_owned();
                change.steering.push(SteeringChange { path: path.clone(), what, free: false });
            }
        }
        for path in project::deciding(&self.loaded.config, before, after, paths) {
            let what = "it decides which projects there are".to_owned();
            change.steering.push(SteeringChange { path: path.to_owned(), what, free: false });
        }
        change
    }

    /// What this file is at red: the base's production with the subject's tests.
    pub fn at_red(&self, path: &str, base: &dyn Sources, subject: &dyn Sources) -> AtRed {
        let (before, after) = (base.read(path), subject.read(path));
        let sources = if after.is_some() { subject } else { base };
        match self.language.sort(&self.project, path, sources) {
            Sort::Test => AtRed::Other(after),
            Sort::Production => self
                .language
                .compose(path, before.as_deref(), after.as_deref())
                .map_or(AtRed::AsBefore, |text| AtRed::Other(Some(text))),
            Sort::Steering | Sort::Document => AtRed::AsBefore,
        }
    }

    /// What every test said before the change.
    pub fn baseline(&self) -> Result<Baseline, CliError> {
        Ok(judge::baseline_of(&self.run_elsewhere(&self.base, &Overrides::new())?.report))
    }

    /// How strict this change is judged. So many tests were named: they may all be new.
    pub fn gate(&self, change: &Change, named: usize) -> Gate {
        let tests = change.new_demands().map(|test| test.path.as_str());
        let items = change.production.iter().map(|item| item.path.as_str());
        let gate = self.loaded.config.gate_for(tests.chain(items));
        let named = u32::try_from(named).ok().and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MIN);
        Gate { max_new_tests: gate.max_new_tests.max(named), ..gate }
    }

    /// A ruling that holds so far, unless the check command fails on the tree that is judged.
    pub fn checked(&self, ruling: Ruling) -> Result<Ruling, CliError> {
        if !matches!(ruling, Ruling::Holds(_)) || self.excepted.contains(&Rule::CheckPasses) {
            return Ok(ruling);
        }
        let outcome = self.check()?;
        if outcome.ok {
            return Ok(ruling);
        }
        let before = self.check_before()?;
        Ok(Ruling::Refused(check::refuse(&self.check_command(), &said(&outcome), before.as_deref())))
    }

    /// What the check complained of without the change; `None` if it passed there, or cannot be run there.
    fn check_before(&self) -> Result<Option<String>, CliError> {
        match self.elsewhere(&self.base, &Overrides::new(), |runner| Ok(runner.check()?)) {
            Ok(before) => Ok((!before.ok).then(|| said(&before))),
            Err(error) if error.code() == Code::Interrupted => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// A ruling that holds so far, unless changed production code asks whether it is under test.
    pub fn unsensing(&self, ruling: Ruling, change: &Change) -> Result<Ruling, CliError> {
        if !matches!(ruling, Ruling::Holds(_)) || self.excepted.contains(&Rule::TestSensing) {
            return Ok(ruling);
        }
        let paths: BTreeSet<String> = change.production.iter().map(|item| item.path.clone()).collect();
        let sources = StoredSources::new(&self.repo, &self.tree)?;
        let signs = self.language.signs(&self.project, &sources, &paths.into_iter().collect::<Vec<_>>());
        Ok(judge::judge_sensing(change, &signs).map_or(ruling, Ruling::Refused))
    }

    /// A ruling that holds so far, unless a changed file takes in one that the tree does not hold: what was tested
    /// would not be what is committed.
    pub fn complete(&self, ruling: Ruling) -> Result<Ruling, CliError> {
        if !matches!(ruling, Ruling::Holds(_)) || self.excepted.contains(&Rule::IgnoredPath) {
            return Ok(ruling);
        }
        let sources = StoredSources::new(&self.repo, &self.tree)?;
        let absent = self.language.absent(&sources, &self.changed_paths()?);
        let refuse = |(path, file): &(String, String)| {
            let reason = format!("`{path}` takes in `{file}`, which is not in the tree");
            Rule::IgnoredPath.refuse(reason, "put it where git does not ignore it, or do without it")
        };
        Ok(absent.first().map(refuse).map_or(ruling, Ruling::Refused))
    }

    /// What the check command says on the tree that is judged.
    pub fn check(&self) -> Result<RunnerOutcome, CliError> {
        if self.in_place {
            self.here(|runner| Ok(runner.check()?))
        } else {
            self.elsewhere(&self.tree, &Overrides::new(), |runner| Ok(runner.check()?))
        }
    }

    /// The check command, as one line.
    pub fn check_command(&self) -> String {
        let commands = self.language.check(&self.project, &self.settings);
        commands.iter().map(CommandSpec::line).collect::<Vec<_>>().join(" && ")
    }

    /// The digest of a test as a run would give it, in the tree that is judged.
    pub fn test_digest(&self, id: &TestId) -> Option<Digest> {
        self.digest_in(&self.tree, id)
    }

    /// The same in another tree.
    pub fn digest_in(&self, tree: &TreeId, id: &TestId) -> Option<Digest> {
        let sources = StoredSources::new(&self.repo, tree).ok()?;
        self.language.find_test(id, &sources).map(|(_, test)| test.digest)
    }

    /// The files that the last commit changed.
    pub fn last_changed(&self) -> Result<BTreeSet<String>, CliError> {
        let head = self.repo.head()?;
        let parent = head.commit.as_ref().map_or(Ok(None), |commit| self.repo.first_parent(commit))?;
        let before = self.repo.commit_tree(parent.as_ref())?;
        let changes = self.repo.diff_trees(&before, &head.tree)?;
        Ok(changes.into_iter().map(|change| change.path.to_string()).collect())
    }

    /// Begins to look at the copy of the project, while a command runs that has nothing to do with it.
    pub fn look_ahead(&self) {
        Scratch::look_ahead(&self.state);
    }

    /// Where the copy of the project is.
    pub fn scratch_tree(&self) -> Result<PathBuf, CliError> {
        Ok(Scratch::open(&self.state)?.tree().to_owned())
    }

    /// A ruling with what it rests on.
    pub fn verdict(&self, ruling: Ruling, report: &Report) -> Verdict {
        Verdict::new(ruling, &self.tree, Evidence::new(&self.base, self.command(), report))
    }

    /// What all tests say on the tree that is judged.
    pub fn run(&mut self) -> Result<Run, CliError> {
        let tree = self.tree.clone();
        if !self.in_place {
            return self.run_elsewhere(&tree, &Overrides::new());
        }
        let command = self.command();
        if let Some(report) = self.recording.session().report_on(&tree, &command) {
            return Ok(Run { report, tree_after: tree });
        }
        let start = Instant::now();
        let report = self.here(|runner| Ok(runner.test(&[])?))?;
        let tree_after = self.repo.tree_id()?;
        if tree == tree_after {
            let duration_ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
            self.recording.suite(&SuiteFacts { report: &report, command: &command, tree: &tree, duration_ms })?;
        }
        Ok(Run { report, tree_after })
    }

    /// The same for a gate. A lock file that the project's tools brought up to date is nobody's change.
    pub fn run_to_judge(&mut self) -> Result<Run, CliError> {
        let run = self.run()?;
        let tree_after =
            if self.only_locks_differ(&self.tree, &run.tree_after)? { self.tree.clone() } else { run.tree_after };
        Ok(Run { tree_after, ..run })
    }

    fn only_locks_differ(&self, before: &TreeId, after: &TreeId) -> Result<bool, CliError> {
        let (locks, changes) = (self.lock_files(), self.repo.diff_trees(before, after)?);
        let is_lock = |path: Option<&str>| path.is_some_and(|path| locks.iter().any(|lock| lock == path));
        Ok(!changes.is_empty() && changes.iter().all(|change| is_lock(change.path.as_str())))
    }

    /// What all tests say on another tree, in a copy beside the project.
    pub fn run_elsewhere(&self, tree: &TreeId, overrides: &Overrides) -> Result<Run, CliError> {
        if overrides.is_empty()
            && let Some(report) = self.recording.session().report_on(tree, &self.command())
        {
            return Ok(Run { report, tree_after: tree.clone() });
        }
        if overrides.is_empty()
            && let Some(report) = self.seen.lock().unwrap_or_else(PoisonError::into_inner).get(tree)
        {
            return Ok(Run { report: report.clone(), tree_after: tree.clone() });
        }
        let report = self.elsewhere(tree, overrides, |runner| Ok(runner.test(&[])?))?;
        if overrides.is_empty() {
            let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            seen.insert(tree.clone(), report.clone());
        }
        Ok(Run { report, tree_after: tree.clone() })
    }

    /// A ruling that holds so far, unless the counter-proof of a target fails: copies of the test that must
    /// fail, and, where its red was a missing symbol, new production code that answers otherwise.
    pub fn counter_proven(
        &self,
        ruling: Ruling,
        targets: &[&TestId],
        change: &Change,
        was_red: &Baseline,
    ) -> Result<Ruling, CliError> {
        let mut ruling = ruling;
        for target in targets {
            if matches!(ruling, Ruling::Holds(_)) && !self.excepted.contains(&Rule::CounterProof) {
                let proof = self.prove(target, change, was_red.get(*target).copied().flatten())?;
                let proven = proof::judge_counter_proof(target, &proof);
                if matches!(proven, Ruling::Refused(_)) {
                    ruling = proven;
                }
            }
        }
        Ok(ruling)
    }

    fn prove(&self, target: &TestId, change: &Change, red: Option<Cause>) -> Result<Proof, CliError> {
        let sources = StoredSources::new(&self.repo, &self.tree)?;
        let Some((path, test)) = self.language.find_test(target, &sources) else { return Ok(Proof::Unwritable) };
        self.with_runner(&sources, self.repo.root().to_owned(), |runner| {
            let prover = Prover::new(runner, &self.repo, &self.tree, &self.state)?;
            let mut proof = prover.prove(&path, &test, counterproof::seed())?;
            if let (Proof::Run(seen), Some(Cause::MissingSymbol)) = (&mut proof, red) {
                seen.mutant = Some(prover.mutate(target, &new_code(change))?);
            }
            Ok(proof)
        })
    }

    /// What the ledger says was run.
    pub fn command(&self) -> String {
        project::command_line(self.language.test_command(&self.settings))
    }

    /// Acts on the working folder, whose tree is the one that is judged.
    pub fn here<T>(&self, act: impl FnOnce(&ProjectRunner<'_>) -> Result<T, CliError>) -> Result<T, CliError> {
        let names = Arc::clone(self.repo.tree_files(&self.tree)?.names());
        let sources = TreeSources::sorted(self.repo.root(), names);
        self.with_runner(&sources, self.repo.root().to_owned(), act)
    }

    /// Acts on a copy of a tree with some files changed.
    pub fn elsewhere<T>(
        &self,
        tree: &TreeId,
        overrides: &Overrides,
        act: impl FnOnce(&ProjectRunner<'_>) -> Result<T, CliError>,
    ) -> Result<T, CliError> {
        self.in_copy(tree, overrides, Scratch::fill, act)
    }

    /// The same in a copy that may have been written to since it was last looked at: for what is judged again.
    pub fn roughly_elsewhere<T>(
        &self,
        tree: &TreeId,
        overrides: &Overrides,
        act: impl FnOnce(&ProjectRunner<'_>) -> Result<T, CliError>,
    ) -> Result<T, CliError> {
        self.in_copy(tree, overrides, Scratch::touch_up, act)
    }

    fn in_copy<T>(
        &self,
        tree: &TreeId,
        overrides: &Overrides,
        fill: impl FnOnce(&Scratch, &Repo, &Layout) -> Result<(), LayOutError>,
        act: impl FnOnce(&ProjectRunner<'_>) -> Result<T, CliError>,
    ) -> Result<T, CliError> {
        let scratch = Scratch::open(&self.state)?;
        let needs = self.language.scratch(&self.project, &scratch.products().to_string_lossy());
        scratch.hide_after_use(&needs);
        let mut files = Layout::new(&self.repo, tree, &needs)?;
        for (path, text) in overrides {
            files.set(path, text.as_deref().map(Content::text));
        }
        fill(&scratch, &self.repo, &files)?;
        let sources = TreeSources::sorted(scratch.tree(), files.names());
        let spawner = self.spawner(scratch.tree().to_owned()).with_vars(needs.env);
        self.act(&sources, &spawner, act)
    }

    fn with_runner<T>(
        &self,
        sources: &dyn Sources,
        root: PathBuf,
        act: impl FnOnce(&ProjectRunner<'_>) -> Result<T, CliError>,
    ) -> Result<T, CliError> {
        self.act(sources, &self.spawner(root), act)
    }

    /// What starts the project's tools in a folder.
    pub fn spawner(&self, root: PathBuf) -> Spawner {
        self.spawner.clone().with_root(root)
    }

    fn act<T>(
        &self,
        sources: &dyn Sources,
        spawner: &Spawner,
        act: impl FnOnce(&ProjectRunner<'_>) -> Result<T, CliError>,
    ) -> Result<T, CliError> {
        let progress = if self.silent { Progress::hidden() } else { self.context.output.progress() };
        let say = |label: &str| progress.say(label);
        act(&ProjectRunner {
            language: self.language.as_ref(),
            project: &self.project,
            settings: &self.settings,
            sources,
            spawner,
            progress: &say,
        })
    }
}

/// What every command of a trial has in common; where it runs is for the command to say.
fn spawner(context: &Context) -> Spawner {
    Spawner::new("/", std::env::vars_os()).with_cancel(context.cancel.clone())
}

/// All that a tool said.
fn said(outcome: &RunnerOutcome) -> String {
    format!("{}\n{}", outcome.stderr, outcome.stdout)
}

/// Where production code is new or different.
fn new_code(change: &Change) -> Vec<NewCode> {
    let mut by_file: BTreeMap<&str, Vec<Range<usize>>> = BTreeMap::new();
    for item in change.production.iter().filter(|item| item.fate != ItemFate::Removed) {
        by_file.entry(&item.path).or_default().push(item.line..item.line + 1);
    }
    by_file.into_iter().map(|(path, lines)| NewCode { path: path.to_owned(), lines }).collect()
}

/// Base, with its commit, and subject: `--base`, else HEAD if the working tree is dirty, else HEAD's parent.
fn trees(repo: &Repo, which: &Which) -> Result<(Option<CommitId>, TreeId, TreeId), CliError> {
    let (tree, default_base) = if let Some(rev) = &which.at {
        let commit = project::commit(repo, rev)?;
        (repo.commit_tree(Some(&commit))?, repo.first_parent(&commit)?)
    } else {
        let (head, tree) = (repo.head()?, repo.tree_id()?);
        let clean = head.tree == tree;
        let parent = || head.commit.as_ref().map_or(Ok(None), |commit| repo.first_parent(commit));
        (tree, if clean { parent()? } else { head.commit.clone() })
    };
    let base = match &which.base {
        Some(rev) => Some(project::commit(repo, rev)?),
        None => default_base,
    };
    let base_tree = repo.commit_tree(base.as_ref())?;
    Ok((base, base_tree, tree))
}
