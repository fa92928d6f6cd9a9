//! Runs the altered copies of a test in a scratch copy of the project and reports how each ended.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use tdd_core::digest::TreeId;
use tdd_core::proof::{CounterProof, Fate, Proof, Survivor, Twin};
use tdd_core::report::{Cause, Outcome, Report};
use tdd_core::seam::Runner;
use tdd_core::test_id::TestId;
use tdd_lang::item::TestItem;
use tdd_lang::language::Settings;
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

/// How a test is run.
#[derive(Clone, Default)]
pub(crate) struct Circumstances {
    /// The runner hides itself from production.
    pub is_plain: bool,
    /// More variables.
    pub vars: Vec<(String, String)>,
    /// Another timeout, if it is shorter than the usual one.
    pub timeout: Option<Duration>,
}

impl Circumstances {
    fn plain() -> Self {
        Self { is_plain: true, ..Self::default() }
    }
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
            let run = |circumstances: &Circumstances| {
                self.run_with([(path, twins.source.as_str())], &twins.ids(), circumstances)
            };
            let plain = run(&Circumstances::plain())?;
            // A module that cannot be loaded without its runner proves nothing.
            let report = if not_built(&plain, &twins.copy).is_some() { run(&Circumstances::default())? } else { plain };
            match not_built(&report, &twins.copy) {
                Some(message) => why = message,
                None => return self.read_fates(&twins, &report).map(Proof::Run),
            }
        }
        Ok(Proof::NotBuilt(why))
    }

    /// Reads each copy's fate. Reruns an unaltered copy that failed, alone: other tests may have disturbed it, or it
    /// passes only as long as production sees the runner.
    fn read_fates(&self, twins: &Twins, report: &Report) -> Result<CounterProof, ProofError> {
        let alone = |circumstances: &Circumstances| -> Result<Fate, ProofError> {
            let report = self.test(self.files.names(), std::slice::from_ref(&twins.copy), circumstances)?;
            Ok(Fate::of(&report, &twins.copy))
        };
        let mut plain = Fate::of(report, &twins.copy);
        if plain == Fate::Failed {
            plain = alone(&Circumstances::plain())?;
        }
        let copy = if plain == Fate::Failed { alone(&Circumstances::default())? } else { plain };
        let fate = |id: &TestId| Fate::of(report, id);
        let ended = |wanted: fn(Fate) -> bool| twins.twins.iter().filter(move |twin| wanted(fate(&twin.id)));
        Ok(CounterProof {
            copy,
            plain,
            sound: fate(&twins.passing_control),
            broken: fate(&twins.failing_control),
            untruths: twins.false_assertions.iter().map(|(name, id)| (name.clone(), fate(id))).collect(),
            survivors: ended(|fate| fate == Fate::Passed).map(|twin| survivor(twin, report)).collect(),
            not_run: ended(|fate| matches!(fate, Fate::NotRun(_))).cloned().collect(),
            twins: twins.twins.len(),
            strength: None,
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
        circumstances: &Circumstances,
    ) -> Result<Report, ProofError> {
        let mut files = self.files.clone();
        for (path, text) in different {
            files.set(path, Some(Content::text(text)));
        }
        self.scratch.fill(self.repo, &files)?;
        self.test(files.names(), only, circumstances)
    }

    /// Runs these tests in the scratch copy as it is.
    pub(crate) fn test(
        &self,
        files: Arc<Vec<String>>,
        only: &[TestId],
        circumstances: &Circumstances,
    ) -> Result<Report, ProofError> {
        let sources = TreeSources::sorted(self.scratch.tree(), files);
        let vars = self.needs.env.iter().chain(&circumstances.vars).cloned();
        let spawner = self.runner.spawner.clone().with_root(self.scratch.tree()).with_vars(vars);
        let usual = self.runner.settings;
        let timeout = circumstances.timeout.map_or(usual.timeout, |timeout| timeout.min(usual.timeout));
        let settings = Settings { plain: circumstances.is_plain, timeout, ..usual.clone() };
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
