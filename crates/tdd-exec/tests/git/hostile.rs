//! Nothing that a repository's configuration names is ever run.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::sandbox::{Sandbox, grace, paths_of};

/// A repository in which every hook and setting runs a program that leaves a mark.
fn booby_trapped() -> Sandbox {
    let sandbox = Sandbox::with(&[("a", "1"), ("b.x", "1")]);
    let trap = sandbox.beside("trap");
    let mark = sandbox.beside("mark");
    fs::write(&trap, format!("#!/bin/sh\ntouch '{}'\ncat\n", mark.display())).expect("a trap");
    fs::set_permissions(&trap, fs::Permissions::from_mode(0o755)).expect("a mode");
    let trap_path = trap.to_str().expect("a path");
    for name in
        ["core.fsmonitor", "filter.x.clean", "filter.x.smudge", "filter.x.process", "core.editor", "gpg.program"]
            .into_iter()
            .chain([
                "core.sshCommand",
                "core.pager",
                "diff.external",
                "diff.x.textconv",
                "core.hooksPath",
                "merge.x.driver",
            ])
    {
        sandbox.git(&["config", name, trap_path]);
    }
    sandbox.git(&["config", "core.hooksPath", ".git/hooks"]);
    sandbox.git(&["config", "commit.gpgsign", "true"]);
    for hook in
        ["pre-commit", "commit-msg", "post-commit", "post-checkout", "post-index-change", "reference-transaction"]
    {
        let path = sandbox.root.join(".git/hooks").join(hook);
        fs::create_dir_all(path.parent().expect("a folder")).expect("the hooks");
        fs::copy(&trap, path).expect("a hook");
    }
    sandbox.write(".gitattributes", "*.x filter=x diff=x merge=x\n");
    sandbox
}

#[test]
fn no_hook_filter_monitor_or_signer_runs() {
    let sandbox = booby_trapped();
    let repo = sandbox.repo();
    let onto = repo.head().expect("a HEAD");
    sandbox.write("b.x", "as it is\n");
    let tree = repo.tree_id().expect("a tree");
    repo.dirty().expect("a status");
    repo.files().expect("files");
    let paths = paths_of(&["b.x", ".gitattributes"]);
    let new = tdd_exec::git::NewCommit { onto: &onto, from: &tree, paths: &paths, message: "x", author: &grace() };
    let commit = repo.commit_paths(&new).expect("a commit");
    repo.last_diff(9_999).expect("a diff");
    repo.restore(&paths, &tree).expect("restored");
    repo.keep_attempt((1, 1), &tree, Some(&commit), "x", &grace()).expect("a ref");
    let worktree = repo.add_worktree(&sandbox.beside("worktree"), &commit).expect("a worktree");
    assert_eq!(fs::read_to_string(worktree.dir().join("b.x")).expect("a file"), "as it is\n");
    drop(worktree);
    assert_eq!(sandbox.read("b.x"), "as it is\n");
    assert!(!sandbox.beside("mark").exists(), "something ran");
}

#[test]
fn the_traps_are_real() {
    let sandbox = booby_trapped();
    sandbox.write("b.x", "changed");
    sandbox.try_git(&["add", "-A"]);
    assert!(sandbox.beside("mark").exists());
}
