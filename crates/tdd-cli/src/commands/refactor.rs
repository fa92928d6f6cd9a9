//! `refactor`: begins and ends refactor mode, a person's work without a red test, which is verified or discarded.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use tdd_core::digest::TreeId;
use tdd_core::event::{Event, RefactorBegin, RefactorEnd};
use tdd_core::judge::Verdict;
use tdd_core::law::Kind;
use tdd_core::pipeline;
use tdd_core::rule::Refusal;
use tdd_core::seam::{Clock, Ledger, Workshop};
use tdd_exec::clock::WallClock;
use tdd_exec::error::WorkError;
use tdd_exec::git::{ChangeKind, GitPath, Repo, Signature};
use tdd_exec::project::{self, Workbench};
use tdd_exec::state::StateDir;
use tdd_exec::workshop::Which;

use crate::context::Context;
use crate::error::CliError;
use crate::output::{BOLD, DIM, GOOD, paint};
use crate::person::{self, PersonError};
use crate::verdict::Verdicts;

/// Begin or end refactor mode: a person's own work without a red test
///
/// In refactor mode production, tests and configuration may change together. The result is kept only if it is verified.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  tdd-cli refactor begin --reason \"split the parser\"\n  tdd-cli refactor end              verify, and keep it\n  tdd-cli refactor end --discard    back to where it began"
)]
pub struct Refactor {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Begin(Begin),
    End(End),
}

/// Begin refactor mode with the current working tree
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tdd-cli refactor begin --reason \"split the parser\"")]
struct Begin {
    /// What it is for
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

/// End refactor mode: verify the work, which is then yours to commit
///
/// `ci.verify_cmd` must pass; without one, no test may be lost, every test must have the same result as before, and the
/// check command must pass. If that fails, nothing is changed and refactor mode stays on.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  tdd-cli refactor end\n  tdd-cli refactor end --discard")]
struct End {
    /// Put everything back to where it began; the work is kept under `refs/tdd/attempts/`
    #[arg(long)]
    discard: bool,
}

pub fn run(args: &Refactor, context: &Context) -> Result<ExitCode, CliError> {
    match &args.what {
        What::Begin(args) => begin(args, context),
        What::End(End { discard: false }) => end(context),
        What::End(End { discard: true }) => discard(context),
    }
}

fn begin(args: &Begin, context: &Context) -> Result<ExitCode, CliError> {
    let reason = args.reason.as_deref().map(person::reason).transpose()?;
    // Without a project nothing could be verified, so `--discard` would be the only way out.
    let repo = Workbench::open(&context.user_paths)?.repo;
    let author = author(&repo, context)?;
    let mut recording = context.recording(&StateDir::ensure(repo.root())?)?;
    let state = recording.session().machine_state();
    if let Some(on) = state.refactor() {
        return Err(PersonError::RefactorModeOn { reason: on.reason.clone() }.into());
    }
    if let Some(step) = state.step().filter(|step| step.open.is_some()) {
        return Err(PersonError::StepCutShort(step.step).into());
    }
    let (head, base) = (repo.head()?, repo.tree_id()?);
    if base != head.tree {
        // Git would garbage-collect this tree without a ref.
        repo.keep_attempt(OUTSIDE_OF_STEPS, &base, head.commit.as_ref(), "refactor mode begins here\n", &author)?;
    }
    let begun = RefactorBegin { base, head: head.commit, reason, mark: None };
    recording.append(&[Event::RefactorBegin(begun.clone())])?;
    context.output.result(&begun, || begun_text(&begun));
    Ok(ExitCode::SUCCESS)
}

/// The step and attempt number for trees kept outside of any step.
const OUTSIDE_OF_STEPS: (u32, u32) = (0, 0);

fn begun_text(begun: &RefactorBegin) -> String {
    let reason = begun.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    format!("{}{reason}\nnext: change what you like, then `tdd-cli refactor end`\n", paint(BOLD, "refactor mode is on"))
}

fn end(context: &Context) -> Result<ExitCode, CliError> {
    let mut workshop = context.workshop(&Which::default()).map_err(|error| match error {
        CliError::Work(WorkError::NoProject(_) | WorkError::OnlyMakefile { .. }) => PersonError::ProjectGone.into(),
        other => other,
    })?;
    let begun = workshop.session().machine_state().refactor().cloned().ok_or(PersonError::RefactorModeOff)?;
    workshop.span.base = begun.base;
    let mut judged = pipeline::judge(&mut workshop, Kind::RefactorMode, &[], 0)?;
    judged.verdicts = judged.verdicts.into_iter().map(with_both_ways).collect();
    let verdicts = Verdicts::of(&workshop, &judged);
    if verdicts.hold() {
        let mut events: Vec<Event> = judged.change.renames().map(Event::TestRenamed).collect();
        let tree = workshop.span.tree.clone();
        let by_command = workshop.verifies_by_command(Kind::RefactorMode);
        let verified_by = match &judged.check {
            Some(check) if by_command => check.outcome.ok.then(|| check.command.clone()),
            Some(_) | None => Some(workshop.site.test_command()),
        };
        events.push(Event::RefactorEnd(RefactorEnd { kept: true, tree, verified_by, kept_as: None }));
        workshop.recording.append(&events)?;
    }
    let code = verdicts.show(context.output);
    if verdicts.hold() {
        context.output.note("refactor mode is off; `tdd-cli commit` commits it with its trailers");
    }
    Ok(code)
}

/// Adds both ways out to a refusal: fix and end, or discard.
fn with_both_ways(verdict: Verdict) -> Verdict {
    match verdict {
        Verdict::Holds(_) => verdict,
        Verdict::Refused(refusal) => {
            let next = format!(
                "{}, then `tdd-cli refactor end` again; or `tdd-cli refactor end --discard` to go back",
                refusal.next
            );
            Verdict::Refused(Refusal { next, ..refusal })
        }
    }
}

fn discard(context: &Context) -> Result<ExitCode, CliError> {
    let repo = project::repository(&context.user_paths)?;
    let author = author(&repo, context)?;
    let mut recording = context.recording(&StateDir::ensure(repo.root())?)?;
    let RefactorBegin { base, head: then, .. } =
        recording.session().machine_state().refactor().cloned().ok_or(PersonError::RefactorModeOff)?;
    let head = repo.head()?;
    if head.commit != then {
        return Err(PersonError::head_moved(then.as_ref(), head.commit.as_ref()).into());
    }
    repo.check_ready_to_commit()?;
    let tree = repo.tree_id()?;
    let mut kept_as = None;
    if tree != base {
        let message = "what refactor mode was left with\n";
        kept_as = Some(repo.keep_attempt(OUTSIDE_OF_STEPS, &tree, then.as_ref(), message, &author)?);
        // If interrupted here, the next `--discard` completes the restore.
        repo.restore(&differing(&repo, &base, &tree)?, &base)?;
    }
    let ended = RefactorEnd { kept: false, tree: repo.tree_id()?, verified_by: None, kept_as };
    recording.append(&[Event::RefactorEnd(ended.clone())])?;
    context.output.result(&ended, || discarded_text(&ended));
    Ok(ExitCode::SUCCESS)
}

/// The paths that differ between two trees.
fn differing(repo: &Repo, base: &TreeId, tree: &TreeId) -> Result<Vec<GitPath>, CliError> {
    let mut paths = Vec::new();
    for change in repo.diff_trees(base, tree)? {
        match change.kind {
            ChangeKind::Renamed { from } => paths.push(from),
            ChangeKind::Added | ChangeKind::Modified | ChangeKind::Deleted => {}
        }
        paths.push(change.path);
    }
    Ok(paths)
}

fn discarded_text(ended: &RefactorEnd) -> String {
    let head = paint(GOOD, "refactor mode is off, and everything is as it was when it began");
    match &ended.kept_as {
        Some(name) => format!("{head}\nthe work is kept as {} {}\n", name, paint(DIM, "(`git show` it)")),
        None => format!("{head}\n"),
    }
}

/// The author of kept trees.
fn author(repo: &Repo, context: &Context) -> Result<Signature, CliError> {
    let author = project::configuration(&context.user_paths, repo.root())?.config.commit;
    let time = i64::try_from(WallClock.now_ms() / 1000).unwrap_or(0);
    Ok(Signature { name: author.author_name, email: author.author_email, time })
}
