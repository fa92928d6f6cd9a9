//! A ruling as people and programs read it, with its exit code.

use std::process::ExitCode;

use serde::Serialize;
use tdd_core::digest::TreeId;
use tdd_core::judge::{Holding, Ruling};
use tdd_core::report::{Cause, Counts, Fault, Report};
use tdd_core::rule::Refusal;
use tdd_core::test_id::TestId;

use crate::context::Context;
use crate::error::CliError;
use crate::gates::Judged;
use crate::output::{BAD, BOLD, DIM, GOOD, paint};
use crate::trial::Trial;

/// Holds, or refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    /// The change keeps the law.
    Holds,
    /// It does not, or it could not be found out.
    Refused,
}

/// One ruling, for programs; `schemas/verdict.json` describes it.
#[derive(Clone, Debug, Serialize)]
pub struct Verdict {
    #[serde(rename = "verdict")]
    pub answer: Answer,
    pub rule: Option<&'static str>,
    pub cause: Option<Cause>,
    pub reason: String,
    pub next: Option<String>,
    pub test_id: Option<TestId>,
    pub tree: TreeId,
    pub evidence: Evidence,
}

/// What a ruling rests on.
#[derive(Clone, Debug, Serialize)]
pub struct Evidence {
    /// The tree that the change was compared with.
    pub base: TreeId,
    /// What was run.
    pub command: String,
    pub counts: Counts,
    /// What could not be run at all.
    pub obstacles: Vec<String>,
}

/// Shows the rulings of one command, and gives the exit code of the worst.
pub fn show(trial: &Trial<'_>, judged: Judged, context: &Context) -> Result<ExitCode, CliError> {
    let Judged { rulings, report } = judged;
    let verdicts = Verdicts::new(rulings.into_iter().map(|ruling| trial.verdict(ruling, &report)).collect());
    context.output.result(&verdicts, || verdicts.text())?;
    Ok(verdicts.exit_code())
}

/// All rulings of one command: the worst of them stands for all.
#[derive(Clone, Debug, Serialize)]
pub struct Verdicts {
    #[serde(flatten)]
    worst: Option<Verdict>,
    /// One a target.
    verdicts: Vec<Verdict>,
}

impl Evidence {
    pub fn new(base: &TreeId, command: String, report: &Report) -> Self {
        let obstacles = report.obstacles().iter().map(|it| format!("{}: {}", it.subject, it.cause));
        Self { base: base.clone(), command, counts: report.counts(), obstacles: obstacles.collect() }
    }
}

impl Verdict {
    pub fn new(ruling: Ruling, tree: &TreeId, evidence: Evidence) -> Self {
        match ruling {
            Ruling::Holds(Holding { test, cause, reason }) => Self {
                answer: Answer::Holds,
                rule: None,
                cause,
                reason,
                next: None,
                test_id: test,
                tree: tree.clone(),
                evidence,
            },
            Ruling::Refused(Refusal { rule, cause, test, reason, next }) => Self {
                answer: Answer::Refused,
                rule: Some(rule.name()),
                cause,
                reason,
                next: Some(next),
                test_id: test,
                tree: tree.clone(),
                evidence,
            },
        }
    }

    fn exit_code(&self) -> u8 {
        match (self.answer, self.cause.map(Cause::fault)) {
            (Answer::Holds, _) => 0,
            (Answer::Refused, Some(Fault::Environment)) => 3,
            (Answer::Refused, Some(Fault::Change) | None) => 1,
        }
    }

    fn text(&self) -> String {
        match (&self.rule, &self.next) {
            (Some(rule), Some(next)) => {
                let cause = self.cause.map_or_else(String::new, |cause| format!(" ({cause})"));
                let head = format!("{} {}{}", paint(BAD, "refused"), paint(BOLD, rule), paint(DIM, cause));
                format!("{head}\n  {}\n  next: {next}\n", self.reason)
            }
            _ => format!("{} {}\n", paint(GOOD, "holds"), self.reason),
        }
    }
}

impl Verdicts {
    /// The rulings of one command.
    pub fn new(verdicts: Vec<Verdict>) -> Self {
        Self { worst: verdicts.iter().max_by_key(|verdict| verdict.exit_code()).cloned(), verdicts }
    }

    /// Whether all of them hold.
    pub fn hold(&self) -> bool {
        self.verdicts.iter().all(|verdict| verdict.answer == Answer::Holds)
    }

    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.worst.as_ref().map_or(0, Verdict::exit_code))
    }

    pub fn text(&self) -> String {
        self.verdicts.iter().map(Verdict::text).collect()
    }
}
