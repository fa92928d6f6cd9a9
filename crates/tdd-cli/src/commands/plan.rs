//! `plan`: checks whether a plan can run, or runs it.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde::Serialize;
use tdd_core::plan::{Finding, Kind, MAX_PLAN, Plan as Read, Severity, Step};
use tdd_core::test_id::TestId;
use tdd_exec::text;

use super::plan_run;
use crate::context::Context;
use crate::error::CliError;
use crate::output::{BAD, DIM, GOOD, WARN, paint};
use crate::person::PersonError;
use tdd_exec::project;

/// Check a plan, or carry it out
///
/// A plan is a Markdown file with front matter (`phase`, `plan`, `type`, `wave`, `must_haves`) and steps that may
/// name the test that they are about.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  tdd-cli plan check plans/05-01.md\n  tdd-cli plan check plans/05-01.md --format json | jq '.findings[]'\n  tdd-cli plan run plans/05-01.md"
)]
pub struct Plan {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Check(Check),
    Run(plan_run::Run),
}

/// Show what is in a plan, and what would keep it from running
///
/// Exit code 0 if nothing would, 1 if something would, 2 if it cannot be read.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tdd-cli plan check plans/05-01.md")]
struct Check {
    /// The plan
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// The JSON document about a plan.
#[derive(Debug, Serialize)]
struct Document {
    file: PathBuf,
    phase: String,
    plan: String,
    #[serde(rename = "type")]
    kind: Option<Kind>,
    wave: u32,
    truths: Vec<Truth>,
    artifacts: Vec<String>,
    steps: Vec<Step>,
    findings: Vec<Finding>,
    /// Whether the plan would run.
    runs: bool,
}

#[derive(Debug, Serialize)]
struct Truth {
    truth: String,
    test_id: Option<TestId>,
}

pub fn run(args: &Plan, context: &Context) -> Result<ExitCode, CliError> {
    match &args.what {
        What::Check(args) => check(args, context),
        What::Run(args) => plan_run::run(args, context),
    }
}

fn check(Check { file }: &Check, context: &Context) -> Result<ExitCode, CliError> {
    let plan = read(&project::folder(&context.user_paths)?.join(file))?;
    let document = Document::new(file.clone(), plan);
    context.output.result_or(&document, || document.head() + &document.text(), || document.text());
    Ok(ExitCode::from(u8::from(!document.runs)))
}

/// Reads and parses a plan file.
pub fn read(path: &Path) -> Result<Read, PersonError> {
    let limit = u64::try_from(MAX_PLAN).unwrap_or(u64::MAX);
    let text = text::read(path, limit).map_err(PersonError::PlanFile)?;
    Read::parse(&text).map_err(|source| PersonError::Plan { path: path.to_owned(), source })
}

/// The Markdown files of a folder, sorted.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().into_iter().flatten().filter_map(Result::ok);
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "md") && path.is_file());
    paths.sort();
    paths
}

impl Document {
    fn new(file: PathBuf, plan: Read) -> Self {
        let findings = plan.findings();
        let truths = plan.truths.iter().map(|it| Truth { truth: it.text.clone(), test_id: it.test.clone() });
        Self {
            file,
            kind: plan.kind(),
            truths: truths.collect(),
            phase: plan.phase,
            plan: plan.number,
            wave: plan.wave,
            artifacts: plan.artifacts,
            steps: plan.steps,
            runs: findings.iter().all(|finding| finding.severity == Severity::Note),
            findings,
        }
    }

    fn head(&self) -> String {
        let kind = match self.kind {
            Some(Kind::Tdd) => "tdd",
            Some(Kind::Execute) => "execute",
            None => "unknown",
        };
        let head = format!("phase {}, plan {}, wave {}, type {kind}", self.phase, self.plan, self.wave);
        format!("{head}: {} steps, {} truths\n", self.steps.len(), self.truths.len())
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for finding in &self.findings {
            let mark = match finding.severity {
                Severity::Stop => paint(BAD, "✗"),
                Severity::Note => paint(WARN, "!"),
            };
            text += &format!("{mark} line {}: {}\n", finding.line, finding.problem);
            text += &format!("    {} {}\n", paint(DIM, "fix:"), finding.fix);
        }
        if self.runs { text + &format!("{}\n", paint(GOOD, "ready to run")) } else { text }
    }
}
