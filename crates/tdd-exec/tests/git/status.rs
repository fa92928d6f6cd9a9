//! Tests of uncommitted changes, file listing and ignore rules.

use crate::sandbox::{Sandbox, not_utf8, path};

fn check_dirty(sandbox: &Sandbox, modified: &[&str], untracked: &[&str]) {
    let dirty = sandbox.repo().dirty().expect("a status");
    let show = |paths: &[tdd_exec::git::GitPath]| paths.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!((show(&dirty.modified_tracked), show(&dirty.untracked)), (owned(modified), owned(untracked)));
    assert_eq!(dirty.is_clean(), modified.is_empty() && untracked.is_empty());
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(ToString::to_string).collect()
}

#[test]
fn a_clean_tree_is_clean_whatever_is_ignored() {
    let sandbox = Sandbox::with(&[("a", "1"), (".gitignore", "*.log\n")]);
    sandbox.write("x.log", "x");
    sandbox.write(".tdd/events.jsonl", "{}");
    check_dirty(&sandbox, &[], &[]);
}

#[test]
fn staged_changed_and_deleted_files_are_modified() {
    let sandbox = Sandbox::with(&[("changed", "1"), ("deleted", "1"), ("reverted", "1"), ("uncached", "1")]);
    sandbox.write("changed", "2");
    sandbox.remove("deleted");
    sandbox.write("staged-new", "1");
    sandbox.write("reverted", "2");
    sandbox.git(&["add", "staged-new", "reverted"]);
    sandbox.write("reverted", "1");
    sandbox.git(&["rm", "-q", "--cached", "uncached"]);
    sandbox.write("untracked", "1");
    let modified = ["changed", "deleted", "reverted", "staged-new", "uncached"];
    check_dirty(&sandbox, &modified, &["uncached", "untracked"]);
}

#[test]
fn in_an_unborn_repository_everything_is_untracked() {
    let sandbox = Sandbox::unborn();
    sandbox.write("sub/a", "1");
    check_dirty(&sandbox, &[], &["sub/a"]);
}

#[test]
fn files_are_those_of_the_tree_sorted() {
    let sandbox = Sandbox::with(&[("z", "1"), ("gone", "1"), (".gitignore", "*.log\n")]);
    sandbox.write("a b/ü", "1");
    sandbox.write("forced.log", "1");
    sandbox.git(&["add", "-f", "forced.log"]);
    sandbox.write("x.log", "1");
    sandbox.write(not_utf8(), "skipped");
    sandbox.remove("gone");
    assert_eq!(sandbox.repo().files().expect("files"), [".gitignore", "a b/ü", "forced.log", "z"]);
}

#[test]
fn ignored_is_what_no_tree_will_hold() {
    let sandbox = Sandbox::with(&[(".gitignore", "*.log\n/target/\n"), ("a", "1")]);
    sandbox.write("forced.log", "1");
    sandbox.git(&["add", "-f", "forced.log"]);
    sandbox.git(&["init", "-q", "foreign"]);
    let repo = sandbox.repo();
    let ignored = |text: &str| repo.is_ignored(&path(text)).expect(text);
    for text in ["x.log", "sub/x.log", "target/new.rs", ".tdd/events.jsonl", "foreign/x"] {
        assert!(ignored(text), "{text}");
    }
    for text in ["a", "new.rs", "forced.log", "src/target/x.rs", ".tdd/prompts/x.md", "foreign.rs"] {
        assert!(!ignored(text), "{text}");
    }
    sandbox.write(".gitignore", "*.rs\n");
    assert!(ignored("new.rs") && !ignored("x.log"), "the rules are those of now");
}
