//! A commit contains exactly the verified bytes of its paths, and the user's own work is untouched.

use std::fs;

use tdd_exec::git::{GitError, NewCommit, Repo};

use crate::sandbox::{Sandbox, commit_onto, grace, path, paths_of};

#[test]
fn the_first_commit_makes_the_branch() {
    let sandbox = Sandbox::unborn();
    sandbox.write("src/lib.rs", "pub fn f() {}\n");
    sandbox.write("secret", "mine");
    let commit = sandbox.commit(&["src/lib.rs"]).expect("a commit");
    assert_eq!(sandbox.git(&["rev-parse", "main"]), commit.0);
    assert_eq!(sandbox.git(&["ls-tree", "-r", "--name-only", "HEAD"]), "src/lib.rs");
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "?? secret");
    assert_eq!(
        sandbox.git(&["log", "--format=%an <%ae> %at %cn: %s"]),
        "Grace <grace@example.org> 1700000000 Grace: feat: second"
    );
}

#[test]
fn adds_changes_and_deletions_are_committed_and_the_index_agrees() {
    let sandbox = Sandbox::with(&[("a", "1"), ("sub/b", "2"), ("c", "3")]);
    sandbox.write("a", "changed");
    sandbox.remove("sub/b");
    sandbox.write("new/ü x", "new");
    sandbox.commit(&["a", "sub/b", "new/ü x", "never/was"]).expect("a commit");
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    assert_eq!(sandbox.git(&["-c", "core.quotePath=false", "ls-tree", "-r", "--name-only", "HEAD"]), "a\nc\nnew/ü x");
    assert_eq!(sandbox.git(&["rev-list", "--count", "HEAD"]), "2");
    assert_eq!(sandbox.git(&["fsck", "--strict"]), "");
}

#[test]
fn what_the_user_staged_stays_staged_and_what_is_untracked_stays_untracked() {
    let sandbox = Sandbox::with(&[("a", "1"), ("theirs", "1"), ("gone", "1"), ("edited", "1")]);
    sandbox.write("theirs", "staged");
    sandbox.write("staged-new", "staged");
    sandbox.git(&["add", "theirs", "staged-new"]);
    sandbox.git(&["rm", "-q", "--cached", "gone"]);
    sandbox.write("theirs", "and edited again");
    sandbox.write("edited", "not staged");
    sandbox.write("secret.env", "KEY=1");
    sandbox.write("a", "step");
    sandbox.commit(&["a"]).expect("a commit");
    let status = " M edited\nD  gone\nA  staged-new\nMM theirs\n?? gone\n?? secret.env";
    assert_eq!(sandbox.git(&["status", "--porcelain"]), status);
    assert_eq!(sandbox.git(&["show", "--format=", "--name-only", "HEAD"]), "a");
    assert_eq!(sandbox.git(&["show", ":theirs"]), "staged");
    assert_eq!(sandbox.read("secret.env"), "KEY=1");
}

#[test]
fn the_tested_bytes_are_committed_even_if_the_file_changed_since() {
    let sandbox = Sandbox::with(&[("a", "1")]);
    let repo = sandbox.repo();
    let onto = repo.head().expect("a HEAD");
    sandbox.write("a", "tested");
    let from = repo.tree_id().expect("a tree");
    sandbox.write("a", "untested");
    let paths = paths_of(&["a"]);
    let new = NewCommit { onto: &onto, from: &from, paths: &paths, message: "feat: x", author: &grace() };
    repo.commit_paths(&new).expect("a commit");
    assert_eq!(sandbox.git(&["show", "HEAD:a"]), "tested");
    assert_eq!(sandbox.git(&["status", "--porcelain"]), " M a");
}

#[test]
fn a_same_size_edit_right_after_a_commit_is_seen_by_git() {
    let sandbox = Sandbox::with(&[("a", "0000"), ("b", "0000")]);
    for n in 1..40 {
        sandbox.write("a", format!("{n:04}"));
        sandbox.write("b", format!("{n:04}"));
        sandbox.git(&["add", "b"]);
        sandbox.write("b", format!("{:04}", n + 5000));
        sandbox.commit(&["a"]).expect("a commit");
        sandbox.write("a", format!("{:04}", n + 7000));
        assert_eq!(sandbox.git(&["status", "--porcelain"]), " M a\nMM b", "round {n}");
    }
}

#[test]
fn a_detached_head_moves_and_the_branch_does_not() {
    let sandbox = Sandbox::with(&[("a", "1")]);
    sandbox.git(&["checkout", "-q", "--detach"]);
    sandbox.write("a", "2");
    let main = sandbox.git(&["rev-parse", "main"]);
    let commit = sandbox.commit(&["a"]).expect("a commit");
    assert_eq!(sandbox.git(&["rev-parse", "HEAD"]), commit.0);
    assert_eq!(sandbox.git(&["rev-parse", "main"]), main);
    assert_eq!(sandbox.repo().head().expect("a HEAD").branch, None);
}

#[test]
fn the_reflogs_tell_of_the_commit() {
    let sandbox = Sandbox::with(&[("a", "1")]);
    sandbox.write("a", "2");
    sandbox.commit(&["a"]).expect("a commit");
    for name in ["HEAD", "main"] {
        assert_eq!(sandbox.git(&["reflog", "-1", "--format=%gs", name]), "commit: feat: second");
    }
}

#[test]
fn a_head_that_moved_is_left_where_it_is() {
    let sandbox = Sandbox::with(&[("a", "1")]);
    let repo = sandbox.repo();
    let onto = repo.head().expect("a HEAD");
    sandbox.git(&["commit", "-q", "--allow-empty", "-m", "meanwhile"]);
    sandbox.write("a", "2");
    let error = commit_onto(&repo, &onto, &["a"]).expect_err("a refusal");
    assert!(matches!(error, GitError::HeadMoved { .. }), "{error}");
    sandbox.git(&["reset", "-q", "--soft", "HEAD^"]);
    sandbox.git(&["checkout", "-q", "-b", "elsewhere"]);
    let error = commit_onto(&repo, &onto, &["a"]).expect_err("a refusal");
    assert!(error.to_string().contains("on main, found"), "{error}");
    assert_eq!(sandbox.git(&["log", "--all", "--format=%s"]), "first");
    assert_eq!(sandbox.git(&["status", "--porcelain"]), " M a");
}

/// A repository with an edit and this lock, and the error of a commit, whose hint names the lock.
fn refused_by(lock: &str) -> (Sandbox, GitError) {
    let sandbox = Sandbox::with(&[("a", "1")]);
    sandbox.write("a", "2");
    sandbox.write(lock, "");
    let error = sandbox.commit(&["a"]).expect_err("a refusal");
    let name = lock.trim_start_matches(".git/");
    assert!(error.hint().is_some_and(|hint| hint.contains(name)), "{error}");
    (sandbox, error)
}

#[test]
fn a_locked_index_is_an_error_and_nothing_is_committed() {
    let (sandbox, error) = refused_by(".git/index.lock");
    assert!(matches!(error, GitError::IndexLocked { .. }), "{error}");
    assert!(sandbox.has(".git/index.lock"), "it is not ours to remove");
    assert_eq!(sandbox.git(&["rev-list", "--count", "HEAD"]), "1");
}

#[test]
fn a_locked_branch_is_an_error_and_the_index_is_as_before() {
    let (sandbox, error) = refused_by(".git/refs/heads/main.lock");
    assert!(matches!(error, GitError::RefLocked { .. }), "{error}");
    sandbox.remove(".git/refs/heads/main.lock");
    assert_eq!(sandbox.git(&["status", "--porcelain"]), " M a");
    assert!(!sandbox.has(".git/index.lock"));
}

#[test]
fn a_commit_that_a_kill_cut_short_is_finished_or_dropped_by_the_next_start() {
    for branch_moved in [true, false] {
        let sandbox = Sandbox::with(&[("a", "1")]);
        let before = sandbox.git(&["rev-parse", "HEAD"]);
        let old_index = fs::read(sandbox.root.join(".git/index")).expect("an index");
        sandbox.write("a", "longer");
        let commit = sandbox.commit(&["a"]).expect("a commit");
        let new_index = fs::read(sandbox.root.join(".git/index")).expect("an index");
        // The state after a kill right before the last step.
        let no_process = i32::MAX;
        sandbox.write(".git/index", old_index);
        sandbox.write(".git/index.lock", format!("tdd-machine {no_process}\n{}\n", commit.0));
        sandbox.write(".git/tdd-machine/next-index", new_index);
        if !branch_moved {
            sandbox.git(&["update-ref", "refs/heads/main", &before]);
        }
        sandbox.repo();
        assert!(!sandbox.has(".git/index.lock") && !sandbox.has(".git/tdd-machine/next-index"));
        let expected = if branch_moved { "" } else { " M a" };
        assert_eq!(sandbox.git(&["status", "--porcelain"]), expected);
    }
}

#[test]
fn a_lock_that_one_of_us_holds_is_not_written_to() {
    let sandbox = Sandbox::with(&[("a", "1")]);
    sandbox.write("a", "2");
    sandbox.commit(&["a"]).expect("a commit");
    let lives = "tdd-machine 1\n";
    sandbox.write(".git/tdd-machine/mark", lives);
    fs::hard_link(sandbox.root.join(".git/tdd-machine/mark"), sandbox.root.join(".git/index.lock")).expect("a link");
    sandbox.write("a", "3");
    let error = sandbox.commit(&["a"]).expect_err("a refusal");
    assert!(matches!(error, GitError::IndexLocked { .. }), "{error}");
    assert_eq!(sandbox.read(".git/index.lock"), lives);
    sandbox.remove(".git/index.lock");
    sandbox.commit(&["a"]).expect("a commit");
}

/// The state after a kill in the middle of a ref move.
fn cut_short(sandbox: &Sandbox, pid: i32, held: &str) {
    let to = sandbox.git(&["commit-tree", "-m", "cut short", "HEAD^{tree}"]);
    sandbox.write(".git/tdd-machine/moving", format!("{pid} {to} refs/heads/main\n"));
    sandbox.write(".git/refs/heads/main.lock", held.replace("[to]", &to));
}

#[test]
fn the_lock_of_a_move_that_a_kill_cut_short_is_removed_by_the_next_start() {
    let no_process = i32::MAX;
    for held in ["", "[to]\n"] {
        let sandbox = Sandbox::with(&[("a", "1")]);
        cut_short(&sandbox, no_process, held);
        sandbox.repo();
        assert!(!sandbox.has(".git/refs/heads/main.lock") && sandbox.read(".git/tdd-machine/moving").is_empty());
        sandbox.write("a", "2");
        sandbox.commit(&["a"]).expect("a commit");
    }
}

#[test]
fn a_lock_that_may_be_somebody_elses_is_not_removed() {
    let another = "1111111111111111111111111111111111111111\n";
    let ours_lives = 1;
    for (pid, held) in [(i32::MAX, another), (ours_lives, ""), (ours_lives, "[to]\n")] {
        let sandbox = Sandbox::with(&[("a", "1")]);
        cut_short(&sandbox, pid, held);
        sandbox.repo();
        assert!(sandbox.has(".git/refs/heads/main.lock"), "{pid} {held}");
    }
    let sandbox = Sandbox::with(&[("a", "1")]);
    cut_short(&sandbox, i32::MAX, "");
    let note = fs::File::options().append(true).open(sandbox.root.join(".git/tdd-machine/moving")).expect("a note");
    note.set_modified(std::time::SystemTime::now() - std::time::Duration::from_mins(1)).expect("a time");
    sandbox.repo();
    assert!(sandbox.has(".git/refs/heads/main.lock"), "it came later than ours would have");
}

#[test]
fn nothing_is_committed_during_a_merge_or_a_bisect() {
    let sandbox = Sandbox::with(&[("a", "1")]);
    sandbox.write("a", "2");
    let head = sandbox.git(&["rev-parse", "HEAD"]);
    sandbox.write(".git/MERGE_HEAD", format!("{head}\n"));
    assert_eq!(sandbox.commit(&["a"]).expect_err("a refusal").to_string(), "a merge is in progress in this repository");
    sandbox.remove(".git/MERGE_HEAD");
    sandbox.git(&["bisect", "start"]);
    assert_eq!(
        sandbox.commit(&["a"]).expect_err("a refusal").to_string(),
        "a bisect is in progress in this repository"
    );
}

#[test]
fn an_unchanged_path_is_nothing_to_commit() {
    let sandbox = Sandbox::with(&[("a", "1")]);
    assert!(matches!(sandbox.commit(&["a"]), Err(GitError::NothingToCommit)));
}

#[test]
fn a_commit_in_a_linked_worktree_leaves_the_main_one_alone() {
    let sandbox = Sandbox::with(&[("a", "1")]);
    let dir = sandbox.beside("linked");
    sandbox.git(&["worktree", "add", "-q", "-b", "side", dir.to_str().expect("a path")]);
    fs::write(dir.join("a"), "2").expect("a file");
    let repo = Repo::discover(&dir).expect("readable").expect("a repository");
    commit_onto(&repo, &repo.head().expect("a HEAD"), &["a"]).expect("a commit");
    assert_eq!(sandbox.git(&["-C", dir.to_str().expect("a path"), "status", "--porcelain"]), "");
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    assert_eq!(sandbox.git(&["log", "--format=%s", "side"]), "feat: second\nfirst");
    assert_eq!(sandbox.git(&["log", "--format=%s", "main"]), "first");
}

#[test]
fn attempts_are_kept_numbered_and_survive_a_gc() {
    let sandbox = Sandbox::with(&[("a", "1")]);
    let repo = sandbox.repo();
    let head = repo.head().expect("a HEAD");
    sandbox.write("tried.rs", "first try");
    let tree = repo.tree_id().expect("a tree");
    let keep = || repo.keep_attempt((4, 2), &tree, head.commit.as_ref(), "attempt", &grace()).expect("a ref");
    assert_eq!([keep(), keep()], ["refs/tdd/attempts/4/2-1", "refs/tdd/attempts/4/2-2"]);
    sandbox.remove("tried.rs");
    repo.tree_id().expect("a tree");
    sandbox.git(&["gc", "-q", "--prune=now"]);
    assert_eq!(sandbox.git(&["show", "refs/tdd/attempts/4/2-1:tried.rs"]), "first try");
    assert_eq!(repo.head().expect("a HEAD"), head);
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    assert_eq!(repo.blob(&tree, &path("tried.rs")).expect("readable"), Some(b"first try".to_vec()));
}
