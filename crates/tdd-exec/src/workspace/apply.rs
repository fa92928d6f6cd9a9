//! Performs planned steps: everything that can run out of space comes first, renames come last.

use std::io;
use std::path::PathBuf;

use tdd_core::path::ConfinedPath;

use super::error::WriteError;
use super::folder::{Content, Entry, Folder, split};
use super::plan::Step;
use super::staging::{self, Staged};

/// Performs all steps or, on an error, none.
pub(super) fn apply(root: &Folder, steps: &[Step]) -> Result<(), WriteError> {
    if steps.is_empty() {
        return Ok(());
    }
    let staging = staging::open(root).map_err(|source| WriteError::Staging { source })?;
    let prepared = prepare(&staging, steps)?;
    let mut made = Made { root, folders: Vec::new(), done: Vec::new() };
    for step in prepared {
        made.make(step)?;
    }
    Ok(())
}

/// Stages all new contents, and the old ones that an undo may need.
fn prepare<'a>(staging: &'a Folder, steps: &'a [Step]) -> Result<Vec<Prepared<'a>>, WriteError> {
    let alone = steps.len() == 1;
    let prepare = |step: &'a Step| {
        let mut prepared = Prepared::new(staging, step)?;
        if !alone {
            prepared.keep()?;
        }
        Ok(prepared)
    };
    let each = steps
        .iter()
        .map(|step| prepare(step).map_err(|source: io::Error| WriteError::Write { path: step.path.clone(), source }));
    each.collect()
}

/// A step whose new content is already staged.
struct Prepared<'a> {
    staging: &'a Folder,
    path: &'a ConfinedPath,
    before: Option<&'a Content>,
    /// The old content, staged for an undo.
    kept: Option<Staged<'a>>,
    after: Option<Staged<'a>>,
    made: bool,
}

impl<'a> Prepared<'a> {
    fn new(staging: &'a Folder, step: &'a Step) -> io::Result<Self> {
        let after = step.after.as_ref().map(|content| Staged::new(staging, content)).transpose()?;
        if let Some(after) = &after {
            after.sync()?;
        }
        Ok(Self { staging, path: &step.path, before: step.before.as_ref(), kept: None, after, made: false })
    }

    /// Stages the old content for an undo. Not needed for a single step: after its rename, only the sync can fail.
    fn keep(&mut self) -> io::Result<Option<&mut Staged<'a>>> {
        if self.kept.is_none() {
            self.kept = self.before.map(|content| Staged::new(self.staging, content)).transpose()?;
        }
        Ok(self.kept.as_mut())
    }
}

/// The steps performed so far.
struct Made<'a> {
    root: &'a Folder,
    /// Folders that were created, outer ones first.
    folders: Vec<String>,
    done: Vec<Prepared<'a>>,
}

impl<'a> Made<'a> {
    fn make(&mut self, mut step: Prepared<'a>) -> Result<(), WriteError> {
        let path = step.path;
        let tried = self.try_make(&mut step);
        if step.made {
            self.done.push(step);
        }
        tried.map_err(|source| self.undo(path, source))
    }

    fn try_make(&mut self, step: &mut Prepared) -> io::Result<()> {
        let (way, name) = split(step.path.as_str());
        let folder = if step.after.is_some() { self.make_way(way)? } else { walk(self.root, way)? };
        step.check_unchanged(&folder, name)?;
        match (&mut step.after, step.before) {
            (Some(after), Some(before)) => after.replace(&folder, name, before)?,
            (Some(after), None) => after.rename_if_free(&folder, name)?,
            (None, Some(before)) => staging::remove_if_unchanged(step.staging, &folder, name, before)?,
            (None, None) => {}
        }
        step.made = true;
        folder.sync()
    }

    /// Opens a folder of the project, creating missing parts.
    fn make_way(&mut self, way: &str) -> io::Result<Folder> {
        let mut folder = self.root.again()?;
        let mut walked = String::new();
        for name in parts(way) {
            walked = if walked.is_empty() { name.to_owned() } else { format!("{walked}/{name}") };
            if folder.make(name)? {
                self.folders.push(walked.clone());
                folder.sync()?;
            }
            folder = folder.enter(name)?;
        }
        Ok(folder)
    }

    /// Undoes everything, in reverse order.
    fn undo(&mut self, path: &ConfinedPath, source: io::Error) -> WriteError {
        let mut lost = None;
        for mut step in self.done.drain(..).rev() {
            if step.put_back(self.root).is_err() {
                let rescued = step.rescue();
                lost.get_or_insert((step.path.clone(), rescued));
            }
        }
        for folder in self.folders.drain(..).rev() {
            let (way, name) = split(&folder);
            // A folder in which somebody else has put something is kept.
            let _ = walk(self.root, way).and_then(|parent| parent.remove_folder(name));
        }
        let path = path.clone();
        match lost {
            None => WriteError::Write { path, source },
            Some((undone, rescued)) => WriteError::Undo { path, source, undone, rescued },
        }
    }
}

impl Prepared<'_> {
    /// Fails if the file has changed since the plan was made.
    fn check_unchanged(&self, folder: &Folder, name: &str) -> io::Result<()> {
        let now = match folder.find(name)? {
            Entry::Nothing => None,
            Entry::File => folder.read(name)?,
            Entry::Folder | Entry::Link | Entry::Special => return Err(changed()),
        };
        if now.as_ref() == self.before { Ok(()) } else { Err(changed()) }
    }

    /// Restores the old content only if the file still holds what we wrote.
    fn put_back(&mut self, root: &Folder) -> io::Result<()> {
        let (way, name) = split(self.path.as_str());
        let folder = walk(root, way)?;
        let (after, staging) = (self.after.as_ref().map(Staged::content), self.staging);
        match (self.keep()?, after) {
            (Some(before), Some(after)) => before.replace(&folder, name, after)?,
            (Some(before), None) => before.rename_if_free(&folder, name)?,
            (None, Some(after)) => staging::remove_if_unchanged(staging, &folder, name, after)?,
            (None, None) => {}
        }
        folder.sync()
    }

    fn rescue(&mut self) -> Option<PathBuf> {
        self.keep().ok()??.rescue().ok()
    }
}

/// Another program changed a file that we were about to write.
#[derive(Debug, thiserror::Error)]
#[error("somebody else changed it at the same time")]
struct Changed;

pub(super) fn changed() -> io::Error {
    io::Error::other(Changed)
}

/// Whether a step failed because another program changed the file.
pub(super) fn is_changed(error: &io::Error) -> bool {
    matches!(error.get_ref(), Some(inner) if inner.is::<Changed>())
}

/// Opens a folder of the project; a link on the way is an error.
fn walk(root: &Folder, way: &str) -> io::Result<Folder> {
    parts(way).try_fold(root.again()?, |folder, name| folder.enter(name))
}

fn parts(way: &str) -> impl Iterator<Item = &str> {
    way.split('/').filter(|part| !part.is_empty())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn step(path: &str, before: &str, after: Option<&str>) -> Step {
        let content = |text: &str| Content { bytes: text.into(), mode: Some(0o600) };
        let path = ConfinedPath::new(path).expect("path");
        Step { path, before: Some(content(before)), after: after.map(content) }
    }

    #[test]
    fn what_somebody_else_writes_meanwhile_stays() {
        let dir = tempfile::tempdir().expect("temp");
        fs::write(dir.path().join("a"), "theirs").expect("write");
        let root = Folder::open(dir.path()).expect("root");
        let error = apply(&root, &[step("a", "old", Some("new"))]).expect_err("changed");
        assert!(matches!(error, WriteError::Write { path, .. } if path.as_str() == "a"));
        assert_eq!(fs::read_to_string(dir.path().join("a")).expect("read"), "theirs");
    }

    #[test]
    fn the_old_contents_of_several_files_are_kept_before_the_first_is_replaced() {
        let dir = tempfile::tempdir().expect("temp");
        let root = Folder::open(dir.path()).expect("root");
        let staging = staging::open(&root).expect("staging");
        let steps = [step("a", "old", Some("new")), step("b", "old", None)];
        let kept = |steps: &[Step]| -> Vec<bool> {
            prepare(&staging, steps).expect("prepare").iter().map(|step| step.kept.is_some()).collect()
        };
        assert_eq!(kept(&steps), [true, true]);
        assert_eq!(kept(&steps[..1]), [false], "its rename is the last thing that can fail");
    }

    #[test]
    fn old_content_that_cannot_be_put_back_is_rescued() {
        let dir = tempfile::tempdir().expect("temp");
        fs::create_dir(dir.path().join("d")).expect("mkdir");
        fs::write(dir.path().join("d/a"), "old").expect("write");
        fs::set_permissions(dir.path().join("d/a"), fs::Permissions::from_mode(0o600)).expect("chmod");
        let root = Folder::open(dir.path()).expect("root");
        let staging = staging::open(&root).expect("staging");
        let steps = [step("d/a", "old", Some("new")), step("missing/b", "x", None)];
        let [first, second] = steps.each_ref().map(|step| Prepared::new(&staging, step).expect("stage"));
        let mut made = Made { root: &root, folders: Vec::new(), done: Vec::new() };
        made.make(first).expect("first");
        fs::rename(dir.path().join("d"), dir.path().join("moved")).expect("move");
        let error = made.make(second).expect_err("second");
        let WriteError::Undo { path, undone, rescued: Some(rescued), .. } = error else { panic!("{error}") };
        assert_eq!((path.as_str(), undone.as_str()), ("missing/b", "d/a"));
        staging::sweep(&root).expect("sweep");
        assert_eq!(fs::read_to_string(dir.path().join(rescued)).expect("rescued"), "old");
    }
}
