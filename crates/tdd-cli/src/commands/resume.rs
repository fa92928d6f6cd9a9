//! `resume`: lets a paused machine continue, with or without the blocked test, or unblocks a test.

use std::process::ExitCode;

use clap::Args;
use serde::Serialize;
use tdd_core::digest::CommitId;
use tdd_core::event::{Committed, Event, PersonFate, Resumed};
use tdd_core::machine_state::MachineState;
use tdd_core::seam::Ledger;
use tdd_core::test_id::TestId;
use tdd_exec::one_test::{self, EditReason, OneTest, Outcome, TestFate};
use tdd_exec::project;
use tdd_exec::state::StateDir;
use tdd_exec::workshop::{ProjectWorkshop, Which};
use tdd_lang::language::Skip;

use crate::context::Context;
use crate::error::CliError;
use crate::output::{BOLD, paint};
use crate::person::{self, PersonError};
use crate::verdict::Verdicts;

/// Continue after a pause, with the blocked test or without it
///
/// With `--skip`, the test is marked as skipped with a TODO, in a commit of its own; it need not pass until it is
/// unblocked.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  tdd-cli resume           try again\n  tdd-cli resume --skip    leave the blocked test aside\n  tdd-cli resume --unblock tests/game.rs::a_spare_counts_double"
)]
pub struct Resume {
    /// Mark the blocked test as skipped
    #[arg(long, conflicts_with = "unblock")]
    skip: bool,
    /// Remove the marker again, so that the test must pass
    #[arg(long, value_name = "TEST")]
    unblock: Option<String>,
}

/// The JSON document.
#[derive(Debug, Default, Serialize)]
struct Document {
    /// Whether the machine was paused, or a test was unblocked.
    resumed: bool,
    /// Why the machine was paused.
    was_paused: Option<String>,
    skipped: Option<TestId>,
    unblocked: Option<TestId>,
    commit: Option<CommitId>,
}

pub fn run(args: &Resume, context: &Context) -> Result<ExitCode, CliError> {
    let done = match (&args.unblock, args.skip) {
        (Some(test), _) => unblock(test, context),
        (None, true) => skip(context),
        (None, false) => try_again(context),
    };
    match done? {
        Ok(document) => {
            context.output.result(&document, || document.text());
            Ok(ExitCode::SUCCESS)
        }
        Err(verdicts) => Ok(verdicts.show(context.output)),
    }
}

/// What was done, or the verdict that refused it.
type Done = Result<Document, Box<Verdicts>>;

fn try_again(context: &Context) -> Result<Done, CliError> {
    let repo = project::repository(&context.user_paths)?;
    let mut recording = context.recording(&StateDir::ensure(repo.root())?)?;
    let Some(pause) = recording.session().machine_state().pause().cloned() else { return Ok(Ok(Document::default())) };
    recording.append(&[Event::Resumed(Resumed { skipped: None, unblocked: None })])?;
    Ok(Ok(Document { resumed: true, was_paused: Some(pause.reason), ..Document::default() }))
}

fn skip(context: &Context) -> Result<Done, CliError> {
    let workshop = context.workshop(&Which::default())?;
    let state = workshop.recording.session().machine_state().clone();
    let Some(pause) = state.pause() else { return Ok(Ok(Document::default())) };
    let target = target(&workshop, &state)?.ok_or_else(|| PersonError::NothingBlocked(pause.reason.clone()))?;
    let reason = state.blocked().get(&target).unwrap_or(&pause.reason);
    let mut test = OneTest::new(workshop, &target)?;
    let committed = match mark(&mut test, reason)? {
        Outcome::Done(committed) => committed,
        Outcome::Refused(refusal, report) => {
            return Ok(Err(Box::new(Verdicts::refused(&test.workshop, *refusal, &report))));
        }
    };
    let (was_paused, commit) = (Some(pause.reason.clone()), Some(committed.commit));
    Ok(Ok(Document { resumed: true, was_paused, skipped: Some(target), commit, unblocked: None }))
}

/// The test that the pause is about: the one it names, a blocked one, or the target of the current step. Skipped tests
/// are ignored.
fn target(workshop: &ProjectWorkshop, state: &MachineState) -> Result<Option<TestId>, CliError> {
    let named = state.pause().and_then(|pause| pause.reason.strip_prefix("td-stuck: "));
    let named = named.and_then(|name| TestId::parse(name).ok());
    let of_step = state.step().map(|step| step.targets.clone()).unwrap_or_default();
    for id in named.iter().chain(state.blocked().keys()).chain(&of_step) {
        if one_test::find(workshop, id)?.is_some_and(|(_, item)| item.ignored.is_none()) {
            return Ok(Some(id.clone()));
        }
    }
    Ok(None)
}

/// Marks the test as skipped; if it does not compile, keeps it from being built.
fn mark(test: &mut OneTest, reason: &str) -> Result<Outcome, CliError> {
    let summary = format!("skip {}", test.id.short_name());
    let why = EditReason { summary: &summary, reason, fate: PersonFate::Skipped };
    let mut outcome = None;
    let skips: &[Skip] =
        if test.is_built()? { &[Skip::FromRunning, Skip::FromBuilding] } else { &[Skip::FromBuilding] };
    for &skip in skips {
        let content = test.workshop.site.language.skip(&test.path, &test.source, &test.item, reason, skip);
        let content = content.ok_or_else(|| PersonError::Inseparable(test.id.clone()))?;
        match test.apply(content, TestFate::Skipped(skip), &why)? {
            done @ Outcome::Done(_) => return Ok(done),
            refused @ Outcome::Refused(..) => outcome = Some(refused),
        }
    }
    outcome.ok_or_else(|| PersonError::Inseparable(test.id.clone()).into())
}

fn unblock(named: &str, context: &Context) -> Result<Done, CliError> {
    let workshop = context.workshop(&Which::default())?;
    let id = person::test(context, workshop.site.repo.root(), named)?;
    let state = workshop.recording.session().machine_state().clone();
    let was_paused = state.pause().map(|pause| pause.reason.clone());
    let event = Event::Resumed(Resumed { skipped: None, unblocked: Some(id.clone()) });
    let commit = match unmarked(&workshop, &id)? {
        Some(unmarked) => {
            let mut test = OneTest::new(workshop, &id)?;
            let summary = format!("unblock {}", id.short_name());
            let why = EditReason { summary: &summary, reason: "a person unblocked it", fate: PersonFate::Unblocked };
            let committed: Committed = match test.apply(unmarked, TestFate::Free, &why)? {
                Outcome::Done(committed) => committed,
                Outcome::Refused(refusal, report) => {
                    return Ok(Err(Box::new(Verdicts::refused(&test.workshop, *refusal, &report))));
                }
            };
            Some(committed.commit)
        }
        None if state.blocked().contains_key(&id) => {
            let mut workshop = workshop;
            workshop.recording.append(&[event])?;
            None
        }
        None => return Err(PersonError::NotBlocked(id).into()),
    };
    Ok(Ok(Document { resumed: true, was_paused, unblocked: Some(id), commit, skipped: None }))
}

/// The file of a test without our skip marker, if it has one.
fn unmarked(workshop: &ProjectWorkshop, id: &TestId) -> Result<Option<String>, CliError> {
    let Some((path, item)) = one_test::find(workshop, id)? else { return Ok(None) };
    let source = one_test::source(workshop, &path)?.unwrap_or_default();
    Ok(workshop.site.language.unskip(&path, &source, &item))
}

impl Document {
    fn text(&self) -> String {
        if !self.resumed {
            return "nothing is paused\n".to_owned();
        }
        let mut text = String::new();
        if let Some(test) = &self.skipped {
            text += &format!("{test} is skipped until `tdd-cli resume --unblock {test}`\n");
        }
        if let Some(test) = &self.unblocked {
            text += &format!("{test} counts again\n");
        }
        if let Some(commit) = &self.commit {
            text += &format!("committed {}\n", paint(BOLD, commit.short()));
        }
        if let Some(reason) = &self.was_paused {
            text += &format!("the pause is over: {reason}\n");
        }
        text
    }
}
