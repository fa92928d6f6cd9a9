//! The tree id equals git's own, whatever the working tree contains.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::sandbox::{Sandbox, check_edits_in_a_row, check_tree, not_utf8};

#[test]
fn an_unborn_repository_has_the_tree_of_its_untracked_files() {
    let sandbox = Sandbox::unborn();
    check_tree(&sandbox);
    sandbox.write("src/lib.rs", "pub fn f() {}\n");
    check_tree(&sandbox);
}

#[test]
fn new_changed_and_deleted_files_count() {
    let sandbox = Sandbox::with(&[("a", "1"), ("b/c", "2"), ("b/d", "3"), ("e", "4")]);
    check_tree(&sandbox);
    sandbox.write("a", "changed");
    sandbox.write("new/deep/file", "new");
    sandbox.remove("b/c");
    sandbox.remove("b/d");
    check_tree(&sandbox);
    sandbox.remove("new/deep/file");
    check_tree(&sandbox);
}

#[test]
fn a_lock_that_a_kill_left_behind_is_in_nobodys_way() {
    let sandbox = Sandbox::with(&[("a", "1")]);
    check_tree(&sandbox);
    fs::write(sandbox.root.join(".git/refs/tdd/trees/main.lock"), "").expect("a lock");
    sandbox.write("a", "changed");
    check_tree(&sandbox);
}

#[test]
fn a_file_may_become_a_folder_and_a_folder_a_file_or_a_link() {
    let sandbox = Sandbox::with(&[("a", "1"), ("b/c", "2"), ("d/e", "3")]);
    check_tree(&sandbox);
    sandbox.remove("a");
    sandbox.write("a/inside", "1");
    sandbox.remove("b/c");
    fs::remove_dir(sandbox.root.join("b")).expect("an empty folder");
    sandbox.write("b", "file");
    fs::rename(sandbox.root.join("d"), sandbox.root.join("f")).expect("a rename");
    symlink("f", sandbox.root.join("d")).expect("a link");
    check_tree(&sandbox);
}

#[test]
fn executables_and_links_are_what_they_are() {
    let sandbox = Sandbox::with(&[("run.sh", "#!/bin/sh\n"), ("file", "x")]);
    check_tree(&sandbox);
    fs::set_permissions(sandbox.root.join("run.sh"), fs::Permissions::from_mode(0o755)).expect("a mode");
    symlink("nowhere/at all", sandbox.root.join("dangling")).expect("a link");
    sandbox.remove("file");
    symlink("run.sh", sandbox.root.join("file")).expect("a link");
    check_tree(&sandbox);
}

#[test]
fn names_with_spaces_accents_and_bytes_that_are_no_text_are_in_the_tree() {
    let sandbox = Sandbox::with(&[("with space/ünï.rs", "1")]);
    sandbox.write(not_utf8(), "latin");
    sandbox.write("new\nline", "odd");
    sandbox.write("back\\slash", "odd");
    sandbox.write("*[a]?", "glob");
    sandbox.write(":(top)x", "pathspec");
    check_tree(&sandbox);
}

#[test]
fn ignored_files_stay_out_and_tracked_ones_in() {
    let sandbox = Sandbox::with(&[(".gitignore", "*.log\n/target/\n!keep.log\n"), ("a", "1")]);
    sandbox.write("tracked.log", "x");
    sandbox.git(&["add", "-f", "tracked.log"]);
    for path in ["x.log", "keep.log", "target/debug/x", "sub/y.log", "sub/target/z"] {
        sandbox.write(path, "x");
    }
    check_tree(&sandbox);
    sandbox.git(&["rm", "-q", "--cached", "tracked.log"]);
    check_tree(&sandbox);
}

#[test]
fn a_file_leaves_the_tree_when_it_becomes_ignored_and_returns_afterwards() {
    let sandbox = Sandbox::with(&[("a", "1")]);
    sandbox.write("notes/x.txt", "x");
    sandbox.write("notes/y.txt", "y");
    check_tree(&sandbox);
    sandbox.write(".gitignore", "x.txt\n");
    check_tree(&sandbox);
    sandbox.write("notes/.gitignore", "*\n");
    check_tree(&sandbox);
    sandbox.remove("notes/.gitignore");
    sandbox.remove(".gitignore");
    check_tree(&sandbox);
    sandbox.write(".git/info/exclude", "notes/\n");
    check_tree(&sandbox);
}

#[test]
fn line_ends_are_converted_as_git_converts_them() {
    for setting in ["true", "input", "false"] {
        let sandbox = Sandbox::with(&[("committed-crlf", "a\r\nb\r\n"), ("committed-lf", "a\nb\n")]);
        sandbox.git(&["config", "core.autocrlf", setting]);
        sandbox.write("committed-crlf", "a\r\nb\r\nc\r\n");
        sandbox.write("committed-lf", "a\r\nb\r\nc\r\n");
        sandbox.write("new-crlf", "a\r\nb\r\n");
        sandbox.write("mixed", "a\r\nb\n");
        sandbox.write("binary", "a\r\n\0b\r\n");
        check_tree(&sandbox);
    }
}

#[test]
fn attributes_for_line_ends_are_honoured() {
    let sandbox = Sandbox::with(&[("plain", "a\n")]);
    let attributes = "*.txt text eol=crlf\n*.lf text eol=lf\n*.bin -text\n*.auto text=auto\n*.id ident\n";
    sandbox.write(".gitattributes", attributes);
    for name in ["x.txt", "x.lf", "x.bin", "x.auto"] {
        sandbox.write(name, "a\r\nb\r\n");
    }
    sandbox.write("x.id", "$Id: 0123456789 $\n");
    check_tree(&sandbox);
}

#[test]
fn changed_attributes_convert_files_that_were_seen_before() {
    let sandbox = Sandbox::with(&[("a", "1")]);
    sandbox.write("x.txt", "a\r\nb\r\n");
    check_tree(&sandbox);
    sandbox.write(".gitattributes", "*.txt text\n");
    check_tree(&sandbox);
    sandbox.write(".gitattributes", "*.txt -text\n");
    check_tree(&sandbox);
}

#[test]
fn an_edit_of_the_same_size_right_after_is_always_noticed() {
    let sandbox = Sandbox::with(&[("a", "0000")]);
    check_edits_in_a_row(&sandbox, "a");
}

#[test]
fn an_edit_that_sets_the_time_back_is_noticed() {
    let sandbox = Sandbox::with(&[("a", "0000")]);
    let repo = sandbox.repo();
    let old = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_600_000_000);
    let backdate = || fs::File::options().append(true).open(sandbox.root.join("a")).and_then(|f| f.set_modified(old));
    backdate().expect("a time");
    repo.tree_id().expect("a tree");
    sandbox.write("a", "1111");
    backdate().expect("a time");
    check_tree(&sandbox);
}

#[test]
fn submodules_stay_at_their_commit_and_are_not_entered() {
    let library = Sandbox::with(&[("lib.c", "int x;")]);
    let sandbox = Sandbox::with(&[("a", "1")]);
    let source = library.root.to_str().expect("a path");
    sandbox.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", source, "vendor/lib"]);
    check_tree(&sandbox);
    sandbox.git(&["commit", "-q", "-m", "submodule"]);
    let before = sandbox.repo().tree_id().expect("a tree");
    sandbox.write("vendor/lib/untracked", "x");
    check_tree(&sandbox);
    sandbox.git(&[
        "-C",
        "vendor/lib",
        "-c",
        "user.name=A",
        "-c",
        "user.email=a@b",
        "commit",
        "-q",
        "--allow-empty",
        "-m",
        "x",
    ]);
    assert_eq!(sandbox.repo().tree_id().expect("a tree"), before);
}

#[test]
fn another_repository_inside_is_left_out() {
    let sandbox = Sandbox::with(&[("a", "1")]);
    let before = sandbox.repo().tree_id().expect("a tree");
    sandbox.git(&["init", "-q", "foreign"]);
    sandbox.write("foreign/file", "x");
    assert_eq!(sandbox.repo().tree_id().expect("a tree"), before);
}

#[test]
fn a_dot_git_that_is_no_repository_hides_nothing() {
    let sandbox = Sandbox::with(&[("a", "1")]);
    sandbox.write("sub/hidden.rs", "x");
    fs::create_dir(sandbox.root.join("sub/.git")).expect("a folder");
    let error = sandbox.repo().tree_id().expect_err("a refusal");
    assert_eq!(
        error.to_string(),
        "`sub` has a `.git` that is not a repository, and git would not see the files beside it"
    );
}

#[test]
fn our_state_is_in_no_tree_but_prompts_are() {
    let sandbox = Sandbox::with(&[("a", "1"), (".tdd/prompts/tester.md", "be kind")]);
    let before = sandbox.repo().tree_id().expect("a tree");
    sandbox.write(".tdd/events.jsonl", "{}");
    sandbox.write(".tdd/logs/step-1.json", "{}");
    assert_eq!(sandbox.repo().tree_id().expect("a tree"), before);
    sandbox.git(&["add", "-f", ".tdd/events.jsonl"]);
    assert_eq!(sandbox.repo().tree_id().expect("a tree"), before);
    sandbox.write(".tdd/prompts/tester.md", "be strict");
    assert_ne!(sandbox.repo().tree_id().expect("a tree"), before);
}

#[test]
fn the_users_index_is_not_written() {
    let sandbox = Sandbox::with(&[("a", "1"), ("b", "2")]);
    sandbox.write("a", "staged");
    sandbox.git(&["add", "a"]);
    sandbox.write("a", "not staged");
    sandbox.write("new", "x");
    let index = fs::read(sandbox.root.join(".git/index")).expect("an index");
    check_tree(&sandbox);
    sandbox.repo().dirty().expect("a status");
    assert_eq!(fs::read(sandbox.root.join(".git/index")).expect("an index"), index);
}

#[test]
fn conflicts_count_as_the_files_that_stand_there() {
    let sandbox = Sandbox::with(&[("a", "1\n")]);
    sandbox.git(&["checkout", "-q", "-b", "other"]);
    sandbox.write("a", "2\n");
    sandbox.git(&["commit", "-qam", "other"]);
    sandbox.git(&["checkout", "-q", "main"]);
    sandbox.write("a", "3\n");
    sandbox.git(&["commit", "-qam", "mine"]);
    assert!(!sandbox.try_git(&["merge", "-q", "other"]).status.success());
    check_tree(&sandbox);
}

#[test]
fn files_outside_a_sparse_checkout_stay_in_the_tree() {
    let sandbox = Sandbox::with(&[("in/a", "1"), ("out/b", "2")]);
    let whole = sandbox.git(&["rev-parse", "HEAD^{tree}"]);
    sandbox.git(&["sparse-checkout", "set", "--no-cone", "/in/"]);
    assert!(!sandbox.has("out/b"));
    assert_eq!(sandbox.repo().tree_id().expect("a tree").0, whole);
}

#[test]
fn a_linked_worktree_has_a_tree_of_its_own() {
    let sandbox = Sandbox::with(&[("a", "1")]);
    let dir = sandbox.beside("linked");
    sandbox.git(&["worktree", "add", "-q", "--detach", dir.to_str().expect("a path")]);
    fs::write(dir.join("only-here"), "x").expect("a file");
    let linked = tdd_exec::git::Repo::discover(&dir).expect("readable").expect("a repository");
    assert_ne!(linked.tree_id().expect("a tree"), sandbox.repo().tree_id().expect("a tree"));
    check_tree(&sandbox);
}

#[test]
fn the_tree_survives_a_gc_and_so_does_our_cache() {
    let sandbox = Sandbox::with(&[("a", "1")]);
    sandbox.write("untracked", "precious");
    let tree = sandbox.repo().tree_id().expect("a tree");
    sandbox.git(&["gc", "-q", "--prune=now"]);
    assert_eq!(sandbox.git(&["show", &format!("{tree}:untracked")]), "precious");
    sandbox.git(&["update-ref", "-d", "refs/tdd/trees/main"]);
    sandbox.git(&["gc", "-q", "--prune=now"]);
    let again = sandbox.repo().tree_id().expect("a tree");
    assert_eq!(sandbox.git(&["show", &format!("{again}:untracked")]), "precious");
}

#[test]
fn a_damaged_cache_and_a_lock_left_behind_do_no_harm() {
    let sandbox = Sandbox::with(&[("a", "1")]);
    check_tree(&sandbox);
    sandbox.write(".git/tdd-machine/index", "rubbish");
    sandbox.write(".git/tdd-machine/index.lock", "");
    sandbox.write("a", "2");
    check_tree(&sandbox);
}

/// Root can read everything, so another user computes the id, in a separate process.
#[test]
fn an_unreadable_file_is_an_error_that_names_it() {
    let sandbox = Sandbox::with(&[("a", "1")]);
    sandbox.write("sub/secret", "x");
    fs::set_permissions(sandbox.root.join("sub/secret"), fs::Permissions::from_mode(0o000)).expect("a mode");
    let message = as_plain_user(&sandbox);
    assert_eq!(message, "cannot read `sub/secret`, so the state of the working tree is unknown");
}

#[test]
fn an_unreadable_folder_is_an_error_that_names_it() {
    for committed in [&[("a", "1")][..], &[("a", "1"), ("sub/tracked", "1")]] {
        let sandbox = Sandbox::with(committed);
        sandbox.write("sub/secret", "x");
        fs::set_permissions(sandbox.root.join("sub"), fs::Permissions::from_mode(0o000)).expect("a mode");
        let message = as_plain_user(&sandbox);
        fs::set_permissions(sandbox.root.join("sub"), fs::Permissions::from_mode(0o755)).expect("a mode");
        assert_eq!(message, "cannot read `sub`, so the state of the working tree is unknown");
    }
}

/// The error that a user who is not root gets for the tree id.
fn as_plain_user(sandbox: &Sandbox) -> String {
    if !nix::unistd::geteuid().is_root() {
        return sandbox.repo().tree_id().expect_err("a refusal").to_string();
    }
    let (nobody, answer) = (65_534, sandbox.beside("answer"));
    let everything = sandbox.beside("");
    let owner = format!("{nobody}:{nobody}");
    assert!(Command::new("chown").args(["-R", &owner]).arg(&everything).status().expect("chown").success());
    let program = sandbox.beside("test-program");
    fs::copy(std::env::current_exe().expect("this program"), &program).expect("a copy");
    let output = Command::new(program)
        .current_dir(&everything)
        .env("HOME", &everything)
        .args(["--exact", "--ignored", "tree::the_question_of_the_plain_user"])
        .env("TDD_ASK", &sandbox.root)
        .env("TDD_ANSWER", &answer)
        .uid(nobody)
        .gid(nobody)
        .output()
        .expect("this program again");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    fs::read_to_string(answer).expect("an answer")
}

#[test]
#[ignore = "run by the tests of unreadable files, as another user"]
fn the_question_of_the_plain_user() {
    let (Some(root), Some(answer)) = (std::env::var_os("TDD_ASK"), std::env::var_os("TDD_ANSWER")) else { return };
    let repo = tdd_exec::git::Repo::discover(root.as_ref()).expect("readable").expect("a repository");
    fs::write(answer, repo.tree_id().expect_err("a refusal").to_string()).expect("a written answer");
}
