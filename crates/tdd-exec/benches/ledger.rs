//! Measures the time and memory to open a ledger of a million events, and the cost of an append compared with a bare
//! write and sync of the same bytes: `cargo bench -p tdd-exec --bench ledger`.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints its figures")]

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use tdd_core::digest::{Digest, TreeId};
use tdd_core::event::{Event, Status, TestRun};
use tdd_core::seam::{Clock, Ledger};
use tdd_core::test_id::{IdSource, TestId};
use tdd_exec::ledger::{self, LedgerFile};
use tdd_exec::state::StateDir;

const EVENTS: u64 = 1_000_000;
const TESTS: u64 = 2_000;
const APPENDS: usize = 400;

struct Wall;

impl Clock for Wall {
    fn now_ms(&self) -> u64 {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }
}

fn main() {
    if let Ok(root) = std::env::var("LEDGER_BENCH_OPEN") {
        open_once(Path::new(&root));
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let dir = StateDir::ensure(folder.path()).unwrap();
    fill(&dir);
    let size = fs::metadata(dir.path().join(ledger::FILE)).unwrap().len();
    println!("ledger: {EVENTS} events, {} MB, {TESTS} tests", size >> 20);
    report("open, checkpoint up to date", folder.path());
    let file = OpenOptions::new().append(true).open(dir.path().join(ledger::FILE)).unwrap();
    file.set_modified(SystemTime::now()).unwrap();
    report("open, file touched since (as after a kill)", folder.path());
    fs::remove_file(dir.path().join("checkpoint.json")).unwrap();
    report("open, no checkpoint (whole chain followed and folded)", folder.path());
    appends();
}

fn event(n: u64) -> Event {
    Event::TestRun(TestRun {
        test_id: TestId::native("tests/string_calculator.rs", &format!("adds_numbers_{}", n % TESTS)),
        test_id_source: IdSource::Native,
        status: if n.is_multiple_of(7) { Status::Fail } else { Status::Pass },
        command: "cargo test --all".into(),
        duration_ms: n % 100,
        tree: TreeId(format!("{n:040x}")),
        test_digest: Some(Digest::of(n.to_le_bytes())),
        cause: None,
        message: None,
    })
}

fn fill(dir: &StateDir) {
    let mut ledger = LedgerFile::open(dir, Wall).unwrap();
    let mut n = 0;
    while n < EVENTS {
        let batch: Vec<Event> = (n..(n + 10_000).min(EVENTS)).map(event).collect();
        ledger.append(&batch).unwrap();
        n += 10_000;
    }
}

/// Opens the ledger in a separate process, to measure its memory.
fn report(what: &str, root: &Path) {
    let exe = std::env::current_exe().unwrap();
    let output = std::process::Command::new(exe).env("LEDGER_BENCH_OPEN", root).output().unwrap();
    println!("{what}: {}", String::from_utf8_lossy(&output.stdout).trim());
}

fn open_once(root: &Path) {
    let dir = StateDir::ensure(root).unwrap();
    let start = Instant::now();
    let ledger = LedgerFile::open(&dir, Wall).unwrap();
    let took = start.elapsed();
    assert_eq!(ledger.session().events(), EVENTS);
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default().to_owned();
    println!("{} ms, peak memory {}", took.as_millis(), peak.trim_start_matches("VmHWM:").trim());
}

/// Alternates appends and bare writes, so that both see the same disk load.
fn appends() {
    let folder = tempfile::tempdir().unwrap();
    let dir = StateDir::ensure(folder.path()).unwrap();
    let mut ledger = LedgerFile::open(&dir, Wall).unwrap();
    let mut bare = OpenOptions::new().create(true).append(true).open(folder.path().join("bare")).unwrap();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for n in 0..APPENDS {
        let event = event(n as u64);
        let start = Instant::now();
        let records = ledger.append(std::slice::from_ref(&event)).unwrap();
        ours.push(start.elapsed());
        let mut line = tdd_core::event::Record::line(&records[0].head, &event).into_bytes();
        line.push(b'\n');
        let start = Instant::now();
        bare.write_all(&line).unwrap();
        bare.sync_all().unwrap();
        theirs.push(start.elapsed());
    }
    let (ours, theirs) = (median(ours), median(theirs));
    println!(
        "append with sync: {} µs, bare write and fsync: {} µs, ratio {:.2}",
        ours.as_micros(),
        theirs.as_micros(),
        ours.as_secs_f64() / theirs.as_secs_f64()
    );
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
