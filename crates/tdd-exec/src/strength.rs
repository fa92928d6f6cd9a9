//! Runs tests in an instrumented scratch copy, once for each altered answer of production.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use tdd_core::proof::Fate;
use tdd_core::report::{Cause, Outcome, Report};
use tdd_core::strength::{Alteration, Function, Kill, Noticed, Probe, Strength};
use tdd_core::test_id::TestId;
use tdd_lang::alter::{Instrumented, NewCode, Record, Request, Switches};

use crate::counterproof::{ProofError, Prover, millis, seed};
use crate::git::FileKind;
use crate::layout::Content;
use crate::runner::RunError;

/// What is to be found out about the tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question<'q> {
    /// Whether each test notices one altered answer, or one missing effect, at least.
    AnyKill,
    /// Whether each test notices one altered answer at least.
    AnyValue,
    /// Which functions' answers each test notices. Says nothing about answers that it does not notice.
    EachFunction,
    /// Whether these alterations are still noticed.
    Still(&'q BTreeSet<Kill>),
}

/// How many runs with an altered answer one probe makes at most.
const MAX_RUNS: usize = 100;
/// How many times as long as an unaltered run an altered one may take: an altered loop may never end.
const PATIENCE: u64 = 10;
/// How long an altered run may take in any case, in milliseconds.
const MIN_PATIENCE: u64 = 10_000;

impl Prover<'_> {
    /// Alters the answers of this code, one at a time, and says which of these tests notice.
    pub fn strength(&self, tests: &[TestId], code: &[NewCode], question: Question<'_>) -> Result<Probe, ProofError> {
        let started = Instant::now();
        let mut why = "the code has no values that could be altered".to_owned();
        for is_mild in [false, true] {
            let Some(made) = self.instrumented(code, is_mild) else { break };
            match self.with_instrumented(&made, tests, question)? {
                Probe::Made(strength) => return Ok(Probe::Made(Strength { ms: millis(started), ..strength })),
                Probe::Unmade(reason) => why = reason,
            }
        }
        Ok(Probe::Unmade(why))
    }

    fn with_instrumented(
        &self,
        made: &Instrumented,
        tests: &[TestId],
        question: Question<'_>,
    ) -> Result<Probe, ProofError> {
        let mut files = self.files.clone();
        for (path, file) in &made.files {
            let kind = if file.is_executable { FileKind::Executable } else { FileKind::File };
            files.set(path, Some(Content::Given { bytes: file.text.as_bytes().to_vec(), kind }));
        }
        self.scratch.fill(self.repo, &files)?;
        let bench = Bench { prover: self, names: files.names(), made, record: self.record(made) };
        let (report, record) = bench.run(tests, None, None)?;
        let passing: Vec<TestId> = tests.iter().filter(|id| Fate::of(&report, id) == Fate::Passed).cloned().collect();
        if passing.is_empty() {
            return Ok(Probe::Unmade(why_not(&report, tests)));
        }
        let mut search =
            Search { question, runs: 0, tests: passing, noticed: BTreeMap::new(), reached: BTreeMap::new() };
        search.note_unreached(made, &record);
        if let [only] = search.tests.as_slice() {
            search.reached.insert(only.clone(), record.clone());
        }
        search.alter_each(&bench, &record, patience(&report))?;
        search.confirm(&bench, patience(&report))?;
        Ok(Probe::Made(Strength { noticed: search.noticed, ..Strength::default() }))
    }

    fn instrumented(&self, code: &[NewCode], is_mild: bool) -> Option<Instrumented> {
        let root = self.scratch.tree().to_string_lossy();
        let (project, sources) = (self.runner.project, self.runner.sources);
        let request = Request { project, sources, code, seed: seed(), root: &root, first: 0, is_mild };
        self.runner.language.instrument(&request)
    }

    /// Where running code records what it reached.
    fn record(&self, made: &Instrumented) -> PathBuf {
        self.scratch.products().with_file_name(&made.switches.record)
    }
}

/// How long the tests of this report may take with an altered answer.
fn patience(report: &Report) -> Duration {
    let raw: u64 = report.results().map(|result| result.duration_ms).sum();
    Duration::from_millis(MIN_PATIENCE.max(raw.saturating_mul(PATIENCE)))
}

fn why_not(report: &Report, tests: &[TestId]) -> String {
    let message = tests.iter().find_map(|id| match &report.get(id)?.outcome {
        Outcome::Fail { message, .. } => Some(message.lines().next().unwrap_or_default().to_owned()),
        Outcome::Pass => None,
    });
    format!("the tests do not pass in an instrumented copy: {}", message.unwrap_or_default())
}

/// The instrumented copy.
struct Bench<'b> {
    prover: &'b Prover<'b>,
    names: std::sync::Arc<Vec<String>>,
    made: &'b Instrumented,
    record: PathBuf,
}

impl Bench<'_> {
    /// Runs tests with one answer altered, or none.
    fn run(
        &self,
        tests: &[TestId],
        altered: Option<(usize, Alteration)>,
        timeout: Option<Duration>,
    ) -> Result<(Report, Record), ProofError> {
        let switches = &self.made.switches;
        let value = altered.map(|(id, alteration)| Switches::value(id, alteration)).unwrap_or_default();
        let mut vars = self.made.env.clone();
        vars.push((switches.switch.clone(), value));
        vars.push((switches.record.clone(), self.record.to_string_lossy().into_owned()));
        // A leftover would be read as this run's.
        let _removed = fs::remove_file(&self.record);
        let report = self.prover.test(self.names.clone(), tests, &vars, timeout);
        let record = Record::read(&fs::read_to_string(&self.record).unwrap_or_default());
        let _removed = fs::remove_file(&self.record);
        match report {
            Ok(report) => Ok((report, record)),
            // An altered answer can make a test use up all memory: that says nothing about the test.
            Err(ProofError::Run(RunError::Exhausted { .. })) if altered.is_some() => Ok((Report::default(), record)),
            Err(error) => Err(error),
        }
    }
}

/// What was found out so far.
struct Search<'q> {
    question: Question<'q>,
    runs: usize,
    tests: Vec<TestId>,
    noticed: BTreeMap<Function, BTreeMap<TestId, Noticed>>,
    /// What each test reaches, as far as it was run alone.
    reached: BTreeMap<TestId, Record>,
}

impl Search<'_> {
    fn note_unreached(&mut self, made: &Instrumented, record: &Record) {
        for (id, function) in made.functions.iter().enumerate() {
            if record.reached.binary_search(&id).is_err() {
                let each = self.tests.iter().map(|test| (test.clone(), Noticed::NotReached));
                self.noticed.insert(function.clone(), each.collect());
            }
        }
    }

    /// Tries one alteration of all functions, then the next, and constants last: tests reach many that do not matter.
    fn alter_each(&mut self, bench: &Bench<'_>, record: &Record, timeout: Duration) -> Result<(), ProofError> {
        let reached = record.reached.iter().filter_map(|id| Some((*id, bench.made.functions.get(*id)?)));
        let (constants, functions): (Vec<_>, Vec<_>) = reached.partition(|(_, function)| function.is_constant);
        for group in [functions, constants] {
            for alteration in Alteration::ALL {
                for (id, function) in &group {
                    self.alter(bench, *id, function, alteration, timeout)?;
                }
                self.learn(bench, group.len())?;
            }
        }
        Ok(())
    }

    /// Runs tests about which something is open alone, to know what they reach, if that is cheaper than to alter all
    /// of these functions.
    fn learn(&mut self, bench: &Bench<'_>, functions: usize) -> Result<(), ProofError> {
        if let Question::Still(_) = self.question {
            return Ok(());
        }
        let is_open = |test: &&TestId| {
            let is_known = self.reached.contains_key(*test);
            !is_known && (self.question == Question::EachFunction || !self.has_killed(test))
        };
        let open: Vec<TestId> = self.tests.iter().filter(is_open).cloned().collect();
        if open.len() <= functions {
            for test in open {
                self.reached_by(bench, &test)?;
            }
        }
        Ok(())
    }

    /// What a test reaches, when it is run alone.
    fn reached_by(&mut self, bench: &Bench<'_>, test: &TestId) -> Result<&Record, ProofError> {
        if !self.reached.contains_key(test) {
            let (_, record) = bench.run(std::slice::from_ref(test), None, None)?;
            self.reached.insert(test.clone(), record);
        }
        Ok(&self.reached[test])
    }

    fn has_killed(&self, test: &TestId) -> bool {
        let mut noticed = self.noticed.values().filter_map(|tests| tests.get(test));
        noticed.any(|noticed| matches!(noticed, Noticed::Killed(_)))
    }

    fn alter(
        &mut self,
        bench: &Bench<'_>,
        id: usize,
        function: &Function,
        alteration: Alteration,
        timeout: Duration,
    ) -> Result<(), ProofError> {
        let tests = self.open(id, function, alteration);
        if tests.is_empty() || self.runs == MAX_RUNS {
            return Ok(());
        }
        self.runs += 1;
        let (report, seen) = bench.run(&tests, Some((id, alteration)), Some(timeout))?;
        for test in tests {
            self.note(function, test, alteration, seen.altered, &report);
        }
        Ok(())
    }

    /// The tests about which this alteration still says something.
    fn open(&self, id: usize, function: &Function, alteration: Alteration) -> Vec<TestId> {
        let may_reach =
            |test: &TestId| self.reached.get(test).is_none_or(|record| record.reached.binary_search(&id).is_ok());
        let noticed = |test: &TestId| self.noticed.get(function).and_then(|tests| tests.get(test));
        let is_value = alteration != Alteration::Nothing;
        let is_open = |test: &&TestId| match self.question {
            // A test that ignores a value, or gets none, may still look at the effect.
            Question::AnyKill => {
                let has_effect_only = || matches!(noticed(test), Some(Noticed::Survived(_) | Noticed::NotAltered));
                !self.has_killed(test) && (is_value || has_effect_only())
            }
            Question::EachFunction | Question::AnyValue if !is_value => false,
            Question::AnyValue => !self.has_killed(test),
            Question::EachFunction => !matches!(noticed(test), Some(Noticed::Killed(_))),
            Question::Still(kills) => kills.contains(&Kill {
                test: (*test).clone(),
                path: function.path.clone(),
                name: function.name.clone(),
                alteration,
            }),
        };
        self.tests.iter().filter(is_open).filter(|test| may_reach(test)).cloned().collect()
    }

    fn note(&mut self, function: &Function, test: TestId, alteration: Alteration, altered: bool, report: &Report) {
        let fate = if altered { noticed_in(report, &test) } else { None };
        let tests = self.noticed.entry(function.clone()).or_default();
        let known = tests.entry(test).or_insert(Noticed::NotAltered);
        match (fate, known) {
            (Some(true), known) => *known = Noticed::Killed(alteration),
            (Some(false), Noticed::Survived(tried)) => {
                tried.insert(alteration);
            }
            (Some(false), known @ (Noticed::NotAltered | Noticed::NotReached)) => {
                *known = Noticed::Survived(BTreeSet::from([alteration]));
            }
            (Some(false), Noticed::Killed(_)) | (None, _) => {}
        }
    }

    /// Runs each test that noticed nothing alone: the altered answer may have gone to another test.
    fn confirm(&mut self, bench: &Bench<'_>, timeout: Duration) -> Result<(), ProofError> {
        if self.tests.len() < 2 {
            return Ok(());
        }
        let mut doubtful = Vec::new();
        for (function, tests) in &mut self.noticed {
            tests.retain(|test, noticed| match noticed {
                Noticed::Survived(tried) => {
                    doubtful.push((function.clone(), test.clone(), tried.clone()));
                    false
                }
                // Which of the tests reached the function is unknown.
                Noticed::NotAltered => false,
                Noticed::NotReached | Noticed::Killed(_) => true,
            });
        }
        if self.question == Question::EachFunction {
            return Ok(());
        }
        if matches!(self.question, Question::AnyKill | Question::AnyValue) {
            doubtful.retain(|(_, test, _)| !self.has_killed(test));
        }
        for (function, test, tried) in doubtful {
            let Some(id) = bench.made.functions.iter().position(|known| *known == function) else { continue };
            if self.reached_by(bench, &test)?.reached.binary_search(&id).is_err() {
                self.noticed.entry(function).or_default().insert(test, Noticed::NotReached);
                continue;
            }
            for alteration in tried {
                let (report, seen) = bench.run(std::slice::from_ref(&test), Some((id, alteration)), Some(timeout))?;
                self.note(&function, test.clone(), alteration, seen.altered, &report);
            }
        }
        Ok(())
    }
}

/// Whether the test failed; `None` if it did not come to an end of its own.
fn noticed_in(report: &Report, test: &TestId) -> Option<bool> {
    match &report.get(test)?.outcome {
        Outcome::Pass => Some(false),
        Outcome::Fail { cause: Cause::Assertion | Cause::UnrelatedFailure, .. } => Some(true),
        Outcome::Fail { .. } => None,
    }
}
