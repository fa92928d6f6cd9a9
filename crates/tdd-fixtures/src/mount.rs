//! Mounts a small file system on a folder, so that a test can fill a disk without harm.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The message of a test that needs a mount and may not make one.
pub const MAY_NOT_MOUNT: &str = "skipped: this user may not mount a file system";

/// An in-memory file system on a folder, unmounted when dropped.
#[derive(Debug)]
pub struct Mount(PathBuf);

impl Mount {
    /// Mounts with these `mount` options, such as `size=64k`; `None` if the user may not mount.
    pub fn tmpfs(folder: &Path, options: &str) -> Option<Self> {
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(folder).output();
        mount.is_ok_and(|output| output.status.success()).then(|| Self(folder.to_owned()))
    }

    /// Fills it to the last byte. Deleting the returned file frees the space.
    pub fn fill(&self) -> PathBuf {
        fill(&self.0)
    }
}

/// Fills the disk of a folder to the last byte.
pub fn fill(folder: &Path) -> PathBuf {
    let path = folder.join("filler");
    let mut file = crate::must("make a file", fs::File::create(&path));
    // Ever smaller chunks, until not even one byte fits.
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
