//! Permitted changes on real disks: all or nothing, and never outside the project.

#![expect(clippy::expect_used, reason = "a test that cannot set itself up has failed")]

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tdd_core::change::Change;
use tdd_core::digest::Digest;
use tdd_core::gate::{self, Action, Decision, Edit, Limits, MAX_FILE, Permit, Request, permit_scaffold};
use tdd_core::rule::Rule;
use tdd_core::seam::Workspace as _;
use tdd_core::session::Session;
use tdd_exec::workspace::{FileChange, Workspace, WriteError, Written};
use tempfile::TempDir;

/// A project in a folder of its own, beside an outside folder that must not be touched.
struct Project {
    dir: TempDir,
}

impl Project {
    fn new(files: &[(&str, &str)]) -> Self {
        let project = Self { dir: TempDir::new().expect("temp") };
        fs::create_dir(project.root()).expect("root");
        fs::create_dir(project.outside()).expect("outside");
        fs::write(project.outside().join("secret"), "secret").expect("secret");
        for (path, content) in files {
            let path = project.at(path);
            fs::create_dir_all(path.parent().expect("parent")).expect("folders");
            fs::write(path, content).expect("file");
        }
        project
    }

    fn root(&self) -> PathBuf {
        self.dir.path().join("project")
    }

    fn outside(&self) -> PathBuf {
        self.dir.path().join("outside")
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).expect(path)
    }

    fn write(&self, edits: &[Edit]) -> Result<Written, WriteError> {
        Workspace::open(self.root()).expect("open").write(permit(edits))
    }

    /// Makes edits that must succeed.
    fn done(&self, edits: &[Edit]) -> Vec<FileChange> {
        match self.write(edits).expect("write") {
            Written::Done(changes) => changes,
            Written::Refused(refusal) => panic!("{refusal}"),
            Written::PersonChanged { paths } => panic!("{paths:?}"),
        }
    }

    /// Makes edits that must be refused and must change nothing.
    fn check_refused(&self, edits: &[Edit], rule: Rule, reason: &str) {
        let before = self.everything();
        match self.write(edits).expect("write") {
            Written::Done(changes) => panic!("{edits:?}: {changes:?}"),
            Written::PersonChanged { paths } => panic!("{edits:?}: {paths:?}"),
            Written::Refused(refusal) => {
                assert_eq!((refusal.rule, refusal.reason.as_str()), (rule, reason));
                assert!(!refusal.next.is_empty());
            }
        }
        assert_eq!(self.everything(), before);
    }

    /// Every path inside and outside with its content, without the machine's empty folders.
    fn everything(&self) -> BTreeMap<PathBuf, String> {
        let mut found = BTreeMap::new();
        collect(self.dir.path(), &mut found);
        found.retain(|path, held| !path.starts_with(self.at(".tdd")) || held != "folder");
        found
    }
}

fn collect(folder: &Path, found: &mut BTreeMap<PathBuf, String>) {
    for entry in fs::read_dir(folder).expect("list") {
        let path = entry.expect("entry").path();
        let kind = fs::symlink_metadata(&path).expect("kind");
        let held = if kind.is_symlink() {
            format!("-> {}", fs::read_link(&path).expect("link").display())
        } else if kind.is_dir() {
            collect(&path, found);
            "folder".to_owned()
        } else {
            format!("{:o} {}", kind.mode() & 0o777, Digest::of(fs::read(&path).expect("read")))
        };
        found.insert(path, held);
    }
}

fn permit(edits: &[Edit]) -> Permit {
    let change = Change::default();
    let request = Request::of_model(edits, &change);
    match gate::judge(&Session::default(), &request, &Limits::of_kata("kata.md")) {
        Decision::Permit(permit) => permit,
        Decision::Refuse(refusal) => panic!("{refusal}"),
    }
}

fn upsert(path: &str, content: &str) -> Edit {
    Edit { path: path.to_owned(), action: Action::Upsert { content: content.to_owned() } }
}

fn delete(path: &str) -> Edit {
    Edit { path: path.to_owned(), action: Action::Delete }
}

fn rename(path: &str, to: &str) -> Edit {
    Edit { path: path.to_owned(), action: Action::Rename { to: to.to_owned() } }
}

fn replace(path: &str, find: &str, content: &str) -> Edit {
    Edit { path: path.to_owned(), action: Action::Replace { find: find.to_owned(), content: content.to_owned() } }
}

fn change(path: &str, before: Option<&str>, after: Option<&str>) -> FileChange {
    let path = tdd_core::path::ConfinedPath::new(path).expect("path");
    FileChange { path, before: before.map(Digest::of), after: after.map(Digest::of) }
}

#[test]
fn every_kind_of_edit_is_made_and_told() {
    let project = Project::new(&[("a", "old"), ("b", "one two three"), ("c", "gone"), ("d", "moved")]);
    let changes = project.done(&[
        upsert("a", "new"),
        upsert("deep/er/new", "n"),
        replace("b", "two", "2"),
        delete("c"),
        rename("d", "e/f"),
    ]);
    assert_eq!(
        changes,
        [
            change("a", Some("old"), Some("new")),
            change("deep/er/new", None, Some("n")),
            change("b", Some("one two three"), Some("one 2 three")),
            change("c", Some("gone"), None),
            change("e/f", None, Some("moved")),
            change("d", Some("moved"), None),
        ]
    );
    let read = ["a", "deep/er/new", "b", "e/f"].map(|path| project.read(path));
    assert_eq!(read, ["new", "n", "one 2 three", "moved"]);
    assert!(!project.at("c").exists() && !project.at("d").exists());
    assert_eq!(fs::read_dir(project.at(".tdd/tmp")).expect("list").count(), 0);
}

#[test]
fn content_is_written_as_it_is_given() {
    let project = Project::new(&[("crlf", "a\r\nb\r\n")]);
    let _ = project.done(&[upsert("new", "x\r\ny\u{feff}"), replace("crlf", "b\r\n", "c\r\n"), upsert("empty", "")]);
    assert_eq!(["new", "crlf", "empty"].map(|path| project.read(path)), ["x\r\ny\u{feff}", "a\r\nc\r\n", ""]);
}

#[test]
fn a_file_that_is_as_wished_is_not_touched() {
    let project = Project::new(&[("a", "same")]);
    let before = fs::metadata(project.at("a")).expect("stat");
    assert_eq!(project.done(&[upsert("a", "same")]), []);
    assert_eq!(fs::metadata(project.at("a")).expect("stat").ino(), before.ino());
}

#[test]
fn a_renamed_file_is_new_to_build_tools() {
    let project = Project::new(&[("a", "x")]);
    let old = std::time::SystemTime::UNIX_EPOCH + Duration::from_hours(1);
    fs::File::open(project.at("a")).and_then(|file| file.set_modified(old)).expect("age");
    let _ = project.done(&[rename("a", "b")]);
    assert_ne!(fs::metadata(project.at("b")).and_then(|found| found.modified()).expect("time"), old);
}

#[test]
fn a_scaffold_adds_only_what_is_missing() {
    let project = Project::new(&[("README.md", "mine")]);
    symlink("elsewhere", project.at("tdd.yaml")).expect("link");
    let Decision::Permit(permit) = permit_scaffold([("README.md", "ours"), ("tdd.yaml", "ours"), ("src/lib.rs", "")])
    else {
        panic!("refused")
    };
    let written = Workspace::open(project.root()).expect("open").write(permit).expect("write");
    assert_eq!(written, Written::Done(vec![change("src/lib.rs", None, Some(""))]));
    assert_eq!(project.read("README.md"), "mine");
    assert!(!project.at("elsewhere").exists());
}

#[test]
fn a_scaffold_that_names_a_file_twice_is_refused() {
    let verdict = permit_scaffold([("a", "1"), ("a", "2")]);
    assert!(matches!(verdict, Decision::Refuse(refusal) if refusal.rule == Rule::OneEditPerPath));
}

#[test]
fn what_is_not_there_cannot_be_changed() {
    let project = Project::new(&[("a", "x")]);
    for edit in [delete("b"), rename("b", "c"), replace("b", "x", "y")] {
        project.check_refused(&[edit], Rule::EditApplies, "there is no file `b`");
    }
    project.check_refused(&[delete("no/b")], Rule::EditApplies, "there is no file `no/b`");
}

#[test]
fn one_refused_edit_refuses_them_all() {
    let project = Project::new(&[("a", "x")]);
    project.check_refused(
        &[upsert("a", "y"), upsert("n", "z"), delete("b")],
        Rule::EditApplies,
        "there is no file `b`",
    );
}

#[test]
fn a_replacement_needs_exactly_one_match() {
    let project = Project::new(&[("a", "x y x"), ("b", "aaa")]);
    let twice = |path| format!("the text to find occurs more than once in `{path}`");
    project.check_refused(&[replace("a", "z", "")], Rule::EditApplies, "the text to find is not in `a`");
    project.check_refused(&[replace("a", "x", "")], Rule::EditApplies, &twice("a"));
    project.check_refused(&[replace("b", "aa", "")], Rule::EditApplies, &twice("b"));
}

#[test]
fn nothing_is_replaced_in_what_is_not_text() {
    let project = Project::new(&[("nul", "a\0b")]);
    fs::write(project.at("latin1"), b"a\xe9b").expect("write");
    for path in ["nul", "latin1"] {
        let reason = format!("`{path}` is not text, so nothing in it can be replaced");
        project.check_refused(&[replace(path, "a", "c")], Rule::PlainText, &reason);
    }
    let _ = project.done(&[rename("latin1", "moved"), delete("nul")]);
    assert_eq!(fs::read(project.at("moved")).expect("read"), b"a\xe9b");
}

#[test]
fn a_rename_replaces_nothing() {
    let project = Project::new(&[("a", "x"), ("b", "y")]);
    project.check_refused(&[rename("a", "b")], Rule::EditApplies, "`b` exists already");
}

#[test]
fn a_file_is_not_a_folder_nor_a_folder_a_file() {
    let project = Project::new(&[("a", "x"), ("d/x", "y")]);
    project.check_refused(&[upsert("a/b", "")], Rule::EditApplies, "`a` is a file, so `a/b` cannot be inside it");
    project.check_refused(&[upsert("d", "")], Rule::EditApplies, "`d` is a folder");
    project.check_refused(&[delete("d")], Rule::EditApplies, "`d` is a folder");
    let reason = "`n/m` and `n` cannot both exist: one would be a folder that holds the other";
    project.check_refused(&[upsert("n/m", ""), upsert("n", "")], Rule::EditApplies, reason);
}

#[test]
fn special_files_are_left_alone() {
    let project = Project::new(&[]);
    nix::unistd::mkfifo(&project.at("pipe"), nix::sys::stat::Mode::S_IRWXU).expect("mkfifo");
    for edit in [upsert("pipe", ""), delete("pipe"), replace("pipe", "a", "b")] {
        let refused = project.write(&[edit]).expect("write");
        assert!(matches!(refused, Written::Refused(refusal) if refusal.rule == Rule::EditApplies));
    }
    assert!(project.at("pipe").symlink_metadata().is_ok());
}

#[test]
fn a_result_that_is_too_large_is_refused() {
    let half = "x".repeat(MAX_FILE / 2);
    let project = Project::new(&[("a", &format!("{half}!"))]);
    let reason = format!("`a` would have {} bytes, the limit is {MAX_FILE}", half.len() * 3);
    project.check_refused(&[replace("a", "!", &half.repeat(2))], Rule::SizeLimit, &reason);
}

#[test]
fn links_are_never_followed() {
    let project = Project::new(&[("src/lib.rs", "x")]);
    symlink(project.outside(), project.at("out")).expect("link");
    symlink("../../outside", project.at("src/rel")).expect("link");
    symlink(project.outside().join("secret"), project.at("secret")).expect("link");
    symlink("src", project.at("inside")).expect("link");
    symlink("nowhere", project.at("dangling")).expect("link");
    let reason =
        |link: &str, path: &str| format!("`{link}` is a symbolic link, so `{path}` could be outside of the project");
    for (path, link) in [
        ("out/new", "out"),
        ("out/secret", "out"),
        ("src/rel/deep/new", "src/rel"),
        ("secret", "secret"),
        ("inside/lib.rs", "inside"),
        ("dangling", "dangling"),
    ] {
        let reason = reason(link, path);
        for edit in [upsert(path, "y"), delete(path), replace(path, "secret", "y"), rename(path, "moved")] {
            project.check_refused(&[edit], Rule::PathConfined, &reason);
        }
        project.check_refused(&[rename("src/lib.rs", path)], Rule::PathConfined, &reason);
    }
}

#[test]
fn a_linked_state_folder_is_not_followed_either() {
    let project = Project::new(&[("a", "x")]);
    symlink(project.outside(), project.at(".tdd")).expect("link");
    let before = project.everything();
    assert!(matches!(project.write(&[upsert("a", "y")]), Err(WriteError::Staging { .. })));
    assert_eq!(project.everything(), before);
}

#[test]
fn a_hard_link_to_the_outside_is_cut_not_written_through() {
    let project = Project::new(&[]);
    fs::hard_link(project.outside().join("secret"), project.at("a")).expect("link");
    let _ = project.done(&[upsert("a", "mine")]);
    assert_eq!(fs::read_to_string(project.outside().join("secret")).expect("read"), "secret");
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_swapped_for_a_link_leads_nothing_outside() {
    use nix::fcntl::{AT_FDCWD, RenameFlags, renameat2};
    let project = Project::new(&[("d/a", "0")]);
    let (folder, link) = (project.at("d"), project.at("link"));
    symlink(project.outside(), &link).expect("link");
    let swap = || renameat2(AT_FDCWD, &folder, AT_FDCWD, &link, RenameFlags::RENAME_EXCHANGE).expect("swap");
    let workspace = Workspace::open(project.root()).expect("open");
    let write = |n: u32| workspace.write(permit(&[upsert("d/a", &n.to_string()), upsert("d/x/b", &n.to_string())]));
    let started = Instant::now();
    assert!(matches!(write(1), Ok(Written::Done(_))));
    let length = started.elapsed();
    for n in 2..200 {
        thread::scope(|scope| {
            // Start times are spread over one and a half times a write's duration, so that they fall between any two
            // steps.
            scope.spawn(|| {
                thread::sleep(length * (n % 60) / 40);
                swap();
            });
            let _ = write(n);
        });
        swap();
    }
    assert!(matches!(write(200), Ok(Written::Done(_))));
    let outside: Vec<_> =
        fs::read_dir(project.outside()).expect("list").map(|entry| entry.expect("entry").path()).collect();
    assert_eq!(outside, [project.outside().join("secret")]);
}

#[test]
fn a_reader_sees_the_old_content_or_the_new_and_nothing_else() {
    let contents = ["a".repeat(200_000), "b".repeat(150_000)];
    let project = Project::new(&[("f", &contents[0])]);
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut reads = 0;
            while !over.load(Ordering::Relaxed) {
                assert!(contents.contains(&project.read("f")), "a mix");
                reads += 1;
            }
            reads
        });
        for n in 1..100 {
            let _ = project.done(&[upsert("f", &contents[n % 2])]);
        }
        over.store(true, Ordering::Relaxed);
        assert!(reader.join().expect("reader") > 0);
    });
}

#[test]
fn permissions_of_existing_files_stay() {
    let project = Project::new(&[("run.sh", "old"), ("private", "old"), ("tool", "x")]);
    for (path, mode) in [("run.sh", 0o755), ("private", 0o600), ("tool", 0o750)] {
        fs::set_permissions(project.at(path), Permissions::from_mode(mode)).expect("chmod");
    }
    let _ = project.done(&[upsert("run.sh", "new"), replace("private", "old", "new"), rename("tool", "moved")]);
    let mode = |path: &str| fs::metadata(project.at(path)).expect("stat").mode() & 0o7777;
    assert_eq!([mode("run.sh"), mode("private"), mode("moved")], [0o755, 0o600, 0o750]);
}

#[test]
fn new_files_have_the_usual_permissions() {
    let project = Project::new(&[]);
    let _ = project.done(&[upsert("a", "")]);
    let mode = fs::metadata(project.at("a")).expect("stat").mode() & 0o7777;
    assert_eq!(mode & !0o644, 0, "{mode:o}");
}

#[test]
fn a_sweep_removes_what_a_kill_left_and_nothing_else() {
    let project =
        Project::new(&[(".tdd/tmp/.tdd-tmp-0123", "half"), (".tdd/tmp/rescued-1", "x"), (".tdd-tmp-mine", "x")]);
    let workspace = Workspace::open(project.root()).expect("open");
    workspace.sweep().expect("sweep");
    assert!(!project.at(".tdd/tmp/.tdd-tmp-0123").exists());
    assert!(project.at(".tdd/tmp/rescued-1").exists() && project.at(".tdd-tmp-mine").exists());
    Workspace::open(project.outside()).expect("open").sweep().expect("nothing to sweep");
}

#[test]
fn a_project_that_is_not_there_is_an_error() {
    assert!(matches!(Workspace::open("/no/such/project"), Err(WriteError::Open { .. })));
}

/// A mount, unmounted when dropped.
struct Mount(PathBuf);

impl Mount {
    /// `None`, with the reason printed, if we may not mount.
    #[expect(clippy::print_stdout, reason = "a skipped test says so")]
    fn new(arguments: &[&str], place: &Path) -> Option<Self> {
        let mounted = Command::new("mount").args(arguments).arg(place).output().expect("mount");
        if mounted.status.success() {
            return Some(Self(place.to_owned()));
        }
        println!("skipped, cannot mount: {}", String::from_utf8_lossy(&mounted.stderr));
        None
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_changes_nothing() {
    let project = Project::new(&[]);
    let Some(_mount) = Mount::new(&["-t", "tmpfs", "-o", "size=256k", "tmpfs"], &project.root()) else { return };
    for (path, content) in [("a", "old a"), ("b", "old b")] {
        fs::write(project.at(path), content).expect("write");
    }
    let before = project.everything();
    let error = project.write(&[upsert("a", "new a"), upsert("n/new", "x"), upsert("b", &"b".repeat(500_000))]);
    assert!(
        matches!(&error, Err(WriteError::Write { path, source })
            if path.as_str() == "b" && source.kind() == std::io::ErrorKind::StorageFull),
        "{error:?}"
    );
    assert_eq!(project.everything(), before);
    let _ = project.done(&[upsert("a", "new a")]);
}

#[test]
fn a_failure_half_way_is_undone() {
    let project = Project::new(&[("a", "old a"), ("gone", "x"), ("b", "old b")]);
    fs::set_permissions(project.at("a"), Permissions::from_mode(0o755)).expect("chmod");
    let busy = project.at("b");
    // A file with a mount on it cannot be replaced.
    let Some(_mount) = Mount::new(&["--bind", busy.to_str().expect("text")], &busy) else { return };
    let before = project.everything();
    let error = project.write(&[upsert("a", "new"), upsert("n/m/new", "x"), delete("gone"), upsert("b", "new")]);
    assert!(matches!(&error, Err(WriteError::Write { path, .. }) if path.as_str() == "b"), "{error:?}");
    assert_eq!(project.everything(), before);
}

#[test]
fn a_folder_on_another_disk_is_written_too() {
    let project = Project::new(&[("other/keep", "x")]);
    let other = project.at("other");
    let Some(_mount) = Mount::new(&["-t", "tmpfs", "-o", "size=256k", "tmpfs"], &other) else { return };
    let _ = project.done(&[upsert("other/a", "first")]);
    let _ = project.done(&[upsert("other/a", "second"), upsert("b", "x")]);
    assert_eq!((project.read("other/a"), project.read("b")), ("second".to_owned(), "x".to_owned()));
    let names: Vec<_> = fs::read_dir(&other).expect("list").map(|entry| entry.expect("entry").file_name()).collect();
    assert_eq!(names, ["a"]);
    assert_eq!(fs::read_dir(project.at(".tdd/tmp")).expect("list").count(), 0);
}

/// Writes over a base; returns the files that a person changed.
fn over(project: &Project, base: &[(&str, &str)], edits: &[Edit]) -> Result<Vec<String>, Rule> {
    let base: BTreeMap<String, Vec<u8>> =
        base.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect();
    let is_base = |path: &tdd_core::path::ConfinedPath, now: Option<&[u8]>| -> Result<bool, WriteError> {
        Ok(base.get(path.as_str()).map(Vec::as_slice) == now)
    };
    let workspace = Workspace::open(project.root()).expect("open");
    match workspace.write_over(permit(edits), is_base).expect("write") {
        Written::Done(_) => Ok(Vec::new()),
        Written::PersonChanged { paths } => Ok(paths.iter().map(ToString::to_string).collect()),
        Written::Refused(refusal) => Err(refusal.rule),
    }
}

#[test]
fn nothing_is_written_if_a_person_changed_one_of_the_files_since_the_base() {
    let base = [("a", "1"), ("b", "1")];
    let edits = [
        (upsert("b", "2"), "b"),
        (delete("b"), "b"),
        (replace("b", "typed", "2"), "b"),
        (rename("b", "d"), "b"),
        (upsert("new", "2"), "new"),
        (rename("a", "new"), "new"),
    ];
    for (edit, theirs) in edits {
        let project = Project::new(&[("a", "1"), ("b", "typed"), ("new", "mine")]);
        let before = project.everything();
        let named = over(&project, &base, &[upsert("c", "2"), edit.clone()]);
        assert_eq!(named, Ok(vec![theirs.to_owned()]), "{edit:?}");
        assert_eq!(project.everything(), before, "{edit:?}");
    }
}

#[test]
fn a_file_that_a_person_deleted_is_theirs_too() {
    for edit in [upsert("a", "2"), delete("a"), replace("a", "1", "2")] {
        let project = Project::new(&[("b", "1")]);
        assert_eq!(over(&project, &[("a", "1"), ("b", "1")], &[edit]), Ok(vec!["a".to_owned()]));
        assert!(!project.at("a").exists());
    }
}

#[test]
fn what_is_as_in_the_base_is_written_and_what_does_not_fit_is_refused() {
    let base = [("a", "1"), ("b", "1")];
    let project = Project::new(&base);
    assert_eq!(over(&project, &base, &[replace("a", "x", "y")]), Err(Rule::EditApplies));
    assert_eq!(over(&project, &base, &[upsert("a", "2"), delete("b"), upsert("sub/c", "2")]), Ok(Vec::new()));
    assert_eq!((project.read("a").as_str(), project.read("sub/c").as_str()), ("2", "2"));
    assert!(!project.at("b").exists());
}

#[test]
fn what_a_person_saves_in_the_instant_of_writing_stays() {
    for round in 0..30 {
        let project = Project::new(&[("a", "0")]);
        let (file, aside) = (project.at("a"), project.at("a.swap"));
        let typing = std::thread::spawn(move || {
            for n in 1..=30 {
                fs::write(&aside, format!("typed {n}")).expect("save");
                fs::rename(&aside, &file).expect("save");
            }
        });
        let mut saved_over = false;
        let is_base = |_: &tdd_core::path::ConfinedPath, _: Option<&[u8]>| -> Result<bool, WriteError> { Ok(true) };
        for n in 0..30 {
            let workspace = Workspace::open(project.root()).expect("open");
            let written = workspace.write_over(permit(&[upsert("a", &format!("ours {n}"))]), is_base).expect("write");
            saved_over |= matches!(written, Written::PersonChanged { .. });
        }
        typing.join().expect("a person");
        let now = project.read("a");
        assert!(
            now.starts_with("ours") || now == "typed 30",
            "round {round}, {saved_over}: an older save came back: {now}"
        );
    }
}
