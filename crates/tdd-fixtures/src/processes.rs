//! The processes that a test started, and waiting for what they do.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};
use std::{fs, thread};

use crate::must;

/// The command lines of the processes whose working directory is in this folder.
pub fn processes_in(folder: &Path) -> BTreeSet<String> {
    let folder = must("find the folder", folder.canonicalize());
    let entries = must("list processes", fs::read_dir("/proc")).flatten();
    let inside =
        entries.filter(|entry| fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(&folder)));
    inside.map(|entry| fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default()).collect()
}

/// Whether it becomes true before this time is over.
pub fn soon(limit: Duration, is_true: impl Fn() -> bool) -> bool {
    let until = Instant::now() + limit;
    while Instant::now() < until {
        if is_true() {
            return true;
        }
        thread::sleep(Duration::from_millis(5));
    }
    is_true()
}
