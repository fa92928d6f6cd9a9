//! Tests ledgers that are damaged, unusual or locked.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;
use std::time::{Duration, Instant};

use tdd_core::digest::{CommitId, Digest, TreeId};
use tdd_core::event::{Committed, Event, Head, Record};

use crate::machine::{Machine, finish};

const LEDGER: &str = ".tdd/events.jsonl";

/// The lines of a valid ledger with events of about this size.
fn lines(count: u64, size: usize) -> Vec<String> {
    let event = Event::Committed(Committed {
        commit: CommitId("1".repeat(40)),
        tree: TreeId("2".repeat(40)),
        subject: "x".repeat(size),
        files: vec!["src/lib.rs".to_owned()],
    });
    let mut prev = Digest::zero();
    let mut lines = Vec::new();
    for seq in 1..=count {
        let line = Record::line(&Head { seq, ts: 1_700_000_000_000 + seq, prev }, &event);
        prev = Digest::of(&line);
        lines.push(line);
    }
    lines
}

fn with_lines(lines: &[impl AsRef<str>]) -> Machine {
    let machine = Machine::ready();
    let lines: Vec<&str> = lines.iter().map(AsRef::as_ref).collect();
    machine.sandbox.write(LEDGER, lines.join("\n") + "\n");
    machine
}

/// The messages of reading and writing commands about an invalid ledger.
fn refused(machine: &Machine) -> String {
    [["status"], ["log"], ["init"]].iter().map(|args| machine.refused(args)).collect()
}

#[test]
fn a_line_that_is_cut_in_the_middle_is_named() {
    let mut lines = lines(3, 10);
    let cut = lines[1].len() / 2;
    lines[1].truncate(cut);
    insta::assert_snapshot!(refused(&with_lines(&lines)));
}

#[test]
fn a_line_of_garbage_is_named() {
    let mut lines = lines(3, 10);
    lines[1] = "\u{1}\u{fffd} what is this".to_owned();
    insta::assert_snapshot!(refused(&with_lines(&lines)));
}

#[test]
fn a_line_that_is_there_twice_is_named() {
    let mut lines = lines(3, 10);
    lines.insert(1, lines[0].clone());
    insta::assert_snapshot!(refused(&with_lines(&lines)));
}

#[test]
fn lines_out_of_order_are_named() {
    let mut lines = lines(3, 10);
    lines.swap(1, 2);
    insta::assert_snapshot!(refused(&with_lines(&lines)));
}

#[test]
fn a_changed_line_is_named_by_the_one_that_follows_it() {
    let mut lines = lines(3, 10);
    lines[1] = lines[1].replace("xxx", "xyz");
    insta::assert_snapshot!(refused(&with_lines(&lines)));
}

#[test]
fn a_ledger_of_a_newer_version_is_left_alone() {
    let mut lines = lines(2, 10);
    lines[1] = lines[1].replacen("\"v\":1", "\"v\":2", 1);
    insta::assert_snapshot!(refused(&with_lines(&lines)));
}

#[test]
fn a_torn_last_line_is_read_over_and_repaired_by_the_next_writer() {
    let machine = with_lines(&lines(2, 10));
    let whole = machine.sandbox.read(LEDGER);
    machine.sandbox.write(LEDGER, format!("{whole}{{\"v\":1,\"se"));
    let read = machine.says(&["log", "--type", "committed"]);
    let written = machine.says(&["init"]);
    assert!(machine.sandbox.read(LEDGER).starts_with(&whole));
    let repaired = machine.output(&["log", "--type", "ledger_repaired", "--format", "json"]);
    assert_eq!(crate::machine::document(&repaired)["dropped_bytes"], 10);
    insta::assert_snapshot!(read + &written);
}

#[test]
fn fifty_megabytes_are_read_fast_and_in_little_memory() {
    let machine = with_lines(&lines(6_000, 8_500));
    assert!(fs::metadata(machine.path(LEDGER)).expect("the ledger").len() > 50_000_000);
    for args in [&["status"][..], &["log", "--type", "test_run"], &["init"]] {
        let start = Instant::now();
        let mut command = machine.sandbox.command("sh");
        command.args(["-c", "ulimit -v 300000 && exec \"$@\"", "sh", env!("CARGO_BIN_EXE_tdd-cli")]).args(args);
        let output = finish(command);
        assert!(output.status.success(), "{}", machine.told(args, &output));
        assert!(start.elapsed() < Duration::from_secs(20), "{args:?}: {:?}", start.elapsed());
    }
}

#[test]
fn a_last_line_without_an_end_that_never_ends_is_not_swallowed_whole() {
    let machine = with_lines(&lines(1, 10));
    let mut file = File::options().append(true).open(machine.path(LEDGER)).expect("the ledger");
    file.write_all(&vec![b'x'; 17 << 20]).expect("write");
    insta::assert_snapshot!(refused(&machine));
}

#[test]
fn a_ledger_that_is_a_folder_is_refused() {
    let machine = Machine::ready();
    fs::remove_file(machine.path(LEDGER)).expect("remove");
    machine.sandbox.write(".tdd/events.jsonl/mine", "mine");
    insta::assert_snapshot!(refused(&machine));
}

#[test]
fn a_ledger_that_is_a_link_is_refused_and_what_it_points_to_stays() {
    let machine = Machine::ready();
    let elsewhere = machine.sandbox.outside().join("elsewhere.jsonl");
    fs::rename(machine.path(LEDGER), &elsewhere).expect("move");
    symlink(&elsewhere, machine.path(LEDGER)).expect("link");
    insta::assert_snapshot!(refused(&machine));
}

#[test]
fn a_ledger_that_is_a_pipe_does_not_hang_anybody() {
    let machine = Machine::ready();
    fs::remove_file(machine.path(LEDGER)).expect("remove");
    assert!(Command::new("mkfifo").arg(machine.path(LEDGER)).status().expect("mkfifo").success());
    insta::assert_snapshot!(refused(&machine));
}

#[test]
fn a_checkpoint_that_is_a_pipe_or_leads_elsewhere_hurts_nobody() {
    let machine = with_lines(&lines(1_000, 10));
    let elsewhere = machine.sandbox.outside().join("precious");
    fs::write(&elsewhere, "precious").expect("write");
    symlink(&elsewhere, machine.path(".tdd/checkpoint.tmp")).expect("link");
    assert!(Command::new("mkfifo").arg(machine.path(".tdd/checkpoint.json")).status().expect("mkfifo").success());
    for args in [["status"], ["init"], ["status"]] {
        assert!(machine.output(&args).status.success(), "{}", machine.says(&args));
    }
    assert_eq!(fs::read_to_string(elsewhere).expect("read"), "precious");
}

#[test]
fn a_ledger_that_may_not_be_read_is_named() {
    let machine = Machine::ready();
    fs::set_permissions(machine.path(LEDGER), fs::Permissions::from_mode(0o000)).expect("chmod");
    if File::open(machine.path(LEDGER)).is_ok() {
        println!("skipped: permissions do not bind this user (root)");
        return;
    }
    let said = machine.says(&["status"]);
    assert!(said.contains("exit 3") && said.contains("events.jsonl"), "{said}");
}

#[test]
fn a_state_folder_that_is_a_file_is_refused() {
    let machine = Machine::ready();
    fs::remove_dir_all(machine.path(".tdd")).expect("remove");
    machine.sandbox.write(".tdd", "mine");
    insta::assert_snapshot!(refused(&machine));
}

#[test]
fn a_state_folder_that_is_a_link_is_refused() {
    let machine = Machine::ready();
    let elsewhere = machine.sandbox.outside().join("elsewhere");
    fs::rename(machine.path(".tdd"), &elsewhere).expect("move");
    symlink(&elsewhere, machine.path(".tdd")).expect("link");
    insta::assert_snapshot!(refused(&machine));
}

#[test]
fn a_state_folder_in_the_way_of_a_first_init_leaves_no_half_done_project() {
    insta::assert_snapshot!(Machine::with(".tdd", "mine").refused(&["init"]));
}

#[test]
fn who_holds_the_lock_is_named_and_readers_go_on() {
    let machine = Machine::ready();
    let lock = File::options().write(true).open(machine.path(".tdd/lock")).expect("the lock");
    lock.lock().expect("lock");
    lock.set_len(0).expect("truncate");
    (&lock).write_all(b"4711").expect("write");
    fs::remove_file(machine.path("kata.md")).expect("remove");
    let writer = machine.refused(&["init"]);
    let reader = machine.output(&["status"]).status.success() && machine.output(&["log"]).status.success();
    insta::assert_snapshot!(format!("{writer}readers go on: {reader}"));
}
