//! Tests the ledger file against kills, garbage, full disks and other processes.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};

use tdd_core::digest::{Digest, TreeId};
use tdd_core::event::{Event, Record, Status, TestRun};
use tdd_core::seam::{Clock, Ledger};
use tdd_core::session::Session;
use tdd_core::test_id::{IdSource, TestId};
use tdd_exec::ledger::{self, LedgerError, LedgerFile};
use tdd_exec::state::StateDir;
use tempfile::TempDir;

#[derive(Debug)]
struct Ticks(Cell<u64>);

impl Clock for Ticks {
    fn now_ms(&self) -> u64 {
        self.0.set(self.0.get() + 1);
        self.0.get()
    }
}

fn clock() -> Ticks {
    Ticks(Cell::new(1_000))
}

fn event(n: u64) -> Event {
    let status = if n.is_multiple_of(3) { Status::Fail } else { Status::Pass };
    Event::TestRun(TestRun {
        test_id: TestId::native("tests/calc.rs", &format!("case_{}", n % 50)),
        test_id_source: IdSource::Native,
        status,
        command: "cargo test --all".into(),
        duration_ms: n,
        tree: TreeId(format!("{n:040x}")),
        test_digest: Some(Digest::of(n.to_le_bytes())),
        cause: None,
        message: None,
    })
}

struct Project {
    _folder: TempDir,
    dir: StateDir,
}

impl Project {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let dir = StateDir::ensure(folder.path()).unwrap();
        Self { _folder: folder, dir }
    }

    /// A project whose ledger holds `count` events.
    fn with_events(count: u64) -> Self {
        let project = Self::new();
        let events: Vec<Event> = (1..=count).map(event).collect();
        project.open().unwrap().append(&events).unwrap();
        project
    }

    fn open(&self) -> Result<LedgerFile<Ticks>, LedgerError> {
        LedgerFile::open(&self.dir, clock())
    }

    fn file(&self) -> PathBuf {
        self.dir.path().join(ledger::FILE)
    }

    fn checkpoint(&self) -> PathBuf {
        self.dir.path().join("checkpoint.json")
    }

    fn text(&self) -> String {
        fs::read_to_string(self.file()).unwrap()
    }

    fn lines(&self) -> Vec<String> {
        self.text().lines().map(str::to_owned).collect()
    }

    fn write_lines(&self, lines: &[String]) {
        fs::write(self.file(), format!("{}\n", lines.join("\n"))).unwrap();
    }

    fn records(&self) -> Vec<Record> {
        ledger::records(&self.dir).unwrap().unwrap().map(Result::unwrap).collect()
    }

    /// Opening must fail; reading without the lock must fail too, and the file must stay unchanged.
    fn refused(&self) -> String {
        let before = fs::read(self.file()).unwrap();
        let error = self.open().expect_err("a damaged ledger must not open").to_string();
        let by_reader = ledger::records(&self.dir).unwrap().unwrap().find_map(Result::err);
        assert_eq!(by_reader.expect("a reader must notice too").to_string(), error);
        assert_eq!(fs::read(self.file()).unwrap(), before);
        error.replace(&self.dir.path().display().to_string(), ".tdd")
    }
}

#[test]
fn what_was_appended_is_there_after_reopening() {
    let project = Project::with_events(5);
    let mut ledger = project.open().unwrap();
    ledger.append(&[event(6)]).unwrap();
    let folded = ledger.session().clone();
    drop(ledger);
    let records = project.records();
    assert_eq!(records.iter().map(|record| record.head.seq).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6]);
    assert_eq!(Session::replay(&records), folded);
    assert_eq!(project.open().unwrap().session(), &folded);
}

#[test]
fn each_line_carries_the_digest_of_the_one_before() {
    let project = Project::with_events(3);
    let lines = project.lines();
    let records = project.records();
    assert_eq!(records[0].head.prev, Digest::zero());
    assert_eq!(records[1].head.prev, Digest::of(&lines[0]));
    assert_eq!(records[2].head.prev, Digest::of(&lines[1]));
}

#[test]
fn a_torn_last_line_is_cut_off_wherever_it_was_torn_and_that_is_recorded() {
    let whole = Project::with_events(3).text();
    let last = whole.trim_end().rfind('\n').unwrap() + 1;
    for cut in [last + 1, last + 20, whole.len() - 2, whole.len() - 1] {
        let project = Project::with_events(3);
        fs::write(project.file(), &whole[..cut]).unwrap();
        let ledger = project.open().unwrap();
        assert_eq!(ledger.repaired().unwrap().dropped_bytes, (cut - last) as u64);
        drop(ledger);
        let names: Vec<_> = project.records().iter().map(|record| record.event.name()).collect();
        assert_eq!(names, ["test_run", "test_run", "ledger_repaired"], "cut at {cut}");
        assert!(project.open().unwrap().repaired().is_none());
    }
}

#[test]
fn a_tail_of_zeros_or_garbage_without_a_line_end_is_torn_too() {
    for tail in [&b"\0\0\0\0\0\0"[..], b"\xff\xfe garbage", b"{\"v\":2,"] {
        let project = Project::with_events(2);
        let mut bytes = fs::read(project.file()).unwrap();
        bytes.extend_from_slice(tail);
        fs::write(project.file(), bytes).unwrap();
        assert_eq!(project.open().unwrap().repaired().unwrap().dropped_bytes, tail.len() as u64);
        assert_eq!(project.records().len(), 3);
    }
}

#[test]
fn an_empty_ledger_opens_and_a_first_line_that_is_torn_leaves_an_empty_one() {
    let project = Project::new();
    fs::write(project.file(), "").unwrap();
    assert_eq!(project.open().unwrap().session().events(), 0);
    fs::write(project.file(), "{\"v\":1,\"se").unwrap();
    drop(project.open().unwrap());
    assert_eq!(project.records().len(), 1);
}

#[test]
fn a_reader_beside_a_writer_never_sees_the_torn_line() {
    let project = Project::with_events(2);
    let mut text = project.text();
    text += "{\"v\":1,\"seq\":3";
    fs::write(project.file(), &text).unwrap();
    let mut reader = ledger::records(&project.dir).unwrap().unwrap();
    assert_eq!(reader.by_ref().count(), 2);
    assert_eq!(ledger::read_session(&project.dir).unwrap().unwrap().events(), 2);
    drop(project.open().unwrap());
    let next = reader.next().unwrap().unwrap();
    assert_eq!((next.head.seq, next.event.name()), (3, "ledger_repaired"));
}

#[test]
fn damage_is_refused_and_its_place_is_named() {
    let damaged = |damage: fn(&mut Vec<String>)| {
        let project = Project::with_events(4);
        let mut lines = project.lines();
        damage(&mut lines);
        project.write_lines(&lines);
        project.refused()
    };
    let answers = [
        ("a changed byte", damaged(|lines| lines[1] = lines[1].replace("\"duration_ms\":2", "\"duration_ms\":9"))),
        ("a missing line", damaged(|lines| drop(lines.remove(1)))),
        ("a doubled line", damaged(|lines| lines.insert(2, lines[1].clone()))),
        ("lines out of order", damaged(|lines| lines.swap(1, 2))),
        ("garbage", damaged(|lines| lines[2] = "not json".into())),
        ("an empty line", damaged(|lines| lines.insert(1, String::new()))),
        ("a truncated line in the middle", damaged(|lines| lines[1].truncate(30))),
        ("a newer version", damaged(|lines| lines[3] = lines[3].replacen("\"v\":1", "\"v\":2", 1))),
        ("an unknown event at the end", damaged(|lines| lines[3] = lines[3].replace("test_run\"", "teleport\""))),
        ("a first line that is not the first", damaged(|lines| drop(lines.remove(0)))),
    ];
    let text: Vec<String> = answers.iter().map(|(what, answer)| format!("{what}: {answer}")).collect();
    insta::assert_snapshot!(text.join("\n"));
}

#[test]
fn a_line_without_end_does_not_fill_the_memory() {
    let project = Project::with_events(1);
    let mut bytes = fs::read(project.file()).unwrap();
    bytes.resize(bytes.len() + (20 << 20), b'x');
    fs::write(project.file(), bytes).unwrap();
    assert!(project.refused().contains("longer than"));
}

#[test]
fn a_second_writer_is_refused_and_told_the_first_ones_pid() {
    let project = Project::with_events(1);
    let first = project.open().unwrap();
    let error = project.open().expect_err("the lock is taken").to_string();
    assert_eq!(error, format!("another tdd-cli is running in this project (pid {})", std::process::id()));
    assert_eq!(ledger::read_session(&project.dir).unwrap().unwrap().events(), 1);
    drop(first);
    project.open().unwrap();
}

#[test]
fn links_are_not_followed() {
    let elsewhere = TempDir::new().unwrap();
    let project = Project::new();
    std::os::unix::fs::symlink(elsewhere.path().join("x"), project.file()).unwrap();
    assert!(project.open().is_err());
    let folder = TempDir::new().unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), folder.path().join(".tdd")).unwrap();
    assert!(StateDir::ensure(folder.path()).is_err());
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
}

#[test]
fn a_long_ledger_opens_from_its_checkpoint_to_the_same_session() {
    let project = Project::with_events(1500);
    assert!(project.checkpoint().exists());
    let from_checkpoint = project.open().unwrap().session().clone();
    fs::remove_file(project.checkpoint()).unwrap();
    assert_eq!(project.open().unwrap().session(), &from_checkpoint);
}

#[test]
fn a_ledger_that_grew_behind_its_checkpoint_is_folded_from_there() {
    let project = Project::with_events(1500);
    let old = fs::read(project.checkpoint()).unwrap();
    project.open().unwrap().append(&(1501..=1600).map(event).collect::<Vec<_>>()).unwrap();
    fs::write(project.checkpoint(), old).unwrap();
    let expected = Session::replay(&project.records());
    assert_eq!(ledger::read_session(&project.dir).unwrap().unwrap(), expected);
    assert_eq!(project.open().unwrap().session(), &expected);
}

#[test]
fn a_checkpoint_of_another_ledger_or_a_broken_one_is_not_believed() {
    let project = Project::with_events(1500);
    let expected = project.open().unwrap().session().clone();
    let other = Project::with_events(1700);
    for bytes in [fs::read(other.checkpoint()).unwrap(), b"{}".to_vec(), b"\xff".to_vec(), Vec::new()] {
        fs::write(project.checkpoint(), bytes).unwrap();
        assert_eq!(ledger::read_session(&project.dir).unwrap().unwrap(), expected);
        assert_eq!(project.open().unwrap().session(), &expected);
    }
    let sealed = fs::read_to_string(other.checkpoint()).unwrap();
    fs::write(project.checkpoint(), sealed.replace("case_1", "case_x")).unwrap();
    assert_eq!(project.open().unwrap().session(), &expected);
}

#[test]
fn damage_before_the_checkpoint_is_noticed() {
    let project = Project::with_events(1500);
    let mut lines = project.lines();
    lines[700] = lines[700].replace("\"duration_ms\":701", "\"duration_ms\":702");
    project.write_lines(&lines);
    assert!(project.refused().contains("line 702"), "{}", project.refused());
}

/// A tiny file system that the test fills up; needs permission to mount.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(at: &Path) -> Option<Self> {
        let mounted = std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"])
            .arg(at)
            .status()
            .is_ok_and(|status| status.success());
        mounted.then(|| Self(at.to_owned()))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _unmounted = std::process::Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_loses_nothing_and_appending_goes_on_when_there_is_room_again() {
    let folder = TempDir::new().unwrap();
    let Some(_disk) = SmallDisk::mount(folder.path()) else {
        println!("skipped: may not mount a small file system here");
        return;
    };
    let filler = folder.path().join("filler");
    fs::write(&filler, vec![0; 32 << 10]).unwrap();
    let dir = StateDir::ensure(folder.path()).unwrap();
    let mut ledger = LedgerFile::open(&dir, clock()).unwrap();
    let mut written = 0;
    let error = loop {
        match ledger.append(&[event(written + 1), event(written + 2)]) {
            Ok(records) => written += records.len() as u64,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, LedgerError::Append { .. }), "{error}");
    assert!(written > 10);
    assert_eq!(ledger.session().events(), written);
    let kept = ledger::records(&dir).unwrap().unwrap().map(Result::unwrap).count() as u64;
    assert_eq!(kept, written);

    fs::remove_file(filler).unwrap();
    ledger.append(&[event(written + 1)]).unwrap();
    let expected = ledger.session().clone();
    drop(ledger);
    assert_eq!(LedgerFile::open(&dir, clock()).unwrap().session(), &expected);
}

#[test]
fn an_append_to_a_ledger_that_was_deleted_or_replaced_is_an_error() {
    type Happening = fn(&Path);
    let happenings: [(&str, Happening); 4] = [
        ("file deleted", |dir| fs::remove_file(dir.join(ledger::FILE)).unwrap()),
        ("folder deleted", |dir| fs::remove_dir_all(dir).unwrap()),
        ("file replaced", |dir| {
            fs::copy(dir.join(ledger::FILE), dir.join("copy")).unwrap();
            fs::rename(dir.join("copy"), dir.join(ledger::FILE)).unwrap();
        }),
        ("folder replaced", |dir| {
            fs::remove_dir_all(dir).unwrap();
            fs::create_dir(dir).unwrap();
        }),
    ];
    for (what, happening) in happenings {
        let project = Project::with_events(3);
        let mut ledger = LedgerFile::open(&project.dir, clock()).unwrap();
        happening(project.dir.path());
        let error = ledger.append(&[event(4)]).expect_err(what);
        assert!(error.to_string().contains("was deleted or replaced"), "{what}: {error}");
        ledger.append(&[event(4)]).expect_err("it stays an error");
        drop(ledger);
        assert!(!project.dir.path().join("checkpoint.json").exists() || !what.starts_with("folder"), "{what}");
    }
}

#[test]
fn a_second_machine_gets_no_lock_while_the_first_works_in_a_project_whose_state_was_deleted() {
    let folder = TempDir::new().unwrap();
    let repo = tdd_exec::git::Repo::init(folder.path()).unwrap();
    let dir = StateDir::ensure(repo.root()).unwrap();
    let first = LedgerFile::open(&dir, clock()).unwrap();
    fs::remove_dir_all(dir.path()).unwrap();
    let again = StateDir::ensure(repo.root()).unwrap();
    let error = LedgerFile::open(&again, clock()).expect_err("a second machine");
    assert!(matches!(error, LedgerError::Locked { pid: Some(pid) } if pid == std::process::id()), "{error}");
    drop(first);
    LedgerFile::open(&again, clock()).expect("the first is gone");
}
