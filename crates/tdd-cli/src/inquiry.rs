//! Finds out what the anti-patterns of a change must know about it: its signs, its reds, its history.

use std::collections::{BTreeMap, BTreeSet};

use tdd_core::antipattern::{self, Case, Finding};
use tdd_core::change::{Change, Sort, TestFacts};
use tdd_core::coverage::{Coverage, Measurement};
use tdd_core::cycle::Phase;
use tdd_core::digest::CommitId;
use tdd_core::report::{Cause, Report};
use tdd_core::session::Session;
use tdd_core::signs::{Place, Signs, TestSigns};
use tdd_core::test_id::TestId;
use tdd_exec::git::{GitPath, Repo};
use tdd_exec::sources::StoredSources;
use tdd_lang::language::Sources;

use crate::error::CliError;
use crate::trial::{Overrides, Trial, Which};

/// How many commits are looked back for the beginnings of an item.
const MAX_COMMITS: usize = 500;

/// What was found out about a change.
pub struct Inquiry {
    pub findings: Vec<Finding>,
    /// Why tests that had to be run could not be.
    pub unknown: Option<String>,
    /// Why it is not known which lines the tests execute; nothing if it is.
    pub unmeasured: Option<String>,
}

/// Looks at a change. Tests are run only where something hangs on it that the ledger does not know: whether they
/// were red, and which lines of new code they execute.
pub fn inquire(trial: &mut Trial<'_>, which: &Which) -> Result<Inquiry, CliError> {
    // A name that changes everywhere is no tampering.
    let change = trial.refactored(trial.change()?)?;
    let (phase, target) = declared(&trial.repo, which)?;
    let mut facts = Facts { phase, target, ..Facts::default() };
    facts.signs = signs(trial, &change, facts.phase)?;
    facts.reds = known_reds(trial)?;
    if antipattern::lacks_claims(&facts.case(&change)) {
        let run = trial.run_elsewhere(&trial.base, &Overrides::new())?;
        facts.unknown = failure(&run.report);
        facts.reds.extend(signs_of(trial, &failing(&run.report))?);
    }
    let late: Vec<TestFacts> = antipattern::late_tests(&facts.case(&change)).into_iter().cloned().collect();
    let is_unseen = |test: &&TestFacts| !was_red(trial.session(), test);
    let unseen: Vec<TestFacts> = late.iter().filter(is_unseen).cloned().collect();
    if !unseen.is_empty() {
        let report = trial.run()?.report;
        facts.unknown = facts.unknown.or_else(|| failure(&report));
        let passes = |test: &&TestFacts| report.get(&test.id).is_some_and(|result| result.outcome.cause().is_none());
        facts.never_red = unseen.iter().filter(passes).map(|test| test.id.clone()).collect();
        facts.since = since(trial, which, &facts.signs)?;
    }
    let unmeasured = match measure(trial, &facts.case(&change))? {
        Ok(measurement) => {
            facts.measurement = Some(measurement);
            None
        }
        Err(why) => Some(why),
    };
    Ok(Inquiry { findings: antipattern::in_change(&facts.case(&change)), unknown: facts.unknown, unmeasured })
}

/// Which lines of the new code the tests execute, seen in a copy beside the project, or why that is not known.
fn measure(trial: &Trial<'_>, case: &Case<'_>) -> Result<Result<Measurement, String>, CliError> {
    let (language, project) = trial.language();
    let sources = StoredSources::new(&trial.repo, &trial.tree)?;
    let is_production = |path: &&str| language.sort(project, path, &sources) == Sort::Production;
    let new = antipattern::new_code_in(case);
    let paths: Vec<String> = new.into_iter().filter(is_production).map(str::to_owned).collect();
    if paths.is_empty() {
        return Ok(Err("the change brings no production code".to_owned()));
    }
    let measured = trial.elsewhere(&trial.tree, &Overrides::new(), |runner| Ok(runner.coverage(&paths)?))?;
    let coverage = match measured {
        Ok(coverage) => coverage,
        Err(why) => return Ok(Err(why)),
    };
    let mut added = trial.repo.added_lines(&trial.base, &trial.tree)?;
    for (path, lines) in &mut added {
        lines.retain(|line| !is_idle(&coverage, path, *line) || !language.is_test_line(project, path, *line, &sources));
    }
    Ok(Ok(Measurement { coverage, added }))
}

/// Whether a line holds code that no test executes.
fn is_idle(coverage: &Coverage, path: &str, line: usize) -> bool {
    coverage.of(path).is_some_and(|lines| lines.get(&line) == Some(&false))
}

/// Whether the ledger saw a test fail as it is now: a changed test voids its red.
fn was_red(session: &Session, test: &TestFacts) -> bool {
    let red = session.tests().get(&test.id).and_then(|known| known.red.as_ref());
    red.is_some_and(|red| red.digest.is_none_or(|digest| digest == test.digest))
}

#[derive(Default)]
struct Facts {
    signs: Signs,
    reds: Vec<TestSigns>,
    phase: Option<Phase>,
    target: Option<TestId>,
    never_red: BTreeSet<TestId>,
    since: BTreeMap<Place, String>,
    measurement: Option<Measurement>,
    unknown: Option<String>,
}

impl Facts {
    fn case<'a>(&'a self, change: &'a Change) -> Case<'a> {
        Case {
            change,
            signs: &self.signs,
            reds: &self.reds,
            phase: self.phase,
            target: self.target.as_ref(),
            never_red: &self.never_red,
            since: &self.since,
            measurement: self.measurement.as_ref(),
        }
    }
}

/// What the commit that is judged says it is; nothing for work that is not committed.
fn declared(repo: &Repo, which: &Which) -> Result<(Option<Phase>, Option<TestId>), CliError> {
    let commit = if let Some(rev) = &which.at {
        repo.resolve(rev)?
    } else {
        let (head, tree) = (repo.head()?, repo.tree_id()?);
        head.commit.filter(|_| head.tree == tree)
    };
    let message = commit.map(|commit| repo.message(&commit)).transpose()?;
    Ok(message.map_or((None, None), |message| antipattern::declared(&message)))
}

/// What the changed files look like; for a refactor all files, because any test may hold what it changed.
fn signs(trial: &Trial<'_>, change: &Change, phase: Option<Phase>) -> Result<Signs, CliError> {
    let (language, project) = trial.language();
    let (_, subject) = trial.stored()?;
    let needs_all = phase == Some(Phase::Refactor) && !change.production.is_empty();
    let paths = if needs_all { subject.files().to_vec() } else { trial.changed_paths()? };
    Ok(language.signs(project, &subject, &paths))
}

/// The tests that the ledger saw red on the base, or sees red now.
fn known_reds(trial: &Trial<'_>) -> Result<Vec<TestSigns>, CliError> {
    let session = trial.session();
    let on_base =
        session.tests().iter().filter(|(_, known)| known.red.as_ref().is_some_and(|red| red.tree == trial.base));
    let ids: BTreeSet<TestId> = session.red().chain(on_base.map(|(id, _)| id)).cloned().collect();
    signs_of(trial, &ids)
}

/// The tests that fail for a valid cause, those included that a missing symbol takes down.
fn failing(report: &Report) -> BTreeSet<TestId> {
    let all = tdd_core::judge::baseline_of(report);
    let is_red = |cause: &Option<Cause>| cause.is_some_and(Cause::is_valid_red);
    all.into_iter().filter(|(_, cause)| is_red(cause)).map(|(id, _)| id).collect()
}

/// What these tests look like in the tree that is judged.
fn signs_of(trial: &Trial<'_>, ids: &BTreeSet<TestId>) -> Result<Vec<TestSigns>, CliError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let (language, project) = trial.language();
    let subject = StoredSources::new(&trial.repo, &trial.tree)?;
    let found = ids.iter().filter_map(|id| language.find_test(id, &subject));
    let places: BTreeSet<Place> = found.map(|(path, test)| Place::new(&path, test.line)).collect();
    let paths: BTreeSet<String> = places.iter().map(|place| place.path.clone()).collect();
    let signs = language.signs(project, &subject, &paths.into_iter().collect::<Vec<_>>());
    Ok(signs.tests.into_iter().filter(|test| places.contains(&test.at)).collect())
}

fn failure(report: &Report) -> Option<String> {
    report.environment_failure().map(|obstacle| format!("{}: {}", obstacle.subject, obstacle.cause))
}

/// With which commits the items came that the change's tests ask about.
fn since(trial: &Trial<'_>, which: &Which, signs: &Signs) -> Result<BTreeMap<Place, String>, CliError> {
    let Some(start) = base_commit(&trial.repo, which)? else { return Ok(BTreeMap::new()) };
    let mut found = BTreeMap::new();
    for (place, name) in signs.tests.iter().flat_map(|test| &test.asks) {
        let Ok(path) = GitPath::new(&place.path) else { continue };
        let holds = |text: &str| text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name);
        if let Some(commit) = trial.repo.came_with(&start, &path, MAX_COMMITS, holds)? {
            found.insert(place.clone(), commit.0.chars().take(10).collect());
        }
    }
    Ok(found)
}

fn base_commit(repo: &Repo, which: &Which) -> Result<Option<CommitId>, CliError> {
    match (&which.base, &which.at) {
        (Some(rev), _) => Ok(repo.resolve(rev)?),
        (None, Some(rev)) => match repo.resolve(rev)? {
            Some(commit) => Ok(repo.first_parent(&commit)?),
            None => Ok(None),
        },
        (None, None) => Ok(repo.head()?.commit),
    }
}
