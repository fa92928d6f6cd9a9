//! A small file system of its own for a folder, so that a disk can be full without harm.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a test says that needs one and may not have it.
pub const MAY_NOT_MOUNT: &str = "skipped: this user may not mount a file system";

/// A file system in memory on a folder; gone when this is dropped.
#[derive(Debug)]
pub struct Mount(PathBuf);

impl Mount {
    /// With these options of `mount`, such as `size=64k`; `None` where this user may not mount.
    pub fn tmpfs(folder: &Path, options: &str) -> Option<Self> {
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(folder).output();
        mount.is_ok_and(|output| output.status.success()).then(|| Self(folder.to_owned()))
    }

    /// Fills it to the last byte; removing the file that this gives makes room again.
    pub fn fill(&self) -> PathBuf {
        fill(&self.0)
    }
}

/// Fills the disk that a folder is on to the last byte.
pub fn fill(folder: &Path) -> PathBuf {
    let path = folder.join("filler");
    let mut file = crate::must("make a file", fs::File::create(&path));
    // Pieces that become smaller, until not even a byte finds room.
    for size in [1 << 20, 1 << 12, 1] {
        while file.write_all(&vec![0; size]).is_ok() {}
    }
    path
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _gone = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}
