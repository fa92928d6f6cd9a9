//! A scratch copy of the project in `.tdd/scratch/`, kept between runs so that builds stay incremental.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use tdd_lang::twin::ScratchNeeds;

use crate::git::{FileKind, Repo, Stored};
use crate::layout::{Content, LayOutError, Layout, ScratchError};
use crate::state::StateDir;
use crate::walk::{self, Cursor, Stamp};

/// The scratch copy and its build products. Its path never changes, so that builds reuse earlier products.
#[derive(Clone, Debug)]
pub struct Scratch {
    tree: PathBuf,
    products: PathBuf,
    known: Arc<Mutex<Vec<CachedFile>>>,
    hiding: Arc<Hiding>,
}

/// Hides the scratch copy from test runners that search the project's folder.
#[derive(Debug)]
struct Hiding {
    tree: PathBuf,
    /// A path that no runner searches.
    away: PathBuf,
    is_hidden_after_use: AtomicBool,
}

impl Hiding {
    fn bring_back(&self) -> Result<(), ScratchError> {
        let doing = |source| ScratchError { action: "make the folder", path: self.tree.clone(), source };
        if !self.tree.exists() && self.away.is_dir() {
            fs::rename(&self.away, &self.tree).map_err(doing)?;
        }
        fs::create_dir_all(&self.tree).map_err(doing)
    }
}

impl Drop for Hiding {
    fn drop(&mut self) {
        let outer = self.away.parent().filter(|_| self.is_hidden_after_use.load(Ordering::Relaxed));
        if let Some(outer) = outer {
            // Failing to hide the copy is harmless; the next use tries again.
            let _made = fs::create_dir_all(outer);
            let _moved = fs::rename(&self.tree, &self.away);
        }
    }
}

/// A file that was correct when the copy was last filled.
#[derive(Debug)]
pub(crate) struct CachedFile {
    path: String,
    stamp: Stamp,
    content: Stored,
}

/// A file younger than this may be written again without its stamp changing.
const MIN_AGE: Duration = Duration::from_millis(100);

impl Scratch {
    /// The scratch copy in this state folder. The caller must hold the project's lock.
    pub fn open(state: &StateDir) -> Result<Self, ScratchError> {
        let folder = state.path().join("scratch");
        let doing = |source| ScratchError { action: "make the folder", path: folder.clone(), source };
        fs::create_dir_all(&folder).map_err(doing)?;
        let folder = folder.canonicalize().map_err(doing)?;
        let hiding = Hiding {
            tree: folder.join("tree"),
            away: folder.join("node_modules/tree"),
            is_hidden_after_use: AtomicBool::new(false),
        };
        hiding.bring_back()?;
        let (tree, products) = (folder.join("tree"), folder.join("target"));
        Ok(Self { tree, products, known: state.known(), hiding: Arc::new(hiding) })
    }

    /// Hides the copy after use if the project's test runner would find its tests, because people run that runner too.
    pub fn hide_after_use(&self, needs: &ScratchNeeds) {
        self.hiding.is_hidden_after_use.fetch_or(needs.runner_finds_copy, Ordering::Relaxed);
    }

    /// The root of the copy.
    pub fn tree(&self) -> &Path {
        &self.tree
    }

    /// The folder for build products.
    pub fn products(&self) -> &Path {
        &self.products
    }

    /// Makes the copy hold exactly these files. Files that are already correct are not touched, so that their times
    /// tell a build not to rebuild them. Files whose stamp has not changed since the last time are not read again.
    pub fn fill(&self, repo: &Repo, layout: &Layout) -> Result<(), LayOutError> {
        self.hiding.bring_back()?;
        let mut held = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        // Taken out, so that an error leaves no outdated cache.
        let before = std::mem::take(&mut *held);
        let (moment, files) = (SystemTime::now(), layout.files());
        let found = self.tidy(&files)?;
        let (mut found, mut before) = (Cursor::new(&found), Cursor::new(&before));
        let mut known = Vec::with_capacity(files.len());
        for (path, content) in &files {
            let wanted = content.name();
            let found = found.find(path.as_bytes(), |(path, _)| walk::bytes(path));
            let stamp = found.map(|(_, stamp)| *stamp).filter(|stamp| stamp.is_older(MIN_AGE, moment));
            let before = before.find(path.as_bytes(), |known| known.path.as_bytes());
            let is_known = before.is_some_and(|known| Some(known.stamp) == stamp && known.content == wanted);
            if is_known || put(repo, &self.tree.join(path), content)? == Put::WasThere {
                known.extend(stamp.map(|stamp| CachedFile { path: (*path).to_owned(), stamp, content: wanted }));
            }
        }
        *held = known;
        Ok(())
    }

    /// The files that a run in the copy changed, removed or added since `start`; added files only if `counts` accepts
    /// them. Relies on the change time, which the writing process cannot set back.
    pub fn written_since(
        &self,
        layout: &Layout,
        start: SystemTime,
        counts: impl Fn(&str) -> bool,
    ) -> Result<Vec<(String, Option<Content>)>, ScratchError> {
        let listed = walk::list(&self.tree, |_| true)
            .map_err(|error| doing("list", &self.tree.join(error.folder))(error.source))?;
        let (files, mut written) = (layout.files(), Vec::new());
        let mut found = Cursor::new(&listed.files);
        for (path, content) in &files {
            let stamp = found.find(path.as_bytes(), |(path, _)| walk::bytes(path)).map(|(_, stamp)| *stamp);
            if stamp.is_some_and(|stamp| stamp.is_older(Duration::ZERO, start - MIN_AGE)) {
                continue;
            }
            let now = Content::read(&self.tree.join(path))?;
            if now.as_ref().map(Content::name) != Some(content.name()) {
                written.push(((*path).to_owned(), now));
            }
        }
        let mut wanted = Cursor::new(&files);
        for (path, _) in &listed.files {
            let is_added = wanted.find(walk::bytes(path), |(path, _)| path.as_bytes()).is_none();
            if let Some(name) = path.to_str().filter(|name| is_added && counts(name)) {
                written.push((name.to_owned(), Content::read(&self.tree.join(path))?));
            }
        }
        Ok(written)
    }

    /// Removes everything but these files; returns the stamps of all files that were there.
    fn tidy(&self, files: &[(&str, Cow<'_, Content>)]) -> Result<Vec<(PathBuf, Stamp)>, ScratchError> {
        let folders = folders_of(files);
        let listed = walk::list(&self.tree, |folder| folders.contains(folder))
            .map_err(|error| doing("list", &self.tree.join(error.folder))(error.source))?;
        for folder in listed.skipped {
            let full = self.tree.join(folder);
            fs::remove_dir_all(&full).map_err(doing("remove", &full))?;
        }
        let mut wanted = Cursor::new(files);
        for (path, _) in &listed.files {
            if wanted.find(walk::bytes(path), |(path, _)| path.as_bytes()).is_none() {
                let full = self.tree.join(path);
                fs::remove_file(&full).map_err(doing("remove", &full))?;
            }
        }
        Ok(listed.files)
    }
}

/// What happened to a file.
#[derive(PartialEq, Eq)]
enum Put {
    WasThere,
    Written,
}

fn put(repo: &Repo, path: &Path, content: &Content) -> Result<Put, LayOutError> {
    let wanted = content.name();
    if Content::read(path)?.as_ref().map(Content::name) == Some(wanted) {
        return Ok(Put::WasThere);
    }
    write(path, &content.bytes(repo)?, wanted.kind)?;
    Ok(Put::Written)
}

/// Every folder above these files.
fn folders_of<'a>(files: &'a [(&str, Cow<'_, Content>)]) -> BTreeSet<&'a Path> {
    let mut folders = BTreeSet::new();
    let mut last = Path::new("");
    for (path, _) in files {
        let Some(folder) = Path::new(path).parent().filter(|folder| *folder != last) else { continue };
        last = folder;
        folders.extend(folder.ancestors());
    }
    folders
}

fn doing(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> ScratchError {
    let path = path.to_owned();
    move |source| ScratchError { action, path, source }
}

/// Whether a file can be overwritten in place, which is faster than replacing it.
fn is_written_over(path: &Path, kind: FileKind) -> bool {
    // The group and other permission bits depend on the user's umask.
    let is_as_made = |mode: u32| match kind {
        FileKind::File => mode & 0o7711 == 0o600,
        FileKind::Executable => mode & 0o7777 == 0o755,
        FileKind::Symlink | FileKind::Submodule => false,
    };
    fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file() && meta.nlink() == 1 && is_as_made(meta.mode()))
}

fn write(path: &Path, bytes: &[u8], kind: FileKind) -> Result<(), ScratchError> {
    let doing = |source| ScratchError { action: "write", path: path.to_owned(), source };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(doing)?;
    }
    if is_written_over(path, kind) {
        return fs::write(path, bytes).map_err(doing);
    }
    // Remove first, so that we never write through a link.
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(doing(error)),
        Ok(()) | Err(_) => {}
    }
    match kind {
        FileKind::Symlink => symlink(OsStr::from_bytes(bytes), path).map_err(doing),
        FileKind::File => fs::write(path, bytes).map_err(doing),
        FileKind::Executable => {
            fs::write(path, bytes).map_err(doing)?;
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).map_err(doing)
        }
        FileKind::Submodule => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(files: &[(&str, &str)]) -> Layout {
        let mut layout = Layout::default();
        for (path, text) in files {
            layout.set(path, Some(Content::text(text)));
        }
        layout
    }

    #[test]
    fn the_copy_holds_exactly_what_it_is_given_and_leaves_what_is_right_alone() {
        let folder = tempfile::tempdir().unwrap();
        let repo = Repo::init(folder.path()).unwrap();
        let scratch = Scratch::open(&StateDir::ensure(folder.path()).unwrap()).unwrap();
        scratch.fill(&repo, &files(&[("a/b.rs", "1"), ("a/c.rs", "1"), ("d/e.rs", "1"), ("f", "1")])).unwrap();
        let time = |path: &str| fs::metadata(scratch.tree().join(path)).unwrap().modified().unwrap();
        let before = time("a/b.rs");
        scratch.fill(&repo, &files(&[("a/b.rs", "1"), ("a/c.rs", "2"), ("d", "1"), ("f/g", "1")])).unwrap();
        assert_eq!(time("a/b.rs"), before);
        assert_eq!(fs::read_to_string(scratch.tree().join("a/c.rs")).unwrap(), "2");
        assert!(scratch.tree().join("d").is_file() && scratch.tree().join("f/g").is_file());
        scratch.fill(&repo, &files(&[])).unwrap();
        assert_eq!(fs::read_dir(scratch.tree()).unwrap().count(), 0);
    }

    #[test]
    fn a_copy_that_a_runner_would_find_is_out_of_sight_when_it_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let repo = Repo::init(folder.path()).unwrap();
        let state = StateDir::ensure(folder.path()).unwrap();
        let scratch = Scratch::open(&state).unwrap();
        scratch.fill(&repo, &files(&[("a.test.js", "1")])).unwrap();
        let tree = scratch.tree().to_owned();
        let time = || fs::metadata(tree.join("a.test.js")).unwrap().modified().unwrap();
        let before = time();
        scratch.hide_after_use(&ScratchNeeds { runner_finds_copy: true, ..ScratchNeeds::default() });
        drop(scratch);
        assert!(!tree.exists());
        let scratch = Scratch::open(&state).unwrap();
        assert_eq!(time(), before);
        scratch.hide_after_use(&ScratchNeeds::default());
        drop(scratch);
        assert!(tree.exists());
    }

    #[test]
    fn a_link_is_copied_as_a_link_and_never_written_through() {
        let folder = tempfile::tempdir().unwrap();
        let repo = Repo::init(folder.path()).unwrap();
        fs::write(folder.path().join("outside"), "mine").unwrap();
        let scratch = Scratch::open(&StateDir::ensure(folder.path()).unwrap()).unwrap();
        symlink(folder.path().join("outside"), scratch.tree().join("a")).unwrap();
        let link = Content::read(&scratch.tree().join("a")).unwrap().unwrap();
        assert_eq!(link.name().kind, FileKind::Symlink);
        scratch.fill(&repo, &files(&[("a", "theirs")])).unwrap();
        assert_eq!(fs::read_to_string(folder.path().join("outside")).unwrap(), "mine");
        let mut layout = Layout::default();
        layout.set("b", Some(link));
        scratch.fill(&repo, &layout).unwrap();
        assert!(fs::symlink_metadata(scratch.tree().join("b")).unwrap().is_symlink());
    }

    #[test]
    fn a_file_that_somebody_changed_in_the_copy_is_put_right_however_often_it_was_right_before() {
        let folder = tempfile::tempdir().unwrap();
        let repo = Repo::init(folder.path()).unwrap();
        let scratch = Scratch::open(&StateDir::ensure(folder.path()).unwrap()).unwrap();
        let wanted = files(&[("a", "1"), ("b", "1")]);
        for _ in 0..2 {
            scratch.fill(&repo, &wanted).unwrap();
            std::thread::sleep(2 * MIN_AGE);
        }
        scratch.fill(&repo, &wanted).unwrap();
        assert_eq!(scratch.known.lock().unwrap().len(), 2, "their times are known by now");
        let times = fs::metadata(scratch.tree().join("a")).unwrap().modified().unwrap();
        fs::write(scratch.tree().join("a"), "2").unwrap();
        fs::File::options().write(true).open(scratch.tree().join("a")).unwrap().set_modified(times).unwrap();
        scratch.fill(&repo, &wanted).unwrap();
        assert_eq!(fs::read_to_string(scratch.tree().join("a")).unwrap(), "1");
    }

    #[test]
    fn whatever_happens_in_the_copy_between_two_fillings_it_is_put_right() {
        let folder = tempfile::tempdir().unwrap();
        let repo = Repo::init(folder.path()).unwrap();
        let scratch = Scratch::open(&StateDir::ensure(folder.path()).unwrap()).unwrap();
        let wanted = [("a", "1"), ("b/c", "1"), ("b/d/e", "1"), ("b/d/f", "1")];
        let tree = scratch.tree().to_owned();
        let happenings: [&dyn Fn(); 9] = [
            &|| {},
            &|| fs::write(tree.join("b/c"), "2").unwrap(),
            &|| fs::remove_file(tree.join("b/d/e")).unwrap(),
            &|| fs::write(tree.join("b/d/by-product"), "x").unwrap(),
            &|| fs::create_dir(tree.join("b/new")).unwrap(),
            &|| fs::remove_dir_all(tree.join("b/d")).unwrap(),
            &|| {
                fs::remove_file(tree.join("a")).unwrap();
                symlink("b/c", tree.join("a")).unwrap();
            },
            &|| fs::set_permissions(tree.join("a"), fs::Permissions::from_mode(0o755)).unwrap(),
            &|| {
                fs::remove_dir_all(tree.join("b")).unwrap();
                fs::write(tree.join("b"), "a file").unwrap();
            },
        ];
        for happening in happenings {
            for other in ["1", "2"] {
                let layout = files(&[wanted[0], wanted[1], wanted[2], ("b/d/f", other)]);
                scratch.fill(&repo, &layout).unwrap();
                std::thread::sleep(2 * MIN_AGE);
                happening();
                scratch.fill(&repo, &layout).unwrap();
                let held = |path: &str| Content::read(&tree.join(path)).unwrap();
                assert!(layout.names().iter().all(|path| held(path) == layout.get(path).map(Cow::into_owned)));
                let count = |folder: &str| fs::read_dir(tree.join(folder)).unwrap().count();
                assert_eq!([count(""), count("b"), count("b/d")], [2, 2, 2]);
            }
        }
    }

    #[test]
    fn nothing_outside_of_the_copy_is_written_through_what_stands_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let repo = Repo::init(folder.path()).unwrap();
        let scratch = Scratch::open(&StateDir::ensure(folder.path()).unwrap()).unwrap();
        let (wanted, file, mine) = (files(&[("a", "1")]), scratch.tree().join("a"), folder.path().join("mine"));
        let pipe = || nix::unistd::mkfifo(&file, nix::sys::stat::Mode::from_bits_truncate(0o644)).unwrap();
        let stands: [&dyn Fn(); 3] =
            [&|| fs::hard_link(&mine, &file).unwrap(), &|| symlink(&mine, &file).unwrap(), &pipe];
        fs::write(&mine, "mine").unwrap();
        for stand in stands {
            scratch.fill(&repo, &wanted).unwrap();
            fs::remove_file(&file).unwrap();
            stand();
            scratch.fill(&repo, &wanted).unwrap();
            assert_eq!(fs::read_to_string(&file).unwrap(), "1");
            assert_eq!(fs::read_to_string(&mine).unwrap(), "mine");
        }
    }
}
