//! `log`: the ledger, read back.

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
use crate::output::{BAD, DIM, GOOD, paint, print_line};
use crate::project;

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
    /// Go on with what is appended, until interrupted
    #[arg(long)]
    follow: bool,
}

/// How often a followed ledger is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(100);

pub fn run(args: &Log, context: &Context) -> Result<ExitCode, CliError> {
    let filter = Filter::new(args)?;
    let repo = project::repository(&context.global)?;
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
    loop {
        while let Some(record) = records.next() {
            let record = record?;
            if filter.lets_through(&record) {
                print_line(&shown(&record, &records, context))?;
            }
        }
        if !follow {
            return Ok(ExitCode::SUCCESS);
        }
        wait(context)?;
    }
}

fn wait(context: &Context) -> Result<(), CliError> {
    thread::sleep(LOOK_EVERY);
    if context.cancel.is_cancelled() { Err(CliError::Interrupted) } else { Ok(()) }
}

fn shown(record: &Record, records: &Records, context: &Context) -> String {
    if context.output.is_json() { String::from_utf8_lossy(records.line()).into_owned() } else { text(record) }
}

/// What is to be shown.
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
    format!("{} {}", paint(DIM, head), event_text(&record.event))
}

fn time(ms: u64) -> String {
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
        Event::LedgerRepaired(repair) => format!("{} bytes of a torn line cut off", repair.dropped_bytes),
    }
}
