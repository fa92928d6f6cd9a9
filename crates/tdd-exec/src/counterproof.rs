//! Runs the altered copies of a test in a scratch copy of the project and reports how each ended.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;
use std::sync::Arc;

use tdd_core::digest::TreeId;
use tdd_core::proof::{CounterProof, Fate, MutantFate, Proof, Survivor, Twin};
use tdd_core::report::{Cause, Outcome, Report};
use tdd_core::seam::Runner;
use tdd_core::test_id::TestId;
use tdd_lang::item::TestItem;
use tdd_lang::language::Settings;
use tdd_lang::twin::{AlterationMode, Mutant, ScratchNeeds, Twins};

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

/// New production code in one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCode {
    /// The file.
    pub path: String,
    /// Line ranges in which new items begin, from 1.
    pub lines: Vec<Range<usize>>,
}

/// Makes counter-proofs for one tree of a project.
pub struct Prover<'a> {
    runner: &'a ProjectRunner<'a>,
    repo: &'a Repo,
    files: Layout,
    scratch: Scratch,
    needs: ScratchNeeds,
}

/// How a test is run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Circumstances {
    /// As always.
    Usual,
    /// The runner hides itself from production.
    Plain,
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
        let source = self.read(path)?;
        let mut why = String::new();
        for mode in [AlterationMode::ChangeValues, AlterationMode::NegateOnly] {
            let written = self.runner.language.twins(path, &source, test, seed, mode);
            let Some(twins) = written else { return Ok(Proof::Unwritable) };
            let run = |circumstances| self.run_with([(path, twins.source.as_str())], &twins.ids(), circumstances);
            let plain = run(Circumstances::Plain)?;
            // A module that cannot be loaded without its runner proves nothing.
            let report = if not_built(&plain, &twins.copy).is_some() { run(Circumstances::Usual)? } else { plain };
            match not_built(&report, &twins.copy) {
                Some(message) => why = message,
                None => return self.read_fates(&twins, &report).map(Proof::Run),
            }
        }
        Ok(Proof::NotBuilt(why))
    }

    /// Runs altered copies of several tests together: one build, one run. A test whose copies do not build beside the
    /// others is proven alone, if it is among the first `alone`.
    pub fn prove_all(&self, tests: &[(String, TestItem)], alone: usize, seed: u64) -> Result<Vec<Proof>, ProofError> {
        let (files, written) = self.write_all(tests, seed)?;
        let ids: Vec<TestId> = written.iter().flatten().flat_map(Twins::ids).collect();
        if ids.is_empty() {
            return Ok(vec![Proof::Unwritable; tests.len()]);
        }
        let report =
            self.run_with(files.iter().map(|(path, text)| (*path, text.as_str())), &ids, Circumstances::Plain)?;
        let mut proofs = Vec::new();
        for twins in &written {
            proofs.push(match twins {
                None => Proof::Unwritable,
                Some(twins) => match not_built(&report, &twins.copy) {
                    Some(message) => Proof::NotBuilt(message),
                    None => Proof::Run(self.read_fates(twins, &report)?),
                },
            });
        }
        // These replace the files in the scratch copy, so they come after the others were read.
        for ((path, test), proof) in tests.iter().zip(&mut proofs).take(alone) {
            if matches!(proof, Proof::NotBuilt(_)) {
                *proof = self.prove(path, test, seed)?;
            }
        }
        Ok(proofs)
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

    /// Runs the target against mutations of the new production code until it fails on one.
    pub fn mutate(&self, target: &TestId, new: &[NewCode]) -> Result<MutantFate, ProofError> {
        let mut files = Vec::new();
        for code in new {
            let mutants = self.runner.language.value_mutants(&code.path, &self.read(&code.path)?, &code.lines);
            files.push((code.path.as_str(), mutants));
        }
        let most = files.iter().map(|(_, mutants)| mutants.len()).max().unwrap_or_default();
        let mut survived = Vec::new();
        for at in 0..most {
            let chosen: Vec<(&str, &Mutant)> =
                files.iter().filter_map(|(path, mutants)| Some((*path, mutants.get(at)?))).collect();
            let what = chosen.iter().map(|(_, mutant)| mutant.what.as_str()).collect::<Vec<_>>().join(", ");
            let changed = chosen.iter().map(|(path, mutant)| (*path, mutant.source.as_str()));
            let report = self.run_with(changed, std::slice::from_ref(target), Circumstances::Usual)?;
            match Fate::of(&report, target) {
                Fate::Failed => return Ok(MutantFate::Killed(what)),
                Fate::Passed => survived.push(what),
                Fate::NotRun(_) => {}
            }
        }
        Ok(match (most, survived.is_empty()) {
            (0, _) => MutantFate::NothingToMutate,
            (_, true) => MutantFate::NoneCompiled,
            (_, false) => MutantFate::Survived(survived),
        })
    }

    /// Reads each copy's fate. Reruns an unaltered copy that failed, alone: other tests may have disturbed it, or it
    /// passes only as long as production sees the runner.
    fn read_fates(&self, twins: &Twins, report: &Report) -> Result<CounterProof, ProofError> {
        let alone = |circumstances| -> Result<Fate, ProofError> {
            let report = self.test(self.files.names(), std::slice::from_ref(&twins.copy), circumstances)?;
            Ok(Fate::of(&report, &twins.copy))
        };
        let mut plain = Fate::of(report, &twins.copy);
        if plain == Fate::Failed {
            plain = alone(Circumstances::Plain)?;
        }
        let copy = if plain == Fate::Failed { alone(Circumstances::Usual)? } else { plain };
        let fate = |id: &TestId| Fate::of(report, id);
        let ended = |wanted: fn(Fate) -> bool| twins.twins.iter().filter(move |twin| wanted(fate(&twin.id)));
        Ok(CounterProof {
            copy,
            plain,
            passing_control: fate(&twins.passing_control),
            failing_control: fate(&twins.failing_control),
            false_assertions: twins.false_assertions.iter().map(|(name, id)| (name.clone(), fate(id))).collect(),
            survivors: ended(|fate| fate == Fate::Passed).map(|twin| survivor(twin, report)).collect(),
            not_run: ended(|fate| matches!(fate, Fate::NotRun(_))).cloned().collect(),
            twins: twins.twins.len(),
            mutant: None,
            on_red: None,
        })
    }

    fn read(&self, path: &str) -> Result<String, ProofError> {
        self.runner.sources.read(path).ok_or_else(|| ProofError::Unreadable(path.to_owned()))
    }

    /// Runs these tests on the tree with some files replaced.
    fn run_with<'f>(
        &self,
        different: impl IntoIterator<Item = (&'f str, &'f str)>,
        only: &[TestId],
        circumstances: Circumstances,
    ) -> Result<Report, ProofError> {
        let mut files = self.files.clone();
        for (path, text) in different {
            files.set(path, Some(Content::text(text)));
        }
        self.scratch.fill(self.repo, &files)?;
        self.test(files.names(), only, circumstances)
    }

    fn test(
        &self,
        files: Arc<Vec<String>>,
        only: &[TestId],
        circumstances: Circumstances,
    ) -> Result<Report, ProofError> {
        let sources = TreeSources::sorted(self.scratch.tree(), files);
        let spawner = self.runner.spawner.clone().with_root(self.scratch.tree()).with_vars(self.needs.env.clone());
        let settings = Settings { plain: circumstances == Circumstances::Plain, ..self.runner.settings.clone() };
        let runner = ProjectRunner { sources: &sources, spawner: &spawner, settings: &settings, ..*self.runner };
        Ok(runner.test(only)?)
    }
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
