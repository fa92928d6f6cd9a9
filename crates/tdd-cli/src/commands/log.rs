//! `log`: prints the ledger.

use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use clap::Args;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use tdd_core::event::{Event, Record, Status};
use tdd_core::test_id::TestId;
use tdd_exec::ledger::{self, Records};
use tdd_exec::state::StateDir;

use crate::context::Context;
use crate::error::CliError;
use crate::output::{BAD, DIM, GOOD, paint, print_line, print_raw};
use tdd_exec::project;

/// Show the ledger: every event, oldest first
///
/// With `--format json` each line is exactly the ledger's own.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  tdd-cli log --type test_run\n  tdd-cli log --test tests/calc.rs::adds\n  tdd-cli log --follow --format json | jq ."
)]
pub struct Log {
    /// Only events of this type
    #[arg(long = "type", value_name = "T")]
    kind: Option<String>,
    /// Only events about this test
    #[arg(long, value_name = "ID")]
    test: Option<String>,
    /// Keep printing new events until interrupted
    #[arg(long)]
    follow: bool,
}

/// Polling interval of `--follow`.
const LOOK_EVERY: Duration = Duration::from_millis(100);

pub fn run(args: &Log, context: &Context) -> Result<ExitCode, CliError> {
    let mut filter = Filter::new(args)?;
    let repo = project::repository(&context.user_paths)?;
    let from_root = |test| {
        project::relative_to_root(&context.user_paths, repo.root(), test, |path| repo.root().join(path).is_file())
    };
    filter.test = filter.test.as_deref().map(from_root);
    loop {
        let records = match StateDir::find(repo.root())? {
            Some(dir) => ledger::records(&dir)?,
            None => None,
        };
        if let Some(records) = records {
            return show(records, &filter, args.follow, context);
        }
        if !args.follow {
            context.output.note("nothing is recorded yet: `tdd-cli auto-test` records a run");
            return Ok(ExitCode::SUCCESS);
        }
        wait(context)?;
    }
}

fn show(mut records: Records, filter: &Filter, follow: bool, context: &Context) -> Result<ExitCode, CliError> {
    let mut any = false;
    loop {
        while let Some(record) = records.next() {
            let record = record?;
            if filter.lets_through(&record) {
                any = true;
                show_one(&record, &records, context)?;
            }
        }
        if !follow {
            if !any {
                context.output.note("no such event is recorded: `tdd-cli log` shows all events");
            }
            return Ok(ExitCode::SUCCESS);
        }
        wait(context)?;
    }
}

fn wait(context: &Context) -> Result<(), CliError> {
    thread::sleep(LOOK_EVERY);
    if context.cancel.is_cancelled() { Err(CliError::Interrupted) } else { Ok(()) }
}

fn show_one(record: &Record, records: &Records, context: &Context) -> Result<(), CliError> {
    if context.output.is_json() {
        return print_raw(&String::from_utf8_lossy(records.line()));
    }
    print_line(&text(record))
}

/// Which events to print.
#[derive(Debug)]
struct Filter {
    kind: Option<String>,
    test: Option<String>,
}

impl Filter {
    fn new(args: &Log) -> Result<Self, CliError> {
        if let Some(word) = args.kind.as_deref().filter(|word| !Event::TYPES.contains(word)) {
            return Err(CliError::unknown_type(word));
        }
        Ok(Self { kind: args.kind.clone(), test: args.test.clone() })
    }

    fn lets_through(&self, record: &Record) -> bool {
        let kind = self.kind.as_ref().is_none_or(|kind| kind == record.event.name());
        let test = self.test.as_ref().is_none_or(|test| record.event.test_id().map(TestId::as_str) == Some(test));
        kind && test
    }
}

fn text(record: &Record) -> String {
    let head = format!("{:>6}  {}  {:<15}", record.head.seq, time(record.head.ts), record.event.name());
    let details = event_text(&record.event).replace('\n', "\n        ");
    format!("{} {details}", paint(DIM, head))
}

/// Formats a ledger timestamp in local time.
pub fn time(ms: u64) -> String {
    let stamp = i64::try_from(ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok()).unwrap_or_default();
    stamp.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string()
}

fn event_text(event: &Event) -> String {
    match event {
        Event::TestRun(run) => match (run.status, run.cause) {
            (Status::Pass, _) => format!("{} {}", paint(GOOD, "pass"), run.test_id),
            (Status::Fail, Some(cause)) => format!("{} {} {}", paint(BAD, "fail"), run.test_id, paint(DIM, cause)),
            (Status::Fail, None) => format!("{} {}", paint(BAD, "fail"), run.test_id),
        },
        Event::SuiteRun(run) => {
            let counts = run.counts;
            format!("{} passed, {} failed, {} skipped", counts.passed, counts.failed, counts.skipped)
        }
        Event::Committed(commit) => format!("{} {}", commit.commit.short(), commit.subject),
        Event::RunStart(run) => format!("after step {}, machine {}", run.step, run.version),
        Event::RunEnd(run) => format!("{} (exit {})", run.reason, run.exit),
        Event::StepStart(step) => {
            let mark = step.mark.as_ref().map(|mark| format!(" {mark}")).unwrap_or_default();
            format!("{} {} {}{}{mark}", step.step, step.role, step.phase, listed(&step.targets))
        }
        Event::StepEnd(step) => format!("{} {} {}", step.step, step.role, word(&step.outcome)),
        Event::PlanSubmitted(plan) => format!("{} {}", plan.step, plan.role),
        Event::EditClaim(claim) => format!("{} for {}", claim.edit_target, claim.test_id),
        Event::EditApplied(edit) => format!("{}.{} {}", edit.step, edit.attempt, edit.paths.join(" ")),
        Event::EditRefused(edit) => format!("{}.{} {} {}", edit.step, edit.attempt, paint(BAD, edit.rule), edit.reason),
        Event::Reverted(it) => format!("{}.{} {}", it.step, it.attempt, it.reason),
        Event::Repair(repair) => format!("{} after {} attempts", repair.test_id, repair.attempts),
        Event::Stuck(stuck) => format!("{} failed the same way {} times", stuck.subject, stuck.times),
        Event::TestRevised(revised) => format!("{}: {}", revised.test_id, revised.reason),
        Event::TestUpheld(upheld) => format!("{}: {}", upheld.test_id, upheld.reason),
        Event::TestRenamed(renamed) => format!("{} is now {}", renamed.from, renamed.test_id),
        Event::GreenOnArrival(arrival) => arrival.test_id.to_string(),
        Event::Blocked(blocked) => format!("{}: {}", blocked.test_id, blocked.reason),
        Event::Paused(paused) => format!("{}; {}", paint(BAD, &paused.reason), paused.next),
        Event::Resumed(resumed) => match (&resumed.skipped, &resumed.unblocked) {
            (Some(test), _) => format!("without {test}"),
            (None, Some(test)) => format!("with {test}"),
            (None, None) => String::new(),
        },
        Event::Resynced(resynced) => format!("at step {}: {}", resynced.step, resynced.reason),
        Event::LlmCall(call) => {
            let tokens = call.prompt_tokens + call.completion_tokens;
            format!("{} {} {} {tokens} tokens {} ms", call.step, call.role, call.purpose, call.duration_ms)
        }
        Event::Override(made) => format!("{} until {}: {}", made.rule, time(made.expires), made.reason),
        Event::RefactorBegin(begin) => begin.mark.iter().chain(&begin.reason).cloned().collect::<Vec<_>>().join(" "),
        Event::RefactorEnd(end) => if end.kept { "kept" } else { "undone" }.to_owned(),
        Event::PersonEdit(edit) => format!("{}: {}", edit.test_id, edit.reason),
        Event::Retired(retired) => format!("{}: {}", retired.test_id, retired.reason),
        Event::IterationStart(start) => format!("{} from {}", start.program, start.head.short()),
        Event::IterationJudged(judged) => format!("{} {}", judged.program, judged.iteration.overview.summary),
        Event::IterationEnd(end) => format!("{} {}", end.program, end.outcome.word()),
        Event::LedgerRepaired(repair) => format!("{} bytes of an incomplete line removed", repair.dropped_bytes),
    }
}

fn listed(tests: &[TestId]) -> String {
    tests.iter().flat_map(|test| [" ", test.as_str()]).collect()
}

/// The name that a value has in the ledger.
fn word(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}
