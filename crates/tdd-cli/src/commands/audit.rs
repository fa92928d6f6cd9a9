//! `audit`: replays a history in clean copies, and says of each commit what it claimed and what was seen.

use std::fs;
use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use clap::Args;
use serde::Serialize;
use tdd_core::audit::{self, Claim, Finding};
use tdd_core::change::Change;
use tdd_core::commit::Mode;
use tdd_core::cycle::Phase;
use tdd_core::digest::CommitId;
use tdd_core::judge::{self, Ruling};
use tdd_core::report::Cause;
use tdd_core::test_id::TestId;
use tdd_exec::git::Repo;
use tdd_exec::state::{StateDir, StateError};

use crate::commands::run::count;
use crate::context::Context;
use crate::error::CliError;
use crate::gates::{self, Judged};
use crate::output::{BAD, BOLD, DIM, GOOD, WARN, paint, print_line};
use crate::project;
use crate::recording::Recording;
use crate::trial::{Seen, Trial};

/// Replay a history: was every red red, every green green, and no test loosened?
///
/// Works on any history. A commit claims its phase by a `TDD-Phase` or `GSD-Phase` trailer; of one without a
/// claim it is only asked that it loosens no test. Exit code 0 if all holds, 1 if a commit breaks the law, 3 if
/// it could not be found out.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  tdd-cli audit                     everything up to HEAD\n  tdd-cli audit main..feature       the commits of a branch\n  tdd-cli audit HEAD~5.. --format json"
)]
pub struct Audit {
    /// `A..B`, `A..` or `B`; by default all of HEAD's first-parent history
    #[arg(value_name = "RANGE")]
    range: Option<String>,
    /// How many commits are looked at at the same time; by default one for each core
    #[arg(long, value_name = "N", value_parser = count::<NonZeroUsize>)]
    jobs: Option<NonZeroUsize>,
}

/// The whole audit, for programs.
#[derive(Debug, Serialize)]
struct Document {
    commits: Vec<Audited>,
    holds: usize,
    broken: usize,
    /// It could not be found out.
    unknown: usize,
}

/// One commit.
#[derive(Clone, Debug, Serialize)]
struct Audited {
    commit: CommitId,
    subject: String,
    claimed: Option<Phase>,
    test_id: Option<TestId>,
    #[serde(flatten)]
    finding: Finding,
}

pub fn run(args: &Audit, context: &Context) -> Result<ExitCode, CliError> {
    let repo = project::repository(&context.global)?;
    let commits = commits(&repo, args.range.as_deref())?;
    let state = StateDir::ensure(repo.root())?;
    // Its lock keeps a second audit out of our copies.
    let _lock = Recording::exclusive(&state, context.output)?;
    let jobs = args.jobs.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let audited = replay(&commits, jobs.min(commits.len().max(1)), &state, context)?;
    let count = |wanted: fn(&Finding) -> bool| audited.iter().filter(|it| wanted(&it.finding)).count();
    let document = Document {
        holds: count(Finding::holds),
        broken: count(Finding::is_broken),
        unknown: count(Finding::is_unknown),
        commits: audited,
    };
    if context.output.is_json() {
        context.output.result(&document, String::new)?;
    } else {
        print_line(&document.summary())?;
    }
    Ok(ExitCode::from(match (document.broken, document.unknown) {
        (0, 0) => 0,
        (0, _) => 3,
        (_, _) => 1,
    }))
}

/// The commits of a range along the first parents, oldest first.
fn commits(repo: &Repo, range: Option<&str>) -> Result<Vec<CommitId>, CliError> {
    let (from, to) = match range.map(|range| range.split_once("..").map_or((None, range), |(a, b)| (Some(a), b))) {
        None => (None, "HEAD"),
        Some((from, to)) => (from.filter(|rev| !rev.is_empty()), if to.is_empty() { "HEAD" } else { to }),
    };
    let from = from.map(|rev| project::commit(repo, rev)).transpose()?;
    let mut next = Some(project::commit(repo, to)?);
    let mut commits = Vec::new();
    while let Some(commit) = next.filter(|commit| Some(commit) != from.as_ref()) {
        next = repo.first_parent(&commit)?;
        commits.push(commit);
    }
    commits.reverse();
    Ok(commits)
}

/// Looks at the commits, several at a time, and shows each in its order.
fn replay(commits: &[CommitId], jobs: usize, state: &StateDir, context: &Context) -> Result<Vec<Audited>, CliError> {
    let (taken, seen) = (AtomicUsize::new(0), Seen::default());
    let done: Mutex<Vec<Option<Result<Audited, CliError>>>> = Mutex::new(commits.iter().map(|_| None).collect());
    let shown = Mutex::new(0);
    let progress = context.output.progress();
    progress.say(&format!("auditing {} commits", commits.len()));
    thread::scope(|scope| {
        for job in 0..jobs {
            let (taken, seen, done, shown) = (&taken, &seen, &done, &shown);
            scope.spawn(move || {
                loop {
                    let at = taken.fetch_add(1, Ordering::SeqCst);
                    let Some(commit) = commits.get(at) else { break };
                    let audited = one(commit, job, state, seen, context);
                    put(done, at, audited);
                    show_in_order(done, shown, context);
                }
            });
        }
    });
    drop(progress);
    let done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    done.into_iter().flatten().collect()
}

fn put(done: &Mutex<Vec<Option<Result<Audited, CliError>>>>, at: usize, audited: Result<Audited, CliError>) {
    let mut done = done.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(place) = done.get_mut(at) {
        *place = Some(audited);
    }
}

/// Shows what is there up to the first commit that is still being looked at.
fn show_in_order(done: &Mutex<Vec<Option<Result<Audited, CliError>>>>, shown: &Mutex<usize>, context: &Context) {
    if context.output.is_json() || context.output.is_quiet() {
        return;
    }
    let mut shown = shown.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let done = done.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    while let Some(Some(Ok(audited))) = done.get(*shown) {
        *shown += 1;
        // A reader who went away is told at the end.
        let _printed = print_line(&audited.text());
    }
}

/// One commit before the judge.
fn one(commit: &CommitId, job: usize, state: &StateDir, seen: &Seen, context: &Context) -> Result<Audited, CliError> {
    if context.cancel.is_cancelled() {
        return Err(CliError::Interrupted);
    }
    let folder = state.path().join("audit").join(job.to_string());
    fs::create_dir_all(&folder).map_err(|source| StateError::Io { action: "create", path: folder.clone(), source })?;
    let repo = project::repository(&context.global)?;
    let message = repo.message(commit)?;
    let subject = message.lines().next().unwrap_or_default().to_owned();
    let claim = Claim::of_message(&message);
    let finding = if repo.is_cut_off(commit)? {
        let reason = "what came before it is not in this shallow clone: `git fetch --unshallow` brings it";
        Finding::Unknown { reason: reason.to_owned() }
    } else {
        match Trial::of_commit(context, commit, StateDir::ensure(&folder)?, seen.clone())? {
            None => Finding::nothing("there is no project in it"),
            Some(mut trial) => finding(&mut trial, &claim)?,
        }
    };
    Ok(Audited { commit: commit.clone(), subject, claimed: claim.phase, test_id: claim.test, finding })
}

fn finding(trial: &mut Trial<'_>, claim: &Claim) -> Result<Finding, CliError> {
    let change = trial.change()?;
    let Some(phase) = claim.phase else {
        return Ok(audit::unclaimed(&change, claim));
    };
    let named: Vec<TestId> = claim.test.iter().cloned().collect();
    let judged = match phase {
        Phase::Red => {
            let new = || change.new_demands().map(|test| test.id.clone()).collect();
            let targets = if named.is_empty() { new() } else { named };
            gates::red(trial, &change, &targets)?
        }
        Phase::Green => {
            let targets = if named.is_empty() { turned_green(trial, &change)? } else { named };
            gates::green(trial, &change, &targets)?
        }
        Phase::Refactor if claim.mode == Some(Mode::Refactor) => gates::task(trial, &change)?,
        Phase::Refactor => gates::refactor(trial, &change)?,
        Phase::RethinkTest => match &claim.test {
            Some(test) => gates::rethink(trial, &change, test, claim.mode == Some(Mode::Mend))?,
            None => return Ok(Finding::broken("it names no test, so nobody can say what was thought over")),
        },
    };
    let Judged { rulings, .. } = judged;
    let worst = rulings.into_iter().max_by_key(|ruling| matches!(ruling, Ruling::Refused(_)));
    Ok(worst.map_or_else(|| Finding::nothing("there was nothing to judge"), |ruling| audit::judged(&ruling)))
}

/// Where a green names no test: those that were red before it and pass now, or that came with it.
fn turned_green(trial: &mut Trial<'_>, change: &Change) -> Result<Vec<TestId>, CliError> {
    let new: Vec<TestId> = change.new_demands().map(|test| test.id.clone()).collect();
    if !new.is_empty() {
        return Ok(new);
    }
    let before = trial.baseline()?;
    let after = judge::baseline_of(&trial.run()?.report);
    let was_red = before.into_iter().filter(|(_, cause)| cause.is_some_and(Cause::is_valid_red));
    Ok(was_red.map(|(id, _)| id).filter(|id| after.get(id) == Some(&None)).collect())
}

impl Audited {
    fn text(&self) -> String {
        let claimed = self.claimed.map_or("-", Phase::name);
        let (mark, what) = match &self.finding {
            Finding::Holds { reason } => (paint(GOOD, "✓"), reason.clone()),
            Finding::Nothing { reason } => (paint(DIM, "·"), reason.clone()),
            Finding::Broken { rule, reason } => {
                let rule = rule.map(|rule| format!("{} ", paint(BOLD, rule))).unwrap_or_default();
                (paint(BAD, "✗"), format!("{rule}{reason}"))
            }
            Finding::Unknown { reason } => (paint(WARN, "?"), reason.clone()),
        };
        let head = format!("{mark} {} {claimed:<12} {}", paint(DIM, self.commit.short()), self.subject);
        format!("{head}\n    {what}")
    }
}

impl Document {
    fn summary(&self) -> String {
        let all = match self.commits.len() {
            1 => "1 commit".to_owned(),
            all => format!("{all} commits"),
        };
        let broken = format!("{} broken", self.broken);
        let broken = if self.broken == 0 { broken } else { paint(BAD, broken) };
        let unknown = if self.unknown == 0 { String::new() } else { format!(", {} not found out", self.unknown) };
        format!("{all}: {} hold, {broken}{unknown}", self.holds)
    }
}
