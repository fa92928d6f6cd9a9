//! Implements [`Workshop`] for a real project: the facts that the pipeline asks about a change.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::time::Duration;

use tdd_core::audit::Claim;
use tdd_core::change::{Change, ItemChange, ItemFate, Sort};
use tdd_core::command::{CommandSpec, Exit};
use tdd_core::config::Gate;
use tdd_core::coverage::{Coverage, Measurement};
use tdd_core::cycle::Phase;
use tdd_core::digest::TreeId;
use tdd_core::judge::{self, Baseline};
use tdd_core::law::Kind;
use tdd_core::proof::Proof;
use tdd_core::report::{Cause, Report};
use tdd_core::rule::Rule;
use tdd_core::seam::{Checked, Ledger, Measured, RedState, Run, Runner, RunnerOutcome, Workshop};
use tdd_core::session::Session;
use tdd_core::signs::{Place, Signs, TestSigns};
use tdd_core::test_id::TestId;
use tdd_lang::discover;
use tdd_lang::language::Sources;
use tdd_lang::provenance;

use super::{Overrides, ProjectWorkshop};
use crate::counterproof::{self, NewCode, Prover};
use crate::error::WorkError;
use crate::git::{ChangeKind, GitPath};
use crate::process;
use crate::project;

/// How many commits to search for the origin of an item.
const MAX_COMMITS: usize = 500;

impl Workshop for ProjectWorkshop {
    type Error = WorkError;

    fn session(&self) -> &Session {
        self.recording.session()
    }

    fn exception(&self, rule: Rule) -> Option<String> {
        self.exception_now(rule)
    }

    fn gate(&self, change: &Change, named: usize) -> Gate {
        self.strictness(change, named)
    }

    fn tree(&self) -> &TreeId {
        &self.span.tree
    }

    fn change(&self, kind: Kind) -> Result<Change, WorkError> {
        let change = self.plain_change()?;
        if kind == Kind::Refactor { self.refactored(change) } else { Ok(change) }
    }

    fn red_state(&self, targets: &[TestId]) -> Result<RedState, WorkError> {
        self.state_at_red(targets)
    }

    fn baseline(&self) -> Result<Baseline, WorkError> {
        Ok(judge::baseline_of(&self.base_report()?))
    }

    fn run(&mut self) -> Result<Run, WorkError> {
        match self.step_files.take() {
            Some(mut files) => {
                let run = self.run_of_step(&mut files);
                self.step_files = Some(files);
                run
            }
            None => self.run_to_judge(),
        }
    }

    fn rerun(&self, report: Report, suspects: &[TestId]) -> Result<Report, WorkError> {
        let mut report = report;
        let gate = self.site.config.gate_for(suspects.iter().filter_map(TestId::path));
        for _ in 0..gate.flaky_reruns {
            let again = self.on_subject(|runner| Ok(runner.test(suspects)?))?;
            report = report.with_rerun(&again);
        }
        Ok(report)
    }

    fn absent(&self) -> Result<Vec<(String, String)>, WorkError> {
        Ok(self.site.language.absent(&self.subject()?, &self.changed_paths()?))
    }

    fn verifies_by_command(&self, kind: Kind) -> bool {
        matches!(kind, Kind::Task | Kind::Execute | Kind::RefactorMode) && self.site.config.ci.verify_cmd.is_some()
    }

    fn check(&self, kind: Kind) -> Result<Checked, WorkError> {
        let verify = self.site.config.ci.verify_cmd.clone().filter(|_| self.verifies_by_command(kind));
        if let Some(argv) = verify {
            return self.verify_by(argv);
        }
        let outcome = self.on_subject(|runner| Ok(runner.check()?))?;
        Ok(Checked { command: self.site.check_command(), outcome, changed_files: false })
    }

    fn check_before(&self) -> Result<Option<String>, WorkError> {
        let before = self.tree_before_red()?;
        match self.in_scratch(&before, &Overrides::new(), |runner| Ok(runner.check()?)) {
            Ok(before) => Ok((!before.ok).then(|| before.said())),
            Err(WorkError::Interrupted) => Err(WorkError::Interrupted),
            Err(_) => Ok(None),
        }
    }

    fn probe(&self, target: &TestId, change: &Change, red: Option<Cause>) -> Result<Proof, WorkError> {
        let sources = self.subject()?;
        let Some((path, test)) = self.site.language.find_test(target, &sources) else { return Ok(Proof::Unwritable) };
        let root = self.site.repo.root().to_owned();
        self.act(&sources, &self.spawner(root), |runner| {
            let prover = Prover::new(runner, &self.site.repo, &self.span.tree, &self.state)?;
            let mut proof = prover.prove(&path, &test, counterproof::seed())?;
            // Without a red, only mutations of the code that the test calls can show that it can fail.
            let code = match red {
                Some(Cause::MissingSymbol) => self.new_code(change),
                None if change.production.is_empty() => self.asked_code(target)?,
                Some(_) | None => Vec::new(),
            };
            if let Proof::Run(seen) = &mut proof
                && !code.is_empty()
            {
                seen.mutant = Some(prover.mutate(target, &code)?);
            }
            Ok(proof)
        })
    }

    fn signs(&self, everywhere: bool) -> Result<Signs, WorkError> {
        let subject = self.subject()?;
        let paths = if everywhere { subject.files().to_vec() } else { self.changed_paths()? };
        let (language, project) = self.language_and_project();
        let mut signs = language.signs(project, &subject, &paths);
        for path in self.changed_paths()? {
            signs.sensing.extend(provenance::sensing(language, project, &path, &subject));
        }
        self.reach_other_projects(&mut signs.tests)?;
        Ok(signs)
    }

    fn signs_of(&self, tests: &BTreeSet<TestId>) -> Result<Vec<TestSigns>, WorkError> {
        if tests.is_empty() {
            return Ok(Vec::new());
        }
        let (language, project) = self.language_and_project();
        let subject = self.subject()?;
        let found = tests.iter().filter_map(|id| language.find_test(id, &subject));
        let places: BTreeSet<Place> = found.map(|(path, test)| Place::new(&path, test.line)).collect();
        let paths: BTreeSet<String> = places.iter().map(|place| place.path.clone()).collect();
        let signs = language.signs(project, &subject, &paths.into_iter().collect::<Vec<_>>());
        let mut tests: Vec<TestSigns> = signs.tests.into_iter().filter(|test| places.contains(&test.at)).collect();
        self.reach_other_projects(&mut tests)?;
        Ok(tests)
    }

    fn base_report(&self) -> Result<Report, WorkError> {
        Ok(self.run_in_scratch(&self.span.base, &Overrides::new())?.report)
    }

    fn since(&self, signs: &Signs) -> Result<BTreeMap<Place, String>, WorkError> {
        let Some(start) = &self.span.base_commit else { return Ok(BTreeMap::new()) };
        let mut found = BTreeMap::new();
        for (place, name) in signs.tests.iter().flat_map(|test| &test.asks) {
            let Ok(path) = GitPath::new(&place.path) else { continue };
            let holds = |text: &str| text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name);
            if let Some(commit) = self.site.repo.came_with(start, &path, MAX_COMMITS, holds)? {
                found.insert(place.clone(), commit.0.chars().take(10).collect());
            }
        }
        Ok(found)
    }

    fn measure(&self, paths: &BTreeSet<String>) -> Result<Measured, WorkError> {
        let (language, project) = self.language_and_project();
        let sources = self.subject()?;
        let is_production = |path: &&String| language.sort(project, path, &sources) == Sort::Production;
        let paths: Vec<String> = paths.iter().filter(is_production).cloned().collect();
        if paths.is_empty() {
            return Ok(Measured::Unknown("the change adds no production code".to_owned()));
        }
        let measured = self.in_scratch(&self.span.tree, &Overrides::new(), |runner| Ok(runner.coverage(&paths)?))?;
        let coverage = match measured {
            Ok(coverage) => coverage,
            Err(why) => return Ok(Measured::Unknown(why)),
        };
        let mut added = self.site.repo.added_lines(&self.span.base, &self.span.tree)?;
        for (path, lines) in &mut added {
            lines.retain(|line| {
                !is_idle(&coverage, path, *line) || !language.is_test_line(project, path, *line, &sources)
            });
        }
        Ok(Measured::Lines(Measurement { coverage, added }))
    }
}

impl ProjectWorkshop {
    /// Marks changed items in other projects as reached. Names are followed only inside one project, so what a test
    /// reaches in another is unknown.
    fn reach_other_projects(&self, tests: &mut [TestSigns]) -> Result<(), WorkError> {
        let projects = project::multiple_projects(&self.site.config, &self.subject()?);
        if projects.is_empty() || tests.is_empty() {
            return Ok(());
        }
        let root = |path: &str| {
            let around = projects.iter().filter(|project| discover::holds(&project.root, path));
            around.max_by_key(|project| project.root.len()).map(|project| project.root.clone())
        };
        let change = self.plain_change()?;
        for test in tests {
            let own = root(&test.at.path);
            let elsewhere = change.production.iter().filter(|item| root(&item.path) != own);
            test.reaches.extend(elsewhere.map(|item| Place::new(&item.path, item.line)));
        }
        Ok(())
    }

    /// The tree before the red that the change belongs to: a green must clean up what its red introduced.
    fn tree_before_red(&self) -> Result<TreeId, WorkError> {
        let repo = &self.site.repo;
        let in_step = self.step_files.is_some();
        let mut commit = if in_step { repo.head()?.commit } else { self.span.base_commit.clone() };
        while let Some(red) = &commit {
            match Claim::of_message(&repo.message(red)?).phase {
                Some(Phase::Red | Phase::RethinkTest) => commit = repo.first_parent(red)?,
                Some(Phase::Green | Phase::Refactor) | None => break,
            }
        }
        Ok(repo.commit_tree(commit.as_ref())?)
    }

    /// The new or changed production code, without the data that it reads.
    fn new_code(&self, change: &Change) -> Vec<NewCode> {
        let is_code = |item: &&ItemChange| item.fate != ItemFate::Removed && self.site.language.owns(&item.path);
        by_file(change.production.iter().filter(is_code).map(|item| (item.path.as_str(), item.line)))
    }

    /// The production code that a test calls.
    fn asked_code(&self, target: &TestId) -> Result<Vec<NewCode>, WorkError> {
        let signs = self.signs_of(&BTreeSet::from([target.clone()]))?;
        let places = signs.iter().flat_map(|test| test.asks.keys());
        Ok(by_file(places.map(|place| (place.path.as_str(), place.line))))
    }

    /// Runs the project's command that verifies work in refactor mode.
    fn verify_by(&self, argv: Vec<String>) -> Result<Checked, WorkError> {
        let deadline = Duration::from_secs(self.site.config.ci.build_timeout_secs.get());
        let line = project::command_line(argv.clone());
        let command = CommandSpec::new(argv, deadline);
        let root = if self.span.in_place {
            self.site.repo.root().to_owned()
        } else {
            self.in_scratch(&self.span.tree, &Overrides::new(), |_| Ok(()))?;
            self.scratch_tree()?
        };
        let finished = process::run(&self.spawner(root), &command)?;
        if finished.exit == Exit::Interrupted {
            return Err(WorkError::Interrupted);
        }
        let (stdout, stderr) = (finished.stdout.text(), finished.stderr.text());
        let ok = finished.exit == Exit::Passed;
        let outcome = RunnerOutcome { ok, stdout, stderr, exit: finished.exit };
        let changed_files = self.span.in_place && self.site.repo.tree_id()? != self.span.tree;
        Ok(Checked { command: line, outcome, changed_files })
    }

    /// Runs all tests for a gate. Ignores lock files that the project's tools updated, but not new files, because a
    /// person would commit those.
    fn run_to_judge(&mut self) -> Result<Run, WorkError> {
        let run = self.run_all()?;
        let ChangesOfRun { added, changed, .. } = self.changes_of_run(&run.tree_after)?;
        let is_same = added.is_empty() && changed.is_empty();
        Ok(Run { tree_after: if is_same { self.span.tree.clone() } else { run.tree_after }, ..run })
    }

    /// The files that a test run changed in the judged tree.
    pub(super) fn changes_of_run(&self, after: &TreeId) -> Result<ChangesOfRun, WorkError> {
        let mut changes = ChangesOfRun::default();
        if *after == self.span.tree {
            return Ok(changes);
        }
        let locks = self.site.lock_files();
        for change in self.site.repo.diff_trees(&self.span.tree, after)? {
            let is_lock = change.path.as_str().is_some_and(|path| locks.iter().any(|lock| lock == path));
            let into = match change.kind {
                _ if is_lock => &mut changes.locks,
                ChangeKind::Added => &mut changes.added,
                ChangeKind::Modified | ChangeKind::Deleted | ChangeKind::Renamed { .. } => &mut changes.changed,
            };
            into.push(change.path);
        }
        Ok(changes)
    }
}

/// The files that a test run changed.
#[derive(Default)]
pub(super) struct ChangesOfRun {
    /// Lock files that the project's tools updated.
    pub(super) locks: Vec<GitPath>,
    pub(super) added: Vec<GitPath>,
    /// Changed, deleted or renamed files.
    pub(super) changed: Vec<GitPath>,
}

/// Whether a line holds code that no test executes.
fn is_idle(coverage: &Coverage, path: &str, line: usize) -> bool {
    coverage.of(path).is_some_and(|lines| lines.get(&line) == Some(&false))
}

fn by_file<'a>(lines: impl Iterator<Item = (&'a str, usize)>) -> Vec<NewCode> {
    let mut files: BTreeMap<&str, Vec<Range<usize>>> = BTreeMap::new();
    for (path, line) in lines {
        files.entry(path).or_default().push(line..line + 1);
    }
    files.into_iter().map(|(path, lines)| NewCode { path: path.to_owned(), lines }).collect()
}
