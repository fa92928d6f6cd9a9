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
use tdd_core::strength::{Answers, Noticed, Probe, Strength};
use tdd_core::test_id::TestId;
use tdd_lang::alter::{self, NewCode};
use tdd_lang::discover;
use tdd_lang::language::Sources;
use tdd_lang::provenance;

use super::{Overrides, ProjectWorkshop};
use crate::counterproof::{self, Prover};
use crate::error::WorkError;
use crate::git::{ChangeKind, GitPath};
use crate::process;
use crate::project;
use crate::sources::StoredSources;
use crate::strength::Question;

/// How many commits to search for the origin of an item.
const MAX_COMMITS: usize = 500;
/// How many tests beside the targets are probed, and in how many files: each file is built anew.
const MAX_PROBED_TESTS: usize = 12;
const MAX_PROBED_FILES: usize = 4;
/// How many functions are altered to compare what tests notice before and after a change.
const MAX_ALTERED: usize = 20;

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

    fn is_of_model(&self) -> bool {
        self.step_files.is_some()
    }

    fn affected(&self, change: &Change) -> Result<Vec<TestId>, WorkError> {
        self.reaching(change)
    }

    fn probe(
        &self,
        targets: &[(TestId, Option<Cause>)],
        others: &[TestId],
        change: &Change,
    ) -> Result<BTreeMap<TestId, Proof>, WorkError> {
        let ids = targets.iter().map(|(target, _)| target).chain(others);
        let mut proofs: BTreeMap<TestId, Proof> = ids.map(|id| (id.clone(), Proof::Unwritable)).collect();
        let sources = self.subject()?;
        let find = |id: &TestId| Some((id.clone(), self.site.language.find_test(id, &sources)?));
        let targets_found: Vec<_> = targets.iter().filter_map(|(target, _)| find(target)).collect();
        let alone = targets_found.len();
        let (ids, tests): (Vec<_>, Vec<_>) = targets_found.into_iter().chain(others.iter().filter_map(find)).unzip();
        self.with_prover(&sources, &self.span.tree, |prover| {
            proofs.extend(ids.into_iter().zip(prover.prove_all(&tests, alone, counterproof::seed())?));
            for (target, red) in targets {
                // Without a red, only altered answers of the code that the test calls can show that it can fail.
                let has_copies = proofs.get(target).is_some_and(Proof::has_copies);
                let may_be_rigged = alter::overrides_comparison(change, &sources);
                let may_be_replaced = self.may_replace_production(target, &sources);
                let code = match red {
                    _ if change.production.is_empty() => self.asked_code(target)?,
                    // What compares is not altered, but what the test compares is.
                    _ if may_be_rigged => {
                        let mut code = self.new_code(change);
                        code.extend(self.reached_code(&sources, std::slice::from_ref(target)));
                        NewCode::joined(code)
                    }
                    Some(Cause::MissingSymbol) => self.new_code(change),
                    _ if !has_copies || may_be_replaced => self.new_code(change),
                    Some(_) | None => continue,
                };
                let question = if may_be_rigged { Question::AnyValue } else { Question::AnyKill };
                let mut probe = prover.strength(std::slice::from_ref(target), &code, question)?;
                if let Probe::Made(strength) = &mut probe {
                    strength.overrides_comparison = may_be_rigged;
                    let may_be_bypassed = *red == Some(Cause::MissingSymbol) || may_be_replaced;
                    strength.is_bypassed = may_be_bypassed && self.is_bypassed(target, strength)?;
                }
                match (proofs.get_mut(target), &probe) {
                    (Some(Proof::Run(seen)), _) => seen.strength = Some(probe),
                    (Some(proof), Probe::Made(_)) => *proof = Proof::Answers(probe),
                    (_, _) => {}
                }
            }
            Ok(proofs)
        })
    }

    fn probe_before(&self, test: &TestId) -> Result<Proof, WorkError> {
        let before = self.tree_before_red()?;
        let sources = StoredSources::new(&self.site.repo, &before)?;
        let Some((path, item)) = self.site.language.find_test(test, &sources) else { return Ok(Proof::Unwritable) };
        self.with_prover(&sources, &before, |prover| Ok(prover.prove(&path, &item, counterproof::seed())?))
    }

    fn answers(&self, tests: &[TestId]) -> Result<Answers, WorkError> {
        let altered = |tests: &[TestId], tree: &TreeId, question: Question<'_>| -> Result<Probe, WorkError> {
            let sources = StoredSources::new(&self.site.repo, tree)?;
            let code = match question {
                // What a test called before is altered, whether it still calls that or not.
                Question::Still(kills) => kills.iter().map(|kill| kill.path.as_str()).collect::<BTreeSet<_>>(),
                Question::AnyKill | Question::AnyValue | Question::EachFunction => BTreeSet::new(),
            };
            let code: Vec<NewCode> = if code.is_empty() {
                self.reached_code(&sources, tests)
            } else {
                code.into_iter().map(NewCode::whole).collect()
            };
            self.with_prover(&sources, tree, |prover| Ok(prover.strength(tests, &code, question)?))
        };
        let before = match altered(tests, &self.tree_before_red()?, Question::EachFunction)? {
            Probe::Made(strength) => strength.kills(),
            Probe::Unmade(why) => return Ok(Answers { before: BTreeSet::new(), now: Probe::Unmade(why) }),
        };
        let mut answers = Answers { now: altered(tests, &self.span.tree, Question::Still(&before))?, before };
        // What they called may be elsewhere now.
        let idle: Vec<TestId> = answers.idle().cloned().collect();
        if !idle.is_empty()
            && let (Probe::Made(now), Probe::Made(other)) =
                (&mut answers.now, altered(&idle, &self.span.tree, Question::AnyKill)?)
        {
            for (function, tests) in other.noticed {
                let killed = tests.into_iter().filter(|(_, noticed)| matches!(noticed, Noticed::Killed(_)));
                now.noticed.entry(function).or_default().extend(killed);
            }
        }
        Ok(answers)
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
        let mut tests = self.signs_in(&self.subject()?, tests.iter());
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
    /// The signs in these tests of a tree.
    fn signs_in<'t>(&self, sources: &dyn Sources, tests: impl Iterator<Item = &'t TestId>) -> Vec<TestSigns> {
        let (language, project) = self.language_and_project();
        let found = tests.filter_map(|id| language.find_test(id, sources));
        let places: BTreeSet<Place> = found.map(|(path, test)| Place::new(&path, test.line)).collect();
        let paths: BTreeSet<String> = places.iter().map(|place| place.path.clone()).collect();
        let signs = language.signs(project, sources, &paths.into_iter().collect::<Vec<_>>());
        signs.tests.into_iter().filter(|test| places.contains(&test.at)).collect()
    }

    /// The production code that these tests reach in a tree; of much code only a part.
    fn reached_code(&self, sources: &dyn Sources, tests: &[TestId]) -> Vec<NewCode> {
        let signs = self.signs_in(sources, tests.iter());
        let called = signs.iter().flat_map(|test| test.asks.keys());
        let reached = signs.iter().flat_map(|test| &test.reaches);
        let mut places: Vec<&Place> = Vec::new();
        for place in called.chain(reached) {
            if !places.contains(&place) && places.len() < MAX_ALTERED {
                places.push(place);
            }
        }
        by_file(places.into_iter().map(|place| (place.path.as_str(), place.line)))
    }

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

    /// Runs probes on a tree in the scratch copy.
    fn with_prover<T>(
        &self,
        sources: &dyn Sources,
        tree: &TreeId,
        act: impl FnOnce(&Prover<'_>) -> Result<T, WorkError>,
    ) -> Result<T, WorkError> {
        let root = self.site.repo.root().to_owned();
        self.act(sources, &self.spawner(root), |runner| act(&Prover::new(runner, &self.site.repo, tree, &self.state)?))
    }

    /// The tests that reach changed production code or test support, those that call changed code first.
    fn reaching(&self, change: &Change) -> Result<Vec<TestId>, WorkError> {
        if change.production.is_empty() && change.support.is_empty() {
            return Ok(Vec::new());
        }
        let changed = change.production.iter().filter(|item| item.fate != ItemFate::Removed);
        let changed: BTreeSet<Place> = changed.map(|item| Place::new(&item.path, item.line)).collect();
        let mut tests = self.signs(true)?.tests;
        let rank = |test: &TestSigns| {
            let calls = test.asks.keys().any(|place| changed.contains(place));
            if calls { 0 } else { usize::from(test.reaches.is_disjoint(&changed)) + 1 }
        };
        // Nobody can tell from names which tests a changed helper is for.
        let farthest = if change.support.is_empty() && tests.iter().any(|test| rank(test) < 2) { 1 } else { 2 };
        tests.retain(|test| rank(test) <= farthest);
        tests.sort_by_cached_key(|test| (rank(test), test.at.clone()));
        let mut files = BTreeSet::new();
        tests.retain(|test| {
            files.contains(&test.at.path) || files.len() < MAX_PROBED_FILES && files.insert(test.at.path.clone())
        });
        tests.truncate(MAX_PROBED_TESTS);
        let sources = self.subject()?;
        let mut ids = BTreeMap::new();
        for path in &files {
            let items = sources.read(path).map(|text| self.site.language.items(path, &text).tests);
            ids.extend(items.into_iter().flatten().map(|test| (Place::new(path, test.line), test.id(path))));
        }
        Ok(tests.iter().filter_map(|test| ids.get(&test.at).cloned()).collect())
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

    fn may_replace_production(&self, target: &TestId, sources: &dyn Sources) -> bool {
        let found = self.site.language.find_test(target, sources);
        let body = found.and_then(|(path, test)| sources.read(&path)?.get(test.span).map(str::to_owned));
        body.is_some_and(|body| alter::may_replace_production(&body))
    }

    /// Whether a test runs none of these functions, although it names one of them.
    fn is_bypassed(&self, target: &TestId, strength: &Strength) -> Result<bool, WorkError> {
        let mut functions = strength.of(target).peekable();
        if functions.peek().is_none() || functions.any(|(_, noticed)| *noticed != Noticed::NotReached) {
            return Ok(false);
        }
        let signs = self.signs_of(&BTreeSet::from([target.clone()]))?;
        let is_named = |path: &str, line| signs.iter().any(|test| test.asks.contains_key(&Place::new(path, line)));
        Ok(strength.of(target).any(|(function, _)| is_named(&function.path, function.line)))
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
