//! Repeated looks at the working tree see everything that changed in between.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::thread::sleep;
use std::time::{Duration, SystemTime};

use tdd_exec::git::Repo;

use crate::sandbox::{Sandbox, check_edits_in_a_row, check_tree, commit_onto, paths_of};

const FILES: [(&str, &str); 7] = [
    (".gitignore", "*.log\n/target/\n"),
    ("a", "0000"),
    ("b", "0000"),
    ("sub/c", "0000"),
    ("sub/deep/d", "0000"),
    ("sub/deep/e", "0000"),
    ("x/y/z", "0000"),
];

/// A repository whose files are old enough for their times to be trusted.
fn old() -> Sandbox {
    let sandbox = Sandbox::with(&FILES);
    sleep(Duration::from_millis(2_100));
    check_tree(&sandbox);
    sandbox
}

#[test]
fn each_kind_of_change_is_seen_by_who_looked_before() {
    let sandbox = old();
    let root = &sandbox.root;
    let changes: [&dyn Fn(); 18] = [
        &|| {},
        &|| sandbox.write("a", "1111"),
        &|| sandbox.write("a", "2222"),
        &|| backdated(&sandbox, "b", "1111"),
        &|| sandbox.remove("sub/c"),
        &|| sandbox.write("sub/new", "new"),
        &|| sandbox.write("sub/ignored.log", "x"),
        &|| sandbox.write("target/debug/x", "x"),
        &|| fs::remove_dir_all(root.join("target")).expect("removed"),
        &|| sandbox.write("fresh/folder/file", "x"),
        &|| fs::set_permissions(root.join("a"), fs::Permissions::from_mode(0o755)).expect("a mode"),
        &|| {
            sandbox.remove("b");
            symlink("a", root.join("b")).expect("a link");
        },
        &|| fs::rename(root.join("sub/deep"), root.join("sub/other")).expect("a rename"),
        &|| {
            fs::remove_dir_all(root.join("x")).expect("removed");
            sandbox.write("x", "a file");
        },
        &|| sandbox.write("sub/other/.gitignore", "d\n"),
        &|| sandbox.write(".git/info/exclude", "new\n"),
        &|| drop(sandbox.git(&["add", "-f", "sub/ignored.log"])),
        &|| drop(sandbox.git(&["rm", "-q", "--cached", "a"])),
    ];
    for change in changes {
        change();
        check_tree(&sandbox);
        sandbox.write("sub/after", format!("{:?}", SystemTime::now()));
        check_tree(&sandbox);
    }
}

#[test]
fn a_file_that_is_long_settled_is_seen_to_change_within_one_tick_of_the_clock() {
    let sandbox = old();
    check_edits_in_a_row(&sandbox, "sub/deep/d");
}

#[test]
fn a_commit_of_ours_is_no_surprise() {
    let sandbox = old();
    let repo = sandbox.repo();
    sandbox.write("brand-new", "1");
    for content in ["1", "2", "3"] {
        sandbox.write("a", content);
        sandbox.write("brand-new", content);
        commit_onto(&repo, &repo.head().expect("a HEAD"), &["a", "brand-new"]).expect("a commit");
        assert!(repo.dirty().expect("a status").is_clean());
        assert_eq!(sandbox.git(&["diff-index", "--name-only", "HEAD"]), "", "the index has the file's times");
        assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
        assert_eq!(repo.tree_id().expect("a tree").0, sandbox.gits_tree());
    }
    sandbox.write("b", "staged");
    sandbox.git(&["add", "b"]);
    sandbox.write("a", "4");
    commit_onto(&repo, &repo.head().expect("a HEAD"), &["a"]).expect("a commit");
    assert_eq!(sandbox.git(&["diff", "--cached", "--name-only"]), "b");
    sandbox.git(&["commit", "-qm", "theirs"]);
    sandbox.remove("brand-new");
    commit_onto(&repo, &repo.head().expect("a HEAD"), &["brand-new"]).expect("a commit");
    assert!(repo.dirty().expect("a status").is_clean());
}

#[test]
fn an_index_that_git_wrote_without_a_checksum_is_read_each_time() {
    let sandbox = old();
    sandbox.git(&["config", "index.skipHash", "true"]);
    sandbox.write("sub/ignored.log", "x");
    let repo = sandbox.repo();
    for arguments in [&["add", "-f", "sub/ignored.log"][..], &["rm", "-q", "--cached", "sub/ignored.log"]] {
        sandbox.git(arguments);
        assert_eq!(repo.tree_id().expect("a tree").0, sandbox.gits_tree(), "after {arguments:?}");
    }
}

#[test]
fn what_one_process_saw_helps_the_next_and_misleads_nobody() {
    let sandbox = old();
    let (first, second) = (sandbox.repo(), sandbox.repo());
    let tree = |repo: &Repo| repo.tree_id().expect("a tree").0;
    for content in ["1111", "2222", "3333"] {
        sandbox.write("a", content);
        assert_eq!(tree(&first), sandbox.gits_tree());
        sandbox.write("b", content);
        assert_eq!(tree(&second), sandbox.gits_tree());
        assert_eq!(tree(&first), sandbox.gits_tree());
    }
    drop(first);
    backdated(&sandbox, "a", "4444");
    drop(second);
    check_tree(&sandbox);
}

/// Writes a file and restores its old modification time.
fn backdated(sandbox: &Sandbox, path: &str, content: &str) {
    let full = sandbox.root.join(path);
    let time = fs::metadata(&full).and_then(|meta| meta.modified()).expect("a time");
    sandbox.write(path, content);
    fs::File::options().append(true).open(full).and_then(|file| file.set_modified(time)).expect("a time set back");
}

#[test]
fn a_new_file_is_untracked_for_who_looked_before_as_well() {
    let sandbox = old();
    let repo = sandbox.repo();
    let untracked = || repo.dirty().expect("a status").untracked;
    assert_eq!(untracked(), []);
    sandbox.write("sub/new", "new");
    sandbox.write("sub/new.log", "ignored");
    assert_eq!(untracked(), paths_of(&["sub/new"]));
    sandbox.remove("sub/new");
    assert_eq!(untracked(), []);
}
