//! `auto-test`: runs the whole suite and reports each test.

use std::process::ExitCode;
use std::time::Instant;

use clap::Args;
use serde::Serialize;
use tdd_core::digest::TreeId;
use tdd_core::report::{Cause, Counts, Obstacle, Outcome, Report, TestResult};
use tdd_core::seam::Runner;
use tdd_core::session::SuiteFacts;
use tdd_core::test_id::TestId;

use crate::context::Context;
use crate::error::CliError;
use crate::output::{BAD, BOLD, DIM, GOOD, WARN, paint};
use crate::progress::Progress;
use crate::tally;
use tdd_exec::project::Workbench;
use tdd_exec::tally::Tally;

/// Run all tests and report each of them
///
/// The machine builds and runs the tests itself and reads structured results. The exit code is 0 even if tests fail,
/// and 3 if they could not be run. In a project set up by `init`, the run is recorded in the ledger.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  tdd-cli auto-test\n  tdd-cli auto-test --format json | jq '.tests[] | select(.status == \"fail\")'"
)]
pub struct AutoTest {}

/// The JSON document.
#[derive(Debug, Serialize)]
struct Document<'a> {
    command: &'a str,
    tree: &'a TreeId,
    duration_ms: u64,
    counts: Counts,
    tests: Vec<TestLine<'a>>,
    obstacles: &'a [Obstacle],
    /// Whether the run is in the ledger.
    recorded: bool,
    /// Per project, if there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    projects: Vec<Tally>,
}

/// One test in the JSON document.
#[derive(Debug, Serialize)]
struct TestLine<'a> {
    test_id: &'a TestId,
    status: &'static str,
    cause: Option<Cause>,
    message: Option<&'a str>,
    duration_ms: u64,
}

pub fn run(_: &AutoTest, context: &Context) -> Result<ExitCode, CliError> {
    let bench = Workbench::open(&context.user_paths)?;
    let start = Instant::now();
    let before = bench.repo.tree_id()?;
    let report = test(&bench, context)?;
    let duration_ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
    let command = bench.test_command();
    let facts = SuiteFacts { report: &report, command: &command, tree: &before, duration_ms };
    let recorded = record(&bench, context, &facts)?;
    let ended = report.results().map(|result| (&result.id, result.outcome == Outcome::Pass));
    let document = Document::new(&facts, recorded, tdd_exec::tally::tally(&bench.config, &bench.sources, ended));
    let of_projects = || document.projects.iter().map(tally::text).collect::<String>();
    let told = || text(&report, duration_ms, context.output.is_verbose()) + &of_projects();
    let failure = report.environment_failure();
    let in_short = || failure.map(obstacle_text).unwrap_or_default() + &summary(&report, duration_ms);
    context.output.result_or(&document, told, in_short);
    let Some(failure) = failure else { return Ok(ExitCode::SUCCESS) };
    if failure.cause == Cause::RunnerMissing {
        context.output.note("try: `tdd-cli doctor` shows what is missing");
    }
    Ok(ExitCode::from(3))
}

fn test(bench: &Workbench, context: &Context) -> Result<Report, CliError> {
    let progress = Progress::begin();
    let spawner = bench.spawner(&context.run_control());
    Ok(bench.runner(&spawner, &|label| progress.say(label)).test(&[])?)
}

/// Records the run in the ledger, unless files changed during the run.
fn record(bench: &Workbench, context: &Context, facts: &SuiteFacts<'_>) -> Result<bool, CliError> {
    if bench.repo.tree_id()? != *facts.tree {
        context.output.note("note: the files changed while the tests ran, so the run is not recorded");
        return Ok(false);
    }
    match context.recording_if_free(&bench.repo)? {
        Some(mut recording) if facts.report.environment_failure().is_none() => {
            recording.suite(facts)?;
            Ok(true)
        }
        Some(_) | None => Ok(false),
    }
}

impl<'a> Document<'a> {
    fn new(facts: &SuiteFacts<'a>, recorded: bool, projects: Vec<Tally>) -> Self {
        Self {
            command: facts.command,
            tree: facts.tree,
            duration_ms: facts.duration_ms,
            counts: facts.report.counts(),
            tests: facts.report.results().map(TestLine::new).collect(),
            obstacles: facts.report.obstacles(),
            recorded,
            projects,
        }
    }
}

impl<'a> TestLine<'a> {
    fn new(result: &'a TestResult) -> Self {
        let (status, cause, message) = match &result.outcome {
            Outcome::Pass => ("pass", None, None),
            Outcome::Fail { cause, message } => ("fail", Some(*cause), Some(message.as_str())),
        };
        Self { test_id: &result.id, status, cause, message, duration_ms: result.duration_ms }
    }
}

fn text(report: &Report, duration_ms: u64, verbose: bool) -> String {
    let mut text: String = report.results().map(|result| result_text(result, verbose)).collect();
    for obstacle in report.obstacles() {
        text += &obstacle_text(obstacle);
    }
    text + &summary(report, duration_ms)
}

fn result_text(result: &TestResult, verbose: bool) -> String {
    match &result.outcome {
        Outcome::Pass => format!("{} {}\n", paint(GOOD, "✓"), result.id),
        Outcome::Fail { cause: Cause::Skipped, .. } => {
            format!("{} {} {}\n", paint(WARN, "-"), result.id, paint(DIM, "skipped"))
        }
        Outcome::Fail { cause, message } => {
            format!("{} {} {}\n{}", paint(BAD, "✗"), result.id, paint(DIM, cause), indented(message, verbose))
        }
    }
}

fn obstacle_text(obstacle: &Obstacle) -> String {
    let place = obstacle.place.as_ref().map_or_else(String::new, |place| format!(" at {place}"));
    let head = format!("{} {} {}{place}\n", paint(BAD, "!"), obstacle.subject, paint(DIM, obstacle.cause));
    head + &indented(&obstacle.message, true)
}

/// Indents a message below its test; shows only the first lines unless `whole`.
fn indented(message: &str, whole: bool) -> String {
    let most = if whole { usize::MAX } else { 6 };
    let mut text = String::new();
    for line in message.lines().take(most) {
        text += &format!("    {line}\n");
    }
    let more = message.lines().count().saturating_sub(most);
    if more > 0 {
        text += &format!("    {}\n", paint(DIM, format_args!("… {more} more lines with -v")));
    }
    text
}

fn summary(report: &Report, duration_ms: u64) -> String {
    let Counts { passed, failed, skipped } = report.counts();
    if passed + failed + skipped == 0 && report.obstacles().is_empty() {
        return "no tests yet\n".to_owned();
    }
    let part = |style, count: u32, word| {
        let text = format!("{count} {word}");
        if count == 0 { text } else { paint(style, text) }
    };
    let seconds = format!("{}.{:02} s", duration_ms / 1000, duration_ms % 1000 / 10);
    let counts = [part(GOOD, passed, "passed"), part(BAD, failed, "failed"), part(WARN, skipped, "skipped")].join(", ");
    let blocked = match report.obstacles().len() {
        0 => String::new(),
        number => paint(BAD, format_args!(", {number} could not be run")),
    };
    format!("{} {counts}{blocked} {}\n", paint(BOLD, "tests:"), paint(DIM, format_args!("in {seconds}")))
}
