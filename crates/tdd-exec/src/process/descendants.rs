//! Kills every process below one, however fast they fork and whatever session they moved to.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::Instant;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Kills all descendants of `root`, not `root` itself. They are stopped first, until a look finds no new
/// one: a stopped process does not fork. Gives up at `until`.
pub(super) fn kill_below(root: Pid, until: Instant) {
    let mut seen = BTreeSet::new();
    while Instant::now() < until {
        let new: Vec<Pid> = below(root, &parents()).into_iter().filter(|pid| seen.insert(*pid)).collect();
        if new.is_empty() {
            break;
        }
        send(Signal::SIGSTOP, &new);
    }
    send(Signal::SIGKILL, &seen);
}

/// A process that is gone, or not ours to kill, is passed over.
fn send<'a>(signal: Signal, pids: impl IntoIterator<Item = &'a Pid>) {
    for pid in pids {
        let _ = kill(*pid, signal);
    }
}

/// All descendants of `root`, given the parent of each process.
fn below(root: Pid, parents: &BTreeMap<Pid, Pid>) -> Vec<Pid> {
    let mut found = vec![root];
    let mut next = 0;
    while let Some(parent) = found.get(next).copied() {
        found.extend(parents.iter().filter(|(_, of)| **of == parent).map(|(pid, _)| *pid));
        next += 1;
    }
    found.split_off(1)
}

/// The parent of each process there is. Empty where there is no `/proc`.
fn parents() -> BTreeMap<Pid, Pid> {
    let Ok(entries) = fs::read_dir("/proc") else { return BTreeMap::new() };
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter_map(|pid: i32| Some((Pid::from_raw(pid), parent_in(&stat_of(pid)?)?))).collect()
}

fn stat_of(pid: i32) -> Option<String> {
    // The name in it can be any bytes.
    fs::read(format!("/proc/{pid}/stat")).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// The parent in a line of `/proc/<pid>/stat`: `pid (name) state parent …`, where the name may hold
/// anything, brackets too.
fn parent_in(stat: &str) -> Option<Pid> {
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_whitespace().nth(1)?.parse().ok().map(Pid::from_raw)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parent_is_read_whatever_the_process_calls_itself() {
        assert_eq!(parent_in("12 (sh) S 7 12 12 0"), Some(Pid::from_raw(7)));
        assert_eq!(parent_in("12 (a) S 1 (b) R 7 12"), Some(Pid::from_raw(7)));
        assert_eq!(parent_in("12 sh"), None);
    }

    #[test]
    fn all_generations_are_found_and_nobody_else() {
        let pairs = [(2, 1), (3, 2), (4, 3), (5, 2), (6, 1), (7, 6)];
        let parents = pairs.map(|(pid, of)| (Pid::from_raw(pid), Pid::from_raw(of))).into();
        let mut found: Vec<i32> = below(Pid::from_raw(2), &parents).into_iter().map(Pid::as_raw).collect();
        found.sort_unstable();
        assert_eq!(found, [3, 4, 5]);
    }
}
