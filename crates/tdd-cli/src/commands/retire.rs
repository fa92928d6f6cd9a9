//! `retire`: removes a test whose feature is gone, in a commit of its own.

use std::process::ExitCode;

use clap::Args;
use serde::Serialize;
use tdd_core::digest::CommitId;
use tdd_core::event::PersonFate;
use tdd_core::test_id::TestId;
use tdd_exec::one_test::{EditReason, OneTest, Outcome, TestFate};
use tdd_exec::workshop::Which;

use crate::context::Context;
use crate::error::CliError;
use crate::output::{BOLD, GOOD, paint};
use crate::person::{self, PersonError};
use crate::verdict::Verdicts;

/// Remove a test whose feature is gone, in a commit of its own
///
/// No model may remove a test; a person does, and says why. The test is removed from its file, all other tests must
/// have the same results as before, and exactly that file is committed.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  tdd-cli retire tests/game.rs::a_spare_counts_double --reason \"there are no spares any more\""
)]
pub struct Retire {
    /// The test's id
    #[arg(value_name = "TEST")]
    test: String,
    /// Why, for the commit and the ledger
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

/// The JSON document.
#[derive(Debug, Serialize)]
struct Document {
    test_id: TestId,
    reason: String,
    file: String,
    commit: CommitId,
}

pub fn run(args: &Retire, context: &Context) -> Result<ExitCode, CliError> {
    let reason = person::reason(&args.reason)?;
    let workshop = context.workshop(&Which::default())?;
    let id = person::test(context, workshop.site.repo.root(), &args.test)?;
    let mut test = OneTest::new(workshop, &id)?;
    let remains = test.workshop.site.language.without_test(&test.path, &test.source, &test.item);
    let remains = remains.ok_or_else(|| PersonError::Inseparable(id.clone()))?;
    let summary = format!("retire {}", id.short_name());
    let why = EditReason { summary: &summary, reason: &reason, fate: PersonFate::Retired };
    let committed = match test.apply(remains, TestFate::Gone, &why)? {
        Outcome::Done(committed) => committed,
        Outcome::Refused(refusal, report) => {
            let verdicts = Verdicts::refused(&test.workshop, *refusal, &report);
            return Ok(verdicts.show(context.output));
        }
    };
    let document = Document { test_id: id, reason, file: test.path, commit: committed.commit };
    context.output.result(&document, || document.text());
    Ok(ExitCode::SUCCESS)
}

impl Document {
    fn text(&self) -> String {
        let head = format!("{} {}", paint(GOOD, "retired"), self.test_id);
        format!("{head}\ncommitted {} ({})\n", paint(BOLD, self.commit.short()), self.file)
    }
}
