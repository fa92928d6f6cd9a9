//! A repository in a temporary folder, with a git program that ignores the developer's configuration.

use std::cell::OnceCell;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use tdd_exec::git::{GitPath, Head, NewCommit, Repo, Signature};
use tempfile::TempDir;

pub struct Sandbox {
    /// A handle that stays open, to test repeated looks at the working tree.
    standing: OnceCell<Repo>,
    home: TempDir,
    pub root: PathBuf,
}

impl Sandbox {
    /// A repository without a commit. Sets every setting that the developer's own configuration might override.
    pub fn unborn() -> Self {
        let home = TempDir::new().expect("a temporary folder");
        let root = home.path().join("project");
        fs::create_dir(&root).expect("the project's folder");
        let sandbox = Self { standing: OnceCell::new(), home, root };
        sandbox.git(&["init", "-q", "-b", "main"]);
        for setting in [
            "user.name=Ada",
            "user.email=ada@example.org",
            "core.autocrlf=false",
            "core.excludesFile=/dev/null",
            "core.attributesFile=/dev/null",
        ] {
            let (name, value) = setting.split_once('=').expect("a setting");
            sandbox.git(&["config", name, value]);
        }
        sandbox
    }

    /// A repository with one commit of these files.
    pub fn with(files: &[(&str, &str)]) -> Self {
        let sandbox = Self::unborn();
        for (path, content) in files {
            sandbox.write(path, content);
        }
        sandbox.git(&["add", "-A"]);
        sandbox.git(&["commit", "-q", "-m", "first"]);
        sandbox
    }

    pub fn repo(&self) -> Repo {
        Repo::discover(&self.root).expect("a readable repository").expect("a repository")
    }

    /// A folder beside the project.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    pub fn write(&self, path: impl AsRef<OsStr>, content: impl AsRef<[u8]>) {
        let path = self.root.join(Path::new(&path));
        fs::create_dir_all(path.parent().expect("a folder")).expect("the file's folder");
        fs::write(path, content).expect("a written file");
    }

    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.root.join(path)).expect(path)
    }

    pub fn remove(&self, path: &str) {
        fs::remove_file(self.root.join(path)).expect(path);
    }

    pub fn has(&self, path: &str) -> bool {
        self.root.join(path).symlink_metadata().is_ok()
    }

    /// Git's output; fails the test if git fails.
    pub fn git(&self, args: &[&str]) -> String {
        let output = self.try_git(args);
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    pub fn try_git(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("git is installed")
    }

    /// The tree that git itself makes of the working tree, without changing the user's index.
    pub fn gits_tree(&self) -> String {
        let index = self.beside("index-of-git");
        let own = self.root.join(self.git(&["rev-parse", "--git-path", "index"]));
        match fs::copy(own, &index) {
            Ok(_) => {}
            Err(_) => drop(fs::remove_file(&index)),
        }
        let run = |args: &[&str]| {
            let output = self.command(args).env("GIT_INDEX_FILE", &index).output().expect("git is installed");
            assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
        };
        run(&["add", "-A"]);
        run(&["write-tree"])
    }

    /// Backdates the user's index: only an old index is cached.
    fn age_index(&self) {
        let index = self.root.join(self.git(&["rev-parse", "--git-path", "index"]));
        let Ok(file) = fs::File::options().append(true).open(index) else { return };
        let time = file.metadata().and_then(|meta| meta.modified()).expect("a time");
        if time.elapsed().is_ok_and(|age| age < Duration::from_secs(5)) {
            file.set_modified(time - Duration::from_secs(10)).expect("a time set back");
        }
    }

    /// Commits these paths with their current content.
    pub fn commit(&self, paths: &[&str]) -> tdd_exec::git::Result<tdd_core::digest::CommitId> {
        let repo = self.repo();
        commit_onto(&repo, &repo.head().expect("a HEAD"), paths)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new("git");
        command.args(args).current_dir(&self.root).env("HOME", self.home.path());
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null").env("LC_ALL", "C");
        for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "XDG_CONFIG_HOME"] {
            command.env_remove(name);
        }
        command
    }
}

pub fn commit_onto(repo: &Repo, onto: &Head, paths: &[&str]) -> tdd_exec::git::Result<tdd_core::digest::CommitId> {
    let from = repo.tree_id()?;
    let paths = paths_of(paths);
    repo.commit_paths(&NewCommit { onto, from: &from, paths: &paths, message: "feat: second\n", author: &grace() })
}

pub fn grace() -> Signature {
    Signature { name: "Grace".to_owned(), email: "grace@example.org".to_owned(), time: 1_700_000_000 }
}

pub fn path(text: &str) -> GitPath {
    GitPath::new(text).expect(text)
}

pub fn paths_of(texts: &[&str]) -> Vec<GitPath> {
    texts.iter().map(|text| path(text)).collect()
}

pub fn not_utf8() -> &'static OsStr {
    OsStr::from_bytes(b"caf\xe9.txt")
}

/// Compares our tree with git's. A handle that stayed open and a new one must both agree with git.
pub fn check_tree(sandbox: &Sandbox) {
    sandbox.age_index();
    let standing = sandbox.standing.get_or_init(|| sandbox.repo());
    assert_eq!(standing.tree_id().expect("a tree").0, sandbox.gits_tree());
    assert_eq!(sandbox.repo().tree_id().expect("a tree").0, sandbox.gits_tree());
}

/// Edits of the same size, one right after the other, each make another tree.
pub fn check_edits_in_a_row(sandbox: &Sandbox, path: &str) {
    let repo = sandbox.repo();
    let mut seen = std::collections::HashSet::new();
    for n in 1..=300 {
        sandbox.write(path, format!("{n:04}"));
        assert!(seen.insert(repo.tree_id().expect("a tree")), "edit {n} went unnoticed");
    }
    assert_eq!(repo.tree_id().expect("a tree").0, sandbox.gits_tree());
}
