//! Measures the id of a working tree of 50,000 files, compared with the git program on the same tree.
#![expect(clippy::print_stdout, clippy::expect_used, reason = "a bench talks to a person and may stop at once")]

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use tdd_exec::git::Repo;

const FILES: usize = 50_000;
const PER_FOLDER: usize = 50;

fn main() {
    for committed in [true, false] {
        let home = tempfile::TempDir::new().expect("a temporary folder");
        let root = home.path().join("project");
        fill(&root);
        git(&root, &["init", "-q", "-b", "main"]);
        if committed {
            git(&root, &["add", "-A"]);
            git(&root, &["-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-q", "-m", "all"]);
        }
        println!("{FILES} files, {}", if committed { "committed" } else { "untracked" });
        ours(&root);
        gits(&root, &home.path().join("index-of-git"));
    }
}

fn fill(root: &Path) {
    for n in 0..FILES {
        let folder = root.join(format!("d{}/e{}", n / PER_FOLDER / 20, n / PER_FOLDER));
        if n % PER_FOLDER == 0 {
            fs::create_dir_all(&folder).expect("a folder");
        }
        fs::write(folder.join(format!("file{n}.rs")), format!("pub fn f{n}() -> usize {{ {n} }}\n")).expect("a file");
    }
}

fn ours(root: &Path) {
    let repo = Repo::discover(root).expect("readable").expect("a repository");
    let tree = || drop(repo.tree_id().expect("a tree"));
    show("tree id, cold", time(tree));
    // Files younger than two seconds are always read again.
    std::thread::sleep(Duration::from_secs(3));
    tree();
    show("tree id, warm", best_of_five(tree));
    let mut n = 0;
    let edit = || {
        n += 1;
        fs::write(root.join("d0/e0/file0.rs"), format!("pub fn g{n}() {{}}\n")).expect("an edit");
        tree();
    };
    show("tree id, warm, after one edit", best_of_five(edit));
}

fn gits(root: &Path, index: &Path) {
    show("git status", best_of_five(|| git(root, &["status", "--porcelain"])));
    let add = || {
        let mut command = command(root, &["add", "-A"]);
        assert!(command.env("GIT_INDEX_FILE", index).status().expect("git").success());
    };
    show("git add -A, cold", time(add));
    show("git add -A, warm", best_of_five(add));
}

fn git(root: &Path, args: &[&str]) {
    assert!(command(root, args).output().expect("git").status.success(), "git {args:?}");
}

fn command(root: &Path, args: &[&str]) -> Command {
    let mut command = Command::new("git");
    command.args(args).current_dir(root).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    command
}

fn time(mut work: impl FnMut()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn best_of_five(mut work: impl FnMut()) -> Duration {
    (0..5).map(|_| time(&mut work)).min().unwrap_or_default()
}

fn show(what: &str, took: Duration) {
    println!("  {what:32}{:>8.1} ms", took.as_secs_f64() * 1000.0);
}
