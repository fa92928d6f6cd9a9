//! `audit`: replays a history in clean copies and compares each commit's claim with its test results.

use std::fs;
use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use clap::Args;
use serde::Serialize;
use tdd_core::audit::{Claim, Finding};
use tdd_core::cycle::Phase;
use tdd_core::digest::CommitId;
use tdd_core::test_id::TestId;
use tdd_exec::git::Repo;
use tdd_exec::project;
use tdd_exec::state::{StateDir, StateError};
use tdd_exec::workshop::{ProjectWorkshop, ReportCache};

use crate::commands::run::count;
use crate::context::Context;
use crate::error::CliError;
use crate::output::{BAD, BOLD, DIM, GOOD, WARN, paint, print_line};
use crate::progress::Progress;

/// Replay a history: was every red red, every green green, and no test loosened?
///
/// Works on any history. A commit claims its phase by a `TDD-Phase` or `GSD-Phase` trailer. A commit without a claim
/// is `unclaimed`: it must not loosen a test, and `--infer` finds out whether its new tests failed on the code before
/// it. Exceptions and refactor mode count where the commit's trailers name them.
/// Exit code 0 if nothing is broken, 1 if a commit breaks a rule, 3 if there is no verdict.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  tdd-cli audit                     everything up to HEAD\n  tdd-cli audit main..feature       the commits of a branch\n  tdd-cli audit --infer HEAD~30..   commits that nobody wrote trailers for\n  tdd-cli audit HEAD~5.. --format json"
)]
pub struct Audit {
    /// `A..B`, `A..` or `B`; by default all of HEAD's first-parent history
    #[arg(value_name = "RANGE")]
    range: Option<String>,
    /// How many commits to audit in parallel; by default one per core
    #[arg(long, value_name = "N", value_parser = count::<NonZeroUsize>)]
    jobs: Option<NonZeroUsize>,
    /// Judge commits without a claim by what they did
    #[arg(long)]
    infer: bool,
}

/// The JSON document of an audit.
#[derive(Debug, Serialize)]
struct Document {
    commits: Vec<Audited>,
    holds: usize,
    broken: usize,
    /// Commits without a claim.
    unclaimed: usize,
    /// Commits that change neither code nor tests.
    nothing: usize,
    /// Commits that could not be judged.
    unknown: usize,
}

/// The result for one commit.
#[derive(Clone, Debug, Serialize)]
struct Audited {
    commit: CommitId,
    subject: String,
    claimed: Option<Phase>,
    /// The phase inferred from the change, if the commit claims none and `--infer` is set.
    inferred: Option<Phase>,
    test_id: Option<TestId>,
    #[serde(flatten)]
    finding: Finding,
}

pub fn run(args: &Audit, context: &Context) -> Result<ExitCode, CliError> {
    let repo = project::repository(&context.user_paths)?;
    let commits = commits(&repo, args.range.as_deref())?;
    let state = StateDir::ensure(repo.root())?;
    // The lock keeps a second audit out of the scratch copies.
    let _lock = context.recording(&state)?;
    let jobs = args.jobs.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let audited = replay(&commits, jobs.min(commits.len().max(1)), args.infer, &state, context)?;
    let count = |wanted: fn(&Finding) -> bool| audited.iter().filter(|it| wanted(&it.finding)).count();
    let document = Document {
        holds: count(Finding::holds),
        broken: count(Finding::is_broken),
        unclaimed: count(Finding::is_unclaimed),
        nothing: count(Finding::is_nothing),
        unknown: count(Finding::is_unknown),
        commits: audited,
    };
    context.output.result(&document, || document.summary());
    Ok(ExitCode::from(match (document.broken, document.unknown) {
        (0, 0) => 0,
        (0, _) => 3,
        (_, _) => 1,
    }))
}

/// The first-parent commits of a range, oldest first.
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

/// Judges commits in parallel and prints them in order.
fn replay(
    commits: &[CommitId],
    jobs: usize,
    infer: bool,
    state: &StateDir,
    context: &Context,
) -> Result<Vec<Audited>, CliError> {
    let (taken, seen) = (AtomicUsize::new(0), ReportCache::default());
    let done: Mutex<Vec<Option<Result<Audited, CliError>>>> = Mutex::new(commits.iter().map(|_| None).collect());
    let shown = Mutex::new(0);
    let progress = Progress::begin();
    progress.say(&format!("auditing {} commits", commits.len()));
    thread::scope(|scope| {
        for job in 0..jobs {
            let (taken, seen, done, shown) = (&taken, &seen, &done, &shown);
            scope.spawn(move || {
                loop {
                    let at = taken.fetch_add(1, Ordering::SeqCst);
                    let Some(commit) = commits.get(at) else { break };
                    let folder = state.path().join("audit").join(job.to_string());
                    let audited = one(commit, infer, &folder, seen, context);
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

/// Prints finished commits up to the first unfinished one.
fn show_in_order(done: &Mutex<Vec<Option<Result<Audited, CliError>>>>, shown: &Mutex<usize>, context: &Context) {
    if context.output.is_json() || context.output.is_quiet() {
        return;
    }
    let mut shown = shown.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let done = done.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    while let Some(Some(Ok(audited))) = done.get(*shown) {
        *shown += 1;
        // Write errors are reported when the program ends.
        let _printed = print_line(&audited.text());
    }
}

/// Judges one commit in a folder of its own.
fn one(
    commit: &CommitId,
    infer: bool,
    folder: &std::path::Path,
    seen: &ReportCache,
    context: &Context,
) -> Result<Audited, CliError> {
    if context.cancel.is_cancelled() {
        return Err(CliError::Interrupted);
    }
    fs::create_dir_all(folder).map_err(|source| StateError::Io {
        action: "create",
        path: folder.to_owned(),
        source,
    })?;
    let repo = project::repository(&context.user_paths)?;
    let message = repo.message(commit)?;
    let claim = Claim::of_message(&message);
    let mut audited = Audited {
        commit: commit.clone(),
        subject: message.lines().next().unwrap_or_default().to_owned(),
        claimed: claim.phase,
        inferred: None,
        test_id: claim.tests.first().cloned(),
        finding: Finding::nothing("it has no project"),
    };
    if repo.is_cut_off(commit)? {
        let reason = "this shallow clone lacks the history before it: run `git fetch --unshallow`";
        audited.finding = Finding::Unknown { reason: reason.to_owned() };
        return Ok(audited);
    }
    let change = (repo.first_parent(commit)?, commit);
    let (state, silent) = (StateDir::ensure(folder)?, context.silent_run_control());
    let workshop = ProjectWorkshop::of_history(&context.user_paths, &silent, change, state, seen.clone())?;
    if let Some(mut workshop) = workshop {
        workshop.granted.clone_from(&claim.overrides);
        if claim.phase.is_none() {
            (audited.inferred, audited.finding) = workshop.judge_unclaimed(&claim, infer)?;
        } else {
            audited.finding = workshop.judge_claim(&claim)?;
        }
    }
    Ok(audited)
}

impl Audited {
    fn text(&self) -> String {
        let claimed = match (self.claimed, self.inferred) {
            (Some(phase), _) => phase.name().to_owned(),
            (None, Some(phase)) => format!("({phase})"),
            (None, None) => "-".to_owned(),
        };
        let (mark, what) = match &self.finding {
            Finding::Holds { reason } => (paint(GOOD, "✓"), reason.clone()),
            Finding::Nothing { reason } => (paint(DIM, "·"), reason.clone()),
            Finding::Unclaimed { reason } => (paint(WARN, "-"), reason.clone()),
            Finding::Broken { rule, reason } => {
                let rule = rule.map(|rule| format!("{} ", paint(BOLD, rule))).unwrap_or_default();
                (paint(BAD, "✗"), format!("{rule}{reason}"))
            }
            Finding::Unknown { reason } => (paint(WARN, "?"), reason.clone()),
        };
        let head = format!("{mark} {} {claimed:<12} {}", paint(DIM, self.commit.short()), self.subject);
        format!("{head}\n    {}", what.replace('\n', "\n    "))
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
        let group = |count: usize, name: &str| if count == 0 { String::new() } else { format!(", {count} {name}") };
        let nothing = group(self.nothing, "without code or tests");
        let unclaimed = group(self.unclaimed, "unclaimed");
        let unknown = group(self.unknown, "without a verdict");
        format!("{all}: {} hold, {broken}{unclaimed}{nothing}{unknown}\n", self.holds)
    }
}
