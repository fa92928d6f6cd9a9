//! Restored paths match the tree, get a newer time, and are the only ones touched.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::time::{Duration, SystemTime};

use tdd_exec::git::{GitError, GitPath};

use crate::sandbox::{Sandbox, not_utf8, paths_of};

/// Restores everything that changed since `before`.
fn undo(sandbox: &Sandbox, before: &tdd_core::digest::TreeId) {
    let repo = sandbox.repo();
    let after = repo.tree_id().expect("a tree");
    let mut paths = Vec::new();
    for change in repo.diff_trees(before, &after).expect("changes") {
        if let tdd_exec::git::ChangeKind::Renamed { from } = change.kind {
            paths.push(from);
        }
        paths.push(change.path);
    }
    repo.restore(&paths, before).expect("restored");
    assert_eq!(repo.tree_id().expect("a tree"), *before);
}

#[test]
fn every_kind_of_change_is_undone() {
    let sandbox = Sandbox::with(&[
        ("a", "1"),
        ("sub/deep/b", "2"),
        ("run", "x"),
        ("file", "f"),
        ("dir/x", "d"),
        ("r", "rrrrrrrr"),
    ]);
    fs::set_permissions(sandbox.root.join("run"), fs::Permissions::from_mode(0o755)).expect("a mode");
    symlink("a", sandbox.root.join("link")).expect("a link");
    let before = sandbox.repo().tree_id().expect("a tree");
    sandbox.write("a", "changed");
    fs::remove_dir_all(sandbox.root.join("sub")).expect("removed");
    fs::set_permissions(sandbox.root.join("run"), fs::Permissions::from_mode(0o644)).expect("a mode");
    sandbox.remove("link");
    sandbox.write("link", "a file now");
    sandbox.remove("file");
    sandbox.write("file/now/a/folder", "x");
    fs::remove_dir_all(sandbox.root.join("dir")).expect("removed");
    symlink("/tmp", sandbox.root.join("dir")).expect("a link");
    fs::rename(sandbox.root.join("r"), sandbox.root.join("s")).expect("a rename");
    sandbox.write("new/folder/c", "x");
    sandbox.write(not_utf8(), "x");
    undo(&sandbox, &before);
    assert!(!sandbox.has("new") && !sandbox.root.join(not_utf8()).exists());
    assert_eq!(fs::read_link(sandbox.root.join("link")).expect("a link").to_str(), Some("a"));
}

#[test]
fn line_ends_come_back_as_a_checkout_would_write_them() {
    let sandbox = Sandbox::with(&[(".gitattributes", "*.txt text eol=crlf\n"), ("t.txt", "a\r\nb\r\n")]);
    let before = sandbox.repo().tree_id().expect("a tree");
    sandbox.write(".gitattributes", "*.txt -text\n");
    sandbox.write("t.txt", "changed");
    undo(&sandbox, &before);
    assert_eq!(sandbox.read("t.txt"), "a\r\nb\r\n");
}

#[test]
fn restored_files_are_new_and_nothing_else_is_touched() {
    let sandbox = Sandbox::with(&[("a", "1"), ("b", "2"), ("sub/c", "3"), ("sub/d", "4")]);
    sandbox.write("untracked", "mine");
    sandbox.write("b", "staged");
    sandbox.git(&["add", "b"]);
    let repo = sandbox.repo();
    let tree = repo.tree_id().expect("a tree");
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_600_000_000);
    for path in ["a", "b", "sub/c", "sub/d", "untracked"] {
        fs::File::options()
            .append(true)
            .open(sandbox.root.join(path))
            .and_then(|f| f.set_modified(long_ago))
            .expect(path);
    }
    let index = fs::read(sandbox.root.join(".git/index")).expect("an index");
    let others = |sandbox: &Sandbox| -> BTreeMap<_, _> {
        let facts = |path: &&str| {
            let meta = fs::symlink_metadata(sandbox.root.join(path)).expect("a file");
            (path.to_string(), (meta.ino(), meta.mtime(), meta.ctime(), meta.mode()))
        };
        ["b", "sub/d", "untracked"].iter().map(facts).collect()
    };
    let before = others(&sandbox);
    let start = SystemTime::now() - Duration::from_millis(20);
    repo.restore(&paths_of(&["a", "sub/c"]), &tree).expect("restored");
    for path in ["a", "sub/c"] {
        let time = fs::metadata(sandbox.root.join(path)).and_then(|meta| meta.modified()).expect("a time");
        assert!(time >= start, "{path}");
    }
    assert_eq!(others(&sandbox), before);
    assert_eq!(fs::read(sandbox.root.join(".git/index")).expect("an index"), index);
}

#[test]
fn a_symlinked_folder_is_not_followed() {
    let sandbox = Sandbox::with(&[("a", "1"), ("dir/x", "inside")]);
    let repo = sandbox.repo();
    let tree = repo.tree_id().expect("a tree");
    let outside = sandbox.beside("outside");
    fs::create_dir(&outside).expect("a folder");
    fs::write(outside.join("x"), "precious").expect("a file");
    fs::write(outside.join("y"), "precious").expect("a file");
    fs::remove_dir_all(sandbox.root.join("dir")).expect("removed");
    symlink(&outside, sandbox.root.join("dir")).expect("a link");
    sandbox.write("a", "changed");
    for path in ["dir/x", "dir/y"] {
        let error = repo.restore(&paths_of(&["a", path]), &tree).expect_err("a refusal");
        assert!(matches!(error, GitError::ThroughSymlink { .. }), "{error}");
    }
    assert_eq!(sandbox.read("a"), "changed", "all paths are checked before the first is written");
    repo.restore(&paths_of(&["dir", "dir/x", "dir/y"]), &tree).expect("the link itself may go");
    assert_eq!(sandbox.read("dir/x"), "inside");
    assert_eq!(fs::read_to_string(outside.join("x")).expect("a file"), "precious");
    assert_eq!(fs::read_to_string(outside.join("y")).expect("a file"), "precious");
}

#[test]
fn a_linked_file_is_replaced_and_its_target_kept() {
    let sandbox = Sandbox::with(&[("a", "1"), ("target", "precious")]);
    let repo = sandbox.repo();
    let tree = repo.tree_id().expect("a tree");
    sandbox.remove("a");
    symlink("target", sandbox.root.join("a")).expect("a link");
    repo.restore(&paths_of(&["a"]), &tree).expect("restored");
    assert_eq!((sandbox.read("a"), sandbox.read("target")), ("1".to_owned(), "precious".to_owned()));
}

#[test]
fn a_folder_with_other_files_is_not_removed_for_a_file() {
    let sandbox = Sandbox::with(&[("a", "1")]);
    let repo = sandbox.repo();
    let tree = repo.tree_id().expect("a tree");
    sandbox.remove("a");
    sandbox.write("a/mine", "x");
    let error = repo.restore(&paths_of(&["a"]), &tree).expect_err("a refusal");
    assert!(matches!(error, GitError::InTheWay { .. }), "{error}");
    assert_eq!(sandbox.read("a/mine"), "x");
}

#[test]
fn the_git_folder_and_what_lies_outside_cannot_be_named() {
    for text in [".git/config", "sub/.git/config", "../x", "/etc/passwd"] {
        assert!(GitPath::new(text).is_err(), "{text}");
    }
}
