//! Runs the altered copies of a test in a scratch copy of the project and reports how each ended.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tdd_core::digest::TreeId;
use tdd_core::proof::{CounterProof, Fate, OPPOSITE, Proof, Survivor, Twin};
use tdd_core::report::{Cause, Outcome, Report};
use tdd_core::seam::Runner;
use tdd_core::test_id::TestId;
use tdd_lang::item::TestItem;
use tdd_lang::language::Settings;
use tdd_lang::plain::{Copies, PlainProgram, PlainSuite};
use tdd_lang::twin::{AlterationMode, ScratchNeeds, Twins};

use crate::git::Repo;
use crate::layout::{Content, LayOutError, Layout, ScratchError};
use crate::runner::{ProjectRunner, RunError};
use crate::scratch::Scratch;
use crate::sources::TreeSources;
use crate::state::StateDir;

/// Why a counter-proof could not be run.
#[derive(Debug, thiserror::Error)]
pub enum ProofError {
    /// The scratch copy could not be made.
    #[error(transparent)]
    Scratch(#[from] ScratchError),
    /// The tests could not be run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The tree could not be read.
    #[error(transparent)]
    LayOut(#[from] LayOutError),
    /// The test's file cannot be read.
    #[error("cannot read `{0}`")]
    Unreadable(String),
}

/// Makes counter-proofs for one tree of a project.
pub struct Prover<'a> {
    pub(crate) runner: &'a ProjectRunner<'a>,
    pub(crate) repo: &'a Repo,
    pub(crate) files: Layout,
    pub(crate) scratch: Scratch,
    needs: ScratchNeeds,
}

/// The copies of a test, and how they are run.
#[derive(Clone, Copy)]
struct Trial<'t> {
    path: &'t str,
    twins: &'t Twins,
    circumstances: &'t Circumstances,
}

/// How the copies of a test are run.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Circumstances {
    /// As always.
    Usual,
    /// By a runner that hides itself from production.
    HiddenRunner,
    /// By a program without a runner.
    Program(Box<PlainProgram>),
}

/// A random number, so that nobody can predict how the copies are altered.
pub fn seed() -> u64 {
    RandomState::new().hash_one("twins")
}

impl<'a> Prover<'a> {
    /// Lays out `tree`, whose tests `runner` runs. The caller must hold the project's lock.
    pub fn new(
        runner: &'a ProjectRunner<'a>,
        repo: &'a Repo,
        tree: &TreeId,
        state: &StateDir,
    ) -> Result<Self, ProofError> {
        let scratch = Scratch::open(state)?;
        let needs = runner.language.scratch(runner.project, &scratch.products().to_string_lossy());
        scratch.hide_after_use(&needs);
        let files = Layout::new(repo, tree, &needs)?;
        Ok(Self { runner, repo, files, scratch, needs })
    }

    /// Runs altered copies of a test in the file `path`. If they do not compile, tries once more with milder
    /// alterations.
    pub fn prove(&self, path: &str, test: &TestItem, seed: u64) -> Result<Proof, ProofError> {
        let started = Instant::now();
        let source = self.read(path)?;
        let (mut why, mut needs_tests) = (String::new(), false);
        for mode in [AlterationMode::ChangeValues, AlterationMode::NegateOnly] {
            let written = self.runner.language.twins(path, &source, test, seed, mode);
            let Some(twins) = written else { return Ok(Proof::Unwritable) };
            for circumstances in self.circumstances(path, &twins) {
                let trial = Trial { path, twins: &twins, circumstances: &circumstances };
                let report = self.run_copies(&trial, &twins.ids(), &circumstances)?;
                let is_usual = circumstances == Circumstances::Usual;
                needs_tests |= !is_usual && production_needs_tests(&report, &twins);
                // Copies that cannot be run without their runner prove nothing.
                if !is_usual && !is_sound(&report, &twins) {
                    continue;
                }
                if let Some(message) = not_built(&report, &twins.copy) {
                    why = message;
                    continue;
                }
                let fates = self.read_fates(&trial, &report, started)?;
                let plain = if needs_tests { Some(Fate::Failed) } else { fates.plain };
                return Ok(Proof::Run(CounterProof { plain, ..fates }));
            }
        }
        Ok(Proof::NotBuilt(why))
    }

    /// Runs altered copies of several tests: the first `alone` tests, and at least one, each by itself; the others
    /// together, with one build and one run.
    pub fn prove_all(&self, tests: &[(String, TestItem)], alone: usize, seed: u64) -> Result<Vec<Proof>, ProofError> {
        let (first, others) = tests.split_at(alone.max(1).min(tests.len()));
        let mut proofs = Vec::new();
        for (path, test) in first {
            proofs.push(self.prove(path, test, seed)?);
        }
        let started = Instant::now();
        let (files, written) = self.write_all(others, seed)?;
        let ids: Vec<TestId> = written.iter().flatten().flat_map(Twins::ids).collect();
        let files = || files.iter().map(|(path, text)| (*path, text.as_str()));
        let can_hide = others.iter().any(|(path, _)| self.can_hide_runner(path));
        let settings = Settings { plain: can_hide, ..self.runner.settings.clone() };
        let report = if ids.is_empty() { None } else { Some(self.run_with(files(), &ids, &settings)?) };
        let circumstances = if can_hide { Circumstances::HiddenRunner } else { Circumstances::Usual };
        for ((path, _), twins) in others.iter().zip(&written) {
            let (Some(twins), Some(report)) = (twins, &report) else {
                proofs.push(Proof::Unwritable);
                continue;
            };
            let trial = Trial { path, twins, circumstances: &circumstances };
            proofs.push(match not_built(report, &twins.copy) {
                Some(message) => Proof::NotBuilt(message),
                None => Proof::Run(self.also_as_script(&trial, report, started)?),
            });
        }
        Ok(proofs)
    }

    /// Reads the copies' fates. Where no build is needed, runs altered copies that passed beside others alone, and the
    /// unaltered one without a runner in sight.
    fn also_as_script(&self, trial: &Trial<'_>, report: &Report, started: Instant) -> Result<CounterProof, ProofError> {
        let mut fates = self.read_fates(trial, report, started)?;
        let is_script = |way: &Circumstances| matches!(way, Circumstances::Program(it) if it.start.script.is_some());
        let ways = self.circumstances(trial.path, trial.twins);
        let Some(script) = ways.iter().find(|way| is_script(way)) else { return Ok(fates) };
        let mut survivors = Vec::new();
        for survivor in std::mem::take(&mut fates.survivors) {
            let id = &survivor.twin.id;
            let report = self.run_copies(trial, std::slice::from_ref(id), &Circumstances::Usual)?;
            // State that an earlier copy left behind may make an altered one pass.
            if Fate::of(&report, id) == Fate::Passed {
                survivors.push(survivor);
            }
        }
        let plain = match fates.plain {
            None | Some(Fate::Passed) => self.fate_as_script(trial, script)?.or(fates.plain),
            Some(Fate::Failed | Fate::Rigged | Fate::NotRun(_)) => fates.plain,
        };
        Ok(CounterProof { plain, survivors, ..fates })
    }

    /// How the unaltered copy ends without a runner in sight; `None` if that is not known.
    fn fate_as_script(&self, trial: &Trial<'_>, script: &Circumstances) -> Result<Option<Fate>, ProofError> {
        let twins = trial.twins;
        let run = |only: &[TestId]| self.run_copies(trial, only, script);
        let fate = |report: &Report| Fate::of(report, &twins.copy);
        let first = fate(&run(std::slice::from_ref(&twins.copy))?);
        if !has_failed(first) {
            return Ok(Some(first).filter(|fate| *fate == Fate::Passed));
        }
        let controlled = [&twins.copy, &twins.passing_control, &twins.failing_control].map(Clone::clone);
        let report = run(&controlled)?;
        let is_proven = is_sound(&report, twins) || production_needs_tests(&report, twins);
        Ok(Some(fate(&report)).filter(|fate| is_proven && has_failed(*fate)))
    }

    /// The files with the copies of all these tests, and the copies of each test.
    #[expect(clippy::type_complexity, reason = "both parts are used once")]
    fn write_all<'t>(
        &self,
        tests: &'t [(String, TestItem)],
        seed: u64,
    ) -> Result<(BTreeMap<&'t str, String>, Vec<Option<Twins>>), ProofError> {
        let language = self.runner.language;
        let mut files: BTreeMap<&str, String> = BTreeMap::new();
        let mut written = vec![None; tests.len()];
        // From the end of each file, so that the lines of the tests before stay the same.
        let mut order: Vec<usize> = (0..tests.len()).collect();
        order.sort_by_key(|number| std::cmp::Reverse(tests[*number].1.span.start));
        for number in order {
            let (path, test) = &tests[number];
            let source = match files.get(path.as_str()) {
                Some(source) => source.clone(),
                None => self.read(path)?,
            };
            let found = language.items(path, &source).tests.into_iter().find(|item| item.name == test.name);
            let Some(test) = found else { continue };
            let seed = seed.wrapping_add(u64::try_from(number).unwrap_or_default());
            if let Some(twins) = language.twins(path, &source, &test, seed, AlterationMode::ChangeValues) {
                files.insert(path, twins.source.clone());
                written[number] = Some(twins);
            }
        }
        Ok((files, written))
    }

    /// Reads each copy's fate. Reruns an unaltered copy that failed, alone: other tests may have disturbed it, or it
    /// passes only as long as production sees the runner.
    fn read_fates(&self, trial: &Trial<'_>, report: &Report, started: Instant) -> Result<CounterProof, ProofError> {
        let twins = trial.twins;
        let alone =
            |circumstances: &Circumstances| self.run_copies(trial, std::slice::from_ref(&twins.copy), circumstances);
        let (mut copy, mut why_not_plain) = (Fate::of(report, &twins.copy), String::new());
        if has_failed(copy) {
            let again = alone(trial.circumstances)?;
            copy = Fate::of(&again, &twins.copy);
            why_not_plain = message(&again, &twins.copy);
        }
        let is_usual = *trial.circumstances == Circumstances::Usual;
        let plain = (!is_usual).then_some(copy);
        if copy != Fate::Passed && !is_usual {
            copy = Fate::of(&alone(&Circumstances::Usual)?, &twins.copy);
        }
        let fate = |id: &TestId| Fate::of(report, id);
        let ended = |wanted: fn(Fate) -> bool| twins.twins.iter().filter(move |twin| wanted(fate(&twin.id)));
        Ok(CounterProof {
            copy,
            plain,
            why_not_plain,
            passing_control: fate(&twins.passing_control),
            failing_control: fate(&twins.failing_control),
            false_assertions: twins.false_assertions.iter().map(|(name, id)| (name.clone(), fate(id))).collect(),
            survivors: ended(|fate| fate == Fate::Passed).map(|twin| survivor(twin, report)).collect(),
            not_run: ended(|fate| matches!(fate, Fate::NotRun(_))).cloned().collect(),
            twins: twins.twins.len(),
            with_other_value: twins.twins.iter().filter(|twin| !twin.what.starts_with(OPPOSITE)).count(),
            strength: None,
            ms: millis(started),
        })
    }

    fn read(&self, path: &str) -> Result<String, ProofError> {
        self.runner.sources.read(path).ok_or_else(|| ProofError::Unreadable(path.to_owned()))
    }

    /// How these copies can be run, the hardest for production to see through first.
    fn circumstances(&self, path: &str, twins: &Twins) -> Vec<Circumstances> {
        let ProjectRunner { language, project, settings, sources, .. } = *self.runner;
        let mut ways = Vec::new();
        if self.is_usual_command() {
            let (root, products) = (self.scratch.tree().to_string_lossy(), self.scratch.products().to_string_lossy());
            let copies = Copies { project, settings, sources, path, twins, root: &root, products: &products };
            ways.extend(language.plainly(&copies).map(Box::new).map(Circumstances::Program));
        }
        ways.extend(self.can_hide_runner(path).then_some(Circumstances::HiddenRunner));
        ways.push(Circumstances::Usual);
        ways
    }

    fn can_hide_runner(&self, path: &str) -> bool {
        self.is_usual_command() && self.runner.language.can_hide_runner(path)
    }

    /// Other commands may set up what a test needs.
    fn is_usual_command(&self) -> bool {
        self.runner.settings.test_command_for.is_empty() && self.runner.settings.junit.is_none()
    }

    /// Runs some of the copies.
    fn run_copies(
        &self,
        trial: &Trial<'_>,
        only: &[TestId],
        circumstances: &Circumstances,
    ) -> Result<Report, ProofError> {
        let written = (trial.path, trial.twins.source.as_str());
        match circumstances {
            Circumstances::Usual => self.run_with([written], only, self.runner.settings),
            Circumstances::HiddenRunner => {
                let settings = Settings { plain: true, ..self.runner.settings.clone() };
                self.run_with([written], only, &settings)
            }
            Circumstances::Program(program) => {
                let mut files = self.files.clone();
                for (path, text) in &program.files {
                    files.set(path, text.as_deref().map(Content::text));
                }
                self.scratch.fill(self.repo, &files)?;
                let tests = program.tests.iter().filter(|(id, _)| only.contains(id)).cloned().collect();
                let mut suite = PlainSuite::new(PlainProgram { tests, ..(**program).clone() });
                self.in_copy(files.names(), self.runner.settings, &[], |runner| runner.report(&mut suite))
            }
        }
    }

    /// Runs these tests on the tree with some files replaced.
    fn run_with<'f>(
        &self,
        different: impl IntoIterator<Item = (&'f str, &'f str)>,
        only: &[TestId],
        settings: &Settings,
    ) -> Result<Report, ProofError> {
        let mut files = self.files.clone();
        for (path, text) in different {
            files.set(path, Some(Content::text(text)));
        }
        self.scratch.fill(self.repo, &files)?;
        self.in_copy(files.names(), settings, &[], |runner| runner.test(only))
    }

    /// Runs these tests in the scratch copy as it is, with more variables and perhaps a shorter timeout.
    pub(crate) fn test(
        &self,
        files: Arc<Vec<String>>,
        only: &[TestId],
        vars: &[(String, String)],
        timeout: Option<Duration>,
    ) -> Result<Report, ProofError> {
        let usual = self.runner.settings;
        let timeout = timeout.map_or(usual.timeout, |timeout| timeout.min(usual.timeout));
        self.in_copy(files, &Settings { timeout, ..usual.clone() }, vars, |runner| runner.test(only))
    }

    fn in_copy(
        &self,
        files: Arc<Vec<String>>,
        settings: &Settings,
        vars: &[(String, String)],
        run: impl FnOnce(&ProjectRunner<'_>) -> Result<Report, RunError>,
    ) -> Result<Report, ProofError> {
        let sources = TreeSources::sorted(self.scratch.tree(), files);
        let vars = self.needs.env.iter().chain(vars).cloned();
        let spawner = self.runner.spawner.clone().with_root(self.scratch.tree()).with_vars(vars);
        Ok(run(&ProjectRunner { sources: &sources, spawner: &spawner, settings, ..*self.runner })?)
    }
}

/// The milliseconds since then.
pub(crate) fn millis(started: Instant) -> u64 {
    u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// Why a test failed.
fn message(report: &Report, id: &TestId) -> String {
    match report.get(id).map(|result| &result.outcome) {
        Some(Outcome::Fail { message, .. }) => message.clone(),
        Some(Outcome::Pass) | None => String::new(),
    }
}

/// Whether a run without a runner in sight says anything: the copies were built, and the control tests end as they
/// must.
fn is_sound(report: &Report, twins: &Twins) -> bool {
    not_built(report, &twins.copy).is_none()
        && Fate::of(report, &twins.passing_control) == Fate::Passed
        && Fate::of(report, &twins.failing_control) == Fate::Failed
}

fn has_failed(fate: Fate) -> bool {
    matches!(fate, Fate::Failed | Fate::Rigged)
}

/// Whether production does not even load where there are no test sources: the unaltered copy fails for that reason, and
/// the control tests beside it cannot be run.
fn production_needs_tests(report: &Report, twins: &Twins) -> bool {
    let cause = |id: &TestId| report.get(id).and_then(|result| result.outcome.cause());
    cause(&twins.copy) == Some(Cause::Assertion) && cause(&twins.passing_control) == Some(Cause::UnrelatedFailure)
}

fn survivor(twin: &Twin, report: &Report) -> Survivor {
    let prints_differently = twin.probe.as_ref().is_some_and(|probe| Fate::of(report, probe) == Fate::Failed);
    Survivor { twin: twin.clone(), prints_differently }
}

/// The compiler's message, if the file with this copy does not compile.
fn not_built(report: &Report, copy: &TestId) -> Option<String> {
    match &report.get(copy)?.outcome {
        Outcome::Fail {
            cause: Cause::UnrelatedCompileError | Cause::MissingSymbol | Cause::SyntaxError | Cause::LoadFailure,
            message,
        } => Some(message.clone()),
        Outcome::Fail { .. } | Outcome::Pass => None,
    }
}
