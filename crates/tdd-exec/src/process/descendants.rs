//! Kills all descendants of a process, however fast they fork and whatever session they moved to.

use std::collections::BTreeSet;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Kills the descendants of `root`, but not `root` itself. Stops each one as it is found, until a pass finds no new
/// one: a stopped process neither forks nor exits.
pub(super) fn kill_below(root: Pid) {
    let mut seen = BTreeSet::new();
    while stop_new(root, &mut seen) {}
    for pid in &seen {
        // The process may have exited, or not be ours to kill.
        let _ = kill(*pid, Signal::SIGKILL);
    }
}

/// Kills all descendants of `root` and waits until they are dead or the deadline `until` passes.
pub(super) fn end_below(root: Pid, until: Instant) {
    while Instant::now() < until {
        kill_below(root);
        if !is_any_alive_below(root) {
            return;
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// Kills all processes of a session and their descendants, and waits until they are dead or the deadline passes. This
/// reaches processes that killed their supervisor: they are still in its session.
pub(super) fn end_session(session: Pid, until: Instant) {
    while Instant::now() < until {
        let members = processes(|stat| stat.session == session && stat.is_alive());
        if members.is_empty() {
            return;
        }
        for member in members {
            kill_below(member);
            let _ = kill(member, Signal::SIGKILL);
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// One pass: stops every descendant that is not in `seen`; returns whether there was one.
fn stop_new(root: Pid, seen: &mut BTreeSet<Pid>) -> bool {
    let mut found_new = false;
    let mut parents = vec![root];
    while let Some(parent) = parents.pop() {
        for child in children(parent) {
            if seen.insert(child) {
                let _ = kill(child, Signal::SIGSTOP);
                found_new = true;
            }
            parents.push(child);
        }
    }
    found_new
}

fn is_any_alive_below(root: Pid) -> bool {
    let is_alive = |pid| stat(pid).is_some_and(|stat| stat.is_alive());
    children(root).into_iter().any(|child| is_alive(child) || is_any_alive_below(child))
}

/// The children of a process, from the per-thread lists in `/proc`. Scanning all processes instead takes longer than
/// some of them live.
fn children(parent: Pid) -> Vec<Pid> {
    let Ok(threads) = fs::read_dir(format!("/proc/{parent}/task")) else { return Vec::new() };
    let lists: Result<Vec<String>, _> =
        threads.flatten().map(|thread| fs::read_to_string(thread.path().join("children"))).collect();
    match lists {
        Ok(lists) => lists.iter().flat_map(|list| pids_in(list)).collect(),
        // A thread exited in the meantime, or this kernel lacks the lists.
        Err(_) => processes(|stat| stat.parent == parent),
    }
}

fn pids_in(list: &str) -> Vec<Pid> {
    list.split_whitespace().filter_map(|pid| pid.parse().ok()).map(Pid::from_raw).collect()
}

/// All processes that match; none if there is no `/proc`.
fn processes(holds: impl Fn(&Stat) -> bool) -> Vec<Pid> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).map(Pid::from_raw);
    pids.filter(|pid| stat(*pid).is_some_and(|stat| holds(&stat))).collect()
}

/// The fields we need from `/proc/<pid>/stat`.
#[derive(Debug, PartialEq, Eq)]
struct Stat {
    state: char,
    parent: Pid,
    session: Pid,
}

impl Stat {
    /// A zombie counts as dead: it runs nothing and holds nothing.
    fn is_alive(&self) -> bool {
        self.state != 'Z' && self.state != 'X'
    }
}

fn stat(pid: Pid) -> Option<Stat> {
    // The process name in the line can be any bytes.
    let bytes = fs::read(format!("/proc/{pid}/stat")).ok()?;
    parse_stat(&String::from_utf8_lossy(&bytes))
}

/// Parses `pid (name) state parent group session …`; the name may contain anything, even brackets.
fn parse_stat(line: &str) -> Option<Stat> {
    let (_, after_name) = line.rsplit_once(')')?;
    let mut words = after_name.split_whitespace();
    let state = words.next()?.chars().next()?;
    let mut pids = words.map_while(|word| word.parse().ok()).map(Pid::from_raw);
    Some(Stat { state, parent: pids.next()?, session: pids.nth(1)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_read_whatever_the_process_calls_itself() {
        let stat = |state, parent, session| {
            Some(Stat { state, parent: Pid::from_raw(parent), session: Pid::from_raw(session) })
        };
        assert_eq!(parse_stat("12 (sh) S 7 12 5 0"), stat('S', 7, 5));
        assert_eq!(parse_stat("12 (a) S 1 (b) R 7 12 6"), stat('R', 7, 6));
        assert_eq!(parse_stat("12 sh"), None);
    }

    #[test]
    fn a_list_of_children_may_be_empty() {
        assert_eq!(pids_in("12 7 \n"), [12, 7].map(Pid::from_raw));
        assert_eq!(pids_in(""), []);
    }

    #[test]
    fn both_ways_find_the_same_children() {
        let mut child = std::process::Command::new("sleep").arg("100").spawn().expect("start");
        let pid = Pid::from_raw(child.id().cast_signed());
        let us = nix::unistd::getpid();
        let found = [children(us).contains(&pid), processes(|stat| stat.parent == us).contains(&pid)];
        child.kill().expect("kill");
        child.wait().expect("wait");
        assert_eq!(found, [true, true]);
    }
}
