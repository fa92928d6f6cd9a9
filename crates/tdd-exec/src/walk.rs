//! Lists folders with the times of what is in them, and looks at them again: two threads share the work where there is
//! much, and a folder whose own times are the same is not listed anew.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata};
use std::io;
use std::iter;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::panic;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime};

use nix::fcntl::{AtFlags, OFlag};
use nix::sys::stat::fstatat;

/// Which writing of a file this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    inode: u64,
    size: u64,
    mode: u32,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    pub(crate) fn of(meta: &Metadata) -> Self {
        Self {
            inode: meta.ino(),
            size: meta.size(),
            mode: meta.mode(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
        }
    }

    /// That of the file or link at this path, if there is one.
    pub(crate) fn at(path: &Path) -> Option<Self> {
        fs::symlink_metadata(path).ok().map(|meta| Self::of(&meta))
    }

    /// That of the file or link with this name in a folder.
    fn below(folder: &File, name: &OsStr) -> Option<Self> {
        let found = fstatat(folder, name, AtFlags::AT_SYMLINK_NOFOLLOW).ok()?;
        #[allow(clippy::useless_conversion, reason = "it is shorter on other systems")]
        let mode = u32::from(found.st_mode);
        Some(Self {
            inode: found.st_ino,
            size: u64::try_from(found.st_size).ok()?,
            mode,
            modified: (found.st_mtime, found.st_mtime_nsec),
            changed: (found.st_ctime, found.st_ctime_nsec),
        })
    }

    /// Whether the file was left alone for so long before that moment. One that is younger may be written once more
    /// without looking any different.
    pub(crate) fn is_older(&self, than: Duration, moment: SystemTime) -> bool {
        let is_older = |(seconds, nanoseconds): (i64, i64)| {
            let since = Duration::new(u64::try_from(seconds).unwrap_or(0), u32::try_from(nanoseconds).unwrap_or(0));
            moment.duration_since(SystemTime::UNIX_EPOCH + since).is_ok_and(|age| age > than)
        };
        is_older(self.changed) && is_older(self.modified)
    }
}

/// What is in a folder under one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) name: OsString,
    pub(crate) kind: Kind,
}

/// What it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A folder; it is not looked into.
    Folder,
    /// Anything else; `None` if its times are not known, or say nothing.
    Other(Option<Stamp>),
}

impl Kind {
    /// Whether it is known to be what it was.
    fn is_still(self, before: Self) -> bool {
        self == before && self != Self::Other(None)
    }
}

/// What a folder holds.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    /// While this stays, no name comes or goes; `None` if it says nothing.
    stamp: Option<Stamp>,
    pub(crate) items: Vec<Item>,
}

impl Folder {
    fn list(path: &Path) -> io::Result<Self> {
        let stamp = Stamp::at(path);
        let mut items = Vec::new();
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            // What went away in between has no times, and will be looked for.
            let stamp = || entry.metadata().ok().map(|meta| Stamp::of(&meta));
            let kind = if is_folder { Kind::Folder } else { Kind::Other(stamp()) };
            items.push(Item { name: entry.file_name(), kind });
        }
        Ok(Self { stamp, items })
    }

    /// What is there now.
    fn again(&self, path: &Path) -> io::Result<Again> {
        // Whatever else stands in its place must not keep us waiting.
        let open = File::options().read(true).custom_flags(OFlag::O_DIRECTORY.bits()).open(path)?;
        let now = Stamp::of(&open.metadata()?);
        if self.stamp != Some(now) {
            return Self::list(path).map(Again::Other);
        }
        let mut changed = Vec::new();
        for (at, item) in self.items.iter().enumerate() {
            if let Kind::Other(before) = item.kind {
                let now = Stamp::below(&open, &item.name);
                if now.is_none() || now != before {
                    changed.push((at, now));
                }
            }
        }
        Ok(Again::Same(changed))
    }

    /// What was written a moment before may be written once more without looking any different.
    fn settle(&mut self, margin: Duration, moment: SystemTime) {
        let settled = |stamp: &Stamp| stamp.is_older(margin, moment);
        self.stamp = self.stamp.filter(settled);
        for item in &mut self.items {
            if let Kind::Other(stamp) = &mut item.kind {
                *stamp = stamp.filter(settled);
            }
        }
    }
}

/// What a second look at a folder saw.
#[derive(Debug)]
enum Again {
    /// The same names, of which these are not known to be what they were.
    Same(Vec<(usize, Option<Stamp>)>),
    /// Whatever this is.
    Other(Folder),
}

/// Something that is not known to be what it was.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct News {
    /// The place of its folder among all of them.
    pub(crate) folder: usize,
    pub(crate) name: OsString,
    /// `None` if it was not there.
    pub(crate) before: Option<Kind>,
    /// `None` if it is there no more.
    pub(crate) now: Option<Kind>,
}

/// What some folders held when they were last looked at.
#[derive(Debug)]
pub(crate) struct Seen {
    paths: Arc<Vec<PathBuf>>,
    folders: Arc<Vec<Folder>>,
    margin: Duration,
}

/// A look at the times of all files in some folders that goes on while something else is done.
#[derive(Debug)]
pub struct Look {
    moment: SystemTime,
    of: Arc<Vec<Folder>>,
    listing: JoinHandle<Vec<io::Result<Again>>>,
}

impl Look {
    /// When it was begun.
    pub(crate) fn moment(&self) -> SystemTime {
        self.moment
    }
}

impl Seen {
    /// What was listed just now, at that moment. Times that are younger than the margin say nothing.
    pub(crate) fn new(listed: Vec<(PathBuf, Folder)>, margin: Duration, moment: SystemTime) -> Self {
        let (paths, mut folders): (Vec<_>, Vec<_>) = listed.into_iter().unzip();
        for folder in &mut folders {
            folder.settle(margin, moment);
        }
        Self { paths: Arc::new(paths), folders: Arc::new(folders), margin }
    }

    /// Where the folders are, below the root.
    pub(crate) fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// The folders with what was in them.
    pub(crate) fn folders(&self) -> impl Iterator<Item = (&Path, &Folder)> {
        self.paths.iter().map(PathBuf::as_path).zip(self.folders.iter())
    }

    /// Begins to look at the same folders again.
    pub(crate) fn begin(&self, root: &Path) -> Option<Look> {
        let (moment, of) = (SystemTime::now(), Arc::clone(&self.folders));
        let (root, paths, folders) = (root.to_owned(), Arc::clone(&self.paths), Arc::clone(&self.folders));
        let listing = thread::Builder::new().spawn(move || again(&root, &paths, &folders)).ok()?;
        Some(Look { moment, of, listing })
    }

    /// All that is new in the same folders, or was when that look was begun; from now on it is known. `None` if one of
    /// them cannot be looked at: then nothing here is to be relied on any more.
    pub(crate) fn look_again(&mut self, root: &Path, begun: Option<Look>) -> Option<Vec<News>> {
        let begun = begun.filter(|look| Arc::ptr_eq(&look.of, &self.folders));
        let begun = begun.and_then(|look| Some((look.moment, look.listing.join().ok()?)));
        let (moment, seen) = begun.unwrap_or_else(|| (SystemTime::now(), again(root, &self.paths, &self.folders)));
        let (margin, mut news) = (self.margin, Vec::new());
        for (at, (folder, seen)) in Arc::make_mut(&mut self.folders).iter_mut().zip(seen).enumerate() {
            match seen.ok()? {
                Again::Same(changed) => {
                    for (item, stamp) in changed {
                        let (name, before) = (folder.items[item].name.clone(), Some(folder.items[item].kind));
                        news.push(News { folder: at, name, before, now: Some(Kind::Other(stamp)) });
                        folder.items[item].kind = Kind::Other(stamp.filter(|stamp| stamp.is_older(margin, moment)));
                    }
                }
                Again::Other(mut now) => {
                    news.extend(between(at, &folder.items, &now.items));
                    now.settle(margin, moment);
                    *folder = now;
                }
            }
        }
        Some(news)
    }

    /// Notes that this file was written, and is not known any more.
    pub(crate) fn forget(&mut self, path: &Path) {
        let parent = path.parent().unwrap_or(Path::new(""));
        let Some(at) = self.paths.iter().position(|folder| folder == parent) else { return };
        let folder = &mut Arc::make_mut(&mut self.folders)[at];
        match folder.items.iter_mut().find(|item| Some(item.name.as_os_str()) == path.file_name()) {
            Some(item) => item.kind = Kind::Other(None),
            None => folder.stamp = None,
        }
    }
}

/// What is new in a folder.
fn between(folder: usize, before: &[Item], now: &[Item]) -> Vec<News> {
    let mut gone: HashMap<&OsStr, Kind> = before.iter().map(|item| (item.name.as_os_str(), item.kind)).collect();
    let mut news = Vec::new();
    for item in now {
        let before = gone.remove(item.name.as_os_str());
        if !before.is_some_and(|before| item.kind.is_still(before)) {
            news.push(News { folder, name: item.name.clone(), before, now: Some(item.kind) });
        }
    }
    news.extend(gone.into_iter().map(|(name, kind)| News {
        folder,
        name: name.to_owned(),
        before: Some(kind),
        now: None,
    }));
    news
}

/// Lists each of these folders below `root`, each in the order in which the file system has it.
pub(crate) fn list(root: &Path, paths: &[PathBuf]) -> Vec<io::Result<Folder>> {
    shared(paths.len(), |at| Folder::list(&root.join(&paths[at])))
}

fn again(root: &Path, paths: &[PathBuf], folders: &[Folder]) -> Vec<io::Result<Again>> {
    shared(folders.len(), |at| folders[at].again(&root.join(&paths[at])))
}

/// With fewer folders than this, a second thread costs more than it saves.
pub(crate) const MANY: usize = 16;

/// Does it for each number below `count`; two threads share the work where that is much.
fn shared<T: Send>(count: usize, each: impl Fn(usize) -> T + Sync) -> Vec<T> {
    if count < MANY {
        return (0..count).map(each).collect();
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let numbers = iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed)).take_while(|at| *at < count);
        numbers.map(|at| (at, each(at))).collect::<Vec<_>>()
    };
    let mut done = thread::scope(|scope| {
        let other = thread::Builder::new().spawn_scoped(scope, work);
        let mut done = work();
        // Without a second thread it takes longer, and that is all.
        if let Ok(other) = other {
            done.extend(other.join().unwrap_or_else(|panic| panic::resume_unwind(panic)));
        }
        done
    });
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, one)| one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARGIN: Duration = Duration::from_millis(50);

    fn seen(root: &Path) -> Seen {
        thread::sleep(2 * MARGIN);
        seen_at_once(root)
    }

    fn seen_at_once(root: &Path) -> Seen {
        let paths = vec![PathBuf::new(), PathBuf::from("a")];
        let moment = SystemTime::now();
        let listed = list(root, &paths).into_iter().map(Result::unwrap);
        Seen::new(paths.iter().cloned().zip(listed).collect(), MARGIN, moment)
    }

    fn project() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("a")).unwrap();
        fs::write(folder.path().join("a/b"), "1").unwrap();
        fs::write(folder.path().join("c"), "1").unwrap();
        folder
    }

    #[test]
    fn what_happens_is_news_once_and_what_does_not_is_none() {
        let folder = project();
        let root = folder.path();
        let mut seen = seen(root);
        assert_eq!(seen.look_again(root, None).unwrap(), []);
        assert!(seen.folders().all(|(path, folder)| matches!(folder.again(&root.join(path)), Ok(Again::Same(_)))));
        fs::write(root.join("a/b"), "2").unwrap();
        fs::write(root.join("a/new"), "2").unwrap();
        fs::remove_file(root.join("c")).unwrap();
        thread::sleep(2 * MARGIN);
        let news = seen.look_again(root, None).unwrap();
        let mut told: Vec<_> =
            news.iter().map(|news| (news.folder, news.name.to_str().unwrap(), news.now.is_some())).collect();
        told.sort_unstable();
        assert_eq!(told, [(0, "c", false), (1, "b", true), (1, "new", true)]);
        assert_eq!(seen.look_again(root, None).unwrap(), []);
    }

    #[test]
    fn a_folder_that_says_it_is_old_is_not_believed() {
        let folder = project();
        let root = folder.path();
        let mut seen = seen(root);
        let open = File::open(root.join("a")).unwrap();
        let time = open.metadata().unwrap().modified().unwrap();
        fs::write(root.join("a/new"), "2").unwrap();
        open.set_modified(time).unwrap();
        let news = seen.look_again(root, None).unwrap();
        assert_eq!(news.iter().map(|news| news.name.to_str().unwrap()).collect::<Vec<_>>(), ["new"]);
    }

    #[test]
    fn a_folder_that_is_too_young_is_listed_again() {
        let folder = project();
        let seen = seen_at_once(folder.path());
        let again = |(path, known): (&Path, &Folder)| known.again(&folder.path().join(path)).unwrap();
        assert!(seen.folders().all(|known| matches!(again(known), Again::Other(_))));
    }

    #[test]
    fn a_file_that_is_too_young_stays_news() {
        let folder = project();
        let root = folder.path();
        let mut seen = seen(root);
        fs::write(root.join("c"), "2").unwrap();
        assert_eq!(seen.look_again(root, None).unwrap().len(), 1);
        assert_eq!(seen.look_again(root, None).unwrap().len(), 1);
    }

    #[test]
    fn a_look_is_of_no_use_for_what_was_forgotten_since() {
        let folder = project();
        let root = folder.path();
        let mut seen = seen(root);
        let look = seen.begin(root).unwrap();
        seen.forget(Path::new("a/b"));
        fs::write(root.join("c"), "2").unwrap();
        let news = seen.look_again(root, Some(look)).unwrap();
        assert_eq!(news.iter().map(|news| news.name.to_str().unwrap()).collect::<Vec<_>>(), ["c", "b"]);
    }

    #[test]
    fn what_stands_in_the_place_of_a_folder_is_not_waited_for() {
        let folder = project();
        let root = folder.path();
        let mut seen = seen(root);
        fs::remove_dir_all(root.join("a")).unwrap();
        nix::unistd::mkfifo(&root.join("a"), nix::sys::stat::Mode::S_IRUSR).unwrap();
        assert!(seen.look_again(root, None).is_none());
    }

    #[test]
    fn two_threads_leave_nothing_out() {
        assert_eq!(shared(1000, |at| at), (0..1000).collect::<Vec<_>>());
    }
}
