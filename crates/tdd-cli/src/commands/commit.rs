//! `commit`: judges the change and commits it with the trailers that `audit` reads.

use std::process::ExitCode;

use clap::Args;
use serde::Serialize;
use tdd_core::audit::Claim;
use tdd_core::commit::{self, CommitType, Mode, Trailers};
use tdd_core::cycle::Phase;
use tdd_core::digest::CommitId;
use tdd_core::event::{Committed, Event};
use tdd_core::law::Kind;
use tdd_core::seam::{Clock, Ledger, NewCommit, Vcs};
use tdd_core::test_id::TestId;
use tdd_exec::clock::WallClock;
use tdd_exec::workshop::{self, ProjectWorkshop};

use crate::commands::check::{self, Examined, What};
use crate::context::Context;
use crate::error::CliError;
use crate::output::{BOLD, GOOD, paint};
use crate::person::PersonError;

/// Check the change, and commit all of it with its trailers
///
/// The whole working tree is judged and committed, new files included and ignored ones left out; git's hooks are not
/// run. The commit's trailers say what was seen: `TDD-Phase`, `TDD-Test`, `TDD-Mode: refactor-mode` for work in
/// refactor mode, `TDD-Override: RULE: REASON` for a person's exception. `tdd-cli audit` replays them.
/// Exit code 1 if the change is at fault: then nothing is committed.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  tdd-cli commit -m \"test: pin the empty list\"\n  tdd-cli commit                                 a message from the phase and the test\n  tdd-cli commit --phase refactor -m \"refactor: split the parser\""
)]
pub struct Commit {
    /// The message; the trailers are added to it
    #[arg(short, long, value_name = "MSG")]
    message: Option<String>,
    /// Tests: ids, files or unique names; by default those that the change is for
    #[arg(value_name = "TEST")]
    tests: Vec<String>,
    #[command(flatten)]
    what: What,
}

/// The JSON document.
#[derive(Debug, Serialize)]
struct Document {
    commit: CommitId,
    subject: String,
    phase: Option<Phase>,
    tests: Vec<TestId>,
    files: Vec<String>,
}

pub fn run(args: &Commit, context: &Context) -> Result<ExitCode, CliError> {
    if let Some(message) = &args.message {
        refuse_message(message)?;
    }
    let mut workshop = context.gate_workshop(&workshop::Which::default())?;
    let head = workshop.site.repo.head()?;
    if head.tree == workshop.span.tree {
        return Err(PersonError::NothingToCommit.into());
    }
    workshop.site.repo.check_ready_to_commit()?;
    let examined = check::examine(&mut workshop, args.what.phase, &args.tests, &Claim::default())?;
    if examined.judged.refusal().is_some() {
        return Ok(check::show(&workshop, &examined, context));
    }
    let message = message(args, &examined);
    let document = make(&mut workshop, &examined, &message)?;
    context.output.result(&document, || document.text());
    Ok(ExitCode::SUCCESS)
}

/// Rejects an empty message, and trailers that only this command may write.
fn refuse_message(message: &str) -> Result<(), PersonError> {
    if message.trim().is_empty() {
        return Err(PersonError::NoMessage);
    }
    let trailers = Trailers::parse(message);
    let ours = ["TDD-Phase", "TDD-Test", "TDD-Mode", "TDD-Override", "TDD-Step"];
    match ours.into_iter().find(|key| trailers.all(key).next().is_some()) {
        Some(key) => Err(PersonError::OwnTrailer(key)),
        None => Ok(()),
    }
}

/// The user's message, or a generated header, with the trailers below.
fn message(args: &Commit, examined: &Examined) -> String {
    let words = args.message.clone().unwrap_or_else(|| header(examined));
    let phase = examined.kind.and_then(Kind::phase);
    let mode = (examined.kind == Some(Kind::RefactorMode)).then_some(Mode::RefactorMode);
    let trailers = commit::person_trailers(phase, &examined.targets, mode, &examined.judged.overridden);
    if trailers.is_empty() {
        return format!("{}\n", words.trim_end());
    }
    let has_trailers = Trailers::parse(&words) != Trailers::default();
    let gap = if has_trailers { "\n" } else { "\n\n" };
    format!("{}{gap}{trailers}", words.trim_end())
}

fn header(examined: &Examined) -> String {
    let test = examined.targets.first().map_or("the code", TestId::short_name);
    let (kind, summary) = match examined.kind.and_then(Kind::phase) {
        Some(Phase::Red) => (CommitType::Test, format!("pin {test}")),
        Some(Phase::Green) => (CommitType::Feat, format!("make {test} pass")),
        Some(Phase::Refactor) => (CommitType::Refactor, "improve the structure".to_owned()),
        Some(Phase::RethinkTest) => (CommitType::Test, format!("revise {test}")),
        None => (CommitType::Chore, "change documents".to_owned()),
    };
    commit::header(kind, None, &summary)
}

/// Commits exactly the judged tree and records it.
fn make(workshop: &mut ProjectWorkshop, examined: &Examined, message: &str) -> Result<Document, CliError> {
    let repo = &workshop.site.repo;
    let (head, tree) = (repo.head()?, workshop.span.tree.clone());
    let files = repo.changed(&head.tree, &tree)?;
    let author = repo.person().unwrap_or_else(|| workshop.site.config.commit.clone());
    let now_ms = WallClock.now_ms();
    let new = NewCommit { onto: &head, tree: &tree, paths: &files, message, author: &author, now_ms };
    let commit = Vcs::commit(repo, &new)?;
    let subject = message.lines().next().unwrap_or_default().to_owned();
    let committed = Committed { commit: commit.clone(), tree, subject: subject.clone(), files: files.clone() };
    let mut events: Vec<Event> = examined.judged.change.renames().map(Event::TestRenamed).collect();
    events.push(Event::Committed(committed));
    workshop.recording.append(&events)?;
    let phase = examined.kind.and_then(Kind::phase);
    Ok(Document { commit, subject, phase, tests: examined.targets.clone(), files })
}

impl Document {
    fn text(&self) -> String {
        let phase = self.phase.map_or_else(String::new, |phase| format!(" {phase}"));
        let head = paint(GOOD, format_args!("committed{phase}"));
        format!("{head} {} {}\n", paint(BOLD, self.commit.short()), self.subject)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_writes_our_trailers_by_hand() {
        assert!(refuse_message("feat: x\n\nTDD-Phase: green\n").is_err());
        assert!(refuse_message("feat: x\n\nTDD-Override: check-passes: no\n").is_err());
        assert!(matches!(refuse_message(" \n"), Err(PersonError::NoMessage)));
        assert!(refuse_message("feat: x\n\nSigned-off-by: me <me@here>\n").is_ok());
    }
}
