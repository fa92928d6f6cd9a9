//! A worktree is clean, detached, and leaves nothing behind.

use std::fs;

use tdd_exec::git::GitError;

use crate::sandbox::Sandbox;

#[test]
fn a_worktree_is_a_clean_checkout_that_git_agrees_with() {
    let sandbox =
        Sandbox::with(&[("a", "1"), ("sub/ü x", "2"), (".gitattributes", "*.txt eol=crlf\n"), ("t.txt", "l\n")]);
    sandbox.write("a", "dirty");
    sandbox.write("untracked", "x");
    let repo = sandbox.repo();
    let head = repo.head().expect("a HEAD").commit.expect("a commit");
    let dir = sandbox.beside("clean");
    let worktree = repo.add_worktree(&dir, &head).expect("a worktree");
    let inside = worktree.dir().to_str().expect("a path").to_owned();
    assert_eq!(sandbox.git(&["-C", &inside, "status", "--porcelain"]), "");
    assert_eq!(sandbox.git(&["-C", &inside, "rev-parse", "HEAD"]), head.0);
    assert_eq!(sandbox.git(&["-C", &inside, "branch", "--show-current"]), "");
    assert_eq!(fs::read(worktree.dir().join("t.txt")).expect("a file"), b"l\r\n");
    assert_eq!(sandbox.git(&["worktree", "list"]).lines().count(), 2);
    drop(worktree);
    assert!(!dir.exists() && !sandbox.has(".git/worktrees"));
    assert_eq!(sandbox.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(sandbox.read("a"), "dirty");
}

#[test]
fn a_folder_with_something_in_it_is_refused_and_kept() {
    let sandbox = Sandbox::with(&[("a", "1")]);
    let repo = sandbox.repo();
    let head = repo.head().expect("a HEAD").commit.expect("a commit");
    let error = repo.add_worktree(&sandbox.root, &head).expect_err("a refusal");
    assert!(matches!(error, GitError::NotEmpty { .. }), "{error}");
    assert!(sandbox.has("a"));
}

#[test]
fn what_a_killed_process_left_is_swept_and_what_others_have_is_not() {
    let sandbox = Sandbox::with(&[("a", "1")]);
    let repo = sandbox.repo();
    let head = repo.head().expect("a HEAD").commit.expect("a commit");
    let theirs = sandbox.beside("theirs");
    sandbox.git(&["worktree", "add", "-q", "--detach", theirs.to_str().expect("a path")]);
    let living = repo.add_worktree(&sandbox.beside("living"), &head).expect("a worktree");
    let left = sandbox.beside("left");
    leave_behind(&sandbox, &left);
    assert_eq!(repo.sweep_worktrees().expect("swept"), 1);
    assert!(!left.exists() && theirs.exists() && living.dir().exists());
    assert_eq!(repo.sweep_worktrees().expect("swept"), 0);
}

#[test]
fn a_sweep_removes_no_folder_that_does_not_point_back() {
    let sandbox = Sandbox::with(&[("a", "1")]);
    let left = sandbox.beside("left");
    leave_behind(&sandbox, &left);
    fs::write(left.join(".git"), "gitdir: /somewhere/else\n").expect("a link");
    assert_eq!(sandbox.repo().sweep_worktrees().expect("swept"), 1);
    assert!(left.exists() && !sandbox.has(".git/worktrees"));
}

/// Leaves a worktree as a dead process would.
fn leave_behind(sandbox: &Sandbox, dir: &std::path::Path) {
    let admin = sandbox.root.join(format!(".git/worktrees/tdd-machine-{}-0", i32::MAX));
    fs::create_dir_all(&admin).expect("an entry");
    fs::create_dir_all(dir).expect("a folder");
    let admin = admin.canonicalize().expect("a path");
    fs::write(admin.join("gitdir"), format!("{}\n", dir.join(".git").display())).expect("a link");
    fs::write(admin.join("commondir"), "../..\n").expect("a link");
    fs::write(admin.join("HEAD"), sandbox.git(&["rev-parse", "HEAD"])).expect("a HEAD");
    fs::write(dir.join(".git"), format!("gitdir: {}\n", admin.display())).expect("a link");
}
