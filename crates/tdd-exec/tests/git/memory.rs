//! A branch of our own grows without a checkout, and never overwrites what another process committed.

use std::path::Path;

use tdd_core::digest::CommitId;
use tdd_exec::git::{GitError, Lineage};
use tdd_exec::process::Spawner;
use tdd_exec::remote::{Pushed, Remote, RemoteError};

use crate::sandbox::{Sandbox, grace};

const BRANCH: &str = "memory/autoloop";

fn files(name: &str, text: &str) -> Vec<(String, String)> {
    vec![(name.to_owned(), text.to_owned())]
}

fn grow(sandbox: &Sandbox, name: &str, text: &str) -> CommitId {
    let repo = sandbox.repo();
    let at = repo.branch(BRANCH).expect("a branch");
    let commit = repo.commit_aside(at.as_ref(), &files(name, text), "remember", &grace()).expect("a commit");
    assert!(repo.move_branch(BRANCH, at.as_ref(), &commit).expect("a move"));
    commit
}

fn spawner(root: &Path) -> Spawner {
    Spawner::new(root, std::env::vars_os()).with_supervisor(env!("CARGO_BIN_EXE_tdd-run-one"))
}

#[test]
fn it_grows_beside_the_users_checkout() {
    let sandbox = Sandbox::with(&[("a", "1"), ("b", "1")]);
    sandbox.write("a", "edited");
    sandbox.write("b", "staged");
    sandbox.git(&["add", "b"]);
    let before = sandbox.git(&["status", "--porcelain", "--branch"]);
    grow(&sandbox, "x.json", "{}");
    grow(&sandbox, "x.md", "# x");
    assert_eq!(sandbox.git(&["status", "--porcelain", "--branch"]), before);
    assert_eq!(sandbox.git(&["ls-tree", "-r", "--name-only", BRANCH]), "x.json\nx.md");
    assert_eq!(sandbox.git(&["rev-list", "--count", BRANCH]), "2");
    assert_eq!(sandbox.git(&["fsck", "--strict", "--no-dangling"]), "");
    let tip = sandbox.repo().branch(BRANCH).expect("a branch").expect("a commit");
    assert_eq!(sandbox.repo().text_of(&tip, "x.md").expect("a text").as_deref(), Some("# x"));
    assert_eq!(sandbox.repo().text_of(&tip, "a").expect("no text"), None);
}

#[test]
fn it_moves_only_from_where_it_was_seen_and_never_under_a_person() {
    let sandbox = Sandbox::with(&[("a", "1")]);
    let first = grow(&sandbox, "x", "1");
    let repo = sandbox.repo();
    let ours = repo.commit_aside(Some(&first), &files("x", "ours"), "ours", &grace()).expect("a commit");
    let theirs = grow(&sandbox, "x", "theirs");
    assert!(!repo.move_branch(BRANCH, Some(&first), &ours).expect("an answer"));
    assert!(!repo.move_branch(BRANCH, None, &ours).expect("an answer"));
    assert_eq!(repo.branch(BRANCH).expect("a branch"), Some(theirs.clone()));
    assert_eq!(repo.lineage(&ours, &theirs).expect("a lineage"), Lineage::Diverged { ours: vec![ours.clone()] });
    assert_eq!(repo.lineage(&first, &theirs).expect("a lineage"), Lineage::Behind);
    assert_eq!(repo.lineage(&theirs, &first).expect("a lineage"), Lineage::Ahead);
    sandbox.git(&["switch", "-q", BRANCH]);
    let refused = sandbox.repo().move_branch(BRANCH, Some(&theirs), &ours);
    assert!(matches!(refused, Err(GitError::CheckedOut { .. })));
}

#[test]
fn the_lock_of_a_killed_move_is_in_nobodys_way_and_another_one_is_named() {
    let sandbox = Sandbox::with(&[("a", "1")]);
    let first = grow(&sandbox, "x", "1");
    let repo = sandbox.repo();
    let lock = ".git/refs/heads/memory/autoloop.lock";
    sandbox.write(".git/tdd-machine/moving", format!("{} {} refs/heads/{BRANCH}\n", i32::MAX, first.0));
    sandbox.write(lock, format!("{}\n", first.0));
    let next = repo.commit_aside(Some(&first), &files("x", "2"), "ours", &grace()).expect("a commit");
    assert!(repo.move_branch(BRANCH, Some(&first), &next).expect("a move"));
    sandbox.write(lock, "");
    let refused = repo.move_branch(BRANCH, Some(&next), &first).expect_err("a refusal");
    assert!(refused.hint().is_some_and(|hint| hint.contains("memory/autoloop.lock")), "{refused}");
    assert!(sandbox.has(lock));
}

#[test]
fn a_remote_takes_what_loses_nothing_and_no_hook_runs() {
    let (one, other) = (Sandbox::with(&[("a", "1")]), Sandbox::with(&[("a", "1")]));
    let bare = one.beside("bare.git");
    let url = bare.to_str().expect("a path").to_owned();
    one.git(&["init", "-q", "--bare", &url]);
    for sandbox in [&one, &other] {
        sandbox.git(&["remote", "add", "origin", &url]);
        sandbox.write(".git/hooks/pre-push", "#!/bin/sh\ntouch hook-ran\nexit 1\n");
        sandbox.git(&["config", "core.fsmonitor", "touch fsmonitor-ran; false"]);
        std::process::Command::new("chmod")
            .args(["+x"])
            .arg(sandbox.repo().root().join(".git/hooks/pre-push"))
            .status()
            .expect("chmod");
    }
    let (one_repo, other_repo) = (one.repo(), other.repo());
    let (one_spawner, other_spawner) = (spawner(one.repo().root()), spawner(other.repo().root()));
    let here = Remote { repo: &one_repo, spawner: &one_spawner, name: "origin" };
    let there = Remote { repo: &other_repo, spawner: &other_spawner, name: "origin" };
    assert_eq!(here.fetch(BRANCH).expect("an answer"), None);
    let ours = grow(&one, "x", "ours");
    assert_eq!(here.push(&ours, BRANCH).expect("a push"), Pushed::Done);
    let theirs = grow(&other, "x", "theirs");
    assert_eq!(there.push(&theirs, BRANCH).expect("a push"), Pushed::Rejected);
    assert_eq!(there.fetch(BRANCH).expect("a fetch"), Some(ours));
    assert_eq!(other_repo.branch(BRANCH).expect("a branch"), Some(theirs));
    for sandbox in [&one, &other] {
        assert!(!sandbox.has("hook-ran") && !sandbox.has("fsmonitor-ran"));
    }
    let nobody = Remote { name: "--upload-pack=touch x", ..here };
    assert!(matches!(nobody.fetch(BRANCH), Err(RemoteError::Name(_))));
    let missing = Remote { name: "nowhere", ..there };
    assert!(matches!(missing.fetch(BRANCH), Err(RemoteError::Refused { .. })));
}
