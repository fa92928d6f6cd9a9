//! Our commits are taken off the branch, and nothing else is touched.

use crate::sandbox::Sandbox;

fn two_commits() -> (Sandbox, tdd_core::digest::CommitId, tdd_core::digest::CommitId) {
    let sandbox = Sandbox::with(&[("a", "1"), ("gone", "1"), ("theirs", "1")]);
    let base = sandbox.repo().head().expect("a head").commit.expect("a commit");
    sandbox.write("a", "2");
    sandbox.write("new/b", "2");
    sandbox.commit(&["a", "new/b"]).expect("a commit");
    sandbox.write("a", "3");
    sandbox.remove("gone");
    let last = sandbox.commit(&["a", "gone"]).expect("a commit");
    (sandbox, base, last)
}

#[test]
fn branch_index_and_files_are_as_before_and_what_was_done_is_kept() {
    let (sandbox, base, last) = two_commits();
    sandbox.write("theirs", "staged");
    sandbox.git(&["add", "theirs"]);
    let kept = sandbox.repo().take_back(&last, &base, "port/1").expect("taken back");
    assert_eq!(sandbox.git(&["rev-parse", "main"]), base.0);
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "M  theirs");
    assert_eq!((sandbox.read("a"), sandbox.read("gone")), ("1".to_owned(), "1".to_owned()));
    assert!(!sandbox.has("new"));
    assert_eq!(sandbox.git(&["rev-parse", &kept]), last.0);
}

#[test]
fn done_twice_or_after_a_kill_it_comes_to_the_same() {
    let (sandbox, base, last) = two_commits();
    // The state after a kill between moving the branch and restoring the files, with a person's edit on top.
    sandbox.git(&["reset", "-q", "--mixed", &base.0]);
    sandbox.write("a", "a person's");
    for _ in 0..2 {
        sandbox.repo().take_back(&last, &base, "port/1").expect("taken back");
        assert_eq!(sandbox.git(&["status", "--porcelain"]), " M a");
        assert_eq!((sandbox.read("a"), sandbox.read("gone")), ("a person's".to_owned(), "1".to_owned()));
    }
}
