//! An attempt's edits are taken out of the working tree, and no line of a person's is lost.

use std::collections::BTreeMap;
use std::thread;

use tdd_core::digest::TreeId;
use tdd_exec::git::{PersonsFile, PersonsFileNow, Repo, Withdrawal};

use crate::sandbox::{Sandbox, grace, path, paths_of};

const BASE: &str = "one\ntwo\nthree\nfour\nfive\n";
const OURS: &str = "one\ntwo\nthree\nfour\nFIVE\n";

/// An attempt that changed `a` and created `sub/new`.
struct Attempt {
    sandbox: Sandbox,
    repo: Repo,
    base: TreeId,
    written: TreeId,
}

impl Attempt {
    fn new() -> Self {
        let sandbox = Sandbox::with(&[("a", BASE), ("b", "0")]);
        let repo = sandbox.repo();
        let base = repo.head().expect("a HEAD").tree;
        let files = [("a", OURS), ("sub/new", "ours\n")];
        let files: BTreeMap<String, Option<String>> =
            files.map(|(path, text)| (path.to_owned(), Some(text.to_owned()))).into();
        let written = repo.tree_with_files(&base, &files).expect("a tree");
        for (path, text) in &files {
            sandbox.write(path, text.clone().expect("a text"));
        }
        assert_eq!(repo.tree_id().expect("a tree"), written);
        Self { sandbox, repo, base, written }
    }

    fn withdraw(&self, to: &TreeId) -> Vec<PersonsFile> {
        let (paths, author) = (paths_of(&["a", "sub/new"]), grace());
        let what = Withdrawal { written: &self.written, to, paths: &paths, author: &author };
        self.repo.withdraw(&what).expect("a withdrawal")
    }

    fn undo(&self) -> Vec<PersonsFile> {
        self.withdraw(&self.base)
    }

    fn show(&self, kept: &PersonsFile) -> String {
        let name = kept.kept_as.as_deref().expect("a ref");
        assert!(name.starts_with("refs/tdd/kept/"), "{name}");
        self.sandbox.git(&["show", &format!("{name}:{}", kept.path)])
    }
}

#[test]
fn what_is_exactly_ours_is_put_back() {
    let attempt = Attempt::new();
    assert_eq!(attempt.repo.announced(), None);
    attempt.repo.announce(&attempt.written).expect("a note");
    assert_eq!(attempt.sandbox.repo().announced(), Some(attempt.written.clone()));
    assert_eq!(attempt.undo(), []);
    assert_eq!(attempt.sandbox.read("a"), BASE);
    assert!(!attempt.sandbox.has("sub"));
    assert_eq!(attempt.undo(), [], "twice comes to the same");
    assert_eq!(attempt.sandbox.git(&["status", "--porcelain"]), "");
    assert_eq!(attempt.sandbox.git(&["for-each-ref", "refs/tdd/kept"]), "");
}

#[test]
fn a_line_that_a_person_typed_into_our_file_survives_without_our_edit() {
    let attempt = Attempt::new();
    attempt.sandbox.write("a", format!("mine\n{OURS}"));
    let kept = attempt.undo();
    assert_eq!(attempt.sandbox.read("a"), format!("mine\n{BASE}"));
    assert_eq!(kept.len(), 1);
    assert_eq!((&kept[0].path, kept[0].now), (&path("a"), PersonsFileNow::Merged));
    assert_eq!(attempt.show(&kept[0]), format!("mine\n{OURS}").trim_end());
}

#[test]
fn a_line_that_overlaps_our_edit_survives_in_the_ref() {
    let attempt = Attempt::new();
    attempt.sandbox.write("a", OURS.replace("FIVE", "FIVE and mine"));
    attempt.sandbox.write("sub/new", "ours\nmine\n");
    let kept = attempt.undo();
    assert_eq!(attempt.sandbox.read("a"), BASE);
    assert!(!attempt.sandbox.has("sub/new"));
    assert_eq!(kept.iter().map(|file| file.now).collect::<Vec<_>>(), [PersonsFileNow::PutBack; 2]);
    assert!(attempt.show(&kept[0]).contains("FIVE and mine"));
    assert!(attempt.show(&kept[1]).contains("mine"));
    assert_ne!(kept[0].kept_as, kept[1].kept_as);
}

#[test]
fn a_file_that_a_person_deleted_stays_deleted_and_what_is_not_ours_is_not_touched() {
    let attempt = Attempt::new();
    attempt.sandbox.remove("a");
    attempt.sandbox.write("b", "typed");
    attempt.sandbox.write("sub/theirs", "typed");
    let kept = attempt.undo();
    assert_eq!(kept, [PersonsFile { path: path("a"), kept_as: None, now: PersonsFileNow::Deleted }]);
    assert_eq!(attempt.sandbox.read("b"), "typed");
    assert_eq!(attempt.sandbox.read("sub/theirs"), "typed");
    assert!(!attempt.sandbox.has("sub/new"));
}

#[test]
fn after_head_moved_our_edit_is_taken_out_and_the_persons_checkout_stays() {
    type Commands = &'static [&'static [&'static str]];
    let moves: [(&str, Commands, &str, bool); 4] = [
        ("a commit of another file", &[&["add", "b"], &["commit", "-qm", "theirs"]], BASE, false),
        ("a commit of everything", &[&["add", "-A"], &["commit", "-qm", "theirs"]], OURS, true),
        ("a reset", &[&["reset", "-q", "--hard"], &["commit", "-q", "--allow-empty", "-m", "x"]], BASE, false),
        ("a switch", &[&["switch", "-q", "-f", "other"]], "other\n", false),
    ];
    for (what, commands, a, has_new) in moves {
        let attempt = Attempt::new();
        let sandbox = &attempt.sandbox;
        let blob = sandbox.beside("other-a");
        std::fs::write(&blob, "other\n").expect("a file");
        let id = sandbox.git(&["hash-object", "-w", blob.to_str().expect("text")]);
        sandbox.git(&["branch", "other"]);
        let index = sandbox.beside("other-index");
        let run = |args: &[&str]| {
            let mut command = std::process::Command::new("git");
            command.args(args).current_dir(&sandbox.root).env("GIT_INDEX_FILE", &index);
            String::from_utf8(command.output().expect("git").stdout).expect("text").trim().to_owned()
        };
        run(&["read-tree", "HEAD"]);
        run(&["update-index", "--cacheinfo", &format!("100644,{id},a")]);
        let other = run(&["write-tree"]);
        let commit = sandbox.git(&["commit-tree", &other, "-p", "HEAD", "-m", "other"]);
        sandbox.git(&["update-ref", "refs/heads/other", &commit]);
        sandbox.write("b", "typed");
        for command in commands {
            sandbox.git(command);
        }
        let head = attempt.repo.head().expect("a HEAD").tree;
        assert_eq!(attempt.withdraw(&head), [], "{what}");
        assert_eq!(sandbox.read("a"), a, "{what}");
        assert_eq!(sandbox.has("sub/new"), has_new, "{what}");
        assert_eq!(sandbox.git(&["status", "--porcelain", "a", "sub"]), "", "{what}");
    }
}

#[test]
fn a_person_who_saves_while_files_are_put_back_loses_nothing() {
    for _ in 0..20 {
        let attempt = Attempt::new();
        let file = attempt.sandbox.root.join("a");
        let typing = thread::spawn(move || {
            for n in 0..40 {
                let aside = file.with_extension("swap");
                std::fs::write(&aside, format!("line {n}\n{OURS}")).expect("a saved file");
                std::fs::rename(&aside, &file).expect("a saved file");
            }
        });
        let kept = attempt.undo();
        typing.join().expect("a person");
        let all = kept.iter().filter(|file| file.kept_as.is_some()).map(|file| attempt.show(file));
        let all = all.collect::<String>() + &attempt.sandbox.read("a");
        assert!(all.contains("line 39"), "the last line is in no file and no ref");
    }
}

#[test]
fn a_file_that_differs_from_the_base_is_named_before_anything_is_written() {
    let sandbox = Sandbox::with(&[("a", "1"), ("b", "1"), ("c", "1")]);
    let repo = sandbox.repo();
    let base = repo.head().expect("a HEAD").tree;
    sandbox.write("b", "typed");
    sandbox.remove("c");
    sandbox.write("untracked", "theirs");
    let changed = repo.changed_from(&base, &paths_of(&["a", "b", "c", "untracked", "free"])).expect("an answer");
    assert_eq!(changed, paths_of(&["b", "c", "untracked"]));
}
