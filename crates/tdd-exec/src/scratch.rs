//! A copy of the project in `.tdd/scratch/`, kept between runs so that builds in it stay incremental.

use std::collections::{BTreeMap, BTreeSet, HashMap};
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

use crate::git::{FileKind, Repo};
use crate::layout::{Content, LayOutError, Layout, ScratchError};
use crate::state::StateDir;
use crate::walk::{self, Folder, Kind, Look, News};

/// The copy and what is built in it. Its place never changes, so that a build finds what it built before.
#[derive(Clone, Debug)]
pub struct Scratch {
    tree: PathBuf,
    products: PathBuf,
    held: Arc<Mutex<Held>>,
    sight: Arc<Sight>,
}

/// Whether the copy can be seen by whoever looks for tests below the project.
#[derive(Debug)]
struct Sight {
    tree: PathBuf,
    /// Where no runner looks.
    away: PathBuf,
    is_hidden_after_use: AtomicBool,
}

impl Sight {
    fn bring_back(&self) -> Result<(), ScratchError> {
        let doing = |source| ScratchError { action: "make the folder", path: self.tree.clone(), source };
        if !self.tree.exists() && self.away.is_dir() {
            fs::rename(&self.away, &self.tree).map_err(doing)?;
        }
        fs::create_dir_all(&self.tree).map_err(doing)
    }
}

impl Drop for Sight {
    fn drop(&mut self) {
        let outer = self.away.parent().filter(|_| self.is_hidden_after_use.load(Ordering::Relaxed));
        if let Some(outer) = outer {
            // What cannot be put away does no harm to us; the next use tries again.
            let _made = fs::create_dir_all(outer);
            let _moved = fs::rename(&self.tree, &self.away);
        }
    }
}

/// What a copy held when it was last filled.
#[derive(Debug, Default)]
pub(crate) struct Held {
    layout: Layout,
    /// What is in each folder, sorted by path; the times are those of files that were looked into.
    seen: Option<walk::Seen>,
    /// Begun before it is filled again.
    ahead: Option<Look>,
}

/// Younger than this, a file may be written once more without looking any different.
const YOUNG: Duration = Duration::from_millis(100);

impl Scratch {
    /// The copy of the project with this state folder. Only for the one who holds the project's lock.
    pub fn open(state: &StateDir) -> Result<Self, ScratchError> {
        let folder = state.path().join("scratch");
        let doing = |source| ScratchError { action: "make the folder", path: folder.clone(), source };
        fs::create_dir_all(&folder).map_err(doing)?;
        let folder = folder.canonicalize().map_err(doing)?;
        let sight = Sight {
            tree: folder.join("tree"),
            away: folder.join("node_modules/tree"),
            is_hidden_after_use: AtomicBool::new(false),
        };
        sight.bring_back()?;
        let (tree, products) = (folder.join("tree"), folder.join("target"));
        Ok(Self { tree, products, held: state.held(), sight: Arc::new(sight) })
    }

    /// Puts the copy out of sight when it is no longer used, where the project's runner would find its tests: people
    /// run that, too.
    pub fn hide_after_use(&self, needs: &ScratchNeeds) {
        self.sight.is_hidden_after_use.fetch_or(needs.is_found, Ordering::Relaxed);
    }

    /// Where the copy is.
    pub fn tree(&self) -> &Path {
        &self.tree
    }

    /// Where builds put their products.
    pub fn products(&self) -> &Path {
        &self.products
    }

    /// Makes the copy hold exactly these files. One that is right already is not touched: by its time a
    /// build knows that it need not be built again. One that was looked into before, and that nobody wrote
    /// since, is not looked into again.
    pub fn fill(&self, repo: &Repo, layout: &Layout) -> Result<(), LayOutError> {
        self.sight.bring_back()?;
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        // What goes wrong on the way leaves nothing to rely on.
        let mut last = std::mem::take(&mut *held);
        let known = match self.touched(&mut last, layout) {
            Some((paths, known)) => self.put(repo, layout, paths, known)?,
            None => self.fill_anew(repo, layout, &last)?,
        };
        *held = known;
        Ok(())
    }

    /// Begins to look at the copy of the project with this state folder, while something else is done that has nothing
    /// to do with it: the next filling will want to know what is in it.
    pub fn look_ahead(state: &StateDir) {
        let (held, tree) = (state.held(), state.path().join("scratch/tree"));
        let mut held = held.lock().unwrap_or_else(PoisonError::into_inner);
        held.ahead =
            held.seen.as_ref().filter(|seen| seen.paths().len() >= walk::MANY).and_then(|seen| seen.begin(&tree));
    }

    /// Like [`Scratch::fill`], but looks at no file that was right before: somebody may have written to it since. For
    /// tools whose outcome is judged again, like a formatter. The next filling sees all the same what was written.
    pub fn touch_up(&self, repo: &Repo, layout: &Layout) -> Result<(), LayOutError> {
        self.sight.bring_back()?;
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(paths) = held.to_change(layout) else {
            drop(held);
            return self.fill(repo, layout);
        };
        let last = std::mem::take(&mut *held);
        *held = self.put(repo, layout, paths, Held { layout: layout.clone(), ahead: None, ..last })?;
        Ok(())
    }

    /// The files that may not be as they are to be, and all that is known besides; `None` if folders come or go.
    fn touched(&self, last: &mut Held, layout: &Layout) -> Option<(BTreeSet<String>, Held)> {
        let mut paths = last.to_change(layout)?;
        let mut seen = last.seen.take()?;
        let news = seen.look_again(&self.tree, last.ahead.take())?;
        let changed: Option<Vec<String>> = news.iter().map(|news| changed(&seen.paths()[news.folder], news)).collect();
        if let Some(changed) = changed.filter(|paths| paths.iter().all(|path| layout.get(path).is_some())) {
            paths.extend(changed);
            return Some((paths, Held { layout: layout.clone(), seen: Some(seen), ahead: None }));
        }
        // What is new was not looked into.
        for News { folder, name, .. } in &news {
            seen.forget(&seen.paths()[*folder].join(name));
        }
        last.seen = Some(seen);
        None
    }

    /// Makes every folder and no other, and puts right all files but those that are known to be.
    fn fill_anew(&self, repo: &Repo, layout: &Layout, last: &Held) -> Result<Held, LayOutError> {
        let (moment, names) = (SystemTime::now(), layout.names());
        let folders = folders_of(&names);
        remove_others(&self.tree, Path::new(""), &folders, &names)?;
        for folder in &folders {
            let path = self.tree.join(folder);
            fs::create_dir_all(&path).map_err(doing("make the folder", &path))?;
        }
        let mut listed = Vec::with_capacity(folders.len());
        for (at, folder) in walk::list(&self.tree, &folders).into_iter().enumerate() {
            let folder = folder.map_err(doing("list", &self.tree.join(&folders[at])))?;
            listed.push((folders[at].clone(), folder));
        }
        let seen = walk::Seen::new(listed, YOUNG, moment);
        let known = Held { layout: layout.clone(), seen: Some(seen), ahead: None };
        let right = known.same_as(last);
        let wrong = names.iter().filter(|path| !right.contains(path.as_str())).cloned().collect();
        self.put(repo, layout, wrong, known)
    }

    /// Puts these files right. The times of one that had to be written are not known any more.
    fn put(&self, repo: &Repo, layout: &Layout, paths: BTreeSet<String>, mut known: Held) -> Result<Held, LayOutError> {
        for path in paths {
            let Some(content) = layout.get(&path) else { continue };
            let (full, name) = (self.tree.join(&path), content.name());
            if Content::read(&full)?.as_ref().map(Content::name) != Some(name) {
                write(&full, &content.bytes(repo)?, name.kind)?;
                known.seen.iter_mut().for_each(|seen| seen.forget(Path::new(&path)));
            }
        }
        Ok(known)
    }
}

impl Held {
    /// The files that are to be other than they were; `None` if one is to go, or a folder to come.
    fn to_change(&self, layout: &Layout) -> Option<BTreeSet<String>> {
        let paths = self.layout.differing(layout);
        let folders = self.seen.as_ref()?.paths();
        let is_folder = |folder: &Path| folders.binary_search_by(|known| known.as_path().cmp(folder)).is_ok();
        let stays = |path: &String| layout.get(path).is_some() && Path::new(path).parent().is_some_and(is_folder);
        Some(paths).filter(|paths| paths.iter().all(stays))
    }

    /// The files that hold what they held then, and are to hold the same now.
    fn same_as(&self, last: &Self) -> BTreeSet<String> {
        let before: BTreeMap<&Path, &Folder> = last.seen.iter().flat_map(walk::Seen::folders).collect();
        let mut same = BTreeSet::new();
        for (folder, now) in self.seen.iter().flat_map(walk::Seen::folders) {
            let Some(before) = before.get(folder) else { continue };
            let items = before.items.iter();
            let before: HashMap<&OsStr, Kind> = items.map(|item| (item.name.as_os_str(), item.kind)).collect();
            for item in now.items.iter().filter(|item| matches!(item.kind, Kind::Other(Some(_)))) {
                let path = folder.join(&item.name);
                if let Some(path) = path.to_str().filter(|_| before.get(item.name.as_os_str()) == Some(&item.kind))
                    && last.layout.name(path) == self.layout.name(path)
                {
                    same.insert(path.to_owned());
                }
            }
        }
        same
    }
}

/// The file that may have changed; `None` if there is more to it.
fn changed(folder: &Path, news: &News) -> Option<String> {
    let is_file = |kind: Option<Kind>| kind != Some(Kind::Folder);
    let path = folder.join(&news.name);
    path.to_str().filter(|_| is_file(news.before) && is_file(news.now)).map(str::to_owned)
}

/// Every folder above these paths, the root among them, sorted.
fn folders_of(names: &[String]) -> Vec<PathBuf> {
    let mut folders = BTreeSet::from([PathBuf::new()]);
    let mut last = Path::new("");
    for name in names {
        let Some(folder) = Path::new(name).parent().filter(|folder| *folder != last) else { continue };
        last = folder;
        folders.extend(folder.ancestors().map(Path::to_owned));
    }
    folders.into_iter().collect()
}

fn doing(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> ScratchError {
    let path = path.to_owned();
    move |source| ScratchError { action, path, source }
}

/// Removes what is not to be there.
fn remove_others(root: &Path, folder: &Path, folders: &[PathBuf], names: &[String]) -> Result<(), ScratchError> {
    let full = root.join(folder);
    for entry in fs::read_dir(&full).map_err(doing("tidy up", &full))? {
        let entry = entry.map_err(doing("tidy up", &full))?;
        let (path, full) = (folder.join(entry.file_name()), entry.path());
        let is_folder = entry.file_type().map_err(doing("tidy up", &full))?.is_dir();
        let is_name = |path: &str| names.binary_search_by(|name| name.as_str().cmp(path)).is_ok();
        if is_folder && folders.binary_search(&path).is_ok() {
            remove_others(root, &path, folders, names)?;
        } else if is_folder {
            fs::remove_dir_all(&full).map_err(doing("tidy up", &full))?;
        } else if !path.to_str().is_some_and(is_name) {
            fs::remove_file(&full).map_err(doing("tidy up", &full))?;
        }
    }
    Ok(())
}

/// Whether there is a file that needs nothing but other content, which is faster than another file.
fn is_written_over(path: &Path, kind: FileKind) -> bool {
    // What else a group and others may do is for the user's own mask to say.
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
    // Whatever is there, a link above all, is not written through.
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
    use std::borrow::Cow;

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
        scratch.hide_after_use(&ScratchNeeds { is_found: true, ..ScratchNeeds::default() });
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
            std::thread::sleep(2 * YOUNG);
        }
        scratch.fill(&repo, &wanted).unwrap();
        let known = |(_, folder): (&Path, &Folder)| folder.items.iter().all(|item| item.kind != Kind::Other(None));
        let all_known = scratch.held.lock().unwrap().seen.as_ref().unwrap().folders().all(known);
        assert!(all_known, "their times are known by now");
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
                std::thread::sleep(2 * YOUNG);
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

    #[test]
    fn what_a_touch_up_does_not_look_at_the_next_filling_does() {
        let folder = tempfile::tempdir().unwrap();
        let repo = Repo::init(folder.path()).unwrap();
        let scratch = Scratch::open(&StateDir::ensure(folder.path()).unwrap()).unwrap();
        let read = |path: &str| fs::read_to_string(scratch.tree().join(path)).unwrap();
        for _ in 0..2 {
            scratch.fill(&repo, &files(&[("a", "1"), ("b", "1")])).unwrap();
            std::thread::sleep(2 * YOUNG);
        }
        fs::write(scratch.tree().join("b"), "2").unwrap();
        scratch.touch_up(&repo, &files(&[("a", "3"), ("b", "1")])).unwrap();
        assert_eq!(read("a"), "3");
        scratch.fill(&repo, &files(&[("a", "3"), ("b", "1")])).unwrap();
        assert_eq!(read("b"), "1");
    }

    #[test]
    fn a_look_that_was_begun_ahead_misses_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let repo = Repo::init(folder.path()).unwrap();
        let state = StateDir::ensure(folder.path()).unwrap();
        let scratch = Scratch::open(&state).unwrap();
        let paths: Vec<String> = (0..walk::MANY).map(|n| format!("{n}/a")).collect();
        let wanted = |first: &'static str| {
            let mut wanted: Vec<(&str, &str)> = paths.iter().map(|path| (path.as_str(), "1")).collect();
            wanted[0].1 = first;
            files(&wanted)
        };
        let read = |path: &str| fs::read_to_string(scratch.tree().join(path)).unwrap();
        for _ in 0..2 {
            scratch.fill(&repo, &wanted("1")).unwrap();
            std::thread::sleep(2 * YOUNG);
        }
        let is_begun = || scratch.held.lock().unwrap().ahead.is_some();
        fs::write(scratch.tree().join("3/a"), "2").unwrap();
        Scratch::look_ahead(&state);
        assert!(is_begun());
        scratch.fill(&repo, &wanted("1")).unwrap();
        assert_eq!((read("3/a").as_str(), is_begun()), ("1", false));
        Scratch::look_ahead(&state);
        scratch.touch_up(&repo, &wanted("2")).unwrap();
        assert!(!is_begun(), "it is older than what was written since");
        scratch.fill(&repo, &wanted("1")).unwrap();
        assert_eq!(read("0/a"), "1");
    }
}
