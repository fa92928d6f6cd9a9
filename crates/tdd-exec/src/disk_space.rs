//! Free space on the disks that a command writes to.

use std::fs;
use std::path::{Path, PathBuf};

use nix::sys::statvfs::statvfs;

/// The smallest free space, in bytes, among the folder, everything mounted below it, the home and the temporary folder.
pub fn least_free_space(folder: &Path) -> u64 {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let places = mounted_below(folder).into_iter().chain([folder.to_owned(), std::env::temp_dir()]).chain(home);
    places.filter_map(|place| free_space(&place)).min().unwrap_or(u64::MAX)
}

#[allow(clippy::useless_conversion, reason = "the numbers are smaller on some systems")]
fn free_space(place: &Path) -> Option<u64> {
    // A file system without blocks, such as `/proc`, does not count.
    let found = statvfs(place).ok().filter(|found| found.blocks() > 0)?;
    Some(u64::from(found.blocks_available()).saturating_mul(u64::from(found.fragment_size())))
}

/// The mount points below a folder; none if the system does not list them.
fn mounted_below(folder: &Path) -> Vec<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    // The fifth field is the mount point.
    let points = mounts.lines().filter_map(|line| line.split(' ').nth(4)).map(PathBuf::from);
    points.filter(|point| point.starts_with(folder) && point != folder).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_where_tests_are_run() {
        let folder = tempfile::tempdir().unwrap();
        assert!(least_free_space(folder.path()) > 0);
        assert_eq!(free_space(&folder.path().join("missing")), None);
    }
}
